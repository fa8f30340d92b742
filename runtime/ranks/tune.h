/* tune.h - rank 0's tuner of stages on ranks: from what ranks say that waves took, to another mapping (runtime/tuning/). rank0_stages.c calls it.
 *
 * Taken:    A rank says of each wave how long it took: since the wave began there, or since the wave before it ended, if that was later. So a rank with
 *           several waves at once counts by its rate.
 * Start:    What the first mapping was made for is not known here. So the median of the first waves of each group is what is counted with: the same on all
 *           ranks, and shared out evenly to the stages of a group. Links count as if they cost nothing.
 * Search:   on the communication thread, for some milliseconds.
 * Deaths:   A rank that dies changes the mapping. When the ranks that live have been measured with that one, another is looked for among them. A rank that
 *           comes back is one of them from the next death on.
 * Threads:  the communication thread.
 */
#ifndef DFR_STAGES_TUNE_H
#define DFR_STAGES_TUNE_H

#include "runtime/subgraph/pipeline_stages.h"
#include "runtime/subgraph/mapping.h"
#include "runtime/tuning/tuning.h"

struct dfr_tune;

/* All are borrowed; the mapping is copied. DF_E_MEMORY. */
int dfr_tune_open(const struct dfr_stages *stages, const struct dfr_mapping *mapping, const struct dfr_remapper *remapper, struct dfr_tune **tune,
                  struct df_error *error);
void dfr_tune_close(struct dfr_tune *tune); /* NULL is allowed */
/* These ranks live, by rank. To be called whenever the stages are mapped. */
void dfr_tune_lives(struct dfr_tune *tune, const bool *live);
/* A rank of this mapping took so long for a wave. */
void dfr_tune_took(struct dfr_tune *tune, const struct dfr_mapping *mapping, uint32_t rank, int64_t wave, double seconds);
/* So many waves have ended. true: *next, which holds the present mapping, is another one from the next wave on. `tell` is told why; and that tuning ends. */
bool dfr_tune_ended(struct dfr_tune *tune, int64_t waves, struct dfr_mapping *next, void (*tell)(void *arg, const char *sentence), void *tell_arg);

#endif
