/* steps_rig.c - coroutines, and the enumeration of schedules. */
#include "steps_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ucontext.h>

enum { STACK_BYTES = 256 * 1024 };

static struct coroutine {
    ucontext_t context;
    bool ended, blocked, yields;
} coroutines[STEPS_THREADS];

static const struct steps *steps;
static unsigned running;
static bool scheduling;
static ucontext_t scheduler;
static unsigned char stacks[STEPS_THREADS][STACK_BYTES];

/* ---- threads ---- */

void steps_give_way(void)
{
    if (scheduling)
        swapcontext(&coroutines[running].context, &scheduler);
}

void steps_yield(void)
{
    if (!scheduling)
        return;
    coroutines[running].yields = true;
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

static void run_thread(unsigned number)
{
    steps->thread(steps->arg, number);
    coroutines[number].ended = true;
}

static void start(void)
{
    steps->begin(steps->arg);
    for (unsigned i = 0; i < steps->n_threads; i++) {
        struct coroutine *c = &coroutines[i];

        c->ended = c->blocked = c->yields = false;
        getcontext(&c->context);
        c->context.uc_stack.ss_sp = stacks[i];
        c->context.uc_stack.ss_size = STACK_BYTES;
        c->context.uc_link = &scheduler;
        makecontext(&c->context, (void (*)(void))run_thread, 1, i);
    }
    running = 0;
}

static void step(unsigned who)
{
    running = who;
    coroutines[who].yields = false;
    scheduling = true;
    swapcontext(&scheduler, &coroutines[who].context);
    scheduling = false;
}

/* ---- every schedule ---- */

/* At each step the choice is who goes on; choices[s] of options[s]. Choice 0 is the one who ran, where it can. */
static unsigned char choices[STEPS_MOST], options[STEPS_MOST];
static unsigned n_steps;

static bool can_run(unsigned thread)
{
    return !coroutines[thread].ended && !coroutines[thread].blocked;
}

/* To leave one that could go on costs a preemption. */
static bool leaving_costs(void)
{
    return can_run(running) && !coroutines[running].yields;
}

/* Who may run now, the one that ran first. */
static unsigned candidates(unsigned preemptions_left, unsigned *who)
{
    unsigned n = 0;

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

/* One run: the choices given so far, then 0 each time. */
static bool run_schedule(unsigned preemptions, unsigned n_given)
{
    unsigned who[STEPS_THREADS], n;

    start();
    for (n_steps = 0; n_steps < STEPS_MOST && (n = candidates(preemptions, who)) > 0; n_steps++) {
        unsigned choice = n_steps < n_given ? choices[n_steps] : 0;

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
