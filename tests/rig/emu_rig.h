/* emu_rig.h - what the tests of the emulated GPU share: a device that is open, and its operations, which fail the test
 * if their status is bad. A program includes it once. */
#ifndef EMU_RIG_H
#define EMU_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "runtime/device/device.h"
#include "runtime/start/back_ends.h"
#include "runtime/engine/call.h"
#include "runtime/threads/clock.h"

#define PAGE 4096u
#define POOL_BYTES (64 * PAGE)

/* The device hands a call on and never looks into it. So the tests have a struct of their own, whose message they
 * compare. */
struct df_call {
    int number;
    char message[512];
};

void dfr_call_failed(struct df_call *call, const char *message)
{
    snprintf(call->message, sizeof call->message, "%s", message);
}

struct rig {
    const struct dfr_device_ops *ops;
    struct dfr_device *device;
    unsigned char *pool;
    struct df_unit unit;
    _Atomic unsigned wakeups;
};

static struct timespec wakeup_pause;    /* what a call of wakeup takes */

static inline void count_wakeup(void *arg)
{
    struct rig *rig = arg;

    nanosleep(&wakeup_pause, NULL);
    atomic_fetch_add(&rig->wakeups, 1);
}

static inline void rig_open(struct rig *rig, const struct df_unit *unit, uint32_t compute_streams, bool check)
{
    struct dfr_device_config config = {.unit = &rig->unit,
                                       .pool_bytes = POOL_BYTES,
                                       .compute_streams = compute_streams,
                                       .check = check,
                                       .wakeup = count_wakeup,
                                       .wakeup_arg = rig};
    struct df_error error;

    rig->ops = dfr_back_end_of(DF_DEVICE_EMU);
    rig->unit = *unit;
    atomic_init(&rig->wakeups, 0);
    assert_int_equal(rig->ops->open(0, &config, &rig->device, &error), DF_OK);
    rig->pool = rig->ops->pool(rig->device);
    assert_int_equal((uintptr_t)rig->pool % PAGE, 0);
}

static const struct df_unit free_links = {.engines = 2,
                                          .h2d = {.bytes_per_s = INFINITY},
                                          .d2h = {.bytes_per_s = INFINITY}};

static inline struct dfr_event *new_event(struct rig *rig)
{
    struct dfr_event *event;
    struct df_error error;

    assert_int_equal(rig->ops->event_create(rig->device, &event, &error), DF_OK);
    return event;
}

static inline void record(struct rig *rig, struct dfr_event *event, uint32_t stream)
{
    struct df_error error;

    assert_int_equal(rig->ops->event_record(rig->device, event, stream, &error), DF_OK);
}

static inline bool is_complete(struct rig *rig, struct dfr_event *event)
{
    struct df_error error;
    bool complete;

    assert_int_equal(rig->ops->event_query(rig->device, event, &complete, &error), DF_OK);
    return complete;
}

static inline void drain(struct rig *rig)
{
    struct df_error error;

    assert_int_equal(rig->ops->drain(rig->device, &error), DF_OK);
}

static inline void copy(struct rig *rig, enum dfr_copy kind, void *to, const void *from, uint64_t bytes,
                        uint32_t stream)
{
    struct df_error error;

    assert_int_equal(rig->ops->copy(rig->device, kind, to, from, bytes, stream, &error), DF_OK);
}

static inline void wait_for(struct rig *rig, uint32_t stream, struct dfr_event *event)
{
    struct df_error error;

    assert_int_equal(rig->ops->stream_wait(rig->device, stream, event, &error), DF_OK);
}

static inline void launch(struct rig *rig, const struct dfr_launch *l, uint32_t stream)
{
    struct df_error error;

    assert_int_equal(rig->ops->launch(rig->device, l, stream, &error), DF_OK);
}

static inline void pause_s(double seconds)
{
    dfr_clock_wait_until(dfr_clock_s() + seconds);
}

#endif
