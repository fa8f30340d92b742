/* dims.h - the state of unification. Private to dims.c (the walk over all items) and unify.c (one call).
 *
 * Errors:   one statement is reported once, however often it is elaborated; functions that give bool give false then.
 */
#ifndef DFC_DIMS_H
#define DFC_DIMS_H

#include "compiler/elab/elab.h"

enum dfc_origin_kind { DFC_FROM_INPUT, DFC_FROM_ANNOTATION, DFC_FROM_OUT_PORT };

struct dfc_origin {                     /* where the extent of a variable was found; put in words only for a message */
    enum dfc_origin_kind kind;
    unsigned slot;                      /* DFC_FROM_INPUT: of the call at hand */
    const char *name;                   /* else */
    struct dfl_loc loc;
};

struct dfc_solve {
    struct dfc_elab *e;
    struct dfc_fill fill;
    struct dfc_format *formats;         /* by value */
    bool *bad;                          /* by value: its node had an error */
    bool *once;                         /* by value: made before wave 0 */
    struct dfr_table reported;          /* statements */
    struct dfr_array reported_items;
    /* of the item at hand */
    const struct dfc_item *item;
    uint64_t *bound;                    /* by variable, 0: not yet */
    struct dfc_origin *origins;
    uint64_t (*port_dims)[DF_MAX_RANK];
};

/* Ends the report of an error in the item at hand: where it is, and that its statement has had one. Gives false. */
bool dfc_solve_failed(struct dfc_solve *s);
bool dfc_solve_reported(const struct dfc_solve *s, const struct dfl_stmt *stmt);
struct dfl_loc dfc_solve_loc(const struct dfc_solve *s);
void dfc_solve_note_port(const struct dfc_solve *s, const struct dfc_port *port);
/* "'a' (line 9)" */
void dfc_origin_print(const struct dfc_solve *s, const struct dfc_origin *origin, char *text, size_t size);

/* Binds the variables by the inputs and annotations of the item at hand. */
bool dfc_match_all(struct dfc_solve *s);
/* Extents of port p by the variables, into port_dims; then an input's, where they are expressions, against what it
 * is. */
bool dfc_port_extents(struct dfc_solve *s, unsigned p);
bool dfc_check_input_exprs(struct dfc_solve *s, unsigned p);
/* A target's annotation, if it has one, against what the output is. */
bool dfc_check_annotation(struct dfc_solve *s, const struct dfl_target *target, const struct dfc_format *format);

#endif
