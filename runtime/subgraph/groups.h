/* groups.h - cuts a graph by a mapping: what each rank has of it, and which tokens go from group to group. ranks/rank0_stages.c and
 * ranks/replica_stages.c cut with it, ranks/suits.c asks which nodes a group has.
 *
 * Places:   Place 0 is HEAD (cut.h), place g + 1 is group g of the mapping, and the last place is TAIL. HEAD and TAIL are on rank 0.
 *           A node that `--cluster` would have in BODY is at the place of its stage; one of cost 0 before the first or behind the last stage is in
 *           HEAD or TAIL. A source with @worker is at the place of its stage, too. What copies or joins tokens is where these are read or made.
 *           Tokens go to later places alone.
 * Chain:    A wave goes from place to place in their order. A token that a later place than the next one reads is passed on by the places
 *           between. What HEAD makes for TAIL stays on rank 0.
 * View:     To the ranks of a group all earlier places are HEAD, and all later ones are TAIL. So they run a cut in three, as a rank of BODY does.
 *           To rank 0 all groups together are BODY.
 * Memory:   the graph and the stages are borrowed. dfr_groups_free() returns the rest.
 * Errors:   DF_E_MEMORY; DF_E_REFUSED: the message says why.
 */
#ifndef DFR_GROUPS_H
#define DFR_GROUPS_H

#include "runtime/subgraph/part.h"
#include "runtime/subgraph/mapping.h"

struct dfr_groups {
    const struct df_graph *graph;
    uint32_t n;                         /* groups */
    uint8_t *place;                     /* by node */
    uint8_t *last;                      /* by value: the last place to which the chain carries it; 0: it does not leave its place */
};

/* Which stages have no node that may run on other ranks than the first one? on_first: by stage. */
int dfr_groups_on_first(const struct df_graph *graph, const struct dfr_stages *stages, bool *on_first, struct df_error *error);

int dfr_groups_make(const struct df_graph *graph, const struct dfr_stages *stages, const struct dfr_mapping *mapping, struct dfr_groups *groups,
                    struct df_error *error);
void dfr_groups_free(struct dfr_groups *groups);

/* The graph as the ranks of a group see it (g from 0), or rank 0 (g = DFR_NO_GROUP). */
int dfr_groups_view(const struct dfr_groups *groups, uint32_t g, struct dfr_parts *parts, struct df_error *error);

/* Does the value, that came to group g or was made there, go on to the next place? */
static inline bool dfr_groups_passes(const struct dfr_groups *groups, uint32_t g, uint32_t value)
{
    return groups->last[value] > g + 1;
}

#endif
