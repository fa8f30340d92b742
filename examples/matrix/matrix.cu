/* matrix.cu - the same kernels on the GPU: a grid of threads for the sum, and cuBLAS for the product or, if there is none,
 * a plain kernel. cuBLAS is found when the program runs, so this compiles and links without it. */

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

enum { SIDE = 16, EACH = 4, TILE = SIDE * EACH, DEPTH = 16 };

/* c = a·b. A block of SIDE × SIDE threads makes a tile of c, each thread EACH × EACH of its entries. The parts of a and b
 * that it needs come into shared memory by DEPTH columns and rows at a time. */
static __global__ void multiply(size_t m, const float *a, const float *b, float *c)
{
    __shared__ float left[DEPTH][TILE + 1], right[DEPTH][TILE];
    size_t row = (size_t)blockIdx.y * TILE, column = (size_t)blockIdx.x * TILE;
    unsigned x = threadIdx.x, y = threadIdx.y;
    float sum[EACH][EACH] = {};
    for (size_t k = 0; k < m; k += DEPTH) {
        for (unsigned i = y * SIDE + x; i < TILE * DEPTH; i += SIDE * SIDE) {
            size_t r = row + i / DEPTH, from = k + i % DEPTH, to = k + i / TILE, s = column + i % TILE;
            left[i % DEPTH][i / DEPTH] = r < m && from < m ? a[r * m + from] : 0;
            right[i / TILE][i % TILE] = to < m && s < m ? b[to * m + s] : 0;
        }
        __syncthreads();
        for (unsigned d = 0; d < DEPTH; d++)
            for (unsigned i = 0; i < EACH; i++)
                for (unsigned j = 0; j < EACH; j++)
                    sum[i][j] += left[d][y + i * SIDE] * right[d][x + j * SIDE];
        __syncthreads();
    }
    for (unsigned i = 0; i < EACH; i++)
        for (unsigned j = 0; j < EACH; j++)
            if (row + y + i * SIDE < m && column + x + j * SIDE < m)
                c[(row + y + i * SIDE) * m + column + x + j * SIDE] = sum[i][j];
}

/* cublasSgemm() as cublas_v2.h declares it, with int for its enumerations: 0 means "not transposed", and success. */
typedef int sgemm(struct cublasContext *, int, int, int, int, int, const float *, const float *, int, const float *, int,
                  const float *, float *, int);

int mm_gpu(struct df_call *call, cudaStream_t stream, size_t m, const float *a, const float *b, float *c)
{
    static int told;
    const float one = 1, zero = 0;
    unsigned tiles = (unsigned)((m + TILE - 1) / TILE);
    sgemm *product = (sgemm *)df_cublas_function(call, "cublasSgemm_v2");
    if (!product) {
        if (!__atomic_exchange_n(&told, 1, __ATOMIC_RELAXED))
            df_log(call, DF_LOG_WARNING, "no cuBLAS was found: a plain kernel multiplies, which takes longer");
        multiply<<<dim3(tiles, tiles), dim3(SIDE, SIDE), 0, stream>>>(m, a, b, c);
        return DF_OK;
    }
    struct cublasContext *blas = df_cublas(call); /* it is bound to the stream */
    if (!blas)
        return DF_FAILED;
    /* cuBLAS is column-major: the transpose of a·b is bᵀ·aᵀ, so the row-major product is had by giving b first. */
    int status = product(blas, 0, 0, (int)m, (int)m, (int)m, &one, b, (int)m, a, (int)m, &zero, c, (int)m);
    return status == 0 ? DF_OK : df_fail(call, "cublasSgemm: status %d", status);
}
