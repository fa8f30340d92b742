/* test_frames.c - frames of live sources: which wait and which are dropped, when they come in virtual time, beside a list of all frames, and the quantiles of
 * latencies, beside sorted ones; and what the builder refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/random.h"
#include "runtime/graph/builder.h"
#include "runtime/policy/frames.h"

static int nothing(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims, (void)ports, (void)scalars;
    return DF_END;
}

/* A graph of n sources of 100 bytes and of 4 bytes. Returns what the builder said of the last one. */
static int make_graph(unsigned n, unsigned traits, int class, struct df_live live, struct df_graph **graph)
{
    static const char *const dims[] = { "n" };
    static const struct df_port_desc ports[] = { { "f", DF_OUT, DF_U8, 1 }, { "at", DF_OUT, DF_I32, 0 } };
    const struct df_kernel_desc kernel = { "camera", 1, dims, 2, ports, 0, NULL, traits, { .cpu = nothing }, { 0, 0, 0, 0 } };
    const uint64_t dim = 100, port_dims[2][DF_MAX_RANK] = { { 100 } };
    const struct df_node_desc desc = { .dims = &dim, .port_dims = port_dims, .hint_class = class, .live = live };
    struct df_builder *b = df_builder_new("frames");
    struct df_error error;
    uint32_t id, node;
    assert_int_equal(df_builder_kernel(b, &kernel, &id, &error), DF_OK);
    int status = DF_OK;
    for (unsigned i = 0; i < n && status == DF_OK; i++)
        status = df_builder_node_desc(b, &desc, &node, &error);
    if (status == DF_OK)
        assert_int_equal(df_builder_finish(b, graph, &error), DF_OK);
    df_builder_free(b);
    return status;
}

static void begin(struct dfr_frames *f, struct df_graph **graph, uint32_t newest, double every_s, double takes_s)
{
    struct df_error error;
    assert_int_equal(make_graph(1, DF_STREAM, DF_CLASS_CPU, (struct df_live){ .newest = newest, .every_s = every_s }, graph), DF_OK);
    assert_int_equal(dfr_frames_create(f, *graph, 0, 1, takes_s, &error), DF_OK);
}

static void test_ring(void **state)
{
    struct df_graph *g;
    struct dfr_frames f;
    struct dfr_frame frame;
    (void)state;
    begin(&f, &g, 3, 0, NAN);
    assert_false(dfr_frames_take(&f, &frame));
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(dfr_frames_come(&f, (struct dfr_frame){ i, i }, &frame), i >= 3);
        assert_true(i < 3 || frame.place == i - 3);
    }
    for (uint32_t i = 7; i < 10; i++) {
        assert_true(dfr_frames_take(&f, &frame));
        assert_int_equal(frame.place, i);
    }
    assert_false(dfr_frames_take(&f, &frame));
    assert_int_equal(f.frames, 10);
    assert_int_equal(f.dropped, 7);
    assert_int_equal(dfr_frames_offset(g, 0, 0), 0);
    assert_int_equal(dfr_frames_offset(g, 0, 1), 128);
    assert_int_equal(dfr_frames_offset(g, 0, 2), 192);
    dfr_frames_destroy(&f);
    df_graph_free(g);
}

/* Jobs begin at random moments. Of all frames that had come by then, the newest n which no job took wait; if there is none, the job waits for the next. */
static void check_arrivals(uint32_t newest, double every_s, double takes_s, uint64_t seed)
{
    enum { FRAMES = 4000 };
    static double comes_s[FRAMES];
    struct df_graph *g;
    struct dfr_frames f;
    double now_s = 0;
    uint32_t next = 0;                  /* the first frame that was neither taken nor dropped */
    begin(&f, &g, newest, every_s, takes_s);
    for (uint32_t k = 0; k < FRAMES; k++)
        comes_s[k] = fmax(k ? comes_s[k - 1] : 0, k * every_s) + takes_s;
    for (int64_t wave = 0; next < FRAMES - 200 && wave < 800; wave++) {
        uint32_t end = next;
        while (comes_s[end] <= now_s)
            end++;
        end += end == next;
        next = end - next > newest ? end - newest : next;
        const double job_s = dfr_frames_job_s(&f, 0, wave, now_s);
        assert_true(f.taken_s[0] == comes_s[next]);
        assert_true(now_s + job_s >= comes_s[next] * (1 - 1e-12) && (job_s <= 0 || comes_s[next] > now_s));
        next++;
        now_s += job_s + (double)(dfr_random(&seed) % 1000) * 1e-4;
    }
    dfr_frames_destroy(&f);
    df_graph_free(g);
}

static void test_arrivals(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        check_arrivals(1 + (uint32_t)(seed % 5), 0.01 * (double)(seed % 3), 0.02, seed);
        check_arrivals(1 + (uint32_t)(seed % 5), 0.01 * (double)(1 + seed % 3), 0, seed);
    }
}

static void test_paced(void **state)
{
    struct df_graph *g;
    struct dfr_frames f;
    (void)state;
    begin(&f, &g, 0, 0.5, 0.125);
    assert_true(dfr_frames_job_s(&f, 0, 0, 0) == 0.125);
    assert_true(dfr_frames_job_s(&f, 0, 1, 0.125) == 0.5);
    assert_true(dfr_frames_job_s(&f, 0, 2, 3) == 0.125); /* late: at once, and its latency counts from when it was due */
    assert_true(f.taken_s[0] == 1.0);
    dfr_frames_wave_ended(&f, 0, 3.25);
    dfr_frames_wave_ended(&f, 0, 4);    /* no frame was taken meanwhile */
    assert_int_equal(f.waves, 1);
    assert_true(f.worst_s == 2.25);
    dfr_frames_destroy(&f);
    df_graph_free(g);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_quantiles(void **state)
{
    enum { N = 5000 };
    static double latency_s[N];
    struct df_live_stats stats;
    struct df_graph *g;
    struct dfr_frames f;
    uint64_t seed = 7;
    (void)state;
    begin(&f, &g, 1, 0, NAN);
    dfr_frames_stats(&f, &stats);
    assert_true(stats.waves == 0 && stats.median_s == 0 && stats.worst_s == 0);
    for (unsigned i = 0; i < N; i++) {
        latency_s[i] = exp((double)(dfr_random(&seed) % 100000) * 1e-4 - 8);
        f.taken_s[0] = 10;
        dfr_frames_wave_ended(&f, 0, 10 + latency_s[i]);
    }
    qsort(latency_s, N, sizeof *latency_s, by_size);
    dfr_frames_stats(&f, &stats);
    assert_int_equal(stats.waves, N);
    assert_true(stats.median_s >= latency_s[N / 2 - 1] * (1 - 1e-9) && stats.median_s <= latency_s[N / 2 - 1] * 1.02);
    assert_true(stats.most_s >= latency_s[N * 99 / 100 - 1] * (1 - 1e-9) && stats.most_s <= latency_s[N * 99 / 100 - 1] * 1.02);
    assert_true(fabs(stats.worst_s - latency_s[N - 1]) < 1e-9);
    for (unsigned i = 0; i < 2; i++) {  /* outside of all classes */
        f.taken_s[0] = 0;
        dfr_frames_wave_ended(&f, 0, i ? 1e30 : -1);
    }
    dfr_frames_stats(&f, &stats);
    assert_true(stats.waves == N + 2 && stats.worst_s == 1e30);
    dfr_frames_destroy(&f);
    df_graph_free(g);
}

static void test_refused(void **state)
{
    struct df_graph *g = NULL;
    (void)state;
    assert_int_equal(make_graph(1, DF_ORDERED, DF_CLASS_CPU, (struct df_live){ .newest = 1 }, &g), DF_E_ARGUMENT);
    assert_int_equal(make_graph(1, DF_STREAM, -1, (struct df_live){ .newest = 1 }, &g), DF_E_ARGUMENT);
    assert_int_equal(make_graph(1, DF_STREAM, DF_CLASS_CPU, (struct df_live){ .newest = DF_MAX_NEWEST + 1 }, &g), DF_E_ARGUMENT);
    assert_int_equal(make_graph(1, DF_STREAM, DF_CLASS_CPU, (struct df_live){ .newest = 1, .every_s = -1 }, &g), DF_E_ARGUMENT);
    assert_int_equal(make_graph(DF_MAX_LIVE + 1, DF_STREAM, DF_CLASS_CPU, (struct df_live){ .every_s = 1 }, &g), DF_E_ARGUMENT);
    assert_null(g);
    assert_int_equal(make_graph(DF_MAX_LIVE, DF_STREAM, DF_CLASS_CPU, (struct df_live){ .every_s = 1 }, &g), DF_OK);
    assert_int_equal(df_graph_live(g), 0);
    df_graph_free(g);
}

/* A caller who begins the waves, or calls again, may want a frame again. */
static void test_runs(void **state)
{
    struct df_session *session;
    struct df_options options;
    struct df_error error = { "" };
    struct df_run *run;
    struct df_graph *g;
    (void)state;
    assert_int_equal(make_graph(1, DF_STREAM, DF_CLASS_CPU, (struct df_live){ .newest = 1 }, &g), DF_OK);
    df_options_default(&options);
    options.device = DF_DEVICE_NONE;
    assert_int_equal(df_session_open(g, &options, &session, &error), DF_E_REFUSED);
    assert_non_null(strstr(error.text, "and a session may need a wave's frame again"));
    options.feed = 1;
    assert_int_equal(df_run_start(g, &options, &run, &error), DF_E_REFUSED);
    assert_non_null(strstr(error.text, "node 'main/camera' depends on the clock (@newest, @every), and a run with a journal, a chunk or ranks may need"));
    options.feed = 0;
    assert_int_equal(df_run_start(g, &options, &run, &error), DF_OK);
    assert_int_equal(df_run_wait(run, NULL, &error), DF_OK);
    df_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring), cmocka_unit_test(test_arrivals), cmocka_unit_test(test_paced), cmocka_unit_test(test_quantiles), cmocka_unit_test(test_refused), cmocka_unit_test(test_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
