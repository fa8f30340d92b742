/* count.c - counts the arithmetic operations and memory accesses of a kernel's formulas, by a walk over their
 * expression nodes, for front/front.c; the roofline estimate takes the counts (count.h).
 *
 * The same slot number means different ranges in different reductions. A node that depends on ranges is therefore
 * counted at each visit of the innermost reduction whose range it depends on; all other nodes are counted once per
 * formula.
 */
#include "compiler/count/count.h"

#include <math.h>
#include <string.h>

#include "compiler/count/one_pass.h"

#define CACHED_BYTES (UINT64_C(1) << 20) /* a port of so many bytes stays in a cache that is near */

struct counter {
    const struct dff_kernel *kernel;
    const struct df_graph *graph;
    const struct df_work *work;
    struct dfw_operations sum;
    double trips[DFF_MAX_SLOTS], middle[DFF_MAX_SLOTS]; /* by slot: how many values, and the middle one */
    uint32_t *seen;                     /* by node: the visit that counted it */
    uint32_t visits;
    struct { uint32_t slots, visit; } around[DFF_MAX_SLOTS + 1]; /* reductions around, the outermost first; [0] the formula */
    uint32_t depth;
    const struct dff_node *running;     /* it takes one term more for each element; NULL: none does */
    double reads[256], written[256];    /* by port of the signature, DFL_MAX_PORTS: elements read by address; bytes written */
    const struct dff_gpu_code *gpu;
};

/* Of the memory that the port reads: a port of a group may be another one with other borders. */
static double port_bytes(const struct counter *c, uint32_t port)
{
    return (double)c->graph->port_bytes[c->work->first_port + c->kernel->ports[port].memory];
}

/* A stream inside a group is in memory only where GPU code has no tiles. */
static bool is_in_memory(const struct counter *c, uint32_t port)
{
    return c->kernel->ports[c->kernel->ports[port].memory].mode != DF_TMP || (c->gpu && !c->gpu->is_tiled);
}

/* ---- numbers that are known before a run ---- */

/* The value of scalar s of the work; NaN: it is not known before a run. */
static double scalar_value(const struct counter *c, uint32_t s)
{
    const struct df_scalar_value *v = &c->graph->scalars[c->graph->node_scalars[c->work->first_scalar + s]];
    if (v->n_code || v->type == DF_S_STR)
        return NAN;
    return v->type == DF_S_F32 || v->type == DF_S_F64 ? v->f : (double)v->i;
}

static double evaluate(const struct counter *c, const struct dff_node *n)
{
    double a, b;
    switch (n->kind) {
    case DFF_CONST: return n->type == DFF_F32 || n->type == DFF_F64 ? n->f : (double)n->i;
    case DFF_INDEX: return c->middle[n->number];
    case DFF_DIM: return (double)c->graph->dims[c->work->first_dim + n->number];
    case DFF_SCALAR: return scalar_value(c, n->number);
    case DFF_CAST: return evaluate(c, n->args[0]);
    case DFF_OP: break;
    default: return NAN;
    }
    a = evaluate(c, n->args[0]);
    b = n->n_args > 1 ? evaluate(c, n->args[1]) : 0;
    switch (n->op) {
    case DFF_NEG: return -a;
    case DFF_ADD: return a + b;
    case DFF_SUB: return a - b;
    case DFF_MUL: return a * b;
    case DFF_DIV: return b != 0 ? trunc(a / b) : 0;
    case DFF_MOD: return b != 0 ? fmod(a, b) : 0;
    case DFF_MIN: return isnan(a) || isnan(b) ? (double)NAN : fmin(a, b);
    case DFF_MAX: return isnan(a) || isnan(b) ? (double)NAN : fmax(a, b);
    default: return NAN;
    }
}

/* Makes the reduction's ranges known. Gives how many terms it has. */
static double enter_ranges(struct counter *c, const struct dff_node *reduce)
{
    double terms = 1;
    for (uint32_t r = 0; r < reduce->n_ranges; r++) {
        const struct dff_range *range = &reduce->ranges[r];
        double from = evaluate(c, range->from), to = evaluate(c, range->to), trips = fmax(to - from, 0);
        if (isnan(from) || isnan(to))
            c->sum.known = false;
        c->trips[range->slot] = trips;
        c->middle[range->slot] = from + floor(trips / 2);
        terms *= trips;
    }
    return terms;
}

/* ---- operations ---- */

static double times_of(const struct counter *c, uint32_t slots)
{
    double times = 1;
    for (uint32_t s = 0; s < DFF_MAX_SLOTS; s++)
        if (slots >> s & 1)
            times *= c->trips[s];
    return times;
}

static void add(struct counter *c, enum dff_type type, double n)
{
    if (type == DFF_F32 || type == DFF_F64)
        c->sum.flops[type == DFF_F64] += n;
    else
        c->sum.integers += type == DFF_I64 ? 2 * n : n;
}

static void add_operation(struct counter *c, const struct dff_node *n, double times)
{
    enum dff_type type = n->args[n->op == DFF_CHOOSE ? 1 : 0]->type; /* a comparison is of its operands' type */
    unsigned wide = type == DFF_F64;
    switch (n->op) {
    case DFF_DIV: case DFF_MOD: case DFF_SQRT: c->sum.divisions[wide] += times; break;
    case DFF_EXP: case DFF_LOG: case DFF_POW: case DFF_SIN: case DFF_COS: case DFF_TAN: case DFF_ATAN2: case DFF_TANH:
        c->sum.functions[wide] += times;
        break;
    case DFF_FMA: add(c, type, 2 * times); break;
    default: add(c, type, times); break;
    }
}

/* A sum and its like do one operation a term; argmin and argmax compare and keep two things. */
static void add_reduction(struct counter *c, const struct dff_node *n, double times)
{
    enum dff_type type = n->op == DFF_COUNT || !n->args[0] ? DFF_I32 : n->args[0]->type;
    add(c, type, (n->op == DFF_ARGMIN || n->op == DFF_ARGMAX ? 3 : 1) * times);
}

static bool reads_data(const struct dff_node *n)
{
    bool reads = n->kind == DFF_READ || n->kind == DFF_TABLE;
    for (uint32_t i = 0; i < n->n_args && !reads; i++)
        reads = n->args[i] && reads_data(n->args[i]);
    return reads;
}

static void visit(struct counter *c, const struct dff_node *n);

static void visit_read(struct counter *c, const struct dff_node *n, double times)
{
    bool gathers = false;
    for (uint32_t i = 0; i < n->n_args; i++)
        if (reads_data(n->args[i])) {   /* an affine address costs nothing */
            gathers = true;
            visit(c, n->args[i]);
        }
    if (n->kind == DFF_READ && gathers && port_bytes(c, n->number) > CACHED_BYTES) {
        c->sum.random_reads += times;
        return;
    }
    c->sum.integers += times;
    if (n->kind == DFF_READ)
        c->reads[c->kernel->ports[n->number].memory] += times;
}

static void visit_reduction(struct counter *c, const struct dff_node *n, double times)
{
    double terms = enter_ranges(c, n);
    uint32_t own = 0;
    for (uint32_t r = 0; r < n->n_ranges; r++)
        own |= 1u << n->ranges[r].slot;
    add_reduction(c, n, times * (n == c->running ? 1 : terms));
    c->depth++;
    c->around[c->depth].slots = own;
    c->around[c->depth].visit = ++c->visits;
    for (uint32_t i = 0; i < n->n_args; i++)
        if (n->args[i])
            visit(c, n->args[i]);
    c->depth--;
}

/* Counts the node and what it is made of, unless that was done. */
static void visit(struct counter *c, const struct dff_node *n)
{
    uint32_t d = c->depth;
    while (d > 0 && !(n->slots & c->around[d].slots))
        d--;
    if (c->seen[n->id] == c->around[d].visit)
        return;
    c->seen[n->id] = c->around[d].visit;
    double times = times_of(c, n->slots);
    switch (n->kind) {
    case DFF_READ: case DFF_TABLE: visit_read(c, n, times); return;
    case DFF_REDUCE: visit_reduction(c, n, times); return;
    case DFF_OP: add_operation(c, n, times); break;
    case DFF_CONVERT: add(c, n->args[0]->type, 3 * times); break; /* both bounds, and rounding */
    case DFF_WRAP: case DFF_CAST: add(c, n->args[0]->type, times); break;
    default: return;
    }
    for (uint32_t i = 0; i < n->n_args; i++)
        visit(c, n->args[i]);
}

/* ---- all formulas ---- */

static void count_formula(struct counter *c, const struct dff_formula *f)
{
    const struct dff_port *port = &c->kernel->ports[f->port];
    double elements = 1;
    for (unsigned d = 0; d < f->rank; d++) {
        double extent = evaluate(c, port->extents[d]);
        c->trips[d] = f->is_index[d] ? extent : 1;
        c->middle[d] = floor(extent / 2);
        elements *= c->trips[d];
    }
    struct dff_one_pass pass;
    const enum dff_pass pass_kind = dff_one_pass(c->kernel, f, &pass);
    if (pass_kind == DFF_PASS_JOINED)
        c->trips[pass.slot] = 1;
    if (pass_kind == DFF_PASS_RUNNING)
        c->middle[pass.slot] = c->trips[pass.slot] - 1; /* all terms of the last element are what there is to do */
    c->running = pass_kind == DFF_PASS_RUNNING ? pass.reduce : NULL;
    c->depth = 0;
    c->around[0].visit = ++c->visits;
    visit(c, f->value);
    c->written[port->memory] += elements * (double)df_elem_bytes(port->elem);
}

struct dfw_operations dff_count(struct dfc_unit *u, const struct dff_kernel *kernel, const struct df_graph *graph,
                                uint32_t work, const struct dff_gpu_code *gpu)
{
    struct counter c = { .kernel = kernel, .graph = graph, .work = &graph->works[work], .gpu = gpu };
    c.seen = dfc_alloc(u, (kernel->n_nodes + 1) * sizeof *c.seen);
    if (!c.seen)
        return (struct dfw_operations){ .known = false };
    struct dfw_operations all = { .known = true };
    for (unsigned i = 0; i < kernel->n_formulas; i++) {
        c.sum = (struct dfw_operations){ .known = true };
        count_formula(&c, &kernel->formulas[i]);
        all.known &= c.sum.known;
        dfw_operations_add(&all, &c.sum, gpu && gpu->computed ? gpu->computed[i] : 1);
    }
    for (unsigned p = 0; p < kernel->n_ports; p++)
        if (kernel->ports[p].memory == p && is_in_memory(&c, p)) {
            const double whole = kernel->ports[p].mode == DF_TMP ? c.written[p] : port_bytes(&c, p); /* a tmp port may have but some rows */
            all.bytes_written += c.written[p];
            all.bytes_read += fmin(whole, c.reads[p] * (double)df_elem_bytes(kernel->ports[p].elem)) * (gpu && gpu->read ? gpu->read[p] : 1);
        }
    all.launches = gpu ? gpu->launches : 0;
    return all;
}
