/* one_pass.h - formulas of which one pass over the terms makes all elements along an index. Without it each element takes a pass
 * of its own. The code for CPUs does it so (compiler/generate/one_pass.c), and the count of operations goes by it.
 *
 * Joined:   o[…, b, …] = sum(ranges if e == b && rest: value) of integers, and count, min, max; or what changes an acc or an inout
 *           port so: o[…, b, …] += count(ranges if e == b). The order of such terms does not matter, so each one is joined where it
 *           belongs.
 * Running:  o[…, b, …] = sum(i in from..b + more: value), and prod, min, max, count. An element is the one before it and one more
 *           term, in the order that the language promises, so the bits are the same.
 * Threads:  a pure function of the kernel.
 */
#ifndef DFF_ONE_PASS_H
#define DFF_ONE_PASS_H

#include "compiler/formula/formula.h"

enum dff_pass { DFF_PASS_NONE, DFF_PASS_JOINED, DFF_PASS_RUNNING };

struct dff_one_pass {
    const struct dff_node *reduce;
    unsigned slot;                      /* of b */
    /* joined */
    const struct dff_node *equal;       /* e == b */
    const struct dff_node *place;       /* e */
    bool changes;                       /* what the port has takes part */
    bool widens;                        /* a count that becomes an i64: the same if it does not wrap, so if there are fewer
                                         * than 2^31 terms */
    /* running */
    int64_t from, more;                 /* at b = 0 there is one term at most: more <= from + 1 */
};

enum dff_pass dff_one_pass(const struct dff_kernel *kernel, const struct dff_formula *formula, struct dff_one_pass *pass);

#endif
