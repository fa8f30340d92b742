/* search.c - a search for mappings by simulated annealing, starting from the best mapping of the heuristics ("ours" of `dfc map`; tuning searches with it,
 * too).
 *
 * Moves:    a processor goes to another group, or becomes free; two processors change places; a stage goes over to the group
 *           beside its own; two groups become one; a group becomes two. After each the mapping is valid.
 *           Every second one is about the group that takes longest.
 * Aim:      minimizes the sum of the 16th powers of the groups' times, which also decreases if a group other than the slowest improves. The result is the
 *           mapping with the least period.
 * Rounds:   each starts with the best mapping so far. The first is so hot that it can leave any mapping; each later one starts cooler than the one before.
 */
#include "partition/stages/pipeline.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/base/random.h"
#include "runtime/base/error.h"

#define ROUNDS 6
#define LAST_HEAT 0.002

struct search {
    const struct dfp_pipeline *l;
    uint64_t random;
    uint64_t left;                      /* evaluations */
    struct dfp_mapping now, next, best;
    double now_log, best_s;             /* now_log: the logarithm of the aim, over 16 */
    double group_s[DFP_MOST_STAGES];    /* of `now` */
};

/* ---- numbers ---- */

static uint32_t below(struct search *s, uint32_t n)
{
    return dfr_random_below(&s->random, n);
}

static double power_16(double x)
{
    x *= x;
    x *= x;
    x *= x;
    return x * x;
}

/* Evaluates a mapping, and keeps it if it is the best. Gives the aim. */
static double look(struct search *s, const struct dfp_mapping *m, double *group_s)
{
    double period_s = dfp_mapping_period_s(s->l, m, group_s), sum = 0;
    for (uint32_t g = 0; g < m->n_groups; g++)
        sum += power_16(group_s[g] / period_s);
    if (period_s < s->best_s) {
        s->best_s = period_s;
        s->best = *m;
    }
    return log(period_s) + log(sum) / 16;
}

/* ---- moves: each changes s->next, and gives false if it cannot be made ---- */

static uint32_t count(const struct search *s, uint32_t group)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < s->l->n_processors; p++)
        n += s->next.group_of[p] == group;
    return n;
}

static bool may_replicate(const struct search *s, uint32_t g)
{
    return dfp_may_replicate(s->l, s->next.first[g], s->next.first[g + 1]);
}

/* Frees all processors of a group but one of them, drawn, if it may have no more. */
static void leave_one(struct search *s, uint32_t group)
{
    if (may_replicate(s, group))
        return;
    uint32_t keep = below(s, count(s, group));
    for (uint32_t p = 0; p < s->l->n_processors; p++)
        if (s->next.group_of[p] == group && keep-- != 0)
            s->next.group_of[p] = DFP_NO_GROUP;
}

static uint32_t slowest(const struct search *s)
{
    uint32_t most = 0;
    for (uint32_t g = 1; g < s->now.n_groups; g++)
        most = s->group_s[g] > s->group_s[most] ? g : most;
    return most;
}

/* A processor of the slowest group, drawn. */
static uint32_t of_slowest(struct search *s)
{
    uint32_t g = slowest(s), k = below(s, count(s, g)), p = 0;
    while (s->next.group_of[p] != g || k-- > 0)
        p++;
    return p;
}

static bool move_processor(struct search *s)
{
    struct dfp_mapping *m = &s->next;
    uint32_t way = below(s, 8), p = way == 7 ? of_slowest(s) : below(s, s->l->n_processors), from = m->group_of[p];
    uint32_t to = way < 4 ? slowest(s) : way < 7 ? below(s, m->n_groups) : DFP_NO_GROUP;
    if (to == from || (to != DFP_NO_GROUP && !may_replicate(s, to)) || (from != DFP_NO_GROUP && count(s, from) == 1))
        return false;
    m->group_of[p] = to;
    return true;
}

static bool swap_processors(struct search *s)
{
    struct dfp_mapping *m = &s->next;
    uint32_t a = below(s, 2) ? of_slowest(s) : below(s, s->l->n_processors), b = below(s, s->l->n_processors), group = m->group_of[a];
    if (group == m->group_of[b])
        return false;
    m->group_of[a] = m->group_of[b];
    m->group_of[b] = group;
    return true;
}

/* Moves the boundary behind a group by one stage. */
static bool move_stage(struct search *s)
{
    struct dfp_mapping *m = &s->next;
    if (m->n_groups < 2)
        return false;
    uint32_t g = below(s, m->n_groups - 1), taker = below(s, 2) ? g : g + 1, giver = taker == g ? g + 1 : g;
    if (m->first[giver + 1] - m->first[giver] == 1)
        return false;
    m->first[g + 1] += taker == g ? 1 : (uint32_t)-1;
    leave_one(s, taker);
    return true;
}

static bool join_groups(struct search *s)
{
    struct dfp_mapping *m = &s->next;
    if (m->n_groups < 2)
        return false;
    uint32_t g = below(s, m->n_groups - 1);
    for (uint32_t p = 0; p < s->l->n_processors; p++)
        if (m->group_of[p] != DFP_NO_GROUP && m->group_of[p] > g)
            m->group_of[p]--;
    for (uint32_t k = g + 1; k < m->n_groups; k++)
        m->first[k] = m->first[k + 1];
    m->n_groups--;
    leave_one(s, g);
    return true;
}

/* Gives the stages behind a place in a group to a processor that is free, or that another group can spare. */
static bool split_group(struct search *s)
{
    struct dfp_mapping *m = &s->next;
    uint32_t g = below(s, 2) ? slowest(s) : below(s, m->n_groups), n = m->first[g + 1] - m->first[g];
    uint32_t p = below(s, s->l->n_processors), from = m->group_of[p];
    if (n < 2 || from == g || (from != DFP_NO_GROUP && count(s, from) == 1))
        return false;
    uint32_t at = m->first[g] + 1 + below(s, n - 1);
    bool last = below(s, 2);            /* the new processor takes the last stages, or the first */
    for (uint32_t q = 0; q < s->l->n_processors; q++)
        if (m->group_of[q] != DFP_NO_GROUP && (m->group_of[q] > g || (m->group_of[q] == g && !last)))
            m->group_of[q]++;
    m->group_of[p] = last ? g + 1 : g;
    for (uint32_t k = m->n_groups + 1; k > g + 1; k--)
        m->first[k] = m->first[k - 1];
    m->first[g + 1] = at;
    m->n_groups++;
    return true;
}

static bool move(struct search *s)
{
    s->next = s->now;
    switch (below(s, 8)) {
    case 0: case 1: case 2: return move_processor(s);
    case 3: case 4: return swap_processors(s);
    case 5: return move_stage(s);
    case 6: return join_groups(s);
    default: return split_group(s);
    }
}

/* ---- rounds ---- */

static void anneal(struct search *s, double heat, uint64_t steps)
{
    double group_s[DFP_MOST_STAGES], cooling = pow(LAST_HEAT / heat, 1 / (double)(steps + 1));
    s->now = s->best;
    s->now_log = look(s, &s->now, s->group_s);
    for (uint64_t i = 0; i < steps; i++, heat *= cooling) {
        if (!move(s))
            continue;
        double next_log = look(s, &s->next, group_s);
        double luck = dfr_random_inside(dfr_random(&s->random));
        if (next_log >= s->now_log && luck >= exp((s->now_log - next_log) / heat))
            continue;
        s->now = s->next;
        s->now_log = next_log;
        for (uint32_t g = 0; g < s->now.n_groups; g++)
            s->group_s[g] = group_s[g];
    }
}

int dfp_map_search(const struct dfp_pipeline *l, const struct dfp_mapping *starts, uint32_t n_starts, uint64_t budget, uint32_t seed,
                   struct dfp_mapping *mapping, struct df_error *error)
{
    struct search *s = calloc(1, sizeof *s);
    if (!s)
        return dfr_error_memory(error);
    *s = (struct search){ .l = l, .random = seed, .best_s = HUGE_VAL };
    for (uint32_t i = 0; i < n_starts; i++)
        if (dfp_mapping_is_valid(l, &starts[i]))
            look(s, &starts[i], s->group_s);
    bool found = s->best_s < HUGE_VAL;
    budget = budget ? budget : DFP_MAP_BUDGET;
    for (int round = 0; round < ROUNDS && found; round++)
        anneal(s, round ? 0.3 / round : 1.0, budget / ROUNDS);
    if (found)
        *mapping = s->best;
    free(s);
    return found ? DF_OK : dfr_error(error, DF_E_ARGUMENT, "no mapping to begin with");
}
