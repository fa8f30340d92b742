/* policy_speedup.c - policies "pats", "padas" and "pams": ready jobs are sorted by speedup (the time on a CPU worker divided by that on a device), and idle
 * workers take from the end that suits them. Only the order of the speedups matters, so wrong estimates do little harm; the critical path is not
 * considered. A class of devices in the papers is a group here: devices that run the same nodes in the same times (sorted.h). The table of policies
 * (policy.c) lists them.
 *
 * "pats"    Hierarchical pipelines (Teodoro et al. 2012, IV-B): one sorted queue. An idle CPU worker takes the job with
 *           the lowest speedup, an idle GPU the one with the highest. The paper has one class of devices. With several,
 *           a job's speedup is the best that a device gives it.
 * "padas"   PAMS paper (Teodoro et al., 4.2): one queue with two ends, for two classes of devices. A job is put in from
 *           the end of the class that gives it the higher speedup (if they are equal, the class with the lower number),
 *           by that speedup. A device takes from its end. If its own part is empty, it takes the lowest of the other
 *           part. A CPU worker takes from the middle between the parts: of the two jobs there, the one with the lower
 *           speedup. The same rule serves any number of classes: each has a part of its own.
 * "pams"    The same paper: a queue for each class. A device takes the job with the highest speedup on itself. A CPU
 *           worker takes the job whose best speedup on any device is lowest.
 *
 * With one class of devices all three are the same rule. Jobs that only devices can run have infinite speedup. Ties are
 * broken by node number. `--dl` as in locality.h.
 */
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/policy/sorted.h"

enum { PATS, PADAS, PAMS };
enum { OWN, OTHERS, N_LISTS };          /* the lists of a group; only padas has OTHERS */

/* The best speedup that a device gives the node; 0: no device can run it. *group: the group of that device. */
static double best_speedup(const struct dfr_view *view, const struct dfr_groups *groups, uint32_t node, uint32_t *group)
{
    double best = 0;
    *group = 0;
    for (uint32_t i = 0; i < groups->n; i++) {
        uint32_t unit = groups->unit[i];
        if (unit == 0 || !(view->able[node] >> unit & 1))
            continue;
        if (dfr_speedup(view, node, unit) > best || *group == 0) {
            best = dfr_speedup(view, node, unit);
            *group = i;
        }
    }
    return best;
}

static uint32_t place_pats(const struct dfr_view *view, const struct dfr_groups *groups, uint32_t group, uint32_t node,
                           double *key)
{
    uint32_t at;
    double speedup = best_speedup(view, groups, node, &at);
    *key = group == 0 ? -speedup : speedup;
    return OWN;
}

static uint32_t place_padas(const struct dfr_view *view, const struct dfr_groups *groups, uint32_t group, uint32_t node,
                            double *key)
{
    uint32_t at;
    double speedup = best_speedup(view, groups, node, &at);
    *key = group == at ? speedup : -speedup;
    return group == 0 || group == at ? OWN : OTHERS;
}

static uint32_t place_pams(const struct dfr_view *view, const struct dfr_groups *groups, uint32_t group, uint32_t node,
                           double *key)
{
    uint32_t at;
    *key = group == 0 ? -best_speedup(view, groups, node, &at) : dfr_speedup(view, node, groups->unit[group]);
    return OWN;
}

static int speedup_create(const struct dfr_policy *policy, const struct dfr_view *view, const struct df_plan *plan,
                          void **state, struct df_error *error)
{
    static dfr_sorted_place *const places[] = { [PATS] = place_pats, [PADAS] = place_padas, [PAMS] = place_pams };
    struct dfr_sorted *s = malloc(sizeof *s);
    int status;

    (void)plan;
    if (!s)
        return dfr_error_memory(error);
    status = dfr_sorted_create(s, view, N_LISTS, places[policy->variant], error);
    if (status != DF_OK) {
        free(s);
        return status;
    }
    *state = s;
    return DF_OK;
}

static void speedup_destroy(void *state)
{
    dfr_sorted_destroy(state);
    free(state);
}

static enum dfr_pushed speedup_push(void *state, uint64_t job, uint32_t by, bool lone, uint32_t *units)
{
    return dfr_sorted_push(state, job, by, lone, units);
}

static bool speedup_pop(void *state, uint32_t worker, uint64_t *job)
{
    struct dfr_sorted *s = state;
    uint32_t taken;
    return dfr_sorted_pop(s, worker, NULL, N_LISTS, &taken, job);
}

#define SPEEDUP_OPS .pull = true, .locality = true, .create = speedup_create, .destroy = speedup_destroy, .push = speedup_push, \
                    .pop = speedup_pop

const struct dfr_policy dfr_policy_pats = {
    .name = "pats", .summary = "an idle CPU worker takes the job with the lowest speedup, a device the highest",
    .variant = PATS, SPEEDUP_OPS,
};

const struct dfr_policy dfr_policy_padas = {
    .name = "padas", .summary = "one queue with an end for each class of devices, by speedup; the CPU takes the middle",
    .variant = PADAS, SPEEDUP_OPS,
};

const struct dfr_policy dfr_policy_pams = {
    .name = "pams", .summary = "a queue by speedup for each class of devices; the CPU takes what gains least anywhere",
    .variant = PAMS, SPEEDUP_OPS,
};
