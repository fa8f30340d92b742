/* simulate_impl.h - the private interface of a simulation, shared by simulate*.c: the firing rule, the workers, the data and its copies, the memory of
 * devices, and the event queue that drives them. simulate.c has the main loop, dfr_simulate() of simulate.h.
 *
 * Words:    A *moment* is one point of virtual time, with all events that fall on it. A *block* is a value of one slot,
 *           as in engine/engine.h; slot `inflight` holds what fires once. A policy is *placed* if it tells each node's unit
 *           before the run.
 * Moments:  First come all events, in the order of wave, node and making. The jobs that an event makes ready are given
 *           to the policy at once, in the order of outputs and their readers (at the beginning of a wave, in the order
 *           of nodes). Then idle workers take jobs: first those of devices, each by number. So the answer depends on
 *           nothing but the input.
 *
 * Jobs:     1 waiting   `pending` releases are missing: inputs not produced (placed: not in its unit's memory).
 *           2 queued    The policy has it.
 *           3 taken     A worker has it; the device's memory has no room for it yet.
 *           4 loading   `missing` inputs are on their way to its unit.
 *           5 loaded    It waits for its worker's other jobs to end.
 *           6 running   It ends with its event. A job that costs nothing goes from 1 to 4 (or to its end), without a
 *                       worker.
 */
#ifndef DFR_SIMULATE_IMPL_H
#define DFR_SIMULATE_IMPL_H

#include "memmgr/victims.h"
#include "runtime/simulate/events.h"
#include "runtime/device/flight.h"
#include "runtime/policy/frames.h"
#include "runtime/policy/next_use.h"
#include "runtime/policy/policy.h"
#include "runtime/policy/resources.h"
#include "runtime/simulate/simulate.h"

enum sim_state { SIM_WAITING, SIM_QUEUED, SIM_TAKEN, SIM_LOADING, SIM_LOADED, SIM_RUNNING };

struct sim_job {
    uint32_t pending, missing;
    uint32_t worker;                    /* DF_NONE: none */
    uint8_t state, unit;
};

struct sim_block {
    uint32_t valid;                     /* bit u: memory u holds the bytes */
    uint32_t coming;                    /* bit u: a copy to memory u is under way */
    uint32_t wanted;                    /* bit u: to be sent to u as soon as the host has it; bit 0: the copy is put off */
    uint32_t released;                  /* bit u, for placed policies: the readers on u know of it */
    uint32_t left;                      /* readers whose jobs have not ended */
    uint32_t home;                      /* the unit that made it */
    uint32_t life;                      /* counts the tokens that lived here: a copy of an earlier one is no news */
};

struct sim_prefetch {
    uint32_t block, life;
};

/* The copies to a device that were asked for, and the prefetches that wait for their number to become less, as in
 * memmgr/transfer.c. So a taken job's data does not wait behind all that was sent for others. */
struct sim_inbox {
    uint32_t n_coming;
    struct sim_prefetch *waiting;       /* waiting[first … n) */
    uint32_t first, n;
    size_t capacity;
};

struct sim_worker {
    uint32_t unit, window, most;        /* jobs that it may have taken; the most that this number may become */
    uint32_t n_taken;
    uint64_t *taken;                    /* oldest first */
    bool running;
    double began_s;                     /* when the job that is running began */
    struct dfr_flight flight;           /* for a device that finds its number of jobs; else fixed */
    uint32_t helps;                     /* the leader of the gang that it is in, or DF_NONE */
};

struct sim_ready {
    uint64_t order, job;
    uint32_t by;
};

/* A device's memory, if not everything can be there at once; simulate_room.c. */
struct sim_room {
    uint64_t capacity, used, leaving;   /* bytes; leaving: those that are being written back, a part of used */
    uint64_t most;                      /* the most that `used` was */
    bool overdrawn;                     /* overdrawn by a job that could not wait */
    uint32_t *pins;                     /* by block: how many jobs pin it */
    uint8_t *flags;
    struct dfm_victims victims;         /* blocks that nobody pins */
    struct dfr_next_use *next_use;      /* NULL: least recently used */
    bool claims;                        /* `claimant` waits for room, and nobody else gets any */
    uint64_t claimant;
};

/* Sharing of the host's memory and cores: simulate_share.c. */
struct sim_need {                       /* of a job or a copy */
    struct df_demand memory;
    double computes;                    /* the part of its time in which it takes cores of the host */
    uint32_t threads;                   /* on how many cores it computes */
};

struct sim_share {                      /* a job or a copy that is under way */
    double left_s, since_s;             /* of its time alone, what was left at that moment */
    double stretch, end_s;              /* how many times as long it takes since then, and when it will end */
    struct sim_need need;
    struct dfr_event event;             /* its end */
};

struct sim_copy {
    uint32_t from, to, wave;
    double begin_s;
    struct dfr_event event;             /* its arrival */
};

struct sim_engine {                     /* copies[first] is under way, and the n - 1 behind it wait */
    struct sim_copy *copies;            /* a ring */
    size_t first, n, capacity;
};

struct sim_sharing {
    double bytes_per_s;                 /* of the host's memory; 0: it is not shared */
    uint32_t cores;                     /* of the host; 0: they are not shared */
    struct sim_share *items;            /* NULL: nothing is shared, and nothing of this is used */
    uint32_t n;
    bool changed;                       /* the items are others than those that were rated */
    struct df_shortage shortage;        /* since changed_s */
    double changed_s;
    double next_s;                      /* the next end of an item; INFINITY: none */
    double item_s;                      /* seconds of all items so far */
    struct df_shortage short_s;         /* the same, each times its shortage */
    struct sim_engine engines[DF_MAX_UNITS][2];
};

struct sim {
    const struct df_graph *graph;
    const struct df_platform *platform;
    const struct df_times *times;
    const struct dfr_simulate_options *options;
    struct dfr_simulation *result;
    const struct dfr_policy *policy;
    bool locality, prefetch;            /* by the options, or by the plan that is followed */
    void *policy_state;
    struct dfr_view view;
    uint32_t waves, inflight, n_units, n_workers, n_blocks; /* waves of all passes */
    uint32_t n_passes, stride;
    bool overlap;                       /* dfr_passes_overlap() */
    _Atomic int64_t pass_waves;         /* a pass has so many waves, and `stride` rounds (runtime/start/passes.h) */
    uint32_t *pass_of;                  /* by node: the pass in which it fires, or DF_NONE: in each; NULL: there is one */

    /* the machine: simulate_machine.c */
    uint32_t on_host;                   /* bit u: unit u has the host's memory */
    uint32_t cls[DF_MAX_UNITS];         /* as the times number classes; DF_NONE: they do not have the class */
    uint32_t *able;
    double *time_s, *true_s;            /* [unit * n_works + work], launch included */
    struct df_demand *demand;           /* same index, averaged over time_s; NULL: memory is not shared */
    uint32_t unit_of[DF_MAX_WORKERS + DF_MAX_UNITS], first_worker[DF_MAX_UNITS + 1];
    uint8_t *place;                     /* [slot * n_nodes + node], if the policy is placed; else NULL */
    uint32_t *urgent;                   /* if the policy is placed: nodes by the plan's priority, then by number */

    double now_s;
    struct dfr_event_queue events;           /* their order is wave << 32 | the node that ended, or whose block arrives */
    bool out_of_memory;

    /* firing: simulate_fire.c */
    struct sim_job *jobs;               /* [slot * n_nodes + node] */
    struct dfr_resources *resources;    /* NULL: no node uses any */
    struct dfr_frames frames[DF_MAX_LIVE]; /* of the graph's live sources */
    uint32_t *need;                     /* releases that a job of a later wave needs */
    int64_t *wave;                      /* the wave in each slot */
    uint32_t *wave_left;                /* jobs of that wave that have not ended */
    uint32_t n_wave_nodes, n_once;
    uint32_t waves_ended;
    bool final;                         /* all waves have ended, and there are accs */
    bool began;                         /* a wave began since jobs were last given to the policy */
    bool begins;                        /* a wave is beginning: initial data is produced, and sent afterwards */
    uint32_t begin_slot;                /* the slot of that wave */
    uint64_t done;
    struct sim_ready *ready;
    uint32_t n_ready;
    size_t ready_capacity;

    struct sim_worker workers[DF_MAX_WORKERS + DF_MAX_UNITS];
    uint64_t *taken;                    /* the memory of their lists */
    uint64_t n_queued;                  /* jobs given to the policy and not yet taken */
    bool woken;                         /* the policy has woken a unit in this moment */
    bool held;                          /* held_job is a CPU job that waits for as many workers as it needs */
    uint64_t held_job;

    struct sim_block *blocks;
    struct sim_inbox inboxes[DF_MAX_UNITS];
    uint32_t ending;                    /* the device whose job ends now, or 0 */
    struct sim_prefetch *put_off;       /* fetches by the host that are put off */
    uint32_t n_put_off;
    size_t put_off_capacity;
    uint32_t most_ahead;                /* copies to a device beyond which prefetches wait */
    uint32_t peers[DF_MAX_UNITS];       /* bit u: the unit copies to u directly */
    double engine_free_s[DF_MAX_UNITS][3];
    struct sim_room *rooms[DF_MAX_UNITS]; /* NULL: everything fits */
    struct sim_sharing sharing;
};

/* Returns true if the node does not fire in the slot's wave, because the wave belongs to another pass. Such a job takes no worker, and its outputs are on the
 * host at once: they are kept there, or no node that fires reads them. */
static inline bool sim_passes_over(const struct sim *s, uint32_t slot, uint32_t node)
{
    if (!s->pass_of || slot >= s->inflight || s->graph->nodes[node].flags & DF_NODE_ONCE)
        return false;
    return s->wave[slot] % s->stride >= s->pass_waves ||
           (s->pass_of[node] != DF_NONE && s->pass_of[node] != (uint64_t)s->wave[slot] / s->stride);
}

static inline struct sim_job *sim_job(struct sim *s, uint32_t slot, uint32_t node)
{
    return &s->jobs[(size_t)slot * s->graph->n_nodes + node];
}

static inline bool sim_is_once(const struct sim *s,
                               uint32_t node) { return s->graph->nodes[node].flags & DF_NODE_ONCE; }
static inline bool sim_is_free(const struct sim *s,
                               uint32_t node) { return s->graph->nodes[node].flags & DF_NODE_ZERO_COST; }
/* What a job or a copy takes on average, and the bytes that are copied: by @rate. A single wave counts as one in which
 * every node fires. */
static inline double sim_rate(const struct sim *s, uint32_t node)
{
    return s->waves > 1 ? (double)s->graph->nodes[node].rate : 1;
}
static inline double sim_copy_rate(const struct sim *s, uint32_t value)
{
    return s->waves > 1 ? df_value_rate(s->graph, value) : 1;
}
static inline uint64_t sim_copy_bytes(const struct sim *s, uint32_t value)
{
    return (uint64_t)((double)s->graph->values[value].bytes * sim_copy_rate(s, value) + 0.5);
}
/* NULL: the node is no live source. */
static inline struct dfr_frames *sim_frames(struct sim *s, uint32_t node)
{
    return s->graph->nodes[node].live ? &s->frames[s->graph->nodes[node].live - 1] : NULL;
}
static inline uint32_t sim_place(const struct sim *s, uint32_t slot, uint32_t node)
{
    return s->place[(size_t)slot * s->graph->n_nodes + node];
}

static inline uint32_t sim_wave(const struct sim *s,
                                uint32_t slot) { return slot < s->inflight ? (uint32_t)s->wave[slot] : s->final ? s->waves : 0; }
static inline uint64_t sim_order(const struct sim *s, uint32_t slot, uint32_t node)
{
    return (uint64_t)sim_wave(s, slot) << 32 | node;
}

static inline void sim_event_end(struct sim *s, uint32_t slot, uint32_t node, double time_s)
{
    dfr_event_add(&s->events, (struct dfr_event){ .time_s = time_s, .order = sim_order(s, slot, node), .slot = slot,
                                                  .arrives = DF_NONE });
}

/* Returns true if the result records this slot: it records the last wave, and what fires once. */
static inline bool sim_is_recorded(const struct sim *s, uint32_t slot)
{
    return slot == s->inflight || s->wave[slot] % s->stride + 1 == s->pass_waves;
}

static inline uint32_t sim_block_of(const struct sim *s, uint32_t value, uint32_t slot)
{
    return (df_value_is_once(s->graph, value) ? s->inflight : slot) * s->graph->n_values + value;
}

/* simulate_machine.c: units, workers, times. DF_E_ARGUMENT, DF_E_REFUSED, DF_E_MEMORY. */
int sim_machine_create(struct sim *s, struct df_error *error);
uint32_t sim_threads(const struct sim *s, uint32_t node, uint32_t unit);

/* simulate_fire.c */
int sim_fire_create(struct sim *s, struct df_error *error);
void sim_fire_start(struct sim *s);
void sim_release(struct sim *s, uint32_t slot, uint32_t node, uint32_t by);
void sim_give_ready(struct sim *s);     /* gives what became ready to the policy */
void sim_job_ends(struct sim *s, uint32_t slot, uint32_t node);

/* simulate_data.c */
void sim_produce(struct sim *s, uint32_t slot, uint32_t node, uint32_t unit, uint32_t by);
void sim_send_to(struct sim *s, uint32_t block, uint32_t unit);     /* for the initial data of a placed policy */
void sim_begin_accs(struct sim *s);     /* before the first wave */
void sim_begin_final(struct sim *s);    /* the last wave has ended */
void sim_copied(struct sim *s, const struct dfr_event *event);
void sim_request(struct sim *s, uint32_t block, uint32_t unit); /* the unit has room for it */
void sim_request_put_off(struct sim *s); /* jobs that waited for room have got it, if there is any */
void sim_load(struct sim *s, uint64_t job);         /* brings a taken job's inputs to its unit */
void sim_drop(struct sim *s, uint32_t block);       /* called when all its readers have ended */
uint32_t sim_holders(void *arg, uint64_t job, uint32_t k);        /* these three are for struct dfr_view */
bool sim_prefetch(void *arg, uint64_t job, uint32_t unit);
bool sim_settled(void *arg, uint64_t job, uint32_t unit);
uint32_t sim_most_ahead(const struct df_graph *graph);

/* simulate_share.c. DF_E_MEMORY. */
int sim_share_create(struct sim *s);
void sim_share_destroy(struct sim *s);
static inline bool sim_shares(const struct sim *s) { return s->sharing.items != NULL; }
/* Begins a job or copy that takes time_s alone. At its end the event happens. */
void sim_share_begin(struct sim *s, double time_s, const struct sim_need *need, const struct dfr_event *event);
/* At the beginning of a moment: what ends now becomes events of this moment. At its end: what is under way gets its
 * rate. */
void sim_share_ends(struct sim *s);
void sim_share_rate(struct sim *s);
struct df_shortage sim_share_mean_shortage(const struct sim *s);
/* Asks for a copy between the host and a device; its arrival is the event. sim_share_copied() is called when that
 * happens. It gives the copy, and begins the engine's next one. */
void sim_share_copy(struct sim *s, uint32_t from, uint32_t to, uint32_t wave, struct dfr_event event);
struct sim_copy sim_share_copied(struct sim *s, const struct dfr_event *event);

/* simulate_room.c. If everything fits there is nothing to do, and all calls succeed. */
int sim_room_create(struct sim *s, struct df_error *error);
int sim_room_know_order(struct sim *s, struct df_error *error); /* called when the policy is made */
void sim_room_destroy(struct sim *s);
bool sim_room_prefetch(struct sim *s, uint32_t unit, uint32_t block); /* false: there is no free room */
/* Claims room for all that a job needs; it stays until the job's release. false: there is none yet, and the caller
 * tries again at the next moment. `must`: a job without a worker, which cannot wait; it may overdraw the memory. */
bool sim_room_claim(struct sim *s, uint32_t unit, uint64_t job, bool must);
void sim_room_release(struct sim *s, uint32_t unit, uint64_t job); /* the job has ended; its outputs stay */
void sim_room_arrived(struct sim *s, uint32_t block, uint32_t unit);
void sim_room_dropped(struct sim *s, uint32_t block);
void sim_room_changed(struct sim *s, uint32_t block, uint32_t unit); /* only that memory has it now */
bool sim_room_check(const struct sim *s); /* after the last job: checks every count against every other */

#endif
