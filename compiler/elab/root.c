/* root.c - makes a graph with ports the root of a program, for callers that supply its tokens (libraries, sessions);
 * front/front.c calls it, and dims.c and fuse.c for its ports. It synthesises a main graph around it, as if this had been
 * written (`image` and `e` are ports, `t` is a scalar; the dotted names cannot occur in source):
 *
 *     arg edges.t: f32;
 *     kernel edges.image(out image: u8[480, 640]) cost cpu 0s;
 *     graph main { image = edges.image(); _ = edges(image, edges.t); }
 *
 * The node `edges.image` is never called: the caller provides its output. Elaboration then proceeds, and reports
 * errors, as for any program. dfc_root_check() rejects graphs that cannot be called in this way.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/elab/elab.h"

/* ---- the syntax tree of main ---- */

static const char *inner_name(struct dfc_unit *u, const char *graph, const char *name)
{
    return dfc_printf(u, "%s.%s", graph, name);
}

static struct dfl_expr *make_expr(struct dfc_unit *u, enum dfl_expr_kind kind, const char *s, int64_t i,
                                  struct dfl_loc loc)
{
    struct dfl_expr *e = dfc_alloc(u, sizeof *e);
    if (e)
        *e = (struct dfl_expr){ .kind = kind, .is_int = true, .loc = loc, .i = i, .f = (double)i, .s = s };
    return e;
}

static bool add_actual(struct dfc_unit *u, struct dfl_actual ***end, const char *name, struct dfl_loc loc)
{
    struct dfl_actual *actual = dfc_alloc(u, sizeof *actual);
    struct dfl_expr *expr = make_expr(u, DFL_EXPR_NAME, name, 0, loc);
    if (!actual || !expr)
        return false;
    actual->expr = expr;
    **end = actual;
    *end = &actual->next;
    return true;
}

/* A target that is annotated with these extents, because not all of them need follow from inputs. */
static struct dfl_target *make_target(struct dfc_unit *u, const char *name, const struct dfc_port *port,
                                      const uint64_t *extents)
{
    struct dfl_target *target = dfc_alloc(u, sizeof *target);
    struct dfl_format *format = dfc_alloc(u, sizeof *format);
    const struct dfl_loc loc = port->ast->name.loc;
    if (!target || !format)
        return NULL;
    *format = (struct dfl_format){ .name = { df_elem_name(port->elem), loc }, .rank = port->rank, .loc = loc };
    for (unsigned i = port->rank; i-- > 0;) {
        struct dfl_expr *dim = make_expr(u, DFL_EXPR_INT, NULL, (int64_t)extents[i], loc);
        if (!dim)
            return NULL;
        dim->next = format->dims;
        format->dims = dim;
    }
    *target = (struct dfl_target){ .name = { name, loc }, .annotation = format, .loc = loc };
    return target;
}

static struct dfl_stmt *add_call(struct dfc_unit *u, struct dfl_stmt ***end, const char *callee, struct dfl_loc loc)
{
    struct dfl_stmt *stmt = dfc_alloc(u, sizeof *stmt);
    if (!stmt)
        return NULL;
    *stmt = (struct dfl_stmt){ .kind = DFL_STMT_CALL, .loc = loc, .callee = { callee, loc }, .call_loc = loc };
    **end = stmt;
    *end = &stmt->next;
    return stmt;
}

/* ---- its declarations ---- */

static bool find_extents(struct dfc_unit *u, const struct dfc_callee *graph, const struct dfc_port *port,
                         const uint64_t *dims, uint64_t extents[DF_MAX_RANK])
{
    const struct dfc_names names = { .use = DFC_USE_PORT, .callee = graph, .dims = dims };
    bool known;
    for (unsigned i = 0; i < port->rank; i++) {
        const struct dfc_dim *dim = &port->dims[i];
        extents[i] = !dims ? 1 : dim->kind == DFC_DIM_VARIABLE ? dims[dim->variable] : dim->number;
        if (dims && dim->kind == DFC_DIM_EXPR && !dfc_fold_extent(u, &names, dim->expr, &extents[i], &known))
            return false;
    }
    return true;
}

/* Did add_source() make it? */
static bool is_source(const struct dfc_callee *kernel)
{
    return strchr(kernel->name, '.') != NULL;
}

bool dfc_root_reserve(struct dfc_unit *u)
{
    const uint32_t n = u->callee_items.n;
    size_t more = 0;
    for (uint32_t i = 0; i < n; i++)
        more += dfc_callees(u)[i].graph ? dfc_callees(u)[i].sig.n_in + 1u : 0;
    if (!dfr_array_add(&u->callee_items, sizeof(struct dfc_callee), more))
        return dfc_no_memory(u);
    u->callee_items.n = n;
    for (uint32_t i = 0; i < n; i++)
        if (dfc_callees(u)[i].formula)
            ((struct dff_kernel *)dfc_callees(u)[i].formula)->callee = &dfc_callees(u)[i];
    return true;
}

static bool add_callee(struct dfc_unit *u, const struct dfc_callee *callee)
{
    uint32_t id;
    bool fresh;
    if (!dfc_index_add(&u->callees, callee->name, &id, &fresh))
        return dfc_no_memory(u);
    struct dfc_callee *item = fresh ? dfr_array_add(&u->callee_items, sizeof *item, 1) : NULL;
    if (!item)
        return !fresh || dfc_no_memory(u);
    *item = *callee;
    return true;
}

/* The next number of a kernel. DF_NONE: no memory. */
static uint32_t add_kernel(struct dfc_unit *u, const struct dfl_kernel *kernel)
{
    struct dfc_kernel_code *code = dfr_array_add(&u->kernels, sizeof *code, 1);
    if (!code) {
        dfc_no_memory(u);
        return DF_NONE;
    }
    *code = (struct dfc_kernel_code){ .ast = kernel, .kernel = u->kernels.n - 1, .dir = ".", .called = true };
    return code->kernel;
}

/* The caller decides an extent with a bound in each wave, so the source has a variable of this name. false: no memory, or
 * reported. */
static bool add_variable(struct dfc_unit *u, const struct dfc_sig *from, const struct dfc_port *given, unsigned dim,
                         struct dfc_sig *sig)
{
    const struct dfc_dim *extent = &given->dims[dim];
    const struct dfc_variable *variable = &from->variables[extent->variable];
    unsigned v = 0;
    if (extent->kind != DFC_DIM_VARIABLE) {
        dfl_error(u->sink, extent->expr->loc, "a graph that is called from outside has an extent with a bound alone in an in port, "
                  "not in an expression");
        dfl_hint(u->sink, "give it another name with a bound: 'm <= 200'; kernels that read both ports compare them in each wave");
        return false;
    }
    while (v < sig->n_variables && strcmp(sig->variables[v].name.text, variable->name.text) != 0)
        v++;
    if (v == sig->n_variables) {
        sig->variables[sig->n_variables] = *variable;
        sig->variables[sig->n_variables++].from_input = false;
    }
    sig->ports[0].dims[dim] = (struct dfc_dim){ .kind = DFC_DIM_VARIABLE, .variable = v, .expr = extent->expr, .own = true };
    return true;
}

/* The kernel that stands for what the caller gives to an in port. It costs nothing, on the host. If the graph is only
 * checked, the kernel gets no number. */
static bool add_source(struct dfc_unit *u, const char *name, const struct dfc_sig *sig, const struct dfc_port *given,
                       const uint64_t *extents, bool numbered)
{
    const struct dfl_loc loc = given->ast->name.loc;
    const uint8_t varies = dfc_port_varies(sig, given);
    struct dfl_port *ast = dfc_alloc(u, sizeof *ast);
    struct dfc_port *port = dfc_alloc(u, sizeof *port);
    struct dfl_kernel *kernel = dfc_alloc(u, sizeof *kernel);
    struct dfl_expr *cost = make_expr(u, DFL_EXPR_QUANTITY, "s", 0, loc);
    uint16_t *slots = dfc_alloc(u, sizeof *slots);
    struct dfc_variable *variables = dfc_alloc(u, DF_MAX_RANK * sizeof *variables);
    if (!ast || !port || !kernel || !cost || !slots || !variables)
        return false;
    *ast = (struct dfl_port){ .mode = DFL_OUT, .name = given->ast->name, .format = given->ast->format, .loc = loc };
    *port = (struct dfc_port){ .ast = ast, .elem = given->elem, .rank = given->rank, .in_slot = -1 };
    *kernel = (struct dfl_kernel){ .name = { name, loc }, .loc = loc };
    struct dfc_callee callee = {
        .name = name, .loc = loc, .ready = true, .kernel = kernel,
        .id = numbered ? add_kernel(u, kernel) : DF_NONE, .cost_classes = 1, .cost = { cost },
        .sig = { .n_ports = 1, .n_out = 1, .ports = port, .in_port = slots, .out_port = slots, .variables = variables },
    };
    for (unsigned i = 0; i < port->rank; i++)
        if (!(varies >> i & 1))
            port->dims[i] = (struct dfc_dim){ .kind = DFC_DIM_NUMBER, .number = extents[i] };
        else if (!add_variable(u, sig, given, i, &callee.sig))
            return false;
    return !u->no_memory && add_callee(u, &callee);
}

/* The arg that stands for a scalar that the caller gives. */
static bool add_arg(struct dfc_unit *u, const char *name, const struct dfl_scalar_decl *scalar)
{
    uint32_t id;
    bool fresh;
    struct dfl_decl *decl = dfc_alloc(u, sizeof *decl);
    if (!decl || !dfc_index_add(&u->params, name, &id, &fresh))
        return dfc_no_memory(u);
    struct dfc_param *param = fresh ? dfr_array_add(&u->param_items, sizeof *param, 1) : NULL;
    if (!param)
        return !fresh || dfc_no_memory(u);
    *decl = (struct dfl_decl){ .kind = DFL_ARG, .loc = scalar->loc, .name = { name, scalar->name.loc },
                               .scalar = scalar->type };
    *param = (struct dfc_param){ .decl = decl, .ready = true, .arg = u->n_args++ };
    return true;
}

/* ---- the whole ---- */

static bool add_inputs(struct dfc_unit *u, const struct dfc_callee *graph, const uint64_t *dims,
                       struct dfl_stmt ***stmts, struct dfl_actual ***actuals)
{
    const struct dfc_sig *sig = &graph->sig;
    for (unsigned i = 0; i < sig->n_in; i++) {
        const struct dfc_port *port = &sig->ports[sig->in_port[i]];
        const struct dfl_name *name = &port->ast->name;
        uint64_t extents[DF_MAX_RANK];
        const char *source = inner_name(u, graph->name, name->text);
        if (!find_extents(u, graph, port, dims, extents) || !add_source(u, source, sig, port, extents, dims != NULL))
            return false;
        struct dfl_stmt *stmt = add_call(u, stmts, source, name->loc);
        if (!stmt || !(stmt->targets = make_target(u, name->text, port, extents)) ||
            !add_actual(u, actuals, name->text, name->loc))
            return false;
        if (dfc_port_varies(sig, port))
            stmt->targets->annotation = NULL;   /* the source says the bounds */
    }
    for (unsigned i = 0; i < sig->n_scalars; i++) {
        const char *arg = inner_name(u, graph->name, sig->scalars[i]->name.text);
        if (!add_arg(u, arg, sig->scalars[i]) || !add_actual(u, actuals, arg, sig->scalars[i]->loc))
            return false;
    }
    return true;
}

static bool add_targets(struct dfc_unit *u, const struct dfc_callee *graph, const uint64_t *dims,
                        struct dfl_target **end)
{
    const struct dfc_sig *sig = &graph->sig;
    for (unsigned i = 0; i < sig->n_out; i++) {
        const struct dfc_port *port = &sig->ports[sig->out_port[i]];
        uint64_t extents[DF_MAX_RANK];
        if (!find_extents(u, graph, port, dims, extents) || !(*end = make_target(u, "_", port, extents)))
            return false;
        if (dfc_port_varies(sig, port))
            (*end)->annotation = NULL;  /* the format of the graph's port says the bounds */
        end = &(*end)->next;
    }
    return true;
}

struct dfc_callee *dfc_root_make(struct dfc_unit *u, uint32_t id, const uint64_t *dims)
{
    const struct dfc_callee graph = dfc_callees(u)[id]; /* a copy, because the array grows */
    struct dfc_callee *root = dfc_alloc(u, sizeof *root);
    struct dfl_graph *ast = dfc_alloc(u, sizeof *ast);
    struct dfl_block *body = dfc_alloc(u, sizeof *body);
    struct dfl_actual *actuals = NULL, **actual_end = &actuals;
    struct dfl_target *targets = NULL;
    if (!root || !ast || !body)
        return NULL;
    body->loc = graph.loc;
    struct dfl_stmt **end = &body->stmts;
    if (!add_inputs(u, &graph, dims, &end, &actual_end) || !add_targets(u, &graph, dims, &targets))
        return NULL;
    struct dfl_stmt *call = add_call(u, &end, graph.name, graph.loc);
    if (!call)
        return NULL;
    call->actuals = actuals;
    call->targets = targets;
    *ast = (struct dfl_graph){ .name = { "main", graph.loc }, .body = body, .loc = graph.loc };
    *root = (struct dfc_callee){ .name = "main", .loc = graph.loc, .ready = true, .graph = ast };
    return root;
}

struct dfc_callee *dfc_root_sized(struct dfc_unit *u, uint32_t id, const uint64_t *given, size_t n_given)
{
    const struct dfc_sig *sig = &dfc_callees(u)[id].sig;
    uint64_t *dims = dfc_alloc(u, (sig->n_variables + 1) * sizeof *dims);
    size_t n = 0;
    if (!dims)
        return NULL;
    for (unsigned v = 0; v < sig->n_variables; v++)
        dims[v] = sig->variables[v].bound ? sig->variables[v].most : given[n++];
    assert(n == n_given);
    (void)n_given;
    return dfc_root_make(u, id, dims);
}

/* Reads one "h=480" of the text. false: reported. */
static bool read_dim(struct dfc_unit *u, const struct dfc_callee *graph, const char *word, size_t length, uint64_t *dims)
{
    const struct dfl_loc nowhere = { .file = DFL_NO_FILE };
    const char *equals = memchr(word, '=', length);
    size_t n = equals ? (size_t)(equals - word) : length;
    unsigned v = 0;
    char *end;
    while (v < graph->sig.n_variables && (graph->sig.variables[v].bound || strlen(graph->sig.variables[v].name.text) != n ||
                                          strncmp(graph->sig.variables[v].name.text, word, n) != 0))
        v++;
    if (v == graph->sig.n_variables) {
        dfl_error(u->sink, nowhere, "--graph: graph '%s' has no dimension '%.*s'", graph->name, (int)n, word);
        return false;
    }
    errno = 0;
    long long value = equals ? strtoll(equals + 1, &end, 10) : 0;
    if (value < 1 || errno || end != word + length) {
        dfl_error(u->sink, nowhere, "--graph: '%.*s': a size from 1 on is expected, as in %s=480", (int)length, word,
                  graph->sig.variables[v].name.text);
        return false;
    }
    dims[v] = (uint64_t)value;
    return true;
}

struct dfc_callee *dfc_root_named(struct dfc_unit *u, const char *text)
{
    const struct dfl_loc nowhere = { .file = DFL_NO_FILE };
    const char *name = dfc_printf(u, "%.*s", (int)strcspn(text, ":"), text);
    uint32_t id;
    if (!name)
        return NULL;
    if (!dfc_index_find(&u->callees, name, &id) || !dfc_callees(u)[id].graph || !dfc_callees(u)[id].sig.n_ports) {
        dfl_error(u->sink, nowhere, "--graph: there is no graph '%s' with ports", name);
        return NULL;
    }
    const struct dfc_callee *graph = &dfc_callees(u)[id];
    uint64_t *dims = dfc_alloc(u, (graph->sig.n_variables + 1) * sizeof *dims);
    if (!dims)
        return NULL;
    memset(dims, 0, (graph->sig.n_variables + 1) * sizeof *dims);
    for (const char *word = text + strcspn(text, ":"); *word; word += strcspn(word, ",")) {
        word++;                         /* the colon or a comma */
        if (!read_dim(u, graph, word, strcspn(word, ","), dims))
            return NULL;
    }
    for (unsigned v = 0; v < graph->sig.n_variables; v++) {
        if (graph->sig.variables[v].bound)
            dims[v] = graph->sig.variables[v].most;
        if (!dims[v]) {
            dfl_error(u->sink, nowhere, "--graph: graph '%s' has a dimension '%s': say how large it is, as in --graph=%s:%s=480",
                      name, graph->sig.variables[v].name.text, name, graph->sig.variables[v].name.text);
            return NULL;
        }
    }
    return dfc_root_make(u, id, dims);
}

/* ---- its ports, once it is elaborated ---- */

/* The value that the port's tokens are of. The items of main are the sources, in order, and the call. */
uint32_t dfc_root_value(const struct dfc_elab *e, const struct dfc_port *port)
{
    const struct dfc_item *items = dfc_items(e);
    uint32_t last;
    if (port->in_slot >= 0)
        return items[port->in_slot].first_out;
    uint32_t call = dfc_frames(e)[1].item;
    return dfc_stream_value(e, dfc_port_streams(e)[items[call].first_out + (uint32_t)port->out_slot], &last);
}

bool dfc_root_ports(struct dfc_fill *fill, const struct dfc_format *formats)
{
    struct dfc_elab *e = fill->e;
    struct dfc_unit *u = e->u;
    const struct dfc_sig *sig = &dfc_frames(e)[1].graph->sig;
    struct df_error error;
    u->ports = dfc_alloc(u, (sig->n_ports + 1) * sizeof *u->ports);
    if (!u->ports)
        return false;
    for (unsigned p = 0; p < sig->n_ports; p++) {
        uint32_t value = dfc_root_value(e, &sig->ports[p]), slot, node;
        if (!dfc_fill_from(fill, value, &node, &slot))
            return false;
        struct dfr_function_port *port = &u->ports[u->n_ports++];
        size_t n = df_builder_node_name(u->builder, node, NULL, 0) + 1;
        if (!(port->node = dfc_alloc(u, n)) || df_builder_keep(u->builder, node, slot, &error) != DF_OK)
            return dfc_no_memory(u);
        df_builder_node_name(u->builder, node, port->node, n);
        port->out_slot = slot;
        for (unsigned i = 0; i < DF_MAX_RANK; i++)
            port->dims[i] = i < formats[value].rank ? formats[value].dims[i] : 1;
        dfc_format_bytes(&formats[value], &port->bytes); /* fits: it was checked */
    }
    return true;
}

/* ---- what a call cannot do ---- */

/* Does the value of this expression, in that frame, depend on a scalar of the call? */
static bool varies(const struct dfc_elab *e, uint32_t frame, const struct dfl_expr *x)
{
    const struct dfc_frame *f = &dfc_frames(e)[frame];
    if (!x)
        return false;
    if (x->kind == DFL_EXPR_NAME) {
        const struct dfc_sig *sig = &f->graph->sig;
        for (unsigned i = 0; i < sig->n_scalars; i++)
            if (strcmp(sig->scalars[i]->name.text, x->s) == 0) {
                const struct dfc_item *item = &dfc_items(e)[f->item];
                return varies(e, item->frame, dfc_call_scalar(item->stmt, sig, i));
            }
        return strchr(x->s, '.') != NULL; /* an arg that add_arg() made */
    }
    for (const struct dfl_expr *arg = x->args; arg; arg = arg->next)
        if (varies(e, frame, arg))
            return true;
    return varies(e, frame, x->a) || varies(e, frame, x->b);
}

/* A node that fires once, in the first call, must give the same in every call. */
static bool check_once(struct dfc_elab *e, const struct dfc_item *item)
{
    const struct dfc_sig *sig = &item->callee->sig;
    for (unsigned i = 0; i < sig->n_given; i++) {
        const struct dfl_expr *expr = dfc_call_scalar(item->stmt, sig, i);
        if (!varies(e, item->frame, expr))
            continue;
        dfl_error(e->u->sink, expr->loc, "'%s' fires once, so its scalar '%s' cannot be another in each call",
                  item->callee->name, sig->scalars[i]->name.text);
        dfl_hint(e->u->sink, "give it an 'arg', which is said when a session is opened, or leave out 'once'");
        return false;
    }
    return true;
}

static bool check_node(struct dfc_elab *e, const struct dfc_item *item, uint8_t *phases)
{
    unsigned traits = item->callee->kernel->traits;
    const struct dfl_hint *worker = dfc_call_worker(item->stmt);
    if (worker) {
        dfl_error(e->u->sink, worker->loc, "'@worker' in a graph of a library, which runs in its caller's process");
        dfl_hint(e->u->sink, "a program has other ranks, with --cluster");
        return false;
    }
    if (traits & DFL_STREAM) {
        dfl_error(e->u->sink, item->stmt->call_loc, "'%s' is a stream, and a graph in a library has none",
                  item->callee->name);
        dfl_hint(e->u->sink, "each call says how many waves it has: make an in port of what '%s' gives",
                 item->callee->name);
        return false;
    }
    if (!dfc_dims_can_be_found(e, item))
        return false;
    if (e->u->options->need_code_files && !item->callee->code_classes && !is_source(item->callee)) {
        dfl_error(e->u->sink, item->callee->loc, "kernel '%s' has costs and no code, so no library can be made of it",
                  item->callee->name);
        return false;
    }
    return dfc_check_phases(e, item, phases) && (dfc_item_phase(e, item, phases) != DFC_BEFORE || check_once(e, item));
}

static bool check_results(struct dfc_elab *e, const uint8_t *phases)
{
    const struct dfc_callee *graph = dfc_frames(e)[1].graph;
    for (unsigned i = 0; i < graph->sig.n_out; i++) {
        const struct dfc_port *port = &graph->sig.ports[graph->sig.out_port[i]];
        uint32_t value = dfc_root_value(e, port);
        graph->sig.ports[graph->sig.out_port[i]].final = value != DF_NONE && phases[value] == DFC_AFTER;
        if (value == DF_NONE || phases[value] != DFC_BEFORE)
            continue;
        dfl_error(e->u->sink, port->ast->name.loc, "'%s' is made once, in the first call of '%s', and later calls "
                  "have other memory for it", port->ast->name.text, graph->name);
        return false;
    }
    return true;
}

static bool report_extent(struct dfc_elab *e, const struct dfc_forms *forms, const struct dfc_port *port, unsigned d,
                          const struct dfc_form *made, bool says_varying)
{
    const char *graph = dfc_frames(e)[1].graph->name, *out = port->ast->name.text, *name = dfc_form_name(forms, made);
    const struct dfl_loc loc = port->dims[d].expr ? port->dims[d].expr->loc : port->ast->name.loc;
    if (made->class && says_varying)
        dfl_error(e->u->sink, loc, "out port '%s' of graph '%s' has another extent %u inside", out, graph, d + 1);
    else if (made->class)
        dfl_error(e->u->sink, loc, "out port '%s' of graph '%s' has an extent that differs from wave to wave, and its format does not say so",
                  out, graph);
    else
        dfl_error(e->u->sink, loc, "out port '%s' of graph '%s' has an extent with a bound, and no kernel decides it", out, graph);
    if (!made->class)
        dfl_hint(e->u->sink, "leave out '<=': the extents of a port that is not decided inside follow from inputs");
    else if (name)
        dfl_hint(e->u->sink, "write '%s' there: what is assigned to '%s' has this extent of an input", name, out);
    else
        dfl_hint(e->u->sink, "write a name of its own with a bound there: 'n <= 100'");
    return false;
}

/* A caller is told which results have extents that differ from wave to wave, and which of them follow from what it gives. So the out
 * ports must say it. */
static bool check_port_extents(struct dfc_elab *e, struct dfc_forms *forms, const struct dfc_port *port)
{
    const uint32_t value = dfc_root_value(e, port);
    const uint8_t varies = dfc_port_varies(&dfc_frames(e)[1].graph->sig, port);
    for (unsigned d = 0; d < port->rank && value != DF_NONE; d++) {
        const struct dfc_form *made = &forms->of[value][d], said = dfc_form_said(e, forms, port, d);
        if ((made->class != 0) != (varies >> d & 1) || !dfc_form_is_said(forms, &said, made))
            return report_extent(e, forms, port, d, made, varies >> d & 1);
    }
    return true;
}

/* As check_acc() of dims.c, where sizes are not known. */
static bool check_accs(const struct dfc_elab *e, const struct dfc_item *item, const struct dfc_forms *forms)
{
    const struct dfc_sig *sig = &item->callee->sig;
    for (unsigned i = 0; i < sig->n_out && !item->callee->built_in; i++)
        for (unsigned d = 0; d < sig->ports[sig->out_port[i]].rank; d++)
            if (sig->ports[sig->out_port[i]].ast->mode == DFL_ACC && forms->of[item->first_out + i][d].class) {
                dfc_report_acc(e, item, sig->out_port[i], d);
                dfc_note_context(e, item->frame, item->env);
                return false;
            }
    return true;
}

static bool check_extents(struct dfc_elab *e)
{
    const struct dfc_callee *graph = dfc_frames(e)[1].graph;
    struct dfc_forms forms;
    e->varies = dfc_alloc(e->u, e->items.n + 1u);
    bool made = e->varies && dfc_forms_make(e, &forms), ok = true;
    for (uint32_t k = 0; made && k < e->items.n; k++) {
        const struct dfc_item *item = &dfc_items(e)[e->order[k]];
        if (item->inner != DF_NONE)
            continue;
        e->varies[e->order[k]] = dfc_item_varies(e, item, &forms).varies;
        ok &= dfc_form_check_annotations(e, item, &forms) && check_accs(e, item, &forms);
    }
    for (unsigned i = 0; made && ok && i < graph->sig.n_out; i++)
        ok = check_port_extents(e, &forms, &graph->sig.ports[graph->sig.out_port[i]]);
    return ok && !e->u->no_memory;
}

bool dfc_root_check(struct dfc_elab *e)
{
    uint8_t *phases = dfc_alloc(e->u, (size_t)e->values.n + 1);
    if (!phases)
        return false;
    for (uint32_t k = 0; k < e->items.n; k++) {
        const struct dfc_item *item = &dfc_items(e)[e->order[k]];
        if (item->inner == DF_NONE && !check_node(e, item, phases))
            return false;
    }
    return check_results(e, phases) && check_extents(e);
}
