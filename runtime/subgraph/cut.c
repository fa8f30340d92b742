/* cut.c - which node is at which place, and the graph of each place (cut.h), for part.c and groups.c; compiler/cluster/scale.c asks for the places. A graph is
 * flat arrays (graph/arrays.h), so a cut has the same arrays with other nodes, values and readers, and with a kernel and a work more for each given node.
 */
#include "runtime/subgraph/cut.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/extents/extents.h"
#include "runtime/graph/arrays.h"
#include "runtime/graph/expr.h"

static const struct df_kernel *kernel_of(const struct df_graph *g, uint32_t v)
{
    return &g->kernels[g->nodes[v].kernel];
}

static bool is_view(const struct df_graph *g, uint32_t v)
{
    return kernel_of(g, v)->flags & DF_KERNEL_VIEW;
}

/* ---- places ---- */

static bool fires_first(const struct df_graph *g, uint32_t v)
{
    return (g->nodes[v].flags & (DF_NODE_ONCE | DF_NODE_FINAL)) == DF_NODE_ONCE;
}

/* On the first rank alone it is known what comes next, or what was made once. */
static bool must_be_first(const struct df_graph *g, uint32_t v)
{
    return fires_first(g, v) || (kernel_of(g, v)->n_in == 0 && kernel_of(g, v)->traits & (DF_STREAM | DF_ORDERED));
}

/* A source or a sink that is where the waves are. */
static bool is_worker(const struct df_graph *g, uint32_t v)
{
    return g->nodes[v].flags & DF_NODE_WORKER && !(g->nodes[v].flags & DF_NODE_ONCE);
}

void dfr_cut_places(const struct df_graph *g, uint8_t *place)
{
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        const struct df_kernel *k = kernel_of(g, v);
        bool follows = g->nodes[v].flags & DF_NODE_INSERTED || df_node_is_ranges(g, v);
        if (is_worker(g, v))
            place[v] = DFR_BODY;
        else if (must_be_first(g, v) || follows)
            place[v] = DFR_HEAD;        /* what follows others goes with them later */
        else if (df_node_is_final(g, v) || df_kernel_in_order(k) || k->n_out == 0)
            place[v] = DFR_TAIL;
        else
            place[v] = DFR_BODY;
    }
}

static bool raise_to(uint8_t *place, uint32_t v, uint8_t to)
{
    bool later = place[v] < to;
    place[v] = later ? to : place[v];
    return later;
}

/* The node at whose place the value is made. Of a range that a view gives it is the one that makes the whole. */
static uint32_t maker_of(const struct df_graph *g, uint32_t x)
{
    bool viewed = g->values[x].whole != DF_NONE && df_value_is_view(g, x);
    return g->values[viewed ? g->values[x].whole : x].producer;
}

/* Is the value a part of a join, or what becomes one? */
static bool is_joined(const struct df_graph *g, uint32_t x)
{
    return g->values[x].whole != DF_NONE && !df_value_is_view(g, x);
}

/* A node is not before what it reads. Who reads or joins parts is where these are made. */
static bool settle_inputs(const struct df_graph *g, uint8_t *place, uint32_t v)
{
    bool moved = false;
    for (uint32_t i = 0; i < df_node_n_in(g, v); i++) {
        uint32_t x = g->in_value[g->nodes[v].first_in + i];
        moved |= raise_to(place, v, place[maker_of(g, x)]);
        if (is_joined(g, x) && !is_view(g, v))
            moved |= raise_to(place, g->values[x].producer, place[v]);
    }
    return moved;
}

static bool settle_copy(const struct df_graph *g, uint8_t *place, uint32_t v)
{
    const struct df_value *made = &g->values[g->nodes[v].first_out];
    return g->nodes[v].flags & DF_NODE_INSERTED && made->n_readers > 0 &&
           raise_to(place, v, place[g->readers[made->first_reader].node]);
}

/* The node says @worker, and must be on the first rank. */
static int refuse_worker(const struct df_graph *g, const uint8_t *place, uint8_t tail, uint32_t v, struct df_error *error)
{
    char name[160], other[160];

    df_node_name(g, v, name, sizeof name);
    if (g->nodes[v].flags & DF_NODE_ONCE)
        return dfr_error(error, DF_E_REFUSED, "--cluster: node '%s' is '@worker', and fires once, on the first rank", name);
    for (uint32_t i = 0; i < df_node_n_in(g, v); i++) {
        uint32_t producer = maker_of(g, g->in_value[g->nodes[v].first_in + i]);
        if (place[producer] != tail)
            continue;
        df_node_name(g, producer, other, sizeof other);
        return dfr_error(error, DF_E_REFUSED, "--cluster: node '%s' is '@worker', and reads what node '%s' makes, which is on the first rank because all "
                         "waves come there in order", name, other);
    }
    return dfr_error(error, DF_E_REFUSED, "--cluster: node '%s' is '@worker', but its parts are joined on the first rank: with --parts=1 it is not "
                     "divided", name);
}

int dfr_cut_settle(const struct df_graph *g, uint8_t *place, uint8_t tail, struct df_error *error)
{
    char name[160];
    bool moved = true;

    while (moved) {                     /* nodes only move to later places, so this ends */
        moved = false;
        for (uint32_t v = 0; v < g->n_nodes; v++)
            moved |= settle_inputs(g, place, v);
        for (uint32_t v = g->n_nodes; v-- > 0;)
            moved |= settle_copy(g, place, v);
    }
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (g->nodes[v].flags & DF_NODE_WORKER && (place[v] == DFR_HEAD || place[v] == tail || !is_worker(g, v)))
            return refuse_worker(g, place, tail, v, error);
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        if (place[v] == DFR_HEAD || is_view(g, v) || is_worker(g, v) || !must_be_first(g, v))
            continue;
        df_node_name(g, v, name, sizeof name);
        return dfr_error(error, DF_E_REFUSED, "--cluster: node '%s' is called on the first rank alone, but the parts that it makes "
                         "are read on others: with --parts=1 it is not divided", name);
    }
    return DF_OK;
}

/* ---- the graph of a place ---- */

struct cutter {
    const struct df_graph *from;
    struct dfr_extents *extents;        /* of `from`; NULL: nothing varies */
    struct dfr_cut *cut;
    bool *kept;                         /* by node of `from` */
    bool *crosses;                      /* by value of `from`: a kept node reads it, and its producer is not kept */
    uint32_t *value_at;                 /* by value of `from`: its number in the cut */
    struct df_graph *to;
    uint32_t kernel, work, port, wport, dim_name, dim, extent, code; /* where the next items of given nodes go */
};

/* A view is kept if somebody kept reads its ranges. */
static void find_kept(struct cutter *c, const uint8_t *place, unsigned which)
{
    const struct df_graph *g = c->from;
    for (uint32_t v = g->n_nodes; v-- > 0;) {
        c->kept[v] |= !is_view(g, v) && place[v] == which;
        for (uint32_t i = 0; c->kept[v] && i < df_node_n_in(g, v); i++) {
            uint32_t producer = g->values[g->in_value[g->nodes[v].first_in + i]].producer;
            c->kept[producer] |= is_view(g, producer) && place[producer] != DFR_ELSEWHERE;
        }
    }
}

static void find_crossing(struct cutter *c)
{
    const struct df_graph *g = c->from;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        for (uint32_t i = 0; c->kept[v] && i < df_node_n_in(g, v); i++) {
            uint32_t x = g->in_value[g->nodes[v].first_in + i];
            c->crosses[x] |= !c->kept[g->values[x].producer];
        }
}

static unsigned varying(const struct cutter *c, uint32_t x)
{
    return c->extents ? dfr_extents_that_vary(c->extents, x) : 0;
}

/* How many outputs of the node cross; *n_vary: extents of them that differ from wave to wave. */
static uint32_t count_crossing(const struct cutter *c, uint32_t v, uint32_t *n_vary)
{
    uint32_t n = 0;
    *n_vary = 0;
    for (uint32_t y = c->from->nodes[v].first_out; y < c->from->nodes[v].first_out + df_node_n_out(c->from, v); y++) {
        n += c->crosses[y];
        *n_vary += c->crosses[y] ? (uint32_t)__builtin_popcount(varying(c, y)) : 0;
    }
    return n;
}

/* Counts what the cut has, and gives its arrays memory. Those that are not of nodes and values begin as the whole graph's. */
static bool allocate(struct cutter *c)
{
    const struct df_graph *g = c->from;
    struct df_graph *to = c->to;
    *to = *g;
    to->functions = NULL;
    to->n_nodes = to->n_values = to->n_in_values = 0;
    c->kernel = g->n_kernels, c->work = g->n_works, c->port = g->n_kports, c->wport = g->n_wports;
    c->dim_name = g->n_dim_names, c->dim = g->n_dims, c->extent = g->n_extents, c->code = g->n_code;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        uint32_t n_vary, n_out = c->kept[v] ? df_node_n_out(g, v) : count_crossing(c, v, &n_vary);
        if (!c->kept[v] && n_out == 0)
            continue;
        to->n_nodes++;
        to->n_values += n_out;
        to->n_in_values += c->kept[v] ? df_node_n_in(g, v) : 0;
        if (c->kept[v])
            continue;
        c->cut->n_given++;
        to->n_kernels++;
        to->n_works++;
        to->n_kports += n_out;
        to->n_wports += n_out;
        to->n_dim_names += n_vary;
        to->n_dims += n_vary;
        to->n_extents += n_vary ? n_out * DF_MAX_RANK : 0;
        to->n_code += 2 * n_vary;
    }
    to->n_readers = to->n_in_values;
    c->cut->node = malloc((to->n_nodes + 1u) * sizeof *c->cut->node);
    c->cut->value = malloc((to->n_values + 1u) * sizeof *c->cut->value);
    return dfr_graph_allocate(to) && c->cut->node && c->cut->value;
}

static void copy_arrays(struct cutter *c)
{
    for (unsigned a = 0; a < DFR_N_ARRAYS; a++) {
        uint64_t n = dfr_graph_array_count(c->from, a);
        if (a != DFR_A_nodes && a != DFR_A_in_value && a != DFR_A_values && a != DFR_A_readers && a != DFR_A_cost_s && n > 0)
            memcpy((void *)dfr_graph_array(c->to, a), dfr_graph_array(c->from, a), n * dfr_array_infos[a].item_bytes);
    }
    for (uint32_t w = 0; w < c->to->n_works; w++) {
        if (w < c->from->n_works)
            ((struct df_work *)c->to->works)[w].n_nodes = 0;
        for (uint32_t cls = 0; cls < c->to->n_classes; cls++)
            ((double *)c->to->cost_s)[(size_t)cls * c->to->n_works + w] =
                w < c->from->n_works ? c->from->cost_s[(size_t)cls * c->from->n_works + w] : cls == DF_CLASS_CPU ? 0 : NAN;
    }
}

/* Port p of the node's kernel that has this output. */
static uint32_t port_of(const struct df_graph *g, const struct df_value *y)
{
    const struct df_kernel *k = kernel_of(g, y->producer);
    uint32_t p = y->slot;
    while (g->kports[k->first_port + p].out_slot != y->slot)
        p++;
    return p;
}

/* The extents of a port of a given node. Those that vary are variables of their own. */
static void write_extents(struct cutter *c, uint32_t first_dim, unsigned vary, uint32_t name, const uint64_t *dims)
{
    for (unsigned i = 0; i < DF_MAX_RANK; i++, c->extent++) {
        uint64_t *code = (uint64_t *)c->to->code + c->code;
        if (!(vary >> i & 1))
            continue;                   /* a number: no code */
        ((struct df_extent *)c->to->extents)[c->extent] = (struct df_extent){ .first_code = c->code, .n_code = 2 };
        code[0] = DF_X_ARG;
        code[1] = c->dim_name - first_dim;
        c->code += 2;
        ((uint32_t *)c->to->dim_names)[c->dim_name++] = name;
        ((uint64_t *)c->to->dims)[c->dim++] = dims[i];
    }
}

/* Port n of the kernel and the work of a given node: value y of the whole graph. */
static void write_port(struct cutter *c, uint32_t y, int n, bool some_vary, struct df_work *work, uint32_t first_dim)
{
    const struct df_graph *g = c->from;
    const struct df_value *value = &g->values[y];
    const uint32_t p = port_of(g, value);
    const struct df_kport *from = &g->kports[kernel_of(g, value->producer)->first_port + p];
    const uint64_t *dims = g->port_dims + (g->works[g->nodes[value->producer].work].first_port + p) * (size_t)DF_MAX_RANK;

    ((struct df_kport *)c->to->kports)[c->port++] =
        (struct df_kport){ .name = from->name, .mode = DF_OUT, .elem = from->elem, .rank = from->rank,
                           .own = (uint8_t)varying(c, y), .in_slot = -1, .out_slot = (int16_t)n };
    ((uint64_t *)c->to->port_bytes)[c->wport] = value->bytes;
    memcpy((uint64_t *)c->to->port_dims + c->wport * (size_t)DF_MAX_RANK, dims, DF_MAX_RANK * sizeof *dims);
    c->wport++;
    work->job_bytes += value->bytes;
    if (some_vary)
        write_extents(c, first_dim, varying(c, y), from->name, dims);
}

/* The kernel and the work of the node that stands for node v. */
static void write_given(struct cutter *c, uint32_t v, struct df_node *node)
{
    const struct df_graph *g = c->from;
    struct df_kernel *kernel = (struct df_kernel *)c->to->kernels + c->kernel;
    struct df_work *work = (struct df_work *)c->to->works + c->work;
    const uint32_t first_dim = c->dim_name;
    uint32_t n_vary, n_out = count_crossing(c, v, &n_vary);
    int n = 0;

    *kernel = (struct df_kernel){ .name = kernel_of(g, v)->name, .file = kernel_of(g, v)->file, .line = kernel_of(g, v)->line,
                                  .first_port = c->port, .first_dim = c->dim_name, .first_scalar = g->n_kscalars,
                                  .n_ports = (uint16_t)n_out, .n_dims = (uint16_t)n_vary, .n_out = (uint16_t)n_out,
                                  .traits = g->nodes[v].flags & DF_NODE_ONCE ? DF_ONCE : 0,
                                  .cost_classes = 1u << DF_CLASS_CPU, .first_extent = n_vary ? c->extent : DF_NONE };
    *work = (struct df_work){ .kernel = c->kernel, .first_dim = c->dim, .first_port = c->wport,
                              .first_scalar = g->n_node_scalars, .threads = 1 };
    for (uint32_t y = g->nodes[v].first_out; y < g->nodes[v].first_out + df_node_n_out(g, v); y++)
        if (c->crosses[y])
            write_port(c, y, n++, n_vary > 0, work, first_dim);
    node->kernel = c->kernel++;
    node->work = c->work++;
    node->flags = (uint8_t)((node->flags & DF_NODE_ONCE) | DF_NODE_ZERO_COST);
    node->hint_class = -1;
    node->depth = 0;
}

static uint32_t moved(const struct cutter *c, uint32_t value)
{
    return value == DF_NONE ? DF_NONE : c->value_at[value];
}

/* What a node makes. The wholes of ranges and the values that are taken over have no numbers yet: link_values(). A part whose whole is not made
 * here lies by itself. */
static void write_values(struct cutter *c, uint32_t v, uint32_t at, uint32_t *next)
{
    const struct df_graph *g = c->from;
    uint16_t slot = 0;
    for (uint32_t y = g->nodes[v].first_out; y < g->nodes[v].first_out + df_node_n_out(g, v); y++) {
        struct df_value *value = (struct df_value *)c->to->values + *next;
        if (!c->kept[v] && !c->crosses[y])
            continue;
        *value = g->values[y];
        value->producer = at;
        value->slot = slot++;
        value->n_readers = 0;
        if (!c->kept[v]) {
            value->taken_from = DF_NONE;
            value->exact = 0;
        }
        if (!c->kept[v] || (is_joined(g, y) && !c->kept[g->values[value->whole].producer])) {
            value->whole = DF_NONE;
            value->offset = 0;
        }
        c->cut->value[*next] = y;
        c->value_at[y] = (*next)++;
    }
}

static void link_values(struct cutter *c)
{
    for (uint32_t x = 0; x < c->to->n_values; x++) {
        struct df_value *value = (struct df_value *)c->to->values + x;
        value->taken_from = moved(c, value->taken_from);
        value->whole = moved(c, value->whole);
    }
}

static void write_nodes(struct cutter *c)
{
    const struct df_graph *g = c->from;
    uint32_t at = 0, in = 0, out = 0;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        struct df_node *node = (struct df_node *)c->to->nodes + at;
        uint32_t n_vary;
        if (!c->kept[v] && count_crossing(c, v, &n_vary) == 0)
            continue;
        *node = g->nodes[v];
        node->first_in = in;
        node->first_out = out;
        if (!c->kept[v])
            write_given(c, v, node);
        for (uint32_t i = 0; c->kept[v] && i < df_node_n_in(g, v); i++)
            ((uint32_t *)c->to->in_value)[in++] = c->value_at[g->in_value[g->nodes[v].first_in + i]];
        write_values(c, v, at, &out);
        ((struct df_work *)c->to->works)[node->work].n_nodes++;
        c->cut->node[at++] = v;
    }
    link_values(c);
}

static int make(struct cutter *c, struct df_error *error)
{
    if (!allocate(c))
        return dfr_error_memory(error);
    copy_arrays(c);
    write_nodes(c);
    dfr_graph_write_readers(c->to);
    assert(df_graph_check(c->to, error));
    return c->from->functions ? dfr_graph_set_functions(c->to, c->from->functions, c->from->n_kernels, error) : DF_OK;
}

int dfr_cut_make(const struct df_graph *g, const uint8_t *place, unsigned which, struct dfr_cut *cut, struct df_error *error)
{
    struct cutter c = { .from = g, .cut = cut, .kept = calloc(g->n_nodes + 1u, 1), .crosses = calloc(g->n_values + 1u, 1),
                        .value_at = malloc((g->n_values + 1u) * sizeof *c.value_at), .to = calloc(1, sizeof *c.to) };
    int status;

    *cut = (struct dfr_cut){ .graph = c.to };
    if (!c.kept || !c.crosses || !c.value_at || !c.to)
        status = dfr_error_memory(error);
    else
        status = dfr_extents_create(g, 1, &c.extents, error);
    if (status == DF_OK) {
        find_kept(&c, place, which);
        find_crossing(&c);
        status = make(&c, error);
    }
    dfr_extents_destroy(c.extents);
    free(c.kept);
    free(c.crosses);
    free(c.value_at);
    if (status != DF_OK)
        dfr_cut_free(cut);
    return status;
}

int dfr_cut_reads(const struct df_graph *g, const uint8_t *place, unsigned which, bool *reads, struct df_error *error)
{
    struct cutter c = { .from = g, .kept = calloc(g->n_nodes + 1u, 1), .crosses = reads };

    memset(reads, 0, g->n_values);
    if (!c.kept)
        return dfr_error_memory(error);
    find_kept(&c, place, which);
    find_crossing(&c);
    free(c.kept);
    return DF_OK;
}

void dfr_cut_free(struct dfr_cut *cut)
{
    df_graph_free(cut->graph);
    free(cut->node);
    free(cut->value);
    *cut = (struct dfr_cut){ 0 };
}
