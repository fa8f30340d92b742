/* node_report.h - the parts of --stats about kernels, nodes and sinks, as text or JSON. run_report.c and ranks_report.c print them among the others. */
#ifndef DFR_NODE_REPORT_H
#define DFR_NODE_REPORT_H

#include <stdio.h>

#include "runtime/base/report_table.h"
#include "runtime/graph/graph.h"

/* stats: by node, as df_options.node_stats. Text: a table of the kernels, and one of the nodes if there are more of them;
 * json: two members of an object, each with a comma before it. Nothing is printed if there is no memory. */
void dfr_report_nodes(const struct df_graph *graph, const struct df_node_stats *stats, enum dfr_form form, FILE *out);

/* How many waves each sink and each ordered node got, and how many were empty, so that its kernel was not called. skips: by
 * node, as df_options.node_skips. Nothing is printed if no kernel was left out. Json: a member with a comma before it. */
void dfr_report_sinks(const struct df_graph *graph, const struct df_node_skips *skips, uint64_t waves, enum dfr_form form, FILE *out);

/* A row for each live source of a run or a simulation: its frames, and the latencies of waves. Json: a member with a comma before it. Nothing is printed if
 * there are none. */
void dfr_report_live(const struct df_graph *graph, const struct df_live_stats *live, unsigned n, enum dfr_form form, FILE *out);

#endif
