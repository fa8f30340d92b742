/* policy_static.c - places decided before the run: from a plan (gp-thesis), or trivially (all-cpu, all-gpu). Workers of a
 * unit take its ready jobs in order of priority and never idle while there is one: there is no fixed timetable, which is
 * what keeps this robust against wrong times.
 *
 * The ready jobs of a unit lie in up to 64 queues by rank of priority (each node alone in its queue's rank where the graph
 * has up to 64), with a word that says which may be occupied:
 *     push: queue first, then set the bit.  pop: where the highest queue with a bit is empty, clear the bit, look again,
 *     and set it back where something came meanwhile. So a job that is queued has its bit set, or its pusher or a popper is
 *     about to set it, and that one wakes a worker only afterwards.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/error.h"
#include "runtime/policy.h"

#define LEVELS 64

enum { FROM_PLAN, ON_CPU, ON_GPU };

struct static_unit {
    _Alignas(64) _Atomic uint64_t occupied; /* bit l: level l may have jobs; level 63 is the most urgent */
    struct dfr_queue *queues[LEVELS];   /* NULL: no node has this level */
};

struct placed {
    const struct dfr_view *view;
    uint32_t n_units;
    struct static_unit *units;
    uint8_t *place, *level;             /* by node */
};

static void static_destroy(void *state)
{
    struct placed *s = state;
    for (uint32_t u = 0; s->units && u < s->n_units; u++)
        for (uint32_t l = 0; l < LEVELS; l++)
            if (s->units[u].queues[l])
                dfr_queue_destroy(s->units[u].queues[l]);
    free(s->units);
    free(s->place);
    free(s->level);
    free(s);
}

static uint8_t place_of(const struct dfr_policy *policy, const struct dfr_view *view, const struct df_plan *plan,
                        uint32_t node)
{
    uint32_t able = view->able[node], wanted;

    if (policy->variant == FROM_PLAN)
        wanted = plan->place[node] < 32 ? 1u << plan->place[node] : 0;
    else
        wanted = policy->variant == ON_CPU ? 1u : ~1u;
    /* what does not fit there at this run (a smaller --gpu-mem, a hint) goes to the first unit that can */
    return (uint8_t)__builtin_ctz(able & wanted ? able & wanted : able);
}

struct ranked {
    float priority;
    uint32_t node;
};

static int by_priority(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    return (x->node < y->node) - (x->node > y->node); /* of equals the smaller number is more urgent */
}

/* Levels by rank, so that each has about the same number of nodes. */
static int assign_levels(struct placed *s, const struct df_plan *plan)
{
    uint32_t n = s->view->graph->n_nodes;
    struct ranked *ranks = malloc((n ? n : 1) * sizeof *ranks);

    if (!ranks)
        return DF_E_MEMORY;
    for (uint32_t v = 0; v < n; v++)    /* without a plan: by number, earlier nodes first */
        ranks[v] = (struct ranked){ plan && plan->priority && plan->n_nodes == n ? plan->priority[v] : 0.0f, v };
    qsort(ranks, n, sizeof *ranks, by_priority);
    for (uint32_t i = 0; i < n; i++)
        s->level[ranks[i].node] = (uint8_t)(n <= LEVELS ? LEVELS - n + i : (uint64_t)i * LEVELS / n);
    free(ranks);
    return DF_OK;
}

static int make_queues(struct placed *s)
{
    uint32_t (*count)[LEVELS] = calloc(s->n_units, sizeof *count);
    int status = DF_OK;

    if (!count)
        return DF_E_MEMORY;
    for (uint32_t v = 0; v < s->view->graph->n_nodes; v++)
        count[s->place[v]][s->level[v]]++;
    for (uint32_t u = 0; u < s->n_units; u++)
        for (uint32_t l = 0; l < LEVELS; l++) {
            if (count[u][l] == 0)
                continue;
            s->units[u].queues[l] = dfr_queue_create(count[u][l] * s->view->n_slots);
            if (!s->units[u].queues[l])
                status = DF_E_MEMORY;
        }
    free(count);
    return status;
}

static int static_create(const struct dfr_policy *policy, const struct dfr_view *view, const struct df_plan *plan,
                         void **state, struct df_error *error)
{
    uint32_t n = view->graph->n_nodes;
    struct placed *s = calloc(1, sizeof *s);

    if (!s)
        return dfr_error_memory(error);
    s->view = view;
    s->n_units = view->platform->n_units;
    s->units = aligned_alloc(64, s->n_units * sizeof *s->units);
    s->place = malloc(n ? n : 1);
    s->level = malloc(n ? n : 1);
    if (s->units)
        for (uint32_t u = 0; u < s->n_units; u++) {
            atomic_init(&s->units[u].occupied, 0);
            for (uint32_t l = 0; l < LEVELS; l++)
                s->units[u].queues[l] = NULL;
        }
    if (!s->units || !s->place || !s->level)
        goto no_memory;
    for (uint32_t v = 0; v < n; v++)
        s->place[v] = place_of(policy, view, plan, v);
    if (assign_levels(s, policy->variant == FROM_PLAN ? plan : NULL) != DF_OK || make_queues(s) != DF_OK)
        goto no_memory;
    *state = s;
    return DF_OK;

no_memory:
    static_destroy(s);
    return dfr_error_memory(error);
}

static enum dfr_pushed static_push(void *state, uint64_t job, uint32_t by, bool lone, uint32_t *units)
{
    struct placed *s = state;
    uint32_t node = dfr_job_node(job), unit = s->place[node];
    struct static_unit *u = &s->units[unit];

    if (s->n_units > 1 && s->view->stage(s->view->arg, job, unit))
        return DFR_STAGED;
    /* nothing queued is more urgent than the lone successor */
    if (lone && s->view->unit_of[by] == unit &&
        atomic_load_explicit(&u->occupied, memory_order_relaxed) >> s->level[node] == 0)
        return DFR_KEPT;
    dfr_queue_push(u->queues[s->level[node]], job); /* sized for every job of this unit and level: never full */
    atomic_fetch_or_explicit(&u->occupied, UINT64_C(1) << s->level[node], memory_order_seq_cst);
    *units = 1u << unit;
    return DFR_QUEUED;
}

static bool static_pop(void *state, uint32_t worker, uint64_t *job)
{
    struct placed *s = state;
    struct static_unit *u = &s->units[s->view->unit_of[worker]];
    uint64_t occupied;

    while ((occupied = atomic_load_explicit(&u->occupied, memory_order_seq_cst)) != 0) {
        uint32_t level = 63u - (uint32_t)__builtin_clzll(occupied);
        uint64_t bit = UINT64_C(1) << level;
        if (dfr_queue_pop(u->queues[level], job))
            return true;
        atomic_fetch_and_explicit(&u->occupied, ~bit, memory_order_seq_cst);
        if (!dfr_queue_is_empty(u->queues[level]))
            atomic_fetch_or_explicit(&u->occupied, bit, memory_order_seq_cst);
    }
    return false;
}

static uint32_t static_place(void *state, uint32_t node)
{
    return ((const struct placed *)state)->place[node];
}

#define STATIC_OPS .create = static_create, .destroy = static_destroy, .push = static_push, .pop = static_pop, \
                   .place = static_place

const struct dfr_policy dfr_policy_gp_thesis = {
    .name = "gp-thesis", .summary = "the graph is cut by METIS before the run, as in Wu's thesis", .needs_plan = true,
    .variant = FROM_PLAN, STATIC_OPS,
};

const struct dfr_policy dfr_policy_all_cpu = {
    .name = "all-cpu", .summary = "everything that can runs on the CPU", .variant = ON_CPU, STATIC_OPS,
};

const struct dfr_policy dfr_policy_all_gpu = {
    .name = "all-gpu", .summary = "everything that can runs on the first GPU", .variant = ON_GPU, STATIC_OPS,
};
