/* part.c - makes the parts of a graph and runs them (part.h): opens a part, begins waves on given tokens, gives what they made, and ends it. The ranks of a run
 * (runtime/ranks/) and --replay (program/replay.c) call it; groups.c and share.c use it to make their subgraphs. */
#include "runtime/subgraph/part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/engine/engine.h"
#include "runtime/extents/extents.h"
#include "runtime/graph/plan.h"
#include "runtime/io/state.h"
#include "runtime/start/run_impl.h"

#define LINE 64u
#define NAME_BYTES 512

/* ---- a graph in parts ---- */

static const struct df_kport *out_port(const struct df_graph *g, uint32_t x, const uint64_t **largest)
{
    const struct df_node *node = &g->nodes[g->values[x].producer];
    const struct df_kport *ports = &g->kports[g->kernels[node->kernel].first_port];
    uint32_t p = g->values[x].slot;
    while (ports[p].out_slot != g->values[x].slot)
        p++;
    *largest = g->port_dims + (g->works[node->work].first_port + p) * (size_t)DF_MAX_RANK;
    return &ports[p];
}

/* What is given in some part crosses, and accs of BODY do. */
static int find_ports(struct dfr_parts *parts, struct df_error *error)
{
    const struct df_graph *g = parts->graph;
    uint8_t *to = calloc(g->n_values + 1u, 1);
    struct dfr_extents *extents = NULL;
    int status = to ? dfr_extents_create(g, 1, &extents, error) : dfr_error_memory(error);

    parts->ports = calloc(g->n_values + 1u, sizeof *parts->ports);
    parts->port_of = malloc((g->n_values + 1u) * sizeof *parts->port_of);
    if (status == DF_OK && (!parts->ports || !parts->port_of))
        status = dfr_error_memory(error);
    for (unsigned which = 0; which < DFR_PLACES && status == DF_OK; which++) {
        const struct dfr_cut *cut = &parts->cuts[which];
        for (uint32_t x = 0; x < cut->graph->n_values; x++)
            if (dfr_cut_is_given(cut, cut->graph->values[x].producer))
                to[cut->value[x]] |= (uint8_t)(1u << which);
    }
    for (uint32_t x = 0; x < g->n_values && status == DF_OK; x++)
        if (df_value_is_acc(g, x) && parts->place[g->values[x].producer] == DFR_BODY)
            to[x] |= 1u << DFR_TAIL;
    for (uint32_t x = 0; x < g->n_values && status == DF_OK; x++) {
        struct dfr_port *port = &parts->ports[parts->n_ports];
        const uint64_t *largest;
        const struct df_kport *made = out_port(g, x, &largest);
        parts->port_of[x] = to[x] ? parts->n_ports : DF_NONE;
        if (!to[x])
            continue;
        *port = (struct dfr_port){ .value = x, .from = parts->place[g->values[x].producer], .to = to[x],
                                   .once = df_value_is_once(g, x), .bytes = g->values[x].bytes,
                                   .elem_bytes = df_elem_bytes((enum df_elem)made->elem) };
        if (extents && dfr_extents_value_varies(extents, x))
            port->n_extents = made->rank;
        memcpy(port->largest, largest, sizeof port->largest);
        parts->n_ports++;
    }
    dfr_extents_destroy(extents);
    free(to);
    return status;
}

/* Is there anything for other ranks to do? */
static int check_body(const struct df_graph *g, const uint8_t *place, struct df_error *error)
{
    char name[160] = "";

    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (place[v] == DFR_BODY)
            return DF_OK;
    for (uint32_t v = 0; v < g->n_nodes && !name[0]; v++)
        if (place[v] == DFR_TAIL && df_kernel_in_order(&g->kernels[g->nodes[v].kernel]))
            df_node_name(g, v, name, sizeof name);
    return name[0] ? dfr_error(error, DF_E_REFUSED, "--cluster: nothing of this graph can run on other ranks: what comes before node '%s', "
                               "which sees the waves in order, are sources, or nodes that fire once; what reads of it is behind it", name)
                   : dfr_error(error, DF_E_REFUSED, "--cluster: nothing of this graph can run on other ranks: it has no node that fires in "
                               "each wave, but for sources and sinks");
}

int dfr_parts_make_at(const struct df_graph *g, uint8_t *place, struct dfr_parts *parts, struct df_error *error)
{
    int status = DF_OK;

    *parts = (struct dfr_parts){ .graph = g, .place = place };
    for (unsigned which = 0; which < DFR_PLACES && status == DF_OK; which++)
        status = dfr_cut_make(g, place, which, &parts->cuts[which], error);
    if (status == DF_OK)
        status = find_ports(parts, error);
    if (status != DF_OK)
        dfr_parts_free(parts);
    return status;
}

static int make_parts(const struct df_graph *g, bool has_body, struct dfr_parts *parts, struct df_error *error)
{
    uint8_t *place = calloc(g->n_nodes + 1u, 1);
    int status = place ? DF_OK : dfr_error_memory(error);

    *parts = (struct dfr_parts){ 0 };
    if (status == DF_OK) {
        dfr_cut_places(g, place);
        status = dfr_cut_settle(g, place, DFR_TAIL, error);
    }
    if (status == DF_OK && has_body)
        status = check_body(g, place, error);
    if (status == DF_OK)
        return dfr_parts_make_at(g, place, parts, error);
    free(place);
    return status;
}

int dfr_parts_make(const struct df_graph *g, struct dfr_parts *parts, struct df_error *error)
{
    return make_parts(g, true, parts, error);
}

int dfr_parts_make_ends(const struct df_graph *g, struct dfr_parts *parts, struct df_error *error)
{
    return make_parts(g, false, parts, error);
}

void dfr_parts_free(struct dfr_parts *parts)
{
    for (unsigned which = 0; which < DFR_PLACES; which++)
        dfr_cut_free(&parts->cuts[which]);
    free(parts->place);
    free(parts->ports);
    free(parts->port_of);
    *parts = (struct dfr_parts){ 0 };
}

/* ---- the memory of a part's tokens ---- */

struct ring {                           /* of a port */
    unsigned char *data;                /* NULL: the part neither reads nor makes it */
    uint64_t stride;
    unsigned char *empty;               /* by place; NULL: made once */
    size_t *extents;                    /* by place */
    bool shared;                        /* it is that of another port, whose tokens are changed in place */
};

struct place {
    int64_t local;                      /* the wave that is there; -1: none */
    bool ended;
};

struct dfr_part {
    const struct dfr_parts *parts;
    unsigned which;
    struct df_run *run;                 /* NULL: there is none, or it has ended */
    bool fed;                           /* some nodes fire in each wave */
    bool over;                          /* the run ended by itself */
    uint32_t n_places;
    struct place *places;
    struct ring *rings;                 /* by port */
    struct df_buffer *buffers;
    char (*names)[NAME_BYTES];
    uint32_t n_buffers;
    int64_t n_begun;                    /* the next wave's number */
    struct df_node_stats *node_stats, *all_stats; /* by node of this part's graph, and of the whole; NULL: not asked for */
    struct df_node_skips *node_skips, *all_skips;
    struct df_plan *plan;               /* what the program's plan says of works and platform; NULL: there is none */
    struct df_stats stats;              /* of a run that has ended */
};

static bool fires_in_each_wave(const struct dfr_cut *cut)
{
    for (uint32_t v = 0; v < cut->graph->n_nodes; v++)
        if (!(cut->graph->nodes[v].flags & DF_NODE_ONCE))
            return true;
    return false;
}

/* The port of value x of the cut; DF_NONE: it does not cross. */
static uint32_t port_of(const struct dfr_part *p, uint32_t x)
{
    return p->parts->port_of[p->parts->cuts[p->which].value[x]];
}

static uint64_t places_of(const struct dfr_part *p, const struct dfr_port *port)
{
    return port->once ? 1 : p->n_places;
}

static void set_largest(const struct dfr_part *p, uint32_t port, uint64_t place)
{
    for (unsigned i = 0; i < DF_MAX_RANK; i++)
        p->rings[port].extents[place * DF_MAX_RANK + i] = p->parts->ports[port].largest[i];
}

static int make_ring(struct dfr_part *p, uint32_t port, struct df_error *error)
{
    const struct dfr_port *of = &p->parts->ports[port];
    const uint64_t n = places_of(p, of);
    struct ring *ring = &p->rings[port];

    ring->stride = (of->bytes + LINE - 1) / LINE * LINE + (of->bytes == 0 ? LINE : 0);
    if (ring->stride > SIZE_MAX / n || !(ring->data = aligned_alloc(LINE, ring->stride * n)))
        return dfr_error_memory(error);
    ring->empty = calloc(n, 1);
    ring->extents = calloc(n * DF_MAX_RANK, sizeof *ring->extents);
    if (!ring->empty || !ring->extents)
        return dfr_error_memory(error);
    for (uint64_t k = 0; k < n; k++)
        set_largest(p, port, k);
    return DF_OK;
}

static uint32_t taker_of(const struct df_graph *g, uint32_t value)
{
    for (uint32_t r = 0; r < g->values[value].n_readers; r++) {
        uint32_t v = g->readers[g->values[value].first_reader + r].node;
        for (uint32_t y = g->nodes[v].first_out; y < g->nodes[v].first_out + df_node_n_out(g, v); y++)
            if (g->values[y].taken_from == value)
                return y;
    }
    return DF_NONE;
}

/* The buffer of value x of the cut, in the ring of that port. */
static void add_buffer(struct dfr_part *p, uint32_t x, uint32_t port, bool given)
{
    const struct dfr_cut *cut = &p->parts->cuts[p->which];
    const struct dfr_port *of = &p->parts->ports[port];
    const struct ring *ring = &p->rings[port];

    df_node_name(cut->graph, cut->graph->values[x].producer, p->names[p->n_buffers], NAME_BYTES);
    p->buffers[p->n_buffers] =
        (struct df_buffer){ .node = p->names[p->n_buffers], .out_slot = cut->graph->values[x].slot, .data = ring->data,
                            .bytes = ring->stride * places_of(p, of), .stride_bytes = ring->stride,
                            .n_tokens = of->once ? 0 : p->n_places, .given = given,
                            .empty = of->once ? NULL : ring->empty, .extents = of->n_extents ? ring->extents : NULL };
    p->n_buffers++;
}

/* What is given may be changed in place, again and again. The last value of such a chain has its ring, and so has what is
 * made here for other parts if that is this last value. */
static int give_value(struct dfr_part *p, uint32_t x, struct df_error *error)
{
    const struct df_graph *g = p->parts->cuts[p->which].graph;
    uint32_t last = x, next;
    int status = make_ring(p, port_of(p, x), error);

    while ((next = taker_of(g, last)) != DF_NONE)
        last = next;
    if (status != DF_OK)
        return status;
    add_buffer(p, last, port_of(p, x), true);
    if (last != x && port_of(p, last) != DF_NONE) {
        p->rings[port_of(p, last)] = p->rings[port_of(p, x)];
        p->rings[port_of(p, last)].shared = true;
    }
    return DF_OK;
}

static int make_buffers(struct dfr_part *p, struct df_error *error)
{
    const struct dfr_cut *cut = &p->parts->cuts[p->which];
    const uint32_t n = cut->graph->n_values;
    int status = DF_OK;

    for (uint32_t x = 0; x < n && status == DF_OK; x++)
        if (dfr_cut_is_given(cut, cut->graph->values[x].producer))
            status = give_value(p, x, error);
    for (uint32_t x = 0; x < n && status == DF_OK; x++)
        if (port_of(p, x) != DF_NONE && !p->rings[port_of(p, x)].data &&
            (status = make_ring(p, port_of(p, x), error)) == DF_OK)
            add_buffer(p, x, port_of(p, x), false);
    return status;
}

/* ---- tokens that come and go ---- */

static int wrong(const struct dfr_part *p, uint32_t port, const char *what, struct df_error *error)
{
    char name[160];
    df_node_name(p->parts->graph, p->parts->graph->values[p->parts->ports[port].value].producer, name, sizeof name);
    return dfr_error(error, DF_E_FORMAT, "what came of node '%s' from another rank is no token of it: %s", name, what);
}

/* Puts a token into a place of port k's ring. */
static int put_value(struct dfr_part *p, uint32_t k, uint64_t place, const struct dfr_value *value, struct df_error *error)
{
    const struct dfr_port *port = &p->parts->ports[k];
    struct ring *ring = &p->rings[k];
    size_t *extents = &ring->extents[place * DF_MAX_RANK];
    uint64_t bytes = port->n_extents ? port->elem_bytes : port->bytes;

    set_largest(p, k, place);
    ring->empty[place] = value->empty;
    if (value->empty)
        return port->once ? wrong(p, k, "it is empty", error) : DF_OK;
    if (value->n_extents != port->n_extents)
        return wrong(p, k, "it has other extents", error);
    for (unsigned i = 0; i < port->n_extents; i++) {
        if (value->extents[i] < 1 || (uint64_t)value->extents[i] > port->largest[i])
            return wrong(p, k, "an extent is too large", error);
        extents[i] = (size_t)value->extents[i];
        bytes *= extents[i];
    }
    if (value->bytes != bytes)
        return wrong(p, k, "it has another size", error);
    if (bytes > 0)
        memcpy(ring->data + place * ring->stride, value->data, bytes);
    return DF_OK;
}

static struct dfr_value view_of(const struct dfr_part *p, uint32_t k, uint64_t place)
{
    const struct dfr_port *port = &p->parts->ports[k];
    const struct ring *ring = &p->rings[k];
    struct dfr_value value = { .port = port->value, .empty = ring->empty[place], .n_extents = port->n_extents };
    uint64_t bytes = port->n_extents ? port->elem_bytes : port->bytes;

    if (value.empty) {
        value.n_extents = 0;
        return value;
    }
    for (unsigned i = 0; i < port->n_extents; i++) {
        value.extents[i] = (int64_t)ring->extents[place * DF_MAX_RANK + i];
        bytes *= ring->extents[place * DF_MAX_RANK + i];
    }
    value.data = bytes > 0 ? ring->data + place * ring->stride : NULL;
    value.bytes = bytes;
    return value;
}

/* Puts all tokens that the part reads, once or in each wave. */
static int put_values(struct dfr_part *p, bool once, uint64_t place, const struct dfr_value *values, uint32_t n,
                      struct df_error *error)
{
    uint32_t i = 0;
    int status = DF_OK;
    for (uint32_t k = 0; k < p->parts->n_ports && status == DF_OK; k++) {
        if (p->parts->ports[k].once != once || !(p->parts->ports[k].to >> p->which & 1))
            continue;
        while (i < n && values[i].port < p->parts->ports[k].value)
            i++;
        status = i < n && values[i].port == p->parts->ports[k].value ? put_value(p, k, place, &values[i], error) : wrong(p, k, "it is missing", error);
    }
    return status;
}

/* ---- opening ---- */

static int start(struct dfr_part *p, const struct df_options *from, struct df_error *error)
{
    struct df_options options = *from;

    options.buffers = p->buffers;
    options.n_buffers = p->n_buffers;
    if (!p->parts->by_itself) {
        options.waves = -1;
        options.feed = p->fed;
    }
    options.plan = p->plan;
    options.trace_path = NULL;          /* rank 0 writes it */
    options.node_stats = p->node_stats;
    options.node_skips = p->node_skips;
    return df_run_start(p->parts->cuts[p->which].graph, &options, &p->run, error);
}

static int make_counts(struct dfr_part *p, const struct df_options *options, struct df_error *error)
{
    const size_t n = p->parts->cuts[p->which].graph->n_nodes + (size_t)1;

    p->all_stats = options->node_stats;
    p->all_skips = options->node_skips;
    p->node_stats = p->all_stats ? calloc(n, sizeof *p->node_stats) : NULL;
    p->node_skips = p->all_skips ? calloc(n, sizeof *p->node_skips) : NULL;
    return (p->all_stats && !p->node_stats) || (p->all_skips && !p->node_skips) ? dfr_error_memory(error) : DF_OK;
}

/* Nodes that are given fire in another part. */
static void add_counts(struct dfr_part *p)
{
    const struct dfr_cut *cut = &p->parts->cuts[p->which];

    for (uint32_t v = 0; v < cut->graph->n_nodes; v++) {
        if (dfr_cut_is_given(cut, v))
            continue;
        if (p->node_stats) {
            struct df_node_stats *to = &p->all_stats[cut->node[v]];
            to->host_jobs += p->node_stats[v].host_jobs;
            to->device_jobs += p->node_stats[v].device_jobs;
            to->host_s += p->node_stats[v].host_s;
            to->device_s += p->node_stats[v].device_s;
            to->rounds += p->node_stats[v].rounds;
        }
        if (p->node_skips) {
            p->all_skips[cut->node[v]].skipped += p->node_skips[v].skipped;
            p->all_skips[cut->node[v]].left_out += p->node_skips[v].left_out;
        }
    }
}

/* The times of a class. The works of the whole graph have the same numbers here. Those behind them are of what is given. */
static void take_class(const struct df_times *from, uint32_t cls, struct df_times *to)
{
    const size_t at = (size_t)cls * to->n_works, there = (size_t)cls * from->n_works;

    for (uint32_t w = 0; w < to->n_works; w++) {
        const bool known = w < from->n_works;
        to->time_s[at + w] = known ? from->time_s[there + w] : cls == DF_CLASS_CPU ? 0 : NAN;
        to->source[at + w] = known ? from->source[there + w] : cls == DF_CLASS_CPU ? DF_TIME_COST : DF_TIME_NONE;
        if (to->demand)
            to->demand[at + w] = known ? from->demand[there + w] : (struct df_demand){ 0 };
    }
}

/* A plan is of the whole graph. What it knows of times and of the platform holds for a part, too; where it places nodes does not. The
 * part's run makes a plan for the machine that it is on. */
static int take_plan(struct dfr_part *p, const struct df_plan *plan, struct df_error *error)
{
    const struct df_graph *g = p->parts->cuts[p->which].graph;
    const size_t n = plan ? (size_t)plan->times.n_classes * g->n_works + 1 : 0;

    if (plan && plan->locked)
        return dfr_error(error, DF_E_REFUSED, "the plan is locked for the whole graph, and each rank of this run has a part of it: build the program without --lock");
    if (!plan || !plan->times.time_s || plan->times.n_works != p->parts->graph->n_works)
        return DF_OK;
    if (!(p->plan = calloc(1, sizeof *p->plan)))
        return dfr_error_memory(error);
    memcpy(p->plan->policy, plan->policy, sizeof plan->policy);
    p->plan->platform = plan->platform;
    p->plan->times = (struct df_times){ .n_classes = plan->times.n_classes, .n_works = g->n_works, .time_s = malloc(n * sizeof(double)), .source = malloc(n),
                                        .demand = plan->times.demand ? malloc(n * sizeof(struct df_demand)) : NULL };
    if (!p->plan->times.time_s || !p->plan->times.source || (plan->times.demand && !p->plan->times.demand))
        return dfr_error_memory(error);
    for (uint32_t cls = 0; cls < plan->times.n_classes; cls++)
        take_class(&plan->times, cls, &p->plan->times);
    return DF_OK;
}

uint32_t dfr_part_places_of(const struct df_options *options)
{
    return options->inflight ? options->inflight : DF_DEFAULT_INFLIGHT;
}

int dfr_part_open(const struct dfr_parts *parts, unsigned which, const struct df_options *options, const struct dfr_value *once,
                  uint32_t n_once, struct dfr_part **part, struct df_error *error)
{
    const uint32_t n_values = parts->cuts[which].graph->n_values;
    struct dfr_part *p = calloc(1, sizeof *p);
    int status = DF_OK;

    if (!p)
        return dfr_error_memory(error);
    *p = (struct dfr_part){ .parts = parts, .which = which, .fed = !parts->by_itself && fires_in_each_wave(&parts->cuts[which]) };
    p->n_places = dfr_part_places_of(options);
    p->places = malloc(p->n_places * sizeof *p->places);
    p->rings = calloc(parts->n_ports + 1u, sizeof *p->rings);
    p->buffers = calloc(n_values + 1u, sizeof *p->buffers);
    p->names = calloc(n_values + 1u, sizeof *p->names);
    if (!p->places || !p->rings || !p->buffers || !p->names)
        status = dfr_error_memory(error);
    for (uint32_t k = 0; k < p->n_places && status == DF_OK; k++)
        p->places[k] = (struct place){ .local = -1 };
    if (status == DF_OK)
        status = make_counts(p, options, error);
    if (status == DF_OK)
        status = take_plan(p, options->plan, error);
    if (status == DF_OK)
        status = make_buffers(p, error);
    if (status == DF_OK)
        status = put_values(p, true, 0, once, n_once, error);
    if (status == DF_OK && parts->cuts[which].graph->n_nodes > 0)
        status = start(p, options, error);
    if (status == DF_OK)
        *part = p;
    else
        dfr_part_close(p);
    return status;
}

/* The run has ended, or is to be waited for. */
static int wait_for(struct dfr_part *p, struct df_error *error)
{
    struct df_run *run = p->run;
    p->run = NULL;
    p->over = true;
    int status = run ? df_run_wait(run, &p->stats, error) : DF_OK;
    if (run && status == DF_OK)
        add_counts(p);
    return status;
}

int dfr_part_once(struct dfr_part *p, struct dfr_value *values, uint32_t *n, struct df_error *error)
{
    int64_t wave;
    int status = DF_OK;

    if (p->run && (!p->fed || df_run_ended(p->run, -1, &wave) == DF_E_STOPPED))
        status = wait_for(p, error);
    *n = 0;
    for (uint32_t k = 0; k < p->parts->n_ports && status == DF_OK; k++)
        if (p->parts->ports[k].once && p->parts->ports[k].from == p->which)
            values[(*n)++] = view_of(p, k, 0);
    return status;
}

/* ---- waves ---- */

int dfr_part_poll(struct dfr_part *p, struct df_error *error)
{
    int64_t wave;
    int status = DF_OK;

    while (p->run && p->fed && (status = df_run_ended(p->run, 0, &wave)) == DF_OK && wave >= 0)
        p->places[wave % p->n_places].ended = true;
    return status == DF_E_STOPPED ? wait_for(p, error) : status;
}

void dfr_part_turn(struct dfr_part *p, uint32_t place)
{
    const uint32_t n = (place + p->n_places - (uint32_t)(p->n_begun % p->n_places)) % p->n_places;

    p->n_begun += n;
    if (p->run && p->fed)
        dfr_feed_skip(p->run, n);
}

bool dfr_part_has_room(const struct dfr_part *p)
{
    return p->places[p->n_begun % p->n_places].local < 0 && (!p->fed || (p->run && df_run_room(p->run) > 0));
}

bool dfr_part_is_over(const struct dfr_part *p)
{
    return p->over && p->fed;
}

bool dfr_part_is_idle(const struct dfr_part *p)
{
    for (uint32_t k = 0; k < p->n_places; k++)
        if (p->places[k].local >= 0)
            return false;
    return true;
}

uint32_t dfr_part_places(const struct dfr_part *p)
{
    return p->n_places;
}

int dfr_part_begin(struct dfr_part *p, int64_t number, const struct dfr_value *values, uint32_t n, int64_t *local,
                   struct df_error *error)
{
    const uint64_t place = (uint64_t)p->n_begun % p->n_places;
    int status = put_values(p, false, place, values, n, error);

    if (status != DF_OK)
        return status;
    for (uint32_t k = 0; k < p->parts->n_ports; k++)
        if (!p->parts->ports[k].once && p->parts->ports[k].from == p->which && !p->rings[k].shared)
            p->rings[k].empty[place] = 0;
    p->places[place] = (struct place){ .local = p->n_begun, .ended = !p->fed };
    *local = p->n_begun++;
    if (p->fed)
        df_run_feed(p->run, number);    /* unless the run has stopped since: dfr_part_poll() will say so */
    return DF_OK;
}

int64_t dfr_part_waves(const struct dfr_part *p)
{
    return p->run ? atomic_load_explicit(&p->run->firing.waves_done, memory_order_relaxed) : (int64_t)p->stats.waves;
}

int64_t dfr_part_end(const struct dfr_part *p)
{
    return p->run ? dfr_ended_apart(p->run) : INT64_MAX;
}

int64_t dfr_part_ended(const struct dfr_part *p, bool in_order)
{
    int64_t oldest = -1;
    for (uint32_t k = 0; k < p->n_places; k++)
        if (p->places[k].local >= 0 && (in_order || p->places[k].ended) && (oldest < 0 || p->places[k].local < oldest))
            oldest = p->places[k].local;
    return oldest >= 0 && p->places[oldest % p->n_places].ended ? oldest : -1;
}

void dfr_part_values(const struct dfr_part *p, int64_t local, unsigned to, struct dfr_value *values, uint32_t *n)
{
    *n = 0;
    for (uint32_t k = 0; k < p->parts->n_ports; k++) {
        const struct dfr_port *port = &p->parts->ports[k];
        if (!port->once && port->from == p->which && (to == DFR_PLACES || port->to >> to & 1))
            values[(*n)++] = view_of(p, k, (uint64_t)local % p->n_places);
    }
}

void dfr_part_release(struct dfr_part *p, int64_t local)
{
    p->places[local % p->n_places].local = -1;
}

/* ---- the end ---- */

struct df_run *dfr_part_run(struct dfr_part *p)
{
    return p->run;
}

bool dfr_part_ends(struct dfr_part *p)
{
    int64_t wave = 0;
    int status = DF_OK;

    if (!p->run || !p->fed)
        return !p->run || !p->parts->by_itself || dfr_run_join_for(p->run, 0);
    df_run_feed_end(p->run);
    while (status == DF_OK && wave >= 0)
        status = df_run_ended(p->run, 0, &wave);
    return status != DF_OK;
}

int dfr_part_finish(struct dfr_part *p, struct df_stats *stats, struct df_error *error)
{
    if (p->run && p->fed)
        df_run_feed_end(p->run);
    int status = wait_for(p, error);
    if (stats)
        *stats = p->stats;
    return status;
}

void dfr_part_close(struct dfr_part *p)
{
    if (!p)
        return;
    if (p->run) {
        df_run_stop(p->run);
        df_run_wait(p->run, NULL, NULL);
    }
    for (uint32_t k = 0; p->rings && k < p->parts->n_ports; k++) {
        if (p->rings[k].shared)
            continue;
        free(p->rings[k].data);
        free(p->rings[k].empty);
        free(p->rings[k].extents);
    }
    free(p->places);
    free(p->rings);
    free(p->buffers);
    free(p->names);
    dfr_plan_free(p->plan);
    free(p->node_stats);
    free(p->node_skips);
    free(p);
}
