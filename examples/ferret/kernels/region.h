/* region.h - what the CPU's and the GPU's code of segmentation share: from clusters to regions.
 *
 * Numbers:  All are integers, so the order of sums does not matter, and both have the same bits.
 * Sums:     Six of each cluster: of the five planes over its pixels, and how many pixels there are.
 */
#ifndef FERRET_REGION_H
#define FERRET_REGION_H

#include <stdint.h>

enum { MOST_CLUSTERS = 32,
       MOST_PIXELS = 1 << 23,           /* sums of bytes over them fit an i32 */
       ALIKE = 2600,                    /* touching regions whose colours are nearer become one */
       SMALL = 200 };                   /* and those that are less than this part of the picture, whatever their colours */

#ifdef __CUDACC__
#define ON_BOTH static __host__ __device__ inline
#else
#define ON_BOTH static inline
#endif

/* How unlike the mean colours of two regions are. */
ON_BOTH int64_t unlike(const int32_t *a, const int32_t *b)
{
    const int64_t weight[3] = { 3, 4, 4 };
    int64_t sum = 0;
    for (int c = 0; c < 3; c++) {
        const int64_t d = (int64_t)a[c] * 4 / a[5] - (int64_t)b[c] * 4 / b[5];
        sum += weight[c] * d * d;
    }
    return sum / 2;
}

/* The pair of touching regions that is to be joined next: a small one with its most alike neighbour first, then the most alike ones. 0:
 * there is none. */
ON_BOTH int next_pair(int k, const int32_t *sums, const int32_t *touching, int64_t pixels, int *first, int *second)
{
    int64_t best = ALIKE;
    int found = 0, found_small = 0;
    for (int i = 0; i < k; i++)
        for (int j = i + 1; j < k; j++) {
            if (!touching[i * k + j] || !sums[6 * i + 5] || !sums[6 * j + 5])
                continue;
            const int small = sums[6 * i + 5] * (int64_t)SMALL < pixels || sums[6 * j + 5] * (int64_t)SMALL < pixels;
            const int64_t d = unlike(sums + 6 * i, sums + 6 * j);
            if (small > found_small || (small == found_small && d < best)) {
                best = d;
                found_small = small;
                found = 1;
                *first = i;
                *second = j;
            }
        }
    return found;
}

/* Joins clusters, and numbers what is left from 0 up, in the order of the clusters. `sums` and `touching` (above the diagonal) are changed.
 * region[cluster]; 0 behind the last cluster. into: room for MOST_CLUSTERS. */
ON_BOTH void join_clusters(int k, int64_t pixels, int32_t *sums, int32_t *touching, uint8_t *region, int *into)
{
    int n = 0, a = 0, b = 0;
    for (int i = 0; i < k; i++)
        into[i] = i;
    while (next_pair(k, sums, touching, pixels, &a, &b)) {
        for (int c = 0; c < 6; c++) {
            sums[6 * a + c] += sums[6 * b + c];
            sums[6 * b + c] = 0;
        }
        for (int i = 0; i < k; i++) {
            const int to_b = i < b ? touching[i * k + b] : touching[b * k + i];
            if (to_b && i != a && i != b)
                touching[i < a ? i * k + a : a * k + i] = 1;
            if (into[i] == b)
                into[i] = a;
        }
    }
    for (int i = 0; i < 256; i++)
        region[i] = 0;
    for (int i = 0; i < k; i++)
        if (sums[6 * i + 5]) {
            for (int j = 0; j < k; j++)
                if (into[j] == i)
                    region[j] = (uint8_t)n;
            n++;
        }
}

/* The new centre of a cluster; one without pixels stays where it was. */
ON_BOTH void new_centre(const int32_t *sums, const int32_t *before, int32_t *centre)
{
    for (int c = 0; c < 5; c++)
        centre[c] = sums[5] ? (sums[c] + sums[5] / 2) / sums[5] : before[c];
}
#endif
