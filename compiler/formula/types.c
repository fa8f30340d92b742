/* types.c - finds the common type of operands, and converts values to a type, for all files of the room that build
 * expressions.
 *
 * The types are ordered i32, i64, f32, f64; operands meet in the higher one. Constants made of literals and params
 * adapt: they take the type of the other operand, except that a real constant beside an integer makes both f32.
 */
#include <math.h>

#include "compiler/formula/build.h"

/* ---- types ---- */

enum dff_type dff_promoted(enum df_elem elem)
{
    static const enum dff_type types[] = {
#define DF_ELEMENT(ID, name, type, bytes, least, most, formula, ...) DFF_##formula,
#include "runtime/elements.def"
    };
    return types[elem];
}

const char *dff_type_name(enum dff_type type)
{
    static const char *const names[] = { [DFF_BOOL] = "a truth value", [DFF_I32] = "i32", [DFF_I64] = "i64",
                                         [DFF_F32] = "f32", [DFF_F64] = "f64" };
    return names[type];
}

bool dff_is_real(const struct dff_value *v)
{
    return v->exact ? v->n.kind == DF_KIND_F64 : dff_is_float(v->node->type);
}

enum dff_type dff_own_type(const struct dff_value *v)
{
    if (dff_gives_way(v) && dff_is_real(v))
        return DFF_F32;
    if (v->exact)
        return dff_fits(&v->n, DF_I32) ? DFF_I32 : DFF_I64;
    return v->node->type == DFF_BOOL ? DFF_I32 : v->node->type;
}

/* The type that an adapting value takes beside a value of that type. */
static enum dff_type adapted_type(const struct dff_value *v, enum dff_type type)
{
    return dff_is_real(v) && !dff_is_float(type) ? DFF_F32 : type;
}

enum dff_type dff_common_type(const struct dff_value *x, const struct dff_value *y)
{
    if (dff_gives_way(x) && dff_gives_way(y))
        return dff_is_real(x) || dff_is_real(y) ? DFF_F64 : DFF_I32;
    if (dff_gives_way(x))
        return adapted_type(x, dff_own_type(y));
    if (dff_gives_way(y))
        return adapted_type(y, dff_own_type(x));
    enum dff_type a = dff_own_type(x), b = dff_own_type(y);
    return a > b ? a : b;
}

bool dff_value_node(struct dff_value *v, const struct dff_node *node, bool soft)
{
    *v = (struct dff_value){ .soft = soft, .node = node };
    return node;
}

/* ---- a value in a type ---- */

static void not_in_type(struct dff_build *b, const struct df_number *n, const char *type, struct dfl_loc loc)
{
    if (n->kind == DF_KIND_I64)
        dfl_error(b->u->sink, loc, "%lld does not fit in %s", (long long)n->i, type);
    else
        dfl_error(b->u->sink, loc, "%.9g does not fit in %s", n->f, type);
}

static const struct dff_node *exact_as(struct dff_build *b, const struct dff_value *v, enum dff_type type,
                                       struct dfl_loc loc)
{
    if (dff_is_float(type)) {
        double f = dff_exact_real(v), rounded = type == DFF_F32 ? (double)(float)f : f;
        if (isfinite(rounded))
            return dff_float(b, type, rounded, loc);
        not_in_type(b, &v->n, "f32", loc);
        dfl_hint(b->u->sink, "'f64(...)' around one of the operands makes them f64");
        return NULL;
    }
    if (dff_fits(&v->n, type == DFF_I32 ? DF_I32 : DF_I64))
        return dff_int(b, type, v->n.i, loc);
    not_in_type(b, &v->n, "i32, the type of what it stands beside", loc);
    dfl_hint(b->u->sink, "'i64(...)' around one of the operands makes them i64");
    return NULL;
}

/* What is soft and has a point becomes an f32 where that costs least: in the numbers that a choice is between. */
static const struct dff_node *soft_as_f32(struct dff_build *b, const struct dff_node *node, struct dfl_loc loc)
{
    if (node->kind == DFF_CONST && isfinite((float)node->f))
        return dff_float(b, DFF_F32, (double)(float)node->f, loc);
    if (node->kind != DFF_OP || node->op != DFF_CHOOSE)
        return dff_change(b, DFF_CAST, DFF_F32, 0, node, loc);
    return dff_choose(b, node->args[0], soft_as_f32(b, node->args[1], loc), soft_as_f32(b, node->args[2], loc), loc);
}

const struct dff_node *dff_as(struct dff_build *b, const struct dff_value *v, enum dff_type type, struct dfl_loc loc)
{
    if (v->exact)
        return exact_as(b, v, type, loc);
    if (v->soft && v->node->type == DFF_F64 && type == DFF_F32)
        return soft_as_f32(b, v->node, loc);
    return v->node->type == type ? v->node : dff_change(b, DFF_CAST, type, 0, v->node, loc);
}

const struct dff_node *dff_truth(struct dff_build *b, const struct dff_value *v, struct dfl_loc loc)
{
    if (v->exact)
        return dff_int(b, DFF_BOOL, dff_exact_truth(v), loc);
    const struct dff_node *node = v->node;
    if (node->type == DFF_BOOL)
        return node;
    const struct dff_node *zero = dff_is_float(node->type) ? dff_float(b, node->type, 0, loc)
                                                           : dff_int(b, node->type, 0, loc);
    return dff_binary(b, DFF_BOOL, DFF_NE, node, zero, loc);
}

const struct dff_node *dff_as_index(struct dff_build *b, const struct dff_value *v, const char *what,
                                    struct dfl_loc loc)
{
    if (dff_is_real(v)) {
        dfl_error(b->u->sink, loc, "%s must be an integer, but this is %s", what,
                  v->exact ? "a number with a point" : dff_type_name(v->node->type));
        dfl_hint(b->u->sink, "'i32(...)' rounds to the nearest integer, 'i32(floor(...))' down");
        return NULL;
    }
    if (!v->exact && v->node->type == DFF_I64) {
        dfl_error(b->u->sink, loc, "%s must be i32, but this is i64", what);
        dfl_hint(b->u->sink, "write 'i32(...)': it gives the nearest that i32 has");
        return NULL;
    }
    if (!v->exact || dff_fits(&v->n, DF_I32))
        return dff_as(b, v, DFF_I32, loc);
    dfl_error(b->u->sink, loc, "%s must be i32, but this is %lld", what, (long long)v->n.i);
    return NULL;
}

/* ---- a value in a port ---- */

static const struct dff_node *exact_stored(struct dff_build *b, const struct dff_value *v, enum df_elem elem,
                                           const char *name, struct dfl_loc loc)
{
    const char *type = df_elem_name(elem);
    if (!df_elem_is_float(elem)) {
        if (dff_fits(&v->n, elem))
            return dff_int(b, dff_promoted(elem), v->n.i, loc);
        if (v->n.kind == DF_KIND_I64)
            dfl_error(b->u->sink, loc, "%lld does not fit in '%s', which is %s", (long long)v->n.i, name, type);
        else
            dfl_error(b->u->sink, loc, "'%s' is %s, but %.9g is a number with a point", name, type, v->n.f);
        dfl_hint(b->u->sink, "'%s(...)' gives the nearest that %s has: %lld", type, type,
                 (long long)dff_round_int(&v->n, elem));
        return NULL;
    }
    double f = dff_round_float(dff_exact_real(v), elem);
    if (isfinite(f))
        return dff_float(b, dff_promoted(elem), f, loc);
    not_in_type(b, &v->n, dfc_printf(b->u, "'%s', which is %s", name, type), loc);
    return NULL;
}

const struct dff_node *dff_as_stored(struct dff_build *b, const struct dff_value *v, enum df_elem elem, const char *name,
                                     struct dfl_loc loc)
{
    const enum dff_type want = dff_promoted(elem);
    const char *type = df_elem_name(elem);
    if (v->exact)
        return exact_stored(b, v, elem, name, loc);
    enum dff_type have = v->node->type;
    bool soft_real = v->soft && dff_is_real(v) && dff_is_float(want);
    bool narrow = dff_is_narrow(elem) || (elem == DF_F16 && !soft_real);
    if (soft_real && elem == DF_F16)
        return dff_change(b, DFF_CONVERT, DFF_F32, DF_F16, v->node, loc);
    if ((have <= want || soft_real) && (!narrow || (dff_note_of(b, v->node)->elems >> elem & 1))) {
        if (dff_is_float(want))
            dff_warn_stored_quotient(b, v->node, elem, name);
        return dff_as(b, v, want, loc);
    }
    dfl_error(b->u->sink, loc, "'%s' is %s, but this is %s", name, type, dff_type_name(have));
    if (df_elem_is_float(elem))
        dfl_hint(b->u->sink, "write '%s(...)': it rounds to the nearest that %s has", type, type);
    else
        dfl_hint(b->u->sink, "write '%s(...)': it rounds to the nearest integer, and what %s cannot hold becomes its "
                 "nearest end", type, type);
    return NULL;
}
