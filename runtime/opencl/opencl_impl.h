/* opencl_impl.h - internal interface of the OpenCL back end. This room implements device.h on OpenCL 1.2. Only its files include OpenCL's headers, and
 * libOpenCL is loaded when a device is first looked for, so programs neither link nor need it. opencl.c fills the table of device.h with the functions of the
 * others.
 *
 * Numbers:  devices are counted over all platforms, in the order in which the ICD loader gives them.
 * Context:  each device has one, which is made when it is first needed and stays until the process ends, with the programs that were built in it.
 */
#ifndef DFR_OPENCL_IMPL_H
#define DFR_OPENCL_IMPL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "runtime/base/array.h"
#include "runtime/device/device.h"
#include "runtime/df_opencl.h"

#define DFR_CL_CALLS(X)                                                                                                   \
    X(GetPlatformIDs) X(GetPlatformInfo) X(GetDeviceIDs) X(GetDeviceInfo) X(CreateContext) X(ReleaseContext)              \
    X(CreateCommandQueue) X(ReleaseCommandQueue) X(CreateBuffer) X(CreateSubBuffer) X(ReleaseMemObject)                   \
    X(CreateProgramWithSource) X(CreateProgramWithBinary) X(GetProgramInfo) X(BuildProgram) X(GetProgramBuildInfo) X(ReleaseProgram) X(CreateKernel) X(ReleaseKernel)  \
    X(SetKernelArg) X(GetKernelWorkGroupInfo) X(EnqueueNDRangeKernel) X(EnqueueWriteBuffer) X(EnqueueReadBuffer)          \
    X(EnqueueCopyBuffer) X(EnqueueMapBuffer) X(EnqueueUnmapMemObject) X(EnqueueMarkerWithWaitList)                        \
    X(EnqueueBarrierWithWaitList) X(GetEventInfo) X(GetEventProfilingInfo) X(WaitForEvents) X(RetainEvent)                \
    X(ReleaseEvent) X(Flush) X(Finish)

struct dfr_cl_api {
#define CALL(name) __typeof__(cl##name) *name;
    DFR_CL_CALLS(CALL)
#undef CALL
};

/* What the driver's library has; set by dfr_cl_devices(). */
extern struct dfr_cl_api dfr_cl;

/* A device of the machine. What follows `context` is under the lock of opencl_machine.c. */
struct cl_machine {
    cl_platform_id platform;
    cl_device_id id;
    char name[48], label[16];           /* label: "opencl0", for messages */
    uint64_t memory_bytes, most_bytes;  /* most_bytes: of one buffer */
    uint32_t compute_units;
    uint64_t align;                     /* of where a sub-buffer begins */
    bool shares_memory;                 /* its memory is the host's */
    bool exact, fp64;                   /* DF_CL_EXACT, DF_CL_FP64 */
    bool has_cache;                     /* its driver compiles a kernel when it is first launched, and keeps it; a binary would have all kernels compiled */
    cl_context context;                 /* NULL: not yet made */
    struct dfr_array built;             /* of struct cl_built */
};

/* A source that was built for a device. */
struct cl_built {
    uint64_t key;                       /* of its text and options */
    cl_program program;
};

/* A kernel of an open device. Its arguments belong to the device's worker. */
struct cl_kernel_of {
    const struct df_cl_source *source;
    const char *name;
    cl_kernel kernel;
};

struct cl_stream {
    cl_command_queue queue;
    cl_event first, last;               /* of the copies and launches since the latest one was begun; `last` stays until the next. NULL: none */
};

/* A piece of the pool as OpenCL sees it. */
struct cl_piece {
    uint64_t from, bytes;               /* in the pool; bytes 0: the place in the table is free */
    cl_mem memory;
};

struct cl_device {
    struct dfr_device base;
    struct cl_machine *machine;
    bool times, faulted;
    unsigned char *pool;                /* reserved addresses, never accessed; each is an offset in the segments */
    uint64_t pool_bytes;
    uint32_t n_segments;
    cl_mem *segments;                   /* of most_bytes each; the last may have less */
    cl_ulong opened_ns;                 /* the device's clock when it was opened */
    uint32_t n_streams;
    struct cl_stream *streams;
    struct cl_piece *pieces;            /* a hash table */
    uint32_t n_pieces;
    struct dfr_array kernels;           /* of struct cl_kernel_of */
    const struct dfr_launch *launch;    /* whose host code runs now */
    struct df_error launch_error;       /* of a call that this code made; "": none */
};

static inline struct cl_device *dfr_cl_of(struct dfr_device *device)
{
    return (struct cl_device *)device;
}

/* opencl.c: the error of a status that is not CL_SUCCESS; `device` is the name for the message. */
int dfr_cl_failed(struct df_error *error, const char *device, const char *doing, cl_int status);
/* DF_OK for CL_SUCCESS. Notes whether the device is lost. */
int dfr_cl_check(struct cl_device *cl, cl_int status, const char *doing, struct df_error *error);

/* opencl_machine.c: the devices. *n is 0 if there are none, and then *error says why. They stay as long as the process. */
struct cl_machine *dfr_cl_devices(uint32_t *n, struct df_error *error);
/* Makes the device's context unless it is there. */
int dfr_cl_context(struct cl_machine *m, struct df_error *error);
/* Makes the kernel of that name in a source that dfr_cl_load() has built for the device. It is for one thread at a time. */
int dfr_cl_kernel(struct cl_machine *m, const struct df_cl_source *source, const char *name, cl_kernel *kernel, struct df_error *error);

uint32_t dfr_cl_count(struct df_error *error);
int dfr_cl_describe(uint32_t index, struct df_unit *unit, struct df_error *error);
void dfr_cl_about(uint32_t index, char *text, size_t size);
int dfr_cl_load(uint32_t index, const struct df_functions *functions, uint32_t n, bool inexact, struct df_error *error);
uint64_t dfr_cl_segment_bytes(uint32_t index);
uint64_t dfr_cl_cache_bytes(uint32_t index);
int dfr_cl_bus_id(uint32_t index, char *text, size_t size, struct df_error *error);
void *dfr_cl_host_alloc(uint64_t bytes, struct df_error *error);
void dfr_cl_host_free(void *memory, uint64_t bytes);

/* opencl_cache.c: what was built with this key before, for this device; NULL: nothing, or the driver does not take it. `check` is another hash of what the key is
 * of. */
cl_program dfr_cl_cached(const struct cl_machine *m, uint64_t key, uint64_t check, const char *options);
/* Keeps what was built. */
void dfr_cl_keep(uint64_t key, uint64_t check, cl_program program);

/* opencl_gauge.c */
int dfr_cl_gauge(struct dfr_device *device, enum dfr_gauge gauge, uint64_t array_bytes, uint32_t turns, uint32_t stream, double *work, struct df_error *error);

/* opencl_work.c */
/* Enqueues a kernel of a source that was loaded to the device. Ports are those of cl->launch. */
int dfr_cl_enqueue(struct cl_device *cl, uint32_t stream, const struct df_cl_source *source, const char *kernel, const uint32_t groups[3], const uint32_t items[3],
                   const struct df_cl_arg *args, unsigned n_args, struct df_error *error);
/* Forgets the pieces. Work that is enqueued keeps those it uses. */
void dfr_cl_forget_pieces(struct cl_device *cl);
int dfr_cl_copy(struct dfr_device *device, enum dfr_copy kind, void *to, const void *from, uint64_t bytes, uint32_t stream,
                struct df_error *error);
int dfr_cl_copy_batch(struct dfr_device *device, enum dfr_copy kind, const struct dfr_transfer *copies, uint32_t n,
                      uint32_t stream, struct df_error *error);
int dfr_cl_launch(struct dfr_device *device, const struct dfr_launch *launch, uint32_t stream, struct df_error *error);
int dfr_cl_stream_wait(struct dfr_device *device, uint32_t stream, struct dfr_event *event, struct df_error *error);
int dfr_cl_drain(struct dfr_device *device, struct df_error *error);
int dfr_cl_event_create(struct dfr_device *device, struct dfr_event **event, struct df_error *error);
void dfr_cl_event_destroy(struct dfr_device *device, struct dfr_event *event);
int dfr_cl_event_record(struct dfr_device *device, struct dfr_event *event, uint32_t stream, struct df_error *error);
int dfr_cl_event_query(struct dfr_device *device, struct dfr_event *event, bool *complete, struct df_error *error);
bool dfr_cl_event_times(struct dfr_device *device, struct dfr_event *event, double *begin_s, double *end_s);

#endif
