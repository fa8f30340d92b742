/* estimate_kernel.c - the estimators of one kernel, for known.c and the report of `dfc profile`: times of its cpu
 * variant, times of its gpu variant on one device, and the speedup between them, from sizes at which both were
 * measured.
 */
#include <math.h>
#include <stdlib.h>

#include "profiles/estimate/estimate.h"
#include "runtime/base/error.h"

struct dfw_kernel_times {
    struct dfw_estimator *estimators[DFW_N_QUANTITIES];
};

static struct dfw_observation observe(const struct dfw_point *p, double over)
{
    return (struct dfw_observation){ p->dims, p->scalars, p->job_bytes, p->mean_s, over };
}

/* Makes no estimator if there is no observation, or none whose features can be read. Estimates are unknown then. */
static int make(const struct dfw_observation *list, uint32_t n, double assumed, struct dfw_estimator **estimator,
                struct df_error *error)
{
    int status = n ? dfw_estimator_new(list, n, assumed, estimator, error) : DF_OK;
    return status == DF_E_ARGUMENT ? DF_OK : status;
}

static uint32_t pair(const struct dfw_points *cpu, const struct dfw_points *gpu, struct dfw_observation *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0, k = 0; i < cpu->n && k < gpu->n;) {
        int order = dfw_point_compare(&cpu->at[i], &gpu->at[k]);
        if (order == 0)
            list[n++] = observe(&cpu->at[i], gpu->at[k].mean_s);
        i += order <= 0;
        k += order >= 0;
    }
    return n;
}

static int make_all(struct dfw_kernel_times *t, const struct dfw_points *points, struct df_error *error)
{
    uint32_t most = points[0].n > points[1].n ? points[0].n : points[1].n;
    struct dfw_observation *list = malloc(((size_t)most + 1) * sizeof *list);
    int status = list ? DF_OK : dfr_error_memory(error);
    for (uint32_t cls = 0; cls < 2 && status == DF_OK; cls++) {
        for (uint32_t i = 0; i < points[cls].n; i++)
            list[i] = observe(&points[cls].at[i], 1);
        status = make(list, points[cls].n, 1, &t->estimators[cls], error);
    }
    if (status == DF_OK)
        status = make(list, pair(&points[0], &points[1], list), 0, &t->estimators[DFW_SPEEDUP], error);
    free(list);
    return status;
}

int dfw_kernel_times_new(const struct dfw_kernel_points *points, struct dfw_kernel_times **times,
                         struct df_error *error)
{
    struct dfw_kernel_times *t = calloc(1, sizeof *t);
    if (!t)
        return dfr_error_memory(error);
    int status = make_all(t, points->of, error);
    if (status != DF_OK) {
        dfw_kernel_times_free(t);
        return status;
    }
    *times = t;
    return DF_OK;
}

void dfw_kernel_times_free(struct dfw_kernel_times *t)
{
    if (!t)
        return;
    for (unsigned q = 0; q < DFW_N_QUANTITIES; q++)
        dfw_estimator_free(t->estimators[q]);
    free(t);
}

struct dfw_estimator *dfw_kernel_estimator(const struct dfw_kernel_times *times, enum dfw_quantity quantity)
{
    return times->estimators[quantity];
}

static double ask(struct dfw_estimator *e, const struct dfr_work_key *key)
{
    return e ? dfw_estimator_value(e, key->dims, key->scalars, key->job_bytes) : NAN;
}

double dfw_kernel_estimate(struct dfw_kernel_times *t, uint32_t cls, const struct dfr_work_key *key, double other_s)
{
    struct dfw_estimator *own = t->estimators[cls], *speedup = t->estimators[DFW_SPEEDUP];
    double own_s = ask(own, key), ratio = isnan(other_s) ? NAN : ask(speedup, key);
    if (isnan(ratio))
        return own_s;
    double by_ratio_s = cls == DF_CLASS_CPU ? other_s * ratio : other_s / ratio;
    if (isnan(own_s))
        return by_ratio_s;
    /* with one or two sizes scores are unknown: the speedup is taken then, which changes less with size */
    return dfw_estimator_score(own) < dfw_estimator_score(speedup) ? own_s : by_ratio_s;
}
