/* test_buffers.c - tokens in the caller's own memory (struct df_buffer), in every loop and on every device that a run
 * can have. The graph is made by public calls alone, as by a program that embeds libdf. Its tokens are known in closed
 * form.
 *
 *     make (m) -> twice -> bump (inout) -> print        make2 (x) -> bump#2 (inout) -> join <- make
 *     table (t, once) -> join's scale
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/start/back_ends.h"
#include "runtime/emu/emu.h"
#include "runtime/graph/graph.h"

enum { K = 600, WAVES = 7 };            /* 4800 bytes: two pages of a device */
#define BYTES ((uint64_t)K * sizeof(int64_t))

static _Atomic unsigned n_called;       /* calls of `make` */
static _Atomic unsigned n_moved;        /* tokens that `see` did not find at the expected address */
static const int64_t *seen_data;        /* the address where `see` must find wave 0's token; NULL: anywhere */
static uint64_t seen_stride, seen_turn;
static const struct dfr_device_ops *emu;

/* ---- kernels ---- */

#define KERNEL(name) \
    static int name(struct df_call *call, void *stream, const size_t *dims, void *const *ports, \
                    const union df_scalar *scalars)
#define P(p) ((int64_t *)ports[p])
#define EACH for (size_t i = 0; i < dims[0]; i++)
#define UNUSED (void)call, (void)stream, (void)dims, (void)ports, (void)scalars

static int64_t made(int64_t wave, size_t i) { return wave * 10000 + (int64_t)i; }

KERNEL(make)
{
    UNUSED;
    n_called++;
    EACH P(0)[i] = made(df_wave(call), i);
    return DF_OK;
}

KERNEL(table)
{
    UNUSED;
    EACH P(0)[i] = 3 * (int64_t)i + 1;
    return DF_OK;
}

KERNEL(twice)
{
    UNUSED;
    EACH P(1)[i] = 2 * P(0)[i] + 1;
    return DF_OK;
}

KERNEL(bump)
{
    UNUSED;
    EACH P(0)[i] += 100;
    return DF_OK;
}

KERNEL(join)
{
    UNUSED;
    EACH P(3)[i] = 5 * P(0)[i] + P(1)[i] + P(2)[i];
    return DF_OK;
}

KERNEL(see)
{
    UNUSED;
    if (seen_data && (const void *)P(0) != (const char *)seen_data + (uint64_t)df_wave(call) % seen_turn * seen_stride)
        n_moved++;
    return DF_OK;
}

/* ---- the graph ---- */

enum { MAKE, TABLE, TWICE, BUMP, JOIN, SEE, KERNELS };
static const struct {
    const char *name;
    df_function *function;
    const char *modes;
    unsigned traits;
    bool gpu;
} kernels[KERNELS] = {
    [MAKE] = { "make", make, "o", 0, true },   [TABLE] = { "table", table, "o", DF_ONCE, true },
    [TWICE] = { "twice", twice, "io", 0, true }, [BUMP] = { "bump", bump, "b", 0, true },
    [JOIN] = { "join", join, "iiio", 0, true }, [SEE] = { "see", see, "i", DF_ORDERED, false },
};

static uint32_t add_node(struct df_builder *builder, uint32_t kernel)
{
    static const uint64_t dims[] = { K }, extents[4][DF_MAX_RANK] = { { K }, { K }, { K }, { K } };
    struct df_error error;
    uint32_t node = 0;
    if (df_builder_node(builder, kernel, dims, extents, NULL, &node, &error) != DF_OK)
        fail_msg("%s", error.text);
    return node;
}

static void arc(struct df_builder *builder, uint32_t from, uint32_t to, unsigned slot)
{
    struct df_error error;
    if (df_builder_connect(builder, from, 0, to, slot, &error) != DF_OK)
        fail_msg("%s", error.text);
}

static struct df_graph *make_graph(bool with_code)
{
    static const char *const dims[] = { "k" }, *const names[] = { "a", "b", "c", "d" };
    struct df_builder *builder = df_builder_new("g");
    struct df_graph *graph = NULL;
    struct df_error error;
    uint32_t id, m, x, t, two, b1, b2, j, s;

    for (unsigned k = 0; k < KERNELS; k++) {
        struct df_port_desc ports[4];
        bool code = with_code || (k != MAKE && k != TABLE);
        for (unsigned p = 0; p < strlen(kernels[k].modes); p++)
            ports[p] = (struct df_port_desc){ names[p], kernels[k].modes[p] == 'i' ? DF_IN :
                                              kernels[k].modes[p] == 'o' ? DF_OUT : DF_INOUT, DF_I64, 1 };
        if (df_builder_kernel(builder, &(struct df_kernel_desc){
                .name = kernels[k].name, .n_dims = 1, .dims = dims, .n_ports = (unsigned)strlen(kernels[k].modes),
                .ports = ports, .traits = kernels[k].traits,
                .functions = { .cpu = code ? kernels[k].function : NULL,
                               .gpu = code && kernels[k].gpu ? kernels[k].function : NULL } }, &id, &error) != DF_OK)
            fail_msg("%s", error.text);
    }
    m = add_node(builder, MAKE), x = add_node(builder, MAKE), t = add_node(builder, TABLE);
    two = add_node(builder, TWICE), b1 = add_node(builder, BUMP), b2 = add_node(builder, BUMP);
    j = add_node(builder, JOIN), s = add_node(builder, SEE);
    arc(builder, m, two, 0);
    arc(builder, two, b1, 0);
    arc(builder, b1, s, 0);
    arc(builder, x, b2, 0);
    arc(builder, b2, j, 0);
    arc(builder, m, j, 1);
    arc(builder, t, j, 2);
    if (df_builder_finish(builder, &graph, &error) != DF_OK)
        fail_msg("%s", error.text);
    df_builder_free(builder);
    return graph;
}

/* ---- what is expected ---- */

static int64_t expected_bump1(int64_t wave, size_t i) { return 2 * made(wave, i) + 1 + 100; }
static int64_t expected_join(int64_t wave, size_t i)
{
    return 5 * (made(wave, i) + 100) + made(wave, i) + 3 * (int64_t)i + 1;
}
static int64_t expected_bump2(int64_t wave, size_t i) { return made(wave, i) + 100; }
static int64_t expected_table(int64_t wave, size_t i) { return 3 * (int64_t)i + 1 + 0 * wave; }

#define EXPECT(memory, stride, waves, formula) \
    do { \
        for (int64_t w_ = 0; w_ < (waves); w_++) \
            for (size_t i_ = 0; i_ < K; i_++) \
                if (((const int64_t *)((const char *)(memory) + (uint64_t)w_ * (stride)))[i_] != formula(w_, i_)) \
                    fail_msg("%s of wave %lld is wrong at %zu", #formula, (long long)w_, i_); \
    } while (0)

static struct df_options options_of(const char *policy, enum df_device_kind device, unsigned workers)
{
    struct df_options o;
    df_options_default(&o);
    o.policy = policy;
    o.device = device;
    o.workers = workers;
    o.waves = WAVES;
    o.log_level = DF_LOG_ERROR;
    seen_data = NULL;
    n_called = n_moved = 0;
    return o;
}

static struct df_stats run_well(const struct df_graph *graph, const struct df_options *o)
{
    static struct df_stats stats;
    struct df_error error = { "" };
    struct df_run *run;
    uint64_t n_wrong;

    if (df_run_start(graph, o, &run, &error) != DF_OK || df_run_wait(run, &stats, &error) != DF_OK)
        fail_msg("policy %s, device %d, %u workers, %u in flight: %s", o->policy, o->device, o->workers, o->inflight,
                 error.text);
    assert_int_equal(stats.left_bytes, 0);
    assert_int_equal(dfr_emu_host_registered(&n_wrong), 0);
    assert_int_equal(n_wrong, 0);
    assert_int_equal(n_moved, 0);
    return stats;
}

/* ---- every path ---- */

/* The array has a word before and one behind, which must not change. */
static int64_t *new_tokens(size_t n)
{
    int64_t *all = malloc((n * K + 2) * sizeof *all);
    assert_non_null(all);
    memset(all, 0x77, (n * K + 2) * sizeof *all);
    return all + 1;
}

static void free_tokens(int64_t *tokens, size_t n)
{
    assert_int_equal(tokens[-1], 0x7777777777777777);
    assert_int_equal(tokens[n * K], 0x7777777777777777);
    free(tokens - 1);
}

static void fill_given(int64_t *given)
{
    for (int64_t w = 0; w < WAVES; w++)
        for (size_t i = 0; i < K; i++)
            given[w * K + (int64_t)i] = made(w, i);
}

/* One source is given. The other source's chain, two results and the once value are made in the buffers. */
static void run_all_bound(const struct df_graph *graph, struct df_options o)
{
    int64_t *given = new_tokens(WAVES), *bump1 = new_tokens(WAVES), *bump2 = new_tokens(WAVES),
            *join_ = new_tokens(WAVES), *table_ = new_tokens(1);
    const struct df_buffer buffers[] = {
        { .node = "main/bump#1", .data = bump1, .bytes = WAVES * BYTES },
        { .node = "main/make#1", .data = given, .bytes = WAVES * BYTES, .given = 1 },
        { .node = "main/join", .data = join_, .bytes = WAVES * BYTES },
        { .node = "main/bump#2", .data = bump2, .bytes = WAVES * BYTES },
        { .node = "main/table", .data = table_, .bytes = BYTES },
    };

    fill_given(given);
    o.buffers = buffers;
    o.n_buffers = sizeof buffers / sizeof buffers[0];
    n_called = 0;
    seen_data = bump1;
    seen_stride = BYTES;
    seen_turn = WAVES;
    run_well(graph, &o);
    assert_int_equal(n_called, WAVES);  /* calls for the other source */
    EXPECT(given, BYTES, WAVES, made);
    EXPECT(bump1, BYTES, WAVES, expected_bump1);
    EXPECT(bump2, BYTES, WAVES, expected_bump2);
    EXPECT(join_, BYTES, WAVES, expected_join);
    EXPECT(table_, BYTES, 1, expected_table);
    free_tokens(given, WAVES);
    free_tokens(bump1, WAVES);
    free_tokens(bump2, WAVES);
    free_tokens(join_, WAVES);
    free_tokens(table_, 1);
}

/* In runs with a list, with deques and with jobs from the policy. If a run is looked into, its tokens are blocks. */
static void test_host(void **state)
{
    static const char *const policies[] = { "ws", "eager", "dmda", "all-cpu" };
    struct df_graph *graph = make_graph(true);

    (void)state;
    for (unsigned p = 0; p < 4; p++)
        for (unsigned workers = 1; workers <= 3; workers++)
            for (unsigned inflight = 0; inflight <= WAVES; inflight += inflight ? 3 : 1) {
                struct df_options o = options_of(policies[p], DF_DEVICE_NONE, workers);
                o.inflight = inflight;
                run_all_bound(graph, o);
                o.poison = 1;
                run_all_bound(graph, o);
                o.poison = 0;
                o.watchdog_s = 60;
                run_all_bound(graph, o);
                o.serial = 1;
                run_all_bound(graph, o);
            }
    df_graph_free(graph);
}

/* On one and on several devices, with memory for everything and for the largest job alone. Results are copied to the
 * host although no job of the host reads them. */
static void test_devices(void **state)
{
    static const char *const policies[] = { "all-gpu", "eager", "dmda", "ws" };
    struct df_graph *graph = make_graph(true);
    struct df_platform platforms[2];

    (void)state;
    for (unsigned u = 0; u < 2; u++)
        df_platform_default(&platforms[u], 1 + u);
    platforms[1].units[1].peer = platforms[1].units[2].peer = platforms[1].units[1].h2d;
    for (unsigned p = 0; p < 4; p++)
        for (unsigned u = 0; u < 2; u++)
            for (unsigned pages = 0; pages <= 12; pages += pages ? 4 : 8) { /* `join` needs 8 pages */
                struct df_options o = options_of(policies[p], DF_DEVICE_EMU, 2);
                o.platform = &platforms[u];
                o.gpu_mem_bytes = pages * 4096;
                o.emu_check = pages == 8;
                run_all_bound(graph, o);
                dfr_emu_trial_use(&(struct dfr_emu_trial){ .reorder_seed = 7 + p });
                o.inflight = 3;
                o.gpu_jobs = 3;
                run_all_bound(graph, o);
                o.poison = pages == 8;
                o.serial = p == 0;
                run_all_bound(graph, o);
                dfr_emu_trial_use(NULL);
            }
    df_graph_free(graph);
}

/* Some bytes do leave the device. If it has less memory than is needed, blocks leave it and come back. */
static void test_small_memory(void **state)
{
    struct df_graph *graph = make_graph(true);
    struct df_options o = options_of("all-gpu", DF_DEVICE_EMU, 1);
    int64_t *join_ = new_tokens(WAVES);
    const struct df_buffer buffer = { .node = "main/join", .data = join_, .bytes = WAVES * BYTES };
    struct df_stats without, with;

    (void)state;
    o.gpu_mem_bytes = 8 * 4096;
    without = run_well(graph, &o);
    o.buffers = &buffer;
    o.n_buffers = 1;
    with = run_well(graph, &o);
    EXPECT(join_, BYTES, WAVES, expected_join);
    assert_true(with.memories[0].evictions > 0);
    assert_true(with.memories[0].d2h_copies >= WAVES && without.memories[0].d2h_copies >= WAVES); /* `see` reads them */
    o.gpu_mem_bytes = 0;
    with = run_well(graph, &o);
    o.n_buffers = 0;
    without = run_well(graph, &o);
    assert_int_equal(with.memories[0].d2h_copies, without.memories[0].d2h_copies + WAVES);
    assert_int_equal(with.memories[0].d2h_bytes, without.memories[0].d2h_bytes + WAVES * BYTES);
    free_tokens(join_, WAVES);
    df_graph_free(graph);
}

/* A source needs no code if what it makes is given, even if it is changed in place. One token may serve all waves. */
static void test_given(void **state)
{
    struct df_graph *graph = make_graph(false);

    (void)state;
    for (int device = DF_DEVICE_NONE; device <= DF_DEVICE_EMU; device++)
        for (unsigned all = 0; all < 2; all++) {
            const char *policy = device == DF_DEVICE_NONE ? "ws" : "all-gpu";
            struct df_options o = options_of(policy, (enum df_device_kind)device, 2);
            int64_t *given = new_tokens(WAVES), *chain = new_tokens(WAVES), *once = new_tokens(1);
            int64_t *out = new_tokens(WAVES);
            const struct df_buffer buffers[] = {
                { .node = "main/make#1", .data = given, .bytes = BYTES, .n_tokens = 1, .given = 1 },
                { .node = "main/bump#2", .data = chain, .bytes = WAVES * BYTES, .given = 1 },
                { .node = "main/table", .data = once, .bytes = BYTES, .given = 1 },
                { .node = "main/join", .data = out, .bytes = WAVES * BYTES },
            };
            fill_given(given);
            fill_given(chain);
            for (size_t i = 0; i < K; i++)
                once[i] = expected_table(0, i);
            o.emu_all = (int)all;
            o.buffers = buffers;
            o.n_buffers = 4;
            o.poison = (int)all;
            run_well(graph, &o);
            assert_int_equal(n_called, 0);
            EXPECT(chain, BYTES, WAVES, expected_bump2);
            for (int64_t w = 0; w < WAVES; w++)
                for (size_t i = 0; i < K; i++)
                    assert_int_equal(out[w * K + (int64_t)i], 5 * (made(w, i) + 100) + made(0, i) + 3 * (int64_t)i + 1);
            free_tokens(given, WAVES);
            free_tokens(chain, WAVES);
            free_tokens(once, 1);
            free_tokens(out, WAVES);
        }
    df_graph_free(graph);
}

/* Places are used in turn, and lie wider apart than tokens. The number of waves in flight divides the number of
 * places. */
static void test_in_turn(void **state)
{
    static const unsigned turns[] = { 1, 2, 3, 4, 6 }, inflights[] = { 1, 2, 3, 4, 3 };
    struct df_graph *graph = make_graph(true);

    (void)state;
    for (int device = DF_DEVICE_NONE; device <= DF_DEVICE_EMU; device++)
        for (unsigned t = 0; t < 5; t++)
            for (unsigned workers = 1; workers <= 2; workers++)
                for (unsigned traced = 0; traced < 2; traced++) {
                    const char *policy = workers == 1 ? "all-cpu" : "ws";
                    struct df_options o = options_of(policy, (enum df_device_kind)device, workers);
                    uint64_t n = turns[t], stride = BYTES + 64;
                    char *memory = malloc(n * stride);
                    const struct df_buffer buffer = { .node = "main/bump#1", .data = memory, .bytes = n * stride,
                                                      .stride_bytes = stride, .n_tokens = n };
                    memset(memory, 0x55, n * stride);
                    o.buffers = &buffer;
                    o.n_buffers = 1;
                    o.watchdog_s = traced ? 60 : 0;
                    seen_data = (const int64_t *)(void *)memory;
                    seen_stride = stride;
                    seen_turn = n;
                    assert_int_equal(run_well(graph, &o).inflight, inflights[t]);
                    for (int64_t w = WAVES - (int64_t)n; w < WAVES; w++) {
                        const char *at = memory + (uint64_t)w % n * stride;
                        for (size_t i = 0; i < K; i++)
                            assert_int_equal(((const int64_t *)(const void *)at)[i], expected_bump1(w, i));
                        for (size_t i = BYTES; i < stride; i++)
                            assert_int_equal(at[i], 0x55);
                    }
                    free(memory);
                }
    df_graph_free(graph);
}

/* Two buffers lie in one array of records. */
static void test_records(void **state)
{
    struct df_graph *graph = make_graph(true);
    int64_t *records = new_tokens(2 * WAVES);
    const struct df_buffer buffers[] = {
        { .node = "main/join", .data = records + K, .bytes = (2 * WAVES - 1) * BYTES, .stride_bytes = 2 * BYTES },
        { .node = "main/bump#1", .data = records, .bytes = (2 * WAVES - 1) * BYTES, .stride_bytes = 2 * BYTES },
    };

    (void)state;
    for (int device = DF_DEVICE_NONE; device <= DF_DEVICE_EMU; device++) {
        struct df_options o = options_of("eager", (enum df_device_kind)device, 2);
        memset(records, 0, 2 * WAVES * BYTES);
        o.buffers = buffers;
        o.n_buffers = 2;
        run_well(graph, &o);
        EXPECT(records, 2 * BYTES, WAVES, expected_bump1);
        EXPECT(records + K, 2 * BYTES, WAVES, expected_join);
    }
    free_tokens(records, 2 * WAVES);
    df_graph_free(graph);
}

/* Whatever fails on the device: the run gives an error, nothing stays pinned, and the graph can run again on the same
 * memory. */
static void test_faults(void **state)
{
    static const enum dfr_emu_call calls[] = { DFR_EMU_CALL_ALLOC, DFR_EMU_CALL_COPY, DFR_EMU_CALL_LAUNCH,
                                               DFR_EMU_CALL_LATE_COPY };
    struct df_graph *graph = make_graph(true);
    int64_t *join_ = new_tokens(WAVES);
    const struct df_buffer buffer = { .node = "main/join", .data = join_, .bytes = WAVES * BYTES };
    unsigned n_failed = 0;

    (void)state;
    for (unsigned k = 0; k < sizeof calls / sizeof calls[0]; k++)
        for (uint64_t n = 1; n < 64; n = n < 4 ? n + 1 : 2 * n) {
            struct df_options o = options_of("all-gpu", DF_DEVICE_EMU, 1);
            struct df_error error = { "" };
            struct df_run *run;
            uint64_t n_wrong;
            int status;
            o.buffers = &buffer;
            o.n_buffers = 1;
            struct dfr_emu_trial trial = { .fail = { 0 } };
            trial.fail[calls[k]] = n;
            dfr_emu_trial_use(&trial);
            status = df_run_start(graph, &o, &run, &error);
            if (status == DF_OK)
                status = df_run_wait(run, NULL, &error);
            dfr_emu_trial_use(NULL);
            n_failed += status != DF_OK;
            assert_true(status == DF_OK || strstr(error.text, "as asked for"));
            assert_int_equal(dfr_emu_host_registered(&n_wrong), 0);
            assert_int_equal(n_wrong, 0);
            if (status == DF_OK)
                break;
            memset(join_, 0, WAVES * BYTES);
            run_well(graph, &o);
            EXPECT(join_, BYTES, WAVES, expected_join);
        }
    assert_true(n_failed > 12);
    free_tokens(join_, WAVES);
    df_graph_free(graph);
}

/* ---- pinning ---- */

/* Whole pages are pinned, joined to ranges, for the time of the run, unless the platform says that copies are no faster
 * then, or somebody asks for it. If pages cannot be pinned, or are pinned already, copies go through pinned memory. */
static void test_pinning(void **state)
{
    struct df_graph *graph = make_graph(true);
    struct df_options o = options_of("all-gpu", DF_DEVICE_EMU, 1);
    struct df_platform platform;
    int64_t *memory = aligned_alloc(4096, 64 * 4096);
    const struct df_buffer buffers[] = {    /* both in one range, from page 0 to 17; 7 tokens take 33600 bytes */
        { .node = "main/join", .data = memory + 2, .bytes = WAVES * BYTES },
        { .node = "main/bump#1", .data = memory + 2 + WAVES * K, .bytes = WAVES * BYTES },
    };
    struct df_error error;
    uint64_t n_wrong;

    (void)state;
    assert_non_null(memory);
    df_platform_default(&platform, 1);
    o.platform = &platform;
    o.buffers = buffers;
    o.n_buffers = 2;
    assert_int_equal(run_well(graph, &o).pinned_bytes, 17 * 4096);
    platform.units[1].registers = DF_REGISTER_YES;
    assert_int_equal(run_well(graph, &o).pinned_bytes, 17 * 4096);
    platform.units[1].registers = DF_REGISTER_NO;
    memset(memory, 0, 64 * 4096);
    assert_int_equal(run_well(graph, &o).pinned_bytes, 0);
    EXPECT(memory + 2, BYTES, WAVES, expected_join);
    o.pin = DF_PIN_ON;
    assert_int_equal(run_well(graph, &o).pinned_bytes, 17 * 4096);
    platform.units[1].registers = DF_REGISTER_YES;
    o.pin = DF_PIN_OFF;
    assert_int_equal(run_well(graph, &o).pinned_bytes, 0);
    o.pin = DF_PIN_AUTO;
    assert_int_equal(run_well(graph, &o).memories[0].staged_copies, 0);
    assert_int_equal(emu->host_register(memory, 64 * 4096, &error), DF_OK);
    memset(memory, 0, 64 * 4096);
    {
        struct df_stats stats;
        struct df_run *run;
        assert_int_equal(df_run_start(graph, &o, &run, &error), DF_OK);
        assert_int_equal(df_run_wait(run, &stats, &error), DF_OK);
        assert_int_equal(stats.pinned_bytes, 0);
        assert_int_equal(stats.memories[0].staged_copies, 2 * WAVES); /* of the buffers; other tokens are pinned */
    }
    EXPECT(memory + 2, BYTES, WAVES, expected_join);
    EXPECT(memory + 2 + WAVES * K, BYTES, WAVES, expected_bump1);
    assert_int_equal(dfr_emu_host_registered(&n_wrong), 1);
    emu->host_unregister(memory, 64 * 4096);
    o.device = DF_DEVICE_NONE;
    o.policy = "ws";
    assert_int_equal(run_well(graph, &o).pinned_bytes, 0);
    free(memory);
    df_graph_free(graph);
}

/* The emulator checks its callers: a range is pinned once, the same range is unpinned, and no copy's memory is pinned
 * only in part. */
static void test_emulated_driver(void **state)
{
    unsigned char *memory = aligned_alloc(4096, 4 * 4096);
    struct df_unit unit = { .workers = 1 };
    struct dfr_device_config config = { .unit = &unit, .pool_bytes = 4 * 4096, .compute_streams = 1 };
    struct dfr_device *device;
    struct df_error error;
    uint64_t before, n_wrong;

    (void)state;
    dfr_emu_host_registered(&before);
    assert_int_equal(emu->host_register(memory, 2 * 4096, &error), DF_OK);
    assert_int_equal(emu->host_register(memory + 4096, 4096, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "emu: pinning host memory: some of it is registered already");
    assert_int_equal(emu->host_register(memory, 0, &error), DF_E_DEVICE);
    assert_int_equal(emu->open(0, &config, &device, &error), DF_OK);
    assert_int_equal(emu->copy(device, DFR_COPY_H2D, emu->pool(device), memory, 2 * 4096, DFR_STREAM_H2D,
                                      &error), DF_OK);
    assert_int_equal(emu->copy(device, DFR_COPY_H2D, emu->pool(device), memory + 4096, 2 * 4096,
                                      DFR_STREAM_H2D, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "emu0: a copy of 8192 bytes of which only some are registered");
    assert_int_equal(emu->copy(device, DFR_COPY_D2H, memory + 4096, emu->pool(device), 2 * 4096,
                                      DFR_STREAM_D2H, &error), DF_E_DEVICE);
    assert_int_equal(emu->drain(device, &error), DF_OK);
    emu->close(device);
    emu->host_unregister(memory, 4096);
    assert_int_equal(dfr_emu_host_registered(&n_wrong), 1);
    assert_int_equal(n_wrong, before + 1);
    emu->host_unregister(memory, 2 * 4096);
    emu->host_unregister(memory, 2 * 4096);
    assert_int_equal(dfr_emu_host_registered(&n_wrong), 0);
    assert_int_equal(n_wrong, before + 2);
    free(memory);
}

/* ---- refusals ---- */

static void refused(const struct df_graph *graph, const struct df_options *o, const struct df_buffer *buffers,
                    unsigned n, const char *sentence)
{
    struct df_options with = *o;
    struct df_error error = { "" };
    struct df_run *run;

    with.buffers = buffers;
    with.n_buffers = n;
    assert_int_equal(df_run_start(graph, &with, &run, &error), DF_E_ARGUMENT);
    assert_string_equal(error.text, sentence);
}

static void test_refusals(void **state)
{
    struct df_graph *graph = make_graph(true);
    struct df_options o = options_of("ws", DF_DEVICE_NONE, 1);
    int64_t *m = new_tokens(2 * WAVES);
    const struct df_buffer good = { .node = "main/join", .data = m, .bytes = WAVES * BYTES };
    struct df_buffer b[2] = { good, good };

    (void)state;
#define REFUSED(n, sentence) refused(graph, &o, b, n, sentence), b[0] = b[1] = good
    refused(graph, &o, NULL, 2, "2 buffers are said to be given, and none are");
    b[0].node = NULL;
    REFUSED(1, "buffer 0 names no node");
    b[0].node = "main/joyn";
    REFUSED(1, "buffer of node 'main/joyn', output 0: there is no such node; did you mean 'main/join'?");
    b[0].node = "nothing like it";
    REFUSED(1, "buffer of node 'nothing like it', output 0: there is no such node");
    b[0].out_slot = 1;
    REFUSED(1, "buffer of node 'main/join', output 1: it has 1 output");
    b[0].node = "main/see";
    REFUSED(1, "buffer of node 'main/see', output 0: it has 0 outputs");
    b[0].data = NULL;
    REFUSED(1, "buffer of node 'main/join', output 0: its data is NULL");
    b[0].bytes--;
    REFUSED(1, "buffer of node 'main/join', output 0: it has 33599 bytes, and 7 tokens of 4800, 4800 bytes from one to "
               "the next, take 33600");
    b[0].stride_bytes = UINT64_MAX / 2;
    REFUSED(1, "buffer of node 'main/join', output 0: it has 33600 bytes, and 7 tokens of 4800, 9223372036854775807 "
               "bytes from one to the next, take 18446744073709551615");
    b[0].stride_bytes = BYTES - 8;
    REFUSED(1, "buffer of node 'main/join', output 0: tokens of 4800 bytes cannot lie 4792 bytes apart");
    b[0].data = (char *)m + 4;
    REFUSED(1, "buffer of node 'main/join', output 0: each token must begin at a multiple of 8 bytes, "
               "for its elements");
    b[0].stride_bytes = BYTES + 4, b[0].bytes += WAVES * 4;
    REFUSED(1, "buffer of node 'main/join', output 0: each token must begin at a multiple of 8 bytes, "
               "for its elements");
    b[1].data = m + WAVES * K;
    REFUSED(2, "buffer of node 'main/join', output 0: it has two buffers");
    b[1].node = "main/bump#2", b[1].data = m + WAVES * K - 1;
    REFUSED(2, "buffer of node 'main/bump#2', output 0: it has bytes in common with that of node "
               "'main/join', output 0");
    b[0].stride_bytes = b[1].stride_bytes = 2 * BYTES, b[0].bytes = b[1].bytes = 2 * WAVES * BYTES;
    b[1].node = "main/bump#2", b[1].data = m + K - 1;
    REFUSED(2, "buffer of node 'main/bump#2', output 0: it has bytes in common with that of node "
               "'main/join', output 0");
    b[0].node = "main/twice";
    REFUSED(1, "buffer of node 'main/twice', output 0: its memory goes on to node 'main/bump#1', which changes it in "
               "place (inout): the buffer is to name that one's output 0");
    b[0].given = 1;
    REFUSED(1, "buffer of node 'main/join', output 0: what is given is made by a source, and node 'main/join' "
               "has inputs");
    b[0].node = "main/bump#1", b[0].given = 1;
    REFUSED(1, "buffer of node 'main/bump#1', output 0: what is given is made by a source, and node "
               "'main/twice' has inputs");
    b[0].n_tokens = 3, o.inflight = 2;
    REFUSED(1, "buffer of node 'main/join', output 0: 3 places in turn are not enough for 2 waves in flight: a "
               "multiple of that is");
    df_graph_free(graph);
    free_tokens(m, 2 * WAVES);
}

/* One array is given for two inputs that nobody changes. */
static void test_shared(void **state)
{
    struct df_graph *graph = make_graph(false);
    struct df_options o = options_of("ws", DF_DEVICE_NONE, 1);
    int64_t *given = new_tokens(WAVES), *chain = new_tokens(WAVES), *out = new_tokens(WAVES);
    struct df_buffer buffers[] = {
        { .node = "main/make#1", .data = given, .bytes = WAVES * BYTES, .given = 1 },
        { .node = "main/table", .data = given, .bytes = BYTES, .given = 1 },
        { .node = "main/bump#2", .data = chain, .bytes = WAVES * BYTES, .given = 1 },
        { .node = "main/join", .data = out, .bytes = WAVES * BYTES },
    };

    (void)state;
    fill_given(given);
    fill_given(chain);
    o.buffers = buffers;
    o.n_buffers = 4;
    run_well(graph, &o);
    for (int64_t w = 0; w < WAVES; w++)
        for (size_t i = 0; i < K; i++)
            assert_int_equal(out[w * K + (int64_t)i], 5 * (made(w, i) + 100) + made(w, i) + made(0, i));
    buffers[2].data = given;
    refused(graph, &o, buffers, 4,
            "buffer of node 'main/bump#2', output 0: it has bytes in common with that of node 'main/make#1', output 0");
    free_tokens(given, WAVES);
    free_tokens(chain, WAVES);
    free_tokens(out, WAVES);
    df_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host),    cmocka_unit_test(test_devices),  cmocka_unit_test(test_small_memory),
        cmocka_unit_test(test_given),   cmocka_unit_test(test_in_turn),  cmocka_unit_test(test_records),
        cmocka_unit_test(test_pinning), cmocka_unit_test(test_refusals), cmocka_unit_test(test_shared),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_emulated_driver), /* the last, because it unregisters what is not registered */
    };
    emu = dfr_back_end_of(DF_DEVICE_EMU);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
