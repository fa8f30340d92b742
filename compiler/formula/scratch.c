/* scratch.c - adds to a kernel the scratch memory that its GPU code needs, as extents over its dimension variables, for grouped.c and compiler/fusion;
 * elab/to_builder.c evaluates the extents (formula.h). The graph has a tmp port for each, of jobs on devices only.
 */
#include <string.h>

#include "compiler/formula/build.h"

uint32_t dff_add_scratch(struct dff_build *b, struct dff_kernel *kernel, const struct dff_scratch *scratch)
{
    struct dff_scratch *all = dfc_alloc(b->u, (kernel->n_scratch + 1) * sizeof *all);
    if (!all)
        return DF_NONE;
    if (kernel->n_scratch)
        memcpy(all, kernel->scratch, kernel->n_scratch * sizeof *all);
    all[kernel->n_scratch] = *scratch;
    kernel->scratch = all;
    return kernel->n_scratch++;
}

/* At most DFF_MOST_NUMBER either way, so that no product overflows. */
static __int128 value_of(const struct dff_node *n, const uint64_t *dims)
{
    if (n->kind != DFF_OP)
        return n->kind == DFF_DIM ? (__int128)dims[n->number] : n->kind == DFF_CONST ? n->i : n->kind == DFF_CONVERT || n->kind == DFF_CAST ? value_of(n->args[0], dims) : 0;
    const __int128 most = DFF_MOST_NUMBER, a = value_of(n->args[0], dims), b = n->n_args > 1 ? value_of(n->args[1], dims) : 0;
    __int128 value = 0;
    switch (n->op) {
    case DFF_NEG: value = -a; break;
    case DFF_ADD: value = a + b; break;
    case DFF_SUB: value = a - b; break;
    case DFF_MUL: value = a * b; break;
    case DFF_DIV: value = b ? a / b : 0; break;
    case DFF_MOD: value = b ? a % b : 0; break;
    case DFF_MIN: value = a < b ? a : b; break;
    case DFF_MAX: value = a > b ? a : b; break;
    default: break;
    }
    return value > most ? most : value < -most ? -most : value;
}

int64_t dff_index_value(const struct dff_node *n, const uint64_t *dims) { return (int64_t)value_of(n, dims); }

uint64_t dff_extent_value(const struct dff_node *extent, const uint64_t *dims)
{
    const int64_t value = dff_index_value(extent, dims);
    return value > 0 ? (uint64_t)value : 0;
}
