/* filter.cu - the filters of examples/photo/photo.df written in CUDA: one thread a pixel, the arithmetic of filter.c to
 * the bit (sqrtf is correctly rounded unless nvcc is told otherwise).
 */
#include <stdint.h>

static const dim3 block(32, 8);

static dim3 grid(size_t h, size_t w) { return dim3((unsigned)((w + 31) / 32), (unsigned)((h + 7) / 8)); }

static __global__ void grey(size_t h, size_t w, const uint8_t *t, uint8_t *g)
{
    size_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    const uint8_t *p = t + 3 * (y * w + x);
    g[y * w + x] = (uint8_t)((p[0] * 4899 + p[1] * 9617 + p[2] * 1868 + 8192) >> 14);
}

static __global__ void blur(size_t h, size_t w, const uint8_t *g, uint8_t *b) /* h, w: of the output */
{
    size_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    const int weight[5] = {1, 4, 6, 4, 1};
    int sum = 0;
    for (int j = 0; j < 5; j++) {
        const uint8_t *row = g + (y + j) * (w + 4) + x;
        sum += weight[j] * (row[0] + 4 * row[1] + 6 * row[2] + 4 * row[3] + row[4]);
    }
    b[y * w + x] = (uint8_t)((sum + 128) >> 8);
}

static __global__ void sobel(size_t h, size_t w, const uint8_t *b, uint8_t *e)
{
    size_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    const uint8_t *p = b + y * (w + 2) + x, *q = p + w + 2, *r = q + w + 2;
    int dx = (p[2] + 2 * q[2] + r[2]) - (p[0] + 2 * q[0] + r[0]);
    int dy = (r[0] + 2 * r[1] + r[2]) - (p[0] + 2 * p[1] + p[2]);
    int length = (int)(sqrtf((float)(dx * dx + dy * dy)) + 0.5f);
    e[y * w + x] = (uint8_t)(length > 255 ? 255 : length);
}

int grey_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, const uint8_t *t, uint8_t *g)
{
    (void)call;
    grey<<<grid(h, w), block, 0, stream>>>(h, w, t, g);
    return DF_OK;
}

int blur_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, const uint8_t *g, uint8_t *b)
{
    (void)call;
    blur<<<grid(h - 4, w - 4), block, 0, stream>>>(h - 4, w - 4, g, b);
    return DF_OK;
}

int sobel_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, const uint8_t *b, uint8_t *e)
{
    (void)call;
    sobel<<<grid(h - 2, w - 2), block, 0, stream>>>(h - 2, w - 2, b, e);
    return DF_OK;
}
