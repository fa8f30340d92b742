/* cmd_compare.c - `dfc compare GRAPH.df`: builds the graph's program once and runs it under each policy, in turns, so
 * that a temporary disturbance of the machine affects all policies alike. It prints a table, CSV and a chart.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/commands/command.h"
#include "compiler/trial/compare_rehearse.h"
#include "compiler/trial/temporary_program.h"
#include "compiler/show/chart.h"
#include "compiler/trial/compare_stats.h"
#include "compiler/show/shared.h"
#include "compiler/tools/picture_file.h"
#include "runtime/base/report_table.h"
#include "runtime/policy/policy.h"
#include "runtime/base/message.h"
#include "runtime/program/args.h"
#include "runtime/base/text.h"

#define MAX_RUNS 1000
#define DEFAULT_POLICIES "eager,ws,dmda,gp-thesis,gp,default"
#define LEAST_SPREAD 0.01               /* relative spread of a policy's runs above which they are marked */

static const char usage[] =
    "usage: dfc compare GRAPH.df [options] [-- PROGRAM'S OPTIONS]\n\n"
    "Runs the graph's program under several policies, in turns, and compares their makespans. A first run under each\n"
    "policy warms up and does not count. What the program prints is thrown away.\n";

struct request {
    struct dfc_common common;
    struct dfc_build_options build;
    struct dfc_policies policies;
    const char *old_policies;           /* --policies */
    unsigned runs;
    const char *waves, *csv, *svg;
    enum dfr_form form;
    double rehearse;                    /* as in struct df_options; 0: programs are run */
    uint64_t n_waves;                   /* of a rehearsal */
    const struct dfc_loaded *loaded;
    struct dfc_rehearsal *rehearsals;   /* by policy; NULL: programs are run */
    char **rest;                        /* options after "--", for the program */
    int n_rest;
};

/* ---- options ---- */

static const struct dfr_option own_options[] = {
    DFR_HEADING("options"),
    DFC_OPTION_POLICY("POLICY,…|all", "policies to compare (" DEFAULT_POLICIES "). 'default' is a run without --policy; its "
                      "row says which policy that chose"),
    { "--policies", "POLICY,…|all", NULL, DFR_FIELD(TEXT, struct request, old_policies) }, /* the same; its name before */
    DFC_OPTION_FORMAT("text|csv", struct request, form, "form of the output (text)"),
    DFC_OPTION_OUTPUT("the file for the output; else it goes to standard output"),
    { "--runs", "N", "runs under each policy that count (7)", DFR_COUNT(struct request, runs, 1, MAX_RUNS) },
    { "--waves", "N", "passed to the program", DFR_FIELD(TEXT, struct request, waves) },
    { "--rehearse", "[10x]", "no kernel is called and no program made: kernels and copies are waits of their times on the "
      "platform, here 10 times as long. The figures are given at 1x, beside predicted ones. If no "
      "number is given, one is chosen at which waiting is exact", DFR_SET(dfr_set_rehearse, struct request, rehearse) },
    { "--csv", "FILE", "write the figures as CSV, too", DFR_FIELD(NAME, struct request, csv) },
    { "--svg", "FILE", "draw a bar chart, too, PNG if FILE ends in .png; with --rehearse, of predicted and rehearsed "
      "makespans side by side", DFR_FIELD(NAME, struct request, svg) },
    DFC_OPTION_REST,
    { 0 }
};

/* The programs that are compared read the platform's file themselves, without -D. */
static bool check_platform(const struct dfc_common *common)
{
    for (size_t i = 0; common->platform && i < common->n_defines; i++)
        if (dfc_platform_has_param(common->platform, common->defines[i].name)) {
            dfc_error("-D %s: it is a param of '%s', which the programs read without it: write the value there, or use "
                      "--rehearse", common->defines[i].name, common->platform);
            return false;
        }
    return true;
}

static int check_rehearsal(struct request *r)
{
    if (r->rehearse == 0)
        return check_platform(&r->common) ? 0 : 2;
    if (r->n_rest) {
        dfc_error("--rehearse: no program is made, so there are no options of one after '--'");
        return 2;
    }
    if (r->common.device && strcmp(r->common.device, "none") && strcmp(r->common.device, "auto")) {
        dfc_error("--rehearse: it has the platform's devices, and does not go with --device=%s", r->common.device);
        return 2;
    }
    r->n_waves = 1;
    struct df_error error = { "" };
    if (!r->waves || dfr_option_count("--waves", r->waves, 1, UINT32_MAX, &r->n_waves, &error) == DF_OK)
        return 0;
    dfc_error("%s", error.text);
    return 2;
}

static int check(struct request *r)
{
    if (check_rehearsal(r))
        return 2;
    if (r->common.device && strcmp(r->common.device, "sim") == 0) {
        dfc_error("--device=sim: compare runs programs for real");
        return 2;
    }
    if ((r->svg && !dfc_output_is_picture("--svg", r->svg, "SVG")) ||
        !dfc_outputs_apart("--csv", r->csv, "--svg", r->svg) || !dfc_outputs_apart("-o", r->common.output, "--csv", r->csv) ||
        !dfc_outputs_apart("-o", r->common.output, "--svg", r->svg))
        return 2;
    if (r->common.policy && r->old_policies) {
        dfc_error("--policy and --policies are one option: give one of them");
        return 2;
    }
    const char *policies = r->common.policy ? r->common.policy : r->old_policies ? r->old_policies : DEFAULT_POLICIES;
    return dfc_policies_read(&r->policies, policies, DFC_NO_POLICY, false) ? 0 : 2;
}

static int parse(int argc, char **argv, struct request *r)
{
    int end = dfc_trial_split(argc, argv);
    if (dfc_parse_options(&dfc_command_compare, end, argv, &r->common) != 0)
        return 2;
    if (end < argc) {
        r->rest = argv + end + 1;
        r->n_rest = argc - end - 1;
    }
    return check(r);
}

/* ---- runs ---- */

/* Prints the lines that are no statistics. */
static void show_messages(const char *text)
{
    while (text && *text) {
        size_t n = strcspn(text, "\n");
        if (n && *text != '{')
            fprintf(stderr, "%.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

static bool emulated(const struct request *r)
{
    return r->common.device && dfr_option_lists(r->common.device, "emu");
}

static bool rehearse_once(const struct request *r, const char *policy, struct dfc_run_stats *stats)
{
    struct dfc_rehearsal *rehearsal = r->rehearsals;
    while (strcmp(rehearsal->policy, policy))
        rehearsal++;
    return dfc_rehearsal_run(&r->common, r->loaded, rehearsal, stats);
}

/* Makes one run under one policy. false: reported, with what the program said. */
static bool run_once(const struct request *r, const struct dfc_trial *trial, const char *policy, bool talk,
                     struct dfc_run_stats *stats)
{
    struct dfc_list argv = { 0 };
    char *err = NULL;
    int status = -1;
    if (r->rehearsals)
        return rehearse_once(r, policy, stats);
    dfc_trial_arguments(trial, &r->common, &argv);
    if (strcmp(policy, DFC_NO_POLICY))
        dfc_list_add(&argv, "--policy=%s", policy);
    dfc_list_add(&argv, "--stats=json,totals");
    dfc_list_add(&argv, "--grace=1ms"); /* what ends this command ends the program, too */
    dfc_list_add(&argv, "--stats-file=/dev/stderr");
    if (emulated(r))
        dfc_list_add(&argv, "--emu-check=off"); /* protecting blocks takes time that no GPU takes */
    if (r->waves)
        dfc_list_add(&argv, "--waves=%s", r->waves);
    for (int i = 0; i < r->n_rest; i++)
        dfc_list_add(&argv, "%s", r->rest[i]);
    if (argv.failed)
        dfc_error("out of memory");
    else if ((status = dfc_run_program(argv.items, &dfc_discard, &err)) < 0)
        dfc_trial_cannot_run(argv.items[0], errno);
    bool good = status == 0 && dfc_run_stats_read(err, stats);
    if (status > 0 || (status == 0 && !good) || talk)
        show_messages(err);
    if (status > 128)
        dfc_error("policy %s: the program was ended by signal %d (%s)", policy, status - 128, strsignal(status - 128));
    else if (status > 0)
        dfc_error("policy %s: the program failed with status %d", policy, status);
    else if (status == 0 && !good)
        dfc_error("policy %s: the program printed no statistics", policy);
    dfc_list_free(&argv);
    free(err);
    return good;
}

static void show_progress(const struct request *r, unsigned round, const char *policy)
{
    char what[32];
    if (round == 0)
        snprintf(what, sizeof what, "warming up");
    else
        snprintf(what, sizeof what, "run %u of %u", round, r->runs);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s: %s", what, policy);
    else if (strcmp(policy, r->policies.names[(round ? round - 1 : 0) % r->policies.n]) == 0)
        fprintf(stderr, "%s\n", what);
}

/* Round 0 warms up; a rehearsal has nothing to warm. Each round begins with another policy, so that none is always the
 * first. runs: [policy][run]. */
static bool run_all(const struct request *r, const struct dfc_trial *trial, struct dfc_run_stats *runs)
{
    bool good = true;
    for (unsigned round = r->rehearsals ? 1 : 0; round <= r->runs && good; round++) {
        for (unsigned i = 0; i < r->policies.n && good; i++) {
            unsigned p = (i + (round ? round - 1 : 0)) % r->policies.n;
            struct dfc_run_stats stats;
            show_progress(r, round, r->policies.names[p]);
            good = run_once(r, trial, r->policies.names[p], round == 0 && i == 0, &stats);
            if (good && round > 0)
                runs[(size_t)p * r->runs + round - 1] = stats;
        }
    }
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    return good;
}

/* ---- results ---- */

static bool uncertain(const struct dfc_policy_stats *s)
{
    return s->runs > 1 && s->spread > LEAST_SPREAD;
}

static const char *device_words(const struct request *r, const struct dfc_policy_stats *stats)
{
    if (r->rehearsals)
        return stats[0].typical.n_gpus == 0 ? "CPU only, rehearsed" : "with the platform's devices, rehearsed";
    if (stats[0].typical.n_gpus == 0)
        return "CPU only";
    if (r->common.device && strchr(r->common.device, ','))
        return "with devices of several kinds";
    return emulated(r) ? "with the emulated GPU" : stats[0].typical.n_gpus == 1 ? "with one GPU" : "with several GPUs";
}

/* Text has the columns of devices if there are any, and those of copies between devices if any copy was made. */
#define GPU DFR_ONLY_OWN
#define PEERS (2 * DFR_ONLY_OWN)
#define REHEARSED (4 * DFR_ONLY_OWN)

static const struct dfr_column columns[] = {
    DFR_COLUMN("policy", "policy", TEXT), DFR_COLUMN(NULL, "runs", COUNT), DFR_COLUMN(NULL, "waves", COUNT), DFR_COLUMN("median", "median_s", SECONDS),
    DFR_COLUMN(NULL, "min_s", SECONDS), DFR_COLUMN(NULL, "max_s", SECONDS), DFR_COLUMN(NULL, "q1_s", SECONDS), DFR_COLUMN(NULL, "q3_s", SECONDS),
    DFR_COLUMN("spread", "spread", SHARE, .digits = 1), DFR_COLUMN("ratio", "ratio", FACTOR, .digits = 2),
    DFR_COLUMN("predicted", NULL, SECONDS, .only = REHEARSED), DFR_COLUMN("off", NULL, CHANGE, .digits = 1, .only = REHEARSED),
    DFR_COLUMN("cpu jobs", "cpu_jobs", COUNT), DFR_COLUMN("gpu jobs", "gpu_jobs", COUNT, .only = GPU),
    DFR_COLUMN("to gpu", "h2d_copies", COUNT, .only = GPU), DFR_COLUMN("bytes", "h2d_bytes", BYTES, .only = GPU),
    DFR_COLUMN("from gpu", "d2h_copies", COUNT, .only = GPU), DFR_COLUMN("bytes", "d2h_bytes", BYTES, .only = GPU),
    DFR_COLUMN("between", NULL, COUNT, .only = PEERS), DFR_COLUMN("bytes", NULL, BYTES, .only = PEERS),
    DFR_COLUMN("evictions", "evictions", COUNT, .only = GPU), DFR_COLUMN(NULL, "writebacks", COUNT), DFR_COLUMN(NULL, "cpu_busy_s", SECONDS),
    DFR_COLUMN(NULL, "gpu_busy_s", SECONDS), DFR_COLUMN(NULL, "peer_copies", COUNT), DFR_COLUMN(NULL, "peer_bytes", BYTES),
    DFR_COLUMN(NULL, "predicted_s", SECONDS, .only = REHEARSED), DFR_COLUMN(NULL, "scale", FACTOR, .only = REHEARSED),
    DFR_COLUMN(NULL, "late_median_s", SECONDS, .only = REHEARSED), DFR_COLUMN(NULL, "late_99_s", SECONDS, .only = REHEARSED),
    DFR_COLUMN(NULL, "late_worst_s", SECONDS, .only = REHEARSED), DFR_COLUMN(NULL, "late", COUNT, .only = REHEARSED),
};

static void print_row(struct dfr_report_table *table, const struct dfc_policy_stats *s, const struct dfc_rehearsal *rehearsal)
{
    char time[24], median[32];
    const struct dfc_run_stats *t = &s->typical;
    const double predicted_s = rehearsal ? rehearsal->predicted_s : 0;
    snprintf(median, sizeof median, "%s%s", uncertain(s) ? "~" : "", dfr_text_seconds(s->median_s, time, sizeof time));
    dfr_report_table_row(table, (const struct dfr_cell[]){
        DFR_STR(s->policy), DFR_NUM(s->runs), DFR_NUM(t->waves), DFR_NUM_AS(s->median_s, median), DFR_NUM(s->least_s), DFR_NUM(s->most_s),
        DFR_NUM(s->first_quartile_s), DFR_NUM(s->third_quartile_s), DFR_NUM(s->spread), DFR_NUM(s->ratio), DFR_NUM(predicted_s),
        DFR_NUM(predicted_s > 0 ? s->median_s / predicted_s - 1 : NAN), DFR_NUM(t->cpu_jobs), DFR_NUM(t->gpu_jobs), DFR_NUM(t->h2d_copies),
        DFR_NUM(t->h2d_bytes), DFR_NUM(t->d2h_copies), DFR_NUM(t->d2h_bytes), DFR_NUM(t->peer_copies), DFR_NUM(t->peer_bytes), DFR_NUM(t->evictions),
        DFR_NUM(t->writebacks), DFR_NUM(t->cpu_busy_s), DFR_NUM(t->gpu_busy_s), DFR_NUM(t->peer_copies), DFR_NUM(t->peer_bytes), DFR_NUM(predicted_s),
        DFR_NUM(rehearsal ? rehearsal->scale : 0), DFR_NUM(t->late_median_s), DFR_NUM(t->late_99_s), DFR_NUM(t->late_worst_s), DFR_NUM(t->n_late) });
}

static bool print_rows(FILE *out, const struct request *r, const struct dfc_policy_stats *stats, enum dfr_form form)
{
    struct dfr_report_table table = { .shown = r->rehearsals ? REHEARSED : 0 };
    for (unsigned p = 0; p < r->policies.n; p++)
        table.shown |= (form == DFR_FORM_CSV || stats[0].typical.n_gpus > 0 ? GPU : 0) | (stats[p].typical.peer_copies > 0 ? PEERS : 0);
    dfr_report_table_begin(&table, out, form, DFR_COLUMNS(columns));
    for (unsigned p = 0; p < r->policies.n; p++)
        print_row(&table, &stats[p], r->rehearsals ? &r->rehearsals[p] : NULL);
    return dfr_report_table_end(&table);
}

/* Of the runs in the middle, the worst figures. */
static void print_lateness(FILE *out, const struct request *r, const struct dfc_policy_stats *stats)
{
    double median_s = 0, most_s = 0, worst_s = 0;
    uint64_t waits = 0, late = 0;
    for (unsigned p = 0; p < r->policies.n; p++) {
        const struct dfc_run_stats *t = &stats[p].typical;
        median_s = t->late_median_s > median_s ? t->late_median_s : median_s;
        most_s = t->late_99_s > most_s ? t->late_99_s : most_s;
        worst_s = t->late_worst_s > worst_s ? t->late_worst_s : worst_s;
        waits += t->waits;
        late += t->n_late;
    }
    char median[24], most[24], worst[24];
    fprintf(out, "predicted: in virtual time; off: how much longer the rehearsal took\n"
                 "rehearsed at %.4gx, given at 1x; wake-ups late by %s (median), %s (99 %%), %s (worst) of real time;\n"
                 "%" PRIu64 " of %" PRIu64 " by more than 1 ms, which count as real\n",
                 r->rehearsals[0].scale, dfr_text_seconds(median_s, median, sizeof median),
                 dfr_text_seconds(most_s, most, sizeof most), dfr_text_seconds(worst_s, worst, sizeof worst), late, waits);
}

static bool print_table(FILE *out, const struct request *r, const struct dfc_policy_stats *stats)
{
    bool marked = false;
    for (unsigned p = 0; p < r->policies.n; p++)
        marked |= uncertain(&stats[p]);
    dfr_message_name(out, r->common.path);
    fprintf(out, ", %s: %u run%s of %" PRIu64 " wave%s under each policy\n\n", device_words(r, stats), r->runs,
                 r->runs == 1 ? "" : "s", stats[0].typical.waves, stats[0].typical.waves == 1 ? "" : "s");
    bool good = print_rows(out, r, stats, DFR_FORM_TEXT);
    fprintf(out, "\nmedian: of the makespans; spread: the range of the middle half of the runs, divided by the median;\n"
                 "ratio: to the best median; jobs, copies and bytes: those of the run in the middle\n");
    if (r->rehearsals) {
        print_lateness(out, r, stats);
        dfc_print_guesses(out, &r->loaded->problem);
    }
    if (emulated(r))
        fprintf(out, "the emulated GPU computes on this machine's own cores: these times say nothing about schedules with a GPU;\n"
                     "--rehearse compares those\n");
    if (marked)
        fprintf(out, "~ the spread exceeds %.0f %%: smaller differences mean nothing\n", 100 * LEAST_SPREAD);
    if (!good)
        dfc_error("out of memory");
    return good;
}

/* Writes the table, or the figures as CSV, to a file or to standard output. */
static bool write_figures(const struct request *r, const struct dfc_policy_stats *stats, enum dfr_form form,
                          const char *path)
{
    struct dfc_output output;
    bool good = true;
    if (!dfc_output_open(&output, path))
        return false;
    if (form == DFR_FORM_CSV)
        print_rows(output.file, r, stats, form);
    else
        good = print_table(output.file, r, stats);
    return dfc_output_close(&output, good) && good;
}

static bool write_svg(const struct request *r, const struct dfc_policy_stats *stats, unsigned best)
{
    struct dfc_picture picture;
    struct dfc_bar bars[DFC_MOST_POLICIES];
    char notes[DFC_MOST_POLICIES][48], title[512], subtitle[128], moved[24];
    bool marked = false;
    if (!r->svg)
        return true;
    for (unsigned p = 0; p < r->policies.n; p++) {
        const struct dfc_policy_stats *s = &stats[p];
        dfr_text_bytes(s->typical.h2d_bytes + s->typical.d2h_bytes + s->typical.peer_bytes, moved, sizeof moved);
        snprintf(notes[p], sizeof notes[p], "%s copied", moved);
        bars[p] = (struct dfc_bar){ .label = s->policy,
                                    .note = s->typical.n_gpus ? notes[p] : NULL,
                                    .value_s = s->median_s,
                                    .least_s = s->least_s,
                                    .most_s = s->most_s,
                                    .highlight = p == best,
                                    .uncertain = uncertain(s),
                                    .predicted_s = r->rehearsals ? r->rehearsals[p].predicted_s : 0 };
        marked |= uncertain(s);
    }
    const char *slash = strrchr(r->common.path, '/');
    snprintf(title, sizeof title, "%s: makespan by policy, %s", slash ? slash + 1 : r->common.path,
             device_words(r, stats));
    snprintf(subtitle, sizeof subtitle, "median of %u run%s of %" PRIu64 " wave%s; whiskers: fastest and slowest",
             r->runs, r->runs == 1 ? "" : "s", stats[0].typical.waves, stats[0].typical.waves == 1 ? "" : "s");
    struct dfc_chart chart = {
        .title = title,
        .subtitle = subtitle,
        .bars = bars,
        .n_bars = r->policies.n,
        .predicted = r->rehearsals ? "predicted, in virtual time" : NULL,
        .measured = "rehearsed, median (green: the best)",
        .footnote = marked ? "~ paler: the middle half of the runs spans more than 1 % of the median" : NULL
    };
    if (!dfc_picture_open(&picture, r->svg))
        return false;
    bool drawn = dfc_chart_write(picture.file, &chart);
    if (!drawn)
        dfc_error("out of memory");
    return dfc_picture_close(&picture, drawn);
}

static bool has_gpu_variant(const struct df_graph *g)
{
    for (uint32_t w = 0; w < g->n_works; w++) {
        if (g->kernels[g->works[w].kernel].code_classes >> DF_CLASS_GPU & 1)
            return true;
    }
    return false;
}

static bool show(const struct request *r, const struct df_graph *graph, struct dfc_run_stats *runs)
{
    struct dfc_policy_stats stats[DFC_MOST_POLICIES];
    for (unsigned p = 0; p < r->policies.n; p++)
        dfc_policy_stats_of(r->policies.names[p], runs + (size_t)p * r->runs, r->runs, &stats[p]);
    unsigned best = dfc_policy_stats_rank(stats, r->policies.n);
    bool good = write_figures(r, stats, r->form, r->common.output);
    bool automatic = !r->common.device || strcmp(r->common.device, "auto") == 0;
    if (!r->rehearsals && stats[0].typical.n_gpus == 0 && automatic && has_gpu_variant(graph))
        dfc_note("no GPU: compare with --device=emu to see the emulated GPU");
    good = (!r->csv || write_figures(r, stats, DFR_FORM_CSV, r->csv)) && good;
    return write_svg(r, stats, best) && good;
}

/* ---- the command ---- */

/* The scale of the first policy's run is that of all others. */
static bool rehearse_all(struct request *r, const struct dfc_loaded *loaded, struct dfc_run_stats *runs)
{
    struct dfc_run_stats ignored;
    bool good = true;
    r->loaded = loaded;
    for (unsigned p = 0; p < r->policies.n && good; p++)
        good = dfc_rehearsal_make(&r->common, loaded, r->policies.names[p], (uint32_t)r->n_waves,
                                  p ? r->rehearsals[0].scale : r->rehearse, &r->rehearsals[p]) &&
               (p || dfc_rehearsal_run(&r->common, loaded, &r->rehearsals[0], &ignored));
    good = good && run_all(r, NULL, runs);
    for (unsigned p = 0; p < r->policies.n && good; p++)
        good = dfc_rehearsal_predict(&r->common, loaded, &r->rehearsals[p]);
    return good;
}

static int rehearse(struct request *r, struct dfc_run_stats *runs)
{
    struct dfc_loaded loaded;
    int status = 1;
    if (!dfc_load(&r->common, false, &loaded))
        return 1;
    loaded.platform.units[0].memory_bytes_per_s = 0; /* waits do not slow each other, so predictions must not either */
    loaded.platform.units[0].cores = 0;
    for (uint32_t u = 1; u < loaded.platform.n_units; u++)
        loaded.platform.units[u].handover_s = 0; /* wake-ups are no part of nominal time */
    r->rehearsals = calloc(r->policies.n, sizeof *r->rehearsals);
    if (!r->rehearsals)
        dfc_error("out of memory");
    else if (dfc_output_check(&r->common, &loaded, r->csv) && dfc_output_check(&r->common, &loaded, r->svg) &&
             rehearse_all(r, &loaded, runs))
        status = show(r, loaded.front->graph, runs) ? 0 : 1;
    for (unsigned p = 0; r->rehearsals && p < r->policies.n; p++)
        dfc_rehearsal_free(&r->rehearsals[p]);
    free(r->rehearsals);
    dfc_unload(&loaded);
    return status;
}

static int compare(struct request *r)
{
    struct dfc_trial trial;
    struct dfc_loaded loaded;
    int status = 1;
    struct dfc_run_stats *runs = calloc((size_t)r->policies.n * r->runs, sizeof *runs);
    if (!runs) {
        dfc_error("out of memory");
        return 1;
    }
    if (r->rehearse != 0) {
        status = rehearse(r, runs);
    } else if (dfc_load(&r->common, true, &loaded)) {
        if (dfc_output_check(&r->common, &loaded, r->csv) && dfc_output_check(&r->common, &loaded, r->svg) &&
            dfc_trial_args(loaded.front->graph, r->rest, r->n_rest) && dfc_trial_build(&r->common, &loaded, &r->build, &trial)) {
            if (run_all(r, &trial, runs))
                status = show(r, loaded.front->graph, runs) ? 0 : 1;
            dfc_trial_remove(&trial);
        }
        dfc_unload(&loaded);
    }
    free(runs);
    return status;
}

static int run(int argc, char **argv)
{
    struct request r = { .runs = 7, .build = { .quiet = true } };
    dfp_options_default(&r.common.partition);
    int status = parse(argc, argv, &r);
    if (status == 0)
        status = compare(&r);
    dfc_common_free(&r.common);
    return status;
}

const struct dfc_command dfc_command_compare = { "compare", "run a graph under several policies and compare them",
                                                 usage, run, DFC_OPTIONS({ own_options, 0 }, { dfc_options_build, offsetof(struct request, build) },
                                                             { dfc_options_common, 0 }) };
