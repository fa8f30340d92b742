/* drift_rig.c - random drifts. */
#include "drift_rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/random.h"
#include "partition/tuning/drifting.h"
#include "pipeline_rig.h"

enum { MOST_DRIFTS = 6, BRUTE_STEPS = 300000, SEARCHES = 4 };

struct sample {
    struct dfp_pipeline pipeline;
    struct dfp_drift drifts[MOST_DRIFTS];
    struct dfp_drifting drifting;
    int64_t first;                      /* the first drift */
};

static const char *const names[] = { "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12" };

static void draw_drifts(uint64_t *random, struct sample *s, int64_t waves)
{
    uint32_t n = 1 + dfr_random_below(random, 3), disturbed = 1 + dfr_random_below(random, 3);
    s->first = waves;
    for (uint32_t i = 0; i < n; i++) {
        bool is_processor = dfr_random_below(random, 2);
        int64_t from = 100 + dfr_random_below(random, (uint32_t)(waves / 5));
        uint32_t number = dfr_random_below(random, is_processor ? s->pipeline.n_processors : s->pipeline.n_stages);
        int64_t end = is_processor && dfr_random_below(random, 2) ? from + 1 + dfr_random_below(random, (uint32_t)(waves / 5)) : INT64_MAX;
        s->drifts[i] = (struct dfp_drift){ is_processor, number, from, end, pow(4, is_processor ? (dfr_random_unit(dfr_random(random)) + 0x1p-54) : 2 * (dfr_random_unit(dfr_random(random)) + 0x1p-54) - 1) };
        s->first = from < s->first ? from : s->first;
    }
    for (uint32_t i = n; i < n + disturbed; i++) {
        int64_t from = 50 + dfr_random_below(random, (uint32_t)(waves - 60));
        s->drifts[i] = (struct dfp_drift){ false, dfr_random_below(random, s->pipeline.n_stages), from, from + 1, 20 };
    }
    s->drifting.n_drifts = n + disturbed;
}

/* The best of so many searches and, if it ends soon enough, the enumeration. */
static void search(const struct dfp_pipeline *l, uint32_t searches, struct dfp_mapping *best)
{
    static struct dfp_mapping starts[5];
    struct df_error error;
    uint32_t n = 1;
    uint64_t steps;
    dfp_map_identity(l, &starts[0]);
    n += dfp_map_hedpm(l, &starts[n]);
    n += dfp_map_bsc(l, &starts[n]);
    n += dfp_map_brute(l, BRUTE_STEPS, &starts[n], &steps);
    for (uint32_t seed = 1; seed <= searches; seed++) {
        if (dfp_map_search(l, starts, n, 0, 100 + seed, best, &error) != DF_OK)
            abort();
        starts[n - (seed > 1)] = *best; /* the next one begins with it, too */
        n += seed == 1;
    }
}

static struct dfp_drifted run(const struct sample *s, const struct dfp_mapping *mapping, bool tune)
{
    struct dfp_drifting drifting = s->drifting;
    struct dfp_drifted result;
    struct df_error error = { "" };
    drifting.mapping = mapping;
    drifting.tune = tune;
    if (dfp_drifting_run(&drifting, &result, &error) != DF_OK) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    return result;
}

static void check_waves(const struct dfp_drifted *result)
{
    unsigned char *seen = calloc((size_t)result->waves, 1);
    if (!seen)
        abort();
    for (int64_t i = 0; i < result->waves; i++)
        if (result->left[i] >= result->waves || seen[result->left[i]]++)
            abort();
    free(seen);
}

static void make(struct sample *s, uint64_t seed, int64_t waves)
{
    struct draws draws = { seed * UINT64_C(0x9E3779B97F4A7C15) };
    uint64_t *random = &draws.seed;
    struct df_error error;
    uint32_t n_stages = 3 + dfr_random_below(random, 6), n_processors = 4 + dfr_random_below(random, 9);
    if (dfp_pipeline_new(n_stages, n_processors, &s->pipeline, &error) != DF_OK)
        abort();
    struct dfp_pipeline *l = &s->pipeline;
    l->feeding = dfr_random_below(random, 2) ? DFP_BY_DEMAND : DFP_IN_ORDER;
    for (uint32_t n = 0; n < n_stages; n++)
        l->serial[n] = dfr_random_below(random, 5) == 0;
    draw_pipeline(&draws, l, dfr_random_below(random, 2));
    s->drifting = (struct dfp_drifting){ .pipeline = l, .drifts = s->drifts, .waves = waves, .chance = dfr_random_below(random, 2) ? 0.1 : 0, .seed = (uint32_t)seed,
                                         .stages = names, .processors = names, .rules = dfr_tuner_defaults };
    draw_drifts(random, s, waves);
}

/* A copy of the pipeline with the times behind all drifts. */
static void find_later(const struct sample *s, struct dfp_remap *copy)
{
    struct df_error error;
    if (dfp_remap_new(&s->pipeline, copy, &error) != DF_OK)
        abort();
    dfp_drifting_times(&s->drifting, s->drifting.waves, copy->pipeline.time_s);
    dfp_pipeline_speeds(&copy->pipeline);
}

struct drift_outcome try_random_drift(uint64_t number, int64_t waves)
{
    struct sample s;
    struct dfp_remap later;
    static struct dfp_mapping before, behind;
    make(&s, number, waves);
    find_later(&s, &later);
    search(&s.pipeline, 1, &before);
    search(&later.pipeline, SEARCHES, &behind);
    struct dfp_drifted tuned = run(&s, &before, true), still = run(&s, &before, false), fixed = run(&s, &behind, false);
    int64_t from = waves - waves / 3, end = waves - 1;
    struct dfp_drifted last = run(&s, tuned.n_said ? &tuned.said[tuned.n_said - 1].mapping : &before, false);
    check_waves(&tuned);
    double untuned = dfp_drifted_rate(&still, from, end);
    double late = fmax(untuned, fmax(dfp_drifted_rate(&fixed, from, end), dfp_drifted_rate(&last, from, end)));
    double whole = fmax(dfp_drifted_rate(&still, s.first, end), fmax(dfp_drifted_rate(&fixed, s.first, end), dfp_drifted_rate(&last, s.first, end)));
    struct drift_outcome outcome = { dfp_drifted_rate(&tuned, from, end) / late, untuned / late, dfp_drifted_rate(&tuned, s.first, end) / whole,
                                     tuned.n_changes, tuned.n_said };
    dfp_drifting_free(&tuned);
    dfp_drifting_free(&still);
    dfp_drifting_free(&fixed);
    dfp_drifting_free(&last);
    dfp_remap_free(&later);
    dfp_pipeline_free(&s.pipeline);
    return outcome;
}
