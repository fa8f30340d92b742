/* drifting.c - runs waves through a drifting pipeline in virtual time, with or without a tuner, for `dfc map --drift` (drifting.h).
 *
 * Events:   a processor ends a wave, or a stage's state arrives. The earliest is next; of simultaneous ones, that of the lower processor, then states.
 * Waves:    those on their way lie in the order of their numbers. After each event, the ones that wait are looked at in that order, and each
 *           that finds a processor begins.
 * Eras:     the time of a mapping is an era; a wave belongs to one. In order, wave w of an era that began with wave f waits for replica
 *           (w - f) mod R, and leaves a group when those before it have.
 */
#include "partition/tuning/drifting.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/random.h"
#include "runtime/base/virtual_time.h"

#define NO_PROCESSOR UINT32_MAX

struct era {
    struct dfp_mapping mapping;
    int64_t first;                      /* its first wave */
    double *transfer_s;                 /* by processor: what it takes to receive and send a wave */
    double *ready_s;                    /* by stage: when its state is where it has to be; HUGE_VAL: waves before still need it */
    uint32_t *members, from[DFP_MOST_STAGES + 1]; /* the processors of group g are members[from[g]] to members[from[g + 1] - 1], the fastest first */
};

enum state { WAITS, RUNS, ENDED };      /* in its group: for a processor, on one, until it may pass */
struct wave {
    int64_t number;
    uint32_t era, group;
    enum state state;
};

struct event {                          /* a processor ends its wave; NO_PROCESSOR: a stage's state arrives */
    double time_s;
    uint64_t order, made;               /* order: the processor */
};
DFR_EVENTS(event, struct event)

struct run {
    const struct dfp_drifting *d;
    const struct dfp_pipeline *l;
    struct dfp_remap remap;
    struct dfr_tuner *tuner;
    struct era *eras;
    uint32_t n_eras;
    struct wave *waves;                 /* on their way */
    uint32_t n_waves, room;
    int64_t entered, begun, left;       /* begun: no stage of this wave and those behind it has begun */
    int64_t *through;                   /* by stage: so many waves have been through it */
    int64_t *has;                       /* by processor: the number of its wave, or -1 */
    struct event_queue events;
    double now_s;
    struct dfp_drifted *result;
    struct df_error *error;
};

/* ---- times ---- */

static double drift_of(const struct dfp_drifting *d, int64_t wave, uint32_t stage, uint32_t processor)
{
    double factor = 1;
    for (uint32_t i = 0; i < d->n_drifts; i++)
        if (d->drifts[i].from <= wave && wave < d->drifts[i].end && d->drifts[i].number == (d->drifts[i].is_processor ? processor : stage))
            factor *= d->drifts[i].factor;
    return factor;
}

static double stage_s(const struct dfp_drifting *d, int64_t wave, uint32_t stage, uint32_t processor)
{
    uint64_t drawn = dfr_random_of(dfr_random_of(dfr_random_of(dfr_random_of(d->seed) + (uint64_t)wave) + stage) + processor);
    return dfp_stage_s(d->pipeline, stage, processor) * drift_of(d, wave, stage, processor) * (1 + d->chance * (2 * dfr_random_inside(drawn) - 1));
}

void dfp_drifting_times(const struct dfp_drifting *d, int64_t wave, double *time_s)
{
    uint32_t n_processors = d->pipeline->n_processors;
    for (uint32_t n = 0; n < d->pipeline->n_stages; n++)
        for (uint32_t p = 0; p < n_processors; p++)
            time_s[(size_t)n * n_processors + p] = dfp_stage_s(d->pipeline, n, p) * drift_of(d, wave, n, p);
}

double dfp_drifted_rate(const struct dfp_drifted *result, int64_t from, int64_t to)
{
    return (double)(to - from) / (result->left_s[to] - result->left_s[from]);
}

/* ---- eras ---- */

static void list_members(const struct dfp_pipeline *l, struct era *era)
{
    double time_s[DFP_MOST_PROCESSORS];
    uint32_t n = 0;
    dfp_mapping_times(l, &era->mapping, time_s);
    for (uint32_t g = 0; g < era->mapping.n_groups; g++) {
        era->from[g] = n;
        for (uint32_t p = 0; p < l->n_processors; p++) {
            uint32_t at = n;
            if (era->mapping.group_of[p] != g)
                continue;
            for (n++; at > era->from[g] && time_s[p] < time_s[era->members[at - 1]]; at--)
                era->members[at] = era->members[at - 1];
            era->members[at] = p;
        }
    }
    era->from[era->mapping.n_groups] = n;
}

/* What is left of a processor's time when nothing is computed. */
static void find_transfers(const struct dfp_pipeline *l, struct era *era)
{
    dfp_mapping_times(l, &era->mapping, era->transfer_s);
    for (uint32_t p = 0; p < l->n_processors; p++) {
        uint32_t g = era->mapping.group_of[p];
        if (g == DFP_NO_GROUP)
            continue;
        for (uint32_t n = era->mapping.first[g]; n < era->mapping.first[g + 1]; n++)
            era->transfer_s[p] -= dfp_stage_s(l, n, p);
        era->transfer_s[p] = fmax(era->transfer_s[p], 0); /* what is left of rounding */
    }
}

/* The state of a stage starts to move when all waves before the era have been through it. */
static void move_state(struct run *r, uint32_t e, uint32_t stage)
{
    const struct era *to = &r->eras[e], *from = &r->eras[e - (e > 0)];
    uint32_t g = 0, k = 0;
    while (to->mapping.first[g + 1] <= stage)
        g++;
    while (from->mapping.first[k + 1] <= stage)
        k++;
    if (r->through[stage] < to->first || to->ready_s[stage] < HUGE_VAL)
        return;
    to->ready_s[stage] = r->now_s + (e ? dfp_remap_move_s(&r->remap, stage, from->members[from->from[k]], to->members[to->from[g]]) : 0);
    event_add(&r->events, (struct event){ .time_s = to->ready_s[stage], .order = NO_PROCESSOR });
}

static bool add_era(struct run *r, const struct dfp_mapping *mapping, int64_t first)
{
    struct era *more = realloc(r->eras, (r->n_eras + 1) * sizeof *more);
    if (!more)
        return false;
    r->eras = more;
    struct era *era = &more[r->n_eras];
    *era = (struct era){ .mapping = *mapping, .first = first, .transfer_s = calloc(r->l->n_processors, sizeof *era->transfer_s),
                         .ready_s = calloc(r->l->n_stages, sizeof *era->ready_s), .members = calloc(r->l->n_processors, sizeof *era->members) };
    r->n_eras++;
    if (!era->transfer_s || !era->ready_s || !era->members)
        return false;
    list_members(r->l, era);
    find_transfers(r->l, era);
    for (uint32_t n = 0; n < r->l->n_stages; n++) {
        era->ready_s[n] = r->l->serial[n] ? HUGE_VAL : 0;
        if (r->l->serial[n])
            move_state(r, r->n_eras - 1, n);
    }
    return true;
}

/* ---- waves ---- */

static bool has_state(const struct run *r, const struct wave *w)
{
    const struct era *era = &r->eras[w->era];
    for (uint32_t n = era->mapping.first[w->group]; n < era->mapping.first[w->group + 1]; n++)
        if (era->ready_s[n] > r->now_s)
            return false;
    return true;
}

/* A processor that may take the wave now, or NO_PROCESSOR. */
static uint32_t find_processor(const struct run *r, const struct wave *w)
{
    const struct era *era = &r->eras[w->era];
    uint32_t from = era->from[w->group], n = era->from[w->group + 1] - from;
    if (!has_state(r, w))
        return NO_PROCESSOR;
    if (r->l->feeding == DFP_IN_ORDER) {
        uint32_t p = era->members[from + (uint32_t)((w->number - era->first) % n)];
        return r->has[p] < 0 ? p : NO_PROCESSOR;
    }
    for (uint32_t i = 0; i < n; i++)
        if (r->has[era->members[from + i]] < 0)
            return era->members[from + i];
    return NO_PROCESSOR;
}

static void begin(struct run *r, struct wave *w, uint32_t processor)
{
    const struct era *era = &r->eras[w->era];
    double time_s = era->transfer_s[processor];
    for (uint32_t n = era->mapping.first[w->group]; n < era->mapping.first[w->group + 1]; n++)
        time_s += stage_s(r->d, w->number, n, processor);
    w->state = RUNS;
    r->has[processor] = w->number;
    event_add(&r->events, (struct event){ .time_s = r->now_s + time_s, .order = processor });
    r->begun = r->begun > w->number ? r->begun : w->number + 1;
}

static void begin_all(struct run *r)
{
    for (uint32_t i = 0; i < r->n_waves; i++) {
        uint32_t p = r->waves[i].state == WAITS ? find_processor(r, &r->waves[i]) : NO_PROCESSOR;
        if (p != NO_PROCESSOR)
            begin(r, &r->waves[i], p);
    }
}

static void enter(struct run *r)
{
    const struct era *era = &r->eras[r->n_eras - 1];
    uint32_t window = (r->d->window ? r->d->window : DFP_DRIFTING_WINDOW) * era->from[era->mapping.n_groups];
    while (r->n_waves < window && r->entered < r->d->waves)
        r->waves[r->n_waves++] = (struct wave){ r->entered++, r->n_eras - 1, 0, WAITS };
}

/* ---- the tuner ---- */

static int note(struct run *r, enum dfr_tuner_step step)
{
    struct dfp_drifted *result = r->result;
    struct dfp_drifting_said *more = realloc(result->said, (result->n_said + 1) * sizeof *more);
    if (!more)
        return dfr_error_memory(r->error);
    result->said = more;
    struct dfp_drifting_said *said = &more[result->n_said++];
    *said = (struct dfp_drifting_said){ .wave = r->left, .from = step == DFR_TUNER_CHANGES ? r->begun : -1 };
    snprintf(said->why, sizeof said->why, "%s", dfr_tuner_why(r->tuner));
    dfp_mapping_of(r->l, dfr_tuner_map(r->tuner), &said->mapping);
    result->n_changes += step == DFR_TUNER_CHANGES;
    return DF_OK;
}

static int change(struct run *r)
{
    struct dfp_mapping mapping;
    dfp_mapping_of(r->l, dfr_tuner_map(r->tuner), &mapping);
    if (!add_era(r, &mapping, r->begun))
        return dfr_error_memory(r->error);
    for (uint32_t i = 0; i < r->n_waves; i++)
        if (r->waves[i].number >= r->begun)
            r->waves[i].era = r->n_eras - 1;
    return DF_OK;
}

static int tell_left(struct run *r)
{
    enum dfr_tuner_step step;
    int code = dfr_tuner_ended(r->tuner, r->left, r->n_waves, r->d->waves - r->entered, &step, r->error);
    if (code == DF_OK && step != DFR_TUNER_NOTHING)
        code = note(r, step);
    return code == DF_OK && step == DFR_TUNER_CHANGES ? change(r) : code;
}

/* ---- events ---- */

static int leave(struct run *r, uint32_t at)
{
    r->result->left_s[r->left] = r->now_s;
    r->result->left[r->left++] = (uint32_t)r->waves[at].number;
    memmove(&r->waves[at], &r->waves[at + 1], (--r->n_waves - at) * sizeof *r->waves);
    return r->tuner ? tell_left(r) : DF_OK;
}

/* In order, whether those before a wave let it pass: those of its era have left its group, and, behind the last group, all have left. */
static bool may_pass(const struct run *r, uint32_t at)
{
    const struct wave *w = &r->waves[at];
    bool last = w->group + 1 == r->eras[w->era].mapping.n_groups;
    for (uint32_t i = 0; i < at && r->l->feeding == DFP_IN_ORDER; i++)
        if (last || (r->waves[i].era == w->era && r->waves[i].group <= w->group))
            return false;
    return true;
}

static int pass_all(struct run *r)
{
    for (uint32_t i = 0; i < r->n_waves;) {
        struct wave *w = &r->waves[i];
        if (w->state != ENDED || !may_pass(r, i)) {
            i++;
        } else if (w->group + 1 < r->eras[w->era].mapping.n_groups) {
            w->group++;
            w->state = WAITS;
            i++;
        } else {
            int code = leave(r, i);
            if (code != DF_OK)
                return code;
        }
    }
    return DF_OK;
}

static void end(struct run *r, uint32_t processor)
{
    uint32_t i = 0;
    while (r->waves[i].number != r->has[processor])
        i++;
    struct wave *w = &r->waves[i];
    const struct era *era = &r->eras[w->era];
    r->has[processor] = -1;
    w->state = ENDED;
    for (uint32_t n = era->mapping.first[w->group]; n < era->mapping.first[w->group + 1]; n++) {
        r->through[n]++;
        for (uint32_t e = 1; e < r->n_eras && r->l->serial[n]; e++)
            move_state(r, e, n);
        if (r->tuner)
            dfr_tuner_measured(r->tuner, w->number, n, processor, stage_s(r->d, w->number, n, processor));
    }
}

static int step(struct run *r)
{
    if (r->events.out_of_memory)
        return dfr_error_memory(r->error);
    assert(r->events.n > 0);
    const struct event event = event_next(&r->events);
    r->now_s = event.time_s;
    if (event.order != NO_PROCESSOR)
        end(r, (uint32_t)event.order);
    int code = pass_all(r);
    enter(r);
    begin_all(r);
    return code;
}

/* ---- a run ---- */

static int make_tuner(struct run *r)
{
    const struct dfp_pipeline *l = r->l;
    struct dfr_tuner_map map = { calloc(l->n_stages, sizeof *map.of_stage), calloc(l->n_processors, sizeof *map.of_processor) };
    int code = DF_E_MEMORY;
    if (map.of_stage && map.of_processor) {
        dfp_tuner_map_of(l, r->d->mapping, &map);
        const struct dfr_tuner_shape shape = { l->n_stages, l->n_processors, r->d->stages, r->d->processors, l->time_s, map, dfp_remap_ask,
                                               &r->remap, .rules = r->d->rules };
        code = dfr_tuner_new(&shape, &r->tuner, r->error);
    } else {
        dfr_error_memory(r->error);
    }
    free(map.of_stage);
    free(map.of_processor);
    return code;
}

static int prepare(struct run *r)
{
    const struct dfp_drifting *d = r->d;
    uint32_t window = d->window ? d->window : DFP_DRIFTING_WINDOW;
    if (!dfp_mapping_is_valid(d->pipeline, d->mapping))
        return dfr_error(r->error, DF_E_ARGUMENT, "the first mapping is not valid");
    int code = dfp_remap_new(d->pipeline, &r->remap, r->error);
    if (code != DF_OK)
        return code;
    r->remap.budget = d->budget;
    r->waves = calloc((size_t)window * r->l->n_processors + 1, sizeof *r->waves);
    r->through = calloc(r->l->n_stages, sizeof *r->through);
    r->has = calloc(r->l->n_processors, sizeof *r->has);
    r->result->left_s = calloc((size_t)d->waves, sizeof *r->result->left_s);
    r->result->left = calloc((size_t)d->waves, sizeof *r->result->left);
    if (!r->waves || !r->through || !r->has || !r->result->left_s || !r->result->left || !add_era(r, d->mapping, 0))
        return dfr_error_memory(r->error);
    for (uint32_t p = 0; p < r->l->n_processors; p++)
        r->has[p] = -1;
    r->result->waves = d->waves;
    return d->tune ? make_tuner(r) : DF_OK;
}

int dfp_drifting_run(const struct dfp_drifting *d, struct dfp_drifted *result, struct df_error *error)
{
    struct run r = { .d = d, .l = d->pipeline, .result = result, .error = error };
    *result = (struct dfp_drifted){ 0 };
    int code = prepare(&r);
    if (code == DF_OK) {
        enter(&r);
        begin_all(&r);
    }
    while (code == DF_OK && r.left < d->waves)
        code = step(&r);
    for (uint32_t e = 0; e < r.n_eras; e++) {
        free(r.eras[e].transfer_s);
        free(r.eras[e].ready_s);
        free(r.eras[e].members);
    }
    free(r.eras);
    free(r.waves);
    free(r.through);
    free(r.has);
    free(r.events.at);
    dfr_tuner_free(r.tuner);
    dfp_remap_free(&r.remap);
    if (code != DF_OK)
        dfp_drifting_free(result);
    return code;
}

void dfp_drifting_free(struct dfp_drifted *result)
{
    free(result->left_s);
    free(result->left);
    free(result->said);
    *result = (struct dfp_drifted){ 0 };
}
