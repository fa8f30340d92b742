/* exact.c - exact constants: expressions made only of literals and params, evaluated in i64 or f64 while the formulas
 * are checked, and the limits and rounding of element types. The rest of the room uses both, compiler/generate and
 * compiler/proof the latter.
 *
 * Integers do not wrap: overflow of 64 bits is an error, and a real number must be finite. Otherwise the arithmetic is
 * that of params (runtime/graph/expr.h), extended by what only formulas have: bitwise operators, and integer division
 * by 0, which yields 0.
 */
#include <float.h>
#include <math.h>

#include "compiler/formula/build.h"

bool dff_exact_int(struct dff_value *v, int64_t i)
{
    *v = (struct dff_value){ .exact = true, .n = { .kind = DF_KIND_I64, .i = i } };
    return true;
}

bool dff_exact_float(struct dff_build *b, struct dff_value *v, double f, struct dfl_loc loc)
{
    *v = (struct dff_value){ .exact = true, .n = { .kind = DF_KIND_F64, .f = f } };
    if (isfinite(f))
        return true;
    dfl_error(b->u->sink, loc, "this has no finite value");
    return false;
}

/* ---- operators ---- */

static bool shift(struct dff_build *b, const struct dfl_expr *e, int64_t x, int64_t count, struct dff_value *v)
{
    int64_t moved;
    if (e->op == DFL_OP_SHR)
        return dff_exact_int(v, x >> (count & 63));
    moved = (int64_t)((uint64_t)x << (count & 63));
    if (moved >> (count & 63) == x)
        return dff_exact_int(v, moved);
    dfl_error(b->u->sink, e->loc, "result does not fit in 64 bits");
    return false;
}

static bool bits(struct dff_build *b, const struct dfl_expr *e, int64_t x, int64_t y, struct dff_value *v)
{
    switch (e->op) {
    case DFL_OP_BITAND: return dff_exact_int(v, x & y);
    case DFL_OP_BITOR: return dff_exact_int(v, x | y);
    case DFL_OP_BITXOR: return dff_exact_int(v, x ^ y);
    default: return shift(b, e, x, y, v);
    }
}

static bool from_number(struct dff_build *b, const struct dfl_expr *e, int rc, const struct df_error *error,
                        const struct df_number *n, struct dff_value *v)
{
    if (rc != DF_OK) {
        dfl_error(b->u->sink, e->loc, "%s", error->text);
        return false;
    }
    return n->kind == DF_KIND_I64 ? dff_exact_int(v, n->i) : dff_exact_float(b, v, n->f, e->loc);
}

bool dff_exact_unary(struct dff_build *b, const struct dfl_expr *e, const struct dff_value *x, struct dff_value *v)
{
    struct df_number n;
    struct df_error error;
    if (e->op == DFL_OP_BITNOT)
        return dff_exact_int(v, ~x->n.i);
    return from_number(b, e, df_number_unary(dfc_operator(e->op), x->n, &n, &error), &error, &n, v);
}

bool dff_exact_binary(struct dff_build *b, const struct dfl_expr *e, const struct dff_value *x,
                      const struct dff_value *y, struct dff_value *v)
{
    struct df_number n;
    struct df_error error;
    enum df_x op = dfc_operator(e->op);
    if (op == DF_X_INT)
        return bits(b, e, x->n.i, y->n.i, v);
    if ((op == DF_X_DIV || op == DF_X_MOD) && !dff_is_real(x) && !dff_is_real(y) && y->n.i == 0)
        return dff_exact_int(v, 0);
    return from_number(b, e, df_number_binary(op, x->n, y->n, &n, &error), &error, &n, v);
}

/* ---- element types ---- */

void dff_elem_ends(enum df_elem elem, int64_t *low, int64_t *high)
{
    static const int64_t ends[][2] = {
#define DF_ELEMENT(ID, name, type, bytes, least, most, ...) { least, most },
#include "runtime/elements.def"
    };
    *low = ends[elem][0];
    *high = ends[elem][1];
}

bool dff_is_narrow(enum df_elem elem)
{
    return !df_elem_is_float(elem) && df_elem_bytes(elem) < (dff_promoted(elem) == DFF_I32 ? sizeof(int32_t) : sizeof(int64_t));
}

int64_t dff_wrap_int(int64_t i, enum df_elem elem)
{
    int64_t low, high;
    const unsigned bits = 8 * (unsigned)df_elem_bytes(elem);
    dff_elem_ends(elem, &low, &high);
    const uint64_t kept = bits < 64 ? (uint64_t)i & ((UINT64_C(1) << bits) - 1) : (uint64_t)i;
    return bits < 64 && kept > (uint64_t)high ? (int64_t)kept - (INT64_C(1) << bits) : (int64_t)kept;
}

bool dff_fits(const struct df_number *n, enum df_elem elem)
{
    int64_t low, high;
    dff_elem_ends(elem, &low, &high);
    return n->kind == DF_KIND_I64 && n->i >= low && n->i <= high;
}

/* An f16 has 11 bits, and steps of 2^-24 where it has fewer. Scaled so that a step is 1, a double is rounded once. */
static double round_f16(double f)
{
    int exponent;
    if (f == 0 || !isfinite(f))
        return f;
    frexp(f, &exponent);
    int step = exponent - 11 < -24 ? -24 : exponent - 11;
    double rounded = ldexp(nearbyint(ldexp(f, -step)), step);
    return fabs(rounded) > 65504.0 ? copysign(INFINITY, f) : rounded;
}

double dff_round_float(double f, enum df_elem elem)
{
    return elem == DF_F16 ? round_f16(f) : elem == DF_F32 ? (double)(float)f : f;
}

int64_t dff_round_int(const struct df_number *n, enum df_elem elem)
{
    int64_t low, high;
    dff_elem_ends(elem, &low, &high);
    if (n->kind == DF_KIND_I64)
        return n->i < low ? low : n->i > high ? high : n->i;
    double f = nearbyint(n->f);
    return !(f > (double)low) ? low : !(f < (double)high) ? high : (int64_t)f;
}
