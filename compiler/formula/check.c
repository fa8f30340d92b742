/* check.c - the formulas of one kernel from beginning to end: ports, lets, then each formula, then what they define
 * together. Every step relies on what the step before it has checked.
 */
#include <string.h>

#include "compiler/formula/build.h"

static bool check_value(struct dff_build *b, const struct dff_place *place, struct dff_formula *f)
{
    const struct dff_port *port = &b->ports[f->port];
    struct dff_value v;
    return dff_expr(b, place, f->ast->value, &v) &&
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
        !dff_check_domains(b, kernel->formulas, kernel->n_formulas) || !dff_check_lets_used(b))
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
    return dff_number_nodes(b, kernel) ? kernel : NULL;
}

const struct dff_kernel *dff_check(struct dfc_unit *u, struct dfc_callee *callee)
{
    struct dff_build b = { .u = u, .callee = callee };
    const struct dff_kernel *kernel = check(&b);
    dff_build_free(&b);
    return kernel;
}
