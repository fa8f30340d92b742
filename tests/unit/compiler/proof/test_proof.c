/* test_proof.c - reads of formulas that are inside, and those that are not: what is said of them, and what code
 * generation gets to know.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "colliding.h"
#include "formula_rig.h"

static struct formula_rig rig;

#define N(value) node_number(&rig, value)
#define I(slot) node_index(&rig, slot)
#define D(dim) node_dim(&rig, dim)
#define OP(name, a, b) node_op(&rig, DFF_##name, a, b, NULL)
#define ADD(a, b) OP(ADD, a, b)
#define SUB(a, b) OP(SUB, a, b)
#define MUL(a, b) OP(MUL, a, b)
#define CHOOSE(c, a, b) node_op(&rig, DFF_CHOOSE, c, a, b)

/* ---- the kernels ---- */

/* out[y, x] = g[row, column], with g: u8[h, w] and out: u8[h, w] */
static const struct dff_proof *image(const struct dff_node *row, const struct dff_node *column, enum dff_border border)
{
    formula_port(&rig, "g", DF_U8, D(0), D(1), border);
    formula_port(&rig, "e", DF_U8, D(0), D(1), DFF_NONE);
    formula_set(&rig, "yx", node_read(&rig, 0, row, column));
    return formula_prove(&rig);
}

/* out[i] = v[index], with v: u8[extent] and out: u8[length] */
static const struct dff_proof *line(const struct dff_node *extent, const struct dff_node *length,
                                    const struct dff_node *index)
{
    formula_port(&rig, "v", DF_U8, extent, NULL, DFF_NONE);
    formula_port(&rig, "o", DF_U8, length, NULL, DFF_NONE);
    formula_set(&rig, "i", node_read(&rig, 0, index, NULL));
    return formula_prove(&rig);
}

static const struct dff_access *access_of(const struct dff_proof *proof)
{
    assert_non_null(proof);
    assert_non_null(proof->access[rig.formula.value->id]);
    return proof->access[rig.formula.value->id];
}

static void says(const struct dff_proof *proof, const char *words)
{
    assert_null(proof);
    if (!strstr(rig.messages, words))
        fail_msg("'%s' is not in: %s", words, rig.messages);
}

/* ---- inside ---- */

static void own_index(void **state)
{
    (void)state;
    formula_begin(&rig, "hw");
    const struct dff_access *a = access_of(image(I(0), I(1), DFF_NONE));
    for (unsigned d = 0; d < 2; d++) {
        assert_true(a[d].inside && a[d].affine);
        assert_int_equal(a[d].below, 0);
        assert_int_equal(a[d].above, 0);
        assert_int_equal(a[d].slot[d], 1);
        assert_int_equal(a[d].slot[1 - d], 0);
        assert_int_equal(a[d].constant, 0);
    }
    formula_begin(&rig, "hw");          /* flips */
    a = access_of(image(SUB(SUB(D(0), N(1)), I(0)), SUB(D(1), ADD(I(1), N(1))), DFF_NONE));
    assert_true(a[0].inside && a[1].inside && a[0].affine);
    assert_int_equal(a[0].slot[0], -1);
    assert_int_equal(a[0].dim[0], 1);
    assert_int_equal(a[0].dim[1], 0);
    assert_int_equal(a[0].constant, -1);
}

static void strides_and_windows(void **state)
{
    (void)state;
    formula_begin(&rig, "n");           /* v: u8[2 * n] */
    assert_true(access_of(line(MUL(N(2), D(0)), D(0), ADD(MUL(N(2), I(0)), N(1))))->inside);
    formula_begin(&rig, "n");           /* o: u8[n - 2], for which n >= 3 */
    assert_true(access_of(line(D(0), SUB(D(0), N(2)), ADD(I(0), N(2))))->inside);
    formula_begin(&rig, "n");           /* v: u8[n], o: u8[n / 2] */
    assert_true(access_of(line(D(0), OP(DIV, D(0), N(2)), ADD(MUL(N(2), I(0)), N(1))))->inside);
    formula_begin(&rig, "n");           /* that of n - 2 is 1 or more: the place 2 is there */
    assert_true(access_of(line(D(0), SUB(D(0), N(2)), N(2)))->inside);
}

/* g: u8[h, w], o: u8[length]: o[i] = g[i / by, i % by + more] */
static const struct dff_proof *numbered(const struct dff_node *length, const struct dff_node *by, int64_t more)
{
    formula_port(&rig, "g", DF_U8, D(0), D(1), DFF_NONE);
    formula_port(&rig, "o", DF_U8, length, NULL, DFF_NONE);
    formula_set(&rig, "i", node_read(&rig, 0, OP(DIV, I(0), by), ADD(OP(MOD, I(0), by), N(more))));
    return formula_prove(&rig);
}

static void elements_that_are_numbered_row_by_row(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        formula_begin(&rig, "hw");
        assert_non_null(numbered(MUL(D(order), D(1 - order)), D(1), 0));
    }
    formula_begin(&rig, "hw");
    says(numbered(MUL(D(0), D(1)), D(0), 0), "g[i / h, i % h] may read behind the rows of 'g'");
    formula_begin(&rig, "hw");
    says(numbered(ADD(MUL(D(0), D(1)), N(1)), D(1), 0), "g[i / w, i % w] may read behind the rows of 'g'");
    formula_begin(&rig, "hw");
    says(numbered(MUL(D(0), D(1)), D(1), 1), "g[i / w, i % w + 1]");
}

static void conditions(void **state)
{
    (void)state;
    formula_begin(&rig, "n");           /* i + 1 < n ? v[i + 1] : v[i] */
    formula_port(&rig, "v", DF_U8, D(0), NULL, DFF_NONE);
    formula_port(&rig, "o", DF_U8, D(0), NULL, DFF_NONE);
    const struct dff_node *next = ADD(I(0), N(1));
    formula_set(&rig, "i", CHOOSE(OP(LT, next, D(0)), node_read(&rig, 0, next, NULL), node_read(&rig, 0, I(0), NULL)));
    assert_non_null(formula_prove(&rig));
    formula_begin(&rig, "n");           /* !(i == 0 || i > n - 2) && v[i - 1] < v[i + 1] */
    formula_port(&rig, "v", DF_U8, D(0), NULL, DFF_NONE);
    formula_port(&rig, "o", DF_U8, D(0), NULL, DFF_NONE);
    const struct dff_node *edge = OP(OR, OP(EQ, I(0), N(0)), OP(GT, I(0), SUB(D(0), N(2))));
    const struct dff_node *less = OP(LT, node_read(&rig, 0, SUB(I(0), N(1)), NULL),
                                     node_read(&rig, 0, ADD(I(0), N(1)), NULL));
    formula_set(&rig, "i", CHOOSE(OP(AND, OP(NOT, edge, NULL), less), N(1), N(0)));
    assert_non_null(formula_prove(&rig));
    formula_begin(&rig, "n");           /* i == 0 || v[i] > 0 || v[i - 1] > 0, and the same with && is wrong */
    formula_port(&rig, "v", DF_U8, D(0), NULL, DFF_NONE);
    formula_port(&rig, "o", DF_U8, D(0), NULL, DFF_NONE);
    const struct dff_node *first = OP(EQ, I(0), N(0));
    const struct dff_node *before = OP(GT, node_read(&rig, 0, SUB(I(0), N(1)), NULL), N(0));
    formula_set(&rig, "i", CHOOSE(OP(OR, first, before), N(1), N(0)));
    assert_non_null(formula_prove(&rig));
    formula_set(&rig, "i", CHOOSE(OP(AND, first, before), N(1), N(0)));
    says(formula_prove(&rig), "v[i - 1] reads from place -1 on, but the places of 'v' begin at 0");
}

static void clamped(void **state)
{
    (void)state;
    formula_begin(&rig, "n");
    const struct dff_node *high = SUB(D(0), N(1));
    assert_true(access_of(line(D(0), D(0), OP(MAX, N(0), OP(MIN, high, MUL(I(0), I(0))))))->inside);
    assert_int_equal(formula_prove(&rig)->max_extent, DFF_MOST_EXTENT);
    formula_begin(&rig, "n");           /* (i + 2^21) % n, whose sum goes around for the largest extents */
    const struct dff_proof *proof = line(D(0), D(0), OP(MOD, ADD(I(0), N(1 << 21)), D(0)));
    assert_true(access_of(proof)->inside);
    assert_int_equal(proof->max_extent, DFF_SMALL_EXTENT);
}

static void gathers(void **state)
{
    static const int64_t offsets[] = { -1, 0, 1, 4 };
    (void)state;
    formula_begin(&rig, "hw");          /* lut[g[y, x]], lut: u8[256] */
    formula_port(&rig, "g", DF_U8, D(0), D(1), DFF_NONE);
    formula_port(&rig, "lut", DF_U8, N(256), NULL, DFF_NONE);
    formula_port(&rig, "e", DF_U8, D(0), D(1), DFF_NONE);
    formula_set(&rig, "yx", node_read(&rig, 1, node_read(&rig, 0, I(0), I(1)), NULL));
    assert_non_null(formula_prove(&rig));
    rig.ports[1].extents[0] = N(255);
    says(formula_prove(&rig), "lut[g[y, x]] reads up to place 255, but the places of 'lut' end at 254");
    formula_begin(&rig, "n");           /* v[1 + offsets[k]], v: u8[6] */
    formula_port(&rig, "v", DF_U8, N(6), NULL, DFF_NONE);
    formula_port(&rig, "o", DF_U8, N(4), NULL, DFF_NONE);
    formula_table(&rig, "offsets", offsets, 4);
    formula_set(&rig, "i", node_read(&rig, 0, ADD(N(1), node_table(&rig, 0, I(0))), NULL));
    assert_non_null(formula_prove(&rig));
    formula_set(&rig, "i", node_table(&rig, 0, ADD(I(0), N(1))));
    says(formula_prove(&rig), "offsets[i + 1] reads up to place 4, but the places of 'offsets' end at 3");
}

/* ---- outside ---- */

static void too_far(void **state)
{
    (void)state;
    formula_begin(&rig, "hw");
    says(image(ADD(I(0), N(2)), I(1), DFF_NONE), "g[y + 2, x] reads up to row h + 1, but the rows of 'g' end at h - 1");
    assert_non_null(strstr(rig.messages, "or make the output smaller: 'e: u8[h - 2, w]'"));
    formula_begin(&rig, "hw");
    says(image(I(0), SUB(I(1), N(1)), DFF_NONE), "from column -1 on, but the columns of 'g' begin at 0");
    formula_begin(&rig, "nm");
    says(line(D(0), D(1), I(0)), "v[i] reads up to place m - 1, but the places of 'v' end at n - 1");
    for (int way = 0; way < 2; way++) { /* the bound is the further of two cases, whichever is looked at first */
        formula_begin(&rig, "n");
        formula_port(&rig, "g", DF_I32, D(0), NULL, DFF_NONE);
        formula_port(&rig, "v", DF_U8, D(0), NULL, DFF_NONE);
        formula_port(&rig, "o", DF_U8, D(0), NULL, DFF_NONE);
        formula_set(&rig, "i", node_read(&rig, 1, CHOOSE(OP(GT, node_read(&rig, 0, I(0), NULL), N(0)), SUB(I(0), N(1 + way)), SUB(I(0), N(2 - way))), NULL));
        says(formula_prove(&rig), "reads from place -2 on, but the places of 'v' begin at 0");
    }
}

static void reach(void **state)
{
    (void)state;
    formula_begin(&rig, "hw");
    const struct dff_access *a = access_of(image(ADD(I(0), N(2)), SUB(I(1), N(3)), DFF_CLAMP));
    assert_false(a[0].inside || a[1].inside);
    assert_int_equal(a[0].below, 0);
    assert_int_equal(a[0].above, 2);
    assert_int_equal(a[1].below, 3);
    assert_int_equal(a[1].above, 0);
    assert_int_equal(a[1].constant, -3);
    formula_begin(&rig, "hw");          /* y + 2 must not go around before the border corrects it */
    assert_in_range(image(ADD(I(0), N(2)), I(1), DFF_CLAMP)->max_extent, 1 << 30, INT32_MAX - 2);
    formula_begin(&rig, "hw");          /* a window, -2 .. 3, and a step of 2 that is not bounded */
    formula_port(&rig, "g", DF_U8, D(0), D(1), DFF_WRAP_AROUND);
    formula_port(&rig, "e", DF_U8, D(0), D(1), DFF_NONE);
    const struct dff_node *read = node_read(&rig, 0, ADD(I(0), I(2)), MUL(N(2), I(1)));
    formula_set(&rig, "yx", node_sum(&rig, 2, "j", N(-2), N(3), NULL, read));
    const struct dff_proof *proof = formula_prove(&rig);
    assert_non_null(proof);
    a = proof->access[read->id];
    assert_int_equal(a[0].below, 2);
    assert_int_equal(a[0].above, 2);
    assert_int_equal(a[0].slot[2], 1);
    assert_int_equal(a[1].below, 0);
    assert_true(a[1].above == DFF_FAR);
}

/* The same node in two ranges: what is proved of one place does not hold in the other. */
static void two_places(void **state)
{
    (void)state;
    formula_begin(&rig, "n");
    formula_port(&rig, "v", DF_U8, D(0), NULL, DFF_NONE);
    formula_port(&rig, "o", DF_U8, D(0), NULL, DFF_NONE);
    const struct dff_node *read = node_read(&rig, 0, I(1), NULL);
    const struct dff_node *one = node_sum(&rig, 1, "j", N(0), D(0), NULL, read);
    const struct dff_node *two = node_sum(&rig, 1, "k", N(0), ADD(D(0), N(1)), NULL, read);
    formula_set(&rig, "i", one);
    assert_non_null(formula_prove(&rig));
    formula_set(&rig, "i", ADD(one, two));
    says(formula_prove(&rig), "v[k] reads up to place n");
    formula_set(&rig, "i", ADD(one, node_sum(&rig, 1, "k", N(0), ADD(D(0), N(1)), OP(LT, I(1), D(0)), read)));
    assert_non_null(formula_prove(&rig));
}

/* wrap_u8(j) is j where j < 256 is known, and not where it is not. */
static void affine_everywhere(void **state)
{
    (void)state;
    for (unsigned order = 0; order < 2; order++) {
        formula_begin(&rig, "n");
        formula_port(&rig, "v", DF_U8, N(256), NULL, DFF_NONE);
        formula_port(&rig, "o", DF_U8, D(0), NULL, DFF_NONE);
        const struct dff_node *read = node_read(&rig, 0, node_wrap(&rig, DF_U8, I(0)), NULL);
        const struct dff_node *bound = N(256), *condition = order ? OP(LT, I(0), bound) : OP(GE, I(0), bound);
        formula_set(&rig, "i", CHOOSE(condition, read, ADD(read, N(1))));
        const struct dff_proof *proof = formula_prove(&rig);
        assert_non_null(proof);
        assert_true(proof->access[read->id]->inside);
        assert_false(proof->access[read->id]->affine);
    }
}

/* Without a border a read is proved for what the param is now. With one, what code is made of holds for all values. */
static void params(void **state)
{
    (void)state;
    for (unsigned border = 0; border < 2; border++) {
        formula_begin(&rig, "n");
        formula_port(&rig, "v", DF_U8, D(0), NULL, border ? DFF_MIRROR : DFF_NONE);
        formula_port(&rig, "o", DF_U8, SUB(D(0), N(2)), NULL, DFF_NONE);
        const struct dff_node *reach = node_param(&rig, "reach", 2), *read = node_read(&rig, 0, ADD(I(0), reach), NULL);
        formula_set(&rig, "i", read);
        const struct dff_proof *proof = formula_prove(&rig);
        assert_non_null(proof);
        const struct dff_access *a = proof->access[read->id];
        assert_int_equal(a->inside, border == 0);
        assert_false(a->affine);
        assert_true(a->above == (border ? DFF_FAR : 0));
        ((struct dfc_param *)rig.unit.param_items.items)->value.n.i = 3;
        if (border)
            assert_non_null(formula_prove(&rig));
        else
            says(formula_prove(&rig), "v[i + reach] reads up to place n, but the places of 'v' end at n - 1, with reach = 3");
    }
}

/* Sums that go around at 2^32: conditions and divisions see what is left of them, and so does the proof. */
static void wraps(void **state)
{
    (void)state;
    formula_begin(&rig, "n");           /* 2 * i < n ? v[2 * i] : 0: true for i = 2^30, where 2 * i is -2^31 */
    formula_port(&rig, "v", DF_U8, D(0), NULL, DFF_NONE);
    formula_port(&rig, "o", DF_U8, D(0), NULL, DFF_NONE);
    const struct dff_node *twice = MUL(N(2), I(0));
    formula_set(&rig, "i", CHOOSE(OP(LT, twice, D(0)), node_read(&rig, 0, twice, NULL), N(0)));
    assert_int_equal(formula_prove(&rig)->max_extent, DFF_SMALL_EXTENT);
    formula_begin(&rig, "n");           /* i * 65536 * 65536 is 0, but i * 65536 / 65536 is not i */
    formula_port(&rig, "v", DF_U8, D(0), NULL, DFF_NONE);
    formula_port(&rig, "o", DF_U8, D(0), NULL, DFF_NONE);
    const struct dff_node *shifted = OP(DIV, MUL(I(0), N(65536)), N(65536));
    formula_set(&rig, "i", node_read(&rig, 0, shifted, NULL));
    says(formula_prove(&rig), "cannot show that i * 65536 / 65536 >= 0");
    formula_begin(&rig, "n");           /* abs() of the least i32 is itself */
    formula_port(&rig, "g", DF_I32, D(0), NULL, DFF_NONE);
    formula_port(&rig, "v", DF_U8, N(256), NULL, DFF_NONE);
    formula_port(&rig, "o", DF_U8, D(0), NULL, DFF_NONE);
    const struct dff_node *size = OP(MIN, OP(ABS, node_read(&rig, 0, I(0), NULL), NULL), N(255));
    formula_set(&rig, "i", node_read(&rig, 1, size, NULL));
    says(formula_prove(&rig), "cannot show that min(abs(g[i]), 255) >= 0");
}

static int close_rig(void **state)
{
    (void)state;
    formula_close(&rig);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_index), cmocka_unit_test(strides_and_windows), cmocka_unit_test(elements_that_are_numbered_row_by_row), cmocka_unit_test(conditions),
        cmocka_unit_test(clamped), cmocka_unit_test(gathers), cmocka_unit_test(too_far), cmocka_unit_test(reach),
        cmocka_unit_test(affine_everywhere), cmocka_unit_test(params), cmocka_unit_test(wraps),
        cmocka_unit_test(two_places),
    };
    int failed = cmocka_run_group_tests_name("proofs", tests, NULL, close_rig);
    return failed + cmocka_run_group_tests_name("proofs whose sites have one hash", tests, begin_colliding, close_rig);
}
