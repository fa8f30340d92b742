/* policy.c - the table of policies, and the queues that several of them share. A new policy is one file and one line here. */
#include "runtime/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/suggest.h"

static const struct dfr_policy *const policies[] = {
    &dfr_policy_eager, &dfr_policy_ws, &dfr_policy_dmda, &dfr_policy_gp_thesis, &dfr_policy_all_cpu, &dfr_policy_all_gpu,
};

enum { N_POLICIES = sizeof policies / sizeof policies[0] };

const char *const *dfr_policy_names(void)
{
    static const char *const names[N_POLICIES + 1] = { "eager", "ws", "dmda", "gp-thesis", "all-cpu", "all-gpu", NULL };
    return names;
}

const struct dfr_policy *dfr_policy_find(const char *name, struct df_error *error)
{
    struct dfr_suggestion close = { .name = name ? name : DFR_POLICY_DEFAULT };

    name = close.name;
    for (unsigned p = 0; p < N_POLICIES; p++) {
        if (strcmp(policies[p]->name, name) == 0)
            return policies[p];
        dfr_suggest(&close, policies[p]->name);
    }
    if (close.closest)
        dfr_error(error, DF_E_ARGUMENT, "unknown policy '%.64s'; did you mean '%s'?", name, close.closest);
    else
        dfr_error(error, DF_E_ARGUMENT, "unknown policy '%.64s'; there are eager, ws, dmda, gp-thesis, all-cpu and all-gpu",
                  name);
    return NULL;
}

/* ---- one queue for each set of units ---- */

static int bits(uint32_t mask)
{
    return __builtin_popcount(mask);
}

/* The distinct sets, fewest units first. */
static bool collect_sets(struct dfr_ready *r, const struct dfr_view *view)
{
    for (uint32_t v = 0; v < view->graph->n_nodes; v++) {
        uint32_t i = 0, mask = view->able[v];
        while (i < r->n_sets && r->sets[i] != mask)
            i++;
        if (i < r->n_sets)
            continue;
        if (r->n_sets == DFR_MAX_SETS)
            return false;
        for (i = r->n_sets++; i > 0 && bits(r->sets[i - 1]) > bits(mask); i--)
            r->sets[i] = r->sets[i - 1];
        r->sets[i] = mask;
    }
    return true;
}

int dfr_ready_create(struct dfr_ready *r, const struct dfr_view *view, struct df_error *error)
{
    uint32_t n_nodes = view->graph->n_nodes;
    uint64_t count[DFR_MAX_SETS] = { 0 };

    memset(r, 0, sizeof *r);
    if (!collect_sets(r, view))
        return dfr_error(error, DF_E_REFUSED, "nodes differ in where they can run in more than %d ways", DFR_MAX_SETS);
    r->set_of = malloc(n_nodes ? n_nodes : 1);
    if (!r->set_of)
        return dfr_error_memory(error);
    for (uint32_t v = 0; v < n_nodes; v++) {
        uint32_t i = 0;
        while (r->sets[i] != view->able[v])
            i++;
        r->set_of[v] = (uint8_t)i;
        count[i]++;
    }
    for (uint32_t i = 0; i < r->n_sets; i++) {
        r->queues[i] = dfr_queue_create((uint32_t)(count[i] * view->n_slots));
        if (!r->queues[i]) {
            dfr_ready_destroy(r);
            return dfr_error_memory(error);
        }
    }
    return DF_OK;
}

void dfr_ready_destroy(struct dfr_ready *r)
{
    for (uint32_t i = 0; i < r->n_sets; i++)
        if (r->queues[i])
            dfr_queue_destroy(r->queues[i]);
    free(r->set_of);
    memset(r, 0, sizeof *r);
}

void dfr_ready_push(struct dfr_ready *r, uint64_t job)
{
    dfr_queue_push(r->queues[r->set_of[dfr_job_node(job)]], job); /* sized for every job of the set: never full */
}

bool dfr_ready_pop(struct dfr_ready *r, uint32_t unit, uint64_t *job)
{
    for (uint32_t i = 0; i < r->n_sets; i++)
        if (r->sets[i] >> unit & 1 && dfr_queue_pop(r->queues[i], job))
            return true;
    return false;
}
