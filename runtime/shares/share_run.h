/* share_run.h - a rank's work on a share (share.h): some waves, one after the other, and then the values of its accs.
 *
 * Work:     It begins with some wave, with the accs as the waves before have left them, and goes on to the last wave. If the run can be resumed, it
 *           ends after some time, or when it is cut. Another run goes on from there, on any rank. An end brings accs from devices to the host.
 * Values:   dfr_value.port is the number of the value in the whole graph. Behind the accs a last value, with the number of the graph's values, has
 *           a struct dfr_share_end.
 * Memory:   what is made once is borrowed until the run is closed, as the graph and the options' pointers are. Parts of accs are the run's.
 * Threads:  one thread makes these calls. A thread of the run feeds it, or waits for its end, and calls `ended` then.
 * Errors:   those of a run; DF_E_FORMAT: a value that is made once, or an acc, is missing or is not as large as it must be.
 */
#ifndef DFR_SHARE_RUN_H
#define DFR_SHARE_RUN_H

#include "runtime/cluster/message.h"
#include "runtime/shares/share.h"

struct dfr_share_run;

struct dfr_share_work {
    uint32_t first, end;                /* parts [first, end) of the shared graph */
    int64_t first_wave;                 /* the accs have been changed in the waves before this one */
    const struct dfr_value *accs;       /* what they are, n_accs of them by rising number, behind first_wave > 0; borrowed until the run is closed */
    uint32_t n_accs;
    bool in_steps;                      /* it may end before the last wave: */
    double seconds;                     /* after so long; 0: only when it is cut */
    struct df_node_stats *nodes;        /* of the whole graph: what the run's nodes did is added at its end; NULL: jobs are not timed */
    struct df_node_skips *skips;        /* the same; NULL: not asked for */
};

struct dfr_share_end {
    int64_t waves;                      /* all waves before this one have changed the accs */
    int64_t whole;                      /* 1: there are no more */
};

/* Starts it. options: waves in all, workers and devices; `fed` is called when the run has ended. once: by rising number, n_once of them. */
int dfr_share_run_start(const struct dfr_shared *shared, const struct dfr_share_work *work, const struct df_options *options, const struct dfr_value *once,
                        uint32_t n_once, struct dfr_share_run **run, struct df_error *error);
/* It ends with the waves that are in flight, if it is in steps. */
void dfr_share_run_cut(struct dfr_share_run *run);
/* What it gives is not wanted: it ends when the jobs have that run now. */
void dfr_share_run_abort(struct dfr_share_run *run);
/* Has it ended? *waves: how many have so far. */
bool dfr_share_run_ended(const struct dfr_share_run *run, int64_t *waves);
/* After that, and once: how it ended. values: room for all accs of the graph, and one more; they last until the run is closed. */
int dfr_share_run_finish(struct dfr_share_run *run, struct dfr_value *values, uint32_t *n, struct df_stats *stats, struct df_error *error);
/* Stops the run if it has not finished. NULL is allowed. */
void dfr_share_run_close(struct dfr_share_run *run);

#endif
