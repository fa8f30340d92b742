/* passes.h - assigns the parts of divided accs to passes, for runs that repeat all waves several times so that only some parts are in memory at once
 * (runtime/start/passes.h). It determines which tokens are recomputed in each pass and which are kept, and the least number of passes with which the parts
 * fit.
 *
 * Parts:   nodes that change parts of a divided acc and make nothing else. Part k of n is in pass k * passes / n, rounded down.
 * Again:   A source can be repeated if it is DF_RESTART, or if the caller provides its tokens. What the parts read in a wave is recomputed in each pass
 *          if it depends only on such sources, through nodes that are not ordered and have no acc; all these nodes fire in each pass. Otherwise it is *kept*
 *          in host memory, and its producers fire in pass 0 only.
 * Threads: reentrant.
 */
#ifndef DF_PASSES_H
#define DF_PASSES_H

#include "runtime/graph/graph.h"

struct dfr_again {
    bool *kept;                         /* by value: it is kept. No ranges, but the wholes that they lie in */
    bool *called;                       /* by node: it makes what the parts read, again in each pass */
    uint64_t read_bytes, kept_bytes;    /* of a wave, each value in whole lines: what the parts read; what of it is kept */
};

/* How a source can be repeated: as its trait says; its tokens lie in the caller's memory; or its input can be read only once, whatever the trait says. */
enum dfr_source { DFR_SOURCE_BY_TRAIT, DFR_SOURCE_GIVEN, DFR_SOURCE_ONCE };
/* sources: by node, enum dfr_source; NULL: all are as their traits say. Call dfr_again_free() also after an error. DF_E_MEMORY. */
int dfr_again_find(const struct df_graph *graph, const uint8_t *sources, struct dfr_again *again, struct df_error *error);
void dfr_again_free(struct dfr_again *again);
/* The bytes that are kept for so many waves; UINT64_MAX on overflow. The check fails with DF_E_REFUSED if they exceed host_bytes; the message says what
 * would help. */
uint64_t dfr_again_bytes(const struct dfr_again *again, int64_t waves);
int dfr_again_admit(const struct df_graph *graph, const struct dfr_again *again, int64_t waves, uint64_t host_bytes, struct df_error *error);

/* Returns true if the node's only outputs are parts of a divided acc. */
bool dfr_is_part_of_acc(const struct df_graph *graph, uint32_t node);
/* The largest number of parts of an acc of the graph; 0: none is divided. */
uint32_t dfr_passes_most(const struct df_graph *graph);
/* The number of passes by @passes, limited to the number of parts; 0: there is no @passes. */
uint32_t dfr_passes_hint(const struct df_graph *graph);
/* The pass in which the node fires: 0 for all but parts; DF_NONE: in each pass, as nodes that are called again do, and views and joins of
 * what comes again. */
uint32_t dfr_passes_of(const struct df_graph *graph, uint32_t node, uint32_t n_passes, const struct dfr_again *again);
/* Chooses the number of passes: `asked`, limited to the number of parts. If asked is 0: as @passes says, else the least number with which the parts of one
 * pass, and some tokens that they read, fit in each device's memory; 1 if no number does, or if there is a single wave. */
uint32_t dfr_passes_choose(const struct df_graph *graph, const struct df_platform *platform, int64_t waves, uint32_t asked);

/* Returns true if the parts of two passes, and some tokens, fit in each device's memory together. Then the last waves of a pass may overlap the first ones of
 * the next, and parts are copied off the device while others are changed. Returns true if there is one pass. */
bool dfr_passes_overlap(const struct df_graph *graph, const struct df_platform *platform, uint32_t n_passes);
/* The distance between passes of a simulated run, in rounds, as dfr_skips_next() computes it for a real run. */
uint64_t dfr_passes_stride(const struct df_graph *graph, bool overlap, uint32_t waves, uint32_t inflight);
/* Returns true for the acc of a part that only views and joins read. They read it on the host, so it can be copied there after its last wave, while other
 * parts are still being changed. */
bool dfr_acc_is_gathered(const struct df_graph *graph, uint32_t value);

#endif
