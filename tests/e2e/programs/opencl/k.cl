#pragma OPENCL FP_CONTRACT OFF

__kernel void scale(ulong w, __global const float *a, __global float *b, float by)
{
    const size_t x = get_global_id(0), y = get_global_id(1);
    if (x < w)
        b[y * w + x] = a[y * w + x] * by + PLUS;
}

/* A row's sum, by the items of a work-group. */
__kernel void rows(__global const float *a, __global int *sums, ulong w, __global int *seen, __local int *part)
{
    const size_t i = get_local_id(0), n = get_local_size(0), y = get_group_id(0);
    int sum = 0;
    for (size_t x = i; x < w; x += n)
        sum += (int)a[y * w + x];
    part[i] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t half_n = n / 2; half_n; half_n /= 2) {
        if (i < half_n)
            part[i] += part[i + half_n];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i == 0)
        sums[y] = seen[y] = part[0];
}

__kernel void shift(__global float *a, long n, double d)
{
    const long i = get_global_id(0);
    if (i < n)
        a[i] = a[i] + (float)d;
}

__kernel void sum(__global const float *a, __global const float *b, __global const float *c, __global float *d, int from)
{
    const size_t i = get_global_id(0);
    d[i] = a[i] + b[i] - c[i] + from;
}
