/* gp_lin.c - initial placements for the policy gp from resource prices; gp_starts.c calls it. A second of the host costs a, a second of the devices costs
 * 1 − a, and a second of copying costs h. In three sweeps over all nodes, each node is placed where it is cheaper, given the places of its neighbours. The
 * price a is adjusted until host and devices carry the same load.
 *
 * Why:      with plenty of work, precedence hardly matters. The best placement is then close to that of the area bound with its prices, and h makes it
 *           avoid copies. Every step of the bisection is evaluated, since the best placement is seldom the most balanced one.
 * Copies:   counted exactly: a value is copied to a side once, whatever the number of its readers there.
 */
#include <stdlib.h>
#include <string.h>

#include "partition/gp/gp.h"
#include "runtime/base/error.h"

enum { SWEEPS = 3 };

static const double copy_prices[] = { 0.15, 0.05, 0.5, 0.3 }; /* of h; large graphs take the first ones only */

struct prices {
    const struct dfp_compact *c;
    uint8_t *side;                      /* of a node: 0, it is on the host; 1, on the devices */
    uint32_t *there;                    /* of a value: how many of its readers are on the devices */
    double *host_s, *device_s;          /* of a node: its time divided by the number of workers */
    double *to_s, *from_s;              /* of a value: copies to and from the first device, which stands for all */
    uint32_t n_devices;
};

/* The devices' time is that of the fastest device, divided by their number. Copies are those of the first device. */
static void fill(struct prices *p)
{
    const struct dfp_compact *c = p->c;
    p->n_devices = c->n_units - 1;
    for (uint32_t v = 0; v < c->n_nodes; v++) {
        double least = INFINITY;
        for (uint32_t u = 1; u < c->n_units; u++) {
            double time_s = dfp_compact_time_s(c, v, u) / c->workers[u];
            least = time_s < least ? time_s : least;
        }
        p->device_s[v] = least / p->n_devices;
        p->host_s[v] = dfp_compact_time_s(c, v, 0) * c->width[v] / c->workers[0];
    }
    for (uint32_t value = 0; value < c->n_values; value++) {
        p->to_s[value] = c->to_s[(size_t)value * c->n_units + 1] / p->n_devices;
        p->from_s[value] = c->from_s[(size_t)value * c->n_units + 1] / p->n_devices;
    }
}

/* Copy time of a value made on `side`, with `there` of its readers on devices. */
static inline double copies_s(const struct prices *p, uint32_t value, uint32_t side, uint32_t there)
{
    uint32_t n = p->c->first_reader[value + 1] - p->c->first_reader[value];
    if (side)
        return there < n ? p->from_s[value] : 0;
    return there ? p->to_s[value] : 0;
}

/* What moving the node from the host to the devices adds to the time of copies. */
static double copies_more_s(const struct prices *p, uint32_t node)
{
    const struct dfp_compact *c = p->c;
    uint32_t here = p->side[node];
    double more_s = 0;
    for (uint32_t value = c->first_out[node]; value < c->first_out[node + 1]; value++)
        more_s += copies_s(p, value, 1, p->there[value]) - copies_s(p, value, 0, p->there[value]);
    for (uint32_t i = c->first_in[node]; i < c->first_in[node + 1]; i++) {
        uint32_t value = c->in[i], made = p->side[c->producer[value]], others = p->there[value] - here;
        more_s += copies_s(p, value, made, others + 1) - copies_s(p, value, made, others);
    }
    return more_s;
}

static void flip(struct prices *p, uint32_t node)
{
    const struct dfp_compact *c = p->c;
    p->side[node] ^= 1;
    for (uint32_t i = c->first_in[node]; i < c->first_in[node + 1]; i++)
        p->there[c->in[i]] += p->side[node] ? 1u : -1u;
}

static void sweep(struct prices *p, double a, double h)
{
    const struct dfp_compact *c = p->c;
    for (uint32_t i = 0; i < c->n_movable; i++) {
        uint32_t v = c->movable[i];
        if (!(c->allowed[v] & 1u) || !(c->allowed[v] & ~1u))
            continue;
        double gain = a * p->host_s[v] - (1 - a) * p->device_s[v] - h * copies_more_s(p, v);
        if (gain > 0 ? !p->side[v] : p->side[v])
            flip(p, v);
    }
}

/* Puts each node where it is cheaper at price a, without regard to copies. */
static void begin(struct prices *p, double a)
{
    const struct dfp_compact *c = p->c;
    memset(p->there, 0, c->n_values * sizeof *p->there);
    for (uint32_t v = 0; v < c->n_nodes; v++) {
        p->side[v] = !(c->allowed[v] & 1u);
        if (c->allowed[v] & 1u && c->allowed[v] & ~1u && !c->is_free[v])
            p->side[v] = a * p->host_s[v] > (1 - a) * p->device_s[v];
        if (p->side[v])
            for (uint32_t i = c->first_in[v]; i < c->first_in[v + 1]; i++)
                p->there[c->in[i]]++;
    }
}

static void carried(const struct prices *p, double *host_s, double *device_s)
{
    *host_s = *device_s = 0;
    for (uint32_t v = 0; v < p->c->n_nodes; v++)
        if (p->side[v])
            *device_s += p->device_s[v];
        else
            *host_s += p->host_s[v];
}

static int try_sides(struct dfp_search *search, const struct prices *p, struct df_error *error)
{
    const struct dfp_compact *c = p->c;
    for (uint32_t v = 0; v < c->n_nodes; v++)
        search->place[v] =
            (uint16_t)(p->side[v] ? (uint32_t)__builtin_ctz(c->allowed[v] & ~1u) : 0);
    int code = p->n_devices > 1 ? dfp_list_split(search, error) : DF_OK;
    if (!code)
        dfp_search_try(search, false);
    return code;
}

/* Begins with the odds a / (1 − a) of the area bound's price. They change by a quarter in each step until the other
 * side carries more; then the geometric mean of the limits is taken. */
static int bisect(struct dfp_search *search, struct prices *p, double h, uint32_t n_steps, struct df_error *error)
{
    double low = 0, high = INFINITY, odds = search->price[0] / (1 - search->price[0]);
    int code = DF_OK;
    odds = odds > 1e-6 && odds < 1e6 ? odds : 1;
    for (uint32_t step = 0; step < n_steps && !code; step++) {
        double a = odds / (1 + odds), host_s, device_s;
        begin(p, a);
        for (int i = 0; i < SWEEPS; i++)
            sweep(p, a, h);
        carried(p, &host_s, &device_s);
        code = try_sides(search, p, error);
        if (host_s > device_s)
            low = odds;
        else
            high = odds;
        odds = low > 0 && high < INFINITY ? sqrt(low * high) : low > 0 ? low * 1.25 : high / 1.25;
    }
    return code;
}

int dfp_lin_run(struct dfp_search *search, uint32_t n_prices, uint32_t n_steps, struct df_error *error)
{
    const struct dfp_compact *c = &search->compact;
    size_t n = (size_t)c->n_nodes + 1, m = (size_t)c->n_values + 1;
    if (c->n_units < 2)
        return DF_OK;
    struct prices p = { .c = c };
    p.side = malloc(n);
    p.there = malloc(m * sizeof *p.there);
    p.host_s = malloc(n * sizeof *p.host_s);
    p.device_s = malloc(n * sizeof *p.device_s);
    p.to_s = malloc(m * sizeof *p.to_s);
    p.from_s = malloc(m * sizeof *p.from_s);
    int code = p.side && p.there && p.host_s && p.device_s && p.to_s && p.from_s ? DF_OK : dfr_error_memory(error);
    if (!code)
        fill(&p);
    for (uint32_t i = 0; i < n_prices && i < sizeof copy_prices / sizeof *copy_prices && !code; i++)
        code = bisect(search, &p, copy_prices[i], n_steps, error);
    free(p.side);
    free(p.there);
    free(p.host_s);
    free(p.device_s);
    free(p.to_s);
    free(p.from_s);
    return code;
}
