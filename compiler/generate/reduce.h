/* reduce.h - the parts that reductions share: one term after the other (reduce.c), with the loop over columns inside (around.c), and by the items of
 * work-groups of a GPU (reduce_group.c, pass_group.c).
 */
#ifndef DFG_REDUCE_H
#define DFG_REDUCE_H

#include "compiler/generate/gen.h"

struct dfg_fold {                       /* a reduction whose terms are joined one after the other */
    const struct dff_node *node;
    const char *name, *any, *best;      /* any: whether there was a term, NULL if there surely is one; best: of argmin and argmax */
    const struct dfg_fold *next;        /* another one with the same ranges, in the same loops; NULL: there is none */
};

static inline bool dfg_is_float(enum dff_type type) { return type == DFF_F32 || type == DFF_F64; }
static inline const struct dff_node *dfg_condition_of(const struct dff_node *n) { return n->n_args > 1 ? n->args[1] : NULL; }
static inline bool dfg_is_best(const struct dff_node *n) { return n->op == DFF_ARGMIN || n->op == DFF_ARGMAX; }
/* Returns true if the first range is the innermost loop. */
static inline bool dfg_is_backwards(const struct dff_node *n) { return n->order == DFF_ORDER_FOLD || n->order == DFF_ORDER_RUNNING; }
/* The range that is `depth` loops from the outermost. */
static inline const struct dff_range *dfg_range_at(const struct dff_node *n, uint32_t depth)
{
    return &n->ranges[dfg_is_backwards(n) ? n->n_ranges - 1 - depth : depth];
}

/* Notes between which values the slot of a block is if the name in it is that of the range's loop, and the slot is `shift` more. */
void dfg_set_ends(struct dfg_block *block, const struct dff_range *range, int64_t shift);
/* Returns true if the fold must know whether there was a term. */
bool dfg_needs_any(const struct dff_node *n);
/* Declares the variables of a fold in g->block, except the one of its value. */
struct dfg_fold dfg_fold_begin(struct dfg_gen *g, const struct dff_node *n);
/* Joins the term at the ranges' values in g->block: of one fold, or of all that are chained. first: the term is what a value begins with, if it can be. */
void dfg_fold_term(struct dfg_gen *g, const struct dfg_fold *f);
void dfg_fold_terms(struct dfg_gen *g, const struct dfg_fold *f, bool first);
/* Prints the ranges from `depth` on, written out. *first: nothing was printed yet. */
void dfg_written_out(struct dfg_gen *g, const struct dfg_fold *f, uint32_t depth, bool *first);
/* Can the node be an array of a value for each column? channels: slots that it may depend on besides. */
bool dfg_is_of_columns(const struct dfg_gen *g, const struct dff_node *n, uint32_t channels);
/* Does it hold a reduction, or a function that takes as long? */
bool dfg_holds_long(const struct dff_node *n);
/* Do neighbouring columns read neighbouring elements? */
bool dfg_reads_rows(const struct dfg_gen *g, const struct dff_node *n);
/* Are its terms taken in lanes? */
bool dfg_has_lanes(const struct dff_node *n);
#define DFG_LANES 16                    /* DF_LANES of df_formula.h */
/* Prints the term of such a reduction in g->block; without one, what changes no bit of a lane. Gives its name. */
struct dfg_text dfg_lane_term(struct dfg_gen *g, const struct dff_node *n);
/* What the terms of the first `count` lanes give, at most all: lane l takes l + 8, then l + 4, l + 2, l + 1. */
struct dfg_text dfg_joined_lanes(struct dfg_gen *g, const struct dff_node *n, struct dfg_text *terms, unsigned count);
/* "sum_f32": how df_formula.h names a reduction in lanes. */
const char *dfg_lanes_name(struct dfg_gen *g, const struct dff_node *n);


/* ---- reduce_group.c: reduction k of a kernel for GPUs ---- */

/* Declares df_extent0_1, how many values range 1 of reduction 0 has; and C for the product of those of the ranges before range `end`. */
void dfg_extents_print(struct dfg_gen *g, const struct dff_node *n, unsigned k);
const char *dfg_extents_before(struct dfg_gen *g, unsigned k, uint32_t end);
/* Opens a phase; closing it prints the barrier. */
bool dfg_phase_open(struct dfg_gen *g, struct dfg_block *phase);
void dfg_phase_close(struct dfg_gen *g, struct dfg_block *phase);
/* Prints the values of the ranges in unit df_unit. */
void dfg_unit_print(struct dfg_gen *g, const struct dff_node *n, unsigned k);
/* Prints, inside of values for the ranges from r on, the loop of df_lane over its terms of the unit: one of `lanes`, with `size` values of the last range.
 * term: prints what is done with a term. */
void dfg_lane_print(struct dfg_gen *g, const struct dff_node *n, uint32_t r, const char *size, const char *lanes, void (*term)(struct dfg_gen *g, const void *arg), const void *arg);

#endif
