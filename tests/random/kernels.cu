/* kernels.cu - the gpu variants of kernels.c's kernels that random graphs run on either side. */
#include <stdint.h>

#define EACH(k) \
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; \
    if (i >= (k)) \
        return;
#define GRID(k) (unsigned)(((k) + 127) / 128), 128, 0, stream

static __global__ void add(size_t k, const int32_t *a, const int32_t *b, int32_t *c)
{
    EACH(k) c[i] = (int32_t)((uint32_t)a[i] + 3u * (uint32_t)b[i]);
}
static __global__ void rev(size_t k, const int32_t *a, int32_t *b) { EACH(k) b[i] = a[k - 1 - i] ^ (int32_t)i; }
static __global__ void bump(size_t k, int32_t *a) { EACH(k) a[i] = (int32_t)((uint32_t)a[i] * 5u + 7u); }
static __global__ void both(size_t k, const int32_t *a, int32_t *s, int32_t *d)
{
    EACH(k) uint32_t x = (uint32_t)a[i], next = (uint32_t)a[(i + 1) % k];
    s[i] = (int32_t)(x + next);
    d[i] = (int32_t)(x - next);
}
static __global__ void scale(size_t k, const int32_t *a, int32_t *t, uint32_t f)
{
    EACH(k) t[i] = (int32_t)((uint32_t)a[i] * f);
}
static __global__ void finish(size_t k, const int32_t *t, const int32_t *b, int32_t *c, int32_t *d)
{
    EACH(k) d[i] = (int32_t)((uint32_t)t[k - 1 - i] + (uint32_t)b[i]);
    c[i] ^= t[i];
}

int add_gpu(struct df_call *, cudaStream_t stream, size_t k, const int32_t *a, const int32_t *b, int32_t *c)
{
    add<<<GRID(k)>>>(k, a, b, c);
    return DF_OK;
}
int rev_gpu(struct df_call *, cudaStream_t stream, size_t k, const int32_t *a, int32_t *b)
{
    rev<<<GRID(k)>>>(k, a, b);
    return DF_OK;
}
int bump_gpu(struct df_call *, cudaStream_t stream, size_t k, int32_t *a)
{
    bump<<<GRID(k)>>>(k, a);
    return DF_OK;
}
int both_gpu(struct df_call *, cudaStream_t stream, size_t k, const int32_t *a, int32_t *s, int32_t *d)
{
    both<<<GRID(k)>>>(k, a, s, d);
    return DF_OK;
}
int mix_gpu(struct df_call *, cudaStream_t stream, size_t k, const int32_t *a, const int32_t *b, int32_t *t, int32_t *c,
            int32_t *d, int32_t f)
{
    scale<<<GRID(k)>>>(k, a, t, (uint32_t)f);
    finish<<<GRID(k)>>>(k, t, b, c, d);
    return DF_OK;
}
int join_gpu(struct df_call *, cudaStream_t stream, size_t p, size_t q, const int32_t *a, const int32_t *b, int32_t *c)
{
    cudaMemcpyAsync(c, a, p * sizeof *a, cudaMemcpyDeviceToDevice, stream);
    cudaMemcpyAsync(c + p, b, q * sizeof *b, cudaMemcpyDeviceToDevice, stream);
    return DF_OK;
}
