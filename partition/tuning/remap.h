/* remap.h - the mapping search of partition/stages/, as the callback that a tuner calls (runtime/tuning/tuning.h).
 *
 * Way:      from the present mapping, HeDPM's, BSC's and DPM's with the measured times, the search tries at most `budget` mappings. So a
 *           question takes a bounded time, and what is found is never worse than the present mapping by the equations.
 * Last:     By demand, a slow replica may still have its last wave when all others have long ended theirs. It is left out of what is found if that takes
 *           longer than what it saves in all waves that are left.
 * Threads:  a struct serves one tuner.
 * Errors:   DF_OK or DF_E_MEMORY.
 */
#ifndef DFP_REMAP_H
#define DFP_REMAP_H

#include "partition/stages/pipeline.h"
#include "runtime/tuning/tuning.h"

#define DFP_REMAP_BUDGET 20000

struct dfp_remap {
    struct dfp_pipeline pipeline;       /* a copy, whose works, speeds and times are those that were asked for last */
    double *state_bytes;                /* by stage: what moves with it if it is serial; 0: nothing is known */
    uint64_t budget;                    /* 0: DFP_REMAP_BUDGET */
    uint32_t seed;                      /* of the next question's search, and one more after each */
};

/* Copies the pipeline. */
int dfp_remap_new(const struct dfp_pipeline *pipeline, struct dfp_remap *remap, struct df_error *error);
void dfp_remap_free(struct dfp_remap *remap);
/* dfr_remap of tuning.h; context: a struct dfp_remap. */
int dfp_remap_ask(void *context, const double *time_s, int64_t rest, const struct dfr_tuner_map *present, struct dfr_tuner_offer *offer,
                  struct df_error *error);

/* The search for runs on ranks: links cost nothing, no stage is serial, and groups of several stages may be replicated. */
extern const struct dfr_remapper dfp_remapper;

/* The time in which the state of a serial stage goes from one processor to another. */
double dfp_remap_move_s(const struct dfp_remap *remap, uint32_t stage, uint32_t from, uint32_t to);

/* Between the two forms of a mapping. map: arrays of n_stages and n_processors, which are filled. */
void dfp_tuner_map_of(const struct dfp_pipeline *pipeline, const struct dfp_mapping *mapping, struct dfr_tuner_map *map);
void dfp_mapping_of(const struct dfp_pipeline *pipeline, const struct dfr_tuner_map *map, struct dfp_mapping *mapping);

#endif
