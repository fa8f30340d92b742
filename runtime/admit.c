/* admit.c - before anything starts: where each node can run, by its variants, its hint and the devices' memory; how
 * many waves may be in flight; how large each pool is. What can run nowhere is refused here, by name.
 *
 * Waves in flight, where not asked for: as many as there are, at most 4, or what the plan was made for; fewer where the tables and tokens of so many
 * slots would take more than SLOT_BYTES of the host; and fewer where so many waves would not fit a device's memory
 * together. One always may: then the cache evicts.
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/check_variants.h"
#include "runtime/error.h"
#include "runtime/flight.h"
#include "runtime/log.h"
#include "runtime/machine.h"

#define MAX_GPU_JOBS 64
#define SLOT_BYTES (UINT64_C(512) << 20)

enum warning { W_HINT_NO_GPU, W_HINT_NO_CODE, W_HINT_CLASS, W_TOO_LARGE, N_WARNINGS };

struct admission {
    struct df_run *run;
    uint32_t count[N_WARNINGS], first[N_WARNINGS]; /* nodes, and the first of them */
    uint64_t first_bytes;               /* of the first that is too large */
};

static uint64_t page_rounded(uint64_t bytes)
{
    return bytes > UINT64_MAX - DFM_PAGE ? bytes : (bytes + DFM_PAGE - 1) / DFM_PAGE * DFM_PAGE;
}

static uint64_t value_paged_bytes(const struct df_graph *g, uint32_t value)
{
    return page_rounded(g->values[value].bytes ? g->values[value].bytes : 1);
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Device memory for one job of a node: distinct inputs, outputs that take nothing over, scratch. */
static uint64_t job_paged_bytes(const struct df_graph *g, uint32_t node)
{
    const uint32_t *in = g->in_value + g->nodes[node].first_in;
    uint32_t first = g->nodes[node].first_out, n_in = df_node_n_in(g, node);
    uint64_t tmp = g->works[g->nodes[node].work].tmp_bytes, bytes = tmp ? page_rounded(tmp) : 0;

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

static uint32_t all_gpus(const struct df_run *run)
{
    return (uint32_t)((UINT64_C(1) << (run->n_gpus + 1)) - 2);
}

/* Units whose kind has code for this node. */
static uint32_t units_with_code(const struct df_run *run, uint32_t node)
{
    const struct df_graph *g = run->graph;
    const struct df_kernel *kernel = &g->kernels[g->nodes[node].kernel];
    const struct df_functions *f = &g->functions[g->nodes[node].kernel];
    uint32_t units = f->cpu ? 1u : 0;
    bool gpu;

    if (run->check_ops && dfr_check_can(run, node))
        units = 1u;                     /* the worker runs it on the check's device */
    if (run->n_gpus == 0)
        return units;
    if (kernel->flags & DF_KERNEL_COPY)
        gpu = true;
    else if (run->device_ops->runs_cpu_code)
        gpu = (run->options.emu_gpu_code && f->gpu) ||
              (f->cpu && (kernel->code_classes >> DF_CLASS_GPU & 1 || f->gpu || run->options.emu_all));
    else
        gpu = f->gpu != NULL;
    return gpu ? units | all_gpus(run) : units;
}

static void note(struct admission *a, enum warning warning, uint32_t node)
{
    if (a->count[warning]++ == 0)
        a->first[warning] = node;
}

static int refuse(const struct df_run *run, uint32_t node, const char *why, struct df_error *error)
{
    char name[256];
    df_node_name(run->graph, node, name, sizeof name);
    return dfr_error(error, DF_E_REFUSED, "node '%s' (kernel '%s') cannot run: %s", name,
                     df_graph_string(run->graph, run->graph->kernels[run->graph->nodes[node].kernel].name), why);
}

static int apply_hint(struct admission *a, uint32_t node, uint32_t *units, struct df_error *error)
{
    const struct df_run *run = a->run;
    int hint = run->graph->nodes[node].hint_class;
    uint32_t gpus = all_gpus(run);

    if (hint == DF_CLASS_CPU) {
        *units &= 1u;
        return *units ? DF_OK : refuse(run, node, "it is '@cpu' and has no cpu variant", error);
    }
    if (hint == DF_CLASS_GPU && *units & gpus) {
        *units &= gpus;
    } else if (hint == DF_CLASS_GPU) {  /* then the CPU has code: some unit has */
        if (!run->check_ops)
            note(a, run->n_gpus ? W_HINT_NO_CODE : W_HINT_NO_GPU, node);
    } else if (hint > DF_CLASS_GPU) {
        note(a, W_HINT_CLASS, node);
    }
    return DF_OK;
}

/* Takes away the devices that the job is too large for. */
static int apply_memory(struct admission *a, uint32_t node, uint32_t *units, struct df_error *error)
{
    const struct df_run *run = a->run;
    uint64_t bytes, most = 0;
    uint32_t fits = *units;

    if (!(*units & all_gpus(run)))
        return DF_OK;
    bytes = job_paged_bytes(run->graph, node);
    for (uint32_t u = 1; u <= run->n_gpus; u++) {
        uint64_t limit = run->gpu_limit[u] / DFM_PAGE * DFM_PAGE;
        if (!(*units >> u & 1))
            continue;
        if (bytes > limit)
            fits &= ~(1u << u);
        most = limit > most ? limit : most;
    }
    if (fits == 0) {
        char why[192];
        bool hinted = run->graph->nodes[node].hint_class == DF_CLASS_GPU;
        snprintf(why, sizeof why, "one job needs %llu bytes of GPU memory and there are %llu%s",
                 (unsigned long long)bytes, (unsigned long long)most,
                 hinted ? "; it is '@gpu'" : ", and it has no cpu variant");
        return refuse(run, node, why, error);
    }
    if (fits != *units && !(fits & all_gpus(run))) {
        if (a->count[W_TOO_LARGE] == 0)
            a->first_bytes = bytes;
        note(a, W_TOO_LARGE, node);
    }
    *units = fits;
    return DF_OK;
}

static int admit_node(struct admission *a, uint32_t node, struct df_error *error)
{
    struct df_run *run = a->run;
    uint32_t units = units_with_code(run, node);
    int status;

    if (units == 0) {
        const struct df_kernel *k = &run->graph->kernels[run->graph->nodes[node].kernel];
        return refuse(run, node, k->code_classes == 0 ? "it has a cost only and no code"
                                 : run->n_gpus        ? "this program has no variant of it for the devices present"
                                                      : "it has no cpu variant, and there is no GPU", error);
    }
    status = apply_hint(a, node, &units, error);
    if (status == DF_OK)
        status = apply_memory(a, node, &units, error);
    if (status == DF_OK)
        run->able[node] = units;
    return status;
}

static void say(const struct admission *a, enum warning warning, const char *text)
{
    char name[256], more[48] = "";
    if (a->count[warning] == 0)
        return;
    df_node_name(a->run->graph, a->first[warning], name, sizeof name);
    if (a->count[warning] > 1)
        snprintf(more, sizeof more, " (and %u more node%s)", a->count[warning] - 1, a->count[warning] == 2 ? "" : "s");
    dfr_log(a->run, DF_LOG_WARNING, "node '%s'%s %s", name, more, text);
}

static void say_all(const struct admission *a)
{
    char text[128];
    say(a, W_HINT_NO_GPU, "is '@gpu' and runs on the CPU: there is no GPU");
    say(a, W_HINT_NO_CODE, "is '@gpu' and runs on the CPU: this program has no gpu variant of it");
    say(a, W_HINT_CLASS, "is placed on a class of device that this program cannot use; the hint is ignored");
    snprintf(text, sizeof text, "runs on the CPU: one job needs %llu bytes of GPU memory, more than there is",
             (unsigned long long)a->first_bytes);
    say(a, W_TOO_LARGE, text);
}

int dfr_admit(struct df_run *run, struct df_error *error)
{
    struct admission a = { .run = run };
    const struct df_graph *g = run->graph;
    uint32_t any = 0;

    run->able = malloc((g->n_nodes + 1) * sizeof *run->able);
    if (!run->able)
        return dfr_error_memory(error);
    if (!g->functions && g->n_nodes > 0)
        return dfr_error(error, DF_E_REFUSED, "this graph has costs only and no code: it can be studied, not run");
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        int status = admit_node(&a, v, error);
        if (status != DF_OK)
            return status;
        any |= run->able[v];
    }
    say_all(&a);
    if (run->options.device == DF_DEVICE_AUTO && !(any & all_gpus(run)))
        run->n_gpus = 0;
    return DF_OK;
}

/* ---- how many waves, how much memory ---- */

/* The most that one wave holds of values that may be on unit u, when its nodes run one after the other; whole pages. */
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
        if (run->able[v] >> u & 1 && job_paged_bytes(g, v) > largest)
            largest = job_paged_bytes(g, v);
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

/* All values that may be on unit u, of `inflight` waves; and scratch for as many jobs as are taken. */
static uint64_t most_paged_bytes(const struct df_run *run, uint32_t u, uint32_t inflight)
{
    const struct df_graph *g = run->graph;
    uint64_t wave = 0, once = 0, tmp = 0, largest = 0, total = 0;

    for (uint32_t v = 0; v < g->n_nodes; v++) {
        uint32_t first = g->nodes[v].first_out;
        uint64_t *part = g->nodes[v].flags & DF_NODE_ONCE ? &once : &wave;
        bool here = run->able[v] >> u & 1;
        if (here) {
            uint64_t scratch = g->works[g->nodes[v].work].tmp_bytes;
            tmp = scratch > tmp ? scratch : tmp;
            largest = job_paged_bytes(g, v) > largest ? job_paged_bytes(g, v) : largest;
        }
        for (uint32_t y = first; y < first + df_node_n_out(g, v); y++) {
            bool read_here = here;
            for (uint32_t i = 0; !read_here && i < g->values[y].n_readers; i++)
                read_here = run->able[g->readers[g->values[y].first_reader + i].node] >> u & 1;
            if (read_here)
                *part = sum(*part, value_paged_bytes(g, y));
        }
    }
    total = once;
    for (uint32_t i = 0; i < inflight; i++)
        total = sum(total, wave);
    for (uint32_t i = 0; tmp > 0 && i < run->gpu_window; i++)
        total = sum(total, page_rounded(tmp));
    total = sum(total, total / 8);      /* so that no piece is ever missing for being in two places */
    return total > largest ? page_rounded(total) : largest;
}

static uint64_t slot_bytes(const struct df_run *run)
{
    const struct df_graph *g = run->graph;
    uint64_t bytes = (uint64_t)g->n_nodes * sizeof *run->pending + (uint64_t)g->n_values * sizeof(struct dfm_block);
    if (run->n_gpus > 0)
        bytes += (uint64_t)g->n_nodes * 32 + (uint64_t)g->n_in_values * 8 + (uint64_t)g->n_values * 16 * run->n_gpus;
    for (uint32_t x = 0; x < g->n_values; x++)
        bytes = sum(bytes, g->values[x].bytes);
    return bytes ? bytes : 1;
}

static int choose_inflight(struct df_run *run, struct df_error *error)
{
    const struct df_graph *g = run->graph;
    int64_t limit = atomic_load(&run->limit);
    uint32_t wanted = run->planned_inflight ? run->planned_inflight : DF_DEFAULT_INFLIGHT;
    uint64_t n = run->options.inflight, records = g->n_nodes, most;

    records = g->n_values > records ? g->n_values : records;
    records = g->n_in_values > records ? g->n_in_values : records;
    /* all records of all slots, the once slot's too, are numbered in 32 bits */
    most = records ? (UINT32_MAX - 1) / records - 1 : UINT32_MAX / 2;
    if (n == 0) {
        n = SLOT_BYTES / slot_bytes(run);
        n = n < wanted ? n : wanted;
        for (uint32_t u = 1; u <= run->n_gpus; u++) {
            uint64_t peak = 0;
            int status = sequential_peak(run, u, &peak, error);
            if (status != DF_OK)
                return status;
            if (peak > 0 && n > run->gpu_limit[u] / peak)
                n = run->gpu_limit[u] / peak;
        }
    }
    if (limit >= 0 && n > (uint64_t)limit)
        n = (uint64_t)limit;
    n = n < most ? n : most;
    run->inflight = n > 0 ? (uint32_t)n : 1;
    return DF_OK;
}

/* Jobs in flight: as given, else as many as Algorithm 1 may come to (flight.h). Scratch for each must stay a small
 * part of the memory. */
static void size_gpu_jobs(struct df_run *run)
{
    uint32_t n = run->options.gpu_jobs;
    uint64_t tmp = 1;
    if (n == 0 && run->n_gpus)
        n = run->platform.units[1].jobs;
    run->gpu_jobs_found = n == 0 || n == DF_FIND_JOBS;
    if (run->gpu_jobs_found) {
        for (uint32_t v = 0; v < run->graph->n_works; v++)
            tmp = run->graph->works[v].tmp_bytes > tmp ? run->graph->works[v].tmp_bytes : tmp;
        n = DFR_FLIGHT_LIMIT;
        for (uint32_t u = 1; u <= run->n_gpus; u++)
            while (n > DF_GPU_JOBS && tmp > run->gpu_limit[u] / (8 * n))
                n /= 2;
    }
    run->gpu_jobs = n < MAX_GPU_JOBS ? n : MAX_GPU_JOBS;
    run->gpu_window = run->policy->pull && !run->options.prefetch ? run->gpu_jobs : 2 * run->gpu_jobs;
}

int dfr_size(struct df_run *run, struct df_error *error)
{
    int status = choose_inflight(run, error);
    if (status != DF_OK)
        return status;
    size_gpu_jobs(run);
    for (uint32_t u = 1; u <= run->n_gpus; u++) {
        uint64_t most = most_paged_bytes(run, u, run->inflight), limit = run->gpu_limit[u] / DFM_PAGE * DFM_PAGE;
        run->pool_bytes[u] = most < limit ? most : limit;
        run->roomy[u] = most <= limit;
        if (run->pool_bytes[u] < DFM_PAGE)
            run->pool_bytes[u] = DFM_PAGE;
        if (most > limit)
            dfr_log(run, DF_LOG_INFO, "%s: %llu bytes for up to %llu: blocks are evicted where room is needed",
                    run->platform.units[u].name, (unsigned long long)limit, (unsigned long long)most);
    }
    return DF_OK;
}
