/* witness.h - whether this machine let threads run when they were to, while something was measured in real time.
 *
 * A test that compares measured times with emulated ones says nothing if other programs had the cores meanwhile. It tries again, and if
 * the machine was busy in any attempt, it skips: attempts_judge().
 */
#ifndef WITNESS_H
#define WITNESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#define WITNESS_NAP_S 1e-3
#define WITNESS_LATE_S 1.5e-3
#define WITNESS_LATE_PART 0.04          /* of its naps. The probe alone on two cores has 0.013 to 0.035, beside a busy loop on one core 0.05 to 0.1 */

struct witness {
    pthread_t thread;
    _Atomic bool over;
    unsigned naps, late;                /* the thread's, until it has ended */
};

static inline double witness_now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline void *witness_naps(void *arg)
{
    struct witness *w = arg;

    while (!atomic_load(&w->over)) {
        double began_s = witness_now_s();
        nanosleep(&(struct timespec){ .tv_nsec = (long)(1e9 * WITNESS_NAP_S) }, NULL);
        w->naps++;
        w->late += witness_now_s() - began_s > WITNESS_NAP_S + WITNESS_LATE_S;
    }
    return NULL;
}

static inline void witness_begin(struct witness *w)
{
    *w = (struct witness){ .naps = 0 };
    pthread_create(&w->thread, NULL, witness_naps, w);
}

/* Whether the machine was quiet. */
static inline bool witness_end(struct witness *w)
{
    atomic_store(&w->over, true);
    pthread_join(w->thread, NULL);
    return w->late <= 1 + WITNESS_LATE_PART * w->naps;
}

/* What is said of attempts that all failed: those on a quiet machine count. */
#define ATTEMPTS 10
#define ATTEMPTS_THAT_COUNT ATTEMPTS
#define attempts_judge(n_quiet, ...)                                                                          \
    do {                                                                                                      \
        if ((n_quiet) >= ATTEMPTS_THAT_COUNT)                                                                 \
            fail_msg(__VA_ARGS__);                                                                            \
        print_message("the machine was busy in %d of %d attempts: ", ATTEMPTS - (int)(n_quiet), ATTEMPTS);    \
        print_message(__VA_ARGS__);                                                                           \
        print_message("\n");                                                                                  \
        skip();                                                                                               \
    } while (0)

#endif
