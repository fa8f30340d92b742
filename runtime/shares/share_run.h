/* share_run.h - the run of a share (share.h): all waves, from the first on, and then the values of its accs.
 *
 * Values:   dfr_value.port is the number of the value in the whole graph. Behind the accs a last value, with the number of the graph's values, has
 *           the number of waves as an int64_t.
 * Memory:   what is made once is borrowed until the run is closed, as the graph and the options' pointers are. Parts of accs are the run's.
 * Threads:  one thread makes these calls. A thread of the run waits for its end, and calls `ended` then.
 * Errors:   those of a run; DF_E_FORMAT: a value that is made once is missing or is not as large as it must be.
 */
#ifndef DFR_SHARE_RUN_H
#define DFR_SHARE_RUN_H

#include "runtime/cluster/message.h"
#include "runtime/shares/share.h"

struct dfr_share_run;

/* Starts share k of n. options: waves, workers and devices; `fed` is called when the run has ended. once: by rising number, n_once of them. */
int dfr_share_run_start(const struct dfr_shared *shared, uint32_t k, uint32_t n, const struct df_options *options, const struct dfr_value *once,
                        uint32_t n_once, struct dfr_share_run **run, struct df_error *error);
/* Has it ended? *waves: how many have so far. */
bool dfr_share_run_ended(const struct dfr_share_run *run, int64_t *waves);
/* After that, and once: how it ended. values: room for all accs of the graph, and one more; they last until the run is closed. */
int dfr_share_run_finish(struct dfr_share_run *run, struct dfr_value *values, uint32_t *n, struct df_stats *stats, struct df_error *error);
/* Stops the run if it has not finished. NULL is allowed. */
void dfr_share_run_close(struct dfr_share_run *run);

#endif
