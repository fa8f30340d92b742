/* place.c - prints the C of indices and of reads from ports and tables, and analyses indices, for all files of the
 * room.
 *
 * An index that is affine in indices and dimensions is printed as such, in int64_t, which compilers can analyse when
 * they vectorise. gen.limit guarantees that the i32 of the language does not overflow there.
 */
#include "compiler/generate/gen.h"

#include <inttypes.h>
#include <string.h>

#define MOST_CHOSEN 8                   /* elements of a table; of more a read is quicker */

/* ---- affine indices ---- */

static bool add_term(struct dfg_affine *a, bool dim, uint32_t number, int64_t factor)
{
    unsigned i = 0;
    while (i < a->n && (a->term[i].dim != dim || a->term[i].number != number))
        i++;
    if (i == sizeof a->term / sizeof *a->term)
        return false;
    if (i == a->n) {
        a->n++;
        a->term[i].dim = dim;
        a->term[i].number = number;
        a->term[i].factor = 0;
    }
    a->term[i].factor += factor;
    if (a->term[i].factor == 0)
        a->term[i] = a->term[--a->n];
    return true;
}

static bool add_node(const struct dfg_gen *g, const struct dff_node *n, int64_t factor, struct dfg_affine *a);

static bool add_product(const struct dfg_gen *g, const struct dff_node *n, int64_t factor, struct dfg_affine *a)
{
    for (int k = 0; k < 2; k++) {
        struct dfg_affine number = { 0 };
        if (add_node(g, n->args[k], 1, &number) && number.n == 0)
            return add_node(g, n->args[1 - k], factor * number.constant, a);
    }
    return false;
}

/* Where the column is twice the loop's variable and 1, say, (x + 2) / 2 is that variable and 1. */
static bool add_quotient(const struct dfg_gen *g, const struct dff_node *n, int64_t factor, struct dfg_affine *a)
{
    const struct dfg_fact *f = &g->facts[n->args[0]->id];
    const int64_t by = n->args[1]->i;
    struct dfg_affine of = { 0 };
    if (n->args[1]->kind != DFF_CONST || by < 1 || f->low < 0 || f->high == INT32_MAX || !add_node(g, n->args[0], 1, &of))
        return false;
    for (unsigned i = 0; i < of.n; i++)
        if (of.term[i].factor % by)
            return false;
    for (unsigned i = 0; i < of.n; i++)
        if (!add_term(a, of.term[i].dim, of.term[i].number, factor * (of.term[i].factor / by)))
            return false;
    a->constant += factor * (of.constant / by - (of.constant % by < 0));
    return true;
}

/* Is a sum or product in int64_t that in int32_t? */
static bool is_exact(const struct dfg_gen *g, const struct dff_node *n)
{
    return g->facts[n->id].index || g->facts[n->id].low > INT32_MIN || g->facts[n->id].high < INT32_MAX;
}

/* Is it made of indices, numbers, dimensions and scalars? */
static bool holds_no_data(const struct dff_node *n)
{
    bool none = n->kind != DFF_READ && n->kind != DFF_TABLE && n->kind != DFF_REDUCE;
    for (uint32_t k = 0; k < n->n_args && none; k++)
        none = holds_no_data(n->args[k]);
    return none;
}

static bool add_node(const struct dfg_gen *g, const struct dff_node *n, int64_t factor, struct dfg_affine *a)
{
    if (factor > INT32_MAX || factor < -INT32_MAX || a->constant > INT32_MAX || a->constant < -INT32_MAX)
        return false;
    if (n->kind == DFF_CONST) {
        a->constant += factor * n->i;
        return true;
    }
    if (n->kind == DFF_DIM)
        return add_term(a, true, n->number, factor);
    if (n->kind == DFF_INDEX) {
        const struct dfg_block *block = dfg_block_of(g, 1u << n->number);
        a->constant += factor * (block->is_number ? block->number : block->shift);
        return block->is_number || add_term(a, false, n->number, block->times ? factor * block->times : factor);
    }
    int64_t known;
    if (dfg_known(g, n, &known)) {
        a->constant += factor * known;
        return true;
    }
    if (n->kind == DFF_SCALAR)
        return g->facts == g->near_facts && add_term(a, true, DFG_VALUES + n->id, factor);
    if (n->kind != DFF_OP || !is_exact(g, n))
        return false;
    switch (n->op) {
    case DFF_NEG: return add_node(g, n->args[0], -factor, a);
    case DFF_ADD: return add_node(g, n->args[0], factor, a) && add_node(g, n->args[1], factor, a);
    case DFF_SUB: return add_node(g, n->args[0], factor, a) && add_node(g, n->args[1], -factor, a);
    case DFF_MUL: return add_product(g, n, factor, a);
    default: return (n->op == DFF_DIV && add_quotient(g, n, factor, a)) ||
                    (!n->slots && holds_no_data(n) && add_term(a, true, DFG_VALUES + n->id, factor));
    }
}

bool dfg_affine(const struct dfg_gen *g, const struct dff_node *node, struct dfg_affine *affine)
{
    *affine = (struct dfg_affine){ 0 };
    return node->type == DFF_I32 && add_node(g, node, 1, affine);
}

static const char *term_name(struct dfg_gen *g, bool dim, uint32_t number)
{
    if (!dim)
        return dfg_block_of(g, 1u << number)->name;
    if (number < DFG_VALUES)
        return dfg_dim_name(g, number);
    const struct dff_node *n = g->kernel->nodes[number - DFG_VALUES];
    const struct dfg_text value = dfg_value(g, n);
    return n->kind == DFF_SCALAR ? dfg_printf(g, "(int64_t)%s", value.c) : dfg_within(g, value, DFG_UNARY); /* bounds are those of any scalar */
}

/* The positive terms come first, the constant last: "y + 2 * j - 1". */
struct dfg_text dfg_affine_text(struct dfg_gen *g, const struct dfg_affine *a)
{
    const char *text = "";
    for (int negative = 0; negative < 2; negative++)
        for (unsigned i = 0; i < a->n; i++) {
            int64_t factor = a->term[i].factor, size = factor < 0 ? -factor : factor;
            const char *name = term_name(g, a->term[i].dim, a->term[i].number);
            if ((factor < 0) != negative)
                continue;
            text = dfg_printf(g, "%s%s", text, factor < 0 ? (*text ? " - " : "-") : *text ? " + " : "");
            text = size == 1 ? dfg_printf(g, "%s%s", text, name) : dfg_printf(g, "%s%" PRId64 " * %s", text, size, name);
        }
    if (!*text)
        return dfg_number(g, DFF_I32, a->constant, 0);
    if (a->constant)
        text = dfg_printf(g, "%s %c %" PRId64, text, a->constant < 0 ? '-' : '+',
                          a->constant < 0 ? -a->constant : a->constant);
    bool alone = a->n == 1 && a->term[0].factor == 1 && !a->constant;
    return (struct dfg_text){ text, alone ? DFG_ATOM : DFG_PLUS };
}

struct dfg_text dfg_index(struct dfg_gen *g, const struct dff_node *node)
{
    struct dfg_affine affine;
    if (dfg_affine(g, node, &affine))
        return dfg_affine_text(g, &affine);
    return (struct dfg_text){ dfg_printf(g, "(int64_t)%s", dfg_within(g, dfg_value(g, node), DFG_ATOM)), DFG_UNARY };
}

/* ---- elements ---- */

const char *dfg_offset(struct dfg_gen *g, const struct dff_port *port, const struct dfg_text *indices)
{
    struct dfg_text at = { "0", DFG_ATOM };
    for (unsigned d = 0; d < port->rank; d++) {
        if (d == 0) {
            at = indices[0];
            continue;
        }
        const char *extent = dfg_within(g, dfg_index(g, port->extents[d]), DFG_UNARY);
        const char *row = strcmp(at.c, "0") == 0 ? ""
                                                 : dfg_printf(g, "%s * %s + ", dfg_within(g, at, DFG_UNARY), extent);
        at.c = dfg_printf(g, "%s%s", row, dfg_within(g, indices[d], DFG_PLUS));
        at.level = DFG_PLUS;
    }
    return at.c;
}

bool dfg_is_whole(const struct dfg_gen *g, const struct dff_node *index, const struct dff_node *extent)
{
    return index->kind == DFF_INDEX && index->number < g->formula->rank && g->formula->is_index[index->number] &&
           g->kernel->ports[g->formula->port].extents[index->number] == extent;
}

/* Does the read hold wherever it stands? Else a condition may protect it, so its index is kept inside. */
static bool is_safe(const struct dfg_gen *g, const struct dff_node *read, unsigned d, const struct dff_node *extent)
{
    const struct dfg_fact *f = &g->facts[read->id];
    bool same_everywhere = f->always && !(read->slots >> g->formula->rank);
    return !f->sometimes || same_everywhere || (extent && dfg_is_whole(g, read->args[d], extent));
}

/* A name for an index, which will stand more than once. */
static struct dfg_text named_index(struct dfg_gen *g, struct dfg_text text)
{
    if (text.level == DFG_ATOM)
        return text;
    const char *name = dfg_new_name(g);
    dfg_line(g, g->block, "const int64_t %s = %s;", name, text.c);
    return (struct dfg_text){ name, DFG_ATOM };
}

struct dfg_text dfg_bordered(struct dfg_gen *g, struct dfg_text index, enum dff_border border, const char *extent)
{
    static const char *const names[] = { [DFF_CLAMP] = "clamp", [DFF_MIRROR] = "mirror", [DFF_REFLECT] = "reflect",
                                         [DFF_WRAP_AROUND] = "wrap" };
    return (struct dfg_text){ dfg_printf(g, "df_%s_at(%s, %s)", names[border], index.c, extent), DFG_ATOM };
}

static bool is_last(const struct dff_node *n, const struct dff_node *extent)
{
    return (n->kind == DFF_CONST && extent->kind == DFF_CONST && n->i == extent->i - 1) ||
           (n->kind == DFF_OP && n->op == DFF_SUB && n->args[0] == extent && n->args[1]->kind == DFF_CONST && n->args[1]->i == 1);
}

/* What the operation `op` is of, beside the end that it keeps an index from: the first element, or the last one of the extent. NULL: it is something else. */
static const struct dff_node *kept_from(const struct dff_node *n, enum dff_op op, const struct dff_node *extent)
{
    for (int k = 0; k < 2 && n->kind == DFF_OP && n->op == op; k++)
        if (op == DFF_MIN ? is_last(n->args[k], extent) : n->args[k]->kind == DFF_CONST && n->args[k]->i == 0)
            return n->args[!k];
    return NULL;
}

const struct dff_node *dfg_index_in(const struct dfg_gen *g, const struct dff_node *read, unsigned d)
{
    const struct dff_node *extent = read->kind == DFF_READ ? g->kernel->ports[read->number].extents[d] : NULL, *n = read->args[d];
    for (int order = 0; order < 2 && extent; order++) {
        const struct dff_node *outer = kept_from(n, order ? DFF_MIN : DFF_MAX, extent), *inner = outer ? kept_from(outer, order ? DFF_MAX : DFF_MIN, extent) : NULL;
        if (inner && holds_no_data(inner))
            return inner;
    }
    return n;
}

/* Is the index always inside an extent that is a number? */
static bool is_inside(const struct dfg_gen *g, const struct dff_node *index, const struct dff_node *extent)
{
    const struct dfg_fact *f = &g->facts[index->id];
    struct dfg_affine at;
    if (extent->kind != DFF_CONST)
        return false;
    return (f->low >= 0 && f->high < extent->i) ||
           (dfg_affine(g, index, &at) && at.n == 0 && at.constant >= 0 && at.constant < extent->i);
}

/* What becomes of an index that is outside. NONE: it is inside. */
static enum dff_border border_of(const struct dfg_gen *g, const struct dff_node *read, unsigned d)
{
    const struct dff_port *port = &g->kernel->ports[read->number];
    const struct dff_node *index = dfg_index_in(g, read, d);
    if (dfg_is_whole(g, index, port->extents[d]) || is_inside(g, index, port->extents[d]))
        return DFF_NONE;
    if (index != read->args[d])
        return DFF_CLAMP;
    if (port->border[d] != DFF_NONE && port->border[d] != DFF_NUMBER && dfg_is_local(g, read->number) && !dfg_tiles_has_border(g, read->number, d))
        return DFF_CLAMP;               /* a condition keeps it inside, but it may be read before that is known, and then must be in the tile */
    return port->border[d] != DFF_NONE ? port->border[d]
           : is_safe(g, read, d, port->extents[d]) ? DFF_NONE : DFF_CLAMP;
}

/* ---- rows ---- */

static bool over_rows(const struct dfg_gen *g, const struct dfg_affine *a)
{
    for (unsigned i = 0; i < a->n; i++)
        if (!a->term[i].dim && (int)a->term[i].number >= g->column)
            return false;
    return true;
}

static bool same_terms(const struct dfg_affine *a, const struct dfg_affine *b)
{
    bool same = a->n == b->n;
    for (unsigned i = 0; same && i < a->n; i++) {
        unsigned k = 0;
        while (k < b->n && (b->term[k].dim != a->term[i].dim || b->term[k].number != a->term[i].number))
            k++;
        same = k < b->n && b->term[k].factor == a->term[i].factor;
    }
    return same;
}

static bool same_affine(const struct dfg_affine *a, const struct dfg_affine *b)
{
    return a->constant == b->constant && same_terms(a, b);
}

/* Rows at one place are the same: if one is surely inside, the other is. */
static bool same_row(const struct dfg_row *a, const struct dfg_row *b)
{
    bool same = a->port == b->port && a->lead == b->lead;
    for (unsigned d = 0; same && d < a->lead; d++)
        same = (a->border[d] == b->border[d] || a->border[d] == DFF_NONE || b->border[d] == DFF_NONE) &&
               a->computed[d] == b->computed[d] && same_affine(&a->at[d], &b->at[d]);
    return same;
}

/* Two numbers as borders: which one is read depends on which dimension is outside first, and a row does not say that. */
static bool numbers_differ(const struct dff_port *port)
{
    const struct dff_node *first = NULL;
    for (unsigned d = 0; d < port->rank; d++) {
        if (port->border[d] == DFF_NUMBER && first && port->outside[d] != first)
            return true;
        if (port->border[d] == DFF_NUMBER)
            first = port->outside[d];
    }
    return false;
}

/* Has the node one value for a row that can be found before its columns: is it made of indices of rows and numbers? */
static bool is_of_rows(const struct dfg_gen *g, const struct dff_node *n)
{
    if (n->kind == DFF_INDEX)
        return (int)n->number < g->column && !dfg_block_of(g, 1u << n->number)->shift;
    const bool computes = n->kind == DFF_OP || n->kind == DFF_CONVERT;
    for (uint32_t k = 0; k < n->n_args && computes; k++)
        if (!is_of_rows(g, n->args[k]))
            return false;
    return computes || n->kind == DFF_CONST || n->kind == DFF_DIM || n->kind == DFF_SCALAR;
}

/* Fixes dimension `lead` of the row. false: it is not the same for all columns. */
static bool fix(struct dfg_gen *g, const struct dff_node *index, struct dfg_row *row)
{
    row->computed[row->lead] = NULL;
    if (dfg_affine(g, index, &row->at[row->lead]))
        return over_rows(g, &row->at[row->lead]);
    row->at[row->lead] = (struct dfg_affine){ 0 };
    row->computed[row->lead] = index;
    return is_of_rows(g, index);
}

/* The row that the read is in: its first dimensions are fixed as long as the formula's row slots are. NULL: there is none. */
static struct dfg_row *row_of(struct dfg_gen *g, const struct dff_node *n)
{
    const struct dff_port *port = &g->kernel->ports[n->number];
    struct dfg_row row = { .port = n->number };
    if (g->column < 0 || port->mode == DF_INOUT || port->mode == DF_ACC || numbers_differ(port))
        return NULL;
    while (row.lead + 1 < port->rank && fix(g, dfg_index_in(g, n, row.lead), &row)) {
        row.border[row.lead] = border_of(g, n, row.lead);
        row.lead++;
    }
    if (!row.lead)
        return NULL;
    for (unsigned i = 0; i < g->stage.n_rows; i++)
        if (same_row(&g->stage.rows[i], &row))
            return &g->stage.rows[i];
    if (g->stage.n_rows == DFG_MAX_ROWS)
        return NULL;
    row.name = dfg_printf(g, "df_%s_%u", dfg_port_name(g, n->number), g->stage.n_rows);
    g->stage.rows[g->stage.n_rows] = row;
    return &g->stage.rows[g->stage.n_rows++];
}

static bool add_affine(struct dfg_affine *to, const struct dfg_affine *a, int64_t factor)
{
    bool good = true;
    for (unsigned i = 0; i < a->n && good; i++)
        good = add_term(to, a->term[i].dim, a->term[i].number, factor * a->term[i].factor);
    to->constant += factor * a->constant;
    return good;
}

/* Adds factor * the slot of a loop to the bound: its least and its greatest value. false: these are not known. */
static bool add_range(const struct dfg_gen *g, uint32_t slot, int64_t factor, struct dfg_bound *bound)
{
    const struct dfg_block *block = dfg_block_of(g, 1u << slot);
    struct dfg_affine from = { 0 }, to = { 0 };
    if (block->slot != (int)slot || !block->is_bounded ||
        (block->range && !(dfg_affine(g, block->range->from, &from) && dfg_affine(g, block->range->to, &to))))
        return false;
    from.constant += block->low;
    to.constant += block->high;
    return add_affine(&bound->least, factor < 0 ? &to : &from, factor) && add_affine(&bound->most, factor < 0 ? &from : &to, factor);
}

/* Does the term go over what MAIN bounds: over columns, or in a tile over rows too? */
static bool is_bounded_slot(const struct dfg_gen *g, bool dim, uint32_t slot)
{
    const unsigned axis = g->tiles ? g->kernel->strips->dim : 0;
    return !dim && (g->tiles ? slot >= axis && slot < axis + g->kernel->strips->axes : (int)slot == g->column);
}

/* Between which elements the index is for a column. false: that is not known. */
static bool find_bound(const struct dfg_gen *g, const struct dff_node *index, struct dfg_bound *to)
{
    struct dfg_bound bound = { .extent = to->extent };
    struct dfg_affine at;
    if (!dfg_affine(g, index, &at))
        return false;
    bound.least.constant = bound.most.constant = at.constant;
    for (unsigned k = 0; k < at.n; k++)
        if (!bound.factor && is_bounded_slot(g, at.term[k].dim, at.term[k].number)) {
            bound.factor = at.term[k].factor;
            bound.slot = at.term[k].number;
            if (g->tiles) {             /* the bounds of a tile are those of its rows, not of the loop's variable */
                bound.least.constant -= bound.factor * dfg_block_of(g, 1u << bound.slot)->shift;
                bound.most.constant -= bound.factor * dfg_block_of(g, 1u << bound.slot)->shift;
            }
        } else if ((at.term[k].dim || !add_range(g, at.term[k].number, at.term[k].factor, &bound)) &&
                 !(add_term(&bound.least, at.term[k].dim, at.term[k].number, at.term[k].factor) &&
                   add_term(&bound.most, at.term[k].dim, at.term[k].number, at.term[k].factor)))
            return false;
    *to = bound;
    return bound.factor > 0 && over_rows(g, &bound.least) && over_rows(g, &bound.most);
}

static void widen(struct dfg_affine *least, struct dfg_affine *most, const struct dfg_bound *bound)
{
    least->constant = bound->least.constant < least->constant ? bound->least.constant : least->constant;
    most->constant = bound->most.constant > most->constant ? bound->most.constant : most->constant;
}

/* Keeps the columns for which the index is inside apart. false: that cannot be said of the index. */
static bool bound_column(struct dfg_gen *g, const struct dff_node *index, const struct dff_node *extent)
{
    struct dfg_bound bound = { .extent = extent };
    unsigned i = 0;
    if (g->mode != DFG_MAIN || (g->column < 0 && !g->tiles) || !find_bound(g, index, &bound))
        return false;
    while (i < g->stage.n_bounds && !(g->stage.bounds[i].extent == extent && g->stage.bounds[i].factor == bound.factor && g->stage.bounds[i].slot == bound.slot &&
                                same_terms(&g->stage.bounds[i].least, &bound.least) && same_terms(&g->stage.bounds[i].most, &bound.most)))
        i++;
    if (i == DFG_MAX_BOUNDS)
        return false;
    if (i == g->stage.n_bounds)
        g->stage.bounds[g->stage.n_bounds++] = bound;
    widen(&g->stage.bounds[i].least, &g->stage.bounds[i].most, &bound);
    return true;
}

/* Notes which elements MAIN reads for a column: of a row, or of a port that is read as a whole. */
static void note_way(struct dfg_gen *g, struct dfg_row *row, const struct dff_node *read, unsigned d)
{
    const enum dff_border border = border_of(g, read, d);
    struct dfg_bound bound = { .extent = NULL };
    if (!row || d > row->lead || !find_bound(g, dfg_index_in(g, read, d), &bound) || bound.factor != 1) {
        g->stage.has_other_bounds |= border != DFF_NONE && g->column >= 0 && read->args[d]->slots >> g->column & 1; /* else MAIN keeps it inside for each column */
        if (row)
            row->has_others |= border != DFF_NONE || d == row->lead;
        return;
    }
    if (border != DFF_NONE)
        row->beside = border;
    struct dfg_way *way = row->ways;
    while (way && !(same_terms(&way->least, &bound.least) && same_terms(&way->most, &bound.most)))
        way = way->next;
    if (!way) {
        way = dfl_arena_alloc(g->arena, sizeof *way);
        *way = (struct dfg_way){ bound.least, bound.most, row->ways };
        row->ways = way;
    }
    widen(&way->least, &way->most, &bound);
}

/* ---- reads ---- */

/* The loop over columns that is printed now. NULL: none. */
static struct dfg_block *columns_block(const struct dfg_gen *g)
{
    struct dfg_block *block = g->block;
    while (block && !block->is_column)
        block = block->outer;
    return block;
}

/* The offset in a row, whose first `lead` dimensions are fixed. */
static const char *offset_in(struct dfg_gen *g, const struct dff_port *port, unsigned lead, const struct dfg_text *indices)
{
    struct dff_port rest = { .rank = port->rank - lead };
    memcpy(rest.extents, port->extents + lead, rest.rank * sizeof *rest.extents);
    return dfg_offset(g, &rest, indices + lead);
}

/* An index that is computed, kept inside as an i32: vectors of int64_t have half the elements. */
static struct dfg_text clamped(struct dfg_gen *g, const struct dff_node *index, struct dfg_text extent)
{
    const char *value = dfg_value(g, index).c, *end = dfg_printf(g, "(int32_t)%s", dfg_within(g, extent, DFG_ATOM));
    return (struct dfg_text){ g->facts[index->id].low >= 0 ? dfg_printf(g, "(int64_t)df_min_i32(%s, %s - 1)", value, end)
                                                           : dfg_printf(g, "(int64_t)df_clamp_i32(%s, %s)", value, end), DFG_UNARY };
}

/* Has the slot its value outside of the loop over columns? It may be that of a loop inside. */
static bool is_outside(const struct dfg_block *columns, uint32_t slot)
{
    const struct dfg_block *b = columns->outer;
    while (b->outer && b->slot != (int)slot)
        b = b->outer;
    return b->slot == (int)slot;
}

/* In a loop over columns, a place that is the same for all of them gets a name outside, because compilers do not take the choices of a border out of
 * the loop before they make vectors of it. */
static struct dfg_text outside_columns(struct dfg_gen *g, const struct dff_node *index, struct dfg_text at)
{
    const struct dfg_block *columns = columns_block(g);
    struct dfg_affine affine;           /* else the text may have names of the loop's own */
    if (!columns || index->slots >> (unsigned)g->column & 1 || dfg_block_of(g, index->slots)->is_number || !dfg_affine(g, index, &affine))
        return at;
    for (unsigned i = 0; i < affine.n; i++)
        if (!affine.term[i].dim && !is_outside(columns, affine.term[i].number))
            return at;
    struct dfg_block *now = g->block;
    g->block = columns->outer;
    struct dfg_block *block = dfg_block_of(g, index->slots);
    g->block = now;
    const struct dfg_place *place = block->places;
    while (place && strcmp(place->text, at.c) != 0)
        place = place->next;
    if (!place) {
        struct dfg_place *fresh = dfl_arena_alloc(g->arena, sizeof *fresh);
        *fresh = (struct dfg_place){ at.c, dfg_new_name(g), block->places };
        dfg_line(g, block, "const int64_t %s = %s;", fresh->name, at.c);
        block->places = place = fresh;
    }
    return (struct dfg_text){ place->name, DFG_ATOM };
}

/* The place in dimension d; *choice: what stands before the element if the border is a number. */
static struct dfg_text place_in(struct dfg_gen *g, const struct dff_node *n, unsigned d, const char **choice)
{
    const struct dff_port *port = &g->kernel->ports[n->number];
    const struct dff_node *index = dfg_index_in(g, n, d);
    enum dff_border border = border_of(g, n, d);
    struct dfg_affine affine;
    if (border == DFF_CLAMP && !dfg_affine(g, index, &affine))
        return clamped(g, index, dfg_index(g, port->extents[d]));
    struct dfg_text at = dfg_index(g, index);
    if (border == DFF_NONE || bound_column(g, index, port->extents[d]))
        return at;
    struct dfg_text extent = dfg_index(g, port->extents[d]);
    if (border != DFF_NUMBER)
        return outside_columns(g, index, dfg_bordered(g, at, border, extent.c));
    at = named_index(g, at);
    *choice = dfg_printf(g, "%s%s < 0 || %s >= %s ? %s : ", *choice, at.c, at.c, dfg_within(g, extent, DFG_PLUS),
                         dfg_within(g, dfg_value(g, port->outside[d]), DFG_BITS));
    return at;
}

/* The row that a read is in, if `own` is that of the row that is written. NULL: the port is read as a whole. */
static struct dfg_row *row_read(struct dfg_gen *g, const struct dff_node *n, struct dfg_row *own)
{
    *own = (struct dfg_row){ .lead = dfg_lead(g), .name = dfg_port_name(g, n->number) };
    return n->number == g->formula->port ? own : row_of(g, n);
}

/* In a tile's local memory: the whole element. */
static const char *place_read(struct dfg_gen *g, const struct dff_node *n, struct dfg_row *row, const char **choice)
{
    const struct dff_port *port = &g->kernel->ports[n->number];
    struct dfg_text at[DF_MAX_RANK] = { { 0 } };
    unsigned lead = row ? row->lead : 0;
    const bool flat = g->flat && n->slots >> (unsigned)g->column & 1;
    const unsigned end = flat ? port->rank + (unsigned)g->column + 1 - g->formula->rank : port->rank;
    for (unsigned d = lead; d < end; d++) {
        if (g->mode == DFG_MAIN)
            note_way(g, row, n, d);
        at[d] = place_in(g, n, d, choice);
    }
    if (flat) {
        g->flat_fails |= border_of(g, n, end - 1) != DFF_NONE && !bound_column(g, dfg_index_in(g, n, end - 1), port->extents[end - 1]);
        return dfg_flat_place(g, n, lead, at);
    }
    return dfg_is_local(g, n->number) ? dfg_tiles_element(g, n->number, at) : offset_in(g, port, lead, at);
}

struct dfg_text dfg_read(struct dfg_gen *g, const struct dff_node *n)
{
    struct dfg_row own;
    struct dfg_row *row = row_read(g, n, &own);
    const char *choice = "", *place = dfg_columns_value(g, n, true);
    g->stage.whole[n->number] |= !row;    /* an inout port that is written is not: it has `own` */
    if (!place)
        place = place_read(g, n, row, &choice);
    const char *element = dfg_is_local(g, n->number) ? place : dfg_tiles_copied(g, n->number, place);
    if (!element)
        element = dfg_printf(g, "%s[%s]", row ? row->name : dfg_port_name(g, n->number), place);
    if (g->kernel->ports[n->number].elem == DF_F16)
        element = dfg_printf(g, "df_f32_of_f16(%s)", element);
    return (struct dfg_text){ dfg_printf(g, "%s%s", choice, element), *choice ? DFG_CHOICE : DFG_ATOM };
}

/* In dimension `given` the index is `number`. */
static const char *place_table(struct dfg_gen *g, const struct dff_node *n, int given, int64_t number)
{
    const struct dff_table *table = g->kernel->tables[n->number];
    struct dfg_text at = { "", DFG_ATOM };
    for (unsigned d = 0; d < table->rank; d++) {
        const struct dfg_fact *f = &g->facts[n->args[d]->id];
        const bool inside = is_safe(g, n, d, NULL) || (f->low >= 0 && f->high < (int64_t)table->extents[d]);
        struct dfg_text index = (int)d == given ? dfg_number(g, DFF_I32, number, 0)
                                : inside        ? dfg_index(g, n->args[d])
                                                : clamped(g, n->args[d], dfg_number(g, DFF_I32, (int64_t)table->extents[d], 0));
        if (d > 0)
            index.c = dfg_printf(g, "%s * %" PRIu64 " + %s", dfg_within(g, at, DFG_UNARY), table->extents[d], dfg_within(g, index, DFG_PLUS));
        at = (struct dfg_text){ index.c, d > 0 ? DFG_PLUS : index.level };
    }
    return at.c;
}

/* The place in the table if it is known already. */
static bool known_place(const struct dfg_gen *g, const struct dff_node *n, uint64_t *place)
{
    const struct dff_table *table = g->kernel->tables[n->number];
    *place = 0;
    for (unsigned d = 0; d < table->rank; d++) {
        struct dfg_affine affine;
        if (!dfg_affine(g, n->args[d], &affine) || affine.n || affine.constant < 0 ||
            (uint64_t)affine.constant >= table->extents[d])
            return false;
        *place = *place * table->extents[d] + (uint64_t)affine.constant;
    }
    return true;
}

bool dfg_known_element(const struct dfg_gen *g, const struct dff_node *n, double *value)
{
    uint64_t place;
    if (n->kind != DFF_TABLE || !g->kernel->tables[n->number]->f || !known_place(g, n, &place))
        return false;
    *value = g->kernel->tables[n->number]->f[place];
    return true;
}

/* The dimension in which columns choose between a few elements of a table, if all others are the same for all columns. -1:
 * there is none. */
static int chosen_dimension(const struct dfg_gen *g, const struct dff_node *n)
{
    int found = -1;
    for (unsigned d = 0; d < n->n_args && n->kind == DFF_TABLE && g->column >= 0; d++)
        if (n->args[d]->slots >> (unsigned)g->column) {
            const struct dfg_fact *f = &g->facts[n->args[d]->id];
            if (found >= 0 || f->low < 0 || f->high < f->low || f->high - f->low >= MOST_CHOSEN ||
                f->high >= (int64_t)g->kernel->tables[n->number]->extents[d])
                return -1;
            found = (int)d;
        }
    return found;
}

bool dfg_is_chosen(const struct dfg_gen *g, const struct dff_node *n)
{
    return chosen_dimension(g, n) >= 0;
}

/* The element with the number `at` in dimension d, read before the loop over the columns. */
static const char *element_before(struct dfg_gen *g, const struct dff_node *n, unsigned d, int64_t at)
{
    const struct dff_table *table = g->kernel->tables[n->number];
    struct dfg_block *now = g->block;
    const char *name = dfg_new_name(g);
    g->block = columns_block(g)->outer;
    const char *place = place_table(g, n, (int)d, at);
    dfg_line(g, g->block, "const %s %s = df_table_%s[%s];", dfg_type(n->type), name, table->decl->name.text, place);
    g->block = now;
    return name;
}

static struct dfg_text chosen(struct dfg_gen *g, const struct dff_node *n, unsigned d)
{
    const struct dfg_fact *f = &g->facts[n->args[d]->id];
    const char *index = dfg_within(g, dfg_value(g, n->args[d]), DFG_PLUS), *text = "";
    for (int64_t at = f->low; at < f->high; at++)
        text = dfg_printf(g, "%s%s == %" PRId64 " ? %s : ", text, index, at, element_before(g, n, d, at));
    return (struct dfg_text){ dfg_printf(g, "%s%s", text, element_before(g, n, d, f->high)), f->low < f->high ? DFG_CHOICE : DFG_ATOM };
}

/* Can elements of the table be read before the loop over columns? In a function of two rows the row has its index inside of it only. */
static bool is_read_before(const struct dfg_gen *g, const struct dff_node *n, unsigned chosen_by)
{
    const struct dfg_block *columns = columns_block(g);
    for (unsigned d = 0; d < n->n_args && columns; d++)
        for (uint32_t slot = 0; slot < DFF_MAX_SLOTS && d != chosen_by; slot++)
            if (n->args[d]->slots >> slot & 1 && !is_outside(columns, slot))
                return false;
    return columns != NULL;
}

struct dfg_text dfg_table(struct dfg_gen *g, const struct dff_node *n)
{
    const struct dff_table *table = g->kernel->tables[n->number];
    const char *at = dfg_columns_value(g, n, true);
    int d = chosen_dimension(g, n);
    uint64_t place;
    if (known_place(g, n, &place))
        return dfg_number(g, n->type, table->i ? table->i[place] : 0, table->f ? table->f[place] : 0);
    if (d >= 0 && is_read_before(g, n, (unsigned)d))
        return chosen(g, n, (unsigned)d);
    return (struct dfg_text){ dfg_printf(g, "df_table_%s[%s]", table->decl->name.text, at ? at : place_table(g, n, -1, 0)), DFG_ATOM };
}

const char *dfg_place(struct dfg_gen *g, const struct dff_node *n)
{
    struct dfg_row own;
    const char *choice = "";
    return n->kind == DFF_TABLE ? place_table(g, n, -1, 0) : place_read(g, n, row_read(g, n, &own), &choice);
}

unsigned dfg_free_dimensions(struct dfg_gen *g, const struct dff_node *n)
{
    struct dfg_row own;
    const struct dfg_row *row = n->kind == DFF_READ ? row_read(g, n, &own) : NULL;
    return n->n_args - (row ? row->lead : 0);
}

bool dfg_is_unmoved(struct dfg_gen *g, const struct dff_node *read, unsigned *in_row)
{
    *in_row = read->n_args - dfg_free_dimensions(g, read);
    for (unsigned d = *in_row; d < read->n_args; d++)
        if (border_of(g, read, d) != DFF_NONE)
            return false;
    return true;
}
