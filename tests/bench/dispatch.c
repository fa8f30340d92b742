/* dispatch.c - what a job costs beside its kernel: graphs of known shapes (shapes.h), built by hand through df.h.
 *
 *   dispatch SHAPE NODES WORKERS TURNS RUNS POLICY
 *
 * prints the line of shape_runs_print(), and the bytes a node that a run allocates beside the graph and the tokens. A run is
 * several waves, one after the other, so that its start and end do not count. One run before those is checked. POLICY is a
 * name, or `default` for no policy. With `+trace` behind it a trace is written to the file that DISPATCH_TRACE names. With
 * `+calls` it is a session, and a run is some calls of one wave each (shape_calls()).
 *
 *   dispatch turns NS
 *
 * prints how many turns of the kernels' loop take so long.
 *
 * Compiled with -DON_OPENCL the nodes run on the first OpenCL device (opencl_node.h), and one more on the CPU reads the last one's value, which is what is checked.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <df.h>

#include "shapes.h"
#ifdef ON_OPENCL
#include <df_opencl.h>
#include "opencl_node.h"
#endif

#define EXPECTED_S 1e-6                 /* of each job: short, with work or without */

#ifdef ON_OPENCL
enum { on_opencl = 1 };
#else
enum { on_opencl = 0 };
#endif
static uint64_t turns;
static bool in_calls;

static uint32_t sum;                    /* of a run before those that are measured */

#ifdef ON_OPENCL
static int launch_node(struct df_call *call, void *stream, unsigned n_in, void *const *ports)
{
    static const uint32_t one[3] = {1, 1, 1};
    uint32_t wave = (uint32_t)df_wave(call) + 1;
    struct df_cl_arg args[4] = {{.value = &wave, .bytes = sizeof wave}};
    for (unsigned i = 0; i <= n_in; i++)
        args[i + 1] = (struct df_cl_arg){.port = ports[i], .bytes = sizeof(uint32_t)};
    return df_cl_launch(call, stream, opencl_node_names[n_in], one, one, args, n_in + 2);
}

#define LAUNCH_NODE(n)                                                                                                 \
    static int launch_node_##n(struct df_call *call, void *stream, const size_t *dims, void *const *ports,             \
                               const union df_scalar *scalars)                                                         \
    {                                                                                                                  \
        (void)dims, (void)scalars;                                                                                     \
        return launch_node(call, stream, n, ports);                                                                    \
    }
LAUNCH_NODE(0)
LAUNCH_NODE(1)
LAUNCH_NODE(2)

static struct df_functions functions_of(unsigned n_in, bool checking)
{
    static df_function *const launches[] = {launch_node_0, launch_node_1, launch_node_2};
    static const struct df_cl_source source = {.name = "opencl_node.h", .text = opencl_node_text, .bytes = sizeof opencl_node_text - 1};
    (void)checking;
    return (struct df_functions){.opencl = launches[n_in], .opencl_source = &source};
}

static int kernel_last(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                       const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims, (void)scalars;
    sum += *(uint32_t *)ports[0];
    return DF_OK;
}
#else
static int kernel_empty(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                        const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims, (void)ports, (void)scalars;
    return DF_OK;
}

static int kernel_work(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                       const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims, (void)ports, (void)scalars;
    shape_work(turns);
    return DF_OK;
}

/* A node gives one more than the sum of what it reads, times the number of
 * the wave, so that what an earlier wave left in a token counts as wrong. */
static int kernel_check(struct df_call *call, unsigned n_in, void *const *ports)
{
    uint32_t value = (uint32_t)df_wave(call) + 1;
    for (unsigned i = 0; i < n_in; i++)
        value += *(uint32_t *)ports[i];
    *(uint32_t *)ports[n_in] = value;
    __atomic_fetch_add(&sum, value, __ATOMIC_RELAXED);
    return DF_OK;
}

#define KERNEL_CHECK(n)                                                                                                \
    static int kernel_check_##n(struct df_call *call, void *stream, const size_t *dims, void *const *ports,            \
                                const union df_scalar *scalars)                                                        \
    {                                                                                                                  \
        (void)stream, (void)dims, (void)scalars;                                                                       \
        return kernel_check(call, n, ports);                                                                           \
    }
KERNEL_CHECK(0)
KERNEL_CHECK(1)
KERNEL_CHECK(2)

static struct df_functions functions_of(unsigned n_in, bool checking)
{
    static df_function *const checks[] = {kernel_check_0, kernel_check_1, kernel_check_2};
    return (struct df_functions){.cpu = checking ? checks[n_in] : turns ? kernel_work : kernel_empty};
}
#endif

static void must(int status, const struct df_error *error)
{
    if (status != DF_OK) {
        fprintf(stderr, "dispatch: error: %s\n", error->text);
        exit(1);
    }
}

struct making {
    struct df_builder *builder;
    uint32_t kernels[3];                /* by number of inputs; one i32 each, and one output */
};

static uint32_t make_kernel(struct df_builder *b, unsigned n_in, bool checking)
{
    static const char *const names[] = {"p0", "p1", "p2"};
    struct df_port_desc ports[3];
    struct df_error error;
    char name[16];
    uint32_t id;
    for (unsigned i = 0; i <= n_in; i++)
        ports[i] = (struct df_port_desc){names[i], i < n_in ? DF_IN : DF_OUT, DF_I32, 1};
    snprintf(name, sizeof name, "k%u", n_in);
    struct df_kernel_desc desc = {.name = name, .n_ports = n_in + 1, .ports = ports, .functions = functions_of(n_in, checking)};
    must(df_builder_kernel(b, &desc, &id, &error), &error);
    return id;
}

static uint32_t add_node(void *arg, unsigned n_in)
{
    static const uint64_t one[3][DF_MAX_RANK] = {{1}, {1}, {1}};
    struct making *m = arg;
    struct df_error error;
    uint32_t id;
    must(df_builder_node(m->builder, m->kernels[n_in], NULL, one, NULL, &id, &error), &error);
    return id;
}

static void add_arc(void *arg, uint32_t from, uint32_t to, unsigned slot)
{
    struct making *m = arg;
    struct df_error error;
    must(df_builder_connect(m->builder, from, 0, to, slot, &error), &error);
}

static struct df_graph *build(const char *shape, uint32_t n, bool checking)
{
    struct making m = {.builder = df_builder_new(shape)};
    struct df_graph *graph;
    struct df_error error = {"no memory"};
    must(m.builder ? DF_OK : DF_E_MEMORY, &error);
    for (unsigned i = 0; i < 3; i++)
        m.kernels[i] = make_kernel(m.builder, i, checking);
    must(df_builder_cost(m.builder, DF_CLASS_CPU, EXPECTED_S, &error), &error);
    shape_build(shape, n, add_node, add_arc, &m);
#ifdef ON_OPENCL
    static const struct df_port_desc last_port = {"v", DF_IN, DF_I32, 1};
    const struct df_kernel_desc last = {.name = "last", .n_ports = 1, .ports = &last_port, .functions = {.cpu = kernel_last}};
    uint32_t kernel, node;
    must(df_builder_kernel(m.builder, &last, &kernel, &error), &error);
    must(df_builder_node(m.builder, kernel, NULL, &(const uint64_t[DF_MAX_RANK]){1}, NULL, &node, &error), &error);
    must(df_builder_connect(m.builder, shape_nodes(shape, n) - 1, 0, node, 0, &error), &error);
#endif
    must(df_builder_finish(m.builder, &graph, &error), &error);
    df_builder_free(m.builder);
    return graph;
}

/* The same graph and options with kernels that check each other. */
static void check(const char *shape, uint32_t n, const struct df_options *options)
{
    struct df_graph *graph = build(shape, n, true);
    struct shape_check wanted;
    struct df_run *run;
    struct df_error error;
    uint32_t waves = (uint32_t)options->waves;
    must(shape_check_build(&wanted, shape, n) ? DF_OK : DF_E_MEMORY, &(struct df_error){"no memory"});
    must(df_run_start(graph, options, &run, &error), &error);
    must(df_run_wait(run, NULL, &error), &error);
    uint32_t all = shape_check_sum(&wanted), last = wanted.value[wanted.n - 1];
    if (sum != waves * (waves + 1) / 2 * (on_opencl ? last : all))
        must(DF_FAILED, &(struct df_error){"a node ran too early, twice or not at all"});
    df_graph_free(graph);
    shape_check_free(&wanted);
}

static uint64_t turns_of(double ns)
{
    double best = 1e9;
    for (int i = 0; i < 20; i++) {
        double begin = shape_seconds(CLOCK_MONOTONIC), s;
        shape_work(1000000);
        s = shape_seconds(CLOCK_MONOTONIC) - begin;
        best = s < best ? s : best;
    }
    return (uint64_t)(ns * 1e-9 / best * 1000000);
}

static void set_policy(struct df_options *options, char *word)
{
    char *trace = strstr(word, "+trace"), *calls = strstr(word, "+calls");

    in_calls = calls != NULL;
    if (calls)
        *calls = '\0';
    if (trace) {
        *trace = '\0';
        options->trace_path = getenv("DISPATCH_TRACE");
    }
    options->policy = strcmp(word, "default") == 0 ? NULL : word;
}

/* One run of the calls of a session: seconds for each, cpu time / wall time. */
static double call_often(struct df_session *session, int n, double *share)
{
    static const struct df_session_call one = {.waves = 1};
    struct df_error error;
    double cpu_begin = shape_seconds(CLOCK_PROCESS_CPUTIME_ID), begin = shape_seconds(CLOCK_MONOTONIC), wall;

    for (int i = 0; i < n; i++)
        must(df_session_run(session, &one, &error), &error);
    wall = shape_seconds(CLOCK_MONOTONIC) - begin;
    *share = (shape_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin) / wall;
    return wall / n;
}

static void run_calls(const struct df_graph *graph, const struct df_options *options, uint32_t n, int runs,
                      struct shape_runs *found)
{
    struct df_session *session;
    struct df_stats stats;
    struct df_error error;
    int calls = shape_calls(n, turns);
    double share;

    must(df_session_open(graph, options, &session, &error), &error);
    call_often(session, calls, &share); /* to warm up */
    for (int r = 0; r < runs; r++) {
        double call_s = call_often(session, calls, &share);
        shape_runs_add(found, call_s * 1e9 / n, share);
    }
    must(df_session_close(session, &stats, &error), &error);
    if (stats.jobs != (uint64_t)n * (uint64_t)calls * (uint64_t)(runs + 1))
        must(DF_FAILED, &(struct df_error){"not all jobs ran"});
}

static size_t allocated_bytes(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

int main(int argc, char **argv)
{
    struct df_options options;
    struct df_error error;
    struct shape_runs found = {.n = 0};
    size_t bytes = 0;

    if (argc == 3 && strcmp(argv[1], "turns") == 0) {
        printf("%llu\n", (unsigned long long)turns_of(atof(argv[2])));
        return 0;
    }
    if (argc != 7) {
        fprintf(stderr, "usage: dispatch SHAPE NODES WORKERS TURNS RUNS POLICY\n       dispatch turns NS\n");
        return 2;
    }
    turns = strtoull(argv[4], NULL, 10);
    uint32_t n = (uint32_t)strtoul(argv[2], NULL, 10);
    int runs = atoi(argv[5]);
    runs = runs < 1 ? 1 : runs > SHAPE_RUNS_MOST ? SHAPE_RUNS_MOST : runs;
    struct df_graph *graph = build(argv[1], n, false);
    df_options_default(&options);
    set_policy(&options, argv[6]);
    options.device = on_opencl ? DF_DEVICE_OPENCL : DF_DEVICE_NONE;
    options.workers = (unsigned)atoi(argv[3]);
    options.waves = n > 200000 ? 1 : SHAPE_WAVES;
    options.inflight = 1;
    check(argv[1], n, &options);
    if (in_calls)
        run_calls(graph, &options, shape_nodes(argv[1], n), runs, &found);
    for (int r = 0; r < runs && !in_calls; r++) {
        struct df_stats stats;
        struct df_run *run;
        double cpu_begin = shape_seconds(CLOCK_PROCESS_CPUTIME_ID), begin = shape_seconds(CLOCK_MONOTONIC);
        size_t before = allocated_bytes();
        must(df_run_start(graph, &options, &run, &error), &error);
        bytes = allocated_bytes() - before;
        must(df_run_wait(run, &stats, &error), &error);
        double wall = shape_seconds(CLOCK_MONOTONIC) - begin, cpu = shape_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin;
        if (stats.jobs != (uint64_t)(shape_nodes(argv[1], n) + on_opencl) * (uint64_t)options.waves)
            must(DF_FAILED, &(struct df_error){"not all jobs ran"});
        shape_runs_add(&found, stats.makespan_s * 1e9 / (double)stats.jobs, cpu / wall);
    }
    shape_runs_print(&found, (int)options.workers, turns);
    printf(" %.1f\n", (double)bytes / n);
    df_graph_free(graph);
    return 0;
}
