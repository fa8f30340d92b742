/* arrays.h - X-macro list of the arrays of a graph. The builder fills them, graph.c allocates them, and image.c writes them and maps them from an image,
 * all from this one list.
 *
 * X(field, type, count, factor, owns): `field` is the field of struct df_graph. `type` is the type of an item. `count`
 * is the n_… field that counts the items. `factor` is the number of items per count (0: n_classes). `owns` says whether
 * this array is the one that defines the count.
 */
#ifndef DF_ARRAYS_H
#define DF_ARRAYS_H

#include "runtime/graph/graph.h"

#define DFR_GRAPH_ARRAYS(X)                                       \
    X(strings, char, n_string_bytes, 1, true)                     \
    X(class_names, uint32_t, n_classes, 1, true)                  \
    X(resources, struct df_resource, n_resources, 1, true)        \
    X(promises, struct df_promise, n_promises, 1, true)           \
    X(kernels, struct df_kernel, n_kernels, 1, true)              \
    X(kports, struct df_kport, n_kports, 1, true)                 \
    X(extents, struct df_extent, n_extents, 1, true)              \
    X(dim_names, uint32_t, n_dim_names, 1, true)                  \
    X(kscalars, struct df_kscalar, n_kscalars, 1, true)           \
    X(args, struct df_arg, n_args, 1, true)                       \
    X(params, struct df_param, n_params, 1, true)                 \
    X(code, uint64_t, n_code, 1, true)                            \
    X(scalars, struct df_scalar_value, n_scalars, 1, true)        \
    X(node_scalars, uint32_t, n_node_scalars, 1, true)            \
    X(works, struct df_work, n_works, 1, true)                    \
    X(dims, uint64_t, n_dims, 1, true)                            \
    X(port_bytes, uint64_t, n_wports, 1, true)                    \
    X(port_dims, uint64_t, n_wports, DF_MAX_RANK, false)          \
    X(cost_s, double, n_works, 0, false)                          \
    X(scopes, struct df_scope, n_scopes, 1, true)                 \
    X(indices, int32_t, n_indices, 1, true)                       \
    X(parts, struct df_part_rows, n_parts, 1, true)               \
    X(port_rows, uint64_t, n_port_rows, 1, true)                  \
    X(loops, struct df_loop, n_loops, 1, true)                    \
    X(steps, struct df_step, n_steps, 1, true)                    \
    X(step_ports, struct df_step_port, n_step_ports, 1, true)     \
    X(loop_tokens, struct df_loop_token, n_loop_tokens, 1, true)  \
    X(loop_reads, uint32_t, n_loop_reads, 1, true)                \
    X(nodes, struct df_node, n_nodes, 1, true)                    \
    X(live, struct df_live, n_live, 1, true)                      \
    X(in_value, uint32_t, n_in_values, 1, true)                   \
    X(values, struct df_value, n_values, 1, true)                 \
    X(readers, struct df_reader, n_readers, 1, true)

#define DFR_ENUM(field, type, count, factor, owns) DFR_A_##field,
enum { DFR_GRAPH_ARRAYS(DFR_ENUM) DFR_N_ARRAYS };
#undef DFR_ENUM

struct dfr_array_info {
    const char *name;
    size_t field_offset, count_offset;  /* in struct df_graph */
    size_t item_bytes;
    uint32_t factor;
    bool owns_count;
};

extern const struct dfr_array_info dfr_array_infos[DFR_N_ARRAYS];

/* Number of items of array `a`, by the graph's counts. */
uint64_t dfr_graph_array_count(const struct df_graph *g, unsigned a);
void dfr_graph_array_set_count(struct df_graph *g, unsigned a, uint32_t count);
const void *dfr_graph_array(const struct df_graph *g, unsigned a);
void dfr_graph_array_set(struct df_graph *g, unsigned a, const void *items);

/* Allocates all arrays of the graph as one zeroed block, by its counts. Returns false if out of memory. */
bool dfr_graph_allocate(struct df_graph *g);

/* Writes the readers of each value, in order of nodes and slots, from in_value. The values have none yet. */
void dfr_graph_write_readers(struct df_graph *g);

/* As df_node_name(), of a node that is perhaps not in the graph, with these loop indices. */
size_t dfr_call_name(const struct df_graph *g, const struct df_node *node, const int32_t *indices, char *buffer,
                     size_t size);

/* Attaches the functions of the first n kernels; kernels past n have none. The built-in copy gets its own function.
 * DF_E_MEMORY. */
int dfr_graph_set_functions(struct df_graph *g, const struct df_functions *functions, size_t n, struct df_error *error);

#endif
