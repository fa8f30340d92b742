/* cluster_trace.h - writes the Chrome trace of a run on ranks, on rank 0. Each rank appears as a process whose threads are its workers and copy engines. All
 * timestamps are converted to rank 0's clock. rank0.c writes it.
 *
 * Input:    each rank sends its events as text, one comma-terminated JSON event per line. Fragments of different ranks may interleave.
 * Counters: the windows over time (figures.h) are counter events named `window` and `rate`, in their rank's process.
 * Metadata: "otherData" records each rank's clock offset at start and end, with an error bound.
 * Errors:   the file appears whole or not at all (runtime/base/output.h).
 */
#ifndef DFR_CLUSTER_TRACE_H
#define DFR_CLUSTER_TRACE_H

#include "runtime/base/output.h"
#include "runtime/ranks/figures.h"

struct dfr_cluster_trace_write {
    struct dfr_output output;
};

int dfr_cluster_trace_open(struct dfr_cluster_trace_write *trace, const char *path, struct df_error *error);
/* false: it is no piece of a trace, and nothing is written. */
bool dfr_cluster_trace_add(struct dfr_cluster_trace_write *trace, const char *text, size_t size);
/* Writes the metadata after the events. good = false: the file does not appear. origin_s: time 0 of the trace, by rank 0's clock. */
int dfr_cluster_trace_close(struct dfr_cluster_trace_write *trace, const struct dfr_figures *figures, double origin_s, bool good, struct df_error *error);

#endif
