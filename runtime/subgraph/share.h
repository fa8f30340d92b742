/* share.h - what several ranks can share of a graph whose accs are divided: each rank owns some of their parts, and changes these in all waves.
 *
 * Words:    A *share* is a range of the nodes that change parts of accs, in the order of nodes. Its *graph* has these nodes, and what
 *           makes what they read, sources included.
 * Graph:    It can be shared if all nodes that fire in each wave change parts of accs, or make what these read and can be called on each rank:
 *           sources that are `restart`, sources that are no stream and not ordered, and what is computed from these, without `ordered` kernels.
 *           These nodes are called in each share. What fires once comes from the first rank.
 * Same:     a part is changed by the same kernel in the same order of waves as in one process, so it has the same bits.
 * Memory:   the graph is borrowed.
 * Threads:  none of this is called by several at once.
 * Errors:   DF_E_MEMORY; DF_E_REFUSED: the graph cannot be shared, and the message says why.
 */
#ifndef DFR_SHARE_H
#define DFR_SHARE_H

#include "runtime/subgraph/part.h"

struct dfr_shared {
    const struct df_graph *graph;
    uint32_t *parts;                    /* nodes */
    uint32_t n_parts;
    uint64_t acc_bytes, read_bytes;     /* of all parts; what these read of a wave, each value once */
};

/* args: as those of a run. Call dfr_shared_free() also after an error. */
int dfr_shared_find(const struct df_graph *graph, const union df_scalar *args, struct dfr_shared *shared, struct df_error *error);
void dfr_shared_free(struct dfr_shared *shared);
/* Is it worth it for so many ranks that compute? The parts must be larger than what they read of a wave, because each rank computes that again. One rank is enough
 * if what it has done is kept: another run may have had more. */
bool dfr_shared_pays(const struct dfr_shared *shared, int n_ranks, bool kept);

enum dfr_share_what { DFR_SHARE_FIND, DFR_SHARE_WAVES, DFR_SHARE_PARTS }; /* FIND: parts if the graph can be shared so and it pays, else waves */

/* Are so many ranks, the first one included, to share parts? The same on all ranks. kept: there are checkpoints. Call dfr_shared_free() unless it fails.
 * DF_E_REFUSED: it is asked for and cannot be. */
int dfr_shared_choose(const struct df_graph *graph, const union df_scalar *args, int n_ranks, bool kept, enum dfr_share_what what, struct dfr_shared *shared,
                      bool *parts, struct df_error *error);

/* Part number i of share k of n begins the share: i = first(k), and it ends before first(k + 1). */
static inline uint32_t dfr_share_first(const struct dfr_shared *shared, uint32_t k, uint32_t n)
{
    return (uint32_t)((uint64_t)shared->n_parts * k / n);
}

/* The share that begins with part number `first` and ends before `end` is BODY, and what fires once is HEAD. dfr_parts_free() returns them. */
int dfr_share_make(const struct dfr_shared *shared, uint32_t first, uint32_t end, struct dfr_parts *parts, struct df_error *error);

#endif
