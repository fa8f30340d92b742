/* pipeline.c - pipelines, mappings, and the period of a mapping by equations 1 and 2: for `dfc map`, which builds them,
 * and for all heuristics, drawings and tuning (pipeline.h).
 */
#include "partition/stages/pipeline.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/base/error.h"

/* ---- pipelines ---- */

int dfp_pipeline_new(uint32_t n_stages, uint32_t n_processors, struct dfp_pipeline *l, struct df_error *error)
{
    size_t n = n_stages, p = n_processors, places = (p + 1) * (p + 1);
    *l = (struct dfp_pipeline){ .n_stages = n_stages, .n_processors = n_processors,
                                .work = calloc(n + 1, sizeof *l->work), .speed = calloc(p + 1, sizeof *l->speed),
                                .time_s = calloc(n * p + 1, sizeof *l->time_s), .bytes = calloc(n + 1, sizeof *l->bytes),
                                .serial = calloc(n + 1, sizeof *l->serial),
                                .bytes_per_s = calloc(places, sizeof *l->bytes_per_s), .setup_s = calloc(places, sizeof *l->setup_s) };
    if (!l->work || !l->speed || !l->time_s || !l->bytes || !l->serial || !l->bytes_per_s || !l->setup_s) {
        dfp_pipeline_free(l);
        return dfr_error_memory(error);
    }
    for (size_t i = 0; i < places; i++)
        l->bytes_per_s[i] = 1;
    return DF_OK;
}

void dfp_pipeline_free(struct dfp_pipeline *l)
{
    free(l->work);
    free(l->speed);
    free(l->time_s);
    free(l->bytes);
    free(l->serial);
    free(l->bytes_per_s);
    free(l->setup_s);
    *l = (struct dfp_pipeline){ 0 };
}

void dfp_pipeline_link(struct dfp_pipeline *l, uint32_t a, uint32_t b, double bytes_per_s, double setup_s)
{
    size_t places = l->n_processors + (size_t)1, there = a * places + b, back = b * places + a;
    l->bytes_per_s[there] = l->bytes_per_s[back] = bytes_per_s;
    l->setup_s[there] = l->setup_s[back] = setup_s;
}

void dfp_pipeline_times(struct dfp_pipeline *l)
{
    for (uint32_t n = 0; n < l->n_stages; n++)
        for (uint32_t p = 0; p < l->n_processors; p++)
            l->time_s[(size_t)n * l->n_processors + p] = l->work[n] / l->speed[p];
}

void dfp_pipeline_speeds(struct dfp_pipeline *l)
{
    double first_s = 0;
    for (uint32_t p = 0; p < l->n_processors; p++) {
        double sum_s = 0;
        for (uint32_t n = 0; n < l->n_stages; n++)
            sum_s += dfp_stage_s(l, n, p);
        first_s = p ? first_s : sum_s;
        l->speed[p] = l->speed[0] * (sum_s > 0 ? first_s / sum_s : 1);
    }
    for (uint32_t n = 0; n < l->n_stages; n++) {
        l->work[n] = 0;
        for (uint32_t p = 0; p < l->n_processors; p++)
            l->work[n] += dfp_stage_s(l, n, p) * l->speed[p] / l->n_processors;
    }
}

double dfp_pipeline_bound_s(const struct dfp_pipeline *l)
{
    double work = 0, speed = 0, bound_s = 0;
    for (uint32_t p = 0; p < l->n_processors; p++)
        speed += l->speed[p];
    for (uint32_t n = 0; n < l->n_stages; n++) {
        double least = HUGE_VAL, best_s = HUGE_VAL;
        for (uint32_t p = 0; p < l->n_processors; p++) {
            least = fmin(least, dfp_stage_s(l, n, p) * l->speed[p]);
            best_s = fmin(best_s, dfp_stage_s(l, n, p));
        }
        work += least;
        bound_s = l->serial[n] ? fmax(bound_s, best_s) : bound_s;
    }
    return fmax(bound_s, work / speed);
}

/* ---- mappings ---- */

bool dfp_may_replicate(const struct dfp_pipeline *l, uint32_t first, uint32_t end)
{
    bool serial = false;
    for (uint32_t n = first; n < end; n++)
        serial |= l->serial[n];
    return !serial && (end - first == 1 || l->replicate_groups);
}

bool dfp_mapping_is_valid(const struct dfp_pipeline *l, const struct dfp_mapping *m)
{
    uint32_t n[DFP_MOST_STAGES] = { 0 };
    if (!m->n_groups || m->n_groups > l->n_stages || m->first[0] != 0 || m->first[m->n_groups] != l->n_stages)
        return false;
    for (uint32_t p = 0; p < l->n_processors; p++) {
        if (m->group_of[p] == DFP_NO_GROUP)
            continue;
        if (m->group_of[p] >= m->n_groups)
            return false;
        n[m->group_of[p]]++;
    }
    for (uint32_t g = 0; g < m->n_groups; g++) {
        if (m->first[g + 1] <= m->first[g] || !n[g])
            return false;
        if (n[g] > 1 && !dfp_may_replicate(l, m->first[g], m->first[g + 1]))
            return false;
    }
    return true;
}

/* The processors of a mapping as places, group by group: those of group g are place[from[g]] to place[from[g + 1] - 1]. */
struct members {
    uint32_t from[DFP_MOST_STAGES + 1], place[DFP_MOST_PROCESSORS];
};

static void find_members(const struct dfp_pipeline *l, const struct dfp_mapping *m, struct members *members)
{
    uint32_t next[DFP_MOST_STAGES + 1] = { 0 };
    for (uint32_t p = 0; p < l->n_processors; p++)
        if (m->group_of[p] != DFP_NO_GROUP)
            next[m->group_of[p]]++;
    members->from[0] = 0;
    for (uint32_t g = 0; g < m->n_groups; g++) {
        members->from[g + 1] = members->from[g] + next[g];
        next[g] = members->from[g];
    }
    for (uint32_t p = 0; p < l->n_processors; p++)
        if (m->group_of[p] != DFP_NO_GROUP)
            members->place[next[m->group_of[p]]++] = p + 1;
}

/* What it takes to send so many bytes between a place and n others, by the means of their links. */
static double transfer_s(const struct dfp_pipeline *l, uint32_t place, const uint32_t *others, uint32_t n, double bytes)
{
    const size_t row = place * (l->n_processors + (size_t)1);
    double rate = 0, setup_s = 0;
    if (!(bytes > 0))
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        rate += l->bytes_per_s[row + others[i]];
        setup_s += l->setup_s[row + others[i]];
    }
    return setup_s / n + bytes * n / rate;
}

/* What a processor has to do for a wave of its group. */
static double place_s(const struct dfp_pipeline *l, const struct dfp_mapping *m, const struct members *members, uint32_t g, uint32_t place)
{
    static const uint32_t outside = 0;
    bool begins = g == 0, ends = g + 1 == m->n_groups;
    const uint32_t *before = begins ? &outside : members->place + members->from[g - 1];
    const uint32_t *behind = ends ? &outside : members->place + members->from[g + 1];
    uint32_t n_before = begins ? 1 : members->from[g] - members->from[g - 1];
    uint32_t n_behind = ends ? 1 : members->from[g + 2] - members->from[g + 1];
    double time_s = transfer_s(l, place, before, n_before, l->bytes[m->first[g]]) +
                    transfer_s(l, place, behind, n_behind, l->bytes[m->first[g + 1]]);
    for (uint32_t n = m->first[g]; n < m->first[g + 1]; n++)
        time_s += dfp_stage_s(l, n, place - 1);
    return time_s;
}

void dfp_mapping_times(const struct dfp_pipeline *l, const struct dfp_mapping *m, double *processor_s)
{
    struct members members;
    find_members(l, m, &members);
    for (uint32_t p = 0; p < l->n_processors; p++)
        processor_s[p] = m->group_of[p] == DFP_NO_GROUP ? 0 : place_s(l, m, &members, m->group_of[p], p + 1);
}

static double group_period_s(const struct dfp_pipeline *l, const struct dfp_mapping *m, const struct members *members, uint32_t g)
{
    double slowest_s = 0, rate = 0;
    for (uint32_t i = members->from[g]; i < members->from[g + 1]; i++) {
        double time_s = place_s(l, m, members, g, members->place[i]);
        slowest_s = fmax(slowest_s, time_s);
        rate += 1 / time_s;
    }
    return l->feeding == DFP_BY_DEMAND ? 1 / rate : slowest_s / (members->from[g + 1] - members->from[g]);
}

double dfp_mapping_period_s(const struct dfp_pipeline *l, const struct dfp_mapping *m, double *group_s)
{
    struct members members;
    double period_s = 0;
    find_members(l, m, &members);
    for (uint32_t g = 0; g < m->n_groups; g++) {
        double time_s = group_period_s(l, m, &members, g);
        if (group_s)
            group_s[g] = time_s;
        period_s = fmax(period_s, time_s);
    }
    return period_s;
}

void dfp_map_identity(const struct dfp_pipeline *l, struct dfp_mapping *m)
{
    uint32_t n = l->n_stages < l->n_processors ? l->n_stages : l->n_processors;
    m->n_groups = n;
    for (uint32_t g = 0; g <= n; g++)
        m->first[g] = (uint32_t)((uint64_t)g * l->n_stages / n);
    for (uint32_t p = 0; p < l->n_processors; p++)
        m->group_of[p] = p < n ? p : DFP_NO_GROUP;
}
