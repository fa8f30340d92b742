/* memory_demand.c - estimates how much of the host's memory bandwidth a kernel demands, from how much it slows down
 * beside other threads (profiles/profiles.h): db_points.c calls it, the simulator uses the result.
 *
 * Model:    with demand x as a fraction of the bandwidth, sensitivity s, N workers, and y demanded by the triads,
 *               self - 1 = s (N x - 1)        triad - 1 = s (x + y - 1)        where the right-hand sides are positive.
 *           Dividing one by the other yields x; either then yields s. If only the triad slows the kernel, N x is at most 1,
 *           and s is assumed to be 1 unless x would become negative. A kernel that never runs beside itself has only the
 *           second equation; then, too, s is assumed to be 1, and x is at most 1.
 */
#include <math.h>

#include "profiles/profiles.h"

#define LEAST_SLOWDOWN 0.05             /* less is noise: two measurements of one time differ by so much */

static double slowdown(double times_as_long)
{
    return times_as_long - 1 >= LEAST_SLOWDOWN ? times_as_long - 1 : 0;
}

/* Both numbers are exact then, unless s would be above 1. */
static void fit_both(double self, double triad, double n, double y, double *x, double *s)
{
    double divisor = triad * n - self;
    *x = divisor > 0 ? (triad + self * (y - 1)) / divisor : INFINITY;
    *x = fmin(*x, 1);
    *s = n * *x > 1 ? self / (n * *x - 1) : INFINITY;
    if (*s > 1) {
        *s = 1;
        *x = fmin((1 + self) / n, 1);
    }
}

static void fit_triad(double triad, double most, double y, double *x, double *s)
{
    *s = 1;
    *x = fmin(triad + 1 - y, most);
    if (*x < 0) {
        *x = 0;
        *s = triad / (y - 1);
    }
}

bool dfw_demand_fit(const struct dfw_slowdown *m, double bytes_per_s, struct df_demand *demand)
{
    double self = slowdown(m->self), triad = isnan(m->triad) ? 0 : slowdown(m->triad), x, s;
    if (m->workers < 2 || !(self > 0 || triad > 0))
        return false;
    if (self > 0 && triad > 0) {
        fit_both(self, triad, m->workers, m->triads, &x, &s);
    } else if (self > 0) {
        s = 1;
        x = fmin((1 + self) / m->workers, 1);
    } else {
        fit_triad(triad, isnan(m->self) ? 1 : 1.0 / m->workers, m->triads, &x, &s);
    }
    *demand = (struct df_demand){ x * bytes_per_s, s };
    return true;
}
