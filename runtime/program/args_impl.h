/* args_impl.h - internal interface of the command line. args.c parses it by tables of options, one for each theme, in
 * the files named after the themes; args_files.c checks the output files.
 */
#ifndef DFR_ARGS_IMPL_H
#define DFR_ARGS_IMPL_H

#include "runtime/program/args.h"

/* Why a library does not take an option. */
#define DFR_PROGRAM .program_only = "a program takes it"
#define DFR_SILENT "a library prints nothing"
#define DFR_RESULTS "a call is to have results"

extern const struct dfr_option dfr_options_run[], dfr_options_device[], dfr_options_resume[], dfr_options_cluster[],
    dfr_options_inspect[], dfr_options_live[];
dfr_set_option dfr_set_waves;

/* Do these options go together? DF_E_ARGUMENT with the sentence if not. */
int dfr_inspect_together(const struct df_options *options, struct df_error *error);
int dfr_replay_together(const struct dfr_command_line *line, struct df_error *error);
int dfr_devices_together(const struct df_options *options, struct df_error *error);
int dfr_resume_together(struct dfr_command_line *line, struct df_error *error);
int dfr_cluster_together(const struct df_graph *graph, struct dfr_command_line *line, struct df_error *error);
int dfr_live_together(const struct df_graph *graph, const struct dfr_command_line *line, struct df_error *error);
/* args_files.c. Fails if an option writes a file that the run reads, or that another option or a sink writes. */
int dfr_outputs_together(const struct df_graph *graph, const struct dfr_command_line *line, struct df_error *error);

#endif
