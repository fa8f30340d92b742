/* test_queue_steps.c - the lock-free queue, one atomic operation at a time (steps_rig.h). Small programs of two or
 * three threads push and pop. What each operation returned must be what some order of the operations would give on a
 * plain queue (Herlihy & Wing 1990). The tests are named by the known bugs of this family of queues, which need one or
 * two preemptions at the right place. If a rule that the head of queue.c names is left out, the test of its bug fails.
 * tests/model has the same steps under every schedule, by spin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "steps_atomics.h"

#include "runtime/threads/queue.c"

/* ---- what happened, and whether a plain queue could have done it ---- */

enum { MAX_OPS = 16 };

struct op {
    char kind;                          /* '+' push, '-' pop, '?' is_empty */
    bool result;
    uint64_t item;
    unsigned began, ended;              /* the moments, which are counted */
};

static struct op history[MAX_OPS];
static unsigned n_ops, moment, capacity;

static bool has_ended(const struct op *op)
{
    return op->ended != UINT32_MAX;
}

/* May the push `op` have found the queue full, if `count` items are inside and the operations in `done` have happened?
 * Other pushes that had begun may hold the room that is left. */
static bool may_be_full(unsigned done, const struct op *op, unsigned count)
{
    for (unsigned i = 0; i < n_ops; i++) {
        if (!(done & 1u << i) && &history[i] != op && history[i].kind == '+' && history[i].began < op->ended)
            count++;
    }
    return count >= capacity;
}

/* Could the operations that are not in `done` follow, if items[first] … items[count - 1] are inside? Tries each
 * operation that began before all of them had ended. If an operation has not ended, because its thread was stopped, it
 * may have happened or not. */
static bool explains(unsigned done, const uint64_t *items, unsigned first, unsigned count)
{
    unsigned earliest_end = UINT32_MAX;
    bool all_done = true;

    for (unsigned i = 0; i < n_ops; i++) {
        if (done & 1u << i || !has_ended(&history[i]))
            continue;
        all_done = false;
        if (history[i].ended < earliest_end)
            earliest_end = history[i].ended;
    }
    if (all_done)
        return true;
    for (unsigned i = 0; i < n_ops; i++) {
        const struct op *op = &history[i];
        bool stopped = !has_ended(op);
        uint64_t after[MAX_OPS];
        unsigned after_first = first, after_count = count;

        if (done & 1u << i || op->began > earliest_end)
            continue;
        memcpy(after, items, sizeof after);
        if (op->kind == '+') {
            if (stopped || op->result)
                after[after_count++] = op->item;
            else if (!may_be_full(done, op, count - first))
                continue;
        } else if (op->kind == '?') {
            if (!stopped && op->result != (first == count))
                continue;
        } else {
            if (!stopped && (op->result != (first < count) || (op->result && op->item != items[first])))
                continue;
            after_first += first < count;
        }
        if (explains(done | 1u << i, after, after_first, after_count))
            return true;
    }
    return false;
}

/* ---- programs ---- */

static struct dfr_queue *queue;

struct program {
    const char *setup, *threads[3];
};

static void run_op(char kind, uint64_t item)
{
    struct op *op = &history[n_ops++];

    op->kind = kind;
    op->item = item;
    op->ended = UINT32_MAX;
    op->began = ++moment;
    if (kind == '+')
        op->result = dfr_queue_push(queue, item);
    else if (kind == '-')
        op->result = dfr_queue_pop(queue, &op->item);
    else
        op->result = dfr_queue_is_empty(queue);
    op->ended = ++moment;
}

static void run_thread(void *arg, unsigned number)
{
    const char *ops = ((const struct program *)arg)->threads[number];

    for (unsigned i = 0; ops[i] != '\0'; i++)
        run_op(ops[i], 100 * (number + 1) + i);
}

static void begin(void *arg)
{
    const char *setup = ((const struct program *)arg)->setup;

    n_ops = 0;
    moment = 0;
    queue = dfr_queue_create(capacity);
    assert_non_null(queue);
    for (unsigned i = 0; setup[i] != '\0'; i++)
        run_op(setup[i], i + 1);
}

static void print_history(void)
{
    for (unsigned i = 0; i < n_ops; i++)
        print_message("  %c item %u result %d, moments %u to %u\n", history[i].kind, (unsigned)history[i].item,
                      history[i].result, history[i].began, history[i].ended);
}

/* Is the history that of a queue? If not, prints it. */
static bool end(void *arg, bool ended)
{
    const uint64_t nothing[MAX_OPS] = {0};
    bool fine = explains(0, nothing, 0, 0);

    (void)arg;
    dfr_queue_destroy(queue);
    if (!fine)
        print_history();
    print_message("%s", !fine ? "no order of the operations explains this\n" : !ended ? "no progress\n" : "");
    return fine && ended;
}

static void explore(const char *setup, const char *a, const char *b, const char *c, unsigned room, unsigned preemptions)
{
    struct program program = {setup, {a, b, c}};
    unsigned n_runs;

    capacity = room;
    n_runs = steps_explore(&(struct steps){c == NULL ? 2 : 3, begin, run_thread, end, &program}, preemptions);
    if (n_runs == 0)
        fail_msg("setup \"%s\", threads \"%s\" \"%s\" \"%s\"", setup, a, b, c == NULL ? "" : c);
    assert_true(n_runs > 100); /* if not, nothing was explored */
}

/* For each number of its steps: thread a stops for good after so many, then b runs alone to its end. */
static void explore_stopped(const char *setup, const char *a, const char *b, unsigned room)
{
    struct program program = {setup, {a, b, NULL}};
    unsigned n_runs;

    capacity = room;
    n_runs = steps_explore_stopped(&(struct steps){2, begin, run_thread, end, &program});
    if (n_runs == 0)
        fail_msg("setup \"%s\", \"%s\" stopped, then \"%s\"", setup, a, b);
    assert_true(n_runs > 5);
}

/* ponyc #5820, questdb #7557, ck #165: the node that pop found at head is recycled meanwhile, and is now the last node.
 * So its next is NONE, in a queue that was never empty. */
static void test_false_empty_as_head_is_recycled(void **state)
{
    (void)state;
    steps_skip_under_tsan();
    explore("++", "-", "-+", NULL, 2, 4);
    explore("++", "-", "-+", NULL, 3, 4);
    explore("++", "?", "-+", NULL, 2, 4);
    explore("+++", "--", "-+-", NULL, 3, 3);
    explore("+", "-?", "-+?", NULL, 2, 3);
}

/* ponyc #4541: the node that push found at tail is popped and recycled before push reads its next, and even before push
 * links to it. The address sanitizer checks that it stays readable. */
static void test_tail_is_recycled_under_push(void **state)
{
    (void)state;
    steps_skip_under_tsan();
    explore("", "+-", "+-+-", NULL, 2, 3);
    explore("+", "+", "-+-+-", NULL, 3, 2);
    explore("", "+--", "+-+", NULL, 2, 3);
    explore("++", "--+", "-+-", NULL, 3, 2);
}

/* Head, tail or oldest goes on and comes back to the same node. What a thread has read before is no longer true. */
static void test_aba(void **state)
{
    (void)state;
    steps_skip_under_tsan();
    explore("+", "-", "-+-+", NULL, 1, 3);  /* head */
    explore("+", "-", "-+-+-", NULL, 1, 2);
    explore("", "+", "+-+-+-", NULL, 2, 2); /* tail */
    explore("", "+-", "+-+-+-", NULL, 3, 2);
    explore("", "+", "+-+-", NULL, 1, 3);   /* oldest */
}

/* Head overtakes tail, which stays at a node that the next push takes. */
static void test_pop_overtakes_tail(void **state)
{
    (void)state;
    steps_skip_under_tsan();
    explore("", "+", "-+-", NULL, 1, 3);
    explore("", "+", "-+", "+-", 2, 2);
    explore("", "+", "-+-+-", NULL, 2, 3);
}

/* A push stops between linking its node and moving tail, or anywhere else. The other threads do not wait for it. */
static void test_stopped_thread_delays_nobody(void **state)
{
    (void)state;
    steps_skip_under_tsan();
    explore_stopped("", "+", "+-+-+-+--", 3);
    explore_stopped("+", "+", "-+-+-", 2);
    explore_stopped("++", "-", "-+-+--", 3);
    explore_stopped("+", "-+", "+--+-", 2);
}

/* Push says "full" only while others hold the room. */
static void test_false_full(void **state)
{
    (void)state;
    steps_skip_under_tsan();
    explore("+", "-+", "-+", NULL, 1, 3);
    explore("", "+-+", "+-+", NULL, 2, 3);
    explore("++", "-+", "-+", NULL, 2, 3);
}

static void test_three_threads(void **state)
{
    (void)state;
    steps_skip_under_tsan();
    explore("+", "-", "-+", "+", 2, 2);
    explore("", "+-", "+-", "+-", 3, 2);
    explore("+", "-+", "+-", "?-", 3, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_false_empty_as_head_is_recycled),
        cmocka_unit_test(test_tail_is_recycled_under_push),
        cmocka_unit_test(test_aba),
        cmocka_unit_test(test_pop_overtakes_tail),
        cmocka_unit_test(test_stopped_thread_delays_nobody),
        cmocka_unit_test(test_false_full),
        cmocka_unit_test(test_three_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
