/* args_live.c - the options of live sources (@newest, @every), and the options that exclude them, for args.c. */
#include "runtime/base/error.h"
#include "runtime/program/args_impl.h"

/* What may need the frame of a wave again, which nobody has any more. NULL: nothing that was asked for. */
static const char *needs_frames_again(const struct dfr_command_line *line)
{
    return line->resume.resume ? "--resume" : line->journal ? "--journal" : line->resume.chunk ? "--out" : line->cluster ? "--cluster"
           : line->options.passes > 1 ? "--passes" : NULL;
}

/* No kernel is called, so there are no frames. */
static const char *has_no_frames(const struct df_options *o)
{
    return o->device == DF_DEVICE_SIM ? "--device=sim" : o->rehearse != 0 ? "--rehearse" : NULL;
}

int dfr_live_together(const struct df_graph *graph, const struct dfr_command_line *line, struct df_error *error)
{
    const struct df_options *o = &line->options;
    const char *again = needs_frames_again(line), *none = has_no_frames(o), *option = o->record_path ? "--record" : o->play_path ? "--play" : NULL;
    const uint32_t node = df_graph_live(graph);
    char name[256];
    if (node == DF_NONE && option)
        return dfr_error(error, DF_E_ARGUMENT, "%s is for the frames of live sources, and no source of this program has @newest or @every", option);
    if (node == DF_NONE)
        return DF_OK;
    if (o->record_path && o->play_path)
        return dfr_error(error, DF_E_ARGUMENT, "--record: the frames of --play are recorded already");
    if (option && none)
        return dfr_error(error, DF_E_ARGUMENT, "%s: no kernel is called with %s", option, none);
    if (!again)
        return DF_OK;
    df_node_name(graph, node, name, sizeof name);
    return dfr_error(error, DF_E_ARGUMENT, "%s: the frames of node '%s' depend on the clock (@newest, @every), and a run that reads them again would get others", again, name);
}

const struct dfr_option dfr_options_live[] = {
    DFR_HEADING("Live sources"),
    { "--record", "FILE", "keep there the frames of sources with @newest or @every that became waves", DFR_FIELD(NAME, struct dfr_command_line, options.record_path), DFR_PROGRAM },
    { "--play", "FILE", "run on the frames that --record kept: no such source is called, nothing is dropped, and no time counts", DFR_FIELD(NAME, struct dfr_command_line, options.play_path),
      DFR_PROGRAM },
    { 0 }
};
