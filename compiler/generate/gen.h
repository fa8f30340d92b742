/* gen.h - what the files of compiler/generate/ share while the code of one kernel is printed.
 *
 * Words:    a *block* is the text inside the braces of a function or of a loop, in which one slot has a name; or one
 *           repetition of a loop that is written out, in which a slot has a number. A *temporary* is a C variable that
 *           holds a node's value.
 * Order:    every value is computed, whether or not it is used in the end: `?:` chooses between two values that are there.
 *           So a read that a condition protects gets its index clamped. A node is computed in the innermost block
 *           whose slot it depends on. There it is computed once.
 * Limits:   slots, dimensions and extents are at most gen.limit, so sums of them do not overflow.
 * Errors:   if memory runs out, `failed` is set and texts are empty.
 */
#ifndef DFG_GEN_H
#define DFG_GEN_H

#include "compiler/generate/generate.h"
#include "dsl/arena.h"

struct dfg_text {                       /* C for a value */
    const char *c;
    unsigned level;                     /* of its outermost operator: DFG_ATOM … */
};
enum { DFG_ATOM, DFG_UNARY, DFG_TIMES, DFG_PLUS, DFG_COMPARE, DFG_BITS, DFG_CHOICE };

struct dfg_block {
    struct dfg_block *outer;            /* NULL: the function */
    int slot;                           /* -1: none */
    bool is_number;                     /* the slot is `number` here */
    int64_t number;
    const char *name;                   /* of the slot */
    FILE *out;                          /* the block's text up to here */
    char *bytes;
    size_t size;
    unsigned depth;                     /* of its braces */
    const char **temporaries;           /* by node id; NULL: none yet */
};

struct dfg_fact {                       /* of a node, within one formula */
    int64_t low, high;                  /* integers and truth values; low > high: never computed */
    uint32_t uses;
    bool index;                         /* part of an index, extent or end of a range, made of + - * */
    bool always, sometimes;             /* reached without and with a condition around it */
    bool visited;
    uint32_t empty;                     /* slots of loops around it that may have no repetition */
};

struct dfg_gen {
    struct dfl_arena *arena;
    const struct dff_kernel *kernel;
    const struct dff_formula *formula;
    const struct dfl_sink *sink;
    struct dfg_fact *facts;             /* by node id */
    struct dfg_block *block;            /* that is printed now */
    int64_t limit, slot_low[DFF_MAX_SLOTS], slot_high[DFF_MAX_SLOTS];
    const char *prefix;                 /* of temporaries */
    unsigned n_temporaries;
    bool math, failed;                  /* math: <df_math.h> is needed */
};

struct dfg_affine {                     /* constant + sum of factor * variable */
    unsigned n;
    struct { bool dim; uint32_t number; int64_t factor; } term[6];
    int64_t constant;
};

/* ---- text ---- */

const char *dfg_printf(struct dfg_gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The text in parentheses if its operator binds less than `level`. */
const char *dfg_within(struct dfg_gen *g, struct dfg_text text, unsigned level);
const char *dfg_type(enum dff_type type);        /* as C spells it */
const char *dfg_type_name(enum dff_type type);   /* as df_formula.h names it: "i32" */
const char *dfg_elem(enum df_elem elem);
const char *dfg_elem_name(enum df_elem elem);
const char *dfg_port_name(const struct dfg_gen *g, unsigned port);
const char *dfg_dim_name(const struct dfg_gen *g, unsigned dim);
const char *dfg_scalar_name(const struct dfg_gen *g, unsigned scalar);

/* ---- blocks ---- */

/* Opens a block inside g->block, and ends it. A block that is no repetition is printed into the outer one behind `head`,
 * which is a line such as "for (…)". */
bool dfg_open(struct dfg_gen *g, struct dfg_block *block, int slot, const char *name);
bool dfg_open_number(struct dfg_gen *g, struct dfg_block *block, int slot, int64_t number);
void dfg_close(struct dfg_gen *g, struct dfg_block *block, const char *head);
/* Prints one line into a block, indented. */
void dfg_line(struct dfg_gen *g, const struct dfg_block *block, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The innermost block in which all that the node depends on has a value. */
struct dfg_block *dfg_block_of(const struct dfg_gen *g, uint32_t slots);
/* A new name for a temporary. */
const char *dfg_new_name(struct dfg_gen *g);

/* ---- analyse.c ---- */

/* Fills in the facts of g->kernel for g->formula. */
void dfg_analyse(struct dfg_gen *g);
/* Finds g->limit: with it no index of the kernel overflows. */
void dfg_find_limit(struct dfg_gen *g);
/* Has the range at least one value? */
bool dfg_range_has_values(const struct dff_range *range);
static inline bool dfg_is_int(enum dff_type type) { return type == DFF_I32 || type == DFF_I64; }

/* ---- expr.c, place.c, reduce.c ---- */

struct dfg_text dfg_value(struct dfg_gen *g, const struct dff_node *node);
/* An index as an int64_t. */
struct dfg_text dfg_index(struct dfg_gen *g, const struct dff_node *node);
/* false: it is something else. */
bool dfg_affine(const struct dfg_gen *g, const struct dff_node *node, struct dfg_affine *affine);
struct dfg_text dfg_read(struct dfg_gen *g, const struct dff_node *node);
struct dfg_text dfg_table(struct dfg_gen *g, const struct dff_node *node);
/* The place of an element in a port: row by row. */
const char *dfg_offset(struct dfg_gen *g, const struct dff_port *port, const struct dfg_text *indices);
/* Prints the reduction's loops into g->block, and gives the name of its value. */
const char *dfg_reduce(struct dfg_gen *g, const struct dff_node *node);
struct dfg_loop {                       /* of a range */
    const char *from, *to, *name;
};
/* Opens the block of a range's loop, and ends it. */
struct dfg_loop dfg_loop_open(struct dfg_gen *g, const struct dff_range *range, struct dfg_block *block);
void dfg_loop_close(struct dfg_gen *g, struct dfg_block *block, const struct dfg_loop *loop);
struct dfg_text dfg_number(struct dfg_gen *g, enum dff_type type, int64_t i, double f);
/* Does the index go over just the elements of the port's dimension? */
bool dfg_is_whole(const struct dfg_gen *g, const struct dff_node *index, const struct dff_node *extent);

/* ---- kernel.c ---- */

/* Prints the functions of the kernel; its own name stands as DFG_NAME. */
#define DFG_NAME '\1'
bool dfg_kernel_print(FILE *out, struct dfg_gen *g);

#endif
