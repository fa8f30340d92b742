/* gp_rate.c - a lower bound on the time of a wave with many waves in flight, and the mixture of placements that attains
 * it: gp_waves.c takes starts from the mixture, `dfc simulate` prints the bound.
 *
 * Problem:  waves may be placed differently, so the mean load of each resource matters. The resources are the host, the
 *           devices, copies to them, and copies back. The least possible maximum over all mixtures of placements is a
 *           linear program. It is solved by column generation (Dantzig and Wolfe 1960). For given prices of the
 *           resources, the cheapest placement of a wave is a minimum cut between host and devices. A small simplex
 *           finds the best mixture of the placements met so far, and its dual gives the next prices.
 * Bound:    take any prices that sum to 1, and the loads of the placement that is cheapest at these prices. No mixture
 *           costs less than the sum of price times load. All devices count as one that has the workers and links of all
 *           of them, which is never slower. A copy for several devices counts once.
 * Numbers:  the cut is found in whole numbers, rounded down, so the bound holds in spite of rounding.
 */
#include <stdlib.h>
#include <string.h>

#include "partition/gp/gp.h"
#include "partition/cut/min_cut.h"
#include "runtime/base/error.h"

enum { HOST, DEVICE, TO_DEVICE, TO_HOST };

struct rates {
    const struct dfp_compact *c;
    struct dfp_cut cut;
    uint32_t *node_arc, *value_arc;     /* the first arc of a node (it has two), the first arc of a value */
    double *device_s;                   /* of a node: its time on all devices as one; INFINITY: none can run it */
    double *to_s, *from_s;              /* of a value: its copy to and from all devices as one */
    double price[DFP_RATE_RESOURCES];
    bool one_engine;                    /* every device has one copy engine for both directions */
};

static double host_s(const struct dfp_compact *c, uint32_t v)
{
    return c->allowed[v] & 1 ? dfp_compact_time_s(c, v, 0) * c->width[v] / c->workers[0] : INFINITY;
}

/* ---- devices as one ---- */

/* Makes one device of all. A mean of the devices' loads, by any weights, is no more than the largest load; so this
 * never makes a bound too large. */
static void join_devices(struct rates *r, const double *price)
{
    const struct dfp_compact *c = r->c;
    double sum = 0, n = c->n_units - 1;
    for (uint32_t u = 1; u < c->n_units; u++)
        sum += price[u];
    for (uint32_t v = 0; v < c->n_nodes; v++) {
        r->device_s[v] = INFINITY;
        for (uint32_t u = 1; u < c->n_units; u++)
            if (c->allowed[v] & 1u << u) {
                double weight = sum > 0 ? price[u] / sum : 1 / n;
                double time_s = weight * dfp_compact_time_s(c, v, u) / c->workers[u];
                r->device_s[v] = time_s < r->device_s[v] ? time_s : r->device_s[v];
            }
    }
    r->one_engine = true;
    for (uint32_t u = 1; u < c->n_units; u++)
        r->one_engine &= c->shared_engine[u];
    for (uint32_t x = 0; x < c->n_values; x++) {
        const double *to = c->to_s + (size_t)x * c->n_units, *from = c->from_s + (size_t)x * c->n_units;
        r->to_s[x] = r->from_s[x] = INFINITY;
        for (uint32_t u = 1; u < c->n_units; u++) {
            r->to_s[x] = to[u] / n < r->to_s[x] ? to[u] / n : r->to_s[x];
            r->from_s[x] = from[u] / n < r->from_s[x] ? from[u] / n : r->from_s[x];
        }
    }
}

/* ---- the network: what is on the source's side of the cut is on the host ---- */

static uint32_t n_readers(const struct dfp_compact *c, uint32_t value)
{
    return c->first_reader[value + 1] - c->first_reader[value];
}

/* A value with several readers has two vertices of its own. One says that the value is wanted on the device, the other
 * that it is wanted on the host. So its copy is paid once. */
static void lay_arcs(struct rates *r)
{
    const struct dfp_compact *c = r->c;
    uint32_t source = c->n_nodes, sink = source + 1, next = sink + 1;
    for (uint32_t v = 0; v < c->n_nodes; v++) {
        r->node_arc[v] = dfp_cut_arc(&r->cut, source, v);
        dfp_cut_arc(&r->cut, v, sink);
    }
    for (uint32_t x = 0; x < c->n_values; x++) {
        uint32_t from = c->producer[x], n = n_readers(c, x);
        const uint32_t *reader = c->reader + c->first_reader[x];
        if (!n)
            continue;
        if (n == 1) {
            r->value_arc[x] = dfp_cut_arc(&r->cut, from, reader[0]);
            continue;
        }
        r->value_arc[x] = dfp_cut_arc(&r->cut, from, next);
        dfp_cut_arc(&r->cut, next + 1, from);
        for (uint32_t k = 0; k < n; k++) {
            dfp_cut_set(&r->cut, dfp_cut_arc(&r->cut, next, reader[k]), DFP_CUT_NEVER, 0);
            dfp_cut_set(&r->cut, dfp_cut_arc(&r->cut, reader[k], next + 1), DFP_CUT_NEVER, 0);
        }
        next += 2;
    }
}

static int network_make(struct rates *r, struct df_error *error)
{
    const struct dfp_compact *c = r->c;
    uint64_t vertices = (uint64_t)c->n_nodes + 2, arcs = 2 * (uint64_t)c->n_nodes;
    for (uint32_t x = 0; x < c->n_values; x++) {
        uint32_t n = n_readers(c, x);
        vertices += n > 1 ? 2 : 0;
        arcs += n > 1 ? 2 + 2 * (uint64_t)n : n;
    }
    if (arcs >= UINT32_MAX / 2)
        return dfr_error(error, DF_E_ARGUMENT, "the graph has too many arcs to be planned for many waves");
    int code = dfp_cut_make(&r->cut, (uint32_t)vertices, (uint32_t)arcs, c->n_nodes, c->n_nodes + 1, error);
    if (!code)
        lay_arcs(r);
    return code;
}

static int64_t whole(double price, double time_s, double scale)
{
    return time_s < INFINITY ? (int64_t)(price * time_s * scale) : DFP_CUT_NEVER;
}

/* Sets all capacities by the prices. Gives the scale by which seconds became whole numbers. */
static double set_prices(struct rates *r)
{
    const struct dfp_compact *c = r->c;
    double to = r->price[TO_DEVICE], from = r->one_engine ? to : r->price[TO_HOST], sum = 1e-30;
    for (uint32_t v = 0; v < c->n_nodes; v++) {
        double host = r->price[HOST] * host_s(c, v), device = r->price[DEVICE] * r->device_s[v];
        sum += (host < INFINITY ? host : 0) + (device < INFINITY ? device : 0);
    }
    for (uint32_t x = 0; x < c->n_values; x++)
        sum += to * r->to_s[x] + from * r->from_s[x];
    double scale = 0x1p50 / sum;
    for (uint32_t v = 0; v < c->n_nodes; v++) { /* if the arc from the source is cut, the node is on the device */
        dfp_cut_set(&r->cut, r->node_arc[v], whole(r->price[DEVICE], r->device_s[v], scale), 0);
        dfp_cut_set(&r->cut, r->node_arc[v] + 2, whole(r->price[HOST], host_s(c, v), scale), 0);
    }
    for (uint32_t x = 0; x < c->n_values; x++) {
        int64_t there = whole(to, r->to_s[x], scale), back = whole(from, r->from_s[x], scale);
        if (n_readers(c, x) == 1) {
            dfp_cut_set(&r->cut, r->value_arc[x], there, back);
        } else if (n_readers(c, x)) {
            dfp_cut_set(&r->cut, r->value_arc[x], there, 0);
            dfp_cut_set(&r->cut, r->value_arc[x] + 2, back, 0);
        }
    }
    return scale;
}

/* ---- loads of a placement ---- */

static void loads_of(const struct rates *r, const uint8_t *on_device, double *load_s)
{
    const struct dfp_compact *c = r->c;
    memset(load_s, 0, DFP_RATE_RESOURCES * sizeof *load_s);
    for (uint32_t v = 0; v < c->n_nodes; v++)
        load_s[on_device[v] ? DEVICE : HOST] += on_device[v] ? r->device_s[v] : host_s(c, v);
    for (uint32_t x = 0; x < c->n_values; x++) {
        bool home = on_device[c->producer[x]], other = false;
        for (uint32_t k = c->first_reader[x]; k < c->first_reader[x + 1]; k++)
            other |= on_device[c->reader[k]] != home;
        if (other && home)
            load_s[r->one_engine ? TO_DEVICE : TO_HOST] += r->from_s[x];
        else if (other)
            load_s[TO_DEVICE] += r->to_s[x];
    }
}

/* ---- the best mixture: max Σ y_i with Σ load[i][r] y_i <= 1, by the simplex method with Bland's rule ---- */

/* Sets the shares of all columns, and the prices of the dual. Gives what the mixture costs per wave. */

static double mix(struct dfp_rates *found, double *price)
{
    enum { ROWS = DFP_RATE_RESOURCES, COLUMNS = DFP_RATE_COLUMNS + ROWS + 1 };
    double t[ROWS + 1][COLUMNS] = { 0 };
    uint32_t n = found->n, last = n + ROWS, basis[ROWS];
    for (uint32_t r = 0; r < ROWS; r++) {
        for (uint32_t i = 0; i < n; i++)
            t[r][i] = found->column[i].load_s[r];
        t[r][n + r] = t[r][last] = 1;
        basis[r] = n + r;
    }
    double unit = t[0][0] + t[1][0] + t[2][0] + t[3][0]; /* loads are divided by it, so that numbers are near 1 */
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t i = 0; i < n; i++)
            t[r][i] /= unit;
    for (uint32_t i = 0; i < n; i++)
        t[ROWS][i] = -1;
    for (uint32_t step = 0; step < 50 * COLUMNS; step++) {
        uint32_t in = 0, out = ROWS;
        while (in < last && t[ROWS][in] > -1e-11)
            in++;
        if (in == last)
            break;
        for (uint32_t r = 0; r < ROWS; r++)
            if (t[r][in] > 1e-11 && (out == ROWS || t[r][last] * t[out][in] < t[out][last] * t[r][in] ||
                                     (t[r][last] * t[out][in] <= t[out][last] * t[r][in] && basis[r] < basis[out])))
                out = r;
        if (out == ROWS)
            break;                      /* unbounded: this placement costs nothing at all */
        double pivot = t[out][in];
        for (uint32_t k = 0; k <= last; k++)
            t[out][k] /= pivot;
        for (uint32_t r = 0; r <= ROWS; r++)
            for (uint32_t k = 0; r != out && k <= last; k++)
                if (k != in)
                    t[r][k] -= t[r][in] * t[out][k];
        for (uint32_t r = 0; r <= ROWS; r++)
            if (r != out)
                t[r][in] = 0;
        basis[out] = in;
    }
    double sum = t[ROWS][last], prices = 0;
    for (uint32_t i = 0; i < n; i++)
        found->column[i].share = 0;
    for (uint32_t r = 0; r < ROWS; r++)
        if (basis[r] < n)
            found->column[basis[r]].share = sum > 0 ? t[r][last] / sum : 0;
    for (uint32_t r = 0; r < ROWS; r++) {
        price[r] = t[ROWS][n + r] > 0 ? t[ROWS][n + r] : 0;
        prices += price[r];
    }
    for (uint32_t r = 0; r < ROWS; r++)
        price[r] = prices > 0 ? price[r] / prices : 1.0 / ROWS;
    return sum > 0 ? unit / sum : 0;
}

/* ---- column generation ---- */

static void generate(struct rates *r, struct dfp_rates *found, uint64_t most_steps)
{
    const struct dfp_compact *c = r->c;
    double mixed_s = INFINITY;
    while (found->n < DFP_RATE_COLUMNS && found->bound_s < mixed_s * (1 - 1e-6)) {
        struct dfp_rate_column *column = &found->column[found->n];
        double scale = set_prices(r);
        int64_t cost = r->cut.steps < most_steps ? dfp_cut_solve(&r->cut, most_steps - r->cut.steps) : -1;
        if (cost < 0 || cost >= DFP_CUT_NEVER)
            break;
        /* capacities were rounded down, so the true cut costs no less than this */
        double bound_s = (double)cost / scale * (1 - 1e-12);
        found->bound_s = bound_s > found->bound_s ? bound_s : found->bound_s;
        uint8_t *on_device = found->places + (size_t)found->n * c->n_nodes;
        for (uint32_t v = 0; v < c->n_nodes; v++)
            on_device[v] = !r->cut.on_source_side[v];
        column->on_device = on_device;
        loads_of(r, column->on_device, column->load_s);
        found->n++;
        double now_s = mix(found, r->price);
        if (!(now_s < mixed_s) && found->n > 1 && now_s <= 0)
            break;
        mixed_s = now_s;
    }
    found->mixed_s = found->n ? mixed_s : INFINITY;
}

int dfp_rates_find(const struct dfp_compact *c, const double *price, uint64_t most_steps, struct dfp_rates *found,
                   struct df_error *error)
{
    size_t n = (size_t)c->n_nodes + 1, m = (size_t)c->n_values + 1;
    struct rates r = { .c = c, .price = { price[0], 1 - price[0], 0, 0 } };
    *found = (struct dfp_rates){ .mixed_s = INFINITY };
    if (c->n_units < 2)
        return DF_OK;
    r.node_arc = malloc((n + m) * sizeof *r.node_arc);
    r.device_s = malloc((n + 2 * m) * sizeof *r.device_s);
    found->places = malloc(n * DFP_RATE_COLUMNS);
    int code = r.node_arc && r.device_s && found->places ? DF_OK : dfr_error_memory(error);
    if (!code) {
        r.value_arc = r.node_arc + n;
        r.to_s = r.device_s + n;
        r.from_s = r.to_s + m;
        join_devices(&r, price);
        code = network_make(&r, error);
    }
    if (!code)
        generate(&r, found, most_steps);
    dfp_cut_free(&r.cut);
    free(r.node_arc);
    free(r.device_s);
    if (code)
        dfp_rates_free(found);
    return code;
}

void dfp_rates_free(struct dfp_rates *found)
{
    free(found->places);
    *found = (struct dfp_rates){ 0 };
}
