/* test_policy_guard.c - gp's monitor: what counts as drift, which jobs an idle worker may take over, and jobs whose data is still on its way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "policy_rig.h"

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

/* A job that waits for its code to be loaded takes 300 times its estimated time (virtual time). That moves the next ones, unless
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
    m.prefetches = true;
    assert_int_equal(machine_push(&m, 2, DFR_NOBODY, false, &units), DFR_PREFETCHING);
    m.prefetches = false;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loading_is_no_drift),
        cmocka_unit_test(test_no_job_waits_for_itself),
        cmocka_unit_test(test_leaves_when_all_has_come),
        cmocka_unit_test(test_coming_data_holds_up_nobody),
    };
    return cmocka_run_group_tests_name("policy_guard", tests, NULL, NULL);
}
