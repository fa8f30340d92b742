/* policy.c - the table of scheduling policies, by which dfc, programs, the simulator and the start of a run find one by name; and the FIFOs of ready jobs that
 * eager, ddfcfs and ws share. A new policy is one file, its declaration in policy.h and its entry in this table. */
#include "runtime/policy/policy.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

static const struct dfr_policy *const policies[] = {
    &dfr_policy_eager, &dfr_policy_ddfcfs, &dfr_policy_ddwrr, &dfr_policy_random, &dfr_policy_ws, &dfr_policy_dmda,
    &dfr_policy_dmdas, &dfr_policy_dmdar, &dfr_policy_heft, &dfr_policy_peft, &dfr_policy_pats, &dfr_policy_padas,
    &dfr_policy_pams, &dfr_policy_gp_thesis, &dfr_policy_gp, &dfr_policy_all_cpu, &dfr_policy_all_gpu,
};

enum { N_POLICIES = sizeof policies / sizeof policies[0] };

static const char *names[N_POLICIES + 1]; /* the last is NULL */

static void fill_names(void)
{
    for (unsigned p = 0; p < N_POLICIES; p++)
        names[p] = policies[p]->name;
}

const char *const *dfr_policy_names(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_names);
    return names;
}

/* "a, b and c" */
static void list_names(char *text, size_t size)
{
    size_t n = 0;
    for (unsigned p = 0; p < N_POLICIES && n < size; p++)
        n += (size_t)snprintf(text + n, size - n, "%s%s", p == 0 ? "" : p + 1 < N_POLICIES ? ", " : " and ",
                              policies[p]->name);
}

const struct dfr_policy *dfr_policy_find(const char *name, struct df_error *error)
{
    struct dfr_suggestion close = { .name = name ? name : DFR_POLICY_DEFAULT };
    char all[384];

    name = close.name;
    for (unsigned p = 0; p < N_POLICIES; p++) {
        if (strcmp(policies[p]->name, name) == 0)
            return policies[p];
        dfr_suggest(&close, policies[p]->name);
    }
    list_names(all, sizeof all);
    if (close.closest)
        dfr_error(error, DF_E_ARGUMENT, "unknown policy '%.64s'; did you mean '%s'?", name, close.closest);
    else
        dfr_error(error, DF_E_ARGUMENT, "unknown policy '%.64s'; there are %s", name, all);
    return NULL;
}

int dfr_run_as_read(const char *text, struct dfr_run_as *as, struct df_error *error)
{
    char copy[sizeof((struct df_plan *)NULL)->run_as], *rest = NULL;
    *as = (struct dfr_run_as){ 0 };
    snprintf(copy, sizeof copy, "%s", text);
    const char *word = strtok_r(copy, " ", &rest);
    if (!word || strcmp(word, "static") == 0)
        return DF_OK;
    if (!(as->policy = dfr_policy_find(word, error)))
        return DF_E_ARGUMENT;
    while ((word = strtok_r(NULL, " ", &rest))) {
        if (strcmp(word, "--dl") == 0)
            as->locality = true;
        else if (strcmp(word, "--prefetch") == 0)
            as->prefetch = true;
        else
            return dfr_error(error, DF_E_ARGUMENT, "a plan is to run as '%s', but policies have no option '%s'", text,
                             word);
    }
    return DF_OK;
}

bool dfr_plan_is_default(const struct df_graph *graph, const struct df_plan *plan, int64_t waves)
{
    bool many = waves > 1;
    if (!plan || strcmp(plan->policy, DFR_POLICY_KNOWN) != 0 || plan->n_nodes != graph->n_nodes)
        return false;
    for (uint32_t v = 0; v < graph->n_nodes && waves != 1; v++)
        many |= graph->kernels[graph->nodes[v].kernel].traits & DF_STREAM;
    return many == (plan->inflight > 0) && dfr_times_known(graph, &plan->times, &plan->platform);
}

/* ---- one queue for each set of units ---- */

static int bits(uint32_t mask)
{
    return __builtin_popcount(mask);
}

/* Collects the distinct sets, those with the fewest units first. */
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

static uint32_t kind_of(const struct dfr_ready *r, uint32_t node)
{
    return r->by_kernel ? r->graph->nodes[node].kernel : 0;
}

/* count: the number of nodes, by queue. */
static int make_queues(struct dfr_ready *r, const struct dfr_view *view, uint64_t *count)
{
    for (uint32_t v = 0; v < view->graph->n_nodes; v++) {
        uint32_t i = 0;
        while (r->sets[i] != view->able[v])
            i++;
        r->set_of[v] = (uint8_t)i;
        count[(size_t)kind_of(r, v) * r->n_sets + i]++;
    }
    for (size_t q = 0; q < (size_t)r->n_kinds * r->n_sets; q++) {
        if (count[q] == 0)
            continue;
        r->queues[q] = dfr_queue_create((uint32_t)(count[q] * view->n_slots));
        if (!r->queues[q])
            return DF_E_MEMORY;
    }
    return DF_OK;
}

int dfr_ready_create(struct dfr_ready *r, const struct dfr_view *view, bool by_kernel, struct df_error *error)
{
    uint64_t *count;
    size_t n_queues;
    int status = DF_E_MEMORY;

    memset(r, 0, sizeof *r);
    r->graph = view->graph;
    r->by_kernel = by_kernel;
    r->n_kinds = by_kernel ? view->graph->n_kernels : 1;
    if (!collect_sets(r, view))
        return dfr_error(error, DF_E_REFUSED, "nodes can run on more than %d different sets of units", DFR_MAX_SETS);
    n_queues = (size_t)r->n_kinds * r->n_sets + 1;
    count = calloc(n_queues, sizeof *count);
    r->queues = calloc(n_queues, sizeof *r->queues);
    r->set_of = malloc((size_t)view->graph->n_nodes + 1);
    if (count && r->queues && r->set_of)
        status = make_queues(r, view, count);
    free(count);
    if (status == DF_OK)
        return DF_OK;
    dfr_ready_destroy(r);
    return dfr_error_memory(error);
}

void dfr_ready_destroy(struct dfr_ready *r)
{
    for (size_t q = 0; r->queues && q < (size_t)r->n_kinds * r->n_sets; q++)
        if (r->queues[q])
            dfr_queue_destroy(r->queues[q]);
    free(r->queues);
    free(r->set_of);
    memset(r, 0, sizeof *r);
}

void dfr_ready_push(struct dfr_ready *r, uint64_t job)
{
    uint32_t node = dfr_job_node(job);
    dfr_queue_push(r->queues[(size_t)kind_of(r, node) * r->n_sets + r->set_of[node]], job); /* never full */
}

bool dfr_ready_pop(struct dfr_ready *r, uint32_t kind, uint32_t unit, uint64_t *job)
{
    struct dfr_queue **queues = r->queues + (size_t)kind * r->n_sets;
    for (uint32_t i = 0; i < r->n_sets; i++)
        if (r->sets[i] >> unit & 1 && queues[i] && dfr_queue_pop(queues[i], job))
            return true;
    return false;
}
