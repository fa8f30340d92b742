/* bsc.c - the mapping heuristic BSC, Binary Search Closest, for `dfc map` and tuning (partition/tuning/remap.c): for a given period it assigns intervals of
 * stages, from the first stage on, each to the free processor on which the interval's time comes closest to the period from below.
 *
 * The processor behind an interval is not known then. Its link counts as the mean of all links of the interval's processor. The
 * bisection ends after 60 halvings. Of the mappings that it has met, the best by equations 1 and 2 is the answer.
 */
#include "partition/stages/pipeline.h"

#include <math.h>

#define HALVINGS 60

/* The sums over all links of each processor. */
struct rows {
    double bytes_per_s[DFP_MOST_PROCESSORS], setup_s[DFP_MOST_PROCESSORS];
};

static void sum_rows(const struct dfp_pipeline *l, struct rows *rows)
{
    size_t places = l->n_processors + (size_t)1;
    for (uint32_t p = 0; p < l->n_processors; p++) {
        rows->bytes_per_s[p] = rows->setup_s[p] = 0;
        for (size_t at = (p + 1) * places; at < (p + 2) * places; at++) {
            rows->bytes_per_s[p] += l->bytes_per_s[at];
            rows->setup_s[p] += l->setup_s[at];
        }
    }
}

/* What it takes to send to the stage behind: outside, or anywhere. */
static double behind_s(const struct dfp_pipeline *l, const struct rows *rows, uint32_t processor, uint32_t end)
{
    size_t places = l->n_processors + (size_t)1, at = (processor + 1) * places;
    if (!(l->bytes[end] > 0))
        return 0;
    if (end == l->n_stages)
        return l->setup_s[at] + l->bytes[end] / l->bytes_per_s[at];
    return rows->setup_s[processor] / (double)places + l->bytes[end] * (double)places / rows->bytes_per_s[processor];
}

struct choice {
    uint32_t end, processor;
    double time_s;
};

/* The interval from `first` on whose time is closest to the period. before: the place that sends to it. false: none fits. */
static bool choose(const struct dfp_pipeline *l, const struct rows *rows, const struct dfp_mapping *m, uint32_t first, uint32_t before,
                   double period_s, struct choice *choice)
{
    choice->time_s = -1;
    for (uint32_t p = 0; p < l->n_processors; p++) {
        size_t link = before * (l->n_processors + (size_t)1) + p + 1;
        double time_s = l->bytes[first] > 0 ? l->setup_s[link] + l->bytes[first] / l->bytes_per_s[link] : 0;
        for (uint32_t end = first + 1; end <= l->n_stages && time_s <= period_s && m->group_of[p] == DFP_NO_GROUP; end++) {
            time_s += dfp_stage_s(l, end - 1, p);
            double whole_s = time_s + behind_s(l, rows, p, end);
            if (whole_s <= period_s && whole_s > choice->time_s)
                *choice = (struct choice){ end, p, whole_s };
        }
    }
    return choice->time_s >= 0;
}

static bool fits(const struct dfp_pipeline *l, const struct rows *rows, double period_s, struct dfp_mapping *m)
{
    uint32_t before = 0;
    struct choice choice;
    m->n_groups = 0;
    for (uint32_t p = 0; p < l->n_processors; p++)
        m->group_of[p] = DFP_NO_GROUP;
    for (uint32_t first = 0; first < l->n_stages; first = choice.end) {
        if (!choose(l, rows, m, first, before, period_s, &choice))
            return false;
        m->group_of[choice.processor] = m->n_groups;
        m->first[m->n_groups++] = first;
        before = choice.processor + 1;
    }
    m->first[m->n_groups] = l->n_stages;
    return true;
}

bool dfp_map_bsc(const struct dfp_pipeline *l, struct dfp_mapping *mapping)
{
    struct dfp_mapping other;
    struct rows rows;
    double low_s = 0, high_s = 0, best_s = HUGE_VAL;
    sum_rows(l, &rows);
    for (uint32_t p = 0; p < l->n_processors; p++) { /* all stages on one processor, the slowest, whichever it sends to */
        double time_s = behind_s(l, &rows, p, 0);
        for (uint32_t n = 0; n < l->n_stages; n++)
            time_s += dfp_stage_s(l, n, p) + behind_s(l, &rows, p, n + 1);
        high_s = fmax(high_s, 2 * time_s);
    }
    for (int i = 0; i <= HALVINGS; i++) {
        double middle_s = i ? low_s + (high_s - low_s) / 2 : high_s;
        bool good = fits(l, &rows, middle_s, &other);
        double period_s = good ? dfp_mapping_period_s(l, &other, NULL) : HUGE_VAL;
        if (period_s < best_s) {
            best_s = period_s;
            *mapping = other;
        }
        *(good ? &high_s : &low_s) = middle_s;
    }
    return best_s < HUGE_VAL;
}
