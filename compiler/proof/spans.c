/* spans.c - interval analysis, before anything is lowered: bounds for prove.c the values of integer nodes by their
 * types and by what they read, wherever they occur. The rest of the room takes the ranges of types from it (prover.h).
 */
#include "compiler/proof/prover.h"

/* ---- types ---- */

struct dff_span dff_elem_span(enum df_elem elem)
{
    struct dff_span span;
    dff_elem_ends(elem, &span.low, &span.high);
    return span;
}

struct dff_span dff_type_span(enum dff_type type)
{
    return type == DFF_BOOL ? (struct dff_span){ 0, 1 } : dff_elem_span(type == DFF_I32 ? DF_I32 : DF_I64);
}

static struct dff_span joined(struct dff_span a, struct dff_span b)
{
    return (struct dff_span){ a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high };
}

int64_t dff_clamped(__int128 x, struct dff_span to)
{
    return x < to.low ? to.low : x > to.high ? to.high : (int64_t)x;
}

/* The span, or all of the type if it does not fit in. */
static struct dff_span in_type(__int128 low, __int128 high, enum dff_type type)
{
    const struct dff_span all = dff_type_span(type);
    return low < all.low || high > all.high ? all : (struct dff_span){ (int64_t)low, (int64_t)high };
}

static struct dff_span product(struct dff_span a, struct dff_span b, enum dff_type type)
{
    const __int128 ends[] = { (__int128)a.low * b.low, (__int128)a.low * b.high, (__int128)a.high * b.low,
                              (__int128)a.high * b.high };
    __int128 low = ends[0], high = ends[0];
    for (unsigned i = 1; i < 4; i++) {
        low = ends[i] < low ? ends[i] : low;
        high = ends[i] > high ? ends[i] : high;
    }
    return in_type(low, high, type);
}

bool dff_is_number(const struct dff_prover *p, const struct dff_node *node, int64_t *value)
{
    const struct dfc_sig *sig = &p->kernel->callee->sig;
    const struct dfc_hidden *hidden =
        node->kind == DFF_SCALAR && node->number >= sig->n_given ? &sig->hidden[node->number - sig->n_given] : NULL;
    uint32_t id;
    if (node->type != DFF_I32 && node->type != DFF_I64)
        return false;
    if (p->values && hidden && !hidden->is_arg && dfc_index_find(&p->u->params, hidden->value->s, &id)) {
        *value = dfc_params(p->u)[id].value.n.i;
        return true;
    }
    *value = node->i;
    return node->kind == DFF_CONST;
}

bool dff_is_integer(const struct dff_node *node)
{
    return node->type == DFF_I32 || node->type == DFF_I64;
}

static struct dff_span span_of_op(const struct dff_prover *p, const struct dff_node *node)
{
    const struct dff_span *spans = p->spans;
    const struct dff_span a = spans[node->args[0]->id], all = dff_type_span(node->type);
    const struct dff_span b = node->n_args > 1 ? spans[node->args[1]->id] : a;
    int64_t by;
    switch (node->op) {
    case DFF_NEG: return in_type(-(__int128)a.high, -(__int128)a.low, node->type);
    case DFF_ADD: return in_type((__int128)a.low + b.low, (__int128)a.high + b.high, node->type);
    case DFF_SUB: return in_type((__int128)a.low - b.high, (__int128)a.high - b.low, node->type);
    case DFF_MUL: return product(a, b, node->type);
    case DFF_MIN: return (struct dff_span){ a.low < b.low ? a.low : b.low, a.high < b.high ? a.high : b.high };
    case DFF_MAX: return (struct dff_span){ a.low > b.low ? a.low : b.low, a.high > b.high ? a.high : b.high };
    case DFF_CHOOSE: return joined(b, spans[node->args[2]->id]);
    case DFF_DIV:
        if (dff_is_number(p, node->args[1], &by) && by > 0)
            return (struct dff_span){ a.low / by, a.high / by };
        return all;
    case DFF_MOD:
        if (dff_is_number(p, node->args[1], &by) && by > 0)
            return (struct dff_span){ a.low < 0 ? 1 - by : 0, a.high > 0 ? by - 1 : 0 };
        return all;
    case DFF_BITAND:
        if (a.low < 0 && b.low < 0)
            return all;
        return (struct dff_span){ 0, b.low >= 0 ? b.high : a.high };
    default: return all;
    }
}

/* A count of terms whose ranges are numbers. */
static struct dff_span span_of_count(const struct dff_prover *p, const struct dff_node *node)
{
    __int128 n = 1;
    for (unsigned i = 0; i < node->n_ranges && n <= INT32_MAX; i++) {
        int64_t from, to;
        if (!dff_is_number(p, node->ranges[i].from, &from) || !dff_is_number(p, node->ranges[i].to, &to))
            return dff_type_span(node->type);
        n *= to > from ? to - from : 0;
    }
    return in_type(0, n, node->type);
}

static struct dff_span span_of_table(const struct dff_table *table)
{
    uint64_t n = 1;
    for (unsigned d = 0; d < table->rank; d++)
        n *= table->extents[d];
    if (!table->i || n == 0)
        return dff_elem_span(table->elem);
    struct dff_span span = { table->i[0], table->i[0] };
    for (uint64_t i = 1; i < n; i++)
        span = joined(span, (struct dff_span){ table->i[i], table->i[i] });
    return span;
}

static struct dff_span span_of(const struct dff_prover *p, const struct dff_node *node)
{
    const struct dff_span all = dff_type_span(node->type), elem = dff_elem_span(node->elem);
    switch (node->kind) {
    case DFF_CONST: return (struct dff_span){ node->i, node->i };
    case DFF_DIM: return (struct dff_span){ 1, DFF_MOST_EXTENT };
    case DFF_READ: return dff_elem_span(p->kernel->ports[node->number].elem); /* what a border gives fits in, too */
    case DFF_TABLE: return span_of_table(p->kernel->tables[node->number]);
    case DFF_OP: return span_of_op(p, node);
    case DFF_REDUCE: return node->op == DFF_COUNT ? span_of_count(p, node) : all;
    case DFF_CAST:
        return dff_is_integer(node->args[0]) || node->args[0]->type == DFF_BOOL ? p->spans[node->args[0]->id] : all;
    case DFF_CONVERT:
        if (!dff_is_integer(node->args[0]))
            return elem;
        return (struct dff_span){ dff_clamped(p->spans[node->args[0]->id].low, elem),
                                  dff_clamped(p->spans[node->args[0]->id].high, elem) };
    case DFF_WRAP: return elem;
    default: return all;
    }
}

bool dff_spans_find(struct dff_prover *p)
{
    p->spans = dfc_alloc(p->u, p->kernel->n_nodes * sizeof *p->spans + 1);
    for (unsigned i = 0; p->spans && i < p->kernel->n_nodes; i++) {
        const struct dff_node *node = p->kernel->nodes[i];
        p->spans[i] = dff_is_integer(node) ? span_of(p, node) : (struct dff_span){ 0, 1 };
    }
    return p->spans;
}
