/* pixels.c - formulas whose innermost indices are channels, as of images with three bytes a pixel: what rows.c, place.c and the sums around the columns
 * (around.c) need to know.
 *
 * Flat:     where each read has the column and some number, and then the channels as they are, channels are columns, too: the element x + e of channel c
 *           is 3 * x + c + 3 * e elements behind the row's first. So one loop goes over all elements of a row side by side, and its variable is 3 * x + c.
 * Plain:    where a channel is only an index of reads, one text in a loop over the channels is for all of them; else each has its own.
 */
#include "compiler/generate/gen.h"

#include <inttypes.h>
#include <stdlib.h>

uint32_t dfg_channel_slots(const struct dfg_gen *g)
{
    uint32_t slots = 0;
    for (unsigned d = (unsigned)g->column + 1; g->column >= 0 && d < g->formula->rank; d++)
        slots |= g->formula->is_index[d] ? 1u << d : 0;
    return slots;
}

int64_t dfg_channel(const struct dfg_gen *g)
{
    int64_t channel = 0;
    for (unsigned d = (unsigned)g->column + 1; d < g->formula->rank; d++)
        channel = g->apart >> d & 1 ? channel * dff_channels(g->kernel, g->formula, d) + dfg_block_of(g, 1u << d)->number : channel;
    return channel;
}

uint32_t dfg_plain_channels(const struct dfg_gen *g)
{
    uint32_t slots = dfg_channel_slots(g);
    for (unsigned i = 0; i < g->kernel->n_nodes; i++)
        for (uint32_t k = 0; k < g->kernel->nodes[i]->n_args && g->facts[i].uses && g->kernel->nodes[i]->kind != DFF_READ; k++) {
            const struct dff_node *arg = g->kernel->nodes[i]->args[k];
            slots &= arg && arg->kind == DFF_INDEX ? ~arg->slots : ~0u;
        }
    for (unsigned i = 0; i < g->n_siblings; i++)
        slots &= g->siblings[i]->value->kind == DFF_INDEX ? ~g->siblings[i]->value->slots : ~0u;
    return slots;
}

/* ---- flat ---- */

/* Are the read's last indices a column, moved by what is the same for all elements, and the channels? */
static bool is_flat_read(const struct dfg_gen *g, const struct dff_node *n)
{
    const struct dff_port *port = &g->kernel->ports[n->number];
    const unsigned channels = g->formula->rank - (unsigned)g->column - 1, column = n->n_args - channels - 1;
    const uint32_t both = dfg_channel_slots(g) | 1u << (unsigned)g->column;
    struct dfg_affine at;
    int64_t factor = 0;
    bool flat = n->n_args > channels && dfg_affine(g, n->args[column], &at);
    for (unsigned k = 0; k < n->n_args && flat; k++)
        if (k < column)
            flat = !(n->args[k]->slots & both);
        else if (k > column)
            flat = n->args[k]->kind == DFF_INDEX && n->args[k]->number == (uint32_t)g->column + k - column && port->extents[k]->kind == DFF_CONST &&
                   port->extents[k]->i == dff_channels(g->kernel, g->formula, (unsigned)g->column + k - column);
    for (unsigned i = 0; flat && i < at.n; i++) {
        factor = !at.term[i].dim && (int)at.term[i].number == g->column ? at.term[i].factor : factor;
        flat = at.term[i].dim || !(dfg_channel_slots(g) >> at.term[i].number & 1);
    }
    return flat && factor == 1;
}

/* Does the value depend on columns and channels through such reads alone? */
static bool is_flat(const struct dfg_gen *g, const struct dff_node *n, bool *seen)
{
    const uint32_t both = dfg_channel_slots(g) | 1u << (unsigned)g->column;
    bool flat = n->kind != DFF_INDEX && n->kind != DFF_TABLE;
    if (!(n->slots & both) || seen[n->id])
        return true;
    seen[n->id] = true;
    if (n->kind == DFF_READ)
        return is_flat_read(g, n);
    for (uint32_t r = 0; r < n->n_ranges && flat; r++)
        flat = !((n->ranges[r].from->slots | n->ranges[r].to->slots) & both);
    for (uint32_t k = 0; k < n->n_args && flat; k++)
        flat = !n->args[k] || is_flat(g, n->args[k], seen);
    return flat;
}

int64_t dfg_flat_channels(struct dfg_gen *g)
{
    bool *seen = calloc(g->kernel->n_nodes + 1u, sizeof *seen), flat = seen && g->n_siblings == 1;
    int64_t channels = 1;
    g->failed |= !seen;
    for (unsigned d = (unsigned)g->column + 1; d < g->formula->rank && flat; d++) {
        flat = g->formula->is_index[d];
        channels *= flat ? dff_channels(g->kernel, g->formula, d) : 1;
    }
    flat = flat && channels > 1 && is_flat(g, g->formula->value, seen);
    free(seen);
    return flat ? channels : 0;
}

/* C for the place of such a read; at: those of the dimensions before the columns, of which the first `lead` are fixed. */
const char *dfg_flat_place(struct dfg_gen *g, const struct dff_node *n, unsigned lead, const struct dfg_text *at)
{
    const struct dff_port *port = &g->kernel->ports[n->number];
    const unsigned column = n->n_args - (g->formula->rank - (unsigned)g->column);
    struct dff_port before = { .rank = column - lead };
    struct dfg_affine place;
    dfg_affine(g, n->args[column], &place);
    for (unsigned i = 0; i < place.n; i++)
        place.term[i].factor *= !place.term[i].dim && (int)place.term[i].number == g->column ? 1 : g->flat;
    place.constant *= g->flat;
    const char *text = dfg_affine_text(g, &place).c;
    if (column == lead)
        return text;
    for (unsigned d = lead; d < column; d++)
        before.extents[d - lead] = port->extents[d];
    return dfg_printf(g, "(%s) * (%s * %" PRId64 ") + %s", dfg_offset(g, &before, at + lead), dfg_within(g, dfg_index(g, port->extents[column]), DFG_TIMES), g->flat, text);
}

const char *dfg_flat_end(struct dfg_gen *g, const char *column)
{
    return g->flat ? dfg_printf(g, "%" PRId64 " * %s", g->flat, column) : column;
}
