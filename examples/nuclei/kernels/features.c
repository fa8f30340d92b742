/* features.c - where each nucleus lies, and its features (nucleus.h). */
#include "nucleus.h"

#include <string.h>

/* Numbers are 1 … n without gaps, so the greatest is how many there are. */
int boxes_cpu(struct df_call *call, size_t h, size_t w, size_t *n, const int32_t *labels, int32_t *box)
{
    struct box *boxes = (struct box *)box;
    size_t found = 0;
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++) {
            size_t id = (size_t)labels[y * w + x];
            if (id == 0)
                continue;
            if (id > *n)
                return too_many_nuclei(call, *n);
            struct box *b = &boxes[id - 1];
            if (id > found) {
                *b = (struct box){ (int32_t)y, (int32_t)x, (int32_t)y, (int32_t)x, 0, (int32_t)id };
                found = id;
            }
            b->left = (int32_t)x < b->left ? (int32_t)x : b->left;
            b->right = (int32_t)x > b->right ? (int32_t)x : b->right;
            b->bottom = (int32_t)y;
            b->area++;
        }
    *n = found;
    return DF_OK;
}

int measure_cpu(struct df_call *call, size_t h, size_t w, size_t n, const int32_t *labels, const int32_t *cell, const int32_t *box,
                const uint8_t *grey, const uint8_t *grey_gradient, const uint8_t *grey_sobel, const uint8_t *hema,
                const uint8_t *hema_gradient, const uint8_t *hema_sobel, const uint8_t *eosin, const uint8_t *eosin_gradient,
                const uint8_t *eosin_sobel, float *table, int32_t edge)
{
    const struct plane planes[3] = { { grey, grey_gradient, grey_sobel }, { hema, hema_gradient, hema_sobel },
                                     { eosin, eosin_gradient, eosin_sobel } };
    (void)call;
    for (size_t i = 0; i < n; i++)
        for (int part = 0; part < 4; part++)
            measure_part(part, labels, cell, (int64_t)h, (int64_t)w, (const struct box *)box + i, planes, edge,
                         table + i * N_FEATURES);
    return DF_OK;
}
