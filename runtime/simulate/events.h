/* events.h - the event queue of the simulator (this room) and of the evaluator of placements (partition/model/evaluate.c): ends of jobs
 * and arrivals of copies, in virtual time. */
#ifndef DFR_EVENTS_H
#define DFR_EVENTS_H

#include "runtime/base/virtual_time.h"

struct dfr_event {
    double time_s;
    uint64_t order, made;
    uint32_t arrives;                   /* the value or block that arrives; DF_NONE: a job ends */
    uint32_t unit, slot, life, from;    /* the caller's */
    bool engine;                        /* the caller's, too */
};
DFR_EVENTS(dfr_event, struct dfr_event)

#endif
