/* memory.h - the memory plan: which tokens occupy a memory, the offset of each during a wave, and a lower bound on the bytes of any plan. Complete plans
 * (partition/planner/make_plan.c) and dfc's memory reports use it.
 *
 * This room knows the graph, the pool and the layout of memmgr/, and partition/model.
 *
 * Words:    a *tenant* is the piece of a memory that a token takes. An inout chain (df_value.taken_from) is one tenant,
 *           from its first value to its last. A tenant's *writer* is the node that makes the first value. Its *ends*
 *           are the nodes that read the last value; if there are none, its end is the node that makes that value. A
 *           tenant *follows* another if it takes bytes that the other one had.
 * Ranges:   on the host a whole and its ranges are one tenant, which is *shared*: its ends are those of all its values. A
 *           whole that is made of pieces has several writers, in any order. So such a tenant follows no other, in the
 *           plan for any order. On a device each range is a tenant.
 * Any:      a plan for any order. A tenant follows another only if every end of the other one is a proper ancestor of
 *           its writer. So the plan holds for every policy, every number of workers and all times.
 * Sequence: a plan for one worker that runs the nodes of a wave one after the other, in order of their numbers.
 * Waves:    a plan is for one wave, and each wave in flight has its own copy. What is made once has memory of its own
 *           for the whole run.
 * Bounds:   the tenants that are *live* at one moment of some order must not overlap. So no plan for that order has
 *           fewer bytes than they take, nor has any plan for any order (memory_bound.c).
 * Errors:   DF_E_MEMORY; DF_E_REFUSED if the bytes of a wave do not fit in 64 bits.
 */
#ifndef DFP_MEMORY_H
#define DFP_MEMORY_H

#include "partition/partition.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/plan.h"

struct dfp_tenant {
    uint32_t first, last;               /* values */
    uint32_t end;                       /* its end with the highest number */
    bool shared, joined;                /* it has ranges; it is made of pieces */
    uint64_t bytes;                     /* rounded to the alignment */
    uint64_t any, sequence;             /* offsets in both plans; equal if made once, in memory of its own */
};

struct dfp_memory {
    uint64_t alignment;
    uint32_t n_wave, n;                 /* tenants[0] … [n_wave - 1] are of a wave, those up to [n - 1] are made once */
    uint32_t *of_value;                 /* of a value: its tenant; DF_NONE: it is not in this memory */
    uint32_t *next;                     /* of a value of a shared tenant: the next one of the tenant; DF_NONE */
    struct dfp_tenant *tenants;
    uint64_t any_bytes, any_bound_bytes, sequence_bytes, sequence_bound_bytes, once_bytes;
};

/* Plans for the values that are in the memory of `unit` when nodes run at place[]: those that are made or read there.
 * place NULL: all values. */
int dfp_memory_make(const struct df_graph *graph, const uint16_t *place, uint32_t unit, uint64_t alignment,
                    struct dfp_memory *memory, struct df_error *error);
/* The same with the alignment of the unit. On the host that is a line, and all values count, since any may come there.
 * On a device it is a page. */
int dfp_memory_of_unit(const struct df_graph *graph, const uint16_t *place, uint32_t unit, struct dfp_memory *memory,
                       struct df_error *error);
void dfp_memory_free(struct dfp_memory *memory);

/* partition/planner/make_plan.c: the memory plan of the unit for waves of that row of the plan. If the plan says that
 * an online policy runs it, a node may run on any unit that can run it. Then all values that may come to the unit
 * count, so the memory is enough for whatever that policy decides. In the memory of a unified device there are no
 * values. */
int dfp_plan_memory(const struct dfp_problem *problem, const struct df_plan *plan, uint32_t unit, uint32_t row,
                    struct dfp_memory *memory, struct df_error *error);

static inline uint32_t dfp_tenant_writer(const struct df_graph *g, const struct dfp_tenant *t)
{
    return g->values[t->first].producer;
}

static inline uint32_t dfp_tenant_last_end(const struct df_graph *g, const struct dfp_tenant *t)
{
    (void)g;
    return t->end;
}

/* The last of the jobs that make or read the value. */
static inline uint32_t dfp_value_end(const struct df_graph *g, uint32_t value)
{
    const struct df_value *v = &g->values[value];
    uint32_t end = v->producer;
    for (uint32_t r = v->first_reader; r < v->first_reader + v->n_readers; r++)
        end = g->readers[r].node > end ? g->readers[r].node : end;
    return end;
}

/* For comparison: how many bytes a heap with a stack of buffers for each size would touch in the sequence. UINT64_MAX:
 * they do not fit in 64 bits. */
int dfp_memory_by_size(const struct df_graph *graph, const struct dfp_memory *memory, uint64_t *bytes,
                       struct df_error *error);

/* The steps of dfp_memory_make(): the plan for any order, the plan for the sequence, and the bound. */
int dfp_memory_any(const struct df_graph *graph, struct dfp_memory *memory, struct df_error *error);
int dfp_memory_sequence(const struct df_graph *graph, struct dfp_memory *memory, struct df_error *error);
int dfp_memory_bound(const struct df_graph *graph, struct dfp_memory *memory, struct df_error *error);

#endif
