/* program_main.c - df_main(): the main function of a generated program, from its command line to its exit status. The
 * main() that dfc generates calls it.
 *
 * Modes:    runs the graph; or, if started by `dfc profile`, measures the graph's works.
 * Exit:     0; 1 if the run fails or an input cannot be used, with `PROGRAM: error: …`; 2 if the command line is wrong.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/arrays.h"
#include "runtime/program/args.h"
#include "runtime/threads/bind.h"
#include "runtime/threads/host.h"
#include "runtime/engine/crash.h"
#include "runtime/base/error.h"
#include "runtime/base/interrupt.h"
#include "runtime/io/bad_files.h"
#include "runtime/graph/image.h"
#include "runtime/graph/passes.h"
#include "runtime/record/outputs.h"
#include "runtime/engine/log.h"
#include "runtime/measure/measure.h"
#include "runtime/base/output.h"
#include "runtime/base/status_line.h"
#include "runtime/base/unfinished.h"
#include "runtime/program/interrupted.h"
#include "runtime/program/loaded.h"
#include "runtime/program/progress.h"
#include "runtime/program/ranks_report.h"
#include "runtime/program/replay.h"
#include "runtime/program/run_report.h"
#include "runtime/start/run_impl.h"
#include "runtime/start/run_machine.h"

#ifndef DFC_VERSION
#define DFC_VERSION "of unknown version"
#endif

/* The graph and the plan that were made again for other sizes. Without them, the image's run. */
struct made {
    struct df_graph *graph;             /* NULL: the image's */
    struct df_plan *plan;
};

/* ---- other sizes ---- */

/* The kernel of the image's graph that has this name. As a rule it is the one with the same number, `guess`. */
static uint32_t find_kernel(const struct df_graph *g, uint32_t guess, const char *name)
{
    if (guess < g->n_kernels && !strcmp(df_graph_string(g, g->kernels[guess].name), name))
        return guess;
    for (uint32_t k = 0; k < g->n_kernels; k++)
        if (!strcmp(df_graph_string(g, g->kernels[k].name), name))
            return k;
    return DF_NONE;
}

static int attach_functions(const struct df_program *program, const struct df_graph *old, struct df_graph *graph,
                            struct df_error *error)
{
    struct df_functions *functions = calloc((size_t)graph->n_kernels + 1, sizeof *functions);
    if (!functions)
        return dfr_error_memory(error);
    for (uint32_t k = 0; k < graph->n_kernels; k++) {
        uint32_t from = find_kernel(old, k, df_graph_string(graph, graph->kernels[k].name));
        if (from < program->n_functions)
            functions[k] = program->functions[from];
        else if (graph->kernels[k].flags & DF_KERNEL_LOOP)
            functions[k].cpu = df_loop;
        /* Without the kernels' sources no hash can be made. This graph is ours alone, so it may be written to. */
        if (from != DF_NONE)
            memcpy(((struct df_kernel *)&graph->kernels[k])->code_hash, old->kernels[from].code_hash,
                   sizeof graph->kernels[k].code_hash);
    }
    graph->identity = old->identity;
    int rc = dfr_graph_set_functions(graph, functions, graph->n_kernels, error);
    free(functions);
    return rc;
}

/* So many waves go by; 0: nobody knows. */
static uint32_t waves_of(const struct df_graph *graph, const struct df_options *options)
{
    if (options->waves < 0)
        return df_graph_has_streams(graph) ? 0 : 1;
    return options->waves < UINT32_MAX ? (uint32_t)options->waves : UINT32_MAX;
}

/* Graph and times for the sizes that were given. Nodes are divided for the machine of this run, but not if another process or a later run has
 * to make the same graph on another machine; nor if each work is to be measured. */
static int replan(const struct df_program *program, const struct dfr_image *image, const struct dfr_command_line *line,
                  const struct df_times *old, struct df_graph **graph, struct df_times *times, struct df_error *error)
{
    const bool alone = !line->cluster && !line->resume.journal && !line->resume.chunk && !dfr_measure_asked();
    struct df_platform *platform = calloc(1, sizeof *platform);
    struct df_options options = line->options;
    if (!platform)
        return dfr_error_memory(error);
    options.plan = image->plan;
    const struct df_made_for run = { .platform = platform, .waves = waves_of(image->graph, &options), .one_pass = options.passes > 0,
                                     .log_level = options.log_level };
    if (alone && image->plan)
        dfr_machine_describe(image->graph, &options, platform);
    int rc = program->replanner->make(image, old, line->params, image->graph->n_params, alone && image->plan ? &run : NULL, graph, times, error);
    free(platform);
    return rc;
}

/* A locked plan is for the sizes that it was made for. */
static int refuse_sizes(const struct df_graph *graph, const struct dfr_command_line *line, struct df_error *error)
{
    uint32_t i = 0;
    while (i + 1 < graph->n_params && line->params[i] == graph->params[i].value)
        i++;
    const char *name = df_graph_string(graph, graph->params[i].name);
    return dfr_error(error, DF_E_REFUSED, "the plan is locked for %s = %lld, and --%s=%lld needs another one: build the program without --lock, or with a lock for -D %s=%lld",
                     name, (long long)graph->params[i].value, name, (long long)line->params[i], name, (long long)line->params[i]);
}

/* Makes graph and plan again for the sizes that were given. Times come from what was known when the program was
 * made. */
static int remake(const struct df_program *program, const struct dfr_image *image, const struct dfr_command_line *line,
                  struct made *made, struct df_error *error)
{
    struct df_times old = { 0 }, times = { 0 };
    int rc = DF_OK;
    if (image->plan && image->plan->locked)
        return refuse_sizes(image->graph, line, error);
    if (!program->replanner)
        return dfr_error(error, DF_E_REFUSED,
                         "this program cannot change its sizes: it was linked without the front end");
    if (image->plan)
        old = image->plan->times;
    else
        rc = dfr_times_default(image->graph, line->options.emu_all, &old, error);
    if (rc == DF_OK)
        rc = replan(program, image, line, &old, &made->graph, &times, error);
    if (rc == DF_OK)
        rc = attach_functions(program, image->graph, made->graph, error);
    if (rc == DF_OK && image->plan && program->planner)
        rc = program->planner->make(made->graph,
                                    line->options.platform ? line->options.platform : &image->plan->platform, &times,
                                    image->plan->policy, &made->plan, error);
    dfr_times_free(&times);
    if (!image->plan)
        dfr_times_free(&old);
    return rc;
}

/* ---- the run ---- */

static int read_platform(const struct df_program *program, struct dfr_command_line *line, struct df_platform *platform,
                         struct df_error *error)
{
    if (!line->platform_path)
        return DF_OK;
    if (!program->read_platform)
        return dfr_error(error, DF_E_REFUSED, "--platform: this program was linked without the reader of platforms");
    line->options.platform = platform;
    return program->read_platform(line->platform_path, platform, error);
}

/* What is said of a run when it has ended. */
struct outcome {
    struct df_stats *stats;
    struct dfr_figures *figures;        /* of a run on many ranks; NULL: it was in this process alone */
    bool is_told;                       /* another rank tells it */
};

/* Files that cannot be written are told before the work and not after it. A chunk writes none of them. */
static int check_outputs(const struct df_graph *graph, const struct dfr_command_line *line, struct df_error *error)
{
    char *missing = NULL;
    if (line->resume.chunk || line->options.device == DF_DEVICE_SIM || line->options.rehearse != 0)
        return DF_OK;
    int rc = dfr_outputs_check(graph, line->options.args, &missing, error);
    if (missing && line->options.log_level >= DF_LOG_WARNING)
        dfr_say("warning: '%s' is written after the last wave, and its folder is not there", missing);
    free(missing);
    return rc;
}

/* A run of this process alone that keeps no record. */
static int run_plain(const struct df_graph *graph, const struct dfr_command_line *line, struct df_stats *stats, struct df_error *error)
{
    struct dfr_early early = { 0 };
    struct df_run *handle;
    char at_once[200] = "";
    struct df_options options = line->options;
    options.early = &early;
    if (line->options.log_level >= DF_LOG_WARNING)
        snprintf(at_once, sizeof at_once, "%s: ended at once; files that were not complete are removed", dfr_program_name());
    dfr_interrupt_begin(false, at_once); /* before the workers begin, because they may write before this thread goes on */
    int rc = df_run_start(graph, &options, &handle, error);
    if (rc != DF_OK) {
        dfr_interrupt_end();
        return rc;
    }
    dfr_bad_files_begin(options.bad_files);
    struct dfr_progress *progress = dfr_progress_begin(handle, line->progress);
    dfr_interrupted_join(handle, line);
    dfr_progress_end(progress);
    dfr_interrupt_end();
    rc = df_run_wait(handle, stats, error);
    return dfr_interrupted_tell(&early, line, rc, error);
}

/* A run that can be resumed, or that makes a chunk. */
static int run_resumable(const struct df_graph *graph, const struct dfr_command_line *line, struct df_stats *stats,
                         struct df_error *error)
{
    struct df_options options = line->options;
    struct dfr_resumable *resumable;
    struct df_run *handle;
    int rc = dfr_resumable_open(graph, &options, &line->resume, &resumable, error);
    if (rc != DF_OK || !resumable)
        return rc;
    rc = df_run_start(graph, &options, &handle, error);
    if (rc == DF_OK) {
        dfr_bad_files_begin(options.bad_files);
        struct dfr_progress *progress = dfr_progress_begin(handle, line->progress);
        dfr_resumable_feed(resumable, handle);
        dfr_progress_end(progress);
        rc = df_run_wait(handle, stats, error);
    }
    return dfr_resumable_close(resumable, rc, error);
}

/* Gives the ranks of this mpirun. *link is NULL if there is one. */
static int find_ranks(const struct dfr_command_line *line, struct dfr_link **link, struct df_error *error)
{
    struct df_error why = { "" };
    int rc = dfr_link_open_mpi(link, NULL, &why);
    if (rc != DF_OK)
        return dfr_error(error, rc, "--cluster: %s", why.text);
    if ((*link)->size > 1)
        return DF_OK;
    (*link)->close(*link, true);
    *link = NULL;
    if (line->options.log_level >= DF_LOG_WARNING)
        dfr_say("warning: --cluster: there is one rank, so all runs in this process%s; mpirun -n N starts N of them",
                line->stages.path ? ", and --mapping has no effect" : "");
    return DF_OK;
}

static int run_ranks(struct dfr_link *link, const struct df_graph *graph, const struct dfr_command_line *line, struct outcome *outcome,
                     struct df_error *error)
{
    struct dfr_ranks_options ranks = line->ranks;
    struct dfr_progress_count progress;
    ranks.own_process = true;
    ranks.resume = line->journal ? &line->resume : NULL;
    ranks.progress = dfr_progress_show;
    ranks.progress_arg = &progress;
    dfr_progress_count_begin(&progress, link->rank == 0 ? line->progress : DFR_PROGRESS_OFF);
    ranks.figures = line->stats != DFR_STATS_NONE ? &outcome->figures : NULL;
    outcome->is_told = link->rank > 0;
    ranks.stages = line->staged ? &line->stages : NULL;
    int rc = dfr_ranks_run(link, graph, &line->options, &ranks, outcome->stats, error);
    dfr_progress_count_end(&progress, rc == DF_OK);
    return rc;
}

/* Several processes of one mpirun that know nothing of each other are hardly what was meant, unless each makes a chunk. */
static void warn_without_cluster(const struct dfr_command_line *line)
{
    const char *n = getenv("OMPI_COMM_WORLD_SIZE");
    n = n ? n : getenv("PMI_SIZE");
    if (n && atoi(n) > 1 && !line->resume.chunk && line->options.log_level >= DF_LOG_WARNING)
        dfr_say("warning: this is one of %d processes of an mpirun, and runs all waves by itself: --cluster is missing", atoi(n));
}

static int run_graph(const struct df_graph *graph, const struct dfr_command_line *line, struct outcome *outcome,
                     struct df_error *error)
{
    struct df_stats *stats = outcome->stats;
    struct dfr_link *link = NULL;
    int rc;
    if (line->cluster && (rc = find_ranks(line, &link, error)) != DF_OK)
        return rc;
    if (link)
        return run_ranks(link, graph, line, outcome, error);
    if (!line->cluster)
        warn_without_cluster(line);
    if ((rc = check_outputs(graph, line, error)) != DF_OK)
        return rc;
    if (line->resume.journal || line->resume.chunk)
        return run_resumable(graph, line, stats, error);
    if (line->options.device == DF_DEVICE_SIM) {
        if (line->stats == DFR_STATS_NONE && !line->options.trace_path && line->options.log_level >= DF_LOG_WARNING)
            fprintf(stderr, "%s: warning: --device=sim runs no kernel and nobody sees what it predicts: --stats or "
                            "--trace=FILE shows it\n", dfr_program_name());
        if (line->options.passes > dfr_passes_most(graph) && line->options.passes > 1 && line->options.log_level >= DF_LOG_WARNING)
            fprintf(stderr, "%s: warning: --passes=%u: an acc has %u parts at most, so the waves go by so often\n", dfr_program_name(), line->options.passes,
                    dfr_passes_most(graph));
        rc = df_simulate(graph, &line->options, stats, error);
    } else {
        rc = run_plain(graph, line, stats, error);
    }
    return rc;
}

/* Where the statistics go; NULL: a file that is to be opened. What was printed on a standard stream before stays there. */
static FILE *stats_stream(const struct dfr_command_line *line)
{
    if (!line->stats_path)
        return line->stats == DFR_STATS_JSON ? stdout : stderr;
    return !strcmp(line->stats_path, "/dev/stdout") ? stdout : !strcmp(line->stats_path, "/dev/stderr") ? stderr : NULL;
}

static int write_stats(const struct df_graph *graph, const struct dfr_command_line *line, const struct outcome *outcome,
                       struct df_error *error)
{
    struct dfr_output output = { .file = stats_stream(line) };
    bool opens = !output.file;
    int rc = opens ? dfr_output_open(&output, line->stats_path, error) : DF_OK;
    if (rc != DF_OK)
        return rc;
    if (outcome->figures)
        (line->stats == DFR_STATS_JSON ? dfr_report_ranks_json : dfr_report_ranks_text)(outcome->figures, graph, output.file);
    else
        (line->stats == DFR_STATS_JSON ? dfr_report_json : dfr_report_text)(outcome->stats, graph, line->options.node_stats,
                                                                            line->options.node_skips, output.file);
    return opens ? dfr_output_close(&output, true, error) : DF_OK;
}

static int open_bad_files(struct dfr_command_line *line, struct df_error *error)
{
    struct df_options *options = &line->options;
    if ((!line->bad_files_path && line->on_error != 2) || options->device == DF_DEVICE_SIM || options->rehearse != 0) /* these read no file */
        return DF_OK;
    return dfr_bad_files_open(line->bad_files_path, line->resume.resume, &options->bad_files, error);
}

static int run_and_report(const struct df_graph *graph, struct dfr_command_line *line, struct df_stats *stats,
                          struct df_error *error)
{
    struct outcome outcome = { .stats = stats };
    int rc = line->stats && !stats_stream(line) ? dfr_output_check(line->stats_path, error) : DF_OK;
    if (rc != DF_OK)
        return rc;
    line->options.latency = line->stats != DFR_STATS_NONE && !line->stats_totals;
    if ((line->stats != DFR_STATS_NONE && !line->stats_totals &&
         !(line->options.node_stats = calloc((size_t)graph->n_nodes + 1, sizeof *line->options.node_stats))) ||
        (line->stats != DFR_STATS_NONE &&
         !(line->options.node_skips = calloc((size_t)graph->n_nodes + 1, sizeof *line->options.node_skips))))
        rc = dfr_error_memory(error);
    else if ((rc = open_bad_files(line, error)) == DF_OK)
        rc = run_graph(graph, line, &outcome, error);
    if (rc == DF_OK && line->stats != DFR_STATS_NONE && !outcome.is_told)
        rc = write_stats(graph, line, &outcome, error);
    rc = dfr_bad_files_close(line->options.bad_files, rc, &line->n_bad_files, error);
    line->options.bad_files = NULL;
    dfr_figures_free(outcome.figures);
    free(line->options.node_stats);
    line->options.node_stats = NULL;
    free(line->options.node_skips);
    line->options.node_skips = NULL;
    return rc;
}

static int run(const struct df_program *program, const struct dfr_image *image, struct dfr_command_line *line,
               struct df_error *error)
{
    struct df_platform *platform = calloc(1, sizeof *platform);
    struct df_stats *stats = calloc(1, sizeof *stats);
    struct made made = { 0 };
    struct dfr_job job = { 0 };         /* of --replay */
    int rc = platform && stats ? read_platform(program, line, platform, error) : dfr_error_memory(error);
    if (rc == DF_OK && line->replay)
        rc = dfr_replay_read(image->graph, line, &job, error);
    if (rc == DF_OK && line->params_changed)
        rc = remake(program, image, line, &made, error);
    const struct df_graph *graph = made.graph ? made.graph : image->graph;
    line->options.plan = made.graph ? made.plan : image->plan;
    line->options.planner = program->planner;
    if (rc == DF_OK && line->replay)
        rc = dfr_replay_run(graph, line, &job, error);
    else if (rc == DF_OK)
        rc = dfr_measure_asked() ? dfr_measure(graph, &line->options, error) : run_and_report(graph, line, stats, error);
    dfr_plan_free(made.plan);
    df_graph_free(made.graph);
    dfr_job_free(&job);
    free(platform);
    free(stats);
    return rc;
}

static void say_error(const struct df_error *error)
{
    if (error->text[0])                 /* empty: diagnostics have been printed already */
        fprintf(stderr, "%s: error: %s\n", dfr_program_name(), error->text);
}

/* --watchdog has found a job that does not end. No thread can be stopped from outside, so the process ends. */
static void expired(void *arg)
{
    (void)arg;
    dfr_output_leave(1);
}

/* Writes out what kernels or --help printed: a full disk must not look like success. */
static int flush_stdout(struct df_error *error)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return DF_OK;
    return dfr_error(error, DF_E_IO, "cannot write to the standard output: %s", strerror(errno ? errno : EIO));
}

/* A handler of pthread_cleanup_push(): a kernel that is measured on this thread has ended it, or cancelled it. */
static void main_thread_ends(void *arg)
{
    (void)arg;
    dfr_crash_thread_ends();            /* ends the process */
}

static int run_guarded(const struct df_program *program, const struct dfr_image *image, struct dfr_command_line *line,
                       struct df_error *error)
{
    int rc;
    pthread_cleanup_push(main_thread_ends, NULL);
    rc = run(program, image, line, error);
    pthread_cleanup_pop(0);
    return rc;
}

/* OpenBLAS makes its threads when it is loaded. They wait for work by looking for it, for some 25 ms, and take cores from
 * the workers meanwhile. This is what its fork handler calls to end them. The first call that has work for them makes them anew. */
static void end_waiting_blas_threads(void)
{
    void *end = dlsym(RTLD_DEFAULT, "blas_thread_shutdown_");
    if (end)
        (*(int (**)(void))&end)();
}

int df_main(int argc, char **argv, const struct df_program *program)
{
    struct df_error error = { "" };
    struct dfr_image image = { 0 };
    struct dfr_command_line line = { 0 };
    struct dfr_host host;
    bool stopped = false;
    int status = 0;
    dfr_host_enter(&host);              /* a library that was loaded may have changed it */
    end_waiting_blas_threads();
    dfr_standard_files_hold();
    dfr_unfinished_watch(dfr_status_clear_in_signal);
    dfr_cores_quiet();
    dfr_crash_watch();
    if (dfr_image_open(program->image, program->image_bytes, program->functions, program->n_functions, &image,
                       &error) != DF_OK) {
        say_error(&error);
        return 1;
    }
    char *identity = NULL;
    image.graph->identity = program->identity;
    int parsed = dfr_args_parse(image.graph, program->params, argc, argv, &line, &error);
    line.resume.command = line.resume_command = dfr_command_line_text(argc, argv, "--resume");
    if (df_graph_live(image.graph) == DF_NONE)
        line.journal_command = dfr_command_line_text(argc, argv, "--journal");
    if (parsed != DF_OK) {
        say_error(&error);
        status = parsed == DF_E_ARGUMENT ? 2 : 1;
    } else if (line.help) {
        dfr_args_help(image.graph, dfr_program_name(), stdout);
    } else if (line.version) {
        printf("%s, made by dfc %s\n", dfr_program_name(), DFC_VERSION);
    } else {
        line.options.expired = expired;
        line.options.emu_gpu_code = program->emu_gpu_code;
        if (line.options.waves < 0)
            line.options.waves = image.default_waves;
        if (program->identity && (line.cluster || line.journal || line.resume.chunk) && (identity = dfr_loaded_identity(program->identity)))
            image.graph->identity = identity; /* what another process has to agree with */
        dfr_crash_run(true);
        const int rc = run_guarded(program, &image, &line, &error);
        if (rc != DF_OK) {
            say_error(&error);
            status = line.n_bad_files ? 3 : 1;
        }
        stopped = rc == DF_E_STOPPED;
        dfr_crash_run(false);
    }
    if (status == 0 && flush_stdout(&error) != DF_OK) {
        say_error(&error);
        status = 1;
    }
    const bool cluster = line.cluster;
    dfr_args_free(&line);
    dfr_plan_free(image.plan);
    df_graph_free(image.graph);
    free(identity);
    if (!cluster && (dfr_asked() == SIGINT || (dfr_asked() == SIGTERM && stopped)))
        dfr_unfinished_end(dfr_asked()); /* so that a shell sees what has ended it */
    return status;
}
