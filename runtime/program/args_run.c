/* args_run.c - the options that say how a run goes, and what it reports. */
#include <string.h>

#include "runtime/program/args_impl.h"
#include "runtime/base/error.h"
#include "runtime/graph/builder.h"
#include "runtime/policy/policy.h"

int dfr_set_policy(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    struct df_error inner = { "" };
    const struct dfr_policy *policy = dfr_policy_find(text, &inner);
    if (!policy)
        return dfr_error(error, DF_E_ARGUMENT, "--%s: %s", name, inner.text);
    line->options.policy = policy->name;
    return DF_OK;
}

static int set_workers(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    return dfr_parse_unsigned(name, text, DF_MAX_WORKERS, &line->options.workers, error);
}

static int set_inflight(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    return dfr_parse_unsigned(name, text, DFR_MAX_INFLIGHT, &line->options.inflight, error);
}

static int set_passes(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    return dfr_parse_unsigned(name, text, DF_MAX_PARTS, &line->options.passes, error);
}

static int set_guard(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    return dfr_parse_on_off(name, text, &line->options.guard, error);
}

static int set_platform(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    (void)name, (void)error;
    line->platform_path = text;
    return DF_OK;
}

static int set_rehearse(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    return dfr_parse_rehearse(name, text, &line->options.rehearse, error);
}

static int set_stats(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    line->stats = DFR_STATS_TEXT;
    line->stats_totals = false;
    while (text && *text) {
        size_t n = strcspn(text, ",");
        if (n == 4 && !strncmp(text, "json", n))
            line->stats = DFR_STATS_JSON;
        else if (n == 6 && !strncmp(text, "totals", n))
            line->stats_totals = true;
        else
            return dfr_error(error, DF_E_ARGUMENT, "--%s: no form '%.*s'; there are: json, totals", name, (int)n, text);
        text += n + (text[n] == ',');
    }
    return DF_OK;
}

static int set_stats_file(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (!*text)
        return dfr_error(error, DF_E_ARGUMENT, "--%s needs the name of a file", name);
    line->stats_path = text;
    line->stats = line->stats ? line->stats : DFR_STATS_TEXT;
    return DF_OK;
}

_Static_assert((int)DFR_PROGRESS_AUTO == (int)DF_GRAPHS_AUTO && (int)DFR_PROGRESS_ON == (int)DF_GRAPHS_ON &&
                   (int)DFR_PROGRESS_OFF == (int)DF_GRAPHS_OFF,
               "the words are the same");

static int set_progress(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    int value;
    int rc = dfr_parse_auto_on_off(name, text, &value, error);
    if (rc == DF_OK)
        line->progress = (enum dfr_progress_form)value;
    return rc;
}

static int set_trace(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (!*text)
        return dfr_error(error, DF_E_ARGUMENT, "--%s needs the name of a file", name);
    line->options.trace_path = text;
    return DF_OK;
}

static int set_bad_files(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    if (!*text)
        return dfr_error(error, DF_E_ARGUMENT, "--%s needs the name of a file", name);
    line->bad_files_path = text;
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

const struct dfr_option dfr_options_run[] = {
    { "policy", "NAME", "how jobs get a worker: ", dfr_set_policy, 0 },
    { "waves", "N", "waves to run; of a stream, at most (default: 1, or until the stream ends); A:B with --out, see below", dfr_set_waves, 0 },
    { "workers", "N", "CPU workers (default: cores less one per GPU in use)", set_workers, 0 },
    { "inflight", "N", "waves in flight (default: the program chooses)", set_inflight, 0 },
    { "passes", "N", "the waves go by N times, for the parts of a divided acc in turn (default: as often as these need to fit in a "
      "device's memory)", set_passes, 0 },
    { "platform", "FILE", "the machine to plan for and to emulate, as a platform declaration", set_platform, 0 },
    { "rehearse", "[10x]", "no kernel is called: kernels and copies are waits of their times on the platform, 10 times as "
      "long; the figures are given at 1x (default: a scale at which waiting is exact)", set_rehearse, 0 },
    { "guard", "on|off", "gp leaves its plan if times turn out to be wrong (default on)", set_guard, 0 },
    { "dl", NULL, "data locality: a GPU prefers jobs that reuse data in its memory", DFR_FLAG(locality) },
    { "prefetch", NULL, "with policies that decide late: a GPU takes jobs early, to load their data",
      DFR_FLAG(prefetch) },
    { "stats", "[json]", "print afterwards what ran where, and what kernels and nodes took; json: for programs, on stdout; "
      "totals: no kernels and nodes, so that no job is timed by itself; json,totals: both", set_stats, 0 },
    { "stats-file", "FILE", "write that to a file", set_stats_file, 0 },
    { "progress", "auto|on|off", "a line on stderr with the waves that are done, their rate and the time left (default auto: if "
      "stderr is a terminal)", set_progress, 0 },
    { "bad-files", "FILE", "a picture that cannot be read makes an empty wave and is listed there; the run ends with status 1", set_bad_files, 0 },
    { "trace", "FILE", "write what ran when, for 'dfc gantt', Perfetto or chrome://tracing", set_trace, 0 },
    { "learn", NULL, "keep how long kernels took and how often they fired, so that dfc knows it better", DFR_FLAG(learn) },
    { "log", "LEVEL", "error, warning (default), info or debug", set_log, 0 },
    { "version", NULL, "print the version", set_version, 0 },
    { "help", NULL, "print this; so does -h", set_help, 0 },
    { NULL, NULL, NULL, NULL, 0 }
};
