/* tiles.c - what the kernels of tiles.df do with a tile on the CPU, for f32 and f64: OpenBLAS, with one thread for each worker. The macros
 * take the function of the type of their pointers. */
#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

#define BLAS(name, a) _Generic(*(a), float: cblas_s##name, double: cblas_d##name)
#define OURS(name, a) _Generic(*(a), float: name##_f32, double: name##_f64)
#define GEMM(b_is, m, n, k, a, b, ldb, c) OURS(subtract, c)(b_is, m, n, k, a, b, ldb, c)
#define SYRK(m, k, a, c) OURS(square, c)(m, k, a, c)
#define SOLVE(m, n, l, x) OURS(solve, x)(m, n, l, n, x, n)
#define POTRF(call, n, a, row) OURS(factor, a)(call, n, n, a, row)
#define GETRF(call, n, a, row) OURS(eliminate, a)(call, n, n, a, row)
#define PUT(call, n, h, w, t, a, row, column, lower) OURS(put, t)(call, n, h, w, t, a, (size_t)(row), (size_t)(column), lower)

extern void spotrf_(const char *uplo, const int *n, float *a, const int *lda, int *info);
extern void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);

/* Workers are dfc's: a BLAS with threads of its own in each would only get in their way. Both factorisations begin with the kernel that has
 * this as its `open`. */
int one_thread(struct df_call *call, size_t n, int64_t row, void **state)
{
    (void)call, (void)n, (void)row;
    openblas_set_num_threads(1);
    *state = NULL;
    return DF_OK;
}

enum { CACHE = 16 << 20 };              /* bytes; a larger matrix is taken to be in no cache when someone reads it */

/* Bytes from `from`, or zeros if it is NULL. If they go past the caches, their place is not read into them first. */
static void place(void *to, const void *from, size_t bytes, int past)
{
    size_t done = 0;
#ifdef __x86_64__
    size_t head = -(uintptr_t)to % sizeof(__m128i);
    if (past && bytes > head) {
        place(to, from, head, 0);       /* what comes before the first whole vector */
        for (done = head; bytes - done >= sizeof(__m128i); done += sizeof(__m128i))
            _mm_stream_si128((__m128i *)((char *)to + done), from ? _mm_loadu_si128((const __m128i *)((const char *)from + done)) : _mm_setzero_si128());
    }
#else
    (void)past;
#endif
    if (from)
        memcpy((char *)to + done, (const char *)from + done, bytes - done);
    else
        memset((char *)to + done, 0, bytes - done);
}

/* What went past the caches comes before what this thread writes next. */
static void placed(void)
{
#ifdef __x86_64__
    _mm_sfence();
#endif
}

enum { LEAF = 512, ONCE = 4 };          /* of substitute.h */

#ifdef __x86_64__
static int has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

#define REAL float
#define IN(name) name##_f32
#define LAPACK(name) s##name
#define CBLAS(name) cblas_s##name
#include "blocks.h"
#undef REAL
#undef IN
#undef LAPACK
#undef CBLAS
#define REAL double
#define IN(name) name##_f64
#define LAPACK(name) d##name
#define CBLAS(name) cblas_d##name
#include "blocks.h"
