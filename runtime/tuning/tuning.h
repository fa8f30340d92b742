/* tuning.h - when a run changes its mapping of stages to processors, and why (Moreno et al., HeDPM, section 4.2, "Dynamic tuning").
 *
 * A *tuner* is told what each stage took on each processor, wave by wave. It keeps robust estimates and compares them with the times that
 * the mapping was made for. If they differ, it asks a function of the caller, `remap`, for the best mapping with the estimated times. It
 * accepts that mapping only if it is worth a change.
 *
 * Words:    A *pair* is a stage and a processor. It is *active* if the mapping gives the stage to the processor. Stages and processors
 *           have numbers from 0. A stage and a processor of the same group are a pair of the mapping.
 * Estimate: the median of what a pair took lately (estimate.h). One wave that takes long changes nothing.
 * Drift:    An active pair has drifted if its estimate is further from the time that was counted with than `drift`, and further than
 *           chance explains.
 * Others:   Nothing is measured of pairs that are not active. What drifts is therefore explained by few stages and processors
 *           (explain.h), and the other pairs of those drift with them. That is an assumption, so pairs that drift with others by more
 *           than a tenth are no longer known. What was measured of a pair is known until then, or until it lapses.
 * Lapses:   If a processor has had nothing to do for `forget` waves, all that is known of it lapses, so that a processor that was slow once is tried
 *           again. If it works, it is only what was special to a pair that lapses: what was measured of other stages there still tells that
 *           the processor is slow. Each lapse of a pair doubles its `forget`.
 * Settled:  After a change nothing is asked until each active pair was measured. A replica that gets no waves, or few, is not waited for.
 * Again:    `remap` may search for a bounded time, and so miss the best mapping. If much has drifted, it is asked eight times more, every 32
 *           waves.
 * Change:   It has to raise the rate by more than `hysteresis`. And over the waves that are left it has to gain more than it costs: as
 *           many new periods as waves are in flight, and the time in which state moves.
 * Swings:   A pair that drifts back has swung. If n swings in the last `forget` waves were as large as what a change gains, times last for
 *           `forget` / n waves. Only those are counted then, less the ones in which a swing is noticed and answered. So times that do not
 *           last as long as a change takes are not followed, as on a machine whose cores are taken away.
 * Waves:    The caller decides from which wave on the new mapping holds, and that no wave is lost or repeated. It may go on to tell what
 *           waves of the mapping before took.
 * Clock:    none; no thread, no file, no message. The same calls give the same answers on every machine.
 * Memory:   a tuner copies all that it is given, but the names, which it borrows.
 * Threads:  one at a time.
 * Errors:   DF_OK, DF_E_MEMORY, or what `remap` gave.
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

/* What `remap` finds. */
struct dfr_tuner_offer {
    double now_s, new_s;                /* periods with the times that it was given: of the present mapping, of the best one */
    double move_s;                      /* what it takes to move the state of stages that go to another processor */
    struct dfr_tuner_map map;           /* the best one; the tuner gives the memory */
};

/* time_s: [stage * n_processors + processor]. rest: so many waves are taken to be left. The present mapping is one that it gave, or the first one. Gives
 * DF_OK or an error. */
typedef int (*dfr_remap)(void *context, const double *time_s, int64_t rest, const struct dfr_tuner_map *present, struct dfr_tuner_offer *offer,
                         struct df_error *error);

/* Who offers it. */
struct dfr_remapper {
    int (*open)(uint32_t n_stages, uint32_t n_processors, const double *time_s, bool by_demand, void **context, struct df_error *error);
    dfr_remap ask;
    void (*close)(void *context);
};

struct dfr_tuner_rules {
    double drift;                       /* 0.02: a share of the time that was counted with */
    double hysteresis;                  /* 0.02: a share of the rate */
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

/* A processor took so long for a wave of a stage, transfers not counted. Waves of a processor come in the order in which it took them. */
void dfr_tuner_measured(struct dfr_tuner *tuner, int64_t wave, uint32_t stage, uint32_t processor, double seconds);
/* The same if only a group was measured, the stages from `first` to before `end`: its time is shared out as the estimates are. */
void dfr_tuner_measured_group(struct dfr_tuner *tuner, int64_t wave, uint32_t first, uint32_t end, uint32_t processor, double seconds);

enum dfr_tuner_step {
    DFR_TUNER_NOTHING,                  /* nothing drifted */
    DFR_TUNER_STAYS,                    /* something did, and the mapping is still the best, or a change is not worth it */
    DFR_TUNER_CHANGES                   /* the caller changes to dfr_tuner_map() as soon as it can */
};
/* So many waves have left the pipeline, and so many are in it. rest: waves that have not begun; below 0: not known. Called once for each
 * wave that leaves. */
int dfr_tuner_ended(struct dfr_tuner *tuner, int64_t waves, uint32_t in_flight, int64_t rest, enum dfr_tuner_step *step,
                    struct df_error *error);

/* The present mapping; as long as the tuner lives. */
const struct dfr_tuner_map *dfr_tuner_map(const struct dfr_tuner *tuner);
/* Why the last answer other than DFR_TUNER_NOTHING was given, in a sentence without a full stop. */
const char *dfr_tuner_why(const struct dfr_tuner *tuner);
/* What a stage is taken to need on a processor. */
double dfr_tuner_time_s(const struct dfr_tuner *tuner, uint32_t stage, uint32_t processor);

#endif
