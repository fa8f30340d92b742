/* files.h - queries about input files that a run makes before its kernels read them (df_io.h is what kernels call).
 * start/passes.c and subgraph/share.c ask what can be read again, record/digest.c reads lists of inputs. */
#ifndef DFR_FILES_H
#define DFR_FILES_H

#include <stdbool.h>

/* Can the files that `path` names, as df_files_open() reads it, be read a second time? A pipe cannot. What is not there counts as a file: its
 * reader says what is wrong. */
bool dfr_files_again(const char *path);

/* The path in a line of a list, whose end is cut off; in the first line behind the mark of UTF-8, if one stands there. */
char *dfr_list_path(char *line, bool is_first);

#endif
