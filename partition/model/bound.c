/* bound.c - a lower bound on the time of any schedule of one wave, for any placement: the largest of a critical-path bound, an area bound and that of shared
 * resources. gp and partition/planner/make_plan.c call it, the other partitioners for their results, and `dfc simulate`.
 *
 * Way:      the longest chain of nodes, if each node is on the unit that is best for what follows it. below[v][u] is
 *           the time that must pass from the start of node v on unit u to the end. A reader is on some unit, so the
 *           least over all its units, copy included, is a bound.
 * Area:     take any prices of the units that sum to 1. The largest load of a unit is at least the mean of the loads,
 *           weighted by those prices. That mean is least when each node is where it is cheapest: it is
 *           Σ min_u price[u] · t[v][u] / workers[u]. The best prices are the dual of the divisible problem. Between
 *           host and devices they are found by bisection, since the bound is concave in the host's price. Then each
 *           device gets a price of its own: the price of a unit that carries too much is raised.
 * Shared:   jobs of which n may use a resource at a time take at least an n-th of the sum of their least times. The search of gp, whose evaluations know no
 *           resources, has a bound without them.
 */
#include <stdlib.h>

#include "partition/model/compact.h"

/* ---- the longest way ---- */

/* The least time of a value's copy to and from the host, by unit: directly, or by way of any peer. */
struct ways {
    double to_s[DF_MAX_UNITS], from_s[DF_MAX_UNITS];
};

static void find_ways(const struct dfp_compact *c, uint32_t value, struct ways *ways)
{
    const double *to_s = c->to_s + (size_t)value * c->n_units, *from_s = c->from_s + (size_t)value * c->n_units;
    for (uint32_t u = 1; u < c->n_units; u++) {
        ways->to_s[u] = to_s[u];
        ways->from_s[u] = from_s[u];
        for (uint32_t rest = c->peers[u]; rest; rest &= rest - 1) {
            uint32_t x = (uint32_t)__builtin_ctz(rest);
            double hop_s = dfp_compact_peer_s(c, value, u, x);
            ways->to_s[u] = fmin(ways->to_s[u], to_s[x] + hop_s);
            ways->from_s[u] = fmin(ways->from_s[u], from_s[x] + hop_s);
        }
    }
}

static double least_copy_s(const struct dfp_compact *c, const struct ways *ways, uint32_t value, uint32_t from,
                           uint32_t to)
{
    if (!c->has_peers)
        return dfp_compact_copy_s(c, value, from, to);
    double host_s = (from ? ways->from_s[from] : 0) + (to ? ways->to_s[to] : 0);
    return c->peers[from] >> to & 1 ? fmin(host_s, dfp_compact_peer_s(c, value, from, to)) : host_s;
}

static double longest_way_s(const struct dfp_compact *c)
{
    uint32_t units = c->n_units;
    double *below = malloc(((size_t)c->n_nodes * units + 1) * sizeof *below), longest = 0;
    if (!below)
        return 0;                       /* no memory: 0 is a bound, too */
    for (uint32_t v = c->n_nodes; v-- > 0;) {
        double least = INFINITY;
        for (uint32_t u = 0; u < units; u++) {
            double most = 0;
            if (!(c->allowed[v] & 1u << u)) {
                below[(size_t)v * units + u] = INFINITY;
                continue;
            }
            for (uint32_t value = c->first_out[v]; value < c->first_out[v + 1]; value++) {
                struct ways ways;
                if (c->has_peers)
                    find_ways(c, value, &ways);
                for (uint32_t r = c->first_reader[value]; r < c->first_reader[value + 1]; r++) {
                    const double *row = below + (size_t)c->reader[r] * units;
                    double way = row[u];
                    for (uint32_t w = 0; w < units; w++) {
                        double other = w == u ? way : row[w] + least_copy_s(c, &ways, value, u, w);
                        way = other < way ? other : way;
                    }
                    most = way > most ? way : most;
                }
            }
            double all = most + dfp_compact_time_s(c, v, u);
            below[(size_t)v * units + u] = all;
            least = all < least ? all : least;
        }
        longest = least > longest ? least : longest;
    }
    free(below);
    return longest;
}

/* ---- area ---- */

/* The area bound at these prices. load_s: what each unit then carries, divided by the number of its workers. */
static double area_at(const struct dfp_compact *c, const double *price, double *load_s)
{
    double sum_s = 0;
    for (uint32_t u = 0; u < c->n_units; u++)
        load_s[u] = 0;
    for (uint32_t v = 0; v < c->n_nodes; v++) {
        if (c->is_free[v])
            continue;
        double least = INFINITY, own_s = 0;
        uint32_t best = 0;
        for (uint32_t u = 0; u < c->n_units; u++) {
            double time_s = dfp_compact_time_s(c, v, u) * (u ? 1 : c->width[v]) / c->workers[u];
            if (c->allowed[v] & 1u << u && price[u] * time_s < least) {
                least = price[u] * time_s;
                own_s = time_s;
                best = u;
            }
        }
        load_s[best] += own_s;
        sum_s += least;
    }
    return sum_s;
}

/* The host's price is a, and devices share the rest alike. The bound is concave in a, and it rises with a as long as
 * the host carries more than the devices. */
static double bisect_host(const struct dfp_compact *c, double *price, double *best_price)
{
    double low = 0, high = 1, best_s = 0, load_s[DF_MAX_UNITS];
    for (int step = 0; step < 40; step++) {
        double a = (low + high) / 2, devices_s = 0;
        price[0] = a;
        for (uint32_t u = 1; u < c->n_units; u++)
            price[u] = (1 - a) / (c->n_units - 1);
        double area_s = area_at(c, price, load_s);
        for (uint32_t u = 1; u < c->n_units; u++)
            devices_s += load_s[u] / (c->n_units - 1);
        if (area_s > best_s) {
            best_s = area_s;
            for (uint32_t u = 0; u < c->n_units; u++)
                best_price[u] = price[u];
        }
        if (load_s[0] > devices_s)
            low = a;
        else
            high = a;
    }
    return best_s;
}

/* For devices that differ: a price is raised or lowered as the load is above or below the mean, by less in each step.
 * The best prices met are the answer. */
static double adjust_devices(const struct dfp_compact *c, double best_s, double *best_price)
{
    double price[DF_MAX_UNITS], load_s[DF_MAX_UNITS];
    for (uint32_t u = 0; u < c->n_units; u++)
        price[u] = best_price[u];
    for (int step = 1; step <= 30; step++) {
        double area_s = area_at(c, price, load_s), mean_s = 0, sum = 0;
        if (area_s > best_s) {
            best_s = area_s;
            for (uint32_t u = 0; u < c->n_units; u++)
                best_price[u] = price[u];
        }
        for (uint32_t u = 0; u < c->n_units; u++)
            mean_s += load_s[u] / c->n_units;
        if (mean_s <= 0)
            break;
        for (uint32_t u = 0; u < c->n_units; u++) {
            double pull = (load_s[u] - mean_s) / mean_s / (step + 4);
            price[u] *= 1 + (pull < -0.5 ? -0.5 : pull > 0.5 ? 0.5 : pull);
            sum += price[u];
        }
        for (uint32_t u = 0; u < c->n_units; u++)
            price[u] /= sum;
    }
    return best_s;
}

static bool devices_alike(const struct dfp_compact *c)
{
    for (uint32_t v = 0; v < c->n_nodes; v++)
        for (uint32_t u = 2; u < c->n_units; u++)
            if (dfp_compact_time_s(c, v, u) / c->workers[u] != dfp_compact_time_s(c, v, 1) / c->workers[1])
                return false;
    return true;
}

double dfp_bound_s(const struct dfp_compact *c, double *area_s, double *best_price)
{
    double price[DF_MAX_UNITS] = { 1 }, load_s[DF_MAX_UNITS], own_price[DF_MAX_UNITS] = { 1 };
    double *kept = best_price ? best_price : own_price;
    kept[0] = 1;
    for (uint32_t u = 1; u < c->n_units; u++)
        kept[u] = 0;
    double area = c->n_units > 1 ? bisect_host(c, price, kept) : area_at(c, price, load_s);
    if (c->n_units > 2 && !devices_alike(c))
        area = adjust_devices(c, area, kept);
    if (area_s)
        *area_s = area;
    double way_s = longest_way_s(c), bound_s = area > way_s ? area : way_s;
    return bound_s * (1 - 1e-12);       /* sums are rounded, and the bound must stay below */
}

/* ---- shared resources ---- */

double dfp_resources_s(const struct dfp_compact *c)
{
    const struct df_graph *g = c->model.problem->graph;
    double most_s = 0;
    for (uint32_t r = 0; r < g->n_resources; r++) {
        double sum_s = 0;
        for (uint32_t v = 0; v < c->n_nodes; v++) {
            double least_s = INFINITY;
            for (uint32_t u = 0; u < c->n_units; u++)
                least_s = fmin(least_s, dfp_compact_time_s(c, v, u));
            if (!c->is_free[v] && df_node_uses(g, v) >> r & 1)
                sum_s += least_s;
        }
        most_s = fmax(most_s, sum_s / g->resources[r].n);
    }
    return most_s;
}

int dfp_lower_bound(const struct dfp_problem *problem, double *bound_s, struct df_error *error)
{
    struct dfp_compact compact;
    int code = dfp_compact_make(problem, &compact, error);
    if (code)
        return code;
    *bound_s = fmax(dfp_bound_s(&compact, NULL, NULL), dfp_resources_s(&compact) * (1 - 1e-12));
    dfp_compact_free(&compact);
    return DF_OK;
}
