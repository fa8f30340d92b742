/* cmd_simulate_draw.c - wrong times: what --error says, and the times that jobs then take (see simulate_error.h). */
#include "compiler/simulate_error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "partition/gp.h"
#include "runtime/error.h"

int dfc_error_parse(const char *text, struct dfc_error_study *study, struct df_error *error)
{
    static const struct {
        const char *name;
        enum dfc_error_kind kind;
        double most;
    } kinds[] = { { "sigma:", DFC_ERROR_SIGMA, 3 }, { "off:", DFC_ERROR_OFF, 1000 },
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

/* Standard normal (Marsaglia's polar method). */
static double draw_normal(struct dfp_random *random)
{
    double x, y, s;
    do {
        x = 2 * dfp_random_unit(random) - 1;
        y = 2 * dfp_random_unit(random) - 1;
        s = x * x + y * y;
    } while (s >= 1 || s <= 0);
    return x * sqrt(-2 * log(s) / s);
}

static double draw_factor(const struct dfc_error_study *study, struct dfp_random *random)
{
    if (study->kind == DFC_ERROR_SIGMA)
        return exp(study->size * draw_normal(random));
    return dfp_random_below(random, 2) ? 1 + study->size / 100 : 1 / (1 + study->size / 100);
}

struct speedup {
    double log_speedup;
    uint32_t work;
};

static int by_speedup(const void *a, const void *b)
{
    const struct speedup *x = a, *y = b;
    if (x->log_speedup != y->log_speedup)
        return x->log_speedup < y->log_speedup ? -1 : 1;
    return (x->work > y->work) - (x->work < y->work);
}

/* Of one class: the times of all works that the CPU can run as well. */
static bool confound_class(double share, const struct df_times *t, uint32_t cls, double *true_s)
{
    struct speedup *list = malloc(((size_t)t->n_works + 1) * sizeof *list);
    uint32_t n = 0;
    if (!list)
        return false;
    for (uint32_t k = 0; k < t->n_works; k++) {
        double cpu_s = t->time_s[k], own_s = t->time_s[(size_t)cls * t->n_works + k];
        if (cpu_s > 0 && own_s > 0)     /* NaN is neither */
            list[n++] = (struct speedup){ log(cpu_s / own_s), k };
    }
    qsort(list, n, sizeof *list, by_speedup);
    for (uint32_t i = 0; i < n; i++) {
        double mixed = (1 - share) * list[i].log_speedup + share * list[n - 1 - i].log_speedup;
        true_s[(size_t)cls * t->n_works + list[i].work] = t->time_s[list[i].work] / exp(mixed);
    }
    free(list);
    return true;
}

bool dfc_error_draw(const struct dfc_error_study *study, const struct dfp_problem *problem, uint32_t seed,
                    uint32_t draw, double *true_s)
{
    const struct df_times *t = problem->times;
    size_t n = (size_t)t->n_classes * t->n_works;
    struct dfp_random random = { .state = (uint64_t)seed << 32 | draw };

    memcpy(true_s, t->time_s, n * sizeof *true_s);
    if (study->kind == DFC_ERROR_CONFOUND) {
        for (uint32_t c = 1; c < t->n_classes; c++)
            if (!confound_class(study->size / 100, t, c, true_s))
                return false;
        return true;
    }
    for (size_t i = 0; i < n; i++)
        true_s[i] *= draw_factor(study, &random); /* what cannot run stays NaN, what is free stays free */
    return true;
}
