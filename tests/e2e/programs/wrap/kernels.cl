#include "kernels.h"
/* kernel void commented(__global float *a) {} */
typedef struct { float re, im; } pair;
__constant float4 weights[2] = { (float4)(1, 2, 3, 4), (float4)(0.5f) };
constant int taps = 3;

float helper(float4 v) { return dot(v, weights[0]) + (float)native_exp(v.x); }

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scale(ulong n, __global const real *a, __global real *restrict b, float by)
{
#ifdef LATER
    }
#endif
    const size_t i = get_global_id(0);
    if (i < n)
        b[i] = helper((float4)(a[i], 0, 0, 0)) * by; // '{' and "}"
}

kernel void rows(const global int *a, global long *sums, int w, uint flags, long d, local int *part)
{
    part[get_local_id(0)] = a[get_global_id(0)] * w + flags;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[get_group_id(0)] = part[0] + d;
}

__kernel void pairs(__global pair *z, __global const uchar4 *rgba, __constant double *table, ulong h, ulong w) { z[0].re = rgba[0].x + table[0]; }

__kernel void images(read_only image2d_t image, __global float *out) { out[0] = 0; }
__kernel void two(__local float *a, __local float *b, __global float *out) { out[0] = a[0] + b[0]; }
__kernel void narrow(__global short *out, short by) { out[0] = by; }
void forward(__global float *a);
