// blas.cu - products of matrices on the GPU by cuBLAS, which is found when the program runs: this compiles and links without it.
#include "blas.h"

// `name` is cublasSgemm() or cublasDgemm() as cublas_v2.h declares it, with int for its enumerations: 0 means "not transposed", and success.
template <class T>
static int multiply(struct df_call *call, const char *name, size_t m, size_t k, size_t n, const T *a, const T *b, T *c)
{
    typedef int gemm(struct cublasContext *, int, int, int, int, int, const T *, const T *, int, const T *, int, const T *, T *, int);
    const T one = 1, zero = 0;
    gemm *product = (gemm *)df_cublas_function(call, name);
    if (blas_fits(call, m, k, n) != DF_OK)
        return DF_FAILED;
    if (!product)
        return df_fail(call, "no cuBLAS was found that has %s: put its folder into LD_LIBRARY_PATH, or run with --device=none", name);
    struct cublasContext *blas = df_cublas(call); // it is bound to the stream
    if (!blas)
        return DF_FAILED;
    // cuBLAS is column-major: the transpose of a·b is bᵀ·aᵀ, so the row-major product is had by giving b first.
    int status = product(blas, 0, 0, (int)n, (int)m, (int)k, &one, b, (int)n, a, (int)k, &zero, c, (int)n);
    return status == 0 ? (int)DF_OK : df_fail(call, "%s: status %d", name, status);
}

extern "C" int multiply_f32_gpu(struct df_call *call, cudaStream_t, size_t m, size_t k, size_t n, const float *a, const float *b, float *c)
{
    return multiply(call, "cublasSgemm_v2", m, k, n, a, b, c);
}

extern "C" int multiply_f64_gpu(struct df_call *call, cudaStream_t, size_t m, size_t k, size_t n, const double *a, const double *b, double *c)
{
    return multiply(call, "cublasDgemm_v2", m, k, n, a, b, c);
}
