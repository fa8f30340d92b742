/* bad_files.h - --bad-files: the list of files that kernels could not read, in a run that continues without them
 * (df_bad_file() of df_io.h). program/program_main.c opens and closes it.
 */
#ifndef DFR_BAD_FILES_H
#define DFR_BAD_FILES_H

#include <stdbool.h>

#include "runtime/df.h"

struct dfr_bad_files;

/* Opens the list at `path`, which gets one line for each bad file as soon as it is found. `more`: the run is resumed and appends to the existing list.
 * The file is not changed until dfr_bad_files_begin(). The path is borrowed. */
int dfr_bad_files_open(const char *path, bool more, struct dfr_bad_files **bad, struct df_error *error);
/* The run has begun: truncates the list unless `more` was given. NULL: there is no list. */
void dfr_bad_files_begin(struct dfr_bad_files *bad);
/* Closes it. A failure, which says how many there were, if any was found or if they could not be written. NULL: there is no list. */
int dfr_bad_files_close(struct dfr_bad_files *bad, int status, struct df_error *error);

#endif
