/* expr.c - prints the C expression of one value, and the blocks, loops, names and types around it, for all files of the
 * room. A node that is used once is printed inline; others become temporaries.
 */
#include "compiler/generate/gen.h"
#include "compiler/types/paths.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LONG_TEXT 100                   /* a longer one becomes a temporary */

/* ---- names ---- */

const char *dfg_type(enum dff_type type)
{
    static const char *const names[] = { "int", "int32_t", "int64_t", "float", "double" };
    return names[type];
}

unsigned dfg_type_bytes(enum dff_type type)
{
    return type == DFF_I64 || type == DFF_F64 ? 8 : 4;
}

const char *dfg_type_name(enum dff_type type)
{
    static const char *const names[] = { "i32", "i32", "i64", "f32", "f64" };
    return names[type];
}

const char *dfg_port_name(const struct dfg_gen *g, unsigned port)
{
    return g->kernel->ports[port].ast->name.text;
}

const char *dfg_dim_name(const struct dfg_gen *g, unsigned dim)
{
    return g->kernel->callee->sig.variables[dim].name.text;
}

const char *dfg_scalar_name(const struct dfg_gen *g, unsigned scalar)
{
    return g->kernel->callee->sig.scalars[scalar]->name.text;
}

/* ---- text ---- */

const char *dfg_printf(struct dfg_gen *g, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *text = n >= 0 ? dfl_arena_text(g->arena, (size_t)n) : NULL;
    if (text)
        vsnprintf(text, (size_t)n + 1, format, again);
    else
        g->failed = true;
    va_end(args);
    va_end(again);
    return text ? text : "";
}

const char *dfg_within(struct dfg_gen *g, struct dfg_text text, unsigned level)
{
    return text.level <= level ? text.c : dfg_printf(g, "(%s)", text.c);
}

/* The shortest digits that give the same number. */
static const char *float_text(struct dfg_gen *g, enum dff_type type, double f)
{
    char digits[40];
    bool single = type == DFF_F32;
    for (int n = 1; n <= 17; n++) {
        snprintf(digits, sizeof digits, "%.*g", n, f);
        if (single ? strtof(digits, NULL) == (float)f : strtod(digits, NULL) == f)
            break;
    }
    bool whole = !strpbrk(digits, ".e");
    return dfg_printf(g, "%s%s%s", digits, whole ? ".0" : "", single ? "f" : "");
}

struct dfg_text dfg_number(struct dfg_gen *g, enum dff_type type, int64_t i, double f)
{
    const char *text;
    bool minus = dfg_is_int(type) ? i < 0 : __builtin_signbit(f) != 0;
    if (type == DFF_I64 && i == INT64_MIN)
        text = "DF_LEAST_I64";
    else if (type == DFF_I64)
        text = dfg_printf(g, "DF_LONG(%" PRId64 ")", i);
    else if (type == DFF_I32 && i == INT32_MIN)
        text = "-2147483647 - 1";
    else if (type == DFF_I32 || type == DFF_BOOL)
        text = dfg_printf(g, "%" PRId64, i);
    else if (f != f || f - f != 0)
        text = f != f ? "__builtin_nan(\"\")" : f > 0 ? "__builtin_inf()" : "-__builtin_inf()";
    else
        text = float_text(g, type, f);
    return (struct dfg_text){ text, strchr(text + minus, ' ') ? DFG_PLUS : minus ? DFG_UNARY : DFG_ATOM };
}

/* ---- blocks ---- */

bool dfg_open(struct dfg_gen *g, struct dfg_block *block, int slot, const char *name)
{
    *block = (struct dfg_block){ .outer = g->block, .slot = slot, .name = name,
                                 .depth = g->block ? g->block->depth + 1 : 1 };
    block->temporaries = calloc(g->kernel->n_nodes + 1u, sizeof *block->temporaries);
    block->out = open_memstream(&block->bytes, &block->size);
    g->failed |= !block->out || !block->temporaries;
    g->block = block;
    return !g->failed;
}

bool dfg_open_shared(struct dfg_gen *g, struct dfg_block *block, int slot, const char *name)
{
    *block = (struct dfg_block){ .outer = g->block, .slot = slot, .is_shared = true, .name = name,
                                 .depth = g->block->depth, .out = g->block->out };
    block->temporaries = calloc(g->kernel->n_nodes + 1u, sizeof *block->temporaries);
    g->failed |= !block->temporaries;
    g->block = block;
    return !g->failed;
}

bool dfg_open_number(struct dfg_gen *g, struct dfg_block *block, int slot, int64_t number)
{
    bool good = dfg_open_shared(g, block, slot, NULL);
    block->is_number = true;
    block->number = number;
    return good;
}

static void indent(const struct dfg_block *block, unsigned more)
{
    for (unsigned i = 0; i < block->depth + more; i++)
        fputs("    ", block->out);
}

void dfg_line_of(struct dfg_gen *g, const struct dfg_block *block, const struct dfl_loc *loc)
{
    if (loc && g->sink)
        dfc_emit_line(block->out, loc->line, dfl_sink_file_name(g->sink, loc->file));
}

void dfg_line_own(struct dfg_gen *g, const struct dfg_block *block)
{
    if (g->sink)
        fprintf(block->out, "%c\n", DFG_OWN_LINE);
}

void dfg_close(struct dfg_gen *g, struct dfg_block *block, const char *head)
{
    g->block = block->outer;
    free(block->temporaries);
    if (block->is_shared)
        return;
    g->failed |= !block->out || fclose(block->out) != 0;
    if (!g->failed && block->outer) {
        dfg_line_of(g, block->outer, block->loc);
        indent(block->outer, 0);
        fprintf(block->outer->out, "%s {\n", head);
        if (block->loc)
            dfg_line_own(g, block->outer);
        fputs(block->bytes, block->outer->out);
        indent(block->outer, 0);
        fputs("}\n", block->outer->out);
    }
    if (block->outer) {
        free(block->bytes);
        block->bytes = NULL;
    }
}

void dfg_drop(struct dfg_gen *g, struct dfg_block *block)
{
    struct dfg_block *outer = block->outer;
    block->outer = NULL; /* so that its text is not printed there */
    dfg_close(g, block, "");
    free(block->bytes);
    g->block = outer;
}

void dfg_line(struct dfg_gen *g, const struct dfg_block *block, const char *format, ...)
{
    if (g->failed)
        return;
    va_list args;
    va_start(args, format);
    indent(block, 0);
    vfprintf(block->out, format, args);
    fputc('\n', block->out);
    va_end(args);
}

struct dfg_block *dfg_block_of(const struct dfg_gen *g, uint32_t slots)
{
    struct dfg_block *block = g->block;
    while (block->outer && !(block->slot >= 0 && slots >> block->slot & 1))
        block = block->outer;
    return block;
}

bool dfg_open_columns(struct dfg_gen *g, struct dfg_block *loop)
{
    const bool phases = g->mode == DFG_MAIN && g->stage.phases;
    bool good = dfg_open(g, loop, g->column, phases ? dfg_new_name(g) : g->formula->names[g->column]);
    loop->is_column = true;
    loop->is_long = dfg_has_many_columns(g);
    return good;
}

bool dfg_open_phase(struct dfg_gen *g, struct dfg_block *block, struct dfg_block *loop, int64_t phase)
{
    const bool good = dfg_open_shared(g, block, g->column, loop->name);
    block->times = block->modulus = g->stage.phases;
    block->shift = block->residue = phase;
    return good;
}

void dfg_close_columns(struct dfg_gen *g, struct dfg_block *loop, const char *from, const char *to)
{
    const char *x = loop->name, *count = "";
    if (loop->counter) {
        dfg_line(g, loop->outer, "int32_t %s = (int32_t)%s;", loop->counter, strchr(from, ' ') ? dfg_printf(g, "(%s)", from) : from);
        count = dfg_printf(g, ", %s++", loop->counter);
    }
    dfg_close(g, loop, dfg_printf(g, "for (int64_t %s = %s; %s < %s; %s++%s)", x, from, x, to, x, count));
}

const char *dfg_new_name(struct dfg_gen *g)
{
    return dfg_printf(g, "%s%u", g->prefix, g->n_temporaries++);
}

/* ---- operators ---- */

static struct dfg_text call(struct dfg_gen *g, const struct dff_node *n, const char *function, enum dff_type type)
{
    const char *text = dfg_printf(g, "df_%s_%s(", function, dfg_type_name(type));
    for (uint32_t k = 0; k < n->n_args; k++)
        text = dfg_printf(g, "%s%s%s", text, k ? ", " : "", dfg_value(g, n->args[k]).c);
    return (struct dfg_text){ dfg_printf(g, "%s)", text), DFG_ATOM };
}

const char *dfg_order_type(const struct dfg_gen *g, enum dff_type type, const struct dff_node *const *values, uint32_t n)
{
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (uint32_t k = 0; k < n; k++) {
        const struct dfg_fact *f = &g->facts[values[k]->id];
        low = f->low < low ? f->low : low;
        high = f->high > high ? f->high : high;
    }
    if (g->gpu || type != DFF_I32 || low < 0 || low > high || high > UINT16_MAX)
        return dfg_type_name(type);
    return high <= UINT8_MAX ? "u8" : "u16";
}

/* Is one never below the other? A bound that is not followed says nothing. */
static bool is_ordered(const struct dfg_fact *low, const struct dfg_fact *high)
{
    return low->low <= low->high && high->low <= high->high && low->high <= high->low && low->high < DFG_FAR && high->low > -DFG_FAR;
}

/* Of integers that are in order already it is the first: max(u8 of something, 0). */
static struct dfg_text lesser(struct dfg_gen *g, const struct dff_node *n, const char *function)
{
    const char *type = dfg_order_type(g, n->type, n->args, 2);
    const struct dfg_fact *of = &g->facts[n->args[0]->id], *than = &g->facts[n->args[1]->id];
    if (dfg_is_int(n->type) && (n->op == DFF_MAX ? is_ordered(than, of) : is_ordered(of, than)))
        return dfg_value(g, n->args[0]);
    const char *a = dfg_value(g, n->args[0]).c, *b = dfg_value(g, n->args[1]).c;
    return (struct dfg_text){ dfg_printf(g, "df_%s_%s(%s, %s)", function, type, a, b), DFG_ATOM };
}

static struct dfg_text infix(struct dfg_gen *g, const struct dff_node *n, const char *op, unsigned level)
{
    unsigned operands = level >= DFG_COMPARE ? DFG_ATOM : level;
    struct dfg_text a = dfg_value(g, n->args[0]), b = dfg_value(g, n->args[1]);
    const char *left = dfg_within(g, a, level == DFG_COMPARE ? DFG_PLUS : operands),
               *right = dfg_within(g, b, level == DFG_COMPARE ? DFG_PLUS : operands ? operands - 1 : DFG_ATOM);
    return (struct dfg_text){ dfg_printf(g, "%s %s %s", left, op, right), level };
}

static bool is_real(const struct dff_node *n)
{
    return n->type == DFF_F32 || n->type == DFF_F64;
}

/* In CUDA code one operand of a comparison of reals is hidden from nvcc (df_opaque_f32() in df_formula.h). That operand is not a
 * constant, of which nvcc would know the value anyway, and it is a real. */
static struct dfg_text comparison(struct dfg_gen *g, const struct dff_node *n, const char *op)
{
    const unsigned opaque = n->args[0]->kind == DFF_CONST || !is_real(n->args[0]);
    if (!g->gpu || !is_real(n->args[opaque]))
        return infix(g, n, op, DFG_COMPARE);
    const char *sides[2];
    for (unsigned k = 0; k < 2; k++) {
        struct dfg_text text = dfg_value(g, n->args[k]);
        sides[k] = k == opaque ? dfg_printf(g, "df_opaque_%s(%s)", dfg_type_name(n->args[k]->type), text.c) : dfg_within(g, text, DFG_PLUS);
    }
    return (struct dfg_text){ dfg_printf(g, "%s %s %s", sides[0], op, sides[1]), DFG_COMPARE };
}

/* Does the exact result always fit, so that C's own operator does? */
static bool fits(const struct dfg_gen *g, const struct dff_node *n)
{
    const struct dfg_fact *f = &g->facts[n->id];
    return n->type == DFF_I32 && (f->low > INT32_MIN || f->high < INT32_MAX);
}

static bool is_zero(const struct dfg_gen *g, const struct dff_node *n, bool minus)
{
    while ((n->kind == DFF_CONVERT || n->kind == DFF_CAST) && is_real(n) && is_real(n->args[0]))
        n = n->args[0];
    double value = n->f;
    return is_real(n) && (n->kind == DFF_CONST || dfg_known_element(g, n, &value)) && value == 0 && !__builtin_signbit(value) == !minus;
}

/* x + 0.0, x - -0.0 and 0.0 - x, in which gcc must not see the zero (df_zero_f64() in df_formula.h). x - -0.0 is x + 0.0. text.c is NULL for any other node. */
static struct dfg_text with_zero(struct dfg_gen *g, const struct dff_node *n)
{
    const struct dff_node *a = n->args[0], *b = n->args[1];
    const bool left = is_zero(g, a, false) && n->op != DFF_MUL, right = is_zero(g, b, n->op == DFF_SUB) && n->op != DFF_MUL;
    if (!left && !right)
        return (struct dfg_text){ .c = NULL };
    const char *x = dfg_within(g, dfg_value(g, left ? b : a), left ? DFG_TIMES : DFG_PLUS), *type = dfg_type_name(n->type);
    return (struct dfg_text){ left ? dfg_printf(g, "df_zero_%s() %c %s", type, n->op == DFF_ADD ? '+' : '-', x) : dfg_printf(g, "%s + df_zero_%s()", x, type),
                              DFG_PLUS };
}

static struct dfg_text arithmetic(struct dfg_gen *g, const struct dff_node *n)
{
    static const char *const names[] = { [DFF_ADD] = "add", [DFF_SUB] = "sub", [DFF_MUL] = "mul" };
    static const char *const signs[] = { [DFF_ADD] = "+", [DFF_SUB] = "-", [DFF_MUL] = "*" };
    if (dfg_is_int(n->type) && !fits(g, n))
        return call(g, n, names[n->op], n->type);
    struct dfg_text zero = with_zero(g, n);
    if (zero.c)
        return zero;
    return infix(g, n, signs[n->op], n->op == DFF_MUL ? DFG_TIMES : DFG_PLUS);
}

/* Of what is never negative, by a power of two: compilers do not know that it is not. */
static struct dfg_text by_bits(struct dfg_gen *g, const struct dff_node *n)
{
    const int64_t by = n->args[1]->i;
    const bool is_mod = n->op == DFF_MOD;
    const char *a = dfg_within(g, dfg_value(g, n->args[0]), DFG_ATOM);
    return (struct dfg_text){ dfg_printf(g, "%s %s %" PRId64, a, is_mod ? "&" : ">>", is_mod ? by - 1 : __builtin_ctzll((uint64_t)by)),
                              DFG_BITS };
}

static struct dfg_text division(struct dfg_gen *g, const struct dff_node *n)
{
    const struct dff_node *by = n->args[1];
    int64_t value;
    bool plain = !dfg_is_int(n->type) || (by->kind == DFF_CONST && by->i != 0 && by->i != -1);
    if (!plain)
        return call(g, n, n->op == DFF_DIV ? "div" : "mod", n->type);
    if (dfg_known(g, n, &value))
        return dfg_number(g, n->type, value, 0);
    if (dfg_is_int(n->type) && by->i > 0 && !(by->i & (by->i - 1)) && g->facts[n->args[0]->id].low >= 0)
        return by_bits(g, n);
    return infix(g, n, n->op == DFF_DIV ? "/" : "%", DFG_TIMES);
}

static struct dfg_text shift(struct dfg_gen *g, const struct dff_node *n)
{
    const struct dff_node *by = n->args[1];
    if (n->op == DFF_SHR && by->kind == DFF_CONST && by->i >= 0 && by->i < (n->type == DFF_I32 ? 32 : 64))
        return infix(g, n, ">>", DFG_BITS);
    struct dfg_text a = dfg_value(g, n->args[0]), b = dfg_value(g, by);
    const char *count = by->type == DFF_I64 ? dfg_printf(g, "(int32_t)(%s & 63)", dfg_within(g, b, DFG_ATOM)) : b.c;
    return (struct dfg_text){ dfg_printf(g, "df_%s_%s(%s, %s)", n->op == DFF_SHL ? "shl" : "shr",
                                         dfg_type_name(n->type), a.c, count), DFG_ATOM };
}

static struct dfg_text prefix(struct dfg_gen *g, const struct dff_node *n, const char *sign)
{
    struct dfg_text a = dfg_value(g, n->args[0]);
    bool minus = *a.c == '-';
    return (struct dfg_text){ dfg_printf(g, "%s%s", sign, minus ? dfg_printf(g, "(%s)", a.c) : dfg_within(g, a, DFG_UNARY)),
                              DFG_UNARY };
}

static struct dfg_text negation(struct dfg_gen *g, const struct dff_node *n)
{
    if (n->args[0]->op == DFF_FMA)
        return (struct dfg_text){ dfg_printf(g, "df_neg_%s(%s)", dfg_type_name(n->type), dfg_value(g, n->args[0]).c), DFG_ATOM };
    if (!dfg_is_int(n->type) || fits(g, n))
        return prefix(g, n, "-");
    return (struct dfg_text){ dfg_printf(g, "df_sub_%s(0, %s)", dfg_type_name(n->type), dfg_value(g, n->args[0]).c),
                              DFG_ATOM };
}

struct dfg_text dfg_side(struct dfg_gen *g, const struct dff_node *n)
{
    struct dfg_text text = dfg_value(g, n);
    if (!strchr(text.c, '['))
        return text;
    const char *name = dfg_new_name(g);
    dfg_line(g, g->block, "const %s %s = %s;", dfg_type(n->type), name, text.c);
    return (struct dfg_text){ name, DFG_ATOM };
}

static struct dfg_text choice(struct dfg_gen *g, const struct dff_node *n)
{
    int64_t known;
    if (dfg_known(g, n->args[0], &known))
        return dfg_value(g, n->args[known ? 1 : 2]);
    struct dfg_text c = dfg_value(g, n->args[0]), a = dfg_side(g, n->args[1]), b = dfg_side(g, n->args[2]);
    return (struct dfg_text){ dfg_printf(g, "%s ? %s : %s", dfg_within(g, c, DFG_COMPARE), dfg_within(g, a, DFG_BITS),
                                         dfg_within(g, b, DFG_BITS)), DFG_CHOICE };
}

static bool is_in_loop(const struct dfg_gen *g)
{
    const struct dfg_block *b = g->block;
    while (b->outer && b->is_shared)
        b = b->outer;
    return b->outer;
}

/* sin, cos and tan. In a loop it is the function for near arguments, which can be a vector; the row is computed again if one is
 * far. */
static struct dfg_text trigonometry(struct dfg_gen *g, const struct dff_node *n, const char *function)
{
    bool wide = n->type == DFF_F64;
    if (!g->near || !is_in_loop(g))
        return call(g, n, function, n->type);
    const char *type = dfg_type_name(n->type), *of = dfg_value(g, n->args[0]).c;
    if (strpbrk(of, " ([")) {
        const char *name = dfg_new_name(g);
        dfg_line(g, g->block, "const %s %s = %s;", dfg_type(n->type), name, of);
        of = name;
    }
    dfg_line(g, g->block, "df_far%s |= df_far_%s(%s);", wide ? "64" : "32", type, of);
    g->far[wide] = true;
    return (struct dfg_text){ dfg_printf(g, "df_%s_near_%s(%s)", function, type, of), DFG_ATOM };
}

static struct dfg_text operation(struct dfg_gen *g, const struct dff_node *n)
{
    static const char *const compare[] = { "<", "<=", ">", ">=", "==", "!=" };
    static const char *const names[] = {
        [DFF_ABS] = "abs", [DFF_MIN] = "min", [DFF_MAX] = "max", [DFF_SQRT] = "sqrt", [DFF_EXP] = "exp", [DFF_LOG] = "log",
        [DFF_POW] = "pow", [DFF_SIN] = "sin", [DFF_COS] = "cos", [DFF_TAN] = "tan", [DFF_ATAN2] = "atan2",
        [DFF_TANH] = "tanh", [DFF_FLOOR] = "floor", [DFF_CEIL] = "ceil", [DFF_ROUND] = "round", [DFF_TRUNC] = "trunc",
        [DFF_FMA] = "fma"
    };
    switch (n->op) {
    case DFF_NEG: return negation(g, n);
    case DFF_ADD: case DFF_SUB: case DFF_MUL: return arithmetic(g, n);
    case DFF_DIV: case DFF_MOD: return division(g, n);
    case DFF_BITNOT: return prefix(g, n, n->type == DFF_I64 ? "~(int64_t)" : "~"); /* a u32 that is read is unsigned in C */
    case DFF_NOT: return prefix(g, n, "!");
    case DFF_BITAND: case DFF_AND: return infix(g, n, "&", DFG_BITS);
    case DFF_BITOR: case DFF_OR: return infix(g, n, "|", DFG_BITS);
    case DFF_BITXOR: return infix(g, n, "^", DFG_BITS);
    case DFF_SHL: case DFF_SHR: return shift(g, n);
    case DFF_LT: case DFF_LE: case DFF_GT: case DFF_GE: case DFF_EQ: case DFF_NE:
        return comparison(g, n, compare[n->op - DFF_LT]);
    case DFF_CHOOSE: return choice(g, n);
    case DFF_MIN: case DFF_MAX: return lesser(g, n, names[n->op]);
    default:
        g->math |= n->op >= DFF_EXP && n->op <= DFF_TANH;
        if (n->op == DFF_SIN || n->op == DFF_COS || n->op == DFF_TAN)
            return trigonometry(g, n, names[n->op]);
        return call(g, n, names[n->op], n->type);
    }
}

/* ---- conversions ---- */

static struct dfg_text cast(struct dfg_gen *g, const char *type, const struct dff_node *a)
{
    return (struct dfg_text){ dfg_printf(g, "(%s)%s", type, dfg_within(g, dfg_value(g, a), DFG_ATOM)), DFG_UNARY };
}

/* Does a float stay so far from the ends of the integer that it need only be rounded? */
static bool is_near(const struct dfg_fact *f, const struct dff_node *n)
{
    const double end = n->args[0]->type == DFF_F32 ? 4194304 : n->args[0]->type == DFF_F64 ? 2147483647 : 0;
    int64_t low, high;
    dff_elem_ends(n->elem, &low, &high);
    const double least = n->elem == DF_I32 ? -end : (double)low, most = n->elem == DF_I32 ? end : (double)high;
    return n->type == DFF_I32 && f->is_number && f->least >= least && f->most <= most && f->least >= -end && f->most <= end;
}

static bool is_rounded(const struct dff_node *a)
{
    return a->kind == DFF_OP && (a->op == DFF_FLOOR || a->op == DFF_CEIL || a->op == DFF_ROUND || a->op == DFF_TRUNC);
}

/* Is the float an integer that the type has? Then it is converted as C does it. */
static bool is_whole(const struct dfg_fact *f, const struct dff_node *n)
{
    int64_t low, high;
    dff_elem_ends(n->elem, &low, &high);
    return is_rounded(n->args[0]) && n->type == DFF_I32 && f->is_number && f->least >= (double)low && f->most <= (double)high;
}

static struct dfg_text conversion(struct dfg_gen *g, const struct dff_node *n)
{
    const struct dff_node *a = n->args[0];
    enum dff_type from = a->type == DFF_BOOL ? DFF_I32 : a->type;
    const struct dfg_fact *f = &g->facts[a->id];
    int64_t low, high;
    dff_elem_ends(n->elem, &low, &high);
    const bool is_in = dff_is_narrow(n->elem) && dfg_is_int(from) && f->low >= low && f->high <= high;
    if (n->elem == DF_F32 || n->elem == DF_F64)
        return from == n->type ? dfg_value(g, a) : cast(g, dfg_type(n->type), a);
    if ((dfg_is_int(from) && n->type == from && (is_in || n->elem == DF_I32 || n->elem == DF_I64)))
        return dfg_value(g, a);
    if (n->type == DFF_I64 && from == DFF_I32 && (is_in || n->elem == DF_I64))
        return cast(g, "int64_t", a);
    if (is_whole(f, n))                 /* no -0: gcc makes trunc of (float)(int32_t) */
        return (struct dfg_text){ dfg_printf(g, "(int32_t)(%s + 0.0%s)", dfg_within(g, dfg_value(g, a), DFG_PLUS), from == DFF_F32 ? "f" : ""), DFG_UNARY };
    if (is_near(f, n))
        return (struct dfg_text){ dfg_printf(g, "df_near_%s(%s)", dfg_type_name(from), dfg_value(g, a).c), DFG_ATOM };
    if (is_rounded(a) && n->elem == DF_I32 && from == DFF_F32)
        return (struct dfg_text){ dfg_printf(g, "df_i32_of_whole_f32(%s)", dfg_value(g, a).c), DFG_ATOM };
    const char *format = n->elem == DF_F16 ? "df_round_%s_%s(%s)" : "df_%s_of_%s(%s)";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const char *text = dfg_printf(g, format, df_elem_name(n->elem), dfg_type_name(from), dfg_value(g, a).c);
#pragma GCC diagnostic pop
    return (struct dfg_text){ text, DFG_ATOM };
}

static struct dfg_text low_bits(struct dfg_gen *g, const struct dff_node *n)
{
    const char *value = dfg_within(g, dfg_value(g, n->args[0]), DFG_ATOM);
    if (n->elem == DF_I32)
        return (struct dfg_text){ dfg_printf(g, "(int32_t)%s", value), DFG_UNARY };
    return (struct dfg_text){ dfg_printf(g, "(%s)(%s)%s", dfg_type(n->type), df_elem_c_type(n->elem), value), DFG_UNARY };
}

static struct dfg_text cast_node(struct dfg_gen *g, const struct dff_node *n)
{
    const struct dff_node *a = n->args[0];
    if (n->type == DFF_BOOL)
        return (struct dfg_text){ dfg_printf(g, "%s != 0", dfg_within(g, dfg_value(g, a), DFG_PLUS)), DFG_COMPARE };
    if (n->type == a->type || (n->type == DFF_I32 && a->type == DFF_BOOL))
        return dfg_value(g, a);
    return cast(g, dfg_type(n->type), a);
}

/* ---- values ---- */

static struct dfg_text index_value(struct dfg_gen *g, const struct dff_node *n)
{
    struct dfg_block *block = dfg_block_of(g, 1u << n->number);
    if (block->is_number)
        return dfg_number(g, DFF_I32, block->number, 0);
    if (block->times) {
        struct dfg_block *loop = block->outer; /* over columns */
        if (!loop->counter)
            loop->counter = dfg_new_name(g);
        return (struct dfg_text){ dfg_printf(g, "%" PRId64 " * %s + %" PRId64, block->times, loop->counter, block->shift), DFG_PLUS };
    }
    if (block->shift)
        return (struct dfg_text){ dfg_printf(g, "(int32_t)(%s + %" PRId64 ")", block->name, block->shift), DFG_UNARY };
    if (!block->is_column)
        return (struct dfg_text){ dfg_printf(g, "(int32_t)%s", block->name), DFG_UNARY };
    if (!block->counter) /* a vector of it needs no conversion from int64_t */
        block->counter = dfg_new_name(g);
    return (struct dfg_text){ block->counter, DFG_ATOM };
}

/* Of an element of u32, which C reads as a uint32_t, an int64_t: ~ and >> see its upper bits. */
static struct dfg_text element(struct dfg_gen *g, const struct dff_node *n)
{
    const struct dfg_text text = n->kind == DFF_READ ? dfg_read(g, n) : dfg_table(g, n);
    const bool is_read = text.level == DFG_ATOM && strchr(text.c, '[');
    return n->elem == DF_U32 && is_read ? (struct dfg_text){ dfg_printf(g, "(int64_t)%s", text.c), DFG_UNARY } : text;
}

static struct dfg_text whole_value(struct dfg_gen *g, const struct dff_node *n)
{
    switch (n->kind) {
    case DFF_READ:
    case DFF_TABLE: return element(g, n);
    case DFF_OP: return operation(g, n);
    case DFF_CONVERT: return conversion(g, n);
    case DFF_WRAP: return low_bits(g, n);
    case DFF_CAST: return cast_node(g, n);
    default: return (struct dfg_text){ dfg_reduce(g, n), DFG_ATOM };
    }
}

/* The type of a temporary. Of an integer that fits 16 bits it is one of 16, which makes vectors of twice as many lanes of what it is
 * made of; C computes with it as with an int32_t. */
static const char *temporary_type(const struct dfg_gen *g, const struct dff_node *n)
{
    const struct dfg_fact *f = &g->facts[n->id];
    if (g->gpu || n->type != DFF_I32 || f->index || f->low > f->high)
        return dfg_type(n->type);
    return f->low >= INT16_MIN && f->high <= INT16_MAX ? "int16_t" : f->low >= 0 && f->high <= UINT16_MAX ? "uint16_t" : "int32_t";
}

/* Computes the node in its own block, so that what is printed for it lands there. */
static struct dfg_text value_in(struct dfg_gen *g, struct dfg_block *block, const struct dff_node *n)
{
    struct dfg_block *now = g->block;
    g->block = block;
    struct dfg_text text = whole_value(g, n);
    bool short_one = g->facts[n->id].uses < 2 && strlen(text.c) < LONG_TEXT;
    if (n->kind != DFF_REDUCE && !short_one) {
        const char *name = dfg_new_name(g);
        dfg_line(g, block, "const %s %s = %s;", temporary_type(g, n), name, text.c);
        text = (struct dfg_text){ name, DFG_ATOM };
    }
    if (n->kind == DFF_REDUCE || !short_one)
        block->temporaries[n->id] = text.c;
    g->block = now;
    return text;
}

struct dfg_text dfg_value(struct dfg_gen *g, const struct dff_node *n)
{
    if (g->failed)
        return (struct dfg_text){ "", DFG_ATOM };
    switch (n->kind) {
    case DFF_CONST: return dfg_number(g, n->type, n->i, n->f);
    case DFF_INDEX: return index_value(g, n);
    case DFF_DIM:
        return (struct dfg_text){ dfg_printf(g, "(int32_t)%s", dfg_dim_name(g, n->number)), DFG_UNARY };
    case DFF_SCALAR: return (struct dfg_text){ dfg_scalar_name(g, n->number), DFG_ATOM };
    default: break;
    }
    const char *column = dfg_kept_value(g, n);
    if (!column)
        column = dfg_columns_value(g, n, false);
    if (!column)
        column = dfg_ranged_value(g, n);
    if (column)
        return (struct dfg_text){ column, DFG_ATOM };
    if (!g->block)                      /* an extent, outside of loops: there is no place for a temporary */
        return whole_value(g, n);
    struct dfg_block *block = dfg_block_of(g, n->slots);
    if (block->temporaries[n->id])
        return (struct dfg_text){ block->temporaries[n->id], DFG_ATOM };
    bool apart = n->kind == DFF_REDUCE || g->facts[n->id].uses > 1;
    return value_in(g, apart ? block : g->block, n);
}
