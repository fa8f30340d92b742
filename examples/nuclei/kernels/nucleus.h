/* nucleus.h - the features of one nucleus, as the CPU and a GPU compute them: 74 numbers, with the same bits.
 *
 * Nucleus:    7 of its shape (moments as in scikit-image's regionprops), then 16 of its pixels' grey.
 * Cytoplasm:  17 for each of grey, haematoxylin and eosin.
 * Of pixels:  mean, greatest, least, standard deviation, entropy, energy, skewness, kurtosis; of their gradient mean, standard
 *             deviation, entropy, energy, skewness, kurtosis; how many are edges, and their share. For cytoplasm the
 *             quotient of mean and median, too.
 * Papers:     hierarchical pipelines (Teodoro et al. 2012) also name Haralick features and Canny's edges. There are none: entropy and
 *             energy are of histograms, and edges are pixels with a large Sobel magnitude (as in the PAMS paper).
 * Exactness:  sums are integers, so their order does not matter; the rest is + - * / sqrt and df_log_f64().
 * GPU:        the items of a work-group measure a part together, in phases (df_formula_gpu.h): they share the pixels, and the two histograms are in
 *             shared memory. What stands outside of DF_PHASE is the same for all items. On a CPU one item does everything.
 */
#ifndef NUCLEI_NUCLEUS_H
#define NUCLEI_NUCLEUS_H

#include <df.h>
#include <df_math.h>
#include <math.h>
#include <stdint.h>

#include "box.h"

#ifdef __CUDA_ARCH__
#define ADD(sum, value) atomicAdd(sum, value)
#else
#define ADD(sum, value) (*(sum) += (value))
#endif
#ifndef DF_PHASE                        /* C without df_formula_gpu.h */
#define DF_PHASE
#define DF_BARRIER() ((void)0)
#define DF_ITEM 0
#define DF_ITEM_X 0
#define DF_ITEM_Y 0
#define DF_ITEMS 1
#define DF_ITEMS_X 1
#define DF_ITEMS_Y 1
#endif

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

/* Where to look: pixels of `owner` that are `id`, in rows y0 … y1 - 1 and columns x0 … x1 - 1. MOST_SIDE is small enough for int. */
struct region {
    const int32_t *owner;
    int32_t id;
    int w, y0, y1, x0, x1;
};

struct moments {
    double n, mean, deviation, entropy, energy, skewness, kurtosis;
    int least, greatest, median;
};

/* What a work-group knows of a part of a nucleus. */
enum { COUNT, SUM_Y, SUM_X, SUM_YY, SUM_XX, SUM_XY, STRAIGHT, SLANTED, BOTH_WAYS, EDGES, N_SUMS };
struct part {
    uint32_t bins[2][256];              /* of level and gradient */
    double information[2][256];         /* of each bin its number times the logarithm of that */
    struct moments of[2];
    unsigned long long sums[N_SUMS];
};

/* Of a histogram. Without pixels all is 0; without any spread skewness and kurtosis are. */
BOTH void moments_of(const uint32_t *bins, const double *of_bin, struct moments *m)
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
        information += of_bin[v];
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

BOTH int is_in(const struct region *r, int y, int x)
{
    return y >= r->y0 && y < r->y1 && x >= r->x0 && x < r->x1 && r->owner[y * r->w + x] == r->id;
}

BOTH int is_border(const struct region *r, int y, int x)
{
    return is_in(r, y, x) && !(is_in(r, y - 1, x) && is_in(r, y + 1, x) && is_in(r, y, x - 1) && is_in(r, y, x + 1));
}

/* Adds up where the region's pixels lie, and how the border's lie beside each other, as skimage.measure.perimeter() has it. */
BOTH void look_at_shape(const struct region *r, unsigned long long *sums)
{
    uint32_t n = 0, straight = 0, slanted = 0, both = 0;
    unsigned long long sy = 0, sx = 0, syy = 0, sxx = 0, sxy = 0;
    for (int y = r->y0 + DF_ITEM_Y; y < r->y1; y += DF_ITEMS_Y)
        for (int x = r->x0 + DF_ITEM_X; x < r->x1; x += DF_ITEMS_X) {
            if (r->owner[y * r->w + x] != r->id)
                continue;
            const uint32_t v = (uint32_t)(y - r->y0), u = (uint32_t)(x - r->x0);
            n++;
            sy += v;
            sx += u;
            syy += v * v;               /* below 2^30: MOST_SIDE */
            sxx += u * u;
            sxy += v * u;
            if (!is_border(r, y, x))
                continue;
            int near = is_border(r, y - 1, x) + is_border(r, y + 1, x) + is_border(r, y, x - 1) + is_border(r, y, x + 1);
            int far = is_border(r, y - 1, x - 1) + is_border(r, y - 1, x + 1) + is_border(r, y + 1, x - 1) +
                      is_border(r, y + 1, x + 1);
            straight += (near == 2 || near == 3) && far <= 2;
            slanted += (near == 0 && far == 2) || (near == 1 && far == 3);
            both += near == 1 && (far == 1 || far == 2);
        }
    ADD(&sums[COUNT], n);
    ADD(&sums[SUM_Y], sy);
    ADD(&sums[SUM_X], sx);
    ADD(&sums[SUM_YY], syy);
    ADD(&sums[SUM_XX], sxx);
    ADD(&sums[SUM_XY], sxy);
    ADD(&sums[STRAIGHT], straight);
    ADD(&sums[SLANTED], slanted);
    ADD(&sums[BOTH_WAYS], both);
}

/* Counts the levels and gradients of the region's pixels, and its edges. */
BOTH void look_at_pixels(const struct region *r, const struct plane *p, int edge, struct part *part)
{
    uint32_t edges = 0;
    for (int y = r->y0 + DF_ITEM_Y; y < r->y1; y += DF_ITEMS_Y)
        for (int x = r->x0 + DF_ITEM_X; x < r->x1; x += DF_ITEMS_X) {
            const int at = y * r->w + x;
            if (r->owner[at] != r->id)
                continue;
            ADD(&part->bins[0][p->level[at]], 1u);
            ADD(&part->bins[1][p->gradient[at]], 1u);
            edges += p->sobel[at] >= edge;
        }
    ADD(&part->sums[EDGES], edges);
}

/* Area, perimeter, eccentricity, circularity, the two axes, the share of the box. */
BOTH float *tell_shape(const struct region *r, const unsigned long long *sums, float *out)
{
    double k = (double)sums[COUNT], sy = (double)sums[SUM_Y], sx = (double)sums[SUM_X];
    double yy = ((double)sums[SUM_YY] - sy * sy / k) / k, xx = ((double)sums[SUM_XX] - sx * sx / k) / k;
    double xy = ((double)sums[SUM_XY] - sy * sx / k) / k, half = sqrt((yy - xx) * (yy - xx) / 4 + xy * xy);
    double major = (yy + xx) / 2 + half, minor = (yy + xx) / 2 - half;
    double around = (double)sums[STRAIGHT] + (double)sums[SLANTED] * 1.4142135623730951 + (double)sums[BOTH_WAYS] * 1.2071067811865475;
    minor = minor > 0 ? minor : 0;
    *out++ = (float)sums[COUNT];
    *out++ = (float)around;
    *out++ = (float)(major > 0 ? sqrt(1 - minor / major) : 0);
    *out++ = (float)(around > 0 ? 12.566370614359172 * k / (around * around) : 0);
    *out++ = (float)(4 * sqrt(major));
    *out++ = (float)(4 * sqrt(minor));
    *out++ = (float)(k / (double)((r->y1 - r->y0) * (r->x1 - r->x0)));
    return out;
}

/* 16 numbers; with `quotient` 17. */
BOTH void tell_pixels(const struct part *part, int quotient, float *out)
{
    const struct moments *m = &part->of[0];
    *out++ = (float)m->mean;
    if (quotient)
        *out++ = (float)(m->median > 0 ? m->mean / m->median : 0);
    *out++ = (float)m->greatest;
    *out++ = (float)m->least;
    for (int k = 0; k < 2; k++, m++) {
        if (k == 1)
            *out++ = (float)m->mean;
        *out++ = (float)m->deviation;
        *out++ = (float)m->entropy;
        *out++ = (float)m->energy;
        *out++ = (float)m->skewness;
        *out++ = (float)m->kurtosis;
    }
    m = &part->of[1];
    *out++ = (float)part->sums[EDGES];
    *out++ = (float)(m->n > 0 ? (double)part->sums[EDGES] / m->n : 0);
}

/* Part 0 of the row is the nucleus, parts 1 to 3 its cytoplasm in each of the planes. p: of the part; `part` is overwritten. */
BOTH void measure_part(struct part *part, int which, const int32_t *labels, const int32_t *cell, int h, int w, const struct box *b,
                       const struct plane *p, int edge, float *row)
{
    const int ring = which > 0 ? RING : 0;
    const struct region r = { which > 0 ? cell : labels, b->label, w, b->top > ring ? b->top - ring : 0, b->bottom + 1 + ring < h ? b->bottom + 1 + ring : h,
                              b->left > ring ? b->left - ring : 0, b->right + 1 + ring < w ? b->right + 1 + ring : w };
    DF_PHASE {
        for (int i = DF_ITEM; i < 256; i += DF_ITEMS)
            part->bins[0][i] = part->bins[1][i] = 0;
        for (int i = DF_ITEM; i < N_SUMS; i += DF_ITEMS)
            part->sums[i] = 0;
    }
    DF_BARRIER();
    DF_PHASE {
        look_at_pixels(&r, p, edge, part);
        if (which == 0)
            look_at_shape(&r, part->sums);
    }
    DF_BARRIER();
    DF_PHASE {
        for (int i = DF_ITEM; i < 512; i += DF_ITEMS) {
            const uint32_t n = part->bins[i / 256][i % 256];
            part->information[i / 256][i % 256] = n > 0 ? n * df_log_f64(n) : 0;
        }
    }
    DF_BARRIER();
    DF_PHASE {
        for (int k = DF_ITEM; k < 2; k += DF_ITEMS)
            moments_of(part->bins[k], part->information[k], &part->of[k]);
    }
    DF_BARRIER();
    DF_PHASE {
        if (DF_ITEM == 0) {
            float *out = row + (which > 0 ? N_SHAPE + N_NUCLEUS + (which - 1) * N_CELL : 0);
            if (which == 0)
                out = tell_shape(&r, part->sums, out);
            tell_pixels(part, which > 0, out);
        }
    }
    DF_BARRIER();
}
#endif
