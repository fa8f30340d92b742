/* map_drift.h - `dfc map --drift`: a mapping while stages and processors get slower or faster, with tuning and without, in virtual time.
 *
 * Runs:     the mapping that is shown, as it stays; the same with a tuner, if that is asked for; and the best mapping for the times behind all drifts,
 *           as if it had been known from the start.
 * Rate:     of a wave, over the DFC_DRIFT_OVER waves that left up to it, or over as many as there were.
 * Errors:   false, after they have reported why.
 */
#ifndef DFC_MAP_DRIFT_H
#define DFC_MAP_DRIFT_H

#include <stdio.h>

#include "compiler/cluster/map_report.h"
#include "partition/tuning/drifting.h"

enum { DFC_MOST_DRIFTS = 16, DFC_DRIFT_OVER = 20, DFC_DRIFT_WAVES = 1000, DFC_DRIFT_MOST_WAVES = 1000000 };

struct dfc_drift_request {
    const char *texts[DFC_MOST_DRIFTS]; /* NAME@WAVE:FACTOR or NAME@FIRST-LAST:FACTOR; borrowed */
    struct dfp_drift drifts[DFC_MOST_DRIFTS]; /* without numbers until there is a pipeline */
    unsigned n;
    bool tune;
    unsigned long waves;                /* 0: DFC_DRIFT_WAVES */
    const char *plot;                   /* NULL: none */
};

enum { DFC_DRIFT_STAYS, DFC_DRIFT_TUNED, DFC_DRIFT_BEST, DFC_DRIFT_RUNS };
struct dfc_map_drift {
    const struct dfc_drift_request *request;
    const struct dfc_map_report *report;
    struct dfp_drifted runs[DFC_DRIFT_RUNS]; /* without waves: not asked for */
    struct dfp_drifting drifting;
};

/* Takes an option's value: all but the name is checked. */
bool dfc_drift_take(struct dfc_drift_request *request, const char *text);
/* Finds the names, and runs. request->drifts get their numbers. */
bool dfc_drift_run(struct dfc_drift_request *request, const struct dfc_map_report *report, uint64_t budget, struct dfc_map_drift *drift);
void dfc_drift_free(struct dfc_map_drift *drift);

bool dfc_drift_text(const struct dfc_map_drift *drift, FILE *out);
void dfc_drift_csv(const struct dfc_map_drift *drift, FILE *out); /* a line for each wave: rates */
void dfc_drift_draw(const struct dfc_map_drift *drift, FILE *out); /* rates over waves */

#endif
