/* unfinished.c - removes unfinished files if a signal ends the process: unfinished.h. */
#include "runtime/base/unfinished.h"

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

const int dfr_ending_signals[DFR_N_ENDING] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT };

enum { MOST = 16 };
enum { FREE, CHANGING, SET };

static struct {
    _Atomic int state;                  /* the path is read in state SET only */
    char path[PATH_MAX];
} places[MOST];
static bool watched;
static void (*before_removal)(void);

static void remove_and_end(int number)
{
    if (before_removal)
        before_removal();
    for (int folders = 0; folders < 2; folders++) /* files first, because they may lie in the folders */
        for (int i = 0; i < MOST; i++)
            if (atomic_load(&places[i].state) == SET)
                (folders ? rmdir : unlink)(places[i].path);
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_signals(void)
{
    struct sigaction now, action = { .sa_handler = remove_and_end, .sa_flags = SA_RESTART };
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

void dfr_unfinished_add(const char *path)
{
    size_t size = strlen(path) + 1;
    for (int i = 0; watched && size <= PATH_MAX && i < MOST; i++) {
        int expected = FREE;
        if (!atomic_compare_exchange_strong(&places[i].state, &expected, CHANGING))
            continue;
        memcpy(places[i].path, path, size);
        atomic_store(&places[i].state, SET);
        catch_signals();
        return;
    }
}

void dfr_unfinished_drop(const char *path)
{
    for (int i = 0; i < MOST; i++) {
        int expected = SET;
        if (atomic_load(&places[i].state) == SET && strcmp(places[i].path, path) == 0 &&
            atomic_compare_exchange_strong(&places[i].state, &expected, FREE))
            return;
    }
}
