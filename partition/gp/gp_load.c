/* gp_load.c - simulated annealing on the bottleneck load, in the policy gp: minimizes the largest load of host, devices and copy engines, for gp_starts.c and
 * gp_waves.c. Nothing is simulated, so evaluating a candidate costs only the arcs of the moved nodes.
 *
 * Why:      with many waves in flight precedence is irrelevant, and the bottleneck load is the time of a wave. With plenty of work such a placement is also
 *           a good start for a single wave.
 * Moves:    one node changes its unit; all readers of one value change it, since a copy is saved only if all of them
 *           move; or two nodes exchange their units.
 */
#include <stdlib.h>
#include <string.h>

#include "partition/gp/gp.h"
#include "runtime/base/error.h"
#include "runtime/threads/clock.h"

struct loading {
    struct dfp_state *s;
    const struct dfp_compact *c;
    uint64_t random;
    double spare;                       /* the weight of copies in the cost: dfp_load_run() */
};

static double cost_s(const struct loading *l)
{
    double copies_s = 0, sum_s = 0;
    for (uint32_t u = 0; u < l->c->n_units; u++) {
        copies_s += l->s->copies_s[u][0] + l->s->copies_s[u][1] + l->s->copies_s[u][2];
        sum_s += l->s->load_s[u] / l->c->workers[u];
    }
    return dfp_state_bottleneck_s(l->s) + l->spare * copies_s / l->c->n_units + 0.02 * sum_s / l->c->n_units;
}

static uint32_t pick(struct loading *l)
{
    return l->c->movable[dfr_random_below(&l->random, l->c->n_movable)];
}

static uint32_t other_unit(struct loading *l, uint32_t node)
{
    uint32_t others = l->c->allowed[node] & ~(1u << l->s->place[node]), n = (uint32_t)__builtin_popcount(others);
    for (uint32_t k = n > 1 ? dfr_random_below(&l->random, n) : 0; k; k--)
        others &= others - 1;
    return (uint32_t)__builtin_ctz(others);
}

static void readers(struct loading *l)
{
    const struct dfp_compact *c = l->c;
    uint32_t v = pick(l), unit = other_unit(l, v), n_in = c->first_in[v + 1] - c->first_in[v];
    dfp_state_move(l->s, v, unit);
    if (!n_in)
        return;
    uint32_t value = c->in[c->first_in[v] + dfr_random_below(&l->random, n_in)];
    for (uint32_t r = c->first_reader[value]; r < c->first_reader[value + 1]; r++)
        if (c->allowed[c->reader[r]] & 1u << unit)
            dfp_state_move(l->s, c->reader[r], unit);
}

static void exchange(struct loading *l)
{
    uint32_t v = pick(l), w = pick(l), unit = l->s->place[v], other = l->s->place[w];
    if (unit == other || !(l->c->allowed[v] & 1u << other) || !(l->c->allowed[w] & 1u << unit)) {
        dfp_state_move(l->s, v, other_unit(l, v));
        return;
    }
    dfp_state_move(l->s, v, other);
    dfp_state_move(l->s, w, unit);
}

static bool is_late(const struct dfp_search *search)
{
    return search->deadline_s < INFINITY && dfr_clock_s() > search->deadline_s;
}

double dfp_load_run(struct dfp_search *search, double spare, uint64_t n_moves, double start_temperature, uint64_t seed)
{
    struct loading l = { .s = &search->state, .c = &search->compact, .random = seed, .spare = spare };
    dfp_state_place(l.s, search->place);
    double current_s = cost_s(&l), t0 = start_temperature * current_s / (l.c->n_movable + 1);
    if (!l.c->n_movable)
        return current_s;
    for (uint64_t i = 0; i < n_moves && !(i % 256 == 0 && is_late(search)); i++) {
        uint32_t chance = dfr_random_below(&l.random, 8);
        double left = 1 - (double)i / (double)n_moves;
        if (chance < 5) {
            uint32_t v = pick(&l);
            dfp_state_move(l.s, v, other_unit(&l, v));
        } else if (chance < 6) {
            readers(&l);
        } else {
            exchange(&l);
        }
        double limit_s = current_s + t0 * left * left * dfp_minus_log(dfp_random_unit(&l.random)), now_s = cost_s(&l);
        if (now_s > limit_s) {
            dfp_state_undo(l.s);
        } else {
            current_s = now_s;
            dfp_state_keep(l.s);
        }
    }
    for (uint32_t v = 0; v < l.c->n_nodes; v++)
        search->place[v] = l.s->place[v];
    return dfp_state_bottleneck_s(l.s);
}
