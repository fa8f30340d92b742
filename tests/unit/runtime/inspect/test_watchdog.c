/* test_watchdog.c - when the watchdog says something, and how often. Here the calls of `expired` are counted; what it
 * prints on stderr is looked at by an end-to-end test. No case depends on how fast the machine is: each waits until
 * it has happened.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_rig.h"
#include "runtime/engine/engine.h"
#include "runtime/inspect/watchdog.h"

struct watched {
    struct rig rig;
    struct df_run *run;
    struct dfr_watchdog *dog;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned n_expired;
};

static void expired(void *arg)
{
    struct watched *w = arg;
    pthread_mutex_lock(&w->lock);
    w->n_expired++;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static void wait_for(struct watched *w, unsigned n)
{
    pthread_mutex_lock(&w->lock);
    while (w->n_expired < n)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

static void begin(struct watched *w, double limit_s)
{
    memset(w, 0, sizeof *w);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    rig_begin(&w->rig, 1);
    rig_sink(&w->rig, RIG_SINK, rig_node(&w->rig, RIG_SOURCE, 0, RIG_NOTHING, RIG_NOTHING));
    rig_end(&w->rig);
    w->run = aligned_alloc(_Alignof(struct df_run), sizeof *w->run);
    assert_non_null(w->run);
    memset(w->run, 0, sizeof *w->run);
    w->run->graph = w->rig.graph;
    w->run->options.watchdog_s = limit_s;
    w->run->options.log_level = -1;     /* quiet */
    w->run->options.expired = expired;
    w->run->options.expired_arg = w;
    assert_int_equal(dfr_watchdog_create(w->run, 2, &w->dog, NULL), DF_OK);
    dfr_watchdog_name(w->dog, 0, "cpu 0");
}

static void end(struct watched *w)
{
    dfr_watchdog_destroy(w->dog);
    free(w->run);
    rig_free(&w->rig);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}

/* A job that does not end is told once, however long it goes on. The next one at the same post is told again. */
static void test_each_job_once(void **state)
{
    struct watched w;
    (void)state;
    begin(&w, 1e-3);
    dfr_watchdog_begin(w.dog, 0, dfr_job(0, 0), 0);
    assert_int_equal(dfr_watchdog_start(w.dog, NULL), DF_OK);
    wait_for(&w, 1);
    dfr_watchdog_begin(w.dog, 1, dfr_job(0, 1), 0);
    wait_for(&w, 2);
    dfr_watchdog_end(w.dog, 1);
    dfr_watchdog_begin(w.dog, 1, dfr_job(0, 1), 1);
    wait_for(&w, 3);
    dfr_watchdog_end(w.dog, 1);
    dfr_watchdog_destroy(w.dog);        /* post 0 ran all the time: nothing was idle or told twice */
    w.dog = NULL;
    assert_int_equal(w.n_expired, 3);
    end(&w);
}

/* Nothing runs and nothing has ended: that is told once, and again after something has ended. */
static void test_nothing_runs(void **state)
{
    struct watched w;
    (void)state;
    begin(&w, 1e-3);
    assert_int_equal(dfr_watchdog_start(w.dog, NULL), DF_OK);
    wait_for(&w, 1);
    dfr_watchdog_begin(w.dog, 0, dfr_job(0, 0), 0);
    dfr_watchdog_end(w.dog, 0);
    wait_for(&w, 2);
    end(&w);
}

/* Nothing is told of jobs that end in time, of a run that has stopped, or by a watchdog that was never started. */
static void test_silence(void **state)
{
    struct watched w;
    (void)state;
    begin(&w, 3600);
    assert_int_equal(dfr_watchdog_start(w.dog, NULL), DF_OK);
    for (int i = 0; i < 1000; i++) {
        dfr_watchdog_begin(w.dog, 0, dfr_job(0, 0), i);
        dfr_watchdog_end(w.dog, 0);
    }
    dfr_watchdog_destroy(w.dog);
    w.dog = NULL;
    assert_int_equal(w.n_expired, 0);
    end(&w);
    begin(&w, 1e-3);
    end(&w);
}

/* A new limit counts for calls that begin later. */
static void test_another_limit(void **state)
{
    struct watched w;
    (void)state;
    begin(&w, 3600);
    dfr_watchdog_limit(w.dog, 1e-3);
    dfr_watchdog_begin(w.dog, 0, dfr_job(0, 0), 0);
    assert_int_equal(dfr_watchdog_start(w.dog, NULL), DF_OK);
    wait_for(&w, 1);
    end(&w);
    begin(&w, 1e-3);
    dfr_watchdog_limit(w.dog, 3600);
    dfr_watchdog_begin(w.dog, 0, dfr_job(0, 0), 0);
    assert_int_equal(dfr_watchdog_start(w.dog, NULL), DF_OK);
    usleep(10000);
    dfr_watchdog_destroy(w.dog);
    w.dog = NULL;
    assert_int_equal(w.n_expired, 0);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_each_job_once), cmocka_unit_test(test_nothing_runs),
                                        cmocka_unit_test(test_silence), cmocka_unit_test(test_another_limit) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
