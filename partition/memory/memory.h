/* memory.h - the memory plan: which tokens are in one memory, where each lies there during a wave, and how much less no
 * plan can do with.
 *
 * Words:    a *tenant* is the piece of a memory that a token takes; an inout chain (df_value.taken_from) is one tenant
 *           from its first value to its last. Its *writer* is the node that makes the first value, its *ends* are the
 *           nodes that read the last one (the node that makes it, where nobody does).
 * Any:      a plan for any order: a tenant follows another only where every end of that one is a proper ancestor of its
 *           writer. So it holds whatever the policy, the number of workers and the times.
 * Sequence: a plan for one worker that runs the nodes of a wave one after the other in order of their numbers.
 * Waves:    a plan is for one wave; each wave in flight has a copy of it. What is made once has memory of its own for
 *           the whole run.
 * Bounds:   *live* bytes at some moment of some order are tenants of which no two may lie on each other: so no plan for
 *           that order, and none for any order, has fewer bytes (memory_bound.c).
 * Errors:   DF_E_MEMORY; DF_E_REFUSED where the bytes of a wave have no number.
 */
#ifndef DFP_MEMORY_H
#define DFP_MEMORY_H

#include "partition/partition.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/plan.h"

struct dfp_tenant {
    uint32_t first, last;               /* values */
    uint64_t bytes;                     /* rounded to the alignment */
    uint64_t any, sequence;             /* offsets; of what is made once the same, in memory of its own */
};

struct dfp_memory {
    uint64_t alignment;
    uint32_t n_wave, n;                 /* tenants of a wave, then those made once */
    uint32_t *of_value;                 /* tenant; DF_NONE: not in this memory */
    struct dfp_tenant *tenants;
    uint64_t any_bytes, any_bound_bytes, sequence_bytes, sequence_bound_bytes, once_bytes;
};

/* The values that are in the memory of `unit` when nodes run at place[]: those made or read there. place NULL: all. */
int dfp_memory_make(const struct df_graph *graph, const uint16_t *place, uint32_t unit, uint64_t alignment,
                    struct dfp_memory *memory, struct df_error *error);
/* With the alignment of the unit: on the host lines, and every value, for each may come there; on a device pages. */
int dfp_memory_of_unit(const struct df_graph *graph, const uint16_t *place, uint32_t unit, struct dfp_memory *memory,
                       struct df_error *error);
void dfp_memory_free(struct dfp_memory *memory);

/* plan.c: what is in the unit's memory in waves of that row of the plan. Where the plan says that an online policy runs
 * it, a node may run on any unit that can: then what may come there, which takes as much whatever that decides. */
int dfp_plan_memory(const struct dfp_problem *problem, const struct df_plan *plan, uint32_t unit, uint32_t row,
                    struct dfp_memory *memory, struct df_error *error);

static inline uint32_t dfp_tenant_writer(const struct df_graph *g, const struct dfp_tenant *t)
{
    return g->values[t->first].producer;
}

/* The end with the highest number. */
static inline uint32_t dfp_tenant_last_end(const struct df_graph *g, const struct dfp_tenant *t)
{
    const struct df_value *v = &g->values[t->last];
    uint32_t end = v->producer;
    for (uint32_t r = v->first_reader; r < v->first_reader + v->n_readers; r++)
        end = g->readers[r].node > end ? g->readers[r].node : end;
    return end;
}

/* What a heap with a stack of buffers for each size would touch in the sequence; UINT64_MAX: it has no number. */
int dfp_memory_by_size(const struct df_graph *graph, const struct dfp_memory *memory, uint64_t *bytes,
                       struct df_error *error);

/* The steps of dfp_memory_make(), which fill what their names say. */
int dfp_memory_any(const struct df_graph *graph, struct dfp_memory *memory, struct df_error *error);
int dfp_memory_sequence(const struct df_graph *graph, struct dfp_memory *memory, struct df_error *error);
int dfp_memory_bound(const struct df_graph *graph, struct dfp_memory *memory, struct df_error *error);

#endif
