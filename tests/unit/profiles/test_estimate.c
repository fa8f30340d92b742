/* test_estimate.c - times for sizes never measured: known laws are found through noise and spikes, speedups are easier
 * than times (Anthill's Table 1), and words tell variants apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/estimate/estimate.h"
#include "profiles/profiles.h"
#include "db_rig.h"
#include "temp_folder.h"

#define MOST 400

/* ---- synthetic kernels ---- */

struct set {
    uint32_t n;
    char dims[MOST][64], scalars[MOST][64];
    struct dfw_observation o[MOST];
};

static uint64_t state;

static double uniform(void)             /* in [0, 1) */
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static double noise(double sigma)       /* lognormal; a sum of uniforms is normal enough */
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform();
    return exp(sigma * sum);
}

static void add(struct set *s, const char *dims, const char *scalars, double bytes, double value, double over)
{
    assert_true(s->n < MOST);
    strcpy(s->dims[s->n], dims);
    strcpy(s->scalars[s->n], scalars);
    s->o[s->n] = (struct dfw_observation){ s->dims[s->n], s->scalars[s->n], (uint64_t)bytes, value, over };
    s->n++;
}

static struct dfw_estimator *make(const struct set *s, double assumed)
{
    struct dfw_estimator *e;
    assert_int_equal(dfw_estimator_new(s->o, s->n, assumed, &e, NULL), DF_OK);
    return e;
}

static double value_at(struct dfw_estimator *e, const char *dims, const char *scalars, double bytes)
{
    return dfw_estimator_value(e, dims, scalars, (uint64_t)bytes);
}

static bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * b;
}

static double cube_s(double n) { return 2e-9 * n * n * n / 8; }

static struct set *matmul(double sigma, unsigned spike_every)
{
    struct set *s = calloc(1, sizeof *s);
    state = 1;
    for (unsigned i = 0; i < 16; i++) {
        char dims[64];
        double n = 64 * pow(2, i * 0.3);
        n = floor(n);
        snprintf(dims, sizeof dims, "n=%.0f", n);
        add(s, dims, "", 12 * n * n,
            cube_s(n) * noise(sigma) * (spike_every && i % spike_every == spike_every - 1 ? 10 : 1), 1);
    }
    return s;
}

/* ---- tests ---- */

static void a_cubic_law_is_found(void **unused)
{
    (void)unused;
    struct set *s = matmul(0, 0);
    struct dfw_estimator *e = make(s, 1);
    assert_int_not_equal(dfw_estimator_method(e), DFW_KNN);
    assert_true(near(value_at(e, "n=300", "", 12 * 300.0 * 300), cube_s(300), 0.001));
    assert_true(near(value_at(e, "n=4096", "", 12 * 4096.0 * 4096), cube_s(4096), 0.001)); /* far outside */
    assert_true(dfw_estimator_error(e, DFW_KNN) > 10 * dfw_estimator_error(e, DFW_POWER_BYTES));
    assert_true(dfw_estimator_error(e, DFW_POWER_EACH) < 1e-6);
    assert_true(isnan(dfw_estimator_error(e, DFW_POWER_PRODUCT))); /* one dimension has no product */
    dfw_estimator_free(e);
    free(s);
}

static void noise_and_spikes_do_little_harm(void **unused)
{
    (void)unused;
    struct set *s = matmul(0.05, 5);    /* three of 16 are ten times too long */
    struct dfw_estimator *e = make(s, 1);
    assert_int_not_equal(dfw_estimator_method(e), DFW_KNN);
    assert_true(near(value_at(e, "n=300", "", 12 * 300.0 * 300), cube_s(300), 0.15));
    assert_true(near(value_at(e, "n=2048", "", 12 * 2048.0 * 2048), cube_s(2048), 0.25));
    dfw_estimator_free(e);
    free(s);
}

/* m * k * n with dimensions drawn apart: bytes alone cannot tell; scalars that multiply the time count as well. */
static void each_dimension_has_its_exponent(void **unused)
{
    (void)unused;
    struct set *s = calloc(1, sizeof *s);
    state = 7;
    for (unsigned i = 0; i < 40; i++) {
        char dims[64], scalars[64];
        double m = floor(exp(3 + 4 * uniform())), n = floor(exp(3 + 4 * uniform())), steps = 1 + floor(20 * uniform());
        snprintf(dims, sizeof dims, "m=%.0f n=%.0f", m, n);
        snprintf(scalars, sizeof scalars, "steps=%.0f", steps);
        double t = 1e-9 * m * n * n * steps * noise(0.03);
        add(s, dims, scalars, 8 * (m * n), i % 9 == 8 ? 8 * t : t, 1);
    }
    struct dfw_estimator *e = make(s, 1);
    assert_int_equal(dfw_estimator_method(e), DFW_POWER_EACH);
    assert_true(near(value_at(e, "m=100 n=400", "steps=5", 8 * 40000), 1e-9 * 100 * 400 * 400 * 5, 0.1));
    assert_true(near(value_at(e, "m=400 n=100", "steps=5", 8 * 40000), 1e-9 * 400 * 100 * 100 * 5, 0.1));
    assert_true(near(value_at(e, "m=4000 n=100", "steps=1", 8 * 400000), 1e-9 * 4000 * 100 * 100, 0.15));
    dfw_estimator_free(e);
    free(s);
}

/* The published formula, by hand: numbers over the largest of their dimension, words 0 or 1, the mean of the two
 * nearest; for a speedup the mean of the times over the mean of the times. */
static void knn_is_as_published(void **unused)
{
    (void)unused;
    struct set *s = calloc(1, sizeof *s);
    add(s, "n=100 m=10", "f=\"a\"", 1, 1.0, 1);      /* from n=150 m=90 a: 0.05^2 + 0.80^2 = 0.6425 */
    add(s, "n=1000 m=90", "f=\"a\"", 1, 3.0, 1);     /*                    0.85^2          = 0.7225 */
    add(s, "n=150 m=90", "f=\"b\"", 1, 100.0, 1);    /*                    1               = 1 */
    add(s, "n=900 m=100", "f=\"a\"", 1, 5.0, 1);     /*                    0.75^2 + 0.10^2 = 0.5725 */
    struct dfw_estimator *e = make(s, 1);
    assert_true(near(dfw_estimator_value(e, "n=150 m=90", "f=\"a\"", 1), 3.0, 1e-12)); /* (1 + 5) / 2 */
    assert_true(near(dfw_estimator_value(e, "n=150 m=90", "f=\"b\"", 1), 52.5, 1e-12));
    dfw_estimator_free(e);
    s->o[0].over = 0.1;
    s->o[3].over = 0.9;
    e = make(s, 0);
    assert_true(near(dfw_estimator_value(e, "n=150 m=90", "f=\"a\"", 1), 6.0 / 1.0, 1e-12));
    dfw_estimator_free(e);
    free(s);
}

/* Anthill's Table 1: thirty jobs; times hang on the data in ways that no size tells, speedups on the size alone. */
static void speedups_are_easier_than_times(void **unused)
{
    (void)unused;
    struct set *times = calloc(1, sizeof *times), *speedups = calloc(1, sizeof *speedups);
    state = 3;
    for (unsigned i = 0; i < 30; i++) {
        char dims[64];
        double n = floor(256 + 4000 * uniform()), content = noise(0.5);
        double cpu_s = 1e-8 * n * n * content, gpu_s = cpu_s / (8 * n / (n + 500)) * noise(0.05);
        snprintf(dims, sizeof dims, "n=%.0f", n);
        add(times, dims, "", 4 * n * n, cpu_s, 1);
        add(speedups, dims, "", 4 * n * n, cpu_s, gpu_s);
    }
    struct dfw_estimator *time = make(times, 1), *speedup = make(speedups, 0);
    double time_error = dfw_estimator_error(time, DFW_KNN), speedup_error = dfw_estimator_error(speedup, DFW_KNN);
    assert_true(speedup_error < 0.14);  /* the worst in the paper */
    assert_true(time_error > 2 * speedup_error);
    assert_true(dfw_estimator_score(speedup) < dfw_estimator_score(time));
    dfw_estimator_free(time);
    dfw_estimator_free(speedup);
    free(times);
    free(speedups);
}

/* Neither law: two plateaus, as caches make them. */
static void neighbours_win_where_no_law_holds(void **unused)
{
    (void)unused;
    struct set *s = calloc(1, sizeof *s);
    for (unsigned i = 0; i < 24; i++) {
        char dims[64];
        double n = 1000 + 100 * i;
        snprintf(dims, sizeof dims, "n=%.0f", n);
        add(s, dims, "", 4 * n, i < 8 ? 1e-3 : i < 16 ? 5e-3 : 1e-4, 1);
    }
    struct dfw_estimator *e = make(s, 1);
    assert_int_equal(dfw_estimator_method(e), DFW_KNN);
    assert_true(near(value_at(e, "n=1230", "", 4 * 1230), 1e-3, 1e-9));
    assert_true(near(value_at(e, "n=2250", "", 4 * 2250), 5e-3, 1e-9));
    assert_true(near(value_at(e, "n=3060", "", 4 * 3060), 1e-4, 1e-9));
    dfw_estimator_free(e);
    free(s);
}

/* A staircase: between steps knn is exact, but it must not answer for sizes a hundred times as large. */
static void far_away_a_law_answers(void **unused)
{
    (void)unused;
    struct set *s = calloc(1, sizeof *s);
    for (int i = 0; i < 30; i++) {
        char dims[64];
        double n = floor(1000 * pow(1.05, i));
        snprintf(dims, sizeof dims, "n=%.0f", n);
        add(s, dims, "", 4 * n, 1e-6 * pow(1.05, i / 5 * 5 + 2), 1);
    }
    struct dfw_estimator *e = make(s, 1);
    assert_int_equal(dfw_estimator_method(e), DFW_KNN);
    assert_true(near(value_at(e, "n=100000", "", 400000), 1e-4, 0.3));
    assert_true(near(value_at(e, "n=10", "", 40), 1e-8, 0.3));
    double most_s = s->o[s->n - 1].value;
    assert_true(value_at(e, "n=5000", "", 20000) <= most_s * (1 + 1e-12)); /* near: as measured */
    dfw_estimator_free(e);
    free(s);
}

static void words_match_or_do_not(void **unused)
{
    (void)unused;
    struct set *s = calloc(1, sizeof *s);
    for (unsigned i = 0; i < 12; i++) {
        char dims[64];
        double n = 1000 << i % 6;
        snprintf(dims, sizeof dims, "n=%.0f", n);
        add(s, dims, i < 6 ? "mode=\"fast = 1\"" : "mode=\"slow\"", 4 * n, (i < 6 ? 1e-9 : 50e-9) * n, 1);
    }
    struct dfw_estimator *e = make(s, 1);
    assert_true(near(value_at(e, "n=3000", "mode=\"fast = 1\"", 12000), 3e-6, 0.01));
    assert_true(near(value_at(e, "n=3000", "mode=\"slow\"", 12000), 150e-6, 0.01));
    assert_true(near(value_at(e, "n=3000000", "mode=\"fast = 1\"", 12e6), 3e-3, 0.01)); /* far outside: each by its law */
    assert_true(near(value_at(e, "n=3000000", "mode=\"slow\"", 12e6), 150e-3, 0.01));
    assert_true(value_at(e, "n=3000", "mode=?", 12000) > 0);
    assert_true(isnan(value_at(e, "n=3000", "", 12000)));    /* declared otherwise */
    assert_true(isnan(value_at(e, "k=3000", "mode=\"slow\"", 12000)));
    dfw_estimator_free(e);
    free(s);
}

static void one_or_two_samples_are_scaled(void **unused)
{
    (void)unused;
    struct set *s = calloc(1, sizeof *s);
    add(s, "n=1000", "", 4000, 1e-3, 1);
    struct dfw_estimator *e = make(s, 1);
    assert_true(near(value_at(e, "n=2000", "", 8000), 2e-3, 0.01));
    assert_true(isnan(dfw_estimator_score(e)));
    dfw_estimator_free(e);
    e = make(s, 0);                     /* a speedup stays what it is */
    assert_true(near(value_at(e, "n=2000", "", 8000), 1e-3, 1e-9));
    dfw_estimator_free(e);

    add(s, "n=1010", "", 4040, 2e-3, 1); /* too near to say how it grows */
    e = make(s, 1);
    assert_true(near(value_at(e, "n=4000", "", 16000), 4e-3 * sqrt(2), 0.02));
    dfw_estimator_free(e);

    s->n = 1;
    add(s, "n=4000", "", 16000, 8e-3, 1); /* n^1.5 */
    e = make(s, 1);
    assert_true(near(value_at(e, "n=2000", "", 8000), 1e-3 * pow(2, 1.5), 0.01));
    dfw_estimator_free(e);

    s->n = 1;
    add(s, "n=4000", "", 16000, 8, 1);  /* n^6.5: rather a spike than a law */
    e = make(s, 1);
    assert_true(value_at(e, "n=64000", "", 256000) < 100 * 8);
    dfw_estimator_free(e);
    free(s);
}

static void order_does_not_matter(void **unused)
{
    (void)unused;
    struct set *s = matmul(0.2, 7);
    struct dfw_observation turned[MOST];
    for (uint32_t i = 0; i < s->n; i++)
        turned[i] = s->o[(i * 5 + 3) % s->n];
    struct dfw_estimator *a = make(s, 1), *b;
    assert_int_equal(dfw_estimator_new(turned, s->n, 1, &b, NULL), DF_OK);
    assert_int_equal(dfw_estimator_method(a), dfw_estimator_method(b));
    for (unsigned m = 0; m < DFW_N_METHODS; m++) {
        double x = dfw_estimator_error(a, (enum dfw_method)m), y = dfw_estimator_error(b, (enum dfw_method)m);
        assert_true(x == y || (isnan(x) && isnan(y)));
    }
    assert_true(value_at(a, "n=333", "", 12 * 333.0 * 333) == value_at(b, "n=333", "", 12 * 333.0 * 333));
    dfw_estimator_free(a);
    dfw_estimator_free(b);
    free(s);
}

static void odd_observations_are_survived(void **unused)
{
    (void)unused;
    struct set *s = calloc(1, sizeof *s);
    for (unsigned i = 0; i < 350; i++) {
        char dims[64];
        snprintf(dims, sizeof dims, "n=%u", i % 90);     /* 0 among them, and sizes that come again */
        add(s, dims, "", 4 * (i % 90), i % 10 == 0 ? 0 : 1e-6, 1);
    }
    add(s, "other=3", "x=1 y=2", 5, 1, 1);
    struct dfw_estimator *e = make(s, 1);
    assert_int_equal(dfw_estimator_count(e), DFW_MAX_OBSERVATIONS);
    assert_true(value_at(e, "n=0", "", 0) > 0);
    assert_true(near(value_at(e, "n=45", "", 180), 1e-6, 0.5));
    dfw_estimator_free(e);

    s->n = 0;
    for (unsigned i = 0; i < 5; i++)
        add(s, "", "", 16, 1e-3 * (1 + i), 1);
    e = make(s, 1);
    assert_true(value_at(e, "", "", 16) > 1e-3);
    dfw_estimator_free(e);
    assert_int_equal(dfw_estimator_new(s->o, 0, 1, &e, NULL), DF_E_ARGUMENT);
    s->o[0].dims = "no such text";
    assert_int_equal(dfw_estimator_new(s->o, 1, 1, &e, NULL), DF_E_ARGUMENT);
    free(s);
}

/* ---- with a database ---- */

static void store(struct dfw_db *db, const char *variant, const char *device, unsigned n, double mean_s)
{
    char dims[32], none[] = "";
    snprintf(dims, sizeof dims, "n=%u", n);
    struct dfw_key key = { .device = device, .variant = variant,
                           .work = { .kernel = "f", .dims = dims, .scalars = none, .hash = 5, .job_bytes = 4 * n } };
    struct dfr_sample sample = { .mean_s = mean_s, .ci_s = NAN, .runs = 3 };
    assert_int_equal(dfw_sample_store(db, &key, &sample, NULL), DF_OK);
}

/* The time on the device where a size was not measured is that on the other one by the speedup. */
static void other_devices_help(void **unused)
{
    (void)unused;
    struct dfw_db *db;
    struct dfw_kernel_times *t;
    char dims[] = "n=640", none[] = "";
    struct dfr_work_key key = { .kernel = "f", .dims = dims, .scalars = none, .hash = 5, .job_bytes = 2560 };
    assert_int_equal(dfw_db_open(temp_file, true, &db, NULL), DF_OK);
    state = 9;
    for (unsigned n = 100; n < 2000; n += 100) {
        double erratic = noise(0.7);    /* data, not size */
        store(db, "cpu", "cpu", n, 1e-6 * n * erratic);
        store(db, "gpu", "G", n, 1e-7 * n * erratic);
    }
    struct dfw_kernel_points points = { 0 };
    assert_int_equal(dfw_points_load(db, "cpu", "cpu", "f", 5, &points.of[0], NULL), DF_OK);
    assert_int_equal(dfw_points_load(db, "G", "gpu", "f", 5, &points.of[1], NULL), DF_OK);
    assert_int_equal(dfw_kernel_times_new(&points, &t, NULL), DF_OK);
    assert_int_equal(dfw_estimator_count(dfw_kernel_estimator(t, DFW_SPEEDUP)), 19);
    assert_true(near(dfw_kernel_estimate(t, DF_CLASS_GPU, &key, 0.5), 0.05, 0.01));
    assert_true(near(dfw_kernel_estimate(t, DF_CLASS_CPU, &key, 0.5), 5, 0.01));
    double alone_s = dfw_kernel_estimate(t, DF_CLASS_GPU, &key, NAN);
    assert_true(alone_s > 1e-5 && alone_s < 4e-4);
    dfw_kernel_times_free(t);

    dfw_points_free(&points.of[1]);
    assert_int_equal(dfw_points_load(db, "another", "gpu", "f", 5, &points.of[1], NULL), DF_OK);
    assert_int_equal(dfw_kernel_times_new(&points, &t, NULL), DF_OK);
    assert_null(dfw_kernel_estimator(t, DFW_SPEEDUP));
    assert_true(isnan(dfw_kernel_estimate(t, DF_CLASS_GPU, &key, 0.5)));
    assert_true(dfw_kernel_estimate(t, DF_CLASS_CPU, &key, NAN) > 0);
    dfw_kernel_times_free(t);
    dfw_kernel_points_free(&points);
    dfw_db_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cubic_law_is_found),
        cmocka_unit_test(noise_and_spikes_do_little_harm),
        cmocka_unit_test(each_dimension_has_its_exponent),
        cmocka_unit_test(knn_is_as_published),
        cmocka_unit_test(speedups_are_easier_than_times),
        cmocka_unit_test(neighbours_win_where_no_law_holds),
        cmocka_unit_test(far_away_a_law_answers),
        cmocka_unit_test(words_match_or_do_not),
        cmocka_unit_test(one_or_two_samples_are_scaled),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(odd_observations_are_survived),
        cmocka_unit_test(other_devices_help),
    };
    return cmocka_run_group_tests_name("estimate", tests, temp_folder_make, temp_folder_remove);
}
