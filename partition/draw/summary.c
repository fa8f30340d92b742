/* summary.c - draws for picture.c a graph that is too large for all its nodes: groups of nodes with counts and load per unit, and the sums of the arcs between
 * groups.
 *
 * Groups:   if most nodes are in nested graphs: one for each instance of a nested graph directly in the main graph, and
 *           one for each kernel of the main graph's own nodes. If these are too many, all instances of a nested graph are
 *           one group. If these are too many as well, or most nodes are the main graph's own, the groups are bands of
 *           levels. A node's level is the longest way to it from a source.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/draw/picture.h"

#define MAX_GROUPS 60
#define BANDS 12
#define NAMED_KERNELS 3                 /* of a band: those with most nodes */
#define BAR_WIDTH 150.0                 /* of a group's bar, in points */
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
    bool levels;                        /* groups are bands of levels */
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

static void group_by_level(struct summary *s, uint32_t *level)
{
    const struct df_graph *g = s->graph;
    uint32_t highest = 0;
    memset(level, 0, g->n_nodes * sizeof *level);
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        uint32_t first = g->nodes[v].first_in, n_in = df_node_n_in(g, v);
        for (uint32_t i = first; i < first + n_in; i++) {
            uint32_t after = level[g->values[g->in_value[i]].producer] + 1;
            level[v] = after > level[v] ? after : level[v];
        }
        highest = level[v] > highest ? level[v] : highest;
    }
    uint32_t step = highest / BANDS + 1;
    s->n_groups = highest / step + 1;
    s->levels = true;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        s->group_of[v] = level[v] / step;
    for (uint32_t i = 0; i < s->n_groups; i++) {
        uint32_t last = (i + 1) * step - 1;
        last = last < highest ? last : highest;
        snprintf(s->groups[i].name, sizeof s->groups[i].name, last > i * step ? "levels %u to %u" : "level %u",
                 (unsigned)(i * step), (unsigned)last);
    }
}

static bool is_nested(const struct df_graph *g)
{
    uint32_t nested = 0;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        nested += g->nodes[v].scope != 0;
    return nested > g->n_nodes / 2;
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

/* Writes a bar: for each unit a part as wide as its share of the nodes. */
static void put_bar(const struct summary *s, const struct group *group, FILE *out)
{
    fprintf(out, "<TR><TD><TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"0\" FIXEDSIZE=\"TRUE\" "
            "WIDTH=\"%.0f\" HEIGHT=\"9\"><TR>", BAR_WIDTH);
    for (uint32_t u = 0; u < s->picture->model.n_units; u++)
        if (group->nodes[u])
            fprintf(out, "<TD FIXEDSIZE=\"TRUE\" WIDTH=\"%.0f\" HEIGHT=\"9\" BGCOLOR=\"%s\"></TD>",
                    fmax(BAR_WIDTH * group->nodes[u] / group->n_nodes, 2), dfp_unit_colour(u));
    fputs("</TR></TABLE></TD></TR>", out);
}

/* Writes "60 gemm, 30 trsm, 12 of others": the nodes of a band. false: no memory. */
static bool put_kernels(const struct summary *s, uint32_t group, FILE *out)
{
    const struct df_graph *g = s->graph;
    uint32_t *count = calloc((size_t)g->n_kernels + 1, sizeof *count), rest = s->groups[group].n_nodes;
    if (!count)
        return false;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        count[g->nodes[v].kernel] += s->group_of[v] == group;
    for (uint32_t i = 0; i < NAMED_KERNELS && rest; i++) {
        uint32_t most = 0;
        for (uint32_t k = 1; k < g->n_kernels; k++)
            most = count[k] > count[most] ? k : most;
        fprintf(out, "%s%u ", i ? ", " : "<BR/>", (unsigned)count[most]);
        dfp_label_text(out, df_graph_string(g, g->kernels[most].name));
        rest -= count[most];
        count[most] = 0;
    }
    if (rest)
        fprintf(out, ", %u of others", (unsigned)rest);
    free(count);
    return true;
}

static bool put_label(const struct summary *s, uint32_t i, FILE *out)
{
    const struct group *group = &s->groups[i];
    const struct flow *inside = &s->flows[i * MAX_GROUPS + i];
    char bytes[32], time[32];
    fputs("<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"2\"><TR><TD><B>", out);
    dfp_label_text(out, group->name);
    fputs("</B></TD></TR>", out);
    if (s->picture->plan)
        put_bar(s, group, out);
    fprintf(out, "<TR><TD>%u node%s", (unsigned)group->n_nodes, group->n_nodes == 1 ? "" : "s");
    bool good = !s->levels || put_kernels(s, i, out);
    for (uint32_t u = 0; u < s->picture->model.n_units && s->picture->plan; u++)
        if (group->nodes[u]) {
            fputs("<BR/>", out);
            dfp_label_text(out, s->picture->model.problem->platform->units[u].name);
            fprintf(out, ": %u, %s", (unsigned)group->nodes[u], dfp_text_time(time, group->load_s[u]));
        }
    if (inside->cut_arcs)
        fprintf(out, "<BR/>cut inside: %u of %u arcs, %s", (unsigned)inside->cut_arcs, (unsigned)inside->arcs,
                dfp_text_bytes(bytes, inside->cut_bytes));
    fputs("</TD></TR></TABLE>", out);
    return good;
}

static bool draw_group(struct summary *s, uint32_t i)
{
    struct group *group = &s->groups[i];
    struct dfp_label label;
    group->node = dfp_picture_node(s->picture->g, group->name);
    if (!group->node || !dfp_label_begin(&label))
        return false;
    bool good = put_label(s, i, label.out);
    return dfp_label_end(&label, s->picture->g, group->node) && good;
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
    size_t n = (size_t)snprintf(label, sizeof label, DFP_BESIDE "%u arc%s, %s\\l", (unsigned)flow->arcs, flow->arcs == 1 ? "" : "s",
                                dfp_text_bytes(bytes, flow->bytes));
    if (flow->cut_arcs) {
        snprintf(label + n, sizeof label - n, DFP_BESIDE "cut: %u, %s\\l", (unsigned)flow->cut_arcs,
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
    if (good && (!is_nested(s.graph) || (!group_by_scope(&s, key, false, &good) && good &&
                                         !group_by_scope(&s, key, true, &good) && good)))
        group_by_level(&s, key);
    snprintf(picture->note, sizeof picture->note,
             "Too large to draw each of %zu nodes: %s as one box each, with a bar of the units.", n_nodes,
             s.levels ? "bands of levels" : "nested graphs and kernels");
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
