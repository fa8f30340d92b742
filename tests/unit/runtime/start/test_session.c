/* test_session.c - calls of a session: random graphs in every loop and on every device against the sequential
 * reference; other memory, args and numbers of waves from call to call; failures, misuse, several threads; and that a
 * call allocates nothing.
 *
 *     take (given) -> scale (by an arg) -> add <- bias (once)       add -> the caller's result
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_rig.h"
#include "runtime/graph/expr.h"
#include "runtime/graph/graph.h"

/* ---- the allocator, which counts ---- */

static _Atomic long n_allocated;        /* by all threads */
static _Atomic bool counting;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__GLIBC__)
#define COUNTS 1

void *__libc_malloc(size_t size);       /* glibc's own, under the names that it has for such replacements */
void *__libc_calloc(size_t n, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void *__libc_realloc(void *given, size_t size);

void *malloc(size_t size)
{
    n_allocated += counting;
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    n_allocated += counting;
    return __libc_calloc(n, size);
}

void *realloc(void *given, size_t size)
{
    n_allocated += counting;
    return __libc_realloc(given, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    n_allocated += counting;
    return __libc_memalign(alignment, size);
}
#else
#define COUNTS 0
#endif

/* ---- random graphs ---- */

/* A sink that fires once has nothing to record after the first call. */
static void expect_nothing_once(struct rig *r, int64_t done)
{
    bool once[RIG_SINKS] = { false };

    rig_expect(r, 2);
    for (uint32_t s = 0; s < r->n_sinks; s++)
        if (r->expected->count[s][1] == 0)
            once[s] = true;
    rig_expect(r, done);
    for (uint32_t s = 0; s < r->n_sinks; s++)
        if (once[s])
            r->expected->count[s][0] = 0, r->expected->sum[s][0] = 0;
}

static void expect_call(struct rig *r, struct df_session *session, bool first, int64_t waves, int64_t done,
                        const char *what)
{
    struct df_session_call call = { .waves = waves };
    struct df_error why = { "" };

    if (first)
        rig_expect(r, done);
    else
        expect_nothing_once(r, done);
    rig_clear(r);
    if (df_session_run(session, &call, &why) != DF_OK)
        fail_msg("%s: %s", what, why.text);
    if (!rig_same(r, done))
        fail_msg("%s: a call of %ld waves", what, (long)waves);
}

static void explore(struct rig *r, const struct df_options *o, uint32_t *random, int64_t end)
{
    struct df_session *session;
    struct df_error why = { "" };
    bool stopped = false;
    char what[160];

    snprintf(what, sizeof what, "policy %s, device %d, %u workers, %u in flight", o->policy, o->device, o->workers,
             o->inflight);
    if (df_session_open(r->graph, o, &session, &why) != DF_OK)
        fail_msg("%s: %s", what, why.text);
    for (int call = 0; call < 6; call++) {
        bool first = call == 0 || stopped;
        int64_t waves = first + rig_rand(random) % 7; /* what fires once does so in a call of no waves, too */
        expect_call(r, session, first, waves, end > 0 && waves > end ? end : waves, what);
        stopped = end > 0 && waves > end; /* the next call begins anew, and so does what fires once */
    }
    assert_int_equal(df_session_close(session, NULL, &why), DF_OK);
}

static void test_random_graphs(void **state)
{
    static const char *const policies[] = { "ws", "eager", "dmda", "all-cpu", "dmdas", "all-gpu", "ddwrr", "random" };
    static const enum df_device_kind devices[] = { DF_DEVICE_NONE, DF_DEVICE_NONE, DF_DEVICE_EMU };
    unsigned first = 1, last = 12;

    (void)state;
    rig_seeds(&first, &last);
    for (unsigned seed = first; seed <= last; seed++) {
        uint32_t random = seed;
        int64_t end = seed % 3 == 0 ? 3 + seed % 4 : 0;
        struct rig r;
        rig_random(&r, seed, 12, 50, end);
        for (unsigned p = 0; p < sizeof policies / sizeof *policies; p++) {
            enum df_device_kind device = devices[(p + seed) % 3];
            struct df_options o = rig_options(policies[p], device, 1 + rig_rand(&random) % 3);
            if (device == DF_DEVICE_NONE && strcmp(policies[p], "all-gpu") == 0)
                continue;
            o.waves = 8;
            o.inflight = rig_rand(&random) % 5;
            o.serial = rig_rand(&random) % 8 == 0;
            explore(&r, &o, &random, end);
        }
        rig_free(&r);
    }
}

/* ---- passes ---- */

/* Halves of an acc, each of which is changed in a pass of its own. The source is called in pass 0 alone, so what the halves read is kept; some
 * of it is empty. */
static void make_passes(struct rig *r)
{
    struct rig_out source, parts[2];
    const struct df_part_rows rows[2] = { { .number = 0, .n = 2, .first = 0, .rows = 25, .whole = 50 },
                                          { .number = 1, .n = 2, .first = 25, .rows = 25, .whole = 50 } };

    rig_begin(r, 50);
    source = rig_node(r, RIG_SKIP, 17, rig_node(r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING), RIG_NOTHING);
    rig_view(r, source, parts);
    r->n = 25;
    for (int k = 0; k < 2; k++) {
        r->part = &rows[k];
        parts[k] = rig_node(r, RIG_POUR, 3, parts[k], RIG_NOTHING);
    }
    r->n = 50;
    rig_sink(r, RIG_SINK, rig_join(r, parts[0], parts[1]));
    r->finals = true;
    rig_end(r);
}

static void test_kept_for_passes(void **state)
{
    static const char *const policies[] = { "eager", "ws", "dmda", "all-gpu" };
    static const int64_t waves[] = { 19, 1, 7, 2, 40, 3 };
    struct rig r;

    (void)state;
    make_passes(&r);
    for (unsigned k = 0; k < 8; k++) {
        struct df_options o = rig_options(policies[k / 2], k % 2 || k == 6 ? DF_DEVICE_EMU : DF_DEVICE_NONE, 1 + k % 3);
        struct df_session *session;
        struct df_stats stats;
        struct df_error why = { "" };
        o.waves = INT64_C(1) << 50;     /* more than the host's memory keeps: a call may have as many as it does */
        o.passes = 2;
        o.inflight = k % 4;
        assert_int_equal(df_session_open(r.graph, &o, &session, &why), DF_OK);
        for (unsigned c = 0; c < sizeof waves / sizeof *waves; c++)
            expect_call(&r, session, true, waves[c], waves[c], policies[k / 2]);
        struct df_session_call call = { .waves = INT64_C(1) << 49 };
        assert_int_equal(df_session_run(session, &call, &why), DF_E_ARGUMENT);
        assert_non_null(strstr(why.text, "a call of 562949953421312 waves: what the parts of an acc read of them takes "));
        expect_call(&r, session, true, 5, 5, "after a call that was refused");
        assert_int_equal(df_session_close(session, &stats, &why), DF_OK);
        assert_int_equal(stats.passes, 2);
        assert_int_equal(stats.left_bytes, 0);
    }
    rig_free(&r);
}

/* The caller has memory for what is kept: with a place for each wave it is kept there, and in turn it cannot be; nor in a run that is no
 * session. */
static void test_kept_by_the_caller(void **state)
{
    static unsigned char tokens[20 * 4096];
    struct rig r;
    struct df_session *session;
    struct df_run *run;
    struct df_stats stats;
    struct df_error why = { "" };
    char name[128];

    (void)state;
    make_passes(&r);
    uint32_t v = 0;
    while (df_node_n_out(r.graph, v) == 0 || df_node_n_in(r.graph, v) == 0)
        v++;                            /* the node that skips is the first with inputs and outputs */
    df_node_name(r.graph, v, name, sizeof name);
    struct df_buffer buffer = { .node = name, .data = tokens, .bytes = sizeof tokens };
    for (int emulated = 0; emulated < 2; emulated++) {
        struct df_options o = rig_options("eager", emulated ? DF_DEVICE_EMU : DF_DEVICE_NONE, 2);
        o.waves = 19;
        o.passes = 2;
        o.buffers = &buffer;
        o.n_buffers = 1;
        assert_int_equal(df_session_open(r.graph, &o, &session, &why), DF_OK);
        for (int64_t waves = 19; waves > 0; waves /= 2)
            expect_call(&r, session, true, waves, waves, "kept by the caller");
        assert_int_equal(df_session_close(session, &stats, &why), DF_OK);
        assert_int_equal(stats.passes, 2);
        buffer.n_tokens = 8;
        assert_int_equal(df_session_open(r.graph, &o, &session, &why), DF_E_ARGUMENT);
        assert_non_null(strstr(why.text, "the waves of this run go by once, because what the parts read is neither the caller's nor of"));
        buffer.n_tokens = 0;
        assert_int_equal(df_run_start(r.graph, &o, &run, &why), DF_E_ARGUMENT);
        assert_non_null(strstr(why.text, "is not kept where tokens lie in memory of the caller"));
    }
    rig_free(&r);
}

/* ---- a graph on the caller's memory ---- */

enum { N = 700, MOST = 5 };
static _Atomic unsigned n_bias;         /* calls of `bias` */
static _Atomic int64_t fails_at;        /* the value of an element that scale refuses */

#define KERNEL(name) \
    static int name(struct df_call *call, void *stream, const size_t *dims, void *const *ports, \
                    const union df_scalar *scalars)
#define P(p) ((int64_t *)ports[p])
#define UNUSED (void)call, (void)stream, (void)dims, (void)ports, (void)scalars

KERNEL(bias)
{
    UNUSED;
    n_bias++;
    for (size_t i = 0; i < dims[0]; i++)
        P(0)[i] = (int64_t)i;
    return DF_OK;
}

KERNEL(scale)
{
    UNUSED;
    if (P(0)[0] == fails_at)
        return df_fail(call, "%ld is refused", (long)fails_at);
    for (size_t i = 0; i < dims[0]; i++)
        P(1)[i] = P(0)[i] * scalars[0].i64;
    return DF_OK;
}

KERNEL(add)
{
    UNUSED;
    for (size_t i = 0; i < dims[0]; i++)
        P(2)[i] = P(0)[i] + P(1)[i];
    return DF_OK;
}

static struct df_error error;

#define OK(call) \
    do { \
        if ((call) != DF_OK) \
            fail_msg("%s", error.text); \
    } while (0)

static struct df_graph *make_graph(void)
{
    static const char *const dims[] = { "k" };
    static const struct df_port_desc ports[] = { { "a", DF_IN, DF_I64, 1 }, { "b", DF_IN, DF_I64, 1 },
                                                 { "c", DF_OUT, DF_I64, 1 } };
    static const struct df_port_desc through[] = { { "a", DF_IN, DF_I64, 1 }, { "c", DF_OUT, DF_I64, 1 } };
    static const struct df_scalar_desc by[] = { { "by", DF_S_I64 } };
    static const uint64_t n[] = { N }, extents[3][DF_MAX_RANK] = { { N }, { N }, { N } };
    static const uint64_t code[] = { DF_X_INT, 6, DF_X_ARG, 0, DF_X_DIV }; /* 6 / by */
    const struct df_kernel_desc kernels[] = {
        { .name = "take", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = &ports[2] },
        { .name = "bias", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = &ports[2], .traits = DF_ONCE,
          .functions = { .cpu = bias, .gpu = bias } },
        { .name = "scale", .n_dims = 1, .dims = dims, .n_ports = 2, .ports = through, .n_scalars = 1, .scalars = by,
          .functions = { .cpu = scale, .gpu = scale } },
        { .name = "add", .n_dims = 1, .dims = dims, .n_ports = 3, .ports = ports, .functions = { .cpu = add, .gpu = add } },
    };
    struct df_builder *b = df_builder_new("g");
    struct df_graph *graph = NULL;
    uint32_t kernel[4], node[4], scalar;

    OK(df_builder_arg(b, "by", DF_S_I64, true, (union df_scalar){ .i64 = 2 }, NULL, &error));
    OK(df_builder_expression(b, DF_S_I64, code, 5, &scalar, &error));
    for (unsigned k = 0; k < 4; k++) {
        OK(df_builder_kernel(b, &kernels[k], &kernel[k], &error));
        OK(df_builder_node_desc(b, &(struct df_node_desc){ .kernel = kernel[k], .dims = n, .port_dims = extents,
                                                           .scalars = k == 2 ? &scalar : NULL, .hint_class = -1 },
                                &node[k], &error));
    }
    OK(df_builder_connect(b, node[0], 0, node[2], 0, &error));
    OK(df_builder_connect(b, node[2], 0, node[3], 0, &error));
    OK(df_builder_connect(b, node[1], 0, node[3], 1, &error));
    OK(df_builder_finish(b, &graph, &error));
    df_builder_free(b);
    return graph;
}

struct arrays {                         /* of one call */
    int64_t in[MOST][N], out[MOST][N];
};

static void fill(struct arrays *a, int64_t from)
{
    for (int64_t w = 0; w < MOST; w++)
        for (int64_t i = 0; i < N; i++)
            a->in[w][i] = from + 100 * w + i;
    memset(a->out, 0xee, sizeof a->out);
}

/* Has the call written these waves, and nothing beyond them? */
static bool is_right(const struct arrays *a, int64_t waves, int64_t factor)
{
    int64_t untouched;

    memset(&untouched, 0xee, sizeof untouched);
    for (int64_t w = 0; w < MOST; w++)
        for (int64_t i = 0; i < N; i++)
            if (a->out[w][i] != (w < waves ? a->in[w][i] * factor + i : untouched))
                return false;
    return true;
}

struct fixture {
    struct df_graph *graph;
    struct df_buffer buffers[2];
    struct df_options options;
    struct df_session *session;
};

static void begin(struct fixture *f, const char *policy, enum df_device_kind device, unsigned workers)
{
    f->graph = make_graph();
    f->buffers[0] = (struct df_buffer){ .node = "main/take", .bytes = sizeof ((struct arrays *)0)->in, .given = 1 };
    f->buffers[1] = (struct df_buffer){ .node = "main/add", .bytes = sizeof ((struct arrays *)0)->out };
    f->options = rig_options(policy, device, workers);
    f->options.waves = MOST;
    f->options.buffers = f->buffers;
    f->options.n_buffers = 2;
    n_bias = 0;
    fails_at = INT64_MIN;
    OK(df_session_open(f->graph, &f->options, &f->session, &error));
}

static struct df_stats end(struct fixture *f)
{
    struct df_stats stats;
    OK(df_session_close(f->session, &stats, &error));
    df_graph_free(f->graph);
    return stats;
}

static int run(struct fixture *f, struct arrays *a, int64_t waves, const union df_scalar *args, struct df_error *why)
{
    void *data[] = { a->in, a->out };
    struct df_session_call call = { .waves = waves, .data = data, .args = args };
    return df_session_run(f->session, &call, why);
}

static const struct {
    const char *policy;
    enum df_device_kind device;
    unsigned workers;
    int graphs;
} kinds[] = {
    { "ws", DF_DEVICE_NONE, 1, DF_GRAPHS_AUTO },     { "ws", DF_DEVICE_NONE, 2, DF_GRAPHS_AUTO },
    { "dmda", DF_DEVICE_NONE, 3, DF_GRAPHS_AUTO },   { "eager", DF_DEVICE_EMU, 1, DF_GRAPHS_AUTO },
    { "all-gpu", DF_DEVICE_EMU, 1, DF_GRAPHS_AUTO }, { "all-gpu", DF_DEVICE_EMU, 2, DF_GRAPHS_ON },
    { "dmda", DF_DEVICE_EMU, 2, DF_GRAPHS_ON },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Other memory, args and numbers of waves in each call; what fires once fires in the first call. Each call's memory is
 * freed after it. */
static void test_calls(void **state)
{
    static const int64_t waves[] = { 5, 1, 0, 3, 2, 5, 4 }, by[] = { 2, 0, 0, 3, 0, 1, 0 };

    (void)state;
    for (unsigned k = 0; k < KINDS; k++) {
        struct fixture f;
        int64_t factor = 3;
        begin(&f, kinds[k].policy, kinds[k].device, kinds[k].workers);
        OK(df_session_close(f.session, NULL, &error));
        f.options.cuda_graphs = kinds[k].graphs;
        f.options.pin = (int)(k % 3);   /* DF_PIN_… */
        OK(df_session_open(f.graph, &f.options, &f.session, &error));
        for (int64_t c = 0; c < (int64_t)(sizeof waves / sizeof *waves); c++) {
            struct arrays *a = malloc(sizeof *a);
            union df_scalar args[] = { { .i64 = by[c] } };
            fill(a, 1000 * c);
            factor = by[c] ? 6 / by[c] : factor;
            OK(run(&f, a, waves[c], by[c] ? args : NULL, &error));
            if (!is_right(a, waves[c], factor))
                fail_msg("%s, device %d, %u workers: call %ld", kinds[k].policy, kinds[k].device, kinds[k].workers, (long)c);
            memset(a, 0x55, sizeof *a); /* a copy that is still under way would bring this somewhere */
            free(a);
        }
        assert_int_equal(n_bias, 1);
        assert_int_equal(end(&f).waves, 20);
    }
}

/* The call that fails says why, and the next one is right, with arrays and args as they are by then. */
static void test_failure(void **state)
{
    static struct arrays a;

    (void)state;
    for (unsigned k = 0; k < KINDS; k++) {
        union df_scalar args[] = { { .i64 = 6 } };
        struct fixture f;
        begin(&f, kinds[k].policy, kinds[k].device, kinds[k].workers);
        for (int round = 0; round < 3; round++) {
            fill(&a, 1);
            OK(run(&f, &a, MOST, args, &error));
            assert_true(is_right(&a, MOST, 1));
            fails_at = 201;
            assert_int_equal(run(&f, &a, MOST, NULL, &error), DF_E_KERNEL);
            assert_string_equal(error.text, "node 'main/scale', wave 2: 201 is refused");
            fails_at = INT64_MIN;
            fill(&a, 1);
            assert_int_equal(df_session_run(f.session, NULL, &error), DF_OK);
            assert_true(is_right(&a, MOST, 1));
        }
        end(&f);
    }
}

static _Atomic bool stopped, wrong_progress;

static void *stop_calls(void *arg)
{
    struct fixture *f = arg;
    while (!atomic_load(&stopped)) {
        int64_t waves = df_session_progress(f->session);
        if (waves < -1 || waves > MOST)
            atomic_store(&wrong_progress, true);
        df_session_stop(f->session);
        usleep(20);
    }
    return NULL;
}

/* Another thread stops calls at any moment. Such a call says so, and each later one is right. */
static void test_stop(void **state)
{
    static struct arrays a;

    (void)state;
    for (unsigned k = 0; k < KINDS; k++) {
        unsigned n_stopped = 0;
        pthread_t thread;
        struct fixture f;
        begin(&f, kinds[k].policy, kinds[k].device, kinds[k].workers);
        fill(&a, 1);
        OK(run(&f, &a, MOST, NULL, &error));
        atomic_store(&stopped, false);
        assert_int_equal(pthread_create(&thread, NULL, stop_calls, &f), 0);
        for (int call = 0; call < 3000 && n_stopped < 3; call++) {
            int status = run(&f, &a, MOST, NULL, &error);
            if (status == DF_E_STOPPED)
                assert_string_equal(error.text, "the call was stopped");
            else
                assert_true(status == DF_OK && is_right(&a, MOST, 3));
            n_stopped += status == DF_E_STOPPED;
        }
        atomic_store(&stopped, true);
        pthread_join(thread, NULL);
        assert_true(n_stopped > 0);
        assert_false(atomic_load(&wrong_progress));
        assert_int_equal(df_session_progress(f.session), -1);
        df_session_stop(NULL);          /* as free(NULL) */
        assert_int_equal(df_session_progress(NULL), -1);
        assert_int_equal(df_session_close(NULL, NULL, &error), DF_OK);
        OK(run(&f, &a, MOST, NULL, &error));
        assert_true(is_right(&a, MOST, 3));
        end(&f);
    }
}

static void refused(struct fixture *f, const struct df_session_call *call, const char *why)
{
    assert_int_equal(df_session_run(f->session, call, &error), DF_E_ARGUMENT);
    assert_string_equal(error.text, why);
}

static void test_misuse(void **state)
{
    static struct arrays a, b;
    static int64_t table[N];
    void *both[] = { a.in, a.out };
    struct df_session *session;
    struct fixture f;

    (void)state;
    begin(&f, "ws", DF_DEVICE_NONE, 2);
    fill(&a, 7);
    refused(&f, NULL, "buffer of node 'main/take', output 0: its data is NULL, and no call before has said where it lies");
    refused(&f, &(struct df_session_call){ .waves = 6, .data = both },
            "a call of 6 waves: the session was opened for 5 at most");
    refused(&f, &(struct df_session_call){ .waves = 1, .data = (void *[]){ (char *)a.in + 1, a.out } },
            "buffer of node 'main/take', output 0: each token must begin at a multiple of 8 bytes, for its elements");
    const struct df_session_call near = { .waves = MOST - 1, .data = (void *[]){ b.in, b.in[MOST - 1] } };
    struct df_session_call common = near;
    common.waves = MOST;
    OK(df_session_run(f.session, &near, &error));
    refused(&f, &common, "buffer of node 'main/add', output 0: it has bytes in common with that of node 'main/take', output 0");
    OK(df_session_run(f.session, &(struct df_session_call){ .waves = MOST, .data = both }, &error));
    assert_true(is_right(&a, MOST, 3));
    refused(&f, &(struct df_session_call){ .waves = 1, .args = (union df_scalar[]){ { .i64 = 0 } } },
            "node 'main/scale': scalar 'by': division by zero");
    fill(&b, 9);                        /* a call that was refused has changed nothing */
    refused(&f, &(struct df_session_call){ .waves = 1, .data = (void *[]){ b.in, (char *)b.out + 4 } },
            "buffer of node 'main/add', output 0: each token must begin at a multiple of 8 bytes, for its elements");
    fill(&a, 8);
    OK(df_session_run(f.session, NULL, &error));
    assert_true(is_right(&a, MOST, 3));
    OK(df_session_close(f.session, NULL, &error));

    f.options.n_buffers = 1;
    f.buffers[0] = (struct df_buffer){ .node = "main/bias", .bytes = sizeof table, .given = 1 };
    assert_int_equal(df_session_open(f.graph, &f.options, &session, &error), DF_E_ARGUMENT);
    assert_string_equal(error.text, "buffer of node 'main/bias', output 0: its data is NULL");
    df_graph_free(f.graph);
}

/* What is made once is given when the session is opened, and stays there. */
static void test_given_once(void **state)
{
    static struct arrays a;
    static int64_t table[N], other[N];
    void *data[] = { a.in, a.out, NULL };
    struct df_buffer buffers[3];
    struct fixture f;

    (void)state;
    begin(&f, "dmda", DF_DEVICE_EMU, 1);
    OK(df_session_close(f.session, NULL, &error));
    for (int64_t i = 0; i < N; i++)
        table[i] = i;
    memcpy(buffers, f.buffers, sizeof f.buffers);
    buffers[2] = (struct df_buffer){ .node = "main/bias", .data = table, .bytes = sizeof table, .given = 1 };
    f.options.buffers = buffers;
    f.options.n_buffers = 3;
    OK(df_session_open(f.graph, &f.options, &f.session, &error));
    for (int c = 0; c < 3; c++) {
        fill(&a, c);
        OK(df_session_run(f.session, &(struct df_session_call){ .waves = 2, .data = data }, &error));
        assert_true(is_right(&a, 2, 3));
        data[2] = table;
    }
    data[2] = other;
    refused(&f, &(struct df_session_call){ .waves = 2, .data = data },
            "buffer of node 'main/bias', output 0: its node fires once, so it stays where it was when the session was opened");
    assert_int_equal(n_bias, 0);
    end(&f);
}

static void test_refused_options(void **state)
{
    struct df_options o = rig_options("ws", DF_DEVICE_NONE, 1);
    struct df_graph *graph = make_graph();
    struct df_session *session;

    (void)state;
    o.trace_path = "t.json";
    assert_int_equal(df_session_open(graph, &o, &session, &error), DF_E_ARGUMENT);
    assert_string_equal(error.text, "a session takes no trace_path; a run does (df_run_start)");
    df_graph_free(graph);
}

/* ---- threads ---- */

enum { THREADS = 4, CALLS = 1000 };

struct caller {
    pthread_t thread;
    struct df_graph *graph;
    unsigned number;
    bool good;
};

static void *call_often(void *arg)
{
    struct caller *c = arg;
    struct arrays *a = malloc(sizeof *a);
    struct fixture f = { .graph = c->graph };
    struct df_error why;

    f.buffers[0] = (struct df_buffer){ .node = "main/take", .data = a->in, .bytes = sizeof a->in, .given = 1 };
    f.buffers[1] = (struct df_buffer){ .node = "main/add", .data = a->out, .bytes = sizeof a->out };
    f.options = rig_options("ws", DF_DEVICE_NONE, 1 + c->number % 2);
    f.options.waves = MOST;
    f.options.buffers = f.buffers;
    f.options.n_buffers = 2;
    c->good = df_session_open(f.graph, &f.options, &f.session, &why) == DF_OK;
    for (int64_t i = 0; i < CALLS && c->good; i++) {
        fill(a, i * THREADS + c->number);
        c->good = run(&f, a, 1 + i % MOST, NULL, &why) == DF_OK && is_right(a, 1 + i % MOST, 3);
    }
    c->good = df_session_close(f.session, NULL, &why) == DF_OK && c->good;
    free(a);
    return NULL;
}

static void test_threads_with_a_session_each(void **state)
{
    struct caller callers[THREADS];
    struct df_graph *graph = make_graph();

    (void)state;
    fails_at = INT64_MIN;
    for (unsigned t = 0; t < THREADS; t++) {
        callers[t] = (struct caller){ .graph = graph, .number = t };
        assert_int_equal(pthread_create(&callers[t].thread, NULL, call_often, &callers[t]), 0);
    }
    for (unsigned t = 0; t < THREADS; t++) {
        pthread_join(callers[t].thread, NULL);
        assert_true(callers[t].good);
    }
    df_graph_free(graph);
}

static struct df_session *inside;       /* the session whose kernel calls it again */
static char said[2][256];

KERNEL(again)
{
    struct df_error why;
    UNUSED;
    df_session_run(inside, NULL, &why);
    strcpy(said[0], why.text);
    df_session_close(inside, NULL, &why);
    strcpy(said[1], why.text);
    return DF_OK;
}

static void test_one_call_at_a_time(void **state)
{
    static const struct df_kernel_desc kernel = { .name = "again", .functions = { .cpu = again } };
    struct df_options o = rig_options("ws", DF_DEVICE_NONE, 1);
    struct df_builder *b = df_builder_new("g");
    struct df_graph *graph;
    uint32_t k, v;

    (void)state;
    OK(df_builder_kernel(b, &kernel, &k, &error));
    OK(df_builder_node(b, k, NULL, NULL, NULL, &v, &error));
    OK(df_builder_finish(b, &graph, &error));
    df_builder_free(b);
    OK(df_session_open(graph, &o, &inside, &error));
    OK(df_session_run(inside, NULL, &error));
    assert_string_equal(said[0], "another thread is in a call of this session: each thread opens its own");
    assert_string_equal(said[1], "a thread is in a call of this session");
    OK(df_session_close(inside, NULL, &error));
    df_graph_free(graph);
}

/* ---- what a call costs ---- */

static void test_no_allocation(void **state)
{
    static struct arrays a;

    (void)state;
    for (unsigned k = 0; k < KINDS && COUNTS; k++) {
        union df_scalar args[] = { { .i64 = 2 } };
        struct fixture f;
        begin(&f, kinds[k].policy, kinds[k].device, kinds[k].workers);
        for (int c = 0; c < 40; c++) {
            fill(&a, c);
            counting = kinds[k].device == DF_DEVICE_NONE || c > 20; /* a device may still learn its batches */
            n_allocated = 0;
            OK(run(&f, &a, 1 + c % MOST, kinds[k].device == DF_DEVICE_NONE ? args : NULL, &error));
            counting = false;
            if (n_allocated > 0)
                fail_msg("%s, device %d, %u workers: %ld allocations in call %d", kinds[k].policy, kinds[k].device,
                         kinds[k].workers, n_allocated, c);
        }
        end(&f);
    }
    if (!COUNTS)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_failure),     cmocka_unit_test(test_stop),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_given_once),
        cmocka_unit_test(test_kept_for_passes),
        cmocka_unit_test(test_kept_by_the_caller),
        cmocka_unit_test(test_refused_options),
        cmocka_unit_test(test_threads_with_a_session_each),
        cmocka_unit_test(test_one_call_at_a_time),
        cmocka_unit_test(test_no_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
