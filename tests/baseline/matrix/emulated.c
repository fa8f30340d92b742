/* emulated.c - see emulated.h. */
#include "emulated.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/device/device.h"
#include "runtime/emu/back_end.h"

typedef int kernel(struct df_call *call, size_t m, const float *a, const float *b, float *c);
kernel ma_cpu, mm_cpu;

struct CUstream_st {
    uint32_t number;
};

/* A launch, or a callback. It stays until the device is closed. */
struct command {
    struct dfr_launch launch;
    kernel *kernel;
    size_t m;
    const float *a, *b;
    float *c;
    void (*callback)(void *);
    void *arg;
    void *self[1];
    int result;
    struct command *next;
};

static const struct dfr_device_ops *ops;
static struct dfr_device *device;
static struct CUstream_st streams[3];
static unsigned n_streams;
static struct command *commands;
static struct df_error failure;

static cudaError_t status_of(int status)
{
    return status == DF_OK ? cudaSuccess : cudaErrorUnknown;
}

void dfr_call_failed(struct df_call *call, const char *message)
{
    (void)call;
    fprintf(stderr, "matrix: error: %s\n", message);
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
}

cudaError_t cudaGetDeviceCount(int *count)
{
    struct df_platform platform;
    df_platform_default(&platform, 1);
    ops = dfr_device_back_end(DF_DEVICE_EMU);
    struct dfr_device_config config = { .unit = &platform.units[1], .pool_bytes = 4096, .compute_streams = 1, .wakeup = wake };
    *count = 1;
    return status_of(ops->open(0, &config, &device, &failure));
}

/* ---- memory; its size lies before it ---- */

enum { BEFORE = 4096 };

cudaError_t cudaMallocHost(float **memory, size_t bytes)
{
    char *at = ops->host_alloc(bytes + BEFORE, &failure);
    if (!at)
        return cudaErrorUnknown;
    *(size_t *)at = bytes + BEFORE;
    *memory = (float *)(at + BEFORE);
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *memory)
{
    char *at = (char *)memory - BEFORE;
    ops->host_free(at, *(size_t *)at);
    return cudaSuccess;
}

cudaError_t cudaMalloc(float **memory, size_t bytes)
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
    if (n_streams == 3)
        return cudaErrorUnknown;
    streams[n_streams].number = numbers[n_streams];
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

static int carry_out(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    struct command *c = ports[0];
    (void)stream, (void)dims, (void)scalars;
    if (c->kernel)
        return c->kernel(call, c->m, c->a, c->b, c->c);
    c->callback(c->arg);
    return DF_OK;
}

static cudaError_t give(struct command what, struct df_call *call, cudaStream_t stream)
{
    struct command *c = malloc(sizeof *c);
    if (!c)
        return cudaErrorUnknown;
    *c = what;
    c->self[0] = c;
    c->launch = (struct dfr_launch){ .fn = carry_out, .call = call, .ports = c->self, .result = &c->result };
    c->next = commands;
    commands = c;
    return status_of(ops->launch(device, &c->launch, stream->number, &failure));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *arg)
{
    return give((struct command){ .callback = function, .arg = arg }, NULL, stream);
}

int ma_gpu(struct df_call *call, cudaStream_t stream, size_t m, const float *a, const float *b, float *c)
{
    return give((struct command){ .kernel = ma_cpu, .m = m, .a = a, .b = b, .c = c }, call, stream);
}

int mm_gpu(struct df_call *call, cudaStream_t stream, size_t m, const float *a, const float *b, float *c)
{
    return give((struct command){ .kernel = mm_cpu, .m = m, .a = a, .b = b, .c = c }, call, stream);
}
