/* phantom.h - the three-dimensional Shepp-Logan phantom with Toft's contrasts, whose head is 2 * PHANTOM_MM long. Densities of
 * ellipsoids that overlap are added.
 */
#ifndef PHANTOM_H
#define PHANTOM_H

#include <math.h>

#define PHANTOM_MM 110.0
#define PHANTOM_PARTS 10

static const struct ellipsoid {
    double density, half[3], centre[3], degrees; /* lengths in PHANTOM_MM; turned about z */
} phantom[PHANTOM_PARTS] = {
    { 1, { 0.69, 0.92, 0.81 }, { 0, 0, 0 }, 0 },
    { -0.8, { 0.6624, 0.874, 0.78 }, { 0, -0.0184, 0 }, 0 },
    { -0.2, { 0.11, 0.31, 0.22 }, { 0.22, 0, 0 }, -18 },
    { -0.2, { 0.16, 0.41, 0.28 }, { -0.22, 0, 0 }, 18 },
    { 0.1, { 0.21, 0.25, 0.41 }, { 0, 0.35, -0.15 }, 0 },
    { 0.1, { 0.046, 0.046, 0.05 }, { 0, 0.1, 0.25 }, 0 },
    { 0.1, { 0.046, 0.046, 0.05 }, { 0, -0.1, 0.25 }, 0 },
    { 0.1, { 0.046, 0.023, 0.05 }, { -0.08, -0.605, 0 }, 0 },
    { 0.1, { 0.023, 0.023, 0.02 }, { 0, -0.606, 0 }, 0 },
    { 0.1, { 0.023, 0.046, 0.02 }, { 0.06, -0.605, 0 }, 0 },
};

/* A place (is_place: 1) or a direction (0), in mm, in the ellipsoid's own space, where it is the unit sphere. */
static inline void phantom_inside(const struct ellipsoid *e, const double *from, int is_place, double *to)
{
    double p[3], turn = e->degrees * 3.141592653589793 / 180;
    for (int i = 0; i < 3; i++)
        p[i] = from[i] / PHANTOM_MM - (is_place ? e->centre[i] : 0);
    to[0] = (p[0] * cos(turn) + p[1] * sin(turn)) / e->half[0];
    to[1] = (p[1] * cos(turn) - p[0] * sin(turn)) / e->half[1];
    to[2] = p[2] / e->half[2];
}

static inline double phantom_at(double x, double y, double z)
{
    double sum = 0;
    for (unsigned i = 0; i < PHANTOM_PARTS; i++) {
        double p[3];
        phantom_inside(&phantom[i], (const double[]){ x, y, z }, 1, p);
        if (p[0] * p[0] + p[1] * p[1] + p[2] * p[2] <= 1)
            sum += phantom[i].density;
    }
    return sum;
}

#endif
