/* events.c - a binary heap of events: events.h. */
#include "runtime/simulate/events.h"

#include <stdlib.h>

static bool before(const struct dfr_event *a, const struct dfr_event *b)
{
    if (a->time_s != b->time_s)
        return a->time_s < b->time_s;
    return a->order != b->order ? a->order < b->order : a->made < b->made;
}

void dfr_events_push(struct dfr_events *e, struct dfr_event event)
{
    if (e->n == e->capacity) {
        uint32_t capacity = e->capacity ? 2 * e->capacity : 256;
        struct dfr_event *at = realloc(e->at, capacity * sizeof *at);
        if (!at) {
            e->out_of_memory = true;
            return;
        }
        e->at = at;
        e->capacity = capacity;
    }
    event.made = e->made++;
    uint32_t i = e->n++;
    for (; i && before(&event, &e->at[(i - 1) / 2]); i = (i - 1) / 2)
        e->at[i] = e->at[(i - 1) / 2];
    e->at[i] = event;
}

struct dfr_event dfr_events_pop(struct dfr_events *e)
{
    struct dfr_event top = e->at[0], last = e->at[--e->n];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= e->n)
            break;
        if (child + 1 < e->n && before(&e->at[child + 1], &e->at[child]))
            child++;
        if (!before(&e->at[child], &last))
            break;
        e->at[i] = e->at[child];
        i = child;
    }
    e->at[i] = last;
    return top;
}

void dfr_events_free(struct dfr_events *e)
{
    free(e->at);
    *e = (struct dfr_events){ 0 };
}
