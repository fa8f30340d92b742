/* spawn.c - runs other programs, such as compilers and the programs that commands have built: one at a time with
 * captured output, or many in parallel. It also builds their argument lists.
 */
#include "compiler/tools/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/types/words.h"
#include "runtime/base/array.h"

extern char **environ;

/* ---- word lists ---- */

static void list_take(struct dfc_list *list, char *word)
{
    if (!word || !DFR_ARRAY_ROOM(list->items, list->n + 1, list->capacity)) {
        free(word);
        list->failed = true;
        return;
    }
    list->items[list->n++] = word;
    list->items[list->n] = NULL;
}

void dfc_list_add(struct dfc_list *list, const char *format, ...)
{
    char *word;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&word, format, arguments) < 0)
        word = NULL;
    va_end(arguments);
    list_take(list, word);
}

const char *dfc_path_prefix(const char *path)
{
    return *path && strchr("-@=$", *path) ? "./" : "";
}

void dfc_list_add_path(struct dfc_list *list, const char *option, const char *path)
{
    dfc_list_add(list, "%s%s%s", option, dfc_path_prefix(path), path);
}

void dfc_list_add_all(struct dfc_list *list, const struct dfc_list *other)
{
    for (size_t i = 0; i < other->n; i++)
        dfc_list_add(list, "%s", other->items[i]);
    list->failed |= other->failed;
}

void dfc_list_add_words(struct dfc_list *list, const char *text)
{
    char *word = text ? malloc(strlen(text) + 1) : NULL;
    list->failed |= text && !word;
    while (word && dfc_next_word(&text, word, NULL))
        dfc_list_add(list, "%s", word);
    free(word);
}

void dfc_list_free(struct dfc_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->items[i]);
    free(list->items);
    memset(list, 0, sizeof *list);
}

/* ---- interruption ---- */

enum { MOST_GROUPS = 256 };
static volatile sig_atomic_t caught, groups[MOST_GROUPS]; /* groups: process groups of tools that run; 0: a free place */
static unsigned held;

char *dfc_discard;
volatile sig_atomic_t dfc_running;

/* A group that is stopped takes the signal when it goes on. */
static void end_group(pid_t group)
{
    kill(-group, SIGTERM);
    kill(-group, SIGCONT);
}

void dfc_programs_end(void)
{
    if (dfc_running > 0)
        kill(dfc_running, SIGTERM);
    for (int i = 0; i < MOST_GROUPS; i++)
        if (groups[i] > 0)
            end_group(groups[i]);
}

static void catch(int signal)
{
    int error = errno;
    caught = signal;
    dfc_programs_end();
    errno = error;
}

/* A tool was started in the group of its own number. A signal that came before this did not reach it. */
static void group_add(pid_t pid)
{
    int i = 0;
    while (i < MOST_GROUPS && groups[i] > 0)
        i++;
    if (i < MOST_GROUPS)
        groups[i] = pid;
    if (caught)
        end_group(pid);
}

static void group_remove(pid_t pid)
{
    for (int i = 0; i < MOST_GROUPS; i++)
        if (groups[i] == pid)
            groups[i] = 0;
}

void dfc_signals_hold(struct dfc_signals *before)
{
    struct sigaction action = { .sa_handler = catch }; /* no SA_RESTART, so that a signal ends waiting */
    if (held++)
        return;
    caught = 0;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < DFR_N_ENDING; i++) {
        sigaction(dfr_ending_signals[i], NULL, &before->actions[i]);
        if (before->actions[i].sa_handler != SIG_IGN)
            sigaction(dfr_ending_signals[i], &action, NULL);
    }
}

void dfc_signals_release(const struct dfc_signals *before)
{
    if (--held)
        return;
    for (int i = 0; i < DFR_N_ENDING; i++)
        sigaction(dfr_ending_signals[i], &before->actions[i], NULL);
    if (caught)
        raise(caught);
}

bool dfc_signals_caught(void)
{
    return caught != 0;
}

/* ---- one program ---- */

static int exit_status(int wait_status)
{
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

static int wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return exit_status(status);
}

/* posix_spawnp() of a tool, in a group of its own and without standard input. Gives 0 or an errno. */
static int spawn_tool(pid_t *pid, char *const *argv, posix_spawn_file_actions_t *actions)
{
    posix_spawnattr_t attributes;
    int error = posix_spawnattr_init(&attributes);
    if (error)
        return error;
    error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error)
        error = posix_spawnattr_setpgroup(&attributes, 0);
    if (!error)
        error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    if (!error)
        error = posix_spawnp(pid, argv[0], actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    if (!error)
        group_add(*pid);
    return error;
}

struct capture {
    int fd;                             /* -1: not captured, or at its end */
    char *text;
    size_t length, capacity;
};

/* Reads what has arrived. false: no memory or a read error; errno says which. */
static bool capture_read(struct capture *c)
{
    if (!DFR_ARRAY_ROOM(c->text, c->length + 4095, c->capacity)) {
        errno = ENOMEM;
        return false;
    }
    ssize_t n = read(c->fd, c->text + c->length, c->capacity - c->length - 1);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    c->length += (size_t)n;
    c->text[c->length] = '\0';
    if (n == 0) {
        close(c->fd);
        c->fd = -1;
    }
    return true;
}

/* Reads until both pipes are closed. false: errno says why. */
static bool capture_all(struct capture captures[2])
{
    while (captures[0].fd >= 0 || captures[1].fd >= 0) {
        struct pollfd polls[2] = { { captures[0].fd, POLLIN, 0 }, { captures[1].fd, POLLIN, 0 } };
        if (poll(polls, 2, -1) < 0) {
            if (errno != EINTR)
                return false;
            continue;
        }
        for (int i = 0; i < 2; i++)
            if (captures[i].fd >= 0 && polls[i].revents && !capture_read(&captures[i]))
                return false;
    }
    return true;
}

/* Makes a pipe whose writing end becomes descriptor `target` of the child. */
static bool capture_open(struct capture *c, posix_spawn_file_actions_t *actions, int target, int *writer)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    c->fd = ends[0];
    *writer = ends[1];
    return posix_spawn_file_actions_adddup2(actions, ends[1], target) == 0;
}

static int run(char *const *argv, char **out_text, char **err_text, bool tool)
{
    struct capture captures[2] = { { .fd = -1 }, { .fd = -1 } };
    char **texts[2] = { out_text, err_text };
    int writers[2] = { -1, -1 }, status = -1, error = 0;
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;

    fflush(NULL);
    if ((error = posix_spawn_file_actions_init(&actions)) != 0) {
        errno = error;
        return -1;
    }
    for (int i = 0; i < 2 && !error; i++)
        if (texts[i] == &dfc_discard)
            error = posix_spawn_file_actions_addopen(&actions, i + 1, "/dev/null", O_WRONLY, 0);
        else if (texts[i] && !capture_open(&captures[i], &actions, i + 1, &writers[i]))
            error = errno;
    if (!error)
        error = tool ? spawn_tool(&pid, argv, &actions) : posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    for (int i = 0; i < 2; i++)
        if (writers[i] >= 0)
            close(writers[i]);
    if (!error) {
        dfc_running = tool ? 0 : pid;
        if (!tool && caught)            /* a signal to be passed on that came before */
            kill(pid, caught);
        if (!capture_all(captures))
            error = errno;
        status = wait_for(pid);
        dfc_running = 0;
        group_remove(pid);
    }
    for (int i = 0; i < 2; i++) {
        if (captures[i].fd >= 0)
            close(captures[i].fd);
        if (!error && texts[i] && texts[i] != &dfc_discard)
            *texts[i] = captures[i].text;
        else
            free(captures[i].text);
    }
    if (error) {
        errno = error;
        return -1;
    }
    return status;
}

int dfc_run_program(char *const *argv, char **out_text, char **err_text)
{
    return run(argv, out_text, err_text, false);
}

static void pass_on(int signal)
{
    int error = errno;
    caught = signal;
    if (dfc_running > 0)
        kill(dfc_running, signal);
    errno = error;
}

int dfc_run_passing(char *const *argv, int *passed)
{
    struct sigaction action = { .sa_handler = pass_on }, before[DFR_N_ENDING];
    sigemptyset(&action.sa_mask);
    caught = 0;
    for (int i = 0; i < DFR_N_ENDING; i++) {
        sigaction(dfr_ending_signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(dfr_ending_signals[i], &action, NULL);
    }
    int status = run(argv, NULL, NULL, false), error = errno;
    for (int i = 0; i < DFR_N_ENDING; i++)
        sigaction(dfr_ending_signals[i], &before[i], NULL);
    *passed = caught;
    caught = 0;
    errno = error;
    return status;
}

int dfc_run_tool(char *const *argv, char **out_text, char **err_text)
{
    struct dfc_signals signals;
    dfc_signals_hold(&signals);
    int status = run(argv, out_text, err_text, true), error = errno;
    dfc_signals_release(&signals);
    errno = error;
    return status;
}

/* ---- many programs at once ---- */

double dfc_cpu_s(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) + 1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

static void job_start(struct dfc_job *job)
{
    posix_spawn_file_actions_t actions;
    job->status = -1;
    if (job->argv.failed) {
        job->error = ENOMEM;
        return;
    }
    job->error = posix_spawn_file_actions_init(&actions);
    if (job->error)
        return;
    job->error = posix_spawn_file_actions_addopen(&actions, 1, job->log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (!job->error)
        job->error = posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (!job->error)
        job->error = spawn_tool(&job->pid, job->argv.items, &actions);
    posix_spawn_file_actions_destroy(&actions);
    if (job->error)
        job->pid = -1;
}

/* Waits until one of the started jobs ends, and gives it. NULL: waiting failed. */
static struct dfc_job *job_wait(struct dfc_job *jobs, size_t n)
{
    struct rusage usage;
    int status;
    pid_t pid;
    while ((pid = wait4(-1, &status, 0, &usage)) < 0)
        if (errno != EINTR)
            return NULL;
    group_remove(pid);
    for (size_t i = 0; i < n; i++)
        if (jobs[i].pid == pid) {
            jobs[i].pid = -1;
            jobs[i].cpu_s = dfc_cpu_s(&usage);
            jobs[i].status = exit_status(status);
            return &jobs[i];
        }
    return jobs; /* some other child ended: the caller looks again */
}

void dfc_jobs_run(struct dfc_job *jobs, size_t n, unsigned parallel)
{
    size_t next = 0, running = 0;
    bool failed = false;
    parallel = parallel < MOST_GROUPS ? parallel : MOST_GROUPS;
    for (size_t i = 0; i < n; i++)
        jobs[i] =
            (struct dfc_job){ .argv = jobs[i].argv, .log = jobs[i].log, .status = -1, .error = ECANCELED, .pid = -1 };
    fflush(NULL);
    while (next < n || running) {
        if (next < n && running < parallel && !failed) {
            job_start(&jobs[next]);
            failed |= jobs[next].pid < 0;
            running += jobs[next].pid >= 0;
            next++;
            continue;
        }
        if (!running)
            break;
        struct dfc_job *done = job_wait(jobs, n);
        if (!done)
            break;
        running = 0;
        for (size_t i = 0; i < n; i++)
            running += jobs[i].pid >= 0;
        failed |= (done->pid < 0 && done->status != 0) || caught;
    }
}
