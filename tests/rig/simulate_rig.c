/* simulate_rig.c - runs in virtual time whose every job and copy is recorded, and the checks of such runs
 * (simulate_rig.h). */
#include "simulate_rig.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "partition/gp/gp.h"
#include "runtime/policy/policy.h"

/* ---- a run that is watched ---- */

static void note(struct sim_event **list, size_t *n, struct sim_event h)
{
    if (!(*n & (*n - 1))) {
        *list = realloc(*list, (2 * *n + 1) * sizeof **list);
        assert_non_null(*list);
    }
    (*list)[(*n)++] = h;
}

static void copied(void *arg, uint32_t from, uint32_t to, uint32_t value, uint32_t wave, double begin_s, double end_s)
{
    struct sim_watch *w = arg;
    note(&w->copies, &w->n_copies,
         (struct sim_event){ from ? from : to, value, wave, from == 0 ? 1 : to == 0 ? 0 : 2, to, begin_s, end_s });
}

static void ran(void *arg, uint32_t worker, uint32_t node, uint32_t wave, double begin_s, double end_s)
{
    struct sim_watch *w = arg;
    note(&w->jobs, &w->n_jobs, (struct sim_event){ worker, node, wave, 0, 0, begin_s, end_s });
}

void sim_forget(struct sim_watch *w)
{
    free(w->jobs);
    free(w->copies);
    *w = (struct sim_watch){ 0 };
}

struct dfr_simulation sim_run(const struct sample *s, const struct dfr_simulate_options *options,
                                           struct sim_watch *watch)
{
    struct dfr_simulation result = { .copied = watch ? copied : NULL, .ran = watch ? ran : NULL, .arg = watch };
    struct df_error e = { "" };
    if (dfr_simulate(s->graph, &s->platform, &s->times, options, &result, &e) != DF_OK)
        fail_msg("%s: %s", options->policy, e.text);
    return result;
}

struct dfr_simulation sim_policy(const struct sample *s, const char *policy)
{
    return sim_run(s, &(struct dfr_simulate_options){ .policy = policy }, NULL);
}

/* Makes a plan of a placement and priorities, which it borrows. */
struct df_plan sim_placed(const struct sample *s, uint16_t *place, float *priority)
{
    return (struct df_plan){ .policy = "heft", .platform = s->platform, .n_nodes = s->graph->n_nodes,
                             .place = place,
                             .priority = priority };
}

/* ---- what must hold of any run ---- */

struct checked {
    const struct sample *s;
    const struct sim_watch *w;
    uint32_t waves;
    const struct sim_event **job;       /* [wave * n_nodes + node] */
    double *done_s;                     /* [wave * n_nodes + node]: when it ended; if it costs nothing: when its last
                                         * input was made */
};

static uint32_t unit_of(const struct sample *s, uint32_t worker)
{
    uint32_t u = 0;
    while (worker >= s->platform.units[u].workers)
        worker -= s->platform.units[u++].workers;
    return u;
}

static bool is_once(const struct sample *s, uint32_t node)
{
    return s->graph->nodes[node].flags & DF_NODE_ONCE;
}

static size_t at(const struct checked *c, uint32_t wave, uint32_t node)
{
    return (size_t)(is_once(c->s, node) ? 0 : wave) * c->s->graph->n_nodes + node;
}

static void check_rows(const struct checked *c)
{
    double worker_s[64] = { 0 }, engine_s[DF_MAX_UNITS][3] = { { 0 } };
    for (size_t i = 0; i < c->w->n_jobs; i++) {
        const struct sim_event *h = &c->w->jobs[i];
        assert_true(h->row < 64 && h->wave < c->waves);
        assert_true(h->begin_s >= worker_s[h->row]);
        assert_true(h->end_s >= h->begin_s);
        worker_s[h->row] = h->end_s;
        assert_null(c->job[at(c, h->wave, h->what)]);
        c->job[at(c, h->wave, h->what)] = h;
    }
    for (size_t i = 0; i < c->w->n_copies; i++) {
        const struct sim_event *h = &c->w->copies[i];
        double *engine = &engine_s[h->row][h->way < 2 && c->s->platform.units[h->row].engines == 1 ? 0 : h->way];
        assert_true(h->begin_s >= *engine);
        *engine = h->end_s;
    }
}

/* Did some copy of this value come to `unit` after the value was made and before it was needed? */
static bool was_copied(const struct checked *c, uint32_t value, uint32_t wave, uint32_t unit, double made_s,
                       double by_s)
{
    for (size_t i = 0; i < c->w->n_copies; i++) {
        const struct sim_event *h = &c->w->copies[i];
        if (h->what == value && h->wave == wave && h->to == unit &&
            h->begin_s >= made_s &&
            h->end_s <= by_s)
            return true;
    }
    return c->s->graph->values[value].bytes == 0;
}

static void check_inputs(const struct checked *c, uint32_t wave, uint32_t node)
{
    const struct df_graph *g = c->s->graph;
    const struct sim_event *job = c->job[at(c, wave, node)];
    double made_s = 0;
    for (uint32_t k = 0; k < df_node_n_in(g, node); k++) {
        uint32_t value = g->in_value[g->nodes[node].first_in + k], producer = g->values[value].producer;
        const struct sim_event *maker = c->job[at(c, wave, producer)];
        uint32_t from = maker ? unit_of(c->s, maker->row) : 0;
        made_s = fmax(made_s, c->done_s[at(c, wave, producer)]);
        if (!job)
            continue;
        assert_true(c->done_s[at(c, wave, producer)] <= job->begin_s);
        if (maker && unit_of(c->s, job->row) != from)
            assert_true(was_copied(c, value, is_once(c->s, producer) ? 0 : wave, unit_of(c->s, job->row), maker->end_s,
                                   job->begin_s));
    }
    c->done_s[at(c, wave, node)] = job ? job->end_s : made_s;
}

static double bound_s(const struct sample *s)
{
    struct dfp_compact compact;
    struct df_error e = { "" };
    if (dfp_compact_make(&s->problem, &compact, &e) != DF_OK)
        fail_msg("%s", e.text);
    double bound = dfp_bound_s(&compact, NULL, NULL);
    dfp_compact_free(&compact);
    return bound;
}

static void check_sums(const struct checked *c, const struct dfr_simulation *r)
{
    double busy_s[DF_MAX_UNITS] = { 0 };
    uint64_t bytes[3] = { 0 };
    uint32_t copies[3] = { 0 };
    for (size_t i = 0; i < c->w->n_jobs; i++) {
        const struct sim_event *h = &c->w->jobs[i];
        uint32_t unit = unit_of(c->s, h->row), threads = c->s->graph->works[c->s->graph->nodes[h->what].work].threads;
        uint32_t workers = c->s->platform.units[0].workers;
        busy_s[unit] += (h->end_s - h->begin_s) * (unit ? 1 : threads < 1 ? 1 : threads < workers ? threads : workers);
        assert_true(h->end_s <= r->makespan_s);
    }
    for (size_t i = 0; i < c->w->n_copies; i++) {
        bytes[c->w->copies[i].way] += c->s->graph->values[c->w->copies[i].what].bytes;
        copies[c->w->copies[i].way]++;
    }
    for (uint32_t u = 0; u < c->s->platform.n_units; u++) {
        sample_near(r->busy_s[u], busy_s[u]);
        assert_true(busy_s[u] <= r->makespan_s * c->s->platform.units[u].workers * (1 + 1e-9));
        assert_true(r->h2d_busy_s[u] <= r->makespan_s * (1 + 1e-9) && r->d2h_busy_s[u] <= r->makespan_s * (1 + 1e-9));
    }
    assert_int_equal(r->h2d_bytes, bytes[1]);
    assert_int_equal(r->d2h_bytes, bytes[0]);
    assert_int_equal(r->h2d_copies, copies[1]);
    assert_int_equal(r->d2h_copies, copies[0]);
    assert_int_equal(r->peer_bytes, bytes[2]);
    assert_int_equal(r->peer_copies, copies[2]);
}

void sim_check_run(const struct sample *s, const struct dfr_simulate_options *options)
{
    struct sim_watch w = { 0 };
    struct checked c = { .s = s, .w = &w, .waves = options->waves ? options->waves : 1 };
    struct dfr_simulation r = sim_run(s, options, &w), again;
    size_t n = s->graph->n_nodes, n_costed = 0;
    c.job = calloc(n * c.waves + 1, sizeof *c.job);
    c.done_s = calloc(n * c.waves + 1, sizeof *c.done_s);
    assert_true(c.job && c.done_s);
    check_rows(&c);
    for (uint32_t wave = 0; wave < c.waves; wave++)
        for (uint32_t v = 0; v < n; v++) {
            if (wave && is_once(s, v))
                continue;
            bool costs = !(s->graph->nodes[v].flags & DF_NODE_ZERO_COST);
            assert_true(costs == (c.job[at(&c, wave, v)] != NULL));
            n_costed += costs;
            check_inputs(&c, wave, v);
        }
    assert_int_equal(n_costed, w.n_jobs);
    check_sums(&c, &r);
    if (r.makespan_s < bound_s(s) * (1 - 1e-9))
        fail_msg("%s: %.9g s beats the lower bound %.9g s", options->policy, r.makespan_s, bound_s(s));
    again = sim_run(s, options, NULL);
    again.copied = copied;
    again.ran = ran;
    again.arg = &w;
    assert_memory_equal(&r, &again, sizeof r);
    free(c.job);
    free(c.done_s);
    sim_forget(&w);
}

void sim_check_policies(const struct sample *s, uint32_t waves, uint32_t inflight)
{
    const char *const *names = dfr_policy_names();
    for (unsigned i = 0; names[i]; i++) {
        struct df_plan *plan = sample_plan(s, names[i]);
        sim_check_run(s, &(struct dfr_simulate_options){ .policy = names[i], .plan = plan, .waves = waves,
                                                     .inflight = inflight });
        dfr_plan_free(plan);
    }
}
