/* place.c - the C of indices and reads.
 *
 * An index that is affine in indices and dimensions is printed as such, in int64_t: that is what compilers see through when
 * they vectorise. gen.limit sees to it that the i32 of the language does not overflow there.
 */
#include "compiler/generate/gen.h"

#include <inttypes.h>
#include <string.h>

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
        if (!block->is_number)
            return add_term(a, false, n->number, factor);
        a->constant += factor * block->number;
        return true;
    }
    if (n->kind != DFF_OP || !g->facts[n->id].index)
        return false;
    switch (n->op) {
    case DFF_NEG: return add_node(g, n->args[0], -factor, a);
    case DFF_ADD: return add_node(g, n->args[0], factor, a) && add_node(g, n->args[1], factor, a);
    case DFF_SUB: return add_node(g, n->args[0], factor, a) && add_node(g, n->args[1], -factor, a);
    case DFF_MUL: return add_product(g, n, factor, a);
    default: return false;
    }
}

bool dfg_affine(const struct dfg_gen *g, const struct dff_node *node, struct dfg_affine *affine)
{
    *affine = (struct dfg_affine){ 0 };
    return node->type == DFF_I32 && add_node(g, node, 1, affine);
}

/* The positive terms come first, the constant last: "y + 2 * j - 1". */
static struct dfg_text affine_text(struct dfg_gen *g, const struct dfg_affine *a)
{
    const char *text = "";
    for (int negative = 0; negative < 2; negative++)
        for (unsigned i = 0; i < a->n; i++) {
            int64_t factor = a->term[i].factor, size = factor < 0 ? -factor : factor;
            const char *name = a->term[i].dim ? dfg_dim_name(g, a->term[i].number)
                                              : dfg_block_of(g, 1u << a->term[i].number)->name;
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
        return affine_text(g, &affine);
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

static struct dfg_text bordered(struct dfg_gen *g, struct dfg_text index, enum dff_border border, const char *extent)
{
    static const char *const names[] = { [DFF_CLAMP] = "clamp", [DFF_MIRROR] = "mirror", [DFF_REFLECT] = "reflect",
                                         [DFF_WRAP_AROUND] = "wrap" };
    return (struct dfg_text){ dfg_printf(g, "df_%s_at(%s, %s)", names[border], index.c, extent), DFG_ATOM };
}

static bool always_inside(const struct dfg_gen *g, const struct dff_node *read, unsigned d, const struct dff_port *port)
{
    return dfg_is_whole(g, read->args[d], port->extents[d]);
}

struct dfg_text dfg_read(struct dfg_gen *g, const struct dff_node *n)
{
    const struct dff_port *port = &g->kernel->ports[n->number];
    struct dfg_text at[DF_MAX_RANK] = { { 0 } };
    const char *choice = "";
    for (unsigned d = 0; d < port->rank; d++) {
        enum dff_border border = port->border[d];
        at[d] = dfg_index(g, n->args[d]);
        if (always_inside(g, n, d, port) || (border == DFF_NONE && is_safe(g, n, d, port->extents[d])))
            continue;
        const char *extent = dfg_index(g, port->extents[d]).c;
        if (border == DFF_NUMBER) {
            at[d] = named_index(g, at[d]);
            choice = dfg_printf(g, "%s%s < 0 || %s >= %s ? %s : ", choice, at[d].c, at[d].c,
                                dfg_within(g, dfg_index(g, port->extents[d]), DFG_PLUS),
                                dfg_within(g, dfg_value(g, port->outside[d]), DFG_BITS));
        } else {
            at[d] = bordered(g, at[d], border == DFF_NONE ? DFF_CLAMP : border, extent);
        }
    }
    const char *element = dfg_printf(g, "%s[%s]", dfg_port_name(g, n->number), dfg_offset(g, port, at));
    if (port->elem == DF_F16)
        element = dfg_printf(g, "df_f32_of_f16(%s)", element);
    return (struct dfg_text){ dfg_printf(g, "%s%s", choice, element), *choice ? DFG_CHOICE : DFG_ATOM };
}

struct dfg_text dfg_table(struct dfg_gen *g, const struct dff_node *n)
{
    const struct dff_table *table = g->kernel->tables[n->number];
    const char *at = "";
    uint64_t place = 0;
    bool known = true;
    for (unsigned d = 0; d < table->rank; d++) {
        struct dfg_affine affine;
        struct dfg_text index = dfg_index(g, n->args[d]);
        known = known && dfg_affine(g, n->args[d], &affine) && affine.n == 0 && affine.constant >= 0 &&
                (uint64_t)affine.constant < table->extents[d];
        place = known ? place * table->extents[d] + (uint64_t)affine.constant : 0;
        if (!is_safe(g, n, d, NULL) && !known)
            index = bordered(g, index, DFF_CLAMP, dfg_printf(g, "%" PRIu64, table->extents[d]));
        at = d == 0 ? index.c
                    : dfg_printf(g, "(%s) * %" PRIu64 " + %s", at, table->extents[d], dfg_within(g, index, DFG_PLUS));
    }
    if (known)
        return dfg_number(g, n->type, table->i ? table->i[place] : 0, table->f ? table->f[place] : 0);
    const char *element = dfg_printf(g, "df_table_%s[%s]", table->decl->name.text, at);
    return (struct dfg_text){ element, DFG_ATOM };
}
