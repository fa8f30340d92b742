/* hidden.c - makes the values of params and args used in formulas, for names.c.
 *
 * A param with a value is an exact constant. A dynamic param, or an arg, has its value only when the program starts:
 * the kernel then gets a hidden scalar after those of its signature. Calls do not pass it; its value is the param or
 * arg itself.
 */
#include <string.h>

#include "compiler/formula/build.h"

static const struct dfl_expr *make_name(struct dff_build *b, const char *name, struct dfl_loc loc)
{
    struct dfl_expr *e = dfc_alloc(b->u, sizeof *e);
    if (e)
        *e = (struct dfl_expr){ .kind = DFL_EXPR_NAME, .loc = loc, .s = name };
    return e;
}

/* The lists grow by one: they are short, and live as long as the unit. */
static bool append(struct dff_build *b, const struct dfl_expr *e, const struct dfc_param *param,
                   enum dfl_scalar type)
{
    struct dfc_sig *sig = &b->callee->sig;
    const unsigned n = sig->n_scalars, n_hidden = n - sig->n_given;
    const struct dfl_scalar_decl **scalars = dfc_alloc(b->u, (n + 1) * sizeof *scalars);
    struct dfc_hidden *hidden = dfc_alloc(b->u, (n_hidden + 1) * sizeof *hidden);
    struct dfl_scalar_decl *decl = dfc_alloc(b->u, sizeof *decl);
    const struct dfl_expr *value = make_name(b, param->decl->name.text, e->loc);
    if (!scalars || !hidden || !decl || !value)
        return false;
    if (n)
        memcpy(scalars, sig->scalars, n * sizeof *scalars);
    if (n_hidden)
        memcpy(hidden, sig->hidden, n_hidden * sizeof *hidden);
    *decl = (struct dfl_scalar_decl){ .name = { param->decl->name.text, e->loc }, .type = type, .loc = e->loc };
    scalars[n] = decl;
    hidden[n_hidden] = (struct dfc_hidden){ .value = value, .is_arg = param->arg != DF_NONE };
    sig->scalars = scalars;
    sig->hidden = hidden;
    sig->n_scalars++;
    return true;
}

static bool scalar(struct dff_build *b, const struct dfl_expr *e, const struct dfc_param *param, enum dfl_scalar type,
                   enum dff_type node_type, struct dff_value *v)
{
    struct dfc_sig *sig = &b->callee->sig;
    const struct dfl_name name = { param->decl->name.text, e->loc };
    unsigned s = sig->n_given;
    while (s < sig->n_scalars && strcmp(sig->scalars[s]->name.text, name.text) != 0)
        s++;
    if (s == sig->n_scalars && dfc_name_reserved(b->u, "scalar", &name)) {
        dfl_hint(b->u->sink, "what a formula names and what is known at start is a scalar of the kernel: give %s '%s' "
                 "another name", param->arg == DF_NONE ? "param" : "arg", e->s);
        return false;
    }
    if (s == sig->n_scalars && !append(b, e, param, type))
        return false;
    return dff_value_node(v, dff_leaf(b, DFF_SCALAR, node_type, s, e->loc), param->arg == DF_NONE);
}

static bool arg(struct dff_build *b, const struct dfl_expr *e, const struct dfc_param *param, struct dff_value *v)
{
    static const enum dff_type types[] = { [DFL_I32] = DFF_I32, [DFL_I64] = DFF_I64, [DFL_F32] = DFF_F32,
                                           [DFL_F64] = DFF_F64 };
    if (param->decl->scalar != DFL_STRING)
        return scalar(b, e, param, param->decl->scalar, types[param->decl->scalar], v);
    dfl_error(b->u->sink, e->loc, "arg '%s' is a string, and formulas compute with numbers", e->s);
    return false;
}

static bool dynamic(struct dff_build *b, const struct dfl_expr *e, const struct dfc_param *param, struct dff_value *v)
{
    const struct df_number *n = &param->value.n;
    if (n->kind == DF_KIND_F64)
        return scalar(b, e, param, DFL_F64, DFF_F64, v);
    if (dff_fits(n, DF_I32))
        return scalar(b, e, param, DFL_I32, DFF_I32, v);
    dfl_error(b->u->sink, e->loc, "param '%s' is %lld, but a dynamic param in a formula is i32", e->s, (long long)n->i);
    return false;
}

bool dff_param(struct dff_build *b, const struct dfl_expr *e, const struct dfc_param *param, struct dff_value *v)
{
    if (!param->ready)
        return false;                   /* reported at its declaration */
    if (param->arg != DF_NONE)
        return arg(b, e, param, v);
    if (param->value.n.kind == DF_KIND_STR) {
        dfl_error(b->u->sink, e->loc, "param '%s' is a string, and formulas compute with numbers", e->s);
        return false;
    }
    if (param->value.dynamic)
        return dynamic(b, e, param, v);
    return param->value.n.kind == DF_KIND_I64 ? dff_exact_int(v, param->value.n.i)
                                              : dff_exact_float(b, v, param->value.n.f, e->loc);
}
