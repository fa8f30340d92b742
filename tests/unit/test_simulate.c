/* test_simulate.c - runs in virtual time: cases computed by hand, the agreement with the evaluator of static
 * placements to the last digit, and what must hold of any run: nobody does two things at once, nothing is read before
 * it is there, no policy beats the lower bound.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "partition/gp.h"
#include "runtime/error.h"
#include "runtime/policy.h"
#include "runtime/simulate.h"
#include "sample_graph.h"

#define MS SAMPLE_MS
#define MB SAMPLE_MB

static void near(double value, double expected)
{
    if (fabs(value - expected) > 1e-12 + 1e-9 * fabs(expected))
        fail_msg("%.12g where %.12g is expected", value, expected);
}

/* ---- a run that is watched ---- */

struct happening {                      /* a job, or a copy of a value */
    uint32_t row, what, wave;           /* row: worker; or of a copy the device, of peers the sender */
    uint32_t way, to;                   /* of a copy: 0 to the host, 1 to the device, 2 to a peer; the
                                         * unit it goes to */
    double begin_s, end_s;
};

struct watch {
    struct happening *jobs, *copies;
    size_t n_jobs, n_copies;
};

static void note(struct happening **list, size_t *n, struct happening h)
{
    if (!(*n & (*n - 1))) {
        *list = realloc(*list, (2 * *n + 1) * sizeof **list);
        assert_non_null(*list);
    }
    (*list)[(*n)++] = h;
}

static void copied(void *arg, uint32_t from, uint32_t to, uint32_t value, uint32_t wave, double begin_s, double end_s)
{
    struct watch *w = arg;
    note(&w->copies, &w->n_copies,
         (struct happening){ from ? from : to, value, wave, from == 0 ? 1 : to == 0 ? 0 : 2, to, begin_s, end_s });
}

static void ran(void *arg, uint32_t worker, uint32_t node, uint32_t wave, double begin_s, double end_s)
{
    struct watch *w = arg;
    note(&w->jobs, &w->n_jobs, (struct happening){ worker, node, wave, 0, 0, begin_s, end_s });
}

static void forget(struct watch *w)
{
    free(w->jobs);
    free(w->copies);
    *w = (struct watch){ 0 };
}

static struct dfr_simulation simulate_with(const struct sample *s, const struct dfr_simulate_options *options,
                                           struct watch *watch)
{
    struct dfr_simulation result = { .copied = watch ? copied : NULL, .ran = watch ? ran : NULL, .arg = watch };
    struct df_error e = { "" };
    if (dfr_simulate(s->graph, &s->platform, &s->times, options, &result, &e) != DF_OK)
        fail_msg("%s: %s", options->policy, e.text);
    return result;
}

static struct dfr_simulation simulate(const struct sample *s, const char *policy)
{
    return simulate_with(s, &(struct dfr_simulate_options){ .policy = policy }, NULL);
}

/* A placement and priorities as a plan; borrowed. */
static struct df_plan placed(const struct sample *s, uint16_t *place, float *priority)
{
    return (struct df_plan){ .policy = "gp-thesis", .platform = s->platform, .n_nodes = s->graph->n_nodes,
                             .place = place,
                             .priority = priority };
}

/* ---- what must hold of any run ---- */

struct checked {
    const struct sample *s;
    const struct watch *w;
    uint32_t waves;
    const struct happening **job;       /* [wave * n_nodes + node] */
    double *done_s;                     /* the same; of nodes that cost nothing: when the last input was made */
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
        const struct happening *h = &c->w->jobs[i];
        assert_true(h->row < 64 && h->wave < c->waves);
        assert_true(h->begin_s >= worker_s[h->row]);
        assert_true(h->end_s >= h->begin_s);
        worker_s[h->row] = h->end_s;
        assert_null(c->job[at(c, h->wave, h->what)]);
        c->job[at(c, h->wave, h->what)] = h;
    }
    for (size_t i = 0; i < c->w->n_copies; i++) {
        const struct happening *h = &c->w->copies[i];
        double *engine = &engine_s[h->row][h->way < 2 && c->s->platform.units[h->row].engines == 1 ? 0 : h->way];
        assert_true(h->begin_s >= *engine);
        *engine = h->end_s;
    }
}

/* Some copy of this value came to `unit` after it was made and before it was needed. */
static bool was_copied(const struct checked *c, uint32_t value, uint32_t wave, uint32_t unit, double made_s,
                       double by_s)
{
    for (size_t i = 0; i < c->w->n_copies; i++) {
        const struct happening *h = &c->w->copies[i];
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
    const struct happening *job = c->job[at(c, wave, node)];
    double made_s = 0;
    for (uint32_t k = 0; k < df_node_n_in(g, node); k++) {
        uint32_t value = g->in_value[g->nodes[node].first_in + k], producer = g->values[value].producer;
        const struct happening *maker = c->job[at(c, wave, producer)];
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
        const struct happening *h = &c->w->jobs[i];
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
        near(r->busy_s[u], busy_s[u]);
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

static void check_run(const struct sample *s, const struct dfr_simulate_options *options)
{
    struct watch w = { 0 };
    struct checked c = { .s = s, .w = &w, .waves = options->waves ? options->waves : 1 };
    struct dfr_simulation r = simulate_with(s, options, &w), again;
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
    again = simulate_with(s, options, NULL);
    again.copied = copied;
    again.ran = ran;
    again.arg = &w;
    assert_memory_equal(&r, &again, sizeof r);
    free(c.job);
    free(c.done_s);
    forget(&w);
}

static void check_policies(const struct sample *s, uint32_t waves, uint32_t inflight)
{
    const char *const *names = dfr_policy_names();
    for (unsigned i = 0; names[i]; i++) {
        struct df_plan *plan = sample_plan(s, names[i]);
        check_run(s, &(struct dfr_simulate_options){ .policy = names[i], .plan = plan, .waves = waves,
                                                     .inflight = inflight });
        dfr_plan_free(plan);
    }
}

static void any_run_is_possible(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 24; seed++) {
        struct sample s;
        uint32_t gpus = seed % 4;
        sample_random(&s, seed, 20 + seed * 6, 1 + seed % 5, gpus, false);
        for (uint32_t u = 1; u <= gpus; u++) {
            s.platform.units[u].engines = 1 + (seed & 1);
            s.platform.units[u].jobs = seed % 3;
            s.platform.units[u].workers = 1 + (seed % 5 == 0);
            s.platform.units[u].launch_s = seed % 2 ? 0.05 * MS : 0;
        }
        sample_peers(&s, seed);
        check_policies(&s, 1, 1);
        check_policies(&s, 4, 1 + seed % 4);
        sample_free(&s);
    }
}

/* ---- memory ---- */

static uint64_t largest_job(const struct sample *s)
{
    uint64_t most = 0;
    for (uint32_t v = 0; v < s->graph->n_nodes; v++)
        most = dfp_job_bytes(s->graph, v) > most ? dfp_job_bytes(s->graph, v) : most;
    return most;
}

static void little_memory_is_enough(void **state)
{
    (void)state;
    uint32_t evictions = 0;
    for (uint32_t seed = 1; seed <= 16; seed++) {
        struct sample s;
        sample_random(&s, seed, 120, 2, 1 + seed % 2, false);
        for (uint32_t u = 1; u < s.platform.n_units; u++) {
            s.platform.units[u].memory_bytes = largest_job(&s) * (8 + seed % 8) / 8;
            s.platform.units[u].jobs = seed % 3;
        }
        check_policies(&s, 1, 1);
        check_policies(&s, 3, 3);
        evictions += simulate(&s, "all-gpu").evictions;
        sample_free(&s);
    }
    assert_true(evictions > 100);
}

/* Room for three values: a, b and c are made in turn, and for d the oldest must go. Nobody else has a, so it is written
 * back first, and comes again for its reader. */
static void the_oldest_is_written_back(void **state)
{
    (void)state;
    struct sample s;
    uint32_t a, b, c, d;
    sample_begin(&s, 1, 1);
    a = sample_node(&s, "a", NAN, 1 * MS, MB, 0, NULL);
    b = sample_node(&s, "b", NAN, 1 * MS, MB, 1, &a);
    c = sample_node(&s, "c", NAN, 1 * MS, MB, 1, &b);
    d = sample_node(&s, "d", NAN, 1 * MS, MB, 2, (uint32_t[]){ b, c });
    sample_node(&s, "e", NAN, 1 * MS, 0, 2, (uint32_t[]){ a, d });
    sample_end(&s);
    near(simulate(&s, "eager").makespan_s, 5 * MS);
    s.platform.units[1].memory_bytes = 3 * dfp_round_page(MB);
    struct dfr_simulation r = simulate(&s, "eager");
    near(r.makespan_s, 9 * MS);         /* c ends at 3, a leaves 3-5, d 5-6, a comes 6-8, e 8-9 */
    assert_int_equal(r.evictions, 1);
    assert_int_equal(r.d2h_copies, 1);
    assert_int_equal(r.h2d_copies, 1);
    sample_free(&s);
}

/* A copy that reads a once value alone, for a node that changes it, fires in each wave:
 * also in those after the first. */
static void copies_of_once_values_come_in_each_wave(void **state)
{
    (void)state;
    struct sample s;
    uint32_t table, from[2];
    sample_begin(&s, 1, 1);
    s.traits = DF_ONCE;
    table = sample_node(&s, "table", 1 * MS, NAN, MB, 0, NULL);
    s.traits = 0;
    from[0] = table;
    from[1] = sample_node(&s, "source", 1 * MS, NAN, MB, 0, NULL);
    s.inout = true;
    from[1] = sample_node(&s, "change", 1 * MS, NAN, 0, 2, from);
    s.inout = false;
    sample_node(&s, "sink", 1 * MS, NAN, 0, 2, from);
    sample_end(&s);
    for (uint32_t inflight = 1; inflight <= 3; inflight++) {
        struct dfr_simulate_options options = { .policy = "eager", .waves = 7, .inflight = inflight };
        assert_true(simulate_with(&s, &options, NULL).makespan_s >= 22 * MS); /* three a wave, and the table */
    }
    sample_free(&s);
}

/* What the host has too goes at once. */
static void copies_of_the_host_need_no_writing_back(void **state)
{
    (void)state;
    struct sample s;
    uint32_t d[3];
    sample_begin(&s, 1, 1);
    for (unsigned i = 0; i < 3; i++)
        d[i] = sample_node(&s, "d", 0, NAN, MB, 0, NULL);
    for (unsigned i = 0; i < 3; i++)
        sample_node(&s, "r", NAN, 1 * MS, 0, 1, &d[i]);
    sample_node(&s, "again", NAN, 1 * MS, 0, 2, d);
    sample_end(&s);
    s.platform.units[1].memory_bytes = 2 * dfp_round_page(MB);
    struct dfr_simulation r = simulate(&s, "eager");
    near(r.makespan_s, 12 * MS);        /* three times 2 + 1; for the last the first must come again: 2 + 1 */
    assert_int_equal(r.evictions, 1);   /* d[0] for d[2], which goes with its only reader */
    assert_int_equal(r.d2h_copies, 0);
    assert_int_equal(r.h2d_copies, 4);
    sample_free(&s);
}

/* ---- by hand ---- */

/* Fetching at the time of taking, devices' workers first. */
static void eager_fetches_when_it_takes(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    uint32_t d = sample_node(&s, "d", 0, NAN, MB, 0, NULL);
    for (unsigned i = 0; i < 3; i++)
        sample_node(&s, "r", 4 * MS, 1 * MS, 0, 1, &d);
    sample_end(&s);
    struct dfr_simulation r = simulate(&s, "eager");
    near(r.makespan_s, 4 * MS);         /* gpu: copy 0-2, 2-3, 3-4; cpu 0-4 */
    near(r.busy_s[0], 4 * MS);
    near(r.busy_s[1], 2 * MS);
    near(r.h2d_busy_s[1], 2 * MS);
    assert_int_equal(r.h2d_copies, 1);
    sample_free(&s);
}

static void dmda_sends_when_it_assigns(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    uint32_t d = sample_node(&s, "d", 0, NAN, MB, 0, NULL), e = sample_node(&s, "e", 0, NAN, MB, 0, NULL);
    sample_node(&s, "r", 90 * MS, 3 * MS, 0, 1, &d);
    sample_node(&s, "r", 90 * MS, 3 * MS, 0, 1, &e);
    sample_end(&s);
    near(simulate(&s, "dmda").makespan_s, 8 * MS);   /* copies 0-2 and 2-4, jobs 2-5 and 5-8 */
    near(simulate(&s, "eager").makespan_s, 90 * MS); /* whoever is free takes one: the cpu too */
    sample_free(&s);
}

/* Results must come back, and what costs nothing takes no worker. */
static void sinks_wait_for_their_copy(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    uint32_t d = sample_node(&s, "d", 0, NAN, MB, 0, NULL), a = sample_node(&s, "a", NAN, 3 * MS, MB, 1, &d);
    sample_node(&s, "busy", 20 * MS, NAN, 0, 0, NULL);
    uint32_t fetch = sample_node(&s, "fetch", 0, NAN, 0, 1, &a);
    sample_end(&s);
    double start_s[4], end_s[4];
    uint16_t place[4];
    uint32_t worker[4];
    struct dfr_simulation r = { .start_s = start_s, .end_s = end_s, .place = place, .worker = worker };
    assert_int_equal(dfr_simulate(s.graph, &s.platform, &s.times, &(struct dfr_simulate_options){ .policy = "eager" },
                                  &r,
                                  NULL), DF_OK);
    near(r.makespan_s, 20 * MS);
    near(end_s[fetch], 7 * MS);         /* there 0-2, a 2-5, back 5-7 */
    near(start_s[fetch], 7 * MS);
    near(start_s[a], 2 * MS);
    near(end_s[a], 5 * MS);
    near(end_s[d], 0);
    assert_int_equal(worker[fetch], DF_NONE);
    assert_int_equal(worker[a], 1);
    assert_int_equal(place[a], 1);
    assert_int_equal(place[fetch], 0);
    sample_free(&s);
}

/* Several jobs in flight: the second one's copy overlaps the first one's computing. */
static void jobs_in_flight_overlap_copies(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    for (uint32_t i = 0; i < 4; i++)
        sample_node(&s, "d", 0, NAN, MB, 0, NULL);
    for (uint32_t i = 0; i < 4; i++)
        sample_node(&s, "r", NAN, 3 * MS, 0, 1, &i);
    sample_end(&s);
    near(simulate(&s, "eager").makespan_s, 20 * MS); /* four times copy and job */
    s.platform.units[1].jobs = 2;
    near(simulate(&s, "eager").makespan_s, 14 * MS); /* one copy, and then the jobs: copies take less */
    sample_free(&s);
}

static void threads_hold_workers(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 3, 0);
    sample_node(&s, "narrow", 5 * MS, NAN, 0, 0, NULL);
    s.threads = 3;
    sample_node(&s, "wide", 2 * MS, NAN, 0, 0, NULL);
    s.threads = 1;
    sample_node(&s, "narrow", 1 * MS, NAN, 0, 0, NULL);
    sample_end(&s);
    struct dfr_simulation r = simulate(&s, "eager");
    near(r.makespan_s, 8 * MS);         /* wide waits for all three, and is not overtaken */
    near(r.busy_s[0], (5 + 6 + 1) * MS);
    sample_free(&s);
}

static void true_times_are_what_happens(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    sample_node(&s, "a", 3 * MS, 2 * MS, 0, 0, NULL);
    sample_node(&s, "b", 3 * MS, 2 * MS, 0, 0, NULL);
    sample_end(&s);
    s.platform.units[1].launch_s = 0.5 * MS;
    near(simulate(&s, "dmda").makespan_s, 3 * MS);
    double time_s[4] = { 1 * MS, 1 * MS, 9 * MS, 9 * MS }; /* by class, then work */
    struct dfr_simulate_options options = { .policy = "dmda", .true_time_s = time_s };
    near(simulate_with(&s, &options, NULL).makespan_s, 9.5 * MS);
    sample_free(&s);
}

/* ---- waves ---- */

static void waves_follow_each_other(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    uint32_t a = sample_node(&s, "a", 3 * MS, NAN, MB, 0, NULL);
    sample_node(&s, "b", NAN, 3 * MS, 0, 1, &a);
    sample_end(&s);
    struct dfr_simulate_options options = { .policy = "eager", .waves = 10 };
    near(simulate_with(&s, &options, NULL).makespan_s, 80 * MS); /* one after the other: 3 + 2 + 3 each */
    options.inflight = 10;
    near(simulate_with(&s, &options, NULL).makespan_s, (3 + 10 * 5) * MS); /* the GPU fetches and computes in turns */
    s.platform.units[1].jobs = 2;
    near(simulate_with(&s, &options, NULL).makespan_s, (10 * 3 + 2 + 3) * MS);
    sample_free(&s);
}

static void order_and_depth_hold_waves_back(void **state)
{
    (void)state;
    struct sample s;
    struct watch w = { 0 };
    sample_begin(&s, 8, 0);
    s.traits = DF_ORDERED;
    uint32_t a = sample_node(&s, "a", 1 * MS, NAN, 8, 0, NULL);
    s.traits = 0;
    uint32_t b = sample_node(&s, "b", 3 * MS, NAN, 8, 1, &a);
    sample_node(&s, "c", 1 * MS, NAN, 0, 1, &b);
    sample_end(&s);
    struct dfr_simulate_options options = { .policy = "eager", .waves = 6, .inflight = 6 };
    double makespan_s = simulate_with(&s, &options, &w).makespan_s, last_s = 0;
    near(makespan_s, (6 + 3 + 1) * MS);  /* one wave's a after the other's; the rest beside them */
    for (size_t i = 0; i < w.n_jobs; i++)
        if (w.jobs[i].what == a) {
            assert_true(w.jobs[i].begin_s >= last_s);
            last_s = w.jobs[i].end_s;
        }
    forget(&w);
    sample_free(&s);

    sample_begin(&s, 4, 0);
    s.depth = 1;
    a = sample_node(&s, "a", 1 * MS, NAN, 8, 0, NULL);
    s.depth = 0;
    sample_node(&s, "b", 3 * MS, NAN, 0, 1, &a);
    sample_end(&s);
    near(simulate_with(&s, &options, NULL).makespan_s, 6 * 4 * MS); /* a token must be read before the next is made */
    sample_free(&s);
}

static void once_values_serve_all_waves(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 2, 1);
    s.traits = DF_ONCE;
    uint32_t table = sample_node(&s, "table", 5 * MS, NAN, MB, 0, NULL);
    s.traits = 0;
    uint32_t a = sample_node(&s, "a", 1 * MS, NAN, 8, 0, NULL);
    sample_node(&s, "use", NAN, 1 * MS, 0, 2, (uint32_t[]){ table, a });
    sample_end(&s);
    struct watch w = { 0 };
    struct dfr_simulate_options options = { .policy = "eager", .waves = 5, .inflight = 2 };
    struct dfr_simulation r = simulate_with(&s, &options, &w);
    assert_int_equal(w.n_jobs, 1 + 2 * 5);
    assert_int_equal(r.h2d_copies, 1 + 5); /* the table once */
    forget(&w);
    check_policies(&s, 5, 2);
    check_policies(&s, 1, 1);
    sample_free(&s);
}

/* ---- the evaluator ---- */

static uint64_t peer_copies;            /* seen */

static void same_as_evaluator(const struct sample *s, uint16_t *place, float *priority)
{
    struct dfp_evaluation e;
    struct df_error error = { "" };
    struct df_plan plan = placed(s, place, priority);
    struct dfr_simulation r = simulate_with(s, &(struct dfr_simulate_options){ .policy = "gp-thesis", .plan = &plan },
                                            NULL);
    if (dfp_evaluate(&s->problem, place, priority, &e, &error) != DF_OK)
        fail_msg("%s", error.text);
    if (r.makespan_s != e.makespan_s)
        fail_msg("%u nodes: %.17g s simulated, %.17g s evaluated", s->graph->n_nodes, r.makespan_s, e.makespan_s);
    assert_memory_equal(r.busy_s, e.busy_s, sizeof r.busy_s);
    assert_int_equal(r.h2d_bytes, e.h2d_bytes);
    assert_int_equal(r.d2h_bytes, e.d2h_bytes);
    assert_int_equal(r.h2d_copies, e.h2d_copies);
    assert_int_equal(r.d2h_copies, e.d2h_copies);
    assert_int_equal(r.peer_bytes, e.peer_bytes);
    assert_int_equal(r.peer_copies, e.peer_copies);
    peer_copies += r.peer_copies;
}

static void place_at_random(const struct sample *s, uint32_t *random, uint16_t *place)
{
    for (uint32_t v = 0; v < s->graph->n_nodes; v++)
        do
            place[v] = (uint16_t)(sample_rand(random) % s->platform.n_units);
        while (isnan(dfp_node_time_s(&s->problem, v, place[v])));
}

static void static_runs_agree_with_the_evaluator(void **state)
{
    (void)state;
    peer_copies = 0;
    for (uint32_t seed = 1; seed <= 120; seed++) {
        struct sample s;
        uint32_t random = seed, gpus = seed % 4;
        sample_random(&s, seed, seed * 5, 1 + seed % 5, gpus, seed % 7 == 0);
        for (uint32_t u = 1; u <= gpus; u++) {
            s.platform.units[u].engines = 1 + (seed & 1);
            s.platform.units[u].workers = 1 + (seed % 9 == 0);
            s.platform.units[u].jobs = seed % 3;
            s.platform.units[u].launch_s = seed % 2 ? 0.05 * MS : 0;
        }
        sample_peers(&s, seed);
        uint32_t n = s.graph->n_nodes;
        uint16_t *place = calloc(n, sizeof *place);
        float *priority = calloc(n, sizeof *priority);
        place_at_random(&s, &random, place);
        dfp_upward_rank(&s.problem, place, priority);
        same_as_evaluator(&s, place, priority);
        for (uint32_t v = 0; v < n; v++)
            priority[v] = (float)(sample_rand(&random) % 16);
        same_as_evaluator(&s, place, priority);
        free(place);
        free(priority);
        sample_free(&s);
    }
    assert_true(peer_copies > 100);
}

/* Jobs that need several workers: the most urgent waits for them and is not overtaken, in both. */
static void threads_agree_with_the_evaluator(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 60; seed++) {
        struct sample s;
        uint32_t random = seed * 31;
        float priority[64];
        uint16_t place[64] = { 0 };
        sample_begin(&s, 1 + seed % 6, seed % 2);
        for (uint32_t i = 0; i < 40; i++) {
            uint32_t from[2] = { i ? sample_rand(&random) % i : 0, i ? sample_rand(&random) % i : 0 };
            s.threads = 1 + sample_rand(&random) % 4;
            sample_node(&s, "work", (1 + sample_rand(&random) % 50) * 1e-4, 1 * MS, 1000, i ? i % 3 : 0, from);
        }
        sample_end(&s);
        assert_int_equal(s.graph->n_nodes, 40);
        place_at_random(&s, &random, place);
        dfp_upward_rank(&s.problem, place, priority);
        same_as_evaluator(&s, place, priority);
        sample_free(&s);
    }
}

/* A plan that found an online policy better than every placement is run as that policy. */
static void plans_may_name_a_policy(void **state)
{
    (void)state;
    struct sample s;
    sample_random(&s, 3, 100, 3, 1, false);
    struct df_plan *plan = sample_plan(&s, "gp-thesis");
    struct dfr_simulate_options options = { .policy = "gp-thesis", .plan = plan };
    struct dfr_simulation own = simulate_with(&s, &options, NULL), dmda = simulate(&s, "dmda");
    assert_true(own.makespan_s != dmda.makespan_s);
    strcpy(plan->run_as, "dmda");
    struct dfr_simulation as = simulate_with(&s, &options, NULL);
    assert_memory_equal(&as, &dmda, sizeof as);
    strcpy(plan->run_as, "static");
    as = simulate_with(&s, &options, NULL);
    assert_memory_equal(&as, &own, sizeof as);
    dfr_plan_free(plan);
    sample_free(&s);
}

/* ---- refusals ---- */

static void expect(const struct sample *s, const struct dfr_simulate_options *options, int code, const char *text)
{
    struct dfr_simulation r = { 0 };
    struct df_error e = { "" };
    assert_int_equal(dfr_simulate(s->graph, &s->platform, &s->times, options, &r, &e), code);
    assert_string_equal(e.text, text);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 1, 1);
    uint32_t a = sample_node(&s, "a", NAN, 1 * MS, MB, 0, NULL);
    sample_node(&s, "b", 1 * MS, NAN, 0, 1, &a);
    sample_end(&s);
    expect(&s, &(struct dfr_simulate_options){ .policy = "eagre" }, DF_E_ARGUMENT,
           "unknown policy 'eagre'; did you mean 'eager'?");
    expect(&s, &(struct dfr_simulate_options){ .policy = "gp-thesis" }, DF_E_ARGUMENT,
           "policy 'gp-thesis' places nodes by a plan, and none is given");
    struct df_plan plan = { .n_nodes = 7 };
    expect(&s, &(struct dfr_simulate_options){ .policy = "gp-thesis", .plan = &plan }, DF_E_ARGUMENT,
           "the plan is of a graph of 7 nodes, this one has 2");
    s.platform.units[1].memory_bytes = 4096;
    expect(&s, &(struct dfr_simulate_options){ .policy = "eager" }, DF_E_REFUSED,
           "node 'main/a#1' fits nowhere: one job of it needs 1003520 bytes of a device's memory");
    s.platform.n_units = 1;
    expect(&s, &(struct dfr_simulate_options){ .policy = "eager" }, DF_E_REFUSED,
           "node 'main/a#1' can run on no unit of platform 'study'");
    s.platform.n_units = 0;
    expect(&s, &(struct dfr_simulate_options){ .policy = "eager" }, DF_E_ARGUMENT,
           "platform 'study' has 0 units; 1 to 32 are possible");
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eager_fetches_when_it_takes),
        cmocka_unit_test(dmda_sends_when_it_assigns),
        cmocka_unit_test(sinks_wait_for_their_copy),
        cmocka_unit_test(jobs_in_flight_overlap_copies),
        cmocka_unit_test(threads_hold_workers),
        cmocka_unit_test(true_times_are_what_happens),
        cmocka_unit_test(waves_follow_each_other),
        cmocka_unit_test(order_and_depth_hold_waves_back),
        cmocka_unit_test(once_values_serve_all_waves),
        cmocka_unit_test(the_oldest_is_written_back),
        cmocka_unit_test(copies_of_once_values_come_in_each_wave),
        cmocka_unit_test(copies_of_the_host_need_no_writing_back),
        cmocka_unit_test(static_runs_agree_with_the_evaluator),
        cmocka_unit_test(threads_agree_with_the_evaluator),
        cmocka_unit_test(any_run_is_possible),
        cmocka_unit_test(little_memory_is_enough),
        cmocka_unit_test(plans_may_name_a_policy),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests_name("simulate", tests, NULL, NULL);
}
