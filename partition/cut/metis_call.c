/* metis_call.c - calls METIS safely, for gp_thesis.c and gp/gp_metis.c (metis_call.h). The only file that includes METIS's header.
 *
 * Parts:    METIS bisects a graph by weight until there are enough parts. If one vertex weighs as much as several parts, a half may get fewer vertices than
 *           it must have parts, and METIS prints an error to standard output. If each bisection misses its weight by at most one vertex, a final part
 *           misses its weight by at most two, so it is never empty if no vertex weighs more than half a part. Heavier vertices therefore count as half a
 *           part.
 */
#include <metis.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "partition/cut/metis_call.h"
#include "runtime/base/error.h"
#include "runtime/base/process_lock.h"

_Static_assert(sizeof(idx_t) == sizeof(int32_t) && sizeof(real_t) == sizeof(float), "a METIS with 32-bit numbers");

DFR_PROCESS_LOCK(metis_lock);

static int metis_error(int status, struct df_error *error)
{
    if (status == METIS_ERROR_MEMORY)
        return dfr_error_memory(error);
    return dfr_error(error, DF_E_ARGUMENT, "METIS failed%s",
                     status == METIS_ERROR_INPUT ? ": it rejects the graph" : "");
}

/* The most that a vertex may weigh: half a part, where a part is of the sum of the weights after this limit. */
static int32_t most_weight(const struct dfp_metis_graph *graph, uint32_t n_parts)
{
    int32_t most = INT32_MAX;
    for (;;) {
        int64_t sum = 0;
        for (int32_t v = 0; v < graph->n; v++)
            sum += graph->vertex_weight[v] < most ? graph->vertex_weight[v] : most;
        int64_t half = sum / (2 * (int64_t)n_parts);
        half = half > 1 ? half : 1;
        if (half >= most)
            return most;
        most = (int32_t)half;
    }
}

/* NULL: no memory. */
static idx_t *limit_weights(const struct dfp_metis_graph *graph, uint32_t n_parts)
{
    int32_t most = most_weight(graph, n_parts);
    idx_t *weight = malloc(((size_t)graph->n + 1) * sizeof *weight);
    for (int32_t v = 0; v < graph->n && weight; v++)
        weight[v] = graph->vertex_weight[v] < most ? graph->vertex_weight[v] : most;
    return weight;
}

int dfp_metis_call(const struct dfp_metis_graph *graph, const struct dfp_metis_cut *cut, int32_t *part,
                   struct df_error *error)
{
    idx_t options[METIS_NOPTIONS], edges;
    idx_t n = graph->n, n_weights = (idx_t)cut->n_weights, n_parts = (idx_t)cut->n_parts;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_SEED] = (idx_t)(cut->seed & INT32_MAX);
    idx_t *weight = cut->vertex_weight ? (idx_t *)cut->vertex_weight : graph->vertex_weight; /* METIS only reads it */
    real_t *share = (real_t *)cut->share;
    idx_t *limited = NULL;
    if (n_parts > 2 && !cut->vertex_weight) {
        if (!(limited = limit_weights(graph, cut->n_parts)))
            return dfr_error_memory(error);
        weight = limited;
    }

    char own_random[128];
    struct sigaction abort_before, term_before; /* METIS takes both signals, and gives them back without the flags that they had */
    pthread_mutex_lock(&metis_lock);
    sigaction(SIGABRT, NULL, &abort_before);
    sigaction(SIGTERM, NULL, &term_before);
    char *callers_random = initstate(cut->seed, own_random, sizeof own_random);
    int status = (cut->kway ? METIS_PartGraphKway : METIS_PartGraphRecursive)(
        &n, &n_weights, graph->first, graph->adjacent, weight, NULL, graph->edge_weight, &n_parts, share, NULL, options,
        &edges, part);
    if (callers_random)
        setstate(callers_random);
    sigaction(SIGABRT, &abort_before, NULL);
    sigaction(SIGTERM, &term_before, NULL);
    pthread_mutex_unlock(&metis_lock);
    free(limited);
    return status == METIS_OK ? DF_OK : metis_error(status, error);
}
