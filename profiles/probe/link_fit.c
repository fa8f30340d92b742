/* link_fit.c - fits the transfer-time model t(s) = t0 for s <= s0, else t0 + (s - s0)/B, to measured copies: latency,
 * threshold and bandwidth of a link. probe_link.c calls it.
 *
 * Wu's thesis (eq. 3.1) has t0 + s/B beyond s0, which jumps by s0/B at s0: one more byte would cost that much. Here the
 * two pieces are continuous at s0. For s0 = 0, as on links without a flat part, both models agree.
 *
 * For a given s0 the model is linear in max(0, s - s0) and is fitted by least squares of relative errors, so that 64
 * bytes weigh as much as 64 MiB. The fit is iteratively reweighted against disturbed measurements: first with Huber's
 * weights, then with Tukey's bisquare, which drops outliers. s0 is found by a grid search; of equally good values the
 * smallest is taken.
 */
#include <math.h>

#include "profiles/profiles.h"

#define MAX_POINTS 256
#define REWEIGHTINGS 30
#define HUBER 1.345                     /* if errors are normal, the fit with these two bounds */
#define BISQUARE 4.685                  /* is 95 % as efficient as plain least squares */
#define LEAST_ERROR 1e-4                /* relative; smaller errors are rounding */
#define COARSE 8                        /* thresholds that are tried per octave, and then near the best */
#define FINE 64

struct points {
    const uint64_t *bytes;
    const double *seconds;
    unsigned n;
};

struct line {
    double t0, slope;                   /* seconds, seconds per byte */
};

static double beyond(uint64_t bytes, double threshold)
{
    return (double)bytes > threshold ? (double)bytes - threshold : 0;
}

static double relative_error(const struct points *p, unsigned i, struct line line, double threshold)
{
    return (line.t0 + line.slope * beyond(p->bytes[i], threshold)) / p->seconds[i] - 1;
}

/* Weighted least squares; false: the times do not grow. */
static bool solve(const struct points *p, const double *weights, double threshold, struct line *line)
{
    double w = 0, wx = 0, wt = 0, wxx = 0, wxt = 0;
    for (unsigned i = 0; i < p->n; i++) {
        double x = beyond(p->bytes[i], threshold), t = p->seconds[i], v = weights[i] / (t * t);
        w += v;
        wx += v * x;
        wt += v * t;
        wxx += v * x * x;
        wxt += v * x * t;
    }
    double determinant = w * wxx - wx * wx;
    if (!(determinant > 1e-12 * w * wxx))
        return false;
    line->slope = (w * wxt - wx * wt) / determinant;
    line->t0 = (wxx * wt - wx * wxt) / determinant;
    if (line->t0 < 0) {
        line->t0 = 0;
        line->slope = wxt / wxx;
    }
    return line->slope > 0;
}

static double huber(double error)
{
    return error <= HUBER ? 1 : HUBER / error;
}

static double bisquare(double error)
{
    double x = error / BISQUARE;
    return x < 1 ? (1 - x * x) * (1 - x * x) : 0;
}

/* Gives the sum of the absolute relative errors; infinity: there is no fit. The largest fifth of the errors is left
 * out, since disturbed measurements do not say which threshold is right. */
static double fit_line(const struct points *p, double threshold, struct line *line)
{
    double weights[MAX_POINTS], errors[MAX_POINTS], sorted[MAX_POINTS];
    for (unsigned i = 0; i < p->n; i++)
        weights[i] = 1;
    for (unsigned round = 0; round < REWEIGHTINGS; round++) {
        if (!solve(p, weights, threshold, line))
            return INFINITY;
        for (unsigned i = 0; i < p->n; i++)
            sorted[i] = errors[i] = fabs(relative_error(p, i, *line, threshold));
        double sigma = fmax(1.4826 * dfr_median(sorted, p->n), LEAST_ERROR);
        for (unsigned i = 0; i < p->n; i++)
            weights[i] = round < REWEIGHTINGS / 2 ? huber(errors[i] / sigma) : bisquare(errors[i] / sigma);
    }
    double sum = 0;                     /* the errors were sorted by dfr_median() */
    for (unsigned i = 0; i < p->n - p->n / 5; i++)
        sum += sorted[i];
    return sum;
}

struct search {
    struct points points;
    struct line line;
    double threshold, sum;
};

/* Tries thresholds from `from` to `to`. A threshold is only taken if it is better than the best so far by a hundredth,
 * and the first one if it is better by a fifth. A real threshold improves the fit by far more, and scatter must make
 * none. */
static void search(struct search *s, double from, double to, double steps_per_octave)
{
    for (double threshold = from; threshold <= to; threshold *= exp2(1 / steps_per_octave)) {
        struct line line;
        double sum = fit_line(&s->points, threshold, &line);
        if (sum < s->sum * (s->threshold > 0 ? 0.99 : 0.8) - s->points.n * LEAST_ERROR * 0.01)
            s->sum = sum, s->line = line, s->threshold = threshold;
    }
}

bool dfw_link_fit(const uint64_t *bytes, const double *seconds, unsigned n, struct df_link *link)
{
    if (n < 3 || n > MAX_POINTS)
        return false;
    for (unsigned i = 0; i < n; i++) {
        if (!(seconds[i] > 0) || !isfinite(seconds[i]) || bytes[i] == 0 || (i && bytes[i] <= bytes[i - 1]))
            return false;
    }
    struct search s = { .points = { bytes, seconds, n } };
    double last = (double)bytes[n - 3]; /* at least three points must lie on the threshold or beyond it */
    s.sum = fit_line(&s.points, 0, &s.line);
    search(&s, (double)bytes[0], last, COARSE);
    if (s.threshold > 0)
        search(&s, s.threshold * exp2(-1.0 / COARSE), fmin(last, s.threshold * exp2(1.0 / COARSE)), FINE);
    if (!isfinite(s.sum))
        return false;
    *link = (struct df_link){ .bytes_per_s = 1 / s.line.slope,
                              .latency_s = s.line.t0,
                              .threshold_bytes = (uint64_t)s.threshold };
    return true;
}
