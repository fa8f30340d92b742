/* dpm.c - the mapping heuristic DPM (Moreno et al., "Dynamic pipeline mapping", Euro-Par 2008), for `dfc map` and tuning (partition/tuning/remap.c), as HeDPM's
 * authors summarize it: gathers fast stages, and uses the freed processors as replicas of slow ones.
 *
 * It was made for machines that are alike. So it counts a stage by its mean time and leaves links out, and takes processors in the
 * order of their numbers. The ideal time is the sum of all stages' times over the number of processors. Consecutive stages are
 * gathered while their sum is at most that; if there are more groups than processors, the two neighbours of the least sum are
 * gathered. Then each free processor goes to the stage that takes longest.
 */
#include "partition/stages/pipeline.h"

struct plan {
    const struct dfp_pipeline *l;
    double time_s[DFP_MOST_STAGES];     /* by stage */
    uint32_t n_groups, first[DFP_MOST_STAGES + 1], replicas[DFP_MOST_STAGES];
};

static double group_s(const struct plan *plan, uint32_t g)
{
    double sum_s = 0;
    for (uint32_t n = plan->first[g]; n < plan->first[g + 1]; n++)
        sum_s += plan->time_s[n];
    return sum_s;
}

static double mean_times(struct plan *plan)
{
    double sum_s = 0;
    for (uint32_t n = 0; n < plan->l->n_stages; n++) {
        plan->time_s[n] = 0;
        for (uint32_t p = 0; p < plan->l->n_processors; p++)
            plan->time_s[n] += dfp_stage_s(plan->l, n, p) / plan->l->n_processors;
        sum_s += plan->time_s[n];
    }
    return sum_s;
}

static void gather(struct plan *plan, double ideal_s)
{
    double sum_s = 0;
    for (uint32_t n = 0; n < plan->l->n_stages; n++) {
        if (n == 0 || sum_s + plan->time_s[n] > ideal_s) {
            plan->first[plan->n_groups++] = n;
            sum_s = 0;
        }
        sum_s += plan->time_s[n];
    }
    plan->first[plan->n_groups] = plan->l->n_stages;
}

/* Joins the two neighbours of the least sum. */
static void join(struct plan *plan)
{
    uint32_t best = 0;
    for (uint32_t g = 1; g + 1 < plan->n_groups; g++)
        if (group_s(plan, g) + group_s(plan, g + 1) < group_s(plan, best) + group_s(plan, best + 1))
            best = g;
    for (uint32_t g = best + 1; g < plan->n_groups; g++)
        plan->first[g] = plan->first[g + 1];
    plan->n_groups--;
}

/* Gives a processor to the stage that takes longest. false: no stage can have one more. */
static bool replicate(struct plan *plan)
{
    uint32_t most = DFP_NO_GROUP;
    for (uint32_t g = 0; g < plan->n_groups; g++) {
        bool may = plan->first[g + 1] - plan->first[g] == 1 && !plan->l->serial[plan->first[g]];
        if (may && (most == DFP_NO_GROUP || group_s(plan, g) / plan->replicas[g] > group_s(plan, most) / plan->replicas[most]))
            most = g;
    }
    if (most != DFP_NO_GROUP)
        plan->replicas[most]++;
    return most != DFP_NO_GROUP;
}

bool dfp_map_dpm(const struct dfp_pipeline *l, struct dfp_mapping *mapping)
{
    struct plan plan = { .l = l };
    uint32_t p = 0;
    gather(&plan, mean_times(&plan) / l->n_processors);
    while (plan.n_groups > l->n_processors)
        join(&plan);
    for (uint32_t g = 0; g < plan.n_groups; g++)
        plan.replicas[g] = 1;
    for (uint32_t left = l->n_processors - plan.n_groups; left > 0 && replicate(&plan); left--)
        ;
    mapping->n_groups = plan.n_groups;
    for (uint32_t g = 0; g < plan.n_groups; g++) {
        mapping->first[g] = plan.first[g];
        for (uint32_t r = 0; r < plan.replicas[g]; r++)
            mapping->group_of[p++] = g;
    }
    mapping->first[plan.n_groups] = l->n_stages;
    for (; p < l->n_processors; p++)
        mapping->group_of[p] = DFP_NO_GROUP;
    return true;
}
