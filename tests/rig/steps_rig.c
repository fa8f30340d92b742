/* steps_rig.c - threads as coroutines, and the enumeration of their schedules (steps_rig.h).
 *
 * A coroutine begins by setcontext(), which gives it a stack. From then on _longjmp() switches between it and the scheduler: swapcontext() would make two
 * calls of the system each time, for signal masks.
 */
#undef _FORTIFY_SOURCE                  /* its longjmp() refuses to go from one stack to another */
#include "steps_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/futex.h>
#include <string.h>
#include <ucontext.h>

enum { STACK_BYTES = 256 * 1024 };

static struct coroutine {
    ucontext_t context;
    jmp_buf place;                      /* where it gave way */
    bool begun, ended, blocked, spins, yields;
} coroutines[STEPS_THREADS];

static const struct steps *steps;
static unsigned running;
static bool scheduling;
static jmp_buf scheduler;
static unsigned char stacks[STEPS_THREADS][STACK_BYTES];

/* ---- threads ---- */

void steps_give_way(void)
{
    if (scheduling && _setjmp(coroutines[running].place) == 0)
        _longjmp(scheduler, 1);
}

void steps_yield(void)
{
    if (!scheduling)
        return;
    coroutines[running].yields = true;
    steps_give_way();
}

void steps_spin(void)
{
    if (!scheduling)
        return;
    coroutines[running].spins = true;
    steps_give_way();
}

void steps_block(void)
{
    coroutines[running].blocked = true;
    steps_give_way();
}

void steps_unblock(unsigned thread)
{
    coroutines[thread].blocked = false;
}

unsigned steps_me(void)
{
    return running;
}

/* ---- a futex ---- */

static struct {
    unsigned thread;
    const uint32_t *word;
} waiting[STEPS_THREADS];
static unsigned n_waiting;

static void stop_waiting(unsigned place)
{
    memmove(&waiting[place], &waiting[place + 1], (--n_waiting - place) * sizeof *waiting);
}

static void futex_wait(const uint32_t *word, uint32_t seen, bool forever)
{
    if (*word != seen)
        return;
    waiting[n_waiting].thread = running;
    waiting[n_waiting++].word = word;
    if (forever)
        steps_block();
    else
        steps_spin();
    for (unsigned i = 0; i < n_waiting; i++)
        if (waiting[i].thread == running)
            stop_waiting(i);            /* its time limit is over */
}

static void futex_wake(const uint32_t *word, uint32_t count)
{
    for (unsigned i = 0; i < n_waiting && count > 0;) {
        if (waiting[i].word != word) {
            i++;
            continue;
        }
        steps_unblock(waiting[i].thread);
        stop_waiting(i);
        count--;
    }
}

long steps_futex(const uint32_t *word, int op, uint32_t value, bool forever)
{
    steps_give_way();
    if (op == FUTEX_WAIT_PRIVATE)
        futex_wait(word, value, forever);
    else
        futex_wake(word, value);
    return 0;
}

/* ---- a run ---- */

static void run_thread(unsigned number)
{
    steps->thread(steps->arg, number);
    coroutines[number].ended = true;
    _longjmp(scheduler, 1);
}

static void start(void)
{
    steps->begin(steps->arg);
    for (unsigned i = 0; i < steps->n_threads; i++) {
        struct coroutine *c = &coroutines[i];

        c->begun = c->ended = c->blocked = c->spins = c->yields = false;
        getcontext(&c->context);
        c->context.uc_stack.ss_sp = stacks[i];
        c->context.uc_stack.ss_size = STACK_BYTES;
        c->context.uc_link = NULL;      /* run_thread() does not return */
        makecontext(&c->context, (void (*)(void))run_thread, 1, i);
    }
    running = 0;
    n_waiting = 0;
}

static void step(unsigned who)
{
    struct coroutine *c = &coroutines[who];

    running = who;
    c->spins = c->yields = false;
    scheduling = true;
    if (_setjmp(scheduler) == 0) {
        if (c->begun)
            _longjmp(c->place, 1);
        c->begun = true;
        setcontext(&c->context);
    }
    scheduling = false;
}

/* ---- every schedule ---- */

/* At each step s the choice is which thread goes on: choices[s] of options[s]. Choice 0 is the thread that ran last, if
 * it can go on. */
static unsigned char choices[STEPS_MOST], options[STEPS_MOST];
static unsigned n_steps;

static bool can_run(unsigned thread)
{
    return !coroutines[thread].ended && !coroutines[thread].blocked;
}

/* If the thread that runs could go on, another choice costs a preemption. */
static bool leaving_costs(void)
{
    return can_run(running) && !coroutines[running].spins && !coroutines[running].yields;
}

/* The next thread that can run after the one that spins. It is the spinning thread itself only if no other can run. */
static unsigned next_after_spin(void)
{
    unsigned next = running;
    do
        next = (next + 1) % steps->n_threads;
    while (!can_run(next));
    return next;
}

/* The threads that may run now. The one that ran last comes first. */
static unsigned candidates(unsigned preemptions_left, unsigned *who)
{
    unsigned n = 0;

    if (can_run(running) && coroutines[running].spins) {
        who[0] = next_after_spin();
        return 1;
    }
    if (can_run(running))
        who[n++] = running;
    if (leaving_costs() && preemptions_left == 0)
        return n;
    for (unsigned i = 0; i < steps->n_threads; i++)
        if (i != running && can_run(i))
            who[n++] = i;
    return n;
}

static bool all_ended(void)
{
    for (unsigned i = 0; i < steps->n_threads; i++)
        if (!coroutines[i].ended)
            return false;
    return true;
}

/* One run: takes the choices that are given, and after them choice 0 at each step. */
static bool run_schedule(unsigned preemptions, unsigned n_given)
{
    unsigned who[STEPS_THREADS], n;

    start();
    for (n_steps = 0; n_steps < STEPS_MOST && (n = candidates(preemptions, who)) > 0; n_steps++) {
        unsigned choice = n_steps < n_given ? choices[n_steps] : 0;

        assert_true(choice < n);        /* if not, the steps before were not the same again */
        choices[n_steps] = (unsigned char)choice;
        options[n_steps] = (unsigned char)n;
        if (who[choice] != running && leaving_costs())
            preemptions--;
        step(who[choice]);
    }
    return steps->end(steps->arg, all_ended());
}

unsigned steps_explore(const struct steps *s, unsigned preemptions)
{
    unsigned n_given = 0, n_runs = 0;

    steps = s;
    do {
        n_runs++;
        if (!run_schedule(preemptions, n_given)) {
            print_message("schedule %u\n", n_runs);
            return 0;
        }
        for (n_given = n_steps; n_given > 0 && choices[n_given - 1] + 1 == options[n_given - 1];)
            n_given--;
        if (n_given > 0)
            choices[n_given - 1]++;
    } while (n_given > 0);
    return n_runs;
}

unsigned steps_explore_stopped(const struct steps *s)
{
    bool more = true;
    unsigned n_before;

    steps = s;
    for (n_before = 0; more; n_before++) {
        unsigned n_after = 0;

        start();
        for (unsigned i = 0; i < n_before && can_run(0); i++)
            step(0);
        more = can_run(0);
        while (can_run(1) && n_after++ < STEPS_MOST)
            step(1);
        if (!steps->end(steps->arg, coroutines[1].ended)) {
            print_message("thread 0 stopped after %u steps\n", n_before);
            return 0;
        }
    }
    return n_before;
}

void steps_skip_under_tsan(void)
{
#ifdef __SANITIZE_THREAD__
    skip();
#endif
}
