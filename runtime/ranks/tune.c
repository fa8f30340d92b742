/* tune.c - a tuner of stages on ranks (tune.h), for rank0_stages.c. Its processors are the ranks that live, by rank; stages that rank 0 has are none of its
 * stages. */
#include "runtime/ranks/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/tuning/estimate.h"

enum { NAME = 24 };

struct tuned_group {                    /* of the first mapping, until there is a tuner */
    struct dfr_estimate took;           /* logarithms of seconds */
};

struct dfr_tune {
    const struct dfr_stages *stages;
    const struct dfr_remapper *remapper;
    struct dfr_mapping mapping, before; /* the one that is counted with; the one that holds until waves under way are back */
    uint32_t n, stage[DFR_MOST_STAGES]; /* the tuner's stages */
    bool lives[DFR_MOST_PROCESSORS + 1]; /* by rank, as it was told last */
    uint32_t n_processors, rank[DFR_MOST_PROCESSORS]; /* the tuner's processors */
    const char *names[DFR_MOST_STAGES], *ranks[DFR_MOST_PROCESSORS]; /* ranks: by processor */
    char rank_names[DFR_MOST_PROCESSORS][NAME];
    struct tuned_group *groups;
    struct dfr_tuner *tuner;            /* NULL: the first waves are still waited for */
    void *context;                      /* of the remapper */
    bool over;
};

/* The processors are the ranks that live. */
static void take_ranks(struct dfr_tune *t)
{
    t->n_processors = 0;
    for (uint32_t rank = 1; rank < t->mapping.n_ranks; rank++) {
        if (!t->lives[rank])
            continue;
        snprintf(t->rank_names[t->n_processors], NAME, "rank %u", (unsigned)rank);
        t->ranks[t->n_processors] = t->rank_names[t->n_processors];
        t->rank[t->n_processors++] = rank;
    }
}

/* n_processors: it is none. */
static uint32_t processor_of(const struct dfr_tune *t, uint32_t rank)
{
    uint32_t p = 0;
    while (p < t->n_processors && t->rank[p] != rank)
        p++;
    return p;
}

int dfr_tune_open(const struct dfr_stages *stages, const struct dfr_mapping *mapping, const struct dfr_remapper *remapper, struct dfr_tune **tune,
                  struct df_error *error)
{
    struct dfr_tune *t = calloc(1, sizeof *t);

    if (!t || !(t->groups = calloc(mapping->n_stages + (size_t)1, sizeof *t->groups))) {
        free(t);
        return dfr_error_memory(error);
    }
    t->stages = stages;
    t->remapper = remapper;
    t->mapping = t->before = *mapping;
    for (uint32_t s = 0; s < mapping->n_stages; s++)
        if (mapping->group_of_stage[s] != DFR_NO_GROUP) {
            t->stage[t->n] = s;
            t->names[t->n++] = stages->names[s];
        }
    for (uint32_t rank = 1; rank < mapping->n_ranks; rank++)
        t->lives[rank] = true;
    take_ranks(t);
    *tune = t;
    return DF_OK;
}

void dfr_tune_close(struct dfr_tune *t)
{
    if (!t)
        return;
    dfr_tuner_free(t->tuner);
    if (t->context)
        t->remapper->close(t->context);
    free(t->groups);
    free(t);
}

void dfr_tune_lives(struct dfr_tune *t, const bool *live)
{
    memcpy(t->lives, live, t->mapping.n_ranks * sizeof *live);
}

/* ---- what waves took ---- */

/* The stages of a group, as the tuner numbers them. */
static void find_stages(const struct dfr_tune *t, const struct dfr_mapping *m, uint32_t group, uint32_t *first, uint32_t *end)
{
    *first = 0;
    while (*first < t->n && m->group_of_stage[t->stage[*first]] != group)
        ++*first;
    *end = *first;
    while (*end < t->n && m->group_of_stage[t->stage[*end]] == group)
        ++*end;
}

void dfr_tune_took(struct dfr_tune *t, const struct dfr_mapping *m, uint32_t rank, int64_t wave, double seconds)
{
    uint32_t first, end, group = rank > 0 && rank < m->n_ranks ? m->group_of_rank[rank] : DFR_NO_GROUP;

    if (t->over || group == DFR_NO_GROUP || !(seconds > 0) || !isfinite(seconds))
        return;
    find_stages(t, m, group, &first, &end);
    if (t->tuner)
        dfr_tuner_measured_group(t->tuner, wave, first, end, processor_of(t, rank), seconds);
    else if (group < t->mapping.n_groups)
        dfr_estimate_add(&t->groups[group].took, log(seconds));
}

/* ---- the tuner ---- */

/* What the first waves say of a stage, which is the same on all ranks. */
static double first_s(const struct dfr_tune *t, uint32_t n)
{
    uint32_t first, end, group = t->mapping.group_of_stage[t->stage[n]];
    find_stages(t, &t->mapping, group, &first, &end);
    return exp(t->groups[group].took.median) / (end - first);
}

/* Makes a tuner of the mapping, which counts with these times, [stage * n_processors + processor]. ask: as in tuning.h. */
static int make_tuner(struct dfr_tune *t, const double *time_s, const char *ask, int64_t waves, struct df_error *error)
{
    uint32_t of_stage[DFR_MOST_STAGES], of_processor[DFR_MOST_PROCESSORS];
    struct dfr_tuner_shape shape = { .n_stages = t->n, .n_processors = t->n_processors, .stages = t->names, .processors = t->ranks, .time_s = time_s,
                                     .map = { of_stage, of_processor }, .remap = t->remapper->ask, .rules = dfr_tuner_defaults, .ask = ask, .waves = waves };

    for (uint32_t n = 0; n < t->n; n++)
        of_stage[n] = t->mapping.group_of_stage[t->stage[n]];
    for (uint32_t p = 0; p < t->n_processors; p++)
        of_processor[p] = t->mapping.group_of_rank[t->rank[p]];
    int status = t->remapper->open(t->n, t->n_processors, time_s, t->mapping.by_demand, &t->context, error);
    shape.context = t->context;
    return status == DF_OK ? dfr_tuner_new(&shape, &t->tuner, error) : status;
}

static int make_first(struct dfr_tune *t, int64_t waves, struct df_error *error)
{
    double *time_s = calloc((size_t)t->n * t->n_processors + 1, sizeof *time_s);
    int status = time_s ? DF_OK : dfr_error_memory(error);

    for (uint32_t n = 0; n < t->n && time_s; n++)
        for (uint32_t p = 0; p < t->n_processors; p++)
            time_s[(size_t)n * t->n_processors + p] = first_s(t, n);
    if (status == DF_OK)
        status = make_tuner(t, time_s, NULL, waves, error);
    free(time_s);
    return status;
}

/* Another tuner, of the ranks that live and were processors. It counts with what the one before knew. */
static int make_next(struct dfr_tune *t, int64_t waves, struct df_error *error)
{
    double *time_s = calloc((size_t)t->n * (t->mapping.n_ranks + (size_t)1), sizeof *time_s);
    struct dfr_tuner *old = t->tuner;
    void *context = t->context;
    uint32_t from[DFR_MOST_PROCESSORS + 1];
    int status = time_s ? DF_OK : dfr_error_memory(error);

    for (uint32_t rank = 1; rank < t->mapping.n_ranks; rank++)
        from[rank] = processor_of(t, rank);
    const uint32_t before = t->n_processors;
    take_ranks(t);
    for (uint32_t n = 0; n < t->n && time_s; n++)
        for (uint32_t p = 0; p < t->n_processors; p++) { /* what comes back is as fast as the first one is */
            const uint32_t was = from[t->rank[p]];
            time_s[(size_t)n * t->n_processors + p] = dfr_tuner_time_s(old, n, was < before ? was : 0);
        }
    t->tuner = NULL;
    t->context = NULL;
    if (status == DF_OK)
        status = make_tuner(t, time_s, "the ranks are not those that there were", waves, error);
    dfr_tuner_free(old);
    t->remapper->close(context);
    free(time_s);
    return status;
}

/* The stages were mapped anew by another than the tuner, since a rank is lost or is back. Without a tuner the first waves are waited for once more. */
static int go_on(struct dfr_tune *t, const struct dfr_mapping *mapping, int64_t waves, struct df_error *error)
{
    t->mapping = t->before = *mapping;
    if (t->tuner)
        return make_next(t, waves, error);
    take_ranks(t);
    memset(t->groups, 0, (t->mapping.n_stages + (size_t)1) * sizeof *t->groups);
    return DF_OK;
}

static bool has_begun(struct dfr_tune *t, int64_t waves, struct df_error *error, int *status)
{
    for (uint32_t g = 0; g < t->mapping.n_groups && !t->tuner; g++)
        if (t->groups[g].took.n < DFR_ESTIMATE_FEW)
            return false;
    if (!t->tuner)
        *status = make_first(t, waves, error);
    return *status == DF_OK;
}

/* ---- mappings ---- */

static void write_mapping(const struct dfr_tune *t, struct dfr_mapping *m)
{
    const struct dfr_tuner_map *map = dfr_tuner_map(t->tuner);

    m->n_groups = 0;
    for (uint32_t n = 0; n < t->n; n++) {
        m->group_of_stage[t->stage[n]] = map->of_stage[n];
        m->n_groups = map->of_stage[n] + 1 > m->n_groups ? map->of_stage[n] + 1 : m->n_groups;
    }
    for (uint32_t rank = 1; rank < m->n_ranks; rank++)
        m->group_of_rank[rank] = DFR_NO_GROUP;
    for (uint32_t p = 0; p < t->n_processors; p++)
        m->group_of_rank[t->rank[p]] = map->of_processor[p];
}

static bool is_same(const struct dfr_mapping *a, const struct dfr_mapping *b)
{
    return a->n_groups == b->n_groups && memcmp(a->group_of_stage, b->group_of_stage, a->n_stages * sizeof *a->group_of_stage) == 0 &&
           memcmp(a->group_of_rank, b->group_of_rank, a->n_ranks * sizeof *a->group_of_rank) == 0;
}

static void end_tuning(struct dfr_tune *t, void (*tell)(void *arg, const char *sentence), void *tell_arg, const char *why)
{
    char sentence[600];

    snprintf(sentence, sizeof sentence, "the mapping is no longer tuned: %s", why);
    t->over = true;
    tell(tell_arg, sentence);
}

bool dfr_tune_ended(struct dfr_tune *t, int64_t waves, struct dfr_mapping *next, void (*tell)(void *arg, const char *sentence), void *tell_arg)
{
    enum dfr_tuner_step step = DFR_TUNER_NOTHING;
    struct df_error error = { "" };
    int status = DF_OK;
    char sentence[480];

    if (t->over)
        return false;
    if (!is_same(next, &t->mapping) && is_same(next, &t->before))
        return false;                   /* the change has not begun */
    t->before = t->mapping;
    if (!is_same(next, &t->mapping))
        status = go_on(t, next, waves, &error);
    else if (has_begun(t, waves, &error, &status))
        status = dfr_tuner_ended(t->tuner, waves, 2 * t->n_processors, -1, &step, &error);
    if (status != DF_OK)
        end_tuning(t, tell, tell_arg, error.text);
    if (t->over || step != DFR_TUNER_CHANGES)
        return false;
    snprintf(sentence, sizeof sentence, "after %lld waves %s", (long long)waves, dfr_tuner_why(t->tuner));
    tell(tell_arg, sentence);
    write_mapping(t, next);
    t->mapping = *next;
    return true;
}
