/* test_pays.c - what `dfc profile` says of dividing a wave: the words for predictions and measurements that are given. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/front/front.h"
#include "compiler/show/pays.h"

static bool read_text(void *arg, const char *path, char **text, size_t *length, const char **why)
{
    (void)path;
    (void)why;
    *text = strdup(arg);
    *length = strlen(arg);
    return *text != NULL;
}

#define KERNEL(name, ports, more) "kernel " name "(" ports ") " more ";\n"
#define GRAPH(work, last)                                                                                              \
    KERNEL("src", "out v: i32[k]", "cost cpu 1us")                                                                    \
    KERNEL("work", "in v: i32[k], out w: i32[k]", work)                                                               \
    KERNEL("last", "in v: i32[k]", last)                                                                              \
    "graph main { a: i32[4] = src(); b = work(a); last(b); }"

/* The last line that is printed of the graph, if a wave takes these seconds with one worker and with two. */
static void says(const char *graph, double one_s, double two_predicted_s, double two_s, const char *wanted)
{
    const struct dfc_front_options options = { .path = "t.df", .read = read_text, .read_arg = (void *)(uintptr_t)graph };
    struct df_platform platform = { .n_units = 1, .n_classes = 1, .units = { { .workers = 2 } } };
    struct dfl_sink *sink = dfl_sink_new(stderr);
    struct dfc_front *front = NULL;
    struct df_times times;
    char *text = NULL;
    size_t size;
    assert_true(dfc_front_run(sink, &options, &front));
    assert_int_equal(dfr_times_default(front->graph, false, &times, NULL), DF_OK);
    const struct dfp_problem problem = { front->graph, &platform, &times, 0 };
    const struct dfc_pays pays = { .problem = &problem, .n_ways = 2, .ways = {
        { .workers = 1, .waves = 1, .predicted_s = one_s, .measured_s = one_s },
        { .workers = 2, .waves = 1, .predicted_s = two_predicted_s, .measured_s = two_s } } };
    FILE *out = open_memstream(&text, &size);
    assert_true(dfc_pays_print(&pays, out));
    fclose(out);
    const char *sentence = strstr(text, "\nDividing");
    if (!sentence || strncmp(sentence + 1, wanted, strlen(wanted)) != 0 || sentence[1 + strlen(wanted)] != '\n')
        fail_msg("%s is not said in: %s", wanted, text);
    free(text);
    dfr_times_free(&times);
    dfc_front_free(front);
    dfl_sink_free(sink);
}

static void measured_gains_decide(void **state)
{
    (void)state;
    says(GRAPH("cost cpu 10ms", "cost cpu 1us"), 10e-3, 5e-3, 5e-3, "Dividing pays: 2 workers are 2.00 times as fast as one.");
    says(GRAPH("cost cpu 10ms", "cost cpu 1us"), 10e-3, 5e-3, NAN, "Dividing pays: 2 workers are 2.00 times as fast as one, as predicted.");
    says(GRAPH("cost cpu 10ms", "cost cpu 1us"), 10e-3, 5e-3, 10e-3,
         "Dividing does not pay: 2 workers are 1.00 times as fast as one. The workers may lack cores, or share the memory's bandwidth, which '--loaded' measures.");
    says(GRAPH("cost cpu 1us", "cost cpu 1us"), 3e-6, 2e-6, 4e-6,
         "Dividing does not pay: 2 workers are 0.75 times as fast as one. A job takes 1.00 us on average, and with 2 workers each costs 1.67 us of a worker more: "
         "handing over, and waiting.");
}

static void what_runs_in_order_is_named(void **state)
{
    (void)state;
    says(GRAPH("cost cpu 1us", "ordered cost cpu 30ms"), 31e-3, 30e-3, 31e-3,
         "Dividing does not pay: 2 workers are 1.00 times as fast as one. 'last' runs one wave at a time and takes 30.0 ms of the 31.0 ms that a wave takes.");
    says(GRAPH("cost cpu 30ms", "ordered cost cpu 1us"), 31e-3, 30e-3, NAN,
         "Dividing does not pay: 2 workers are 1.03 times as fast as one, as predicted. Its jobs wait for each other, or share the memory's bandwidth: "
         "'dfc explain --what-if' says more.");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(measured_gains_decide), cmocka_unit_test(what_runs_in_order_is_named) };
    return cmocka_run_group_tests_name("pays", tests, NULL, NULL);
}
