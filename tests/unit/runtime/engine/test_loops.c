/* test_loops.c - the loops of CPU workers: the list of one worker, the deques of several, and jobs from the policy. In
 * each loop, the values of every wave are compared with those of the same graph computed one node after the other.
 * There are streams that end, jobs that fail, workers with nothing to do, and tokens at fixed addresses and on the
 * heap. Other tests say which run gets which loop, and that a waiting worker takes no time of a core.
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
#include "runtime/policy/policy_default.h"
#include "runtime/threads/deque.h"

#define LARGE 10000                     /* elements of tokens that do not lie side by side */

static const char *const policies[] = { "ws", "all-cpu", "eager", "dmda" };
enum { N_POLICIES = sizeof policies / sizeof policies[0] };

static struct df_options options(const char *policy, unsigned workers, int64_t waves, unsigned inflight)
{
    struct df_options o = rig_options(policy, DF_DEVICE_NONE, workers);
    o.waves = waves;
    o.inflight = inflight;
    return o;
}

static enum dfr_loop wanted_loop(const struct df_options *o)
{
    if (o->workers == 1 && !o->trace_path)
        return DFR_LOOP_LIST;
    return strcmp(o->policy, "ws") == 0 || strcmp(o->policy, "all-cpu") == 0 ? DFR_LOOP_DEQUES : DFR_LOOP_POLICY;
}

/* Runs the graph. Fails the test if the run gets another loop than wanted_loop() says. */
static int run_loop(struct rig *r, const struct df_options *o, struct df_stats *stats, struct df_error *error)
{
    static const char *const names[] = { "list", "deques", "policy" };
    struct df_run *run;
    int status;

    rig_clear(r);
    if (df_run_start(r->graph, o, &run, error) != DF_OK)
        fail_msg("%s", error->text);
    assert_int_equal(run->threads.loop, wanted_loop(o));
    assert_true(r->n != LARGE || !run->memory.tokens);
    status = df_run_wait(run, stats, error);
    if (stats) {
        assert_string_equal(stats->loop, names[wanted_loop(o)]);
        assert_string_equal(stats->policy, o->policy);
        assert_true(stats->loop_why[0] && stats->policy_why[0]);
    }
    return status;
}

static void run_well(struct rig *r, const struct df_options *o, int64_t waves)
{
    static struct df_stats stats;
    struct df_error error = { "" };
    uint64_t jobs = 0;

    if (run_loop(r, o, &stats, &error) != DF_OK)
        fail_msg("%s", error.text);
    if (!rig_same(r, waves))
        fail_msg("%s, %u workers, %u in flight", o->policy, o->workers, o->inflight);
    assert_int_equal(stats.waves, waves);
    assert_int_equal(stats.n_workers, o->workers);
    assert_true(stats.left_bytes == 0 || o->waves < 0); /* a stream may have made a token of a wave that is discarded */
    for (uint32_t w = 0; w < stats.n_workers; w++) {
        jobs += stats.workers[w].jobs;
        assert_true(stats.workers[w].busy_s >= 0);
        assert_true(stats.workers[w].jobs == 0 || stats.workers[w].busy_s <= stats.makespan_s + 1e-9);
    }
    assert_int_equal(stats.jobs, jobs);
}

/* Runs the graph under each policy, with one to four workers. */
static void run_all(struct rig *r, int64_t asked, int64_t waves, uint32_t seed)
{
    for (unsigned p = 0; p < N_POLICIES; p++)
        for (unsigned workers = 1; workers <= 4; workers++) {
            struct df_options o = options(policies[p], workers, asked, 1 + (seed + workers) % 4);
            run_well(r, &o, waves);
        }
}

/* Makes a graph with sources, once nodes and all kinds of other nodes. end > 0: it has streams, which end at wave `end`
 * or soon after. */
static void random_graph(struct rig *r, uint32_t seed, uint32_t n, int64_t end, uint64_t elements)
{
    static const int choice[] = { RIG_ADD1, RIG_ADD2, RIG_ADD2, RIG_BUMP, RIG_BUMP, RIG_SCRATCH, RIG_SPLIT, RIG_TABLE };
    struct rig_out outs[256], tables[3];
    uint32_t n_outs = 0;

    seed = seed * 2654435761u | 1;
    rig_begin(r, elements);
    tables[0] = rig_node(r, RIG_ONCE, 5, RIG_NOTHING, RIG_NOTHING);
    tables[1] = rig_node(r, RIG_ADD1, 1, tables[0], RIG_NOTHING); /* a once node, because its input is a once value */
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
        random_graph(&r, seed, 5 + seed * 3, 0, 3);
        rig_expect(&r, waves);
        run_all(&r, waves, waves, seed);
        rig_free(&r);
    }
}

static void test_streams(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 20; seed++) {
        struct rig r;
        int64_t end = seed % 7 + 1, waves = first_end(seed, end);
        random_graph(&r, seed, 4 + seed * 2, end, 3);
        rig_expect(&r, waves);
        run_all(&r, -1, waves, seed);
        rig_expect(&r, waves - 1);
        run_all(&r, waves - 1, waves - 1, seed); /* fewer waves than the streams have */
        rig_free(&r);
    }
}

/* Tokens that are too large to lie side by side are blocks. */
static void test_heap(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 6; seed++) {
        struct rig r;
        random_graph(&r, seed, 10 + seed * 3, seed % 2 ? 3 : 0, LARGE);
        int64_t waves = seed % 2 ? first_end(seed, 3) : 3;
        rig_expect(&r, waves);
        run_all(&r, seed % 2 ? -1 : waves, waves, seed);
        rig_free(&r);
    }
}

/* Tokens are blocks, too, if a node may be only so many waves ahead of its readers. */
static void test_depth(void **state)
{
    (void)state;
    for (uint32_t depth = 1; depth <= 2; depth++) {
        struct rig_out x;
        struct rig r;
        rig_begin(&r, 3);
        r.depth = depth;
        x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
        for (int i = 0; i < 5; i++) {
            r.depth = depth;
            x = rig_node(&r, RIG_ADD1, i, x, RIG_NOTHING);
        }
        rig_sink(&r, RIG_ORDERED, x);
        rig_end(&r);
        rig_expect(&r, 12);
        run_all(&r, 12, 12, depth);
        rig_free(&r);
    }
}

/* A trace looks at each job. It changes nothing of the loop of several workers. One worker then has the loop that
 * several would have. */
static void test_trace(void **state)
{
    char path[] = "/tmp/df-loops-XXXXXX";
    int file = mkstemp(path);

    (void)state;
    assert_true(file >= 0);
    close(file);
    for (unsigned p = 0; p < N_POLICIES; p++)
        for (unsigned workers = 1; workers <= 3; workers++)
            for (uint64_t elements = 3; elements <= LARGE; elements += LARGE - 3) {
                struct df_options o = options(policies[p], workers, 4, 2);
                struct rig r;
                random_graph(&r, workers, 20, 0, elements);
                rig_expect(&r, 4);
                o.trace_path = path;
                run_well(&r, &o, 4);
                rig_free(&r);
            }
    unlink(path);
}

/* A worker that is alone begins a wave of a stream when the one before it has ended, although more may be in flight. A trace
 * gives it the loop with deques. */
static void test_oldest_wave_first(void **state)
{
    char path[] = "/tmp/df-loops-XXXXXX", line[4096];
    int file = mkstemp(path), n_jobs = 0;
    struct df_options o = options("ws", 1, -1, 4);
    long long last = 0;
    struct rig r;

    (void)state;
    assert_true(file >= 0);
    close(file);
    rig_begin(&r, 3);
    struct rig_out x = rig_node(&r, RIG_STREAM, 9, RIG_NOTHING, RIG_NOTHING);
    rig_sink(&r, RIG_ORDERED, rig_node(&r, RIG_ADD1, 1, rig_node(&r, RIG_ADD1, 1, x, RIG_NOTHING), RIG_NOTHING));
    rig_end(&r);
    rig_expect(&r, 9);
    o.trace_path = path;
    run_well(&r, &o, 9);
    FILE *trace = fopen(path, "r");
    assert_non_null(trace);
    while (fgets(line, sizeof line, trace))
        for (const char *at = line; (at = strstr(at, "\"wave\":")); n_jobs++) {
            long long wave = strtoll(at += 7, NULL, 10);
            assert_in_range(wave, last, last + 1);
            last = wave;
        }
    assert_true(n_jobs >= 9 * 4);
    fclose(trace);
    unlink(path);
    rig_free(&r);
}

/* A stream delivers nothing at all. The once nodes run all the same. */
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
    run_all(&r, -1, 0, 1);
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
    for (unsigned p = 0; p < N_POLICIES; p++)
        for (unsigned inflight = 1; inflight <= 5; inflight++) {
            struct df_options o = options(policies[p], 9, 20, inflight);
            run_well(&r, &o, 20);
        }
    rig_free(&r);
}

/* Jobs wait for each other to begin. Only workers that run at the same time can do them. */
static void test_at_once(void **state)
{
    struct df_error error = { "" };
    struct rig r;

    (void)state;
    rig_begin(&r, 1);
    struct rig_out x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    for (int i = 0; i < 3; i++)
        rig_sink(&r, RIG_SINK, rig_node(&r, RIG_MEET, 3, x, RIG_NOTHING));
    rig_end(&r);
    rig_expect(&r, 0);                  /* one after the other they would not meet */
    for (unsigned p = 0; p < N_POLICIES; p++) {
        struct df_options o = options(policies[p], 3, 1, 1);
        if (run_loop(&r, &o, NULL, &error) != DF_OK)
            fail_msg("%s", error.text);
    }
    rig_free(&r);
}

/* A gang gathers workers that have jobs in their deques, and workers that have none. */
static void test_gangs(void **state)
{
    struct rig_out x, y[4];
    struct rig r;

    (void)state;
    rig_begin(&r, 3);
    x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    r.expected_threads = 2;
    for (int i = 0; i < 4; i++) {
        y[i] = rig_node(&r, RIG_ADD1, i, x, RIG_NOTHING);
        for (int k = 0; k < 6; k++) {
            r.threads = k % 3 == 1 ? 2 : 0;
            y[i] = rig_node(&r, k % 3 == 1 ? RIG_THREADS : RIG_ADD1, k, y[i], RIG_NOTHING);
        }
        r.threads = 0;
        rig_sink(&r, RIG_ORDERED, y[i]);
    }
    rig_end(&r);
    rig_expect(&r, 10);
    for (unsigned p = 0; p < N_POLICIES; p++)
        for (unsigned workers = 2; workers <= 4; workers++) {
            struct df_options o = options(policies[p], workers, 10, 3);
            run_well(&r, &o, 10);
        }
    rig_free(&r);
}

/* While a gang's job runs, others run what the worker that joined it would have run next. Three jobs meet, so that each
 * worker has one. Then one worker leads a gang of two, whose job waits until all jobs that follow the other two have
 * begun. The worker that joins has just released one of these jobs, and cannot run it itself. */
static void test_gang_next_job(void **state)
{
    struct df_error error = { "" };
    struct rig_out x;
    struct rig r;

    (void)state;
    rig_begin(&r, 1);
    x = rig_node(&r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    for (int i = 0; i < 3; i++) {
        struct rig_out y = rig_node(&r, RIG_MEET, 3, x, RIG_NOTHING);
        if (i > 0)
            y = rig_node(&r, RIG_SLOW, 1, y, RIG_NOTHING);
        r.threads = i == 0 ? 2 : 0;
        rig_sink(&r, RIG_SINK, rig_node(&r, RIG_MEET, i == 0 ? 6 : 1, y, RIG_NOTHING));
    }
    rig_end(&r);
    rig_expect(&r, 0);                  /* one after the other they would not meet */
    for (unsigned p = 0; p < N_POLICIES; p++) {
        struct df_options o = options(policies[p], 3, 1, 1);
        if (run_loop(&r, &o, NULL, &error) != DF_OK)
            fail_msg("%s: %s", policies[p], error.text);
    }
    rig_free(&r);
}

/* ---- what ends a run ---- */

/* One job fails. The other workers wait for what never comes: for this job, for its wave, for streams. */
static void failing(const char *policy, bool streams, unsigned workers, unsigned inflight, int64_t wave)
{
    static struct df_stats stats;
    struct df_error error = { "" };
    struct df_options o = options(policy, workers, 40, inflight);
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
    assert_int_equal(run_loop(&r, &o, &stats, &error), DF_E_KERNEL);
    snprintf(wanted, sizeof wanted, "', wave %lld: planted at %lld", (long long)wave, (long long)wave);
    if (strncmp(error.text, "node '", 6) != 0 || !strstr(error.text, wanted))
        fail_msg("%s", error.text);
    assert_true((int64_t)stats.waves <= (workers == 1 ? wave : 39)); /* several workers: later waves may end earlier */
    rig_free(&r);
}

static void test_failures(void **state)
{
    (void)state;
    for (unsigned p = 0; p < N_POLICIES; p++)
        for (unsigned workers = 1; workers <= 4; workers++)
            for (unsigned inflight = 1; inflight <= 3; inflight++) {
                failing(policies[p], false, workers, inflight, inflight * 2);
                failing(policies[p], true, workers, inflight, 0);
            }
}

/* Kernels that return wrong codes: DF_END from a node that is no stream, and a number that is no code. */
static void test_codes(void **state)
{
    static const struct { int code; const char *text; } cases[] = {
        { DF_END, "returned 1 (DF_END), which only a stream source may" },
        { 77, "returned 77, which is no DF_... code" },
    };

    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        struct df_error error = { "" };
        struct df_options o = options(i < 4 ? "ws" : "eager", i < 2 ? 1 : 3, 4, 2);
        struct rig r;
        rig_begin(&r, 1);
        for (int k = 0; k < 6; k++) {
            struct rig_out x = rig_node(&r, RIG_SOURCE, k, RIG_NOTHING, RIG_NOTHING);
            rig_sink(&r, RIG_SINK, k == 5 ? rig_node(&r, RIG_CODE, cases[i % 2].code, x, RIG_NOTHING) : x);
        }
        rig_end(&r);
        assert_int_equal(run_loop(&r, &o, NULL, &error), DF_E_KERNEL);
        assert_non_null(strstr(error.text, cases[i % 2].text));
        rig_free(&r);
    }
}

/* ---- without membarrier(2) ---- */

/* From here on, this process has no barriers. false: that could not be arranged. */
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
           !dfr_deque_prepare();
}

enum { CANNOT_FORBID = 77 };

/* Owners, thieves and sleepers use fences of their own then. */
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

/* ---- which loop, under which policy ---- */

static struct df_stats stats_of(struct rig *r, const struct df_options *o)
{
    struct df_error error = { "" };
    struct df_stats *stats = calloc(1, sizeof *stats), copy;
    struct df_run *run;

    rig_clear(r);
    if (df_run_start(r->graph, o, &run, &error) != DF_OK || df_run_wait(run, stats, &error) != DF_OK)
        fail_msg("%s", error.text);
    copy = *stats;
    free(stats);
    return copy;
}

static void check_default(struct rig *r, struct df_options *o, const char *policy, const char *loop, const char *why)
{
    struct df_stats stats = stats_of(r, o);
    assert_string_equal(stats.policy, policy);
    assert_string_equal(stats.loop, loop);
    if (!strstr(stats.policy_why, why))
        fail_msg("%s: %s", policy, stats.policy_why);
}

static void chain(struct rig *r)
{
    struct rig_out x;
    rig_begin(r, 1);
    x = rig_node(r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    rig_sink(r, RIG_SINK, rig_node(r, RIG_ADD1, 1, x, RIG_NOTHING));
    rig_end(r);
    rig_expect(r, 3);
}

static void test_defaults(void **state)
{
    struct df_options o = options(NULL, 2, 1, 2);
    struct rig r;

    (void)state;
    chain(&r);
    check_default(&r, &o, "ws", "deques", "not all times are known");
    o.workers = 1;
    check_default(&r, &o, "all-cpu", "list", "one CPU worker");
    rig_free(&r);
    rig_cost_s = DFR_LONG_JOB_S / 2;
    chain(&r);
    check_default(&r, &o, "all-cpu", "list", "one CPU worker");
    o.workers = 2;
    check_default(&r, &o, "ws", "deques", "5.00 us on average");
    rig_free(&r);
    rig_cost_s = DFR_LONG_JOB_S;
    chain(&r);
    check_default(&r, &o, "dmdas", "policy", "no plan");
    o.waves = 3;
    check_default(&r, &o, "ws", "deques", "several waves");
    o.waves = 1;
    o.device = DF_DEVICE_EMU;
    check_default(&r, &o, "dmda", "policy", "devices");
    rig_free(&r);
    rig_cost_s = 0;
}

/* A plan that fits this machine is followed. A plan that was made for another number of workers is not. */
static void test_default_plan(void **state)
{
    struct df_options o = options(NULL, 2, 1, 2);
    struct df_error error = { "" };
    struct df_platform platform;
    struct df_plan *plan;
    struct rig r;

    (void)state;
    rig_cost_s = 2 * DFR_LONG_JOB_S;
    chain(&r);
    df_platform_default(&platform, 0);
    platform.units[0].workers = 2;
    struct df_times times;
    assert_int_equal(dfr_times_default(r.graph, false, &times, &error), DF_OK);
    if (dfp_planner.make(r.graph, &platform, &times, "gp", &plan, &error) != DF_OK)
        fail_msg("%s", error.text);
    dfr_times_free(&times);
    o.plan = plan;
    check_default(&r, &o, plan->run_as[0] && strcmp(plan->run_as, "static") ? plan->run_as : "gp", "policy", "");
    o.workers = 3;
    check_default(&r, &o, "dmdas", "policy", "no plan");
    o.workers = 2;
    o.waves = 3;
    check_default(&r, &o, "ws", "deques", "several waves");
    dfr_plan_free(plan);
    rig_free(&r);
    rig_cost_s = 0;
}

/* The policy that was asked for is the one that is used. An option that looks at jobs gets a loop that shows them. */
static void test_asked(void **state)
{
    struct df_options o = options("all-cpu", 2, 3, 2);
    struct rig r;

    (void)state;
    chain(&r);
    check_default(&r, &o, "all-cpu", "deques", "asked for");
    o.policy = "eager";
    check_default(&r, &o, "eager", "policy", "asked for");
    o.workers = 1;
    check_default(&r, &o, "eager", "list", "asked for");
    o.poison = 1;
    check_default(&r, &o, "eager", "policy", "asked for");
    o.poison = 0;
    o.serial = 1;
    check_default(&r, &o, "serial", "policy", "--serial");
    rig_free(&r);
}

/* A list has each job once, under every policy that needs no plan. */
static void test_all_lists(void **state)
{
    struct rig r;
    (void)state;
    random_graph(&r, 4, 40, 3, 3);
    int64_t waves = first_end(4, 3);
    rig_expect(&r, waves);
    for (const char *const *name = dfr_policy_names(); *name; name++) {
        struct df_error error;
        struct df_options o = options(*name, 1, -1, 2);
        if (!dfr_policy_find(*name, &error)->needs_plan)
            run_well(&r, &o, waves);
    }
    rig_free(&r);
}

/* The graph has so many nodes that jobs are run in turn, not the newest first (worker.c). */
static void test_large(void **state)
{
    enum { N = 140000, RECENT = 512 };
    static struct rig_out x[RECENT];
    struct rig r;
    uint32_t seed = 3;

    (void)state;
    rig_begin(&r, 1);
    for (uint32_t i = 0; i < RECENT; i++)
        x[i] = rig_node(&r, RIG_SOURCE, i, RIG_NOTHING, RIG_NOTHING);
    for (uint32_t i = RECENT; i < N; i++)
        x[i % RECENT] = rig_node(&r, RIG_ADD2, i, x[rig_rand(&seed) % RECENT], x[rig_rand(&seed) % RECENT]);
    for (uint32_t i = 0; i < 40; i++)
        rig_sink(&r, RIG_SINK, x[i]);
    rig_end(&r);
    rig_expect(&r, 3);
    for (unsigned workers = 1; workers <= 3; workers++) {
        struct df_options o = options("ws", workers, 3, 2);
        run_well(&r, &o, 3);
    }
    rig_free(&r);
}

/* ---- idle ---- */

#define WAIT_NS 60000000

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

/* While one worker waits for a stream, the others sleep. All of them together use less than half of one core's time. */
static void test_idle(void **state)
{
    static const uint64_t one[2][DF_MAX_RANK] = { { 1 }, { 1 } };
    struct df_port_desc ports[2] = { { "x", DF_OUT, DF_I32, 1 }, { "y", DF_OUT, DF_I32, 1 } };
    struct df_kernel_desc source = { .name = "source", .n_ports = 1, .ports = ports, .traits = DF_STREAM,
                                     .functions = { .cpu = slow_stream } };
    struct df_kernel_desc next = { .name = "next", .n_ports = 2, .ports = ports, .functions = { .cpu = nothing } };
    struct df_builder *b = df_builder_new("idle");
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
    assert_int_equal(df_builder_node(b, kernels[0], NULL, one, NULL, &from, &error), DF_OK);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(df_builder_node(b, kernels[1], NULL, one, NULL, &to, &error), DF_OK);
        assert_int_equal(df_builder_connect(b, from, 0, to, 0, &error), DF_OK);
    }
    if (df_builder_finish(b, &graph, &error) != DF_OK)
        fail_msg("%s", error.text);
    df_builder_free(b);
    for (unsigned p = 0; p < N_POLICIES; p++) {
        struct df_options o = options(policies[p], 3, -1, 3);
        before_s = core_s();
        if (df_run_start(graph, &o, &run, &error) != DF_OK || df_run_wait(run, &stats, &error) != DF_OK)
            fail_msg("%s", error.text);
        assert_true(core_s() - before_s < 3 * WAIT_NS * 1e-9 / 2);
        assert_int_equal(stats.waves, 2);
    }
    df_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),   cmocka_unit_test(test_streams),      cmocka_unit_test(test_heap),
        cmocka_unit_test(test_depth),    cmocka_unit_test(test_trace),        cmocka_unit_test(test_no_waves),
        cmocka_unit_test(test_few_jobs), cmocka_unit_test(test_at_once),      cmocka_unit_test(test_gangs),
        cmocka_unit_test(test_gang_next_job), cmocka_unit_test(test_oldest_wave_first),
        cmocka_unit_test(test_failures), cmocka_unit_test(test_codes),        cmocka_unit_test(test_fences),
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_default_plan), cmocka_unit_test(test_asked),
        cmocka_unit_test(test_all_lists), cmocka_unit_test(test_large),       cmocka_unit_test(test_idle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
