/* remap.c - searches for a mapping with measured times, as the tuner of a run asks: for drifting.c and
 * `dfc map --drift` in virtual time, and for remapper.c in runs on ranks (remap.h).
 */
#include "partition/tuning/remap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"

enum { MOST_PAIRS_OF_BSC = 4096 };      /* with more, BSC would take longer than the search */

static void copy(double *to, const double *from, size_t n)
{
    memcpy(to, from, n * sizeof *to);
}

int dfp_remap_new(const struct dfp_pipeline *l, struct dfp_remap *remap, struct df_error *error)
{
    struct dfp_pipeline *mine = &remap->pipeline;
    size_t n = l->n_stages, p = l->n_processors;
    int code = dfp_pipeline_new(l->n_stages, l->n_processors, mine, error);
    *remap = (struct dfp_remap){ .pipeline = *mine, .state_bytes = calloc(n + 1, sizeof *remap->state_bytes), .seed = 1 };
    if (code == DF_OK && !remap->state_bytes)
        code = dfr_error_memory(error);
    if (code != DF_OK) {
        dfp_remap_free(remap);
        return code;
    }
    copy(mine->work, l->work, n);
    copy(mine->speed, l->speed, p);
    copy(mine->time_s, l->time_s, n * p);
    copy(mine->bytes, l->bytes, n + 1);
    copy(mine->bytes_per_s, l->bytes_per_s, (p + 1) * (p + 1));
    copy(mine->setup_s, l->setup_s, (p + 1) * (p + 1));
    memcpy(mine->serial, l->serial, n * sizeof *mine->serial);
    mine->feeding = l->feeding;
    mine->replicate_groups = l->replicate_groups;
    return DF_OK;
}

void dfp_remap_free(struct dfp_remap *remap)
{
    dfp_pipeline_free(&remap->pipeline);
    free(remap->state_bytes);
    remap->state_bytes = NULL;
}

/* ---- forms of a mapping ---- */

void dfp_tuner_map_of(const struct dfp_pipeline *l, const struct dfp_mapping *m, struct dfr_tuner_map *map)
{
    for (uint32_t g = 0; g < m->n_groups; g++)
        for (uint32_t n = m->first[g]; n < m->first[g + 1]; n++)
            map->of_stage[n] = g;
    for (uint32_t p = 0; p < l->n_processors; p++)
        map->of_processor[p] = m->group_of[p];
}

void dfp_mapping_of(const struct dfp_pipeline *l, const struct dfr_tuner_map *map, struct dfp_mapping *m)
{
    m->n_groups = 0;
    for (uint32_t n = 0; n < l->n_stages; n++)
        if (n == 0 || map->of_stage[n] != map->of_stage[n - 1])
            m->first[m->n_groups++] = n;
    m->first[m->n_groups] = l->n_stages;
    for (uint32_t p = 0; p < l->n_processors; p++)
        m->group_of[p] = map->of_processor[p];
}

/* ---- the question ---- */

static uint32_t processor_of(const struct dfp_mapping *m, uint32_t n_processors, uint32_t stage)
{
    for (uint32_t p = 0; p < n_processors; p++)
        if (m->group_of[p] != DFP_NO_GROUP && m->first[m->group_of[p]] <= stage && stage < m->first[m->group_of[p] + 1])
            return p;
    return n_processors;
}

double dfp_remap_move_s(const struct dfp_remap *remap, uint32_t stage, uint32_t from, uint32_t to)
{
    const struct dfp_pipeline *l = &remap->pipeline;
    size_t link = (from + (size_t)1) * (l->n_processors + (size_t)1) + to + 1;
    return from == to || !l->serial[stage] ? 0 : l->setup_s[link] + remap->state_bytes[stage] / l->bytes_per_s[link];
}

static double all_moves_s(const struct dfp_remap *remap, const struct dfp_mapping *from, const struct dfp_mapping *to)
{
    double sum_s = 0;
    uint32_t n_processors = remap->pipeline.n_processors;
    for (uint32_t n = 0; n < remap->pipeline.n_stages; n++)
        if (remap->pipeline.serial[n])
            sum_s += dfp_remap_move_s(remap, n, processor_of(from, n_processors, n), processor_of(to, n_processors, n));
    return sum_s;
}

/* The slowest replica of a group, and what the slowest of the others takes. n_processors: it has only one. */
static uint32_t find_slowest(const struct dfp_mapping *m, uint32_t n_processors, const double *time_s, uint32_t group, double *other_s)
{
    uint32_t slowest = n_processors;
    *other_s = 0;
    for (uint32_t p = 0; p < n_processors; p++) {
        if (m->group_of[p] != group)
            continue;
        if (slowest < n_processors)
            *other_s = fmax(*other_s, fmin(time_s[p], time_s[slowest]));
        if (slowest == n_processors || time_s[p] > time_s[slowest])
            slowest = p;
    }
    return *other_s > 0 ? slowest : n_processors;
}

/* What a replica saves of each wave: of the pipeline's period, or of its group's, which may be the longest one tomorrow. */
static double find_saving(const struct dfp_pipeline *l, const struct dfp_mapping *m, uint32_t group, uint32_t processor)
{
    double with_s[DFP_MOST_STAGES], without_s[DFP_MOST_STAGES];
    struct dfp_mapping without = *m;
    without.group_of[processor] = DFP_NO_GROUP;
    double period_s = dfp_mapping_period_s(l, m, with_s), longer_s = dfp_mapping_period_s(l, &without, without_s);
    return fmax(longer_s - period_s, without_s[group] - with_s[group]);
}

/* Leaves out replicas that save less time than all may wait for them in the end (remap.h). */
static void leave_out_slow(const struct dfp_pipeline *l, int64_t rest, struct dfp_mapping *m)
{
    double time_s[DFP_MOST_PROCESSORS], other_s;
    uint32_t p;
    if (l->feeding != DFP_BY_DEMAND)
        return;
    dfp_mapping_times(l, m, time_s);
    for (uint32_t g = 0; g < m->n_groups; g++)
        while ((p = find_slowest(m, l->n_processors, time_s, g, &other_s)) < l->n_processors &&
               (double)rest * find_saving(l, m, g, p) < time_s[p] - other_s)
            m->group_of[p] = DFP_NO_GROUP;
}

int dfp_remap_ask(void *context, const double *time_s, int64_t rest, const struct dfr_tuner_map *present, struct dfr_tuner_offer *offer,
                  struct df_error *error)
{
    struct dfp_remap *remap = context;
    struct dfp_pipeline *l = &remap->pipeline;
    struct dfp_mapping *starts = calloc(5, sizeof *starts), *best = starts + 4;
    uint32_t n = 1;
    if (!starts)
        return dfr_error_memory(error);
    copy(l->time_s, time_s, (size_t)l->n_stages * l->n_processors);
    dfp_pipeline_speeds(l);
    dfp_mapping_of(l, present, &starts[0]);
    n += dfp_map_hedpm(l, &starts[n]);
    n += dfp_map_dpm(l, &starts[n]);
    if ((uint64_t)l->n_stages * l->n_processors <= MOST_PAIRS_OF_BSC)
        n += dfp_map_bsc(l, &starts[n]);
    int code = dfp_map_search(l, starts, n, remap->budget ? remap->budget : DFP_REMAP_BUDGET, remap->seed++, best, error);
    if (code == DF_OK) {
        leave_out_slow(l, rest, best);
        offer->now_s = dfp_mapping_period_s(l, &starts[0], NULL);
        offer->new_s = dfp_mapping_period_s(l, best, NULL);
        offer->move_s = all_moves_s(remap, &starts[0], best);
        dfp_tuner_map_of(l, best, &offer->map);
    }
    free(starts);
    return code;
}
