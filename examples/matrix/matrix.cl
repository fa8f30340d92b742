/* matrix.cl - the kernels of matrix.cu on an OpenCL device:
 *     ma  gpu "matrix.cl": average<<<(m * m + 255) / 256, 256>>>(m, a, b, c)
 *     mm  gpu "matrix.cl": multiply<<<(m + 15) / 16, (m + 15) / 16, 16, 16>>>(m, a, b, c)
 */
#pragma OPENCL FP_CONTRACT OFF

__kernel void average(ulong m, __global const float *a, __global const float *b, __global float *c)
{
    size_t i = get_global_id(0);
    if (i < m * m)
        c[i] = (a[i] + b[i]) * 0.5f;
}

#define TILE 16

/* A work-group makes a tile of c, an entry for each work-item. The parts of a and b that it needs come into local memory a tile at a time. */
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void multiply(ulong m, __global const float *a, __global const float *b, __global float *c)
{
    __local float left[TILE][TILE], right[TILE][TILE];
    size_t x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (size_t k = 0; k < m; k += TILE) {
        left[y][x] = row < m && k + x < m ? a[row * m + k + x] : 0;
        right[y][x] = k + y < m && column < m ? b[(k + y) * m + column] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (size_t d = 0; d < TILE; d++)
            sum += left[y][d] * right[d][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && column < m)
        c[row * m + column] = sum;
}
