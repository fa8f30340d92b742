/* columns.c - shares values between neighbouring columns for rows.c and the files that print parts of its row
 * functions, such as the inner sum of sum(j: k[j] * sum(i: k[i] * g[y + i, x + j])). around.c, gathers.c and reduce.c
 * also keep their values in its arrays.
 *
 * An unrolled reduction may contain a value that depends on its slot s and the column x only through x + m * s. The
 * value for (x, s) then equals the one for (x + m * s, 0), so it is computed once per column, into an array, ahead of
 * the loop that uses it. The terms are the same values in the same order, so the sum has the same bits.
 */
#include "compiler/generate/gen.h"

#include <inttypes.h>
#include <stdlib.h>

#define STRIP_BYTES 8192                /* of all arrays of a strip: with what the loops read and write, they should stay in the first cache */
#define LEAST_STRIP 128
#define MOST_STRIP 1024
#define MOST_REPETITIONS 128
#define LEAST_READS 2                   /* a value with fewer is not worth an array */

/* ---- what can be shared ---- */

struct shift {
    const struct dfg_gen *g;
    uint32_t slot, along;               /* along: the slot of the columns, or of the rows */
    bool known;
    int64_t by;                         /* m, once it is known */
    unsigned char *seen;                /* by node id */
    unsigned reads;
};

static bool depends(const struct shift *s, const struct dff_node *n)
{
    return n->slots >> s->slot & 1 || n->slots >> s->along & 1;
}

/* Does an index depend on both in the same proportion as all others do? */
static bool index_shifts(struct shift *s, const struct dff_node *index)
{
    struct dfg_affine a;
    int64_t along = 0, slot = 0;
    if (!depends(s, index))
        return true;
    if (!dfg_affine(s->g, index, &a))
        return false;
    for (unsigned i = 0; i < a.n; i++) {
        if (!a.term[i].dim && a.term[i].number == s->along)
            along = a.term[i].factor;
        if (!a.term[i].dim && a.term[i].number == s->slot)
            slot = a.term[i].factor;
    }
    if (along == 0 || slot % along != 0 || (s->known && slot / along != s->by))
        return false;
    s->known = true;
    s->by = slot / along;
    return true;
}

/* A reduction may have the slot for a range of its own, as the argument of a local function: what it holds does not depend on this range. */
static bool shifts(struct shift *s, const struct dff_node *n)
{
    bool good = true, element = n->kind == DFF_READ || n->kind == DFF_TABLE;
    if (!depends(s, n) || s->seen[n->id])
        return true;
    s->seen[n->id] = 1;
    s->reads += n->kind == DFF_READ;
    if (n->kind == DFF_INDEX)
        return false;
    for (uint32_t k = 0; k < n->n_args && good; k++)
        good = !n->args[k] || (element ? index_shifts(s, dfg_index_in(s->g, n, k)) : shifts(s, n->args[k]));
    for (uint32_t r = 0; r < n->n_ranges && good; r++)
        good = n->ranges[r].slot != s->slot && !depends(s, n->ranges[r].from) && !depends(s, n->ranges[r].to);
    return good;
}

/* Finds the largest such value in a reduction's body. NULL: there is none, or no memory. */
static const struct dff_node *find(struct shift *s, const struct dff_node *n)
{
    const uint32_t inside = (1u << (unsigned)s->g->column) - 1, both = 1u << s->slot | 1u << (unsigned)s->g->column;
    const struct dff_node *found = NULL;
    if ((n->slots & both) != both)
        return NULL;
    s->known = false;
    s->reads = 0;
    for (unsigned i = 0; i < s->g->kernel->n_nodes; i++)
        s->seen[i] = 0;
    bool loops = s->g->facts[n->id].loops;
    if (!loops && !(n->slots & ~(inside | both)) && shifts(s, n) && s->known && s->by != 0 &&
        (s->reads >= LEAST_READS || n->kind == DFF_REDUCE))
        return n;
    for (uint32_t k = 0; k < n->n_args && !found; k++)
        if (n->args[k] && n->kind != DFF_READ && n->kind != DFF_TABLE)
            found = find(s, n->args[k]);
    return found;
}

bool dfg_is_shifted(struct dfg_gen *g, const struct dff_node *n, unsigned along, uint32_t slot)
{
    struct shift s = { .g = g, .slot = slot, .along = along, .seen = calloc(g->kernel->n_nodes + 1u, 1) };
    g->failed |= !s.seen;
    const bool is = s.seen && shifts(&s, n) && s.known && s.by == 1;
    free(s.seen);
    return is;
}

/* ---- arrays ---- */

struct dfg_column *dfg_column_add(struct dfg_gen *g, const struct dff_node *n, bool is_place)
{
    struct dfg_column *c = &g->columns[g->n_columns];
    *c = (struct dfg_column){ .node = n, .is_place = is_place, .slot = DF_NONE, .by = 1 };
    c->name = dfg_printf(g, "df_column%u", g->n_columns++);
    return c;
}

void dfg_column_array(struct dfg_gen *g, enum dff_type type, const char *name, unsigned each, int64_t more)
{
    const char *times = each > 1 ? dfg_printf(g, "%u * ", each) : "", *and = more ? dfg_printf(g, " + %" PRId64, more) : "";
    dfg_line(g, g->block, "%s %s[%sdf_strip_columns%s];", dfg_type(type), name, times, and);
    g->column_bytes += each * dfg_type_bytes(type);
}

unsigned dfg_strip_columns(const struct dfg_gen *g)
{
    unsigned columns = MOST_STRIP;
    while (columns > LEAST_STRIP && columns * g->column_bytes > STRIP_BYTES)
        columns /= 2;
    return columns;
}

static bool may_share(struct dfg_gen *g, const struct dff_node *n)
{
    const uint32_t outside = (2u << (unsigned)g->column) - 1;
    return g->facts[n->id].uses && n != g->sum && n->kind == DFF_REDUCE && n->order == DFF_ORDER_FOLD && n->n_ranges == 1 && n->args[0] &&
           dfg_copies(n) > 1 && dfg_copies(n) <= MOST_REPETITIONS && !(n->slots & ~outside) && !dfg_is_box(g, n);
}

/* Notes for which columns the value can be computed, at both ends of the range. What it prints is not wanted. */
static void bound_ends(struct dfg_gen *g, const struct dff_node *n, const struct dff_range *range)
{
    struct dfg_block scratch, number;
    const int64_t ends[] = { range->from->i, range->to->i - 1 };
    for (int i = 0; i < 2 && !g->failed; i++) {
        dfg_open_columns(g, &scratch);
        if (!g->failed && dfg_open_number(g, &number, (int)range->slot, ends[i]))
            dfg_value(g, n);
        dfg_close(g, &number, "");
        dfg_drop(g, &scratch);
    }
}

static void print_array(struct dfg_gen *g, struct dfg_column *c, const struct dff_range *range)
{
    struct dfg_block loop, number;
    const char *x = g->formula->names[g->column], *text = "";
    unsigned before = g->n_columns;
    g->n_columns = 0; /* this loop goes over more columns than other arrays have */
    bound_ends(g, c->node, range);
    dfg_column_array(g, c->node->type, c->name, 1, c->high - c->low);
    dfg_open_columns(g, &loop);
    if (!g->failed && dfg_open_number(g, &number, (int)range->slot, 0)) {
        text = dfg_value(g, c->node).c;
        dfg_line(g, &loop, "%s[%s - df_strip%s] = %s;", c->name, x,
                 c->low ? dfg_printf(g, " %c %" PRId64, c->low < 0 ? '+' : '-', c->low < 0 ? -c->low : c->low) : "", text);
        dfg_close(g, &number, "");
    }
    dfg_close_columns(g, &loop, dfg_printf(g, "df_strip %c %" PRId64, c->low < 0 ? '-' : '+', c->low < 0 ? -c->low : c->low),
                      dfg_printf(g, "df_strip_end + %" PRId64, c->high));
    g->n_columns = before;
}

void dfg_columns_print(struct dfg_gen *g)
{
    unsigned char *seen = calloc(g->kernel->n_nodes + 1u, 1);
    g->failed |= !seen;
    for (unsigned i = 0; i < g->kernel->n_nodes && g->n_columns < DFG_MAX_COLUMNS && !g->failed; i++) {
        const struct dff_node *n = g->kernel->nodes[i];
        struct shift s = { .g = g, .slot = n->n_ranges ? n->ranges[0].slot : 0, .along = (unsigned)g->column, .seen = seen };
        const struct dff_node *value = may_share(g, n) ? find(&s, n->args[0]) : NULL;
        if (!value)
            continue;
        const struct dff_range *range = &n->ranges[0];
        int64_t first = s.by * range->from->i, last = s.by * (range->to->i - 1);
        struct dfg_column c = { .node = value, .slot = range->slot, .by = s.by, .low = first < last ? first : last,
                                .high = first < last ? last : first, .name = dfg_printf(g, "df_column%u", g->n_columns) };
        print_array(g, &c, range);
        g->columns[g->n_columns++] = c;
    }
    free(seen);
}

/* The place of the present column in an array. -1: it has none. */
static int64_t place_of(const struct dfg_gen *g, const struct dfg_column *c)
{
    if (c->slot == DF_NONE)
        return 0;
    const struct dfg_block *block = dfg_block_of(g, 1u << c->slot);
    int64_t at = c->by * block->number - c->low;
    return block->slot == (int)c->slot && block->is_number && at <= c->high - c->low ? at : -1;
}

bool dfg_columns_has(const struct dfg_gen *g, const struct dff_node *n)
{
    bool has = false;
    for (unsigned i = 0; i < g->n_columns; i++)
        has |= g->columns[i].node == n && !g->columns[i].is_place;
    return has;
}

const char *dfg_columns_value(struct dfg_gen *g, const struct dff_node *n, bool is_place)
{
    for (unsigned i = 0; i < g->n_columns; i++) {
        const struct dfg_column *c = &g->columns[i];
        int64_t at = c->node == n && c->is_place == is_place ? place_of(g, c) : -1;
        const char *x = g->formula->names[g->column];
        if (at >= 0 && c->four)
            return dfg_printf(g, "%s[DF_FOUR(df_strip_columns, %u, %s - df_strip)]", c->name, c->at, x);
        if (at >= 0 && c->each)
            return dfg_printf(g, "%s[%u * (%s - df_strip) + %u]", c->name, c->each, x, c->at);
        if (at >= 0)
            return dfg_printf(g, "%s[%s - df_strip%s]", c->name, x, at ? dfg_printf(g, " + %" PRId64, at) : "");
    }
    return NULL;
}
