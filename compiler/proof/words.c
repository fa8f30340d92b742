/* words.c - prints nodes and affine forms for the messages of explain.c, in the names that the program uses. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "compiler/proof/prover.h"

void dff_text_add(struct dff_text *to, const char *format, ...)
{
    const size_t room = sizeof to->text - to->n;
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(to->text + to->n, room, format, list);
    va_end(list);
    if (n < 0 || (size_t)n < room) {
        to->n += n > 0 ? (size_t)n : 0;
        return;
    }
    to->n = sizeof to->text - 1;
    memcpy(to->text + to->n - 3, "...", 3);
}

static const char *slot_name(const struct dff_site *site, uint32_t slot)
{
    for (; site->outer; site = site->outer)
        if (site->range && site->range->slot == slot)
            return site->range->name;
    return slot < site->formula->rank && site->formula->names[slot] ? site->formula->names[slot] : "?";
}

static const char *op_sign(enum dff_op op)
{
    switch (op) {
    case DFF_ADD: return "+";
    case DFF_SUB: return "-";
    case DFF_MUL: return "*";
    case DFF_DIV: return "/";
    case DFF_MOD: return "%";
    case DFF_BITAND: return "&";
    case DFF_BITOR: return "|";
    case DFF_BITXOR: return "^";
    case DFF_SHL: return "<<";
    case DFF_SHR: return ">>";
    case DFF_LT: return "<";
    case DFF_LE: return "<=";
    case DFF_GT: return ">";
    case DFF_GE: return ">=";
    case DFF_EQ: return "==";
    case DFF_NE: return "!=";
    case DFF_AND: return "&&";
    case DFF_OR: return "||";
    default: return NULL;
    }
}

static const char *function(enum dff_op op)
{
    switch (op) {
    case DFF_MIN: return "min";
    case DFF_MAX: return "max";
    case DFF_ABS: return "abs";
    default: return "...";
    }
}

static const char *reduction(enum dff_op op)
{
    switch (op) {
    case DFF_SUM: return "sum";
    case DFF_PROD: return "prod";
    case DFF_LEAST: return "min";
    case DFF_GREATEST: return "max";
    case DFF_ANY: return "any";
    case DFF_ALL: return "all";
    case DFF_COUNT: return "count";
    case DFF_ARGMIN: return "argmin";
    default: return "argmax";
    }
}

/* What binds tighter has the larger number. */
static int strength(const struct dff_node *node)
{
    while (node->kind == DFF_CAST)      /* which is not printed */
        node = node->args[0];
    if (node->kind != DFF_OP)
        return node->kind == DFF_CONST && node->i < 0 ? 5 : 9;
    switch (node->op) {
    case DFF_MUL: case DFF_DIV: case DFF_MOD: return 4;
    case DFF_ADD: case DFF_SUB: return 3;
    case DFF_NEG: case DFF_NOT: case DFF_BITNOT: return 5;
    case DFF_CHOOSE: return 0;
    default: return op_sign(node->op) ? 1 : 9;
    }
}

static void print_operand(const struct dff_prover *p, const struct dff_site *site, const struct dff_node *node,
                          int least, struct dff_text *to)
{
    const bool paren = strength(node) < least;
    dff_text_add(to, paren ? "(" : "");
    dff_node_print(p, site, node, to);
    dff_text_add(to, paren ? ")" : "");
}

static void print_list(const struct dff_prover *p, const struct dff_site *site, const struct dff_node *const *args,
                       unsigned n, const char *name, const char *ends, struct dff_text *to)
{
    dff_text_add(to, "%s%c", name, ends[0]);
    for (unsigned i = 0; i < n; i++) {
        dff_text_add(to, i ? ", " : "");
        dff_node_print(p, site, args[i], to);
    }
    dff_text_add(to, "%c", ends[1]);
}

static void print_op(const struct dff_prover *p, const struct dff_site *site, const struct dff_node *node,
                     struct dff_text *to)
{
    const char *sign = op_sign(node->op);
    const int here = strength(node);
    if (sign && node->n_args == 2) {
        const struct dff_node *right = node->args[1];
        print_operand(p, site, node->args[0], here == 1 ? 2 : here, to);
        if (here == 3 && right->kind == DFF_CONST && right->i == 0)
            return;                     /* y + 0, of a let whose index is 0 */
        if (here == 3 && right->kind == DFF_CONST && right->i < 0) {
            dff_text_add(to, node->op == DFF_ADD ? " - %lld" : " + %lld", -(long long)right->i);
            return;
        }
        dff_text_add(to, " %s ", sign);
        print_operand(p, site, right, here + 1, to);
    } else if (node->op == DFF_CHOOSE) {
        print_operand(p, site, node->args[0], 1, to);
        dff_text_add(to, " ? ");
        print_operand(p, site, node->args[1], 1, to);
        dff_text_add(to, " : ");
        print_operand(p, site, node->args[2], 0, to);
    } else if (here == 5) {
        dff_text_add(to, node->op == DFF_NEG ? "-" : node->op == DFF_NOT ? "!" : "~");
        print_operand(p, site, node->args[0], 5, to);
    } else if (node->op == DFF_MIN && node->args[0]->kind == DFF_OP && node->args[0]->op == DFF_MAX) {
        const struct dff_node *const args[] = { node->args[0]->args[0], node->args[0]->args[1], node->args[1] };
        print_list(p, site, args, 3, "clamp", "()", to);
    } else {
        print_list(p, site, node->args, node->n_args, function(node->op), "()", to);
    }
}

void dff_node_print(const struct dff_prover *p, const struct dff_site *site, const struct dff_node *node,
                    struct dff_text *to)
{
    const struct dfc_sig *sig = &p->kernel->callee->sig;
    if (to->n == sizeof to->text - 1)
        return;
    switch (node->kind) {
    case DFF_CONST:
        if (node->type == DFF_F32 || node->type == DFF_F64)
            dff_text_add(to, "%g", node->f);
        else
            dff_text_add(to, "%lld", (long long)node->i);
        break;
    case DFF_INDEX: dff_text_add(to, "%s", slot_name(site, node->number)); break;
    case DFF_DIM: dff_text_add(to, "%s", sig->variables[node->number].name.text); break;
    case DFF_SCALAR: dff_text_add(to, "%s", sig->scalars[node->number]->name.text); break;
    case DFF_READ:
        print_list(p, site, node->args, node->n_args, p->kernel->ports[node->number].ast->name.text, "[]", to);
        break;
    case DFF_TABLE:
        print_list(p, site, node->args, node->n_args, p->kernel->tables[node->number]->decl->name.text, "[]", to);
        break;
    case DFF_OP: print_op(p, site, node, to); break;
    case DFF_CONVERT: print_list(p, site, node->args, node->n_args, df_elem_name(node->elem), "()", to); break;
    case DFF_CAST: dff_node_print(p, site, node->args[0], to); break;
    case DFF_WRAP:
        dff_text_add(to, "wrap_");
        print_list(p, site, node->args, node->n_args, df_elem_name(node->elem), "()", to);
        break;
    case DFF_REDUCE:
        dff_text_add(to, "%s(...)", reduction(node->op));
        break;
    }
}

static void print_var(const struct dff_prover *p, const struct dff_site *site, const struct dff_var *var,
                      struct dff_text *to)
{
    switch (var->kind) {
    case DFF_VAR_DIM: dff_text_add(to, "%s", p->kernel->callee->sig.variables[var->number].name.text); break;
    case DFF_VAR_SLOT: dff_text_add(to, "%s", slot_name(site, var->number)); break;
    case DFF_VAR_NODE: print_operand(p, site, var->node, 5, to); break;
    default:
        print_operand(p, site, var->node, 4, to);
        dff_text_add(to, " / %lu", (unsigned long)var->number);
    }
}

static void print_terms(const struct dff_prover *p, const struct dff_site *site, const struct dff_form *form,
                        bool positive, bool *first, struct dff_text *to)
{
    for (unsigned v = 0; v < p->n_vars; v++) {
        const long long c = form->c[v];
        if (c == 0 || (c > 0) != positive)
            continue;
        dff_text_add(to, *first ? (c < 0 ? "-" : "") : c < 0 ? " - " : " + ");
        if (c != 1 && c != -1)
            dff_text_add(to, "%lld * ", c < 0 ? -c : c);
        print_var(p, site, &p->vars[v], to);
        *first = false;
    }
}

void dff_form_print(const struct dff_prover *p, const struct dff_site *site, const struct dff_form *form,
                    struct dff_text *to)
{
    bool first = true;
    print_terms(p, site, form, true, &first, to);
    print_terms(p, site, form, false, &first, to);
    if (first)
        dff_text_add(to, "%lld", (long long)form->k);
    else if (form->k)
        dff_text_add(to, form->k < 0 ? " - %lld" : " + %lld", form->k < 0 ? -(long long)form->k : (long long)form->k);
}
