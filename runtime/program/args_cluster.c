/* args_cluster.c - the options of a run on several ranks of an mpirun (docs/clusters.md), and which others do not go with them. */
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/program/args_impl.h"
#include "runtime/stages/marked.h"

#define MOST_WINDOW 1000000u

static int set_cluster(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    (void)name, (void)text, (void)error;
    line->cluster = true;
    return DF_OK;
}

static int set_window(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    return dfr_parse_unsigned(name, text, MOST_WINDOW, &line->ranks.window, error);
}

static int set_share(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    line->share = !strcmp(text, "waves") ? DFR_SHARE_WAVES : !strcmp(text, "parts") ? DFR_SHARE_PARTS : DFR_SHARE_FIND;
    if (line->share != DFR_SHARE_FIND)
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is neither 'waves' nor 'parts'", name, text);
}

static int set_mapping(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    (void)name, (void)error;
    line->stages.path = text;
    return DF_OK;
}

static int set_tune(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    (void)name, (void)text, (void)error;
    line->stages.tune = true;
    return DF_OK;
}

static int set_stream_policy(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    line->stream_policy = dfr_stream_policy_find(text, &line->stages.policy);
    if (line->stream_policy)
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is none of 'ddfcfs', 'ddwrr' and 'odds'", name, text);
}

static int set_seconds(const char *name, const char *text, double *seconds, struct df_error *error)
{
    if (dfr_parse_seconds(text, seconds))
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT, "--%s: '%s' is not a time; write a number with ms, s, min or h, as in 30s", name, text);
}

static int set_wave_timeout(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    return set_seconds(name, text, &line->ranks.wave_timeout_s, error);
}

static int set_heartbeat_timeout(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error)
{
    return set_seconds(name, text, &line->ranks.heartbeat_timeout_s, error);
}

/* What ranks do that have stages. */
static int check_stages(const struct dfr_command_line *line, struct df_error *error)
{
    const char *other = line->ranks.window ? "--window" : line->share != DFR_SHARE_FIND ? "--share" : NULL;

    if (other && line->stages.path)
        return dfr_error(error, DF_E_ARGUMENT, "--mapping: it does not go with %s, because ranks share no waves", other);
    if (other)
        return dfr_error(error, DF_E_ARGUMENT, "%s: the graph says @stage, so ranks share no waves; with --share=waves they do", other);
    if (line->options.inflight > DFR_STREAM_WORKERS)
        return dfr_error(error, DF_E_ARGUMENT, "--inflight: with stages on ranks it is %d at most", DFR_STREAM_WORKERS);
    return DF_OK;
}

/* What is for stages alone; `why` there are none. */
static int check_no_stages(const struct dfr_command_line *line, const char *why, struct df_error *error)
{
    const char *option = line->stream_policy ? "--stream-policy" : line->stages.tune ? "--tuned" : NULL;

    if (!option)
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT, "%s is for stages on ranks: %s", option, why);
}

int dfr_cluster_together(const struct df_graph *graph, struct dfr_command_line *line, struct df_error *error)
{
    const bool marked = dfr_stages_marked(graph);
    const struct df_options *o = &line->options;
    const char *other = o->device == DF_DEVICE_SIM ? "--device=sim" : o->rehearse != 0 ? "--rehearse" : o->serial ? "--serial"
                        : o->check_variants ? "--check" : o->n_dumps > 0 ? "--dump" : o->passes > 0 ? "--passes"
                        : o->learn ? "--learn" : line->resume.chunk ? "--out" : NULL;
    const char *alone = line->ranks.window ? "--window" : line->share != DFR_SHARE_FIND ? "--share" : line->ranks.wave_timeout_s > 0 ? "--wave-timeout"
                        : line->ranks.heartbeat_timeout_s > 0 ? "--heartbeat-timeout" : line->stages.path ? "--mapping" : NULL;

    if (line->cluster && other)
        return dfr_error(error, DF_E_ARGUMENT, "--cluster: it does not go with %s, which is for a run in one process", other);
    if (!line->cluster && alone)
        return dfr_error(error, DF_E_ARGUMENT, "%s is for a run on several ranks: --cluster is missing", alone);
    line->staged = line->cluster && (line->stages.path || (marked && line->share == DFR_SHARE_FIND));
    return line->staged ? check_stages(line, error)
                        : check_no_stages(line, !marked ? "--mapping is missing" : !line->cluster ? "--cluster is missing" : "with --share there are none", error);
}

const struct dfr_option dfr_options_cluster[] = {
    { "cluster", NULL, "run on all ranks: mpirun -n 4 PROGRAM --cluster; rank 0 reads, writes and hands out waves, the others compute",
      set_cluster, 0 },
    { "window", "N", "waves that a rank holds at once (default: found while it runs)", set_window, 0 },
    { "share", "WHAT", "what ranks share: 'waves', or 'parts' of accs, which each rank changes in all waves (default: neither if calls say @stage; parts if all waves "
      "serve them, and they are larger than what they read of a wave)", set_share, 0 },
    { "mapping", "FILE", "stages of the graph on ranks 1, 2, …, as the file says, which 'dfc map -o FILE' writes (default: as calls of the graph say by @stage, if they do)", set_mapping, 0 },
    { "stream-policy", "NAME", "how a rank gets waves from the ranks of the stage before: 'ddfcfs', 'ddwrr' or 'odds' (default ddfcfs)", set_stream_policy, 0 },
    { "tuned", NULL, "change the mapping when what stages take has drifted; a line says why", set_tune, 0 },
    { "wave-timeout", "TIME", "a rank that holds a wave longer counts as dead, and others get its waves (default: none does)",
      set_wave_timeout, 0 },
    { "heartbeat-timeout", "TIME", "so does a rank that is silent for so long (default 10s)", set_heartbeat_timeout, 0 },
    { NULL, NULL, NULL, NULL, 0 }
};
