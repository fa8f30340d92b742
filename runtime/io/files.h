/* files.h - what a run asks of files before its kernels read them (df_io.h has what kernels ask). */
#ifndef DFR_FILES_H
#define DFR_FILES_H

#include <stdbool.h>

/* Can the files that `path` names, as df_files_open() reads it, be read a second time? A pipe cannot. What is not there counts as a file: its
 * reader says what is wrong. */
bool dfr_files_again(const char *path);

#endif
