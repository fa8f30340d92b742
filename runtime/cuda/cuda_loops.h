/* cuda_loops.h - the code of one thread of the benchmark kernels (device.h, gauge()). cuda_loops.cu wraps it in
 * kernels; a test of the mock back end runs it on the host. It is therefore both C and CUDA C++. cuda_gauge.c
 * launches them.
 *
 * Memory:   the arrays are uninitialised. Their contents do not affect the loops, except that DFR_GAUGE_DEPENDENT
 *           compares each element with one value; a match would only change which addresses are read next.
 * Results:  unused results would be optimised away, so a thread stores its result if it equals a number that it never
 *           equals.
 */
#ifndef DFR_CUDA_LOOPS_H
#define DFR_CUDA_LOOPS_H

#include <stdint.h>

#include "runtime/device/gauge.h"

#define LOOP_NEVER 1.5e300

struct cuda_loop {
    enum dfr_gauge loop;
    double *a, *b, *c;                  /* in the device's memory */
    uint64_t length;                    /* elements of each */
    uint32_t turns;                     /* how many times all is done */
    double by;                          /* 0.5: a chain then stays where it begins to */
};

#ifdef __CUDACC__
#define LOOP_CODE static __device__ __forceinline__
#define LOOP_UPDATE(counter) atomicAdd(counter, 1ull)
#define LOOP_HIGH(x, y) __umul64hi(x, y)
#else
#define LOOP_CODE static inline
#define LOOP_UPDATE(counter) __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED)
#define LOOP_HIGH(x, y) ((uint64_t)((unsigned __int128)(x) * (y) >> 64))
#endif

LOOP_CODE void loop_stream(enum dfr_gauge loop, const struct cuda_loop *l, uint64_t thread, uint64_t threads)
{
    for (uint64_t i = thread; i < l->length; i += threads)
        if (loop == DFR_GAUGE_COPY)
            l->c[i] = l->a[i];
        else if (loop == DFR_GAUGE_SCALE)
            l->b[i] = 3 * l->c[i];
        else if (loop == DFR_GAUGE_ADD)
            l->c[i] = l->a[i] + l->b[i];
        else
            l->a[i] = l->b[i] + 3 * l->c[i];
}

#define LOOP_CHAIN(name, element)                                                                                          \
    LOOP_CODE void name(const struct cuda_loop *l, uint64_t thread, uint32_t turn)                                         \
    {                                                                                                                      \
        element x[LOOP_CHAINS], by = (element)l->by, plus = by / 4, sum = 0;                                               \
        for (uint32_t k = 0; k < LOOP_CHAINS; k++)                                                                         \
            x[k] = (element)((thread + turn) % 64 + k);                                                                    \
        for (uint32_t i = 0; i < LOOP_STEPS; i++)                                                                          \
            for (uint32_t k = 0; k < LOOP_CHAINS; k++)                                                                     \
                x[k] = x[k] * by + plus;                                                                                   \
        for (uint32_t k = 0; k < LOOP_CHAINS; k++)                                                                         \
            sum += x[k];                                                                                                   \
        if (sum > 1000000) /* eight numbers below 72 */                                                                    \
            l->c[0] = (double)sum;                                                                                         \
    }
LOOP_CHAIN(loop_f32, float)
LOOP_CHAIN(loop_f64, double)

/* The next read, by a linear congruential generator (Knuth's MMIX), as on the host. */
LOOP_CODE double loop_read(const struct cuda_loop *l, uint64_t *place)
{
    *place = *place * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((const volatile double *)l->a)[LOOP_HIGH(*place, l->length)];
}

LOOP_CODE void loop_reads(enum dfr_gauge loop, const struct cuda_loop *l, uint64_t thread, uint32_t turn)
{
    uint64_t place = (thread << 20 ^ turn) * UINT64_C(0x9e3779b97f4a7c15);
    double sum = 0;
    for (uint32_t i = 0; i < LOOP_READS; i++) {
        double value = loop_read(l, &place);
        if (loop == DFR_GAUGE_DEPENDENT)
            place += value == LOOP_NEVER;
        sum += value;
    }
    if (sum == LOOP_NEVER)
        l->c[0] = sum;
}

LOOP_CODE void loop_update(const struct cuda_loop *l, uint64_t counter)
{
    unsigned long long *counters = (unsigned long long *)l->b;
    for (uint32_t i = 0; i < LOOP_UPDATES; i++)
        LOOP_UPDATE(&counters[counter % l->length]);
}

/* All that a thread does. `loop` is l->loop, which the compiler knows. */
LOOP_CODE void loop_thread(enum dfr_gauge loop, const struct cuda_loop *l, uint64_t thread, uint64_t threads)
{
    for (uint32_t turn = 0; turn < l->turns; turn++)
        if (loop <= DFR_GAUGE_TRIAD)
            loop_stream(loop, l, thread, threads);
        else if (loop == DFR_GAUGE_F32)
            loop_f32(l, thread, turn);
        else if (loop == DFR_GAUGE_F64)
            loop_f64(l, thread, turn);
        else if (loop == DFR_GAUGE_RANDOM || (loop == DFR_GAUGE_DEPENDENT && thread == 0))
            loop_reads(loop, l, thread, turn);
        else if (loop >= DFR_GAUGE_SHARED)
            loop_update(l, loop == DFR_GAUGE_SHARED ? 0 : thread);
}

#endif
