/* unit_fifos.c - a FIFO of jobs for each unit (unit_fifos.h), for the policies random and gp-thesis. */
#include "runtime/policy/unit_fifos.h"

bool dfr_unit_fifos_create(struct dfr_unit_fifos *f, const struct dfr_view *view, const uint64_t *count)
{
    bool good = true;

    f->view = view;
    for (uint32_t u = 0; good && u < view->platform->n_units; u++)
        good = (f->of[u] = dfr_queue_create((uint32_t)(count[u] * view->n_slots))) != NULL;
    return good;
}

void dfr_unit_fifos_destroy(struct dfr_unit_fifos *f)
{
    for (uint32_t u = 0; u < DF_MAX_UNITS; u++)
        if (f->of[u])
            dfr_queue_destroy(f->of[u]);
}

enum dfr_pushed dfr_unit_fifos_push(struct dfr_unit_fifos *f, uint64_t job, uint32_t unit, uint32_t by, bool lone, uint32_t *units)
{
    if (f->view->platform->n_units > 1 && f->view->prefetch(f->view->arg, job, unit))
        return DFR_PREFETCHING;
    if (lone && f->view->unit_of[by] == unit && dfr_queue_is_empty(f->of[unit]))
        return DFR_KEPT;
    dfr_queue_push(f->of[unit], job);   /* it has room for all jobs of the unit, so it is never full */
    *units = 1u << unit;
    return DFR_QUEUED;
}

void dfr_unit_fifos_come(void *state, uint64_t job)
{
    struct dfr_unit_fifos *f = state;
    dfr_queue_push(f->of[0], job);
}

bool dfr_unit_fifos_pop(void *state, uint32_t worker, uint64_t *job)
{
    struct dfr_unit_fifos *f = state;
    return dfr_queue_pop(f->of[f->view->unit_of[worker]], job);
}
