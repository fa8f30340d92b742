/* linear.h - decides whether affine conditions on integers are satisfiable together, by Fourier-Motzkin elimination
 * over facts that may contain "or". The prover (prover.h) is its user: lower.c makes forms of expressions, scope.c and
 * prove.c ask what can hold.
 *
 * Words:    a *form* is a constant plus a sum of variables with coefficients. A *fact* states that a form is at least
 *           0, or joins two facts by "and" or "or". A *row* is a form that is at least 0 in the case at hand.
 * Method:   the cases of all "or" are tried one after the other. In each, variables are eliminated from the rows; each
 *           row is divided by the greatest common divisor of its coefficients, and its constant is rounded down, which
 *           keeps all integer points (Schrijver 1986, "cutting planes"). If the remaining rows are contradictory, the
 *           case is unsatisfiable. Otherwise an integer point is searched by back-substitution through the eliminated
 *           rows.
 * Exact:    "never" (unsatisfiable) and "holds" (satisfiable) are always correct. If neither is found within the
 *           budget, nothing is claimed. An answer is found whenever, in each elimination step, one of the two combined
 *           coefficients is 1 or -1.
 * Numbers:  sums are computed in 128 bits. A row that does not fit in 62 bits ends the query undecided.
 * Memory:   facts are borrowed. The solver's arrays grow as needed; dff_linear_free() frees them.
 * Threads:  one per solver.
 */
#ifndef DFF_LINEAR_H
#define DFF_LINEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/intern.h"

#define DFF_MAX_VARS 48
#define DFF_MAX_EITHERS 64

struct dff_form {
    int64_t k;
    int64_t c[DFF_MAX_VARS];
};

enum dff_join { DFF_ROW, DFF_BOTH, DFF_EITHER };

struct dff_fact {                       /* NULL is the fact that always holds */
    enum dff_join join;
    struct dff_form form;               /* ROW */
    const struct dff_fact *a, *b;       /* BOTH, EITHER */
};

enum dff_verdict { DFF_NEVER, DFF_HOLDS, DFF_UNDECIDED };

struct dff_linear {                     /* zeroed: empty, without a budget */
    struct dfr_array rows;              /* of the case at hand, followed by those of an elimination */
    struct dfr_array found;             /* rows of the case that held last */
    const struct dff_fact *eithers[DFF_MAX_EITHERS];
    unsigned n_eithers, n_vars;
    uint64_t last;                      /* bit v: v is eliminated after all others, and a point has its least value */
    int64_t point[DFF_MAX_VARS];        /* after HOLDS */
    bool incomplete;                    /* rows that do not fit were left out of this elimination, so points may be missed */
    int64_t budget;                     /* what may still be spent, in all questions; the unit is a row that is made */
    int64_t left;                       /* of the question at hand */
    bool dropped;                       /* facts did not fit in, so no point is exact */
    bool no_memory;
};

void dff_linear_free(struct dff_linear *l);

/* to += factor * form. false: overflow; `to` is undefined then. */
bool dff_form_add(struct dff_form *to, const struct dff_form *form, int64_t factor);
bool dff_form_is(const struct dff_form *a, const struct dff_form *b);
/* The form's value at a point; saturates. */
int64_t dff_form_at(const struct dff_form *form, const int64_t *point);

/* Decides whether all facts can hold for integer values of the variables 0 … n_vars-1. HOLDS: l->point is a solution. */
enum dff_verdict dff_decide(struct dff_linear *l, const struct dff_fact *const *facts, unsigned n, unsigned n_vars);

/* After HOLDS: the bound of a form by the variables of `last` alone, in the case that held; at the point the tightest.
 * The bound is the largest value the form can have (upper) or the least. false: there is none with integer
 * coefficients. */
bool dff_bound(struct dff_linear *l, const struct dff_form *form, bool upper, struct dff_form *bound);

#endif
