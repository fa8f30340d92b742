/* map_stages.c - finds the stages of a graph, and what they take on the machines of a cluster. */
#include "compiler/cluster/map_stages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/cluster/scale.h"
#include "runtime/base/error.h"

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
    uint32_t *of_node, n;               /* DFC_NO_STAGE: fires once */
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
            if (other != DFC_NO_STAGE)
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
    for (uint32_t v = 0; v < c->g->n_nodes && c->n <= DFP_MOST_STAGES + 2; v++) {
        c->of_node[v] = DFC_NO_STAGE;
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
        if (from == DFC_NO_STAGE || c->all[from].number != DFC_NO_STAGE)
            continue;
        for (uint32_t i = 0; i < g->values[x].n_readers; i++) {
            uint32_t to = c->of_node[g->readers[g->values[x].first_reader + i].node];
            if (to != DFC_NO_STAGE && to != from)
                c->all[to].waits++;
        }
    }
}

/* Numbers the calls so that each comes behind those that feed it, and of several that may come next the first in the graph. */
static int number_calls(struct calls *c, uint32_t *wrong, struct df_error *error)
{
    for (uint32_t i = 0; i < c->n; i++)
        c->all[i].number = DFC_NO_STAGE;
    for (uint32_t n = 0; n < c->n; n++) {
        uint32_t next = 0;
        count_feeders(c);
        while (next < c->n && (c->all[next].number != DFC_NO_STAGE || c->all[next].waits))
            next++;
        if (next == c->n) {
            char name[100];
            for (next = 0; c->all[next].number != DFC_NO_STAGE; )
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
static int number_stages(struct calls *c, struct dfc_stages *stages, struct df_error *error)
{
    uint32_t first = 0, end = c->n;
    bool zero[DFP_MOST_STAGES + 2] = { false };
    for (uint32_t i = 0; i < c->n; i++)
        zero[c->all[i].number] = c->all[i].zero;
    while (first < end && zero[first])
        first++;
    while (end > first && zero[end - 1])
        end--;
    stages->n = end - first;
    if (!stages->n)
        return dfr_error(error, DF_E_REFUSED, "no stage: all calls in graph main fire once or cost nothing");
    if (stages->n > DFP_MOST_STAGES)
        return dfr_error(error, DF_E_REFUSED, "graph main has more than %u calls, and a mapping takes at most so many stages",
                         (unsigned)DFP_MOST_STAGES);
    for (uint32_t v = 0; v < c->g->n_nodes; v++) {
        uint32_t number = c->of_node[v] == DFC_NO_STAGE ? DFC_NO_STAGE : c->all[c->of_node[v]].number;
        stages->stage_of[v] = number == DFC_NO_STAGE ? DFC_NO_STAGE : number < first ? DFC_STAGE_BEFORE :
                              number >= end ? DFC_STAGE_BEHIND : number - first;
    }
    return DF_OK;
}

int dfc_stages_find(const struct df_graph *g, struct dfc_stages *stages, struct df_error *error)
{
    struct calls c = { .g = g, .all = calloc(g->n_nodes + (size_t)1, sizeof *c.all), .of_node = calloc(g->n_nodes + (size_t)1, sizeof *c.of_node) };
    uint32_t wrong = DF_NONE;
    *stages = (struct dfc_stages){ .stage_of = calloc(g->n_nodes + (size_t)1, sizeof *stages->stage_of) };
    int code = c.all && c.of_node && stages->stage_of ? DF_OK : dfr_error_memory(error);
    if (code == DF_OK)
        find_calls(&c);
    if (code == DF_OK && c.n > DFP_MOST_STAGES + 2)
        code = dfr_error(error, DF_E_REFUSED, "graph main has more than %u calls, and a mapping takes at most so many stages",
                         (unsigned)DFP_MOST_STAGES);
    if (code == DF_OK)
        code = number_calls(&c, &wrong, error);
    if (code == DF_OK)
        code = number_stages(&c, stages, error);
    free(c.all);
    free(c.of_node);
    if (code != DF_OK)
        dfc_stages_free(stages);
    stages->wrong = wrong;
    return code;
}

void dfc_stages_free(struct dfc_stages *stages)
{
    free(stages->stage_of);
    *stages = (struct dfc_stages){ 0 };
}

/* ---- names, bytes, links ---- */

/* Of the first node with that stage, the part of its name that stands in main: "blur#2" of main/blur#2.part[0], "segment" of
 * main/segment/label. */
char *dfc_stages_name(const struct df_graph *g, const struct dfc_stages *stages, uint32_t stage)
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

static uint32_t place_of(const struct dfc_stages *stages, uint32_t node)
{
    uint32_t stage = stages->stage_of[node];
    return stage == DFC_STAGE_BEFORE ? 0 : stage == DFC_STAGE_BEHIND ? stages->n + 1 : stage + 1; /* 1 + its position in the line */
}

static void count_bytes(const struct df_graph *g, const struct dfc_stages *stages, struct dfp_pipeline *l)
{
    for (uint32_t x = 0; x < g->n_values; x++) {
        const struct df_value *value = &g->values[x];
        uint32_t last = 0;
        if (df_value_is_once(g, x) || stages->stage_of[value->producer] == DFC_NO_STAGE || df_node_is_ranges(g, value->producer))
            continue;
        for (uint32_t i = 0; i < value->n_readers; i++) {
            uint32_t node = g->readers[value->first_reader + i].node;
            uint32_t place = stages->stage_of[node] == DFC_NO_STAGE ? 0 : place_of(stages, node);
            last = place > last ? place : last;
        }
        for (uint32_t place = place_of(stages, value->producer); place < last; place++)
            l->bytes[place] += df_value_rate(g, x) * (double)value->bytes; /* the boundary behind that place */
    }
}

static void mark_serial(const struct df_graph *g, const struct dfc_stages *stages, struct dfp_pipeline *l)
{
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (stages->stage_of[v] < stages->n)
            l->serial[stages->stage_of[v]] |= df_kernel_in_order(&g->kernels[g->nodes[v].kernel]);
}

static void set_links(const struct dfc_cluster *cluster, const struct dfc_map_input *input, struct dfp_pipeline *l)
{
    for (uint32_t a = 0; a <= l->n_processors; a++)
        for (uint32_t b = 0; b <= a; b++) {
            const struct df_link *x = a ? &cluster->types[input->type[a - 1]].link : &cluster->link;
            const struct df_link *y = b ? &cluster->types[input->type[b - 1]].link : &cluster->link;
            dfp_pipeline_link(l, a, b, fmin(x->bytes_per_s, y->bytes_per_s), fmax(x->latency_s, y->latency_s));
        }
}

static bool name_processors(const struct dfc_cluster *cluster, struct dfc_map_input *input)
{
    uint32_t p = 0;
    for (uint32_t t = 0; t < cluster->n_types; t++)
        for (uint32_t k = 0; k < cluster->types[t].count; k++, p++) {
            char name[64];
            if (cluster->types[t].count > 1)
                snprintf(name, sizeof name, "%s.%u", cluster->types[t].name, (unsigned)k);
            else
                snprintf(name, sizeof name, "%s", cluster->types[t].name);
            input->type[p] = t;
            input->processors[p] = strdup(name);
            if (!input->processors[p])
                return false;
        }
    return true;
}

static bool name_stages(const struct df_graph *g, const struct dfc_stages *stages, struct dfc_map_input *input)
{
    for (uint32_t n = 0; n < stages->n; n++)
        if (!(input->stages[n] = dfc_stages_name(g, stages, n)))
            return false;
    return true;
}

int dfc_map_input_new(const struct df_graph *g, const struct dfc_stages *stages, const struct dfc_cluster *cluster,
                      struct dfc_map_input *input, struct df_error *error)
{
    uint32_t n = dfc_scale_declared(cluster);
    *input = (struct dfc_map_input){ 0 };
    if (n > DFP_MOST_PROCESSORS)
        return dfr_error(error, DF_E_REFUSED, "platform '%s' has %u nodes, and a mapping takes at most %u", cluster->name, (unsigned)n,
                         (unsigned)DFP_MOST_PROCESSORS);
    int code = dfp_pipeline_new(stages->n, n, &input->pipeline, error);
    if (code != DF_OK)
        return code;
    input->stages = calloc(stages->n, sizeof *input->stages);
    input->processors = calloc(n, sizeof *input->processors);
    input->type = calloc(n, sizeof *input->type);
    if (!input->stages || !input->processors || !input->type || !name_stages(g, stages, input) || !name_processors(cluster, input)) {
        dfc_map_input_free(input);
        return dfr_error_memory(error);
    }
    count_bytes(g, stages, &input->pipeline);
    mark_serial(g, stages, &input->pipeline);
    set_links(cluster, input, &input->pipeline);
    return DF_OK;
}

void dfc_map_input_free(struct dfc_map_input *input)
{
    for (uint32_t n = 0; n < input->pipeline.n_stages && input->stages; n++)
        free(input->stages[n]);
    for (uint32_t p = 0; p < input->pipeline.n_processors && input->processors; p++)
        free(input->processors[p]);
    free(input->stages);
    free(input->processors);
    free(input->type);
    dfp_pipeline_free(&input->pipeline);
    *input = (struct dfc_map_input){ 0 };
}

/* ---- times ---- */

/* Keeps the times of the works that a stage has. Other works take no time: a work that several stages share is none of this one's
 * if this stage does not have it. Gives whether any time is left. */
static bool keep_times(const struct dfp_problem *problem, const struct dfc_stages *stages, uint32_t stage, double speed, double *time_s)
{
    const struct df_graph *g = problem->graph;
    bool left = false;
    for (size_t i = 0; i < (size_t)g->n_classes * g->n_works; i++)
        time_s[i] = isnan(problem->times->time_s[i]) ? problem->times->time_s[i] : 0;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        if (stages->stage_of[v] != stage)
            continue;
        for (uint32_t c = 0; c < g->n_classes; c++) {
            size_t at = (size_t)c * g->n_works + g->nodes[v].work;
            time_s[at] = problem->times->time_s[at] / speed;
            left |= time_s[at] > 0;
        }
    }
    return left;
}

/* How often the stages' works are fired in all per firing of this stage: a work that stages share was simulated for all of them. */
static double shared(const struct df_graph *g, const struct dfc_stages *stages, uint32_t stage, const double *time_s)
{
    double own_s = 0, all_s = 0;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        double least_s = HUGE_VAL;
        for (uint32_t c = 0; c < g->n_classes; c++) {
            double s = time_s[(size_t)c * g->n_works + g->nodes[v].work];
            least_s = s < least_s ? s : least_s;
        }
        if (least_s == HUGE_VAL || stages->stage_of[v] == DFC_NO_STAGE)
            continue;
        all_s += g->nodes[v].rate * least_s;
        own_s += stages->stage_of[v] == stage ? g->nodes[v].rate * least_s : 0;
    }
    return all_s > 0 ? own_s / all_s : 1;
}

int dfc_map_times(const struct dfp_problem *problem, const struct dfc_stages *stages, const char *policy, const struct dfp_options *options,
                  uint32_t inflight, uint32_t type, double speed, struct dfc_map_input *input, struct df_error *error)
{
    const struct df_graph *g = problem->graph;
    struct df_times times = *problem->times;
    double *time_s = malloc(((size_t)g->n_classes * g->n_works + 1) * sizeof *time_s);
    int code = time_s ? DF_OK : dfr_error_memory(error);
    times.time_s = time_s;
    for (uint32_t n = 0; n < stages->n && code == DF_OK; n++) {
        double every_s = 0, latency_s;
        if (keep_times(problem, stages, n, speed, time_s))
            code = dfc_scale_measure(problem, &times, policy, options, inflight, &every_s, &latency_s, error);
        every_s *= shared(g, stages, n, time_s);
        for (uint32_t p = 0; p < input->pipeline.n_processors; p++)
            if (input->type[p] == type)
                input->pipeline.time_s[(size_t)n * input->pipeline.n_processors + p] = every_s;
    }
    free(time_s);
    return code;
}

void dfc_map_finish(const struct dfc_cluster *cluster, struct dfc_map_input *input)
{
    input->pipeline.speed[0] = cluster->types[input->type[0]].speed;
    dfp_pipeline_speeds(&input->pipeline);
}
