/* components.cu - the operations of components.c on a GPU: union-find on pixels by atomic operations, in device.h. A component's
 * value stands at its first pixel. */
#include "device.h"

static __global__ void mark_touched(int64_t n, const int *parent, const uint8_t *by, int *value)
{
    EACH(p, n) if (parent[p] >= 0 && by[p]) atomicMax(&value[parent[p]], 1);
}

static __global__ void mark_open(int64_t h, int64_t w, const int *parent, int *value)
{
    EACH(p, h * w) {
        int64_t y = p / w, x = p % w;
        if (parent[p] >= 0 && (y == 0 || x == 0 || y == h - 1 || x == w - 1))
            atomicMax(&value[parent[p]], 1);
    }
}

static __global__ void add_sizes(int64_t n, const int *parent, int *value)
{
    EACH(p, n) if (parent[p] >= 0) atomicAdd(&value[parent[p]], 1);
}

/* Pixels of components with least <= value < below. */
static __global__ void choose(int64_t n, const int *parent, const int *value, int least, int below, int inverse, uint8_t *m)
{
    EACH(p, n) m[p] = (uint8_t)((parent[p] >= 0 && value[parent[p]] >= least && value[parent[p]] < below) != inverse);
}

int touched_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, const uint8_t *of, const uint8_t *by, int32_t *work,
                uint8_t *m)
{
    int64_t n = (int64_t)(h * w);
    int *value = work + n;
    find_components(stream, (int64_t)h, (int64_t)w, of, 1, 1, work);
    clear(stream, value, (size_t)n * sizeof *value);
    LAUNCH(mark_touched, n, stream, n, work, by, value);
    LAUNCH(choose, n, stream, n, work, value, 1, 2, 0, m);
    return after(call);
}

int fill_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, const uint8_t *a, int32_t *work, uint8_t *m)
{
    int64_t n = (int64_t)(h * w);
    int *value = work + n;
    find_components(stream, (int64_t)h, (int64_t)w, a, 0, 0, work);
    clear(stream, value, (size_t)n * sizeof *value);
    LAUNCH(mark_open, n, stream, (int64_t)h, (int64_t)w, work, value);
    LAUNCH(choose, n, stream, n, work, value, 1, 2, 1, m);
    return after(call);
}

int sized_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, const uint8_t *a, int32_t *work, uint8_t *m,
              int32_t least, int32_t below, int32_t neighbours)
{
    int64_t n = (int64_t)(h * w);
    int *value = work + n;
    find_components(stream, (int64_t)h, (int64_t)w, a, 1, neighbours == 8, work);
    clear(stream, value, (size_t)n * sizeof *value);
    LAUNCH(add_sizes, n, stream, n, work, value);
    LAUNCH(choose, n, stream, n, work, value, least, below, 0, m);
    return after(call);
}

int label_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, const uint8_t *a, int32_t *work, int32_t *labels)
{
    int64_t n = (int64_t)(h * w);
    find_components(stream, (int64_t)h, (int64_t)w, a, 1, 1, work);
    number_components(stream, (int64_t)h, (int64_t)w, work, work + n, work + 2 * n, labels);
    return after(call);
}
