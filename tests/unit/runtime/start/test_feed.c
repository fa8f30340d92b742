/* test_feed.c - runs that are fed: random graphs under every policy, whose waves begin one by one, against the sequential
 * reference; given tokens and results in places that are used in turn, while jobs take unlike times; failures and misuse.
 *
 *     take (given) -> work -> keep (ordered, on the caller's memory)       work -> total (an acc, delivered after the last wave)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_rig.h"
#include "runtime/graph/graph.h"

static struct df_error error;

#define OK(call) \
    do { \
        if ((call) != DF_OK) \
            fail_msg("%s", error.text); \
    } while (0)

/* ---- random graphs ---- */

/* Begins n waves as there is room, until the run ends. Gives how many have ended. */
static int64_t feed(struct df_run *run, int64_t n)
{
    int64_t wave, fed = 0, ended = 0;
    int status;

    while ((status = df_run_ended(run, fed == n ? -1 : 0.0001, &wave)) == DF_OK) {
        ended += wave >= 0;
        while (fed < n && df_run_room(run) > 0 && df_run_feed(run, fed) == fed)
            fed++;
        if (fed == n)
            df_run_feed_end(run);
    }
    assert_int_equal(status, DF_E_STOPPED);
    return ended;
}

static void test_random_graphs(void **state)
{
    static const char *const policies[] = { "ws", "eager", "dmda", "all-cpu", "dmdas", "all-gpu", "ddwrr", "random" };
    static const enum df_device_kind devices[] = { DF_DEVICE_NONE, DF_DEVICE_NONE, DF_DEVICE_EMU };
    unsigned first = 1, last = 24;

    (void)state;
    rig_seeds(&first, &last);
    for (unsigned seed = first; seed <= last; seed++) {
        uint32_t random = seed;
        int64_t end = seed % 3 == 0 ? 3 + seed % 4 : 0, n = rig_rand(&random) % 12;
        struct rig r;
        rig_skips = seed % 2;
        rig_random(&r, seed, 12, 50, end);
        rig_expect(&r, end > 0 && n > end ? end : n);
        for (unsigned p = 0; p < sizeof policies / sizeof *policies; p++) {
            enum df_device_kind device = devices[(p + seed) % 3];
            struct df_options o = rig_options(policies[p], device, 1 + rig_rand(&random) % 3);
            struct df_run *run;
            if (device == DF_DEVICE_NONE && strcmp(policies[p], "all-gpu") == 0)
                continue;
            o.waves = -1;
            o.feed = 1;
            o.inflight = rig_rand(&random) % 5;
            o.serial = rig_rand(&random) % 8 == 0;
            rig_clear(&r);
            OK(df_run_start(r.graph, &o, &run, &error));
            feed(run, n);
            OK(df_run_wait(run, NULL, &error));
            if (!rig_same(&r, end > 0 && n > end ? end : n))
                fail_msg("seed %u: policy %s, device %d, %u workers, %u in flight, %ld waves", seed, o.policy, device, o.workers,
                         o.inflight, (long)n);
        }
        rig_free(&r);
    }
    rig_skips = false;
}

/* ---- a graph on the caller's memory ---- */

enum { N = 300, PLACES = 6 };
static int64_t total[N];
static _Atomic int64_t fails_at;

#define KERNEL(name) \
    static int name(struct df_call *call, void *stream, const size_t *dims, void *const *ports, \
                    const union df_scalar *scalars)
#define P(p) ((int64_t *)ports[p])
#define UNUSED (void)call, (void)stream, (void)dims, (void)ports, (void)scalars

KERNEL(work)
{
    UNUSED;
    int64_t wave = df_wave(call);
    if (wave == fails_at)
        return df_fail(call, "wave %ld is refused", (long)wave);
    if (P(0)[0] % 3 == 0)
        usleep(200);                    /* so waves end in another order than they begin */
    for (size_t i = 0; i < dims[0]; i++)
        P(1)[i] = P(0)[i] * 2 + wave;
    return DF_OK;
}

KERNEL(add)
{
    UNUSED;
    for (size_t i = 0; i < dims[0]; i++)
        P(1)[i] += P(0)[i];
    return DF_OK;
}

static struct df_graph *make_graph(void)
{
    static const char *const dims[] = { "k" };
    static const struct df_port_desc ports[] = { { "a", DF_IN, DF_I64, 1 }, { "b", DF_OUT, DF_I64, 1 }, { "t", DF_ACC, DF_I64, 1 } };
    static const struct df_port_desc with_acc[] = { { "a", DF_IN, DF_I64, 1 }, { "t", DF_ACC, DF_I64, 1 } };
    static const uint64_t n[] = { N }, extents[2][DF_MAX_RANK] = { { N }, { N } };
    const struct df_kernel_desc kernels[] = {
        { .name = "take", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = &ports[1] },
        { .name = "work", .n_dims = 1, .dims = dims, .n_ports = 2, .ports = ports, .functions = { .cpu = work, .gpu = work } },
        { .name = "total", .n_dims = 1, .dims = dims, .n_ports = 2, .ports = with_acc, .functions = { .cpu = add, .gpu = add } },
    };
    struct df_builder *b = df_builder_new("g");
    struct df_graph *graph = NULL;
    uint32_t kernel[3], node[3];

    for (unsigned k = 0; k < 3; k++) {
        OK(df_builder_kernel(b, &kernels[k], &kernel[k], &error));
        OK(df_builder_node_desc(b, &(struct df_node_desc){ .kernel = kernel[k], .dims = n, .port_dims = extents, .hint_class = -1 },
                                &node[k], &error));
    }
    OK(df_builder_connect(b, node[0], 0, node[1], 0, &error));
    OK(df_builder_connect(b, node[1], 0, node[2], 0, &error));
    OK(df_builder_finish(b, &graph, &error));
    df_builder_free(b);
    return graph;
}

struct places {                         /* tokens in turn */
    int64_t in[PLACES][N], out[PLACES][N];
};

struct fixture {
    struct df_graph *graph;
    struct df_buffer buffers[3];
    struct df_options options;
    struct df_run *run;
    struct places *places;
};

static void begin(struct fixture *f, const char *policy, enum df_device_kind device, unsigned workers, unsigned inflight)
{
    f->graph = make_graph();
    f->places = calloc(1, sizeof *f->places);
    f->buffers[0] = (struct df_buffer){ .node = "main/take", .data = f->places->in, .bytes = sizeof f->places->in, .n_tokens = PLACES,
                                        .given = 1 };
    f->buffers[1] = (struct df_buffer){ .node = "main/work", .data = f->places->out, .bytes = sizeof f->places->out,
                                        .n_tokens = PLACES };
    f->buffers[2] = (struct df_buffer){ .node = "main/total", .data = total, .bytes = sizeof total };
    f->options = rig_options(policy, device, workers);
    f->options.waves = -1;
    f->options.feed = 1;
    f->options.inflight = inflight;
    f->options.buffers = f->buffers;
    f->options.n_buffers = 3;
    fails_at = -1;
    memset(total, 0, sizeof total);
    OK(df_run_start(f->graph, &f->options, &f->run, &error));
}

static int end(struct fixture *f, struct df_error *why)
{
    int status = df_run_wait(f->run, NULL, why);
    df_graph_free(f->graph);
    free(f->places);
    return status;
}

/* What is given to wave w, and the number that it is told. */
static int64_t element(int64_t w, size_t i) { return w * 7 % 11 + (int64_t)i; }
static int64_t number(int64_t w) { return 1000 - w; }

static void give(struct fixture *f, int64_t w)
{
    for (size_t i = 0; i < N; i++)
        f->places->in[w % PLACES][i] = element(w, i);
    memset(f->places->out[w % PLACES], 0xee, sizeof f->places->out[0]);
    assert_int_equal(df_run_feed(f->run, number(w)), w);
}

static void check(const struct fixture *f, int64_t w)
{
    for (size_t i = 0; i < N; i++)
        if (f->places->out[w % PLACES][i] != element(w, i) * 2 + number(w))
            fail_msg("wave %ld, element %zu", (long)w, i);
}

static void test_places(void **state)
{
    static const struct {
        const char *policy;
        enum df_device_kind device;
        unsigned workers, inflight;
    } kinds[] = {
        { "ws", DF_DEVICE_NONE, 1, 1 }, { "ws", DF_DEVICE_NONE, 3, 6 }, { "eager", DF_DEVICE_NONE, 2, 3 },
        { "all-gpu", DF_DEVICE_EMU, 1, 3 }, { "dmda", DF_DEVICE_EMU, 2, 6 }, { "random", DF_DEVICE_EMU, 2, 2 },
    };
    enum { WAVES = 60 };

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct fixture f;
        int64_t fed = 0, wave;
        unsigned told = 0;
        begin(&f, kinds[k].policy, kinds[k].device, kinds[k].workers, kinds[k].inflight);
        assert_int_equal(df_run_room(f.run), kinds[k].inflight);
        OK(df_run_ended(f.run, -1, &wave));
        assert_int_equal(wave, -1);     /* no wave is in flight */
        while (told < WAVES) {
            while (fed < WAVES && df_run_room(f.run) > 0)
                give(&f, fed++);
            if (df_run_room(f.run) == 0)
                assert_int_equal(df_run_feed(f.run, 1), -1);
            OK(df_run_ended(f.run, -1, &wave));
            check(&f, wave);
            told++;
        }
        df_run_feed_end(f.run);
        df_run_feed_end(f.run);
        assert_int_equal(df_run_room(f.run), 0);
        assert_int_equal(df_run_ended(f.run, -1, &wave), DF_E_STOPPED);
        OK(end(&f, &error));
        for (size_t i = 0; i < N; i++) {
            int64_t sum = 0;
            for (int64_t w = 0; w < WAVES; w++)
                sum += element(w, i) * 2 + number(w);
            assert_int_equal(total[i], sum);
        }
    }
}

/* Nothing ends before its time, and a wait that is short ends. */
static void test_waiting(void **state)
{
    struct fixture f;
    int64_t wave;

    (void)state;
    begin(&f, "eager", DF_DEVICE_NONE, 1, 2);
    give(&f, 0);                        /* it takes 0.2 ms: 3 divides its first element */
    OK(df_run_ended(f.run, 0, &wave));
    assert_true(wave <= 0);
    while (wave < 0)
        OK(df_run_ended(f.run, 0.01, &wave));
    assert_int_equal(wave, 0);
    OK(df_run_ended(f.run, 0.01, &wave));
    assert_int_equal(wave, -1);
    df_run_feed_end(f.run);             /* after the last wave has ended */
    assert_int_equal(df_run_ended(f.run, -1, &wave), DF_E_STOPPED);
    OK(end(&f, &error));

    begin(&f, "eager", DF_DEVICE_NONE, 1, 2);
    df_run_feed_end(f.run);             /* without any wave */
    assert_int_equal(df_run_ended(f.run, -1, &wave), DF_E_STOPPED);
    OK(end(&f, &error));
    assert_int_equal(total[5], 0);
}

static void test_failure(void **state)
{
    struct fixture f;
    struct df_error why = { "" };
    int64_t wave;

    (void)state;
    begin(&f, "eager", DF_DEVICE_NONE, 2, 3);
    fails_at = number(1);
    give(&f, 0);
    give(&f, 1);
    while (df_run_ended(f.run, -1, &wave) == DF_OK)
        assert_int_equal(wave, 0);
    assert_int_equal(end(&f, &why), DF_E_KERNEL);
    assert_string_equal(why.text, "node 'main/work', wave 999: wave 999 is refused");
}

static void ring(void *arg)
{
    atomic_fetch_add((_Atomic int *)arg, 1);
}

/* A caller who waits for other things than the run is told when there is something to ask for. A run can be given up. */
static void test_told_and_stopped(void **state)
{
    static _Atomic int n_rings;
    struct fixture f;
    struct df_error why = { "" };
    int64_t wave;

    (void)state;
    begin(&f, "eager", DF_DEVICE_NONE, 2, 3);
    df_run_feed_end(f.run);
    OK(end(&f, &error));
    f.graph = make_graph();
    f.places = calloc(1, sizeof *f.places);
    f.buffers[0].data = f.places->in;
    f.buffers[1].data = f.places->out;
    f.options.fed = ring;
    f.options.fed_arg = (void *)&n_rings;
    OK(df_run_start(f.graph, &f.options, &f.run, &error));
    for (int64_t w = 0; w < 12; w++) {
        int before = atomic_load(&n_rings);
        give(&f, w);
        while (atomic_load(&n_rings) == before)
            usleep(50);
        OK(df_run_ended(f.run, -1, &wave));
        assert_int_equal(wave, w);
    }
    give(&f, 12);
    int before = atomic_load(&n_rings);
    df_run_stop(f.run);
    df_run_stop(f.run);
    assert_true(atomic_load(&n_rings) > before);
    while (df_run_ended(f.run, -1, &wave) == DF_OK)
        assert_int_equal(wave, 12);
    assert_int_equal(df_run_room(f.run), 0);
    assert_int_equal(end(&f, &why), DF_E_STOPPED);
    assert_string_equal(why.text, "the run was stopped");
}

/* Some of the tokens that are given are empty: what reads them is left out. The same places
 * come again with tokens that are not. */
static void test_given_empty(void **state)
{
    static const enum df_device_kind devices[] = { DF_DEVICE_NONE, DF_DEVICE_EMU };
    enum { WAVES = 40 };

    (void)state;
    for (int k = 0; k < 4; k++) {
        static unsigned char empty[PLACES], none[PLACES];
        struct fixture f;
        int64_t wave, sum = 0;
        begin(&f, k / 2 ? "dmda" : "ws", devices[k / 2], 1 + k % 2, 3);
        df_run_feed_end(f.run);
        OK(end(&f, &error));
        memset(empty, 0, sizeof empty);
        memset(total, 0, sizeof total);
        f.graph = make_graph();
        f.places = calloc(1, sizeof *f.places);
        f.buffers[0].data = f.places->in;
        f.buffers[1].data = f.places->out;
        f.buffers[0].empty = empty;
        f.buffers[1].empty = none;
        OK(df_run_start(f.graph, &f.options, &f.run, &error));
        for (int64_t w = 0; w < WAVES; w++) {
            bool is_empty = w * w % 7 == 2;
            empty[w % PLACES] = is_empty;
            none[w % PLACES] = 0;
            give(&f, w);
            do
                OK(df_run_ended(f.run, -1, &wave));
            while (wave < 0);
            assert_int_equal(none[w % PLACES], is_empty);
            if (!is_empty)
                check(&f, w);
            sum += is_empty ? 0 : element(w, 5) * 2 + number(w);
        }
        df_run_feed_end(f.run);
        OK(end(&f, &error));
        assert_int_equal(total[5], sum);
    }
}

static void test_misuse(void **state)
{
    struct fixture f;
    struct df_run *run;
    struct df_session *session;
    struct df_error why = { "" };
    int64_t wave;

    (void)state;
    begin(&f, "eager", DF_DEVICE_NONE, 1, 2);
    assert_int_equal(df_run_feed(f.run, -5), -1);
    f.options.waves = 3;
    assert_int_equal(df_run_start(f.graph, &f.options, &run, &why), DF_E_ARGUMENT);
    assert_string_equal(why.text, "a run that is fed cannot be run for a number of waves");
    f.options.waves = -1;
    assert_int_equal(df_session_open(f.graph, &f.options, &session, &why), DF_E_ARGUMENT);
    assert_string_equal(why.text, "a run that is fed cannot be run in a session");
    f.options.passes = 3;
    assert_int_equal(df_run_start(f.graph, &f.options, &run, &why), DF_E_ARGUMENT);
    assert_string_equal(why.text, "--passes=3: the waves of this run go by once, because they are begun one by one, as by --journal and --out, or by the program's caller");
    f.options.passes = 0;
    f.options.feed = 0;
    f.options.waves = 0;
    OK(df_run_start(f.graph, &f.options, &run, &error)); /* one that is not fed */
    assert_int_equal(df_run_room(run), 0);
    assert_int_equal(df_run_feed(run, 0), -1);
    assert_int_equal(df_run_ended(run, -1, &wave), DF_E_ARGUMENT);
    df_run_feed_end(run);
    OK(df_run_wait(run, NULL, &error));
    df_run_feed_end(f.run);
    OK(end(&f, &error));
}

/* Streams end the run, whatever the caller still wants. */
/* No wave comes, and that is said before all that fires once has ended: final nodes wait for it. */
static void test_no_waves(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        struct df_options o = rig_options(k % 2 ? "all-gpu" : "ws", k % 2 ? DF_DEVICE_EMU : DF_DEVICE_NONE, 1 + (unsigned)k / 2);
        struct df_error why = { "" };
        struct df_run *run;
        struct rig r;
        rig_begin(&r, 10);
        struct rig_out slow = rig_node(&r, RIG_SLOW, 1, rig_node(&r, RIG_ONCE, 2, RIG_NOTHING, RIG_NOTHING), RIG_NOTHING);
        struct rig_out acc = rig_node(&r, RIG_POUR, 3, rig_node(&r, RIG_SOURCE, 4, RIG_NOTHING, RIG_NOTHING), RIG_NOTHING);
        rig_sink(&r, RIG_SINK, rig_node(&r, RIG_TABLE, 5, acc, slow));
        rig_end(&r);
        r.finals = true;
        rig_expect(&r, 0);
        rig_clear(&r);
        o.waves = -1;
        o.feed = 1;
        if (df_run_start(r.graph, &o, &run, &why) != DF_OK)
            fail_msg("%s", why.text);
        df_run_feed_end(run);
        if (df_run_wait(run, NULL, &why) != DF_OK)
            fail_msg("%s", why.text);
        assert_true(rig_same(&r, 0));
        rig_free(&r);
    }
}

/* A fed run of a stream that ends after 7 waves, and a sink. */
static struct df_run *start_stream(struct rig *r, struct df_options o)
{
    struct df_run *run;
    rig_begin(r, 10);
    rig_sink(r, RIG_ORDERED, rig_node(r, RIG_STREAM, 7, (struct rig_out){ 0 }, (struct rig_out){ 0 }));
    rig_end(r);
    rig_expect(r, 7);
    rig_clear(r);
    o.waves = -1;
    o.feed = 1;
    OK(df_run_start(r->graph, &o, &run, &error));
    return run;
}

static void test_streams(void **state)
{
    struct df_options o = rig_options("eager", DF_DEVICE_NONE, 2);
    struct df_run *run;
    struct rig r;

    (void)state;
    run = start_stream(&r, o);
    int64_t ended = feed(run, 1000);
    OK(df_run_wait(run, NULL, &error));
    assert_int_equal(ended, 7);
    assert_true(rig_same(&r, 7));
    rig_free(&r);
}

static void test_rehearsal(void **state)
{
    struct df_options o = rig_options("eager", DF_DEVICE_NONE, 2);
    struct df_error why = { "" };
    struct df_run *run;
    struct rig r;

    (void)state;
    rig_cost_s = 0.001;
    rig_random(&r, 1, 5, 10, 0);
    rig_cost_s = 0;
    o.waves = -1;
    o.feed = 1;
    o.rehearse = 1;
    assert_int_equal(df_run_start(r.graph, &o, &run, &why), DF_E_ARGUMENT);
    assert_string_equal(why.text, "a run that is fed cannot be run in a rehearsal");
    rig_free(&r);
}

/* A forked child has no threads of the run. Its calls say so, and the parent's run goes on. */
static void test_fork(void **state)
{
    struct df_options o = rig_options("eager", DF_DEVICE_EMU, 2);
    struct df_run *run;
    struct rig r;
    int ended;

    (void)state;
    run = start_stream(&r, o);
    pid_t child = fork();
    if (child == 0) {
        struct df_error why = { "" };
        int64_t wave;
        alarm(30);
        bool right = df_run_room(run) == 0 && df_run_feed(run, 0) == -1 && df_run_ended(run, -1, &wave) == DF_E_STOPPED && wave == -1;
        df_run_stop(run);
        right = df_run_wait(run, NULL, &why) == DF_E_ARGUMENT && right;
        _exit(!right || strcmp(why.text, "the run belongs to another process, from which this one was forked") != 0);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    assert_int_equal(feed(run, 1000), 7);
    OK(df_run_wait(run, NULL, &error));
    assert_true(rig_same(&r, 7));
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs), cmocka_unit_test(test_places),  cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_failure),       cmocka_unit_test(test_misuse),  cmocka_unit_test(test_no_waves), cmocka_unit_test(test_streams),
        cmocka_unit_test(test_rehearsal),     cmocka_unit_test(test_told_and_stopped),
        cmocka_unit_test(test_given_empty),   cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
