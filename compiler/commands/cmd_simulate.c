/* cmd_simulate.c - `dfc simulate GRAPH.df`: predicts how each policy would execute a graph on a platform, by simulation
 * in virtual time. It also draws a run (--gantt), writes its jobs (--schedule), and repeats runs with erroneous times
 * (--error). It runs no kernel, so a graph with costs and no code suffices.
 */
#include "compiler/commands/command.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/show/gantt.h"
#include "compiler/tools/picture_file.h"
#include "compiler/commands/simulate_error.h"
#include "compiler/schedule/schedule.h"
#include "compiler/show/listing.h"
#include "compiler/show/shared.h"
#include "compiler/show/simulate_report.h"
#include "partition/gp/gp.h"
#include "runtime/base/error.h"
#include "runtime/graph/builder.h"
#include "runtime/graph/passes.h"
#include "runtime/program/args.h"
#include "runtime/threads/clock.h"
#include "runtime/policy/next_use.h"
#include "runtime/policy/policy.h"

#define RATE_STEPS (UINT64_C(1) << 26) /* arcs that the bound of many waves may look at: under a second */
#define MAX_WAVES 1000000
#define MAX_DRAWS 10000

static const char usage[] =
    "usage: dfc simulate GRAPH.df [options]\n\n"
    "Runs a graph in virtual time under several policies, by its times (cost clauses, else measured, else a stated\n"
    "default), and compares their makespans, transfers and utilisation. Runs no kernel. The same input gives the same\n"
    "output, except for the time that planning takes.\n";

struct request {
    struct dfc_common common;
    struct dfc_policies policies;       /* all: some may not apply */
    enum dfr_form form;
    uint32_t waves, passes;
    bool locality, prefetch;
    bool fewer;                         /* no --inflight was given: fewer waves are in flight if more do not fit, as in
                                         * a run */
    const char *gantt, *schedule;
    bool guard;
    int evict;
    struct dfc_error_study error;
};

/* ---- options ---- */

/* With --policy=all, policies that do not know the next uses may not use belady: each takes the best that it can. */
static int evict(const struct request *r)
{
    return r->policies.all && r->evict == DF_EVICT_BELADY ? DF_EVICT_AUTO : r->evict;
}

static int set_error(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    struct df_error inner = { "" };
    if (dfc_error_parse(text, field, &inner) == DF_OK)
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT, "%s=%s: %s", option->name, text, inner.text);
}

static const struct dfr_option own_options[] = {
    DFR_HEADING("options"),
    DFC_OPTION_POLICY("POLICY,…|all", "policies to simulate (all)"),
    DFC_OPTION_FORMAT("text|csv|json", struct request, form, "form of the output (text)"),
    { "--lock", "FILE", "the plan of this lock file, which 'dfc plan' wrote, for the policy that it names; the others plan as ever",
      DFR_FIELD(NAME, struct dfc_common, lock) },
    DFC_OPTION_OUTPUT("the file for the figures; else they go to standard output"),
    { "--gantt", "FILE.svg", "a picture of who does what and when, PNG if FILE ends in .png: a row for each worker and "
      "copy engine, with the critical path outlined; with several policies, a file for each: "
      "FILE-POLICY.svg", DFR_FIELD(NAME, struct request, gantt) },
    { "--schedule", "FILE", "the jobs of all waves and the copies, with unit, worker, start and end: CSV if FILE ends in "
      ".csv, JSON if it ends in .json; all policies in one file", DFR_SET(dfc_set_schedule, struct request, schedule) },
    { "--waves", "N", "waves to run (1); several are in flight together, and gp plans for throughput", DFR_COUNT(struct request, waves, 1, MAX_WAVES) },
    { "--passes", "N", "the waves go by N times, for the parts of a divided acc in turn (as often as these need to fit in a device's "
      "memory)", DFR_COUNT(struct request, passes, 1, DF_MAX_PARTS) },
    { "--dl", NULL, "data locality: a device prefers jobs that reuse data in its memory", DFR_FIELD(FLAG, struct request, locality) },
    { "--prefetch", NULL, "a device takes one job more than it runs, and loads its data meanwhile", DFR_FIELD(FLAG, struct request, prefetch) },
    { "--guard", "on|off", "gp leaves its plan if times turn out wrong (on)", DFR_FIELD(ON_OFF, struct request, guard) },
    { "--evict", "auto|lru|belady", "what leaves a device's memory when room is needed: what was used longest ago (lru), or "
      "what is needed again last (belady). auto: belady under policies that place jobs "
      "before the run, else lru", DFR_FIELD(WORD, struct request, evict) },
    { "--error", "KIND", "compare the policies with dmda in runs with wrong times. sigma:S: the times that jobs take are "
      "drawn around those that policies are told (lognormal); off:PERCENT: policies are told times "
      "that much above or below those that jobs take; confound:PERCENT: they are told low speedups "
      "that much higher, and high ones that much lower", DFR_SET(set_error, struct request, error) },
    { "--draws", "N", "how many times wrong times are drawn, from --seed on (40)", DFR_COUNT(struct request, error.draws, 1, MAX_DRAWS) },
    DFC_OPTION_GRAPH,
    { 0 }
};

static bool check_evict(const struct request *r)
{
    struct df_error error = { "" };
    bool wanted;
    for (unsigned i = 0; i < r->policies.n; i++)
        if (dfr_next_use_wanted(evict(r), dfr_policy_find(r->policies.names[i], &error), &wanted, &error) != DF_OK) {
            dfc_error("%s", error.text);
            return false;
        }
    return true;
}

/* Makes "g-dmda.svg" of "g.svg" and "dmda". NULL: no memory (reported). */
static char *picture_path(const struct request *r, const char *policy)
{
    const char *slash = strrchr(r->gantt, '/'), *dot = strrchr(slash ? slash : r->gantt, '.');
    int stem = (int)(dot ? (size_t)(dot - r->gantt) : strlen(r->gantt));
    char *path = NULL;
    if (r->policies.n == 1)
        path = strdup(r->gantt);
    else if (asprintf(&path, "%.*s-%s%s", stem, r->gantt, policy, dot ? dot : "") < 0)
        path = NULL;
    if (!path)
        dfc_error("out of memory");
    return path;
}

static bool check_apart(const struct request *r)
{
    bool good = dfc_outputs_apart("-o", r->common.output, "--schedule", r->schedule);
    for (unsigned i = 0; r->gantt && i < r->policies.n && good; i++) {
        char *path = picture_path(r, r->policies.names[i]);
        good = path && dfc_outputs_apart("-o", r->common.output, "--gantt", path) &&
               dfc_outputs_apart("--gantt", path, "--schedule", r->schedule);
        free(path);
    }
    return good;
}

static int parse(struct request *r, int argc, char **argv)
{
    int status = dfc_parse_options(&dfc_command_simulate, argc, argv, &r->common);
    if (!status && r->gantt && !dfc_output_is_picture("--gantt", r->gantt, "SVG"))
        status = 2;
    if (!status && r->error.kind && (r->gantt || r->schedule || r->form == DFR_FORM_JSON)) {
        dfc_error("--error: prints its table as text or csv, draws no picture and writes no schedule");
        status = 2;
    }
    return status ? status : dfc_policies_read(&r->policies, r->common.policy ? r->common.policy : "all", NULL, true) && check_apart(r) && check_evict(r) ? 0 : 2;
}

/* Should the number of jobs in flight be found? --gpu-jobs decides. Without it, the number is found if the machine was
 * probed, as in a run; else the platform's own number counts. */
static bool finds_jobs(const struct request *r, const struct dfc_loaded *loaded)
{
    return r->common.gpu_jobs ? r->common.gpu_jobs == DF_FIND_JOBS : strcmp(loaded->platform_source, "probe") == 0;
}

/* If a device's memory may be too small for all waves, plans must say how much of it they need. */
static void plan_memory(struct request *r, const struct df_platform *platform)
{
    for (uint32_t u = 1; u < platform->n_units && r->fewer; u++)
        if (platform->units[u].memory_bytes)
            r->common.partition.no_memory = false;
}

/* With --policy=all on a platform without a GPU, leaves out all-gpu, which would have nothing to decide. */
static void drop_inapplicable(struct request *r, const struct df_platform *platform)
{
    unsigned n = 0;
    if (!r->policies.all || platform->n_units > 1)
        return;
    for (unsigned i = 0; i < r->policies.n; i++)
        if (strcmp(r->policies.names[i], "all-gpu"))
            r->policies.names[n++] = r->policies.names[i];
    r->policies.n = n;
}

/* ---- simulations ---- */

static void sum_busy(const struct df_platform *platform, struct dfc_simulated *row)
{
    for (uint32_t u = 0; u < platform->n_units; u++)
        *(u ? &row->gpu_busy_s : &row->cpu_busy_s) += row->simulation.busy_s[u];
}

static int simulate(const struct request *r, const struct dfc_loaded *loaded, struct dfc_simulated *row,
                    struct dfc_gantt *gantt, struct dfc_schedule *schedule, struct df_error *error)
{
    const struct dfp_problem *problem = &loaded->problem;
    struct df_plan *plan = NULL;
    const uint32_t passes = r->passes || !dfp_partitioner_find(row->policy) ? r->passes : loaded->passes.n;
    struct dfr_simulate_options options = { .policy = row->policy, .waves = r->waves, .passes = passes, .inflight = r->common.inflight,
                                            .seed = r->common.partition.seed, .locality = r->locality,
                                            .prefetch = r->prefetch, .find_jobs = finds_jobs(r, loaded),
                                            .no_guard = !r->guard, .evict = evict(r) };
    if (dfr_policy_find(row->policy, error)->needs_plan || (r->fewer && dfp_partitioner_find(row->policy))) {
        double begin_s = dfr_clock_s();
        const bool locked = loaded->lock && strcmp(row->policy, dfc_lock_policy(loaded->lock)) == 0;
        int code = locked ? (dfc_lock_plan(loaded->lock, problem, &plan) ? DF_OK : DF_E_REFUSED)
                          : dfp_plan_make(problem, row->policy, &r->common.partition, &plan, error);
        if (code)
            return code;
        row->plan_ms = 1e3 * (dfr_clock_s() - begin_s);
        row->n_joint = plan->n_waves;
        row->load_s = plan->load_s;
        row->least_load_s = plan->least_load_s;
        row->load_bound_s = plan->load_bound_s;
        options.plan = plan;
        options.inflight = r->fewer ? dfr_plan_waves(plan, problem->platform, options.inflight) : options.inflight;
    }
    if (r->fewer && dfr_passes_choose(problem->graph, problem->platform, r->waves, passes) > 1)
        options.inflight = DF_DEFAULT_INFLIGHT;     /* as in a run */
    if (gantt)
        dfc_gantt_listen(gantt, &row->simulation);
    dfc_schedule_begin(schedule, row->policy, &row->simulation);
    int code = dfr_simulate(problem->graph, problem->platform, problem->times, &options, &row->simulation, error);
    dfc_schedule_end(schedule, &row->simulation);
    dfr_plan_free(plan);
    if (!code)
        sum_busy(problem->platform, row);
    return code;
}

static bool check_outputs(const struct request *r, const struct dfc_loaded *loaded)
{
    bool good = dfc_output_check(&r->common, loaded, r->schedule);
    for (unsigned i = 0; r->gantt && i < r->policies.n && good; i++) {
        char *path = picture_path(r, r->policies.names[i]);
        good = path && dfc_output_check(&r->common, loaded, path);
        free(path);
    }
    return good;
}

static bool draw(const struct request *r, const struct dfc_loaded *loaded, const struct dfc_simulated *row,
                 struct dfc_gantt *gantt)
{
    struct dfc_picture picture;
    char *path = picture_path(r, row->policy);
    bool good = path && dfc_picture_open(&picture, path);
    if (good) {
        bool drawn = dfc_gantt_write(gantt, &loaded->problem, row->policy, row->simulation.makespan_s, picture.file);
        if (!drawn)
            dfc_error("out of memory");
        good = dfc_picture_close(&picture, drawn);
    }
    free(path);
    return good;
}

static bool simulate_each(const struct request *r, const struct dfc_loaded *loaded, struct dfc_schedule *schedule,
                          struct dfc_simulated *rows)
{
    struct df_error error = { "" };
    for (unsigned i = 0; i < r->policies.n; i++) {
        struct dfc_gantt *gantt = NULL;
        rows[i].policy = r->policies.names[i];
        if (r->gantt && !(gantt = dfc_gantt_new())) {
            dfc_error("out of memory");
            return false;
        }
        bool good = simulate(r, loaded, &rows[i], gantt, schedule, &error) == DF_OK;
        if (!good && error.text[0])     /* what is wrong with a lock file has been reported */
            dfc_error("policy %s: %s", r->policies.names[i], error.text);
        else if (good && gantt)
            good = draw(r, loaded, &rows[i], gantt);
        dfc_gantt_free(gantt);
        if (!good)
            return false;
    }
    return true;
}

static bool simulate_all(const struct request *r, const struct dfc_loaded *loaded, struct dfc_simulated *rows)
{
    struct dfc_schedule schedule;
    if (!dfc_schedule_open(&schedule, r->schedule, &loaded->problem, r->waves))
        return false;
    bool good = simulate_each(r, loaded, &schedule, rows);
    return dfc_schedule_close(&schedule, good) && good;
}

/* ---- results ---- */

/* Finds a bound: no schedule of so many waves is faster. It is one wave's bound, or the work of all waves if that is
 * more. In the work, a node that fires once counts with an equal share in each wave. So do copies of its
 * value: a unit that needs it in any wave gets it at least once, and the mean over the waves is at most that. Of several
 * waves each node counts as often as its @rate says. */
static int find_bound(const struct dfp_problem *problem, uint32_t waves, double *bound_s, struct df_error *error)
{
    struct dfp_compact compact;
    struct dfp_rates rates = { 0 };
    double wave_s, price[DF_MAX_UNITS];
    int code = dfp_compact_make(problem, &compact, error);
    if (code)
        return code;
    if (waves > 1)
        dfp_compact_apply_rates(&compact, 1);
    *bound_s = fmax(dfp_bound_s(&compact, &wave_s, price), dfp_resources_s(&compact) * (1 - 1e-12));
    if (waves > 1) {
        dfp_compact_spread_once(&compact, waves);
        dfp_bound_s(&compact, &wave_s, price);
        code = dfp_rates_find(&compact, price, RATE_STEPS, &rates, error);
        wave_s = fmax(rates.bound_s > wave_s ? rates.bound_s : wave_s, dfp_resources_s(&compact) * (1 - 1e-12));
        *bound_s = waves * wave_s > *bound_s ? waves * wave_s : *bound_s;
        dfp_rates_free(&rates);
    }
    dfp_compact_free(&compact);
    return code;
}

/* A check of the figures: if a schedule beats the bound, one of the two is wrong. */
static bool check_bound(const struct request *r, const struct dfc_simulated *rows, double bound_s)
{
    for (unsigned i = 0; i < r->policies.n; i++)
        if (rows[i].simulation.makespan_s < bound_s * (1 - 1e-9)) {
            dfc_error("internal error: policy %s takes %.9g s, less than the lower bound of %.9g s", rows[i].policy,
                      rows[i].simulation.makespan_s, bound_s);
            return false;
        }
    return true;
}

/* What was chosen for the policies that place jobs. */
static void print_passes(FILE *out, const struct request *r, const struct dfc_loaded *loaded)
{
    if (r->passes || loaded->passes.n < 2)
        return;
    fputc('\n', out);
    dfc_emit_divisions(out, loaded);
    dfc_emit_passes(out, loaded);
}

static bool write_result(const struct request *r, const struct dfc_loaded *loaded, const struct dfc_simulated *rows)
{
    struct dfc_simulate_report report = { .path = r->common.path, .graph = loaded->problem.graph->name, .nodes = loaded->problem.graph,
                                          .platform = &loaded->platform, .n_nodes = loaded->problem.graph->n_nodes,
                                          .gpu_times = dfc_source_word(dfc_gpu_source(&loaded->problem)),
                                          .waves = r->waves, .rows = rows, .n_rows = r->policies.n };
    struct dfc_output output;
    struct df_error error = { "" };
    bool good = true;
    if (find_bound(&loaded->problem, r->waves, &report.bound_s, &error) != DF_OK) {
        dfc_error("%s", error.text);
        return false;
    }
    if (!check_bound(r, rows, report.bound_s) || !dfc_output_open(&output, r->common.output))
        return false;
    if (r->form == DFR_FORM_CSV)
        dfc_simulate_csv(&report, output.file);
    else if (r->form == DFR_FORM_JSON)
        dfc_simulate_json(&report, output.file);
    else if ((good = dfc_simulate_text(&report, output.file))) {
        dfc_print_shared(output.file, &loaded->problem);
        print_passes(output.file, r, loaded);
    } else
        dfc_error("out of memory");
    return dfc_output_close(&output, good) && good;
}

/* --error: prints another table, from many runs. */
static bool study_errors(const struct request *r, const struct dfc_loaded *loaded)
{
    const struct dfr_simulate_options how = { .waves = r->waves, .passes = r->passes, .inflight = r->common.inflight,
                                              .seed = r->common.partition.seed, .locality = r->locality,
                                              .prefetch = r->prefetch, .find_jobs = finds_jobs(r, loaded),
                                              .no_guard = !r->guard, .evict = evict(r) };
    struct dfc_output output;
    if (!dfc_output_open(&output, r->common.output))
        return false;
    bool good = dfc_error_run(&r->error, &loaded->problem, &r->common.partition, &how, r->policies.names, r->policies.n,
                              r->form, output.file);
    return dfc_output_close(&output, good) && good;
}

static void warn_passes(const struct request *r, const struct dfc_loaded *loaded)
{
    const uint32_t most = dfr_passes_most(loaded->front->graph);
    if (r->passes > 1 && r->passes > most)
        dfc_warning(most ? "--passes=%u: an acc has %u parts at most, so the waves go by so often"
                         : "--passes=%u: the waves go by once, because no acc is divided, or its kernel makes something else in each wave",
                    (unsigned)r->passes, (unsigned)most);
}

/* Several waves are planned for throughput and are in flight together, unless the user asked for something else. */
static void plan_for_waves(struct request *r)
{
    struct dfp_options *options = &r->common.partition;
    if (r->waves > 1 && options->objective == DFP_BY_GRAPH)
        options->objective = DFP_THROUGHPUT;
    options->inflight = r->common.inflight;
    r->fewer = r->waves > 1 && !r->common.inflight;
    if (r->fewer)
        r->common.inflight = DFP_DEFAULT_INFLIGHT;
    options->no_memory = true;          /* nothing printed here shows it; plan_memory() asks for it if it matters */
}

static int run(int argc, char **argv)
{
    struct request r = { .waves = 1, .guard = true, .error = { .draws = 40 } };
    struct dfc_simulated rows[DFC_MOST_POLICIES] = { 0 };
    struct dfc_loaded loaded;
    dfp_options_default(&r.common.partition);
    int status = parse(&r, argc, argv);
    plan_for_waves(&r);
    r.common.waves = 1;
    for (unsigned i = 0; i < r.policies.n; i++)
        if (dfp_partitioner_find(r.policies.names[i]))
            r.common.waves = r.waves;   /* passes are chosen for policies that place jobs before the run */
    r.common.passes = r.passes;
    if (!status && !dfc_load(&r.common, false, &loaded)) {
        status = 1;
    } else if (!status) {
        drop_inapplicable(&r, &loaded.platform);
        warn_passes(&r, &loaded);
        plan_memory(&r, &loaded.platform);
        if (!dfc_check_memory(&loaded))
            status = 1;
        else if (r.error.kind)
            status = study_errors(&r, &loaded) ? 0 : 1;
        else
            status = check_outputs(&r, &loaded) && simulate_all(&r, &loaded, rows) && write_result(&r, &loaded, rows)
                         ? 0 : 1;
        dfc_unload(&loaded);
    }
    dfc_common_free(&r.common);
    return status;
}

const struct dfc_command dfc_command_simulate = { "simulate",
                                                  "predict what each policy makes of a graph, in virtual time",
                                                  usage, run, DFC_OPTIONS({ own_options, 0 }, { dfc_options_common, 0 }) };
