/* passes.h - which part of a divided acc is in which pass, if the waves go by several times (runtime/start/passes.h), and
 * how many passes make the parts fit in a memory.
 *
 * Parts:   nodes that change parts of a divided acc and make nothing else. Part k of n is in pass k * passes / n, rounded down.
 * Threads: nothing is kept here.
 */
#ifndef DF_PASSES_H
#define DF_PASSES_H

#include "runtime/graph/graph.h"

/* The most parts that an acc of the graph is divided into; 0: none is divided. */
uint32_t dfr_passes_most(const struct df_graph *graph);
/* The pass in which the node fires: 0 for all but parts; DF_NONE: in each pass, as views do. kept: by value, as below. */
uint32_t dfr_passes_of(const struct df_graph *graph, uint32_t node, uint32_t n_passes, const bool *kept);
/* Sets kept[value] for what parts read in each wave: no ranges, but the wholes that they lie in. Gives the bytes that all of them
 * take in a wave, each in whole lines. */
uint64_t dfr_passes_kept(const struct df_graph *graph, bool *kept);
/* The number of passes: as asked for, but no more than there are parts. If asked is 0: the least with which the parts of one pass fit in
 * each device's memory, with some tokens of what they read; 1 if no number helps, or if there is a single wave. */
uint32_t dfr_passes_choose(const struct df_graph *graph, const struct df_platform *platform, int64_t waves, uint32_t asked);

#endif
