/* gauge.h - defines the benchmark loops that measure a device, and the operations and bytes counted for each. Shared by C and CUDA C++.
 * gauge() of device.h runs them, for profiles/probe/figures_device.c: cuda/cuda_gauge.c and opencl/opencl_gauge.c implement it. */
#ifndef DFR_GAUGE_H
#define DFR_GAUGE_H

#include <stdint.h>

#define LOOP_THREADS 256u               /* of a block, or work-group */
#define LOOP_CHAINS 8u                  /* of each thread: so no operation waits for the one before */
#define LOOP_STEPS 512u                 /* of a chain, in a turn */
#define LOOP_READS 64u                  /* of a thread, in a turn; so for all below */
#define LOOP_UPDATES 16u

enum dfr_gauge {
    DFR_GAUGE_COPY, DFR_GAUGE_SCALE, DFR_GAUGE_ADD, DFR_GAUGE_TRIAD, /* STREAM, with f64: bytes as STREAM counts them */
    DFR_GAUGE_F32, DFR_GAUGE_F64,       /* multiplications and additions in turn, not contracted: operations */
    DFR_GAUGE_DEPENDENT,                /* one thread's chain of reads of 8 bytes, each where the one before says: reads */
    DFR_GAUGE_RANDOM,                   /* all threads' reads of 8 bytes somewhere in an array: reads */
    DFR_GAUGE_SHARED, DFR_GAUGE_SPREAD, /* all threads' atomic additions to one place; to one for each thread: updates */
    DFR_GAUGES
};

/* How much so many threads do in one turn. */
static inline double loop_work(enum dfr_gauge loop, uint64_t length, double threads)
{
    switch (loop) {
    case DFR_GAUGE_COPY:
    case DFR_GAUGE_SCALE: return 2.0 * sizeof(double) * (double)length;
    case DFR_GAUGE_ADD:
    case DFR_GAUGE_TRIAD: return 3.0 * sizeof(double) * (double)length;
    case DFR_GAUGE_F32:
    case DFR_GAUGE_F64: return 2.0 * LOOP_STEPS * LOOP_CHAINS * threads;
    case DFR_GAUGE_DEPENDENT: return LOOP_READS;
    case DFR_GAUGE_RANDOM: return LOOP_READS * threads;
    default: return LOOP_UPDATES * threads;
    }
}

#endif
