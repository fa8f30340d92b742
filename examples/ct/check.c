/* check.c - holds a volume against the phantom, or against a plain reconstruction in double precision.
 *
 *     check phantom N FILE.f32 POINT HOMOGENEOUS    densities at five points, and the root mean square of what is wrong in homogeneous places
 *     check plain N VIEWS.rct FILE.f32 floor|truncate BOUND    back-projection again, of filtered views: greatest difference, which may be BOUND
 *     check same A.f32 B.f32 BOUND                  greatest difference of two volumes; BOUND 0: they have the same bits
 *     check shape N A.f32 B.f32 BOUND               A and B but for a factor and an offset, within the phantom: what differs, over B's deviation
 *     check vol N A.f32 A.vol                       the .vol is what the densities say
 *     check filter IN.rct OUT.rct                   weights and filters views in double precision, by convolution: IN is raw, OUT is filtered
 *     check loop N VIEWS.rct                        how fast a plain loop in single precision is, in GUPS
 *     check compare A.vol B.vol                     as RabbitCT tells it: root mean square, greatest, PSNR and a histogram of differences
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "phantom.h"

static const double SIDE_MM = 256, PI = 3.141592653589793;

static void give_up(const char *what, const char *path)
{
    fprintf(stderr, "check: %s%s\n", what, path);
    exit(2);
}

/* The whole file; *bytes: how long it is. */
static void *contents(const char *path, size_t *bytes)
{
    struct stat info;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &info) != 0)
        give_up("cannot read ", path);
    void *all = malloc((size_t)info.st_size + 1);
    if (!all || fread(all, 1, (size_t)info.st_size, file) != (size_t)info.st_size)
        give_up("cannot read ", path);
    fclose(file);
    *bytes = (size_t)info.st_size;
    return all;
}

static float *volume(const char *path, int n)
{
    size_t bytes;
    float *v = contents(path, &bytes);
    if (bytes != (size_t)n * (size_t)n * (size_t)n * sizeof *v)
        give_up("the volume has another size: ", path);
    return v;
}

static double centre_of(int n, int i) /* of voxel i, in mm */
{
    return SIDE_MM / n * (i - 0.5 * (n - 1));
}

static int told(const char *what, double value, double bound)
{
    int good = value <= bound;
    printf("%s %s: %.3g, at most %.3g\n", good ? "ok    " : "FAILED", what, value, bound);
    return good ? 0 : 1;
}

/* ---- the phantom ---- */

static double nearest(const float *v, int n, const double *place)
{
    size_t at = 0;
    for (int i = 2; i >= 0; i--)
        at = at * (size_t)n + (size_t)lround(place[i] * PHANTOM_MM * n / SIDE_MM + 0.5 * (n - 1));
    return v[at];
}

/* Has the phantom the same density in all voxels around? */
static int is_homogeneous(const double *truth, int n, int x, int y, int z)
{
    double here = truth[((size_t)z * (size_t)n + (size_t)y) * (size_t)n + (size_t)x];
    for (int c = z - 1; c <= z + 1; c++)
        for (int b = y - 1; b <= y + 1; b++)
            for (int a = x - 1; a <= x + 1; a++)
                if (fabs(truth[((size_t)c * (size_t)n + (size_t)b) * (size_t)n + (size_t)a] - here) > 1e-9)
                    return 0;
    return 1;
}

static double homogeneous_rms(const float *v, int n)
{
    size_t voxels = (size_t)n * (size_t)n * (size_t)n, at = 0, found = 0;
    double *truth = malloc(voxels * sizeof *truth), sum = 0;
    if (!truth)
        give_up("no memory", "");
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                truth[at++] = phantom_at(centre_of(n, x), centre_of(n, y), centre_of(n, z));
    for (int z = n / 2 - 1; z <= n / 2; z++)
        for (int y = 1; y < n - 1; y++)
            for (int x = 1; x < n - 1; x++)
                if (hypot(centre_of(n, x), centre_of(n, y)) < PHANTOM_MM && is_homogeneous(truth, n, x, y, z)) {
                    at = ((size_t)z * (size_t)n + (size_t)y) * (size_t)n + (size_t)x;
                    sum += pow(v[at] - truth[at], 2);
                    found++;
                }
    free(truth);
    return sqrt(sum / (double)found);
}

static int check_phantom(int n, const char *path, double point_bound, double bound)
{
    const double points[5][3] = { { 0, 0, 0 }, { 0, 0.35, -0.15 }, { 0.22, 0, 0 }, { -0.22, 0, 0 }, { 0, -0.45, 0 } };
    float *v = volume(path, n);
    double worst = 0;
    for (unsigned i = 0; i < 5; i++) {
        double truth = phantom_at(points[i][0] * PHANTOM_MM, points[i][1] * PHANTOM_MM, points[i][2] * PHANTOM_MM);
        printf("point %u: %.4f, and the phantom has %.1f\n", i, nearest(v, n, points[i]), truth);
        worst = fmax(worst, fabs(nearest(v, n, points[i]) - truth));
    }
    int bad = told("points", worst, point_bound) + told("homogeneous places", homogeneous_rms(v, n), bound);
    free(v);
    return bad;
}

/* ---- views ---- */

struct views {
    uint32_t width, height, n;
    char *bytes;
    size_t size;
};

static struct views views_of(const char *path)
{
    struct views v;
    v.bytes = contents(path, &v.size);
    memcpy(&v, v.bytes, 12);
    if (v.size != 20 + (size_t)v.n * (96 + 4 * (size_t)v.width * v.height))
        give_up("no whole .rct: ", path);
    return v;
}

/* The image of view i; its matrix goes to a. */
static float *view_of(struct views v, uint32_t i, double *a)
{
    char *record = v.bytes + 20 + (size_t)i * (96 + 4 * (size_t)v.width * v.height);
    memcpy(a, record, 96);
    return (float *)(void *)(record + 96);
}

static double pixel(const float *image, struct views v, long x, long y)
{
    return x < 0 || y < 0 || x >= (long)v.width || y >= (long)v.height ? 0 : (double)image[y * (long)v.width + x];
}

/* FDK's weights and the ramp filter for the circle of phantom.c, straight from the formulas. */
static void filter_row(const float *from, double row, struct views v, double *to, float *out)
{
    const double source = 785, detector = 1200, du = 1248 * 0.308 / v.width, step = du * source / detector;
    const int w = (int)v.width;
    for (int i = 0; i < w; i++) {
        double x = (i - 0.5 * (w - 1)) * step, y = (row - 0.5 * (v.height - 1)) * step;
        to[i] = from[i] * source / sqrt(source * source + x * x + y * y) * PI / v.n;
    }
    for (int i = 0; i < w; i++) {
        double sum = to[i] / (4 * step * step);
        for (int j = (i + 1) % 2; j < w; j += 2)
            sum -= to[j] / pow(PI * step * (i - j), 2);
        out[i] = (float)(sum * step);
    }
}

static int check_filter(const char *in, const char *out)
{
    struct views v = views_of(in);
    double *row = malloc(v.width * sizeof *row), a[12];
    float *kept = malloc(v.width * sizeof *kept);
    if (!row || !kept)
        give_up("no memory", "");
    for (uint32_t i = 0; i < v.n; i++) {
        float *image = view_of(v, i, a);
        for (uint32_t y = 0; y < v.height; y++) {
            memcpy(kept, image + (size_t)y * v.width, v.width * sizeof *kept);
            filter_row(kept, y, v, row, image + (size_t)y * v.width);
        }
    }
    FILE *file = fopen(out, "wb");
    if (!file || fwrite(v.bytes, 1, v.size, file) != v.size || fclose(file) != 0)
        give_up("cannot write ", out);
    return 0;
}

/* The loop of RabbitCT's definition, for one view. */
static void add_view(double *sum, int n, const double *a, const float *image, struct views v, int truncates)
{
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                double x = centre_of(n, i), y = centre_of(n, j), z = centre_of(n, k);
                double w = a[2] * x + a[5] * y + a[8] * z + a[11];
                double p = (a[0] * x + a[3] * y + a[6] * z + a[9]) / w, q = (a[1] * x + a[4] * y + a[7] * z + a[10]) / w;
                long l = truncates ? (long)p : (long)floor(p), m = truncates ? (long)q : (long)floor(q);
                double s = p - (double)l, t = q - (double)m;
                sum[((size_t)k * (size_t)n + (size_t)j) * (size_t)n + (size_t)i] +=
                    ((1 - t) * ((1 - s) * pixel(image, v, l, m) + s * pixel(image, v, l + 1, m)) +
                     t * ((1 - s) * pixel(image, v, l, m + 1) + s * pixel(image, v, l + 1, m + 1))) / (w * w);
            }
}

/* The same loop in single precision, as one would write it first. */
static void add_quickly(float *sum, int n, const double *matrix, const float *image, int width, int height)
{
    float a[12], first = (float)centre_of(n, 0), step = (float)(SIDE_MM / n);
    for (int i = 0; i < 12; i++)
        a[i] = (float)matrix[i];
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                float x = first + (float)i * step, y = first + (float)j * step, z = first + (float)k * step;
                float w = 1 / (a[2] * x + a[5] * y + a[8] * z + a[11]);
                float p = (a[0] * x + a[3] * y + a[6] * z + a[9]) * w, q = (a[1] * x + a[4] * y + a[7] * z + a[10]) * w;
                int l = (int)p, m = (int)q;
                float s = p - (float)l, t = q - (float)m, v[4];
                for (int c = 0; c < 4; c++) {
                    int u = l + c % 2, r = m + c / 2;
                    v[c] = u < 0 || r < 0 || u >= width || r >= height ? 0 : image[r * width + u];
                }
                sum[((size_t)k * (size_t)n + (size_t)j) * (size_t)n + (size_t)i] +=
                    w * w * ((1 - t) * ((1 - s) * v[0] + s * v[1]) + t * ((1 - s) * v[2] + s * v[3]));
            }
}

static int time_loop(int n, const char *rct)
{
    struct views v = views_of(rct);
    float *sum = calloc((size_t)n * (size_t)n * (size_t)n, sizeof *sum);
    double a[12];
    if (!sum)
        give_up("no memory", "");
    clock_t begin = clock();
    for (uint32_t i = 0; i < v.n; i++) {
        const float *image = view_of(v, i, a);
        add_quickly(sum, n, a, image, (int)v.width, (int)v.height);
    }
    double s = (double)(clock() - begin) / CLOCKS_PER_SEC;
    printf("a plain loop: %.3f GUPS, sum %g\n", (double)v.n * n * n * n / s / 1073741824.0, (double)sum[0]);
    return 0;
}

static double greatest_difference(const float *a, const double *b, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fabs((double)a[i] - b[i]) > most || isnan(a[i]) ? fabs((double)a[i] - b[i]) : most;
    return most;
}

static int check_plain(int n, const char *rct, const char *path, const char *rule, double bound)
{
    size_t voxels = (size_t)n * (size_t)n * (size_t)n;
    struct views v = views_of(rct);
    float *got = volume(path, n);
    double *sum = calloc(voxels, sizeof *sum), a[12];
    if (!sum)
        give_up("no memory", "");
    for (uint32_t i = 0; i < v.n; i++) {
        const float *image = view_of(v, i, a);
        add_view(sum, n, a, image, v, strcmp(rule, "truncate") == 0);
    }
    return told("back-projection in double precision differs by", greatest_difference(got, sum, voxels), bound);
}

/* ---- two volumes ---- */

static int check_same(const char *one, const char *other, double bound)
{
    size_t bytes, more;
    float *a = contents(one, &bytes), *b = contents(other, &more);
    double most = 0;
    if (bytes != more || !bytes)
        give_up("the volumes have unlike sizes: ", other);
    for (size_t i = 0; i < bytes / sizeof *a; i++) {
        double apart = fabs((double)a[i] - (double)b[i]);
        most = apart > most || isnan(apart) ? apart : most;
    }
    if (bound == 0 && memcmp(a, b, bytes) != 0)
        most = most > 0 ? most : 1;
    return told("volumes differ by", most, bound);
}

static int check_shape(int n, const char *one, const char *other, double bound)
{
    float *a = volume(one, n), *b = volume(other, n);
    double count = 0, sa = 0, sb = 0, saa = 0, sab = 0, sbb = 0;
    for (size_t i = 0; i < (size_t)n * (size_t)n * (size_t)n; i++) {
        double x = centre_of(n, (int)(i % (size_t)n)), y = centre_of(n, (int)(i / (size_t)n % (size_t)n)),
               z = centre_of(n, (int)(i / (size_t)n / (size_t)n));
        if (x * x + y * y > PHANTOM_MM * PHANTOM_MM || fabs(z) > PHANTOM_MM / 2)
            continue;
        count++;
        sa += a[i], sb += b[i];
        saa += (double)a[i] * a[i], sab += (double)a[i] * b[i], sbb += (double)b[i] * b[i];
    }
    double vaa = saa - sa * sa / count, vab = sab - sa * sb / count, vbb = sbb - sb * sb / count;
    return told("shapes differ by", sqrt(fmax(0, 1 - vab * vab / (vaa * vbb))), bound);
}

static int check_vol(int n, const char *densities, const char *path)
{
    size_t bytes, voxels = (size_t)n * (size_t)n * (size_t)n, wrong = 0;
    const float *v = volume(densities, n);
    uint16_t *hu = contents(path, &bytes);
    if (bytes != voxels * sizeof *hu)
        give_up("the volume has another size: ", path);
    for (size_t i = 0; i < voxels; i++) {
        double want = v[i] > 0 ? round((double)v[i] * 2000 + 100) : 0;
        wrong += fabs(fmin(want, 4095) - hu[i]) > (v[i] > 0 ? 1 : 0);
    }
    return told("voxels of the .vol that are wrong", (double)wrong, 0);
}

static int compare(const char *one, const char *other)
{
    size_t bytes, more, histogram[11] = { 0 };
    uint16_t *a = contents(one, &bytes), *b = contents(other, &more);
    double sum = 0, most = 0;
    if (bytes != more || !bytes)
        give_up("the volumes have unlike sizes: ", other);
    for (size_t i = 0; i < bytes / 2; i++) {
        double apart = abs(a[i] - b[i]);
        sum += apart * apart;
        most = fmax(most, apart);
        histogram[apart < 10 ? (int)apart : 10]++;
    }
    sum /= (double)(bytes / 2);
    printf("root mean square %.4f HU, greatest %.0f HU, PSNR %.1f dB\n", sqrt(sum), most, 10 * log10(4095.0 * 4095 / sum));
    for (int i = 0; i < 11; i++)
        printf("%s%d HU: %zu voxels\n", i == 10 ? "at least " : "", i, histogram[i]);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "phantom") == 0 && argc == 6)
        return check_phantom(atoi(argv[2]), argv[3], atof(argv[4]), atof(argv[5])) != 0;
    if (strcmp(what, "plain") == 0 && argc == 7)
        return check_plain(atoi(argv[2]), argv[3], argv[4], argv[5], atof(argv[6]));
    if (strcmp(what, "same") == 0 && argc == 5)
        return check_same(argv[2], argv[3], atof(argv[4]));
    if (strcmp(what, "shape") == 0 && argc == 6)
        return check_shape(atoi(argv[2]), argv[3], argv[4], atof(argv[5]));
    if (strcmp(what, "vol") == 0 && argc == 5)
        return check_vol(atoi(argv[2]), argv[3], argv[4]);
    if (strcmp(what, "filter") == 0 && argc == 4)
        return check_filter(argv[2], argv[3]);
    if (strcmp(what, "loop") == 0 && argc == 4)
        return time_loop(atoi(argv[2]), argv[3]);
    if (strcmp(what, "compare") == 0 && argc == 4)
        return compare(argv[2], argv[3]);
    fprintf(stderr, "usage: the head of check.c\n");
    return 2;
}
