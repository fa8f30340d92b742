/* given.c - builds the planner's view of a graph whose sources are provided by the caller (given.h), for run_machine.c
 * when it makes a plan. */
#include "runtime/start/given.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/engine/buffers.h"

static uint32_t count_spared(const struct df_run *run)
{
    uint32_t n = 0;
    for (uint32_t v = 0; run->memory.buffers && v < run->graph->n_nodes; v++)
        n += dfr_buffers_spare(run, v);
    return n;
}

static bool allocate(const struct df_graph *g, uint32_t n_works, uint32_t n_classes, struct dfr_given *given)
{
    size_t n = (size_t)n_classes * n_works;

    given->works = malloc((n_works + (size_t)1) * sizeof *given->works);
    given->nodes = malloc((g->n_nodes + (size_t)1) * sizeof *given->nodes);
    given->own_times = (struct df_times){ .n_classes = n_classes, .n_works = n_works };
    given->own_times.time_s = malloc((n + 1) * sizeof *given->own_times.time_s);
    given->own_times.source = calloc(n + 1, 1);
    return given->works && given->nodes && given->own_times.time_s && given->own_times.source;
}

/* The graph's works have their times; those behind them take no time on the host, and run nowhere else. */
static void fill_times(const struct df_times *from, struct df_times *to)
{
    for (uint32_t c = 0; c < to->n_classes; c++) {
        double *time_s = to->time_s + (size_t)c * to->n_works;
        uint8_t *source = to->source + (size_t)c * to->n_works;

        memcpy(time_s, from->time_s + (size_t)c * from->n_works, from->n_works * sizeof *time_s);
        memcpy(source, from->source + (size_t)c * from->n_works, from->n_works);
        for (uint32_t w = from->n_works; w < to->n_works; w++) {
            time_s[w] = c == DF_CLASS_CPU ? 0 : NAN;
            source[w] = c == DF_CLASS_CPU ? DF_TIME_COST : DF_TIME_NONE;
        }
    }
}

static void give_own_work(struct dfr_given *given, uint32_t node, uint32_t work)
{
    struct df_node *n = &given->nodes[node];

    given->works[n->work].n_nodes--;
    given->works[work] = given->works[n->work];
    given->works[work].n_nodes = given->works[work].threads = 1;
    n->work = work;
    n->flags |= DF_NODE_ZERO_COST;
    n->hint_class = -1;
}

/* Planners count on many waves if there is a stream (dfp_is_for_rate()). */
static bool mark_stream(struct dfr_given *given, const struct df_graph *g)
{
    given->kernels = malloc((g->n_kernels + (size_t)1) * sizeof *given->kernels);
    if (!given->kernels)
        return false;
    memcpy(given->kernels, g->kernels, g->n_kernels * sizeof *given->kernels);
    if (g->n_nodes > 0)
        given->kernels[g->nodes[0].kernel].traits |= DF_STREAM;
    given->own_graph.kernels = given->kernels;
    return true;
}

int dfr_given_make(const struct df_run *run, const struct df_times *times, struct dfr_given *given,
                   struct df_error *error)
{
    const struct df_graph *g = run->graph;
    uint32_t n_spared = count_spared(run), work = g->n_works;

    *given = (struct dfr_given){ .graph = g, .times = times };
    if (n_spared == 0 && !run->options.feed)
        return DF_OK;
    if (!allocate(g, g->n_works + n_spared, times->n_classes, given))
        return dfr_error_memory(error);
    memcpy(given->works, g->works, g->n_works * sizeof *given->works);
    memcpy(given->nodes, g->nodes, g->n_nodes * sizeof *given->nodes);
    fill_times(times, &given->own_times);
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (dfr_buffers_spare(run, v))
            give_own_work(given, v, work++);
    given->own_graph = *g;
    given->own_graph.nodes = given->nodes;
    given->own_graph.works = given->works;
    given->own_graph.n_works = work;
    if (run->options.feed && !mark_stream(given, g))
        return dfr_error_memory(error);
    given->own_graph.cost_s = NULL;     /* it has a column for each of the graph's works; planners read times alone */
    given->graph = &given->own_graph;
    given->times = &given->own_times;
    return DF_OK;
}

void dfr_given_free(struct dfr_given *given)
{
    free(given->works);
    free(given->nodes);
    free(given->kernels);
    dfr_times_free(&given->own_times);
}
