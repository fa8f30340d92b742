/* components.h - connected components of a mask by their runs: what components.c and watershed.c are made of.
 *
 * Masks:    one byte a pixel, 0 or 1.
 * Runs:     A run is a stretch of equal pixels of one row. Runs of neighbouring rows that touch are joined by union-find.
 *           The root of a component is its first run in raster order. Behind the runs of a row stands one that begins at w.
 * Memory:   the caller's, for h * (w / 2 + 2) runs.
 */
#ifndef NUCLEI_COMPONENTS_H
#define NUCLEI_COMPONENTS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct run {
    int32_t begin, end;                 /* columns begin … end - 1 */
    int32_t root;                       /* index of the component's first run, when find_runs() is done */
    int32_t value;                      /* 0 at first; the operations' own */
};

static inline int32_t run_root(struct run *runs, int32_t i)
{
    while (runs[i].root != i)
        i = runs[i].root = runs[runs[i].root].root;
    return i;
}

static inline void run_join(struct run *runs, int32_t a, int32_t b)
{
    a = run_root(runs, a);
    b = run_root(runs, b);
    if (a < b)
        runs[b].root = a;
    else
        runs[a].root = b;
}

/* 64 pixels as bits, the first one lowest; fewer at a row's end. The machine stores the lowest byte first. */
static inline uint64_t pixel_bits(const uint8_t *row, size_t n)
{
    uint64_t bits = 0, eight;
    size_t i = 0;
    for (; i + 8 <= n && i < 64; i += 8) {
        memcpy(&eight, row + i, 8);
        bits |= (eight * 0x0102040810204080u >> 56) << i;
    }
    for (; i < n && i < 64; i++)
        bits |= (uint64_t)row[i] << i;
    return bits;
}

/* Appends the runs of a row's pixels that are `of`, and the end mark. Gives the new number of runs. */
static inline int32_t find_row(const uint8_t *row, size_t w, int of, struct run *runs, int32_t n)
{
    uint64_t before = 0;                /* the pixel to the left */
    for (size_t x = 0; x < w; x += 64) {
        uint64_t bits = pixel_bits(row + x, w - x) ^ (of ? 0 : ~0ull);
        if (w - x < 64)
            bits &= (1ull << (w - x)) - 1;
        for (uint64_t turns = bits ^ (bits << 1 | before); turns; turns &= turns - 1) {
            int bit = __builtin_ctzll(turns);
            if (bits >> bit & 1)
                runs[n] = (struct run){ (int32_t)x + bit, (int32_t)w, n, 0 };
            else
                runs[n++].end = (int32_t)x + bit;
        }
        before = bits >> 63;
    }
    n += (int32_t)before;               /* a run that ends with the row */
    runs[n] = (struct run){ (int32_t)w, (int32_t)w, n, 0 };
    return n + 1;
}

/* Finds the runs of pixels that are `of`, and joins what touches over 4 or 8 neighbours. Gives their number, with end marks. */
static inline int32_t find_runs(const uint8_t *mask, size_t h, size_t w, int of, int neighbours, struct run *runs)
{
    const int32_t reach = neighbours == 8, width = (int32_t)w;
    int32_t above = 0, n = find_row(mask, w, of, runs, 0); /* above: the first run of the row above */
    for (size_t y = 1; y < h; y++) {
        int32_t a = above, b = n;
        above = n;
        n = find_row(mask + y * w, w, of, runs, n);
        while (runs[a].begin < width && runs[b].begin < width) {
            if (runs[a].begin < runs[b].end + reach && runs[b].begin < runs[a].end + reach)
                run_join(runs, a, b);
            if (runs[a].end < runs[b].end)
                a++;
            else
                b++;
        }
    }
    for (int32_t i = 0; i < n; i++)     /* a root comes before its runs, and has itself as root */
        runs[i].root = runs[runs[i].root].root;
    return n;
}

/* Numbers the components from 1 up, in the order of their first pixels, and writes each pixel's number; 0: no component. Gives
 * how many there are. */
static inline int32_t number_runs(struct run *runs, int32_t n, size_t h, size_t w, int32_t *labels)
{
    const int32_t width = (int32_t)w;
    int32_t count = 0;
    memset(labels, 0, h * w * sizeof *labels);
    for (int32_t i = 0; i < n; i++) {
        if (runs[i].begin == width) {
            labels += w;
            continue;
        }
        runs[i].value = runs[i].root == i ? ++count : runs[runs[i].root].value;
        for (int32_t x = runs[i].begin; x < runs[i].end; x++)
            labels[x] = runs[i].value;
    }
    return count;
}
#endif
