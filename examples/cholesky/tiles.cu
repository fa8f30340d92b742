/* tiles.cu - the kernels of tiles.df on a GPU: cuBLAS for products and triangular systems. A tile on the diagonal is factored by cuSOLVER or, if
 * the loader finds none, by a plain kernel of one block. Both libraries are found when the program runs.
 *
 * The libraries count by columns, tiles by rows. So what they see is each tile's transpose: sides and triangles change places.
 */
#include <dlfcn.h>

enum { LEFT = 0, RIGHT = 1, LOWER = 0, UPPER = 1, PLAIN = 0, TRANSPOSED = 1 }; /* as cuBLAS counts sides, triangles and operations */

typedef struct cublasContext *blas_t;

static void *blas_function(struct df_call *call, const char *name)
{
    void *function = df_cublas_function(call, name);
    if (!function)
        df_fail(call, "no cuBLAS was found that has %s: --device=none runs without a GPU", name);
    return function;
}

static int done(struct df_call *call, const char *what, int status)
{
    return status == 0 ? DF_OK : df_fail(call, "%s: status %d", what, status);
}

static inline const char *of_type(const float *, const char *single, const char *) { return single; }
static inline const char *of_type(const double *, const char *, const char *twice) { return twice; }

/* c = c - a·b or c - a·bᵀ */
template <class T> static int gemm(struct df_call *call, size_t m, size_t n, size_t k, const T *a, const T *b, int b_is, T *c)
{
    typedef int function(blas_t, int, int, int, int, int, const T *, const T *, int, const T *, int, const T *, T *, int);
    const T one = 1, minus = -1;
    function *f = (function *)blas_function(call, of_type(c, "cublasSgemm_v2", "cublasDgemm_v2"));
    blas_t blas = f ? df_cublas(call) : NULL;
    if (!blas)
        return DF_FAILED;
    return done(call, "cublas gemm", f(blas, b_is, PLAIN, (int)n, (int)m, (int)k, &minus, b, (int)(b_is == PLAIN ? n : k), a, (int)k, &one, c,
                                       (int)n));
}

/* c = c - a·aᵀ, the lower triangle */
template <class T> static int syrk(struct df_call *call, size_t m, size_t k, const T *a, T *c)
{
    typedef int function(blas_t, int, int, int, int, const T *, const T *, int, const T *, T *, int);
    const T one = 1, minus = -1;
    function *f = (function *)blas_function(call, of_type(c, "cublasSsyrk_v2", "cublasDsyrk_v2"));
    blas_t blas = f ? df_cublas(call) : NULL;
    if (!blas)
        return DF_FAILED;
    return done(call, "cublas syrk", f(blas, UPPER, TRANSPOSED, (int)m, (int)k, &minus, a, (int)k, &one, c, (int)m));
}

/* x = l⁻¹·x (LEFT) or x·l⁻¹ (RIGHT), l transposed or not, with ones on its diagonal if `unit` */
template <class T>
static int trsm(struct df_call *call, size_t m, size_t n, const T *l, T *x, int side, int triangle, int l_is, int unit)
{
    typedef int function(blas_t, int, int, int, int, int, int, const T *, const T *, int, T *, int);
    const T one = 1;
    function *f = (function *)blas_function(call, of_type(x, "cublasStrsm_v2", "cublasDtrsm_v2"));
    blas_t blas = f ? df_cublas(call) : NULL;
    if (!blas)
        return DF_FAILED;
    return done(call, "cublas trsm", f(blas, 1 - side, 1 - triangle, l_is, unit, (int)n, (int)m, &one, l, (int)(side == LEFT ? m : n), x,
                                       (int)n));
}

/* ---- tiles on the diagonal ---- */

struct solver {
    void *library, *handle, *work;
    int *info;                          /* cuSOLVER's verdict, which stays on the GPU: put() looks at the pivots */
    int bytes;
};

static void *solver_function(struct solver *s, const char *name) { return dlsym(s->library, name); }

static void solver_free(struct solver *s)
{
    if (s->handle)
        ((int (*)(void *))solver_function(s, "cusolverDnDestroy"))(s->handle);
    cudaFree(s->work);
    cudaFree(s->info);
    if (s->library)
        dlclose(s->library);
    free(s);
}

extern "C" void solver_close(void *state) { solver_free((struct solver *)state); }

/* A handle, and memory for tiles of n rows of f64; without cuSOLVER nothing of it. */
extern "C" int solver_open(struct df_call *call, size_t n, int64_t, void **state)
{
    static const char *const names[] = { "libcusolver.so.13", "libcusolver.so.12", "libcusolver.so.11", "libcusolver.so" };
    struct solver *s = (struct solver *)calloc(1, sizeof *s);
    if (!s)
        return df_fail(call, "no memory");
    for (size_t i = 0; i < 4 && !s->library; i++)
        s->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    *state = s;
    if (!s->library)
        return DF_OK;
    typedef int potrf_size(void *, int, int, double *, int, int *);
    typedef int getrf_size(void *, int, int, double *, int, int *);
    int (*create)(void **) = (int (*)(void **))solver_function(s, "cusolverDnCreate");
    potrf_size *size_p = (potrf_size *)solver_function(s, "cusolverDnDpotrf_bufferSize");
    getrf_size *size_g = (getrf_size *)solver_function(s, "cusolverDnDgetrf_bufferSize");
    int p = 0, g = 0;
    bool ok = create && size_p && size_g && create(&s->handle) == 0 && size_p(s->handle, UPPER, (int)n, NULL, (int)n, &p) == 0 &&
              size_g(s->handle, (int)n, (int)n, NULL, (int)n, &g) == 0;
    s->bytes = (int)sizeof(double) * (p > g ? p : g);
    ok = ok && cudaMalloc(&s->work, (size_t)s->bytes + 1) == cudaSuccess && cudaMalloc(&s->info, sizeof *s->info) == cudaSuccess;
    if (ok)
        return DF_OK;
    solver_free(s);
    *state = NULL;
    return df_fail(call, "cuSOLVER could not be begun");
}

/* One block: a = l·lᵀ, or a = l·u with ones on the diagonal of l, column after column. */
template <class T> static __global__ void factor(size_t n, T *a, int symmetric)
{
    for (size_t k = 0; k < n; k++) {
        if (symmetric && threadIdx.x == 0)
            a[k * n + k] = sqrt(a[k * n + k]);
        __syncthreads();
        for (size_t i = k + 1 + threadIdx.x; i < n; i += blockDim.x)
            a[i * n + k] /= a[k * n + k];
        __syncthreads();
        for (size_t e = threadIdx.x; e < (n - k - 1) * (n - k - 1); e += blockDim.x) {
            size_t i = k + 1 + e / (n - k - 1), j = k + 1 + e % (n - k - 1);
            if (!symmetric || j <= i)
                a[i * n + j] -= a[i * n + k] * (symmetric ? a[j * n + k] : a[k * n + j]);
        }
        __syncthreads();
    }
}

/* cuSOLVER factors the transpose, so u has the ones. With d on the diagonal, column j of l is divided by d[j], and row i of u takes d[i]. */
template <class T> static __global__ void move_ones(size_t n, T *a)
{
    size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x, i = e / n, j = e % n;
    if (i < n && i > j)
        a[e] /= a[j * n + j];
    else if (i < j)
        a[e] *= a[i * n + i];
}

template <class F> static F *bound(struct df_call *call, cudaStream_t stream, struct solver *s, const char *name)
{
    int (*set)(void *, cudaStream_t) = (int (*)(void *, cudaStream_t))solver_function(s, "cusolverDnSetStream");
    F *f = (F *)solver_function(s, name);
    if (!set || !f || set(s->handle, stream) != 0) {
        df_fail(call, "the cuSOLVER found lacks %s or its like", name);
        return NULL;
    }
    return f;
}

template <class T> static int potrf(struct df_call *call, cudaStream_t stream, size_t n, T *a)
{
    typedef int function(void *, int, int, T *, int, T *, int, int *);
    struct solver *s = (struct solver *)df_opened(call);
    if (!s->library) {
        factor<<<1, 512, 0, stream>>>(n, a, 1);
        return DF_OK;
    }
    function *f = bound<function>(call, stream, s, of_type(a, "cusolverDnSpotrf", "cusolverDnDpotrf"));
    return !f ? DF_FAILED
              : done(call, "cusolver potrf", f(s->handle, UPPER, (int)n, a, (int)n, (T *)s->work, s->bytes / (int)sizeof(T), s->info));
}

template <class T> static int getrf(struct df_call *call, cudaStream_t stream, size_t n, T *a)
{
    typedef int function(void *, int, int, T *, int, T *, int *, int *);
    struct solver *s = (struct solver *)df_opened(call);
    if (!s->library) {
        factor<<<1, 512, 0, stream>>>(n, a, 0);
        return DF_OK;
    }
    function *f = bound<function>(call, stream, s, of_type(a, "cusolverDnSgetrf", "cusolverDnDgetrf"));
    if (!f || done(call, "cusolver getrf", f(s->handle, (int)n, (int)n, a, (int)n, (T *)s->work, NULL, s->info)) != DF_OK)
        return DF_FAILED;
    move_ones<<<(unsigned)((n * n + 255) / 256), 256, 0, stream>>>(n, a);
    return DF_OK;
}
