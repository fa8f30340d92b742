/* emulated.c - see emulated.h. */
#include "emulated.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/device.h"
#include "runtime/start/back_ends.h"

enum { ARGS = 128, BEFORE = 4096 };

struct CUstream_st {
    uint32_t number;
};

/* A launch. It stays until the device is closed. */
struct command {
    struct dfr_launch launch;
    emulated_kernel *function;
    _Alignas(16) char args[ARGS];
    void *self[1];
    int result;
    struct command *next;
};

static const struct dfr_device_ops *ops;
static struct dfr_device *device;
static struct df_unit unit;
static struct CUstream_st streams[8];
static unsigned n_streams;
static struct command *commands;
static struct df_error failure;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static cudaError_t status_of(int status)
{
    return status == DF_OK ? cudaSuccess : cudaErrorUnknown;
}

void dfr_call_failed(struct df_call *call, const char *message)
{
    (void)call;
    fprintf(stderr, "error: %s\n", message);
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaSuccess ? "no error" : failure.text;
}

cudaError_t cudaGetLastError(void)
{
    for (const struct command *c = commands; c; c = c->next)
        if (c->result != DF_OK)
            return cudaErrorUnknown;
    return cudaSuccess;
}

static void wake(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

cudaError_t cudaGetDeviceCount(int *count)
{
    struct df_platform platform;
    df_platform_default(&platform, 1);
    unit = platform.units[1];
    ops = dfr_back_end_of(DF_DEVICE_EMU);
    struct dfr_device_config config = { .unit = &unit, .pool_bytes = 4096, .compute_streams = 1, .wakeup = wake };
    *count = 1;
    return status_of(ops->describe(0, &unit, &failure) == DF_OK ? ops->open(0, &config, &device, &failure) : DF_FAILED);
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    *available = *total = unit.memory_bytes;
    return cudaSuccess;
}

/* ---- memory; its size lies before it ---- */

cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
    char *at = ops->host_alloc(bytes + BEFORE, &failure);
    if (!at)
        return cudaErrorUnknown;
    *(size_t *)at = bytes + BEFORE;
    *memory = at + BEFORE;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *memory)
{
    char *at = (char *)memory - BEFORE;
    ops->host_free(at, *(size_t *)at);
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    return cudaMallocHost(memory, bytes);
}

cudaError_t cudaFree(void *memory)
{
    return cudaFreeHost(memory);
}

/* ---- streams and events ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    static const uint32_t numbers[] = { DFR_STREAM_H2D, DFR_STREAM_D2H, DFR_STREAM_COMPUTE };
    (void)flags;
    if (n_streams == emulated_n_streams)
        return cudaErrorUnknown;
    streams[n_streams].number = numbers[emulated_streams[n_streams]];
    *stream = &streams[n_streams++];
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    (void)stream;
    return status_of(ops->drain(device, &failure));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    (void)stream;
    if (--n_streams)
        return cudaSuccess;
    ops->close(device);
    for (struct command *c = commands, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    commands = NULL;
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    (void)flags;
    return status_of(ops->event_create(device, event, &failure));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    ops->event_destroy(device, event);
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return status_of(ops->event_record(device, event, stream->number, &failure));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    bool complete = false;
    int status;
    pthread_mutex_lock(&lock);
    while ((status = ops->event_query(device, event, &complete, &failure)) == DF_OK && !complete)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return status_of(status);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    return status_of(ops->stream_wait(device, stream->number, event, &failure));
}

/* ---- work ---- */

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, cudaStream_t stream)
{
    return status_of(ops->copy(device, kind == cudaMemcpyHostToDevice ? DFR_COPY_H2D : DFR_COPY_D2H, to, from, bytes, stream->number, &failure));
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, &streams[0]);
    return error != cudaSuccess ? error : cudaStreamSynchronize(&streams[0]);
}

static int carry_out(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    struct command *c = ports[0];
    (void)stream, (void)dims, (void)scalars;
    return c->function(call, c->args);
}

int emulated_launch(struct df_call *call, cudaStream_t stream, emulated_kernel *function, const void *args, size_t bytes)
{
    struct command *c = bytes <= ARGS ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return DF_FAILED;
    c->function = function;
    memcpy(c->args, args, bytes);
    c->self[0] = c;
    c->launch = (struct dfr_launch){ .fn = carry_out, .call = call, .ports = c->self, .result = &c->result };
    c->next = commands;
    commands = c;
    return ops->launch(device, &c->launch, stream->number, &failure);
}

struct fill {
    void *memory;
    int value;
    size_t bytes;
};

static int fill(struct df_call *call, const void *args)
{
    const struct fill *f = args;
    (void)call;
    memset(f->memory, f->value, f->bytes);
    return DF_OK;
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
    struct fill f = { memory, value, bytes };
    return status_of(emulated_launch(NULL, stream, fill, &f, sizeof f));
}

struct callback {
    void (*function)(void *);
    void *arg;
};

static int call_back(struct df_call *call, const void *args)
{
    const struct callback *c = args;
    (void)call;
    c->function(c->arg);
    return DF_OK;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *arg)
{
    struct callback c = { function, arg };
    return status_of(emulated_launch(NULL, stream, call_back, &c, sizeof c));
}
