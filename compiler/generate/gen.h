/* gen.h - the internal state of the code generator while the code of one kernel is printed.
 *
 * Words:    a *block* is the text inside the braces of a function or loop, in which one slot has a variable name; or
 *           one iteration of an unrolled loop, in which a slot is a number. A *temporary* is a C variable that holds a
 *           node's value.
 * Order:    every value is computed, even if it is not used in the end: `?:` selects between two computed values. The
 *           index of a read that a condition protects is therefore clamped. A node is computed once, in the innermost
 *           block whose slot it depends on.
 * Limits:   slots, dimensions and extents are at most gen.limit, so that their sums do not overflow.
 * Errors:   if memory runs out, `failed` is set and texts are empty.
 */
#ifndef DFG_GEN_H
#define DFG_GEN_H

#include "compiler/count/one_pass.h"
#include "compiler/fusion/fusion.h"
#include "compiler/generate/generate.h"
#include "dsl/arena.h"

#define DFG_MAX_ROWS 64                 /* of one row function; what is more is read as a whole */
#define DFG_MAX_BOUNDS 32
#define DFG_MOST_COPIES 128             /* of the body of a reduction that is written out */
#define DFG_MOST_OF_WINDOW 225          /* of one of integers over two ranges or more, or of sums: compilers compute sums that rows and columns share once */
#define DFG_MOST_IN_COLUMNS 16          /* of one over a range, in a formula's loop over columns: with more terms than this, its loop stands around that of the columns */
#define DFG_MOST_OUTSIDE 8              /* of one that stands in no long loop: it runs too seldom to pay for more code */
#define DFG_FEW_COLUMNS 16
#define DFG_MOST_ALL_COPIES 256         /* of a term: of reductions inside each other, and for each channel */

struct dfg_text {                       /* C for a value */
    const char *c;
    unsigned level;                     /* of its outermost operator: DFG_ATOM … */
};
enum { DFG_ATOM, DFG_UNARY, DFG_TIMES, DFG_PLUS, DFG_COMPARE, DFG_BITS, DFG_CHOICE };

struct dfg_place {                      /* of an element: an int64_t */
    const char *text, *name;
    const struct dfg_place *next;
};

struct dfg_block {
    struct dfg_block *outer;            /* NULL: the function */
    int slot;                           /* -1: none */
    bool is_shared;                     /* its text is printed to that of the outer one */
    bool is_number;                     /* the slot is `number` here */
    int64_t number;
    int64_t modulus, residue;           /* the slot is a multiple of `modulus`, and `residue`; modulus 0: nothing is known */
    bool is_column;                     /* a loop over columns */
    bool is_phase;                      /* of a tile */
    bool is_long;                       /* a loop whose trip count is large or unknown */
    bool is_bounded;                    /* a loop of which the slot is from `low` to `high` */
    const struct dff_range *range;      /* if an end of it is no number: from its `from` + low to its `to` + high */
    int64_t low, high;
    const char *counter;                /* of such a loop: the column as an int32_t; NULL: not needed yet */
    const char *name;                   /* of the slot */
    int64_t shift;                      /* the slot is that much more than what is called so */
    int64_t times;                      /* than so many times that; 0: once */
    FILE *out;                          /* the block's text up to here */
    char *bytes;
    size_t size;
    unsigned depth;                     /* of its braces */
    const struct dfl_loc *loc;          /* of what the loop is in the .df; NULL: nothing is said of it */
    const char **temporaries;           /* by node id; NULL: none yet */
    const struct dfg_place *places;     /* that have a name in it; NULL: there are none */
};

#define DFG_FAR ((int64_t)1 << 62)      /* i64 is not followed further: a bound of that much, either way, may be any number beyond */
struct dfg_fact {                       /* of a node, within one formula */
    int64_t low, high;                  /* integers and truth values; low > high: never computed */
    double least, most;                 /* floats, if is_number */
    bool is_number;                     /* a float that is never NaN */
    uint32_t uses;
    bool index;                         /* part of an index, extent or end of a range, made of + - * */
    bool always, sometimes;             /* reached without and with a condition around it */
    bool visited;
    bool loops;                         /* it holds a reduction that may be a loop */
    bool in_sum;                        /* the terms of dfg_gen.sum hold it, if there is such a sum */
    uint32_t empty;                     /* slots of loops around it that may have no repetition */
    uint32_t walk;                      /* the last walk of dfg_ranges_written() that came here, */
    unsigned inside;                    /* and how often it found a term of the node's reductions to stand in its text */
};

#define DFG_NEAR (1 << 28)              /* MAIN takes scalars of indices that are from -DFG_NEAR to DFG_NEAR: then i32 does not overflow there */
#define DFG_VALUES (1u << 16)           /* the number of a term that is no dimension but a node without slots, such as n / 2, is the node's id and so much more */
struct dfg_affine {                     /* constant + sum of factor * variable */
    unsigned n;
    struct { bool dim; uint32_t number; int64_t factor; } term[6]; /* dim: the same for all elements; else a slot */
    int64_t constant;
};

/* Which of two functions of a formula's rows is printed: MAIN for columns whose reads are all inside, EDGE for others. */
enum dfg_mode { DFG_MAIN, DFG_EDGE };

struct dfg_way {                        /* of reading a row: elements column + least … column + most */
    struct dfg_affine least, most;
    struct dfg_way *next;
};

struct dfg_row {                        /* a row of a port that a row function reads */
    uint32_t port;
    unsigned lead;                      /* dimensions that are fixed in it */
    struct dfg_affine at[DF_MAX_RANK];  /* where, over the formula's row slots and dimensions */
    const struct dff_node *computed[DF_MAX_RANK]; /* or at the value of this one, such as y / 2; NULL: at at[] */
    enum dff_border border[DF_MAX_RANK]; /* where it may be outside; NONE: it is inside */
    const char *name;
    struct dfg_way *ways;               /* in which MAIN reads it; */
    bool has_others;                    /* it does so in others, too */
    enum dff_border beside;             /* what stands beside the elements that MAIN reads; NONE: nothing is read there */
};

struct dfg_bound {                      /* 0 <= factor * index + least and factor * index + most < extent */
    int64_t factor;
    struct dfg_affine least, most;
    const struct dff_node *extent;
    uint32_t slot;                      /* of the index: the formula's column; in a tile one of its axes */
};

#define DFG_MAX_COLUMNS 24

struct dfg_column {                     /* a value of each column of a strip, in an array (columns.c, gathers.c) */
    const struct dff_node *node;
    bool is_place;                      /* not the value, but where the element lies that the node reads */
    uint32_t slot;                      /* that the value depends on, too; DF_NONE: none */
    int64_t by, low, high;              /* column x has by * slot added to it, which is from low to high */
    unsigned each, at;                  /* the array has `each` elements for a column, and this is element `at`; 0: it has one */
    bool four;                          /* it has four of four bytes, and they lie as DF_FOUR of df_formula.h says */
    const char *name;
};

#define DFG_MAX_RANGED 8

struct dfg_ranged {                     /* a value for each value of a range, in an array (ranged.c) */
    const struct dff_node *node;
    int64_t low;                        /* the range begins with it */
    const char *name;
};

#define DFG_MAX_RUNS 4

struct dfg_run {                        /* a sum that MAIN makes of that of the row before it (around.c) */
    const struct dff_node *node;
    int64_t channel;                    /* one of its own for each; 0: it depends on none */
};

struct dfg_stage {                      /* a formula as row functions (generate.h) */
    unsigned number;                    /* of the formula: df_row0_NAME, df_edge0_NAME */
    struct dfg_row rows[DFG_MAX_ROWS];
    struct dfg_bound bounds[DFG_MAX_BOUNDS];
    unsigned n_rows, n_bounds;          /* no bounds: every column is MAIN's, and there is no EDGE */
    bool whole[DFL_MAX_PORTS];          /* the port is read in other ways than by rows, too */
    bool is_pair;                       /* its function computes rows y and y + 1 (shared.c) */
    const char *last;                   /* of pairs: C for the row behind the last one */
    bool is_half;                       /* its function computes values that are kept (shared.c) */
    bool has_strips;                    /* its columns share values in arrays (columns.c) */
    int64_t phases;                     /* MAIN has a text for each residue of the column by it, because x / 2 is an index, say; 0: it has one text */
    bool is_wide;                       /* loops over many terms stand around those of its columns, so EDGE has much to do */
    bool has_other_bounds;              /* some borders are not those of `ways`, so a padded row is not all that MAIN needs beyond its bounds */
    const char *when;                   /* "… && ": MAIN is called then; NULL: always */
    struct dfg_run runs[DFG_MAX_RUNS];  /* those of the row before are in df_runs0, … */
    unsigned n_runs;
};

#define DFG_MOST_FEW 16                 /* terms; as many as there are lanes */

struct dfg_few {                        /* terms of the reductions over a range, in the row function for that number of them (few_terms.c) */
    unsigned terms;                     /* 0: the function is for any number */
    const struct dff_range *range;
    const char *first;                  /* the name of the range's first value */
};

#define DFG_MAX_PLANES 32
#define DFG_MAX_KEPT_RANGES 4

struct dfg_plane {                      /* the value for one repetition of the sum, of each column */
    int64_t number[DFG_MAX_KEPT_RANGES]; /* the ranges there */
    int64_t row, column;                /* how far the neighbour is */
    bool here, there;                   /* the element reads it, the neighbour does */
};

/* A value of a sum that two elements have for each other (shared.c): of the element at (y, x) and ranges s it is that of the
 * element at (y + row, x + column) and -s. */
struct dfg_kept {
    const struct dff_node *node;        /* NULL: the formula has none */
    const struct dff_range *ranges;     /* of the sum */
    unsigned n_ranges;
    int64_t row_by[DFG_MAX_KEPT_RANGES], column_by[DFG_MAX_KEPT_RANGES]; /* row = sum of row_by * range */
    bool is_settled;                    /* there are no other planes than these */
    bool is_read;                       /* what is printed now reads the values and does not compute them */
    struct dfg_plane planes[DFG_MAX_PLANES];
    unsigned n_planes;
    int64_t rows, columns;              /* the farthest neighbours */
    struct dfg_stage half;              /* the function that computes the planes of a row */
};

#define DFG_MOST_SIBLINGS 8               /* formulas that one row function computes */

struct dfg_gen {
    struct dfl_arena *arena;
    const struct dff_kernel *kernel;
    const struct dff_formula *formula;  /* that is printed: the first of `siblings` */
    const struct dff_formula *siblings[DFG_MOST_SIBLINGS]; /* formulas with the same loops: o[y, x, 0], o[y, x, 1], … of one port (siblings.c); in tiles of ports of one stage, too */
    unsigned n_siblings;                /* of them */
    const struct dfl_sink *sink;
    struct dfg_fact *facts;             /* by node id: all_facts or near_facts, as dfg_facts_choose() says */
    struct dfg_fact *all_facts;         /* for scalars of any value */
    struct dfg_fact *near_facts;        /* for scalars within DFG_NEAR, used by MAIN; NULL: no index depends on a scalar */
    struct dfg_block *block;            /* that is printed now */
    int64_t limit, slot_low[DFF_MAX_SLOTS], slot_high[DFF_MAX_SLOTS];
    enum dfg_mode mode;
    int column;                         /* the slot of the formula's columns; -1: it has none, and there are no row functions */
    struct dfg_stage stage;             /* of `formula`, whose functions are printed or called now */
    struct dfg_stage pair;              /* if it has a function of two rows */
    struct dfg_kept kept;               /* if it has functions that share values between rows */
    const char *row;                    /* that is written; NULL: it is called as its port */
    struct dfg_column columns[DFG_MAX_COLUMNS + 1]; /* one more for `sum` */
    unsigned n_columns, column_bytes;   /* column_bytes: of one column in all arrays */
    struct dfg_ranged ranged[DFG_MAX_RANGED];
    unsigned n_ranged;
    struct dfg_few few;
    uint32_t apart, apart_once;         /* slots of channels that have loops over columns of their own; of those that have one text in a loop over the channels */
    int64_t flat;                       /* channels, if the loop over columns goes over all of them, too (pixels.c); 0: it does not */
    bool flat_fails;                    /* a read could not be printed so */
    bool near_places;                   /* arrays of places have int32_t */
    const struct dff_node *sum;         /* of an acc's formula: its loop stands around that of the columns (reduce.c). NULL: there is none */
    uint32_t within;                    /* the slot of its range, as a bit, while the inside of that loop is printed */
    unsigned copies;                    /* repetitions that are written out around what is printed */
    uint32_t walks;                     /* of dfg_ranges_written(), so far */
    const char *from, *to;              /* the rows that are computed; NULL: all of them */
    unsigned rows;                      /* dimension that counts these; of those before it, df_outer0 … are computed */
    bool rings_turn;                    /* row y of a stream is row y % n of its ring (strips.c) */
    bool rings_are_whole;               /* a ring is used in other ways than by rows, so they may not turn */
    const char *prefix;                 /* of temporaries */
    unsigned n_temporaries;
    bool near;                          /* the row function may hold sin, cos and tan of near arguments (df_math.h) */
    bool far[2];                        /* it does, in f32 and in f64: then it notes in df_far32 and df_far64 what is far */
    bool math, failed;                  /* math: <df_math.h> is needed */
    bool gpu;                           /* for GPUs: a thread for each element */
    bool opencl;                        /* as OpenCL C, and its launches as C */
    const struct dfu_tiles *tiles;      /* of the group that is printed for a GPU; NULL: it has none */
};

/* ---- text ---- */

const char *dfg_printf(struct dfg_gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The text in parentheses if its operator binds less than `level`. */
const char *dfg_within(struct dfg_gen *g, struct dfg_text text, unsigned level);
const char *dfg_type(enum dff_type type);        /* as C spells it */
unsigned dfg_type_bytes(enum dff_type type);     /* of it there */
const char *dfg_type_name(enum dff_type type);   /* as df_formula.h names it: "i32" */
const char *dfg_port_name(const struct dfg_gen *g, unsigned port);
const char *dfg_dim_name(const struct dfg_gen *g, unsigned dim);
const char *dfg_scalar_name(const struct dfg_gen *g, unsigned scalar);

/* ---- blocks ---- */

/* Opens a block inside g->block, and ends it. A block is printed into the outer one behind `head`, which is a line such as
 * "for (…)"; one that is shared is there already. */
bool dfg_open(struct dfg_gen *g, struct dfg_block *block, int slot, const char *name);
bool dfg_open_shared(struct dfg_gen *g, struct dfg_block *block, int slot, const char *name);
bool dfg_open_number(struct dfg_gen *g, struct dfg_block *block, int slot, int64_t number);
void dfg_close(struct dfg_gen *g, struct dfg_block *block, const char *head);
/* Prints what makes compilers and debuggers show the .df for the next line, and the file itself for those that follow. */
void dfg_line_of(struct dfg_gen *g, const struct dfg_block *block, const struct dfl_loc *loc);
void dfg_line_own(struct dfg_gen *g, const struct dfg_block *block);
/* Ends the block, and drops its text. */
void dfg_drop(struct dfg_gen *g, struct dfg_block *block);
/* Prints one line into a block, indented. */
void dfg_line(struct dfg_gen *g, const struct dfg_block *block, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The innermost block in which all that the node depends on has a value. */
struct dfg_block *dfg_block_of(const struct dfg_gen *g, uint32_t slots);
/* A new name for a temporary. */
const char *dfg_new_name(struct dfg_gen *g);
/* Opens the block of a loop over the columns from `from` to `to` - 1, and ends it. */
bool dfg_open_columns(struct dfg_gen *g, struct dfg_block *loop);
/* Opens a block in which the column of the loop is g->stage.phases * its variable + phase. */
bool dfg_open_phase(struct dfg_gen *g, struct dfg_block *block, struct dfg_block *loop, int64_t phase);
void dfg_close_columns(struct dfg_gen *g, struct dfg_block *loop, const char *from, const char *to);

/* ---- siblings.c ---- */

/* Makes `formula` the one that is printed, alone. */
void dfg_formula_alone(struct dfg_gen *g, const struct dff_formula *formula);
/* Adds to g->siblings those of the n formulas behind g->formula that one row function can compute with it, and that are not yet `done`. */
void dfg_siblings_find(struct dfg_gen *g, const struct dff_formula *formulas, unsigned n, bool *done);

/* ---- analyse.c ---- */

/* Fills in the facts of g->kernel for g->siblings. */
void dfg_analyse(struct dfg_gen *g);
/* Makes g->near_facts and g->all_facts, and finds g->limit: with it no index of the kernel overflows. */
void dfg_find_limit(struct dfg_gen *g);
/* Makes the facts for MAIN, or those for any scalars, those of now. */
void dfg_facts_choose(struct dfg_gen *g, bool near);
/* floats.c: between which numbers a float lies. */
void dfg_float_span(struct dfg_gen *g, const struct dff_node *n);
/* The most copies of the reduction's body in a long loop. */
unsigned dfg_most_copies(const struct dff_node *n);
/* How often the body of a reduction stands there if its loops are written out; 0: they never are, because an end is no number or
 * the copies would be too many. */
unsigned dfg_copies(const struct dff_node *n);
/* Are the range's ends numbers, and is there a value between them? */
bool dfg_range_is_fixed(const struct dff_range *range);
/* Has the formula more than a few columns? */
bool dfg_has_many_columns(const struct dfg_gen *g);
/* Has the range at least one value? */
bool dfg_range_has_values(const struct dff_range *range);
static inline bool dfg_is_int(enum dff_type type) { return type == DFF_I32 || type == DFF_I64; }

/* ---- known.c ---- */

/* The value of an integer or a condition that is known where g->block is printed. */
bool dfg_known(const struct dfg_gen *g, const struct dff_node *n, int64_t *value);
/* A row slot on whose residue by *modulus conditions or tables of g->formula depend. -1: there is none. */
int dfg_residues(const struct dfg_gen *g, int64_t *modulus);

/* What the divisors of columns in indices divide, such as 2 of t[y, x / 2]; 0: there are none. */
int64_t dfg_phases(const struct dfg_gen *g);

/* ---- expr.c, place.c, reduce.c ---- */

struct dfg_text dfg_value(struct dfg_gen *g, const struct dff_node *node);
/* One side of a choice. An element is read before, whether it is chosen or not: a read under a condition is no vector. */
struct dfg_text dfg_side(struct dfg_gen *g, const struct dff_node *node);
/* The type in which the least or greatest of these values is found, as df_formula.h names it. If all fit a byte it is u8, of which a
 * vector has four times as many lanes as of int32_t. The greatest and the least int32_t, with which reductions begin, become the
 * greatest and the least byte in it. */
const char *dfg_order_type(const struct dfg_gen *g, enum dff_type type, const struct dff_node *const *values, uint32_t n);
/* An index as an int64_t. */
struct dfg_text dfg_index(struct dfg_gen *g, const struct dff_node *node);
/* false: it is something else. */
bool dfg_affine(const struct dfg_gen *g, const struct dff_node *node, struct dfg_affine *affine);
struct dfg_text dfg_read(struct dfg_gen *g, const struct dff_node *node);
struct dfg_text dfg_table(struct dfg_gen *g, const struct dff_node *node);
/* Returns true if the node is an element of a table of reals whose place is known. */
bool dfg_known_element(const struct dfg_gen *g, const struct dff_node *n, double *value);
/* Do columns choose between a few elements of a table? They are read before the loop. */
bool dfg_is_chosen(const struct dfg_gen *g, const struct dff_node *n);
/* The index of a read in dimension d, without a clamp(…, 0, extent - 1) around it: that is a border then. */
const struct dff_node *dfg_index_in(const struct dfg_gen *g, const struct dff_node *read, unsigned d);
/* Where the element lies in its row or table, of a read whose borders are no numbers, and how many indices that is made of. */
const char *dfg_place(struct dfg_gen *g, const struct dff_node *node);
unsigned dfg_free_dimensions(struct dfg_gen *g, const struct dff_node *node);
/* Does no border move the element? *in_row: how many of its indices its row stands for. */
bool dfg_is_unmoved(struct dfg_gen *g, const struct dff_node *read, unsigned *in_row);
/* The place of an element in a port: row by row. */
const char *dfg_offset(struct dfg_gen *g, const struct dff_port *port, const struct dfg_text *indices);
/* How many of the ranges of a reduction, which is printed into g->block, are written out: the innermost ones. The others are loops. Of
 * reductions inside each other the inner ones come first: an outer one is a loop if both together would be too much text. */
unsigned dfg_ranges_written(struct dfg_gen *g, const struct dff_node *n);
/* Prints the reduction's loops into g->block, and gives the name of its value. */
const char *dfg_reduce(struct dfg_gen *g, const struct dff_node *node);
/* Prints the loop of g->sum over a strip of columns into g->block. Its value is an array of the strip then. */
void dfg_sum_print(struct dfg_gen *g);
/* What its loops begin with: joined with it every term stays what it is. */
const char *dfg_start_of(const struct dff_node *node);
/* What there is, joined with one more term. */
const char *dfg_joined(struct dfg_gen *g, const struct dff_node *node, const char *all, struct dfg_text term);
struct dfg_loop {                       /* of a range */
    const char *from, *to, *name;
    unsigned unrolled;                  /* in code for GPUs: how often its text stands in the machine code; 0: the compiler chooses */
};
/* Opens the block of a range's loop, and ends it. */
struct dfg_loop dfg_loop_open(struct dfg_gen *g, const struct dff_range *range, struct dfg_block *block);
void dfg_loop_close(struct dfg_gen *g, struct dfg_block *block, const struct dfg_loop *loop);
struct dfg_text dfg_number(struct dfg_gen *g, enum dff_type type, int64_t i, double f);
/* "y + 2 * j - 1" */
struct dfg_text dfg_affine_text(struct dfg_gen *g, const struct dfg_affine *a);
/* The place behind a border: df_mirror_at(…). */
struct dfg_text dfg_bordered(struct dfg_gen *g, struct dfg_text index, enum dff_border border, const char *extent);
/* Does the index go over just the elements of the port's dimension? */
bool dfg_is_whole(const struct dfg_gen *g, const struct dff_node *index, const struct dff_node *extent);

/* ---- columns.c, gathers.c ---- */

/* Prints the arrays of g->formula's row function, and the loops that fill them, into g->block: the strip of columns from
 * df_strip to df_strip_end - 1, at most df_strip_columns of them. None: nothing is printed. */
void dfg_columns_print(struct dfg_gen *g);
void dfg_gathers_print(struct dfg_gen *g);
/* The sum of g->formula whose terms gather elements, and whose loop can stand around that of the columns. NULL: there is none. */
const struct dff_node *dfg_sum_that_gathers(struct dfg_gen *g);
/* C that says whether an int32_t can hold all places that g->formula computes of two indices or more. NULL: it computes none. */
const char *dfg_places_are_near(struct dfg_gen *g);
/* An array that has a value of each column, not yet declared; there is room for it. */
struct dfg_column *dfg_column_add(struct dfg_gen *g, const struct dff_node *n, bool is_place);
/* Declares an array with `each` elements for a column of the strip, and so many `more`. */
void dfg_column_array(struct dfg_gen *g, enum dff_type type, const char *name, unsigned each, int64_t more);
/* How many columns a strip has, with the arrays that were declared. */
unsigned dfg_strip_columns(const struct dfg_gen *g);
/* Is a value for column x and `slot` the one for column x + 1 and slot - 1? So for the index `along` in place of the column. */
bool dfg_is_shifted(struct dfg_gen *g, const struct dff_node *n, unsigned along, uint32_t slot);
/* The element of an array that has the node's value, or its place. NULL: none has. */
const char *dfg_columns_value(struct dfg_gen *g, const struct dff_node *n, bool is_place);
/* Does an array have values of the node? */
bool dfg_columns_has(const struct dfg_gen *g, const struct dff_node *n);

/* ---- ranged.c ---- */

/* Prints the arrays over ranges of g->formula's row function, and the loops that fill them, into g->block. None: nothing is printed. */
void dfg_ranged_print(struct dfg_gen *g);
/* The element of such an array that has the node's value where g->block is printed. NULL: none has. */
const char *dfg_ranged_value(struct dfg_gen *g, const struct dff_node *n);
bool dfg_ranged_has(const struct dfg_gen *g, const struct dff_node *n);

/* ---- shared.c ---- */

/* May a function of two rows be worth it for g->formula, whose row function `text` is? */
bool dfg_pair_is_wanted(const struct dfg_gen *g, const char *text);
/* Is g->pair better than two calls of g->stage, and are the columns of MAIN the same ones? */
bool dfg_pair_is_good(const struct dfg_gen *g);
/* Finds g->kept of g->formula. */
void dfg_kept_find(struct dfg_gen *g);
/* The element of a plane that has the node's value where g->block is printed. NULL: there is none. */
const char *dfg_kept_value(struct dfg_gen *g, const struct dff_node *n);
/* Drops planes that one side alone reads: beyond the elements of the other side nothing is known to be inside. */
void dfg_kept_settle(struct dfg_gen *g);
/* Prints the statements that compute the planes of the row y for the columns df_from … df_to - 1, and beside them those that
 * these columns of other rows read. */
void dfg_kept_print(struct dfg_gen *g);

/* ---- rows.c ---- */

#define DFG_NEXT_ROW "df_next"          /* the second of two rows that are written */

/* The first dimension in which elements of a row differ: the row's pointer stands for those before it. */
static inline unsigned dfg_lead(const struct dfg_gen *g)
{
    return g->column > 0 ? (unsigned)g->column : 0;
}

/* Prints the row functions of g->formula, which is analysed, and fills in g->stage. */
void dfg_row_functions(struct dfg_gen *g, unsigned number, FILE *out);
/* one_pass.c: prints a formula whose elements are made in one pass over the terms. false: it is none, nothing is printed.
 * *also_rows: this stands behind an `if`, and an `else` that the rows of the formula belong to. */
bool dfg_one_pass(struct dfg_gen *g, FILE *out, bool *also_rows);
/* The element that has the place `at` along the pass's index; and the conditions beside the join, each before "&& ". */
const char *dfg_pass_element(struct dfg_gen *g, const struct dff_one_pass *pass, struct dfg_text at);
const char *dfg_pass_rest(struct dfg_gen *g, const struct dff_node *condition, const struct dff_one_pass *pass);
/* The indices of dimension d that are computed, *from … *to - 1: of a part or strip not all. */
void dfg_row_ends(struct dfg_gen *g, unsigned d, const char **from, const char **to);
/* Prints the loops over all rows that call them. */
void dfg_row_loops(struct dfg_gen *g, FILE *out);
/* Prints what computes the bounds df_low and df_high of the columns of MAIN, of those from `first` to `width`, into
 * g->block. */
void dfg_print_bounds(struct dfg_gen *g, const char *first, const char *width);
/* Elements of a row: those behind the first `lead` dimensions. */
const char *dfg_row_size(struct dfg_gen *g, const struct dff_port *port, unsigned lead);
/* Prints the calls for one row. first: the row's first element; rows: the rows of g->stage as arguments, each behind ", ". */
void dfg_print_calls(struct dfg_gen *g, const char *first, const char *rows);

/* ---- kernel.c ---- */

/* Parameters and arguments for the dimensions and scalars: each ends with ", ". */
const char *dfg_parameters(struct dfg_gen *g);
const char *dfg_arguments(struct dfg_gen *g);
/* The C type of a scalar, with a blank or a star behind it; and whether the functions take the scalar. */
const char *dfg_scalar_type(enum dfl_scalar type);
bool dfg_is_passed(const struct dfg_gen *g, unsigned scalar);

/* Prints the functions of formulas' rows, and gives the text that calls them: it sets df_good to 0 if there is no memory. The
 * caller frees it. */
char *dfg_formulas(struct dfg_gen *g, FILE *out, unsigned first, unsigned n);
/* Parameters for the ports. */
const char *dfg_port_parameters(struct dfg_gen *g);

/* ---- row_range.c: kernels whose nodes may be divided compute rows df_from … df_to - 1 ---- */

/* May they? */
bool dfg_has_parts(const struct dfg_gen *g);
/* Parameters behind those of the ports, and the arguments where libdf's function calls; each begins with ", ". */
const char *dfg_part_parameters(const struct dfg_gen *g);
const char *dfg_part_arguments(const struct dfg_gen *g);
/* Prints what makes these arguments, in the function that libdf calls. */
void dfg_part_print(FILE *out, struct dfg_gen *g);
/* Prints, in the kernel's function, what makes df_to the end of all rows if the node is not divided, and lets the pointers of
 * ports stand for row 0, though it is not there. */
void dfg_part_begin(FILE *out, struct dfg_gen *g);
/* How many rows a port has of which a part makes some. NULL: parts make none of it. */
const char *dfg_rows_made(struct dfg_gen *g, const struct dff_port *port);

/* ---- strips.c ---- */

/* Is a port of the callee, which is a group, a stream that stays inside? */
bool dfg_is_ring(const struct dfg_gen *g, unsigned memory);
/* Prints df_kernel_NAME for a group: its stages, and the loop over strips of rows that calls them. */
void dfg_strips(FILE *out, struct dfg_gen *g);

/* Prints the functions of the kernel; its own name stands as DFG_NAME. */
#define DFG_NAME '\1'
#define DFG_OWN_LINE '\2'               /* stands where #line of the file itself belongs */
#define DFG_LAUNCHES '\3'               /* stands between the functions of a GPU and those that launch them */
bool dfg_kernel_print(FILE *out, struct dfg_gen *g);

/* Makes the facts of g->kernel, the prefix and the limit. The caller frees g->facts. */
bool dfg_kernel_begin(struct dfg_gen *g);
/* Prints the check that no dimension is above g->limit, in a function that libdf calls. */
void dfg_print_limit(FILE *out, const struct dfg_gen *g);
/* Prints the lines that store the elements of g->siblings, and what they need, into g->block. */
void dfg_store(struct dfg_gen *g);

/* ---- tiles.c ---- */

/* Chooses the tiles of g->kernel, which is a group that has some and is analysed formula by formula on the way. */
void dfg_tiles_find(struct dfg_gen *g, struct dfu_tiles *tiles);
/* Finds how often the tiles compute an element of each formula, and read one of each port that they copy. */
void dfg_tiles_repeats(const struct dfg_gen *g, const struct dfu_tiles *tiles, double *computed, double *read);
/* Prints the function of the kernel that computes g->tiles, and its launch into g->block. */
void dfg_tiles_print(FILE *out, struct dfg_gen *g);
void dfg_tiles_launch(struct dfg_gen *g);
/* C for where the tiles end: then all that leaves is made. */
const char *dfg_tiles_end(struct dfg_gen *g, bool columns);
/* Are the port's elements in the local memory of a tile? */
static inline bool dfg_is_local(const struct dfg_gen *g, uint32_t port)
{
    return g->tiles && g->tiles->is_local[g->kernel->ports[port].memory];
}
/* The element at `at` of such a port: "df_tile_g[…]". */
const char *dfg_tiles_element(struct dfg_gen *g, uint32_t port, const struct dfg_text *at);
/* The element at `place` of an input that may be there as a whole. NULL: it is not, where g->block is printed. */
const char *dfg_tiles_copied(struct dfg_gen *g, uint32_t port, const char *place);
/* Has the tile what the port's border leads to in dimension d, where g->formula reads it? Not if all reads are inside when their conditions hold. */
bool dfg_tiles_has_border(const struct dfg_gen *g, uint32_t port, unsigned d);
/* C that says whether the tile has the formula's element at `at` as its own, so that it leaves the group from here. NULL: none leaves. */
const char *dfg_tiles_own(struct dfg_gen *g, const struct dff_formula *f, const struct dfg_text *at);

/* ---- pixels.c ---- */

/* Slots of the formula's indices behind the column, those of them that are only indices of reads, and the number of the present channel among those of `apart`. */
uint32_t dfg_channel_slots(const struct dfg_gen *g);
uint32_t dfg_plain_channels(const struct dfg_gen *g);
int64_t dfg_channel(const struct dfg_gen *g);
/* How many channels there are, if columns and channels can be one index. 0: they cannot. */
int64_t dfg_flat_channels(struct dfg_gen *g);
/* With g->flat: C for the place of a read in its row, or in its port if `lead` is 0, and for the end of a range of columns. */
const char *dfg_flat_place(struct dfg_gen *g, const struct dff_node *n, unsigned lead, const struct dfg_text *at);
const char *dfg_flat_end(struct dfg_gen *g, const char *column);

/* ---- around.c ---- */

/* Prints those reductions of the formula whose loops stand around that of the columns, into g->block: their values are arrays of the strip then. */
void dfg_around_print(struct dfg_gen *g);
/* Sets g->apart, g->apart_once and g->flat if a reduction that depends on channels is to stand around the loop over columns. */
void dfg_around_apart(struct dfg_gen *g);
/* Is it a sum of integers over rows and columns, which is made of that of the row before it? */
bool dfg_is_box(struct dfg_gen *g, const struct dff_node *n);

/* ---- few_terms.c ---- */

/* The range of all reductions over columns of g->formula, if a row function for each small number of its values is worth it. NULL: it is not. */
const struct dff_range *dfg_few_range(struct dfg_gen *g);
/* Opens a block in which all these reductions have so many terms, and closes it. */
bool dfg_few_open_text(struct dfg_gen *g, struct dfg_block *block, const struct dff_range *range, unsigned terms);
void dfg_few_close_text(struct dfg_gen *g, struct dfg_block *block);
/* Is it one of these reductions, in such a block? */
bool dfg_is_few(const struct dfg_gen *g, const struct dff_node *n);
/* Opens the block of its term k. */
bool dfg_few_open(struct dfg_gen *g, struct dfg_block *term, unsigned k);

/* ---- reduce_group.c ---- */

/* Prints the functions whose work-groups compute hoisted reductions of g->formula, and its elements if they share other reductions. */
void dfg_grouped_print(FILE *out, struct dfg_gen *g, unsigned number);
/* Prints the launches of such elements into g->block. Behind them the caller prints the launch of a thread for each element, which reductions of few terms take. */
void dfg_grouped_launch(struct dfg_gen *g, unsigned number);
/* Prints df_hoists and df_pays into g->block: whether hoisted reductions can be computed first, and whether that is worth it; and their launches. */
void dfg_hoisted_check(struct dfg_gen *g);
void dfg_hoisted_launch(struct dfg_gen *g, unsigned number);
/* Prints the values of the first n hoisted reductions from df_scratch into g->block. */
void dfg_known_print(struct dfg_gen *g, unsigned n);

/* ---- pass_group.c ---- */

/* Finds the pass over the terms that work-groups of a GPU make g->formula's elements in. DFF_PASS_NONE: there is none. */
enum dff_pass dfg_pass_find(const struct dfg_gen *g, struct dff_one_pass *pass);
/* Prints the function whose work-groups make the elements of g->formula in a pass over the terms. */
void dfg_pass_print(FILE *out, struct dfg_gen *g, unsigned number, const struct dff_one_pass *pass, enum dff_pass kind);
/* Prints its launches into g->block. Behind them the caller prints the launch of a thread for each element, which is taken where the pass would not pay. */
void dfg_pass_launch(struct dfg_gen *g, unsigned number, const struct dff_one_pass *pass, enum dff_pass kind);

/* ---- generate_gpu.c ---- */

/* Parameters for the ports of a function for GPUs, and the line that its text begins with. has_scratch: it takes df_scratch, too. */
const char *dfg_gpu_ports(struct dfg_gen *g);
const char *dfg_gpu_begin(struct dfg_gen *g, bool has_scratch);
/* C for the address of the kernel's scratch (dff_add_scratch()), in the function that libdf calls. */
const char *dfg_scratch(struct dfg_gen *g, unsigned number);
/* Ports as such functions take them: by the place of row 0, though it may not be there. */
const char *dfg_gpu_arguments(struct dfg_gen *g);

/* The functions of one kernel for GPUs; its own name stands as DFG_NAME. */
bool dfg_gpu_kernel_print(FILE *out, struct dfg_gen *g);

#endif
