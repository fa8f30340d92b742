/* features.c - where each nucleus lies, and its features (nucleus.h). */
#include "nucleus.h"

int boxes_cpu(struct df_call *call, size_t h, size_t w, size_t *n, const int32_t *labels, int32_t *box)
{
    const size_t found = find_boxes(labels, h, w, (struct box *)box, *n);
    if (found > *n)
        return too_many_nuclei(call, *n);
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
    struct part part;
    (void)call;
    for (size_t i = 0; i < n; i++)
        for (int which = 0; which < 4; which++)
            measure_part(&part, which, labels, cell, (int)h, (int)w, (const struct box *)box + i, &planes[which > 0 ? which - 1 : 0], edge,
                         table + i * N_FEATURES);
    return DF_OK;
}
