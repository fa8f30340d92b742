/* test_strips.c - strips of random groups: every row that is read is there, also in rings that turn, and every row that leaves is
 * made once it is due.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/df_strips.h"

enum { STAGES = 5, MOST_READS = 12, MOST_ROWS = 90 };

struct group {
    struct df_strip_stage stages[STAGES];
    struct df_strip_read reads[MOST_READS];
    unsigned n_stages, n_reads;
    int64_t strip;
    bool made[STAGES][MOST_ROWS];
    int64_t rows[STAGES], ring[STAGES][MOST_ROWS]; /* of a ring that turns, and the rows that it holds */
};

static uint32_t state = 7;

static int pick(int n)
{
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (uint32_t)n);
}

/* The row for which `row` stands, by the definition of borders; one step at a time. */
static int64_t row_at(int64_t row, int64_t extent, int border)
{
    while (row < 0 || row >= extent)
        switch (border) {
        case DF_STRIP_MIRROR:
            row = extent == 1 ? 0 : row < 0 ? -row : 2 * extent - 2 - row;
            break;
        case DF_STRIP_REFLECT: row = row < 0 ? -row - 1 : 2 * extent - 1 - row; break;
        default: row = row < 0 ? 0 : extent - 1;
        }
    return row;
}

/* Rates of unlike stages are unlike; a stage that leaves makes a row for one of a strip at most. */
static void make_group(struct group *g)
{
    int32_t rate[STAGES];               /* rows for 12 of a strip */
    const bool alike = pick(2);
    memset(g, 0, sizeof *g);
    g->n_stages = 2 + (unsigned)pick(STAGES - 1);
    g->strip = 1 + pick(9);
    for (unsigned s = 0; s < g->n_stages; s++) {
        g->stages[s].extent = 1 + pick(pick(3) ? 40 : 6);
        g->stages[s].leaves = s + 1 == g->n_stages || pick(4) == 0;
        rate[s] = alike ? 12 : 12 / (1 + pick(4)) * (g->stages[s].leaves ? 1 : 1 + pick(3));
        g->stages[s].times = rate[s];
        g->stages[s].by = 12;
        for (unsigned made = 0; made < s && g->n_reads < MOST_READS; made++)
            if (made + 1 == s || pick(3) == 0) {
                const int low = pick(9) - 4;
                g->reads[g->n_reads++] = (struct df_strip_read){ (uint16_t)s, (uint16_t)made, rate[made], rate[s], low, low + pick(4) * (rate[s] / 12 + 1), pick(4) };
            }
    }
}

static int64_t floor_of(int64_t a, int64_t b)
{
    int64_t q = a / b;
    while (q * b > a)
        q--;
    return q;
}

static void check_reads(const struct group *g, unsigned s)
{
    for (unsigned r = 0; r < g->n_reads; r++) {
        const struct df_strip_read *read = &g->reads[r];
        const struct df_strip_stage *from = &g->stages[read->made];
        if (read->reader != s)
            continue;
        for (int64_t y = g->stages[s].make.from; y < g->stages[s].make.to; y++)
            for (int64_t at = floor_of(read->times * y + read->low, read->by); at <= floor_of(read->times * y + read->high, read->by); at++) {
                const int64_t row = row_at(at, from->extent, read->border);
                assert_true(from->have.from <= row && row < from->have.to);
                assert_true(g->made[read->made][row]);
                assert_int_equal(g->ring[read->made][df_strip_row(row, g->rows[read->made])], row);
            }
    }
}

/* A ring has as many rows as a strip needs at most. */
static void find_rows(struct group *g)
{
    struct df_strip_stage stages[STAGES];
    const int64_t most = df_strips_end(g->stages, g->n_stages);
    memcpy(stages, g->stages, sizeof stages);
    for (int64_t y = 0; y < most; y += g->strip) {
        df_strips_next(stages, g->n_stages, g->reads, g->n_reads, y, y + g->strip);
        for (unsigned s = 0; s < g->n_stages; s++)
            if (stages[s].make.to) {
                g->rows[s] = df_strip_most(g->rows[s], stages[s].need.to - stages[s].need.from);
                df_strip_made(&stages[s]);
            }
    }
}

static void run(struct group *g)
{
    const int64_t most = df_strips_end(g->stages, g->n_stages);
    for (int64_t y = 0; y < most; y += g->strip) {
        df_strips_next(g->stages, g->n_stages, g->reads, g->n_reads, y, y + g->strip);
        for (unsigned s = 0; s < g->n_stages; s++) {
            struct df_strip_stage *stage = &g->stages[s];
            if (!stage->make.to)
                continue;
            assert_true(stage->make.from >= 0 && stage->make.to <= stage->extent);
            df_strip_made(stage);
            check_reads(g, s);
            for (int64_t row = stage->make.from; row < stage->make.to; row++) {
                g->made[s][row] = true;
                g->ring[s][df_strip_row(row, g->rows[s])] = row;
            }
        }
        for (unsigned s = 0; s < g->n_stages; s++)
            for (int64_t row = 0; g->stages[s].leaves && row < (y + g->strip) * g->stages[s].times / g->stages[s].by && row < g->stages[s].extent; row++)
                assert_true(g->made[s][row]);
    }
    for (unsigned s = 0; s < g->n_stages; s++)
        for (int64_t row = 0; g->stages[s].leaves && row < g->stages[s].extent; row++)
            assert_true(g->made[s][row]);
}

static void test_random_groups(void **unused)
{
    static struct group g;
    (void)unused;
    for (int i = 0; i < 20000; i++) {
        make_group(&g);
        find_rows(&g);
        run(&g);
    }
}

/* What a ring holds is moved to its beginning, and is not made again. */
static void test_rows_are_kept(void **unused)
{
    struct df_strip_stage stages[] = { { .extent = 20 }, { .extent = 20, .leaves = true, .times = 1, .by = 1 } };
    const struct df_strip_read reads[] = { { 1, 0, 1, 1, -2, 2, DF_STRIP_CLAMP } };
    int ring[16], made = 0;
    (void)unused;
    for (int64_t y = 0; y < 20; y += 4) {
        df_strips_next(stages, 2, reads, 1, y, y + 4);
        assert_int_equal(stages[1].make.from, y);
        assert_int_equal(stages[1].make.to, y + 4);
        if (stages[0].make.to) {
            df_strip_move(&stages[0], ring, sizeof *ring);
            df_strip_made(&stages[0]);
        }
        for (int64_t row = stages[0].make.from; row < stages[0].make.to; row++, made++)
            ring[row - stages[0].have.from] = (int)row;
        for (int64_t row = stages[0].have.from; row < stages[0].have.to; row++)
            assert_int_equal(ring[row - stages[0].have.from], row);
    }
    assert_int_equal(made, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_groups),
        cmocka_unit_test(test_rows_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
