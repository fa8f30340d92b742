/* gauge.h - defines the benchmark loops that measure a device, and the operations and bytes counted for each. Shared by C and CUDA C++. */
#ifndef DFR_GAUGE_H
#define DFR_GAUGE_H

enum dfr_gauge {
    DFR_GAUGE_COPY, DFR_GAUGE_SCALE, DFR_GAUGE_ADD, DFR_GAUGE_TRIAD, /* STREAM, with f64: bytes as STREAM counts them */
    DFR_GAUGE_F32, DFR_GAUGE_F64,       /* multiplications and additions in turn, not contracted: operations */
    DFR_GAUGE_DEPENDENT,                /* one thread's chain of reads of 8 bytes, each where the one before says: reads */
    DFR_GAUGE_RANDOM,                   /* all threads' reads of 8 bytes somewhere in an array: reads */
    DFR_GAUGE_SHARED, DFR_GAUGE_SPREAD, /* all threads' atomic additions to one place; to one for each thread: updates */
    DFR_GAUGES
};

#endif
