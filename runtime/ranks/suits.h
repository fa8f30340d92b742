/* suits.h - what a wave takes on the ranks of a group, by type of worker: the times that DBSA sorts waves by (stream/stream.h). feed.c and replica_stages.c weigh
 * waves by it; rank0_stages.c opens it from the classes of all ranks.
 *
 * Types:    A rank has *classes*, those of its CPU workers and devices, as a set of bits: bit c for class c of the program's times. A rank
 *           whose workers are all alike is of one type, its set. A rank that is *divided* has workers of several types: the CPU's, and one for each class of
 *           devices. Workers of all ranks with the same set are of one type.
 * Divided:  A rank is divided if it has a device, and more places for waves than devices, and neither --policy nor --serial says where jobs run. For a group
 *           in which a node sees the waves in order, or a time on the CPU is not known, no rank is. Each place belongs to a worker: two to each device if
 *           there are enough places, then one to each CPU worker, and the rest to the devices.
 * Times:    Those of the group's nodes that fire in the wave, one after the other, each on that class of the type that does it soonest; for a device of a
 *           divided rank each on that device, or on the CPU if the time there is not known. They come from
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
#include "runtime/stream/stream.h"
#include "runtime/subgraph/mapping.h"
#include "runtime/subgraph/pipeline_stages.h"

struct dfr_suits;

#define DFR_DIVIDED (UINT32_C(1) << 31)  /* among a rank's classes: its places are divided among its workers */

struct dfr_own_places {                 /* of this rank */
    uint32_t classes;
    uint32_t unit[DFR_STREAM_WORKERS], cls[DFR_STREAM_WORKERS]; /* by place, if it is divided: whose waves go there; else 0 */
};

/* The machine that a run with these options has here, and whose its places are. */
void dfr_suits_places(const struct df_graph *graph, const struct df_options *options, uint32_t n_places, struct dfr_own_places *own);

/* Of group g of the mapping. classes: by rank; 0: not known. options: their plan has the times; without one they are those of cost clauses. If nothing
 * can be told apart, there is one type, and no time is known. */
int dfr_suits_open(const struct df_graph *graph, const struct dfr_stages *stages, const struct dfr_mapping *mapping, uint32_t g, const uint32_t *classes,
                   const struct df_options *options, struct dfr_suits **suits, struct df_error *error);
void dfr_suits_close(struct dfr_suits *suits); /* NULL is allowed */

uint32_t dfr_suits_types(const struct dfr_suits *suits);              /* 1 to DFR_STREAM_TYPES */
bool dfr_suits_divided(const struct dfr_suits *suits, uint32_t rank); /* of the group */
/* The type of a worker of that class; of the rank as a whole, if it is not divided. */
uint32_t dfr_suits_type_of(const struct dfr_suits *suits, uint32_t rank, uint32_t cls);
/* time_s: DFR_STREAM_TYPES of them, NaN behind the types. values: the tokens that the group gets, or passes on. */
void dfr_suits_times(struct dfr_suits *suits, const struct dfr_value *values, uint32_t n, double *time_s);

#endif
