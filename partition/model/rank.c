/* rank.c - upward rank: how long the way from a node to the end still is, the priority of list schedules (HEFT,
 * Topcuoglu et al. 2002), here under a placement that is already known.
 */
#include <math.h>

#include "partition/model/model.h"

/* Rounding to float is monotone, so a node never ranks below its successors; equal ranks are broken by the node's
 * number, and numbers follow dependency. */
void dfp_upward_rank(const struct dfp_problem *problem, const uint16_t *place, float *rank)
{
    const struct df_graph *g = problem->graph;
    struct dfp_model model;
    if (dfp_model_init(&model, problem, NULL)) {
        for (uint32_t v = 0; v < g->n_nodes; v++)
            rank[v] = 0;
        return;
    }
    for (uint32_t v = g->n_nodes; v-- > 0;) {
        double longest = 0;
        uint32_t first = g->nodes[v].first_out, n_out = df_node_n_out(g, v);
        for (uint32_t o = first; o < first + n_out; o++) {
            const struct df_value *value = &g->values[o];
            uint32_t to = place[v];     /* readers of one output mostly share a unit: ask for its copy once in a row */
            double copy_s = 0;
            for (uint32_t r = value->first_reader; r < value->first_reader + value->n_readers; r++) {
                uint32_t reader = g->readers[r].node;
                if (place[reader] != to) {
                    to = place[reader];
                    copy_s = dfp_copy_time_s(problem->platform, place[v], to, value->bytes);
                }
                double way = copy_s + (double)rank[reader];
                if (way > longest)
                    longest = way;
            }
        }
        double time_s = dfp_model_time_s(&model, v, place[v]);
        rank[v] = (float)((isnan(time_s) ? 0 : time_s) + longest);
    }
}
