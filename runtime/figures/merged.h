/* merged.h - one trace of all ranks, as rank 0 writes it: a process for each rank, whose rows are its workers and copy engines, all on rank 0's clock.
 *
 * Pieces:   The events of a rank come as text: whole lines, of which each is an event and a comma. Pieces of several ranks may come in any order.
 * Counters: the windows over time (windows.h), as events "C" with the names `window` and `rate`, each in its rank's process.
 * Metadata: "otherData" has for each rank its clock's offset from rank 0's at the start and at the end, and how wrong that can be.
 * Errors:   the file appears whole or not at all (runtime/base/output.h).
 */
#ifndef DFR_MERGED_H
#define DFR_MERGED_H

#include "runtime/base/output.h"
#include "runtime/figures/figures.h"

struct dfr_merged_trace {
    struct dfr_output output;
};

int dfr_merged_open(struct dfr_merged_trace *trace, const char *path, struct df_error *error);
/* false: it is no piece of a trace, and nothing is written. */
bool dfr_merged_add(struct dfr_merged_trace *trace, const char *text, size_t size);
/* Writes what stands behind the events. good = false: the file does not appear. origin_s: time 0 of the trace, by rank 0's clock. */
int dfr_merged_close(struct dfr_merged_trace *trace, const struct dfr_figures *figures, double origin_s, bool good, struct df_error *error);

#endif
