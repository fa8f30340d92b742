/* tally.h - what a rank counts of its stages, for --stats (stage_figures.h).
 *
 * Memory:   borrows the stages; dfr_tally_free() returns the rest.
 * Threads:  the communication thread.
 */
#ifndef DFR_TALLY_H
#define DFR_TALLY_H

#include "runtime/ranks/stage_figures.h"
#include "runtime/subgraph/pipeline_stages.h"
#include "runtime/subgraph/mapping.h"

enum dfr_tally_state { DFR_TALLY_NONE, DFR_TALLY_RAN, DFR_TALLY_WAITED, DFR_TALLY_FULL }; /* NONE: the rank has no stages */

struct dfr_tally {
    struct dfr_stage_rows rows;
    uint32_t now;                       /* the row that counts, unless the state is NONE */
    enum dfr_tally_state state;
    double since_s;
};

/* The rank has this group of the mapping from now on; DFR_NO_GROUP: none. false: out of memory. */
bool dfr_tally_begin(struct dfr_tally *tally, const struct dfr_stages *stages, const struct dfr_mapping *mapping, uint32_t group, double now_s);
/* What is so from now on. Nothing changes if the rank has no stages. */
void dfr_tally_is(struct dfr_tally *tally, enum dfr_tally_state state, double now_s);
void dfr_tally_wave(struct dfr_tally *tally);
void dfr_tally_in(struct dfr_tally *tally, uint64_t bytes);
void dfr_tally_out(struct dfr_tally *tally, uint64_t bytes);
void dfr_tally_free(struct dfr_tally *tally);

#endif
