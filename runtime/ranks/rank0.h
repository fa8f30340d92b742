/* rank0.h - rank 0's side of stages on ranks: it maps, maps anew if a rank dies, and feeds the first group (`relay` of manager.h).
 *
 * WELCOME:  what is made once, by value of the whole graph; behind it the mapping (mapping.h), under the number of values; and the classes of all ranks
 *           (suits.h), 32 bits each, under that number and one.
 * Change:   dfr_rank0_change() says that another mapping is wanted from the next wave on. Then no more waves are given until those under way are back,
 *           so none is lost and none is computed twice.
 * Threads:  the communication thread.
 */
#ifndef DFR_RANK0_H
#define DFR_RANK0_H

#include "runtime/ranks/manager.h"
#include "runtime/ranks/feed.h"
#include "runtime/ranks/tune.h"

struct dfr_rank0 {
    const struct df_graph *graph;       /* borrowed, as the rest of these */
    const struct dfr_stages *stages;
    const struct df_options *options;   /* for the times of waves */
    enum dfr_stream_policy policy;
    uint32_t classes[DFR_MOST_PROCESSORS + 1]; /* by rank */
    struct dfr_mapping wanted;          /* as if all ranks lived */
    struct dfr_mapping mapping;         /* what is so */
    const struct dfr_value *once;
    uint32_t n_once;
    struct dfr_feed *feed;              /* NULL: there is no mapping yet */
    bool begun;
    void (*tell)(void *arg, const char *sentence);
    void *tell_arg;
    struct dfr_tune *tune;              /* NULL: it is not tuned */
};

/* What the manager is given; `first` is its arg. */
struct dfr_manager_relay dfr_rank0_relay(struct dfr_rank0 *first);
/* The mapping that follows the last one: dfr_manager_remap() begins it. */
void dfr_rank0_change(struct dfr_rank0 *first, const struct dfr_mapping *wanted);
void dfr_rank0_close(struct dfr_rank0 *first);

#endif
