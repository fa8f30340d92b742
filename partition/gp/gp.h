/* gp.h - what the files of the policy gp share: the problem in a form made for a hundred thousand evaluations a second,
 * a placement under change, and the pool of placements found. Private to them; the way in is the table of partitioners.
 *
 * Words:    a *start* is a placement made by some rule, before refinement. A *bias* is what a node's priority has
 *           beyond its upward rank. A *step* is one node in an evaluation: the unit in which budgets are kept, so that
 *           answers never depend on the clock.
 * Memory:   a compact problem borrows the problem; a state borrows the compact problem. Each has a function that
 *           returns it. Nothing allocates while it refines.
 * Threads:  a compact problem is read by all; a state belongs to one.
 * Numbers:  additions, multiplications, divisions and square roots only: libm's other functions differ between
 *           machines, and then so would placements.
 */
#ifndef DFP_GP_H
#define DFP_GP_H

#include <math.h>

#include "partition/model/compact.h"

/* ---- gp_pool.c: numbers that are the same everywhere ---- */

struct dfp_random {
    uint64_t state;
};
static inline uint64_t dfp_random_next(struct dfp_random *r) /* SplitMix64 (Steele, Lea, Flood 2014) */
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static inline uint32_t dfp_random_below(struct dfp_random *r, uint32_t n)
{
    return (uint32_t)((dfp_random_next(r) >> 32) * n >> 32);
}
static inline double dfp_random_unit(struct dfp_random *r) /* in (0, 1] */
{
    return (double)((dfp_random_next(r) >> 11) + 1) * 0x1p-53;
}
double dfp_minus_log(double x);         /* -ln x for 0 < x <= 1, to 1e-6 */

/* ---- gp_state.c: a placement under change, with all that follows from it ---- */

struct dfp_change {                     /* of one node, for undo */
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
    uint32_t head, tail, flying;        /* flying: in the heap of events */
    double free_s;
};

struct dfp_first {                      /* somebody who reads what is there before time 0 */
    uint64_t key;
    uint32_t index;                     /* into the compact problem's initial_reader and initial_value */
};

struct dfp_state {
    const struct dfp_compact *compact;
    uint16_t *place;
    float *bias;
    float rank_weight;                  /* priority = rank_weight * rank + bias; 1 or 0 */
    uint32_t *reads;                    /* [value * n_units + unit]: readers there */
    uint32_t *wanted;                   /* of a value: bit u, some reader is there */
    double load_s[DF_MAX_UNITS];        /* of all its workers together */
    double copies_s[DF_MAX_UNITS][3];   /* of an engine: [0] back to the host, [1] to the device, [2] to peers */
    double *rank_s;                     /* upward rank under this placement */
    uint64_t *key;                      /* of a node: its place in a ready queue, smaller first */
    uint64_t *dirty;                    /* bit per node: its rank must be computed again */
    uint32_t dirty_top;                 /* no dirty word above */
    struct dfp_change *changes;
    struct dfp_rank_change *rank_changes;
    uint32_t n_changes, n_rank_changes;
    /* of the last run */
    uint32_t *blame, *kept_blame;       /* the node that ended when this one could start, or DF_NONE */
    uint32_t last_node, kept_last_node; /* the one that ended last */
    uint64_t steps;                     /* of all runs */
    uint32_t *chain;                    /* refinement's: room for all nodes */
    /* scratch of a run */
    uint32_t *missing;
    uint32_t *sent;                     /* of an initial value: bit u, its copy to or from unit u is asked for */
    struct dfp_first *first;            /* readers of initial values; by urgency as of the last run */
    double *ready_s;
    uint64_t *ready[DF_MAX_UNITS];
    struct dfp_event *events;
    struct dfp_fifo fifo[DF_MAX_UNITS][3];
    void *block;
};

int dfp_state_make(const struct dfp_compact *compact, struct dfp_state *state, struct df_error *error);
void dfp_state_free(struct dfp_state *state);

/* Takes over a whole placement (copied). bias NULL: none. */
void dfp_state_set(struct dfp_state *state, const uint16_t *place, const float *bias, float rank_weight);

/* Changes one node; ranks follow with dfp_state_settle(). Then either dfp_state_keep() or dfp_state_undo(). */
void dfp_state_move(struct dfp_state *state, uint32_t node, uint32_t unit);
void dfp_state_bias(struct dfp_state *state, uint32_t node, float bias);
void dfp_state_settle(struct dfp_state *state);
void dfp_state_keep(struct dfp_state *state);
void dfp_state_undo(struct dfp_state *state);

/* The largest load: of a unit divided by its workers, of a copy engine. No wave is shorter, and it is what each wave
 * costs where many are in flight. */
double dfp_state_bottleneck_s(const struct dfp_state *state);

/* The priorities as a plan carries them. */
void dfp_state_priority(const struct dfp_state *state, float *priority);

static inline uint64_t dfp_key(float priority, uint32_t node) /* higher priority, then lower node: smaller */
{
    union {
        float f;
        uint32_t u;
    } bits = { .f = priority + 0.0f };  /* no -0 */
    uint32_t ascending = bits.u & 0x80000000u ? ~bits.u : bits.u | 0x80000000u;
    return (uint64_t)~ascending << 32 | node;
}

/* Puts the readers of initial values in order from nothing; dfp_state_run() only repairs it. */
void dfp_state_sort(struct dfp_state *state);

/* ---- gp_fast.c ---- */

/* The makespan as dfp_evaluate() gives it; INFINITY as soon as it is certain to be above limit_s. */
double dfp_state_run(struct dfp_state *state, double limit_s);

/* dfp_evaluate()'s makespan by the fast evaluator, with priorities given. For tests. */
int dfp_evaluate_fast(const struct dfp_problem *problem, const uint16_t *place, const float *priority,
                      double *makespan_s, struct df_error *error);

/* ---- gp_pool.c: the placements worth remembering ---- */

enum { DFP_POOL = 6 };

struct dfp_found {
    double makespan_s;
    bool from_metis;
    float rank_weight;
    uint16_t *place;
    float *bias;
};
struct dfp_pool {                       /* the best distinct ones, best first */
    uint32_t n;
    struct dfp_found found[DFP_POOL];
    uint32_t n_nodes;
    void *block;
};
int dfp_pool_make(struct dfp_pool *pool, uint32_t n_nodes, struct df_error *error);
void dfp_pool_free(struct dfp_pool *pool);
/* Copies it in where it is good enough. A pool keeps one of METIS's at least once it saw any. */
void dfp_pool_add(struct dfp_pool *pool, double makespan_s, bool from_metis, const struct dfp_state *state);

/* ---- gp_starts.c, gp_list.c, gp_lin.c, gp_metis.c, gp_replay.c ---- */

struct dfp_search {                     /* what the makers of starts work with */
    const struct dfp_problem *problem;
    const struct dfp_options *options;
    struct dfp_compact compact;
    struct dfp_state state;
    struct dfp_pool pool;
    uint32_t inflight, n_waves;         /* many waves: in flight, and in a simulated run; else 0 */
    uint64_t budget_steps;              /* for everything */
    double deadline_s;                  /* by dfr_clock_s(), INFINITY: none */
    double *average_rank_s;             /* HEFT's: mean times */
    double price[DF_MAX_UNITS];         /* of a second of all workers of a unit, from the area bound; sums to 1 */
    double area_s, bound_s;
    const char *online;                 /* the best online policy of those replayed, and its makespan */
    double online_s;
    uint16_t *place;                    /* scratch of the makers */
    float *order[2];                    /* priorities that follow no times: by number, and depth first from the ends */
    int32_t *cluster;                   /* of a node, by METIS; NULL: not computed */
    uint32_t n_clusters;
};

/* gp_pool.c: evaluates search->place under its own upward rank, and remembers it. */
void dfp_search_try(struct dfp_search *search, bool from_metis);
/* The same by these priorities. */
void dfp_search_try_order(struct dfp_search *search, bool from_metis, const float *order);

int dfp_starts_run(struct dfp_search *search, struct df_error *error);
int dfp_list_run(struct dfp_search *search, bool all, struct df_error *error);
/* Nodes on devices in search->place go to the device with the earliest finish; nothing else moves. */
int dfp_list_split(struct dfp_search *search, struct df_error *error);
int dfp_lin_run(struct dfp_search *search, uint32_t n_prices, uint32_t n_steps, struct df_error *error);
int dfp_metis_run(struct dfp_search *search, uint32_t n_single, uint32_t n_double, struct df_error *error);
int dfp_metis_clusters(struct dfp_search *search, struct df_error *error);

/* What is compared with costs no budget; what is a start, too, does. */
enum dfp_replays {
    DFP_REPLAY_FEW,                     /* compared with planners, and the online policies that are best as a rule */
    DFP_REPLAY_MOST,                    /* with all, and the first online one is a start */
    DFP_REPLAY_ALL                      /* everything is a start, in two orders */
};
int dfp_replay_run(struct dfp_search *search, enum dfp_replays replays, struct df_error *error);
/* Policies that decide in the run; the first is the one to try where there is time for one only. */
enum { DFP_N_ONLINE = 10, DFP_STEPS_PER_JOB = 6 /* of the budget, in a simulated run */ };
extern const char *const dfp_online[DFP_N_ONLINE];
/* Whether dfp_online[i] decides as the one before it does on this platform: it need not be simulated then. */
bool dfp_online_repeats(const struct df_platform *platform, size_t i);
extern const struct dfp_partitioner *const dfp_others[]; /* all planners but gp; NULL-terminated */
/* What another planner makes of the problem, in its own order, or in that of upward ranks where it has none. */
int dfp_replay_plan(const struct dfp_search *search, const struct dfp_partitioner *planner, uint16_t *place,
                    float *priority, struct df_error *error);

/* Splits what is on devices among all of them, by METIS; search->place is input and output. */
int dfp_metis_split(struct dfp_search *search, struct df_error *error);

/* Anneals search->place on the bottleneck load plus `spare` times the mean of the copies' time. Gives the load. */
double dfp_load_run(struct dfp_search *search, double spare, uint64_t n_moves, double start_temperature, uint64_t seed);

/* ---- gp_rate.c: what a wave costs at least where many are in flight ---- */

enum { DFP_RATE_RESOURCES = 4, DFP_RATE_COLUMNS = 48 };

struct dfp_rate_column {                /* a placement of one wave; devices count as one */
    double share;                       /* of the waves, in the best mixture */
    double load_s[DFP_RATE_RESOURCES];  /* host, devices, copies to them, copies back */
    const uint8_t *on_device;           /* by node */
};
struct dfp_rates {
    double bound_s;                     /* no plan costs less a wave; 0: not known */
    double mixed_s;                     /* what the mixture costs, INFINITY: none */
    uint32_t n;
    struct dfp_rate_column column[DFP_RATE_COLUMNS];
    uint8_t *places;
};
/* price: of the units, from the area bound. most_steps: arcs that may be looked at. */
int dfp_rates_find(const struct dfp_compact *compact, const double *price, uint64_t most_steps,
                   struct dfp_rates *rates, struct df_error *error);
void dfp_rates_free(struct dfp_rates *rates);

/* ---- gp_waves.c: many waves in flight ---- */

/* Sets how many waves are in flight and in a simulated run, by the options and the graph's size. */
void dfp_waves_count(struct dfp_search *search);

/* Fills the result: places of one or more waves, priorities, loads and their bound; the order of a single wave's
 * figures is as answered for latency. place and priority are grown by realloc() where more than one wave is placed. */
int dfp_waves_solve(struct dfp_search *search, struct dfp_result *result, struct df_error *error);

/* ---- gp_room.c: devices' memories that have no room for everything ---- */

bool dfp_room_is_short(const struct dfp_problem *problem);
/* Chooses again, from the pool, the other planners and the online policies, by simulation; result: as answered without
 * regard to memory. */
int dfp_room_answer(struct dfp_search *search, struct dfp_result *result, struct df_error *error);

/* ---- gp_refine.c ---- */

struct dfp_anneal {
    double start_temperature;           /* relative to the makespan */
    uint64_t steps;                     /* budget */
    uint64_t seed;
};
/* Anneals from `found` (place and bias, changed to the best met). */
void dfp_anneal_run(struct dfp_state *state, const struct dfp_search *search, const struct dfp_anneal *anneal,
                    struct dfp_found *found);

#endif
