/* demand_report.h - the output of `dfc scale --stream-policy`: tables, CSV, and the request sizes over time as a
 * picture or CSV. demand_command.c prints with it.
 *
 * Errors:   functions return false if memory ran out. The caller checks the FILE.
 */
#ifndef DFC_DEMAND_REPORT_H
#define DFC_DEMAND_REPORT_H

#include <stdio.h>

#include "compiler/cluster/demand_stages.h"

struct dfc_demand_row {                 /* a number of nodes with a policy */
    uint32_t nodes;
    enum dfr_stream_policy policy;
    uint32_t requests;                  /* of each worker; 0: they change */
    int64_t waves;
    struct dfc_demand_result result;
};

struct dfc_demand_change {              /* of a worker's target */
    double at_s;
    uint32_t node, worker, type, target;
};

struct dfc_demand_report {
    const char *path;                   /* of the graph */
    const struct dfc_demand_input *input;
    const struct dfc_demand_row *rows;
    unsigned n_rows;
    const struct dfc_demand_change *changes; /* of one run, in the order of time */
    size_t n_changes;
    double end_s;                       /* of that run */
    uint32_t nodes;                     /* in it */
};

bool dfc_demand_text(const struct dfc_demand_report *report, FILE *out);
/* A line for each row, stage and type of worker. */
void dfc_demand_csv(const struct dfc_demand_report *report, FILE *out);
/* For each worker the mean of its target in 240 pieces of the run. false: no memory. */
bool dfc_demand_draw(const struct dfc_demand_report *report, FILE *out);
void dfc_demand_sizes_csv(const struct dfc_demand_report *report, FILE *out);

#endif
