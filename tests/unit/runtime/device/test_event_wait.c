/* test_event_wait.c - a device that stops answering is named, and how long it was waited for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>

#include "runtime/device/device.h"

static int n_queries, answer_after;

static int query(struct dfr_device *device, struct dfr_event *event, bool *complete, struct df_error *error)
{
    (void)device, (void)event, (void)error;
    *complete = ++n_queries > answer_after;
    return DF_OK;
}

static int query_fails(struct dfr_device *device, struct dfr_event *event, bool *complete, struct df_error *error)
{
    (void)device, (void)event, (void)complete;
    snprintf(error->text, sizeof error->text, "it fell off the bus");
    return DF_E_DEVICE;
}

static const struct dfr_device_ops ops = { .name = "mute", .event_query = query },
                                   failing = { .name = "broken", .event_query = query_fails };

static void test_answers(void **state)
{
    struct dfr_device device = { .ops = &ops };
    struct df_error error = { "" };
    (void)state;
    n_queries = 0, answer_after = 1000;
    assert_int_equal(dfr_event_wait(&device, NULL, 60, &error), DF_OK);
    assert_int_equal(n_queries, 1001);
}

static void test_silent(void **state)
{
    struct dfr_device device = { .ops = &ops };
    struct df_error error = { "" };
    (void)state;
    n_queries = 0, answer_after = INT32_MAX;
    assert_int_equal(dfr_event_wait(&device, NULL, 1, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "mute: no answer for 1 s");
}

static void test_failure_ends_it(void **state)
{
    struct dfr_device device = { .ops = &failing };
    struct df_error error = { "" };
    (void)state;
    assert_int_equal(dfr_event_wait(&device, NULL, 0, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "it fell off the bus");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_answers), cmocka_unit_test(test_silent),
                                        cmocka_unit_test(test_failure_ends_it) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
