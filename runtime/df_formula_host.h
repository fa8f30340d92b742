/* df_formula_host.h - the macros of df_formula_gpu.h where the host's C++ compiler makes functions for the emulated GPU of the text for GPUs
 * (dfc --emu-gpu-code).
 *
 * Launches: one of generated code is one work-group of one item, so that its loops go over all elements and become vectors; one of a kernel that is
 *           written is a loop over blocks and threads. The bits are those of a GPU. With -DDF_LAUNCHES launches are printed.
 * Races:    with -DDF_RACES=1 or -1 eight items execute each phase one after the other, the first or the last one first, and local memory begins with
 *           other values and is checked: a missing barrier changes the bits, an index outside ends the program.
 * Counts:   with -DDF_COUNT_LOADS each access to global memory is counted. At its end the program prints, for each kernel, its launches and the
 *           elements that it loaded and stored; then for each stage of tiles the elements that it computed, how many its streams have (of nodes
 *           that are not divided), and the operations for each of them.
 */
#ifndef DF_FORMULA_HOST_H
#define DF_FORMULA_HOST_H

#define DF_LAUNCH(function, grid, block, stream, ...) df_on_host(grid, block, [&] { function(__VA_ARGS__); })
#ifndef DF_COUNT_LOADS
#define DF_GLOBAL(type, name) type *restrict name
#define DF_STAGE(number, name, work, n, whole)
#ifdef DF_LAUNCHES                      /* each launch is printed to standard error, with the shape that it has on a GPU */
#include <stdio.h>
#define DF_LAUNCH_ALL(function, grid, block, stream, ...) \
    (df_print_launch(#function, grid, block), df_once_on_host([&] { function(__VA_ARGS__); }))
#else
#define DF_LAUNCH_ALL(function, grid, block, stream, ...) df_once_on_host([&] { function(__VA_ARGS__); })
#endif
#else
#define DF_GLOBAL(type, name) df_counted<type> name
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
#define DF_KERNEL(x, y) static void
#define DF_ITEMS_AT_MOST(n)
#define DF_OF_MOST_ITEMS
#define DF_UNROLL(n)
#define DF_ALL(condition) (condition)
#define DF_WHEN(condition) if (condition)
#define DF_GLOBAL_BEGIN(name) (void)0
#define DF_IN_GLOBAL(type) type
#define DF_IN_LOCAL(type) type
#define DF_LOCAL_IN(type, name, other) auto &name = other
#define DF_AT(place) (place)
#define DF_GROUP_X DF_LONG(0)
#define DF_GROUP_Y DF_LONG(0)
#define DF_GROUP_Z DF_LONG(0)
#define DF_GROUPS_X DF_LONG(1)
#define DF_GROUPS_Y DF_LONG(1)
#define DF_GROUPS_Z DF_LONG(1)
#define DF_FIRST_X 0
#define DF_FIRST_Y 0
#define DF_FIRST_Z 0
#define DF_NEXT_X(x, end) ((x) + 1)
#define DF_STEP_Y 1
#define DF_STEP_Z 1
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
