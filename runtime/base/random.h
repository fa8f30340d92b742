/* random.h - a random number generator with the same sequence on every machine: SplitMix64 (Steele, Lea and Flood 2014). Any state is valid. A state is
 * used by one thread at a time. gp (partition/gp/), the search for mappings (partition/stages/), simulated clusters (compiler/cluster/,
 * partition/tuning/) and the policy random draw from it. */
#ifndef DFR_RANDOM_H
#define DFR_RANDOM_H

#include <stdint.h>

#define DFR_RANDOM_STEP UINT64_C(0x9E3779B97F4A7C15)

/* The finalizer: a bijection whose output bits each depend on all bits of z. */
static inline uint64_t dfr_random_finish(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* The number that a state gives. */
static inline uint64_t dfr_random_of(uint64_t state)
{
    return dfr_random_finish(state + DFR_RANDOM_STEP);
}

static inline uint64_t dfr_random(uint64_t *state)
{
    return dfr_random_finish(*state += DFR_RANDOM_STEP);
}

/* 0 to n - 1. */
static inline uint32_t dfr_random_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(((dfr_random(state) >> 32) * n) >> 32);
}

/* The 53 high bits of a drawn number as a double: in [0, 1). */
static inline double dfr_random_unit(uint64_t drawn)
{
    return (double)(drawn >> 11) * 0x1p-53;
}

/* The same, without 0 and 1. */
static inline double dfr_random_inside(uint64_t drawn)
{
    return ((double)(drawn >> 11) + 0.5) * 0x1p-53;
}

#endif
