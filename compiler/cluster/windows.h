/* windows.h - plots each rank's window (the number of waves that it may hold) over time, from the merged trace of a
 * cluster run (docs/clusters.md): a picture, or CSV. `dfc gantt` (commands/cmd_gantt.c) calls it.
 *
 * Errors:   functions return false after they have reported an error. The caller checks the FILE.
 */
#ifndef DFC_WINDOWS_H
#define DFC_WINDOWS_H

#include <stdio.h>

#include "compiler/show/gantt.h"

/* `path` is the trace's, for the title. */
bool dfc_windows_draw(const struct dfc_trace *trace, const char *path, FILE *out);
/* A line for each change: seconds, rank, window, waves a second that were measured before. */
bool dfc_windows_csv(const struct dfc_trace *trace, const char *path, FILE *out);

#endif
