/* one_pass.c - recognises the formulas that one pass over the input can compute, histograms and running sums: for
 * count.c, and for compiler/generate, which prints such code (one_pass.h).
 */
#include "compiler/count/one_pass.h"

static bool is_int(enum dff_type type) { return type == DFF_I32 || type == DFF_I64; }

/* ---- joined ---- */

/* Looks for `e == b` among conditions that must all hold. */
static bool find_join(const struct dff_formula *f, const struct dff_node *n, struct dff_one_pass *pass)
{
    if (n->kind != DFF_OP)
        return false;
    if (n->op == DFF_AND)
        return find_join(f, n->args[0], pass) || find_join(f, n->args[1], pass);
    for (int k = 0; n->op == DFF_EQ && k < 2; k++) {
        const struct dff_node *b = n->args[k], *e = n->args[1 - k];
        if (b->kind != DFF_INDEX || b->number >= f->rank || e->type != DFF_I32 || e->slots >> b->number & 1)
            continue;
        pass->equal = n;
        pass->place = e;
        pass->slot = b->number;
        return true;
    }
    return false;
}

/* Does anything else in the condition depend on b? */
static bool rest_depends(const struct dff_node *n, const struct dff_one_pass *pass)
{
    if (n == pass->equal)
        return false;
    if (n->kind == DFF_OP && n->op == DFF_AND)
        return rest_depends(n->args[0], pass) || rest_depends(n->args[1], pass);
    return n->slots >> pass->slot & 1;
}

/* How an element that the port has and the reduction's value become one, if it is as two terms of the reduction do. */
static bool is_joined_by(const struct dff_node *n, enum dff_op op)
{
    return n->op == (op == DFF_LEAST ? DFF_MIN : op == DFF_GREATEST ? DFF_MAX : DFF_ADD);
}

/* Finds the reduction that is all of the formula, beside what the port has. */
static bool find_reduce(const struct dff_kernel *kernel, const struct dff_formula *f, struct dff_one_pass *pass)
{
    const struct dff_node *n = f->value, *value = n;
    pass->changes = kernel->ports[f->port].mode != DF_OUT && n->kind == DFF_OP && n->n_args == 2 &&
                    n->args[0]->kind == DFF_READ && n->args[0]->number == f->port;
    if (pass->changes)
        value = n->args[1];
    pass->reduce = value->kind == DFF_CAST ? value->args[0] : value;
    pass->widens = pass->reduce != value;
    if (pass->reduce->kind != DFF_REDUCE || !is_int(pass->reduce->type) || (pass->widens && pass->reduce->op != DFF_COUNT))
        return false;
    switch (pass->reduce->op) {
    case DFF_COUNT: case DFF_SUM: case DFF_LEAST: case DFF_GREATEST:
        return !pass->changes || is_joined_by(n, pass->reduce->op);
    default:
        return false;
    }
}

/* Do the ends of its ranges depend on the slots? */
static bool ends_depend(const struct dff_node *reduce, uint32_t slots)
{
    for (uint32_t r = 0; r < reduce->n_ranges; r++)
        if ((reduce->ranges[r].from->slots | reduce->ranges[r].to->slots) & slots)
            return true;
    return false;
}

static bool is_joined(const struct dff_kernel *kernel, const struct dff_formula *f, struct dff_one_pass *pass)
{
    const struct dff_port *port = &kernel->ports[f->port];
    if ((port->elem != DF_I32 && port->elem != DF_I64) || !find_reduce(kernel, f, pass))
        return false;
    const struct dff_node *n = pass->reduce;
    return n->n_args > 1 && n->args[1] && find_join(f, n->args[1], pass) && !rest_depends(n->args[1], pass) &&
           !(n->args[0] && n->args[0]->slots >> pass->slot & 1) && !ends_depend(n, pass->widens ? UINT32_MAX : 1u << pass->slot);
}

/* ---- running ---- */

/* n as an index of the output and a number. */
static bool index_and_number(const struct dff_formula *f, const struct dff_node *n, struct dff_one_pass *pass)
{
    pass->more = 0;
    if (n->kind == DFF_OP && (n->op == DFF_ADD || n->op == DFF_SUB) && n->args[1]->kind == DFF_CONST) {
        pass->more = n->op == DFF_ADD ? n->args[1]->i : -n->args[1]->i;
        n = n->args[0];
    }
    pass->slot = n->number;
    return n->kind == DFF_INDEX && n->number < f->rank;
}

/* May an element be made of the one before it, as it was stored? */
static bool stores_all(const struct dff_port *port, const struct dff_node *reduce)
{
    switch (port->elem) {
    case DF_I32: return reduce->type == DFF_I32;
    case DF_I64: return reduce->type == DFF_I64;
    case DF_F32: return reduce->type == DFF_F32;
    case DF_F64: return reduce->type == DFF_F64;
    default: return false;
    }
}

static bool is_running(const struct dff_kernel *kernel, const struct dff_formula *f, struct dff_one_pass *pass)
{
    const struct dff_port *port = &kernel->ports[f->port];
    const struct dff_node *n = f->value;
    if (n->kind != DFF_REDUCE || n->order != DFF_ORDER_RUNNING || n->n_ranges != 1 || (n->n_args > 1 && n->args[1]) ||
        port->mode != DF_OUT || !stores_all(port, n) || !index_and_number(f, n->ranges[0].to, pass) ||
        n->ranges[0].from->kind != DFF_CONST)
        return false;
    pass->reduce = n;
    pass->from = n->ranges[0].from->i;
    switch (n->op) {
    case DFF_COUNT: case DFF_SUM: case DFF_PROD: case DFF_LEAST: case DFF_GREATEST:
        return pass->more <= pass->from + 1 && !(n->args[0] && n->args[0]->slots >> pass->slot & 1);
    default:
        return false;
    }
}

enum dff_pass dff_one_pass(const struct dff_kernel *kernel, const struct dff_formula *formula, struct dff_one_pass *pass)
{
    *pass = (struct dff_one_pass){ 0 };
    return is_joined(kernel, formula, pass) ? DFF_PASS_JOINED : is_running(kernel, formula, pass) ? DFF_PASS_RUNNING : DFF_PASS_NONE;
}
