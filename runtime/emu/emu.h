/* emu.h - the private interface of the emulated GPU, shared by emu.c (the operations that the runtime calls), emu_engine.c (the host threads that execute
 * them) and the other emu_*.c. This room knows the device interface (device.h) and the engine's crash messages and log.
 *
 * Streams:  each is a ring of commands. The device's worker fills it, and one engine executes it in order. A command is identified by its stream and its
 *           number there, from 1. `done` counts the executed commands, so command n of stream s is complete if `streams[s].done >= n`. An event is such a
 *           pair.
 * Engines:  one thread each for H2D and for D2H, or one for both if the unit has one engine; one for peer copies if the unit has a peer link; and one for
 *           all compute streams. Among its streams whose next command can start, an engine takes the command that was enqueued first. Records and completed
 *           waits go before all others, so that a waiting stream does not block the others.
 * Failure:  a command that is to fail late fails when it is executed. From then on streams are drained without executing anything, so `good` stays behind
 *           `done`. An event of the failed stream reports the failure; events of other streams never become complete.
 * Locks:    one mutex per device. Commands are executed without it, and event_query reads `done` without it.
 */
#ifndef DFR_EMU_H
#define DFR_EMU_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/device/device.h"
#include "runtime/emu/emu_check.h"
#include "runtime/emu/emu_trial.h"

#define DFR_EMU_RING 256                /* commands of a stream at once; who enqueues more waits for room */

struct dfr_emu_event {
    uint32_t stream;
    uint64_t number;                    /* of the record command; 0: never recorded, which counts as complete */
    _Atomic uint64_t timed_number;      /* the record command that begin_s and end_s belong to */
    _Atomic double begin_s, end_s;
    _Atomic uint32_t in_flight;         /* record commands that will still write here */
};

enum dfr_emu_kind { DFR_EMU_COPY, DFR_EMU_LAUNCH, DFR_EMU_RECORD, DFR_EMU_WAIT };

struct dfr_emu_command {
    enum dfr_emu_kind kind;
    bool follows;                       /* in a replay or batch: given with the command before it, and so without a launch
                                         * or a link's latency of its own */
    bool fails;                         /* when its turn comes: a late failure */
    uint64_t order;                     /* among all commands of the device, from 1 */
    double given_s;                     /* when it was enqueued */
    union {
        struct {
            enum dfr_copy kind;
            void *to;
            const void *from;
            uint64_t bytes;
            struct dfr_emu_device *receiver; /* PEER */
        } copy;
        struct dfr_launch launch;
        struct dfr_emu_event *record;
        struct {
            uint32_t stream;
            uint64_t number;
        } wait;
    };
};

struct dfr_emu_stream {
    struct dfr_emu_command *ring;       /* command n at (n - 1) % DFR_EMU_RING */
    uint64_t enqueued;                  /* under the lock */
    _Atomic uint64_t done;              /* released by the engine after each command, read anywhere */
    _Atomic uint64_t good;              /* the last command that was really carried out; released before `done` */
    double begin_s, end_s;              /* of the last copy or launch; the engine's own */
    bool worked;                        /* since the last record; the engine's own */
    struct dfr_recording *recording;    /* not NULL: what is given to the stream goes there instead. The worker's own */
};

struct dfr_emu_engine {
    struct dfr_emu_device *device;
    const char *name;
    uint32_t first_stream, n_streams;
    pthread_t thread;
    pthread_cond_t work;
    uint64_t random;                    /* state of its random numbers for reordering; 0: it does not reorder */
    bool asleep;                        /* under the lock */
    double free_s;                      /* when its last copy, launch or wait ended */
    struct dfr_emu_stream *stream;      /* whose next command, the one below, it carries out now */
    const struct dfr_emu_command *command;
    bool ended;                         /* a kernel has ended its thread: it launches no more */
};

struct dfr_emu_device {
    struct dfr_device base;
    uint32_t index;
    char name[16];
    struct df_unit unit;                /* link model */
    bool sends;                         /* has a peer link */
    double opened_s;
    void (*wakeup)(void *arg);
    void *wakeup_arg;
    const struct dfr_cores *cores;      /* of the configuration */
    uint32_t core;

    unsigned char *pool;
    uint64_t pool_bytes;                /* whole pages */
    struct dfr_emu_check *check;        /* NULL: blocks are not protected */

    pthread_mutex_t lock;
    pthread_cond_t progress;            /* the worker waits here for room in a ring, or for the end of commands */
    bool worker_waits;
    bool closing;
    struct dfr_emu_trial trial;
    double slow;                        /* all takes so many times as long; 1: as it is */
    uint64_t calls[DFR_EMU_CALLS];      /* made so far, by kind; the worker counts them */
    _Atomic bool failed;                /* released after the three below */
    uint32_t failed_stream;
    enum dfr_emu_call failed_call;
    uint64_t failed_number;             /* of that call */
    uint64_t order;                     /* commands enqueued, all streams */
    uint32_t n_streams, n_engines;
    struct dfr_emu_stream *streams;
    struct dfr_emu_command *rings;
    struct dfr_emu_engine engines[4];
};

/* emu_engine.c: the next random number of this state, which is not 0. */
uint64_t dfr_emu_draw(uint64_t *state);
/* Starts the engines. Fails with DF_E_DEVICE if a thread cannot be created, after stopping those that had started. */
int dfr_emu_engines_start(struct dfr_emu_device *device, struct df_error *error);
/* Waits until they have executed all enqueued commands, and stops them. */
void dfr_emu_engines_stop(struct dfr_emu_device *device);

/* emu_host.c: host memory, and registering it. */
uint64_t dfr_emu_whole_pages(uint64_t bytes);
void *dfr_emu_host_alloc(uint64_t bytes, struct df_error *error);
void *dfr_emu_pool_alloc(uint64_t bytes); /* of a device; dfr_emu_host_free() returns it. NULL: there is none */
void dfr_emu_host_free(void *memory, uint64_t bytes);
int dfr_emu_host_register(void *memory, uint64_t bytes, struct df_error *error);
void dfr_emu_host_unregister(void *memory, uint64_t bytes);
/* Returns true if some of the memory is registered, but not all of it by one call. */
bool dfr_emu_host_split(const void *memory, uint64_t bytes);
/* For tests: how many ranges are registered now. *n_wrong: how often a range was unregistered that was not
 * registered. */
uint32_t dfr_emu_host_registered(uint64_t *n_wrong);

/* emu_record.c */
void dfr_emu_record(struct dfr_recording *recording, const struct dfr_emu_command *command);
int dfr_emu_record_begin(struct dfr_device *device, uint32_t stream, struct df_error *error);
int dfr_emu_record_part(struct dfr_device *device, uint32_t stream, uint32_t part, uint32_t after,
                        struct df_error *error);
int dfr_emu_record_end(struct dfr_device *device, uint32_t stream, struct dfr_recording **recording,
                       struct df_error *error);
int dfr_emu_replay(struct dfr_device *device, struct dfr_recording *recording, uint32_t stream, struct df_error *error);
void dfr_emu_recording_destroy(struct dfr_device *device, struct dfr_recording *recording);
/* emu.c: enqueues a recorded command on a stream again. */
int dfr_emu_repeat(struct dfr_emu_device *device, const struct dfr_emu_command *command, uint32_t stream,
                   struct df_error *error);

static inline bool dfr_emu_happened(const struct dfr_emu_device *device, uint32_t stream, uint64_t number)
{
    return atomic_load_explicit(&device->streams[stream].done, memory_order_acquire) >= number;
}

#endif
