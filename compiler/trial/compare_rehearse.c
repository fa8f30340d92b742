/* compare_rehearse.c - plans, rehearses and simulates one policy for `dfc compare --rehearse`, in commands/cmd_compare.c
 * (compare_rehearse.h).
 */
#include "compiler/trial/compare_rehearse.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/tools/messages.h"
#include "runtime/base/error.h"
#include "runtime/policy/policy.h"
#include "runtime/simulate/simulate.h"

/* A plan without places, for policies that need none: it carries the times and the platform. */
static int bare_plan(const struct dfc_loaded *loaded, struct df_plan **plan, struct df_error *error)
{
    struct df_plan *made = calloc(1, sizeof *made);
    int code = made ? dfr_times_copy(&loaded->times, &made->times, error) : dfr_error_memory(error);

    if (code != DF_OK) {
        free(made);
        return code;
    }
    made->platform = loaded->platform;
    *plan = made;
    return DF_OK;
}

static int make_plan(const struct dfc_common *common, const struct dfc_loaded *loaded, const char *policy,
                     uint32_t waves, struct df_plan **plan, struct df_error *error)
{
    struct dfp_options options = common->partition;

    if (!dfp_partitioner_find(policy))
        return bare_plan(loaded, plan, error);
    if (waves > 1 && options.objective == DFP_BY_GRAPH)
        options.objective = DFP_THROUGHPUT;
    options.inflight = common->inflight || waves > 1 ? common->inflight : 1;
    return dfp_plan_make(&loaded->problem, policy, &options, plan, error);
}

bool dfc_rehearsal_make(const struct dfc_common *common, const struct dfc_loaded *loaded, const char *policy,
                        uint32_t waves, double scale, struct dfc_rehearsal *rehearsal)
{
    struct df_error error = { "" };
    bool chosen = strcmp(policy, DFC_NO_POLICY) == 0;
    int code;

    *rehearsal = (struct dfc_rehearsal){ .policy = policy, .waves = waves, .scale = scale };
    if (chosen)                         /* as a program would carry it */
        code = dfp_plan_make(&loaded->problem, dfc_default_placer(loaded), &common->partition, &rehearsal->plan, &error);
    else
        code = make_plan(common, loaded, policy, waves, &rehearsal->plan, &error);
    if (!chosen)
        snprintf(rehearsal->ran, sizeof rehearsal->ran, "%s", policy);
    if (code != DF_OK)
        dfc_error("policy %s: %s", policy, error.text);
    return code == DF_OK;
}

static void take_stats(const struct df_stats *s, struct dfc_run_stats *stats)
{
    uint32_t n_cpu = s->n_workers - s->n_memories; /* each device has one worker, and these come last */

    *stats = (struct dfc_run_stats){ .makespan_s = s->makespan_s, .waves = s->waves, .jobs = s->jobs,
                                     .n_gpus = s->n_memories, .waits = s->rehearsal.waits, .n_late = s->rehearsal.n_late,
                                     .late_median_s = s->rehearsal.late_median_s,
                                     .late_99_s = s->rehearsal.late_99_s, .late_worst_s = s->rehearsal.late_worst_s };
    for (uint32_t w = 0; w < s->n_workers; w++) {
        *(w < n_cpu ? &stats->cpu_jobs : &stats->gpu_jobs) += s->workers[w].jobs;
        *(w < n_cpu ? &stats->cpu_busy_s : &stats->gpu_busy_s) += s->workers[w].busy_s;
    }
    memcpy(stats->policy, s->policy, sizeof stats->policy);
    for (uint32_t m = 0; m < s->n_memories; m++) {
        stats->h2d_copies += s->memories[m].h2d_copies;
        stats->h2d_bytes += s->memories[m].h2d_bytes;
        stats->d2h_copies += s->memories[m].d2h_copies;
        stats->d2h_bytes += s->memories[m].d2h_bytes;
        stats->peer_copies += s->memories[m].peer_copies;
        stats->peer_bytes += s->memories[m].peer_bytes;
        stats->evictions += s->memories[m].evictions;
        stats->writebacks += s->memories[m].writebacks;
    }
}

bool dfc_rehearsal_run(const struct dfc_common *common, const struct dfc_loaded *loaded,
                       struct dfc_rehearsal *rehearsal, struct dfc_run_stats *stats)
{
    struct df_stats *all = malloc(sizeof *all);
    struct df_options options;
    struct df_error error = { "out of memory" };
    struct df_run *run;
    int code = DF_E_MEMORY;

    df_options_default(&options);
    options.policy = strcmp(rehearsal->policy, DFC_NO_POLICY) ? rehearsal->policy : NULL;
    options.rehearse = rehearsal->scale;
    options.waves = rehearsal->waves;
    options.inflight = common->inflight;
    options.platform = &loaded->platform;
    options.plan = rehearsal->plan;
    options.planner = &dfp_planner;
    if (all && (code = df_run_start(loaded->front->graph, &options, &run, &error)) == DF_OK)
        code = df_run_wait(run, all, &error);
    if (code == DF_OK) {
        take_stats(all, stats);
        rehearsal->scale = all->rehearsal.scale;
        rehearsal->inflight = all->inflight;
        if (!options.policy)
            memcpy(rehearsal->ran, all->policy, sizeof rehearsal->ran);
    } else {
        dfc_error("policy %s: %s", rehearsal->policy, error.text);
    }
    free(all);
    return code == DF_OK;
}

bool dfc_rehearsal_predict(const struct dfc_common *common, const struct dfc_loaded *loaded,
                           struct dfc_rehearsal *rehearsal)
{
    struct df_error error = { "" };
    struct dfr_simulation simulation = { 0 };
    struct dfr_simulate_options options = { .policy = rehearsal->ran, .waves = rehearsal->waves,
                                            .inflight = rehearsal->inflight, .seed = common->partition.seed };
    struct df_plan *own = NULL;
    int code = DF_OK;

    if (!strcmp(rehearsal->plan->policy, rehearsal->ran))
        options.plan = rehearsal->plan;
    else if (dfp_partitioner_find(rehearsal->ran)) /* the runs planned for themselves */
        code = make_plan(common, loaded, rehearsal->ran, rehearsal->waves, &own, &error);
    if (own)
        options.plan = own;
    if (code == DF_OK)
        code = dfr_simulate(loaded->front->graph, &loaded->platform, &loaded->times, &options, &simulation, &error);
    dfr_plan_free(own);
    if (code != DF_OK)
        dfc_error("policy %s: %s", rehearsal->policy, error.text);
    rehearsal->predicted_s = simulation.makespan_s;
    return code == DF_OK;
}

void dfc_rehearsal_free(struct dfc_rehearsal *rehearsal)
{
    dfr_plan_free(rehearsal->plan);
    rehearsal->plan = NULL;
}
