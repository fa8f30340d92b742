/* segment.cu - k-means' new centres, and which clusters are one region (region.h), on a GPU. A thread adds up a strip of pixels, and changes
 * the sums whenever the cluster changes. */
#include "device.h"
#include "region.h"

static __global__ void add_strips(int64_t pixels, const uint8_t *p, const uint8_t *cluster, int32_t *sums)
{
    EACH(strip, (pixels + STRIP - 1) / STRIP) {
        const int64_t end = (strip + 1) * STRIP < pixels ? (strip + 1) * STRIP : pixels;
        for (int64_t i = strip * STRIP; i < end;) {
            const int at = cluster[i];
            int32_t sum[6] = { 0, 0, 0, 0, 0, 0 };
            for (; i < end && cluster[i] == at; i++) {
                for (int c = 0; c < 5; c++)
                    sum[c] += p[c * pixels + i];
                sum[5]++;
            }
            for (int c = 0; c < 6; c++)
                add(&sums[6 * at + c], sum[c]);
        }
    }
}

static __global__ void move_centres(int64_t k, const int32_t *sums, const int32_t *before, int32_t *centre)
{
    EACH(i, k) new_centre(sums + 6 * i, before + 5 * i, centre + 5 * i);
}

static int add_up(struct df_call *call, cudaStream_t stream, size_t h, size_t w, size_t k, const uint8_t *p, const uint8_t *cluster,
                  int32_t *sums)
{
    if (k > MOST_CLUSTERS)
        return df_fail(call, "a picture has at most %d regions", MOST_CLUSTERS);
    if (h * w > MOST_PIXELS)
        return df_fail(call, "a picture has at most %d pixels", MOST_PIXELS);
    clear(stream, sums, 6 * k * sizeof *sums);
    LAUNCH(add_strips, (h * w + STRIP - 1) / STRIP, stream, (int64_t)(h * w), p, cluster, sums);
    return after(call);
}

int means_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, size_t k, const uint8_t *p, const uint8_t *cluster,
              const int32_t *before, int32_t *sums, int32_t *centre)
{
    if (add_up(call, stream, h, w, k, p, cluster, sums) != DF_OK)
        return DF_FAILED;
    LAUNCH(move_centres, k, stream, (int64_t)k, sums, before, centre);
    return after(call);
}

/* Threads that touch the same pair write the same number. */
static __global__ void find_touching(int64_t h, int64_t w, int64_t k, const uint8_t *cluster, int32_t *touching)
{
    EACH(i, h * w) {
        const int a = cluster[i];
        for (int below = 0; below < 2; below++) {
            if (below ? i / w + 1 >= h : i % w + 1 >= w)
                continue;
            const int b = cluster[below ? i + w : i + 1];
            if (a != b)
                touching[a < b ? a * k + b : b * k + a] = 1;
        }
    }
}

static __global__ void join_all(int64_t k, int64_t pixels, int32_t *sums, int32_t *touching, uint8_t *region)
{
    DF_LOCAL(int, into, MOST_CLUSTERS);
    EACH(one, 1) join_clusters((int)(k + one), pixels, sums, touching, region, into);
}

int join_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, size_t k, const uint8_t *p, const uint8_t *cluster,
             const int32_t *centre, int32_t *sums, int32_t *touching, uint8_t *region)
{
    (void)centre;
    if (add_up(call, stream, h, w, k, p, cluster, sums) != DF_OK)
        return DF_FAILED;
    clear(stream, touching, k * k * sizeof *touching);
    LAUNCH(find_touching, h * w, stream, (int64_t)h, (int64_t)w, (int64_t)k, cluster, touching);
    LAUNCH(join_all, 1, stream, (int64_t)k, (int64_t)(h * w), sums, touching, region);
    return after(call);
}
