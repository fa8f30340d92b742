/* wave_path.h - what a wave's time was spent on: follows a wave back from its last job, each time to the input that came last. The simulator's waves, for
 * `dfc check`, and those of a run, for its report of late waves, are looked at alike.
 */
#ifndef DF_WAVE_PATH_H
#define DF_WAVE_PATH_H

#include "runtime/graph/graph.h"

struct dfr_job_span {                   /* of a node's job in the wave; end_s 0: it did not run */
    double begin_s, end_s;
    uint32_t unit;
};

struct dfr_wave_path {
    double begin_s, end_s;              /* of the wave: its first job's begin and its last job's end */
    uint32_t longest;                   /* the node on the path that took longest, and how long */
    double longest_s;
    uint32_t waited;                    /* the node on the path that waited longest after its inputs were there, for a worker or a copy */
    double waited_s;                    /* 0: none waited */
    double run_s, wait_s;               /* sums over the path */
};

/* spans: by node; those of nodes without jobs are set. false: no job ran. */
bool dfr_wave_path(const struct df_graph *graph, struct dfr_job_span *spans, struct dfr_wave_path *path);

#endif
