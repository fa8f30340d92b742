/* placement.c - prints a plan and one wave of it as CSV or JSON, for `dfc partition` in commands/cmd_partition.c; schedule.c
 * numbers workers with it (placement.h).
 */
#include "compiler/schedule/placement.h"

#include <inttypes.h>
#include <string.h>

#include "partition/model/model.h"
#include "partition/planner/plan_report.h"
#include "runtime/base/report_table.h"
#include "runtime/base/text.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/platform.h"

static const struct dfr_column node_columns[] = {
    DFR_COLUMN(NULL, "node", TEXT), DFR_COLUMN(NULL, "kernel", TEXT), DFR_COLUMN(NULL, "unit", TEXT), DFR_COLUMN(NULL, "worker", COUNT),
    DFR_COLUMN(NULL, "time_s", SECONDS), DFR_COLUMN(NULL, "start_s", SECONDS), DFR_COLUMN(NULL, "end_s", SECONDS),
};

double dfc_worker_of_unit(const struct df_platform *platform, uint32_t unit, uint32_t worker)
{
    for (uint32_t u = 0; u < unit && worker != DF_NONE; u++)
        worker -= platform->units[u].workers;
    return worker == DF_NONE ? NAN : worker;
}

static void put_nodes(FILE *out, enum dfr_form form, const struct dfc_placement *p)
{
    const struct df_graph *g = p->problem->graph;
    struct dfr_report_table table = { 0 };
    dfr_report_table_begin(&table, out, form, DFR_COLUMNS(node_columns));
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        const uint32_t unit = p->run->place[v];
        char name[1024];
        df_node_name(g, v, name, sizeof name);
        dfr_report_table_row(&table, (const struct dfr_cell[]){
            DFR_STR(name), DFR_STR(df_graph_string(g, g->kernels[g->nodes[v].kernel].name)), DFR_STR(p->problem->platform->units[unit].name),
            DFR_NUM(dfc_worker_of_unit(p->problem->platform, unit, p->run->worker[v])),
            DFR_NUM(dfp_node_is_free(g, v) ? 0 : dfp_node_time_s(p->problem, v, unit)), DFR_NUM(p->run->start_s[v]),
            DFR_NUM(p->run->end_s[v]) });
    }
}

void dfc_placement_csv(FILE *out, const struct dfc_placement *p)
{
    put_nodes(out, DFR_FORM_CSV, p);
}

/* ---- JSON ---- */

static void put_units(FILE *out, const struct dfc_placement *p, const struct dfp_evaluation *e, const double *all_s)
{
    static const struct dfr_column columns[] = {
        DFR_COLUMN(NULL, "name", TEXT), DFR_COLUMN(NULL, "workers", COUNT), DFR_COLUMN(NULL, "nodes", COUNT),
        DFR_COLUMN(NULL, "load_s", SECONDS), DFR_COLUMN(NULL, "all_on_it_s", SECONDS), DFR_COLUMN(NULL, "memory_bytes", BYTES),
        DFR_COLUMN(NULL, "least_memory_bytes", BYTES), DFR_COLUMN(NULL, "largest_job_bytes", BYTES),
    };
    struct dfr_report_table table = { 0 };
    dfr_report_table_begin(&table, out, DFR_FORM_JSON, DFR_COLUMNS(columns));
    for (uint32_t u = 0; u < p->problem->platform->n_units; u++) {
        const struct df_memory_need *memory = &p->plan->memory[u];
        dfr_report_table_row(&table, (const struct dfr_cell[]){
            DFR_STR(p->problem->platform->units[u].name), DFR_NUM(p->problem->platform->units[u].workers), DFR_NUM(e->nodes[u]),
            DFR_NUM(e->busy_s[u]), DFR_NUM(all_s[u]), DFR_NUM(p->plan->pool_bytes[u]),
            DFR_NUM(memory->wave_bound_bytes + memory->once_bytes + memory->scratch_bytes), DFR_NUM(p->plan->largest_job_bytes[u]) });
    }
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
    put_units(out, p, &report.evaluation, all_s);
    fputs("\n ],\n \"nodes\": [", out);
    put_nodes(out, DFR_FORM_JSON, p);
    fputs("\n ]}\n", out);
    return DF_OK;
}
