/* test_policy.c - the policies alone, against a made-up machine in virtual time: what each is for, and that no job is
 * lost, doubled, or given to a worker that cannot run it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "policy_rig.h"

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
    assert_non_null(strstr(error.text, "there are eager, ddfcfs, "));
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
        assert_int_equal(machine_push(&m, v, 0, false, &units), DFR_QUEUED);
    assert_int_equal(units, 3);
    assert_int_equal(machine_pop(&m, 0), 3);    /* sets with fewer units first */
    assert_int_equal(machine_pop(&m, 0), 1);
    assert_int_equal(machine_pop(&m, 2), 4);
    assert_int_equal(machine_pop(&m, 2), 2);
    assert_int_equal(machine_pop(&m, 1), 5);
    assert_int_equal(machine_pop(&m, 1), -1);
    assert_int_equal(machine_push(&m, 3, 1, true, &units), DFR_KEPT);
    assert_int_equal(machine_push(&m, 5, 1, true, &units), DFR_QUEUED); /* the GPU may be idle */
    assert_int_equal(machine_push(&m, 4, 1, true, &units), DFR_QUEUED);
    assert_int_equal(units, 2);
    machine_end(&m);
}

static void test_ws_steals(void **state)
{
    struct machine m;
    uint32_t units;

    (void)state;
    machine_begin(&m, 4, 2, 0);
    machine_policy(&m, "ws", NULL);
    assert_int_equal(machine_push(&m, 1, 0, true, &units), DFR_KEPT);
    machine_end(&m);
    machine_begin(&m, 1000, 2, 1);
    m.able[7] = 2;
    machine_policy(&m, "ws", NULL);
    assert_int_equal(machine_push(&m, 1, 0, true, &units), DFR_QUEUED);
    assert_int_equal(machine_pop(&m, 2), 1);    /* an idle device takes it */
    for (uint32_t v = 1; v < 6; v++)
        assert_int_equal(machine_push(&m, v, 0, false, &units), DFR_QUEUED);
    assert_int_equal(machine_push(&m, 7, 0, true, &units), DFR_QUEUED); /* worker 0 cannot */
    assert_int_equal(units, 2);
    assert_int_equal(machine_pop(&m, 0), 5);    /* its newest */
    assert_int_equal(machine_pop(&m, 1), 2);    /* of the stolen half, 1 and 2, the newest */
    assert_int_equal(machine_pop(&m, 2), 7);    /* given to it */
    assert_int_equal(machine_pop(&m, 2), 3);    /* stolen: of 3 and 4 one */
    assert_int_equal(machine_pop(&m, 0), 4);
    assert_int_equal(machine_pop(&m, 1), 1);
    for (int w = 0; w < 3; w++)
        assert_int_equal(machine_pop(&m, (uint32_t)w), -1);
    m.view.oldest_first = true;
    for (uint32_t v = 1; v < 4; v++)
        machine_push(&m, v, 0, false, &units);
    assert_int_equal(machine_pop(&m, 1), 1);    /* stolen, one */
    assert_int_equal(machine_pop(&m, 0), 2);
    assert_int_equal(machine_pop(&m, 0), 3);
    m.view.oldest_first = false;
    for (uint32_t v = 10; v < 910; v++) /* more than a worker's own queue holds */
        machine_push(&m, v, 1, false, &units);
    for (uint32_t v = 10; v < 910; v++)
        assert_true(machine_pop(&m, v % 3) >= 10);
    assert_int_equal(machine_pop(&m, 0), -1);
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
    machine_push(&m, 1, 0, false, &units);
    assert_int_equal(units, 2);
    assert_int_equal(m.staged_for, 1);  /* its data was sent for */
    machine_push(&m, 2, 0, false, &units);      /* 0.5 + 0.5 there, 1 here: ties stay */
    assert_int_equal(units, 1);
    for (uint32_t v = 3; v < 33; v++) {
        machine_push(&m, v, 0, false, &units);
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
    machine_push(&m, 1, 0, false, &units);
    assert_int_equal(units, 1);         /* computing there would be faster, sending is not worth it */
    m.holders = 2;
    machine_push(&m, 2, 1, false, &units);
    assert_int_equal(units, 2);         /* its data is there */
    m.stages = true;
    m.able[3] = 1;
    assert_int_equal(machine_push(&m, 3, 1, false, &units), DFR_STAGED); /* must come back first */
    m.holders = 3;
    m.stages = false;
    m.able[4] = 1;
    assert_int_equal(machine_push(&m, 4, 0, true, &units), DFR_QUEUED); /* job 1 was first */
    assert_int_equal(machine_pop(&m, 0), 1);
    assert_int_equal(machine_pop(&m, 0), 4);
    assert_int_equal(machine_push(&m, 4, 0, true, &units), DFR_KEPT);
    assert_int_equal(machine_pop(&m, 1), 2);
    machine_end(&m);
}

/* A token of no bytes needs no copy, so a link's latency does not count for it. */
static void test_dmda_sends_no_empty_tokens(void **state)
{
    struct machine m;
    uint32_t units;

    (void)state;
    machine_begin(&m, 100, 1, 1);
    m.platform.units[1].h2d.latency_s = 10 * MS;
    for (uint32_t k = 0; k < m.rig.graph->n_works; k++)
        m.time_s[m.rig.graph->n_works + k] = 0.5 * MS;
    machine_policy(&m, "dmda", NULL);
    machine_push(&m, 1, 0, false, &units);
    assert_int_equal(units, 1);
    for (uint32_t x = 0; x < m.rig.graph->n_values; x++)
        ((struct df_value *)m.rig.graph->values)[x].bytes = 0;
    machine_push(&m, 2, 0, false, &units);
    assert_int_equal(units, 2);
    machine_end(&m);
}

/* A token that was sent for is expected there for the next reader, too: it is not sent again. */
static void test_dmda_sends_a_token_once(void **state)
{
    struct machine m;
    uint32_t units;

    (void)state;
    machine_begin(&m, 100, 1, 1);
    m.platform.units[1].h2d.bytes_per_s = 1e8; /* 10 ms a token */
    for (uint32_t k = 0; k < m.rig.graph->n_works; k++) {
        m.time_s[k] = 15 * MS;
        m.time_s[m.rig.graph->n_works + k] = 0.5 * MS;
    }
    machine_policy(&m, "dmda", NULL);
    machine_push(&m, 1, 0, false, &units);
    assert_int_equal(units, 2);
    machine_push(&m, 2, 0, false, &units); /* 11 ms there, 15 ms here; with a second copy 21 ms there */
    assert_int_equal(units, 2);
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
        machine_push(&m, 1, 1, false, &units);
        assert_int_equal(units, 2);
        assert_int_equal(machine_pop(&m, 1), 1);
        m.now_s += 0.2 * MS;
        m.policy->done(m.state, dfr_job(0, 1), 1);
    }
    machine_end(&m);
}

/* Puts jobs 1 to 4 on the device, which takes 0.5 ms for each. */
static void push_four(struct machine *m, double cpu_s)
{
    uint32_t units;

    machine_begin(m, 100, 1, 1);
    m->holders = 3;                     /* nothing is sent */
    for (uint32_t k = 0; k < m->rig.graph->n_works; k++) {
        m->time_s[k] = cpu_s;
        m->time_s[m->rig.graph->n_works + k] = 0.5 * MS;
    }
    machine_policy(m, "dmda", NULL);
    for (uint32_t v = 1; v <= 4; v++) {
        machine_push(m, v, 1, false, &units);
        assert_int_equal(units, 2);
    }
}

static void end_at(struct machine *m, uint32_t node, double now_s)
{
    m->now_s = now_s;
    m->policy->done(m->state, dfr_job(0, node), 1);
}

/* One job is late, and so are those behind it. That is one delay and not one for each of them. */
static void test_dmda_counts_a_delay_once(void **state)
{
    struct machine m;
    uint32_t units;

    (void)state;
    push_four(&m, 2.1 * MS);
    end_at(&m, 1, 2.5 * MS);            /* 2 ms late */
    end_at(&m, 2, 3.0 * MS);
    end_at(&m, 3, 3.5 * MS);
    machine_push(&m, 5, 1, false, &units); /* there at 4.5 ms, behind job 4; here at 5.6 ms */
    assert_int_equal(units, 2);
    machine_end(&m);
}

/* A worker that takes its jobs in another order than they were assigned in has as much before it. */
static void test_dmda_counts_what_is_left(void **state)
{
    struct machine m;
    uint32_t units;

    (void)state;
    push_four(&m, 2.1 * MS);
    end_at(&m, 4, 0.5 * MS);
    end_at(&m, 3, 1.0 * MS);
    for (uint32_t k = 0; k < m.rig.graph->n_works; k++)
        m.time_s[k] = 1.2 * MS;
    machine_push(&m, 5, 1, false, &units); /* there at 2.5 ms, behind jobs 1 and 2; here at 2.2 ms */
    assert_int_equal(units, 1);
    machine_end(&m);
}

/* A job that takes no time worth speaking of goes before those that do: another unit may wait for what follows it. */
static void test_dmda_takes_brief_jobs_first(void **state)
{
    static const char *const policies[] = { "dmda", "dmdar" };
    struct machine m;
    uint32_t units;

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        machine_begin(&m, 100, 1, 1);
        for (uint32_t v = 0; v < 100; v++)
            m.able[v] = 1;
        for (uint32_t k = 0; k < m.rig.graph->n_works; k++)
            m.time_s[k] = MS;
        m.time_s[m.rig.graph->nodes[4].work] = m.time_s[m.rig.graph->nodes[5].work] = 0.001 * MS;
        machine_policy(&m, policies[i], NULL);
        for (uint32_t v = 1; v <= 5; v++)
            assert_int_equal(machine_push(&m, v, 1, v == 5, &units), DFR_QUEUED);
        assert_int_equal(machine_pop(&m, 0), 4);
        assert_int_equal(machine_push(&m, 4, 0, true, &units), DFR_QUEUED); /* 5 was first */
        assert_int_equal(machine_pop(&m, 0), 5);
        assert_int_equal(machine_pop(&m, 0), 4);
        assert_int_equal(machine_push(&m, 4, 0, true, &units), DFR_KEPT);
        for (int64_t v = 1; v <= 3; v++)
            assert_int_equal(machine_pop(&m, 0), v);
        machine_end(&m);
    }
}

/* What was staged for the host waits there among the others when its data has come. */
static void test_staged_jobs_come_in_turn(void **state)
{
    static const char *const policies[] = { "dmda", "dmdar", "random" };
    struct machine m;
    uint32_t units;

    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        machine_begin(&m, 100, 1, 1);
        for (uint32_t v = 0; v < 100; v++)
            m.able[v] = 1;
        machine_policy(&m, policies[i], NULL);
        m.holders = 2;
        m.stages = true;
        assert_int_equal(machine_push(&m, 1, 1, false, &units), DFR_STAGED);
        m.holders = 3;
        m.stages = false;
        assert_int_equal(machine_push(&m, 2, 1, false, &units), DFR_QUEUED);
        m.policy->come(m.state, dfr_job(0, 1));
        assert_int_equal(machine_push(&m, 3, 1, false, &units), DFR_QUEUED);
        assert_int_equal(machine_pop(&m, 0), 2);
        assert_int_equal(machine_pop(&m, 0), 1);
        assert_int_equal(machine_pop(&m, 0), 3);
        machine_end(&m);
    }
}

/* A machine of two CPU workers and a GPU, and what a plan says that has the nodes in turn on the host and the GPU. */
static void machine_in_turn(struct machine *m, uint32_t n, uint16_t *place, float *priority)
{
    machine_begin(m, n, 2, 1);
    for (uint32_t v = 0; v < n; v++) {
        place[v] = v % 2;
        priority[v] = (float)((v * 37) % n);
    }
}

static void test_static_follows_plan(void **state)
{
    struct machine m;
    uint16_t place[100];
    float priority[100];
    struct df_plan plan = { .policy = "heft", .n_nodes = 100, .place = place, .priority = priority };
    uint32_t units;

    (void)state;
    machine_in_turn(&m, 100, place, priority);
    place[9] = 30;                      /* no such unit: where it can */
    m.able[11] = 1;                     /* planned for the GPU and cannot run there at this run */
    machine_policy(&m, "heft", &plan);
    assert_int_equal(m.policy->units(m.state, 0, 9), 1u << 0);
    assert_int_equal(m.policy->units(m.state, 0, 10), 1u << 0);
    assert_int_equal(m.policy->units(m.state, 0, 11), 1u << 0);
    assert_int_equal(m.policy->units(m.state, 0, 13), 1u << 1);
    for (uint32_t v = 1; v < 100; v++) {
        assert_int_equal(machine_push(&m, v, 0, false, &units), DFR_QUEUED);
        assert_int_equal(units, m.policy->units(m.state, 0, v));
    }
    for (uint32_t worker = 0; worker < 3; worker += 2) { /* 64 levels for 100 nodes: neighbours may be equal */
        float last = 200;
        int64_t v;
        while ((v = machine_pop(&m, worker)) >= 0) {
            assert_true(priority[v] <= last + 2);
            last = priority[v];
        }
        assert_true(last < 10);
    }
    assert_int_equal(machine_push(&m, 2, 1, true, &units), DFR_KEPT);
    machine_push(&m, 8, 0, false, &units);      /* 96 */
    assert_int_equal(machine_push(&m, 4, 1, true, &units), DFR_QUEUED); /* 48: something more urgent waits */
    assert_int_equal(machine_pop(&m, 1), 8);
    assert_int_equal(machine_pop(&m, 1), 4);
    machine_end(&m);
}

/* The places are the plan's; the order is that in which jobs come, whatever the plan's priorities and the kernels' times say. */
static void test_thesis_is_first_come_first_served(void **state)
{
    struct machine m;
    uint16_t place[10];
    float priority[10];
    struct df_plan plan = { .policy = "gp-thesis", .n_nodes = 10, .place = place, .priority = priority };
    uint32_t units;

    (void)state;
    machine_in_turn(&m, 10, place, priority);
    for (uint32_t v = 0; v < 10; v++) {
        priority[v] = (float)v;
        machine_time(&m, v % 2, v, v % 3 ? 1 * MS : 1e-6);
    }
    m.able[7] = 1;                      /* planned for the GPU and cannot run there in this run */
    machine_policy(&m, "gp-thesis", &plan);
    assert_null(m.policy->units);       /* so data is sent when a job is ready, not when it is made */
    assert_null(m.policy->rank);
    for (uint32_t v = 0; v < 10; v++) {
        uint32_t node = 3 * v % 10;
        assert_int_equal(machine_push(&m, node, 0, false, &units), DFR_QUEUED);
        assert_int_equal(units, node % 2 && node != 7 ? 2 : 1);
    }
    static const int host[] = { 0, 6, 2, 8, 4, 7 }, gpu[] = { 3, 9, 5, 1 };
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(machine_pop(&m, i % 2), host[i]);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(machine_pop(&m, 2), gpu[i]);
    assert_int_equal(machine_pop(&m, 0), -1);
    assert_int_equal(machine_push(&m, 2, 1, true, &units), DFR_KEPT);
    assert_int_equal(machine_push(&m, 3, 1, true, &units), DFR_QUEUED); /* it is the other unit's */
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
    assert_int_equal(m.policy->units(m.state, 0, 2), 1u << 1);
    assert_int_equal(m.policy->units(m.state, 0, 3), 1u << 0);
    m.policy->destroy(m.state);
    machine_policy(&m, "all-cpu", NULL);
    assert_int_equal(m.policy->units(m.state, 0, 2), 1u << 0);
    assert_int_equal(m.policy->units(m.state, 0, 4), 1u << 1);
    machine_end(&m);
}

/* ---- several waves ---- */

static void push_all(struct machine *m, uint32_t slot, uint32_t n)
{
    uint32_t units;
    for (uint32_t v = 0; v < n; v++)
        assert_int_equal(m->policy->push(m->state, dfr_job(slot, v), 0, false, &units), DFR_QUEUED);
}

static void test_older_waves_first(void **state)
{
    enum { N = 70 };
    struct machine m;
    uint16_t place[N] = { 0 };
    float priority[N];
    struct df_plan plan = { .policy = "heft", .n_nodes = N, .n_waves = 1, .place = place, .priority = priority };
    uint64_t job;

    (void)state;
    machine_begin(&m, N, 1, 1);
    for (uint32_t v = 0; v < N; v++)
        priority[v] = (float)v;
    machine_policy(&m, "heft", &plan);
    for (uint32_t older = 0; older < 2; older++) { /* the older wave is in either slot */
        m.wave[older] = 6 + older;
        m.wave[!older] = 7 + older;
        push_all(&m, !older, N);
        push_all(&m, older, N);
        for (uint32_t i = 0; i < 2 * N; i++) {
            assert_true(m.policy->pop(m.state, 0, &job));
            assert_int_equal(dfr_job_slot(job), i < N ? older : !older);
            assert_int_equal(dfr_job_node(job), N - 1 - i % N);
        }
        assert_false(m.policy->pop(m.state, 0, &job));
    }
    machine_end(&m);
}

static void test_waves_placed_jointly(void **state)
{
    enum { N = 10, ROWS = 3 };
    struct machine m;
    uint16_t place[ROWS * N];
    float priority[N] = { 0 };
    struct df_plan plan = { .policy = "gp", .n_nodes = N, .n_waves = ROWS, .place = place, .priority = priority };
    uint32_t units;

    (void)state;
    machine_begin(&m, N, 1, 1);
    for (uint32_t i = 0; i < ROWS * N; i++)
        place[i] = i / N == i % N % ROWS;
    for (int guard = 0; guard < 2; guard++) {
        m.view.guard = guard;
        machine_policy(&m, "gp", &plan);
        for (int64_t wave = 0; wave < 7; wave++) {
            m.wave[wave % 2] = wave;
            for (uint32_t v = 0; v < N; v++) {
                uint32_t unit = wave % ROWS == v % ROWS;
                uint64_t job;
                assert_int_equal(m.policy->units(m.state, (uint32_t)(wave % 2), v), 1u << unit);
                assert_int_equal(m.policy->push(m.state, dfr_job((uint32_t)(wave % 2), v), 0, false, &units),
                                 DFR_QUEUED);
                assert_int_equal(units, 1u << unit);
                assert_true(m.policy->pop(m.state, unit, &job));
                assert_int_equal(dfr_job_node(job), v);
                m.now_s += 1 * MS;      /* as expected: no alarm */
                m.policy->done(m.state, job, unit);
            }
        }
        assert_int_equal(m.policy->units(m.state, 2, 4), 3); /* what fires once is read wherever some wave is */
        m.policy->destroy(m.state);
    }
    machine_policy(&m, "gp", &plan);
    machine_end(&m);
}

/* ---- the guard ---- */

static double steady_since_s;

static double steady_s(void *arg, uint32_t unit)
{
    (void)arg;
    return unit == 1 ? steady_since_s : 0;
}

static bool settled(void *arg, uint64_t job, uint32_t unit)
{
    (void)arg, (void)job, (void)unit;
    return true;
}

/* A job that waits for its code to be loaded takes 300 times as long as was thought. That moves the next ones, unless
 * the device says that it was loading; one that takes so long later moves them all the same. */
static void test_loading_is_no_drift(void **state)
{
    enum { N = 4 };
    uint16_t place[N] = { 0, 1, 1, 1 };
    float priority[N] = { 0 };
    struct df_plan plan = { .policy = "gp", .n_nodes = N, .n_waves = 1, .place = place, .priority = priority };

    (void)state;
    for (int tells = 0; tells < 2; tells++) {
        struct machine m;
        uint32_t units;
        machine_begin(&m, N, 1, 1);
        m.view.guard = true;
        m.view.settled = settled;
        m.view.steady_s = tells ? steady_s : NULL;
        m.holders = 3;
        m.now_s = 1;
        steady_since_s = 0;
        machine_policy(&m, "gp", &plan);
        for (int job = 0; job < 4; job++) {
            bool stays = tells ? job < 3 : job < 1, slow = job == 0 || job == 2;
            assert_int_equal(machine_push(&m, 1, DFR_NOBODY, false, &units), DFR_QUEUED);
            assert_int_equal(machine_pop(&m, 0) == 1, !stays);
            if (!stays)
                break;
            assert_int_equal(machine_pop(&m, 1), 1);
            m.now_s += slow ? 300 * MS : 1 * MS;
            if (job == 0)
                steady_since_s = m.now_s;
            machine_done(&m, 1, 1);
        }
        machine_end(&m);
    }
}

/* A machine whose guard is alarmed: the host took 1.2 ms for a job of 1 ms. All nodes are planned there; their data is everywhere. */
static void alarmed(struct machine *m, const struct df_plan *plan)
{
    uint32_t units;
    machine_begin(m, plan->n_nodes, 1, 1);
    m->view.guard = true;
    m->view.settled = settled;
    m->holders = 3;
    m->now_s = 1;
    machine_policy(m, "gp", plan);
    machine_push(m, 1, DFR_NOBODY, false, &units);
    assert_int_equal(machine_pop(m, 0), 1);
    m->now_s += 1.2 * MS;
    machine_done(m, 1, 0);
}

/* A job is not held up by itself: neither one whose data was sent to the host, when it has come, nor one that an idle device sees waiting there. */
static void test_no_job_waits_for_itself(void **state)
{
    enum { N = 5 };
    uint16_t place[N] = { 0 };
    float priority[N] = { 0 };
    struct df_plan plan = { .policy = "gp", .n_nodes = N, .n_waves = 1, .place = place, .priority = priority };
    struct machine m;
    uint32_t units;

    (void)state;
    alarmed(&m, &plan);
    m.stages = true;
    assert_int_equal(machine_push(&m, 2, DFR_NOBODY, false, &units), DFR_STAGED);
    m.stages = false;
    assert_int_equal(machine_push(&m, 2, DFR_NOBODY, false, &units), DFR_QUEUED);
    assert_int_equal(machine_pop(&m, 1), -1);
    assert_int_equal(machine_pop(&m, 0), 2);
    machine_push(&m, 3, DFR_NOBODY, false, &units);
    assert_int_equal(machine_pop(&m, 1), 3);    /* it ends there before the host begins it */
    machine_end(&m);
}

/* ---- what is under way ---- */

struct meanwhile {
    struct machine m;
    uint32_t node;
    unsigned looks, wakes;
    uint32_t coming[2];                 /* by node: its data is under way */
};

/* While an idle worker asks whether all has come for a job of the GPU, that does the job, and the next wave's, for
 * which a copy is still under way, waits there instead. */
static bool settled_at_first(void *arg, uint64_t job, uint32_t unit)
{
    struct meanwhile *x = arg;
    uint32_t units;

    if (dfr_job_node(job) != x->node || x->looks++ > 0)
        return false;
    assert_int_equal(unit, 1);
    assert_int_equal(machine_pop(&x->m, 1), x->node);
    machine_done(&x->m, x->node, 1);
    x->m.wave[0] += 2;
    assert_int_equal(machine_push(&x->m, x->node, 1, false, &units), DFR_QUEUED);
    return true;
}

static void wake(void *arg, uint32_t unit)
{
    struct meanwhile *x = arg;
    assert_int_equal(unit, 1);
    x->wakes++;
}

static void test_leaves_when_all_has_come(void **state)
{
    enum { N = 4 };
    struct meanwhile x;
    uint16_t place[N] = { 1, 1, 1, 1 };
    float priority[N] = { 0 };
    struct df_plan plan = { .policy = "gp", .n_nodes = N, .n_waves = 1, .place = place, .priority = priority };
    uint32_t units;

    (void)state;
    memset(&x, 0, sizeof x);
    x.node = N;                         /* none yet */
    machine_begin(&x.m, N, 1, 1);
    x.m.holders = 3;
    x.m.view.arg = &x;                  /* begins with the machine */
    x.m.view.guard = true;
    x.m.view.settled = settled_at_first;
    x.m.view.wake = wake;
    machine_policy(&x.m, "gp", &plan);
    machine_push(&x.m, 0, 0, false, &units);
    assert_int_equal(machine_pop(&x.m, 1), 0);
    x.m.now_s += 100 * MS;              /* a hundred times what was thought: an alarm */
    machine_done(&x.m, 0, 1);
    machine_push(&x.m, 1, 0, false, &units);
    assert_int_equal(machine_pop(&x.m, 1), 1);
    machine_push(&x.m, 2, 0, false, &units);
    assert_int_equal(units, 3);         /* an idle worker of the host may take it */
    x.node = 2;
    assert_int_equal(machine_pop(&x.m, 0), -1);
    assert_true(x.looks > 1);
    assert_int_equal(x.wakes, 1);
    assert_int_equal(machine_pop(&x.m, 1), 2);
    machine_end(&x.m);
}

/* ---- data that comes ---- */

static bool comes(void *arg, uint64_t job, uint32_t unit)
{
    const uint32_t *coming = ((struct meanwhile *)arg)->coming;
    assert_int_equal(unit, 1);          /* data for the host comes before a job is queued */
    return dfr_job_node(job) < 2 && coming[dfr_job_node(job)];
}

/* A device's job whose data is under way is left for one whose data is there; it is the first again once that has come. */
static void test_coming_data_holds_up_nobody(void **state)
{
    enum { N = 4 };
    uint16_t place[N] = { 1, 1, 1, 0 };
    float priority[N] = { 4, 3, 2, 1 };
    struct df_plan plan = { .policy = "gp", .n_nodes = N, .n_waves = 1, .place = place, .priority = priority };
    uint32_t units;

    (void)state;
    for (int guard = 0; guard < 2; guard++) {
        struct meanwhile x = { .coming = { 1, 1 } };
        machine_begin(&x.m, N, 1, 1);
        x.m.holders = 3;
        x.m.view.arg = &x;
        x.m.view.guard = guard;
        x.m.view.settled = settled;
        x.m.view.comes = comes;
        machine_policy(&x.m, guard ? "gp" : "heft", &plan);
        for (uint32_t v = 0; v < N; v++)
            machine_push(&x.m, v, DFR_NOBODY, false, &units);
        assert_int_equal(machine_pop(&x.m, 0), 3);
        assert_int_equal(machine_pop(&x.m, 1), 2);
        assert_int_equal(machine_pop(&x.m, 1), -1);
        x.coming[1] = 0;
        assert_int_equal(machine_pop(&x.m, 1), 1);
        x.coming[0] = 0;
        assert_int_equal(machine_pop(&x.m, 1), 0);
        machine_end(&x.m);
    }
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

static void hammer(const char *name, bool locality)
{
    static uint16_t place[N_JOBS];
    static float priority[N_JOBS];
    struct df_plan plan = { .policy = "heft", .n_nodes = N_JOBS, .place = place, .priority = priority };
    struct hammer *h = calloc(1, sizeof *h);
    struct hammer_thread threads[N_THREADS];
    pthread_t ids[N_THREADS];

    assert_non_null(h);
    machine_begin(&h->m, N_JOBS, 2, 1);
    h->m.view.locality = locality;
    for (uint32_t v = 0; v < N_JOBS; v++) {
        h->m.able[v] = v % 5 == 0 ? 1 : v % 5 == 1 ? 2 : 3;
        machine_time(&h->m, 1, v, (1 + v % 7) * MS / 4);
        place[v] = v % 2;
        priority[v] = (float)(v % 200);
    }
    machine_policy(&h->m, name, &plan);
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

static void test_nothing_is_lost(void **state)
{
    (void)state;
    for (const char *const *name = dfr_policy_names(); *name; name++) {
        hammer(*name, false);
        hammer(*name, true);
    }
}

/* ---- jobs that come back, wave after wave: nobody else has them, and each comes as often as it was pushed ---- */

enum { N_LOOPS = 150, N_SLOTS = 2, N_LIVES = 40 };

struct loop {
    struct machine m;
    _Atomic uint32_t lives[N_LOOPS * N_SLOTS];
    _Atomic bool held[N_LOOPS * N_SLOTS];
    _Atomic uint32_t popped;
    _Atomic bool wrong;
};

struct loop_thread {
    struct loop *l;
    uint32_t worker;
};

static void *loop_run(void *arg)
{
    struct loop_thread *t = arg;
    struct machine *m = &t->l->m;

    while (atomic_load(&t->l->popped) < N_LOOPS * N_SLOTS * N_LIVES) {
        uint64_t job;
        uint32_t units, i;
        if (!m->policy->pop(m->state, t->worker, &job))
            continue;
        i = dfr_job_slot(job) * N_LOOPS + dfr_job_node(job);
        if (dfr_job_slot(job) >= N_SLOTS || dfr_job_node(job) >= N_LOOPS || atomic_exchange(&t->l->held[i], true) ||
            !(m->able[dfr_job_node(job)] >> m->unit_of[t->worker] & 1)) {
            atomic_store(&t->l->wrong, true);
            break;
        }
        if (m->policy->done)
            m->policy->done(m->state, job, t->worker);
        atomic_store(&t->l->held[i], false);
        if (atomic_fetch_add(&t->l->lives[i], 1) + 1 < N_LIVES)
            m->policy->push(m->state, job, t->worker, false, &units);
        atomic_fetch_add(&t->l->popped, 1);
    }
    return NULL;
}

static void come_back(const char *name, bool locality)
{
    static uint16_t place[N_LOOPS];
    struct df_plan plan = { .policy = "heft", .n_nodes = N_LOOPS, .place = place };
    struct loop *l = calloc(1, sizeof *l);
    struct loop_thread threads[N_THREADS];
    pthread_t ids[N_THREADS];
    uint64_t job;
    uint32_t units;

    assert_non_null(l);
    machine_begin(&l->m, N_LOOPS, 2, 1);
    l->m.view.locality = locality;
    for (uint32_t v = 0; v < N_LOOPS; v++) {
        l->m.able[v] = v % 5 == 0 ? 1 : v % 5 == 1 ? 2 : 3;
        machine_time(&l->m, 1, v, (1 + v % 7) * MS / 4);
        place[v] = v % 2;
    }
    machine_policy(&l->m, name, &plan);
    for (uint32_t i = 0; i < N_LOOPS * N_SLOTS; i++)
        l->m.policy->push(l->m.state, dfr_job(i / N_LOOPS, i % N_LOOPS), DFR_NOBODY, false, &units);
    for (uint32_t t = 0; t < N_THREADS; t++) {
        threads[t] = (struct loop_thread){ l, t };
        assert_int_equal(pthread_create(&ids[t], NULL, loop_run, &threads[t]), 0);
    }
    for (uint32_t t = 0; t < N_THREADS; t++)
        pthread_join(ids[t], NULL);
    if (l->wrong)
        fail_msg("%s gave a job to two workers, or to one that cannot run it", name);
    for (uint32_t i = 0; i < N_LOOPS * N_SLOTS; i++)
        assert_int_equal(l->lives[i], N_LIVES);
    for (uint32_t worker = 0; worker < 3; worker++)
        assert_false(l->m.policy->pop(l->m.state, worker, &job));
    machine_end(&l->m);
    free(l);
}

static void test_jobs_come_back(void **state)
{
    (void)state;
    for (const char *const *name = dfr_policy_names(); *name; name++) {
        come_back(*name, false);
        come_back(*name, true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names), cmocka_unit_test(test_eager_is_first_come_first_served),
        cmocka_unit_test(test_ws_steals), cmocka_unit_test(test_dmda_goes_where_it_ends_first),
        cmocka_unit_test(test_dmda_sends_no_empty_tokens),
        cmocka_unit_test(test_dmda_sends_a_token_once),
        cmocka_unit_test(test_dmda_knows_where_data_is), cmocka_unit_test(test_dmda_forgets_what_is_done),
        cmocka_unit_test(test_dmda_counts_a_delay_once), cmocka_unit_test(test_dmda_counts_what_is_left),
        cmocka_unit_test(test_dmda_takes_brief_jobs_first), cmocka_unit_test(test_staged_jobs_come_in_turn),
        cmocka_unit_test(test_static_follows_plan), cmocka_unit_test(test_all_on_one),
        cmocka_unit_test(test_thesis_is_first_come_first_served),
        cmocka_unit_test(test_older_waves_first), cmocka_unit_test(test_loading_is_no_drift),
        cmocka_unit_test(test_no_job_waits_for_itself),
        cmocka_unit_test(test_waves_placed_jointly), cmocka_unit_test(test_leaves_when_all_has_come),
        cmocka_unit_test(test_coming_data_holds_up_nobody),
        cmocka_unit_test(test_nothing_is_lost), cmocka_unit_test(test_jobs_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
