/* gp_refine.c - refinement of placements in the policy gp (gp.c), by simulated annealing on places and priorities. Each candidate is evaluated in virtual time.
 *
 * Limit:    the maximal cost of a candidate is drawn before it is evaluated: current − T·ln u. This is the Metropolis rule reversed, so an evaluation can
 *           be aborted as soon as the candidate is certain to be worse.
 * Budget:   all steps of the evaluator count, including those of aborted evaluations, plus a few for each candidate.
 */
#include <string.h>

#include "partition/gp/gp.h"
#include "runtime/threads/clock.h"

enum { MAX_GROUP = 12, MAX_STRETCH = 5 };

struct anneal {
    struct dfp_state *s;
    const struct dfp_compact *c;
    const struct dfp_search *search;
    uint64_t random;
    double current_s;
    uint32_t *chain;                    /* movable nodes of the critical chain of the current placement */
    uint32_t n_chain;
    bool chain_known;
};

/* ---- picking ---- */

/* The critical chain: from the node that ended last back to the node that kept it from starting earlier, and so on. */
static void find_chain(struct anneal *a)
{
    const struct dfp_state *s = a->s;
    a->n_chain = 0;
    a->chain_known = true;
    uint32_t left = a->c->n_nodes;
    for (uint32_t v = s->kept_last_node; v != DF_NONE && left; v = s->kept_blame[v], left--)
        if (a->c->allowed[v] & (a->c->allowed[v] - 1))
            a->chain[a->n_chain++] = v;
}

static uint32_t pick(struct anneal *a)
{
    if (dfr_random(&a->random) & 3) {
        if (!a->chain_known)
            find_chain(a);
        if (a->n_chain)
            return a->chain[dfr_random_below(&a->random, a->n_chain)];
    }
    return a->c->movable[dfr_random_below(&a->random, a->c->n_movable)];
}

/* Another unit that can run the node, by chance. There is one: nodes that are picked or in the chain have several. */
static uint32_t other_unit(struct anneal *a, uint32_t node)
{
    uint32_t others = a->c->allowed[node] & ~(1u << a->s->place[node]), n = (uint32_t)__builtin_popcount(others);
    for (uint32_t k = n > 1 ? dfr_random_below(&a->random, n) : 0; k; k--)
        others &= others - 1;
    return (uint32_t)__builtin_ctz(others);
}

/* A node that this node reads from or that reads from it, by chance; DF_NONE: there is none. */
static uint32_t neighbour(struct anneal *a, uint32_t node)
{
    const struct dfp_compact *c = a->c;
    uint32_t n_in = c->first_in[node + 1] - c->first_in[node];
    uint32_t first = c->first_reader[c->first_out[node]], n_out = c->first_reader[c->first_out[node + 1]] - first;
    if (!(n_in + n_out))
        return DF_NONE;
    uint32_t k = dfr_random_below(&a->random, n_in + n_out);
    return k < n_in ? c->producer[c->in[c->first_in[node] + k]] : c->reader[first + k - n_in];
}

static bool can(const struct anneal *a, uint32_t node, uint32_t unit)
{
    return a->c->allowed[node] & 1u << unit;
}

/* ---- moves ---- */

static void flip(struct anneal *a)
{
    uint32_t v = pick(a);
    dfp_state_move(a->s, v, other_unit(a, v));
}

static void group(struct anneal *a)
{
    uint32_t v = pick(a), unit = other_unit(a, v), members[MAX_GROUP], n = 1;
    uint32_t size = 2 + dfr_random_below(&a->random, MAX_GROUP - 1);
    members[0] = v;
    dfp_state_move(a->s, v, unit);
    for (uint32_t tries = 2 * size; n < size && tries; tries--) {
        uint32_t w = neighbour(a, members[dfr_random_below(&a->random, n)]);
        if (w == DF_NONE || a->s->place[w] == unit || !can(a, w, unit))
            continue;
        dfp_state_move(a->s, w, unit);
        members[n++] = w;
    }
}

/* Moves all nodes that read one of the node's inputs: a copy is saved only if all of them move. */
static void readers(struct anneal *a)
{
    const struct dfp_compact *c = a->c;
    uint32_t v = pick(a), unit = other_unit(a, v), n_in = c->first_in[v + 1] - c->first_in[v];
    dfp_state_move(a->s, v, unit);
    if (!n_in)
        return;
    uint32_t value = c->in[c->first_in[v] + dfr_random_below(&a->random, n_in)];
    uint32_t n = c->first_reader[value + 1] - c->first_reader[value];
    if (n > 64)
        return;
    for (uint32_t r = c->first_reader[value]; r < c->first_reader[value + 1]; r++)
        if (can(a, c->reader[r], unit))
            dfp_state_move(a->s, c->reader[r], unit);
}

static void follow_neighbour(struct anneal *a)
{
    for (int tries = 0; tries < 8; tries++) {
        uint32_t v = pick(a), w = neighbour(a, v);
        if (w == DF_NONE || a->s->place[w] == a->s->place[v] || !can(a, v, a->s->place[w]))
            continue;
        dfp_state_move(a->s, v, a->s->place[w]);
        return;
    }
    flip(a);
}

static void swap(struct anneal *a)
{
    for (int tries = 0; tries < 8; tries++) {
        uint32_t v = pick(a), w = a->c->movable[dfr_random_below(&a->random, a->c->n_movable)];
        uint32_t unit = a->s->place[v], other = a->s->place[w];
        if (unit == other || !can(a, v, other) || !can(a, w, unit))
            continue;
        dfp_state_move(a->s, v, other);
        dfp_state_move(a->s, w, unit);
        return;
    }
    flip(a);
}

/* Moves several consecutive nodes of the critical chain: each node alone would only add copies. */
static void stretch(struct anneal *a)
{
    if (!a->chain_known)
        find_chain(a);
    if (!a->n_chain) {
        flip(a);
        return;
    }
    uint32_t first = dfr_random_below(&a->random, a->n_chain), n = 2 + dfr_random_below(&a->random, MAX_STRETCH - 1);
    uint32_t unit = other_unit(a, a->chain[first]);
    for (uint32_t i = first; i < a->n_chain && i < first + n; i++)
        if (can(a, a->chain[i], unit))
            dfp_state_move(a->s, a->chain[i], unit);
}

static void cluster(struct anneal *a)
{
    const int32_t *of = a->search->cluster;
    uint32_t v = pick(a), unit = other_unit(a, v);
    if (!of || of[v] < 0) {
        group(a);
        return;
    }
    for (uint32_t i = 0; i < a->c->n_movable; i++) {
        uint32_t w = a->c->movable[i];
        if (of[w] == of[v] && can(a, w, unit))
            dfp_state_move(a->s, w, unit);
    }
}

static float priority(const struct dfp_state *s, uint32_t node)
{
    return s->rank_weight * (float)s->rank_s[node] + s->bias[node];
}

/* Gives a node another bias: 0, or one that puts it just before another node, or a random change that is mostly
 * small. */
static void bias(struct anneal *a)
{
    struct dfp_state *s = a->s;
    uint32_t v = dfr_random_below(&a->random, a->c->n_nodes), way = dfr_random_below(&a->random, 4);
    double r = dfp_random_unit(&a->random) - dfp_random_unit(&a->random), value = 0;
    if (way == 0) {
        uint32_t w = dfr_random_below(&a->random, a->c->n_nodes);
        value = (double)(priority(s, w) - (priority(s, v) - s->bias[v])) + 1e-5 * a->current_s;
    } else if (way < 3 || s->rank_weight == 0) {
        value = (double)s->bias[v] + r * r * r * a->current_s;
    }
    dfp_state_bias(s, v, (float)value);
}

/* The shares of the moves were tuned on task graphs of seven families, with default budgets. */
static void move(struct anneal *a)
{
    static const struct {
        uint32_t below;                 /* taken if a number below 100, drawn by chance, is below this */
        void (*make)(struct anneal *);
    } moves[] = { { 18, flip },     { 36, group }, { 46, readers }, { 53, follow_neighbour },
                  { 75, swap },     { 81, bias },  { 92, stretch }, { 100, cluster } };
    uint32_t chance = dfr_random_below(&a->random, 100), i = 0;
    while (chance >= moves[i].below)
        i++;
    moves[i].make(a);
}

/* ---- the loop ---- */

void dfp_anneal_run(struct dfp_state *state, const struct dfp_search *search, const struct dfp_anneal *anneal,
                    struct dfp_found *found)
{
    const struct dfp_compact *c = state->compact;
    struct anneal a = { .s = state, .c = c, .search = search, .random = anneal->seed,
                        .chain = state->chain };
    uint64_t begin = state->steps, overhead = 0;
    dfp_state_set(state, found->place, found->bias, found->rank_weight);
    found->makespan_s = a.current_s = dfp_state_run(state, INFINITY);
    dfp_state_keep(state);
    if (!c->n_movable)
        return;
    double t0 = anneal->start_temperature * a.current_s;
    for (;;) {
        uint64_t used = state->steps - begin + overhead;
        if (used >= anneal->steps || (search->deadline_s < INFINITY && dfr_clock_s() > search->deadline_s))
            break;
        double x = (double)used / (double)anneal->steps, left = 1 - x;
        move(&a);
        overhead += 4;
        if (!state->n_changes)
            continue;
        dfp_state_settle(state);
        double limit_s = a.current_s + t0 * left * left * dfp_minus_log(dfp_random_unit(&a.random));
        double makespan_s = INFINITY;
        if (dfp_state_bottleneck_s(state) <= limit_s)
            makespan_s = dfp_state_run(state, limit_s);
        if (makespan_s > limit_s) {
            dfp_state_undo(state);
            continue;
        }
        dfp_state_keep(state);
        a.current_s = makespan_s;
        a.chain_known = false;
        if (makespan_s < found->makespan_s) {
            found->makespan_s = makespan_s;
            memcpy(found->place, state->place, c->n_nodes * sizeof *found->place);
            memcpy(found->bias, state->bias, c->n_nodes * sizeof *found->bias);
        }
    }
}
