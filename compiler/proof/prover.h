/* prover.h - internal interface of the prover, shared by the files of compiler/proof/.
 *
 * Words:    a *site* is a context in which nodes are evaluated: the ranges around it, and the conditions that hold
 *           there. A *scope* holds what is known at one site, as facts about variables (linear.h): dimensions, slots,
 *           and values that are not affine, each represented by a variable.
 * Order:    prove.c visits every node at every site; scope.c collects what is known there; spans.c bounds nodes by
 *           intervals, lower.c translates them to affine forms, conditions.c conditions to facts; linear.c decides
 *           whether facts are satisfiable; explain.c reports errors; words.c prints nodes and forms in the user's
 *           names.
 */
#ifndef DFF_PROVER_H
#define DFF_PROVER_H

#include "compiler/proof/linear.h"
#include "compiler/proof/proof.h"

#define DFF_MAX_FACTS 400
#define DFF_MAX_CONDITIONS 24           /* the innermost that are used in one site */
#define DFF_MOST_LOWERED 400u           /* nodes inside each other; below, a value has the range of its type */

struct dff_span {                       /* values of an integer node */
    int64_t low, high;
};

struct dff_site {
    const struct dff_site *outer;      /* NULL: the whole formula */
    const struct dff_formula *formula;
    const struct dff_range *range;      /* or */
    const struct dff_node *condition;   /* that is `wanted` */
    bool wanted;
    uint32_t id, n_conditions;
};

enum dff_var_kind { DFF_VAR_DIM, DFF_VAR_SLOT, DFF_VAR_NODE, DFF_VAR_TRUNC, DFF_VAR_FLOOR,
                    DFF_VAR_WIDE_TRUNC, DFF_VAR_WIDE_FLOOR };

struct dff_var {                        /* DIM and SLOT: number; NODE: the node's value (number 1: in an extent); others:
                                         * node / number, WIDE in an extent */
    enum dff_var_kind kind;
    uint32_t number;
    const struct dff_node *node;
    struct dff_span span;
};

struct dff_memo {                       /* of a node */
    uint64_t epoch;
    const struct dff_form *form;
};

struct dff_prover {                     /* of one kernel */
    struct dfc_unit *u;
    const struct dff_kernel *kernel;
    struct dff_linear linear;
    struct dff_span *spans;             /* by node id: of integer nodes, anywhere */
    struct dff_memo *memo;              /* by node id */
    uint64_t epoch;
    int64_t max_extent;
    bool dropped;                       /* conditions were left out, because there are so many */
    bool values;                        /* dynamic params have the values they have now; false: any */
    /* the scope */
    struct dfl_arena *arena;            /* of its forms and facts */
    const struct dff_site *site;
    struct dff_var vars[DFF_MAX_VARS];
    const struct dff_fact *facts[DFF_MAX_FACTS];
    unsigned n_vars, n_facts, n_made, depth;
    bool wide;                          /* extents are looked at: their sums do not go around */
    bool exact;                         /* no value was taken for any of its type, so a point that holds is a real one */
    bool failed;                        /* too much for one scope: nothing is decided */
};

/* ---- spans.c ---- */

/* Fills p->spans. false: no memory. */
bool dff_spans_find(struct dff_prover *p);
struct dff_span dff_elem_span(enum df_elem elem);
struct dff_span dff_type_span(enum dff_type type);
/* The nearest value that is in the span. */
int64_t dff_clamped(__int128 x, struct dff_span to);
bool dff_is_integer(const struct dff_node *node);
/* Is it a number, or a dynamic param whose value counts now? */
bool dff_is_number(const struct dff_prover *p, const struct dff_node *node, int64_t *value);

/* ---- lower.c, conditions.c ---- */

/* A form that is the node's value up to multiples of 2^32 (i32) or 2^64 (i64). */
struct dff_form dff_lower(struct dff_prover *p, const struct dff_node *node);
/* A form that is the value. */
struct dff_form dff_lower_exact(struct dff_prover *p, const struct dff_node *node);
/* A fact that holds if the condition is as wanted. NULL: nothing is known of it. */
const struct dff_fact *dff_lower_condition(struct dff_prover *p, const struct dff_node *node, bool wanted);
struct dff_form dff_var_form(struct dff_prover *p, enum dff_var_kind kind, uint32_t number,
                             const struct dff_node *node, struct dff_span span, bool *fresh);
struct dff_span dff_form_span(const struct dff_prover *p, const struct dff_form *form);

/* ---- scope.c ---- */

/* Begins the scope of a site. false: no memory. */
bool dff_scope_begin(struct dff_prover *p, const struct dff_site *site);
/* An extent of a port, which is computed in 64 bits. */
struct dff_form dff_extent(struct dff_prover *p, const struct dff_node *node);
void dff_scope_end(struct dff_prover *p);
void dff_learn(struct dff_prover *p, const struct dff_fact *fact);
/* Decides whether `fact` can hold here. HOLDS: p->linear.point is an example. */
enum dff_verdict dff_can(struct dff_prover *p, const struct dff_fact *fact);
/* Returns whether a >= b + more is proved. */
bool dff_shown(struct dff_prover *p, const struct dff_form *a, const struct dff_form *b, int64_t more);

struct dff_form dff_number(int64_t k);
/* The fact a >= b + more. */
const struct dff_fact *dff_at_least(struct dff_prover *p, const struct dff_form *a, const struct dff_form *b,
                                    int64_t more);
const struct dff_fact *dff_equal(struct dff_prover *p, const struct dff_form *a, const struct dff_form *b);
/* NULL, which always holds, is right for what is not known. */
const struct dff_fact *dff_both(struct dff_prover *p, const struct dff_fact *a, const struct dff_fact *b);
const struct dff_fact *dff_either(struct dff_prover *p, const struct dff_fact *a, const struct dff_fact *b);

/* ---- explain.c ---- */

struct dff_failure {                    /* an index that may be outside */
    const struct dff_site *site;
    const struct dff_node *node;
    struct dfl_loc loc;                 /* where it is read in that site */
    unsigned dim;
    bool upper;                         /* beyond the end; false: before 0 */
    bool real;                          /* for the sizes of the point it is outside; false: it could not be decided */
    bool bounded;                       /* `reach` is right */
    struct dff_form reach, end;         /* how far it goes, and the last index or 0: over the scope's variables */
    int64_t at;                         /* the index at the point */
    int64_t beyond;                     /* places between reach and end; DFF_FAR: no number */
    const char *reach_text, *end_text, *at_end_text, *sizes; /* in the user's names; of the point; NULL: no memory */
};

/* Fills in the texts and the place, in the scope in which the failure was found. */
void dff_failure_words(struct dff_prover *p, struct dff_failure *failure);
void dff_failures_report(struct dff_prover *p, struct dff_failure *failures, unsigned n);

/* ---- words.c ---- */

struct dff_text {
    char text[240];
    size_t n;                           /* what is too long ends with "..." */
};
void dff_text_add(struct dff_text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
void dff_node_print(const struct dff_prover *p, const struct dff_site *site, const struct dff_node *node,
                    struct dff_text *to);
void dff_form_print(const struct dff_prover *p, const struct dff_site *site, const struct dff_form *form,
                    struct dff_text *to);

#endif
