/* chunk.h - the output of waves A … B-1 of a program as a single file, and merging such files. resumable.c writes one; `dfc merge`
 * (compiler/commands/cmd_merge.c) merges them.
 *
 * File:     A header of fixed length, lines `fact KIND NAME VALUE` that tell what the program hash covers (facts.h), and entries (written.h) ordered by node:
 *
 *     dfc chunk 3 program HASH first A end B stream E of N digest D
 *
 *           E is 1 if the stream has ended before wave B. N is the total number of waves that streams expect (df_expect_waves()), or 0 if unknown.
 *           HASH is the program hash including the inputs (digest.h). D covers everything after the header. A chunk that is made again has the same bytes.
 * Trust:    A chunk may come from an untrusted machine. Unless `outside` is set, dfr_chunks_merge() writes only below the working directory. It validates all
 *           entries before it writes any: each belongs to a wave of its chunk and lies within the file, no chunk contains a file twice, and no two nodes
 *           write the same file.
 * Errors:   DF_E_REFUSED if the file is not a chunk, is damaged, or does not match the others; DF_E_IO. The message is for the user.
 */
#ifndef DFR_CHUNK_H
#define DFR_CHUNK_H

#include "runtime/record/facts.h"
#include "runtime/record/outputs.h"

struct dfr_chunk {
    uint64_t program;
    int64_t first, end;                 /* the waves that it has */
    bool ended;                         /* the stream has no wave `end` */
    int64_t of;                         /* waves, as streams expect; 0: none has said */
    uint64_t digest;
};

/* Is the file a whole chunk? Reads all of it. */
int dfr_chunk_read(const char *path, struct dfr_chunk *chunk, struct df_error *error);

/* Writes the chunk, with what the outputs have collected. It appears whole or not at all. */
int dfr_chunk_write(const char *path, struct dfr_chunk *chunk, const struct dfr_facts *facts, struct dfr_outputs *outputs, struct df_error *error);

struct dfr_merged {
    int64_t waves;
    size_t appended, whole;             /* files that were written */
    bool ended;                         /* these are all waves of the stream */
};

/* Writes the files that one process would have written for the waves of these n chunks, which may come in any order. They must be of one program,
 * and have all waves of the run, each once. outside: files may lie outside the working folder. waves: the run has so many, or fewer if the stream
 * ends before; below 0: the chunks must say how many there are. Nothing is written unless all of them are right. */
int dfr_chunks_merge(const char *const *paths, size_t n, int64_t waves, bool outside, struct dfr_merged *merged, struct df_error *error);

#endif
