/* gp_state.c - a placement under modification by the policy gp, for all files of the room that evaluate one, and for draw/critical.c. When a node moves, loads,
 * copies and upward ranks are updated incrementally, at a cost that depends only on the affected nodes. A change can be undone.
 *
 * Ranks:    a node has a higher number than those it reads from. So marked nodes are computed again from the highest
 *           number down, and they mark lower ones only. Each is computed once, and nothing is marked below a rank that
 *           did not change.
 */
#include <stdlib.h>
#include <string.h>

#include "partition/gp/gp.h"
#include "runtime/base/error.h"

struct layout {                         /* arrays one after another in a block; base NULL: it is only measured */
    char *base;
    size_t used;
};

static void *take(struct layout *layout, size_t bytes)
{
    void *here = layout->base ? layout->base + layout->used : NULL;
    layout->used += (bytes + 63) & ~(size_t)63;
    return here;
}

static size_t lay_out(struct dfp_state *s, char *base)
{
    const struct dfp_compact *c = s->compact;
    struct layout at = { base, 0 };
    size_t n = (size_t)c->n_nodes + 1, m = (size_t)c->n_values + 1;
    s->place = take(&at, n * sizeof *s->place);
    s->bias = take(&at, n * sizeof *s->bias);
    s->reads = take(&at, m * c->n_units * sizeof *s->reads);
    s->wanted = take(&at, m * sizeof *s->wanted);
    s->rank_s = take(&at, n * sizeof *s->rank_s);
    s->key = take(&at, n * sizeof *s->key);
    s->dirty = take(&at, (n / 64 + 1) * sizeof *s->dirty);
    s->changes = take(&at, 2 * n * sizeof *s->changes);
    s->rank_changes = take(&at, n * sizeof *s->rank_changes);
    s->blame = take(&at, n * sizeof *s->blame);
    s->kept_blame = take(&at, n * sizeof *s->kept_blame);
    s->chain = take(&at, n * sizeof *s->chain);
    s->missing = take(&at, n * sizeof *s->missing);
    s->sent = take(&at, m * sizeof *s->sent);
    s->first = take(&at, ((size_t)c->n_initial + 1) * sizeof *s->first);
    s->ready_s = take(&at, n * sizeof *s->ready_s);
    s->events = take(&at, (n + m * c->n_units + 64 + c->host_workers) * sizeof *s->events);
    for (uint32_t u = 0; u < c->n_units; u++)
        s->ready[u] = take(&at, n * sizeof *s->ready[u]);
    for (uint32_t u = 1; u < c->n_units; u++)
        for (int way = 0; way < 3; way++) {
            size_t of_a_value = way == 2 ? (size_t)__builtin_popcount(c->peers[u]) : c->shared_engine[u] ? 2 : 1;
            s->fifo[u][way].events = take(&at, m * of_a_value * sizeof *s->events);
        }
    return at.used;
}

int dfp_state_make(const struct dfp_compact *compact, struct dfp_state *state, struct df_error *error)
{
    *state = (struct dfp_state){ .compact = compact };
    state->block = aligned_alloc(64, lay_out(state, NULL));
    if (!state->block)
        return dfr_error_memory(error);
    lay_out(state, state->block);
    memset(state->sent, 0, ((size_t)compact->n_values + 1) * sizeof *state->sent);
    memset(state->dirty, 0, ((size_t)compact->n_nodes / 64 + 1) * sizeof *state->dirty);
    return DF_OK;
}

void dfp_state_free(struct dfp_state *state)
{
    free(state->block);
    *state = (struct dfp_state){ 0 };
}

/* ---- copies of a value ---- */

/* Adds the time of the value's copies to the loads of the engines (sign 1), or takes it away (sign -1). */
static void count_copies(struct dfp_state *s, uint32_t value, double sign)
{
    const struct dfp_compact *c = s->compact;
    uint32_t home = s->place[c->producer[value]], others = s->wanted[value] & ~(1u << home);
    size_t row = (size_t)value * c->n_units;
    if (!others)
        return;
    for (uint32_t peers = others & c->peers[home]; peers; peers &= peers - 1)
        s->copies_s[home][2] += sign * dfp_compact_peer_s(c, value, home, (uint32_t)__builtin_ctz(peers));
    others &= ~c->peers[home];
    if (home && others)
        s->copies_s[home][0] += sign * c->from_s[row + home];
    for (others &= ~1u; others; others &= others - 1) {
        uint32_t u = (uint32_t)__builtin_ctz(others);
        s->copies_s[u][c->shared_engine[u] ? 0 : 1] += sign * c->to_s[row + u];
    }
}

/* ---- ranks ---- */

static double rank_of(const struct dfp_state *s, uint32_t node)
{
    const struct dfp_compact *c = s->compact;
    uint32_t home = s->place[node];
    double longest = 0;
    for (uint32_t value = c->first_out[node]; value < c->first_out[node + 1]; value++) {
        bool inside = !(s->wanted[value] & ~(1u << home));
        for (uint32_t r = c->first_reader[value]; r < c->first_reader[value + 1]; r++) {
            uint32_t reader = c->reader[r];
            double way = s->rank_s[reader];
            if (!inside)
                way += dfp_compact_copy_s(c, value, home, s->place[reader]);
            longest = way > longest ? way : longest;
        }
    }
    return longest + dfp_compact_time_s(c, node, home);
}

static void mark(struct dfp_state *s, uint32_t node)
{
    uint32_t word = node / 64;
    s->dirty[word] |= (uint64_t)1 << node % 64;
    if (word > s->dirty_top)
        s->dirty_top = word;
}

static void log_rank(struct dfp_state *s, uint32_t node)
{
    if (s->n_rank_changes < s->compact->n_nodes)
        s->rank_changes[s->n_rank_changes++] =
            (struct dfp_rank_change){ node, s->rank_s[node], s->key[node] };
}

void dfp_state_settle(struct dfp_state *s)
{
    const struct dfp_compact *c = s->compact;
    for (uint32_t word = s->dirty_top + 1; word-- > 0;)
        while (s->dirty[word]) {
            uint32_t bit = 63 - (uint32_t)__builtin_clzll(s->dirty[word]), node = word * 64 + bit;
            s->dirty[word] &= ~((uint64_t)1 << bit);
            double rank_s = rank_of(s, node);
            uint64_t key = dfp_key(s->rank_weight * (float)rank_s + s->bias[node], node);
            if (rank_s == s->rank_s[node] && key == s->key[node])
                continue;
            log_rank(s, node);
            s->key[node] = key;
            if (rank_s == s->rank_s[node])
                continue;
            s->rank_s[node] = rank_s;
            for (uint32_t i = c->first_in[node]; i < c->first_in[node + 1]; i++)
                mark(s, c->producer[c->in[i]]);
        }
    s->dirty_top = 0;
}

/* ---- changes ---- */

static void put(struct dfp_state *s, uint32_t node, uint32_t unit)
{
    const struct dfp_compact *c = s->compact;
    uint32_t old = s->place[node];
    uint32_t width = old ? 1 : c->width[node], new_width = unit ? 1 : c->width[node];
    s->load_s[old] -= dfp_compact_time_s(c, node, old) * width;
    s->load_s[unit] += dfp_compact_time_s(c, node, unit) * new_width;
    for (uint32_t value = c->first_out[node]; value < c->first_out[node + 1]; value++)
        count_copies(s, value, -1);
    s->place[node] = (uint16_t)unit;
    for (uint32_t value = c->first_out[node]; value < c->first_out[node + 1]; value++)
        count_copies(s, value, 1);
    for (uint32_t i = c->first_in[node]; i < c->first_in[node + 1]; i++) {
        uint32_t value = c->in[i];
        size_t row = (size_t)value * c->n_units;
        uint32_t wanted = s->wanted[value];
        if (!--s->reads[row + old])
            wanted &= ~(1u << old);
        s->reads[row + unit]++;
        wanted |= 1u << unit;
        if (wanted != s->wanted[value]) {
            count_copies(s, value, -1);
            s->wanted[value] = wanted;
            count_copies(s, value, 1);
        }
    }
}

void dfp_state_move(struct dfp_state *s, uint32_t node, uint32_t unit)
{
    const struct dfp_compact *c = s->compact;
    if (s->place[node] == unit || s->n_changes >= 2 * c->n_nodes)
        return;
    s->changes[s->n_changes++] = (struct dfp_change){ node, s->place[node], s->bias[node] };
    put(s, node, unit);
    mark(s, node);
    for (uint32_t i = c->first_in[node]; i < c->first_in[node + 1]; i++)
        mark(s, c->producer[c->in[i]]);
}

void dfp_state_bias(struct dfp_state *s, uint32_t node, float bias)
{
    if (s->n_changes >= 2 * s->compact->n_nodes)
        return;
    s->changes[s->n_changes++] = (struct dfp_change){ node, s->place[node], s->bias[node] };
    s->bias[node] = bias;
    mark(s, node);
}

void dfp_state_keep(struct dfp_state *s)
{
    uint32_t *blame = s->blame;
    s->n_changes = s->n_rank_changes = 0;
    s->blame = s->kept_blame;
    s->kept_blame = blame;
    s->kept_last_node = s->last_node;
}

void dfp_state_undo(struct dfp_state *s)
{
    while (s->n_changes) {
        struct dfp_change *change = &s->changes[--s->n_changes];
        if (s->place[change->node] != change->unit)
            put(s, change->node, change->unit);
        s->bias[change->node] = change->bias;
    }
    while (s->n_rank_changes) {
        struct dfp_rank_change *change = &s->rank_changes[--s->n_rank_changes];
        s->rank_s[change->node] = change->rank_s;
        s->key[change->node] = change->key;
    }
}

static int by_urgency(const void *a, const void *b)
{
    const struct dfp_first *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

void dfp_state_sort(struct dfp_state *s)
{
    const struct dfp_compact *c = s->compact;
    for (uint32_t i = 0; i < c->n_initial; i++)
        s->first[i] = (struct dfp_first){ s->key[c->initial_reader[i]], i };
    qsort(s->first, c->n_initial, sizeof *s->first, by_urgency);
}

void dfp_state_set(struct dfp_state *s, const uint16_t *place, const float *bias, float rank_weight)
{
    const struct dfp_compact *c = s->compact;
    memcpy(s->place, place, c->n_nodes * sizeof *place);
    s->rank_weight = rank_weight;
    if (bias)
        memcpy(s->bias, bias, c->n_nodes * sizeof *bias);
    else
        memset(s->bias, 0, c->n_nodes * sizeof *s->bias);
    memset(s->load_s, 0, sizeof s->load_s);
    memset(s->copies_s, 0, sizeof s->copies_s);
    memset(s->reads, 0, (size_t)c->n_values * c->n_units * sizeof *s->reads);
    for (uint32_t value = 0; value < c->n_values; value++) {
        s->wanted[value] = 0;
        for (uint32_t r = c->first_reader[value]; r < c->first_reader[value + 1]; r++) {
            s->reads[(size_t)value * c->n_units + place[c->reader[r]]]++;
            s->wanted[value] |= 1u << place[c->reader[r]];
        }
        count_copies(s, value, 1);
    }
    for (uint32_t v = c->n_nodes; v-- > 0;) {
        s->load_s[place[v]] += dfp_compact_time_s(c, v, place[v]) * (place[v] ? 1 : c->width[v]);
        s->rank_s[v] = rank_of(s, v);
        s->key[v] = dfp_key(rank_weight * (float)s->rank_s[v] + s->bias[v], v);
    }
    memset(s->dirty, 0, ((size_t)c->n_nodes / 64 + 1) * sizeof *s->dirty);
    s->n_changes = s->n_rank_changes = s->dirty_top = 0;
    s->last_node = DF_NONE;
    dfp_state_sort(s);
}

void dfp_state_place(struct dfp_state *s, const uint16_t *place)
{
    dfp_state_set(s, place, NULL, 1);
}

/* ---- bounds ---- */

double dfp_state_bottleneck_s(const struct dfp_state *s)
{
    const struct dfp_compact *c = s->compact;
    double most_s = s->load_s[0] / c->workers[0];
    for (uint32_t u = 1; u < c->n_units; u++) {
        double load_s = s->load_s[u] / c->workers[u];
        most_s = load_s > most_s ? load_s : most_s;
        most_s = s->copies_s[u][0] > most_s ? s->copies_s[u][0] : most_s;
        most_s = s->copies_s[u][1] > most_s ? s->copies_s[u][1] : most_s;
        most_s = s->copies_s[u][2] > most_s ? s->copies_s[u][2] : most_s;
    }
    return most_s;
}

void dfp_state_priority(const struct dfp_state *s, float *priority)
{
    for (uint32_t v = 0; v < s->compact->n_nodes; v++)
        priority[v] = s->rank_weight * (float)s->rank_s[v] + s->bias[v];
}
