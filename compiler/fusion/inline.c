/* inline.c - chooses for merge.c the streams of a group that are cheaper to recompute than to store: their readers
 * compute the elements themselves.
 *
 * A stream is inlined if each of its elements is read once, or if recomputing costs little. Elements outside a stream
 * cannot be computed, so all reads must be in bounds.
 */
#include "compiler/fusion/merge.h"

#define LITTLE 16                       /* operations for one element that may be done again, but for one read each */
#define MOST_NODES 60                   /* of a kernel that is inlined, and of one */
#define MOST_READER_NODES 200           /* into which it is: so nodes are not nested deeper than formulas may be */

/* ---- work ---- */

static uint64_t weight(const struct dff_node *n)
{
    if (n->kind == DFF_READ || n->kind == DFF_TABLE || n->kind == DFF_CONVERT || n->kind == DFF_REDUCE)
        return 1;
    if (n->kind != DFF_OP)
        return 0;
    if (n->op >= DFF_EXP && n->op <= DFF_TANH)
        return 20;
    return n->op == DFF_DIV || n->op == DFF_MOD || n->op == DFF_SQRT ? 4 : 1;
}

/* How often the node is computed for one element, as far as it shows in the ranges that it names. */
static uint64_t repeats(const struct dff_kernel *k, const struct dff_node *n)
{
    uint64_t times = 1;
    for (unsigned i = 0; i < k->n_nodes; i++)
        for (uint32_t r = 0; r < k->nodes[i]->n_ranges; r++) {
            const struct dff_range *range = &k->nodes[i]->ranges[r];
            if (n->slots >> range->slot & 1 && range->from->kind == DFF_CONST && range->to->kind == DFF_CONST &&
                range->to->i > range->from->i && times < UINT32_MAX)
                times *= (uint64_t)(range->to->i - range->from->i);
        }
    return times;
}

static uint64_t own_work(const struct dff_kernel *k)
{
    uint64_t work = 0;
    for (unsigned i = 0; i < k->n_nodes; i++)
        work += weight(k->nodes[i]) * repeats(k, k->nodes[i]);
    return work;
}

static bool has_reduction(const struct dff_kernel *k)
{
    for (unsigned i = 0; i < k->n_nodes; i++)
        if (k->nodes[i]->kind == DFF_REDUCE)
            return true;
    return false;
}

/* ---- may a stream be inlined? ---- */

/* Does no read of the port lead outside, or from outside to the last element? What the stream's own formula reads beside that would be that of another place. */
static bool is_inside(const struct dfc_callee *callee, unsigned port)
{
    const struct dff_kernel *k = callee->formula;
    for (unsigned i = 0; i < k->n_nodes; i++)
        for (unsigned d = 0; k->nodes[i]->kind == DFF_READ && k->nodes[i]->number == port && d < k->ports[port].rank; d++)
            if ((k->ports[port].border[d] != DFF_NONE && !callee->proof->access[i][d].inside) || dfu_ends_read(k, k->nodes[i], d))
                return false;
    return true;
}

/* Ranges of a reduction that is inlined must not have the slots of indices or ranges of the reader. */
static bool keeps_slots(const struct dfu_merge *m, unsigned reader, unsigned rank)
{
    const struct dff_kernel *k = m->wiring->member[reader].callee->formula;
    for (unsigned i = 0; i < k->n_formulas; i++)
        if (k->formulas[i].rank != rank)
            return false;
    return !has_reduction(k);
}

static const struct dff_formula *only_formula(const struct dff_kernel *k, unsigned port)
{
    const struct dff_formula *only = NULL;
    for (unsigned i = 0; i < k->n_formulas; i++)
        if (k->formulas[i].port == port) {
            if (only)
                return NULL;
            only = &k->formulas[i];
        }
    for (unsigned d = 0; only && d < only->rank; d++)
        if (!only->is_index[d])
            return NULL;
    return only;
}

/* Adds up how often one element is read by a member. false: it cannot be inlined there. */
static bool count_reads(const struct dfu_merge *m, unsigned reader, unsigned made, unsigned slot, unsigned rank,
                       uint64_t *times)
{
    const struct dfu_member *member = &m->wiring->member[reader];
    for (unsigned i = 0; i < member->callee->sig.n_in; i++) {
        const unsigned port = member->callee->sig.in_port[i];
        struct dfu_rows rows;
        if (member->in[i].member != (int32_t)made || member->in[i].slot != slot)
            continue;
        if (dfu_why_no_rows(member->callee, port, 0, &rows) || !is_inside(member->callee, port) ||
            member->callee->formula->n_nodes > MOST_READER_NODES ||
            (m->streams[made][slot].has_reduction && !keeps_slots(m, reader, rank)))
            return false;
        *times += rows.times;
    }
    return true;
}

static bool is_inlined(const struct dfu_merge *m, unsigned made, unsigned slot)
{
    const struct dfu_member *member = &m->wiring->member[made];
    const struct dff_kernel *k = member->callee->formula;
    const struct dff_formula *f = only_formula(k, member->callee->sig.out_port[slot]);
    uint64_t times = 0;
    if (member->leaves[slot] || !f || k->n_nodes > MOST_NODES)
        return false;
    for (unsigned reader = made + 1; reader < m->wiring->n; reader++)
        if (!count_reads(m, reader, made, slot, f->rank, &times))
            return false;
    return times < 2 || (times - 1) * (m->streams[made][slot].work - 1) <= LITTLE;
}

/* What is inlined in a member counts as its own. */
static void add_inputs(struct dfu_merge *m, unsigned reader)
{
    const struct dfu_member *member = &m->wiring->member[reader];
    uint64_t work = own_work(member->callee->formula);
    bool reduces = has_reduction(member->callee->formula);
    for (unsigned i = 0; i < member->callee->sig.n_in; i++) {
        struct dfu_rows rows;
        if (member->in[i].member < 0)
            continue;
        const struct dfu_stream *s = &m->streams[member->in[i].member][member->in[i].slot];
        if (!s->inlined)
            continue;
        dfu_why_no_rows(member->callee, member->callee->sig.in_port[i], 0, &rows);
        work += rows.taps * s->work;
        reduces |= s->has_reduction;
    }
    for (unsigned slot = 0; slot < member->callee->sig.n_out; slot++) {
        m->streams[reader][slot].work = work;
        m->streams[reader][slot].has_reduction = reduces;
    }
}

bool dfu_choose_inlined(struct dfu_merge *m)
{
    for (unsigned i = 0; i < m->wiring->n; i++) {
        const unsigned n_out = m->wiring->member[i].callee->sig.n_out;
        if (!(m->streams[i] = dfc_alloc(m->b.u, (n_out + 1u) * sizeof *m->streams[i])))
            return false;
        add_inputs(m, i);
        for (unsigned slot = 0; slot < n_out; slot++) {
            m->streams[i][slot].inlined = is_inlined(m, i, slot);
            m->group->n_inlined += m->streams[i][slot].inlined;
        }
    }
    return true;
}
