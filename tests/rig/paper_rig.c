/* paper_rig.c - loads the graphs of the papers' experiments and simulates them (paper_rig.h). */
#include "paper_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "partition/partition.h"
#include "runtime/policy/policy.h"

void paper_begin(struct paper *p, const char *path, const char *tiles)
{
    const struct dfc_define define = { "tiles", tiles };
    const struct dfc_front_options options = { .path = path, .defines = &define, .n_defines = tiles != NULL };
    struct df_error error = { "" };
    size_t n;

    *p = (struct paper){ .sink = dfl_sink_new(stderr) };
    assert_non_null(p->sink);
    if (!dfc_front_run(p->sink, &options, &p->front))
        fail_msg("%s cannot be read", path);
    p->graph = p->front->graph;
    assert_int_equal(p->front->n_platforms, 1);
    p->platform = p->front->platforms[0];
    if (dfr_times_default(p->graph, false, &p->times, &error) != DF_OK)
        fail_msg("%s", error.text);
    n = (size_t)p->times.n_classes * p->times.n_works * sizeof *p->true_s;
    p->true_s = malloc(n);
    assert_non_null(p->true_s);
    memcpy(p->true_s, p->times.time_s, n);
}

void paper_end(struct paper *p)
{
    free(p->true_s);
    dfr_times_free(&p->times);
    dfc_front_free(p->front);
    dfl_sink_free(p->sink);
}

struct dfr_simulation paper_run(const struct paper *p, struct paper_setting how, uint16_t *place)
{
    const struct dfp_problem problem = { p->graph, &p->platform, &p->times, 0 };
    const struct dfr_policy *policy = dfr_policy_find(how.policy, NULL);
    struct dfr_simulation r = { .place = place };
    struct dfp_options planning;
    struct df_plan *plan = NULL;
    struct df_error error = { "" };
    int status = DF_OK;
    assert_non_null(policy);
    dfp_options_default(&planning);
    if (policy->needs_plan)
        status = dfp_plan_make(&problem, how.policy, &planning, &plan, &error);
    struct dfr_simulate_options options = { .policy = how.policy, .plan = plan, .waves = how.waves,
                                            .inflight = how.window, .seed = 1, .locality = how.locality,
                                            .prefetch = how.prefetch, .true_time_s = p->true_s };
    if (status == DF_OK)
        status = dfr_simulate(p->graph, &p->platform, &p->times, &options, &r, &error);
    if (status != DF_OK)
        fail_msg("%s: %s", how.policy, error.text);
    dfr_plan_free(plan);
    return r;
}

double paper_seconds(const struct paper *p, const char *policy, uint32_t waves, uint32_t window)
{
    return paper_run(p, (struct paper_setting){ .policy = policy, .waves = waves, .window = window }, NULL).makespan_s;
}

void paper_near(const char *what, double value, double published, double tolerance)
{
    printf("figure %s: %.4g, published %.4g (%+.1f %%)\n", what, value, published, 100 * (value / published - 1));
    if (!(fabs(value / published - 1) <= tolerance))
        fail_msg("%s: %.4g, published %.4g: off by %.1f %%", what, value, published, 100 * (value / published - 1));
}

void paper_alike(const char *what, double value, double other, double tolerance)
{
    printf("figure %s: %.4g and %.4g (%+.1f %%), published to be alike\n", what, value, other,
           100 * (value / other - 1));
    if (!(fabs(value / other - 1) <= tolerance))
        fail_msg("%s: %.4g and %.4g", what, value, other);
}
