/* distance.c - the exact Euclidean distance of each pixel of a mask to the next pixel outside it, by columns and then by rows
 * (Meijster, Roerdink, Hesselink 2000).
 *
 * Edge:     what lies beyond the tile is not outside. A mask without a pixel outside has distance h + w everywhere.
 * Rows:     Within a run of the mask only its own columns and the pixels at its two ends can hold the nearest pixel outside. A
 *           short run looks there from near to far, and ends when no nearer one can come; a long run takes the envelope of
 *           parabolas, whose time is linear.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { SHORT = 128 };

/* Distance along the column, or `none`. */
static void along_columns(const uint8_t *m, size_t h, size_t w, int32_t none, int32_t *columns)
{
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++) {
            int32_t above = y > 0 ? columns[(y - 1) * w + x] + 1 : none;
            above = above < none ? above : none;
            columns[y * w + x] = m[y * w + x] ? above : 0;
        }
    for (size_t y = h - 1; y-- > 0;)
        for (size_t x = 0; x < w; x++) {
            int32_t below = columns[(y + 1) * w + x] + 1;
            columns[y * w + x] = columns[y * w + x] < below ? columns[y * w + x] : below;
        }
}

static float root_of(int64_t square, int64_t none)
{
    return square < none * none ? (float)sqrt((double)square) : (float)none;
}

/* Columns first … last of `c` may hold the nearest pixel; the run is begin … end - 1. */
static void short_run(const int32_t *c, int64_t first, int64_t last, int64_t begin, int64_t end, int64_t none, float *d)
{
    for (int64_t x = begin; x < end; x++) {
        int64_t best = (int64_t)c[x] * c[x];
        for (int64_t k = 1; k * k < best && (x - k >= first || x + k <= last); k++) {
            int64_t left = x - k >= first ? c[x - k] : none, right = x + k <= last ? c[x + k] : none;
            int64_t nearer = left < right ? left : right;
            if (k * k + nearer * nearer < best)
                best = k * k + nearer * nearer;
        }
        d[x] = root_of(best, none);
    }
}

/* From which column on site v is nearer than site u < v. */
static int64_t border(const int32_t *c, int64_t u, int64_t v)
{
    int64_t n = v * v - u * u + (int64_t)c[v] * c[v] - (int64_t)c[u] * c[u], by = 2 * (v - u);
    return (n >= 0 ? n / by : -((-n + by - 1) / by)) + 1;
}

static void long_run(const int32_t *c, int64_t first, int64_t last, int64_t begin, int64_t end, int64_t none, float *d,
                     int64_t *site, int64_t *from)
{
    int64_t n = 0;
    for (int64_t v = first; v <= last; v++) {
        while (n > 0 && border(c, site[n - 1], v) <= from[n - 1])
            n--;
        from[n] = n > 0 ? border(c, site[n - 1], v) : first;
        site[n++] = v;
    }
    for (int64_t x = begin, s = 0; x < end; x++) {
        while (s + 1 < n && from[s + 1] <= x)
            s++;
        d[x] = root_of((x - site[s]) * (x - site[s]) + (int64_t)c[site[s]] * c[site[s]], none);
    }
}

static void along_row(const int32_t *c, int64_t w, int64_t none, float *d, int64_t *sites)
{
    for (int64_t x = 0; x < w; x++) {
        int64_t begin = x;
        if (c[x] == 0) {
            d[x] = 0;
            continue;
        }
        while (x < w && c[x] != 0)
            x++;
        int64_t first = begin > 0 ? begin - 1 : 0, last = x < w ? x : w - 1;
        if (x - begin <= SHORT)
            short_run(c, first, last, begin, x, none, d);
        else
            long_run(c, first, last, begin, x, none, d, sites, sites + w);
        x--;
    }
}

int distance_cpu(struct df_call *call, size_t h, size_t w, const uint8_t *m, int32_t *columns, float *d)
{
    const int32_t none = (int32_t)(h + w);
    int64_t *sites = malloc(2 * w * sizeof *sites);
    if (!sites)
        return df_fail(call, "out of memory for a row of %zu pixels", w);
    along_columns(m, h, w, none, columns);
    for (size_t y = 0; y < h; y++)
        along_row(columns + y * w, (int64_t)w, none, d + y * w, sites);
    free(sites);
    return DF_OK;
}
