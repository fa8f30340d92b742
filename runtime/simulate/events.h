/* events.h - the events of virtual time: ends of jobs and arrivals of copies, soonest first. Those of one moment come
 * by `order`, then as they were made, so that nothing else decides.
 *
 * Memory:   grows as needed; dfr_events_free() returns it.
 * Errors:   a push without memory is lost and leaves `out_of_memory` set: one look at the end is enough.
 */
#ifndef DFR_EVENTS_H
#define DFR_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct dfr_event {
    double time_s;
    uint64_t order;                     /* of one moment: the smaller first */
    uint64_t made;                      /* serial number, from dfr_events_push() */
    uint32_t arrives;                   /* value or block; DF_NONE: a job ends */
    uint32_t unit, slot, life;          /* the caller's */
};

struct dfr_events {
    struct dfr_event *at;               /* a heap: at[0] is the first */
    uint32_t n, capacity;
    uint64_t made;
    bool out_of_memory;
};

void dfr_events_push(struct dfr_events *events, struct dfr_event event);
struct dfr_event dfr_events_pop(struct dfr_events *events); /* of one or more */
void dfr_events_free(struct dfr_events *events);

#endif
