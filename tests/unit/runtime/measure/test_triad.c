/* test_triad.c - threads that work beside a measurement, and STREAM's triad as what they do: each works with its own
 * number until it is stopped, a failure is told once, and two threads move no less than one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/measure/load_threads.h"
#include "runtime/measure/triad.h"
#include "runtime/threads/bind.h"

enum { THREADS = 3 };

static _Atomic unsigned calls[THREADS];

static int count(void *arg, uint32_t thread, struct df_error *error)
{
    const uint32_t *fails = arg;
    atomic_fetch_add(&calls[thread], 1);
    return thread == *fails ? dfr_error(error, DF_E_KERNEL, "thread %u", (unsigned)thread) : DF_OK;
}

static void each_works_until_it_is_stopped(void **state)
{
    (void)state;
    uint32_t nobody = THREADS;
    struct dfr_load_threads *beside;
    assert_int_equal(dfr_load_threads_start(THREADS, count, &nobody, &beside, NULL), DF_OK);
    for (int i = 0; i < THREADS; i++)
        assert_true(atomic_load(&calls[i]) >= 1);
    unsigned before = atomic_load(&calls[1]);
    while (atomic_load(&calls[1]) == before) /* it goes on by itself */
        ;
    assert_int_equal(dfr_load_threads_stop(beside, NULL), DF_OK);
    before = atomic_load(&calls[1]);
    for (volatile int i = 0; i < 1000000; i++)
        ;
    assert_int_equal(atomic_load(&calls[1]), before);
}

static int note_core(void *core, uint32_t thread, struct df_error *error)
{
    (void)error;
    if (thread == 0)
        atomic_store((_Atomic int *)core, sched_getcpu());
    return DF_OK;
}

/* The caller measures meanwhile, so it never shares its core with the first threads. */
static void the_caller_has_a_core_of_its_own(void **state)
{
    (void)state;
    struct dfr_load_threads *beside;
    cpu_set_t before, meanwhile, after;
    _Atomic int core = -1;
    if (dfr_cores_count() < 2)
        skip();
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(dfr_load_threads_start(1, note_core, &core, &beside, NULL), DF_OK);
    assert_int_equal(sched_getaffinity(0, sizeof meanwhile, &meanwhile), 0);
    assert_int_equal(dfr_load_threads_stop(beside, NULL), DF_OK);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_COUNT(&meanwhile) < CPU_COUNT(&before));
    assert_false(CPU_ISSET(core, &meanwhile));
    assert_true(CPU_EQUAL(&after, &before));
}

static void a_failure_is_told(void **state)
{
    (void)state;
    uint32_t second = 1;
    struct dfr_load_threads *beside;
    struct df_error error = { "" };
    assert_int_equal(dfr_load_threads_start(THREADS, count, &second, &beside, &error), DF_E_KERNEL);
    assert_string_equal(error.text, "thread 1");
}

/* Thread 1 ends itself as soon as it may. */
static int end_thread(void *may, uint32_t thread, struct df_error *error)
{
    (void)error;
    if (thread == 1 && atomic_load((_Atomic bool *)may)) {
        atomic_fetch_add(&calls[1], 1);
        pthread_exit(NULL);
    }
    return DF_OK;
}

static void a_thread_that_is_ended_is_told(void **state)
{
    (void)state;
    struct dfr_load_threads *beside;
    struct df_error error = { "" };
    _Atomic bool may = true;
    assert_int_equal(dfr_load_threads_start(THREADS, end_thread, &may, &beside, &error), DF_E_KERNEL);
    assert_non_null(strstr(error.text, "the kernel ended its thread"));
    may = false;
    assert_int_equal(dfr_load_threads_start(THREADS, end_thread, &may, &beside, &error), DF_OK);
    unsigned before = atomic_load(&calls[1]);
    may = true;                         /* in a later call than the first */
    while (atomic_load(&calls[1]) == before)
        ;
    assert_int_equal(dfr_load_threads_stop(beside, &error), DF_E_KERNEL);
}

static void the_triad_moves_bytes(void **state)
{
    (void)state;
    struct dfr_triad *triad;
    double one, two;
    assert_int_equal(dfr_triad_new(2, &triad, NULL), DF_OK);
    assert_int_equal(dfr_triad_rate(triad, 1, &one, NULL), DF_OK);
    assert_int_equal(dfr_triad_rate(triad, 2, &two, NULL), DF_OK);
    dfr_triad_free(triad);
    assert_true(one > 1e7 && one < 1e13);
    assert_true(two > one / 10);        /* also if another program takes most of the machine */
}

static atomic_bool spinning;

static void *spin(void *arg)
{
    while (atomic_load_explicit(&spinning, memory_order_relaxed))
        ;
    return arg;
}

/* What a program that takes the cores leaves of them does not count. */
static void others_do_not_change_the_rate(void **state)
{
    enum { MOST = 64 };
    pthread_t others[MOST];
    uint32_t n = 6 * dfr_cores_count() < MOST ? 6 * dfr_cores_count() : MOST;
    struct dfr_triad *triad;
    double alone, beside;
    (void)state;
    assert_int_equal(dfr_triad_new(1, &triad, NULL), DF_OK);
    assert_int_equal(dfr_triad_rate(triad, 1, &alone, NULL), DF_OK);
    atomic_store(&spinning, true);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(pthread_create(&others[i], NULL, spin, NULL), 0);
    assert_int_equal(dfr_triad_rate(triad, 1, &beside, NULL), DF_OK);
    atomic_store(&spinning, false);
    for (uint32_t i = 0; i < n; i++)
        pthread_join(others[i], NULL);
    dfr_triad_free(triad);
    assert_true(beside > alone / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_works_until_it_is_stopped),
        cmocka_unit_test(the_caller_has_a_core_of_its_own),
        cmocka_unit_test(a_failure_is_told),
        cmocka_unit_test(a_thread_that_is_ended_is_told),
        cmocka_unit_test(the_triad_moves_bytes),
        cmocka_unit_test(others_do_not_change_the_rate),
    };
    return cmocka_run_group_tests_name("triad", tests, NULL, NULL);
}
