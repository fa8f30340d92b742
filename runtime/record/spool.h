/* spool.h - copies inputs that can be read only once, such as pipes, into files, so that a resumed run can read them again.
 * resumable.c does so for --spool. */
#ifndef DFR_SPOOL_H
#define DFR_SPOOL_H

#include "runtime/graph/graph.h"

/* Copies each input of the graph that is a pipe into a file in `folder`, and sets the args that name it to that file. journal: the journal of the run that is
 * resumed; NULL: none. An input that this run has copied is read from its copy, and not from the pipe that the arg names now, such as stdin of a new batch
 * job. folder NULL: other pipes are refused (DF_E_REFUSED). *args: by number of the graph's arg, values that
 * replace options->args; NULL: nothing is to be replaced. It is freed by dfr_spool_free(). */
int dfr_spool(const struct df_graph *graph, const union df_scalar *given, const char *folder, const char *journal, union df_scalar **args,
              struct df_error *error);
void dfr_spool_free(const struct df_graph *graph, const union df_scalar *given, union df_scalar *args);

#endif
