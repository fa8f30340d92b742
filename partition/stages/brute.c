/* brute.c - finds the best mapping of a pipeline by exhaustive search, for `dfc map`.
 *
 * Groups are built from the first stage on. A branch is pruned only if its last group, even with free links, is no faster than the best mapping so far.
 */
#include "partition/stages/pipeline.h"

#include <math.h>

struct trial {
    const struct dfp_pipeline *l;
    struct dfp_mapping now, *best;
    double best_s;
    uint64_t steps, most_steps;
    bool stopped;
};

/* What the last group takes without its links. */
static double least_s(const struct trial *t)
{
    const struct dfp_pipeline *l = t->l;
    uint32_t g = t->now.n_groups - 1, n = 0;
    double slowest_s = 0, rate = 0;
    for (uint32_t p = 0; p < l->n_processors; p++) {
        double time_s = 0;
        if (t->now.group_of[p] != g)
            continue;
        for (uint32_t s = t->now.first[g]; s < t->now.first[g + 1]; s++)
            time_s += dfp_stage_s(l, s, p);
        slowest_s = fmax(slowest_s, time_s);
        rate += 1 / time_s;
        n++;
    }
    return l->feeding == DFP_BY_DEMAND ? 1 / rate : slowest_s / n;
}

/* Counts a partial mapping. Those that are left out count, too: of 32 processors a group has 2^32 sets. false: enough. */
static bool look(struct trial *t)
{
    t->stopped |= t->steps++ == t->most_steps;
    return !t->stopped;
}

static void place(struct trial *t, uint32_t stage);

/* Gives the last group each set of free processors from `from` on, beside those that it has. */
static void add_processors(struct trial *t, uint32_t stage, uint32_t from, uint32_t n)
{
    struct dfp_mapping *m = &t->now;
    uint32_t g = m->n_groups - 1;
    bool one = !dfp_may_replicate(t->l, m->first[g], m->first[g + 1]);
    if (n && !look(t))
        return;
    if (n && least_s(t) < t->best_s)
        place(t, stage);
    for (uint32_t p = from; p < t->l->n_processors && !t->stopped && !(one && n); p++) {
        if (m->group_of[p] != DFP_NO_GROUP)
            continue;
        m->group_of[p] = g;
        add_processors(t, stage, p + 1, n + 1);
        m->group_of[p] = DFP_NO_GROUP;
    }
}

/* Places what begins with that stage. */
static void place(struct trial *t, uint32_t stage)
{
    struct dfp_mapping *m = &t->now;
    if (stage == t->l->n_stages) {
        double period_s = dfp_mapping_period_s(t->l, m, NULL);
        if (period_s < t->best_s) {
            t->best_s = period_s;
            *t->best = *m;
        }
        return;
    }
    for (uint32_t end = stage + 1; end <= t->l->n_stages && !t->stopped; end++) {
        m->first[m->n_groups++] = stage;
        m->first[m->n_groups] = end;
        add_processors(t, end, 0, 0);
        m->n_groups--;
    }
}

bool dfp_map_brute(const struct dfp_pipeline *l, uint64_t most_steps, struct dfp_mapping *mapping, uint64_t *steps)
{
    struct trial t = { .l = l, .best = mapping, .best_s = HUGE_VAL, .most_steps = most_steps };
    for (uint32_t p = 0; p < l->n_processors; p++)
        t.now.group_of[p] = DFP_NO_GROUP;
    place(&t, 0);
    *steps = t.steps;
    return !t.stopped && t.best_s < HUGE_VAL;
}
