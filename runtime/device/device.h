/* device.h - the interface of device back ends: memory, copies, launches, stream order and events. It is all that the memory manager and the workers use of
 * a device.
 *
 * Room:     runtime/device/ has this interface, the choice of the devices that take part in a run, waiting for one event, and the rule that adapts the
 *           number of jobs in flight. It knows the platform and no back end: a back end is a room above this one and one line in the table of
 *           runtime/start/back_ends.c.
 * Words:    A *stream* is a queue of copies and launches that are executed in order; streams run beside each other. An
 *           *event* is a mark in a stream. It is complete when all that was enqueued before it is done.
 * Streams:  Each device has DFR_STREAM_H2D, DFR_STREAM_D2H, DFR_STREAM_PEER for what it sends to other devices, and
 *           `jobs` compute streams from DFR_STREAM_COMPUTE on.
 * Unified:  The jobs of a unified device (graph/platform.h) get addresses of the host's memory for tokens. They read what the
 *           host wrote before the launch, and the host reads what they wrote when the event after the launch is
 *           complete. Copies are between such memory and the pool, never within it.
 * Memory:   The pool (pool_bytes) is allocated once, by `open`, and returned by `close`. Memory from host_alloc is pinned
 *           if the back end can pin. A copy may be of any host memory. If it is not pinned, the call may wait for the copy.
 * Threads:  A device is used by its one worker thread. The thread that makes and ends the run calls open, close,
 *           host_alloc and host_free. The back end's own threads may call `wakeup` until close has returned.
 * Errors:   DF_OK or a negative DF_E… with the cause in *error. A failure of earlier asynchronous work may be reported by a later call; the message then
 *           says so.
 * No device: A back end that finds no device reports 0 devices, and a sentence in *error says why. It never crashes, on
 *           machines without a driver either.
 */
#ifndef DF_DEVICE_H
#define DF_DEVICE_H

#include "runtime/device/gauge.h"
#include "runtime/graph/platform.h"

#define DFR_RECORDED_PARTS 32u          /* of one recording, at most */
#define DFR_BATCH 32u                   /* copies of one batch, at most */

enum { DFR_STREAM_H2D, DFR_STREAM_D2H, DFR_STREAM_PEER, DFR_STREAM_COMPUTE };

enum dfr_copy { DFR_COPY_H2D, DFR_COPY_D2H, DFR_COPY_D2D, DFR_COPY_PEER }; /* PEER: by copy_peer only */

struct dfr_transfer {
    void *to;
    const void *from;
    uint64_t bytes;                     /* > 0 */
};

struct dfr_cores;                       /* bind.h */
struct dfr_device;                      /* each back end has its own struct, which begins with the one below */
struct dfr_event;                       /* from event_create */
struct dfr_recording;                   /* from record_end */

/* One launch. The back end calls fn(call, stream, dims, ports, scalars); `ports` are addresses in the device's memory,
 * or for tokens of a unified device in the host's.
 * All pointers stay valid until the event after the launch is complete. */
struct dfr_launch {
    df_function *fn;                    /* the gpu variant; on emu usually the cpu variant */
    struct df_call *call;
    const size_t *dims;
    void *const *ports;
    const union df_scalar *scalars;
    int *result;                        /* what fn returned; valid once the event after the launch is complete */
    /* For memory checking: the ranges of blocks that this job may touch. Names are for the message of a
     * violation. */
    const struct dfr_range *ranges;
    uint32_t n_ranges;
    const char *node_name;              /* borrowed as above */
    double seconds;                     /* how long it is expected to take; some back ends only wait for so long */
    _Atomic bool *broken;               /* of back ends that run kernels on the host, later: a kernel that fails sets it; the
                                         * launches after it, which would read what it should have made, then do
                                         * nothing */
};

struct dfr_range {
    void *address;
    uint64_t bytes;
    bool writable;
    const char *port;
};

struct dfr_device_config {
    const struct df_unit *unit;         /* link model, launch latency, for back ends that imitate them */
    uint64_t pool_bytes;
    uint32_t compute_streams;           /* jobs in flight */
    bool check;                         /* where the back end can: protect blocks. A kernel that accesses memory outside its ports has
                                         * failed: its call says why (dfr_call_failed) and names node and port */
    bool times;                         /* event_times() is wanted: it costs a back end something */
    void (*wakeup)(void *arg);          /* called by back ends that can, whenever an event may have become complete */
    void *wakeup_arg;
    const struct dfr_cores *cores;      /* an engine that computes on the host is bound to core number `core` of these, which stay until
                                         * the device is closed; NULL: to none */
    uint32_t core;
};

struct dfr_device_ops {
    const char *name;                   /* "emu", "cuda", "opencl" */
    bool can_wakeup;                    /* false: the worker polls with growing pauses */
    bool runs_cpu_code;                 /* it emulates a device: launches call the cpu variant */
    bool runs_opencl;                   /* launches call the opencl variant */
    bool results_at_once;               /* what the host code returned is known when launch() returns */
    bool loads_late;                    /* code comes to the device when it is first launched, and handles of
                                         * libraries are made then; so the first launch of a kernel takes long */
    bool begins_early;                  /* event_times() gives as the begin when the stream came to the work. The
                                         * device may have been at another stream's work until later */
    /* How many devices there are. If there are none, *error says why. */
    uint32_t (*count)(struct df_error *error);
    /* Writes name and memory of device `index` into *unit, and whether it is unified, unless that is up to the platform,
     * as of emulated ones; links are left as they are. The memory is what a run may take. So it is what a probe stores and what a plan
     * is made for; of a unified device it is for scratch alone. */
    int (*describe)(uint32_t index, struct df_unit *unit, struct df_error *error);
    /* Writes for people what else is to be said of device `index`: its driver, and what it promises. NULL: nothing is. */
    void (*about)(uint32_t index, char *text, size_t size);
    /* Loads the program's code to device `index`: of the n kernels' functions those that `device` gives. DF_E_DEVICE:
     * the device cannot be used, or there is no code for it, or it would not give the bits that the code promises, unless it may be `inexact`.
     * NULL: every device can run the program. */
    int (*load)(uint32_t index, const struct df_functions *functions, uint32_t n, bool inexact, struct df_error *error);
    /* How much of the device's memory a run may take now: what others have left, less the back end's reserve. NULL: all
     * that describe() says. */
    int (*free_bytes)(uint32_t index, uint64_t *bytes, struct df_error *error);
    /* The pool of device `index` is in segments of so many bytes, whole pages, and a block that crosses a multiple of this from the pool's base cannot be
     * used. 0, or NULL: it is one piece. */
    uint64_t (*segment_bytes)(uint32_t index);
    int (*open)(uint32_t index, const struct dfr_device_config *config, struct dfr_device **device,
                struct df_error *error);
    void (*close)(struct dfr_device *device);
    void *(*pool)(struct dfr_device *device);   /* base of the pool, aligned to at least 4096 */
    int (*copy)(struct dfr_device *device, enum dfr_copy kind, void *to, const void *from, uint64_t bytes,
                uint32_t stream, struct df_error *error);
    /* n copies of one kind, H2D or D2H, 1 <= n <= DFR_BATCH: as n calls of copy(), but in any order among themselves. So
     * none may touch what another writes. The copies are borrowed for the call. After an error it is not known which of
     * them it is of, or how many are under way. NULL: this back end gains nothing by it. */
    int (*copy_batch)(struct dfr_device *device, enum dfr_copy kind, const struct dfr_transfer *copies, uint32_t n,
                      uint32_t stream, struct df_error *error);
    /* Copies from this device's memory to another device's of the same back end, whose worker may be using that device
     * meanwhile. NULL: this back end cannot. */
    int (*copy_peer)(struct dfr_device *device, struct dfr_device *receiver, void *to, const void *from,
                     uint64_t bytes, uint32_t stream, struct df_error *error);
    /* Prepares copy_peer to that device, before work begins. true: such copies go straight there. false: they go
     * through the host's memory, by the back end's own means. NULL if copy_peer is. */
    bool (*connect)(struct dfr_device *device, struct dfr_device *receiver);
    int (*launch)(struct dfr_device *device, const struct dfr_launch *launch, uint32_t stream, struct df_error *error);
    int (*event_create)(struct dfr_device *device, struct dfr_event **event, struct df_error *error);
    void (*event_destroy)(struct dfr_device *device, struct dfr_event *event);
    int (*event_record)(struct dfr_device *device, struct dfr_event *event, uint32_t stream, struct df_error *error);
    int (*event_query)(struct dfr_device *device, struct dfr_event *event, bool *complete, struct df_error *error);
    /* Work that is enqueued on `stream` after this call starts after the event. */
    int (*stream_wait)(struct dfr_device *device, uint32_t stream, struct dfr_event *event, struct df_error *error);
    /* Returns true if earlier work has made this device unusable for the process; an error that a later call reports may then have another cause than that
     * call. NULL: an error always belongs to the call that reports it. */
    bool (*faulted)(struct dfr_device *device);
    /* Waits for all work enqueued on this device; used at the end and after failures. Unfinished recordings are dropped. */
    int (*drain)(struct dfr_device *device, struct df_error *error);
    /* Memory of the host that copies are fast with. The memory of any back end may be used with any other's copies. */
    void *(*host_alloc)(uint64_t bytes, struct df_error *error);
    void (*host_free)(void *memory, uint64_t bytes);
    /* For traces: the times, in seconds since the device was opened, at which the copy or launch just before the event
     * in its stream began and ended. false: the back end cannot say yet, or times were not wanted. */
    bool (*event_times)(struct dfr_device *device, struct dfr_event *event, double *begin_s, double *end_s);
    /* The device's handle of the BLAS library, bound to a stream until the next call. NULL: there is none. */
    void *(*blas)(struct dfr_device *device, uint32_t stream, struct df_error *error);
    /* A function of that library by its name. NULL: there is none. The operation is NULL if there never is one. */
    void *(*blas_function)(struct dfr_device *device, const char *name);
    /* Launches that are repeated. Between record_begin and record_end, what is launched on the stream (launches and D2D
     * copies only) is not carried out but recorded. A replay then does all of it: any number of times, but once at a
     * time. What a recorded launch points to must stay as long as the recording. If what was launched cannot be
     * recorded, record_end gives DF_OK with *recording NULL: a kernel's host code did what a recording forbids.
     * Nothing was done then, and the caller launches it again. Where results_at_once is set, a replay does not call fn. All five NULL: this
     * back end cannot record. */
    int (*record_begin)(struct dfr_device *device, uint32_t stream, struct df_error *error);
    /* What is launched from now on, up to the next such call, is part number `part` of the recording: 0, 1, 2 in turn.
     * It starts when the parts `after` are done (bit p: part p), and not before what was on the replay's stream. Within
     * a part launches are in order. Parts that are not ordered may run at the same time. Without such calls each launch
     * starts after the one before. A replay is done when all its parts are. After an error here what record_end gives
     * must not be replayed. */
    int (*record_part)(struct dfr_device *device, uint32_t stream, uint32_t part, uint32_t after,
                       struct df_error *error);
    int (*record_end)(struct dfr_device *device, uint32_t stream, struct dfr_recording **recording,
                      struct df_error *error);
    int (*replay)(struct dfr_device *device, struct dfr_recording *recording, uint32_t stream, struct df_error *error);
    void (*recording_destroy)(struct dfr_device *device, struct dfr_recording *recording);
    /* The place where device `index` is plugged in ("0000:65:00.0"), so that its worker can run near it. NULL:
     * nowhere. */
    int (*bus_id)(uint32_t index, char *text, size_t size, struct df_error *error);
    /* Pins ordinary memory where it lies; the second undoes that, for the same range. It fails if some of the memory is
     * pinned already. The memory of one copy must be pinned as a whole or not at all. NULL: this back end cannot
     * pin. */
    int (*host_register)(void *memory, uint64_t bytes, struct df_error *error);
    void (*host_unregister)(void *memory, uint64_t bytes);
    /* Bytes of device `index`'s last cache; 0: not known. NULL: it has none. */
    uint64_t (*cache_bytes)(uint32_t index);
    /* In how many seconds the next event may become complete; INFINITY: none before something else is given to the device.
     * The worker sleeps for so long. NULL: the back end cannot say. */
    double (*next_event_s)(struct dfr_device *device);
    /* Enqueues a loop that measures the device, `turns` times. It works on three arrays of so many bytes, a multiple of 8,
     * that lie one behind the other in the pool; what they held is lost. *work is how much of what gauge.h says is done.
     * DF_E_DEVICE: among others, this program has no such loops. NULL: the device computes on the host. */
    int (*gauge)(struct dfr_device *device, enum dfr_gauge gauge, uint64_t array_bytes, uint32_t turns, uint32_t stream,
                double *work, struct df_error *error);
};

struct dfr_device {
    const struct dfr_device_ops *ops;
};

/* Waits until the event is complete, for measurements. Spins at first, and then yields between polls. Fails with DF_E_DEVICE after give_up_s seconds (0:
 * never). */
int dfr_event_wait(struct dfr_device *device, struct dfr_event *event, double give_up_s, struct df_error *error);

/* The gpu variant of a kernel for such devices; NULL: there is none. */
static inline df_function *dfr_gpu_variant(const struct dfr_device_ops *ops, const struct df_functions *functions)
{
    return ops->runs_opencl ? functions->opencl : functions->gpu;
}

/* The function of a kernel that a launch there calls: the gpu variant. The emulator calls the cpu variant, unless the
 * program's gpu variants were compiled for it. NULL: there is none. */
static inline df_function *dfr_device_function(const struct dfr_device_ops *ops, const struct df_options *options,
                                               const struct df_functions *functions)
{
    bool cpu_code = ops->runs_cpu_code && !(options->emu_gpu_code && functions->gpu);
    return cpu_code ? functions->cpu : dfr_gpu_variant(ops, functions);
}

#endif
