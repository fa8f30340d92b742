/* test_order_steps.c - a set of jobs in order, one atomic operation at a time (steps_rig.h): each job is taken once,
 * and no worker sleeps while there is one that it can take.
 *
 * order.c is compiled into this program with atomic operations that first give way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "steps_atomics.h"

#include "runtime/policy/order.c"

/* ---- workers ---- */

enum { NODES = 8200, WORKERS = 2 };     /* three levels */

static struct df_node nodes[NODES];
static struct df_graph graph = { .nodes = nodes, .n_nodes = NODES };
static uint32_t by_rank[NODES], ranks[NODES], unit_of[WORKERS];
static struct dfr_order order;
static unsigned taken[NODES], added;    /* how often; jobs 0 … added - 1 */
static unsigned n_woken;
static bool sleeps[STEPS_THREADS];
static uint32_t node_of[8];             /* by job */
static const char *const *threads;      /* what each does, by letters */

/* One worker for each call, as dfr_wake_one() does. */
static void wake(void *arg, uint32_t unit)
{
    (void)arg;
    assert_int_equal(unit, 0);
    n_woken++;
    for (unsigned i = 0; i < STEPS_THREADS; i++)
        if (sleeps[i]) {
            sleeps[i] = false;
            steps_unblock(i);
            return;
        }
}

static struct dfr_view view = { .graph = &graph, .n_slots = 1, .n_workers = WORKERS, .unit_of = unit_of, .wake = wake };

static void sleep_until_woken(void)
{
    sleeps[steps_me()] = true;
    steps_block();
}

static bool pop(void)
{
    uint64_t job;
    if (!dfr_order_pop(&order, &job))
        return false;
    taken[dfr_job_node(job)]++;
    return true;
}

/* Sleeps until there is a job. No preemption comes between the key, which is the number of wakes, and the sleep where
 * it is still that number: an event count (wake.h). */
static void pop_one(void)
{
    for (;;) {
        unsigned key = n_woken;
        if (pop())
            return;
        if (n_woken == key)
            sleep_until_woken();
    }
}

/* By letters:  0 … 7  adds that job, and wakes one
 *              a … h  takes that job out, if it is there
 *              p      takes any, for which it sleeps
 *              q      takes any, if one is there */
static void run_op(char op)
{
    if (op == 'p') {
        pop_one();
    } else if (op == 'q') {
        pop();
    } else if (op >= 'a') {
        uint32_t node = node_of[op - 'a'];
        taken[node] += dfr_order_remove(&order, dfr_job(0, node));
    } else {
        dfr_order_add(&order, dfr_job(0, node_of[op - '0']));
        wake(NULL, 0);
    }
}

static void run_thread(void *arg, unsigned number)
{
    (void)arg;
    for (const char *op = threads[number]; *op; op++)
        run_op(*op);
}

static void begin(void *arg)
{
    (void)arg;
    for (unsigned j = 0; j < added; j++)
        taken[node_of[j]] = 0;
    memset(sleeps, 0, sizeof sleeps);
    n_woken = 0;
    for (uint64_t i = 0; i < order.words_of[0]; i++)
        atomic_store(&order.words[0][i], 0);
    for (unsigned l = 1; l <= order.top; l++)
        for (uint64_t i = 0; i < order.words_of[l]; i++)
            atomic_store(&order.words[l][i], 0);
    run_op('0');
}

static bool end(void *arg, bool ended)
{
    bool good = ended;

    (void)arg;
    if (!ended)
        print_message("a worker sleeps beside a job\n");
    while (pop())
        ;
    for (unsigned j = 0; j < added; j++) {
        if (taken[node_of[j]] != 1)
            print_message("job %u was taken %u times\n", j, taken[node_of[j]]);
        good = good && taken[node_of[j]] == 1;
    }
    return good;
}

/* Jobs 0 … n - 1 are of these nodes, and job 0 is there before. */
static void explore(const uint32_t *of, unsigned n, const char *const *programs, unsigned preemptions)
{
    unsigned n_threads = 0;

    steps_skip_under_tsan();
    memcpy(node_of, of, n * sizeof *of);
    added = n;
    threads = programs;
    while (programs[n_threads])
        n_threads++;
    for (uint32_t v = 0; v < NODES; v++)
        by_rank[v] = v;
    assert_true(dfr_order_create(&order, &view, 1, false, by_rank, NODES, ranks));
    assert_int_equal(order.top, 2);
    assert_true(steps_explore(&(struct steps){ n_threads, begin, run_thread, end, NULL }, preemptions) > 100);
    dfr_order_destroy(&order);
}

#define EXPLORE(n, preemptions, ...) explore(of, n, (const char *const[]){ __VA_ARGS__, NULL }, preemptions)

/* A job comes where the last one of its word is just being taken: who takes that one out hides the other for a moment.
 * (The word of the first nodes is looked at in any case, so it is another.) */
static void test_hidden_beside_the_last(void **state)
{
    static const uint32_t of[] = { 70, 75, 77 };
    (void)state;
    EXPLORE(2, 2, "a", "1", "p");       /* taken out by who wants no other: of another unit, say */
    EXPLORE(2, 2, "q", "1", "p");
    EXPLORE(3, 1, "a", "1", "2", "pp");
    EXPLORE(3, 1, "a", "12", "p", "p");
}

/* The same one level higher. */
static void test_hidden_in_the_next_word(void **state)
{
    static const uint32_t of[] = { 4160, 4300, 8199 };
    (void)state;
    EXPLORE(2, 2, "a", "1", "p");
    EXPLORE(3, 2, "a", "12", "pp");
    EXPLORE(3, 1, "q", "12", "p", "p");
}

/* All want the same ones. */
static void test_each_once(void **state)
{
    static const uint32_t of[] = { 0, 1, 200 };
    (void)state;
    EXPLORE(3, 2, "1q", "2q", "qq");
    EXPLORE(3, 2, "aq", "12", "bq");
}

/* ---- taking some jobs only ---- */

static bool is_even(void *arg, uint64_t job)
{
    (void)arg;
    return dfr_job_node(job) % 2 == 0;
}

static bool is_none(void *arg, uint64_t job)
{
    ++*(unsigned *)arg;
    (void)job;
    return false;
}

/* The most urgent of those that may be taken, wherever they are; the others stay. */
static void test_pop_where(void **state)
{
    static const uint32_t present[] = { 1, 3, 64, 65, 127, 4096, 8190 };
    unsigned looks = 0;
    uint64_t job;

    (void)state;
    for (uint32_t v = 0; v < NODES; v++)
        by_rank[v] = v;
    assert_true(dfr_order_create(&order, &view, 1, false, by_rank, NODES, ranks));
    for (unsigned i = 0; i < sizeof present / sizeof *present; i++)
        dfr_order_add(&order, dfr_job(0, present[i]));
    for (unsigned i = 0; i < sizeof present / sizeof *present; i++) {
        if (present[i] % 2)
            continue;
        assert_true(dfr_order_pop_where(&order, is_even, NULL, &job));
        assert_int_equal(dfr_job_node(job), present[i]);
    }
    assert_false(dfr_order_pop_where(&order, is_even, NULL, &job));
    assert_false(dfr_order_pop_where(&order, is_none, &looks, &job));
    assert_int_equal(looks, 4);
    for (unsigned i = 200; i < 200 + 2 * DFR_ORDER_LOOKS; i++)
        dfr_order_add(&order, dfr_job(0, i));
    looks = 0;
    assert_false(dfr_order_pop_where(&order, is_none, &looks, &job));
    assert_int_equal(looks, DFR_ORDER_LOOKS);
    for (unsigned n = 0; n < 4 + 2 * DFR_ORDER_LOOKS; n++)
        assert_true(dfr_order_pop(&order, &job));
    assert_false(dfr_order_pop(&order, &job));
    dfr_order_destroy(&order);
}

static int64_t wave_of_slot(void *arg, uint32_t slot)
{
    (void)arg;
    return slot == 0 ? 3 : slot;        /* waves 1 and 2 are older than the one in slot 0 */
}

/* With waves the search begins at the oldest one, and goes round. */
static void test_pop_where_by_wave(void **state)
{
    static const uint32_t list[] = { 0, 1, 2, 3 };
    static const struct { uint32_t slot, node; } wanted[] = { { 1, 2 }, { 2, 0 }, { 0, 0 }, { 0, 2 } };
    struct dfr_view waves = view;
    struct dfr_order o;
    uint32_t rank[4];
    uint64_t job;

    (void)state;
    waves.n_slots = 3;
    waves.wave = wave_of_slot;
    assert_true(dfr_order_create(&o, &waves, 1, true, list, 4, rank));
    for (unsigned i = 4; i-- > 0;)
        dfr_order_add(&o, dfr_job(wanted[i].slot, wanted[i].node));
    for (uint32_t slot = 0; slot < 3; slot++)
        dfr_order_add(&o, dfr_job(slot, 1));
    for (unsigned i = 0; i < 4; i++) {
        assert_true(dfr_order_pop_where(&o, is_even, NULL, &job));
        assert_true(job == dfr_job(wanted[i].slot, wanted[i].node));
    }
    assert_false(dfr_order_pop_where(&o, is_even, NULL, &job));
    dfr_order_destroy(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hidden_beside_the_last),
        cmocka_unit_test(test_hidden_in_the_next_word),
        cmocka_unit_test(test_each_once),
        cmocka_unit_test(test_pop_where),
        cmocka_unit_test(test_pop_where_by_wave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
