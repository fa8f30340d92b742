/* lower.h - formulas with names resolved and types found: the oracle's own tree, between lower.c and evaluate.c.
 *
 * Slots:    an index of the left side or a range of a reduction has a slot: its depth among those in force.
 * Memory:   nodes live in the oracle and die with it.
 */
#ifndef FORMULA_LOWER_H
#define FORMULA_LOWER_H

#include "oracle.h"

#define MAX_SLOTS 64
#define MAX_RANGES 8

enum node_kind {
    N_CONST,   /* .value */
    N_SLOT,    /* .number */
    N_DIM,     /* .number in the signature */
    N_SCALAR,  /* .number in the signature */
    N_ARG,     /* .value: of an arg, which is no constant */
    N_READ,    /* .number: the port; args: indices */
    N_TABLE,   /* .table; args: indices */
    N_UNARY,   /* .number: DFL_OP_NEG, DFL_OP_NOT, DFL_OP_BITNOT */
    N_BINARY,  /* .number: an operator; AND and OR, too */
    N_CHOICE,  /* args: condition, then, else */
    N_CALL,    /* .number: enum function */
    N_CONVERT, /* .number: an element */
    N_WRAP,    /* .number: an element */
    N_CAST,    /* to .type */
    N_REDUCE   /* .number: enum reduction; .ranges; args: body or NULL, condition or NULL */
};

enum function { F_ABS, F_MIN, F_MAX, F_CLAMP, F_SQRT, F_EXP, F_LOG, F_POW, F_SIN, F_COS, F_TAN, F_ATAN2, F_TANH, F_FLOOR, F_CEIL, F_ROUND,
                F_TRUNC, F_FMA, F_SELECT, N_FUNCTIONS };
enum reduction { R_SUM, R_PROD, R_MIN, R_MAX, R_ANY, R_ALL, R_COUNT, R_ARGMIN, R_ARGMAX, N_REDUCTIONS };

/* FIRST_INNERMOST: a fold, from the first term. LAST_INNERMOST: the same, where a range's end holds a range to its left.
 * LANES: blocks of 1,024 values, 16 lanes, the last range innermost. */
enum order { FIRST_INNERMOST, LAST_INNERMOST, LANES };

struct table {
    struct oracle_array array;
    const struct dfl_decl *decl;
    const struct table *next;
};

struct range {
    unsigned slot;
    struct node *from, *to;
};

struct node {
    enum node_kind kind;
    enum type type;
    unsigned number, n_args, n_ranges;
    enum order order;
    struct number value;
    const struct table *table;
    struct node *args[4];
    struct range *ranges;
};

struct oracle {
    struct dfl_file *file;
    struct dfl_sink *sink;
    struct definition *definitions;
    const struct table *tables;
    struct piece *pieces;
    unsigned depth;
    char error[300];
};

/* A name in force inside a formula. */
struct scope {
    const char *name;
    struct node *node;         /* what it stands for: a slot, or what a let was called with */
    const struct scope *outer;
};

struct kernel {                /* what is known where an expression stands */
    struct oracle *o;
    const struct dfl_sig *sig; /* NULL: outside of any */
    const struct dfl_formula *formulas;
    unsigned n_dims;
    const char *dims[ORACLE_MAX_DIMS];
};

void oracle_fail(struct oracle *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *oracle_alloc(struct oracle *o, size_t bytes); /* zeroed */

struct kernel kernel_of(struct oracle *o, const struct dfl_sig *sig, const struct dfl_formula *formulas);

/* The expression; `slots` are in force. A node is given even after an error. */
struct node *lower(const struct kernel *k, const struct dfl_expr *e, const struct scope *scope, unsigned slots);

/* A constant takes that type; another one is cast to it. */
struct node *lower_as(const struct kernel *k, enum type type, struct node *a);
struct node *lower_new(const struct kernel *k, enum node_kind kind, enum type type);

#endif
