/* args_run.c - the general options of a run, for args.c: scheduling, waves, traces, statistics. `dfc compare` parses its --rehearse here. */
#include <stdlib.h>
#include <string.h>

#include "runtime/program/args_impl.h"
#include "runtime/base/error.h"
#include "runtime/graph/builder.h"
#include "runtime/policy/policy.h"

static int set_policy(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    struct df_error inner = { "" };
    const struct dfr_policy *policy = dfr_policy_find(text, &inner);
    if (!policy)
        return dfr_error(error, DF_E_ARGUMENT, "%s: %s", option->name, inner.text);
    *(const char **)field = policy->name;
    return DF_OK;
}

static int help_policies(FILE *out, int at)
{
    for (const char *const *p = dfr_policy_names(); *p; p++) {
        char text[32];
        snprintf(text, sizeof text, "%s%s", *p, p[1] ? "," : "");
        at = dfr_help_words(out, at, text);
    }
    return dfr_help_words(out, at, "(default: with devices gp if the program's plan fits, else dmda; without devices ws, but gp or "
                                   "dmdas for one wave of long jobs, and all-cpu with one worker; --stats says why)");
}

int dfr_set_rehearse(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    char *end = NULL;
    double x = text ? strtod(text, &end) : DF_REHEARSE;

    if (text && (end == text || strcmp(end, "x") || strchr(" \t\n+-iInN", *text) || !(x >= 1e-9 && x <= 1e9)))
        return dfr_error(error, DF_E_ARGUMENT, "%s: '%s' is not a scale; write how many times longer the waits are, "
                                               "as in 10x or 0.5x", option->name, text);
    *(double *)field = x;
    return DF_OK;
}

static int set_stats(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    struct dfr_command_line *line = field;
    line->stats = DFR_STATS_TEXT;
    line->stats_totals = false;
    while (text && *text) {
        size_t n = strcspn(text, ",");
        if (n == 4 && !strncmp(text, "json", n))
            line->stats = DFR_STATS_JSON;
        else if (n == 6 && !strncmp(text, "totals", n))
            line->stats_totals = true;
        else
            return dfr_error(error, DF_E_ARGUMENT, "%s: no form '%.*s'; there are: json, totals", option->name, (int)n, text);
        text += n + (text[n] == ',');
    }
    return DF_OK;
}

const struct dfr_option dfr_options_run[] = {
    DFR_HEADING("Options"),
    { "--policy", "NAME", "how jobs get a worker: ", DFR_SET(set_policy, struct dfr_command_line, options.policy), .more = help_policies },
    { "--waves", "N", "waves to run; of a stream, at most (default: 1, or until the stream ends); A:B with --out, see below", DFR_SET_ALL(dfr_set_waves),
      .program_only = "each call says how many it runs" },
    { "--workers", "N", "CPU workers (default: cores less one per GPU in use)", DFR_COUNT(struct dfr_command_line, options.workers, 1, DF_MAX_WORKERS) },
    { "--inflight", "N", "waves in flight (default: the program chooses)", DFR_COUNT(struct dfr_command_line, options.inflight, 1, DFR_MAX_INFLIGHT) },
    { "--passes", "N", "the waves go by N times, for the parts of a divided acc in turn (default: as often as these need to fit in a "
      "device's memory)", DFR_COUNT(struct dfr_command_line, options.passes, 1, DF_MAX_PARTS) },
    { "--platform", "FILE", "the machine to plan for and to emulate, as a platform declaration", DFR_FIELD(NAME, struct dfr_command_line, platform_path) },
    { "--rehearse", "[10x]", "no kernel is called: kernels and copies are waits of their times on the platform, 10 times as "
      "long; the figures are given at 1x (default: a scale at which waiting is exact)", DFR_SET(dfr_set_rehearse, struct dfr_command_line, options.rehearse),
      .program_only = DFR_RESULTS },
    { "--guard", "on|off", "gp leaves its plan if times turn out to be wrong (default on)", DFR_FIELD(ON_OFF, struct dfr_command_line, options.guard) },
    { "--dl", NULL, "data locality: a GPU prefers jobs that reuse data in its memory", DFR_FIELD(FLAG, struct dfr_command_line, options.locality) },
    { "--prefetch", NULL, "with policies that decide late: a GPU takes jobs early, to load their data",
      DFR_FIELD(FLAG, struct dfr_command_line, options.prefetch) },
    { "--stats", "[json]", "print afterwards what ran where, and what kernels and nodes took; json: for programs, on stdout; "
      "totals: no kernels and nodes, so that no job is timed by itself; json,totals: both", DFR_SET_ALL(set_stats) },
    { "--stats-file", "FILE", "write that to a file", DFR_FIELD(NAME, struct dfr_command_line, stats_path),
      .program_only = "the function whose name ends in _stats gives them" },
    { "--on-late", "warn|fail", "if a wave takes longer than the graph promises: say it and why, at most once a second; or end with status 1",
      DFR_FIELD(WORD, struct dfr_command_line, options.on_late), .first = 1, DFR_PROGRAM },
    { "--progress", "auto|on|off", "a line on stderr with the waves that are done, their rate and the time left (default auto: if "
      "stderr is a terminal)", DFR_FIELD(WORD, struct dfr_command_line, progress) },
    { "--on-error", "stop|skip", "a picture that cannot be read ends the run (default), or makes an empty wave: then a table at the end says which and why, "
      "and the status is 3", DFR_WORD(struct dfr_command_line, on_error, "stop|skip"), .first = 1, .program_only = "an exception or an error code tells of it" },
    { "--bad-files", "FILE", "skip what cannot be read, and list it there", DFR_FIELD(NAME, struct dfr_command_line, bad_files_path) },
    { "--trace", "FILE", "write what ran when, for 'dfc gantt', Perfetto or chrome://tracing", DFR_FIELD(NAME, struct dfr_command_line, options.trace_path), DFR_PROGRAM },
    { "--learn", NULL, "keep how long kernels took and how often they fired, so that dfc knows it better", DFR_FIELD(FLAG, struct dfr_command_line, options.learn), DFR_PROGRAM },
    { "--log", "LEVEL", "error, warning (default), info or debug", DFR_WORD(struct dfr_command_line, options.log_level, "error|warning|info|debug") },
    { "--version", NULL, "print the version", DFR_FIELD(FLAG, struct dfr_command_line, version), .program_only = DFR_SILENT },
    { "--help", NULL, "print this; so does -h", DFR_FIELD(FLAG, struct dfr_command_line, help), .program_only = DFR_SILENT },
    { "-h", NULL, NULL, DFR_FIELD(FLAG, struct dfr_command_line, help), .program_only = DFR_SILENT },
    { 0 }
};
