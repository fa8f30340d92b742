/* test_transfer.c - prefetches that wait for half of the link, and whom a cache tells that a block has come to the host.
 * The devices are fakes that carry out a copy when the test says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cache_rig.h"

/* A link has room for 64 copies. Prefetches are issued while half of that is free: so 33 at once. */
enum { N = 50, AT_ONCE = 33 };

struct bench {
    struct dfm_space *space;
    struct dfm_cache *caches[3];        /* by memory */
    struct fake fakes[3];
    uint32_t told[N], arrivals[N];      /* of a block: calls of on_host(); of a waiter: of arrived() */
    bool sends_on;                      /* on_host() posts a prefetch to device 2 */
};

static void arrived(void *arg, uint32_t waiter)
{
    ((struct bench *)arg)->arrivals[waiter]++;
}

/* As dfr_prefetch_onward() does for a reader on device 2. */
static void on_host(void *arg, uint32_t block)
{
    struct bench *b = arg;
    assert_true(dfm_block_valid(&b->space->blocks[block]) & DFM_HOST);
    b->told[block]++;
    if (b->sends_on)
        dfm_cache_post_prefetch(b->caches[2], block);
}

static struct bench *bench_begin(uint32_t n_devices, uint64_t pool_pages)
{
    uint64_t bytes[N], count[N];
    struct bench *b = calloc(1, sizeof *b);

    assert_non_null(b);
    for (uint32_t v = 0; v < N; v++) {
        bytes[v] = 64;
        count[v] = 1;
    }
    assert_int_equal(dfm_space_create(&(struct dfm_space_config){ .n_values = N, .n_slots = 1, .bytes = bytes,
                                                                  .count = count, .n_waiters = N },
                                      &b->space, NULL), DF_OK);
    for (uint32_t m = 1; m <= n_devices; m++) {
        fake_begin(&b->fakes[m], pool_pages);
        assert_int_equal(dfm_cache_create(&(struct dfm_cache_config){ .space = b->space, .memory = m,
                                                                      .device = &b->fakes[m].base,
                                                                      .pool_bytes = pool_pages * DFM_PAGE,
                                                                      .max_pieces = 4, .max_claims = 4,
                                                                      .arrived = arrived, .on_host = on_host,
                                                                      .arg = b },
                                          &b->caches[m], NULL), DF_OK);
        b->space->caches[m] = b->caches[m];
        b->space->n_caches = m;
    }
    return b;
}

static void bench_end(struct bench *b)
{
    for (uint32_t m = 1; m <= b->space->n_caches; m++) {
        assert_true(dfm_cache_check(b->caches[m]));
        assert_false(dfm_cache_busy(b->caches[m]));
        dfm_cache_destroy(b->caches[m]);
        fake_end(&b->fakes[m]);
    }
    dfm_space_destroy(b->space);
    free(b);
}

static void poll_once(struct bench *b, uint32_t m)
{
    bool progress;
    assert_int_equal(dfm_cache_poll(b->caches[m], &progress, NULL), DF_OK);
    assert_true(dfm_cache_check(b->caches[m]));
}

static void carry_out(struct bench *b, uint32_t m, uint32_t stream, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        assert_true(world_carry_out(&b->fakes[m], stream));
    poll_once(b, m);
}

static void carry_out_all(struct bench *b, uint32_t m)
{
    for (uint32_t stream = 0; stream < N_STREAMS; stream++)
        while (world_carry_out(&b->fakes[m], stream))
            poll_once(b, m);
}

static void make_on_host(struct bench *b, uint32_t block)
{
    b->space->blocks[block].host = dfm_space_host_take(b->space, block);
    assert_non_null(b->space->blocks[block].host);
    memset(b->space->blocks[block].host, (int)block + 1, 64);
    atomic_store(&b->space->blocks[block].valid, DFM_HOST);
}

static bool is_on(const struct bench *b, uint32_t m, uint32_t block)
{
    return dfm_block_valid(&b->space->blocks[block]) >> m & 1;
}

static struct df_memory_stats stats_of(const struct bench *b, uint32_t m)
{
    struct df_memory_stats stats;
    dfm_cache_stats(b->caches[m], &stats);
    return stats;
}

static void read_on_device(struct bench *b, uint32_t block)
{
    struct dfm_piece piece = { .use = DFM_READ, .block = block };
    struct dfm_claim claim = { .n = 1, .pieces = &piece };
    assert_int_equal(dfm_cache_reserve(b->caches[1], &claim, NULL), DFM_RESERVED);
    assert_false(piece.awaited);
    carry_out_all(b, 1);
    assert_int_equal(*(unsigned char *)dfm_cache_address(b->caches[1], &piece), block + 1);
    dfm_cache_release(b->caches[1], &claim);
}

static void make_on_device(struct bench *b, uint32_t m, uint32_t block)
{
    struct dfm_piece piece = { .use = DFM_WRITE, .block = block };
    struct dfm_claim claim = { .n = 1, .pieces = &piece };
    assert_int_equal(dfm_cache_reserve(b->caches[m], &claim, NULL), DFM_RESERVED);
    memset(dfm_cache_address(b->caches[m], &piece), (int)block + 1, 64);
    dfm_cache_release(b->caches[m], &claim);
    atomic_store(&b->space->blocks[block].valid, 1u << m);
}

/* ---- prefetches that wait ---- */

static struct bench *begin_prefetches(void)
{
    struct bench *b = bench_begin(1, N);
    for (uint32_t v = 0; v < N; v++) {
        make_on_host(b, v);
        dfm_cache_post_prefetch(b->caches[1], v);
    }
    poll_once(b, 1);
    assert_int_equal(b->fakes[1].issued[DFR_STREAM_H2D], AT_ONCE);
    return b;
}

/* They go as copies end, in the order in which they were posted. Until then each counts as on its way, and posting it
 * again changes nothing. */
static void test_wait_for_the_link(void **state)
{
    struct bench *b = begin_prefetches();

    (void)state;
    poll_once(b, 1);                    /* no copy has ended: nothing goes */
    assert_int_equal(b->fakes[1].issued[DFR_STREAM_H2D], AT_ONCE);
    for (uint32_t v = 0; v < N; v++) {
        assert_int_equal(dfm_cache_prefetch_pends(b->caches[1], v), v >= AT_ONCE);
        assert_true(dfm_cache_loads(b->caches[1], v));
    }
    dfm_cache_post_prefetch(b->caches[1], N - 1);
    carry_out(b, 1, DFR_STREAM_H2D, 10);
    poll_once(b, 1);
    assert_int_equal(b->fakes[1].issued[DFR_STREAM_H2D], AT_ONCE + 10);
    carry_out_all(b, 1);
    poll_once(b, 1);
    carry_out_all(b, 1);
    assert_int_equal(b->fakes[1].issued[DFR_STREAM_H2D], N);
    assert_int_equal(stats_of(b, 1).prefetches, N);
    for (uint32_t v = 0; v < N; v++) {
        assert_ptr_equal(b->fakes[1].copies[DFR_STREAM_H2D][v].from, b->space->blocks[v].host);
        assert_true(is_on(b, 1, v));
        assert_false(dfm_cache_prefetch_pends(b->caches[1], v));
    }
    bench_end(b);
}

/* A job does not wait for the prefetches: its input is copied at once, in the half of the link that is kept for that, and
 * once. */
static void test_claims_go_before(void **state)
{
    struct bench *b = begin_prefetches();
    struct dfm_piece piece = { .use = DFM_READ, .block = N - 2 };
    struct dfm_claim claim = { .n = 1, .pieces = &piece };

    (void)state;
    assert_int_equal(dfm_cache_reserve(b->caches[1], &claim, NULL), DFM_RESERVED);
    assert_false(piece.awaited);
    assert_true(piece.missed);
    assert_false(dfm_cache_prefetch_pends(b->caches[1], N - 2));
    assert_int_equal(b->fakes[1].issued[DFR_STREAM_H2D], AT_ONCE + 1);
    assert_ptr_equal(b->fakes[1].copies[DFR_STREAM_H2D][AT_ONCE].from, b->space->blocks[N - 2].host);
    carry_out_all(b, 1);
    dfm_cache_release(b->caches[1], &claim);
    for (int i = 0; i < 3; i++) {
        poll_once(b, 1);
        carry_out_all(b, 1);
    }
    assert_int_equal(b->fakes[1].issued[DFR_STREAM_H2D], N);
    assert_int_equal(stats_of(b, 1).prefetches, N - 1);
    assert_int_equal(stats_of(b, 1).misses, 1);
    bench_end(b);
}

/* A block whose life ends while its prefetch waits is not copied, and neither is its next life, of which nobody said that a
 * job here reads it. If somebody does, it is copied, also if the old place in the queue has not been reached yet. */
static void test_ends_while_it_waits(void **state)
{
    (void)state;
    for (int again = 0; again < 3; again++) {
        struct bench *b = begin_prefetches();
        const uint32_t block = AT_ONCE + 5;

        dfm_space_drop(b->space, block, 0);
        dfm_cache_drop(b->caches[1], block); /* the host alone had it, so no message tells the device */
        assert_false(dfm_cache_prefetch_pends(b->caches[1], block));
        if (again > 0)
            make_on_host(b, block);
        if (again > 1)
            dfm_cache_post_prefetch(b->caches[1], block);
        assert_int_equal(dfm_cache_prefetch_pends(b->caches[1], block), again > 1);
        for (int i = 0; i < 3; i++) {
            poll_once(b, 1);
            carry_out_all(b, 1);
        }
        assert_int_equal(b->fakes[1].issued[DFR_STREAM_H2D], again > 1 ? N : N - 1);
        assert_int_equal(is_on(b, 1, block), again > 1);
        if (again > 1)
            read_on_device(b, block);
        bench_end(b);
    }
}

/* While a claim waits for memory, the prefetches whose turn comes are given up: they would take what it waits for. They
 * may be posted again. */
static void test_given_up_for_a_claim(void **state)
{
    struct bench *b = bench_begin(1, 3);
    struct dfm_piece first[2] = { { .use = DFM_WRITE, .block = 0 }, { .use = DFM_WRITE, .block = 1 } };
    struct dfm_piece second[2] = { { .use = DFM_WRITE, .block = 2 }, { .use = DFM_WRITE, .block = 3 } };
    struct dfm_claim a = { .n = 2, .pieces = first }, c = { .n = 2, .pieces = second };

    (void)state;
    make_on_host(b, 4);
    assert_int_equal(dfm_cache_reserve(b->caches[1], &a, NULL), DFM_RESERVED);
    assert_int_equal(dfm_cache_reserve(b->caches[1], &c, NULL), DFM_WAIT);
    dfm_cache_post_prefetch(b->caches[1], 4);
    poll_once(b, 1);
    assert_false(dfm_cache_prefetch_pends(b->caches[1], 4));
    dfm_cache_release(b->caches[1], &a);
    atomic_store(&b->space->blocks[0].valid, 2u);
    atomic_store(&b->space->blocks[1].valid, 2u);
    dfm_space_drop(b->space, 0, 1);
    dfm_space_drop(b->space, 1, 1);
    assert_int_equal(dfm_cache_reserve(b->caches[1], &c, NULL), DFM_RESERVED);
    dfm_cache_release(b->caches[1], &c);
    assert_int_equal(b->fakes[1].issued[DFR_STREAM_H2D], 0);
    atomic_store(&b->space->blocks[2].valid, 2u);
    atomic_store(&b->space->blocks[3].valid, 2u);
    dfm_space_drop(b->space, 2, 1);
    dfm_cache_post_prefetch(b->caches[1], 4);
    poll_once(b, 1);
    carry_out_all(b, 1);
    assert_true(is_on(b, 1, 4));
    bench_end(b);
}

/* ---- a block that has come to the host ---- */

/* The cache tells of it once, whoever asked: the owner itself or a waiter. Thus it is sent on to device 2 at once. */
static void test_sent_on(void **state)
{
    struct bench *b = bench_begin(2, N);

    (void)state;
    b->sends_on = true;
    make_on_device(b, 1, 0);
    make_on_device(b, 1, 1);
    assert_int_equal(dfm_cache_to_host(b->caches[1], 0, NULL), DF_OK);
    b->space->asked[7] = 1;
    dfm_cache_post_fetch(b->caches[1], 7);
    poll_once(b, 1);
    assert_int_equal(b->told[0] + b->told[1], 0); /* not before it is there */
    poll_once(b, 2);
    assert_int_equal(b->fakes[2].issued[DFR_STREAM_H2D], 0);
    carry_out_all(b, 1);
    assert_int_equal(b->told[0], 1);
    assert_int_equal(b->told[1], 1);
    assert_int_equal(b->arrivals[7], 1);
    poll_once(b, 2);
    carry_out_all(b, 2);
    for (uint32_t v = 0; v < 2; v++) {
        assert_true(is_on(b, 1, v) && is_on(b, 2, v));
        assert_int_equal(*((unsigned char *)b->space->blocks[v].host), v + 1);
    }
    assert_int_equal(stats_of(b, 2).prefetches, 2);
    bench_end(b);
}

/* What is written back because it is evicted was in nobody's plan: nobody is told. */
static void test_not_told_of_eviction(void **state)
{
    struct bench *b = bench_begin(1, 2);
    struct dfm_piece pieces[2] = { { .use = DFM_WRITE, .block = 2 }, { .use = DFM_WRITE, .block = 3 } };
    struct dfm_claim claim = { .n = 2, .pieces = pieces };

    (void)state;
    make_on_device(b, 1, 0);
    make_on_device(b, 1, 1);
    for (int i = 0; i < 2; i++) {       /* one goes, then the other */
        assert_int_equal(dfm_cache_reserve(b->caches[1], &claim, NULL), DFM_WAIT);
        carry_out_all(b, 1);
    }
    assert_int_equal(dfm_cache_reserve(b->caches[1], &claim, NULL), DFM_RESERVED);
    assert_int_equal(stats_of(b, 1).writebacks, 2);
    assert_int_equal(b->told[0] + b->told[1], 0);
    assert_int_equal(dfm_block_valid(&b->space->blocks[0]), DFM_HOST);
    dfm_cache_release(b->caches[1], &claim);
    bench_end(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wait_for_the_link),   cmocka_unit_test(test_claims_go_before),
        cmocka_unit_test(test_ends_while_it_waits), cmocka_unit_test(test_given_up_for_a_claim),
        cmocka_unit_test(test_sent_on),             cmocka_unit_test(test_not_told_of_eviction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
