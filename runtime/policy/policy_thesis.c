/* policy_thesis.c - policy "gp-thesis": places come from a plan, and everything else follows Wu's thesis (4.2.2 and 4.2.3). A job that becomes ready goes
 * to the FIFO of its planned unit, and only then is its data requested, not when it was produced. Workers take the oldest job of their unit and wait for
 * its data. The table of policies (policy.c) lists it.
 *
 * Host:     the thesis does not say which of the host's workers a job goes to. Here they share one queue. In a run a
 *           job whose data is on a device is queued when that data has arrived, as under dmda; in simulation its
 *           worker waits for it.
 */
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/policy/unit_fifos.h"

struct thesis {
    struct dfr_unit_fifos fifos;        /* first: unit_fifos.h */
    uint8_t *unit;                      /* by node */
};

static void thesis_destroy(void *state)
{
    struct thesis *t = state;
    dfr_unit_fifos_destroy(&t->fifos);
    free(t->unit);
    free(t);
}

static int thesis_create(const struct dfr_policy *policy, const struct dfr_view *view, const struct df_plan *plan,
                         void **state, struct df_error *error)
{
    uint64_t count[DF_MAX_UNITS] = { 0 };
    struct thesis *t = calloc(1, sizeof *t);

    if (!t)
        return dfr_error_memory(error);
    t->unit = malloc((size_t)view->graph->n_nodes + 1);
    for (uint32_t v = 0; t->unit && v < view->graph->n_nodes; v++) {
        t->unit[v] = (uint8_t)dfr_policy_place(policy, view->able[v], plan->place[v]);
        count[t->unit[v]]++;
    }
    if (!t->unit || !dfr_unit_fifos_create(&t->fifos, view, count)) {
        thesis_destroy(t);
        return dfr_error_memory(error);
    }
    *state = t;
    return DF_OK;
}

static enum dfr_pushed thesis_push(void *state, uint64_t job, uint32_t by, bool lone, uint32_t *units)
{
    struct thesis *t = state;
    return dfr_unit_fifos_push(&t->fifos, job, t->unit[dfr_job_node(job)], by, lone, units);
}

const struct dfr_policy dfr_policy_gp_thesis = {
    .name = "gp-thesis", .summary = "the graph is cut by METIS before the run, first come first served, as in Wu's thesis",
    .needs_plan = true, .create = thesis_create, .destroy = thesis_destroy, .push = thesis_push, .come = dfr_unit_fifos_come,
    .pop = dfr_unit_fifos_pop,
};
