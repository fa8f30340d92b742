/* run_rig.c - the kernels of the rig, its graphs, and the sequential reference (run_rig.h). */
#include "run_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/engine/engine.h"

static struct rig *running;             /* one rig runs at a time */
static _Atomic int64_t next_wave[RIG_SINKS];
static _Atomic int64_t met;

/* ---- kernels ---- */

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

#define KERNEL(name) \
    static int name(struct df_call *call, void *stream, const size_t *dims, void *const *ports, \
                    const union df_scalar *scalars)
#define PORT(p) ((int64_t *)ports[p])
#define EACH for (size_t i = 0; i < dims[0]; i++)
#define S ((uint64_t)scalars[0].i64)
#define UNUSED (void)call, (void)stream, (void)dims, (void)ports, (void)scalars

KERNEL(source)
{
    UNUSED;
    EACH PORT(0)[i] = (int64_t)mix(S * 977 + (uint64_t)df_wave(call) * 131 + i);
    return DF_OK;
}

KERNEL(stream_source)
{
    if (df_wave(call) >= scalars[0].i64)
        return DF_END;
    return source(call, stream, dims, ports, scalars);
}

KERNEL(once)
{
    UNUSED;
    EACH PORT(0)[i] = (int64_t)mix(S * 31 + i);
    return DF_OK;
}

KERNEL(add1)
{
    UNUSED;
    EACH PORT(1)[i] = (int64_t)((uint64_t)PORT(0)[i] * 3 + S);
    return DF_OK;
}

KERNEL(add2)
{
    UNUSED;
    EACH PORT(2)[i] = (int64_t)((uint64_t)PORT(0)[i] * 7 + (uint64_t)PORT(1)[i] * 5 + S);
    return DF_OK;
}

KERNEL(bump)
{
    UNUSED;
    EACH PORT(0)[i] = (int64_t)(mix((uint64_t)PORT(0)[i]) + S + i);
    return DF_OK;
}

KERNEL(scratch)
{
    UNUSED;
    EACH PORT(1)[i] = PORT(0)[dims[0] - 1 - i];
    EACH PORT(2)[i] = (int64_t)S;
    EACH PORT(3)[i] = (int64_t)((uint64_t)PORT(1)[i] + (uint64_t)PORT(2)[i]);
    return DF_OK;
}

KERNEL(pour)
{
    UNUSED;
    EACH PORT(1)[i] = (int64_t)(mix((uint64_t)PORT(1)[i] + i) + (uint64_t)PORT(0)[i] * 3 + S);
    return DF_OK;
}

KERNEL(accumulate)
{
    pour(call, stream, dims, ports, scalars);
    EACH PORT(2)[i] = PORT(1)[i] ^ PORT(0)[i];
    return DF_OK;
}

KERNEL(split)
{
    UNUSED;
    EACH PORT(1)[i] = PORT(0)[i] >> 1;
    EACH PORT(2)[i] = (int64_t)((uint64_t)PORT(0)[i] * 11 + S);
    return DF_OK;
}

KERNEL(sink)
{
    struct rig_record *record = running->record;
    int64_t wave = df_wave(call);
    uint64_t sum = 0;

    (void)stream;
    EACH sum = mix(sum + (uint64_t)PORT(0)[i]);
    if (scalars[0].i64 >= RIG_SINKS || wave >= RIG_WAVES)
        return df_fail(call, "the record is too small");
    record->sum[scalars[0].i64][wave] = sum;
    record->count[scalars[0].i64][wave]++;
    return DF_OK;
}

KERNEL(ordered_sink)
{
    int64_t least = atomic_exchange(&next_wave[scalars[0].i64], df_wave(call) + 1);
    if (df_wave(call) < least)
        return df_fail(call, "wave %lld came after wave %lld", (long long)df_wave(call), (long long)least - 1);
    return sink(call, stream, dims, ports, scalars);
}

KERNEL(threads)
{
    if (df_threads(call) != running->expected_threads)
        return df_fail(call, "%u threads in place of %u", df_threads(call), running->expected_threads);
    return add1(call, stream, dims, ports, scalars);
}

KERNEL(failing)
{
    if (df_wave(call) == scalars[0].i64 && rig_fails)
        return df_fail(call, "planted at %d", (int)scalars[0].i64);
    return add1(call, stream, dims, ports, scalars);
}

KERNEL(ending)
{
    if (df_wave(call) == scalars[0].i64)
        pthread_exit(NULL);
    return add1(call, stream, dims, ports, scalars);
}

KERNEL(code)
{
    UNUSED;
    return (int)scalars[0].i64;
}

KERNEL(stray)
{
    PORT(0)[0] = 1;
    return add1(call, stream, dims, ports, scalars);
}

KERNEL(meet)
{
    struct timespec pause = { 0, 1000000 };
    atomic_fetch_add(&met, 1);
    for (int ms = 0; atomic_load(&met) < scalars[0].i64; ms++) {
        if (ms == 600)
            return df_fail(call, "nobody else came");
        nanosleep(&pause, NULL);
    }
    return add1(call, stream, dims, ports, scalars);
}

KERNEL(slow)
{
    struct timespec pause = { 0, 20000000 };
    nanosleep(&pause, NULL);
    return add1(call, stream, dims, ports, scalars);
}

bool rig_would_skip(const struct df_call *call, const union df_scalar *scalars)
{
    return mix(mix(S * 977 + 5) + (uint64_t)df_wave(call) * 131) >> 7 & 1 && S % 8;
}

KERNEL(skipping)
{
    return rig_would_skip(call, scalars) ? DF_SKIP : add1(call, stream, dims, ports, scalars);
}

/* What it leaves behind is read by nobody. */
KERNEL(dropping)
{
    EACH PORT(0)[i] = (int64_t)(mix((uint64_t)PORT(0)[i]) + S + i);
    (void)stream;
    return rig_would_skip(call, scalars) ? DF_SKIP : DF_OK;
}

static const struct {
    const char *name;
    df_function *function;
    const char *modes;                  /* i in, o out, b inout, t tmp, a acc */
    unsigned traits;
} kernels[RIG_KERNELS] = {
    [RIG_SOURCE] = { "source", source, "o", 0 },
    [RIG_STREAM] = { "stream", stream_source, "o", DF_STREAM },
    [RIG_ADD1] = { "add1", add1, "io", 0 },
    [RIG_ADD2] = { "add2", add2, "iio", 0 },
    [RIG_BUMP] = { "bump", bump, "b", 0 },
    [RIG_SCRATCH] = { "scratch", scratch, "itto", 0 },
    [RIG_SPLIT] = { "split", split, "ioo", 0 },
    [RIG_SINK] = { "sink", sink, "i", 0 },
    [RIG_ORDERED] = { "ordered_sink", ordered_sink, "i", DF_ORDERED },
    [RIG_THREADS] = { "threads", threads, "io", DF_THREADS },
    [RIG_FAIL] = { "fail", failing, "io", 0 },
    [RIG_ENDS] = { "ends", ending, "io", 0 },
    [RIG_CODE] = { "code", code, "io", 0 },
    [RIG_ONCE] = { "once", once, "o", DF_ONCE },
    [RIG_TABLE] = { "table", add2, "iio", 0 },
    [RIG_STRAY] = { "stray", stray, "io", 0 },
    [RIG_ACC] = { "acc", accumulate, "iao", 0 },
    [RIG_POUR] = { "acc_pour", pour, "ia", 0 },
    [RIG_MEET] = { "meet", meet, "io", 0 },
    [RIG_SKIP] = { "skip", skipping, "io", 0 },
    [RIG_DROP] = { "drop", dropping, "b", 0 },
    [RIG_SLOW] = { "slow", slow, "io", 0 },
};

/* ---- resources ---- */

uint32_t rig_resources[RIG_RESOURCES];
uint64_t rig_uses[RIG_KERNELS];
static _Atomic uint32_t at_work[RIG_RESOURCES];

/* Calls the node's kernel, and counts the jobs that use each of its resources meanwhile. */
KERNEL(counted)
{
    const struct df_graph *g = call->run->graph;
    const uint32_t node = dfr_job_node(call->job);
    const uint64_t uses = df_node_uses(g, node);
    uint32_t too_many = 0;
    int status;

    for (uint32_t i = 0; i < RIG_RESOURCES; i++)
        if (uses >> i & 1 && atomic_fetch_add(&at_work[i], 1) + 1 > rig_resources[i])
            too_many = i + 1;
    sched_yield();
    status = kernels[g->nodes[node].kernel % RIG_KERNELS].function(call, stream, dims, ports, scalars);
    for (uint32_t i = 0; i < RIG_RESOURCES; i++)
        if (uses >> i & 1)
            atomic_fetch_sub(&at_work[i], 1);
    return too_many ? df_fail(call, "too many jobs use resource %u", too_many - 1) : status;
}

static void add_resources(struct rig *r)
{
    struct df_error error;
    for (uint32_t i = 0; i < RIG_RESOURCES && rig_resources[i] > 0; i++)
        if (df_builder_resource(r->builder, (const char *[]){ "x", "y", "z" }[i], rig_resources[i], &error) != DF_OK)
            fail_msg("%s", error.text);
}

/* ---- building ---- */

static const int64_t acc_first = -7;

static void add_kernel(struct rig *r, int k, bool gpu)
{
    static const char *const dims[] = { "k" }, *const ports[] = { "a", "b", "c", "d" };
    const struct df_scalar_desc scalar = { "s", DF_S_I64 };
    struct df_port_desc desc[4];
    struct df_error error;
    uint32_t id;
    char name[32];
    unsigned n = (unsigned)strlen(kernels[k].modes);
    df_function *function = rig_uses[k] ? counted : kernels[k].function;

    for (unsigned p = 0; p < n; p++) {
        char mode = kernels[k].modes[p];
        desc[p] = (struct df_port_desc){ ports[p], mode == 'i' ? DF_IN : mode == 'o' ? DF_OUT :
                                         mode == 'b' ? DF_INOUT : mode == 'a' ? DF_ACC : DF_TMP, DF_I64, 1 };
    }
    snprintf(name, sizeof name, "%s%s", kernels[k].name, gpu ? "" : "_cpu");
    if (df_builder_kernel(r->builder, &(struct df_kernel_desc){
            .name = name, .n_dims = 1, .dims = dims, .n_ports = n, .ports = desc, .n_scalars = 1, .scalars = &scalar,
            .traits = kernels[k].traits,
            .functions = { .cpu = function, .gpu = gpu ? function : NULL } }, &id, &error) != DF_OK ||
        df_builder_kernel_info(r->builder, id, &(struct df_kernel_info){ .file = "", .uses = rig_uses[k] }, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_int_equal(id, (uint32_t)k + (gpu ? 0 : RIG_KERNELS));
    if ((k == RIG_ACC || k == RIG_POUR) && df_builder_initial(r->builder, id, 1, &acc_first, &error) != DF_OK)
        fail_msg("%s", error.text);
}

double rig_cost_s;
bool rig_fails = true;
bool rig_skips;

void rig_begin(struct rig *r, uint64_t n)
{
    memset(r, 0, sizeof *r);
    r->builder = df_builder_new("rig");
    r->n = n;
    r->hint = -1;
    r->record = calloc(1, sizeof *r->record);
    r->expected = calloc(1, sizeof *r->expected);
    assert_true(r->builder && r->record && r->expected);
    add_resources(r);
    for (int k = 0; k < RIG_KERNELS; k++)
        add_kernel(r, k, true);
    for (int k = 0; k < RIG_KERNELS; k++)
        add_kernel(r, k, false);
}

static void connect(struct rig *r, struct rig_out from, uint32_t node, unsigned slot)
{
    struct df_error error;
    if (df_builder_connect(r->builder, from.node, from.slot, node, slot, &error) != DF_OK)
        fail_msg("%s", error.text);
}

struct rig_out rig_node(struct rig *r, int kernel, int64_t s, struct rig_out a, struct rig_out b)
{
    int k = kernel & ~RIG_CPU_ONLY;
    const double cost_s[2] = { rig_cost_s, rig_cost_s };
    uint64_t port_dims[4][DF_MAX_RANK] = { { r->n }, { r->n }, { r->n }, { r->n } }, n = r->n;
    const uint64_t first = r->part ? r->part->first : 0, port_rows[4] = { first, first, first, first };
    const char *modes = kernels[k].modes;
    struct df_error error;
    uint32_t node = 0, scalar;

    if (df_builder_constant(r->builder, DF_S_I64, (union df_scalar){ .i64 = s }, &scalar, &error) != DF_OK ||
        df_builder_node_desc(r->builder, &(struct df_node_desc){
            .kernel = (uint32_t)k + (kernel & RIG_CPU_ONLY ? RIG_KERNELS : 0), .dims = &n,
            .port_dims = (const uint64_t (*)[DF_MAX_RANK])port_dims, .scalars = &scalar, .threads = r->threads,
            .cost_s = rig_cost_s > 0 ? cost_s : NULL, .n_cost = rig_cost_s > 0 ? 2 : 0, .hint_class = r->hint,
            .depth = r->depth, .part = r->part, .port_rows = port_rows }, &node, &error) != DF_OK)
        fail_msg("%s", error.text);
    if (modes[0] == 'i' || modes[0] == 'b')
        connect(r, a, node, 0);
    if (modes[0] == 'i' && modes[1] == 'i')
        connect(r, b, node, 1);
    r->hint = -1;
    r->depth = r->threads = 0;
    r->part = NULL;
    r->n_nodes++;
    return (struct rig_out){ node, 0 };
}

struct rig_out rig_select(struct rig *r, struct rig_out a, struct rig_out b)
{
    uint64_t port_dims[3][DF_MAX_RANK] = { { r->n }, { r->n }, { r->n } };
    struct df_error error;
    uint32_t kernel, node = 0;

    if (df_builder_select(r->builder, DF_I64, 1, 2, &kernel, &error) != DF_OK ||
        df_builder_node_desc(r->builder, &(struct df_node_desc){
            .kernel = kernel, .port_dims = (const uint64_t (*)[DF_MAX_RANK])port_dims, .hint_class = r->hint,
            .depth = r->depth }, &node, &error) != DF_OK)
        fail_msg("%s", error.text);
    connect(r, a, node, 0);
    connect(r, b, node, 1);
    r->hint = -1;
    r->depth = 0;
    r->n_nodes++;
    return (struct rig_out){ node, 0 };
}

static const struct df_node_desc of_none = { .kernel = 0 };

/* The halves of a token of r->n elements. */
static struct df_ranges halves(const struct rig *r, const char *name, uint64_t first[2], uint64_t rows[2])
{
    first[0] = 0;
    first[1] = rows[0] = r->n / 2;
    rows[1] = r->n - rows[0];
    return (struct df_ranges){ .name = name, .elem = DF_I64, .rank = 1, .n = 2, .dims = &r->n, .first = first, .rows = rows,
                               .of = &of_none };
}

void rig_view(struct rig *r, struct rig_out a, struct rig_out parts[2])
{
    uint64_t first[2], rows[2];
    const struct df_ranges ranges = halves(r, "view", first, rows);
    struct df_error error;
    uint32_t node = 0;

    if (df_builder_view(r->builder, &ranges, a.node, a.slot, &node, &error) != DF_OK)
        fail_msg("%s", error.text);
    parts[0] = (struct rig_out){ node, 0 };
    parts[1] = (struct rig_out){ node, 1 };
    r->n_nodes++;
}

struct rig_out rig_join(struct rig *r, struct rig_out a, struct rig_out b)
{
    uint64_t first[2], rows[2];
    const struct df_ranges ranges = halves(r, "join", first, rows);
    struct df_error error;
    uint32_t node = 0;

    assert_int_equal(a.slot, b.slot);
    if (df_builder_join(r->builder, &ranges, (uint32_t[]){ a.node, b.node }, a.slot, NULL, &node, &error) != DF_OK)
        fail_msg("%s", error.text);
    r->n_nodes++;
    return (struct rig_out){ node, 0 };
}

void rig_sink(struct rig *r, int kernel, struct rig_out a)
{
    assert_true(r->n_sinks < RIG_SINKS);
    rig_node(r, kernel, r->n_sinks++, a, RIG_NOTHING);
}

void rig_end(struct rig *r)
{
    struct df_error error;
    if (df_builder_finish(r->builder, &r->graph, &error) != DF_OK)
        fail_msg("%s", error.text);
    if (!df_graph_check(r->graph, &error))
        fail_msg("%s", error.text);
}

void rig_free(struct rig *r)
{
    df_graph_free(r->graph);
    df_builder_free(r->builder);
    free(r->record);
    free(r->expected);
}

/* ---- the reference ---- */

/* A copy has one input, and a select has several. Its first port is the first input, its second one the output. */
static bool is_copy(const struct df_graph *g, uint32_t v)
{
    return g->functions[g->nodes[v].kernel].cpu && g->kernels[g->nodes[v].kernel].n_dims == 1 &&
           g->kernels[g->nodes[v].kernel].n_scalars == 0;
}

/* The first input that is not empty, by its slot; -1: all are empty. */
static int first_full(const struct df_graph *g, uint32_t v, const bool *empty)
{
    for (uint32_t k = 0; k < df_node_n_in(g, v); k++)
        if (!empty[g->in_value[g->nodes[v].first_in + k]])
            return (int)k;
    return -1;
}

static unsigned count_empty(const struct df_graph *g, uint32_t v, const bool *empty)
{
    unsigned n = 0;
    for (uint32_t k = 0; k < df_node_n_in(g, v); k++)
        n += empty[g->in_value[g->nodes[v].first_in + k]];
    return n;
}

/* A view's outputs are ranges of its input, and a join's inputs are ranges of its output. */
static void expect_ranges(const struct df_graph *g, uint32_t v, void **memory)
{
    const struct df_node *node = &g->nodes[v];
    uint32_t out = node->first_out;

    for (uint32_t y = out; g->values[y].whole != DF_NONE && y < out + df_node_n_out(g, v); y++)
        memcpy(memory[y], (char *)memory[g->in_value[node->first_in]] + g->values[y].offset, g->values[y].bytes);
    for (uint32_t k = 0; g->values[out].whole == DF_NONE && k < df_node_n_in(g, v); k++) {
        uint32_t x = g->in_value[node->first_in + k];
        memcpy((char *)memory[out] + g->values[x].offset, memory[x], g->values[x].bytes);
    }
}

/* Wave number `waves` is what final nodes get. */
static void expect_node(struct rig *r, uint32_t v, int64_t wave, int64_t waves, void **memory, bool *empty,
                        struct df_run *run)
{
    const struct df_graph *g = r->graph;
    const struct df_node *node = &g->nodes[v];
    const struct df_kernel *kernel = &g->kernels[node->kernel];
    const struct df_work *work = &g->works[node->work];
    struct df_call call = { .run = run, .job = v, .wave = wave, .threads = r->expected_threads };
    union df_scalar scalar = { .i64 = 0 };
    void *ports[4] = { NULL }, *tmp[4] = { NULL };
    int n_tmp = 0, status;

    if (node->flags & DF_NODE_FINAL ? wave < waves : node->flags & DF_NODE_ONCE ? wave > 0 : wave == waves)
        return;
    bool left_out = is_copy(g, v) && !df_node_is_ranges(g, v) ? first_full(g, v, empty) < 0 : count_empty(g, v, empty) > 0;
    for (uint32_t y = node->first_out; y < node->first_out + df_node_n_out(g, v); y++)
        empty[y] = left_out && !df_value_is_acc(g, y);
    r->expected_left_out += left_out;
    if (left_out)
        return;
    for (unsigned p = 0; p < kernel->n_ports; p++) {
        const struct df_kport *port = &g->kports[kernel->first_port + p];
        uint64_t bytes = g->port_bytes[work->first_port + p];
        if (port->mode == DF_ACC) {
            ports[p] = memory[node->first_out + (uint32_t)port->out_slot];
        } else if (port->out_slot >= 0) {
            uint32_t y = node->first_out + (uint32_t)port->out_slot;
            free(memory[y]);
            memory[y] = malloc(bytes);
            if (port->in_slot >= 0)
                memcpy(memory[y], memory[g->in_value[node->first_in + (uint32_t)port->in_slot]], bytes);
            ports[p] = memory[y];
        } else if (port->in_slot >= 0) {
            ports[p] = memory[g->in_value[node->first_in + (uint32_t)port->in_slot]];
        } else {
            ports[p] = tmp[n_tmp++] = malloc(bytes);
        }
    }
    if (df_node_is_ranges(g, v)) {
        expect_ranges(g, v, memory);
        return;
    }
    if (is_copy(g, v) && first_full(g, v, empty) > 0)
        ports[0] = ports[first_full(g, v, empty) + 1];
    if (kernel->n_scalars > 0)
        scalar.i64 = g->scalars[g->node_scalars[work->first_scalar]].i;
    status = g->functions[node->kernel].cpu(&call, NULL, (const size_t *)(g->dims + work->first_dim), ports, &scalar);
    assert_true(status == DF_OK || (status == DF_SKIP && !(node->flags & DF_NODE_ONCE)));
    for (uint32_t y = node->first_out; y < node->first_out + df_node_n_out(g, v); y++)
        empty[y] = status == DF_SKIP && !df_value_is_acc(g, y);
    r->expected_skipped += status == DF_SKIP;
    while (n_tmp > 0)
        free(tmp[--n_tmp]);
}

void rig_clear(struct rig *r)
{
    memset(r->record, 0, sizeof *r->record);
    running = r;
    for (int i = 0; i < RIG_SINKS; i++)
        atomic_store(&next_wave[i], 0);
    atomic_store(&met, 0);
}

static void first_accs(const struct rig *r, void **memory)
{
    for (uint32_t y = 0; y < r->graph->n_values; y++) {
        uint64_t n = r->graph->values[y].bytes / sizeof acc_first;
        if (strncmp(r->graph->strings + r->graph->kernels[r->graph->nodes[r->graph->values[y].producer].kernel].name, "acc",
                    3) != 0 || r->graph->values[y].slot != 0)
            continue;
        memory[y] = malloc(n * sizeof acc_first + 1);
        for (uint64_t i = 0; i < n; i++)
            ((int64_t *)memory[y])[i] = acc_first;
    }
}

void rig_expect(struct rig *r, int64_t waves)
{
    void **memory = calloc(r->graph->n_values + 1, sizeof *memory);
    bool *empty = calloc(r->graph->n_values + 1, sizeof *empty);
    struct df_run *run = aligned_alloc(64, (sizeof *run + 63) / 64 * 64);

    memset(run, 0, sizeof *run);
    run->graph = r->graph;
    rig_clear(r);
    r->expected_skipped = r->expected_left_out = 0;
    first_accs(r, memory);
    for (int64_t w = 0; w <= waves; w++)
        for (uint32_t v = 0; v < r->graph->n_nodes; v++)
            expect_node(r, v, w, waves, memory, empty, run);
    *r->expected = *r->record;
    free(empty);
    for (uint32_t x = 0; x < r->graph->n_values; x++)
        free(memory[x]);
    free(memory);
    free(run);
}

int rig_run(struct rig *r, const struct df_options *options, struct df_stats *stats, struct df_error *error)
{
    struct df_run *run;
    int status;

    rig_clear(r);
    status = df_run_start(r->graph, options, &run, error);
    return status == DF_OK ? df_run_wait(run, stats, error) : status;
}

bool rig_same(const struct rig *r, int64_t waves)
{
    for (uint32_t s = 0; s < r->n_sinks; s++)
        for (int64_t w = 0; w < RIG_WAVES; w++) {
            uint32_t count = r->record->count[s][w];
            uint32_t due = w < waves + r->finals ? r->expected->count[s][w] : 0;
            if (count != due || (due > 0 && r->record->sum[s][w] != r->expected->sum[s][w])) {
                print_message("sink %u, wave %lld: came %u times in place of %u, %016llx in place of %016llx\n", s,
                              (long long)w, count, due, (unsigned long long)r->record->sum[s][w],
                              (unsigned long long)r->expected->sum[s][w]);
                return false;
            }
        }
    return true;
}

/* ---- random graphs ---- */

uint32_t rig_rand(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

void rig_seeds(unsigned *first, unsigned *last)
{
    const char *seeds = getenv("SEEDS");
    if (seeds)
        assert_int_equal(sscanf(seeds, "%u-%u", first, last), 2);
}

bool rig_accs;

/* Nodes over the results of accs, and sinks of what they make. */
static void add_finals(struct rig *r, uint32_t *seed, struct rig_out *outs, uint32_t n, const struct rig_out *tables)
{
    static const int choice[] = { RIG_ADD1, RIG_ADD2, RIG_BUMP, RIG_SCRATCH, RIG_TABLE };
    for (uint32_t i = 0; n > 0 && i < 6; i++) {
        uint32_t x = rig_rand(seed);
        struct rig_out a = outs[rig_rand(seed) % n], b = outs[rig_rand(seed) % n];
        outs[n++] = rig_node(r, choice[x % 5] | (x >> 8 & 1 ? RIG_CPU_ONLY : 0), x % 1000, a,
                             choice[x % 5] == RIG_TABLE ? tables[x >> 9 & 1] : b);
    }
    for (uint32_t i = 0; i < 4 && i < n; i++)
        rig_sink(r, RIG_SINK | (i & 1 ? RIG_CPU_ONLY : 0), outs[n - 1 - i]);
    r->finals = n > 0;
}

void rig_random(struct rig *r, uint32_t seed, uint32_t n, uint64_t elements, int64_t end)
{
    struct rig_out outs[512], finals[512], tables[2];
    uint32_t n_outs = 0, n_finals = 0, n_streams = end > 0 ? 1 + seed % 2 : 0;

    seed = seed * 2654435761u | 1;
    rig_begin(r, elements);
    r->expected_threads = 1;
    for (int i = 0; i < 2; i++)
        tables[i] = rig_node(r, RIG_ONCE, i + 5, RIG_NOTHING, RIG_NOTHING);
    tables[1] = rig_node(r, RIG_ADD1, 1, tables[1], RIG_NOTHING); /* a once node, because its input is a once value */
    for (uint32_t i = 0; i < n_streams; i++)
        outs[n_outs++] = rig_node(r, RIG_STREAM, end + i, RIG_NOTHING, RIG_NOTHING);
    for (; n_outs < 3; n_outs++)
        outs[n_outs] = rig_node(r, RIG_SOURCE, n_outs, RIG_NOTHING, RIG_NOTHING);
    for (uint32_t i = 0; i < n && n_outs < 500; i++) {
        static const int choice[] = { RIG_ADD1, RIG_ADD2, RIG_ADD2, RIG_BUMP, RIG_BUMP, RIG_SCRATCH, RIG_SPLIT,
                                      RIG_TABLE };
        uint32_t x = rig_rand(&seed);
        int kernel = choice[x % 8], cpu = (x >> 8) % 4 == 0 ? RIG_CPU_ONLY : 0;
        struct rig_out a = outs[rig_rand(&seed) % n_outs], b = outs[rig_rand(&seed) % n_outs];
        if (kernel == RIG_TABLE)
            b = tables[x >> 5 & 1];
        if (kernel == RIG_BUMP && !rig_skips && (x >> 12) % 8 == 0)
            a = tables[0];
        if (rig_accs && (i == 0 || (x >> 13) % 4 == 0)) {
            kernel = RIG_ACC;
            a = (x >> 15) % 16 ? a : tables[1];
        }
        if ((x >> 16) % 8 == 0)
            r->depth = 1 + (x >> 20) % 3;
        if ((x >> 24) % 8 == 0)
            r->hint = cpu ? DF_CLASS_CPU : (int)(x >> 30 & 1);
        if (rig_skips && kernel != RIG_ACC && (x >> (rig_accs ? 15 : 13)) % 4 == 0)
            kernel = (x >> 21) % 3 ? RIG_SKIP : RIG_DROP;
        if (rig_skips && kernel == RIG_ADD2 && (x >> 15) % 4)
            outs[n_outs++] = a = rig_select(r, a, b);
        else
            outs[n_outs++] = a = rig_node(r, kernel | cpu, x % 1000, a, b);
        if (kernel == RIG_SPLIT)
            outs[n_outs++] = (struct rig_out){ a.node, 1 };
        if (kernel == RIG_ACC) {
            finals[n_finals++] = a;
            outs[n_outs - 1].slot = 1;
        }
    }
    for (uint32_t i = 0; i < 6; i++)
        rig_sink(r, (i & 1 ? RIG_ORDERED : RIG_SINK) | (i % 3 ? RIG_CPU_ONLY : 0), outs[n_outs - 1 - i % n_outs]);
    add_finals(r, &seed, finals, n_finals, tables);
    rig_end(r);
}

struct df_options rig_options(const char *policy, enum df_device_kind device, unsigned workers)
{
    struct df_options o;
    df_options_default(&o);
    o.policy = policy;
    o.device = device;
    o.workers = workers;
    o.log_level = DF_LOG_ERROR;
    return o;
}

struct df_stats rig_check(struct rig *r, const struct df_options *o, int64_t waves)
{
    static struct df_stats stats;
    struct df_error error = { "" };

    if (rig_run(r, o, &stats, &error) != DF_OK)
        fail_msg("%s", error.text);
    if (!rig_same(r, waves))
        fail_msg("policy %s, device %d, %u workers, %u in flight, %llu bytes of GPU memory", o->policy, o->device,
                 o->workers, o->inflight, (unsigned long long)o->gpu_mem_bytes);
    assert_int_equal(stats.waves, waves);
    return stats;
}
