/* check_memory.c - checks that every node fits into the memory of some unit of the platform, and reports the others at
 * the location of their calls, since the program could not run; the build and the commands that plan call it. `dfc map`
 * and `dfc scale` take the location of a node from it, and the check that no live source
 * keeps a graph from ranks. If the platform does not state its host's memory, a warning
 * compares with this machine's.
 */
#include <string.h>

#include "compiler/load/load.h"
#include "partition/model/model.h"
#include "runtime/base/text.h"
#include "runtime/engine/host_memory.h"

/* Its file is one of the sources, which the sink knows by name. */
struct dfl_loc dfc_node_loc(const struct dfc_loaded *loaded, const struct df_node *node)
{
    const struct df_graph *g = loaded->front->graph;
    const char *file = df_graph_string(g, node->file), *name = df_graph_string(g, g->kernels[node->kernel].name);
    for (uint32_t i = 0; i < loaded->front->n_sources; i++)
        if (strcmp(dfl_sink_file_name(loaded->sink, i), file) == 0)
            return (struct dfl_loc){ i, node->line, node->col, node->col + (uint32_t)strlen(name) };
    return (struct dfl_loc){ .file = DFL_NO_FILE };
}

static void report(const struct dfc_loaded *loaded, const struct dfp_model *model, uint32_t v, uint32_t more)
{
    const struct df_node *node = &loaded->front->graph->nodes[v];
    struct df_error error = { "" };
    dfp_refuse(model, v, &error);
    dfl_error(loaded->sink, dfc_node_loc(loaded, node), "%s", error.text);
    if (more)
        dfl_note(loaded->sink, (struct dfl_loc){ .file = DFL_NO_FILE }, "so do %u more node%s", (unsigned)more,
                 more == 1 ? "" : "s");
    dfl_hint(loaded->sink, "%s, make its tokens smaller, or plan for a larger device (--platform, --gpu-mem)",
             node->hint_class >= 0 ? "remove its hint" : "give its kernel a cpu variant");
}

bool dfc_check_ranks(const struct dfc_loaded *loaded)
{
    const uint32_t node = df_graph_live(loaded->front->graph);
    if (node == DF_NONE)
        return true;
    dfl_error(loaded->sink, dfc_node_loc(loaded, &loaded->front->graph->nodes[node]), "the frames of a source with @newest or @every depend on the clock, so its graph does not run on ranks");
    dfl_hint(loaded->sink, "'dfc simulate' has such a graph on one machine");
    return false;
}

bool dfc_check_memory(const struct dfc_loaded *loaded)
{
    const struct df_graph *g = loaded->front->graph;
    uint32_t first = DF_NONE, more = 0;
    struct dfp_model model;
    if (dfp_model_init(&model, &loaded->problem, NULL))
        return true;                    /* the planner will report what is wrong */
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        if (dfp_model_fastest(&model, v, false) != DF_NONE || !dfp_model_is_too_large(&model, v))
            continue;
        more += first != DF_NONE;
        first = first == DF_NONE ? v : first;
    }
    if (first != DF_NONE)
        report(loaded, &model, first, more);
    return first == DF_NONE;
}

/* Is one job too large for the host, and can it run nowhere else? */
static bool is_too_large_here(const struct dfc_loaded *loaded, const struct df_node *node)
{
    const struct df_graph *g = loaded->front->graph;
    uint64_t bytes = g->works[node->work].job_bytes;
    return g->kernels[node->kernel].code_classes == 1u << DF_CLASS_CPU && bytes > dfr_host_bytes() &&
           bytes > loaded->platform.units[0].memory_bytes;
}

void dfc_warn_memory(const struct dfc_loaded *loaded)
{
    const struct df_graph *g = loaded->front->graph;
    char name[256], need[16], have[16];
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        if (!is_too_large_here(loaded, &g->nodes[v]))
            continue;
        df_node_name(g, v, name, sizeof name);
        dfl_warning(loaded->sink, dfc_node_loc(loaded, &g->nodes[v]),
                    "the program cannot run on this machine: one job of '%s' needs %s of memory, and it has %s", name,
                    dfr_text_bytes(g->works[g->nodes[v].work].job_bytes, need, sizeof need),
                    dfr_text_bytes(dfr_host_bytes(), have, sizeof have));
        return;
    }
}
