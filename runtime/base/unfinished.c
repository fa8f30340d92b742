/* unfinished.c - removes unfinished files if SIGINT, SIGTERM or another signal from outside ends the process (unfinished.h). dfc and programs install the
 * handler; output.c and dfc's temporary programs register the files.
 *
 * Paths are kept in a list that only grows: a free entry is reused if it is long enough for the next path. Entries are never freed, so that the handler can walk
 * the list at any moment.
 */
#include "runtime/base/unfinished.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const int dfr_ending_signals[DFR_N_ENDING] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT };

enum { LEAST_ROOM = 256, CREATION_WAITS = 1000 };
enum { FREE, CHANGING, SET };

struct place {
    struct place *next;
    size_t room;
    _Atomic int state;                  /* the path is read in state SET only */
    char path[];
};

static _Atomic(struct place *) places;
static bool watched;
static void (*before_removal)(void);
static _Atomic bool ending;             /* the handler runs: no file is created any more */
static _Atomic unsigned creating;       /* threads between dfr_unfinished_enter() and dfr_unfinished_leave() */

/* A thread that creates a file at this moment adds its name first. One that is held up for a second is not waited for any longer. */
static void wait_for_creators(void)
{
    for (int i = 0; i < CREATION_WAITS && atomic_load(&creating) > 0; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

void dfr_unfinished_end(int number)
{
    if (before_removal)
        before_removal();
    atomic_store(&ending, true);
    wait_for_creators();
    for (int folders = 0; folders < 2; folders++) /* files first, because they may lie in the folders */
        for (struct place *p = atomic_load(&places); p; p = p->next)
            if (atomic_load(&p->state) == SET)
                (folders ? rmdir : unlink)(p->path);
    signal(number, SIG_DFL);
    raise(number);
}

/* A handler that somebody else has set stays. */
static void catch_signals(void)
{
    struct sigaction now, action = { .sa_handler = dfr_unfinished_end, .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < DFR_N_ENDING; i++)
        if (sigaction(dfr_ending_signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(dfr_ending_signals[i], &action, NULL);
}

void dfr_unfinished_watch(void (*first)(void))
{
    before_removal = first;
    watched = true;
}

void dfr_unfinished_enter(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, before);
    atomic_fetch_add(&creating, 1);
    if (!atomic_load(&ending))
        return;
    atomic_fetch_sub(&creating, 1);
    for (;;)                            /* the process ends in a moment */
        pause();
}

void dfr_unfinished_leave(const sigset_t *before)
{
    atomic_fetch_sub(&creating, 1);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* A place in state CHANGING with room for so many bytes. NULL: no memory. */
static struct place *take_place(size_t size)
{
    for (struct place *p = atomic_load(&places); p; p = p->next) {
        int expected = FREE;
        if (p->room >= size && atomic_load(&p->state) == FREE && atomic_compare_exchange_strong(&p->state, &expected, CHANGING))
            return p;
    }
    const size_t room = size > LEAST_ROOM ? size : LEAST_ROOM;
    struct place *made = calloc(1, sizeof *made + room);
    if (!made)
        return NULL;
    made->room = room;
    atomic_init(&made->state, CHANGING);
    made->next = atomic_load(&places);
    while (!atomic_compare_exchange_weak(&places, &made->next, made))
        ;
    return made;
}

void dfr_unfinished_add(const char *path)
{
    const size_t size = strlen(path) + 1;
    struct place *p = watched ? take_place(size) : NULL;
    if (!p)
        return;
    memcpy(p->path, path, size);
    atomic_store(&p->state, SET);
    catch_signals();
}

void dfr_unfinished_drop(const char *path)
{
    for (struct place *p = atomic_load(&places); p; p = p->next) {
        int expected = SET;
        if (atomic_load(&p->state) == SET && strcmp(p->path, path) == 0 && atomic_compare_exchange_strong(&p->state, &expected, FREE))
            return;
    }
}
