/* kernels.cu - gpu variants of stream.df and chain.df. */

/* One thread computes for `us` microseconds by the GPU's own clock. */
static __global__ void wait(const int *a, int *b, size_t m, int us)
{
    unsigned long long begin, now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - begin < 1000ull * (unsigned long long)us);
    b[0] = b[m - 1] = a[0];
}

int work_gpu(struct df_call *, cudaStream_t stream, size_t, size_t m, const int32_t *a, int32_t *b, int32_t us)
{
    wait<<<1, 1, 0, stream>>>(a, b, m, us);
    return DF_OK;
}

__global__ void add_one(const int *a, int *b, size_t k)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

    if (i < k)
        b[i] = a[i] + 1;
}
