/* run.c - runs waves through a mapping in virtual time for `dfc map`, with replicas fed in order or by demand.
 *
 * Events:   the only event is that a processor ends a wave. A heap has them by time, then by the order in which they were begun.
 * Queues:   of each group, the waves that wait, first come first served. In order, wave w waits for replica w mod R alone, and a
 *           wave that has ended is passed on when all before it have been.
 */
#include "partition/stages/pipeline.h"

#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/base/binary_heap.h"

#define WAVES_EACH 4
#define WAVES_OF_ONE 40                 /* for each processor */
#define LEAST_WAVES 2000

struct event {
    double time_s;
    uint64_t order;
    uint32_t processor, wave;
};

struct station {                        /* a group */
    uint32_t first, n;                  /* its processors in `members` */
    uint32_t *waves;                    /* that have arrived, in that order */
    uint32_t arrived, taken;            /* by demand */
    uint32_t passed;                    /* in order: all waves below have been passed on */
    bool *ended;                        /* in order: by wave */
};

struct running {
    const struct dfp_pipeline *l;
    const struct dfp_mapping *m;
    struct station *stations;
    uint32_t members[DFP_MOST_PROCESSORS];
    uint32_t next[DFP_MOST_PROCESSORS]; /* in order: the wave that the processor takes next */
    bool busy[DFP_MOST_PROCESSORS];
    double time_s[DFP_MOST_PROCESSORS];
    struct event heap[DFP_MOST_PROCESSORS];
    uint32_t n_events, waves, begun, out, window;
    uint64_t order;
    double now_s, from_s, to_s;         /* what is counted: from half of all waves on, until no new ones begin */
};

/* ---- the heap ---- */

static bool event_before(const struct event *a, const struct event *b)
{
    return a->time_s != b->time_s ? a->time_s < b->time_s : a->order < b->order;
}
DFR_HEAP(event, struct event)

/* ---- stations ---- */

static void begin(struct running *r, uint32_t processor, uint32_t wave)
{
    r->busy[processor] = true;
    event_put(r->heap, r->n_events++, (struct event){ r->now_s + r->time_s[processor], r->order++, processor, wave });
}

/* Gives waiting waves to idle replicas. By demand the fastest idle one is first. */
static void feed(struct running *r, struct station *s)
{
    bool in_order = r->l->feeding == DFP_IN_ORDER;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t p = r->members[s->first + i];
        if (r->busy[p])
            continue;
        if (in_order && r->next[p] < s->arrived) {
            uint32_t wave = r->next[p];
            r->next[p] += s->n;
            begin(r, p, wave);
        } else if (!in_order && s->taken < s->arrived) {
            begin(r, p, s->waves[s->taken++]);
        }
    }
}

static void arrive(struct running *r, uint32_t g, uint32_t wave);

static void pass(struct running *r, uint32_t g, uint32_t wave)
{
    if (g + 1 < r->m->n_groups) {
        arrive(r, g + 1, wave);
        return;
    }
    r->out++;
    if (r->out == r->waves / 2)
        r->from_s = r->now_s;
    if (r->out == r->waves - r->window) /* what comes behind drains the pipeline */
        r->to_s = r->now_s;
    if (r->begun < r->waves) {
        uint32_t next = r->begun++;
        arrive(r, 0, next);
    }
}

static void arrive(struct running *r, uint32_t g, uint32_t wave)
{
    struct station *s = &r->stations[g];
    s->waves[s->arrived++] = wave;
    feed(r, s);
}

static void end(struct running *r, const struct event *event)
{
    uint32_t g = r->m->group_of[event->processor];
    struct station *s = &r->stations[g];
    r->now_s = event->time_s;
    r->busy[event->processor] = false;
    if (r->l->feeding == DFP_BY_DEMAND) {
        feed(r, s);
        pass(r, g, event->wave);
        return;
    }
    s->ended[event->wave] = true;
    feed(r, s);
    while (s->passed < r->waves && s->ended[s->passed])
        pass(r, g, s->passed++);
}

/* ---- the whole ---- */

/* Puts the processors of each group together, the fastest first. */
static bool prepare(struct running *r)
{
    uint32_t n = 0;
    dfp_mapping_times(r->l, r->m, r->time_s);
    for (uint32_t g = 0; g < r->m->n_groups; g++) {
        struct station *s = &r->stations[g];
        *s = (struct station){ .first = n, .waves = calloc(r->waves, sizeof *s->waves), .ended = calloc(r->waves, sizeof *s->ended) };
        if (!s->waves || !s->ended)
            return false;
        for (uint32_t p = 0; p < r->l->n_processors; p++) {
            if (r->m->group_of[p] != g)
                continue;
            uint32_t at = n++;
            for (; at > s->first && r->time_s[p] < r->time_s[r->members[at - 1]]; at--)
                r->members[at] = r->members[at - 1];
            r->members[at] = p;
        }
        s->n = n - s->first;
        for (uint32_t i = 0; i < s->n; i++)
            r->next[r->members[s->first + i]] = i;
    }
    r->window = WAVES_EACH * n;
    return true;
}

int dfp_mapping_run(const struct dfp_pipeline *l, const struct dfp_mapping *m, double *period_s, struct df_error *error)
{
    struct running *r = calloc(1, sizeof *r);
    struct station *stations = calloc(m->n_groups, sizeof *stations);
    bool good = r && stations;
    if (good) {
        uint32_t enough = WAVES_OF_ONE * l->n_processors;
        *r = (struct running){ .l = l, .m = m, .stations = stations, .waves = enough > LEAST_WAVES ? enough : LEAST_WAVES };
        good = prepare(r);
    }
    for (; good && r->begun < r->waves && r->begun < r->window;) {
        uint32_t next = r->begun++;
        arrive(r, 0, next);
    }
    while (good && r->n_events) {
        struct event event = event_take(r->heap, r->n_events--);
        end(r, &event);
    }
    if (good)
        *period_s = (r->to_s - r->from_s) / (r->waves - r->window - r->waves / 2);
    for (uint32_t g = 0; stations && g < m->n_groups; g++) {
        free(stations[g].waves);
        free(stations[g].ended);
    }
    free(stations);
    free(r);
    return good ? DF_OK : dfr_error_memory(error);
}
