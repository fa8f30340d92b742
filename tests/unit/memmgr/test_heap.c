/* test_heap.c - buffers of a heap: aligned, apart from each other, last freed first taken, and never with two owners at
 * once, whatever threads do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "memmgr/heap.h"

#ifdef __SANITIZE_THREAD__
#define N_ROUNDS 5000u
#else
#define N_ROUNDS 50000u
#endif

static void test_buffers_are_apart(void **state)
{
    const struct dfm_heap_class classes[] = {{1, 3}, {64, 2}, {65, 5}, {0, 4}, {100000, 2}, {8, 0}};
    struct dfm_heap *heap = dfm_heap_create(classes, 6, NULL);
    unsigned char *buffers[16];
    unsigned n = 0;

    (void)state;
    assert_non_null(heap);
    assert_int_equal(dfm_heap_reserved_bytes(heap), 3 * 64 + 2 * 64 + 5 * 128 + 4 * 64 + 2 * 100032);
    for (uint32_t c = 0; c < 6; c++) {
        for (uint64_t i = 0; i < classes[c].count; i++) {
            buffers[n] = dfm_heap_alloc(heap, c);
            assert_non_null(buffers[n]);
            assert_int_equal((uintptr_t)buffers[n] % 64, 0);
            for (unsigned k = 0; k < n; k++)
                assert_ptr_not_equal(buffers[n], buffers[k]);
            memset(buffers[n], (int)n + 1, classes[c].bytes);
            n++;
            assert_int_equal(dfm_heap_live(heap, c), i + 1);
        }
        assert_null(dfm_heap_alloc(heap, c)); /* more than were declared */
    }
    n = 0;
    for (uint32_t c = 0; c < 6; c++) {
        for (uint64_t i = 0; i < classes[c].count; i++, n++) {
            for (uint64_t b = 0; b < classes[c].bytes; b++)
                assert_int_equal(buffers[n][b], n + 1);
            dfm_heap_free(heap, c, buffers[n]);
        }
        assert_int_equal(dfm_heap_live(heap, c), 0);
    }
    dfm_heap_destroy(heap);
}

static void test_last_freed_is_first_taken(void **state)
{
    const struct dfm_heap_class cls = {4096, 8};
    struct dfm_heap *heap = dfm_heap_create(&cls, 1, NULL);
    void *a = dfm_heap_alloc(heap, 0), *b = dfm_heap_alloc(heap, 0), *c = dfm_heap_alloc(heap, 0);

    (void)state;
    dfm_heap_free(heap, 0, b);
    dfm_heap_free(heap, 0, a);
    assert_ptr_equal(dfm_heap_alloc(heap, 0), a);
    assert_ptr_equal(dfm_heap_alloc(heap, 0), b);
    assert_ptr_not_equal(dfm_heap_alloc(heap, 0), c);
    dfm_heap_destroy(heap);
}

/* ---- where memory comes from ---- */

struct ledger {
    uint64_t taken, returned;
    bool refuse;
};

static void *ledger_alloc(void *arg, uint64_t bytes)
{
    struct ledger *ledger = arg;

    if (ledger->refuse)
        return NULL;
    ledger->taken += bytes;
    return aligned_alloc(64, bytes);
}

static void ledger_free(void *arg, void *memory, uint64_t bytes)
{
    struct ledger *ledger = arg;

    ledger->returned += bytes;
    free(memory);
}

static void test_source(void **state)
{
    const struct dfm_heap_class cls = {100, 10};
    struct ledger ledger = {0, 0, false};
    struct dfm_heap_source source = {ledger_alloc, ledger_free, &ledger};
    struct dfm_heap *heap = dfm_heap_create(&cls, 1, &source);
    unsigned char *buffer;

    (void)state;
    assert_int_equal(ledger.taken, 1280);
    buffer = dfm_heap_alloc(heap, 0);
    memset(buffer, 1, 100);
    dfm_heap_free(heap, 0, buffer);
    dfm_heap_destroy(heap);
    assert_int_equal(ledger.returned, 1280);
    ledger.refuse = true;
    assert_null(dfm_heap_create(&cls, 1, &source));
}

static void test_sizes(void **state)
{
    const struct dfm_heap_class huge[] = {{UINT64_MAX, 1}, {UINT64_MAX / 2, 3}, {1, UINT32_MAX}};
    const struct dfm_heap_class two[] = {{UINT64_C(1) << 62, 3}, {UINT64_C(1) << 62, 1}};
    const struct dfm_heap_class wide = {UINT64_C(1) << 20, 4096}; /* 4 GiB of addresses, not of memory */
    struct dfm_heap *heap;
    unsigned char *buffer;

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        assert_null(dfm_heap_create(&huge[i], 1, NULL));
    assert_null(dfm_heap_create(two, 2, NULL));
    heap = dfm_heap_create(NULL, 0, NULL);
    assert_non_null(heap);
    dfm_heap_destroy(heap);
    dfm_heap_destroy(NULL);
    heap = dfm_heap_create(&wide, 1, NULL);
    assert_non_null(heap);
    buffer = dfm_heap_alloc(heap, 0);
    buffer[0] = buffer[(1 << 20) - 1] = 1;
    dfm_heap_destroy(heap);
}

/* ---- threads ---- */

enum { N_THREADS = 4, HELD = 3, N_CLASSES = 2 };

struct crowd {
    struct dfm_heap *heap;
    _Atomic unsigned failures;
    pthread_barrier_t start;
    _Atomic(void *) handed;             /* a buffer of class 0 that one thread gives another to free */
};

struct member {
    struct crowd *crowd;
    uint32_t number;
};

/* Takes up to HELD buffers at a time, writes its name all over each and finds it there when it gives them back. As many
 * buffers are declared as all threads can hold, so alloc may never say no. */
static void *take_and_give(void *arg)
{
    struct member *me = arg;
    struct crowd *crowd = me->crowd;
    uint32_t *held[HELD];

    pthread_barrier_wait(&crowd->start);
    for (uint32_t round = 0; round < N_ROUNDS; round++) {
        uint32_t n = 1 + (round + me->number) % HELD, cls = round % N_CLASSES, mark = round * N_THREADS + me->number;

        for (uint32_t i = 0; i < n; i++) {
            held[i] = dfm_heap_alloc(crowd->heap, cls);
            if (held[i] == NULL) {
                atomic_fetch_add(&crowd->failures, 1);
                return NULL;
            }
            for (uint32_t w = 0; w < 16; w++)
                held[i][w] = mark;
        }
        if (round % 64 == 0)
            sched_yield();
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t w = 0; w < 16; w++)
                atomic_fetch_add(&crowd->failures, held[i][w] != mark);
            dfm_heap_free(crowd->heap, cls, held[i]);
        }
        if (round % 16 == 0) { /* some buffers are freed by another thread than took them */
            void *mine = dfm_heap_alloc(crowd->heap, 0);
            void *other = atomic_exchange_explicit(&crowd->handed, mine, memory_order_acq_rel);

            if (other != NULL)
                dfm_heap_free(crowd->heap, 0, other);
        }
    }
    return NULL;
}

static void test_one_owner_at_a_time(void **state)
{
    const struct dfm_heap_class classes[N_CLASSES] = {{64, N_THREADS * HELD + 1}, {64, N_THREADS * HELD}};
    struct crowd crowd = {.heap = dfm_heap_create(classes, N_CLASSES, NULL)};
    struct member members[N_THREADS];
    pthread_t threads[N_THREADS];

    (void)state;
    pthread_barrier_init(&crowd.start, NULL, N_THREADS);
    for (uint32_t i = 0; i < N_THREADS; i++) {
        members[i] = (struct member){&crowd, i};
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, &members[i]), 0);
    }
    for (uint32_t i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&crowd.failures), 0);
    dfm_heap_free(crowd.heap, 0, atomic_load(&crowd.handed));
    for (uint32_t c = 0; c < N_CLASSES; c++)
        assert_int_equal(dfm_heap_live(crowd.heap, c), 0);
    pthread_barrier_destroy(&crowd.start);
    dfm_heap_destroy(crowd.heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffers_are_apart),
        cmocka_unit_test(test_last_freed_is_first_taken),
        cmocka_unit_test(test_source),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_one_owner_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
