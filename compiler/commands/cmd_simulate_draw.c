/* cmd_simulate_draw.c - parses the value of `dfc simulate --error` for cmd_simulate.c, and draws the erroneous times
 * for cmd_simulate_error.c (simulate_error.h).
 */
#include "compiler/commands/simulate_error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "partition/gp/gp.h"
#include "runtime/base/error.h"

int dfc_error_parse(const char *text, struct dfc_error_study *study, struct df_error *error)
{
    static const struct {
        const char *name;
        enum dfc_error_kind kind;
        double most;
    } kinds[] = { { "sigma:", DFC_ERROR_SIGMA, 3 }, { "off:", DFC_ERROR_OFF, 100 },
                  { "confound:", DFC_ERROR_CONFOUND, 100 } };

    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i].name);
        char *end;
        if (strncmp(text, kinds[i].name, n))
            continue;
        study->size = strtod(text + n, &end);
        if (end == text + n || *end || !(study->size > 0 && study->size <= kinds[i].most))
            return dfr_error(error, DF_E_ARGUMENT, "a number above 0 and not above %g is expected after '%s'",
                             kinds[i].most, kinds[i].name);
        study->kind = kinds[i].kind;
        return DF_OK;
    }
    return dfr_error(error, DF_E_ARGUMENT, "one of sigma:S, off:PERCENT, confound:PERCENT is expected");
}

/* ---- draws ---- */

/* Draws a number with the standard normal distribution, by Marsaglia's polar method. */
static double draw_normal(uint64_t *random)
{
    double x, y, s;
    do {
        x = 2 * dfp_random_unit(random) - 1;
        y = 2 * dfp_random_unit(random) - 1;
        s = x * x + y * y;
    } while (s >= 1 || s <= 0);
    return x * sqrt(-2 * log(s) / s);
}

#define LEAST_SHARE 0.01                /* the least share of a true time that policies are told */
#define LEAST_SPEEDUP 0.001

static void draw_sigma(double sigma, uint64_t *random, size_t n, double *true_s)
{
    for (size_t i = 0; i < n; i++)
        true_s[i] *= exp(sigma * draw_normal(random)); /* NaN (cannot run) stays NaN, and 0 stays 0 */
}

static void draw_off(double share, uint64_t *random, size_t n, double *told_s)
{
    for (size_t i = 0; i < n; i++)
        told_s[i] *= dfr_random_below(random, 2) ? 1 + share : fmax(1 - share, LEAST_SHARE);
}

/* ---- confounded speedups ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The work's speedup over the CPU. NaN: one of the two cannot run the work, or one of the times is 0. */
static double speedup(const struct df_times *t, uint32_t cls, uint32_t work)
{
    double cpu_s = t->time_s[work], own_s = t->time_s[(size_t)cls * t->n_works + work];
    return cpu_s > 0 && own_s > 0 ? cpu_s / own_s : NAN;
}

static bool confound_class(double share, const struct df_times *t, uint32_t cls, double *told_s)
{
    double *list = malloc(((size_t)t->n_works + 1) * sizeof *list), median = 0;
    uint32_t n = 0;
    if (!list)
        return false;
    for (uint32_t k = 0; k < t->n_works; k++)
        if (!isnan(speedup(t, cls, k)))
            list[n++] = speedup(t, cls, k);
    qsort(list, n, sizeof *list, by_value);
    if (n)
        median = list[n / 2];
    for (uint32_t k = 0; k < t->n_works; k++) {
        double s = speedup(t, cls, k);
        if (!isnan(s))
            told_s[(size_t)cls * t->n_works + k] =
                t->time_s[k] / (s < median ? s * (1 + share) : fmax(s * (1 - share), LEAST_SPEEDUP));
    }
    free(list);
    return true;
}

bool dfc_error_draw(const struct dfc_error_study *study, const struct dfp_problem *problem, uint32_t seed,
                    uint32_t draw, double *told_s, double *true_s)
{
    const struct df_times *t = problem->times;
    size_t n = (size_t)t->n_classes * t->n_works;
    uint64_t random = (uint64_t)seed << 32 | draw;

    memcpy(told_s, t->time_s, n * sizeof *told_s);
    memcpy(true_s, t->time_s, n * sizeof *true_s);
    if (study->kind == DFC_ERROR_SIGMA)
        draw_sigma(study->size, &random, n, true_s);
    else if (study->kind == DFC_ERROR_OFF)
        draw_off(study->size / 100, &random, n, told_s);
    for (uint32_t c = 1; study->kind == DFC_ERROR_CONFOUND && c < t->n_classes; c++)
        if (!confound_class(study->size / 100, t, c, told_s))
            return false;
    return true;
}
