/* tile_size.c - chooses for generate/tiles.c how large the tiles of a group's GPU code are, and for group_rows.c whether tiles pay at all: with far reads in a
 * long chain, halos that each tile computes again take longer than memory between the stages (fusion.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/fusion/fusion.h"

#define MOST_OUTPUTS 2048               /* of a tile: of 512 by 512 there should be as many work-groups as a large GPU has SMs */
#define STEPS_OF_LOAD 8                 /* an element of global memory takes as long as so many operations */
#define MOST_VALUES 1024                /* of a range that ends otherwise than by numbers */
#define MOST_BESIDE_APART 2             /* times the steps of stages apart: there each read looks for borders, rows share none, and each stream takes a launch */
#define MOST_WORK (1u << 20)            /* of a stage that is counted */
#define FAR (1u << 20)                  /* outputs of a tile that is so large that its halo is nothing beside it */
_Static_assert(DFU_ITEMS_X * DFU_ITEMS_Y == DFU_ITEMS, "items of a work-group");

/* ---- what a stage's formulas are made of ---- */

/* Marks the nodes of the stage's formulas, by id: arguments have lower numbers. */
static void mark_text(const struct dff_kernel *kernel, unsigned stage, bool *is_in)
{
    const struct dff_stage *s = &kernel->strips->stages[stage];
    memset(is_in, 0, (kernel->n_nodes + 1) * sizeof *is_in);
    for (unsigned f = 0; f < s->n_formulas; f++)
        is_in[kernel->formulas[s->first_formula + f].value->id] = true;
    for (unsigned i = kernel->n_nodes; i-- > 0;) {
        const struct dff_node *n = kernel->nodes[i];
        for (uint32_t k = 0; is_in[i] && k < n->n_args; k++)
            if (n->args[k])
                is_in[n->args[k]->id] = true;
        for (uint32_t r = 0; is_in[i] && r < n->n_ranges; r++)
            is_in[n->ranges[r].from->id] = is_in[n->ranges[r].to->id] = true;
    }
}

static bool *new_marks(const struct dff_kernel *kernel) { return calloc(kernel->n_nodes + 1, sizeof(bool)); }

/* Marks the last phase that reads each port. Phase 0 copies inputs, k + 1 is stage k. false: no memory. */
static bool find_last_reads(const struct dff_kernel *kernel, unsigned n_stages, unsigned *last)
{
    bool *is_in = new_marks(kernel);
    for (unsigned k = 0; is_in && k < n_stages; k++) {
        mark_text(kernel, k, is_in);
        for (unsigned i = 0; i < kernel->n_nodes; i++)
            if (is_in[i] && kernel->nodes[i]->kind == DFF_READ)
                last[kernel->ports[kernel->nodes[i]->number].memory] = k + 1;
    }
    free(is_in);
    return is_in;
}

/* Elements of a formula at one place of the axes. */
static unsigned formula_channels(const struct dff_kernel *kernel, const struct dff_formula *f)
{
    unsigned n = 1;
    for (unsigned d = kernel->strips->dim + kernel->strips->axes; d < f->rank; d++)
        n *= f->is_index[d] && kernel->ports[f->port].extents[d]->kind == DFF_CONST ? (unsigned)kernel->ports[f->port].extents[d]->i : 1;
    return n;
}

/* About how many operations the marked nodes are for a place of the axes: a node counts once for each combination of the ranges that it depends on. */
static double work_of(const struct dff_kernel *kernel, const bool *is_in)
{
    double values[DFF_MAX_SLOTS], work = 0;
    for (unsigned s = 0; s < DFF_MAX_SLOTS; s++)
        values[s] = 1;
    for (unsigned i = 0; i < kernel->n_nodes; i++)
        for (uint32_t r = 0; is_in[i] && r < kernel->nodes[i]->n_ranges; r++) {
            const struct dff_range *range = &kernel->nodes[i]->ranges[r];
            const bool is_fixed = range->from->kind == DFF_CONST && range->to->kind == DFF_CONST;
            values[range->slot] = is_fixed ? fmin(fmax((double)(range->to->i - range->from->i), 0), MOST_VALUES) : MOST_VALUES;
        }
    for (unsigned i = 0; i < kernel->n_nodes; i++) {
        double times = is_in[i] && kernel->nodes[i]->kind != DFF_CONST && kernel->nodes[i]->kind != DFF_INDEX;
        for (unsigned s = 0; s < DFF_MAX_SLOTS; s++)
            times *= kernel->nodes[i]->slots >> s & 1 ? values[s] : 1;
        work += times;
    }
    return work;
}

/* ---- arrays ---- */

void dfu_tiles_share(const struct dff_kernel *kernel, struct dfu_tiles *t)
{
    const unsigned n = kernel->callee->sig.n_ports;
    unsigned first[DFL_MAX_PORTS], last[DFL_MAX_PORTS]; /* by port: the phase that writes what is there, and the last one that reads it */
    unsigned until[DFL_MAX_PORTS];      /* by array: the last phase that reads it */
    unsigned begin = 1;                 /* the first phase that there is */
    bool begins[DFL_MAX_PORTS] = { false }, ends[DFL_MAX_PORTS] = { false }; /* by array: the first phase writes it, the last one uses it */
    for (unsigned p = 0; p < n; p++) {
        const unsigned made = kernel->strips->stage_of[p];
        first[p] = last[p] = made == DF_NONE ? 0 : made + 1;
        begin = dfu_tiles_has(t, p) && made == DF_NONE ? 0 : begin;
        t->array[p] = p;
    }
    t->meets_itself = true;
    if (!find_last_reads(kernel, t->n_stages, last))
        return;
    for (unsigned phase = 0; phase <= t->n_stages; phase++)
        for (unsigned p = 0; p < n; p++) {
            unsigned a = 0;
            if (!dfu_tiles_has(t, p) || first[p] != phase)
                continue;
            while (a < n && !(dfu_tiles_has(t, a) && first[a] < phase && t->array[a] == a && until[a] < phase && kernel->ports[a].elem == kernel->ports[p].elem))
                a++;
            t->array[p] = a < n ? a : p;
            until[t->array[p]] = last[p];
        }
    for (unsigned p = 0; p < n; p++) {
        begins[t->array[p]] |= dfu_tiles_has(t, p) && first[p] == begin;
        ends[t->array[p]] |= dfu_tiles_has(t, p) && last[p] == t->n_stages;
    }
    t->meets_itself = dfu_tiles_keep_regions(t);
    for (unsigned a = 0; a < n; a++)
        t->meets_itself |= begins[a] && ends[a];
}

/* ---- the size of a tile ---- */

static uint64_t rounded(uint64_t n, unsigned to) { return (n + to - 1) / to * to; }

/* The steps that a tile's items take for each output. A stage counts as often as its formulas' text is long. */
static double steps_of(const struct dff_kernel *kernel, const struct dfu_tiles *t, const unsigned *work)
{
    const struct dff_strips *s = kernel->strips;
    double steps = 0;
    for (unsigned k = 0; k < t->n_stages + t->n_staged; k++) {
        const uint64_t each = k < t->n_stages ? work[k] : STEPS_OF_LOAD * dfu_tiles_channels(kernel, t->staged[k - t->n_stages]);
        const unsigned rows = k < t->n_stages ? t->together[k] * DFU_ITEMS_Y : DFU_ITEMS_Y;
        steps += (double)(each * (s->axes == 2 ? rounded(t->y[k], rows) * rounded(t->x[k], DFU_ITEMS_X) : rounded(t->y[k], DFU_ITEMS)));
    }
    for (unsigned p = 0; p < kernel->callee->sig.n_ports; p++)
        steps += STEPS_OF_LOAD * t->copied[p];
    return steps / ((double)t->rows * t->columns);
}

bool dfu_tiles_choose(const struct dff_kernel *kernel, struct dfu_tiles *t, const unsigned *work, double *steps)
{
    const bool two = kernel->strips->axes == 2;
    const unsigned first = t->columns;
    struct dfu_tiles best = *t;
    *steps = INFINITY;
    dfu_tiles_measure(kernel, t);
    if (kernel->strips->tile.rows) {
        *steps = steps_of(kernel, t, work);
        return dfu_tiles_fit(kernel, t);
    }
    for (; t->rows <= (two ? 64 : 8 * DFU_ITEMS); t->rows += two ? 2 : DFU_ITEMS)
        for (t->columns = first; t->columns <= (two ? 128 : 1); t->columns += 2) {
            dfu_tiles_measure(kernel, t);
            if (t->rows * t->columns > MOST_OUTPUTS || !dfu_tiles_fit(kernel, t))
                break;
            const double all = steps_of(kernel, t, work);
            if (all < *steps * 0.99) {
                best = *t;
                *steps = all;
            }
        }
    *t = best;
    return *steps < INFINITY;
}

/* ---- whether tiles pay ---- */

/* The streams inside the group, with their channels, that the stage writes to memory and reads from there if there are no tiles. is_in: its nodes. */
static double moved(const struct dff_kernel *kernel, unsigned stage, const bool *is_in)
{
    bool moves[DFL_MAX_PORTS] = { false };
    double n = 0;
    for (unsigned i = 0; i < kernel->n_nodes; i++)
        if (is_in[i] && kernel->nodes[i]->kind == DFF_READ)
            moves[kernel->ports[kernel->nodes[i]->number].memory] = true;
    for (unsigned p = 0; p < kernel->callee->sig.n_ports; p++) {
        const uint32_t made = kernel->strips->stage_of[p];
        n += (made != DF_NONE && moves[p]) || (made == stage && kernel->strips->ring_rows[p] != DF_NONE) ? (double)dfu_tiles_channels(kernel, p) : 0;
    }
    return n;
}

bool dfu_tiles_pay(const struct dff_kernel *kernel, struct dfu_tiles *t)
{
    const struct dff_strips *s = kernel->strips;
    unsigned work[DFU_MOST_MEMBERS] = { 0 };
    double tiled, apart = 0;
    bool *is_in = new_marks(kernel);
    struct dfu_tiles far = *t;
    far.rows = FAR;
    far.columns = s->axes == 2 ? FAR : 1;
    dfu_tiles_measure(kernel, &far);
    for (unsigned k = 0; is_in && k < s->n_stages; k++) {
        unsigned channels = 0;
        for (unsigned f = 0; f < s->stages[k].n_formulas; f++)
            channels += formula_channels(kernel, &kernel->formulas[s->stages[k].first_formula + f]);
        mark_text(kernel, k, is_in);
        work[k] = (unsigned)fmin(work_of(kernel, is_in) * channels / s->stages[k].n_formulas, MOST_WORK);
        t->together[k] = 1;
        apart += (double)far.y[k] / FAR * (s->axes == 2 ? (double)far.x[k] / FAR : 1) * (work[k] + STEPS_OF_LOAD * moved(kernel, k, is_in));
    }
    const bool pays = is_in && dfu_tiles_choose(kernel, t, work, &tiled) && tiled <= MOST_BESIDE_APART * apart;
    free(is_in);
    return pays;
}
