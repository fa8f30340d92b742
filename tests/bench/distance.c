/* distance.c - prints how many ns a cache line takes from one core to another: of the first two that this process may use, half
 * of a round trip, the fastest of some. 0: there is one core.
 *
 * A virtual machine's cores may be moved while it runs. If both are put where they share a last cache, this is some 30 ns;
 * if each has a cache of its own, some 150 ns, and there is about twice the bandwidth of memory, but what one core has
 * written reaches the other more slowly.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#define TRIPS 1000
#define TIMES 8
#define LONGEST_S 1.0                   /* a core that is taken away for longer ends the measurement */

static int cores[2];
static double fastest_s = LONGEST_S;    /* of TRIPS round trips */
static _Alignas(128) _Atomic long ball; /* even: the first core's */

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void bind_to(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static int take(long number)
{
    double begin_s = now_s();
    while (atomic_load_explicit(&ball, memory_order_acquire) != number)
        if (now_s() > begin_s + LONGEST_S)
            return 0;
    return 1;
}

/* The first player times itself. */
static void *play(void *arg)
{
    long player = (long)arg;
    bind_to(cores[player]);
    for (long time = 0; time < TIMES; time++) {
        double begin_s = now_s(), took_s;
        for (long i = time * TRIPS; i < (time + 1) * TRIPS && take(2 * i + player); i++)
            atomic_store_explicit(&ball, 2 * i + player + 1, memory_order_release);
        took_s = now_s() - begin_s;
        if (player == 0 && took_s < fastest_s)
            fastest_s = took_s;
    }
    return NULL;
}

int main(void)
{
    cpu_set_t set;
    pthread_t other;
    int n = 0;
    sched_getaffinity(0, sizeof set, &set);
    for (int core = 0; core < CPU_SETSIZE && n < 2; core++)
        if (CPU_ISSET(core, &set))
            cores[n++] = core;
    if (n < 2 || pthread_create(&other, NULL, play, (void *)1L) != 0) {
        puts("0");
        return 0;
    }
    play((void *)0L);
    pthread_join(other, NULL);
    printf("%.0f\n", fastest_s / TRIPS / 2 * 1e9);
    return 0;
}
