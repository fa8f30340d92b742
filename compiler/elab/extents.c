/* extents.c - compiles the extents of kernels' ports into expressions over their dimension variables, for programs in
 * which some kernel decides an extent in every wave. The runtime evaluates them to find the extents of each wave.
 * to_builder.c calls it for every kernel, and like fuse.c asks it whether a program has such extents.
 *
 * Groups:   a fused group is not called if a stream inside it would have an extent below 1; everything that leaves it
 *           is then empty, too. So the first extent of each leaving port is multiplied by 0 in such a wave. Rings keep
 *           their rows in all waves.
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

/* Kernels of imported files that no graph calls have no code in the program, and graphs never have. */
static bool has_code(const struct dfc_unit *u, const struct dfc_callee *callee)
{
    const struct dfc_kernel_code *codes = u->kernels.items;
    const struct dfc_loaded_file *files = u->files.items;
    return callee->kernel && callee->id < u->kernels.n &&
           (codes[callee->id].called || strcmp(dfl_sink_file_name(u->sink, callee->loc.file), files[0].path) == 0);
}

bool dfc_has_bounds(const struct dfc_unit *u)
{
    for (uint32_t i = 0; i < u->callee_items.n; i++) {
        const struct dfc_callee *callee = &dfc_callees(u)[i];
        const bool counts = has_code(u, callee);
        for (unsigned v = 0; counts && v < callee->sig.n_variables; v++)
            if (callee->sig.variables[v].bound)
                return true;
    }
    return false;
}

/* ---- groups ---- */

/* Extents of formulas are sums of variables times numbers, also divided by a number. */
static void write_node(struct writer *w, const struct dff_node *n)
{
    static const enum df_x operators[] = { [DFF_NEG] = DF_X_NEG, [DFF_ADD] = DF_X_ADD, [DFF_SUB] = DF_X_SUB,
                                           [DFF_MUL] = DF_X_MUL, [DFF_DIV] = DF_X_DIV, [DFF_MOD] = DF_X_MOD };
    if (n->kind == DFF_OP && n->op < sizeof operators / sizeof *operators) {
        for (uint32_t i = 0; i < n->n_args; i++)
            write_node(w, n->args[i]);
        put(w, operators[n->op]);
    } else {
        put_operand(w, n->kind == DFF_DIM ? DF_X_ARG : DF_X_INT, n->kind == DFF_DIM ? n->number : (uint64_t)n->i);
    }
}

/* 1 if the extent is 1 or more, else 0. */
static void write_is_there(struct writer *w, const struct dff_node *extent)
{
    write_node(w, extent);
    put_operand(w, DF_X_INT, 0);
    put(w, DF_X_MAX);
    put_operand(w, DF_X_INT, 1);
    put(w, DF_X_MIN);
}

static bool write_group(struct writer *w, unsigned port, unsigned d)
{
    const struct dff_kernel *kernel = w->callee->formula;
    const struct dff_port *p = &kernel->ports[port];
    if (d >= p->rank || kernel->strips->ring_rows[port] != DF_NONE)
        return false;
    write_node(w, p->extents[d]);
    for (unsigned i = 0; i < kernel->strips->n_inside && p->mode == DF_OUT && d == 0; i++) {
        write_is_there(w, kernel->strips->inside[i]);
        put(w, DF_X_MUL);
    }
    return true;
}

static bool write_extent(struct writer *w, unsigned port, unsigned d)
{
    const struct dfc_dim *dim = &w->callee->sig.ports[port].dims[d];
    if (w->callee->formula && w->callee->formula->strips)
        return write_group(w, port, d);
    if (d >= w->callee->sig.ports[port].rank || dim->kind == DFC_DIM_NUMBER)
        return false;
    write_expr(w, dim->expr);
    return true;
}

int dfc_fill_extents(struct dfc_unit *u, const struct dfc_callee *callee, unsigned n_ports, uint32_t kernel, struct df_error *error)
{
    const struct dfc_sig *sig = &callee->sig;
    struct df_extent_desc *extents = dfc_alloc(u, (n_ports + 1u) * DF_MAX_RANK * sizeof *extents);
    for (unsigned i = 0; extents && i < sig->n_ports * DF_MAX_RANK; i++) {
        const struct dfc_port *port = &sig->ports[i / DF_MAX_RANK];
        struct writer w = { .u = u, .callee = callee, .words = dfc_alloc(u, MOST_WORDS * sizeof *w.words) };
        if (!w.words)
            return DF_E_MEMORY;
        if (!write_extent(&w, i / DF_MAX_RANK, i % DF_MAX_RANK))
            continue;
        if (w.full) {
            snprintf(error->text, sizeof error->text, "an extent of port '%s' of '%s' is too long an expression",
                     port->ast->name.text, callee->name);
            return DF_E_ARGUMENT;
        }
        extents[i] = (struct df_extent_desc){ w.words, w.n, port->dims[i % DF_MAX_RANK].own };
    }
    return extents ? df_builder_extents(u->builder, kernel, extents, error) : DF_E_MEMORY;
}
