/* policy_random.c - policy "random": assigns each ready job to a random worker, with probability proportional to the worker's speed, and sends its inputs
 * there at once. As in StarPU, the speed is the unit's overall speed, not its speed for this job: the ratio of summed times over all jobs that both the
 * host and the unit can run. It is the baseline for what is gained by knowing more than the machine's speeds. The table of policies (policy.c) lists it.
 *
 * The workers of a unit share its queue, so a unit is drawn, weighted by all its workers. The k-th draw depends only on the seed and k, so simulations are
 * reproducible. In a real run the drawn numbers are the same, but the order in which jobs are pushed, and so which job gets which number, is not.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/base/random.h"
#include "runtime/policy/unit_fifos.h"

struct chance {
    struct dfr_unit_fifos fifos;        /* first: unit_fifos.h */
    double weight[DF_MAX_UNITS];
    _Atomic uint64_t n_drawn;
};

static void random_destroy(void *state)
{
    struct chance *c = state;
    dfr_unit_fifos_destroy(&c->fifos);
    free(c);
}

static double time_s(const struct dfr_view *view, uint32_t node, uint32_t unit)
{
    return view->time_s[(size_t)unit * view->graph->n_works + view->graph->nodes[node].work];
}

/* Speed relative to a CPU worker; 1 if there is nothing to compare. */
static double speed_of(const struct dfr_view *view, uint32_t unit)
{
    double host_s = 0, here_s = 0;
    for (uint32_t v = 0; v < view->graph->n_nodes; v++)
        if (view->able[v] & 1 && view->able[v] >> unit & 1) {
            host_s += time_s(view, v, 0);
            here_s += time_s(view, v, unit);
        }
    return host_s > 0 && here_s > 0 ? host_s / here_s : 1;
}

static int random_create(const struct dfr_policy *policy, const struct dfr_view *view, const struct df_plan *plan,
                         void **state, struct df_error *error)
{
    uint64_t count[DF_MAX_UNITS] = { 0 };
    struct chance *c = calloc(1, sizeof *c);

    (void)policy;
    (void)plan;
    if (!c)
        return dfr_error_memory(error);
    atomic_init(&c->n_drawn, 0);
    for (uint32_t u = 0; u < view->platform->n_units; u++) {
        for (uint32_t v = 0; v < view->graph->n_nodes; v++)
            count[u] += view->able[v] >> u & 1;
        c->weight[u] = speed_of(view, u) * (view->first_worker[u + 1] - view->first_worker[u]);
    }
    if (!dfr_unit_fifos_create(&c->fifos, view, count)) {
        random_destroy(c);
        return dfr_error_memory(error);
    }
    *state = c;
    return DF_OK;
}

/* A number uniform in [0, 1). */
static double draw(struct chance *c)
{
    uint64_t k = atomic_fetch_add_explicit(&c->n_drawn, 1, memory_order_relaxed);
    return dfr_random_unit(dfr_random_finish(((uint64_t)c->fifos.view->seed << 32 ^ k) * DFR_RANDOM_STEP));
}

static uint32_t draw_unit(struct chance *c, uint32_t able)
{
    double sum = 0, at;
    uint32_t last = 0;

    for (uint32_t u = 0; u < c->fifos.view->platform->n_units; u++)
        if (able >> u & 1)
            sum += c->weight[u];
    at = draw(c) * sum;
    for (uint32_t u = 0; u < c->fifos.view->platform->n_units; u++) {
        if (!(able >> u & 1))
            continue;
        last = u;
        at -= c->weight[u];
        if (at < 0)
            break;
    }
    return last;
}

static enum dfr_pushed random_push(void *state, uint64_t job, uint32_t by, bool lone, uint32_t *units)
{
    struct chance *c = state;
    uint32_t able = c->fifos.view->able[dfr_job_node(job)];
    uint32_t unit = able & (able - 1) ? draw_unit(c, able) : (uint32_t)__builtin_ctz(able);

    return dfr_unit_fifos_push(&c->fifos, job, unit, by, lone, units);
}

const struct dfr_policy dfr_policy_random = {
    .name = "random", .summary = "a worker is drawn for each ready job, fast ones more often",
    .create = random_create, .destroy = random_destroy, .push = random_push, .come = dfr_unit_fifos_come,
    .pop = dfr_unit_fifos_pop,
};
