/* test_sampler.c - the sampling loop against made-up measurements whose mean is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "runtime/base/sampler.h"

struct source {                         /* of made-up measurements: a fixed stream of pseudo-random numbers */
    uint64_t state;
    double mean_s, sigma, spike_share, spike_factor;
    uint32_t runs, fail_at, n_slow;     /* the first n_slow take 1.6 times as long */
    double total_s;
};

static double uniform(struct source *s)
{
    s->state = s->state * 6364136223846793005u + 1442695040888963407u;
    return (double)(s->state >> 11) / 9007199254740992.0;
}

static int measure(void *arg, double *seconds, struct df_error *error)
{
    struct source *s = arg;
    (void)error;
    s->runs++;
    if (s->runs == s->fail_at)
        return DF_E_KERNEL;
    double normal = -6;                 /* sum of 12 uniforms: variance 1 */
    for (int i = 0; i < 12; i++)
        normal += uniform(s);
    *seconds = s->mean_s * (1 + s->sigma * normal);
    if (uniform(s) < s->spike_share)
        *seconds *= s->spike_factor;
    if (s->runs <= s->n_slow)
        *seconds *= 1.6;
    s->total_s += *seconds;
    return DF_OK;
}

static void constant_time_takes_the_fewest_runs(void **state)
{
    (void)state;
    struct source s = { .state = 1, .mean_s = 20e-3 };
    struct dfr_sampler_options o = DFR_SAMPLER_DEFAULT;
    struct dfr_sample sample;
    assert_int_equal(dfr_sample_until(&o, measure, &s, &sample, NULL), DF_OK);
    assert_int_equal(s.runs, o.min_runs);
    assert_int_equal(sample.runs, o.min_runs);
    assert_int_equal(sample.dropped, 0);
    assert_true(fabs(sample.mean_s - 20e-3) < 1e-12);
    assert_true(sample.ci_s < 1e-12);
}

/* The first runs are alike, and slow: a core that was busy, or clocks that were low. They are not what the mean is. */
static void a_slow_start_is_not_believed(void **state)
{
    (void)state;
    struct source s = { .state = 3, .mean_s = 0.6e-3, .sigma = 0.003, .n_slow = 7 };
    struct dfr_sampler_options o = DFR_SAMPLER_DEFAULT;
    struct dfr_sample sample;
    assert_int_equal(dfr_sample_until(&o, measure, &s, &sample, NULL), DF_OK);
    assert_true(s.total_s >= o.least_s && s.total_s < 2 * o.least_s);
    assert_int_equal(sample.dropped, 7);
    assert_true(fabs(sample.mean_s / 0.6e-3 - 1) < 0.01);
}

static void noise_is_averaged_to_the_goal(void **state)
{
    (void)state;
    unsigned within = 0;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct source s = { .state = seed * 7919, .mean_s = 2e-3, .sigma = 0.05 };
        struct dfr_sampler_options o = DFR_SAMPLER_DEFAULT;
        struct dfr_sample sample;
        assert_int_equal(dfr_sample_until(&o, measure, &s, &sample, NULL), DF_OK);
        assert_true(sample.ci_s <= 0.01 * sample.mean_s || sample.runs == o.max_runs);
        within += fabs(sample.mean_s - 2e-3) <= 0.015 * 2e-3;
        assert_true(sample.runs < 400); /* (2 * 0.05 / 0.01)^2 = 100 is what theory asks for */
    }
    assert_true(within >= 45);
}

static void spikes_do_not_move_the_mean(void **state)
{
    (void)state;
    double worst = 0;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct source s = {
            .state = seed * 104729, .mean_s = 1e-3, .sigma = 0.02, .spike_share = 0.05, .spike_factor = 10
        };
        struct dfr_sampler_options o = DFR_SAMPLER_DEFAULT;
        o.min_runs = 30;
        struct dfr_sample sample;
        assert_int_equal(dfr_sample_until(&o, measure, &s, &sample, NULL), DF_OK);
        worst = fmax(worst, fabs(sample.mean_s / 1e-3 - 1)); /* a plain mean is 45 % off */
    }
    assert_true(worst < 0.02);
}

static void half_of_all_cannot_be_outliers(void **state)
{
    (void)state;
    double values[] = { 1, 1, 1, 2, 2, 2 }, scratch[12];
    struct dfr_sample sample;
    dfr_sample_of(values, 6, scratch, &sample);
    assert_int_equal(sample.dropped, 0);
    assert_true(fabs(sample.mean_s - 1.5) < 1e-12);
}

static void caps_hold(void **state)
{
    (void)state;
    struct dfr_sample sample;
    struct source wild = { .state = 5, .mean_s = 1e-6, .sigma = 0.1 };
    struct dfr_sampler_options o = { .goal = 1e-6, .min_runs = 3, .max_runs = 200, .max_s = 10 };
    assert_int_equal(dfr_sample_until(&o, measure, &wild, &sample, NULL), DF_OK);
    assert_int_equal(sample.runs, 200);

    struct source slow = { .state = 6, .mean_s = 0.3, .sigma = 0.1 };
    o.max_s = 2;
    assert_int_equal(dfr_sample_until(&o, measure, &slow, &sample, NULL), DF_OK);
    assert_true(slow.total_s >= 2 && slow.total_s < 2.5);

    struct source once = { .state = 7, .mean_s = 5 };
    assert_int_equal(dfr_sample_until(&o, measure, &once, &sample, NULL), DF_OK);
    assert_int_equal(sample.runs, 1);
    assert_true(isnan(sample.ci_s));
    assert_true(sample.mean_s == 5);
}

static void failure_ends_it(void **state)
{
    (void)state;
    struct source s = { .state = 9, .mean_s = 1e-3, .sigma = 0.5, .fail_at = 4 };
    struct dfr_sampler_options o = DFR_SAMPLER_DEFAULT;
    struct dfr_sample sample = { .runs = 77 };
    assert_int_equal(dfr_sample_until(&o, measure, &s, &sample, NULL), DF_E_KERNEL);
    assert_int_equal(s.runs, 4);
    assert_int_equal(sample.runs, 77);  /* outputs are set on success only */
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    struct source s = { .mean_s = 1 };
    struct dfr_sample sample;
    struct df_error error = { "" };
    struct dfr_sampler_options o = DFR_SAMPLER_DEFAULT;
    o.max_runs = o.min_runs - 1;
    assert_int_equal(dfr_sample_until(&o, measure, &s, &sample, &error), DF_E_ARGUMENT);
    assert_true(error.text[0] != 0);
    assert_int_equal(s.runs, 0);
}

static void the_interval_is_students(void **state)
{
    (void)state;
    double values[] = { 9, 10, 11 }, scratch[6];
    struct dfr_sample sample;
    dfr_sample_of(values, 3, scratch, &sample);
    assert_true(sample.mean_s == 10);
    assert_true(fabs(sample.ci_s - 4.303 / sqrt(3)) < 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_time_takes_the_fewest_runs),
        cmocka_unit_test(a_slow_start_is_not_believed), cmocka_unit_test(noise_is_averaged_to_the_goal),
        cmocka_unit_test(spikes_do_not_move_the_mean),         cmocka_unit_test(half_of_all_cannot_be_outliers),
        cmocka_unit_test(caps_hold),                           cmocka_unit_test(failure_ends_it),
        cmocka_unit_test(nonsense_is_refused),                 cmocka_unit_test(the_interval_is_students),
    };
    return cmocka_run_group_tests_name("sampler", tests, NULL, NULL);
}
