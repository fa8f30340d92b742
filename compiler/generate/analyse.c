/* analyse.c - static analysis of a formula, for the files that print it (kernel.c, expr.c, rows.c, tiles.c and others): how often each node is used, which reads are
 * conditional, the range of every integer and so the extents below which no index overflows, and how many copies of a reduction's body are written out.
 */
#include "compiler/generate/gen.h"
#include "compiler/proof/proof.h"

#include <math.h>
#include <string.h>

/* ---- numbers ---- */


static int64_t clamp(__int128 v)
{
    return v < -DFG_FAR ? -DFG_FAR : v > DFG_FAR ? DFG_FAR : (int64_t)v;
}

static void set(struct dfg_fact *f, __int128 low, __int128 high)
{
    f->low = clamp(low);
    f->high = clamp(high);
}

static void set_all(struct dfg_fact *f, enum dff_type type)
{
    if (type == DFF_BOOL)
        set(f, 0, 1);
    else if (type == DFF_I32)
        set(f, INT32_MIN, INT32_MAX);
    else
        set(f, -DFG_FAR, DFG_FAR);
}

static void set_elem(struct dfg_fact *f, enum df_elem elem, enum dff_type type)
{
    int64_t low, high;
    dff_elem_ends(elem, &low, &high);
    if (dff_is_narrow(elem))
        set(f, low, high);
    else
        set_all(f, type);
}

static void span_of_product(struct dfg_fact *f, const struct dfg_fact *a, const struct dfg_fact *b)
{
    const __int128 corners[] = { (__int128)a->low * b->low, (__int128)a->low * b->high, (__int128)a->high * b->low,
                                 (__int128)a->high * b->high };
    __int128 low = corners[0], high = corners[0];
    for (int i = 1; i < 4; i++) {
        low = corners[i] < low ? corners[i] : low;
        high = corners[i] > high ? corners[i] : high;
    }
    set(f, low, high);
}

static void span_of_op(struct dfg_gen *g, const struct dff_node *n, struct dfg_fact *f)
{
    const struct dfg_fact *a = n->n_args > 0 && n->args[0] ? &g->facts[n->args[0]->id] : NULL,
                          *b = n->n_args > 1 && n->args[1] ? &g->facts[n->args[1]->id] : NULL,
                          *c = n->n_args > 2 ? &g->facts[n->args[2]->id] : NULL;
    switch (n->op) {
    case DFF_NEG: set(f, -(__int128)a->high, -(__int128)a->low); break;
    case DFF_ADD: set(f, (__int128)a->low + b->low, (__int128)a->high + b->high); break;
    case DFF_SUB: set(f, (__int128)a->low - b->high, (__int128)a->high - b->low); break;
    case DFF_MUL: span_of_product(f, a, b); break;
    case DFF_MIN: set(f, a->low < b->low ? a->low : b->low, a->high < b->high ? a->high : b->high); break;
    case DFF_MAX: set(f, a->low > b->low ? a->low : b->low, a->high > b->high ? a->high : b->high); break;
    case DFF_CHOOSE: set(f, b->low < c->low ? b->low : c->low, b->high > c->high ? b->high : c->high); break;
    case DFF_DIV:
        if (b->low == b->high && b->low > 0) {
            set(f, a->low / b->low, a->high / b->low);
            break;
        }
        set_all(f, n->type);
        break;
    case DFF_MOD:
        if (b->low == b->high && b->low > 0) {
            set(f, a->low >= 0 ? 0 : 1 - b->low, a->high <= 0 ? 0 : b->low - 1);
            break;
        }
        set_all(f, n->type);
        break;
    case DFF_BITAND:
        if (b->low >= 0 || a->low >= 0) {
            set(f, 0, b->low < 0 ? a->high : a->low < 0 || b->high < a->high ? b->high : a->high);
            break;
        }
        set_all(f, n->type);
        break;
    case DFF_SHR:
        if (b->low == b->high && b->low >= 0 && b->low < 32) {
            set(f, a->low >> b->low, a->high >> b->low);
            break;
        }
        set_all(f, n->type);
        break;
    default: set_all(f, n->type);
    }
    struct dfg_fact all;
    set_all(&all, n->type);
    if (f->low < all.low || f->high > all.high) /* it goes around */
        set_all(f, n->type);
}

/* What a float between two numbers is rounded to is between these, rounded. */
static void narrow_to(struct dfg_fact *f, const struct dfg_fact *a)
{
    int64_t low = f->low, high = f->high;
    if (a->is_number && rint(a->least) > (double)low)
        low = rint(a->least) < (double)high ? (int64_t)rint(a->least) : high;
    if (a->is_number && rint(a->most) < (double)high)
        high = rint(a->most) > (double)low ? (int64_t)rint(a->most) : low;
    set(f, low, high);
}

static void span_of(struct dfg_gen *g, const struct dff_node *n)
{
    if (n->type == DFF_F32 || n->type == DFF_F64)
        dfg_float_span(g, n);
    struct dfg_fact *f = &g->facts[n->id];
    const struct dfg_fact *a = n->n_args && n->args[0] ? &g->facts[n->args[0]->id] : NULL;
    switch (n->kind) {
    case DFF_CONST: set(f, n->i, n->i); break;
    case DFF_INDEX: set(f, g->slot_low[n->number], g->slot_high[n->number]); break;
    case DFF_DIM: set(f, 1, g->limit); break;
    case DFF_SCALAR:
        set_all(f, n->type);
        if (g->facts == g->near_facts && n->type == DFF_I32)
            set(f, -DFG_NEAR, DFG_NEAR);
        break;
    case DFF_READ: set_elem(f, g->kernel->ports[n->number].elem, n->type); break;
    case DFF_TABLE: set_elem(f, g->kernel->tables[n->number]->elem, n->type); break;
    case DFF_OP: span_of_op(g, n, f); break;
    case DFF_CONVERT:
    case DFF_WRAP:
        set_elem(f, n->elem, n->type);
        if (n->kind == DFF_CONVERT && !dfg_is_int(n->args[0]->type))
            narrow_to(f, a);
        else if (dfg_is_int(n->args[0]->type) && n->args[0]->type == n->type && a->low >= f->low && a->high <= f->high)
            *f = (struct dfg_fact){ .low = a->low, .high = a->high, .uses = f->uses, .index = f->index,
                                    .always = f->always, .sometimes = f->sometimes };
        break;
    case DFF_CAST:
        if (n->type == DFF_I32 || n->type == DFF_I64)
            set(f, a->low, a->high);
        else
            set_all(f, n->type);
        break;
    default:
        set_all(f, n->type);
        if (n->op == DFF_COUNT)
            f->low = 0;
        if (n->op == DFF_ARGMIN || n->op == DFF_ARGMAX) { /* -1 if there is no term, else a value of the range, which may begin below */
            const int64_t first = g->slot_low[n->ranges[0].slot];
            f->low = first >= -1 ? -1 : first > f->low ? first : f->low;
        }
    }
}

static bool all_known(const struct dfg_gen *g, uint32_t slots)
{
    for (unsigned s = 0; s < DFF_MAX_SLOTS; s++)
        if (slots >> s & 1 && g->slot_low[s] > g->slot_high[s])
            return false;
    return true;
}

/* Widens the slots of a reduction's ranges. true: one grew. */
static bool widen(struct dfg_gen *g, const struct dff_node *n)
{
    bool grew = false;
    for (uint32_t r = 0; r < n->n_ranges; r++) {
        const struct dff_range *range = &n->ranges[r];
        if (!all_known(g, range->from->slots | range->to->slots))
            continue;
        int64_t low = g->facts[range->from->id].low, high = g->facts[range->to->id].high - 1;
        if (high < low)
            high = low;
        if (low < g->slot_low[range->slot]) {
            g->slot_low[range->slot] = low;
            grew = true;
        }
        if (high > g->slot_high[range->slot]) {
            g->slot_high[range->slot] = high;
            grew = true;
        }
    }
    return grew;
}

/* The ends of a range use slots with smaller numbers, so a pass for each slot is enough. */
static void find_spans(struct dfg_gen *g)
{
    unsigned rank = 0;
    for (unsigned i = 0; i < g->kernel->n_formulas; i++)
        rank = g->kernel->formulas[i].rank > rank ? g->kernel->formulas[i].rank : rank;
    for (unsigned s = 0; s < DFF_MAX_SLOTS; s++) {
        g->slot_low[s] = s < rank ? 0 : INT32_MAX;
        g->slot_high[s] = s < rank ? g->limit - 1 : INT32_MIN;
    }
    bool grew = true;
    for (unsigned pass = 0; grew && pass <= DFF_MAX_SLOTS; pass++) {
        grew = false;
        for (unsigned i = 0; i < g->kernel->n_nodes; i++) {
            span_of(g, g->kernel->nodes[i]);
            grew |= widen(g, g->kernel->nodes[i]);
        }
    }
}

/* ---- the limit of extents ---- */

static bool is_linear(const struct dff_node *n)
{
    return n->type == DFF_I32 && n->kind == DFF_OP &&
           (n->op == DFF_ADD || n->op == DFF_SUB || n->op == DFF_NEG || n->op == DFF_MUL);
}

static void mark_index(struct dfg_gen *g, const struct dff_node *n)
{
    if (g->facts[n->id].index)
        return;
    g->facts[n->id].index = true;
    if (is_linear(n))
        for (uint32_t k = 0; k < n->n_args; k++)
            mark_index(g, n->args[k]);
}

static void mark_indices(struct dfg_gen *g)
{
    for (unsigned i = 0; i < g->kernel->n_nodes; i++) {
        const struct dff_node *n = g->kernel->nodes[i];
        for (uint32_t k = 0; (n->kind == DFF_READ || n->kind == DFF_TABLE) && k < n->n_args; k++)
            mark_index(g, dfg_index_in(g, n, k));
        for (uint32_t r = 0; r < n->n_ranges; r++) {
            mark_index(g, n->ranges[r].from);
            mark_index(g, n->ranges[r].to);
        }
    }
    for (unsigned p = 0; p < g->kernel->n_ports; p++)
        for (unsigned d = 0; d < g->kernel->ports[p].rank; d++)
            mark_index(g, g->kernel->ports[p].extents[d]);
}

/* May this index, which is made of + - *, go around? span_of() gives it the whole type then. */
static bool overflows(const struct dfg_gen *g, const struct dff_node *n)
{
    const struct dfg_fact *f = &g->facts[n->id];
    return f->index && is_linear(n) && f->low == INT32_MIN && f->high == INT32_MAX;
}

static bool some_index_overflows(const struct dfg_gen *g)
{
    for (unsigned i = 0; i < g->kernel->n_nodes; i++)
        if (overflows(g, g->kernel->nodes[i]))
            return true;
    return false;
}

/* An index that goes around for small extents, too, is computed as any other i32. */
static void unmark_hopeless(struct dfg_gen *g)
{
    g->limit = (int64_t)1 << 20;
    find_spans(g);
    for (unsigned i = 0; i < g->kernel->n_nodes; i++)
        if (overflows(g, g->kernel->nodes[i]))
            g->facts[i].index = false;
}

static void find_limit(struct dfg_gen *g)
{
    memset(g->facts, 0, g->kernel->n_nodes * sizeof *g->facts);
    mark_indices(g);
    unmark_hopeless(g);
    g->limit = DFF_MOST_EXTENT;
    find_spans(g);
    for (int bits = 30; bits >= 20 && some_index_overflows(g); bits--) {
        g->limit = (int64_t)1 << bits;
        find_spans(g);
    }
}

/* Is there an index that is one for MAIN alone? */
static bool some_index_is_near(const struct dfg_gen *g)
{
    for (unsigned i = 0; i < g->kernel->n_nodes; i++)
        if (g->near_facts[i].index && !g->all_facts[i].index && is_linear(g->kernel->nodes[i]))
            return true;
    return false;
}

void dfg_find_limit(struct dfg_gen *g)
{
    g->facts = g->near_facts;
    find_limit(g);
    const int64_t near = g->limit;
    g->facts = g->all_facts;
    find_limit(g);
    if (!some_index_is_near(g)) {
        g->near_facts = NULL;
        return;
    }
    g->limit = near < g->limit ? near : g->limit;
}

void dfg_facts_choose(struct dfg_gen *g, bool near)
{
    g->facts = near && g->near_facts ? g->near_facts : g->all_facts;
    if (g->near_facts)
        dfg_analyse(g);
}

/* ---- uses and conditions ---- */

bool dfg_range_has_values(const struct dff_range *range)
{
    return range->from->kind == DFF_CONST &&
           ((range->to->kind == DFF_CONST && range->from->i < range->to->i) ||
            (range->to->kind == DFF_DIM && range->from->i <= 0));
}

/* `empty`: the slots of loops around that may have no repetition; what does not depend on them may be computed outside of
 * them, so for it they are a condition. */
static void visit(struct dfg_gen *g, const struct dff_node *n, bool condition, uint32_t empty)
{
    struct dfg_fact *f = &g->facts[n->id];
    bool some = condition || (empty & ~n->slots);
    if (some ? f->sometimes : f->visited && f->empty == empty)
        return;
    *(some ? &f->sometimes : &f->visited) = true;
    f->always |= !some && !empty;
    f->empty = empty;
    bool choice = n->kind == DFF_OP && (n->op == DFF_CHOOSE || n->op == DFF_AND || n->op == DFF_OR);
    for (uint32_t r = 0; r < n->n_ranges; r++) {
        visit(g, n->ranges[r].from, condition, empty);
        visit(g, n->ranges[r].to, condition, empty);
        if (!dfg_range_has_values(&n->ranges[r]))
            empty |= 1u << n->ranges[r].slot;
    }
    const bool tests = n->kind == DFF_REDUCE && n->n_args > 1 && n->args[1];
    if (tests && n == g->sum) /* what depends on its range is computed behind the test */
        empty |= 1u << n->ranges[0].slot;
    for (uint32_t k = 0; k < n->n_args; k++)
        if (n->args[k])
            visit(g, n->args[k],
                  condition || (choice && k > 0) || (tests && k == 0 && n != g->sum),
                  empty);
}

static void count_uses(struct dfg_gen *g, const struct dff_node *n)
{
    if (g->facts[n->id].uses++)
        return;
    for (uint32_t r = 0; r < n->n_ranges; r++) {
        count_uses(g, n->ranges[r].from);
        count_uses(g, n->ranges[r].to);
    }
    for (uint32_t k = 0; k < n->n_args; k++)
        if (n->args[k])
            count_uses(g, n->args[k]);
}

bool dfg_range_is_fixed(const struct dff_range *range)
{
    return range->from->kind == DFF_CONST && range->to->kind == DFF_CONST && range->from->i < range->to->i;
}

bool dfg_has_many_columns(const struct dfg_gen *g)
{
    const struct dff_node *extent = g->column < 0 ? NULL : g->kernel->ports[g->formula->port].extents[g->column];
    return extent && (extent->kind != DFF_CONST || extent->i > DFG_FEW_COLUMNS);
}

unsigned dfg_most_copies(const struct dff_node *n)
{
    return dfg_is_int(n->type) && n->n_ranges > 1 ? DFG_MOST_OF_WINDOW : DFG_MOST_COPIES;
}

unsigned dfg_copies(const struct dff_node *n)
{
    const unsigned most = dfg_most_copies(n);
    int64_t copies = 1;
    for (uint32_t r = 0; r < n->n_ranges && copies; r++) {
        const bool fixed = dfg_range_is_fixed(&n->ranges[r]);
        const int64_t values = fixed ? n->ranges[r].to->i - n->ranges[r].from->i : 0;
        copies = values <= most && copies * values <= most ? copies * values : 0;
    }
    return (unsigned)copies;
}

static bool has_loops(const struct dfg_gen *g, const struct dff_node *n)
{
    bool loops = n->kind == DFF_REDUCE && !dfg_copies(n);
    for (uint32_t k = 0; k < n->n_args; k++)
        loops |= n->args[k] && g->facts[n->args[k]->id].loops;
    return loops;
}

void dfg_analyse(struct dfg_gen *g)
{
    for (unsigned i = 0; i < g->kernel->n_nodes; i++) {
        g->facts[i].uses = 0;
        g->facts[i].loops = has_loops(g, g->kernel->nodes[i]);
        g->facts[i].always = g->facts[i].sometimes = g->facts[i].visited = false;
    }
    for (unsigned i = 0; i < g->n_siblings; i++) {
        count_uses(g, g->siblings[i]->value);
        visit(g, g->siblings[i]->value, false, 0);
    }
}
