/* drift_rig.h - pipelines that drift at random, run with a tuner and with fixed mappings (partition/tuning/drifting.h).
 *
 * Sample:   by its number. 3 to 8 stages on 4 to 12 processors, drawn as pipeline_rig.h says. One stage of five is serial. Half have unlike links,
 *           half are fed by demand, and in half each time differs by chance, by at most 10 %.
 * Drifts:   one to three, which begin in the first fifth of the waves, but not in the first hundred. Either a stage takes a quarter to four times
 *           as long, for ever. Or a processor takes one to four times as long, and half of them recover within a fifth of the waves.
 * Once:     one to three disturbances: a stage takes twenty times as long for one wave.
 * Start:    the best mapping that a search of 100,000 finds for the times before the drifts.
 * Fixed:    the fastest of three mappings that stay as they are: the one at the start, the best one for the times behind all drifts, and
 *           the tuner's last one. The second is found by four searches of 100,000 mappings and, if it is short, the enumeration.
 */
#ifndef DRIFT_RIG_H
#define DRIFT_RIG_H

#include <stdint.h>

struct drift_outcome {
    double late;                        /* the rate over the last third of the waves, over that of the best fixed mapping */
    double untuned;                     /* the same of the mapping at the start */
    double whole;                       /* as `late`, but from the first drift to the end */
    unsigned changes, questions;
};

/* Aborts if a run fails, or if a wave is lost or repeated. waves: at least 300. */
struct drift_outcome try_random_drift(uint64_t number, int64_t waves);

#endif
