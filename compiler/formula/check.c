/* check.c - checks the formulas of one kernel from beginning to end, for declare/check_kernel.c: ports,
 * lets, each formula, and then which elements they define together. Every step relies on what the previous ones have
 * checked.
 */
#include <math.h>
#include <string.h>

#include "compiler/formula/build.h"
#include "compiler/formula/table.h"

/* What a formula with `+=`, `min=` or `max=` gives: the element, and the value that is written, as one expression. NULL: no
 * memory. */
static const struct dfl_expr *whole_value(struct dff_build *b, const struct dfl_formula *ast)
{
    static const char *const names[] = { [DFL_LEAST] = "min", [DFL_MOST] = "max" };
    struct dfl_expr *own, *whole;
    if (ast->assign == DFL_SET)
        return ast->value;
    own = dfc_alloc(b->u, sizeof *own);
    whole = dfc_alloc(b->u, sizeof *whole);
    if (!own || !whole)
        return NULL;
    *own = (struct dfl_expr){ .kind = ast->indices ? DFL_EXPR_INDEX : DFL_EXPR_NAME, .loc = ast->name.loc,
                              .s = ast->name.text, .args = ast->indices };
    *whole = (struct dfl_expr){ .kind = DFL_EXPR_BINARY, .op = DFL_OP_ADD, .loc = ast->value->loc, .a = own,
                                .b = ast->value };
    if (ast->assign == DFL_ADD)
        return whole;
    own->next = ast->value;
    *whole = (struct dfl_expr){ .kind = DFL_EXPR_CALL, .s = names[ast->assign], .loc = ast->value->loc, .args = own };
    return whole;
}

/* What an acc is at first, if no number says it: what the reduction of that name gives of nothing. */
static uint64_t first_bits(enum df_elem elem, enum dfl_assign assign)
{
    int64_t low, high;
    if (assign != DFL_LEAST && assign != DFL_MOST)
        return 0;
    dff_elem_ends(elem, &low, &high);
    return assign == DFL_LEAST ? dff_elem_bits(elem, high, INFINITY) : dff_elem_bits(elem, low, -INFINITY);
}

/* The formulas of an acc agree on what it is at first, or a number says it. */
static bool check_first(struct dff_build *b, const struct dff_kernel *kernel, unsigned p)
{
    struct dfc_port *port = &b->callee->sig.ports[p];
    const struct dff_formula *first = NULL;
    if (port->ast->mode != DFL_ACC || port->ast->initial)
        return true;
    for (unsigned i = 0; i < kernel->n_formulas; i++) {
        const struct dff_formula *f = &kernel->formulas[i];
        if (f->port != p)
            continue;
        if (first && first_bits(port->elem, first->ast->assign) != first_bits(port->elem, f->ast->assign)) {
            dfl_error(b->u->sink, f->ast->loc, "'%s' and '%s' do not begin with the same number, and none is written for '%s'",
                      dff_assign_text(first->ast->assign), dff_assign_text(f->ast->assign), port->ast->name.text);
            dfl_hint(b->u->sink, "write what every element is at first: 'acc %s: ... = 0'", port->ast->name.text);
            return false;
        }
        first = f;
    }
    port->initial = first_bits(port->elem, first->ast->assign);
    return true;
}

static bool check_firsts(struct dff_build *b, const struct dff_kernel *kernel)
{
    bool ok = true;
    for (unsigned p = 0; p < b->callee->sig.n_ports; p++)
        ok &= check_first(b, kernel, p);
    return ok;
}

/* A sum is not of such a type, and nobody has said how it is to be rounded. */
static bool check_sum(struct dff_build *b, const struct dff_formula *f)
{
    const enum df_elem elem = b->ports[f->port].elem;
    const char *type = df_elem_name(elem), *name = f->ast->name.text, *of_sum = dff_type_name(dff_promoted(elem));
    if (f->ast->assign != DFL_ADD || (!dff_is_narrow(elem) && elem != DF_F16))
        return true;
    dfl_error(b->u->sink, f->ast->loc, "'%s' is %s, and a sum of %s is %s", name, type, type, of_sum);
    dfl_hint(b->u->sink, "say how it is rounded, as in '%s[...] = %s(%s[...] + ...)', or make the port %s", name, type, name,
             of_sum);
    return false;
}

static bool check_value(struct dff_build *b, const struct dff_place *place, struct dff_formula *f)
{
    const struct dff_port *port = &b->ports[f->port];
    struct dff_value v;
    const struct dfl_expr *value = whole_value(b, f->ast);
    return value && check_sum(b, f) && dff_expr(b, place, value, &v) &&
           (f->value = dff_as_stored(b, &v, port->elem, port->ast->name.text, f->ast->value->loc));
}

static bool check_formula(struct dff_build *b, const struct dfl_formula *ast, struct dff_formula *f)
{
    struct dff_scope *scope = dfc_alloc(b->u, DF_MAX_RANK * sizeof *scope); /* expansions of lets keep pointers to it */
    struct dff_place place;
    return scope && dff_check_left(b, ast, f, scope, &place) && check_value(b, &place, f);
}

static bool check_formulas(struct dff_build *b, struct dff_kernel *kernel)
{
    unsigned n = 0;
    bool ok = true;
    for (const struct dfl_formula *ast = b->callee->kernel->formulas; ast; ast = ast->next)
        n += !ast->is_let;
    struct dff_formula *formulas = dfc_alloc(b->u, (n + 1) * sizeof *formulas);
    if (!formulas)
        return false;
    kernel->formulas = formulas;
    for (const struct dfl_formula *ast = b->callee->kernel->formulas; ast; ast = ast->next)
        if (!ast->is_let)
            ok &= check_formula(b, ast, &formulas[kernel->n_formulas++]);
    return ok;
}

static const struct dff_kernel *check(struct dff_build *b)
{
    struct dff_kernel *kernel = dfc_alloc(b->u, sizeof *kernel);
    if (!kernel || !dff_check_ports(b) || !dff_enter_lets(b) || !check_formulas(b, kernel) ||
        !dff_check_domains(b, kernel->formulas, kernel->n_formulas) || !check_firsts(b, kernel) ||
        !dff_check_lets_used(b))
        return NULL;
    const struct dff_table **tables = dfc_alloc(b->u, (b->tables.n + 1) * sizeof *tables);
    struct dfc_callee *callee = dfc_alloc(b->u, sizeof *callee); /* its own, because the unit's array of them grows */
    if (!tables || !callee)
        return NULL;
    *callee = *b->callee;
    if (b->tables.n)
        memcpy(tables, b->tables.items, b->tables.n * sizeof *tables);
    kernel->callee = callee;
    kernel->ports = b->ports;
    kernel->n_ports = b->callee->sig.n_ports;
    kernel->tables = tables;
    kernel->n_tables = b->tables.n;
    return dff_number_nodes(b, kernel) && dff_add_group_scratch(b, kernel) ? kernel : NULL;
}

const struct dff_kernel *dff_check(struct dfc_unit *u, struct dfc_callee *callee)
{
    struct dff_build b = { .u = u, .callee = callee };
    const struct dff_kernel *kernel = check(&b);
    if (kernel)
        dff_warn_traps(&b);
    dff_build_free(&b);
    return kernel;
}
