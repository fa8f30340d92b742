/* args_impl.h - what the files of the command line share. args.c parses it by tables of options. args_run.c,
 * args_device.c and args_inspect.c have one table each, for one theme; args_values.c reads values; args_files.c looks at the files that are written.
 */
#ifndef DFR_ARGS_IMPL_H
#define DFR_ARGS_IMPL_H

#include <stddef.h>

#include "runtime/program/args.h"

/* Puts what was given for an option into the line; text NULL: no value was given. DF_E_ARGUMENT with the sentence. */
typedef int dfr_set_option(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error);

struct dfr_option {
    const char *name;
    const char *value;                  /* as --help shows it; in brackets: it may be left out; NULL: it has none */
    const char *help;
    dfr_set_option *set;                /* NULL: the option is a flag, */
    size_t flag;                        /* which sets the int at this offset of struct df_options to 1 */
};

#define DFR_FLAG(field) NULL, offsetof(struct df_options, field)

/* In each table, the last one has no name. */
extern const struct dfr_option dfr_options_run[], dfr_options_device[], dfr_options_resume[], dfr_options_cluster[],
    dfr_options_inspect[];
dfr_set_option dfr_set_waves;
dfr_set_option dfr_set_policy;          /* the help of its option ends with all policies' names */

/* args_values.c. A wrong text gives DF_E_ARGUMENT with the sentence that the user sees, and leaves *value as it is.
 * int: any that fits in 64 bits; count and unsigned: from 1 to `most`. */
int dfr_parse_int(const char *name, const char *text, int64_t *value, struct df_error *error);
int dfr_parse_count(const char *name, const char *text, int64_t most, int64_t *value, struct df_error *error);
int dfr_parse_unsigned(const char *name, const char *text, unsigned most, unsigned *value, struct df_error *error);
int dfr_parse_on_off(const char *name, const char *text, int *value, struct df_error *error);
/* DF_GRAPHS_…, DF_PIN_… and DFR_PROGRESS_…, which have the same words. */
int dfr_parse_auto_on_off(const char *name, const char *text, int *value, struct df_error *error);

/* Do these options go together? DF_E_ARGUMENT with the sentence if not. */
int dfr_inspect_together(const struct df_options *options, struct df_error *error);
int dfr_devices_together(const struct df_options *options, struct df_error *error);
int dfr_resume_together(struct dfr_command_line *line, struct df_error *error);
int dfr_cluster_together(const struct df_graph *graph, struct dfr_command_line *line, struct df_error *error);
/* args_files.c. Fails if an option writes a file that the run reads, or that another option or a sink writes. */
int dfr_outputs_together(const struct df_graph *graph, const struct dfr_command_line *line, struct df_error *error);

#endif
