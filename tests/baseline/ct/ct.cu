// ct.cu - examples/ct written by hand with CUDA and pthreads: what dfc does for a user is written out here. tests/baseline/lines.sh counts its lines.
//
//     ct INPUT.rct N DENSITY.f32 PICTURE.png [threads=T] [memory=MIB] [cpu]
//
// GPU:      One block of device memory is asked for, and divided by hand. If the volume does not fit in it, it is made slab by slab, and all views are
//           read again for each. Views come by a reading thread into two pinned buffers, and are copied on a stream of their own beside computation.
// CPU:      Threads filter the views of a batch, meet, and add them to the volume, each to its own slab, while the next batch is read.
// Kernels:  the filter is that of std/fft.df, back-projection and geometry are in files beside this one. The other formulas of kernels.df are
//           written here, for both.
#include <math.h>
#include <png.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../call.h"

extern "C" {
int rays_cpu(struct df_call *call, size_t k, const double *a, const int32_t *views, float *f);
int filter_rows_open(struct df_call *call, size_t k, size_t h, size_t w, void **state);
void filter_rows_close(void *state);
int filter_rows_cpu(struct df_call *call, size_t k, size_t h, size_t w, const float *p, const float *s, float *r, float *q);
int backproject_cpu(struct df_call *call, size_t k, size_t m, size_t c, size_t z, size_t y, size_t x, const float *r, const double *a, float *vol,
                    double side, const char *rule);
}

enum { BATCH = 8, BUFFERS = 2, ALIGN = 256 };
static const double SIDE_MM = 256;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "ct: error: %s: %s\n", what, why);
    exit(1);
}

static void check_cuda(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        die(what, cudaGetErrorString(error));
}

static struct df_part df_part_of(size_t first, size_t rows, size_t whole)
{
    struct df_part part = { first, rows, whole, 0, 0 };
    return part;
}

// ---- the file ----

struct header {
    uint32_t width, height, views;
    float hu[2];
};

static FILE *open_views(const char *path, struct header *header)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        die(path, "cannot be read");
    if (fread(header, 20, 1, file) != 1 || !header->width || !header->height || !header->views)
        die(path, "is no .rct file");
    if (fseek(file, 0, SEEK_END) != 0 || (uint64_t)ftell(file) != 20 + header->views * (96 + 4 * (uint64_t)header->width * header->height))
        die(path, "is truncated, or no .rct file");
    if (fseek(file, 20, SEEK_SET) != 0)
        die(path, "cannot be read again");
    return file;
}

// ---- batches of views, read ahead by a thread ----

struct batch {
    float *images;                      // BATCH of them
    double *matrices;
    float *forms;                       // 6 numbers for each weight
    int n;                              // 0: the views have ended
    int full;                           // 1: it is the reader's turn to wait
};

struct reader {
    FILE *file;
    struct header header;
    struct batch batches[BUFFERS];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool pinned;
};

static void read_batch(struct reader *r, struct batch *b, uint32_t first)
{
    size_t pixels = (size_t)r->header.width * r->header.height;
    struct df_call call = {};
    int32_t views = (int32_t)r->header.views;
    b->n = r->header.views - first < BATCH ? (int)(r->header.views - first) : BATCH;
    for (int i = 0; i < b->n; i++)
        if (fread(b->matrices + 12 * i, 96, 1, r->file) != 1 || fread(b->images + i * pixels, 4, pixels, r->file) != pixels)
            die("the views", "cannot be read");
    if (rays_cpu(&call, (size_t)b->n, b->matrices, &views, b->forms) != DF_OK)
        die("the views", call.message);
}

static void *read_all(void *arg)
{
    struct reader *r = (struct reader *)arg;
    for (uint32_t first = 0, turn = 0;; first += BATCH, turn = (turn + 1) % BUFFERS) {
        struct batch *b = &r->batches[turn];
        pthread_mutex_lock(&r->lock);
        while (b->full)
            pthread_cond_wait(&r->changed, &r->lock);
        pthread_mutex_unlock(&r->lock);
        b->n = 0;
        if (first < r->header.views)
            read_batch(r, b, first);
        pthread_mutex_lock(&r->lock);
        b->full = 1;
        pthread_cond_broadcast(&r->changed);
        pthread_mutex_unlock(&r->lock);
        if (!b->n)
            return NULL;
    }
}

static void *host_memory(size_t bytes, bool pinned)
{
    void *p = NULL;
    if (pinned)
        check_cuda(cudaMallocHost(&p, bytes), "pinned memory");
    else if (!(p = aligned_alloc(64, (bytes + 63) / 64 * 64)))
        die("memory", "there is too little");
    return p;
}

static void host_free(void *p, bool pinned)
{
    if (pinned)
        cudaFreeHost(p);
    else
        free(p);
}

static void reader_open(struct reader *r, const char *path, bool pinned)
{
    r->file = open_views(path, &r->header);
    r->pinned = pinned;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    for (int i = 0; i < BUFFERS; i++) {
        r->batches[i].images = (float *)host_memory(BATCH * sizeof(float) * r->header.width * r->header.height, pinned);
        r->batches[i].matrices = (double *)host_memory(BATCH * 12 * sizeof(double), pinned);
        r->batches[i].forms = (float *)host_memory(BATCH * 6 * sizeof(float), pinned);
    }
}

// Begins with the first view again.
static void reader_begin(struct reader *r)
{
    if (fseek(r->file, 20, SEEK_SET) != 0)
        die("the views", "cannot be read again");
    for (int i = 0; i < BUFFERS; i++)
        r->batches[i].full = 0;
    if (pthread_create(&r->thread, NULL, read_all, r) != 0)
        die("a thread", "cannot be made");
}

static struct batch *reader_take(struct reader *r, int turn)
{
    struct batch *b = &r->batches[turn];
    pthread_mutex_lock(&r->lock);
    while (!b->full)
        pthread_cond_wait(&r->changed, &r->lock);
    pthread_mutex_unlock(&r->lock);
    return b;
}

static void reader_give_back(struct reader *r, int turn)
{
    pthread_mutex_lock(&r->lock);
    r->batches[turn].full = 0;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

static void reader_close(struct reader *r)
{
    for (int i = 0; i < BUFFERS; i++) {
        host_free(r->batches[i].images, r->pinned);
        host_free(r->batches[i].matrices, r->pinned);
        host_free(r->batches[i].forms, r->pinned);
    }
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->changed);
    fclose(r->file);
}

// ---- the formulas of kernels.df ----

static __host__ __device__ float weighted(float p, const float *f, int x, int y)
{
    float u = (float)x, v = (float)y;
    return p / sqrtf((f[0] * u + f[1] * v + f[3]) * u + (f[2] * v + f[4]) * v + f[5]);
}

static __host__ __device__ float pair_of(const float *q, int h, int w, int x, int y)
{
    return x < 0 || y < 0 || x >= w || y >= h ? 0 : q[(size_t)y * w + x];
}

static int prepare_cpu(struct df_call *call, size_t h, size_t w, const float *image, const float *forms, const float *spectrum, float *between, float *pairs)
{
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++)
            between[y * w + x] = weighted(image[y * w + x], forms, (int)x, (int)y);
    int status = filter_rows_cpu(call, 1, h, w, between, spectrum, NULL, between);
    for (int y = 0; y < (int)h + 4; y++)
        for (int x = 0; x < (int)w + 4; x++)
            for (int j = 0; j < 2; j++)
                *pairs++ = pair_of(between, (int)h, (int)w, x - 2, y + j - 2);
    return status;
}

static void make_ramp(float *s, int w)
{
    for (int i = 0; i <= w; i++) {
        double sum = 0.25;
        for (int j = 1; j < w; j += 2)
            sum -= 2 * cos(3.141592653589793 * (double)((int64_t)i * j % (2 * w)) / w) / (9.869604401089358 * j * j);
        s[i] = (float)sum;
    }
}

// ---- on the GPU ----

#ifdef __CUDACC__
#include "../../../runtime/std/fft.cu"
#include "backproject.cu"

static __global__ void weigh(int h, int w, const float *p, const float *f, float *q)
{
    for (int y = (int)df_first_y(); y < h; y += (int)df_step_y())
        for (int x = (int)df_first_x(); x < w; x += (int)df_step_x())
            q[(size_t)y * w + x] = weighted(p[(size_t)y * w + x], f, x, y);
}

static __global__ void make_pairs(int h, int w, const float *q, float *r)
{
    for (int y = (int)df_first_y(); y < h + 4; y += (int)df_step_y())
        for (int x = (int)df_first_x(); x < w + 4; x += (int)df_step_x())
            for (int j = 0; j < 2; j++)
                r[2 * ((size_t)y * (w + 4) + x) + j] = pair_of(q, h, w, x - 2, y + j - 2);
}

static int prepare_gpu(struct df_call *call, cudaStream_t stream, size_t k, size_t h, size_t w, const float *images, const float *forms,
                       const float *spectrum, float *scratch, float *between, float *filtered, float *pairs)
{
    const dim3 block(32, 8), grid = df_grid(block, (int64_t)w + 4, (int64_t)h + 4, 1);
    for (size_t i = 0; i < k; i++)
        weigh<<<grid, block, 0, stream>>>((int)h, (int)w, images + i * h * w, forms + 6 * i, between + i * h * w);
    int status = filter_rows_gpu(call, stream, k, h, w, between, spectrum, scratch, filtered);
    for (size_t i = 0; i < k; i++)
        make_pairs<<<grid, block, 0, stream>>>((int)h, (int)w, filtered + i * h * w, pairs + i * (h + 4) * (w + 4) * 2);
    return status;
}
#else
#include "on_emu.h"
#endif

struct arena {                          // device memory that is handed out from the front
    char *base;
    size_t bytes, used;
};

static void *arena_take(struct arena *a, size_t bytes)
{
    size_t at = (a->used + ALIGN - 1) / ALIGN * ALIGN;
    if (bytes > a->bytes - at || at > a->bytes)
        die("device memory", "there is too little for one slab of the volume: give more with memory=");
    a->used = at + bytes;
    return a->base + at;
}

struct on_gpu {
    struct arena arena;
    cudaStream_t copies, work;
    cudaEvent_t copied[BUFFERS], done[BUFFERS];
    float *images[BUFFERS], *forms[BUFFERS], *spectrum, *scratch, *weighted, *filtered, *pairs, *slab;
    double *matrices[BUFFERS];
    struct df_call call;
};

// All but the slab, which gets the rest. No more memory is taken than the whole volume needs.
static void gpu_open(struct on_gpu *g, const struct header *header, size_t n, size_t limit)
{
    size_t h = header->height, w = header->width, image = BATCH * h * w * sizeof(float), pairs = BATCH * (h + 4) * (w + 4) * 2 * sizeof(float);
    size_t spectrum_bytes = (w + 1) * sizeof(float), scratch = h * (2 * w + 2) * sizeof(float), available, total;
    size_t needed = (BUFFERS + 2) * (image + BATCH * 120 + 4 * ALIGN) + spectrum_bytes + scratch + pairs + n * n * n * sizeof(float);
    check_cuda(cudaMemGetInfo(&available, &total), "the GPU's memory");
    g->arena.bytes = limit && limit < available ? limit : available - available / 16;
    g->arena.bytes = needed < g->arena.bytes ? needed : g->arena.bytes;
    check_cuda(cudaMalloc(&g->arena.base, g->arena.bytes), "device memory");
    check_cuda(cudaStreamCreateWithFlags(&g->copies, cudaStreamNonBlocking), "a stream");
    check_cuda(cudaStreamCreateWithFlags(&g->work, cudaStreamNonBlocking), "a stream");
    for (int i = 0; i < BUFFERS; i++) {
        check_cuda(cudaEventCreateWithFlags(&g->copied[i], cudaEventDisableTiming), "an event");
        check_cuda(cudaEventCreateWithFlags(&g->done[i], cudaEventDisableTiming), "an event");
        g->images[i] = (float *)arena_take(&g->arena, image);
        g->matrices[i] = (double *)arena_take(&g->arena, BATCH * 12 * sizeof(double));
        g->forms[i] = (float *)arena_take(&g->arena, BATCH * 6 * sizeof(float));
    }
    g->spectrum = (float *)arena_take(&g->arena, spectrum_bytes);
    g->scratch = (float *)arena_take(&g->arena, scratch);
    g->weighted = (float *)arena_take(&g->arena, image);
    g->filtered = (float *)arena_take(&g->arena, image);
    g->pairs = (float *)arena_take(&g->arena, pairs);
    if (filter_rows_gpu_open(&g->call, BATCH, h, w, &g->call.opened) != DF_OK)
        die("the filter", g->call.message);
    float *spectrum = (float *)host_memory(spectrum_bytes, false);
    make_ramp(spectrum, (int)w);
    check_cuda(cudaMemcpy(g->spectrum, spectrum, spectrum_bytes, cudaMemcpyHostToDevice), "the spectrum");
    host_free(spectrum, false);
}

static void gpu_close(struct on_gpu *g)
{
    filter_rows_gpu_close(g->call.opened);
    for (int i = 0; i < BUFFERS; i++) {
        cudaEventDestroy(g->copied[i]);
        cudaEventDestroy(g->done[i]);
    }
    cudaStreamDestroy(g->copies);
    cudaStreamDestroy(g->work);
    cudaFree(g->arena.base);
}

// Copies a batch as soon as what used its buffer before has ended.
static void gpu_copy(struct on_gpu *g, const struct batch *b, int turn, size_t pixels)
{
    check_cuda(cudaStreamWaitEvent(g->copies, g->done[turn], 0), "waiting");
    check_cuda(cudaMemcpyAsync(g->images[turn], b->images, (size_t)b->n * pixels * 4, cudaMemcpyHostToDevice, g->copies), "a copy");
    check_cuda(cudaMemcpyAsync(g->matrices[turn], b->matrices, (size_t)b->n * 96, cudaMemcpyHostToDevice, g->copies), "a copy");
    check_cuda(cudaMemcpyAsync(g->forms[turn], b->forms, (size_t)b->n * 24, cudaMemcpyHostToDevice, g->copies), "a copy");
    check_cuda(cudaEventRecord(g->copied[turn], g->copies), "an event");
}

static void gpu_compute(struct on_gpu *g, const struct header *header, int n_views, int turn, size_t n, size_t rows)
{
    size_t h = header->height, w = header->width;
    check_cuda(cudaStreamWaitEvent(g->work, g->copied[turn], 0), "waiting");
    if (prepare_gpu(&g->call, g->work, (size_t)n_views, h, w, g->images[turn], g->forms[turn], g->spectrum, g->scratch, g->weighted, g->filtered, g->pairs) !=
        DF_OK)
        die("the filter", g->call.message);
    if (backproject_gpu(&g->call, g->work, (size_t)n_views, h + 4, w + 4, rows, n, n, g->pairs, g->matrices[turn], g->slab, SIDE_MM, "floor") != DF_OK)
        die("back-projection", g->call.message);
    check_cuda(cudaGetLastError(), "a kernel");
    check_cuda(cudaEventRecord(g->done[turn], g->work), "an event");
}

static void gpu_slab(struct on_gpu *g, struct reader *r, size_t n, size_t first, size_t rows, float *vol)
{
    size_t pixels = (size_t)r->header.width * r->header.height;
    g->call.part = df_part_of(first, rows, n);
    check_cuda(cudaMemsetAsync(g->slab, 0, rows * n * n * sizeof(float), g->work), "the volume");
    reader_begin(r);
    for (int turn = 0;; turn = (turn + 1) % BUFFERS) {
        struct batch *b = reader_take(r, turn);
        if (!b->n)
            break;
        gpu_copy(g, b, turn, pixels);
        gpu_compute(g, &r->header, b->n, turn, n, rows);
        check_cuda(cudaEventSynchronize(g->copied[turn]), "a copy"); // then the reader may fill the buffer
        reader_give_back(r, turn);
    }
    pthread_join(r->thread, NULL);
    check_cuda(cudaMemcpyAsync(vol + first * n * n, g->slab, rows * n * n * sizeof(float), cudaMemcpyDeviceToHost, g->work), "the volume");
    check_cuda(cudaStreamSynchronize(g->work), "the volume");
}

static void reconstruct_gpu(struct reader *r, size_t n, float *vol, size_t limit)
{
    struct on_gpu g = {};
    gpu_open(&g, &r->header, n, limit);
    size_t room = g.arena.bytes - g.arena.used, plane = n * n * sizeof(float);
    size_t rows = room > ALIGN ? (room - ALIGN) / plane : 0, parts = rows ? (n + rows - 1) / rows : n;
    rows = (n + parts - 1) / parts;
    g.slab = (float *)arena_take(&g.arena, rows * plane);
    for (size_t first = 0; first < n; first += rows)
        gpu_slab(&g, r, n, first, n - first < rows ? n - first : rows, vol);
    gpu_close(&g);
}

// ---- on the CPU ----

struct on_cpu {
    struct reader *reader;
    size_t n;
    float *vol, *spectrum, *pairs;
    const struct batch *batch;          // NULL: the views have ended
    int threads, next_image;
    pthread_barrier_t barrier;
    pthread_mutex_t lock;
};

struct cpu_thread {
    struct on_cpu *all;
    int index;
    pthread_t thread;
};

static int next_image(struct on_cpu *c)
{
    pthread_mutex_lock(&c->lock);
    int i = c->next_image < c->batch->n ? c->next_image++ : -1;
    pthread_mutex_unlock(&c->lock);
    return i;
}

static void *cpu_work(void *arg)
{
    struct cpu_thread *t = (struct cpu_thread *)arg;
    struct on_cpu *c = t->all;
    size_t h = c->reader->header.height, w = c->reader->header.width, n = c->n;
    size_t first = n * t->index / c->threads, rows = n * (t->index + 1) / c->threads - first;
    struct df_call call = { df_part_of(first, rows, n) };
    float *image = (float *)host_memory(h * w * sizeof(float), false);
    if (filter_rows_open(&call, 1, h, w, &call.opened) != DF_OK)
        die("the filter", call.message);
    for (int turn = 0;; turn = (turn + 1) % BUFFERS) {
        if (t->index == 0) {
            c->batch = reader_take(c->reader, turn);
            c->next_image = 0;
        }
        pthread_barrier_wait(&c->barrier);
        if (!c->batch->n)
            break;
        for (int i; (i = next_image(c)) >= 0;)
            if (prepare_cpu(&call, h, w, c->batch->images + i * h * w, c->batch->forms + 6 * i, c->spectrum, image,
                            c->pairs + i * (h + 4) * (w + 4) * 2) != DF_OK)
                die("the filter", call.message);
        pthread_barrier_wait(&c->barrier);
        if (backproject_cpu(&call, (size_t)c->batch->n, h + 4, w + 4, rows, n, n, c->pairs, c->batch->matrices, c->vol + first * n * n, SIDE_MM,
                            "floor") != DF_OK)
            die("back-projection", call.message);
        pthread_barrier_wait(&c->barrier);
        if (t->index == 0)
            reader_give_back(c->reader, turn);
    }
    filter_rows_close(call.opened);
    host_free(image, false);
    return NULL;
}

static void reconstruct_cpu(struct reader *r, size_t n, float *vol, int threads)
{
    size_t h = r->header.height, w = r->header.width;
    struct on_cpu c = { r, n, vol };
    struct cpu_thread *all = (struct cpu_thread *)host_memory(threads * sizeof *all, false);
    c.threads = threads;
    c.spectrum = (float *)host_memory((w + 1) * sizeof(float), false);
    c.pairs = (float *)host_memory(BATCH * (h + 4) * (w + 4) * 2 * sizeof(float), false);
    make_ramp(c.spectrum, (int)w);
    pthread_mutex_init(&c.lock, NULL);
    pthread_barrier_init(&c.barrier, NULL, (unsigned)threads);
    reader_begin(r);
    for (int i = 0; i < threads; i++) {
        all[i].all = &c;
        all[i].index = i;
        if (pthread_create(&all[i].thread, NULL, cpu_work, &all[i]) != 0)
            die("a thread", "cannot be made");
    }
    for (int i = 0; i < threads; i++)
        pthread_join(all[i].thread, NULL);
    pthread_join(r->thread, NULL);
    pthread_barrier_destroy(&c.barrier);
    pthread_mutex_destroy(&c.lock);
    host_free(c.pairs, false);
    host_free(c.spectrum, false);
    host_free(all, false);
}

// ---- results ----

static uint8_t grey(float v, float low, float high)
{
    float g = 255 * (v - low) / (high - low) + 0.5f;
    return (uint8_t)(g < 0 ? 0 : g > 255 ? 255 : g);
}

static float panel(const float *vol, size_t n, size_t x, size_t y)
{
    size_t k = n - 1 - y % n, i = x % n;
    if (y < n)
        return x < n ? vol[(n / 2 * n + y) * n + i] : vol[(k * n + n / 2) * n + i];
    if (x < n)
        return vol[(k * n + i) * n + n / 2];
    float most = vol[k * n * n + i];
    for (size_t j = 1; j < n; j++)
        most = vol[(k * n + j) * n + i] > most ? vol[(k * n + j) * n + i] : most;
    return most * 0.25f;
}

static void write_picture(const char *path, const float *vol, size_t n)
{
    png_image image = {};
    uint8_t *pixels = (uint8_t *)host_memory(4 * n * n, false);
    image.version = PNG_IMAGE_VERSION;
    image.width = image.height = (png_uint_32)(2 * n);
    image.format = PNG_FORMAT_GRAY;
    for (size_t y = 0; y < 2 * n; y++)
        for (size_t x = 0; x < 2 * n; x++)
            pixels[y * 2 * n + x] = grey(panel(vol, n, x, y), 0.1f, 0.4f);
    if (!png_image_write_to_file(&image, path, 0, pixels, 0, NULL))
        die(path, image.message);
    host_free(pixels, false);
}

static void write_density(const char *path, const float *vol, size_t voxels)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(vol, sizeof *vol, voxels, file) != voxels || fclose(file) != 0)
        die(path, "cannot be written");
}

int main(int argc, char **argv)
{
    int devices = 0, threads = (int)sysconf(_SC_NPROCESSORS_ONLN), cpu = 0;
    size_t n = argc > 4 ? (size_t)atol(argv[2]) : 0, memory = 0;
    struct reader reader = {};
    for (int i = 5; i < argc; i++) {
        if (strncmp(argv[i], "threads=", 8) == 0)
            threads = atoi(argv[i] + 8);
        else if (strncmp(argv[i], "memory=", 7) == 0)
            memory = (size_t)atol(argv[i] + 7) << 20;
        else if (strcmp(argv[i], "cpu") == 0)
            cpu = 1;
        else
            n = 0;
    }
    if (n < 1 || n > 2048 || threads < 1) {
        fprintf(stderr, "usage: ct INPUT.rct N DENSITY.f32 PICTURE.png [threads=T] [memory=MIB] [cpu]\n");
        return 2;
    }
    cpu = cpu || cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0;
    reader_open(&reader, argv[1], !cpu);
    float *vol = (float *)host_memory(n * n * n * sizeof *vol, !cpu);
    memset(vol, 0, n * n * n * sizeof *vol);
    if (cpu)
        reconstruct_cpu(&reader, n, vol, threads);
    else
        reconstruct_gpu(&reader, n, vol, memory);
    write_density(argv[3], vol, n * n * n);
    write_picture(argv[4], vol, n);
    host_free(vol, !cpu);
    reader_close(&reader);
    return 0;
}
