/* dims.h - the state of dimension inference. Private to dims.c (all items, in order), unify.c (one call) and divisible.c.
 *
 * Errors:   each statement is reported at most once, however often it is elaborated; the functions return false then.
 */
#ifndef DFC_DIMS_H
#define DFC_DIMS_H

#include "compiler/elab/elab.h"

enum dfc_origin_kind { DFC_FROM_INPUT, DFC_FROM_ANNOTATION, DFC_FROM_OUT_PORT, DFC_FROM_BOUND };

struct dfc_origin {                     /* where a variable's extent was found; put into words for messages only */
    enum dfc_origin_kind kind;
    unsigned slot;                      /* DFC_FROM_INPUT: an input of the present call */
    const char *name;                   /* of the other kinds */
    struct dfl_loc loc;
};

struct dfc_solve {
    struct dfc_elab *e;
    struct dfc_fill fill;
    bool unsized;                       /* extents that callers provide are not known, and 0 */
    struct dfc_format *formats;         /* by value */
    bool *bad;                          /* by value: its node had an error */
    uint8_t *phase;                     /* by value: enum dfc_phase, when it can be read */
    struct dfr_table reported;          /* statements */
    struct dfr_array reported_items;
    /* about the present item */
    const struct dfc_item *item;
    uint64_t *bound;                    /* by variable; 0: not bound yet */
    bool *bounded;                      /* by variable: it is at most that, and another one in each wave */
    struct dfc_origin *origins;
    uint64_t (*port_dims)[DF_MAX_RANK];
    uint8_t *port_bounded;              /* by port: a bit for each of these extents, as in struct dfc_format */
};

/* Ends the report of an error in the present item: prints notes about its location, and marks its statement as reported. Returns
 * false. */
bool dfc_solve_failed(struct dfc_solve *s);
bool dfc_solve_reported(const struct dfc_solve *s, const struct dfl_stmt *stmt);
struct dfl_loc dfc_solve_loc(const struct dfc_solve *s);
void dfc_solve_note_port(const struct dfc_solve *s, const struct dfc_port *port);
/* "'a' (line 9)" */
void dfc_origin_print(const struct dfc_solve *s, const struct dfc_origin *origin, char *text, size_t size);

/* Binds the variables by the inputs and annotations of the present item. */
bool dfc_match_all(struct dfc_solve *s);
/* The first computes the extents of port p from the variables, into port_dims. The second checks them against the
 * input's own format, if they are expressions. */
bool dfc_port_extents(struct dfc_solve *s, unsigned p);
bool dfc_check_input_exprs(struct dfc_solve *s, unsigned p);
/* divisible.c: how the present item, or a group, could be divided. Extents are known. false: no memory. */
bool dfc_rows_of_node(struct dfc_solve *s, struct dfc_rows *rows);
bool dfc_rows_of_group(struct dfc_solve *s, const struct dfc_joined *use, const struct dfc_format *formats,
                       const struct dfc_solved *solved, struct dfc_rows *rows);
/* Checks a target's annotation, if it has one, against the format of the output. */
bool dfc_check_annotation(struct dfc_solve *s, const struct dfl_target *target, const struct dfc_format *format);

#endif
