/* proof.h - are the reads of a kernel's formulas inside their ports and tables, whatever the sizes?
 *
 * Room:     compiler/proof/ stands above compiler/formula/. Code generation and fusion ask it what it found.
 * Proved:   for every read, in every place in which it stands (ranges around it, conditions that hold there), and for
 *           all extents from 1 on of all ports. Where reads of a dimension have a border, they may go outside, and it is
 *           found by how much. Elsewhere a read that may go outside is an error.
 * Dynamic:  a read without a border is proved for the values that dynamic params have now; a program that gets other
 *           values proves it again when it starts. What is said of reads with a border holds for any values.
 * Decided:  indices that are affine in indices, dimensions and scalars; `/` and `%` by numbers; min, max, clamp, abs;
 *           ?: and conditions of integers; elements by the range of their type. Everything else has the range of its
 *           type. What cannot be decided is an error, too: nothing is accepted without proof.
 * Wraps:    an index is an i32. If a comparison, `/` or the like could see a sum that went around for extents near
 *           2^31, the proof holds for extents up to DFF_SMALL_EXTENT alone, and `max_extent` says so.
 * Memory:   what is found lives in the unit's arena and dies with it.
 * Threads:  as the unit: one.
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
