/* cmd_profile.c - `dfc profile GRAPH.df`: builds the graph's program and lets it measure its works
 * (runtime/measure/measure.h describes how). Each result is stored as it arrives, so an interrupted run loses no
 * finished measurement.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/trial/compare_stats.h"
#include "compiler/trial/temporary_program.h"
#include "compiler/commands/profile_report.h"
#include "compiler/show/pays.h"
#include "runtime/measure/measure.h"
#include "runtime/base/error.h"
#include "runtime/base/message.h"
#include "runtime/base/text.h"
#include "runtime/threads/bind.h"

extern char **environ;

#define RESULTS_FD 3                    /* descriptors of the program */
#define KNOWN_FD 4

static const char usage[] =
    "usage: dfc profile GRAPH.df [options] [-- PROGRAM'S OPTIONS]\n"
    "       dfc profile --report [GRAPH.df] [--format=text|csv] [-o FILE]\n\n"
    "Runs every variant of every distinct (kernel, dimensions, scalars) of the graph until its mean is known, and\n"
    "stores the times, so that later commands place nodes by them. Sources, sinks and `ordered` kernels run once a\n"
    "wave, for as many waves as a run has (the program's option --waves, or until a stream ends) or for --max-time.\n"
    "Others are repeated on copies of real inputs. A time is not measured again if it is known for the same source\n"
    "and sizes, whether it was measured before or learned by a run with --learn.\n\n"
    "With several kinds of devices, as in --device=emu,opencl, the program runs once for each of them.\n\n"
    "At the end it says for each kernel what a job takes here and on each device, with its copies; what a wave takes with\n"
    "one worker, with all, and with --device=cuda, emu or opencl on the devices, too: predicted in virtual time, and measured by\n"
    "short runs of the program; and in words whether dividing and offloading pay.\n";

struct request {
    struct dfc_common common;
    struct dfc_build_options build;
    struct dfr_sampler_options sampler;
    const char *db;
    double watchdog_s;                  /* 0: not given */
    bool force, report, loaded, cold;
    int form;                           /* of the report, an enum dfr_form; below 0: none was given */
    char **rest;                        /* options after "--", for the program */
    int n_rest;
};

/* ---- options ---- */

/* "0.01" or "1%". */
static int set_goal(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    char *end;
    double goal = strtod(text, &end);
    if (strcmp(end, "%") == 0)
        goal /= 100;
    else if (*end)
        end = (char *)text;
    if (end == text || !(goal > 0 && goal <= 1))
        return dfr_error(error, DF_E_ARGUMENT, "%s=%s: a share such as 0.01 or 1%% is expected", option->name, text);
    *(double *)field = goal;
    return DF_OK;
}

static const struct dfr_option own_options[] = {
    DFR_HEADING("options"),
    { "--goal", "1%", "how well a mean must be known: half of its 95 % interval", DFR_SET(set_goal, struct request, sampler.goal) },
    { "--max-runs", "1000", "run one variant at most so often", DFR_COUNT(struct request, sampler.max_runs, 1, 10000000) },
    { "--max-time", "2s", "spend at most that time on one variant", DFR_FIELD(SECONDS, struct request, sampler.max_s), .first = true },
    { "--watchdog", "TIME", "end if one call of a kernel takes longer (ten times --max-time, and at least 5 s, or 60 s with "
      "--device=opencl, whose driver may compile it at its first launch); what was measured before that is kept", DFR_FIELD(SECONDS, struct request, watchdog_s) },
    { "--loaded", NULL, "measure cpu variants three times, each for a third of --max-time: alone; while the other workers "
      "of a run do the same; and while they run STREAM's triad. Sources, sinks and ordered kernels: alone, and "
      "beside the triad, for which the waves run twice. Simulations and gp then know how "
      "memory-bound jobs slow each other, once 'dfc probe' has measured this machine. The "
      "number of workers is that of a run, or the program's --workers", DFR_FIELD(FLAG, struct request, loaded) },
    { "--cold", NULL, "before each launch of a gpu variant that is repeated, write as many bytes as the GPU's cache has, so "
      "that it reads its inputs from memory. The times are stored as this kernel's like any others: what "
      "is known is not measured again without --force, and both kinds are combined unless --db=FILE keeps "
      "them apart", DFR_FIELD(FLAG, struct request, cold) },
    { "--force", NULL, "measure again what is known", DFR_FIELD(FLAG, struct request, force) },
    { "--report", NULL, "measure nothing; print how well times and speedups of sizes that were not measured are estimated "
      "from those that were: the error of each estimator by 10-fold cross-validation, for the kernels "
      "of a graph or for all of this machine", DFR_FIELD(FLAG, struct request, common.path_optional) },
    DFC_OPTION_FORMAT("text|csv", struct request, form, "form of the report (text)"),
    DFC_OPTION_OUTPUT("the file for the report; else it goes to standard output"),
    { "--db", "FILE", "the profile database ($DFC_PROFILE, else ~/.local/share/dfc/profile.db)", DFR_FIELD(TEXT, struct request, db) },
    DFC_OPTION_POLICY("POLICY", NULL),     /* refused with a sentence: each kernel runs by itself */
    DFC_OPTION_REST,
    { 0 }
};

static int parse(int argc, char **argv, struct request *r)
{
    int end = dfc_trial_split(argc, argv);
    if (dfc_parse_options(&dfc_command_profile, end, argv, &r->common) != 0)
        return 2;
    r->report = r->common.path_optional;
    if (end < argc) {
        r->rest = argv + end + 1;
        r->n_rest = argc - end - 1;
    }
    if (r->form >= 0 && !r->report) {
        dfc_error("--format: only the report has one; add --report");
        return 2;
    }
    if (r->report && (r->loaded || r->cold)) {
        dfc_error("%s: the report measures nothing; leave out one of the two", r->loaded ? "--loaded" : "--cold");
        return 2;
    }
    if (r->report)
        return dfc_output_is_no_database(r->db, r->common.output) ? 0 : 2;
    if (r->common.output) {
        dfc_error("-o: profile writes to the database; --db=FILE names another one");
        return 2;
    }
    if (r->common.policy) {
        dfc_error("--policy: profile runs each kernel by itself, under no policy");
        return 2;
    }
    if (r->common.device && strcmp(r->common.device, "sim") == 0) {
        dfc_error("--device=sim: a simulated device has nothing to measure");
        return 2;
    }
    return 0;
}

/* ---- the program's results ---- */

enum { WORK_BYTES = 400 };

struct results {
    struct dfw_db *db;
    const struct dfc_loaded *loaded;
    uint32_t total, known, stored, skipped;
    struct dfr_load load;               /* of the next sample; workers 0: it has none */
    char trying[WORK_BYTES];            /* what is being measured; a message names it if the program dies of it */
    bool begun, ended, failed;
};

static void fail(struct results *r, const char *format, const char *text)
{
    dfc_error(format, text);
    r->failed = true;
}

/* Cuts a line at its tabs. Gives the number of fields, at most `max`. */
static unsigned split(char *line, char **fields, unsigned max)
{
    unsigned n = 0;
    line[strcspn(line, "\n")] = 0;
    for (char *at = line; n < max; at++) {
        fields[n++] = at;
        at = strchr(at, '\t');
        if (!at)
            break;
        *at = 0;
    }
    return n;
}

enum { F_DEVICE = 1, F_VARIANT, F_KERNEL, F_DIMS, F_SCALARS, F_HASH, F_JOB_BYTES, F_MEAN, F_CI, F_RUNS, F_DROPPED,
       F_QUANTILES, F_DONE, N_FIELDS };

static struct dfw_key key_of(char **f)
{
    return (struct dfw_key){ .device = f[F_DEVICE],
                             .variant = f[F_VARIANT],
                             .work = { .kernel = f[F_KERNEL],
                                       .dims = f[F_DIMS],
                                       .scalars = f[F_SCALARS],
                                       .hash = strtoull(f[F_HASH], NULL, 16),
                                       .job_bytes = strtoull(f[F_JOB_BYTES], NULL, 10) } };
}

/* Writes "matmul k=1024 cpu". Gives the text. */
static const char *work_text(char **f, char text[WORK_BYTES])
{
    snprintf(text, WORK_BYTES, "%s%s%s%s%s %s", f[F_KERNEL], *f[F_DIMS] ? " " : "", f[F_DIMS],
             *f[F_SCALARS] ? " " : "", f[F_SCALARS], f[F_VARIANT]);
    return text;
}

/* Prints "[12/38] matmul k=1024 cpu  2.13 ms ±0.8 % (14 runs)". */
static void print_sample(const struct results *r, char **f, const struct dfr_sample *s)
{
    char work[WORK_BYTES], mean[24], known[32] = "", dropped[32] = "", load[128] = "";
    if (!isnan(s->ci_s) && s->mean_s > 0)
        snprintf(known, sizeof known, " ±%.1f %%", 100 * s->ci_s / s->mean_s);
    if (s->dropped)
        snprintf(dropped, sizeof dropped, ", %" PRIu32 " outlier%s", s->dropped, s->dropped == 1 ? "" : "s");
    if (r->load.workers && s->mean_s > 0 && r->load.self_s > 0)
        snprintf(load, sizeof load, "; with %" PRIu32 " workers %.2fx as long beside itself, %.2fx beside the triad",
                 r->load.workers, r->load.self_s / s->mean_s, r->load.triad_s / s->mean_s);
    else if (r->load.workers && s->mean_s > 0)
        snprintf(load, sizeof load, "; with %" PRIu32 " workers %.2fx as long beside the triad", r->load.workers, r->load.triad_s / s->mean_s);
    dfr_message_print(stderr, "[%s/%" PRIu32 "] %s  %s%s (%" PRIu32 " run%s%s)%s", f[F_DONE], r->total,
                      work_text(f, work), dfr_text_seconds(s->mean_s, mean, sizeof mean), known, s->runs,
                      s->runs == 1 ? "" : "s", dropped, load);
}

static void take_load(struct results *r, char **f)
{
    r->load = (struct dfr_load){ (uint32_t)strtoul(f[1], NULL, 10), strtod(f[2], NULL), strtod(f[3], NULL),
                                 strtod(f[4], NULL), strtod(f[5], NULL) };
}

static void take_sample(struct results *r, char **f)
{
    struct df_error error = { "" };
    struct dfw_key key = key_of(f);
    struct dfr_sample sample = { .mean_s = strtod(f[F_MEAN], NULL), .ci_s = strtod(f[F_CI], NULL),
                                 .runs = (uint32_t)strtoul(f[F_RUNS], NULL, 10),
                                 .dropped = (uint32_t)strtoul(f[F_DROPPED], NULL, 10) };
    dfr_quantiles_read(f[F_QUANTILES], sample.quantile);
    int status = r->load.workers ? dfw_sample_store_loaded(r->db, &key, &sample, &r->load, &error)
                                 : dfw_sample_store(r->db, &key, &sample, &error);
    if (status != DF_OK) {
        fail(r, "%s", error.text);
        return;
    }
    r->stored++;
    print_sample(r, f, &sample);
    r->load.workers = 0;
}

enum { F_NUMBER = 1, F_CLASS, F_NODE, F_WAVE, F_LIMIT }; /* of a line "late" */

/* A call that does not return: says where its kernel is declared, and where its code is. */
static void report_late(struct results *r, char **f)
{
    const struct dfc_front *front = r->loaded->front;
    const struct dfc_kernel_code *code = NULL;
    char limit[24];

    for (size_t i = 0; i < front->n_kernels; i++)
        if (front->kernels[i].kernel == strtoul(f[F_NUMBER], NULL, 10))
            code = &front->kernels[i];
    if (!code)
        return;                         /* the program has named the node */
    const struct dfl_variant *gpu = code->gpu ? code->gpu : code->opencl;
    const struct dfl_variant *variant = strcmp(f[F_CLASS], "gpu") == 0 && gpu ? gpu : code->cpu;
    dfl_error(r->loaded->sink, code->ast->name.loc, "kernel '%s', as %s variant of node '%s', has not returned within %s",
              code->ast->name.text, f[F_CLASS], f[F_NODE], dfr_text_seconds(strtod(f[F_LIMIT], NULL), limit, sizeof limit));
    if (variant)
        dfl_note(r->loaded->sink, variant->path ? variant->path_loc : variant->code_loc, "its code is here");
    dfl_hint(r->loaded->sink, "if it needs more time than that, give --watchdog=TIME");
}

static void take_line(struct results *r, char *line)
{
    char *f[N_FIELDS], work[WORK_BYTES];
    unsigned n = split(line, f, N_FIELDS);
    if (strcmp(f[0], "begin") == 0 && n == 3) {
        r->begun = true;
        r->total = (uint32_t)strtoul(f[1], NULL, 10);
        r->known = (uint32_t)strtoul(f[2], NULL, 10);
    } else if (strcmp(f[0], "try") == 0 && n == F_JOB_BYTES + 1) {
        work_text(f, r->trying);
    } else if (strcmp(f[0], "sample") == 0 && n == N_FIELDS) {
        take_sample(r, f);
    } else if (strcmp(f[0], "loaded") == 0 && n == 6) {
        take_load(r, f);
    } else if (strcmp(f[0], "unloaded") == 0 && n == F_MEAN + 1) {
        dfr_message_print(stderr, "%s  not measured under load: %s", work_text(f, work), f[F_MEAN]);
    } else if (strcmp(f[0], "skip") == 0 && n == F_CI + 1) {
        r->skipped++;
        dfr_message_print(stderr, "[%s/%" PRIu32 "] %s  not measured: %s", f[F_CI], r->total, work_text(f, work),
                          f[F_MEAN]);
    } else if (strcmp(f[0], "late") == 0 && n == F_LIMIT + 1) {
        report_late(r, f);
    } else if (strcmp(f[0], "end") == 0 && n == 1) {
        r->ended = true;
    } else {
        fail(r, "the program wrote '%s', which is no result; was it made by another dfc?", f[0]);
    }
}

/* ---- the program ---- */

static void write_known(void *arg, const struct dfw_key *key)
{
    for (int loaded = 0; loaded <= key->loaded; loaded++) {
        dfr_measure_print_key(arg, key->device, key->variant, &key->work);
        fputs(loaded ? "\tloaded\n" : "\n", arg);
    }
}

static void write_known_cpu(void *arg, const struct dfw_key *key)
{
    if (strcmp(key->device, "cpu") == 0)
        write_known(arg, key);
}

/* Makes a file without a name that holds the keys already measured, positioned at its beginning. further: the program has measured all cpu variants with another
 * device. NULL: reported. */
static FILE *known_file(const struct request *r, bool further, struct dfw_db *db)
{
    struct df_error error = { "" };
    FILE *file = tmpfile();
    if (!file) {
        dfc_error("cannot make a temporary file: %s", strerror(errno));
        return NULL;
    }
    if ((!r->force || further) && dfw_sample_each(db, r->force ? write_known_cpu : write_known, file, &error) != DF_OK)
        dfc_error("%s", error.text);
    else if (fflush(file) != 0 || fseek(file, 0, SEEK_SET) != 0)
        dfc_error("cannot write a temporary file: %s", strerror(errno));
    else
        return file;
    fclose(file);
    return NULL;
}

/* Moves a descriptor out of the way, to 10 or above. It may be 3 or 4 itself, and dup2 to the same number would leave
 * close-on-exec set. */
static bool clear_of_targets(int *fd)
{
    int moved = fcntl(*fd, F_DUPFD_CLOEXEC, 10);
    if (moved < 0)
        return false;
    close(*fd);
    *fd = moved;
    return true;
}

/* Starts the program with `results` and `known` as its descriptors 3 and 4. What it prints is thrown away. Gives 0 or
 * an errno. */
static int start(char *const *argv, int results, int known, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, results, RESULTS_FD);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, known, KNOWN_FD);
    if (!error)
        error = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!error)
        error = posix_spawn(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static void read_results(int fd, struct results *r)
{
    char *line = NULL;
    size_t capacity = 0;
    FILE *file = fdopen(fd, "r");
    if (!file) {
        close(fd);
        fail(r, "cannot read what was measured: %s", strerror(errno));
        return;
    }
    while (!r->failed && getline(&line, &capacity, file) > 0)
        take_line(r, line);
    free(line);
    fclose(file);                       /* if the program still runs after a failure here, the closed pipe ends it */
}

static bool run_program(const struct request *r, char *const *argv, FILE *known, struct results *results)
{
    char setting[192];
    int pipe_fds[2] = { -1, -1 }, known_fd = dup(fileno(known)), status;
    pid_t pid = -1;
    snprintf(setting, sizeof setting, "out=%d known=%d goal=%.9g max_runs=%" PRIu32 " max_s=%.9g loaded=%d cold=%d", RESULTS_FD,
             KNOWN_FD, r->sampler.goal, r->sampler.max_runs, r->sampler.max_s, r->loaded, r->cold);
    setenv(DFR_MEASURE_VARIABLE, setting, 1);
    int error = known_fd < 0 || pipe2(pipe_fds, O_CLOEXEC) != 0 ? errno : 0;
    if (!error && (!clear_of_targets(&pipe_fds[1]) || !clear_of_targets(&known_fd)))
        error = errno;
    if (!error)
        error = start(argv, pipe_fds[1], known_fd, &pid);
    unsetenv(DFR_MEASURE_VARIABLE);
    if (pipe_fds[1] >= 0)
        close(pipe_fds[1]);
    if (known_fd >= 0)
        close(known_fd);
    if (error) {
        if (pipe_fds[0] >= 0)
            close(pipe_fds[0]);
        dfc_trial_cannot_run(argv[0], error);
        return false;
    }
    dfc_running = pid;
    read_results(pipe_fds[0], results);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    dfc_running = 0;
    if (results->failed)
        return false;
    if (WIFSIGNALED(status))
        dfc_error("the program was ended by signal %d (%s)%s%s", WTERMSIG(status), strsignal(WTERMSIG(status)),
                  results->trying[0] ? " while it ran " : "", results->trying);
    else if (WEXITSTATUS(status) == 0 && !results->ended)
        dfc_error("the program ended before all was measured");
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 && results->ended; /* if not, the program has reported why */
}

/* Measures the cpu variants that are not known, and the gpu variants on one kind of devices. */
static bool measure_on(const struct request *r, const struct dfc_common *common, bool further, const struct dfc_loaded *loaded,
                       const struct dfc_trial *program, struct dfw_db *db)
{
    struct results results = { .db = db, .loaded = loaded };
    struct dfc_list argv = { 0 };
    bool good = false;
    FILE *known = known_file(r, further, db);
    dfc_trial_arguments(program, common, &argv);
    if (r->watchdog_s > 0)
        dfc_list_add(&argv, "--watchdog=%.9fs", r->watchdog_s);
    for (int i = 0; i < r->n_rest; i++)
        dfc_list_add(&argv, "%s", r->rest[i]);
    if (argv.failed)
        dfc_error("out of memory");
    else if (known)
        good = run_program(r, argv.items, known, &results);
    if (results.begun) {
        if (common != &r->common)
            printf("%s: ", common->device);
        printf("%" PRIu32 " measured", results.stored);
        if (results.known)
            printf(", %" PRIu32 " known before", results.known);
        if (results.skipped)
            printf(", %" PRIu32 " not measured", results.skipped);
        dfr_message_print(stdout, "; in %s", dfw_db_path(db));
    }
    if (known)
        fclose(known);
    dfc_list_free(&argv);
    return good;
}

/* Of several kinds of devices one after the other, each by a run of the program. The emulator is first: it and the cpu variants are measured on one core. */
static int measure(const struct request *r, const struct dfc_loaded *loaded, const struct dfc_trial *program, struct dfw_db *db)
{
    static const char *const kinds[] = { "emu", "cuda", "opencl" };
    struct dfc_common common = r->common;
    bool good = true, further = false;
    if (!common.device || !strchr(common.device, ','))
        return measure_on(r, &r->common, false, loaded, program, db) ? 0 : 1;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && good; k++) {
        common.device = kinds[k];
        if (!dfr_option_lists(r->common.device, kinds[k]))
            continue;
        good = measure_on(r, &common, further, loaded, program, db);
        further = true;
    }
    return good ? 0 : 1;
}

/* ---- does it pay? ---- */

#define TRY_S 0.02                      /* a run that only shows what dividing gives is so long */
#define MOST_TRY_S 2.0                  /* and a longer one is left out */
enum { LEAST_WAVES = 16, MOST_WAVES = 1000, TRIES = 3 };

/* Runs the program one way, and takes the mean of a wave. It stays unknown if the program fails: then what it says is
 * what it says of any run. */
static void try_way(const struct request *r, const struct dfc_trial *program, struct dfc_way *way)
{
    struct dfc_common common = r->common;
    struct dfc_list argv = { 0 };
    struct dfc_run_stats stats;
    char *err = NULL;
    common.workers = way->workers;
    common.device = way->devices ? r->common.device : "none";
    dfc_trial_arguments(program, &common, &argv);
    dfc_list_add(&argv, "--policy=%s", dfc_way_policy(way));
    dfc_list_add_words(&argv, "--stats=json,totals --stats-file=/dev/stderr --grace=1ms");
    dfc_list_add(&argv, "--waves=%" PRIu32, way->waves);
    for (int i = 0; i < r->n_rest; i++)
        dfc_list_add(&argv, "%s", r->rest[i]);
    if (!argv.failed && dfc_run_program(argv.items, &dfc_discard, &err) == 0 && dfc_run_stats_read(err, &stats) &&
        stats.waves > 0) {
        way->waves = (uint32_t)(stats.waves < MOST_WAVES ? stats.waves : MOST_WAVES); /* a stream may end earlier */
        way->measured_s = fmin(way->measured_s, stats.makespan_s / (double)stats.waves);
    }
    dfc_list_free(&argv);
    free(err);
}

static void find_way(const struct request *r, const struct dfc_trial *program, const struct dfc_pays *pays,
                     struct dfc_way *way)
{
    way->waves = LEAST_WAVES;
    dfc_way_predict(pays, way);
    bool short_enough = way->predicted_s * LEAST_WAVES < MOST_TRY_S; /* not if it is unknown */
    if (short_enough && way->predicted_s * MOST_WAVES > TRY_S)
        way->waves = (uint32_t)fmax(TRY_S / way->predicted_s, LEAST_WAVES);
    else if (short_enough)
        way->waves = MOST_WAVES;
    way->measured_s = INFINITY;
    for (int i = 0; short_enough && i < TRIES; i++)
        try_way(r, program, way);
    if (isinf(way->measured_s))
        way->measured_s = NAN;
    dfc_way_predict(pays, way);
}

/* Says whether dividing and offloading pay, by the times that are known now. */
static bool judge(const struct request *r, const struct dfc_loaded *loaded, const struct dfc_trial *program,
                  struct dfw_db *db)
{
    const char *device = r->common.device;
    const struct df_graph *graph = loaded->front->graph;
    struct df_error error = { "out of memory" };
    struct dfw_known known = { 0 };
    struct df_times times = { 0 };
    const struct dfp_problem problem = { graph, &loaded->platform, &times, 0 };
    struct dfc_pays pays = { .problem = &problem, .inflight = r->common.inflight,
                             .devices = !device                       ? "the GPU"
                                        : strchr(device, ',')         ? "the devices"
                                        : strcmp(device, "emu") == 0 ? "the emulated GPU"
                                                                      : "the GPU" };
    uint32_t cores = r->common.workers ? r->common.workers : dfr_cores_count();
    bool with_devices = device && strcmp(device, "none") != 0 && loaded->platform.n_units > 1;
    pays.ways[pays.n_ways++] = (struct dfc_way){ .workers = 1 };
    if (cores > 1)
        pays.ways[pays.n_ways++] = (struct dfc_way){ .workers = cores < DF_MAX_WORKERS ? cores : DF_MAX_WORKERS };
    if (with_devices)
        pays.ways[pays.n_ways++] = (struct dfc_way){ .workers = cores, .devices = true };
    bool good = dfc_known_load(&r->common, &loaded->platform, db, graph, &known, &error) == DF_OK &&
                dfw_known_times(&known, graph, &times, &error) == DF_OK;
    for (unsigned i = 0; good && i < pays.n_ways; i++)
        find_way(r, program, &pays, &pays.ways[i]);
    if (good) {
        putchar('\n');
        good = dfc_pays_print(&pays, stdout);
    }
    if (!good)
        dfc_error("%s", error.text);
    dfr_times_free(&times);
    dfw_known_free(&known);
    return good;
}

static int profile(struct request *r)
{
    struct df_error error = { "" };
    struct dfc_trial program;
    struct dfc_loaded loaded;
    struct dfw_db *db;
    if (dfw_db_open(r->db, true, &db, &error) != DF_OK) { /* before the work: a wrong path costs none */
        dfc_error("%s", error.text);
        return 1;
    }
    dfc_report_learned(db);
    int status = 1;
    r->common.waves = 1;                /* accs are measured undivided: the times of parts follow */
    if (dfc_load(&r->common, true, &loaded)) {
        if (dfc_trial_args(loaded.front->graph, r->rest, r->n_rest) &&
            dfc_trial_build(&r->common, &loaded, &r->build, &program)) {
            status = measure(r, &loaded, &program, db);
            bool other_sizes = loaded.front->has_dynamic && r->n_rest; /* which the loaded graph does not have */
            if (status == 0 && !other_sizes && !judge(r, &loaded, &program, db))
                status = 1;
            dfc_trial_remove(&program);
        }
        dfc_unload(&loaded);
    }
    if (r->db)                          /* else it is the one that dfc_load() has reported */
        dfc_report_senseless(db);
    dfw_db_close(db);
    return status;
}

/* ---- the report ---- */

static int write_report(const struct request *r, struct dfw_db *db)
{
    struct dfc_loaded loaded;
    struct dfc_output output;
    if (r->common.path && !dfc_load_graph(&r->common, true, &loaded))
        return 1;
    bool good = dfc_output_open(&output, r->common.output);
    if (good) {
        good = dfc_profile_report(db, r->common.path ? loaded.front->graph : NULL, r->form == DFR_FORM_CSV ? DFR_FORM_CSV : DFR_FORM_TEXT, output.file);
        good = dfc_output_close(&output, good) && good;
    }
    if (r->common.path)
        dfc_unload(&loaded);
    return good ? 0 : 1;
}

static int report(const struct request *r)
{
    struct df_error error = { "" };
    struct dfw_db *db;
    if (dfw_db_open(r->db, false, &db, &error) != DF_OK) {
        dfc_error("%s", error.text);
        return 1;
    }
    if (!db) {
        dfc_error("there is no profile database yet: 'dfc profile GRAPH.df' measures a graph's kernels");
        return 1;
    }
    dfc_report_learned(db);
    int status = write_report(r, db);
    dfc_report_senseless(db);
    dfw_db_close(db);
    return status;
}

static int run(int argc, char **argv)
{
    struct request r = { .form = -1, .sampler = DFR_SAMPLER_DEFAULT, .build = { .quiet = true } };
    dfp_options_default(&r.common.partition);
    int status = parse(argc, argv, &r);
    if (status == 0)
        status = r.report ? report(&r) : profile(&r);
    dfc_common_free(&r.common);
    return status;
}

const struct dfc_command dfc_command_profile = { "profile", "measure how long the kernels of a graph take here", usage, run,
                                                 DFC_OPTIONS({ own_options, 0 }, { dfc_options_build, offsetof(struct request, build) },
                                                             { dfc_options_common, 0 }) };
