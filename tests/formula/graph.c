/* graph.c - a graph: its calls, each when its inputs are there. */
#include <string.h>

#include "evaluate.h"
#include "kernel.h"

struct value {                     /* of a stream */
    const char *name;
    struct oracle_array array;
    bool made;
};

#define MAX_VALUES 256
#define UNKNOWN (-1)

struct run {
    struct kernel kernel;          /* names for expressions: dimensions and scalars of the graph */
    const int64_t *dims;
    const struct number *scalars;
    struct value values[MAX_VALUES];
    unsigned n_values;
};

static bool run_callee(struct oracle *o, const struct dfl_decl *callee, const int64_t *dims, const struct number *scalars, void *const *data);

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

struct use {                       /* of a kernel or graph */
    const struct dfl_stmt *stmt;
    const struct dfl_decl *callee;
    struct kernel names;
    void *data[DFL_MAX_PORTS];
    int64_t dims[ORACLE_MAX_DIMS];
    struct number scalars[DFL_MAX_PORTS];
};

static const struct dfl_target *nth_target(const struct dfl_stmt *stmt, unsigned n)
{
    const struct dfl_target *t = stmt->targets;
    while (t && n--)
        t = t->next;
    return t;
}

/* False: an input is not there yet. */
static bool take_inputs(struct run *run, struct use *use)
{
    const struct dfl_actual *actual = use->stmt->actuals;
    unsigned port = 0;
    for (const struct dfl_port *p = use->names.sig->ports; p; p = p->next, port++) {
        if (p->mode == DFL_OUT)
            continue;
        struct value *value = actual && actual->expr->kind == DFL_EXPR_NAME ? value_named(run, actual->expr->s) : NULL;
        if (!value || !value->made)
            return false;
        use->data[port] = value->array.data;
        bind(run->kernel.o, &use->names, p->format, &value->array, use->dims);
        actual = actual->next;
    }
    unsigned number = 0;
    for (const struct dfl_scalar_decl *s = use->names.sig->scalars; s; s = s->next, number++) {
        static const enum type types[] = { I32, I64, F32, F64, BOOL };
        struct frame frame = { .o = run->kernel.o, .dims = run->dims, .scalars = run->scalars };
        if (!actual) {
            oracle_fail(run->kernel.o, "scalar '%s' is not given", s->name.text);
            break;
        }
        use->scalars[number] = evaluate(&frame, lower_as(&run->kernel, types[s->type], lower(&run->kernel, actual->expr, NULL, 0)));
        actual = actual->next;
    }
    return true;
}

/* What the targets say of their shapes: an annotation, or that they are the graph's own outputs. */
static void bind_outputs(struct run *run, struct use *use)
{
    unsigned n = 0;
    for (const struct dfl_port *p = use->names.sig->ports; p; p = p->next) {
        const struct dfl_target *t = p->mode == DFL_IN ? NULL : nth_target(use->stmt, n++);
        struct value *value = t ? value_named(run, t->name.text) : NULL;
        struct oracle_array annotated;
        if (value)
            bind(run->kernel.o, &use->names, p->format, &value->array, use->dims);
        if (t && t->annotation && kernel_shape(&run->kernel, t->annotation, run->dims, &annotated))
            bind(run->kernel.o, &use->names, p->format, &annotated, use->dims);
    }
}

static void make_outputs(struct run *run, struct use *use)
{
    struct oracle *o = run->kernel.o;
    unsigned n = 0, port = 0;
    struct oracle_array shapes[DFL_MAX_PORTS];
    if (!kernel_shapes(o, use->names.sig, use->dims, shapes))
        return;
    for (const struct dfl_port *p = use->names.sig->ports; p; p = p->next, port++) {
        const struct dfl_target *t = p->mode == DFL_IN ? NULL : nth_target(use->stmt, n++);
        if (p->mode == DFL_IN)
            continue;
        size_t bytes = (size_t)array_length(&shapes[port]) * element_bytes(shapes[port].element);
        struct value *value = t ? value_named(run, t->name.text) : NULL;
        if (!value || strcmp(value->name, "_") == 0) {
            value = add_value(run, t ? t->name.text : "_");
            value->array = shapes[port];
            value->array.data = oracle_alloc(o, bytes);
        }
        if (p->mode == DFL_INOUT)
            memcpy(value->array.data, use->data[port], bytes);
        use->data[port] = value->array.data;
        value->made = true;
    }
}

/* False: not yet. */
static bool run_statement(struct run *run, const struct dfl_stmt *stmt)
{
    struct oracle *o = run->kernel.o;
    const struct dfl_decl *callee = stmt->kind == DFL_STMT_CALL ? oracle_callee(o, stmt->callee.text) : NULL;
    if (!callee) {
        oracle_fail(o, "a statement that is no call of what is here");
        return true;
    }
    struct use *use = oracle_alloc(o, sizeof *use);
    use->stmt = stmt;
    use->callee = callee;
    use->names = kernel_of(o, callee->kind == DFL_KERNEL ? callee->kernel->sig : callee->graph->sig, NULL);
    for (unsigned d = 0; d < ORACLE_MAX_DIMS; d++)
        use->dims[d] = UNKNOWN;
    if (!take_inputs(run, use))
        return false;
    bind_outputs(run, use);
    for (unsigned d = 0; d < use->names.n_dims; d++)
        if (use->dims[d] == UNKNOWN)
            oracle_fail(o, "dimension '%s' of '%s' is unknown", use->names.dims[d], stmt->callee.text);
    if (!o->error[0])
        make_outputs(run, use);
    if (!o->error[0])
        run_callee(o, callee, use->dims, use->scalars, use->data);
    return true;
}

static bool run_graph(struct oracle *o, const struct dfl_graph *graph, const int64_t *dims, const struct number *scalars, void *const *data)
{
    struct run *run = oracle_alloc(o, sizeof *run);
    struct oracle_array shapes[DFL_MAX_PORTS];
    bool done[MAX_VALUES] = { false };
    unsigned port = 0, left = 0, before;
    run->kernel = kernel_of(o, graph->sig, NULL);
    run->dims = dims;
    run->scalars = scalars;
    if (!kernel_shapes(o, graph->sig, dims, shapes))
        return false;
    for (const struct dfl_port *p = graph->sig->ports; p; p = p->next, port++) {
        struct value *value = add_value(run, p->name.text);
        value->array = shapes[port];
        value->array.data = data[port];
        value->made = p->mode == DFL_IN;
    }
    for (const struct dfl_stmt *s = graph->body->stmts; s; s = s->next)
        left++;
    do {
        unsigned number = 0;
        before = left;
        for (const struct dfl_stmt *s = graph->body->stmts; s && number < MAX_VALUES && !o->error[0]; s = s->next, number++)
            if (!done[number] && run_statement(run, s)) {
                done[number] = true;
                left--;
            }
    } while (left && left < before && !o->error[0]);
    if (left)
        oracle_fail(o, "graph '%s' has a call whose inputs nobody makes", graph->name.text);
    return !o->error[0];
}

static bool run_callee(struct oracle *o, const struct dfl_decl *callee, const int64_t *dims, const struct number *scalars, void *const *data)
{
    return callee->kind == DFL_KERNEL ? kernel_run(o, callee->kernel, dims, scalars, data) : run_graph(o, callee->graph, dims, scalars, data);
}

bool oracle_run(struct oracle *o, const char *name, const int64_t *dims, const struct number *scalars, void *const *data)
{
    const struct dfl_decl *callee = oracle_callee(o, name);
    o->error[0] = '\0';
    if (!callee) {
        oracle_fail(o, "nothing to call is named '%s'", name);
        return false;
    }
    const struct piece *kept = o->pieces;
    const struct table *tables = o->tables;
    bool good = run_callee(o, callee, dims, scalars, data);
    o->tables = tables;
    oracle_free_to(o, kept);
    return good;
}
