/* kernel.c - files, signatures, and a kernel's formulas over the whole of its outputs. */
#include "kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dsl/parse.h"
#include "evaluate.h"

struct oracle *oracle_open(const char *name, const char *text, size_t length)
{
    struct oracle *o = calloc(1, sizeof *o);
    if (!o)
        abort();
    o->sink = dfl_sink_new(stderr);
    o->file = dfl_parse(o->sink, name, text, length);
    if (o->file && dfl_sink_errors(o->sink) == 0)
        return o;
    oracle_close(o);
    return NULL;
}

void oracle_free_to(struct oracle *o, const struct piece *kept)
{
    while (o->pieces != kept) {
        struct piece *next = o->pieces->next;
        free(o->pieces);
        o->pieces = next;
    }
}

void oracle_close(struct oracle *o)
{
    oracle_free_to(o, NULL);
    dfl_file_free(o->file);
    dfl_sink_free(o->sink);
    free(o);
}

const char *oracle_error(const struct oracle *o)
{
    return o->error;
}

/* ---- signatures ---- */

const struct dfl_decl *oracle_callee(const struct oracle *o, const char *name)
{
    for (const struct dfl_decl *d = o->file->decls; d; d = d->next)
        if ((d->kind == DFL_KERNEL || d->kind == DFL_GRAPH) && strcmp(d->name.text, name) == 0)
            return d;
    return NULL;
}

const struct dfl_sig *oracle_signature(struct oracle *o, const char *name)
{
    const struct dfl_decl *d = oracle_callee(o, name);
    return !d ? NULL : d->kind == DFL_KERNEL ? d->kernel->sig : d->graph->sig;
}

unsigned oracle_dims(const struct dfl_sig *sig, const char *names[ORACLE_MAX_DIMS])
{
    unsigned n = 0, same;
    for (const struct dfl_port *p = sig->ports; p; p = p->next)
        for (const struct dfl_expr *d = p->format->dims; d; d = d->next) {
            if (d->kind != DFL_EXPR_NAME || n == ORACLE_MAX_DIMS)
                continue;
            for (same = 0; same < n && strcmp(names[same], d->s) != 0; same++)
                ;
            if (same == n)
                names[n++] = d->s;
        }
    return n;
}

bool kernel_shape(const struct kernel *k, const struct dfl_format *format, const int64_t *dims, struct oracle_array *array)
{
    struct frame frame = { .o = k->o, .dims = dims };
    *array = (struct oracle_array){ 0 };
    if (!element_named(format->name.text, &array->element))
        oracle_fail(k->o, "'%s' is no element type", format->name.text);
    for (const struct dfl_expr *d = format->dims; d && !k->o->error[0]; d = d->next) {
        array->extents[array->rank] = evaluate(&frame, lower(k, d, NULL, 0)).i;
        if (array->extents[array->rank++] < 1)
            oracle_fail(k->o, "an extent is %lld", (long long)array->extents[array->rank - 1]);
    }
    return !k->o->error[0];
}

bool kernel_shapes(struct oracle *o, const struct dfl_sig *sig, const int64_t *dims, struct oracle_array *ports)
{
    struct kernel k = kernel_of(o, sig, NULL);
    for (const struct dfl_port *p = sig->ports; p; p = p->next)
        if (!kernel_shape(&k, p->format, dims, ports++))
            return false;
    return true;
}

bool oracle_shapes(struct oracle *o, const struct dfl_sig *sig, const int64_t *dims, struct oracle_array *ports)
{
    o->error[0] = '\0';
    return kernel_shapes(o, sig, dims, ports);
}

int64_t array_length(const struct oracle_array *array)
{
    int64_t n = 1;
    for (unsigned d = 0; d < array->rank; d++)
        n *= array->extents[d];
    return n;
}

size_t array_bytes(const struct oracle_array *array)
{
    return (size_t)array_length(array) * element_bytes(array->element);
}

/* ---- accs ---- */

void *kernel_acc(struct oracle *o, const struct dfl_kernel *kernel, const struct dfl_port *port, const struct oracle_array *array)
{
    struct kernel k = kernel_of(o, kernel->sig, kernel->formulas);
    struct number first = number_of_int(EXACT_INT, 0);
    for (const struct dfl_formula *f = kernel->formulas; f; f = f->next)
        if (!f->is_let && strcmp(f->name.text, port->name.text) == 0 && (f->assign == DFL_LEAST || f->assign == DFL_MOST))
            first = number_of_real(F64, f->assign == DFL_LEAST ? INFINITY : -INFINITY);
    if (port->initial)
        first = lower(&k, port->initial, NULL, 0)->value;
    void *made = oracle_alloc(o, array_bytes(array));
    for (int64_t at = 0; at < array_length(array); at++)
        element_store(array->element, made, at, element_convert(array->element, first));
    return made;
}

/* ---- a call ---- */

struct job {
    struct kernel kernel;
    struct frame frame;
    struct oracle_array *ports;
    struct readable *before;      /* ports, for reads: copies of inouts and accs */
    unsigned char **written;      /* outputs: a flag for each element */
    unsigned n_ports;
};

static enum border border_named(struct oracle *o, const char *name)
{
    static const char *const names[] = { "none", "clamp", "mirror", "reflect", "wrap" };
    for (unsigned b = 0; b < 5; b++)
        if (strcmp(name, names[b]) == 0)
            return (enum border)b;
    oracle_fail(o, "no border '%s'", name);
    return B_NONE;
}

static void set_borders(struct job *job, const struct dfl_port *port, struct readable *to)
{
    const struct dfl_expr *e = port->border; /* one for all dimensions, or one for each */
    for (unsigned d = 0; d < to->array.rank && e; d++, e = e->next ? e->next : e) {
        if (e->kind == DFL_EXPR_NAME) {
            to->border[d] = border_named(job->kernel.o, e->s);
        } else {
            to->border[d] = B_NUMBER;
            to->outside[d] = element_convert(to->array.element, lower(&job->kernel, e, NULL, 0)->value);
        }
    }
}

static void set_ports(struct job *job, void *const *data)
{
    unsigned number = 0;
    for (const struct dfl_port *p = job->kernel.sig->ports; p; p = p->next, number++) {
        struct oracle_array *array = &job->ports[number];
        struct readable *before = &job->before[number];
        size_t bytes = array_bytes(array);
        array->data = data[number];
        *before = (struct readable){ .array = *array, .name = p->name.text };
        set_borders(job, p, before);
        if (p->mode == DFL_INOUT || p->mode == DFL_ACC) {
            before->array.data = oracle_alloc(job->kernel.o, bytes);
            memcpy(before->array.data, array->data, bytes);
        }
        if (p->mode != DFL_IN)
            job->written[number] = oracle_alloc(job->kernel.o, (size_t)array_length(array));
    }
}

static void store(struct job *job, unsigned port, const int64_t *index, const struct node *value)
{
    const struct oracle_array *array = &job->ports[port];
    int64_t at = 0;
    for (unsigned d = 0; d < array->rank; d++)
        at = at * array->extents[d] + index[d];
    if (job->written[port][at]++)
        oracle_fail(job->kernel.o, "an element is written twice");
    element_store(array->element, array->data, at, element_convert(array->element, evaluate(&job->frame, value)));
}

/* Over all places of dimensions `d` and on; a constant index stays. */
static void fill(struct job *job, unsigned port, const bool *is_slot, int64_t *index, unsigned d, const struct node *value)
{
    const struct oracle_array *array = &job->ports[port];
    if (job->kernel.o->error[0])
        return;
    if (d == array->rank) {
        store(job, port, index, value);
        return;
    }
    if (!is_slot[d]) {
        fill(job, port, is_slot, index, d + 1, value);
        return;
    }
    for (int64_t i = 0; i < array->extents[d]; i++) {
        job->frame.slots[d] = index[d] = i;
        fill(job, port, is_slot, index, d + 1, value);
    }
}

/* What the formula stores: of `v += e` it is `v + e`, of `v min= e` it is `min(v, e)`. */
static const struct node *stored(const struct kernel *k, const struct dfl_formula *formula, const struct scope *scope, unsigned slots)
{
    struct dfl_expr own = { .kind = formula->indices ? DFL_EXPR_INDEX : DFL_EXPR_NAME, .s = formula->name.text, .args = formula->indices };
    struct dfl_expr sum = { .kind = DFL_EXPR_BINARY, .op = DFL_OP_ADD, .a = &own, .b = formula->value };
    struct dfl_expr call = { .kind = DFL_EXPR_CALL, .s = formula->assign == DFL_LEAST ? "min" : "max", .args = &own };
    if (formula->assign == DFL_SET)
        return lower(k, formula->value, scope, slots);
    if (formula->assign == DFL_ADD)
        return lower(k, &sum, scope, slots);
    own.next = formula->value;
    return lower(k, &call, scope, slots);
}

static void assign(struct job *job, unsigned port, const struct dfl_formula *formula)
{
    struct oracle *o = job->kernel.o;
    const struct scope *scope = NULL;
    bool is_slot[DFL_MAX_RANK] = { false };
    int64_t index[DFL_MAX_RANK] = { 0 };
    unsigned d = 0;
    for (const struct dfl_expr *e = formula->indices; e && d < DFL_MAX_RANK; e = e->next, d++) {
        if (e->kind == DFL_EXPR_INT) {
            index[d] = e->i;
            if (e->i < 0 || e->i >= job->ports[port].extents[d])
                oracle_fail(o, "'%s' is written outside", formula->name.text);
            continue;
        }
        struct node *slot = lower_new(&job->kernel, N_SLOT, I32);
        struct scope *made = oracle_alloc(o, sizeof *made);
        slot->number = d;
        is_slot[d] = true;
        *made = (struct scope){ .name = e->s, .node = slot, .outer = scope };
        scope = made;
    }
    if (d != job->ports[port].rank)
        oracle_fail(o, "'%s' is not assigned so", formula->name.text);
    const struct node *value = stored(&job->kernel, formula, scope, d);
    if (!o->error[0])
        fill(job, port, is_slot, index, 0, value);
}

static void assign_all(struct job *job)
{
    struct oracle *o = job->kernel.o;
    for (const struct dfl_formula *f = job->kernel.formulas; f && !o->error[0]; f = f->next) {
        unsigned port = 0;
        const struct dfl_port *p = job->kernel.sig->ports;
        for (; p && strcmp(p->name.text, f->name.text) != 0; p = p->next)
            port++;
        if (!f->is_let && (!p || p->mode == DFL_IN))
            oracle_fail(o, "'%s' is no output", f->name.text);
        else if (!f->is_let)
            assign(job, port, f);
    }
    unsigned port = 0;
    for (const struct dfl_port *p = job->kernel.sig->ports; p && !o->error[0]; p = p->next, port++)
        if (job->written[port] && memchr(job->written[port], 0, (size_t)array_length(&job->ports[port])))
            oracle_fail(o, "an element of '%s' is not written", p->name.text);
}

bool kernel_run(struct oracle *o, const struct dfl_kernel *kernel, const int64_t *dims, const struct number *scalars, void *const *data)
{
    struct job job = { .kernel = kernel_of(o, kernel->sig, kernel->formulas), .n_ports = kernel->sig->n_ports };
    job.ports = oracle_alloc(o, job.n_ports * sizeof *job.ports);
    job.before = oracle_alloc(o, job.n_ports * sizeof *job.before);
    job.written = oracle_alloc(o, job.n_ports * sizeof *job.written);
    job.frame = (struct frame){ .o = o, .dims = dims, .scalars = scalars, .ports = job.before };
    o->depth = 0;
    if (!kernel->has_formulas)
        oracle_fail(o, "kernel '%s' has no formulas", kernel->name.text);
    else if (kernel_shapes(o, kernel->sig, dims, job.ports)) {
        set_ports(&job, data);
        assign_all(&job);
    }
    return !o->error[0];
}
