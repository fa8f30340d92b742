/* test_run_steps.c - whole runs of small graphs, one atomic operation at a time (steps_rig.h). Whatever the order in
 * which threads take turns, a run ends, its results are right, and failures are told.
 *
 * The files of libdf in which threads meet are compiled for this test (steps_runtime.h; the Makefile lists them).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "run_rig.h"
#include "runtime/engine/ending.h"
#include "steps_runtime.h"

struct trial {
    struct rig rig;
    struct df_options options;
    int64_t waves;                      /* that come out */
    const char *failure;                /* NULL: none */
    uint32_t passes;                    /* of the waves; 0: as many as are needed */
    bool ends_early;                    /* one more thread asks for that; how many waves come out depends on when */
    struct dfr_early early;
    struct df_run *run;
};

static void begin(void *arg)
{
    struct trial *t = arg;
    struct df_error error = { "" };

    rig_clear(&t->rig);
    t->early = (struct dfr_early){ 0 };
    steps_runtime_begin();
    if (df_run_start(t->rig.graph, &t->options, &t->run, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_int_equal(steps_runtime_n_threads, t->options.workers);
}

static void run_thread(void *arg, unsigned number)
{
    struct trial *t = arg;
    if (number < t->options.workers)
        steps_runtime_threads[number].main(steps_runtime_threads[number].arg);
    else
        dfr_engine_end_early(t->run);
}

static bool end(void *arg, bool ended)
{
    struct trial *t = arg;
    struct df_error error = { "" };
    struct df_stats stats;
    int status = df_run_wait(t->run, &stats, &error);

    if (!ended)
        print_message("it does not end\n");
    else if (t->ends_early && status == DF_E_STOPPED)
        return t->early.is_early && t->early.waves <= t->waves && rig_same(&t->rig, t->early.waves) && stats.waves == (uint64_t)t->early.waves &&
               stats.left_bytes == 0;
    else if (t->failure ? status == DF_OK || !strstr(error.text, t->failure) : status != DF_OK)
        print_message("status %d: %s\n", status, error.text);
    else if (t->failure)
        return true;
    else
        return rig_same(&t->rig, t->waves) && stats.waves == (uint64_t)t->waves && stats.left_bytes == 0;
    return false;
}

/* Under ws and all-cpu ready jobs lie in deques, under the others with the policy. */
static const char *const all_long[] = { "ws", "eager", "dmdas", "dmdar", "pats", "ddwrr", "all-cpu", NULL };
static const char *const all_short[] = { "ws", "eager", "dmdar", NULL };
#define all (getenv("DF_LONG") ? all_long : all_short)  /* as make check-long asks */
static const char *const some[] = { "ws", "dmdas", NULL };

/* With each policy; `waves` come out of as many as are asked for. The rig is freed. STEPS_PREEMPTIONS=2 in the
 * environment takes minutes. */
static void explore(struct trial *t, const char *const *policies, unsigned workers, unsigned inflight, int64_t asked,
                    int64_t waves, unsigned preemptions)
{
    const char *more = getenv("STEPS_PREEMPTIONS");
    unsigned n_runs;

    t->waves = waves;
    for (int p = 0; policies[p]; p++) {
        t->options = rig_options(policies[p], DF_DEVICE_NONE, workers);
        t->options.inflight = inflight;
        t->options.waves = asked;
        t->options.passes = t->passes;
        t->options.early = t->ends_early ? &t->early : NULL;
        t->options.log_level = -1;
        n_runs = steps_explore(&(struct steps){ workers + t->ends_early, begin, run_thread, end, t },
                               more ? (unsigned)atoi(more) : preemptions);
        if (n_runs == 0)
            fail_msg("policy %s, %u workers, %u in flight", policies[p], workers, inflight);
        if (more)
            print_message("policy %s, %u workers, %u in flight: %u schedules\n", policies[p], workers, inflight,
                          n_runs);
    }
    rig_free(&t->rig);
}

#define NOTHING RIG_NOTHING, RIG_NOTHING

static void skip_where_it_cannot(void)
{
    steps_skip_under_tsan();
#if !defined(__x86_64__) && !defined(__i386__)
    skip();                             /* who spins does not say so */
#endif
}

/* Two ways from a source to an ordered sink. */
static void diamond(struct trial *t, int source, int64_t s)
{
    struct rig *r = &t->rig;
    struct rig_out a;

    memset(t, 0, sizeof *t);
    rig_begin(r, 1);
    a = rig_node(r, source, s, NOTHING);
    rig_sink(r, RIG_ORDERED, rig_node(r, RIG_ADD2, 1, rig_node(r, RIG_ADD1, 2, a, RIG_NOTHING),
                                      rig_node(r, RIG_ADD1, 3, a, RIG_NOTHING)));
    rig_end(r);
}

/* Two streams, of which one ends before the other, an ordinary source, and what fires once. One wave comes out. */
static void mix(struct trial *t)
{
    struct rig *r = &t->rig;
    struct rig_out a, b, table;

    memset(t, 0, sizeof *t);
    rig_begin(r, 1);
    table = rig_node(r, RIG_ADD1, 1, rig_node(r, RIG_ONCE, 1, NOTHING), RIG_NOTHING);
    a = rig_node(r, RIG_STREAM, 2, NOTHING);
    b = rig_node(r, RIG_STREAM, 1, NOTHING);
    a = rig_node(r, RIG_ADD2, 1, a, rig_node(r, RIG_SOURCE, 2, NOTHING));
    rig_sink(r, RIG_ORDERED, rig_node(r, RIG_TABLE, 1, b, table));
    rig_sink(r, RIG_SINK, a);
    rig_end(r);
    rig_expect(r, 1);
}

/* Both ends of a fork fail, maybe at the same time; one is told. */
static void forked_failure(struct trial *t)
{
    struct rig *r = &t->rig;
    struct rig_out a;

    memset(t, 0, sizeof *t);
    rig_begin(r, 1);
    a = rig_node(r, RIG_SOURCE, 1, NOTHING);
    rig_sink(r, RIG_SINK, rig_node(r, RIG_FAIL, 1, a, RIG_NOTHING));
    rig_sink(r, RIG_ORDERED, rig_node(r, RIG_FAIL, 1, a, RIG_NOTHING));
    rig_end(r);
    t->failure = "wave 1: planted at 1";
}

static void test_waves(void **state)
{
    struct trial t;
    (void)state;
    skip_where_it_cannot();
    diamond(&t, RIG_SOURCE, 1);
    rig_expect(&t.rig, 3);
    explore(&t, all, 2, 2, 3, 3, 1);
    diamond(&t, RIG_SOURCE, 1);
    rig_expect(&t.rig, 2);
    explore(&t, some, 3, 1, 2, 2, 1);
}

/* It ends at wave `waves`, or at once. */
static void test_streams(void **state)
{
    (void)state;
    skip_where_it_cannot();
    for (int64_t waves = 0; waves <= 2; waves += 2) {
        struct trial t;
        diamond(&t, RIG_STREAM, waves);
        rig_expect(&t.rig, waves);
        explore(&t, all, 2, 2, -1, waves, 1);
    }
}

static void test_mix(void **state)
{
    struct trial t;
    (void)state;
    skip_where_it_cannot();
    mix(&t);
    explore(&t, all, 2, 2, -1, 1, 1);
}

/* A request to end early comes at any moment: the waves that come out are the first ones, whole, and as many as are told. */
static void test_early(void **state)
{
    struct trial t;
    (void)state;
    skip_where_it_cannot();
    for (int stream = 0; stream < 2; stream++) {
        diamond(&t, stream ? RIG_STREAM : RIG_SOURCE, 5);
        rig_expect(&t.rig, 5);
        t.ends_early = true;
        explore(&t, stream ? some : all, 2, 2, stream ? -1 : 5, 5, 1);
    }
    mix(&t);                            /* what fires once comes first; and another stream ends */
    t.ends_early = true;
    explore(&t, some, 2, 2, -1, 1, 1);
}

static void test_failures(void **state)
{
    struct trial t;
    (void)state;
    skip_where_it_cannot();
    forked_failure(&t);
    explore(&t, all, 2, 2, 3, 0, 1);
}

/* Kernels that skip different waves, and a select that gets one token, the other, or none; the token of an inout goes
 * with them. The first wave in which something is skipped is among the schedules, in which workers see late that they are
 * to ask for empty tokens. */
static void test_skips(void **state)
{
    (void)state;
    skip_where_it_cannot();
    for (unsigned workers = 2; workers <= 3; workers++) {
        struct trial t;
        struct rig *r = &t.rig;
        struct rig_out a, b;
        memset(&t, 0, sizeof t);
        rig_begin(r, 1);
        a = rig_node(r, RIG_SOURCE, 1, NOTHING);
        b = rig_node(r, RIG_DROP, 5, a, RIG_NOTHING);      /* skips waves 0 and 2 */
        a = rig_node(r, RIG_SKIP, 17, a, RIG_NOTHING);     /* skips waves 1 and 2 */
        rig_sink(r, RIG_ORDERED, rig_select(r, a, b));
        if (workers == 2)
            rig_sink(r, RIG_SINK, rig_node(r, RIG_ADD2, 1, a, b));
        rig_end(r);
        rig_expect(r, 3);
        assert_true(r->expected_left_out > 0);
        explore(&t, workers == 2 ? all : some, workers, 4 - workers, 3, 3, 1);
    }
}

/* Parts of a token, of which one or the other skips, or both; the whole of them is empty then. */
static void test_parts(void **state)
{
    struct trial t;
    struct rig *r = &t.rig;
    struct rig_out parts[2];

    (void)state;
    skip_where_it_cannot();
    memset(&t, 0, sizeof t);
    rig_begin(r, 2);
    rig_view(r, rig_node(r, RIG_SOURCE, 1, NOTHING), parts);
    r->n = 1;
    parts[0] = rig_node(r, RIG_SKIP, 17, parts[0], RIG_NOTHING);     /* skips waves 1 and 2 */
    parts[1] = rig_node(r, RIG_SKIP, 13, parts[1], RIG_NOTHING);     /* skips wave 1 */
    r->n = 2;
    rig_sink(r, RIG_ORDERED, rig_join(r, parts[0], parts[1]));
    rig_end(r);
    rig_expect(r, 3);
    assert_int_equal(r->expected_left_out, 4);
    explore(&t, all, 2, 2, 3, 3, 1);
}

/* The waves go by twice, for two parts of an acc in turn, and some are skipped. What is kept of pass 0 is read again in pass
 * 1, whose first jobs begin while others of pass 0 still run; after the last one the parts are the whole. */
static void test_passes(void **state)
{
    const struct df_part_rows rows[2] = { { .number = 0, .n = 2, .first = 0, .rows = 1, .whole = 2 },
                                          { .number = 1, .n = 2, .first = 1, .rows = 1, .whole = 2 } };

    (void)state;
    skip_where_it_cannot();
    for (unsigned inflight = 1; inflight <= 2; inflight++) {
        struct trial t;
        struct rig *r = &t.rig;
        struct rig_out parts[2];
        memset(&t, 0, sizeof t);
        rig_begin(r, 2);
        rig_view(r, rig_node(r, RIG_SKIP, 17, rig_node(r, RIG_SOURCE, 1, NOTHING), RIG_NOTHING), parts); /* skips waves 1 and 2 */
        r->n = 1;
        for (int k = 0; k < 2; k++) {
            r->part = &rows[k];
            parts[k] = rig_node(r, RIG_POUR, 3, parts[k], RIG_NOTHING);
        }
        r->n = 2;
        rig_sink(r, RIG_SINK, rig_join(r, parts[0], parts[1]));
        r->finals = true;
        rig_end(r);
        rig_expect(r, 4);
        t.passes = 2;
        explore(&t, inflight == 1 ? some : all, 2, inflight, 4, 4, 1);
    }
}

/* A token has one place for itself: counted one by one, and so is the memory that it lies in. */
static void test_depth(void **state)
{
    struct trial t;
    struct rig *r = &t.rig;
    struct rig_out a;

    (void)state;
    skip_where_it_cannot();
    memset(&t, 0, sizeof t);
    rig_begin(r, 1);
    r->depth = 1;
    a = rig_node(r, RIG_SOURCE, 1, NOTHING);
    rig_sink(r, RIG_SINK, rig_node(r, RIG_BUMP, 2, a, RIG_NOTHING));
    rig_sink(r, RIG_ORDERED, a);
    rig_end(r);
    rig_expect(r, 3);
    explore(&t, all, 2, 2, 3, 3, 1);
}

/* ---- no worker sleeps while there is a job for it ---- */

static int64_t n_met;
static bool alone;                      /* it is computed one job after the other */

/* Keeps its worker until s of them have begun. */
static int meet(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims;
    n_met++;
    while (!alone && n_met % scalars[0].i64 != 0)
        steps_spin();
    *(int64_t *)ports[1] = *(const int64_t *)ports[0];
    return DF_OK;
}

/* Takes its time. */
static int pause_here(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                      const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims, (void)scalars;
    steps_yield();
    *(int64_t *)ports[1] = *(const int64_t *)ports[0];
    return DF_OK;
}

static void replace_kernel(struct rig *r, const char *name, df_function *by)
{
    for (uint32_t k = 0; k < r->graph->n_kernels; k++)
        if (!strcmp(df_graph_string(r->graph, r->graph->kernels[k].name), name))
            ((struct df_functions *)r->graph->functions)[k].cpu = by;
}

/* As many that wait for each other as there are workers, behind one that they all wait for. */
static void meeting(struct trial *t, unsigned workers)
{
    struct rig *r = &t->rig;
    struct rig_out a;

    memset(t, 0, sizeof *t);
    rig_begin(r, 1);
    a = rig_node(r, RIG_SOURCE, 1, NOTHING);
    a = rig_node(r, RIG_ADD1, 1, a, RIG_NOTHING);
    for (unsigned i = 0; i < workers; i++)
        rig_sink(r, RIG_SINK, rig_node(r, RIG_MEET, workers, a, RIG_NOTHING));
    rig_end(r);
    replace_kernel(r, "meet", meet);
    replace_kernel(r, "add1", pause_here);
}

static void test_workers_meet(void **state)
{
    struct trial t;

    (void)state;
    skip_where_it_cannot();
    for (unsigned workers = 2; workers <= 3; workers++) {
        meeting(&t, workers);
        alone = true;
        rig_expect(&t.rig, 1);
        alone = false;
        n_met = 0;
        explore(&t, workers == 2 ? all : some, workers, 1, 1, 1, workers == 2);
    }
}

/* Two nodes that want two workers each, of two and of three. */
static void test_gangs(void **state)
{
    (void)state;
    skip_where_it_cannot();
    for (unsigned workers = 2; workers <= 3; workers++) {
        struct trial t;
        struct rig *r = &t.rig;
        struct rig_out a, b, c;

        memset(&t, 0, sizeof t);
        rig_begin(r, 1);
        a = rig_node(r, RIG_SOURCE, 1, NOTHING);
        r->threads = r->expected_threads = 2;
        b = rig_node(r, RIG_THREADS, 2, a, RIG_NOTHING);
        r->threads = 2;
        c = rig_node(r, RIG_THREADS, 3, a, RIG_NOTHING);
        rig_sink(r, RIG_SINK, b);
        rig_sink(r, RIG_SINK, c);
        rig_end(r);
        rig_expect(r, 1);
        explore(&t, some, workers, 1, 1, 1, workers == 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waves),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_mix),
        cmocka_unit_test(test_early), cmocka_unit_test(test_failures),
        cmocka_unit_test(test_depth), cmocka_unit_test(test_skips), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_workers_meet),
        cmocka_unit_test(test_gangs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
