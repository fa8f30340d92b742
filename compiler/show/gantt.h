/* gantt.h - Gantt charts as SVG: of a simulated run (`dfc simulate --gantt`), or of a real run from the trace that it
 * wrote (`dfc gantt`). There is a row per worker and copy engine; jobs are coloured by kernel. commands/cmd_simulate.c and
 * commands/cmd_gantt.c call it; cluster/windows.c takes the windows of ranks from a trace that it has read.
 *
 * Outlines: mark the critical chain of jobs and copies of a simulated run, with arrows. If one row is always busy, or
 *           the chain changes rows too often, a sentence says so instead.
 * Memory:   dfc_gantt_free() frees a chart. It observes the simulation through callbacks of its own.
 * Output:   as svg.h says.
 * Errors:   NULL and false: no memory. The caller checks the FILE.
 */
#ifndef DFC_GANTT_H
#define DFC_GANTT_H

#include <stdbool.h>
#include <stdio.h>

#include "partition/partition.h"
#include "runtime/simulate/simulate.h"

struct dfc_gantt;

struct dfc_gantt *dfc_gantt_new(void);
void dfc_gantt_free(struct dfc_gantt *gantt);
/* Sets the simulation's callbacks, so that the chart collects its bars. Before the simulation runs. */
void dfc_gantt_listen(struct dfc_gantt *gantt, struct dfr_simulation *simulation);
/* Draws what was collected, for a run of that policy and makespan. */
bool dfc_gantt_write(struct dfc_gantt *gantt, const struct dfp_problem *problem, const char *policy, double makespan_s,
                     FILE *out);

/* A trace, as a program writes it with --trace=FILE, of at most 64 MiB. NULL: it cannot be read, or it is none (reported
 * with its place). The path is borrowed. */
struct dfc_trace;
struct dfc_trace *dfc_trace_read(const char *path);
void dfc_trace_free(struct dfc_trace *trace);
/* The changes of windows that a merged trace of many ranks has (runtime/ranks/cluster_trace.h), in the order of the file. */
struct dfc_window_change {
    double at_s;
    int64_t rank;
    double window, rate;                /* waves; waves a second that were measured before, 0: none */
};
const struct dfc_window_change *dfc_trace_windows(const struct dfc_trace *trace, size_t *n);
/* When its last event ended. */
double dfc_trace_end_s(const struct dfc_trace *trace);
/* Draws it, once. Time 0 is when the first job began. */
bool dfc_trace_draw(struct dfc_trace *trace, FILE *out);

#endif
