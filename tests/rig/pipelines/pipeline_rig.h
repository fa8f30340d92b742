/* pipeline_rig.h - random pipelines (partition/stages/) with the scales of HeDPM's paper: speeds, works, bytes and bandwidths are drawn from
 * a normal distribution of mean 10 and deviation 5, and setup times of mean 0.1 and deviation 0.05, as in its case study. What is
 * drawn below 0 is drawn again.
 */
#ifndef PIPELINE_RIG_H
#define PIPELINE_RIG_H

#include "partition/stages/pipeline.h"

struct draws {
    uint64_t seed;                      /* of partition/stages/random.h; changes with each draw */
};

/* unlike: each link has a bandwidth and a setup time of its own; else all have 10 and 0.1. */
void draw_pipeline(struct draws *draws, struct dfp_pipeline *pipeline, bool unlike);

#endif
