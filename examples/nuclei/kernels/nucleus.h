/* nucleus.h - the features of one nucleus, as the CPU and a thread of a GPU compute them: 74 numbers, with the same bits.
 *
 * Nucleus:    7 of its shape (moments as in scikit-image's regionprops), then 16 of its pixels' grey.
 * Cytoplasm:  17 for each of grey, haematoxylin and eosin.
 * Of pixels:  mean, greatest, least, standard deviation, entropy, energy, skewness, kurtosis; of their gradient mean, standard
 *             deviation, entropy, energy, skewness, kurtosis; how many are edges, and their share. For cytoplasm the
 *             quotient of mean and median, too.
 * Papers:     hierarchical pipelines (Teodoro et al. 2012) also name Haralick features and Canny's edges. There are none: entropy and
 *             energy are of histograms, and edges are pixels with a large Sobel magnitude (as in the PAMS paper).
 * Exactness:  sums are integers, so their order does not matter; the rest is + - * / sqrt and df_log_f64().
 * Memory:     a histogram on the stack.
 */
#ifndef NUCLEI_NUCLEUS_H
#define NUCLEI_NUCLEUS_H

#include <df.h>
#include <df_math.h>
#include <math.h>
#include <stdint.h>

#include "box.h"

enum { MOST_SIDE = 32768 };             /* of a tile: its pixels are counted in an i32 */
enum { N_FEATURES = 74, N_SHAPE = 7, N_NUCLEUS = 16, N_CELL = 17, RING = 8 };

static inline int tile_is_too_large(struct df_call *call)
{
    return df_fail(call, "a tile has at most %d pixels a side", MOST_SIDE);
}

static inline int too_many_nuclei(struct df_call *call, size_t most)
{
    return df_fail(call, "more than %zu nuclei in one tile: compile with -D most=%zu, or with a smaller tile", most, 4 * most);
}

/* One plane of the tile, with its gradient and its Sobel magnitude. */
struct plane {
    const uint8_t *level, *gradient, *sobel;
};

/* Where to look: pixels of `owner` that are `id`, in rows y0 … y1 - 1 and columns x0 … x1 - 1. */
struct region {
    const int32_t *owner;
    int32_t id;
    int64_t w, y0, y1, x0, x1;
};

struct moments {
    double n, mean, deviation, entropy, energy, skewness, kurtosis;
    int least, greatest, median;
};

BOTH void histogram(const struct region *r, const uint8_t *plane, uint32_t *bins)
{
    for (int i = 0; i < 256; i++)
        bins[i] = 0;
    for (int64_t y = r->y0; y < r->y1; y++)
        for (int64_t x = r->x0; x < r->x1; x++)
            if (r->owner[y * r->w + x] == r->id)
                bins[plane[y * r->w + x]]++;
}

/* Of a histogram. Without pixels all is 0; without any spread skewness and kurtosis are. */
BOTH void moments_of(const uint32_t *bins, struct moments *m)
{
    const double none = 0;
    int64_t n = 0, sum = 0, before = 0;
    *m = (struct moments){ none, none, none, none, none, none, none, 0, 0, -1 };
    for (int v = 0; v < 256; v++) {
        n += bins[v];
        sum += (int64_t)bins[v] * v;
    }
    if (n == 0)
        return;
    double m2 = 0, m3 = 0, m4 = 0, information = 0, squares = 0, mean = (double)sum / (double)n;
    m->least = -1;
    for (int v = 0; v < 256; v++) {
        if (bins[v] == 0)
            continue;
        double c = bins[v], d = v - mean;
        m->least = m->least < 0 ? v : m->least;
        m->greatest = v;
        before += bins[v];
        if (m->median < 0 && 2 * before >= n)
            m->median = v;
        m2 += c * d * d;
        m3 += c * d * d * d;
        m4 += c * d * d * d * d;
        information += c * df_log_f64(c);
        squares += c * c;
    }
    m->n = (double)n;
    m->mean = mean;
    m2 /= m->n;
    m->deviation = sqrt(m2);
    m->entropy = (df_log_f64(m->n) - information / m->n) / 0.6931471805599453;
    m->energy = squares / (m->n * m->n);
    m->skewness = m2 > 0 ? m3 / m->n / (m2 * m->deviation) : 0;
    m->kurtosis = m2 > 0 ? m4 / m->n / (m2 * m2) : 0;
}

/* 16 numbers; with `quotient` 17. */
BOTH void measure_pixels(const struct region *r, const struct plane *p, int edge, int quotient, float *out)
{
    uint32_t bins[256];
    struct moments m;
    int64_t edges = 0;
    histogram(r, p->level, bins);
    moments_of(bins, &m);
    *out++ = (float)m.mean;
    if (quotient)
        *out++ = (float)(m.median > 0 ? m.mean / m.median : 0);
    *out++ = (float)m.greatest;
    *out++ = (float)m.least;
    *out++ = (float)m.deviation;
    *out++ = (float)m.entropy;
    *out++ = (float)m.energy;
    *out++ = (float)m.skewness;
    *out++ = (float)m.kurtosis;
    histogram(r, p->gradient, bins);
    moments_of(bins, &m);
    *out++ = (float)m.mean;
    *out++ = (float)m.deviation;
    *out++ = (float)m.entropy;
    *out++ = (float)m.energy;
    *out++ = (float)m.skewness;
    *out++ = (float)m.kurtosis;
    for (int64_t y = r->y0; y < r->y1; y++)
        for (int64_t x = r->x0; x < r->x1; x++)
            edges += r->owner[y * r->w + x] == r->id && p->sobel[y * r->w + x] >= edge;
    *out++ = (float)edges;
    *out++ = (float)(m.n > 0 ? (double)edges / m.n : 0);
}

BOTH int is_in(const struct region *r, int64_t y, int64_t x)
{
    return y >= r->y0 && y < r->y1 && x >= r->x0 && x < r->x1 && r->owner[y * r->w + x] == r->id;
}

BOTH int is_border(const struct region *r, int64_t y, int64_t x)
{
    return is_in(r, y, x) && !(is_in(r, y - 1, x) && is_in(r, y + 1, x) && is_in(r, y, x - 1) && is_in(r, y, x + 1));
}

/* The length of the border by how its pixels lie beside each other, as skimage.measure.perimeter() has it. */
BOTH double perimeter_of(const struct region *r)
{
    int64_t straight = 0, slanted = 0, both = 0;
    for (int64_t y = r->y0; y < r->y1; y++)
        for (int64_t x = r->x0; x < r->x1; x++) {
            if (!is_border(r, y, x))
                continue;
            int near = is_border(r, y - 1, x) + is_border(r, y + 1, x) + is_border(r, y, x - 1) + is_border(r, y, x + 1);
            int far = is_border(r, y - 1, x - 1) + is_border(r, y - 1, x + 1) + is_border(r, y + 1, x - 1) +
                      is_border(r, y + 1, x + 1);
            straight += (near == 2 || near == 3) && far <= 2;
            slanted += (near == 0 && far == 2) || (near == 1 && far == 3);
            both += near == 1 && (far == 1 || far == 2);
        }
    return (double)straight + (double)slanted * 1.4142135623730951 + (double)both * 1.2071067811865475;
}

/* Area, perimeter, eccentricity, circularity, the two axes, the share of the box. */
BOTH void measure_shape(const struct region *r, float *out)
{
    int64_t n = 0, sy = 0, sx = 0, syy = 0, sxx = 0, sxy = 0;
    for (int64_t y = r->y0; y < r->y1; y++)
        for (int64_t x = r->x0; x < r->x1; x++)
            if (is_in(r, y, x)) {
                int64_t v = y - r->y0, u = x - r->x0;
                n++;
                sy += v;
                sx += u;
                syy += v * v;
                sxx += u * u;
                sxy += v * u;
            }
    double k = (double)n, yy = ((double)syy - (double)sy * (double)sy / k) / k, xx = ((double)sxx - (double)sx * (double)sx / k) / k;
    double xy = ((double)sxy - (double)sy * (double)sx / k) / k, half = sqrt((yy - xx) * (yy - xx) / 4 + xy * xy);
    double major = (yy + xx) / 2 + half, minor = (yy + xx) / 2 - half, around = perimeter_of(r);
    minor = minor > 0 ? minor : 0;
    out[0] = (float)n;
    out[1] = (float)around;
    out[2] = (float)(major > 0 ? sqrt(1 - minor / major) : 0);
    out[3] = (float)(around > 0 ? 12.566370614359172 * k / (around * around) : 0);
    out[4] = (float)(4 * sqrt(major));
    out[5] = (float)(4 * sqrt(minor));
    out[6] = (float)(k / (double)((r->y1 - r->y0) * (r->x1 - r->x0)));
}

/* Part 0 of the row is the nucleus, parts 1 to 3 its cytoplasm in each of the planes: what one thread of a GPU does. */
BOTH void measure_part(int part, const int32_t *labels, const int32_t *cell, int64_t h, int64_t w, const struct box *b,
                       const struct plane planes[3], int edge, float *row)
{
    if (part == 0) {
        struct region r = { labels, b->label, w, b->top, b->bottom + 1, b->left, b->right + 1 };
        measure_shape(&r, row);
        measure_pixels(&r, &planes[0], edge, 0, row + N_SHAPE);
        return;
    }
    struct region r = { cell, b->label, w, b->top > RING ? b->top - RING : 0, b->bottom + 1 + RING < h ? b->bottom + 1 + RING : h,
                        b->left > RING ? b->left - RING : 0, b->right + 1 + RING < w ? b->right + 1 + RING : w };
    measure_pixels(&r, &planes[part - 1], edge, 1, row + N_SHAPE + N_NUCLEUS + (part - 1) * N_CELL);
}
#endif
