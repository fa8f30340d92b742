/* chunk.h - what the waves a … b-1 of a program write, as one file, and how such files are put together.
 *
 * File:     a line of fixed length, lines `fact KIND NAME VALUE` with what the program hash is made of (facts.h), and entries (written.h) in the
 *           order of nodes:
 *
 *     dfc chunk 3 program HASH first A end B stream E of N digest D
 *
 *           E is 1 if the stream has ended before wave B. N is how many waves streams expect in all (df_expect_waves()), 0 if none has said.
 *           HASH is the program hash with the inputs (digest.h). D is of all that follows the line.
 * Trust:    A chunk may come from an untrusted machine. Without `outside`, dfr_chunks_merge() writes only below the working folder. It checks all entries
 *           before it writes any: each belongs to a wave of its chunk and lies within the file, no chunk has a file twice, and no two nodes
 *           have the same file.
 * Errors:   DF_E_REFUSED: the file is no chunk, is damaged, or does not fit to the others. DF_E_IO. The sentence is for the user.
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
