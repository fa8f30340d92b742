/* simulate_error.h - `dfc simulate --error=…`: what policies are worth where the times they go by are wrong. Policies
 * and plans see the graph's times; jobs take others, drawn anew for each of a number of runs.
 *
 * Kinds:    sigma:S      each work on each class of units takes exp(S·z) times as long, z standard normal
 *           off:P        P percent longer, or shorter by the same factor, with equal chance
 *           confound:P   the speedup of each work moves by P percent (of its logarithm) towards that of its mirror in
 *                        the order of speedups; with 100 the slowest on a device is the fastest, as in the study of
 *                        hierarchical pipelines. Nothing is drawn: one run
 * Determinism: the same seed draws the same times for every policy, and on every call.
 */
#ifndef DFC_SIMULATE_ERROR_H
#define DFC_SIMULATE_ERROR_H

#include <stdio.h>

#include "partition/partition.h"
#include "runtime/simulate.h"

enum dfc_error_kind { DFC_ERROR_NONE, DFC_ERROR_SIGMA, DFC_ERROR_OFF, DFC_ERROR_CONFOUND };

struct dfc_error_study {
    enum dfc_error_kind kind;
    double size;                        /* sigma, or percent */
    uint32_t draws;
};

/* "sigma:0.6", or DF_E_ARGUMENT. */
int dfc_error_parse(const char *text, struct dfc_error_study *study, struct df_error *error);

/* true_s: [class * n_works + work], as struct dfr_simulate_options wants it. false: no memory. */
bool dfc_error_draw(const struct dfc_error_study *study, const struct dfp_problem *problem, uint32_t seed,
                    uint32_t draw, double *true_s);

/* Runs the study and prints a line for each policy: its makespan with the times that it was told, the median with drawn
 * ones, and how fast it is beside dmda with the same times. `how` says what else the runs have in common. false: reported. */
bool dfc_error_run(const struct dfc_error_study *study, const struct dfp_problem *problem,
                   const struct dfp_options *partition, const struct dfr_simulate_options *how,
                   const char *const *policies, unsigned n_policies, bool csv, FILE *out);

#endif
