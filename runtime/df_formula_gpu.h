/* df_formula_gpu.h - what the GPU code of formulas is made with: which elements a thread computes, and the launch.
 *
 * GPU:      nvcc compiles that code. x, y and z are the places of a thread in the whole grid. Along y and z a grid has a limit, so a thread
 *           goes on with the elements that are whole grids further.
 * Tiles:    the code of a group is phases. In each, the items of a work-group compute elements side by side; DF_BARRIER() ends it.
 * Host:     another C++ compiler makes functions for the emulated GPU of it (dfc --emu-gpu-code): a launch of generated code is one
 *           work-group of one item, so that its loops go over all elements and become vectors; one of a kernel that is written is
 *           a loop over blocks and threads. The bits are the same. With -DDF_RACES=1 or -1
 *           eight items execute each phase one after the other, the first or the last one first, and local memory begins with
 *           other values and is checked: a missing barrier changes the bits, an index outside ends the program. With -DDF_LAUNCHES
 *           launches are printed.
 * Counts:   with -DDF_COUNT_LOADS the host counts each access to global memory. At its end the program prints, for each kernel, its launches and the
 *           elements that it loaded and stored; then for each stage of tiles the elements that it computed, how many its streams have (of nodes
 *           that are not divided), and the operations for each of them.
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
#define DF_OF_MOST_ITEMS __launch_bounds__(DF_MOST_ITEMS, 4) /* at least four work-groups on a multiprocessor: at most 64 registers */
#define DF_GLOBAL(type) type *restrict
#define DF_LOCAL(type, name, n) __shared__ type name[n]
#define DF_LOCAL_IN(type, name, other) type *const name = other /* in the array of `other`, of which nothing is read any more */
#define DF_STAGE(number, name, work, n, whole)
#define DF_PHASE
#define DF_UNROLL(n) DF_PRAGMA(unroll n)
#define DF_PRAGMA(words) _Pragma(#words)
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
#ifndef DF_COUNT_LOADS
#define DF_GLOBAL(type) type *restrict
#define DF_STAGE(number, name, work, n, whole)
#ifdef DF_LAUNCHES                      /* each launch is printed to standard error, with the shape that it has on a GPU */
#include <stdio.h>
#define DF_LAUNCH_ALL(function, grid, block, stream, ...) \
    (df_print_launch(#function, grid, block), df_once_on_host([&] { function(__VA_ARGS__); }))
#else
#define DF_LAUNCH_ALL(function, grid, block, stream, ...) df_once_on_host([&] { function(__VA_ARGS__); })
#endif
#else
#define DF_GLOBAL(type) df_counted<type>
#define DF_LAUNCH_ALL(function, grid, block, stream, ...) \
    df_once_on_host([&] { df_count_launch([]() -> df_counts & { static df_counts counts(#function); return counts; }(), [&] { function(__VA_ARGS__); }); })
#define DF_STAGE(number, name, work, n, whole) df_count_stage(number, name, work, n, whole)
#include <stdio.h>

enum { df_most_stages = 256 };
struct df_counts {                      /* of a kernel */
    const char *kernel, *stage[df_most_stages] = {};
    int64_t launches = 0, loads = 0, stores = 0, work[df_most_stages] = {}, made[df_most_stages] = {}, whole[df_most_stages] = {};
    explicit df_counts(const char *name) : kernel(name) {}
    df_counts(const df_counts &) = delete;
    ~df_counts()
    {
        if (!launches)
            return;
        fprintf(stderr, "%s: launches %lld, loads %lld, stores %lld\n", kernel, (long long)launches, (long long)loads, (long long)stores);
        for (int k = 0; k < df_most_stages; k++)
            if (stage[k])
                fprintf(stderr, "    %s: computed %lld of %lld, operations %lld\n", stage[k], (long long)made[k], (long long)(launches * whole[k]),
                        (long long)work[k]);
    }
};
static thread_local int64_t df_loads, df_stores;
static thread_local df_counts *df_counting;

static void df_count_stage(int number, const char *name, int64_t work, int64_t n, int64_t whole)
{
    if (number >= df_most_stages)
        return;
    __atomic_store_n(&df_counting->stage[number], name, __ATOMIC_RELAXED);
    __atomic_store_n(&df_counting->work[number], work, __ATOMIC_RELAXED);
    __atomic_store_n(&df_counting->whole[number], whole, __ATOMIC_RELAXED);
    __atomic_add_fetch(&df_counting->made[number], n, __ATOMIC_RELAXED);
}

template <class function> static void df_count_launch(df_counts &counts, function body)
{
    df_loads = df_stores = 0;
    df_counting = &counts;
    body();
    __atomic_add_fetch(&counts.launches, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&counts.loads, df_loads, __ATOMIC_RELAXED);
    __atomic_add_fetch(&counts.stores, df_stores, __ATOMIC_RELAXED);
}

template <class type> struct df_counted { /* a pointer to global memory that kernels may write to */
    struct element {
        type *at;
        operator type() const { return df_loads++, *at; }
        void operator=(type value) const { df_stores++, *at = value; }
        void operator=(const element &from) const { *this = (type)from; }
    };
    type *at;
    df_counted(type *first) : at(first) {}
    element operator[](int64_t i) const { return element{ at + i }; }
};
template <class type> struct df_counted<const type> {
    const type *at;
    df_counted(const type *first) : at(first) {}
    type operator[](int64_t i) const { return df_loads++, at[i]; }
};
#endif
#define DF_ON_DEVICE static inline
#define DF_DEVICE_DATA static const
#define DF_ITEMS_AT_MOST(n)
#define DF_OF_MOST_ITEMS
#define DF_UNROLL(n)
#define DF_LOCAL_IN(type, name, other) auto &name = other
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

#ifdef DF_LAUNCHES
static void df_print_launch(const char *function, dim3 grid, dim3 block)
{
    fprintf(stderr, "launch %s: %llu work-groups of %u items\n", function, (unsigned long long)grid.x * grid.y * grid.z, block.x * block.y * block.z);
}
#endif

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
#ifdef DF_RACES
#define DF_ITEMS_OF_LAUNCH DF_ITEMS
#define DF_ITEMS_OF_LAUNCH_X DF_ITEMS_X
#else
#define DF_ITEMS_OF_LAUNCH DF_MOST_ITEMS
#define DF_ITEMS_OF_LAUNCH_X 32
#endif

/* What several items may do with the same element. */
#ifdef __CUDACC__
DF_ON_DEVICE void df_atomic_add_i32(int32_t *to, int32_t value) { atomicAdd((unsigned *)to, (unsigned)value); }
DF_ON_DEVICE void df_atomic_min_i32(int32_t *to, int32_t value) { atomicMin((int *)to, value); }
DF_ON_DEVICE void df_atomic_max_i32(int32_t *to, int32_t value) { atomicMax((int *)to, value); }
DF_ON_DEVICE void df_atomic_add_i64(int64_t *to, int64_t value) { atomicAdd((unsigned long long *)to, (unsigned long long)value); }
DF_ON_DEVICE void df_atomic_min_i64(int64_t *to, int64_t value) { atomicMin((long long *)to, (long long)value); }
DF_ON_DEVICE void df_atomic_max_i64(int64_t *to, int64_t value) { atomicMax((long long *)to, (long long)value); }
#else
#define DF_ATOMIC(name, type) DF_ON_DEVICE void df_atomic_##name(type *to, type value) { *to = df_##name(*to, value); }
DF_ATOMIC(add_i32, int32_t)
DF_ATOMIC(min_i32, int32_t)
DF_ATOMIC(max_i32, int32_t)
DF_ATOMIC(add_i64, int64_t)
DF_ATOMIC(min_i64, int64_t)
DF_ATOMIC(max_i64, int64_t)
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
#define DF_GROUP_LANES(name, type, JOIN)                                                                                     \
    DF_ON_DEVICE void df_take_##name(const struct df_units *a, int64_t from, int64_t before, int64_t end, type *part, const int *any, \
                                     type *lane, int *have, type *value, uint8_t *has)                                       \
    {                                                                                                                        \
        for (int l = DF_ITEM; l < DF_LANES; l += DF_ITEMS) {                                                                 \
            const uint32_t which = df_mask(any + l * DF_LANES);                                                              \
            const type result = df_tree_##name(part + l * DF_LANES, which);                                                  \
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
    DF_ON_DEVICE void df_fold_##name(type *lane, const int *have, type *value, uint8_t *has)                                 \
    {                                                                                                                        \
        const uint32_t which = df_mask(have);                                                                                \
        *value = df_tree_##name(lane, which);                                                                                \
        *has = which != 0;                                                                                                   \
    }                                                                                                                        \
    DF_ON_DEVICE void df_join_##name(const struct df_units *a, int64_t rows, int64_t n, type *value, uint8_t *has, type *part, int *any) \
    {                                                                                                                        \
        for (int64_t blocks; a->results && n > DF_LANES; n = blocks) {                                                       \
            blocks = df_up(n, DF_BLOCK);                                                                                     \
            for (int64_t first = 0; first < rows * blocks; first += DF_LANES) {                                              \
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
        for (int64_t first = 0; a->results && n > 1 && first < rows; first += DF_MOST_ITEMS) {                               \
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
#define DF_NEXT_X(x, end) (end)             /* a grid has threads for all that lie along x: nothing is computed ahead for further ones */
#define DF_STEP_Y df_step_y()
#define DF_STEP_Z df_step_z()
#else
#define DF_FIRST_X 0
#define DF_FIRST_Y 0
#define DF_FIRST_Z 0
#define DF_NEXT_X(x, end) ((x) + 1)
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
