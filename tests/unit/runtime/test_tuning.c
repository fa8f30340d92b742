/* test_tuning.c - the tuner alone: what it asks, when, and what it makes of the answers. The mapping that is offered is given by each test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "runtime/tuning/estimate.h"
#include "runtime/tuning/explain.h"
#include "runtime/tuning/tuning.h"

/* ---- estimates ---- */

static void test_disturbances(void **state)
{
    struct dfr_estimate e = { .n = 0 };
    (void)state;
    for (int i = 0; i < 100; i++)
        assert_false(dfr_estimate_add(&e, i % 25 < 3 ? 5 : 0.01 * (i % 3))); /* three waves of each 25 take 150 times as long */
    assert_true(fabs(e.median) <= 0.02);
}

static void test_jump(void **state)
{
    struct dfr_estimate e = { .n = 0 };
    int after = 0;
    (void)state;
    for (int i = 0; i < 50; i++)
        assert_false(dfr_estimate_add(&e, 0.05 * (i % 3 - 1)));
    while (!dfr_estimate_add(&e, 1.1 + 0.05 * (after % 3 - 1)))
        after++;
    assert_int_equal(after, DFR_ESTIMATE_FEW - 2); /* the sixth value of seven */
    assert_true(fabs(e.median - 1.1) < 0.06);
}

static void test_slow_drift(void **state)
{
    struct dfr_estimate e = { .n = 0 };
    (void)state;
    for (int i = 0; i < 300; i++)
        assert_false(dfr_estimate_add(&e, 0.001 * i + 0.2 * (i % 2)));
    assert_true(e.median > 0.25 && e.median < 0.5);
}

/* ---- explanations ---- */

static void test_explain(void **state)
{
    /* stage 0 takes twice as long (0.7), processor 3 three times (1.1); 9 means nothing is known */
    double table[3 * 4] = { 0.7, 0.7, 9, 1.8, 0, 9, 0, 1.1, 9, 9, 0, 1.1 }, of_stage[3], of_processor[4], scratch[14];
    float weight[3 * 4];
    (void)state;
    for (int i = 0; i < 12; i++)
        weight[i] = table[i] < 9;
    dfr_explain(3, 4, table, weight, 0.02, of_stage, of_processor, scratch);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(of_stage[i] - (i == 0 ? 0.7 : 0)) < 1e-9);
    for (int i = 0; i < 4; i++)
        assert_true(fabs(of_processor[i] - (i == 3 ? 1.1 : 0)) < 1e-9);
}

/* Stage 2 alone would explain as much as processor 1, which has two stages that are slow, and one that got quick. */
static void test_explain_more(void **state)
{
    double table[3 * 3] = { -0.8, 0, 9, 9, 0.8, 0, 9, 0.8, 9 }, of_stage[3], of_processor[3], scratch[12];
    float weight[3 * 3];
    (void)state;
    for (int i = 0; i < 9; i++)
        weight[i] = table[i] < 9 ? i == 0 ? 0.5f : 1 : 0;
    dfr_explain(3, 3, table, weight, 0.02, of_stage, of_processor, scratch);
    assert_true(fabs(of_processor[1] - 0.8) < 1e-9);
    for (int i = 1; i < 3; i++)
        assert_true(fabs(of_stage[i]) < 1e-9);
}

/* ---- the tuner ---- */

enum { STAGES = 3, PROCESSORS = 4 };

struct desk {
    struct dfr_tuner *tuner;
    struct dfr_tuner_offer offer;       /* what is offered */
    uint32_t of_stage[STAGES], of_processor[PROCESSORS];
    double time_s[STAGES * PROCESSORS]; /* that were asked with */
    unsigned questions;
    int64_t waves, rest;
    double taken_s[STAGES * PROCESSORS]; /* what waves take */
};

static int offer(void *context, const double *time_s, int64_t rest, const struct dfr_tuner_map *present, struct dfr_tuner_offer *given, struct df_error *error)
{
    struct desk *d = context;
    (void)rest;
    (void)present;
    (void)error;
    d->questions++;
    memcpy(d->time_s, time_s, sizeof d->time_s);
    given->now_s = d->offer.now_s;
    given->new_s = d->offer.new_s;
    given->move_s = d->offer.move_s;
    memcpy(given->map.of_stage, d->of_stage, sizeof d->of_stage);
    memcpy(given->map.of_processor, d->of_processor, sizeof d->of_processor);
    return DF_OK;
}

/* Stage n on processor n, the last processor idle; each stage takes 1 s. What is offered: stage 2 on the last two processors. */
static struct desk *open_desk(struct desk *d)
{
    static const char *const stages[] = { "load", "rank", "save" }, *const processors[] = { "a", "b", "c", "d" };
    static uint32_t of_stage[] = { 0, 1, 2 }, of_processor[] = { 0, 1, 2, UINT32_MAX };
    struct df_error error;
    *d = (struct desk){ .offer = { .now_s = 3, .new_s = 1.5 }, .of_stage = { 0, 1, 2 }, .of_processor = { 0, 1, 2, 2 }, .rest = 1000 };
    for (int i = 0; i < STAGES * PROCESSORS; i++)
        d->taken_s[i] = 1;
    const struct dfr_tuner_shape shape = { STAGES, PROCESSORS, stages, processors, d->taken_s, { of_stage, of_processor }, offer, d,
                                           .rules = dfr_tuner_defaults };
    assert_int_equal(dfr_tuner_new(&shape, &d->tuner, &error), DF_OK);
    return d;
}

/* Runs waves until something is said, at most so many. */
static enum dfr_tuner_step run(struct desk *d, int n)
{
    enum dfr_tuner_step step = DFR_TUNER_NOTHING;
    struct df_error error;
    for (int i = 0; i < n && step == DFR_TUNER_NOTHING; i++) {
        const struct dfr_tuner_map *map = dfr_tuner_map(d->tuner);
        for (uint32_t s = 0; s < STAGES; s++)
            for (uint32_t p = 0; p < PROCESSORS; p++)
                if (map->of_stage[s] == map->of_processor[p])
                    dfr_tuner_measured(d->tuner, d->waves, s, p, d->taken_s[s * PROCESSORS + p]);
        assert_int_equal(dfr_tuner_ended(d->tuner, ++d->waves, 4, d->rest, &step, &error), DF_OK);
    }
    return step;
}

static void slow_down(struct desk *d, int stage, int processor, double factor)
{
    for (int s = 0; s < STAGES; s++)
        for (int p = 0; p < PROCESSORS; p++)
            if ((stage < 0 || s == stage) && (processor < 0 || p == processor))
                d->taken_s[s * PROCESSORS + p] *= factor;
}

static void test_changes(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    assert_int_equal(run(&d, 200), DFR_TUNER_NOTHING);
    assert_int_equal(d.questions, 0);
    slow_down(&d, 2, -1, 3);
    assert_int_equal(run(&d, 50), DFR_TUNER_CHANGES);
    assert_int_equal(d.waves, 206);
    assert_string_equal(dfr_tuner_why(d.tuner),
                        "stage 'save' takes 3.00 times as long as was counted with: a new mapping, with a wave every 1.50 s instead of 3.00 s");
    for (int p = 0; p < PROCESSORS; p++) { /* nothing was measured of it elsewhere, and it is taken to be as slow there */
        assert_true(fabs(d.time_s[2 * PROCESSORS + p] - 3) < 1e-6);
        assert_true(fabs(d.time_s[PROCESSORS + p] - 1) < 1e-6);
    }
    assert_int_equal(dfr_tuner_map(d.tuner)->of_processor[3], 2);
    d.offer.new_s = 3;
    assert_int_equal(run(&d, 100), DFR_TUNER_NOTHING);
    d.offer.new_s = 2;
    assert_int_equal(run(&d, 32), DFR_TUNER_CHANGES);
    assert_string_equal(dfr_tuner_why(d.tuner), "another search with the same times was luckier: a new mapping, with a wave every 2.00 s instead of 3.00 s");
    dfr_tuner_free(d.tuner);
}

static void test_one_disturbance(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    assert_int_equal(run(&d, 100), DFR_TUNER_NOTHING);
    for (int i = 0; i < 5; i++) {
        slow_down(&d, i % 3, -1, 50);
        assert_int_equal(run(&d, 1), DFR_TUNER_NOTHING);
        slow_down(&d, i % 3, -1, 1 / 50.0);
        assert_int_equal(run(&d, 20), DFR_TUNER_NOTHING);
    }
    assert_int_equal(d.questions, 0);
    dfr_tuner_free(d.tuner);
}

static void test_hysteresis(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    d.offer.new_s = 2.95;
    slow_down(&d, 2, -1, 3);
    assert_int_equal(run(&d, 50), DFR_TUNER_STAYS);
    assert_string_equal(dfr_tuner_why(d.tuner),
                        "stage 'save' takes 3.00 times as long as was counted with: the mapping stays, since no other is 2 % faster than a wave every 3.00 s");
    unsigned before = d.questions;
    assert_int_equal(run(&d, 500), DFR_TUNER_NOTHING); /* it is counted with now */
    assert_int_equal(d.questions, before + 8);
    dfr_tuner_free(d.tuner);
}

/* Lets stage 2 take half as long again for 25 waves, and as before for 25. Gives the changes. */
static unsigned swing(struct desk *d, int times)
{
    unsigned changes = 0;
    for (int i = 0; i < times; i++) {
        slow_down(d, 2, -1, i % 2 ? 1 / 1.5 : 1.5);
        for (int wave = 0; wave < 25; wave++)
            changes += run(d, 1) == DFR_TUNER_CHANGES;
    }
    return changes;
}

/* Times that swing to and fro are followed until it is known that they do not last. What drifts further than they swing still leads to a change. */
static void test_swings(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    d.offer.new_s = 2.3;
    assert_int_equal(run(&d, 100), DFR_TUNER_NOTHING);
    assert_true(swing(&d, 40) > 10);
    assert_int_equal(swing(&d, 40), 0);
    assert_non_null(strstr(dfr_tuner_why(d.tuner), "a wave every 2.30 s instead of 3.00 s does not make up for the change as long as times last lately"));
    d.offer.new_s = 1.5;
    slow_down(&d, 2, -1, 3);
    assert_int_equal(run(&d, 25), DFR_TUNER_CHANGES);
    assert_int_equal(run(&d, 1000), DFR_TUNER_CHANGES); /* another search */
    d.offer.new_s = 2.3;
    run(&d, 1000);
    slow_down(&d, 2, -1, 1.5);
    assert_int_equal(run(&d, 25), DFR_TUNER_CHANGES); /* the swings are over */
    dfr_tuner_free(d.tuner);
}

static void test_few_waves_left(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    d.rest = 4;                         /* 4 times 1.5 s are gained, and 4 waves of 1.5 s each are in flight */
    slow_down(&d, 2, -1, 3);
    assert_int_equal(run(&d, 50), DFR_TUNER_STAYS);
    assert_non_null(strstr(dfr_tuner_why(d.tuner), "does not make up for the change in the waves that are left"));
    d.rest = 5;
    slow_down(&d, 2, -1, 1.5);
    assert_int_equal(run(&d, 50), DFR_TUNER_CHANGES);
    dfr_tuner_free(d.tuner);
}

static void test_state_that_moves(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    d.rest = -1;                        /* not known, and taken for 1000 */
    d.offer.move_s = 1494;
    slow_down(&d, 2, -1, 3);
    assert_int_equal(run(&d, 50), DFR_TUNER_STAYS);
    d.offer.move_s = 1493;
    slow_down(&d, 2, -1, 1.5);
    assert_int_equal(run(&d, 50), DFR_TUNER_CHANGES);
    dfr_tuner_free(d.tuner);
}

/* A stage that has two processors: if one is slow, that one is; if both are, the stage is. */
static void test_replicas(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    slow_down(&d, 2, -1, 3);
    assert_int_equal(run(&d, 50), DFR_TUNER_CHANGES);
    d.offer.new_s = 3;
    assert_int_equal(run(&d, 50), DFR_TUNER_NOTHING);
    slow_down(&d, -1, 3, 2);
    assert_int_equal(run(&d, 50), DFR_TUNER_STAYS);
    assert_true(fabs(d.time_s[2 * PROCESSORS + 3] - 6) < 1e-6 && fabs(d.time_s[2 * PROCESSORS + 2] - 3) < 1e-6);
    assert_non_null(strstr(dfr_tuner_why(d.tuner), "processor 'd' takes 2.00 times as long"));
    slow_down(&d, 2, -1, 2);
    assert_int_equal(run(&d, 50), DFR_TUNER_STAYS);
    assert_true(fabs(d.time_s[2 * PROCESSORS + 3] - 12) < 1e-6 && fabs(d.time_s[2 * PROCESSORS] - 6) < 1e-6);
    dfr_tuner_free(d.tuner);
}

/* A processor that is slow is first taken for a slow stage. On another processor the stage is quick, and so the processor is known to be slow for
 * all stages, until that lapses. */
static void test_slow_processor(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    d.of_processor[2] = UINT32_MAX;
    slow_down(&d, -1, 2, 3);
    assert_int_equal(run(&d, 50), DFR_TUNER_CHANGES);
    d.offer.new_s = 3;
    assert_int_equal(run(&d, 50), DFR_TUNER_STAYS);
    assert_true(fabs(d.time_s[2] - 3) < 1e-6 && fabs(d.time_s[2 * PROCESSORS + 2] - 3) < 1e-6);
    assert_true(fabs(d.time_s[2 * PROCESSORS + 1] - 1) < 1e-6);
    assert_int_equal(run(&d, 900), DFR_TUNER_NOTHING);
    unsigned before = d.questions;
    assert_int_equal(run(&d, 200), DFR_TUNER_STAYS);
    assert_string_equal(dfr_tuner_why(d.tuner), "nothing was measured of processor 'c' for 1000 waves: the mapping stays, since no other is 2 % faster than a "
                                                "wave every 3.00 s");
    assert_int_equal(d.questions, before + 1);
    assert_true(fabs(d.time_s[2] - 1) < 1e-6);
    dfr_tuner_free(d.tuner);
}

static void offer_map(struct desk *d, const uint32_t *of_processor, double new_s)
{
    memcpy(d->of_processor, of_processor, sizeof d->of_processor);
    d->offer.new_s = new_s;
}

static const uint32_t crossed[] = { 0, 2, 1, UINT32_MAX }, around[] = { 0, 1, UINT32_MAX, 2 }; /* stage 2 on b, and stage 1 on c; stage 2 on d, and c idle */

/* What is known of a processor that has nothing to do lapses together, whenever it was measured: what would be left of it would keep it from being tried. */
static void test_lapses_together(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    offer_map(&d, crossed, 1.5);
    slow_down(&d, -1, 2, 3);
    assert_int_equal(run(&d, 50), DFR_TUNER_CHANGES);
    d.offer.new_s = 3;
    assert_int_equal(run(&d, 50), DFR_TUNER_STAYS); /* it was the processor */
    assert_int_equal(run(&d, 400), DFR_TUNER_NOTHING);
    offer_map(&d, around, 1.5);
    slow_down(&d, -1, 2, 2);
    assert_int_equal(run(&d, 50), DFR_TUNER_CHANGES);
    d.offer.new_s = 3;
    assert_true(fabs(d.time_s[PROCESSORS + 2] - 6) < 1e-6);
    assert_int_equal(run(&d, 950), DFR_TUNER_NOTHING);
    assert_int_equal(run(&d, 100), DFR_TUNER_STAYS);
    for (int s = 0; s < STAGES; s++)
        assert_true(fabs(d.time_s[s * PROCESSORS + 2] - 1) < 1e-6);
    dfr_tuner_free(d.tuner);
}

/* A slow processor that works is still known to be slow when what was measured of it with other stages is old. Only what was special to those lapses. */
static void test_fades(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    offer_map(&d, crossed, 1.5);
    slow_down(&d, -1, 2, 3);
    slow_down(&d, 2, 2, 2);
    assert_int_equal(run(&d, 50), DFR_TUNER_CHANGES);
    d.offer.new_s = 3;
    assert_int_equal(run(&d, 50), DFR_TUNER_STAYS);
    assert_true(fabs(d.time_s[2 * PROCESSORS + 2] - 6) < 1e-6 && fabs(d.time_s[2] - 3) < 1e-6);
    assert_int_equal(run(&d, 900), DFR_TUNER_NOTHING);
    assert_int_equal(run(&d, 200), DFR_TUNER_STAYS);
    assert_non_null(strstr(dfr_tuner_why(d.tuner), "stage 'save' was not measured on 'c' for 1000 waves: the mapping stays"));
    assert_true(fabs(d.time_s[2 * PROCESSORS + 2] - 3) < 1e-6);
    assert_int_equal(run(&d, 1000), DFR_TUNER_NOTHING);
    slow_down(&d, 0, -1, 2);
    assert_int_equal(run(&d, 50), DFR_TUNER_STAYS);
    assert_true(fabs(dfr_tuner_time_s(d.tuner, 0, 2) - 6) < 1e-6 && fabs(dfr_tuner_time_s(d.tuner, 2, 2) - 3) < 1e-6);
    assert_true(fabs(dfr_tuner_time_s(d.tuner, 1, 3) - 1) < 1e-6);
    dfr_tuner_free(d.tuner);
}

/* By demand, a replica may get no wave because another one is asked first. It is not waited for. */
static void test_replica_without_waves(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    slow_down(&d, 2, -1, 3);
    assert_int_equal(run(&d, 50), DFR_TUNER_CHANGES);
    d.taken_s[2 * PROCESSORS + 3] = 0;  /* no time, so nothing is measured */
    d.offer.new_s = 3;
    slow_down(&d, 1, -1, 2);
    assert_int_equal(run(&d, DFR_ESTIMATE_FEW), DFR_TUNER_STAYS);
    assert_non_null(strstr(dfr_tuner_why(d.tuner), "stage 'rank' takes 2.00 times as long"));
    dfr_tuner_free(d.tuner);
}

/* The other way round: only if the processor is the slow one there is a better mapping. */
static int offer_if_stage_is_quick(void *context, const double *time_s, int64_t rest, const struct dfr_tuner_map *present,
                                   struct dfr_tuner_offer *given, struct df_error *error)
{
    struct desk *d = context;
    int code = offer(context, time_s, rest, present, given, error);
    given->new_s = time_s[2 * PROCESSORS + 3] < 2 ? d->offer.new_s : given->now_s;
    return code;
}

static void test_doubt(void **state)
{
    static const char *const stages[] = { "load", "rank", "save" }, *const processors[] = { "a", "b", "c", "d" };
    static uint32_t of_stage[] = { 0, 1, 2 }, of_processor[] = { 0, 1, 2, UINT32_MAX };
    struct df_error error;
    struct desk d;
    (void)state;
    dfr_tuner_free(open_desk(&d)->tuner);
    const struct dfr_tuner_shape shape = { STAGES, PROCESSORS, stages, processors, d.taken_s, { of_stage, of_processor }, offer_if_stage_is_quick, &d,
                                           .rules = dfr_tuner_defaults };
    assert_int_equal(dfr_tuner_new(&shape, &d.tuner, &error), DF_OK);
    d.of_processor[2] = UINT32_MAX;
    slow_down(&d, 2, -1, 3);
    assert_int_equal(run(&d, 50), DFR_TUNER_CHANGES);
    assert_string_equal(dfr_tuner_why(d.tuner), "stage 'save' takes 3.00 times as long as was counted with, which may be processor 'c': a new mapping, "
                                                "with a wave every 1.50 s instead of 3.00 s");
    assert_int_equal(run(&d, 50), DFR_TUNER_STAYS); /* it was the stage */
    assert_true(fabs(d.time_s[2] - 1) < 1e-6 && fabs(d.time_s[2 * PROCESSORS] - 3) < 1e-6);
    dfr_tuner_free(d.tuner);
}

static void test_groups(void **state)
{
    static const char *const stages[] = { "load", "rank", "save" }, *const processors[] = { "a", "b", "c", "d" };
    static uint32_t of_stage[] = { 0, 0, 1 }, of_processor[] = { 0, 1, UINT32_MAX, UINT32_MAX };
    double first_s[STAGES * PROCESSORS];
    struct df_error error;
    struct desk d;
    enum dfr_tuner_step step = DFR_TUNER_NOTHING;
    (void)state;
    dfr_tuner_free(open_desk(&d)->tuner);
    for (int i = 0; i < STAGES * PROCESSORS; i++)
        first_s[i] = i / PROCESSORS + 1;
    const struct dfr_tuner_shape shape = { STAGES, PROCESSORS, stages, processors, first_s, { of_stage, of_processor }, offer, &d,
                                           .rules = dfr_tuner_defaults };
    assert_int_equal(dfr_tuner_new(&shape, &d.tuner, &error), DF_OK);
    for (int wave = 0; wave < 20 && step == DFR_TUNER_NOTHING; wave++) {
        dfr_tuner_measured_group(d.tuner, wave, 0, 2, 0, 6); /* 1 s and 2 s were counted with */
        dfr_tuner_measured_group(d.tuner, wave, 2, 3, 1, 3);
        assert_int_equal(dfr_tuner_ended(d.tuner, wave + 1, 1, -1, &step, &error), DF_OK);
    }
    assert_int_equal(step, DFR_TUNER_CHANGES);
    assert_non_null(strstr(dfr_tuner_why(d.tuner), "processor 'a' takes 2.00 times as long as was counted with"));
    assert_true(fabs(d.time_s[0] - 2) < 1e-6 && fabs(d.time_s[PROCESSORS] - 4) < 1e-6 && fabs(d.time_s[2 * PROCESSORS] - 6) < 1e-6);
    assert_true(fabs(d.time_s[1] - 1) < 1e-6);
    dfr_tuner_free(d.tuner);
}

enum { WORKERS = 4 };

struct asked {
    unsigned n;
    double time_s[WORKERS];
};

static int ask(void *context, const double *time_s, int64_t rest, const struct dfr_tuner_map *present, struct dfr_tuner_offer *given, struct df_error *error)
{
    struct asked *asked = context;
    (void)rest, (void)error;
    asked->n++;
    memcpy(asked->time_s, time_s, sizeof asked->time_s);
    given->now_s = given->new_s = 1;
    memcpy(given->map.of_stage, present->of_stage, sizeof *present->of_stage);
    memcpy(given->map.of_processor, present->of_processor, WORKERS * sizeof *present->of_processor);
    return DF_OK;
}

/* Waves go to the processors of a stage in turn. That all of them have got slow is known when six of the last seven waves were, and not only when six of
 * seven of each processor were; but not before each has been measured often enough. */
static void test_turns(void **state)
{
    static const char *const stage[] = { "a" }, *const processors[] = { "p", "q", "r", "s" };
    static uint32_t zeros[WORKERS];
    static const double first_s[WORKERS] = { 1, 1, 1, 1 };
    (void)state;
    for (unsigned before = 0; before < 12; before += 2) { /* waves of 1 s on each processor */
        struct asked asked = { 0 };
        const struct dfr_tuner_shape shape = { 1, WORKERS, stage, processors, first_s, { zeros, zeros }, ask, &asked, .rules = dfr_tuner_defaults };
        struct dfr_tuner *tuner;
        struct df_error error;
        enum dfr_tuner_step step;
        unsigned waves = 0;
        assert_int_equal(dfr_tuner_new(&shape, &tuner, &error), DF_OK);
        for (; waves < before * WORKERS + 100 && asked.n == 0; waves++) {
            dfr_tuner_measured(tuner, waves, 0, waves % WORKERS, waves < before * WORKERS ? 1 : 3);
            assert_int_equal(dfr_tuner_ended(tuner, waves + 1, 4, 1000, &step, &error), DF_OK);
        }
        assert_int_equal(waves - before * WORKERS, before == 0 ? WORKERS * DFR_ESTIMATE_ENOUGH : before == 2 ? 9 : 6);
        for (unsigned p = 0; p < WORKERS; p++) /* with two waves of each before, the first has three, and is slow in more than half of them */
            assert_true(fabs(asked.time_s[p] - (before == 2 && p > 0 ? 1 : 3)) < 1e-6);
        dfr_tuner_free(tuner);
    }
}

static int no_answer(void *context, const double *time_s, int64_t rest, const struct dfr_tuner_map *present, struct dfr_tuner_offer *given,
                     struct df_error *error)
{
    (void)context, (void)time_s, (void)rest, (void)present, (void)given, (void)error;
    return DF_E_MEMORY;
}

static void test_no_answer(void **state)
{
    static const char *const names[] = { "a" };
    static uint32_t zero[] = { 0 };
    static const double second = 1;
    const struct dfr_tuner_shape shape = { 1, 1, names, names, &second, { zero, zero }, no_answer, NULL, .rules = dfr_tuner_defaults };
    struct dfr_tuner *tuner;
    struct df_error error;
    enum dfr_tuner_step step;
    (void)state;
    assert_int_equal(dfr_tuner_new(&shape, &tuner, &error), DF_OK);
    for (int wave = 0; wave < DFR_ESTIMATE_ENOUGH; wave++) {
        dfr_tuner_measured(tuner, wave, 0, 0, 2);
        dfr_tuner_measured(tuner, wave, 0, 0, NAN); /* what is no time counts for nothing, and so does what is no pair */
        dfr_tuner_measured(tuner, wave, 1, 0, 2);
        dfr_tuner_measured(tuner, wave, 0, 1, 2);
    }
    assert_int_equal(dfr_tuner_ended(tuner, 3, 1, -1, &step, &error), DF_E_MEMORY);
    assert_int_equal(step, DFR_TUNER_NOTHING);
    dfr_tuner_free(tuner);
    dfr_tuner_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disturbances), cmocka_unit_test(test_jump), cmocka_unit_test(test_slow_drift), cmocka_unit_test(test_explain), cmocka_unit_test(test_explain_more),
        cmocka_unit_test(test_changes), cmocka_unit_test(test_one_disturbance), cmocka_unit_test(test_hysteresis), cmocka_unit_test(test_swings),
        cmocka_unit_test(test_few_waves_left), cmocka_unit_test(test_state_that_moves), cmocka_unit_test(test_replicas),
        cmocka_unit_test(test_slow_processor), cmocka_unit_test(test_lapses_together), cmocka_unit_test(test_fades),
        cmocka_unit_test(test_replica_without_waves), cmocka_unit_test(test_doubt), cmocka_unit_test(test_groups), cmocka_unit_test(test_no_answer), cmocka_unit_test(test_turns),
    };
    return cmocka_run_group_tests_name("tuning", tests, NULL, NULL);
}
