/* print.c - prints a syntax tree as source text that parses back to the same tree, for --emit=ast in compiler/commands/cmd_compile.c and
 * for the check of format.c's result; the compiler prints expressions and the names of modes, scalars and operators
 * with it. Strings are escaped, floats have a point and all their digits, and parentheses stand wherever precedence
 * needs them. Long else-if chains are printed by a loop; everything else recurses.
 */
#include <stdlib.h>
#include <string.h>

#include "dsl/parse.h"

const char *dfl_mode_name(enum dfl_mode mode)
{
    static const char *const names[] = {"in", "out", "inout", "tmp", "acc"};
    return names[mode];
}

const char *dfl_scalar_name(enum dfl_scalar scalar)
{
    static const char *const names[] = {
#define DF_SCALAR(ID, name, type) #name,
#include "runtime/elements.def"
    };
    return names[scalar];
}

const char *const dfl_trait_words[] = {
#define TRAIT(NAME, word) word,
#include "dsl/traits.def"
    NULL
};

const char *dfl_op_name(enum dfl_op op)
{
    static const char *const names[] = {"-", "!", "*", "/", "%", "+", "-",
                                        "<", "<=", ">", ">=", "==", "!=", "&&", "||",
                                        "~", "&", "|", "^", "<<", ">>"};
    return names[op];
}

/* ---- literals and expressions ---- */

/* The shortest digits that read back as the same number, at least one on each side of the point. */
static void print_float(FILE *out, double value)
{
    char text[64];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    size_t whole = strcspn(text, ".e");
    if (text[whole] == '.')
        fputs(text, out);
    else
        fprintf(out, "%.*s.0%s", (int)whole, text, text + whole);
}

static void print_number(FILE *out, bool is_int, int64_t i, double f)
{
    if (is_int)
        fprintf(out, "%lld", (long long)i);
    else
        print_float(out, f);
}

static void print_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else if (*at == '\n')
            fputs("\\n", out);
        else if (*at == '\t')
            fputs("\\t", out);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(out, "\\%03o", *at);
        else
            fputc(*at, out);
    }
    fputc('"', out);
}

enum { UNARY = 11, ALONE = 13 }; /* precedences: of prefix operators; above all, so parentheses stand always */

static int precedence(const struct dfl_expr *e)
{
    if (e->kind == DFL_EXPR_CHOICE)
        return 0;
    if (e->kind == DFL_EXPR_UNARY)
        return UNARY;
    if (e->kind != DFL_EXPR_BINARY)
        return UNARY + 1;
    switch (e->op) {
    case DFL_OP_MUL: case DFL_OP_DIV: case DFL_OP_MOD: return 10;
    case DFL_OP_ADD: case DFL_OP_SUB: return 9;
    case DFL_OP_SHL: case DFL_OP_SHR: return 8;
    case DFL_OP_LT: case DFL_OP_LE: case DFL_OP_GT: case DFL_OP_GE: return 7;
    case DFL_OP_EQ: case DFL_OP_NE: return 6;
    case DFL_OP_BITAND: return 5;
    case DFL_OP_BITXOR: return 4;
    case DFL_OP_BITOR: return 3;
    case DFL_OP_AND: return 2;
    default: return 1;
    }
}

static void print_expr(FILE *out, const struct dfl_expr *e, int least);

static void print_exprs(FILE *out, const char *open, const struct dfl_expr *list, const char *close)
{
    fputs(open, out);
    for (const struct dfl_expr *e = list; e; e = e->next) {
        print_expr(out, e, 0);
        if (e->next)
            fputs(", ", out);
    }
    fputs(close, out);
}

static void print_choice(FILE *out, const struct dfl_expr *e)
{
    print_expr(out, e->a, 1);
    fputs(" ? ", out);
    print_expr(out, e->b, 0);
    fputs(" : ", out);
    print_expr(out, e->args, 0);
}

static void print_reduce(FILE *out, const struct dfl_expr *e)
{
    fprintf(out, "%s(", e->s);
    for (const struct dfl_range *range = e->ranges; range; range = range->next) {
        fprintf(out, "%s in ", range->name.text);
        print_expr(out, range->from, 1); /* a choice in parentheses, for people */
        fputs("..", out);
        print_expr(out, range->to, 1);
        fputs(range->next ? ", " : "", out);
    }
    if (e->b) {
        fputs(" if ", out);
        print_expr(out, e->b, 0);
    }
    if (e->a) {
        fputs(": ", out);
        print_expr(out, e->a, 0);
    }
    fputc(')', out);
}

/* Prints e, in parentheses if it binds less tightly than `least`. */
static void print_expr(FILE *out, const struct dfl_expr *e, int least)
{
    int own = precedence(e);
    if (own < least)
        fputc('(', out);
    switch (e->kind) {
    case DFL_EXPR_INT: print_number(out, true, e->i, 0.0); break;
    case DFL_EXPR_FLOAT: print_float(out, e->f); break;
    case DFL_EXPR_STR: print_string(out, e->s); break;
    case DFL_EXPR_NAME: fputs(e->s, out); break;
    case DFL_EXPR_INDEX:
        fputs(e->s, out);
        print_exprs(out, "[", e->args, "]");
        break;
    case DFL_EXPR_CALL:
        fputs(e->s, out);
        print_exprs(out, "(", e->args, ")");
        break;
    case DFL_EXPR_QUANTITY:
        print_number(out, e->is_int, e->i, e->f);
        fprintf(out, " %s", e->s);
        break;
    case DFL_EXPR_UNARY:
        fputs(dfl_op_name(e->op), out);
        print_expr(out, e->a, UNARY);
        break;
    case DFL_EXPR_BINARY:
        print_expr(out, e->a, own);
        fprintf(out, " %s ", dfl_op_name(e->op));
        print_expr(out, e->b, own + 1);
        break;
    case DFL_EXPR_CHOICE: print_choice(out, e); break;
    case DFL_EXPR_REDUCE: print_reduce(out, e); break;
    }
    if (own < least)
        fputc(')', out);
}

void dfl_print_expr(FILE *out, const struct dfl_expr *expr)
{
    print_expr(out, expr, 0);
}

/* ---- formats, signatures, kernels ---- */

static void print_format(FILE *out, const struct dfl_format *format)
{
    fputs(format->name.text, out);
    if (format->dims)
        print_exprs(out, "[", format->dims, "]");
}

static void print_sig(FILE *out, const struct dfl_sig *sig)
{
    fputc('(', out);
    for (const struct dfl_port *port = sig->ports; port; port = port->next) {
        fprintf(out, "%s %s: ", dfl_mode_name(port->mode), port->name.text);
        print_format(out, port->format);
        if (port->split.text)
            fprintf(out, " split %s", port->split.text);
        if (port->halo) {
            fputs(" halo ", out);
            print_expr(out, port->halo, 0);
        }
        if (port->border)
            print_exprs(out, " border ", port->border, "");
        if (port->initial) {
            fputs(" = ", out);
            print_expr(out, port->initial, 0);
        }
        if (port->next)
            fputs(", ", out);
    }
    for (const struct dfl_scalar_decl *scalar = sig->scalars; scalar; scalar = scalar->next)
        fprintf(out, "%s%s: %s", scalar == sig->scalars ? "; " : ", ", scalar->name.text,
                dfl_scalar_name(scalar->type));
    fputc(')', out);
}

static void print_traits(FILE *out, const struct dfl_kernel *kernel)
{
    for (unsigned t = 0; t < DFL_N_TRAITS; t++) {
        const struct dfl_expr *args = t == DFL_TRAIT_THREADS ? kernel->threads : t == DFL_TRAIT_TOLERANCE ? kernel->tolerance
                                      : t == DFL_TRAIT_USES ? kernel->uses : NULL;
        if (!(kernel->traits >> t & 1))
            continue;
        fprintf(out, " %s", dfl_trait_words[t]);
        if (args)
            print_exprs(out, "(", args, ")");
    }
}

static void print_file(FILE *out, const char *path, const struct dfl_expr *flags)
{
    print_string(out, path);
    if (!flags)
        return;
    fputs(" flags ", out);
    print_string(out, flags->s);
}

static void print_target_call(FILE *out, const struct dfl_variant *variant)
{
    fprintf(out, ": %s", variant->target.text);
    if (variant->has_launch)
        print_exprs(out, "<<<", variant->launch, ">>>");
    if (variant->has_args)
        print_exprs(out, "(", variant->args, ")");
    if (variant->result.text)
        fprintf(out, " -> %s", variant->result.text);
}

static void print_variant(FILE *out, const struct dfl_variant *variant)
{
    fprintf(out, " %s ", variant->cls.text);
    if (variant->path)
        print_file(out, variant->path, variant->flags);
    for (const struct dfl_expr *file = variant->more_files; file; file = file->next) {
        fputc(' ', out);
        print_file(out, file->s, file->args);
    }
    if (variant->code)
        fprintf(out, "%s{{%s}}", variant->path ? " " : "", variant->code);
    if (variant->has_target)
        print_target_call(out, variant);
    if (variant->open.text)
        fprintf(out, " open %s", variant->open.text);
    if (variant->close.text)
        fprintf(out, " close %s", variant->close.text);
}

static void print_formula(FILE *out, const struct dfl_formula *formula)
{
    static const char *const assigns[] = {"=", "+=", "min=", "max="};
    fprintf(out, "    %s%s", formula->is_let ? "let " : "", formula->name.text);
    if (formula->indices)
        print_exprs(out, "[", formula->indices, "]");
    fprintf(out, " %s ", assigns[formula->assign]);
    print_expr(out, formula->value, 0);
    fputs(";\n", out);
}

static void print_kernel(FILE *out, const struct dfl_kernel *kernel)
{
    fprintf(out, "kernel %s", kernel->name.text);
    print_sig(out, kernel->sig);
    print_traits(out, kernel);
    if (kernel->has_formulas) {
        fputs(" {\n", out);
        for (const struct dfl_formula *formula = kernel->formulas; formula; formula = formula->next)
            print_formula(out, formula);
        fputc('}', out);
    }
    for (const struct dfl_variant *variant = kernel->variants; variant; variant = variant->next)
        print_variant(out, variant);
    for (const struct dfl_price *price = kernel->prices; price; price = price->next) {
        fprintf(out, "%s %s ", price == kernel->prices ? " cost" : "", price->cls.text);
        print_expr(out, price->expr, price->expr->kind == DFL_EXPR_QUANTITY ? 0 : ALONE);
    }
    fputs(kernel->has_formulas && !kernel->variants && !kernel->prices ? "\n" : ";\n", out);
}

/* ---- graphs ---- */

static void print_block(FILE *out, const struct dfl_block *block, unsigned level);

static void print_target(FILE *out, const struct dfl_target *target)
{
    fputs(target->name.text, out);
    if (target->indices)
        print_exprs(out, "[", target->indices, "]");
    if (target->annotation) {
        fputs(": ", out);
        print_format(out, target->annotation);
    }
}

static void print_call(FILE *out, const struct dfl_stmt *stmt)
{
    if (stmt->targets) {
        bool several = stmt->targets->next != NULL;
        fputs(several ? "(" : "", out);
        for (const struct dfl_target *target = stmt->targets; target; target = target->next) {
            print_target(out, target);
            if (target->next)
                fputs(", ", out);
        }
        fputs(several ? ") = " : " = ", out);
    }
    fprintf(out, "%s(", stmt->callee.text);
    for (const struct dfl_actual *actual = stmt->actuals; actual; actual = actual->next) {
        if (actual->keyword.text)
            fprintf(out, "%s = ", actual->keyword.text);
        print_expr(out, actual->expr, 0);
        if (actual->next)
            fputs(", ", out);
    }
    fputc(')', out);
    for (const struct dfl_hint *hint = stmt->hints; hint; hint = hint->next) {
        fprintf(out, " @%s", hint->name.text);
        if (hint->arg)
            print_exprs(out, "(", hint->arg, ")");
    }
    fputs(";\n", out);
}

/* Is the block of this else an else-if? It then holds one if, and its brace has the place of that if. */
static bool is_else_if(const struct dfl_block *block)
{
    const struct dfl_stmt *stmt = block->stmts;
    return stmt && stmt->kind == DFL_STMT_IF && !stmt->next && stmt->loc.line == block->loc.line &&
           stmt->loc.col == block->loc.col;
}

static void print_if(FILE *out, const struct dfl_stmt *stmt, unsigned level)
{
    for (;;) {
        fputs("if ", out);
        print_expr(out, stmt->cond, 0);
        fputc(' ', out);
        print_block(out, stmt->body, level);
        if (!stmt->otherwise)
            break;
        fputs(" else ", out);
        if (!is_else_if(stmt->otherwise)) {
            print_block(out, stmt->otherwise, level);
            break;
        }
        stmt = stmt->otherwise->stmts;
    }
    fputc('\n', out);
}

static void print_stmt(FILE *out, const struct dfl_stmt *stmt, unsigned level)
{
    fprintf(out, "%*s", (int)level * 4, "");
    switch (stmt->kind) {
    case DFL_STMT_CALL:
        print_call(out, stmt);
        break;
    case DFL_STMT_FOR:
        fprintf(out, "for %s in ", stmt->var.text);
        print_expr(out, stmt->from, 0);
        fputs(" .. ", out);
        print_expr(out, stmt->to, 0);
        if (stmt->cond) {
            fputs(" while ", out);
            print_expr(out, stmt->cond, 0);
        }
        fputc(' ', out);
        print_block(out, stmt->body, level);
        fputc('\n', out);
        break;
    case DFL_STMT_IF:
        print_if(out, stmt, level);
        break;
    }
}

static void print_block(FILE *out, const struct dfl_block *block, unsigned level)
{
    fputs("{\n", out);
    for (const struct dfl_stmt *stmt = block->stmts; stmt; stmt = stmt->next)
        print_stmt(out, stmt, level + 1);
    fprintf(out, "%*s}", (int)level * 4, "");
}

static void print_promises(FILE *out, const struct dfl_promise *promise)
{
    static const char *const words[] = { [DFL_OP_LT] = " < ", [DFL_OP_LE] = " <= ", [DFL_OP_GT] = " > ", [DFL_OP_GE] = " >= ", [DFL_OP_EQ] = " == ", [DFL_OP_NE] = " != " };
    fputs("    promise {\n", out);
    for (; promise; promise = promise->next) {
        fprintf(out, "        %s%s%s%s", promise->what.text ? promise->what.text : "", promise->unit.text ? " " : "",
                promise->unit.text ? promise->unit.text : "", promise->op != DFL_OP_NOT ? words[promise->op] : promise->what.text ? " " : "");
        print_expr(out, promise->bound, 0);
        fputs(";\n", out);
    }
    fputs("    }\n", out);
}

static void print_graph(FILE *out, const struct dfl_graph *graph)
{
    fprintf(out, "graph %s", graph->name.text);
    if (graph->sig)
        print_sig(out, graph->sig);
    fputc(' ', out);
    fputs("{\n", out);
    if (graph->promises)
        print_promises(out, graph->promises);
    for (const struct dfl_stmt *stmt = graph->body->stmts; stmt; stmt = stmt->next)
        print_stmt(out, stmt, 1);
    fputs("}\n", out);
}

/* ---- platforms and declarations ---- */

/* A rate is printed as it is read aloud: 6 GB/s. */
static void print_value(FILE *out, const struct dfl_expr *value)
{
    bool rate = value->kind == DFL_EXPR_BINARY && value->op == DFL_OP_DIV && value->b->kind == DFL_EXPR_NAME;
    print_expr(out, rate ? value->a : value, rate ? precedence(value) : 0);
    if (rate)
        fprintf(out, "/%s", value->b->s);
}

static void print_device(FILE *out, const struct dfl_device *device, const char *indent)
{
    fprintf(out, "%s%s %s {", indent, device->cls.text, device->name.text);
    for (const struct dfl_property *property = device->properties; property; property = property->next) {
        if (property->device) {
            fputc('\n', out);
            print_device(out, property->device, "        ");
            continue;
        }
        fprintf(out, " %s = ", property->name.text);
        for (const struct dfl_expr *value = property->values; value; value = value->next) {
            print_value(out, value);
            fputs(value->next ? ", " : ";", out);
        }
    }
    fputs(" }", out);
}

static void print_platform(FILE *out, const struct dfl_platform *platform)
{
    fprintf(out, "platform %s {\n", platform->name.text);
    for (const struct dfl_device *device = platform->devices; device; device = device->next) {
        print_device(out, device, "    ");
        fputc('\n', out);
    }
    fputs("}\n", out);
}

static void print_help(FILE *out, const struct dfl_decl *decl)
{
    if (decl->help) {
        fputs(" help ", out);
        print_expr(out, decl->help, 0);
    }
    fputs(";\n", out);
}

static void print_decl(FILE *out, const struct dfl_decl *decl)
{
    switch (decl->kind) {
    case DFL_PARAM:
        fprintf(out, "param %s = ", decl->name.text);
        print_expr(out, decl->value, 0);
        fputs(decl->dynamic ? " dynamic" : "", out);
        print_help(out, decl);
        break;
    case DFL_ARG:
        fprintf(out, "arg %s: %s", decl->name.text, dfl_scalar_name(decl->scalar));
        if (decl->value) {
            fputs(" = ", out);
            print_expr(out, decl->value, 0);
        }
        print_help(out, decl);
        break;
    case DFL_TYPE:
        fprintf(out, "type %s = ", decl->name.text);
        print_format(out, decl->format);
        fputs(";\n", out);
        break;
    case DFL_IMPORT:
    case DFL_LINK:
        fputs(decl->kind == DFL_IMPORT ? "import " : "link ", out);
        print_string(out, decl->name.text);
        fputs(";\n", out);
        break;
    case DFL_TABLE:
        fprintf(out, "table %s: ", decl->name.text);
        print_format(out, decl->format);
        print_exprs(out, " = { ", decl->value, " };\n");
        break;
    case DFL_RESOURCE:
        fprintf(out, "resource %s = ", decl->name.text);
        print_expr(out, decl->value, 0);
        fputs(";\n", out);
        break;
    case DFL_KERNEL: print_kernel(out, decl->kernel); break;
    case DFL_GRAPH: print_graph(out, decl->graph); break;
    case DFL_PLATFORM: print_platform(out, decl->platform); break;
    }
}

void dfl_print(FILE *out, const struct dfl_file *file)
{
    for (const struct dfl_decl *decl = file->decls; decl; decl = decl->next)
        print_decl(out, decl);
}
