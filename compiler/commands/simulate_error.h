/* simulate_error.h - `dfc simulate --error=…`: a study of how sensitive policies are to wrong execution times. Policies
 * and planners are *told* one set of times, jobs take another, *true* one. One of the sets is the graph's own; the other
 * is derived from it by one of the kinds below. sigma and off draw it anew for each run. cmd_simulate.c parses the option
 * and calls cmd_simulate_error.c for the study; cmd_simulate_draw.c parses and draws.
 *
 * Kinds:
 *  - sigma:S      The true times are random: each work on each class of units takes exp(S·z) times as long, z standard
 *                 normal. The told times are the same for all draws, so one plan serves all of them.
 *  - off:P        The told times are random: P percent above or below the true time with equal probability (the PAMS
 *                 paper), but at least 1 % of it, because at 100 % nothing would be left. Each draw is planned anew.
 *  - confound:P   The told times are computed, so there is one run. In each class of devices, works whose speedup is below
 *                 the median are told with a speedup P percent too high, the others P percent too low, but at least 0.001
 *                 (section V-G of the paper on hierarchical pipelines).
 * Determinism: the same seed draws the same times for every policy, and on every call.
 */
#ifndef DFC_SIMULATE_ERROR_H
#define DFC_SIMULATE_ERROR_H

#include <stdio.h>

#include "partition/partition.h"
#include "runtime/base/report_table.h"
#include "runtime/simulate/simulate.h"

enum dfc_error_kind { DFC_ERROR_NONE, DFC_ERROR_SIGMA, DFC_ERROR_OFF, DFC_ERROR_CONFOUND };

struct dfc_error_study {
    enum dfc_error_kind kind;
    double size;                        /* sigma, or a percentage */
    uint32_t draws;
};

/* Parses "sigma:0.6" and the like. Returns DF_E_ARGUMENT if the text is invalid. */
int dfc_error_parse(const char *text, struct dfc_error_study *study, struct df_error *error);

/* Draws the times. told_s and true_s are indexed [class * n_works + work], as in struct df_times. false: no memory. */
bool dfc_error_draw(const struct dfc_error_study *study, const struct dfp_problem *problem, uint32_t seed,
                    uint32_t draw, double *told_s, double *true_s);

/* Runs the study and prints a line for each policy: its makespan with right times; the median and the worst makespan
 * over the draws; and its speed relative to dmda on the same draws, median and least. `how`: the other simulation
 * options, the same for all runs. false: it failed, and the error was printed. */
bool dfc_error_run(const struct dfc_error_study *study, const struct dfp_problem *problem,
                   const struct dfp_options *partition, const struct dfr_simulate_options *how,
                   const char *const *policies, unsigned n_policies, enum dfr_form form, FILE *out);

#endif
