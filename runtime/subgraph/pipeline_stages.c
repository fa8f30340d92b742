/* pipeline_stages.c - finds the stages of a graph (pipeline_stages.h), for ranks/ranks.c and for dfc's maps and simulations of them (compiler/cluster/). */
#include "runtime/subgraph/pipeline_stages.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/subgraph/marked_stages.h"

/* ---- what is called in graph main ---- */

/* A call in main: its place in the source and its loop indices; or the scope of the nested graph. */
struct call {
    uint32_t scope, file, line, col, ordinal;
    const int32_t *indices;
    uint32_t n_indices;
    bool zero;                          /* all its nodes have cost 0 */
    uint32_t waits;                     /* calls that feed it and have no number yet */
    uint32_t number;
    uint32_t first_node;
};

struct calls {
    const struct df_graph *g;
    struct call *all;
    uint32_t *of_node, n;               /* DFR_NO_STAGE: fires once */
};

static uint32_t top_scope(const struct df_graph *g, uint32_t scope)
{
    while (scope && g->scopes[scope].parent != 0)
        scope = g->scopes[scope].parent;
    return scope;
}

static bool same_call(const struct call *a, const struct call *b)
{
    if (a->scope || b->scope)
        return a->scope == b->scope;
    return a->file == b->file && a->line == b->line && a->col == b->col && a->ordinal == b->ordinal && a->n_indices == b->n_indices &&
           memcmp(a->indices, b->indices, a->n_indices * sizeof *a->indices) == 0;
}

static uint32_t find_call(struct calls *c, uint32_t v)
{
    const struct df_graph *g = c->g;
    const struct df_node *node = &g->nodes[v];
    uint32_t n_in = df_node_n_in(g, v), i = 0;
    if (node->flags & DF_NODE_INSERTED || df_node_is_ranges(g, v)) { /* nobody called it: it is with what it reads, if that is no once */
        for (uint32_t k = 0; k < n_in; k++) {
            uint32_t other = c->of_node[g->values[g->in_value[node->first_in + k]].producer];
            if (other != DFR_NO_STAGE)
                return other;
        }
    }
    struct call call = { .scope = top_scope(g, node->scope), .file = node->file, .line = node->line, .col = node->col, .ordinal = node->ordinal,
                         .indices = g->indices + node->first_index, .n_indices = node->n_indices, .zero = true, .first_node = v };
    while (i < c->n && !same_call(&c->all[i], &call))
        i++;
    if (i == c->n)
        c->all[c->n++] = call;
    return i;
}

static void find_calls(struct calls *c)
{
    for (uint32_t v = 0; v < c->g->n_nodes && c->n <= DFR_MOST_STAGES + 2; v++) {
        c->of_node[v] = DFR_NO_STAGE;
        if (c->g->nodes[v].flags & DF_NODE_ONCE)
            continue;
        c->of_node[v] = find_call(c, v);
        c->all[c->of_node[v]].zero &= (c->g->nodes[v].flags & DF_NODE_ZERO_COST) != 0 || df_node_is_ranges(c->g, v);
    }
}

/* ---- their order ---- */

/* Has the call a reader of something of another call that has no number? Adds up those that feed each call. */
static void count_feeders(struct calls *c)
{
    const struct df_graph *g = c->g;
    for (uint32_t i = 0; i < c->n; i++)
        c->all[i].waits = 0;
    for (uint32_t x = 0; x < g->n_values; x++) {
        uint32_t from = c->of_node[g->values[x].producer];
        if (from == DFR_NO_STAGE || c->all[from].number != DFR_NO_STAGE)
            continue;
        for (uint32_t i = 0; i < g->values[x].n_readers; i++) {
            uint32_t to = c->of_node[g->readers[g->values[x].first_reader + i].node];
            if (to != DFR_NO_STAGE && to != from)
                c->all[to].waits++;
        }
    }
}

/* Numbers the calls so that each comes behind those that feed it, and of several that may come next the first in the graph. */
static int number_calls(struct calls *c, uint32_t *wrong, struct df_error *error)
{
    for (uint32_t i = 0; i < c->n; i++)
        c->all[i].number = DFR_NO_STAGE;
    for (uint32_t n = 0; n < c->n; n++) {
        uint32_t next = 0;
        count_feeders(c);
        while (next < c->n && (c->all[next].number != DFR_NO_STAGE || c->all[next].waits))
            next++;
        if (next == c->n) {
            char name[100];
            for (next = 0; c->all[next].number != DFR_NO_STAGE; )
                next++;
            *wrong = c->all[next].first_node;
            df_node_name(c->g, *wrong, name, sizeof name);
            return dfr_error(error, DF_E_REFUSED, "no order of stages: what is called with '%s' in graph main reads what another call "
                             "makes, and that reads what it makes", name);
        }
        c->all[next].number = n;
    }
    return DF_OK;
}

/* Gives what is outside its marks, and the rest numbers from 0. */
static int number_stages(struct calls *c, struct dfr_stages *stages, struct df_error *error)
{
    uint32_t first = 0, end = c->n;
    bool zero[DFR_MOST_STAGES + 2] = { false };
    for (uint32_t i = 0; i < c->n; i++)
        zero[c->all[i].number] = c->all[i].zero;
    while (first < end && zero[first])
        first++;
    while (end > first && zero[end - 1])
        end--;
    stages->n = end - first;
    if (!stages->n)
        return dfr_error(error, DF_E_REFUSED, "no stage: all calls in graph main fire once or cost nothing");
    if (stages->n > DFR_MOST_STAGES)
        return dfr_error(error, DF_E_REFUSED, "graph main has more than %u calls, and a mapping takes at most so many stages",
                         (unsigned)DFR_MOST_STAGES);
    for (uint32_t v = 0; v < c->g->n_nodes; v++) {
        uint32_t number = c->of_node[v] == DFR_NO_STAGE ? DFR_NO_STAGE : c->all[c->of_node[v]].number;
        stages->stage_of[v] = number == DFR_NO_STAGE ? DFR_NO_STAGE : number < first ? DFR_STAGE_BEFORE :
                              number >= end ? DFR_STAGE_BEHIND : number - first;
    }
    return DF_OK;
}

/* ---- names ---- */

/* Of the first node with that stage, the part of its name that stands in main: "blur#2" of main/blur#2.part[0], "segment" of
 * main/segment/label. */
static char *stage_name(const struct df_graph *g, const struct dfr_stages *stages, uint32_t stage)
{
    char name[300];
    uint32_t v = 0;
    while (stages->stage_of[v] != stage)
        v++;
    df_node_name(g, v, name, sizeof name);
    char *begin = strchr(name, '/');
    begin = begin ? begin + 1 : name;
    begin[g->nodes[v].scope ? strcspn(begin, "/") : strcspn(begin, ".")] = '\0';
    return strdup(begin);
}

static int name_stages(const struct df_graph *g, struct dfr_stages *stages, struct df_error *error)
{
    stages->names = calloc(stages->n, sizeof *stages->names);
    if (!stages->names)
        return dfr_error_memory(error);
    for (uint32_t n = 0; n < stages->n; n++)
        if (!(stages->names[n] = stage_name(g, stages, n)))
            return dfr_error_memory(error);
    return DF_OK;
}

/* The stages of a graph without marks. */
static int find_stages(const struct df_graph *g, struct dfr_stages *stages, uint32_t *wrong, struct df_error *error)
{
    struct calls c = { .g = g, .all = calloc(g->n_nodes + (size_t)1, sizeof *c.all), .of_node = calloc(g->n_nodes + (size_t)1, sizeof *c.of_node) };
    int code = c.all && c.of_node ? DF_OK : dfr_error_memory(error);
    if (code == DF_OK)
        find_calls(&c);
    if (code == DF_OK && c.n > DFR_MOST_STAGES + 2)
        code = dfr_error(error, DF_E_REFUSED, "graph main has more than %u calls, and a mapping takes at most so many stages",
                         (unsigned)DFR_MOST_STAGES);
    if (code == DF_OK)
        code = number_calls(&c, wrong, error);
    if (code == DF_OK)
        code = number_stages(&c, stages, error);
    if (code == DF_OK)
        code = name_stages(g, stages, error);
    free(c.all);
    free(c.of_node);
    return code;
}

int dfr_stages_find(const struct df_graph *g, struct dfr_stages *stages, struct df_error *error)
{
    uint32_t wrong = DF_NONE;
    *stages = (struct dfr_stages){ .stage_of = calloc(g->n_nodes + (size_t)1, sizeof *stages->stage_of) };
    int code = !stages->stage_of ? dfr_error_memory(error)
               : dfr_stages_marked(g) ? dfr_marked_find(g, stages, error) : find_stages(g, stages, &wrong, error);
    if (code != DF_OK)
        dfr_stages_free(stages);
    stages->wrong = wrong;
    return code;
}

void dfr_stages_free(struct dfr_stages *stages)
{
    for (uint32_t n = 0; n < stages->n && stages->names; n++)
        free(stages->names[n]);
    free(stages->names);
    free(stages->stage_of);
    *stages = (struct dfr_stages){ 0 };
}
