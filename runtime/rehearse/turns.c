/* turns.c - who acts next (turns.h): a table of what the threads have announced. */
#include "runtime/rehearse/turns.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct turn {
    double at_s, called_s;              /* called_s: another thread has called it for then, and it has not heard that yet */
    uint64_t order, called_order;
    bool listens;                       /* it may be called */
    bool waits;                         /* its thread waits for `comes` */
    pthread_cond_t comes;
};

struct dfr_turns {
    const struct dfr_nominal *nominal;
    pthread_mutex_t mutex;              /* for all that follows */
    uint32_t n;
    struct turn turns[];
};

static _Thread_local struct dfr_turns *entered;
static _Thread_local uint32_t mine;

struct dfr_turns *dfr_turns_create(uint32_t n, const struct dfr_nominal *nominal)
{
    struct dfr_turns *t = malloc(sizeof *t + n * sizeof *t->turns);
    pthread_condattr_t monotonic;

    if (!t)
        return NULL;
    t->nominal = nominal;
    t->n = n;
    pthread_mutex_init(&t->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    for (uint32_t i = 0; i < n; i++) {
        t->turns[i] = (struct turn){ .at_s = INFINITY, .called_s = INFINITY, .listens = true };
        pthread_cond_init(&t->turns[i].comes, &monotonic);
    }
    pthread_condattr_destroy(&monotonic);
    return t;
}

void dfr_turns_destroy(struct dfr_turns *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < t->n; i++)
        pthread_cond_destroy(&t->turns[i].comes);
    pthread_mutex_destroy(&t->mutex);
    free(t);
}

void dfr_turns_enter(struct dfr_turns *turns, uint32_t number)
{
    entered = turns;
    mine = number;
}

static bool is_called(const struct turn *t)
{
    return t->called_s < t->at_s || (t->called_s == t->at_s && t->called_order < t->order);
}

static bool is_before(const struct turn *a, const struct turn *b)
{
    double a_s = fmin(a->at_s, a->called_s), b_s = fmin(b->at_s, b->called_s);

    return a_s < b_s || (a_s == b_s && (is_called(a) ? a->called_order : a->order) <
                                       (is_called(b) ? b->called_order : b->order));
}

static struct turn *first(struct dfr_turns *t)
{
    struct turn *found = &t->turns[mine];

    for (uint32_t i = 0; i < t->n; i++)
        if (is_before(&t->turns[i], found))
            found = &t->turns[i];
    return found;
}

static void announce(double at_s, uint64_t order, bool idle)
{
    struct turn *next;

    if (!entered)
        return;
    pthread_mutex_lock(&entered->mutex);
    entered->turns[mine].at_s = at_s;
    entered->turns[mine].order = order;
    entered->turns[mine].listens |= idle;
    next = first(entered);
    if (next->waits)
        pthread_cond_signal(&next->comes);
    pthread_mutex_unlock(&entered->mutex);
}

void dfr_turns_announce(double at_s, uint64_t order)
{
    announce(at_s, order, false);
}

void dfr_turns_idle(void)
{
    announce(INFINITY, 0, true);
}

void dfr_turns_call(struct dfr_turns *t, uint32_t number, double at_s, uint64_t order)
{
    struct turn *turn = &t->turns[number];

    pthread_mutex_lock(&t->mutex);
    if (turn->listens && (at_s < turn->called_s || (at_s == turn->called_s && order < turn->called_order))) {
        turn->called_s = at_s;
        turn->called_order = order;
        if (turn->waits)
            pthread_cond_signal(&turn->comes);
    }
    pthread_mutex_unlock(&t->mutex);
}

double dfr_turns_hear(bool again)
{
    struct turn *my;
    double called_s;

    if (!entered)
        return INFINITY;
    my = &entered->turns[mine];
    pthread_mutex_lock(&entered->mutex);
    if (is_called(my)) {
        my->at_s = my->called_s;
        my->order = my->called_order;
    }
    called_s = my->called_s;
    my->called_s = INFINITY;
    my->listens = again;
    pthread_mutex_unlock(&entered->mutex);
    return called_s;
}

bool dfr_turns_called(void)
{
    bool called;

    if (!entered)
        return false;
    pthread_mutex_lock(&entered->mutex);
    called = is_called(&entered->turns[mine]);
    pthread_mutex_unlock(&entered->mutex);
    return called;
}

bool dfr_turns_await(void)
{
    struct timespec until;
    double whole_s, part_s;
    struct turn *my;
    bool at_once;

    if (!entered)
        return true;
    my = &entered->turns[mine];
    pthread_mutex_lock(&entered->mutex);
    part_s = modf(dfr_nominal_until_s(entered->nominal, my->at_s) + DFR_AWAIT_S, &whole_s);
    until = (struct timespec){ (time_t)whole_s, (long)(1e9 * part_s) };
    at_once = !is_called(my) && first(entered) == my;
    my->waits = true;
    while (!is_called(my) && first(entered) != my && pthread_cond_timedwait(&my->comes, &entered->mutex, &until) == 0)
        ;
    my->waits = false;
    pthread_mutex_unlock(&entered->mutex);
    return at_once;
}
