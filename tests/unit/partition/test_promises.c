/* test_promises.c - partition/promise/: promises that are given are kept in runs whose times were recorded and not seen, those that hold with 5 % to spare are mostly
 * given, and remedies make them hold.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "long.h"
#include "partition/promise/promise.h"
#include "recorded_times.h"
#include "runtime/base/sampler.h"
#include "sample_graph.h"

enum { HALF = RECORDED_TIMES / 2, HELD_OUT_RUNS = 60 };

/* ---- noise ---- */

struct noise {
    const struct sample *s;
    uint32_t kernel[32];                /* by work: whose recorded times its jobs have */
    double mean_us[RECORDED_KERNELS];   /* of the half that the profile has */
    struct df_spread spread[2 * 32];
    uint64_t run;
};

/* The profile knows the even half. */
static void learn(struct noise *noise)
{
    double us[HALF], scratch[2 * HALF], above[DFR_QUANTILES];
    struct dfr_sample sample[RECORDED_KERNELS];
    const uint32_t n_works = noise->s->graph->n_works;
    for (uint32_t k = 0; k < RECORDED_KERNELS; k++) {
        for (uint32_t i = 0; i < HALF; i++)
            us[i] = recorded_us[k][2 * i];
        dfr_sample_of(us, HALF, scratch, &sample[k]);
        noise->mean_us[k] = sample[k].mean_s;
    }
    for (uint32_t at = 0; at < 2 * n_works; at++) {
        const struct dfr_sample *of = &sample[noise->kernel[at % n_works]];
        dfr_quantiles_above(of->quantile, of->runs, above);
        for (unsigned q = 0; q < DFR_QUANTILES; q++)
            noise->spread[at].quantile[q] = (float)above[q];
    }
}

/* A run has times of the odd half. */
static double held_out(void *arg, uint32_t unit, uint32_t node, uint32_t wave)
{
    const struct noise *noise = arg;
    const uint32_t k = noise->kernel[noise->s->graph->nodes[node].work];
    uint64_t x = (noise->run << 40 ^ (uint64_t)wave << 16 ^ node) * UINT64_C(0x9e3779b97f4a7c15);
    (void)unit;
    x = (x ^ x >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 29;
    return recorded_us[k][2 * (x % HALF) + 1] / noise->mean_us[k];
}

/* ---- graphs ---- */

/* A stream, a few nodes on CPUs and perhaps a GPU, and a sink that takes one wave after the other. */
static void make(struct sample *s, struct noise *noise, uint32_t seed, double confidence)
{
    uint32_t state = seed * 7919 + 17;
    struct df_error e = { "" };
    const uint32_t n = 2 + sample_rand(&state) % 6, gpus = sample_rand(&state) % 2;
    sample_begin(s, 1 + sample_rand(&state) % 4, gpus);
    s->traits = DF_STREAM;
    sample_node(s, "read", 1e-4 * (1 + sample_rand(&state) % 20), NAN, 1000 * (1 + sample_rand(&state) % 500), 0, NULL);
    s->traits = 0;
    for (uint32_t i = 0; i < n; i++) {
        const double cpu_s = 1e-4 * (5 + sample_rand(&state) % 100);
        uint32_t from[2], n_in = 1 + (s->n_nodes > 1 && sample_rand(&state) % 3 == 0);
        from[0] = s->n_nodes - 1 - (s->n_nodes > 1 ? sample_rand(&state) % 2 : 0);
        from[1] = sample_rand(&state) % s->n_nodes;
        sample_node(s, "work", cpu_s, gpus && sample_rand(&state) % 2 ? cpu_s / (1 + sample_rand(&state) % 8) : NAN, 1000 * (1 + sample_rand(&state) % 500), n_in, from);
    }
    s->traits = DF_ORDERED;
    const uint32_t last = s->n_nodes - 1;
    sample_node(s, "write", 1e-4 * (1 + sample_rand(&state) % 20), NAN, 0, 1, &last);
    s->traits = 0;
    assert_int_equal(df_builder_promise(s->builder, DF_PROMISE_LATENCY, NULL, 1, confidence, &e), DF_OK);
    assert_int_equal(df_builder_promise(s->builder, DF_PROMISE_RATE, NULL, 1, confidence, &e), DF_OK);
    sample_end(s);
    assert_true(s->graph->n_works <= 32);
    *noise = (struct noise){ .s = s };
    for (uint32_t w = 0; w < s->graph->n_works; w++)
        noise->kernel[w] = sample_rand(&state) % RECORDED_KERNELS;
    learn(noise);
}

static struct dfp_promise_options options_of(const struct noise *noise)
{
    struct dfp_promise_options options = { .spread = noise->spread };
    dfp_options_default(&options.partition);
    options.partition.budget = 60;
    options.partition.threads = 1;
    return options;
}

static void bound(const struct sample *s, uint32_t promise, double value)
{
    ((struct df_promise *)s->graph->promises)[promise].bound = value;
}

/* ---- what runs do ---- */

struct truth {                          /* of runs with times that the profile has not seen */
    uint32_t n_waves;
    double *rates, *latencies;          /* sorted */
};

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct truth run_held_out(struct noise *noise, const struct dfp_problem *problem, const struct dfp_promise_options *options)
{
    struct truth t = { .n_waves = dfp_promise_waves(problem->graph) };
    struct df_plan *plan = NULL;
    struct df_error e = { "" };
    t.rates = malloc(HELD_OUT_RUNS * sizeof *t.rates);
    t.latencies = malloc((size_t)HELD_OUT_RUNS * t.n_waves * sizeof *t.latencies);
    assert_non_null(t.rates);
    assert_non_null(t.latencies);
    if (dfp_plan_make(problem, "gp", &options->partition, &plan, &e) != DF_OK)
        fail_msg("%s", e.text);
    const uint32_t inflight = dfp_promise_inflight(problem, plan, &options->partition);
    for (uint32_t r = 0; r < HELD_OUT_RUNS; r++) {
        noise->run = r + 1;
        if (dfp_promise_run(problem, plan, inflight, held_out, noise, &t.rates[r], &t.latencies[(size_t)r * t.n_waves], &e) != DF_OK)
            fail_msg("%s", e.text);
    }
    dfr_plan_free(plan);
    qsort(t.rates, HELD_OUT_RUNS, sizeof *t.rates, by_value);
    qsort(t.latencies, (size_t)HELD_OUT_RUNS * t.n_waves, sizeof *t.latencies, by_value);
    return t;
}

static void truth_free(struct truth *t)
{
    free(t->rates);
    free(t->latencies);
}

static double latency_at(const struct truth *t, double share)
{
    return t->latencies[(size_t)(share * (HELD_OUT_RUNS * t->n_waves - 1))];
}

static double rate_at(const struct truth *t, double share)
{
    return t->rates[(size_t)((1 - share) * (HELD_OUT_RUNS - 1))];
}

static double share_kept(const struct truth *t, uint32_t promise, double bound)
{
    uint32_t n = 0, all = promise ? HELD_OUT_RUNS : HELD_OUT_RUNS * t->n_waves;
    for (uint32_t i = 0; i < all; i++)
        n += promise ? t->rates[i] >= bound : t->latencies[i] <= bound;
    return (double)n / all;
}

/* ---- tests ---- */

struct counts {
    uint32_t given, kept, spare, spare_given, refused, remedied, remedies;
    double worst, sum;                  /* the share kept of a given promise, less its confidence: the least, and the sum */
};

static void count_remedies(struct counts *c, struct noise *noise, const struct dfp_promise_options *options, const struct dfp_derived *derived)
{
    struct dfp_remedy remedies[DFP_MOST_REMEDIES];
    struct df_error e = { "" };
    unsigned n;
    assert_int_equal(dfp_promise_remedies(&noise->s->problem, options, derived, remedies, &n, &e), DF_OK);
    c->refused++;
    c->remedied += n > 0;
    for (unsigned i = 0; i < n; i++) {
        struct dfp_promise_options with = *options;
        struct dfp_derived again;
        with.partition.inflight = remedies[i].inflight;
        if (dfp_promises_derive(&remedies[i].problem, NULL, &with, &again, &e) != DF_OK)
            fail_msg("%s: %s", remedies[i].what, e.text);
        if (!again.given)
            fail_msg("with %s the promises do not hold", remedies[i].what);
        c->remedies++;
        dfp_derived_free(&again);
        dfp_remedy_free(&remedies[i]);
    }
}

static void try_graph(struct counts *c, uint32_t seed)
{
    static const double confidences[] = { 0.9, 0.95, 0.99 };
    struct sample s;
    struct noise noise;
    struct df_error e = { "" };
    uint32_t state = seed + 5;
    const double confidence = confidences[seed % 3], factor = 0.9 + 0.01 * (sample_rand(&state) % 50);
    make(&s, &noise, seed, confidence);
    const struct dfp_promise_options options = options_of(&noise);
    struct truth truth = run_held_out(&noise, &s.problem, &options);
    const uint32_t asked = seed % 2;    /* the other promise is no matter */
    const double value = asked ? rate_at(&truth, confidence) : latency_at(&truth, confidence);
    bound(&s, asked, asked ? value / factor : value * factor);
    bound(&s, !asked, asked ? 1e6 : 1e-6); /* so that it is kept */
    struct dfp_derived derived;
    if (dfp_promises_derive(&s.problem, NULL, &options, &derived, &e) != DF_OK)
        fail_msg("%s", e.text);
    const double kept = share_kept(&truth, asked, s.graph->promises[asked].bound);
    if (derived.promised[asked].given) {
        c->given++;
        c->kept += kept >= confidence;
        c->worst = fmin(c->worst, kept - confidence);
        c->sum += kept - confidence;
    } else if (seed % 4 < 2) {
        count_remedies(c, &noise, &options, &derived);
    }
    if (!derived.promised[asked].given) { /* a promise of what was derived is given, and one of a little more is not */
        const double of = derived.promised[asked].value;
        for (int more = 0; more < 2; more++) {
            struct dfp_derived again;
            bound(&s, asked, !more ? of : asked ? of * 1.0001 : of / 1.0001);
            assert_int_equal(dfp_promises_derive(&s.problem, NULL, &options, &again, &e), DF_OK);
            assert_true(again.promised[asked].given == !more);
            dfp_derived_free(&again);
        }
    }
    c->spare += factor >= 1.05;
    c->spare_given += factor >= 1.05 && derived.promised[asked].given;
    dfp_derived_free(&derived);
    truth_free(&truth);
    sample_free(&s);
}

static void test_promises_are_kept(void **state)
{
    struct counts c = { .worst = 1 };
    (void)state;
    const uint32_t n = (uint32_t)IN_LONG(500, 16);
    for (uint32_t seed = 1; seed <= n; seed++)
        try_graph(&c, seed);
    print_message("%u graphs: of %u promises that were given %u were kept, on average %+.4f and at the worst %+.4f beside the confidence; of %u with 5 %% to spare %u "
                  "were given; %u were refused with remedies looked for, %u had %u remedies\n", n, c.given, c.kept, c.sum / c.given, c.worst, c.spare, c.spare_given, c.refused, c.remedied,
                  c.remedies);
    assert_true(c.sum >= 0 && c.worst > -0.05);
    assert_true(c.kept >= 0.95 * c.given);
    assert_true(c.spare_given >= 0.9 * c.spare);
    assert_true(c.remedied > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_promises_are_kept),
    };
    return cmocka_run_group_tests_name("promises", tests, NULL, NULL);
}
