/* gp_starts.c - decides for gp.c which initial placements ("starts") the policy gp makes, and in what order: cheap and strong ones first, the others only if
 * the budget allows. Each is evaluated with upward ranks as priorities, and the best ones also with other orders. */
#include <stdlib.h>
#include <string.h>

#include "partition/gp/gp.h"
#include "runtime/base/error.h"
#include "runtime/threads/clock.h"

/* If many chains are equally urgent, upward rank works at all of them at once, and what joins them comes late. These
 * two orders finish one chain after the other: the order of the graph itself, and that of a depth-first walk back from
 * each sink in turn. */
static bool fill_orders(struct dfp_search *search)
{
    const struct dfp_compact *c = &search->compact;
    uint32_t n = c->n_nodes, n_stack = 0, done = 0;
    uint32_t *stack = malloc(((size_t)n + 1) * sizeof *stack), *next = malloc(((size_t)n + 1) * sizeof *next);
    for (int i = 0; i < 2; i++)
        search->order[i] = malloc(((size_t)n + 1) * sizeof *search->order[i]);
    bool good = stack && next && search->order[0] && search->order[1];
    double step_s = search->bound_s / n; /* so that priorities are as large as ranks, and biases weigh the same */
    for (uint32_t v = 0; v < n && good; v++) {
        search->order[0][v] = (float)((n - v) * step_s);
        search->order[1][v] = 0;
        next[v] = c->first_in[v];
    }
    for (uint32_t end = 0; end < n && good; end++) {
        if (c->first_reader[c->first_out[end]] != c->first_reader[c->first_out[end + 1]])
            continue;
        stack[n_stack++] = end;
        while (n_stack) {               /* a node comes after all nodes that it reads from */
            uint32_t v = stack[n_stack - 1];
            if (next[v] < c->first_in[v + 1]) {
                uint32_t from = c->producer[c->in[next[v]++]];
                if (next[from] == c->first_in[from] && search->order[1][from] == 0)
                    stack[n_stack++] = from;
            } else {
                if (search->order[1][v] == 0)
                    search->order[1][v] = (float)((n - done++) * step_s);
                n_stack--;
            }
        }
    }
    free(stack);
    free(next);
    return good;
}

/* Everything on one unit, for each unit. */
static int single_units(struct dfp_search *search, struct df_error *error)
{
    int code = DF_OK;
    for (uint32_t u = 0; u < search->compact.n_units && !code; u++) {
        code = dfp_place_all(&search->compact.model, u, search->place, error);
        if (!code)
            dfp_search_try(search, false);
    }
    return code;
}

/* Over all pairs of workers, but only copies between the host and a device count: those between devices are left
 * out. */
static double mean_copy_s(const struct dfp_compact *c, uint32_t value)
{
    double copy_s = 0;
    uint32_t workers = c->workers[0];
    for (uint32_t u = 1; u < c->n_units; u++) {
        workers += c->workers[u];
        copy_s += (c->to_s[(size_t)value * c->n_units + u] + c->from_s[(size_t)value * c->n_units + u]) *
                  c->workers[u] * c->workers[0];
    }
    return copy_s / ((double)workers * workers);
}

static bool fill_average_rank(struct dfp_search *search)
{
    const struct dfp_compact *c = &search->compact;
    search->average_rank_s = malloc(((size_t)c->n_nodes + 1) * sizeof *search->average_rank_s);
    if (search->average_rank_s)
        dfp_compact_mean_rank(c, mean_copy_s, search->average_rank_s);
    return search->average_rank_s;
}

enum again { SPLIT_BY_METIS, OTHER_ORDERS };

/* Tries the placements of the pool again, each changed in this way. */
static int again(struct dfp_search *search, enum again how, struct df_error *error)
{
    uint16_t *places = malloc((DFP_POOL * (size_t)search->compact.n_nodes + 1) * sizeof *places);
    uint32_t n = search->pool.n, n_nodes = search->compact.n_nodes;
    int code = places ? DF_OK : dfr_error_memory(error);
    for (uint32_t i = 0; i < n && !code; i++) /* the pool changes while they are tried */
        memcpy(places + (size_t)i * n_nodes, search->pool.found[i].place, n_nodes * sizeof *places);
    for (uint32_t i = 0; i < n && !code; i++) {
        memcpy(search->place, places + (size_t)i * n_nodes, n_nodes * sizeof *places);
        if (how == SPLIT_BY_METIS) {
            code = dfp_metis_split(search, error);
            if (!code)
                dfp_search_try(search, true);
        } else {
            dfp_search_try_order(search, false, search->order[0]);
            dfp_search_try_order(search, false, search->order[1]);
        }
    }
    free(places);
    return code;
}

/* Anneals the load of the best placement so far, at several prices of copies and temperatures. A hot annealing forgets
 * where it began, a cool one repairs it. */
static int least_load(struct dfp_search *search, uint64_t evaluations, struct df_error *error)
{
    static const struct {
        double spare, temperature;
    } ways[] = { { 0.2, 1 }, { 0.2, 0.3 }, { 1, 0.3 }, { 1, 1 }, { 0.2, 0.1 }, { 1, 0.1 } };
    uint32_t n_nodes = search->compact.n_nodes, n_ways = evaluations >= 200 ? sizeof ways / sizeof *ways : 2;
    uint64_t per_node = evaluations / 8 < 50 ? evaluations / 8 : 50;
    uint16_t *from = malloc(((size_t)n_nodes + 1) * sizeof *from);
    if (!from)
        return dfr_error_memory(error);
    memcpy(from, search->pool.found[0].place, n_nodes * sizeof *from);
    for (uint32_t i = 0; i < n_ways; i++) {
        memcpy(search->place, from, n_nodes * sizeof *from);
        dfp_load_run(search, ways[i].spare, per_node * n_nodes, ways[i].temperature, search->options->seed + i);
        dfp_search_try(search, false);
    }
    free(from);
    return DF_OK;
}

static bool in_time(const struct dfp_search *search)
{
    return !(search->deadline_s < INFINITY) || dfr_clock_s() < search->deadline_s;
}

int dfp_starts_run(struct dfp_search *search, struct df_error *error)
{
    uint64_t n = search->compact.n_nodes, evaluations = search->budget_steps / (n ? n : 1);
    bool plenty = evaluations >= 60;
    int code = fill_average_rank(search) && fill_orders(search) ? single_units(search, error) : dfr_error_memory(error);
    if (!code)
        code = dfp_lin_run(search, plenty ? 4 : 1, plenty ? 9 : 6, error);
    if (!code && in_time(search))
        code = dfp_list_run(search, plenty, error);
    if (!code && in_time(search))
        code = dfp_metis_run(search, evaluations >= 200 ? 12 : plenty ? 4 : 0, evaluations >= 200 ? 4 : 1, error);
    if (!code && in_time(search))
        code = dfp_replay_run(search, evaluations >= 200 ? DFP_REPLAY_ALL : plenty ? DFP_REPLAY_MOST : DFP_REPLAY_FEW,
                              error);
    if (!code && plenty && search->compact.n_units > 1 && in_time(search))
        code = least_load(search, evaluations, error);
    if (!code && search->compact.n_units > 2 && plenty)
        code = again(search, SPLIT_BY_METIS, error);
    if (!code && plenty)
        code = again(search, OTHER_ORDERS, error);
    if (!code && plenty)
        code = dfp_metis_clusters(search, error);
    return code;
}
