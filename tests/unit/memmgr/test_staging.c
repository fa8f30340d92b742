/* test_staging.c - copies of host memory that is not pinned, in parts through a ring of pinned memory: the ring by
 * itself, and in a cache. The devices are fakes that carry out a copy when the test says so, so that each order of events
 * can be had.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cache_rig.h"
#include "memmgr/staging.h"
#include "runtime/start/back_ends.h"

#define CHUNK DFM_STAGING_CHUNK_BYTES
#define CHUNKS DFM_STAGING_CHUNKS
#define PAGES(bytes) (((bytes) + DFM_PAGE - 1) / DFM_PAGE)

static uint32_t carry_out(struct fake *f, uint32_t stream, uint32_t most)
{
    uint32_t n = 0;
    while (n < most && world_carry_out(f, stream))
        n++;
    return n;
}

static void fill(unsigned char *memory, uint64_t bytes, uint32_t seed)
{
    for (uint64_t i = 0; i < bytes; i++)
        memory[i] = (unsigned char)(i * 7 + (i >> 9) + seed * 31 + 1);
}

/* ---- the ring by itself ---- */

/* A copy of two rings and a half, with an odd end. When the ring is full nothing is given until a part is taken back;
 * no part is taken back before the device has copied it, and parts come back in their order. */
static void check_ring(enum dfr_copy kind, uint32_t stream)
{
    const uint64_t bytes = 2 * CHUNKS * CHUNK + CHUNK / 2 + 13;
    unsigned char *host = malloc(bytes), *wanted = malloc(bytes);
    uint64_t given = 0, back = 0, n;
    struct dfm_staging *ring;
    struct dfr_event *event;
    struct fake fake;
    bool in = kind == DFR_COPY_H2D;

    assert_true(host && wanted);
    fake_begin(&fake, PAGES(bytes));
    fill(wanted, bytes, 1);
    memcpy(in ? host : fake.pool, wanted, bytes);
    assert_int_equal(dfm_staging_create(&fake.base, kind, stream, &ring, NULL), DF_OK);
    assert_non_null(ring);
    assert_int_equal(dfm_staging_take(ring, &n, &event, NULL), DF_OK);
    assert_int_equal(n, 0);
    for (uint32_t i = 0; i < CHUNKS; i++) {
        assert_int_equal(dfm_staging_give(ring, (in ? fake.pool : host) + given, (in ? host : fake.pool) + given,
                                          bytes - given, &n, NULL), DF_OK);
        assert_int_equal(n, CHUNK);
        given += n;
    }
    assert_int_equal(dfm_staging_give(ring, fake.pool, host, 1, &n, NULL), DF_OK);
    assert_int_equal(n, 0);
    assert_int_equal(dfm_staging_take(ring, &n, &event, NULL), DF_OK);
    assert_int_equal(n, 0);
    memset(host, in ? 0 : 0xee, in ? CHUNKS * CHUNK : bytes); /* to a device: what was given has been read */
    while (back < bytes) {
        assert_int_equal(carry_out(&fake, stream, 1), 1);
        assert_int_equal(dfm_staging_take(ring, &n, &event, NULL), DF_OK);
        assert_true(n == CHUNK || n == bytes - back);
        back += n;
        assert_memory_equal(in ? fake.pool : host, wanted, back);
        assert_int_equal(event->number, fake.done[stream]);
        if (given == bytes)
            continue;
        assert_int_equal(dfm_staging_give(ring, (in ? fake.pool : host) + given, (in ? host : fake.pool) + given,
                                          bytes - given, &n, NULL), DF_OK);
        assert_true(n > 0);
        given += n;
    }
    dfm_staging_destroy(ring);
    assert_int_equal(fake_pinned, 0);
    fake_end(&fake);
    free(host);
    free(wanted);
}

static void test_ring(void **state)
{
    (void)state;
    check_ring(DFR_COPY_H2D, DFR_STREAM_H2D);
    check_ring(DFR_COPY_D2H, DFR_STREAM_D2H);
}

static void test_no_ring(void **state)
{
    struct dfm_staging *ring;
    struct fake fake;

    (void)state;
    fake_begin(&fake, 1);
    fake_refuses = true;
    assert_int_equal(dfm_staging_create(&fake.base, DFR_COPY_H2D, DFR_STREAM_H2D, &ring, NULL), DF_OK);
    fake_refuses = false;
    assert_null(ring);
    dfm_staging_destroy(ring);
    fake_end(&fake);
}

/* ---- in a cache ---- */

/* Value 0 is larger than the ring, value 1 is small; value 2 is lent pinned memory, value 3 plain memory. */
enum { LARGE, SMALL, PINNED, PLAIN, N };

static const uint64_t bytes_of[N] = { (CHUNKS + 3) * CHUNK + 5, 100, 3 * DFM_PAGE, 2 * CHUNK + 1 };

struct bench {
    struct dfm_space *space;
    struct dfm_cache *cache;
    struct fake fake;
    unsigned char lent_memory[2][2 * CHUNK + 1];
    struct dfm_lent lents[2];
    const struct dfm_lent *lent[N];
    uint32_t arrivals;
    unsigned char wanted[(CHUNKS + 3) * CHUNK + 5];
};

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

static struct bench *bench_begin(void)
{
    static const uint64_t count[N] = { 1, 1, 0, 0 };
    struct bench *b = calloc(1, sizeof *b);
    const uint64_t pages = 32 * CHUNK / DFM_PAGE;

    assert_non_null(b);
    for (uint32_t i = 0; i < 2; i++) {
        b->lents[i] = (struct dfm_lent){ .data = b->lent_memory[i], .stride_bytes = sizeof b->lent_memory[i],
                                         .n_tokens = 1, .pinned = i == 0 };
        b->lent[PINNED + i] = &b->lents[i];
    }
    fake_begin(&b->fake, pages);
    assert_int_equal(dfm_space_create(&(struct dfm_space_config){ .n_values = N, .n_slots = 1, .bytes = bytes_of,
                                                                  .count = count, .n_waiters = N, .lent = b->lent,
                                                                  .wave = wave_of, .staged = true },
                                      &b->space, NULL), DF_OK);
    assert_int_equal(dfm_cache_create(&(struct dfm_cache_config){ .space = b->space, .memory = 1,
                                                                  .device = &b->fake.base,
                                                                  .pool_bytes = pages * DFM_PAGE, .max_pieces = 4,
                                                                  .max_claims = 4, .arrived = arrived, .arg = b },
                                      &b->cache, NULL), DF_OK);
    b->space->caches[1] = b->cache;
    b->space->n_caches = 1;
    return b;
}

static void bench_end(struct bench *b)
{
    assert_false(dfm_cache_busy(b->cache));
    dfm_cache_destroy(b->cache);
    dfm_space_destroy(b->space);
    assert_int_equal(fake_pinned, 0);
    fake_end(&b->fake);
    free(b);
}

static bool poll_once(struct bench *b)
{
    bool progress = false;
    assert_int_equal(dfm_cache_poll(b->cache, &progress, NULL), DF_OK);
    assert_true(dfm_cache_check(b->cache));
    return progress;
}

/* Polls until nothing changes; gives how often something did. */
static uint32_t poll_all(struct bench *b)
{
    uint32_t n = 0;
    while (poll_once(b))
        n++;
    return n;
}

static void make_on_host(struct bench *b, uint32_t block)
{
    struct dfm_block *record = &b->space->blocks[block];
    record->host = dfm_space_host_take(b->space, block);
    assert_non_null(record->host);
    fill(record->host, bytes_of[block], block);
    atomic_store(&record->valid, DFM_HOST);
}

static void check_bytes(struct bench *b, uint32_t block, const void *memory)
{
    fill(b->wanted, bytes_of[block], block);
    assert_memory_equal(memory, b->wanted, bytes_of[block]);
}

static void claim_begin(struct bench *b, struct dfm_claim *claim, struct dfm_piece *piece, uint32_t block,
                        enum dfm_use use)
{
    *piece = (struct dfm_piece){ .use = use, .block = block };
    *claim = (struct dfm_claim){ .n = 1, .pieces = piece };
    assert_int_equal(dfm_cache_reserve(b->cache, claim, NULL), DFM_RESERVED);
}

/* A copy that is larger than the ring is given in parts as chunks come back. Its reader may not be launched before the
 * last part is given, and its launch waits for that part. */
static void test_larger_than_the_ring(void **state)
{
    struct bench *b = bench_begin();
    struct dfm_piece piece;
    struct dfm_claim claim;
    uint32_t turns;

    (void)state;
    make_on_host(b, LARGE);
    claim_begin(b, &claim, &piece, LARGE, DFM_READ);
    assert_true(piece.awaited);
    assert_int_equal(b->fake.issued[DFR_STREAM_H2D], 1); /* one part, so that the worker goes on with other things */
    turns = poll_all(b);
    assert_int_equal(turns, CHUNKS - 1); /* a part in each */
    assert_int_equal(b->fake.issued[DFR_STREAM_H2D], CHUNKS);
    for (uint32_t part = CHUNKS; part < CHUNKS + 4; part++) {
        assert_int_equal(dfm_cache_load(b->cache, &piece, NULL), DF_OK);
        assert_true(piece.awaited);
        assert_int_equal(carry_out(&b->fake, DFR_STREAM_H2D, 1), 1);
        assert_true(poll_all(b) > 0);
        assert_int_equal(b->fake.issued[DFR_STREAM_H2D], part + 1);
    }
    assert_int_equal(dfm_cache_load(b->cache, &piece, NULL), DF_OK);
    assert_false(piece.awaited);
    assert_int_equal(dfm_cache_wait(b->cache, &claim, DFR_STREAM_COMPUTE, NULL), DF_OK);
    assert_int_equal(b->fake.waited, CHUNKS + 4);
    assert_int_equal(dfm_block_valid(&b->space->blocks[LARGE]), DFM_HOST);
    carry_out(&b->fake, DFR_STREAM_H2D, UINT32_MAX);
    poll_all(b);
    assert_int_equal(dfm_block_valid(&b->space->blocks[LARGE]), DFM_HOST | 2);
    check_bytes(b, LARGE, dfm_cache_address(b->cache, &piece));
    dfm_cache_release(b->cache, &claim);
    bench_end(b);
}

/* Copies stay in their order: one of pinned memory, which needs no ring, waits behind the rest of a staged one. Only
 * staged copies are counted as such. */
static void test_order(void **state)
{
    struct bench *b = bench_begin();
    struct df_memory_stats stats;

    (void)state;
    for (uint32_t v = 0; v < N; v++) {
        make_on_host(b, v);
        dfm_cache_post_prefetch(b->cache, v);
    }
    poll_all(b);
    assert_int_equal(b->fake.issued[DFR_STREAM_H2D], CHUNKS);
    for (uint32_t part = 0; part < CHUNKS + 4; part++) {
        assert_int_equal(carry_out(&b->fake, DFR_STREAM_H2D, 1), 1);
        poll_all(b);
        for (uint32_t v = SMALL; v < N; v++)
            assert_int_equal(dfm_block_valid(&b->space->blocks[v]), DFM_HOST);
    }
    assert_int_equal(dfm_block_valid(&b->space->blocks[LARGE]), DFM_HOST | 2);
    assert_int_equal(carry_out(&b->fake, DFR_STREAM_H2D, 2), 2);
    assert_true(b->fake.copies[DFR_STREAM_H2D][CHUNKS + 5].from == b->lent_memory[0]);
    poll_all(b);
    assert_int_equal(dfm_block_valid(&b->space->blocks[PINNED]), DFM_HOST | 2);
    assert_int_equal(carry_out(&b->fake, DFR_STREAM_H2D, UINT32_MAX), 3);
    poll_all(b);
    dfm_cache_stats(b->cache, &stats);
    assert_int_equal(stats.h2d_copies, N);
    assert_int_equal(stats.staged_copies, N - 1);
    assert_int_equal(stats.staged_bytes, bytes_of[LARGE] + bytes_of[SMALL] + bytes_of[PLAIN]);
    for (uint32_t v = 0; v < N; v++) {
        struct dfm_piece piece;
        struct dfm_claim claim;
        claim_begin(b, &claim, &piece, v, DFM_READ);
        assert_false(piece.awaited);
        check_bytes(b, v, dfm_cache_address(b->cache, &piece));
        dfm_cache_release(b->cache, &claim);
    }
    bench_end(b);
}

/* To the host a copy is complete when its last part lies where it belongs, and then its waiter is told. */
static void test_to_the_host(void **state)
{
    static const uint32_t parts[N] = { CHUNKS + 4, 1, 1, 3 };
    struct bench *b = bench_begin();
    uint32_t n = 0;

    (void)state;
    for (uint32_t v = 0; v < N; v++) {
        struct dfm_piece piece;
        struct dfm_claim claim;
        claim_begin(b, &claim, &piece, v, DFM_WRITE);
        fill(dfm_cache_address(b->cache, &piece), bytes_of[v], v);
        dfm_cache_release(b->cache, &claim);
        atomic_store(&b->space->blocks[v].valid, 2u);
        b->space->asked[v] = v;
        dfm_cache_post_fetch(b->cache, v);
        poll_all(b);                    /* so that they are asked for in this order */
    }
    assert_int_equal(b->fake.issued[DFR_STREAM_D2H], CHUNKS);
    for (uint32_t v = 0; v < N; v++) {
        for (uint32_t part = 0; part < parts[v]; part++, n++) {
            assert_int_equal(dfm_block_valid(&b->space->blocks[v]), 2);
            assert_int_equal(b->arrivals, v);
            assert_int_equal(carry_out(&b->fake, DFR_STREAM_D2H, 1), 1);
            poll_all(b);
        }
        assert_int_equal(dfm_block_valid(&b->space->blocks[v]), DFM_HOST | 2);
        assert_int_equal(b->arrivals, v + 1);
        check_bytes(b, v, b->space->blocks[v].host);
    }
    assert_int_equal(b->fake.issued[DFR_STREAM_D2H], n);
    bench_end(b);
}

/* If the system gives no pinned memory at all, copies go straight, as a whole. */
static void test_straight(void **state)
{
    struct bench *b;

    (void)state;
    fake_refuses = true;
    b = bench_begin();
    fake_refuses = false;
    make_on_host(b, LARGE);
    dfm_cache_post_prefetch(b->cache, LARGE);
    poll_all(b);
    assert_int_equal(b->fake.issued[DFR_STREAM_H2D], 1);
    assert_true(b->fake.copies[DFR_STREAM_H2D][0].from == b->space->blocks[LARGE].host);
    carry_out(&b->fake, DFR_STREAM_H2D, 1);
    poll_all(b);
    assert_int_equal(dfm_block_valid(&b->space->blocks[LARGE]), DFM_HOST | 2);
    bench_end(b);
}

/* ---- times ---- */

static void note_times(void *arg, enum dfr_copy kind, uint32_t block, uint64_t bytes, double begin_s, double end_s)
{
    double *seconds = arg;
    (void)block;
    assert_int_equal(bytes, 4 * CHUNK);
    seconds[kind == DFR_COPY_D2H] = end_s - begin_s;
}

/* What a trace gets of a staged copy is the time from the begin of its first part to the end of its last. */
static void test_times(void **state)
{
    const struct dfr_device_ops *ops = dfr_back_end_of(DF_DEVICE_EMU);
    const uint64_t bytes = 4 * CHUNK, count = 1;
    double seconds[2] = { 0, 0 };
    struct df_platform platform;
    struct dfr_device *device;
    struct dfm_space *space;
    struct dfm_cache *cache;
    bool progress;

    (void)state;
    df_platform_default(&platform, 1);
    platform.units[1].h2d = platform.units[1].d2h = (struct df_link){ .bytes_per_s = 1e9 };
    assert_int_equal(ops->open(0, &(struct dfr_device_config){ .unit = &platform.units[1], .pool_bytes = bytes,
                                                               .compute_streams = 1 }, &device, NULL), DF_OK);
    assert_int_equal(dfm_space_create(&(struct dfm_space_config){ .n_values = 1, .n_slots = 1, .bytes = &bytes,
                                                                  .count = &count, .n_waiters = 1, .staged = true },
                                      &space, NULL), DF_OK);
    assert_int_equal(dfm_cache_create(&(struct dfm_cache_config){ .space = space, .memory = 1, .device = device,
                                                                  .pool_bytes = bytes, .max_pieces = 1,
                                                                  .max_claims = 1, .copied = note_times,
                                                                  .arg = seconds }, &cache, NULL), DF_OK);
    space->blocks[0].host = dfm_space_host_take(space, 0);
    memset(space->blocks[0].host, 1, bytes);
    atomic_store(&space->blocks[0].valid, DFM_HOST);
    dfm_cache_post_prefetch(cache, 0);
    do
        assert_int_equal(dfm_cache_poll(cache, &progress, NULL), DF_OK);
    while (dfm_cache_busy(cache));
    dfm_space_host_give(space, 0, space->blocks[0].host);
    atomic_store(&space->blocks[0].valid, 2u);
    assert_int_equal(dfm_cache_to_host(cache, 0, NULL), DF_OK);
    do
        assert_int_equal(dfm_cache_poll(cache, &progress, NULL), DF_OK);
    while (dfm_cache_busy(cache));
    assert_true(seconds[0] >= (double)bytes / 1e9 && seconds[1] >= (double)bytes / 1e9);
    assert_int_equal(((unsigned char *)space->blocks[0].host)[bytes - 1], 1);
    dfm_cache_destroy(cache);
    dfm_space_destroy(space);
    ops->close(device);
}

/* ---- what is staged ---- */

/* Pinned memory is taken up to the limit, and nothing is staged then; above the limit, and if the system refuses, memory
 * is plain. Without `staged` nothing is, whatever the memory is. */
static void test_what_is_staged(void **state)
{
    static const uint64_t bytes[2] = { 1000, 3000 }, count[2] = { 1, 2 };
    struct fake fake;

    (void)state;
    fake_begin(&fake, 1);
    for (int i = 0; i < 4; i++) {
        struct dfm_space *space;
        fake_refuses = i == 2;
        assert_int_equal(dfm_space_create(&(struct dfm_space_config){ .n_values = 2, .n_slots = 1, .bytes = bytes,
                                                                      .count = count, .n_waiters = 1,
                                                                      .pinned = fake.base.ops,
                                                                      .pinned_limit_bytes = i == 1 ? 6000 : 8000,
                                                                      .staged = i < 3 },
                                          &space, NULL), DF_OK);
        fake_refuses = false;
        assert_int_equal(dfm_space_stages(space), i == 1 || i == 2);
        assert_int_equal(fake_pinned, i == 0 || i == 3);
        dfm_space_destroy(space);
        assert_int_equal(fake_pinned, 0);
    }
    fake_end(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring), cmocka_unit_test(test_no_ring), cmocka_unit_test(test_larger_than_the_ring),
        cmocka_unit_test(test_order), cmocka_unit_test(test_to_the_host), cmocka_unit_test(test_straight), cmocka_unit_test(test_times),
        cmocka_unit_test(test_what_is_staged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
