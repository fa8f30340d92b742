/* emu.h - the inside of the emulated GPU, shared by emu.c (its operations, called by the runtime) and emu_engine.c (the
 * host threads that carry them out).
 *
 * Streams:  each is a ring of commands, filled by the device's worker and emptied in order by one engine. A command is
 *           known by its stream and its number there, from 1; `done` counts those carried out, so "has command n of
 *           stream s happened" is `streams[s].done >= n`. That is all an event is.
 * Engines:  H2D and D2H (one thread for both where the unit has one engine), one for peer copies where the unit has a
 *           peer link, and one for all compute streams. An engine
 *           takes, among its streams whose next command can start, the one that was enqueued first (records and ended
 *           waits before all); so a stream that waits holds up no other.
 * Failure:  a command that is to fail late does when its turn comes; from there on streams are emptied and nothing is
 *           carried out, so `good` stays behind `done`. An event of the stream that failed tells it; those of others
 *           are never complete.
 * Locks:    one mutex per device; commands are carried out outside it. event_query reads `done` without it.
 */
#ifndef DFR_EMU_H
#define DFR_EMU_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/device/device.h"
#include "runtime/emu/emu_check.h"
#include "runtime/emu/emu_trial.h"

#define DFR_EMU_RING 256                /* commands of a stream at once; enqueueing more waits */

struct dfr_emu_event {
    uint32_t stream;
    uint64_t number;                    /* of the record command; 0: never recorded, counts as complete */
    _Atomic uint64_t timed_number;      /* the record whose times these are */
    _Atomic double begin_s, end_s;
    _Atomic uint32_t in_flight;         /* record commands that will still write here */
};

enum dfr_emu_kind { DFR_EMU_COPY, DFR_EMU_LAUNCH, DFR_EMU_RECORD, DFR_EMU_WAIT };

struct dfr_emu_command {
    enum dfr_emu_kind kind;
    bool follows;                       /* in a replay: launched with the command before it, at no further cost */
    bool fails;                         /* late */
    uint64_t order;                     /* among all commands of the device, from 1 */
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
    struct dfr_recording *recording;    /* what is enqueued goes there; the worker's own */
};

struct dfr_emu_engine {
    struct dfr_emu_device *device;
    const char *name;
    uint32_t first_stream, n_streams;
    pthread_t thread;
    pthread_cond_t work;
    uint64_t random;                    /* reordering: state of its random numbers, 0: none */
    bool asleep;                        /* under the lock */
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

    unsigned char *pool;
    uint64_t pool_bytes;                /* whole pages */
    struct dfr_emu_check *check;        /* NULL: blocks are not protected */

    pthread_mutex_t lock;
    pthread_cond_t progress;            /* for the worker, where it waits for room or for the end */
    bool worker_waits;
    bool closing;
    struct dfr_emu_trial trial;
    double slow;                        /* 1: as it is */
    uint64_t calls[DFR_EMU_CALLS];       /* the worker's count */
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

/* Starts the engines; DF_E_DEVICE where a thread cannot be made (those begun are ended again). */
int dfr_emu_engines_start(struct dfr_emu_device *device, struct df_error *error);
/* Lets them finish what is enqueued, and ends them. */
void dfr_emu_engines_stop(struct dfr_emu_device *device);

/* emu_host.c: host memory, and registering it. */
uint64_t dfr_emu_whole_pages(uint64_t bytes);
void *dfr_emu_host_alloc(uint64_t bytes, struct df_error *error);
void dfr_emu_host_free(void *memory, uint64_t bytes);
int dfr_emu_host_register(void *memory, uint64_t bytes, struct df_error *error);
void dfr_emu_host_unregister(void *memory, uint64_t bytes);
bool dfr_emu_host_split(const void *memory, uint64_t bytes); /* some of it is registered, and not all by one call */
/* For tests: ranges that are registered now; and how often something was unregistered that was not. */
uint32_t dfr_emu_host_registered(uint64_t *n_wrong);

/* emu_record.c */
void dfr_emu_record(struct dfr_recording *recording, const struct dfr_emu_command *command);
int dfr_emu_record_begin(struct dfr_device *device, uint32_t stream, struct df_error *error);
int dfr_emu_record_end(struct dfr_device *device, uint32_t stream, struct dfr_recording **recording,
                       struct df_error *error);
int dfr_emu_replay(struct dfr_device *device, struct dfr_recording *recording, uint32_t stream, struct df_error *error);
void dfr_emu_recording_destroy(struct dfr_device *device, struct dfr_recording *recording);
/* emu.c: a recorded command is given again. */
int dfr_emu_repeat(struct dfr_emu_device *device, const struct dfr_emu_command *command, uint32_t stream,
                   struct df_error *error);

static inline bool dfr_emu_happened(const struct dfr_emu_device *device, uint32_t stream, uint64_t number)
{
    return atomic_load_explicit(&device->streams[stream].done, memory_order_acquire) >= number;
}

#endif
