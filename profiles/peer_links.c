/* peer_links.c - from links measured between pairs of devices to the one peer link that a unit of a platform has.
 *
 * Model:    a pair takes the slower of its two units' links (platform.h). If unit a's own link takes x(a), pair ab is
 *           measured as max(x(a), x(b)). The fastest of a's pairs is then x(a) itself, except for the fastest unit of
 *           all, which never shows how fast it could be, and that no plan needs to know.
 * Islands:  a platform says of a unit that it has a peer link, not to whom. So only units that all reach each other
 *           get one; a machine of two islands has it for one of them.
 */
#include "profiles/profiles.h"

#define TYPICAL_BYTES (UINT64_C(1) << 20)

static double pair_s(const struct dfw_pairs *pairs, uint32_t from, uint32_t to)
{
    return df_link_time_s(&pairs->link[from][to], TYPICAL_BYTES);
}

static bool reach_each_other(const struct dfw_pairs *pairs, uint32_t a, uint32_t b)
{
    return pairs->link[a][b].bytes_per_s > 0 && pairs->link[b][a].bytes_per_s > 0;
}

/* Units of first's class, taken from `first` on around, that all reach each other: a bit each. */
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

void dfw_pairs_give(const struct dfw_pairs *pairs, struct df_platform *p)
{
    uint32_t group = largest_group(pairs, p);
    for (uint32_t u = 1; u < p->n_units; u++) {
        const struct df_link *best = NULL;
        double best_s = 0;
        for (uint32_t rest = group >> u & 1 ? group & ~(1u << u) : 0; rest; rest &= rest - 1) {
            uint32_t w = (uint32_t)__builtin_ctz(rest);
            bool there = pair_s(pairs, u, w) >= pair_s(pairs, w, u); /* the slower direction */
            const struct df_link *link = there ? &pairs->link[u][w] : &pairs->link[w][u];
            double time_s = df_link_time_s(link, TYPICAL_BYTES);
            if (!best || time_s < best_s) {
                best = link;
                best_s = time_s;
            }
        }
        p->units[u].peer = best ? *best : (struct df_link){ 0 };
    }
}
