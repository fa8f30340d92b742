/* test_gp_optimal.c - on graphs small enough to try everything, gp finds the optimum over all placements and orders.
 *
 * The search here shares nothing with gp: it walks through virtual time by the rules of partition.h and branches
 * wherever a worker has a choice, and over what is sent first at time 0, for every placement. As one order of
 * priorities has to explain all choices, it keeps who was preferred to whom. Its answer is checked with dfp_evaluate().
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sample_graph.h"

enum { MOST_NODES = 20, MOST_UNITS = 3, MOST_EVENTS = 64 };

struct event {
    double time_s;
    uint32_t node;
    int unit;                           /* -1: the job ended; else its output arrived there */
};

struct world {                          /* copied at every choice */
    double now_s, engine_free_s[MOST_UNITS][2];
    struct event events[MOST_EVENTS];
    uint32_t n_events, left;
    uint8_t missing[MOST_NODES], free[MOST_UNITS];
    bool ready[MOST_NODES], sent[MOST_NODES][MOST_UNITS];
    uint32_t above[MOST_NODES];         /* bit v: was preferred to v, directly or through others */
};

struct exhaustive {
    const struct sample *s;
    uint16_t place[MOST_NODES], best_place[MOST_NODES];
    double tail_s[MOST_NODES];          /* from the start of a node to the end, at least */
    double best_s;
    uint32_t best_above[MOST_NODES];
};

static double time_s(const struct exhaustive *x, uint32_t v, uint32_t unit)
{
    return dfp_node_time_s(&x->s->problem, v, unit);
}

static bool is_free(const struct exhaustive *x, uint32_t v)
{
    return x->s->graph->nodes[v].flags & DF_NODE_ZERO_COST;
}

static bool reads(const struct exhaustive *x, uint32_t reader, uint32_t from, uint32_t *times)
{
    const struct df_graph *g = x->s->graph;
    *times = 0;
    for (uint32_t i = 0; i < df_node_n_in(g, reader); i++)
        *times += g->values[g->in_value[g->nodes[reader].first_in + i]].producer == from;
    return *times > 0;
}

/* ---- the rules ---- */

static void add_event(struct world *w, double at_s, uint32_t node, int unit)
{
    assert_true(w->n_events < MOST_EVENTS);
    w->events[w->n_events++] = (struct event){ at_s, node, unit };
}

static void make_ready(const struct exhaustive *x, struct world *w, uint32_t v)
{
    if (is_free(x, v))
        add_event(w, w->now_s, v, -1);
    else
        w->ready[v] = true;
}

static void send(const struct exhaustive *x, struct world *w, uint32_t v, uint32_t device, bool to_device)
{
    const struct df_unit *unit = &x->s->platform.units[device];
    double *free_s = &w->engine_free_s[device][to_device];
    double begin_s = *free_s > w->now_s ? *free_s : w->now_s;
    *free_s = begin_s + df_link_time_s(to_device ? &unit->h2d : &unit->d2h, x->s->out_bytes[v]);
    add_event(w, *free_s, v, to_device ? (int)device : 0);
}

static void deliver(const struct exhaustive *x, struct world *w, uint32_t v, uint32_t unit)
{
    uint32_t times;
    for (uint32_t r = v + 1; r < x->s->n_nodes; r++)
        if (x->place[r] == unit && reads(x, r, v, &times) && !(w->missing[r] = (uint8_t)(w->missing[r] - times)))
            make_ready(x, w, r);
}

static bool read_on(const struct exhaustive *x, uint32_t v, uint32_t unit)
{
    uint32_t times;
    for (uint32_t r = v + 1; r < x->s->n_nodes; r++)
        if (x->place[r] == unit && reads(x, r, v, &times))
            return true;
    return false;
}

static void arrive(const struct exhaustive *x, struct world *w, uint32_t v, uint32_t unit)
{
    uint32_t home = x->place[v];
    bool elsewhere = false;
    deliver(x, w, v, unit);
    for (uint32_t u = 0; u < x->s->platform.n_units; u++) {
        elsewhere |= u != home && read_on(x, v, u);
        if (unit == 0 && u && u != home && read_on(x, v, u))
            send(x, w, v, u, true);
    }
    if (unit && unit == home && elsewhere)
        send(x, w, v, home, false);
}

/* Everything of this moment, in order of nodes. */
static void happen(const struct exhaustive *x, struct world *w)
{
    for (;;) {
        uint32_t first = w->n_events;
        for (uint32_t i = 0; i < w->n_events; i++)
            if (w->events[i].time_s == w->now_s && (first == w->n_events || w->events[i].node < w->events[first].node))
                first = i;
        if (first == w->n_events)
            return;
        struct event event = w->events[first];
        w->n_events--;
        memmove(&w->events[first], &w->events[first + 1], (w->n_events - first) * sizeof event);
        if (event.unit >= 0) {
            arrive(x, w, event.node, (uint32_t)event.unit);
            continue;
        }
        w->left--;
        if (!is_free(x, event.node))
            w->free[x->place[event.node]]++;
        arrive(x, w, event.node, x->place[event.node]);
    }
}

static void start(const struct exhaustive *x, struct world *w, uint32_t v)
{
    w->ready[v] = false;
    w->free[x->place[v]]--;
    add_event(w, w->now_s + time_s(x, v, x->place[v]), v, -1);
}

/* ---- all choices ---- */

/* false: b was preferred to a before. */
static bool prefer(struct world *w, uint32_t a, uint32_t b)
{
    if (a == b || w->above[b] >> a & 1)
        return false;
    for (uint32_t v = 0; v < MOST_NODES; v++)
        if (v == a || w->above[v] >> a & 1)
            w->above[v] |= w->above[b] | 1u << b;
    return true;
}

static void explore(struct exhaustive *x, const struct world *before);

/* Every job that may be the first of those ready on the unit. */
static void explore_choices(struct exhaustive *x, const struct world *w, uint32_t unit)
{
    for (uint32_t v = 0; v < x->s->n_nodes; v++) {
        struct world next = *w;
        bool possible = w->ready[v] && x->place[v] == unit;
        for (uint32_t other = 0; other < x->s->n_nodes && possible; other++)
            if (other != v && w->ready[other] && x->place[other] == unit)
                possible = prefer(&next, v, other);
        if (!possible)
            continue;
        start(x, &next, v);
        explore(x, &next);
    }
}

/* Starts what there is no choice about. false: there is a choice on *unit. */
static bool start_all(const struct exhaustive *x, struct world *w, uint32_t *unit)
{
    for (*unit = 0; *unit < x->s->platform.n_units; ++*unit) {
        uint32_t n = 0;
        for (uint32_t v = 0; v < x->s->n_nodes; v++)
            n += w->ready[v] && x->place[v] == *unit;
        if (n > w->free[*unit] && w->free[*unit])
            return false;
        for (uint32_t v = 0; v < x->s->n_nodes && w->free[*unit]; v++)
            if (w->ready[v] && x->place[v] == *unit)
                start(x, w, v);
    }
    return true;
}

static void explore(struct exhaustive *x, const struct world *before)
{
    struct world w = *before;
    for (;;) {
        uint32_t unit;
        happen(x, &w);
        for (uint32_t v = 0; v < x->s->n_nodes; v++)
            if (w.ready[v] && w.now_s + x->tail_s[v] >= x->best_s)
                return;
        if (!start_all(x, &w, &unit)) {
            explore_choices(x, &w, unit);
            return;
        }
        if (!w.n_events)
            break;
        w.now_s = INFINITY;
        for (uint32_t i = 0; i < w.n_events; i++)
            w.now_s = w.events[i].time_s < w.now_s ? w.events[i].time_s : w.now_s;
    }
    assert_int_equal(w.left, 0);
    if (w.now_s < x->best_s) {
        x->best_s = w.now_s;
        memcpy(x->best_above, w.above, sizeof x->best_above);
        memcpy(x->best_place, x->place, sizeof x->best_place);
    }
}

/* Sends what v reads of the initial values and is not sent yet; only_look: is there anything? */
static bool send_inputs(const struct exhaustive *x, struct world *w, uint32_t v, bool only_look)
{
    const struct df_graph *g = x->s->graph;
    bool any = false;
    for (uint32_t i = 0; i < df_node_n_in(g, v); i++) {
        uint32_t from = g->values[g->in_value[g->nodes[v].first_in + i]].producer, home = x->place[from];
        uint32_t through = home ? home : x->place[v];
        if (!is_free(x, from) || df_node_n_in(g, from) || x->place[v] == home || w->sent[from][through])
            continue;
        any = true;
        if (!only_look) {
            w->sent[from][through] = true;
            send(x, w, from, through, !home);
        }
    }
    return any;
}

/* Every reader that may be the most urgent one of those that wait for initial values. */
static void explore_sends(struct exhaustive *x, const struct world *before)
{
    struct world w = *before;
    bool waits[MOST_NODES], any = false;
    for (uint32_t v = 0; v < x->s->n_nodes; v++)
        any |= waits[v] = send_inputs(x, &w, v, true);
    if (!any) {
        explore(x, &w);
        return;
    }
    for (uint32_t v = 0; v < x->s->n_nodes; v++) {
        struct world next = w;
        bool possible = waits[v];
        for (uint32_t other = 0; other < x->s->n_nodes && possible; other++)
            if (other != v && waits[other])
                possible = prefer(&next, v, other);
        if (!possible)
            continue;
        send_inputs(x, &next, v, false);
        explore_sends(x, &next);
    }
}

static void explore_placement(struct exhaustive *x)
{
    const struct df_platform *p = &x->s->platform;
    struct world w = { .left = x->s->n_nodes };
    for (uint32_t v = x->s->n_nodes; v-- > 0;) {
        x->tail_s[v] = 0;
        for (uint32_t r = v + 1; r < x->s->n_nodes; r++) {
            uint32_t times, a = x->place[v], b = x->place[r];
            if (!reads(x, r, v, &times))
                continue;
            double way = x->tail_s[r];
            if (a != b)
                way += (a ? df_link_time_s(&p->units[a].d2h, x->s->out_bytes[v]) : 0) +
                       (b ? df_link_time_s(&p->units[b].h2d, x->s->out_bytes[v]) : 0);
            x->tail_s[v] = way > x->tail_s[v] ? way : x->tail_s[v];
        }
        x->tail_s[v] += time_s(x, v, x->place[v]);
        if (x->tail_s[v] >= x->best_s)
            return;
        w.missing[v] = (uint8_t)df_node_n_in(x->s->graph, v);
    }
    for (uint32_t u = 0; u < p->n_units; u++)
        w.free[u] = (uint8_t)p->units[u].workers;
    for (uint32_t v = 0; v < x->s->n_nodes; v++)
        if (!w.missing[v] && !is_free(x, v))
            w.ready[v] = true;
    for (uint32_t v = 0; v < x->s->n_nodes; v++)
        if (is_free(x, v) && !df_node_n_in(x->s->graph, v)) {
            w.left--;
            deliver(x, &w, v, x->place[v]);
        }
    explore_sends(x, &w);
}

static void explore_all(struct exhaustive *x, uint32_t v)
{
    if (v == x->s->n_nodes) {
        explore_placement(x);
        return;
    }
    for (uint32_t u = 0; u < x->s->platform.n_units; u++)
        if (!isnan(time_s(x, v, u))) {
            x->place[v] = (uint16_t)u;
            explore_all(x, v + 1);
        }
}

/* ---- the test ---- */

static double evaluate(const struct sample *s, const uint16_t *place, const float *priority)
{
    struct dfp_evaluation e;
    struct df_error error = { "" };
    if (dfp_evaluate(&s->problem, place, priority, &e, &error) != DF_OK)
        fail_msg("%s", error.text);
    return e.makespan_s;
}

static void make_graph(struct sample *s, uint32_t seed, uint32_t n, uint32_t gpus)
{
    uint32_t state = seed * 977 + 5;
    sample_begin(s, 1 + seed % 3, gpus);
    for (uint32_t i = 0; i < 2; i++)
        sample_node(s, "init", 0, NAN, 1000 * (1 + sample_rand(&state) % 2000), 0, NULL);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t from[3], n_in = 1 + sample_rand(&state) % 3;
        for (uint32_t k = 0; k < n_in; k++)
            from[k] = sample_rand(&state) % s->n_nodes;
        double cpu_s = (1 + sample_rand(&state) % 1000) * 1e-5, gpu_s = cpu_s / (1 + sample_rand(&state) % 8);
        sample_node(s, "work", sample_rand(&state) % 12 ? cpu_s : NAN, gpu_s,
                    1000 * (1 + sample_rand(&state) % (seed % 2 ? 4000 : 400)), n_in, from);
    }
    uint32_t last = s->n_nodes - 1;
    sample_node(s, "fetch", 0, NAN, 0, 1, &last);
    sample_end(s);
}

static void check_seed(uint32_t seed, uint32_t n, uint32_t gpus)
{
    struct sample s;
    make_graph(&s, seed, n, gpus);
    struct exhaustive x = { .s = &s, .best_s = INFINITY };
    explore_all(&x, 0);
    float priority[MOST_NODES] = { 0 };
    for (uint32_t v = 0; v < s.n_nodes; v++) /* whoever is above more has more below it */
        priority[v] = (float)__builtin_popcount(x.best_above[v]);
    assert_true(fabs(evaluate(&s, x.best_place, priority) - x.best_s) <= 1e-12 * x.best_s);

    uint16_t place[MOST_NODES];
    struct dfp_options options;
    dfp_options_default(&options);
    struct dfp_result result = { .place = place, .priority = priority };
    struct df_error error = { "" };
    if (dfp_partitioner_find("gp")->solve(&s.problem, &options, &result, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_true(result.lower_bound_s <= x.best_s);
    assert_true(fabs(evaluate(&s, place, priority) - result.makespan_s) <= 1e-12 * result.makespan_s);
    if (fabs(result.makespan_s - x.best_s) > 1e-9 * x.best_s)
        fail_msg("seed %u, %u nodes, %u gpus: gp %.9g, the optimum is %.9g (%.3f)", seed, n, gpus, result.makespan_s,
                 x.best_s, result.makespan_s / x.best_s);
    sample_free(&s);
}

static void gp_is_optimal_on_small_graphs(void **state)
{
    (void)state;
    const char *more = getenv("DF_OPTIMAL_GRAPHS");
    uint32_t n_seeds = more ? (uint32_t)atoi(more) : 12;
    for (uint32_t seed = 1; seed <= n_seeds; seed++)
        check_seed(seed, 8 + seed % 3, 1);
}

static void with_two_gpus_too(void **state)
{
    (void)state;
    const char *more = getenv("DF_OPTIMAL_GRAPHS");
    uint32_t n_seeds = more ? (uint32_t)atoi(more) / 4 : 3;
    for (uint32_t seed = 1; seed <= n_seeds; seed++)
        check_seed(seed, 8, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gp_is_optimal_on_small_graphs),
        cmocka_unit_test(with_two_gpus_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
