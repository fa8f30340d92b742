/* test_walk.c - runs whose workers walk lists: the values of every wave against those of the same graph computed one
 * node after the other; streams that end, jobs that fail, workers with nothing to do; and that waiting costs no time
 * of a core.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "partition/partition.h"
#include "run_rig.h"
#include "runtime/engine/engine.h"
#include "runtime/threads/pile.h"
#include "runtime/engine/walk.h"

#define SHORT_S (DFR_LONG_S / 10)

static struct df_options options(unsigned workers, int64_t waves, unsigned inflight)
{
    struct df_options o = rig_options("all-cpu", DF_DEVICE_NONE, workers);
    o.waves = waves;
    o.inflight = inflight;
    return o;
}

/* Fails the test unless lists are walked. */
static int walk(struct rig *r, const struct df_options *o, struct df_stats *stats, struct df_error *error)
{
    struct df_run *run;

    rig_clear(r);
    if (df_run_start(r->graph, o, &run, error) != DF_OK)
        fail_msg("%s", error->text);
    assert_non_null(run->threads.walk);
    return df_run_wait(run, stats, error);
}

static void walk_well(struct rig *r, const struct df_options *o, int64_t waves)
{
    static struct df_stats stats;
    struct df_error error = { "" };
    uint64_t jobs = 0;

    if (walk(r, o, &stats, &error) != DF_OK)
        fail_msg("%s", error.text);
    if (!rig_same(r, waves))
        fail_msg("%u workers, %u in flight", o->workers, o->inflight);
    assert_int_equal(stats.waves, waves);
    assert_int_equal(stats.n_workers, o->workers);
    for (uint32_t w = 0; w < stats.n_workers; w++) {
        jobs += stats.workers[w].jobs;
        assert_true(stats.workers[w].busy_s >= 0);
        assert_true(stats.workers[w].jobs == 0 || stats.workers[w].busy_s <= stats.makespan_s);
    }
    assert_int_equal(stats.jobs, jobs);
}

/* Sources, streams where they end at wave `end` (0: there are none), what is made once, and all kinds of nodes. */
static void random_graph(struct rig *r, uint32_t seed, uint32_t n, int64_t end)
{
    static const int choice[] = { RIG_ADD1, RIG_ADD2, RIG_ADD2, RIG_BUMP, RIG_BUMP, RIG_SCRATCH, RIG_SPLIT, RIG_TABLE };
    struct rig_out outs[256], tables[3];
    uint32_t n_outs = 0;

    seed = seed * 2654435761u | 1;
    rig_begin(r, 3);
    tables[0] = rig_node(r, RIG_ONCE, 5, RIG_NOTHING, RIG_NOTHING);
    tables[1] = rig_node(r, RIG_ADD1, 1, tables[0], RIG_NOTHING); /* once, for its input is */
    tables[2] = rig_node(r, RIG_ADD2, 1, tables[0], tables[1]);
    for (uint32_t i = 0; end > 0 && i < 1 + seed % 3; i++)
        outs[n_outs++] = rig_node(r, RIG_STREAM, end + (i + seed) % 3, RIG_NOTHING, RIG_NOTHING);
    for (uint32_t i = 0; i < 3; i++)
        outs[n_outs++] = rig_node(r, RIG_SOURCE, i, RIG_NOTHING, RIG_NOTHING);
    for (uint32_t i = 0; i < n; i++) {
        int kernel = choice[rig_rand(&seed) % 8];
        uint32_t near = i % 2 && n_outs > 4 ? 4 : n_outs;
        struct rig_out a = outs[n_outs - 1 - rig_rand(&seed) % near], b = outs[rig_rand(&seed) % n_outs];
        if (kernel == RIG_TABLE)
            b = tables[rig_rand(&seed) % 3];
        if (kernel == RIG_BUMP && i % 5 == 0)
            a = tables[2];
        outs[n_outs++] = a = rig_node(r, kernel, i, a, b);
        if (kernel == RIG_SPLIT)
            outs[n_outs++] = (struct rig_out){ a.node, 1 };
    }
    for (uint32_t i = 0; i < 6; i++)
        rig_sink(r, i & 1 ? RIG_ORDERED : RIG_SINK, outs[n_outs - 1 - i]);
    rig_end(r);
}

/* The first wave that any stream of random_graph() does not have. */
static int64_t first_end(uint32_t seed, int64_t end)
{
    int64_t least = INT64_MAX;
    seed = seed * 2654435761u | 1;
    for (uint32_t i = 0; i < 1 + seed % 3; i++)
        least = end + (i + seed) % 3 < least ? end + (i + seed) % 3 : least;
    return least;
}

static void test_random(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 30; seed++) {
        struct rig r;
        int64_t waves = 1 + seed % 9;
        random_graph(&r, seed, 5 + seed * 3, 0);
        rig_expect(&r, waves);
        for (unsigned workers = 1; workers <= 4; workers++) {
            struct df_options o = options(workers, waves, 1 + (seed + workers) % 4);
            walk_well(&r, &o, waves);
        }
        rig_free(&r);
    }
}

static void test_streams(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 20; seed++) {
        struct rig r;
        int64_t end = seed % 7 + 1, waves = first_end(seed, end);
        random_graph(&r, seed, 4 + seed * 2, end);
        rig_expect(&r, waves);
        for (unsigned workers = 1; workers <= 4; workers++) {
            struct df_options o = options(workers, -1, 1 + (seed + workers) % 3);
            walk_well(&r, &o, waves);
            o.waves = waves - 1;        /* fewer than the streams have */
            rig_expect(&r, waves - 1);
            walk_well(&r, &o, waves - 1);
            rig_expect(&r, waves);
        }
        rig_free(&r);
    }
}

/* A stream that has nothing at all; what is made once is made. */
static void test_no_waves(void **state)
{
    struct rig r;

    (void)state;
    rig_begin(&r, 1);
    rig_node(&r, RIG_ONCE, 1, RIG_NOTHING, RIG_NOTHING);
    struct rig_out x = rig_node(&r, RIG_STREAM, 0, RIG_NOTHING, RIG_NOTHING);
    struct rig_out y = rig_node(&r, RIG_STREAM, 5, RIG_NOTHING, RIG_NOTHING);
    rig_sink(&r, RIG_SINK, rig_node(&r, RIG_ADD2, 0, x, y));
    rig_end(&r);
    rig_expect(&r, 0);
    for (unsigned workers = 1; workers <= 3; workers++) {
        struct df_options o = options(workers, -1, 2);
        walk_well(&r, &o, 0);
    }
    rig_free(&r);
}

static void test_few_jobs(void **state)
{
    struct rig_out x;
    struct rig r;

    (void)state;
    rig_begin(&r, 2);
    x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    rig_sink(&r, RIG_ORDERED, rig_node(&r, RIG_BUMP, 1, x, RIG_NOTHING));
    rig_end(&r);
    rig_expect(&r, 20);
    for (unsigned inflight = 1; inflight <= 5; inflight++) {
        struct df_options o = options(9, 20, inflight);
        walk_well(&r, &o, 20);
    }
    rig_free(&r);
}

/* Jobs that wait for each other to begin: so they are on workers of their own. */
static void test_at_once(void **state)
{
    struct df_error error = { "" };
    struct df_options o;
    struct rig r;

    (void)state;
    rig_begin(&r, 1);
    struct rig_out x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    for (int i = 0; i < 3; i++)
        rig_sink(&r, RIG_SINK, rig_node(&r, RIG_MEET, 3, x, RIG_NOTHING));
    rig_end(&r);
    rig_expect(&r, 0);                  /* one after the other they would not meet */
    o = options(3, 1, 1);
    if (walk(&r, &o, NULL, &error) != DF_OK)
        fail_msg("%s", error.text);
    rig_free(&r);
}

/* ---- what ends a run ---- */

/* The others wait for what never comes: for the job that fails, for its wave, for streams. */
static void failing(bool streams, unsigned workers, unsigned inflight, int64_t wave)
{
    static struct df_stats stats;
    struct df_error error = { "" };
    struct df_options o = options(workers, 40, inflight);
    struct rig_out x[4];
    struct rig r;
    char wanted[64];

    rig_begin(&r, 1);
    for (int i = 0; i < 4; i++)
        x[i] = rig_node(&r, streams ? RIG_STREAM : RIG_SOURCE, 50, RIG_NOTHING, RIG_NOTHING);
    for (int i = 0; i < 20; i++)
        for (int k = 0; k < 4; k++) {
            bool here = i == 10 && k == 2;
            int kernel = here ? RIG_FAIL : i % 4 == k ? RIG_ADD2 : RIG_ADD1;
            x[k] = rig_node(&r, kernel, here ? wave : i, x[k], x[(k + 1) % 4]);
        }
    for (int i = 0; i < 4; i++)
        rig_sink(&r, RIG_SINK, x[i]);
    rig_end(&r);
    assert_int_equal(walk(&r, &o, &stats, &error), DF_E_KERNEL);
    snprintf(wanted, sizeof wanted, "', wave %lld: planted at %lld", (long long)wave, (long long)wave);
    if (strncmp(error.text, "node '", 6) != 0 || !strstr(error.text, wanted))
        fail_msg("%s", error.text);
    assert_true((int64_t)stats.waves <= wave);
    rig_free(&r);
}

static void test_failures(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers++)
        for (unsigned inflight = 1; inflight <= 3; inflight++) {
            failing(false, workers, inflight, inflight * 2);
            failing(true, workers, inflight, 0);
        }
}

/* A stream that ends in the wrong way, and a node that is none. */
static void test_codes(void **state)
{
    static const struct { int code; const char *text; } cases[] = {
        { DF_END, "returned DF_END, which only a stream source may" }, { 77, "returned 77, which is no DF_... code" },
    };

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct df_error error = { "" };
        struct df_options o = options(3, 4, 2);
        struct rig r;
        rig_begin(&r, 1);
        for (int k = 0; k < 6; k++) {
            struct rig_out x = rig_node(&r, RIG_SOURCE, k, RIG_NOTHING, RIG_NOTHING);
            rig_sink(&r, RIG_SINK, k == 5 ? rig_node(&r, RIG_CODE, cases[i].code, x, RIG_NOTHING) : x);
        }
        rig_end(&r);
        assert_int_equal(walk(&r, &o, NULL, &error), DF_E_KERNEL);
        assert_non_null(strstr(error.text, cases[i].text));
        rig_free(&r);
    }
}

/* ---- without membarrier(2) ---- */

/* From here on this process has none. */
static bool forbid_barriers(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
           !dfr_pile_prepare();
}

enum { CANNOT_FORBID = 77 };

/* Sleepers and those who tell have fences of their own then. */
static void test_fences(void **state)
{
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        const struct CMUnitTest tests[] = { cmocka_unit_test(test_streams), cmocka_unit_test(test_failures) };
        _exit(!forbid_barriers() ? CANNOT_FORBID : cmocka_run_group_tests(tests, NULL, NULL) != 0);
    }
    (void)state;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT_FORBID)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- when ---- */

static bool is_walked(struct rig *r, struct df_options *o)
{
    struct df_error error = { "" };
    struct df_run *run;
    bool walked;

    rig_clear(r);
    if (df_run_start(r->graph, o, &run, &error) != DF_OK)
        fail_msg("%s", error.text);
    walked = run->threads.walk != NULL;
    if (df_run_wait(run, NULL, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_true(rig_same(r, o->waves));
    return walked;
}

/* As placed here, where an online policy may be better. */
static int make_static(const struct df_graph *graph, const struct df_platform *platform, const struct df_times *times,
                       const char *policy, struct df_plan **plan, struct df_error *error)
{
    int status = dfp_planner.make(graph, platform, times, policy, plan, error);
    if (status == DF_OK)
        (*plan)->run_as[0] = '\0';
    return status;
}

static void test_when(void **state)
{
    static const struct df_planner planner = { make_static };
    struct df_options o = options(2, 3, 2);
    struct rig_out x;
    struct rig r;

    (void)state;
    random_graph(&r, 4, 30, 0);
    rig_expect(&r, 3);
    assert_true(is_walked(&r, &o));
    o.planner = &planner;
    o.policy = "heft";
    assert_true(is_walked(&r, &o));
    o.policy = "gp";                    /* whose guard lets idle workers take what there is */
    assert_false(is_walked(&r, &o));
    o.guard = 0;
    assert_true(is_walked(&r, &o));
    o.policy = "dmda";
    assert_false(is_walked(&r, &o));
    o.policy = "all-cpu";
    o.serial = 1;
    assert_false(is_walked(&r, &o));
    rig_free(&r);

    for (int i = 0; i < 2; i++) {       /* nobody knows what they take; long jobs */
        rig_cost_s = i * 2 * DFR_LONG_S;
        rig_begin(&r, 1);
        x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
        rig_sink(&r, RIG_SINK, x);
        rig_end(&r);
        rig_expect(&r, 3);
        o = options(1, 3, 2);
        assert_true(is_walked(&r, &o));
        o.workers = 2;
        assert_false(is_walked(&r, &o));
        rig_free(&r);
    }
    rig_cost_s = SHORT_S;

    rig_begin(&r, 1);                   /* threads(2): a gang */
    x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    r.threads = r.expected_threads = 2;
    rig_sink(&r, RIG_SINK, rig_node(&r, RIG_THREADS, 1, x, RIG_NOTHING));
    rig_end(&r);
    rig_expect(&r, 3);
    o = options(2, 3, 2);
    assert_false(is_walked(&r, &o));
    rig_free(&r);
}

/* ---- idle ---- */

#define WAIT_NS 150000000

static int slow_stream(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                       const union df_scalar *scalars)
{
    struct timespec pause = { 0, WAIT_NS };
    (void)stream, (void)dims, (void)scalars;
    nanosleep(&pause, NULL);
    *(int32_t *)ports[0] = (int32_t)df_wave(call);
    return df_wave(call) < 2 ? DF_OK : DF_END;
}

static int nothing(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                   const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims, (void)ports, (void)scalars;
    return DF_OK;
}

static double core_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* While a stream is waited for, the others sleep: they do not turn round for half of the time of even one of them. */
static void test_idle(void **state)
{
    static const uint64_t one[2][DF_MAX_RANK] = { { 1 }, { 1 } };
    struct df_port_desc ports[2] = { { "x", DF_OUT, DF_I32, 1 }, { "y", DF_OUT, DF_I32, 1 } };
    struct df_kernel_desc source = { .name = "source", .n_ports = 1, .ports = ports, .traits = DF_STREAM,
                                     .functions = { .cpu = slow_stream } };
    struct df_kernel_desc next = { .name = "next", .n_ports = 2, .ports = ports, .functions = { .cpu = nothing } };
    struct df_builder *b = df_builder_new("idle");
    struct df_options o = options(3, -1, 3);
    static struct df_stats stats;
    struct df_graph *graph;
    struct df_run *run;
    struct df_error error = { "" };
    uint32_t kernels[2], from, to;
    double before_s;

    (void)state;
    assert_non_null(b);
    assert_int_equal(df_builder_kernel(b, &source, &kernels[0], &error), DF_OK);
    ports[0].mode = DF_IN;
    assert_int_equal(df_builder_kernel(b, &next, &kernels[1], &error), DF_OK);
    assert_int_equal(df_builder_cost(b, DF_CLASS_CPU, SHORT_S, &error), DF_OK);
    assert_int_equal(df_builder_node(b, kernels[0], NULL, one, NULL, &from, &error), DF_OK);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(df_builder_node(b, kernels[1], NULL, one, NULL, &to, &error), DF_OK);
        assert_int_equal(df_builder_connect(b, from, 0, to, 0, &error), DF_OK);
    }
    if (df_builder_finish(b, &graph, &error) != DF_OK)
        fail_msg("%s", error.text);
    df_builder_free(b);
    before_s = core_s();
    if (df_run_start(graph, &o, &run, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_non_null(run->threads.walk);
    if (df_run_wait(run, &stats, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_true(core_s() - before_s < 3 * WAIT_NS * 1e-9 / 2);
    assert_int_equal(stats.waves, 2);
    for (uint32_t w = 0; w < 3; w++)
        assert_true(w == 0 || stats.workers[w].busy_s < stats.makespan_s / 2);
    df_graph_free(graph);
}

int main(void)
{
    rig_cost_s = SHORT_S;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_no_waves),
        cmocka_unit_test(test_few_jobs),
        cmocka_unit_test(test_at_once),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_fences),
        cmocka_unit_test(test_when),
        cmocka_unit_test(test_idle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
