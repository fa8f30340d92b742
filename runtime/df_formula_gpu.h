/* df_formula_gpu.h - what the GPU code of formulas is made with: which elements a thread computes, and the launch.
 *
 * GPU:      nvcc compiles that code, or an OpenCL driver. x, y and z are the places of a thread in the whole grid. Along y and z a grid has a limit, so a thread
 *           goes on with the elements that are whole grids further.
 * Tiles:    the code of a group is phases. In each, the items of a work-group compute elements side by side; DF_BARRIER() ends it.
 * One text: generated functions are the same for all compilers; macros give it the words of each. CUDA's are here, those of OpenCL C in df_opencl_c.h. The
 *           host's C++ compiler makes functions for the emulated GPU of it (df_formula_host.h). In C this file has what launches OpenCL kernels.
 * Threads:  any.
 */
#ifndef DF_FORMULA_GPU_H
#define DF_FORMULA_GPU_H

#ifndef __OPENCL_C_VERSION__
#include <df.h>
#endif
#include <df_formula.h>
#include <df_strips.h>

#if defined __OPENCL_C_VERSION__
#include <df_opencl_c.h>
#elif defined __CUDACC__
#define DF_LAUNCH(function, grid, block, stream, ...) function<<<grid, block, 0, (cudaStream_t)stream>>>(__VA_ARGS__)
#define DF_LAUNCH_ALL DF_LAUNCH         /* of code that goes over all elements whatever the grid is */
#define DF_ON_DEVICE static __device__ __forceinline__
#define DF_DEVICE_DATA static __device__ const
#define DF_KERNEL(x, y) static __global__ void /* of x * y items */
#define DF_ITEMS_AT_MOST(n) __launch_bounds__(n)
#define DF_OF_MOST_ITEMS __launch_bounds__(DF_MOST_ITEMS, 4) /* at least four work-groups on a multiprocessor: at most 64 registers */
#define DF_GLOBAL(type, name) type *restrict name /* a port, as a parameter; */
#define DF_GLOBAL_BEGIN(name) (void)0   /* its pointer is complete after this */
#define DF_IN_GLOBAL(type) type         /* types of what pointers point to */
#define DF_IN_LOCAL(type) type
#define DF_LOCAL(type, name, n) __shared__ type name[n]
#define DF_LOCAL_IN(type, name, other) type *const name = other /* in the array of `other`, of which nothing is read any more */
#define DF_STAGE(number, name, work, n, whole)
#define DF_PHASE
#define DF_UNROLL(n) DF_PRAGMA(unroll n)
#define DF_PRAGMA(words) _Pragma(#words)
#define DF_BARRIER() __syncthreads()
#define DF_ALL(condition) (condition)   /* of a loop with barriers: the same for all items */
#define DF_WHEN(condition) if (condition) /* around barriers; likewise */
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
#define DF_FIRST_X df_first_x()
#define DF_FIRST_Y df_first_y()
#define DF_FIRST_Z df_first_z()
#define DF_NEXT_X(x, end) (end)          /* a grid has threads for all that lie along x: nothing is computed ahead for further ones */
#define DF_STEP_Y df_step_y()
#define DF_STEP_Z df_step_z()
#elif defined __cplusplus
#include <df_formula_host.h>
#else
#include <df_opencl.h>
#endif

/* ---- items of a work-group ---- */

#define DF_MOST_ITEMS 256                    /* items at most */
#define DF_ITEM (DF_ITEM_Y * DF_ITEMS_X + DF_ITEM_X)
#define DF_ITEMS (DF_ITEMS_X * DF_ITEMS_Y)

/* ---- reductions by work-groups ---- */

#ifdef DF_RACES                              /* tests have small sizes, and take each way with them */
#define DF_FEW_TERMS DF_LONG(0)
#define DF_MOST_GROUPS DF_LONG(6)
#define DF_MOST_RESULTS DF_LONG(40)
#else
#define DF_FEW_TERMS DF_LONG(255)
#define DF_MOST_GROUPS DF_LONG(2048)         /* that fill a large GPU: 8 of 256 items for each of up to 256 multiprocessors */
#define DF_MOST_RESULTS (DF_LONG(1) << 18)   /* in scratch: with more, a work-group joins up to 1024 units to one */
#endif
#define DF_WIDE_BLOCK 16384                  /* values of the last range in a unit of a reduction without order */
#define DF_PARTS 1                           /* what a launch does: it computes the results of units, or partial results; */
#define DF_RESULT 2                          /* it joins them and stores the element; */
#define DF_START 4                           /* or it stores what a histogram begins with. */

/* The items of a work-group, where it is launched. */
#if defined DF_RACES && defined __cplusplus
#define DF_ITEMS_OF_LAUNCH DF_ITEMS
#define DF_ITEMS_OF_LAUNCH_X DF_ITEMS_X
#else
#define DF_ITEMS_OF_LAUNCH DF_MOST_ITEMS
#define DF_ITEMS_OF_LAUNCH_X 32
#endif

/* What several items may do with the same element, of global and of local memory. */
#if defined __CUDACC__
DF_ON_DEVICE void df_atomic_add_i32(int32_t *to, int32_t value) { atomicAdd((unsigned *)to, (unsigned)value); }
DF_ON_DEVICE void df_atomic_min_i32(int32_t *to, int32_t value) { atomicMin((int *)to, value); }
DF_ON_DEVICE void df_atomic_max_i32(int32_t *to, int32_t value) { atomicMax((int *)to, value); }
DF_ON_DEVICE void df_atomic_add_i64(int64_t *to, int64_t value) { atomicAdd((unsigned long long *)to, (unsigned long long)value); }
DF_ON_DEVICE void df_atomic_min_i64(int64_t *to, int64_t value) { atomicMin((long long *)to, (long long)value); }
DF_ON_DEVICE void df_atomic_max_i64(int64_t *to, int64_t value) { atomicMax((long long *)to, (long long)value); }
#elif defined __cplusplus
#define DF_ATOMIC(name, type) DF_ON_DEVICE void df_atomic_##name(type *to, type value) { *to = df_##name(*to, value); }
DF_ATOMIC(add_i32, int32_t)
DF_ATOMIC(min_i32, int32_t)
DF_ATOMIC(max_i32, int32_t)
DF_ATOMIC(add_i64, int64_t)
DF_ATOMIC(min_i64, int64_t)
DF_ATOMIC(max_i64, int64_t)
#endif
#ifdef __cplusplus
#define df_local_add_i32 df_atomic_add_i32
#define df_local_min_i32 df_atomic_min_i32
#define df_local_max_i32 df_atomic_max_i32
#define df_local_add_i64 df_atomic_add_i64
#define df_local_min_i64 df_atomic_min_i64
#define df_local_max_i64 df_atomic_max_i64
#endif

/* Is an element better computed by a work-group than by an item? */
static inline bool df_is_grouped(int64_t terms, int64_t units, int64_t elements)
{
    return terms > DF_FEW_TERMS && units <= 2147483647 && elements > 0 && elements <= 65536;
}

/* Of numbers from 0 to 2^32 - 1: a GPU calls a function to divide longer ones. */
DF_OP int64_t df_quotient(int64_t a, int64_t b) { return (uint32_t)a / (uint32_t)b; }
DF_OP int64_t df_remainder(int64_t a, int64_t b) { return (uint32_t)a % (uint32_t)b; }

/* The units of one element, and how work-groups share them. */
struct df_units {
    int64_t blocks, units;                   /* blocks of the last range; times the values of the other ranges */
    int64_t chunks;                          /* that work-groups take by turns */
    /* in lanes */
    int folds, two;                          /* a chunk has one result; the two last ranges are joined by that */
    int64_t inner, each;                     /* if it does: `inner` units are the values of a range, which are `each` chunks */
    int64_t results, rows, n;                /* rows * n results: the n of a row are joined first */
};

DF_OP int64_t df_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

DF_OP struct df_units df_lane_units(int64_t last, int64_t second, int64_t outer, int64_t elements)
{
    struct df_units a = { df_up(last, DF_BLOCK), df_up(last, DF_BLOCK) * second * outer, 0, 0, 0, 0, 0, 0, 0, 0 };
    a.folds = a.units > 0 && a.units * df_strip_least(elements, DF_MOST_GROUPS) > DF_MOST_RESULTS;
    a.two = a.folds && a.blocks == 1;
    a.rows = a.two ? outer : second * outer;
    a.inner = a.two ? second : a.blocks;
    a.each = df_up(a.inner, DF_BLOCK);
    a.n = a.folds ? a.each : a.blocks;
    a.chunks = a.folds ? a.rows * a.each : df_up(a.units, DF_LANES);
    a.results = a.folds ? a.chunks : a.units;
    return a;
}

DF_OP int64_t df_chunk_first(const struct df_units *a, int64_t chunk)
{
    return a->folds ? df_quotient(chunk, a->each) * a->inner + df_remainder(chunk, a->each) * DF_BLOCK : chunk * DF_LANES;
}

DF_OP int64_t df_chunk_end(const struct df_units *a, int64_t chunk)
{
    const int64_t end = df_chunk_first(a, chunk) + (a->folds ? DF_BLOCK : DF_LANES), most = a->folds ? (df_quotient(chunk, a->each) + 1) * a->inner : a->units;
    return end < most ? end : most;
}

/* How many of so many items go over a range of this extent: a power of two. */
DF_OP int df_width_of(int64_t extent, int items)
{
    int width = 1;
    while (width < extent && width < items)
        width *= 2;
    return width;
}

DF_OP struct df_units df_wide_units(int64_t last, int64_t outer)
{
    struct df_units a = { df_up(last, DF_WIDE_BLOCK), df_up(last, DF_WIDE_BLOCK) * outer, 0, 0, 0, 0, 0, 0, 0, 0 };
    a.chunks = df_up(a.units, DF_MOST_ITEMS / df_width_of(last, DF_MOST_ITEMS));
    return a;
}

/* The work-groups that share an element. */
static inline int64_t df_shares_of(int64_t elements, int64_t chunks)
{
    const int64_t shares = elements > 0 ? DF_MOST_GROUPS / elements : 1;
    return df_strip_most(df_strip_least(shares, chunks), 1);
}

/* Where in scratch the results of a reduction are, in bytes: `each` of them at a place. term: of argmin and argmax. */
struct df_results {
    int64_t each, value, term, has, end;
};

DF_OP struct df_results df_results(int64_t at, int64_t each, int64_t places, int64_t value, int64_t term)
{
    struct df_results a = { each, at, at + df_up(each * places * value, 16) * 16, 0, 0 };
    a.has = a.term + df_up(each * places * term, 16) * 16;
    a.end = a.has + df_up(each * places, 16) * 16;
    return a;
}

/* take: joins the lanes of the 16 units from `from` on, of which the chunk has `before` units before them. Each is a result, or the next value of a lane
 *       of the chunk.
 * fold: joins the lanes of the chunk.
 * join: joins rows of n results each, until a row has one. A result is stored where earlier steps have read. An item joins up to 16 results of a row;
 *       of more, 16 items take a lane each. */
#ifdef DF_ON_DEVICE
DF_MASK(df_local_mask, DF_IN_LOCAL(int))
#define DF_GROUP_LANES(name, type, JOIN)                                                                                     \
    DF_TREE(df_local_tree_##name, type, DF_IN_LOCAL(type), JOIN)                                                             \
    DF_ON_DEVICE void df_take_##name(const struct df_units *a, int64_t from, int64_t before, int64_t end, DF_IN_LOCAL(type) *part, const DF_IN_LOCAL(int) *any, \
                                     DF_IN_LOCAL(type) *lane, DF_IN_LOCAL(int) *have, DF_IN_GLOBAL(type) *value, DF_IN_GLOBAL(uint8_t) *has) \
    {                                                                                                                        \
        for (int l = DF_ITEM; l < DF_LANES; l += DF_ITEMS) {                                                                 \
            const uint32_t which = df_local_mask(any + l * DF_LANES);                                                        \
            const type result = df_local_tree_##name(part + l * DF_LANES, which);                                            \
            if (!a->folds) {                                                                                                 \
                if (from + l < end) {                                                                                        \
                    value[from + l] = result;                                                                                \
                    has[from + l] = which != 0;                                                                              \
                }                                                                                                            \
                continue;                                                                                                    \
            }                                                                                                                \
            const int had = before && have[l];                                                                               \
            if (which)                                                                                                       \
                lane[l] = had ? JOIN(lane[l], result) : result;                                                              \
            have[l] = had || which;                                                                                          \
        }                                                                                                                    \
    }                                                                                                                        \
    DF_ON_DEVICE void df_fold_##name(DF_IN_LOCAL(type) *lane, const DF_IN_LOCAL(int) *have, DF_IN_GLOBAL(type) *value, DF_IN_GLOBAL(uint8_t) *has) \
    {                                                                                                                        \
        const uint32_t which = df_local_mask(have);                                                                          \
        *value = df_local_tree_##name(lane, which);                                                                          \
        *has = which != 0;                                                                                                   \
    }                                                                                                                        \
    DF_ON_DEVICE void df_join_##name(const struct df_units *a, int64_t rows, int64_t n, DF_IN_GLOBAL(type) *value, DF_IN_GLOBAL(uint8_t) *has, \
                                     DF_IN_LOCAL(type) *part, DF_IN_LOCAL(int) *any)                                         \
    {                                                                                                                        \
        for (int64_t blocks; DF_ALL(a->results && n > DF_LANES); n = blocks) {                                               \
            blocks = df_up(n, DF_BLOCK);                                                                                     \
            for (int64_t first = 0; DF_ALL(first < rows * blocks); first += DF_LANES) {                                      \
                DF_PHASE                                                                                                     \
                for (int slot = DF_ITEM; slot < DF_MOST_ITEMS; slot += DF_ITEMS) {                                           \
                    const int64_t to = first + slot / DF_LANES, row = df_quotient(to, blocks);                               \
                    const int64_t from = df_remainder(to, blocks) * DF_BLOCK, end = from + DF_BLOCK < n ? from + DF_BLOCK : n;            \
                    any[slot] = 0;                                                                                           \
                    for (int64_t i = row * n + from + slot % DF_LANES; to < rows * blocks && i < row * n + end; i += DF_LANES) \
                        if (has[i]) {                                                                                        \
                            part[slot] = any[slot] ? JOIN(part[slot], value[i]) : value[i];                                  \
                            any[slot] = 1;                                                                                   \
                        }                                                                                                    \
                }                                                                                                            \
                DF_BARRIER();                                                                                                \
                DF_PHASE                                                                                                     \
                for (int l = DF_ITEM; l < DF_LANES; l += DF_ITEMS)                                                           \
                    if (first + l < rows * blocks)                                                                           \
                        df_fold_##name(part + l * DF_LANES, any + l * DF_LANES, &value[first + l], &has[first + l]);         \
                DF_BARRIER();                                                                                                \
            }                                                                                                                \
        }                                                                                                                    \
        for (int64_t first = 0; DF_ALL(a->results && n > 1 && first < rows); first += DF_MOST_ITEMS) {                       \
            DF_PHASE                                                                                                         \
            for (int slot = DF_ITEM; slot < DF_MOST_ITEMS && first + slot < rows; slot += DF_ITEMS) {                        \
                const int64_t row = (first + slot) * n;                                                                      \
                type lane[DF_LANES];                                                                                         \
                uint32_t which = 0;                                                                                          \
                for (int l = 0; l < DF_LANES; l++)                                                                           \
                    which |= (uint32_t)(l < n && has[row + l]) << l;                                                         \
                for (int l = 0; l < DF_LANES; l++)                                                                           \
                    lane[l] = which >> l & 1u ? value[row + l] : 0;                                                          \
                part[slot] = df_tree_##name(lane, which);                                                                    \
                any[slot] = which != 0;                                                                                      \
            }                                                                                                                \
            DF_BARRIER();                                                                                                    \
            DF_PHASE                                                                                                         \
            for (int slot = DF_ITEM; slot < DF_MOST_ITEMS && first + slot < rows; slot += DF_ITEMS) {                        \
                value[first + slot] = part[slot];                                                                            \
                has[first + slot] = any[slot] != 0;                                                                          \
            }                                                                                                                \
            DF_BARRIER();                                                                                                    \
        }                                                                                                                    \
    }
DF_EACH_LANE_OP(DF_GROUP_LANES, f32, float)
DF_EACH_LANE_OP(DF_GROUP_LANES, f64, double)
#endif

#ifndef __OPENCL_C_VERSION__
#ifdef __cplusplus
#define restrict __restrict__

DF_ON_DEVICE int64_t df_first_x() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }
DF_ON_DEVICE int64_t df_first_y() { return (int64_t)blockIdx.y * blockDim.y + threadIdx.y; }
DF_ON_DEVICE int64_t df_first_z() { return (int64_t)blockIdx.z * blockDim.z + threadIdx.z; }
DF_ON_DEVICE int64_t df_step_x() { return (int64_t)gridDim.x * blockDim.x; }
DF_ON_DEVICE int64_t df_step_y() { return (int64_t)gridDim.y * blockDim.y; }
DF_ON_DEVICE int64_t df_step_z() { return (int64_t)gridDim.z * blockDim.z; }

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

/* Launches a generated kernel on groups_x * … work-groups of items_x * items_y items. Its arguments are values and ports; `first` counts elements of a port. */
#define DF_RUN(function, items_x, items_y, groups_x, groups_y, groups_z, ...)                                                \
    DF_LAUNCH_ALL(function, df_grid(dim3(1, 1), groups_x, groups_y, groups_z), dim3(items_x, items_y), stream, __VA_ARGS__)
#define DF_VALUE(value) value
#define DF_PORT(type, port, first) (type *)(port) + (first)
#else                                        /* the same of an OpenCL kernel */
static inline uint32_t df_groups(int64_t n, int64_t most) { return (uint32_t)(n < most ? n : most); }

/* A port without elements has no address. The kernel does not read it, and gets another one. */
static inline int df_cl_run(struct df_call *call, void *stream, const char *kernel, const uint32_t *items, int64_t x, int64_t y, int64_t z,
                            struct df_cl_arg *args, unsigned n)
{
    const uint32_t groups[3] = { df_groups(x, 2147483647), df_groups(y, 65535), df_groups(z, 65535) };
    const void *some = NULL;
    for (unsigned i = 0; i < n; i++)
        some = args[i].port ? args[i].port : some;
    for (unsigned i = 0; i < n; i++)
        args[i].port = args[i].value || args[i].port ? args[i].port : some;
    return some && x > 0 && y > 0 && z > 0 ? df_cl_launch(call, stream, kernel, groups, items, args, n) : DF_OK;
}

#define DF_RUN(function, items_x, items_y, groups_x, groups_y, groups_z, ...)                                                \
    do {                                                                                                                     \
        struct df_cl_arg df_args[] = { __VA_ARGS__ };                                                                        \
        const uint32_t df_items[3] = { items_x, items_y, 1 };                                                                \
        if (df_cl_run(call, stream, #function, df_items, groups_x, groups_y, groups_z, df_args, sizeof df_args / sizeof *df_args) != DF_OK) \
            return DF_FAILED;                                                                                                \
    } while (0)
#define DF_VALUE(a) { .value = (const __typeof__(a)[]){ a }, .bytes = sizeof(a) }
#define DF_PORT(type, at, by) { .port = at, .bytes = sizeof(type), .first = by }
#endif
#endif

#endif
