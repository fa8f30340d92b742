/* sampler.h - repeats a measurement until its mean is known precisely enough. Outliers are dropped. The measuring mode, the probes and the estimates of
 * profiles/ use it.
 *
 * Method:   measurements further than 3 scaled median deviations from the median are dropped, since such spikes come from other load on the machine. Of the
 *           rest it takes the mean, and its 95 % confidence interval by Student's t. It stops once half the interval is within `goal` of the mean and a
 *           minimum time was measured, or at a cap.
 * Clock:    none: the callback returns how long a run took, so tests supply their own times.
 * Threads:  reentrant.
 */
#ifndef DFR_SAMPLER_H
#define DFR_SAMPLER_H

#include "runtime/df.h"

/* How single measurements are distributed: quantiles at the shares dfr_quantile_share[], the first 0 and the last 1, as multiples of the mean. The last is 0 if
 * they are unknown. */
#define DFR_QUANTILES 28
extern const double dfr_quantile_share[DFR_QUANTILES];
/* Reads them from a text of numbers with blanks between. If it is not that, or they do not rise, they are unknown. */
void dfr_quantiles_read(const char *text, float *quantiles);
/* Of few measurements a quantile is not known well: gives those that are a standard error higher. */
void dfr_quantiles_above(const float *quantiles, uint32_t runs, double *above);
/* The quantile at any share, interpolated. */
double dfr_quantile(const float *quantiles, double share);

struct dfr_sample {
    double mean_s;                      /* of what is left after outliers are dropped */
    double ci_s;                        /* half width of the 95 % interval of the mean; NaN: unknown (one run) */
    uint32_t runs, dropped;             /* all measurements; those of them that were dropped as outliers */
    float quantile[DFR_QUANTILES];      /* of all measurements */
};

#define DFR_LEAST_TIME_S 1e-9           /* a tick of the clock; what is measured as 0 took less, and is kept as this */

struct dfr_sampler_options {
    double goal;                        /* 0.01: the interval is within 1 % of the mean */
    uint32_t min_runs, max_runs;
    double max_s;                       /* of measured time; the run that passes it is the last, min_runs or not */
    double least_s;                     /* of measured time before the goal can be reached, unless there were 100 runs: a
                                         * few runs that a busy core made alike, and slow, are not believed */
};

#define DFR_SAMPLER_DEFAULT                                                                                            \
    ((struct dfr_sampler_options){ .goal = 0.01, .min_runs = 5, .max_runs = 1000, .max_s = 2.0,           \
                                    .least_s = 0.05 })

/* Calls run(arg, &seconds, error) until the mean is known to options->goal or a cap is reached. If run() fails, returns its code at once. DF_E_ARGUMENT: invalid
 * options; DF_E_MEMORY. */
int dfr_sample_until(const struct dfr_sampler_options *options,
                     int (*run)(void *arg, double *seconds, struct df_error *error), void *arg,
                     struct dfr_sample *sample, struct df_error *error);

/* Computes the statistics of n >= 1 measurements. scratch has room for 2 n numbers. */
void dfr_sample_of(const double *seconds, uint32_t n, double *scratch, struct dfr_sample *sample);

double dfr_median(double *values, uint32_t n); /* sorts them; n >= 1 */

#endif
