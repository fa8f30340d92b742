/* hand.c - Harris as a person writes it in C when it has to be fast: one pass over the picture, rows of the gradient in
 * a ring of three, sums of columns before sums of rows. It says what gcc makes of this shape, whoever writes it.
 */
#include <stdlib.h>
#include <string.h>

#include "contender.h"

static __attribute__((noinline)) void gradient(size_t w, const float *restrict a, const float *restrict b,
                                               const float *restrict c, float *restrict dx, float *restrict dy)
{
    for (size_t x = 0; x + 2 < w; x++) {
        dx[x] = ((a[x + 2] - a[x]) + 2 * (b[x + 2] - b[x]) + (c[x + 2] - c[x])) * (1.0f / 12);
        dy[x] = ((c[x] - a[x]) + 2 * (c[x + 1] - a[x + 1]) + (c[x + 2] - a[x + 2])) * (1.0f / 12);
    }
}

static __attribute__((noinline)) void columns(size_t w, float *const dx[3], float *const dy[3], float *restrict xx,
                                              float *restrict xy, float *restrict yy)
{
    const float *restrict x0 = dx[0], *restrict x1 = dx[1], *restrict x2 = dx[2];
    const float *restrict y0 = dy[0], *restrict y1 = dy[1], *restrict y2 = dy[2];
    for (size_t x = 0; x + 2 < w; x++) {
        xx[x] = x0[x] * x0[x] + x1[x] * x1[x] + x2[x] * x2[x];
        xy[x] = x0[x] * y0[x] + x1[x] * y1[x] + x2[x] * y2[x];
        yy[x] = y0[x] * y0[x] + y1[x] * y1[x] + y2[x] * y2[x];
    }
}

static __attribute__((noinline)) void corner(size_t w, const float *restrict xx, const float *restrict xy,
                                             const float *restrict yy, float *restrict out)
{
    for (size_t x = 0; x + 4 < w; x++) {
        float a = xx[x] + xx[x + 1] + xx[x + 2], b = xy[x] + xy[x + 1] + xy[x + 2], c = yy[x] + yy[x + 1] + yy[x + 2];
        out[x] = a * c - b * b - HARRIS_K * (a + c) * (a + c);
    }
}

static int harris(const void *in, size_t h, size_t w, void *out)
{
    const float *image = in;
    float *rows = malloc(9 * w * sizeof *rows), *dx[3], *dy[3];
    if (!rows)
        return 1;
    for (size_t y = 0; y + 2 < h; y++) {
        for (size_t i = 0; i < 3; i++) {
            dx[i] = rows + (y + i + 1) % 3 * w;
            dy[i] = dx[i] + 3 * w;
        }
        gradient(w, image + y * w, image + (y + 1) * w, image + (y + 2) * w, dx[2], dy[2]);
        if (y < 2)
            continue;
        columns(w, dx, dy, rows + 6 * w, rows + 7 * w, rows + 8 * w);
        corner(w, rows + 6 * w, rows + 7 * w, rows + 8 * w, (float *)out + (y - 2) * (w - 4));
    }
    free(rows);
    return 0;
}

const struct contender *contenders(const char *filter)
{
    static const struct contender for_harris[] = { { "C by hand", harris }, { NULL, NULL } };
    return strcmp(filter, "harris") == 0 ? for_harris : for_harris + 1;
}
