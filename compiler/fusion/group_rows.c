/* group_rows.c - finds for merge.c the stages of a fused group (one for each member that computes rows), the dimension
 * along which its strips run, and the rows that stages read of each other.
 *
 * If all members read each other at the same position in the leading dimensions (the planes of a picture, for example),
 * strips run along a later dimension, whose rows, and thus the rings that hold them, are smaller.
 */
#include <string.h>

#include "compiler/fusion/merge.h"

/* ---- the dimension that counts rows ---- */

/* Does a member read all that others make at its own place in dimension d? */
static bool reads_in_place(const struct dfu_member *member, unsigned d)
{
    for (unsigned i = 0; i < member->callee->sig.n_in; i++) {
        struct dfu_rows rows;
        if (member->in[i].member >= 0 &&
            (dfu_why_no_rows(member->callee, member->callee->sig.in_port[i], d, &rows) || !dfu_in_place(&rows) ||
             rows.border != DFF_NONE))
            return false;
    }
    return true;
}

/* Are the rows known that members read of each other if dimension d counts rows, and have the members rates? */
static bool read_rows(const struct dfu_wiring *w, unsigned d)
{
    struct dfu_ratio rates[DFU_MOST_MEMBERS];
    struct dfu_rows rows;
    for (unsigned m = 0; m < w->n; m++)
        for (unsigned i = 0; i < w->member[m].callee->sig.n_in; i++)
            if (w->member[m].in[i].member >= 0 && dfu_why_no_rows(w->member[m].callee, w->member[m].callee->sig.in_port[i], d, &rows))
                return false;
    return dfu_rates(w, d, rates);
}

/* Do the streams of each member have one extent in dimension d? A stage makes the same rows of all that its member makes. */
static bool is_one_extent(const struct dfu_merge *m, const struct dff_kernel *kernel, unsigned d)
{
    for (unsigned f = 1; f < kernel->n_formulas; f++) {
        uint32_t p = kernel->formulas[f - 1].port, q = kernel->formulas[f].port;
        if (m->group->ports[p].member == m->group->ports[q].member && kernel->ports[p].extents[d] != kernel->ports[q].extents[d])
            return false;
    }
    return true;
}

/* Can dimension d + 1 count rows if d can? */
static bool goes_behind(const struct dfu_merge *m, const struct dff_kernel *kernel, unsigned d)
{
    for (unsigned f = 0; f < kernel->n_formulas; f++) {
        const struct dff_formula *formula = &kernel->formulas[f];
        if (dff_column(kernel, formula) <= (int)d + 1 || !formula->is_index[d] || !formula->is_index[d + 1] ||
            kernel->ports[formula->port].extents[d] != kernel->ports[kernel->formulas[0].port].extents[d])
            return false;
    }
    if (!is_one_extent(m, kernel, d + 1))
        return false;
    for (unsigned i = 0; i < m->wiring->n; i++)
        if (!reads_in_place(&m->wiring->member[i], d))
            return false;
    return read_rows(m->wiring, d + 1);
}

static unsigned dim_of_rows(const struct dfu_merge *m, const struct dff_kernel *kernel)
{
    unsigned d = 0;
    while (goes_behind(m, kernel, d))
        d++;
    return d;
}

/* ---- tiles ---- */

/* How many axes a tile of the group has: what is read of its streams along these is known, and behind them are channels. */
static unsigned axes_of_tiles(const struct dfu_merge *m, const struct dff_kernel *kernel, unsigned dim)
{
    const int column = dff_column(kernel, &kernel->formulas[0]);
    bool rows = column == (int)dim, columns = column == (int)dim + 1;
    for (unsigned f = 0; f < kernel->n_formulas; f++) {
        const struct dff_formula *formula = &kernel->formulas[f];
        rows &= dff_column(kernel, formula) == column && formula->is_index[dim];
        columns &= dff_column(kernel, formula) == column && formula->is_index[dim] && formula->is_index[dim + 1];
    }
    return columns && is_one_extent(m, kernel, dim + 1) && read_rows(m->wiring, dim + 1) ? 2 : rows;
}

/* ---- stages ---- */

static bool add_read(struct dfu_merge *m, struct dfr_array *reads, struct df_strip_read read)
{
    struct df_strip_read *list = reads->items;
    for (uint32_t i = 0; i < reads->n; i++)
        if (list[i].reader == read.reader && list[i].made == read.made && list[i].border == read.border &&
            list[i].times == read.times && list[i].by == read.by) {
            list[i].low = read.low < list[i].low ? read.low : list[i].low;
            list[i].high = read.high > list[i].high ? read.high : list[i].high;
            return true;
        }
    struct df_strip_read *added = dfr_array_add(reads, sizeof *added, 1);
    if (added)
        *added = read;
    return added || dfc_no_memory(m->b.u);
}

struct reads_of_stages {                /* the rows that stages read, while they are gathered */
    const uint32_t *stage_of;           /* by member */
    unsigned dim;                       /* counts the rows */
    struct dfr_array inner, in;         /* struct df_strip_read: of each other, and of streams from outside */
    enum dfu_in *in_is;                 /* by stream from outside; those that are read in other ways are no longer TILES */
};

/* What the stage reads of others by a member, whose rows it reads as `first` says: through streams that are inlined too. */
static bool add_reads(struct dfu_merge *m, struct reads_of_stages *of, uint32_t stage, unsigned reader, const struct dfu_rows *first)
{
    const struct dfu_member *member = &m->wiring->member[reader];
    for (unsigned i = 0; i < member->callee->sig.n_in; i++) {
        const struct dfu_source *from = &member->in[i];
        const bool outside = from->member < 0;
        struct dfu_rows rows;
        if (dfu_why_no_rows(member->callee, member->callee->sig.in_port[i], of->dim, &rows) && outside) {
            of->in_is[from->slot] = DFU_IN_ROWS;
            continue;
        }
        if (!rows.taps)
            continue;
        rows = dfu_rows_through(first, &rows);
        if (!outside && m->streams[from->member][from->slot].inlined) {
            if (!add_reads(m, of, stage, (unsigned)from->member, &rows))
                return false;
        } else if (!add_read(m, outside ? &of->in : &of->inner,
                             (struct df_strip_read){ (uint16_t)stage, (uint16_t)(outside ? from->slot : of->stage_of[from->member]),
                                                     (int32_t)rows.rate.times, (int32_t)rows.rate.by, (int32_t)rows.low, (int32_t)rows.high,
                                                     (int)rows.border })) {
            return false;
        }
        if (outside && rows.rate.by > 1) /* through an inlined stream it may be a row more than a part has */
            of->in_is[from->slot] = DFU_IN_ROWS;
    }
    return true;
}

/* Completes what is known of the stream that a member reads in slot i. */
static void check_outside(const struct dfu_member *member, unsigned i, unsigned dim, enum dfu_in *in)
{
    struct dfu_rows rows;
    for (unsigned d = 0; d < dim && *in == DFU_IN_TILES; d++)
        if (dfu_why_no_rows(member->callee, member->callee->sig.in_port[i], d, &rows) || !dfu_in_place(&rows) || rows.border != DFF_NONE)
            *in = DFU_IN_ROWS;
    if (*in == DFU_IN_ROWS && dfu_why_no_rows(member->callee, member->callee->sig.in_port[i], 0, &rows))
        *in = DFU_IN_WHOLE;
}

/* What all rates divide, unless that is much. */
static int64_t unit_of(const struct dfu_wiring *w, const struct dfu_ratio *rates)
{
    int64_t unit = 1;
    for (unsigned m = 0; m < w->n; m++) {
        int64_t all = unit;
        while (all % rates[m].by)
            all += unit;
        unit = all <= DFU_MOST_RATIO ? all : unit;
    }
    return unit;
}

static bool make_stages(struct dfu_merge *m, struct dff_strips *strips, uint32_t *stage_of, struct dff_stage *stages,
                        const struct dff_kernel *kernel)
{
    struct dfu_ratio rates[DFU_MOST_MEMBERS], column_rates[DFU_MOST_MEMBERS] = { { 0 } };
    uint32_t formula = 0;
    if (!dfu_rates(m->wiring, strips->dim, rates) || (strips->axes == 2 && !dfu_rates(m->wiring, strips->dim + 1, column_rates)))
        return false;
    strips->unit = unit_of(m->wiring, rates);
    for (unsigned i = 0; i < m->wiring->n; i++) {
        const struct dfu_member *member = &m->wiring->member[i];
        struct dff_stage stage = { .first_formula = formula, .member = i, .rate = rates[i], .column_rate = column_rates[i] };
        stage_of[i] = DF_NONE;
        for (unsigned slot = 0; slot < member->callee->sig.n_out; slot++) {
            if (m->streams[i][slot].inlined)
                continue;
            stage.leaves |= member->leaves[slot];
            stage.rows = m->ports[m->streams[i][slot].port].extents[strips->dim];
        }
        if (!stage.rows)
            continue;
        while (formula < kernel->n_formulas &&
               m->group->ports[kernel->formulas[formula].port].member == i)
            formula++;
        stage.n_formulas = formula - stage.first_formula;
        stage.columns = strips->axes == 2 ? kernel->ports[kernel->formulas[stage.first_formula].port].extents[strips->dim + 1] : NULL;
        stage_of[i] = strips->n_stages;
        stages[strips->n_stages++] = stage;
    }
    return true;
}

/* Each ring has a variable for its rows; one more says how many rows a strip has. */
static bool add_strip_variables(struct dfu_merge *m, struct dff_strips *strips,
                                const uint32_t *stage_of)
{
    const struct dfc_sig *sig = &m->group->callee->sig;
    uint32_t *rows = dfc_alloc(m->b.u, (sig->n_ports + 1u) * sizeof *rows);
    uint32_t *stages = dfc_alloc(m->b.u, (sig->n_ports + 1u) * sizeof *stages);
    m->group->n_variables = strips->strip = sig->n_variables;
    strips->ring_rows = rows;
    strips->stage_of = stages;
    if (!rows || !stages || !dfu_add_variable(m, "strip", m->group->callee->loc))
        return false;
    for (unsigned p = 0; p < sig->n_ports; p++) {
        const char *name = dfc_printf(m->b.u, "%s_rows", sig->ports[p].ast->name.text);
        rows[p] = m->ports[p].mode == DF_TMP ? sig->n_variables : DF_NONE;
        stages[p] = m->group->ports[p].member == DF_NONE ? DF_NONE : stage_of[m->group->ports[p].member];
        if (!name || (rows[p] != DF_NONE && !dfu_add_variable(m, name, m->group->callee->loc)))
            return false;
    }
    return true;
}

/* Decides whether GPU code computes tiles. If not, it gets a plane for each ring. */
static bool plan_gpu(struct dfu_merge *m, struct dff_strips *strips, struct dff_kernel *kernel)
{
    const struct dfc_sig *sig = &m->group->callee->sig;
    uint32_t *planes = dfc_alloc(m->b.u, (sig->n_ports + 1u) * sizeof *planes);
    struct dfu_tiles tiles;
    strips->tile = m->b.u->options->gpu_tile;
    strips->tiled = dfu_tiles_find(kernel, strips->tile, &tiles) && (strips->tile.rows || dfu_tiles_pay(kernel, &tiles));
    strips->plane_of = planes;
    for (unsigned p = 0; planes && p < sig->n_ports; p++) {
        planes[p] = DF_NONE;
        if (strips->ring_rows[p] == DF_NONE || strips->tiled)
            continue;
        const struct dff_port *port = &kernel->ports[p];
        const char *wanted = dfc_printf(m->b.u, "%s_plane", port->ast->name.text);
        struct dff_scratch plane = { wanted ? dfu_new_name(m, wanted) : NULL, port->elem, port->rank, { 0 } };
        memcpy(plane.extents, port->extents, sizeof plane.extents);
        if (!plane.name || (planes[p] = dff_add_scratch(&m->b, kernel, &plane)) == DF_NONE)
            return false;
    }
    return planes;
}

/* A copy of gathered reads in the unit's arena. NULL: no memory. */
static const struct df_strip_read *keep_reads(struct dfu_merge *m, const struct dfr_array *reads, unsigned *n)
{
    struct df_strip_read *kept = dfc_alloc(m->b.u, (reads->n + 1) * sizeof *kept);
    if (kept && reads->n)
        memcpy(kept, reads->items, reads->n * sizeof *kept);
    *n = reads->n;
    return kept;
}

/* Finds the reads of all stages along their rows, or along their columns. */
static bool find_reads(struct dfu_merge *m, struct dff_strips *strips, const uint32_t *stage_of, const struct dff_stage *stages, bool columns,
                       enum dfu_in *in)
{
    const struct dfu_rows own = { .rate = { 1, 1 } };
    struct reads_of_stages of = { .stage_of = stage_of, .dim = strips->dim + columns, .in_is = in };
    bool ok = true;
    for (unsigned s = 0; ok && s < strips->n_stages; s++)
        ok = add_reads(m, &of, s, stages[s].member, &own);
    ok = ok && (*(columns ? &strips->column_reads : &strips->reads) = keep_reads(m, &of.inner, columns ? &strips->n_column_reads : &strips->n_reads)) &&
         (*(columns ? &strips->in_column_reads : &strips->in_reads) = keep_reads(m, &of.in, columns ? &strips->n_in_column_reads : &strips->n_in_reads));
    dfr_array_free(&of.inner);
    dfr_array_free(&of.in);
    return ok;
}

bool dfu_add_strips(struct dfu_merge *m, struct dff_kernel *kernel)
{
    struct dff_strips *strips = dfc_alloc(m->b.u, sizeof *strips);
    struct dff_stage *stages = dfc_alloc(m->b.u, m->wiring->n * sizeof *stages);
    enum dfu_in *in = dfc_alloc(m->b.u, (m->wiring->n_outside + 1u) * sizeof *in);
    uint32_t stage_of[DFU_MOST_MEMBERS];
    if (strips) {
        strips->dim = dim_of_rows(m, kernel);
        strips->axes = axes_of_tiles(m, kernel, strips->dim);
    }
    bool ok = strips && stages && in && make_stages(m, strips, stage_of, stages, kernel);
    ok = ok && find_reads(m, strips, stage_of, stages, false, in) &&
         (strips->axes < 2 || find_reads(m, strips, stage_of, stages, true, in)) && add_strip_variables(m, strips, stage_of);
    if (ok) {
        for (unsigned k = 0; k < m->wiring->n; k++)
            for (unsigned i = 0; i < m->wiring->member[k].callee->sig.n_in; i++)
                if (m->wiring->member[k].in[i].member < 0)
                    check_outside(&m->wiring->member[k], i, strips->dim, &in[m->wiring->member[k].in[i].slot]);
        strips->in = in;
        strips->stages = stages;
        strips->inside = m->inside;
        strips->n_inside = m->n_inside;
        kernel->strips = m->group->strips = strips;
    }
    return ok && plan_gpu(m, strips, kernel);
}
