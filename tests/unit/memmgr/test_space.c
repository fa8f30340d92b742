/* test_space.c - blocks and one device's cache, on an emulated GPU: residency, eviction and write-back, all-or-nothing
 * reservation down to exactly one job's memory, messages; every list checked after every step, every byte compared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "long.h"
#include "memmgr/cache.h"
#include "memmgr/heap.h"
#include "run_rig.h"
#include "runtime/device/device.h"
#include "runtime/start/back_ends.h"
#include "runtime/graph/platform.h"

#define PAGE 4096u
#define MAX_VALUES 64

struct bench {
    struct dfm_space *space;
    struct dfr_device *device;
    struct dfm_cache *cache;
    struct df_platform platform;
    uint32_t n;
    uint64_t bytes[MAX_VALUES];
    uint32_t arrivals[MAX_VALUES];
    uint64_t next_use[MAX_VALUES];      /* what the owner says of each block; all 0: LRU */
    uint32_t copied[2];
    uint32_t place[MAX_VALUES];         /* page of each block, where there are places; DFM_NONE: it has none */
};

static void arrived(void *arg, uint32_t waiter)
{
    ((struct bench *)arg)->arrivals[waiter]++;
}

static void copied(void *arg, enum dfr_copy kind, uint32_t block, uint64_t bytes, double begin_s, double end_s)
{
    struct bench *b = arg;
    assert_true(block < b->n);
    assert_int_equal(bytes, b->bytes[block]);
    assert_true(begin_s <= end_s);
    b->copied[kind == DFR_COPY_D2H]++;
}

static uint64_t next_use(void *arg, uint32_t block)
{
    return ((struct bench *)arg)->next_use[block];
}

static uint64_t place(void *arg, uint32_t block)
{
    uint32_t page = ((struct bench *)arg)->place[block];
    return page == DFM_NONE ? UINT64_MAX : (uint64_t)page * PAGE;
}

/* Of the places: where they end, what is kept for scratch above them, and of that for one job; in pages. */
struct planned {
    uint64_t end, scratch, scratch_of_job;
};

static uint64_t segment_pages;          /* of pools that are made; 0: they are one piece */

/* One slot of n values; value v has pages(v) pages less a few bytes. planned NULL: no places. */
static void bench_begin_with(struct bench *b, uint32_t n, uint32_t pages_cycle, uint64_t pool_pages,
                             const struct planned *planned)
{
    const struct dfr_device_ops *ops = dfr_back_end_of(DF_DEVICE_EMU);
    uint64_t count[MAX_VALUES];
    struct df_error error;

    memset(b, 0, sizeof *b);
    b->n = n;
    for (uint32_t v = 0; v < n; v++) {
        b->bytes[v] = (uint64_t)PAGE * (1 + v % pages_cycle) - v;
        count[v] = 1;
    }
    df_platform_default(&b->platform, 1);
    b->platform.units[1].h2d.latency_s = b->platform.units[1].d2h.latency_s = 0;
    if (dfm_space_create(
            &(struct dfm_space_config){
                .n_values = n, .n_slots = 1, .bytes = b->bytes, .count = count, .n_waiters = n },
            &b->space, &error) != DF_OK ||
        ops->open(0,
                  &(struct dfr_device_config){
                      .unit = &b->platform.units[1], .pool_bytes = pool_pages * PAGE, .compute_streams = 1 },
                  &b->device, &error) != DF_OK ||
        dfm_cache_create(&(struct dfm_cache_config){ .space = b->space,
                                                     .memory = 1,
                                                     .device = b->device,
                                                     .pool_bytes = pool_pages * PAGE,
                                                     .segment_bytes = segment_pages * PAGE,
                                                     .max_pieces = 8,
                                                     .max_claims = 8,
                                                     .next_use = next_use,
                                                     .arrived = arrived,
                                                     .copied = copied,
                                                     .arg = b,
                                                     .place = planned ? place : NULL,
                                                     .planned_bytes = planned ? planned->end * PAGE : 0,
                                                     .scratch_bytes = planned ? planned->scratch * PAGE : 0,
                                                     .scratch_of_job_bytes =
                                                         planned ? planned->scratch_of_job * PAGE : 0 },
                         &b->cache, &error) != DF_OK)
        fail_msg("%s", error.text);
    b->space->caches[1] = b->cache;
    b->space->n_caches = 1;
}

static void bench_begin(struct bench *b, uint32_t n, uint32_t pages_cycle, uint64_t pool_pages)
{
    bench_begin_with(b, n, pages_cycle, pool_pages, NULL);
}

static void bench_end(struct bench *b)
{
    dfm_cache_destroy(b->cache);
    b->device->ops->close(b->device);
    dfm_space_destroy(b->space);
}

static uint32_t valid(const struct bench *b, uint32_t block)
{
    return dfm_block_valid(&b->space->blocks[block]);
}

static unsigned char pattern(uint32_t block)
{
    return (unsigned char)(block * 7 + 1);
}

/* The block comes to be on the host, as by a CPU job. */
static void make_on_host(struct bench *b, uint32_t block)
{
    b->space->blocks[block].host = dfm_space_host_take(b->space, block);
    assert_non_null(b->space->blocks[block].host);
    memset(b->space->blocks[block].host, pattern(block), b->bytes[block]);
    atomic_store(&b->space->blocks[block].valid, DFM_HOST);
}

static void check_on_host(const struct bench *b, uint32_t block)
{
    const unsigned char *host = b->space->blocks[block].host;
    assert_true(valid(b, block) & DFM_HOST);
    for (uint64_t i = 0; i < b->bytes[block]; i++)
        assert_int_equal(host[i], pattern(block));
}

static void poll_once(struct bench *b)
{
    struct df_error error;
    bool progress;
    if (dfm_cache_poll(b->cache, &progress, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_true(dfm_cache_check(b->cache));
}

static void settle(struct bench *b)
{
    do
        poll_once(b);
    while (dfm_cache_busy(b->cache));
}

/* Reserves, whatever it takes. */
static void reserve(struct bench *b, struct dfm_claim *claim)
{
    struct df_error error;
    enum dfm_reserved r;
    while ((r = dfm_cache_reserve(b->cache, claim, &error)) == DFM_WAIT)
        poll_once(b);
    if (r == DFM_ERROR)
        fail_msg("%s", error.text);
    assert_true(dfm_cache_check(b->cache));
}

/* The claim's job: outputs get their pattern, inputs are looked at. */
static void compute(struct bench *b, struct dfm_claim *claim)
{
    settle(b);                          /* its copies are complete */
    for (uint32_t i = 0; i < claim->n; i++) {
        struct dfm_piece *p = &claim->pieces[i];
        unsigned char *bytes = dfm_cache_address(b->cache, p);
        if (p->use != DFM_WRITE)
            assert_int_equal(bytes[b->bytes[p->block] - 1], pattern(p->use == DFM_TAKE ? p->from : p->block));
        if (p->use != DFM_READ)
            memset(bytes, pattern(p->block), b->bytes[p->block]);
    }
    if (claim->tmp_bytes > 0)
        memset(dfm_cache_tmp_address(b->cache, claim), 0xee, claim->tmp_bytes);
    dfm_cache_release(b->cache, claim);
    for (uint32_t i = 0; i < claim->n; i++) {
        struct dfm_piece *p = &claim->pieces[i];
        if (p->use != DFM_READ)
            atomic_store(&b->space->blocks[p->block].valid, 2u);
        if (p->use == DFM_TAKE)
            dfm_space_drop(b->space, p->from, 1);
    }
    assert_true(dfm_cache_check(b->cache));
}

static void job(struct bench *b, uint32_t in, uint32_t out)
{
    struct dfm_piece pieces[2] = { { .use = DFM_READ, .block = in }, { .use = DFM_WRITE, .block = out } };
    struct dfm_claim claim = { .n = 2, .pieces = pieces };
    reserve(b, &claim);
    compute(b, &claim);
}

static struct df_memory_stats stats_of(const struct bench *b)
{
    struct df_memory_stats stats;
    dfm_cache_stats(b->cache, &stats);
    return stats;
}

/* ---- one thing each ---- */

static void test_copies_are_made_once(void **state)
{
    struct bench b;
    struct df_memory_stats s;

    (void)state;
    bench_begin(&b, 4, 1, 8);
    make_on_host(&b, 0);
    job(&b, 0, 1);
    job(&b, 0, 2);
    assert_int_equal(valid(&b, 0), 3);
    assert_int_equal(valid(&b, 2), 2);
    s = stats_of(&b);
    assert_int_equal(s.h2d_copies, 1);
    assert_int_equal(s.d2h_copies, 0);
    assert_int_equal(s.h2d_bytes, b.bytes[0]);
    assert_int_equal(b.copied[0], 1);
    bench_end(&b);
}

/* No block crosses the end of a segment, and a claim as large as a segment, but for a page, finds room. */
static void test_segments(void **state)
{
    struct bench b;
    uint32_t random = 7;

    (void)state;
    segment_pages = 8;
    bench_begin(&b, 12, 3, 21);
    segment_pages = 0;
    for (uint32_t v = 0; v < 12; v++)
        make_on_host(&b, v);
    for (int n = 0; n < 300; n++) {
        struct dfm_piece pieces[3];
        struct dfm_claim claim = { .pieces = pieces, .tmp_bytes = PAGE * (n % 2) };
        uint64_t pages = (uint64_t)(n % 2);
        for (uint32_t v = rig_rand(&random) % 12; claim.n < 3; v = (v + 1) % 12) {
            if (pages + 1 + v % 3 > 7)
                break;
            pages += 1 + v % 3;
            pieces[claim.n++] = (struct dfm_piece){ .use = DFM_READ, .block = v };
        }
        reserve(&b, &claim);
        for (uint32_t i = 0; i < claim.n; i++) {
            const uint64_t from = (uint64_t)((unsigned char *)dfm_cache_address(b.cache, &pieces[i]) - (unsigned char *)b.device->ops->pool(b.device));
            assert_int_equal(from / (8 * PAGE), (from + b.bytes[pieces[i].block] - 1) / (8 * PAGE));
        }
        compute(&b, &claim);
    }
    assert_true(stats_of(&b).evictions > 0);
    bench_end(&b);
}

static void test_least_recently_used_goes(void **state)
{
    struct bench b;
    struct df_memory_stats s;

    (void)state;
    bench_begin(&b, 8, 1, 4);
    make_on_host(&b, 0);
    job(&b, 0, 1);                      /* 0 clean, 1 only here */
    job(&b, 0, 2);
    job(&b, 0, 3);                      /* full: 0 1 2 3 */
    make_on_host(&b, 4);
    job(&b, 0, 5);                      /* 1 is the oldest and the last valid copy: written back */
    check_on_host(&b, 1);
    assert_int_equal(valid(&b, 1), DFM_HOST);
    s = stats_of(&b);
    assert_int_equal(s.evictions, 1);
    assert_int_equal(s.writebacks, 1);
    job(&b, 4, 6);                      /* 2 and 3 go */
    check_on_host(&b, 2);
    check_on_host(&b, 3);
    job(&b, 1, 7);                      /* comes back; 0, on the host too, goes without a copy */
    s = stats_of(&b);
    assert_true(s.evictions > s.writebacks);
    assert_int_equal(s.peak_bytes, 4 * PAGE);
    bench_end(&b);
}

static void test_exactly_one_job_fits(void **state)
{
    struct bench b;

    (void)state;
    bench_begin(&b, 40, 3, 6);          /* the largest pair needs six pages */
    make_on_host(&b, 0);
    for (uint32_t v = 0; v + 1 < 40; v++)
        job(&b, v, v + 1);
    settle(&b);
    bench_end(&b);
}

static void test_too_large_is_an_error(void **state)
{
    struct bench b;
    struct dfm_piece pieces[2] = { { .use = DFM_WRITE, .block = 2 }, { .use = DFM_WRITE, .block = 1 } };
    struct dfm_claim claim = { .n = 2, .pieces = pieces };
    struct df_error error;

    (void)state;
    bench_begin(&b, 3, 3, 4);
    assert_int_equal(dfm_cache_reserve(b.cache, &claim, &error), DFM_ERROR);
    assert_string_equal(error.text, "a job needs 20480 bytes of a GPU memory of 16384");
    assert_true(dfm_cache_check(b.cache));
    bench_end(&b);
}

/* Of what nobody pins the block goes that is needed again last, however lately it was used. */
static void test_needed_last_goes_first(void **state)
{
    struct bench b;

    (void)state;
    bench_begin(&b, 6, 1, 4);
    for (uint32_t v = 0; v < 3; v++)
        make_on_host(&b, v);
    for (uint32_t v = 0; v < 6; v++)
        b.next_use[v] = v == 1 ? 90 : 10 + v;
    job(&b, 0, 4);
    job(&b, 1, 5);                      /* all of 0, 4, 1 and 5 are here */
    assert_int_equal(stats_of(&b).evictions, 0);
    {
        struct dfm_piece piece = { .use = DFM_READ, .block = 2 };
        struct dfm_claim claim = { .n = 1, .pieces = &piece };
        reserve(&b, &claim);
        compute(&b, &claim);
    }
    assert_int_equal(valid(&b, 1), DFM_HOST);       /* the latest, with 5 */
    assert_int_equal(valid(&b, 0), DFM_HOST | 2);   /* the oldest */
    assert_int_equal(stats_of(&b).evictions, 1);
    assert_int_equal(stats_of(&b).writebacks, 0);
    bench_end(&b);
}

/* What a second job lacks, it does not take a part of. */
static void test_all_or_nothing(void **state)
{
    struct bench b;
    struct dfm_piece first[1] = { { .use = DFM_WRITE, .block = 0 } };
    struct dfm_piece second[3] = { { .use = DFM_READ, .block = 1 }, { .use = DFM_WRITE, .block = 2 },
                                   { .use = DFM_WRITE, .block = 3 } };
    struct dfm_claim a = { .n = 1, .pieces = first, .tmp_bytes = 100 }, c = { .n = 3, .pieces = second };
    struct df_error error;

    (void)state;
    bench_begin(&b, 4, 1, 3);
    make_on_host(&b, 1);
    reserve(&b, &a);
    assert_int_equal(dfm_cache_reserve(b.cache, &c, &error), DFM_WAIT);
    assert_int_equal(stats_of(&b).h2d_copies, 0);
    assert_false(dfm_cache_busy(b.cache));
    dfm_cache_post_prefetch(b.cache, 1); /* nothing is fetched ahead while a claim waits */
    poll_once(&b);
    assert_false(dfm_cache_busy(b.cache));
    compute(&b, &a);
    reserve(&b, &c);
    compute(&b, &c);
    check_on_host(&b, 0);               /* had to go */
    assert_int_equal(stats_of(&b).scratch_peak_bytes, PAGE);
    bench_end(&b);
}

static void test_inout_takes_over(void **state)
{
    struct bench b;
    struct dfm_piece piece = { .use = DFM_TAKE, .block = 1, .from = 0 };
    struct dfm_claim claim = { .n = 1, .pieces = &piece };

    (void)state;
    bench_begin(&b, 3, 1, 1);           /* room for one */
    b.bytes[1] = b.space->bytes[1] = b.bytes[0];
    make_on_host(&b, 0);
    reserve(&b, &claim);
    compute(&b, &claim);
    assert_int_equal(valid(&b, 0), 0);  /* its copy on the host is gone too */
    assert_null(b.space->blocks[0].host);
    assert_int_equal(valid(&b, 1), 2);
    assert_int_equal(stats_of(&b).evictions, 0);
    dfm_cache_to_host(b.cache, 1, NULL);
    settle(&b);
    check_on_host(&b, 1);
    bench_end(&b);
}

static struct dfm_claim makes(struct dfm_piece *piece, uint32_t block, uint64_t tmp_bytes)
{
    *piece = (struct dfm_piece){ .use = DFM_WRITE, .block = block };
    return (struct dfm_claim){ .n = 1, .pieces = piece, .tmp_bytes = tmp_bytes };
}

static uint64_t page_of(const struct bench *b, const struct dfm_piece *piece)
{
    unsigned char *base = b->device->ops->pool(b->device);
    return (uint64_t)((unsigned char *)dfm_cache_address(b->cache, piece) - base) / PAGE;
}

/* Four pages of places, one for scratch, one above them. Blocks 0 and 1 share page 2; 4 and 5 have no place. */
static void test_places(void **state)
{
    const struct planned planned = { .end = 4, .scratch = 1, .scratch_of_job = 1 };
    const uint32_t pages[6] = { 2, 2, 0, 1, DFM_NONE, DFM_NONE };
    struct dfm_piece p[6];
    struct dfm_claim c[6];
    struct df_error error;
    struct bench b;

    (void)state;
    bench_begin_with(&b, 6, 1, 6, &planned);
    memcpy(b.place, pages, sizeof pages);
    for (uint32_t v = 0; v < 6; v++)
        c[v] = makes(&p[v], v, 0);
    reserve(&b, &c[2]);
    reserve(&b, &c[0]);
    assert_int_equal(page_of(&b, &p[2]), 0);
    assert_int_equal(page_of(&b, &p[0]), 2);
    assert_int_equal(dfm_cache_reserve_ahead(b.cache, &c[4], &error), DFM_RESERVED);
    assert_int_equal(page_of(&b, &p[4]), 5);
    /* pages 1, 3 and 4 are free: others' places, and what is kept for scratch. Only who must has them */
    assert_int_equal(dfm_cache_reserve_ahead(b.cache, &c[1], &error), DFM_WAIT);
    assert_int_equal(dfm_cache_reserve_ahead(b.cache, &c[5], &error), DFM_WAIT);
    assert_int_equal(dfm_cache_reserve_ahead(b.cache, &c[3], &error), DFM_RESERVED);
    assert_int_equal(page_of(&b, &p[3]), 1);
    reserve(&b, &c[1]);
    assert_true(page_of(&b, &p[1]) == 3 || page_of(&b, &p[1]) == 4);
    assert_int_equal(stats_of(&b).evictions, 0);
    for (uint32_t v = 0; v < 5; v++)
        compute(&b, &c[v]);
    dfm_space_drop(b.space, 0, 1);
    dfm_space_drop(b.space, 1, 1);
    reserve(&b, &c[0]);                 /* addresses come again */
    assert_int_equal(page_of(&b, &p[0]), 2);
    compute(&b, &c[0]);
    bench_end(&b);
}

/* Who lacks nothing but scratch waits for that of another job, and nothing goes for it. */
static void test_planned_scratch(void **state)
{
    const struct planned planned = { .end = 3, .scratch = 2, .scratch_of_job = 2 };
    struct dfm_piece p[3];
    struct dfm_claim c[3];
    struct df_error error;
    struct bench b;

    (void)state;
    bench_begin_with(&b, 3, 1, 5, &planned);
    for (uint32_t v = 0; v < 3; v++) {
        b.place[v] = v;
        c[v] = makes(&p[v], v, v == 0 ? 0 : v == 1 ? 1 : 2 * PAGE);
    }
    reserve(&b, &c[0]);
    compute(&b, &c[0]);                 /* nobody pins it: it could go */
    reserve(&b, &c[1]);                 /* needs a byte, and gets what any job may need */
    assert_int_equal(dfm_cache_reserve(b.cache, &c[2], &error), DFM_WAIT);
    compute(&b, &c[1]);
    reserve(&b, &c[2]);
    compute(&b, &c[2]);
    assert_int_equal(stats_of(&b).evictions, 0);
    assert_int_equal(stats_of(&b).peak_bytes, 5 * PAGE);
    assert_int_equal(stats_of(&b).scratch_peak_bytes, 2 * PAGE);
    bench_end(&b);
}

/* Between places that are far apart a claim without one finds no room: then it has the whole memory. */
static void test_places_give_way(void **state)
{
    const struct planned planned = { .end = 4, .scratch = 0, .scratch_of_job = 0 };
    struct dfm_piece p[2];
    struct dfm_claim c = { .n = 2, .pieces = p };
    struct bench b;

    (void)state;
    bench_begin_with(&b, 3, 3, 4, &planned); /* value 2 has three pages */
    b.place[0] = 1;
    b.place[1] = b.place[2] = DFM_NONE;
    p[0] = (struct dfm_piece){ .use = DFM_READ, .block = 0 };
    p[1] = (struct dfm_piece){ .use = DFM_WRITE, .block = 2 };
    make_on_host(&b, 0);
    reserve(&b, &c);
    compute(&b, &c);
    bench_end(&b);
}

static void test_messages(void **state)
{
    struct bench b;

    (void)state;
    bench_begin(&b, 6, 1, 6);
    make_on_host(&b, 0);
    dfm_cache_post_prefetch(b.cache, 0);
    dfm_cache_post_prefetch(b.cache, 0); /* once is enough */
    settle(&b);
    assert_int_equal(valid(&b, 0), 3);
    assert_int_equal(stats_of(&b).h2d_copies, 1);
    job(&b, 0, 1);
    for (uint32_t w = 0; w < 3; w++) {  /* three wait for one copy */
        b.space->asked[w] = 1;
        dfm_cache_post_fetch(b.cache, w);
    }
    settle(&b);
    check_on_host(&b, 1);
    for (uint32_t w = 0; w < 3; w++)
        assert_int_equal(b.arrivals[w], 1);
    assert_int_equal(stats_of(&b).d2h_copies, 1);
    b.space->asked[3] = 0;              /* is there already */
    dfm_cache_post_fetch(b.cache, 3);
    poll_once(&b);
    assert_int_equal(b.arrivals[3], 1);
    dfm_space_drop(b.space, 1, 0);      /* by a CPU's last reader */
    assert_null(b.space->blocks[1].host);
    make_on_host(&b, 1);                /* its next life begins before the device has heard of the end */
    job(&b, 1, 2);
    assert_int_equal(stats_of(&b).h2d_copies, 2);
    bench_end(&b);
}

/* ---- chance ---- */

/* Every input was a hit or a miss, every copy in was for a miss or ahead of its job; what was written back was evicted,
 * and copied out. */
static void check_counts(const struct bench *b, uint64_t n_inputs)
{
    struct df_memory_stats s = stats_of(b);
    assert_int_equal(s.hits + s.misses, n_inputs);
    assert_int_equal(s.h2d_copies, s.misses + s.prefetches);
    assert_int_equal(s.h2d_bytes, s.miss_bytes + s.prefetch_bytes);
    assert_int_equal(s.h2d_copies, b->copied[0]);
    assert_int_equal(s.d2h_copies, b->copied[1]);
    assert_true(s.writebacks > 0 && s.writebacks <= s.evictions && s.writebacks <= s.d2h_copies);
    assert_true(s.writeback_bytes <= s.evicted_bytes && s.writeback_bytes <= s.d2h_bytes);
    assert_true(s.hits > 0 && s.hit_bytes > 0 && s.evicted_bytes > 0);
    assert_true(s.peak_bytes <= s.capacity_bytes);
}

/* Random jobs in little memory; what each block should hold is known, and is looked for wherever it is said to be. */
static void test_random_jobs(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= IN_LONG(12u, 5u); seed++) {
        struct bench b;
        uint32_t x = seed * 2654435761u | 1, n = 24, n_inputs = 0;

        bench_begin(&b, n, 1 + seed % 3, 3 * (1 + seed % 3) + 1 + seed % 4);
        for (int step = 0; step < 300; step++) {
            uint32_t in = rig_rand(&x) % n, in2 = rig_rand(&x) % n, out = rig_rand(&x) % n;
            struct dfm_piece pieces[3] = { { .use = DFM_READ, .block = in }, { .use = DFM_READ, .block = in2 },
                                           { .use = DFM_WRITE, .block = out } };
            struct dfm_claim claim = { .n = 3, .pieces = pieces, .tmp_bytes = rig_rand(&x) % 3 == 0 ? 50 : 0 };
            if (in == out || in2 == out)
                continue;
            if (valid(&b, in) == 0)
                make_on_host(&b, in);
            if (valid(&b, in2) == 0)
                make_on_host(&b, in2);
            if (valid(&b, out) != 0)
                dfm_space_drop(b.space, out, step % 2); /* told by message, or by its owner */
            if (rig_rand(&x) % 4 == 0)
                dfm_cache_post_prefetch(b.cache, in2);
            for (uint32_t v = 0; seed % 2 && v < n; v++)
                b.next_use[v] = rig_rand(&x) % 8; /* whatever the owner says */
            reserve(&b, &claim);
            compute(&b, &claim);
            n_inputs += 2;
            if (rig_rand(&x) % 4 == 0) {
                dfm_cache_to_host(b.cache, out, NULL);
                settle(&b);
                check_on_host(&b, out);
            }
        }
        settle(&b);
        assert_true(stats_of(&b).evictions > 0);
        check_counts(&b, n_inputs);
        bench_end(&b);
    }
}

/* ---- host memory ---- */

static void test_many_sizes(void **state)
{
    enum { N = 5000 };
    static uint64_t bytes[N], count[N];
    struct dfm_space *space;
    struct df_error error;

    (void)state;
    for (uint32_t v = 0; v < N; v++) {
        bytes[v] = v == 7 ? 0 : 100 + (uint64_t)v * 1000;
        count[v] = 2;
    }
    bytes[1] = UINT64_C(1) << 21;       /* on a step, just above it and just below it */
    bytes[2] = bytes[1] + 1;
    bytes[3] = bytes[1] - 1;
    assert_int_equal(dfm_space_create(&(struct dfm_space_config){ .n_values = N, .n_slots = 1, .bytes = bytes,
                                                                  .count = count }, &space, &error), DF_OK);
    assert_int_equal(space->cls[1], space->cls[3]);
    assert_int_not_equal(space->cls[1], space->cls[2]);
    for (uint32_t v = 0; v < N; v += 97) {
        unsigned char *a = dfm_space_host_take(space, v), *b = dfm_space_host_take(space, v);
        assert_true(a && b && a != b);
        a[0] = b[0] = 1;
        if (bytes[v] > 0)
            a[bytes[v] - 1] = b[bytes[v] - 1] = 2;
        dfm_space_host_give(space, v, a);
        dfm_space_host_give(space, v, b);
    }
    dfm_space_destroy(space);
    for (uint32_t v = 0; v < N; v++)
        count[v] = UINT64_C(1) << 50;
    assert_int_equal(dfm_space_create(&(struct dfm_space_config){ .n_values = N, .n_slots = 1, .bytes = bytes,
                                                                  .count = count }, &space, &error), DF_E_MEMORY);
    assert_non_null(strstr(error.text, "cannot reserve"));
}

/* Pieces of an acc are changed on a device. Then the host has none of them, but the memory of the whole stays theirs. */
static void test_changed_pieces(void **state)
{
    static const uint64_t bytes[] = { 800, 400, 400 }, count[] = { 1, 1, 1 };
    static const struct dfm_range ranges[] = { { .whole = DFM_NONE, .n_pieces = 2 }, { .whole = 0 }, { .whole = 0, .offset = 400 } };
    struct dfm_space *space;
    struct df_error error;
    unsigned char *first;

    (void)state;
    assert_int_equal(dfm_space_create(&(struct dfm_space_config){ .n_values = 3, .n_slots = 1, .bytes = bytes, .count = count,
                                                                  .ranges = ranges, .n_waiters = 3 }, &space, &error), DF_OK);
    first = dfm_space_host_take(space, 1);
    for (uint32_t piece = 1; piece <= 2; piece++) {
        space->blocks[piece].host = dfm_space_host_take(space, piece);
        dfm_space_first(space, piece);
        dfm_space_changed(space, piece, 1);
        assert_null(space->blocks[piece].host);
        unsigned char *other = dfm_heap_alloc(space->heap, space->cls[piece]);
        if (other + bytes[piece] > first && other < first + bytes[0])
            fail_msg("piece %u: the heap gives the memory of the whole to somebody else", piece);
        dfm_heap_free(space->heap, space->cls[piece], other);
        assert_ptr_equal(dfm_space_host_take(space, piece), first + ranges[piece].offset);
    }
    for (uint32_t block = 0; block <= 2; block++) {
        assert_int_equal(dfm_heap_live(space->heap, space->cls[0]), 1);
        atomic_store(&space->blocks[block].valid, 0); /* the device has given it up */
        dfm_space_drop(space, block, 0);
    }
    assert_int_equal(dfm_heap_live(space->heap, space->cls[0]), 0);
    dfm_space_destroy(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies_are_made_once), cmocka_unit_test(test_least_recently_used_goes),
        cmocka_unit_test(test_exactly_one_job_fits), cmocka_unit_test(test_too_large_is_an_error),
        cmocka_unit_test(test_needed_last_goes_first), cmocka_unit_test(test_places),
        cmocka_unit_test(test_planned_scratch), cmocka_unit_test(test_places_give_way),
        cmocka_unit_test(test_all_or_nothing), cmocka_unit_test(test_inout_takes_over), cmocka_unit_test(test_messages),
        cmocka_unit_test(test_random_jobs), cmocka_unit_test(test_many_sizes),
        cmocka_unit_test(test_changed_pieces), cmocka_unit_test(test_segments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
