/* marked_stages.c - the stages that @stage(n) says (marked_stages.h), for pipeline_stages.c; program/args_cluster.c asks whether there are any. */
#include "runtime/subgraph/marked_stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"

bool dfr_stages_marked(const struct df_graph *g)
{
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (g->nodes[v].stage && !(g->nodes[v].flags & DF_NODE_ONCE))
            return true;
    return false;
}

/* The node that makes input i of the node. */
static uint32_t maker(const struct df_graph *g, uint32_t v, uint32_t i)
{
    return g->values[g->in_value[g->nodes[v].first_in + i]].producer;
}

/* ---- who says what ---- */

/* What nobody called is with what it reads, if that is no once. */
static uint32_t mark_of(const struct df_graph *g, const uint32_t *mark, uint32_t v)
{
    if (g->nodes[v].flags & DF_NODE_INSERTED || df_node_is_ranges(g, v))
        for (uint32_t i = 0; i < df_node_n_in(g, v); i++)
            if (!(g->nodes[maker(g, v, i)].flags & DF_NODE_ONCE))
                return mark[maker(g, v, i)];
    return g->nodes[v].stage;
}

/* mark: by node, as df_node.stage. needed, by node, is written: does a stage need what it makes? */
static void find_needed(const struct df_graph *g, const uint32_t *mark, bool *needed)
{
    memset(needed, 0, g->n_nodes);
    for (uint32_t v = g->n_nodes; v-- > 0;)
        for (uint32_t i = 0; (mark[v] || needed[v]) && i < df_node_n_in(g, v); i++)
            needed[maker(g, v, i)] = true;
}

/* ---- stages ---- */

/* Numbers the stages from 0, and names them. stage_of, by node, has marks, and gets numbers. */
static int number_stages(const struct df_graph *g, const bool *needed, struct dfr_stages *stages, struct df_error *error)
{
    uint32_t number[DF_MAX_STAGES + 1] = { 0 };
    char name[16];

    for (uint32_t v = 0; v < g->n_nodes; v++)
        number[stages->stage_of[v]] = 1;
    stages->names = calloc(DF_MAX_STAGES, sizeof *stages->names);
    if (!stages->names)
        return dfr_error_memory(error);
    for (uint32_t mark = 1; mark <= DF_MAX_STAGES; mark++) {
        if (!number[mark])
            continue;
        number[mark] = stages->n;
        snprintf(name, sizeof name, "@%u", (unsigned)mark - 1);
        if (!(stages->names[stages->n++] = strdup(name)))
            return dfr_error_memory(error);
    }
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        uint32_t *of = &stages->stage_of[v];
        *of = g->nodes[v].flags & DF_NODE_ONCE ? DFR_NO_STAGE : *of ? number[*of] : needed[v] ? DFR_STAGE_BEFORE : DFR_STAGE_BEHIND;
    }
    return DF_OK;
}

int dfr_marked_find(const struct df_graph *g, struct dfr_stages *stages, struct df_error *error)
{
    bool *needed = malloc((size_t)g->n_nodes + 1);

    if (!needed)
        return dfr_error_memory(error);
    for (uint32_t v = 0; v < g->n_nodes; v++)
        stages->stage_of[v] = g->nodes[v].flags & DF_NODE_ONCE ? 0 : mark_of(g, stages->stage_of, v);
    find_needed(g, stages->stage_of, needed);
    const int status = number_stages(g, needed, stages, error);
    free(needed);
    return status;
}
