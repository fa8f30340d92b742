/* test_pool.c - the pool against a naive model: an array with one byte per unit, searched from the left. Every step is
 * followed by dfm_pool_check(). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "memmgr/pool.h"

#define UNIT 256u
#define N_UNITS 400u
#define MAX_BLOCKS 120u

static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(seed >> 8) * n >> 24);
}

/* ---- the model ---- */

struct model {
    bool used[N_UNITS];
    uint32_t n_blocks, used_units, peak_units;
    struct {
        uint32_t first, units;
    } blocks[MAX_BLOCKS];
};

/* Length of the free run that starts at `at`. */
static uint32_t run_at(const struct model *m, uint32_t at)
{
    uint32_t end = at;

    while (end < N_UNITS && !m->used[end])
        end++;
    return end - at;
}

static uint32_t model_largest(const struct model *m)
{
    uint32_t largest = 0;

    for (uint32_t at = 0; at < N_UNITS; at++)
        largest = run_at(m, at) > largest ? run_at(m, at) : largest;
    return largest;
}

/* Best fit, lowest among equals; N_UNITS: no room. */
static uint32_t model_alloc(struct model *m, uint32_t units)
{
    uint32_t best = N_UNITS, best_run = UINT32_MAX;

    if (m->n_blocks == MAX_BLOCKS)
        return N_UNITS;
    for (uint32_t at = 0; at < N_UNITS;) {
        uint32_t run = run_at(m, at);

        if (run >= units && run < best_run) {
            best = at;
            best_run = run;
        }
        at += run > 0 ? run : 1;
    }
    if (best == N_UNITS)
        return N_UNITS;
    memset(m->used + best, true, units);
    m->blocks[m->n_blocks].first = best;
    m->blocks[m->n_blocks++].units = units;
    m->used_units += units;
    m->peak_units = m->used_units > m->peak_units ? m->used_units : m->peak_units;
    return best;
}

static uint32_t model_free(struct model *m, uint32_t which)
{
    uint32_t first = m->blocks[which].first;

    memset(m->used + first, false, m->blocks[which].units);
    m->used_units -= m->blocks[which].units;
    m->blocks[which] = m->blocks[--m->n_blocks];
    return first;
}

static void compare(const struct dfm_pool *pool, const struct model *m)
{
    assert_true(dfm_pool_check(pool));
    assert_int_equal(dfm_pool_used(pool), m->used_units * UNIT);
    assert_int_equal(dfm_pool_peak(pool), m->peak_units * UNIT);
    assert_int_equal(dfm_pool_largest_free(pool), model_largest(m) * UNIT);
}

/* `most` bounds sizes: small ones run out of blocks, large ones out of room. */
static void play(uint32_t first_seed, uint32_t most, unsigned steps)
{
    struct dfm_pool *pool = dfm_pool_create(N_UNITS * UNIT + 17, UNIT, MAX_BLOCKS);
    struct model *m = calloc(1, sizeof *m);
    unsigned refusals = 0;

    assert_non_null(pool);
    assert_non_null(m);
    assert_int_equal(dfm_pool_capacity(pool), N_UNITS * UNIT);
    seed = first_seed;
    for (unsigned step = 0; step < steps; step++) {
        /* Phases that fill and phases that empty, so that both ends are met. */
        bool fill = random_below(100) < (step / 200 % 2 == 0 ? 70u : 30u);

        if (fill || m->n_blocks == 0) {
            uint32_t units = 1 + random_below(most), expected = model_alloc(m, units);
            uint64_t offset = UINT64_MAX;
            bool given = dfm_pool_alloc(pool, (uint64_t)units * UNIT - random_below(UNIT), &offset);

            assert_int_equal(given, expected != N_UNITS);
            if (given)
                assert_int_equal(offset, (uint64_t)expected * UNIT);
            else
                assert_int_equal(offset, UINT64_MAX); /* untouched */
            refusals += !given;
        } else {
            dfm_pool_free(pool, (uint64_t)model_free(m, random_below(m->n_blocks)) * UNIT);
        }
        compare(pool, m);
    }
    assert_true(refusals > 0);
    while (m->n_blocks > 0) {
        dfm_pool_free(pool, (uint64_t)model_free(m, 0) * UNIT);
        compare(pool, m);
    }
    assert_int_equal(dfm_pool_largest_free(pool), dfm_pool_capacity(pool));
    free(m);
    dfm_pool_destroy(pool);
}

static void test_against_the_model(void **state)
{
    (void)state;
    play(1, 3, 2000);
    play(2, 12, 2000);
    play(3, 40, 2000);
    play(4, 200, 1000);
}

/* ---- single cases ---- */

static void test_exact_fit_and_joining(void **state)
{
    struct dfm_pool *pool = dfm_pool_create(10 * UNIT, UNIT, 10);
    uint64_t offsets[10], again;

    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        assert_true(dfm_pool_alloc(pool, UNIT, &offsets[i]));
        assert_int_equal(offsets[i], i * UNIT);
    }
    assert_false(dfm_pool_alloc(pool, 1, &again));
    assert_int_equal(dfm_pool_largest_free(pool), 0);
    dfm_pool_free(pool, 2 * UNIT);
    dfm_pool_free(pool, 4 * UNIT);
    assert_false(dfm_pool_alloc(pool, 2 * UNIT, &again)); /* two units are free, but apart */
    assert_int_equal(dfm_pool_used(pool), 8 * UNIT);
    dfm_pool_free(pool, 3 * UNIT); /* joins both sides */
    assert_true(dfm_pool_check(pool));
    assert_int_equal(dfm_pool_largest_free(pool), 3 * UNIT);
    dfm_pool_free(pool, 8 * UNIT);
    assert_true(dfm_pool_alloc(pool, UNIT, &again)); /* best fit: the single unit, not the three */
    assert_int_equal(again, 8 * UNIT);
    assert_true(dfm_pool_alloc(pool, 3 * UNIT, &again));
    assert_int_equal(again, 2 * UNIT);
    assert_true(dfm_pool_check(pool));
    dfm_pool_destroy(pool);
}

static void test_sizes(void **state)
{
    struct dfm_pool *pool = dfm_pool_create(UINT64_C(1) << 40, 4096, 4);
    struct dfm_pool *odd = dfm_pool_create(1000, 96, 4);
    uint64_t a, b;

    (void)state;
    assert_int_equal(dfm_pool_rounded(pool, 0), 4096);
    assert_int_equal(dfm_pool_rounded(pool, 1), 4096);
    assert_int_equal(dfm_pool_rounded(pool, 4096), 4096);
    assert_int_equal(dfm_pool_rounded(pool, 4097), 8192);
    assert_int_equal(dfm_pool_rounded(pool, UINT64_MAX), UINT64_MAX);
    assert_false(dfm_pool_alloc(pool, UINT64_MAX, &a));
    assert_false(dfm_pool_alloc(pool, (UINT64_C(1) << 40) + 1, &a));
    assert_true(dfm_pool_alloc(pool, UINT64_C(1) << 40, &a)); /* larger than any memory here: only numbers */
    assert_false(dfm_pool_alloc(pool, 0, &b));
    dfm_pool_free(pool, a);
    assert_true(dfm_pool_alloc(pool, 0, &a));
    assert_true(dfm_pool_alloc(pool, 0, &b));
    assert_int_not_equal(a, b);
    assert_int_equal(dfm_pool_capacity(odd), 960);
    assert_int_equal(dfm_pool_rounded(odd, 97), 192);
    assert_true(dfm_pool_check(pool) && dfm_pool_check(odd));
    dfm_pool_destroy(pool);
    dfm_pool_destroy(odd);
    dfm_pool_destroy(NULL);
}

static void test_limits(void **state)
{
    struct dfm_pool *pool = dfm_pool_create(100 * UNIT, UNIT, 2), *none = dfm_pool_create(UNIT - 1, UNIT, 2);
    uint64_t a, b, c;

    (void)state;
    assert_true(dfm_pool_alloc(pool, UNIT, &a));
    assert_true(dfm_pool_alloc(pool, UNIT, &b));
    assert_false(dfm_pool_alloc(pool, UNIT, &c)); /* max_blocks */
    dfm_pool_free(pool, a);
    assert_true(dfm_pool_alloc(pool, 50 * UNIT, &c));
    assert_true(dfm_pool_check(pool));
    assert_false(dfm_pool_alloc(none, 1, &a));
    assert_int_equal(dfm_pool_largest_free(none), 0);
    assert_true(dfm_pool_check(none));
    assert_null(dfm_pool_create(1, 0, 1));
    assert_null(dfm_pool_create(1, 1, UINT32_MAX));
    dfm_pool_destroy(pool);
    dfm_pool_destroy(none);
}

/* Sorted sizes are what makes a plain search tree a list. */
static void test_order_does_not_matter(void **state)
{
    enum { N = 20000 };
    struct dfm_pool *pool = dfm_pool_create((uint64_t)N * N * 2, 1, 2 * N);
    uint64_t *offsets = malloc(2 * N * sizeof *offsets);

    (void)state;
    assert_non_null(offsets);
    for (uint32_t i = 0; i < 2 * N; i++) /* growing holes between pins of one byte */
        assert_true(dfm_pool_alloc(pool, i % 2 == 0 ? 1 + i / 2 : 1, &offsets[i]));
    for (uint32_t i = 0; i < 2 * N; i += 2)
        dfm_pool_free(pool, offsets[i]);
    for (uint32_t i = 0; i < N; i++) {
        uint64_t offset;

        assert_true(dfm_pool_alloc(pool, 1 + i, &offset));
        assert_int_equal(offset, offsets[2 * i]); /* each into its own hole */
    }
    assert_true(dfm_pool_check(pool));
    free(offsets);
    dfm_pool_destroy(pool);
}

static void test_alloc_at(void **state)
{
    struct dfm_pool *pool = dfm_pool_create(1600, 100, 16);
    uint64_t a, b, x = 12345;
    (void)state;
    assert_true(dfm_pool_alloc_at(pool, 300, 150)); /* in the middle of all: 300 to 500 */
    assert_true(dfm_pool_check(pool));
    assert_false(dfm_pool_alloc_at(pool, 300, 1));
    assert_false(dfm_pool_alloc_at(pool, 400, 1));
    assert_false(dfm_pool_alloc_at(pool, 200, 101));
    assert_false(dfm_pool_alloc_at(pool, 1500, 101));
    assert_false(dfm_pool_alloc_at(pool, 1600, 1));
    assert_true(dfm_pool_alloc_at(pool, 200, 100) && dfm_pool_alloc_at(pool, 0, 1) && dfm_pool_alloc_at(pool, 1500, 1));
    assert_true(dfm_pool_check(pool));
    assert_true(dfm_pool_alloc(pool, 100, &a) && a == 100); /* best fit: the hole */
    assert_true(dfm_pool_alloc(pool, 1000, &b) && b == 500);
    assert_false(dfm_pool_alloc(pool, 1, &a));
    dfm_pool_free(pool, 300);
    assert_true(dfm_pool_check(pool) && dfm_pool_alloc_at(pool, 400, 100));
    dfm_pool_destroy(pool);

    pool = dfm_pool_create(64, 1, 64);
    bool used[64] = { false };
    for (int i = 0; i < 20000; i++) { /* against a map of single units */
        x = x * 6364136223846793005u + 1442695040888963407u;
        uint64_t at = x >> 40 & 63, bytes = 1 + (x >> 50 & 3);
        if (dfm_pool_used(pool) > 40) {
            dfm_pool_destroy(pool);
            pool = dfm_pool_create(64, 1, 64);
            memset(used, 0, sizeof used);
        }
        bool free = at + bytes <= 64;
        for (uint64_t k = at; free && k < at + bytes; k++)
            free = !used[k];
        assert_int_equal(dfm_pool_alloc_at(pool, at, bytes), free);
        for (uint64_t k = at; free && k < at + bytes; k++)
            used[k] = true;
        assert_true(dfm_pool_check(pool));
    }
    dfm_pool_destroy(pool);
}

/* Against a map of single units: the highest range that is free and not below `from`. */
static void test_alloc_above(void **state)
{
    struct dfm_pool *pool = dfm_pool_create(64, 1, 64);
    uint64_t x = 54321, at;
    uint8_t taken[64] = { 0 };          /* number of the range, from 1 */
    (void)state;
    for (int i = 0; i < 20000; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        uint64_t from = x >> 40 & 63, bytes = 1 + (x >> 50 & 7), want = UINT64_MAX;
        for (uint64_t begin = from; begin + bytes <= 64; begin++) {
            uint64_t k = 0;
            while (k < bytes && !taken[begin + k])
                k++;
            want = k == bytes ? begin : want;
        }
        assert_int_equal(dfm_pool_alloc_above(pool, from, bytes, &at), want != UINT64_MAX);
        if (want != UINT64_MAX) {
            assert_int_equal(at, want);
            memset(taken + at, 1 + i % 255, bytes);
        }
        if (dfm_pool_used(pool) > 48) { /* some range goes, which begins where its number does */
            for (at = x >> 33 & 31; at < 63 && (!taken[at] || taken[at] == taken[at - (at > 0)]); at++)
                ;
            if (!taken[at] || (at > 0 && taken[at] == taken[at - 1]))
                for (at = 0; !taken[at]; at++)
                    ;
            dfm_pool_free(pool, at);
            for (uint8_t number = taken[at]; at < 64 && taken[at] == number; at++)
                taken[at] = 0;
        }
        assert_true(dfm_pool_check(pool));
    }
    dfm_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc_at),
        cmocka_unit_test(test_alloc_above),
        cmocka_unit_test(test_against_the_model), cmocka_unit_test(test_exact_fit_and_joining),
        cmocka_unit_test(test_sizes),             cmocka_unit_test(test_limits),
        cmocka_unit_test(test_order_does_not_matter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
