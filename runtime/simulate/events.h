/* events.h - the events of virtual time: the ends of jobs and the arrivals of copies. The soonest comes first. Events
 * of one moment come by `order`, and with the same `order` in the order in which they were made. Nothing else decides.
 *
 * Memory:   grows as needed; dfr_events_free() returns it.
 * Errors:   A push without memory is lost and sets `out_of_memory`, so one look at the end is enough.
 */
#ifndef DFR_EVENTS_H
#define DFR_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct dfr_event {
    double time_s;
    uint64_t order;                     /* among events of one moment: the smaller first */
    uint64_t made;                      /* serial number, given by dfr_events_push() */
    uint32_t arrives;                   /* the value or block that arrives; DF_NONE: a job ends */
    uint32_t unit, slot, life, from;    /* the caller's */
    bool engine;                        /* the caller's, too */
};

struct dfr_events {
    struct dfr_event *at;               /* a heap: at[0] is the first */
    uint32_t n;
    size_t capacity;
    uint64_t made;
    bool out_of_memory;
};

void dfr_events_push(struct dfr_events *events, struct dfr_event event);
struct dfr_event dfr_events_pop(struct dfr_events *events); /* there must be at least one */
void dfr_events_free(struct dfr_events *events);

#endif
