/* schedule.c - writes the schedule of simulated runs while they run (schedule.h). */
#include "compiler/schedule/schedule.h"

#include <string.h>
#include <strings.h>

#include "compiler/tools/messages.h"
#include "partition/model/model.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"

/* ---- rows ---- */

static void begin_row(struct dfc_schedule *s, const char *kind, uint32_t wave, uint32_t node)
{
    dfc_row_begin(&s->rows);
    if (!s->rows.json)
        dfc_row_text(&s->rows, "policy", s->policy);
    dfc_row_text(&s->rows, "kind", kind);
    dfc_row_count(&s->rows, "wave", wave);
    dfc_row_node(&s->rows, s->problem->graph, node);
}

static void end_row(struct dfc_schedule *s, double start_s, double end_s)
{
    dfc_row_seconds(&s->rows, "start_s", start_s);
    dfc_row_seconds(&s->rows, "end_s", end_s);
    dfc_row_end(&s->rows);
}

static void add_job(struct dfc_schedule *s, uint32_t unit, uint32_t worker, uint32_t node, uint32_t wave,
                    double start_s, double end_s)
{
    const struct df_graph *g = s->problem->graph;
    const struct dfp_model model = { .problem = s->problem };
    begin_row(s, "job", wave, node);
    dfc_row_text(&s->rows, "kernel", df_graph_string(g, g->kernels[g->nodes[node].kernel].name));
    dfc_row_none(&s->rows, "output");
    dfc_row_worker(&s->rows, s->problem->platform, unit, worker);
    dfc_row_count(&s->rows, "threads", worker == DF_NONE ? 0 : dfp_model_workers(&model, node, unit));
    dfc_row_none(&s->rows, "from");
    dfc_row_none(&s->rows, "to");
    dfc_row_none(&s->rows, "bytes");
    end_row(s, start_s, end_s);
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
    begin_row(s, "copy", wave, g->values[value].producer);
    dfc_row_none(&s->rows, "kernel");
    dfc_row_text(&s->rows, "output", output_name(g, &g->values[value]));
    dfc_row_none(&s->rows, "unit");
    dfc_row_none(&s->rows, "worker");
    dfc_row_none(&s->rows, "threads");
    dfc_row_text(&s->rows, "from", units[from].name);
    dfc_row_text(&s->rows, "to", units[to].name);
    dfc_row_count(&s->rows, "bytes", g->values[value].bytes);
    end_row(s, begin_s, end_s);
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
    s->rows = (struct dfc_rows){ .out = s->output.file, .json = is_json(path) };
    if (!s->rows.json) {
        fputs("policy,kind,wave,node,kernel,output,unit,worker,threads,from,to,bytes,start_s,end_s\n", s->rows.out);
        return true;
    }
    fputs("{\"graph\": ", s->rows.out);
    dfr_text_json(s->rows.out, problem->graph->name);
    fputs(", \"platform\": ", s->rows.out);
    dfr_text_json(s->rows.out, problem->platform->name);
    fprintf(s->rows.out, ", \"waves\": %u, \"policies\": [", (unsigned)waves);
    return true;
}

void dfc_schedule_begin(struct dfc_schedule *s, const char *policy, struct dfr_simulation *run)
{
    if (!s->rows.out)
        return;
    s->policy = policy;
    s->next = *run;
    run->ran = ran;
    run->passed = passed;
    run->copied = copied;
    run->arg = s;
    if (s->rows.json)
        fprintf(s->rows.out, "%s\n {\"policy\": \"%s\", \"rows\": [", s->more ? "," : "", policy);
    s->more = true;
    s->rows.more = false;
}

void dfc_schedule_end(struct dfc_schedule *s, const struct dfr_simulation *run)
{
    if (s->rows.out && s->rows.json)
        fprintf(s->rows.out, "\n ], \"makespan_s\": %.9g}", run->makespan_s);
}

bool dfc_schedule_close(struct dfc_schedule *s, bool keep)
{
    if (!s->rows.out)
        return true;
    if (s->rows.json)
        fputs("\n]}\n", s->rows.out);
    return dfc_output_close(&s->output, keep);
}
