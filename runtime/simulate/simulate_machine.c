/* simulate_machine.c - the machine of a simulation, for simulate.c: which unit can run which node, how long that takes, and the workers. Impossible requests
 * are refused here, before time 0. */
#include <math.h>
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/graph/fit.h"
#include "runtime/simulate/simulate_impl.h"

static int check_platform(struct sim *s, struct df_error *error)
{
    const struct df_platform *p = s->platform;
    uint32_t n_workers = 0;
    if (!p->n_units || p->n_units > DF_MAX_UNITS)
        return dfr_error(error, DF_E_ARGUMENT, "platform '%s' has %u units; 1 to %d are possible", p->name,
                         (unsigned)p->n_units, DF_MAX_UNITS);
    if (s->times->n_works != s->graph->n_works)
        return dfr_error(error, DF_E_ARGUMENT, "times of %u works were given for a graph that has %u",
                         (unsigned)s->times->n_works, (unsigned)s->graph->n_works);
    s->n_units = p->n_units;
    s->on_host = df_platform_on_host(p);
    for (uint32_t u = 0; u < p->n_units; u++) {
        const struct df_unit *unit = &p->units[u];
        if (!unit->workers || unit->workers > DF_MAX_WORKERS || unit->cls >= DF_MAX_CLASSES ||
            (u && (unit->h2d.bytes_per_s <= 0 || unit->d2h.bytes_per_s <= 0)))
            return dfr_error(error, DF_E_ARGUMENT, "unit '%s' of platform '%s' has no worker, too many, or no link",
                             unit->name, p->name);
        n_workers += unit->workers;
        s->peers[u] = df_platform_peers(p, u);
        s->cls[u] = dfr_times_class(s->times, s->graph, p, unit->cls);
    }
    if (n_workers > DF_MAX_WORKERS + DF_MAX_UNITS)
        return dfr_error(error, DF_E_ARGUMENT, "platform '%s' has %u workers; at most %d are possible", p->name,
                         (unsigned)n_workers, DF_MAX_WORKERS + DF_MAX_UNITS);
    return DF_OK;
}

/* ---- what runs where ---- */

/* The units that have a time for the node. If its hint names some of them, only those. */
static uint32_t units_with_time(const struct sim *s, uint32_t node)
{
    const struct df_node *n = &s->graph->nodes[node];
    uint32_t units = 0, hinted = 0;
    for (uint32_t u = 0; u < s->n_units; u++) {
        if (s->cls[u] == DF_NONE || isnan(s->times->time_s[(size_t)s->cls[u] * s->times->n_works + n->work]))
            continue;
        if (u && s->on_host >> u & 1 && s->graph->kernels[n->kernel].flags & DF_KERNEL_COPY)
            continue;
        units |= 1u << u;
        if (n->hint_class >= 0 && s->cls[u] == (uint32_t)n->hint_class)
            hinted |= 1u << u;
    }
    return hinted ? hinted : units;
}

static uint32_t units_with_memory(const struct sim *s, uint32_t node, uint32_t units)
{
    uint64_t need = units & ~1u ? dfr_job_bytes(s->graph, node) : 0;
    for (uint32_t u = 1; u < s->n_units; u++)
        if (s->platform->units[u].memory_bytes && need > s->platform->units[u].memory_bytes)
            units &= ~(1u << u);
    return units;
}

static int refuse(const struct sim *s, uint32_t node, bool too_large, struct df_error *error)
{
    char name[160];
    df_node_name(s->graph, node, name, sizeof name);
    if (too_large)
        return dfr_error(error, DF_E_REFUSED,
                         "node '%s' fits nowhere: one job of it needs %llu bytes of a device's memory",
                         name, (unsigned long long)dfr_job_bytes(s->graph, node));
    return dfr_error(error, DF_E_REFUSED, "node '%s' can run on no unit of platform '%s'", name, s->platform->name);
}

static int admit(struct sim *s, struct df_error *error)
{
    for (uint32_t v = 0; v < s->graph->n_nodes; v++) {
        uint32_t units = units_with_time(s, v);
        s->able[v] = units_with_memory(s, v, units);
        if (!s->able[v])
            return refuse(s, v, units != 0, error);
    }
    return DF_OK;
}

static void set_times(struct sim *s)
{
    uint32_t n = s->graph->n_works;
    for (uint32_t u = 0; u < s->n_units; u++)
        for (uint32_t w = 0; w < n; w++) {
            size_t from = (size_t)s->cls[u] * n + w, to = (size_t)u * n + w;
            double launch_s = s->platform->units[u].launch_s;
            s->time_s[to] = s->true_s[to] = NAN;
            if (s->cls[u] == DF_NONE)
                continue;
            s->time_s[to] = s->times->time_s[from] + launch_s;
            s->true_s[to] = s->options->true_time_s ? s->options->true_time_s[from] + launch_s : s->time_s[to];
            if (s->demand && s->true_s[to] > 0) { /* a launch draws nothing */
                double share = 1 - launch_s / s->true_s[to];
                s->demand[to] = (struct df_demand){ share * s->times->demand[from].bytes_per_s,
                                                    share * s->times->demand[from].sensitivity };
            }
        }
    for (uint32_t v = 0; s->graph->n_live > 0 && v < s->graph->n_nodes; v++)
        if (df_node_live(s->graph, v) && df_node_live(s->graph, v)->newest)
            s->time_s[s->graph->nodes[v].work] = 0; /* its jobs wait for frames, which no worker makes */
}

/* ---- workers ---- */

uint32_t sim_threads(const struct sim *s, uint32_t node, uint32_t unit)
{
    uint32_t threads = unit ? 1 : s->graph->works[s->graph->nodes[node].work].threads;
    uint32_t workers = s->platform->units[unit].workers;
    return threads < 1 ? 1 : threads < workers ? threads : workers;
}

static int make_workers(struct sim *s, struct df_error *error)
{
    uint64_t n_taken = 0;
    s->n_workers = 0;
    for (uint32_t u = 0; u < s->n_units; u++) {
        const struct df_unit *unit = &s->platform->units[u];
        s->first_worker[u] = s->n_workers;
        for (uint32_t i = 0; i < unit->workers; i++) {
            uint32_t first = u && unit->jobs ? unit->jobs : 1, most = first, ahead = u && s->prefetch;
            if (u && !unit->jobs && s->options->find_jobs) {
                first = DF_GPU_JOBS;
                most = DFR_FLIGHT_LIMIT;
            }
            s->unit_of[s->n_workers] = u;
            s->workers[s->n_workers] = (struct sim_worker){ .unit = u, .window = first + ahead, .helps = DF_NONE,
                                                            .most = most + ahead };
            dfr_flight_start(&s->workers[s->n_workers++].flight, first, most);
            n_taken += most + ahead;
        }
    }
    s->first_worker[s->n_units] = s->n_workers;
    s->taken = malloc(n_taken * sizeof *s->taken);
    if (!s->taken)
        return dfr_error_memory(error);
    n_taken = 0;
    for (uint32_t w = 0; w < s->n_workers; n_taken += s->workers[w++].most)
        s->workers[w].taken = s->taken + n_taken;
    return DF_OK;
}

int sim_machine_create(struct sim *s, struct df_error *error)
{
    int status = check_platform(s, error);
    if (status != DF_OK)
        return status;
    size_t n_times = (size_t)s->n_units * s->graph->n_works + 1;
    s->able = malloc(((size_t)s->graph->n_nodes + 1) * sizeof *s->able);
    s->time_s = malloc(n_times * sizeof *s->time_s);
    s->true_s = malloc(n_times * sizeof *s->true_s);
    if (dfr_times_share_memory(s->times, s->platform))
        s->demand = calloc(n_times, sizeof *s->demand);
    if (!s->able || !s->time_s || !s->true_s || (dfr_times_share_memory(s->times, s->platform) && !s->demand))
        return dfr_error_memory(error);
    if ((status = admit(s, error)) != DF_OK)
        return status;
    set_times(s);
    return make_workers(s, error);
}
