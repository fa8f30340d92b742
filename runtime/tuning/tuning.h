/* tuning.h - dynamic tuning: decides when a run changes its mapping of stages to processors (Moreno et al., HeDPM,
 * section 4.2). Rank 0 of a run with pipeline stages tunes with it (ranks/tune.c), and so does `dfc map --drift` in
 * virtual time (partition/tuning/).
 *
 * A *tuner* receives the time that each stage took on each processor, wave by wave. It keeps robust estimates and
 * compares them with the times for which the mapping was computed. If they differ, it calls `remap`, a callback, for
 * the best mapping with the estimated times, and accepts that mapping only if it is worth a change.
 *
 * Words:    a *pair* is a stage and a processor. It is *active* if the mapping assigns the stage to the processor,
 *           which is so if both are in the same group. Stages and processors are numbered from 0.
 * Estimate: of a pair: the median of its latest measurements (estimate.h). A single slow wave changes nothing.
 * Drift:    an active pair has drifted if its estimate differs from the time used for the mapping by more than `drift`,
 *           and by more than noise explains.
 * Others:   inactive pairs are not measured. Drift is therefore attributed to as few stages and processors as possible
 *           (explain.h), and their inactive pairs are assumed to drift along. Because that is an assumption, pairs that
 *           drift along by more than a tenth count as unknown. A measurement of a pair remains known until then, or
 *           until it lapses.
 * Lapses:   if a processor has been idle for `forget` waves, everything known about it lapses, so that a processor
 *           which was once slow is tried again. On a processor that works, only the pair's own deviation lapses; the
 *           times of other stages still show whether the processor is slow. Each lapse of a pair doubles its `forget`.
 * Settled:  after a change, no further one is considered until each active pair has been measured, except replicas that
 *           get few or no waves.
 * Again:    `remap` may search for a bounded time only, and miss the best mapping. After a large drift it is called
 *           eight more times, every 32 waves.
 * Change:   a new mapping must raise the rate by more than `hysteresis`, and over the remaining waves it must gain more
 *           than it costs: as many new periods as waves are in flight, and the time to move state.
 * Swings:   a pair that drifts back has swung. If n swings in the last `forget` waves were as large as the gain of a
 *           change, times are expected to last `forget` / n waves, and the gain is computed over these only, minus
 *           those that it takes to notice and answer a swing. So times that change faster than a remapping pays off are
 *           not followed, as on a machine whose cores are taken away intermittently.
 * Waves:    the caller decides from which wave on the new mapping applies, and ensures that no wave is lost or
 *           repeated. It may still report times of waves of the previous mapping.
 * Clock:    none; no thread, no file, no message. The same calls give the same answers on every machine.
 * Memory:   a tuner copies its inputs, except the names, which it borrows.
 * Threads:  one at a time.
 * Errors:   DF_OK, DF_E_MEMORY, or the error that `remap` returned.
 */
#ifndef DFR_TUNING_H
#define DFR_TUNING_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/df.h"

/* Which group has which stage and which processor. UINT32_MAX: the processor has nothing to do. */
struct dfr_tuner_map {
    uint32_t *of_stage, *of_processor;
};

/* The result of `remap`. */
struct dfr_tuner_offer {
    double now_s, new_s;                /* periods, by the times passed to it, of the present mapping and of the best one */
    double move_s;                      /* what it takes to move the state of stages that go to another processor */
    struct dfr_tuner_map map;           /* the best one, in memory that the tuner provides */
};

/* Finds the best mapping for these times. time_s: [stage * n_processors + processor]. rest: the number of waves assumed to be left.
 * `present` is the first mapping or one that it returned. Returns DF_OK or an error. */
typedef int (*dfr_remap)(void *context, const double *time_s, int64_t rest, const struct dfr_tuner_map *present, struct dfr_tuner_offer *offer,
                         struct df_error *error);

/* An implementation of it. */
struct dfr_remapper {
    int (*open)(uint32_t n_stages, uint32_t n_processors, const double *time_s, bool by_demand, void **context, struct df_error *error);
    dfr_remap ask;
    void (*close)(void *context);
};

struct dfr_tuner_rules {
    double drift;                       /* 0.02: a fraction of the time used for the mapping */
    double hysteresis;                  /* 0.02: a fraction of the rate */
    uint32_t forget;                    /* 1000 waves */
    uint32_t rest;                      /* 1000 waves are left if the caller does not know how many */
};
extern const struct dfr_tuner_rules dfr_tuner_defaults;

struct dfr_tuner_shape {
    uint32_t n_stages, n_processors;
    const char *const *stages, *const *processors;      /* names; borrowed as long as the tuner lives */
    const double *time_s;               /* [stage * n_processors + processor], > 0: what the first mapping was made for */
    struct dfr_tuner_map map;           /* the first one */
    dfr_remap remap;
    void *context;                      /* of remap */
    struct dfr_tuner_rules rules;
    const char *ask;                    /* NULL, or why the first mapping may not be the best one; borrowed. It is asked for when all of it was measured */
    int64_t waves;                      /* so many have left the pipeline */
};

struct dfr_tuner;

int dfr_tuner_new(const struct dfr_tuner_shape *shape, struct dfr_tuner **tuner, struct df_error *error);
void dfr_tuner_free(struct dfr_tuner *tuner);          /* NULL is allowed */

/* Reports the time that a processor took for a stage in a wave, without transfers. The waves of a processor are reported in the order of execution. */
void dfr_tuner_measured(struct dfr_tuner *tuner, int64_t wave, uint32_t stage, uint32_t processor, double seconds);
/* The same if only a group of stages was measured, `first` to `end` - 1: its time is divided in proportion to the estimates. */
void dfr_tuner_measured_group(struct dfr_tuner *tuner, int64_t wave, uint32_t first, uint32_t end, uint32_t processor, double seconds);

enum dfr_tuner_step {
    DFR_TUNER_NOTHING,                  /* nothing drifted */
    DFR_TUNER_STAYS,                    /* something did, but the mapping is still the best, or a change is not worth it */
    DFR_TUNER_CHANGES                   /* the caller changes to dfr_tuner_map() as soon as it can */
};
/* To be called for each wave that leaves the pipeline. waves: how many have left it; in_flight: how many are in it; rest: how many
 * have not begun, below 0 if unknown. */
int dfr_tuner_ended(struct dfr_tuner *tuner, int64_t waves, uint32_t in_flight, int64_t rest, enum dfr_tuner_step *step,
                    struct df_error *error);

/* The present mapping; as long as the tuner lives. */
const struct dfr_tuner_map *dfr_tuner_map(const struct dfr_tuner *tuner);
/* The reason for the latest step other than DFR_TUNER_NOTHING, a sentence without a full stop. */
const char *dfr_tuner_why(const struct dfr_tuner *tuner);
/* The time that a stage is assumed to take on a processor. */
double dfr_tuner_time_s(const struct dfr_tuner *tuner, uint32_t stage, uint32_t processor);

#endif
