/* to_builder.c - passes the elaborated program to the graph builder: first kernels, args and params, then each node, as
 * soon as its formats are known, with its scalars, costs and hints, and its parts if it is divided. front/front.c calls it
 * for kernels, dims.c for nodes, fuse.c for the kernels of groups.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/elab/elab.h"
#include "compiler/types/argument.h"
#include "compiler/types/launch.h"
#include "runtime/graph/builder.h"

static bool builder_failed(struct dfc_unit *u, struct dfl_loc loc, int rc, const struct df_error *error)
{
    if (rc == DF_E_MEMORY)
        return dfc_no_memory(u);
    dfl_error(u->sink, loc, "%s", error->text);
    return false;
}

/* ---- kernels, args, params ---- */

static enum df_mode port_mode(enum dfl_mode mode)
{
    static const enum df_mode modes[] = { [DFL_IN] = DF_IN, [DFL_OUT] = DF_OUT, [DFL_INOUT] = DF_INOUT,
                                          [DFL_TMP] = DF_TMP, [DFL_ACC] = DF_ACC };
    return modes[mode];
}

static unsigned traits(unsigned ast)
{
    return (ast & DFL_ORDERED ? DF_ORDERED : 0u) | (ast & DFL_STREAM ? DF_STREAM : 0u) |
           (ast & DFL_ONCE ? DF_ONCE : 0u) | (ast & DFL_SYNC ? DF_SYNC : 0u) | (ast & DFL_THREADS ? DF_THREADS : 0u) |
           (ast & DFL_RESTART ? DF_RESTART : 0u) | (ast & DFL_RESUME ? DF_RESUME : 0u) | (ast & DFL_ZERO_EXTENTS ? DF_ZERO_EXTENTS : 0u);
}

/* How many arrays of scratch the kernel's formulas need on a GPU. They are ports behind those of the signature. */
static unsigned n_scratch(const struct dfc_unit *u, const struct dfc_callee *callee)
{
    const struct dfc_kernel_code *codes = u->kernels.items;
    return callee->formula && !codes[callee->id].gpu ? callee->formula->n_scratch : 0;
}

/* Of scratch, the side of the jobs that it is for (df_kport.only). Strips of rows are for the CPU. */
static uint8_t side_of(const struct dfc_callee *callee, unsigned p)
{
    const struct dff_strips *strips = callee->formula ? callee->formula->strips : NULL;
    return p >= callee->sig.n_ports ? 1 + DF_ON_DEVICE : strips && strips->ring_rows[p] != DF_NONE ? 1 + DF_ON_HOST : 0;
}

/* bounds: what dfc_has_bounds() returns, which looks at all kernels. */
static bool fill_kernel(struct dfc_unit *u, const struct dfc_callee *callee, bool bounds)
{
    const struct dfc_sig *sig = &callee->sig;
    const char **dims = calloc(sig->n_variables + 1u, sizeof *dims);
    const unsigned n_ports = sig->n_ports + n_scratch(u, callee);
    struct df_port_desc *ports = calloc(n_ports + 1u, sizeof *ports);
    struct df_scalar_desc *scalars = calloc(sig->n_scalars + 1u, sizeof *scalars);
    uint8_t *split = calloc(n_ports + 1u, 1), *only = calloc(n_ports + 1u, 1);
    struct df_error error;
    uint32_t id;
    int rc = dims && ports && scalars && split && only ? DF_OK : DF_E_MEMORY;
    for (unsigned i = 0; rc == DF_OK && i < sig->n_variables; i++)
        dims[i] = sig->variables[i].name.text;
    for (unsigned i = 0; rc == DF_OK && i < sig->n_ports; i++)
        ports[i] = (struct df_port_desc){ sig->ports[i].ast->name.text, port_mode(sig->ports[i].ast->mode),
                                          sig->ports[i].elem, sig->ports[i].rank };
    for (unsigned i = sig->n_ports; rc == DF_OK && i < n_ports; i++) {
        const struct dff_scratch *scratch = &callee->formula->scratch[i - sig->n_ports];
        ports[i] = (struct df_port_desc){ scratch->name, DF_TMP, scratch->elem, scratch->rank };
    }
    for (unsigned i = 0; rc == DF_OK && i < n_ports; i++)
        only[i] = side_of(callee, i);
    for (unsigned i = 0; rc == DF_OK && i < sig->n_ports; i++)
        split[i] = sig->ports[i].split && sig->ports[i].ast->mode != DFL_TMP;
    for (unsigned i = 0; rc == DF_OK && i < sig->n_scalars; i++)
        scalars[i] = (struct df_scalar_desc){ sig->scalars[i]->name.text, dfc_scalar_type(sig->scalars[i]->type) };
    if (rc == DF_OK) {
        const struct df_kernel_desc desc = {
            .name = callee->name,
            .n_dims = sig->n_variables,
            .dims = dims,
            .n_ports = n_ports,
            .ports = ports,
            .n_scalars = sig->n_scalars,
            .scalars = scalars,
            .traits = traits(callee->kernel->traits) | (callee->launch[0] ? DF_LAUNCH : 0u),
            .tolerance = callee->tolerance,
        };
        const struct df_kernel_info info = {
            .file = dfl_sink_file_name(u->sink, callee->loc.file), .line = callee->loc.line,
            .code_classes = callee->code_classes, .cost_classes = callee->cost_classes,
            .code_hash = { callee->code_hash[0], callee->code_hash[1] },
            .uses = callee->uses,
            .split = split,
            .only = only,
        };
        rc = df_builder_kernel(u->builder, &desc, &id, &error);
        if (rc == DF_OK)
            rc = df_builder_kernel_info(u->builder, id, &info, &error);
        for (unsigned p = 0; rc == DF_OK && p < sig->n_ports; p++)
            if (sig->ports[p].initial)
                rc = df_builder_initial(u->builder, id, p, &sig->ports[p].initial, &error);
        if (rc == DF_OK && bounds)
            rc = dfc_fill_extents(u, callee, n_ports, id, &error);
    }
    free(dims);
    free(ports);
    free(scalars);
    free(split);
    free(only);
    return rc == DF_OK || builder_failed(u, callee->loc, rc, &error);
}

bool dfc_fill_kernel(struct dfc_unit *u, const struct dfc_callee *callee)
{
    return fill_kernel(u, callee, dfc_has_bounds(u));
}

static union df_scalar to_scalar(const struct dfc_value *value, enum df_scalar_type type)
{
    union df_scalar scalar = { .i64 = 0 };
    if (value->known)
        df_number_to_scalar(value->n, type, &scalar, NULL); /* cannot fail: it was converted before */
    return scalar;
}

/* The groups with numbers below `end`, from number *next of the groups on. */
static bool fill_groups(struct dfc_unit *u, uint32_t *next, uint32_t end, bool bounds)
{
    const struct dfu_group *const *groups = u->groups.items;
    for (; *next < u->groups.n && groups[*next]->callee->id < end; ++*next)
        if (!fill_kernel(u, groups[*next]->callee, bounds))
            return false;
    return true;
}

/* Kernels get the numbers that check_kernel.c gave them, in the order of declaration. */
bool dfc_fill_kernels(struct dfc_unit *u)
{
    struct df_error error;
    uint32_t group = 0;
    const bool bounds = dfc_has_bounds(u);
    for (uint32_t r = 0; r < u->resource_items.n; r++) {
        const struct dfc_resource *resource = &dfc_resources(u)[r];
        int rc = df_builder_resource(u->builder, resource->decl->name.text, resource->n, &error);
        if (rc != DF_OK)
            return builder_failed(u, resource->decl->loc, rc, &error);
    }
    for (uint32_t i = 0; i < u->callee_items.n; i++)
        if (dfc_callees(u)[i].kernel && (!fill_groups(u, &group, dfc_callees(u)[i].id, bounds) ||
                                         !fill_kernel(u, &dfc_callees(u)[i], bounds)))
            return false;
    if (!fill_groups(u, &group, DF_NONE, bounds))
        return false;
    for (uint32_t i = 0; i < u->param_items.n; i++) {
        const struct dfc_param *param = &dfc_params(u)[i];
        const char *name = param->decl->name.text;
        const char *help = param->decl->help ? param->decl->help->s : NULL;
        enum df_scalar_type type = dfc_scalar_type(param->decl->scalar);
        int rc = DF_OK;
        if (param->arg != DF_NONE)
            rc = df_builder_arg(u->builder, name, type, param->decl->value != NULL, to_scalar(&param->value, type),
                                help, &error);
        else if (param->decl->dynamic)
            rc = df_builder_param(u->builder, name, param->value.n.i, help, &error);
        if (rc != DF_OK)
            return builder_failed(u, param->decl->loc, rc, &error);
    }
    return true;
}

bool dfc_fill_promises(struct dfc_unit *u, const struct dfc_callee *graph)
{
    struct df_error error;
    for (uint32_t p = 0; p < graph->n_promises; p++) {
        const struct dfc_promise *promise = &graph->promises[p];
        int rc = df_builder_promise(u->builder, promise->kind, promise->unit, promise->bound, graph->confidence, &error);
        if (rc != DF_OK)
            return builder_failed(u, promise->loc, rc, &error);
    }
    return true;
}

/* ---- scopes ---- */

unsigned dfc_loop_indices(const struct dfc_env *env, int32_t indices[DFC_MAX_LOOPS])
{
    unsigned n = env ? env->depth : 0;
    for (unsigned i = n; i-- > 0; env = env->outer)
        indices[i] = (int32_t)env->value;
    return n;
}

bool dfc_fill_begin(struct dfc_fill *fill, struct dfc_elab *e)
{
    struct df_error error;
    *fill = (struct dfc_fill){ .e = e, .step_item = DF_NONE };
    fill->node = malloc(((size_t)e->items.n + 1) * sizeof *fill->node);
    fill->scope = calloc((size_t)e->frames.n + 1, sizeof *fill->scope);
    fill->moved = e->use || e->loops.n ? malloc(((size_t)e->values.n + 1) * sizeof *fill->moved) : NULL;
    fill->costs = calloc((size_t)e->items.n + 1, 1);
    if (!fill->node || !fill->scope || !fill->costs || ((e->use || e->loops.n) && !fill->moved))
        return dfc_no_memory(e->u);
    if (fill->moved)
        memset(fill->moved, 0xff, ((size_t)e->values.n + 1) * sizeof *fill->moved); /* DF_NONE */
    for (uint32_t f = 1; f < e->frames.n; f++) {        /* frame 0 is main, and so is scope 0 */
        const struct dfc_frame *frame = &dfc_frames(e)[f];
        const struct dfc_item *item = &dfc_items(e)[frame->item];
        int32_t indices[DFC_MAX_LOOPS];
        unsigned n = dfc_loop_indices(item->env, indices);
        int rc = df_builder_scope(e->u->builder, fill->scope[frame->parent], frame->graph->name, item->ordinal,
                                  indices, n, &fill->scope[f], &error);
        if (rc != DF_OK)
            return builder_failed(e->u, item->stmt->call_loc, rc, &error);
    }
    return true;
}

void dfc_fill_free(struct dfc_fill *fill)
{
    free(fill->node);
    free(fill->scope);
    free(fill->moved);
    free(fill->costs);
    free(fill->divided);
    dfr_array_free(&fill->steps);
    dfr_array_free(&fill->views);
    *fill = (struct dfc_fill){ 0 };
}

/* ---- nodes ---- */

static bool build_scalar(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_stmt *stmt,
                         const struct dfc_callee *callee, unsigned i, uint32_t *id)
{
    const struct dfl_expr *expr = dfc_call_scalar(stmt, &callee->sig, i);
    enum df_scalar_type type = dfc_scalar_type(callee->sig.scalars[i]->type);
    struct df_error error;
    struct dfc_value value;
    char what[600];
    snprintf(what, sizeof what, "scalar '%s' of '%s'", callee->sig.scalars[i]->name.text, callee->name);
    const struct dfc_names global = { .use = DFC_USE_SCALAR };
    if (!dfc_fold(u, i < callee->sig.n_given ? names : &global, expr, &value) ||
        !dfc_convert(u, expr->loc, what, callee->sig.scalars[i]->type, &value))
        return false;
    int rc = value.known ? df_builder_constant(u->builder, type, to_scalar(&value, type), id, &error)
                         : df_builder_expression(u->builder, type, value.code, value.n_code, id, &error);
    return rc == DF_OK || builder_failed(u, expr->loc, rc, &error);
}

static bool build_costs(struct dfc_unit *u, const struct dfl_stmt *stmt, const struct dfc_callee *callee,
                        const struct dfc_solved *solved, double cost_s[DF_MAX_CLASSES])
{
    const struct dfc_names names = { .use = DFC_USE_COST, .callee = callee, .dims = solved->dims };
    for (unsigned c = 0; c < DF_MAX_CLASSES; c++) {
        struct dfc_value value;
        cost_s[c] = (double)NAN;
        if (!callee->cost[c])
            continue;
        if (!dfc_fold(u, &names, callee->cost[c], &value) || !dfc_cost_check(u, callee->cost[c], value.n.f)) {
            dfl_note(u->sink, stmt->call_loc, "in this use of '%s'", callee->name);
            return false;
        }
        cost_s[c] = value.n.f;
    }
    return true;
}

static bool build_threads(struct dfc_unit *u, const struct dfl_stmt *stmt, const struct dfc_callee *callee,
                          const struct dfc_solved *solved, uint32_t *threads)
{
    const struct dfc_names names = { .use = DFC_USE_THREADS, .callee = callee, .dims = solved->dims };
    const struct dfl_expr *e = callee->kernel->threads;
    int64_t n = 1;
    bool known;
    if (e && !dfc_fold_int(u, &names, e, &n, &known)) {
        dfl_note(u->sink, stmt->call_loc, "in this use of '%s'", callee->name);
        return false;
    }
    if (n < 1 || n > 65535) {
        dfl_error(u->sink, e->loc, "a kernel must have from 1 to 65535 threads, but this is %lld", (long long)n);
        dfl_note(u->sink, stmt->call_loc, "in this use of '%s'", callee->name);
        return false;
    }
    *threads = (uint32_t)n;
    return true;
}

/* Memory for the description of one node; needed for kernels with many ports. */
struct scratch {
    uint32_t *scalars;
    const char **names;
    char (*texts)[300];
    uint32_t *values;                   /* by out slot */
};

static bool scratch_make(struct scratch *s, const struct dfc_sig *sig)
{
    *s = (struct scratch){ malloc((sig->n_scalars + 1u) * sizeof *s->scalars),
                           malloc((sig->n_out + 1u) * sizeof *s->names),
                           malloc((sig->n_out + 1u) * sizeof *s->texts),
                           malloc((sig->n_out + 1u) * sizeof *s->values) };
    return s->scalars && s->names && s->texts && s->values;
}

static void scratch_free(struct scratch *s)
{
    free(s->scalars);
    free(s->names);
    free(s->texts);
    free(s->values);
}

static void name_value(const struct dfc_elab *e, uint32_t value, unsigned slot, struct scratch *scratch)
{
    uint32_t stream = dfc_outputs(e)[value].stream;
    scratch->names[slot] = NULL;
    if (stream == DF_NONE)
        return;
    dfc_stream_print(e, stream, scratch->texts[slot], sizeof scratch->texts[slot]);
    scratch->names[slot] = scratch->texts[slot];
}

static void name_values(const struct dfc_elab *e, const struct dfc_item *item, struct scratch *scratch)
{
    for (unsigned i = 0; i < item->callee->sig.n_out; i++)
        name_value(e, item->first_out + i, i, scratch);
}

/* Connects what a node reads, n values, by in slot. */
static bool connect(struct dfc_fill *fill, const uint32_t *values, unsigned n, uint32_t node, struct dfl_loc loc)
{
    const struct dfc_elab *e = fill->e;
    struct df_error error;
    for (unsigned i = 0; i < n && fill->step_item == DF_NONE; i++) { /* a step is connected with its loop */
        uint32_t from, slot;
        if (!dfc_fill_from(fill, values[i], &from, &slot))
            return false;
        int rc = df_builder_connect(e->u->builder, from, slot, node, i, &error);
        if (rc != DF_OK)
            return builder_failed(e->u, loc, rc, &error);
    }
    return true;
}

/* Where and how a node is called. */
static void describe_call(const struct dfc_fill *fill, const struct dfc_item *item, const struct scratch *scratch,
                          struct df_node_desc *desc, int32_t indices[DFC_MAX_LOOPS])
{
    const struct dfc_unit *u = fill->e->u;
    const struct dfl_loc loc = item->stmt->call_loc;
    desc->scalars = scratch->scalars;
    desc->n_cost = u->classes.names.n;
    desc->scope = fill->scope[item->frame];
    desc->indices = indices;
    desc->n_indices = dfc_loop_indices(item->env, indices);
    desc->file = dfl_sink_file_name(u->sink, loc.file);
    desc->line = loc.line;
    desc->col = loc.col;
    desc->stage = fill->e->stage ? fill->e->stage[item - dfc_items(fill->e)] : 0;
}

static bool add_node(struct dfc_fill *fill, const struct dfc_solved *solved, const struct df_node_desc *desc,
                     struct dfl_loc loc, uint32_t *node)
{
    struct df_node_desc own = *desc;
    struct df_error error;
    own.dims = solved->dims;
    own.port_dims = solved->port_dims;
    if (fill->step_item != DF_NONE) {
        const struct dfc_callee *callee = dfc_items(fill->e)[fill->step_item].callee;
        *node = DF_NONE;
        return dfc_step_add(fill, &own, callee->sig.n_ports + n_scratch(fill->e->u, callee));
    }
    int rc = df_builder_node_desc(fill->e->u->builder, &own, node, &error);
    if (rc != DF_OK)
        return builder_failed(fill->e->u, loc, rc, &error);
    fill->n_nodes++;
    return true;
}

/* ---- a node that has one part or several ---- */

/* A call that becomes nodes: of a kernel, or of a group of them. */
struct call {
    const struct dfc_item *item;        /* the one that says where */
    const struct dfc_callee *callee;
    const struct dfc_solved *solved;
    const struct dfc_rows *rows;
    const uint32_t *in, *out;           /* values, by slot */
    const struct dfc_joined *use;       /* of a group; else NULL */
    const uint64_t *const *member_dims; /* of a group */
};

static bool part_costs(struct dfc_fill *fill, const struct call *call, const struct dfc_part *part,
                       double cost_s[DF_MAX_CLASSES], bool *any);

/* Notes whether the call's items take time. */
static void note_costs(struct dfc_fill *fill, const struct call *call, bool any, const double cost_s[DF_MAX_CLASSES])
{
    bool costs = !any;
    for (unsigned c = 0; c < DF_MAX_CLASSES; c++)
        costs |= cost_s[c] > 0;
    fill->costs[call->item - dfc_items(fill->e)] |= costs;
    for (unsigned m = 0; call->use && m < call->use->group->wiring.n; m++)
        fill->costs[call->use->items[m]] |= costs;
}

/* Scratch is as large as the plane of a stream inside the group, or as it says itself. */
static void scratch_extents(const struct call *call, unsigned k, const struct dfc_part *part, uint64_t extents[DF_MAX_RANK])
{
    const struct dff_scratch *scratch = &call->callee->formula->scratch[k];
    const struct dff_strips *strips = call->callee->formula->strips;
    unsigned p = 0;
    while (strips && p < call->callee->sig.n_ports && strips->plane_of[p] != k)
        p++;
    const bool plane = strips && p < call->callee->sig.n_ports;
    for (unsigned d = 0; d < scratch->rank; d++)
        extents[d] = plane               ? call->rows->formats[p].dims[d]
                     : scratch->extents[d] ? dff_extent_value(scratch->extents[d], part->solved.dims)
                                           : dff_group_scratch(call->callee->formula, part->solved.dims);
    if (plane && part->rows.n > 1)
        extents[0] = dfu_plane_rows(call->rows->group, call->rows->formats,
                                    (struct df_rows){ (int64_t)part->rows.first, (int64_t)(part->rows.first + part->rows.rows) }, p);
}

/* Puts the extents of scratch behind those of the signature's ports. */
static bool add_scratch(struct dfc_unit *u, const struct call *call, struct dfc_part *part)
{
    const unsigned n = call->callee->sig.n_ports, more = n_scratch(u, call->callee);
    uint64_t (*port_dims)[DF_MAX_RANK] = more ? dfc_alloc(u, (n + more) * sizeof *port_dims) : NULL;
    uint64_t *port_rows = more && part->port_rows ? dfc_alloc(u, (n + more) * sizeof *port_rows) : NULL;
    if (more && (!port_dims || (part->port_rows && !port_rows)))
        return false;
    if (port_dims) {
        memcpy(port_dims, part->solved.port_dims, n * sizeof *port_dims);
        part->solved.port_dims = (const uint64_t (*)[DF_MAX_RANK])port_dims;
    }
    if (port_rows)
        part->port_rows = memcpy(port_rows, part->port_rows, n * sizeof *port_rows);
    for (unsigned k = 0; k < more; k++)
        scratch_extents(call, k, part, port_dims[n + k]);
    return true;
}

/* Adds part k, or the whole node if `divide` has no parts. */
static bool add_part(struct dfc_fill *fill, const struct call *call, const struct dfc_divide *divide, unsigned k,
                     uint32_t *node)
{
    struct dfc_unit *u = fill->e->u;
    const struct dfl_stmt *stmt = call->item->stmt;
    struct dfc_part part = { .solved = *call->solved };
    struct df_node_desc desc = *divide->desc;
    double cost_s[DF_MAX_CLASSES];
    bool any_cost;
    if (divide->parts && !dfc_parts_solve(u, divide, call->solved, k, &part))
        return false;
    if (!add_scratch(u, call, &part) || !part_costs(fill, call, &part, cost_s, &any_cost))
        return false;
    if (!call->use && (!build_threads(u, stmt, call->callee, &part.solved, &desc.threads) ||
                       !dfc_launch_check_use(u, stmt, call->callee, part.solved.dims) ||
                       !dfc_arguments_check_use(u, stmt, call->callee, part.solved.dims)))
        return false;
    note_costs(fill, call, any_cost, cost_s);
    desc.cost_s = any_cost ? cost_s : NULL;
    desc.part = divide->parts ? &part.rows : NULL;
    desc.port_rows = part.port_rows;
    if (part.rows.n > 1)
        desc.value_names = NULL;
    return add_node(fill, &part.solved, &desc, stmt->call_loc, node);
}

/* Connects all parts, and says what they make. */
static bool wire_parts(struct dfc_fill *fill, const struct call *call, const struct dfc_divide *divide,
                       const struct scratch *scratch)
{
    const struct dfc_sig *sig = &call->callee->sig;
    for (unsigned i = 0; i < sig->n_in; i++)
        if (!dfc_parts_connect(fill, divide, sig->in_port[i], call->in[i], call->solved->port_dims[sig->in_port[i]]))
            return false;
    for (unsigned i = 0; i < sig->n_out; i++)
        if (!dfc_parts_made(fill, divide, sig->out_port[i], call->out[i], scratch->names[i],
                            call->solved->port_dims[sig->out_port[i]]))
            return false;
    return true;
}

/* *node: the number of the node, or of its first part. */
static bool add_call(struct dfc_fill *fill, const struct call *call, const struct dfc_hints *hints,
                     const struct scratch *scratch, struct df_node_desc *desc, uint32_t *node)
{
    struct dfc_divide divide = { .callee = call->callee, .rows = call->rows, .desc = desc };
    struct dfc_parts *parts = NULL;
    int32_t indices[DFC_MAX_LOOPS];
    describe_call(fill, call->item, scratch, desc, indices);
    if (!dfc_parts_choose(fill, call->rows, desc, hints, call->item->stmt->call_loc, &parts))
        return false;
    divide.parts = parts;
    const unsigned n = parts ? parts->n : 1;
    divide.nodes = dfc_alloc(fill->e->u, n * sizeof *divide.nodes);
    desc->value_names = scratch->names;
    for (unsigned k = 0; k < n; k++)
        if (!divide.nodes || !add_part(fill, call, &divide, k, &divide.nodes[k]))
            return false;
    *node = divide.nodes[0];
    return n > 1 ? wire_parts(fill, call, &divide, scratch)
                 : connect(fill, call->in, call->callee->sig.n_in, *node, call->item->stmt->call_loc);
}

/* By out slot: the extents that the kernel decides, and for which the call says a number. NULL: no memory. */
static const uint8_t *exact_extents(struct dfc_unit *u, const struct dfc_sig *sig, const struct dfc_solved *solved)
{
    uint8_t *exact = dfc_alloc(u, sig->n_out + 1u);
    for (unsigned i = 0; exact && i < sig->n_out; i++)
        for (unsigned d = 0; d < sig->ports[sig->out_port[i]].rank; d++)
            if (sig->ports[sig->out_port[i]].dims[d].own && !(solved->port_bounded[sig->out_port[i]] >> d & 1))
                exact[i] |= (uint8_t)(1u << d);
    return exact;
}

static bool build_node(struct dfc_fill *fill, uint32_t id, const struct dfc_solved *solved, const struct dfc_rows *rows,
                       struct scratch *scratch)
{
    struct dfc_elab *e = fill->e;
    struct dfc_unit *u = e->u;
    const struct dfc_item *item = &dfc_items(e)[id];
    const struct dfc_callee *callee = item->callee;
    const struct dfc_names names = dfc_frame_names(e, item->frame, item->env, DFC_USE_SCALAR);
    struct dfc_hints hints;
    for (unsigned i = 0; i < callee->sig.n_scalars; i++)
        if (!build_scalar(u, &names, item->stmt, callee, i, &scratch->scalars[i]))
            return false;
    if (!dfc_call_hints(u, item->stmt, callee, &names, &hints))
        return false;
    name_values(e, item, scratch);
    for (unsigned i = 0; i < callee->sig.n_out; i++)
        scratch->values[i] = item->first_out + i;
    struct df_node_desc desc = {
        .kernel = callee->id,
        .ordinal = item->ordinal,
        .hint_class = hints.cls,
        .depth = hints.depth,
        .rate = hints.rate,
        .worker = hints.worker != NULL,
        .live = hints.live,
        .exact = exact_extents(u, &callee->sig, solved),
    };
    if (!desc.exact)
        return false;
    const struct call call = { .item = item, .callee = callee, .solved = solved, .rows = rows,
                               .in = e->in_values + item->first_in, .out = scratch->values };
    return add_call(fill, &call, &hints, scratch, &desc, &fill->node[id]);
}

/* A call of the built-in `select`, whose kernel the builder has by the format of its ports. */
static bool build_select(struct dfc_fill *fill, uint32_t id, const struct dfc_solved *solved,
                         const struct dfc_format *format, struct scratch *scratch)
{
    struct dfc_elab *e = fill->e;
    const struct dfc_item *item = &dfc_items(e)[id];
    const struct dfc_names names = dfc_frame_names(e, item->frame, item->env, DFC_USE_SCALAR);
    struct dfc_hints hints;
    struct df_error error;
    struct df_node_desc desc = { .threads = 1, .ordinal = item->ordinal };
    int32_t indices[DFC_MAX_LOOPS];
    int rc;
    if (!dfc_call_hints(e->u, item->stmt, item->callee, &names, &hints))
        return false;
    rc = df_builder_select(e->u->builder, (enum df_elem)format->elem, format->rank, item->callee->sig.n_in,
                           &desc.kernel, &error);
    if (rc != DF_OK)
        return builder_failed(e->u, item->stmt->call_loc, rc, &error);
    fill->costs[id] = true;
    desc.hint_class = hints.cls;
    desc.depth = hints.depth;
    desc.rate = hints.rate;
    name_values(e, item, scratch);
    describe_call(fill, item, scratch, &desc, indices);
    desc.value_names = scratch->names;
    return add_node(fill, solved, &desc, item->stmt->call_loc, &fill->node[id]) &&
           connect(fill, e->in_values + item->first_in, item->callee->sig.n_in, fill->node[id], item->stmt->call_loc);
}

bool dfc_fill_select(struct dfc_fill *fill, uint32_t id, const struct dfc_solved *solved,
                     const struct dfc_format *format)
{
    const char *name;
    char text[1][300];
    struct scratch scratch = { NULL, &name, text, NULL };
    return build_select(fill, id, solved, format, &scratch);
}

bool dfc_fill_node(struct dfc_fill *fill, uint32_t id, const struct dfc_solved *solved, const struct dfc_rows *rows)
{
    const struct dfc_sig *sig = &dfc_items(fill->e)[id].callee->sig;
    enum { FEW = 8 };
    uint32_t few_scalars[FEW], few_values[FEW];
    const char *few_names[FEW];
    char few_texts[FEW][300];
    struct scratch scratch = { few_scalars, few_names, few_texts, few_values };
    if (sig->n_scalars <= FEW && sig->n_out <= FEW)
        return build_node(fill, id, solved, rows, &scratch);
    bool ok = scratch_make(&scratch, sig) ? build_node(fill, id, solved, rows, &scratch) : dfc_no_memory(fill->e->u);
    scratch_free(&scratch);
    return ok;
}

/* ---- groups ---- */

/* The costs that are written for all members are the group's, added up. */
static bool group_costs(struct dfc_fill *fill, const struct dfc_joined *use, const uint64_t *const *member_dims,
                        double cost_s[DF_MAX_CLASSES], bool *any)
{
    struct dfc_elab *e = fill->e;
    *any = false;
    for (unsigned c = 0; c < DF_MAX_CLASSES; c++)
        cost_s[c] = 0;
    for (unsigned m = 0; m < use->group->wiring.n; m++) {
        const struct dfc_item *item = &dfc_items(e)[use->items[m]];
        double own[DF_MAX_CLASSES];
        if (!build_costs(e->u, item->stmt, item->callee, &(struct dfc_solved){ .dims = member_dims[m] }, own))
            return false;
        for (unsigned c = 0; c < DF_MAX_CLASSES; c++)
            cost_s[c] += own[c];        /* NaN if one of them has none */
    }
    for (unsigned c = 0; c < DF_MAX_CLASSES; c++)
        *any |= !isnan(cost_s[c]);
    return true;
}

static bool group_scalars(struct dfc_fill *fill, const struct dfc_joined *use, uint32_t *scalars)
{
    struct dfc_elab *e = fill->e;
    for (unsigned i = 0; i < use->group->callee->sig.n_scalars; i++) {
        const struct dfu_value *from = &use->group->scalars[i];
        const struct dfc_item *item = &dfc_items(e)[use->items[from->member]];
        const struct dfc_names names = dfc_frame_names(e, item->frame, item->env, DFC_USE_SCALAR);
        if (!build_scalar(e->u, &names, item->stmt, item->callee, from->number, &scalars[i]))
            return false;
    }
    return true;
}

/* Says where the values of members that leave are from now on, and what they are called. */
static void group_outs(struct dfc_fill *fill, const struct dfc_joined *use, struct scratch *scratch)
{
    const struct dfc_elab *e = fill->e;
    for (unsigned i = 0; i < use->group->callee->sig.n_out; i++) {
        const struct dfu_value *from = &use->group->outs[i];
        const uint32_t value = dfc_items(e)[use->items[from->member]].first_out + from->number;
        fill->moved[value] = i;
        scratch->values[i] = value;
        name_value(e, value, i, scratch);
    }
}

/* What the part costs on each class, by what is written. Formulas have the dimensions of the whole, so their costs are
 * divided as their rows are. */
static bool part_costs(struct dfc_fill *fill, const struct call *call, const struct dfc_part *part,
                       double cost_s[DF_MAX_CLASSES], bool *any)
{
    *any = call->callee->cost_classes != 0;
    if (call->use ? !group_costs(fill, call->use, call->member_dims, cost_s, any)
                  : !build_costs(fill->e->u, call->item->stmt, call->callee, &part->solved, cost_s))
        return false;
    for (unsigned c = 0; c < DF_MAX_CLASSES && call->rows->wiring && part->rows.n > 1; c++)
        cost_s[c] *= (double)part->rows.rows / (double)part->rows.whole;
    return true;
}

/* A group stands where its last member is called. */
static bool build_group(struct dfc_fill *fill, const struct dfc_joined *use, const struct dfc_solved *solved,
                        const uint64_t *const *member_dims, const struct dfc_rows *rows, struct scratch *scratch)
{
    struct dfc_elab *e = fill->e;
    struct dfc_unit *u = e->u;
    const struct dfc_callee *callee = use->group->callee;
    const struct dfc_item *last = &dfc_items(e)[use->items[use->group->wiring.n - 1]];
    const struct dfc_names names = dfc_frame_names(e, last->frame, last->env, DFC_USE_SCALAR);
    struct dfc_hints hints, other;
    uint32_t node;
    if (!group_scalars(fill, use, scratch->scalars) ||
        !dfc_call_hints(u, last->stmt, last->callee, &names, &hints))
        return false;
    for (unsigned m = 0; m + 1 < use->group->wiring.n; m++) { /* any of them may say how it is divided */
        const struct dfc_item *item = &dfc_items(e)[use->items[m]];
        const struct dfc_names own = dfc_frame_names(e, item->frame, item->env, DFC_USE_SCALAR);
        if (!dfc_call_hints(u, item->stmt, item->callee, &own, &other))
            return false;
        hints.parts = hints.parts ? hints.parts : other.parts;
    }
    group_outs(fill, use, scratch);
    struct df_node_desc desc = {
        .kernel = callee->id,
        .threads = 1,
        .ordinal = use->ordinal,
        .hint_class = hints.cls,
        .depth = hints.depth,
        .rate = hints.rate,
    };
    const struct call call = { .item = last, .callee = callee, .solved = solved, .rows = rows, .in = use->outside,
                               .out = scratch->values, .use = use, .member_dims = member_dims };
    if (!add_call(fill, &call, &hints, scratch, &desc, &node))
        return false;
    for (unsigned m = 0; m < use->group->wiring.n; m++)
        fill->node[use->items[m]] = node;
    return true;
}

bool dfc_fill_group(struct dfc_fill *fill, uint32_t id, const struct dfc_solved *solved,
                    const uint64_t *const *member_dims, const struct dfc_rows *rows)
{
    const struct dfc_joined *use = (const struct dfc_joined *)fill->e->uses.items + id;
    struct scratch scratch;
    bool ok = scratch_make(&scratch, &use->group->callee->sig)
                  ? build_group(fill, use, solved, member_dims, rows, &scratch) : dfc_no_memory(fill->e->u);
    scratch_free(&scratch);
    return ok;
}

/* One 'once' source makes everything that reads nothing else 'once' too. If that is the whole graph, warns: probably
 * nobody meant it. */
static void warn_all_once(const struct dfc_unit *u, struct dfl_loc loc)
{
    for (uint32_t v = 0; v < u->graph->n_nodes; v++)
        if (!(u->graph->nodes[v].flags & DF_NODE_ONCE))
            return;
    dfl_warning(u->sink, loc,
                "everything in graph 'main' is 'once': it runs a single time, however many waves are asked for");
    dfl_hint(u->sink, "a kernel that reads only 'once' values is 'once' too; a source that should fire for each wave "
                      "must not be 'once'");
}

bool dfc_fill_finish(struct dfc_fill *fill)
{
    struct dfc_unit *u = fill->e->u;
    struct df_error error;
    if (!fill->n_nodes) {
        dfl_error(u->sink, dfc_frames(fill->e)[0].graph->loc, "graph 'main' has no nodes");
        return false;
    }
    if (!dfc_check_stages(fill->e, fill->costs))
        return false;
    struct dfl_loc loc = u->at = dfc_frames(fill->e)[0].graph->loc;
    int rc = df_builder_finish(u->builder, &u->graph, &error);
    if (rc != DF_OK)
        return builder_failed(u, loc, rc, &error);
    warn_all_once(u, loc);
    return true;
}
