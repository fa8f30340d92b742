/* rank.c - computes the remaining path length of each node, the priority of list schedulers, for heft.c, gp and partition/planner/make_plan.c: for a given
 * placement, with mean times (HEFT, Topcuoglu et al. 2002), and optimistically (PEFT, Arabnejad and Barbosa 2014). */
#include <math.h>

#include "partition/model/compact.h"

/* Rounding to float is monotone, so a node never ranks below its successors. Who orders by rank breaks ties by the
 * node's number, and a node has a higher number than those it reads from. */
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
            uint32_t to = place[v];     /* readers of one value mostly share a unit: its copy is asked for once */
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

/* HEFT's mean over processors: each worker is one. */
static double mean_time_s(const struct dfp_compact *c, uint32_t node)
{
    double sum_s = 0, n = 0;
    for (uint32_t u = 0; u < c->n_units; u++)
        if (c->allowed[node] >> u & 1) {
            sum_s += c->workers[u] * dfp_compact_time_s(c, node, u);
            n += c->workers[u];
        }
    return n > 0 ? sum_s / n : 0;
}

void dfp_compact_mean_rank(const struct dfp_compact *c, double (*mean_copy_s)(const struct dfp_compact *, uint32_t),
                           double *rank_s)
{
    for (uint32_t v = c->n_nodes; v-- > 0;) {
        double longest_s = 0;
        for (uint32_t value = c->first_out[v]; value < c->first_out[v + 1]; value++) {
            double copy_s = mean_copy_s(c, value);
            for (uint32_t r = c->first_reader[value]; r < c->first_reader[value + 1]; r++)
                longest_s = fmax(longest_s, copy_s + rank_s[c->reader[r]]);
        }
        rank_s[v] = mean_time_s(c, v) + longest_s;
    }
}

/* The entry of node v on unit u. The entries of all its readers are there already. */
static double optimistic_s(const struct dfp_compact *c, const double *oct_s, uint32_t v, uint32_t u)
{
    double most_s = 0;
    for (uint32_t value = c->first_out[v]; value < c->first_out[v + 1]; value++)
        for (uint32_t r = c->first_reader[value]; r < c->first_reader[value + 1]; r++) {
            uint32_t reader = c->reader[r];
            double least_s = INFINITY;
            for (uint32_t w = 0; w < c->n_units; w++)
                if (c->allowed[reader] >> w & 1)
                    least_s = fmin(least_s, oct_s[(size_t)reader * c->n_units + w] + dfp_compact_time_s(c, reader, w) +
                                            dfp_compact_copy_s(c, value, u, w));
            most_s = fmax(most_s, least_s);
        }
    return most_s;
}

void dfp_compact_optimistic(const struct dfp_compact *c, double *oct_s)
{
    for (uint32_t v = c->n_nodes; v-- > 0;)
        for (uint32_t u = 0; u < c->n_units; u++)
            oct_s[(size_t)v * c->n_units + u] = optimistic_s(c, oct_s, v, u);
}
