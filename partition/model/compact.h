/* compact.h - a placement problem as flat arrays with only what an evaluation needs: the time of each node on each unit, the time of each copy, and each
 * value's readers. The search of gp evaluates a hundred thousand placements per second on it; HEFT, PEFT and the lower bound use it too.
 *
 * Memory:   a compact problem borrows its problem and owns its arrays; dfp_compact_free() returns them.
 * Threads:  after dfp_compact_make() it is only read, by any number of threads.
 */
#ifndef DFP_COMPACT_H
#define DFP_COMPACT_H

#include <math.h>

#include "partition/model/model.h"

struct dfp_compact {
    struct dfp_model model;
    uint32_t n_nodes, n_units, n_values, n_movable, n_costed; /* n_costed: nodes that are not free */
    uint32_t host_workers;
    uint32_t workers[DF_MAX_UNITS];     /* of each unit */
    double handover_s[DF_MAX_UNITS];    /* of each unit: from the end of a copy by its engines until others see it */
    uint8_t shared_engine[DF_MAX_UNITS]; /* of each unit: one copy engine serves both directions */
    uint32_t peers[DF_MAX_UNITS];       /* of each unit: bit u, it copies directly to unit u */
    bool has_peers;                     /* some unit has a peer */
    double *time_s;                     /* [node * n_units + unit]; INFINITY: the node cannot run there */
    uint16_t *width;                    /* of a node: workers that its job holds on the host */
    uint8_t *is_free;                   /* of a node: it costs nothing and takes no worker */
    uint32_t *first_out;                /* of a node v: its values are first_out[v] … first_out[v + 1] - 1 */
    uint32_t *producer;                 /* of a value: the node */
    uint8_t *is_empty;                  /* of a value: it has no bytes, so its copies need no engine */
    uint32_t *first_reader, *reader;    /* of a value x: its readers are reader[first_reader[x]] …, each node once */
    uint32_t *first_in, *in;            /* of a node v: it reads in[first_in[v]] …, each value once */
    double *to_s, *from_s;              /* [value * n_units + unit]: host to unit, unit to host; 0 if it has no bytes */
    double *peer_s;                     /* [value * n_units + unit]: over the unit's own peer link; NULL: no peers */
    uint32_t *movable;                  /* nodes that more than one unit can run, in order of number */
    uint32_t *source, n_sources;        /* nodes that read nothing */
    /* Arcs of values that are there before time 0, because a free source made them; in order of the reader. */
    uint32_t *initial_reader, *initial_value, n_initial;
    uint32_t *allowed;                  /* of a node: bit u, unit u can run it */
};

int dfp_compact_make(const struct dfp_problem *problem, struct dfp_compact *compact, struct df_error *error);
/* Makes all times what a wave costs on average: a node's times are multiplied by its @rate, copies of a value by how often
 * it is read (df_value_rate()), and both are divided by the number of waves for a node that fires once a run. */
void dfp_compact_apply_rates(struct dfp_compact *compact, uint32_t n_waves);
/* Only divides the times of nodes that fire once by the number of waves. */
void dfp_compact_spread_once(struct dfp_compact *compact, uint32_t n_waves);
/* The same graph n times side by side, for waves that are placed jointly. Copy `i` of node v is i * n_nodes + v. */
int dfp_compact_repeat(const struct dfp_compact *compact, uint32_t n, struct dfp_compact *repeated,
                       struct df_error *error);
void dfp_compact_free(struct dfp_compact *compact);

static inline double dfp_compact_time_s(const struct dfp_compact *c, uint32_t node, uint32_t unit)
{
    return c->time_s[(size_t)node * c->n_units + unit];
}

/* A direct copy between peers: the time of the slower end. */
static inline double dfp_compact_peer_s(const struct dfp_compact *c, uint32_t value, uint32_t from, uint32_t to)
{
    const double *row = c->peer_s + (size_t)value * c->n_units;
    return row[from] > row[to] ? row[from] : row[to];
}

static inline double dfp_compact_copy_s(const struct dfp_compact *c, uint32_t value, uint32_t from, uint32_t to)
{
    size_t row = (size_t)value * c->n_units;
    if (c->peers[from] >> to & 1)
        return dfp_compact_peer_s(c, value, from, to);
    return from == to ? 0 : (from ? c->from_s[row + from] : 0) + (to ? c->to_s[row + to] : 0);
}

/* ---- rank.c ---- */

/* HEFT's upward rank: the length of the longest path from a node's start to the end, with mean times. A node's time is the mean over the workers that can run
 * it; mean_copy_s() returns the mean cost of copying a value. rank_s: by node. */
void dfp_compact_mean_rank(const struct dfp_compact *compact,
                           double (*mean_copy_s)(const struct dfp_compact *compact, uint32_t value), double *rank_s);

/* PEFT's optimistic cost table: the remaining path length after a node that runs on that unit, if all successors are placed optimally. oct_s: [node * n_units +
 * unit]. */
void dfp_compact_optimistic(const struct dfp_compact *compact, double *oct_s);

/* ---- bound.c ---- */

/* A lower bound on the makespan of one wave: the larger of the area bound and the critical path. area_s: the area bound only. price: by unit, the price of a
 * second of all its workers; the prices sum to 1. Both may be NULL. */
double dfp_bound_s(const struct dfp_compact *compact, double *area_s, double *price);
/* Another bound: what the jobs take that use the same shared resource, wherever they run. The search of gp knows no resources. */
double dfp_resources_s(const struct dfp_compact *compact);

#endif
