/* tiles.c - the code of a group of kernels for GPUs: one function, whose work-groups compute tiles of the outputs. The streams inside
 * the group are in local memory, each with the halo that later stages read, so only inputs and outputs of the group move.
 *
 * Phases:  each stage is a phase: its items compute the elements of the stage's region side by side, and a barrier follows. A
 *          phase reads local memory that earlier phases wrote, and none that it writes: dfu_tiles_find() sees to it.
 * Regions: df_y3 and df_x3 are the rows and columns of stage 3 that the tile needs, df_own_y3 and df_own_x3 those that leave the
 *          group from this tile. Halos are computed in each tile that reads them; everything else is computed once.
 * Borders: a tile whose reads are all inside takes the text without borders.
 * Axes:    of streams with columns, rows and columns go over tiles; of others, rows alone. Dimensions before the rows are loops
 *          over the grid's third extent, those behind the columns are loops of an item.
 */
#include "compiler/generate/gen.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OUTPUTS 2048               /* of a tile: of 512 by 512 there should be as many work-groups as a large GPU has SMs */
#define ITEMS_X 32
#define ITEMS_Y 8
_Static_assert(ITEMS_X * ITEMS_Y == DFU_ITEMS, "items of a work-group");

/* ---- the size of a tile ---- */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static uint64_t rounded(uint64_t n, unsigned to) { return (n + to - 1) / to * to; }

/* The steps that a tile's items take for each output. A stage counts as often as its formulas' text is long. */
static double cost(const struct dfg_gen *g, const struct dfu_tiles *t, const unsigned *work)
{
    const struct dff_strips *s = g->kernel->strips;
    double steps = 0;
    for (unsigned k = 0; k < s->n_stages; k++)
        steps += work[k] * (double)(s->axes == 2 ? rounded(t->y[k], ITEMS_Y) * rounded(t->x[k], ITEMS_X) : rounded(t->y[k], DFU_ITEMS));
    return steps / ((double)t->rows * t->columns);
}

/* Chooses the rows and columns of the tile that is best, if none was asked for. */
static void choose_size(const struct dfg_gen *g, struct dfu_tiles *t, const unsigned *work)
{
    const struct dff_strips *s = g->kernel->strips;
    const bool two = s->axes == 2;
    const unsigned first = t->columns;
    struct dfu_tiles best = *t;
    double least_cost = INFINITY;
    for (; t->rows <= (two ? 64 : 8 * DFU_ITEMS) && !s->tile.rows; t->rows += two ? 2 : DFU_ITEMS)
        for (t->columns = first; t->columns <= (two ? 128 : 1); t->columns += 2) {
            dfu_tiles_measure(s, t);
            if (t->rows * t->columns > MOST_OUTPUTS || !dfu_tiles_fit(g->kernel, t))
                break;
            const double c = cost(g, t, work);
            if (c < least_cost * 0.99) {
                best = *t;
                least_cost = c;
            }
        }
    *t = best;
}

/* Operations in the text of the formula that was analysed last. */
static unsigned work_of(const struct dfg_gen *g)
{
    int64_t values[DFF_MAX_SLOTS];
    unsigned work = 0;
    for (unsigned s = 0; s < DFF_MAX_SLOTS; s++)
        values[s] = 1;
    for (unsigned i = 0; i < g->kernel->n_nodes; i++)
        for (uint32_t r = 0; g->facts[i].visited && r < g->kernel->nodes[i]->n_ranges; r++) {
            const struct dff_range *range = &g->kernel->nodes[i]->ranges[r];
            values[range->slot] = dfg_range_is_fixed(range) ? least(range->to->i - range->from->i, 1024) : 1024;
        }
    for (unsigned i = 0; i < g->kernel->n_nodes; i++) {
        const struct dff_node *n = g->kernel->nodes[i];
        int64_t times = 1;
        for (unsigned s = 0; s < DFF_MAX_SLOTS && times < 65536; s++)
            times *= n->slots >> s & 1 ? values[s] : 1;
        work += g->facts[i].visited && n->kind != DFF_CONST && n->kind != DFF_INDEX ? (unsigned)times : 0;
    }
    return work;
}

void dfg_tiles_find(struct dfg_gen *g, struct dfu_tiles *t)
{
    const struct dff_strips *s = g->kernel->strips;
    unsigned work[DFU_MOST_MEMBERS] = { 0 };
    g->failed |= !dfu_tiles_find(g->kernel, s->tile, t);
    for (unsigned k = 0; k < s->n_stages && !g->failed; k++)
        for (unsigned f = 0; f < s->stages[k].n_formulas && !g->failed; f++) {
            dfg_formula_alone(g, &g->kernel->formulas[s->stages[k].first_formula + f]);
            dfg_analyse(g);
            work[k] += work_of(g);
        }
    if (!g->failed)
        choose_size(g, t, work);
}

/* ---- elements ---- */

const char *dfg_tiles_element(struct dfg_gen *g, uint32_t port, const struct dfg_text *at)
{
    const struct dff_strips *s = g->kernel->strips;
    const struct dff_port *p = &g->kernel->ports[port];
    const unsigned stage = s->stage_of[p->memory];
    const char *place = dfg_printf(g, "(%s - df_y%u.from)", dfg_within(g, at[s->dim], DFG_PLUS), stage);
    if (s->axes == 2)
        place = dfg_printf(g, "%s * %" PRIu64 " + (%s - df_x%u.from)", place, g->tiles->x[stage],
                           dfg_within(g, at[s->dim + 1], DFG_PLUS), stage);
    for (unsigned d = s->dim + s->axes; d < p->rank; d++)
        place = dfg_printf(g, "(%s) * %" PRId64 " + %s", place, p->extents[d]->i, dfg_within(g, at[d], DFG_PLUS));
    return dfg_printf(g, "df_tile_%s[DF_AT(%s)]", dfg_port_name(g, p->memory), place);
}

const char *dfg_tiles_own(struct dfg_gen *g, const struct dff_formula *f)
{
    const struct dff_strips *s = g->kernel->strips;
    const unsigned memory = g->kernel->ports[f->port].memory, stage = s->stage_of[memory];
    const char *y = f->names[s->dim], *x = s->axes == 2 ? f->names[s->dim + 1] : "";
    if (dfg_is_ring(g, memory))
        return NULL;
    const char *text = dfg_printf(g, "%s >= df_own_y%u.from && %s < df_own_y%u.to", y, stage, y, stage);
    return s->axes < 2 ? text : dfg_printf(g, "%s && %s >= df_own_x%u.from && %s < df_own_x%u.to", text, x, stage, x, stage);
}

/* ---- a formula ---- */

struct region {                         /* that a formula computes: all that the tile needs of the stage, or what leaves from this tile */
    unsigned stage;
    bool own;
};

/* "df_y3", "df_own_x3", … */
static const char *region_name(struct dfg_gen *g, const struct region *r, bool is_column)
{
    return dfg_printf(g, "df_%s%c%u", r->own ? "own_" : "", is_column ? 'x' : 'y', r->stage);
}

static const char *loop_head(struct dfg_gen *g, unsigned d, const void *arg)
{
    const struct dff_strips *s = g->kernel->strips;
    const char *name = g->formula->names[d];
    if (d < s->dim)
        return dfg_printf(g, "for (int64_t %s = df_outer%u; %s <= df_outer%u; %s++)", name, d, name, d, name);
    if (d >= s->dim + s->axes)
        return dfg_printf(g, "for (int64_t %s = 0; %s < %s; %s++)", name, name,
                          dfg_within(g, dfg_index(g, g->kernel->ports[g->formula->port].extents[d]), DFG_PLUS), name);
    const char *region = region_name(g, arg, d > s->dim), items = d + 1 == s->dim + s->axes ? 'X' : 'Y';
    return dfg_printf(g, "for (int64_t %s = %s.from + DF_ITEM_%c; %s < %s.to; %s += DF_ITEMS_%c)", name, region, items, name, region, name, items);
}

/* C that says whether all reads of the text that was printed as MAIN are inside for the region. NULL: they always are. */
static const char *all_inside(struct dfg_gen *g, const struct region *r)
{
    const char *text = NULL;
    for (unsigned i = 0; i < g->stage.n_bounds; i++) {
        const struct dfg_bound *b = &g->stage.bounds[i];
        const char *region = region_name(g, r, b->slot != g->kernel->strips->dim);
        text = dfg_printf(g, "%s%s%" PRId64 " * %s.from + (%s) >= 0 && %" PRId64 " * (%s.to - 1) + (%s) < %s", text ? text : "", text ? " && " : "",
                          b->factor, region, dfg_affine_text(g, &b->least).c, b->factor, region, dfg_affine_text(g, &b->most).c,
                          dfg_within(g, dfg_index(g, b->extent), DFG_COMPARE));
    }
    return text;
}

static void print_formula(struct dfg_gen *g, const struct dff_formula *formula, unsigned stage)
{
    struct dfg_block block;
    const struct region region = { stage, !dfg_is_local(g, formula->port) }; /* what no other stage reads is computed where it leaves */
    dfg_formula_alone(g, formula);
    dfg_analyse(g);
    g->stage = (struct dfg_stage){ 0 };
    g->mode = DFG_MAIN;
    if (dfg_open(g, &block, -1, NULL))
        dfg_gpu_loops(g, 0, loop_head, &region);
    const char *inside = g->failed ? NULL : all_inside(g, &region);
    dfg_close(g, &block, inside ? dfg_printf(g, "if (%s)", inside) : "");
    g->mode = DFG_EDGE;
    if (!inside || g->failed)
        return;
    if (dfg_open(g, &block, -1, NULL))
        dfg_gpu_loops(g, 0, loop_head, &region);
    dfg_close(g, &block, "else");
}

/* ---- the kernel ---- */

/* Prints what makes the regions of stages that are read by `stage`, in one axis. */
static void print_reads(struct dfg_gen *g, struct dfu_axis a, unsigned stage)
{
    const char axis = a.is_column ? 'x' : 'y';
    for (unsigned r = 0; r < a.n; r++) {
        const struct df_strip_read *read = &a.reads[r];
        if (read->reader != stage)
            continue;
        dfg_line(g, g->block, "if (df_is_some(df_y%u, df_x%u)) {", stage, stage);
        dfg_line(g, g->block, "    const struct df_strip_read df_read = { %u, %u, %" PRId32 ", %" PRId32 ", %" PRId32 ", %" PRId32 ", %d };", read->reader,
                 read->made, read->times, read->by, read->low, read->high, read->border);
        dfg_line(g, g->block, "    df_strip_need(&df_%c%u, df_%c%u, &df_read, %s);", axis, read->made, axis, stage,
                 dfg_index(g, dfu_axis_extent(&g->kernel->strips->stages[read->made], a)).c);
        dfg_line(g, g->block, "}");
    }
}

/* Prints the region that leaves stage k, in one axis. */
static void print_own(struct dfg_gen *g, struct dfu_axis a, unsigned k)
{
    const struct dff_strips *s = g->kernel->strips;
    const char axis = a.is_column ? 'x' : 'y', *first = a.is_column ? "df_column" : "df_row",
               *end = dfg_printf(g, "%s + %u", first, a.is_column ? g->tiles->columns : g->tiles->rows);
    const struct dfu_ratio rate = dfu_axis_rate(&s->stages[k], a);
    if (!s->stages[k].leaves)
        dfg_line(g, g->block, "const struct df_rows df_own_%c%u = { 0, 0 };", axis, k);
    else if (a.is_column && s->axes < 2)
        dfg_line(g, g->block, "const struct df_rows df_own_%c%u = { 0, 1 };", axis, k);
    else
        dfg_line(g, g->block, "const struct df_rows df_own_%c%u = df_tile_own(%s, %s, %" PRId64 ", %" PRId64 ", %s);", axis, k, first,
                 a.is_column || s->dim ? end : dfg_printf(g, "df_strip_least(%s, df_to)", end), rate.times, rate.by,
                 dfg_index(g, dfu_axis_extent(&s->stages[k], a)).c);
    dfg_line(g, g->block, "struct df_rows df_%c%u = df_own_%c%u;", axis, k, axis, k);
}

static void print_regions(struct dfg_gen *g)
{
    const struct dff_strips *s = g->kernel->strips;
    for (unsigned k = 0; k < s->n_stages; k++) {
        print_own(g, dfu_axis_rows(s), k);
        print_own(g, dfu_axis_columns(s), k);
    }
    for (unsigned k = s->n_stages; k-- > 0;) {
        print_reads(g, dfu_axis_rows(s), k);
        if (s->axes == 2)
            print_reads(g, dfu_axis_columns(s), k);
        for (unsigned r = 0; r < s->n_reads && s->axes < 2; r++)
            if (s->reads[r].reader == k)
                dfg_line(g, g->block, "df_x%u.to |= df_x%u.to;", s->reads[r].made, k);
    }
}

static void print_phases(struct dfg_gen *g)
{
    const struct dff_strips *s = g->kernel->strips;
    for (unsigned k = 0; k < s->n_stages; k++) {
        struct dfg_block phase;
        if (dfg_open(g, &phase, -1, NULL))
            for (unsigned f = 0; f < s->stages[k].n_formulas && !g->failed; f++)
                print_formula(g, &g->kernel->formulas[s->stages[k].first_formula + f], k);
        dfg_close(g, &phase, "DF_PHASE");
        dfg_line(g, g->block, "DF_BARRIER();");
    }
}

const char *dfg_tiles_end(struct dfg_gen *g, bool columns)
{
    const struct dff_strips *s = g->kernel->strips;
    const struct dfu_axis a = columns ? dfu_axis_columns(s) : dfu_axis_rows(s);
    const char *text = "0";
    for (unsigned k = 0; k < s->n_stages; k++) {
        const struct dfu_ratio rate = dfu_axis_rate(&s->stages[k], a);
        if (s->stages[k].leaves)
            text = dfg_printf(g, "df_strip_most(%s, df_tiles_end(%" PRId64 ", %" PRId64 ", %s))", text, rate.times, rate.by,
                              dfg_index(g, dfu_axis_extent(&s->stages[k], a)).c);
    }
    return text;
}

/* Prints the loops over the dimensions before the rows, and over the tiles of this work-group. */
static void print_tiles(struct dfg_gen *g, unsigned d)
{
    const struct dff_strips *s = g->kernel->strips;
    const struct dff_port *port = &g->kernel->ports[g->kernel->formulas[0].port];
    struct dfg_block block, inner;
    const char *head;
    if (d < s->dim) {
        head = d == 0 ? "for (int64_t df_outer0 = df_from + DF_GROUP_Z; df_outer0 < df_to; df_outer0 += DF_GROUPS_Z)"
                      : dfg_printf(g, "for (int64_t df_outer%u = 0; df_outer%u < %s; df_outer%u++)", d, d, dfg_index(g, port->extents[d]).c, d);
        if (dfg_open(g, &block, -1, NULL))
            print_tiles(g, d + 1);
        dfg_close(g, &block, head);
        return;
    }
    const char grid = s->axes == 2 ? 'Y' : 'X', *from = s->dim ? "0" : "df_from", *to = s->dim ? "df_rows" : "df_to";
    head = dfg_printf(g, "for (int64_t df_row = %s + DF_GROUP_%c * %u; df_row < %s; df_row += (int64_t)DF_GROUPS_%c * %u)", from, grid, g->tiles->rows, to,
                      grid, g->tiles->rows);
    const bool good = dfg_open(g, &block, -1, NULL);
    if (good && s->axes == 2) {
        if (dfg_open(g, &inner, -1, NULL)) {
            print_regions(g);
            print_phases(g);
        }
        dfg_close(g, &inner, dfg_printf(g, "for (int64_t df_column = (int64_t)DF_GROUP_X * %u; df_column < df_columns; df_column += (int64_t)DF_GROUPS_X * %u)",
                                        g->tiles->columns, g->tiles->columns));
    } else if (good) {
        print_regions(g);
        print_phases(g);
    }
    dfg_close(g, &block, head);
}

void dfg_tiles_print(FILE *out, struct dfg_gen *g)
{
    const struct dff_strips *s = g->kernel->strips;
    struct dfg_block block;
    g->block = NULL;
    g->column = -1;
    g->copies = 1;
    if (dfg_open(g, &block, -1, NULL)) {
        for (unsigned p = 0; p < g->kernel->callee->sig.n_ports; p++)
            if (g->tiles->is_local[p])
                dfg_line(g, g->block, "DF_LOCAL(%s, df_tile_%s, %" PRIu64 ");", df_elem_c_type(g->kernel->ports[p].elem), dfg_port_name(g, p),
                         dfu_tiles_elements(g->kernel, g->tiles, p));
        if (s->dim)
            dfg_line(g, g->block, "const int64_t df_rows = %s;", dfg_tiles_end(g, false));
        if (s->axes == 2)
            dfg_line(g, g->block, "const int64_t df_columns = %s;", dfg_tiles_end(g, true));
        print_tiles(g, 0);
    }
    dfg_close(g, &block, NULL);
    fprintf(out, "static __global__ void DF_ITEMS_AT_MOST(%u) df_kernel_%c_0(%s%s, const int64_t df_from, const int64_t df_to)\n{\n%s}\n\n", DFU_ITEMS, DFG_NAME,
            dfg_parameters(g), dfg_gpu_ports(g), g->failed ? "" : block.bytes);
    free(block.bytes);
}

static const char *n_tiles(struct dfg_gen *g, const char *n, unsigned each)
{
    return dfg_printf(g, "(%s + %u) / %u", n, each - 1, each);
}

void dfg_tiles_launch(struct dfg_gen *g)
{
    const struct dff_strips *s = g->kernel->strips;
    const char *rows = n_tiles(g, s->dim ? dfg_tiles_end(g, false) : "df_to - df_from", g->tiles->rows), *outer = s->dim ? "df_to - df_from" : "1";
    dfg_line(g, g->block, "if (df_to > df_from)");
    if (s->axes == 2)
        dfg_line(g, g->block, "    DF_LAUNCH_ALL(df_kernel_%c_0, df_grid(dim3(1, 1), %s, %s, %s), dim3(%u, %u), stream, %s%s, df_from, df_to);", DFG_NAME,
                 n_tiles(g, dfg_tiles_end(g, true), g->tiles->columns), rows, outer, ITEMS_X, ITEMS_Y, dfg_arguments(g), dfg_gpu_arguments(g));
    else
        dfg_line(g, g->block, "    DF_LAUNCH_ALL(df_kernel_%c_0, df_grid(dim3(1), %s, 1, %s), dim3(%u), stream, %s%s, df_from, df_to);", DFG_NAME, rows, outer,
                 DFU_ITEMS, dfg_arguments(g), dfg_gpu_arguments(g));
}
