/* device.h - what the GPU variants of nuclei are made with: launches, union-find on a grid of pixels, boxes of components.
 *
 * Host:     If the compiler is not nvcc, a launch runs its threads on three threads of the host, so that the emulated GPU can run
 *           this code and its results can be compared: check.sh does that. Atomic operations are atomic there, too.
 * Loops:    A kernel has one thread for each element, and takes what is a whole grid further besides: EACH.
 */
#ifndef NUCLEI_DEVICE_H
#define NUCLEI_DEVICE_H

#include <df.h>
#include <df_formula_gpu.h>
#include <string.h>

#include "box.h"

#define EACH(i, n) for (int64_t i = df_first_x(), i##_step = df_step_x(); i < (int64_t)(n); i += i##_step)

#ifdef __CUDACC__
#define LAUNCH(function, n, stream, ...) \
    function<<<df_n_blocks((int64_t)(n), 256, 1 << 20), 256, 0, (cudaStream_t)(stream)>>>(__VA_ARGS__)

static inline int after(struct df_call *call)
{
    cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? (int)DF_OK : df_fail(call, "%s", cudaGetErrorString(error));
}

/* Waits, and brings a few bytes to the host. */
static inline int bring(struct df_call *call, cudaStream_t stream, void *to, const void *from, size_t bytes)
{
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    return error == cudaSuccess ? (int)DF_OK : df_fail(call, "%s", cudaGetErrorString(error));
}
static inline void clear(cudaStream_t stream, void *p, size_t bytes) { cudaMemsetAsync(p, 0, bytes, stream); }
static inline void move(cudaStream_t stream, void *to, const void *from, size_t bytes)
{
    cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
#else
#include <pthread.h> /* it is compiled in a quarter of the time that <thread> takes */

enum { HOST_THREADS = 3 };

template <class function> static void run_share(unsigned first, unsigned blocks, function body)
{
    gridDim = dim3(blocks);
    blockDim = dim3(256);
    for (blockIdx.x = first; blockIdx.x < blocks; blockIdx.x += HOST_THREADS)
        df_block_on_host(body);
}

template <class function> struct share {
    unsigned first, blocks;
    const function *body;
};

template <class function> static void *run_given(void *given)
{
    const struct share<function> *share = (const struct share<function> *)given;
    run_share(share->first, share->blocks, *share->body);
    return NULL;
}

template <class function> static void launch_on_host(int64_t n, function body)
{
    const unsigned blocks = df_n_blocks(n, 256, 1 << 20);
    struct share<function> shares[HOST_THREADS];
    pthread_t threads[HOST_THREADS];
    unsigned made = 1;                  /* this thread has the first share, and those for which there are no threads */
    for (unsigned i = 0; i < HOST_THREADS; i++)
        shares[i] = { i, blocks, &body };
    while (made < HOST_THREADS && pthread_create(&threads[made], NULL, run_given<function>, &shares[made]) == 0)
        made++;
    run_share(0, blocks, body);
    for (unsigned i = made; i < HOST_THREADS; i++)
        run_share(i, blocks, body);
    for (unsigned i = 1; i < made; i++)
        pthread_join(threads[i], NULL);
}
#define LAUNCH(function, n, stream, ...) ((void)(stream), launch_on_host((int64_t)(n), [=] { function(__VA_ARGS__); }))

static inline int after(struct df_call *) { return DF_OK; }
static inline int bring(struct df_call *, cudaStream_t, void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return DF_OK;
}
static inline void clear(cudaStream_t, void *p, size_t bytes) { memset(p, 0, bytes); }
static inline void move(cudaStream_t, void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }

static inline int atomicAdd(int *p, int v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
static inline int atomicAnd(int *p, int v) { return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); }
static inline int atomicCAS(int *p, int old, int v)
{
    __atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return old;
}
static inline int atomicMin(int *p, int v)
{
    int old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (v < old && !__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) { }
    return old;
}
static inline int atomicMax(int *p, int v)
{
    int old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (v > old && !__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) { }
    return old;
}
#endif

/* A word that other threads change at the same time. */
DF_ON_DEVICE int look(const int *p) { return *(const volatile int *)p; }

/* ---- union-find: parent[p] is a pixel of the same component that is not behind p; -1: p is not in the mask ---- */

DF_ON_DEVICE int root_of(const int *parent, int p)
{
    for (int up = look(&parent[p]); up != p; up = look(&parent[p]))
        p = up;
    return p;
}

DF_ON_DEVICE void unite(int *parent, int a, int b)
{
    for (;;) {
        a = root_of(parent, a);
        b = root_of(parent, b);
        if (a == b)
            return;
        int high = a > b ? a : b, low = a > b ? b : a, before = atomicMin(&parent[high], low);
        if (before == high)
            return;
        a = before;                     /* somebody was quicker: that one and `low` belong together, too */
        b = low;
    }
}

static __global__ void begin_components(int64_t n, const uint8_t *mask, int of, int *parent)
{
    EACH(p, n) parent[p] = mask[p] == of ? (int)p : -1;
}

static __global__ void join_components(int64_t h, int64_t w, int eight, int *parent)
{
    EACH(p, h * w) {
        int64_t y = p / w, x = p % w;
        if (look(&parent[p]) < 0)
            continue;
        if (x > 0 && look(&parent[p - 1]) >= 0)
            unite(parent, (int)p, (int)p - 1);
        if (y > 0 && look(&parent[p - w]) >= 0)
            unite(parent, (int)p, (int)(p - w));
        if (eight && y > 0 && x > 0 && look(&parent[p - w - 1]) >= 0)
            unite(parent, (int)p, (int)(p - w - 1));
        if (eight && y > 0 && x < w - 1 && look(&parent[p - w + 1]) >= 0)
            unite(parent, (int)p, (int)(p - w + 1));
    }
}

/* The component's first pixel in raster order, for every pixel. */
static __global__ void end_components(int64_t n, int *parent)
{
    EACH(p, n) if (look(&parent[p]) >= 0) atomicMin(&parent[p], root_of(parent, (int)p));
}

static inline void find_components(cudaStream_t stream, int64_t h, int64_t w, const uint8_t *mask, int of, int eight, int *parent)
{
    LAUNCH(begin_components, h * w, stream, h * w, mask, of, parent);
    LAUNCH(join_components, h * w, stream, h, w, eight, parent);
    LAUNCH(end_components, h * w, stream, h * w, parent);
}

/* Numbers from 1 up in raster order: rows count their roots, one thread adds up, rows number theirs. counts: h + 1 of them; the
 * last is how many there are. `number` is by root. */
static __global__ void count_roots(int64_t h, int64_t w, const int *parent, int *counts)
{
    EACH(y, h) {
        counts[y] = 0;
        for (int64_t p = y * w; p < (y + 1) * w; p++)
            counts[y] += parent[p] == p;
    }
}

static __global__ void add_up(int64_t h, int *counts)
{
    EACH(one, 1) {
        int sum = (int)one;
        for (int64_t y = 0; y <= h; y++) {
            int n = y < h ? counts[y] : 0;
            counts[y] = sum;
            sum += n;
        }
    }
}

static __global__ void number_roots(int64_t h, int64_t w, const int *parent, const int *counts, int *number)
{
    EACH(y, h) {
        int n = counts[y];
        for (int64_t p = y * w; p < (y + 1) * w; p++)
            if (parent[p] == p)
                number[p] = ++n;
    }
}

static __global__ void number_pixels(int64_t n, const int *parent, const int *number, int *labels)
{
    EACH(p, n) labels[p] = parent[p] < 0 ? 0 : number[parent[p]];
}

static inline void number_components(cudaStream_t stream, int64_t h, int64_t w, const int *parent, int *number, int *counts,
                                     int *labels)
{
    LAUNCH(count_roots, h, stream, h, w, parent, counts);
    LAUNCH(add_up, 1, stream, h, counts);
    LAUNCH(number_roots, h, stream, h, w, parent, counts, number);
    LAUNCH(number_pixels, h * w, stream, h * w, parent, number, labels);
}

/* ---- boxes ---- */

static __global__ void begin_boxes(int64_t n, struct box *boxes)
{
    EACH(i, n) {
        struct box *b = &boxes[i];
        b->top = b->left = 2147483647;
        b->bottom = b->right = -1;
        b->area = 0;
        b->label = (int)i + 1;
    }
}

static __global__ void extend_boxes(int64_t h, int64_t w, const int *labels, struct box *boxes)
{
    EACH(p, h * w) if (labels[p] > 0) {
        struct box *b = &boxes[labels[p] - 1];
        atomicMin(&b->top, (int)(p / w));
        atomicMin(&b->left, (int)(p % w));
        atomicMax(&b->bottom, (int)(p / w));
        atomicMax(&b->right, (int)(p % w));
        atomicAdd(&b->area, 1);
    }
}

/* Of the components 1 … n. */
static inline void find_boxes_on_gpu(cudaStream_t stream, int64_t h, int64_t w, const int *labels, int64_t n, struct box *boxes)
{
    LAUNCH(begin_boxes, n, stream, n, boxes);
    LAUNCH(extend_boxes, h * w, stream, h, w, labels, boxes);
}
#endif
