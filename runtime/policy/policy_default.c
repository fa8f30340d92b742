/* policy_default.c - chooses the policy of a run without --policy (policy_default.h), for the start of a run and for
 * df_simulate(). */
#include "runtime/policy/policy_default.h"

#include <stdio.h>

#include "runtime/base/text.h"
#include "runtime/policy/policy.h"

/* Mean time of a node's job on the CPU, in seconds. Copies that the compiler added are left out. */
static double mean_job_s(const struct df_graph *g, const struct df_times *times)
{
    double total_s = 0;
    uint32_t n = 0;

    for (uint32_t v = 0; v < g->n_nodes; v++) {
        if (g->kernels[g->nodes[v].kernel].flags & DF_KERNEL_COPY)
            continue;
        total_s += times->time_s[g->nodes[v].work]; /* class 0 is the CPU */
        n++;
    }
    return n ? total_s / n : 0;
}

static const char *without_devices(const struct dfr_default_facts *f, bool good_plan, char *why, size_t size)
{
    char time[24];
    double job_s;

    if (f->n_workers == 1) {
        snprintf(why, size, "one CPU worker and no device: nodes in the order of their numbers");
        return "all-cpu";
    }
    if (f->waves > 1 || (f->waves < 0 && df_graph_has_streams(f->graph))) {
        snprintf(why, size, "several waves and no device: there is always a job for an idle worker");
        return "ws";
    }
    if (!dfr_times_known(f->graph, f->times, f->platform)) {
        snprintf(why, size, "no device, and not all times are known ('dfc profile' measures them)");
        return "ws";
    }
    job_s = mean_job_s(f->graph, f->times);
    dfr_text_seconds(job_s, time, sizeof time);
    if (!(job_s >= DFR_LONG_JOB_S)) {
        snprintf(why, size, "no device, and jobs are short: %s on average, less than %.0f us", time,
                 DFR_LONG_JOB_S * 1e6);
        return "ws";
    }
    snprintf(why, size, "no device, one wave of known times, %s a job on average, %s", time,
             good_plan ? "and the program's plan fits" : "but no plan for this machine");
    return good_plan ? DFR_POLICY_KNOWN : "dmdas";
}

const char *dfr_policy_default(const struct dfr_default_facts *f, char *why, size_t size)
{
    bool good_plan = f->plan_fits && dfr_plan_is_default(f->graph, f->plan, f->waves);

    if (f->graph->n_promises > 0 && good_plan) {
        snprintf(why, size, "the graph makes promises, which were derived for the program's plan, and that fits");
        return DFR_POLICY_KNOWN;
    }
    if (f->n_devices == 0)
        return without_devices(f, good_plan, why, size);
    if (!good_plan && f->plans && dfr_times_known(f->graph, f->times, f->platform)) {
        snprintf(why, size, "devices, known times, and a plan that was made at the start for this machine");
        return DFR_POLICY_KNOWN;
    }
    snprintf(why, size, good_plan ? "devices, and the program's plan fits this machine"
                                  : "devices, and no plan of known times for this machine and number of waves");
    return good_plan ? DFR_POLICY_KNOWN : DFR_POLICY_DEFAULT;
}
