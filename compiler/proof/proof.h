/* proof.h - proves that every read of a kernel's formulas is inside its port or table, for all sizes.
 *
 * Room:     compiler/proof/ builds on compiler/formula/. Code generation and fusion use its results.
 * Proved:   for every read, at each of its occurrences (with the ranges and conditions around it), and for all extents
 *           of all ports from 1 on. In a dimension that has a border, reads may be out of bounds; the result says by
 *           how much. Anywhere else a read that may be out of bounds is an error.
 * Dynamic:  a read without a border is proved for the present values of dynamic params; a program that gets other
 *           values repeats the proof when it starts. Results about reads with a border hold for any values.
 * Decided:  indices that are affine in indices, dimensions and scalars; `/` and `%` by constants; min, max, clamp, abs;
 *           ?: and conditions on integers; elements by the range of their type. All other values are only known to be
 *           in the range of their type. What cannot be decided is an error, too: nothing is accepted without proof.
 * Wraps:    an index is an i32. If a comparison, `/` or the like could observe a sum that overflowed for extents near
 *           2^31, the proof holds only for extents up to DFF_SMALL_EXTENT, and `max_extent` says so.
 * Memory:   results live in the unit's arena.
 * Threads:  one per unit.
 */
#ifndef DFF_PROOF_H
#define DFF_PROOF_H

#include "compiler/formula/formula.h"

#define DFF_MOST_REACH ((int64_t)1 << 20)   /* how far beyond an extent a bound says where a read is */
#define DFF_MOST_EXTENT (INT32_MAX - DFF_MOST_REACH) /* so that an index beside it is an i32, and a loop's next step */
#define DFF_SMALL_EXTENT ((int64_t)1 << 27)
#define DFF_FAR INT64_MAX

struct dff_access {                     /* one dimension of a READ or TABLE node, in all its places */
    bool inside;                        /* always: 0 <= index < extent */
    bool affine;                        /* index = constant + sum of slot[s] * slot s + sum of dim[v] * variable v */
    int64_t below, above;               /* -below <= index < extent + above, both 0 or more; DFF_FAR: no such number */
    int64_t constant;
    int64_t slot[DFF_MAX_SLOTS];
    const int64_t *dim;                 /* one for each variable of the signature */
};

struct dff_proof {
    const struct dff_access *const *access; /* by the node's id: one for each dimension; NULL: no read, or of rank 0 */
    int64_t max_extent;                 /* DFF_MOST_EXTENT or less: what is said holds up to these extents */
};

/* NULL: errors were reported, or no memory. */
const struct dff_proof *dff_prove(struct dfc_unit *u, const struct dff_kernel *kernel);

#endif
