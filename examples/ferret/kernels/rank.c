/* rank.c - the distances of a picture from its candidates (emd.h), and the nearest of these. */
#include "emd.h"

int distances_cpu(struct df_call *call, size_t n, size_t m, size_t r, size_t c, const float *f, const int32_t *share, const float *known,
             const int32_t *which, int64_t *far)
{
    struct emd e;
    (void)call, (void)m;
    for (size_t i = 0; i < c; i++)
        far[i] = picture_distance(&e, (int)n, f, share, (int)r, known + 15 * r * (size_t)which[i]);
    return DF_OK;
}

/* The nearest candidates in ascending order; of equally near ones the first of the index comes first. */
int best_cpu(struct df_call *call, size_t c, size_t *k, const int32_t *which, const int64_t *far, int32_t *nearest, double *distance)
{
    size_t n = 0;
    (void)call;
    for (size_t i = 0; i < c; i++) {
        const double d = (double)far[i] / EMD_UNIT / EMD_UNIT;
        size_t at = n;
        if (n == *k && d >= distance[n - 1])
            continue;
        at = n < *k ? n++ : n - 1;
        for (; at > 0 && distance[at - 1] > d; at--) {
            distance[at] = distance[at - 1];
            nearest[at] = nearest[at - 1];
        }
        distance[at] = d;
        nearest[at] = which[i];
    }
    *k = n;
    return DF_OK;
}
