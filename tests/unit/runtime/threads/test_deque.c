/* test_deque.c - the deque of a worker. It loses no job to thieves and gives no job twice, whatever the owner does
 * meanwhile. It gives jobs in the right order. Its fences come with the first theft and go again.
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
#include "runtime/threads/deque.h"

/* ---- deques ---- */

enum { THIEVES = 2, JOBS = 30000 };

struct heist {
    struct dfr_deque deques[1 + THIEVES];
    bool fences;
    _Atomic uint32_t taken[JOBS];
    _Atomic uint32_t n_taken;
};

static void take(struct heist *h, uint64_t job)
{
    atomic_fetch_add(&h->taken[job], 1);
    atomic_fetch_add(&h->n_taken, 1);
}

static void empty(struct heist *h, struct dfr_deque *deque)
{
    uint64_t job;
    while (dfr_deque_pop(deque, &job)) {
        dfr_deque_leave(deque);
        take(h, job);
        dfr_deque_enter(deque, h->fences);
    }
}

struct thief {
    struct heist *heist;
    uint32_t index;
};

static void *thief_main(void *arg)
{
    struct thief *r = arg;
    struct heist *h = r->heist;
    while (atomic_load(&h->n_taken) < JOBS) {
        for (uint32_t v = 0; v <= THIEVES; v++)
            if (v != r->index && dfr_deque_size(&h->deques[v]) > 0 &&
                dfr_deque_steal(&h->deques[r->index], &h->deques[v], h->fences))
                empty(h, &h->deques[r->index]);
        sched_yield();
    }
    return NULL;
}

/* The owner pushes jobs in bursts, and takes some. It goes on until all jobs are taken, by whomever. */
static void heist(bool fences)
{
    struct heist *h = aligned_alloc(64, (sizeof *h + 63) / 64 * 64);
    struct thief thieves[THIEVES];
    pthread_t threads[THIEVES];
    uint32_t seed = 7, pushed = 0;

    assert_non_null(h);
    memset(h, 0, sizeof *h);
    h->fences = fences;
    for (int i = 0; i <= THIEVES; i++)
        assert_true(dfr_deque_create(&h->deques[i], JOBS));
    for (uint32_t i = 0; i < THIEVES; i++) {
        thieves[i] = (struct thief){ h, i + 1 };
        assert_int_equal(pthread_create(&threads[i], NULL, thief_main, &thieves[i]), 0);
    }
    while (pushed < JOBS) {
        for (uint32_t n = rig_rand(&seed) % 64; n > 0 && pushed < JOBS; n--)
            dfr_deque_push(&h->deques[0], pushed++);
        for (uint32_t n = rig_rand(&seed) % 64; n > 0; n--) {
            uint64_t job;
            if (!dfr_deque_pop(&h->deques[0], &job))
                break;
            dfr_deque_leave(&h->deques[0]);
            take(h, job);
            if (n % 16 == 0)
                sched_yield();
            dfr_deque_enter(&h->deques[0], fences);
        }
    }
    empty(h, &h->deques[0]);
    dfr_deque_leave(&h->deques[0]);
    for (uint32_t i = 0; i < THIEVES; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t j = 0; j < JOBS; j++)
        assert_int_equal(atomic_load(&h->taken[j]), 1);
    for (int i = 0; i <= THIEVES; i++) {
        assert_int_equal(dfr_deque_size(&h->deques[i]), 0);
        dfr_deque_destroy(&h->deques[i]);
    }
    free(h);
}

static void test_deque_keeps_all(void **state)
{
    (void)state;
    heist(true);
    if (dfr_deque_prepare())
        heist(false);
}

/* The owner's fences come with the first theft, go when no thief has come for a while, and come again. */
static void test_fences_come_and_go(void **state)
{
    struct dfr_deque thief = { 0 }, victim = { 0 };
    uint64_t job;

    (void)state;
    if (!dfr_deque_prepare())
        skip();                         /* without membarrier(2) the owner always has fences */
    assert_true(dfr_deque_create(&thief, 8) && dfr_deque_create(&victim, 8));
    for (int k = 0; k < 3; k++) {
        for (job = 0; job < 2; job++)
            dfr_deque_push(&victim, job);
        dfr_deque_leave(&victim);
        assert_false(atomic_load(&victim.fenced));
        assert_true(dfr_deque_steal(&thief, &victim, false));
        assert_true(dfr_deque_pop(&thief, &job) && dfr_deque_size(&thief) == 0);
        for (uint32_t i = 0; i < DFR_FENCED_JOBS; i++) {
            dfr_deque_enter(&victim, false);
            assert_true(atomic_load(&victim.fenced));
            dfr_deque_leave(&victim);
        }
        dfr_deque_enter(&victim, false);
        assert_false(atomic_load(&victim.fenced) || atomic_load(&victim.asked));
        assert_true(dfr_deque_pop(&victim, &job) && dfr_deque_size(&victim) == 0);
    }
    dfr_deque_destroy(&thief);
    dfr_deque_destroy(&victim);
}

static void test_deque_order(void **state)
{
    struct dfr_deque owner = { .inside = 0 }, thief = { .inside = 0 };
    uint64_t job = 0;

    (void)state;
    assert_true(dfr_deque_create(&owner, 5));
    assert_true(dfr_deque_create(&thief, 5));
    for (uint64_t j = 0; j < 5; j++)
        dfr_deque_push(&owner, j);
    assert_false(dfr_deque_steal(&thief, &owner, true)); /* the owner is inside */
    dfr_deque_leave(&owner);
    assert_true(dfr_deque_steal(&thief, &owner, true));
    assert_int_equal(dfr_deque_size(&owner), 2);
    assert_int_equal(dfr_deque_size(&thief), 3);        /* 0, 1 and 2 */
    dfr_deque_enter(&owner, true);
    assert_true(dfr_deque_pop(&owner, &job) && job == 4);
    assert_true(dfr_deque_pop(&thief, &job) && job == 2);
    for (uint64_t j = 5; j < 9; j++)                    /* around the end of the room */
        dfr_deque_push(&owner, j);
    for (uint64_t j = 8; j >= 5; j--)
        assert_true(dfr_deque_pop(&owner, &job) && job == j);
    assert_true(dfr_deque_pop(&owner, &job) && job == 3);
    assert_false(dfr_deque_pop(&owner, &job));
    dfr_deque_destroy(&owner);
    dfr_deque_destroy(&thief);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deque_keeps_all),
        cmocka_unit_test(test_fences_come_and_go),
        cmocka_unit_test(test_deque_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
