/* comm_sleeps.h - how often a communication thread may go to sleep (runtime/ranks/comm.h): it follows from its backoff alone, whatever
 * the speed and the load of the machine.
 */
#ifndef COMM_SLEEPS_H
#define COMM_SLEEPS_H

#include "runtime/ranks/comm.h"

/* In `waited_s` after something happened. A sleep never takes less than it is asked to, so there are no more in real time. */
static inline uint64_t comm_sleeps_in(double waited_s)
{
    uint64_t n = 0;

    for (double idle_s = 0; idle_s < waited_s; idle_s += dfr_comm_sleep_s(idle_s))
        n++;
    return n;
}

/* If something happened n_active times meanwhile, too: the most there are if that divides the time evenly, because sleeps get longer. */
static inline uint64_t comm_sleeps_most(double waited_s, uint64_t n_active)
{
    double parts = (double)n_active + 1;

    return (n_active + 1) * (comm_sleeps_in(waited_s / parts) + 1);
}

#endif
