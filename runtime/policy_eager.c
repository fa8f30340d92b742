/* policy_eager.c - "eager": one central queue, first come first served: whoever is free takes the next job that it can
 * run. Knows no times and no data; the baseline.
 */
#include <stdlib.h>

#include "runtime/error.h"
#include "runtime/policy.h"

struct eager {
    const struct dfr_view *view;
    struct dfr_ready ready;
};

static void eager_destroy(void *state)
{
    struct eager *e = state;
    dfr_ready_destroy(&e->ready);
    free(e);
}

static int eager_create(const struct dfr_policy *policy, const struct dfr_view *view, const struct df_plan *plan,
                        void **state, struct df_error *error)
{
    struct eager *e = calloc(1, sizeof *e);
    int status;

    (void)policy;
    (void)plan;
    if (!e)
        return dfr_error_memory(error);
    e->view = view;
    status = dfr_ready_create(&e->ready, view, error);
    if (status != DF_OK) {
        free(e);
        return status;
    }
    *state = e;
    return DF_OK;
}

/* A lone job stays with the worker that released it where only that worker's unit can run it anyway: going through the
 * queue would cost more than it decides. */
static enum dfr_pushed eager_push(void *state, uint64_t job, uint32_t by, bool lone, uint32_t *units)
{
    struct eager *e = state;
    uint32_t able = e->view->able[dfr_job_node(job)];

    if (lone && able == 1u << e->view->unit_of[by])
        return DFR_KEPT;
    dfr_ready_push(&e->ready, job);
    *units = able;
    return DFR_QUEUED;
}

static bool eager_pop(void *state, uint32_t worker, uint64_t *job)
{
    struct eager *e = state;
    return dfr_ready_pop(&e->ready, e->view->unit_of[worker], job);
}

const struct dfr_policy dfr_policy_eager = {
    .name = "eager", .summary = "a free worker takes the oldest ready job that it can run", .pull = true,
    .create = eager_create, .destroy = eager_destroy, .push = eager_push, .pop = eager_pop,
};
