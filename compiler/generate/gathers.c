/* gathers.c - elements that are read at computed places, such as c[i32(1023 * r[y, x])].
 *
 * No instruction reads bytes at several places, so a loop with such a read is no vector. Of larger elements gcc makes none if the place is
 * computed from two indices or more. What stands before and behind the read can be one. So the loop over the columns of a strip becomes up to
 * three: places are computed into arrays; the elements there are read into others; the rest takes them from there. The second loop alone
 * is no vector. Reads of which none needs another one share these loops.
 */
#include "compiler/generate/gen.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- which reads ---- */

static bool is_narrow(const struct dfg_gen *g, const struct dff_node *n)
{
    if (n->kind != DFF_READ && n->kind != DFF_TABLE)
        return false;
    enum df_elem elem = n->kind == DFF_READ ? g->kernel->ports[n->number].elem : g->kernel->tables[n->number]->elem;
    return elem == DF_U8 || elem == DF_U16 || (elem == DF_F16 && n->kind == DFF_READ);
}

static bool has_number(const struct dff_port *port)
{
    for (unsigned d = 0; d < port->rank; d++)
        if (port->border[d] == DFF_NUMBER)
            return true;
    return false;
}

static bool is_wide(struct dfg_gen *g, const struct dff_node *n)
{
    return !is_narrow(g, n) && (n->kind == DFF_READ || n->kind == DFF_TABLE) && dfg_free_dimensions(g, n) > 1;
}

/* Does the place change from column to column in a way that is no sum of indices? */
static bool is_computed(const struct dfg_gen *g, const struct dff_node *n)
{
    struct dfg_affine affine;
    for (uint32_t d = 0; d < n->n_args; d++)
        if (n->args[d]->slots >> g->column & 1 && !dfg_affine(g, n->args[d], &affine))
            return true;
    return false;
}

static bool is_gather(struct dfg_gen *g, const struct dff_node *n)
{
    const uint32_t inside = (1u << g->formula->rank) - 1;
    return g->facts[n->id].uses && (is_narrow(g, n) || is_wide(g, n)) && !(n->slots & ~inside) && is_computed(g, n) && !dfg_is_chosen(g, n) &&
           (n->kind == DFF_TABLE || (n->number != g->formula->port && !has_number(&g->kernel->ports[n->number])));
}

/* A conversion of integers to a type that holds them, and the like, is no operation. */
static const struct dff_node *below(const struct dff_node *n)
{
    while ((n->kind == DFF_CONVERT || n->kind == DFF_CAST) && dfg_is_int(n->type) && dfg_is_int(n->args[0]->type))
        n = n->args[0];
    return n;
}

static bool has_operations(const struct dff_node *n)
{
    for (uint32_t d = 0; d < n->n_args; d++) {
        const struct dff_node *index = below(n->args[d]);
        if (index->kind != DFF_READ && index->kind != DFF_TABLE && index->kind != DFF_INDEX && index->kind != DFF_CONST)
            return true;
    }
    return false;
}

/* ---- arrays ---- */

struct gather {
    const struct dff_node *node;
    uint32_t slot;                      /* behind the column, that the read depends on, too (a channel); DF_NONE: none */
    int64_t number;                     /* of it */
    unsigned level;                     /* how many gathers its place needs, one behind the other */
};

struct gathers {
    struct gather *all;
    unsigned n, levels;
};

static bool is_whole_value(const struct dfg_gen *g, const struct dff_node *n)
{
    return below(g->formula->value) == n;
}

static void print_element(struct dfg_gen *g, struct dfg_block *loop, struct dfg_column *c)
{
    struct dfg_block number;
    const char *x = g->formula->names[g->column];
    if (c->slot != DF_NONE)
        dfg_open_number(g, &number, (int)c->slot, c->low);
    if (!g->failed) {
        const char *text = c->is_place ? dfg_place(g, c->node) : dfg_value(g, c->node).c;
        dfg_line(g, loop, "%s[%s - df_strip] = %s;", c->name, x, text);
    }
    if (c->slot != DF_NONE)
        dfg_close(g, &number, "");
}

/* One loop that fills the arrays of a level's gathers: with places, or with what is there. */
static void print_arrays(struct dfg_gen *g, const struct gathers *gathers, unsigned level, bool places)
{
    struct dfg_block loop;
    unsigned first = g->n_columns;
    for (unsigned i = 0; i < gathers->n && g->n_columns < DFG_MAX_COLUMNS; i++) {
        const struct gather *a = &gathers->all[i];
        if (a->level != level || (places ? !has_operations(a->node) : is_whole_value(g, a->node)))
            continue;
        struct dfg_column *c = &g->columns[g->n_columns];
        *c = (struct dfg_column){ .node = a->node, .is_place = places, .slot = a->slot, .by = 1, .low = a->number, .high = a->number };
        c->name = dfg_printf(g, "df_column%u", g->n_columns++);
        dfg_line(g, g->block, "%s %s[DF_STRIP];", !places ? dfg_type(a->node->type) : dfg_free_dimensions(g, a->node) > 1 ? "int64_t" : "int32_t",
                 c->name);
    }
    const unsigned last = g->n_columns;
    if (first == last)
        return;
    dfg_open_columns(g, &loop);
    loop.loc = &g->formula->ast->loc;
    g->n_columns = first; /* they are not there yet */
    for (unsigned i = first; i < last && !g->failed; i++)
        print_element(g, &loop, &g->columns[i]);
    g->n_columns = last;
    dfg_close_columns(g, &loop, "df_strip", "df_strip_end");
}

/* ---- which gathers ---- */

static void add(struct dfg_gen *g, struct gathers *gathers, struct gather a)
{
    struct gather *more = realloc(gathers->all, (gathers->n + 1) * sizeof *more);
    g->failed |= !more;
    if (!more)
        return;
    gathers->all = more;
    more[gathers->n++] = a;
    gathers->levels = a.level >= gathers->levels ? a.level + 1 : gathers->levels;
}

static void add_channels(struct dfg_gen *g, struct gathers *gathers, const struct dff_node *n, unsigned level)
{
    const uint32_t channels = n->slots >> (g->column + 1);
    if (!channels)
        add(g, gathers, (struct gather){ n, DF_NONE, 0, level });
    if (!channels || channels & (channels - 1))
        return;
    const uint32_t slot = (uint32_t)(g->column + 1 + __builtin_ctz(channels));
    const struct dff_node *extent = g->kernel->ports[g->formula->port].extents[slot];
    for (int64_t number = 0; number < extent->i; number++)
        add(g, gathers, (struct gather){ n, slot, number, level });
}

static unsigned level_of(const struct dff_node *n, const unsigned *levels)
{
    unsigned level = 0;
    for (uint32_t k = 0; k < n->n_args; k++)
        if (n->args[k] && levels[n->args[k]->id] > level)
            level = levels[n->args[k]->id];
    return level;
}

/* Arguments have lower numbers than the nodes that they are of. */
static void find(struct dfg_gen *g, struct gathers *gathers)
{
    unsigned *levels = calloc(g->kernel->n_nodes + 1u, sizeof *levels); /* gathers that the node needs, one behind the other */
    g->failed |= !levels;
    for (unsigned i = 0; i < g->kernel->n_nodes && !g->failed; i++) {
        const struct dff_node *n = g->kernel->nodes[i];
        levels[n->id] = level_of(n, levels);
        if (is_gather(g, n))
            add_channels(g, gathers, n, levels[n->id]++);
    }
    free(levels);
}

/* If there is no room for all, larger elements are read where they are used: one of them there keeps the loop from being a vector. */
static void drop_wide(struct dfg_gen *g, struct gathers *gathers)
{
    unsigned arrays = g->n_columns, kept = 0;
    for (unsigned i = 0; i < gathers->n; i++)
        arrays += has_operations(gathers->all[i].node) + !is_whole_value(g, gathers->all[i].node);
    for (unsigned i = 0; i < gathers->n && arrays > DFG_MAX_COLUMNS; i++)
        if (is_narrow(g, gathers->all[i].node))
            gathers->all[kept++] = gathers->all[i];
    if (arrays > DFG_MAX_COLUMNS)
        gathers->n = kept;
}

void dfg_gathers_print(struct dfg_gen *g)
{
    struct gathers gathers = { 0 };
    find(g, &gathers);
    if (!g->failed)
        drop_wide(g, &gathers);
    for (unsigned level = 0; level < gathers.levels && !g->failed; level++) {
        print_arrays(g, &gathers, level, true);
        print_arrays(g, &gathers, level, false);
    }
    free(gathers.all);
}
