/* tune.c - a tuner of stages on ranks (tune.h). Processor p of the tuner is rank p + 1; stages that rank 0 has are none of its stages. */
#include "runtime/stages/tune.h"

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
    const char *names[DFR_MOST_STAGES], *ranks[DFR_MOST_PROCESSORS];
    char rank_names[DFR_MOST_PROCESSORS][NAME];
    struct tuned_group *groups;
    struct dfr_tuner *tuner;            /* NULL: the first waves are still waited for */
    void *context;                      /* of the remapper */
    bool over;
};

static uint32_t n_processors(const struct dfr_tune *t)
{
    return t->mapping.n_ranks - 1;
}

int dfr_tune_open(const struct dfr_stages *stages, const struct dfr_mapping *mapping, const struct dfr_remapper *remapper, struct dfr_tune **tune,
                  struct df_error *error)
{
    struct dfr_tune *t = calloc(1, sizeof *t);

    if (!t || !(t->groups = calloc(mapping->n_groups + (size_t)1, sizeof *t->groups))) {
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
    for (uint32_t p = 0; p < n_processors(t); p++) {
        snprintf(t->rank_names[p], NAME, "rank %u", (unsigned)p + 1);
        t->ranks[p] = t->rank_names[p];
    }
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
        dfr_tuner_measured_group(t->tuner, wave, first, end, rank - 1, seconds);
    else if (group < t->mapping.n_groups)
        dfr_estimate_add(&t->groups[group].took, log(seconds));
}

/* ---- the tuner ---- */

static int make_tuner(struct dfr_tune *t, struct df_error *error)
{
    uint32_t of_stage[DFR_MOST_STAGES], of_processor[DFR_MOST_PROCESSORS];
    double *time_s = calloc((size_t)t->n * n_processors(t) + 1, sizeof *time_s);
    struct dfr_tuner_shape shape = { .n_stages = t->n, .n_processors = n_processors(t), .stages = t->names, .processors = t->ranks, .time_s = time_s,
                                     .map = { of_stage, of_processor }, .remap = t->remapper->ask, .rules = dfr_tuner_defaults };
    int status = time_s ? DF_OK : dfr_error_memory(error);

    for (uint32_t n = 0; n < t->n && time_s; n++) {
        uint32_t first, end, group = of_stage[n] = t->mapping.group_of_stage[t->stage[n]];
        find_stages(t, &t->mapping, group, &first, &end);
        for (uint32_t p = 0; p < n_processors(t); p++)
            time_s[(size_t)n * n_processors(t) + p] = exp(t->groups[group].took.median) / (end - first);
    }
    for (uint32_t p = 0; p < n_processors(t); p++)
        of_processor[p] = t->mapping.group_of_rank[p + 1];
    if (status == DF_OK)
        status = t->remapper->open(t->n, n_processors(t), time_s, t->mapping.by_demand, &t->context, error);
    shape.context = t->context;
    if (status == DF_OK)
        status = dfr_tuner_new(&shape, &t->tuner, error);
    free(time_s);
    return status;
}

static bool has_begun(struct dfr_tune *t, struct df_error *error, int *status)
{
    for (uint32_t g = 0; g < t->mapping.n_groups && !t->tuner; g++)
        if (t->groups[g].took.n < DFR_ESTIMATE_FEW)
            return false;
    if (!t->tuner)
        *status = make_tuner(t, error);
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
    for (uint32_t p = 0; p < n_processors(t); p++)
        m->group_of_rank[p + 1] = map->of_processor[p];
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
        end_tuning(t, tell, tell_arg, "a rank is lost");
    else if (has_begun(t, &error, &status))
        status = dfr_tuner_ended(t->tuner, waves, 2 * n_processors(t), -1, &step, &error);
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
