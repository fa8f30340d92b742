/* simulate_report.h - prints the results of `dfc simulate`: as a table for people, as CSV and as JSON. commands/cmd_simulate.c
 * calls it.
 *
 * Memory:   everything is the caller's.
 * Errors:   false: no memory for the table. The caller checks the FILE.
 */
#ifndef DFC_SIMULATE_REPORT_H
#define DFC_SIMULATE_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "runtime/simulate/simulate.h"

struct dfc_simulated {                  /* the figures of one policy */
    const char *policy;
    struct dfr_simulation simulation;
    double cpu_busy_s, gpu_busy_s;      /* summed over workers; gpu: of all devices */
    double plan_ms;                     /* measured; all other figures are the same on every run */
    /* A wave's load, as in struct df_plan; then the number of waves placed jointly. 0: the plan is not for many
     * waves. */
    double load_s, least_load_s, load_bound_s;
    uint32_t n_joint;
};

struct dfc_simulate_report {
    const char *path, *graph;           /* the file, and the graph's name */
    const struct df_graph *nodes;       /* the graph itself */
    const struct df_platform *platform;
    uint32_t n_nodes, waves;
    const char *gpu_times;              /* the least certain source of the times on GPUs; "": there are none (shared.h) */
    double bound_s;                     /* lower bound of the makespan: no schedule is faster */
    const struct dfc_simulated *rows;
    unsigned n_rows;
};

void dfc_simulate_csv(const struct dfc_simulate_report *report, FILE *out);
void dfc_simulate_json(const struct dfc_simulate_report *report, FILE *out);
bool dfc_simulate_text(const struct dfc_simulate_report *report, FILE *out);

#endif
