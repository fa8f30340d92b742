/* rank.cu - the distances of a picture from its candidates on a GPU: a work-group for each of them. */
#include "device.h"
#include "emd.h"

static __global__ void DF_ITEMS_AT_MOST(EMD_ITEMS) rank_all(int64_t c, int n, int r, const float *f, const int32_t *share, const float *known,
                                                            const int32_t *which, int64_t *far)
{
    DF_LOCAL(struct emd, e, 1);
    for (int64_t i = DF_GROUP_X; i < c; i += DF_GROUPS_X) {
        const int64_t distance = picture_distance(e, n, f, share, r, known + (int64_t)15 * r * which[i]);
        DF_PHASE {
            if (DF_ITEM == 0)
                far[i] = distance;
        }
        DF_BARRIER();
    }
}

int distances_gpu(struct df_call *call, cudaStream_t stream, size_t n, size_t m, size_t r, size_t c, const float *f, const int32_t *share,
             const float *known, const int32_t *which, int64_t *far)
{
    (void)m;
    DF_LAUNCH_ALL(rank_all, dim3(df_n_blocks((int64_t)c, 1, 1 << 20)), dim3(EMD_ITEMS), stream, (int64_t)c, (int)n, (int)r, f, share, known, which, far);
    return after(call);
}
