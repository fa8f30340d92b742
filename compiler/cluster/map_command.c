/* map_command.c - `dfc map GRAPH.df --platform=CLUSTER.df`, called by commands/main.c: maps the stages of a pipeline to
 * unlike machines. It compares the mappings of all heuristics, of the search, and one from a file (--use), and prints,
 * draws and writes them. With --drift it simulates one whose times drift, and its tuning.
 */
#include "compiler/cluster/map_command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/cluster/drift_simulation.h"
#include "compiler/cluster/map_report.h"
#include "compiler/cluster/scale.h"
#include "compiler/options/common.h"
#include "compiler/tools/home.h"
#include "compiler/tools/messages.h"
#include "compiler/tools/picture_file.h"
#include "compiler/types/paths.h"
#include "partition/draw/draw.h"
#include "partition/stages/map_text.h"
#include "runtime/base/error.h"

#define BRUTE_STEPS 7000000             /* two or three seconds, and less in proportion to a smaller --budget, */
#define BRUTE_PROCESSORS 32             /* with so many processors; with more there is no hope */
enum { MOST_OUTPUTS = 8 };

static const char usage[] =
    "usage: dfc map GRAPH.df --platform=CLUSTER.df [-o FILE.svg|FILE.map]… [options]\n\n"
    "Maps the stages of a pipeline to the nodes of a cluster, by gathering stages and replicating them. A stage is a call in\n"
    "graph main. What it takes on each type of node is simulated. Compares the mapping in order (identity), BSC, DPM, HeDPM,\n"
    "the best of all if there are few, and ours, which is never worse than the others. Runs no kernel. The same input gives the\n"
    "same output.\n";

struct request {
    struct dfc_common common;
    enum dfr_form form;
    const char *outputs[MOST_OUTPUTS];
    unsigned n_outputs;
    unsigned show;                      /* one more than the number of the mapping that --show names; 0: it was not given */
    const char *use;
    unsigned feeding;                   /* one more than an enum dfp_feeding; 0: it was not given */
    bool groups;                        /* --replicate=groups */
    struct dfc_drift_request drift;
};

enum { IDENTITY, BSC, DPM, HEDPM, BRUTE, GIVEN, OURS, N_ROWS };
static const char *const names[N_ROWS] = { "identity", "bsc", "dpm", "hedpm", "brute", "given", "ours" };

/* ---- the command line ---- */

static int set_output(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    struct request *r = field;
    if (r->n_outputs == MOST_OUTPUTS)
        return dfr_error(error, DF_E_ARGUMENT, "more than %d outputs", MOST_OUTPUTS);
    for (unsigned i = 0; i < r->n_outputs; i++)
        if (!dfc_outputs_apart(option->name, r->outputs[i], option->name, text))
            return DF_E_ARGUMENT;
    r->outputs[r->n_outputs++] = text;
    return DF_OK;
}

static int set_drift(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    (void)option, (void)error;
    return DFC_REPORTED(dfc_drift_take(field, text));
}

static const struct dfr_option own_options[] = {
    DFR_HEADING("options"),
    { "-o", "FILE", "the mapping: a picture if FILE ends in .svg, .png, .dot or .gv, else a text that --use reads; also several times",
      DFR_SET_ALL(set_output) },
    { "--show", "identity|bsc|dpm|hedpm|brute|given|ours", "the mapping that is listed and written (ours; with --use, given)",
      DFR_FIELD(WORD, struct request, show), .first = 1 },
    { "--use", "FILE", "a mapping as -o writes it: its figures, too", DFR_FIELD(NAME, struct request, use) },
    { "--feeding", "order|demand", "replicas take waves in turn (as HeDPM's equations say), or the next one when they are free (order; with "
      "--use, as FILE says)", DFR_FIELD(WORD, struct request, feeding), .first = DFP_IN_ORDER + 1 },
    { "--replicate", "stages|groups", "what has replicas: single stages, as in HeDPM, or also several that are gathered (stages; with --use, groups "
      "if FILE has one)", DFR_FIELD(WORD, struct request, groups) },
    { "--drift", "NAME@WAVE:FACTOR", "run waves through the mapping that is listed, in virtual time; from that wave on, a stage or processor takes so many "
      "times as long; @FIRST-LAST: for these waves; also several times", DFR_SET(set_drift, struct request, drift) },
    { "--tune", NULL, "with --drift: also with a tuner, which changes the mapping when times have drifted", DFR_FIELD(FLAG, struct request, drift.tune) },
    { "--waves", "N", "of --drift (1000)", DFR_COUNT(struct request, drift.waves, 1, DFC_DRIFT_MOST_WAVES) },
    { "--plot", "FILE", "with --drift: a picture of the waves a second (.svg, .png)", DFR_FIELD(NAME, struct request, drift.plot) },
    DFC_OPTION_PLATFORM("the machines: a platform with nodes"),
    { "--seed", "N", "of what the search draws (1)", DFR_COUNT(struct request, common.partition.seed, 0, UINT32_MAX) },
    { "--budget", "N|Nx", "try N mappings, or N times as many as by default (100000, which take a fraction of a second)",
      DFR_SET(dfc_set_budget, struct request, common.partition) },
    DFC_OPTION_FORMAT("text|csv", struct request, form, "form of the output (text); csv: a line for each group of each mapping or, with --drift, for each wave"),
    { 0 }
};

static bool check_drift(const struct request *r)
{
    const char *alone = r->drift.tune ? "--tune" : r->drift.waves ? "--waves" : r->drift.plot ? "--plot" : NULL;
    if (alone && !r->drift.n) {
        dfc_error("%s: --drift=NAME@WAVE:FACTOR says what drifts", alone);
        return false;
    }
    for (unsigned i = 0; i < r->n_outputs && r->drift.plot; i++)
        if (!dfc_outputs_apart("-o", r->outputs[i], "--plot", r->drift.plot))
            return false;
    return true;
}

static int parse(struct request *r, int argc, char **argv)
{
    int status = dfc_parse_options(&dfc_command_map, argc, argv, &r->common);
    if (status)
        return status;
    if (!r->common.platform) {
        dfc_error("map: which machines? --platform=FILE names a platform with nodes");
        return 2;
    }
    if (r->show == GIVEN + 1 && !r->use) {
        dfc_error("--show=given: --use=FILE gives it");
        return 2;
    }
    return check_drift(r) ? 0 : 2;
}

/* ---- input ---- */

static struct dfl_sink *open_sink(void)
{
    struct dfl_sink *sink = dfl_sink_new(stderr);
    if (sink)
        dfl_sink_program(sink, "dfc");
    else
        dfc_error("out of memory");
    return sink;
}

static bool read_cluster(const struct request *r, struct dfc_cluster *cluster)
{
    struct dfl_sink *sink = open_sink();
    if (!sink)
        return false;
    bool good = dfc_cluster_read(sink, r->common.platform, r->common.defines, r->common.n_defines, cluster);
    const unsigned n = good ? dfc_scale_declared(cluster) : 0;
    if (n > DFP_MOST_PROCESSORS) {
        dfl_error(sink, cluster->loc, "platform '%s' has %u nodes, and a mapping takes at most %u", cluster->name, n, (unsigned)DFP_MOST_PROCESSORS);
        good = false;
    }
    if (!good)
        dfl_sink_summary(sink);
    dfl_sink_free(sink);
    return good;
}

/* Of works whose time on a unit of the type is the stated default. */
static void warn_of_defaults(const struct dfp_problem *problem)
{
    const struct df_times *times = problem->times;
    unsigned n = 0;
    for (uint32_t w = 0; w < times->n_works; w++) {
        bool guessed = false;
        for (uint32_t u = 0; u < problem->platform->n_units; u++) {
            uint32_t c = dfr_times_class(times, problem->graph, problem->platform, problem->platform->units[u].cls);
            size_t at = (size_t)c * times->n_works + w;
            guessed |= c != DF_NONE && !isnan(times->time_s[at]) && times->source[at] == DF_TIME_DEFAULT;
        }
        n += guessed;
    }
    if (n)
        dfc_warning("of %u work%s nothing is known, and a stated default stands for the time: 'dfc profile' measures", n, n == 1 ? "" : "s");
}

/* The stages of the loaded graph. The first type's graph gives the input, and the others' must have the same stages. */
static bool look_at_type(struct request *r, const struct dfc_cluster *cluster, uint32_t t, struct dfc_loaded *loaded, struct dfc_map_input *input)
{
    struct df_error error = { "" };
    struct dfr_stages stages;
    const char *policy = r->common.policy ? r->common.policy : dfc_default_placer(loaded);
    int code = dfr_stages_find(loaded->problem.graph, &stages, &error);
    bool found = code == DF_OK;
    if (found && t == 0) {
        code = dfc_map_input_new(loaded->problem.graph, &stages, cluster, input, &error);
        warn_of_defaults(&loaded->problem);
    }
    if (code == DF_OK && stages.n != input->pipeline.n_stages)
        code = dfr_error(&error, DF_E_REFUSED, "it has %u stages there, and %u on node '%s': --parts=1 divides no node", (unsigned)stages.n,
                         (unsigned)input->pipeline.n_stages, cluster->types[0].name);
    if (code == DF_OK)
        code = dfc_map_times(&loaded->problem, &stages, policy, &r->common.partition, r->common.inflight, t, cluster->types[t].speed, input, &error);
    if (!found && stages.wrong != DF_NONE)
        dfl_error(loaded->sink, dfc_node_loc(loaded, &loaded->problem.graph->nodes[stages.wrong]), "%s", error.text);
    else if (code != DF_OK)
        dfc_error("%s on node '%s': %s", r->common.path, cluster->types[t].name, error.text);
    if (found)
        dfr_stages_free(&stages);
    return code == DF_OK;
}

/* An output may be none of the files that the graph is made of, nor the mapping that is read. */
static bool check_outputs(const struct request *r, const struct dfc_loaded *loaded)
{
    const struct dfc_common used = { .path = r->use };
    bool good = true;
    for (unsigned i = 0; i < r->n_outputs && good; i++)
        good = dfc_output_check(&r->common, loaded, r->outputs[i]) && dfc_output_check(&used, NULL, r->outputs[i]);
    return good && (!r->drift.plot || (dfc_output_check(&r->common, loaded, r->drift.plot) && dfc_output_check(&used, NULL, r->drift.plot)));
}

static bool find_input(struct request *r, const struct dfc_cluster *cluster, struct dfc_map_input *input)
{
    for (uint32_t t = 0; t < cluster->n_types; t++) {
        struct dfc_loaded loaded;
        r->common.machine = &cluster->types[t].platform;
        if (!dfc_load(&r->common, false, &loaded))
            return false;
        bool good = dfc_check_ranks(&loaded) && check_outputs(r, &loaded) && look_at_type(r, cluster, t, &loaded, input);
        dfc_unload(&loaded);
        if (!good)
            return false;
    }
    dfc_map_finish(cluster, input);
    return true;
}

/* ---- a mapping from a file ---- */

static void report_bad_mapping(struct dfl_sink *sink, const char *path, const char *text, size_t size, const struct dfr_map_wrong *wrong)
{
    uint32_t file = dfl_sink_file(sink, path, text, size);
    dfl_error(sink, (struct dfl_loc){ file, wrong->line, wrong->col, wrong->end_col }, "%s", wrong->message);
    const char *close = wrong->word ? dfl_suggest(wrong->word, wrong->names, wrong->n_names) : NULL;
    if (close)
        dfl_hint(sink, "did you mean '%s'?", close);
    else if (wrong->hint[0])
        dfl_hint(sink, "%s", wrong->hint);
}

static bool read_mapping(const struct request *r, struct dfc_map_input *input, struct dfc_map_row *row)
{
    const struct dfc_front_options options = { .path = r->use };
    const struct dfp_map_names all = { (const char *const *)input->stages, (const char *const *)input->processors };
    struct dfr_map_wrong wrong;
    enum dfp_feeding feeding;
    const char *why;
    char *text;
    size_t size;
    if (!r->use)
        return true;
    if (!dfc_read_file(&options, r->use, &text, &size, &why)) {
        dfc_error("cannot read '%s': %s", r->use, why);
        return false;
    }
    bool good = dfp_map_read(&input->pipeline, &all, text, size, &row->mapping, &feeding, &wrong);
    struct dfl_sink *sink = good ? NULL : open_sink();
    if (sink) {
        report_bad_mapping(sink, r->use, text, size, &wrong);
        dfl_sink_free(sink);
    }
    if (good && !r->feeding)
        input->pipeline.feeding = feeding;
    if (good && !dfp_mapping_is_valid(&input->pipeline, &row->mapping)) /* it has replicas of several stages */
        input->pipeline.replicate_groups = true;
    row->missing = NULL;
    free(text);
    return good;
}

/* ---- all mappings ---- */

static int find_mappings(const struct request *r, const struct dfp_pipeline *l, struct dfc_map_row *rows, uint64_t budget, struct df_error *error)
{
    static struct dfp_mapping starts[N_ROWS + 1]; /* large */
    struct dfp_pipeline single = *l;    /* only single stages are replicated */
    uint32_t n = 0;
    const uint64_t most_steps = budget < DFP_MAP_BUDGET ? budget * (BRUTE_STEPS / DFP_MAP_BUDGET) : BRUTE_STEPS;
    uint64_t steps;
    dfp_map_identity(l, &rows[IDENTITY].mapping);
    if (!dfp_map_bsc(l, &rows[BSC].mapping))
        rows[BSC].missing = "it finds no mapping: without replicas there are too few processors";
    if (!dfp_map_dpm(l, &rows[DPM].mapping))
        rows[DPM].missing = "it finds no mapping";
    if (!dfp_map_hedpm(l, &rows[HEDPM].mapping))
        rows[HEDPM].missing = "it finds no mapping that has all stages";
    if (l->n_processors > BRUTE_PROCESSORS || !dfp_map_brute(l, most_steps, &rows[BRUTE].mapping, &steps))
        rows[BRUTE].missing = "left out: there are too many mappings to try them all";
    for (int i = 0; i < BRUTE + 2; i++) /* without what was enumerated: ours finds it by itself */
        if (i != BRUTE && !rows[i].missing)
            starts[n++] = rows[i].mapping;
    single.replicate_groups = false;
    int code = dfp_map_search(&single, starts, n, budget, r->common.partition.seed, &rows[OURS].mapping, error);
    starts[n++] = rows[OURS].mapping;
    if (code == DF_OK && l->replicate_groups)
        code = dfp_map_search(l, starts, n, budget, r->common.partition.seed, &rows[OURS].mapping, error);
    for (int i = 0; i < N_ROWS && code == DF_OK; i++) {
        if (rows[i].missing)
            continue;
        rows[i].period_s = dfp_mapping_period_s(l, &rows[i].mapping, NULL);
        code = dfp_mapping_run(l, &rows[i].mapping, &rows[i].run_s, error);
    }
    return code;
}

/* Ours is the one that the simulation finds fastest, if replicas are fed by demand. In order, the equations are exact. */
static void choose_ours(const struct dfp_pipeline *l, struct dfc_map_row *rows)
{
    struct dfc_map_row *ours = &rows[OURS];
    for (int i = 0; i < OURS && l->feeding == DFP_BY_DEMAND; i++)
        if (!rows[i].missing && rows[i].run_s < ours->run_s * (1 - 1e-9)) {
            *ours = rows[i];
            ours->name = names[OURS];
        }
}

/* ---- output ---- */

static bool has_ending(const char *path, const char *ending)
{
    size_t n = strlen(path), k = strlen(ending);
    return n > k && strcmp(path + n - k, ending) == 0;
}

static bool draw(const char *path, const struct dfc_map_report *report)
{
    const struct dfc_map_row *row = &report->rows[report->shown];
    struct df_error error = { "" };
    char title[300], *text;
    size_t size;
    snprintf(title, sizeof title, "%s on %s: %s", report->path, report->cluster, row->name);
    const struct dfp_stages_drawing drawing = { title, &report->input->pipeline, &row->mapping, (const char *const *)report->input->stages,
                                                (const char *const *)report->input->processors };
    dfc_home_graphviz();
    if (dfp_draw_stages(&drawing, has_ending(path, ".svg") || has_ending(path, ".png"), &text, &size, &error) != DF_OK) {
        dfc_error("%s", error.text);
        return false;
    }
    const bool good = dfc_picture_write(path, text, size);
    free(text);
    return good;
}

static bool write_mapping(const char *path, const struct dfc_map_report *report)
{
    const struct dfc_map_row *row = &report->rows[report->shown];
    const struct dfp_map_names all = { (const char *const *)report->input->stages, (const char *const *)report->input->processors };
    struct dfc_output output;
    if (!dfc_output_open(&output, path))
        return false;
    fputs("# a mapping of dfc map: stages, a colon, and the processors that have them\n", output.file);
    dfp_map_write(&report->input->pipeline, &row->mapping, &all, output.file);
    return dfc_output_close(&output, true);
}

/* drift: NULL if nothing drifts. */
static bool print_all(const struct request *r, const struct dfc_map_report *report, const struct dfc_drift *drift, FILE *out)
{
    if (r->form == DFR_FORM_CSV) {
        if (drift)
            dfc_drift_csv(drift, out);
        else
            dfc_map_csv(report, out);
    } else if (!dfc_map_text(report, out) || (drift && !dfc_drift_text(drift, out))) {
        dfc_error("out of memory");
        return false;
    }
    return true;
}

static bool plot(const char *path, const struct dfc_drift *drift)
{
    struct dfc_picture picture;
    if (!dfc_picture_open(&picture, path))
        return false;
    dfc_drift_draw(drift, picture.file);
    return dfc_picture_close(&picture, true);
}

static bool write_all(const struct request *r, const struct dfc_map_report *report, const struct dfc_drift *drift)
{
    FILE *out = stdout;
    for (unsigned i = 0; i < r->n_outputs; i++)
        out = strcmp(r->outputs[i], "-") == 0 ? stderr : out;
    if (r->drift.plot && strcmp(r->drift.plot, "-") == 0)
        out = stderr;
    bool good = print_all(r, report, drift, out) && (!r->drift.plot || plot(r->drift.plot, drift));
    for (unsigned i = 0; i < r->n_outputs && good; i++) {
        const char *path = r->outputs[i];
        bool picture = has_ending(path, ".svg") || has_ending(path, ".png") || has_ending(path, ".dot") || has_ending(path, ".gv");
        good = picture ? draw(path, report) : write_mapping(path, report);
    }
    return good;
}

static bool map_input(struct request *r, const struct dfc_cluster *cluster, struct dfc_map_input *input)
{
    static struct dfc_map_row rows[N_ROWS]; /* large */
    struct dfp_hedpm_log log;
    struct dfp_mapping once;
    struct dfc_drift drift;
    struct df_error error = { "" };
    const struct dfp_options *options = &r->common.partition;
    uint64_t budget = options->budget ? options->budget : (options->budget_times ? options->budget_times : 1) * (uint64_t)DFP_MAP_BUDGET;
    for (int i = 0; i < N_ROWS; i++)
        rows[i] = (struct dfc_map_row){ .name = names[i] };
    rows[GIVEN].missing = "";
    input->pipeline.feeding = r->feeding ? (enum dfp_feeding)(r->feeding - 1) : DFP_IN_ORDER;
    input->pipeline.replicate_groups = r->groups;
    if (!read_mapping(r, input, &rows[GIVEN]))
        return false;
    if (find_mappings(r, &input->pipeline, rows, budget, &error) != DF_OK) {
        dfc_error("%s", error.text);
        return false;
    }
    choose_ours(&input->pipeline, rows);
    dfp_map_hedpm_once(&input->pipeline, 1, &once, &log);
    const struct dfc_map_report report = { .path = r->common.path, .cluster = cluster->name, .input = input, .rows = rows, .n_rows = N_ROWS,
                                           .shown = r->show ? r->show - 1 : r->use ? GIVEN : OURS, .ideal_s = log.steps[0].ideal_s,
                                           .bound_s = dfp_pipeline_bound_s(&input->pipeline), .tried = budget };
    if (rows[report.shown].missing) {
        dfc_error("--show=%s: %s", names[report.shown], rows[report.shown].missing);
        return false;
    }
    if (!r->drift.n)
        return write_all(r, &report, NULL);
    if (!dfc_drift_run(&r->drift, &report, budget, &drift))
        return false;
    bool good = write_all(r, &report, &drift);
    dfc_drift_free(&drift);
    return good;
}

static int run_map(struct request *r)
{
    static struct dfc_cluster cluster;  /* large */
    struct dfc_map_input input = { 0 };
    bool good = read_cluster(r, &cluster) && find_input(r, &cluster, &input) && map_input(r, &cluster, &input);
    dfc_map_input_free(&input);
    return good ? 0 : 1;
}

static int run(int argc, char **argv)
{
    struct request r = { 0 };
    dfp_options_default(&r.common.partition);
    int status = parse(&r, argc, argv);
    r.common.partition.objective = DFP_THROUGHPUT;
    r.common.partition.no_memory = true;
    if (!r.common.parts)
        r.common.parts = 1;
    if (!r.common.inflight)
        r.common.inflight = DFP_DEFAULT_INFLIGHT;
    r.common.partition.inflight = r.common.inflight;
    if (status == 0)
        status = run_map(&r);
    dfc_common_free(&r.common);
    return status;
}

const struct dfc_command dfc_command_map = { "map", "map the stages of a pipeline to unlike machines", usage, run, DFC_OPTIONS({ own_options, 0 }, { dfc_options_common, 0 }) };
