/* kernel.h - what graph.c needs of kernel.c. */
#ifndef FORMULA_KERNEL_H
#define FORMULA_KERNEL_H

#include "lower.h"

struct piece {                 /* of what the oracle allocated */
    struct piece *next;
    max_align_t bytes[];
};

void oracle_free_to(struct oracle *o, const struct piece *kept); /* what was allocated after that */
const struct dfl_decl *oracle_callee(const struct oracle *o, const char *name); /* a kernel or graph; NULL: there is none */
bool kernel_shape(const struct kernel *k, const struct dfl_format *format, const int64_t *dims, struct oracle_array *array);
bool kernel_shapes(struct oracle *o, const struct dfl_sig *sig, const int64_t *dims, struct oracle_array *ports);
int64_t array_length(const struct oracle_array *array);
size_t array_bytes(const struct oracle_array *array);

/* An acc before the first wave: of the number that is written, or of what the reductions in its formulas give of nothing. */
void *kernel_acc(struct oracle *o, const struct dfl_kernel *kernel, const struct dfl_port *port, const struct oracle_array *array);

/* One wave. data[p] is the array of port p; an inout and an acc are changed where they are. */
bool kernel_run(struct oracle *o, const struct dfl_kernel *kernel, const int64_t *dims, const struct number *scalars, void *const *data);

#endif
