/* test_policy_static.c - the policies that follow a plan: its places and priorities, older waves first, and plans of several waves; and the one that gives each slot a unit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "policy_rig.h"

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

/* Whatever the times say. What cannot run there runs on the CPU, and what fires once runs where the first slot's jobs do. */
static void test_slots_have_units(void **state)
{
    static const uint32_t unit_of_slot[] = { 0, 1 };
    struct machine m;
    uint32_t units;

    (void)state;
    machine_begin(&m, 10, 1, 1);
    assert_int_equal(m.view.n_slots, 2);
    for (uint32_t v = 0; v < 10; v++)
        machine_time(&m, v % 2, v, 10 * MS);
    m.able[7] = 1;
    m.view.unit_of_slot = unit_of_slot;
    m.policy = &dfr_policy_by_worker;
    assert_int_equal(m.policy->create(m.policy, &m.view, NULL, &m.state, &(struct df_error){ 0 }), DF_OK);
    for (int64_t wave = 0; wave < 12; wave += wave % 2 ? 1 : 5) { /* 0, 5, 6, 11: not every number has a wave */
        const uint32_t slot = (uint32_t)wave % 2;
        m.wave[slot] = wave;
        for (uint32_t v = 0; v < 10; v++) {
            uint32_t unit = slot == 1 && v != 7;
            uint64_t job;
            assert_int_equal(m.policy->units(m.state, slot, v), 1u << unit);
            assert_int_equal(m.policy->push(m.state, dfr_job(slot, v), 0, false, &units), DFR_QUEUED);
            assert_int_equal(units, 1u << unit);
            assert_false(m.policy->pop(m.state, !unit, &job));
            assert_true(m.policy->pop(m.state, unit, &job));
            assert_int_equal(job, dfr_job(slot, v));
            m.policy->done(m.state, job, unit);
        }
    }
    assert_int_equal(m.policy->units(m.state, 2, 4), 3);
    assert_int_equal(m.policy->units(m.state, 2, 7), 1);
    assert_null(dfr_policy_find("by-worker", &(struct df_error){ 0 }));
    machine_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_static_follows_plan),
        cmocka_unit_test(test_thesis_is_first_come_first_served),
        cmocka_unit_test(test_all_on_one),
        cmocka_unit_test(test_older_waves_first),
        cmocka_unit_test(test_waves_placed_jointly),
        cmocka_unit_test(test_slots_have_units),
    };
    return cmocka_run_group_tests_name("policy_static", tests, NULL, NULL);
}
