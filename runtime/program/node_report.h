/* node_report.h - the tables of kernels and nodes that --stats prints. run_report.c calls it. */
#ifndef DFR_NODE_REPORT_H
#define DFR_NODE_REPORT_H

#include <stdio.h>

#include "runtime/graph/graph.h"

/* stats: by node, as df_options.node_stats. Text: a table of the kernels, and one of the nodes if there are more of them;
 * json: two members of an object, each with a comma before it. Nothing is printed if there is no memory. */
void dfr_report_nodes(const struct df_graph *graph, const struct df_node_stats *stats, bool json, FILE *out);

/* How many waves each sink and each ordered node got, and how many were empty, so that its kernel was not called. skips: by
 * node, as df_options.node_skips. Nothing is printed if no kernel was left out. Json: a member with a comma before it. */
void dfr_report_sinks(const struct df_graph *graph, const struct df_node_skips *skips, uint64_t waves, bool json,
                      FILE *out);

#endif
