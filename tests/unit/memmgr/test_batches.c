/* test_batches.c - copies that are given to a device together: which ones, which of them are one copy, and what waits for
 * what. The device is a fake that carries out a copy when the test says so, the last of a batch first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cache_rig.h"

/* Blocks 0 to 5 have a page each, their host memory is one piece, and a batch has three of them. Blocks 6 and 7 are lent
 * memory that is one piece as well. Block 8 is larger than a batch. */
enum { N = 9, PAGES = 6, LENT = 6, LARGE = 8, TOGETHER = 3, LARGE_PAGES = TOGETHER + 1 };

struct bench {
    struct dfm_space *space;
    struct dfm_cache *cache;
    struct fake fake;
    unsigned char *lent_memory;
    struct dfm_lent lents[2];
    const struct dfm_lent *lent[N];
    uint32_t arrivals;
};

static uint64_t bytes_of(uint32_t block)
{
    return (block == LARGE ? LARGE_PAGES : 1) * (uint64_t)DFM_PAGE;
}

static int64_t wave_of(void *arg, uint32_t slot)
{
    (void)arg, (void)slot;
    return 0;
}

static void arrived(void *arg, uint32_t waiter)
{
    (void)waiter;
    ((struct bench *)arg)->arrivals++;
}

static void copied(void *arg, enum dfr_copy kind, uint32_t block, uint64_t bytes, double begin_s, double end_s)
{
    (void)arg, (void)kind, (void)block, (void)bytes, (void)begin_s, (void)end_s;
}

static bool event_times(struct dfr_device *device, struct dfr_event *event, double *begin_s, double *end_s)
{
    (void)device, (void)event;
    *begin_s = *end_s = 0;
    return true;
}

/* `ops`: the device's, if it is no common fake. `timed`: the times of copies are wanted. */
static struct bench *bench_with(const struct dfr_device_ops *ops, bool timed)
{
    struct bench *b = calloc(1, sizeof *b);
    uint64_t bytes[N], count[N];

    assert_non_null(b);
    b->lent_memory = aligned_alloc(DFM_PAGE, 2 * DFM_PAGE);
    assert_non_null(b->lent_memory);
    for (uint32_t i = 0; i < 2; i++) {
        b->lents[i] = (struct dfm_lent){ .data = b->lent_memory + i * DFM_PAGE, .stride_bytes = DFM_PAGE, .n_tokens = 1,
                                         .pinned = true };
        b->lent[LENT + i] = &b->lents[i];
    }
    for (uint32_t v = 0; v < N; v++) {
        bytes[v] = bytes_of(v);
        count[v] = 1;
    }
    fake_begin(&b->fake, N + LARGE_PAGES);
    if (ops)
        b->fake.base.ops = ops;
    assert_int_equal(dfm_space_create(&(struct dfm_space_config){ .n_values = N, .n_slots = 1, .bytes = bytes,
                                                                  .count = count, .n_waiters = N, .lent = b->lent,
                                                                  .wave = wave_of },
                                      &b->space, NULL), DF_OK);
    assert_int_equal(dfm_cache_create(&(struct dfm_cache_config){ .space = b->space, .memory = 1,
                                                                  .device = &b->fake.base,
                                                                  .pool_bytes = (N + LARGE_PAGES) * DFM_PAGE,
                                                                  .max_pieces = N, .max_claims = 4,
                                                                  .to_batch_bytes = TOGETHER * DFM_PAGE,
                                                                  .from_batch_bytes = TOGETHER * DFM_PAGE,
                                                                  .arrived = arrived,
                                                                  .copied = timed ? copied : NULL, .arg = b },
                                      &b->cache, NULL), DF_OK);
    b->space->caches[1] = b->cache;
    b->space->n_caches = 1;
    return b;
}

static struct bench *bench_begin(void)
{
    return bench_with(NULL, false);
}

static void bench_end(struct bench *b)
{
    assert_true(dfm_cache_check(b->cache));
    assert_false(dfm_cache_busy(b->cache));
    dfm_cache_destroy(b->cache);
    fake_end(&b->fake);
    dfm_space_destroy(b->space);
    free(b->lent_memory);
    free(b);
}

static void poll_once(struct bench *b)
{
    bool progress;
    assert_int_equal(dfm_cache_poll(b->cache, &progress, NULL), DF_OK);
    assert_true(dfm_cache_check(b->cache));
}

static void carry_out(struct bench *b, uint32_t stream, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        assert_true(world_carry_out(&b->fake, stream));
    poll_once(b);
}

static void make_on_host(struct bench *b, uint32_t block)
{
    b->space->blocks[block].host = dfm_space_host_take(b->space, block);
    assert_non_null(b->space->blocks[block].host);
    memset(b->space->blocks[block].host, (int)block + 1, bytes_of(block));
    atomic_store(&b->space->blocks[block].valid, DFM_HOST);
}

static void check_bytes(uint32_t block, const unsigned char *memory)
{
    for (uint64_t i = 0; i < bytes_of(block); i++)
        assert_int_equal(memory[i], block + 1);
}

static void prefetch(struct bench *b, uint32_t first, uint32_t n)
{
    for (uint32_t v = first; v < first + n; v++) {
        make_on_host(b, v);
        dfm_cache_post_prefetch(b->cache, v);
    }
    poll_once(b);
}

static bool is_here(const struct bench *b, uint32_t block)
{
    return dfm_block_valid(&b->space->blocks[block]) >> 1 & 1;
}

static struct df_memory_stats stats_of(const struct bench *b)
{
    struct df_memory_stats stats;
    dfm_cache_stats(b->cache, &stats);
    return stats;
}

static void check_on_device(struct bench *b, uint32_t block)
{
    struct dfm_piece piece = { .use = DFM_READ, .block = block };
    struct dfm_claim claim = { .n = 1, .pieces = &piece };
    assert_int_equal(dfm_cache_reserve(b->cache, &claim, NULL), DFM_RESERVED);
    assert_false(piece.awaited || piece.missed);
    check_bytes(block, dfm_cache_address(b->cache, &piece));
    dfm_cache_release(b->cache, &claim);
}

/* Six prefetches are two batches of three, with an event each. Those of a batch lie next to each other on the host and on
 * the device, so they are one copy; and they are there when that is complete. */
static void test_neighbours_are_one_copy(void **state)
{
    struct bench *b = bench_begin();

    (void)state;
    prefetch(b, 0, PAGES);
    assert_int_equal(b->fake.issued[DFR_STREAM_H2D], 2);
    assert_int_equal(b->fake.records, 2);
    assert_int_equal(b->fake.copies[DFR_STREAM_H2D][0].bytes, TOGETHER * DFM_PAGE);
    for (uint32_t half = 0; half < 2; half++) {
        for (uint32_t v = half * TOGETHER; v < PAGES; v++)
            assert_false(is_here(b, v));
        carry_out(b, DFR_STREAM_H2D, 1);
        for (uint32_t v = 0; v < (half + 1) * TOGETHER; v++)
            assert_true(is_here(b, v));
    }
    for (uint32_t v = 0; v < PAGES; v++)
        check_on_device(b, v);
    assert_int_equal(stats_of(b).h2d_copies, PAGES);
    assert_int_equal(stats_of(b).h2d_bytes, PAGES * DFM_PAGE);
    assert_int_equal(stats_of(b).batches, 2);
    assert_int_equal(stats_of(b).batched_copies, PAGES);
    assert_int_equal(stats_of(b).joined_copies, PAGES - 2);
    bench_end(b);
}

/* Lent memory may be pinned by itself, so it is copied by itself, also beside more such memory. */
static void test_lent_memory_is_not_joined(void **state)
{
    struct bench *b = bench_begin();

    (void)state;
    prefetch(b, LENT - 1, 3);
    assert_int_equal(b->fake.issued[DFR_STREAM_H2D], 3);
    assert_int_equal(b->fake.batches, 1);
    assert_int_equal(b->fake.records, 1);
    carry_out(b, DFR_STREAM_H2D, 2);
    for (uint32_t v = LENT - 1; v < LENT + 2; v++)
        assert_false(is_here(b, v));
    carry_out(b, DFR_STREAM_H2D, 1);
    for (uint32_t v = LENT - 1; v < LENT + 2; v++)
        check_on_device(b, v);
    assert_int_equal(stats_of(b).joined_copies, 0);
    bench_end(b);
}

/* A job's inputs go together. Its launch waits for the last of them, and not for what is given afterwards. What is larger
 * than a batch goes alone, and so does what comes before or after it alone. */
static void test_claims(void **state)
{
    static const uint32_t blocks[] = { 1, 0, LARGE, 3 };
    struct bench *b = bench_begin();
    struct dfm_piece pieces[4];
    struct dfm_claim claim = { .n = 4, .pieces = pieces };

    (void)state;
    for (uint32_t i = 4; i-- > 0;) {    /* on the host 1 lies after 0, and on the device before it */
        make_on_host(b, blocks[i]);
        pieces[i] = (struct dfm_piece){ .use = DFM_READ, .block = blocks[i] };
    }
    assert_int_equal(dfm_cache_reserve(b->cache, &claim, NULL), DFM_RESERVED);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(pieces[i].missed && !pieces[i].awaited);
    assert_int_equal(b->fake.issued[DFR_STREAM_H2D], 4);
    assert_int_equal(b->fake.batches, 1);
    assert_int_equal(b->fake.records, 3);
    prefetch(b, 4, 2);
    assert_int_equal(dfm_cache_wait(b->cache, &claim, DFR_STREAM_COMPUTE, NULL), DF_OK);
    assert_int_equal(b->fake.waited, 4);
    claim.n = 1;                        /* a launch that needs the first of a batch waits for all of it */
    assert_int_equal(dfm_cache_wait(b->cache, &claim, DFR_STREAM_COMPUTE, NULL), DF_OK);
    assert_int_equal(b->fake.waited, 2);
    claim.n = 4;
    carry_out(b, DFR_STREAM_H2D, (uint32_t)b->fake.issued[DFR_STREAM_H2D]);
    for (uint32_t i = 0; i < 4; i++)
        check_bytes(blocks[i], dfm_cache_address(b->cache, &pieces[i]));
    dfm_cache_release(b->cache, &claim);
    assert_int_equal(stats_of(b).batched_copies, 4);
    bench_end(b);
}

static void make_on_device(struct bench *b, uint32_t block)
{
    struct dfm_piece piece = { .use = DFM_WRITE, .block = block };
    struct dfm_claim claim = { .n = 1, .pieces = &piece };
    assert_int_equal(dfm_cache_reserve(b->cache, &claim, NULL), DFM_RESERVED);
    memset(dfm_cache_address(b->cache, &piece), (int)block + 1, bytes_of(block));
    dfm_cache_release(b->cache, &claim);
    atomic_store(&b->space->blocks[block].valid, 2u);
}

/* Fetches that are read at once go to the host together, and whoever waits is told when all of them have come. */
static void test_to_the_host(void **state)
{
    struct bench *b = bench_begin();

    (void)state;
    for (uint32_t v = 0; v < TOGETHER; v++)
        make_on_device(b, v);
    for (uint32_t v = 0; v < TOGETHER; v++) {
        b->space->asked[v] = v;
        dfm_cache_post_fetch(b->cache, v);
    }
    poll_once(b);
    assert_int_equal(b->fake.records, 1);
    assert_int_equal(b->arrivals, 0);
    carry_out(b, DFR_STREAM_D2H, (uint32_t)b->fake.issued[DFR_STREAM_D2H]);
    assert_int_equal(b->arrivals, TOGETHER);
    for (uint32_t v = 0; v < TOGETHER; v++)
        check_bytes(v, b->space->blocks[v].host);
    assert_int_equal(stats_of(b).d2h_copies, TOGETHER);
    assert_int_equal(stats_of(b).batched_copies, TOGETHER);
    bench_end(b);
}

/* Whoever wants the times of each copy gets each copy alone; and so does a device that has no batches. */
static void test_alone(void **state)
{
    (void)state;
    for (int timed = 0; timed < 2; timed++) {
        struct fake fake;
        struct dfr_device_ops ops;
        struct bench *b;

        fake_begin(&fake, 1);
        ops = *fake.base.ops;
        fake_end(&fake);
        ops.event_times = event_times;
        if (!timed)
            ops.copy_batch = NULL;
        b = bench_with(&ops, timed);
        prefetch(b, 0, PAGES);
        assert_int_equal(b->fake.issued[DFR_STREAM_H2D], PAGES);
        assert_int_equal(b->fake.records, PAGES);
        carry_out(b, DFR_STREAM_H2D, 1);
        assert_true(is_here(b, 0) && !is_here(b, 1));
        carry_out(b, DFR_STREAM_H2D, PAGES - 1);
        assert_int_equal(stats_of(b).batched_copies, 0);
        bench_end(b);
    }
}

static int refuse_batch(struct dfr_device *device, enum dfr_copy kind, const struct dfr_transfer *copies, uint32_t n,
                        uint32_t stream, struct df_error *error)
{
    (void)device, (void)kind, (void)copies, (void)n, (void)stream, (void)error;
    return DF_E_DEVICE;
}

static int refuse_query(struct dfr_device *device, struct dfr_event *event, bool *complete, struct df_error *error)
{
    (void)device, (void)event, (void)complete, (void)error;
    return DF_E_DEVICE;
}

/* It is not known which copy of a batch has failed, at once or later. So the cache says of how many it may be. */
static void test_failures(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        struct bench *b = bench_begin();
        const struct dfr_device_ops *whole = b->fake.base.ops;
        struct dfr_device_ops broken = *whole;
        uint32_t others = 99;
        bool progress;

        if (late)
            broken.event_query = refuse_query;
        else
            broken.copy_batch = refuse_batch;
        b->fake.base.ops = &broken;
        for (uint32_t i = 0; i < 2; i++) { /* not neighbours, which would be one copy */
            make_on_host(b, LENT + i);
            dfm_cache_post_prefetch(b->cache, LENT + i);
        }
        assert_int_equal(dfm_cache_poll(b->cache, &progress, NULL), DF_E_DEVICE);
        assert_int_equal(dfm_cache_culprit(b->cache, &others), LENT);
        assert_int_equal(others, 1);
        b->fake.base.ops = whole;
        poll_once(b);
        while (world_carry_out(&b->fake, DFR_STREAM_H2D))
            ;
        poll_once(b);
        check_on_device(b, LENT + 1);
        bench_end(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_neighbours_are_one_copy),
                                        cmocka_unit_test(test_lent_memory_is_not_joined),
                                        cmocka_unit_test(test_claims),
                                        cmocka_unit_test(test_to_the_host),
                                        cmocka_unit_test(test_alone),
                                        cmocka_unit_test(test_failures) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
