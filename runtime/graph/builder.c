/* builder.c - the first part of the graph builder: adds the strings, classes, args, scopes and kernels that nodes refer to, and checks each as it is added. The
 * compiler (elab/, declare/, front/) calls it, and so may any program that builds graphs with df.h. nodes.c adds nodes and arcs; finish.c makes the graph. */
#include "runtime/graph/builder_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"


void *dfr_builder_add(struct df_builder *b, unsigned array, size_t count)
{
    return dfr_array_add(&b->arrays[array], dfr_array_infos[array].item_bytes, count);
}

struct df_graph dfr_builder_view(const struct df_builder *b)
{
    struct df_graph view = { .name = dfr_b_strings(b) + b->name };
    for (unsigned a = 0; a < DFR_N_ARRAYS; a++) {
        dfr_graph_array_set(&view, a, b->arrays[a].items);
        if (dfr_array_infos[a].owns_count)
            dfr_graph_array_set_count(&view, a, b->arrays[a].n);
    }
    return view;
}

size_t df_builder_node_name(const struct df_builder *b, uint32_t node, char *buffer, size_t size)
{
    struct df_graph view = dfr_builder_view(b);
    return df_node_name(&view, node, buffer, size);
}

/* ---- strings ---- */

static bool same_string(const void *context, uint32_t id, const void *key)
{
    return strcmp(dfr_b_strings(context) + id, key) == 0;
}

uint32_t df_builder_string(struct df_builder *b, const char *text)
{
    if (!text || !*text)
        return 0;
    size_t size = strlen(text) + 1;
    uint32_t hash = dfr_hash_fold(dfr_hash(0, text, size)), id;
    if (dfr_table_find(&b->string_ids, hash, same_string, b, text, &id))
        return id;
    id = dfr_b_count(b, DFR_A_strings);
    if (!dfr_table_reserve(&b->string_ids))
        return DF_NONE;
    char *copy = dfr_builder_add(b, DFR_A_strings, size);
    if (!copy)
        return DF_NONE;
    memcpy(copy, text, size);
    dfr_table_put(&b->string_ids, hash, id);
    return id;
}

/* ---- beginning and end ---- */

struct df_builder *df_builder_new(const char *name)
{
    struct df_builder *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->copy_kernel = DF_NONE;
    b->cost_s[DF_CLASS_CPU] = b->cost_s[DF_CLASS_GPU] = NAN;
    uint32_t id;
    if (!dfr_builder_add(b, DFR_A_strings, 1) || (b->name = df_builder_string(b, name)) == DF_NONE ||
        df_builder_class(b, "cpu", &id, NULL) != DF_OK || df_builder_class(b, "gpu", &id, NULL) != DF_OK ||
        df_builder_scope(b, DF_NONE, "main", 0, NULL, 0, &id, NULL) != DF_OK) {
        df_builder_free(b);
        return NULL;
    }
    return b;
}

void df_builder_free(struct df_builder *b)
{
    if (!b)
        return;
    for (unsigned a = 0; a < DFR_N_ARRAYS; a++)
        dfr_array_free(&b->arrays[a]);
    dfr_array_free(&b->functions);
    dfr_array_free(&b->costs);
    dfr_array_free(&b->work_costs);
    dfr_array_free(&b->inputs);
    dfr_array_free(&b->sources);
    dfr_array_free(&b->calls);
    dfr_table_free(&b->string_ids);
    dfr_table_free(&b->scalar_ids);
    dfr_table_free(&b->work_ids);
    free(b);
}

/* ---- classes, resources, args, params, scopes ---- */

int df_builder_resource(struct df_builder *b, const char *name, uint32_t n, struct df_error *error)
{
    uint32_t string = df_builder_string(b, name);
    if (dfr_b_count(b, DFR_A_resources) == DF_MAX_RESOURCES || n < 1 || n > DF_MAX_RESOURCE)
        return dfr_error(error, DF_E_ARGUMENT, "resource '%s': at most %u resources of 1 to %u jobs each are possible", name, DF_MAX_RESOURCES, DF_MAX_RESOURCE);
    struct df_resource *resource = string == DF_NONE ? NULL : dfr_builder_add(b, DFR_A_resources, 1);
    if (!resource)
        return dfr_error_memory(error);
    *resource = (struct df_resource){ string, n };
    return DF_OK;
}

int df_builder_promise(struct df_builder *b, enum df_promise_kind kind, const char *unit, double bound, double confidence, struct df_error *error)
{
    uint32_t string = df_builder_string(b, unit);
    if ((unsigned)kind >= DF_N_PROMISE_KINDS || !(bound > 0 && bound <= DF_MOST_PROMISE) || !(confidence >= DF_LEAST_CONFIDENCE && confidence <= DF_MOST_CONFIDENCE))
        return dfr_error(error, DF_E_ARGUMENT, "no such promise: its bound is above 0, and its confidence from %g to %g", DF_LEAST_CONFIDENCE, DF_MOST_CONFIDENCE);
    struct df_promise *promise = string == DF_NONE ? NULL : dfr_builder_add(b, DFR_A_promises, 1);
    if (!promise)
        return dfr_error_memory(error);
    *promise = (struct df_promise){ kind, string, bound, confidence };
    return DF_OK;
}

int df_builder_class(struct df_builder *b, const char *name, uint32_t *cls, struct df_error *error)
{
    uint32_t n = dfr_b_count(b, DFR_A_class_names), string = df_builder_string(b, name);
    if (string == DF_NONE)
        return dfr_error_memory(error);
    if (!string)
        return dfr_error(error, DF_E_ARGUMENT, "a class needs a name");
    for (uint32_t c = 0; c < n; c++)
        if (dfr_b_class_names(b)[c] == string) {
            *cls = c;
            return DF_OK;
        }
    if (n == DF_MAX_CLASSES)
        return dfr_error(error, DF_E_ARGUMENT, "class '%s' is one too many: there may be %d", name, DF_MAX_CLASSES);
    uint32_t *item = dfr_builder_add(b, DFR_A_class_names, 1);
    if (!item)
        return dfr_error_memory(error);
    *item = string;
    *cls = n;
    return DF_OK;
}

static uint32_t arg_string(struct df_builder *b, enum df_scalar_type type, union df_scalar value)
{
    return type == DF_S_STR ? df_builder_string(b, value.str) : 0;
}

void dfr_split_scalar(enum df_scalar_type type, union df_scalar value, int64_t *i, double *f)
{
    switch (type) {
    case DF_S_I32: *i = value.i32; break;
    case DF_S_I64: *i = value.i64; break;
    case DF_S_F32: *f = value.f32; break;
    case DF_S_F64: *f = value.f64; break;
    case DF_S_STR: break;
    }
}

int df_builder_arg(struct df_builder *b, const char *name, enum df_scalar_type type, bool has_default,
                   union df_scalar value, const char *help, struct df_error *error)
{
    if (!name || !*name || (unsigned)type > DF_S_STR)
        return dfr_error(error, DF_E_ARGUMENT, "an arg needs a name and a type");
    uint32_t name_id = df_builder_string(b, name), str = has_default ? arg_string(b, type, value) : 0;
    uint32_t help_id = df_builder_string(b, help);
    struct df_arg *arg = name_id == DF_NONE || str == DF_NONE || help_id == DF_NONE ? NULL : dfr_builder_add(b, DFR_A_args, 1);
    if (!arg)
        return dfr_error_memory(error);
    arg->name = name_id;
    arg->type = type;
    arg->has_default = has_default;
    arg->str = str;
    arg->help = help_id;
    if (has_default)
        dfr_split_scalar(type, value, &arg->i, &arg->f);
    return DF_OK;
}

int df_builder_param(struct df_builder *b, const char *name, int64_t value, const char *help, struct df_error *error)
{
    if (!name || !*name)
        return dfr_error(error, DF_E_ARGUMENT, "a param needs a name");
    uint32_t name_id = df_builder_string(b, name), help_id = df_builder_string(b, help);
    struct df_param *param = name_id == DF_NONE || help_id == DF_NONE ? NULL : dfr_builder_add(b, DFR_A_params, 1);
    if (!param)
        return dfr_error_memory(error);
    param->name = name_id;
    param->help = help_id;
    param->value = value;
    return DF_OK;
}

int dfr_builder_add_indices(struct df_builder *b, const int32_t *indices, unsigned n, uint32_t *first,
                            struct df_error *error)
{
    if (!n) {
        *first = 0;
        return DF_OK;
    }
    *first = dfr_b_count(b, DFR_A_indices);
    int32_t *items = dfr_builder_add(b, DFR_A_indices, n);
    if (!items)
        return dfr_error_memory(error);
    memcpy(items, indices, n * sizeof *items);
    return DF_OK;
}

int df_builder_scope(struct df_builder *b, uint32_t parent, const char *graph, uint32_t ordinal,
                     const int32_t *indices, unsigned n_indices, uint32_t *scope, struct df_error *error)
{
    uint32_t id = dfr_b_count(b, DFR_A_scopes);
    if (id ? parent >= id : parent != DF_NONE)
        return dfr_error(error, DF_E_ARGUMENT, "scope '%s' has no parent", graph ? graph : "");
    uint32_t name = df_builder_string(b, graph), first_index;
    if (name == DF_NONE)
        return dfr_error_memory(error);
    int rc = dfr_builder_add_indices(b, indices, n_indices, &first_index, error);
    if (rc != DF_OK)
        return rc;
    struct df_scope *item = dfr_builder_add(b, DFR_A_scopes, 1);
    if (!item)
        return dfr_error_memory(error);
    item->parent = parent;
    item->name = name;
    item->ordinal = ordinal;
    item->first_index = first_index;
    item->n_indices = n_indices;
    *scope = id;
    return DF_OK;
}

/* ---- kernels ---- */

static int check_kernel(const struct df_kernel_desc *desc, struct df_error *error)
{
    if (!desc->name || !*desc->name)
        return dfr_error(error, DF_E_ARGUMENT, "a kernel needs a name");
    if (desc->n_ports > DFR_MAX_PORTS || desc->n_dims > DFR_MAX_PORTS || desc->n_scalars > DFR_MAX_PORTS)
        return dfr_error(error, DF_E_ARGUMENT, "kernel '%s' has more than %d ports, dimensions or scalars", desc->name,
                         DFR_MAX_PORTS);
    if (desc->traits & ~(unsigned)DF_ALL_TRAITS)
        return dfr_error(error, DF_E_ARGUMENT, "kernel '%s' has unknown traits", desc->name);
    if ((desc->traits & DF_STREAM) && (desc->traits & DF_ONCE))
        return dfr_error(error, DF_E_ARGUMENT, "kernel '%s' is both stream and once", desc->name);
    if ((desc->traits & DF_RESTART) && (desc->traits & DF_ONCE))
        return dfr_error(error, DF_E_ARGUMENT, "kernel '%s' is both restart and once", desc->name);
    if ((desc->traits & DF_ZERO_EXTENTS) && (desc->traits & DF_ONCE || desc->functions.gpu))
        return dfr_error(error, DF_E_ARGUMENT, "kernel '%s' is called for extents of 0, and is once or has a gpu variant", desc->name);
    for (unsigned i = 0; i < desc->n_dims; i++)
        if (!desc->dims[i] || !*desc->dims[i])
            return dfr_error(error, DF_E_ARGUMENT, "kernel '%s': dimension %u has no name", desc->name, i);
    for (unsigned i = 0; i < desc->n_scalars; i++)
        if (!desc->scalars[i].name || !*desc->scalars[i].name || (unsigned)desc->scalars[i].type > DF_S_STR)
            return dfr_error(error, DF_E_ARGUMENT, "kernel '%s': scalar %u needs a name and a type", desc->name, i);
    for (unsigned i = 0; i < desc->n_ports; i++) {
        const struct df_port_desc *port = &desc->ports[i];
        if (!port->name || !*port->name)
            return dfr_error(error, DF_E_ARGUMENT, "kernel '%s': port %u has no name", desc->name, i);
        if ((unsigned)port->mode > DF_ACC || (unsigned)port->elem >= DF_N_ELEMS)
            return dfr_error(error, DF_E_ARGUMENT, "kernel '%s': port '%s' has an unknown mode or element type",
                             desc->name, port->name);
        if (port->rank > DF_MAX_RANK)
            return dfr_error(error, DF_E_ARGUMENT, "kernel '%s': port '%s' has %u dimensions; at most %d are possible",
                             desc->name, port->name, port->rank, DF_MAX_RANK);
        if (desc->traits & (DF_STREAM | DF_RESTART) && (port->mode == DF_IN || port->mode == DF_INOUT))
            return dfr_error(error, DF_E_ARGUMENT, "kernel '%s' is %s, so '%s' cannot be an input", desc->name,
                             desc->traits & DF_STREAM ? "a stream" : "restart", port->name);
        if (desc->traits & DF_ZERO_EXTENTS && port->mode != DF_IN && port->mode != DF_TMP)
            return dfr_error(error, DF_E_ARGUMENT, "kernel '%s' is called for extents of 0, so '%s' cannot be an output", desc->name, port->name);
        if (port->mode == DF_ACC && desc->traits & (DF_STREAM | DF_ONCE | DF_RESTART))
            return dfr_error(error, DF_E_ARGUMENT, "kernel '%s' is %s, so '%s' cannot be an acc port", desc->name,
                             desc->traits & DF_STREAM ? "a stream" : desc->traits & DF_ONCE ? "once" : "restart", port->name);
    }
    return DF_OK;
}

static void fill_ports(struct df_kernel *kernel, struct df_kport *ports, const struct df_kernel_desc *desc)
{
    for (unsigned i = 0; i < desc->n_ports; i++) {
        enum df_mode mode = desc->ports[i].mode;
        ports[i].mode = (uint8_t)mode;
        ports[i].elem = (uint8_t)desc->ports[i].elem;
        ports[i].rank = (uint8_t)desc->ports[i].rank;
        ports[i].in_slot = mode == DF_IN || mode == DF_INOUT ? (int16_t)kernel->n_in++ : -1;
        ports[i].out_slot = mode == DF_OUT || mode == DF_INOUT || mode == DF_ACC ? (int16_t)kernel->n_out++ : -1;
        kernel->n_acc += mode == DF_ACC;
    }
}

int df_builder_kernel(struct df_builder *b, const struct df_kernel_desc *desc, uint32_t *kernel, struct df_error *error)
{
    int rc = check_kernel(desc, error);
    if (rc != DF_OK)
        return rc;
    uint32_t id = dfr_b_count(b, DFR_A_kernels), first_port = dfr_b_count(b, DFR_A_kports);
    uint32_t first_dim = dfr_b_count(b, DFR_A_dim_names), first_scalar = dfr_b_count(b, DFR_A_kscalars);
    struct df_kport *ports = dfr_builder_add(b, DFR_A_kports, desc->n_ports);
    uint32_t *dims = dfr_builder_add(b, DFR_A_dim_names, desc->n_dims);
    struct df_kscalar *scalars = dfr_builder_add(b, DFR_A_kscalars, desc->n_scalars);
    struct df_functions *functions = dfr_array_add(&b->functions, sizeof *functions, 1);
    uint32_t name = df_builder_string(b, desc->name);
    bool memory = ports && dims && scalars && functions && name != DF_NONE;
    for (unsigned i = 0; memory && i < desc->n_ports; i++)
        memory = (ports[i].name = df_builder_string(b, desc->ports[i].name)) != DF_NONE;
    for (unsigned i = 0; memory && i < desc->n_dims; i++)
        memory = (dims[i] = df_builder_string(b, desc->dims[i])) != DF_NONE;
    for (unsigned i = 0; memory && i < desc->n_scalars; i++) {
        memory = (scalars[i].name = df_builder_string(b, desc->scalars[i].name)) != DF_NONE;
        scalars[i].type = desc->scalars[i].type;
    }
    struct df_kernel *k = memory ? dfr_builder_add(b, DFR_A_kernels, 1) : NULL;
    if (!k) {                           /* what was added of it is in no record, so nobody reads it */
        b->functions.n = id;
        return dfr_error_memory(error);
    }
    *functions = desc->functions;
    k->name = name;
    k->first_port = first_port;
    k->first_dim = first_dim;
    k->first_scalar = first_scalar;
    k->first_extent = DF_NONE;
    k->n_ports = (uint16_t)desc->n_ports;
    k->n_dims = (uint16_t)desc->n_dims;
    k->n_scalars = (uint16_t)desc->n_scalars;
    k->traits = (uint16_t)desc->traits;
    k->tolerance = desc->tolerance;
    k->code_classes = (uint16_t)((desc->functions.cpu ? 1u << DF_CLASS_CPU : 0) |
                                 (desc->functions.gpu || desc->functions.opencl ? 1u << DF_CLASS_GPU : 0));
    fill_ports(k, ports, desc);
    *kernel = id;
    return DF_OK;
}

int df_builder_initial(struct df_builder *b, uint32_t kernel, unsigned port, const void *element,
                       struct df_error *error)
{
    const struct df_kernel *k = kernel < dfr_b_count(b, DFR_A_kernels) ? &dfr_b_kernels(b)[kernel] : NULL;
    struct df_kport *p = k && port < k->n_ports ? &dfr_b_kports(b)[k->first_port + port] : NULL;
    if (!p || p->mode != DF_ACC || !element)
        return dfr_error(error, DF_E_ARGUMENT, "kernel %u has no acc port %u, or no element is given", (unsigned)kernel,
                         port);
    memcpy(&p->initial, element, df_elem_bytes((enum df_elem)p->elem)); /* this is a little-endian machine's layout */
    return DF_OK;
}

int df_builder_extents(struct df_builder *b, uint32_t kernel, const struct df_extent_desc *extents, struct df_error *error)
{
    if (kernel >= dfr_b_count(b, DFR_A_kernels))
        return dfr_error(error, DF_E_ARGUMENT, "no such kernel");
    uint32_t n_ports = dfr_b_kernels(b)[kernel].n_ports, first = dfr_b_count(b, DFR_A_extents);
    if (!dfr_builder_add(b, DFR_A_extents, (size_t)n_ports * DF_MAX_RANK))
        return dfr_error_memory(error);
    for (uint32_t i = 0; i < n_ports * DF_MAX_RANK; i++) {
        struct df_kport *port = &dfr_b_kports(b)[dfr_b_kernels(b)[kernel].first_port + i / DF_MAX_RANK];
        uint32_t first_code = dfr_b_count(b, DFR_A_code);
        uint64_t *code = dfr_builder_add(b, DFR_A_code, extents[i].n_code);
        if (!code)
            return dfr_error_memory(error);
        if (extents[i].n_code > 0)
            memcpy(code, extents[i].code, extents[i].n_code * sizeof *code);
        dfr_b_extents(b)[first + i] = (struct df_extent){ first_code, extents[i].n_code };
        port->own |= (uint8_t)(extents[i].own << i % DF_MAX_RANK);
    }
    dfr_b_kernels(b)[kernel].first_extent = first;
    return DF_OK;
}

int df_builder_kernel_info(struct df_builder *b, uint32_t kernel, const struct df_kernel_info *info,
                           struct df_error *error)
{
    uint32_t known = (1u << dfr_b_count(b, DFR_A_class_names)) - 1;
    if (kernel >= dfr_b_count(b, DFR_A_kernels) || ((info->code_classes | info->cost_classes) & ~known))
        return dfr_error(error, DF_E_ARGUMENT, "no such kernel or class");
    if (dfr_b_count(b, DFR_A_resources) < DF_MAX_RESOURCES && info->uses >> dfr_b_count(b, DFR_A_resources))
        return dfr_error(error, DF_E_ARGUMENT, "no such resource");
    uint32_t file = df_builder_string(b, info->file);
    if (file == DF_NONE)
        return dfr_error_memory(error);
    struct df_kernel *k = &dfr_b_kernels(b)[kernel];
    k->file = file;
    k->line = info->line;
    k->code_classes |= (uint16_t)info->code_classes;
    k->cost_classes |= (uint16_t)info->cost_classes;
    memcpy(k->code_hash, info->code_hash, sizeof k->code_hash);
    k->uses = info->uses;
    for (unsigned p = 0; info->split && p < k->n_ports; p++)
        dfr_b_kports(b)[k->first_port + p].split = info->split[p];
    for (unsigned p = 0; info->only && p < k->n_ports; p++)
        dfr_b_kports(b)[k->first_port + p].only = info->only[p];
    return DF_OK;
}
