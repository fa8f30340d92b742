/* estimate.h - predicts times and speedups for sizes that were never measured, from sizes that were. known.c takes the
 * unmeasured times of a graph's works from it, through estimate_kernel.c; the report of `dfc profile`
 * (compiler/commands/cmd_profile_report.c) checks its errors.
 *
 * Words:    an *observation* is one measured size of one variant: its dimensions, scalars and bytes, and a value above
 *           0. A *feature* is one of its dimensions or scalars, a number or a word. The value of a speedup is cpu time
 *           divided by gpu time.
 * Knn:      k nearest neighbours, Anthill's estimator (Teodoro et al., "Run-time optimizations for replicated dataflows
 *           on heterogeneous environments", HPDC 2010): the mean of the k = 2 nearest observations. Numbers are
 *           normalised by the largest value of their feature and compared by Euclidean distance. Two words have the
 *           distance 0 if they are equal, else 1. For speedups the means of both times are divided.
 * Powers:   power laws: value = c * x1^a1 * x2^a2 …, where x is all bytes of a job, or the product of the dimensions,
 *           or each number that varies. They are fitted by robust regression on logarithms. Each combination of words
 *           has its own fit if it has enough observations.
 * Choice:   the estimator with the least error in a 10-fold cross-validation: each tenth of the observations is
 *           predicted from the rest. (With fewer than ten, each one is predicted from the others.) Errors are measured
 *           as |ln(estimate / value)|, capped at ln 4, so that a single spike does not decide.
 * Far:      extrapolation to less than half or more than twice the measured bytes, where knn could only repeat its
 *           nearest: there a power law is used unless its error is more than twice as large.
 * Few:      one or two observations cannot be validated; they are scaled by bytes.
 * Memory:   an estimator borrows the texts of the observations.
 * Threads:  an estimator belongs to one thread, since fits are made when they are first needed.
 * Order:    the order of the observations does not matter, and nothing is random.
 */
#ifndef DFW_ESTIMATE_H
#define DFW_ESTIMATE_H

#include <stdbool.h>

#include "profiles/estimate/known.h"

enum dfw_method { DFW_KNN, DFW_POWER_BYTES, DFW_POWER_PRODUCT, DFW_POWER_EACH, DFW_N_METHODS };
const char *dfw_method_name(enum dfw_method method); /* "knn", "bytes", "product", "each" */

#define DFW_KNN_K 2
#define DFW_MAX_OBSERVATIONS 200        /* if there are more, so many of them are taken, evenly spread */

struct dfw_observation {
    const char *dims, *scalars;         /* as in dfr_work_key */
    uint64_t job_bytes;
    double value, over;                 /* value / over is estimated; over is 1 except for speedups */
};

struct dfw_estimator;

/* assumed_exponent: of bytes, if there is nothing to fit it to: 1 for times, 0 for speedups. Observations with other
 * features than most of them are left out: the kernel was declared otherwise then. n >= 1. */
int dfw_estimator_new(const struct dfw_observation *observations, uint32_t n, double assumed_exponent,
                      struct dfw_estimator **estimator, struct df_error *error);
void dfw_estimator_free(struct dfw_estimator *estimator);      /* NULL allowed */

uint32_t dfw_estimator_count(const struct dfw_estimator *estimator); /* observations that are not left out */
/* The method that the cross-validation chose; and its score, which is the mean error as under Choice. NaN: there are
 * too few observations. */
enum dfw_method dfw_estimator_method(const struct dfw_estimator *estimator);
double dfw_estimator_score(const struct dfw_estimator *estimator);
/* The mean of |estimate - value| / value in the cross-validation; NaN: this method gives no estimates. */
double dfw_estimator_error(const struct dfw_estimator *estimator, enum dfw_method method);

/* The estimate for a size; NaN: it has other features than the observations, or there is no estimate for it. */
double dfw_estimator_value(struct dfw_estimator *estimator, const char *dims, const char *scalars, uint64_t job_bytes);

/* ---- estimate_power.c ---- */

#define DFW_MAX_FEATURES 16

struct dfw_power {
    uint32_t n_exponents;
    double intercept, exponent[DFW_MAX_FEATURES]; /* ln value = intercept + sum of exponent * ln x */
};

/* Fits a power law; ln_x has n rows of d numbers. One exponent is Theil and Sen's median of slopes, which does not move
 * even if a quarter of the values are spikes. Several exponents are fitted by least squares, with weights that fade
 * with the residual (Tukey). With fewer than three rows, or if all rows have the same x, the exponent is `assumed`.
 * false: no memory, or too few rows for several exponents. */
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
/* NULL: nothing was measured; of the speedup: no size was measured on both classes. */
struct dfw_estimator *dfw_kernel_estimator(const struct dfw_kernel_times *times, enum dfw_quantity quantity);
/* Seconds of class cls for a size that was not measured there; NaN: nothing is known. other_s: what was measured for
 * this size on the other class, or NaN. The estimate is either that of the time, or other_s divided (or multiplied) by
 * the estimated speedup. The latter is taken if the speedup is known better than the time, or the time is not known. */
double dfw_kernel_estimate(struct dfw_kernel_times *times, uint32_t cls, const struct dfr_work_key *key,
                           double other_s);

#endif
