/* test_queue_steps.c - the lock-free queue, one atomic operation at a time: small programs of two or three threads are
 * run under every schedule with few preemptions (Musuvathi & Qadeer, PLDI 2007), and what each operation returned must
 * be what some order of them would give on a plain queue (Herlihy & Wing 1990). The family's bugs need one or two
 * preemptions at the right place, which a stress test meets by luck and this one always: leaving out either "second
 * look" in queue.c makes it fail.
 *
 * queue.c is compiled into this program with atomic operations that first give way to the scheduler; threads are
 * coroutines of one thread, so what is explored is interleavings, not weak memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

/* ---- atomics that give way ---- */

static void give_way(void);

static uint64_t load64(const _Atomic uint64_t *place)
{
    return atomic_load_explicit(place, memory_order_relaxed);
}

static uint32_t load32(const _Atomic uint32_t *place)
{
    return atomic_load_explicit(place, memory_order_relaxed);
}

static void store64(_Atomic uint64_t *place, uint64_t value)
{
    atomic_store_explicit(place, value, memory_order_relaxed);
}

static void store32(_Atomic uint32_t *place, uint32_t value)
{
    atomic_store_explicit(place, value, memory_order_relaxed);
}

static bool swap64(_Atomic uint64_t *place, uint64_t *expected, uint64_t desired)
{
    return atomic_compare_exchange_strong(place, expected, desired);
}

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit
#define atomic_load_explicit(place, order) \
    (give_way(), _Generic((place), _Atomic uint32_t *: load32, default: load64)(place))
#define atomic_store_explicit(place, value, order) \
    (give_way(), _Generic((place), _Atomic uint32_t *: store32, default: store64)(place, value))
#define atomic_compare_exchange_strong_explicit(place, expected, desired, success, failure) \
    (give_way(), swap64(place, expected, desired))
#define atomic_compare_exchange_weak_explicit(place, expected, desired, success, failure) \
    (give_way(), swap64(place, expected, desired))

#include "../../runtime/queue.c"

/* ---- what happened, and whether a plain queue could have done it ---- */

enum { MAX_OPS = 16, MAX_COROUTINES = 3, MAX_STEPS = 2000, STACK_BYTES = 256 * 1024 };

struct op {
    char kind;                          /* '+' push, '-' pop, '?' is_empty */
    bool result;
    uint64_t item;
    unsigned began, ended;              /* moments */
};

static struct op history[MAX_OPS];
static unsigned n_ops, moment;

/* Could the operations not in `done` follow, with `items` inside? Tries each that began before all of them had ended.
 * */
static bool explains(unsigned done, const uint64_t *items, unsigned first, unsigned count)
{
    unsigned earliest_end = UINT32_MAX;

    if (done == (1u << n_ops) - 1)
        return true;
    for (unsigned i = 0; i < n_ops; i++) {
        if (!(done & 1u << i) && history[i].ended < earliest_end)
            earliest_end = history[i].ended;
    }
    for (unsigned i = 0; i < n_ops; i++) {
        const struct op *op = &history[i];
        uint64_t after[MAX_OPS];
        unsigned after_first = first, after_count = count;

        if (done & 1u << i || op->began > earliest_end)
            continue;
        memcpy(after, items, sizeof after);
        if (op->kind == '+') {
            if (!op->result)
                continue; /* there is always room in these programs */
            after[after_count++] = op->item;
        } else if (op->kind == '?') {
            if (op->result != (first == count))
                continue;
        } else {
            if (op->result != (first < count) || (op->result && op->item != items[first]))
                continue;
            after_first += op->result;
        }
        if (explains(done | 1u << i, after, after_first, after_count))
            return true;
    }
    return false;
}

/* ---- coroutines ---- */

struct coroutine {
    ucontext_t context;
    const char *program;
    bool ended;
    unsigned number;
};

static struct coroutine coroutines[MAX_COROUTINES];
static unsigned n_coroutines, running;
static bool scheduling;
static ucontext_t scheduler;
static unsigned char stacks[MAX_COROUTINES][STACK_BYTES];
static struct dfr_queue *queue;

static void give_way(void)
{
    if (scheduling)
        swapcontext(&coroutines[running].context, &scheduler);
}

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

static void run_program(unsigned number)
{
    struct coroutine *me = &coroutines[number];

    for (unsigned i = 0; me->program[i] != '\0'; i++)
        run_op(me->program[i], 100 * (number + 1) + i);
    me->ended = true;
}

/* ---- every schedule ---- */

/* At each step the choice is who goes on; choices[s] of options[s]. Choice 0 is the one who ran, where it can. */
static unsigned char choices[MAX_STEPS], options[MAX_STEPS];
static unsigned n_steps;

/* Who may run now, the one that ran first; staying is free, leaving one that could go on costs a preemption. */
static unsigned candidates(unsigned preemptions_left, unsigned *who)
{
    bool can_stay = !coroutines[running].ended;
    unsigned n = 0;

    if (can_stay)
        who[n++] = running;
    if (can_stay && preemptions_left == 0)
        return n;
    for (unsigned i = 0; i < n_coroutines; i++) {
        if (!coroutines[i].ended && (i != running || !can_stay))
            who[n++] = i;
    }
    return n;
}

static void start(const char *setup, const char *const *programs, uint32_t capacity)
{
    n_ops = 0;
    moment = 0;
    queue = dfr_queue_create(capacity);
    assert_non_null(queue);
    for (unsigned i = 0; setup[i] != '\0'; i++)
        run_op(setup[i], i + 1);
    for (unsigned i = 0; i < n_coroutines; i++) {
        struct coroutine *c = &coroutines[i];

        c->program = programs[i];
        c->ended = false;
        getcontext(&c->context);
        c->context.uc_stack.ss_sp = stacks[i];
        c->context.uc_stack.ss_size = STACK_BYTES;
        c->context.uc_link = &scheduler;
        makecontext(&c->context, (void (*)(void))run_program, 1, i);
    }
    running = 0;
}

/* One run: the choices given so far, then 0 each time. false where it does not end. */
static bool run_schedule(const char *setup, const char *const *programs, uint32_t capacity, unsigned preemptions,
                         unsigned n_given)
{
    unsigned who[MAX_COROUTINES], n;

    start(setup, programs, capacity);
    for (n_steps = 0; (n = candidates(preemptions, who)) > 0; n_steps++) {
        unsigned choice = n_steps < n_given ? choices[n_steps] : 0;

        if (n_steps == MAX_STEPS)
            return false;
        choices[n_steps] = (unsigned char)choice;
        options[n_steps] = (unsigned char)n;
        if (who[choice] != running && !coroutines[running].ended)
            preemptions--;
        running = who[choice];
        scheduling = true;
        swapcontext(&scheduler, &coroutines[running].context);
        scheduling = false;
    }
    return true;
}

static void print_history(void)
{
    for (unsigned i = 0; i < n_ops; i++)
        print_message("  %c item %u result %d, moments %u to %u\n", history[i].kind, (unsigned)history[i].item,
                      history[i].result, history[i].began, history[i].ended);
}

/* All schedules with at most `preemptions`, in order, each run anew from the start. */
static void explore(const char *setup, const char *a, const char *b, const char *c, unsigned preemptions)
{
    const char *programs[] = {a, b, c};
    unsigned n_given = 0, n_runs = 0;

    n_coroutines = c == NULL ? 2 : 3;
    do {
        const uint64_t nothing[MAX_OPS] = {0};
        bool ends = run_schedule(setup, programs, 8, preemptions, n_given), fine = ends && explains(0, nothing, 0, 0);

        dfr_queue_destroy(queue);
        n_runs++;
        if (!fine) {
            print_history();
            fail_msg("setup \"%s\", threads \"%s\" \"%s\" \"%s\", schedule %u: %s", setup, a, b,
                     c == NULL ? "" : c, n_runs, ends ? "no order of the operations explains this" : "no progress");
        }
        for (n_given = n_steps; n_given > 0 && choices[n_given - 1] + 1 == options[n_given - 1];)
            n_given--;
        if (n_given > 0)
            choices[n_given - 1]++;
    } while (n_given > 0);
    assert_true(n_runs > 100); /* or nothing was explored */
}

/* The thread sanitizer does not follow coroutines, and has nothing to find in one thread. */
static void skip_under_tsan(void)
{
#ifdef __SANITIZE_THREAD__
    skip();
#endif
}

static void test_two_threads(void **state)
{
    (void)state;
    skip_under_tsan();
    explore("", "+-", "+-", NULL, 3);
    explore("++", "-", "-+", NULL, 4);  /* false "empty": head's node is recycled as the tail */
    explore("++", "?", "-+", NULL, 4);
    explore("+", "-?", "-+?", NULL, 3);
    explore("", "+--", "+-+", NULL, 3); /* a push meets a tail that is being recycled */
    explore("++", "--+", "-+-", NULL, 2);
}

static void test_three_threads(void **state)
{
    (void)state;
    skip_under_tsan();
    explore("+", "-", "-+", "+", 2);
    explore("", "+-", "+-", "+-", 2);
    explore("+", "-+", "+-", "?-", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_threads),
        cmocka_unit_test(test_three_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
