/* gang.c - gathers workers for a multi-threaded job (gang.h). CPU workers (worker.c) join and lead gangs, engine.c asks
 * whether one gathers, and ending.c wakes it when a run ends. All waiting is on one futex word, `event`, which changes
 * whenever another word changes: a waiting worker reads `event`, then checks the other words, then sleeps while `event`
 * is unchanged.
 *
 * States:   1 no leader (led = 0); 2 gathering (led = 1, wanted > 0); 3 complete (joined = workers - 1). dfr_gang_end()
 *           leads back to state 1, and advances `round`, for which the joined workers wait.
 */
#include "runtime/engine/gang.h"

#include <stdlib.h>

#include "runtime/engine/engine.h"

struct dfr_gang {
    _Atomic uint32_t event, led, wanted, joined, round;
};

struct dfr_gang *dfr_gang_create(void)
{
    return calloc(1, sizeof(struct dfr_gang));
}

void dfr_gang_destroy(struct dfr_gang *gang)
{
    free(gang);
}

bool dfr_gang_gathers(const struct dfr_gang *gang)
{
    return atomic_load_explicit(&((struct dfr_gang *)gang)->wanted, memory_order_relaxed) > 0;
}

void dfr_gang_wake(struct dfr_gang *gang)
{
    atomic_fetch_add_explicit(&gang->event, 1, memory_order_seq_cst);
    dfr_futex_wake(&gang->event, UINT32_MAX);
}

static bool take_place(struct dfr_gang *gang)
{
    uint32_t n = atomic_load_explicit(&gang->wanted, memory_order_acquire);
    while (n > 0)
        if (atomic_compare_exchange_weak_explicit(&gang->wanted, &n, n - 1, memory_order_acq_rel, memory_order_acquire))
            return true;
    return false;
}

bool dfr_gang_join(struct dfr_gang *gang, struct dfr_worker *w)
{
    uint32_t round, event;

    if (!take_place(gang))
        return false;
    round = atomic_load_explicit(&gang->round, memory_order_acquire); /* does not change until this worker has joined */
    atomic_fetch_add_explicit(&gang->joined, 1, memory_order_acq_rel);
    dfr_gang_wake(gang);
    dfr_wake_one(&w->run->threads.wakes[0]);    /* somebody may have to take the job that was this worker's next */
    for (;;) {
        event = atomic_load_explicit(&gang->event, memory_order_seq_cst);
        if (atomic_load_explicit(&gang->round, memory_order_acquire) != round || dfr_stopped(w->run))
            return true;
        dfr_futex_wait(&gang->event, event, -1);
    }
}

/* Becomes the leader. While another worker leads, this one joins that worker's gang. */
static bool become_leader(struct dfr_gang *gang, struct dfr_worker *w)
{
    for (;;) {
        uint32_t event = atomic_load_explicit(&gang->event, memory_order_seq_cst), nobody = 0;
        if (dfr_stopped(w->run))
            return false;
        if (atomic_compare_exchange_strong_explicit(&gang->led, &nobody, 1, memory_order_acq_rel, memory_order_relaxed))
            return true;
        if (!dfr_gang_join(gang, w))
            dfr_futex_wait(&gang->event, event, -1);
    }
}

bool dfr_gang_lead(struct dfr_gang *gang, struct dfr_worker *w, uint32_t workers)
{
    if (!become_leader(gang, w))
        return false;
    atomic_store_explicit(&gang->joined, 0, memory_order_relaxed);
    atomic_store_explicit(&gang->wanted, workers - 1, memory_order_release);
    dfr_gang_wake(gang);
    dfr_wake_all(&w->run->threads.wakes[0]);
    for (;;) {
        uint32_t event = atomic_load_explicit(&gang->event, memory_order_seq_cst);
        if (atomic_load_explicit(&gang->joined, memory_order_acquire) == workers - 1)
            return true;
        if (dfr_stopped(w->run))
            return false;
        dfr_futex_wait(&gang->event, event, -1);
    }
}

void dfr_gang_end(struct dfr_gang *gang)
{
    atomic_fetch_add_explicit(&gang->round, 1, memory_order_acq_rel);
    atomic_store_explicit(&gang->led, 0, memory_order_release);
    dfr_gang_wake(gang);
}
