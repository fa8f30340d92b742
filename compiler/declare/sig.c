/* sig.c - builds and checks the signature of a kernel or graph for decl.c: ports, dimension variables and scalars.
 *
 * A name that is by itself the extent of a port, as in f32[n], is always a dimension variable. In a larger expression,
 * as in f32[2 * n], a name is a variable of this signature if it is also such an extent somewhere in the signature,
 * else a param. Unification (elab/dims.c) binds variables at the former; expressions are then only evaluated or
 * compared.
 */
#include <string.h>

#include "compiler/declare/declare.h"
#include "compiler/formula/table.h"

/* ---- names ---- */

struct seen {
    struct dfl_name name;
    const char *what;
};

/* Ports, dimensions and scalars share one list of names, because in C they are arguments of one function. */
static void check_name(struct dfc_unit *u, struct seen *seen, unsigned *n, const char *what,
                       const struct dfl_name *name)
{
    if (dfc_name_reserved(u, what, name))
        return;
    for (unsigned i = 0; i < *n; i++) {
        if (strcmp(seen[i].name.text, name->text) != 0)
            continue;
        if (strcmp(seen[i].what, what) == 0)
            dfl_error(u->sink, name->loc, "%s '%s' is declared twice", what, name->text);
        else
            dfl_error(u->sink, name->loc, "'%s' is the name of a %s and of a %s", name->text, seen[i].what, what);
        dfl_note(u->sink, seen[i].name.loc, "the first is here");
        if (strcmp(seen[i].what, "dimension") == 0 && strcmp(what, "scalar") == 0)
            dfl_hint(u->sink, "leave out the scalar: code and calls have the dimension '%s' by its name", name->text);
        return;
    }
    seen[(*n)++] = (struct seen){ *name, what };
}

static bool check_names(struct dfc_unit *u, const struct dfc_sig *sig)
{
    struct seen *seen = dfc_alloc(u, (sig->n_ports + sig->n_variables + sig->n_scalars + 1) * sizeof *seen);
    unsigned n = 0;
    if (!seen)
        return false;
    for (unsigned i = 0; i < sig->n_ports; i++)
        check_name(u, seen, &n, "port", &sig->ports[i].ast->name);
    for (unsigned i = 0; i < sig->n_variables; i++)
        check_name(u, seen, &n, "dimension", &sig->variables[i].name);
    for (unsigned i = 0; i < sig->n_scalars; i++)
        check_name(u, seen, &n, "scalar", &sig->scalars[i]->name);
    return true;
}

/* ---- dimension variables ---- */

static unsigned find_variable(const struct dfc_sig *sig, const char *name)
{
    unsigned i = 0;
    while (i < sig->n_variables && strcmp(sig->variables[i].name.text, name) != 0)
        i++;
    return i;
}

/* 'h <= 4096' in an out port: it is decided inside. In an in port of a graph: callers decide it. */
static bool takes_bound(const struct dfc_callee *callee, const struct dfl_port *port, const struct dfl_expr *e)
{
    return dfc_extent_has_bound(e) && (port->mode == DFL_OUT || (port->mode == DFL_IN && callee->graph));
}

/* Finds the dimension variables, in the order of their first appearance. */
static bool collect_variables(struct dfc_unit *u, struct dfc_callee *callee, const struct dfl_sig *ast)
{
    struct dfc_sig *sig = &callee->sig;
    unsigned room = 0;
    enum df_elem elem;
    for (const struct dfl_port *port = ast->ports; port; port = port->next)
        room += port->format->rank;
    sig->variables = dfc_alloc(u, (room + 1) * sizeof *sig->variables);
    uint8_t *given = dfc_alloc(u, room + 1);            /* by variable: does an input or an output give it? */
    if (!sig->variables || !given)
        return false;
    for (const struct dfl_port *port = ast->ports; port; port = port->next) {
        const struct dfl_expr *e = dfc_elem_of(u, port->format->name.text, &elem) ? port->format->dims : NULL;
        for (; e; e = e->next) {
            const struct dfl_expr *name = takes_bound(callee, port, e) ? e->a : e;
            if (name->kind != DFL_EXPR_NAME)
                continue;
            unsigned v = find_variable(sig, name->s);
            if (v == sig->n_variables)
                sig->variables[sig->n_variables++].name = (struct dfl_name){ name->s, name->loc };
            if (name != e && !sig->variables[v].bound)
                sig->variables[v].bound = e->b;
            sig->variables[v].from_input |= port->mode == DFL_IN || port->mode == DFL_INOUT;
            given[v] |= port->mode != DFL_TMP;
        }
    }
    bool ok = true;
    for (unsigned v = 0; v < sig->n_variables; v++) {
        sig->needs_annotation |=
            !sig->variables[v].from_input && (!sig->variables[v].bound || dfc_bound_is_open(sig->variables[v].bound));
        if (given[v])
            continue;
        const struct dfl_name *name = &sig->variables[v].name;
        dfl_error(u->sink, name->loc, "dimension '%s' is in no input and no output", name->text);
        dfl_hint(u->sink, "a bare name is a dimension variable, never a param; a fixed size is written as a type: "
                 "'type scratch = f32[%s];'", name->text);
        ok = false;
    }
    return ok;
}

/* ---- ports ---- */

/* The first name in a bound that is a dimension of the callee and no param. NULL: there is none. */
static const struct dfl_expr *dimension_in(struct dfc_unit *u, const struct dfc_callee *callee, const struct dfl_expr *e)
{
    const struct dfl_expr *found;
    uint32_t id;
    if (!e)
        return NULL;
    if (e->kind == DFL_EXPR_NAME && !dfc_index_find(&u->params, e->s, &id) && find_variable(&callee->sig, e->s) < callee->sig.n_variables)
        return e;
    found = dimension_in(u, callee, e->a);
    found = found ? found : dimension_in(u, callee, e->b);
    for (const struct dfl_expr *arg = e->args; arg && !found; arg = arg->next)
        found = dimension_in(u, callee, arg);
    return found;
}

static bool check_bound(struct dfc_unit *u, const struct dfc_callee *callee, const struct dfl_port *port,
                        const struct dfl_expr *e, struct dfc_dim *dim)
{
    const struct dfc_names names = { .use = DFC_USE_MOST };
    const struct dfl_expr *dimension;
    struct dfc_variable *variable;
    bool known;
    if (e->a->kind != DFL_EXPR_NAME) {
        dfl_error(u->sink, e->a->loc, DFC_BOUND_NEEDS_NAME);
        return false;
    }
    *dim = (struct dfc_dim){ .kind = DFC_DIM_VARIABLE, .variable = find_variable(&callee->sig, e->a->s), .expr = e->a,
                             .own = true };
    variable = &callee->sig.variables[dim->variable];
    const bool taken = variable->from_input && port->mode == DFL_OUT;
    if (taken || variable->bound != e->b) {
        if (taken)
            dfl_error(u->sink, e->loc, "dimension '%s' comes from an input, so '%s' cannot decide it", e->a->s,
                      callee->name);
        else
            dfl_error(u->sink, e->loc, "dimension '%s' has two bounds", e->a->s);
        dfl_note(u->sink, taken ? variable->name.loc : variable->bound->loc, "the first use is here");
        dfl_hint(u->sink, taken ? "another name is a dimension of its own: 'n <= 100'"
                                : "the other ports have its name alone");
        return false;
    }
    if (callee->kernel && callee->kernel->has_formulas) {
        dfl_error(u->sink, e->loc, "'%s' has formulas, which say nothing of an extent", callee->name);
        dfl_hint(u->sink, "a kernel with code decides extents; kernels with formulas can read what it makes");
        return false;
    }
    if (!dfc_bound_is_open(e->b) && (dimension = dimension_in(u, callee, e->b))) {
        dfl_error(u->sink, dimension->loc, "'%s' is a dimension, and a bound is a number over params", dimension->s);
        if (callee->kernel)
            dfl_hint(u->sink, "'%s <= _' leaves the bound to the calls: '%s: %s[%s <= 100] = %s(...);'", e->a->s, port->name.text,
                     port->format->name.text, e->a->s, callee->name);
        return false;
    }
    if (!dfc_bound_is_open(e->b))
        return dfc_fold_extent(u, &names, e->b, &variable->most, &known);
    if (callee->kernel)
        return true;
    dfl_error(u->sink, e->b->loc, "'_' leaves the bound to the calls of a kernel, and '%s' is a graph", callee->name);
    dfl_hint(u->sink, port->mode == DFL_OUT ? "write the bound, or leave out '<= _': what is assigned inside says it"
                                            : "write the bound: 'n <= 100'");
    return false;
}

static bool check_dim(struct dfc_unit *u, const struct dfc_callee *callee, const struct dfl_expr *e,
                      struct dfc_dim *dim)
{
    const struct dfc_names names = { .use = DFC_USE_PORT, .callee = callee };
    bool known;
    *dim = (struct dfc_dim){ .kind = DFC_DIM_VARIABLE, .expr = e };
    if (e->kind == DFL_EXPR_NAME) {
        dim->variable = find_variable(&callee->sig, e->s);
        return true;
    }
    if (!dfc_fold_extent(u, &names, e, &dim->number, &known))
        return false;
    dim->kind = known ? DFC_DIM_NUMBER : DFC_DIM_EXPR;
    return true;
}

static bool check_port(struct dfc_unit *u, const struct dfc_callee *callee, struct dfc_port *port)
{
    const struct dfl_format *format = port->ast->format;
    const struct dfc_names names = { .use = DFC_USE_PORT, .callee = callee };
    struct dfc_format whole;
    bool ok = true;
    if (!dfc_elem_of(u, format->name.text, &port->elem)) { /* it is a declared type, whose extents are all numbers */
        if (!dfc_format_fold(u, &names, format, &whole))
            return false;
        port->elem = (enum df_elem)whole.elem;
        port->rank = whole.rank;
        for (unsigned i = 0; i < port->rank; i++)
            port->dims[i] = (struct dfc_dim){ .kind = DFC_DIM_NUMBER, .number = whole.dims[i] };
        return true;
    }
    whole = (struct dfc_format){ .elem = (uint8_t)port->elem, .rank = (uint8_t)format->rank };
    bool fixed = true;
    uint64_t bytes;
    for (const struct dfl_expr *e = format->dims; e; e = e->next, port->rank++) {
        struct dfc_dim *dim = &port->dims[port->rank];
        ok &= takes_bound(callee, port->ast, e) ? check_bound(u, callee, port->ast, e, dim) : check_dim(u, callee, e, dim);
        fixed &= ok && dim->kind == DFC_DIM_NUMBER;
        whole.dims[port->rank] = dim->number;
    }
    if (fixed && !dfc_format_bytes(&whole, &bytes)) {
        dfl_error(u->sink, format->loc, "the size of '%s' does not fit in 63 bits", port->ast->name.text);
        return false;
    }
    return ok;
}

/* What an acc is at first, if a number says it. */
static bool check_initial(struct dfc_unit *u, struct dfc_port *port)
{
    int64_t i = 0;
    double f = 0;
    const char *whose = port->ast->initial ? dfc_printf(u, "port '%s'", port->ast->name.text) : NULL;
    if (!port->ast->initial)
        return true;
    if (!whose || !dff_read_number(u, port->ast->initial, port->elem, whose, &i, &f))
        return false;
    port->initial = dff_elem_bits(port->elem, i, f);
    return true;
}

static bool check_mode(struct dfc_unit *u, const struct dfc_callee *callee, const struct dfl_port *port)
{
    if (port->border && !(callee->kernel && callee->kernel->has_formulas)) {
        dfl_error(u->sink, port->border->loc, "a border is for what formulas read, and '%s' has no formulas",
                  callee->name);
        return false;
    }
    unsigned never = callee->kernel && port->mode == DFL_ACC ? callee->kernel->traits & (DFL_ONCE | DFL_STREAM | DFL_RESTART | DFL_RESUME) : 0;
    if (never) {
        dfl_error(u->sink, port->loc, "kernel '%s' is '%s', so it has no 'acc'", callee->name,
                  never & DFL_ONCE ? "once" : never & DFL_STREAM ? "stream" : never & DFL_RESTART ? "restart" : "resume");
        dfl_hint(u->sink, never & DFL_ONCE     ? "an acc is changed by every wave: what fires once has an 'out' port"
                          : never & DFL_STREAM ? "a stream may end in the middle of a wave: let another kernel read what it "
                                                 "gives, and add it up"
                          : never & DFL_RESUME ? "leave 'resume' out: what an acc holds after some waves cannot be had without these waves"
                                               : "a source that is called again would change it twice: let another kernel read "
                                                 "what it gives, and add it up");
        return false;
    }
    if (callee->kernel || port->mode == DFL_IN || port->mode == DFL_OUT)
        return true;
    dfl_error(u->sink, port->loc, "a port of a graph must be 'in' or 'out', but '%s' is '%s'", port->name.text,
              dfl_mode_name(port->mode));
    return false;
}

static void number_slots(struct dfc_sig *sig)
{
    for (unsigned p = 0; p < sig->n_ports; p++) {
        struct dfc_port *port = &sig->ports[p];
        enum dfl_mode mode = port->ast->mode;
        port->in_slot = port->out_slot = -1;
        if (mode == DFL_IN || mode == DFL_INOUT) {
            port->in_slot = (int)sig->n_in;
            sig->in_port[sig->n_in++] = (uint16_t)p;
        }
        if (mode == DFL_OUT || mode == DFL_INOUT || mode == DFL_ACC) {
            port->out_slot = (int)sig->n_out;
            sig->out_port[sig->n_out++] = (uint16_t)p;
        }
    }
}

bool dfc_sig_check(struct dfc_unit *u, struct dfc_callee *callee, const struct dfl_sig *ast)
{
    struct dfc_sig *sig = &callee->sig;
    if (!ast)
        return true;
    unsigned before = dfl_sink_errors(u->sink), i = 0;
    sig->ports = dfc_alloc(u, (ast->n_ports + 1) * sizeof *sig->ports);
    sig->scalars = dfc_alloc(u, (ast->n_scalars + 1) * sizeof *sig->scalars);
    sig->in_port = dfc_alloc(u, (ast->n_ports + 1) * sizeof *sig->in_port);
    sig->out_port = dfc_alloc(u, (ast->n_ports + 1) * sizeof *sig->out_port);
    if (!sig->ports || !sig->scalars || !sig->in_port || !sig->out_port)
        return false;
    for (const struct dfl_scalar_decl *scalar = ast->scalars; scalar; scalar = scalar->next)
        sig->scalars[sig->n_scalars++] = scalar;
    sig->n_given = sig->n_scalars;
    bool ok = collect_variables(u, callee, ast);
    if (u->no_memory)
        return false;
    for (const struct dfl_port *port = ast->ports; port; port = port->next, i++) {
        sig->ports[i].ast = port;
        sig->n_ports++;
        ok &= check_mode(u, callee, port);
    }
    for (i = 0; i < sig->n_ports; i++)
        ok &= check_port(u, callee, &sig->ports[i]) && check_initial(u, &sig->ports[i]);
    number_slots(sig);
    ok = ok && dfc_split_check(u, callee);
    return check_names(u, sig) && ok && dfl_sink_errors(u->sink) == before;
}
