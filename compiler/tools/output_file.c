/* output_file.c - opens and closes the outputs of commands, and removes what is not whole if a signal ends dfc.
 * runtime/base/output.h does the rest.
 */
#include "compiler/tools/output_file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/tools/messages.h"

/* ---- signals ---- */

enum { MOST_OPEN = 8 };
/* Temporary files of open outputs, which the handler removes; NULL: a free place. */
static char *volatile unfinished[MOST_OPEN];

static void remove_and_end(int number)
{
    for (int i = 0; i < MOST_OPEN; i++)
        if (unfinished[i])
            unlink(unfinished[i]);
    signal(number, SIG_DFL);
    raise(number);
}

const int dfc_ending_signals[DFC_N_SIGNALS] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };

/* If somebody else handles the signal already, that handler stays and removes its own files. */
static void catch_signals(void)
{
    struct sigaction now, action = { .sa_handler = remove_and_end, .sa_flags = SA_RESTART };
    for (int i = 0; i < DFC_N_SIGNALS; i++)
        if (sigaction(dfc_ending_signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(dfc_ending_signals[i], &action, NULL);
}

/* Adds a temporary file to `unfinished`. If there is no free place or no memory, a signal leaves the file behind. */
static void remember(const char *temporary)
{
    for (int i = 0; temporary && i < MOST_OPEN; i++)
        if (!unfinished[i]) {
            unfinished[i] = strdup(temporary);
            catch_signals();
            return;
        }
}

static void forget(const char *temporary)
{
    for (int i = 0; temporary && i < MOST_OPEN; i++)
        if (unfinished[i] && strcmp(unfinished[i], temporary) == 0) {
            char *gone = unfinished[i];
            unfinished[i] = NULL;
            free(gone);
            return;
        }
}

/* ---- outputs ---- */

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
    remember(output->to.temporary);
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
    } else {
        char *temporary = output->to.temporary ? strdup(output->to.temporary) : NULL;
        if (dfr_output_close(&output->to, keep, &error) != DF_OK) {
            dfc_error("%s", error.text);
            good = false;
        }
        forget(temporary);
        free(temporary);
    }
    memset(output, 0, sizeof *output);
    return good;
}
