/* roofline.c - estimates execution times by the roofline model, from operation counts, bytes and the machine's
 * performance figures (roofline.h): for compiler/load and front/replan.c, which fill in works that were not measured,
 * and for `dfc explain --what-if`.
 */
#include "profiles/estimate/roofline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"

void dfw_operations_add(struct dfw_operations *to, const struct dfw_operations *o, double times)
{
    for (int i = 0; i < 2; i++) {
        to->flops[i] += times * o->flops[i];
        to->divisions[i] += times * o->divisions[i];
        to->functions[i] += times * o->functions[i];
    }
    to->integers += times * o->integers;
    to->bytes_read += times * o->bytes_read;
    to->bytes_written += times * o->bytes_written;
    to->random_reads += times * o->random_reads;
    to->atomics += times * o->atomics;
}

double dfw_bandwidth_of(const struct dfw_machine *machine, uint32_t threads)
{
    const double *by = machine->figures.bytes_per_s;
    double all = machine->bytes_per_s;
    unsigned i = 0;
    if (!(by[0] > 0))
        return all;
    while (i + 1 < DF_BANDWIDTHS && by[i + 1] > 0 && 2u << i <= threads)
        i++;
    double low = 1u << i, share = (threads - low) / low;
    if (i + 1 < DF_BANDWIDTHS && by[i + 1] > 0)
        return by[i] + share * (by[i + 1] - by[i]);
    return share > 0 && all > by[i] ? fmin(all, by[i] * (1 + share)) : by[i];
}

/* Operations in additions of that type. */
static double additions(const struct dfw_operations *o, int type)
{
    return o->flops[type] + DFW_FLOPS_A_DIVISION * o->divisions[type] + DFW_FLOPS_A_FUNCTION * o->functions[type] +
           (type == 0 ? o->integers : 0);
}

/* No work takes no time, whatever is known. */
static double divided(double work, double per_s)
{
    return work > 0 ? per_s > 0 ? work / per_s : (double)NAN : 0;
}

static double times(double work, double each_s)
{
    return work > 0 ? each_s > 0 ? work * each_s : (double)NAN : 0;
}

double dfw_roofline_s(const struct dfw_operations *o, const struct dfw_machine *machine, uint32_t threads)
{
    const struct df_figures *f = &machine->figures;
    double compute_s = (divided(additions(o, 0), f->flops[0]) + divided(additions(o, 1), f->flops[1])) / threads;
    double memory_s = divided(o->bytes_read + o->bytes_written, dfw_bandwidth_of(machine, threads)) +
                      (times(o->random_reads, f->random_s[1]) + times(o->atomics, f->atomic_s[0])) / threads;
    return isnan(compute_s) || isnan(memory_s) ? (double)NAN : fmax(compute_s, memory_s);
}

/* ---- all works of a graph ---- */

static bool has_figures(const struct df_unit *unit)
{
    return unit->figures.flops[0] > 0 || unit->memory_bytes_per_s > 0;
}

/* A unified device reaches the host's memory. */
static struct dfw_machine machine_of(const struct df_platform *platform, uint32_t u)
{
    const struct df_unit *unit = &platform->units[u];
    return (struct dfw_machine){ unit->figures, unit->unified ? platform->units[0].memory_bytes_per_s : unit->memory_bytes_per_s, unit->launch_s };
}

void dfw_known_machine(struct dfw_known *known, const struct df_platform *platform, bool own_gpu)
{
    known->machine[0] = machine_of(platform, 0);
    known->machine[1] = (struct dfw_machine){ .bytes_per_s = 0 };
    for (uint32_t u = platform->n_units; u-- > 1 && own_gpu;) {
        const uint32_t cls = platform->units[u].cls;
        const bool same = known->cls[0] ? strcmp(platform->class_names[cls], known->cls) == 0 : cls == DF_CLASS_GPU;
        if (same && has_figures(&platform->units[u]))
            known->machine[1] = machine_of(platform, u);
    }
    if (known->other)
        dfw_known_machine(known->other, platform, true);
}

/* A copy that nobody wrote reads its input and writes its output. */
static struct dfw_operations operations_of(const struct df_graph *graph, uint32_t work, uint32_t cls,
                                           const struct dfw_operations *operations)
{
    const struct df_work *w = &graph->works[work];
    bool copy = graph->kernels[w->kernel].flags & DF_KERNEL_COPY;
    double bytes = copy ? (double)graph->port_bytes[w->first_port] : 0;
    if (copy)
        return (struct dfw_operations){ .known = true, .bytes_read = bytes, .bytes_written = bytes };
    return operations ? operations[2 * work + (cls != DF_CLASS_CPU)] : (struct dfw_operations){ .known = false };
}

/* What a job draws from the host's memory, as far as its time is that of memory. */
static int give_demand(const struct dfw_operations *o, const struct dfw_machine *machine, uint32_t threads, size_t at,
                       struct df_times *t, struct df_error *error)
{
    double bytes = o->bytes_read + o->bytes_written, bytes_s = divided(bytes, dfw_bandwidth_of(machine, threads));
    if (!(bytes_s > 0) || !(t->time_s[at] > 0))
        return DF_OK;
    if (!t->demand)
        t->demand = calloc((size_t)t->n_classes * t->n_works + 1, sizeof *t->demand);
    if (!t->demand)
        return dfr_error_memory(error);
    t->demand[at] = (struct df_demand){ bytes / t->time_s[at], fmin(1, bytes_s / t->time_s[at]) };
    return DF_OK;
}

/* cls: the cpu, or the class of the device. */
static int estimate(const struct dfw_known *known, const struct df_graph *graph, uint32_t work, uint32_t cls,
                    const struct dfw_operations *o, struct df_times *t, struct df_error *error)
{
    size_t cpu = work, at = (size_t)cls * t->n_works + work;
    const struct dfw_machine *machine = &known->machine[cls != DF_CLASS_CPU];
    uint32_t threads = cls == DF_CLASS_CPU ? graph->works[work].threads : 1;
    if (t->source[at] != DF_TIME_DEFAULT)
        return DF_OK;
    double seconds = machine->figures.flops[0] > 0 ? dfw_roofline_s(o, machine, threads) : (double)NAN;
    if (cls != DF_CLASS_CPU && o->launches > 1)
        seconds += (o->launches - 1) * machine->launch_s;
    if (isnan(seconds) && cls != DF_CLASS_CPU && known->emulated && t->source[cpu] == DF_TIME_ESTIMATED)
        seconds = t->time_s[cpu];       /* the emulator runs the code of the cpu */
    if (!(seconds < DF_LIMIT_JOB_S))
        return DF_OK;
    t->time_s[at] = seconds;
    t->source[at] = DF_TIME_ESTIMATED;
    return cls == DF_CLASS_CPU ? give_demand(o, machine, threads, at, t, error) : DF_OK;
}

/* ---- GPUs, from the time on the cpu ---- */

static bool has_f64(const struct df_graph *graph, const struct df_kernel *kernel)
{
    for (unsigned p = 0; p < kernel->n_ports; p++)
        if (graph->kports[kernel->first_port + p].elem == DF_F64)
            return true;
    return false;
}

/* Where a figure is missing it is NaN, which fmin() and fmax() ignore. */
static double ratio(double gpu, double cpu)
{
    return gpu > 0 && cpu > 0 ? gpu / cpu : (double)NAN;
}

double dfw_rates_s(const struct dfw_known *known, const struct df_graph *graph, uint32_t work, double cpu_s)
{
    const struct dfw_machine *cpu = &known->machine[0], *gpu = &known->machine[1];
    const struct df_work *w = &graph->works[work];
    double by_memory = ratio(dfw_bandwidth_of(gpu, 1), dfw_bandwidth_of(cpu, w->threads));
    double by_f32 = ratio(gpu->figures.flops[0], cpu->figures.flops[0] * w->threads);
    bool wide = has_f64(graph, &graph->kernels[w->kernel]);
    double by_f64 = wide ? ratio(gpu->figures.flops[1], cpu->figures.flops[1] * w->threads) : (double)NAN;
    double speedup = fmin(by_memory, fmin(by_f32, by_f64));
    return isnan(speedup) ? (double)NAN : fmax(cpu_s / speedup, divided((double)w->job_bytes, dfw_bandwidth_of(gpu, 1)));
}

static void estimate_by_cpu(const struct dfw_known *known, const struct df_graph *graph, uint32_t work, uint32_t cls, struct df_times *t)
{
    size_t cpu = work, gpu = (size_t)cls * t->n_works + work;
    if (t->source[gpu] != DF_TIME_DEFAULT || t->source[cpu] == DF_TIME_DEFAULT || isnan(t->time_s[cpu]) ||
        known->emulated || graph->kernels[graph->works[work].kernel].flags & DF_KERNEL_COPY)
        return;
    double seconds = dfw_rates_s(known, graph, work, t->time_s[cpu]);
    t->time_s[gpu] = isnan(seconds) ? t->time_s[cpu] / DF_DEFAULT_SPEEDUP : seconds;
    t->source[gpu] = isnan(seconds) ? DF_TIME_DEFAULT : DF_TIME_ESTIMATED;
}

/* The times of a work on the cpu and on one device. */
static int estimate_work(const struct dfw_known *known, const struct df_graph *graph, uint32_t work, uint32_t device, const struct dfw_operations *operations,
                         struct df_times *t, struct df_error *error)
{
    const bool copy = graph->kernels[graph->works[work].kernel].flags & DF_KERNEL_COPY;
    const uint32_t classes[] = { DF_CLASS_CPU, device };
    int status = DF_OK;
    for (unsigned i = 0; i < (copy ? 1u : 2u) && status == DF_OK; i++) {
        struct dfw_operations o = operations_of(graph, work, classes[i], operations);
        if (o.known)
            status = estimate(known, graph, work, classes[i], &o, t, error);
    }
    estimate_by_cpu(known, graph, work, device, t);
    return status;
}

int dfw_roofline_times(const struct dfw_known *known, const struct df_graph *graph,
                       const struct dfw_operations *operations, struct df_times *t, struct df_error *error)
{
    int status = DF_OK;
    for (; known && status == DF_OK; known = known->other) {
        const uint32_t device = dfw_known_class(known, graph);
        for (uint32_t work = 0; device != DF_NONE && work < t->n_works && status == DF_OK; work++)
            status = estimate_work(known, graph, work, device, operations, t, error);
    }
    return status;
}
