/* cmd_explain.c - `dfc explain GRAPH.df`: prints why each node is placed where it is, what limits the time of a wave,
 * and what would improve it. It runs no kernel.
 */
#include <inttypes.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/commands/command.h"
#include "compiler/emit/emit_slow.h"
#include "compiler/show/explain.h"
#include "compiler/show/listing.h"
#include "compiler/show/shared.h"
#include "partition/planner/plan_report.h"
#include "runtime/base/message.h"
#include "runtime/base/report_table.h"
#include "runtime/base/text.h"

#define DEFAULT_TOP 20
#define DEFAULT_POLICY "gp"
#define LEAST_AHEAD 5e-4                /* relative; an online policy that is ahead by less is as fast */

static const char usage[] =
    "usage: dfc explain GRAPH.df [options]\n\n"
    "Places the nodes of a graph. Says for each node why it is where it is: its times on both units and where they\n"
    "come from, the copies it needs, and what a wave would take if that node alone were moved. Also says what\n"
    "limits the time of a wave. For one wave that is its makespan; for throughput (a graph with a stream, or\n"
    "--objective) it is the time per wave in steady state. Runs no kernel.\n";

struct request {
    struct dfc_common common;
    const char *node;                   /* a pattern, or NULL: those that matter most */
    unsigned long top;
    bool what_if;
    const struct dfw_rates *rates;      /* that the program learnt */
    enum dfr_form form;
};

static const struct dfr_option own_options[] = {
    DFR_HEADING("options"),
    { "--what-if", NULL, "what would be gained by one more GPU, by one more CPU worker, by links twice as fast, by links "
      "between devices that have none, and by a gpu variant of each kernel that has none", DFR_FIELD(FLAG, struct request, what_if) },
    { "--node", "PATTERN", "explain the nodes whose name, or whose output's name, matches a shell pattern (main/blur#2, "
      "blur, 'bl*', img), and say nothing else", DFR_FIELD(TEXT, struct request, node) },
    { "--top", "N", "explain the N nodes that matter most (20), 0: none; for one wave, those on the longest way come first",
      DFR_COUNT(struct request, top, 0, UINT32_MAX) },
    DFC_OPTION_FORMAT("text|csv", struct request, form, "form of the output (text); csv: a line per node, or with --what-if a line per change"),
    DFC_OPTION_OUTPUT("the file for the output; else it goes to standard output"),
    DFC_OPTION_POLICY("POLICY", "the policy that places nodes (" DEFAULT_POLICY ")"),
    DFC_OPTION_WAVES,
    DFC_OPTION_GRAPH,
    { 0 }
};

/* ---- phrases of the output ---- */

static const char *source_name(const struct dfc_explained *e, uint32_t node, uint32_t unit)
{
    const struct df_times *t = e->problem->times;
    uint32_t cls = e->model.cls[unit];
    enum df_time_source source = cls < t->n_classes ? t->source[(size_t)cls * t->n_works + e->problem->graph->nodes[node].work] : DF_TIME_NONE;
    return source == DF_TIME_NONE ? "unknown" : dfc_source_word(source);
}

static const char *unit_name(const struct dfc_explained *e, uint32_t unit)
{
    return unit == DF_NONE ? "" : e->problem->platform->units[unit].name;
}

/* Writes "blur h=64 w=64". */
static void work_name(const struct df_graph *g, uint32_t node, char *text, size_t size)
{
    const struct df_work *work = &g->works[g->nodes[node].work];
    const struct df_kernel *kernel = &g->kernels[work->kernel];
    size_t n = (size_t)snprintf(text, size, "%s", df_graph_string(g, kernel->name));
    for (uint32_t d = 0; d < kernel->n_dims && n < size; d++)
        n += (size_t)snprintf(text + n, size - n, " %s=%llu",
                              df_graph_string(g, g->dim_names[kernel->first_dim + d]),
                              (unsigned long long)g->dims[work->first_dim + d]);
}

/* ---- nodes ---- */

/* learnt: 0 if it is not known. */
static void print_node_rate(FILE *out, const struct df_graph *g, uint32_t node, float learnt)
{
    const float rate = g->nodes[node].rate;
    const bool stated = g->nodes[node].flags & DF_NODE_RATED, differs = learnt > 0 && learnt != rate;
    if (rate != 1.0f || differs)
        fprintf(out, "    rate    it fires in %.4g of the waves (%s)", (double)rate,
                stated ? "stated" : learnt > 0 ? "learnt" : "as its inputs");
    if (differs)
        fprintf(out, "; learnt: %.4g", (double)learnt);
    if (rate != 1.0f || differs)
        fputc('\n', out);
}

static void print_loop(FILE *out, const struct df_graph *g, uint32_t node)
{
    const struct df_kernel *kernel = &g->kernels[g->nodes[node].kernel];
    if (!(kernel->flags & DF_KERNEL_LOOP))
        return;
    const struct df_loop *loop = &g->loops[kernel->loop];
    fprintf(out, "    loop    at most %" PRIu64 " rounds of", loop->most);
    for (uint32_t s = 0; s < loop->n_steps; s++)
        fprintf(out, "%s %s", s ? "," : "", df_graph_string(g, g->kernels[g->steps[loop->first_step + s].kernel].name));
    fputc('\n', out);
}

static void print_node(FILE *out, const struct dfc_explained *e, const struct dfw_rates *rates, uint32_t node,
                       const struct dfc_node_facts *f)
{
    char name[256], work[160], reason[400], a[32], b[32];
    df_node_name(e->problem->graph, node, name, sizeof name);
    work_name(e->problem->graph, node, work, sizeof work);
    dfc_explain_reason(e, node, f, reason, sizeof reason);
    fprintf(out, "%s (%s) on %s%s\n", name, work, unit_name(e, f->unit),
            e->on_way[node] && !e->inflight ? ", on the longest way" : "");
    print_loop(out, e->problem->graph, node);
    if (!dfp_node_is_free(e->problem->graph, node)) {
        fprintf(out, "    time    %s here (%s)", dfp_text_time(a, f->time_s), source_name(e, node, f->unit));
        if (f->other != DF_NONE)
            fprintf(out, ", %s on %s (%s)", dfp_text_time(b, f->other_s), unit_name(e, f->other),
                    source_name(e, node, f->other));
        fputc('\n', out);
    }
    if (f->copies_s > 0 || f->other_copies_s > 0) {
        fprintf(out, "    copies  %s here", dfp_text_time(a, f->copies_s));
        if (f->other != DF_NONE)
            fprintf(out, ", %s on %s", dfp_text_time(b, f->other_copies_s), unit_name(e, f->other));
        fputc('\n', out);
    }
    print_node_rate(out, e->problem->graph, node, dfw_rate_of(rates, e->problem->graph, node));
    fprintf(out, "    why     %s\n", reason);
}

static const struct dfr_column node_columns[] = {
    DFR_COLUMN(NULL, "node", TEXT), DFR_COLUMN(NULL, "unit", TEXT), DFR_COLUMN(NULL, "time_s", SECONDS), DFR_COLUMN(NULL, "source", TEXT),
    DFR_COLUMN(NULL, "copies_s", SECONDS), DFR_COLUMN(NULL, "other", TEXT), DFR_COLUMN(NULL, "other_time_s", SECONDS),
    DFR_COLUMN(NULL, "other_source", TEXT), DFR_COLUMN(NULL, "other_copies_s", SECONDS), DFR_COLUMN(NULL, "moved_s", SECONDS),
    DFR_COLUMN(NULL, "on_longest_way", COUNT), DFR_COLUMN(NULL, "reason", TEXT),
};

static void csv_node(struct dfr_report_table *table, const struct dfc_explained *e, uint32_t node, const struct dfc_node_facts *f)
{
    char name[256], reason[400];
    bool choice = f->other != DF_NONE;
    df_node_name(e->problem->graph, node, name, sizeof name);
    dfc_explain_reason(e, node, f, reason, sizeof reason);
    dfr_report_table_row(table, (const struct dfr_cell[]){
        DFR_STR(name), DFR_STR(unit_name(e, f->unit)), DFR_NUM(f->time_s), DFR_STR(source_name(e, node, f->unit)), DFR_NUM(f->copies_s),
        DFR_STR(unit_name(e, f->other)), DFR_NUM(f->other_s), DFR_STR(choice ? source_name(e, node, f->other) : NULL),
        DFR_NUM(choice ? f->other_copies_s : NAN), DFR_NUM(f->moved_s), DFR_NUM(e->on_way[node]), DFR_STR(reason) });
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Does the pattern match the name, or a part of it that begins after a '/'? */
static bool name_matches(const char *name, const char *pattern)
{
    for (const char *at = name; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
        if (fnmatch(pattern, at, 0) == 0)
            return true;
    return false;
}

/* Does the pattern match the node's name, with or without the number of the call, or the name of one of its outputs? */
static bool is_meant(const struct df_graph *g, uint32_t node, const char *pattern)
{
    char name[256], *number;
    df_node_name(g, node, name, sizeof name);
    if (name_matches(name, pattern))
        return true;
    if ((number = strrchr(name, '#')) != NULL) {
        *number = '\0';
        if (name_matches(name, pattern))
            return true;
    }
    for (uint32_t y = g->nodes[node].first_out; y < g->nodes[node].first_out + df_node_n_out(g, node); y++)
        if (fnmatch(pattern, df_graph_string(g, g->values[y].name), 0) == 0)
            return true;
    return false;
}

/* The nodes that are meant, in the order of the graph. 0: none is (reported). */
static uint32_t list_meant(const struct df_graph *g, const char *pattern, uint32_t *order)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (is_meant(g, v, pattern))
            order[n++] = v;
    if (n == 0)
        dfc_error("--node=%s: no node has this name; 'dfc explain --top=%u' names all", pattern, (unsigned)g->n_nodes);
    return n;
}

/* Prints the nodes that are asked for, or those that matter most; in the order of the graph if these are all nodes. */
static bool print_nodes(FILE *out, const struct request *r, struct dfc_explained *e)
{
    uint32_t n = e->problem->graph->n_nodes, shown = r->top < n ? (uint32_t)r->top : n;
    uint32_t *order = dfc_explain_order(e);
    bool good = order != NULL;
    struct dfr_report_table table = { 0 };
    if (good && r->node)
        good = (shown = n = list_meant(e->problem->graph, r->node, order)) > 0;
    else if (good && shown == n)
        qsort(order, n, sizeof *order, compare_numbers);
    if (good && r->form == DFR_FORM_CSV)
        dfr_report_table_begin(&table, out, r->form, DFR_COLUMNS(node_columns));
    for (uint32_t i = 0; i < shown && good; i++) {
        struct dfc_node_facts facts;
        good = dfc_explain_node(e, order[i], &facts);
        if (good && r->form == DFR_FORM_CSV)
            csv_node(&table, e, order[i], &facts);
        else if (good)
            print_node(out, e, r->rates, order[i], &facts);
    }
    if (good && r->form != DFR_FORM_CSV && shown && shown < n)
        fprintf(out, "… and %u more nodes: --top=%u shows all\n", (unsigned)(n - shown), (unsigned)n);
    if (good && r->form != DFR_FORM_CSV && shown)
        fputc('\n', out);
    free(order);
    return good;
}

/* ---- the whole ---- */

static void add_resource(struct dfr_report_table *table, const char *unit, const char *what, double busy_s, double share)
{
    char name[128], time[32];
    snprintf(name, sizeof name, "%s%s", unit, what);
    dfr_report_table_row(table, (const struct dfr_cell[]){ DFR_STR(name), DFR_STR(dfp_text_time(time, busy_s)), DFR_NUM(share) });
}

static bool print_resources(FILE *out, const struct dfc_explained *e)
{
    const struct df_platform *p = e->problem->platform;
    double all_s = e->wave_s > 0 ? e->wave_s : 1;
    static const struct dfr_column columns[] = {
        DFR_COLUMN("resource", NULL, TEXT), DFR_COLUMN("at work", NULL, TEXT), DFR_COLUMN("of the wave", NULL, SHARE),
    };
    struct dfr_report_table table = { 0 };
    char waves[40] = "";
    dfr_report_table_begin(&table, out, DFR_FORM_TEXT, DFR_COLUMNS(columns));
    for (uint32_t u = 0; u < p->n_units; u++) {
        double busy_s = e->busy_s[u];
        add_resource(&table, p->units[u].name, u ? ", computing" : ", workers", busy_s,
                     busy_s / p->units[u].workers / all_s);
        if (u && p->units[u].engines == 1)
            add_resource(&table, p->units[u].name, ", copies", e->copy_s[u][0] + e->copy_s[u][1],
                         (e->copy_s[u][0] + e->copy_s[u][1]) / all_s);
        if (u && p->units[u].engines == 2) {
            add_resource(&table, p->units[u].name, ", copies to it", e->copy_s[u][1], e->copy_s[u][1] / all_s);
            add_resource(&table, p->units[u].name, ", copies from it", e->copy_s[u][0], e->copy_s[u][0] / all_s);
        }
        if (df_platform_peers(p, u))
            add_resource(&table, p->units[u].name, ", copies to peers", e->copy_s[u][2], e->copy_s[u][2] / all_s);
    }
    for (uint32_t r = 0; r < e->problem->graph->n_resources; r++) {
        const struct df_resource *shared = &e->problem->graph->resources[r];
        add_resource(&table, df_graph_string(e->problem->graph, shared->name), ", shared", e->shared_s[r], e->shared_s[r] / shared->n / all_s);
    }
    if (e->inflight)
        snprintf(waves, sizeof waves, ", %u wave%s in flight", (unsigned)e->inflight, e->inflight == 1 ? "" : "s");
    add_resource(&table, "longest way", waves, e->way_s, e->way_s / all_s / (e->inflight ? e->inflight : 1));
    bool good = dfr_report_table_end(&table);
    if (!good)
        dfc_error("out of memory");
    return good;
}

/* For a plan for rate: what a wave takes in steady state. */
static void print_rate(FILE *out, const struct dfc_explained *e)
{
    char time[32], text[200], passes[48] = "";
    if (e->n_passes > 1)
        snprintf(passes, sizeof passes, ", in %u passes together", (unsigned)e->n_passes);
    int n = snprintf(text, sizeof text, "%s a wave in steady state with %u in flight%s", dfp_text_time(time, e->wave_s),
                     (unsigned)e->inflight, passes);
    if (e->inflight)
        fprintf(out, "waves       %s\n\n", dfp_text_load(text, (size_t)n, e->plan));
}

/* Says by how much an online policy is ahead of the placement, if the plan has one run. The evaluation of one wave
 * knows no memory size: if it is below the prediction, it says nothing about that. */
static bool has_gpus(const struct df_platform *platform)
{
    bool any = false;
    for (uint32_t u = 0; u < platform->n_units; u++)
        any |= platform->units[u].cls == 1;
    return any;
}

static void print_run_as(FILE *out, const struct dfc_explained *e)
{
    const struct df_plan *plan = e->plan;
    double ahead = e->run_s > 0 ? e->wave_s / e->run_s - 1 : 0;
    char time[32];
    if (!plan->run_as[0] || strcmp(plan->run_as, DFP_RUN_PLACED) == 0)
        return;
    if (ahead >= LEAST_AHEAD)
        fprintf(out, "%s found %s %.2g %% faster than any placement (%s%s); the best placement is what follows.\n\n",
                plan->policy, plan->run_as, 100 * ahead, dfp_text_time(time, e->run_s), e->inflight ? " a wave" : "");
    else if (ahead < 0 && !e->inflight)
        fprintf(out, "%s found %s better than any placement (%s); the best placement is what follows.\n\n",
                plan->policy, plan->run_as, dfp_text_time(time, e->run_s));
    else
        fprintf(out, "In a run %s decides; the best placement is %s, and is what follows.\n\n", plan->run_as,
                e->inflight ? "no slower in steady state" : "as fast");
}

static bool print_summary(FILE *out, const struct request *r, const struct dfc_explained *e,
                          const struct dfc_loaded *loaded)
{
    const struct df_plan *plan = e->plan;
    char time[32], bound[32], text[500];
    dfr_message_name(out, r->common.path);
    fprintf(out, " on %s, placed by %s: %s for one wave", e->problem->platform->name, plan->policy,
            dfp_text_time(time, fmax(e->evaluation.makespan_s, plan->predicted_s))); /* the prediction is longer than
                                                                                      * the evaluation if a device's
                                                                                      * memory is short */
    if (plan->lower_bound_s > 0)
        fprintf(out, "; no schedule is shorter than %s", dfp_text_time(bound, plan->lower_bound_s));
    fputs("\n\n", out);
    print_rate(out, e);
    print_run_as(out, e);
    if (e->problem->graph->n_nodes == 0)
        return true;
    double share = dfc_explain_bottleneck(e, text, sizeof text);
    fprintf(out, "bottleneck  %s: %.0f %% of the time%s\n\n", text, 100 * share,
            share < 0.6 ? "; nothing is busy all along: work waits for work" : "");
    if (!print_resources(out, e))
        return false;
    dfc_print_shared(out, e->problem);
    fputc('\n', out);
    dfc_emit_fusion(out, loaded->front);
    if (!dfc_emit_slow(out, loaded->front, has_gpus(e->problem->platform)))
        return false;
    dfc_emit_divisions(out, loaded);
    dfc_emit_passes(out, loaded);
    return !ferror(out);
}

static const char *gpu_note(enum df_time_source source)
{
    return source == DF_TIME_DEFAULT ? " (GPU times assumed)" : source == DF_TIME_ESTIMATED ? " (GPU times estimated)" : "";
}

static bool print_changes(FILE *out, const struct request *r, const struct dfc_explained *e, const char *policy)
{
    struct dfc_change changes[DFC_MOST_CHANGES];
    double now_s = e->run_s;
    int n = dfc_explain_changes(e, policy, changes);
    if (r->form == DFR_FORM_CSV && n >= 0)
        fprintf(out, "change,predicted_s,speedup,gpu_times\nnone,%.9g,1,%s\n", now_s, dfc_source_word(dfc_gpu_source(e->problem)));
    else if (n >= 0)
        fputs("what if there were\n", out);
    for (int i = 0; i < n; i++) {
        char time[32];
        double gain = changes[i].predicted_s > 0 ? now_s / changes[i].predicted_s : 1;
        if (r->form == DFR_FORM_CSV) {
            dfr_text_csv(out, changes[i].what);
            fprintf(out, ",%.9g,%.6g,%s\n", changes[i].predicted_s, gain, dfc_source_word(changes[i].gpu_times));
        } else if (gain < 1.001) {
            fprintf(out, "    no gain        %s%s\n", changes[i].what, gpu_note(changes[i].gpu_times));
        } else {
            fprintf(out, "    %5.2fx faster  %s: %s%s%s\n", gain, changes[i].what,
                    dfp_text_time(time, changes[i].predicted_s), e->inflight ? " a wave" : "", gpu_note(changes[i].gpu_times));
        }
    }
    return n >= 0;
}

static bool print_all(FILE *out, const struct request *r, struct dfc_explained *e, const struct dfc_loaded *loaded,
                      const char *policy)
{
    if (r->form == DFR_FORM_CSV)
        return r->what_if ? print_changes(out, r, e, policy) : print_nodes(out, r, e);
    return (r->node || print_summary(out, r, e, loaded)) && print_nodes(out, r, e) &&
           (!r->what_if || print_changes(out, r, e, policy));
}

static int explain(const struct request *r, const struct dfc_loaded *loaded)
{
    const char *policy = r->common.policy ? r->common.policy : DEFAULT_POLICY;
    struct dfc_explained explained;
    struct dfc_output output;
    struct df_error error = { "" };
    struct df_plan *plan;
    if (dfp_plan_make(&loaded->problem, policy, &r->common.partition, &plan, &error) != DF_OK) {
        dfc_error("%s", error.text);
        return 1;
    }
    bool good = dfc_explain(&loaded->problem, plan, &r->common.partition, &loaded->known, &explained);
    if (good) {
        good = dfc_output_open(&output, r->common.output);
        if (good) {
            good = print_all(output.file, r, &explained, loaded, policy);
            good = dfc_output_close(&output, good) && good;
        }
        dfc_explained_free(&explained);
    }
    dfr_plan_free(plan);
    return good ? 0 : 1;
}

static int run(int argc, char **argv)
{
    struct request r = { .top = DEFAULT_TOP };
    struct dfc_loaded loaded;
    dfp_options_default(&r.common.partition);
    int status = dfc_parse_options(&dfc_command_explain, argc, argv, &r.common);
    if (!status && !dfc_policy_places(r.common.policy))
        status = 2;
    if (!status && !dfc_load(&r.common, false, &loaded)) {
        status = 1;
    } else if (!status) {
        r.rates = &loaded.rates;
        status = dfc_check_memory(&loaded) ? explain(&r, &loaded) : 1;
        dfc_unload(&loaded);
    }
    dfc_common_free(&r.common);
    return status;
}

const struct dfc_command dfc_command_explain = { "explain", "say why each node is where it is, and what would help",
                                                 usage, run, DFC_OPTIONS({ own_options, 0 }, { dfc_options_common, 0 }) };
