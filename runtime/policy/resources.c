/* resources.c - implements resources.h: a count of what is left of each resource, and the jobs that wait, the first one first. The engine and the simulator ask
 * before a ready job goes to the policy. */
#include "runtime/policy/resources.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/policy/policy.h"

struct dfr_resources {
    const struct df_graph *graph;
    pthread_mutex_t lock;
    uint32_t left[DF_MAX_RESOURCES];
    uint32_t n_waiting;
    uint64_t waiting[];
};

int dfr_resources_create(const struct df_graph *graph, uint32_t n_slots, struct dfr_resources **resources, struct df_error *error)
{
    struct dfr_resources *r;
    size_t n_nodes = 0;

    *resources = NULL;
    for (uint32_t v = 0; v < graph->n_nodes; v++)
        n_nodes += df_node_uses(graph, v) != 0;
    if (n_nodes == 0)
        return DF_OK;
    r = calloc(1, sizeof *r + n_nodes * n_slots * sizeof *r->waiting);
    if (!r)
        return dfr_error_memory(error);
    r->graph = graph;
    pthread_mutex_init(&r->lock, NULL);
    for (uint32_t i = 0; i < graph->n_resources; i++)
        r->left[i] = graph->resources[i].n;
    *resources = r;
    return DF_OK;
}

void dfr_resources_destroy(struct dfr_resources *r)
{
    if (r)
        pthread_mutex_destroy(&r->lock);
    free(r);
}

static uint64_t uses(const struct dfr_resources *r, uint64_t job) { return df_node_uses(r->graph, dfr_job_node(job)); }

/* Takes them if all are left. */
static bool take(struct dfr_resources *r, uint64_t wanted)
{
    for (uint64_t rest = wanted; rest; rest &= rest - 1)
        if (r->left[__builtin_ctzll(rest)] == 0)
            return false;
    for (uint64_t rest = wanted; rest; rest &= rest - 1)
        r->left[__builtin_ctzll(rest)]--;
    return true;
}

bool dfr_resources_take(struct dfr_resources *r, uint64_t job)
{
    const uint64_t wanted = uses(r, job);
    uint64_t awaited = 0;
    bool taken;

    if (!wanted)
        return true;
    pthread_mutex_lock(&r->lock);
    for (uint32_t i = 0; i < r->n_waiting; i++)
        awaited |= uses(r, r->waiting[i]);
    taken = !(wanted & awaited) && take(r, wanted);
    if (!taken)
        r->waiting[r->n_waiting++] = job;
    pthread_mutex_unlock(&r->lock);
    return taken;
}

void dfr_resources_give(struct dfr_resources *r, uint64_t job)
{
    uint64_t given = uses(r, job);

    if (!given)
        return;
    pthread_mutex_lock(&r->lock);
    for (; given; given &= given - 1)
        r->left[__builtin_ctzll(given)]++;
    pthread_mutex_unlock(&r->lock);
}

uint64_t dfr_resources_next(struct dfr_resources *r)
{
    uint64_t job = DFR_NO_WAITER, awaited = 0;

    pthread_mutex_lock(&r->lock);
    for (uint32_t i = 0; i < r->n_waiting && job == DFR_NO_WAITER; i++) {
        const uint64_t wanted = uses(r, r->waiting[i]);
        if (!(wanted & awaited) && take(r, wanted)) {
            job = r->waiting[i];
            r->n_waiting--;
            memmove(r->waiting + i, r->waiting + i + 1, (r->n_waiting - i) * sizeof *r->waiting);
        }
        awaited |= wanted;
    }
    pthread_mutex_unlock(&r->lock);
    return job;
}
