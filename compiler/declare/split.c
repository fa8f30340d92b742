/* split.c - checks for sig.c `split z halo e` on the ports of a kernel: whether a node can be divided into parts that
 * each compute a range of z.
 *
 * A part receives its number of rows in place of z in every format of the kernel, so z must be the first dimension of
 * each port that has it. Tmp ports, which are scratch, are exempt.
 */
#include <string.h>

#include "compiler/declare/declare.h"

#define MOST_HALO 1000000000

static bool named(const struct dfc_sig *sig, const char *name, uint32_t *variable)
{
    for (*variable = 0; *variable < sig->n_variables; ++*variable)
        if (strcmp(sig->variables[*variable].name.text, name) == 0)
            return true;
    return false;
}

static bool mentions(const struct dfl_expr *e, const char *name)
{
    if (!e)
        return false;
    bool does = e->kind == DFL_EXPR_NAME && strcmp(e->s, name) == 0;
    for (const struct dfl_expr *arg = e->args; arg; arg = arg->next)
        does |= mentions(arg, name);
    return does || mentions(e->a, name) || mentions(e->b, name);
}

/* ---- one port ---- */

static bool check_halo(struct dfc_unit *u, struct dfc_port *port)
{
    const struct dfc_names names = { .use = DFC_USE_HALO };
    const struct dfl_expr *e = port->ast->halo;
    int64_t halo;
    bool known;
    if (!e)
        return true;
    if (port->ast->mode != DFL_IN) {
        dfl_error(u->sink, e->loc, "a halo is for what a kernel reads, and '%s' is '%s'", port->ast->name.text,
                  dfl_mode_name(port->ast->mode));
        return false;
    }
    if (!dfc_fold_int(u, &names, e, &halo, &known))
        return false;
    if (known && (halo < 0 || halo > MOST_HALO)) {
        dfl_error(u->sink, e->loc, "a halo is a number of rows from 0 to %d, but this is %lld", MOST_HALO,
                  (long long)halo);
        return false;
    }
    port->halo = (uint32_t)halo;
    return true;
}

/* Does the port begin with the dimension that its 'split' names? */
static bool check_first(struct dfc_unit *u, const struct dfc_port *port, uint32_t variable)
{
    const struct dfl_name *split = &port->ast->split;
    if (port->rank && port->dims[0].kind == DFC_DIM_VARIABLE && port->dims[0].variable == variable)
        return true;
    dfl_error(u->sink, split->loc, "'split %s' on '%s', whose first dimension is not '%s' itself", split->text,
              port->ast->name.text, split->text);
    dfl_hint(u->sink, "parts are ranges of the first dimension, which lie in one piece of memory");
    return false;
}

static bool check_port(struct dfc_unit *u, struct dfc_callee *callee, struct dfc_port *port, const struct dfl_name **first)
{
    const struct dfl_name *split = &port->ast->split;
    struct dfc_sig *sig = &callee->sig;
    uint32_t variable;
    if (!named(sig, split->text, &variable)) {
        dfl_error(u->sink, split->loc, "'%s' is not a dimension of '%s'", split->text, callee->name);
        dfl_hint(u->sink, "'split' names the first dimension of its port");
        return false;
    }
    if (*first && variable != sig->split_variable) {
        dfl_error(u->sink, split->loc, "'%s' is divided along '%s' and along '%s'", callee->name, (*first)->text,
                  split->text);
        dfl_note(u->sink, (*first)->loc, "the first is here");
        return false;
    }
    *first = *first ? *first : split;
    sig->split_variable = variable;
    port->split = true;
    return check_first(u, port, variable) && check_halo(u, port);
}

/* ---- the kernel ---- */

/* A port without 'split' is whole for each part. So it does not have z, and it is not made. */
static bool check_whole(struct dfc_unit *u, const struct dfc_callee *callee, const struct dfc_port *port,
                        const struct dfl_name *split)
{
    enum dfl_mode mode = port->ast->mode;
    bool has = false;
    for (unsigned d = 0; d < port->rank; d++)
        has |= mentions(port->dims[d].expr, split->text) && (d > 0 || !port->split);
    if (has && mode != DFL_TMP && !port->split && port->rank && port->dims[0].kind == DFC_DIM_VARIABLE &&
        strcmp(callee->sig.variables[port->dims[0].variable].name.text, split->text) == 0)
        dfl_error(u->sink, port->ast->loc, "'%s' is divided along '%s', but '%s', which has it, does not say 'split %s'",
                  callee->name, split->text, port->ast->name.text, split->text);
    else if (has && mode != DFL_TMP)
        dfl_error(u->sink, port->ast->loc, "'%s' is divided along '%s', which '%s' has in another place", callee->name,
                  split->text, port->ast->name.text);
    else if (!port->split && (mode == DFL_OUT || mode == DFL_INOUT || mode == DFL_ACC))
        dfl_error(u->sink, port->ast->loc, "'%s' is divided along '%s', but each part would make all of '%s'",
                  callee->name, split->text, port->ast->name.text);
    else
        return true;
    dfl_note(u->sink, split->loc, "it is divided here");
    dfl_hint(u->sink, "'split %s' stands on each port that has '%s', and '%s' is its first dimension", split->text,
             split->text, split->text);
    return false;
}

static bool check_kernel(struct dfc_unit *u, const struct dfc_callee *callee, const struct dfl_name *split)
{
    const struct dfl_kernel *kernel = callee->kernel;
    if (!kernel) {
        dfl_error(u->sink, split->loc, "'split' is for ports of kernels, and '%s' is a graph", callee->name);
        return false;
    }
    if (kernel->has_formulas) {
        dfl_error(u->sink, split->loc, "'split' on a port of '%s', which has formulas", callee->name);
        dfl_hint(u->sink, "what formulas read is known: leave it out, and '@parts(n)' on a call divides it");
        return false;
    }
    if (kernel->traits & (DFL_ORDERED | DFL_STREAM)) {
        dfl_error(u->sink, split->loc, "'%s' is '%s', so its nodes cannot be divided", callee->name,
                  kernel->traits & DFL_STREAM ? "stream" : "ordered");
        return false;
    }
    if (callee->sig.n_out)
        return true;
    dfl_error(u->sink, split->loc, "'%s' has no output, so there is nothing of which parts could be made", callee->name);
    return false;
}

bool dfc_split_check(struct dfc_unit *u, struct dfc_callee *callee)
{
    struct dfc_sig *sig = &callee->sig;
    const struct dfl_name *first = NULL;
    bool ok = true;
    for (unsigned p = 0; p < sig->n_ports && ok; p++)
        if (sig->ports[p].ast->split.text)
            ok = (first || check_kernel(u, callee, &sig->ports[p].ast->split)) &&
                 check_port(u, callee, &sig->ports[p], &first);
    for (unsigned p = 0; p < sig->n_ports && ok && first; p++)
        ok = check_whole(u, callee, &sig->ports[p], first);
    sig->split = ok && first;
    return ok;
}
