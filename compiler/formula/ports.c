/* ports.c - checks the ports of a kernel with formulas, for check.c: modes, extents, borders. */
#include <string.h>

#include "compiler/formula/build.h"

/* ---- extents ---- */

/* Is the node a sum of dimensions times numbers; `/` and `%` by a number above 0 included? A dynamic param is a number. */
static bool is_affine(const struct dff_build *b, const struct dff_node *n)
{
    if (dff_note_of(b, n)->fixed || n->kind == DFF_DIM)
        return true;
    if (n->kind != DFF_OP || !is_affine(b, n->args[0]))
        return false;
    switch (n->op) {
    case DFF_NEG: return true;
    case DFF_ADD:
    case DFF_SUB: return is_affine(b, n->args[1]);
    case DFF_MUL:
        return dff_note_of(b, n->args[1])->fixed || (dff_note_of(b, n->args[0])->fixed && is_affine(b, n->args[1]));
    case DFF_DIV:
    case DFF_MOD: return n->args[1]->kind == DFF_CONST && n->args[1]->i > 0;
    default: return false;
    }
}

/* Extent d of the declared type that the port has. */
static const struct dfl_expr *extent_of_type(const struct dff_build *b, const struct dfc_port *port, unsigned d)
{
    const struct dfl_format *format = port->ast->format;
    uint32_t id;
    while (!format->dims && dfc_index_find(&b->u->types, format->name.text, &id))
        format = dfc_types(b->u)[id].decl->format;
    const struct dfl_expr *e = format->dims;
    while (e && d--)
        e = e->next;
    return e;
}

/* Does the extent, which is a number for each run, differ from run to run? *expr: what says it. */
static bool is_dynamic(struct dff_build *b, const struct dfc_port *port, unsigned d, const struct dfl_expr **expr)
{
    const struct dfc_names names = { .use = DFC_USE_TYPE };
    struct dfc_value value;
    *expr = port->dims[d].expr ? port->dims[d].expr : extent_of_type(b, port, d);
    return *expr && dfc_fold(b->u, &names, *expr, &value) && value.dynamic;
}

/* A name in a type is that of a param, also where the kernel has a dimension of this name. */
static bool check_type(struct dff_build *b, const struct dfc_port *port, const struct dfl_expr *e)
{
    const struct dfc_sig *sig = &b->callee->sig;
    bool *all = dfc_alloc(b->u, (sig->n_variables + 1u) * sizeof *all);
    for (unsigned v = 0; all && v < sig->n_variables; v++)
        all[v] = true;
    if (!all || !dfc_extent_is_bounded(sig, e, all))
        return all != NULL;
    dfl_error(b->u->sink, port->ast->format->loc, "an extent of '%s' is a dynamic param, and '%s' has a dimension of its name",
              port->ast->format->name.text, b->callee->name);
    dfl_note(b->u->sink, e->loc, "the extent is here");
    dfl_hint(b->u->sink, "give the dimension another name");
    return false;
}

static const struct dff_node *extent(struct dff_build *b, const struct dfc_port *port, unsigned d)
{
    const struct dff_place place = { .extent = true };
    const struct dfc_dim *dim = &port->dims[d];
    const struct dfl_expr *expr = dim->expr;
    const struct dfl_loc loc = expr ? expr->loc : port->ast->format->loc;
    struct dff_value v;
    if (dim->kind == DFC_DIM_VARIABLE)
        return dff_leaf(b, DFF_DIM, DFF_I32, dim->variable, loc);
    if (dim->kind == DFC_DIM_NUMBER && !is_dynamic(b, port, d, &expr)) {
        dff_exact_int(&v, (int64_t)dim->number);
        return dff_as_index(b, &v, "a dimension of a kernel with formulas", loc);
    }
    if (!dim->expr && !check_type(b, port, expr))
        return NULL;
    const struct dff_node *node = dff_expr(b, &place, expr, &v)
                                      ? dff_as_index(b, &v, "a dimension of a kernel with formulas", loc) : NULL;
    if (!node || is_affine(b, node))
        return node;
    dfl_error(b->u->sink, loc, "a dimension of a kernel with formulas is a sum of dimensions times numbers");
    dfl_hint(b->u->sink, "'/' and '%%' by a number are allowed, too; any other size can be a dimension of its own");
    return NULL;
}

/* ---- borders ---- */

static bool border_name(struct dff_build *b, const struct dfl_expr *e, enum dff_border *border)
{
    static const char *const names[] = { [DFF_NONE] = "none", [DFF_CLAMP] = "clamp", [DFF_MIRROR] = "mirror",
                                         [DFF_REFLECT] = "reflect", [DFF_WRAP_AROUND] = "wrap" };
    enum { N = sizeof names / sizeof names[0] };
    unsigned i = 0;
    while (i < N && strcmp(names[i], e->s) != 0)
        i++;
    *border = (enum dff_border)i;
    if (i < N)
        return true;
    dfl_error(b->u->sink, e->loc, "there is no border '%s'", e->s);
    const char *close = dfl_suggest(e->s, names, N);
    if (close)
        dfl_hint(b->u->sink, "did you mean '%s'?", close);
    else
        dfl_hint(b->u->sink, "borders are clamp, mirror, reflect, wrap, none and a number");
    return false;
}

static bool edge(struct dff_build *b, struct dff_port *port, const struct dfl_expr *e, unsigned d)
{
    const struct dff_place place = { .extent = true };
    struct dff_value v;
    if (e->kind == DFL_EXPR_NAME)
        return border_name(b, e, &port->border[d]);
    port->border[d] = DFF_NUMBER;
    return dff_expr(b, &place, e, &v) &&
           (port->outside[d] = dff_as_stored(b, &v, port->elem, port->ast->name.text, e->loc));
}

static bool check_border(struct dff_build *b, struct dff_port *port)
{
    unsigned n = 0;
    const struct dfl_expr *e = port->ast->border;
    if (!e)
        return true;
    port->border_loc = e->loc;
    for (; e; e = e->next)
        n++;
    e = port->ast->border;
    if (port->rank == 0) {
        dfl_error(b->u->sink, e->loc, "port '%s' has no dimensions, so nothing is outside of it", port->ast->name.text);
        return false;
    }
    if (n != 1 && n != port->rank) {
        dfl_error(b->u->sink, e->loc, "port '%s' has %u dimension%s, but %u borders are given", port->ast->name.text,
                  port->rank, port->rank == 1 ? "" : "s", n);
        dfl_hint(b->u->sink, "give one for all dimensions, or one for each");
        return false;
    }
    bool ok = true;
    for (unsigned d = 0; d < port->rank; d++) {
        ok = ok && edge(b, port, e, d);
        e = e->next ? e->next : e;
    }
    return ok;
}

/* ---- ports ---- */

static bool check_mode(struct dff_build *b, const struct dfl_port *ast)
{
    if (ast->mode != DFL_TMP)
        return true;
    dfl_error(b->u->sink, ast->loc, "a 'tmp' port of a kernel with formulas is not yet supported");
    dfl_hint(b->u->sink, "give an expression a name by 'let', or make two kernels");
    return false;
}

static bool check_port(struct dff_build *b, const struct dfc_port *from, struct dff_port *port)
{
    static const enum df_mode modes[] = { [DFL_IN] = DF_IN, [DFL_OUT] = DF_OUT, [DFL_INOUT] = DF_INOUT,
                                          [DFL_TMP] = DF_TMP, [DFL_ACC] = DF_ACC };
    *port = (struct dff_port){ .ast = from->ast, .elem = from->elem, .mode = modes[from->ast->mode],
                               .rank = from->rank, .memory = (unsigned)(port - b->ports) };
    bool ok = check_mode(b, from->ast);
    for (unsigned d = 0; d < port->rank; d++)
        ok &= (port->extents[d] = extent(b, from, d)) != NULL;
    return check_border(b, port) && ok;
}

bool dff_check_ports(struct dff_build *b)
{
    const struct dfc_sig *sig = &b->callee->sig;
    bool ok = true;
    b->ports = dfc_alloc(b->u, (sig->n_ports + 1) * sizeof *b->ports);
    for (unsigned p = 0; b->ports && p < sig->n_ports; p++)
        ok &= check_port(b, &sig->ports[p], &b->ports[p]);
    if (b->ports && ok && !sig->n_out) {
        dfl_error(b->u->sink, b->callee->loc, "kernel '%s' has formulas and no out port", b->callee->name);
        ok = false;
    }
    return b->ports && ok;
}
