/* metis_text.c - writes the weighted graph in METIS's file format, for gpmetis and other tools: compiler/commands/cmd_compile.c calls it
 * for --emit=metis.
 */
#include <stdio.h>
#include <stdlib.h>

#include "partition/cut/metis_graph.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"

static void write_graph(FILE *out, const struct dfp_model *model, const struct dfp_options *options,
                        const struct dfp_metis_graph *graph)
{
    const struct dfp_problem *problem = model->problem;
    double share[DF_MAX_UNITS];
    char name[256];
    dfp_target_shares(model, options->ratio, share);
    fprintf(out, "%% %s: %d of %u nodes (the others cost nothing), weights: vertices %s time, edges transfer time\n",
            problem->graph->name, (int)graph->n, (unsigned)problem->graph->n_nodes,
            options->vertex_weight == DFP_WEIGHT_CPU ? "cpu" : "gpu");
    for (uint32_t u = 0; u < problem->platform->n_units; u++)
        fprintf(out, "%% share of %s: %.6f\n", problem->platform->units[u].name, share[u]);
    for (int32_t v = 0; v < graph->n; v++) {
        df_node_name(problem->graph, graph->node[v], name, sizeof name);
        fprintf(out, "%% vertex %d: %s\n", (int)v + 1, name);
    }
    fprintf(out, "%d %d 011\n", (int)graph->n, (int)graph->n_edges);
    for (int32_t v = 0; v < graph->n; v++) {
        fprintf(out, "%d", (int)graph->vertex_weight[v]);
        for (int32_t i = graph->first[v]; i < graph->first[v + 1]; i++)
            fprintf(out, " %d %d", (int)graph->adjacent[i] + 1, (int)graph->edge_weight[i]);
        fputc('\n', out);
    }
}

int dfp_metis_text(const struct dfp_problem *problem, const struct dfp_options *options, char **text, size_t *size,
                   struct df_error *error)
{
    struct dfp_model model;
    struct dfp_metis_graph graph;
    int code = dfp_model_init(&model, problem, error);
    if (code || (code = dfp_metis_graph_make(&model, options->vertex_weight, DFP_EDGES_HOST, &graph, error)))
        return code;
    char *buffer = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&buffer, &length);
    if (out)
        write_graph(out, &model, options, &graph);
    dfp_metis_graph_free(&graph);
    if (!dfr_text_close(out, &buffer))
        return dfr_error_memory(error);
    *text = buffer;
    *size = length;
    return DF_OK;
}
