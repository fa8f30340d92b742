/* After matrix.cu: two products and a sum, against sums of the definition. */
struct df_call { int unused; };
static struct dfr_cublas blas;
extern "C" void *df_cublas_function(struct df_call *, const char *name)
{
    return dfr_cublas_find(&blas, 13, nullptr) == DF_OK ? dfr_cublas_function(&blas, name) : nullptr;
}
extern "C" struct cublasContext *df_cublas(struct df_call *)
{
    static char workspace[256];
    bool bound = dfr_cublas_bind(&blas, (cudaStream_t)workspace, workspace, sizeof workspace, nullptr) == DF_OK;
    return bound ? (struct cublasContext *)blas.handle : nullptr;
}
extern "C" int df_fail(struct df_call *, const char *, ...) { return DF_FAILED; }
extern "C" void df_log(struct df_call *, int level, const char *format, ...) { printf("log %d: %s\n", level, format); }
int main()
{
    struct df_call call = { 0 };
    for (size_t m : { (size_t)70, (size_t)16 }) {
        std::vector<float> a(m * m), b(m * m), c(m * m, -1), d(m * m, -1);
        int wrong = 0;
        for (size_t i = 0; i < m * m; i++)
            a[i] = (float)(i % 7), b[i] = (float)(i % 5) - 2;
        if (mm_gpu(&call, nullptr, m, a.data(), b.data(), c.data()) != DF_OK || ma_gpu(&call, nullptr, m, a.data(), b.data(), d.data()) != DF_OK)
            return 1;
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < m; j++) {
                float sum = 0;
                for (size_t k = 0; k < m; k++)
                    sum += a[i * m + k] * b[k * m + j];
                wrong += c[i * m + j] != sum || d[i * m + j] != (a[i * m + j] + b[i * m + j]) / 2;
            }
        printf("%zu: %d wrong\n", m, wrong);
    }
    return 0;
}
