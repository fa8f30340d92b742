/* output.h - a file that appears whole or not at all: written under a temporary name in its own folder and renamed when
 * it is complete.
 *
 * What is no regular file (a pipe, /dev/null) cannot be replaced and is written directly. A link is followed, so that
 * renaming never replaces the link (nor, say, /dev/stdout).
 *
 * Memory:   an open output owns its strings and file; close returns them.
 * Errors:   DF_E_IO or DF_E_MEMORY with "cannot write 'PATH': why"; then nothing is left open and no file behind.
 */
#ifndef DF_OUTPUT_H
#define DF_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "runtime/df.h"

struct dfr_output {
    FILE *file;                         /* NULL: closed by whoever writes the temporary file by name */
    char *path, *temporary;             /* temporary NULL: written directly */
};

int dfr_output_open(struct dfr_output *output, const char *path, struct df_error *error);
/* keep false: what was written is removed and nothing fails. */
int dfr_output_close(struct dfr_output *output, bool keep, struct df_error *error);

/* Whether opening would succeed now: asked before long work, so that a wrong path costs none. Leaves nothing behind. */
int dfr_output_check(const char *path, struct df_error *error);

/* At the start of a program: where stdin, stdout or stderr are closed, their numbers are taken, so that no file opened
 * later gets what is printed. Using them still fails. */
void dfr_standard_files_hold(void);

/* Ends the process without exit()'s handlers, while other threads run; what was printed on stdout goes out first,
 * unless one of them is printing. */
_Noreturn void dfr_output_leave(int status);

#endif
