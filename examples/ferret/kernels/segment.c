/* segment.c - k-means' new centres, and which clusters are one region (region.h). */
#include "region.h"

#include <string.h>

static int add_up(struct df_call *call, size_t h, size_t w, size_t k, const uint8_t *p, const uint8_t *cluster, int32_t *sums)
{
    const size_t pixels = h * w;
    if (k > MOST_CLUSTERS)
        return df_fail(call, "a picture has at most %d regions", MOST_CLUSTERS);
    if (pixels > MOST_PIXELS)
        return df_fail(call, "a picture has at most %d pixels", MOST_PIXELS);
    memset(sums, 0, 6 * k * sizeof *sums);
    for (size_t i = 0; i < pixels;) {
        const uint8_t at = cluster[i];
        int32_t *s = sums + 6 * at, sum[5] = { 0 };
        const size_t from = i;
        for (; i < pixels && cluster[i] == at; i++)
            for (size_t c = 0; c < 5; c++)
                sum[c] += p[c * pixels + i];
        for (int c = 0; c < 5; c++)
            s[c] += sum[c];
        s[5] += (int32_t)(i - from);
    }
    return DF_OK;
}

int means_cpu(struct df_call *call, size_t h, size_t w, size_t k, const uint8_t *p, const uint8_t *cluster, const int32_t *before,
              int32_t *sums, int32_t *centre)
{
    if (add_up(call, h, w, k, p, cluster, sums) != DF_OK)
        return DF_FAILED;
    for (size_t i = 0; i < k; i++)
        new_centre(sums + 6 * i, before + 5 * i, centre + 5 * i);
    return DF_OK;
}

static void touch(int32_t *touching, size_t k, uint8_t a, uint8_t b) { touching[a < b ? a * k + b : b * k + a] = 1; }

int join_cpu(struct df_call *call, size_t h, size_t w, size_t k, const uint8_t *p, const uint8_t *cluster, const int32_t *centre,
             int32_t *sums, int32_t *touching, uint8_t *region)
{
    (void)centre;                       /* it says how many clusters there are */
    if (add_up(call, h, w, k, p, cluster, sums) != DF_OK)
        return DF_FAILED;
    memset(touching, 0, k * k * sizeof *touching);
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++) {
            const uint8_t *at = cluster + y * w + x;
            if (x + 1 < w && at[1] != *at)
                touch(touching, k, *at, at[1]);
            if (y + 1 < h && at[w] != *at)
                touch(touching, k, *at, at[w]);
        }
    int into[MOST_CLUSTERS];
    join_clusters((int)k, (int64_t)(h * w), sums, touching, region, into);
    return DF_OK;
}
