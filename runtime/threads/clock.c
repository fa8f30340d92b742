/* clock.c - readings of CLOCK_MONOTONIC, and waiting for one. It is not CLOCK_MONOTONIC_RAW, because clock_nanosleep()
 * knows no other clock that never steps back. */
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

static double nominal_s(const struct dfr_nominal *nominal)
{
    double now_s = dfr_nominal_real_s(nominal);
    return now_s > moment_s + DFR_FORGIVEN_S / nominal->scale ? now_s : moment_s;
}

double dfr_clock_s(void)
{
    return entered ? nominal_s(entered) : real_s();
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

void dfr_nominal_move(double cause_s, bool late)
{
    moment_s = fmax(moment_s, cause_s);
    if (late && entered)
        moment_s = nominal_s(entered);
}

double dfr_nominal_sleep(const struct dfr_nominal *nominal, double until_s, double more_s)
{
    double deadline_s = dfr_nominal_until_s(nominal, until_s) + more_s;

    if (real_s() >= deadline_s)
        return 0;
    sleep_until(deadline_s);
    return real_s() - deadline_s;
}

double dfr_nominal_until_s(const struct dfr_nominal *nominal, double nominal_s)
{
    return nominal->origin_s + nominal_s * nominal->scale;
}

double dfr_nominal_real_s(const struct dfr_nominal *nominal)
{
    return (real_s() - nominal->origin_s) / nominal->scale;
}
