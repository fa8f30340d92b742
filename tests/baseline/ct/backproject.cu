// backproject.cu - back-projection on the GPU.
//
// A block of threads makes a box of voxels, WIDE x HIGH x DEEP, and each thread a column of them along z. First the threads compute in double
// precision where the views of the wave see the box, VIEWS at a time. Then each thread sums up in single precision, relative to the pixel that sees
// the box's middle. That is as precise as the CPU's chunks (backproject.c). Each voxel gets its views in order.
//
// On the host, where a block is one call, EACH_THREAD is a loop over its threads.
#include <df_formula_gpu.h>
#include <math.h>
#include <string.h>

enum { WIDE = 32, HIGH = 8, DEEP = 8, VIEWS = 32, BORDER = 2 };

#ifdef __CUDACC__
#define EACH_THREAD
#define BLOCK dim3(WIDE, HIGH)
#else
#define EACH_THREAD                                                                                                                        \
    for (threadIdx.y = 0; threadIdx.y < HIGH; threadIdx.y++)                                                                               \
        for (threadIdx.x = 0; threadIdx.x < WIDE; threadIdx.x++)
#define BLOCK dim3(1, 1)
#define __shared__ static thread_local
#define __syncthreads() (threadIdx = dim3(0, 0, 0))
#endif

struct volume {
    int nx, ny, nz;                     // of this part
    float shift;                        // BORDER: floor; 0: truncate
    double first, first_z, step;        // mm: of voxel 0, and from one to the next
};

// What is seen of a box: numerators and denominator at its first voxel, less the pixel `at` of its middle, and what they change by.
struct seen {
    float u[4], v[4], w[4];             // by x, y, z; the fourth: at the first voxel
    int at_u, at_v, there;
};

DF_ON_DEVICE struct seen look(const double *a, const struct volume o, double x, double y, double z, int m, int c)
{
    struct seen s;
    double at[3], middle[3], by[3][3];
    for (int i = 0; i < 3; i++) {
        at[i] = a[i] * x + a[3 + i] * y + a[6 + i] * z + a[9 + i];
        for (int j = 0; j < 3; j++)
            by[i][j] = a[3 * j + i] * o.step;
        middle[i] = at[i] + by[i][0] * (WIDE / 2) + by[i][1] * (HIGH / 2) + by[i][2] * (DEEP / 2);
    }
    double u = fmin(fmax(rint(middle[0] / middle[2]), (double)-BORDER), (double)c), v = fmin(fmax(rint(middle[1] / middle[2]), (double)-BORDER), (double)m);
    for (int j = 0; j < 3; j++) {
        s.u[j] = (float)(by[0][j] - u * by[2][j]);
        s.v[j] = (float)(by[1][j] - v * by[2][j]);
        s.w[j] = (float)by[2][j];
    }
    s.u[3] = (float)(at[0] - u * at[2]);
    s.v[3] = (float)(at[1] - v * at[2]);
    s.w[3] = (float)at[2];
    s.at_u = (int)u;
    s.at_v = (int)v;
    s.there = a[11] != 0;
    return s;
}

// What one view adds to the voxel at x, y, z of the box.
DF_ON_DEVICE float added(const struct seen *s, float x, float y, float z, const float *pairs, int m, int c, float shift)
{
    float one = 1 / (s->w[3] + x * s->w[0] + y * s->w[1] + z * s->w[2]);
    float u = (s->u[3] + x * s->u[0] + y * s->u[1] + z * s->u[2]) * one, v = (s->v[3] + x * s->v[0] + y * s->v[1] + z * s->v[2]) * one;
    u = fminf(fmaxf(u, (float)(-BORDER - s->at_u)), (float)(c - 2 * BORDER - s->at_u));
    v = fminf(fmaxf(v, (float)(-BORDER - s->at_v)), (float)(m - 2 * BORDER - s->at_v));
    int iu = (int)(u + ((float)s->at_u + shift)) - (int)shift, iv = (int)(v + ((float)s->at_v + shift)) - (int)shift;
    float alpha = u - (float)(iu - s->at_u), beta = v - (float)(iv - s->at_v);
    const float *p = pairs + 2 * ((size_t)(iv + BORDER) * c + iu + BORDER);
    float top = p[0] + alpha * (p[2] - p[0]), bottom = p[1] + alpha * (p[3] - p[1]);
    return one * one * (top + beta * (bottom - top));
}

static __global__ void add_views(const struct volume o, int k, int m, int c, const float *r, const double *a, float *vol)
{
    __shared__ struct seen views[VIEWS];
    int x0 = (int)blockIdx.x * WIDE, y0 = (int)blockIdx.y * HIGH, z0 = (int)blockIdx.z * DEEP;
    for (int from = 0; from < k; from += VIEWS) {
        int n = k - from < VIEWS ? k - from : VIEWS;
        EACH_THREAD {
            int t = (int)(threadIdx.y * WIDE + threadIdx.x);
            if (t < n)
                views[t] = look(a + 12 * (from + t), o, o.first + x0 * o.step, o.first + y0 * o.step, o.first_z + z0 * o.step, m, c);
        }
        __syncthreads();
        EACH_THREAD {
            int x = x0 + (int)threadIdx.x, y = y0 + (int)threadIdx.y;
            for (int z = z0; x < o.nx && y < o.ny && z < o.nz && z < z0 + DEEP; z++) {
                float *voxel = vol + ((size_t)z * o.ny + y) * o.nx + x, sum = *voxel;
                for (int i = 0; i < n; i++)
                    if (views[i].there)
                        sum += added(&views[i], (float)threadIdx.x, (float)threadIdx.y, (float)(z - z0), r + (size_t)(from + i) * m * c * 2, m, c, o.shift);
                *voxel = sum;
            }
        }
        __syncthreads();
    }
}

extern "C" int backproject_gpu(struct df_call *call, cudaStream_t stream, size_t k, size_t m, size_t c, size_t z, size_t y, size_t x, const float *r,
                               const double *a, float *vol, double side, const char *rule)
{
    struct df_part part = df_part(call);
    size_t whole = part.whole ? part.whole : z;
    bool truncates = strcmp(rule, "truncate") == 0;
    double step = side / (double)x;
    if (!truncates && strcmp(rule, "floor") != 0)
        return df_fail(call, "no rule '%s': there are floor and truncate", rule);
    if (!(side > 0))
        return df_fail(call, "the volume's side is %g mm", side);
    struct volume o = { (int)x, (int)y, (int)z, truncates ? 0.0f : (float)BORDER, -0.5 * step * (double)(x - 1),
                        -0.5 * step * (double)(whole - 1) + (double)part.first * step, step };
    dim3 grid((unsigned)((x + WIDE - 1) / WIDE), (unsigned)((y + HIGH - 1) / HIGH), (unsigned)((z + DEEP - 1) / DEEP));
    DF_LAUNCH(add_views, grid, BLOCK, stream, o, (int)k, (int)m, (int)c, r, a, vol);
    return DF_OK;
}
