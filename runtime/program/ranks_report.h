/* ranks_report.h - prints the statistics of a run on several ranks (--stats): tables by rank with sums, or one line of JSON. df_main() calls it
 * (program_main.c). */
#ifndef DFR_RANKS_REPORT_H
#define DFR_RANKS_REPORT_H

#include <stdio.h>

#include "runtime/ranks/figures.h"
#include "runtime/graph/graph.h"

extern const char *const dfr_rank_fates[DFR_RANK_FATES]; /* "worked", … */

void dfr_report_ranks_text(const struct dfr_figures *figures, const struct df_graph *graph, FILE *out);

/* Prints one line. Its keys: elapsed_s, waves, jobs, given, given_again, dropped, busy_s, copied_bytes, sent_bytes, received_bytes (of all ranks),
 * ranks: [{rank, host, state, waves, given, given_again, dropped, deaths, inflight, window, sent_bytes, received_bytes, stats}], where `state` is
 * worked, left, died, refused or absent, and stats is as of a run in one process (run_report.h), or null if the rank did not report; and sinks,
 * kernels and nodes of all ranks as there. sent and received are as rank 0 sees them: sent to the rank, and received from it.
 * If waves went by stages, there is stages: [{names, waves, in_bytes, out_bytes, ran_s, waited_s, full_s}] for each rank, and for all of them together
 * (ranks/stage_rows.h). */
void dfr_report_ranks_json(const struct dfr_figures *figures, const struct df_graph *graph, FILE *out);

#endif
