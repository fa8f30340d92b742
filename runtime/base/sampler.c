/* sampler.c - the statistics of repeated measurements, and the loop that repeats them until they are precise enough (sampler.h). The measuring mode and the
 * probes use the loop; profiles/, `dfc explain` and --learn use the median or the mean. */
#include "runtime/base/sampler.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "runtime/base/error.h"

#define MAD_TO_SIGMA 1.4826             /* of a normal distribution */
#define OUTLIER_SIGMAS 3.0
#define MANY_RUNS 100u
#define LEAST_RELATIVE_SIGMA 1e-3       /* if more than half are equal: what differs by less than 0.3 % is no outlier */

/* Student's t for a two-sided 95 % interval. Beyond the table, 1.96 + 2.4/f is right within 0.002. */
static double t_quantile(uint32_t freedom)
{
    static const double table[] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                    2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                    2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042 };
    if (freedom <= sizeof table / sizeof *table)
        return table[freedom - 1];
    return 1.96 + 2.4 / freedom;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double dfr_median(double *values, uint32_t n)
{
    qsort(values, n, sizeof *values, compare_doubles);
    return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

const double dfr_quantile_share[DFR_QUANTILES] = { 0,    0.02, 0.05, 0.1, 0.15, 0.2,  0.25, 0.3,   0.35, 0.4,  0.45,  0.5,   0.55,  0.6,
                                                   0.65, 0.7,  0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.965, 0.98, 0.99, 0.995, 0.998, 1 };

void dfr_quantiles_read(const char *text, float *quantiles)
{
    float before = 0;
    for (unsigned i = 0; i < DFR_QUANTILES; i++) {
        char *end = NULL;
        quantiles[i] = text ? strtof(text, &end) : 0;
        if (!text || end == text || !(quantiles[i] >= before) || !isfinite(quantiles[i])) {
            quantiles[DFR_QUANTILES - 1] = 0;
            return;
        }
        before = quantiles[i];
        text = end;
    }
}

double dfr_quantile(const float *quantiles, double share)
{
    unsigned low = 0, high = DFR_QUANTILES - 1;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        *(dfr_quantile_share[middle] <= share ? &low : &high) = middle;
    }
    const double along = (share - dfr_quantile_share[low]) / (dfr_quantile_share[high] - dfr_quantile_share[low]);
    return quantiles[low] + (along < 1 ? along : 1) * (quantiles[high] - quantiles[low]);
}

void dfr_quantiles_above(const float *quantiles, uint32_t runs, double *above)
{
    for (unsigned i = 0; i < DFR_QUANTILES; i++) {
        const double share = dfr_quantile_share[i];
        above[i] = dfr_quantile(quantiles, share + sqrt(share * (1 - share) / runs));
    }
}

void dfr_sample_of(const double *seconds, uint32_t n, double *scratch, struct dfr_sample *sample)
{
    double *sorted = scratch, *deviations = scratch + n;
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = seconds[i];
    double median = dfr_median(sorted, n);
    for (uint32_t i = 0; i < n; i++)
        deviations[i] = fabs(seconds[i] - median);
    double sigma = fmax(MAD_TO_SIGMA * dfr_median(deviations, n), LEAST_RELATIVE_SIGMA * median);
    double limit = OUTLIER_SIGMAS * sigma;

    double sum = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (fabs(seconds[i] - median) <= limit) {
            sum += seconds[i];
            kept++;
        }
    }
    double mean = sum / kept;           /* kept > 0, since at least half lie within the median deviation */
    double squares = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (fabs(seconds[i] - median) <= limit)
            squares += (seconds[i] - mean) * (seconds[i] - mean);
    }
    sample->mean_s = mean;
    sample->ci_s = kept < 2 ? NAN : t_quantile(kept - 1) * sqrt(squares / (kept - 1) / kept);
    for (unsigned i = 0; i < DFR_QUANTILES; i++) {
        const double at = dfr_quantile_share[i] * (n - 1);
        const uint32_t below = (uint32_t)at, above = below + 1 < n ? below + 1 : below;
        sample->quantile[i] = mean > 0 ? (float)((sorted[below] + (at - below) * (sorted[above] - sorted[below])) / mean) : 0;
    }
    sample->runs = n;
    sample->dropped = n - kept;
}

static bool options_are_sane(const struct dfr_sampler_options *o)
{
    return o->goal > 0 && o->min_runs >= 1 && o->max_runs >= o->min_runs && o->max_runs <= 10000000 && o->max_s > 0 &&
           o->least_s >= 0;
}

int dfr_sample_until(const struct dfr_sampler_options *options,
                     int (*run)(void *arg, double *seconds, struct df_error *error), void *arg,
                     struct dfr_sample *sample, struct df_error *error)
{
    if (!options_are_sane(options))
        return dfr_error(error, DF_E_ARGUMENT, "sampling needs a goal above 0, 1 <= min_runs <= max_runs and time");
    uint32_t capacity = 64;
    double *seconds = malloc(3 * capacity * sizeof *seconds); /* measurements, then scratch */
    if (!seconds)
        return dfr_error_memory(error);

    uint32_t n = 0, next_look = options->min_runs;
    double total_s = 0;
    int status = DF_OK;
    for (;;) {
        if (n == capacity) {
            double *more = realloc(seconds, 6 * (size_t)capacity * sizeof *seconds);
            if (!more) {
                status = dfr_error_memory(error);
                break;
            }
            seconds = more;
            capacity *= 2;
        }
        double s = 0;
        status = run(arg, &s, error);
        if (status != DF_OK)
            break;
        seconds[n++] = isfinite(s) && s > 0 ? s : 0;
        total_s += seconds[n - 1];
        bool last = n == options->max_runs || total_s >= options->max_s;
        if (n < next_look && !last)
            continue;
        struct dfr_sample now;
        dfr_sample_of(seconds, n, seconds + capacity, &now);
        if (last || ((total_s >= options->least_s || n >= MANY_RUNS) && now.ci_s <= options->goal * now.mean_s)) {
            *sample = now;
            break;
        }
        next_look = n + 1 + n / 8;      /* looking sorts, so with many short runs it is not done after each */
    }
    free(seconds);
    return status;
}
