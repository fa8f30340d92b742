/* spawn.h - runs other programs: one at a time with captured output, or many in parallel; and the argument lists for
 * them. compiler/build/ runs compilers and linkers with it, compiler/commands/ the programs that were built,
 * compiler/doctor/ and picture_file.c tools.
 *
 * Memory:   a dfc_list owns its strings. A list whose `failed` is set ran out of memory and must not be used.
 * Threads:  one at a time.
 */
#ifndef DFC_SPAWN_H
#define DFC_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "runtime/base/unfinished.h"

/* ---- lists of words: command lines ---- */

struct dfc_list {
    char **items;                       /* NULL-terminated */
    size_t n, capacity;
    bool failed;
};
/* Adds one word, formatted like printf. */
void dfc_list_add(struct dfc_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
void dfc_list_add_all(struct dfc_list *list, const struct dfc_list *other);
/* Adds a path, joined to the option before it (or ""). A path that begins with a character that means something else to
 * a compiler or a linker (`-x`, `@file`, `=sysroot`) is written as "./…". */
void dfc_list_add_path(struct dfc_list *list, const char *option, const char *path);
const char *dfc_path_prefix(const char *path); /* "./" for such a path, else "" */
/* Splits a text as a shell would, by blanks, quotes and backslashes, and adds the words. */
void dfc_list_add_words(struct dfc_list *list, const char *text);
void dfc_list_free(struct dfc_list *list);

/* ---- one program ---- */

/* Runs a program (argv is NULL-terminated) and waits for it. Captures its outputs in out_text and err_text
 * (malloc'ed) if they are not NULL. Returns its exit status, or 128 plus the number of the signal that ended it; -1 with
 * errno if it could not be run. */
int dfc_run_program(char *const *argv, char **out_text, char **err_text);
/* The same for a program that the user runs: signals that would end dfc are passed on to it, and dfc waits until it has ended. *passed is the last of
 * them, or 0. */
int dfc_run_passing(char *const *argv, int *passed);
/* The same for a tool, which may run others: a compiler runs cc1. It is in a process group of its own, so that a signal
 * to dfc ends them all, and it has no standard input. */
int dfc_run_tool(char *const *argv, char **out_text, char **err_text);
extern char *dfc_discard;               /* &dfc_discard in place of out_text or err_text: the text goes to /dev/null */
extern volatile sig_atomic_t dfc_running; /* the process that runs in dfc_run_program(), else 0 */
/* Ends dfc_running and all tools that run now, with what these have started. For signal handlers. */
void dfc_programs_end(void);

/* ---- programs, several at once ---- */

struct dfc_job {
    struct dfc_list argv;
    const char *log;                    /* the file for its stdout and stderr */
    int status;                         /* as dfc_run_program() returns it; if it is -1, `error` is the errno */
    int error;
    pid_t pid;
    double cpu_s;                       /* CPU time, user's and system's, of the program and of what it ran */
};
double dfc_cpu_s(const struct rusage *usage); /* user's and system's time */
/* Runs all jobs as tools, at most `parallel` at a time. After a failure no further job is started; those that were not have status -1 and
 * error ECANCELED. */
void dfc_jobs_run(struct dfc_job *jobs, size_t n, unsigned parallel);

/* ---- interruption ---- */

/* Between hold and release, a signal of dfr_ending_signals ends the programs that were started and not dfc itself. So
 * dfc cleans up as after any failure; release then raises the signal again. If they are nested, the outermost count. */
struct dfc_signals {
    struct sigaction actions[DFR_N_ENDING];
};
void dfc_signals_hold(struct dfc_signals *before);
void dfc_signals_release(const struct dfc_signals *before);
bool dfc_signals_caught(void);

#endif
