/* test_linear.c - affine conditions on integers, joined by "and" and "or", against every point of a small box. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/proof/linear.h"

#define N_SYSTEMS 4000
#define N_VARS 3
#define SIZE 7                          /* values of each variable */
#define MOST_FACTS 40

static struct dff_linear linear;
static uint64_t seed = 88172645463325252u;
static struct dff_fact facts[MOST_FACTS];
static unsigned n_facts;

static int64_t between(int64_t low, int64_t high)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return low + (int64_t)(seed % (uint64_t)(high - low + 1));
}

static const struct dff_fact *row(int64_t k, const int64_t *c)
{
    struct dff_fact *fact = &facts[n_facts++];
    *fact = (struct dff_fact){ .join = DFF_ROW, .form = { .k = k } };
    memcpy(fact->form.c, c, N_VARS * sizeof *c);
    return fact;
}

static const struct dff_fact *random_fact(unsigned depth)
{
    int64_t c[N_VARS];
    for (unsigned v = 0; v < N_VARS; v++)
        c[v] = between(-5, 5);
    if (depth == 0 || between(0, 1))
        return row(between(-9, 6), c);
    const struct dff_fact *a = random_fact(depth - 1), *b = random_fact(depth - 1);
    facts[n_facts] = (struct dff_fact){ .join = between(0, 1) ? DFF_BOTH : DFF_EITHER, .a = a, .b = b };
    return &facts[n_facts++];
}

static bool holds(const struct dff_fact *fact, const int64_t *point)
{
    if (fact->join == DFF_ROW)
        return dff_form_at(&fact->form, point) >= 0;
    return fact->join == DFF_BOTH ? holds(fact->a, point) && holds(fact->b, point)
                                  : holds(fact->a, point) || holds(fact->b, point);
}

static bool all_hold(const struct dff_fact *const *list, unsigned n, const int64_t *point)
{
    bool all = true;
    for (unsigned i = 0; i < n; i++)
        all &= holds(list[i], point);
    return all;
}

/* Some point of the box; all points outside of it break a fact that is one of the list. */
static bool search(const struct dff_fact *const *list, unsigned n)
{
    int64_t point[DFF_MAX_VARS] = { 0 };
    for (point[0] = 0; point[0] < SIZE; point[0]++)
        for (point[1] = 0; point[1] < SIZE; point[1]++)
            for (point[2] = 0; point[2] < SIZE; point[2]++)
                if (all_hold(list, n, point))
                    return true;
    return false;
}

static unsigned make_system(const struct dff_fact **list)
{
    unsigned n = 0;
    n_facts = 0;
    for (unsigned v = 0; v < N_VARS; v++) {
        int64_t up[N_VARS] = { 0 }, down[N_VARS] = { 0 };
        up[v] = 1;
        down[v] = -1;
        list[n++] = row(0, up);
        list[n++] = row(SIZE - 1, down);
    }
    for (int64_t i = between(1, 4); i > 0; i--)
        list[n++] = random_fact(2);
    return n;
}

static void verdicts(void **state)
{
    const struct dff_fact *list[12];
    unsigned counts[3] = { 0 };
    (void)state;
    linear.budget = INT64_MAX;
    for (unsigned i = 0; i < N_SYSTEMS; i++) {
        const unsigned n = make_system(list);
        linear.last = (uint64_t)between(0, 7);
        const enum dff_verdict verdict = dff_decide(&linear, list, n, N_VARS);
        counts[verdict]++;
        if (verdict == DFF_HOLDS)
            assert_true(all_hold(list, n, linear.point));
        else if (verdict == DFF_NEVER)
            assert_false(search(list, n));
    }
    print_message("%u never, %u hold, %u undecided\n", counts[DFF_NEVER], counts[DFF_HOLDS], counts[DFF_UNDECIDED]);
    assert_true(counts[DFF_NEVER] > N_SYSTEMS / 10 && counts[DFF_HOLDS] > N_SYSTEMS / 10);
    assert_int_equal(counts[DFF_UNDECIDED], 0);
}

/* What does not fit, or costs too much, is not decided. */
static void limits(void **state)
{
    const struct dff_fact *list[12];
    struct dff_form a = { .k = (int64_t)1 << 49 }, b = a;
    (void)state;
    assert_true(dff_form_add(&a, &b, 1));
    assert_false(dff_form_add(&a, &b, 4));
    b.k = INT64_MAX;
    assert_false(dff_form_add(&a, &b, INT64_MAX));
    const unsigned n = make_system(list);
    linear.budget = 0;
    assert_int_equal(dff_decide(&linear, list, n, N_VARS), DFF_UNDECIDED);
    linear.budget = INT64_MAX;
    const int64_t big = (int64_t)1 << 61, huge[2][N_VARS] = { { big - 1, 3 - big, 0 }, { 7 - big, big - 19, 0 } };
    list[0] = row(-1, huge[0]);
    list[1] = row(-1, huge[1]);
    assert_int_equal(dff_decide(&linear, list, 2, N_VARS), DFF_UNDECIDED);
}

/* x <= 2 * y + 3 and x <= 9, with y kept: the bound that is tightest where y is least. */
static void bounds(void **state)
{
    const struct dff_fact *list[4];
    struct dff_form x = { .c = { 1 } }, bound;
    (void)state;
    n_facts = 0;
    list[0] = row(3, (const int64_t[N_VARS]){ -1, 2, 0 });
    list[1] = row(9, (const int64_t[N_VARS]){ -1, 0, 0 });
    list[2] = row(-1, (const int64_t[N_VARS]){ 0, 1, 0 });
    linear.last = 2;
    assert_int_equal(dff_decide(&linear, list, 3, N_VARS), DFF_HOLDS);
    assert_int_equal(linear.point[1], 1);
    assert_true(dff_bound(&linear, &x, true, &bound));
    assert_int_equal(bound.k, 3);
    assert_int_equal(bound.c[1], 2);
    assert_int_equal(bound.c[0], 0);
    assert_false(dff_bound(&linear, &x, false, &bound));
}

static int free_linear(void **state)
{
    (void)state;
    dff_linear_free(&linear);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(verdicts), cmocka_unit_test(limits), cmocka_unit_test(bounds) };
    return cmocka_run_group_tests(tests, NULL, free_linear);
}
