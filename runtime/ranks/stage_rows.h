/* stage_rows.h - what the ranks of a run did with their stages, by rank and by stages, for --stats: rows, and how a rank counts them. replica_stages.c
 * counts, figures.c sends and collects the rows, and program/stages_report.c prints them.
 *
 * Rows:     A rank has a row for each group of stages that it had. If it gets the same group again, the same row counts on.
 * Times:    as the communication thread sees them. The time in which a rank has a group is divided into three: a wave runs there (*ran*); none runs, and
 *           none is there to begin (*waited*); none runs, because what was made before has not been fetched (*full*).
 * Memory:   Stages are borrowed. dfr_stage_rows_free() returns what the calls before have taken.
 * Threads:  one at a time.
 */
#ifndef DFR_STAGE_ROWS_H
#define DFR_STAGE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/subgraph/mapping.h"

struct dfr_figures;

struct dfr_stage_row {
    uint32_t first, n;                  /* the number of the first stage, and how many stages these are: together they say which group it is */
    char names[160];                    /* a space between two; if they do not fit, "…" is the last word */
    int64_t waves;                      /* that have ended there */
    uint64_t in_bytes, out_bytes;       /* messages with tokens, from other ranks and to them */
    double ran_s, waited_s, full_s;
};

struct dfr_stage_rows {
    struct dfr_stage_row *rows;
    uint32_t n;
    size_t room;
};

/* The row of that group; if there is none, a new one, without names. NULL: out of memory. It lasts until the next such call. */
struct dfr_stage_row *dfr_stage_rows_find(struct dfr_stage_rows *rows, uint32_t first, uint32_t n);
/* Writes one more name behind those that the row has. */
void dfr_stage_row_name(struct dfr_stage_row *row, const char *name);
void dfr_stage_rows_free(struct dfr_stage_rows *rows);

/* The rows of all ranks, those of the same stages added up, in the order of stages. false: out of memory. */
bool dfr_stage_rows_sum(const struct dfr_figures *figures, struct dfr_stage_rows *sum);

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

#endif
