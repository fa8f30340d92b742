/* test_manager_files.c - rules of the manager if workers read and write files themselves (@worker): when a wave ends, what is given out again, where
 * the stream ends, and who may take part.
 */
#include "manager_rig.h"

/* ---- files that workers write ---- */

static void test_a_wave_ends_when_it_is_stored(void **state)
{
    (void)state;
    options.stores = true;
    begin();
    offer(3);
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 1, DFR_RESULT, 0);
    hear(0, 1, DFR_RESULT, 1);
    assert_string_equal(sent_of(DFR_VERDICT), "1:0 1:1 ");
    assert_int_equal(end_all(0), 2);     /* taken, and none has ended */
    assert_int_equal(dfr_manager_state(manager).n_ended, 0);
    hear(0, 1, DFR_STORED, 1);
    assert_int_equal(dfr_manager_stored(manager), 0);
    hear(0, 1, DFR_STORED, 0);
    assert_int_equal(dfr_manager_stored(manager), 2);
    dfr_manager_ended(manager, 0);
    dfr_manager_ended(manager, 0);
    dfr_manager_ended(manager, 0);       /* wave 2 was not even taken */
    assert_int_equal(dfr_manager_state(manager).n_ended, 2);
}

/* Who was to store dies. The wave is given out again; its result is there, and was taken. */
static void test_given_again_for_its_files(void **state)
{
    (void)state;
    options.stores = true;
    begin();
    offer(2);
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 1, DFR_RESULT, 0);
    end_all(0);
    hear(0, 2, DFR_HELLO, 0);
    sent_of(DFR_GIVE);
    pass(0, 10.5, "2");
    assert_string_equal(sent_of(DFR_GIVE), "2:0 2:1 ");
    assert_int_equal(dfr_manager_state(manager).n_given_again, 1);
    hear(11, 2, DFR_RESULT, 0);
    assert_string_equal(sent_of(DFR_VERDICT), "2:0 ");
    assert_int_equal(dfr_manager_state(manager).n_accepted, 1);
    assert_int_equal(end_all(11), 0);    /* it is not taken a second time */
    hear(11, 2, DFR_STORED, 0);
    assert_int_equal(dfr_manager_stored(manager), 1);
}

/* Who was to store was not dead: the files are there, and those of the other one are dropped. */
static void test_stored_late(void **state)
{
    (void)state;
    options.stores = true;
    begin();
    offer(1);
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 1, DFR_RESULT, 0);
    hear(0, 2, DFR_HELLO, 0);
    pass(0, 10.5, "2");
    sent_of(DFR_GIVE);
    hear(11, 1, DFR_STORED, 0);
    hear(11, 2, DFR_RESULT, 0);
    assert_string_equal(sent_of(DFR_VERDICT), "2:0! ");
    assert_int_equal(end_all(11), 1);
    assert_int_equal(dfr_manager_state(manager).n_ended, 1);
    hear(11, 2, DFR_STORED, 0);          /* nobody waits for it */
    assert_int_equal(dfr_manager_state(manager).n_ended, 1);
}

/* The files are gone, because somebody else has done the wave, or removed them: it is done once more. */
static void test_files_are_gone(void **state)
{
    (void)state;
    options.stores = true;
    begin();
    offer(1);
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 1, DFR_RESULT, 0);
    sent_of(DFR_GIVE);
    hear_flagged(0, 1, DFR_STORED, 0, DFR_DROPPED);
    assert_string_equal(sent_of(DFR_GIVE), "1:0 ");
    hear(0, 1, DFR_RESULT, 0);
    hear(0, 1, DFR_STORED, 0);
    assert_int_equal(end_all(0), 1);
}

/* Of a run that goes on: TAIL keeps something, so all waves are computed again, and files of those that were done stay. */
static void test_files_of_a_run_before(void **state)
{
    (void)state;
    options.stores = true;
    options.stored_waves = 1;
    begin();
    offer(2);
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 1, DFR_RESULT, 0);
    hear(0, 1, DFR_RESULT, 1);
    assert_string_equal(sent_of(DFR_VERDICT), "1:0! 1:1 ");
    assert_int_equal(dfr_manager_state(manager).n_dropped, 0);
    assert_int_equal(end_all(0), 2);
    assert_int_equal(dfr_manager_state(manager).n_ended, 1);
}

static void test_leaving_stores_first(void **state)
{
    (void)state;
    options.stores = true;
    begin();
    offer(1);
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 1, DFR_BYE, 0);
    hear(0, 1, DFR_RESULT, 0);
    assert_string_equal(sent_of(DFR_END), "");
    hear(0, 1, DFR_STORED, 0);
    assert_string_equal(sent_of(DFR_END), "1:0 ");
}

static void test_stop_stores_first(void **state)
{
    (void)state;
    options.stores = true;
    begin();
    offer(4);
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 1, DFR_RESULT, 0);
    hear(0, 1, DFR_RESULT, 1);
    end_all(0);
    dfr_manager_stop(manager, 0);
    hear(0, 1, DFR_RESULT, 2);
    hear(0, 1, DFR_RESULT, 3);
    end_all(0);
    assert_string_equal(sent_of(DFR_END), "");
    hear(0, 1, DFR_STORED, 0);
    dfr_manager_ended(manager, 0);
    hear_flagged(0, 1, DFR_STORED, 1, DFR_DROPPED); /* it is not given out again */
    hear(0, 1, DFR_STORED, 2);
    assert_string_equal(sent_of(DFR_END), "");
    hear(0, 1, DFR_STORED, 3);
    assert_string_equal(sent_of(DFR_END), "1:0 2:0 ");
    assert_string_equal(outcome(DF_E_STOPPED), "the run was stopped after wave 0");
}

/* ---- the end of a stream that workers read ---- */

static void test_no_such_wave(void **state)
{
    (void)state;
    options.stores = true;
    begin();
    offer(8);
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 2, DFR_HELLO, 0);
    hear(0, 1, DFR_RESULT, 0);
    hear(0, 1, DFR_STORED, 0);
    hear(0, 2, DFR_RESULT, 2);           /* so rank 1 has 1 and 4, and rank 2 has 3 and 5 */
    hear(0, 2, DFR_STORED, 2);
    sent_of(DFR_GIVE);
    hear_flagged(0, 2, DFR_RESULT, 5, DFR_NO_WAVE);
    assert_int_equal(dfr_manager_room(manager), 0);
    assert_int_equal(dfr_manager_state(manager).n_offered, 5);
    hear_flagged(0, 1, DFR_RESULT, 4, DFR_NO_WAVE);
    hear_flagged(0, 2, DFR_RESULT, 3, DFR_NO_WAVE);
    assert_string_equal(sent_of(DFR_VERDICT), "2:5! 1:4! 2:3! ");
    assert_string_equal(sent_of(DFR_GIVE), "");
    hear(0, 1, DFR_RESULT, 1);
    hear(0, 1, DFR_STORED, 1);
    end_all(0);
    assert_int_equal(dfr_manager_state(manager).n_ended, 3);
    assert_int_equal(dfr_manager_state(manager).n_dropped, 0);
    outcome(DF_OK);
    assert_string_equal(sent_of(DFR_END), "1:0! 2:0! ");
}

/* The first wave that is not there was given to one who died; nothing is waited for. */
static void test_no_such_wave_of_the_dead(void **state)
{
    (void)state;
    begin();
    offer(4);
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 2, DFR_HELLO, 0);
    hear(0, 1, DFR_RESULT, 0);
    hear(0, 1, DFR_RESULT, 1);
    end_all(0);
    pass(0, 10.5, "1");
    sent_of(DFR_GIVE);
    hear_flagged(11, 1, DFR_RESULT, 2, DFR_NO_WAVE);
    assert_int_equal(dfr_manager_state(manager).n_ended, 2);
    assert_string_equal(sent_of(DFR_END), ""); /* rank 1 holds wave 3, and will find that it is not there, too; but not for ever */
    pass(11, 20, "1");
    assert_string_equal(sent_of(DFR_END), "");
    pass(20, 22, "1");
    assert_string_equal(sent_of(DFR_END), "1:0! 2:0! ");
    outcome(DF_OK);
}

static void test_ranks_read_unlike_files(void **state)
{
    (void)state;
    begin();
    offer(4);
    hear(0, 1, DFR_HELLO, 0);
    hear(0, 2, DFR_HELLO, 0);
    hear(0, 2, DFR_RESULT, 3);
    hear_flagged(0, 1, DFR_RESULT, 1, DFR_NO_WAVE);
    assert_string_equal(outcome(DF_E_REFUSED), "rank 1 on node7 finds no wave 1, and another rank has given wave 3: do all ranks read the same files, "
                                               "and has one of them changed?");
}

static bool admits_one(void *arg, const struct dfr_message *hello, char *why, size_t size)
{
    (void)arg;
    snprintf(why, size, "its file is another one (%u values)", hello->n_values);
    return hello->head.wave == 1;
}

static void test_other_files(void **state)
{
    (void)state;
    options.admits = admits_one;
    begin();
    offer(2);
    hear(0, 1, DFR_HELLO, 1);
    hear(0, 2, DFR_HELLO, 2);
    assert_string_equal(told, "rank 2 on node7 is refused: its file is another one (1 values)\n");
    assert_string_equal(sent_of(DFR_REFUSE), "2:0 ");
    hear(0, 1, DFR_RESULT, 0);
    assert_int_equal(dfr_manager_state(manager).n_accepted, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_wave_ends_when_it_is_stored),
        TEST(test_given_again_for_its_files),
        TEST(test_stored_late),
        TEST(test_files_are_gone),
        TEST(test_files_of_a_run_before),
        TEST(test_leaving_stores_first),
        TEST(test_stop_stores_first),
        TEST(test_no_such_wave),
        TEST(test_no_such_wave_of_the_dead),
        TEST(test_ranks_read_unlike_files),
        TEST(test_other_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
