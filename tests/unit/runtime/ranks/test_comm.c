/* test_comm.c - communication threads over the mock of a link, a thread for each rank and another that computes its waves: runs
 * that end, fail, are stopped, and lose a rank. It is made to be run under TSan and ASan.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "comm_sleeps.h"
#include "link_rig.h"
#include "runtime/ranks/comm.h"
#include "runtime/threads/clock.h"

#define N_RANKS 4
#define MOST_JOBS 8
#define HASH 77
#define TOKEN 3000

/* What a test wants of a run. */
static struct {
    int64_t n_waves;
    bool stores;                        /* workers write files */
    int kill_rank;                      /* after kill_after waves; 0: none */
    useconds_t late_us;                 /* rank 0 begins so much later than the others */
    int64_t kill_after, stop_after, disk_full_at, fails_at, garbage_at; /* -1: never */
} plan;

struct job {
    struct dfr_head head;
    unsigned char token[TOKEN];
    bool is_done;
};

struct worker {
    struct dfr_comm comm;
    pthread_t thread, computer;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job *jobs[MOST_JOBS];
    unsigned n_jobs;
    bool over;
    int code;
    struct df_error error;
};

static struct link_rig *rig;
static struct worker workers[N_RANKS];
static struct dfr_comm root;
static struct dfr_manager_state end_state;
static int64_t n_next, n_results, n_ended;
static _Atomic int n_stored[1000];      /* by wave */
static _Atomic int n_begun;             /* workers that were welcome */
static struct df_error error;

static void drop(void *cookie)
{
    dfr_message_drop(cookie);
}

/* ---- a worker ---- */

static struct job *find_job(struct worker *w, bool done)
{
    for (unsigned i = 0; i < w->n_jobs; i++)
        if (w->jobs[i]->is_done == done)
            return w->jobs[i];
    return NULL;
}

/* Inverts each byte of a token. */
static void *compute(void *arg)
{
    struct worker *w = arg;

    pthread_mutex_lock(&w->lock);
    while (!w->over) {
        struct job *job = find_job(w, false);
        if (!job) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        for (int i = 0; i < TOKEN; i++)
            job->token[i] = (unsigned char)~job->token[i];
        usleep(300);
        pthread_mutex_lock(&w->lock);
        job->is_done = true;
        dfr_comm_ring(&w->comm);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static int begin_wave(void *arg, const struct dfr_message *give, const struct dfr_head *head, bool *started, struct df_error *e)
{
    struct worker *w = arg;

    if (give->head.wave == plan.fails_at) {
        snprintf(e->text, sizeof e->text, "kernel 'invert' failed");
        return DF_E_KERNEL;
    }
    pthread_mutex_lock(&w->lock);
    *started = w->n_jobs < 2;           /* fewer than the window: some wait */
    if (*started) {
        struct job *job = w->jobs[w->n_jobs++] = calloc(1, sizeof *job);
        job->head = *head;
        memcpy(job->token, give->values[0].data, TOKEN);
        pthread_cond_signal(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return DF_OK;
}

static int finish(void *arg, struct dfr_message **result, struct df_error *e)
{
    struct worker *w = arg;

    (void)e;
    pthread_mutex_lock(&w->lock);
    struct job *job = find_job(w, true);
    for (unsigned i = 0; job && i < w->n_jobs; i++)
        if (w->jobs[i] == job)
            w->jobs[i--] = w->jobs[--w->n_jobs];
    pthread_mutex_unlock(&w->lock);
    if (job) {
        struct dfr_value value = { .data = job->token, .bytes = TOKEN };
        *result = dfr_message_make(&job->head, &value, 1);
        free(job);
    }
    return DF_OK;
}

/* What was written is there; each seventh time it is gone. */
static int store(void *arg, int64_t wave, bool accepted, bool *stored, struct df_error *e)
{
    static _Atomic unsigned n;

    (void)arg;
    (void)e;
    *stored = accepted && ++n % 7 != 0;
    if (*stored)
        n_stored[wave]++;
    return DF_OK;
}

static int begin_worker(void *arg, const struct dfr_message *welcome, struct df_error *e)
{
    (void)arg;
    (void)e;
    assert_int_equal(welcome->n_values, 1);
    n_begun++;
    return DF_OK;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct dfr_worker_options options = { .hash = HASH, .host = "here", .beat_s = 0.05, .beat_timeout_s = 30 };
    struct dfr_work_side side = { .arg = w, .begin = begin_worker, .start = begin_wave, .finish = finish,
                                  .verdict = plan.stores ? store : NULL, .stores = plan.stores };

    w->code = dfr_comm_work(&w->comm, &options, &side, &w->error);
    pthread_mutex_lock(&w->lock);
    w->over = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- rank 0 ---- */

static int next_wave(void *arg, const struct dfr_head *head, struct dfr_message **give, bool *over, struct df_error *e)
{
    unsigned char token[TOKEN];
    struct dfr_value value = { .data = token, .bytes = TOKEN };

    (void)arg;
    (void)e;
    assert_int_equal(head->wave, n_next);
    if (n_next < plan.n_waves) {
        memset(token, (int)(n_next & 0xff), TOKEN);
        *give = dfr_message_make(head, &value, 1);
        n_next++;
    }
    *over = n_next == plan.n_waves;
    return DF_OK;
}

static void do_harm(void)
{
    static const unsigned char garbage[100] = "not a message";

    if (plan.kill_rank > 0 && n_results == plan.kill_after)
        link_rig_kill(rig, plan.kill_rank);
    if (n_results == plan.stop_after)
        dfr_comm_stop(&root);
    if (n_results == plan.garbage_at)
        root.link->send(root.link, 1, garbage, sizeof garbage, false, NULL, &error);
}

static int take_result(void *arg, const struct dfr_message *result, bool *taken, struct df_error *e)
{
    static bool had_room;

    (void)arg;
    if (n_results == plan.disk_full_at) {
        snprintf(e->text, sizeof e->text, "cannot write 'out': no space left on device");
        return DF_E_IO;
    }
    had_room = !had_room;               /* each result is shown twice */
    *taken = had_room;
    if (!had_room)
        return DF_OK;
    assert_int_equal(result->head.wave, n_results);
    for (int i = 0; i < TOKEN; i++)
        assert_int_equal(((const unsigned char *)result->values[0].data)[i], (unsigned char)~n_results);
    n_results++;
    do_harm();
    return DF_OK;
}

static int count_ended(void *arg, unsigned most, unsigned *n, struct df_error *e)
{
    (void)arg;
    (void)e;
    *n = (unsigned)(n_results - n_ended) < most ? (unsigned)(n_results - n_ended) : most;
    n_ended += *n;
    return DF_OK;
}

static int run(unsigned window)
{
    struct dfr_value once = { .data = "made once", .bytes = 9 };
    struct dfr_manager_options options = { .epoch = 1, .hash = HASH, .window = window, .beat_s = 0.05, .beat_timeout_s = 3,
                                           .lost_s = 20, .once = &once, .n_once = 1, .stores = plan.stores };
    struct dfr_manage_side side = { .next = next_wave, .result = take_result, .ended = count_ended, .at_once = plan.n_waves == 0 };

    n_next = n_results = n_ended = 0;
    n_begun = 0;
    rig = link_rig_create(N_RANKS, 7, 3);
    root = (struct dfr_comm){ .link = link_rig_link(rig, 0) };
    for (int rank = 1; rank < N_RANKS; rank++) {
        struct worker *w = &workers[rank];
        *w = (struct worker){ .comm = { .link = link_rig_link(rig, rank) }, .lock = PTHREAD_MUTEX_INITIALIZER,
                              .changed = PTHREAD_COND_INITIALIZER };
        assert_int_equal(pthread_create(&w->computer, NULL, compute, w), 0);
        assert_int_equal(pthread_create(&w->thread, NULL, work, w), 0);
    }
    usleep(plan.late_us);
    int code = dfr_comm_manage(&root, &options, &side, &end_state, &error);
    for (int rank = 1; rank < N_RANKS; rank++) {
        struct worker *w = &workers[rank];
        pthread_join(w->thread, NULL);
        pthread_join(w->computer, NULL);
        while (w->n_jobs > 0)
            free(w->jobs[--w->n_jobs]);
    }
    link_rig_destroy(rig, drop);
    return code;
}

static int set_up(void **state)
{
    (void)state;
    plan.n_waves = 300;
    plan.kill_rank = 0;
    plan.late_us = 0;
    plan.stores = false;
    memset((void *)n_stored, 0, sizeof n_stored);
    plan.kill_after = plan.stop_after = plan.disk_full_at = plan.fails_at = plan.garbage_at = -1;
    return 0;
}

static void test_run(void **state)
{
    (void)state;
    assert_int_equal(run(0), DF_OK);
    assert_int_equal(n_results, 300);
    assert_true(root.whole);
    for (int rank = 1; rank < N_RANKS; rank++) {
        assert_int_equal(workers[rank].code, DF_OK);
        assert_true(workers[rank].comm.whole);
    }
}

/* All workers have said HELLO before rank 0 finds that there is nothing to do: none is welcome. */
static void test_nothing(void **state)
{
    (void)state;
    plan.n_waves = 0;
    plan.late_us = 100000;
    assert_int_equal(run(0), DF_OK);
    assert_int_equal(n_begun, 0);
    assert_true(root.whole);
    for (int rank = 1; rank < N_RANKS; rank++)
        assert_int_equal(workers[rank].code, DF_OK);
}

static void test_killed(void **state)
{
    (void)state;
    plan.kill_rank = 2;
    plan.kill_after = 100;
    assert_int_equal(run(4), DF_OK);
    assert_int_equal(n_results, 300);
    assert_int_equal(end_state.n_deaths, 1);
    assert_false(root.whole);
    assert_int_equal(workers[1].code, DF_OK);
    assert_int_equal(workers[2].code, DF_E_STOPPED);
    assert_string_equal(workers[2].error.text, "this rank was killed");
}

/* Each wave's files are stored, once if nobody dies, and before the run ends. */
static void test_stores(void **state)
{
    (void)state;
    plan.stores = true;
    assert_int_equal(run(4), DF_OK);
    for (int64_t wave = 0; wave < plan.n_waves; wave++)
        assert_int_equal(n_stored[wave], 1);
    assert_true(end_state.n_given_again > 10);
    for (int rank = 1; rank < N_RANKS; rank++)
        assert_true(workers[rank].comm.done);
    set_up(NULL);
    plan.stores = true;
    plan.kill_rank = 2;
    plan.kill_after = 100;
    assert_int_equal(run(4), DF_OK);
    for (int64_t wave = 0; wave < plan.n_waves; wave++)
        assert_in_range(n_stored[wave], 1, 2);
    assert_int_equal(n_results, 300);
}

static void test_failed(void **state)
{
    (void)state;
    plan.fails_at = 50;
    assert_int_equal(run(2), DF_E_KERNEL);
    assert_non_null(strstr(error.text, " on here: kernel 'invert' failed"));
    assert_in_range(n_results, 0, 50);
}

static void test_disk_full(void **state)
{
    (void)state;
    plan.disk_full_at = 50;
    assert_int_equal(run(2), DF_E_IO);
    assert_string_equal(error.text, "cannot write 'out': no space left on device");
    assert_int_equal(n_results, 50);
    for (int rank = 1; rank < N_RANKS; rank++)
        assert_int_equal(workers[rank].code, DF_OK);
}

static void test_stopped(void **state)
{
    (void)state;
    plan.stop_after = 50;
    assert_int_equal(run(2), DF_E_STOPPED);
    assert_in_range(n_results, 50, 299);
    assert_int_equal(end_state.n_ended, n_results);
    assert_int_equal(end_state.n_accepted, n_results);
}

/* A worker gets bytes that are no message: it ends, says why, and counts as dead. */
static void test_garbage(void **state)
{
    (void)state;
    plan.garbage_at = 50;
    assert_int_equal(run(2), DF_OK);
    assert_int_equal(n_results, 300);
    assert_int_equal(workers[1].code, DF_E_FORMAT);
    assert_string_equal(workers[1].error.text, "a message of 100 bytes from another rank is wrong: its beginning");
}

/* ---- waiting ---- */

static int nothing_yet(void *arg, const struct dfr_head *head, struct dfr_message **give, bool *over, struct df_error *e)
{
    double *until_s = arg;

    (void)head;
    (void)give;
    (void)e;
    *over = dfr_clock_s() >= *until_s;
    return DF_OK;
}

/* The backoff itself: a sixteenth of the time that is over, within its limits. */
static void test_sleeps_get_longer(void **state)
{
    (void)state;
    assert_true(dfr_comm_sleep_s(0) == 20e-6);
    assert_true(dfr_comm_sleep_s(16e-3) == 1e-3);
    assert_true(dfr_comm_sleep_s(1e9) == 20e-3);
    assert_in_range(comm_sleeps_in(1), 155, 170);
    assert_in_range(comm_sleeps_in(61) - comm_sleeps_in(1), 60 * 50 - 1, 60 * 50 + 1);
}

/* For a second there is nothing to do: the communication thread of rank 0 sleeps, and wakes no more often than the backoff says. What
 * that costs is a figure; WAITING_MS=10 says that more is wrong, on a machine that does nothing else. */
static void test_waiting_is_cheap(void **state)
{
    struct link_rig *alone = link_rig_create(2, 1, 0);
    double began_s = dfr_clock_s(), until_s = began_s + 1;
    struct dfr_comm comm = { .link = link_rig_link(alone, 0) };
    struct dfr_manager_options options = { .epoch = 1, .hash = HASH, .beat_s = 0.05, .beat_timeout_s = 0.05 };
    struct dfr_manage_side side = { .arg = &until_s, .next = nothing_yet, .result = take_result, .ended = count_ended };
    struct timespec before, after;
    const char *most_ms = getenv("WAITING_MS");

    (void)state;
    n_results = n_ended = 0;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    assert_int_equal(dfr_comm_manage(&comm, &options, &side, &end_state, &error), DF_OK);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    double waited_s = dfr_clock_s() - began_s, used_s = (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
    printf("figure %.1f ms of a core for a second of waiting, %llu sleeps\n", 1e3 * used_s / waited_s, (unsigned long long)comm.n_sleeps);
    assert_true(waited_s >= 1);
    assert_in_range(comm.n_active, 1, 8); /* the end, and what is sent then: no other rank is there */
    assert_in_range(comm.n_sleeps, 1, comm_sleeps_most(waited_s, comm.n_active));
    if (most_ms)
        assert_true(1e3 * used_s / waited_s < atof(most_ms));
    link_rig_destroy(alone, drop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_run, set_up),     cmocka_unit_test_setup(test_killed, set_up),
        cmocka_unit_test_setup(test_stores, set_up),  cmocka_unit_test_setup(test_failed, set_up),
        cmocka_unit_test_setup(test_disk_full, set_up), cmocka_unit_test_setup(test_nothing, set_up),
        cmocka_unit_test_setup(test_stopped, set_up), cmocka_unit_test_setup(test_garbage, set_up),
        cmocka_unit_test(test_sleeps_get_longer),     cmocka_unit_test(test_waiting_is_cheap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
