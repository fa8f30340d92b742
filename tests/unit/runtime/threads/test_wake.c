/* test_wake.c - sleeping and waking, one atomic operation at a time (steps_rig.h). In whatever order the threads take
 * turns, no worker sleeps while there is work that it was to be woken for. wake.c says why no wake is lost. If one of
 * the things that it says is left out, one of these tests fails.
 *
 * wake.c is compiled into this program with atomic operations and a futex that first give way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "steps_atomics.h"

#define syscall(number, word, op, value, limit, word2, value3) \
    steps_futex(word, op, (uint32_t)(value), (limit) == NULL)

#include "runtime/threads/wake.c"

/* ---- programs ---- */

static struct dfr_wake event;
static unsigned work;
static bool stopped;

/* A letter for each thread:
 *     w  a worker: it takes one piece of work, and sleeps while there is none
 *     s  the same, but it looks twice: the first time it cancels in any case
 *     t  the same as w, but its first sleep has a time limit
 *     n  takes two naps, and takes no work
 *     e  runs until all is stopped
 *     1 2 3  makes so many pieces of work, and wakes one worker for each
 *     !  stops all */
static const char *threads;

static bool take(void)
{
    steps_give_way();
    if (work == 0)
        return false;
    work--;
    return true;
}

static void work_once(int n_timed)
{
    for (;; n_timed--) {
        uint32_t key = dfr_wake_announce(&event);
        if (take()) {
            dfr_wake_cancel(&event, key);
            return;
        }
        dfr_wake_sleep(&event, key, n_timed > 0 ? 1000 : -1);
    }
}

static void look_twice(void)
{
    uint32_t key = dfr_wake_announce(&event);
    bool found = take();
    dfr_wake_cancel(&event, key);
    if (!found)
        work_once(0);
}

static void make_work(int n)
{
    for (; n > 0; n--) {
        steps_give_way();
        work++;
        dfr_wake_one(&event);
    }
}

static bool is_stopped(void)
{
    steps_give_way();
    return stopped;
}

static void wait_for_the_end(void)
{
    while (!is_stopped()) {
        uint32_t key = dfr_wake_announce(&event);
        if (is_stopped())
            dfr_wake_cancel(&event, key);
        else
            dfr_wake_sleep(&event, key, -1);
    }
}

static void run_thread(void *arg, unsigned number)
{
    (void)arg;
    switch (threads[number]) {
    case 'w':
        work_once(0);
        break;
    case 's':
        look_twice();
        break;
    case 't':
        work_once(2);
        break;
    case 'n':
        for (int i = 0; i < 2; i++)
            dfr_wake_nap(&event, dfr_wake_key(&event), 1000);
        break;
    case 'e':
        wait_for_the_end();
        break;
    case '!':
        steps_give_way();
        stopped = true;
        dfr_wake_all(&event);
        break;
    default:
        make_work(threads[number] - '0');
    }
}

static void begin(void *arg)
{
    (void)arg;
    memset(&event, 0, sizeof event);
    work = 0;
    stopped = false;
}

/* There is work for each worker. So all of them end, unless one was not woken. */
static bool end(void *arg, bool ended)
{
    (void)arg;
    if (!ended)
        print_message("threads \"%s\": one sleeps, and there is work for %u\n", threads, work);
    return ended;
}

static void explore(const char *of, unsigned preemptions)
{
    steps_skip_under_tsan();
    threads = of;
    assert_true(steps_explore(&(struct steps){ (unsigned)strlen(of), begin, run_thread, end, NULL }, preemptions) > 20);
}

/* ---- */

static void test_work_wakes(void **state)
{
    (void)state;
    explore("w1", 3);
    explore("ww2", 2);
    explore("ww11", 1);
    explore("www3", 1);
}

/* A worker that was woken, but had found work by itself, takes nobody else off the count. */
static void test_who_leaves_takes_nobody_off(void **state)
{
    (void)state;
    explore("1sw1", 2);
    explore("sww3", 1);
}

static void test_who_sleeps_for_a_time(void **state)
{
    (void)state;
    explore("t1", 2);
    explore("tw2", 1);
    explore("ttw3", 1);
}

/* A wake goes to a worker that is counted, not to one that naps. */
static void test_naps_take_no_wake(void **state)
{
    (void)state;
    explore("nw1", 1);
    explore("nww2", 1);
    explore("nnw1", 1);
}

static void test_stop_wakes_all(void **state)
{
    (void)state;
    explore("ee!", 2);
    explore("nee!", 1);
    explore("ew!1", 1);
}

/* A worker that was taken off the count meanwhile is not taken off again, and a worker that naps is not counted. This
 * needs no thread. */
static void test_count(void **state)
{
    struct dfr_wake wake = { 0 };
    uint32_t first, second;

    (void)state;
    assert_false(dfr_wake_one(&wake));
    first = dfr_wake_announce(&wake);
    assert_true(dfr_wake_one(&wake));
    second = dfr_wake_announce(&wake);
    dfr_wake_cancel(&wake, first);
    assert_true(dfr_wake_is_wanted(&wake));
    assert_true(dfr_wake_one(&wake));
    assert_false(dfr_wake_is_wanted(&wake));
    dfr_wake_cancel(&wake, second);
    assert_false(dfr_wake_one(&wake));
    first = dfr_wake_announce(&wake);
    dfr_wake_cancel(&wake, first);
    assert_false(dfr_wake_is_wanted(&wake));
}

/* When the sequence overflows, it begins again, and the count beside it does not change. */
static void test_sequence_wraps(void **state)
{
    struct dfr_wake wake = { 0 };

    (void)state;
    atomic_store(&wake.state, UINT32_MAX);
    assert_int_equal(dfr_wake_announce(&wake), UINT32_MAX);
    assert_int_equal(dfr_wake_announce(&wake), UINT32_MAX);
    assert_true(dfr_wake_one(&wake));
    assert_int_equal(atomic_load(&wake.state), UINT64_C(1) << 32);
    dfr_wake_all(&wake);
    assert_int_equal(atomic_load(&wake.state), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_sequence_wraps),
        cmocka_unit_test(test_work_wakes),
        cmocka_unit_test(test_who_leaves_takes_nobody_off),
        cmocka_unit_test(test_who_sleeps_for_a_time),
        cmocka_unit_test(test_naps_take_no_wake),
        cmocka_unit_test(test_stop_wakes_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
