/* clock.c - reads CLOCK_MONOTONIC, and sleeps until a time on it, for every room that measures time; for rehearsed runs (runtime/rehearse/) it keeps each
 * thread's nominal time (clock.h). CLOCK_MONOTONIC_RAW is not used, because clock_nanosleep() does not support it. */
#include "runtime/threads/clock.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#define SPIN_S 20e-6 /* a wake-up from sleep may be so late without making the wait late */

/* The nominal time that this thread has entered; NULL: its clock is the real one. */
static _Thread_local const struct dfr_nominal *entered;
static _Thread_local double moment_s;

static double real_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double dfr_nominal_real_s(void)
{
    return (real_s() - entered->origin_s) / entered->scale;
}

static double nominal_s(void)
{
    double now_s = dfr_nominal_real_s();
    return now_s > moment_s + DFR_FORGIVEN_S / entered->scale ? now_s : moment_s;
}

double dfr_clock_s(void)
{
    return entered ? nominal_s() : real_s();
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
    double now_s = real_s();

    if (now_s >= deadline_s)
        return;
    if (deadline_s - now_s > 2 * SPIN_S)
        sleep_until(deadline_s - SPIN_S);
    while (real_s() < deadline_s)
        ;
}

/* ---- nominal time ---- */

void dfr_nominal_enter(const struct dfr_nominal *nominal)
{
    entered = nominal;
    moment_s = 0;
    if (nominal)
        prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul); /* else a wake-up may be 50 us late by intention */
}

void dfr_nominal_be_prompt(void)
{
    struct sched_param first = { .sched_priority = 1 };
    pthread_setschedparam(pthread_self(), SCHED_RR, &first);
}

double dfr_nominal_moment_s(void)
{
    return moment_s;
}

void dfr_nominal_move(double at_s)
{
    if (entered)
        moment_s = fmax(moment_s, at_s);
}

void dfr_nominal_catch_up(void)
{
    if (entered)
        dfr_nominal_move(dfr_nominal_real_s());
}

double dfr_nominal_left_s(double until_s)
{
    return entered->origin_s + until_s * entered->scale - real_s();
}

double dfr_nominal_sleep(double until_s, double more_s)
{
    double deadline_s = entered->origin_s + until_s * entered->scale + more_s, late_s = 0;

    if (real_s() < deadline_s) {
        sleep_until(deadline_s);
        late_s = real_s() - deadline_s;
    }
    dfr_nominal_move(late_s > DFR_LATE_S ? dfr_nominal_real_s() : until_s);
    return late_s;
}
