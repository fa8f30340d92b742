/* wave_path.c - the path of a wave through its jobs (wave_path.h). */
#include "runtime/graph/wave_path.h"

/* The producer of an input whose job of this wave ended last; DF_NONE: none ran in it. */
static uint32_t last_before(const struct df_graph *g, const struct dfr_job_span *spans, uint32_t node)
{
    uint32_t last = DF_NONE;
    for (uint32_t k = 0; k < df_node_n_in(g, node); k++) {
        const uint32_t from = g->values[g->in_value[g->nodes[node].first_in + k]].producer;
        if (spans[from].end_s > 0 && (last == DF_NONE || spans[from].end_s > spans[last].end_s))
            last = from;
    }
    return last;
}

/* Gives a node without a job of its own, such as a view, the end of its inputs. Producers have lower numbers than their readers. */
static void pass_on(const struct df_graph *g, struct dfr_job_span *spans)
{
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        const uint32_t before = spans[v].end_s > 0 || g->nodes[v].flags & DF_NODE_ONCE ? DF_NONE : last_before(g, spans, v);
        if (before != DF_NONE)
            spans[v].begin_s = spans[v].end_s = spans[before].end_s;
    }
}

static void add(const struct dfr_job_span *spans, uint32_t node, uint32_t before, struct dfr_wave_path *path)
{
    const double run_s = spans[node].end_s - spans[node].begin_s;
    const double wait_s = spans[node].begin_s - (before == DF_NONE ? path->begin_s : spans[before].end_s);
    path->run_s += run_s;
    if (path->longest == DF_NONE || run_s > path->longest_s) {
        path->longest = node;
        path->longest_s = run_s;
    }
    if (wait_s > 0)
        path->wait_s += wait_s;
    if (wait_s > path->waited_s) {
        path->waited = node;
        path->waited_s = wait_s;
    }
}

bool dfr_wave_path(const struct df_graph *g, struct dfr_job_span *spans, struct dfr_wave_path *path)
{
    uint32_t last = DF_NONE, before;
    *path = (struct dfr_wave_path){ .longest = DF_NONE, .waited = DF_NONE };
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        if (!(spans[v].end_s > 0))
            continue;
        if (last == DF_NONE || spans[v].begin_s < path->begin_s)
            path->begin_s = spans[v].begin_s;
        if (last == DF_NONE || spans[v].end_s > spans[last].end_s)
            last = v;
    }
    if (last == DF_NONE)
        return false;
    path->end_s = spans[last].end_s;
    pass_on(g, spans);
    for (; last != DF_NONE; last = before) {
        before = last_before(g, spans, last);
        add(spans, last, before, path);
    }
    return true;
}
