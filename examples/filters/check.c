/* check.c - checks the results of the filters by a second way: check FILTER IN.png OUT.png. Each stage of a filter is a
 * loop over the whole picture, written from the definition, one stage after the other. Prints how many samples differ and
 * by how much at most. Exit status 1 if one differs by more than the filter's tolerance:
 *
 *   harris, unsharp, bilateral, camera   one level: sums are taken in another order, exp and pow are the C library's
 *   sobel, canny                         none
 *
 * Compile it without contraction (-ffp-contract=off): where a filter decides by comparing floats, these are the same here.
 */
#include <math.h>
#include <string.h>

#include "../photo/check.h"

struct plane {
    int h, w;
    float *v;
};

static struct plane plane(int h, int w)
{
    struct plane p = { h, w, calloc((size_t)h * (size_t)w, sizeof(float)) };
    if (!p.v) {
        fprintf(stderr, "check: no memory for %d x %d\n", w, h);
        exit(1);
    }
    return p;
}

static float *at(struct plane p, int y, int x) { return &p.v[(long)y * p.w + x]; }
static float mirrored(struct plane p, int y, int x) { return *at(p, reflect(y, p.h), reflect(x, p.w)); }
static int inside(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }
static float clamped(struct plane p, int y, int x) { return *at(p, inside(y, p.h), inside(x, p.w)); }
static float least(float a, float b) { return a < b ? a : b; }
static float most(float a, float b) { return a > b ? a : b; }
static uint8_t level(float v) { return (uint8_t)(v > 0 ? v < 255 ? rintf(v) : 255 : 0); }

#define EACH(p) for (int y = 0; y < (p).h; y++) for (int x = 0; x < (p).w; x++)

static float luma(const uint8_t *t) { return 0.299f * t[0] + 0.587f * t[1] + 0.114f * t[2]; }

/* One channel (0 to 2) or the luma (3), with `halo` mirrored pixels around it. */
static struct plane input(const uint8_t *rgb, int h, int w, int channel, int halo)
{
    struct plane p = plane(h + 2 * halo, w + 2 * halo);
    EACH(p) {
        const uint8_t *t = rgb + 3 * ((long)reflect(y - halo, h) * w + reflect(x - halo, w));
        *at(p, y, x) = channel == 3 ? luma(t) : t[channel];
    }
    return p;
}

static const float binomial[5] = { 1, 4, 6, 4, 1 };

static float five_by_five(struct plane p, int y, int x) /* around y, x; mirrored */
{
    float sum = 0;
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++)
            sum += binomial[j + 2] * binomial[i + 2] * mirrored(p, y + j, x + i);
    return sum;
}

/* ---- the filters: RGB in, `out` has as many channels as the filter's result ---- */

static void harris(const uint8_t *rgb, int h, int w, uint8_t *out)
{
    struct plane g = input(rgb, h, w, 3, 2), dx = plane(h + 2, w + 2), dy = plane(h + 2, w + 2);
    EACH(g)
        *at(g, y, x) /= 255;
    EACH(dx) {
        float sx = 0, sy = 0;
        for (int i = 0; i < 3; i++) {
            sx += (i == 1 ? 2 : 1) * (*at(g, y + i, x + 2) - *at(g, y + i, x));
            sy += (i == 1 ? 2 : 1) * (*at(g, y + 2, x + i) - *at(g, y, x + i));
        }
        *at(dx, y, x) = sx / 12;
        *at(dy, y, x) = sy / 12;
    }
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            double a = 0, b = 0, c = 0;
            for (int j = 0; j < 9; j++) {
                double u = *at(dx, y + j / 3, x + j % 3), v = *at(dy, y + j / 3, x + j % 3);
                a += u * u, b += u * v, c += v * v;
            }
            double r = a * c - b * b - 0.04 * (a + c) * (a + c);
            out[(long)y * w + x] = level((float)(2048 * sqrt(r > 0 ? r : 0)));
        }
}

static void unsharp(const uint8_t *rgb, int h, int w, uint8_t *out)
{
    for (int c = 0; c < 3; c++) {
        struct plane p = input(rgb, h, w, c, 0);
        EACH(p) {
            float v = *at(p, y, x) / 255, b = five_by_five(p, y, x) / 256 / 255;
            out[3 * ((long)y * w + x) + c] = level(255 * (fabsf(v - b) < 0.001f ? v : 4 * v - 3 * b));
        }
    }
}

static void bilateral(const uint8_t *rgb, int h, int w, uint8_t *out)
{
    struct plane g = input(rgb, h, w, 3, 0);
    EACH(g) {
        double weights = 0, sum = 0;
        for (int j = -2; j <= 2; j++)
            for (int i = -2; i <= 2; i++) {
                double v = mirrored(g, y + j, x + i) / 255.0, far = v - *at(g, y, x) / 255.0;
                double weight = exp(-(i * i + j * j) / 8.0 - far * far / 0.02);
                if (i * i + j * j <= 4)
                    weights += weight, sum += weight * v;
            }
        out[(long)y * w + x] = level((float)(255 * sum / weights));
    }
}

/* Grey levels, blurred, as sobel.df and canny.df begin. */
static struct plane blurred(const uint8_t *rgb, int h, int w)
{
    struct plane g = input(rgb, h, w, 3, 0), b = plane(h, w);
    EACH(g)
        *at(g, y, x) = level(*at(g, y, x));
    EACH(b)
        *at(b, y, x) = floorf((five_by_five(g, y, x) + 128) / 256);
    return b;
}

static void gradient(struct plane b, float pixel(struct plane, int, int), int y, int x, int *dx, int *dy)
{
    *dx = *dy = 0;
    for (int i = -1; i <= 1; i++) {
        *dx += (i ? 1 : 2) * (int)(pixel(b, y + i, x + 1) - pixel(b, y + i, x - 1));
        *dy += (i ? 1 : 2) * (int)(pixel(b, y + 1, x + i) - pixel(b, y - 1, x + i));
    }
}

static void sobel(const uint8_t *rgb, int h, int w, uint8_t *out)
{
    struct plane b = blurred(rgb, h, w);
    EACH(b) {
        int dx, dy;
        gradient(b, mirrored, y, x, &dx, &dy);
        out[(long)y * w + x] = level(sqrtf((float)(dx * dx + dy * dy)));
    }
}

/* The squared length of the gradient; outside it is 0. */
static int steep(struct plane b, int y, int x)
{
    int dx, dy;
    if (y < 0 || x < 0 || y >= b.h || x >= b.w)
        return 0;
    gradient(b, clamped, y, x, &dx, &dy);
    return dx * dx + dy * dy;
}

/* The largest along its gradient: 0, 45, 90 or 135 degrees, whichever is nearest. */
static int is_ridge(struct plane b, int y, int x)
{
    int dx, dy, here = steep(b, y, x);
    gradient(b, clamped, y, x, &dx, &dy);
    int64_t across = abs(dx), along = (int64_t)abs(dy) << 15;
    if (along < across * 13573)
        return here > steep(b, y, x - 1) && here >= steep(b, y, x + 1);
    if (along > across * 13573 + (across << 16))
        return here > steep(b, y - 1, x) && here >= steep(b, y + 1, x);
    int side = (dx < 0) != (dy < 0) ? 1 : -1;
    return here > steep(b, y - 1, x + side) && here > steep(b, y + 1, x - side);
}

static void canny(const uint8_t *rgb, int h, int w, uint8_t *out)
{
    struct plane b = blurred(rgb, h, w);
    enum { LOW = 40, HIGH = 90 };
    EACH(b) {
        int s = steep(b, y, x);
        out[(long)y * w + x] = s > LOW * LOW && is_ridge(b, y, x) ? s > HIGH * HIGH ? 255 : 1 : 0;
    }
    for (int grown = 1; grown;) {       /* weak edges that touch a kept one, until there are no more */
        grown = 0;
        EACH(b)
            for (int j = 0; j < 9 && out[(long)y * w + x] == 1; j++) {
                int v = y + j / 3 - 1, u = x + j % 3 - 1;
                if (v >= 0 && u >= 0 && v < h && u < w && out[(long)v * w + u] == 255)
                    out[(long)y * w + x] = 255, grown = 1;
            }
    }
    EACH(b)
        out[(long)y * w + x] = out[(long)y * w + x] == 255 ? 255 : 0;
}

/* ---- camera: the planes are as large as the picture and its halo; what a stage cannot know stays 0 and unread ---- */

static const float gains[2][2] = { { 1.9f, 1 }, { 1, 1.6f } };

static struct plane seen(const uint8_t *rgb, int h, int w) /* stages 1 and 2 */
{
    struct plane c[3] = { input(rgb, h, w, 0, 6), input(rgb, h, w, 1, 6), input(rgb, h, w, 2, 6) },
                 raw = plane(h + 12, w + 12), l = plane(h + 12, w + 12);
    EACH(raw)
        *at(raw, y, x) = rintf(64 + 959 * powf(*at(c[y % 2 + x % 2], y, x) / 255, 2.2f) / gains[y % 2][x % 2]);
    EACH(l) {
        if (y < 2 || x < 2 || y >= l.h - 2 || x >= l.w - 2)
            continue;
        float u = *at(raw, y - 2, x), d = *at(raw, y + 2, x), a = *at(raw, y, x - 2), b = *at(raw, y, x + 2);
        float v = least(most(*at(raw, y, x), least(least(u, d), least(a, b))), most(most(u, d), most(a, b)));
        *at(l, y, x) = least(gains[y % 2][x % 2] * most(v - 64, 0) / 959, 1);
    }
    return l;
}

static struct plane greens(struct plane l) /* stage 3 */
{
    struct plane g = plane(l.h, l.w);
    EACH(g) {
        if (y < 3 || x < 3 || y >= l.h - 3 || x >= l.w - 3)
            continue;
        float u = *at(l, y - 1, x), d = *at(l, y + 1, x), a = *at(l, y, x - 1), b = *at(l, y, x + 1);
        *at(g, y, x) = (y + x) % 2 ? *at(l, y, x) : fabsf(a - b) < fabsf(u - d) ? (a + b) / 2 : (u + d) / 2;
    }
    return g;
}

static struct plane others(struct plane l, struct plane g, int parity) /* stages 4 to 6: 0 red, 1 blue */
{
    struct plane k = plane(l.h, l.w), c = plane(l.h, l.w);
    EACH(k)
        *at(k, y, x) = *at(l, y, x) - *at(g, y, x);
    EACH(c) {
        if (y < 4 || x < 4 || y >= l.h - 4 || x >= l.w - 4)
            continue;
        int row = y % 2 == parity, column = x % 2 == parity;
        float near = row && column ? *at(k, y, x)
                   : row           ? (*at(k, y, x - 1) + *at(k, y, x + 1)) / 2
                   : column        ? (*at(k, y - 1, x) + *at(k, y + 1, x)) / 2
                                   : (*at(k, y - 1, x - 1) + *at(k, y - 1, x + 1) + *at(k, y + 1, x - 1) + *at(k, y + 1, x + 1)) / 4;
        *at(c, y, x) = *at(g, y, x) + near;
    }
    return c;
}

static void camera(const uint8_t *rgb, int h, int w, uint8_t *out)
{
    static const float matrix[3][3] = { { 1.6f, -0.5f, -0.1f }, { -0.2f, 1.4f, -0.2f }, { -0.1f, -0.6f, 1.7f } };
    struct plane l = seen(rgb, h, w), g = greens(l), r = others(l, g, 0), b = others(l, g, 1), c[3], v = plane(l.h, l.w);
    for (int i = 0; i < 3; i++) {
        c[i] = plane(l.h, l.w);
        EACH(c[i])
            *at(c[i], y, x) = matrix[i][0] * *at(r, y, x) + matrix[i][1] * *at(g, y, x) + matrix[i][2] * *at(b, y, x);
    }
    EACH(v)
        *at(v, y, x) = 0.299f * *at(c[0], y, x) + 0.587f * *at(c[1], y, x) + 0.114f * *at(c[2], y, x);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float far = *at(v, y + 6, x + 6) - five_by_five(v, y + 6, x + 6) / 256;
            for (int i = 0; i < 3; i++) {
                float s = *at(c[i], y + 6, x + 6) + (fabsf(far) < 0.004f ? 0 : far);
                s = rintf(1023 * least(most(s, 0), 1));
                out[3 * ((long)y * w + x) + i] = level(255 * powf(s / 1023, (float)(1 / 2.2)));
            }
        }
}

static const struct filter {
    const char *name;
    void (*run)(const uint8_t *rgb, int h, int w, uint8_t *out);
    int channels, tolerance;
} filters[] = { { "harris", harris, 1, 1 }, { "unsharp", unsharp, 3, 1 }, { "bilateral", bilateral, 1, 1 },
                { "sobel", sobel, 1, 0 },   { "canny", canny, 1, 0 },     { "camera", camera, 3, 1 } };

int main(int argc, char **argv)
{
    const struct filter *f = filters, *end = filters + sizeof filters / sizeof *filters;
    while (argc == 4 && f < end && strcmp(f->name, argv[1]) != 0)
        f++;
    if (argc != 4 || f == end) {
        fprintf(stderr, "usage: check FILTER IN.png OUT.png   (harris, unsharp, bilateral, sobel, canny, camera)\n");
        return 2;
    }
    int width, height, w, h, largest = 0;
    uint8_t *rgb = load(argv[2], PNG_FORMAT_RGB, &width, &height),
            *out = load(argv[3], f->channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY, &w, &h);
    if (w != width || h != height) {
        printf("sizes differ: %d x %d in, %d x %d out\n", width, height, w, h);
        return 1;
    }
    long n = (long)f->channels * width * height, differ = 0;
    uint8_t *right = malloc((size_t)n);
    if (!right)
        return 1;
    f->run(rgb, height, width, right);
    for (long i = 0; i < n; i++) {
        int d = abs(right[i] - out[i]);
        differ += d > 0;
        largest = d > largest ? d : largest;
    }
    printf("%s, %d x %d: %ld samples differ, by %d at most\n", f->name, width, height, differ, largest);
    return largest > f->tolerance;
}
