/* test_memory_refusals.c - what should not happen to a cache, and what happens seldom: it is asked for what nobody has,
 * the host has no memory left, a copy between devices cannot be issued, a device is asked for what it has given up or
 * is about to get; and the checks of the lists say so when a list is damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "cache_rig.h"
#include "memmgr/cache_impl.h"
#include "memmgr/layout.h"

enum { WAITER = 4 };                    /* the host's, of job 2 */

static struct world w;

/* Every value is of a size of its own, so that of each there is memory for one on the host. */
static void begin(uint32_t n_devices)
{
    memset(&w, 0, sizeof w);
    world_begin(&w, n_devices, 64, N_VALUES);
}

/* The job of this number: at `unit` it reads `in` and makes `out`; DFM_NONE: nothing. */
static struct job *job_of(uint32_t number, uint32_t unit, uint32_t in, uint32_t out, uint32_t n_readers)
{
    struct job *j = &w.jobs[number];
    *j = (struct job){ .unit = unit, .n_in = in != DFM_NONE, .in = { in }, .out = out, .n_readers = n_readers,
                       .follows = DFM_NONE };
    if (out != DFM_NONE)
        w.tokens[out] = (struct token){ .used = true, .life = w.tokens[out].life + 1 };
    world_describe(j);
    return j;
}

static void make_on(uint32_t unit, uint32_t block, uint32_t n_readers)
{
    struct job *j = job_of(N_JOBS - 1, unit, DFM_NONE, block, n_readers);
    assert_int_equal(world_reserve(&w, j), DFM_RESERVED);
    world_run_on_device(&w, j);
}

static void carry_out_all(uint32_t m)
{
    world_poll(&w, m);
    for (uint32_t stream = 0; stream < N_STREAMS; stream++)
        while (world_carry_out(&w.fakes[m], stream))
            ;
    world_poll(&w, m);
}

/* The host asks device m for the block. */
static void ask_home(uint32_t m, uint32_t block)
{
    w.space->asked[WAITER] = block;
    w.space->peer_asks[WAITER].receiver = NULL;
    w.missing[WAITER / 2]++;
    dfm_cache_post_fetch(w.caches[m], WAITER);
}

/* Job 0 on device m, which reads the block, asks device `from` for it. */
static struct job *ask_peer(uint32_t m, uint32_t from, uint32_t block)
{
    struct job *j = job_of(0, m, block, DFM_NONE, 0);
    assert_int_equal(world_reserve(&w, j), DFM_RESERVED);
    assert_true(j->pieces[0].awaited);
    assert_true(dfm_cache_expect(w.caches[m], &j->pieces[0], 0));
    dfm_cache_post_fetch(w.caches[from], 0);
    return j;
}

/* ---- what should not happen ---- */

/* Each call that takes messages tells of it. */
static void test_nobody_has_it(void **state)
{
    static const char text[] = "internal error: block 3 is neither on the host nor here";
    struct df_error error;
    struct job *j;
    bool progress;

    (void)state;
    begin(1);
    j = job_of(1, 1, DFM_NONE, 5, 0);
    ask_home(1, 3);
    assert_int_equal(dfm_cache_reserve(w.caches[1], &j->claim, &error), DFM_ERROR);
    assert_string_equal(error.text, text);
    ask_home(1, 3);
    assert_int_equal(dfm_cache_reserve_ahead(w.caches[1], &j->claim, &error), DFM_ERROR);
    assert_string_equal(error.text, text);
    ask_home(1, 3);
    assert_int_equal(dfm_cache_poll(w.caches[1], &progress, &error), DF_E_DEVICE);
    assert_string_equal(error.text, text);
    assert_true(dfm_cache_check(w.caches[1]));
    world_end(&w);
}

/* A copy to the host that finds no memory there is told, and stays queued: it is issued when there is some. */
static void test_no_room_at_home(void **state)
{
    struct df_error error;
    void *taken;

    (void)state;
    begin(1);
    make_on(1, 0, 1);
    taken = dfm_space_host_take(w.space, 0);
    assert_non_null(taken);
    assert_int_equal(dfm_cache_to_host(w.caches[1], 0, &error), DF_E_MEMORY);
    assert_string_equal(error.text, "internal error: more tokens live than were planned");
    dfm_space_host_give(w.space, 0, taken);
    carry_out_all(1);
    assert_int_equal(world_valid(&w, 0), 3);
    assert_int_equal(world_stats(&w, 1).d2h_copies, 1);

    /* it is there, or it is not here: nothing is copied */
    assert_int_equal(dfm_cache_to_host(w.caches[1], 0, &error), DF_OK);
    assert_int_equal(dfm_cache_to_host(w.caches[1], 1, &error), DF_OK);
    carry_out_all(1);
    assert_int_equal(world_stats(&w, 1).d2h_copies, 1);
    world_give_back(&w, 0, 0);
    world_poll(&w, 1);
    world_end(&w);
}

static int refuse_copy(struct dfr_device *device, struct dfr_device *receiver, void *to, const void *from,
                       uint64_t bytes, uint32_t stream, struct df_error *error)
{
    (void)device, (void)receiver, (void)to, (void)from, (void)bytes, (void)stream;
    strcpy(error->text, "the link is gone");
    return DF_E_DEVICE;
}

/* A copy to a peer that the device refuses: the cache says of which block. */
static void test_peer_refused(void **state)
{
    struct dfr_device_ops broken;
    const struct dfr_device_ops *whole;
    struct df_error error;
    struct job *j;
    uint32_t others;
    bool progress;

    (void)state;
    begin(2);
    whole = w.fakes[2].base.ops;
    broken = *whole;
    broken.copy_peer = refuse_copy;
    make_on(2, 7, 1);
    j = ask_peer(1, 2, 7);
    w.fakes[2].base.ops = &broken;
    assert_int_equal(dfm_cache_culprit(w.caches[2], &others), DFM_NONE);
    assert_int_equal(dfm_cache_poll(w.caches[2], &progress, &error), DF_E_DEVICE);
    assert_string_equal(error.text, "the link is gone");
    assert_int_equal(dfm_cache_culprit(w.caches[2], &others), 7);
    assert_int_equal(others, 0);

    w.fakes[2].base.ops = whole;        /* it was not lost: it goes later */
    carry_out_all(2);
    world_poll(&w, 1);
    world_load_arrived(&w, j);
    assert_true(j->loaded);
    world_run_on_device(&w, j);
    world_poll(&w, 2);
    world_end(&w);
}

/* ---- what happens seldom ---- */

/* Device 1 asks device 2, which has given the block up to device 3 meanwhile: device 1 looks again, and finds it. */
static void test_given_up_meanwhile(void **state)
{
    struct job *j;

    (void)state;
    begin(3);
    w.peers[1] = 1 << 3;
    make_on(3, 2, 1);
    j = ask_peer(1, 2, 2);
    world_poll(&w, 2);                  /* it has no such block */
    world_poll(&w, 1);
    assert_false(dfm_cache_is_coming(w.caches[1], &j->pieces[0]));
    world_load_arrived(&w, j);          /* asks device 3 */
    assert_true(dfm_cache_is_coming(w.caches[1], &j->pieces[0]));
    carry_out_all(3);
    world_poll(&w, 1);
    world_load_arrived(&w, j);
    assert_true(j->loaded);
    world_run_on_device(&w, j);
    world_poll(&w, 3);
    assert_int_equal(world_stats(&w, 3).peer_copies, 1);
    world_end(&w);
}

/* Device 1 asks device 2, which has sent the block to the host meanwhile: device 1 takes it from there. */
static void test_at_home_meanwhile(void **state)
{
    struct df_error error;
    struct job *j;

    (void)state;
    begin(2);
    make_on(2, 2, 1);
    j = job_of(0, 1, 2, DFM_NONE, 0);
    assert_int_equal(world_reserve(&w, j), DFM_RESERVED);
    assert_true(dfm_cache_expect(w.caches[1], &j->pieces[0], 0));
    assert_int_equal(dfm_cache_to_host(w.caches[2], 2, &error), DF_OK);
    carry_out_all(2);
    dfm_cache_post_fetch(w.caches[2], 0);
    carry_out_all(2);
    assert_int_equal(world_stats(&w, 2).peer_copies, 0);
    world_poll(&w, 1);
    assert_false(dfm_cache_is_coming(w.caches[1], &j->pieces[0]));
    world_load_arrived(&w, j);
    assert_true(j->loaded);
    carry_out_all(1);
    world_run_on_device(&w, j);
    world_poll(&w, 2);
    assert_int_equal(world_stats(&w, 1).h2d_copies, 1);
    world_end(&w);
}

/* Device 2 has sent a block to device 1 and said so in `valid`, and its answer has not come yet when device 1 is asked
 * for the block, by the host or by device 3. The question waits for the answer. */
static void test_asked_before_the_answer(void **state)
{
    (void)state;
    for (uint32_t by_host = 0; by_host < 2; by_host++) {
        struct job *j, *other;

        begin(3);
        make_on(2, 2, 2);
        j = ask_peer(1, 2, 2);
        world_poll(&w, 2);
        assert_true(world_carry_out(&w.fakes[2], DFR_STREAM_PEER));
        atomic_fetch_or(&w.space->blocks[2].valid, 1 << 1); /* the half of dfm_peer_sent() that comes first */
        other = job_of(2, by_host ? 0 : 3, 2, DFM_NONE, 0);
        if (by_host) {
            ask_home(1, 2);
        } else {
            assert_int_equal(world_reserve(&w, other), DFM_RESERVED);
            assert_true(dfm_cache_expect(w.caches[3], &other->pieces[0], WAITER));
            dfm_cache_post_fetch(w.caches[1], WAITER);
        }
        for (int i = 0; i < 3; i++)
            carry_out_all(1);
        assert_true(dfm_cache_is_coming(w.caches[1], &j->pieces[0]));
        assert_int_equal(world_stats(&w, 1).d2h_copies + world_stats(&w, 1).peer_copies, 0);

        world_poll(&w, 2);              /* the answer */
        carry_out_all(1);
        carry_out_all(1);
        carry_out_all(2);               /* the host may be sent it by either */
        world_load_arrived(&w, j);
        assert_true(j->loaded);
        world_run_on_device(&w, j);
        if (by_host) {
            assert_int_equal(w.missing[WAITER / 2], 0);
            world_run_on_host(&w, other);
        } else {
            world_poll(&w, 3);
            world_load_arrived(&w, other);
            assert_true(other->loaded);
            world_run_on_device(&w, other);
        }
        for (uint32_t m = 1; m <= 3; m++)
            world_poll(&w, m);
        world_end(&w);
    }
}

/* ---- the checks ---- */

/* Damages a number or a pointer, looks, and mends it. */
#define NOTICES(check, what, wrong) \
    do { \
        __typeof__(what) mended = (what); \
        assert_true(check); \
        (what) = (wrong); \
        assert_false(check); \
        (what) = mended; \
        assert_true(check); \
    } while (0)

static void test_checks_notice(void **state)
{
    struct dfm_cache *c;
    struct dfm_entry *e;

    (void)state;
    begin(1);
    c = w.caches[1];
    for (uint32_t block = 0; block < 3; block++)
        make_on(1, block, 1);
    e = &c->entries[c->entry_of[1]];
    NOTICES(dfm_cache_check(c), c->entry_of[1], c->entry_of[0]);
    NOTICES(dfm_cache_check(c), e->pins, 1);
    NOTICES(dfm_cache_check(c), e->state, DFM_FILLING);
    NOTICES(dfm_cache_check(c), e->state, DFM_FREE);
    NOTICES(dfm_cache_check(c), e->out, DFM_OUT_QUEUED);
    NOTICES(dfm_cache_check(c), c->n_pinned, 1);
    NOTICES(dfm_cache_check(c), c->leaving_bytes, DFM_PAGE);
    NOTICES(dfm_cache_check(c), c->free_entry, DFM_NONE);
    NOTICES(dfm_cache_check(c), c->entries[c->free_entry].next, c->free_entry);
    NOTICES(dfm_victims_check(&c->victims), c->victims.n, 2);
    NOTICES(dfm_victims_check(&c->victims), c->victims.heap[0].used, UINT64_MAX);
    NOTICES(dfm_victims_check(&c->victims), c->victims.heap[1].item, UINT32_MAX);
    NOTICES(dfm_victims_check(&c->victims), c->victims.place[c->victims.heap[2].item], 1);
    for (uint32_t block = 0; block < 3; block++)
        world_give_back(&w, block, 1);
    world_end(&w);
}

/* ---- making ---- */

static void test_impossible_sizes(void **state)
{
    static const uint32_t line[2] = { 0, 0 };
    uint64_t bytes[2] = { 8, 8 }, count[2] = { 1, 1 };
    struct dfm_space_config config = { .n_values = 2, .n_slots = 3, .bytes = bytes, .count = count, .line = line,
                                       .slot_bytes = UINT64_MAX / 2 + 1 };
    struct dfm_space *space = NULL;
    struct df_error error;

    (void)state;
    assert_int_equal(dfm_space_create(&config, &space, &error), DF_E_MEMORY);
    assert_null(space);
    assert_non_null(strstr(error.text, "of host memory for the waves in flight"));
    config.slot_bytes = UINT64_MAX / 2;
    config.once_bytes = 2;
    assert_int_equal(dfm_space_create(&config, &space, &error), DF_E_MEMORY);
    assert_null(dfm_layout_create(0, 4));
    dfm_layout_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_has_it), cmocka_unit_test(test_no_room_at_home),
        cmocka_unit_test(test_peer_refused), cmocka_unit_test(test_given_up_meanwhile),
        cmocka_unit_test(test_at_home_meanwhile),
        cmocka_unit_test(test_asked_before_the_answer), cmocka_unit_test(test_checks_notice),
        cmocka_unit_test(test_impossible_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
