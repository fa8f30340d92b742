/* peer_links.c - reduces the links measured between pairs of devices to the single peer link that a platform's unit
 * has, for db_platform.c and profiles/probe/probe_peer.c.
 *
 * Model:    a pair transfers at the speed of the slower link of its two units (runtime/graph/platform.h). If unit a's own link takes
 *           x(a), pair ab is measured as max(x(a), x(b)), so the fastest of a's pairs is x(a) itself. Only the fastest
 *           unit's own time remains unknown, because the other unit limits each of its pairs; no plan needs it.
 * Islands:  a platform states that a unit has a peer link, but not to which units. Therefore only units that can all
 *           reach each other get one. If a machine has two such islands, only one of them has peer links.
 */
#include <math.h>

#include "profiles/profiles.h"

#define TYPICAL_BYTES (UINT64_C(1) << 20)
#define SHORTEST_S 1e-9

static double pair_s(const struct dfw_pairs *pairs, uint32_t from, uint32_t to)
{
    return df_link_time_s(&pairs->link[from][to], TYPICAL_BYTES);
}

static bool reach_each_other(const struct dfw_pairs *pairs, uint32_t a, uint32_t b)
{
    return pairs->link[a][b].bytes_per_s > 0 && pairs->link[b][a].bytes_per_s > 0;
}

/* A group of units of the class of `first` that all reach each other, as a bit for each. They are taken in order of
 * their numbers from `first` on, and from the lowest number after the last. */
static uint32_t group_from(const struct dfw_pairs *pairs, const struct df_platform *p, uint32_t first)
{
    uint32_t group = 1u << first, devices = p->n_units - 1;
    for (uint32_t i = 1; i < devices; i++) {
        uint32_t u = 1 + (first - 1 + i) % devices;
        bool all = p->units[u].cls == p->units[first].cls;
        for (uint32_t rest = group; rest && all; rest &= rest - 1)
            all = reach_each_other(pairs, u, (uint32_t)__builtin_ctz(rest));
        group |= all ? 1u << u : 0;
    }
    return group;
}

static uint32_t largest_group(const struct dfw_pairs *pairs, const struct df_platform *p)
{
    uint32_t largest = 0;
    for (uint32_t u = 1; u < p->n_units; u++) {
        uint32_t group = group_from(pairs, p, u);
        if (__builtin_popcount(group) > __builtin_popcount(largest))
            largest = group;
    }
    return __builtin_popcount(largest) > 1 ? largest : 0;
}

/* The slower direction of the unit's fastest pair in the group, or of its slowest pair. */
static const struct df_link *link_of(const struct dfw_pairs *pairs, uint32_t group, uint32_t u, bool fastest)
{
    const struct df_link *best = NULL;
    double best_s = 0;
    for (uint32_t rest = group & ~(1u << u); rest; rest &= rest - 1) {
        uint32_t w = (uint32_t)__builtin_ctz(rest);
        bool there = pair_s(pairs, u, w) >= pair_s(pairs, w, u);
        double time_s = there ? pair_s(pairs, u, w) : pair_s(pairs, w, u);
        if (!best || (fastest ? time_s < best_s : time_s > best_s)) {
            best = there ? &pairs->link[u][w] : &pairs->link[w][u];
            best_s = time_s;
        }
    }
    return best;
}

/* How far the times of all pairs are from what the platform then says: the sum, in logarithms. */
static double set_links(const struct dfw_pairs *pairs, uint32_t group, bool fastest, struct df_platform *p)
{
    double error = 0;
    for (uint32_t u = 1; u < p->n_units; u++)
        p->units[u].peer = group >> u & 1 ? *link_of(pairs, group, u, fastest) : (struct df_link){ 0 };
    for (uint32_t from = 1; from < p->n_units; from++)
        for (uint32_t to = 1; to < p->n_units; to++)
            if (from != to && group >> from & 1 && group >> to & 1)
                error += fabs(log(fmax(pair_s(pairs, from, to), SHORTEST_S) /
                                  fmax(df_peer_time_s(p, from, to, TYPICAL_BYTES), SHORTEST_S)));
    return error;
}

void dfw_pairs_give(const struct dfw_pairs *pairs, struct df_platform *p)
{
    uint32_t group = largest_group(pairs, p);
    double by_slowest = set_links(pairs, group, false, p), by_fastest = set_links(pairs, group, true, p);
    if (by_slowest < by_fastest)
        set_links(pairs, group, false, p);
}
