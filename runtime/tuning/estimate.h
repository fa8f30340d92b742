/* estimate.h - what a pair of a stage and a processor takes, of what it took lately: the median.
 *
 * Values:   logarithms of measured seconds over expected ones, so that three times as long and a third as long are equally far.
 * Jump:     If six of the last seven values differ from the estimate in one direction, by more than a fifth and more than chance explains,
 *           the values before them are forgotten. So the estimate follows a jump after six waves, a slow drift when half of the values
 *           are new, and up to three values that stand alone not at all.
 * Chance:   is measured by the median of the values' distances from the estimate (the median absolute deviation).
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

/* Whether the values before were forgotten. */
bool dfr_estimate_add(struct dfr_estimate *estimate, double value);
/* If the last value differs as a jump's do, upwards or downwards, it is all that is remembered, as dfr_estimate_set() does: for an estimate
 * beside one that has jumped. */
void dfr_estimate_follow(struct dfr_estimate *estimate, bool upwards);
/* Begins again with a value, which counts as enough of them. */
void dfr_estimate_set(struct dfr_estimate *estimate, double value);
/* How far an estimate may be from the truth by chance, as a logarithm; three and a half times its standard error. */
double dfr_estimate_chance(const struct dfr_estimate *estimate);

/* Adds a distance. true: all of the estimates have jumped, *by so much, and the distances are forgotten. */
bool dfr_jumps_add(struct dfr_jumps *jumps, double away, double spread, double *by);

#endif
