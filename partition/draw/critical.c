/* critical.c - finds for picture.c the critical path of dependencies, and the chain of jobs that determines the length
 * of a planned wave.
 *
 * Chain:    from the last job back. Each job began when the one before it in the chain ended, or when that one's output
 *           had arrived, or when it set a worker free. If no arc joins two jobs of the chain, the later one waited for
 *           the worker of the other.
 */
#include <math.h>
#include <stdlib.h>

#include "partition/draw/picture.h"
#include "partition/gp/gp.h"
#include "partition/planner/plan_report.h"
#include "runtime/base/error.h"

int dfp_critical_chain(const struct dfp_problem *problem, const uint16_t *place, const float *priority,
                       uint32_t *chain, uint32_t *n_chain, struct df_error *error)
{
    struct dfp_compact compact;
    struct dfp_state state;
    uint32_t n = 0;
    int code = dfp_compact_make(problem, &compact, error);
    if (code)
        return code;
    code = dfp_state_make(&compact, &state, error);
    if (!code && compact.n_nodes) {
        dfp_state_place(&state, place);
        for (uint32_t v = 0; v < compact.n_nodes; v++)
            state.key[v] = dfp_key(priority[v], v);
        dfp_state_run(&state, INFINITY);
        for (uint32_t v = state.last_node; v != DF_NONE && n < compact.n_nodes; v = state.blame[v])
            chain[n++] = v;
    }
    if (!code)
        dfp_state_free(&state);
    dfp_compact_free(&compact);
    *n_chain = n;
    return code;
}

/* When the node ends if it never waits for a worker. *before: the node whose output it waits for; DF_NONE: none. */
static double earliest_end(const struct dfp_model *model, const uint16_t *place, uint32_t v, const double *end_s,
                           uint32_t *before)
{
    const struct df_graph *g = model->problem->graph;
    double time_s = dfp_model_time_s(model, v, place[v]), begin_s = 0;
    uint32_t first = g->nodes[v].first_in, n_in = df_node_n_in(g, v);
    *before = DF_NONE;
    for (uint32_t i = first; i < first + n_in; i++) {
        const struct df_value *value = &g->values[g->in_value[i]];
        double there_s = end_s[value->producer] + dfp_copy_time_s(model->problem->platform, place[value->producer],
                                                                  place[v], value->bytes);
        if (*before == DF_NONE || there_s > begin_s) {
            begin_s = there_s;
            *before = value->producer;
        }
    }
    return begin_s + (isnan(time_s) ? 0 : time_s);
}

int dfp_dependency_chain(const struct dfp_model *model, const uint16_t *place, uint32_t *chain, uint32_t *n_chain,
                         double *length_s, struct df_error *error)
{
    uint32_t n_nodes = model->problem->graph->n_nodes, last = DF_NONE;
    double *end_s = malloc(((size_t)n_nodes + 1) * sizeof *end_s);
    uint32_t *before = malloc(((size_t)n_nodes + 1) * sizeof *before);
    *n_chain = 0;
    *length_s = 0;
    for (uint32_t v = 0; v < n_nodes && end_s && before; v++) { /* a node's number is above those it reads from */
        end_s[v] = earliest_end(model, place, v, end_s, &before[v]);
        if (last == DF_NONE || end_s[v] >= *length_s) {
            *length_s = end_s[v];
            last = v;
        }
    }
    bool good = end_s && before;
    for (uint32_t v = last; v != DF_NONE; v = before[v])
        chain[(*n_chain)++] = v;
    free(end_s);
    free(before);
    return good ? DF_OK : dfr_error_memory(error);
}
