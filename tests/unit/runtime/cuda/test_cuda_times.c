/* test_cuda_times.c - the times of kernels on a GPU, on the mock of the CUDA runtime (cuda_rig.h), whose time is its
 * own: what a run learns, and what dfc profile measures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda_rig.h"
#include "long.h"
#include "runtime/measure/measure.h"
#include "runtime/start/learn.h"
#include "temp_folder.h"

/* ---- learned ---- */

/* How many jobs of gpu variants stand in the one file that the run left. */
static unsigned learned(void)
{
    char path[512], line[4096];
    unsigned sum = 0, n_files = 0;
    struct dirent *entry;

    snprintf(path, sizeof path, "%s.learned", temp_file);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while ((entry = readdir(folder))) {
        if (entry->d_name[0] == '.')
            continue;
        n_files++;
        snprintf(path, sizeof path, "%s.learned/%s", temp_file, entry->d_name);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        while (fgets(line, sizeof line, file)) {
            unsigned runs;
            const char *at = strstr(line, "\"runs\": ");
            if (strstr(line, "\"variant\": \"gpu\"") && at && sscanf(at, "\"runs\": %u", &runs) == 1)
                sum += runs;
        }
        fclose(file);
        unlink(path);
    }
    closedir(folder);
    assert_int_equal(n_files, 1);
    snprintf(path, sizeof path, "%s.learned", temp_file);
    rmdir(path);
    return sum;
}

/* A kernel's first launch loads its code. The time of that launch is not learned as the kernel's time. */
static void test_loading_is_not_learned(void **state)
{
    struct rig r;
    struct df_error error = { "" };

    (void)state;
    need_mock();
    make_chain(&r, 12);                 /* of three kernels */
    struct df_options o = options_of("all-gpu");
    o.gpu_jobs = 1;
    o.learn = 1;
    setenv("DFC_PROFILE", temp_file, 1);
    assert_int_equal(dfr_learn_check(&error), DF_OK);
    rig_check(&r, &o, WAVES);
    assert_int_equal(learned(), 12 * WAVES - 3);
    assert_nothing_left();
    rig_free(&r);
}

/* CUDA says when a stream came to a job, not when the GPU began it. So nearly all jobs of several streams seem to overlap.
 * Each is learned, and the GPU's time counts once. */
static void test_overlap_is_learned(void **state)
{
    enum { N = 40, JOBS = 4 };
    struct rig r;
    struct rig_out from;
    struct df_error error = { "" };

    (void)state;
    need_mock();
    rig_begin(&r, 50);
    from = rig_node(&r, RIG_SOURCE | RIG_CPU_ONLY, 1, RIG_NOTHING, RIG_NOTHING);
    for (unsigned i = 0; i < N; i++)
        rig_sink(&r, RIG_SINK | RIG_CPU_ONLY, rig_node(&r, RIG_ADD1, i, from, RIG_NOTHING));
    rig_end(&r);
    use_launches(&r);
    rig_expect(&r, WAVES);
    struct df_options o = options_of("all-gpu");
    o.gpu_jobs = JOBS;
    o.learn = 1;
    setenv("DFC_PROFILE", temp_file, 1);
    assert_int_equal(dfr_learn_check(&error), DF_OK);
    rig_check(&r, &o, WAVES);
    assert_in_range(learned(), N * WAVES - JOBS, N * WAVES - 1); /* without the first of each stream */
    assert_nothing_left();
    rig_free(&r);
}

/* Events are made with timing, and the begin of work is marked, if somebody wants the times, and only then. */
static void test_times_if_wanted(void **state)
{
    uint64_t records[2];
    struct rig r;
    struct df_error error = { "" };

    (void)state;
    need_mock();
    make_chain(&r, 12);
    setenv("DFC_PROFILE", temp_file, 1);
    assert_int_equal(dfr_learn_check(&error), DF_OK);
    for (int learn = 0; learn < 2; learn++) {
        struct df_options o = options_of("all-gpu");
        o.learn = learn;
        o.gpu_jobs = 1;
        o.cuda_graphs = DF_GRAPHS_OFF;
        mock_begin(1, MEMORY, 1);
        rig_check(&r, &o, WAVES);
        records[learn] = mock_records();
        assert_int_equal(mock_timed_events() > 0, learn);
        assert_nothing_left();
    }
    assert_int_equal(learned(), 12 * WAVES - 3);
    assert_true(records[0] >= 12 * WAVES && records[1] >= records[0] + 12 * WAVES);
    rig_free(&r);
}

/* ---- measured ---- */

static int measure(const struct df_graph *graph, bool cold, uint32_t max_runs, char **text, struct df_error *error)
{
    struct dfr_sampler_options sampler = { .goal = 0.5, .min_runs = 4, .max_runs = max_runs, .max_s = 0.01 };
    struct df_options o = options_of(NULL);
    size_t size;
    FILE *out = open_memstream(text, &size);

    o.waves = 1;
    int status = dfr_measure_to(graph, &o, &sampler, false, cold, out, NULL, error);
    fclose(out);
    return status;
}

/* Microseconds that a gpu variant took; 0: there is no sample of it. *runs: how often. */
static double measured_us(const char *text, const char *kernel, unsigned *runs)
{
    char key[64];
    double mean_s = 0;

    snprintf(key, sizeof key, "\tgpu\t%s\t", kernel);
    for (const char *at = text; (at = strstr(at, "sample\t")); at++) {
        const char *end = strchr(at, '\n'), *found = strstr(at, key);
        if (found && found < end)       /* sample, device, variant, kernel, dims, scalars, hash, bytes */
            assert_int_equal(sscanf(found + strlen(key), "%*[^\t]\t%*[^\t]\t%*[^\t]\t%*[^\t]\t%lf\t%*[^\t]\t%u", &mean_s,
                                    runs), 2);
    }
    return 1e6 * mean_s;
}

static void assert_takes(const char *text, const char *kernel, double us)
{
    unsigned runs = 0;
    double is_us = measured_us(text, kernel, &runs);
    if (is_us < us - 0.05 || is_us > us + 0.05)
        fail_msg("%s took %g us, not %g:\n%s", kernel, is_us, us, text);
}

/* The host takes 20 us for each call, and a kernel's launch is two of them. Nothing of that is the kernel's time: the
 * launches wait until all are enqueued. (1 us is the mock's for the launch, and 1 us for the event behind it.) */
static void test_measured_without_the_host(void **state)
{
    (void)state;
    need_mock();
    for (int cold = 0; cold < 2; cold++) {
        struct rig r;
        struct df_error error = { "" };
        char *text;
        unsigned runs;

        mock_begin(1, UINT64_C(8) << 20, 8);
        make_chain(&r, 12);
        mock_times(20, 3, 9, 1 << 20);
        if (measure(r.graph, cold, IN_LONG(1000, 100), &text, &error) != DF_OK)
            fail_msg("%s", error.text);
        assert_takes(text, "add1", cold ? 9 + 2 : 3 + 2);
        assert_takes(text, "bump", cold ? 9 + 2 : 3 + 2); /* its input is restored before each launch */
        if (measured_us(text, "split", &runs) <= 0) fail_msg("%s", text);
        assert_true(runs >= 4 * 8);        /* several at a time */
        assert_nothing_left();
        free(text);
        rig_free(&r);
    }
}

/* No more launches than are allowed, whatever a batch has. A kernel that waits for the GPU itself is launched by
 * itself; its time has the host's share in it. */
static void test_measured_alone(void **state)
{
    struct rig r;
    struct df_error error = { "" };
    char *text;
    unsigned runs;

    (void)state;
    need_mock();
    make_chain(&r, 12);
    ((struct df_kernel *)r.graph->kernels)[RIG_ADD1].traits |= DF_SYNC;
    mock_times(20, 3, 9, 1 << 20);
    if (measure(r.graph, false, 6, &text, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_true(measured_us(text, "add1", &runs) > 20);
    assert_in_range(runs, 4, 6);
    assert_takes(text, "bump", 3 + 2);
    measured_us(text, "bump", &runs);
    assert_in_range(runs, 4, 6);
    assert_nothing_left();
    free(text);
    rig_free(&r);
    /* Nobody has said of this one that it waits. It is measured all the same, and the measuring ends. */
    misbehaves = ALLOCATES;
    mock_begin(1, MEMORY, 9);
    make_chain(&r, 12);
    mock_times(20, 3, 9, 1 << 20);
    if (measure(r.graph, false, IN_LONG(1000, 100), &text, &error) != DF_OK)
        fail_msg("%s", error.text);
    if (measured_us(text, "split", &runs) <= 5)
        fail_msg("%s", text);
    free(text);
    rig_free(&r);
}

/* Little memory: what a delay takes is what is left beside the job. A cold cache needs a buffer of its size. */
static void test_measured_in_little_memory(void **state)
{
    (void)state;
    need_mock();
    for (int cold = 0; cold < 2; cold++) {
        struct rig r;
        struct df_error error = { "" };
        char *text;

        mock_begin(1, UINT64_C(3) << 20, 8);
        make_chain(&r, 12);
        mock_times(20, 3, 9, 2 << 20);
        if (measure(r.graph, cold, IN_LONG(1000, 100), &text, &error) != DF_OK)
            fail_msg("%s", error.text);
        if (!cold)
            assert_takes(text, "add1", 3 + 2);
        else if (!strstr(text, "skip\t") || !strstr(text, "\tthe device has no room for a buffer as large as its cache beside it\t"))
            fail_msg("%s", text);
        assert_nothing_left();
        free(text);
        rig_free(&r);
    }
}

/* Each call of CUDA's fails once while kernels are measured: the cause is said, and all is returned. */
static void test_each_call_of_measuring_fails(void **state)
{
    unsigned failed = 0;
    struct rig r;

    (void)state;
    need_mock();
    make_chain(&r, 3);
    for (uint64_t n = 1;; n += n < 60 ? 1 : IN_LONG(53, 151)) {
        struct df_error error = { "" };
        char *text;

        mock_begin(1, MEMORY, 2);
        mock_fail(n, MOCK_OUT_OF_MEMORY);
        int status = measure(r.graph, n % 2, 30, &text, &error);
        free(text);
        const char *call = mock_failed();
        if (!call) {
            assert_int_equal(status, DF_OK);
            break;
        }
        if (status != DF_OK && !strstr(error.text, "cuda") && !strstr(error.text, "CUDA"))
            fail_msg("call %llu, %s: status %d, '%s'", (unsigned long long)n, call, status, error.text);
        failed += status != DF_OK;
        if (!strstr(call, "Destroy") && !strstr(call, "Free"))
            assert_nothing_left();
    }
    if (failed < 20)
        fail_msg("only %u failed", failed);
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_loading_is_not_learned, cuda_set_up),
        cmocka_unit_test_setup(test_overlap_is_learned, cuda_set_up),
        cmocka_unit_test_setup(test_times_if_wanted, cuda_set_up),
        cmocka_unit_test_setup(test_measured_without_the_host, cuda_set_up),
        cmocka_unit_test_setup(test_measured_alone, cuda_set_up),
        cmocka_unit_test_setup(test_measured_in_little_memory, cuda_set_up),
        cmocka_unit_test_setup(test_each_call_of_measuring_fails, cuda_set_up),
    };
    return cmocka_run_group_tests(tests, temp_folder_make, temp_folder_remove);
}
