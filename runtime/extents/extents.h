/* extents.h - extents of tokens that differ from wave to wave. In each wave a kernel may decide some extents of its
 * outputs (df_kport.own), up to a bound; extents of values computed from such tokens follow from these.
 *
 * Room:     runtime/extents/ knows the graph. The engine queries it before and after each call of a kernel; code that
 *           copies, writes or compares tokens queries their sizes.
 * Exact:    if a call states a number for an extent that its kernel decides (df_value.exact), the extent does not vary:
 *           the kernel must choose that number in every wave.
 * Words:    a value *varies* if one of its extents does; a node varies if an input or output does. A *row* stores the
 *           extents of one value's token in one slot. The output of a copy shares the row of its input. The once slot
 *           stores what is made once.
 * Memory:   the graph is borrowed. Tokens are dense by their actual extents, in memory sized for the largest token.
 * Threads:  the thread that runs a job writes the rows of its outputs. Readers of a row come after that job, in the
 *           order that the firing rule or a device's stream establishes.
 */
#ifndef DFR_EXTENTS_H
#define DFR_EXTENTS_H

#include "runtime/graph/graph.h"

struct dfr_extents;

/* n_slots: slots of waves, without the once slot, which has this number. *extents is NULL if nothing varies. */
int dfr_extents_create(const struct df_graph *graph, uint32_t n_slots, struct dfr_extents **extents,
                       struct df_error *error);
void dfr_extents_destroy(struct dfr_extents *extents); /* NULL is allowed */

bool dfr_extents_node_varies(const struct dfr_extents *extents, uint32_t node);
/* By value, and by the slot of a job that reads or makes it. */
bool dfr_extents_value_varies(const struct dfr_extents *extents, uint32_t value);
unsigned dfr_extents_that_vary(const struct dfr_extents *extents, uint32_t value); /* bit i: extent i does */
/* The extents of the token, DF_MAX_RANK of them, 1 past the rank; of a value that varies not, those of all its tokens. */
const uint64_t *dfr_extents_of(const struct dfr_extents *extents, uint32_t value, uint32_t slot);
uint64_t dfr_extents_bytes(const struct dfr_extents *extents, uint32_t value, uint32_t slot);

enum { DFR_EXTENTS_WHY = 512 };

/* Before a call of the kernel: writes the dimensions of this job. Those that the kernel decides are set to the most that they
 * may be. `passed` is the in slot of what a copy or a select passes on. Returns DF_OK; DF_SKIP: an extent of a port is below
 * 1, so the kernel is not called, unless it is DF_ZERO_EXTENTS; DF_FAILED: ends do not agree, or an extent is larger than planned; `why` says which. */
int dfr_extents_bind(const struct dfr_extents *extents, uint32_t node, uint32_t slot, uint32_t passed, size_t *dims,
                     char why[DFR_EXTENTS_WHY]);
/* After the call, with what the kernel has written to dims: writes the rows of the outputs. *empty: bit y is set if output y
 * (below 64) has an extent of 0. Returns DF_OK, or DF_FAILED with `why`. */
int dfr_extents_made(struct dfr_extents *extents, uint32_t node, uint32_t slot, uint32_t passed, const size_t *dims,
                     uint64_t *empty, char why[DFR_EXTENTS_WHY]);

/* The job's kernel is not called, as an extent of what it reads, or that follows from it, is 0. Writes the rows of the outputs that have an extent
 * of 0, too, and all extents of which follow from what it reads. Returns these as a bit set. */
uint64_t dfr_extents_zeros(struct dfr_extents *extents, uint32_t node, uint32_t slot);

/* For the measuring mode: gives outputs of the node that are empty, or were not produced, the largest size. */
void dfr_extents_fill(struct dfr_extents *extents, uint32_t node, uint32_t slot, bool made);
/* As dfr_extents_made() for a copy or a select that a device carries out by itself. */
void dfr_extents_pass(struct dfr_extents *extents, uint32_t node, uint32_t slot, uint32_t passed);

#endif
