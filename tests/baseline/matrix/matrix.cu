// matrix.cu - the mixed graph of examples/matrix (generate --kind=mixed) written by hand with CUDA and pthreads: what dfc does for a user is
// written out here. tests/baseline/lines.sh counts its lines.
//
//     matrix N [threads=T] [cpu]
//
// Placement: by hand, in the table. The nodes of a unit run in the order of the table, as far as their matrices are there.
// GPU:       One thread enqueues: a stream computes, two others copy. Events order them, and a callback tells when a copy has come.
// Memory:    Matrices lie in buffers of two pools, of pinned and of device memory. A buffer is used again when its matrix has no more readers.
// Kernels:   are those of examples/matrix.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../call.h"

extern "C" {
int start_cpu(struct df_call *call, size_t m, float *a, int32_t seed);
int ma_cpu(struct df_call *call, size_t m, const float *a, const float *b, float *c);
int mm_cpu(struct df_call *call, size_t m, const float *a, const float *b, float *c);
int report_cpu(struct df_call *call, size_t m, const float *a, const char *name);
}

#ifdef __CUDACC__
#include "../../../examples/matrix/matrix.cu"
#else
#include "on_emu.h"
#endif

static void die(const char *what, const char *why)
{
    fprintf(stderr, "matrix: error: %s: %s\n", what, why);
    exit(1);
}

static void check_cuda(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        die(what, cudaGetErrorString(error));
}

// ---- the graph ----

enum kernel { START, MA, MM, REPORT };
enum unit { CPU, GPU };

static struct node {                    // makes matrix c from a and b
    enum kernel kernel;
    int c, a, b;
    enum unit unit;
    bool begun;
} nodes[] = {
    { START, 1, 0, 0, CPU },
    { START, 0, 0, 0, CPU },
    { MM, 2, 0, 1, GPU },
    { MM, 3, 2, 1, GPU },
    { MA, 6, 1, 2, CPU },
    { MA, 10, 6, 1, CPU },
    { MM, 4, 1, 3, GPU },
    { MA, 8, 0, 3, CPU },
    { MA, 11, 8, 4, GPU },
    { MM, 7, 6, 4, GPU },
    { MA, 5, 4, 0, CPU },
    { MA, 12, 10, 5, CPU },
    { MM, 13, 1, 12, CPU },
    { MA, 15, 11, 4, GPU },
    { MM, 16, 15, 7, GPU },
    { MM, 17, 10, 13, CPU },
    { MM, 18, 16, 12, GPU },
    { MA, 9, 7, 2, CPU },
    { MM, 14, 9, 2, CPU },
    { MM, 20, 8, 18, GPU },
    { MM, 19, 17, 16, CPU },
    { MA, 22, 16, 20, GPU },
    { MA, 23, 22, 14, GPU },
    { MM, 25, 23, 18, GPU },
    { MM, 30, 18, 19, CPU },
    { MA, 27, 25, 23, GPU },
    { MA, 28, 27, 25, GPU },
    { MA, 34, 25, 23, GPU },
    { MA, 31, 28, 27, GPU },
    { MA, 32, 23, 22, GPU },
    { MA, 37, 32, 25, GPU },
    { MA, 26, 16, 14, GPU },
    { MM, 36, 28, 34, GPU },
    { MA, 21, 11, 17, CPU },
    { MA, 38, 31, 32, CPU },
    { MA, 24, 17, 13, CPU },
    { MA, 29, 22, 21, CPU },
    { MA, 33, 31, 30, CPU },
    { MA, 35, 31, 28, CPU },
    { MA, 39, 38, 38, CPU },
    { REPORT, 24, 24, 0, CPU },
    { REPORT, 26, 26, 0, CPU },
    { REPORT, 29, 29, 0, CPU },
    { REPORT, 33, 33, 0, CPU },
    { REPORT, 37, 37, 0, CPU },
    { REPORT, 39, 39, 0, CPU },
    { REPORT, 35, 35, 0, CPU },
    { REPORT, 36, 36, 0, CPU },
};
enum { NODES = sizeof nodes / sizeof *nodes, MATRICES = 40, BUFFERS = 16 };

// ---- buffers ----

struct buffer {
    float *at;
    cudaEvent_t read, sent;             // device memory: the last kernel that reads it, the copy from it
    struct buffer *next;
};

struct pool {
    struct buffer *unused;
    bool on_device;
};

struct matrix {
    struct buffer *host, *device;
    cudaEvent_t made;                   // on the device
    int host_readers, device_readers;   // that have not ended; on the device: that are not enqueued
    bool on_host, on_device;            // on the device it may be only enqueued
};

static struct matrix matrices[MATRICES];
static struct pool host_pool, device_pool = { NULL, true };
static size_t n;
static int left[2];                     // nodes of each unit that nobody has begun
static cudaStream_t upload, download, work;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of all above
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void pool_grow(struct pool *pool, bool pinned)
{
    struct buffer *b = (struct buffer *)calloc(1, sizeof *b);
    size_t bytes = (n * n * sizeof(float) + 255) / 256 * 256;
    if (!b)
        die("memory", "there is too little");
    if (pool->on_device) {
        check_cuda(cudaMalloc(&b->at, bytes), "device memory");
        check_cuda(cudaEventCreateWithFlags(&b->read, cudaEventDisableTiming), "an event");
        check_cuda(cudaEventCreateWithFlags(&b->sent, cudaEventDisableTiming), "an event");
    } else if (pinned) {
        check_cuda(cudaMallocHost(&b->at, bytes), "pinned memory");
    } else if (!(b->at = (float *)aligned_alloc(256, bytes))) {
        die("memory", "there is too little");
    } else {
        memset(b->at, 0, bytes);
    }
    b->next = pool->unused;
    pool->unused = b;
}

static struct buffer *pool_take(struct pool *pool)
{
    if (!pool->unused)
        pool_grow(pool, work != NULL);
    struct buffer *b = pool->unused;
    pool->unused = b->next;
    return b;
}

static void pool_give(struct pool *pool, struct buffer **b)
{
    (*b)->next = pool->unused;
    pool->unused = *b;
    *b = NULL;
}

static void pool_free(struct pool *pool, bool pinned)
{
    for (struct buffer *b = pool->unused, *next; b; b = next) {
        next = b->next;
        if (pool->on_device) {
            cudaEventDestroy(b->read);
            cudaEventDestroy(b->sent);
            cudaFree(b->at);
        } else if (pinned) {
            cudaFreeHost(b->at);
        } else {
            free(b->at);
        }
        free(b);
    }
}

// ---- readers ----

static void count_readers(void)
{
    for (struct node *node = nodes; node < nodes + NODES; node++) {
        int inputs[] = { node->a, node->b };
        left[node->unit]++;
        for (int i = 0; i < (node->kernel == REPORT ? 1 : node->kernel == START ? 0 : 2); i++)
            if (node->unit == CPU)
                matrices[inputs[i]].host_readers++;
            else
                matrices[inputs[i]].device_readers++;
    }
    for (const struct node *node = nodes; node < nodes + NODES; node++) // a copy to the device reads, too
        if (node->kernel != REPORT && node->unit == CPU && matrices[node->c].device_readers)
            matrices[node->c].host_readers++;
}

static void host_read(struct matrix *m)
{
    if (--m->host_readers == 0)
        pool_give(&host_pool, &m->host);
}

// Ends of copies come from threads of CUDA's.
static void uploaded(void *matrix)
{
    pthread_mutex_lock(&lock);
    host_read((struct matrix *)matrix);
    pthread_mutex_unlock(&lock);
}

static void downloaded(void *matrix)
{
    pthread_mutex_lock(&lock);
    ((struct matrix *)matrix)->on_host = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

// ---- jobs; the lock is held on entry ----

static void run_on_cpu(const struct node *node)
{
    struct matrix *a = &matrices[node->a], *b = &matrices[node->b], *c = &matrices[node->c];
    struct df_call call = {};
    char name[16];
    int status;
    if (node->kernel != REPORT)
        c->host = pool_take(&host_pool);
    pthread_mutex_unlock(&lock);
    if (node->kernel == START) {
        status = start_cpu(&call, n, c->host->at, node->c);
    } else if (node->kernel == REPORT) {
        snprintf(name, sizeof name, "d%d", node->a);
        status = report_cpu(&call, n, a->host->at, name);
    } else {
        status = (node->kernel == MA ? ma_cpu : mm_cpu)(&call, n, a->host->at, b->host->at, c->host->at);
    }
    if (status != DF_OK)
        die("a kernel", call.message);
    pthread_mutex_lock(&lock);
    if (node->kernel != REPORT)
        c->on_host = true;
    if (node->kernel != START)
        host_read(a);
    if (node->kernel == MA || node->kernel == MM)
        host_read(b);
    pthread_cond_broadcast(&changed);
}

// Device memory that the stream may write.
static struct buffer *take_for(cudaStream_t stream)
{
    struct buffer *b = pool_take(&device_pool);
    check_cuda(cudaStreamWaitEvent(stream, b->read, 0), "waiting");
    check_cuda(cudaStreamWaitEvent(stream, b->sent, 0), "waiting");
    return b;
}

static void bring(struct matrix *m)
{
    if (m->on_device)
        return;
    m->device = take_for(upload);
    check_cuda(cudaMemcpyAsync(m->device->at, m->host->at, n * n * sizeof(float), cudaMemcpyHostToDevice, upload), "a copy");
    check_cuda(cudaEventRecord(m->made, upload), "an event");
    check_cuda(cudaLaunchHostFunc(upload, uploaded, m), "a callback");
    m->on_device = true;
}

static void send(struct matrix *m)
{
    m->host = pool_take(&host_pool);
    check_cuda(cudaStreamWaitEvent(download, m->made, 0), "waiting");
    check_cuda(cudaMemcpyAsync(m->host->at, m->device->at, n * n * sizeof(float), cudaMemcpyDeviceToHost, download), "a copy");
    check_cuda(cudaEventRecord(m->device->sent, download), "an event");
    check_cuda(cudaLaunchHostFunc(download, downloaded, m), "a callback");
}

static void device_read(struct matrix *m)
{
    if (m->device_readers-- > 1)
        return;
    check_cuda(cudaEventRecord(m->device->read, work), "an event");
    pool_give(&device_pool, &m->device);
}

static void run_on_gpu(const struct node *node)
{
    static struct df_call call = { {}, NULL, work };
    struct matrix *a = &matrices[node->a], *b = &matrices[node->b], *c = &matrices[node->c];
    bring(a);
    bring(b);
    check_cuda(cudaStreamWaitEvent(work, a->made, 0), "waiting");
    check_cuda(cudaStreamWaitEvent(work, b->made, 0), "waiting");
    c->device = take_for(work);
    if ((node->kernel == MA ? ma_gpu : mm_gpu)(&call, work, n, a->device->at, b->device->at, c->device->at) != DF_OK)
        die("a kernel", call.message);
    check_cuda(cudaGetLastError(), "a kernel");
    check_cuda(cudaEventRecord(c->made, work), "an event");
    c->on_device = true;
    if (c->host_readers)
        send(c);
    device_read(a);
    device_read(b);
    if (!c->device_readers)
        pool_give(&device_pool, &c->device);
    pthread_cond_broadcast(&changed);
}

// ---- workers ----

static bool is_there(const struct matrix *m, enum unit unit)
{
    return m->on_host || (unit == GPU && m->on_device);
}

static struct node *next_ready(enum unit unit)
{
    for (struct node *node = nodes; node < nodes + NODES; node++)
        if (node->unit == unit && !node->begun &&
            (node->kernel == START || (is_there(&matrices[node->a], unit) && (node->kernel == REPORT || is_there(&matrices[node->b], unit)))))
            return node;
    return NULL;
}

static void *run_unit(void *arg)
{
    enum unit unit = *(enum unit *)arg;
    pthread_mutex_lock(&lock);
    while (left[unit]) {
        struct node *node = next_ready(unit);
        if (!node) {
            pthread_cond_wait(&changed, &lock);
            continue;
        }
        node->begun = true;
        if (--left[unit] == 0)
            pthread_cond_broadcast(&changed);
        if (unit == GPU)
            run_on_gpu(node);
        else
            run_on_cpu(node);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void open_gpu(void)
{
    check_cuda(cudaStreamCreateWithFlags(&upload, cudaStreamNonBlocking), "a stream");
    check_cuda(cudaStreamCreateWithFlags(&download, cudaStreamNonBlocking), "a stream");
    check_cuda(cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking), "a stream");
    for (int i = 0; i < MATRICES; i++)
        check_cuda(cudaEventCreateWithFlags(&matrices[i].made, cudaEventDisableTiming), "an event");
    for (int i = 0; i < BUFFERS; i++)
        pool_grow(&device_pool, true);
}

static void close_gpu(void)
{
    check_cuda(cudaStreamSynchronize(upload), "the end");
    check_cuda(cudaStreamSynchronize(work), "the end");
    pool_free(&device_pool, true);
    for (int i = 0; i < MATRICES; i++)
        cudaEventDestroy(matrices[i].made);
    cudaStreamDestroy(upload);
    cudaStreamDestroy(download);
    cudaStreamDestroy(work);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    static enum unit cpu_unit = CPU, gpu_unit = GPU;
    int devices = 0, threads = 0, gpu = 1;
    n = argc > 1 ? (size_t)atol(argv[1]) : 0;
    for (int i = 2; i < argc; i++) {
        if (strncmp(argv[i], "threads=", 8) == 0)
            threads = atoi(argv[i] + 8);
        else if (strcmp(argv[i], "cpu") == 0)
            gpu = 0;
        else
            n = 0;
    }
    if (n < 1 || n > 1 << 15 || threads < 0 || threads > 256) {
        fprintf(stderr, "usage: matrix N [threads=T] [cpu]\n");
        return 2;
    }
    gpu = gpu && cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
    if (!threads)
        threads = (int)sysconf(_SC_NPROCESSORS_ONLN) - gpu;
    threads = threads < 1 ? 1 : threads;
    for (int i = 0; !gpu && i < NODES; i++)
        nodes[i].unit = CPU;
    count_readers();
    if (gpu)
        open_gpu();
    for (int i = 0; i < BUFFERS; i++)
        pool_grow(&host_pool, gpu);
    double begin = now_ms();
    pthread_t all[257];
    for (int i = 0; i < threads + gpu; i++)
        if (pthread_create(&all[i], NULL, run_unit, i < threads ? &cpu_unit : &gpu_unit) != 0)
            die("a thread", "cannot be made");
    for (int i = 0; i < threads + gpu; i++)
        pthread_join(all[i], NULL);
    fprintf(stderr, "makespan %.3f ms\n", now_ms() - begin);
    if (gpu)
        close_gpu();
    pool_free(&host_pool, gpu);
    return fflush(stdout) != 0;
}
