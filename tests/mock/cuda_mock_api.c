/* cuda_mock_api.c - the functions of the CUDA runtime that libdf-cuda calls, and their rules: the states of a thread
 * (its device, its last error, its capture), what a capture forbids, what may be done with what (see cuda_mock.h). */
#include "tests/mock/cuda_mock_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define OFFSET 256u                     /* CUDA promises no more of an allocation's alignment */

static _Thread_local int current;       /* device */
static _Thread_local bool chosen;       /* by cudaSetDevice, or by the first call that needed one */
static _Thread_local cudaError_t last;
static _Thread_local struct capture *capturing;

/* ---- every call ---- */

/* Those of which driver_types.h says that any further CUDA work will return the same error. */
static bool is_for_good(int status)
{
    static const int all[] = { 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911 };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] == status)
            return true;
    return false;
}

/* Takes the lock. What the call is to say before it has done anything. */
static cudaError_t enter(const char *name, int device)
{
    pthread_mutex_lock(&mock.lock);
    if (mock.calls++ == 0) {
        const char *text = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
        snprintf(mock.connections, sizeof mock.connections, "%s", text ? text : "");
    }
    if (mock.until_failure > 0 && --mock.until_failure == 0) {
        mock.failed = name;
        if (is_for_good(mock.failure))
            mock.lost[device < 0 ? current : device] = (cudaError_t)mock.failure;
        return (cudaError_t)mock.failure;
    }
    return device < 0 ? cudaSuccess : mock.lost[device];
}

/* This thread's device, for a call that needs one. Where none was set CUDA takes the first that works. */
static int here(void)
{
    for (unsigned d = 0; d < mock.devices && !chosen; d++)
        if (!mock.busy[d]) {
            current = (int)d;
            chosen = true;
        }
    return current;
}

static cudaError_t leave(cudaError_t status)
{
    if (status != cudaSuccess)
        last = status;
    pthread_mutex_unlock(&mock.lock);
    return status;
}

#define TRY(condition, error)                                                                                          \
    do {                                                                                                               \
        if (status == cudaSuccess && !(condition))                                                                     \
            status = (error);                                                                                          \
    } while (0)

static cudaError_t spoil(struct capture *capture)
{
    capture->spoiled = true;
    mock.spoiled++;
    return cudaErrorStreamCaptureUnsupported;
}

/* Calls that a thread which captures must not make. */
static cudaError_t unsafe(cudaError_t status)
{
    return status == cudaSuccess && capturing ? spoil(capturing) : status;
}

/* Waiting for a device is forbidden while anybody captures on it. */
static cudaError_t nobody_captures(cudaError_t status, int device)
{
    for (struct object *o = mock.objects; o && status == cudaSuccess; o = o->next)
        if (mock_is(o, STREAM) && o->device == device && ((cudaStream_t)o)->capture)
            status = spoil(((cudaStream_t)o)->capture);
    return status;
}

/* Until the stream is empty; NULL: every stream. */
static void host_waits(cudaStream_t stream)
{
    mock_until_empty(stream);
    if (mock.host_ms < mock.now_ms)
        mock.host_ms = mock.now_ms;
}

/* Appends to the stream, or to what it captures. */
static cudaError_t enqueue(cudaStream_t stream, struct op op)
{
    if (stream->capture && stream->capture->spoiled) {
        free(op.own);
        return cudaErrorStreamCaptureInvalidated;
    }
    if (stream->capture) {              /* the next node follows this one */
        op.after = stream->capture->last;
        stream->capture->last = (struct nodes){ { 0 } };
        mock_put(&stream->capture->last, stream->capture->ops.n);
    }
    mock.host_ms += mock.call_ms;
    op.at_ms = mock.host_ms;
    mock_add(stream->capture ? &stream->capture->ops : &stream->queue, op);
    return cudaSuccess;
}

static int device_of(const void *object, int kind)
{
    return mock_is(object, kind) ? ((const struct object *)object)->device : -1;
}

/* Under the lock, which enter() takes: the object's device is asked for first. */
static cudaError_t enter_for(const char *name, const void *object, int kind)
{
    int device;
    cudaError_t status;
    pthread_mutex_lock(&mock.lock);
    device = device_of(object, kind);
    pthread_mutex_unlock(&mock.lock);
    status = enter(name, device);
    TRY(device >= 0, cudaErrorInvalidResourceHandle);
    return status;
}

/* Every object begins with its struct object. What a stream still has to do is done all the same. */
static cudaError_t destroy(const char *name, void *object, int kind)
{
    cudaError_t status = enter_for(name, object, kind);
    if (status == cudaSuccess)
        ((struct object *)object)->ended = true;
    return leave(status);
}

/* ---- the machine ---- */

cudaError_t cudaDriverGetVersion(int *version)
{
    cudaError_t status = enter(__func__, -1);
    *version = mock.driver;
    return leave(status);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return leave(enter(__func__, -1));
}

cudaError_t cudaGetDeviceCount(int *count)
{
    cudaError_t status = enter(__func__, -1);
    TRY(mock.count_status == 0, (cudaError_t)mock.count_status);
    TRY(mock.devices > 0, cudaErrorNoDevice);
    *count = status == cudaSuccess ? (int)mock.devices : 0;
    return leave(status);
}

cudaError_t cudaSetDevice(int device)
{
    cudaError_t status = enter(__func__, -1);
    TRY(device >= 0 && (unsigned)device < mock.devices, cudaErrorInvalidDevice);
    TRY(!mock.busy[device], cudaErrorDevicesUnavailable);
    if (status == cudaSuccess) {
        current = device;
        chosen = true;
    }
    return leave(status);
}

cudaError_t cudaGetDevice(int *device)
{
    *device = current;
    return leave(enter(__func__, -1));
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    cudaError_t status = enter(__func__, -1);
    TRY(device >= 0 && (unsigned)device < mock.devices, cudaErrorInvalidDevice);
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "Mock GPU %d", device);
    properties->totalGlobalMem = mock.memory_bytes;
    return leave(status);
}

#if CUDART_VERSION >= 12000 && CUDART_VERSION < 13000
/* These runtimes still have CUDA 11's function of the old name, whose structure is another. */
cudaError_t properties_11(void *properties, int device) __asm__("cudaGetDeviceProperties");
cudaError_t properties_11(void *properties, int device)
{
    (void)properties, (void)device;
    abort();
}
#endif

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    cudaError_t status = enter(__func__, -1);
    TRY(device >= 0 && (unsigned)device < mock.devices, cudaErrorInvalidDevice);
    *value = attribute == cudaDevAttrComputeCapabilityMajor   ? 6
             : attribute == cudaDevAttrComputeCapabilityMinor ? 1
             : attribute == cudaDevAttrIntegrated             ? mock.integrated
             : attribute == cudaDevAttrL2CacheSize            ? (int)mock.cache_bytes
             : attribute == cudaDevAttrMultiProcessorCount    ? mock.processors
             : attribute == cudaDevAttrMaxThreadsPerMultiProcessor ? mock.threads
             : attribute == cudaDevAttrPageableMemoryAccessUsesHostPageTables ? mock.coherent
                                                              : 0;
    return leave(status);
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function)
{
    cudaError_t status = enter(__func__, here());
    TRY(function, cudaErrorInvalidDeviceFunction);
    TRY(!mock.no_code[current], cudaErrorNoKernelImageForDevice);
    memset(attributes, 0, sizeof *attributes);
    attributes->localSizeBytes = mock.frame;
    if (status == cudaSuccess)
        mock.loads[current]++;
    return leave(status);
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    cudaError_t status = enter(__func__, -1);
    TRY(device >= 0 && (unsigned)device < mock.devices, cudaErrorInvalidDevice);
    TRY(size >= 13, cudaErrorInvalidValue);
    if (status == cudaSuccess)
        snprintf(text, (size_t)size, "0000:%02X:00.0", 0x80 + device);
    return leave(status);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    cudaError_t status = enter(__func__, -1);
    TRY(device >= 0 && peer >= 0 && (unsigned)device < mock.devices && (unsigned)peer < mock.devices,
        cudaErrorInvalidDevice);
    *can = status == cudaSuccess && device != peer && !mock.no_peers;
    return leave(status);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    cudaError_t status = enter(__func__, here());
    TRY(flags == 0, cudaErrorInvalidValue);
    TRY(peer >= 0 && (unsigned)peer < mock.devices && peer != current && !mock.no_peers, cudaErrorInvalidDevice);
    TRY(!mock.peers[current][peer], cudaErrorPeerAccessAlreadyEnabled);
    if (status == cudaSuccess)
        mock.peers[current][peer] = true;
    return leave(status);
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaErrorIllegalAddress ? "an illegal memory access was encountered" : "an error of the mock";
}

const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
    case cudaErrorIllegalAddress: return "cudaErrorIllegalAddress";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorDevicesUnavailable: return "cudaErrorDevicesUnavailable";
    case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
    case cudaErrorStreamCaptureUnsupported: return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorNoKernelImageForDevice: return "cudaErrorNoKernelImageForDevice";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    default: return "cudaErrorUnknown";
    }
}

/* What ended the device's context stays. */
cudaError_t cudaGetLastError(void)
{
    cudaError_t was = last;
    pthread_mutex_lock(&mock.lock);
    if (mock.devices > 0 && mock.lost[current])
        was = mock.lost[current];
    pthread_mutex_unlock(&mock.lock);
    last = cudaSuccess;
    return was;
}

/* ---- memory ---- */

static struct range *add_range(int device, unsigned char *base, size_t bytes)
{
    struct range *r = calloc(1, sizeof *r);
    if (!r)
        abort();
    *r = (struct range){ .device = device, .base = base, .bytes = bytes, .next = mock.ranges };
    mock.ranges = r;
    return r;
}

static uint64_t used_bytes(int device)
{
    uint64_t bytes = mock.others_bytes[device];
    for (const struct range *r = mock.ranges; r; r = r->next)
        bytes += r->device == device ? r->bytes : 0;
    return bytes;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    cudaError_t status = unsafe(enter(__func__, here()));
    TRY(bytes <= mock.memory_bytes && used_bytes(current) <= mock.memory_bytes - bytes, cudaErrorMemoryAllocation);
    if (status == cudaSuccess) {
        size_t mapped = (bytes + OFFSET + PAGE - 1) / PAGE * PAGE;
        unsigned char *map = mmap(NULL, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED)
            abort();
        struct range *r = add_range(current, map + OFFSET, bytes);
        r->map = map;
        r->mapped = mapped;
        *memory = r->base;
    }
    return leave(status);
}

static cudaError_t free_range(void *memory, bool device, bool registered)
{
    struct range *r = mock_range_at(memory, 1);
    if (!r || r->base != memory || (r->device != HOST) != device || r->registered != registered)
        return registered ? cudaErrorHostMemoryNotRegistered : cudaErrorInvalidValue;
    host_waits(NULL);             /* CUDA waits for what may use it */
    mock_range_free(r);
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
    cudaError_t status = unsafe(enter(__func__, here()));
    if (status == cudaSuccess && memory)
        status = free_range(memory, true, false);
    return leave(status);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    cudaError_t status = enter(__func__, here());
    *total_bytes = mock.memory_bytes;
    *free_bytes = mock.memory_bytes - used_bytes(current);
    return leave(status);
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    cudaError_t status = unsafe(enter(__func__, here()));
    TRY(flags == cudaHostAllocPortable && bytes > 0, cudaErrorInvalidValue); /* all devices are to copy it fast */
    if (status == cudaSuccess) {
        *memory = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
        if (!*memory)
            abort();
        add_range(HOST, *memory, bytes);
    }
    return leave(status);
}

cudaError_t cudaFreeHost(void *memory)
{
    cudaError_t status = unsafe(enter(__func__, here()));
    if (status == cudaSuccess && memory)
        status = free_range(memory, false, false);
    return leave(status);
}

cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned flags)
{
    cudaError_t status = unsafe(enter(__func__, here()));
    TRY(flags == cudaHostRegisterPortable && bytes > 0, cudaErrorInvalidValue);
    TRY(!mock_touches_pinned(memory, bytes), cudaErrorHostMemoryAlreadyRegistered);
    if (status == cudaSuccess)
        add_range(HOST, memory, bytes)->registered = true;
    return leave(status);
}

cudaError_t cudaHostUnregister(void *memory)
{
    cudaError_t status = unsafe(enter(__func__, here()));
    if (status == cudaSuccess)
        status = free_range(memory, false, true);
    return leave(status);
}

/* ---- streams ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    cudaError_t status = enter(__func__, here());
    TRY(flags == cudaStreamNonBlocking, cudaErrorInvalidValue); /* nothing of ours waits for the default stream */
    if (status == cudaSuccess)
        *stream = mock_new(STREAM, sizeof **stream, current);
    return leave(status);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) { return destroy(__func__, stream, STREAM); }

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t status = unsafe(enter_for(__func__, stream, STREAM));
    if (status == cudaSuccess && stream->capture)
        status = spoil(stream->capture);
    if (status == cudaSuccess) {
        host_waits(stream);
        status = mock.lost[stream->object.device];
    }
    return leave(status);
}

cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t status = nobody_captures(unsafe(enter(__func__, here())), current);
    if (status == cudaSuccess) {
        host_waits(NULL);
        status = mock.lost[current];
    }
    return leave(status);
}

/* ---- events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    cudaError_t status = enter(__func__, here());
    TRY(flags == cudaEventDefault || flags == cudaEventDisableTiming, cudaErrorInvalidValue);
    if (status == cudaSuccess) {
        *event = mock_new(EVENT, sizeof **event, current);
        (*event)->timed = flags == cudaEventDefault;
        mock.timed_events += (*event)->timed;
    }
    return leave(status);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) { return destroy(__func__, event, EVENT); }

/* In a capture an event would be a node of the graph, which nobody here means. */
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    cudaError_t status = enter_for(__func__, stream, STREAM);
    TRY(mock_is(event, EVENT) && event->object.device == stream->object.device, cudaErrorInvalidResourceHandle);
    if (status == cudaSuccess && stream->capture)
        status = spoil(stream->capture);
    mock.records++;
    if (status == cudaSuccess)
        status = enqueue(stream, (struct op){ .kind = OP_RECORD, .event = event, .number = ++event->recorded });
    return leave(status);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    cudaError_t status = enter_for(__func__, stream, STREAM);
    TRY(mock_is(event, EVENT) && flags == 0, cudaErrorInvalidResourceHandle);
    if (status == cudaSuccess && stream->capture) {
        stream->capture->spoiled = true; /* what was recorded before is no part of it */
        status = cudaErrorStreamCaptureIsolation;
    }
    if (status == cudaSuccess)
        status = enqueue(stream, (struct op){ .kind = OP_WAIT, .event = event, .number = event->recorded });
    return leave(status);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    cudaError_t status = unsafe(enter_for(__func__, event, EVENT));
    if (status == cudaSuccess) {
        if (mock.call_ms > 0)
            mock_until_empty(NULL); /* by the mock's time it may be done later than now */
        else
            mock_some(3);
        mock.host_ms += mock.call_ms;
        status = mock.lost[event->object.device];
    }
    TRY(event->done == event->recorded && (mock.call_ms == 0 || event->at_ms <= mock.host_ms), cudaErrorNotReady);
    return leave(status);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    cudaError_t status = unsafe(enter_for(__func__, event, EVENT));
    if (status == cudaSuccess) {
        host_waits(NULL);
        status = mock.lost[event->object.device];
    }
    return leave(status);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    cudaError_t status = enter_for(__func__, from, EVENT);
    TRY(mock_is(to, EVENT) && from->object.device == to->object.device && from->recorded > 0 && to->recorded > 0,
        cudaErrorInvalidResourceHandle);
    TRY(from->timed && to->timed, cudaErrorInvalidResourceHandle);
    TRY(from->done == from->recorded && to->done == to->recorded, cudaErrorNotReady);
    if (status == cudaSuccess)
        *ms = (float)(to->at_ms - from->at_ms);
    return leave(status);
}

/* ---- copies ---- */

static bool on_device(const void *address, size_t bytes, int device)
{
    const struct range *r = mock_range_at(address, bytes);
    return r && r->device == device;
}

/* Pinned, all of it, or plain. */
static bool on_host(const void *address, size_t bytes)
{
    const struct range *r = mock_range_at(address, bytes);
    return r ? r->device == HOST : !mock_touches_device(address, bytes) && !mock_touches_pinned(address, bytes);
}

static bool right_sides(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, int device)
{
    bool to_device = kind != cudaMemcpyDeviceToHost, from_device = kind != cudaMemcpyHostToDevice;
    return (to_device ? on_device(to, bytes, device) : on_host(to, bytes)) &&
           (from_device ? on_device(from, bytes, device) : on_host(from, bytes));
}

/* Pageable memory is read when the copy is enqueued, and written before the call returns. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    cudaError_t status = enter_for(__func__, stream, STREAM);
    bool pageable;
    TRY(kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice,
        cudaErrorInvalidMemcpyDirection);
    TRY(right_sides(to, from, bytes, kind, stream->object.device), cudaErrorInvalidValue);
    if (status == cudaSuccess) {
        struct op op = { .kind = OP_COPY, .to = to, .from = from, .bytes = bytes };
        pageable = kind != cudaMemcpyDeviceToDevice &&
                   !mock_range_at(kind == cudaMemcpyHostToDevice ? from : to, bytes);
        if (pageable && kind == cudaMemcpyHostToDevice) {
            op.own = malloc(bytes);
            if (!op.own)
                abort();
            memcpy(op.own, from, bytes);
        }
        status = enqueue(stream, op);
        if (pageable && kind == cudaMemcpyDeviceToHost && status == cudaSuccess)
            host_waits(stream);
    }
    return leave(status);
}

#if CUDART_VERSION >= 12080
/* A copy of host memory and a device's, or within the device's. */
static bool is_copy(void *to, const void *from, size_t bytes, int device)
{
    return bytes > 0 && (right_sides(to, from, bytes, cudaMemcpyHostToDevice, device) ||
                         right_sides(to, from, bytes, cudaMemcpyDeviceToHost, device) ||
                         right_sides(to, from, bytes, cudaMemcpyDeviceToDevice, device));
}

static bool overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    return (uintptr_t)a < (uintptr_t)b + b_bytes && (uintptr_t)b < (uintptr_t)a + a_bytes;
}

/* None reads or writes what another writes: that would not be defined. */
static bool independent(void *const *to, const void *const *from, const size_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (overlap(to[i], bytes[i], from[k], bytes[k]) || (i != k && overlap(to[i], bytes[i], to[k], bytes[k])))
                return false;
    return true;
}

/* The copies are done in stream order as a whole, and in an order of the mock's among themselves. */
static cudaError_t memcpy_batch(void *const *to, const void *const *from, const size_t *bytes, size_t n,
                                const struct cudaMemcpyAttributes *attributes, const size_t *first, size_t n_attributes,
                                cudaStream_t stream)
{
    cudaError_t status = enter_for("cudaMemcpyBatchAsync", stream, STREAM);
    size_t begin = mock.calls % (n ? n : 1);
    TRY(!mock.no_batches, cudaErrorCallRequiresNewerDriver);
    TRY(n > 0 && n_attributes == 1 && first[0] == 0 && attributes->flags == 0 &&
        attributes->srcAccessOrder == cudaMemcpySrcAccessOrderStream, cudaErrorInvalidValue);
    for (size_t i = 0; status == cudaSuccess && i < n; i++)
        TRY(is_copy(to[i], from[i], bytes[i], stream->object.device), cudaErrorInvalidValue);
    TRY(independent(to, from, bytes, n), cudaErrorInvalidValue);
    mock.batches += status == cudaSuccess && n > 1;
    for (size_t i = 0; status == cudaSuccess && i < n; i++) {
        size_t k = (begin + i) % n;
        status = enqueue(stream, (struct op){ .kind = OP_COPY, .to = to[k], .from = from[k], .bytes = bytes[k] });
    }
    return leave(status);
}

#if CUDART_VERSION >= 13000
cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes, size_t n,
                                 struct cudaMemcpyAttributes *attributes, size_t *first, size_t n_attributes,
                                 cudaStream_t stream)
{
    return memcpy_batch(to, from, bytes, n, attributes, first, n_attributes, stream);
}
#else
cudaError_t cudaMemcpyBatchAsync(void **to, void **from, size_t *bytes, size_t n, struct cudaMemcpyAttributes *attributes,
                                 size_t *first, size_t n_attributes, size_t *failed, cudaStream_t stream)
{
    *failed = SIZE_MAX;                 /* the error is of no copy of them */
    return memcpy_batch(to, (const void *const *)from, bytes, n, attributes, first, n_attributes, stream);
}
#endif
#endif

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                cudaStream_t stream)
{
    cudaError_t status = enter_for(__func__, stream, STREAM);
    TRY(on_device(to, bytes, to_device) && on_device(from, bytes, from_device), cudaErrorInvalidValue);
    if (status == cudaSuccess)
        status = enqueue(stream, (struct op){ .kind = OP_COPY, .to = to, .from = from, .bytes = bytes });
    return leave(status);
}

/* ---- graphs ---- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    cudaError_t status = enter_for(__func__, stream, STREAM);
    TRY(mode == cudaStreamCaptureModeThreadLocal && !stream->capture && !capturing, cudaErrorIllegalState);
    if (status == cudaSuccess) {
        capturing = stream->capture = calloc(1, sizeof *capturing);
        if (!capturing)
            abort();
        capturing->stream = stream;
    }
    return leave(status);
}

/* A node's handle is its number in the graph, from 1. */
static cudaError_t capture_info(const char *name, cudaStream_t stream, enum cudaStreamCaptureStatus *state, bool rest_unasked,
                                const cudaGraphNode_t **nodes, size_t *n)
{
    cudaError_t status = enter_for(name, stream, STREAM);
    struct capture *c = status == cudaSuccess ? stream->capture : NULL;
    TRY(state && rest_unasked && nodes && n, cudaErrorInvalidValue);
    if (status == cudaSuccess) {
        *state = !c            ? cudaStreamCaptureStatusNone
                 : !c->spoiled ? cudaStreamCaptureStatusActive
                               : cudaStreamCaptureStatusInvalidated;
        *n = 0;
        for (size_t i = 0; *state == cudaStreamCaptureStatusActive && i < c->ops.n; i++)
            if (mock_in(&c->last, i))
                c->told[(*n)++] = (cudaGraphNode_t)(i + 1);
        *nodes = c ? c->told : NULL;
    }
    return leave(status);
}

static cudaError_t update_dependencies(cudaStream_t stream, cudaGraphNode_t *nodes, const void *edges, size_t n,
                                       unsigned flags)
{
    cudaError_t status = enter_for("cudaStreamUpdateCaptureDependencies", stream, STREAM);
    struct nodes follow = { { 0 } };
    TRY(stream->capture, cudaErrorIllegalState);
    TRY(!stream->capture->spoiled, cudaErrorStreamCaptureInvalidated);
    TRY(!edges && flags == cudaStreamSetCaptureDependencies, cudaErrorInvalidValue);
    for (size_t i = 0; status == cudaSuccess && i < n; i++) {
        TRY((uintptr_t)nodes[i] >= 1 && (uintptr_t)nodes[i] <= stream->capture->ops.n, cudaErrorInvalidValue);
        if (status == cudaSuccess)
            mock_put(&follow, (uintptr_t)nodes[i] - 1);
    }
    if (status == cudaSuccess)
        stream->capture->last = follow;
    return leave(status);
}

#if CUDART_VERSION >= 13000
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *state, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **nodes,
                                     const cudaGraphEdgeData **edges, size_t *n)
{
    return capture_info(__func__, stream, state, !id && !graph && !edges, nodes, n);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes,
                                                const cudaGraphEdgeData *edges, size_t n, unsigned flags)
{
    return update_dependencies(stream, nodes, edges, n, flags);
}
#else
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, enum cudaStreamCaptureStatus *state, unsigned long long *id,
                                        cudaGraph_t *graph, const cudaGraphNode_t **nodes, size_t *n)
{
    return capture_info(__func__, stream, state, !id && !graph, nodes, n);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes, size_t n, unsigned flags)
{
    return update_dependencies(stream, nodes, NULL, n, flags);
}
#endif

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    cudaError_t status = enter_for(__func__, stream, STREAM);
    struct capture *c = mock_is(stream, STREAM) ? stream->capture : NULL;
    *graph = NULL;
    TRY(c, cudaErrorIllegalState);
    TRY(c == capturing, cudaErrorStreamCaptureWrongThread);
    TRY(!c->spoiled, cudaErrorStreamCaptureInvalidated);
    if (status == cudaSuccess) {
        *graph = mock_new(GRAPH, sizeof **graph, stream->object.device);
        (*graph)->ops = c->ops;
        c->ops = (struct ops){ 0 };
    }
    if (c && c == capturing) {
        mock_free_ops(&c->ops);
        free(c);
        capturing = stream->capture = NULL;
    }
    return leave(status);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return destroy(__func__, graph, GRAPH); }

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    cudaError_t status = enter_for(__func__, graph, GRAPH);
    TRY(flags == 0 && graph->object.device == current, cudaErrorInvalidValue);
    if (status == cudaSuccess) {
        *exec = mock_new(EXEC, sizeof **exec, graph->object.device);
        mock_copy_ops(&(*exec)->ops, &graph->ops);
    }
    return leave(status);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { return destroy(__func__, exec, EXEC); }

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    cudaError_t status = enter_for(__func__, exec, EXEC);
    TRY(mock_is(stream, STREAM) && stream->object.device == exec->object.device && !stream->capture,
        cudaErrorInvalidValue);
    if (status == cudaSuccess) {
        mock_copy_graph(&stream->queue, &exec->ops);
        mock.graph_launches++;
    }
    return leave(status);
}

/* ---- launches, and what else kernels' host code does ---- */

static cudaError_t launch(const char *name, cudaStream_t stream, struct op op)
{
    cudaError_t status = enter_for(name, stream, STREAM);
    TRY(stream->object.device == current, cudaErrorInvalidResourceHandle);
    if (status != cudaSuccess)
        free(op.own);
    else
        status = enqueue(stream, op);
    return leave(status);
}

void mock_launch(void *stream, void (*fn)(void *), const void *arguments, size_t bytes)
{
    void *own = malloc(bytes);
    if (!own)
        abort();
    memcpy(own, arguments, bytes);
    (void)launch("launch", stream, (struct op){ .kind = OP_KERNEL, .fn = fn, .own = own, .bytes = bytes });
}

void mock_launch_fault(void *stream)
{
    (void)launch("launch", stream, (struct op){ .kind = OP_FAULT });
}

int mock_last_error(void)
{
    return (int)cudaGetLastError();
}

int mock_allocate(void)
{
    void *memory = NULL;
    cudaError_t status = cudaMalloc(&memory, 256);
    return status == cudaSuccess ? cudaFree(memory) : status;
}

void mock_select(int device)
{
    (void)cudaSetDevice(device);
}

/* ---- cuBLAS, as libdf finds it in the program ---- */

/* Making a handle allocates, and a new stream takes the workspace off a handle. */
int cublasCreate_v2(void **handle);
int cublasDestroy_v2(void *handle);
int cublasSetStream_v2(void *handle, cudaStream_t stream);
int cublasSetWorkspace_v2(void *handle, void *workspace, size_t bytes);

int cublasCreate_v2(void **handle)
{
    mock.blas.handles++;
    return cudaMalloc(handle, 4096) == cudaSuccess ? 0 : 1;
}

int cublasDestroy_v2(void *handle)
{
    (void)cudaDeviceSynchronize();
    return cudaFree(handle) == cudaSuccess ? 0 : 1;
}

int cublasSetStream_v2(void *handle, cudaStream_t stream)
{
    mock.blas.stream = stream;
    mock.blas.workspace = NULL;
    return handle != NULL ? 0 : 1;
}

int cublasSetWorkspace_v2(void *handle, void *workspace, size_t bytes)
{
    struct range *range = mock_range_at(workspace, bytes);
    mock.blas.workspace = workspace;
    return handle != NULL && range && range->device == current && (uintptr_t)workspace % 256 == 0 ? 0 : 1;
}

struct mock_blas mock_blas(void)
{
    return mock.blas;
}
