/* policy_static.c - the static policies: each node's unit is fixed before the run, by a plan (gp, heft, peft), by the unit of its wave's slot (by-worker), or
 * trivially (all-cpu, all-gpu). The table of policies (policy.c) lists them, but for by-worker; gp-thesis and start/size.c ask this file where a node's jobs are placed.
 *
 * The workers of a unit take its ready jobs strictly by priority (order.h) and never idle while one is ready. Since no start times are fixed, these policies
 * tolerate wrong times. gp also has a monitor, the guard (policy_guard.h), which lets jobs run and wait on other units than planned, so each unit's order has
 * room for all jobs that the unit can run.
 */
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/policy/order.h"
#include "runtime/policy/policy_guard.h"

#define MOST_LOOKED_AT 64              /* jobs of another unit that an idle worker looks at before it gives up */

enum { FROM_PLAN, GUARDED_PLAN, ON_CPU, ON_GPU, BY_SLOT };

struct placed {
    const struct dfr_view *view;
    uint32_t n_units;
    struct dfr_order *orders;           /* by unit */
    struct dfr_places places;
    struct dfr_guard *guard;            /* NULL: everything runs as planned */
    bool shared_rank;                   /* each node has one unit, so the orders share `rank` */
    uint32_t *rank;                     /* by node, within its unit; else [unit * n_nodes + node] */
    uint32_t *nodes;                    /* of all units; those of each unit by rank */
};

/* ---- making ---- */

static void static_destroy(void *state)
{
    struct placed *s = state;
    for (uint32_t u = 0; s->orders && u < s->n_units; u++)
        dfr_order_destroy(&s->orders[u]);
    dfr_guard_destroy(s->guard);
    free(s->orders);
    free(s->places.unit);
    free(s->rank);
    free(s->nodes);
    free(s);
}

uint32_t dfr_policy_place(const struct dfr_policy *policy, uint32_t able, uint32_t planned)
{
    uint32_t wanted;

    if (policy->needs_plan || policy->variant == BY_SLOT)
        wanted = planned < 32 ? 1u << planned : 0;
    else
        wanted = policy->variant == ON_CPU ? 1u : ~1u;
    return (uint32_t)__builtin_ctz(able & wanted ? able & wanted : able);
}

static uint8_t place_of(const struct dfr_policy *policy, const struct dfr_view *view, const struct df_plan *plan,
                        uint64_t row, uint32_t node)
{
    uint32_t planned = policy->needs_plan ? plan->place[row * view->graph->n_nodes + node]
                       : policy->variant == BY_SLOT ? view->unit_of_slot[row] : 0;
    return (uint8_t)dfr_policy_place(policy, view->able[node], planned);
}

/* Orders each unit's nodes by priority. Without a plan: by number, the lowest first. */
static bool make_orders(struct placed *s, const struct df_plan *plan)
{
    uint32_t n = s->view->graph->n_nodes, n_unit, first = 0;
    double *priority = calloc((size_t)n + 1, sizeof *priority);
    bool good = priority != NULL;

    for (uint32_t v = 0; good && plan && plan->priority && plan->n_nodes == n && v < n; v++)
        priority[v] = plan->priority[v];
    for (uint32_t u = 0; good && u < s->n_units; u++, first += n_unit) {
        n_unit = 0;
        for (uint32_t v = 0; v < n; v++)
            if ((s->guard ? s->view->able[v] : dfr_places_units(&s->places, v)) >> u & 1)
                s->nodes[first + n_unit++] = v;
        good = dfr_order_sort(s->nodes + first, n_unit, priority) &&
               dfr_order_create(&s->orders[u], s->view, 1u << u, true, s->nodes + first, n_unit,
                                s->rank + (s->shared_rank ? 0 : (size_t)u * n));
    }
    free(priority);
    return good;
}

static int static_create(const struct dfr_policy *policy, const struct dfr_view *view, const struct df_plan *plan,
                         void **state, struct df_error *error)
{
    uint32_t n_nodes = view->graph->n_nodes, n_waves = policy->variant == BY_SLOT ? view->n_slots : policy->needs_plan && plan->n_waves > 1 ? plan->n_waves : 1;
    size_t n = (size_t)n_nodes + 1, n_ranks;
    bool guarded = policy->variant == GUARDED_PLAN && view->guard && view->platform->n_units > 1;
    struct placed *s = calloc(1, sizeof *s);

    if (!s)
        return dfr_error_memory(error);
    s->view = view;
    s->n_units = view->platform->n_units;
    s->orders = calloc(s->n_units, sizeof *s->orders);
    s->shared_rank = !guarded && n_waves == 1;
    n_ranks = s->shared_rank ? n : n * s->n_units;
    s->places = (struct dfr_places){ view, n_waves, malloc(n * n_waves) };
    s->rank = malloc(n_ranks * sizeof *s->rank);
    s->nodes = malloc(n_ranks * sizeof *s->nodes);
    if (!s->orders || !s->places.unit || !s->rank || !s->nodes)
        goto no_memory;
    for (uint64_t row = 0; row < n_waves; row++)
        for (uint32_t v = 0; v < n_nodes; v++)
            s->places.unit[row * n_nodes + v] = place_of(policy, view, plan, row, v);
    if (guarded && !(s->guard = dfr_guard_create(view, &s->places)))
        goto no_memory;
    if (!make_orders(s, policy->needs_plan ? plan : NULL))
        goto no_memory;
    *state = s;
    return DF_OK;

no_memory:
    static_destroy(s);
    return dfr_error_memory(error);
}

/* ---- jobs ---- */

/* The units to wake for a job. If the guard is alarmed, an idle worker may take it from its unit. */
static uint32_t who_may_take(const struct placed *s, uint64_t job, uint32_t unit)
{
    uint32_t units = 1u << unit;
    if (s->guard && dfr_guard_is_alarmed(s->guard))
        units |= dfr_guard_idle_units(s->guard) & s->view->able[dfr_job_node(job)];
    return units;
}

static enum dfr_pushed static_push(void *state, uint64_t job, uint32_t by, bool lone, uint32_t *units)
{
    struct placed *s = state;
    uint32_t unit = s->guard ? dfr_guard_choose(s->guard, job) : dfr_places_of_job(&s->places, job);

    if (s->guard)
        dfr_guard_queued(s->guard, job, unit); /* before anyone else can get hold of it */
    if (s->n_units > 1 && s->view->prefetch(s->view->arg, job, unit))
        return DFR_PREFETCHING;
    /* nothing queued is more urgent than the lone successor */
    if (lone && s->view->unit_of[by] == unit && dfr_order_is_first(&s->orders[unit], job)) {
        if (s->guard)
            dfr_guard_taken(s->guard, job, by);
        return DFR_KEPT;
    }
    *units = who_may_take(s, job, unit);
    dfr_order_add(&s->orders[unit], job);
    return DFR_QUEUED;
}

struct unit_of_orders {
    const struct dfr_view *view;
    uint32_t unit;
};

static bool is_there(void *arg, uint64_t job)
{
    const struct unit_of_orders *u = arg;
    return !u->view->comes(u->view->arg, job, u->unit);
}

/* The most urgent job of a device may wait for a copy that is under way. It does not keep the device from another job
 * whose data is there. Data for the host is awaited before the job is queued. */
static bool pop_own(const struct placed *s, uint32_t unit, uint64_t *job)
{
    struct unit_of_orders u = { s->view, unit };
    if (unit == 0 || !s->view->comes)
        return dfr_order_pop(&s->orders[unit], job);
    return dfr_order_pop_where(&s->orders[unit], is_there, &u, job);
}

/* From now on the job waits for another unit, or for its inputs there. */
static void move(struct placed *s, uint64_t job, uint32_t unit)
{
    dfr_guard_queued(s->guard, job, unit);
    if (s->view->prefetch(s->view->arg, job, unit))
        return;
    dfr_order_add(&s->orders[unit], job);
    s->view->wake(s->view->arg, unit);
}

/* A job that was looked at may be done by now, and be there again for a later wave, whose data is still under way. So
 * it is looked at again once nobody else can have it. */
static bool take_from(struct placed *s, uint32_t from, uint32_t worker, uint64_t job)
{
    if (!dfr_guard_takes(s->guard, job, from, worker) || !dfr_order_remove(&s->orders[from], job))
        return false;
    if (dfr_guard_may_leave(s->guard, job, from))
        return true;
    dfr_order_add(&s->orders[from], job);
    s->view->wake(s->view->arg, from);
    return false;
}

static bool take_over(struct placed *s, uint32_t worker, uint32_t unit, uint64_t *job)
{
    for (uint32_t from = 0; from < s->n_units; from++) {
        uint64_t place = 0;
        if (from == unit)
            continue;
        for (int i = 0; i < MOST_LOOKED_AT && dfr_order_next(&s->orders[from], &place, job); i++)
            if (take_from(s, from, worker, *job))
                return true;
    }
    return false;
}

static bool pop_guarded(struct placed *s, uint32_t worker, uint32_t unit, uint64_t *job)
{
    bool found;
    while ((found = pop_own(s, unit, job))) {
        uint32_t better = dfr_guard_reconsider(s->guard, *job, unit);
        if (better == unit)
            break;
        move(s, *job, better);
    }
    if (!found && !(dfr_guard_is_alarmed(s->guard) && take_over(s, worker, unit, job)))
        return false;
    dfr_guard_taken(s->guard, *job, worker);
    return true;
}

static bool static_pop(void *state, uint32_t worker, uint64_t *job)
{
    struct placed *s = state;
    uint32_t unit = s->view->unit_of[worker];
    return s->guard ? pop_guarded(s, worker, unit, job) : pop_own(s, unit, job);
}

static void static_done(void *state, uint64_t job, uint32_t worker)
{
    struct placed *s = state;
    if (s->guard)
        dfr_guard_done(s->guard, job, worker);
}

static uint32_t static_units(void *state, uint32_t slot, uint32_t node)
{
    const struct placed *s = state;
    return slot < s->view->n_slots ? 1u << dfr_places_of(&s->places, slot, node) : dfr_places_units(&s->places, node);
}

static uint32_t static_rank(void *state, uint32_t unit, uint32_t node)
{
    const struct placed *s = state;
    return s->rank[(s->shared_rank ? 0 : (size_t)unit * s->view->graph->n_nodes) + node];
}

#define STATIC_OPS .create = static_create, .destroy = static_destroy, .push = static_push, .pop = static_pop, \
                   .done = static_done, .units = static_units, .rank = static_rank

const struct dfr_policy dfr_policy_gp = {
    .name = "gp", .summary = "the best placement and priorities found by partitioning, list schedules and refinement",
    .needs_plan = true, .guarded = true, .variant = GUARDED_PLAN, STATIC_OPS,
};

const struct dfr_policy dfr_policy_heft = {
    .name = "heft",
    .summary = "placed before the run: the earliest finish, in order of upward rank",
    .needs_plan = true,
    .variant = FROM_PLAN,
    STATIC_OPS,
};

const struct dfr_policy dfr_policy_peft = {
    .name = "peft", .summary = "placed before the run: the earliest finish, with a look ahead", .needs_plan = true,
    .variant = FROM_PLAN, STATIC_OPS,
};

const struct dfr_policy dfr_policy_all_cpu = {
    .name = "all-cpu", .summary = "every node that the CPU can run runs there", .any_worker = true, .variant = ON_CPU,
    STATIC_OPS,
};

const struct dfr_policy dfr_policy_all_gpu = {
    .name = "all-gpu", .summary = "every node that the first GPU can run runs there", .variant = ON_GPU, STATIC_OPS,
};

const struct dfr_policy dfr_policy_by_worker = {
    .name = "by-worker", .summary = "each wave has a unit, and its nodes run there or, if it cannot run them, on the CPU", .variant = BY_SLOT, STATIC_OPS,
};
