/* planted.cu - the gpu variant of planted.df: output 333 is one too large; with `spin` it never ends. */
__global__ void half(const float *v, float *o, size_t k, int spin)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    for (volatile int n = spin; n; n = spin)
        ;
    if (i < k)
        o[i] = v[i] / 2 + (i == 333);
}
