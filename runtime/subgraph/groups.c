/* groups.c - what each group has of a graph, and what goes from group to group (groups.h), for a run with pipeline stages in runtime/ranks/. */
#include "runtime/subgraph/groups.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"

enum { MOST_GROUPS = 250 };             /* a place is a byte */

/* ---- places ---- */

static int check_sinks(const struct df_graph *g, struct df_error *error)
{
    char name[160];

    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (g->nodes[v].flags & DF_NODE_WORKER && df_node_n_out(g, v) == 0) {
            df_node_name(g, v, name, sizeof name);
            return dfr_error(error, DF_E_REFUSED, "--mapping: sink '%s' is '@worker', and with stages on ranks rank 0 alone writes: leave '@worker' out, or run without "
                             "--mapping", name);
        }
    return DF_OK;
}

int dfr_groups_on_first(const struct df_graph *g, const struct dfr_stages *stages, bool *on_first, struct df_error *error)
{
    uint8_t *place = malloc((size_t)g->n_nodes + 1);
    int status = check_sinks(g, error);

    if (!place)
        status = dfr_error_memory(error);
    if (status != DF_OK) {
        free(place);
        return status;
    }
    dfr_cut_places(g, place);
    status = dfr_cut_settle(g, place, DFR_TAIL, error);
    for (uint32_t s = 0; s < stages->n; s++)
        on_first[s] = true;
    for (uint32_t v = 0; v < g->n_nodes && status == DF_OK; v++)
        if (place[v] == DFR_BODY && stages->stage_of[v] < stages->n)
            on_first[stages->stage_of[v]] = false;
    free(place);
    return status;
}

/* The place of a node that would be in BODY. Of a stage that rank 0 has: with what it reads, at first. A source with @worker that is no stage is with the first group. */
static uint8_t place_in_chain(const struct df_graph *g, const struct dfr_stages *stages, const struct dfr_mapping *m, uint32_t v)
{
    const uint32_t stage = stages->stage_of[v];

    if (stage >= stages->n && g->nodes[v].flags & DF_NODE_WORKER)
        return 1;
    if (stage == DFR_STAGE_BEHIND)
        return (uint8_t)(m->n_groups + 1);
    if (stage >= stages->n || m->group_of_stage[stage] == DFR_NO_GROUP)
        return DFR_HEAD;
    return (uint8_t)(m->group_of_stage[stage] + 1);
}

static int find_places(const struct df_graph *g, const struct dfr_stages *stages, const struct dfr_mapping *m, uint8_t *place, struct df_error *error)
{
    dfr_cut_places(g, place);
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        if (place[v] == DFR_BODY)
            place[v] = place_in_chain(g, stages, m, v);
        else if (place[v] == DFR_TAIL)
            place[v] = (uint8_t)(m->n_groups + 1);
    }
    return dfr_cut_settle(g, place, (uint8_t)(m->n_groups + 1), error);
}

/* ---- what the chain carries ---- */

static int find_last(struct dfr_groups *groups, struct df_error *error)
{
    const struct df_graph *g = groups->graph;
    const uint8_t tail = (uint8_t)(groups->n + 1);
    bool *reads = malloc((size_t)g->n_values + 1);
    int status = reads ? DF_OK : dfr_error_memory(error);

    for (uint8_t at = 1; at <= tail && status == DF_OK; at++) {
        status = dfr_cut_reads(g, groups->place, at, reads, error);
        for (uint32_t x = 0; x < g->n_values && status == DF_OK; x++) {
            const bool stays = at == tail && groups->place[g->values[x].producer] == DFR_HEAD;
            if (reads[x] && !stays && !df_value_is_once(g, x))
                groups->last[x] = at;
        }
    }
    free(reads);
    return status;
}

int dfr_groups_make(const struct df_graph *g, const struct dfr_stages *stages, const struct dfr_mapping *m, struct dfr_groups *groups, struct df_error *error)
{
    int status = DF_OK;

    *groups = (struct dfr_groups){ .graph = g, .n = m->n_groups, .place = malloc((size_t)g->n_nodes + 1), .last = calloc((size_t)g->n_values + 1, 1) };
    if (!groups->place || !groups->last)
        status = dfr_error_memory(error);
    else if (m->n_groups > MOST_GROUPS)
        status = dfr_error(error, DF_E_REFUSED, "--cluster: there are %u groups of stages, and at most %d can be on ranks", m->n_groups, MOST_GROUPS);
    if (status == DF_OK)
        status = find_places(g, stages, m, groups->place, error);
    if (status == DF_OK)
        status = find_last(groups, error);
    if (status != DF_OK)
        dfr_groups_free(groups);
    return status;
}

void dfr_groups_free(struct dfr_groups *groups)
{
    free(groups->place);
    free(groups->last);
    *groups = (struct dfr_groups){ 0 };
}

/* ---- views ---- */

static uint8_t view_of(const struct dfr_groups *groups, uint32_t g, uint8_t place)
{
    if (g == DFR_NO_GROUP)
        return place == 0 ? DFR_HEAD : place == groups->n + 1 ? DFR_TAIL : DFR_BODY;
    return place < g + 1 ? DFR_HEAD : place == g + 1 ? DFR_BODY : DFR_TAIL;
}

int dfr_groups_view(const struct dfr_groups *groups, uint32_t g, struct dfr_parts *parts, struct df_error *error)
{
    const uint32_t n = groups->graph->n_nodes;
    uint8_t *place = malloc((size_t)n + 1);

    if (!place)
        return dfr_error_memory(error);
    for (uint32_t v = 0; v < n; v++)
        place[v] = view_of(groups, g, groups->place[v]);
    return dfr_parts_make_at(groups->graph, place, parts, error);
}
