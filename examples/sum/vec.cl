/* vec.cl - `add` of sum.df on an OpenCL device: gpu "vec.cl": add_elements<<<(k + 255) / 256, 256>>>(k, a, b, c) */
#pragma OPENCL FP_CONTRACT OFF

__kernel void add_elements(ulong k, __global const float *a, __global const float *b, __global float *c)
{
    size_t i = get_global_id(0);
    if (i < k)
        c[i] = a[i] + b[i];
}
