/* test_policy.c - the table of policies by name, and the two that only queue jobs: eager, first come, first served, and ws, which steals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
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

/* ---- eager and ws ---- */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_eager_is_first_come_first_served),
        cmocka_unit_test(test_ws_steals),
    };
    return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
