/* test_demand.c - demand and sensitivity from two slowdowns, and the way from samples in the database to the times of a
 * graph. The model is that of simulate.h. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "profiles/profiles.h"

#define B 20e9

static void near(double value, double expected)
{
    if (fabs(value - expected) > 1e-9 * fabs(expected) + 1e-12)
        fail_msg("%.12g, not %.12g", value, expected);
}

/* What the model says of demand x (in shares of B) and sensitivity s. */
static struct dfw_slowdown model(uint32_t n, double x, double s, double triads)
{
    return (struct dfw_slowdown){ n, 1 + s * fmax(0, n * x - 1), 1 + s * fmax(0, x + triads - 1), triads };
}

static struct df_demand fit(struct dfw_slowdown slowdown)
{
    struct df_demand demand = { -1, -1 };
    assert_true(dfw_demand_fit(&slowdown, B, &demand));
    return demand;
}

static void what_the_model_says_is_found_again(void **state)
{
    static const struct {
        uint32_t n;
        double x, s, triads;
    } cases[] = { { 2, 1, 1, 0.9 },     { 2, 0.7, 1, 0.9 }, { 2, 0.8, 0.5, 0.6 }, { 8, 0.3, 0.9, 1.7 }, { 64, 0.1, 0.25, 6 },
                  { 64, 0.03, 1, 12.5 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct df_demand d = fit(model(cases[i].n, cases[i].x, cases[i].s, cases[i].triads));
        near(d.bytes_per_s, cases[i].x * B);
        near(d.sensitivity, cases[i].s);
    }
}

static void one_number_that_is_left_open(void **state)
{
    (void)state;
    struct df_demand d = fit((struct dfw_slowdown){ 4, 1, 1.5, 1.4 }); /* only the triad: all of its time, x 0.1 */
    near(d.sensitivity, 1);
    near(d.bytes_per_s, 0.1 * B);
    d = fit((struct dfw_slowdown){ 4, 1, 1.5, 3 });         /* that would be below 0: it draws nothing */
    near(d.sensitivity, 0.25);
    near(d.bytes_per_s, 0);
    d = fit((struct dfw_slowdown){ 4, 1, 3, 1.2 });         /* four of it would slow each other: at most a quarter */
    near(d.sensitivity, 1);
    near(d.bytes_per_s, 0.25 * B);
    d = fit((struct dfw_slowdown){ 2, 1.6, NAN, 0 });       /* a run says nothing of the triad */
    near(d.sensitivity, 1);
    near(d.bytes_per_s, 0.8 * B);
    d = fit((struct dfw_slowdown){ 2, 1.6, 1, 0.9 });       /* the triad does nothing */
    near(d.sensitivity, 1);
    near(d.bytes_per_s, 0.8 * B);
    d = fit((struct dfw_slowdown){ 4, NAN, 1.5, 1.2 });     /* it never runs beside itself: no quarter bounds it */
    near(d.sensitivity, 1);
    near(d.bytes_per_s, 0.3 * B);
    d = fit((struct dfw_slowdown){ 2, NAN, 3, 0.9 });
    near(d.sensitivity, 1);
    near(d.bytes_per_s, B);
    d = fit((struct dfw_slowdown){ 2, 9, 1.1, 0.9 });       /* one has no more than all */
    near(d.sensitivity, 1);
    near(d.bytes_per_s, B);
}

static void noise_is_no_demand(void **state)
{
    (void)state;
    struct df_demand d;
    assert_false(dfw_demand_fit(&(struct dfw_slowdown){ 2, NAN, 1.015, 0.9 }, B, &d));
    assert_false(dfw_demand_fit(&(struct dfw_slowdown){ 4, 1.01, 1.015, 2 }, B, &d));
    assert_false(dfw_demand_fit(&(struct dfw_slowdown){ 2, 1.02, 1.03, 0.55 }, B, &d)); /* or it would draw half of B */
    assert_false(dfw_demand_fit(&(struct dfw_slowdown){ 4, 0.8, 0.7, 2 }, B, &d));
    assert_false(dfw_demand_fit(&(struct dfw_slowdown){ 1, 2, 2, 2 }, B, &d)); /* beside nobody */
}

/* Whatever is measured, what comes out is a demand, and the slowdown beside itself is met as far as x may be. */
static void anything_gives_a_demand_in_range(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 64; n *= 2)
        for (double self = 0.5; self < 8; self += 0.37)
            for (double triad = 0.5; triad < 8; triad += 0.41)
                for (double triads = 0; triads < 9; triads += 0.7) {
                    struct df_demand d;
                    if (!dfw_demand_fit(&(struct dfw_slowdown){ n, self, triad, triads }, B, &d))
                        continue;
                    double x = d.bytes_per_s / B;
                    assert_true(x >= 0 && x <= 1 && d.sensitivity > 0 && d.sensitivity <= 1);
                    if (self >= 1.02 && self <= n)
                        near(1 + d.sensitivity * fmax(0, n * x - 1), self);
                }
}

/* ---- from the database ---- */

static char path[] = "/tmp/dfc-demand-XXXXXX";

static void execute(const char *sql)
{
    sqlite3 *sqlite;
    assert_int_equal(sqlite3_open(path, &sqlite), SQLITE_OK);
    if (sqlite3_exec(sqlite, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(sqlite));
    sqlite3_close(sqlite);
}

static struct dfw_db *open_db(void)
{
    struct dfw_db *db;
    assert_int_equal(dfw_db_open(path, true, &db, NULL), DF_OK);
    return db;
}

static const struct dfw_key key = { .device = "cpu", .variant = "cpu",
                                    .work = { .kernel = "k", .dims = (char *)(uintptr_t)"n=1",
                                              .scalars = (char *)(uintptr_t)"", .hash = 7, .job_bytes = 8 } };

static void store(struct dfw_db *db, double mean_s, const struct dfr_load *load)
{
    struct dfr_sample sample = { .mean_s = mean_s, .ci_s = NAN, .runs = 10 };
    assert_int_equal(load ? dfw_sample_store_loaded(db, &key, &sample, load, NULL)
                          : dfw_sample_store(db, &key, &sample, NULL), DF_OK);
}

static struct dfw_point point(struct dfw_db *db)
{
    struct dfw_points points;
    assert_int_equal(dfw_points_load(db, "cpu", "cpu", "k", 7, &points, NULL), DF_OK);
    assert_int_equal(points.n, 1);
    struct dfw_point p = points.at[0];
    dfw_points_free(&points);
    return p;
}

static void note_loaded(void *arg, const struct dfw_key *found)
{
    *(bool *)arg = found->loaded;
}

static void samples_under_load_give_a_demand(void **state)
{
    (void)state;
    struct dfw_db *db = open_db();
    bool known_loaded = true;
    store(db, 2e-3, NULL);
    near(point(db).mean_s, 2e-3);
    near(point(db).demand.bytes_per_s, 0);
    assert_int_equal(dfw_sample_each(db, note_loaded, &known_loaded, NULL), DF_OK);
    assert_false(known_loaded);
    store(db, 2e-3, &(struct dfr_load){ 2, 3e-3, 2.8e-3, 16e9, B }); /* x 0.75, y 0.8: 1.5 and 1.55 times at s = 1 */
    assert_int_equal(dfw_sample_each(db, note_loaded, &known_loaded, NULL), DF_OK);
    assert_true(known_loaded);
    struct dfw_point p = point(db);
    near(p.mean_s, 2e-3);
    near(p.demand.bytes_per_s, fit((struct dfw_slowdown){ 2, 1.5, 1.4, 0.8 }).bytes_per_s);
    store(db, 2e-3, &(struct dfr_load){ 4, 6e-3, 4e-3, 16e9, B }); /* of more workers: this counts */
    near(point(db).demand.bytes_per_s, fit((struct dfw_slowdown){ 4, 3, 2, 2.4 }).bytes_per_s);
    dfw_db_close(db);
    execute("UPDATE loads SET triad_s = -1");   /* rows that make no sense are passed over */
    db = open_db();
    near(point(db).demand.bytes_per_s, 0);
    dfw_db_close(db);
    execute("DELETE FROM loads; DELETE FROM samples");
}

static double bandwidth(struct dfw_db *db)
{
    struct df_platform loaded;
    bool found;
    assert_int_equal(dfw_platform_load_for(db, false, &loaded, &found, NULL), DF_OK);
    for (unsigned i = 0; i < DF_BANDWIDTHS; i++)
        assert_true(loaded.units[0].figures.bytes_per_s[i] <= loaded.units[0].memory_bytes_per_s);
    return loaded.units[0].memory_bytes_per_s;
}

/* The bandwidth is what the probe or a sample under load found last, and a demand stays the same share of it. */
static void the_latest_bandwidth_counts(void **state)
{
    struct df_platform platform = { .n_units = 1, .n_classes = 1, .class_names = { "cpu" } };
    struct dfw_figures figures = { .n = 2, .threads = { 1, 2 } };
    const double share = fit((struct dfw_slowdown){ 2, 1.5, 1.4, 0.8 }).bytes_per_s / B;
    (void)state;
    figures.per_s[0][DFW_TRIAD] = 0.4 * B;
    figures.per_s[1][DFW_TRIAD] = 0.5 * B;
    platform.units[0] = (struct df_unit){ .workers = 2, .memory_bytes_per_s = 0.5 * B };
    struct dfw_db *db = open_db();
    assert_int_equal(dfw_platform_store(db, &platform, NULL, &figures, false, NULL), DF_OK);
    near(bandwidth(db), 0.5 * B);
    store(db, 2e-3, &(struct dfr_load){ 2, 3e-3, 2.8e-3, 0.8 * B, B });
    near(bandwidth(db), B);
    near(point(db).demand.bytes_per_s, share * B);
    for (int i = 0; i < 2; i++)
        store(db, 2e-3, &(struct dfr_load){ 2, 3e-3, 2.8e-3, 0.24 * B, 0.3 * B });
    near(bandwidth(db), 0.3 * B);       /* less than the probe found of one thread */
    near(point(db).demand.bytes_per_s, share * 0.3 * B);
    store(db, 2e-3, &(struct dfr_load){ 2, NAN, NAN, NAN, NAN }); /* a run's has none */
    near(bandwidth(db), 0.3 * B);
    execute("UPDATE loads SET all_bytes_per_s = 1e300 WHERE sample = 3");
    near(bandwidth(db), 0.3 * B);       /* the set before it */
    execute("UPDATE samples SET time = time - 9");
    near(bandwidth(db), 0.5 * B);       /* the probe is newer now */
    near(point(db).demand.bytes_per_s, share * 0.5 * B);
    execute("UPDATE samples SET time = time + 18, machine = 'another'");
    near(bandwidth(db), 0.5 * B);
    dfw_db_close(db);
    execute("DELETE FROM loads; DELETE FROM samples; DELETE FROM platforms; DELETE FROM units; DELETE FROM bandwidths;"
            " DELETE FROM handovers; DELETE FROM figures");
}

/* A run's samples are loaded ones. They give a demand if the same was measured alone, and the bandwidth is known. */
static void samples_of_runs_give_a_demand(void **state)
{
    static const struct dfr_load in_run = { 2, NAN, NAN, NAN, NAN };
    struct df_platform platform = { .n_units = 1, .n_classes = 1, .class_names = { "cpu" } };
    (void)state;
    struct dfw_db *db = open_db();
    store(db, 3e-3, &in_run);
    near(point(db).mean_s, 3e-3);
    near(point(db).demand.bytes_per_s, 0);
    store(db, 2e-3, NULL);
    near(point(db).mean_s, 2.5e-3);     /* as always: nobody knows the bandwidth */
    platform.units[0] = (struct df_unit){ .workers = 2, .memory_bytes_per_s = B };
    assert_int_equal(dfw_platform_store(db, &platform, NULL, NULL, false, NULL), DF_OK);
    near(point(db).mean_s, 2e-3);       /* alone */
    near(point(db).demand.bytes_per_s, 0.75 * B);
    near(point(db).demand.sensitivity, 1);
    dfw_db_close(db);
}

/* A sample whose load cannot be stored is not stored either, and nothing stays locked. */
static void a_sample_and_its_load_are_stored_together(void **state)
{
    static const struct dfr_load in_run = { 2, NAN, NAN, NAN, NAN };
    const struct dfr_sample sample = { .mean_s = 9e-3, .ci_s = NAN, .runs = 10 };
    struct dfw_points points;
    struct df_error error;
    (void)state;
    execute("DELETE FROM loads; DELETE FROM samples");
    execute("CREATE TRIGGER full BEFORE INSERT ON loads BEGIN SELECT RAISE(ABORT, 'no room'); END");
    struct dfw_db *db = open_db();
    assert_int_equal(dfw_sample_store_loaded(db, &key, &sample, &in_run, &error), DF_E_IO);
    assert_non_null(strstr(error.text, "cannot store a sample: no room"));
    assert_int_equal(dfw_points_load(db, "cpu", "cpu", "k", 7, &points, NULL), DF_OK);
    assert_int_equal(points.n, 0);
    dfw_points_free(&points);
    execute("DROP TRIGGER full");
    store(db, 9e-3, &in_run);
    near(point(db).mean_s, 9e-3);
    dfw_db_close(db);
}

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    char other[sizeof path + 4];
    for (int i = 0; i < 3; i++) {
        snprintf(other, sizeof other, "%s%s", path, (const char *[]){ "", "-wal", "-shm" }[i]);
        unlink(other);
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_model_says_is_found_again),
        cmocka_unit_test(one_number_that_is_left_open),
        cmocka_unit_test(noise_is_no_demand),
        cmocka_unit_test(anything_gives_a_demand_in_range),
        cmocka_unit_test(samples_under_load_give_a_demand),
        cmocka_unit_test(the_latest_bandwidth_counts),
        cmocka_unit_test(samples_of_runs_give_a_demand),
        cmocka_unit_test(a_sample_and_its_load_are_stored_together),
    };
    return cmocka_run_group_tests_name("demand", tests, make_file, remove_file);
}
