/* check.c - nbia against the definitions, in double precision and by direct loops.
 *     check SLIDE.png TILE DUMPS MODEL.npy CLASSES.csv SURE
 * DUMPS is the folder of `nbia --rate=1 --dump='*'`: every tile was analysed at all resolutions. CLASSES.csv is of a run without a
 * rate. Compares L* (1e-3 absolute), levels (1 of 10,000 may be beside it, where a value is at the edge of a level), the counts
 * (exact), the features (1e-6 relative) and the classes (exact). Exit status 1 if anything differs.
 */
#include <math.h>
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS 32
#define FEATURES 28

static int failures;

static void verdict(int good, const char *what, double figure)
{
    printf("%s %s (%.3g)\n", good ? "ok" : "FAILED", what, figure);
    failures += !good;
}

static void *need(void *p)
{
    if (p)
        return p;
    fprintf(stderr, "check: no memory, or a file is missing\n");
    exit(1);
}

/* The data of a .npy file of version 1. */
static void *load(const char *path, size_t bytes)
{
    uint8_t head[10];
    void *data = need(malloc(bytes));
    FILE *file = fopen(path, "rb");
    if (!file || fread(head, 1, 10, file) != 10 || fseek(file, 10 + head[8] + 256 * head[9], SEEK_SET) != 0 ||
        fread(data, 1, bytes, file) != bytes) {
        fprintf(stderr, "check: cannot read %zu bytes of data from %s\n", bytes, path);
        exit(1);
    }
    fclose(file);
    return data;
}

static void *dumped(const char *folder, int resolution, const char *port, long wave, size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/main.analyse#%d.%s.%ld.npy", folder, resolution + 1, port, wave);
    return load(path, bytes);
}

/* ---- a tile ---- */

static long inside(long i, long n) { return i < n ? i : n - 1; } /* the edge's pixels are repeated */

static uint8_t *tile_of(const uint8_t *rgb, long height, long width, long top, long left, long n)
{
    uint8_t *t = need(malloc((size_t)(n * n * 3)));
    for (long y = 0; y < n; y++)
        for (long x = 0; x < n; x++)
            memcpy(t + 3 * (y * n + x), rgb + 3 * (inside(top + y, height) * width + inside(left + x, width)), 3);
    return t;
}

/* A quarter of the resolution, of a tile of n x n. */
static uint8_t *quarter(const uint8_t *t, long n)
{
    const long m = n / 4;
    uint8_t *q = need(malloc((size_t)(m * m * 3) + 1));
    for (long i = 0; i < m * m * 3; i++) {
        int sum = 8;
        for (int k = 0; k < 16; k++)
            sum += t[3 * ((4 * (i / 3 / m) + k / 4) * n + 4 * (i / 3 % m) + k % 4) + i % 3];
        q[i] = (uint8_t)(sum / 16);
    }
    return q;
}

/* ---- L*a*b* of sRGB with the white D65 (CIE 15; IEC 61966-2-1) ---- */

static double linear(uint8_t v) { return v / 255.0 <= 0.04045 ? v / 255.0 / 12.92 : pow((v / 255.0 + 0.055) / 1.055, 2.4); }

static double curve(double v)
{
    const double d = 6.0 / 29;
    return v > d * d * d ? cbrt(v) : v / (3 * d * d) + 4.0 / 29;
}

static void lab(const uint8_t *p, double out[3])
{
    const double r = linear(p[0]), g = linear(p[1]), b = linear(p[2]);
    const double x = curve((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047),
                 y = curve(0.2126729 * r + 0.7151522 * g + 0.0721750 * b),
                 z = curve((0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883);
    out[0] = 116 * y - 16;
    out[1] = 500 * (x - y);
    out[2] = 200 * (y - z);
}

static int level(double part)
{
    const double v = floor(part * LEVELS);
    return v < 0 ? 0 : v > LEVELS - 1 ? LEVELS - 1 : (int)v;
}

/* ---- features, of the levels and of L* ---- */

/* `q` is the first row of a plane; the rows of the three planes follow each other. */
static void direction(const uint8_t *q, long n, int below, int right, double f[6])
{
    static double p[LEVELS][LEVELS];
    double all = 0, mean = 0, variance = 0, product = 0, square = 0;
    memset(p, 0, sizeof p);
    for (long y = 0; y + below < n; y++)
        for (long x = 0; x < n; x++)
            if (x + right >= 0 && x + right < n) {
                const int i = q[3 * y * n + x], j = q[3 * (y + below) * n + x + right];
                p[i][j]++, p[j][i]++, all += 2;
            }
    for (int i = 0; i < LEVELS; i++)
        for (int j = 0; j < LEVELS; j++) {
            p[i][j] /= all;
            mean += i * p[i][j];
        }
    for (int i = 0; i < LEVELS; i++)
        for (int j = 0; j < LEVELS; j++) {
            variance += (i - mean) * (i - mean) * p[i][j];
            product += (i - mean) * (j - mean) * p[i][j];
            square += p[i][j] * p[i][j];
            f[0] += (i - j) * (i - j) * p[i][j] / 4;
            f[3] += p[i][j] / (1 + (i - j) * (i - j)) / 4;
            f[4] -= p[i][j] > 0 ? p[i][j] * log(p[i][j]) / 4 : 0;
        }
    f[1] += (variance < 1e-30 ? 1 : product / variance) / 4;
    f[2] += sqrt(square) / 4;
    f[5] += mean / 4;
}

static int pattern(const float *l, long n, long y, long x)
{
    static const int below[8] = { 0, -1, -1, -1, 0, 1, 1, 1 }, right[8] = { 1, 1, 0, -1, -1, -1, 0, 1 };
    float d[8];
    int ones = 0, changes = 0;
    for (int k = 0; k < 8; k++) {
        const long v = y + below[k], u = x + right[k];
        d[k] = (v < 0 || u < 0 || v >= n || u >= n ? 0 : l[v * n + u]) - l[y * n + x];
    }
    int at_least[8];
    for (int k = 0; k < 8; k++) { /* on a diagonal the two straight neighbours beside it weigh (1 - r) r each, for r = sqrt(1/2) */
        const float *vertical = below[k] < 0 ? &d[2] : &d[6], *horizontal = right[k] > 0 ? &d[0] : &d[4];
        at_least[k] = k % 2 ? 0.2071068f * (*vertical + *horizontal) + 0.5f * d[k] >= 0 : d[k] >= 0;
        ones += at_least[k];
    }
    for (int k = 0; k < 8; k++)
        changes += at_least[k] != at_least[(k + 1) % 8];
    return changes <= 2 ? ones : 9;
}

static void features(const uint8_t *q, const float *l, long n, double f[FEATURES])
{
    static const int below[4] = { 0, 1, 1, 1 }, right[4] = { 1, 1, 0, -1 };
    memset(f, 0, FEATURES * sizeof *f);
    for (int c = 0; c < 3; c++)
        for (int a = 0; a < 4; a++)
            direction(q + c * n, n, below[a], right[a], f + 6 * c);
    for (long i = 0; i < n * n; i++)
        f[18 + pattern(l, n, i / n, i % n)] += 1.0 / (double)(n * n);
}

/* ---- classes ---- */

static int classify(const double *v, const double (*model)[FEATURES], double *sure)
{
    double far[3] = { 0 };
    int nearest = 0;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < FEATURES; i++)
            far[k] += (v[i] - model[k][i]) / model[3][i] * ((v[i] - model[k][i]) / model[3][i]);
    for (int k = 1; k < 3; k++)
        nearest = far[k] < far[nearest] ? k : nearest;
    double second = INFINITY;
    for (int k = 0; k < 3; k++)
        second = k != nearest && far[k] < second ? far[k] : second;
    *sure = (second - far[nearest]) / (second + far[nearest]);
    return nearest;
}

struct worst {
    double lightness, levels, features;
};

static double off(double a, double b) { return fabs(a - b) / fmax(fabs(b), 1e-3); }

static void compare(const char *folder, int resolution, long wave, const uint8_t *t, long n, struct worst *worst, double **v)
{
    const size_t pixels = (size_t)(n * n);
    float *l = dumped(folder, resolution, "lab.l", wave, 4 * pixels);
    uint8_t *q = dumped(folder, resolution, "lab.q", wave, 3 * pixels);
    double f[FEATURES], beside = 0;
    *v = dumped(folder, resolution, "together.v", wave, sizeof f);
    for (size_t i = 0; i < pixels; i++) {
        double w[3];
        lab(t + 3 * i, w);
        worst->lightness = fmax(worst->lightness, fabs(l[i] - w[0]));
        const uint8_t *p = q + 3 * (i / (size_t)n * (size_t)n) + i % (size_t)n;
        beside += (p[0] != level(w[0] / 100)) + (p[n] != level((w[1] + 128) / 256)) + (p[2 * n] != level((w[2] + 128) / 256));
    }
    worst->levels = fmax(worst->levels, beside / (3.0 * (double)pixels));
    features(q, l, n, f);
    for (int i = 0; i < FEATURES; i++)
        worst->features = fmax(worst->features, off((*v)[i], f[i]));
    free(l);
    free(q);
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: check SLIDE.png TILE DUMPS MODEL.npy CLASSES.csv SURE\n");
        return 2;
    }
    png_image image = { .version = PNG_IMAGE_VERSION };
    if (!png_image_begin_read_from_file(&image, argv[1]))
        return fprintf(stderr, "check: cannot read %s\n", argv[1]), 1;
    image.format = PNG_FORMAT_RGB;
    const long height = image.height, width = image.width, n = atol(argv[2]);
    uint8_t *rgb = need(malloc(PNG_IMAGE_SIZE(image)));
    if (n < 16 || !png_image_finish_read(&image, NULL, rgb, 0, NULL))
        return fprintf(stderr, "check: cannot read %s\n", argv[1]), 1;
    const double(*model)[4][FEATURES] = load(argv[4], 3 * sizeof *model);
    const double limit = atof(argv[6]);
    FILE *csv = need(fopen(argv[5], "r"));
    char line[256];
    need(fgets(line, sizeof line, csv));
    struct worst worst = { 0 };
    long wave = 0, wrong = 0, looked[3] = { 0 };
    for (long top = 0; top < height; top += n)
        for (long left = 0; left < width; left += n, wave++) {
            uint8_t *t[3] = { NULL, NULL, tile_of(rgb, height, width, top, left, n) };
            t[1] = quarter(t[2], n);
            t[0] = quarter(t[1], n / 4);
            double sure = -1, said[6] = { 0 };
            int kind = -1, resolution = -1;
            for (int r = 0; r < 3; r++) {
                double *v;
                compare(argv[3], r, wave, t[r], r == 0 ? n / 4 / 4 : r == 1 ? n / 4 : n, &worst, &v);
                if (r == 0 || sure < limit) {
                    kind = classify(v, model[r], &sure);
                    resolution = r;
                }
                free(v);
                free(t[r]);
            }
            looked[resolution]++;
            if (!fgets(line, sizeof line, csv) || sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf", said, said + 1, said + 2, said + 3,
                                                         said + 4, said + 5) != 6)
                wrong++;
            else
                wrong += said[0] != (double)wave || said[1] != (double)top || said[2] != (double)left || said[3] != kind ||
                         fabs(said[4] - sure) > 1e-9 || said[5] != resolution;
        }
    wrong += fgets(line, sizeof line, csv) != NULL;
    verdict(worst.lightness <= 1e-3, "L*: largest difference", worst.lightness);
    verdict(worst.levels <= 1e-4, "levels: part that is beside", worst.levels);
    verdict(worst.features <= 1e-6, "features: largest relative difference", worst.features);
    verdict(wrong == 0, "classes: tiles that differ", (double)wrong);
    printf("%ld tiles: %ld, %ld and %ld were last looked at in the three resolutions\n", wave, looked[0], looked[1], looked[2]);
    fclose(csv);
    free((void *)model);
    free(rgb);
    return failures > 0;
}
