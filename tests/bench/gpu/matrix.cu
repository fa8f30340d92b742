/* matrix.cu - the matrix graph's gpu variants. The product is cuBLAS's if that is installed, found while the program
 * runs. Else it is a kernel by tiles, and the program says so once. */
#include <dlfcn.h>
#include <stdio.h>

#define TILE 32

static __global__ void average(size_t n, const float *a, const float *b, float *c)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        c[i] = (a[i] + b[i]) * 0.5f;
}

/* A block makes TILE x TILE entries of c; each of its threads makes four, one below the other. */
static __global__ void product(int m, const float *a, const float *b, float *c)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE + 1];
    int x = (int)threadIdx.x, column = (int)blockIdx.x * TILE + x, top = (int)blockIdx.y * TILE;
    float sum[4] = {0, 0, 0, 0};

    for (int k = 0; k < m; k += TILE) {
        for (int y = (int)threadIdx.y; y < TILE; y += 8) {
            left[y][x] = top + y < m && k + x < m ? a[(size_t)(top + y) * m + k + x] : 0;
            right[y][x] = k + y < m && column < m ? b[(size_t)(k + y) * m + column] : 0;
        }
        __syncthreads();
        for (int l = 0; l < TILE; l++)
            for (int i = 0; i < 4; i++)
                sum[i] += left[threadIdx.y + 8 * i][l] * right[l][x];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        int row = top + (int)threadIdx.y + 8 * i;

        if (row < m && column < m)
            c[(size_t)row * m + column] = sum[i];
    }
}

int ma_gpu(struct df_call *, cudaStream_t stream, size_t m, const float *a, const float *b, float *c)
{
    size_t n = m * m;

    average<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(n, a, b, c);
    return DF_OK;
}

typedef int sgemm(void *handle, int ta, int tb, int m, int n, int k, const float *alpha, const float *a, int lda,
                  const float *b, int ldb, const float *beta, float *c, int ldc);

/* NULL: there is no cuBLAS, or MATRIX_BLAS=off. The library stays open to all, so that df_cublas() finds the same. */
static sgemm *find_sgemm()
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so",
                                        "/usr/local/cuda/lib64/libcublas.so"};
    const char *wanted = getenv("MATRIX_BLAS");
    void *library = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names && !library && !(wanted && strcmp(wanted, "off") == 0); i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
    sgemm *found = library ? (sgemm *)dlsym(library, "cublasSgemm_v2") : NULL;
    fprintf(stderr, "matrix: products by %s\n", found ? "cuBLAS" : "a plain kernel");
    return found;
}

/* cuBLAS is column-major: the transpose of ab is that of b times that of a, so b is given first. */
int mm_gpu(struct df_call *call, cudaStream_t stream, size_t m, const float *a, const float *b, float *c)
{
    static sgemm *const multiply = find_sgemm();
    const float one = 1, zero = 0;
    int n = (int)m;

    if (!multiply) {
        unsigned tiles = (unsigned)((m + TILE - 1) / TILE);
        product<<<dim3(tiles, tiles), dim3(TILE, 8), 0, stream>>>(n, a, b, c);
        return DF_OK;
    }
    void *blas = df_cublas(call);
    if (!blas)
        return DF_FAILED;
    int status = multiply(blas, 0, 0, n, n, n, &one, b, n, a, n, &zero, c, n);
    return status == 0 ? DF_OK : df_fail(call, "cublasSgemm: status %d", status);
}
