/* Put before tiles.cu, behind cublas/host.h: what of CUDA's runtime it calls, and what of df.h. */
#include <cmath>
#include <cstring>
#include <dlfcn.h>
using std::sqrt;
enum cudaError { cudaSuccess };
static cudaError cudaMalloc(void *p, size_t n) { return *(void **)p = malloc(n), cudaSuccess; }
static void cudaFree(void *p) { free(p); }
extern "C" {
void *df_opened(struct df_call *);
void *df_cublas_function(struct df_call *, const char *);
struct cublasContext *df_cublas(struct df_call *);
int df_fail(struct df_call *, const char *, ...);
}
/* This machine's own cuSOLVER, if it has one, is not meant: only the file that $SOLVER names is found. */
static void *open_solver(const char *name, int flags)
{
    const char *file = getenv("SOLVER");
    return file && !strcmp(name, "libcusolver.so.12") ? dlopen(file, flags) : nullptr;
}
#define dlopen open_solver
