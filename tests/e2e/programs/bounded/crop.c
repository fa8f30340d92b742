/* Calls a graph whose inputs have any size up to a bound. The tokens of one wave lie in arrays of their own size. The first
 * argument has the options. */
#include "crop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { H = 48, W = 64, WAVES = 3 };     /* the bounds */

static struct crop_session *session;

static void fail(const char *what)
{
    printf("%s: %s\n", what, crop_error());
    exit(1);
}

/* Row sums of a picture, its columns as rows, and whether the extents are said to be right. */
static void show(const uint8_t *p, size_t h, size_t w, const double *rows, const int32_t *grown, const uint8_t *q, size_t wave)
{
    const size_t *said = crop_extents(session, 4);
    if (!said || said[4 * wave] != w || said[4 * wave + 1] != h)
        fail("extents");
    for (size_t y = 0; y < h; y++) {
        double sum = 0;
        for (size_t x = 0; x < w; x++) {
            sum += (double)(y + 1) * p[y * w + x];
            if (q[x * h + y] != p[y * w + x])
                fail("turned");
        }
        if (rows[y] != sum || grown[2 * y] != (int32_t)h || grown[2 * y + 1] != (int32_t)w)
            fail("rows");
    }
    printf("%zu x %zu\n", h, w);
}

static void fill(uint8_t *p, size_t n, unsigned wave)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(i * 7 + wave);
}

/* The room of the input ends with its token, and the output lies behind it. */
static void one(size_t h, size_t w, const float *weight)
{
    static double rows[H];
    static int32_t grown[2 * H];
    uint8_t *p = malloc(h * w + H * W);
    int64_t seen;
    fill(p, h * w, 0);
    if (crop_run(session, p, h, w, weight, rows, grown, p + h * w, &seen) != CROP_OK)
        fail("run");
    show(p, h, w, rows, grown, p + h * w, 0);
    if (seen != (int64_t)(h * w))
        fail("seen");
    free(p);
}

static void several(const float *weight)
{
    static const size_t h[WAVES] = { 5, 48, 1 }, w[WAVES] = { 64, 64, 3 };
    static uint8_t p[WAVES][H * W], q[WAVES][W * H];
    static double rows[WAVES][H];
    static int32_t grown[WAVES][2 * H];
    static float weights[WAVES][H];
    int64_t seen;
    for (unsigned k = 0; k < WAVES; k++) {
        fill(p[k], h[k] * w[k], k);
        memcpy(weights[k], weight, sizeof weights[k]);
    }
    if (crop_run_waves(session, WAVES, p[0], h, w, weights[0], rows[0], grown[0], q[0], &seen) != CROP_OK)
        fail("run_waves");
    for (unsigned k = 0; k < WAVES; k++)
        show(p[k], h[k], w[k], rows[k], grown[k], q[k], k);
    printf("%lld seen\n", (long long)seen);
}

/* What no call may bring. */
static void refused(const float *weight)
{
    static const size_t h[2] = { 5, 49 }, w[2] = { 3, 3 };
    static uint8_t p[2 * H * W], q[2 * W * H];
    static double rows[2 * H];
    static int32_t grown[4 * H];
    int64_t seen;
    if (crop_run(session, p, 5, 65, weight, rows, grown, q, &seen) != CROP_E_ARGUMENT)
        fail("large");
    puts(crop_error());
    if (crop_run(session, p, 0, 5, weight, rows, grown, q, &seen) != CROP_E_ARGUMENT)
        fail("nothing");
    puts(crop_error());
    if (crop_run_waves(session, 2, p, h, w, weight, rows, grown, q, &seen) != CROP_E_ARGUMENT)
        fail("large in a wave");
    puts(crop_error());
    if (crop_run_waves(session, 2, p, w, NULL, weight, rows, grown, q, &seen) != CROP_E_ARGUMENT)
        fail("none");
    puts(crop_error());
    if (crop_run(session, p, 2, 2, weight, rows, grown, p + 3, &seen) != CROP_E_ARGUMENT)
        fail("in common");
    puts(crop_error());
}

int main(int argc, char **argv)
{
    float weight[H];
    size_t bounds[4];
    for (int y = 0; y < H; y++)
        weight[y] = (float)(y + 1);
    if (argc != 2 || crop_open(argv[1], &session) != CROP_OK)
        return 1;
    if (crop_shape(session, 4, bounds) != CROP_OK || bounds[0] != W || bounds[1] != H)
        fail("shape");
    one(3, 5, weight);
    one(H, W, weight);
    one(1, 1, weight);
    several(weight);
    refused(weight);
    one(7, 9, weight);
    return crop_close(session);
}
