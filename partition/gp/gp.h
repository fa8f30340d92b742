/* gp.h - shared by the files of the policy gp: a placement under modification, the pool of the best placements found, and the search. The policy makes many
 * placements by rules, refines the best of them by simulated annealing, and returns the best that was evaluated.
 *
 * Other rooms call gp through the table of partitioners (planner/placers.c). Of this header they use a state (draw/critical.c, tests), the bound of gp_rate.c
 * (`dfc simulate` prints it) and random numbers (compiler/commands/cmd_simulate_draw.c). The room knows partition/model, partition/cut and the simulator.
 *
 * Words:    a *start* is a placement made by some rule, before refinement. A *bias* is the part of a node's priority beyond its upward rank. A *step* is
 *           the evaluation of one node. Budgets are counted in steps, so results never depend on the clock.
 * Memory:   a state borrows its compact problem. A search owns both, and its pool. Nothing allocates during refinement.
 * Threads:  all threads read one compact problem; a state belongs to one thread.
 * Numbers:  only additions, multiplications, divisions and square roots are used. The other functions of libm differ
 *           between machines, and then placements would differ, too.
 */
#ifndef DFP_GP_H
#define DFP_GP_H

#include <math.h>

#include "partition/model/compact.h"
#include "runtime/base/random.h"

/* Whether an online policy's time beats a placement's. Sums in another order differ by rounding, which does not
 * count. */
static inline bool dfp_online_wins(double online_s, double placed_s)
{
    return online_s < placed_s * (1 - 1e-9);
}

/* In (0, 1]. */
static inline double dfp_random_unit(uint64_t *state)
{
    return dfr_random_unit(dfr_random(state)) + 0x1p-53;
}
double dfp_minus_log(double x);         /* gp_pool.c: -ln x for 0 < x <= 1, exact to 1e-6 */

/* ---- gp_state.c: a placement under change, with all that follows from it ---- */

struct dfp_change {                     /* what one node had before, for undo */
    uint32_t node;
    uint16_t unit;
    float bias;
};
struct dfp_rank_change {
    uint32_t node;
    double rank_s;
    uint64_t key;
};
struct dfp_event {
    double time_s;
    uint32_t node, made, value;
    uint16_t unit, engine;
};
struct dfp_fifo {                       /* copies that wait for an engine */
    struct dfp_event *events;
    uint32_t head, tail, flying;        /* events[head] … events[tail - 1] wait; flying: those in the heap of events */
    double free_s;                      /* when the engine has done all that was asked for */
};

struct dfp_first {                      /* a node that reads a value which is there before time 0 */
    uint64_t key;                       /* the node's */
    uint32_t index;                     /* into the compact problem's initial_reader and initial_value */
};

struct dfp_state {
    const struct dfp_compact *compact;
    uint16_t *place;
    float *bias;
    float rank_weight;                  /* 1 or 0: priority = rank_weight * rank + bias */
    uint32_t *reads;                    /* [value * n_units + unit]: number of the value's readers there */
    uint32_t *wanted;                   /* of a value: bit u, some reader is on unit u */
    double load_s[DF_MAX_UNITS];        /* of a unit: of all its workers together */
    double copies_s[DF_MAX_UNITS][3];   /* load of engines: [0] to the host, [1] to the device, [2] to peers */
    double *rank_s;                     /* of a node: upward rank under this placement */
    uint64_t *key;                      /* of a node: dfp_key(); ready queues take the smallest first */
    uint64_t *dirty;                    /* a bit per node: its rank must be computed again */
    uint32_t dirty_top;                 /* no word of dirty[] above this one has a bit */
    struct dfp_change *changes;
    struct dfp_rank_change *rank_changes;
    uint32_t n_changes, n_rank_changes;
    /* of the last run, and of the last one that was kept */
    uint32_t *blame, *kept_blame;       /* of a node: the node whose end let it start, or DF_NONE */
    uint32_t last_node, kept_last_node; /* the node that ended last */
    uint64_t steps;                     /* of all runs together */
    uint32_t *chain;                    /* scratch of gp_refine.c: room for all nodes */
    /* scratch of a run */
    uint32_t *missing;
    uint32_t *sent;                     /* of an initial value: bit u, its copy to or from unit u is asked for */
    struct dfp_first *first;            /* readers of initial values, sorted by urgency as it was in the last run */
    double *ready_s;
    uint64_t *ready[DF_MAX_UNITS];
    struct dfp_event *events;
    struct dfp_fifo fifo[DF_MAX_UNITS][3];
    void *block;
};

int dfp_state_make(const struct dfp_compact *compact, struct dfp_state *state, struct df_error *error);
void dfp_state_free(struct dfp_state *state);

/* Copies a whole placement into the state and computes all that follows from it. bias NULL: 0 for all nodes. */
void dfp_state_set(struct dfp_state *state, const uint16_t *place, const float *bias, float rank_weight);

/* The same for a placement whose order follows from ranks alone. */
void dfp_state_place(struct dfp_state *state, const uint16_t *place);

/* dfp_state_move() and dfp_state_bias() change one node each. dfp_state_settle() then brings ranks and keys up to date.
 * At last dfp_state_keep() accepts all changes, or dfp_state_undo() takes them back. */
void dfp_state_move(struct dfp_state *state, uint32_t node, uint32_t unit);
void dfp_state_bias(struct dfp_state *state, uint32_t node, float bias);
void dfp_state_settle(struct dfp_state *state);
void dfp_state_keep(struct dfp_state *state);
void dfp_state_undo(struct dfp_state *state);

/* The largest load of any unit (divided by its workers) or copy engine. No wave is shorter, and if many waves are in
 * flight this is what each of them costs. */
double dfp_state_bottleneck_s(const struct dfp_state *state);

/* Writes the priorities of all nodes, as a plan carries them. */
void dfp_state_priority(const struct dfp_state *state, float *priority);

/* A key for ready queues: a higher priority gives a smaller key; of equal priorities a lower node gives it. */
static inline uint64_t dfp_key(float priority, uint32_t node)
{
    union {
        float f;
        uint32_t u;
    } bits = { .f = priority + 0.0f };  /* -0 becomes 0 */
    uint32_t ascending = bits.u & 0x80000000u ? ~bits.u : bits.u | 0x80000000u;
    return (uint64_t)~ascending << 32 | node;
}

/* Sorts the readers of initial values from scratch; dfp_state_run() only repairs that order. */
void dfp_state_sort(struct dfp_state *state);

/* ---- gp_fast.c ---- */

/* The makespan, the same as dfp_evaluate() gives. INFINITY: it is above limit_s; the run ends as soon as that is
 * certain. */
double dfp_state_run(struct dfp_state *state, double limit_s);

/* For tests: the makespan by dfp_state_run(), with these priorities. */
int dfp_evaluate_fast(const struct dfp_problem *problem, const uint16_t *place, const float *priority,
                      double *makespan_s, struct df_error *error);

/* ---- gp_pool.c: the best placements found so far ---- */

enum { DFP_POOL = 6 };

struct dfp_found {
    double makespan_s;
    bool from_metis;
    float rank_weight;
    uint16_t *place;
    float *bias;
};
struct dfp_pool {                       /* the best distinct placements, the best one first */
    uint32_t n;
    struct dfp_found found[DFP_POOL];
    uint32_t n_nodes;
    void *block;
};
int dfp_pool_make(struct dfp_pool *pool, uint32_t n_nodes, struct df_error *error);
void dfp_pool_free(struct dfp_pool *pool);
/* Copies the state's placement into the pool if it is good enough. Once the pool has seen a placement of METIS, it
 * always keeps at least one such. */
void dfp_pool_add(struct dfp_pool *pool, double makespan_s, bool from_metis, const struct dfp_state *state);

/* ---- gp_starts.c, gp_list.c, gp_lin.c, gp_metis.c, gp_replay.c ---- */

struct dfp_mean {                       /* a problem of its own: gp_mean.c */
    struct dfp_problem problem;
    struct df_platform platform;
    struct df_times times;
};

struct dfp_search {                     /* all that one search has; the makers of starts work with it */
    const struct dfp_problem *judge;    /* the problem as it was given, by which simulations judge */
    const struct dfp_problem *problem;  /* the same; or &mean.problem, if jobs share the host's memory */
    struct dfp_mean mean;
    const struct dfp_options *options;
    struct dfp_compact compact;
    struct dfp_state state;
    struct dfp_pool pool;
    uint32_t inflight, n_waves;         /* for many waves: in flight, and in a simulated run; for one wave 0 */
    uint64_t budget_steps;              /* for the whole search */
    double deadline_s;                  /* by dfr_clock_s(); INFINITY: none */
    double *average_rank_s;             /* upward rank with mean times, as HEFT's */
    double price[DF_MAX_UNITS];         /* from the area bound: of a second of all workers of a unit; sums to 1 */
    double area_s, bound_s;             /* the area bound, and the lower bound of one wave */
    const char *online;                 /* the best online policy of those replayed; NULL: none */
    double online_s;                    /* its makespan; INFINITY: none */
    uint16_t *place;                    /* a maker of starts puts its placement here */
    float *order[2];                    /* priorities without times: by number, and depth first from the sinks */
    int32_t *cluster;                   /* of a node: its cluster by METIS, or -1; NULL: not computed */
    uint32_t n_clusters;
};

/* gp_pool.c: evaluates search->place with upward rank as priorities, and adds it to the pool if it is good enough. */
void dfp_search_try(struct dfp_search *search, bool from_metis);
/* The same with these priorities. */
void dfp_search_try_order(struct dfp_search *search, bool from_metis, const float *order);

int dfp_starts_run(struct dfp_search *search, struct df_error *error);
int dfp_list_run(struct dfp_search *search, bool all, struct df_error *error);
/* Moves each node that search->place has on a device to the device where it finishes earliest; nothing else moves. */
int dfp_list_split(struct dfp_search *search, struct df_error *error);
int dfp_lin_run(struct dfp_search *search, uint32_t n_prices, uint32_t n_steps, struct df_error *error);
int dfp_metis_run(struct dfp_search *search, uint32_t n_single, uint32_t n_double, struct df_error *error);
int dfp_metis_clusters(struct dfp_search *search, struct df_error *error);

/* How many other policies gp looks at. A policy that is only compared with costs no budget; one that is made a start
 * does. */
enum dfp_replays {
    DFP_REPLAY_FEW,                     /* compares with HEFT, PEFT and the few online policies that are mostly best */
    DFP_REPLAY_MOST,                    /* compares with all; the first online policy is a start */
    DFP_REPLAY_ALL                      /* all are starts, each in two orders */
};
int dfp_replay_run(struct dfp_search *search, enum dfp_replays replays, struct df_error *error);
/* The online policies, which decide during the run. If there is time for one only, the first is tried. */
enum { DFP_N_ONLINE = 10, DFP_STEPS_PER_JOB = 6 /* steps of budget that a job of a simulated run costs */ };
extern const char *const dfp_online[DFP_N_ONLINE];
/* Whether dfp_online[i] decides as the policy before it does on this platform: then it need not be simulated. */
bool dfp_online_repeats(const struct df_platform *platform, size_t i);
extern const struct dfp_partitioner *const dfp_others[]; /* all planners but gp; NULL-terminated */
/* What another planner makes of the problem: places, and its own priorities, or upward ranks if it has none. */
int dfp_replay_plan(const struct dfp_problem *problem, const struct dfp_options *options,
                    const struct dfp_partitioner *planner, uint16_t *place, float *priority, struct df_error *error);

/* Splits the nodes that are on devices among all devices, by METIS; search->place is input and output. For
 * platforms with two devices or more. */
int dfp_metis_split(struct dfp_search *search, struct df_error *error);

/* gp_load.c: anneals search->place. The cost is the bottleneck load, plus `spare` times the mean time of copies per
 * unit. Gives the bottleneck load. */
double dfp_load_run(struct dfp_search *search, double spare, uint64_t n_moves, double start_temperature, uint64_t seed);

/* ---- gp_rate.c: what a wave costs at least if many are in flight ---- */

enum { DFP_RATE_RESOURCES = 4, DFP_RATE_COLUMNS = 48 };

struct dfp_rate_column {                /* a placement of one wave; all devices count as one */
    double share;                       /* of the waves that take it in the best mixture */
    double load_s[DFP_RATE_RESOURCES];  /* of the host, of the devices, of copies to them, of copies back */
    const uint8_t *on_device;           /* of a node: 1, it is on the devices */
};
struct dfp_rates {
    double bound_s;                     /* no plan costs less per wave; 0: not known */
    double mixed_s;                     /* what the mixture costs per wave; INFINITY: there is none */
    uint32_t n;
    struct dfp_rate_column column[DFP_RATE_COLUMNS];
    uint8_t *places;
};
/* price: of the units, from the area bound. most_steps: how many arcs the minimum cuts may look at. */
int dfp_rates_find(const struct dfp_compact *compact, const double *price, uint64_t most_steps,
                   struct dfp_rates *rates, struct df_error *error);
void dfp_rates_free(struct dfp_rates *rates);

/* ---- gp_waves.c: many waves in flight ---- */

/* Sets search->inflight and search->n_waves by the options and the graph's size. */
void dfp_waves_count(struct dfp_search *search);

/* Fills the result: places of one or more waves, priorities, loads and their bound, and the makespan and bound of a
 * single wave. place is grown by realloc() if several waves are placed jointly. */
int dfp_waves_solve(struct dfp_search *search, struct dfp_result *result, struct df_error *error);

/* ---- gp_room.c: a device's memory has no room for everything, or jobs share the host's ---- */

/* Returns true if some device's memory is too small for all values of so many waves and the scratch memory of its jobs. */
bool dfp_room_is_short(const struct dfp_problem *problem, uint32_t inflight);
/* Chooses by simulation among the pool, the other planners and the online policies. *result is the answer without regard to memory on entry, and is replaced if
 * anything was simulated. */
int dfp_room_answer(struct dfp_search *search, struct dfp_result *result, struct df_error *error);

/* ---- gp_mean.c ---- */

/* If jobs share the host's memory, makes search->mean and lets search->problem point to it. */
int dfp_mean_make(struct dfp_search *search, struct df_error *error);

/* ---- gp_refine.c ---- */

struct dfp_anneal {
    double start_temperature;           /* as a share of the makespan */
    uint64_t steps;                     /* budget */
    uint64_t seed;
};
/* Anneals from the placement and biases in *found, which become the best that were met. */
void dfp_anneal_run(struct dfp_state *state, const struct dfp_search *search, const struct dfp_anneal *anneal,
                    struct dfp_found *found);

#endif
