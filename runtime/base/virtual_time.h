/* virtual_time.h - the event queue that drives runs in virtual time. DFR_EVENTS(NAME, TYPE) defines `struct NAME_queue` for events of a type that has the
 * members `double time_s` and `uint64_t order, made`:
 *
 *   NAME_add(events, event)   adds an event
 *   NAME_next_s(events)       returns the time of the first event, HUGE_VAL if there is none
 *   NAME_next(events)         removes and returns the first event; there must be one
 *
 * Order:    the earliest event comes first. Simultaneous events come in ascending `order`, which the caller sets, and those of the same `order` as added.
 * Memory:   grows as needed; free(events.at) returns it.
 * Errors:   NAME_add() returns false and sets `out_of_memory` if there is no memory; the event is lost, so one look at the end of a run is enough.
 */
#ifndef DFR_VIRTUAL_TIME_H
#define DFR_VIRTUAL_TIME_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/base/array.h"
#include "runtime/base/binary_heap.h"

#define DFR_EVENTS(NAME, TYPE)                                                          \
    struct NAME##_queue {                                                              \
        TYPE *at;                       /* a heap */                                    \
        uint32_t n;                                                                     \
        size_t capacity;                                                                \
        uint64_t made;                                                                  \
        bool out_of_memory;                                                             \
    };                                                                                  \
    static inline bool NAME##_before(const TYPE *a, const TYPE *b)                      \
    {                                                                                   \
        if (a->time_s != b->time_s)                                                     \
            return a->time_s < b->time_s;                                               \
        return a->order != b->order ? a->order < b->order : a->made < b->made;          \
    }                                                                                   \
    DFR_HEAP(NAME, TYPE)                                                                \
    static inline bool NAME##_add(struct NAME##_queue *events, TYPE event)             \
    {                                                                                   \
        if (!DFR_ARRAY_ROOM(events->at, events->n, events->capacity)) {                 \
            events->out_of_memory = true;                                               \
            return false;                                                               \
        }                                                                               \
        event.made = events->made++;                                                    \
        NAME##_put(events->at, events->n++, event);                                     \
        return true;                                                                    \
    }                                                                                   \
    static inline double NAME##_next_s(const struct NAME##_queue *events)              \
    {                                                                                   \
        return events->n ? events->at[0].time_s : HUGE_VAL;                             \
    }                                                                                   \
    static inline TYPE NAME##_next(struct NAME##_queue *events)                        \
    {                                                                                   \
        return NAME##_take(events->at, events->n--);                                    \
    }

#endif
