/* spawn.h - running other programs: one at a time with its output, or many at once; and the lists of words that are their
 * command lines.
 *
 * Memory:   a dfc_list owns its strings. A list whose `failed` is set ran out of memory and must not be used.
 * Threads:  one at a time.
 */
#ifndef DFC_SPAWN_H
#define DFC_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "compiler/tools/output_file.h"

/* ---- lists of words: command lines ---- */

struct dfc_list {
    char **items;                       /* NULL-terminated */
    size_t n, capacity;
    bool failed;
};
void dfc_list_add(struct dfc_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
void dfc_list_add_all(struct dfc_list *list, const struct dfc_list *other);
/* Splits as a shell would: blanks, quotes, backslashes. */
void dfc_list_add_words(struct dfc_list *list, const char *text);
void dfc_list_free(struct dfc_list *list);

/* ---- one program ---- */

/* Runs a program (argv NULL-terminated) and waits. Captured stderr/stdout where the pointers are given (malloc'ed).
 * Gives its exit status, 128 + the number of the signal that ended it, or -1 with errno where it could not be run. */
int dfc_run_program(char *const *argv, char **out_text, char **err_text);
extern char *dfc_discard;               /* &dfc_discard in place of such a pointer: to /dev/null */
extern volatile sig_atomic_t dfc_running; /* its process while it runs, else 0: for signal handlers */

/* ---- programs, several at once ---- */

struct dfc_job {
    struct dfc_list argv;
    const char *log;                    /* file that takes its stdout and stderr */
    int status;                         /* as dfc_run_program(); -1 with `error` an errno */
    int error;
    pid_t pid;
};
/* Runs all, at most `parallel` at a time; after a failure no further one is started (status -1, error ECANCELED). */
void dfc_jobs_run(struct dfc_job *jobs, size_t n, unsigned parallel);

/* ---- interruption ---- */

/* Between hold and release dfc_ending_signals end the programs that were started, so that what was begun is cleaned up
 * as after any failure; release lets the signal through then. */
struct dfc_signals {
    struct sigaction actions[DFC_N_SIGNALS];
};
void dfc_signals_hold(struct dfc_signals *before);
void dfc_signals_release(const struct dfc_signals *before);
bool dfc_signals_caught(void);

#endif
