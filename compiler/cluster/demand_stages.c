/* demand_stages.c - determines the stages of a graph, with their times and bytes on each type of machine, for the
 * simulation of demand-driven streams; demand_command.c calls it (demand_stages.h).
 */
#include "compiler/cluster/demand_stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/cluster/map_stages.h"
#include "runtime/base/error.h"

#define LEAST_S 1e-9                    /* of a stage that costs nothing */

static void count_bytes(const struct df_graph *g, const struct dfr_stages *stages, struct dfc_demand *s)
{
    for (uint32_t x = 0; x < g->n_values; x++) {
        const struct df_value *value = &g->values[x];
        uint32_t from = stages->stage_of[value->producer];
        bool leaves = false, sent[DFC_DEMAND_STAGES] = { false };
        if (df_value_is_once(g, x))
            continue;
        for (uint32_t i = 0; i < value->n_readers; i++) {
            uint32_t to = stages->stage_of[g->readers[value->first_reader + i].node];
            leaves |= to != from;
            if (to < stages->n && to != from && !sent[to])
                s->stages[to].in_bytes += df_value_rate(g, x) * (double)value->bytes;
            if (to < stages->n)
                sent[to] = true;
        }
        if (from < stages->n && leaves)
            s->stages[from].out_bytes += df_value_rate(g, x) * (double)value->bytes;
    }
}

static int take_stages(const struct df_graph *g, const struct dfr_stages *stages, struct dfc_demand_input *input, uint32_t *wrong,
                       struct df_error *error)
{
    if (stages->n > DFC_DEMAND_STAGES)
        return dfr_error(error, DF_E_REFUSED, "graph main has %u stages, and streams by demand take at most %d", (unsigned)stages->n, DFC_DEMAND_STAGES);
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (stages->stage_of[v] < stages->n && df_kernel_in_order(&g->kernels[g->nodes[v].kernel])) {
            *wrong = v;
            return dfr_error(error, DF_E_REFUSED, "this keeps something from wave to wave, and with --stream-policy any worker may do any wave");
        }
    input->setup.n_stages = stages->n;
    for (uint32_t n = 0; n < stages->n; n++) {
        input->setup.stages[n].fires = 1;
        if (!(input->stages[n] = strdup(stages->names[n])))
            return dfr_error_memory(error);
    }
    count_bytes(g, stages, &input->setup);
    return DF_OK;
}

/* What the stage takes on one worker of that unit's class. INFINITY: it cannot run there. */
static double stage_time_s(const struct dfp_problem *problem, const struct dfr_stages *stages, uint32_t stage, uint32_t unit, double speed)
{
    const struct df_graph *g = problem->graph;
    const struct df_unit *u = &problem->platform->units[unit];
    double sum_s = 0;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        if (stages->stage_of[v] != stage)
            continue;
        double time_s = u->cls < g->n_classes ? problem->times->time_s[(size_t)u->cls * g->n_works + g->nodes[v].work] : NAN;
        if (isnan(time_s))
            return INFINITY;
        sum_s += g->nodes[v].rate * (time_s + u->launch_s);
    }
    return fmax(sum_s / speed, LEAST_S);
}

static int add_types(const struct dfp_problem *problem, const struct dfr_stages *stages, const struct dfc_cluster *cluster, uint32_t node_type,
                     struct dfc_demand_input *input, struct df_error *error)
{
    const struct df_platform *platform = problem->platform;
    const struct dfc_node_type *node = &cluster->types[node_type];
    struct dfc_demand *s = &input->setup;
    struct dfc_demand_nodes *nodes = &s->nodes[node_type];
    uint32_t first = s->n_types;
    nodes->link_bytes_per_s = node->link.bytes_per_s;
    nodes->latency_s = node->link.latency_s;
    for (uint32_t u = 0; u < platform->n_units; u++) {
        const char *cls = platform->class_names[platform->units[u].cls];
        char name[sizeof input->types[0]];
        uint32_t type = first;
        snprintf(name, sizeof name, "%s.%s", node->name, cls);
        while (type < s->n_types && strcmp(input->types[type], name) != 0)
            type++;
        if (type == DFR_STREAM_TYPES)
            return dfr_error(error, DF_E_REFUSED, "platform '%s' has more than %d types of workers", cluster->name, DFR_STREAM_TYPES);
        if (type == s->n_types) {
            snprintf(input->types[s->n_types++], sizeof input->types[0], "%s", name);
            for (uint32_t n = 0; n < s->n_stages; n++)
                s->stages[n].time_s[type] = stage_time_s(problem, stages, n, u, node->speed);
        }
        nodes->workers[type] += platform->units[u].workers;
    }
    return DF_OK;
}

int dfc_demand_add_type(const struct dfp_problem *problem, const struct dfc_cluster *cluster, uint32_t node_type, struct dfc_demand_input *input,
                    uint32_t *wrong, struct df_error *error)
{
    struct dfr_stages stages;
    *wrong = DF_NONE;
    int code = dfr_stages_find(problem->graph, &stages, error);
    if (code != DF_OK) {
        *wrong = stages.wrong;
        return code;
    }
    if (node_type == 0)
        code = take_stages(problem->graph, &stages, input, wrong, error);
    if (code == DF_OK && stages.n != input->setup.n_stages)
        code = dfr_error(error, DF_E_REFUSED, "it has %u stages there, and %u on node '%s': --parts=1 divides no node", (unsigned)stages.n,
                         (unsigned)input->setup.n_stages, cluster->types[0].name);
    if (code == DF_OK)
        code = add_types(problem, &stages, cluster, node_type, input, error);
    input->setup.n_node_types = cluster->n_types;
    input->setup.message_s = cluster->message_s;
    dfr_stages_free(&stages);
    return code;
}

void dfc_demand_input_free(struct dfc_demand_input *input)
{
    for (uint32_t n = 0; n < DFC_DEMAND_STAGES; n++)
        free(input->stages[n]);
    *input = (struct dfc_demand_input){ 0 };
}
