/* graph.c - kernels and graphs over the waves of a call: a graph's calls, each when its inputs are there.
 *
 * Waves:   a wave runs the calls whose inputs are there. Results of accs are not, so the calls that read them are left. After the last wave
 *          accs are results, and those calls run, once. What belongs to a wave is not there then.
 * Memory:  a stream has one token, which the next wave writes anew. The ports of what is called from outside have one for each wave.
 */
#include <string.h>

#include "evaluate.h"
#include "kernel.h"

struct value {                     /* of a stream */
    const char *name;
    struct oracle_array array;
    bool made;                     /* in this wave, or after the last one */
};

#define MAX_VALUES 256
#define UNKNOWN (-1)

struct use {                       /* of a kernel or graph, over all waves */
    const struct dfl_decl *callee;
    const struct dfl_sig *sig;
    const int64_t *dims;
    const struct number *scalars;
    struct oracle_array shapes[DFL_MAX_PORTS];
    void *data[DFL_MAX_PORTS];     /* of each port: the token of this wave, or after the last one the result */
    bool made[DFL_MAX_PORTS];      /* outputs: it is there now */
    void *accs[DFL_MAX_PORTS];     /* of a kernel */
    struct run *run;               /* of a graph */
};

struct call {                      /* a statement of a graph */
    const struct dfl_stmt *stmt;
    struct kernel names;
    struct use use;
    struct value *inputs[DFL_MAX_PORTS], *outputs[DFL_MAX_PORTS];
    int64_t dims[ORACLE_MAX_DIMS];
    struct number scalars[DFL_MAX_PORTS];
    bool began;                    /* it has run in a wave */
    bool done;                     /* in this one */
};

struct run {                       /* of a graph */
    struct kernel kernel;          /* names for expressions: dimensions and scalars of the graph */
    const int64_t *dims;
    const struct number *scalars;
    struct value values[MAX_VALUES];
    unsigned n_values, n_calls;
    struct call *calls;
};

static void run_use(struct oracle *o, struct use *use, bool at_end);

static struct value *value_named(struct run *run, const char *name)
{
    for (unsigned v = 0; v < run->n_values; v++)
        if (strcmp(run->values[v].name, name) == 0)
            return &run->values[v];
    return NULL;
}

static struct value *add_value(struct run *run, const char *name)
{
    if (run->n_values == MAX_VALUES) {
        oracle_fail(run->kernel.o, "too many streams");
        return &run->values[0];
    }
    run->values[run->n_values] = (struct value){ .name = name };
    return &run->values[run->n_values++];
}

/* Dimension variables that stand alone in the format take the array's extents. */
static void bind(struct oracle *o, const struct kernel *callee, const struct dfl_format *format, const struct oracle_array *array, int64_t *dims)
{
    unsigned d = 0;
    for (const struct dfl_expr *e = format->dims; e; e = e->next, d++)
        for (unsigned n = 0; n < callee->n_dims && e->kind == DFL_EXPR_NAME; n++)
            if (strcmp(callee->dims[n], e->s) == 0) {
                if (dims[n] != UNKNOWN && dims[n] != array->extents[d])
                    oracle_fail(o, "dimension '%s' is %lld and %lld", e->s, (long long)dims[n], (long long)array->extents[d]);
                dims[n] = array->extents[d];
            }
}

static const struct dfl_target *nth_target(const struct dfl_stmt *stmt, unsigned n)
{
    const struct dfl_target *t = stmt->targets;
    while (t && n--)
        t = t->next;
    return t;
}

/* ---- a kernel ---- */

static void run_kernel(struct oracle *o, struct use *use, bool at_end)
{
    void *data[DFL_MAX_PORTS];
    unsigned port = 0;
    for (const struct dfl_port *p = use->sig->ports; p; p = p->next, port++) {
        size_t bytes = array_bytes(&use->shapes[port]);
        use->made[port] = (p->mode == DFL_ACC) == at_end;
        data[port] = use->data[port];
        if (p->mode != DFL_ACC)
            continue;
        if (!use->accs[port])
            use->accs[port] = kernel_acc(o, use->callee->kernel, p, &use->shapes[port]);
        data[port] = use->accs[port];
        if (at_end)
            memcpy(use->data[port], use->accs[port], bytes);
    }
    if (!at_end)
        kernel_run(o, use->callee->kernel, use->dims, use->scalars, data);
}

/* ---- a call of a graph ---- */

static bool has_input(const struct dfl_port *port)
{
    return port->mode == DFL_IN || port->mode == DFL_INOUT;
}

/* False: an input is not there yet. */
static bool take_inputs(struct run *run, struct call *call)
{
    const struct dfl_actual *actual = call->stmt->actuals;
    unsigned port = 0, number = 0;
    for (const struct dfl_port *p = call->names.sig->ports; p; p = p->next, port++) {
        if (!has_input(p))
            continue;
        struct value *value = actual && actual->expr->kind == DFL_EXPR_NAME ? value_named(run, actual->expr->s) : NULL;
        if (!value || !value->made)
            return false;
        call->inputs[port] = value;
        bind(run->kernel.o, &call->names, p->format, &value->array, call->dims);
        actual = actual->next;
    }
    for (const struct dfl_scalar_decl *s = call->names.sig->scalars; s; s = s->next, number++) {
        static const enum type types[] = { I32, I64, F32, F64, BOOL };
        struct frame frame = { .o = run->kernel.o, .dims = run->dims, .scalars = run->scalars };
        if (!actual) {
            oracle_fail(run->kernel.o, "scalar '%s' is not given", s->name.text);
            break;
        }
        call->scalars[number] = evaluate(&frame, lower_as(&run->kernel, types[s->type], lower(&run->kernel, actual->expr, NULL, 0)));
        actual = actual->next;
    }
    return true;
}

/* What the targets say of their shapes: an annotation, or that they are the graph's own outputs. */
static void bind_outputs(struct run *run, struct call *call)
{
    unsigned n = 0;
    for (const struct dfl_port *p = call->names.sig->ports; p; p = p->next) {
        const struct dfl_target *t = p->mode == DFL_IN ? NULL : nth_target(call->stmt, n++);
        struct value *value = t ? value_named(run, t->name.text) : NULL;
        struct oracle_array annotated;
        if (value)
            bind(run->kernel.o, &call->names, p->format, &value->array, call->dims);
        if (t && t->annotation && kernel_shape(&run->kernel, t->annotation, run->dims, &annotated))
            bind(run->kernel.o, &call->names, p->format, &annotated, call->dims);
    }
    for (unsigned d = 0; d < call->names.n_dims; d++)
        if (call->dims[d] == UNKNOWN)
            oracle_fail(run->kernel.o, "dimension '%s' of '%s' is unknown", call->names.dims[d], call->stmt->callee.text);
}

static void make_outputs(struct run *run, struct call *call)
{
    struct use *use = &call->use;
    unsigned n = 0, port = 0;
    for (const struct dfl_port *p = use->sig->ports; p; p = p->next, port++) {
        const struct dfl_target *t = p->mode == DFL_IN ? NULL : nth_target(call->stmt, n++);
        if (p->mode == DFL_IN)
            continue;
        struct value *value = t ? value_named(run, t->name.text) : NULL;
        if (!value || strcmp(value->name, "_") == 0) {
            value = add_value(run, t ? t->name.text : "_");
            value->array = use->shapes[port];
            value->array.data = oracle_alloc(run->kernel.o, array_bytes(&value->array));
        }
        call->outputs[port] = value;
    }
}

/* The first time that its inputs are there. */
static void begin_call(struct run *run, struct call *call)
{
    struct oracle *o = run->kernel.o;
    bind_outputs(run, call);
    if (!o->error[0] && kernel_shapes(o, call->use.sig, call->dims, call->use.shapes))
        make_outputs(run, call);
}

/* The arrays that it works on now. */
static void aim(struct call *call, bool at_end)
{
    struct use *use = &call->use;
    unsigned port = 0;
    for (const struct dfl_port *p = use->sig->ports; p; p = p->next, port++) {
        use->data[port] = (p->mode == DFL_IN ? call->inputs : call->outputs)[port]->array.data;
        if (p->mode == DFL_INOUT && !at_end)
            memcpy(use->data[port], call->inputs[port]->array.data, array_bytes(&use->shapes[port]));
    }
}

static void run_and_tell(struct run *run, struct call *call, bool at_end)
{
    unsigned port = 0;
    run_use(run->kernel.o, &call->use, at_end);
    for (const struct dfl_port *p = call->use.sig->ports; p; p = p->next, port++)
        if (p->mode != DFL_IN && call->use.made[port])
            call->outputs[port]->made = true;
}

/* False: not yet. */
static bool run_call(struct run *run, struct call *call, bool at_end)
{
    struct oracle *o = run->kernel.o;
    bool only_ends = at_end && call->began;
    if (!only_ends && !take_inputs(run, call))
        return false;
    if (!call->began)
        begin_call(run, call);
    if (o->error[0])
        return true;
    call->began = true;
    aim(call, only_ends);
    if (!only_ends)
        run_and_tell(run, call, false);
    if (at_end && !o->error[0])
        run_and_tell(run, call, true);
    return true;
}

/* ---- a graph ---- */

static void open_calls(struct run *run, const struct dfl_graph *graph)
{
    struct oracle *o = run->kernel.o;
    for (const struct dfl_stmt *s = graph->body->stmts; s; s = s->next)
        run->n_calls++;
    struct call *call = run->calls = oracle_alloc(o, run->n_calls * sizeof *run->calls);
    for (const struct dfl_stmt *s = graph->body->stmts; s; s = s->next, call++) {
        call->stmt = s;
        call->use.callee = s->kind == DFL_STMT_CALL ? oracle_callee(o, s->callee.text) : NULL;
        if (!call->use.callee) {
            oracle_fail(o, "a statement that is no call of what is here");
            return;
        }
        call->use.sig = oracle_signature(o, s->callee.text);
        call->names = kernel_of(o, call->use.sig, NULL);
        call->use.dims = call->dims;
        call->use.scalars = call->scalars;
        for (unsigned d = 0; d < ORACLE_MAX_DIMS; d++)
            call->dims[d] = UNKNOWN;
    }
}

static struct run *open_graph(struct oracle *o, const struct use *use)
{
    struct run *run = oracle_alloc(o, sizeof *run);
    unsigned port = 0;
    run->kernel = kernel_of(o, use->sig, NULL);
    run->dims = use->dims;
    run->scalars = use->scalars;
    for (const struct dfl_port *p = use->sig->ports; p; p = p->next, port++)
        add_value(run, p->name.text)->array = use->shapes[port];
    open_calls(run, use->callee->graph);
    return run;
}

static void begin_wave(struct run *run, const struct use *use, bool at_end)
{
    unsigned port = 0;
    for (unsigned v = 0; v < run->n_values; v++)
        run->values[v].made = false;
    for (unsigned c = 0; c < run->n_calls; c++)
        run->calls[c].done = false;
    for (const struct dfl_port *p = use->sig->ports; p; p = p->next, port++) {
        run->values[port].array.data = use->data[port];
        run->values[port].made = p->mode == DFL_IN && !at_end;
    }
}

static void run_graph(struct oracle *o, struct use *use, bool at_end)
{
    if (!use->run)
        use->run = open_graph(o, use);
    struct run *run = use->run;
    bool more = true, all = true;
    begin_wave(run, use, at_end);
    while (more && !o->error[0]) {
        more = false;
        for (unsigned c = 0; c < run->n_calls && !o->error[0]; c++)
            if (!run->calls[c].done && run_call(run, &run->calls[c], at_end))
                more = run->calls[c].done = true;
    }
    for (unsigned c = 0; c < run->n_calls; c++)
        all &= run->calls[c].done;
    if (at_end && !all)
        oracle_fail(o, "graph '%s' has a call whose inputs nobody makes", use->callee->graph->name.text);
    unsigned port = 0;
    for (const struct dfl_port *p = use->sig->ports; p; p = p->next, port++)
        use->made[port] = run->values[port].made;
}

static void run_use(struct oracle *o, struct use *use, bool at_end)
{
    if (use->callee->kind == DFL_KERNEL)
        run_kernel(o, use, at_end);
    else
        run_graph(o, use, at_end);
}

/* ---- from outside ---- */

static void run_waves(struct oracle *o, struct use *use, unsigned waves, void *const *data, unsigned *tokens)
{
    if (!kernel_shapes(o, use->sig, use->dims, use->shapes))
        return;
    for (unsigned wave = 0; wave <= waves && !o->error[0]; wave++) {
        bool at_end = wave == waves;
        for (unsigned port = 0; port < use->sig->n_ports; port++) {
            tokens[port] = at_end && !use->made[port] ? 1 : waves;
            use->data[port] = (char *)data[port] + (at_end ? 0 : wave * array_bytes(&use->shapes[port]));
        }
        run_use(o, use, at_end);
    }
}

bool oracle_run(struct oracle *o, const char *name, unsigned waves, const int64_t *dims, const struct number *scalars, void *const *data,
                unsigned *tokens)
{
    const struct dfl_decl *callee = oracle_callee(o, name);
    o->error[0] = '\0';
    if (!callee) {
        oracle_fail(o, "nothing to call is named '%s'", name);
        return false;
    }
    const struct piece *kept = o->pieces;
    const struct table *tables = o->tables;
    struct use *use = oracle_alloc(o, sizeof *use);
    *use = (struct use){ .callee = callee, .sig = oracle_signature(o, name), .dims = dims, .scalars = scalars };
    run_waves(o, use, waves, data, tokens);
    o->tables = tables;
    oracle_free_to(o, kept);
    return !o->error[0];
}
