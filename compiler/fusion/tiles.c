/* tiles.c - finds out for group_rows.c whether the GPU code of a group can compute tiles, and the extents and local memory of a tile (fusion.h). The generator
 * prints them with these answers (compiler/generate/tiles.c); they must be known before: a group without tiles needs whole planes of device memory.
 */
#include <math.h>

#include "compiler/fusion/fusion.h"

#define LEAST_ROWS 4                    /* of the tiles that the generator tries */
#define LEAST_COLUMNS 16

struct dfu_axis dfu_axis_rows(const struct dff_strips *s) { return (struct dfu_axis){ s->reads, s->in_reads, s->n_reads, s->n_in_reads, false }; }

struct dfu_axis dfu_axis_columns(const struct dff_strips *s)
{
    return (struct dfu_axis){ s->column_reads, s->in_column_reads, s->n_column_reads, s->n_in_column_reads, true };
}

/* The stage that makes a port of the callee in the tile. DF_NONE: it comes from outside and is not staged. */
unsigned dfu_tiles_stage(const struct dff_kernel *kernel, const struct dfu_tiles *t, uint32_t memory)
{
    unsigned k = 0;
    while (k < t->n_staged && t->staged[k] != memory)
        k++;
    return k < t->n_staged ? t->n_stages + k : kernel->strips->stage_of[memory];
}

/* The i-th stage, in an order in which each comes before those that it reads. */
static unsigned stage_before(const struct dfu_tiles *t, unsigned i) { return i < t->n_stages ? t->n_stages - 1 - i : i; }

/* The r-th read in the axis, of those between stages and then those of inputs. false: the input is not staged. */
bool dfu_axis_read(const struct dff_kernel *kernel, const struct dfu_tiles *t, struct dfu_axis a, unsigned r, struct df_strip_read *read)
{
    *read = r < a.n ? a.reads[r] : a.in_reads[r - a.n];
    if (r < a.n)
        return true;
    const unsigned made = dfu_tiles_stage(kernel, t, read->made);
    read->made = (uint16_t)made;
    return made != DF_NONE;
}

static bool leaves(const struct dff_kernel *kernel, unsigned stage)
{
    return stage < kernel->strips->n_stages && kernel->strips->stages[stage].leaves;
}

struct dfu_ratio dfu_axis_rate(const struct dff_stage *stage, struct dfu_axis a) { return a.is_column ? stage->column_rate : stage->rate; }

const struct dff_node *dfu_axis_extent(const struct dff_kernel *kernel, const struct dfu_tiles *t, unsigned stage, struct dfu_axis a)
{
    const struct dff_strips *s = kernel->strips;
    if (stage >= s->n_stages)
        return kernel->ports[t->staged[stage - s->n_stages]].extents[s->dim + a.is_column];
    return a.is_column ? s->stages[stage].columns : s->stages[stage].rows;
}

/* Finds how many rows or columns of each stage a tile of `outputs` may need. The stage's are between rate * first + low and rate * first + high,
 * where `first` is the tile's first output. */
static void find_lengths(const struct dff_kernel *kernel, const struct dfu_tiles *t, struct dfu_axis a, unsigned outputs, uint64_t *lengths)
{
    const struct dff_strips *s = kernel->strips;
    double low[DFU_MOST_STAGES], high[DFU_MOST_STAGES];
    for (unsigned k = 0; k < t->n_stages + t->n_staged; k++) {
        const struct dfu_ratio rate = leaves(kernel, k) ? dfu_axis_rate(&s->stages[k], a) : (struct dfu_ratio){ 1, 1 };
        low[k] = leaves(kernel, k) ? -(double)(rate.by - 1) / (double)rate.by : INFINITY;
        high[k] = leaves(kernel, k) ? (double)(rate.times * outputs) / (double)rate.by - 1 : -INFINITY;
    }
    for (unsigned i = 0; i < t->n_stages + t->n_staged; i++) {
        const unsigned k = stage_before(t, i);
        struct df_strip_read read;
        for (unsigned r = 0; r < a.n + a.n_in; r++) {
            if (!dfu_axis_read(kernel, t, a, r, &read) || read.reader != k)
                continue;
            const int32_t first = read.low > 0 ? 0 : read.low, last = read.high < 0 ? 0 : read.high; /* what is outside counts as the first or last row */
            low[read.made] = fmin(low[read.made], (read.times * low[k] + first - (read.by - 1)) / read.by);
            high[read.made] = fmax(high[read.made], (read.times * high[k] + last) / read.by);
        }
        lengths[k] = high[k] >= low[k] ? (uint64_t)(high[k] - low[k] + 1e-6) + 1 : 1;
    }
}

/* A mirror leads far from where a tile is if the reader has other extents than what it reads. */
static bool is_far_mirror(const struct dff_kernel *kernel, const struct df_strip_read *read, const struct dff_node *made, struct dfu_axis a)
{
    return (read->border == DF_STRIP_MIRROR || read->border == DF_STRIP_REFLECT) &&
           (read->times != read->by || dfu_axis_extent(kernel, NULL, read->reader, a) != made);
}

/* Returns true if the reads between stages rule out tiles: a stage that reads its own output would need a barrier within its phase. */
static bool has_no_tile(const struct dff_kernel *kernel, struct dfu_axis a)
{
    bool none = false;
    for (unsigned r = 0; r < a.n; r++)
        none |= a.reads[r].made >= a.reads[r].reader || is_far_mirror(kernel, &a.reads[r], dfu_axis_extent(kernel, NULL, a.reads[r].made, a), a);
    return none;
}

void dfu_tiles_measure(const struct dff_kernel *kernel, struct dfu_tiles *t)
{
    const struct dff_strips *s = kernel->strips;
    find_lengths(kernel, t, dfu_axis_rows(s), t->rows, t->y);
    if (s->axes == 2)
        find_lengths(kernel, t, dfu_axis_columns(s), t->columns, t->x);
    for (unsigned k = 0; k < t->n_stages + t->n_staged && s->axes < 2; k++)
        t->x[k] = 1;
}

/* Elements of a port for each place of the axes: its channels. */
uint64_t dfu_tiles_channels(const struct dff_kernel *kernel, uint32_t port)
{
    const struct dff_port *p = &kernel->ports[port];
    uint64_t n = 1;
    for (unsigned d = kernel->strips->dim + kernel->strips->axes; d < p->rank; d++)
        n *= (uint64_t)p->extents[d]->i;
    return n;
}

/* Are these numbers? */
static bool has_channels(const struct dff_kernel *kernel, uint32_t port)
{
    const struct dff_port *p = &kernel->ports[port];
    bool are = true;
    for (unsigned d = kernel->strips->dim + kernel->strips->axes; d < p->rank; d++)
        are &= p->extents[d]->kind == DFF_CONST;
    return are;
}

uint64_t dfu_tiles_elements(const struct dff_kernel *kernel, const struct dfu_tiles *t, uint32_t port)
{
    const unsigned stage = dfu_tiles_stage(kernel, t, port);
    return t->y[stage] * t->x[stage] * dfu_tiles_channels(kernel, port);
}

static uint64_t room(const struct dff_kernel *kernel, const struct dfu_tiles *t, uint32_t port)
{
    return t->is_local[port] ? dfu_tiles_elements(kernel, t, port) : t->copied[port];
}

/* Elements of the port's array: of all ports that use it. */
uint64_t dfu_tiles_room(const struct dff_kernel *kernel, const struct dfu_tiles *t, uint32_t array)
{
    uint64_t most = 0;
    for (unsigned p = 0; p < kernel->callee->sig.n_ports; p++)
        if (dfu_tiles_has(t, p) && t->array[p] == array && room(kernel, t, p) > most)
            most = room(kernel, t, p);
    return most;
}

static uint64_t local_bytes(const struct dff_kernel *kernel, const struct dfu_tiles *t)
{
    uint64_t bytes = dfu_tiles_keep_regions(t) ? DFU_SPANS * sizeof(struct df_span) * (t->n_stages + t->n_staged) : 0;
    for (unsigned p = 0; p < kernel->callee->sig.n_ports; p++)
        if (dfu_tiles_has(t, p) && t->array[p] == p)
            bytes += (dfu_tiles_room(kernel, t, p) * df_elem_bytes(kernel->ports[p].elem) + 15) / 16 * 16;
    return bytes;
}

/* Finds what is in local memory. false: its channels are not known. */
static bool find_local(const struct dff_kernel *kernel, struct dfu_tiles *t)
{
    const struct dff_strips *s = kernel->strips;
    for (unsigned i = 0; i < kernel->n_nodes; i++) {
        const struct dff_node *n = kernel->nodes[i];
        const unsigned p = n->kind == DFF_READ ? kernel->ports[n->number].memory : 0;
        t->is_local[p] |= n->kind == DFF_READ && s->stage_of[p] != DF_NONE;
    }
    for (unsigned p = 0; p < kernel->callee->sig.n_ports; p++) {
        t->is_local[p] |= s->ring_rows[p] != DF_NONE;
        if (t->is_local[p] && !has_channels(kernel, p))
            return false;
    }
    return true;
}

/* Do all stages that read the input go along it at one rate, beside the outputs? Else what a tile needs of it grows with the distance from its first element. */
static bool has_one_rate(const struct dff_strips *s, uint32_t port, struct dfu_axis a)
{
    struct dfu_ratio rate = { 0, 0 };
    bool one = true;
    for (unsigned r = 0; r < a.n_in; r++) {
        const struct df_strip_read *read = &a.in_reads[r];
        if (read->made != port)
            continue;
        const struct dfu_ratio own = dfu_product(dfu_axis_rate(&s->stages[read->reader], a), (struct dfu_ratio){ read->times, read->by });
        one = one && (!rate.by || (rate.times == own.times && rate.by == own.by));
        rate = own;
    }
    return one;
}

/* Can tiles copy the input? */
bool dfu_tiles_can_stage(const struct dff_kernel *kernel, uint32_t port)
{
    const struct dff_strips *s = kernel->strips;
    const struct dff_port *p = &kernel->ports[port];
    const struct dfu_axis axes[] = { dfu_axis_rows(s), dfu_axis_columns(s) };
    if (p->mode != DF_IN || s->in[port] != DFU_IN_TILES || p->rank < s->dim + s->axes || !has_channels(kernel, port))
        return false;
    for (unsigned a = 0; a < s->axes; a++) {
        if (!has_one_rate(s, port, axes[a]))
            return false;
        for (unsigned r = 0; r < axes[a].n_in; r++)
            if (axes[a].in_reads[r].made == port && is_far_mirror(kernel, &axes[a].in_reads[r], p->extents[s->dim + a], axes[a]))
                return false;
    }
    return true;
}

bool dfu_tiles_find(const struct dff_kernel *kernel, struct dfc_tile asked, struct dfu_tiles *t)
{
    const struct dff_strips *s = kernel->strips;
    const bool two = s->axes == 2;
    *t = (struct dfu_tiles){ .n_stages = s->n_stages, .rows = asked.rows ? asked.rows : two ? LEAST_ROWS : DFU_ITEMS,
                             .columns = !two ? 1 : asked.rows ? asked.columns : LEAST_COLUMNS };
    if (!s->axes || has_no_tile(kernel, dfu_axis_rows(s)) || (two && has_no_tile(kernel, dfu_axis_columns(s))) || !find_local(kernel, t))
        return false;
    dfu_tiles_share(kernel, t);
    dfu_tiles_measure(kernel, t);
    return dfu_tiles_fit(kernel, t);
}

bool dfu_tiles_fit(const struct dff_kernel *kernel, const struct dfu_tiles *t)
{
    return local_bytes(kernel, t) <= DFU_MOST_LOCAL_BYTES;
}
