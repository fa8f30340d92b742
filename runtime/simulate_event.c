/* simulate_event.c - the events of a simulation: ends of jobs and arrivals of copies, a heap. Of one moment they come
 * in the order of wave, node and making.
 */
#include <stdlib.h>

#include "runtime/simulate_impl.h"

static bool before(const struct sim_event *a, const struct sim_event *b)
{
    if (a->time_s != b->time_s)
        return a->time_s < b->time_s;
    return a->order != b->order ? a->order < b->order : a->made < b->made;
}

void sim_event_push(struct sim *s, struct sim_event event)
{
    if (s->n_events == s->events_capacity) {
        uint32_t capacity = s->events_capacity ? 2 * s->events_capacity : 256;
        struct sim_event *events = realloc(s->events, capacity * sizeof *events);
        if (!events) {
            s->out_of_memory = true;
            return;
        }
        s->events = events;
        s->events_capacity = capacity;
    }
    event.made = s->made++;
    uint32_t i = s->n_events++;
    for (; i && before(&event, &s->events[(i - 1) / 2]); i = (i - 1) / 2)
        s->events[i] = s->events[(i - 1) / 2];
    s->events[i] = event;
}

struct sim_event sim_event_pop(struct sim *s)
{
    struct sim_event top = s->events[0], last = s->events[--s->n_events];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= s->n_events)
            break;
        if (child + 1 < s->n_events && before(&s->events[child + 1], &s->events[child]))
            child++;
        if (!before(&s->events[child], &last))
            break;
        s->events[i] = s->events[child];
        i = child;
    }
    s->events[i] = last;
    return top;
}

void sim_event_end(struct sim *s, uint32_t slot, uint32_t node, double time_s)
{
    sim_event_push(s, (struct sim_event){ .time_s = time_s, .order = sim_order(s, slot, node), .slot = slot,
                                          .block = DF_NONE });
}
