/* views_and_joins.c - adds the built-in nodes of divided graphs, for compiler/elab/divided.c: views, which give ranges of rows of a value, and joins, which
 * combine ranges into one value. */
#include <stdio.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/graph/builder_impl.h"

/* A kernel of n + 1 ports: the whole is first in a view, last in a join. It has no dimensions: formats of its ports tell works
 * apart. */
static int add_kernel(struct df_builder *b, const struct df_ranges *r, unsigned flag, uint32_t *kernel,
                      struct df_error *error)
{
    const bool view = flag == DF_KERNEL_VIEW;
    const unsigned whole = view ? 0 : r->n;
    struct df_port_desc ports[DF_MAX_PARTS + 1];
    char names[DF_MAX_PARTS + 1][16];
    for (unsigned p = 0; p <= r->n; p++) {
        snprintf(names[p], sizeof names[p], "part[%u]", view ? p - 1 : p);
        ports[p] = (struct df_port_desc){ names[p], view ? DF_OUT : DF_IN, r->elem, r->rank };
    }
    ports[whole].name = "whole";
    ports[whole].mode = view ? DF_IN : DF_OUT;
    const struct df_kernel_desc desc = { .name = r->name, .n_ports = r->n + 1, .ports = ports };
    int rc = df_builder_kernel(b, &desc, kernel, error);
    if (rc != DF_OK)
        return rc;
    dfr_b_kernels(b)[*kernel].flags = (uint16_t)flag;
    dfr_b_kernels(b)[*kernel].code_classes = 1u << DF_CLASS_CPU;
    return DF_OK;
}

/* Nodes that are divided in the same way share the kernel. */
static int get_kernel(struct df_builder *b, const struct df_ranges *r, unsigned flag, uint32_t *kernel,
                      struct df_error *error)
{
    for (uint32_t k = dfr_b_count(b, DFR_A_kernels); k-- > 0;) {
        const struct df_kernel *have = &dfr_b_kernels(b)[k];
        const struct df_kport *port = &dfr_b_kports(b)[have->first_port];
        if (have->flags == flag && have->n_ports == r->n + 1 && port->elem == r->elem && port->rank == r->rank &&
            strcmp(dfr_b_strings(b) + have->name, r->name) == 0) {
            *kernel = k;
            return DF_OK;
        }
    }
    return add_kernel(b, r, flag, kernel, error);
}

static int add_node(struct df_builder *b, const struct df_ranges *r, unsigned flag, const char *value_name,
                    uint32_t *node, struct df_error *error)
{
    static const double free_s[] = { 0 };
    uint64_t port_dims[DF_MAX_PARTS + 1][DF_MAX_RANK];
    const unsigned whole = flag == DF_KERNEL_VIEW ? 0 : r->n, first = flag == DF_KERNEL_VIEW ? 1 : 0;
    const char *names[DF_MAX_PARTS] = { value_name };
    struct df_node_desc desc = *r->of;
    if (r->n == 0 || r->n > DF_MAX_PARTS || r->rank == 0)
        return dfr_error(error, DF_E_ARGUMENT, "'%s': %u parts; 1 to %u are possible", r->name, r->n, DF_MAX_PARTS);
    int rc = get_kernel(b, r, flag, &desc.kernel, error);
    if (rc != DF_OK)
        return rc;
    memcpy(port_dims[whole], r->dims, r->rank * sizeof *r->dims);
    for (unsigned i = 0; i < r->n; i++) {
        memcpy(port_dims[first + i], r->dims, r->rank * sizeof *r->dims);
        port_dims[first + i][0] = r->rows[i];
    }
    desc.dims = NULL;
    desc.port_dims = (const uint64_t (*)[DF_MAX_RANK])port_dims;
    desc.scalars = NULL;
    desc.threads = 1;
    desc.cost_s = free_s;
    desc.n_cost = 1;
    desc.hint_class = -1;
    desc.depth = 0;
    desc.worker = false;
    desc.value_names = names;
    desc.exact = NULL;                  /* it is by out slot of the node that is divided */
    desc.part = NULL;
    return df_builder_node_desc(b, &desc, node, error);
}

static uint64_t row_bytes(const struct df_ranges *r)
{
    uint64_t bytes = df_elem_bytes(r->elem);
    for (unsigned d = 1; d < r->rank; d++)
        bytes *= r->dims[d];
    return bytes;
}

static uint32_t value_of(const struct df_builder *b, uint32_t node, unsigned slot)
{
    return dfr_b_nodes(b)[node].first_out + slot;
}

static void set_range(struct df_builder *b, uint32_t value, uint32_t whole, uint64_t offset)
{
    struct dfr_source *source = (struct dfr_source *)b->sources.items + value;
    source->whole = whole;
    source->offset = offset;
}

int df_builder_view(struct df_builder *b, const struct df_ranges *r, uint32_t from, unsigned from_slot, uint32_t *node,
                    struct df_error *error)
{
    int rc = add_node(b, r, DF_KERNEL_VIEW, NULL, node, error);
    if (rc == DF_OK)
        rc = df_builder_connect(b, from, from_slot, *node, 0, error);
    for (unsigned i = 0; rc == DF_OK && i < r->n; i++)
        set_range(b, value_of(b, *node, i), value_of(b, from, from_slot), r->first[i] * row_bytes(r));
    return rc;
}

int df_builder_join(struct df_builder *b, const struct df_ranges *r, const uint32_t *from, unsigned from_slot,
                    const char *value_name, uint32_t *node, struct df_error *error)
{
    int rc = add_node(b, r, DF_KERNEL_JOIN, value_name, node, error);
    for (unsigned i = 0; rc == DF_OK && i < r->n; i++) {
        rc = df_builder_connect(b, from[i], from_slot, *node, i, error);
        if (rc == DF_OK)
            set_range(b, value_of(b, from[i], from_slot), value_of(b, *node, 0), r->first[i] * row_bytes(r));
    }
    return rc;
}
