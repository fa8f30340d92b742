/* output_file.h - where a command's result goes: to standard output, or to a file that appears whole or not at all.
 *
 * A file is written under a temporary name beside its own and renamed when it is whole. A signal that ends dfc removes
 * the temporary files of all open outputs first.
 *
 * Threads:  one at a time.
 * Errors:   functions that give bool give false after they have reported why.
 */
#ifndef DFC_OUTPUT_FILE_H
#define DFC_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "runtime/base/output.h"

struct dfc_output {
    FILE *file;                         /* stdout or to.file */
    struct dfr_output to;
};
/* NULL and "-" are standard output. */
bool dfc_output_open(struct dfc_output *output, const char *path);
bool dfc_output_close(struct dfc_output *output, bool keep); /* keep false: the file is removed */
/* Did all that was printed to standard output go out? */
bool dfc_stdout_flush(void);

#endif
