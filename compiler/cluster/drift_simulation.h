/* drift_simulation.h - `dfc map --drift`: simulates a mapped pipeline while stages and processors become slower or
 * faster, with and without dynamic tuning. map_command.c calls it, and prints the result with the functions that
 * drift_report.c defines.
 *
 * Runs:     the chosen mapping, unchanged; the same with a tuner, if requested; and the best mapping for the times
 *           after all drifts, as if it had been known from the start.
 * Rate:     of a wave: averaged over the last DFC_DRIFT_OVER waves that left the pipeline, or over as many as there
 *           were.
 * Errors:   functions return false after they have reported an error.
 */
#ifndef DFC_DRIFT_SIMULATION_H
#define DFC_DRIFT_SIMULATION_H

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
struct dfc_drift {
    const struct dfc_drift_request *request;
    const struct dfc_map_report *report;
    struct dfp_drifted runs[DFC_DRIFT_RUNS]; /* without waves: not asked for */
    struct dfp_drifting drifting;
};

/* Parses the value of --drift; the stage's or processor's name is checked later. */
bool dfc_drift_take(struct dfc_drift_request *request, const char *text);
/* Resolves the names into request->drifts, and simulates. */
bool dfc_drift_run(struct dfc_drift_request *request, const struct dfc_map_report *report, uint64_t budget, struct dfc_drift *drift);
void dfc_drift_free(struct dfc_drift *drift);

bool dfc_drift_text(const struct dfc_drift *drift, FILE *out);
void dfc_drift_csv(const struct dfc_drift *drift, FILE *out); /* a line for each wave: rates */
void dfc_drift_draw(const struct dfc_drift *drift, FILE *out); /* rates over waves */

#endif
