/* feed.c - runs whose waves are started by a caller: df_run_feed() and related functions of the public df.h. Parts on ranks (subgraph/part.c), resumable runs
 * and programs that embed a run call them. The engine then begins no wave by itself. When a wave has ended, its slot stays free until the feeder begins another
 * wave in it.
 */
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/engine/ending.h"
#include "runtime/start/run_impl.h"
#include "runtime/threads/clock.h"
#include "runtime/threads/host.h"

int dfr_feed_create(struct df_run *run, struct df_error *error)
{
    const struct df_options *o = &run->options;
    const char *refused = run->calls.on ? "in a session" : o->rehearse != 0 ? "in a rehearsal"
                          : o->waves >= 0 ? "for a number of waves" : NULL;

    if (!o->feed)
        return DF_OK;
    if (refused)
        return dfr_error(error, DF_E_ARGUMENT, "a run that is fed cannot be run %s", refused);
    run->feed.slots = calloc(run->inflight, sizeof *run->feed.slots);
    if (!run->feed.slots)
        return dfr_error_memory(error);
    atomic_init(&run->feed.end, INT64_MAX);
    return o->done_waves > 0 || o->accs_first ? dfr_skips_make_late(&run->skips, run->graph, o->done_waves, o->accs_first, error) : DF_OK;
}

static struct dfr_fed_slot *slot_of(struct df_run *run, int64_t wave)
{
    return &run->feed.slots[dfr_slot_of(run, wave)];
}

unsigned df_run_room(const struct df_run *run)
{
    unsigned room = 0;

    if (!run->feed.slots || run->feed.over || dfr_stopped(run) || run->forks != dfr_forks() || !atomic_load_explicit(&((struct df_run *)run)->feed.open, memory_order_acquire))
        return 0;
    while (room < run->inflight && !slot_of((struct df_run *)run, run->feed.next + room)->taken)
        room++;
    return room;
}

void dfr_feed_skip(struct df_run *run, uint32_t n)
{
    run->feed.next += n;
}

int64_t df_run_feed(struct df_run *run, int64_t number)
{
    int64_t wave = run->feed.next;

    if (df_run_room(run) == 0 || number < 0)
        return -1;
    if (run->feed.n_fed == 0)
        atomic_store_explicit(&run->feed.first, number, memory_order_relaxed);
    *slot_of(run, wave) = (struct dfr_fed_slot){ .number = number, .wave = wave, .taken = true };
    run->feed.n_fed++;
    run->feed.next++;
    dfr_engine_feed(run, wave);
    return wave;
}

void df_run_feed_end(struct df_run *run)
{
    if (!run->feed.slots || run->feed.over)
        return;
    run->feed.over = true;
    dfr_engine_no_more(run, run->feed.n_fed);
}

void df_run_stop(struct df_run *run)
{
    dfr_engine_fail(run, DF_E_STOPPED, "the run was stopped");
}

/* The oldest wave whose end was not told; -1: there is none. */
static int64_t find_ended(struct df_run *run)
{
    struct dfr_fed_slot *oldest = NULL;

    for (uint32_t s = 0; s < run->inflight; s++) {
        struct dfr_fed_slot *slot = &run->feed.slots[s];
        if (slot->taken && (!oldest || slot->wave < oldest->wave) && atomic_load_explicit(&slot->ended, memory_order_acquire))
            oldest = slot;
    }
    if (!oldest)
        return -1;
    oldest->taken = false;
    return oldest->wave;
}

int df_run_ended(struct df_run *run, double timeout_s, int64_t *wave)
{
    double until_s = dfr_clock_s() + timeout_s;

    *wave = -1;
    while (run->feed.slots) {
        uint32_t seen = atomic_load_explicit(&run->feed.events, memory_order_seq_cst);
        bool stopped = dfr_stopped(run), idle = df_run_room(run) == run->inflight;
        double left_s = timeout_s < 0 ? 1e9 : until_s - dfr_clock_s();

        if ((*wave = find_ended(run)) >= 0)
            return DF_OK;
        if (stopped || run->forks != dfr_forks())
            return DF_E_STOPPED;
        if (left_s <= 0 || idle)
            return DF_OK;
        dfr_futex_wait(&run->feed.events, seen, timeout_s < 0 ? -1 : (int64_t)(left_s * 1e9) + 1);
    }
    return DF_E_ARGUMENT;
}
