/* compact.h - a problem as flat arrays that hold just what an evaluation needs: the time of each node on each unit, the
 * time of each copy, and who reads what. The search of gp evaluates a hundred thousand placements a second on it; HEFT,
 * PEFT and the lower bound read it too.
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
    uint32_t n_nodes, n_units, n_values, n_movable, n_costed;
    uint32_t host_workers;
    uint32_t workers[DF_MAX_UNITS];     /* of each unit */
    uint8_t shared_engine[DF_MAX_UNITS]; /* one engine for both directions */
    uint32_t peers[DF_MAX_UNITS];       /* units to which it copies directly, a bit each */
    bool has_peers;                     /* any of them */
    double *time_s;                     /* [node * n_units + unit]; INFINITY: it cannot run there */
    uint16_t *width;                    /* host workers that a job holds */
    uint8_t *is_free;                   /* takes no worker */
    uint32_t *first_out;                /* of a node: its values are first_out[v] … first_out[v + 1] - 1 */
    uint32_t *producer;                 /* of a value */
    uint8_t *is_empty;                  /* a value of no bytes: it needs no engine */
    uint32_t *first_reader, *reader;    /* of a value: nodes, each once */
    uint32_t *first_in, *in;            /* of a node: values, each once */
    double *to_s, *from_s;              /* [value * n_units + unit]: from the host to it and back; 0 for no bytes */
    double *peer_s;                     /* as above, over the unit's own peer link; NULL without peers */
    uint32_t *movable;                  /* nodes that have a choice, in order */
    uint32_t *source, n_sources;        /* nodes that read nothing */
    uint32_t *initial_reader, *initial_value, n_initial; /* who reads what is there before time 0, by reader */
    uint32_t *allowed;                  /* of a node: bit u, it can run there */
};

int dfp_compact_make(const struct dfp_problem *problem, struct dfp_compact *compact, struct df_error *error);
/* Times and copies times @rate, and of what fires once by the number of waves: what a wave costs on average. */
void dfp_compact_apply_rates(struct dfp_compact *compact, uint32_t n_waves);
/* The latter alone. */
void dfp_compact_spread_once(struct dfp_compact *compact, uint32_t n_waves);
/* The same graph n times beside each other: waves placed jointly. Copy `i` of node v is i * n_nodes + v. */
int dfp_compact_repeat(const struct dfp_compact *compact, uint32_t n, struct dfp_compact *repeated,
                       struct df_error *error);
void dfp_compact_free(struct dfp_compact *compact);

static inline double dfp_compact_time_s(const struct dfp_compact *c, uint32_t node, uint32_t unit)
{
    return c->time_s[(size_t)node * c->n_units + unit];
}

/* Between peers: the slower end's time. */
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

/* HEFT's upward rank: how long the way from a node's start to the end is, with mean times. A node's time is the mean
 * over the workers that can run it; mean_copy_s() says what the copy of a value costs on average. rank_s: by node. */
void dfp_compact_mean_rank(const struct dfp_compact *compact,
                           double (*mean_copy_s)(const struct dfp_compact *compact, uint32_t value), double *rank_s);

/* PEFT's optimistic cost table: how long the way to the end still is after a node, if the node runs on that unit and
 * all that follows is placed at its best. oct_s: [node * n_units + unit]. */
void dfp_compact_optimistic(const struct dfp_compact *compact, double *oct_s);

/* ---- bound.c ---- */

/* No schedule of one wave is shorter: area bound and two-state critical path. *price: of a second of all
 * workers of each unit; the prices sum to 1; may be NULL. */
double dfp_bound_s(const struct dfp_compact *compact, double *area_s, double *price);

#endif
