/* value.c - values of expressions (numbers, types without a value, postfix code over args), and their conversion to the
 * type of a scalar, for fold.c and the rooms that declare and elaborate.
 */
#include <string.h>

#include "compiler/types/fold.h"
#include "dsl/parse.h"
#include "runtime/graph/builder.h"

/* ---- constants and code ---- */

struct dfc_value dfc_value_unknown(enum df_kind kind)
{
    return (struct dfc_value){ .n = { .kind = kind, .i = 1, .f = 1.0, .s = "" } };
}

struct dfc_value dfc_value_integer(int64_t i)
{
    return (struct dfc_value){ .known = true, .n = { .kind = DF_KIND_I64, .i = i } };
}

struct dfc_value dfc_value_real(double f)
{
    return (struct dfc_value){ .known = true, .n = { .kind = DF_KIND_F64, .f = f } };
}

static unsigned code_words(const struct dfc_value *v)
{
    return v->known ? 2 : v->n_code;
}

static bool put_code(struct dfc_unit *u, uint64_t *to, const struct dfc_value *v)
{
    if (!v->known) {
        memcpy(to, v->code, v->n_code * sizeof *to);
        return true;
    }
    switch (v->n.kind) {
    case DF_KIND_I64:
        to[0] = DF_X_INT;
        to[1] = (uint64_t)v->n.i;
        return true;
    case DF_KIND_F64:
        to[0] = DF_X_FLOAT;
        memcpy(to + 1, &v->n.f, sizeof *to);
        return true;
    case DF_KIND_STR:
        to[0] = DF_X_STR;
        to[1] = df_builder_string(u->builder, v->n.s);
        return to[1] != DF_NONE || dfc_no_memory(u);
    }
    return false;
}

bool dfc_value_join(struct dfc_unit *u, struct dfl_loc loc, enum df_x op, const struct dfc_value *a,
                      const struct dfc_value *b, struct dfc_value *value)
{
    unsigned na = code_words(a), nb = b ? code_words(b) : 0;
    if (!na || (b && !nb))
        return true;
    unsigned sa = a->known ? 1 : a->stack, sb = !b ? 0 : 1 + (b->known ? 1 : b->stack);
    value->stack = sa > sb ? sa : sb;
    value->n_code = na + nb + 1;
    if (value->n_code > DFC_MAX_CODE || value->stack > DF_EXPR_STACK) {
        dfl_error(u->sink, loc, "expression over args is too long");
        return false;
    }
    uint64_t *code = dfc_alloc(u, value->n_code * sizeof *code);
    if (!code || !put_code(u, code, a) || (b && !put_code(u, code + na, b)))
        return false;
    code[na + nb] = op;
    value->code = code;
    return true;
}

/* ---- scalars ---- */

enum df_scalar_type dfc_scalar_type(enum dfl_scalar type)
{
    switch (type) {
    case DFL_I32: return DF_S_I32;
    case DFL_I64: return DF_S_I64;
    case DFL_F32: return DF_S_F32;
    case DFL_F64: return DF_S_F64;
    case DFL_STRING: return DF_S_STR;
    }
    return DF_S_I64;
}

enum df_kind dfc_scalar_kind(enum dfl_scalar type)
{
    return type == DFL_STRING ? DF_KIND_STR : type == DFL_F32 || type == DFL_F64 ? DF_KIND_F64 : DF_KIND_I64;
}

bool dfc_convert(struct dfc_unit *u, struct dfl_loc loc, const char *what, enum dfl_scalar type,
                 struct dfc_value *value)
{
    static const char *const kinds[] = { "an integer", "a floating-point number", "a string" };
    enum df_kind want = dfc_scalar_kind(type);
    struct df_error error;
    union df_scalar scalar;
    bool strings = value->n.kind == DF_KIND_STR || want == DF_KIND_STR;
    if ((strings && value->n.kind != want) || (!value->known && want == DF_KIND_I64 && value->n.kind == DF_KIND_F64)) {
        dfl_error(u->sink, loc, "%s must be %s, but this is %s", what, dfl_scalar_name(type), kinds[value->n.kind]);
        if (strings)
            dfl_hint(u->sink, want == DF_KIND_STR ? "a text stands in quotes: '\"2\"'" : "a number stands without quotes: '2'");
        return false;
    }
    if (value->known) {
        if (df_number_to_scalar(value->n, dfc_scalar_type(type), &scalar, &error) != DF_OK) {
            dfl_error(u->sink, loc, "%s is %s: %s", what, dfl_scalar_name(type), error.text);
            return false;
        }
        value->n = df_scalar_to_number(scalar, dfc_scalar_type(type));
        return true;
    }
    if (want != value->n.kind && value->n_code) { /* an i64 that becomes an f64 is multiplied by 1.0 */
        const struct dfc_value one = dfc_value_real(1.0), from = *value;
        value->n = dfc_value_unknown(DF_KIND_F64).n;
        return dfc_value_join(u, loc, DF_X_MUL, &from, &one, value);
    }
    value->n = dfc_value_unknown(want).n;
    return true;
}
