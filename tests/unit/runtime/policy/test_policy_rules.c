/* test_policy_rules.c - the rules of the papers' policies, each on a situation made by hand: who gets which of the jobs
 * that are ready.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "policy_rig.h"

static void push_all(struct machine *m, const uint32_t *nodes, unsigned n)
{
    uint32_t units;
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(machine_push(m, nodes[i], DFR_NOBODY, false, &units), DFR_QUEUED);
}

#define PUSH(m, ...) \
    push_all(m, (const uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

static void assert_empty(struct machine *m)
{
    for (uint32_t w = 0; w < m->view.n_workers; w++)
        assert_int_equal(machine_pop(m, w), -1);
}

/* How much faster than the 1 ms of a CPU worker. */
static void speedups(struct machine *m, uint32_t unit, uint32_t first, const double *speedup, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        machine_time(m, unit, first + i, 1 * MS / speedup[i]);
}

/* ---- one class of devices ---- */

/* Nodes 1 … 6 are 4, 20, 1, 9, 0.5 and 2 times as fast on the GPU, which is worker 2. */
static void one_class(struct machine *m, const char *policy)
{
    machine_begin(m, 10, 2, 1);
    speedups(m, 1, 1, (const double[]){ 4, 20, 1, 9, 0.5, 2 }, 6);
    m->able[7] = 1;
    m->able[8] = 2;
    machine_policy(m, policy, NULL);
}

static void test_lowest_to_cpu_highest_to_gpu(void **state)
{
    static const char *const policies[] = { "pats", "padas", "pams" };

    (void)state;
    for (int p = 0; p < 3; p++) {
        struct machine m;
        uint32_t units;
        one_class(&m, policies[p]);
        PUSH(&m, 1, 2, 3, 4, 5, 6);
        assert_int_equal(machine_pop(&m, 2), 2);
        assert_int_equal(machine_pop(&m, 0), 5);
        assert_int_equal(machine_pop(&m, 1), 3);
        assert_int_equal(machine_pop(&m, 2), 4);
        PUSH(&m, 2);                    /* comes later and goes first */
        assert_int_equal(machine_pop(&m, 2), 2);
        assert_int_equal(machine_pop(&m, 0), 6);
        assert_int_equal(machine_pop(&m, 2), 1);
        assert_empty(&m);
        PUSH(&m, 7, 8, 1);
        assert_int_equal(machine_pop(&m, 0), 7); /* no device can run it */
        assert_int_equal(machine_pop(&m, 2), 8); /* nothing but a device can */
        assert_int_equal(machine_pop(&m, 2), 1);
        assert_empty(&m);
        assert_int_equal(machine_push(&m, 7, 0, true, &units), DFR_KEPT);
        assert_int_equal(machine_push(&m, 1, 0, true, &units), DFR_QUEUED); /* the GPU may want it */
        assert_int_equal(units, 3);
        machine_end(&m);
    }
}

static void test_equals_go_in_order_of_nodes(void **state)
{
    struct machine m;
    uint32_t units;

    (void)state;
    machine_begin(&m, 6, 1, 1);
    machine_policy(&m, "pats", NULL);
    PUSH(&m, 4, 2, 5, 3);
    assert_int_equal(m.policy->push(m.state, dfr_job(1, 2), DFR_NOBODY, false, &units), DFR_QUEUED);
    assert_int_equal(machine_pop(&m, 1), 2);
    assert_int_equal(machine_pop(&m, 0), 2); /* the one in slot 1 */
    assert_int_equal(machine_pop(&m, 0), 3);
    assert_int_equal(machine_pop(&m, 1), 4);
    assert_int_equal(machine_pop(&m, 1), 5);
    assert_empty(&m);
    machine_end(&m);
}

/* ---- two classes of devices: worker 1 is the GPU, worker 2 the other ---- */

/*  node       1    2    3    4    5    6
 *  GPU        8   30    4    2    6    1
 *  other      9   10    1    5    3    0.5  */
static void two_classes(struct machine *m, const char *policy)
{
    machine_begin(m, 8, 1, 2);
    m->platform.units[2].cls = 2;
    speedups(m, 1, 1, (const double[]){ 8, 30, 4, 2, 6, 1 }, 6);
    speedups(m, 2, 1, (const double[]){ 9, 10, 1, 5, 3, 0.5 }, 6);
    machine_policy(m, policy, NULL);
}

static void test_pams_has_a_queue_for_each_class(void **state)
{
    struct machine m;

    (void)state;
    two_classes(&m, "pams");
    PUSH(&m, 1, 2, 3, 4, 5, 6);
    assert_int_equal(machine_pop(&m, 2), 2); /* the best there, though the GPU would gain more */
    assert_int_equal(machine_pop(&m, 1), 1);
    assert_int_equal(machine_pop(&m, 0), 6); /* gains least anywhere */
    assert_int_equal(machine_pop(&m, 0), 3);
    assert_int_equal(machine_pop(&m, 2), 4);
    assert_int_equal(machine_pop(&m, 1), 5);
    assert_empty(&m);
    machine_end(&m);
}

static void test_padas_has_two_ends(void **state)
{
    struct machine m;

    (void)state;
    two_classes(&m, "padas");
    PUSH(&m, 1, 2, 3, 4, 5, 6);              /* other: 1 4 | 6 3 5 2 :GPU */
    assert_int_equal(machine_pop(&m, 2), 1);
    assert_int_equal(machine_pop(&m, 1), 2);
    assert_int_equal(machine_pop(&m, 0), 6); /* of 4 and 6, where the parts meet */
    assert_int_equal(machine_pop(&m, 0), 3);
    assert_int_equal(machine_pop(&m, 0), 4); /* 5 against 6 */
    PUSH(&m, 3);
    assert_int_equal(machine_pop(&m, 2), 3); /* its part is empty: on from the other's lowest */
    assert_int_equal(machine_pop(&m, 2), 5);
    PUSH(&m, 1, 4);
    assert_int_equal(machine_pop(&m, 1), 4);
    assert_int_equal(machine_pop(&m, 1), 1);
    assert_empty(&m);
    machine_end(&m);
}

static void test_pats_has_one_queue(void **state)
{
    struct machine m;

    (void)state;
    two_classes(&m, "pats");
    PUSH(&m, 1, 2, 3, 4, 5, 6);              /* 6 3 4 5 1 2 */
    assert_int_equal(machine_pop(&m, 2), 2);
    assert_int_equal(machine_pop(&m, 2), 1);
    assert_int_equal(machine_pop(&m, 1), 5);
    assert_int_equal(machine_pop(&m, 0), 6);
    assert_int_equal(machine_pop(&m, 0), 3);
    assert_int_equal(machine_pop(&m, 1), 4);
    assert_empty(&m);
    machine_end(&m);
}

/* ---- Anthill ---- */

/* A source feeds nodes of three kernels in turn; gives the kernel's numbers by nodes' order. */
static void three_kernels(struct machine *m, const char *policy)
{
    static const int kernels[] = { RIG_ADD1, RIG_SCRATCH, RIG_MEET };
    struct rig_out a;

    memset(m, 0, sizeof *m);
    rig_begin(&m->rig, 16);
    a = rig_node(&m->rig, RIG_SOURCE, 0, RIG_NOTHING, RIG_NOTHING);
    for (int i = 0; i < 9; i++)              /* 1 2 3, 4 5 6, 7 8 9 */
        rig_node(&m->rig, kernels[i / 3], 10 + i, a, RIG_NOTHING);
    rig_end(&m->rig);
    machine_make(m, 1, 1);
    for (uint32_t v = 1; v <= 9; v++)
        machine_time(m, 1, v, 1 * MS / v);   /* v times as fast */
    m->able[4] = m->able[5] = m->able[6] = 1;
    machine_time(m, 1, 4, 1 * MS / 9);   /* a time on a unit that cannot run it counts for nothing */
    machine_policy(m, policy, NULL);
}

static void test_ddfcfs_takes_turns_and_the_oldest(void **state)
{
    struct machine m;

    (void)state;
    three_kernels(&m, "ddfcfs");
    PUSH(&m, 3, 2, 1, 9, 8, 7, 5, 4);
    assert_int_equal(machine_pop(&m, 0), 3);
    assert_int_equal(machine_pop(&m, 0), 5);
    assert_int_equal(machine_pop(&m, 0), 9);
    assert_int_equal(machine_pop(&m, 0), 2); /* round again */
    assert_int_equal(machine_pop(&m, 1), 1); /* a turn of its own */
    assert_int_equal(machine_pop(&m, 1), 8); /* over what it cannot run */
    assert_int_equal(machine_pop(&m, 1), 7);
    assert_int_equal(machine_pop(&m, 1), -1);
    assert_int_equal(machine_pop(&m, 0), 4);
    assert_empty(&m);
    machine_end(&m);
}

static void test_ddwrr_takes_turns_and_the_heaviest(void **state)
{
    struct machine m;

    (void)state;
    three_kernels(&m, "ddwrr");
    PUSH(&m, 2, 3, 1, 8, 9, 7, 5, 4);
    assert_int_equal(machine_pop(&m, 0), 1); /* the least speedup weighs most for the CPU */
    assert_int_equal(machine_pop(&m, 1), 3);
    assert_int_equal(machine_pop(&m, 0), 4); /* equal weights: the CPU's alone, in order */
    assert_int_equal(machine_pop(&m, 1), 9);
    assert_int_equal(machine_pop(&m, 1), 2);
    assert_int_equal(machine_pop(&m, 1), 8);
    assert_int_equal(machine_pop(&m, 0), 7);
    assert_int_equal(machine_pop(&m, 0), 5);
    assert_empty(&m);
    machine_end(&m);
}

/* ---- random ---- */

static void test_random_draws_by_speed(void **state)
{
    struct machine m;
    uint32_t on_gpu = 0, units, first[40];

    (void)state;
    machine_begin(&m, 2000, 2, 1);
    for (uint32_t v = 0; v < 2000; v++)
        machine_time(&m, 1, v, 1 * MS / 6);
    m.able[1] = 1;
    m.able[2] = 2;
    machine_policy(&m, "random", NULL);
    machine_push(&m, 1, DFR_NOBODY, false, &units);
    assert_int_equal(units, 1);
    machine_push(&m, 2, DFR_NOBODY, false, &units);
    assert_int_equal(units, 2);
    for (uint32_t v = 3; v < 1803; v++) {
        assert_int_equal(machine_push(&m, v, DFR_NOBODY, false, &units), DFR_QUEUED);
        assert_int_equal(m.prefetched_for, units == 2);
        on_gpu += units == 2;
        if (v < 43)
            first[v - 3] = units;
    }
    assert_in_range(on_gpu, 1350 - 80, 1350 + 80); /* 6 of 8: four standard deviations are 73 */
    m.policy->destroy(m.state);
    machine_policy(&m, "random", NULL);
    for (uint32_t v = 3; v < 43; v++) {      /* the same seed, the same draws */
        machine_push(&m, v, DFR_NOBODY, false, &units);
        assert_int_equal(units, first[v - 3]);
    }
    m.policy->destroy(m.state);
    m.view.seed = 2;
    machine_policy(&m, "random", NULL);
    on_gpu = 0;
    for (uint32_t v = 3; v < 43; v++) {
        machine_push(&m, v, DFR_NOBODY, false, &units);
        on_gpu += units != first[v - 3];
    }
    assert_true(on_gpu > 0);
    machine_end(&m);
}

/* ---- the dmda family ---- */

/* A chain of 4 nodes and two single ones; only the way to the end tells them apart. */
static void test_dmdas_goes_by_the_way_to_the_end(void **state)
{
    struct machine m;
    struct rig_out a, b;
    uint32_t units;

    (void)state;
    memset(&m, 0, sizeof m);
    rig_begin(&m.rig, 16);
    a = rig_node(&m.rig, RIG_SOURCE, 0, RIG_NOTHING, RIG_NOTHING);
    b = rig_node(&m.rig, RIG_ADD1, 1, a, RIG_NOTHING);      /* short */
    b = rig_node(&m.rig, RIG_ADD1, 2, a, RIG_NOTHING);      /* long */
    b = rig_node(&m.rig, RIG_ADD1, 3, b, RIG_NOTHING);
    rig_node(&m.rig, RIG_ADD1, 4, b, RIG_NOTHING);
    b = rig_node(&m.rig, RIG_ADD1, 5, a, RIG_NOTHING);      /* between */
    rig_node(&m.rig, RIG_ADD1, 6, b, RIG_NOTHING);
    rig_end(&m.rig);
    machine_make(&m, 1, 0);
    machine_policy(&m, "dmdas", NULL);
    PUSH(&m, 5, 2);
    assert_int_equal(machine_pop(&m, 0), 2);
    assert_int_equal(machine_push(&m, 1, 0, true, &units), DFR_QUEUED); /* something more urgent waits */
    assert_int_equal(machine_pop(&m, 0), 5);
    assert_int_equal(machine_push(&m, 3, 0, true, &units), DFR_KEPT);
    PUSH(&m, 3);
    assert_int_equal(machine_pop(&m, 0), 3);
    assert_int_equal(machine_pop(&m, 0), 1);
    assert_empty(&m);
    machine_end(&m);
}

static void test_dmdar_takes_what_is_ready(void **state)
{
    struct machine m;
    uint32_t holders_of[100], units;

    (void)state;
    machine_begin(&m, 100, 1, 1);
    for (uint32_t v = 0; v < 100; v++) {
        m.able[v] = 2;
        holders_of[v] = 1;
    }
    m.holders_of = holders_of;
    machine_policy(&m, "dmdar", NULL);
    for (uint32_t v = 1; v < 60; v++)
        assert_int_equal(machine_push(&m, v, DFR_NOBODY, false, &units), DFR_QUEUED);
    holders_of[9] = holders_of[5] = 3;       /* their data has come */
    assert_int_equal(machine_pop(&m, 1), 5);
    assert_int_equal(machine_pop(&m, 1), 9);
    assert_int_equal(machine_pop(&m, 1), 1);
    holders_of[59] = 3;                      /* far beyond the window */
    for (int64_t v = 2; v < 28; v++)
        if (v != 5 && v != 9)
            assert_int_equal(machine_pop(&m, 1), v);
    assert_int_equal(machine_pop(&m, 1), 59);
    for (int64_t v = 28; v < 59; v++)
        assert_int_equal(machine_pop(&m, 1), v);
    assert_empty(&m);
    machine_end(&m);
}

/* ---- data locality ---- */

/* Nodes 0 and 1 are sources; 2 and 3 read node 0, 4 and 5 read node 1. Worker 1 is the GPU. */
static void two_families(struct machine *m, const char *policy)
{
    struct rig_out a, b;

    memset(m, 0, sizeof *m);
    rig_begin(&m->rig, 131072);              /* 1 MiB: about 0.1 ms on the way */
    a = rig_node(&m->rig, RIG_SOURCE, 0, RIG_NOTHING, RIG_NOTHING);
    b = rig_node(&m->rig, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    for (int i = 2; i < 6; i++)
        rig_node(&m->rig, RIG_ADD1, i, i < 4 ? a : b, RIG_NOTHING);
    rig_end(&m->rig);
    machine_make(m, 1, 1);
    m->view.locality = true;
    speedups(m, 1, 2, (const double[]){ 4, 6, 8, 7 }, 4);
    m->holders = 1;
    machine_policy(m, policy, NULL);
}

static void test_locality_without_speedups_is_always_preferred(void **state)
{
    static const char *const policies[] = { "eager", "ddfcfs" };

    (void)state;
    for (int p = 0; p < 2; p++) {
        struct machine m;
        two_families(&m, policies[p]);
        PUSH(&m, 2, 3, 4, 5);
        machine_done(&m, 1, 1);
        assert_int_equal(machine_pop(&m, 1), 4); /* reads what node 1 made on the GPU; of two the better */
        assert_int_equal(machine_pop(&m, 0), 2); /* the CPU takes the oldest */
        assert_int_equal(machine_pop(&m, 1), 5);
        PUSH(&m, 4);
        assert_int_equal(machine_pop(&m, 0), 3);
        assert_int_equal(machine_pop(&m, 0), 4);
        assert_empty(&m);
        machine_end(&m);
    }
}

/* What is in the device's memory counts, no matter which job made it. */
static void test_locality_is_weighed_against_speedup(void **state)
{
    static const char *const policies[] = { "pats", "padas", "pams", "ddwrr" };
    static const uint32_t first_family[] = { 0, 0, 3, 3, 1, 1 }; /* what nodes 2 and 3 read is on the GPU, too */

    (void)state;
    for (int p = 0; p < 4; p++) {
        struct machine m;
        two_families(&m, policies[p]);
        m.holders_of = first_family;
        PUSH(&m, 2, 3, 4, 5);
        /* 4 would run 0.125 ms after 0.1 ms on the way, so t is 0.43: 3's speedup of 6 is more than 8 x 0.57 */
        assert_int_equal(machine_pop(&m, 1), 3);
        /* 2's of 4 is less */
        assert_int_equal(machine_pop(&m, 1), 4);
        machine_end(&m);

        two_families(&m, policies[p]);
        m.holders = 3;                       /* nothing to be sent: speedup alone decides */
        PUSH(&m, 2, 3, 4, 5);
        machine_done(&m, 0, 1);
        assert_int_equal(machine_pop(&m, 1), 4);
        machine_end(&m);

        two_families(&m, policies[p]);
        m.view.locality = false;
        m.holders_of = first_family;
        PUSH(&m, 2, 3, 4, 5);
        assert_int_equal(machine_pop(&m, 1), 4);
        machine_end(&m);
    }
}

static void test_of_equal_speedups_the_one_whose_data_is_there(void **state)
{
    static const char *const policies[] = { "pats", "padas", "pams" };
    static const uint32_t last_one[] = { 0, 0, 1, 1, 1, 3 };

    (void)state;
    for (int p = 0; p < 3; p++) {
        struct machine m;
        two_families(&m, policies[p]);
        m.policy->destroy(m.state);
        speedups(&m, 1, 2, (const double[]){ 8, 8, 8, 8 }, 4);
        m.holders_of = last_one;
        machine_policy(&m, policies[p], NULL);
        PUSH(&m, 2, 3, 4, 5);
        assert_int_equal(machine_pop(&m, 1), 5);
        assert_int_equal(machine_pop(&m, 1), 2);
        machine_end(&m);
    }
}

/* ---- jobs taken ahead ---- */

static const char *const taking_ahead[] = { "pats", "padas", "pams", "eager", "ddfcfs", "ddwrr", "ws" };
static double gpu_busy_s;

static double busy_s(void *arg, uint32_t worker)
{
    (void)arg;
    (void)worker;
    return gpu_busy_s;
}

/* Two CPU workers take 1 ms for a job; worker 2 is the GPU. All can run nodes 1 to 9. */
static void test_a_device_takes_ahead_what_others_do_not_need(void **state)
{
    (void)state;
    for (unsigned p = 0; p < sizeof taking_ahead / sizeof *taking_ahead; p++) {
        struct machine m;
        machine_begin(&m, 10, 2, 1);
        m.view.busy_s = busy_s;
        gpu_busy_s = 0;
        machine_policy(&m, taking_ahead[p], NULL);
        PUSH(&m, 1, 2, 3, 4, 5);
        for (uint32_t w = 0; w < 3; w++)
            assert_int_not_equal(machine_pop(&m, w), -1);
        gpu_busy_s = 2 * MS;                 /* both CPU workers come before, and need both jobs */
        assert_int_equal(machine_pop(&m, 2), -1);
        PUSH(&m, 6);                         /* now one remains, but not for a choice */
        assert_int_equal(machine_pop(&m, 2), -1);
        PUSH(&m, 9);
        assert_int_not_equal(machine_pop(&m, 2), -1);
        assert_int_equal(machine_pop(&m, 2), -1);
        gpu_busy_s = 0.5 * MS;               /* it is the next to be idle */
        assert_int_not_equal(machine_pop(&m, 2), -1);
        assert_int_not_equal(machine_pop(&m, 2), -1);
        assert_int_equal(machine_pop(&m, 2), -1);
        m.now_s = 1 * MS;                    /* a CPU worker comes, and then the GPU */
        assert_int_not_equal(machine_pop(&m, 0), -1);
        gpu_busy_s = 0;
        assert_empty(&m);
        machine_end(&m);

        machine_begin(&m, 10, 2, 1);
        m.view.busy_s = busy_s;
        gpu_busy_s = 2 * MS;
        m.able[7] = 2;                       /* nobody else waits for it */
        machine_policy(&m, taking_ahead[p], NULL);
        PUSH(&m, 7);
        assert_int_equal(machine_pop(&m, 2), 7);
        machine_end(&m);
    }
}

/* The GPU may take no job ahead while a CPU worker is idle. Once that worker has taken another job, the GPU looks again. Node 1
 * has no variant for it. */
static void test_a_refused_device_is_woken_when_a_worker_takes_a_job(void **state)
{
    (void)state;
    for (unsigned p = 0; p < sizeof taking_ahead / sizeof *taking_ahead; p++) {
        struct machine m;
        machine_begin(&m, 10, 2, 1);
        m.view.busy_s = busy_s;
        m.able[1] = 1;
        gpu_busy_s = 0;
        machine_policy(&m, taking_ahead[p], NULL);
        PUSH(&m, 2, 3, 4, 5);
        assert_int_not_equal(machine_pop(&m, 2), -1);
        assert_int_not_equal(machine_pop(&m, 0), -1);
        assert_int_equal(m.woken >> 1 & 1, 0);      /* it has not asked for more */
        gpu_busy_s = 0.5 * MS;
        assert_int_equal(machine_pop(&m, 2), -1);   /* worker 1 may need one of the two */
        PUSH(&m, 1);
        m.woken = 0;
        assert_int_equal(machine_pop(&m, 1), 1);
        assert_int_equal(m.woken >> 1 & 1, 1);
        assert_int_not_equal(machine_pop(&m, 2), -1);
        machine_end(&m);
    }
}

/* Node 2 reads what node 0 makes. While the GPU runs node 0 it takes nothing ahead that node 2 would be preferred to. */
static void test_a_device_waits_for_a_reader_of_what_it_makes(void **state)
{
    static const char *const policies[] = { "pats", "pams", "eager", "ddfcfs" };

    (void)state;
    for (int p = 0; p < 4; p++)
        for (int prefers = 0; prefers < 2; prefers++) {
            struct machine m;
            two_families(&m, policies[p]);
            m.policy->destroy(m.state);
            m.view.busy_s = busy_s;
            gpu_busy_s = 0;
            speedups(&m, 1, 2, prefers ? (const double[]){ 4, 6, 6, 5 } : (const double[]){ 1, 1, 8, 7 }, 4);
            machine_policy(&m, policies[p], NULL);
            PUSH(&m, 0);
            assert_int_equal(machine_pop(&m, 1), 0);
            PUSH(&m, 3, 4, 5);
            gpu_busy_s = 0.5 * MS;
            assert_int_equal(machine_pop(&m, 1), p >= 2 || prefers ? -1 : 4);
            machine_end(&m);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lowest_to_cpu_highest_to_gpu), cmocka_unit_test(test_equals_go_in_order_of_nodes),
        cmocka_unit_test(test_pams_has_a_queue_for_each_class), cmocka_unit_test(test_padas_has_two_ends),
        cmocka_unit_test(test_pats_has_one_queue), cmocka_unit_test(test_ddfcfs_takes_turns_and_the_oldest),
        cmocka_unit_test(test_ddwrr_takes_turns_and_the_heaviest), cmocka_unit_test(test_random_draws_by_speed),
        cmocka_unit_test(test_dmdas_goes_by_the_way_to_the_end), cmocka_unit_test(test_dmdar_takes_what_is_ready),
        cmocka_unit_test(test_locality_without_speedups_is_always_preferred),
        cmocka_unit_test(test_locality_is_weighed_against_speedup),
        cmocka_unit_test(test_of_equal_speedups_the_one_whose_data_is_there),
        cmocka_unit_test(test_a_device_takes_ahead_what_others_do_not_need),
        cmocka_unit_test(test_a_refused_device_is_woken_when_a_worker_takes_a_job),
        cmocka_unit_test(test_a_device_waits_for_a_reader_of_what_it_makes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
