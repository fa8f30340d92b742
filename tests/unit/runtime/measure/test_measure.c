/* test_measure.c - the measuring mode. What is repeated sees the same inputs each time; what must not be repeated
 * runs once; what is known is left out; and the flow's own result is right, although its works were measured on the
 * way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/emu/emu_trial.h"
#include "runtime/engine/engine.h"
#include "runtime/graph/builder.h"
#include "runtime/inspect/watchdog.h"
#include "runtime/measure/measure_impl.h"
#include "runtime/threads/bind.h"

#define N 1000

static _Atomic unsigned sources, bumps, adds, taps, sinks; /* under load several threads call bump and add */
static bool bump_hangs;                 /* on a device, until the watchdog tells of it */
static atomic_uint expiries;
static bool sink_is_slow;               /* its first call */
static bool bump_fails;
static bool bump_strays;                /* on a device: behind its ports, but inside the device's memory */
static bool gpu_alone;                  /* bump has no cpu variant */
static float result;
static bool loaded, cold;               /* what is measured next is measured under load, too; with a cold cache */

static int source(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                  const union df_scalar *scalars)
{
    (void)call, (void)stream;
    sources++;
    for (size_t i = 0; i < dims[0]; i++)
        ((float *)ports[0])[i] = (float)scalars[0].i32;
    return DF_OK;
}

/* v += 1, with scratch that must be there. If v is not 1 before, it was not restored. */
static int bump(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                const union df_scalar *scalars)
{
    float *v = ports[0], *scratch = ports[1];
    (void)stream, (void)scalars;
    bumps++;
    while (bump_hangs && call->device && atomic_load(&expiries) == 0)
        usleep(1000);
    if (bump_fails && bumps == 3)
        return df_fail(call, "third %s", "bump");
    if (bump_strays && call->device)
        v[4200] = 1;
    if (v[0] != 1 || v[dims[0] - 1] != 1)
        return df_fail(call, "input changed to %g", v[0]);
    for (size_t i = 0; i < dims[0]; i++)
        scratch[i] = v[i] + 1;
    memcpy(v, scratch, dims[0] * sizeof *v);
    return DF_OK;
}

static const void *read_from[8];        /* where add found its first input; under load, in one of the threads beside */
static _Atomic unsigned n_read_from;
static unsigned awaited;                /* the measuring thread waits until the one beside it was at so many */
static pthread_t measuring, beside;

static void note_place(const void *input)
{
    for (unsigned i = 0; i < n_read_from; i++)
        if (read_from[i] == input)
            return;
    if (n_read_from < 8)
        read_from[n_read_from++] = input;
}

static void note_place_beside(const void *input)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (pthread_equal(pthread_self(), measuring)) {
        for (int i = 0; i < 5000 && n_read_from > 0 && n_read_from < awaited; i++)
            usleep(1000);
        return;
    }
    pthread_mutex_lock(&lock);
    if (n_read_from == 0)
        beside = pthread_self();
    if (pthread_equal(pthread_self(), beside))
        note_place(input);
    pthread_mutex_unlock(&lock);
}

static int add(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
               const union df_scalar *scalars)
{
    const float *a = ports[0], *b = ports[1];
    float *c = ports[2];
    (void)call, (void)stream, (void)scalars;
    (loaded ? note_place_beside : note_place)(a);
    adds++;
    for (size_t i = 0; i < dims[0]; i++)
        c[i] = a[i] + b[i];
    return DF_OK;
}

static int tap(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
               const union df_scalar *scalars)
{
    (void)stream, (void)scalars;
    taps++;
    df_log(call, DF_LOG_DEBUG, "wave %lld", (long long)df_wave(call));
    memcpy(ports[1], ports[0], dims[0] * sizeof(float));
    return DF_OK;
}

static int sink(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)scalars, (void)dims;
    if (sink_is_slow && sinks == 0)
        usleep(600000);
    sinks++;
    result = ((const float *)ports[0])[0];
    return DF_OK;
}

/* ---- the graph: a = source(1), b = bump(a), c = add(a, b), d = tap(c) (ordered), sink(d) ---- */

static const struct df_port_desc source_ports[] = { { "v", DF_OUT, DF_F32, 1 } },
                                 bump_ports[] = { { "v", DF_INOUT, DF_F32, 1 }, { "scratch", DF_TMP, DF_F32, 1 } },
                                 add_ports[] = { { "a", DF_IN, DF_F32, 1 },
                                                 { "b", DF_IN, DF_F32, 1 },
                                                 { "c", DF_OUT, DF_F32, 1 } },
                                 tap_ports[] = { { "a", DF_IN, DF_F32, 1 }, { "b", DF_OUT, DF_F32, 1 } },
                                 sink_ports[] = { { "v", DF_IN, DF_F32, 1 } };
static const struct df_scalar_desc source_scalars[] = { { "seed", DF_S_I32 } };
static const char *const dim_names[] = { "k" };

static uint32_t add_kernel(struct df_builder *b, const char *name, unsigned n_ports, const struct df_port_desc *ports,
                           unsigned traits, df_function *fn, bool gpu)
{
    struct df_kernel_desc desc = { .name = name, .n_dims = 1, .dims = dim_names, .n_ports = n_ports, .ports = ports,
                                   .traits = traits, .functions = { .cpu = fn } };
    struct df_kernel_info info = { .code_classes = gpu ? 3 : 1, .code_hash = { 0xabc, gpu ? 0xdef : 0 } };
    uint32_t kernel;
    if (fn == bump && gpu_alone) {
        desc.functions = (struct df_functions){ .gpu = fn };
        info.code_classes = 2;
    }
    if (fn == source) {
        desc.n_scalars = 1;
        desc.scalars = source_scalars;
    }
    assert_int_equal(df_builder_kernel(b, &desc, &kernel, NULL), DF_OK);
    assert_int_equal(df_builder_kernel_info(b, kernel, &info, NULL), DF_OK);
    return kernel;
}

static uint32_t add_node(struct df_builder *b, uint32_t kernel, const union df_scalar *scalars)
{
    const uint64_t dims[] = { N };
    static const uint64_t port_dims[3][DF_MAX_RANK] = { { N }, { N }, { N } };
    uint32_t node;
    assert_int_equal(df_builder_node(b, kernel, dims, port_dims, scalars, &node, NULL), DF_OK);
    return node;
}

static void connect(struct df_builder *b, uint32_t from, uint32_t to, unsigned to_slot)
{
    assert_int_equal(df_builder_connect(b, from, 0, to, to_slot, NULL), DF_OK);
}

static struct df_graph *make_graph(void)
{
    struct df_builder *b = df_builder_new("measured");
    struct df_graph *graph;
    struct df_error error = { "" };
    union df_scalar seed = { .i32 = 1 };
    uint32_t a = add_node(b, add_kernel(b, "source", 1, source_ports, 0, source, false), &seed);
    uint32_t bumped = add_node(b, add_kernel(b, "bump", 2, bump_ports, 0, bump, true), NULL);
    uint32_t c = add_node(b, add_kernel(b, "add", 3, add_ports, 0, add, false), NULL);
    uint32_t d = add_node(b, add_kernel(b, "tap", 2, tap_ports, DF_ORDERED, tap, true), NULL);
    uint32_t e = add_node(b, add_kernel(b, "sink", 1, sink_ports, 0, sink, false), NULL);
    connect(b, a, bumped, 0);
    connect(b, a, c, 0);
    connect(b, bumped, c, 1);
    connect(b, c, d, 0);
    connect(b, d, e, 0);
    if (df_builder_finish(b, &graph, &error) != DF_OK)
        fail_msg("%s", error.text);
    df_builder_free(b);
    sources = bumps = adds = taps = sinks = n_read_from = 0;
    bump_fails = false;
    result = 0;
    return graph;
}

/* Measures a program that is told to run `waves`. *text is what was written; the caller frees it. */
static int measure_waves(const struct df_graph *graph, enum df_device_kind device, int64_t waves, const char *known,
                         char **text, struct df_error *error)
{
    struct dfr_sampler_options sampler = { .goal = 0.5, .min_runs = 4, .max_runs = 6, .max_s = 1 };
    struct df_options options;
    size_t size;
    FILE *out = open_memstream(text, &size),
         *in = known ? fmemopen((char *)(uintptr_t)known, strlen(known), "r") : NULL;
    df_options_default(&options);
    options.device = device;
    options.waves = waves;
    options.emu_gpu_code = gpu_alone;
    int status = dfr_measure_to(graph, &options, &sampler, loaded, cold, out, in, error);
    fclose(out);
    if (in)
        fclose(in);
    return status;
}

static int measure(const struct df_graph *graph, enum df_device_kind device, const char *known, char **text,
                   struct df_error *error)
{
    return measure_waves(graph, device, -1, known, text, error);
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

static void works_are_measured_and_the_flow_is_right(void **state)
{
    (void)state;
    struct df_graph *graph = make_graph();
    struct df_error error = { "" };
    char *text;
    if (measure(graph, DF_DEVICE_NONE, NULL, &text, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_int_equal(sources, 1);
    assert_int_equal(taps, 1);
    assert_int_equal(sinks, 1);
    assert_in_range(bumps, 1 + 4 + 1, 1 + 6 + 1); /* warm-up, 4 to 6 measured, the flow */
    assert_in_range(adds, 1 + 4 + 1, 1 + 6 + 1);
    assert_true(result == 3);
    assert_has(text, "begin\t6\t0\n");  /* five kernels and the copy that the inout needs */
    assert_has(text, "sample\tcpu\tcpu\tbump\tk=1000\t\t0000000000000abc\t");
    assert_has(text, "sample\tcpu\tcpu\tsource\tk=1000\tseed=1\t0000000000000abc\t4000\t");
    assert_has(text, "sample\tcpu\tcpu\tcopy\t");
    assert_has(text, "\t6\nend\n");
    assert_null(strstr(text, "\tgpu\t"));
    free(text);
    df_graph_free(graph);
}

static void the_emulator_is_measured_too(void **state)
{
    (void)state;
    struct df_graph *graph = make_graph();
    struct df_error error = { "" };
    char *text;
    if (measure(graph, DF_DEVICE_EMU, NULL, &text, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_in_range(bumps, 2 * (1 + 4) + 1, 2 * (1 + 6) + 1);
    assert_int_equal(taps, 1);          /* it is ordered: it is not repeated for the emulator, either */
    assert_true(result == 3);
    assert_has(text, "begin\t8\t0\n");
    assert_has(text, "sample\temu\tgpu\tbump\tk=1000\t\t0000000000000abc\t"); /* its code is the cpu variant's */
    assert_has(text, "sample\temu\tgpu\tcopy\t");
    free(text);
    df_graph_free(graph);
}

static void what_has_gpu_code_alone_is_fired_on_the_device(void **state)
{
    (void)state;
    gpu_alone = true;
    struct df_graph *graph = make_graph();
    struct df_error error = { "" };
    char *text;
    int status = measure(graph, DF_DEVICE_EMU, NULL, &text, &error);
    gpu_alone = false;
    if (status != DF_OK)
        fail_msg("%s", error.text);
    assert_in_range(bumps, 1 + 4 + 1, 1 + 6 + 1);
    assert_true(result == 3);
    assert_has(text, "sample\temu\tgpu\tbump\tk=1000\t");
    assert_null(strstr(text, "cpu\tcpu\tbump"));
    free(text);
    df_graph_free(graph);
}

/* One source, 8 additions of its token and itself, and a sink for each. */
static struct df_graph *make_wide_graph(void)
{
    struct df_builder *b = df_builder_new("wide");
    struct df_graph *graph;
    union df_scalar seed = { .i32 = 1 };
    uint32_t add_number = add_kernel(b, "add", 3, add_ports, 0, add, false), sums[8];
    uint32_t a = add_node(b, add_kernel(b, "source", 1, source_ports, 0, source, false), &seed);
    uint32_t sink_number = add_kernel(b, "sink", 1, sink_ports, 0, sink, false);
    for (int i = 0; i < 8; i++) {
        sums[i] = add_node(b, add_number, NULL);
        connect(b, a, sums[i], 0);
        connect(b, a, sums[i], 1);
    }
    for (int i = 0; i < 8; i++)
        connect(b, sums[i], add_node(b, sink_number, NULL), 0);
    assert_int_equal(df_builder_finish(b, &graph, NULL), DF_OK);
    df_builder_free(b);
    sources = sinks = adds = n_read_from = 0;
    return graph;
}

/* Nine tokens are there at the same time, of which an addition has three: three copies in turns take as much memory. In
 * the other graph three tokens are there, so one copy does. */
static void repetitions_use_as_much_memory_as_a_wave(void **state)
{
    (void)state;
    struct df_graph *wide = make_wide_graph(), *narrow;
    struct df_error error = { "" };
    char *text;
    if (measure(wide, DF_DEVICE_NONE, NULL, &text, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_int_equal(n_read_from, 3 + 1); /* and the token of the flow */
    free(text);
    df_graph_free(wide);
    narrow = make_graph();
    if (measure(narrow, DF_DEVICE_NONE, NULL, &text, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_int_equal(n_read_from, 1 + 1);
    free(text);
    df_graph_free(narrow);
}

/* Threads that run it beside have as much memory each, or what they read would stay in the caches. */
static void threads_beside_use_as_much_memory_as_a_wave(void **state)
{
    (void)state;
    struct df_graph *wide = make_wide_graph();
    struct df_error error = { "" };
    char *text;
    measuring = pthread_self();
    loaded = true;
    awaited = 3;
    if (measure(wide, DF_DEVICE_NONE, NULL, &text, &error) != DF_OK)
        fail_msg("%s", error.text);
    loaded = false;
    awaited = 0;
    free(text);
    df_graph_free(wide);
    if (dfr_cores_count() < 2)
        skip();                         /* nothing runs beside */
    assert_int_equal(n_read_from, 3);
}

static void expire(void *arg)
{
    (void)arg;
    atomic_fetch_add(&expiries, 1);
}

/* A call takes longer than the watchdog allows: it is told of, and what is measured is written before that. Here
 * the process does not end then, so the measurement goes on. */
static void a_call_that_takes_too_long_is_told(void **state)
{
    (void)state;
    struct df_graph *graph = make_graph();
    struct dfr_sampler_options sampler = { .goal = 0.5, .min_runs = 4, .max_runs = 6, .max_s = 1 };
    struct df_options options;
    struct df_error error = { "" };
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);
    df_options_default(&options);
    options.device = DF_DEVICE_EMU;
    options.watchdog_s = 0.3;
    options.expired = expire;
    bump_hangs = true;
    int status = dfr_measure_to(graph, &options, &sampler, false, false, out, NULL, &error);
    bump_hangs = false;
    fclose(out);
    if (status != DF_OK)
        fail_msg("%s", error.text);
    assert_true(atomic_load(&expiries) >= 1); /* more: on a machine that is very slow now */
    const char *late = strstr(text, "late\t1\tgpu\tmain/bump\t0\t0.2999");
    assert_non_null(late);
    assert_non_null(strstr(text, "sample\tcpu\tcpu\tsource\t"));
    assert_true(strstr(text, "sample\tcpu\tcpu\tbump\t") < late);
    assert_non_null(strstr(late, "end\n"));
    free(text);
    df_graph_free(graph);
}

/* An OpenCL driver may compile a kernel when it is first launched, which takes PoCL longer than the 5 s of other devices. */
static void a_first_launch_on_opencl_has_time_to_compile(void **state)
{
    const struct dfr_device_ops opencl = { .runs_opencl = true }, other = { .runs_opencl = false };

    (void)state;
    assert_true(dfr_measure_limit_s(NULL, 0.1) == 5);
    assert_true(dfr_measure_limit_s(&other, 0.1) == 5);
    assert_true(dfr_measure_limit_s(&other, 2) == 20);
    assert_true(dfr_measure_limit_s(&opencl, 2) == 60);
    assert_true(dfr_measure_limit_s(&opencl, 7) == 70);
}

static double limit_s;                  /* the watchdog's last one: the linker puts this wrapper in place of dfr_watchdog_limit() */

void __real_dfr_watchdog_limit(struct dfr_watchdog *watchdog, double seconds);
void __wrap_dfr_watchdog_limit(struct dfr_watchdog *watchdog, double seconds);

void __wrap_dfr_watchdog_limit(struct dfr_watchdog *watchdog, double seconds)
{
    limit_s = seconds;
    __real_dfr_watchdog_limit(watchdog, seconds);
}

/* A call that runs a second time, beside others, may take ten times as long as alone: here at least 6 s, where 5 s would be allowed alone. */
static void a_slow_call_has_more_time_beside_others(void **state)
{
    (void)state;
    struct df_graph *graph = make_graph();
    struct dfr_sampler_options sampler = { .goal = 0.5, .min_runs = 4, .max_runs = 6, .max_s = 0.1 };
    struct df_options options;
    struct df_error error = { "" };
    const bool several = dfr_cores_count() > 1;
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);
    df_options_default(&options);
    options.device = DF_DEVICE_NONE;
    measuring = pthread_self();
    sink_is_slow = true;
    loaded = several;
    int status = dfr_measure_to(graph, &options, &sampler, loaded, false, out, NULL, &error);
    sink_is_slow = loaded = false;
    fclose(out);
    if (status != DF_OK)
        fail_msg("%s", error.text);
    assert_int_equal(sinks, several ? 2 : 1);
    assert_true(!several || limit_s >= 6);
    free(text);
    df_graph_free(graph);
}

/* Under load: what is repeated is measured beside itself and beside the triad, too; for the others the flow runs a second time, beside
 * the triad. */
static void load_is_measured_beside_others(void **state)
{
    (void)state;
    struct df_graph *graph = make_graph();
    struct df_error error = { "" };
    char *text, *again;
    bool several = dfr_cores_count() > 1;
    measuring = pthread_self();
    loaded = true;
    if (measure(graph, DF_DEVICE_EMU, "cpu\tcpu\tadd\tk=1000\t\t0000000000000abc\t12000\n", &text, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_int_equal(sources, several ? 2 : 1);
    assert_int_equal(taps, several ? 2 : 1);
    assert_true(result == 3);
    assert_has(text, several ? "begin\t8\t0\n" : "begin\t7\t1\n"); /* that `add` was measured alone is not enough */
    assert_has(text, "unloaded\temu\tgpu\tbump\tk=1000\t\t0000000000000abc\t8096\tonly cpu variants are\n");
    if (several) {
        char line[64];
        snprintf(line, sizeof line, "loaded\t%u\t", (unsigned)dfr_cores_count());
        assert_has(text, line);
        const char *load = strstr(text, line), *sample = strchr(load, '\n');
        double self_s, triad_s, one, all;
        assert_int_equal(sscanf(load + strlen(line), "%lf\t%lf\t%lf\t%lf\n", &self_s, &triad_s, &one, &all), 4);
        assert_true(self_s > 0 && triad_s > 0 && one > 1e6 && all > 1e6);
        assert_true(!strncmp(sample, "\nsample\tcpu\tcpu\t", 16)); /* of which it tells */
        snprintf(line, sizeof line, "loaded\t%u\t0\t", (unsigned)dfr_cores_count()); /* the source is never beside itself */
        load = strstr(text, line);
        assert_non_null(load);
        assert_true(strstr(load, "sample\tcpu\tcpu\tsource\t") != NULL);
    } else {
        assert_has(text, "no other worker runs beside it\n");
    }
    df_graph_free(graph);

    graph = make_graph();
    assert_int_equal(measure(graph, DF_DEVICE_NONE, "cpu\tcpu\tadd\tk=1000\t\t0000000000000abc\t12000\n"
                             "cpu\tcpu\tadd\tk=1000\t\t0000000000000abc\t12000\tloaded\n", &again, &error), DF_OK);
    assert_has(again, "begin\t5\t1\n");
    bump_fails = true;                  /* in one of the threads, or before them */
    bumps = 0;
    free(again);
    assert_int_equal(measure(graph, DF_DEVICE_NONE, NULL, &again, &error), DF_E_KERNEL);
    assert_has(error.text, "third bump");
    loaded = false;
    free(text);
    free(again);
    df_graph_free(graph);
}

/* ---- waves: those of a run, and of a stream all ---- */

/* Each wave's tokens are freed after their last reader. Under a sanitizer the figure is 0, and leaks are found anyway. */
static void no_wave_leaves_memory(void **state)
{
    struct df_error error = { "" };
    size_t kept[2];
    (void)state;
    for (int i = 0; i < 2; i++) {       /* the first time, libraries take what they keep */
        struct df_graph *graph = make_graph();
        char *text;
        size_t before = mallinfo2().uordblks;
        assert_int_equal(measure_waves(graph, DF_DEVICE_NONE, 20, NULL, &text, &error), DF_OK);
        free(text);
        kept[i] = mallinfo2().uordblks - before;
        df_graph_free(graph);
    }
    assert_true(kept[1] < 10 * 4 * N);  /* a token for each wave would be 20; the allocator may count some that are freed */
}

static void assert_sample(const char *text, const char *kernel, double least_s, double most_s, uint32_t runs)
{
    char start[80];
    snprintf(start, sizeof start, "sample\tcpu\tcpu\t%s\t", kernel);
    const char *line = strstr(text, start);
    double mean_s;
    uint32_t n;
    assert_non_null(line);
    for (int tabs = 0; tabs < 8; line++)
        tabs += *line == '\t';
    assert_int_equal(sscanf(line, "%lf\t%*s\t%" SCNu32, &mean_s, &n), 2);
    assert_int_equal(n, runs);
    if (!(mean_s >= least_s && mean_s <= most_s))
        fail_msg("%s: %g s", kernel, mean_s);
}

static void flow_kernels_run_once_in_each_wave_of_a_run(void **state)
{
    (void)state;
    struct df_graph *graph = make_graph();
    struct df_error error = { "" };
    char *text;
    assert_int_equal(measure_waves(graph, DF_DEVICE_EMU, 5, NULL, &text, &error), DF_OK);
    assert_int_equal(sources, 5);
    assert_int_equal(taps, 5);
    assert_int_equal(sinks, 5);
    assert_in_range(bumps, 2 * (1 + 4) + 5, 2 * (1 + 6) + 5); /* repeated in the first wave alone */
    assert_true(result == 3);
    assert_sample(text, "source", 0, 1, 5);
    assert_sample(text, "tap", 0, 1, 5);
    free(text);
    unsigned before = sources;
    assert_int_equal(measure_waves(graph, DF_DEVICE_EMU, 50, NULL, &text, &error), DF_OK);
    assert_in_range(sources - before, 2, 6); /* the sampler's max_runs */
    free(text);
    df_graph_free(graph);
}

static int64_t stream_end;

/* Its first call and its sink's last one are long, as if a file were opened and closed. */
static int read_some(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                     const union df_scalar *scalars)
{
    (void)stream, (void)scalars;
    if (df_wave(call) == 0)
        usleep(30000);
    memset(ports[0], 0, dims[0] * sizeof(float));
    return df_wave(call) == stream_end ? DF_END : DF_OK;
}

static int write_some(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                      const union df_scalar *scalars)
{
    (void)stream, (void)scalars, (void)dims, (void)ports;
    if (df_wave(call) == stream_end - 1)
        usleep(30000);
    return DF_OK;
}

static struct df_graph *make_stream(void)
{
    struct df_builder *b = df_builder_new("stream");
    struct df_graph *graph;
    struct df_error error = { "" };
    uint32_t from = add_node(b, add_kernel(b, "read", 1, source_ports, DF_STREAM, read_some, false), NULL);
    uint32_t to = add_node(b, add_kernel(b, "write", 1, sink_ports, DF_ORDERED, write_some, false), NULL);
    connect(b, from, to, 0);
    if (df_builder_finish(b, &graph, &error) != DF_OK)
        fail_msg("%s", error.text);
    df_builder_free(b);
    return graph;
}

static void of_a_whole_stream_all_calls_count_and_else_the_usual_ones(void **state)
{
    (void)state;
    struct df_graph *graph = make_stream();
    char *text;
    stream_end = 5;
    assert_int_equal(measure(graph, DF_DEVICE_NONE, NULL, &text, NULL), DF_OK);
    assert_sample(text, "read", 0.030 / 5, 1, 5);
    assert_sample(text, "write", 0.030 / 5, 1, 5);
    free(text);
    stream_end = 1000;                  /* max_runs is 6: the end is not seen, and of 6 calls one is
                                         * unlike the others */
    assert_int_equal(measure(graph, DF_DEVICE_NONE, NULL, &text, NULL), DF_OK);
    assert_sample(text, "read", 0, 0.030 / 6, 6);
    assert_sample(text, "write", 0, 0.030 / 6, 6);
    free(text);
    df_graph_free(graph);
}

/* The sample lines of `text` as known keys. */
static void write_keys(const char *text, FILE *out)
{
    char *copy = strdup(text), *place = NULL;
    for (char *line = strtok_r(copy, "\n", &place); line; line = strtok_r(NULL, "\n", &place)) {
        if (strncmp(line, "sample\t", 7) != 0)
            continue;
        char *end = line + 7;
        for (int tabs = 0; tabs < 7; end++)
            tabs += *end == '\t';
        fprintf(out, "%.*s\n", (int)(end - 1 - (line + 7)), line + 7);
    }
    free(copy);
}

static void what_is_known_is_left_out(void **state)
{
    (void)state;
    struct df_graph *graph = make_graph();
    char *text, *again, *keys = NULL;
    size_t size;
    assert_int_equal(measure(graph, DF_DEVICE_EMU, NULL, &text, NULL), DF_OK);
    FILE *out = open_memstream(&keys, &size);
    write_keys(text, out);
    fclose(out);
    unsigned before = sources + bumps + adds + taps + sinks;
    assert_int_equal(measure(graph, DF_DEVICE_EMU, keys, &again, NULL), DF_OK);
    assert_string_equal(again, "begin\t0\t8\nend\n");
    assert_int_equal(sources + bumps + adds + taps + sinks, before); /* nothing to do, nothing done */
    free(again);

    assert_has(keys, "cpu\tcpu\tbump");
    memcpy(strstr(keys, "cpu\tcpu\tbump"), "gpu", 3); /* one forgotten */
    assert_int_equal(measure(graph, DF_DEVICE_EMU, keys, &again, NULL), DF_OK);
    assert_has(again, "begin\t1\t7\n");
    assert_has(again, "sample\tcpu\tcpu\tbump");
    assert_null(strstr(again, "\tadd\t"));
    free(keys);
    free(text);
    free(again);
    df_graph_free(graph);
}

static void a_failure_names_the_node(void **state)
{
    (void)state;
    struct df_graph *graph = make_graph();
    struct df_error error = { "" };
    char *text;
    bump_fails = true;
    assert_int_equal(measure(graph, DF_DEVICE_NONE, NULL, &text, &error), DF_E_KERNEL);
    assert_has(error.text, "bump");
    assert_has(error.text, "third bump");
    assert_null(strstr(text, "end\n"));
    assert_int_equal(sinks, 0);
    free(text);
    bumps = 0;
    assert_int_equal(measure(graph, DF_DEVICE_EMU, NULL, &text, &error), DF_E_KERNEL);
    free(text);
    df_graph_free(graph);
}

static void a_launch_that_fails_names_the_node(void **state)
{
    (void)state;
    struct df_graph *graph = make_graph();
    struct df_error error = { "" };
    struct dfr_sampler_options sampler = { .goal = 0.5, .min_runs = 4, .max_runs = 6, .max_s = 1 };
    struct df_options options;
    for (int kind = 0; kind < 2; kind++) {
        FILE *out = fopen("/dev/null", "w");
        df_options_default(&options);
        options.device = DF_DEVICE_EMU;
        struct dfr_emu_trial trial = { .fail = { 0 } };
        trial.fail[kind ? DFR_EMU_CALL_LATE_LAUNCH : DFR_EMU_CALL_LAUNCH] = 1;
        dfr_emu_trial_use(&trial);
        assert_int_equal(dfr_measure_to(graph, &options, &sampler, false, false, out, NULL, &error), DF_E_DEVICE);
        assert_has(error.text, "node 'main/bump', wave 0: emu0: ");
        assert_has(error.text, "launch 1 failed, as asked for");
        dfr_emu_trial_use(NULL);
        fclose(out);
    }
    df_graph_free(graph);
}

/* The emulator protects its memory as in a run: that takes time, which so is a part of what is measured. */
static void the_emulator_checks_what_kernels_touch_if_a_run_does(void **state)
{
    (void)state;
    struct df_graph *graph = make_graph();
    struct df_error error = { "" };
    struct dfr_sampler_options sampler = { .goal = 0.5, .min_runs = 4, .max_runs = 6, .max_s = 1 };
    struct df_options options;
    bump_strays = true;
    for (int checked = 0; checked < 2; checked++) {
        FILE *out = fopen("/dev/null", "w");
        df_options_default(&options);
        options.device = DF_DEVICE_EMU;
        options.emu_check = checked;
        int status = dfr_measure_to(graph, &options, &sampler, false, false, out, NULL, &error);
        if (status != (checked ? DF_E_KERNEL : DF_OK))
            fail_msg("%d: %s", status, error.text);
        fclose(out);
    }
    assert_has(error.text, "node 'main/bump', wave 0: it wrote to memory of emu0 that it did not declare");
    bump_strays = false;
    df_graph_free(graph);
}

static void results_that_cannot_be_written_end_it(void **state)
{
    (void)state;
    struct df_graph *graph = make_graph();
    struct df_error error = { "" };
    struct dfr_sampler_options sampler = DFR_SAMPLER_DEFAULT;
    struct df_options options;
    FILE *full = fopen("/dev/full", "w");
    df_options_default(&options);
    options.device = DF_DEVICE_NONE;
    assert_int_equal(dfr_measure_to(graph, &options, &sampler, false, false, full, NULL, &error), DF_E_IO);
    assert_int_equal(bumps, 0);
    fclose(full);
    df_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(works_are_measured_and_the_flow_is_right),
        cmocka_unit_test(the_emulator_is_measured_too),
        cmocka_unit_test(what_has_gpu_code_alone_is_fired_on_the_device),
        cmocka_unit_test(repetitions_use_as_much_memory_as_a_wave),
        cmocka_unit_test(a_call_that_takes_too_long_is_told),
        cmocka_unit_test(a_first_launch_on_opencl_has_time_to_compile),
        cmocka_unit_test(a_slow_call_has_more_time_beside_others),
        cmocka_unit_test(threads_beside_use_as_much_memory_as_a_wave),
        cmocka_unit_test(load_is_measured_beside_others),
        cmocka_unit_test(no_wave_leaves_memory),
        cmocka_unit_test(flow_kernels_run_once_in_each_wave_of_a_run),
        cmocka_unit_test(of_a_whole_stream_all_calls_count_and_else_the_usual_ones),
        cmocka_unit_test(what_is_known_is_left_out),
        cmocka_unit_test(a_failure_names_the_node),
        cmocka_unit_test(a_launch_that_fails_names_the_node),
        cmocka_unit_test(the_emulator_checks_what_kernels_touch_if_a_run_does),
        cmocka_unit_test(results_that_cannot_be_written_end_it),
    };
    return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
