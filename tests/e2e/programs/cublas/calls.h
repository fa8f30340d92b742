/* What kernels ask of libdf, after host.h: a cuBLAS that is found as a run finds it. */
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
extern "C" int df_fail(struct df_call *, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    puts("");
    return DF_FAILED;
}
extern "C" void df_log(struct df_call *, int level, const char *format, ...) { printf("log %d: %s\n", level, format); }
