/* written.h - the description of a file that a run has written, shared by the record of outputs, the journal and chunks, and its text formats:
 *
 *     entry KIND NODE WAVE HEAD TOKENS BYTES PATH     in a chunk, followed by the payload of BYTES bytes; KIND is `append` or `whole`
 *     out NODE HEAD TOKENS BYTES FROM DIGEST PATH     in a journal: the state of an appended file
 *     file WAVE BYTES CHANGED DIGEST PATH             in a journal: a whole file
 *
 * The path extends to the end of the line; line breaks and backslashes in it are escaped as \n and \\.
 */
#ifndef DFR_WRITTEN_H
#define DFR_WRITTEN_H

#include <stdbool.h>
#include <stdio.h>

#include "runtime/df.h"

struct dfr_written {
    char *path;
    bool appended;                      /* each wave adds to it; else a wave writes it whole */
    uint32_t node;
    int64_t wave;                       /* in which a whole file was opened; -1 for others */
    int64_t head_bytes;                 /* what was written before the first token, and is there once */
    int64_t tokens, bytes;
    int64_t from;                       /* the digest is of the bytes from here on */
    uint64_t digest;
    int64_t changed_ns;                 /* modification time of a whole file */
};

struct dfr_written_list {
    struct dfr_written *items;
    size_t n, room;
};

/* Adds the file, whose path is the list's from then on. Without memory returns false, and frees the path. */
bool dfr_written_add(struct dfr_written_list *list, const struct dfr_written *file);
/* Frees the list and its paths. */
void dfr_written_free(struct dfr_written_list *list);

enum dfr_written_line { DFR_LINE_ENTRY, DFR_LINE_OUT, DFR_LINE_FILE };
/* Writes the line, without its end. */
void dfr_written_line(FILE *to, enum dfr_written_line line, const struct dfr_written *file);
/* Reads such a line; the path is malloc'ed. DF_E_FORMAT: it is none, or says what cannot be. DF_E_MEMORY. */
int dfr_written_read(const char *text, enum dfr_written_line line, struct dfr_written *file);

/* If the file is a .npy that waves append to: writes the count of its tokens into its header, through `stream`, which stands at its end. */
int dfr_written_count(const struct dfr_written *file, FILE *stream, struct df_error *error);

/* Writes a path with its line breaks as \n; reads it back, malloc'ed. */
void dfr_path_write(FILE *to, const char *path);
char *dfr_path_read(const char *text);

/* Copies n bytes; INT64_MAX: all that there are. DF_E_IO with the sentence. */
int dfr_copy_bytes(FILE *from, FILE *to, int64_t n, struct df_error *error);

#endif
