/* graph.c - allocates and frees graphs, and answers queries about them and their element types (graph.h), for the compiler, the planners and the runtime.
 * builder.c and finish.c build a graph, image.c maps one from an image, and check.c verifies it. */
#include "runtime/graph/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/arrays.h"
#include "runtime/graph/expr.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"

#define INFO(field, type, count, factor, owns) \
    { #field, offsetof(struct df_graph, field), offsetof(struct df_graph, count), sizeof(type), factor, owns },
const struct dfr_array_info dfr_array_infos[DFR_N_ARRAYS] = { DFR_GRAPH_ARRAYS(INFO) };
#undef INFO

/* ---- arrays ---- */

uint64_t dfr_graph_array_count(const struct df_graph *g, unsigned a)
{
    const struct dfr_array_info *info = &dfr_array_infos[a];
    uint32_t count;
    memcpy(&count, (const char *)g + info->count_offset, sizeof count);
    return (uint64_t)count * (info->factor ? info->factor : g->n_classes);
}

void dfr_graph_array_set_count(struct df_graph *g, unsigned a, uint32_t count)
{
    memcpy((char *)g + dfr_array_infos[a].count_offset, &count, sizeof count);
}

const void *dfr_graph_array(const struct df_graph *g, unsigned a)
{
    const void *items;
    memcpy(&items, (const char *)g + dfr_array_infos[a].field_offset, sizeof items);
    return items;
}

void dfr_graph_array_set(struct df_graph *g, unsigned a, const void *items)
{
    memcpy((char *)g + dfr_array_infos[a].field_offset, &items, sizeof items);
}

bool dfr_graph_allocate(struct df_graph *g)
{
    size_t total = 1;
    for (unsigned a = 0; a < DFR_N_ARRAYS; a++) {
        size_t bytes;
        if (__builtin_mul_overflow(dfr_graph_array_count(g, a), dfr_array_infos[a].item_bytes, &bytes) ||
            __builtin_add_overflow(bytes, 63, &bytes) || __builtin_add_overflow(total, bytes & ~(size_t)63, &total))
            return false;
    }
    char *block = calloc(1, total);
    if (!block)
        return false;
    g->owner = block;
    for (unsigned a = 0; a < DFR_N_ARRAYS; a++) {
        dfr_graph_array_set(g, a, block);
        block += (dfr_graph_array_count(g, a) * dfr_array_infos[a].item_bytes + 63) & ~(size_t)63;
    }
    return true;
}

void df_graph_free(struct df_graph *graph)
{
    if (!graph)
        return;
    free((void *)graph->functions);
    free(graph->owner);
    free(graph);
}

/* ---- functions ---- */

/* The built-in copy on the host. It has one dimension: the number of bytes. */
static int copy_cpu(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                    const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)scalars;
    memcpy(ports[1], ports[0], dims[0]);
    return DF_OK;
}

/* The built-in view and join: their ports are in one memory. */
static int ranges_cpu(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                      const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims, (void)ports, (void)scalars;
    return DF_OK;
}

int dfr_graph_set_functions(struct df_graph *g, const struct df_functions *functions, size_t n, struct df_error *error)
{
    struct df_functions *own = calloc((size_t)g->n_kernels + 1, sizeof *own);
    if (!own)
        return dfr_error_memory(error);
    for (uint32_t k = 0; k < g->n_kernels; k++) {
        if (k < n)
            own[k] = functions[k];
        if (g->kernels[k].flags & DF_KERNEL_COPY)
            own[k].cpu = copy_cpu;
        if (g->kernels[k].flags & DF_KERNEL_RANGES)
            own[k].cpu = ranges_cpu;
    }
    free((void *)g->functions);
    g->functions = own;
    return DF_OK;
}

/* ---- elements ---- */

static const struct {
    const char *name, *type;            /* in dfc's language, in C */
    size_t bytes;
    enum df_elem elem;
} elems[] = {
#define DF_ELEMENT(ID, name, type, bytes, ...) { #name, #type, bytes, DF_##ID },
#include "runtime/elements.def"
};
_Static_assert(sizeof elems / sizeof *elems == DF_N_ELEMS, "elements.def and enum df_elem have as many types");

static const struct {
    const char *name, *type;
} scalars[] = {
#define DF_SCALAR(ID, name, type) [DF_S_##ID] = { #name, type },
#include "runtime/elements.def"
};

uint32_t df_extent_variable(const struct df_graph *g, const struct df_kernel *kernel, uint32_t port, unsigned i)
{
    const struct df_extent *e;
    if (kernel->first_extent == DF_NONE)
        return DF_NONE;
    e = &g->extents[kernel->first_extent + port * DF_MAX_RANK + i];
    return e->n_code == 2 && g->code[e->first_code] == DF_X_ARG ? (uint32_t)g->code[e->first_code + 1] : DF_NONE;
}

bool df_kernel_decides(const struct df_graph *g, const struct df_kernel *kernel, uint32_t dim)
{
    for (uint32_t i = 0; i < (uint32_t)kernel->n_ports * DF_MAX_RANK; i++)
        if (g->kports[kernel->first_port + i / DF_MAX_RANK].own >> i % DF_MAX_RANK & 1 &&
            df_extent_variable(g, kernel, i / DF_MAX_RANK, i % DF_MAX_RANK) == dim)
            return true;
    return false;
}

size_t df_elem_bytes(enum df_elem elem)
{
    return (unsigned)elem < DF_N_ELEMS ? elems[elem].bytes : 0;
}

const char *df_elem_name(enum df_elem elem)
{
    return (unsigned)elem < DF_N_ELEMS ? elems[elem].name : "?";
}

const char *df_elem_c_type(enum df_elem elem)
{
    return elems[elem].type;
}

bool df_elem_is_float(enum df_elem elem)
{
    return elem >= DF_F16;
}

const char *df_scalar_name(enum df_scalar_type type)
{
    return scalars[type].name;
}

const char *df_scalar_c_type(enum df_scalar_type type)
{
    return scalars[type].type;
}

uint32_t df_node_acc(const struct df_graph *g, uint32_t v, uint32_t i)
{
    const struct df_kport *port = g->kports + g->kernels[g->nodes[v].kernel].first_port;
    while (port->mode != DF_ACC || i-- > 0)
        port++;
    return g->nodes[v].first_out + (uint32_t)port->out_slot;
}

void df_acc_first(const struct df_graph *g, uint32_t x, void *memory)
{
    const struct df_value *value = &g->values[x];
    const struct df_kport *port = g->kports + g->kernels[g->nodes[value->producer].kernel].first_port;
    while (port->out_slot != value->slot)
        port++;
    size_t size = df_elem_bytes((enum df_elem)port->elem);
    if (!port->initial) {
        memset(memory, 0, value->bytes);
        return;
    }
    for (uint64_t at = 0; at < value->bytes; at += size)
        memcpy((char *)memory + at, &port->initial, size); /* the low bytes come first */
}

/* ---- names ---- */

struct text {
    char *buffer;
    size_t size, length;                /* length: of all the text so far, whether it fits or not */
};

static void put(struct text *text, const char *string)
{
    size_t n = strlen(string);
    if (text->length < text->size) {
        size_t room = text->size - 1 - text->length;
        size_t take = n < room ? n : room;
        memcpy(text->buffer + text->length, string, take);
        text->buffer[text->length + take] = '\0';
    }
    text->length += n;
}

static void put_part(const struct df_graph *g, struct text *text, uint32_t name, const int32_t *indices,
                     uint32_t n_indices, uint32_t ordinal)
{
    char number[24];
    put(text, df_graph_string(g, name));
    for (uint32_t i = 0; i < n_indices; i++) {
        snprintf(number, sizeof number, "%s%d", i ? "," : "[", (int)indices[i]);
        put(text, number);
    }
    if (n_indices)
        put(text, "]");
    if (ordinal) {
        snprintf(number, sizeof number, "#%u", (unsigned)ordinal);
        put(text, number);
    }
}

unsigned df_graph_nodes(const struct df_graph *graph)
{
    return graph->n_nodes;
}

size_t dfr_call_name(const struct df_graph *g, const struct df_node *n, const int32_t *indices, char *buffer,
                     size_t size)
{
    struct text text = { buffer, size, 0 };
    if (size)
        buffer[0] = '\0';
    unsigned depth = 0;
    for (uint32_t s = n->scope; s != DF_NONE; s = g->scopes[s].parent)
        depth++;
    while (depth--) {                   /* the outermost scope first; paths are short, so going up again for each is
                                         * cheap */
        uint32_t s = n->scope;
        for (unsigned i = 0; i < depth; i++)
            s = g->scopes[s].parent;
        const struct df_scope *scope = &g->scopes[s];
        put_part(g, &text, scope->name, scope->n_indices ? g->indices + scope->first_index : NULL, scope->n_indices, scope->ordinal);
        put(&text, "/");
    }
    put_part(g, &text, g->kernels[n->kernel].name, indices, n->n_indices, n->ordinal);
    if (n->part != DF_NONE && g->parts[n->part].n > 1) {
        char number[24];
        snprintf(number, sizeof number, ".part[%u]", (unsigned)g->parts[n->part].number);
        put(&text, number);
    }
    return text.length;
}

char *df_promise_text(const struct df_graph *g, uint32_t p, char *text, size_t size)
{
    const struct df_promise *promise = &g->promises[p];
    char bound[32];
    if (promise->kind == DF_PROMISE_RATE)
        snprintf(text, size, "rate >= %.6g / s", promise->bound);
    else if (promise->kind == DF_PROMISE_LATENCY)
        snprintf(text, size, "latency <= %s", dfr_text_seconds_6(promise->bound, bound, sizeof bound));
    else
        snprintf(text, size, "memory %s <= %s", df_graph_string(g, promise->unit), dfr_text_bytes((uint64_t)promise->bound, bound, sizeof bound));
    return text;
}

size_t df_node_name(const struct df_graph *g, uint32_t node, char *buffer, size_t size)
{
    const struct df_node *n = &g->nodes[node];
    return dfr_call_name(g, n, n->n_indices ? g->indices + n->first_index : NULL, buffer, size);
}

uint32_t df_graph_live(const struct df_graph *g)
{
    for (uint32_t v = 0; g->n_live > 0 && v < g->n_nodes; v++)
        if (g->nodes[v].live)
            return v;
    return DF_NONE;
}

bool df_graph_has_streams(const struct df_graph *g)
{
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (g->kernels[g->nodes[v].kernel].traits & DF_STREAM)
            return true;
    return false;
}
