/* nodes.c - translates for merge.c the expression nodes of members into nodes of the fused group: dimensions and
 * scalars are renumbered, and a read of an inlined stream is replaced by the expression of its element.
 *
 * Functions here recurse over nodes, whose depth is limited (formula/formula.h).
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/fusion/merge.h"

#define MOST_ARGS 8                     /* of one node: indices of a read, operands */

typedef const struct dff_node *change(void *context, const struct dff_node *node);

/* A node with other operands. */
static const struct dff_node *with_operands(struct dff_build *b, const struct dff_node *n, change *each, void *context)
{
    const struct dff_node *args[MOST_ARGS];
    struct dff_range *ranges = n->n_ranges ? dfc_alloc(b->u, n->n_ranges * sizeof *ranges) : NULL;
    struct dff_node copy = *n;
    if (n->n_args > MOST_ARGS || (n->n_ranges && !ranges))
        return NULL;
    for (uint32_t k = 0; k < n->n_args; k++)
        if ((args[k] = n->args[k]) && !(args[k] = each(context, n->args[k])))
            return NULL;
    for (uint32_t k = 0; k < n->n_ranges; k++) {
        ranges[k] = n->ranges[k];
        if (!(ranges[k].from = each(context, n->ranges[k].from)) || !(ranges[k].to = each(context, n->ranges[k].to)))
            return NULL;
    }
    copy.args = args;
    copy.ranges = ranges;
    return dff_intern(b, &copy);
}

/* ---- the value of a stream at a place ---- */

struct place {
    struct dff_build *b;
    const struct dff_node *const *at;   /* by index */
    uint32_t indices;                   /* bit s: slot s is one */
    const struct dff_node **memo;       /* by id of nodes that were there before */
};

static const struct dff_node *move(void *context, const struct dff_node *n)
{
    struct place *p = context;
    if (n->kind == DFF_INDEX)
        return p->indices >> n->number & 1 ? p->at[n->number] : n;
    if (!(n->slots & p->indices))
        return n;
    if (!p->memo[n->id])
        p->memo[n->id] = with_operands(p->b, n, move, p);
    return p->memo[n->id];
}

static const struct dff_node *value_at(struct dff_build *b, const struct dff_node *value,
                                       const struct dff_node *const *at, unsigned rank)
{
    struct place place = { b, at, (1u << rank) - 1, calloc(b->nodes.n + 1u, sizeof *place.memo) };
    if (!place.memo) {
        dfc_no_memory(b->u);
        return NULL;
    }
    const struct dff_node *moved = move(&place, value);
    free(place.memo);
    return moved;
}

/* ---- reads ---- */

static bool same_border(const struct dff_port *a, const enum dff_border *border, const struct dff_node *const *outside)
{
    for (unsigned d = 0; d < a->rank; d++)
        if (a->border[d] != border[d] || a->outside[d] != outside[d])
            return false;
    return true;
}

/* One more port with the elements of `base`. */
static bool add_port(struct dfu_merge *m, uint32_t base)
{
    struct dfl_port *ast = dfc_alloc(m->b.u, sizeof *ast);
    const char *name = dfu_new_name(m, m->ports[base].ast->name.text);
    if (!ast || !name)
        return false;
    *ast = *m->ports[base].ast;
    ast->name.text = name;
    m->ports[m->n_ports] = m->ports[base];
    m->ports[m->n_ports++].ast = ast;
    return true;
}

/* The number under which the group's port `base` has the borders that the member's port has. DF_NONE: no memory. */
static uint32_t bordered_port(struct dfu_merge *m, uint32_t base, const struct dff_port *port)
{
    const struct dff_node *outside[DF_MAX_RANK] = { NULL };
    for (unsigned d = 0; d < port->rank; d++)
        if (port->outside[d] && !(outside[d] = dfu_node(m, port->outside[d])))
            return DF_NONE;
    uint32_t p = base;
    if (m->has_border[base]) {
        p = 0;
        while (p < m->n_ports && !(m->ports[p].memory == base && m->has_border[p] &&
                                   same_border(&m->ports[p], port->border, outside)))
            p++;
        if (p < m->n_ports)
            return p;
        if (!add_port(m, base))
            return DF_NONE;
    }
    m->has_border[p] = true;
    memcpy(m->ports[p].border, port->border, sizeof m->ports[p].border);
    memcpy(m->ports[p].outside, outside, sizeof m->ports[p].outside);
    m->ports[p].border_loc = port->border_loc;
    return p;
}

static const struct dff_node *change_node(void *context, const struct dff_node *node)
{
    return dfu_node(context, node);
}

static const struct dff_node *read(struct dfu_merge *m, const struct dff_node *n)
{
    const struct dfu_member *member = &m->wiring->member[m->member];
    const struct dfc_sig *sig = &member->callee->sig;
    const struct dff_port *port = &member->callee->formula->ports[n->number];
    const struct dfu_source *from = &member->in[sig->ports[n->number].in_slot];
    const struct dfu_stream *stream = from->member < 0 ? NULL : &m->streams[from->member][from->slot];
    if (stream && stream->inlined) {
        const struct dff_node *at[DF_MAX_RANK];
        for (uint32_t d = 0; d < n->n_args; d++)
            if (!(at[d] = dfu_node(m, n->args[d])))
                return NULL;
        return value_at(&m->b, stream->value, at, port->rank);
    }
    struct dff_node copy = *n;
    copy.number = bordered_port(m, stream ? stream->port : from->slot, port);
    return copy.number == DF_NONE ? NULL : with_operands(&m->b, &copy, change_node, m);
}

/* ---- other nodes ---- */

static const struct dff_node *table(struct dfu_merge *m, const struct dff_node *n)
{
    const struct dff_table *wanted = m->wiring->member[m->member].callee->formula->tables[n->number];
    const struct dff_table **tables = m->b.tables.items;
    struct dff_node copy = *n;
    for (copy.number = 0; copy.number < m->b.tables.n; copy.number++)
        if (tables[copy.number]->decl == wanted->decl)
            break;
    if (copy.number == m->b.tables.n) {
        const struct dff_table **added = dfr_array_add(&m->b.tables, sizeof *added, 1);
        if (!added) {
            dfc_no_memory(m->b.u);
            return NULL;
        }
        *added = wanted;
    }
    return with_operands(&m->b, &copy, change_node, m);
}

static const struct dff_node *translate(struct dfu_merge *m, const struct dff_node *n)
{
    struct dff_node copy = *n;
    switch (n->kind) {
    case DFF_DIM: return m->variables[m->member][n->number];
    case DFF_SCALAR:
        copy.number += m->first_scalar[m->member];
        return with_operands(&m->b, &copy, change_node, m);
    case DFF_READ: return read(m, n);
    case DFF_TABLE: return table(m, n);
    default: return with_operands(&m->b, n, change_node, m);
    }
}

const struct dff_node *dfu_node(struct dfu_merge *m, const struct dff_node *node)
{
    if (!m->memo[node->id])
        m->memo[node->id] = translate(m, node);
    return m->memo[node->id];
}
