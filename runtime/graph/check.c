/* check.c - verifies the invariants of a graph that graph.h lists. Debug builds call it after each build (finish.c) and cut (subgraph/cut.c), and image.c for
 * every image. After it has passed, no further checks are needed: no index is out of range, and no arc goes backwards.
 *
 * Each function checks one kind of record, and relies on what the function before it has checked.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/graph/expr.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/platform.h"

#define ALL_NODE_FLAGS (DF_NODE_ONCE | DF_NODE_INSERTED | DF_NODE_ZERO_COST | DF_NODE_FINAL | DF_NODE_RATED | DF_NODE_WORKER)

#define REQUIRE(condition, ...)                                 \
    do {                                                        \
        if (!(condition)) {                                     \
            dfr_error(error, DF_E_FORMAT, __VA_ARGS__);         \
            return false;                                       \
        }                                                       \
    } while (0)

/* Are items [first, first + n) within an array of `size`? */
static bool within(uint64_t first, uint64_t n, uint64_t size)
{
    return first <= size && n <= size - first;
}

static bool check_strings(const struct df_graph *g, struct df_error *error)
{
    REQUIRE(g->name, "the graph has no name");
    REQUIRE(g->n_string_bytes && !g->strings[0] && !g->strings[g->n_string_bytes - 1], "strings do not end");
    REQUIRE(g->n_classes >= 2 && g->n_classes <= DF_MAX_CLASSES, "%u classes", (unsigned)g->n_classes);
    for (uint32_t c = 0; c < g->n_classes; c++)
        REQUIRE(g->class_names[c] && g->class_names[c] < g->n_string_bytes, "class %u has no name", (unsigned)c);
    REQUIRE(!strcmp(g->strings + g->class_names[0], "cpu") && !strcmp(g->strings + g->class_names[1], "gpu"),
            "classes 0 and 1 are not cpu and gpu");
    return true;
}

static bool check_promises(const struct df_graph *g, struct df_error *error)
{
    for (uint32_t p = 0; p < g->n_promises; p++) {
        const struct df_promise *promise = &g->promises[p];
        REQUIRE(promise->kind < DF_N_PROMISE_KINDS && promise->unit < g->n_string_bytes && promise->bound > 0 && promise->bound <= DF_MOST_PROMISE &&
                    promise->confidence >= DF_LEAST_CONFIDENCE && promise->confidence <= DF_MOST_CONFIDENCE,
                "promise %u makes no sense", (unsigned)p);
    }
    return true;
}

static bool check_resources(const struct df_graph *g, struct df_error *error)
{
    REQUIRE(g->n_resources <= DF_MAX_RESOURCES, "%u resources", (unsigned)g->n_resources);
    for (uint32_t r = 0; r < g->n_resources; r++)
        REQUIRE(g->resources[r].name < g->n_string_bytes && g->resources[r].n >= 1 && g->resources[r].n <= DF_MAX_RESOURCE, "resource %u: no name, or none of it", (unsigned)r);
    for (uint32_t k = 0; k < g->n_kernels; k++)
        REQUIRE(g->n_resources == DF_MAX_RESOURCES || !(g->kernels[k].uses >> g->n_resources), "kernel %u uses a resource that is not there", (unsigned)k);
    return true;
}

/* ---- kernels ---- */

static bool check_ports(const struct df_graph *g, uint32_t k, struct df_error *error)
{
    const struct df_kernel *kernel = &g->kernels[k];
    int n_in = 0, n_out = 0, n_acc = 0;
    for (unsigned p = 0; p < kernel->n_ports; p++) {
        const struct df_kport *port = &g->kports[kernel->first_port + p];
        REQUIRE(port->name < g->n_string_bytes, "kernel %u, port %u: name out of range", (unsigned)k, p);
        REQUIRE(port->mode <= DF_ACC && port->elem < DF_N_ELEMS && port->rank <= DF_MAX_RANK,
                "kernel %u, port %u: no such format", (unsigned)k, p);
        bool in = port->mode == DF_IN || port->mode == DF_INOUT, acc = port->mode == DF_ACC;
        bool out = acc || port->mode == DF_OUT || port->mode == DF_INOUT;
        REQUIRE(port->in_slot == (in ? n_in++ : -1) && port->out_slot == (out ? n_out++ : -1),
                "kernel %u, port %u: slots out of order", (unsigned)k, p);
        n_acc += acc;
        REQUIRE(acc || !port->initial, "kernel %u, port %u: a first value, and no acc", (unsigned)k, p);
        REQUIRE(!port->only || (port->mode == DF_TMP && port->only <= 1 + DF_ON_DEVICE), "kernel %u, port %u: of one side only, and no scratch",
                (unsigned)k, p);
    }
    REQUIRE(kernel->n_in == n_in && kernel->n_out == n_out && kernel->n_acc == n_acc, "kernel %u: slots miscounted",
            (unsigned)k);
    REQUIRE(!n_acc || !(kernel->traits & (DF_ONCE | DF_STREAM | DF_RESTART)), "kernel %u: an acc in a kernel that is once or a stream",
            (unsigned)k);
    REQUIRE(!(kernel->flags & DF_KERNEL_RANGES) ||
                (n_in + n_out == kernel->n_ports && (kernel->flags & DF_KERNEL_VIEW ? n_in : n_out) == 1 &&
                 !kernel->n_dims && !kernel->n_scalars && !(kernel->flags & DF_KERNEL_COPY)),
            "kernel %u: not the shape of a view or a join", (unsigned)k);
    REQUIRE(!(kernel->flags & DF_KERNEL_COPY) ||
                (kernel->n_ports >= 2 && n_in == kernel->n_ports - 1 && n_out == 1 &&
                 g->kports[kernel->first_port + 1].mode == DF_OUT && kernel->n_dims == 1 && !kernel->n_scalars),
            "kernel %u: not the shape of a copy", (unsigned)k);
    return true;
}

static bool check_extents(const struct df_graph *g, uint32_t k, struct df_error *error)
{
    const struct df_kernel *kernel = &g->kernels[k];
    bool kept = kernel->first_extent != DF_NONE;
    REQUIRE(!kept || within(kernel->first_extent, (uint64_t)kernel->n_ports * DF_MAX_RANK, g->n_extents),
            "kernel %u: extents out of range", (unsigned)k);
    for (unsigned i = 0; i < kernel->n_ports * DF_MAX_RANK; i++) {
        const struct df_kport *port = &g->kports[kernel->first_port + i / DF_MAX_RANK];
        const struct df_extent *e = kept ? &g->extents[kernel->first_extent + i] : NULL;
        bool own = port->own >> i % DF_MAX_RANK & 1;
        REQUIRE(!e || !e->n_code || (i % DF_MAX_RANK < port->rank && within(e->first_code, e->n_code, g->n_code) &&
                                     df_expr_check(g->code + e->first_code, e->n_code, 0, kernel->n_dims)),
                "kernel %u: malformed extent", (unsigned)k);
        REQUIRE(!own || (port->mode == DF_OUT && df_extent_variable(g, kernel, i / DF_MAX_RANK, i % DF_MAX_RANK) != DF_NONE),
                "kernel %u: an extent that it cannot decide", (unsigned)k);
    }
    return true;
}

static bool check_kernels(const struct df_graph *g, struct df_error *error)
{
    uint32_t classes = (1u << g->n_classes) - 1;
    for (uint32_t k = 0; k < g->n_kernels; k++) {
        const struct df_kernel *kernel = &g->kernels[k];
        REQUIRE(kernel->name < g->n_string_bytes && kernel->file < g->n_string_bytes, "kernel %u: name out of range",
                (unsigned)k);
        REQUIRE(within(kernel->first_port, kernel->n_ports, g->n_kports) &&
                    within(kernel->first_dim, kernel->n_dims, g->n_dim_names) &&
                    within(kernel->first_scalar, kernel->n_scalars, g->n_kscalars),
                "kernel %u: ports, dimensions or scalars out of range", (unsigned)k);
        REQUIRE(!(kernel->traits & ~DF_ALL_TRAITS) && !(kernel->flags & ~(DF_KERNEL_COPY | DF_KERNEL_RANGES | DF_KERNEL_LOOP)) &&
                    !((kernel->code_classes | kernel->cost_classes) & ~classes),
                "kernel %u: unknown traits, flags or classes", (unsigned)k);
        for (unsigned i = 0; i < kernel->n_dims; i++)
            REQUIRE(g->dim_names[kernel->first_dim + i] < g->n_string_bytes, "kernel %u: name out of range",
                    (unsigned)k);
        for (unsigned i = 0; i < kernel->n_scalars; i++) {
            const struct df_kscalar *scalar = &g->kscalars[kernel->first_scalar + i];
            REQUIRE(scalar->name < g->n_string_bytes && scalar->type <= DF_S_STR, "kernel %u: scalar %u has no type",
                    (unsigned)k, i);
        }
        if (!check_ports(g, k, error) || !check_extents(g, k, error))
            return false;
        REQUIRE(!(kernel->traits & (DF_STREAM | DF_RESTART)) || (!kernel->n_in && !(kernel->traits & DF_ONCE)),
                "kernel %u: a stream with inputs, or once", (unsigned)k);
        REQUIRE(!(kernel->traits & DF_ZERO_EXTENTS) || (!kernel->n_out && !(kernel->traits & DF_ONCE) && !(kernel->code_classes & ~1u)),
                "kernel %u: called for extents of 0, with outputs, once or on devices", (unsigned)k);
    }
    return true;
}

/* ---- scalars ---- */

static bool check_scalars(const struct df_graph *g, struct df_error *error)
{
    for (uint32_t i = 0; i < g->n_args; i++)
        REQUIRE(g->args[i].name < g->n_string_bytes && g->args[i].str < g->n_string_bytes &&
                    g->args[i].help < g->n_string_bytes && g->args[i].type <= DF_S_STR &&
                    (g->args[i].type != DF_S_I32 || g->args[i].i == (int32_t)g->args[i].i),
                "arg %u: no such name, type or description", (unsigned)i);
    for (uint32_t i = 0; i < g->n_params; i++)
        REQUIRE(g->params[i].name < g->n_string_bytes && g->params[i].help < g->n_string_bytes,
                "param %u: name or description out of range", (unsigned)i);
    for (uint32_t i = 0; i < g->n_scalars; i++) {
        const struct df_scalar_value *scalar = &g->scalars[i];
        REQUIRE(scalar->type <= DF_S_STR && scalar->str < g->n_string_bytes, "scalar %u: no such type", (unsigned)i);
        REQUIRE(scalar->n_code || scalar->type != DF_S_I32 || scalar->i == (int32_t)scalar->i,
                "scalar %u: does not fit in i32", (unsigned)i);
        REQUIRE(within(scalar->first_code, scalar->n_code, g->n_code) &&
                    (!scalar->n_code ||
                     df_expr_check(g->code + scalar->first_code, scalar->n_code, g->n_string_bytes, g->n_args)),
                "scalar %u: malformed code", (unsigned)i);
    }
    return true;
}

/* ---- works ---- */

static bool check_sizes(const struct df_graph *g, uint32_t w, struct df_error *error)
{
    const struct df_work *work = &g->works[w];
    const struct df_kernel *kernel = &g->kernels[work->kernel];
    uint64_t tmp[2] = { 0 }, job = 0;
    for (unsigned p = 0; p < kernel->n_ports; p++) {
        const struct df_kport *port = &g->kports[kernel->first_port + p];
        const uint64_t *dims = g->port_dims + ((size_t)work->first_port + p) * DF_MAX_RANK;
        uint64_t bytes = df_elem_bytes(port->elem);
        bool overflow = false, empty = false;
        for (unsigned i = 0; i < DF_MAX_RANK; i++) {
            REQUIRE(i < port->rank || dims[i] == 1, "work %u, port %u: an extent past its rank", (unsigned)w, p);
            empty |= dims[i] == 0;
        }
        for (unsigned i = 0; i < port->rank && !empty; i++)
            overflow |= __builtin_mul_overflow(bytes, dims[i], &bytes);
        if (empty)
            bytes = 0;
        REQUIRE(!overflow && bytes <= INT64_MAX && g->port_bytes[work->first_port + p] == bytes,
                "work %u, port %u: its bytes are not its format's", (unsigned)w, p);
        for (int side = 0; side < 2 && port->mode == DF_TMP; side++)
            REQUIRE(!df_port_is_on(port, side) || (!__builtin_add_overflow(tmp[side], df_tmp_room(bytes), &tmp[side]) && tmp[side] <= INT64_MAX),
                    "work %u: too large", (unsigned)w);
        bytes = !df_port_is_on(port, DF_ON_HOST) ? 0 : port->mode == DF_TMP ? df_tmp_room(bytes) : bytes;
        REQUIRE(!__builtin_add_overflow(job, bytes, &job) && job <= INT64_MAX, "work %u: too large", (unsigned)w);
    }
    for (unsigned p = 0; kernel->flags & DF_KERNEL_COPY && p < kernel->n_ports; p++)
        REQUIRE(g->port_bytes[work->first_port + p] == g->dims[work->first_dim],
                "work %u: copies another number of bytes", (unsigned)w);
    REQUIRE(!memcmp(work->tmp_bytes, tmp, sizeof tmp) && work->job_bytes == job, "work %u: bytes miscounted", (unsigned)w);
    return true;
}

static bool check_works(const struct df_graph *g, struct df_error *error)
{
    for (uint32_t w = 0; w < g->n_works; w++) {
        const struct df_work *work = &g->works[w];
        REQUIRE(work->kernel < g->n_kernels && work->threads, "work %u: no kernel or no threads", (unsigned)w);
        const struct df_kernel *kernel = &g->kernels[work->kernel];
        REQUIRE(within(work->first_dim, kernel->n_dims, g->n_dims) &&
                    within(work->first_port, kernel->n_ports, g->n_wports) &&
                    within(work->first_scalar, kernel->n_scalars, g->n_node_scalars),
                "work %u: dimensions, ports or scalars out of range", (unsigned)w);
        for (unsigned i = 0; i < kernel->n_scalars; i++) {
            uint32_t scalar = g->node_scalars[work->first_scalar + i];
            REQUIRE(scalar < g->n_scalars && g->scalars[scalar].type == g->kscalars[kernel->first_scalar + i].type,
                    "work %u: scalar %u has another type", (unsigned)w, i);
        }
        if (!check_sizes(g, w, error))
            return false;
        for (uint32_t c = 0; c < g->n_classes; c++) {
            double cost_s = g->cost_s[(size_t)c * g->n_works + w];
            REQUIRE(isnan(cost_s) || (cost_s >= 0 && !isinf(cost_s) && (kernel->cost_classes & 1u << c)),
                    "work %u: a cost of %g on class %u", (unsigned)w, cost_s, (unsigned)c);
        }
    }
    return true;
}

/* ---- loops ---- */

static bool check_step(const struct df_graph *g, const struct df_loop *loop, const struct df_kernel *kernel, uint32_t s, struct df_error *error)
{
    const struct df_step *step = &g->steps[s];
    REQUIRE(step->kernel < g->n_kernels && !g->kernels[step->kernel].flags, "step %u: no kernel, or a built-in one", (unsigned)s);
    const struct df_kernel *k = &g->kernels[step->kernel];
    REQUIRE(within(step->first_dim, k->n_dims, kernel->n_dims) && within(step->first_scalar, k->n_scalars, kernel->n_scalars) &&
                within(step->first_port, k->n_ports, g->n_step_ports),
            "step %u: dimensions, scalars or ports out of range", (unsigned)s);
    for (unsigned i = 0; i < k->n_scalars; i++)
        REQUIRE(g->kscalars[k->first_scalar + i].type == g->kscalars[kernel->first_scalar + step->first_scalar + i].type,
                "step %u: scalar %u has another type", (unsigned)s, i);
    for (unsigned p = 0; p < k->n_ports; p++) {
        const struct df_kport *port = &g->kports[k->first_port + p];
        const struct df_step_port *to = &g->step_ports[step->first_port + p];
        REQUIRE(port->mode != DF_ACC && (to->reads < loop->n_tokens) == (port->in_slot >= 0) && (to->writes < loop->n_tokens) == (port->out_slot >= 0) &&
                    to->next <= 1,
                "step %u, port %u: wrong tokens", (unsigned)s, p);
    }
    return true;
}

static bool check_token(const struct df_graph *g, const struct df_kernel *kernel, uint32_t t, struct df_error *error)
{
    const struct df_loop_token *token = &g->loop_tokens[t];
    const bool in = token->in_port != DF_NONE, out = token->out_port != DF_NONE;
    REQUIRE(token->elem < DF_N_ELEMS && (!in || token->in_port < kernel->n_ports) && (!out || (token->carried && token->out_port == token->in_port)) &&
                (!token->carried || in),
            "token %u of a loop: no such port", (unsigned)t);
    return true;
}

static bool check_loop(const struct df_graph *g, uint32_t k, struct df_error *error)
{
    const struct df_kernel *kernel = &g->kernels[k];
    REQUIRE(kernel->loop < g->n_loops && kernel->n_ports && g->kports[kernel->first_port + kernel->n_ports - 1u].mode == DF_TMP,
            "kernel %u: not the shape of a loop", (unsigned)k);
    const struct df_loop *loop = &g->loops[kernel->loop];
    REQUIRE(within(loop->first_step, loop->n_steps, g->n_steps) && within(loop->first_token, loop->n_tokens, g->n_loop_tokens) &&
                within(loop->first_read, loop->n_reads, g->n_loop_reads) && within(loop->first_code, loop->n_code, g->n_code) &&
                loop->n_scalars <= kernel->n_scalars &&
                df_expr_check(g->code + loop->first_code, loop->n_code, g->n_string_bytes, loop->n_scalars + loop->n_reads),
            "kernel %u: its steps, tokens or condition are out of range", (unsigned)k);
    for (uint32_t i = 0; i < loop->n_reads; i++)
        REQUIRE(g->loop_reads[loop->first_read + i] < loop->n_tokens, "kernel %u: its condition reads no token", (unsigned)k);
    for (uint32_t t = 0; t < loop->n_tokens; t++)
        if (!check_token(g, kernel, loop->first_token + t, error))
            return false;
    for (uint32_t s = 0; s < loop->n_steps; s++)
        if (!check_step(g, loop, kernel, loop->first_step + s, error))
            return false;
    return true;
}

/* Do the places of tokens and scratch begin in the tmp port, and the tokens end there? */
static bool check_loop_work(const struct df_graph *g, uint32_t w, struct df_error *error)
{
    const struct df_kernel *kernel = &g->kernels[g->works[w].kernel];
    const struct df_loop *loop = &g->loops[kernel->loop];
    const uint64_t *bytes = g->port_bytes + g->works[w].first_port, room = bytes[kernel->n_ports - 1];
    for (uint32_t t = 0; t < loop->n_tokens; t++) {
        const struct df_loop_token *token = &g->loop_tokens[loop->first_token + t];
        const bool first = token->in_port == DF_NONE || (token->carried && token->out_port == DF_NONE);
        REQUIRE((!first || within(token->place[0], token->bytes, room)) && (!token->carried || within(token->place[1], token->bytes, room)) &&
                    (token->in_port == DF_NONE || bytes[token->in_port] == token->bytes) && (token->out_port == DF_NONE || bytes[token->out_port] == token->bytes),
                "work %u: token %u of its loop is out of range", (unsigned)w, (unsigned)t);
    }
    for (uint32_t s = loop->first_step; s < loop->first_step + loop->n_steps; s++)
        for (unsigned p = 0; p < g->kernels[g->steps[s].kernel].n_ports; p++)
            REQUIRE(g->step_ports[g->steps[s].first_port + p].place <= room, "work %u: scratch of step %u is out of range", (unsigned)w, (unsigned)s);
    return true;
}

static bool check_loops(const struct df_graph *g, struct df_error *error)
{
    for (uint32_t k = 0; k < g->n_kernels; k++)
        if (g->kernels[k].flags & DF_KERNEL_LOOP && !check_loop(g, k, error))
            return false;
    for (uint32_t w = 0; w < g->n_works; w++)
        if (g->kernels[g->works[w].kernel].flags & DF_KERNEL_LOOP && !check_loop_work(g, w, error))
            return false;
    return true;
}

/* ---- nodes ---- */

static bool check_scopes(const struct df_graph *g, struct df_error *error)
{
    REQUIRE(g->n_scopes && g->scopes[0].parent == DF_NONE, "scope 0 is not the main graph");
    for (uint32_t s = 0; s < g->n_scopes; s++) {
        const struct df_scope *scope = &g->scopes[s];
        REQUIRE(!s || scope->parent < s, "scope %u: its parent comes after it", (unsigned)s);
        REQUIRE(scope->name < g->n_string_bytes && within(scope->first_index, scope->n_indices, g->n_indices),
                "scope %u: name or indices out of range", (unsigned)s);
    }
    return true;
}

/* Checks the records of a node, without its arcs. Its in slots must begin at `in`, its out slots at `out`. */
static bool check_node(const struct df_graph *g, uint32_t v, uint64_t in, uint64_t out, struct df_error *error)
{
    const struct df_node *node = &g->nodes[v];
    REQUIRE(node->work < g->n_works && g->works[node->work].kernel == node->kernel, "node %u: no such work",
            (unsigned)v);
    const struct df_kernel *kernel = &g->kernels[node->kernel];
    REQUIRE(node->first_in == in && within(in, kernel->n_in, g->n_in_values) && node->first_out == out &&
                within(out, kernel->n_out, g->n_values),
            "node %u: its slots are not in order", (unsigned)v);
    REQUIRE(node->scope < g->n_scopes && within(node->first_index, node->n_indices, g->n_indices) &&
                node->file < g->n_string_bytes,
            "node %u: scope, indices or file out of range", (unsigned)v);
    REQUIRE(node->hint_class >= -1 && node->hint_class < (int)g->n_classes && !(node->flags & ~ALL_NODE_FLAGS) &&
                node->rate > 0 && !isinf(node->rate),
            "node %u: no such hint, flag or rate", (unsigned)v);
    REQUIRE(node->part == DF_NONE ||
                (node->part < g->n_parts && within(g->parts[node->part].first_port, kernel->n_ports, g->n_port_rows)),
            "node %u: no such part", (unsigned)v);
    REQUIRE(!(node->flags & DF_NODE_INSERTED) || (kernel->flags & DF_KERNEL_COPY), "node %u: inserted, but no copy",
            (unsigned)v);
    REQUIRE(node->stage <= DF_MAX_STAGES, "node %u: no such stage", (unsigned)v);
    REQUIRE(!node->live || (node->live <= g->n_live && kernel->traits & DF_STREAM && node->hint_class == DF_CLASS_CPU), "node %u: no live source",
            (unsigned)v);
    unsigned n_costs = 0;
    bool zero = true;
    for (uint32_t c = 0; c < g->n_classes; c++) {
        double cost_s = g->cost_s[(size_t)c * g->n_works + node->work];
        n_costs += !isnan(cost_s);
        zero &= isnan(cost_s) || cost_s <= 0;
    }
    REQUIRE(((node->flags & DF_NODE_ZERO_COST) != 0) == (zero && n_costs && !node->live), "node %u: wrong about costing nothing",
            (unsigned)v);
    return true;
}

static bool check_nodes(const struct df_graph *g, struct df_error *error)
{
    uint64_t in = 0, out = 0;
    REQUIRE(g->n_live <= DF_MAX_LIVE, "%u live sources", (unsigned)g->n_live);
    for (uint32_t i = 0; i < g->n_live; i++)
        REQUIRE(g->live[i].newest <= DF_MAX_NEWEST && g->live[i].every_s >= 0 && g->live[i].every_s < DF_LIMIT_JOB_S, "live source %u: no such number or time",
                (unsigned)i);
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        if (!check_node(g, v, in, out, error))
            return false;
        in += df_node_n_in(g, v);
        out += df_node_n_out(g, v);
    }
    REQUIRE(in == g->n_in_values && out == g->n_values, "slots of nodes miscounted");
    return true;
}

/* ---- values and arcs ---- */

static size_t work_port(const struct df_graph *g, uint32_t v, unsigned p)
{
    return (size_t)g->works[g->nodes[v].work].first_port + p;
}

static bool check_values(const struct df_graph *g, struct df_error *error)
{
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        const struct df_kernel *kernel = &g->kernels[g->nodes[v].kernel];
        for (unsigned p = 0; p < kernel->n_ports; p++) {
            const struct df_kport *port = &g->kports[kernel->first_port + p];
            if (port->in_slot >= 0)
                REQUIRE(g->in_value[g->nodes[v].first_in + (unsigned)port->in_slot] < g->n_values,
                        "node %u, input %d: no such value", (unsigned)v, port->in_slot);
            if (port->out_slot < 0)
                continue;
            const struct df_value *value = &g->values[g->nodes[v].first_out + (unsigned)port->out_slot];
            REQUIRE(value->producer == v && value->slot == port->out_slot && value->name < g->n_string_bytes &&
                        value->bytes == g->port_bytes[work_port(g, v, p)],
                    "node %u, output %d: not its value", (unsigned)v, port->out_slot);
            uint32_t taken =
                port->mode == DF_INOUT ? g->in_value[g->nodes[v].first_in + (unsigned)port->in_slot] : DF_NONE;
            REQUIRE(value->flags == (port->mode == DF_ACC                       ? DF_VALUE_ONCE | DF_VALUE_ACC
                                     : g->nodes[v].flags & DF_NODE_ONCE ? DF_VALUE_ONCE
                                                                        : 0),
                    "node %u, output %d: wrong flags", (unsigned)v, port->out_slot);
            REQUIRE(!(value->exact & ~(uint32_t)port->own), "node %u, output %d: an exact extent that its kernel does not decide",
                    (unsigned)v, port->out_slot);
            REQUIRE(value->taken_from == taken, "node %u, output %d: takes over another value", (unsigned)v,
                    port->out_slot);
        }
    }
    return true;
}

/* Does the node change this value in place, into a value of the same range? */
static bool takes_over(const struct df_graph *g, uint32_t v, uint32_t x)
{
    const uint32_t first = g->nodes[v].first_out;
    bool takes = false;
    for (uint32_t y = first; y < first + df_node_n_out(g, v); y++)
        takes |= g->values[y].taken_from == x && g->values[y].whole == g->values[x].whole;
    return takes;
}

/* Checks that a range is inside its whole, and that a view gives it or a join reads it. */
static bool check_range(const struct df_graph *g, uint32_t x, struct df_error *error)
{
    const struct df_value *value = &g->values[x], *whole = NULL;
    const struct df_node *maker;
    bool joined = false;
    if (value->whole == DF_NONE) {
        REQUIRE(value->offset == 0 && !(g->kernels[g->nodes[value->producer].kernel].flags & DF_KERNEL_VIEW),
                "value %u: no range", (unsigned)x);
        return true;
    }
    REQUIRE(value->whole < g->n_values && value->whole != x, "value %u: no such whole", (unsigned)x);
    whole = &g->values[value->whole];
    REQUIRE(whole->whole == DF_NONE && value->bytes <= whole->bytes &&
                value->offset <= whole->bytes - value->bytes,
            "value %u: not inside its whole", (unsigned)x);
    maker = &g->nodes[value->whole < x ? value->producer : whole->producer];
    if (value->whole < x) {
        REQUIRE(g->kernels[maker->kernel].flags & DF_KERNEL_VIEW && g->in_value[maker->first_in] == value->whole,
                "value %u: a range of what its view does not read", (unsigned)x);
        return true;
    }
    for (uint32_t r = value->first_reader; r < value->first_reader + value->n_readers; r++)
        joined |= g->readers[r].node == whole->producer || takes_over(g, g->readers[r].node, x);
    REQUIRE(joined && g->kernels[maker->kernel].flags & DF_KERNEL_JOIN, "value %u: no part of its join", (unsigned)x);
    return true;
}

static bool check_ranges(const struct df_graph *g, struct df_error *error)
{
    for (uint32_t x = 0; x < g->n_values; x++)
        if (!check_range(g, x, error))
            return false;
    return true;
}

/* Checks that every in slot is met exactly once: there are n_in_values readers; those of one value are strictly
 * increasing; each names a slot that reads this value. */
static bool check_readers(const struct df_graph *g, struct df_error *error)
{
    uint64_t first = 0;
    REQUIRE(g->n_readers == g->n_in_values, "readers miscounted");
    for (uint32_t x = 0; x < g->n_values; x++) {
        const struct df_value *value = &g->values[x];
        REQUIRE(value->first_reader == first && within(first, value->n_readers, g->n_readers),
                "value %u: its readers are not in order", (unsigned)x);
        for (uint32_t i = 0; i < value->n_readers; i++) {
            const struct df_reader *reader = &g->readers[first + i];
            REQUIRE(reader->node < g->n_nodes && reader->slot < df_node_n_in(g, reader->node) &&
                        g->in_value[g->nodes[reader->node].first_in + reader->slot] == x,
                    "value %u, reader %u: does not read it", (unsigned)x, (unsigned)i);
            REQUIRE(!i || reader[-1].node < reader->node ||
                        (reader[-1].node == reader->node && reader[-1].slot < reader->slot),
                    "value %u, reader %u: out of order", (unsigned)x, (unsigned)i);
        }
        first += value->n_readers;
    }
    REQUIRE(first == g->n_readers, "readers miscounted");
    return true;
}

static bool same_format(const struct df_graph *g, uint32_t v, unsigned p, uint32_t w, unsigned q)
{
    const struct df_kernel *a = &g->kernels[g->nodes[v].kernel], *b = &g->kernels[g->nodes[w].kernel];
    if ((a->flags | b->flags) & DF_KERNEL_COPY)
        return g->port_bytes[work_port(g, v, p)] == g->port_bytes[work_port(g, w, q)];
    const struct df_kport *from = &g->kports[a->first_port + p], *to = &g->kports[b->first_port + q];
    return from->elem == to->elem && from->rank == to->rank &&
           memcmp(g->port_dims + work_port(g, v, p) * DF_MAX_RANK, g->port_dims + work_port(g, w, q) * DF_MAX_RANK,
                  DF_MAX_RANK * sizeof(uint64_t)) == 0;
}

enum phase { EVERY_WAVE, BEFORE, AFTER };

static enum phase node_phase(const struct df_graph *g, uint32_t v)
{
    return !(g->nodes[v].flags & DF_NODE_ONCE) ? EVERY_WAVE : g->nodes[v].flags & DF_NODE_FINAL ? AFTER : BEFORE;
}

static enum phase value_phase(const struct df_graph *g, const struct df_value *value)
{
    return value->flags & DF_VALUE_ACC ? AFTER : node_phase(g, value->producer);
}

static bool check_arc(const struct df_graph *g, uint32_t v, unsigned p, struct df_error *error)
{
    const struct df_kport *port = &g->kports[g->kernels[g->nodes[v].kernel].first_port + p];
    const struct df_value *value = &g->values[g->in_value[g->nodes[v].first_in + (unsigned)port->in_slot]];
    REQUIRE(value->producer < v, "node %u, input %d: comes from a later node", (unsigned)v, port->in_slot);
    unsigned q = value->slot;           /* its port has this index or a higher one */
    while (g->kports[g->kernels[g->nodes[value->producer].kernel].first_port + q].out_slot != value->slot)
        q++;
    REQUIRE(same_format(g, v, p, value->producer, q), "node %u, input %d: another format than what it reads",
            (unsigned)v, port->in_slot);
    if (port->mode == DF_INOUT)
        REQUIRE(value->n_readers == 1 && (value_phase(g, value) != BEFORE || node_phase(g, v) == BEFORE),
                "node %u, input %d: changes a value under another reader", (unsigned)v, port->in_slot);
    return true;
}

static bool check_phase(const struct df_graph *g, uint32_t v, struct df_error *error)
{
    const struct df_kernel *kernel = &g->kernels[g->nodes[v].kernel];
    enum phase phase = node_phase(g, v);
    unsigned n[3] = { 0 };
    for (unsigned s = 0; s < kernel->n_in; s++)
        n[value_phase(g, &g->values[g->in_value[g->nodes[v].first_in + s]])]++;
    bool before = kernel->n_in && n[BEFORE] == kernel->n_in && !kernel->n_acc;
    REQUIRE(!(g->nodes[v].flags & DF_NODE_FINAL) || phase == AFTER, "node %u: final, but not once", (unsigned)v);
    REQUIRE(!kernel->n_acc || phase == EVERY_WAVE, "node %u: an acc, and no waves", (unsigned)v);
    if (g->nodes[v].flags & DF_NODE_INSERTED)   /* it fires with the node that it serves */
        REQUIRE(n[phase] || n[BEFORE], "node %u: fires before its input is there, or after", (unsigned)v);
    else if (kernel->traits & DF_ONCE)
        REQUIRE(phase == BEFORE && n[BEFORE] == kernel->n_in, "node %u: wrong about firing once", (unsigned)v);
    else
        REQUIRE(phase == (n[AFTER] ? AFTER : before ? BEFORE : EVERY_WAVE), "node %u: wrong about firing once",
                (unsigned)v);
    REQUIRE(!n[AFTER] || !n[EVERY_WAVE], "node %u: reads values of every wave beside final ones", (unsigned)v);
    return true;
}

static bool check_arcs(const struct df_graph *g, struct df_error *error)
{
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        const struct df_kernel *kernel = &g->kernels[g->nodes[v].kernel];
        for (unsigned p = 0; p < kernel->n_ports; p++)
            if (g->kports[kernel->first_port + p].in_slot >= 0 && !check_arc(g, v, p, error))
                return false;
        if (!check_phase(g, v, error))
            return false;
    }
    return true;
}

/* The one check that needs memory. Without memory it passes, because nobody uses these counts as indices. */
static bool check_node_counts(const struct df_graph *g, struct df_error *error)
{
    uint32_t *counts = calloc((size_t)g->n_works + 1, sizeof *counts), w = 0;
    if (!counts)
        return true;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        counts[g->nodes[v].work]++;
    while (w < g->n_works && counts[w] == g->works[w].n_nodes)
        w++;
    free(counts);
    REQUIRE(w == g->n_works, "work %u: its nodes are miscounted", (unsigned)w);
    return true;
}

bool df_graph_check(const struct df_graph *g, struct df_error *error)
{
    return check_strings(g, error) && check_resources(g, error) && check_promises(g, error) && check_kernels(g, error) && check_scalars(g, error) && check_works(g, error) &&
           check_loops(g, error) && check_scopes(g, error) && check_nodes(g, error) && check_values(g, error) && check_readers(g, error) &&
           check_arcs(g, error) && check_ranges(g, error) && check_node_counts(g, error);
}
