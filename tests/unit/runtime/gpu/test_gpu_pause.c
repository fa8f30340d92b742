/* test_gpu_pause.c - when a GPU's worker asks again that cannot be woken: at once after a change and near the expected end
 * of a job, and after growing pauses at other times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "runtime/gpu/gpu_impl.h"

#define US 1e-6

static void test_pauses(void **state)
{
    int64_t pause = DFR_GPU_FIRST_PAUSE_NS;

    (void)state;
    assert_int_equal(dfr_gpu_pause_ns(1, 1 - 20 * US, INFINITY, true, &pause), 0); /* something has just changed */
    assert_int_equal(pause, DFR_GPU_FIRST_PAUSE_NS);
    for (int64_t want = DFR_GPU_FIRST_PAUSE_NS; want < 50000; want *= 2)    /* nothing is known */
        assert_int_equal(dfr_gpu_pause_ns(1, 0, INFINITY, true, &pause), want);
    for (int i = 0; i < 3; i++)
        assert_int_equal(dfr_gpu_pause_ns(1, 0, INFINITY, true, &pause), 50000);
    assert_int_equal(dfr_gpu_pause_ns(1, 0, 1 + 45 * US, true, &pause), 0); /* about to end */
    assert_int_equal(dfr_gpu_pause_ns(1, 0, 1 - 45 * US, true, &pause), 0); /* a little late */
    assert_int_equal(dfr_gpu_pause_ns(1, 0, 1 + 1, true, &pause), 50000);   /* far away */
    assert_int_equal(dfr_gpu_pause_ns(1, 0, 1 - 1, true, &pause), 50000);   /* far too late */
    assert_in_range(dfr_gpu_pause_ns(1, 0, 1 + 70 * US, true, &pause), 19990, 20010); /* until 50 us before */
    assert_int_equal(pause, 50000);
}

static void test_without_a_core(void **state)
{
    int64_t pause = 32000;

    (void)state;
    assert_int_equal(dfr_gpu_pause_ns(1, 1, 1 + 45 * US, false, &pause), DFR_GPU_FIRST_PAUSE_NS);
    assert_int_equal(pause, 32000);
    assert_int_equal(dfr_gpu_pause_ns(1, 1, INFINITY, false, &pause), 32000);
    assert_int_equal(pause, 50000);
}

/* Two works of 100 and 300 us on unit 1, launched at 10 s. */
static void test_next_end(void **state)
{
    struct df_node nodes[2] = { { .work = 0 }, { .work = 1 } };
    struct df_graph graph = { .n_works = 2, .n_nodes = 2, .nodes = nodes };
    double time_s[] = { 1, 1, 100 * US, 300 * US };
    static struct df_run run;
    struct gpu_job jobs[3] = { { .state = GPU_LAUNCHED, .job = dfr_job(0, 1), .told_by = 0, .launched_s = 10 },
                               { .state = GPU_RESERVED, .job = dfr_job(0, 0), .told_by = 1 },
                               { .state = GPU_LAUNCHED, .job = dfr_job(0, 0), .told_by = 2, .launched_s = 10 } };
    uint32_t order[] = { 1, 2, 0 };
    struct dfr_gpu gpu = { .run = &run, .unit = 1, .n_jobs = 3, .jobs = jobs, .order = order };

    (void)state;
    run.graph = &graph;
    run.choice.time_s = time_s;
    assert_true(isinf(dfr_gpu_next_end_s(&gpu))); /* times are not known */
    run.choice.times_known = true;
    assert_true(fabs(dfr_gpu_next_end_s(&gpu) - (10 + 100 * US)) < US);
    jobs[2].told_by = 0;                /* its end is told with that of the job behind it */
    assert_true(fabs(dfr_gpu_next_end_s(&gpu) - (10 + 400 * US)) < US);
    gpu.computed_until_s = 10 + 200 * US; /* the GPU was busy until then */
    assert_true(fabs(dfr_gpu_next_end_s(&gpu) - (10 + 600 * US)) < US);
    gpu.n_jobs = 1;                     /* nothing is launched */
    assert_true(isinf(dfr_gpu_next_end_s(&gpu)));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_pauses), cmocka_unit_test(test_without_a_core),
                                        cmocka_unit_test(test_next_end) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
