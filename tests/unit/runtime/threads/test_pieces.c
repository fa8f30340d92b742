/* test_pieces.c - pieces of a job: each runs once, whoever takes it, and none runs when the owner has gone on. A thread that a
 * piece ends keeps nobody waiting.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/threads/pieces.h"
#include "runtime/threads/wake.h"

enum { HELPERS = 3, OFFERS = 3000, PIECES = 7 };

struct job {                            /* on the owner's stack: a piece that came late would write there */
    uint32_t runs[PIECES];
    _Atomic uint32_t inside;
};

static struct dfr_pieces pieces;
static struct dfr_wake idle;
static _Atomic uint32_t helped;
static _Atomic bool over;

static void run_piece(void *arg, size_t i)
{
    struct job *job = arg;
    atomic_fetch_add(&job->inside, 1);
    job->runs[i]++;                     /* no atomic step: no two threads have the same piece */
    atomic_fetch_sub(&job->inside, 1);
}

static void *help(void *arg)
{
    (void)arg;
    while (!atomic_load(&over)) {
        uint32_t key = dfr_wake_announce(&idle);
        if (dfr_pieces_offered(&pieces) || atomic_load(&over)) {
            dfr_wake_cancel(&idle, key);
            while (dfr_pieces_help(&pieces))
                atomic_fetch_add(&helped, 1);
        } else {
            dfr_wake_sleep(&idle, key, -1);
        }
    }
    return NULL;
}

static void start(pthread_t *threads, void *(*main)(void *))
{
    atomic_store(&over, false);
    atomic_store(&helped, 0);
    for (int i = 0; i < HELPERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, main, NULL), 0);
}

static void stop(pthread_t *threads)
{
    atomic_store(&over, true);
    dfr_wake_all(&idle);
    for (int i = 0; i < HELPERS; i++)
        pthread_join(threads[i], NULL);
}

static void each_piece_runs_once(void **unused)
{
    pthread_t threads[HELPERS];
    (void)unused;
    start(threads, help);
    for (int k = 0; k < OFFERS || (atomic_load(&helped) == 0 && k < 100 * OFFERS); k++) {
        struct job job = { .runs = { 0 } };
        dfr_pieces_run(&pieces, PIECES, run_piece, &job, &idle, HELPERS);
        assert_int_equal(atomic_load(&job.inside), 0);
        for (int i = 0; i < PIECES; i++)
            assert_int_equal(job.runs[i], 1);
        assert_false(dfr_pieces_runs(&pieces));
    }
    stop(threads);
    assert_true(atomic_load(&helped) > 0);
}

/* The owner is done long before the helpers, which then ask. */
static void ask(void *arg, size_t i)
{
    _Atomic uint32_t *n_told = arg;
    if (i > 0)
        usleep(2000);
    if (dfr_pieces_runs(&pieces))
        atomic_fetch_add(n_told, 1);
}

static void a_piece_knows_that_it_is_one(void **unused)
{
    pthread_t threads[HELPERS];
    _Atomic uint32_t n_told = 0;
    (void)unused;
    start(threads, help);
    for (int k = 0; k < 10; k++)
        dfr_pieces_run(&pieces, 1 + HELPERS, ask, &n_told, &idle, HELPERS);
    stop(threads);
    assert_int_equal(atomic_load(&n_told), 10 * (1 + HELPERS));
}

static pthread_t owner;
static _Atomic uint32_t ended;

/* Helpers end their threads; the owner waits until one has. */
static void end_thread(void *arg, size_t i)
{
    (void)arg, (void)i;
    if (!pthread_equal(pthread_self(), owner)) {
        atomic_fetch_add(&ended, 1);
        pthread_exit(NULL);
    }
    while (atomic_load(&ended) == 0)
        dfr_relax();
}

static void a_thread_that_ends_is_not_waited_for(void **unused)
{
    pthread_t threads[HELPERS];
    (void)unused;
    owner = pthread_self();
    start(threads, help);
    dfr_pieces_run(&pieces, 1 + HELPERS, end_thread, NULL, &idle, HELPERS);
    assert_int_equal(atomic_load(&pieces.helpers), 0);
    stop(threads);
}

static void end_owner(void *arg, size_t i)
{
    (void)arg, (void)i;
    pthread_exit(NULL);
}

static void *own(void *arg)
{
    (void)arg;
    owner = pthread_self();
    dfr_pieces_run(&pieces, 2, end_owner, NULL, &idle, 0);
    return NULL;
}

static void an_owner_that_ends_offers_nothing(void **unused)
{
    pthread_t thread;
    (void)unused;
    assert_int_equal(pthread_create(&thread, NULL, own, NULL), 0);
    pthread_join(thread, NULL);
    assert_false(dfr_pieces_runs(&pieces));
    assert_false(dfr_pieces_help(&pieces));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_piece_runs_once),
        cmocka_unit_test(a_piece_knows_that_it_is_one),
        cmocka_unit_test(a_thread_that_ends_is_not_waited_for),
        cmocka_unit_test(an_owner_that_ends_offers_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
