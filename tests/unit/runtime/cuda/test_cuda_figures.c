/* test_cuda_figures.c - the figures of a GPU that a probe measures, on the mock of the CUDA runtime (cuda_rig.h). Its kernels
 * take the time that they are told, so the figures follow; the loops are those of the real kernels, done on the host.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "cuda_rig.h"
#include "long.h"
#include "profiles/probe/probe_impl.h"
#include "runtime/cuda/cuda_loops.h"

#define KERNEL_US 4000
#define CACHE (UINT64_C(128) << 10)
#define THREADS (8 * LOOP_THREADS)      /* of the mock's only multiprocessor */

static int figures_of(uint64_t memory_bytes, struct dfw_figures *figures, struct df_error *error)
{
    struct df_unit unit = { .memory_bytes = memory_bytes };
    *figures = (struct dfw_figures){ 0 };
    error->text[0] = '\0';
    return dfw_figures_device(cuda, 0, &unit, 0.02, figures, NULL, NULL, error);
}

/* Each figure is its work by the time that the mock's kernels take. If that is short, a call does all several times. */
static void check_figures(double kernel_us)
{
    const double expected[DFW_FIGURES] = {
        2.0 * 16 * CACHE, 2.0 * 16 * CACHE, 3.0 * 16 * CACHE, 3.0 * 16 * CACHE,
        2.0 * LOOP_STEPS * LOOP_CHAINS * THREADS, 2.0 * LOOP_STEPS * LOOP_CHAINS * THREADS,
        LOOP_READS, LOOP_READS * THREADS, LOOP_UPDATES * THREADS, LOOP_UPDATES * THREADS
    };
    struct dfw_figures f;
    struct df_error error;
    mock_begin(1, MEMORY, 1);
    mock_times(0, kernel_us, kernel_us, CACHE);
    if (figures_of(MEMORY, &f, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_int_equal(f.n, 1);
    assert_int_equal(f.threads[0], 1);
    assert_int_equal(f.array_bytes, 16 * CACHE);
    assert_int_equal(f.cache_bytes, CACHE);
    for (int i = 0; i < DFW_FIGURES; i++) {
        double got = f.per_s[0][i] * kernel_us * 1e-6;
        if (got < 0.99 * expected[i] || got > expected[i])
            fail_msg("%s: %g is not %g", dfw_figure_names[i], got, expected[i]);
    }
    assert_nothing_left();
}

static void test_figures(void **state)
{
    (void)state;
    need_mock();
    check_figures(KERNEL_US);
    check_figures(300);
}

static void check_arrays(uint64_t others_bytes, uint64_t expected_bytes)
{
    struct dfw_figures f;
    struct df_error error;
    mock_begin(1, MEMORY, 1);
    mock_times(0, KERNEL_US, KERNEL_US, CACHE);
    mock_others(0, others_bytes);
    if (figures_of(MEMORY, &f, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_int_equal(f.array_bytes, expected_bytes);
    assert_nothing_left();
}

/* All arrays take at most half of what is free, and less if the device refuses that. */
static void test_little_memory(void **state)
{
    struct dfw_figures f;
    struct df_error error;
    (void)state;
    need_mock();
    check_arrays(0, 16 * CACHE);
    check_arrays(MEMORY - (UINT64_C(8) << 20), UINT64_C(640) << 10);
    mock_begin(1, MEMORY, 1);
    mock_others(0, MEMORY - (128 << 10));
    assert_int_equal(figures_of(MEMORY, &f, &error), DF_E_MEMORY);
    assert_non_null(strstr(error.text, "cuda0: allocating its pool of 0.2 MiB, while 0.1 of 64.0 MiB are free"));
    assert_int_equal(f.n, 0);
    assert_nothing_left();
}

/* Whichever call fails, there is an error and no figure, and nothing is left that a lost device could not keep. If there is
 * no memory for the arrays, all is measured with smaller ones. */
static void test_failures(void **state)
{
    static const int statuses[] = { MOCK_OUT_OF_MEMORY, MOCK_ILLEGAL_ADDRESS };
    struct dfw_figures f;
    struct df_error error;
    (void)state;
    need_mock();
    for (int s = 0; s < 2; s++) {
        unsigned failed = 0, smaller = 0;
        for (uint64_t n = 1;; n += n < 40 ? 1 : IN_LONG(17, 61)) {
            mock_begin(1, MEMORY, 3);
            mock_times(0, KERNEL_US, KERNEL_US, 8192);
            mock_fail(n, statuses[s]);
            int status = figures_of(MEMORY, &f, &error);
            const char *call = mock_failed();
            if (!call)
                break;
            assert_int_equal(f.n, status == DF_OK);
            assert_true(status == DF_OK || strstr(error.text, "cuda"));
            failed += status != DF_OK;
            smaller += status == DF_OK && f.array_bytes == 8 * 8192;
            if (s == 0 && !strstr(call, "Destroy") && !strstr(call, "Free"))
                assert_nothing_left();
        }
        assert_true(failed >= 20);
        assert_int_equal(smaller, s == 0); /* cudaMalloc */
    }
}

static void print_to(char *text, size_t size, int (*print)(FILE *, const struct df_platform *, const struct dfw_probe_report *),
                     const struct df_platform *p, const struct dfw_probe_report *report)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(print(file, p, report), DF_OK);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void assert_in(const char *text, const char *expected)
{
    if (!strstr(text, expected))
        fail_msg("'%s' is not in '%s'", expected, text);
}

/* A whole probe: the unit has what the figures say, and every form prints the row. */
static void test_probe(void **state)
{
    const struct dfw_probe_options options = { .device = DF_DEVICE_CUDA, .quick = true, .array_bytes = 1 << 20 };
    static struct dfw_probe_report report;
    struct df_platform p;
    struct df_error error = { "" };
    char text[8192];
    (void)state;
    need_mock();
    mock_begin(1, MEMORY / 4, 1);
    mock_times(0, KERNEL_US, KERNEL_US, CACHE);
    if (dfw_probe_with(&options, &p, &report, NULL, NULL, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_int_equal(report.figures[1].n, 1);
    assert_string_equal(report.no_figures[1], "");
    assert_true(p.units[1].memory_bytes_per_s == report.figures[1].per_s[0][DFW_TRIAD]);
    assert_true(p.units[1].figures.flops[1] == report.figures[1].per_s[0][DFW_FLOPS_F64]);
    print_to(text, sizeof text, dfw_figures_print_text, &p, &report);
    assert_in(text, ": one chain of dependent reads; arrays of 2.00 MiB (last cache: 128 KiB)\n");
    assert_in(text, "     all     1.048     1.048     1.572     1.572     4.19");
    print_to(text, sizeof text, dfw_figures_print_json, &p, &report);
    assert_in(text, "\"array_bytes\": 2097152, \"cache_bytes\": 131072, \"figures\": [\n    {\"copy_bytes_per_s\": 1.04");
    print_to(text, sizeof text, dfw_platform_print_report, &p, &report);
    assert_in(text, " bandwidth = ");
    assert_in(text, " flops = ");
}

/* There is no code for the GPU: the probe goes on, and the row says why it is empty. */
static void test_no_code(void **state)
{
    const struct dfw_probe_options options = { .device = DF_DEVICE_CUDA, .quick = true, .array_bytes = 1 << 20 };
    static struct dfw_probe_report report;
    struct df_platform p;
    struct df_error error = { "" };
    char text[8192];
    (void)state;
    need_mock();
    mock_begin(1, MEMORY / 4, 1);
    mock_no_code(0);
    if (dfw_probe_with(&options, &p, &report, NULL, NULL, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_int_equal(report.figures[1].n, 0);
    assert_true(p.units[1].memory_bytes_per_s == 0 && p.units[1].launch_s > 0);
    print_to(text, sizeof text, dfw_figures_print_text, &p, &report);
    assert_in(text, " was not measured: cuda0: launching a loop that measures it: ");
    print_to(text, sizeof text, dfw_figures_print_json, &p, &report);
    assert_in(text, "\"not_measured\": \"cuda0: launching a loop that measures it: ");
    assert_in(text, "\"figures\": []}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_figures, cuda_set_up),
        cmocka_unit_test_setup(test_little_memory, cuda_set_up),
        cmocka_unit_test_setup(test_failures, cuda_set_up),
        cmocka_unit_test_setup(test_probe, cuda_set_up),
        cmocka_unit_test_setup(test_no_code, cuda_set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
