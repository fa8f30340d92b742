/* walk.h - runs without devices under a policy that decides before the run: then the order of a wave's jobs is known,
 * so each worker walks a list of its own, and nothing is counted, released or looked for.
 *
 * Words:     a *phase* is what fires once, or a wave. A *list* holds a worker's jobs of a phase, in *stretches*: a
 *            stretch begins where the worker has to wait for others, and ends where others wait for it; within one
 *            there is nothing but calls. To *wait* is for (worker, jobs): that worker has done so many of its list in
 *            this phase.
 * Order:     what the policy's own push and pop give for one wave: what fires once, then streams (nothing else of a
 *            wave may fire before they have all delivered), then the others, each when what it reads is made. Each list
 *            is a part of that order, and every wait is for something earlier in it: so workers never wait in circles.
 * Sharing:   walk_share.c says which worker has which job, from expected times. A node has the same worker in every
 *            wave, so `ordered` nodes and streams are in order by themselves.
 * Waits:     what a worker knows to be done it does not wait for: what it has waited for itself earlier in its list,
 *            and what those that it waited for had waited for. Of another worker's jobs only the furthest is waited
 *            for.
 * Waves:     wave w is in slot w % inflight; a worker enters it when all have done wave w - inflight. A single worker
 *            uses slot 0 alone.
 * Progress:  each worker has one counter, `done`, on a cache line of its own: jobs done since the run began. It is
 *            stored where others wait for it, and at each phase's end. A worker that has to wait spins briefly and
 *            sleeps (futex); where threads outnumber cores it sleeps at once.
 * Orders:    `done` is stored with release and loaded with acquire: what a job wrote is seen by who waited for it, or
 *            for anything that came after it on its worker. What is known without waiting is seen as well, for the
 *            order is transitive: who was waited for had acquired it before it released. A slot's tokens are written
 *            again after waiting for all of the wave before.
 * Sleeping:  a sleeper writes what it wants (`wanted`, the least of all sleepers') and then looks at `done`; the worker
 *            writes `done` and then looks at `wanted`: one of them must see the other. The full fence that this takes
 *            of both is imposed by the sleeper on all threads, as for piles (pile.h), so that storing progress is two
 *            plain instructions; where that cannot be, both use sequentially consistent ones. `wakes`, the word slept
 *            on, is read before `wanted` is written and changes after it was taken, so no sleeper misses its wake.
 * Stopping:  whatever ends a run, or lowers its number of waves, wakes all sleepers, who look at both. A stream that
 *            ends at a wave lets workers finish those before: nobody gets beyond the wait for its delivery.
 * When:      no device, tokens of fixed addresses (tokens.h), nobody wants to know when each job began; of several
 *            workers: no gangs, no guard that would take jobs from who has too many (struct dfr_policy's guarded), and
 *            jobs known to be shorter than DFR_LONG_S on average. A list saves some 100 ns a job; where that is less
 *            than 1 or 2 % of it, or times are but the stated default, to give each job to who is idle is better: lists
 *            made from wrong times leave workers without jobs.
 * Memory:    4 bytes a node, 8 a stretch and 8 a wait; the tables of the firing rule and the policy are given back.
 */
#ifndef DFR_WALK_H
#define DFR_WALK_H

#include "runtime/engine/engine.h"

#define DFR_LONG_S 10e-6
#define DFR_NOT_WANTED UINT64_MAX

struct dfr_wait {
    uint32_t worker, n_jobs;
};

struct dfr_stretch {
    uint32_t n_jobs;
    uint16_t n_waits;                   /* before them */
    bool is_awaited;                    /* its end is */
};

struct dfr_list {                       /* of one worker and phase */
    uint32_t n_jobs, n_stretches;
    uint32_t *nodes;
    struct dfr_stretch *stretches;
    struct dfr_wait *waits;             /* of all stretches */
};

struct dfr_walker {
    _Alignas(64) _Atomic uint64_t done; /* jobs, since the run began */
    _Atomic uint64_t wanted;            /* `done` that sleepers wait for, or DFR_NOT_WANTED */
    _Atomic uint32_t wakes;             /* the futex word */
    int64_t n_waves;                    /* that this worker has done; read when all have left */
    _Alignas(64) struct dfr_list once, wave;
};

struct dfr_walk {
    uint32_t n_workers, n_slots;
    bool fences;                        /* of sleeping: see above */
    struct dfr_walker *walkers;
    _Atomic uint32_t n_walking;
};

bool dfr_walk_applies(const struct df_run *run);
/* The policy exists; it is gone where run->threads.walk is there afterwards. */
int dfr_walk_create(struct df_run *run, struct df_error *error);
void dfr_walk_destroy(struct dfr_walk *walk);           /* NULL, too */
void dfr_walk_wake(struct dfr_walk *walk);              /* all sleepers, to look whether the run goes on */

/* ---- making lists: for walk_*.c and their tests ---- */

/* The jobs of a phase in the order that one worker would run them in; `before` are places in it, each before the job's
 * own. Streams come first. */
struct dfr_phase {
    uint32_t n, n_streams;
    uint32_t *node;
    uint32_t *first_before, *before;    /* what each reads that is of this phase; n + 1 of the former */
    double *time_s;                     /* expected */
    uint8_t *worker;                    /* found by dfr_phase_share() */
};

/* Fills phase->worker for that many waves with n_slots of them in flight. false: no memory. */
bool dfr_phase_share(struct dfr_phase *phase, uint32_t n_workers, uint32_t n_slots, int64_t n_waves);
/* Makes lists[worker] of it. false: no memory; what was made is freed by dfr_list_free() either way. */
bool dfr_phase_lists(const struct dfr_phase *phase, uint32_t n_workers, struct dfr_list *lists);
void dfr_list_free(struct dfr_list *list);

#endif
