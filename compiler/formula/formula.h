/* formula.h - the checked form of kernels that are written as formulas: typed expressions over the elements of ports,
 * as a hash-consed graph of nodes.
 *
 * Room:     compiler/formula/ makes these records from the syntax tree. It knows dsl/ and compiler/types/. compiler/proof/
 *           finds out whether every read stays inside its port; compiler/generate/ prints C and CUDA;
 *           compiler/fusion/ joins kernels. The front end needs the first two rooms, so programs with dynamic params
 *           have them, too.
 * Values:   an expression is a *node*. Nodes are immutable and unique: equal expressions are the same pointer, so a let
 *           that is used three times is computed once. A node has type truth value, i32, i64, f32 or f64: elements of
 *           u8 and u16 are read as i32, elements of f16 as f32.
 * Indices:  are *slots*. Slots 0 … rank-1 are the indices of the left-hand side, in order. The ranges of a reduction
 *           take the next free slots, so that equal reductions are the same node. A node's `slots` is the set of slots
 *           that it depends on.
 * Exact:    an expression made only of literals and params has been evaluated exactly into one DFF_CONST. The operands
 *           of a node never differ in type: conversions are nodes.
 * Memory:   everything lives in the unit's arena and dies with it.
 * Threads:  immutable once dff_check() has returned.
 */
#ifndef DFF_FORMULA_H
#define DFF_FORMULA_H

#include "compiler/types/frontend.h"

#define DFF_MAX_SLOTS 32                /* indices and ranges in force at one place */
#define DFF_MOST_WRITTEN 100u           /* places of one read that messages tell apart */
#define DFF_MAX_DEPTH 1000u             /* nodes on a way from a formula down, so a function may recurse over them */

enum dff_type { DFF_BOOL, DFF_I32, DFF_I64, DFF_F32, DFF_F64 };

enum dff_kind {
    DFF_CONST,      /* .i (BOOL, I32, I64) or .f (F32: exact in float; F64) */
    DFF_INDEX,      /* .number: the slot. I32 */
    DFF_DIM,        /* .number: the dimension variable in the signature. I32 */
    DFF_SCALAR,     /* .number: the scalar in the signature, hidden ones included. Its own type */
    DFF_READ,       /* .number: the port; .elem: its type; args: one I32 index for each dimension */
    DFF_TABLE,      /* .number: the table in dff_kernel.tables; .elem: its type; args: one I32 index for each dimension */
    DFF_OP,         /* .op; args: one or two, or three for CHOOSE and FMA */
    DFF_CONVERT,    /* .elem: rounds to that type as the language says; args[0]. The value is of the promoted type */
    DFF_WRAP,       /* .elem (u8, u16, i32): the low bits; args[0]: an integer */
    DFF_CAST,       /* to .type from args[0], which is lower, or f64 that becomes f32: C's conversion. BOOL: 0 or 1 */
    DFF_REDUCE      /* .op; .ranges; args: [0] the body (NULL for COUNT), [1] the condition or NULL */
};

enum dff_op {
    /* integers wrap; a / 0 = a % 0 = 0; MIN / -1 = MIN; shift counts modulo the width */
    DFF_NEG, DFF_ADD, DFF_SUB, DFF_MUL, DFF_DIV, DFF_MOD,
    DFF_BITNOT, DFF_BITAND, DFF_BITOR, DFF_BITXOR, DFF_SHL, DFF_SHR,
    /* give BOOL; operands of one type */
    DFF_LT, DFF_LE, DFF_GT, DFF_GE, DFF_EQ, DFF_NE,
    DFF_NOT, DFF_AND, DFF_OR,           /* operands BOOL; the second of AND and OR is not evaluated if the first decides */
    DFF_CHOOSE,                         /* args[0] ? args[1] : args[2]; the one that is not taken is not evaluated */
    /* functions, of i32, i64, f32, f64 as the language says */
    DFF_ABS, DFF_MIN, DFF_MAX, DFF_SQRT, DFF_EXP, DFF_LOG, DFF_POW, DFF_SIN, DFF_COS, DFF_TAN, DFF_ATAN2, DFF_TANH,
    DFF_FLOOR, DFF_CEIL, DFF_ROUND, DFF_TRUNC, DFF_FMA,
    /* reductions: SUM and PROD have the body's type, LEAST and GREATEST too; COUNT, ARGMIN, ARGMAX give I32; ANY, ALL BOOL */
    DFF_SUM, DFF_PROD, DFF_LEAST, DFF_GREATEST, DFF_ANY, DFF_ALL, DFF_COUNT, DFF_ARGMIN, DFF_ARGMAX
};

/* In which order a reduction takes its terms (docs/language.md). */
enum dff_order {
    DFF_ORDER_FOLD,     /* every end of a range holds numbers and params alone: from the first term, first range innermost */
    DFF_ORDER_RUNNING,  /* an end holds an index, or a range of a reduction around this one: the same order, so a running
                         * pass gives it in linear time */
    DFF_ORDER_NESTED,   /* an end holds a range to its left: from the first term, last range innermost */
    DFF_ORDER_LANES     /* otherwise: blocks of 1,024 terms of the last range, 16 lanes */
};

struct dff_node;

struct dff_range {                      /* of a reduction: slot = from, from + 1, …, to - 1 */
    uint32_t slot;
    const struct dff_node *from, *to;   /* I32 */
    const char *name;
};

struct dff_given {                      /* a condition that is `wanted` in a part of a formula, and those around it */
    const struct dff_node *condition;
    bool wanted;
    const struct dff_given *outer;
};

/* Where an element is read. Equal reads are one node, and one of them may be inside while another is not: a message names the
 * place that is meant by what is in force there. */
struct dff_written {
    struct dfl_loc loc;
    const struct dff_formula *formula;
    const struct dff_range *range;      /* the innermost; NULL: none */
    const struct dff_given *given;
    const struct dff_written *next;     /* in the order of the text, but for lets */
};

struct dff_node {
    enum dff_kind kind;
    enum dff_type type;
    enum dff_op op;
    enum df_elem elem;
    enum dff_order order;               /* REDUCE */
    uint32_t number;
    uint32_t slots;                     /* bit s: depends on slot s, which is not one of its own ranges */
    uint32_t id;                        /* its number in the kernel; arguments have smaller ones */
    int64_t i;
    double f;
    struct dfl_loc loc;                 /* where it was written first */
    const struct dff_written *written;  /* READ and TABLE: all those places, DFF_MOST_WRITTEN at most */
    uint32_t n_args, n_ranges;
    const struct dff_node *const *args;
    const struct dff_range *ranges;     /* as written: [0] is the first range */
};

enum dff_border { DFF_NONE, DFF_CLAMP, DFF_MIRROR, DFF_REFLECT, DFF_WRAP_AROUND, DFF_NUMBER };

struct dff_port {
    const struct dfl_port *ast;
    enum df_elem elem;
    enum df_mode mode;
    unsigned rank;
    const struct dff_node *extents[DF_MAX_RANK]; /* I32 over DIM and CONST nodes, and SCALARs that are dynamic params */
    enum dff_border border[DF_MAX_RANK];
    const struct dff_node *outside[DF_MAX_RANK]; /* NUMBER: a CONST of the port's promoted type */
    struct dfl_loc border_loc;
    unsigned memory;                    /* the port of the signature whose elements these are: itself, but in a group */
};

struct dff_table {
    const struct dfl_decl *decl;
    enum df_elem elem;
    unsigned rank;
    uint64_t extents[DF_MAX_RANK];
    const int64_t *i;                   /* integers, or */
    const double *f;                    /* floats: exact in the element type; row by row */
};

struct dff_formula {                    /* port[indices] = value */
    uint32_t port;
    unsigned rank;
    bool is_index[DF_MAX_RANK];         /* true: dimension d is slot d and goes over the extent; false: it is `at` */
    int64_t at[DF_MAX_RANK];
    const char *names[DF_MAX_RANK];     /* of indices, for people */
    const struct dff_node *value;       /* of the port's promoted type. The port can hold it: it was converted, or read
                                         * from such a port, or is a number that fits */
    const struct dfl_formula *ast;
};

struct dff_strips;

struct dff_scratch {                    /* device memory of one job of the kernel's GPU code. The memory plan counts it, and the code gets its address */
    const char *name;                   /* of the graph's tmp port */
    enum df_elem elem;
    unsigned rank;
    const struct dff_node *extents[DF_MAX_RANK]; /* over DIM and CONST nodes: dff_extent_value(); NULL: dff_group_scratch() */
};

struct dff_kernel {
    const struct dfc_callee *callee;    /* as it was when the formulas were checked: name and signature are whole */
    unsigned n_ports, n_formulas, n_tables, n_nodes;
    const struct dff_port *ports;       /* all ports of the signature, same numbers; in a group they are followed by
                                         * ports that are read with other borders */
    const struct dff_formula *formulas; /* those of out and inout ports; lets are gone */
    const struct dff_table *const *tables;
    const struct dff_node *const *nodes; /* by id: every node that a formula, a border or an extent reaches */
    const struct dff_strips *strips;    /* a group of kernels (compiler/fusion/); NULL: one kernel */
    const struct dff_scratch *scratch;  /* of GPU code, by dff_add_scratch(): tmp ports of the graph behind those of the signature */
    unsigned n_scratch;
};

#define DFF_MOST_GROUPED 8              /* reductions of a formula */
#define DFF_VALUE_BYTES 16              /* of the scratch for the value of a hoisted one */

/* Finds the reductions of a formula that depend on no index, where others or elements need their values: a GPU computes them first, in this order. Returns
 * their number. */
unsigned dff_hoisted(const struct dff_kernel *kernel, const struct dff_formula *formula, const struct dff_node **nodes);
/* Finds the reductions of a formula, beside those, whose terms work-groups of a GPU can share. Returns their number. */
unsigned dff_grouped(const struct dff_kernel *kernel, const struct dff_formula *formula, const struct dff_node **nodes);

#define DFF_MOST_NUMBER (INT64_C(1) << 62)
/* The value of an expression over dimension variables: at most DFF_MOST_NUMBER either way. */
int64_t dff_index_value(const struct dff_node *n, const uint64_t *dims);
/* That of an extent: 0 if it is less. */
uint64_t dff_extent_value(const struct dff_node *extent, const uint64_t *dims);
/* The bytes in which work-groups of a GPU hand results of reductions to each other, if the dimension variables are at most these. */
uint64_t dff_group_scratch(const struct dff_kernel *kernel, const uint64_t *dims);

/* Checks the formulas of a kernel whose signature is checked, and makes the record. Proves nothing about reads. NULL: errors
 * were reported, or no memory. */
const struct dff_kernel *dff_check(struct dfc_unit *u, struct dfc_callee *callee);

/* The type in which formulas compute with elements of a type. */
enum dff_type dff_promoted(enum df_elem elem);
/* The range of an integer type's values. */
void dff_elem_ends(enum df_elem elem, int64_t *low, int64_t *high);
/* Returns true for an integer type of storage whose range is smaller than that of the type in which formulas compute with it. */
bool dff_is_narrow(enum df_elem elem);

/* The formula's *column*: of its indices the last one that does not go over a small fixed extent, such as that of channels.
 * Loops over it are the long ones. -1: it has no index. */
int dff_column(const struct dff_kernel *kernel, const struct dff_formula *formula);
/* The extent of a dimension of the formula's port, if it is a small number. 0: it is not. */
int64_t dff_channels(const struct dff_kernel *kernel, const struct dff_formula *formula, unsigned d);

/* A hash of what the kernel computes: nodes, tables, formats. Comments, layout, the names of indices and lets do not
 * matter. Never 0. */
uint64_t dff_hash(const struct dff_kernel *kernel);

#endif
