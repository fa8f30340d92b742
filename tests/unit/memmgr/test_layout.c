/* test_layout.c - offsets that are decided before a run: random tenants, each of which gets the place that a table of all units of memory says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "memmgr/layout.h"
#include "runtime/base/random.h"

enum { TENANTS = 40, UNITS = TENANTS * 6, ALIGNMENT = 64, STEPS = 10 };

/* By unit of ALIGNMENT bytes: the tenant that was there last. */
struct model {
    unsigned tenant[UNITS], end;
    bool offered[TENANTS];
    uint32_t last_step[TENANTS], before;
};

static bool is_there(const struct model *m, unsigned tenant)
{
    for (unsigned i = 0; i < m->end; i++)
        if (m->tenant[i] == tenant)
            return true;
    return false;
}

static bool is_free(const struct model *m, unsigned unit)
{
    return unit < m->end && (m->offered[m->tenant[unit]] || m->last_step[m->tenant[unit]] < m->before);
}

/* The smallest run of free units that is large enough; of equals the lowest; if there is none, that at the end. One unit of a run at least was offered by
 * number. */
static unsigned place(const struct model *m, unsigned n)
{
    unsigned best = m->end, best_n = UNITS + 1, at_end = m->end;
    for (unsigned begin = 0, end; begin < m->end; begin = end + 1) {
        bool offered = false;
        for (end = begin; is_free(m, end); end++)
            offered |= m->offered[m->tenant[end]];
        if (!offered)
            continue;
        if (end - begin >= n && end - begin < best_n) {
            best = begin;
            best_n = end - begin;
        }
        if (end == m->end)
            at_end = begin;
    }
    return best_n <= UNITS ? best : at_end;
}

static void random_tenants(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct dfm_layout *l = dfm_layout_create(ALIGNMENT, TENANTS);
        uint64_t random = seed, offset;
        struct model m = { .end = 0 };
        assert_non_null(l);
        for (unsigned t = 0; t < TENANTS; t++) {
            m.before = dfr_random(&random) % 3 ? 0 : dfr_random_below(&random, STEPS);
            if (m.before)
                dfm_layout_offer_before(l, m.before);
            const unsigned one_of = 1 + dfr_random_below(&random, 4);
            for (unsigned other = 0; other < t; other++) {
                m.offered[other] = false;
                if (dfr_random_below(&random, one_of))
                    continue;
                m.offered[other] = is_there(&m, other);
                assert_int_equal(dfm_layout_offer(l, other), m.offered[other]);
                assert_int_equal(dfm_layout_offer(l, other), m.offered[other]); /* a second time says nothing new */
            }
            const unsigned n = 1 + dfr_random_below(&random, 5), at = place(&m, n);
            const uint64_t less = dfr_random_below(&random, ALIGNMENT);
            m.last_step[t] = dfr_random_below(&random, STEPS);
            assert_true(dfm_layout_place(l, t, n * ALIGNMENT - less, m.last_step[t], &offset));
            if (offset != at * ALIGNMENT)
                fail_msg("seed %llu, tenant %u of %u units: at %llu, not at %u", (unsigned long long)seed, t, n, (unsigned long long)offset / ALIGNMENT, at);
            for (unsigned i = at; i < at + n; i++)
                m.tenant[i] = t;
            m.end = at + n > m.end ? at + n : m.end;
            assert_int_equal(dfm_layout_bytes(l), m.end * ALIGNMENT);
            assert_true(dfm_layout_check(l));
            dfm_layout_withdraw(l);
            memset(m.offered, 0, sizeof m.offered);
        }
        dfm_layout_destroy(l);
    }
}

static void bytes_are_rounded(void **state)
{
    (void)state;
    static const struct { uint64_t bytes, alignment, want; } cases[] = {
        { 0, 64, 64 }, { 1, 64, 64 }, { 64, 64, 64 }, { 65, 64, 128 }, { 7, 1, 7 }, { 0, 1, 1 }, { UINT64_MAX, 1, UINT64_MAX },
        { UINT64_MAX - 63, 64, UINT64_MAX - 63 }, { UINT64_MAX - 62, 64, UINT64_MAX }, { UINT64_MAX, 64, UINT64_MAX },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(dfm_layout_rounded(cases[i].bytes, cases[i].alignment) == cases[i].want);
}

/* An offset that does not fit in is refused, and what was there stays. */
static void offsets_end(void **state)
{
    struct dfm_layout *l = dfm_layout_create(ALIGNMENT, 3);
    uint64_t offset;
    (void)state;
    assert_non_null(l);
    assert_false(dfm_layout_place(l, 0, UINT64_MAX, 1, &offset));
    assert_true(dfm_layout_place(l, 0, UINT64_MAX - 127, 1, &offset));
    assert_int_equal(offset, 0);
    assert_false(dfm_layout_place(l, 1, 65, 1, &offset));
    assert_true(dfm_layout_check(l));
    assert_true(dfm_layout_bytes(l) == UINT64_MAX - 127);
    dfm_layout_destroy(l);
    assert_null(dfm_layout_create(ALIGNMENT, (UINT32_C(1) << 30) + 1));
    assert_null(dfm_layout_create(0, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(random_tenants), cmocka_unit_test(bytes_are_rounded), cmocka_unit_test(offsets_end) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
