/* events.c - a binary heap of events: events.h. */
#include "runtime/base/array.h"
#include "runtime/simulate/events.h"
#include "runtime/base/binary_heap.h"

#include <stdlib.h>

static bool event_before(const struct dfr_event *a, const struct dfr_event *b)
{
    if (a->time_s != b->time_s)
        return a->time_s < b->time_s;
    return a->order != b->order ? a->order < b->order : a->made < b->made;
}
DFR_HEAP(event, struct dfr_event)

void dfr_events_push(struct dfr_events *e, struct dfr_event event)
{
    if (!DFR_ARRAY_ROOM(e->at, e->n, e->capacity)) {
        e->out_of_memory = true;
        return;
    }
    event.made = e->made++;
    event_put(e->at, e->n++, event);
}

struct dfr_event dfr_events_pop(struct dfr_events *e)
{
    return event_take(e->at, e->n--);
}

void dfr_events_free(struct dfr_events *e)
{
    free(e->at);
    *e = (struct dfr_events){ 0 };
}
