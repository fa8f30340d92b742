/* run_report.h - prints the statistics of a run (--stats), as text for people or as one line of JSON for programs. df_main() calls it (program_main.c),
 * library/library.c and ranks_report.c only for JSON. A table of the text is left out if there is no memory for it.
 */
#ifndef DF_REPORT_H
#define DF_REPORT_H

#include <stdio.h>

#include "runtime/graph/graph.h"

/* nodes, skips: of each node of `graph`, as df_options.node_stats and node_skips; NULL: that was not asked for. */
void dfr_report_text(const struct df_stats *stats, const struct df_graph *graph, const struct df_node_stats *nodes,
                     const struct df_node_skips *skips, FILE *out);

/* Prints one line. Its keys: makespan_s, waves, jobs, inflight, workers: [{name, jobs, busy_s}], memories: [{name,
 * capacity_bytes, peak_bytes, h2d_copies, h2d_bytes, d2h_copies, d2h_bytes, and what the cache counts}]. The keys of
 * a memory are all members of struct df_memory_stats, by their names there. A rehearsal's line also has rehearsal:
 * {scale, waits, late, late_median_s, late_99_s, late_worst_s}. With `nodes`: kernels: [{name, on, jobs, mean_s, total_s,
 * share}], and nodes: the same and `kernel`; `on` is cpu or gpu, and `share` is of the time of all jobs. With `skips`, if
 * jobs were left out because of empty tokens: sinks: [{name, waves, empty}], the sinks and the ordered nodes. */
void dfr_report_json(const struct df_stats *stats, const struct df_graph *graph, const struct df_node_stats *nodes,
                     const struct df_node_skips *skips, FILE *out);
/* The same without the end of the line. */
void dfr_report_object(const struct df_stats *stats, const struct df_graph *graph, const struct df_node_stats *nodes,
                       const struct df_node_skips *skips, FILE *out);

#endif
