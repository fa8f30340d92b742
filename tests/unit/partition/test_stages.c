/* test_stages.c - mappings of pipelines: HeDPM's case study to the printed digits, times worked out by hand, and the search against
 * the enumeration.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "long.h"
#include "pipelines/pipeline_rig.h"
#include "partition/stages/map_text.h"

static bool near(double a, double b, double tolerance)
{
    if (fabs(a - b) <= tolerance)
        return true;
    print_error("%.9g is not within %g of %.9g\n", a, tolerance, b);
    return false;
}
#define NEAR(a, b, tolerance) assert_true(near(a, b, tolerance))

static struct dfp_pipeline make(uint32_t n_stages, uint32_t n_processors)
{
    struct dfp_pipeline l;
    struct df_error error;
    assert_int_equal(dfp_pipeline_new(n_stages, n_processors, &l, &error), DF_OK);
    return l;
}

/* ---- the case study of HeDPM, section 4.1 ---- */

static struct dfp_pipeline case_study(void)
{
    static const double speed[8] = { 27.4, 1.0, 20.0, 23.3, 1.0, 19.7, 15.5, 14.1 };
    static const double work[8] = { 6.0, 1.3, 2.5, 4.0, 20.3, 28.1, 19.1, 12.8 };
    struct dfp_pipeline l = make(8, 8);
    memcpy(l.speed, speed, sizeof speed);
    memcpy(l.work, work, sizeof work);
    for (uint32_t n = 0; n <= 8; n++)
        l.bytes[n] = 10;
    for (uint32_t a = 0; a <= 8; a++)
        for (uint32_t b = 0; b <= a; b++)
            dfp_pipeline_link(&l, a, b, a == 1 || b == 1 ? 5 : 10, a == 1 || b == 1 ? 0.2 : 0.1);
    dfp_pipeline_times(&l);
    return l;
}

static void test_case_study(void **state)
{
    static const uint32_t stages[8] = { 6, 5, 7, 8, 1, 4, 3, 2 }, processors[8] = { 4, 3, 6, 7, 8, 1, 2, 5 };
    static const struct { uint32_t first, n_stages, processor, n_processors; } steps[6] = {
        { 6, 1, 4, 1 }, { 5, 1, 3, 1 }, { 7, 1, 6, 1 }, { 8, 1, 7, 1 }, { 1, 3, 8, 1 }, { 4, 1, 1, 3 } };
    struct dfp_pipeline l = case_study();
    uint32_t by_time[8], by_power[8];
    struct dfp_mapping once, mapping;
    struct dfp_hedpm_log log;
    (void)state;
    dfp_hedpm_sort(&l, by_time, by_power);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(by_time[i] + 1, stages[i]);
        assert_int_equal(by_power[i] + 1, processors[i]);
    }
    assert_true(dfp_map_hedpm_once(&l, 1, &once, &log));
    assert_int_equal(log.n_steps, 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(log.steps[i].first + 1, steps[i].first);
        assert_int_equal(log.steps[i].n_stages, steps[i].n_stages);
        assert_int_equal(log.steps[i].processor + 1, steps[i].processor);
        assert_int_equal(log.steps[i].n_processors, steps[i].n_processors);
    }
    NEAR(log.steps[0].ideal_s, 3.2478, 0.00005);
    NEAR(log.steps[0].match_s, 3.5459, 0.00005);
    NEAR(log.steps[4].ideal_s, 3.0283, 0.00005);
    NEAR(log.steps[4].match_s, 2.9650, 0.00005);
    for (int i = 0; i < 5; i++)         /* the last match takes the least time, so Algorithm 4.2 looks further */
        assert_true(log.steps[5].match_s < log.steps[i].match_s);
    assert_int_equal(once.group_of[0], 1);          /* s4, behind s1 to s3, is on p1, p2 and p5 */
    assert_int_equal(once.group_of[1], 1);
    assert_int_equal(once.group_of[4], 1);
    assert_true(dfp_map_hedpm(&l, &mapping));
    assert_memory_equal(mapping.group_of, once.group_of, 8 * sizeof *once.group_of);
    dfp_pipeline_free(&l);
}

/* Algorithm 4.2 lowers the objective until the last match is not the least loaded. There the period is 5.08, and so the first
 * mapping stays. */
static void test_case_study_sweep(void **state)
{
    struct dfp_pipeline l = case_study();
    struct dfp_mapping mapping;
    struct dfp_hedpm_log log;
    (void)state;
    assert_true(dfp_map_hedpm_once(&l, 0.975, &mapping, &log));
    assert_true(log.steps[log.n_steps - 1].match_s < log.steps[log.n_steps - 2].match_s);
    assert_true(dfp_map_hedpm_once(&l, 0.95, &mapping, &log));
    NEAR(log.steps[log.n_steps - 1].match_s, 5.08, 0.005);
    NEAR(dfp_mapping_period_s(&l, &mapping, NULL), 5.08, 0.005);
    dfp_pipeline_free(&l);
}

/* ---- equations, by hand ---- */

/* Works 2, 6 and 4; processors of speed 1, 2 and 1; every transfer takes 0.5 + 1 s but those of 0 bytes; the link between the
 * second and the third processor has half the bandwidth. */
static struct dfp_pipeline small(void)
{
    struct dfp_pipeline l = make(3, 3);
    static const double work[3] = { 2, 6, 4 }, speed[3] = { 1, 2, 1 }, bytes[4] = { 0, 8, 8, 0 };
    memcpy(l.work, work, sizeof work);
    memcpy(l.speed, speed, sizeof speed);
    memcpy(l.bytes, bytes, sizeof bytes);
    for (uint32_t a = 0; a <= 3; a++)
        for (uint32_t b = 0; b <= a; b++)
            dfp_pipeline_link(&l, a, b, a == 3 && b == 2 ? 4 : 8, 0.5);
    dfp_pipeline_times(&l);
    return l;
}

static void test_period(void **state)
{
    struct dfp_pipeline l = small();
    struct dfp_mapping m;
    double group_s[3];
    (void)state;
    dfp_map_identity(&l, &m);
    NEAR(dfp_mapping_period_s(&l, &m, group_s), 7, 1e-12);      /* 1.5 + 6 / 2 + 0.5 + 8 / 4 */
    NEAR(group_s[0], 3.5, 1e-12);
    NEAR(group_s[1], 7, 1e-12);
    NEAR(group_s[2], 6.5, 1e-12);
    m = (struct dfp_mapping){ .n_groups = 2, .first = { 0, 1, 3 }, .group_of = { 1, 0, DFP_NO_GROUP } };
    NEAR(dfp_mapping_period_s(&l, &m, group_s), 11.5, 1e-12);   /* gathered: one transfer of 1.5, and 10 */
    m = (struct dfp_mapping){ .n_groups = 2, .first = { 0, 2, 3 }, .group_of = { 0, 1, 1 } };
    NEAR(dfp_mapping_period_s(&l, &m, group_s), 9.5, 1e-12);
    NEAR(group_s[1], (1.5 + 4) / 2, 1e-12);                     /* the slower of two, over 2 */
    l.feeding = DFP_BY_DEMAND;
    dfp_mapping_period_s(&l, &m, group_s);
    NEAR(group_s[1], 1 / (1 / 3.5 + 1 / 5.5), 1e-12);
    l.serial[1] = true;
    NEAR(dfp_pipeline_bound_s(&l), 3, 1e-12);                   /* 12 / 4, and 6 / 2 */
    l.work[1] = 8;
    dfp_pipeline_times(&l);
    NEAR(dfp_pipeline_bound_s(&l), 4, 1e-12);
    dfp_pipeline_free(&l);
}

/* The mean over links: B and c, each by itself. */
static void test_means(void **state)
{
    struct dfp_pipeline l = make(2, 3);
    const struct dfp_mapping m = { .n_groups = 2, .first = { 0, 1, 2 }, .group_of = { 0, 1, 1 } };
    double group_s[2];
    (void)state;
    l.bytes[1] = 12;
    dfp_pipeline_link(&l, 1, 2, 2, 0.1);
    dfp_pipeline_link(&l, 1, 3, 4, 0.3);
    for (int p = 0; p < 3; p++)
        l.speed[p] = 1;
    dfp_pipeline_times(&l);
    dfp_mapping_period_s(&l, &m, group_s);
    NEAR(group_s[0], 0.2 + 12.0 / 3, 1e-12);
    NEAR(group_s[1], (0.1 + 12.0 / 2) / 2, 1e-12);
    dfp_pipeline_free(&l);
}

static void test_valid(void **state)
{
    struct dfp_pipeline l = small();
    struct dfp_mapping m = { .n_groups = 2, .first = { 0, 1, 3 }, .group_of = { 0, 1, 0 } };
    (void)state;
    assert_true(dfp_mapping_is_valid(&l, &m));
    l.serial[0] = true;
    assert_false(dfp_mapping_is_valid(&l, &m));     /* a serial stage on two */
    l.serial[0] = false;
    m.group_of[2] = 1;
    assert_false(dfp_mapping_is_valid(&l, &m));     /* two stages on two */
    l.replicate_groups = true;
    assert_true(dfp_mapping_is_valid(&l, &m));
    l.serial[2] = true;
    assert_false(dfp_mapping_is_valid(&l, &m));     /* one of the two is serial */
    l.serial[2] = l.replicate_groups = false;
    m.group_of[1] = m.group_of[2] = DFP_NO_GROUP;
    assert_false(dfp_mapping_is_valid(&l, &m));     /* two stages on none */
    m.group_of[1] = 2;
    assert_false(dfp_mapping_is_valid(&l, &m));     /* a group that is not there */
    m = (struct dfp_mapping){ .n_groups = 1, .first = { 0, 2 }, .group_of = { 0, DFP_NO_GROUP, DFP_NO_GROUP } };
    assert_false(dfp_mapping_is_valid(&l, &m));     /* the last stage is left out */
    dfp_pipeline_free(&l);
}

/* ---- heuristics, by hand, without links ---- */

static struct dfp_pipeline without_links(uint32_t n_stages, uint32_t n_processors, const double *work, const double *speed)
{
    struct dfp_pipeline l = make(n_stages, n_processors);
    memcpy(l.work, work, n_stages * sizeof *work);
    memcpy(l.speed, speed, n_processors * sizeof *speed);
    dfp_pipeline_times(&l);
    return l;
}

static void test_identity(void **state)
{
    struct dfp_pipeline l = without_links(5, 2, (double[]){ 1, 1, 1, 1, 1 }, (double[]){ 1, 1 });
    struct dfp_mapping m;
    (void)state;
    dfp_map_identity(&l, &m);
    assert_true(dfp_mapping_is_valid(&l, &m) && m.n_groups == 2 && m.first[1] == 2);
    dfp_pipeline_free(&l);
    l = without_links(2, 5, (double[]){ 1, 1 }, (double[]){ 1, 1, 1, 1, 1 });
    dfp_map_identity(&l, &m);
    assert_true(dfp_mapping_is_valid(&l, &m) && m.n_groups == 2 && m.group_of[1] == 1 && m.group_of[2] == DFP_NO_GROUP);
    dfp_pipeline_free(&l);
}

/* The period 2 is the least: 4 on the processor of speed 2, then 1 and 1. */
static void test_bsc(void **state)
{
    struct dfp_pipeline l = without_links(3, 2, (double[]){ 4, 1, 1 }, (double[]){ 1, 2 });
    struct dfp_mapping m;
    (void)state;
    assert_true(dfp_map_bsc(&l, &m) && dfp_mapping_is_valid(&l, &m));
    NEAR(dfp_mapping_period_s(&l, &m, NULL), 2, 1e-9);
    assert_true(m.n_groups == 2 && m.first[1] == 1 && m.group_of[1] == 0 && m.group_of[0] == 1);
    dfp_pipeline_free(&l);
}

/* 12 on 4 processors: 3 is ideal. So 1 and 2 are gathered, and 9 gets the three that are left; a serial 9 gets one. */
static void test_dpm(void **state)
{
    struct dfp_pipeline l = without_links(3, 4, (double[]){ 1, 2, 9 }, (double[]){ 1, 1, 1, 1 });
    struct dfp_mapping m;
    (void)state;
    assert_true(dfp_map_dpm(&l, &m) && dfp_mapping_is_valid(&l, &m));
    assert_true(m.n_groups == 2 && m.first[1] == 2);
    NEAR(dfp_mapping_period_s(&l, &m, NULL), 3, 1e-12);
    l.serial[2] = true;
    assert_true(dfp_map_dpm(&l, &m) && dfp_mapping_is_valid(&l, &m));
    NEAR(dfp_mapping_period_s(&l, &m, NULL), 9, 1e-12);
    dfp_pipeline_free(&l);
    l = without_links(4, 2, (double[]){ 3, 3, 3, 3 }, (double[]){ 1, 1 }); /* more groups than processors */
    assert_true(dfp_map_dpm(&l, &m) && dfp_mapping_is_valid(&l, &m));
    NEAR(dfp_mapping_period_s(&l, &m, NULL), 6, 1e-12);
    dfp_pipeline_free(&l);
}

static void test_brute(void **state)
{
    struct dfp_pipeline l = without_links(3, 4, (double[]){ 1, 2, 9 }, (double[]){ 1, 1, 3, 1 });
    struct dfp_mapping m;
    uint64_t steps;
    (void)state;
    assert_true(dfp_map_brute(&l, 100000, &m, &steps) && dfp_mapping_is_valid(&l, &m));
    NEAR(dfp_mapping_period_s(&l, &m, NULL), 3, 1e-12); /* three of speed 1 for 9, or the one of speed 3 */
    assert_true(steps < 100000);
    assert_false(dfp_map_brute(&l, 10, &m, &steps));
    dfp_pipeline_free(&l);
    l = without_links(2, 1, (double[]){ 1, 2 }, (double[]){ 2 });
    assert_true(dfp_map_brute(&l, 100, &m, &steps));
    NEAR(dfp_mapping_period_s(&l, &m, NULL), 1.5, 1e-12);
    dfp_pipeline_free(&l);
    l = without_links(1, 12, (double[]){ 1 }, (double[]){ 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 });
    assert_true(dfp_map_brute(&l, 5000, &m, &steps) && steps == 4095); /* sets that are no better count, too */
    assert_false(dfp_map_brute(&l, 4000, &m, &steps));
    dfp_pipeline_free(&l);
}

/* ---- random pipelines ---- */

/* What all heuristics give, and after them ours. Gives how many of the five are there; those that are not have no groups. */
static void map_all(const struct dfp_pipeline *l, uint64_t budget, struct dfp_mapping maps[5])
{
    struct df_error error;
    dfp_map_identity(l, &maps[0]);
    assert_true(dfp_map_bsc(l, &maps[1]));
    assert_true(dfp_map_dpm(l, &maps[2]));
    if (!dfp_map_hedpm(l, &maps[3]))
        maps[3].n_groups = 0;
    assert_int_equal(dfp_map_search(l, maps, 4, budget, 1, &maps[4], &error), DF_OK);
    for (int i = 0; i < 5; i++)
        assert_true(!maps[i].n_groups || dfp_mapping_is_valid(l, &maps[i]));
}

/* 100 pipelines of 4 stages on 4 processors: ours is the best there is, and HeDPM is 40.8 % worse in its paper. */
static void test_optimal(void **state)
{
    struct draws draws = { 1 };
    const int n = IN_LONG(100, 40);
    double worse = 0;
    int found = 0;
    (void)state;
    for (int i = 0; i < n; i++) {
        struct dfp_pipeline l = make(4, 4);
        struct dfp_mapping maps[5], best;
        uint64_t steps;
        draw_pipeline(&draws, &l, true);
        map_all(&l, 0, maps);
        assert_true(dfp_map_brute(&l, 1000000, &best, &steps));
        double best_s = dfp_mapping_period_s(&l, &best, NULL);
        for (int k = 0; k < 5; k++)     /* the enumeration has left nothing out */
            assert_true(!maps[k].n_groups || dfp_mapping_period_s(&l, &maps[k], NULL) >= best_s * (1 - 1e-12));
        NEAR(dfp_mapping_period_s(&l, &maps[4], NULL), best_s, 1e-9 * best_s);
        if (maps[3].n_groups) {
            worse += 100 * (dfp_mapping_period_s(&l, &maps[3], NULL) / best_s - 1);
            found++;
        }
        dfp_pipeline_free(&l);
    }
    assert_true(found >= n * 95 / 100);
    NEAR(worse / found, 40.8, 10);
}

/* Groups with replicas: the search finds the optimum of the larger space, too. */
static void test_optimal_groups(void **state)
{
    struct draws draws = { 5 };
    (void)state;
    for (int i = 0; i < IN_LONG(20, 8); i++) {
        struct dfp_pipeline l = make(4, 4);
        struct dfp_mapping maps[5], best, alone;
        uint64_t steps;
        draw_pipeline(&draws, &l, true);
        l.serial[i % 4] = true;
        l.feeding = i % 2 ? DFP_BY_DEMAND : DFP_IN_ORDER;
        assert_true(dfp_map_brute(&l, 1000000, &alone, &steps));
        l.replicate_groups = true;
        map_all(&l, 0, maps);
        assert_true(dfp_map_brute(&l, 1000000, &best, &steps));
        double best_s = dfp_mapping_period_s(&l, &best, NULL);
        assert_true(best_s <= dfp_mapping_period_s(&l, &alone, NULL));
        NEAR(dfp_mapping_period_s(&l, &maps[4], NULL), best_s, 1e-9 * best_s);
        dfp_pipeline_free(&l);
    }
}

/* 30 stages, also with serial ones, fewer and more processors: ours is no worse than any, whatever the budget. */
static void test_never_worse(void **state)
{
    struct draws draws = { 7 };
    (void)state;
    for (uint32_t i = 0; i < 12; i++) {
        struct dfp_pipeline l = make(30, 10 + 30 * (i % 4));
        struct dfp_mapping maps[5];
        draw_pipeline(&draws, &l, i % 2);
        l.feeding = i % 3 == 2 ? DFP_BY_DEMAND : DFP_IN_ORDER;
        l.replicate_groups = i % 4 == 3;
        for (uint32_t n = 0; n < 30; n++)
            l.serial[n] = i >= 6 && n % 5 == 0;
        map_all(&l, i < 2 ? 1 : 3000, maps);
        for (int k = 0; k < 4; k++)
            assert_true(!maps[k].n_groups ||
                        dfp_mapping_period_s(&l, &maps[4], NULL) <= dfp_mapping_period_s(&l, &maps[k], NULL));
        assert_true(dfp_mapping_period_s(&l, &maps[4], NULL) >= dfp_pipeline_bound_s(&l) * (1 - 1e-12));
        dfp_pipeline_free(&l);
    }
}

/* ---- in virtual time ---- */

/* In order the equations are exact. By demand, replicas come as near to the sum of their rates as whole waves let them. */
static void test_run(void **state)
{
    struct draws draws = { 3 };
    (void)state;
    for (int i = 0; i < 10; i++) {
        struct dfp_pipeline l = make(5, 12);
        struct dfp_mapping maps[5];
        struct df_error error;
        draw_pipeline(&draws, &l, true);
        l.feeding = i % 2 ? DFP_BY_DEMAND : DFP_IN_ORDER;
        map_all(&l, 3000, maps);
        for (int k = 0; k < 5; k++) {
            double run_s, period_s = maps[k].n_groups ? dfp_mapping_period_s(&l, &maps[k], NULL) : 0;
            if (!maps[k].n_groups)
                continue;
            assert_int_equal(dfp_mapping_run(&l, &maps[k], &run_s, &error), DF_OK);
            NEAR(run_s, period_s, (i % 2 ? 0.03 : 0.005) * period_s);
        }
        dfp_pipeline_free(&l);
    }
}

/* Two replicas of 1 and 3 s: in order a wave every 1.5 s, by demand three waves in 3 s on the one and one on the other. */
static void test_run_by_hand(void **state)
{
    struct dfp_pipeline l = without_links(1, 2, (double[]){ 3 }, (double[]){ 3, 1 });
    const struct dfp_mapping m = { .n_groups = 1, .first = { 0, 1 }, .group_of = { 0, 0 } };
    struct df_error error;
    double run_s;
    (void)state;
    assert_int_equal(dfp_mapping_run(&l, &m, &run_s, &error), DF_OK);
    NEAR(run_s, 1.5, 0.002);
    l.feeding = DFP_BY_DEMAND;
    assert_int_equal(dfp_mapping_run(&l, &m, &run_s, &error), DF_OK);
    NEAR(run_s, 0.75, 0.002);
    dfp_pipeline_free(&l);
}

/* ---- as text ---- */

static const char *const stage_names[] = { "load", "segment#2", "rank" }, *const processor_names[] = { "a", "b.0", "b.1" };
static const struct dfp_map_names all_names = { stage_names, processor_names };

static bool read_text(const struct dfp_pipeline *l, const char *text, struct dfp_mapping *m, struct dfr_map_wrong *wrong)
{
    enum dfp_feeding feeding;
    memset(wrong, 0, sizeof *wrong);
    return dfp_map_read(l, &all_names, text, strlen(text), m, &feeding, wrong);
}

static void test_text(void **state)
{
    struct dfp_pipeline l = small();
    struct dfp_mapping m = { .n_groups = 2, .first = { 0, 2, 3 }, .group_of = { 1, 0, 1 } }, back;
    struct dfr_map_wrong wrong;
    enum dfp_feeding feeding;
    char *text = NULL;
    size_t size;
    (void)state;
    l.feeding = DFP_BY_DEMAND;
    FILE *out = open_memstream(&text, &size);
    dfp_map_write(&l, &m, &all_names, out);
    fclose(out);
    assert_string_equal(text, "feeding demand\nload segment#2: b.0\nrank: a b.1\n");
    assert_true(dfp_map_read(&l, &all_names, text, size, &back, &feeding, &wrong));
    assert_true(dfp_mapping_is_valid(&l, &back) && feeding == DFP_BY_DEMAND);
    assert_memory_equal(back.first, m.first, 3 * sizeof *m.first);
    assert_memory_equal(back.group_of, m.group_of, 3 * sizeof *m.group_of);
    free(text);
    assert_true(read_text(&l, "# words\r\n\n load  segment#2 :b.0 # more\nrank:\ta b.1", &back, &wrong));
    assert_memory_equal(back.group_of, m.group_of, 3 * sizeof *m.group_of);
    dfp_pipeline_free(&l);
}

/* A stage may be called "feeding", and stand in the first line with others. */
static void test_text_feeding(void **state)
{
    static const char *const names[] = { "feeding", "order", "rank" };
    struct dfp_pipeline l = small();
    struct dfp_mapping m;
    struct dfr_map_wrong wrong;
    enum dfp_feeding feeding;
    const char text[] = "feeding demand\nfeeding order: b.0\nrank: a b.1\n";
    (void)state;
    assert_true(dfp_map_read(&l, &(struct dfp_map_names){ names, processor_names }, text, sizeof text - 1, &m, &feeding, &wrong));
    assert_true(dfp_mapping_is_valid(&l, &m) && m.n_groups == 2 && feeding == DFP_BY_DEMAND);
    dfp_pipeline_free(&l);
}

static void test_wrong_text(void **state)
{
    static const struct { const char *text; uint32_t line, col, end_col; const char *message; } wrong[] = {
        { "", 1, 1, 2, "stage 'load' has no processor" },
        { "load: a\n", 1, 1, 2, "stage 'segment#2' has no processor" },
        { "lod: a\n", 1, 1, 4, "there is no stage 'lod'" },
        { "\nload: c\n", 2, 7, 8, "there is no processor 'c'" },
        { "load: a\nload: b.0\n", 2, 1, 5, "stage 'load' stands here a second time, or too late" },
        { "load rank: a\n", 1, 6, 10, "stage 'rank' stands here too early" },
        { "load: a\nsegment#2: a\n", 2, 12, 13, "processor 'a' has stages already" },
        { "load segment#2: a b.0\n", 1, 19, 22, "processor 'b.0' is one too many" },
        { "load: a b.0 b.1\n", 1, 9, 12, "processor 'b.0' is one too many" },
        { "load:\n", 1, 6, 7, "a processor is missing behind ':'" },
        { "load a\n", 1, 6, 7, "there is no stage 'a'" },
        { "load\n", 1, 5, 6, "':' is missing" },
        { ": a\n", 1, 1, 2, "a stage is missing before ':'" },
        { "load: a : b.0\n", 1, 9, 10, "a second ':' in a line" },
        { "feeding often\n", 1, 9, 14, "'often' is no way of feeding" },
        { "feeding order please\n", 1, 15, 21, "'please' is one word too many" },
    };
    struct dfp_pipeline l = small();
    struct dfp_mapping m;
    (void)state;
    l.serial[0] = true;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct dfr_map_wrong found;
        assert_false(read_text(&l, wrong[i].text, &m, &found));
        assert_string_equal(found.message, wrong[i].message);
        assert_int_equal(found.line, wrong[i].line);
        assert_int_equal(found.col, wrong[i].col);
        assert_int_equal(found.end_col, wrong[i].end_col);
    }
    dfp_pipeline_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_case_study), cmocka_unit_test(test_case_study_sweep), cmocka_unit_test(test_period),
        cmocka_unit_test(test_means),      cmocka_unit_test(test_valid),            cmocka_unit_test(test_identity),
        cmocka_unit_test(test_bsc),        cmocka_unit_test(test_dpm),              cmocka_unit_test(test_brute),
        cmocka_unit_test(test_optimal),    cmocka_unit_test(test_never_worse),      cmocka_unit_test(test_run),
        cmocka_unit_test(test_optimal_groups), cmocka_unit_test(test_run_by_hand), cmocka_unit_test(test_text),            cmocka_unit_test(test_wrong_text),
        cmocka_unit_test(test_text_feeding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
