/* size.c - determines for run.c the number of waves in flight, the number of jobs in flight on each GPU, and the size
 * of each device's pool; and for admit.c the bytes that one job needs there. If there is a memory plan, these are as it
 * promised (partition/memory/memory.h, dfr_need_waves()), so that a program behaves as dfc predicted.
 *
 * Words:    a value has a *place* if its address in a device's pool is fixed before the run. gp's *monitor* moves
 *           jobs to other units while the graph runs (--guard).
 * Waves:    the number requested; by default the number of waves of the run, but at most 4, or the number that the plan
 *           was made for. It is reduced if the tables and tokens of that many slots would take more than SLOT_BYTES of
 *           the host, if they do not fit in the memory of each device, and to the number of places in the caller's
 *           buffers. At least one wave is in flight.
 * Unified:  the pool of a unified device (graph/platform.h) holds only scratch, for which jobs wait, so the ladder concerns
 *           other devices.
 * Ladder:   each device takes the first of these layouts that fits in its memory:
 *            1  roomy     Every value that may come there has a place, for each wave in flight, and each job that is
 *                         taken has scratch. Nothing ever waits for memory: neither jobs launched ahead, nor prefetched
 *                         values, nor jobs moved by the monitor, nor choices of an online policy. This is more than the
 *                         plan needs, but the device's memory would otherwise be idle.
 *            2  planned   The policy has placed the nodes before the run, or the plan named the online policy; and the
 *                         plan says where each token lies during a wave (struct df_device_layout). The pool is all the
 *                         memory there is: first the places, then scratch, and the rest for what was not planned.
 *                         Nothing is evicted as long as nodes run where they were planned. A job that the monitor moves
 *                         uses the rest, or evicts.
 *            3  fewer waves, in the same two layouts. Without a plan: as many as would fit if each wave's nodes ran one
 *                         after the other.
 *            4  evicting  One wave does not fit, or more waves were requested than fit. The pool is all the memory there
 *                         is, blocks are allocated where there is room, and the cache evicts.
 * Places:   repeat the same addresses every `inflight` waves, which recordings need (gpu/gpu_record.c). A pool with places
 *           needs no slack, because it cannot fragment (memmgr/cache.h). Places are valid for every order of the jobs,
 *           including jobs launched ahead: these have no unfinished ancestors on other units.
 */
#include "runtime/start/size.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/engine/buffers.h"
#include "runtime/base/error.h"
#include "runtime/device/flight.h"
#include "runtime/engine/log.h"
#include "runtime/start/run_machine.h"

#define MAX_GPU_JOBS 64
#define SLOT_BYTES (UINT64_C(512) << 20)

/* ---- bytes ---- */

/* Whole pages. A size that is too large to be rounded stays as it is. */
static uint64_t page_rounded(uint64_t bytes)
{
    return bytes > UINT64_MAX - DF_PAGE_BYTES ? bytes : dfr_whole_pages(bytes);
}

static uint64_t value_paged_bytes(const struct df_graph *g, uint32_t value)
{
    return page_rounded(g->values[value].bytes ? g->values[value].bytes : 1);
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t times(uint64_t n, uint64_t bytes)
{
    uint64_t all;
    return __builtin_mul_overflow(n, bytes, &all) ? UINT64_MAX : all;
}

uint64_t dfr_job_paged_bytes(const struct df_graph *g, uint32_t node)
{
    const uint32_t *in = g->in_value + g->nodes[node].first_in;
    uint32_t first = g->nodes[node].first_out, n_in = df_node_n_in(g, node);
    uint64_t tmp = df_node_tmp_bytes(g, node, DF_ON_DEVICE), bytes = tmp ? page_rounded(tmp) : 0;

    for (uint32_t k = 0; k < n_in; k++) {
        uint32_t i = 0;
        while (in[i] != in[k])
            i++;
        if (i == k)
            bytes = sum(bytes, value_paged_bytes(g, in[k]));
    }
    for (uint32_t y = first; y < first + df_node_n_out(g, node); y++)
        if (g->values[y].taken_from == DF_NONE)
            bytes = sum(bytes, value_paged_bytes(g, y));
    return bytes;
}

uint64_t dfr_job_own_bytes(const struct df_run *run, uint32_t unit, uint32_t node)
{
    const struct df_graph *g = run->graph;
    return run->machine.platform.units[unit].unified ? page_rounded(df_node_tmp_bytes(g, node, DF_ON_DEVICE))
                                                     : dfr_job_paged_bytes(g, node);
}

static uint64_t limit_of(const struct df_run *run, uint32_t u)
{
    uint64_t pages = run->devices.limit_bytes[u] / DFM_PAGE;
    return (pages ? pages : 1) * DFM_PAGE;
}

/* ---- roomy ---- */

struct wants {                          /* what may come to one device takes so much of its memory */
    uint64_t wave_bytes, once_bytes, scratch_of_job_bytes;
};

static bool is_once(const struct df_graph *g, uint32_t value)
{
    return df_value_is_once(g, value);
}

static bool may_come(const struct df_run *run, uint32_t u, uint32_t value)
{
    const struct df_graph *g = run->graph;
    const struct df_value *v = &g->values[value];
    bool comes = run->choice.able[v->producer] >> u & 1;
    if (run->machine.platform.units[u].unified)
        return false;
    for (uint32_t r = v->first_reader; !comes && r < v->first_reader + v->n_readers; r++)
        comes = run->choice.able[g->readers[r].node] >> u & 1;
    return comes;
}

static struct wants wants_of(const struct df_run *run, uint32_t u)
{
    const struct df_graph *g = run->graph;
    struct wants w = { 0 };
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        uint64_t tmp = run->choice.able[v] >> u & 1 ? page_rounded(df_node_tmp_bytes(g, v, DF_ON_DEVICE)) : 0;
        w.scratch_of_job_bytes = tmp > w.scratch_of_job_bytes ? tmp : w.scratch_of_job_bytes;
    }
    for (uint32_t x = 0; x < g->n_values; x++) {
        uint64_t *bytes = is_once(g, x) ? &w.once_bytes : &w.wave_bytes;
        if (may_come(run, u, x))
            *bytes = sum(*bytes, value_paged_bytes(g, x));
    }
    return w;
}

static uint64_t roomy_bytes(const struct df_run *run, const struct wants *w, uint64_t inflight)
{
    uint64_t bytes = sum(sum(times(inflight, w->wave_bytes), w->once_bytes),
                         times(run->devices.window, w->scratch_of_job_bytes));
    return bytes > DFM_PAGE ? bytes : DFM_PAGE;
}

/* Gives each value a place. There are no places if their page numbers do not fit in 32 bits. */
static int make_roomy(struct df_run *run, uint32_t u, const struct wants *w, struct df_error *error)
{
    const struct df_graph *g = run->graph;
    struct dfr_room *room = &run->devices.rooms[u];
    uint64_t wave = 0, once = 0;

    room->roomy = room->fits = true;
    room->pool_bytes = roomy_bytes(run, w, run->inflight);
    if (sum(w->wave_bytes, w->once_bytes) / DF_PAGE_BYTES >= DF_NONE)
        return DF_OK;
    room->own_page = malloc(((size_t)g->n_values + 1) * sizeof *room->own_page);
    if (!room->own_page)
        return dfr_error_memory(error);
    for (uint32_t x = 0; x < g->n_values; x++) {
        uint64_t *pages = is_once(g, x) ? &once : &wave;
        bool comes = may_come(run, u, x);
        room->own_page[x] = comes ? (uint32_t)*pages : DF_NONE;
        *pages += comes ? value_paged_bytes(g, x) / DF_PAGE_BYTES : 0;
    }
    room->page = room->own_page;
    room->n_rows = 1;
    room->slot_bytes = w->wave_bytes;
    room->planned_bytes = sum(times(run->inflight, w->wave_bytes), w->once_bytes);
    room->scratch_bytes = times(run->devices.window, w->scratch_of_job_bytes);
    room->scratch_of_job_bytes = w->scratch_of_job_bytes;
    return DF_OK;
}

/* ---- planned ---- */

/* Does every node run where it was planned to, or on the CPU, which takes nothing of a device's memory? */
static bool keeps_places(const struct df_run *run, const struct df_plan *plan)
{
    uint32_t n_nodes = run->graph->n_nodes;
    for (uint64_t i = 0; i < (uint64_t)plan->n_waves * n_nodes; i++) {
        uint32_t unit = dfr_policy_place(run->choice.policy, run->choice.able[i % n_nodes], plan->place[i]);
        if (unit != plan->place[i] && unit != 0)
            return false;
    }
    return true;
}

/* Under an online policy: has every value a place in each wave that may come to a device? */
static bool covers(const struct df_run *run, const struct df_plan *plan)
{
    uint32_t n = run->graph->n_values;
    for (uint64_t i = 0; i < plan->devices.n; i++)
        if (plan->devices.page[i] == DF_NONE &&
            may_come(run, 1 + (uint32_t)(i / ((uint64_t)plan->n_waves * n)), (uint32_t)(i % n)))
            return false;
    return true;
}

/* Do the places hold in this run that the plan gives values in devices' memories? */
static bool holds(const struct df_run *run, const struct df_plan *plan)
{
    uint64_t n = plan ? (uint64_t)(run->machine.n_units - 1) * plan->n_waves * run->graph->n_values : 0;
    return n > 0 && plan->n_nodes == run->graph->n_nodes && plan->devices.n == n &&
           (run->choice.policy->units || run->choice.policy->needs_plan ? keeps_places(run, plan) : covers(run, plan));
}

static void make_planned(struct df_run *run, uint32_t u, const struct df_plan *plan)
{
    const struct df_memory_need *need = &plan->memory[u];
    const struct df_unit *unit = &plan->platform.units[u];
    struct dfr_room *room = &run->devices.rooms[u];

    room->fits = !(run->options.guard && run->choice.policy->guarded) &&
                 !run->memory.buffers; /* a result of the caller's stays there until it is copied */
    room->page = plan->devices.page + (size_t)(u - 1) * plan->n_waves * run->graph->n_values;
    room->n_rows = plan->n_waves;
    room->slot_bytes = need->wave_bytes;
    room->planned_bytes = times(run->inflight, need->wave_bytes) + need->once_bytes;
    room->scratch_bytes = need->scratch_bytes;
    room->scratch_of_job_bytes = need->scratch_bytes / (unit->jobs > unit->workers ? unit->jobs : unit->workers);
}

void dfr_rooms_free(struct df_run *run)
{
    for (uint32_t u = 0; u < DF_MAX_UNITS; u++)
        free(run->devices.rooms[u].own_page);
}

/* ---- waves ---- */

/* *peak: the most bytes that one wave's values hold if its nodes run one after the other, plus the largest job that
 * may run on unit u; in whole pages. */
static int sequential_peak(const struct df_run *run, uint32_t u, uint64_t *peak, struct df_error *error)
{
    const struct df_graph *g = run->graph;
    uint32_t *left = malloc((g->n_values + 1) * sizeof *left);
    uint64_t live = 0, largest = 0;

    if (!left)
        return dfr_error_memory(error);
    *peak = 0;
    for (uint32_t x = 0; x < g->n_values; x++)
        left[x] = g->values[x].n_readers;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        const uint32_t *in = g->in_value + g->nodes[v].first_in;
        uint32_t first = g->nodes[v].first_out, n_out = df_node_n_out(g, v);
        if (run->choice.able[v] >> u & 1 && dfr_job_paged_bytes(g, v) > largest)
            largest = dfr_job_paged_bytes(g, v);
        for (uint32_t y = first; y < first + n_out; y++)
            live = sum(live, value_paged_bytes(g, y));
        *peak = live > *peak ? live : *peak;
        for (uint32_t k = 0; k < df_node_n_in(g, v); k++)
            if (--left[in[k]] == 0)
                live -= value_paged_bytes(g, in[k]);
        for (uint32_t y = first; y < first + n_out; y++)
            if (left[y] == 0)
                live -= value_paged_bytes(g, y);
    }
    *peak = sum(*peak, largest);
    free(left);
    return DF_OK;
}

static uint64_t slot_bytes(const struct df_run *run)
{
    const struct df_graph *g = run->graph;
    uint64_t bytes = (uint64_t)g->n_nodes * sizeof *run->firing.pending +
                     (uint64_t)g->n_values * sizeof(struct dfm_block);
    if (run->machine.n_gpus > 0)
        bytes += (uint64_t)g->n_nodes * 32 + (uint64_t)g->n_in_values * 8 +
                 (uint64_t)g->n_values * 16 * run->machine.n_gpus;
    for (uint32_t x = 0; x < g->n_values && run->options.rehearse == 0; x++)
        bytes = sum(bytes, dfr_buffers_lent(run, x) ? 0 : g->values[x].bytes);
    return bytes ? bytes : 1;
}

/* The waves in flight, before devices' memories are looked at. */
static uint64_t wanted_waves(const struct df_run *run)
{
    const struct df_graph *g = run->graph;
    int64_t limit = atomic_load(&run->firing.limit);
    uint64_t planned = run->plan.inflight ? run->plan.inflight : DF_DEFAULT_INFLIGHT;
    uint64_t n = run->options.inflight, records = g->n_nodes, most;

    records = g->n_values > records ? g->n_values : records;
    records = g->n_in_values > records ? g->n_in_values : records;
    records += dfr_buffers_count(run);
    /* The records of all slots, the once slot included, are numbered in 32 bits. */
    most = records ? (UINT32_MAX - 1) / records - 1 : UINT32_MAX / 2;
    if (n == 0) {
        n = SLOT_BYTES / slot_bytes(run);
        n = n < planned ? n : planned;
    }
    if (limit >= 0 && n > (uint64_t)limit)
        n = (uint64_t)limit;
    n = n < most ? n : most;
    return dfr_buffers_inflight(run, n ? (uint32_t)n : 1);
}

/* Lowers *n to the waves that fit in the unit's memory; 0: not even one. */
static int lower_waves(const struct df_run *run, uint32_t u, const struct wants *w, const struct df_plan *plan,
                       uint64_t *n, struct df_error *error)
{
    uint64_t limit = limit_of(run, u), peak = 0;
    int status;

    if (roomy_bytes(run, w, *n) <= limit || run->machine.platform.units[u].unified || run->skips.passes)
        return DF_OK;                   /* with passes: what a pass needs is there, and tokens come as there is room */
    if (plan) {
        *n = dfr_need_waves(&plan->memory[u], limit, *n);
        return DF_OK;
    }
    status = sequential_peak(run, u, &peak, error);
    if (peak > 0 && *n > limit / peak)
        *n = limit / peak;
    return status;
}

/* ---- jobs ---- */

/* Jobs in flight: as many as are asked for, else as many as Algorithm 1 may come to (flight.h). The scratch of all
 * of them must stay a small part of the memory. */
static void size_gpu_jobs(struct df_run *run)
{
    uint32_t n = run->options.gpu_jobs;
    uint64_t tmp = 1;
    if (n == 0 && run->machine.n_gpus)
        n = run->machine.platform.units[1].jobs;
    if (n == 0 && run->options.rehearse != 0)
        n = 1;                          /* as in virtual time */
    run->devices.jobs_found = n == 0 || n == DF_FIND_JOBS;
    if (run->devices.jobs_found) {
        for (uint32_t w = 0; w < run->graph->n_works; w++)
            tmp = run->graph->works[w].tmp_bytes[DF_ON_DEVICE] > tmp ? run->graph->works[w].tmp_bytes[DF_ON_DEVICE] : tmp;
        n = DFR_FLIGHT_LIMIT;
        for (uint32_t u = 1; u <= run->machine.n_gpus; u++)
            while (n > DF_GPU_JOBS && tmp > run->devices.limit_bytes[u] / (8 * n))
                n /= 2;
    }
    run->devices.jobs = n < MAX_GPU_JOBS ? n : MAX_GPU_JOBS;
    run->devices.window = run->choice.policy->pull && !run->options.prefetch ? run->devices.jobs
                                                                             : 2 * run->devices.jobs;
    if (run->options.rehearse != 0 && !run->options.prefetch)
        run->devices.window = run->devices.jobs;
}

/* ---- all of it ---- */

static int make_room(struct df_run *run, uint32_t u, const struct wants *w, const struct df_plan *plan,
                     struct df_error *error)
{
    struct dfr_room *room = &run->devices.rooms[u];
    uint64_t limit = limit_of(run, u), most = roomy_bytes(run, w, run->inflight);

    if (run->machine.platform.units[u].unified) {
        room->roomy = room->fits = true;
        room->pool_bytes = most < limit ? most : limit;
        return DF_OK;
    }
    if (most <= limit)
        return make_roomy(run, u, w, error);
    room->pool_bytes = limit;
    if (plan && dfr_need_bytes(&plan->memory[u], run->inflight) <= limit)
        make_planned(run, u, plan);
    else
        dfr_log(run, DF_LOG_INFO, "%s: %llu bytes for up to %llu: blocks are evicted if room is needed",
                run->machine.platform.units[u].name, (unsigned long long)limit, (unsigned long long)most);
    return DF_OK;
}

int dfr_size(struct df_run *run, struct df_error *error)
{
    struct wants wants[DF_MAX_UNITS];
    const struct df_plan *plan = NULL;
    uint64_t wanted = wanted_waves(run), n = wanted;
    bool roomy = true;
    int status = DF_OK;

    size_gpu_jobs(run);
    for (uint32_t u = 1; u <= run->machine.n_gpus; u++) {
        wants[u] = wants_of(run, u);
        roomy = roomy && (run->machine.platform.units[u].unified ||
                          roomy_bytes(run, &wants[u], wanted) <= limit_of(run, u));
    }
    if (!roomy)
        status = dfr_machine_places(run, &plan, error);
    plan = status == DF_OK && holds(run, plan) ? plan : NULL;
    for (uint32_t u = 1; u <= run->machine.n_gpus && status == DF_OK && run->options.inflight == 0; u++)
        status = lower_waves(run, u, &wants[u], plan, &n, error);
    run->inflight = dfr_buffers_inflight(run, n > 0 ? (uint32_t)n : 1);
    if (status == DF_OK && run->inflight < wanted)
        dfr_log(run, DF_LOG_INFO, "%u wave%s in flight, not %llu: so many fit in GPU memory", run->inflight,
                run->inflight == 1 ? "" : "s", (unsigned long long)wanted);
    for (uint32_t u = 1; u <= run->machine.n_gpus && status == DF_OK; u++)
        status = make_room(run, u, &wants[u], plan, error);
    return status;
}
