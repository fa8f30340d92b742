/* policy_rig.c - the made-up machine's view, and calls of the policy under test (policy_rig.h). */
#include "policy_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static double now_s(void *arg)
{
    return ((struct machine *)arg)->now_s;
}

static uint32_t holders(void *arg, uint64_t job, uint32_t k)
{
    const struct machine *m = arg;
    (void)k;
    return m->holders_of ? m->holders_of[dfr_job_node(job)] : m->holders;
}

static bool prefetch(void *arg, uint64_t job, uint32_t unit)
{
    struct machine *m = arg;
    (void)job;
    m->prefetched_for = unit;
    return m->prefetches && unit == 0;
}

/* There is nobody to wake, because nobody sleeps. */
static void wake(void *arg, uint32_t unit)
{
    ((struct machine *)arg)->woken |= 1u << unit;
}

void machine_begin(struct machine *m, uint32_t n, uint32_t workers, uint32_t gpus)
{
    struct rig_out a;

    memset(m, 0, sizeof *m);
    rig_begin(&m->rig, 131072);         /* tokens of 1 MiB */
    a = rig_node(&m->rig, RIG_SOURCE, 0, RIG_NOTHING, RIG_NOTHING);
    for (uint32_t i = 1; i < n; i++)
        rig_node(&m->rig, RIG_ADD1, i, a, RIG_NOTHING);
    rig_end(&m->rig);
    machine_make(m, workers, gpus);
}

static int64_t wave_of(void *arg, uint32_t slot)
{
    return ((const struct machine *)arg)->wave[slot];
}

void machine_make(struct machine *m, uint32_t workers, uint32_t gpus)
{
    uint32_t n = m->rig.graph->n_nodes;

    df_platform_default(&m->platform, gpus);
    m->platform.units[0].workers = workers;
    for (uint32_t u = 0; u <= gpus; u++)
        m->first_worker[u + 1] = workers + u;
    for (uint32_t w = 0; w < workers + gpus; w++)
        m->unit_of[w] = w < workers ? 0 : 1 + w - workers;
    m->able = calloc(n, sizeof *m->able);
    m->time_s = calloc((size_t)(gpus + 1) * m->rig.graph->n_works, sizeof *m->time_s);
    assert_true(m->able && m->time_s);
    for (uint32_t v = 0; v < n; v++)
        m->able[v] = (1u << (gpus + 1)) - 1;
    for (uint32_t i = 0; i < (gpus + 1) * m->rig.graph->n_works; i++)
        m->time_s[i] = 1 * MS;
    m->holders = 1;
    m->view = (struct dfr_view){ .graph = m->rig.graph, .platform = &m->platform, .n_slots = 2,
                                 .n_workers = workers + gpus, .unit_of = m->unit_of,
                                 .first_worker = m->first_worker, .able = m->able, .time_s = m->time_s, .seed = 1,
                                 .now_s = now_s, .wave = wave_of, .holders = holders, .prefetch = prefetch,
                                 .wake = wake, .arg = m };
}

void machine_policy(struct machine *m, const char *name, const struct df_plan *plan)
{
    struct df_error error;
    m->policy = dfr_policy_find(name, &error);
    assert_non_null(m->policy);
    if (m->policy->create(m->policy, &m->view, plan, &m->state, &error) != DF_OK)
        fail_msg("%s", error.text);
}

void machine_end(struct machine *m)
{
    m->policy->destroy(m->state);
    free(m->able);
    free(m->time_s);
    rig_free(&m->rig);
}

enum dfr_pushed machine_push(struct machine *m, uint32_t node, uint32_t by, bool lone, uint32_t *units)
{
    *units = 0;
    return m->policy->push(m->state, dfr_job(0, node), by, lone, units);
}

int64_t machine_pop(struct machine *m, uint32_t worker)
{
    uint64_t job;
    return m->policy->pop(m->state, worker, &job) ? (int64_t)dfr_job_node(job) : -1;
}

void machine_time(struct machine *m, uint32_t unit, uint32_t node, double time_s)
{
    m->time_s[(size_t)unit * m->rig.graph->n_works + m->rig.graph->nodes[node].work] = time_s;
}

void machine_done(struct machine *m, uint32_t node, uint32_t worker)
{
    if (m->policy->done)
        m->policy->done(m->state, dfr_job(0, node), worker);
}
