/* entry.h - what one node has written to one file, as it lies in a chunk: a line that says what follows, and that many bytes.
 *
 *     entry KIND NODE WAVE HEAD TOKENS BYTES PATH
 *
 * KIND is `append` or `whole`. The path ends with the line; line breaks in it, and backslashes, are written as \n and \\.
 */
#ifndef DFR_ENTRY_H
#define DFR_ENTRY_H

#include <stdbool.h>
#include <stdio.h>

#include "runtime/df.h"

struct dfr_entry {
    bool appended;
    uint32_t node;
    int64_t wave;                       /* in which a whole file was opened; -1 for those that are appended to */
    int64_t head_bytes, tokens, bytes;
    char *path;                         /* malloc'ed */
};

void dfr_entry_write(FILE *to, const struct dfr_entry *entry);
/* Reads the line. 1: it is there. 0: the file has ended before it. -1: it is none, or there is no memory. */
int dfr_entry_read(FILE *from, struct dfr_entry *entry);

/* Writes a path with its line breaks as \n; reads it back, malloc'ed. */
void dfr_path_write(FILE *to, const char *path);
char *dfr_path_read(const char *text);

/* Copies n bytes. DF_E_IO with the sentence. */
int dfr_copy_bytes(FILE *from, FILE *to, int64_t n, struct df_error *error);

#endif
