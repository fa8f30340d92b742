/* map_stages.c - builds the pipeline that `dfc map` maps: the times of a graph's stages on each type of machine, by
 * simulation, and the links between the machines. map_command.c calls it (map_stages.h).
 */
#include "compiler/cluster/map_stages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/cluster/scale.h"
#include "runtime/base/error.h"

/* ---- names, bytes, links ---- */

static uint32_t place_of(const struct dfr_stages *stages, uint32_t node)
{
    uint32_t stage = stages->stage_of[node];
    return stage == DFR_STAGE_BEFORE ? 0 : stage == DFR_STAGE_BEHIND ? stages->n + 1 : stage + 1; /* 1 + its position in the line */
}

static void count_bytes(const struct df_graph *g, const struct dfr_stages *stages, struct dfp_pipeline *l)
{
    for (uint32_t x = 0; x < g->n_values; x++) {
        const struct df_value *value = &g->values[x];
        uint32_t last = 0;
        if (df_value_is_once(g, x) || stages->stage_of[value->producer] == DFR_NO_STAGE || df_node_is_ranges(g, value->producer))
            continue;
        for (uint32_t i = 0; i < value->n_readers; i++) {
            uint32_t node = g->readers[value->first_reader + i].node;
            uint32_t place = stages->stage_of[node] == DFR_NO_STAGE ? 0 : place_of(stages, node);
            last = place > last ? place : last;
        }
        for (uint32_t place = place_of(stages, value->producer); place < last; place++)
            l->bytes[place] += df_value_rate(g, x) * (double)value->bytes; /* the boundary behind that place */
    }
}

static void mark_serial(const struct df_graph *g, const struct dfr_stages *stages, struct dfp_pipeline *l)
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

static bool name_stages(const struct dfr_stages *stages, struct dfc_map_input *input)
{
    for (uint32_t n = 0; n < stages->n; n++)
        if (!(input->stages[n] = strdup(stages->names[n])))
            return false;
    return true;
}

int dfc_map_input_new(const struct df_graph *g, const struct dfr_stages *stages, const struct dfc_cluster *cluster,
                      struct dfc_map_input *input, struct df_error *error)
{
    uint32_t n = dfc_scale_declared(cluster);
    *input = (struct dfc_map_input){ 0 };
    int code = dfp_pipeline_new(stages->n, n, &input->pipeline, error);
    if (code != DF_OK)
        return code;
    input->stages = calloc(stages->n, sizeof *input->stages);
    input->processors = calloc(n, sizeof *input->processors);
    input->type = calloc(n, sizeof *input->type);
    if (!input->stages || !input->processors || !input->type || !name_stages(stages, input) || !name_processors(cluster, input)) {
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
static bool keep_times(const struct dfp_problem *problem, const struct dfr_stages *stages, uint32_t stage, double speed, double *time_s)
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
static double shared(const struct df_graph *g, const struct dfr_stages *stages, uint32_t stage, const double *time_s)
{
    double own_s = 0, all_s = 0;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        double least_s = HUGE_VAL;
        for (uint32_t c = 0; c < g->n_classes; c++) {
            double s = time_s[(size_t)c * g->n_works + g->nodes[v].work];
            least_s = s < least_s ? s : least_s;
        }
        if (least_s == HUGE_VAL || stages->stage_of[v] == DFR_NO_STAGE)
            continue;
        all_s += g->nodes[v].rate * least_s;
        own_s += stages->stage_of[v] == stage ? g->nodes[v].rate * least_s : 0;
    }
    return all_s > 0 ? own_s / all_s : 1;
}

int dfc_map_times(const struct dfp_problem *problem, const struct dfr_stages *stages, const char *policy, const struct dfp_options *options,
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
