/* clock.c - readings of CLOCK_MONOTONIC, and waiting for one. It is not CLOCK_MONOTONIC_RAW, because clock_nanosleep()
 * knows no other clock that never steps back. */
#include "runtime/threads/clock.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#define SPIN_S 20e-6 /* a wake-up from sleep may be so late without making the wait late */

double dfr_clock_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void sleep_until(double deadline_s)
{
    double whole = floor(deadline_s);
    struct timespec until = {.tv_sec = (time_t)whole, .tv_nsec = (long)((deadline_s - whole) * 1e9)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

void dfr_clock_wait_until(double deadline_s)
{
    double now_s = dfr_clock_s();

    if (now_s >= deadline_s)
        return;
    if (deadline_s - now_s > 2 * SPIN_S)
        sleep_until(deadline_s - SPIN_S);
    while (dfr_clock_s() < deadline_s)
        ;
}
