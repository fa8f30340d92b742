/* gp_load.c - the least load of what is loaded most: max(host, devices, copy engines), by annealing. Nothing is
 * simulated, a candidate costs what the moved nodes' degree is.
 *
 * Why:      with many waves in flight precedence drops out, and this is what a wave costs; and where work is plenty, it
 *           is a good start for a single wave too.
 * Moves:    one node; all readers of one value, since a copy is saved only where all of them move; an exchange.
 */
#include <stdlib.h>
#include <string.h>

#include "partition/gp.h"
#include "runtime/error.h"

struct loading {
    struct dfp_state *s;
    const struct dfp_compact *c;
    struct dfp_random random;
    double spare;                       /* price of a second of any copy engine */
};

static double cost_s(const struct loading *l)
{
    double copies_s = 0, sum_s = 0;
    for (uint32_t u = 0; u < l->c->n_units; u++) {
        copies_s += l->s->copies_s[u][0] + l->s->copies_s[u][1];
        sum_s += l->s->load_s[u] / l->c->workers[u];
    }
    return dfp_state_bottleneck_s(l->s) + l->spare * copies_s / l->c->n_units + 0.02 * sum_s / l->c->n_units;
}

static uint32_t pick(struct loading *l)
{
    return l->c->movable[dfp_random_below(&l->random, l->c->n_movable)];
}

static uint32_t other_unit(struct loading *l, uint32_t node)
{
    uint32_t others = l->c->allowed[node] & ~(1u << l->s->place[node]), n = (uint32_t)__builtin_popcount(others);
    for (uint32_t k = n > 1 ? dfp_random_below(&l->random, n) : 0; k; k--)
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
    uint32_t value = c->in[c->first_in[v] + dfp_random_below(&l->random, n_in)];
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

double dfp_load_run(struct dfp_search *search, double spare, uint64_t n_moves, double start_temperature, uint64_t seed)
{
    struct loading l = { .s = &search->state, .c = &search->compact, .random = { seed }, .spare = spare };
    dfp_state_set(l.s, search->place, NULL, 1);
    double current_s = cost_s(&l), t0 = start_temperature * current_s / (l.c->n_movable + 1);
    if (!l.c->n_movable)
        return current_s;
    for (uint64_t i = 0; i < n_moves; i++) {
        uint32_t chance = dfp_random_below(&l.random, 8);
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

/* ---- many waves in flight ---- */

int dfp_load_search(struct dfp_search *search, double *load_s, struct df_error *error)
{
    static const struct {
        double spare, temperature;
    } ways[] = { { 0, 1 }, { 0, 4 }, { 0.05, 1 }, { 0, 0.2 }, { 0, 0.05 } };
    const struct dfp_compact *c = &search->compact;
    uint32_t n_ways = sizeof ways / sizeof *ways;
    uint64_t left = search->budget_steps > search->state.steps ? search->budget_steps - search->state.steps : 0;
    uint64_t n_moves = left / n_ways / 2 + 20 * (uint64_t)c->n_nodes; /* a move takes as long as two steps */
    uint16_t *best = malloc(((size_t)c->n_nodes + 1) * sizeof *best);
    if (!best)
        return dfr_error_memory(error);
    *load_s = INFINITY;
    for (uint32_t i = 0; i < search->pool.n; i++) {
        dfp_state_set(&search->state, search->pool.found[i].place, NULL, 1);
        double now_s = dfp_state_bottleneck_s(&search->state);
        if (now_s < *load_s) {
            *load_s = now_s;
            memcpy(best, search->pool.found[i].place, c->n_nodes * sizeof *best);
        }
    }
    for (uint32_t i = 0; i < n_ways; i++) { /* each from the best so far: hot, then cooler */
        memcpy(search->place, best, c->n_nodes * sizeof *best);
        double now_s = dfp_load_run(search, ways[i].spare, n_moves, ways[i].temperature, search->options->seed + i);
        if (now_s < *load_s) {
            *load_s = now_s;
            memcpy(best, search->place, c->n_nodes * sizeof *best);
        }
    }
    memcpy(search->place, best, c->n_nodes * sizeof *best);
    free(best);
    return DF_OK;
}
