/* test_direct.c - runs whose jobs need nothing but to be called: when they are such, that a pile loses no job to
 * robbers and gives none twice, and that a robbed worker's long job keeps nobody waiting.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "run_rig.h"
#include "runtime/engine/engine.h"
#include "runtime/threads/pile.h"
#include "runtime/engine/walk.h"

/* ---- piles ---- */

enum { ROBBERS = 2, JOBS = 30000 };

struct heist {
    struct dfr_pile piles[1 + ROBBERS];
    bool fences;
    _Atomic uint32_t taken[JOBS];
    _Atomic uint32_t n_taken;
};

static void take(struct heist *h, uint64_t job)
{
    atomic_fetch_add(&h->taken[job], 1);
    atomic_fetch_add(&h->n_taken, 1);
}

static void empty(struct heist *h, struct dfr_pile *pile)
{
    uint64_t job;
    while (dfr_pile_pop(pile, &job)) {
        dfr_pile_leave(pile);
        take(h, job);
        dfr_pile_enter(pile, h->fences);
    }
}

struct robber {
    struct heist *heist;
    uint32_t index;
};

static void *robber_main(void *arg)
{
    struct robber *r = arg;
    struct heist *h = r->heist;
    while (atomic_load(&h->n_taken) < JOBS) {
        for (uint32_t v = 0; v <= ROBBERS; v++)
            if (v != r->index && dfr_pile_size(&h->piles[v]) > 0 &&
                dfr_pile_rob(&h->piles[r->index], &h->piles[v], h->fences))
                empty(h, &h->piles[r->index]);
        sched_yield();
    }
    return NULL;
}

/* The owner pushes in bursts and takes; it goes on until all is taken, wherever it went. */
static void heist(bool fences)
{
    struct heist *h = aligned_alloc(64, (sizeof *h + 63) / 64 * 64);
    struct robber robbers[ROBBERS];
    pthread_t threads[ROBBERS];
    uint32_t seed = 7, pushed = 0;

    assert_non_null(h);
    memset(h, 0, sizeof *h);
    h->fences = fences;
    for (int i = 0; i <= ROBBERS; i++)
        assert_true(dfr_pile_create(&h->piles[i], JOBS));
    for (uint32_t i = 0; i < ROBBERS; i++) {
        robbers[i] = (struct robber){ h, i + 1 };
        assert_int_equal(pthread_create(&threads[i], NULL, robber_main, &robbers[i]), 0);
    }
    while (pushed < JOBS) {
        for (uint32_t n = rig_rand(&seed) % 64; n > 0 && pushed < JOBS; n--)
            dfr_pile_push(&h->piles[0], pushed++);
        for (uint32_t n = rig_rand(&seed) % 64; n > 0; n--) {
            uint64_t job;
            if (!dfr_pile_pop(&h->piles[0], &job))
                break;
            dfr_pile_leave(&h->piles[0]);
            take(h, job);
            if (n % 16 == 0)
                sched_yield();
            dfr_pile_enter(&h->piles[0], fences);
        }
    }
    empty(h, &h->piles[0]);
    dfr_pile_leave(&h->piles[0]);
    for (uint32_t i = 0; i < ROBBERS; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t j = 0; j < JOBS; j++)
        assert_int_equal(atomic_load(&h->taken[j]), 1);
    for (int i = 0; i <= ROBBERS; i++) {
        assert_int_equal(dfr_pile_size(&h->piles[i]), 0);
        dfr_pile_destroy(&h->piles[i]);
    }
    free(h);
}

static void test_pile_keeps_all(void **state)
{
    (void)state;
    heist(true);
    if (dfr_pile_prepare())
        heist(false);
}

/* Fences come with the first robbery, go when nobody has come for a while, and come again. */
static void test_fences_come_and_go(void **state)
{
    struct dfr_pile robber = { 0 }, victim = { 0 };
    uint64_t job;

    (void)state;
    if (!dfr_pile_prepare())
        skip();                         /* without membarrier(2) there are fences always */
    assert_true(dfr_pile_create(&robber, 8) && dfr_pile_create(&victim, 8));
    for (int k = 0; k < 3; k++) {
        for (job = 0; job < 2; job++)
            dfr_pile_push(&victim, job);
        dfr_pile_leave(&victim);
        assert_false(atomic_load(&victim.fenced));
        assert_true(dfr_pile_rob(&robber, &victim, false));
        assert_true(dfr_pile_pop(&robber, &job) && dfr_pile_size(&robber) == 0);
        for (uint32_t i = 0; i < DFR_FENCED_JOBS; i++) {
            dfr_pile_enter(&victim, false);
            assert_true(atomic_load(&victim.fenced));
            dfr_pile_leave(&victim);
        }
        dfr_pile_enter(&victim, false);
        assert_false(atomic_load(&victim.fenced) || atomic_load(&victim.asked));
        assert_true(dfr_pile_pop(&victim, &job) && dfr_pile_size(&victim) == 0);
    }
    dfr_pile_destroy(&robber);
    dfr_pile_destroy(&victim);
}

static void test_pile_order(void **state)
{
    struct dfr_pile owner = { .inside = 0 }, robber = { .inside = 0 };
    uint64_t job = 0;

    (void)state;
    assert_true(dfr_pile_create(&owner, 5));
    assert_true(dfr_pile_create(&robber, 5));
    for (uint64_t j = 0; j < 5; j++)
        dfr_pile_push(&owner, j);
    assert_false(dfr_pile_rob(&robber, &owner, true)); /* the owner is inside */
    dfr_pile_leave(&owner);
    assert_true(dfr_pile_rob(&robber, &owner, true));
    assert_int_equal(dfr_pile_size(&owner), 2);
    assert_int_equal(dfr_pile_size(&robber), 3);        /* 0, 1 and 2 */
    dfr_pile_enter(&owner, true);
    assert_true(dfr_pile_pop(&owner, &job) && job == 4);
    assert_true(dfr_pile_pop(&robber, &job) && job == 2);
    for (uint64_t j = 5; j < 9; j++)                    /* around the end of the room */
        dfr_pile_push(&owner, j);
    for (uint64_t j = 8; j >= 5; j--)
        assert_true(dfr_pile_pop(&owner, &job) && job == j);
    assert_true(dfr_pile_pop(&owner, &job) && job == 3);
    assert_false(dfr_pile_pop(&owner, &job));
    dfr_pile_destroy(&owner);
    dfr_pile_destroy(&robber);
}

/* ---- runs ---- */

enum way { BY_POLICY, DIRECT, WALKED };

static enum way way_of(struct rig *r, const char *policy, unsigned workers, bool bounded_memory)
{
    struct df_options o;
    struct df_error error = { "" };
    struct df_run *run;
    enum way way;

    df_options_default(&o);
    o.policy = policy;
    o.device = DF_DEVICE_NONE;
    o.workers = workers;
    o.waves = 3;
    o.inflight = 2;
    o.poison = bounded_memory;
    rig_clear(r);
    if (df_run_start(r->graph, &o, &run, &error) != DF_OK)
        fail_msg("%s", error.text);
    way = run->threads.walk ? WALKED : run->threads.piles ? DIRECT : BY_POLICY;
    if (df_run_wait(run, NULL, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_true(rig_same(r, 3));
    return way;
}

static void diamonds(struct rig *r, uint64_t elements)
{
    struct rig_out x, y;
    rig_begin(r, elements);
    x = rig_node(r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    for (int i = 0; i < 10; i++) {
        y = rig_node(r, RIG_SPLIT, i, x, RIG_NOTHING);
        x = rig_node(r, i % 2 ? RIG_ADD2 : RIG_TABLE, i, y, (struct rig_out){ y.node, 1 });
        x = rig_node(r, RIG_SCRATCH, i, x, RIG_NOTHING);
        x = rig_node(r, RIG_BUMP, i, x, RIG_NOTHING);
    }
    rig_sink(r, RIG_ORDERED, x);
    rig_end(r);
}

static void test_when(void **state)
{
    struct rig r;

    (void)state;
    rig_cost_s = 1e-6;
    diamonds(&r, 16);
    rig_cost_s = 0;
    rig_expect(&r, 3);
    assert_int_equal(way_of(&r, "ws", 1, false), DIRECT);
    assert_int_equal(way_of(&r, "ws", 2, false), DIRECT);
    assert_int_equal(way_of(&r, "eager", 1, false), BY_POLICY);
    assert_int_equal(way_of(&r, "all-cpu", 1, false), WALKED);
    assert_int_equal(way_of(&r, "all-cpu", 2, false), WALKED);
    assert_int_equal(way_of(&r, "ws", 1, true), BY_POLICY); /* poison needs blocks */
    rig_free(&r);
    diamonds(&r, 10000);                                /* tokens too large to lie side by side */
    rig_expect(&r, 3);
    assert_int_equal(way_of(&r, "ws", 2, false), BY_POLICY);
    rig_free(&r);
}

/* Enough nodes that jobs are run in turn, not the newest first. */
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
    for (unsigned workers = 1; workers <= 3; workers++)
        assert_int_equal(way_of(&r, "ws", workers, false), DIRECT);
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pile_keeps_all),
        cmocka_unit_test(test_fences_come_and_go),
        cmocka_unit_test(test_pile_order),
        cmocka_unit_test(test_when),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
