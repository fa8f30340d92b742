/* tuning.c - the tuner: estimates the times of stages on processors, and decides whether another mapping is worth a change (tuning.h). Rank 0 of a run with
 * pipeline stages uses it (ranks/tune.c), and so does partition/tuning/ in virtual time.
 *
 * Table:    for each pair the logarithm of its time relative to the one for which the first mapping was computed.
 *           Decisions use this table; it changes only when `remap` is called.
 * Asking:   1. For active pairs that were known, the differences between estimates and table are explained; the whole
 *           row of a stage, or column of a processor, is shifted by its explanation.
 *           2. The table takes the estimates of active pairs.
 *           3. All that is known is explained once more, and unknown pairs get the values that their stage and processor suggest.
 *           Step 3 corrects a wrong explanation of step 1. If a slow stage is alone on its processor, step 1 takes the stage to be slow.
 *           When it turns out fast on the next processor, step 3 concludes that the first processor is slow.
 * Doubt:    if no mapping is better assuming that a stage is slow, but one is assuming that its processor is, that
 *           mapping is tried.
 */
#include "runtime/tuning/tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/tuning/estimate.h"
#include "runtime/tuning/explain.h"

#define FEW_SPREAD 0.05                 /* the least one that is counted with as long as there are few values */
#define DOUBTFUL 0.1                    /* a logarithm: what moved by less is not worth finding out about, or asking for again */
enum {
    LAPSES_EVERY = 16,                  /* waves between two looks at what has lapsed */
    PATIENCE = 64,                      /* waves after which pairs of a new mapping are no longer waited for */
    AGAIN = 8, AGAIN_EVERY = 32,        /* as often, and after so many waves, a question is asked again */
    MOST_SWINGS = 128
};

/* A pair drifted, and back by so much, when so many waves had left. */
struct swing {
    double size;
    int64_t wave;
};

const struct dfr_tuner_rules dfr_tuner_defaults = { .drift = 0.02, .hysteresis = 0.02, .forget = 1000, .rest = 1000 };

struct dfr_tuner {
    struct dfr_tuner_shape shape;       /* time_s and map are NULL */
    size_t n;                           /* pairs */
    double *first_s, *table, *time_s;   /* by pair; time_s is what remap got last */
    double *kept;                       /* by pair: a table that is put aside */
    double *moved;                      /* by stage: what step 1 of the last question moved it by */
    struct dfr_estimate *estimates;     /* by pair */
    bool *known;                        /* by pair */
    bool *faded;                        /* by pair: known, and lapsed on a processor that works */
    int64_t *last;                      /* by pair: the number of waves that had left when it was last measured */
    uint32_t *forget;                   /* by pair */
    uint32_t *since;                    /* by pair: so often it was measured since the last change */
    struct dfr_jumps *jumps;            /* by stage */
    double *drifts;                     /* by pair: how it drifted the last time */
    struct swing swings[MOST_SWINGS];   /* a ring */
    uint32_t n_swings;                  /* that there were */
    struct dfr_tuner_map map, best;
    int64_t waves, changed_at, again_at;
    uint32_t again;                     /* so often the last question will be asked again, from again_at on */
    double *values, *of_stage, *of_processor, *scratch; /* of explain.h */
    float *weights;
    bool far;                           /* the last drift was by more than DOUBTFUL */
    char why[400];
};

/* ---- pairs ---- */

static bool is_active(const struct dfr_tuner *t, size_t pair)
{
    return t->map.of_stage[pair / t->shape.n_processors] == t->map.of_processor[pair % t->shape.n_processors];
}

static bool is_measured(const struct dfr_tuner *t, size_t pair)
{
    return is_active(t, pair) && t->estimates[pair].n >= DFR_ESTIMATE_ENOUGH;
}

static double drift_of(const struct dfr_tuner *t, size_t pair)
{
    return t->estimates[pair].median - t->table[pair];
}

static bool has_drifted(const struct dfr_tuner *t, size_t pair)
{
    const struct dfr_estimate *e = &t->estimates[pair];
    struct dfr_estimate careful = *e;
    if (e->n < DFR_ESTIMATE_FEW)
        careful.spread = fmaxf(careful.spread, FEW_SPREAD);
    return is_measured(t, pair) && fabs(drift_of(t, pair)) > fmax(t->shape.rules.drift, dfr_estimate_chance(&careful));
}

/* ---- a tuner ---- */

static void *copy(const void *from, size_t bytes)
{
    void *to = malloc(bytes + 1);
    return to ? memcpy(to, from, bytes) : NULL;
}

static bool allocate(struct dfr_tuner *t)
{
    uint32_t n = t->shape.n_stages, p = t->shape.n_processors;
    size_t each = sizeof(uint32_t);
    t->table = calloc(t->n + 1, sizeof *t->table);
    t->kept = calloc(t->n + 1, sizeof *t->kept);
    t->moved = calloc(n + (size_t)1, sizeof *t->moved);
    t->estimates = calloc(t->n + 1, sizeof *t->estimates);
    t->known = calloc(t->n + 1, sizeof *t->known);
    t->faded = calloc(t->n + 1, sizeof *t->faded);
    t->last = calloc(t->n + 1, sizeof *t->last);
    t->forget = calloc(t->n + 1, sizeof *t->forget);
    t->since = calloc(t->n + 1, sizeof *t->since);
    t->jumps = calloc(n + (size_t)1, sizeof *t->jumps);
    t->drifts = calloc(t->n + 1, sizeof *t->drifts);
    t->values = calloc(t->n + 1, sizeof *t->values);
    t->weights = calloc(t->n + 1, sizeof *t->weights);
    t->of_stage = calloc(n + (size_t)1, sizeof *t->of_stage);
    t->of_processor = calloc(p + (size_t)1, sizeof *t->of_processor);
    t->scratch = calloc(2 * (size_t)(n > p ? n : p) + 1, sizeof *t->scratch);
    t->best = (struct dfr_tuner_map){ calloc(n + (size_t)1, each), calloc(p + (size_t)1, each) };
    return t->table && t->kept && t->moved && t->estimates && t->known && t->faded && t->last && t->forget && t->since && t->jumps && t->drifts &&
           t->values && t->weights && t->of_stage && t->of_processor && t->scratch && t->best.of_stage && t->best.of_processor;
}

int dfr_tuner_new(const struct dfr_tuner_shape *shape, struct dfr_tuner **tuner, struct df_error *error)
{
    struct dfr_tuner *t = calloc(1, sizeof *t);
    uint32_t n = shape->n_stages, p = shape->n_processors;
    if (!t)
        return dfr_error_memory(error);
    t->shape = *shape;
    t->waves = t->changed_at = shape->waves;
    t->shape.time_s = NULL;
    t->shape.map = (struct dfr_tuner_map){ NULL, NULL };
    t->n = (size_t)n * p;
    t->first_s = copy(shape->time_s, t->n * sizeof *t->first_s);
    t->time_s = copy(shape->time_s, t->n * sizeof *t->time_s);
    t->map = (struct dfr_tuner_map){ copy(shape->map.of_stage, n * sizeof(uint32_t)), copy(shape->map.of_processor, p * sizeof(uint32_t)) };
    if (!allocate(t) || !t->first_s || !t->time_s || !t->map.of_stage || !t->map.of_processor) {
        dfr_tuner_free(t);
        return dfr_error_memory(error);
    }
    for (size_t pair = 0; pair < t->n; pair++) {
        t->known[pair] = is_active(t, pair);
        t->forget[pair] = shape->rules.forget;
    }
    *tuner = t;
    return DF_OK;
}

void dfr_tuner_free(struct dfr_tuner *t)
{
    if (!t)
        return;
    void *const owned[] = { t->first_s, t->table, t->time_s, t->kept, t->moved, t->estimates, t->known, t->faded, t->last, t->forget, t->since, t->jumps,
                            t->drifts, t->values, t->weights, t->of_stage, t->of_processor, t->scratch, t->map.of_stage, t->map.of_processor,
                            t->best.of_stage, t->best.of_processor };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    free(t);
}

const struct dfr_tuner_map *dfr_tuner_map(const struct dfr_tuner *t)
{
    return &t->map;
}

const char *dfr_tuner_why(const struct dfr_tuner *t)
{
    return t->why;
}

double dfr_tuner_time_s(const struct dfr_tuner *t, uint32_t stage, uint32_t processor)
{
    size_t pair = (size_t)stage * t->shape.n_processors + processor;
    return t->first_s[pair] * exp(is_measured(t, pair) ? t->estimates[pair].median : t->table[pair]);
}

/* ---- measurements ---- */

/* A stage's pair has jumped: those of its others that began to differ in the same way have, too. So a stage that got slow is not taken for a
 * processor whose measurements came first. */
static void follow(struct dfr_tuner *t, size_t row, uint32_t processor, bool upwards)
{
    for (uint32_t p = 0; p < t->shape.n_processors; p++)
        if (p != processor && is_active(t, row + p))
            dfr_estimate_follow(&t->estimates[row + p], upwards);
}

static void add(struct dfr_tuner *t, uint32_t stage, uint32_t processor, double value)
{
    size_t row = (size_t)stage * t->shape.n_processors, pair = row + processor;
    struct dfr_estimate *e = &t->estimates[pair];
    bool enough = e->n >= DFR_ESTIMATE_ENOUGH;
    double away = value - e->median, by;
    t->last[pair] = t->waves;
    t->since[pair]++;
    if (dfr_estimate_add(e, value)) {
        t->jumps[stage] = (struct dfr_jumps){ 0 };
        follow(t, row, processor, away > 0);
    } else if (enough && dfr_jumps_add(&t->jumps[stage], away, e->spread, &by)) {
        for (uint32_t p = 0; p < t->shape.n_processors; p++)
            if (is_active(t, row + p) && t->estimates[row + p].n)
                dfr_estimate_set(&t->estimates[row + p], t->estimates[row + p].median + by);
    }
}

void dfr_tuner_measured(struct dfr_tuner *t, int64_t wave, uint32_t stage, uint32_t processor, double seconds)
{
    (void)wave;
    if (stage < t->shape.n_stages && processor < t->shape.n_processors && seconds > 0 && isfinite(seconds))
        add(t, stage, processor, log(seconds / t->first_s[(size_t)stage * t->shape.n_processors + processor]));
}

void dfr_tuner_measured_group(struct dfr_tuner *t, int64_t wave, uint32_t first, uint32_t end, uint32_t processor, double seconds)
{
    double whole_s = 0;
    if (end > t->shape.n_stages || processor >= t->shape.n_processors)
        return;
    for (uint32_t n = first; n < end; n++)
        whole_s += dfr_tuner_time_s(t, n, processor);
    for (uint32_t n = first; n < end; n++)
        dfr_tuner_measured(t, wave, n, processor, dfr_tuner_time_s(t, n, processor) * seconds / whole_s);
}

/* ---- what changed ---- */

/* Another replica of its group has had enough waves since the change. So this one takes long, or gets none because others are asked first. */
static bool is_behind(const struct dfr_tuner *t, size_t pair)
{
    size_t row = pair - pair % t->shape.n_processors;
    for (uint32_t p = 0; p < t->shape.n_processors; p++)
        if (is_active(t, row + p) && t->since[row + p] >= DFR_ESTIMATE_FEW)
            return true;
    return false;
}

static bool is_settled(const struct dfr_tuner *t)
{
    for (size_t pair = 0; pair < t->n; pair++)
        if (is_active(t, pair) && !is_measured(t, pair) && !is_behind(t, pair))
            return t->waves >= t->changed_at + PATIENCE;
    return true;
}

/* ---- what lapses ---- */

static bool works(const struct dfr_tuner *t, uint32_t processor)
{
    return t->map.of_processor[processor] != UINT32_MAX;
}

static bool is_old(const struct dfr_tuner *t, size_t pair)
{
    return t->waves - t->last[pair] > t->forget[pair];
}

static void forget_longer(struct dfr_tuner *t, size_t pair)
{
    t->forget[pair] += t->forget[pair] < UINT32_MAX / 2 ? t->forget[pair] : 0;
}

/* All that is known of a processor that has nothing to do lapses together, when the newest of it is old. Else what is left would keep the processor
 * from being tried. */
static size_t lapse_processor(struct dfr_tuner *t, uint32_t processor)
{
    size_t found = t->n;
    for (size_t pair = processor; pair < t->n; pair += t->shape.n_processors) {
        if (t->known[pair] && !is_old(t, pair))
            return t->n;
        found = t->known[pair] ? pair : found;
    }
    for (size_t pair = processor; pair < t->n && found < t->n; pair += t->shape.n_processors) {
        t->known[pair] = t->faded[pair] = false;
        forget_longer(t, pair);
    }
    return found;
}

/* Of a processor that works, only what is special to a pair lapses: it still tells a slow stage from a slow processor. */
static size_t fade_pairs(struct dfr_tuner *t, uint32_t processor)
{
    size_t found = t->n;
    for (size_t pair = processor; pair < t->n; pair += t->shape.n_processors) {
        if (!t->known[pair] || t->faded[pair] || is_active(t, pair) || !is_old(t, pair))
            continue;
        t->faded[pair] = true;
        forget_longer(t, pair);
        found = pair;
    }
    return found;
}

/* Gives the last pair that lapsed, or n. */
static size_t lapse(struct dfr_tuner *t)
{
    size_t found = t->n;
    for (uint32_t p = 0; p < t->shape.n_processors && t->waves % LAPSES_EVERY == 0; p++) {
        size_t pair = works(t, p) ? fade_pairs(t, p) : lapse_processor(t, p);
        found = pair < t->n ? pair : found;
    }
    return found;
}

/* ---- what drifted ---- */

static void know(struct dfr_tuner *t, size_t pair)
{
    t->known[pair] = true;
    t->faded[pair] = false;
}

static bool find_drift(struct dfr_tuner *t)
{
    bool drifted = false;
    for (size_t pair = 0; pair < t->n; pair++) {
        bool has = has_drifted(t, pair);
        drifted |= has;
        if (!has && is_measured(t, pair))
            know(t, pair);
    }
    return drifted;
}

static void explain(struct dfr_tuner *t)
{
    dfr_explain(t->shape.n_stages, t->shape.n_processors, t->values, t->weights, t->shape.rules.drift, t->of_stage, t->of_processor,
                t->scratch);
}

static double of_lines(const struct dfr_tuner *t, size_t pair)
{
    return t->of_stage[pair / t->shape.n_processors] + t->of_processor[pair % t->shape.n_processors];
}

/* Writes what differs most. The explanation stands in of_stage and of_processor, what it leaves in `values`. Gives the length. */
static int say_drift(struct dfr_tuner *t)
{
    double most = 0;
    const char *stage = NULL, *processor = NULL;
    for (uint32_t n = 0; n < t->shape.n_stages; n++)
        if (fabs(t->of_stage[n]) > fabs(most)) {
            most = t->of_stage[n];
            stage = t->shape.stages[n];
        }
    for (uint32_t p = 0; p < t->shape.n_processors; p++)
        if (fabs(t->of_processor[p]) > fabs(most)) {
            most = t->of_processor[p];
            stage = NULL;
            processor = t->shape.processors[p];
        }
    for (size_t pair = 0; pair < t->n; pair++)
        if (is_measured(t, pair) && fabs(t->known[pair] ? t->values[pair] : drift_of(t, pair)) > fabs(most)) {
            most = t->known[pair] ? t->values[pair] : drift_of(t, pair);
            stage = t->shape.stages[pair / t->shape.n_processors];
            processor = t->shape.processors[pair % t->shape.n_processors];
        }
    double times = exp(most);
    t->far = fabs(most) > DOUBTFUL;
    if (stage && processor)
        return snprintf(t->why, sizeof t->why, "stage '%.60s' takes %.2f times as long on '%.60s' as was counted with", stage, times, processor);
    if (stage)
        return snprintf(t->why, sizeof t->why, "stage '%.60s' takes %.2f times as long as was counted with", stage, times);
    return snprintf(t->why, sizeof t->why, "processor '%.60s' takes %.2f times as long as was counted with", processor ? processor : "", times);
}

/* Notes how far what drifts now goes back: the furthest of all pairs. */
static void note_swings(struct dfr_tuner *t)
{
    double most = 0;
    for (size_t pair = 0; pair < t->n; pair++) {
        double drift = drift_of(t, pair);
        if (!has_drifted(t, pair))
            continue;
        if (drift * t->drifts[pair] < 0)
            most = fmax(most, fmin(fabs(drift), fabs(t->drifts[pair])));
        t->drifts[pair] = drift;
    }
    if (most > 0)
        t->swings[t->n_swings++ % MOST_SWINGS] = (struct swing){ most, t->waves };
}

/* Steps 1 and 2 at the head of this file. */
static int learn_changes(struct dfr_tuner *t)
{
    note_swings(t);
    for (size_t pair = 0; pair < t->n; pair++) {
        t->weights[pair] = t->known[pair] && is_measured(t, pair);
        t->values[pair] = t->weights[pair] > 0 ? drift_of(t, pair) : 0;
    }
    explain(t);
    int length = say_drift(t);
    memcpy(t->moved, t->of_stage, t->shape.n_stages * sizeof *t->moved);
    for (size_t pair = 0; pair < t->n; pair++) {
        if (fabs(of_lines(t, pair)) > DOUBTFUL)
            t->known[pair] = t->faded[pair] = false; /* what was measured before the line moved is over, and that it moved as far is not measured */
        t->table[pair] += of_lines(t, pair);
        if (is_measured(t, pair)) {
            t->table[pair] = t->estimates[pair].median;
            know(t, pair);
        }
    }
    return length;
}

/* Step 3. Of what is known, the newer counts more. */
static void infer_unknown(struct dfr_tuner *t)
{
    for (size_t pair = 0; pair < t->n; pair++) {
        double age = is_active(t, pair) ? 0 : (double)(t->waves - t->last[pair]) / t->shape.rules.forget;
        t->weights[pair] = t->known[pair] ? (float)exp2(-fmin(age, 20)) : 0;
        t->values[pair] = t->known[pair] ? t->table[pair] : 0;
    }
    explain(t);
    for (size_t pair = 0; pair < t->n; pair++)
        if (!t->known[pair] || t->faded[pair])
            t->table[pair] = of_lines(t, pair);
}

/* ---- a new mapping ---- */

static void change(struct dfr_tuner *t)
{
    struct dfr_tuner_map old = t->map;
    for (size_t pair = 0; pair < t->n; pair++) {
        bool was = is_active(t, pair);
        uint32_t n = (uint32_t)(pair / t->shape.n_processors), p = (uint32_t)(pair % t->shape.n_processors);
        if (!was && t->best.of_stage[n] == t->best.of_processor[p])
            t->estimates[pair] = (struct dfr_estimate){ .spread = t->estimates[pair].spread };
    }
    memset(t->jumps, 0, t->shape.n_stages * sizeof *t->jumps);
    memset(t->since, 0, t->n * sizeof *t->since);
    t->map = t->best;
    t->best = old;
    t->changed_at = t->waves;
}

/* ---- questions ---- */

/* Whether anything differs from what was asked for last by more than a drift. Takes the table's times. */
static bool take_times(struct dfr_tuner *t)
{
    bool differs = false;
    for (size_t pair = 0; pair < t->n; pair++) {
        double time_s = t->first_s[pair] * exp(t->table[pair]);
        differs |= fabs(log(time_s / t->time_s[pair])) > t->shape.rules.drift;
        t->time_s[pair] = time_s;
    }
    return differs;
}

static int64_t left_of(const struct dfr_tuner *t, int64_t rest)
{
    return rest < 0 ? (int64_t)t->shape.rules.rest : rest;
}

static int ask(struct dfr_tuner *t, int64_t rest, struct dfr_tuner_offer *offer, struct df_error *error)
{
    *offer = (struct dfr_tuner_offer){ .map = t->best };
    take_times(t);
    return t->shape.remap(t->shape.context, t->time_s, left_of(t, rest), &t->map, offer, error);
}

/* For how many waves a change is of use: for those that are left, or, if times swing to and fro by as much as it gains, until they are likely to be back.
 * It takes some waves to notice a swing, and those in flight to answer it, both ways. */
static int64_t useful_waves(const struct dfr_tuner *t, double gain, uint32_t in_flight, int64_t rest)
{
    int64_t left = left_of(t, rest), n = 0;
    for (uint32_t i = 0; i < t->n_swings && i < MOST_SWINGS; i++)
        n += t->swings[i].size >= gain && t->waves - t->swings[i].wave <= t->shape.rules.forget;
    if (n < 2)
        return left;
    int64_t lasts = (int64_t)t->shape.rules.forget / n - 2 * (int64_t)(DFR_ESTIMATE_FEW + in_flight);
    return lasts < left ? lasts : left;
}

static bool pays(const struct dfr_tuner *t, const struct dfr_tuner_offer *offer, uint32_t in_flight, int64_t rest)
{
    int64_t waves = useful_waves(t, log(offer->now_s / offer->new_s), in_flight, rest);
    return offer->now_s > offer->new_s * (1 + t->shape.rules.hysteresis) &&
           (double)waves * (offer->now_s - offer->new_s) > in_flight * offer->new_s + offer->move_s;
}

/* The processor of a stage that was taken for slow and that may be slow itself, because each has only the other; else UINT32_MAX. */
static uint32_t find_doubtful(const struct dfr_tuner *t, uint32_t stage)
{
    uint32_t of_row = 0, of_column = 0, processor = UINT32_MAX;
    if (fabs(t->moved[stage]) < DOUBTFUL)
        return processor;
    for (uint32_t p = 0; p < t->shape.n_processors; p++)
        if (is_active(t, (size_t)stage * t->shape.n_processors + p)) {
            of_row++;
            processor = p;
        }
    for (uint32_t n = 0; n < t->shape.n_stages && processor != UINT32_MAX; n++)
        of_column += is_active(t, (size_t)n * t->shape.n_processors + processor);
    return of_row == 1 && of_column == 1 ? processor : UINT32_MAX;
}

/* Takes the stages for as they were, and their processors for slow. Gives one of them, or UINT32_MAX if there is none. */
static uint32_t turn_doubts(struct dfr_tuner *t)
{
    uint32_t found = UINT32_MAX, n_processors = t->shape.n_processors;
    for (uint32_t stage = 0; stage < t->shape.n_stages; stage++) {
        uint32_t processor = find_doubtful(t, stage);
        if (processor == UINT32_MAX)
            continue;
        for (uint32_t p = 0; p < n_processors; p++)
            t->table[(size_t)stage * n_processors + p] -= p == processor ? 0 : t->moved[stage];
        for (uint32_t n = 0; n < t->shape.n_stages; n++)
            t->table[(size_t)n * n_processors + processor] += n == stage ? 0 : t->moved[stage];
        found = processor;
    }
    return found;
}

/* If no mapping is better when stages are taken for slow, one may be when their processors are. To change to it tells which is true. */
static int try_doubts(struct dfr_tuner *t, struct dfr_tuner_offer *offer, uint32_t in_flight, int64_t rest, int *said, struct df_error *error)
{
    struct dfr_tuner_offer other;
    memcpy(t->kept, t->table, t->n * sizeof *t->kept);
    uint32_t processor = turn_doubts(t);
    if (processor == UINT32_MAX)
        return DF_OK;
    int code = ask(t, rest, &other, error);
    if (code != DF_OK)
        return code;
    if (pays(t, &other, in_flight, rest)) {
        *said += snprintf(t->why + *said, sizeof t->why - (size_t)*said, ", which may be processor '%.60s'", t->shape.processors[processor]);
        *offer = other;
        return DF_OK;
    }
    memcpy(t->table, t->kept, t->n * sizeof *t->kept);
    take_times(t);
    return DF_OK;
}

static enum dfr_tuner_step decide(struct dfr_tuner *t, const struct dfr_tuner_offer *offer, uint32_t in_flight, int64_t rest, int said)
{
    char now[16], new[16], *why = t->why + said;
    size_t size = sizeof t->why - (size_t)said;
    dfr_text_seconds(offer->now_s, now, sizeof now);
    dfr_text_seconds(offer->new_s, new, sizeof new);
    if (pays(t, offer, in_flight, rest)) {
        snprintf(why, size, ": a new mapping, with a wave every %s instead of %s", new, now);
        change(t);
        return DFR_TUNER_CHANGES;
    }
    if (!(offer->now_s > offer->new_s * (1 + t->shape.rules.hysteresis)))
        snprintf(why, size, ": the mapping stays, since no other is %.3g %% faster than a wave every %s", 100 * t->shape.rules.hysteresis, now);
    else if (useful_waves(t, log(offer->now_s / offer->new_s), in_flight, rest) < left_of(t, rest))
        snprintf(why, size, ": the mapping stays, since a wave every %s instead of %s does not make up for the change as long as times last lately",
                 new, now);
    else
        snprintf(why, size, ": the mapping stays, since a wave every %s instead of %s does not make up for the change in the waves that are left",
                 new, now);
    return DFR_TUNER_STAYS;
}

/* A search of bounded time may miss the best mapping, and finds another one the next time. */
static int ask_again(struct dfr_tuner *t, uint32_t in_flight, int64_t rest, enum dfr_tuner_step *step, struct df_error *error)
{
    struct dfr_tuner_offer offer;
    t->again--;
    t->again_at = t->waves + AGAIN_EVERY;
    int code = ask(t, rest, &offer, error);
    if (code == DF_OK && pays(t, &offer, in_flight, rest))
        *step = decide(t, &offer, in_flight, rest, snprintf(t->why, sizeof t->why, "another search with the same times was luckier"));
    return code;
}

static int say_lapse(struct dfr_tuner *t, size_t pair)
{
    uint32_t p = (uint32_t)(pair % t->shape.n_processors);
    unsigned waves = t->forget[pair] / 2;
    if (!works(t, p))
        return snprintf(t->why, sizeof t->why, "nothing was measured of processor '%.60s' for %u waves", t->shape.processors[p], waves);
    return snprintf(t->why, sizeof t->why, "stage '%.60s' was not measured on '%.60s' for %u waves", t->shape.stages[pair / t->shape.n_processors],
                    t->shape.processors[p], waves);
}

int dfr_tuner_ended(struct dfr_tuner *t, int64_t waves, uint32_t in_flight, int64_t rest, enum dfr_tuner_step *step, struct df_error *error)
{
    struct dfr_tuner_offer offer;
    int said = 0;
    *step = DFR_TUNER_NOTHING;
    t->waves = waves;
    if (!is_settled(t))
        return DF_OK;
    size_t lapsed = lapse(t);
    bool drifted = find_drift(t);
    if (!drifted && lapsed == t->n && !t->shape.ask)
        return t->again && waves >= t->again_at ? ask_again(t, in_flight, rest, step, error) : DF_OK;
    memset(t->moved, 0, t->shape.n_stages * sizeof *t->moved);
    if (drifted)
        said = learn_changes(t);
    infer_unknown(t);
    if (!drifted && !take_times(t) && !t->shape.ask)
        return DF_OK;
    if (!drifted)
        said = t->shape.ask ? snprintf(t->why, sizeof t->why, "%.100s", t->shape.ask) : say_lapse(t, lapsed);
    t->shape.ask = NULL;
    t->again = !drifted || t->far ? AGAIN : t->again;
    t->again_at = waves + AGAIN_EVERY;
    int code = ask(t, rest, &offer, error);
    if (code == DF_OK && !pays(t, &offer, in_flight, rest))
        code = try_doubts(t, &offer, in_flight, rest, &said, error);
    if (code == DF_OK)
        *step = decide(t, &offer, in_flight, rest, said);
    return code;
}
