/* estimate_power.c - fits power laws for estimate.c by robust regression on logarithms, so that spikes and noise have
 * little influence.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/estimate/estimate.h"
#include "runtime/base/sampler.h"

#define LEAST_LN_SPREAD 0.01            /* sizes that differ by less say nothing about growth */
#define TWO_POINTS_LN_SPREAD 0.4        /* if only two sizes differ by less, noise would be taken for growth */
#define STEPS 20
#define TUKEY 4.685
#define MAD_TO_SIGMA 1.4826
#define LEAST_SIGMA 1e-3

/* ---- one exponent ---- */

static bool fit_pairs(const double *x, const double *y, uint32_t n, double assumed, struct dfw_power *power)
{
    size_t n_slopes = 0, room = (size_t)n * (n - 1) / 2;
    double *slopes = malloc((room + n + 1) * sizeof *slopes), *rest = slopes + room;
    if (!slopes)
        return false;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (fabs(x[i] - x[k]) > (n == 2 ? TWO_POINTS_LN_SPREAD : LEAST_LN_SPREAD))
                slopes[n_slopes++] = (y[i] - y[k]) / (x[i] - x[k]);
    double slope = n_slopes ? dfr_median(slopes, (uint32_t)n_slopes) : assumed;
    if (n == 2)                         /* then one of the two may be a spike */
        slope = fmin(fmax(slope, assumed - 1), assumed + 1);
    for (uint32_t i = 0; i < n; i++)
        rest[i] = y[i] - slope * x[i];
    power->n_exponents = 1;
    power->exponent[0] = slope;
    power->intercept = dfr_median(rest, n);
    free(slopes);
    return isfinite(slope) && isfinite(power->intercept);
}

/* ---- several ---- */

/* Solves a * z = b for a symmetric matrix of m rows, by elimination with pivots. a and b are overwritten. */
static bool solve(double a[][DFW_MAX_FEATURES + 1], double *b, uint32_t m)
{
    for (uint32_t c = 0; c < m; c++) {
        uint32_t pivot = c;
        for (uint32_t r = c + 1; r < m; r++)
            if (fabs(a[r][c]) > fabs(a[pivot][c]))
                pivot = r;
        if (fabs(a[pivot][c]) < 1e-12)
            return false;
        for (uint32_t k = 0; k < m && pivot != c; k++) {
            double kept = a[c][k];
            a[c][k] = a[pivot][k];
            a[pivot][k] = kept;
        }
        double kept = b[c];
        b[c] = b[pivot];
        b[pivot] = kept;
        for (uint32_t r = 0; r < m; r++) {
            double f = r == c ? 0 : a[r][c] / a[c][c];
            for (uint32_t k = c; k < m && f != 0; k++)
                a[r][k] -= f * a[c][k];
            b[r] -= f * b[c];
        }
    }
    for (uint32_t c = 0; c < m; c++)
        b[c] /= a[c][c];
    return true;
}

/* Least squares with these weights; x is relative to `mean`. If two numbers always grow together, no data can tell
 * their exponents apart. A little ridge regularisation then shares the exponent evenly between them. */
static bool fit_weighted(const double *x, const double *y, const double *weight, const double *mean, uint32_t n,
                         uint32_t d, struct dfw_power *power)
{
    double a[DFW_MAX_FEATURES + 1][DFW_MAX_FEATURES + 1] = { { 0 } }, b[DFW_MAX_FEATURES + 1] = { 0 };
    for (uint32_t i = 0; i < n; i++) {
        double row[DFW_MAX_FEATURES + 1];
        for (uint32_t k = 0; k < d; k++)
            row[k] = x[(size_t)i * d + k] - mean[k];
        row[d] = 1;
        for (uint32_t r = 0; r <= d; r++) {
            for (uint32_t c = 0; c <= d; c++)
                a[r][c] += weight[i] * row[r] * row[c];
            b[r] += weight[i] * row[r] * y[i];
        }
    }
    for (uint32_t k = 0; k < d; k++)
        a[k][k] += 1e-6 * (a[k][k] + a[d][d]);
    if (!solve(a, b, d + 1))
        return false;
    power->n_exponents = d;
    power->intercept = b[d];
    for (uint32_t k = 0; k < d; k++) {
        power->exponent[k] = b[k];
        power->intercept -= b[k] * mean[k];
    }
    return isfinite(power->intercept);
}

/* Fits first with absolute residuals, which no single point can dominate, then with Tukey's weights, which ignore
 * points that are far off. */
static bool fit_several(const double *x, const double *y, uint32_t n, uint32_t d, struct dfw_power *power)
{
    double mean[DFW_MAX_FEATURES] = { 0 };
    double *weight = malloc((3 * (size_t)n + 1) * sizeof *weight), *residual = weight + n, *scratch = residual + n;
    if (!weight)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        weight[i] = 1;
        for (uint32_t k = 0; k < d; k++)
            mean[k] += x[(size_t)i * d + k] / n;
    }
    bool good = fit_weighted(x, y, weight, mean, n, d, power);
    for (int step = 1; step < STEPS && good; step++) {
        for (uint32_t i = 0; i < n; i++) {
            residual[i] = fabs(y[i] - dfw_power_ln(power, x + (size_t)i * d));
            scratch[i] = residual[i];
        }
        double sigma = fmax(MAD_TO_SIGMA * dfr_median(scratch, n), LEAST_SIGMA);
        for (uint32_t i = 0; i < n; i++) {
            double u = residual[i] / (TUKEY * sigma);
            weight[i] = step < STEPS / 2 ? 1 / fmax(residual[i], LEAST_SIGMA) : u < 1 ? (1 - u * u) * (1 - u * u) : 0;
        }
        good = fit_weighted(x, y, weight, mean, n, d, power);
    }
    free(weight);
    return good;
}

/* ---- either ---- */

bool dfw_power_fit(const double *ln_x, const double *ln_y, uint32_t n, uint32_t d, double assumed,
                   struct dfw_power *power)
{
    if (n == 0 || d == 0 || d > DFW_MAX_FEATURES)
        return false;
    if (d == 1)
        return fit_pairs(ln_x, ln_y, n, assumed, power);
    return n >= 2 * (d + 1) && fit_several(ln_x, ln_y, n, d, power);
}

double dfw_power_ln(const struct dfw_power *power, const double *ln_x)
{
    double ln = power->intercept;
    for (uint32_t k = 0; k < power->n_exponents; k++)
        ln += power->exponent[k] * ln_x[k];
    return ln;
}
