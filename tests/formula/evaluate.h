/* evaluate.h - the value of a lowered expression at one place. */
#ifndef FORMULA_EVALUATE_H
#define FORMULA_EVALUATE_H

#include "lower.h"

enum border { B_NONE, B_CLAMP, B_MIRROR, B_REFLECT, B_WRAP, B_NUMBER };

struct readable {               /* a port, as it was before the kernel began */
    struct oracle_array array;
    enum border border[DFL_MAX_RANK];
    struct number outside[DFL_MAX_RANK];
    const char *name;
};

struct frame {
    struct oracle *o;
    const int64_t *dims;
    const struct number *scalars;
    const struct readable *ports;
    int64_t slots[MAX_SLOTS];
};

struct number evaluate(struct frame *f, const struct node *a);

/* Where a border reads instead of `at`, which may be anywhere; `n` elements. Not for B_NONE and B_NUMBER. */
int64_t border_place(enum border border, int64_t at, int64_t n);

#endif
