/* df_strips.h - which rows the stages of a fused group make, strip by strip. The code of groups includes it
 * (compiler/generate/), and compiler/fusion/ to find out how many rows of each stream are kept.
 *
 * Words:    a *stage* makes rows of one or more streams from rows of streams that earlier stages make. A *strip* is a range
 *           of rows of the group's outputs. A *ring* is memory for the rows of a stream that stays inside the group: it
 *           holds those that the present strip needs. The outermost dimension of a stream counts its rows.
 *           Stages may make rows at unlike *rates*: in a pyramid the next level makes one row for two of a strip.
 *           A ring *turns* if row y of the stream is always at df_strip_row(y, its rows). The rows that it needs at a time
 *           fit into it, so they do not meet.
 * Order:    for each strip, from row 0 on: df_strips_next(); then, for each stage in order whose `make` is not empty,
 *           df_strip_move() for each of its rings that does not turn, df_strip_made(), and the rows of `make`.
 */
#ifndef DF_STRIPS_H
#define DF_STRIPS_H

#ifdef __OPENCL_C_VERSION__
#include <df_opencl_c.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#endif

#ifdef __CUDACC__
#define DF_STRIP_CALL static __host__ __device__ __forceinline__
#else
#define DF_STRIP_CALL static inline
#endif

enum df_strip_border { DF_STRIP_NONE, DF_STRIP_CLAMP, DF_STRIP_MIRROR, DF_STRIP_REFLECT };

struct df_strip_read {                  /* row y of stage `reader` needs rows (times * y + low) / by … (times * y + high) / by of stage `made`,
                                         * rounded down; times and by are 1 or more */
    uint16_t reader, made;
    int32_t times, by, low, high;
    int border;                         /* what rows outside stand for */
};

struct df_rows {                        /* from <= row < to; none if from == to */
    int64_t from, to;
};

struct df_strip_stage {
    int64_t extent;                     /* rows of its streams */
    bool leaves;                        /* one of them is an output of the group, so every row is made */
    int32_t times, by;                  /* its rate if it leaves: before row y of a strip it has times * y / by rows; times <= by */
    struct df_rows have;                /* that its rings hold; set by df_strip_made() */
    struct df_rows need, make;          /* in this strip; set by df_strips_next() */
};

DF_STRIP_CALL int64_t df_strip_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

DF_STRIP_CALL int64_t df_strip_most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* a / b for b > 0, rounded down. */
DF_STRIP_CALL int64_t df_strip_floor(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Adds the rows that are read for the rows `of` to *need. A border leads rows outside to rows near the edge; without one the
 * first or last row is read in their place, where a condition throws away what was read. */
DF_STRIP_CALL void df_strip_need(struct df_rows *need, struct df_rows of, const struct df_strip_read *read,
                                 int64_t extent)
{
    const int64_t first = df_strip_floor(read->times * of.from + read->low, read->by);
    const int64_t last = df_strip_floor(read->times * (of.to - 1) + read->high, read->by);
    int64_t from = first, to = last;
    if (read->border == DF_STRIP_MIRROR || read->border == DF_STRIP_REFLECT) {
        const int64_t edge = read->border == DF_STRIP_REFLECT;
        if (first < 0)
            to = df_strip_most(to, -first - edge);
        if (last >= extent)
            from = df_strip_least(from, 2 * extent - 2 + edge - last);
    }
    from = df_strip_least(df_strip_most(from, 0), extent - 1);
    to = df_strip_least(df_strip_most(to, 0), extent - 1) + 1;
    if (need->from < need->to) {
        from = df_strip_least(from, need->from);
        to = df_strip_most(to, need->to);
    }
    need->from = from;
    need->to = to;
}

/* The rows that a stage makes: what it needs and does not have. */
static inline void df_strip_choose(struct df_strip_stage *stage)
{
    const bool goes_on = stage->have.from <= stage->need.from && stage->need.from <= stage->have.to;
    stage->make = stage->need;
    if (goes_on)
        stage->make.from = stage->have.to;
    if (stage->make.from >= stage->make.to)
        stage->make.from = stage->make.to = 0;
}

/* The end of the strips, or tiles, of a stage with this rate: then all of it is made. */
DF_STRIP_CALL int64_t df_tiles_end(int32_t times, int32_t by, int64_t extent)
{
    return (extent * by + times - 1) / times;
}

/* The end of the last strip: then all that leaves is made. */
DF_STRIP_CALL int64_t df_strips_end(const struct df_strip_stage *stages, unsigned n_stages)
{
    int64_t end = 0;
    for (unsigned s = 0; s < n_stages; s++)
        if (stages[s].leaves)
            end = df_strip_most(end, df_tiles_end(stages[s].times, stages[s].by, stages[s].extent));
    return end;
}

/* Finds `need` and `make` of all stages for the strip from <= row < to. Reads go to earlier stages. */
static inline void df_strips_next(struct df_strip_stage *stages, unsigned n_stages, const struct df_strip_read *reads,
                                  unsigned n_reads, int64_t from, int64_t to)
{
    for (unsigned s = 0; s < n_stages; s++) {
        struct df_strip_stage *stage = &stages[s];
        stage->need.from = stage->need.to = 0;
        if (!stage->leaves)
            continue;
        const int64_t first = stage->times * from / stage->by;
        const int64_t end = df_strip_least(stage->times * to / stage->by, stage->extent);
        stage->need.from = first < end ? first : 0;
        stage->need.to = first < end ? end : 0;
    }
    for (unsigned s = n_stages; s-- > 0;) {
        df_strip_choose(&stages[s]);
        for (unsigned r = 0; r < n_reads && stages[s].make.to; r++)
            if (reads[r].reader == s)
                df_strip_need(&stages[reads[r].made].need, stages[s].make, &reads[r], stages[reads[r].made].extent);
    }
}

/* The row of a ring of `rows` rows that holds row `row` of the stream, if the ring turns. */
static inline int64_t df_strip_row(int64_t row, int64_t rows)
{
    return (uint32_t)row % (uint32_t)rows;
}

#ifndef __OPENCL_C_VERSION__
/* Moves the rows that a ring holds and this strip needs to its beginning, if it does not turn. */
static inline void df_strip_move(const struct df_strip_stage *stage, void *ring, int64_t row_bytes)
{
    char *bytes = (char *)ring;
    if (stage->make.from > stage->need.from && stage->need.from > stage->have.from)
        memmove(bytes, bytes + (stage->need.from - stage->have.from) * row_bytes,
                (size_t)((stage->have.to - stage->need.from) * row_bytes));
}
#endif

/* From now on the rings hold the rows that this strip needs, the first one at their beginning. */
static inline void df_strip_made(struct df_strip_stage *stage)
{
    stage->have = stage->need;
}

/* ---- tiles on a GPU ---- */

struct df_span {                        /* rows or columns as struct df_rows has them, in half the registers: no extent is above INT32_MAX there */
    int32_t from, to;
};

/* The rows, or columns, that leave a stage from the tile of first <= row < end; times and by are its rate. */
DF_STRIP_CALL struct df_span df_tile_own(int64_t first, int64_t end, int32_t times, int32_t by, int64_t extent)
{
    const int64_t from = times * first / by, to = df_strip_least(times * end / by, extent);
    struct df_span own = { 0, 0 };
    if (from < to) {
        own.from = (int32_t)from;
        own.to = (int32_t)to;
    }
    return own;
}

/* As df_strip_need(). */
DF_STRIP_CALL void df_tile_need(struct df_span *need, struct df_span of, const struct df_strip_read *read, int64_t extent)
{
    struct df_rows rows = { need->from, need->to };
    const struct df_rows readers = { of.from, of.to };
    df_strip_need(&rows, readers, read, extent);
    need->from = (int32_t)rows.from;
    need->to = (int32_t)rows.to;
}

DF_STRIP_CALL int32_t df_span_length(struct df_span span)
{
    return span.to - span.from;
}

DF_STRIP_CALL bool df_is_some(struct df_span rows, struct df_span columns)
{
    return rows.from < rows.to && columns.from < columns.to;
}

#endif
