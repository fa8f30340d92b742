/* strips.c - chooses for compiler/elab the height of strips and the number of rows in each ring buffer of a group, once
 * the sizes are known.
 *
 * All rings together should fit in a fraction of the L2 cache, so strips are as high as that allows. Rows that two
 * strips need are kept, not recomputed, so low strips cost little.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/fusion/fusion.h"

#define RING_BYTES (256u << 10)         /* wanted: a quarter of a cache of 1 MiB */
#define MOST_STRIP 64
#define LEAST_STRIP 4
#define MOST_STRIPS 4096                /* of one stream: so plans of tall and narrow streams stay cheap */

static uint64_t row_bytes(const struct dfc_format *f, unsigned dim)
{
    uint64_t bytes;
    dfc_format_bytes(f, &bytes);        /* fits: it was checked */
    for (unsigned d = 0; d <= dim; d++)
        bytes /= f->dims[d];
    return bytes;
}

/* Runs through all strips. rows: by stage, the most that its rings hold. */
static void count_rows(const struct dff_strips *s, struct df_strip_stage *stages, struct df_rows made, uint64_t strip,
                       int64_t *rows)
{
    for (unsigned k = 0; k < s->n_stages; k++) {
        stages[k].have = (struct df_rows){ 0, 0 };
        rows[k] = 1;
    }
    for (int64_t y = made.from; y < made.to; y += (int64_t)strip) {
        df_strips_next(stages, s->n_stages, s->reads, s->n_reads, y, df_strip_least(y + (int64_t)strip, made.to));
        for (unsigned k = 0; k < s->n_stages; k++) {
            const struct df_rows *need = &stages[k].need;
            if (!stages[k].make.to)
                continue;
            rows[k] = need->to - need->from > rows[k] ? need->to - need->from : rows[k];
            df_strip_made(&stages[k]);
        }
    }
}

static uint64_t write_rows(const struct dfu_group *group, const struct dfc_format *formats, const int64_t *rows,
                           uint64_t strip, uint64_t *dims)
{
    const struct dff_strips *s = group->strips;
    uint64_t bytes = 0;
    dims[s->strip] = strip;
    for (unsigned p = 0; p < group->callee->sig.n_ports; p++)
        if (s->ring_rows[p] != DF_NONE) {
            dims[s->ring_rows[p]] = (uint64_t)rows[s->stage_of[p]];
            bytes += (uint64_t)rows[s->stage_of[p]] * row_bytes(&formats[p], s->dim);
        }
    return bytes;
}

/* The stages of the group for streams of these formats; no strip has been computed. */
static void begin_stages(const struct dfu_group *group, const struct dfc_format *formats, struct df_strip_stage *stages)
{
    const struct dff_strips *s = group->strips;
    memset(stages, 0, s->n_stages * sizeof *stages);
    for (unsigned p = 0; p < group->callee->sig.n_ports; p++) {
        if (s->stage_of[p] == DF_NONE)
            continue;
        struct df_strip_stage *stage = &stages[s->stage_of[p]];
        stage->extent = (int64_t)formats[p].dims[s->dim];
        stage->leaves = s->stages[s->stage_of[p]].leaves;
        stage->times = (int32_t)s->stages[s->stage_of[p]].rate.times;
        stage->by = (int32_t)s->stages[s->stage_of[p]].rate.by;
    }
}

uint64_t dfu_plane_rows(const struct dfu_group *group, const struct dfc_format *formats, struct df_rows made, unsigned port)
{
    const struct dff_strips *s = group->strips;
    struct df_strip_stage stages[DFU_MOST_MEMBERS];
    if (s->dim)
        return (uint64_t)(made.to - made.from);
    begin_stages(group, formats, stages);
    df_strips_next(stages, s->n_stages, s->reads, s->n_reads, made.from, made.to);
    const struct df_rows *need = &stages[s->stage_of[port]].need;
    return need->to > need->from ? (uint64_t)(need->to - need->from) : 1;
}

bool dfu_strips_plan(const struct dfu_group *group, const struct dfc_format *formats, struct df_rows made, uint64_t *dims,
                     uint64_t *ring_bytes)
{
    const struct dff_strips *s = group->strips;
    struct df_strip_stage stages[DFU_MOST_MEMBERS];
    int64_t rows[DFU_MOST_MEMBERS];
    uint64_t strip = MOST_STRIP;
    begin_stages(group, formats, stages);
    const uint64_t most = (uint64_t)df_strips_end(stages, s->n_stages);
    made.to = df_strip_least(made.to, (int64_t)most);
    const uint64_t least = most / MOST_STRIPS + 1 > LEAST_STRIP ? most / MOST_STRIPS + 1 : LEAST_STRIP;
    strip = strip > least ? strip : least;
    for (;;) {
        strip += (uint64_t)s->unit - 1 - (strip - 1) % (uint64_t)s->unit;
        count_rows(s, stages, made, strip, rows);
        *ring_bytes = write_rows(group, formats, rows, strip, dims);
        if (*ring_bytes <= RING_BYTES || strip / 2 < least || strip == (uint64_t)s->unit)
            return *ring_bytes <= DFU_MOST_RING_BYTES;
        strip /= 2;
    }
}
