/* bad_files.h - --on-error=skip and --bad-files: the files that kernels could not read, in a run that continues without them
 * (df_bad_file() of df_io.h). program/program_main.c opens and closes it.
 */
#ifndef DFR_BAD_FILES_H
#define DFR_BAD_FILES_H

#include <stdbool.h>

#include "runtime/df.h"

struct dfr_bad_files;

/* Opens the list at `path`, which gets one line for each bad file as soon as it is found. `more`: the run is resumed and appends to the existing list.
 * The file is not changed until dfr_bad_files_begin(). The path is borrowed. NULL: no file has the list. */
int dfr_bad_files_open(const char *path, bool more, struct dfr_bad_files **bad, struct df_error *error);
/* The run has begun: truncates the list unless `more` was given. NULL: there is no list. */
void dfr_bad_files_begin(struct dfr_bad_files *bad);
/* Closes it. If any was found, prints a table of them and of the reasons to stderr, and *n is how many; that is a failure, and so is a list that could not be
 * written. NULL: there is no list. */
int dfr_bad_files_close(struct dfr_bad_files *bad, int status, uint32_t *n, struct df_error *error);

#endif
