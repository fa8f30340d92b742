/* opencl.c - the OpenCL back end "opencl": opens and closes a device, and translates errors. The runtime calls it through the table of operations at the end of
 * this file (start/back_ends.c).
 *
 * Pool:     as few buffers as the driver's limit of one allows (segments). Its addresses are numbers: a range of the process's addresses is reserved and never
 *           touched, and an offset in that range is a segment and an offset in it. Commands use sub-buffers, never a whole buffer, because the use of both at a
 *           time is undefined.
 * Streams:  in-order command queues.
 * Files:    opencl_machine.c loads libOpenCL, finds the devices, builds programs and pins memory; opencl_cache.c keeps what was
 *           built; opencl_work.c copies, launches and records events; opencl_gauge.c runs benchmarks.
 */
#include "runtime/opencl/opencl_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "runtime/base/error.h"

#define MAX_COMPUTE_STREAMS 1024
#define MIB 1048576.0

/* ---- errors ---- */

static const char *name_of(cl_int status)
{
    static const struct {
        cl_int status;
        const char *name;
    } names[] = {
#define NAME(status) { status, #status }
        NAME(CL_DEVICE_NOT_FOUND), NAME(CL_DEVICE_NOT_AVAILABLE), NAME(CL_COMPILER_NOT_AVAILABLE), NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE),
        NAME(CL_OUT_OF_RESOURCES), NAME(CL_OUT_OF_HOST_MEMORY), NAME(CL_PROFILING_INFO_NOT_AVAILABLE), NAME(CL_MEM_COPY_OVERLAP),
        NAME(CL_BUILD_PROGRAM_FAILURE), NAME(CL_MAP_FAILURE), NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET), NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
        NAME(CL_COMPILE_PROGRAM_FAILURE), NAME(CL_LINKER_NOT_AVAILABLE), NAME(CL_LINK_PROGRAM_FAILURE), NAME(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
        NAME(CL_INVALID_VALUE), NAME(CL_INVALID_PLATFORM), NAME(CL_INVALID_DEVICE), NAME(CL_INVALID_CONTEXT), NAME(CL_INVALID_QUEUE_PROPERTIES),
        NAME(CL_INVALID_COMMAND_QUEUE), NAME(CL_INVALID_MEM_OBJECT), NAME(CL_INVALID_BINARY), NAME(CL_INVALID_BUILD_OPTIONS), NAME(CL_INVALID_PROGRAM),
        NAME(CL_INVALID_PROGRAM_EXECUTABLE), NAME(CL_INVALID_KERNEL_NAME), NAME(CL_INVALID_KERNEL_DEFINITION), NAME(CL_INVALID_KERNEL),
        NAME(CL_INVALID_ARG_INDEX), NAME(CL_INVALID_ARG_VALUE), NAME(CL_INVALID_ARG_SIZE), NAME(CL_INVALID_KERNEL_ARGS), NAME(CL_INVALID_WORK_DIMENSION),
        NAME(CL_INVALID_WORK_GROUP_SIZE), NAME(CL_INVALID_WORK_ITEM_SIZE), NAME(CL_INVALID_GLOBAL_OFFSET), NAME(CL_INVALID_EVENT_WAIT_LIST),
        NAME(CL_INVALID_EVENT), NAME(CL_INVALID_OPERATION), NAME(CL_INVALID_BUFFER_SIZE), NAME(CL_INVALID_GLOBAL_WORK_SIZE), NAME(CL_INVALID_PROPERTY),
        NAME(CL_INVALID_COMPILER_OPTIONS), NAME(CL_INVALID_LINKER_OPTIONS),
#undef NAME
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].status == status)
            return names[i].name;
    return "an error that only its driver knows";
}

static bool is_about_memory(cl_int status)
{
    return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_HOST_MEMORY;
}

int dfr_cl_failed(struct df_error *error, const char *device, const char *doing, cl_int status)
{
    return dfr_error(error, is_about_memory(status) ? DF_E_MEMORY : DF_E_DEVICE, "%s: %s: %s (%d)", device, doing, name_of(status), (int)status);
}

/* Returns true for an error after which nothing else works on the device. Drivers report a kernel that accessed memory it has not by one of these, or by a number
 * of their own, as the status of a command. */
static bool is_fault(cl_int status)
{
    return status == CL_OUT_OF_RESOURCES || status == CL_DEVICE_NOT_AVAILABLE || status == CL_INVALID_COMMAND_QUEUE || status == CL_INVALID_CONTEXT || status <= -1000;
}

int dfr_cl_check(struct cl_device *cl, cl_int status, const char *doing, struct df_error *error)
{
    cl->faulted = cl->faulted || is_fault(status);
    return status == CL_SUCCESS ? DF_OK : dfr_cl_failed(error, cl->machine->label, doing, status);
}

static bool faulted(struct dfr_device *device)
{
    return dfr_cl_of(device)->faulted;
}

/* ---- open and close ---- */

static int make_pool(struct cl_device *cl, uint64_t bytes, struct df_error *error)
{
    const struct cl_machine *m = cl->machine;
    const uint64_t n = bytes / m->most_bytes + 1;
    char doing[120];
    cl_int status = CL_SUCCESS;

    cl->pool = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (cl->pool == MAP_FAILED) {
        cl->pool = NULL;
        return dfr_error(error, DF_E_MEMORY, "%s: cannot reserve addresses for its pool of %.1f MiB", m->label, (double)bytes / MIB);
    }
    cl->pool_bytes = bytes;
    cl->segments = calloc(n, sizeof *cl->segments);
    if (!cl->segments)
        return dfr_error_memory(error);
    for (uint64_t from = 0; from < bytes && status == CL_SUCCESS; from += m->most_bytes)
        cl->segments[cl->n_segments++] = dfr_cl.CreateBuffer(m->context, CL_MEM_READ_WRITE, bytes - from < m->most_bytes ? bytes - from : m->most_bytes, NULL, &status);
    snprintf(doing, sizeof doing, "allocating its pool of %.1f MiB (--gpu-mem takes less)", (double)bytes / MIB);
    return dfr_cl_check(cl, status, doing, error);
}

static int make_streams(struct cl_device *cl, uint32_t compute_streams, struct df_error *error)
{
    const struct cl_machine *m = cl->machine;
    cl_int status = CL_SUCCESS;

    if (compute_streams == 0 || compute_streams > MAX_COMPUTE_STREAMS)
        return dfr_error(error, DF_E_ARGUMENT, "%s: %u compute streams asked for; 1 to %d are possible", m->label, compute_streams, MAX_COMPUTE_STREAMS);
    cl->streams = calloc(DFR_STREAM_COMPUTE + compute_streams, sizeof *cl->streams);
    if (!cl->streams)
        return dfr_error_memory(error);
    cl->n_streams = DFR_STREAM_COMPUTE + compute_streams;
    for (uint32_t s = 0; s < cl->n_streams && status == CL_SUCCESS; s++)
        cl->streams[s].queue = dfr_cl.CreateCommandQueue(m->context, m->id, cl->times ? CL_QUEUE_PROFILING_ENABLE : 0, &status);
    return dfr_cl_check(cl, status, "making a command queue", error);
}

/* The moment that times count from. */
static int mark_opened(struct cl_device *cl, struct df_error *error)
{
    cl_event event;
    cl_int status = dfr_cl.EnqueueMarkerWithWaitList(cl->streams[0].queue, 0, NULL, &event);

    if (status != CL_SUCCESS)
        return dfr_cl_check(cl, status, "recording an event", error);
    status = dfr_cl.WaitForEvents(1, &event);
    if (status == CL_SUCCESS)
        status = dfr_cl.GetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof cl->opened_ns, &cl->opened_ns, NULL);
    dfr_cl.ReleaseEvent(event);
    return dfr_cl_check(cl, status, "asking for the time", error);
}

/* Called after a failed open, too. Who drained the device has been told of errors. */
static void free_all(struct cl_device *cl)
{
    struct cl_kernel_of *kernels = cl->kernels.items;

    dfr_cl_forget_pieces(cl);
    for (uint32_t k = 0; k < cl->kernels.n; k++)
        dfr_cl.ReleaseKernel(kernels[k].kernel);
    dfr_array_free(&cl->kernels);
    for (uint32_t s = 0; s < cl->n_streams; s++) {
        if (cl->streams[s].first)
            dfr_cl.ReleaseEvent(cl->streams[s].first);
        if (cl->streams[s].last)
            dfr_cl.ReleaseEvent(cl->streams[s].last);
        if (cl->streams[s].queue)
            dfr_cl.ReleaseCommandQueue(cl->streams[s].queue);
    }
    for (uint32_t i = 0; i < cl->n_segments; i++)
        if (cl->segments[i])
            dfr_cl.ReleaseMemObject(cl->segments[i]);
    free(cl->segments);
    if (cl->pool)
        munmap(cl->pool, cl->pool_bytes);
    free(cl->pieces);
    free(cl->streams);
    free(cl);
}

extern const struct dfr_device_ops dfr_opencl_ops;

static int cl_open(uint32_t index, const struct dfr_device_config *config, struct dfr_device **device, struct df_error *error)
{
    uint32_t n;
    struct cl_machine *machines = dfr_cl_devices(&n, error);
    struct cl_device *cl = index < n ? calloc(1, sizeof *cl) : NULL;

    if (index >= n)
        return n ? dfr_error(error, DF_E_DEVICE, "there is no OpenCL device %u", index) : DF_E_DEVICE;
    if (!cl)
        return dfr_error_memory(error);
    cl->base.ops = &dfr_opencl_ops;
    cl->machine = &machines[index];
    cl->times = config->times;
    int status = dfr_cl_context(cl->machine, error);
    if (status == DF_OK)
        status = make_streams(cl, config->compute_streams, error);
    if (status == DF_OK)
        status = make_pool(cl, config->pool_bytes, error);
    if (status == DF_OK && cl->times)
        status = mark_opened(cl, error);
    if (status != DF_OK) {
        free_all(cl);
        return status;
    }
    *device = &cl->base;
    return DF_OK;
}

static void cl_close(struct dfr_device *device)
{
    (void)dfr_cl_drain(device, NULL);
    free_all(dfr_cl_of(device));
}

static void *cl_pool(struct dfr_device *device)
{
    return dfr_cl_of(device)->pool;
}

static void *cl_blas(struct dfr_device *device, uint32_t stream, struct df_error *error)
{
    (void)stream;
    dfr_error(error, DF_E_DEVICE, "%s: there is no cuBLAS on an OpenCL device", dfr_cl_of(device)->machine->label);
    return NULL;
}

const struct dfr_device_ops dfr_opencl_ops = {
    .name = "opencl",
    .runs_opencl = true,
    .results_at_once = true,
    .loads_late = true,
    .count = dfr_cl_count,
    .describe = dfr_cl_describe,
    .about = dfr_cl_about,
    .load = dfr_cl_load,
    .open = cl_open,
    .close = cl_close,
    .pool = cl_pool,
    .copy = dfr_cl_copy,
    .copy_batch = dfr_cl_copy_batch,
    .launch = dfr_cl_launch,
    .event_create = dfr_cl_event_create,
    .event_destroy = dfr_cl_event_destroy,
    .event_record = dfr_cl_event_record,
    .event_query = dfr_cl_event_query,
    .stream_wait = dfr_cl_stream_wait,
    .drain = dfr_cl_drain,
    .faulted = faulted,
    .host_alloc = dfr_cl_host_alloc,
    .host_free = dfr_cl_host_free,
    .event_times = dfr_cl_event_times,
    .blas = cl_blas,
    .bus_id = dfr_cl_bus_id,
    .gauge = dfr_cl_gauge,
    .segment_bytes = dfr_cl_segment_bytes,
    .cache_bytes = dfr_cl_cache_bytes,
};
