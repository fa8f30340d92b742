/* replay.h - --replay=FILE: runs one recorded job (inspect/job_file.h) again. Its node is cut out of the graph as ranks cut theirs (subgraph/part.h), and gets
 * the recorded tokens, so devices, copies and policies are those of a run. program_main.c calls it.
 *
 * Flow:     dfr_replay_read() before the graph is made for its sizes; dfr_replay_run() with that graph.
 * Place:    unless --policy or --device says otherwise, the job runs where it was recorded.
 * Errors:   DF_E_REFUSED if the job does not fit the program: no such node, other ports or sizes. Changed code and scalars are only warned of, since
 *           the kernel may have been mended.
 */
#ifndef DFR_PROGRAM_REPLAY_H
#define DFR_PROGRAM_REPLAY_H

#include "runtime/inspect/job_file.h"
#include "runtime/program/args.h"

/* Reads line->replay, and takes args and dynamic params from it. *job is to be freed in any case. */
int dfr_replay_read(const struct df_graph *graph, struct dfr_command_line *line, struct dfr_job *job, struct df_error *error);
/* Runs the job and prints the verdict, unless it fails or makes something else, which is the error. */
int dfr_replay_run(const struct df_graph *graph, const struct dfr_command_line *line, const struct dfr_job *job, struct df_error *error);

#endif
