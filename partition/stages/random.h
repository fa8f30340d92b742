/* random.h - numbers that are drawn, the same on every machine: SplitMix64 (Steele, Lea and Flood 2014). The state is any number. One thread at a
 * time uses a state.
 */
#ifndef DFP_RANDOM_H
#define DFP_RANDOM_H

#include <stdint.h>

/* What the state gives, which stays as it is. */
static inline uint64_t dfp_random_mix(uint64_t z)
{
    z += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static inline uint64_t dfp_random(uint64_t *state)
{
    uint64_t z = dfp_random_mix(*state);
    *state += UINT64_C(0x9E3779B97F4A7C15);
    return z;
}

/* 0 to n - 1. */
static inline uint32_t dfp_random_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(((dfp_random(state) >> 32) * n) >> 32);
}

/* Between 0 and 1, without both. */
static inline double dfp_random_even(uint64_t *state)
{
    return ((double)(dfp_random(state) >> 11) + 0.5) / 9007199254740992.0;
}

#endif
