/* rows.c - rows of named fields (rows.h). */
#include "compiler/schedule/rows.h"

#include <inttypes.h>

#include "runtime/base/text.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/platform.h"

void dfc_row_begin(struct dfc_rows *rows)
{
    if (rows->json)
        fputs(rows->more ? ",\n    {" : "\n    {", rows->out);
    rows->more = true;
    rows->n_fields = 0;
}

void dfc_row_end(struct dfc_rows *rows)
{
    fputs(rows->json ? "}" : "\n", rows->out);
}

/* Writes what stands before a value. */
static void begin_field(struct dfc_rows *rows, const char *name)
{
    if (rows->n_fields++)
        fputs(rows->json ? ", " : ",", rows->out);
    if (rows->json)
        fprintf(rows->out, "\"%s\": ", name);
}

void dfc_row_none(struct dfc_rows *rows, const char *name)
{
    if (!rows->json)
        begin_field(rows, name);
}

void dfc_row_text(struct dfc_rows *rows, const char *name, const char *text)
{
    begin_field(rows, name);
    if (rows->json)
        dfr_text_json(rows->out, text);
    else
        dfr_text_csv(rows->out, text);
}

void dfc_row_count(struct dfc_rows *rows, const char *name, uint64_t count)
{
    begin_field(rows, name);
    fprintf(rows->out, "%" PRIu64, count);
}

void dfc_row_seconds(struct dfc_rows *rows, const char *name, double seconds)
{
    begin_field(rows, name);
    fprintf(rows->out, "%.9g", seconds);
}

void dfc_row_node(struct dfc_rows *rows, const struct df_graph *graph, uint32_t node)
{
    char name[1024];
    df_node_name(graph, node, name, sizeof name);
    dfc_row_text(rows, "node", name);
}

void dfc_row_worker(struct dfc_rows *rows, const struct df_platform *platform, uint32_t unit, uint32_t worker)
{
    dfc_row_text(rows, "unit", platform->units[unit].name);
    if (worker == DF_NONE) {
        dfc_row_none(rows, "worker");
        return;
    }
    for (uint32_t u = 0; u < unit; u++)
        worker -= platform->units[u].workers;
    dfc_row_count(rows, "worker", worker);
}
