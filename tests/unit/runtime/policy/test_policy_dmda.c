/* test_policy_dmda.c - dmda and its kin: the unit with the earliest expected finish, what counts towards it, and jobs whose data is on its way
 * to the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "policy_rig.h"

static void all_take(struct machine *m, uint32_t unit, double time_s)
{
    for (uint32_t k = 0; k < m->rig.graph->n_works; k++)
        m->time_s[unit * m->rig.graph->n_works + k] = time_s;
}

static void test_dmda_goes_where_it_ends_first(void **state)
{
    struct machine m;
    uint32_t units, on_gpu = 0;

    (void)state;
    machine_begin(&m, 100, 2, 1);
    all_take(&m, 1, 0.5 * MS); /* the GPU is twice as fast; sending 1 MiB takes 0.1 ms */
    machine_policy(&m, "dmda", NULL);
    machine_push(&m, 1, 0, false, &units);
    assert_int_equal(units, 2);
    assert_int_equal(m.prefetched_for, 1);  /* its data was sent for */
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
    all_take(&m, 1, 0.5 * MS);
    machine_policy(&m, "dmda", NULL);
    machine_push(&m, 1, 0, false, &units);
    assert_int_equal(units, 1);         /* computing there would be faster, sending is not worth it */
    m.holders = 2;
    machine_push(&m, 2, 1, false, &units);
    assert_int_equal(units, 2);         /* its data is there */
    m.prefetches = true;
    m.able[3] = 1;
    assert_int_equal(machine_push(&m, 3, 1, false, &units), DFR_PREFETCHING); /* must come back first */
    m.holders = 3;
    m.prefetches = false;
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
    all_take(&m, 1, 0.5 * MS);
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
    all_take(&m, 0, 15 * MS);
    all_take(&m, 1, 0.5 * MS);
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
    all_take(&m, 1, 0.1 * MS);
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
    all_take(m, 0, cpu_s);
    all_take(m, 1, 0.5 * MS);
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
    all_take(&m, 0, 1.2 * MS);
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
        all_take(&m, 0, MS);
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
        m.prefetches = true;
        assert_int_equal(machine_push(&m, 1, 1, false, &units), DFR_PREFETCHING);
        m.holders = 3;
        m.prefetches = false;
        assert_int_equal(machine_push(&m, 2, 1, false, &units), DFR_QUEUED);
        m.policy->come(m.state, dfr_job(0, 1));
        assert_int_equal(machine_push(&m, 3, 1, false, &units), DFR_QUEUED);
        assert_int_equal(machine_pop(&m, 0), 2);
        assert_int_equal(machine_pop(&m, 0), 1);
        assert_int_equal(machine_pop(&m, 0), 3);
        machine_end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dmda_goes_where_it_ends_first),
        cmocka_unit_test(test_dmda_knows_where_data_is),
        cmocka_unit_test(test_dmda_sends_no_empty_tokens),
        cmocka_unit_test(test_dmda_sends_a_token_once),
        cmocka_unit_test(test_dmda_forgets_what_is_done),
        cmocka_unit_test(test_dmda_counts_a_delay_once),
        cmocka_unit_test(test_dmda_counts_what_is_left),
        cmocka_unit_test(test_dmda_takes_brief_jobs_first),
        cmocka_unit_test(test_staged_jobs_come_in_turn),
    };
    return cmocka_run_group_tests_name("policy_dmda", tests, NULL, NULL);
}
