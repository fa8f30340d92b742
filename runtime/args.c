/* args.c - parsing the command line of a generated program. One table says what options there are: parsing, --help,
 * suggestions and the names that args may not take all read it.
 */
#include "runtime/args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/emu_trial.h"
#include "runtime/args_impl.h"
#include "runtime/error.h"
#include "runtime/expr.h"
#include "runtime/policy.h"
#include "runtime/suggest.h"
#include "runtime/text.h"

/* ---- values ---- */

static const char *const device_names[] = {
    [DF_DEVICE_AUTO] = "auto", [DF_DEVICE_NONE] = "none", [DF_DEVICE_EMU] = "emu", [DF_DEVICE_CUDA] = "cuda",
    [DF_DEVICE_SIM] = "sim"
};

bool dfr_parse_device(const char *text, enum df_device_kind *device)
{
    for (unsigned i = 0; i < sizeof device_names / sizeof *device_names; i++)
        if (!strcmp(text, device_names[i])) {
            *device = (enum df_device_kind)i;
            return true;
        }
    return false;
}

bool dfr_parse_evict(const char *text, int *evict)
{
    static const char *const words[] = { [DF_EVICT_AUTO] = "auto", [DF_EVICT_LRU] = "lru", [DF_EVICT_BELADY] = "belady" };
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, words[i])) {
            *evict = i;
            return true;
        }
    return false;
}

static int parse_int(const char *name, const char *text, int64_t *value, struct df_error *error)
{
    char *end;
    errno = 0;
    long long i = strtoll(text, &end, 10);
    if (end == text || *end || strchr(" \t\n", *text))
        return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is not an integer", name, text);
    if (errno)
        return dfr_error(error, DF_E_ARGUMENT, "--%s: %s does not fit in 64 bits", name, text);
    *value = i;
    return DF_OK;
}

static int parse_count(const char *name, const char *text, int64_t most, int64_t *value, struct df_error *error)
{
    int64_t i;
    int rc = parse_int(name, text, &i, error);
    if (rc == DF_OK && (i < 1 || i > most))
        return dfr_error(error, DF_E_ARGUMENT, "--%s: %s is not between 1 and %lld", name, text, (long long)most);
    if (rc == DF_OK)
        *value = i;
    return rc;
}

static int parse_unsigned(const char *name, const char *text, unsigned most, unsigned *value, struct df_error *error)
{
    int64_t i = 0;
    int rc = parse_count(name, text, most, &i, error);
    if (rc == DF_OK)
        *value = (unsigned)i;
    return rc;
}

/* ---- options ---- */

static int set_policy(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    struct df_error inner = { "" };
    const struct dfr_policy *policy = dfr_policy_find(text, &inner);
    if (!policy)
        return dfr_error(error, DF_E_ARGUMENT, "--%s: %s", name, inner.text);
    line->options.policy = policy->name;
    return DF_OK;
}

static int set_device(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (dfr_parse_device(text, &line->options.device))
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT, "--%s: no device '%s'; there are: auto, none, emu, cuda, sim", name, text);
}

static int set_emu_all(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    (void)name, (void)text, (void)error;
    line->options.emu_all = 1;
    return DF_OK;
}

static int set_emu_check(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (strcmp(text, "on") && strcmp(text, "off"))
        return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is neither on nor off", name, text);
    line->options.emu_check = !strcmp(text, "on");
    return DF_OK;
}

typedef bool read_trial(const char *text, struct df_emu_trial *trial, struct df_error *error);

static int set_trial(struct dfr_command_line *line, const char *name, const char *text, read_trial *read,
                     struct df_error *error)
{
    struct df_error inner = { "" };
    if (read(text, &line->options.emu_trial, &inner))
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT, "--%s: %s", name, inner.text);
}

static int set_emu_fail(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    return set_trial(line, name, text, dfr_emu_trial_fail, error);
}

static int set_emu_slow(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    return set_trial(line, name, text, dfr_emu_trial_slow, error);
}

static int set_emu_reorder(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    return set_trial(line, name, text, dfr_emu_trial_reorder, error);
}

static int set_guard(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (strcmp(text, "on") && strcmp(text, "off"))
        return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is neither on nor off", name, text);
    line->options.guard = !strcmp(text, "on");
    return DF_OK;
}

static int set_cuda_graphs(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    static const char *const words[] = { [DF_GRAPHS_AUTO] = "auto", [DF_GRAPHS_ON] = "on", [DF_GRAPHS_OFF] = "off" };
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, words[i])) {
            line->options.cuda_graphs = i;
            return DF_OK;
        }
    return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is neither auto nor on nor off", name, text);
}

static int set_sync_kernels(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    (void)name, (void)text, (void)error;
    line->options.sync_kernels = 1;
    return DF_OK;
}

static int set_gpu_mem(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (dfr_parse_size(text, &line->options.gpu_mem_bytes))
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT,
                     "--%s: '%s' is not a size; write bytes, or a number with kB, MB, GB, KiB, MiB or GiB", name, text);
}

static int set_evict(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (dfr_parse_evict(text, &line->options.evict))
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is neither auto nor lru nor belady", name, text);
}

static int set_workers(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    return parse_unsigned(name, text, DF_MAX_WORKERS, &line->options.workers, error);
}

static int set_inflight(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    return parse_unsigned(name, text, DFR_MAX_INFLIGHT, &line->options.inflight, error);
}

static int set_gpu_jobs(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (strcmp(text, "auto") != 0)
        return parse_unsigned(name, text, DFR_MAX_GPU_JOBS, &line->options.gpu_jobs, error);
    line->options.gpu_jobs = DF_FIND_JOBS;
    return DF_OK;
}

static int set_dl(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    (void)name, (void)text, (void)error;
    line->options.locality = 1;
    return DF_OK;
}

static int set_prefetch(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    (void)name, (void)text, (void)error;
    line->options.prefetch = 1;
    return DF_OK;
}

static int set_waves(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    return parse_count(name, text, INT64_MAX, &line->options.waves, error);
}

static int set_platform(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    (void)name, (void)error;
    line->platform_path = text;
    return DF_OK;
}

static int set_stats(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (text && strcmp(text, "json"))
        return dfr_error(error, DF_E_ARGUMENT, "--%s: no form '%s'; there is: json", name, text);
    line->stats = text ? DFR_STATS_JSON : DFR_STATS_TEXT;
    return DF_OK;
}

static int set_trace(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (!*text)
        return dfr_error(error, DF_E_ARGUMENT, "--%s needs the name of a file", name);
    line->options.trace_path = text;
    return DF_OK;
}

static int set_learn(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    (void)name, (void)text, (void)error;
    line->options.learn = 1;
    return DF_OK;
}

static int set_log(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    static const char *const levels[] = {
        [DF_LOG_ERROR] = "error", [DF_LOG_WARNING] = "warning", [DF_LOG_INFO] = "info", [DF_LOG_DEBUG] = "debug"
    };
    for (unsigned i = 0; i < sizeof levels / sizeof *levels; i++)
        if (!strcmp(text, levels[i])) {
            line->options.log_level = (int)i;
            return DF_OK;
        }
    return dfr_error(error, DF_E_ARGUMENT, "--%s: no level '%s'; there are: error, warning, info, debug", name, text);
}

static int set_version(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    (void)name, (void)text, (void)error;
    line->version = true;
    return DF_OK;
}

static int set_help(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    (void)name, (void)text, (void)error;
    line->help = true;
    return DF_OK;
}

/* X(name, value: VALUE or [VALUE] as help shows it, NULL none; function; help) */
#define OPTIONS(X)                                                                                                  \
    X("policy", "NAME", set_policy, "how jobs get a worker: ")                                                      \
    X("device", "KIND", set_device, "auto (cuda where there is one), none, emu (emulated on the host), cuda, sim (virtual time)") \
    X("emu-all", NULL, set_emu_all, "every kernel with a cpu variant may run on the emulated GPU")                  \
    X("emu-check", "on|off", set_emu_check, "stop kernels that touch blocks they did not declare (default on)")     \
    X("emu-fail", "CALL:N,...", set_emu_fail, "the N-th such call of an emulated GPU fails: open, alloc, copy, launch, event, wait, query, late-copy, late-launch") \
    X("emu-slow", "FACTOR[:GPU]", set_emu_slow, "an emulated GPU, or only number GPU, takes FACTOR times as long")  \
    X("emu-reorder", "SEED", set_emu_reorder, "what has no promised order on the emulated GPU comes in another")     \
    X("gpu-mem", "SIZE", set_gpu_mem, "memory to use of each GPU, as in 64MiB (default: what it has)")              \
    X("evict", "auto|lru|belady", set_evict, "what leaves a GPU's memory where room is needed: what was used longest ago, or is needed again last (auto: that, where the policy knows)") \
    X("workers", "N", set_workers, "CPU workers (default: cores less one per GPU in use)")                          \
    X("inflight", "N", set_inflight, "waves in flight (default: chosen)")                                           \
    X("gpu-jobs", "N", set_gpu_jobs, "jobs in flight per GPU, or auto: found while it runs")                                    \
    X("cuda-graphs", "auto|on|off", set_cuda_graphs, "record launches and replay them in later waves (auto: of bare __global__ functions, where it pays; on: of all)") \
    X("sync-kernels", NULL, set_sync_kernels, "wait for each gpu job, so that what it does wrong is told as its own")  \
    X("dl", NULL, set_dl, "data locality: after a job, a GPU prefers one that reads what it made")                  \
    X("guard", "on|off", set_guard, "gp leaves its plan where times turn out wrong (default on)")                   \
    X("prefetch", NULL, set_prefetch, "a GPU takes jobs ahead to load their data, with policies that decide late")  \
    X("waves", "N", set_waves, "waves to run, or the most of a stream (default: 1, or until the stream ends)")      \
    X("platform", "FILE", set_platform, "the machine to plan for and to emulate, as a platform declaration")        \
    X("stats", "[json]", set_stats, "say afterwards what ran where; --stats=json for programs")                     \
    X("trace", "FILE", set_trace, "write what ran when, for Perfetto or chrome://tracing")                          \
    X("learn", NULL, set_learn, "keep how long kernels took for dfc, which then knows their times better")          \
    X("serial", NULL, dfr_set_serial, "one job at a time, one wave at a time, in topological order")                    \
    X("check", "variants", dfr_set_check, "run cpu and gpu variants on the same inputs, and say where they differ")     \
    X("dump", "NODE[:WAVE]", dfr_set_dump, "write what the node makes as NODE.PORT.WAVE.npy; '*' stands for any text")     \
    X("dump-dir", "DIR", dfr_set_dump_dir, "where --dump writes (default: here)")                                       \
    X("poison", NULL, dfr_set_poison, "fill memory that holds nothing yet, or no longer, with NaN and 0xa5")            \
    X("watchdog", "TIME", dfr_set_watchdog, "name a job that runs longer, as in 30s, and what waits for it; then end")  \
    X("log", "LEVEL", set_log, "error, warning (default), info or debug")                                           \
    X("version", NULL, set_version, "say the version")                                                              \
    X("help", NULL, set_help, "say this")

#define OPTION(name, value, set, help) { name, value, help, set },
static const struct option {
    const char *name, *value, *help;
    dfr_set_option *set;
} options[] = { OPTIONS(OPTION) };
#undef OPTION

#define N_OPTIONS (sizeof options / sizeof *options)

const char *const *dfr_option_names(void)
{
#define NAME(name, value, set, help) name,
    static const char *const names[] = { OPTIONS(NAME) NULL };
#undef NAME
    return names;
}

/* ---- the graph's args and params ---- */

static const char *const type_names[] = {
    [DF_S_I32] = "i32", [DF_S_I64] = "i64", [DF_S_F32] = "f32", [DF_S_F64] = "f64", [DF_S_STR] = "str"
};

static int parse_arg(const struct df_arg *arg, const char *name, const char *text, union df_scalar *value,
                     struct df_error *error)
{
    struct df_number number = { .kind = DF_KIND_STR, .s = text };
    struct df_error inner;
    if (arg->type == DF_S_I32 || arg->type == DF_S_I64) {
        number.kind = DF_KIND_I64;
        int rc = parse_int(name, text, &number.i, error);
        if (rc != DF_OK)
            return rc;
    } else if (arg->type != DF_S_STR) {
        char *end;
        number.kind = DF_KIND_F64;
        errno = 0;
        number.f = strtod(text, &end);
        if (end == text || *end || strchr(" \t\n", *text))
            return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is not a number", name, text);
        if (errno == ERANGE && (number.f > 1 || number.f < -1))
            return dfr_error(error, DF_E_ARGUMENT, "--%s: %s does not fit in %s", name, text, type_names[arg->type]);
    }
    if (df_number_to_scalar(number, (enum df_scalar_type)arg->type, value, &inner) != DF_OK)
        return dfr_error(error, DF_E_ARGUMENT, "--%s: %s", name, inner.text);
    return DF_OK;
}

static union df_scalar default_of(const struct df_graph *g, const struct df_arg *arg)
{
    union df_scalar value = { .i64 = 0 };
    switch (arg->type) {
    case DF_S_I32: value.i32 = (int32_t)arg->i; break;
    case DF_S_I64: value.i64 = arg->i; break;
    case DF_S_F32: value.f32 = (float)arg->f; break;
    case DF_S_F64: value.f64 = arg->f; break;
    case DF_S_STR: value.str = df_graph_string(g, arg->str); break;
    }
    return value;
}

static const char *suggest(const struct df_graph *g, const char *name)
{
    struct dfr_suggestion suggestion = { .name = name };
    for (size_t i = 0; i < N_OPTIONS; i++)
        dfr_suggest(&suggestion, options[i].name);
    for (uint32_t i = 0; i < g->n_args; i++)
        dfr_suggest(&suggestion, df_graph_string(g, g->args[i].name));
    for (uint32_t i = 0; i < g->n_params; i++)
        dfr_suggest(&suggestion, df_graph_string(g, g->params[i].name));
    return suggestion.closest;
}

/* ---- the command line ---- */

struct parser {
    const struct df_graph *g;
    int argc, i;
    char **argv;
    char name[256];                     /* of the option at argv[i], without dashes */
    const char *text;                   /* what followed '=', or NULL */
    struct dfr_command_line *line;
    bool *given;                        /* by arg */
    struct df_error *error;
};

/* The option's value: behind '=', else the next word. */
static int take_value(struct parser *p)
{
    if (p->text)
        return DF_OK;
    if (p->i + 1 == p->argc || !strncmp(p->argv[p->i + 1], "--", 2))
        return dfr_error(p->error, DF_E_ARGUMENT, "--%s needs a value", p->name);
    p->text = p->argv[++p->i];
    return DF_OK;
}

static int parse_own(struct parser *p, const struct option *option)
{
    int rc = DF_OK;
    if (!option->value && p->text)
        return dfr_error(p->error, DF_E_ARGUMENT, "--%s takes no value", p->name);
    if (option->value && option->value[0] != '[')
        rc = take_value(p);
    return rc == DF_OK ? option->set(p->line, p->name, p->text, p->error) : rc;
}

static int parse_unknown(struct parser *p)
{
    const char *closest = suggest(p->g, p->name);
    if (closest)
        return dfr_error(p->error, DF_E_ARGUMENT, "unknown option '--%s'; did you mean '--%s'?", p->name, closest);
    return dfr_error(p->error, DF_E_ARGUMENT, "unknown option '--%s'; --help lists the options", p->name);
}

static int parse_option(struct parser *p)
{
    const struct df_graph *g = p->g;
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (!strcmp(p->name, options[i].name))
            return parse_own(p, &options[i]);
    for (uint32_t i = 0; i < g->n_args; i++)
        if (!strcmp(p->name, df_graph_string(g, g->args[i].name))) {
            int rc = take_value(p);
            p->given[i] = true;
            return rc == DF_OK ? parse_arg(&g->args[i], p->name, p->text, &p->line->args[i], p->error) : rc;
        }
    for (uint32_t i = 0; i < g->n_params; i++)
        if (!strcmp(p->name, df_graph_string(g, g->params[i].name))) {
            int rc = take_value(p);
            return rc == DF_OK ? parse_int(p->name, p->text, &p->line->params[i], p->error) : rc;
        }
    return parse_unknown(p);
}

static int parse_all(struct parser *p)
{
    const struct df_graph *g = p->g;
    for (p->i = 1; p->i < p->argc; p->i++) {
        const char *word = p->argv[p->i];
        if (strncmp(word, "--", 2) || !word[2])
            return dfr_error(p->error, DF_E_ARGUMENT, "unexpected argument '%s'; --help lists the options", word);
        size_t n = strcspn(word + 2, "=");
        if (n >= sizeof p->name)
            return dfr_error(p->error, DF_E_ARGUMENT, "unknown option '%.40s...'; --help lists the options", word);
        memcpy(p->name, word + 2, n);
        p->name[n] = '\0';
        p->text = word[2 + n] ? word + 3 + n : NULL;
        int rc = parse_option(p);
        if (rc != DF_OK)
            return rc;
    }
    if (p->line->help || p->line->version)
        return DF_OK;
    int rc = dfr_inspect_together(&p->line->options, p->error);
    if (rc != DF_OK)
        return rc;
    if (p->line->options.learn && p->line->options.device == DF_DEVICE_SIM)
        return dfr_error(p->error, DF_E_ARGUMENT, "--learn: nothing is measured in the virtual time of --device=sim");
    if (dfr_emu_trial_is_set(&p->line->options.emu_trial) && p->line->options.device != DF_DEVICE_EMU)
        return dfr_error(p->error, DF_E_ARGUMENT, "--emu-fail, --emu-slow and --emu-reorder need --device=emu");
    for (uint32_t i = 0; i < g->n_args; i++)
        if (!p->given[i] && !g->args[i].has_default)
            return dfr_error(p->error, DF_E_ARGUMENT, "--%s=%s must be given: it has no default",
                             df_graph_string(g, g->args[i].name), type_names[g->args[i].type]);
    return DF_OK;
}

int dfr_args_parse(const struct df_graph *g, int argc, char **argv, struct dfr_command_line *line,
                   struct df_error *error)
{
    struct dfr_command_line made = { 0 };
    struct parser p = { .g = g, .argc = argc, .argv = argv, .line = &made, .error = error };
    df_options_default(&made.options);
    made.args = calloc((size_t)g->n_args + 1, sizeof *made.args);
    made.params = calloc((size_t)g->n_params + 1, sizeof *made.params);
    made.dumps = calloc((size_t)argc + 1, sizeof *made.dumps);
    p.given = calloc((size_t)g->n_args + 1, sizeof *p.given);
    bool memory = made.args && made.params && made.dumps && p.given;
    for (uint32_t i = 0; memory && i < g->n_args; i++)
        made.args[i] = default_of(g, &g->args[i]);
    for (uint32_t i = 0; memory && i < g->n_params; i++)
        made.params[i] = g->params[i].value;
    int rc = memory ? parse_all(&p) : dfr_error_memory(error);
    free(p.given);
    if (rc != DF_OK) {
        dfr_args_free(&made);
        return rc;
    }
    for (uint32_t i = 0; i < g->n_params; i++)
        made.params_changed |= made.params[i] != g->params[i].value;
    made.options.args = made.args;
    made.options.dumps = made.dumps;
    *line = made;
    return DF_OK;
}

void dfr_args_free(struct dfr_command_line *line)
{
    free(line->args);
    free(line->params);
    free(line->dumps);
    line->args = NULL;
    line->params = NULL;
    line->dumps = NULL;
}

/* ---- help ---- */

static void help_line(FILE *out, const char *name, const char *value, const char *help)
{
    char left[300];
    if (value && value[0] == '[')
        snprintf(left, sizeof left, "--%s[=%.*s]", name, (int)strlen(value) - 2, value + 1);
    else
        snprintf(left, sizeof left, "--%s%s%s", name, value ? "=" : "", value ? value : "");
    fprintf(out, "  %-20s  %s", left, help);
}

static void help_arg(const struct df_graph *g, const struct df_arg *arg, FILE *out)
{
    help_line(out, df_graph_string(g, arg->name), type_names[arg->type], "");
    if (!arg->has_default)
        fprintf(out, "must be given\n");
    else if (arg->type == DF_S_STR)
        fprintf(out, "default \"%s\"\n", df_graph_string(g, arg->str));
    else if (arg->type == DF_S_F32 || arg->type == DF_S_F64)
        fprintf(out, "default %.*g\n", arg->type == DF_S_F32 ? 7 : 15, arg->f);
    else
        fprintf(out, "default %lld\n", (long long)arg->i);
}

void dfr_args_help(const struct df_graph *g, const char *program, FILE *out)
{
    fprintf(out, "Usage: %s [--option[=value] ...]\n", program);
    if (g->n_args)
        fprintf(out, "\nArguments of this graph:\n");
    for (uint32_t i = 0; i < g->n_args; i++)
        help_arg(g, &g->args[i], out);
    if (g->n_params)
        fprintf(out, "\nSizes of this graph:\n");
    for (uint32_t i = 0; i < g->n_params; i++) {
        help_line(out, df_graph_string(g, g->params[i].name), "i64", "");
        fprintf(out, "default %lld\n", (long long)g->params[i].value);
    }
    fprintf(out, "\nOptions:\n");
    for (size_t i = 0; i < N_OPTIONS; i++) {
        help_line(out, options[i].name, options[i].value, options[i].help);
        if (options[i].set == set_policy)
            for (const char *const *p = dfr_policy_names(); *p; p++)
                fprintf(out, "%s%s%s", *p, strcmp(*p, DFR_POLICY_DEFAULT) ? "" : " (default; for one wave of known times gp)", p[1] ? ", " : "");
        fprintf(out, "\n");
    }
}
