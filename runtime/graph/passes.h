/* passes.h - which part of a divided acc is in which pass, if the waves go by several times (runtime/start/passes.h). It says how what
 * the parts read comes again, and how many passes make the parts fit in a memory.
 *
 * Parts:   nodes that change parts of a divided acc and make nothing else. Part k of n is in pass k * passes / n, rounded down.
 * Again:   Sources may be called again if they are DF_RESTART, or if the caller gives what they make. What the parts read of a wave is made
 *          again in each pass if it comes from such sources alone, through nodes that are not ordered and have no acc. All these fire in each pass. Else it is *kept* in host
 *          memory, and what makes it fires in pass 0 alone.
 * Threads: nothing is kept here.
 */
#ifndef DF_PASSES_H
#define DF_PASSES_H

#include "runtime/graph/graph.h"

struct dfr_again {
    bool *kept;                         /* by value: it is kept. No ranges, but the wholes that they lie in */
    bool *called;                       /* by node: it makes what the parts read, again in each pass */
    uint64_t read_bytes, kept_bytes;    /* of a wave, each value in whole lines: what the parts read; what of it is kept */
};

/* Of sources: as the trait says; the tokens lie in memory of the caller; what it reads can be read only once, whatever the trait says. */
enum dfr_source { DFR_SOURCE_BY_TRAIT, DFR_SOURCE_GIVEN, DFR_SOURCE_ONCE };
/* sources: by node, enum dfr_source; NULL: all are as their traits say. Call dfr_again_free() also after an error. DF_E_MEMORY. */
int dfr_again_find(const struct df_graph *graph, const uint8_t *sources, struct dfr_again *again, struct df_error *error);
void dfr_again_free(struct dfr_again *again);
/* The bytes that are kept of so many waves; UINT64_MAX: more than can be counted. DF_E_REFUSED: they are more than may be used, host_bytes. The
 * message says what would help. */
uint64_t dfr_again_bytes(const struct dfr_again *again, int64_t waves);
int dfr_again_admit(const struct df_graph *graph, const struct dfr_again *again, int64_t waves, uint64_t host_bytes, struct df_error *error);

/* Does the node change parts of a divided acc, and make nothing else? */
bool dfr_is_part_of_acc(const struct df_graph *graph, uint32_t node);
/* The most parts that an acc of the graph is divided into; 0: none is divided. */
uint32_t dfr_passes_most(const struct df_graph *graph);
/* How often @passes says that the waves go by, which is no more often than the acc has parts; 0: nobody says it. */
uint32_t dfr_passes_hint(const struct df_graph *graph);
/* The pass in which the node fires: 0 for all but parts; DF_NONE: in each pass, as nodes that are called again do, and views and joins of
 * what comes again. */
uint32_t dfr_passes_of(const struct df_graph *graph, uint32_t node, uint32_t n_passes, const struct dfr_again *again);
/* The number of passes: as asked for, but no more than there are parts. If asked is 0: as @passes says, or the least with which the parts of one pass fit in
 * each device's memory, with some tokens of what they read; 1 if no number helps, or if there is a single wave. */
uint32_t dfr_passes_choose(const struct df_graph *graph, const struct df_platform *platform, int64_t waves, uint32_t asked);

/* Do the parts of two passes fit in each device's memory together, with some tokens? Then the last waves of a pass and the first ones of the
 * next may be in flight together, and parts leave the device while others are changed. true if there is one pass. */
bool dfr_passes_overlap(const struct df_graph *graph, const struct df_platform *platform, uint32_t n_passes);
/* From a pass to the next one of a simulated run, in rounds: as dfr_skips_next() of a run. */
uint64_t dfr_passes_stride(const struct df_graph *graph, bool overlap, uint32_t waves, uint32_t inflight);
/* Is it the acc of a part, which only views and joins read? These take it on the host. So it can go there when its last wave has changed it,
 * while other parts are changed. */
bool dfr_acc_is_gathered(const struct df_graph *graph, uint32_t value);

#endif
