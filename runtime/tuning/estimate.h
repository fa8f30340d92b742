/* estimate.h - a robust running estimate of the time of a stage on a processor: the median of its latest measurements.
 * tuning.c keeps one for each pair, ranks/tune.c one for each group.
 *
 * Values:   logarithms of measured over expected seconds, so that three times as long and a third as long are equally
 *           far from the expectation.
 * Jump:     if six of the last seven values differ from the estimate in the same direction, by more than a fifth and
 *           more than noise explains, all earlier values are discarded. So the estimate follows a jump after six waves,
 *           a slow drift when half of the values are new, and ignores up to three isolated outliers.
 * Chance:   noise is measured by the median absolute deviation of the values from the estimate.
 */
#ifndef DFR_TUNING_ESTIMATE_H
#define DFR_TUNING_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

enum { DFR_ESTIMATE_FEW = 7, DFR_ESTIMATE_MANY = 63, DFR_ESTIMATE_ENOUGH = 3 };

struct dfr_estimate {
    float values[DFR_ESTIMATE_MANY];    /* a ring */
    uint32_t n, next;
    float median, spread;               /* spread: of the last time when there were enough values for it */
};

/* The last values of several estimates, as distances from them: of a stage, whatever processor had it. */
struct dfr_jumps {
    float away[DFR_ESTIMATE_FEW];
    uint32_t n, next;
};

/* Adds a value. Returns whether earlier values were discarded. */
bool dfr_estimate_add(struct dfr_estimate *estimate, double value);
/* If the last value deviates like a jump, upwards or downwards, keeps only that value, as dfr_estimate_set() does: for an estimate related
 * to one that has jumped. */
void dfr_estimate_follow(struct dfr_estimate *estimate, bool upwards);
/* Restarts with a single value, which counts as sufficient. */
void dfr_estimate_set(struct dfr_estimate *estimate, double value);
/* The deviation of the estimate that noise explains, as a logarithm: 3.5 standard errors. */
double dfr_estimate_chance(const struct dfr_estimate *estimate);

/* Adds a distance. true: all of the estimates have jumped, by *by, and the distances are discarded. */
bool dfr_jumps_add(struct dfr_jumps *jumps, double away, double spread, double *by);

#endif
