/* given.h - the graph and its times as the planner should see them. A node whose outputs the caller provides
 * (engine/buffers.h) is not called: it costs nothing, and its tokens are on the host, whatever variants and times its kernel
 * has. A run that is fed has many waves, so the planner sees a stream there. run_machine.c plans with it.
 *
 * Memory:   dfr_given_make() allocates only if some node is spared, or the run is fed; otherwise it borrows the run's
 *           graph and the times. dfr_given_free() frees it, after a failure, too. Graph and times are borrowed until
 *           then.
 * Errors:   DF_E_MEMORY.
 */
#ifndef DFR_GIVEN_H
#define DFR_GIVEN_H

#include "runtime/engine/engine.h"
#include "runtime/graph/plan.h"

struct dfr_given {
    const struct df_graph *graph;
    const struct df_times *times;
    /* What they are if some node is spared. Each such node has a work of its own, behind the graph's works. */
    struct df_graph own_graph;
    struct df_times own_times;
    struct df_work *works;
    struct df_node *nodes;
    struct df_kernel *kernels;          /* of a run that is fed; NULL: the graph's */
};

int dfr_given_make(const struct df_run *run, const struct df_times *times, struct dfr_given *given,
                   struct df_error *error);
void dfr_given_free(struct dfr_given *given);

#endif
