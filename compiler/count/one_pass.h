/* one_pass.h - recognises formulas that look like one reduction per output element but can be computed in a single pass
 * over the terms: histograms and running sums. The code generator emits the single pass (compiler/generate/one_pass.c for CPUs,
 * generate/pass_group.c for GPUs), and the operation count assumes it.
 *
 * Joined:   scatter, as in a histogram: o[…, b, …] = sum(ranges if e == b && rest: value) of integers; also count, min,
 *           max; and updates of an acc or an inout port: o[…, b, …] += count(ranges if e == b). The order of such terms
 *           does not matter, so each is added directly to element e.
 * Running:  prefix sums: o[…, b, …] = sum(i in from..b + more: value); also prod, min, max, count. Each element is its
 *           predecessor and one more term, in the order that the language guarantees, so the bits are the same.
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
