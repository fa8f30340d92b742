/* build.h - the internal state of compiler/formula/ while the formulas of one kernel are checked.
 *
 * Words:    a *value* is the result of an expression: an exact number, or a node. A value is *exact* if it is made only
 *           of literals and params: it has no type of its own and adopts that of its context. It is *soft* if one of
 *           these params is dynamic: then it is a node of type i32 or f64, whose type adapts in the same way. A *place*
 *           is the context of an expression, which determines the names in scope.
 * Memory:   nodes, scopes and expansions live in the unit's arena. dff_build_free() frees the rest.
 * Errors:   functions return false or NULL after they have reported an error. Node constructors return NULL when given
 *           NULL, so calls can be nested.
 */
#ifndef DFF_BUILD_H
#define DFF_BUILD_H

#include "compiler/formula/formula.h"

#define DFF_MAX_NODES 65536u            /* of one kernel, before those that nothing reaches are dropped */
#define DFF_MAX_STEPS 1000000u          /* expressions that are looked at, once for each expansion of a let */

struct dff_value {
    bool exact, soft;
    struct df_number n;                 /* exact: I64 or F64 */
    const struct dff_node *node;        /* not exact */
};

struct dff_scope {                      /* an index, a range, or an argument of a local function, and those around it */
    const char *name;
    struct dfl_loc loc;
    struct dff_value value;
    const struct dff_scope *outer;
};

struct dff_expansion {                  /* of a let: what it gave for these arguments at this place */
    const struct dff_scope *scope;
    unsigned n_slots;
    const struct dff_value *args;
    struct dff_value value;
    struct dff_expansion *next;
};

struct dff_let {
    const struct dfl_formula *ast;
    unsigned n_indices;
    bool busy, failed;                  /* being expanded; an error in it was reported */
    struct dff_expansion *expansions;
};

struct dff_place {
    const struct dff_scope *scope;      /* innermost first */
    const struct dff_scope *formula;    /* of them, those that a local function sees */
    const struct dff_scope *fence;      /* of them, the first that the text around here may name anew; NULL: none */
    unsigned n_slots;                   /* in force; the left side's rank for a formula */
    const struct dff_formula *left;     /* the formula; an inout port is read at its element only */
    const struct dff_range *range;      /* the innermost that is in force; NULL: none */
    const struct dff_given *given;      /* the conditions that hold; NULL: none */
    bool extent;                        /* of a port: only dimensions and params are in force */
};

struct dff_note {                       /* what the check keeps of a node beside the node */
    bool data;                          /* it holds a read, a table or a reduction */
    bool fixed;                         /* it holds numbers and params alone */
    uint16_t elems;                     /* bit e, of f16 and the integers: what made it gives only values that this type has */
    unsigned depth;                     /* of its operands */
    const struct dff_node *quotient;    /* a division of integers whose rounded quotient is a part of the value; NULL: none */
};

struct dff_build {
    struct dfc_unit *u;
    struct dfc_callee *callee;
    struct dff_port *ports;
    struct dff_let *lets;
    unsigned n_lets, depth, steps;
    unsigned explained;                 /* the number of the last error that the use of a let was noted for */
    bool too_large;                     /* that was reported */
    struct dfr_array nodes;             /* struct dff_node *, by id */
    struct dfr_array notes;             /* struct dff_note, by id */
    struct dfr_table table;
    struct dfr_array tables;            /* const struct dff_table *, in order of their first use */
};

/* ---- node.c ---- */

/* The node that equals *want, whose args and ranges are copied if it is new. */
const struct dff_node *dff_intern(struct dff_build *b, const struct dff_node *want);
const struct dff_node *dff_int(struct dff_build *b, enum dff_type type, int64_t i, struct dfl_loc loc);
const struct dff_node *dff_float(struct dff_build *b, enum dff_type type, double f, struct dfl_loc loc);
const struct dff_node *dff_leaf(struct dff_build *b, enum dff_kind kind, enum dff_type type, uint32_t number,
                                struct dfl_loc loc);
const struct dff_node *dff_unary(struct dff_build *b, enum dff_type type, enum dff_op op, const struct dff_node *a,
                                 struct dfl_loc loc);
const struct dff_node *dff_binary(struct dff_build *b, enum dff_type type, enum dff_op op, const struct dff_node *x,
                                  const struct dff_node *y, struct dfl_loc loc);
const struct dff_node *dff_choose(struct dff_build *b, const struct dff_node *condition, const struct dff_node *x,
                                  const struct dff_node *y, struct dfl_loc loc);
/* `kind` is CONVERT, WRAP or CAST. */
const struct dff_node *dff_change(struct dff_build *b, enum dff_kind kind, enum dff_type type, enum df_elem elem,
                                  const struct dff_node *a, struct dfl_loc loc);
static inline const struct dff_note *dff_note_of(const struct dff_build *b, const struct dff_node *node)
{
    return (const struct dff_note *)b->notes.items + node->id;
}
/* Counts one more expression that is looked at. false: they are too many, or memory has run out. */
bool dff_step(struct dff_build *b, struct dfl_loc loc);
bool dff_too_large(struct dff_build *b, struct dfl_loc loc, const char *what);
/* Drops what no formula, border or extent reaches, and numbers the rest: operands first. */
bool dff_number_nodes(struct dff_build *b, struct dff_kernel *kernel);
void dff_build_free(struct dff_build *b);

/* ---- scratch.c ---- */

/* Gives the kernel's GPU code scratch: an array with these extents, whose address is df_ports[sig.n_ports + number] there. Returns the number; DF_NONE: no
 * memory. */
uint32_t dff_add_scratch(struct dff_build *b, struct dff_kernel *kernel, const struct dff_scratch *scratch);

/* ---- grouped.c ---- */

/* Gives the kernel the scratch in which work-groups of a GPU hand results of reductions to each other, if it has any. It is its first. false: no memory. */
bool dff_add_group_scratch(struct dff_build *b, struct dff_kernel *kernel);

/* ---- traps.c ---- */

/* Warns about what the formulas of the kernel, which are right, may not mean. */
void dff_warn_traps(struct dff_build *b);
/* Warns if a value that a real port takes as it is has a quotient of integers in it. */
void dff_warn_stored_quotient(struct dff_build *b, const struct dff_node *value, enum df_elem elem, const char *name);

/* ---- types.c ---- */

const char *dff_type_name(enum dff_type type);
static inline bool dff_is_float(enum dff_type type) { return type == DFF_F32 || type == DFF_F64; }
/* The place in which the condition is as wanted. Its record lives in the arena. */
struct dff_place dff_place_given(struct dff_build *b, const struct dff_place *place, const struct dff_value *condition,
                                 struct dfl_loc loc, bool wanted);
/* Is it a real number: an exact one with a point, or f32 or f64? */
bool dff_is_real(const struct dff_value *v);
/* The type of a value that stands alone: i32, or i64 if it does not fit; f32 of an exact real number. A truth value
 * is an i32. */
enum dff_type dff_own_type(const struct dff_value *v);
/* The type in which two values meet, one of which at least is not exact. */
enum dff_type dff_common_type(const struct dff_value *x, const struct dff_value *y);
static inline bool dff_gives_way(const struct dff_value *v) { return v->exact || v->soft; }
/* The value in that type. An exact number must fit; a node's type must be lower or soft. */
const struct dff_node *dff_as(struct dff_build *b, const struct dff_value *v, enum dff_type type, struct dfl_loc loc);
/* The value as a condition. */
const struct dff_node *dff_truth(struct dff_build *b, const struct dff_value *v, struct dfl_loc loc);
/* The value as an i32, for an index or the end of a range; `what` names that. */
const struct dff_node *dff_as_index(struct dff_build *b, const struct dff_value *v, const char *what,
                                    struct dfl_loc loc);
/* The value as a port of that type takes it; `name` is the port's. */
const struct dff_node *dff_as_stored(struct dff_build *b, const struct dff_value *v, enum df_elem elem, const char *name,
                                     struct dfl_loc loc);
bool dff_value_node(struct dff_value *v, const struct dff_node *node, bool soft);

/* ---- exact.c ---- */

bool dff_exact_unary(struct dff_build *b, const struct dfl_expr *e, const struct dff_value *x, struct dff_value *v);
bool dff_exact_binary(struct dff_build *b, const struct dfl_expr *e, const struct dff_value *x,
                      const struct dff_value *y, struct dff_value *v);
static inline double dff_exact_real(const struct dff_value *v)
{
    return v->n.kind == DF_KIND_F64 ? v->n.f : (double)v->n.i;
}
static inline bool dff_exact_truth(const struct dff_value *v)
{
    return v->n.kind == DF_KIND_F64 ? v->n.f != 0 : v->n.i != 0;
}
bool dff_exact_int(struct dff_value *v, int64_t i);
/* false, reported: it is infinite or not a number. */
bool dff_exact_float(struct dff_build *b, struct dff_value *v, double f, struct dfl_loc loc);
/* The number rounded to the nearest of that type, to even if two are as near; an integer type's ends if it is beyond
 * them. Infinite if a float type cannot hold it. */
double dff_round_float(double f, enum df_elem elem);
int64_t dff_round_int(const struct df_number *n, enum df_elem elem);
/* The low bits of i, as the integer type has them. */
int64_t dff_wrap_int(int64_t i, enum df_elem elem);
/* Is the number one of that integer type? */
bool dff_fits(const struct df_number *n, enum df_elem elem);

/* ---- expr.c, call.c, reduce.c, names.c ---- */

bool dff_expr(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e, struct dff_value *v);
bool dff_choose_values(struct dff_build *b, const struct dff_value *condition, const struct dfl_expr *at,
                       const struct dff_value *x, const struct dff_value *y, struct dff_value *v);
bool dff_call(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e, struct dff_value *v);
bool dff_is_function(const char *name);
bool dff_reduce(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e, struct dff_value *v);
/* A name, with or without indices. */
bool dff_name(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e, struct dff_value *v);
/* May an index, range or let (`what`) be called so here? false: reported. */
bool dff_new_name(struct dff_build *b, const struct dff_place *place, const char *what, const char *name,
                  struct dfl_loc loc);
/* The name's number among these of the signature; n: it is not there. */
unsigned dff_find_port(const struct dff_build *b, const char *name);

/* ---- lets.c ---- */

bool dff_enter_lets(struct dff_build *b);
struct dff_let *dff_find_let(struct dff_build *b, const char *name);
/* args: as many as the let has indices. `at` is where the let is named. */
bool dff_expand(struct dff_build *b, const struct dff_place *place, struct dff_let *let, const struct dff_value *args,
                const struct dfl_expr *at, struct dff_value *v);
bool dff_check_lets_used(struct dff_build *b);

/* ---- hidden.c ---- */

/* The value of a param or an arg. */
bool dff_param(struct dff_build *b, const struct dfl_expr *e, const struct dfc_param *param, struct dff_value *v);

/* ---- ports.c, domain.c ---- */

/* Makes the ports: modes, extents, borders. */
bool dff_check_ports(struct dff_build *b);
/* Reads the left side. `scope`: room for DF_MAX_RANK indices. */
bool dff_check_left(struct dff_build *b, const struct dfl_formula *ast, struct dff_formula *f,
                    struct dff_scope scope[DF_MAX_RANK], struct dff_place *place);
/* Is every out port defined once, for its whole domain? */
bool dff_check_domains(struct dff_build *b, const struct dff_formula *formulas, unsigned n);
const char *dff_assign_text(enum dfl_assign assign); /* "+=" */

#endif
