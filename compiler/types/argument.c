/* argument.c - checks the expressions among the arguments of an existing C function, for declare/check_kernel.c and
 * elab/to_builder.c, and generates the C that computes them, for compiler/emit (argument.h).
 *
 * Checks:   at the declaration, for all values; at each use, with that use's dimensions. Scalars have no value at
 *           either time, so the program itself checks what depends on them when the job runs.
 * C:        each operation that can fail calls a helper that works in 64 bits. && and || are C's own, so they
 *           short-circuit.
 */
#include "compiler/types/argument.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- checks ---- */

bool dfc_argument_is_name(const struct dfc_sig *sig, const struct dfl_expr *arg)
{
    if (arg->kind != DFL_EXPR_NAME)
        return false;
    for (unsigned i = 0; i < sig->n_ports; i++)
        if (strcmp(sig->ports[i].ast->name.text, arg->s) == 0)
            return true;
    for (unsigned i = 0; i < sig->n_variables; i++)
        if (strcmp(sig->variables[i].name.text, arg->s) == 0)
            return true;
    for (unsigned i = 0; i < sig->n_scalars; i++)
        if (strcmp(sig->scalars[i]->name.text, arg->s) == 0)
            return true;
    return strcmp(arg->s, "call") == 0 || strcmp(arg->s, "stream") == 0;
}

bool dfc_argument_check(struct dfc_unit *u, const struct dfc_callee *callee, const struct dfl_expr *arg)
{
    const struct dfc_names names = { .use = DFC_USE_ARGUMENT, .callee = callee };
    struct dfc_value value;
    return dfc_fold(u, &names, arg, &value);
}

static bool check_variant(struct dfc_unit *u, const struct dfc_callee *callee, const struct dfl_variant *variant,
                          const uint64_t *dims)
{
    const struct dfc_names names = { .use = DFC_USE_ARGUMENT, .callee = callee, .dims = dims };
    struct dfc_value value;
    for (const struct dfl_expr *arg = variant ? variant->args : NULL; arg; arg = arg->next)
        if (!dfc_argument_is_name(&callee->sig, arg) && !dfc_fold(u, &names, arg, &value))
            return false;
    return true;
}

bool dfc_arguments_check_use(struct dfc_unit *u, const struct dfl_stmt *stmt, const struct dfc_callee *callee,
                             const uint64_t *dims)
{
    const struct dfc_kernel_code *code = (const struct dfc_kernel_code *)u->kernels.items + callee->id;
    if (check_variant(u, callee, code->cpu, dims) && check_variant(u, callee, code->gpu, dims) && check_variant(u, callee, code->opencl, dims))
        return true;
    dfl_note(u->sink, stmt->call_loc, "in this use of '%s'", callee->name);
    return false;
}

/* ---- as C ---- */

/* Their own names begin with df_, because a user's file may define any other as a macro. */
const char dfc_argument_prelude[] =
    "static inline int64_t df_written_add(int64_t df_a, int64_t df_b, int *df_bad)\n"
    "{ int64_t df_v; *df_bad |= __builtin_add_overflow(df_a, df_b, &df_v); return df_v; }\n"
    "static inline int64_t df_written_sub(int64_t df_a, int64_t df_b, int *df_bad)\n"
    "{ int64_t df_v; *df_bad |= __builtin_sub_overflow(df_a, df_b, &df_v); return df_v; }\n"
    "static inline int64_t df_written_mul(int64_t df_a, int64_t df_b, int *df_bad)\n"
    "{ int64_t df_v; *df_bad |= __builtin_mul_overflow(df_a, df_b, &df_v); return df_v; }\n"
    "static inline int64_t df_written_div(int64_t df_a, int64_t df_b, int *df_bad)\n"
    "{ *df_bad |= df_b == 0; return df_b == 0 ? 0 : df_b == -1 ? df_written_sub(0, df_a, df_bad) : df_a / df_b; }\n"
    "static inline int64_t df_written_mod(int64_t df_a, int64_t df_b, int *df_bad)\n"
    "{ *df_bad |= df_b == 0; return df_b == 0 || df_b == -1 ? 0 : df_a % df_b; }\n"
    "static inline int64_t df_written_min(int64_t df_a, int64_t df_b) { return df_a < df_b ? df_a : df_b; }\n"
    "static inline int64_t df_written_max(int64_t df_a, int64_t df_b) { return df_a > df_b ? df_a : df_b; }\n";

static void print_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        bool plain = *at >= 0x20 && *at < 0x7f && *at != '"' && *at != '\\' && *at != '?';
        fprintf(out, plain ? "%c" : "\\%03o", *at);
    }
    fputc('"', out);
}

static void print_real(FILE *out, double f)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", f);
    if (!isfinite(f))
        fputs(isnan(f) ? "__builtin_nan(\"\")" : f > 0 ? "__builtin_inf()" : "(-__builtin_inf())", out);
    else
        fprintf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

/* An integer is an int if it fits, as in C. */
static void print_known(FILE *out, const struct df_number *n)
{
    if (n->kind == DF_KIND_STR)
        print_text(out, n->s);
    else if (n->kind == DF_KIND_F64)
        print_real(out, n->f);
    else if (n->i == INT64_MIN)
        fputs("(-9223372036854775807LL - 1)", out);
    else
        fprintf(out, "%" PRId64 "%s", n->i, n->i > INT32_MAX || n->i < -INT32_MAX ? "LL" : "");
}

struct printer {
    FILE *out;
    struct dfc_unit *u;
    struct dfc_names names;
};

static void print(const struct printer *p, const struct dfl_expr *e);

static void print_pair(const struct printer *p, const char *before, const struct dfl_expr *a, const char *between,
                       const struct dfl_expr *b, const char *after)
{
    fputs(before, p->out);
    print(p, a);
    fputs(between, p->out);
    print(p, b);
    fputs(after, p->out);
}

static enum df_kind kind_of(const struct printer *p, const struct dfl_expr *e)
{
    struct dfc_value value = { 0 };
    dfc_fold(p->u, &p->names, e, &value);
    return value.n.kind;
}

static void print_binary(const struct printer *p, const struct dfl_expr *e)
{
    static const char *const checked[] = { [DFL_OP_MUL] = "mul", [DFL_OP_DIV] = "div", [DFL_OP_MOD] = "mod",
                                           [DFL_OP_ADD] = "add", [DFL_OP_SUB] = "sub" };
    enum df_kind a = kind_of(p, e->a), b = kind_of(p, e->b);
    char text[40];
    if (a == DF_KIND_STR) {
        snprintf(text, sizeof text, ") %s 0)", dfl_op_name(e->op));
        print_pair(p, "(__builtin_strcmp(", e->a, ", ", e->b, text);
    } else if (e->op >= DFL_OP_LT) {
        snprintf(text, sizeof text, " %s ", dfl_op_name(e->op));
        print_pair(p, "(", e->a, text, e->b, ")");
    } else if (a == DF_KIND_I64 && b == DF_KIND_I64) {
        snprintf(text, sizeof text, "df_written_%s(", checked[e->op]);
        print_pair(p, text, e->a, ", ", e->b, ", &df_bad)");
    } else if (e->op == DFL_OP_MOD) {
        print_pair(p, "__builtin_fmod(", e->a, ", ", e->b, ")");
    } else {
        snprintf(text, sizeof text, " %s (double)", dfl_op_name(e->op));
        print_pair(p, "((double)", e->a, text, e->b, ")");
    }
}

static void print_choice(const struct printer *p, const struct dfl_expr *e)
{
    bool real = false;
    for (const struct dfl_expr *arg = e->args; arg; arg = arg->next)
        real |= kind_of(p, arg) == DF_KIND_F64;
    for (const struct dfl_expr *arg = e->args; arg->next; arg = arg->next)
        fprintf(p->out, "%s%s(", real ? "__builtin_f" : "df_written_", e->s);
    for (const struct dfl_expr *arg = e->args; arg; arg = arg->next) {
        print(p, arg);
        fputs(arg == e->args ? "" : ")", p->out);
        fputs(arg->next ? ", " : "", p->out);
    }
}

static void print(const struct printer *p, const struct dfl_expr *e)
{
    struct dfc_value value = { 0 };
    dfc_fold(p->u, &p->names, e, &value);
    if (value.known) {
        print_known(p->out, &value.n);
    } else if (e->kind == DFL_EXPR_NAME) {
        const char *type = value.n.kind == DF_KIND_I64 ? "(int64_t)" : value.n.kind == DF_KIND_F64 ? "(double)" : "";
        fprintf(p->out, "%s%s", type, e->s);
    } else if (e->kind == DFL_EXPR_UNARY && e->op == DFL_OP_NEG && value.n.kind == DF_KIND_I64) {
        fputs("df_written_sub(0, ", p->out);
        print(p, e->a);
        fputs(", &df_bad)", p->out);
    } else if (e->kind == DFL_EXPR_UNARY) {
        fprintf(p->out, "(%s", dfl_op_name(e->op));
        print(p, e->a);
        fputc(')', p->out);
    } else if (e->kind == DFL_EXPR_BINARY) {
        print_binary(p, e);
    } else {
        print_choice(p, e);
    }
}

const struct dfc_callee *dfc_callee_of(const struct dfc_front *front, const struct dfc_kernel_code *code)
{
    uint32_t id = 0;
    dfc_index_find(&((struct dfc_unit *)front->owner)->callees, code->ast->name.text, &id);
    return &dfc_callees(front->owner)[id];
}

static struct printer printer_of(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code)
{
    return (struct printer){ out, front->owner, { .use = DFC_USE_ARGUMENT, .callee = dfc_callee_of(front, code) } };
}

struct dfc_value dfc_argument_value(const struct dfc_front *front, const struct dfc_kernel_code *code,
                                    const struct dfl_expr *arg)
{
    const struct printer p = printer_of(NULL, front, code);
    struct dfc_value value = { 0 };
    dfc_fold(p.u, &p.names, arg, &value);
    return value;
}

void dfc_argument_print(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                        const struct dfl_expr *arg)
{
    const struct printer p = printer_of(out, front, code);
    print(&p, arg);
}
