/* filter.c - the filters of examples/photo/photo.df written in C, to be compared with its formulas. All is in integers but
 * one square root, correctly rounded by IEEE 754, so that the CPU's and the GPU's pixels are the same to the bit. Each
 * filter writes only what its input fully determines: the output is smaller by the filter's reach on every side.
 */
#include <math.h>
#include <stdint.h>

/* ITU-R BT.601 luma, in 14-bit fixed point as image libraries have it: 0.299 R + 0.587 G + 0.114 B. */
int grey_cpu(struct df_call *call, size_t h, size_t w, const uint8_t *t, uint8_t *g)
{
    (void)call;
    for (size_t i = 0; i < h * w; i++)
        g[i] = (uint8_t)((t[3 * i] * 4899 + t[3 * i + 1] * 9617 + t[3 * i + 2] * 1868 + 8192) >> 14);
    return DF_OK;
}

/* 5 x 5 binomial Gaussian: [1 4 6 4 1] / 16 along rows, then along columns, rounded once. */
int blur_cpu(struct df_call *call, size_t h, size_t w, const uint8_t *g, uint8_t *b)
{
    (void)call;
    for (size_t y = 0; y + 4 < h; y++)
        for (size_t x = 0; x + 4 < w; x++) {
            static const int weight[5] = {1, 4, 6, 4, 1};
            int sum = 0;
            for (size_t j = 0; j < 5; j++) {
                const uint8_t *row = g + (y + j) * w + x;
                sum += weight[j] * (row[0] + 4 * row[1] + 6 * row[2] + 4 * row[3] + row[4]);
            }
            b[y * (w - 4) + x] = (uint8_t)((sum + 128) >> 8);
        }
    return DF_OK;
}

/* Length of the gradient by Sobel's 3 x 3 masks, to the nearest grey level, at most 255. */
int sobel_cpu(struct df_call *call, size_t h, size_t w, const uint8_t *b, uint8_t *e)
{
    (void)call;
    for (size_t y = 0; y + 2 < h; y++)
        for (size_t x = 0; x + 2 < w; x++) {
            const uint8_t *p = b + y * w + x, *q = p + w, *r = q + w;
            int dx = (p[2] + 2 * q[2] + r[2]) - (p[0] + 2 * q[0] + r[0]);
            int dy = (r[0] + 2 * r[1] + r[2]) - (p[0] + 2 * p[1] + p[2]);
            int length = (int)(sqrtf((float)(dx * dx + dy * dy)) + 0.5f);
            e[y * (w - 2) + x] = (uint8_t)(length > 255 ? 255 : length);
        }
    return DF_OK;
}
