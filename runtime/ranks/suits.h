/* suits.h - what a wave takes on the ranks of a group, by type of rank: the times that DBSA sorts waves by (stream.h). feed.c and replica_stages.c weigh waves
 * by it; rank0_stages.c opens it from the classes of all ranks.
 *
 * Types:    A rank has *classes*, those of its CPU workers and devices, as a set of bits: bit c for class c of the program's times. Ranks with the same set are of
 *           one type.
 * Times:    Those of the group's nodes that fire in the wave, one after the other, each on that class of the type that does it soonest. They come from
 *           profiles and cost clauses, as a run's do; all ranks have the same ones, because they run the same program. If the time of a node is not known, neither
 *           is that of the wave.
 * Fires:    Waves differ by which tokens come empty: a node that reads one is left out (runtime/skips/). What a kernel of the group itself will skip is
 *           not known before. Nor do extents count: they change the times on all types alike.
 * Memory:   dfr_suits_close() returns it. The graph is borrowed.
 * Threads:  one at a time.
 */
#ifndef DFR_SUITS_H
#define DFR_SUITS_H

#include "runtime/link/message.h"
#include "runtime/graph/plan.h"
#include "runtime/subgraph/mapping.h"
#include "runtime/subgraph/pipeline_stages.h"

struct dfr_suits;

/* The classes of the machine that a run with these options has here. */
uint32_t dfr_suits_classes(const struct df_graph *graph, const struct df_options *options);

/* Of group g of the mapping. classes: by rank; 0: not known. options: their plan has the times; without one they are those of cost clauses. If nothing
 * can be told apart, there is one type, and no time is known. */
int dfr_suits_open(const struct df_graph *graph, const struct dfr_stages *stages, const struct dfr_mapping *mapping, uint32_t g, const uint32_t *classes,
                   const struct df_options *options, struct dfr_suits **suits, struct df_error *error);
void dfr_suits_close(struct dfr_suits *suits); /* NULL is allowed */

uint32_t dfr_suits_types(const struct dfr_suits *suits);              /* 1 to DFR_STREAM_TYPES */
uint32_t dfr_suits_type_of(const struct dfr_suits *suits, uint32_t rank); /* of the group */
/* time_s: DFR_STREAM_TYPES of them, NaN behind the types. values: the tokens that the group gets, or passes on. */
void dfr_suits_times(struct dfr_suits *suits, const struct dfr_value *values, uint32_t n, double *time_s);

#endif
