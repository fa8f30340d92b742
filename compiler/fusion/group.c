/* group.c - chooses for elab/fuse.c which nodes of a graph are fused: greedily, along each stream, from a producer to
 * one of its readers.
 *
 * Two groups are merged if the rows that one reads of the other are known at compile time, and their nodes agree in
 * their hints and phases. No node outside may have to run between two members; that is checked by a search among the
 * readers of the first group, limited to BUDGET nodes.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/fusion/fusion.h"

#define BUDGET 4096
#define MOST_PORTS 200                  /* of all members; a kernel has at most 256 ports, and as many scalars */
#define MOST_NODES 20000u               /* of their formulas */

struct finder {
    const struct dfu_node *nodes;
    const uint32_t *makers;
    uint32_t n;
    struct dfu_found *found;
    const char **why;                   /* by node: why it is no member; NULL: it can be one */
    uint32_t *parent, *size;            /* of groups while they grow: by node; parent of the first: itself */
    uint32_t *ports, *terms;            /* by first node: what counts for the limits */
    struct dfu_ratio *rate;             /* by node, within its group (rates.c) */
    uint32_t *offsets, *readers;        /* of each node */
    uint32_t *seen, mark;               /* by first node */
    uint32_t *queue;
};

static uint32_t first_of(const struct finder *f, uint32_t node)
{
    while (f->parent[node] != node)
        node = f->parent[node] = f->parent[f->parent[node]];
    return node;
}

/* ---- readers ---- */

static bool list_readers(struct finder *f)
{
    uint32_t n = 0;
    f->offsets = calloc((size_t)f->n + 2, sizeof *f->offsets);
    if (!f->offsets)
        return false;
    for (uint32_t v = 0; v < f->n; v++)
        for (unsigned i = 0; i < f->nodes[v].callee->sig.n_in; i++, n++)
            f->offsets[f->makers[f->nodes[v].in[i]] + 2]++;
    for (uint32_t v = 0; v < f->n; v++)
        f->offsets[v + 2] += f->offsets[v + 1];
    f->readers = malloc(((size_t)n + 1) * sizeof *f->readers);
    if (!f->readers)
        return false;
    for (uint32_t v = 0; v < f->n; v++)
        for (unsigned i = 0; i < f->nodes[v].callee->sig.n_in; i++)
            f->readers[f->offsets[f->makers[f->nodes[v].in[i]] + 1]++] = v;
    return true;
}

/* ---- may two groups become one? ---- */

static const char *why_unlike(const struct dfu_node *a, const struct dfu_node *b)
{
    if (a->hint_class != b->hint_class)
        return "their hints name unlike classes";
    if (a->depth != b->depth || a->rate != b->rate)
        return "their hints are unlike";
    if (a->stage != b->stage)
        return "they are of unlike stages";
    return a->once != b->once ? "one fires before the first wave"
           : a->final != b->final ? "one fires after the last wave" : NULL;
}

/* Reads of group b from group a. *scale: the rate of b's first node, as a counts rates. */
static const char *why_reads(const struct finder *f, uint32_t a, uint32_t b, struct dfu_ratio *scale, struct dfl_loc *loc)
{
    bool tied = false;
    *scale = (struct dfu_ratio){ 1, 1 };
    for (uint32_t v = b; v != DF_NONE; v = f->found->next[v])
        for (unsigned i = 0; i < f->nodes[v].callee->sig.n_in; i++) {
            const uint32_t from = f->makers[f->nodes[v].in[i]];
            struct dfu_rows rows;
            if (first_of(f, from) != a)
                continue;
            const char *why = dfu_why_no_rows(f->nodes[v].callee, f->nodes[v].callee->sig.in_port[i], 0, &rows);
            *loc = rows.loc;
            if (why)
                return why;
            const struct dfu_ratio here = dfu_product(f->rate[from], dfu_inverse(dfu_product(f->rate[v], rows.rate)));
            if (rows.taps && tied && (here.times != scale->times || here.by != scale->by))
                return DFU_UNLIKE_RATES;
            *scale = rows.taps ? here : *scale;
            tied |= rows.taps > 0;
        }
    return NULL;
}

static bool are_far(const struct finder *f, uint32_t a, uint32_t b, struct dfu_ratio scale)
{
    for (uint32_t u = a; u != DF_NONE; u = f->found->next[u])
        for (uint32_t v = b; v != DF_NONE; v = f->found->next[v]) {
            const struct dfu_ratio rate = dfu_product(dfu_product(f->rate[v], scale), dfu_inverse(f->rate[u]));
            if (rate.times > DFU_MOST_RATIO || rate.by > DFU_MOST_RATIO)
                return true;
        }
    return false;
}

/* Puts the groups into the queue that read group g and were not seen, but for `but`. false: one of them is `end`. */
static bool add_readers(struct finder *f, uint32_t g, uint32_t but, uint32_t end, uint32_t *n)
{
    for (uint32_t v = g; v != DF_NONE; v = f->found->next[v])
        for (uint32_t k = f->offsets[v]; k < f->offsets[v + 1]; k++) {
            uint32_t reader = first_of(f, f->readers[k]);
            if (reader == but || reader == g)
                continue;
            if (reader == end)
                return false;
            if (f->seen[reader] == f->mark || *n > BUDGET)
                continue;
            f->seen[reader] = f->mark;
            f->queue[(*n)++] = reader;
        }
    return true;
}

/* Does a way lead from group a to group b through something else? */
static const char *why_not_convex(struct finder *f, uint32_t a, uint32_t b)
{
    uint32_t n = 0;
    f->mark++;
    add_readers(f, a, b, DF_NONE, &n);
    for (uint32_t k = 0; k < n; k++) {
        if (n > BUDGET)
            return "too much of the graph stands between them";
        if (!add_readers(f, f->queue[k], DF_NONE, b, &n))
            return "something that is not joined stands between them";
    }
    return NULL;
}

static const char *why_not(struct finder *f, uint32_t from, uint32_t to, struct dfu_ratio *scale, struct dfl_loc *loc)
{
    const uint32_t a = first_of(f, from), b = first_of(f, to);
    const char *why = f->why[from] ? f->why[from] : f->why[to];
    if (why || (why = why_unlike(&f->nodes[a], &f->nodes[b])) || (why = why_reads(f, a, b, scale, loc)))
        return why;
    if (f->size[a] + f->size[b] > DFU_MOST_MEMBERS)
        return "a group has at most 16 members";
    if (are_far(f, a, b, *scale))
        return "of two of them one makes more than 64 rows for a row of the other";
    if (f->ports[a] + f->ports[b] > MOST_PORTS || f->terms[a] + f->terms[b] > MOST_NODES)
        return "their formulas together are too large";
    return why_not_convex(f, a, b);
}

/* ---- joining ---- */

/* Joins the lists of members, which are in the order of nodes. */
static void join(struct finder *f, uint32_t a, uint32_t b, struct dfu_ratio scale)
{
    for (uint32_t v = b; v != DF_NONE; v = f->found->next[v])
        f->rate[v] = dfu_product(f->rate[v], scale);
    uint32_t head = DF_NONE, *at = &head, x = a, y = b, *next = f->found->next;
    while (x != DF_NONE || y != DF_NONE) {
        uint32_t *least = y == DF_NONE || (x != DF_NONE && x < y) ? &x : &y, v = *least;
        *at = v;
        at = &next[v];
        *least = next[v];
    }
    *at = DF_NONE;
    const uint32_t other = head == a ? b : a;
    f->parent[other] = head;
    f->size[head] = f->size[a] + f->size[b];
    f->ports[head] = f->ports[a] + f->ports[b];
    f->terms[head] = f->terms[a] + f->terms[b];
}

static bool refuse(struct finder *f, uint32_t from, uint32_t to, const char *why, struct dfl_loc loc)
{
    struct dfu_refusal *r = dfr_array_add(&f->found->refusals, sizeof *r, 1);
    if (r)
        *r = (struct dfu_refusal){ from, to, why, loc };
    return r;
}

static bool join_inputs(struct finder *f, uint32_t to)
{
    for (unsigned i = 0; i < f->nodes[to].callee->sig.n_in; i++) {
        const uint32_t from = f->makers[f->nodes[to].in[i]];
        if (!f->nodes[from].callee->formula || first_of(f, from) == first_of(f, to))
            continue;
        struct dfu_ratio scale;
        struct dfl_loc loc = { 0 };
        const char *why = why_not(f, from, to, &scale, &loc);
        if (!why)
            join(f, first_of(f, from), first_of(f, to), scale);
        else if (!refuse(f, from, to, why, loc))
            return false;
    }
    return true;
}

/* ---- the result ---- */

static bool number_groups(struct finder *f)
{
    struct dfu_found *found = f->found;
    for (uint32_t v = 0; v < f->n; v++) {
        if (f->parent[v] == v && f->size[v] > 1) {
            found->first[found->n_groups] = v;
            found->group[v] = found->n_groups++;
        } else if (f->size[first_of(f, v)] > 1) {
            found->group[v] = found->group[first_of(f, v)];
        }
    }
    /* pairs that were refused, and then joined by way of others, are no refusals */
    struct dfu_refusal *r = found->refusals.items;
    uint32_t n = 0;
    for (uint32_t k = 0; k < found->refusals.n; k++)
        if (found->group[r[k].from] == DF_NONE || found->group[r[k].from] != found->group[r[k].to])
            r[n++] = r[k];
    found->refusals.n = n;
    return true;
}

static void begin(struct finder *f)
{
    for (uint32_t v = 0; v < f->n; v++) {
        const struct dfc_callee *callee = f->nodes[v].callee;
        f->found->group[v] = f->found->next[v] = DF_NONE;
        f->parent[v] = v;
        f->size[v] = 1;
        f->rate[v] = (struct dfu_ratio){ 1, 1 };
        f->why[v] = !callee->formula ? "" : f->nodes[v].apart ? f->nodes[v].apart
                  : f->nodes[v].once ? "it fires before the first wave" : dfu_why_no_member(callee);
        f->ports[v] = callee->sig.n_ports + callee->sig.n_variables + callee->sig.n_scalars;
        f->terms[v] = callee->formula ? callee->formula->n_nodes : 0;
    }
}

static bool any_formula(const struct dfu_node *nodes, uint32_t n)
{
    for (uint32_t v = 0; v < n; v++)
        if (nodes[v].callee->formula)
            return true;
    return false;
}

static bool find(struct finder *f)
{
    const size_t n = (size_t)f->n + 1;
    f->found->group = malloc(n * sizeof *f->found->group);
    f->found->next = malloc(n * sizeof *f->found->next);
    f->found->first = malloc(n * sizeof *f->found->first);
    f->why = calloc(n, sizeof *f->why);
    f->parent = malloc(n * sizeof *f->parent);
    f->size = malloc(n * sizeof *f->size);
    f->ports = malloc(n * sizeof *f->ports);
    f->terms = malloc(n * sizeof *f->terms);
    f->rate = malloc(n * sizeof *f->rate);
    f->seen = calloc(n, sizeof *f->seen);
    f->queue = malloc((BUDGET + 2) * sizeof *f->queue);
    if (!f->found->group || !f->found->next || !f->found->first || !f->why || !f->parent || !f->size || !f->ports ||
        !f->terms || !f->rate || !f->seen || !f->queue || !list_readers(f))
        return false;
    begin(f);
    for (uint32_t v = 0; v < f->n; v++)
        if (f->nodes[v].callee->formula && !join_inputs(f, v))
            return false;
    return number_groups(f);
}

bool dfu_find(const struct dfu_node *nodes, uint32_t n_nodes, const uint32_t *makers,
              struct dfu_found *found)
{
    struct finder f = { .nodes = nodes, .makers = makers, .n = n_nodes, .found = found };
    *found = (struct dfu_found){ 0 };
    if (!any_formula(nodes, n_nodes))
        return true;
    bool ok = find(&f);
    free(f.why);
    free(f.parent);
    free(f.size);
    free(f.ports);
    free(f.terms);
    free(f.rate);
    free(f.offsets);
    free(f.readers);
    free(f.seen);
    free(f.queue);
    return ok;
}

void dfu_found_free(struct dfu_found *found)
{
    free(found->group);
    free(found->next);
    free(found->first);
    dfr_array_free(&found->refusals);
    *found = (struct dfu_found){ 0 };
}
