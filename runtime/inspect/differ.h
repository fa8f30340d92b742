/* differ.h - do two arrays hold the same numbers, within a tolerance? For --check=variants.
 *
 * Rule:     a and b agree where |a - b| <= absolute + relative * max(|a|, |b|). Infinities agree with themselves alone,
 *           a NaN with any NaN, 0 with -0.
 * Defaults: of a kernel that states no tolerance: integers are exact; f64 has 1e-12 relative and 1e-15 absolute, f32
 *           1e-5 and 1e-7, f16 4e-3 and 1e-4: some tens of units in the last place, for sums in another order and fused
 *           multiplications.
 */
#ifndef DFR_DIFFER_H
#define DFR_DIFFER_H

#include <stdbool.h>

#include "runtime/df.h"

struct dfr_difference {
    uint64_t first;                     /* index of the first element that differs */
    uint64_t count;                     /* how many do */
    char a[40], b[40];                  /* that element in both, as text */
    double by, allowed;                 /* |a - b|, infinite where one is no number; what the tolerance allows there */
};

/* What `given` leaves open filled in for the element type. */
struct df_tolerance dfr_tolerance(struct df_tolerance given, enum df_elem elem);

/* true: some of the n elements differ, and *difference says which. */
bool dfr_differ(enum df_elem elem, const void *a, const void *b, uint64_t n, struct df_tolerance tolerance,
                struct dfr_difference *difference);

#endif
