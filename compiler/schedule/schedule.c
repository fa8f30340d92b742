/* schedule.c - writes the schedule of simulated runs, event by event as they happen, for `dfc partition` and
 * `dfc simulate` with --schedule (schedule.h).
 */
#include "compiler/schedule/schedule.h"

#include <string.h>
#include <strings.h>

#include "compiler/schedule/placement.h"
#include "compiler/tools/messages.h"
#include "partition/model/model.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/graph/graph.h"

/* ---- rows ---- */

static const struct dfr_column columns[] = {
    DFR_COLUMN(NULL, "policy", TEXT, .only = DFR_ONLY_CSV), DFR_COLUMN(NULL, "kind", TEXT), DFR_COLUMN(NULL, "wave", COUNT),
    DFR_COLUMN(NULL, "node", TEXT), DFR_COLUMN(NULL, "kernel", TEXT), DFR_COLUMN(NULL, "output", TEXT), DFR_COLUMN(NULL, "unit", TEXT),
    DFR_COLUMN(NULL, "worker", COUNT), DFR_COLUMN(NULL, "threads", COUNT), DFR_COLUMN(NULL, "from", TEXT), DFR_COLUMN(NULL, "to", TEXT),
    DFR_COLUMN(NULL, "bytes", BYTES), DFR_COLUMN(NULL, "start_s", SECONDS), DFR_COLUMN(NULL, "end_s", SECONDS),
};

static void add_job(struct dfc_schedule *s, uint32_t unit, uint32_t worker, uint32_t node, uint32_t wave,
                    double start_s, double end_s)
{
    const struct df_graph *g = s->problem->graph;
    const struct dfp_model model = { .problem = s->problem };
    char name[1024];
    df_node_name(g, node, name, sizeof name);
    dfr_report_table_row(&s->table, (const struct dfr_cell[]){
        DFR_STR(s->policy), DFR_STR("job"), DFR_NUM(wave), DFR_STR(name), DFR_STR(df_graph_string(g, g->kernels[g->nodes[node].kernel].name)),
        DFR_MISSING, DFR_STR(s->problem->platform->units[unit].name), DFR_NUM(dfc_worker_of_unit(s->problem->platform, unit, worker)),
        DFR_NUM(worker == DF_NONE ? 0 : dfp_model_workers(&model, node, unit)), DFR_MISSING, DFR_MISSING, DFR_MISSING, DFR_NUM(start_s),
        DFR_NUM(end_s) });
}

/* The name of the port that makes a value. */
static const char *output_name(const struct df_graph *g, const struct df_value *value)
{
    const struct df_kernel *kernel = &g->kernels[g->nodes[value->producer].kernel];
    const struct df_kport *port = &g->kports[kernel->first_port];
    while (port->out_slot != value->slot)
        port++;
    return df_graph_string(g, port->name);
}

/* ---- what the simulation tells ---- */

static void ran(void *arg, uint32_t worker, uint32_t node, uint32_t wave, double begin_s, double end_s)
{
    struct dfc_schedule *s = arg;
    const struct df_platform *p = s->problem->platform;
    uint32_t unit = 0, end = p->units[0].workers;
    while (worker >= end)
        end += p->units[++unit].workers;
    add_job(s, unit, worker, node, wave, begin_s, end_s);
    if (s->next.ran)
        s->next.ran(s->next.arg, worker, node, wave, begin_s, end_s);
}

static void passed(void *arg, uint32_t unit, uint32_t node, uint32_t wave, double time_s)
{
    struct dfc_schedule *s = arg;
    add_job(s, unit, DF_NONE, node, wave, time_s, time_s);
    if (s->next.passed)
        s->next.passed(s->next.arg, unit, node, wave, time_s);
}

static void copied(void *arg, uint32_t from, uint32_t to, uint32_t value, uint32_t wave, double begin_s, double end_s)
{
    struct dfc_schedule *s = arg;
    const struct df_unit *units = s->problem->platform->units;
    const struct df_graph *g = s->problem->graph;
    char name[1024];
    df_node_name(g, g->values[value].producer, name, sizeof name);
    dfr_report_table_row(&s->table, (const struct dfr_cell[]){
        DFR_STR(s->policy), DFR_STR("copy"), DFR_NUM(wave), DFR_STR(name), DFR_MISSING, DFR_STR(output_name(g, &g->values[value])),
        DFR_MISSING, DFR_MISSING, DFR_MISSING, DFR_STR(units[from].name), DFR_STR(units[to].name), DFR_NUM(g->values[value].bytes),
        DFR_NUM(begin_s), DFR_NUM(end_s) });
    if (s->next.copied)
        s->next.copied(s->next.arg, from, to, value, wave, begin_s, end_s);
}

/* ---- the file ---- */

static const char *ending(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return dot ? dot : "";
}

static bool is_json(const char *path)
{
    return strcasecmp(ending(path), ".json") == 0;
}

int dfc_set_schedule(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    if (!is_json(text) && strcasecmp(ending(text), ".csv") != 0)
        return dfr_error(error, DF_E_ARGUMENT, "%s=%s: a name that ends in .csv or .json is expected", option->name, text);
    *(const char **)field = text;
    return DF_OK;
}

bool dfc_schedule_open(struct dfc_schedule *s, const char *path, const struct dfp_problem *problem, uint32_t waves)
{
    *s = (struct dfc_schedule){ .problem = problem };
    if (!path)
        return true;
    if (!dfc_output_open(&s->output, path))
        return false;
    dfr_report_table_begin(&s->table, s->output.file, is_json(path) ? DFR_FORM_JSON : DFR_FORM_CSV, DFR_COLUMNS(columns));
    if (s->table.form == DFR_FORM_CSV)
        return true;
    fputs("{\"graph\": ", s->table.out);
    dfr_text_json(s->table.out, problem->graph->name);
    fputs(", \"platform\": ", s->table.out);
    dfr_text_json(s->table.out, problem->platform->name);
    fprintf(s->table.out, ", \"waves\": %u, \"policies\": [", (unsigned)waves);
    return true;
}

void dfc_schedule_begin(struct dfc_schedule *s, const char *policy, struct dfr_simulation *run)
{
    if (!s->table.out)
        return;
    s->policy = policy;
    s->next = *run;
    run->ran = ran;
    run->passed = passed;
    run->copied = copied;
    run->arg = s;
    if (s->table.form == DFR_FORM_JSON)
        fprintf(s->table.out, "%s\n {\"policy\": \"%s\", \"rows\": [", s->more ? "," : "", policy);
    s->more = true;
    s->table.more = false;
}

void dfc_schedule_end(struct dfc_schedule *s, const struct dfr_simulation *run)
{
    if (s->table.out && s->table.form == DFR_FORM_JSON)
        fprintf(s->table.out, "\n ], \"makespan_s\": %.9g}", run->makespan_s);
}

bool dfc_schedule_close(struct dfc_schedule *s, bool keep)
{
    if (!s->table.out)
        return true;
    if (s->table.form == DFR_FORM_JSON)
        fputs("\n]}\n", s->table.out);
    return dfc_output_close(&s->output, keep);
}
