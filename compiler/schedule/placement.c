/* placement.c - prints a plan and one wave of it as CSV or JSON (placement.h). */
#include "compiler/schedule/placement.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/schedule/rows.h"
#include "partition/model/model.h"
#include "partition/planner/plan_report.h"
#include "runtime/base/text.h"

static void add_node(struct dfc_rows *rows, const struct dfc_placement *p, uint32_t node)
{
    const struct df_graph *g = p->problem->graph;
    uint32_t unit = p->run->place[node];
    dfc_row_begin(rows);
    dfc_row_node(rows, g, node);
    dfc_row_text(rows, "kernel", df_graph_string(g, g->kernels[g->nodes[node].kernel].name));
    dfc_row_worker(rows, p->problem->platform, unit, p->run->worker[node]);
    dfc_row_seconds(rows, "time_s", dfp_node_is_free(g, node) ? 0 : dfp_node_time_s(p->problem, node, unit));
    dfc_row_seconds(rows, "start_s", p->run->start_s[node]);
    dfc_row_seconds(rows, "end_s", p->run->end_s[node]);
    dfc_row_end(rows);
}

static void add_nodes(struct dfc_rows *rows, const struct dfc_placement *p)
{
    for (uint32_t v = 0; v < p->problem->graph->n_nodes; v++)
        add_node(rows, p, v);
}

void dfc_placement_csv(FILE *out, const struct dfc_placement *p)
{
    struct dfc_rows rows = { .out = out };
    fputs("node,kernel,unit,worker,time_s,start_s,end_s\n", out);
    add_nodes(&rows, p);
}

/* ---- JSON ---- */

static void add_unit(struct dfc_rows *rows, const struct dfc_placement *p, const struct dfp_evaluation *e, uint32_t u,
                     double all_s)
{
    const struct df_memory_need *memory = &p->plan->memory[u];
    dfc_row_begin(rows);
    dfc_row_text(rows, "name", p->problem->platform->units[u].name);
    dfc_row_count(rows, "workers", p->problem->platform->units[u].workers);
    dfc_row_count(rows, "nodes", e->nodes[u]);
    dfc_row_seconds(rows, "load_s", e->busy_s[u]);
    dfc_row_seconds(rows, "all_on_it_s", all_s);
    dfc_row_count(rows, "memory_bytes", p->plan->pool_bytes[u]);
    dfc_row_count(rows, "least_memory_bytes", memory->wave_bound_bytes + memory->once_bytes + memory->scratch_bytes);
    dfc_row_count(rows, "largest_job_bytes", p->plan->largest_job_bytes[u]);
    dfc_row_end(rows);
}

static void put_name(FILE *out, const char *before, const char *key, const char *text)
{
    fprintf(out, "%s\"%s\": ", before, key);
    dfr_text_json(out, text);
}

static void put_copies(FILE *out, const struct dfp_report *report)
{
    const struct dfp_evaluation *e = &report->evaluation;
    fprintf(out, " \"arcs\": %u, \"cut_arcs\": %u, \"cut_bytes\": %" PRIu64 ", \"cut_s\": %.9g,\n",
            (unsigned)report->n_arcs, (unsigned)report->cut_arcs, e->cut_bytes, e->cut_s);
    fprintf(out, " \"h2d_copies\": %u, \"h2d_bytes\": %" PRIu64 ", \"d2h_copies\": %u, \"d2h_bytes\": %" PRIu64
                 ", \"peer_copies\": %u, \"peer_bytes\": %" PRIu64 ",\n",
            (unsigned)e->h2d_copies, e->h2d_bytes, (unsigned)e->d2h_copies, e->d2h_bytes, (unsigned)e->peer_copies,
            e->peer_bytes);
}

static void put_times(FILE *out, const struct dfc_placement *p, const struct dfp_evaluation *e)
{
    const struct df_plan *plan = p->plan;
    fprintf(out, " \"predicted_s\": %.9g, \"placed_s\": %.9g, \"makespan_s\": %.9g", plan->predicted_s, e->makespan_s,
            p->run->makespan_s);
    if (plan->lower_bound_s > 0)
        fprintf(out, ", \"lower_bound_s\": %.9g", plan->lower_bound_s);
    if (plan->inflight)
        fprintf(out, ",\n \"inflight\": %u, \"wave_s\": %.9g, \"load_s\": %.9g, \"load_bound_s\": %.9g, "
                     "\"joint_waves\": %u",
                (unsigned)plan->inflight, plan->wave_s, plan->load_s, plan->load_bound_s, (unsigned)plan->n_waves);
    fputs(",\n", out);
}

int dfc_placement_json(FILE *out, const struct dfc_placement *p, struct df_error *error)
{
    struct dfc_rows rows = { .out = out, .json = true };
    uint32_t n_units = p->problem->platform->n_units;
    double all_s[DF_MAX_UNITS];         /* a wave with everything on one unit */
    struct dfp_report report;
    int code = dfp_report_make(p->problem, p->plan, &report, error);
    for (uint32_t u = 0; u < n_units && !code; u++)
        code = dfp_predict_all(p->problem, u, &all_s[u], error);
    if (code)
        return code;
    put_name(out, "{", "graph", p->problem->graph->name);
    put_name(out, ", ", "platform", p->problem->platform->name);
    put_name(out, ", ", "policy", p->plan->policy);
    if (p->plan->run_as[0] && strcmp(p->plan->run_as, DFP_RUN_PLACED))
        put_name(out, ", ", "run_as", p->plan->run_as);
    fputs(",\n", out);
    put_copies(out, &report);
    put_times(out, p, &report.evaluation);
    fputs(" \"units\": [", out);
    for (uint32_t u = 0; u < n_units; u++)
        add_unit(&rows, p, &report.evaluation, u, all_s[u]);
    rows.more = false;
    fputs("\n ],\n \"nodes\": [", out);
    add_nodes(&rows, p);
    fputs("\n ]}\n", out);
    return DF_OK;
}
