/* chunk.h - a chunk of work: so many microseconds of waiting, so that chunks take as long on a machine with few cores. */
#ifndef CHUNK_H
#define CHUNK_H

#include <errno.h>
#include <sys/prctl.h>
#include <time.h>

static inline double chunk_clock_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void chunk_work(long us)
{
    struct timespec left = { us / 1000000, us % 1000000 * 1000 };
    prctl(PR_SET_TIMERSLACK, 1UL);      /* nanoseconds; the kernel adds 50 us by default */
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        ;
}

#endif
