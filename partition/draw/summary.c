/* summary.c - the picture of a graph that is too large to draw: its nodes in groups, with counts and load per unit, and
 * the sums of the arcs between groups.
 *
 * Groups:   one for each instance of a nested graph directly in the main graph, and one for each kernel of the main
 *           graph's own nodes. If these are too many, all instances of a nested graph are one group. If these are too
 *           many as well, the groups are bands of depth in the graph.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/draw/picture.h"

#define MAX_GROUPS 60
#define BANDS 16
#define FLOWS_PER_GROUP 3                /* how many are drawn: with all of them nothing could be told apart */

struct group {
    char name[200];
    uint32_t nodes[DF_MAX_UNITS], n_nodes;
    double load_s[DF_MAX_UNITS];
    Agnode_t *node;
};

struct flow {                           /* all arcs from one group to another, or within one group */
    uint32_t arcs, cut_arcs;
    uint64_t bytes, cut_bytes;
    bool drawn;
};

struct summary {
    struct dfp_picture *picture;
    const struct df_graph *graph;
    uint32_t *group_of;                 /* of a node */
    uint32_t n_groups;
    struct group *groups;               /* MAX_GROUPS */
    struct flow *flows;                 /* MAX_GROUPS * MAX_GROUPS */
};

/* ---- grouping ---- */

/* The scope directly inside the main graph that the node belongs to; 0: the node is in the main graph itself. */
static uint32_t top_scope(const struct df_graph *g, uint32_t scope)
{
    while (scope && g->scopes[scope].parent)
        scope = g->scopes[scope].parent;
    return scope;
}

/* Makes a group of all nodes with the same key; keys are below n_keys. false: there would be too many groups, or
 * (*memory false) there is no memory. */
static bool number_keys(struct summary *s, const uint32_t *key, size_t n_keys, bool *memory)
{
    uint32_t *number = malloc((n_keys + 1) * sizeof *number);
    *memory = number != NULL;
    if (!number)
        return false;
    memset(number, 0xff, (n_keys + 1) * sizeof *number);
    s->n_groups = 0;
    bool fits = true;
    for (uint32_t v = 0; v < s->graph->n_nodes && fits; v++) {
        uint32_t *n = &number[key[v]];
        if (*n == DF_NONE) {
            fits = s->n_groups < MAX_GROUPS;
            *n = s->n_groups++;
        }
        s->group_of[v] = *n;
    }
    free(number);
    return fits;
}

/* Keys 0 … n_kernels - 1 are kernels. The keys after them are scopes, by number or by name. */
static bool group_by_scope(struct summary *s, uint32_t *key, bool by_name, bool *memory)
{
    const struct df_graph *g = s->graph;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        uint32_t scope = top_scope(g, g->nodes[v].scope);
        key[v] = !scope ? g->nodes[v].kernel : g->n_kernels + (by_name ? g->scopes[scope].name : scope);
    }
    size_t n_keys = (size_t)g->n_kernels + (by_name ? g->n_string_bytes : g->n_scopes);
    if (!number_keys(s, key, n_keys, memory))
        return false;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        struct group *group = &s->groups[s->group_of[v]];
        uint32_t scope = top_scope(g, g->nodes[v].scope);
        if (group->name[0])
            continue;
        if (!scope) {
            snprintf(group->name, sizeof group->name, "%s", df_graph_string(g, g->kernels[g->nodes[v].kernel].name));
        } else if (by_name) {
            snprintf(group->name, sizeof group->name, "%s[…]", df_graph_string(g, g->scopes[scope].name));
        } else {                        /* of main/segment[3]/open/… the first part after main */
            char path[200];
            df_node_name(g, v, path, sizeof path);
            const char *begin = strchr(path, '/');
            begin = begin ? begin + 1 : path;
            snprintf(group->name, sizeof group->name, "%.*s", (int)strcspn(begin, "/"), begin);
        }
    }
    return true;
}

/* A node's depth is the longest way from a source. Makes groups that are bands of equal depth. */
static void group_by_depth(struct summary *s, uint32_t *depth)
{
    const struct df_graph *g = s->graph;
    uint32_t deepest = 0;
    memset(depth, 0, g->n_nodes * sizeof *depth);
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        uint32_t first = g->nodes[v].first_in, n_in = df_node_n_in(g, v);
        for (uint32_t i = first; i < first + n_in; i++) {
            uint32_t before = depth[g->values[g->in_value[i]].producer] + 1;
            depth[v] = before > depth[v] ? before : depth[v];
        }
        deepest = depth[v] > deepest ? depth[v] : deepest;
    }
    uint32_t step = deepest / BANDS + 1;
    s->n_groups = deepest / step + 1;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        s->group_of[v] = depth[v] / step;
    for (uint32_t i = 0; i < s->n_groups; i++) {
        uint32_t last = (i + 1) * step - 1;
        snprintf(s->groups[i].name, sizeof s->groups[i].name, step > 1 ? "depth %u to %u" : "depth %u",
                 (unsigned)(i * step), (unsigned)(last < deepest ? last : deepest));
    }
}

/* ---- adding up ---- */

static void add_nodes(struct summary *s)
{
    const struct df_plan *plan = s->picture->plan;
    for (uint32_t v = 0; v < s->graph->n_nodes; v++) {
        struct group *group = &s->groups[s->group_of[v]];
        uint32_t unit = plan ? plan->place[v] : 0;
        double time_s = dfp_model_time_s(&s->picture->model, v, unit);
        group->n_nodes++;
        group->nodes[unit]++;
        if (!isnan(time_s))
            group->load_s[unit] += time_s * dfp_model_workers(&s->picture->model, v, unit);
    }
}

static void add_arcs(struct summary *s)
{
    const struct df_graph *g = s->graph;
    const uint16_t *place = s->picture->plan ? s->picture->plan->place : NULL;
    for (uint32_t v = 0; v < g->n_values; v++) {
        const struct df_value *value = &g->values[v];
        for (uint32_t r = 0; r < value->n_readers; r++) {
            uint32_t reader = g->readers[value->first_reader + r].node;
            if (!dfp_reader_is_first(g, value, r))
                continue;
            struct flow *flow = &s->flows[s->group_of[value->producer] * MAX_GROUPS + s->group_of[reader]];
            flow->arcs++;
            flow->bytes += value->bytes;
            if (place && place[value->producer] != place[reader]) {
                flow->cut_arcs++;
                flow->cut_bytes += value->bytes;
            }
        }
    }
}

/* ---- drawing ---- */

/* Fills a group's box with one colour, or with stripes in proportion to the nodes on each unit. */
static void set_colours(const struct summary *s, const struct group *group)
{
    char fill[DF_MAX_UNITS * 20] = "";
    unsigned units = 0;
    for (uint32_t u = 0; u < s->picture->model.n_units; u++) {
        if (!group->nodes[u])
            continue;
        size_t n = strlen(fill);
        snprintf(fill + n, sizeof fill - n, "%s%s;%.4f", units++ ? ":" : "", dfp_unit_colour(u),
                 (double)group->nodes[u] / group->n_nodes);
    }
    if (units == 1)
        *strchr(fill, ';') = '\0';
    else
        dfp_set(group->node, "style", "striped");
    dfp_set(group->node, "fillcolor", fill);
}

static bool draw_group(struct summary *s, uint32_t i)
{
    struct group *group = &s->groups[i];
    const struct flow *inside = &s->flows[i * MAX_GROUPS + i];
    char label[1600], bytes[32], time[32];
    group->node = dfp_picture_node(s->picture->g, group->name);
    if (!group->node)
        return false;
    dfp_label_name(label, 300, group->name);
    size_t n = strlen(label);
    n += (size_t)snprintf(label + n, sizeof label - n, "\\n%u node%s", (unsigned)group->n_nodes,
                          group->n_nodes == 1 ? "" : "s");
    for (uint32_t u = 0; u < s->picture->model.n_units && s->picture->plan; u++)
        if (group->nodes[u] && n < sizeof label)
            n += (size_t)snprintf(label + n, sizeof label - n, "\\n%s: %u, %s",
                                  s->picture->model.problem->platform->units[u].name, (unsigned)group->nodes[u],
                                  dfp_text_time(time, group->load_s[u]));
    if (inside->cut_arcs && n < sizeof label)
        snprintf(label + n, sizeof label - n, "\\ncut inside: %u of %u arcs, %s", (unsigned)inside->cut_arcs,
                 (unsigned)inside->arcs, dfp_text_bytes(bytes, inside->cut_bytes));
    dfp_set(group->node, "label", label);
    if (s->picture->plan)
        set_colours(s, group);
    return true;
}

static bool draw_flow(const struct summary *s, uint32_t from, uint32_t to)
{
    const struct flow *flow = &s->flows[from * MAX_GROUPS + to];
    if (!flow->drawn)
        return true;
    Agedge_t *edge = agedge(s->picture->g, s->groups[from].node, s->groups[to].node, NULL, 1);
    if (!edge)
        return false;
    char label[160], bytes[32];
    size_t n = (size_t)snprintf(label, sizeof label, " %u arc%s, %s", (unsigned)flow->arcs, flow->arcs == 1 ? "" : "s",
                                dfp_text_bytes(bytes, flow->bytes));
    if (flow->cut_arcs) {
        snprintf(label + n, sizeof label - n, "\\n cut: %u, %s", (unsigned)flow->cut_arcs,
                 dfp_text_bytes(bytes, flow->cut_bytes));
        dfp_set(edge, "color", DFP_CUT_COLOUR);
        dfp_set(edge, "fontcolor", DFP_CUT_COLOUR);
        dfp_set(edge, "style", "dashed");
        dfp_set(edge, "penwidth", "2.5");
    }
    dfp_set(edge, "label", label);
    return true;
}

/* The heaviest come first; equal ones are in order of their place. */
static int heavier(const void *a, const void *b)
{
    const struct flow *x = *(const struct flow *const *)a, *y = *(const struct flow *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Marks the flows to draw, and notes how many are left out. false: no memory. */
static bool choose_flows(struct summary *s)
{
    size_t n = 0, most = (size_t)s->n_groups * FLOWS_PER_GROUP;
    struct flow **order = malloc((size_t)MAX_GROUPS * MAX_GROUPS * sizeof *order);
    if (!order)
        return false;
    for (size_t i = 0; i < (size_t)MAX_GROUPS * MAX_GROUPS; i++)
        if (s->flows[i].arcs && i / MAX_GROUPS != i % MAX_GROUPS)
            order[n++] = &s->flows[i];
    qsort(order, n, sizeof *order, heavier);
    struct flow rest = { 0 };
    for (size_t i = 0; i < n; i++) {
        order[i]->drawn = i < most;
        if (i >= most) {
            rest.arcs += order[i]->arcs;
            rest.bytes += order[i]->bytes;
            rest.cut_arcs += order[i]->cut_arcs;
        }
    }
    free(order);
    if (rest.arcs) {
        char bytes[32], *note = s->picture->note;
        size_t used = strlen(note);
        snprintf(note + used, sizeof s->picture->note - used,
                 " The %zu heaviest flows are drawn; the others are %u arcs, %s, %u cut.", most, (unsigned)rest.arcs,
                 dfp_text_bytes(bytes, rest.bytes), (unsigned)rest.cut_arcs);
    }
    return true;
}

bool dfp_picture_summary(struct dfp_picture *picture)
{
    struct summary s = { .picture = picture, .graph = picture->model.problem->graph };
    size_t n_nodes = s.graph->n_nodes;
    uint32_t *key = malloc((n_nodes + 1) * sizeof *key);
    s.group_of = malloc((n_nodes + 1) * sizeof *s.group_of);
    s.groups = calloc(MAX_GROUPS, sizeof *s.groups);
    s.flows = calloc((size_t)MAX_GROUPS * MAX_GROUPS, sizeof *s.flows);
    bool good = key && s.group_of && s.groups && s.flows;
    const char *boxes = "nested graphs and kernels";
    if (good && !group_by_scope(&s, key, false, &good) && good && !group_by_scope(&s, key, true, &good) && good) {
        group_by_depth(&s, key);
        boxes = "bands of depth in the graph";
    }
    snprintf(picture->note, sizeof picture->note,
             "Too large to draw each of %zu nodes: %s as one box each, striped by unit.", n_nodes, boxes);
    if (good) {
        add_nodes(&s);
        add_arcs(&s);
        good = choose_flows(&s);
    }
    for (uint32_t i = 0; i < s.n_groups && good; i++)
        good = draw_group(&s, i);
    for (uint32_t i = 0; i < s.n_groups && good; i++)
        for (uint32_t k = 0; k < s.n_groups && good; k++)
            good = draw_flow(&s, i, k);
    free(key);
    free(s.group_of);
    free(s.groups);
    free(s.flows);
    return good;
}
