/* matrix.cu - the same kernels on the GPU: cuBLAS for the product, a grid of threads for the sum. */
#include <cublas_v2.h>

static __global__ void average(size_t n, const float *a, const float *b, float *c)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = (a[i] + b[i]) * 0.5f;
}

int ma_gpu(struct df_call *call, cudaStream_t stream, size_t m, const float *a, const float *b, float *c)
{
    (void)call;
    size_t n = m * m;
    average<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(n, a, b, c);
    return DF_OK;
}

/* cuBLAS is column-major: the transpose of a·b is bᵀ·aᵀ, so the row-major product is had by giving b first. */
int mm_gpu(struct df_call *call, cudaStream_t stream, size_t m, const float *a, const float *b, float *c)
{
    (void)stream; /* the handle is bound to it */
    const float one = 1, zero = 0;
    cublasHandle_t blas = df_cublas(call);
    if (!blas)
        return DF_FAILED;
    cublasStatus_t status = cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, (int)m, (int)m, (int)m, &one, b, (int)m, a,
                                        (int)m, &zero, c, (int)m);
    return status == CUBLAS_STATUS_SUCCESS ? DF_OK : df_fail(call, "cublasSgemm: status %d", (int)status);
}
