/* differ.h - compares two arrays of numbers within a tolerance. check_variants.c and record_job.c use it.
 *
 * Rule:     a and b agree if |a - b| <= absolute + relative * max(|a|, |b|). An infinity agrees only with itself, a NaN
 *           with any NaN, and 0 with -0.
 * Defaults: for kernels that state no tolerance: integers must be equal; f64 has 1e-12 relative and 1e-15 absolute, f32
 *           has 1e-5 and 1e-7, f16 has 4e-3 and 1e-4. These are some tens of units in the last place: enough for
 *           reordered sums and fused multiply-adds.
 * Bits:     DFR_SAME_BITS allows no difference at all, not even of NaNs.
 */
#ifndef DFR_DIFFER_H
#define DFR_DIFFER_H

#include <stdbool.h>

#include "runtime/df.h"

struct dfr_difference {
    uint64_t first;                     /* index of the first element that differs */
    uint64_t count;                     /* how many do */
    char a[40], b[40];                  /* that element in both, as text */
    double by, allowed;                 /* |a - b|, infinite if one is not finite; what the tolerance allows there */
};

/* `given`, with what it leaves open filled in for the element type. */
struct df_tolerance dfr_tolerance(struct df_tolerance given, enum df_elem elem);

#define DFR_SAME_BITS (struct df_tolerance){ .absolute = -1, .given = DF_RELATIVE | DF_ABSOLUTE }

/* true: some of the n elements differ, and *difference says which. */
bool dfr_differ(enum df_elem elem, const void *a, const void *b, uint64_t n, struct df_tolerance tolerance,
                struct dfr_difference *difference);

/* Says which element differs, by its index in an array of these extents, and what it is on both sides, which have these names:
 * "[4,17] (index 97): cpu 50.5, gpu 50.75, differs by 0.25, allowed 0.000508; 1 of 160 elements differ". */
void dfr_difference_text(const struct dfr_difference *difference, const uint64_t *dims, unsigned rank, const char *a, const char *b, char *text, size_t size);

#endif
