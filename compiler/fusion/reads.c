/* reads.c - decides whether a formula kernel can be a member of a fused group, or be divided, and which rows of its inputs it reads. The rest of the room asks
 * it, and elab/divisible.c and generate/row_range.c for divided nodes.
 *
 * A member makes row after row of all its outputs. What it reads of another member are rows at fixed distances, or those of a stream
 * that has some rows for one, or one for some: `y + c`, `2 * y + c`, `y / 2 + c`, `(y + c) / 2`, with c a number or a range
 * between numbers, also kept inside by max and min. Which dimension counts rows is found for the whole group (group_rows.c).
 */
#include "compiler/fusion/fusion.h"
#include "runtime/df_strips.h"

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

/* What an index is for row y: from (times * y + low) / by to (times * y + high) / by, rounded down. times 0: the same for all rows. */
struct span { int64_t times, by, low, high; };

static struct span negative(struct span s)
{
    return (struct span){ -s.times, s.by, s.by - 1 - s.high, s.by - 1 - s.low };
}

/* Of two spans that change with the row one at most is a quotient. */
static bool sum(struct span a, struct span b, struct span *s)
{
    if (a.times && b.by > 1)
        return false;
    *s = a.times ? a : b;
    if (!a.times)
        b = a;
    *s = (struct span){ s->times + s->by * b.times, s->by, s->low + s->by * b.low, s->high + s->by * b.high };
    return true;
}

/* by: a number. */
static bool product(struct span a, int64_t by, struct span *s)
{
    if (by < 0)
        a = negative(a);
    by = by < 0 ? -by : by;
    *s = (struct span){ a.times * by, a.by, (a.low - (a.by - 1)) * by, a.high * by };
    if (a.by == 1 || by == 1)
        s->low = a.low * by;
    return by > 0 && by <= FARTHEST;
}

/* Rounded to 0, or down. */
static bool quotient(struct span a, int64_t by, bool floor, struct span *s)
{
    if (by < 1 || by > DFU_MOST_RATIO || a.times < 0)
        return false;
    *s = (struct span){ a.times, a.by * by, a.low, a.high };
    if (!floor && a.low < 0)            /* at row 0 it may be negative */
        s->high += a.by * (by - 1);
    if (!a.times)
        *s = (struct span){ 0, 1, df_strip_floor(a.low, by), df_strip_floor(s->high, by) };
    return true;
}

static bool span_of(const struct dff_kernel *k, const struct dff_node *n, unsigned slot, struct span *s);

static bool span_of_op(const struct dff_kernel *k, const struct dff_node *n, unsigned slot, struct span *s)
{
    struct span a, b = { 0, 1, 0, 0 };
    if (!span_of(k, n->args[0], slot, &a) || (n->n_args > 1 && !span_of(k, n->args[1], slot, &b)))
        return false;
    const bool number = !b.times && b.low == b.high;
    switch (n->op) {
    case DFF_NEG: *s = negative(a); return true;
    case DFF_ADD: return sum(a, b, s);
    case DFF_SUB: return sum(a, negative(b), s);
    case DFF_MUL: return number ? product(a, b.low, s) : !a.times && a.low == a.high && product(b, a.low, s);
    case DFF_DIV: return number && quotient(a, b.low, false, s);
    case DFF_SHR: return number && b.low >= 0 && b.low < 7 && quotient(a, 1 << b.low, true, s);
    case DFF_MAX:                       /* rows are 0 or more */
        *s = a.times ? a : b;
        b = a.times ? b : a;
        s->high = b.high * s->by > s->high ? b.high * s->by : s->high;
        return !b.times && s->times >= 0;
    default: return false;
    }
}

static bool span_of(const struct dff_kernel *k, const struct dff_node *n, unsigned slot, struct span *s)
{
    *s = (struct span){ 0, 1, n->i, n->i };
    if (n->kind == DFF_CONVERT && n->elem == DF_I32 && n->args[0]->type == DFF_I32)
        return span_of(k, n->args[0], slot, s);
    if (n->kind == DFF_INDEX && n->number == slot)
        *s = (struct span){ 1, 1, 0, 0 };
    else if (n->kind == DFF_INDEX ? !slot_range(k, n->number, &s->low, &s->high)
             : n->kind == DFF_OP  ? n->type != DFF_I32 || !span_of_op(k, n, slot, s)
                                  : !is_number(n))
        return false;
    return fits(s->low) && fits(s->high) && s->times <= DFU_MOST_RATIO && s->by <= DFU_MOST_RATIO;
}

/* The index without what keeps it below the extent: rows behind the last one do not count. */
static const struct dff_node *without_end(const struct dff_node *index, const struct dff_node *extent)
{
    for (int k = 0; k < 2 && index->kind == DFF_OP && index->op == DFF_MIN; k++) {
        const struct dff_node *end = index->args[k];
        if (end->kind == DFF_OP && end->op == DFF_SUB && end->args[0] == extent && is_number(end->args[1]) && end->args[1]->i == 1)
            return index->args[1 - k];
    }
    return index;
}

bool dfu_ends_read(const struct dff_kernel *kernel, const struct dff_node *read, unsigned d)
{
    return without_end(read->args[d], kernel->ports[read->number].extents[d]) != read->args[d];
}

/* The indices that a read has in dimension d while `slot` is row y, say. false: that is not how it reads. */
static bool indices_of(const struct dff_kernel *k, const struct dff_node *read, unsigned d, unsigned slot, struct span *s)
{
    return span_of(k, without_end(read->args[d], k->ports[read->number].extents[d]), slot, s) && s->times > 0;
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

/* How many indices of the output lead to one index in dimension d: two at y / 2. */
static uint64_t repeats_of(const struct dff_kernel *k, const struct dff_node *read, unsigned d)
{
    struct span s;
    for (unsigned slot = 0; slot < DF_MAX_RANK; slot++)
        if (read->args[d]->slots >> slot & 1 && indices_of(k, read, d, slot, &s))
            return (uint64_t)((s.by + s.times - 1) / s.times);
    return 1;
}

/* Adds what one read reads. false: the rows cannot be told, or other reads have other rates. */
static bool add_rows(const struct dfc_callee *callee, const struct dff_node *read, unsigned dim, struct dfu_rows *rows)
{
    const struct dff_kernel *k = callee->formula;
    struct span s;
    if (!indices_of(k, read, dim, dim, &s) || (rows->taps && (s.times * rows->rate.by != s.by * rows->rate.times)))
        return false;
    const struct dfu_rows one = dfu_rows_through(&(struct dfu_rows){ .rate = { 1, 1 } },
                                                 &(struct dfu_rows){ .rate = { s.times, s.by }, .low = s.low, .high = s.high });
    uint64_t taps = taps_of(k, read);
    rows->low = !rows->taps || one.low < rows->low ? one.low : rows->low;
    rows->high = !rows->taps || one.high > rows->high ? one.high : rows->high;
    rows->rate = one.rate;
    rows->taps += taps;
    for (unsigned d = 0; d < read->n_args; d++)
        taps *= repeats_of(k, read, d);
    rows->times += taps;
    return true;
}

const char *dfu_why_no_rows(const struct dfc_callee *callee, unsigned port, unsigned dim, struct dfu_rows *rows)
{
    const struct dff_kernel *k = callee->formula;
    bool inside = true;
    *rows = (struct dfu_rows){ .rate = { 1, 1 } };
    if (k->ports[port].rank <= dim)
        return "it reads a single number";
    for (unsigned i = 0; i < k->n_nodes; i++) {
        const struct dff_node *n = k->nodes[i];
        if (n->kind != DFF_READ || n->number != port)
            continue;
        if (!add_rows(callee, n, dim, rows)) {
            rows->loc = n->loc;
            return DFU_NO_ROWS;
        }
        inside &= callee->proof->access[i][dim].inside;
    }
    rows->border = inside || k->ports[port].border[dim] == DFF_NUMBER ? DFF_NONE : k->ports[port].border[dim];
    return rows->border == DFF_WRAP_AROUND ? "its border is 'wrap', which leads to the other end" : NULL;
}
