/* args_cluster.c - the options of a run on several ranks of an mpirun (docs/clusters.md), and the options that exclude them, for args.c.
 */
#include "runtime/base/error.h"
#include "runtime/program/args_impl.h"
#include "runtime/subgraph/marked_stages.h"

#define MOST_WINDOW 1000000u

/* What ranks do that have stages. */
static int check_stages(const struct dfr_command_line *line, struct df_error *error)
{
    const char *other = line->ranks.window ? "--window" : line->ranks.share != DFR_SHARE_FIND ? "--share" : NULL;

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
                        : o->check_variants ? "--check" : o->n_dumps > 0 ? "--dump" : o->n_record_jobs > 0 ? "--record-job" : o->passes > 0 ? "--passes"
                        : o->learn ? "--learn" : line->resume.chunk ? "--out" : NULL;
    const char *alone = line->ranks.window ? "--window" : line->ranks.share != DFR_SHARE_FIND ? "--share" : line->ranks.wave_timeout_s > 0 ? "--wave-timeout"
                        : line->ranks.heartbeat_timeout_s > 0 ? "--heartbeat-timeout" : line->stages.path ? "--mapping" : NULL;

    line->stages.policy = line->stream_policy ? (enum dfr_stream_policy)(line->stream_policy - 1) : DFR_STREAM_DDFCFS;
    if (line->cluster && other)
        return dfr_error(error, DF_E_ARGUMENT, "--cluster: it does not go with %s, which is for a run in one process", other);
    if (!line->cluster && alone)
        return dfr_error(error, DF_E_ARGUMENT, "%s is for a run on several ranks: --cluster is missing", alone);
    line->staged = line->cluster && (line->stages.path || (marked && line->ranks.share == DFR_SHARE_FIND));
    return line->staged ? check_stages(line, error)
                        : check_no_stages(line, !marked ? "--mapping is missing" : !line->cluster ? "--cluster is missing" : "with --share there are none", error);
}

const struct dfr_option dfr_options_cluster[] = {
    DFR_HEADING("Several processes"),
    { "--cluster", NULL, "run on all ranks: mpirun -n 4 PROGRAM --cluster; rank 0 reads, writes and hands out waves, the others compute",
      DFR_FIELD(FLAG, struct dfr_command_line, cluster) },
    { "--window", "N", "waves that a rank holds at once (default: found while it runs)", DFR_COUNT(struct dfr_command_line, ranks.window, 1, MOST_WINDOW) },
    { "--share", "WHAT", "what ranks share: 'waves', or 'parts' of accs, which each rank changes in all waves (default: neither if calls say @stage; parts if all waves "
      "serve them, and they are larger than what they read of a wave)", DFR_WORD(struct dfr_command_line, ranks.share, "waves|parts"), .first = DFR_SHARE_WAVES },
    { "--mapping", "FILE", "stages of the graph on ranks 1, 2, …, as the file says, which 'dfc map -o FILE' writes (default: as calls of the graph say by @stage, if they do)", DFR_FIELD(NAME, struct dfr_command_line, stages.path) },
    { "--stream-policy", "NAME", "how a rank gets waves from the ranks of the stage before: 'ddfcfs', 'ddwrr' or 'odds' (default ddfcfs)", DFR_WORD(struct dfr_command_line, stream_policy, "ddfcfs|ddwrr|odds"), .first = 1 },
    { "--tuned", NULL, "change the mapping when what stages take has drifted; a line says why", DFR_FIELD(FLAG, struct dfr_command_line, stages.tune) },
    { "--wave-timeout", "TIME", "a rank that holds a wave longer counts as dead, and others get its waves (default: none does)",
      DFR_FIELD(SECONDS, struct dfr_command_line, ranks.wave_timeout_s) },
    { "--heartbeat-timeout", "TIME", "so does a rank that is silent for so long (default 10s)", DFR_FIELD(SECONDS, struct dfr_command_line, ranks.heartbeat_timeout_s) },
    { 0 }
};
