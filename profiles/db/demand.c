/* demand.c - what a kernel demands of the host's memory, from how much others slow it (profiles.h).
 *
 * Fit:      with demand x in shares of the bandwidth, sensitivity s, N workers, and y asked for by the triads:
 *               self - 1 = s (N x - 1)        triad - 1 = s (x + y - 1)        if these sums are above 1.
 *           The quotient of both gives x, and then either gives s. If only the triad slows it, N x is at most 1, and s is
 *           taken as 1 as far as x then stays positive. A kernel that never runs beside itself has the second equation
 *           alone: s is taken as 1, too, and x is at most 1.
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
