/* test_policy.c - the policies alone, against a made-up machine in virtual time: what each is for, and that no job is lost,
 * doubled, or given to a worker that cannot run it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "run_rig.h"
#include "runtime/policy.h"

#define MS 1e-3

struct machine {
    struct rig rig;
    struct df_platform platform;
    struct dfr_view view;
    uint32_t unit_of[8], first_worker[5];
    uint32_t *able;
    double *time_s;                     /* [unit * n_works + work] */
    double now_s;
    uint32_t holders;                   /* of every input */
    bool stages;                        /* stage() takes jobs for the host */
    _Atomic uint32_t staged_for;        /* unit of the last stage() */
    const struct dfr_policy *policy;
    void *state;
};

static double now_s(void *arg)
{
    return ((struct machine *)arg)->now_s;
}

static uint32_t holders(void *arg, uint64_t job, uint32_t k)
{
    (void)job;
    (void)k;
    return ((struct machine *)arg)->holders;
}

static bool stage(void *arg, uint64_t job, uint32_t unit)
{
    struct machine *m = arg;
    (void)job;
    m->staged_for = unit;
    return m->stages && unit == 0;
}

/* A machine of `workers` CPU workers and `gpus` GPUs for n independent readers of one source. */
static void machine_begin(struct machine *m, uint32_t n, uint32_t workers, uint32_t gpus)
{
    struct rig_out a;

    memset(m, 0, sizeof *m);
    rig_begin(&m->rig, 131072);         /* tokens of 1 MiB */
    a = rig_node(&m->rig, RIG_SOURCE, 0, RIG_NOTHING, RIG_NOTHING);
    for (uint32_t i = 1; i < n; i++)
        rig_node(&m->rig, RIG_ADD1, i, a, RIG_NOTHING);
    rig_end(&m->rig);
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
    m->view = (struct dfr_view){ .graph = m->rig.graph, .platform = &m->platform, .n_slots = 2, .n_workers = workers + gpus,
                                 .unit_of = m->unit_of, .first_worker = m->first_worker, .able = m->able,
                                 .time_s = m->time_s, .now_s = now_s, .holders = holders, .stage = stage, .arg = m };
}

static void machine_policy(struct machine *m, const char *name, const struct df_plan *plan)
{
    struct df_error error;
    m->policy = dfr_policy_find(name, &error);
    assert_non_null(m->policy);
    if (m->policy->create(m->policy, &m->view, plan, &m->state, &error) != DF_OK)
        fail_msg("%s", error.text);
}

static void machine_end(struct machine *m)
{
    m->policy->destroy(m->state);
    free(m->able);
    free(m->time_s);
    rig_free(&m->rig);
}

static enum dfr_pushed push(struct machine *m, uint32_t node, uint32_t by, bool lone, uint32_t *units)
{
    *units = 0;
    return m->policy->push(m->state, dfr_job(0, node), by, lone, units);
}

static int64_t pop(struct machine *m, uint32_t worker)
{
    uint64_t job;
    return m->policy->pop(m->state, worker, &job) ? (int64_t)dfr_job_node(job) : -1;
}

/* ---- the table ---- */

static void test_names(void **state)
{
    struct df_error error;
    unsigned n = 0;

    (void)state;
    for (const char *const *name = dfr_policy_names(); *name; name++, n++) {
        const struct dfr_policy *policy = dfr_policy_find(*name, &error);
        assert_non_null(policy);
        assert_string_equal(policy->name, *name);
        assert_true(strlen(policy->summary) > 0);
    }
    assert_true(n >= 6);
    assert_string_equal(dfr_policy_find(NULL, &error)->name, DFR_POLICY_DEFAULT);
    assert_null(dfr_policy_find("gp-tesis", &error));
    assert_string_equal(error.text, "unknown policy 'gp-tesis'; did you mean 'gp-thesis'?");
    assert_null(dfr_policy_find("zzzzzzzzzz", &error));
    assert_non_null(strstr(error.text, "there are eager, ws"));
}

/* ---- each policy's own ---- */

static void test_eager_is_first_come_first_served(void **state)
{
    struct machine m;
    uint32_t units;

    (void)state;
    machine_begin(&m, 10, 2, 1);
    m.able[3] = 1;                      /* the CPU's alone */
    m.able[4] = 2;                      /* the GPU's alone */
    machine_policy(&m, "eager", NULL);
    for (uint32_t v = 1; v < 6; v++)
        assert_int_equal(push(&m, v, 0, false, &units), DFR_QUEUED);
    assert_int_equal(units, 3);
    assert_int_equal(pop(&m, 0), 3);    /* sets with fewer units first */
    assert_int_equal(pop(&m, 0), 1);
    assert_int_equal(pop(&m, 2), 4);
    assert_int_equal(pop(&m, 2), 2);
    assert_int_equal(pop(&m, 1), 5);
    assert_int_equal(pop(&m, 1), -1);
    assert_int_equal(push(&m, 3, 1, true, &units), DFR_KEPT);
    assert_int_equal(push(&m, 5, 1, true, &units), DFR_QUEUED); /* the GPU may be idle */
    assert_int_equal(push(&m, 4, 1, true, &units), DFR_QUEUED);
    assert_int_equal(units, 2);
    machine_end(&m);
}

static void test_ws_steals(void **state)
{
    struct machine m;
    uint32_t units;

    (void)state;
    machine_begin(&m, 1000, 2, 1);
    m.able[7] = 2;
    machine_policy(&m, "ws", NULL);
    assert_int_equal(push(&m, 1, 0, true, &units), DFR_KEPT);
    for (uint32_t v = 1; v < 6; v++)
        assert_int_equal(push(&m, v, 0, false, &units), DFR_QUEUED);
    assert_int_equal(push(&m, 7, 0, true, &units), DFR_QUEUED); /* worker 0 cannot */
    assert_int_equal(units, 2);
    assert_int_equal(pop(&m, 1), 1);    /* stolen, the oldest */
    assert_int_equal(pop(&m, 2), 7);    /* its own */
    assert_int_equal(pop(&m, 2), 2);
    assert_int_equal(pop(&m, 0), 3);
    assert_int_equal(pop(&m, 0), 4);
    assert_int_equal(pop(&m, 0), 5);
    for (int w = 0; w < 3; w++)
        assert_int_equal(pop(&m, (uint32_t)w), -1);
    for (uint32_t v = 10; v < 910; v++) /* more than a worker's own queue holds */
        push(&m, v, 1, false, &units);
    for (uint32_t v = 10; v < 910; v++)
        assert_true(pop(&m, v % 3) >= 10);
    assert_int_equal(pop(&m, 0), -1);
    machine_end(&m);
}

static void test_dmda_goes_where_it_ends_first(void **state)
{
    struct machine m;
    uint32_t units, on_gpu = 0;

    (void)state;
    machine_begin(&m, 100, 2, 1);
    for (uint32_t k = 0; k < m.rig.graph->n_works; k++)
        m.time_s[m.rig.graph->n_works + k] = 0.5 * MS; /* the GPU is twice as fast; sending 1 MiB takes 0.1 ms */
    machine_policy(&m, "dmda", NULL);
    push(&m, 1, 0, false, &units);
    assert_int_equal(units, 2);
    assert_int_equal(m.staged_for, 1);  /* its data was sent for */
    push(&m, 2, 0, false, &units);      /* 0.5 + 0.5 there, 1 here: ties stay */
    assert_int_equal(units, 1);
    for (uint32_t v = 3; v < 33; v++) {
        push(&m, v, 0, false, &units);
        on_gpu += units == 2;
    }
    assert_in_range(on_gpu, 13, 17);    /* one GPU as fast as two workers */
    machine_end(&m);
}

static void test_dmda_knows_where_data_is(void **state)
{
    struct machine m;
    uint32_t units;

    (void)state;
    machine_begin(&m, 100, 1, 1);
    m.platform.units[1].h2d.bytes_per_s = m.platform.units[1].d2h.bytes_per_s = 1e8; /* 10 ms a token */
    for (uint32_t k = 0; k < m.rig.graph->n_works; k++)
        m.time_s[m.rig.graph->n_works + k] = 0.5 * MS;
    machine_policy(&m, "dmda", NULL);
    push(&m, 1, 0, false, &units);
    assert_int_equal(units, 1);         /* computing there would be faster, sending is not worth it */
    m.holders = 2;
    push(&m, 2, 1, false, &units);
    assert_int_equal(units, 2);         /* its data is there */
    m.stages = true;
    m.able[3] = 1;
    assert_int_equal(push(&m, 3, 1, false, &units), DFR_STAGED); /* must come back first */
    m.holders = 3;
    m.stages = false;
    m.able[4] = 1;
    assert_int_equal(push(&m, 4, 0, true, &units), DFR_QUEUED); /* job 1 was first */
    assert_int_equal(pop(&m, 0), 1);
    assert_int_equal(pop(&m, 0), 4);
    assert_int_equal(push(&m, 4, 0, true, &units), DFR_KEPT);
    assert_int_equal(pop(&m, 1), 2);
    machine_end(&m);
}

/* What is done no longer delays: estimates do not drift away. */
static void test_dmda_forgets_what_is_done(void **state)
{
    struct machine m;
    uint32_t units;

    (void)state;
    machine_begin(&m, 100, 1, 1);
    for (uint32_t k = 0; k < m.rig.graph->n_works; k++)
        m.time_s[m.rig.graph->n_works + k] = 0.1 * MS;
    machine_policy(&m, "dmda", NULL);
    for (int round = 0; round < 50; round++) {
        push(&m, 1, 1, false, &units);
        assert_int_equal(units, 2);
        assert_int_equal(pop(&m, 1), 1);
        m.now_s += 0.2 * MS;
        m.policy->done(m.state, dfr_job(0, 1), 1);
    }
    machine_end(&m);
}

static void test_static_follows_plan(void **state)
{
    struct machine m;
    uint16_t place[100];
    float priority[100];
    struct df_plan plan = { .policy = "gp-thesis", .n_nodes = 100, .place = place, .priority = priority };
    uint32_t units;

    (void)state;
    machine_begin(&m, 100, 2, 1);
    for (uint32_t v = 0; v < 100; v++) {
        place[v] = v % 2;
        priority[v] = (float)((v * 37) % 100);
    }
    place[9] = 30;                      /* no such unit: where it can */
    m.able[11] = 1;                     /* planned for the GPU and cannot run there at this run */
    machine_policy(&m, "gp-thesis", &plan);
    assert_int_equal(m.policy->place(m.state, 9), 0);
    assert_int_equal(m.policy->place(m.state, 10), 0);
    assert_int_equal(m.policy->place(m.state, 11), 0);
    assert_int_equal(m.policy->place(m.state, 13), 1);
    for (uint32_t v = 1; v < 100; v++) {
        assert_int_equal(push(&m, v, 0, false, &units), DFR_QUEUED);
        assert_int_equal(units, 1u << m.policy->place(m.state, v));
    }
    for (uint32_t worker = 0; worker < 3; worker += 2) { /* 64 levels for 100 nodes: neighbours may be equal */
        float last = 200;
        int64_t v;
        while ((v = pop(&m, worker)) >= 0) {
            assert_true(priority[v] <= last + 2);
            last = priority[v];
        }
        assert_true(last < 10);
    }
    assert_int_equal(push(&m, 2, 1, true, &units), DFR_KEPT);
    push(&m, 8, 0, false, &units);      /* 96 */
    assert_int_equal(push(&m, 4, 1, true, &units), DFR_QUEUED); /* 48: something more urgent waits */
    assert_int_equal(pop(&m, 1), 8);
    assert_int_equal(pop(&m, 1), 4);
    machine_end(&m);
}

static void test_all_on_one(void **state)
{
    struct machine m;

    (void)state;
    machine_begin(&m, 10, 2, 2);
    m.able[3] = 1;
    m.able[4] = 6;
    machine_policy(&m, "all-gpu", NULL);
    assert_int_equal(m.policy->place(m.state, 2), 1);
    assert_int_equal(m.policy->place(m.state, 3), 0);
    m.policy->destroy(m.state);
    machine_policy(&m, "all-cpu", NULL);
    assert_int_equal(m.policy->place(m.state, 2), 0);
    assert_int_equal(m.policy->place(m.state, 4), 1);
    machine_end(&m);
}

/* ---- nothing is lost ---- */

enum { N_JOBS = 3000, N_THREADS = 3 };

struct hammer {
    struct machine m;
    _Atomic uint32_t seen[N_JOBS];
    _Atomic uint32_t pushed, popped;
    _Atomic bool wrong;
};

struct hammer_thread {
    struct hammer *h;
    uint32_t worker;
};

static void *hammer_run(void *arg)
{
    struct hammer_thread *t = arg;
    struct hammer *h = t->h;
    struct machine *m = &h->m;

    while (atomic_load(&h->popped) < N_JOBS) {
        uint32_t v = atomic_fetch_add(&h->pushed, 1), units = 0;
        uint64_t job;
        bool have = false;
        if (v < N_JOBS && m->policy->push(m->state, dfr_job(0, v), t->worker, v % 3 == 0, &units) == DFR_KEPT) {
            job = dfr_job(0, v);
            have = true;
        }
        if (!have && v % 4 != 0)
            have = m->policy->pop(m->state, t->worker, &job);
        if (!have)
            continue;
        if (!(m->able[dfr_job_node(job)] >> m->unit_of[t->worker] & 1))
            atomic_store(&h->wrong, true);
        atomic_fetch_add(&h->seen[dfr_job_node(job)], 1);
        if (m->policy->done)
            m->policy->done(m->state, job, t->worker);
        atomic_fetch_add(&h->popped, 1);
    }
    return NULL;
}

static void test_nothing_is_lost(void **state)
{
    static uint16_t place[N_JOBS];
    static float priority[N_JOBS];
    struct df_plan plan = { .policy = "gp-thesis", .n_nodes = N_JOBS, .place = place, .priority = priority };

    (void)state;
    for (const char *const *name = dfr_policy_names(); *name; name++) {
        struct hammer *h = calloc(1, sizeof *h);
        struct hammer_thread threads[N_THREADS];
        pthread_t ids[N_THREADS];

        assert_non_null(h);
        machine_begin(&h->m, N_JOBS, 2, 1);
        for (uint32_t v = 0; v < N_JOBS; v++) {
            h->m.able[v] = v % 5 == 0 ? 1 : v % 5 == 1 ? 2 : 3;
            place[v] = v % 2;
            priority[v] = (float)(v % 200);
        }
        machine_policy(&h->m, *name, &plan);
        for (uint32_t t = 0; t < N_THREADS; t++) {
            threads[t] = (struct hammer_thread){ h, t };
            assert_int_equal(pthread_create(&ids[t], NULL, hammer_run, &threads[t]), 0);
        }
        for (uint32_t t = 0; t < N_THREADS; t++)
            pthread_join(ids[t], NULL);
        assert_false(h->wrong);
        for (uint32_t v = 0; v < N_JOBS; v++)
            assert_int_equal(h->seen[v], 1);
        machine_end(&h->m);
        free(h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names), cmocka_unit_test(test_eager_is_first_come_first_served),
        cmocka_unit_test(test_ws_steals), cmocka_unit_test(test_dmda_goes_where_it_ends_first),
        cmocka_unit_test(test_dmda_knows_where_data_is), cmocka_unit_test(test_dmda_forgets_what_is_done),
        cmocka_unit_test(test_static_follows_plan), cmocka_unit_test(test_all_on_one),
        cmocka_unit_test(test_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
