/* tiles.c - prints for generate_gpu.c the code of a group of kernels for GPUs: one function, whose work-groups compute tiles of the outputs. The streams inside
 * the group are in local memory, each with the halo that later stages read, so only inputs and outputs of the group move. place.c and rows.c address the
 * elements of tiles through it.
 *
 * Inputs:  of which a tile would load elements several times are staged: they are copied to local memory in a first phase, each like a stream that a
 *          stage makes. Stages of inputs come behind the group's. Small ones that are read at computed places are copied as a whole.
 * Phases:  each stage is a phase: its items compute the elements of the stage's region side by side, and a barrier follows. A
 *          phase reads local memory that earlier phases wrote, and none that it writes: dfu_tiles_find() sees to it. None follows the last
 *          phase if the first one, of the next tile, writes to no array that it uses: those between stand behind the first one's barrier.
 *          Streams of which no later phase reads anything give their local memory to others.
 * Regions: df_y3 and df_x3 are the rows and columns of stage 3 that the tile needs, df_own_y3 and df_own_x3 those that leave the
 *          group from this tile. Halos are computed in each tile that reads them; everything else is computed once. If there are many stages, one
 *          item finds their regions and leaves them in local memory, where each phase takes those that it needs: they would fill the registers.
 * Borders: a tile whose reads are all inside takes the text without borders.
 * Axes:    of streams with columns, rows and columns go over tiles; of others, rows alone. Dimensions before the rows are loops
 *          over the grid's third extent, those behind the columns are loops of an item.
 */
#include "compiler/generate/gen.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOADS_TO_STAGE 1.5              /* loads of an element that are avoided by its copy in local memory */
#define MOST_COPIED_BYTES 1024          /* of an input that is copied as a whole */
#define MOST_WORK_OF_FOUR 75            /* operations for an element of which an item computes four at a time; with more, they may not fit into registers */

/* ---- what is in local memory ---- */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

struct reads { uint32_t of[DFL_MAX_PORTS]; }; /* by port of the callee: how often a place of the axes reads it */

/* Does the text that was analysed last hold the node? */
static bool is_in_text(const struct dfg_gen *g, unsigned node) { return g->facts[node].visited || g->facts[node].sometimes; }

/* Have both the same loops over the same region? */
static bool has_same_loops(const struct dfg_gen *g, const struct dfu_tiles *t, const struct dff_formula *a, const struct dff_formula *b)
{
    const struct dff_port *p = &g->kernel->ports[a->port], *q = &g->kernel->ports[b->port];
    bool same = a->rank == b->rank && t->is_local[p->memory] == t->is_local[q->memory];
    for (unsigned d = 0; d < a->rank && same; d++)
        same = a->is_index[d] == b->is_index[d] && (!a->is_index[d] || p->extents[d] == q->extents[d]);
    return same;
}

/* Makes formula f of the stage the one that is printed, with those behind it that have the same loops: they share what they read and compute. */
static void find_siblings(struct dfg_gen *g, const struct dfu_tiles *t, unsigned stage, unsigned f)
{
    const struct dff_stage *s = &g->kernel->strips->stages[stage];
    const struct dff_formula *formulas = &g->kernel->formulas[s->first_formula];
    dfg_formula_alone(g, &formulas[f]);
    for (f++; f < s->n_formulas && g->n_siblings < DFG_MOST_SIBLINGS && has_same_loops(g, t, g->formula, &formulas[f]); f++)
        g->siblings[g->n_siblings++] = &formulas[f];
}

/* Elements that a tile would load of the port without a copy. reads: by stage. */
static double loads_of(const struct dfu_tiles *t, const struct reads *reads, unsigned port)
{
    double loads = 0;
    for (unsigned k = 0; k < t->n_stages; k++)
        loads += reads[k].of[port] * (double)(t->y[k] * t->x[k]);
    return loads;
}

/* Chooses inputs of which a tile would load elements several times: it copies what it needs of them, or all if that is little. */
static void find_staged(const struct dfg_gen *g, struct dfu_tiles *t, const struct reads *reads)
{
    const bool two = g->kernel->strips->axes == 2;
    const unsigned rows = t->rows, columns = t->columns;
    t->rows = two ? DFU_ITEMS_X : DFU_ITEMS; /* about what a tile will have */
    t->columns = two ? DFU_ITEMS_X : 1;
    dfu_tiles_measure(g->kernel, t);
    for (unsigned p = 0; p < g->kernel->callee->sig.n_ports; p++) {
        const double most = loads_of(t, reads, p) / LOADS_TO_STAGE;
        if (dfu_tiles_can_stage(g->kernel, p) && t->n_staged < DFU_MOST_STAGED) {
            t->staged[t->n_staged++] = p;
            dfu_tiles_measure(g->kernel, t);
            t->is_local[p] = (double)dfu_tiles_elements(g->kernel, t, p) <= most;
            t->n_staged -= !t->is_local[p];
        } else if (g->kernel->ports[p].mode == DF_IN && g->kernel->strips->in[p] == DFU_IN_WHOLE && g->kernel->ports[p].rank) {
            const unsigned room = MOST_COPIED_BYTES / (unsigned)df_elem_bytes(g->kernel->ports[p].elem);
            t->copied[p] = room < most ? room : (unsigned)most;
        }
    }
    t->rows = rows;
    t->columns = columns;
}

/* How many rows of the stage an item computes at a time: several, if neighbours in a column read the same elements of local memory. */
static unsigned rows_together(const struct dfg_gen *g, const struct dfu_tiles *t, unsigned stage, unsigned work)
{
    const struct dfu_axis rows = dfu_axis_rows(g->kernel->strips);
    struct df_strip_read read;
    bool shares = false;
    for (unsigned r = 0; r < rows.n + rows.n_in && g->kernel->strips->axes == 2; r++)
        shares |= dfu_axis_read(g->kernel, t, rows, r, &read) && read.reader == stage && read.times == read.by && read.high > read.low;
    return !shares ? 1 : work <= MOST_WORK_OF_FOUR && g->kernel->strips->stages[stage].n_formulas < 3 ? 4 : 2;
}

/* ---- how much a stage computes ---- */

/* Elements of g->formula at one place of the axes. */
static unsigned formula_channels(const struct dfg_gen *g)
{
    unsigned n = 1;
    for (unsigned d = g->kernel->strips->dim + g->kernel->strips->axes; d < g->formula->rank; d++)
        n *= g->formula->is_index[d] ? (unsigned)g->kernel->ports[g->formula->port].extents[d]->i : 1;
    return n;
}

/* The text that was analysed last: its operations, and in *reads how often a place of the axes reads each port. */
static unsigned work_of(const struct dfg_gen *g, struct reads *reads)
{
    int64_t values[DFF_MAX_SLOTS];
    unsigned work = 0;
    for (unsigned s = 0; s < DFF_MAX_SLOTS; s++)
        values[s] = 1;
    for (unsigned i = 0; i < g->kernel->n_nodes; i++)
        for (uint32_t r = 0; is_in_text(g, i) && r < g->kernel->nodes[i]->n_ranges; r++) {
            const struct dff_range *range = &g->kernel->nodes[i]->ranges[r];
            values[range->slot] = dfg_range_is_fixed(range) ? least(range->to->i - range->from->i, 1024) : 1024;
        }
    for (unsigned i = 0; i < g->kernel->n_nodes; i++) {
        const struct dff_node *n = g->kernel->nodes[i];
        int64_t times = 1;
        for (unsigned s = 0; s < DFF_MAX_SLOTS && times < 65536; s++)
            times *= n->slots >> s & 1 ? values[s] : 1;
        work += is_in_text(g, i) && n->kind != DFF_CONST && n->kind != DFF_INDEX ? (unsigned)times : 0;
        if (reads && is_in_text(g, i) && n->kind == DFF_READ)
            reads->of[g->kernel->ports[n->number].memory] += (uint32_t)times * formula_channels(g);
    }
    return work;
}

void dfg_tiles_find(struct dfg_gen *g, struct dfu_tiles *t)
{
    const struct dff_strips *s = g->kernel->strips;
    unsigned work[DFU_MOST_MEMBERS] = { 0 };
    struct reads reads[DFU_MOST_MEMBERS] = { 0 };
    bool loops[DFU_MOST_MEMBERS] = { false }; /* some are not written out, so rows would be computed one after the other */
    g->failed |= !dfu_tiles_find(g->kernel, s->tile, t);
    for (unsigned k = 0; k < s->n_stages && !g->failed; k++)
        for (unsigned f = 0; f < s->stages[k].n_formulas && !g->failed; f += g->n_siblings) {
            find_siblings(g, t, k, f);
            dfg_analyse(g);
            work[k] += work_of(g, &reads[k]) * formula_channels(g);
            for (unsigned i = 0; i < g->n_siblings; i++)
                loops[k] |= g->facts[g->siblings[i]->value->id].loops;
        }
    const struct dfu_tiles unstaged = *t;
    double steps;
    bool found = false;
    for (int staged = 1; staged >= 0 && !found && !g->failed; staged--) {
        *t = unstaged;
        if (staged)
            find_staged(g, t, reads);
        dfu_tiles_share(g->kernel, t);
        for (unsigned k = 0; k < s->n_stages; k++)
            t->together[k] = loops[k] ? 1 : rows_together(g, t, k, work[k]);
        found = dfu_tiles_choose(g->kernel, t, work, &steps);
    }
    g->failed |= !found;
}

/* Beside a tile without borders, of which so many would be enough: FAR outputs long, its halo is nothing. */
#define FAR (1u << 20)

void dfg_tiles_repeats(const struct dfg_gen *g, const struct dfu_tiles *tiles, double *computed, double *read)
{
    const struct dff_strips *s = g->kernel->strips;
    struct dfu_tiles far = *tiles;
    far.rows = FAR;
    far.columns = s->axes == 2 ? FAR : 1;
    dfu_tiles_measure(g->kernel, &far);
    for (unsigned k = 0; k < tiles->n_stages + tiles->n_staged; k++) {
        const double rows = (double)tiles->y[k] / tiles->rows * FAR / (double)far.y[k],
                     columns = s->axes == 2 ? (double)tiles->x[k] / tiles->columns * FAR / (double)far.x[k] : 1, times = fmax(rows * columns, 1);
        if (k >= tiles->n_stages)
            read[tiles->staged[k - tiles->n_stages]] = times;
        for (unsigned f = 0; k < tiles->n_stages && f < s->stages[k].n_formulas; f++) {
            const unsigned formula = s->stages[k].first_formula + f, memory = g->kernel->ports[g->kernel->formulas[formula].port].memory;
            computed[formula] = tiles->is_local[memory] ? times : 1; /* what no other stage reads is computed where it leaves */
        }
    }
}

/* ---- elements ---- */

const char *dfg_tiles_element(struct dfg_gen *g, uint32_t port, const struct dfg_text *at)
{
    const struct dff_strips *s = g->kernel->strips;
    const struct dff_port *p = &g->kernel->ports[port];
    const unsigned stage = dfu_tiles_stage(g->kernel, g->tiles, p->memory);
    const char *place = dfg_printf(g, "(%s - df_y%u.from)", dfg_within(g, at[s->dim], DFG_PLUS), stage);
    if (s->axes == 2)
        place = dfg_printf(g, "%s * %" PRIu64 " + (%s - df_x%u.from)", place, g->tiles->x[stage],
                           dfg_within(g, at[s->dim + 1], DFG_PLUS), stage);
    for (unsigned d = s->dim + s->axes; d < p->rank; d++)
        place = dfg_printf(g, "(%s) * %" PRId64 " + %s", place, p->extents[d]->i, dfg_within(g, at[d], DFG_PLUS));
    return dfg_printf(g, "df_tile_%s[DF_AT(%s)]", dfg_port_name(g, p->memory), place);
}

/* What depends on no index of a formula is computed before all phases. */
static bool is_in_phase(const struct dfg_gen *g)
{
    const struct dfg_block *block = g->block;
    while (block && !block->is_phase)
        block = block->outer;
    return block;
}

const char *dfg_tiles_copied(struct dfg_gen *g, uint32_t port, const char *place)
{
    const unsigned memory = g->kernel->ports[port].memory;
    if (!g->tiles || !g->tiles->copied[memory] || !is_in_phase(g))
        return NULL;
    const char *index = dfg_new_name(g), *name = dfg_port_name(g, memory);
    dfg_line(g, g->block, "const int64_t %s = %s;", index, place);
    return dfg_printf(g, "(df_all_%s <= %u ? df_tile_%s[DF_AT(%s)] : %s[%s])", name, g->tiles->copied[memory], name, index, dfg_port_name(g, port), index);
}

bool dfg_tiles_has_border(const struct dfg_gen *g, uint32_t port, unsigned d)
{
    const struct dff_strips *s = g->kernel->strips;
    const unsigned formula = (unsigned)(g->formula - g->kernel->formulas), made = dfu_tiles_stage(g->kernel, g->tiles, g->kernel->ports[port].memory);
    const bool is_row = d == s->dim, is_column = s->axes == 2 && d == s->dim + 1;
    const struct dfu_axis axis = is_column ? dfu_axis_columns(s) : dfu_axis_rows(s);
    struct df_strip_read read;
    bool has = !is_row && !is_column;
    for (unsigned r = 0; r < axis.n + axis.n_in && !has; r++)
        has = dfu_axis_read(g->kernel, g->tiles, axis, r, &read) && read.made == made && read.border &&
              formula - s->stages[read.reader].first_formula < s->stages[read.reader].n_formulas;
    return has;
}

const char *dfg_tiles_own(struct dfg_gen *g, const struct dff_formula *f, const struct dfg_text *at)
{
    const struct dff_strips *s = g->kernel->strips;
    const unsigned memory = g->kernel->ports[f->port].memory, stage = s->stage_of[memory];
    const char *y = at[s->dim].c, *x = s->axes == 2 ? at[s->dim + 1].c : "";
    if (dfg_is_ring(g, memory))
        return NULL;
    const char *text = dfg_printf(g, "%s >= df_own_y%u.from && %s < df_own_y%u.to", y, stage, y, stage);
    return s->axes < 2 ? text : dfg_printf(g, "%s && %s >= df_own_x%u.from && %s < df_own_x%u.to", text, x, stage, x, stage);
}

/* ---- a formula ---- */

struct region {                         /* that a formula computes: all that the tile needs of the stage, or what leaves from this tile */
    unsigned stage;
    bool own;
    unsigned together;                  /* rows that an item computes at a time; */
    unsigned rest;                      /* 2 or more: the rows that remain if so many are computed at a time */
};

/* "df_y3", "df_own_x3", … */
static const char *region_name(struct dfg_gen *g, const struct region *r, bool is_column)
{
    return dfg_printf(g, "df_%s%c%u", r->own ? "own_" : "", is_column ? 'x' : 'y', r->stage);
}

static const char *loop_head(struct dfg_gen *g, unsigned d, const struct region *r)
{
    const struct dff_strips *s = g->kernel->strips;
    const char *name = g->formula->names[d];
    if (d < s->dim)
        return dfg_printf(g, "for (int64_t %s = df_outer%u; %s <= df_outer%u; %s++)", name, d, name, d, name);
    if (d >= s->dim + s->axes)
        return dfg_printf(g, "for (int64_t %s = 0; %s < %s; %s++)", name, name,
                          dfg_within(g, dfg_index(g, g->kernel->ports[g->formula->port].extents[d]), DFG_PLUS), name);
    const char *region = region_name(g, r, d > s->dim), items = d + 1 == s->dim + s->axes ? 'X' : 'Y';
    if (d == s->dim && r->together > 1)
        return dfg_printf(g, "for (int64_t %s = %s.from + %u * DF_ITEM_Y; %s + %u < %s.to; %s += %u * DF_ITEMS_Y)", name, region, r->together, name,
                          r->together - 1, region, name, r->together);
    if (d == s->dim && r->rest > 1)
        return dfg_printf(g, "for (int64_t %s = %s.to - df_span_length(%s) %% %u + DF_ITEM_Y; %s < %s.to; %s += DF_ITEMS_Y)", name, region, region, r->rest, name,
                          region, name);
    return dfg_printf(g, "for (int64_t %s = %s.from + DF_ITEM_%c; %s < %s.to; %s += DF_ITEMS_%c)", name, region, items, name, region, name, items);
}

/* Prints the elements of n rows: what they share is computed once. */
static void print_rows(struct dfg_gen *g, unsigned n)
{
    const unsigned row = g->kernel->strips->dim;
    g->copies *= n;
    for (unsigned shift = 0; shift < n; shift++) {
        struct dfg_block block;
        if (dfg_open_shared(g, &block, (int)row, g->formula->names[row])) {
            block.shift = shift;
            dfg_store(g);
        }
        dfg_close(g, &block, "");
    }
    g->copies /= n;
}

/* Prints the loops over the formula's indices from dimension d on, and the elements inside of them. */
static void print_loops(struct dfg_gen *g, unsigned d, const struct region *r)
{
    struct dfg_block block;
    while (d < g->formula->rank && !g->formula->is_index[d])
        d++;
    if (d == g->formula->rank) {
        print_rows(g, r->together);
        return;
    }
    const char *head = loop_head(g, d, r);
    if (dfg_open(g, &block, (int)d, g->formula->names[d]))
        print_loops(g, d + 1, r);
    dfg_close(g, &block, head);
}

/* C that says whether all reads of the text that was printed as MAIN are inside for the region. NULL: they always are. */
static const char *all_inside(struct dfg_gen *g, const struct region *r)
{
    const char *text = NULL;
    for (unsigned i = 0; i < g->stage.n_bounds; i++) {
        const struct dfg_bound *b = &g->stage.bounds[i];
        const char *region = region_name(g, r, b->slot != g->kernel->strips->dim);
        text = dfg_printf(g, "%s%s%" PRId64 " * (int64_t)%s.from + (%s) >= 0 && %" PRId64 " * (int64_t)(%s.to - 1) + (%s) < %s", text ? text : "", text ? " && " : "",
                          b->factor, region, dfg_affine_text(g, &b->least).c, b->factor, region, dfg_affine_text(g, &b->most).c,
                          dfg_within(g, dfg_index(g, b->extent), DFG_COMPARE));
    }
    return text;
}

/* Prints what counts the elements that g->siblings compute for the region (DF_COUNT_LOADS in df_formula_gpu.h). */
static void print_count(struct dfg_gen *g, const struct region *r)
{
    const struct dff_strips *s = g->kernel->strips;
    const struct dff_formula *f = g->formula;
    const char *made = dfg_printf(g, "(int64_t)df_span_length(%s)", region_name(g, r, false)), *whole = "1", *names = dfg_port_name(g, f->port);
    if (s->axes == 2)
        made = dfg_printf(g, "%s * df_span_length(%s)", made, region_name(g, r, true));
    for (unsigned i = 1; i < g->n_siblings; i++)
        names = dfg_printf(g, "%s, %s", names, dfg_port_name(g, g->siblings[i]->port));
    for (unsigned d = 0; d < f->rank; d++) {
        const char *extent = dfg_within(g, dfg_index(g, g->kernel->ports[f->port].extents[d]), DFG_UNARY);
        if (f->is_index[d])
            whole = dfg_printf(g, "%s * %s", whole, extent);
        if (f->is_index[d] && d >= s->dim + s->axes)
            made = dfg_printf(g, "%s * %s", made, extent);
    }
    dfg_line(g, g->block, "DF_STAGE(%u, \"%s\", %u, %s, %s);", (unsigned)(f - g->kernel->formulas), names, work_of(g, NULL), made, whole);
}

/* Prints the loops of g->siblings. */
static void print_siblings(struct dfg_gen *g, unsigned stage)
{
    struct dfg_block block;
    const bool own = !dfg_is_local(g, g->formula->port); /* what no other stage reads is computed where it leaves */
    const unsigned together = g->tiles->together[stage];
    const struct region several = { stage, own, together, 1 }, rest = { stage, own, 1, together }, all = { stage, own, 1, 1 };
    dfg_analyse(g);
    print_count(g, &all);
    g->stage = (struct dfg_stage){ 0 };
    g->mode = DFG_MAIN;
    if (dfg_open(g, &block, -1, NULL)) {
        print_loops(g, 0, &several);
        if (together > 1)
            print_loops(g, 0, &rest);
    }
    const char *inside = g->failed ? NULL : all_inside(g, &all);
    dfg_close(g, &block, inside ? dfg_printf(g, "if (%s)", inside) : "");
    g->mode = DFG_EDGE;
    if (!inside || g->failed)
        return;
    if (dfg_open(g, &block, -1, NULL))
        print_loops(g, 0, &all);
    dfg_close(g, &block, "else");
}

/* ---- the kernel ---- */

/* Prints what makes the regions of stages that are read by `stage`, in one axis. */
static void print_reads(struct dfg_gen *g, struct dfu_axis a, unsigned stage)
{
    const char axis = a.is_column ? 'x' : 'y';
    struct df_strip_read read;
    for (unsigned r = 0; r < a.n + a.n_in; r++) {
        if (!dfu_axis_read(g->kernel, g->tiles, a, r, &read) || read.reader != stage)
            continue;
        dfg_line(g, g->block, "if (df_is_some(df_y%u, df_x%u)) {", stage, stage);
        dfg_line(g, g->block, "    const struct df_strip_read df_read = { %u, %u, %" PRId32 ", %" PRId32 ", %" PRId32 ", %" PRId32 ", %d };", read.reader,
                 read.made, read.times, read.by, read.low, read.high, read.border);
        dfg_line(g, g->block, "    df_tile_need(&df_%c%u, df_%c%u, &df_read, %s);", axis, read.made, axis, stage,
                 dfg_index(g, dfu_axis_extent(g->kernel, g->tiles, read.made, a)).c);
        dfg_line(g, g->block, "}");
    }
}

/* Prints the region that leaves stage k, in one axis. */
static void print_own(struct dfg_gen *g, struct dfu_axis a, unsigned k)
{
    const struct dff_strips *s = g->kernel->strips;
    const char axis = a.is_column ? 'x' : 'y', *first = a.is_column ? "df_column" : "df_row",
               *end = dfg_printf(g, "%s + %u", first, a.is_column ? g->tiles->columns : g->tiles->rows);
    if (k >= s->n_stages || !s->stages[k].leaves)
        dfg_line(g, g->block, "const struct df_span df_own_%c%u = { 0, 0 };", axis, k);
    else if (a.is_column && s->axes < 2)
        dfg_line(g, g->block, "const struct df_span df_own_%c%u = { 0, 1 };", axis, k);
    else
        dfg_line(g, g->block, "const struct df_span df_own_%c%u = df_tile_own(%s, %s, %" PRId64 ", %" PRId64 ", %s);", axis, k, first,
                 a.is_column || s->dim ? end : dfg_printf(g, "df_strip_least(%s, df_to)", end), dfu_axis_rate(&s->stages[k], a).times,
                 dfu_axis_rate(&s->stages[k], a).by, dfg_index(g, dfu_axis_extent(g->kernel, g->tiles, k, a)).c);
    dfg_line(g, g->block, "struct df_span df_%c%u = df_own_%c%u;", axis, k, axis, k);
}

/* Prints what leaves a region of stage k in local memory, or takes it from there. */
static void print_region(struct dfg_gen *g, unsigned k, bool takes)
{
    static const char *const names[DFU_SPANS] = { "y", "x", "own_y", "own_x" };
    const bool leaves = k < g->tiles->n_stages && g->kernel->strips->stages[k].leaves;
    for (unsigned i = 0; i < (leaves ? DFU_SPANS : 2) && dfu_tiles_keep_regions(g->tiles); i++)
        if (takes)
            dfg_line(g, g->block, "const struct df_span df_%s%u = df_regions[%u];", names[i], k, DFU_SPANS * k + i);
        else
            dfg_line(g, g->block, "df_regions[%u] = df_%s%u;", DFU_SPANS * k + i, names[i], k);
}

/* Prints the regions of all stages. A stage's is known when the stages behind it have been asked. */
static void print_all_regions(struct dfg_gen *g)
{
    const struct dff_strips *s = g->kernel->strips;
    struct df_strip_read read;
    for (unsigned k = 0; k < g->tiles->n_stages + g->tiles->n_staged; k++) {
        print_own(g, dfu_axis_rows(s), k);
        print_own(g, dfu_axis_columns(s), k);
    }
    for (unsigned k = s->n_stages; k-- > 0;) {
        print_reads(g, dfu_axis_rows(s), k);
        if (s->axes == 2)
            print_reads(g, dfu_axis_columns(s), k);
        for (unsigned r = 0; r < s->n_reads + s->n_in_reads && s->axes < 2; r++)
            if (dfu_axis_read(g->kernel, g->tiles, dfu_axis_rows(s), r, &read) && read.reader == k)
                dfg_line(g, g->block, "df_x%u.to |= df_x%u.to;", read.made, k);
        print_region(g, k, false);
    }
    for (unsigned k = g->tiles->n_stages; k < g->tiles->n_stages + g->tiles->n_staged; k++) { /* an input without elements has none to be copied */
        dfg_line(g, g->block, "df_y%u.to = df_x%u.from < 0 || df_y%u.from < 0 ? df_y%u.from : df_y%u.to;", k, k, k, k, k);
        print_region(g, k, false);
    }
}

static void print_regions(struct dfg_gen *g)
{
    struct dfg_block phase;
    if (!dfu_tiles_keep_regions(g->tiles)) {
        print_all_regions(g);
        return;
    }
    if (dfg_open(g, &phase, -1, NULL))
        print_all_regions(g);
    dfg_close(g, &phase, "DF_PHASE if (DF_ITEM == 0)");
    dfg_line(g, g->block, "DF_BARRIER();");
}

/* Prints the regions that the phase of stage k needs: those of the stage and of what it reads. */
static void print_regions_of(struct dfg_gen *g, unsigned k)
{
    const struct dfu_axis axes[] = { dfu_axis_rows(g->kernel->strips), dfu_axis_columns(g->kernel->strips) };
    struct df_strip_read read;
    bool takes[DFU_MOST_STAGES] = { false };
    takes[k] = true;
    for (unsigned a = 0; a < g->kernel->strips->axes; a++)
        for (unsigned r = 0; r < axes[a].n + axes[a].n_in; r++)
            if (dfu_axis_read(g->kernel, g->tiles, axes[a], r, &read) && read.reader == k)
                takes[read.made] = true;
    for (unsigned i = 0; i < g->tiles->n_stages + g->tiles->n_staged; i++)
        if (takes[i])
            print_region(g, i, true);
}

/* Prints the phase that copies inputs, if there are any. What is beside each other in a tile's row is so in the input. */
static void print_staging(struct dfg_gen *g)
{
    const struct dff_strips *s = g->kernel->strips;
    struct dfg_block phase;
    bool any = g->tiles->n_staged;
    for (unsigned p = 0; p < g->kernel->callee->sig.n_ports; p++)
        any |= g->tiles->copied[p];
    if (!any)
        return;
    if (dfg_open(g, &phase, -1, NULL)) {
        for (unsigned p = 0; p < g->kernel->callee->sig.n_ports; p++)
            if (g->tiles->copied[p]) {
                const char *name = dfg_port_name(g, p);
                dfg_line(g, g->block, "for (int32_t df_i = DF_ITEM; df_all_%s <= %u && df_i < df_all_%s; df_i += DF_ITEMS)", name, g->tiles->copied[p], name);
                dfg_line(g, g->block, "    df_tile_%s[df_i] = %s[df_i];", name, name);
            }
        for (unsigned i = 0; i < g->tiles->n_staged; i++) {
            const unsigned port = g->tiles->staged[i], k = g->tiles->n_stages + i;
            const struct dff_port *p = &g->kernel->ports[port];
            const uint64_t each = dfu_tiles_channels(g->kernel, port);
            const char *name = dfg_port_name(g, port), items = s->axes == 2 ? 'Y' : 'X';
            struct dfg_text at[DF_MAX_RANK];
            print_regions_of(g, k);
            for (unsigned d = 0; d < p->rank; d++)
                at[d] = (struct dfg_text){ d < s->dim        ? dfg_printf(g, "df_outer%u", d)
                                           : d == s->dim     ? "df_y"
                                           : d == s->dim + 1 && s->axes == 2 ? dfg_printf(g, "df_x%u.from", k) : "0", DFG_ATOM };
            dfg_line(g, g->block, "for (int64_t df_y = df_y%u.from + DF_ITEM_%c; df_y < df_y%u.to; df_y += DF_ITEMS_%c) {", k, items, k, items);
            dfg_line(g, g->block, "    const int64_t df_first = %s;", dfg_offset(g, p, at));
            dfg_line(g, g->block, "    const int32_t df_at = (int32_t)(df_y - df_y%u.from) * %" PRIu64 ", df_n = (int32_t)df_span_length(df_x%u) * %" PRIu64 ";", k,
                     g->tiles->x[k] * each, k, each);
            dfg_line(g, g->block, "    for (int32_t df_i = %s; df_i < df_n; df_i += %s)", s->axes == 2 ? "DF_ITEM_X" : "0", s->axes == 2 ? "DF_ITEMS_X" : "1");
            dfg_line(g, g->block, "        df_tile_%s[DF_AT(df_at + df_i)] = %s[df_first + df_i];", name, name);
            dfg_line(g, g->block, "}");
        }
    }
    dfg_close(g, &phase, "DF_PHASE");
    dfg_line(g, g->block, "DF_BARRIER();");
}

static void print_phases(struct dfg_gen *g)
{
    const struct dff_strips *s = g->kernel->strips;
    print_staging(g);
    for (unsigned k = 0; k < s->n_stages; k++) {
        struct dfg_block phase;
        const bool good = dfg_open(g, &phase, -1, NULL);
        phase.is_phase = true;
        if (good)
            print_regions_of(g, k);
        if (good)
            for (unsigned f = 0; f < s->stages[k].n_formulas && !g->failed; f += g->n_siblings) {
                find_siblings(g, g->tiles, k, f);
                print_siblings(g, k);
            }
        dfg_close(g, &phase, "DF_PHASE");
        if (k + 1 < s->n_stages || g->tiles->meets_itself)
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
                              dfg_index(g, dfu_axis_extent(g->kernel, g->tiles, k, a)).c);
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
        head = d == 0 ? "for (int64_t df_outer0 = df_from + DF_GROUP_Z; DF_ALL(df_outer0 < df_to); df_outer0 += DF_GROUPS_Z)"
                      : dfg_printf(g, "for (int64_t df_outer%u = 0; DF_ALL(df_outer%u < %s); df_outer%u++)", d, d, dfg_index(g, port->extents[d]).c, d);
        if (dfg_open(g, &block, -1, NULL))
            print_tiles(g, d + 1);
        dfg_close(g, &block, head);
        return;
    }
    const char grid = s->axes == 2 ? 'Y' : 'X', *from = s->dim ? "0" : "df_from", *to = s->dim ? "df_rows" : "df_to";
    head = dfg_printf(g, "for (int64_t df_row = %s + DF_GROUP_%c * %u; DF_ALL(df_row < %s); df_row += (int64_t)DF_GROUPS_%c * %u)", from, grid, g->tiles->rows, to,
                      grid, g->tiles->rows);
    const bool good = dfg_open(g, &block, -1, NULL);
    if (good && s->axes == 2) {
        if (dfg_open(g, &inner, -1, NULL)) {
            print_regions(g);
            print_phases(g);
        }
        dfg_close(g, &inner, dfg_printf(g, "for (int64_t df_column = (int64_t)DF_GROUP_X * %u; DF_ALL(df_column < df_columns); df_column += (int64_t)DF_GROUPS_X * %u)",
                                        g->tiles->columns, g->tiles->columns));
    } else if (good) {
        print_regions(g);
        print_phases(g);
    }
    dfg_close(g, &block, head);
}

static void print_arrays(struct dfg_gen *g)
{
    const struct dfu_tiles *t = g->tiles;
    const unsigned n = g->kernel->callee->sig.n_ports;
    if (dfu_tiles_keep_regions(g->tiles))
        dfg_line(g, g->block, "DF_LOCAL(struct df_span, df_regions, %u);", DFU_SPANS * (t->n_stages + t->n_staged));
    for (unsigned p = 0; p < n; p++)
        if (dfu_tiles_has(t, p) && t->array[p] == p)
            dfg_line(g, g->block, "DF_LOCAL(%s, df_tile_%s, %" PRIu64 ");", df_elem_c_type(g->kernel->ports[p].elem), dfg_port_name(g, p), dfu_tiles_room(g->kernel, t, p));
    for (unsigned p = 0; p < n; p++)
        if (dfu_tiles_has(t, p) && t->array[p] != p)
            dfg_line(g, g->block, "DF_LOCAL_IN(%s, df_tile_%s, df_tile_%s);", df_elem_c_type(g->kernel->ports[p].elem), dfg_port_name(g, p),
                     dfg_port_name(g, t->array[p]));
    for (unsigned p = 0; p < n; p++)
        if (t->copied[p])
            dfg_line(g, g->block, "const int64_t df_all_%s = %s;", dfg_port_name(g, p), dfg_row_size(g, &g->kernel->ports[p], 0));
}

void dfg_tiles_print(FILE *out, struct dfg_gen *g)
{
    const struct dff_strips *s = g->kernel->strips;
    struct dfg_block block;
    g->block = NULL;
    g->column = -1;
    g->copies = 1;
    if (dfg_open(g, &block, -1, NULL)) {
        print_arrays(g);
        if (s->dim)
            dfg_line(g, g->block, "const int64_t df_rows = %s;", dfg_tiles_end(g, false));
        if (s->axes == 2)
            dfg_line(g, g->block, "const int64_t df_columns = %s;", dfg_tiles_end(g, true));
        print_tiles(g, 0);
    }
    dfg_close(g, &block, NULL);
    fprintf(out, "DF_KERNEL(%u, %u) DF_ITEMS_AT_MOST(%u) df_kernel_%c_0(%s%s, const int64_t df_from, const int64_t df_to)\n{\n%s%s}\n\n", s->axes == 2 ? DFU_ITEMS_X : DFU_ITEMS,
            s->axes == 2 ? DFU_ITEMS_Y : 1, DFU_ITEMS, DFG_NAME, dfg_parameters(g), dfg_gpu_ports(g), dfg_gpu_begin(g, false), g->failed ? "" : block.bytes);
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
        dfg_line(g, g->block, "    DF_RUN(df_kernel_%c_0, %u, %u, %s, %s, %s, %s%s, DF_VALUE(df_from), DF_VALUE(df_to));", DFG_NAME, DFU_ITEMS_X, DFU_ITEMS_Y,
                 n_tiles(g, dfg_tiles_end(g, true), g->tiles->columns), rows, outer, dfg_arguments(g), dfg_gpu_arguments(g));
    else
        dfg_line(g, g->block, "    DF_RUN(df_kernel_%c_0, %u, 1, %s, 1, %s, %s%s, DF_VALUE(df_from), DF_VALUE(df_to));", DFG_NAME, DFU_ITEMS, rows, outer,
                 dfg_arguments(g), dfg_gpu_arguments(g));
}
