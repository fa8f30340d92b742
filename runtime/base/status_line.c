/* status_line.c - draws and clears the status line (status_line.h). program/progress.c draws it; code that prints on stderr during a run, signal handlers
 * included, clears it first. Each change is one write(), since stderr is unbuffered and other threads may print on it. */
#include "runtime/base/status_line.h"
#include "runtime/base/process_lock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define CLEAR "\r\033[K"                /* to the line's begin, and erase to its end */

DFR_PROCESS_LOCK(lock);
static atomic_bool drawn;

static void put(const char *text, size_t n)
{
    if (write(STDERR_FILENO, text, n) < 0)
        atomic_store(&drawn, false);    /* nobody sees it */
}

static size_t width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79;
}

void dfr_status_draw(const char *text)
{
    char line[256];
    int n = snprintf(line, sizeof line, CLEAR "%.*s", (int)width(), text);
    pthread_mutex_lock(&lock);
    atomic_store(&drawn, true);
    put(line, n < (int)sizeof line ? (size_t)n : sizeof line - 1);
    pthread_mutex_unlock(&lock);
}

void dfr_status_clear_in_signal(void)
{
    if (atomic_exchange(&drawn, false))
        put(CLEAR, strlen(CLEAR));
}

void dfr_status_clear(void)
{
    if (!atomic_load_explicit(&drawn, memory_order_relaxed))
        return;
    pthread_mutex_lock(&lock);
    dfr_status_clear_in_signal();
    pthread_mutex_unlock(&lock);
}

void dfr_status_end(void)
{
    pthread_mutex_lock(&lock);
    if (atomic_exchange(&drawn, false))
        put("\n", 1);
    pthread_mutex_unlock(&lock);
}
