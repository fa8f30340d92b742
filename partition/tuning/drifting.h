/* drifting.h - simulates a pipeline whose stages and processors become slower or faster while waves run through it, with a tuner (runtime/tuning/tuning.h)
 * or with a fixed mapping. `dfc map --drift` runs it (compiler/cluster/drift_simulation.c).
 *
 * Model:    as dfp_mapping_run() of partition/stages/pipeline.h: for each wave a processor receives, computes and sends. What it computes is multiplied by the
 *           drifts of its stage and of itself, as they are for that wave, and by chance.
 * Window:   a fixed number of waves per used processor is in flight. A wave is replaced when it leaves.
 * Change:   a new mapping applies from the first wave of which no stage has started, so no wave is lost or repeated. Earlier waves keep the mapping that
 *           they started with. A processor takes the oldest wave that waits for it, of any mapping. If a stage keeps state from wave to wave, its new
 *           processor starts when all earlier waves have passed the stage and the state has been moved.
 * Memory:   dfp_drifting_free() frees what a run gave.
 * Errors:   DF_OK, DF_E_MEMORY, DF_E_ARGUMENT (the first mapping is not valid), or what the tuner gives. The result is usable only after DF_OK.
 */
#ifndef DFP_DRIFTING_H
#define DFP_DRIFTING_H

#include "partition/tuning/remap.h"

struct dfp_drift {
    bool is_processor;                  /* a processor drifts, with whatever stage; else a stage, wherever it is */
    uint32_t number;
    int64_t from, end;                  /* the waves, from `from` to before `end`; INT64_MAX: all that come */
    double factor;                      /* it takes so many times as long */
};

struct dfp_drifting {
    const struct dfp_pipeline *pipeline;
    const struct dfp_mapping *mapping;  /* the first one */
    const struct dfp_drift *drifts;     /* of several at once, the factors are multiplied */
    uint32_t n_drifts;
    int64_t waves;                      /* at least 1 */
    uint32_t window;                    /* for each processor; 0: DFP_DRIFTING_WINDOW */
    double chance;                      /* each time is multiplied by what is drawn evenly from 1 - chance to 1 + chance; in [0, 1) */
    uint32_t seed;                      /* of what is drawn: by wave, stage and processor, whatever the mapping */
    bool tune;
    const char *const *stages, *const *processors; /* names, if it tunes */
    struct dfr_tuner_rules rules;       /* if it tunes */
    uint64_t budget;                    /* of a question; 0: DFP_REMAP_BUDGET */
};
#define DFP_DRIFTING_WINDOW 2

/* What the tuner said when something had drifted. */
struct dfp_drifting_said {
    int64_t wave;                       /* so many waves had left */
    int64_t from;                       /* the new mapping's first wave; -1: the mapping stays */
    char why[400];
    struct dfp_mapping mapping;         /* the one that holds from now on */
};

struct dfp_drifted {
    int64_t waves;
    double *left_s;                     /* by wave in the order in which they left: when it did */
    uint32_t *left;                     /* which wave that was */
    struct dfp_drifting_said *said;
    uint32_t n_said, n_changes;
};

int dfp_drifting_run(const struct dfp_drifting *drifting, struct dfp_drifted *result, struct df_error *error);
void dfp_drifting_free(struct dfp_drifted *result);
/* The pipeline's times as the drifts make them for a wave, in `time_s` [stage * n_processors + processor]. */
void dfp_drifting_times(const struct dfp_drifting *drifting, int64_t wave, double *time_s);
/* Waves a second from when the wave number `from` left until the one numbered `to` did, in the order in which they left; from < to. */
double dfp_drifted_rate(const struct dfp_drifted *result, int64_t from, int64_t to);

#endif
