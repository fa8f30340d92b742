/* names.c - resolves a name in a formula, for expr.c: an index, range or argument of a let; a let, port, dimension,
 * scalar, table, param or arg, tried in this order. The first five share one namespace and hide the others. The rest of
 * the room has new names checked here.
 */
#include <string.h>
#include <strings.h>

#include "compiler/formula/build.h"
#include "compiler/formula/table.h"

unsigned dff_find_port(const struct dff_build *b, const char *name)
{
    unsigned p = 0;
    while (p < b->callee->sig.n_ports && strcmp(b->callee->sig.ports[p].ast->name.text, name) != 0)
        p++;
    return p;
}

static unsigned find_variable(const struct dfc_sig *sig, const char *name)
{
    unsigned v = 0;
    while (v < sig->n_variables && strcmp(sig->variables[v].name.text, name) != 0)
        v++;
    return v;
}

static unsigned find_scalar(const struct dfc_sig *sig, const char *name)
{
    unsigned s = 0;
    while (s < sig->n_given && strcmp(sig->scalars[s]->name.text, name) != 0)
        s++;
    return s;
}

static const struct dff_scope *find_scope(const struct dff_scope *scope, const struct dff_scope *end, const char *name)
{
    while (scope != end && strcmp(scope->name, name) != 0)
        scope = scope->outer;
    return scope != end ? scope : NULL;
}

/* ---- new names ---- */

static bool taken(struct dff_build *b, const char *what, const char *name, struct dfl_loc loc, const char *by,
                  const struct dfl_loc *first)
{
    if (strcmp(what, by) == 0)
        dfl_error(b->u->sink, loc, "%s '%s' is declared twice", what, name);
    else
        dfl_error(b->u->sink, loc, "'%s' is the name of a %s and of %s %s", name, by, *what == 'i' ? "an" : "a", what);
    dfl_note(b->u->sink, *first, "the %s is here", strcmp(what, by) == 0 ? "first" : by);
    return false;
}

bool dff_new_name(struct dff_build *b, const struct dff_place *place, const char *what, const char *name,
                  struct dfl_loc loc)
{
    const struct dfc_sig *sig = &b->callee->sig;
    const struct dff_scope *same = find_scope(place->scope, place->fence, name);
    const struct dff_let *let = dff_find_let(b, name);
    unsigned p = dff_find_port(b, name), v = find_variable(sig, name), s = find_scalar(sig, name);
    if (same) {
        dfl_error(b->u->sink, loc, "'%s' is the name of an index in force here", name);
        dfl_note(b->u->sink, same->loc, "that index is here");
        return false;
    }
    if (p < sig->n_ports)
        return taken(b, what, name, loc, "port", &sig->ports[p].ast->name.loc);
    if (v < sig->n_variables)
        return taken(b, what, name, loc, "dimension", &sig->variables[v].name.loc);
    if (s < sig->n_given)
        return taken(b, what, name, loc, "scalar", &sig->scalars[s]->name.loc);
    if (let)
        return taken(b, what, name, loc, "let", &let->ast->name.loc);
    /* indices are variables of the generated code, and lets are none */
    return strcmp(what, "index") != 0 || !dfc_name_reserved(b->u, what, &(struct dfl_name){ name, loc });
}

/* ---- unknown names ---- */

static void add_name(struct dfr_array *list, const char *name)
{
    const char **item = dfr_array_add(list, sizeof *item, 1);
    if (item)
        *item = name;
}

static bool unknown(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e)
{
    const struct dfc_sig *sig = &b->callee->sig;
    struct dfr_array list = { 0 };
    dfl_error(b->u->sink, e->loc, "unknown name '%s' in a formula", e->s);
    if (!dfl_sink_shows(b->u->sink))
        return false;
    for (const struct dff_scope *scope = place->scope; scope; scope = scope->outer)
        add_name(&list, scope->name);
    for (unsigned i = 0; i < b->n_lets; i++)
        add_name(&list, b->lets[i].ast->name.text);
    for (unsigned i = 0; i < sig->n_ports; i++)
        add_name(&list, sig->ports[i].ast->name.text);
    for (unsigned i = 0; i < sig->n_variables; i++)
        add_name(&list, sig->variables[i].name.text);
    for (unsigned i = 0; i < sig->n_given; i++)
        add_name(&list, sig->scalars[i]->name.text);
    for (uint32_t i = 0; i < b->u->tables.names.n; i++)
        add_name(&list, dfc_index_names(&b->u->tables)[i]);
    for (uint32_t i = 0; i < b->u->params.names.n; i++)
        add_name(&list, dfc_index_names(&b->u->params)[i]);
    if (strcasecmp(e->s, "true") == 0 || strcasecmp(e->s, "false") == 0)
        dfl_hint(b->u->sink, "truth values are 1 and 0, and a comparison is one");
    else if (!dfc_hint_name(b->u, e->s, list.items, list.n) && dfl_sink_errors(b->u->sink) == 1)
        dfl_hint(b->u->sink, "a formula knows the indices of its left side, and the ports, dimensions, scalars and lets of its kernel");
    dfr_array_free(&list);
    return false;
}

/* ---- what has indices ---- */

/* "port", "table" or "let" with n dimensions was named with `given` indices; 0: without brackets. */
static bool wrong_rank(struct dff_build *b, const struct dfl_expr *e, const char *what, unsigned n, unsigned given,
                       const struct dfl_loc *declared)
{
    const char *plural = n == 1 ? (*what == 'l' ? "index" : "dimension") : *what == 'l' ? "indices" : "dimensions";
    if (n == 0)
        dfl_error(b->u->sink, e->loc, "%s '%s' has no %s: it stands without brackets", what, e->s, plural);
    else if (!given)
        dfl_error(b->u->sink, e->loc, "%s '%s' has %u %s, but none is given", what, e->s, n, plural);
    else
        dfl_error(b->u->sink, e->loc, "%s '%s' has %u %s, but %u %s given", what, e->s, n, plural, given,
                  given == 1 ? "is" : "are");
    dfl_note(b->u->sink, *declared, "'%s' is declared here", e->s);
    if (!given && n > 0)
        dfl_hint(b->u->sink, "a formula computes with elements: '%s[%s]'; of all of them, a reduction, as in 'sum(i in 0..n: v[i])'", e->s,
                 n == 1 ? "i" : n == 2 ? "y, x" : "...");
    return false;
}

static bool check_rank(struct dff_build *b, const struct dfl_expr *e, const char *what, unsigned rank,
                       const struct dfl_loc *declared)
{
    unsigned n = 0;
    for (const struct dfl_expr *arg = e->args; arg; arg = arg->next)
        n++;
    return n == rank || wrong_rank(b, e, what, rank, n, declared);
}

static bool read_indices(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e,
                         const struct dff_node **args)
{
    bool ok = true;
    for (const struct dfl_expr *arg = e->args; arg; arg = arg->next, args++) {
        struct dff_value v;
        ok &= dff_expr(b, place, arg, &v) && (*args = dff_as_index(b, &v, "an index", arg->loc));
    }
    return ok;
}

/* Adds the place to those in which the element is read. A let is written out for each use, and counts once in a formula. */
static bool note_written(struct dff_build *b, const struct dff_place *place, struct dfl_loc loc, struct dff_node *node)
{
    const struct dff_written **last = &node->written;
    for (unsigned n = 0; *last; n++, last = (const struct dff_written **)&(*last)->next)
        if (n == DFF_MOST_WRITTEN || ((*last)->formula == place->left && memcmp(&(*last)->loc, &loc, sizeof loc) == 0))
            return true;
    struct dff_written *written = dfc_alloc(b->u, sizeof *written);
    if (!written)
        return false;
    *written = (struct dff_written){ loc, place->left, place->range, place->given, NULL };
    *last = written;
    return true;
}

static bool element(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e, const struct dff_node *want,
                    struct dff_value *v)
{
    struct dff_node *node = (struct dff_node *)dff_intern(b, want);
    return node && note_written(b, place, e->loc, node) && dff_value_node(v, node, false);
}

/* An inout or acc port holds old values and new ones, so a formula sees only the element that it is about to write. */
static bool check_inout(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e, unsigned port,
                        const struct dff_node *const *args)
{
    const struct dff_formula *left = place->left;
    bool same = left->port == port;
    for (unsigned d = 0; d < left->rank && same; d++)
        same = left->is_index[d] ? args[d]->kind == DFF_INDEX && args[d]->number == d
                                 : args[d]->kind == DFF_CONST && args[d]->i == left->at[d];
    if (same)
        return true;
    const char *mode = dfl_mode_name(b->ports[port].ast->mode);
    if (left->port == port)
        dfl_error(b->u->sink, e->loc, "%s port '%s' is read at another element than the one that is written", mode, e->s);
    else
        dfl_error(b->u->sink, e->loc, "%s port '%s' is read where '%s' is written: its own formulas alone read it", mode, e->s,
                  b->ports[left->port].ast->name.text);
    dfl_hint(b->u->sink, "%s", b->ports[port].mode != DF_ACC ? "make it an 'in' port, and add an 'out' port for the result"
                               : left->port == port ? "a kernel that reads the acc's result fires once, after the last wave"
                                                    : "a kernel in C reads and writes its ports in any order: cpu {{ ... }}");
    return false;
}

static bool read_port(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e, unsigned p,
                      struct dff_value *v)
{
    const struct dff_port *port = &b->ports[p];
    const struct dff_node *args[DF_MAX_RANK];
    if (port->ast->mode == DFL_OUT) {
        dfl_error(b->u->sink, e->loc, "'%s' is an out port: formulas cannot read it", e->s);
        dfl_hint(b->u->sink, "give the expression a name by 'let', and use that in both places");
        return false;
    }
    if (!check_rank(b, e, "port", port->rank, &port->ast->name.loc) || !read_indices(b, place, e, args))
        return false;
    if (port->ast->mode != DFL_IN && !check_inout(b, place, e, p, args))
        return false;
    return element(b, place, e, &(struct dff_node){ .kind = DFF_READ, .type = dff_promoted(port->elem), .elem = port->elem,
                                                    .number = p, .loc = e->loc, .n_args = port->rank, .args = args }, v);
}

static bool read_table(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e,
                       const struct dff_table *table, struct dff_value *v)
{
    const struct dff_node *args[DF_MAX_RANK];
    uint32_t t = 0;
    if (!check_rank(b, e, "table", table->rank, &table->decl->name.loc) || !read_indices(b, place, e, args))
        return false;
    while (t < b->tables.n && ((const struct dff_table *const *)b->tables.items)[t] != table)
        t++;
    if (t == b->tables.n) {
        const struct dff_table **item = dfr_array_add(&b->tables, sizeof *item, 1);
        if (!item)
            return dfc_no_memory(b->u);
        *item = table;
    }
    return element(b, place, e, &(struct dff_node){ .kind = DFF_TABLE, .type = dff_promoted(table->elem), .elem = table->elem,
                                                    .number = t, .loc = e->loc, .n_args = table->rank, .args = args }, v);
}

static bool use_let(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e, struct dff_let *let,
                    struct dff_value *v)
{
    struct dff_value *args = dfc_alloc(b->u, (let->n_indices + 1) * sizeof *args);
    unsigned i = 0;
    if (!args || !check_rank(b, e, "let", let->n_indices, &let->ast->name.loc))
        return false;
    bool ok = true;
    for (const struct dfl_expr *arg = e->args; arg; arg = arg->next)
        ok &= dff_expr(b, place, arg, &args[i++]);
    return ok && dff_expand(b, place, let, args, e, v);
}

/* ---- what has none ---- */

static bool no_brackets(struct dff_build *b, const struct dfl_expr *e, const char *what)
{
    if (e->kind == DFL_EXPR_NAME)
        return true;
    dfl_error(b->u->sink, e->loc, "'%s' is %s: it has no elements", e->s, what);
    return false;
}

static bool read_scalar(struct dff_build *b, const struct dfl_expr *e, unsigned s, struct dff_value *v)
{
    static const enum dff_type types[] = { [DFL_I32] = DFF_I32, [DFL_I64] = DFF_I64, [DFL_F32] = DFF_F32,
                                           [DFL_F64] = DFF_F64 };
    enum dfl_scalar type = b->callee->sig.scalars[s]->type;
    if (type == DFL_STRING) {
        dfl_error(b->u->sink, e->loc, "scalar '%s' is a string, and formulas compute with numbers", e->s);
        return false;
    }
    return dff_value_node(v, dff_leaf(b, DFF_SCALAR, types[type], s, e->loc), false);
}

/* Names that are declared outside of the kernel. */
static bool global(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e, struct dff_value *v)
{
    uint32_t id;
    if (!place->extent && dfc_index_find(&b->u->tables, e->s, &id)) {
        const struct dff_table *table = ((const struct dfc_table *)b->u->table_items.items)[id].table;
        return table && read_table(b, place, e, table, v); /* NULL: reported at its declaration */
    }
    if (dfc_index_find(&b->u->params, e->s, &id)) {
        const struct dfc_param *param = &dfc_params(b->u)[id];
        return no_brackets(b, e, param->arg == DF_NONE ? "a param" : "an arg") && dff_param(b, e, param, v);
    }
    if (e->kind == DFL_EXPR_INDEX && dff_is_function(e->s)) {
        dfl_error(b->u->sink, e->loc, "'%s' is a function: its values stand in parentheses", e->s);
        return false;
    }
    return unknown(b, place, e);
}

bool dff_name(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e, struct dff_value *v)
{
    const struct dfc_sig *sig = &b->callee->sig;
    const struct dff_scope *scope = find_scope(place->scope, NULL, e->s);
    unsigned n = find_variable(sig, e->s);
    struct dff_let *let;
    if (scope) {
        *v = scope->value;
        return no_brackets(b, e, "an index");
    }
    if (n < sig->n_variables)
        return no_brackets(b, e, "a dimension") &&
               dff_value_node(v, dff_leaf(b, DFF_DIM, DFF_I32, n, e->loc), false);
    if (place->extent)
        return global(b, place, e, v);
    if ((let = dff_find_let(b, e->s)))
        return use_let(b, place, e, let, v);
    if ((n = dff_find_port(b, e->s)) < sig->n_ports)
        return read_port(b, place, e, n, v);
    if ((n = find_scalar(sig, e->s)) < sig->n_given)
        return no_brackets(b, e, "a scalar") && read_scalar(b, e, n, v);
    return global(b, place, e, v);
}
