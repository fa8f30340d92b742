/* memory_any.c - the memory plan that is valid for any order of execution, for memory.c. Nodes are processed in order of their numbers; each output reuses
 * memory of tenants whose ends are all proper ancestors of the node. Such tenants have *left* before the node.
 *
 * Floor:    all nodes with numbers below a node's *floor* are its ancestors. The floor begins as the largest floor of
 *           the node's producers, and the search raises it. A node that joins everything before it has all of that
 *           below its floor.
 * Search:   above the floor, ancestors are searched breadth-first, backwards from the node. A node may visit at most SEARCHED / n_nodes of them; in a graph
 *           of up to 2000 nodes that covers all. Unused visits are saved, up to SAVED, for later nodes, so a join finds its floor even after a large stage.
 * Kept:     beyond that, a node inherits the reusable tenants that its producers knew and did not use. Each node passes on up to KEPT tenants.
 * Limits:   a tenant that is not found is not used again. So a limit may cost bytes, but the plan is always safe.
 */
#include <stdlib.h>

#include "memmgr/layout.h"
#include "partition/memory/memory.h"
#include "runtime/base/error.h"

#define SEARCHED 4000000u               /* ancestors that all nodes may visit; so many tenants below floors */
#define SEARCHED_LEAST 24u              /* what one node may visit at least */
#define SAVED 100000u
#define KEPT 8u

struct search {
    const struct df_graph *g;
    struct dfp_memory *m;
    struct dfm_layout *layout;
    uint32_t most, saved;               /* ancestors that one node may visit; and more, which others did not need */
    uint32_t *floor;                    /* of a node */
    uint32_t *last_end;                 /* of a tenant: its end with the highest number; DF_NONE: no byte is free */
    uint32_t *mark;                     /* of a node: w + 1 if it was found to be an ancestor of w */
    uint32_t *met;                      /* of a tenant: w + 1 if it was offered to w */
    uint32_t *queue;
    uint32_t *left, n_left;             /* tenants that are known to have left before w */
    uint32_t *kept;                     /* [node * KEPT + i]; DF_NONE ends the list */
    /* Tenants by their last end: of node v they are by_end[end_at[v]] … by_end[end_at[v] + n_ended[v] - 1], without
     * those of which no byte is free. below[v]: v; or a node below v, if v and all nodes between have no such
     * tenant. */
    uint32_t *end_at, *n_ended, *by_end, *below;
};

static bool once(const struct df_graph *g, uint32_t node)
{
    return g->nodes[node].flags & DF_NODE_ONCE;
}

/* Offers the tenant to w. false: no byte of it is free any more. */
static bool found(struct search *s, uint32_t w, uint32_t tenant)
{
    if (s->met[tenant] == w + 1)
        return true;
    s->met[tenant] = w + 1;
    if (!dfm_layout_offer(s->layout, tenant)) {
        s->last_end[tenant] = DF_NONE;
        return false;
    }
    s->left[s->n_left++] = tenant;
    return true;
}

/* ---- search ---- */

static bool precedes(const struct search *s, uint32_t w, uint32_t node)
{
    return node < s->floor[w] || s->mark[node] == w + 1;
}

/* Whether all ends of the tenant, whose last value is x, are known to be ancestors of w. */
static bool has_left(const struct search *s, uint32_t w, uint32_t x, uint32_t tenant)
{
    const struct df_value *value = &s->g->values[x];
    if (s->last_end[tenant] >= w || s->met[tenant] == w + 1 || value->n_readers > s->most)
        return false;
    for (uint32_t r = value->first_reader; r < value->first_reader + value->n_readers; r++)
        if (!precedes(s, w, s->g->readers[r].node))
            return false;
    return value->n_readers > 0 || precedes(s, w, value->producer);
}

static void consider(struct search *s, uint32_t w, uint32_t x)
{
    uint32_t tenant = s->m->of_value[x];
    if (tenant >= s->m->n_wave || (!s->m->tenants[tenant].shared && s->m->tenants[tenant].last != x))
        return;
    bool left = has_left(s, w, s->m->tenants[tenant].last, tenant);
    for (uint32_t y = s->m->next[s->m->tenants[tenant].last]; s->m->tenants[tenant].shared && left && y != DF_NONE;
         y = s->m->next[y])
        left = has_left(s, w, y, tenant);
    if (left)
        found(s, w, tenant);
}

static void mark_producers(struct search *s, uint32_t w, uint32_t node, uint32_t *n)
{
    const uint32_t *in = s->g->in_value + s->g->nodes[node].first_in;
    for (uint32_t k = 0; k < df_node_n_in(s->g, node) && *n < s->most + s->saved; k++) {
        uint32_t before = s->g->values[in[k]].producer;
        if (!precedes(s, w, before) && !once(s->g, before)) {
            s->mark[before] = w + 1;
            s->queue[(*n)++] = before;
        }
    }
}

/* Finds the floor of w, and marks ancestors above it. Gives how many were marked; they are in queue[]. */
static uint32_t find_ancestors(struct search *s, uint32_t w)
{
    const uint32_t *in = s->g->in_value + s->g->nodes[w].first_in;
    uint32_t n = 0, floor = 0;
    for (uint32_t k = 0; k < df_node_n_in(s->g, w); k++) {
        uint32_t before = s->g->values[in[k]].producer;
        if (!once(s->g, before) && s->floor[before] > floor)
            floor = s->floor[before];
    }
    s->floor[w] = floor;
    mark_producers(s, w, w, &n);
    for (uint32_t i = 0; i < n; i++)
        mark_producers(s, w, s->queue[i], &n);
    while (floor < w && (s->mark[floor] == w + 1 || once(s->g, floor)))
        floor++;
    s->floor[w] = floor;
    s->saved = s->saved + s->most - n < SAVED ? s->saved + s->most - n : SAVED;
    return n;
}

/* ---- below the floor ---- */

static uint32_t ended_below(struct search *s, uint32_t node)
{
    uint32_t at = node;
    while (s->below[at] != at)
        at = s->below[at];
    for (uint32_t next; s->below[node] != at; node = next) {
        next = s->below[node];
        s->below[node] = at;
    }
    return at;
}

/* Offers tenants that ended below the floor, the latest first. The search backwards ends at node 0, whose below[]
 * always is node 0 itself. */
static void offer_below_floor(struct search *s, uint32_t w)
{
    uint32_t offered = 0;
    dfm_layout_offer_before(s->layout, s->floor[w]);
    for (uint32_t v = s->floor[w]; v > 0 && offered < s->most;) {
        v = ended_below(s, v - 1);
        for (uint32_t i = 0; i < s->n_ended[v] && offered < s->most;) {
            uint32_t *tenant = &s->by_end[s->end_at[v] + i];
            if (found(s, w, *tenant)) {
                i++;
                offered++;
            } else {
                *tenant = s->by_end[s->end_at[v] + --s->n_ended[v]];
            }
        }
        if (s->n_ended[v] == 0 && v > 0)
            s->below[v] = v - 1;
    }
}

static void list_by_end(struct search *s)
{
    uint32_t at = 0;
    for (uint32_t t = 0; t < s->m->n_wave; t++)
        s->n_ended[s->last_end[t] = dfp_tenant_last_end(s->g, &s->m->tenants[t])]++;
    for (uint32_t v = 0; v < s->g->n_nodes; v++) {
        s->end_at[v] = at;
        at += s->n_ended[v];
        s->below[v] = v;
        s->n_ended[v] = 0;
    }
    for (uint32_t t = 0; t < s->m->n_wave; t++) {
        uint32_t v = s->last_end[t];
        s->by_end[s->end_at[v] + s->n_ended[v]++] = t;
    }
}

/* ---- node after node ---- */

/* Offers the tenants that w's producers kept. They have left before the producers, and so before w. */
static void offer_kept(struct search *s, uint32_t w)
{
    const uint32_t *in = s->g->in_value + s->g->nodes[w].first_in;
    for (uint32_t k = 0; k < df_node_n_in(s->g, w); k++) {
        const uint32_t *kept = s->kept + (size_t)s->g->values[in[k]].producer * KEPT;
        for (uint32_t i = 0; i < KEPT && kept[i] != DF_NONE; i++)
            found(s, w, kept[i]);
    }
}

/* Offers all tenants that are known to have left before w. */
static void offer_left(struct search *s, uint32_t w)
{
    uint32_t n = find_ancestors(s, w);
    s->n_left = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct df_node *node = &s->g->nodes[s->queue[i]];
        for (uint32_t k = 0; k < df_node_n_in(s->g, s->queue[i]); k++)
            consider(s, w, s->g->in_value[node->first_in + k]);
        for (uint32_t k = 0; k < df_node_n_out(s->g, s->queue[i]); k++)
            if (s->g->values[node->first_out + k].n_readers == 0)
                consider(s, w, node->first_out + k);
    }
    offer_kept(s, w);
    offer_below_floor(s, w);
}

static void keep_rest(struct search *s, uint32_t w)
{
    uint32_t *kept = s->kept + (size_t)w * KEPT, n = 0;
    for (uint32_t i = 0; i < s->n_left && n < KEPT; i++)
        if (s->last_end[s->left[i]] >= s->floor[w] && dfm_layout_offer(s->layout, s->left[i]))
            kept[n++] = s->left[i];
    if (n < KEPT)
        kept[n] = DF_NONE;
}

/* Places the tenants from number t on that w writes first, those made of pieces or the others. false: too large. */
static bool place_tenants(struct search *s, uint32_t t, uint32_t w, bool joined)
{
    bool good = true;
    for (; good && t < s->m->n_wave && dfp_tenant_writer(s->g, &s->m->tenants[t]) == w; t++) {
        struct dfp_tenant *tenant = &s->m->tenants[t];
        if (tenant->joined == joined)
            good = dfm_layout_place(s->layout, t, tenant->bytes, s->last_end[t], &tenant->any);
    }
    return good;
}

static int place_all(struct search *s, struct df_error *error)
{
    uint32_t t = 0;
    for (uint32_t w = 0; w < s->g->n_nodes; w++) {
        s->kept[(size_t)w * KEPT] = DF_NONE;
        if (once(s->g, w))
            continue;
        offer_left(s, w);
        bool good = place_tenants(s, t, w, false);
        keep_rest(s, w);
        dfm_layout_withdraw(s->layout);
        if (!place_tenants(s, t, w, true) || !good)
            return dfr_error(error, DF_E_REFUSED, "the tokens of a wave are too large to be addressed");
        while (t < s->m->n_wave && dfp_tenant_writer(s->g, &s->m->tenants[t]) == w)
            t++;
    }
    s->m->any_bytes = dfm_layout_bytes(s->layout);
    return DF_OK;
}

static uint32_t *numbers(size_t n, bool *good)
{
    uint32_t *made = calloc(n, sizeof *made);
    *good = *good && made;
    return made;
}

int dfp_memory_any(const struct df_graph *g, struct dfp_memory *m, struct df_error *error)
{
    struct search s = { .g = g, .m = m, .layout = dfm_layout_create(m->alignment, m->n_wave) };
    size_t n_nodes = (size_t)g->n_nodes + 1, n_tenants = (size_t)m->n_wave + 1;
    uint32_t **arrays[] = { &s.floor, &s.mark, &s.end_at, &s.n_ended, &s.below, /* by node */
                            &s.last_end, &s.met, &s.left, &s.by_end, &s.queue, &s.kept };
    bool good = s.layout != NULL;

    s.most = SEARCHED / (g->n_nodes + 1) > SEARCHED_LEAST ? SEARCHED / (g->n_nodes + 1) : SEARCHED_LEAST;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = numbers(arrays[i] == &s.queue  ? s.most + SAVED + 1
                             : arrays[i] == &s.kept ? n_nodes * KEPT
                             : i < 5                ? n_nodes
                                                    : n_tenants, &good);
    int code = good ? DF_OK : dfr_error_memory(error);
    if (good) {
        list_by_end(&s);
        code = place_all(&s, error);
    }
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(*arrays[i]);
    dfm_layout_destroy(s.layout);
    return code;
}
