/* components.c - what needs the connected components of a mask: parts that are touched, holes, sizes, numbers. components.h finds them.
 */
#include "components.h"

static void paint(uint8_t *m, const struct run *r, int value)
{
    memset(m + r->begin, value, (size_t)(r->end - r->begin));
}

int touched_cpu(struct df_call *call, size_t h, size_t w, const uint8_t *of, const uint8_t *by, int32_t *work, uint8_t *m)
{
    struct run *runs = (struct run *)work;
    const int32_t n = find_runs(of, h, w, 1, 8, runs), width = (int32_t)w;
    (void)call;
    const uint8_t *row = by;
    for (int32_t i = 0; i < n; i++)
        if (runs[i].begin == width)
            row += w;
        else if (memchr(row + runs[i].begin, 1, (size_t)(runs[i].end - runs[i].begin)))
            runs[runs[i].root].value = 1;
    memset(m, 0, h * w);
    for (int32_t i = 0; i < n; i++)
        if (runs[i].begin == width)
            m += w;
        else if (runs[runs[i].root].value)
            paint(m, &runs[i], 1);
    return DF_OK;
}

/* A hole is background that no path of four neighbours joins with the tile's edge. */
int fill_cpu(struct df_call *call, size_t h, size_t w, const uint8_t *a, int32_t *work, uint8_t *m)
{
    struct run *runs = (struct run *)work;
    const int32_t n = find_runs(a, h, w, 0, 4, runs), width = (int32_t)w;
    (void)call;
    size_t y = 0;
    for (int32_t i = 0; i < n; i++)
        if (runs[i].begin == width)
            y++;
        else if (y == 0 || y == h - 1 || runs[i].begin == 0 || runs[i].end == width)
            runs[runs[i].root].value = 1;
    memset(m, 1, h * w);
    for (int32_t i = 0; i < n; i++)
        if (runs[i].begin == width)
            m += w;
        else if (runs[runs[i].root].value)
            paint(m, &runs[i], 0);
    return DF_OK;
}

int sized_cpu(struct df_call *call, size_t h, size_t w, const uint8_t *a, int32_t *work, uint8_t *m, int32_t least,
              int32_t below, int32_t neighbours)
{
    struct run *runs = (struct run *)work;
    const int32_t n = find_runs(a, h, w, 1, neighbours, runs), width = (int32_t)w;
    (void)call;
    for (int32_t i = 0; i < n; i++)
        runs[runs[i].root].value += runs[i].end - runs[i].begin;
    memset(m, 0, h * w);
    for (int32_t i = 0; i < n; i++)
        if (runs[i].begin == width)
            m += w;
        else if (runs[runs[i].root].value >= least && runs[runs[i].root].value < below)
            paint(m, &runs[i], 1);
    return DF_OK;
}

/* Numbers from 1 up, in the order of the components' first pixels. */
int label_cpu(struct df_call *call, size_t h, size_t w, const uint8_t *a, int32_t *work, int32_t *labels)
{
    struct run *runs = (struct run *)work;
    (void)call;
    number_runs(runs, find_runs(a, h, w, 1, 8, runs), h, w, labels);
    return DF_OK;
}
