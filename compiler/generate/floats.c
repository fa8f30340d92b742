/* floats.c - range analysis for floats, for analyse.c, where the formula implies bounds, as in clamp(v, 0, 1).
 * Converting such a float to an integer needs no clamping and no NaN test, and the integer has bounds, too.
 *
 * Bounds are computed by the operation itself, since rounding is monotonic. A bound of an f32 is computed in f64, whose
 * double rounding may err inwards, so it is widened first.
 */
#include "compiler/generate/gen.h"

#include <math.h>

static void set(struct dfg_fact *f, double least, double most)
{
    f->is_number = true;
    f->least = least;
    f->most = most;
}

static double outwards(double end, double to)
{
    return (float)end == end ? end : (double)(float)nextafter(end, to);
}

/* The ends of what an operation gives. Infinite ones are none: a later difference of them may be NaN. */
static void set_computed(struct dfg_fact *f, enum dff_type type, double least, double most)
{
    if (type == DFF_F32) {
        least = outwards(least, -INFINITY);
        most = outwards(most, INFINITY);
    }
    if (isfinite(least) && isfinite(most))
        set(f, least, most);
}

static bool is_finite(const struct dfg_fact *f)
{
    return f->is_number && isfinite(f->least) && isfinite(f->most);
}

static double apply(enum dff_op op, double a, double b)
{
    return op == DFF_ADD ? a + b : op == DFF_SUB ? a - b : op == DFF_MUL ? a * b : a / b;
}

/* + - * / have their ends at ends of the operands. */
static void span_of_corners(struct dfg_fact *f, const struct dff_node *n, const struct dfg_fact *a, const struct dfg_fact *b)
{
    double least = INFINITY, most = -INFINITY;
    if (!is_finite(a) || !is_finite(b) || (n->op == DFF_DIV && b->least <= 0 && b->most >= 0))
        return;
    for (int i = 0; i < 4; i++) {
        double v = apply(n->op, i & 1 ? a->most : a->least, i & 2 ? b->most : b->least);
        least = fmin(least, v);
        most = fmax(most, v);
    }
    set_computed(f, n->type, least, most);
}

/* `a < b ? a : b` and `a > b ? a : b` are b if a is NaN. */
static void span_of_order(struct dfg_fact *f, enum dff_op op, const struct dfg_fact *a, const struct dfg_fact *b)
{
    double least = a->is_number ? a->least : -INFINITY, most = a->is_number ? a->most : INFINITY;
    if (!b->is_number)
        return;
    if (op == DFF_MIN)
        set(f, fmin(least, b->least), a->is_number ? fmin(most, b->most) : b->most);
    else
        set(f, a->is_number ? fmax(least, b->least) : b->least, fmax(most, b->most));
}

static void span_of_op(struct dfg_fact *f, const struct dfg_gen *g, const struct dff_node *n)
{
    const struct dfg_fact *a = &g->facts[n->args[0]->id], *b = n->n_args > 1 ? &g->facts[n->args[1]->id] : NULL,
                          *c = n->n_args > 2 ? &g->facts[n->args[2]->id] : NULL;
    switch (n->op) {
    case DFF_ADD: case DFF_SUB: case DFF_MUL: case DFF_DIV: span_of_corners(f, n, a, b); return;
    case DFF_MIN: case DFF_MAX: span_of_order(f, n->op, a, b); return;
    case DFF_CHOOSE:
        if (b->is_number && c->is_number)
            set(f, fmin(b->least, c->least), fmax(b->most, c->most));
        return;
    default: break;
    }
    if (!a->is_number)
        return;
    switch (n->op) {
    case DFF_NEG: set(f, -a->most, -a->least); break;
    case DFF_ABS:
        set(f, a->least > 0 ? a->least : a->most < 0 ? -a->most : 0, fmax(fabs(a->least), fabs(a->most)));
        break;
    case DFF_SQRT:
        if (a->least >= 0)
            set_computed(f, n->type, sqrt(a->least), sqrt(a->most));
        break;
    case DFF_FLOOR: set(f, floor(a->least), floor(a->most)); break;
    case DFF_CEIL: set(f, ceil(a->least), ceil(a->most)); break;
    case DFF_ROUND: set(f, round(a->least), round(a->most)); break;
    case DFF_TRUNC: set(f, trunc(a->least), trunc(a->most)); break;
    default: break;
    }
}

static void span_of_table(struct dfg_fact *f, const struct dff_table *table)
{
    double least = INFINITY, most = -INFINITY;
    uint64_t n = 1;
    for (unsigned d = 0; d < table->rank; d++)
        n *= table->extents[d];
    for (uint64_t i = 0; i < n; i++) {
        if (!isfinite(table->f[i]))
            return;
        least = fmin(least, table->f[i]);
        most = fmax(most, table->f[i]);
    }
    set(f, least, most);
}

/* Of i64 more than DFG_FAR is not followed, and that is beyond what counts here, too. */
static void span_of_other_type(struct dfg_fact *f, const struct dff_node *n, const struct dfg_fact *a)
{
    const int64_t far = (int64_t)1 << 53;
    const bool is_float = n->args[0]->type == DFF_F32 || n->args[0]->type == DFF_F64;
    if (n->kind == DFF_CONVERT && n->elem == DF_F16)
        return;
    if (is_float ? a->is_number : a->low > -far && a->high < far)
        set_computed(f, n->type, is_float ? a->least : (double)a->low, is_float ? a->most : (double)a->high);
}

void dfg_float_span(struct dfg_gen *g, const struct dff_node *n)
{
    struct dfg_fact *f = &g->facts[n->id];
    f->is_number = false;
    switch (n->kind) {
    case DFF_CONST: set_computed(f, n->type, n->f, n->f); break;
    case DFF_TABLE: span_of_table(f, g->kernel->tables[n->number]); break;
    case DFF_OP: span_of_op(f, g, n); break;
    case DFF_CONVERT: case DFF_CAST: span_of_other_type(f, n, &g->facts[n->args[0]->id]); break;
    default: break;
    }
}
