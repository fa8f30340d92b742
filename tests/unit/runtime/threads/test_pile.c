/* test_pile.c - the deque of a worker: it loses no job to thieves and gives none twice, whatever the owner does meanwhile;
 * the order in which it gives jobs; and its fences, which come with the first theft and go again.
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
#include "runtime/threads/pile.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pile_keeps_all),
        cmocka_unit_test(test_fences_come_and_go),
        cmocka_unit_test(test_pile_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
