/* test_tune.c - rank 0's tuner of stages on ranks: what it makes of waves that ranks took, and of ranks that die. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "partition/tuning/remap.h"
#include "runtime/ranks/tune.h"

enum { STAGES = 3, RANKS = 6 };

struct desk {
    struct dfr_tune *tune;
    struct dfr_mapping mapping;         /* what is so */
    double stage_s[STAGES];
    bool live[RANKS];
    int64_t waves;
    unsigned said;
    char why[600];
};

static void tell(void *arg, const char *sentence)
{
    struct desk *d = arg;
    d->said++;
    strncpy(d->why, sentence, sizeof d->why - 1);
}

/* Rank 0 has stage 0, ranks 1 and 2 one stage each, and ranks 3 to 5 are spare. */
static void open_desk(struct desk *d)
{
    static char *names[] = { "read", "a", "b" };
    static const struct dfr_stages stages = { .n = STAGES, .names = names };
    struct df_error error;

    *d = (struct desk){ .mapping = { .n_stages = STAGES, .n_ranks = RANKS, .n_groups = 2, .by_demand = 1, .group_of_stage = { DFR_NO_GROUP, 0, 1 },
                                     .group_of_rank = { DFR_NO_GROUP, 0, 1, DFR_NO_GROUP, DFR_NO_GROUP, DFR_NO_GROUP } },
                        .stage_s = { 0, 1, 1 }, .live = { true, true, true, true, true, true } };
    assert_int_equal(dfr_tune_open(&stages, &d->mapping, &dfp_remapper, &d->tune, &error), DF_OK);
}

static double seconds_of(const struct desk *d, uint32_t rank)
{
    double sum_s = 0;
    for (uint32_t s = 1; s < STAGES; s++)
        sum_s += d->mapping.group_of_stage[s] == d->mapping.group_of_rank[rank] ? d->stage_s[s] : 0;
    return sum_s;
}

/* Runs so many waves. Each rank of the mapping takes each. Gives how often the mapping changed. */
static unsigned run(struct desk *d, int n)
{
    unsigned changes = 0;
    for (int i = 0; i < n; i++) {
        struct dfr_mapping next = d->mapping;
        for (uint32_t rank = 1; rank < RANKS; rank++)
            if (d->mapping.group_of_rank[rank] != DFR_NO_GROUP)
                dfr_tune_took(d->tune, &d->mapping, rank, d->waves, seconds_of(d, rank));
        if (dfr_tune_ended(d->tune, ++d->waves, &next, tell, d)) {
            changes++;
            assert_true(dfr_mapping_is_valid(&next));
            d->mapping = next;
        }
        for (uint32_t rank = 1; rank < RANKS; rank++)
            assert_true(d->live[rank] || d->mapping.group_of_rank[rank] == DFR_NO_GROUP);
    }
    return changes;
}

static void kill_rank(struct desk *d, uint32_t rank)
{
    struct dfr_mapping next;
    d->live[rank] = false;
    assert_true(dfr_mapping_without(&d->mapping, d->live, &next));
    dfr_tune_lives(d->tune, d->live);
    d->mapping = next;
}

static uint32_t used(const struct desk *d)
{
    uint32_t n = 0;
    for (uint32_t rank = 1; rank < RANKS; rank++)
        n += d->mapping.group_of_rank[rank] != DFR_NO_GROUP;
    return n;
}

/* After a death, another mapping is found among the ranks that live, and stages that drift later are answered, too. */
static void test_death(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    assert_int_equal(run(&d, 20), 0);
    kill_rank(&d, 2);                   /* rank 3 takes its stage */
    assert_int_equal(d.mapping.group_of_rank[3], 1);
    assert_int_equal(run(&d, 20), 1);
    assert_non_null(strstr(d.why, " waves the ranks are not those that there were: a new mapping, with a wave every 500 ms instead of 1.00 s"));
    assert_int_equal(used(&d), 4);
    d.stage_s[2] = 7;
    assert_true(run(&d, 100) > 0);
    assert_int_equal(used(&d), 4);
    kill_rank(&d, 1);
    run(&d, 100);
    assert_int_equal(used(&d), 3);
    kill_rank(&d, 4);
    kill_rank(&d, 5);
    run(&d, 100);
    assert_int_equal(used(&d), 1);      /* rank 3 has all */
    assert_int_equal(seconds_of(&d, 3), 8);
    dfr_tune_close(d.tune);
}

/* A rank that dies before there is a tuner, and one that had nothing to do. */
static void test_early_death(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    assert_int_equal(run(&d, 3), 0);
    kill_rank(&d, 1);
    kill_rank(&d, 5);
    assert_int_equal(run(&d, 20), 0);
    assert_int_equal(d.said, 0);
    d.stage_s[1] = 3;
    assert_true(run(&d, 50) > 0);
    assert_int_equal(used(&d), 3);
    dfr_tune_close(d.tune);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_death), cmocka_unit_test(test_early_death) };
    return cmocka_run_group_tests_name("tune", tests, NULL, NULL);
}
