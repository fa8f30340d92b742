/* turns.h - how long a run's waves take once it is warm, for the last kernel of a graph, which is `ordered`.
 *
 * The first waves are not counted: a GPU's clocks rise from idle during them, code is loaded and handles are made. After
 * the wave `last` one line tells what was counted:
 *     waves=N seconds=S all_s=T        N waves took S seconds after warm_ms milliseconds; T is from the first wave's end
 */
#ifndef TURNS_H
#define TURNS_H

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double turns_clock_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Called when a wave ends. Where a graph has several such nodes, the first call of a wave counts. */
static void turns_note(struct df_call *call, int64_t last, int32_t warm_ms)
{
    static double begun_s, warm_s;
    static int64_t warm = -1, seen = -1;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int64_t wave = df_wave(call);
    double now_s = turns_clock_s();

    pthread_mutex_lock(&lock);
    if (seen < 0)
        begun_s = now_s;
    if (wave > seen) {
        seen = wave;
        if (warm < 0 && now_s - begun_s >= 1e-3 * warm_ms) {
            warm = wave;
            warm_s = now_s;
        }
        if (wave == last)
            printf("waves=%lld seconds=%.9f all_s=%.9f\n", warm < 0 ? 0LL : (long long)(wave - warm),
                   warm < 0 ? 0 : now_s - warm_s, now_s - begun_s);
    }
    pthread_mutex_unlock(&lock);
}

#endif
