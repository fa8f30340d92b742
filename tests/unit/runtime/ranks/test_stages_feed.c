/* test_stages_feed.c - which rank of the next group gets which wave: in order, by demand, and if one of them is slow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "runtime/ranks/feed.h"

static struct dfr_feed *feed;
static struct dfr_mapping mapping;

/* Two stages: the first on rank 1, the second on ranks 2 to 4. */
static void open_feed(bool by_demand)
{
    struct df_error error;

    mapping = (struct dfr_mapping){ .by_demand = by_demand, .n_stages = 2, .n_ranks = 6, .n_groups = 2, .group_of_stage = { 0, 1 },
                                    .group_of_rank = { DFR_NO_GROUP, 0, 1, 1, 1, DFR_NO_GROUP } };
    assert_true(dfr_mapping_is_valid(&mapping));
    assert_int_equal(dfr_feed_open(&mapping, 1, DFR_STREAM_DDFCFS, NULL, &feed, &error), DF_OK);
}

static void ask(uint32_t rank, uint32_t number)
{
    const struct dfr_head head = { .kind = DFR_ASK, .wave = 0, .stage = number };
    dfr_feed_request(feed, rank, &head);
}

/* All answers, as "rank:wave/number " or "rank:none/number ". */
static const char *answers(void)
{
    static char text[1000];
    struct dfr_head head = { 0 };
    uint32_t rank;
    size_t n = 0;

    text[0] = '\0';
    while (dfr_feed_answer(feed, &rank, &head))
        if (head.kind == DFR_GIVE)
            n += (size_t)snprintf(text + n, sizeof text - n, "%u:%lld/%u ", rank, (long long)head.wave, head.stage);
        else
            n += (size_t)snprintf(text + n, sizeof text - n, "%u:%s/%u ", rank, head.flags & DFR_DROPPED ? "dropped" : "none", head.stage);
    return text;
}

static void test_order(void **state)
{
    (void)state;
    open_feed(false);
    for (int64_t wave = 0; wave < 7; wave++)
        assert_true(dfr_feed_offer(feed, wave, NULL, 0));
    assert_int_equal(dfr_feed_waiting(feed), 7);
    ask(3, 9);
    assert_string_equal(answers(), "3:1/9 ");           /* its own, although an older one waits */
    ask(2, 1), ask(2, 2), ask(2, 3), ask(2, 4);
    assert_string_equal(answers(), "2:0/1 2:3/2 2:6/3 2:none/4 ");
    assert_true(dfr_feed_offer(feed, 9, NULL, 0));
    assert_string_equal(answers(), "2:9/4 ");           /* the request has waited */
    ask(5, 1), ask(1, 1);                               /* not of the group */
    assert_string_equal(answers(), "");
    assert_int_equal(dfr_feed_waiting(feed), 3);        /* rank 4, which asks for nothing, holds up nobody */
    dfr_feed_close(feed);
}

static void test_demand(void **state)
{
    (void)state;
    open_feed(true);
    for (int64_t wave = 0; wave < 5; wave++)
        assert_true(dfr_feed_offer(feed, wave, NULL, 0));
    ask(4, 1), ask(2, 1), ask(4, 2), ask(4, 3);
    assert_string_equal(answers(), "4:0/1 2:1/1 4:2/2 4:3/3 ");
    ask(2, 2), ask(3, 7), ask(4, 4), ask(4, 5);
    assert_string_equal(answers(), "2:4/2 3:none/7 4:none/4 4:dropped/5 ");
    assert_true(dfr_feed_offer(feed, 5, NULL, 0));
    assert_true(dfr_feed_offer(feed, 6, NULL, 0));
    assert_string_equal(answers(), "3:5/7 4:6/4 ");
    assert_int_equal(dfr_feed_waiting(feed), 0);
    dfr_feed_close(feed);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_order), cmocka_unit_test(test_demand) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
