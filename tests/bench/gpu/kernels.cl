/* kernels.cl - gpu variants of stream.df and chain.df for OpenCL devices. */

/* OpenCL C has no clock. So one work-item computes in 500 * us steps, each of which needs the one before. */
__kernel void wait(__global const int *a, __global int *b, ulong m, int us)
{
    uint x = (uint)a[0];

    for (long i = 0; i < 500l * us; i++)
        x = x * 1664525u + 1013904223u ^ x >> 7;
    b[m - 1] = (int)x;
    b[0] = a[0];
}

__kernel void add_one(__global const int *a, __global int *b, ulong k)
{
    size_t i = get_global_id(0);

    if (i < k)
        b[i] = a[i] + 1;
}
