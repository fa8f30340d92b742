/* output_file.h - the output of a command: standard output, or a file that is replaced atomically. For the commands
 * (compiler/commands/, format/, cluster/), compiler/schedule/, picture_file.h and compiler/build/.
 *
 * A file is written under a temporary name in the same folder and renamed when it is complete. A signal that ends dfc
 * first removes the temporary files of all open outputs.
 *
 * Threads:  one at a time.
 * Errors:   functions that return bool return false after they have reported an error.
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
