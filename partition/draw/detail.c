/* detail.c - draws every node and every arc of a graph that is small enough, for picture.c. Nested graphs are clusters, and the critical path is drawn bold.
 * Nodes have their names in bold, and more below if the graph is small. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/draw/picture.h"


/* ---- clusters ---- */

/* Writes a scope's own part of the path, as "segment[3]#2". */
static void scope_name(const struct df_graph *g, const struct df_scope *scope, char *buffer, size_t size)
{
    size_t n = (size_t)snprintf(buffer, size, "%s", df_graph_string(g, scope->name));
    for (uint32_t i = 0; i < scope->n_indices && n < size; i++)
        n += (size_t)snprintf(buffer + n, size - n, "%s%d", i ? "," : "[", (int)g->indices[scope->first_index + i]);
    if (scope->n_indices && n < size)
        n += (size_t)snprintf(buffer + n, size - n, "]");
    if (scope->ordinal && n < size)
        snprintf(buffer + n, size - n, "#%u", (unsigned)scope->ordinal);
}

/* Makes a subgraph for every scope with a node in it or in a scope within. Parents have lower numbers than their
 * children.
 */
static Agraph_t **make_clusters(const struct dfp_picture *picture)
{
    const struct df_graph *g = picture->model.problem->graph;
    Agraph_t **cluster = calloc((size_t)g->n_scopes + 1, sizeof *cluster);
    bool *used = calloc((size_t)g->n_scopes + 1, sizeof *used);
    if (!cluster || !used) {
        free(cluster);
        free(used);
        return NULL;
    }
    for (uint32_t v = 0; v < g->n_nodes; v++)
        used[g->nodes[v].scope] = true;
    for (uint32_t s = g->n_scopes; s-- > 1;)
        if (used[s])
            used[g->scopes[s].parent] = true;
    cluster[0] = picture->g;
    for (uint32_t s = 1; s < g->n_scopes; s++) {
        if (!used[s])
            continue;
        char name[200], label[200], id[32];
        scope_name(g, &g->scopes[s], name, sizeof name);
        snprintf(id, sizeof id, "cluster_%u", (unsigned)s);
        cluster[s] = agsubg(cluster[g->scopes[s].parent], id, 1);
        dfp_set(cluster[s], "label", dfp_label_name(label, sizeof label, name));
        dfp_set(cluster[s], "style", "rounded");
        dfp_set(cluster[s], "labeljust", "l");  /* arcs enter and leave in the middle */
        dfp_set(cluster[s], "color", "#909090");
    }
    free(used);
    return cluster;
}

/* ---- nodes ---- */

/* Writes a line as "k=1024 n=3", or nothing if the kernel has no dimensions. */
static void put_dims(const struct df_graph *g, uint32_t node, FILE *out)
{
    const struct df_work *work = &g->works[g->nodes[node].work];
    const struct df_kernel *kernel = &g->kernels[work->kernel];
    for (uint32_t d = 0; d < kernel->n_dims && d < DF_MAX_RANK; d++) {
        fputs(d ? " " : "<BR/>", out);
        dfp_label_text(out, df_graph_string(g, g->dim_names[kernel->first_dim + d]));
        fprintf(out, "=%llu", (unsigned long long)g->dims[work->first_dim + d]);
    }
}

/* Writes "cpu 1.2 ms, gpu 80 us": a time for each class that the platform has, whatever a hint says. The hint follows. */
static void put_times(const struct dfp_model *model, uint32_t node, FILE *out)
{
    const struct df_graph *g = model->problem->graph;
    const struct df_times *times = model->problem->times;
    const struct df_platform *platform = model->problem->platform;
    uint32_t seen = 0;
    for (uint32_t u = 0; u < model->n_units; u++) {
        char text[32];
        uint32_t cls = model->cls[u];
        if (cls >= times->n_classes || seen & 1u << cls)
            continue;
        double time_s = times->time_s[(size_t)cls * times->n_works + g->nodes[node].work] + platform->units[u].launch_s;
        if (isnan(time_s))
            continue;
        fputs(seen ? ", " : "", out);
        dfp_label_text(out, df_graph_string(g, g->class_names[cls]));
        fprintf(out, " %s", dfp_text_time(text, time_s));
        seen |= 1u << cls;
    }
    int hint = g->nodes[node].hint_class;
    if (hint >= 0) {
        fputs(" @", out);
        dfp_label_text(out, df_graph_string(g, g->class_names[hint]));
    }
    fputs(g->nodes[node].flags & DF_NODE_WORKER ? " @worker" : "", out);
    if (g->nodes[node].live && df_node_live(g, node)->newest)
        fprintf(out, " @newest(%u)", (unsigned)df_node_live(g, node)->newest);
    if (g->nodes[node].live && df_node_live(g, node)->every_s > 0)
        fprintf(out, " @every(%gs)", df_node_live(g, node)->every_s);
    if (g->nodes[node].stage)
        fprintf(out, " @stage(%u)", (unsigned)g->nodes[node].stage - 1);
}

/* Writes a node's label: its name in bold. In a small graph its dimensions and times follow, in a larger one the time
 * where it is placed; a node that costs nothing has none. */
static void put_label(const struct dfp_picture *picture, uint32_t v, const char *name, FILE *out)
{
    const struct dfp_model *model = &picture->model;
    const struct df_graph *g = model->problem->graph;
    bool free_node = dfp_node_is_free(g, v), small = g->n_nodes <= DFP_DRAW_LABELLED_NODES;
    char time[32];
    fputs("<B>", out);
    dfp_label_text(out, name);
    fputs("</B>", out);
    if (small)
        put_dims(g, v, out);
    if (!free_node && small) {
        fputs("<BR/>", out);
        put_times(model, v, out);
    } else if (!free_node && picture->plan) {
        fprintf(out, "<BR/>%s", dfp_text_time(time, dfp_model_time_s(model, v, picture->plan->place[v])));
    }
}

static bool set_label(const struct dfp_picture *picture, Agnode_t *node, uint32_t v, const char *name)
{
    struct dfp_label label;
    if (!dfp_label_begin(&label))
        return false;
    put_label(picture, v, name, label.out);
    return dfp_label_end(&label, picture->g, node);
}

static Agnode_t *draw_node(const struct dfp_picture *picture, Agraph_t *cluster, uint32_t v)
{
    const struct df_graph *g = picture->model.problem->graph;
    char path[300], tooltip[400];
    df_node_name(g, v, path, sizeof path);
    const char *last = strrchr(path, '/'); /* the clusters around the node say the rest of the path */
    Agnode_t *node = dfp_picture_node(cluster, path);
    if (!node || !set_label(picture, node, v, last ? last + 1 : path))
        return NULL;
    if (dfp_node_is_free(g, v))
        dfp_set(node, "shape", "ellipse");
    dfp_label_name(tooltip, sizeof tooltip - 80, path);
    if (picture->plan) {
        uint32_t unit = picture->plan->place[v];
        size_t n = strlen(tooltip);
        snprintf(tooltip + n, sizeof tooltip - n, " on %s", picture->model.problem->platform->units[unit].name);
        dfp_set(node, "fillcolor", dfp_unit_colour(unit));
    }
    dfp_set(node, "tooltip", tooltip);
    return node;
}

/* ---- arcs ---- */

static bool draw_arc(const struct dfp_picture *picture, const struct df_value *value, uint32_t reader,
                     Agnode_t *const *nodes)
{
    const struct df_platform *platform = picture->model.problem->platform;
    const uint16_t *place = picture->plan ? picture->plan->place : NULL;
    Agedge_t *edge = agedge(picture->g, nodes[value->producer], nodes[reader], NULL, 1);
    if (!edge)
        return false;
    bool cut = place && place[value->producer] != place[reader];
    char label[100], tooltip[100], bytes[32], time[32] = "";
    dfp_text_bytes(bytes, value->bytes);
    if (platform->n_units > 1) {
        uint32_t from = cut ? place[value->producer] : 0, to = cut ? place[reader] : 1;
        dfp_text_time(time, dfp_copy_time_s(platform, from, to, value->bytes));
    }
    snprintf(label, sizeof label, DFP_BESIDE "%s\\r%s%s%s", bytes, *time ? DFP_BESIDE : "", time, *time ? "\\r" : "");
    snprintf(tooltip, sizeof tooltip, "%s%s%s", bytes, *time ? ", " : "", time);
    if (picture->model.problem->graph->n_nodes <= DFP_DRAW_LABELLED_NODES)
        dfp_set(edge, "label", label);
    dfp_set(edge, "edgetooltip", tooltip);
    if (cut) {
        dfp_set(edge, "color", DFP_CUT_COLOUR);
        dfp_set(edge, "fontcolor", DFP_CUT_COLOUR);
        dfp_set(edge, "style", "dashed");
        dfp_set(edge, "penwidth", "2.5");
    }
    return true;
}

/* ---- the critical path ---- */

static void make_heavy(void *object, const char *width)
{
    dfp_set(object, "color", DFP_CHAIN_COLOUR);
    dfp_set(object, "penwidth", width);
}

/* Makes the arcs between the two heavy. If there is none, the later job waited for the other's worker. Then a dotted
 * line is added, which does not change the layout. */
static bool draw_link(const struct dfp_picture *picture, Agnode_t *earlier, Agnode_t *later)
{
    bool found = false;
    for (Agedge_t *edge = agfstout(picture->g, earlier); edge; edge = agnxtout(picture->g, edge))
        if (aghead(edge) == later) {    /* one node may give another several values */
            make_heavy(edge, "4");
            found = true;
        }
    if (found)
        return true;
    Agedge_t *edge = agedge(picture->g, earlier, later, (char *)"waits", 1);
    if (!edge)
        return false;
    make_heavy(edge, "3");
    dfp_set(edge, "style", "dotted");
    dfp_set(edge, "constraint", "false");
    dfp_set(edge, "edgetooltip", "waits for its worker");
    return true;
}

static bool draw_chain(const struct dfp_picture *picture, Agnode_t *const *nodes)
{
    for (uint32_t i = 0; i < picture->n_chain; i++) {
        make_heavy(nodes[picture->chain[i]], "3.5");
        if (i && !draw_link(picture, nodes[picture->chain[i]], nodes[picture->chain[i - 1]]))
            return false;
    }
    return true;
}

bool dfp_picture_detail(struct dfp_picture *picture)
{
    const struct df_graph *g = picture->model.problem->graph;
    Agraph_t **cluster = make_clusters(picture);
    Agnode_t **nodes = calloc((size_t)g->n_nodes + 1, sizeof *nodes);
    bool good = cluster && nodes;
    for (uint32_t v = 0; v < g->n_nodes && good; v++)
        good = (nodes[v] = draw_node(picture, cluster[g->nodes[v].scope], v)) != NULL;
    for (uint32_t v = 0; v < g->n_values && good; v++)
        for (uint32_t r = 0; r < g->values[v].n_readers && good; r++)
            if (dfp_reader_is_first(g, &g->values[v], r))
                good = draw_arc(picture, &g->values[v], g->readers[g->values[v].first_reader + r].node, nodes);
    good = good && draw_chain(picture, nodes);
    if (g->n_nodes > DFP_DRAW_LABELLED_NODES)
        snprintf(picture->note, sizeof picture->note, "Arcs tell their weight when pointed at.");
    free(cluster);
    free(nodes);
    return good;
}
