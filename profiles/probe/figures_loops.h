/* figures_loops.h - the benchmark loops behind a host's performance figures (profiles/profiles.h). Each call does some tens of
 * microseconds of work and saves the state from which the next call continues. figures_host.c runs them.
 *
 * Code:     the arithmetic is compiled for two instruction sets, as formulas are: what every machine has, and AVX2.
 *           Multiplication and addition are not contracted, since formulas are not.
 * Threads:  each thread has its own struct dfw_lane. The arrays are shared; each lane writes only its own range of
 *           them.
 */
#ifndef DFW_FIGURES_LOOPS_H
#define DFW_FIGURES_LOOPS_H

#include <stdatomic.h>
#include <stdint.h>

#include "profiles/profiles.h"

#define DFW_STREAM_BLOCK 8192           /* elements of one call of a STREAM loop */

struct dfw_arrays {                     /* of STREAM */
    double *of[3];                      /* a, b, c; a holds zeros */
    uint64_t length;                    /* elements of each: a multiple of DFW_STREAM_BLOCK */
};

struct dfw_lane {                       /* a thread's own; alone on its cache lines */
    _Alignas(128) _Atomic uint64_t own;
    uint64_t first, end, at;            /* its part of the arrays, and the next element */
    uint64_t place;                     /* where the next random read begins */
    double keeps;                       /* so that no result is unused */
};

/* Runs the loop of a figure briefly, and returns the amount of work: bytes, operations, reads or updates. */
double dfw_loop(enum dfw_figure figure, const struct dfw_arrays *arrays, struct dfw_lane *lane,
                _Atomic uint64_t *shared);

#endif
