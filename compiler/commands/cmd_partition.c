/* cmd_partition.c - `dfc partition GRAPH.df`: shows which unit each node is placed on, as a table, a picture, CSV or
 * JSON. It also draws the memory plan (--memory), and writes the jobs and copies of one wave (--schedule).
 */
#include "compiler/commands/command.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/schedule/placement.h"
#include "compiler/schedule/schedule.h"
#include "compiler/show/listing.h"
#include "compiler/show/memory_report.h"
#include "compiler/show/shared.h"
#include "compiler/tools/home.h"
#include "compiler/tools/picture_file.h"
#include "partition/draw/draw.h"
#include "partition/cut/metis_graph.h"
#include "partition/planner/plan_report.h"
#include "runtime/base/error.h"
#include "runtime/base/message.h"
#include "runtime/policy/policy.h"
#include "runtime/simulate/simulate.h"
#include "runtime/policy/frames.h"

#define MAX_PICTURES 16

enum form { FORM_DOT, FORM_SVG, FORM_MEMORY };

struct wanted {                         /* one picture */
    const char *option, *path;
    enum form form;
};

struct options {
    struct dfc_common common;
    struct wanted pictures[MAX_PICTURES];
    size_t n_pictures;
    bool waits;
    enum dfr_form form;
    const char *schedule;
};

/* ---- the command line ---- */

static bool has_suffix(const char *text, const char *suffix)
{
    size_t n = strlen(text), k = strlen(suffix);
    return n > k && strcmp(text + n - k, suffix) == 0;
}

static int add_picture(struct options *o, const char *option, const char *path, enum form form, struct df_error *error)
{
    if (!dfc_output_is_picture(option, path, form == FORM_DOT ? "DOT" : "SVG"))
        return DF_E_ARGUMENT;
    if (o->n_pictures == MAX_PICTURES)
        return dfr_error(error, DF_E_ARGUMENT, "more than %d pictures", MAX_PICTURES);
    for (size_t i = 0; i < o->n_pictures; i++)
        if (!dfc_outputs_apart(o->pictures[i].option, o->pictures[i].path, option, path))
            return DF_E_ARGUMENT;
    o->pictures[o->n_pictures++] = (struct wanted){ option, path, form };
    return DF_OK;
}

/* -o, --dot, --svg and --memory. */
static int set_picture(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    const char third = option->name[2];
    if (third)
        return add_picture(field, option->name, text, third == 'd' ? FORM_DOT : third == 's' ? FORM_SVG : FORM_MEMORY, error);
    if (has_suffix(text, ".svg") || has_suffix(text, ".png"))
        return add_picture(field, option->name, text, FORM_SVG, error);
    if (has_suffix(text, ".dot") || has_suffix(text, ".gv"))
        return add_picture(field, option->name, text, FORM_DOT, error);
    return dfr_error(error, DF_E_ARGUMENT, "-o %s: a name that ends in .dot, .gv, .svg or .png is expected", text);
}

static const struct dfr_option own_options[] = {
    DFR_HEADING("pictures, any number of them, coloured by unit, with the cut dashed and the longest path of "
                "dependencies heavy"),
    { "-o", "FILE", "SVG, PNG or DOT, as FILE ends in .svg, .png, or .dot or .gv", DFR_SET_ALL(set_picture) },
    { "--dot", "FILE", "DOT, whatever its ending; '-' is standard output, and the summary goes to stderr then", DFR_SET_ALL(set_picture) },
    { "--svg", "FILE", "the same as SVG; PNG if FILE ends in .png", DFR_SET_ALL(set_picture) },
    { "--waits", NULL, "the heavy path is the chain of jobs that takes as long as the wave; a dotted line says that a job waits for "
      "another's worker", DFR_FIELD(FLAG, struct options, waits) },
    { "--memory", "FILE", "the memory plan as SVG or PNG: offset against time, with the bound dashed", DFR_SET_ALL(set_picture) },
    DFR_HEADING("figures"),
    DFC_OPTION_FORMAT("text|csv|json", struct options, form, "form of the output (text); csv: a line per node, with unit, worker, start and end; "
                      "json: these, units, cut and predicted times"),
    { "--schedule", "FILE", "the jobs and copies of one wave, with unit, worker, start and end: CSV if FILE ends in .csv, "
      "JSON if it ends in .json", DFR_SET(dfc_set_schedule, struct options, schedule) },
    DFC_OPTION_WAVES,
    DFC_OPTION_GRAPH,
    { 0 }
};

static int parse(struct options *o, int argc, char **argv)
{
    int status = dfc_parse_options(&dfc_command_partition, argc, argv, &o->common);
    struct df_error error = { "" };
    for (size_t i = 0; i < o->n_pictures && !status; i++)
        if (!dfc_outputs_apart(o->pictures[i].option, o->pictures[i].path, "--schedule", o->schedule))
            status = 2;
    if (status || !o->common.policy || dfp_partitioner_find(o->common.policy))
        return status;
    if (dfr_policy_find(o->common.policy, &error))
        return 0;
    dfc_error("--policy: %s", error.text);
    return 2;
}

/* ---- the plan, and a wave of it ---- */

static bool allocate_run(struct dfr_simulation *run, size_t n_nodes, struct df_error *error)
{
    size_t n = n_nodes + 1;
    *run = (struct dfr_simulation){ .place = calloc(n, sizeof *run->place), .worker = calloc(n, sizeof *run->worker),
                                    .start_s = calloc(n, sizeof *run->start_s), .end_s = calloc(n, sizeof *run->end_s) };
    if (run->place && run->worker && run->start_s && run->end_s)
        return true;
    dfr_error_memory(error);
    return false;
}

static void free_run(struct dfr_simulation *run)
{
    free(run->place);
    free(run->worker);
    free(run->start_s);
    free(run->end_s);
}

/* Makes a plan of what an online policy did in a simulated run. The priorities are the order in which its jobs
 * started. */
static int plan_of_run(const struct dfp_problem *problem, const char *policy, const struct dfr_simulation *run,
                       struct df_plan **plan, struct df_error *error)
{
    float *priority = calloc(problem->graph->n_nodes + (size_t)1, sizeof *priority);
    if (!priority)
        return dfr_error_memory(error);
    for (uint32_t v = 0; v < problem->graph->n_nodes; v++)
        priority[v] = (float)-run->start_s[v];
    struct dfp_result result = { .place = run->place, .priority = priority, .makespan_s = run->makespan_s };
    snprintf(result.run_as, sizeof result.run_as, "%s", policy);
    int code = dfp_plan_of_result(problem, policy, &result, plan, error);
    free(priority);
    return code;
}

/* Makes the plan. Simulates a wave of it if that wave is shown. An online policy's plan is made of its wave. */
static int make_plan(const struct options *o, const struct dfp_problem *problem, const char *policy,
                     struct dfc_schedule *schedule, struct dfr_simulation *run, struct df_plan **plan,
                     struct df_error *error)
{
    struct dfr_simulate_options options = { .policy = policy, .waves = 1, .inflight = 1,
                                            .seed = o->common.partition.seed };
    bool online = !dfp_partitioner_find(policy);
    int code = online ? DF_OK : dfp_plan_make(problem, policy, &o->common.partition, plan, error);
    if (code || !(online || o->schedule || o->form != DFR_FORM_TEXT))
        return code;
    options.plan = *plan;
    dfc_schedule_begin(schedule, policy, run);
    code = dfr_simulate(problem->graph, problem->platform, problem->times, &options, run, error);
    dfc_schedule_end(schedule, run);
    return code || !online ? code : plan_of_run(problem, policy, run, plan, error);
}

/* ---- the summary ---- */

static const char *source_in_words(const char *source)
{
    return !strcmp(source, "file")    ? "from the file of --platform"
           : !strcmp(source, "graph") ? "declared in the .df"
           : !strcmp(source, "probe") ? "measured by 'dfc probe'"
                                      : "a stated default: 'dfc probe' measures this machine";
}

static void print_policy(FILE *out, const struct options *o, const struct dfp_problem *problem,
                         const struct df_plan *plan)
{
    const struct dfp_options *partition = &o->common.partition;
    struct dfp_model model;
    double share[DF_MAX_UNITS];
    fprintf(out, "policy     %s", plan->policy);
    if (!strcmp(plan->policy, "gp-thesis") && dfp_model_init(&model, problem, NULL) == DF_OK) {
        dfp_target_shares(&model, partition->ratio, share);
        fprintf(out, ", vertex weight %s, seed %u, target shares by %s times:",
                partition->vertex_weight == DFP_WEIGHT_CPU ? "cpu" : "gpu", (unsigned)partition->seed,
                partition->ratio == DFP_RATIO_PER_WORKER ? "per-worker" : "total");
        for (uint32_t u = 0; u < problem->platform->n_units; u++)
            fprintf(out, "%s %s %.1f %%", u ? "," : "", problem->platform->units[u].name, 100 * share[u]);
    }
    fputs("\n\n", out);
}

static void print_units(FILE *out, const struct dfp_problem *problem, const struct dfp_report *report)
{
    const struct dfp_evaluation *e = &report->evaluation;
    const struct df_platform *platform = problem->platform;
    double all_s = 0;
    for (uint32_t u = 0; u < platform->n_units; u++)
        all_s += e->busy_s[u];
    fprintf(out, "%-16s %8s %9s %10s %7s %7s\n", "unit", "workers", "nodes", "load", "share", "busy");
    for (uint32_t u = 0; u < platform->n_units; u++) {
        const struct df_unit *unit = &platform->units[u];
        char load[32];
        fprintf(out, "%-16s %8u %9u %10s %5.1f %% %5.1f %%\n", unit->name, (unsigned)unit->workers,
                (unsigned)e->nodes[u], dfp_text_time(load, e->busy_s[u]), all_s > 0 ? 100 * e->busy_s[u] / all_s : 0.0,
                e->makespan_s > 0 ? 100 * e->busy_s[u] / (e->makespan_s * unit->workers) : 0.0);
    }
    fputc('\n', out);
}

static void print_memory(FILE *out, const struct df_plan *plan, uint32_t inflight)
{
    for (uint32_t u = 0; u < plan->platform.n_units; u++) {
        char need[32], bound[32], scratch[32], job[32], promise[160];
        const struct df_unit *unit = &plan->platform.units[u];
        const struct df_memory_need *memory = &plan->memory[u];
        fprintf(out, "memory     %s needs %s for one wave in any order (at least %s)", unit->name,
                dfp_text_bytes(need, plan->pool_bytes[u]),
                dfp_text_bytes(bound, memory->wave_bound_bytes + memory->once_bytes + memory->scratch_bytes));
        if (memory->scratch_bytes)
            fprintf(out, ", %s of that for scratch", dfp_text_bytes(scratch, memory->scratch_bytes));
        if (u)
            fprintf(out, ", %s for its largest job", dfp_text_bytes(job, plan->largest_job_bytes[u]));
        dfp_text_promise(promise, plan, u, inflight);
        fprintf(out, "%s%s\n", *promise ? "; " : "", promise);
    }
}

/* What frames that wait take on the host. */
static void print_live(FILE *out, const struct df_graph *g)
{
    for (uint32_t v = 0; g->n_live > 0 && v < g->n_nodes; v++) {
        const struct df_live *live = df_node_live(g, v);
        char name[256], bytes[32];
        if (!live || !live->newest)
            continue;
        const uint32_t n = live->newest + DFR_FRAMES_SPARE;
        df_node_name(g, v, name, sizeof name);
        fprintf(out, "live       %s has %u places for frames, %s of the host's memory; a thread beside the workers fills them\n", name, (unsigned)n,
                dfp_text_bytes(bytes, n * dfr_frames_offset(g, v, g->kernels[g->nodes[v].kernel].n_ports)));
    }
}

static bool print_singles(FILE *out, const struct dfp_problem *problem, struct df_error *error)
{
    fprintf(out, "all on    ");
    for (uint32_t u = 0; u < problem->platform->n_units; u++) {
        char time[32];
        double makespan_s;
        if (dfp_predict_all(problem, u, &makespan_s, error) != DF_OK)
            return false;
        fprintf(out, "%s %s %s", u ? "," : "", problem->platform->units[u].name, dfp_text_time(time, makespan_s));
    }
    fputs(" (predicted)\n", out);
    return true;
}

static bool print_summary(FILE *out, const struct options *o, const struct dfc_loaded *loaded,
                          const struct df_plan *plan, struct df_error *error)
{
    const struct dfp_problem *problem = &loaded->problem;
    struct dfp_report report;
    char a[32], b[32], remark[128], waves[200], times[250];
    if (dfp_report_make(problem, plan, &report, error) != DF_OK)
        return false;
    const struct dfp_evaluation *e = &report.evaluation;
    dfr_message_name(out, o->common.path);
    fprintf(out, ": %u nodes, %u arcs\n", (unsigned)problem->graph->n_nodes, (unsigned)report.n_arcs);
    fprintf(out, "platform   %s, %s\n", problem->platform->name, source_in_words(loaded->platform_source));
    dfc_times_text(problem->times, times, sizeof times);
    fprintf(out, "times      %s\n", times);
    print_policy(out, o, problem, plan);
    dfc_emit_divisions(out, loaded);
    dfc_emit_passes(out, loaded);
    print_units(out, problem, &report);
    fprintf(out, "cut        %u of %u arcs, %s, %s of transfers\n", (unsigned)report.cut_arcs, (unsigned)report.n_arcs,
            dfp_text_bytes(a, e->cut_bytes), dfp_text_time(b, e->cut_s));
    fprintf(out, "copies     %u to devices (%s), %u back (%s)", (unsigned)e->h2d_copies,
            dfp_text_bytes(a, e->h2d_bytes), (unsigned)e->d2h_copies, dfp_text_bytes(b, e->d2h_bytes));
    if (e->peer_copies)
        fprintf(out, ", %u between them (%s)", (unsigned)e->peer_copies, dfp_text_bytes(a, e->peer_bytes));
    fputc('\n', out);
    print_memory(out, plan, o->common.inflight);
    print_live(out, problem->graph);
    fprintf(out, "predicted  %s for one wave", dfp_text_time(a, plan->predicted_s));
    if (plan->run_as[0] && strcmp(plan->run_as, DFP_RUN_PLACED) && !plan->inflight)
        fprintf(out, " as %s decides in the run; %s with these places fixed", plan->run_as,
                dfp_text_time(b, e->makespan_s));
    fputc('\n', out);
    if (dfp_text_waves(waves, plan)[0])
        fprintf(out, "waves      %s\n", waves);
    if (!print_singles(out, problem, error))
        return false;
    fflush(out);
    if (dfp_text_remark(remark, problem, &report)[0])
        dfc_warning("this partition does not pay: %s", remark);
    return true;
}

/* ---- pictures ---- */

static bool draw_memory(const char *path, const struct dfp_problem *problem, const struct df_plan *plan,
                        struct df_error *error)
{
    struct dfc_picture picture;
    if (!dfc_picture_open(&picture, path))
        return false;
    bool drawn = dfc_emit_memory_picture(picture.file, problem, plan, error) == DF_OK;
    if (!drawn)
        dfc_error("%s", error->text);
    return dfc_picture_close(&picture, drawn);
}

static bool draw(const struct wanted *wanted, const struct dfp_drawing *how, const struct dfp_problem *problem,
                 const struct df_plan *plan, struct df_error *error)
{
    char *text;
    size_t size;
    bool summarised;
    uint32_t n = problem->graph->n_nodes;
    if (wanted->form == FORM_MEMORY)
        return draw_memory(wanted->path, problem, plan, error);
    dfc_home_graphviz();
    int code = wanted->form == FORM_SVG ? dfp_draw_svg(problem, plan, how, &text, &size, &summarised, error)
                                        : dfp_draw_dot(problem, plan, how, &text, &size, &summarised, error);
    if (code != DF_OK) {
        dfc_error("%s", error->text);
        return false;
    }
    bool good = dfc_picture_write(wanted->path, text, size);
    free(text);
    if (good && summarised)
        dfc_note("%u nodes are too many to draw: '%s' shows groups of them, with counts and loads", (unsigned)n,
                 wanted->path);
    return good;
}

static bool draw_all(const struct options *o, const struct dfc_loaded *loaded, const struct df_plan *plan, struct df_error *error)
{
    char *choices = o->n_pictures ? dfc_choices_text(loaded) : NULL;
    const struct dfp_drawing how = { o->waits, choices };
    bool good = choices || !o->n_pictures;
    for (size_t i = 0; i < o->n_pictures && good; i++)
        good = draw(&o->pictures[i], &how, &loaded->problem, plan, error);
    free(choices);
    return good;
}

static bool print_figures(FILE *out, const struct options *o, const struct dfc_loaded *loaded,
                          const struct df_plan *plan, const struct dfr_simulation *run, struct df_error *error)
{
    const struct dfc_placement placement = { &loaded->problem, plan, run };
    if (o->form == DFR_FORM_JSON)
        return dfc_placement_json(out, &placement, error) == DF_OK;
    if (o->form == DFR_FORM_TEXT)
        return print_summary(out, o, loaded, plan, error);
    dfc_placement_csv(out, &placement);
    return true;
}

/* Makes the plan, and prints its figures and its schedule. */
static bool find_out(FILE *out, const struct options *o, const struct dfc_loaded *loaded, struct df_plan **plan,
                     struct df_error *error)
{
    const char *policy = o->common.policy ? o->common.policy : dfc_default_placer(loaded);
    const struct dfp_problem *problem = &loaded->problem;
    struct dfr_simulation run;
    struct dfc_schedule schedule;
    if (!dfc_schedule_open(&schedule, o->schedule, problem, 1))
        return false;
    bool good = allocate_run(&run, problem->graph->n_nodes, error) &&
                make_plan(o, problem, policy, &schedule, &run, plan, error) == DF_OK &&
                print_figures(out, o, loaded, *plan, &run, error);
    free_run(&run);
    if (!good)
        dfc_error("%s", error->text);
    return dfc_schedule_close(&schedule, good) && good;
}

static int show(const struct options *o, const struct dfc_loaded *loaded)
{
    struct df_error error = { "" };
    struct df_plan *plan = NULL;
    FILE *out = stdout;
    bool good = dfc_output_check(&o->common, loaded, o->schedule);
    for (size_t i = 0; i < o->n_pictures && good; i++)
        good = dfc_output_check(&o->common, loaded, o->pictures[i].path);
    for (size_t i = 0; i < o->n_pictures; i++)
        if (!strcmp(o->pictures[i].path, "-"))
            out = stderr;               /* the picture goes to standard output */
    good = good && find_out(out, o, loaded, &plan, &error) && draw_all(o, loaded, plan, &error);
    dfr_plan_free(plan);
    return good ? 0 : 1;
}

static int run(int argc, char **argv)
{
    struct options o = { 0 };
    struct dfc_loaded loaded;
    dfp_options_default(&o.common.partition);
    int status = parse(&o, argc, argv);
    if (!status && !dfc_load(&o.common, false, &loaded)) {
        status = 1;
    } else if (!status) {
        status = dfc_check_memory(&loaded) ? show(&o, &loaded) : 1;
        dfc_unload(&loaded);
    }
    dfc_common_free(&o.common);
    return status;
}

static const char usage[] =
    "usage: dfc partition GRAPH.df [-o FILE.svg|FILE.png|FILE.dot]… [options]\n\n"
    "Places the nodes of a graph on the units of a platform and prints what follows: load, cut and predicted time.\n"
    "Runs no kernel. Every policy may be named; one that decides while a program runs is shown by a simulated run.\n"
    "A picture of more than 60 nodes has fewer words, one of more than 300 shows groups of nodes.\n";

const struct dfc_command dfc_command_partition = {
    "partition", "show where each node will run, in figures and as a picture", usage, run, DFC_OPTIONS({ own_options, 0 }, { dfc_options_common, 0 })
};
