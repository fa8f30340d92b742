/* features.cu - tissue, outlines and features on a GPU. Four work-groups measure a nucleus: one itself, three its
 * cytoplasm in one plane each. */
#include "device.h"
#include "nucleus.h"

static __global__ void split_colours(int64_t h, int64_t w, int64_t tw, const uint8_t *t, uint8_t *r, uint8_t *g, uint8_t *b,
                                     int *bright)
{
    EACH(p, h * w) {
        const uint8_t *from = t + (p / w * tw + p % w) * 3;
        r[p] = from[0];
        g[p] = from[1];
        b[p] = from[2];
        if (from[0] > 220 && from[1] > 220 && from[2] > 220)
            atomicAdd(bright, 1);
    }
}

int tissue_gpu(struct df_call *call, cudaStream_t stream, size_t th, size_t tw, size_t *h, size_t *w, const uint8_t *t,
               const int64_t *at, int32_t *bright, uint8_t *r, uint8_t *g, uint8_t *b)
{
    int64_t where[4];
    int n = 0;
    if (th > MOST_SIDE || tw > MOST_SIDE)
        return tile_is_too_large(call);
    if (bring(call, stream, where, at, sizeof where) != DF_OK)
        return DF_FAILED;
    size_t below = (size_t)(where[2] - where[0]), right = (size_t)(where[3] - where[1]);
    *h = below < th ? below : th;
    *w = right < tw ? right : tw;
    clear(stream, bright, sizeof *bright);
    LAUNCH(split_colours, *h * *w, stream, (int64_t)*h, (int64_t)*w, (int64_t)tw, t, r, g, b, bright);
    if (after(call) != DF_OK || bring(call, stream, &n, bright, sizeof n) != DF_OK)
        return DF_FAILED;
    return 10 * (size_t)n >= 9 * *h * *w ? DF_SKIP : DF_OK;
}

static __global__ void draw_outlines(int64_t h, int64_t w, int64_t tw, const int32_t *labels, uint8_t *o)
{
    EACH(p, h * w) {
        int64_t y = p / w, x = p % w;
        const int32_t *l = labels + p;
        if (*l && (y == 0 || l[-w] != *l || y == h - 1 || l[w] != *l || x == 0 || l[-1] != *l || x == w - 1 || l[1] != *l)) {
            uint8_t *to = o + (y * tw + x) * 3;
            to[0] = to[2] = 0;
            to[1] = 255;
        }
    }
}

int outline_gpu(struct df_call *call, cudaStream_t stream, size_t th, size_t tw, size_t h, size_t w, const uint8_t *t,
                const int32_t *labels, uint8_t *o)
{
    move(stream, o, t, th * tw * 3);
    LAUNCH(draw_outlines, h * w, stream, (int64_t)h, (int64_t)w, (int64_t)tw, labels, o);
    return after(call);
}

static __global__ void find_most(int64_t n, const int32_t *labels, int *most)
{
    EACH(p, n) if (labels[p] > look(most)) atomicMax(most, labels[p]);
}

/* The first word of `box` holds the greatest label before there are boxes. */
int boxes_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, size_t *n, const int32_t *labels, int32_t *box)
{
    int found = 0;
    clear(stream, box, sizeof *box);
    LAUNCH(find_most, h * w, stream, (int64_t)(h * w), labels, box);
    if (bring(call, stream, &found, box, sizeof found) != DF_OK)
        return DF_FAILED;
    if ((size_t)found > *n)
        return too_many_nuclei(call, *n);
    *n = (size_t)found;
    if (found > 0)
        find_boxes_on_gpu(stream, (int64_t)h, (int64_t)w, labels, found, (struct box *)box);
    return after(call);
}

enum { MEASURING_X = 32, MEASURING_Y = 4 }; /* items of a work-group */

/* Without DF_ITEMS_AT_MOST(): with it ptxas takes fewer registers and spills some. */
static __global__ void measure_parts(int h, int w, int64_t n, const int32_t *labels, const int32_t *cell, const struct box *boxes,
                                     struct plane grey, struct plane hema, struct plane eosin, int edge, float *table)
{
    DF_LOCAL(struct part, part, 1);
    for (int64_t i = DF_GROUP_X; i < 4 * n; i += DF_GROUPS_X) {
        const int which = (int)(i % 4);
        const struct plane plane = which < 2 ? grey : which == 2 ? hema : eosin;
        measure_part(part, which, labels, cell, h, w, &boxes[i / 4], &plane, edge, table + i / 4 * N_FEATURES);
    }
}

int measure_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, size_t n, const int32_t *labels, const int32_t *cell,
                const int32_t *box, const uint8_t *grey, const uint8_t *grey_gradient, const uint8_t *grey_sobel,
                const uint8_t *hema, const uint8_t *hema_gradient, const uint8_t *hema_sobel, const uint8_t *eosin,
                const uint8_t *eosin_gradient, const uint8_t *eosin_sobel, float *table, int32_t edge)
{
    const struct plane of_grey = { grey, grey_gradient, grey_sobel }, of_hema = { hema, hema_gradient, hema_sobel },
                       of_eosin = { eosin, eosin_gradient, eosin_sobel };
    DF_LAUNCH_ALL(measure_parts, dim3(df_n_blocks(4 * (int64_t)n, 1, 1 << 20)), dim3(MEASURING_X, MEASURING_Y), stream, (int)h, (int)w, (int64_t)n,
                  labels, cell, (const struct box *)box, of_grey, of_hema, of_eosin, edge, table);
    return after(call);
}
