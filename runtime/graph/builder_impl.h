/* builder_impl.h - the state of the graph builder: what builder.c and nodes.c collect and finish.c turns into a graph. Private to these three files.
 *
 * Arrays:   `arrays` holds what the graph takes over as it is, by the list in arrays.h. cost_s, in_value, values and
 *           readers are not collected there, because finish.c makes them. `nodes` are in the order of addition.
 * Values:   The builder numbers them: value = nodes[v].first_out + out slot. `inputs` has one of these numbers, or
 *           DF_NONE, for each in slot, at nodes[v].first_in + in slot.
 */
#ifndef DF_BUILDER_IMPL_H
#define DF_BUILDER_IMPL_H

#include "runtime/graph/arrays.h"
#include "runtime/graph/builder.h"
#include "runtime/base/intern.h"

#define DFR_MAX_PORTS 1024              /* also the limit of dimension variables and of scalars of one kernel; slots are
                                         * int16_t */

struct dfr_work_cost {                  /* into costs: what nodes of this work cost; NaN at the end are left out */
    uint32_t first, n;
};

struct dfr_source {                     /* where a value comes from */
    uint32_t node, name;
    uint32_t kept;                      /* 1: df_builder_keep() was called for it */
    uint32_t exact;                     /* df_value.exact */
    uint32_t whole;                     /* df_value.whole, as the builder's number; DF_NONE */
    uint64_t offset;
};

struct dfr_calls {                      /* nodes of one kernel that df_builder_node() added to the main graph */
    uint32_t n, first;
};

struct df_builder {
    uint32_t name;
    struct dfr_array arrays[DFR_N_ARRAYS];
    struct dfr_array functions;         /* struct df_functions, by kernel */
    struct dfr_array costs;             /* double */
    struct dfr_array work_costs;        /* struct dfr_work_cost, by work */
    struct dfr_array inputs;            /* uint32_t */
    struct dfr_array sources;           /* struct dfr_source, by value */
    struct dfr_array calls;             /* struct dfr_calls, by kernel; it may have fewer items than there are
                                         * kernels */
    struct dfr_table string_ids, scalar_ids, work_ids;
    double cost_s[2];                   /* by class: cost of the nodes that df_builder_node() adds; NaN: not known */
    uint32_t copy_kernel;               /* DF_NONE until a copy is needed */
};

/* Typed access to the arrays: dfr_b_nodes(b)[v], with b->arrays[DFR_A_nodes].n items. */
#define DFR_ACCESS(field, type, count, factor, owns)                         \
    static inline type *dfr_b_##field(const struct df_builder *b)            \
    {                                                                        \
        return b->arrays[DFR_A_##field].items;                               \
    }
DFR_GRAPH_ARRAYS(DFR_ACCESS)
#undef DFR_ACCESS

static inline uint32_t dfr_b_count(const struct df_builder *b, unsigned array) { return b->arrays[array].n; }

/* Adds `count` zeroed items to an array of the graph. NULL: no memory. */
void *dfr_builder_add(struct df_builder *b, unsigned array, size_t count);
int dfr_builder_add_indices(struct df_builder *b, const int32_t *indices, unsigned n, uint32_t *first,
                            struct df_error *error);

/* Writes a scalar into the two fields of a graph record that hold it. The caller handles strings. */
void dfr_split_scalar(enum df_scalar_type type, union df_scalar value, int64_t *i, double *f);

/* Returns a temporary graph over the builder's arrays, for looking up names and ports. Invalid after the next addition. */
struct df_graph dfr_builder_view(const struct df_builder *b);

/* Makes the built-in select kernels available on all classes named so far. */
void dfr_builder_selects(struct df_builder *b);

/* Adds the built-in copy kernel, if there is none yet, and the work that copies `bytes` bytes. */
int dfr_builder_copy_work(struct df_builder *b, uint64_t bytes, uint32_t *work, struct df_error *error);

#endif
