/* metis_call.c - see metis_call.h. The only file that knows METIS's header. */
#include <metis.h>
#include <pthread.h>
#include <stdlib.h>

#include "partition/metis_call.h"
#include "runtime/error.h"

_Static_assert(sizeof(idx_t) == sizeof(int32_t) && sizeof(real_t) == sizeof(float), "a METIS with 32-bit numbers");

static pthread_mutex_t metis_lock = PTHREAD_MUTEX_INITIALIZER;

static int metis_error(int status, struct df_error *error)
{
    if (status == METIS_ERROR_MEMORY)
        return dfr_error_memory(error);
    return dfr_error(error, DF_E_ARGUMENT, "METIS failed%s",
                     status == METIS_ERROR_INPUT ? ": it rejects the graph" : "");
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

    char own_random[128];
    pthread_mutex_lock(&metis_lock);
    char *callers_random = initstate(cut->seed, own_random, sizeof own_random);
    int status = (cut->kway ? METIS_PartGraphKway : METIS_PartGraphRecursive)(
        &n, &n_weights, graph->first, graph->adjacent, weight, NULL, graph->edge_weight, &n_parts, share, NULL, options,
        &edges, part);
    if (callers_random)
        setstate(callers_random);
    pthread_mutex_unlock(&metis_lock);
    return status == METIS_OK ? DF_OK : metis_error(status, error);
}
