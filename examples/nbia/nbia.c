/* nbia.c - the counts of nbia on the CPU: pairs of levels, and patterns; and which tiles are looked at again. */
#include <df.h>
#include <stdint.h>
#include <string.h>

#define LEVELS 32u

/* Adds one for each pair of levels of `a` and of `b`, n pixels each. Pixels of even and odd places count apart, so that two pairs
 * that are alike do not wait for each other.
 */
static void count(const uint8_t *a, const uint8_t *b, size_t n, uint32_t (*sums)[LEVELS * LEVELS])
{
    size_t i = 0;
    for (; i + 1 < n; i += 2) {
        sums[0][a[i] * LEVELS + b[i]]++;
        sums[1][a[i + 1] * LEVELS + b[i + 1]]++;
    }
    if (i < n)
        sums[0][a[i] * LEVELS + b[i]]++;
}

/* The four directions of Haralick (1973) at distance 1: the second pixel is to the right, below on the right, below, or below on
 * the left.
 */
int beside_cpu(struct df_call *call, size_t h, size_t w, const uint8_t *q, int32_t *pairs)
{
    uint32_t sums[4][2][LEVELS * LEVELS];
    (void)call;
    for (size_t c = 0; c < 3; c++) {
        memset(sums, 0, sizeof sums);
        for (size_t y = 0; y < h; y++) {
            const uint8_t *row = q + (y * 3 + c) * w, *next = row + 3 * w;
            count(row, row + 1, w - 1, sums[0]);
            if (y + 1 == h)
                break;
            count(row, next + 1, w - 1, sums[1]);
            count(row, next, w, sums[2]);
            count(row + 1, next, w - 1, sums[3]);
        }
        for (size_t a = 0; a < 4; a++)
            for (size_t i = 0; i < LEVELS * LEVELS; i++)
                pairs[(c * 4 + a) * LEVELS * LEVELS + i] = (int32_t)(sums[a][0][i] + sums[a][1][i]);
    }
    return DF_OK;
}

int often_cpu(struct df_call *call, size_t h, size_t w, const uint8_t *code, int32_t *counts)
{
    uint32_t sums[4][10] = { 0 };       /* four, so that pixels that are alike do not wait for each other */
    (void)call;
    for (size_t i = 0; i < h * w; i++)
        sums[i % 4][code[i]]++;
    for (size_t k = 0; k < 10; k++)
        counts[k] = (int32_t)(sums[0][k] + sums[1][k] + sums[2][k] + sums[3][k]);
    return DF_OK;
}

/* A number from 0 to 1 that depends on these three alone (the finalizer of splitmix64; Steele et al., OOPSLA 2014). */
static double hash(uint64_t seed, uint64_t wave, uint64_t resolution)
{
    uint64_t x = (seed * 4 + resolution) * 0x9e3779b97f4a7c15u + wave * 0xd1b54a32d192ed03u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

/* Passes on the tile if it is to be looked at again: a tile whose class is not sure enough; or, with a rate, that part of all. */
int again_cpu(struct df_call *call, size_t h, size_t w, size_t c, const double *r, const uint8_t *t, uint8_t *u,
              double sure, double rate, int64_t seed)
{
    if (!(sure >= 0 && sure <= 1) || !(rate == -1 || (rate >= 0 && rate <= 1)))
        return df_fail(call, "--sure=%g --rate=%g: both are from 0 to 1", sure, rate);
    const int look = rate >= 0 ? hash((uint64_t)seed, (uint64_t)df_wave(call), (uint64_t)r[2]) < rate : r[1] < sure;
    if (!look)
        return DF_SKIP;
    memcpy(u, t, h * w * c);
    return DF_OK;
}
