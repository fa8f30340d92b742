/* tiles.c - decides whether the GPU code of a group computes tiles, and finds the local memory that a tile takes (fusion.h). The generator chooses the
 * size of a tile (compiler/generate/tiles.c); here is what must be known before: a group without tiles needs whole planes of device memory.
 */
#include <math.h>

#include "compiler/fusion/fusion.h"

#define LEAST_ROWS 4                    /* of the tiles that the generator tries */
#define LEAST_COLUMNS 16

/* One axis of a group: rows or columns. */
struct dfu_axis dfu_axis_rows(const struct dff_strips *s) { return (struct dfu_axis){ s->reads, s->n_reads, false }; }
struct dfu_axis dfu_axis_columns(const struct dff_strips *s) { return (struct dfu_axis){ s->column_reads, s->n_column_reads, true }; }

struct dfu_ratio dfu_axis_rate(const struct dff_stage *stage, struct dfu_axis a) { return a.is_column ? stage->column_rate : stage->rate; }
const struct dff_node *dfu_axis_extent(const struct dff_stage *stage, struct dfu_axis a) { return a.is_column ? stage->columns : stage->rows; }

/* Finds how many rows or columns of each stage a tile of `outputs` may need. The stage's are between rate * first + low and rate * first + high,
 * where `first` is the tile's first output. */
static void find_lengths(const struct dff_strips *s, struct dfu_axis a, unsigned outputs, uint64_t *lengths)
{
    double low[DFU_MOST_MEMBERS], high[DFU_MOST_MEMBERS];
    for (unsigned k = 0; k < s->n_stages; k++) {
        const struct dfu_ratio rate = dfu_axis_rate(&s->stages[k], a);
        low[k] = s->stages[k].leaves ? -(double)(rate.by - 1) / (double)rate.by : INFINITY;
        high[k] = s->stages[k].leaves ? (double)(rate.times * outputs) / (double)rate.by - 1 : -INFINITY;
    }
    for (unsigned k = s->n_stages; k-- > 0;) {
        for (unsigned r = 0; r < a.n; r++) {
            const struct df_strip_read *read = &a.reads[r];
            if (read->reader != k)
                continue;
            const int32_t least = read->border && read->low > 0 ? 0 : read->low, most = read->border && read->high < 0 ? 0 : read->high;
            low[read->made] = fmin(low[read->made], (read->times * low[k] + least - (read->by - 1)) / read->by);
            high[read->made] = fmax(high[read->made], (read->times * high[k] + most) / read->by);
        }
        lengths[k] = high[k] >= low[k] ? (uint64_t)(high[k] - low[k] + 1e-6) + 1 : 1;
    }
}

/* A mirror leads far from where a tile is if the reader has other extents than what it reads. A stage that reads what it makes would need a barrier
 * within its phase. */
static bool has_no_tile(const struct dff_strips *s, struct dfu_axis a)
{
    bool none = false;
    for (unsigned r = 0; r < a.n; r++)
        none |= a.reads[r].made >= a.reads[r].reader ||
                ((a.reads[r].border == DF_STRIP_MIRROR || a.reads[r].border == DF_STRIP_REFLECT) &&
                 (a.reads[r].times != a.reads[r].by ||
                  dfu_axis_extent(&s->stages[a.reads[r].reader], a) != dfu_axis_extent(&s->stages[a.reads[r].made], a)));
    return none;
}

void dfu_tiles_measure(const struct dff_strips *s, struct dfu_tiles *t)
{
    find_lengths(s, dfu_axis_rows(s), t->rows, t->y);
    if (s->axes == 2)
        find_lengths(s, dfu_axis_columns(s), t->columns, t->x);
    for (unsigned k = 0; k < s->n_stages && s->axes < 2; k++)
        t->x[k] = 1;
}

/* Elements of a port for each place of the axes: its channels. */
static uint64_t channels(const struct dff_kernel *kernel, uint32_t port)
{
    const struct dff_port *p = &kernel->ports[port];
    uint64_t n = 1;
    for (unsigned d = kernel->strips->dim + kernel->strips->axes; d < p->rank; d++)
        n *= (uint64_t)p->extents[d]->i;
    return n;
}

uint64_t dfu_tiles_elements(const struct dff_kernel *kernel, const struct dfu_tiles *t, uint32_t port)
{
    const unsigned stage = kernel->strips->stage_of[port];
    return t->y[stage] * t->x[stage] * channels(kernel, port);
}

bool dfu_tiles_fit(const struct dff_kernel *kernel, const struct dfu_tiles *t)
{
    uint64_t bytes = 0;
    for (unsigned p = 0; p < kernel->callee->sig.n_ports; p++)
        if (t->is_local[p])
            bytes += (dfu_tiles_elements(kernel, t, p) * df_elem_bytes(kernel->ports[p].elem) + 15) / 16 * 16;
    return bytes <= DFU_MOST_LOCAL_BYTES;
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
        for (unsigned d = s->dim + s->axes; d < kernel->ports[p].rank && t->is_local[p]; d++)
            if (kernel->ports[p].extents[d]->kind != DFF_CONST)
                return false;
    }
    return true;
}

bool dfu_tiles_find(const struct dff_kernel *kernel, struct dfc_tile asked, struct dfu_tiles *t)
{
    const struct dff_strips *s = kernel->strips;
    const bool two = s->axes == 2;
    *t = (struct dfu_tiles){ .rows = asked.rows ? asked.rows : two ? LEAST_ROWS : DFU_ITEMS,
                             .columns = !two ? 1 : asked.rows ? asked.columns : LEAST_COLUMNS };
    if (!s->axes || has_no_tile(s, dfu_axis_rows(s)) || (two && has_no_tile(s, dfu_axis_columns(s))) || !find_local(kernel, t))
        return false;
    dfu_tiles_measure(s, t);
    return dfu_tiles_fit(kernel, t);
}
