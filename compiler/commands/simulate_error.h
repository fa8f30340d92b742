/* simulate_error.h - `dfc simulate --error=…`: what policies are worth where the times they go by are wrong. Policies
 * and plans are *told* times; jobs take *true* ones. One of the two is the graph's, the other is drawn from it, anew
 * for each of a number of runs.
 *
 * Kinds:    sigma:S      true: each work on each class of units takes exp(S·z) times as long, z standard normal.
 *                        What is told is the same for all draws, so a plan is made once
 *           off:P        told: P percent more or less than the true time, with equal chance (the PAMS paper), but not
 *                        less than 1 % of it: at 100 % less nothing would be left. Plans are made for each draw
 *           confound:P   told: on each device, P percent higher speedups for works whose speedup is below the median of
 *                        the works', P percent lower ones for the others, but not less than 0.001 (section V-G of
 *                        hierarchical pipelines). Nothing is drawn: one run
 * Determinism: the same seed draws the same times for every policy, and on every call.
 */
#ifndef DFC_SIMULATE_ERROR_H
#define DFC_SIMULATE_ERROR_H

#include <stdio.h>

#include "partition/partition.h"
#include "runtime/simulate/simulate.h"

enum dfc_error_kind { DFC_ERROR_NONE, DFC_ERROR_SIGMA, DFC_ERROR_OFF, DFC_ERROR_CONFOUND };

struct dfc_error_study {
    enum dfc_error_kind kind;
    double size;                        /* sigma, or percent */
    uint32_t draws;
};

/* "sigma:0.6", or DF_E_ARGUMENT. */
int dfc_error_parse(const char *text, struct dfc_error_study *study, struct df_error *error);

/* told_s, true_s: [class * n_works + work], as struct df_times has them. false: no memory. */
bool dfc_error_draw(const struct dfc_error_study *study, const struct dfp_problem *problem, uint32_t seed,
                    uint32_t draw, double *told_s, double *true_s);

/* Runs the study and prints a line for each policy: its makespan where both are the graph's, the median with drawn
 * ones, and how fast it is beside dmda with the same times. `how` says what else the runs have in common.
 * false: reported. */
bool dfc_error_run(const struct dfc_error_study *study, const struct dfp_problem *problem,
                   const struct dfp_options *partition, const struct dfr_simulate_options *how,
                   const char *const *policies, unsigned n_policies, bool csv, FILE *out);

#endif
