/* interrupt.c - implements the signal handlers that end a run gracefully (interrupt.h). program/, ranks/ and
 * record/resumable.c install them, and poll for the signal while they feed or await a run. */
#include "runtime/base/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/status_line.h"
#include "runtime/base/unfinished.h"

#define SAME_NS 500000000               /* a signal so soon after the first one belongs to it */

static const int numbers[] = { SIGINT, SIGTERM, SIGUSR1 };
enum { N = sizeof numbers / sizeof *numbers };

static volatile sig_atomic_t asked;
static _Atomic int64_t asked_ns;        /* 0: none has come */
static bool with_journal;
static char told_at_once[256];          /* with its line break */
static struct sigaction before[N];
static bool caught[N];

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void on_signal(int number)
{
    const int64_t now = now_ns();
    int64_t first = 0;
    if (atomic_compare_exchange_strong(&asked_ns, &first, now)) {
        asked = number;
        return;
    }
    if (number != SIGINT)               /* the last one counts; and after SIGTERM there is a time limit */
        asked = number;
    const bool forces = number == SIGINT || (number == SIGTERM && !with_journal);
    if (!forces || now - first < SAME_NS)
        return;
    dfr_status_clear_in_signal();
    if (told_at_once[0] && write(STDERR_FILENO, told_at_once, strlen(told_at_once)) < 0)
        told_at_once[0] = '\0';         /* standard error is closed */
    dfr_unfinished_end(number);
}

void dfr_interrupt_begin(bool journal, const char *at_once)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    with_journal = journal;
    snprintf(told_at_once, sizeof told_at_once, "%s%s", at_once ? at_once : "", at_once && *at_once ? "\n" : "");
    for (int i = 0; i < N; i++) {
        struct sigaction now;
        if (caught[i] || (numbers[i] == SIGUSR1 && !journal) || sigaction(numbers[i], NULL, &now) != 0)
            continue;
        if (now.sa_handler == SIG_IGN && (numbers[i] == SIGINT || !journal))
            continue;
        caught[i] = sigaction(numbers[i], &action, &before[i]) == 0;
    }
}

void dfr_interrupt_end(void)
{
    for (int i = 0; i < N; i++) {
        /* files may have been opened meanwhile */
        if (caught[i] && before[i].sa_handler == SIG_DFL && numbers[i] != SIGUSR1)
            before[i].sa_handler = dfr_unfinished_end;
        if (caught[i])
            sigaction(numbers[i], &before[i], NULL);
        caught[i] = false;
    }
}

int dfr_asked(void)
{
    return asked;
}

const char *dfr_signal_name(int number)
{
    return number == SIGINT ? "SIGINT" : number == SIGTERM ? "SIGTERM" : number == SIGUSR1 ? "SIGUSR1" : "a signal";
}

void dfr_interrupt_leave(void)
{
    if (asked == SIGINT)
        dfr_unfinished_end(SIGINT);
}
