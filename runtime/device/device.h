/* device.h - what the memory manager and the workers need of a device, and nothing else: memory, copies, launches,
 * stream order, events. A back end is one file and one line in the table of device.c.
 *
 * Words:    a *stream* is a queue of copies and launches executed in order; streams run beside each other. An *event*
 *           is a mark in a stream: complete once all that was enqueued before it is.
 * Streams:  each device has DFR_STREAM_H2D, DFR_STREAM_D2H, DFR_STREAM_PEER for what it sends to other devices, and
 *           `jobs` compute streams from DFR_STREAM_COMPUTE on.
 * Memory:   the pool is allocated once by `open` (pool_bytes) and returned by `close`. Host memory that takes part in
 *           copies comes from host_alloc (pinned where the back end has pinning).
 * Threads:  a device is used by its one worker thread; open, close and host_alloc/host_free by the thread that makes
 *           and ends the run. `wakeup` may be called from the back end's own threads, until close has returned.
 * Errors:   DF_OK or a negative DF_E… with the cause in *error, also for failures of earlier asynchronous work that
 *           show here (the message then says so).
 * Null:     a back end with nothing to offer here reports 0 devices and why (a sentence in *error): never a crash, on
 *           machines without a driver either.
 */
#ifndef DF_DEVICE_H
#define DF_DEVICE_H

#include "runtime/graph/platform.h"

enum { DFR_STREAM_H2D, DFR_STREAM_D2H, DFR_STREAM_PEER, DFR_STREAM_COMPUTE };

enum dfr_copy { DFR_COPY_H2D, DFR_COPY_D2H, DFR_COPY_D2D, DFR_COPY_PEER }; /* PEER: by copy_peer alone */

struct dfr_device;                      /* each back end has its own, beginning with what is below */
struct dfr_event;                       /* from event_create */
struct dfr_recording;                   /* from record_end */

/* One launch. The back end calls fn(call, stream, dims, ports, scalars); ports are addresses in the device's memory.
 * All pointers stay valid until the event after it is complete. */
struct dfr_launch {
    df_function *fn;                    /* gpu variant; on emu the cpu variant */
    struct df_call *call;
    const size_t *dims;
    void *const *ports;
    const union df_scalar *scalars;
    int *result;                        /* what fn returned: valid once the event after it is complete */
    /* For memory checking (emu): the block ranges this job may touch. Names are for the message of a violation. */
    const struct dfr_range *ranges;
    uint32_t n_ranges;
    const char *node_name;              /* borrowed as above */
    _Atomic bool *broken;               /* emu, where launches are carried out later: set by a kernel that fails; then
                                         * those that come after it, on what it should have made, do nothing */
};

struct dfr_range {
    void *address;
    uint64_t bytes;
    bool writable;
    const char *port;
};

struct dfr_device_config {
    const struct df_unit *unit;         /* link model, launch latency (emu obeys them, cuda ignores them) */
    uint64_t pool_bytes;
    uint32_t compute_streams;           /* jobs in flight */
    bool check;                         /* emu: protect blocks; a kernel that touches what it did not declare has
                                         * failed, its call says why (dfr_call_failed) and names node and port */
    const struct df_emu_trial *trial;   /* emu: what it is to do wrong; NULL: nothing. Copied */
    void (*wakeup)(void *arg);          /* called by back ends that can, whenever an event may have become complete */
    void *wakeup_arg;
};

struct dfr_device_ops {
    const char *name;                   /* "emu", "cuda" */
    bool can_wakeup;                    /* else the worker polls with growing pauses */
    bool runs_cpu_code;                 /* emu: launches take the cpu variant */
    bool results_at_once;               /* cuda: what the host code returned is known when launch() returns */
    bool loads_late;                    /* cuda: code comes to the device when it is first launched, handles of libraries
                                         * are made then, so the first launch of a kernel takes long */
    /* How many devices there are; *error says why where 0. */
    uint32_t (*count)(struct df_error *error);
    /* Name and memory of device `index` into unit (links are left as they are). The memory is what a run may take, and so
     * what a probe stores and a plan is made for. */
    int (*describe)(uint32_t index, struct df_unit *unit, struct df_error *error);
    int (*open)(uint32_t index, const struct dfr_device_config *config, struct dfr_device **device,
                struct df_error *error);
    void (*close)(struct dfr_device *device);
    void *(*pool)(struct dfr_device *device);   /* base of the pool, aligned to at least 4096 */
    int (*copy)(struct dfr_device *device, enum dfr_copy kind, void *to, const void *from, uint64_t bytes,
                uint32_t stream, struct df_error *error);
    /* From this device's memory to another's of the same back end, which its worker may be using meanwhile. NULL: this
     * back end cannot. */
    int (*copy_peer)(struct dfr_device *device, struct dfr_device *receiver, void *to, const void *from,
                     uint64_t bytes, uint32_t stream, struct df_error *error);
    /* Readies copy_peer to that device, before work begins. true: such copies go straight there; else through the
     * host's memory, by the back end's own means. NULL where copy_peer is. */
    bool (*connect)(struct dfr_device *device, struct dfr_device *receiver);
    int (*launch)(struct dfr_device *device, const struct dfr_launch *launch, uint32_t stream, struct df_error *error);
    int (*event_create)(struct dfr_device *device, struct dfr_event **event, struct df_error *error);
    void (*event_destroy)(struct dfr_device *device, struct dfr_event *event);
    int (*event_record)(struct dfr_device *device, struct dfr_event *event, uint32_t stream, struct df_error *error);
    int (*event_query)(struct dfr_device *device, struct dfr_event *event, bool *complete, struct df_error *error);
    /* Work enqueued on `stream` after this starts after the event. */
    int (*stream_wait)(struct dfr_device *device, uint32_t stream, struct dfr_event *event, struct df_error *error);
    /* Something that was enqueued before has done what ends this device for the process: whoever's call an error comes
     * from now, it need not be theirs. NULL: errors are of those who get them. */
    bool (*faulted)(struct dfr_device *device);
    /* Waits for all that this device was given; used at the end and after failures. */
    int (*drain)(struct dfr_device *device, struct df_error *error);
    /* Memory of the host that copies are fast with; any back end's may be used with any other's copies. */
    void *(*host_alloc)(uint64_t bytes, struct df_error *error);
    void (*host_free)(void *memory, uint64_t bytes);
    /* Seconds since the device was opened at which the copy or launch just before the event in its stream began and
     * ended; false where the back end cannot say yet. For traces. */
    bool (*event_times)(struct dfr_device *device, struct dfr_event *event, double *begin_s, double *end_s);
    /* Handle of the BLAS library bound to a stream, NULL where there is none. */
    void *(*blas)(struct dfr_device *device, uint32_t stream, struct df_error *error);
    /* Launches that are done again. Between record_begin and record_end what is launched on the stream (launches and
     * D2D copies only) is not carried out but recorded; replay then does it all, any number of times but once at a
     * time. What a recorded launch points to must stay as long as the recording. *recording is NULL, with DF_OK, where
     * what was launched cannot be recorded (on CUDA: a kernel's host code did what a capture forbids): nothing was done
     * then, and it is to be launched again. On CUDA a replay does not call fn. All NULL:
     * this back end has no such thing. */
    int (*record_begin)(struct dfr_device *device, uint32_t stream, struct df_error *error);
    int (*record_end)(struct dfr_device *device, uint32_t stream, struct dfr_recording **recording,
                      struct df_error *error);
    int (*replay)(struct dfr_device *device, struct dfr_recording *recording, uint32_t stream, struct df_error *error);
    void (*recording_destroy)(struct dfr_device *device, struct dfr_recording *recording);
    /* Where device `index` is plugged in ("0000:65:00.0"), so that its worker can run near it. NULL: nowhere. */
    int (*bus_id)(uint32_t index, char *text, size_t size, struct df_error *error);
    /* Pins ordinary memory where it lies, and undoes that: the same range. It fails where some of it is pinned already.
     * A copy is of memory that is pinned as a whole, or of none that is. NULL: this back end has no such thing. */
    int (*host_register)(void *memory, uint64_t bytes, struct df_error *error);
    void (*host_unregister)(void *memory, uint64_t bytes);
};

struct dfr_device {
    const struct dfr_device_ops *ops;
};

/* Looks for the event until it is complete, for measurements: spins at first, then lets other threads on. DF_E_DEVICE
 * past give_up_s seconds (0: never gives up). */
int dfr_event_wait(struct dfr_device *device, struct dfr_event *event, double give_up_s, struct df_error *error);

/* The function of a kernel that a launch there calls: the gpu variant, on the emulator the cpu variant unless the
 * program's gpu variants are for it. NULL: none. */
static inline df_function *dfr_device_function(const struct dfr_device_ops *ops, const struct df_options *options,
                                               const struct df_functions *functions)
{
    bool cpu_code = ops->runs_cpu_code && !(options->emu_gpu_code && functions->gpu);
    return cpu_code ? functions->cpu : functions->gpu;
}

#endif
