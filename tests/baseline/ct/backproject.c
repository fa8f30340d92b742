/* backproject.c - back-projection on the CPU.
 *
 * A row of the volume is done in chunks, and each chunk for all views of the wave. First the places and weights on the detector of all voxels of a chunk are
 * computed, then pixels are read and blended, eight voxels at a time: one load of 16 bytes has the four pixels of a voxel, because each
 * pixel lies beside the one below it.
 *
 * Places:  Sums are in single precision, and relative to a pixel near the middle of the chunk, which is found in double precision. So they are as
 *          precise as if all were computed in double precision, for what a chunk covers is small.
 * Rule:    floor: pixels outside of the image are 0. truncate: u and v become integers by truncation, as in LolaBunny; between -1
 *          and 0 a pixel is extrapolated.
 * Bits:    A voxel's arithmetic depends on its place and its views alone. So parts and batches do not change it.
 */
#include <math.h>
#include <string.h>

#define FOR_EACH_ISA __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#if !defined __x86_64__ || defined __clang__
#undef FOR_EACH_ISA
#define FOR_EACH_ISA
#endif

enum { CHUNK = 128, LANES = 16, EDGE = 2 }; /* EDGE: zeros around an image */

typedef float four __attribute__((vector_size(16)));
typedef float eight __attribute__((vector_size(32)));

struct image {
    const float *pairs;                 /* pixel (row, column) at 2 * (row * c + column) */
    int m, c;                           /* with the edge */
};

/* The four pixels at p and those at q. A macro, so that it is compiled for the instructions of the function that has it. */
#define BOTH(p, q)                                                                                                                         \
    ({                                                                                                                                     \
        four of_p, of_q;                                                                                                                   \
        memcpy(&of_p, p, sizeof of_p);                                                                                                     \
        memcpy(&of_q, q, sizeof of_q);                                                                                                     \
        __builtin_shufflevector(of_p, of_q, 0, 1, 2, 3, 4, 5, 6, 7);                                                                       \
    })

/* Numerators and denominator at a voxel, and what they change by from a voxel to the next. */
struct line {
    double u, v, w, du, dv, dw;
};

/* Adds what a view adds to the first n voxels of the line. `to` has a whole chunk, and what is behind the n means nothing. */
FOR_EACH_ISA static void add_chunk(float *restrict to, int n, struct line l, struct image image, float shift)
{
    float weight[CHUNK], alpha[CHUNK], beta[CHUNK];
    int at[CHUNK];
    double half = n / 2, middle = l.w + half * l.dw;
    double ru = nearbyint((l.u + half * l.du) / middle), rv = nearbyint((l.v + half * l.dv) / middle);
    ru = fmin(fmax(ru, -EDGE), image.c);
    rv = fmin(fmax(rv, -EDGE), image.m);
    const float u = (float)(l.u - ru * l.w), du = (float)(l.du - ru * l.dw);
    const float v = (float)(l.v - rv * l.w), dv = (float)(l.dv - rv * l.dw);
    const float w = (float)l.w, dw = (float)l.dw;
    const float left = (float)(-EDGE - ru), right = (float)(image.c - 2 * EDGE - ru), top = (float)(-EDGE - rv),
                bottom = (float)(image.m - 2 * EDGE - rv), first_u = (float)(ru + (double)shift), first_v = (float)(rv + (double)shift);
    const int c = image.c, back = EDGE - (int)shift;
    const int back_u = (int)ru + (int)shift, back_v = (int)rv + (int)shift;
    const int end = (n + LANES - 1) / LANES * LANES;
    for (int i = 0; i < end; i++) {
        float one = 1 / (w + (float)i * dw);
        float pu = (u + (float)i * du) * one, pv = (v + (float)i * dv) * one;
        pu = pu > left ? pu : left;
        pu = pu < right ? pu : right;
        pv = pv > top ? pv : top;
        pv = pv < bottom ? pv : bottom;
        int iu = (int)(pu + first_u), iv = (int)(pv + first_v);
        alpha[i] = pu - (float)(iu - back_u);
        beta[i] = pv - (float)(iv - back_v);
        weight[i] = one * one;
        at[i] = 2 * ((iv + back) * c + iu + back);
    }
    for (int i = 0; i < end; i += 8) {
        eight p04 = BOTH(image.pairs + at[i], image.pairs + at[i + 4]), p15 = BOTH(image.pairs + at[i + 1], image.pairs + at[i + 5]);
        eight p26 = BOTH(image.pairs + at[i + 2], image.pairs + at[i + 6]), p37 = BOTH(image.pairs + at[i + 3], image.pairs + at[i + 7]);
        eight a, b, g, sum;
        memcpy(&a, alpha + i, 32);
        memcpy(&b, beta + i, 32);
        memcpy(&g, weight + i, 32);
        memcpy(&sum, to + i, 32);
        eight l01 = __builtin_shufflevector(p04, p15, 0, 8, 1, 9, 4, 12, 5, 13), r01 = __builtin_shufflevector(p04, p15, 2, 10, 3, 11, 6, 14, 7, 15);
        eight l23 = __builtin_shufflevector(p26, p37, 0, 8, 1, 9, 4, 12, 5, 13), r23 = __builtin_shufflevector(p26, p37, 2, 10, 3, 11, 6, 14, 7, 15);
        eight tl = __builtin_shufflevector(l01, l23, 0, 1, 8, 9, 4, 5, 12, 13), bl = __builtin_shufflevector(l01, l23, 2, 3, 10, 11, 6, 7, 14, 15);
        eight tr = __builtin_shufflevector(r01, r23, 0, 1, 8, 9, 4, 5, 12, 13), br = __builtin_shufflevector(r01, r23, 2, 3, 10, 11, 6, 7, 14, 15);
        eight t = tl + a * (tr - tl), d = bl + a * (br - bl);
        sum += g * (t + b * (d - t));
        memcpy(to + i, &sum, 32);
    }
}

static struct line line_at(const double *a, double x, double y, double z, double step)
{
    struct line l;
    l.u = a[0] * x + a[3] * y + a[6] * z + a[9];
    l.v = a[1] * x + a[4] * y + a[7] * z + a[10];
    l.w = a[2] * x + a[5] * y + a[8] * z + a[11];
    l.du = a[0] * step;
    l.dv = a[1] * step;
    l.dw = a[2] * step;
    return l;
}

/* Is nothing of the line, up to the voxel n steps on, seen by the image? The voxels between two that are on one side of it are on that side. */
static int is_outside(struct line l, int n, struct image image)
{
    double w = l.w + n * l.dw, u0 = l.u / l.w, u1 = (l.u + n * l.du) / w, v0 = l.v / l.w, v1 = (l.v + n * l.dv) / w;
    return fmax(u0, u1) < -EDGE - 1 || fmin(u0, u1) > image.c || fmax(v0, v1) < -EDGE - 1 || fmin(v0, v1) > image.m;
}

/* w is linear, so it is above 0 in the whole volume if it is so at its corners. */
static int check_views(struct df_call *call, size_t k, const double *a, double half)
{
    for (size_t i = 0; i < k; i++, a += 12)
        if (a[11] != 0 && !(a[11] - half * (fabs(a[2]) + fabs(a[5]) + fabs(a[8])) > 0))
            return df_fail(call, "the source of view %zu of this wave lies in the volume: give a smaller --side", i);
    return DF_OK;
}

static void add_row(float *row, size_t n, size_t k, const float *pairs, size_t m, size_t c, const double *a, double y, double z, double first,
                   double step, float shift)
{
    float chunk[CHUNK] = { 0 };
    for (size_t x = 0; x < n; x += CHUNK) {
        size_t here = n - x < CHUNK ? n - x : CHUNK;
        memcpy(chunk, row + x, here * sizeof *row);
        for (size_t i = 0; i < k; i++) {
            if (a[12 * i + 11] == 0)
                continue;
            struct image image = { pairs + 2 * i * m * c, (int)m, (int)c };
            struct line l = line_at(a + 12 * i, first + (double)x * step, y, z, step);
            if (!is_outside(l, (int)here - 1, image))
                add_chunk(chunk, (int)here, l, image, shift);
        }
        memcpy(row + x, chunk, here * sizeof *row);
    }
}

int backproject_cpu(struct df_call *call, size_t k, size_t m, size_t c, size_t z, size_t y, size_t x, const float *r, const double *a,
                    float *vol, double side, const char *rule)
{
    struct df_part part = df_part(call);
    size_t whole = part.whole ? part.whole : z;
    double step = side / (double)x, first = -0.5 * step * (double)(x - 1);
    int truncates = strcmp(rule, "truncate") == 0;
    if (!truncates && strcmp(rule, "floor") != 0)
        return df_fail(call, "no rule '%s': there are floor and truncate", rule);
    if (!(side > 0))
        return df_fail(call, "the volume's side is %g mm", side);
    if (check_views(call, k, a, side / 2) != DF_OK)
        return DF_FAILED;
    for (size_t i = 0; i < z; i++)
        for (size_t j = 0; j < y; j++)
            add_row(vol + (i * y + j) * x, x, k, r, m, c, a, first + (double)j * step,
                    -0.5 * step * (double)(whole - 1) + (double)(part.first + i) * step, first, step, truncates ? 0 : EDGE);
    return DF_OK;
}
