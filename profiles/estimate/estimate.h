/* estimate.h - times and speedups for sizes that were never measured, from those that were.
 *
 * Words:    an *observation* is one measured size of one variant: its dimensions, scalars and bytes, and a value above
 *           0; a *feature* is one dimension or scalar of it, a number or a word. The value of a speedup is cpu time
 *           over gpu time.
 * Methods:  knn is Anthill's estimator (Teodoro et al., "Run-time optimizations for replicated dataflows on
 *           heterogeneous environments", HPDC 2010): the mean of the k = 2 nearest observations. Numbers are divided by
 *           the largest of their feature and compared by Euclid's distance; words count 0 where they are equal, else 1.
 *           For speedups the means of both times are divided. The power laws say value = c * x1^a1 * x2^a2 …: by all
 *           bytes of a job, by the product of the dimensions, or by each number that varies; fitted robustly to the
 *           logarithms, for each set of words by itself where that has enough observations.
 * Choice:   per estimator, the method with the least error when each tenth of the observations is estimated from the
 *           rest (10-fold cross-validation; each one alone where there are fewer than ten). Errors are compared as
 *           |ln(estimate / value)|, none counted above ln 4, so that a spike does not decide. Far outside of what was
 *           measured (half or twice the bytes), where knn can only repeat its nearest, a power law is taken that is at
 *           most twice as wrong. With one or two observations nothing can be validated: they are scaled by bytes.
 * Memory:   an estimator borrows the observations' texts.
 * Linked:   into programs too, so nothing here knows of SQLite.
 * Threads:  an estimator belongs to one thread: fits are made when first asked for.
 * Determinism: the order of the observations does not matter; nothing is drawn.
 */
#ifndef DFW_ESTIMATE_H
#define DFW_ESTIMATE_H

#include <stdbool.h>

#include "profiles/estimate/known.h"

enum dfw_method { DFW_KNN, DFW_POWER_BYTES, DFW_POWER_PRODUCT, DFW_POWER_EACH, DFW_N_METHODS };
const char *dfw_method_name(enum dfw_method method); /* "knn", "bytes", "product", "each" */

#define DFW_KNN_K 2
#define DFW_MAX_OBSERVATIONS 200        /* of more, evenly spread ones are taken */

struct dfw_observation {
    const char *dims, *scalars;         /* as in dfr_work_key */
    uint64_t job_bytes;
    double value, over;                 /* value / over is what is estimated; over is 1 but for speedups */
};

struct dfw_estimator;

/* assumed_exponent: of bytes, where there is nothing to fit it to: 1 for times, 0 for speedups. Observations whose
 * features are not those of most of the others (the kernel was declared otherwise) are left out. n >= 1. */
int dfw_estimator_new(const struct dfw_observation *observations, uint32_t n, double assumed_exponent,
                      struct dfw_estimator **estimator, struct df_error *error);
void dfw_estimator_free(struct dfw_estimator *estimator);      /* NULL allowed */

uint32_t dfw_estimator_count(const struct dfw_estimator *estimator); /* observations that count */
/* The method that the cross-validation chose, and its score: the mean of what is said under Choice; NaN: too few. */
enum dfw_method dfw_estimator_method(const struct dfw_estimator *estimator);
double dfw_estimator_score(const struct dfw_estimator *estimator);
/* Mean of |estimate - value| / value in the cross-validation; NaN: this method cannot say. */
double dfw_estimator_error(const struct dfw_estimator *estimator, enum dfw_method method);

/* The estimate; NaN: other features than the observations have, or this method cannot say. */
double dfw_estimator_value(struct dfw_estimator *estimator, const char *dims, const char *scalars, uint64_t job_bytes);

/* ---- estimate_power.c ---- */

#define DFW_MAX_FEATURES 16

struct dfw_power {
    uint32_t n_exponents;
    double intercept, exponent[DFW_MAX_FEATURES]; /* ln value = intercept + sum of exponent * ln x */
};

/* ln_x: n rows of d. One exponent: Theil and Sen's median of slopes, which a quarter of spikes does not move; several:
 * least squares with weights that fade with the residual (Tukey). Fewer than three rows, or rows that all have the same
 * x, keep `assumed`. false: no memory, or too few rows for several exponents. */
bool dfw_power_fit(const double *ln_x, const double *ln_y, uint32_t n, uint32_t d, double assumed,
                   struct dfw_power *power);
double dfw_power_ln(const struct dfw_power *power, const double *ln_x);

/* ---- estimate_kernel.c: both variants of a kernel ---- */

enum dfw_quantity { DFW_CPU_TIME, DFW_GPU_TIME, DFW_SPEEDUP, DFW_N_QUANTITIES };

struct dfw_kernel_times;

/* Borrows the points. */
int dfw_kernel_times_new(const struct dfw_kernel_points *points, struct dfw_kernel_times **times,
                         struct df_error *error);
void dfw_kernel_times_free(struct dfw_kernel_times *times);    /* NULL allowed */
/* NULL: nothing was measured, or (speedup) no size on both. */
struct dfw_estimator *dfw_kernel_estimator(const struct dfw_kernel_times *times, enum dfw_quantity quantity);
/* Seconds of class cls for a size that was not measured there. other_s: what was measured for it on the other class,
 * else NaN. The time there divided (or multiplied) by the estimated speedup is taken where the speedup is better known
 * than the time, or the time not at all. NaN: nothing is known. */
double dfw_kernel_estimate(struct dfw_kernel_times *times, uint32_t cls, const struct dfr_work_key *key,
                           double other_s);

#endif
