/* suits.c - what a wave takes on the ranks of a group, by type of worker (suits.h): for the streams of feed.c and replica_stages.c, from the classes that
 * rank0_stages.c sends to all ranks. */
#include "runtime/ranks/suits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/subgraph/groups.h"
#include "runtime/start/run_machine.h"

#define LEAST_S 1e-9                    /* of a wave in which nothing fires: a time is above 0 */
#define CPU (UINT32_C(1) << DF_CLASS_CPU)

struct dfr_suits {
    const struct df_graph *graph;
    uint32_t n_types, classes[DFR_STREAM_TYPES]; /* by type */
    uint32_t of_rank[DFR_MOST_PROCESSORS + 1];   /* by rank: its classes, and DFR_DIVIDED */
    uint32_t *nodes, n_nodes;           /* of the group, as they feed each other */
    double *time_s;                     /* [type * n_nodes + node]; NaN: not known. NULL: no time is */
    uint8_t *empty;                     /* by value: in the wave that is looked at */
};

/* ---- classes ---- */

/* The times of the graph's works, as a run has them. *own is to be freed. */
static int find_times(const struct df_graph *g, const struct df_options *options, const struct df_times **times, struct df_times *own, struct df_error *error)
{
    const struct df_plan *plan = options->plan;

    *own = (struct df_times){ 0 };
    *times = plan && plan->times.time_s && plan->times.n_works == g->n_works ? &plan->times : own;
    return *times == own ? dfr_times_default(g, options->emu_all, own, error) : DF_OK;
}

static uint32_t classes_of(const struct df_graph *g, const struct df_platform *platform, const struct df_times *times)
{
    uint32_t classes = 0;

    for (uint32_t u = 0; u < platform->n_units; u++) {
        const uint32_t cls = dfr_times_class(times, g, platform, platform->units[u].cls);
        classes |= cls < times->n_classes ? UINT32_C(1) << cls : 0;
    }
    return classes;
}

/* Shares the places out among the CPU's workers and the devices. */
static void divide(const struct df_graph *g, const struct df_platform *platform, const struct df_times *times, uint32_t n_places, struct dfr_own_places *own)
{
    const uint32_t n_devices = platform->n_units - 1, workers = platform->units[0].workers, rest = n_places > 2 * n_devices ? n_places - 2 * n_devices : 1;
    const uint32_t n_cpu = workers > 0 && workers < rest ? workers : rest;

    own->classes |= DFR_DIVIDED;
    for (uint32_t p = n_cpu; p < n_places; p++) {
        own->unit[p] = 1 + (p - n_cpu) % n_devices;
        own->cls[p] = dfr_times_class(times, g, platform, platform->units[own->unit[p]].cls);
    }
}

void dfr_suits_places(const struct df_graph *g, const struct df_options *options, uint32_t n_places, struct dfr_own_places *own)
{
    struct df_platform *platform = malloc(sizeof *platform);
    const struct df_times *times;
    struct df_times default_times;

    *own = (struct dfr_own_places){ 0 };
    if (platform && find_times(g, options, &times, &default_times, NULL) == DF_OK) {
        dfr_machine_describe(g, options, platform);
        own->classes = classes_of(g, platform, times);
        if (!options->policy && !options->serial && platform->n_units > 1 && n_places >= platform->n_units)
            divide(g, platform, times, n_places, own);
        dfr_times_free(&default_times);
    }
    free(platform);
}

/* ---- types ---- */

/* The type of a worker of that class, of a rank with these classes. */
static uint32_t set_of(uint32_t classes, uint32_t cls)
{
    const bool on_cpu = cls == DF_CLASS_CPU || cls >= DF_MAX_CLASSES;
    return !(classes & DFR_DIVIDED) ? classes : on_cpu ? CPU : DFR_DIVIDED | CPU | UINT32_C(1) << cls;
}

/* The number of a type; n_types if there is none. */
static uint32_t find_type(const struct dfr_suits *s, uint32_t set)
{
    uint32_t type = 0;
    while (type < s->n_types && s->classes[type] != set)
        type++;
    return type;
}

/* false: there are too many. */
static bool find_types(struct dfr_suits *s, const struct dfr_mapping *m, uint32_t g, const uint32_t *classes, bool divides)
{
    uint32_t ranks[DFR_MOST_PROCESSORS], n = dfr_mapping_ranks(m, g, ranks);

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t of_rank = classes[ranks[i]] & ~(divides ? 0 : DFR_DIVIDED);
        for (uint32_t cls = 0; cls < DF_MAX_CLASSES; cls++) {
            if (cls != DF_CLASS_CPU && !(of_rank >> cls & 1))
                continue;
            const uint32_t set = set_of(of_rank, cls), type = find_type(s, set);
            if (type == DFR_STREAM_TYPES)
                return false;
            s->classes[type] = set;
            s->n_types = type + 1 > s->n_types ? type + 1 : s->n_types;
        }
        s->of_rank[ranks[i]] = of_rank;
    }
    return true;
}

/* ---- times ---- */

static double time_on(const struct df_times *times, uint32_t cls, uint32_t work)
{
    const size_t at = (size_t)cls * times->n_works + work;
    return times->source[at] == DF_TIME_NONE || times->source[at] == DF_TIME_DEFAULT ? NAN : times->time_s[at];
}

static double least_of(const struct df_times *times, uint32_t classes, uint32_t work)
{
    double best_s = NAN;

    for (uint32_t c = 0; c < times->n_classes; c++)
        if (classes >> c & 1)
            best_s = fmin(best_s, time_on(times, c, work)); /* of a number and NaN: the number */
    return best_s;
}

/* A node that is to be on a class is there, if the type has it. Copies and selects, which nobody measures, count nothing. */
static double time_of(const struct df_graph *g, const struct df_times *times, uint32_t v, uint32_t classes)
{
    const int hint = g->nodes[v].hint_class;
    double device_s = NAN;

    if (g->nodes[v].flags & DF_NODE_INSERTED || g->kernels[g->nodes[v].kernel].flags & DF_KERNEL_COPY || df_node_is_ranges(g, v))
        return 0;
    if (hint >= 0 && classes >> hint & 1)
        classes = UINT32_C(1) << hint;
    if (classes & DFR_DIVIDED)
        device_s = least_of(times, classes & ~CPU, g->nodes[v].work);
    return isnan(device_s) ? least_of(times, classes, g->nodes[v].work) : device_s;
}

/* May ranks of the group begin waves in any order, for one worker or the other? */
static bool may_divide(const struct df_graph *graph, const struct dfr_groups *groups, uint32_t g, const struct df_times *times)
{
    for (uint32_t v = 0; v < graph->n_nodes; v++)
        if (groups->place[v] == g + 1 && (df_kernel_in_order(&graph->kernels[graph->nodes[v].kernel]) || graph->nodes[v].depth > 0 ||
                                          isnan(time_of(graph, times, v, CPU))))
            return false;
    return true;
}

static int fill(struct dfr_suits *s, const struct dfr_groups *groups, uint32_t g, const struct df_times *times, struct df_error *error)
{
    for (uint32_t v = 0; v < s->graph->n_nodes; v++)
        s->n_nodes += groups->place[v] == g + 1;
    s->nodes = malloc((s->n_nodes + (size_t)1) * sizeof *s->nodes);
    s->time_s = malloc((s->n_types * (size_t)s->n_nodes + 1) * sizeof *s->time_s);
    s->empty = malloc(s->graph->n_values + (size_t)1);
    if (!s->nodes || !s->time_s || !s->empty)
        return dfr_error_memory(error);
    for (uint32_t v = 0, i = 0; v < s->graph->n_nodes; v++) {
        if (groups->place[v] != g + 1)
            continue;
        for (uint32_t t = 0; t < s->n_types; t++)
            s->time_s[(size_t)t * s->n_nodes + i] = time_of(s->graph, times, v, s->classes[t]);
        s->nodes[i++] = v;
    }
    return DF_OK;
}

int dfr_suits_open(const struct df_graph *graph, const struct dfr_stages *stages, const struct dfr_mapping *m, uint32_t g, const uint32_t *classes,
                   const struct df_options *options, struct dfr_suits **suits, struct df_error *error)
{
    struct dfr_suits *s = calloc(1, sizeof *s);
    struct dfr_groups groups = { 0 };
    const struct df_times *times;
    struct df_times own = { 0 };

    if (!s)
        return dfr_error_memory(error);
    s->graph = graph;
    int status = dfr_groups_make(graph, stages, m, &groups, error);
    if (status == DF_OK)
        status = find_times(graph, options, &times, &own, error);
    if (status == DF_OK && !find_types(s, m, g, classes, may_divide(graph, &groups, g, times))) {
        memset(s->of_rank, 0, sizeof s->of_rank);
        s->n_types = 1;
    }
    if (status == DF_OK && s->n_types > 1)
        status = fill(s, &groups, g, times, error);
    dfr_times_free(&own);
    dfr_groups_free(&groups);
    if (status == DF_OK)
        *suits = s;
    else
        dfr_suits_close(s);
    return status;
}

void dfr_suits_close(struct dfr_suits *s)
{
    if (!s)
        return;
    free(s->nodes);
    free(s->time_s);
    free(s->empty);
    free(s);
}

/* ---- waves ---- */

uint32_t dfr_suits_types(const struct dfr_suits *s)
{
    return s->n_types;
}

bool dfr_suits_divided(const struct dfr_suits *s, uint32_t rank)
{
    return s->of_rank[rank] & DFR_DIVIDED;
}

uint32_t dfr_suits_type_of(const struct dfr_suits *s, uint32_t rank, uint32_t cls)
{
    const uint32_t type = find_type(s, set_of(s->of_rank[rank], cls));
    return type < s->n_types ? type : 0;
}

/* A select passes on what is not empty; any other node needs all that it reads. */
static bool is_left_out(const struct dfr_suits *s, uint32_t v)
{
    const struct df_graph *g = s->graph;
    const uint32_t n = df_node_n_in(g, v);
    uint32_t n_empty = 0;

    for (uint32_t i = 0; i < n; i++)
        n_empty += s->empty[g->in_value[g->nodes[v].first_in + i]];
    return g->kernels[g->nodes[v].kernel].flags & DF_KERNEL_COPY ? n > 0 && n_empty == n : n_empty > 0;
}

void dfr_suits_times(struct dfr_suits *s, const struct dfr_value *values, uint32_t n, double *time_s)
{
    for (uint32_t t = 0; t < DFR_STREAM_TYPES; t++)
        time_s[t] = t < s->n_types && s->time_s ? 0 : NAN;
    if (!s->time_s)
        return;
    memset(s->empty, 0, s->graph->n_values);
    for (uint32_t i = 0; i < n; i++)
        if (values[i].port < s->graph->n_values)
            s->empty[values[i].port] = values[i].empty;
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        const uint32_t v = s->nodes[i];
        if (is_left_out(s, v))
            memset(s->empty + s->graph->nodes[v].first_out, 1, df_node_n_out(s->graph, v));
        else
            for (uint32_t t = 0; t < s->n_types; t++)
                time_s[t] += s->time_s[(size_t)t * s->n_nodes + i];
    }
    for (uint32_t t = 0; t < s->n_types; t++)
        time_s[t] = time_s[t] < LEAST_S ? LEAST_S : time_s[t];
}
