/* opencl_work.c - copies, launches and events on an open OpenCL device: the operations in opencl.c's table that its worker calls (device.h), and
 * df_cl_launch(), which its kernels' host code calls, as dfc prints it.
 *
 * Pieces:   a command gets the sub-buffer of the piece of the pool that it uses, in units of the device's alignment. Pieces come back, so their sub-buffers are kept in a table.
 * Events:   each command has one. Recording an event keeps those of the stream's latest command: no marker is enqueued.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/opencl/opencl_impl.h"
#include "runtime/base/error.h"
#include "runtime/base/intern.h"
#include "runtime/engine/crash.h"
#include "runtime/engine/engine.h"

#define TABLE 4096u                     /* places for pieces; before a command it is emptied if half of them are taken, so it has room for those of the command: a kernel
                                         * has at most some hundred parameters */

struct cl_mark {                        /* an event */
    cl_event first, last;               /* of the work before it; NULL: there was none */
};

static void release(cl_event *event)
{
    if (*event)
        dfr_cl.ReleaseEvent(*event);
    *event = NULL;
}

/* ---- pieces of the pool ---- */

void dfr_cl_forget_pieces(struct cl_device *cl)
{
    for (uint32_t i = 0; cl->pieces && i < TABLE; i++) {
        if (cl->pieces[i].bytes)
            dfr_cl.ReleaseMemObject(cl->pieces[i].memory);
        cl->pieces[i].bytes = 0;
    }
    cl->n_pieces = 0;
}

/* Called before each command: a piece that it uses stays until it is enqueued. */
static void make_room(struct cl_device *cl)
{
    if (cl->n_pieces >= TABLE / 2)
        dfr_cl_forget_pieces(cl);
}

/* The piece of the pool in which these bytes lie. NULL: *error says why. */
static const struct cl_piece *piece_of(struct cl_device *cl, const void *address, uint64_t bytes, struct df_error *error)
{
    const uint64_t align = cl->machine->align, offset = (uint64_t)((const unsigned char *)address - cl->pool);
    const uint64_t from = offset / align * align, aligned = (offset + bytes + align - 1) / align * align, to = aligned < cl->pool_bytes ? aligned : cl->pool_bytes;
    const uint64_t segment = from / cl->machine->most_bytes;
    const cl_buffer_region region = { from % cl->machine->most_bytes, to - from };
    const uint64_t key[2] = { from, to };
    cl_int status;

    if (!cl->pieces && !(cl->pieces = calloc(TABLE, sizeof *cl->pieces))) {
        dfr_error_memory(error);
        return NULL;
    }
    uint32_t at = dfr_hash_fold(dfr_hash(0, key, sizeof key)) % TABLE;
    for (; cl->pieces[at].bytes; at = (at + 1) % TABLE)
        if (cl->pieces[at].from == from && cl->pieces[at].bytes == region.size)
            return &cl->pieces[at];
    cl->pieces[at] = (struct cl_piece){ from, region.size, dfr_cl.CreateSubBuffer(cl->segments[segment], CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &status) };
    if (dfr_cl_check(cl, status, "making a sub-buffer", error) != DF_OK) {
        cl->pieces[at].bytes = 0;
        return NULL;
    }
    cl->n_pieces++;
    return &cl->pieces[at];
}

static size_t within(const struct cl_device *cl, const struct cl_piece *piece, const void *address)
{
    return (size_t)((const unsigned char *)address - cl->pool - piece->from);
}

/* ---- work ---- */

static int begin_work(struct cl_device *cl, uint32_t stream, struct df_error *error)
{
    if (stream >= cl->n_streams)
        return dfr_error(error, DF_E_ARGUMENT, "%s: no stream %u", cl->machine->label, stream);
    release(&cl->streams[stream].first);
    return DF_OK;
}

/* The stream's latest command has this event, which is given to the stream. */
static void note(struct cl_stream *s, cl_event event, bool works)
{
    release(&s->last);
    s->last = event;
    if (works && !s->first && dfr_cl.RetainEvent(event) == CL_SUCCESS)
        s->first = event;
}

static int copy_one(struct cl_device *cl, enum dfr_copy kind, void *to, const void *from, uint64_t bytes, struct cl_stream *s, struct df_error *error)
{
    static const char *const doing[] = { [DFR_COPY_H2D] = "copying to it", [DFR_COPY_D2H] = "copying from it", [DFR_COPY_D2D] = "copying within it" };
    const struct cl_piece *source, *target;
    cl_event event = NULL;
    cl_int status;

    make_room(cl);
    if (kind != DFR_COPY_H2D && !(source = piece_of(cl, from, bytes, error)))
        return DF_E_DEVICE;
    cl_mem source_memory = kind != DFR_COPY_H2D ? source->memory : NULL;
    size_t source_at = kind != DFR_COPY_H2D ? within(cl, source, from) : 0;
    if (kind != DFR_COPY_D2H && !(target = piece_of(cl, to, bytes, error)))
        return DF_E_DEVICE;
    if (kind == DFR_COPY_H2D)
        status = dfr_cl.EnqueueWriteBuffer(s->queue, target->memory, CL_FALSE, within(cl, target, to), bytes, from, 0, NULL, &event);
    else if (kind == DFR_COPY_D2H)
        status = dfr_cl.EnqueueReadBuffer(s->queue, source_memory, CL_FALSE, source_at, bytes, to, 0, NULL, &event);
    else
        status = dfr_cl.EnqueueCopyBuffer(s->queue, source_memory, target->memory, source_at, within(cl, target, to), bytes, 0, NULL, &event);
    if (status == CL_SUCCESS)
        note(s, event, true);
    return dfr_cl_check(cl, status, doing[kind], error);
}

int dfr_cl_copy(struct dfr_device *device, enum dfr_copy kind, void *to, const void *from, uint64_t bytes, uint32_t stream, struct df_error *error)
{
    return dfr_cl_copy_batch(device, kind, &(struct dfr_transfer){ to, from, bytes }, bytes > 0, stream, error);
}

int dfr_cl_copy_batch(struct dfr_device *device, enum dfr_copy kind, const struct dfr_transfer *copies, uint32_t n, uint32_t stream, struct df_error *error)
{
    struct cl_device *cl = dfr_cl_of(device);
    int status = begin_work(cl, stream, error);

    for (uint32_t i = 0; i < n && status == DF_OK; i++)
        status = copy_one(cl, kind, copies[i].to, copies[i].from, copies[i].bytes, &cl->streams[stream], error);
    return status;
}

int dfr_cl_launch(struct dfr_device *device, const struct dfr_launch *launch, uint32_t stream, struct df_error *error)
{
    struct cl_device *cl = dfr_cl_of(device);
    int status = begin_work(cl, stream, error);

    if (status != DF_OK)
        return status;
    cl->launch = launch;
    cl->launch_error.text[0] = '\0';
    const struct df_call *before = dfr_crash_call(launch->call);
    *launch->result = launch->fn(launch->call, &cl->streams[stream], launch->dims, launch->ports, launch->scalars);
    dfr_crash_call(before);
    cl->launch = NULL;
    return cl->launch_error.text[0] ? dfr_error(error, DF_E_DEVICE, "%s", cl->launch_error.text) : DF_OK;
}

int dfr_cl_stream_wait(struct dfr_device *device, uint32_t stream, struct dfr_event *event, struct df_error *error)
{
    struct cl_device *cl = dfr_cl_of(device);
    const struct cl_mark *mark = (const struct cl_mark *)event;
    cl_event waits = NULL;

    if (!mark->last)
        return DF_OK;
    cl_int status = dfr_cl.EnqueueBarrierWithWaitList(cl->streams[stream].queue, 1, &mark->last, &waits);
    if (status == CL_SUCCESS)
        note(&cl->streams[stream], waits, false);
    return dfr_cl_check(cl, status, "waiting for an event", error);
}

int dfr_cl_drain(struct dfr_device *device, struct df_error *error)
{
    struct cl_device *cl = dfr_cl_of(device);
    int status = DF_OK;

    for (uint32_t s = 0; s < cl->n_streams; s++) {
        cl_int finished = cl->streams[s].queue ? dfr_cl.Finish(cl->streams[s].queue) : CL_SUCCESS;
        if (status == DF_OK)
            status = dfr_cl_check(cl, finished, "waiting for its work", error);
    }
    return status;
}

/* ---- events ---- */

int dfr_cl_event_create(struct dfr_device *device, struct dfr_event **event, struct df_error *error)
{
    (void)device;
    *event = calloc(1, sizeof(struct cl_mark));
    return *event ? DF_OK : dfr_error_memory(error);
}

void dfr_cl_event_destroy(struct dfr_device *device, struct dfr_event *event)
{
    struct cl_mark *mark = (struct cl_mark *)event;

    (void)device;
    if (!mark)
        return;
    release(&mark->first);
    release(&mark->last);
    free(mark);
}

/* Commands are given to the device here, so that who waits for the event need not. */
int dfr_cl_event_record(struct dfr_device *device, struct dfr_event *event, uint32_t stream, struct df_error *error)
{
    struct cl_device *cl = dfr_cl_of(device);
    struct cl_mark *mark = (struct cl_mark *)event;
    struct cl_stream *s = &cl->streams[stream];

    release(&mark->first);
    release(&mark->last);
    if (s->last && dfr_cl.RetainEvent(s->last) == CL_SUCCESS)
        mark->last = s->last;
    mark->first = s->first;             /* whatever the stream does next has another */
    s->first = NULL;
    return dfr_cl_check(cl, dfr_cl.Flush(s->queue), "giving it commands", error);
}

int dfr_cl_event_query(struct dfr_device *device, struct dfr_event *event, bool *complete, struct df_error *error)
{
    struct cl_device *cl = dfr_cl_of(device);
    const struct cl_mark *mark = (const struct cl_mark *)event;
    cl_int state = CL_COMPLETE;

    if (mark->last) {
        cl_int status = dfr_cl.GetEventInfo(mark->last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
        if (status != CL_SUCCESS)
            return dfr_cl_check(cl, status, "asking for an event", error);
    }
    *complete = state <= CL_COMPLETE;
    cl->faulted = cl->faulted || state < 0;
    return state < 0 ? dfr_cl_check(cl, state, "work that was given to it failed", error) : DF_OK;
}

bool dfr_cl_event_times(struct dfr_device *device, struct dfr_event *event, double *begin_s, double *end_s)
{
    const struct cl_device *cl = dfr_cl_of(device);
    const struct cl_mark *mark = (const struct cl_mark *)event;
    cl_ulong begin_ns, end_ns;

    if (!cl->times || !mark->first ||
        dfr_cl.GetEventProfilingInfo(mark->first, CL_PROFILING_COMMAND_START, sizeof begin_ns, &begin_ns, NULL) != CL_SUCCESS ||
        dfr_cl.GetEventProfilingInfo(mark->last, CL_PROFILING_COMMAND_END, sizeof end_ns, &end_ns, NULL) != CL_SUCCESS)
        return false;
    *begin_s = 1e-9 * ((double)begin_ns - (double)cl->opened_ns);
    *end_s = 1e-9 * ((double)end_ns - (double)cl->opened_ns);
    return true;
}

/* ---- what kernels' host code calls ---- */

static cl_kernel kernel_of(struct cl_device *cl, const struct df_cl_source *source, const char *name, struct df_error *error)
{
    struct cl_kernel_of *known = cl->kernels.items, made = { source, name, NULL };

    for (uint32_t k = 0; k < cl->kernels.n; k++)
        if (known[k].source == source && (known[k].name == name || strcmp(known[k].name, name) == 0))
            return known[k].kernel;
    if (dfr_cl_kernel(cl->machine, source, name, &made.kernel, error) != DF_OK)
        return NULL;
    known = dfr_array_add(&cl->kernels, sizeof *known, 1);
    if (!known) {
        dfr_cl.ReleaseKernel(made.kernel);
        dfr_error_memory(error);
        return NULL;
    }
    *known = made;
    return made.kernel;
}

/* The port in which this address lies. */
static const struct dfr_range *port_at(const struct cl_device *cl, const void *address)
{
    const unsigned char *at = address;
    for (uint32_t r = 0; r < cl->launch->n_ranges; r++) {
        const unsigned char *from = cl->launch->ranges[r].address;
        if (from && at >= from && at - from < (ptrdiff_t)cl->launch->ranges[r].bytes)
            return &cl->launch->ranges[r];
    }
    return NULL;
}

/* Sets one parameter; *next is its number, and then the one after it. */
static int set_parameter(struct cl_device *cl, cl_kernel kernel, cl_uint *next, size_t bytes, const void *value, struct df_error *error)
{
    const cl_int status = dfr_cl.SetKernelArg(kernel, *next, bytes, value);
    char doing[48];

    if (status != CL_SUCCESS) {
        snprintf(doing, sizeof doing, "setting parameter %u of a kernel", *next);
        return dfr_cl_check(cl, status, doing, error);
    }
    ++*next;
    return DF_OK;
}

/* Sets the parameters of one argument; *next is the first of them, and then the one after them. */
static int set_argument(struct cl_device *cl, cl_kernel kernel, const struct df_cl_arg *arg, cl_uint *next, struct df_error *error)
{
    if (!arg->port)
        return set_parameter(cl, kernel, next, arg->bytes, arg->value, error);
    const struct dfr_range *port = port_at(cl, arg->port);
    if (!port)
        return dfr_error(error, DF_E_ARGUMENT, "parameter %u of a kernel is no port of it", *next);
    const struct cl_piece *piece = piece_of(cl, port->address, port->bytes, error);
    if (!piece)
        return DF_E_DEVICE;
    const size_t from = within(cl, piece, arg->port);
    if (from % (arg->bytes ? arg->bytes : from + 1))
        return dfr_error(error, DF_E_ARGUMENT, "port '%s' begins at byte %zu of its memory here, where a kernel of OpenCL cannot be given a pointer to", port->port, from);
    const cl_long first = arg->bytes ? (cl_long)(from / arg->bytes) + arg->first : 0;
    int status = set_parameter(cl, kernel, next, sizeof piece->memory, &piece->memory, error);
    return status == DF_OK && arg->bytes ? set_parameter(cl, kernel, next, sizeof first, &first, error) : status;
}

static int launch_kernel(struct cl_device *cl, struct cl_stream *s, cl_kernel kernel, const uint32_t groups[3], const uint32_t items[3], struct df_error *error)
{
    const size_t local[3] = { items[0], items[1], items[2] };
    const size_t global[3] = { (size_t)groups[0] * items[0], (size_t)groups[1] * items[1], (size_t)groups[2] * items[2] };
    size_t most = 0;
    cl_event event;
    cl_int status = dfr_cl.EnqueueNDRangeKernel(s->queue, kernel, 3, NULL, global, local, 0, NULL, &event);

    if (status == CL_SUCCESS)
        note(s, event, true);
    if (status == CL_INVALID_WORK_GROUP_SIZE && dfr_cl.GetKernelWorkGroupInfo(kernel, cl->machine->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL) == CL_SUCCESS &&
        local[0] * local[1] * local[2] > most)
        return dfr_error(error, DF_E_ARGUMENT, "%s: a work-group of it has at most %zu work-items there, this has %zu", cl->machine->label, most,
                         local[0] * local[1] * local[2]);
    return dfr_cl_check(cl, status, "launching it", error);
}

int dfr_cl_enqueue(struct cl_device *cl, uint32_t stream, const struct df_cl_source *source, const char *kernel, const uint32_t groups[3], const uint32_t items[3],
                   const struct df_cl_arg *args, unsigned n_args, struct df_error *error)
{
    cl_uint next = 0;
    cl_kernel made = kernel_of(cl, source, kernel, error);
    int status = made ? DF_OK : DF_E_DEVICE;

    make_room(cl);
    for (unsigned i = 0; i < n_args && status == DF_OK; i++)
        status = set_argument(cl, made, &args[i], &next, error);
    return status == DF_OK ? launch_kernel(cl, &cl->streams[stream], made, groups, items, error) : status;
}

int df_cl_launch(struct df_call *call, void *stream, const char *kernel, const uint32_t groups[3], const uint32_t items[3], const struct df_cl_arg *args,
                 unsigned n_args)
{
    struct cl_device *cl = dfr_cl_of(call->device);
    const struct df_graph *g = call->run->graph;
    const struct df_cl_source *source = g->functions[g->nodes[dfr_job_node(call->job)].kernel].opencl_source;
    struct df_error error = { "" };

    if (dfr_cl_enqueue(cl, (uint32_t)((struct cl_stream *)stream - cl->streams), source, kernel, groups, items, args, n_args, &error) == DF_OK)
        return DF_OK;
    if (cl->faulted)
        cl->launch_error = error;       /* the device is lost, which is not this kernel's failure */
    return df_fail(call, "launching '%s': %s", kernel, error.text);
}
