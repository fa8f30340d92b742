/* merge.h - the state shared by this room's files while the fused kernel of a group is built.
 *
 * Words:    a *stream* is what a member produces in one out slot. It becomes a port of the group or is inlined.
 * Order:    inline.c chooses the streams to inline; merge.c builds variables, scalars, ports and formulas; group_rows.c
 *           the stages; nodes.c translates members' nodes into nodes of the group.
 */
#ifndef DFU_MERGE_H
#define DFU_MERGE_H

#include "compiler/formula/build.h"
#include "compiler/fusion/fusion.h"

struct dfu_stream {
    bool inlined, has_reduction;
    uint32_t port;                      /* in the group; DF_NONE: inlined */
    uint64_t work;                      /* operations for one element, those of streams that are inlined in it included */
    const struct dff_node *value;       /* inlined: over the indices of its own formula */
};

struct dfu_merge {
    struct dff_build b;
    const struct dfu_wiring *wiring;
    struct dfu_group *group;
    struct dfu_stream *streams[DFU_MOST_MEMBERS]; /* by out slot */
    const struct dff_node **variables[DFU_MOST_MEMBERS]; /* by the member's variable: what it is in the group */
    uint32_t first_scalar[DFU_MOST_MEMBERS];
    struct dff_port *ports;             /* of the kernel */
    bool *has_border;                   /* by port: it is read, so its border is settled */
    unsigned n_ports;
    struct dfc_index names;             /* that things of the group have */
    unsigned member;                    /* that is worked on */
    const struct dff_node **memo;       /* by id of its nodes */
    const struct dff_node **inside;     /* as in struct dff_strips */
    unsigned n_inside;
};

/* ---- inline.c ---- */

/* Decides for each stream. false: no memory. */
bool dfu_choose_inlined(struct dfu_merge *m);

/* ---- merge.c ---- */

/* A name that nothing else in the group has: `wanted`, if that is free. NULL: no memory. */
const char *dfu_new_name(struct dfu_merge *m, const char *wanted);

/* Adds a variable to the signature. false: no memory. */
bool dfu_add_variable(struct dfu_merge *m, const char *wanted, struct dfl_loc loc);

/* ---- group_rows.c ---- */

/* Finds the stages of the group's kernel, which has its ports and formulas, and gives it variables for strips and rings. false:
 * no memory. */
bool dfu_add_strips(struct dfu_merge *m, struct dff_kernel *kernel);

/* ---- nodes.c ---- */

/* The member's node as one of the group. NULL: no memory, or too large. */
const struct dff_node *dfu_node(struct dfu_merge *m, const struct dff_node *node);

#endif
