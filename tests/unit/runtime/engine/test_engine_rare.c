/* test_engine_rare.c - what a run meets seldom: a kernel that fails twice, that ends while others wait for a gang, or
 * that damages the run's own memory, so that the engine's internal errors are told; a once job that fails; buffers that
 * are odd; a single job whose device refuses. The graphs are made by public calls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "runtime/base/error.h"
#include "runtime/start/back_ends.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/gang.h"
#include "runtime/engine/single_job.h"
#include "runtime/graph/builder.h"
#include "runtime/threads/clock.h"

enum { K = 8 };
#define BYTES (K * sizeof(int64_t))

/* ---- kernels ---- */

#define KERNEL(name) \
    static int name(struct df_call *call, void *stream, const size_t *dims, void *const *ports, \
                    const union df_scalar *scalars)
#define UNUSED (void)call, (void)stream, (void)dims, (void)ports, (void)scalars

KERNEL(good)
{
    UNUSED;
    return DF_OK;
}

KERNEL(fails_twice)
{
    UNUSED;
    assert_int_equal(df_fail(call, "the %s reason", "first"), DF_FAILED);
    return df_fail(call, "the second reason");
}

/* Takes the host memory of all blocks. */
KERNEL(greedy)
{
    struct dfm_space *space = call->run->memory.space;
    UNUSED;
    for (uint32_t block = 0; block < space->n_values; block++)
        while (dfm_space_host_take(space, block))
            ;
    return DF_OK;
}

/* Says of value 0 that nobody has it. */
KERNEL(forgetful)
{
    UNUSED;
    atomic_store(&call->run->memory.space->blocks[dfr_block_of(call->run, 0, dfr_job_slot(call->job))].valid, 0);
    return DF_OK;
}

static _Atomic unsigned begun;

KERNEL(fails_in_gang)                   /* when a gang gathers */
{
    double begin_s = dfr_clock_s();
    UNUSED;
    atomic_fetch_add(&begun, 1);
    while (!dfr_gang_gathers(call->run->threads.gang))
        if (dfr_clock_s() > begin_s + 10)
            return df_fail(call, "no gang gathers");
    return df_fail(call, "as meant");
}

KERNEL(waits_for_begun)
{
    double begin_s = dfr_clock_s();
    UNUSED;
    while (atomic_load(&begun) < 2)
        if (dfr_clock_s() > begin_s + 10)
            return df_fail(call, "the other jobs do not begin");
    return DF_OK;
}

static bool ran;

KERNEL(notes)
{
    UNUSED;
    ran = true;
    return DF_OK;
}

/* Ends a while after the run has stopped. */
KERNEL(keeps_worker)
{
    double begin_s = dfr_clock_s();
    UNUSED;
    atomic_fetch_add(&begun, 1);
    while (!dfr_stopped(call->run))
        if (dfr_clock_s() > begin_s + 10)
            return df_fail(call, "nothing stops the run");
    nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
    return DF_OK;
}

/* ---- graphs ---- */

static struct df_builder *builder;
static int hint = DF_CLASS_CPU;         /* of the next nodes */

/* modes: a letter for each port: i(n), o(ut), b(oth). Gives a new node's number. */
static uint32_t node_of(const char *name, df_function *function, const char *modes, unsigned traits, uint32_t threads,
                        uint64_t elements, uint32_t ordinal)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    struct df_port_desc ports[4];
    uint64_t dims[4][DF_MAX_RANK] = { { elements }, { elements }, { elements }, { elements } };
    struct df_error error;
    uint32_t kernel, node = 0;
    struct df_kernel_desc desc = { .name = name, .n_ports = (unsigned)strlen(modes), .ports = ports, .traits = traits,
                                   .functions = { .cpu = function, .gpu = function } };

    if (!builder)
        builder = df_builder_new("g");
    for (unsigned p = 0; p < desc.n_ports; p++)
        ports[p] = (struct df_port_desc){ names[p], modes[p] == 'i' ? DF_IN : modes[p] == 'o' ? DF_OUT : DF_INOUT,
                                          DF_I64, 1 };
    if (df_builder_kernel(builder, &desc, &kernel, &error) != DF_OK ||
        df_builder_node_desc(builder, &(struct df_node_desc){ .kernel = kernel,
                                                              .port_dims = (const uint64_t(*)[DF_MAX_RANK])dims,
                                                              .threads = threads, .ordinal = ordinal,
                                                              .hint_class = hint },
                             &node, &error) != DF_OK)
        fail_msg("%s", error.text);
    return node;
}

static uint32_t node(const char *name, df_function *function, const char *modes)
{
    return node_of(name, function, modes, 0, 1, K, 0);
}

static void arc(uint32_t from, uint32_t to, unsigned slot)
{
    struct df_error error;
    if (df_builder_connect(builder, from, 0, to, slot, &error) != DF_OK)
        fail_msg("%s", error.text);
}

static struct df_graph *graph_of(void)
{
    struct df_graph *graph = NULL;
    struct df_error error;
    if (df_builder_finish(builder, &graph, &error) != DF_OK)
        fail_msg("%s", error.text);
    df_builder_free(builder);
    builder = NULL;
    return graph;
}

static struct df_options options_of(const char *policy, enum df_device_kind device, unsigned workers)
{
    struct df_options o;
    df_options_default(&o);
    o.policy = policy;
    o.device = device;
    o.workers = workers;
    o.waves = 2;
    o.log_level = DF_LOG_ERROR;
    return o;
}

static int run(const struct df_graph *graph, const struct df_options *o, struct df_error *error)
{
    struct df_run *started;
    int status = df_run_start(graph, o, &started, error);
    return status == DF_OK ? df_run_wait(started, NULL, error) : status;
}

static void fails(struct df_graph *graph, const struct df_options *o, int status, const char *text)
{
    struct df_error error = { "" };
    assert_int_equal(run(graph, o, &error), status);
    assert_string_equal(error.text, text);
}

/* ---- failures ---- */

static void test_first_reason(void **state)
{
    struct df_options o = options_of("ws", DF_DEVICE_NONE, 1);
    struct df_graph *graph;

    (void)state;
    node("twice", fails_twice, "o");
    graph = graph_of();
    fails(graph, &o, DF_E_KERNEL, "node 'main/twice', wave 0: the first reason");
    df_graph_free(graph);
}

/* It is the first in the list of a single worker; the jobs of the waves are not run. */
static void test_once_fails(void **state)
{
    struct df_options o = options_of("ws", DF_DEVICE_NONE, 1);
    struct df_graph *graph;
    uint32_t once, reader;

    (void)state;
    once = node_of("once", fails_twice, "o", DF_ONCE, 1, K, 0);
    reader = node("reader", notes, "i");
    arc(once, reader, 0);
    graph = graph_of();
    ran = false;
    fails(graph, &o, DF_E_KERNEL, "node 'main/once', wave 0: the first reason");
    assert_false(ran);
    df_graph_free(graph);
}

/* One worker leads a gang of three and waits for the others: one keeps its job, the other's job fails. The run ends. */
static void test_gang_waits_in_vain(void **state)
{
    static const char *const policies[] = { "ws", "eager" };

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct df_options o = options_of(policies[i], DF_DEVICE_NONE, 3);
        struct df_graph *graph;
        uint32_t waits, gang;

        node("fails", fails_in_gang, "o");
        node("keeps", keeps_worker, "o");
        waits = node("waits", waits_for_begun, "o");
        gang = node_of("gang", good, "i", 0, 3, K, 0);
        arc(waits, gang, 0);
        graph = graph_of();
        o.waves = 1;
        atomic_store(&begun, 0);
        fails(graph, &o, DF_E_KERNEL, "node 'main/fails', wave 0: as meant");
        df_graph_free(graph);
    }
}

/* Who takes a gang's job when the run has stopped leads no gang. */
static void test_gang_of_stopped_run(void **state)
{
    static struct df_run stopped;
    struct dfr_worker w = { .run = &stopped };
    struct dfr_gang *gang = dfr_gang_create();

    (void)state;
    assert_non_null(gang);
    atomic_store(&stopped.outcome.stop, DFR_RUN_FAILED);
    assert_false(dfr_gang_lead(gang, &w, 2));
    assert_false(dfr_gang_gathers(gang));
    dfr_gang_destroy(gang);
}

/* ---- internal errors ---- */

/* Whether one worker has a list, several have deques, or jobs come from the policy. */
static void test_no_host_memory(void **state)
{
    static const struct {
        const char *policy;
        enum df_device_kind device;
        unsigned workers;
        uint64_t elements;
        double watchdog_s;
    } kinds[] = { { "ws", DF_DEVICE_NONE, 1, 1 << 18, 0 }, /* too large for fixed addresses */
                  { "ws", DF_DEVICE_NONE, 2, K, 100 },     /* a run that is looked into has blocks */
                  { "dmda", DF_DEVICE_EMU, 1, K, 0 } };

    (void)state;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct df_options o = options_of(kinds[i].policy, kinds[i].device, kinds[i].workers);
        struct df_graph *graph;
        uint32_t greedy_, next;

        greedy_ = node_of("greedy", greedy, "o", 0, 1, kinds[i].elements, 0);
        next = node_of("next", good, "io", 0, 1, kinds[i].elements, 0);
        arc(greedy_, next, 0);
        graph = graph_of();
        o.watchdog_s = kinds[i].watchdog_s;
        o.inflight = 1;
        fails(graph, &o, DF_E_KERNEL, "node 'main/next', wave 0: internal error: more tokens live than were planned");
        df_graph_free(graph);
    }
}

/* The copy of what a GPU made finds none either. */
static void test_no_host_memory_for_copy(void **state)
{
    struct df_options o = options_of("dmda", DF_DEVICE_EMU, 1);
    struct df_graph *graph;
    uint32_t greedy_, made, reads;

    (void)state;
    greedy_ = node("greedy", greedy, "o");
    hint = DF_CLASS_GPU;
    made = node("made", good, "io");
    hint = DF_CLASS_CPU;
    reads = node("reads", good, "ii"); /* so what greedy made is not given back before that */
    arc(greedy_, made, 0);
    arc(made, reads, 0);
    arc(greedy_, reads, 1);
    graph = graph_of();
    o.inflight = 1;
    fails(graph, &o, DF_E_DEVICE, "internal error: more tokens live than were planned");
    df_graph_free(graph);
}

static void test_nobody_has_it(void **state)
{
    struct df_options o = options_of("dmda", DF_DEVICE_EMU, 1);
    struct df_graph *graph;
    uint32_t made, forgets, reads;

    (void)state;
    made = node("made", good, "o");
    forgets = node("forgets", forgetful, "io");
    reads = node("reads", good, "ii");
    arc(made, forgets, 0);
    arc(made, reads, 0);
    arc(forgets, reads, 1);
    graph = graph_of();
    o.inflight = 1;
    fails(graph, &o, DF_E_DEVICE, "internal error: no memory holds value 0");
    df_graph_free(graph);
}

/* ---- buffers ---- */

static void test_buffers(void **state)
{
    static int64_t memory[64 * K];
    struct df_options o = options_of("ws", DF_DEVICE_NONE, 1);
    struct df_buffer b[2] = { { .node = "main/two", .data = memory, .bytes = sizeof memory } };
    struct df_error error;
    struct df_graph *graph;

    (void)state;
    o.buffers = b;
    o.n_buffers = 1;

    node_of("two", good, "o", 0, 1, K, 1); /* the builder of a program that embeds libdf gives names as it likes */
    node_of("two", good, "o", 0, 1, K, 1);
    graph = graph_of();
    b[0].node = "main/two#1";
    fails(graph, &o, DF_E_ARGUMENT, "buffer of node 'main/two#1', output 0: several nodes have this name");
    df_graph_free(graph);

    node("two", good, "oo");
    graph = graph_of();
    b[0].node = "main/two";
    b[0].given = 1;
    fails(graph, &o, DF_E_ARGUMENT, "buffer of node 'main/two', output 0: it is given, but output 1 of node 'main/two' "
                                    "is not: a node is called for all it makes or for nothing");
    b[0].given = 0;
    b[0].bytes = 0;
    o.waves = 0;                        /* no token, so no byte is needed */
    assert_int_equal(run(graph, &o, &error), DF_OK);
    o.waves = 2;
    b[0] = (struct df_buffer){ .node = "main/two", .data = memory, .bytes = 4 * BYTES, .stride_bytes = 2 * BYTES };
    b[1] = (struct df_buffer){ .node = "main/two", .out_slot = 1, .data = memory + K, .bytes = 4 * BYTES,
                               .stride_bytes = 3 * BYTES };
    o.n_buffers = 2;
    fails(graph, &o, DF_E_ARGUMENT, "buffer of node 'main/two', output 1: it has bytes in common with that of node "
                                    "'main/two', output 0");
    df_graph_free(graph);

    node_of("nothing", good, "o", 0, 1, 0, 0);
    graph = graph_of();
    b[0] = (struct df_buffer){ .node = "main/nothing", .data = memory };
    o.n_buffers = 1;
    assert_int_equal(run(graph, &o, &error), DF_OK);
    df_graph_free(graph);
}

static int64_t *places_of[2];
static uint32_t turns_of[2];

/* A stream that ends after 24 waves; checks that its output is in its turn's place. */
KERNEL(in_turn)
{
    int64_t wave = df_wave(call);
    UNUSED;
    for (int i = 0; i < 2; i++)
        if (ports[i] != places_of[i] + (uint64_t)wave % turns_of[i] * K)
            return df_fail(call, "port %d of wave %lld is elsewhere", i, (long long)wave);
    return wave < 24 ? DF_OK : DF_END;
}

/* Two buffers with 4 and with 6 places in turn: as many waves are in flight as divide both. */
static void test_turns(void **state)
{
    static int64_t memory[10 * K];
    struct df_options o = options_of("ws", DF_DEVICE_NONE, 2);
    struct df_buffer b[2] = { { .node = "main/both", .data = memory, .bytes = 4 * BYTES, .n_tokens = 4 },
                              { .node = "main/both", .out_slot = 1, .data = memory + 4 * K, .bytes = 6 * BYTES,
                                .n_tokens = 6 } };
    struct df_error error = { "" };
    struct df_stats stats;
    struct df_graph *graph;
    struct df_run *started;

    (void)state;
    node_of("both", in_turn, "oo", DF_STREAM, 1, K, 0);
    graph = graph_of();
    for (int i = 0; i < 2; i++) {
        places_of[i] = b[i].data;
        turns_of[i] = (uint32_t)b[i].n_tokens;
    }
    o.waves = -1;
    o.buffers = b;
    o.n_buffers = 2;
    if (df_run_start(graph, &o, &started, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_true(started->inflight == 1 || started->inflight == 2);
    if (df_run_wait(started, &stats, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_int_equal(stats.waves, 24);
    df_graph_free(graph);
}

/* ---- a job by itself ---- */

static struct dfr_device_ops refusing;

static int refuse_event(struct dfr_device *device, struct dfr_event **event, struct df_error *error)
{
    (void)device, (void)event;
    return dfr_error(error, DF_E_DEVICE, "no more events");
}

static int refuse_copy(struct dfr_device *device, enum dfr_copy kind, void *to, const void *from, uint64_t bytes,
                       uint32_t stream, struct df_error *error)
{
    if (kind == DFR_COPY_D2D)
        return dfr_error(error, DF_E_DEVICE, "no copy of %llu bytes", (unsigned long long)bytes);
    return dfr_back_end_of(DF_DEVICE_EMU)->copy(device, kind, to, from, bytes, stream, error);
}

static int open_refusing(uint32_t index, const struct dfr_device_config *config, struct dfr_device **device,
                         struct df_error *error)
{
    int status = dfr_back_end_of(DF_DEVICE_EMU)->open(index, config, device, error);
    if (status == DF_OK)
        (*device)->ops = &refusing;
    return status;
}

static void test_single_job(void **state)
{
    static struct df_run alone;
    int64_t memory[K] = { 0 };
    void *ports[] = { memory };
    struct dfr_single_job job = { .node = 1, .ports = ports };
    struct dfr_single_gpu *gpu = NULL;
    struct df_error error;
    double seconds;
    uint32_t made, changed;

    (void)state;
    made = node("made", good, "o");
    changed = node("changed", good, "b");
    arc(made, changed, 0);
    alone.graph = graph_of();
    alone.options = options_of("ws", DF_DEVICE_EMU, 1);
    refusing = *dfr_back_end_of(DF_DEVICE_EMU);
    refusing.open = open_refusing;

    refusing.event_create = refuse_event;
    assert_int_equal(dfr_single_gpu_open(&alone, &refusing, 4096, 0, &gpu, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "no more events");
    assert_null(gpu);
    refusing.event_create = dfr_back_end_of(DF_DEVICE_EMU)->event_create;

    refusing.copy = refuse_copy;        /* before the launch an inout's input is restored, on the device */
    assert_int_equal(dfr_single_gpu_open(&alone, &refusing, 4096, 0, &gpu, &error), DF_OK);
    assert_true(dfr_single_gpu_fits(gpu, alone.graph->nodes[changed].work));
    assert_int_equal(dfr_single_gpu_bring(gpu, &job, &error), DF_OK);
    assert_int_equal(dfr_single_gpu_launch(gpu, &job, &seconds, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "no copy of 64 bytes");
    dfr_single_gpu_close(gpu);

    gpu = NULL;                         /* nothing is asked for: there is a pool all the same */
    refusing.copy = dfr_back_end_of(DF_DEVICE_EMU)->copy;
    assert_int_equal(dfr_single_gpu_open(&alone, &refusing, 0, 0, &gpu, &error), DF_OK);
    assert_true(dfr_single_gpu_fits(gpu, alone.graph->nodes[made].work));
    assert_false(dfr_single_gpu_fits(gpu, alone.graph->nodes[changed].work)); /* twice as much */
    assert_non_null(dfr_single_gpu_name(gpu));
    dfr_single_gpu_close(gpu);
    df_graph_free((struct df_graph *)alone.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_reason), cmocka_unit_test(test_once_fails),
        cmocka_unit_test(test_gang_waits_in_vain), cmocka_unit_test(test_gang_of_stopped_run),
        cmocka_unit_test(test_no_host_memory), cmocka_unit_test(test_no_host_memory_for_copy),
        cmocka_unit_test(test_nobody_has_it),
        cmocka_unit_test(test_buffers), cmocka_unit_test(test_turns), cmocka_unit_test(test_single_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
