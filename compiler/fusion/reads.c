/* reads.c - can a kernel be a member of a group, and which rows of its inputs does it read?
 *
 * A member makes row after row of all its outputs. What it reads of another member are rows at fixed distances: `y + c`,
 * with c a number or a range between numbers. Which dimension counts rows is found for the whole group (group_rows.c).
 */
#include "compiler/fusion/fusion.h"

#define FARTHEST 65536                  /* rows between what is made and what is read */

/* ---- members ---- */

static const char *why_no_formula(const struct dff_kernel *k)
{
    const struct dff_port *first = NULL;
    for (unsigned i = 0; i < k->n_formulas; i++) {
        const struct dff_formula *f = &k->formulas[i];
        const struct dff_port *port = &k->ports[f->port];
        if (port->rank == 0)
            return "it makes a single number";
        if (!f->is_index[0])
            return "a formula of it defines a single row";
        if (first && first->extents[0] != port->extents[0])
            return "its outputs have unlike numbers of rows";
        first = port;
    }
    return NULL;
}

const char *dfu_why_no_part(const struct dfc_callee *callee)
{
    const struct dff_kernel *k = callee->formula;
    if (!k || !callee->proof)
        return "it has no formulas";
    if (callee->kernel->variants)
        return "it has a variant that is written";
    if (callee->kernel->traits & DFL_ONCE)
        return "it is 'once'";
    for (unsigned p = 0; p < k->n_ports; p++)
        if (k->ports[p].mode != DF_IN && k->ports[p].mode != DF_OUT && k->ports[p].mode != DF_ACC)
            return "it changes its input";
    for (unsigned i = 0; i < k->n_nodes; i++)
        if (k->nodes[i]->kind == DFF_REDUCE && k->nodes[i]->order != DFF_ORDER_FOLD)
            return "it reduces over data";
    return why_no_formula(k);
}

const char *dfu_why_no_member(const struct dfc_callee *callee)
{
    for (unsigned p = 0; p < callee->sig.n_ports; p++)
        if (callee->formula && callee->formula->ports[p].mode == DF_ACC)
            return "it has an 'acc'";
    return dfu_why_no_part(callee);
}

/* ---- rows ---- */

static bool is_number(const struct dff_node *n)
{
    return n->kind == DFF_CONST;
}

/* The least and the greatest value of a slot that is a range, wherever the kernel has it as one. false: not numbers. */
static bool slot_range(const struct dff_kernel *k, uint32_t slot, int64_t *least, int64_t *most)
{
    bool any = false;
    for (unsigned i = 0; i < k->n_formulas; i++)
        if (slot < k->formulas[i].rank)
            return false;
    for (unsigned i = 0; i < k->n_nodes; i++)
        for (uint32_t r = 0; r < k->nodes[i]->n_ranges; r++) {
            const struct dff_range *range = &k->nodes[i]->ranges[r];
            if (range->slot != slot)
                continue;
            if (!is_number(range->from) || !is_number(range->to))
                return false;
            if (range->from->i >= range->to->i)
                continue;
            *least = !any || range->from->i < *least ? range->from->i : *least;
            *most = !any || range->to->i - 1 > *most ? range->to->i - 1 : *most;
            any = true;
        }
    return any;
}

static bool fits(int64_t v)
{
    return v >= -FARTHEST && v <= FARTHEST;
}

/* The rows that one read takes: y + *low … y + *high. false: that is not how it reads. */
static bool rows_of(const struct dfc_callee *callee, const struct dff_access *a, unsigned dim, int64_t *low, int64_t *high)
{
    if (!a->affine || a->slot[dim] != 1 || !fits(a->constant))
        return false;
    for (unsigned v = 0; v < callee->sig.n_variables; v++)
        if (a->dim[v])
            return false;
    *low = *high = a->constant;
    for (uint32_t s = 0; s < DFF_MAX_SLOTS; s++) {
        int64_t least, most, c = a->slot[s];
        if (!c || s == dim)
            continue;
        if (!slot_range(callee->formula, s, &least, &most) || !fits(least) || !fits(most) || !fits(c))
            return false;
        *low += c * (c > 0 ? least : most);
        *high += c * (c > 0 ? most : least);
    }
    return fits(*low) && fits(*high);
}

/* How often the read is done for one element: once for each value of the ranges that its indices name. */
static uint64_t taps_of(const struct dff_kernel *k, const struct dff_node *read)
{
    uint64_t taps = 1;
    for (uint32_t s = 0; s < DFF_MAX_SLOTS && taps < FARTHEST; s++) {
        int64_t least, most;
        if (read->slots >> s & 1 && slot_range(k, s, &least, &most))
            taps *= (uint64_t)(most - least) + 1;
    }
    return taps;
}

const char *dfu_why_no_rows(const struct dfc_callee *callee, unsigned port, unsigned dim, struct dfu_rows *rows)
{
    const struct dff_kernel *k = callee->formula;
    bool inside = true, any = false;
    *rows = (struct dfu_rows){ 0 };
    if (k->ports[port].rank <= dim)
        return "it reads a single number";
    for (unsigned i = 0; i < k->n_nodes; i++) {
        const struct dff_node *n = k->nodes[i];
        if (n->kind != DFF_READ || n->number != port)
            continue;
        int64_t low, high;
        if (!rows_of(callee, &callee->proof->access[i][dim], dim, &low, &high))
            return "it does not read rows at fixed distances";
        rows->low = !any || low < rows->low ? low : rows->low;
        rows->high = !any || high > rows->high ? high : rows->high;
        inside &= callee->proof->access[i][dim].inside;
        rows->taps += taps_of(k, n);
        any = true;
    }
    rows->border = inside || k->ports[port].border[dim] == DFF_NUMBER ? DFF_NONE : k->ports[port].border[dim];
    return rows->border == DFF_WRAP_AROUND ? "its border is 'wrap', which leads to the other end" : NULL;
}
