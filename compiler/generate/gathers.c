/* gathers.c - bytes that are read at computed places, such as c[i32(1023 * r[y, x])].
 *
 * No instruction reads bytes at several places, so a loop with such a read is no vector. What stands before and behind the
 * read can be one. So the loop over the columns of a strip becomes up to three: places are computed into an array; the
 * elements there are read into another one; the rest takes them from there. The second loop alone is no vector.
 */
#include "compiler/generate/gen.h"

#include <inttypes.h>

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

/* Does the place change from column to column in a way that is no sum of indices? */
static bool is_computed(const struct dfg_gen *g, const struct dff_node *n)
{
    struct dfg_affine affine;
    for (uint32_t d = 0; d < n->n_args; d++)
        if (n->args[d]->slots >> g->column & 1 && !dfg_affine(g, n->args[d], &affine))
            return true;
    return false;
}

static bool is_gather(const struct dfg_gen *g, const struct dff_node *n)
{
    const uint32_t inside = (1u << g->formula->rank) - 1;
    return g->facts[n->id].uses && is_narrow(g, n) && !(n->slots & ~inside) && is_computed(g, n) && !dfg_is_chosen(g, n) &&
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

static void print_array(struct dfg_gen *g, struct dfg_column c)
{
    struct dfg_block loop, number;
    const char *x = g->formula->names[g->column], *type = c.is_place ? dfg_free_dimensions(g, c.node) > 1 ? "int64_t" : "int32_t"
                                                                     : dfg_type(c.node->type);
    if (g->n_columns == DFG_MAX_COLUMNS)
        return;
    c.name = dfg_printf(g, "df_column%u", g->n_columns);
    dfg_line(g, g->block, "%s %s[DF_STRIP];", type, c.name);
    dfg_open_columns(g, &loop);
    loop.loc = &g->formula->ast->loc;
    if (c.slot != DF_NONE)
        dfg_open_number(g, &number, (int)c.slot, c.low);
    if (!g->failed) {
        const char *text = c.is_place ? dfg_place(g, c.node) : dfg_value(g, c.node).c;
        dfg_line(g, &loop, "%s[%s - df_strip] = %s;", c.name, x, text);
    }
    if (c.slot != DF_NONE)
        dfg_close(g, &number, "");
    dfg_close_columns(g, &loop, "df_strip", "df_strip_end");
    g->columns[g->n_columns++] = c;
}

/* For one number of a slot that the read depends on behind the column (a channel); DF_NONE: there is none. */
static void print_gather(struct dfg_gen *g, const struct dff_node *n, uint32_t slot, int64_t number)
{
    struct dfg_column c = { .node = n, .slot = slot, .by = 1, .low = number, .high = number };
    if (has_operations(n)) {
        c.is_place = true;
        print_array(g, c);
    }
    if (below(g->formula->value) != n) {
        c.is_place = false;
        print_array(g, c);
    }
}

void dfg_gathers_print(struct dfg_gen *g)
{
    for (unsigned i = 0; i < g->kernel->n_nodes && !g->failed; i++) {
        const struct dff_node *n = g->kernel->nodes[i];
        if (!is_gather(g, n))
            continue;
        const uint32_t channels = n->slots >> (g->column + 1);
        if (!channels) {
            print_gather(g, n, DF_NONE, 0);
        } else if (!(channels & (channels - 1))) {
            const uint32_t slot = (uint32_t)(g->column + 1 + __builtin_ctz(channels));
            const struct dff_node *extent = g->kernel->ports[g->formula->port].extents[slot];
            for (int64_t number = 0; number < extent->i; number++)
                print_gather(g, n, slot, number);
        }
    }
}
