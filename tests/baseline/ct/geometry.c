/* geometry.c - from a view's matrix to the weights of its pixels.
 *
 * With M = the first three columns of the matrix, the ray to the pixel (u, v) has the direction d = adj(M) (u, v, 1), and the axis is M's third
 * row m. So the cosine of their angle is |m d| / (|m| |d|) = |det M| / (|m| |d|). |d|^2 is a quadratic form in u and v.
 */
#include <math.h>

static void cross(const double *a, const double *b, double *c)
{
    for (unsigned i = 0; i < 3; i++)
        c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

int rays_cpu(struct df_call *call, size_t k, const double *a, const int32_t *views, float *f)
{
    for (size_t i = 0; i < k; i++, a += 12, f += 6) {
        if (a[11] == 0) { /* none: the views have ended */
            for (unsigned j = 0; j < 6; j++)
                f[j] = j == 5;
            continue;
        }
        double rows[3][3], d[3][3], across[3];
        for (unsigned j = 0; j < 9; j++)
            rows[j % 3][j / 3] = a[j];
        for (unsigned j = 0; j < 3; j++)
            cross(rows[(j + 1) % 3], rows[(j + 2) % 3], d[j]);
        double det = dot(rows[0], d[0]), m = dot(rows[2], rows[2]), at = dot(rows[0], rows[2]) / m;
        for (unsigned j = 0; j < 3; j++)
            across[j] = rows[0][j] - at * rows[2][j];
        if (!(fabs(det) > 0) || !(a[11] > 0))
            return df_fail(call, "the matrix of view %zu of this wave is no projection", i);
        double pixel_mm = a[11] / sqrt(dot(across, across)); /* at the centre of the volume */
        double form = m / (det * det) * pow(pixel_mm * *views / 3.141592653589793, 2);
        f[0] = (float)(form * dot(d[0], d[0]));
        f[1] = (float)(form * dot(d[0], d[1]) * 2);
        f[2] = (float)(form * dot(d[1], d[1]));
        f[3] = (float)(form * dot(d[0], d[2]) * 2);
        f[4] = (float)(form * dot(d[1], d[2]) * 2);
        f[5] = (float)(form * dot(d[2], d[2]));
    }
    return DF_OK;
}
