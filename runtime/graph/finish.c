/* finish.c - the last step of the graph builder, for the compiler: turns what it collected into an immutable graph. It verifies that every input has a source,
 * that formats agree and that there is no cycle; assigns each node its phase (graph.h); inserts copies; and numbers all nodes in topological order.
 * subgraph/cut.c has it list the readers of a cut.
 *
 * Order of the passes: inputs and formats -> order -> phases -> copies decided -> storage -> nodes and values -> readers.
 * Each is a loop over the builder's arrays. A copy comes right before the node that it serves. So an order that was
 * topological stays topological, and the order of two nodes never depends on a copy.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/builder_impl.h"
#include "runtime/base/error.h"

#define CYCLE_SHOWN 12

enum phase { EVERY_WAVE, BEFORE, AFTER };

struct finish {
    struct df_builder *b;
    uint32_t n, n_sources;              /* nodes and values as they were collected */
    uint32_t *order;                    /* the builder's node numbers, in topological order */
    uint8_t *phase;                     /* by the builder's node number: enum phase */
    bool accs, phases;                  /* some kernel has an acc; some node does not fire in every wave, or has an acc */
    uint32_t *n_readers;                /* by the builder's value number */
    uint32_t *value;                    /* the graph's value number, by the builder's */
    struct dfr_array copies;            /* work of each copy (uint32_t), in the order in which the copies will be
                                         * numbered */
    uint32_t *scope_copies;             /* copies of each scope, then copies numbered so far in each: n_scopes each */
    struct df_graph *g;
};

/* ---- small access ---- */

static const struct df_kernel *kernel_of(const struct finish *f, uint32_t v)
{
    return &dfr_b_kernels(f->b)[dfr_b_nodes(f->b)[v].kernel];
}

static const struct df_kport *port_of(const struct finish *f, uint32_t v, unsigned p)
{
    return &dfr_b_kports(f->b)[kernel_of(f, v)->first_port + p];
}

static uint32_t input_of(const struct finish *f, uint32_t v, unsigned slot)
{
    return ((const uint32_t *)f->b->inputs.items)[dfr_b_nodes(f->b)[v].first_in + slot];
}

static const struct dfr_source *source_of(const struct finish *f, uint32_t value)
{
    return (const struct dfr_source *)f->b->sources.items + value;
}

/* Index of the port that has this out slot. */
static unsigned out_port(const struct finish *f, uint32_t v, uint32_t slot)
{
    unsigned p = slot;                  /* its port has this index or a higher one */
    while (port_of(f, v, p)->out_slot != (int)slot)
        p++;
    return p;
}

static size_t work_port(const struct finish *f, uint32_t v, unsigned p)
{
    return (size_t)dfr_b_works(f->b)[dfr_b_nodes(f->b)[v].work].first_port + p;
}

static uint64_t value_bytes(const struct finish *f, uint32_t value)
{
    uint32_t v = source_of(f, value)->node;
    return dfr_b_port_bytes(f->b)[work_port(f, v, out_port(f, v, value - dfr_b_nodes(f->b)[v].first_out))];
}

static void node_name(const struct finish *f, uint32_t v, char *buffer, size_t size)
{
    struct df_graph view = dfr_builder_view(f->b);
    df_node_name(&view, v, buffer, size);
}

/* ---- inputs and formats ---- */

static void format_text(const struct finish *f, uint32_t v, unsigned p, char *buffer, size_t size)
{
    const struct df_kport *port = port_of(f, v, p);
    const uint64_t *dims = dfr_b_port_dims(f->b) + work_port(f, v, p) * DF_MAX_RANK;
    int n = snprintf(buffer, size, "%s", df_elem_name(port->elem));
    for (unsigned i = 0; i < port->rank && n >= 0 && (size_t)n < size; i++)
        n += snprintf(buffer + n, size - (size_t)n, "%s%llu%s", i ? ", " : "[", (unsigned long long)dims[i],
                      i + 1 == port->rank ? "]" : "");
}

static bool same_format(const struct finish *f, uint32_t v, unsigned p, uint32_t w, unsigned q)
{
    const struct df_kport *a = port_of(f, v, p), *b = port_of(f, w, q);
    const uint64_t *dims = dfr_b_port_dims(f->b);
    return a->elem == b->elem && a->rank == b->rank &&
           memcmp(dims + work_port(f, v, p) * DF_MAX_RANK, dims + work_port(f, w, q) * DF_MAX_RANK,
                  DF_MAX_RANK * sizeof *dims) == 0;
}

static int check_input(const struct finish *f, uint32_t v, unsigned p, struct df_error *error)
{
    const struct df_kport *port = port_of(f, v, p);
    const char *strings = dfr_b_strings(f->b);
    uint32_t value = input_of(f, v, (unsigned)port->in_slot);
    char name[160], other[160], want[100], have[100];
    if (value == DF_NONE) {
        node_name(f, v, name, sizeof name);
        return dfr_error(error, DF_E_ARGUMENT, "%s: input '%s' is not connected", name, strings + port->name);
    }
    uint32_t from = source_of(f, value)->node;
    unsigned q = out_port(f, from, value - dfr_b_nodes(f->b)[from].first_out);
    if (same_format(f, v, p, from, q))
        return DF_OK;
    node_name(f, v, name, sizeof name);
    node_name(f, from, other, sizeof other);
    format_text(f, v, p, want, sizeof want);
    format_text(f, from, q, have, sizeof have);
    return dfr_error(error, DF_E_FORMAT, "%s: input '%s' is %s, but %s gives %s as '%s'", name, strings + port->name,
                     want, other, have, strings + port_of(f, from, q)->name);
}

static int check_inputs(const struct finish *f, struct df_error *error)
{
    for (uint32_t v = 0; v < f->n; v++)
        for (unsigned p = 0; p < kernel_of(f, v)->n_ports; p++)
            if (port_of(f, v, p)->in_slot >= 0) {
                int rc = check_input(f, v, p, error);
                if (rc != DF_OK)
                    return rc;
            }
    return DF_OK;
}

/* ---- order ---- */

/* "a -> b -> … -> a" with at most `shown` names; the middle is left out. Gives the length of the whole text. */
static size_t cycle_text(const struct finish *f, const uint32_t *cycle, uint32_t n_cycle, uint32_t shown, char *buffer,
                         size_t size)
{
    uint32_t head = n_cycle <= shown ? n_cycle : (shown + 1) / 2,
             tail = n_cycle <= shown ? n_cycle : n_cycle - shown / 2;
    size_t length = 0;
    for (uint32_t i = 0; i <= n_cycle; i++) {
        char name[128];
        if (i == head && tail > head) {
            snprintf(name, sizeof name, "... (%u more) ...", (unsigned)(tail - head));
            i = tail - 1;
        } else {
            node_name(f, cycle[i % n_cycle], name, sizeof name);
        }
        int n = snprintf(length < size ? buffer + length : NULL, length < size ? size - length : 0, "%s%s",
                         length ? " -> " : "", name);
        length += n > 0 ? (size_t)n : 0;
    }
    return length;
}

static int report_cycle(const struct finish *f, const uint32_t *cycle, uint32_t n_cycle, struct df_error *error)
{
    static const char prefix[] = "cycle: ";
    char text[sizeof error->text - sizeof prefix + 1] = "";
    uint32_t shown = CYCLE_SHOWN;
    while (cycle_text(f, cycle, n_cycle, shown, text, sizeof text) >= sizeof text && shown > 1)
        shown--;
    return dfr_error(error, DF_E_CYCLE, "%s%s", prefix, text);
}

/* The successors of each node, in the form that df_topological_order() takes. */
static void fill_successors(const struct finish *f, uint32_t *offsets, uint32_t *targets)
{
    const uint32_t *inputs = f->b->inputs.items;
    for (uint32_t i = 0; i < f->b->inputs.n; i++)
        offsets[source_of(f, inputs[i])->node + 1]++;
    for (uint32_t v = 0; v < f->n; v++)
        offsets[v + 1] += offsets[v];
    for (uint32_t v = 0; v < f->n; v++)      /* moves offsets[u] to its end, which is where offsets[u + 1] was */
        for (unsigned s = 0; s < kernel_of(f, v)->n_in; s++)
            targets[offsets[source_of(f, input_of(f, v, s))->node]++] = v;
    memmove(offsets + 1, offsets, f->n * sizeof *offsets);
    offsets[0] = 0;
}

static int find_order(struct finish *f, struct df_error *error)
{
    uint32_t *offsets = calloc((size_t)f->n + 1, sizeof *offsets);
    uint32_t *targets = malloc(((size_t)f->b->inputs.n + 1) * sizeof *targets);
    uint32_t *cycle = f->value, n_cycle = 0; /* f->value is not needed yet. A node on a cycle has an output, so there is
                                              * room */
    int rc = DF_E_MEMORY;
    if (offsets && targets) {
        fill_successors(f, offsets, targets);
        rc = df_topological_order(f->n, offsets, targets, f->order, cycle, &n_cycle);
    }
    free(offsets);
    free(targets);
    if (rc == DF_E_MEMORY)
        return dfr_error_memory(error);
    return rc == DF_E_CYCLE ? report_cycle(f, cycle, n_cycle, error) : rc;
}

/* ---- phases, and copies ---- */

static bool is_acc(const struct finish *f, uint32_t value)
{
    uint32_t v = source_of(f, value)->node;
    return port_of(f, v, out_port(f, v, value - dfr_b_nodes(f->b)[v].first_out))->mode == DF_ACC;
}

/* When the value can be read: an acc's after the last wave, every other when its node has fired. */
static inline enum phase value_phase(const struct finish *f, uint32_t value)
{
    return f->accs && is_acc(f, value) ? AFTER : f->phase[source_of(f, value)->node];
}

/* The node that makes the last input of that phase; there is one. */
static uint32_t maker_of(const struct finish *f, uint32_t v, enum phase phase)
{
    unsigned s = kernel_of(f, v)->n_in - 1u;
    while (value_phase(f, input_of(f, v, s)) != phase)
        s--;
    return source_of(f, input_of(f, v, s))->node;
}

static int refuse_phases(const struct finish *f, uint32_t v, bool after, struct df_error *error)
{
    enum phase other = after ? AFTER : EVERY_WAVE;
    char name[160], from[160], beside[160];

    node_name(f, v, name, sizeof name);
    node_name(f, maker_of(f, v, other), from, sizeof from);
    if (kernel_of(f, v)->traits & DF_ONCE)
        return dfr_error(error, DF_E_ARGUMENT, "%s is once, but it reads %s, which %s", name, from,
                         other == AFTER ? "comes after the last wave" : "fires for every wave");
    if (kernel_of(f, v)->n_acc > 0)
        return dfr_error(error, DF_E_ARGUMENT, "%s has an acc port, but it reads %s, which comes after the last wave",
                         name, from);
    node_name(f, maker_of(f, v, EVERY_WAVE), beside, sizeof beside);
    return dfr_error(error, DF_E_ARGUMENT, "%s reads %s, which fires for every wave, and %s, which comes once, after the "
                     "last wave", name, beside, from);
}

static int spread_phases(struct finish *f, struct df_error *error)
{
    for (uint32_t k = 0; k < dfr_b_count(f->b, DFR_A_kernels); k++)
        f->accs |= dfr_b_kernels(f->b)[k].n_acc > 0;
    f->phases = f->accs;
    for (uint32_t value = 0; value < f->n_sources; value++)
        f->n_readers[value] = source_of(f, value)->kept;
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t v = f->order[i];
        const struct df_kernel *k = kernel_of(f, v);
        bool declared = k->traits & DF_ONCE;
        unsigned before = 0, after = 0;
        for (unsigned s = 0; s < k->n_in; s++) {
            uint32_t value = input_of(f, v, s);
            f->n_readers[value]++;
            enum phase phase = value_phase(f, value);
            before += phase == BEFORE;
            after += phase == AFTER;
        }
        if ((declared && before < k->n_in) || (after > 0 && (before + after < k->n_in || k->n_acc > 0)))
            return refuse_phases(f, v, after > 0, error);
        f->phase[v] = after > 0                                                    ? AFTER
                      : declared || (k->n_in && before == k->n_in && !k->n_acc) ? BEFORE
                                                                                 : EVERY_WAVE;
        f->phases |= f->phase[v] != EVERY_WAVE;
    }
    return DF_OK;
}

/* Would this port change a value that somebody else still reads: another reader, or a later phase of a value that is made
 * before the first wave? Of ranges and of what is made of them others may have the same bytes. */
static bool needs_copy(const struct finish *f, uint32_t v, const struct df_kport *port)
{
    if (port->mode != DF_INOUT)
        return false;
    uint32_t value = input_of(f, v, (unsigned)port->in_slot);
    if (kernel_of(f, source_of(f, value)->node)->flags & DF_KERNEL_RANGES)
        return true;
    return f->n_readers[value] > 1 || (value_phase(f, value) == BEFORE && f->phase[v] != BEFORE);
}

static int decide_copies(struct finish *f, struct df_error *error)
{
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t v = f->order[i];
        for (unsigned p = 0; p < kernel_of(f, v)->n_ports; p++) {
            if (!needs_copy(f, v, port_of(f, v, p)))
                continue;
            uint32_t work, *item;
            int rc = dfr_builder_copy_work(f->b, value_bytes(f, input_of(f, v, (unsigned)port_of(f, v, p)->in_slot)),
                                           &work, error);
            if (rc != DF_OK)
                return rc;
            if (!(item = dfr_array_add(&f->copies, sizeof *item, 1)))
                return dfr_error_memory(error);
            *item = work;
            f->scope_copies[dfr_b_nodes(f->b)[v].scope]++;
        }
    }
    return DF_OK;
}

/* ---- the graph ---- */

static int make_storage(struct finish *f, struct df_error *error)
{
    const struct df_builder *b = f->b;
    struct df_graph *g = f->g;
    for (unsigned a = 0; a < DFR_N_ARRAYS; a++)
        if (dfr_array_infos[a].owns_count)
            dfr_graph_array_set_count(g, a, b->arrays[a].n);
    if (f->copies.n > UINT32_MAX / 2 - f->n || f->copies.n > UINT32_MAX / 2 - f->n_sources ||
        f->copies.n > UINT32_MAX / 2 - b->inputs.n)
        return dfr_error(error, DF_E_ARGUMENT, "the graph is too large: more than 2^31 nodes or arcs");
    g->n_nodes = f->n + f->copies.n;
    g->n_values = f->n_sources + f->copies.n;
    g->n_in_values = g->n_readers = b->inputs.n + f->copies.n;
    if (!dfr_graph_allocate(g))
        return dfr_error_memory(error);
    for (unsigned a = 0; a < DFR_N_ARRAYS; a++)
        if (b->arrays[a].n && a != DFR_A_nodes)
            memcpy((void *)dfr_graph_array(g, a), b->arrays[a].items,
                   b->arrays[a].n * dfr_array_infos[a].item_bytes);
    g->name = g->strings + b->name;
    double *cost_s = (double *)g->cost_s;
    for (size_t i = 0; i < (size_t)g->n_classes * g->n_works; i++)
        cost_s[i] = NAN;
    for (uint32_t w = 0; w < g->n_works; w++) {
        const struct dfr_work_cost *cost = (const struct dfr_work_cost *)b->work_costs.items + w;
        for (uint32_t c = 0; c < cost->n; c++)
            cost_s[(size_t)c * g->n_works + w] = ((const double *)b->costs.items)[cost->first + c];
    }
    return DF_OK;
}

static uint8_t node_flags(enum phase phase)
{
    static const uint8_t flags[] = { [BEFORE] = DF_NODE_ONCE, [AFTER] = DF_NODE_ONCE | DF_NODE_FINAL };
    return flags[phase];
}

/* Where the next record of each kind goes. */
struct place {
    uint32_t node, value, input, copy;
};

static void write_value(struct finish *f, uint32_t value, uint32_t producer, uint32_t slot, uint64_t bytes,
                        uint32_t taken_from, uint32_t name)
{
    ((struct df_value *)f->g->values)[value] = (struct df_value){
        .producer = producer, .slot = (uint16_t)slot, .bytes = bytes, .taken_from = taken_from, .name = name,
        .whole = DF_NONE
    };
}

/* Writes the copy that serves one inout port of node v. *taken is the value that v then reads in place of the first. */
static void write_copy(struct finish *f, struct place *at, uint32_t v, uint32_t value, uint32_t *taken)
{
    const struct df_node *reader = &dfr_b_nodes(f->b)[v];
    uint32_t n_scopes = dfr_b_count(f->b, DFR_A_scopes);
    uint32_t number = ++f->scope_copies[n_scopes + reader->scope];
    ((struct df_node *)f->g->nodes)[at->node] = (struct df_node){
        .kernel = f->b->copy_kernel, .work = ((const uint32_t *)f->copies.items)[at->copy++], .first_in = at->input,
        .first_out = at->value, .scope = reader->scope, .ordinal = f->scope_copies[reader->scope] > 1 ? number : 0,
        .first_index = reader->first_index, .n_indices = reader->n_indices, .hint_class = -1,
        .flags = (uint8_t)(DF_NODE_INSERTED | node_flags(f->phase[v]) | (reader->flags & DF_NODE_RATED)), .rate = reader->rate,
        .file = reader->file, .line = reader->line, .col = reader->col, .part = DF_NONE, .stage = reader->stage,
    };
    ((uint32_t *)f->g->in_value)[at->input++] = f->value[value];
    *taken = at->value;
    write_value(f, at->value++, at->node++, 0, value_bytes(f, value), DF_NONE, source_of(f, value)->name);
}

static void write_node(struct finish *f, struct place *at, uint32_t v)
{
    const struct df_kernel *k = kernel_of(f, v);
    uint32_t n_copies = 0;
    for (unsigned p = 0; p < k->n_ports; p++)
        n_copies += needs_copy(f, v, port_of(f, v, p));
    uint32_t *reads = (uint32_t *)f->g->in_value + at->input + n_copies; /* each copy has one input */
    for (unsigned p = 0; p < k->n_ports; p++) {
        const struct df_kport *port = port_of(f, v, p);
        if (port->in_slot < 0)
            continue;
        uint32_t value = input_of(f, v, (unsigned)port->in_slot);
        if (needs_copy(f, v, port))
            write_copy(f, at, v, value, &reads[port->in_slot]);
        else
            reads[port->in_slot] = f->value[value];
    }
    struct df_node *node = (struct df_node *)f->g->nodes + at->node;
    *node = dfr_b_nodes(f->b)[v];
    node->first_in = at->input;
    node->first_out = at->value;
    node->flags |= node_flags(f->phase[v]);
    ((struct df_work *)f->g->works)[node->work].n_nodes++;
    for (unsigned p = 0; p < k->n_ports; p++) {
        const struct df_kport *port = port_of(f, v, p);
        if (port->out_slot < 0)
            continue;
        uint32_t value = dfr_b_nodes(f->b)[v].first_out + (uint32_t)port->out_slot;
        f->value[value] = at->value + (uint32_t)port->out_slot;
        write_value(f, f->value[value], at->node, (uint32_t)port->out_slot, dfr_b_port_bytes(f->b)[work_port(f, v, p)],
                    port->mode == DF_INOUT ? reads[port->in_slot] : DF_NONE, source_of(f, value)->name);
        ((struct df_value *)f->g->values)[f->value[value]].exact = source_of(f, value)->exact;
    }
    at->input += k->n_in;
    at->value += k->n_out;
    at->node++;
}

/* The flags of values, which are 0 before. */
static void mark_values(struct df_graph *g)
{
    struct df_value *values = (struct df_value *)g->values;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        uint16_t flags = g->nodes[v].flags & DF_NODE_ONCE ? DF_VALUE_ONCE : 0;
        for (uint32_t i = 0; i < df_node_n_out(g, v); i++)
            values[g->nodes[v].first_out + i].flags = flags;
        for (uint32_t i = 0; i < df_node_n_acc(g, v); i++)
            values[df_node_acc(g, v, i)].flags = DF_VALUE_ONCE | DF_VALUE_ACC;
    }
}

/* They are counted, placed, then filled in. */
void dfr_graph_write_readers(struct df_graph *g)
{
    struct df_value *values = (struct df_value *)g->values;
    struct df_reader *readers = (struct df_reader *)g->readers;
    uint32_t first = 0;
    for (uint32_t i = 0; i < g->n_in_values; i++)
        values[g->in_value[i]].n_readers++;
    for (uint32_t x = 0; x < g->n_values; x++) {
        values[x].first_reader = first;
        first += values[x].n_readers;
        values[x].n_readers = 0;
    }
    for (uint32_t v = 0; v < g->n_nodes; v++)
        for (uint32_t s = 0; s < df_node_n_in(g, v); s++) {
            struct df_value *value = &values[g->in_value[g->nodes[v].first_in + s]];
            readers[value->first_reader + value->n_readers++] = (struct df_reader){ v, s };
        }
}

/* Says which values are ranges. A copy that an inout port changes in place lies where its outcome does. */
static void write_ranges(struct finish *f)
{
    struct df_value *values = (struct df_value *)f->g->values;
    for (uint32_t value = 0; value < f->n_sources; value++) {
        const struct dfr_source *source = source_of(f, value);
        if (source->whole == DF_NONE)
            continue;
        for (uint32_t x = f->value[value]; x != DF_NONE; x = values[x].taken_from) {
            values[x].whole = f->value[source->whole];
            values[x].offset = source->offset;
        }
    }
}

static int attach_functions(struct finish *f, struct df_error *error)
{
    const struct df_functions *functions = f->b->functions.items;
    for (uint32_t k = 0; k < f->b->functions.n; k++)
        if (functions[k].cpu || functions[k].gpu || functions[k].opencl)
            return dfr_graph_set_functions(f->g, functions, f->b->functions.n, error);
    return DF_OK;
}

static int make_graph(struct finish *f, struct df_error *error)
{
    int rc = check_inputs(f, error);
    if (rc == DF_OK)
        rc = find_order(f, error);
    if (rc == DF_OK)
        rc = spread_phases(f, error);
    if (rc == DF_OK)
        rc = decide_copies(f, error);
    if (rc == DF_OK)
        rc = make_storage(f, error);
    if (rc == DF_OK)
        rc = attach_functions(f, error);
    if (rc != DF_OK)
        return rc;
    struct place at = { 0 };
    for (uint32_t i = 0; i < f->n; i++)
        write_node(f, &at, f->order[i]);
    for (uint32_t c = 0; c < f->copies.n; c++)
        ((struct df_work *)f->g->works)[((const uint32_t *)f->copies.items)[c]].n_nodes++;
    if (f->phases)
        mark_values(f->g);
    df_graph_find_rates(f->g, NULL);
    dfr_graph_write_readers(f->g);
    write_ranges(f);
    assert(df_graph_check(f->g, error));
    return DF_OK;
}

int df_builder_finish(struct df_builder *b, struct df_graph **graph, struct df_error *error)
{
    struct finish f = { .b = b, .n = dfr_b_count(b, DFR_A_nodes), .n_sources = b->sources.n };
    size_t n = (size_t)f.n + 1, n_sources = (size_t)f.n_sources + 1;
    f.order = malloc(n * sizeof *f.order);
    f.phase = malloc(n);
    f.n_readers = calloc(n_sources, sizeof *f.n_readers);
    f.value = malloc(n_sources * sizeof *f.value);
    f.scope_copies = calloc(2 * (size_t)dfr_b_count(b, DFR_A_scopes), sizeof *f.scope_copies);
    f.g = calloc(1, sizeof *f.g);
    bool memory = f.order && f.phase && f.n_readers && f.value && f.scope_copies && f.g;
    dfr_builder_selects(b);
    int rc = memory ? make_graph(&f, error) : dfr_error_memory(error);
    if (rc == DF_OK)
        *graph = f.g;
    else
        df_graph_free(f.g);
    free(f.order);
    free(f.phase);
    free(f.n_readers);
    free(f.value);
    free(f.scope_copies);
    dfr_array_free(&f.copies);
    return rc;
}
