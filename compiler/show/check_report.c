/* check_report.c - prints the report of `dfc check` as text, CSV and JSON (check_report.h). CSV has a line for each promise; JSON has all.
 * Other programs rely on the columns and names, so these must not change.
 */
#include "compiler/show/check_report.h"

#include <math.h>
#include <string.h>

#include "partition/planner/plan_report.h"
#include "runtime/base/message.h"
#include "runtime/base/text.h"

/* ---- texts ---- */

static const char *value_text(const struct df_promise *promise, double value, char *text, size_t size)
{
    if (promise->kind == DF_PROMISE_RATE)
        snprintf(text, size, "%.3g / s", value);
    else if (promise->kind == DF_PROMISE_LATENCY)
        dfr_text_seconds(value, text, size);
    else
        dfr_text_bytes((uint64_t)value, text, size);
    return text;
}

/* Rounds to three digits, in the direction in which it holds. */
static double weaker(const struct df_promise *promise, double value)
{
    const double unit = pow(10, floor(log10(value)) - 2);
    return promise->kind == DF_PROMISE_RATE ? floor(value / unit) * unit : ceil(value / unit) * unit;
}

/* The bound that would hold as the language writes it. */
static char *weaker_text(const struct df_graph *g, uint32_t p, double value, char *text, size_t size)
{
    const struct df_promise *promise = &g->promises[p];
    char bound[32];
    if (promise->kind == DF_PROMISE_MEMORY)
        snprintf(text, size, "memory %s <= %.0f B", df_graph_string(g, promise->unit), value);
    else if (promise->kind == DF_PROMISE_RATE)
        snprintf(text, size, "rate >= %.6g / s", weaker(promise, value));
    else
        snprintf(text, size, "latency <= %s", dfr_text_seconds_6(weaker(promise, value), bound, sizeof bound));
    return text;
}

/* What a wave of the latency at the confidence was spent on. */
static void latency_cause(const struct dfc_check_report *r, const struct df_promise *promise, char *text, size_t size)
{
    const struct dfp_derived *d = r->derived;
    char node[256], other[256], a[32], b[32], c[32], e[32];
    if (d->path.longest == DF_NONE) {
        snprintf(text, size, "no job of a wave takes time");
        return;
    }
    df_node_name(r->problem->graph, d->path.longest, node, sizeof node);
    int n = snprintf(text, size, "a wave that takes %s computes for %s on its longest way, of which %s takes %s on %s (%s on average)",
                     dfr_text_seconds(d->latency_s, c, sizeof c), dfr_text_seconds(d->path.run_s, a, sizeof a), node,
                     dfr_text_seconds(d->path.longest_s, b, sizeof b), r->problem->platform->units[d->unit].name,
                     dfr_text_seconds(dfp_node_time_s(r->problem, d->path.longest, d->unit), e, sizeof e));
    if (d->path.waited_s > 0.01 * d->latency_s && n >= 0 && (size_t)n < size) {
        df_node_name(r->problem->graph, d->path.waited, other, sizeof other);
        n += snprintf(text + n, size - (size_t)n, ", and waits for %s, most of it (%s) before %s", dfr_text_seconds(d->path.wait_s, c, sizeof c),
                      dfr_text_seconds(d->path.waited_s, e, sizeof e), other);
    }
    if (d->least_latency_s > promise->bound && n >= 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, "; no placement on this machine is below %s", dfr_text_seconds(d->least_latency_s, a, sizeof a));
}

/* "" for a promise that is given. */
static void cause_text(const struct dfc_check_report *r, uint32_t p, char *text, size_t size)
{
    const struct df_promise *promise = &r->problem->graph->promises[p];
    const struct dfp_derived *d = r->derived;
    text[0] = '\0';
    if (d->promised[p].given)
        return;
    if (promise->kind == DF_PROMISE_LATENCY)
        latency_cause(r, promise, text, size);
    else if (promise->kind == DF_PROMISE_MEMORY)
        snprintf(text, size, "%u wave%s in flight and the jobs that run meanwhile need it", (unsigned)d->inflight, d->inflight == 1 ? "" : "s");
    else if (promise->bound * d->least_wave_s > 1 + 1e-9)
        snprintf(text, size, "it is limited by %s; no placement on this machine reaches more than %.3g / s", r->limit, 1 / d->least_wave_s);
    else
        snprintf(text, size, "it is limited by %s", r->limit);
}

/* What a change makes of the promises: "rate 50 / s, latency 80 ms". */
static const char *outcome_text(const struct df_graph *g, const struct dfp_derived *d, char *text, size_t size)
{
    static const char *const words[] = { "rate", "latency", "memory" };
    size_t used = 0;
    char value[32];
    text[0] = '\0';
    for (uint32_t p = 0; p < g->n_promises && used < size; p++) {
        const struct df_promise *promise = &g->promises[p];
        used += (size_t)snprintf(text + used, size - used, "%s%s%s%s %s", p ? ", " : "", words[promise->kind], promise->unit ? " " : "",
                                 df_graph_string(g, promise->unit), value_text(promise, d->promised[p].value, value, sizeof value));
    }
    return text;
}

/* The promises that are refused, with bounds that hold. */
static void weaker_texts(const struct dfc_check_report *r, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "promise {");
    for (uint32_t p = 0; p < r->derived->n && used < size; p++) {
        char one[320];
        if (!r->derived->promised[p].given)
            used += (size_t)snprintf(text + used, size - used, " %s;", weaker_text(r->problem->graph, p, r->derived->promised[p].value, one, sizeof one));
    }
    if (used < size)
        snprintf(text + used, size - used, " }");
}

/* ---- rows ---- */

static const struct dfr_column promise_columns[] = {
    DFR_COLUMN("promise", "promise", TEXT), DFR_COLUMN("derived", "value", FACTOR),
    DFR_COLUMN(NULL, "bound", FACTOR), DFR_COLUMN("confidence", "confidence", FACTOR, .digits = 3), DFR_COLUMN("spare", "spare", CHANGE, .digits = 1),
    DFR_COLUMN("verdict", "verdict", TEXT), DFR_COLUMN(NULL, "cause", TEXT),
};

static bool print_promises(const struct dfc_check_report *r, enum dfr_form form, FILE *out)
{
    struct dfr_report_table table = { 0 };
    dfr_report_table_begin(&table, out, form, DFR_COLUMNS(promise_columns));
    for (uint32_t p = 0; p < r->derived->n; p++) {
        const struct dfp_promised *d = &r->derived->promised[p];
        const struct df_promise *promise = &r->problem->graph->promises[p];
        char name[320], value[32], cause[1200];
        cause_text(r, p, cause, sizeof cause);
        dfr_report_table_row(&table, (const struct dfr_cell[]){
            DFR_STR(df_promise_text(r->problem->graph, p, name, sizeof name)), DFR_NUM_AS(d->value, value_text(promise, d->value, value, sizeof value)),
            DFR_NUM(promise->bound), DFR_NUM(promise->confidence), DFR_NUM(d->spare), DFR_STR(d->given ? "given" : "refused"), DFR_STR(cause[0] ? cause : NULL) });
    }
    return dfr_report_table_end(&table);
}

static const struct dfr_column change_columns[] = {
    DFR_COLUMN("change", "change", TEXT), DFR_COLUMN("option", "option", TEXT), DFR_COLUMN("then", "then", TEXT, .width = -1),
};

static bool print_changes(const struct dfc_check_report *r, enum dfr_form form, FILE *out)
{
    const struct df_graph *g = r->problem->graph;
    struct dfr_report_table table = { 0 };
    char text[1024];
    dfr_report_table_begin(&table, out, form, DFR_COLUMNS(change_columns));
    for (unsigned i = 0; i < r->n_remedies; i++)
        dfr_report_table_row(&table, (const struct dfr_cell[]){ DFR_STR(r->remedies[i].what), DFR_STR(r->remedies[i].option[0] ? r->remedies[i].option : NULL),
                                                               DFR_STR(outcome_text(g, &r->remedies[i].derived, text, sizeof text)) });
    weaker_texts(r, text, sizeof text);
    dfr_report_table_row(&table, (const struct dfr_cell[]){ DFR_STR(text), DFR_STR(NULL), DFR_STR("as derived above") });
    return dfr_report_table_end(&table);
}

static const struct dfr_column machine_columns[] = {
    DFR_COLUMN("CPU workers", "workers", COUNT), DFR_COLUMN("GPUs", "gpus", COUNT), DFR_COLUMN("memory of the host", "host_bytes", BYTES),
    DFR_COLUMN("of each GPU", "gpu_bytes", BYTES), DFR_COLUMN("then", "then", TEXT, .width = -1),
};

static bool print_machines(const struct dfc_check_report *r, enum dfr_form form, FILE *out)
{
    struct dfr_report_table table = { 0 };
    dfr_report_table_begin(&table, out, form, DFR_COLUMNS(machine_columns));
    for (unsigned i = 0; i < r->n_machines; i++) {
        const struct dfp_remedy *m = &r->machines[i];
        char text[1024];
        uint64_t most = 0;
        for (uint32_t u = 1; u < m->platform.n_units; u++)
            most = m->derived.memory_bytes[u] > most ? m->derived.memory_bytes[u] : most;
        dfr_report_table_row(&table, (const struct dfr_cell[]){ DFR_NUM(m->platform.units[0].workers), DFR_NUM(m->platform.n_units - 1), DFR_NUM(m->derived.memory_bytes[0]),
                                                               DFR_NUM(most), DFR_STR(outcome_text(r->problem->graph, &m->derived, text, sizeof text)) });
    }
    return dfr_report_table_end(&table);
}

/* ---- forms ---- */

static void print_head(const struct dfc_check_report *r, FILE *out)
{
    const struct dfp_derived *d = r->derived;
    const uint32_t waves = dfp_promise_waves(r->problem->graph);
    unsigned given = 0;
    for (uint32_t p = 0; p < d->n; p++)
        given += d->promised[p].given;
    dfr_message_name(out, r->path);
    fprintf(out, " on %s, placed by %s: %u of %u promise%s given (%u simulated run%s", r->problem->platform->name, r->policy, given, (unsigned)d->n, d->n == 1 ? "" : "s",
            (unsigned)d->runs, d->runs == 1 ? "" : "s");
    if (waves > 1)
        fprintf(out, ", %u waves each, %u in flight", (unsigned)waves, (unsigned)d->inflight);
    fputs(")\n\n", out);
}

static bool print_text(const struct dfc_check_report *r, FILE *out)
{
    bool good;
    print_head(r, out);
    good = print_promises(r, DFR_FORM_TEXT, out);
    for (uint32_t p = 0; p < r->derived->n; p++) {
        char name[320], cause[1200];
        cause_text(r, p, cause, sizeof cause);
        if (cause[0])
            fprintf(out, "\n%s is refused: %s\n", df_promise_text(r->problem->graph, p, name, sizeof name), cause);
    }
    if (!r->derived->given) {
        fputs("\neach of these changes makes all promises hold\n\n", out);
        good &= print_changes(r, DFR_FORM_TEXT, out);
    }
    if (r->n_machines)
        fputs("\nthe least machines on which all promises hold\n\n", out);
    else if (r->asked_machines)
        fputs("\non no machine that was tried all promises hold\n", out);
    return good && (!r->n_machines || print_machines(r, DFR_FORM_TEXT, out));
}

static bool print_json(const struct dfc_check_report *r, FILE *out)
{
    fputs("{\"graph\": ", out);
    dfr_text_json(out, r->problem->graph->name);
    fputs(", \"platform\": ", out);
    dfr_text_json(out, r->problem->platform->name);
    fprintf(out, ", \"policy\": \"%s\", \"given\": %s, \"inflight\": %u, \"runs\": %u,\n \"promises\": [", r->policy, r->derived->given ? "true" : "false",
            (unsigned)r->derived->inflight, (unsigned)r->derived->runs);
    bool good = print_promises(r, DFR_FORM_JSON, out);
    fputs("],\n \"changes\": [", out);
    good = good && (r->derived->given || print_changes(r, DFR_FORM_JSON, out));
    fputs("],\n \"machines\": [", out);
    good = good && print_machines(r, DFR_FORM_JSON, out);
    fputs("]}\n", out);
    return good;
}

bool dfc_check_print(const struct dfc_check_report *r, enum dfr_form form, FILE *out)
{
    return form == DFR_FORM_JSON ? print_json(r, out) : form == DFR_FORM_CSV ? print_promises(r, form, out) : print_text(r, out);
}
