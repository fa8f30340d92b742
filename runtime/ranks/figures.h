/* figures.h - what each rank of a run on many ranks did: what keeps it, and turns it into bytes for a message and back.
 *
 * Words:    A *report* is what a rank tells of itself when it ends: the statistics of its run, and those of the nodes that it fired. What rank 0
 *           counts of each rank by itself (struct dfr_rank_counts) is there for ranks that died, too.
 * Bound:    A report takes a few KiB, and 48 bytes for each node of the graph.
 * Reading:  nothing that arrives is trusted: every count and every text is checked.
 * Memory:   dfr_figures_free() returns what dfr_figures_create() gave.
 * Threads:  one at a time.
 */
#ifndef DFR_FIGURES_H
#define DFR_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/df.h"
#include "runtime/ranks/clock.h"
#include "runtime/ranks/stage_rows.h"

enum dfr_rank_fate {
    DFR_RANK_ABSENT,                    /* it never said HELLO */
    DFR_RANK_WORKED,
    DFR_RANK_LEFT,                      /* it asked for no more waves before the end */
    DFR_RANK_REFUSED,
    DFR_RANK_DIED,                      /* it counts as dead, and did not come back */
    DFR_RANK_FATES
};

struct dfr_rank_counts {                /* rank 0's, of another rank */
    int64_t n_given;                    /* as often as it was given a wave */
    int64_t n_accepted, n_dropped;      /* its results: those that were taken, and those that came too late */
    int64_t n_again;                    /* waves that it held when it counted as dead, which others were given */
    unsigned n_deaths;                  /* as often as it counted as dead */
    uint64_t sent_bytes, received_bytes; /* messages to it, and from it */
    uint64_t n_sent, n_received;
};

struct dfr_rank_figures {
    char host[64];
    enum dfr_rank_fate fate;
    unsigned inflight, window;          /* waves: at once on the rank itself; that it held at most, at the end */
    struct dfr_rank_counts counts;
    bool reported;                      /* it told what follows */
    bool untraced;                      /* it could not keep all events of its trace */
    struct dfr_trips trips[2];          /* its clock, at the start and at the end, if there is a trace */
    struct df_stats stats;
    struct dfr_stage_rows stages;       /* what it did with its stages, if waves go by stages */
};

#define DFR_MOST_CHANGES 65536u         /* of windows that are kept; the others are counted */

struct dfr_window_change {
    double at_s;                        /* dfr_clock_s() of rank 0 */
    int rank;
    unsigned window;
    double rate;                        /* waves a second, the best that was measured before; 0: none */
};

struct dfr_windows {                    /* how many waves each rank held at most, over time: each change that rank 0 made */
    struct dfr_window_change *changes;
    uint32_t n;
    size_t room;
    uint64_t n_dropped;                 /* also if there was no memory */
};

struct dfr_figures {                    /* of a run */
    int n_ranks;
    double elapsed_s;                   /* on rank 0, from the first message to the last wave */
    int64_t waves;                      /* that have ended in this run */
    struct dfr_rank_figures *ranks;     /* by rank. The first one's stats are of HEAD and TAIL together */
    uint32_t n_nodes;                   /* of the whole graph */
    bool by_stages;                     /* waves went from rank to rank (replica_stages.c), and there are no windows */
    struct dfr_windows windows;
    struct df_node_stats *nodes;        /* of all ranks together; NULL: jobs are not timed */
    struct df_node_skips *skips;        /* the same */
};

/* nodes: are jobs timed? */
int dfr_figures_create(int n_ranks, uint32_t n_nodes, bool nodes, struct dfr_figures **figures, struct df_error *error);
void dfr_figures_free(struct dfr_figures *figures);

void dfr_windows_add(struct dfr_windows *windows, double at_s, int rank, unsigned window, double rate);

struct dfr_report {
    const struct df_stats *stats;
    const struct dfr_trips *trips;      /* two; NULL: there is no trace */
    const struct df_node_stats *nodes;  /* n_nodes of each; NULL: they are not told */
    const struct df_node_skips *skips;
    uint32_t n_nodes;
    const struct dfr_stage_rows *stages; /* NULL: there are none */
};

/* A report as bytes, which the caller frees. NULL: out of memory. */
void *dfr_report_pack(const struct dfr_report *report, size_t *size);
/* Reads the report of a rank: its statistics are kept, with its stages', and those of nodes are added to all ranks'. false: it is wrong, and nothing is changed. */
bool dfr_report_read(struct dfr_figures *figures, int rank, const void *bytes, size_t size);

/* Adds what a run did that followed another one on the same machine. Workers and memories of the same name are the same. All zero: there was none. */
void dfr_stats_add(struct df_stats *to, const struct df_stats *from);
/* Adds the workers and memories of a part that ran beside another one on the same rank; `name` goes before their names. */
void dfr_stats_join(struct df_stats *to, const struct df_stats *from, const char *name);

#endif
