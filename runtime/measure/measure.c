/* measure.c - the control flow of the measuring mode (measure.h): decides which variants to measure, and runs the graph in order, measuring each variant when
 * its work first occurs. measure_report.c, which df_main() calls for `dfc profile`, starts it.
 */
#include "runtime/measure/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/device/can_run.h"
#include "runtime/device/devices.h"
#include "runtime/threads/bind.h"
#include "runtime/threads/clock.h"
#include "runtime/base/error.h"
#include "runtime/base/isa.h"
#include "runtime/start/back_ends.h"
#include "runtime/engine/call.h"
#include "runtime/engine/host_memory.h"
#include "runtime/measure/measure_impl.h"
#include "runtime/graph/scalars.h"
#include "runtime/io/state.h"

static const struct df_kernel *kernel_of(const struct dfr_measure *m, uint32_t work)
{
    return &m->graph->kernels[m->graph->works[work].kernel];
}

static size_t at(const struct dfr_measure *m, uint32_t cls, uint32_t work)
{
    return (size_t)cls * m->graph->n_works + work;
}

/* The kernel has effects that must not be repeated: it runs only for the flow, once a wave. */
static bool flow_only(const struct df_kernel *kernel)
{
    return kernel->n_in == 0 || kernel->n_out == 0 || (kernel->traits & (DF_ORDERED | DF_STREAM));
}

/* ---- what is wanted ---- */

/* Has it a cost clause for the cpu, or for the class of the device? */
static bool has_cost(const struct dfr_measure *m, const struct dfr_device_ops *ops, uint32_t work, uint32_t cls)
{
    const struct df_graph *g = m->graph;
    const struct df_options *o = m->options;
    const struct df_platform *described = o->platform ? o->platform : o->plan ? &o->plan->platform : NULL;
    const uint32_t other = described && ops && ops->runs_opencl ? df_platform_other_class(described) : DF_CLASS_CPU;
    if (cls == DF_CLASS_GPU && other != DF_CLASS_CPU)
        cls = dfr_graph_class(g, described, other); /* OpenCL's devices are of that class (start/run_machine.c) */
    return cls < g->n_classes && !isnan(g->cost_s[(size_t)cls * g->n_works + work]);
}

static bool gpu_can(const struct dfr_measure *m, const struct dfr_device_ops *ops, uint32_t work)
{
    return ops && dfr_device_can(ops, m->options, m->graph, m->graph->works[work].kernel);
}

static bool wanted(const struct dfr_measure *m, const struct dfr_device_ops *ops, uint32_t work, uint32_t cls)
{
    const struct df_functions *functions = &m->graph->functions[m->graph->works[work].kernel];
    if (has_cost(m, ops, work, cls))
        return false;
    if (cls == DF_CLASS_CPU)
        return functions->cpu != NULL;
    /* The emulator would run the same code a second time, which these kernels do not allow. The cpu's time stands for
     * it. */
    if (ops && ops->runs_cpu_code && flow_only(kernel_of(m, work)))
        return false;
    return gpu_can(m, ops, work);
}

static int refuse_node(const struct dfr_measure *m, uint32_t work, struct df_error *error)
{
    char name[256];
    uint32_t v = 0;
    while (m->graph->nodes[v].work != work)
        v++;
    df_node_name(m->graph, v, name, sizeof name);
    return dfr_error(error, DF_E_REFUSED, "node '%s' has no cpu variant in this program, and there is no device for it",
                     name);
}

/* Marks what is to be measured. *pool_bytes: what the largest of these works takes on a device; 0: no device is
 * needed. */
static int choose(struct dfr_measure *m, const struct dfr_device_ops *ops, uint64_t *pool_bytes, struct df_error *error)
{
    *pool_bytes = 0;
    m->n_waves = 1;
    for (uint32_t w = 0; w < m->graph->n_works; w++) {
        bool cpu = m->graph->functions[m->graph->works[w].kernel].cpu;
        bool needs_gpu = !cpu;
        if (needs_gpu && !gpu_can(m, ops, w))
            return refuse_node(m, w, error);
        int status = cpu ? dfr_admit_host(m->graph, w, error) : DF_OK;
        if (status != DF_OK)
            return status;
        for (uint32_t cls = 0; cls < 2; cls++) {
            if (wanted(m, ops, w, cls))
                m->state[at(m, cls, w)] = DFR_M_WANTED;
        }
        if (m->state[at(m, DF_CLASS_GPU, w)] == DFR_M_WANTED)
            needs_gpu = true;
        if (needs_gpu && dfr_single_gpu_need(m->graph, w) > *pool_bytes)
            *pool_bytes = dfr_single_gpu_need(m->graph, w);
    }
    return DF_OK;
}

/* The most waves that a run with the same options has. */
static int64_t run_waves_most(const struct dfr_measure *m)
{
    if (m->options->waves >= 0)
        return m->options->waves > 1 ? m->options->waves : 1;
    for (uint32_t k = 0; k < m->graph->n_kernels; k++)
        if (m->graph->kernels[k].traits & DF_STREAM)
            return INT64_MAX;
    return 1;
}

/* The flow has to have enough waves for a work of which each wave gives one sample. */
static void want_waves(struct dfr_measure *m, bool both_variants)
{
    int64_t most = run_waves_most(m);
    most = most < m->sampler.max_runs ? most : m->sampler.max_runs;
    most = both_variants && most < 2 ? 2 : most;
    m->n_waves = most > m->n_waves ? most : m->n_waves;
}

/* Takes out what is known already, counts, and finds how many waves are needed. Keys have the device's name, so the
 * device is open. */
static int leave_out_known(struct dfr_measure *m, uint32_t *total, uint32_t *n_known, struct df_error *error)
{
    *total = *n_known = 0;
    for (uint32_t w = 0; w < m->graph->n_works; w++) {
        for (uint32_t cls = 0; cls < 2; cls++) {
            uint8_t *state = &m->state[at(m, cls, w)];
            bool known;
            if (*state != DFR_M_WANTED)
                continue;
            bool loaded = m->n_loaded && !dfr_measure_unloaded(m, w, cls);
            int status = dfr_measure_report_known(m, w, cls, loaded, &known, error);
            if (status != DF_OK)
                return status;
            *state = known ? DFR_M_KNOWN : DFR_M_WANTED;
            ++*(known ? n_known : total);
            bool cpu_too = m->graph->functions[m->graph->works[w].kernel].cpu;
            if (!known && flow_only(kernel_of(m, w)))
                want_waves(m, cls == DF_CLASS_GPU && cpu_too);
        }
    }
    return DF_OK;
}

/* ---- one node ---- */

/* The outcome goes out before that of the work alone, so that both are stored together. */
static int load(struct dfr_measure_job *job, uint32_t work, uint32_t cls, struct df_error *error)
{
    const char *why = dfr_measure_unloaded(job->m, work, cls);
    struct dfr_load load;
    if (why)
        return dfr_measure_report_unloaded(job->m, work, cls, why, error);
    int status = dfr_measure_load_cpu(job, &load, error);
    return status == DF_OK ? dfr_measure_report_load(job->m, &load, error) : status;
}

/* Measures a work that comes by for the first time and may be repeated. */
static int repeat(struct dfr_measure_job *job, uint32_t cls, struct df_error *error)
{
    struct dfr_measure *m = job->m;
    uint32_t work = m->graph->nodes[job->job.node].work;
    struct dfr_sample sample;
    m->state[at(m, cls, work)] = DFR_M_DONE;
    if (cls == DF_CLASS_GPU && !dfr_single_gpu_fits(m->gpu, work))
        return dfr_measure_report_skip(m, work, cls, "larger than the device's memory", error);
    if (cls == DF_CLASS_GPU && dfr_measure_uncold(m, work))
        return dfr_measure_report_skip(m, work, cls, dfr_measure_uncold(m, work), error);
    int status = dfr_measure_report_try(m, work, cls, error);
    if (status == DF_OK)
        status = cls == DF_CLASS_GPU ? dfr_measure_repeat_gpu(job, &sample, error)
                                     : dfr_measure_repeat_cpu(job, &sample, error);
    if (status == DF_OK && m->n_loaded)
        status = load(job, work, cls, error);
    return status == DF_OK ? dfr_measure_report_sample(m, work, cls, &sample, error) : status;
}

static int remember(struct dfr_measure_times *times, double seconds, struct df_error *error)
{
    if (!DFR_ARRAY_ROOM(times->seconds, times->n, times->capacity))
        return dfr_error_memory(error);
    times->seconds[times->n++] = seconds;
    return DF_OK;
}

/* The class that fires a node for the flow: the cpu if it can. In every second wave, the gpu if that is wanted, too,
 * and can only be measured in the flow. */
static uint32_t flow_class(const struct dfr_measure *m, uint32_t work, int64_t wave)
{
    if (!m->graph->functions[m->graph->works[work].kernel].cpu)
        return DF_CLASS_GPU;
    bool other = wave % 2 == 1 && flow_only(kernel_of(m, work)) &&
                 m->state[at(m, DF_CLASS_GPU, work)] == DFR_M_WANTED && dfr_single_gpu_fits(m->gpu, work);
    return other ? DF_CLASS_GPU : DF_CLASS_CPU;
}

static int fire(struct dfr_measure_job *job, struct df_error *error)
{
    struct dfr_measure *m = job->m;
    uint32_t work = m->graph->nodes[job->job.node].work, cls = flow_class(m, work, job->job.wave);
    bool counts = flow_only(kernel_of(m, work)) && m->state[at(m, cls, work)] == DFR_M_WANTED;
    double seconds;
    int status = DF_OK;
    if (cls == DF_CLASS_GPU && !dfr_single_gpu_fits(m->gpu, work)) {
        char name[256];
        df_node_name(m->graph, job->job.node, name, sizeof name);
        return dfr_error(error, DF_E_REFUSED, "node '%s' does not fit the device's memory, and it has no cpu variant",
                         name);
    }
    bool beside = counts && m->second && !dfr_measure_unloaded(m, work, cls);
    if (counts && !m->second && m->flow[at(m, cls, work)].n == 0)
        status = dfr_measure_report_try(m, work, cls, error);
    if (status == DF_OK)
        status = cls == DF_CLASS_GPU ? dfr_measure_fire_gpu(job, &seconds, error)
                 : beside            ? dfr_measure_fire_beside(job, &seconds, error)
                                     : dfr_measure_fire_cpu(job, &seconds, error);
    if (status == DF_OK && counts && job->job.code != DF_END && (beside || !m->second))
        status = remember(beside ? &m->beside[work] : &m->flow[at(m, cls, work)], seconds, error);
    return status;
}

static int run_node(struct dfr_measure *m, uint32_t node, int64_t wave, bool *ended, struct df_error *error)
{
    struct dfr_measure_job job = { .m = m, .job = { .node = node, .ports = m->ports,
                                                      .opened = &m->opened } };
    uint32_t work = m->graph->nodes[node].work;
    int status = dfr_measure_bind(m, node, error);
    job.job.wave = df_node_is_final(m->graph, node) ? 2 : wave; /* a final node is told how many waves there were */
    for (uint32_t cls = 0; cls < 2 && status == DF_OK; cls++) {
        if (m->state[at(m, cls, work)] == DFR_M_WANTED && !flow_only(kernel_of(m, work)))
            status = repeat(&job, cls, error);
    }
    if (status == DF_OK)
        status = fire(&job, error);
    *ended = status == DF_OK && job.job.code == DF_END;
    if (status == DF_OK && job.job.code == DF_SKIP)
        dfr_measure_clear(m, node);
    if (m->run.extents)
        dfr_extents_fill(m->run.extents, node, 0, job.job.code == DF_OK);
    dfr_measure_release(m, node);
    return status;
}

/* ---- the flow ---- */

/* Two waves are run whatever the time, if both variants of a work take turns. */
static bool goes_on(const struct dfr_measure *m, int64_t wave, double begin_s)
{
    return wave < 2 ? wave < m->n_waves : wave < m->n_waves && dfr_clock_s() - begin_s < m->sampler.max_s;
}

/* Runs the nodes of one wave. *ended: a stream has ended. */
static int run_wave(struct dfr_measure *m, int64_t wave, bool *ended, struct df_error *error)
{
    dfr_measure_begin_wave(m);
    *ended = false;
    for (uint32_t v = 0; v < m->graph->n_nodes && !*ended; v++) {
        if (wave > 0 && (m->graph->nodes[v].flags & DF_NODE_ONCE))
            continue;
        int status = run_node(m, v, wave, ended, error);
        if (status != DF_OK)
            return status;
        if (*ended && wave == 0) {
            char name[256];
            df_node_name(m->graph, v, name, sizeof name);
            return dfr_error(error, DF_E_KERNEL,
                             "stream '%s' ended before its first wave, so nothing flows that could be"
                             " measured",
                             name);
        }
    }
    return DF_OK;
}

/* *waves: how many were run to their ends. */
static int run_waves(struct dfr_measure *m, int64_t *waves, struct df_error *error)
{
    double begin_s = 0;                 /* of the second wave: by then all repetitions are over */
    *waves = 0;
    for (; goes_on(m, *waves, begin_s); ++*waves) {
        bool ended;
        if (*waves == 1)
            begin_s = dfr_clock_s();
        int status = run_wave(m, *waves, &ended, error);
        if (status != DF_OK)
            return status;
        if (ended) {
            m->complete = true;
            return DF_OK;
        }
    }
    return DF_OK;
}

/* The longest call that the flow was measured by. */
static double longest(const struct dfr_measure *m)
{
    double longest_s = 0;
    for (size_t i = 0; i < 2 * (size_t)m->graph->n_works; i++)
        for (uint32_t k = 0; k < m->flow[i].n; k++)
            longest_s = m->flow[i].seconds[k] > longest_s ? m->flow[i].seconds[k] : longest_s;
    return longest_s;
}

/* The same waves once more, from the beginning: what runs for the flow only is fired beside the triad. Its states begin anew, so files are
 * read and written again. What cannot begin again, a stream of numbers that a pipe brings, say, ends before, or fails. Then `why` says so, and
 * nothing is known about it under load; what was measured alone stays. */
static void run_waves_beside(struct dfr_measure *m, int64_t waves, struct df_error *why)
{
    bool ended = false;
    int status = DF_OK;
    dfr_states_end(&m->run, DF_E_REFUSED, NULL);
    dfr_measure_forget(m);
    dfr_measure_watch_longer(m, longest(m));
    m->second = true;
    for (int64_t wave = 0; wave < waves && !ended && status == DF_OK; wave++)
        status = run_wave(m, wave, &ended, why);
    if (status == DF_OK && ended)
        dfr_error(why, DF_E_KERNEL, "a stream ended earlier when the flow ran a second time");
}

/* Does the flow have cpu variants that can be measured beside the triad, and in no other way? */
static bool flow_has_load(const struct dfr_measure *m)
{
    bool has = false;
    for (uint32_t w = 0; m->n_loaded && w < m->graph->n_works; w++)
        has |= m->state[at(m, DF_CLASS_CPU, w)] == DFR_M_WANTED && m->flow[at(m, DF_CLASS_CPU, w)].n > 0 &&
               !dfr_measure_unloaded(m, w, DF_CLASS_CPU);
    return has;
}

static double mean(const struct dfr_measure_times *times)
{
    double sum_s = 0;
    for (uint32_t i = 0; i < times->n; i++)
        sum_s += times->seconds[i];
    return sum_s / times->n;
}

/* What one time is, from those of a variant that ran for the flow only. */
static int sample_of(const struct dfr_measure *m, const struct dfr_measure_times *times, struct dfr_sample *sample, struct df_error *error)
{
    double *scratch = malloc(2 * (size_t)times->n * sizeof *scratch);
    if (!scratch)
        return dfr_error_memory(error);
    dfr_sample_of(times->seconds, times->n, scratch, sample);
    free(scratch);
    if (m->complete) {                  /* all its calls were seen, so all count */
        const double kept_s = sample->mean_s;
        sample->mean_s = mean(times);
        for (unsigned i = 0; i < DFR_QUANTILES; i++)
            sample->quantile[i] *= sample->mean_s > 0 ? (float)(kept_s / sample->mean_s) : 0;
        sample->dropped = 0;
        sample->ci_s = NAN;             /* nothing is uncertain then */
    }
    return DF_OK;
}

/* Before the sample of a variant that ran for the flow only: what it took beside the triad, or why that is not known. */
static int report_flow_load(struct dfr_measure *m, uint32_t work, uint32_t cls, struct df_error *error)
{
    const char *why = dfr_measure_unloaded(m, work, cls);
    struct dfr_load load = m->rates;
    struct dfr_sample sample;
    if (!m->n_loaded || cls != DF_CLASS_CPU)
        return DF_OK;
    if (!why && m->beside[work].n != m->flow[at(m, cls, work)].n)
        why = *m->why_alone.text ? m->why_alone.text : "the flow did not run a second time";
    if (why)
        return dfr_measure_report_unloaded(m, work, cls, why, error);
    int status = sample_of(m, &m->beside[work], &sample, error);
    load.self_s = 0;
    load.triad_s = fmax(sample.mean_s, DFR_LEAST_TIME_S);
    return status == DF_OK ? dfr_measure_report_load(m, &load, error) : status;
}

int dfr_measure_report_flow(struct dfr_measure *m, bool all, struct df_error *error)
{
    for (uint32_t w = 0; w < m->graph->n_works; w++) {
        for (uint32_t cls = 0; cls < 2; cls++) {
            struct dfr_measure_times *times = &m->flow[at(m, cls, w)];
            int status = DF_OK;
            if (m->state[at(m, cls, w)] != DFR_M_WANTED || (times->n == 0 && !all))
                continue;
            if (times->n == 0) {
                status = dfr_measure_report_skip(m, w, cls, "it did not run in the flow", error);
            } else {
                struct dfr_sample sample;
                status = sample_of(m, times, &sample, error);
                if (status == DF_OK)
                    status = report_flow_load(m, w, cls, error);
                if (status == DF_OK)
                    status = dfr_measure_report_sample(m, w, cls, &sample, error);
            }
            if (status != DF_OK)
                return status;
        }
    }
    return DF_OK;
}

/* ---- set up ---- */

/* The back end that was asked for. *ops NULL: there is none, and none is demanded. */
static int find_device(const struct df_graph *graph, const struct df_options *options,
                       const struct dfr_device_ops **ops, uint32_t *number, struct df_error *error)
{
    struct df_error why = { "" };
    const struct dfr_back_ends ends = dfr_back_ends_for(options);
    *ops = NULL;
    if (dfr_devices_first(&ends, options, graph, ops, number, &why) == DF_OK)
        return DF_OK;
    const bool demanded = (options->device != DF_DEVICE_AUTO && options->device != DF_DEVICE_NONE) || dfr_devices_named(options);
    if (!demanded)
        return DF_OK;
    return ends.n ? dfr_error(error, DF_E_DEVICE, "no %s device: %s", ends.ops[0]->name, why.text) : dfr_error(error, DF_E_DEVICE, "%s", ends.missing);
}

/* Cores of one machine may differ in speed for minutes, if other machines share them. An emulated GPU computes with the code of
 * the cpu variants, so both are measured on one core: else a plan would prefer the side that had the quicker core. NULL: threads
 * stay where the system puts them, as for kernels that make threads. */
static struct dfr_cores *cores_to_measure_on(const struct dfr_measure *m)
{
    return m->emulated && !df_graph_has_gangs(m->graph) ? dfr_cores_create() : NULL;
}

static bool allocate_arrays(struct dfr_measure *m)
{
    const struct df_graph *g = m->graph;
    unsigned ports = 1, dims = 1;
    for (uint32_t k = 0; k < g->n_kernels; k++) {
        ports = g->kernels[k].n_ports > ports ? g->kernels[k].n_ports : ports;
        dims = g->kernels[k].n_dims > dims ? g->kernels[k].n_dims : dims;
    }
    m->state = calloc(2 * (size_t)g->n_works + 1, sizeof *m->state);
    m->flow = calloc(2 * (size_t)g->n_works + 1, sizeof *m->flow);
    m->beside = calloc((size_t)g->n_works + 1, sizeof *m->beside);
    m->memory = calloc((size_t)g->n_values + 1, sizeof *m->memory);
    m->left = calloc((size_t)g->n_values + 1, sizeof *m->left);
    m->ports = calloc(ports, sizeof *m->ports);
    m->dims = calloc(dims, sizeof *m->dims);
    return m->state && m->flow && m->beside && m->memory && m->left && m->ports && m->dims;
}

static void free_arrays(struct dfr_measure *m)
{
    for (size_t i = 0; m->flow && i < 2 * (size_t)m->graph->n_works; i++)
        free(m->flow[i].seconds);
    for (uint32_t w = 0; m->beside && w < m->graph->n_works; w++)
        free(m->beside[w].seconds);
    for (uint32_t y = 0; m->memory && y < m->graph->n_values; y++)
        free(m->memory[y]);
    free(m->state);
    free(m->flow);
    free(m->beside);
    free(m->memory);
    free(m->left);
    free(m->ports);
    free(m->dims);
    free(m->run.memory.scalars);
}

static int measure(struct dfr_measure *m, const struct dfr_device_ops *ops, struct df_error *error)
{
    uint64_t pool_bytes;
    uint32_t total, known;
    int status = choose(m, ops, &pool_bytes, error);
    if (status == DF_OK && pool_bytes > 0)
        status = dfr_single_gpu_open(&m->run, ops, pool_bytes, dfr_measure_gpu_spare(m, ops), &m->gpu, error);
    if (status == DF_OK)
        status = leave_out_known(m, &total, &known, error);
    if (status == DF_OK)
        status = dfr_measure_report_begin(m, total, known, error);
    if (status == DF_OK)
        status = dfr_measure_watch_start(m, ops, error);
    if (status == DF_OK && total > 0) { /* else nothing is measured, and the kernels' effects would be in vain */
        int64_t waves;
        status = run_waves(m, &waves, error);
        if (status == DF_OK && flow_has_load(m))
            run_waves_beside(m, waves, &m->why_alone);
        if (status == DF_OK)
            status = dfr_measure_report_flow(m, true, error);
        dfr_states_end(&m->run, DF_E_REFUSED, NULL); /* files that kernels have begun are not kept */
    }
    return status == DF_OK ? dfr_measure_report_end(m, error) : status;
}

int dfr_measure_to(const struct df_graph *graph, const struct df_options *options,
                   const struct dfr_sampler_options *sampler, bool loaded, bool cold, FILE *out,
                   FILE *known, struct df_error *error)
{
    const struct dfr_device_ops *ops;
    if (!graph->functions)
        return dfr_error(error, DF_E_ARGUMENT, "a graph of costs alone has nothing to measure");
    uint32_t number = 0;
    int status = dfr_isa_check(error);
    if (status == DF_OK)
        status = find_device(graph, options, &ops, &number, error);
    if (status != DF_OK)
        return status;
    struct dfr_measure *m = aligned_alloc(_Alignof(struct dfr_measure), sizeof *m);
    if (!m)
        return dfr_error_memory(error);
    memset(m, 0, sizeof *m);
    m->graph = m->run.graph = graph;
    m->options = options;
    m->run.options = *options;
    m->run.devices.number[1] = number;
    m->sampler = *sampler;
    m->emulated = ops && ops->runs_cpu_code;
    m->run.machine.cores = cores_to_measure_on(m);
    if (cold && ops)
        m->flush_bytes = dfr_measure_cache(&m->run, ops);
    if (loaded)
        dfr_measure_count_load(m);
    if (allocate_arrays(m)) {
        m->wave_bytes = dfr_measure_wave_bytes(m);
        status = dfr_scalars_create(graph, options->args, &m->run.memory.scalars, error);
    } else {
        status = dfr_error_memory(error);
    }
    if (status == DF_OK)
        status = dfr_extents_create(graph, 1, &m->run.extents, error);
    if (status == DF_OK)
        status = dfr_measure_report_new(out, known, &m->report, error);
    if (status == DF_OK)
        status = measure(m, ops, error);
    dfr_measure_watch_end(m);
    dfr_single_gpu_close(m->gpu);
    dfr_cores_destroy(m->run.machine.cores);
    dfr_opened_close(&m->opened, graph);
    dfr_extents_destroy(m->run.extents);
    dfr_measure_report_free(m->report);
    dfr_triad_free(m->triad);
    free_arrays(m);
    free(m);
    return status;
}
