/* output_file.c - opens and closes the output files of commands and builds, and flushes standard output for commands/main.c;
 * runtime/base/output.h does the atomic replacement.
 */
#include "compiler/tools/output_file.h"

#include <errno.h>
#include <string.h>

#include "compiler/tools/messages.h"

bool dfc_output_open(struct dfc_output *output, const char *path)
{
    struct df_error error = { "" };
    memset(output, 0, sizeof *output);
    if (!path || strcmp(path, "-") == 0) {
        output->file = stdout;
        return true;
    }
    if (dfr_output_open(&output->to, path, &error) != DF_OK) {
        dfc_error("%s", error.text);
        return false;
    }
    output->file = output->to.file;
    return true;
}

bool dfc_stdout_flush(void)
{
    static bool said;
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    int code = errno ? errno : EIO;
    if (!said)
        dfc_error("cannot write to the standard output: %s", strerror(code));
    said = true;
    return false;
}

bool dfc_output_close(struct dfc_output *output, bool keep)
{
    struct df_error error = { "" };
    bool good = true;
    if (output->file == stdout) {
        good = !keep || dfc_stdout_flush();
    } else if (dfr_output_close(&output->to, keep, &error) != DF_OK) {
        dfc_error("%s", error.text);
        good = false;
    }
    memset(output, 0, sizeof *output);
    return good;
}
