/* walk.c - walking lists. walk.h says how, and why nothing is missed; walk_order.c has them made. */
#include "runtime/engine/walk.h"

#include "runtime/threads/bind.h"
#include "runtime/threads/clock.h"
#include "runtime/threads/pile.h"
#include "runtime/engine/tokens.h"
#include "runtime/engine/worker.h"

#define QUICK_LOOKS 32                  /* of a wait, that count as work: to read the clock takes as long */
#define LOOKS_A_SPIN 16

struct trip {                           /* a worker's way along its lists */
    struct df_run *run;
    struct dfr_worker *w;
    struct dfr_walk *walk;
    struct dfr_walker *me;
    int64_t wave;                       /* -1: what fires once */
    double idle_s;
    uint64_t begin[DF_MAX_WORKERS];     /* by worker: what it has done when it begins this phase */
    uint64_t seen[DF_MAX_WORKERS];      /* by worker: what it had done when this one looked */
};

/* ---- telling ---- */

void dfr_walk_wake(struct dfr_walk *walk)
{
    for (uint32_t w = 0; w < walk->n_workers; w++) {
        atomic_fetch_add_explicit(&walk->walkers[w].wakes, 1, memory_order_seq_cst);
        dfr_futex_wake(&walk->walkers[w].wakes, UINT32_MAX);
    }
}

/* Those whose wish is not yet fulfilled look, and wish again. */
static __attribute__((noinline)) void wake_sleepers(struct dfr_walker *me)
{
    atomic_exchange_explicit(&me->wanted, DFR_NOT_WANTED, memory_order_seq_cst);
    atomic_fetch_add_explicit(&me->wakes, 1, memory_order_seq_cst);
    dfr_futex_wake(&me->wakes, UINT32_MAX);
}

static inline void tell(const struct trip *t, uint64_t done)
{
    struct dfr_walker *me = t->me;
    if (t->walk->fences) {
        atomic_exchange_explicit(&me->done, done, memory_order_seq_cst);
    } else {
        atomic_store_explicit(&me->done, done, memory_order_release);
        atomic_signal_fence(memory_order_seq_cst); /* the sleeper's barrier does the rest */
    }
    if (atomic_load_explicit(&me->wanted, memory_order_seq_cst) <= done)
        wake_sleepers(me);
}

/* ---- waiting ---- */

/* The run has ended, or this wave is none of its. */
static bool is_over(const struct trip *t)
{
    return dfr_stopped(t->run) || t->wave >= atomic_load_explicit(&t->run->firing.limit, memory_order_relaxed);
}

static bool look(struct trip *t, uint32_t other, uint64_t done)
{
    t->seen[other] = atomic_load_explicit(&t->walk->walkers[other].done, memory_order_acquire);
    return t->seen[other] >= done;
}

static void wish(struct dfr_walker *other, uint64_t done)
{
    uint64_t wanted = atomic_load_explicit(&other->wanted, memory_order_relaxed);
    do
        if (wanted < done)
            done = wanted;              /* written again all the same: the order of this and the look is what counts */
    while (!atomic_compare_exchange_weak_explicit(&other->wanted, &wanted, done, memory_order_seq_cst,
                                                  memory_order_relaxed));
}

static void sleep_for(struct trip *t, uint32_t other, uint64_t done)
{
    struct dfr_walker *q = &t->walk->walkers[other];
    uint32_t key = atomic_load_explicit(&q->wakes, memory_order_seq_cst);

    wish(q, done);
    dfr_pile_barrier(t->walk->fences);
    if (atomic_load_explicit(&q->done, memory_order_seq_cst) < done && !is_over(t))
        dfr_futex_wait(&q->wakes, key, -1);
}

static bool wait_long(struct trip *t, uint32_t other, uint64_t done)
{
    double begin_s = dfr_clock_s();
    uint32_t looks = t->run->threads.spins * LOOKS_A_SPIN;
    bool good;

    while (!(good = look(t, other, done)) && !is_over(t)) {
        if (looks > 0) {
            looks--;
            dfr_relax();
        } else {
            sleep_for(t, other, done);
        }
    }
    t->idle_s += dfr_clock_s() - begin_s;
    return good;
}

/* false: it will never be; this worker's way ends here. */
static __attribute__((noinline)) bool wait_for(struct trip *t, uint32_t other, uint64_t done)
{
    for (uint32_t i = 0; i < QUICK_LOOKS; i++) {
        if (look(t, other, done))
            return true;
        if (t->run->threads.spins == 0)
            break;
        dfr_relax();
    }
    return wait_long(t, other, done);
}

static inline bool wait_for_all(struct trip *t, const struct dfr_wait *waits, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t done = t->begin[waits[i].worker] + waits[i].n_jobs;
        if (t->seen[waits[i].worker] < done && !wait_for(t, waits[i].worker, done))
            return false;
    }
    return true;
}

/* ---- walking ---- */

/* A job failed, or ended a stream: then there are fewer waves than some may wait for. */
static bool end_badly(struct trip *t, int result)
{
    dfr_engine_done(t->run, t->w, &t->w->call, result, 0);
    dfr_walk_wake(t->walk);
    return false;
}

/* Jobs with nothing between them, in `slot`; false: one failed, or ended a stream, or another worker's did. Nobody but
 * itself stops a worker that is alone. */
static inline __attribute__((always_inline)) bool walk_jobs(struct trip *t, const uint32_t *list, uint32_t n,
                                                            uint32_t slot, bool alone)
{
    struct df_run *run = t->run;
    struct dfr_worker *w = t->w;
    const struct dfr_node *nodes = run->firing.nodes;
    const struct dfr_code *codes = run->firing.codes;
    void *const *ports = dfr_tokens_slot_ports(run, slot);
    uint64_t base = dfr_job(slot, 0);
    uint32_t i;

    for (i = 0; i < n && (alone || !dfr_stopped(run)); i++) {
        const struct dfr_node *node = &nodes[list[i]];
        const struct dfr_code *code = &codes[node->work];
        int result;
        w->call.job = base + list[i];
        result = code->cpu(&w->call, NULL, code->dims,
                           node->flags & DFR_N_TMP ? dfr_worker_ports(run, w, w->call.job) : ports + node->first_port,
                           code->scalars);
        if (result != DF_OK || w->call.failed) {
            w->jobs += i + 1;
            return end_badly(t, result);
        }
    }
    w->jobs += i;
    return i == n;
}

static bool walk_stretch(struct trip *t, const uint32_t *list, uint32_t n, uint32_t slot)
{
    return t->walk->n_workers == 1 ? walk_jobs(t, list, n, slot, true) : walk_jobs(t, list, n, slot, false);
}

static bool walk_list(struct trip *t, const struct dfr_list *list, uint32_t slot)
{
    const struct dfr_wait *waits = list->waits;
    uint64_t begin = t->begin[t->w->index];
    uint32_t done = 0;

    for (uint32_t k = 0; k < list->n_stretches; k++) {
        const struct dfr_stretch *s = &list->stretches[k];
        if (!wait_for_all(t, waits, s->n_waits) || !walk_stretch(t, list->nodes + done, s->n_jobs, slot))
            return false;
        waits += s->n_waits;
        done += s->n_jobs;
        if (s->is_awaited)
            tell(t, begin + done);
    }
    if (list->n_stretches == 0 || !list->stretches[list->n_stretches - 1].is_awaited)
        tell(t, begin + done);
    return true;
}

/* Until all have done so many waves (0: what fires once). */
static bool wait_for_wave(struct trip *t, int64_t wave)
{
    for (uint32_t q = 0; q < t->walk->n_workers; q++) {
        const struct dfr_walker *other = &t->walk->walkers[q];
        uint64_t done = other->once.n_jobs + (uint64_t)wave * other->wave.n_jobs;
        if (other != t->me && t->seen[q] < done && !wait_for(t, q, done))
            return false;
    }
    return true;
}

static void begin_wave(struct trip *t, int64_t wave)
{
    t->wave = t->w->call.wave = wave;
    for (uint32_t q = 0; q < t->walk->n_workers; q++)
        t->begin[q] = t->walk->walkers[q].once.n_jobs + (uint64_t)wave * t->walk->walkers[q].wave.n_jobs;
}

/* A stream that ends lowers the limit. */
static void walk_waves(struct trip *t)
{
    const struct dfr_list *list = &t->me->wave;
    uint32_t slot = 0;

    if (list->n_jobs == 0) {
        t->me->n_waves = INT64_MAX;     /* no wave waits for this worker */
        return;
    }
    for (int64_t wave = 0; wave < atomic_load(&t->run->firing.limit); wave++) {
        begin_wave(t, wave);
        if (wave >= t->walk->n_slots && !wait_for_wave(t, wave + 1 - t->walk->n_slots))
            return;
        dfr_tokens_begin(t->run, t->w->index, slot, wave);
        if (!walk_list(t, list, slot))
            return;
        t->me->n_waves = wave + 1;
        slot = slot + 1 < t->walk->n_slots ? slot + 1 : 0;
    }
}

/* The last to leave sees what all have done. */
static void leave(struct trip *t)
{
    struct df_run *run = t->run;
    int64_t n_waves = atomic_load(&run->firing.limit);

    /* acq_rel: the others' n_waves */
    if (atomic_fetch_sub_explicit(&t->walk->n_walking, 1, memory_order_acq_rel) != 1)
        return;
    for (uint32_t q = 0; q < t->walk->n_workers; q++)
        if (t->walk->walkers[q].n_waves < n_waves)
            n_waves = t->walk->walkers[q].n_waves;
    atomic_store(&run->firing.waves_done, n_waves);
    dfr_engine_stop(run, DFR_FINISHED); /* unless it was stopped before */
}

void *dfr_walk_main(void *arg)
{
    struct dfr_worker *w = arg;
    struct trip t = { .run = w->run, .w = w, .walk = w->run->threads.walk, .me = &w->run->threads.walk->walkers[w->index], .wave = -1 };
    double begin_s = dfr_clock_s();

    if (t.run->machine.cores)
        dfr_cores_bind(t.run->machine.cores, w->index);
    if (walk_list(&t, &t.me->once, dfr_once_slot(t.run)) && wait_for_wave(&t, 0))
        walk_waves(&t);
    if (w->jobs > 0) {
        w->first_s = begin_s;
        w->last_s = dfr_clock_s();
        w->busy_s = w->last_s - begin_s - t.idle_s;
    }
    leave(&t);
    return NULL;
}
