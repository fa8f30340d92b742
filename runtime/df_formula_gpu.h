/* df_formula_gpu.h - what the GPU code of formulas is made with: which elements a thread computes, and the launch.
 *
 * GPU:      nvcc compiles that code. x, y and z are the places of a thread in the whole grid. A grid has a limit, so a thread
 *           goes on with the elements that are whole grids further.
 * Tiles:    the code of a group is phases. In each, the items of a work-group compute elements side by side; DF_BARRIER() ends it.
 * Host:     another C++ compiler makes functions for the emulated GPU of it (dfc --emu-gpu-code): a launch of generated code is one
 *           work-group of one item, so that its loops go over all elements and become vectors; one of a kernel that is written is
 *           a loop over blocks and threads. The bits are the same. With -DDF_RACES=1 or -1
 *           eight items execute each phase one after the other, the first or the last one first, and local memory begins with
 *           other values and is checked: a missing barrier changes the bits, an index outside ends the program.
 * Threads:  any.
 */
#ifndef DF_FORMULA_GPU_H
#define DF_FORMULA_GPU_H

#include <df.h>
#include <df_formula.h>
#include <df_strips.h>

#ifdef __CUDACC__
#define DF_LAUNCH(function, grid, block, stream, ...) function<<<grid, block, 0, (cudaStream_t)stream>>>(__VA_ARGS__)
#define DF_LAUNCH_ALL DF_LAUNCH         /* of code that goes over all elements whatever the grid is */
#define DF_ON_DEVICE static __device__ __forceinline__
#define DF_DEVICE_DATA static __device__ const
#define DF_ITEMS_AT_MOST(n) __launch_bounds__(n)
#define DF_LOCAL(type, name, n) __shared__ type name[n]
#define DF_PHASE
#define DF_BARRIER() __syncthreads()
#define DF_AT(place) (int32_t)(place)
#define DF_ITEM_X (int)threadIdx.x
#define DF_ITEM_Y (int)threadIdx.y
#define DF_ITEMS_X (int)blockDim.x
#define DF_ITEMS_Y (int)blockDim.y
#define DF_GROUP_X (int64_t)blockIdx.x
#define DF_GROUP_Y (int64_t)blockIdx.y
#define DF_GROUP_Z (int64_t)blockIdx.z
#define DF_GROUPS_X (int64_t)gridDim.x
#define DF_GROUPS_Y (int64_t)gridDim.y
#define DF_GROUPS_Z (int64_t)gridDim.z
#else
#define DF_LAUNCH(function, grid, block, stream, ...) df_on_host(grid, block, [&] { function(__VA_ARGS__); })
#define DF_LAUNCH_ALL(function, grid, block, stream, ...) df_once_on_host([&] { function(__VA_ARGS__); })
#define DF_ON_DEVICE static inline
#define DF_DEVICE_DATA static const
#define DF_ITEMS_AT_MOST(n)
#define DF_AT(place) (place)
#define DF_GROUP_X DF_LONG(0)
#define DF_GROUP_Y DF_LONG(0)
#define DF_GROUP_Z DF_LONG(0)
#define DF_GROUPS_X DF_LONG(1)
#define DF_GROUPS_Y DF_LONG(1)
#define DF_GROUPS_Z DF_LONG(1)
#ifdef DF_RACES                         /* 1: items in ascending order, -1: in descending order */
enum { df_items_x = 4, df_items_y = 2 };
static thread_local int df_item;

template <class type, int64_t n> struct df_checked { /* an array that begins with other values than it should have, and ends the program at an index outside */
    type at[n];
    df_checked() { __builtin_memset((void *)at, 0x5a, sizeof at); }
    type &operator[](int64_t i)
    {
        if (i < 0 || i >= n)
            __builtin_trap();
        return at[i];
    }
    operator type *() { return at; }
};
#define DF_LOCAL(type, name, n) df_checked<type, n> name
#define DF_PHASE for (int df_i = 0; df_i < df_items_x * df_items_y && (df_item = DF_RACES > 0 ? df_i : df_items_x * df_items_y - 1 - df_i, true); df_i++)
#define DF_BARRIER() (void)0
#define DF_ITEM_X (df_item % df_items_x)
#define DF_ITEM_Y (df_item / df_items_x)
#define DF_ITEMS_X df_items_x
#define DF_ITEMS_Y df_items_y
#else
#define DF_LOCAL(type, name, n) type name[n]
#define DF_PHASE
#define DF_BARRIER() (void)0
#define DF_ITEM_X 0
#define DF_ITEM_Y 0
#define DF_ITEMS_X 1
#define DF_ITEMS_Y 1
#endif
#define __global__

struct dim3 {
    unsigned x, y, z;
    explicit dim3(unsigned of_x = 1, unsigned of_y = 1, unsigned of_z = 1) : x(of_x), y(of_y), z(of_z) {}
};

static thread_local dim3 gridDim, blockDim, blockIdx, threadIdx;

template <class function> static void df_once_on_host(function body)
{
    const unsigned before = df_float_begin();
    body();
    df_float_end(before);
}

template <class function> static void df_block_on_host(function body)
{
    for (threadIdx.z = 0; threadIdx.z < blockDim.z; threadIdx.z++)
        for (threadIdx.y = 0; threadIdx.y < blockDim.y; threadIdx.y++)
            for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++)
                body();
}

template <class function> static void df_on_host(dim3 grid, dim3 block, function body)
{
    const unsigned before = df_float_begin();
    gridDim = grid;
    blockDim = block;
    for (blockIdx.z = 0; blockIdx.z < grid.z; blockIdx.z++)
        for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++)
            for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++)
                df_block_on_host(body);
    df_float_end(before);
}
#endif

/* ---- items of a work-group ---- */

#define DF_MOST_ITEMS 256                    /* items at most */
#define DF_ITEM (DF_ITEM_Y * DF_ITEMS_X + DF_ITEM_X)
#define DF_ITEMS (DF_ITEMS_X * DF_ITEMS_Y)

/* Is an element better computed by a work-group than by an item? In tests it is whenever it can be. */
static inline bool df_is_grouped(int64_t terms, int64_t elements)
{
#ifdef DF_RACES
    return terms >= 0 && elements > 0;
#else
    return terms >= DF_MOST_ITEMS && elements <= 65536;
#endif
}

/* A reduction in lanes by a work-group: makes it empty; hands its result to the reduction around it, and makes it empty. */
#define DF_GROUP_LANES(name, type)                                                                                           \
    DF_CALL void df_clear_##name(struct df_lanes_##name *a)                                                                  \
    {                                                                                                                        \
        for (int level = 0; level < DF_LEVELS; level++)                                                                      \
            a->n[level] = a->has[level] = 0;                                                                                 \
    }                                                                                                                        \
    DF_CALL void df_hand_##name(struct df_lanes_##name *from, struct df_lanes_##name *to)                                    \
    {                                                                                                                        \
        type value;                                                                                                          \
        const int any = df_end_##name(from, &value);                                                                         \
        df_clear_##name(from);                                                                                               \
        df_put_##name(to, 0, any, value);                                                                                    \
    }
DF_GROUP_LANES(sum_f32, float)
DF_GROUP_LANES(prod_f32, float)
DF_GROUP_LANES(least_f32, float)
DF_GROUP_LANES(greatest_f32, float)
DF_GROUP_LANES(sum_f64, double)
DF_GROUP_LANES(prod_f64, double)
DF_GROUP_LANES(least_f64, double)
DF_GROUP_LANES(greatest_f64, double)

#define restrict __restrict__

DF_ON_DEVICE int64_t df_first_x() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }
DF_ON_DEVICE int64_t df_first_y() { return (int64_t)blockIdx.y * blockDim.y + threadIdx.y; }
DF_ON_DEVICE int64_t df_first_z() { return (int64_t)blockIdx.z * blockDim.z + threadIdx.z; }
DF_ON_DEVICE int64_t df_step_x() { return (int64_t)gridDim.x * blockDim.x; }
DF_ON_DEVICE int64_t df_step_y() { return (int64_t)gridDim.y * blockDim.y; }
DF_ON_DEVICE int64_t df_step_z() { return (int64_t)gridDim.z * blockDim.z; }

/* The same in generated code, which is launched by DF_LAUNCH_ALL. */
#ifdef __CUDACC__
#define DF_FIRST_X df_first_x()
#define DF_FIRST_Y df_first_y()
#define DF_FIRST_Z df_first_z()
#define DF_STEP_X df_step_x()
#define DF_STEP_Y df_step_y()
#define DF_STEP_Z df_step_z()
#else
#define DF_FIRST_X 0
#define DF_FIRST_Y 0
#define DF_FIRST_Z 0
#define DF_STEP_X 1
#define DF_STEP_Y 1
#define DF_STEP_Z 1
#endif

/* The blocks for so many elements, as many as CUDA allows. */
static inline unsigned df_n_blocks(int64_t n, unsigned block, int64_t most)
{
    n = (n + block - 1) / block;
    return (unsigned)(n < most ? n : most);
}

static inline dim3 df_grid(dim3 block, int64_t x, int64_t y, int64_t z)
{
    return dim3(df_n_blocks(x, block.x, 2147483647), df_n_blocks(y, block.y, 65535), df_n_blocks(z, block.z, 65535));
}

#endif
