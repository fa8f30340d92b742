/* test_policy_threads.c - every policy used by several threads: no job is lost, doubled, or given to a worker that cannot run it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "policy_rig.h"

/* ---- nothing is lost ---- */

enum { N_JOBS = 3000, N_THREADS = 3 };

struct hammer {
    struct machine m;
    _Atomic uint32_t seen[N_JOBS];
    _Atomic uint32_t pushed, popped;
    _Atomic bool wrong;
};

struct hammer_thread {
    struct hammer *h;
    uint32_t worker;
};

static void *hammer_run(void *arg)
{
    struct hammer_thread *t = arg;
    struct hammer *h = t->h;
    struct machine *m = &h->m;

    while (atomic_load(&h->popped) < N_JOBS) {
        uint32_t v = atomic_fetch_add(&h->pushed, 1), units = 0;
        uint64_t job;
        bool have = false;
        if (v < N_JOBS && m->policy->push(m->state, dfr_job(0, v), t->worker, v % 3 == 0, &units) == DFR_KEPT) {
            job = dfr_job(0, v);
            have = true;
        }
        if (!have && v % 4 != 0)
            have = m->policy->pop(m->state, t->worker, &job);
        if (!have)
            continue;
        if (!(m->able[dfr_job_node(job)] >> m->unit_of[t->worker] & 1))
            atomic_store(&h->wrong, true);
        atomic_fetch_add(&h->seen[dfr_job_node(job)], 1);
        if (m->policy->done)
            m->policy->done(m->state, job, t->worker);
        atomic_fetch_add(&h->popped, 1);
    }
    return NULL;
}

static void hammer(const char *name, bool locality)
{
    static uint16_t place[N_JOBS];
    static float priority[N_JOBS];
    struct df_plan plan = { .policy = "heft", .n_nodes = N_JOBS, .place = place, .priority = priority };
    struct hammer *h = calloc(1, sizeof *h);
    struct hammer_thread threads[N_THREADS];
    pthread_t ids[N_THREADS];

    assert_non_null(h);
    machine_begin(&h->m, N_JOBS, 2, 1);
    h->m.view.locality = locality;
    for (uint32_t v = 0; v < N_JOBS; v++) {
        h->m.able[v] = v % 5 == 0 ? 1 : v % 5 == 1 ? 2 : 3;
        machine_time(&h->m, 1, v, (1 + v % 7) * MS / 4);
        place[v] = v % 2;
        priority[v] = (float)(v % 200);
    }
    machine_policy(&h->m, name, &plan);
    for (uint32_t t = 0; t < N_THREADS; t++) {
        threads[t] = (struct hammer_thread){ h, t };
        assert_int_equal(pthread_create(&ids[t], NULL, hammer_run, &threads[t]), 0);
    }
    for (uint32_t t = 0; t < N_THREADS; t++)
        pthread_join(ids[t], NULL);
    assert_false(h->wrong);
    for (uint32_t v = 0; v < N_JOBS; v++)
        assert_int_equal(h->seen[v], 1);
    machine_end(&h->m);
    free(h);
}

static void test_nothing_is_lost(void **state)
{
    (void)state;
    for (const char *const *name = dfr_policy_names(); *name; name++) {
        hammer(*name, false);
        hammer(*name, true);
    }
}

/* ---- jobs that come back, wave after wave: nobody else has them, and each comes as often as it was pushed ---- */

enum { N_LOOPS = 150, N_SLOTS = 2, N_LIVES = 40 };

struct loop {
    struct machine m;
    _Atomic uint32_t lives[N_LOOPS * N_SLOTS];
    _Atomic bool held[N_LOOPS * N_SLOTS];
    _Atomic uint32_t popped;
    _Atomic bool wrong;
};

struct loop_thread {
    struct loop *l;
    uint32_t worker;
};

static void *loop_run(void *arg)
{
    struct loop_thread *t = arg;
    struct machine *m = &t->l->m;

    while (atomic_load(&t->l->popped) < N_LOOPS * N_SLOTS * N_LIVES) {
        uint64_t job;
        uint32_t units, i;
        if (!m->policy->pop(m->state, t->worker, &job))
            continue;
        i = dfr_job_slot(job) * N_LOOPS + dfr_job_node(job);
        if (dfr_job_slot(job) >= N_SLOTS || dfr_job_node(job) >= N_LOOPS || atomic_exchange(&t->l->held[i], true) ||
            !(m->able[dfr_job_node(job)] >> m->unit_of[t->worker] & 1)) {
            atomic_store(&t->l->wrong, true);
            break;
        }
        if (m->policy->done)
            m->policy->done(m->state, job, t->worker);
        atomic_store(&t->l->held[i], false);
        if (atomic_fetch_add(&t->l->lives[i], 1) + 1 < N_LIVES)
            m->policy->push(m->state, job, t->worker, false, &units);
        atomic_fetch_add(&t->l->popped, 1);
    }
    return NULL;
}

static void come_back(const char *name, bool locality)
{
    static uint16_t place[N_LOOPS];
    struct df_plan plan = { .policy = "heft", .n_nodes = N_LOOPS, .place = place };
    struct loop *l = calloc(1, sizeof *l);
    struct loop_thread threads[N_THREADS];
    pthread_t ids[N_THREADS];
    uint64_t job;
    uint32_t units;

    assert_non_null(l);
    machine_begin(&l->m, N_LOOPS, 2, 1);
    l->m.view.locality = locality;
    for (uint32_t v = 0; v < N_LOOPS; v++) {
        l->m.able[v] = v % 5 == 0 ? 1 : v % 5 == 1 ? 2 : 3;
        machine_time(&l->m, 1, v, (1 + v % 7) * MS / 4);
        place[v] = v % 2;
    }
    machine_policy(&l->m, name, &plan);
    for (uint32_t i = 0; i < N_LOOPS * N_SLOTS; i++)
        l->m.policy->push(l->m.state, dfr_job(i / N_LOOPS, i % N_LOOPS), DFR_NOBODY, false, &units);
    for (uint32_t t = 0; t < N_THREADS; t++) {
        threads[t] = (struct loop_thread){ l, t };
        assert_int_equal(pthread_create(&ids[t], NULL, loop_run, &threads[t]), 0);
    }
    for (uint32_t t = 0; t < N_THREADS; t++)
        pthread_join(ids[t], NULL);
    if (l->wrong)
        fail_msg("%s gave a job to two workers, or to one that cannot run it", name);
    for (uint32_t i = 0; i < N_LOOPS * N_SLOTS; i++)
        assert_int_equal(l->lives[i], N_LIVES);
    for (uint32_t worker = 0; worker < 3; worker++)
        assert_false(l->m.policy->pop(l->m.state, worker, &job));
    machine_end(&l->m);
    free(l);
}

static void test_jobs_come_back(void **state)
{
    (void)state;
    for (const char *const *name = dfr_policy_names(); *name; name++) {
        come_back(*name, false);
        come_back(*name, true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_lost),
        cmocka_unit_test(test_jobs_come_back),
    };
    return cmocka_run_group_tests_name("policy_threads", tests, NULL, NULL);
}
