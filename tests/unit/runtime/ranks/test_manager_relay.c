/* test_manager_relay.c - the manager whose waves go from worker to worker: when a mapping begins, who gets waves, what comes of an older generation,
 * ranks that die, return and leave, and a mapping that changes between two waves. All times are virtual.
 */
#include "manager_rig.h"

#include <stdlib.h>

static struct dfr_manager_relay relay;
static bool mapped[8];                  /* of the last mapping */
static int64_t offered[64];
static unsigned n_offered, n_given, n_maps;
static int asks[64];
static unsigned n_asks;

static struct dfr_message *map(void *arg, const struct dfr_head *head, const struct dfr_value *once, uint32_t n_once, const bool *live, bool *uses)
{
    (void)arg;
    n_offered = n_given = n_asks = 0;
    n_maps++;
    for (int rank = 1; rank < options.n_ranks; rank++)
        uses[rank] = mapped[rank] = live[rank] && rank < 3; /* the others are spare, unless both are dead */
    if (!mapped[1] && !mapped[2] && options.n_ranks > 3)
        uses[3] = mapped[3] = live[3];
    return dfr_message_make(head, once, n_once);
}

static bool offer_wave(void *arg, const struct dfr_message *give)
{
    (void)arg;
    offered[n_offered++] = give->head.wave;
    return true;
}

static void request(void *arg, int rank, const struct dfr_head *ask)
{
    (void)arg, (void)ask;
    asks[n_asks++] = rank;
}

/* Whoever asks gets the oldest wave. */
static bool answer(void *arg, int *rank, struct dfr_head *head)
{
    (void)arg;
    if (n_given == n_offered || n_given == n_asks)
        return false;
    *rank = asks[n_given];
    head->kind = DFR_GIVE;
    head->wave = offered[n_given++];
    return true;
}

static int set_up_relay(void **state)
{
    set_up(state);
    relay = (struct dfr_manager_relay){ .map = map, .offer = offer_wave, .request = request, .answer = answer };
    options.relay = &relay;
    options.n_ranks = 4;
    options.epoch = (uint64_t)5 << DFR_GENERATION_BITS;
    memset(mapped, 0, sizeof mapped);
    n_offered = n_given = n_maps = n_asks = 0;
    return 0;
}

/* Of a generation. */
static void say(double now_s, int from, enum dfr_message_kind kind, int64_t wave, unsigned generation)
{
    const uint64_t epoch = kind == DFR_HELLO ? 0 : options.epoch + generation;
    hear_head(now_s, from, (struct dfr_head){ .kind = kind, .epoch = epoch, .hash = 7, .wave = wave },
              kind == DFR_HELLO ? "node7" : kind == DFR_WAVE_FAILED ? "it is bad" : NULL);
}

static void all_come(void)
{
    for (int rank = 1; rank < options.n_ranks; rank++)
        say(0, rank, DFR_HELLO, 4, 0);
}

static void ask(int rank, unsigned n, unsigned generation)
{
    for (; n > 0; n--)
        say(1, rank, DFR_ASK, 0, generation);
}

/* Ticks; those ranks beat before each, and say `runs`. */
static void go(double from_s, double until_s, const char *beating, int64_t runs, unsigned generation)
{
    for (double now_s = from_s; now_s <= until_s; now_s = fmax(dfr_manager_due_s(manager), now_s + 0.01)) {
        for (const char *rank = beating; *rank; rank++)
            say(now_s, *rank - '0', DFR_BEAT, runs, generation);
        dfr_manager_tick(manager, now_s);
    }
}

/* The first mapping waits for all ranks. Who asks gets waves, and anybody may give the result. */
static void test_whole(void **state)
{
    (void)state;
    begin();
    say(0, 1, DFR_HELLO, 4, 0);
    say(0, 3, DFR_HELLO, 4, 0);
    offer(3);
    assert_int_equal(n_maps, 0);
    assert_string_equal(sent_of(DFR_WELCOME), "");
    say(0, 2, DFR_HELLO, 4, 0);
    assert_int_equal(n_maps, 1);
    assert_string_equal(sent_of(DFR_WELCOME), "1:0 2:0 3:0 ");
    ask(1, 2, 1);
    assert_string_equal(sent_of(DFR_GIVE), "1:0 1:1 ");
    ask(3, 1, 1);                       /* it has no stages */
    assert_string_equal(sent_of(DFR_GIVE), "");
    say(1, 2, DFR_RESULT, 1, 1);
    say(1, 2, DFR_RESULT, 2, 1);        /* nobody was given it */
    assert_int_equal(end_all(1), 0);
    say(1, 2, DFR_RESULT, 0, 1);
    assert_int_equal(end_all(1), 2);
    assert_int_equal(dfr_manager_state(manager).n_accepted, 2);
    ask(1, 1, 1);
    say(2, 2, DFR_RESULT, 2, 1);
    say(2, 2, DFR_RESULT, 2, 1);
    dfr_manager_no_more(manager, 2);
    assert_int_equal(end_all(2), 1);
    assert_int_equal(dfr_manager_state(manager).n_dropped, 2);
    for (int rank = 1; rank < 4; rank++)
        say(2, rank, DFR_BYE, 0, 1);
    assert_true(dfr_manager_is_over(manager));
    assert_true(dfr_manager_state(manager).whole);
    outcome(DF_OK);
}

/* A rank dies: all waves that are not accepted are given out again, in another generation. What comes of the old one is dropped. */
static void test_death(void **state)
{
    (void)state;
    begin();
    all_come();
    offer(4);
    ask(1, 3, 1);
    say(1, 2, DFR_RESULT, 1, 1);
    assert_string_equal(sent_of(DFR_GIVE), "1:0 1:1 1:2 ");
    go(1, 12, "13", 0, 1);
    assert_non_null(strstr(told, "rank 2 on node7 counts as dead: it was silent for"));
    assert_non_null(strstr(told, "waves that are given out again: 2"));
    assert_int_equal(n_maps, 2);
    assert_false(mapped[2]);
    assert_string_equal(sent_of(DFR_WELCOME), "1:0 3:0 ");
    say(12, 1, DFR_RESULT, 0, 1);
    assert_int_equal(end_all(12), 0);
    assert_int_equal(dfr_manager_state(manager).n_dropped, 1);
    ask(1, 4, 2);
    assert_string_equal(sent_of(DFR_GIVE), "1:0 1:2 1:3 ");
    say(12, 1, DFR_RESULT, 0, 2);
    assert_int_equal(end_all(12), 2);
    say(12, 2, DFR_BEAT, 0, 1);         /* it was not dead: it is spare now, and its old results count no more */
    assert_non_null(strstr(told, "rank 2 on node7 is heard again"));
    assert_string_equal(sent_of(DFR_WELCOME), "2:0 ");
    assert_int_equal(n_maps, 2);
    say(12, 2, DFR_RESULT, 2, 2);
    assert_int_equal(end_all(12), 0);
}

/* No rank of the mapping lives: a spare one is mapped. None at all: who returns is. */
static void test_all_die(void **state)
{
    (void)state;
    options.lost_s = 60;
    begin();
    all_come();
    offer(2);
    ask(1, 1, 1);
    go(1, 12, "3", 0, 1);
    assert_true(mapped[3]);
    n_sent = 0;
    ask(3, 2, 3);
    assert_string_equal(sent_of(DFR_GIVE), "3:0 3:1 ");
    go(12, 23, "", 0, 3);
    assert_int_equal(dfr_manager_state(manager).n_live, 0);
    say(24, 1, DFR_BEAT, 0, 1);
    assert_true(mapped[1]);
    n_sent = 0;
    ask(1, 2, n_maps);
    assert_string_equal(sent_of(DFR_GIVE), "1:0 1:1 ");
}

/* A wave that hangs is found by what beats say, not by how long ago it was given. */
static void test_hangs(void **state)
{
    (void)state;
    options.wave_timeout_s = 5;
    begin();
    all_come();
    offer(2);
    ask(1, 2, 1);
    go(1, 30, "123", 0, 1);
    assert_int_equal(dfr_manager_state(manager).n_deaths, 0);
    say(30, 2, DFR_BEAT, 1, 1);
    go(30, 34, "13", 0, 1);
    say(34, 2, DFR_BEAT, 2, 1);         /* it gets further */
    go(34, 38, "13", 0, 1);
    assert_int_equal(dfr_manager_state(manager).n_deaths, 0);
    say(38, 2, DFR_BEAT, 2, 1);
    go(38, 40, "13", 0, 1);
    assert_non_null(strstr(told, "rank 2 on node7 counts as dead: it has held a wave for"));
    assert_int_equal(n_maps, 2);
    say(41, 2, DFR_BEAT, 2, 1);         /* and holds it still */
    assert_int_equal(dfr_manager_state(manager).n_dead, 1);
    say(42, 2, DFR_BEAT, 0, 1);
    assert_int_equal(dfr_manager_state(manager).n_dead, 0);
}

/* Another mapping from the next wave on: nothing is given before all is back, and nothing twice. */
static void test_changes(void **state)
{
    (void)state;
    begin();
    all_come();
    offer(4);
    ask(1, 2, 1);
    n_sent = 0;
    dfr_manager_remap(manager, 1);
    ask(1, 2, 1);
    assert_int_equal(n_maps, 1);
    assert_int_equal(n_sent, 0);
    say(1, 2, DFR_RESULT, 0, 1);
    assert_int_equal(n_maps, 1);
    say(1, 2, DFR_RESULT, 1, 1);
    assert_int_equal(n_maps, 2);
    assert_int_equal(dfr_manager_state(manager).n_accepted, 2);
    n_sent = 0;
    ask(2, 2, 2);
    assert_string_equal(sent_of(DFR_GIVE), "2:2 2:3 ");
    assert_int_equal(dfr_manager_state(manager).n_given, 4);
}

/* A wave that fails ends the run, also if its generation is over. A rank that leaves is replaced. Ranks that do not come are not waited for. */
static void test_failures(void **state)
{
    (void)state;
    begin();
    all_come();
    offer(2);
    ask(1, 1, 1);
    say(1, 2, DFR_BYE, 0, 1);
    assert_int_equal(n_maps, 2);
    assert_false(mapped[2]);
    say(2, 1, DFR_WAVE_FAILED, 0, 1);
    go(2, 30, "1", 0, 2);
    assert_string_equal(outcome(DF_E_KERNEL), "rank 1 on node7: it is bad");
}

static void test_late(void **state)
{
    (void)state;
    options.start_s = 20;
    begin();
    say(0, 1, DFR_HELLO, 4, 0);
    offer(1);
    go(0, 19, "", 0, 0);                /* nobody beats before the first mapping, and nobody counts as dead */
    assert_int_equal(n_maps, 0);
    assert_int_equal(dfr_manager_state(manager).n_deaths, 0);
    go(19, 21, "", 0, 0);
    assert_int_equal(n_maps, 1);
    assert_true(mapped[1]);
    assert_false(mapped[2]);
    say(22, 2, DFR_HELLO, 4, 0);        /* it is spare */
    assert_int_equal(n_maps, 1);
    assert_string_equal(sent_of(DFR_WELCOME), "1:0 2:0 ");
}

static void find_end(int rank, int64_t wave)
{
    hear_head(1, rank, (struct dfr_head){ .kind = DFR_RESULT, .epoch = options.epoch + 1, .hash = 7, .wave = wave, .flags = DFR_NO_WAVE }, NULL);
}

/* A source on a rank ends: there is no wave 2. What lies behind is given to nobody, also if it was offered; who would get it is to ask again. */
static void test_end(void **state)
{
    (void)state;
    begin();
    all_come();
    offer(6);
    ask(1, 4, 1);
    assert_string_equal(sent_of(DFR_GIVE), "1:0 1:1 1:2 1:3 ");
    find_end(3, 1);                     /* it has no stages */
    find_end(1, 3);
    assert_int_equal(dfr_manager_state(manager).n_offered, 3);
    find_end(1, 2);
    find_end(1, 5);                     /* it was not given */
    assert_int_equal(dfr_manager_state(manager).n_offered, 2);
    assert_int_equal(dfr_manager_room(manager), 0);
    ask(1, 2, 1);
    assert_int_equal(n_sent, 2);
    assert_string_equal(sent_of(DFR_NONE), "1:0! 1:0! ");
    say(1, 2, DFR_RESULT, 1, 1);
    say(1, 2, DFR_RESULT, 0, 1);
    assert_int_equal(end_all(1), 2);
    for (int rank = 1; rank < 4; rank++)
        say(2, rank, DFR_BYE, 0, 1);
    assert_true(dfr_manager_is_over(manager));
    outcome(DF_OK);
}

/* One rank finds the end, and another one has given a later wave, or gives it afterwards: they read unlike files. */
static void test_unlike_ends(void **state)
{
    (void)state;
    begin();
    all_come();
    offer(4);
    ask(1, 4, 1);
    say(1, 2, DFR_RESULT, 3, 1);
    find_end(1, 2);
    assert_non_null(strstr(outcome(DF_E_REFUSED), "rank 1 on node7 finds no wave 2, and another rank has given wave 3"));
}

static void test_behind_the_end(void **state)
{
    (void)state;
    begin();
    all_come();
    offer(4);
    ask(1, 4, 1);
    find_end(1, 2);
    say(1, 2, DFR_RESULT, 3, 1);
    assert_int_equal(dfr_manager_state(manager).n_accepted, 0);
    assert_non_null(strstr(outcome(DF_E_REFUSED), "rank 2 on node7 gives wave 3, and a rank has found no wave 2: do all ranks read the same files"));
}

#define RELAY(name) cmocka_unit_test_setup_teardown(name, set_up_relay, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = { RELAY(test_whole), RELAY(test_death), RELAY(test_all_die), RELAY(test_hangs), RELAY(test_changes),
                                        RELAY(test_failures), RELAY(test_late), RELAY(test_end), RELAY(test_unlike_ends), RELAY(test_behind_the_end) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
