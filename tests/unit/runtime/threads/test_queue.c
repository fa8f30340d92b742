/* test_queue.c - the job queue against its contract. The same tests run over the reference, which has a mutex; that
 * shows that they ask nothing beyond the contract. Many threads push and pop items, and producer and sequence of each
 * item are checked. Each known bug of this family of queues has a property that it breaks: a false "empty" while a node
 * is recycled (ponyc #5820, questdb #7557, ck #165); reading tail->next of a node that is gone (ponyc #4541), which the
 * sanitizer builds see. test_queue_steps.c goes through the interleavings of these bugs one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "long.h"
#include "runtime/threads/queue.h"

#include "queue_mutex.h"

#ifdef __SANITIZE_THREAD__
#define N_ITEMS 5000u
#else
#define N_ITEMS (IN_LONG(40000u, 4000u))
#endif
#define MAX_THREADS 4u

struct implementation {
    const char *name;
    void *(*create)(uint32_t capacity);
    void (*destroy)(void *queue);
    bool (*push)(void *queue, uint64_t item);
    bool (*pop)(void *queue, uint64_t *item);
    bool (*is_empty)(const void *queue);
};

#define IMPLEMENTATION(prefix, type)                                                                                   \
    static void *prefix##_make(uint32_t capacity) { return prefix##_create(capacity); }                                \
    static void prefix##_end(void *queue) { prefix##_destroy((struct type *)queue); }                                  \
    static bool prefix##_put(void *queue, uint64_t item) { return prefix##_push((struct type *)queue, item); }         \
    static bool prefix##_get(void *queue, uint64_t *item) { return prefix##_pop((struct type *)queue, item); }         \
    static bool prefix##_glance(const void *queue) { return prefix##_is_empty((const struct type *)queue); }           \
    static const struct implementation prefix##_implementation = {#prefix,       prefix##_make, prefix##_end,          \
                                                                  prefix##_put,  prefix##_get,  prefix##_glance};

IMPLEMENTATION(dfr_queue, dfr_queue)
IMPLEMENTATION(queue_mutex, queue_mutex)

static const struct implementation *under_test(void **state)
{
    return *state;
}

/* ---- one thread ---- */

static void test_fifo(void **state)
{
    const struct implementation *q = under_test(state);
    void *queue = q->create(10);
    uint64_t item = 0;

    assert_non_null(queue);
    assert_true(q->is_empty(queue));
    assert_false(q->pop(queue, &item));
    for (uint64_t i = 0; i < 10; i++)
        assert_true(q->push(queue, i == 3 ? UINT64_MAX : i)); /* every word may be an item */
    assert_false(q->is_empty(queue));
    for (uint64_t i = 0; i < 10; i++) {
        assert_true(q->pop(queue, &item));
        assert_int_equal(item, i == 3 ? UINT64_MAX : i);
    }
    assert_false(q->pop(queue, &item));
    assert_true(q->is_empty(queue));
    q->destroy(queue);
}

static void test_full(void **state)
{
    const struct implementation *q = under_test(state);

    for (uint32_t capacity = 0; capacity <= 3; capacity++) {
        void *queue = q->create(capacity);
        uint64_t item;

        for (uint32_t round = 0; round < 5; round++) {
            for (uint32_t i = 0; i < capacity; i++)
                assert_true(q->push(queue, i));
            assert_false(q->push(queue, 99));
            assert_false(q->push(queue, 99));
            for (uint32_t i = 0; i < capacity; i++) {
                assert_true(q->pop(queue, &item));
                assert_int_equal(item, i);
            }
            assert_false(q->pop(queue, &item));
        }
        q->destroy(queue);
    }
}

/* Every node is recycled many times, at every fill. */
static void test_wrap(void **state)
{
    const struct implementation *q = under_test(state);
    void *queue = q->create(7);
    uint64_t in = 0, out = 0, item;

    for (unsigned round = 0; round < 2000; round++) {
        unsigned n = round * 5 % 8;

        while (in - out < n)
            assert_true(q->push(queue, in++));
        while (in - out > round % 3) {
            assert_true(q->pop(queue, &item));
            assert_int_equal(item, out++);
        }
    }
    q->destroy(queue);
}

static void test_destroy_full_and_null(void **state)
{
    const struct implementation *q = under_test(state);
    void *queue = q->create(5);

    for (int i = 0; i < 5; i++)
        q->push(queue, 1);
    q->destroy(queue);
    q->destroy(NULL);
}

/* ---- several threads ---- */

struct crowd {
    const struct implementation *q;
    void *queue;
    unsigned n_producers;
    uint64_t per_producer;
    _Atomic uint64_t popped;
    _Atomic unsigned failures;
    pthread_barrier_t start;
};

struct member {
    struct crowd *crowd;
    unsigned number;
    uint64_t seen[MAX_THREADS];         /* of a consumer, by producer: items that it has got */
    uint64_t next[MAX_THREADS];         /* of a consumer, by producer: the lowest sequence that may still come */
    uint64_t payload;
};

static uint64_t payloads[MAX_THREADS][64]; /* plain memory that push must publish: TSan and the check see it */

static void *produce(void *arg)
{
    struct member *me = arg;
    struct crowd *crowd = me->crowd;

    pthread_barrier_wait(&crowd->start);
    for (uint64_t i = 0; i < crowd->per_producer; i++) {
        if (i < 64)
            payloads[me->number][i] = i * 3 + me->number;
        while (!crowd->q->push(crowd->queue, (uint64_t)me->number << 32 | i))
            sched_yield();
    }
    return NULL;
}

static void *consume(void *arg)
{
    struct member *me = arg;
    struct crowd *crowd = me->crowd;
    uint64_t all = crowd->n_producers * crowd->per_producer, item;

    pthread_barrier_wait(&crowd->start);
    while (atomic_load(&crowd->popped) < all) {
        uint64_t sequence;
        unsigned producer;

        if (!crowd->q->pop(crowd->queue, &item)) {
            sched_yield();
            continue;
        }
        atomic_fetch_add(&crowd->popped, 1);
        producer = (unsigned)(item >> 32);
        sequence = item & UINT32_MAX;
        if (producer >= crowd->n_producers || sequence < me->next[producer] || sequence >= crowd->per_producer ||
            (sequence < 64 && payloads[producer][sequence] != sequence * 3 + producer)) {
            atomic_fetch_add(&crowd->failures, 1);
            continue;
        }
        me->next[producer] = sequence + 1; /* one consumer gets the items of one producer in order */
        me->seen[producer]++;
    }
    return NULL;
}

static void run_crowd(const struct implementation *q, unsigned n_producers, unsigned n_consumers, uint32_t capacity)
{
    struct crowd crowd = {.q = q, .queue = q->create(capacity), .n_producers = n_producers, .per_producer = N_ITEMS};
    struct member members[2 * MAX_THREADS] = {{0}};
    pthread_t threads[2 * MAX_THREADS];
    unsigned n = n_producers + n_consumers;
    uint64_t item;

    pthread_barrier_init(&crowd.start, NULL, n);
    for (unsigned i = 0; i < n; i++) {
        members[i].crowd = &crowd;
        members[i].number = i;
        assert_int_equal(pthread_create(&threads[i], NULL, i < n_producers ? produce : consume, &members[i]), 0);
    }
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&crowd.failures), 0);
    for (unsigned p = 0; p < n_producers; p++) {
        uint64_t seen = 0;

        for (unsigned c = n_producers; c < n; c++)
            seen += members[c].seen[p];
        assert_int_equal(seen, crowd.per_producer); /* none lost, none twice */
    }
    assert_false(q->pop(crowd.queue, &item));
    assert_true(q->is_empty(crowd.queue));
    pthread_barrier_destroy(&crowd.start);
    q->destroy(crowd.queue);
}

static void test_one_producer_one_consumer(void **state)
{
    run_crowd(under_test(state), 1, 1, 2);
}

static void test_producers_and_consumers(void **state)
{
    run_crowd(under_test(state), 2, 2, 1);
    run_crowd(under_test(state), 3, 3, 64);
    run_crowd(under_test(state), 4, 1, 5);
    run_crowd(under_test(state), 1, 4, 5);
}

/* Each thread pushes one item and pops one. So whenever a thread pops, at least its own item is inside, or another
 * thread has taken it and left one in exchange. So pop may never say "empty". With room for one item each, push may
 * never say "full". */
static void *exchange(void *arg)
{
    struct member *me = arg;
    struct crowd *crowd = me->crowd;
    uint64_t item;

    pthread_barrier_wait(&crowd->start);
    for (uint64_t i = 0; i < crowd->per_producer; i++) {
        if (!crowd->q->push(crowd->queue, i) || crowd->q->is_empty(crowd->queue) || !crowd->q->pop(crowd->queue, &item))
            atomic_fetch_add(&crowd->failures, 1);
    }
    return NULL;
}

static void test_never_falsely_empty_or_full(void **state)
{
    const struct implementation *q = under_test(state);
    struct crowd crowd = {.q = q, .queue = q->create(2 * MAX_THREADS), .per_producer = 2 * N_ITEMS};
    struct member members[MAX_THREADS] = {{0}};
    pthread_t threads[MAX_THREADS];

    pthread_barrier_init(&crowd.start, NULL, MAX_THREADS);
    for (unsigned i = 0; i < MAX_THREADS; i++) {
        members[i].crowd = &crowd;
        assert_int_equal(pthread_create(&threads[i], NULL, exchange, &members[i]), 0);
    }
    for (unsigned i = 0; i < MAX_THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&crowd.failures), 0);
    assert_true(q->is_empty(crowd.queue));
    pthread_barrier_destroy(&crowd.start);
    q->destroy(crowd.queue);
}

static void test_capacity_too_large(void **state)
{
    (void)state;
    assert_null(dfr_queue_create(UINT32_MAX));
    assert_null(dfr_queue_create(UINT32_MAX - 1));
}

#define BOTH(test)                                                                                                     \
    {#test " lock-free", test, NULL, NULL, (void *)&dfr_queue_implementation},                                         \
    {#test " mutex", test, NULL, NULL, (void *)&queue_mutex_implementation}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_fifo),
        BOTH(test_full),
        BOTH(test_wrap),
        BOTH(test_destroy_full_and_null),
        BOTH(test_one_producer_one_consumer),
        BOTH(test_producers_and_consumers),
        BOTH(test_never_falsely_empty_or_full),
        cmocka_unit_test(test_capacity_too_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
