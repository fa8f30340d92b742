/* extents.c - the extents of kernels' ports as code over their dimension variables, for programs in which some kernel
 * decides an extent in each wave. The runtime finds the extents of each wave by it. to_builder.c calls it for every kernel.
 */
#include <stdio.h>
#include <string.h>

#include "compiler/elab/elab.h"

enum { MOST_WORDS = 2 * DFC_MAX_CODE };

struct writer {
    struct dfc_unit *u;
    const struct dfc_callee *callee;
    uint64_t *words;                    /* MOST_WORDS */
    uint32_t n;
    bool full;
};

static void put(struct writer *w, uint64_t word)
{
    w->full |= w->n == MOST_WORDS;
    if (!w->full)
        w->words[w->n++] = word;
}

static void put_operand(struct writer *w, enum df_x op, uint64_t operand)
{
    put(w, op);
    put(w, operand);
}

static void write_expr(struct writer *w, const struct dfl_expr *e);

/* min(a, b, c) is min(min(a, b), c). */
static void write_call(struct writer *w, const struct dfl_expr *e)
{
    const enum df_x op = strcmp(e->s, "min") == 0 ? DF_X_MIN : DF_X_MAX;
    write_expr(w, e->args);
    for (const struct dfl_expr *arg = e->args->next; arg; arg = arg->next) {
        write_expr(w, arg);
        put(w, op);
    }
}

/* What has no variable in it is a number. The rest is what the format of a port may hold, and it was folded before. */
static void write_expr(struct writer *w, const struct dfl_expr *e)
{
    const struct dfc_names names = { .use = DFC_USE_PORT, .callee = w->callee };
    const struct dfc_sig *sig = &w->callee->sig;
    struct dfc_value value;
    if (!dfc_fold(w->u, &names, e, &value))
        return;
    if (value.known) {
        put_operand(w, DF_X_INT, (uint64_t)value.n.i);
        return;
    }
    switch (e->kind) {
    case DFL_EXPR_NAME:
        for (unsigned v = 0; v < sig->n_variables; v++)
            if (strcmp(sig->variables[v].name.text, e->s) == 0)
                put_operand(w, DF_X_ARG, v);
        break;
    case DFL_EXPR_CALL:
        write_call(w, e);
        break;
    default:
        write_expr(w, e->a);
        if (e->b)
            write_expr(w, e->b);
        put(w, dfc_operator(e->op));
    }
}

bool dfc_item_varies(const struct dfc_elab *e, const struct dfc_item *item, uint8_t *bounded)
{
    const struct dfc_sig *sig = &item->callee->sig;
    const uint32_t *in = e->in_values + item->first_in;
    bool *variables = dfc_alloc(e->u, (sig->n_variables + 1u) * sizeof *variables), varies = false;
    for (unsigned v = 0; variables && v < sig->n_variables; v++)
        variables[v] = sig->variables[v].bound != NULL;
    for (unsigned i = 0; variables && i < sig->n_in; i++) {
        const struct dfc_port *port = &sig->ports[sig->in_port[i]];
        varies |= bounded[in[i]] != 0;
        for (unsigned d = 0; d < port->rank; d++)
            if (port->dims[d].kind == DFC_DIM_VARIABLE && bounded[in[i]] >> d & 1)
                variables[port->dims[d].variable] = true;
    }
    for (unsigned i = 0; variables && i < sig->n_out; i++) {
        const struct dfc_port *port = &sig->ports[sig->out_port[i]];
        uint8_t *of = &bounded[item->first_out + i];
        if (item->callee->built_in)
            *of = bounded[in[0]];
        for (unsigned d = 0; d < port->rank; d++)
            if (port->dims[d].expr && dfc_extent_is_bounded(sig, port->dims[d].expr, variables))
                *of |= (uint8_t)(1u << d);
        varies |= *of != 0;
    }
    return varies;
}

bool dfc_has_bounds(const struct dfc_unit *u)
{
    const struct dfc_kernel_code *codes = u->kernels.items;
    for (uint32_t i = 0; i < u->callee_items.n; i++) {
        const struct dfc_callee *callee = &dfc_callees(u)[i];
        const bool called = callee->kernel && callee->id < u->kernels.n && codes[callee->id].called;
        for (unsigned v = 0; called && v < callee->sig.n_variables; v++) /* the ports of a graph that is called have no code */
            if (callee->sig.variables[v].bound)
                return true;
    }
    return false;
}

int dfc_fill_extents(struct dfc_unit *u, const struct dfc_callee *callee, uint32_t kernel, struct df_error *error)
{
    const struct dfc_sig *sig = &callee->sig;
    struct df_extent_desc *extents = dfc_alloc(u, (sig->n_ports + 1u) * DF_MAX_RANK * sizeof *extents);
    for (unsigned i = 0; extents && i < sig->n_ports * DF_MAX_RANK; i++) {
        const struct dfc_port *port = &sig->ports[i / DF_MAX_RANK];
        const struct dfc_dim *dim = &port->dims[i % DF_MAX_RANK];
        struct writer w = { .u = u, .callee = callee };
        if (i % DF_MAX_RANK >= port->rank || dim->kind == DFC_DIM_NUMBER)
            continue;
        w.words = dfc_alloc(u, MOST_WORDS * sizeof *w.words);
        if (!w.words)
            return DF_E_MEMORY;
        write_expr(&w, dim->expr);
        if (w.full) {
            snprintf(error->text, sizeof error->text, "an extent of port '%s' of '%s' is too long an expression",
                     port->ast->name.text, callee->name);
            return DF_E_ARGUMENT;
        }
        extents[i] = (struct df_extent_desc){ w.words, w.n, dim->own };
    }
    return extents ? df_builder_extents(u->builder, kernel, extents, error) : DF_E_MEMORY;
}
