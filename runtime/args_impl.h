/* args_impl.h - what the files of the command line share: args.c has the table of options, args_inspect.c the functions
 * of those that look into a run. */
#ifndef DFR_ARGS_IMPL_H
#define DFR_ARGS_IMPL_H

#include "runtime/args.h"

/* Takes what was given for an option (NULL: it has no value) into the line. DF_E_ARGUMENT with the sentence. */
typedef int dfr_set_option(struct dfr_command_line *line, const char *name, const char *text, struct df_error *error);

dfr_set_option dfr_set_serial, dfr_set_check, dfr_set_dump, dfr_set_dump_dir, dfr_set_poison, dfr_set_watchdog;

/* Whether these options go with each other. */
int dfr_inspect_together(const struct df_options *options, struct df_error *error);

#endif
