/* check_variants.c - runs gpu variants alongside the run, and compares their outputs with those of the cpu variants (check_variants.h). inspect.c calls it
 * around each job; start/ opens it and asks which nodes it can check. Gpu variants run on a GPU that is opened for the check (engine/single_job.h).
 */
#include "runtime/inspect/check_variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/can_run.h"
#include "runtime/device/devices.h"
#include "runtime/engine/buffers.h"
#include "runtime/engine/ending.h"
#include "runtime/inspect/differ.h"
#include "runtime/base/error.h"
#include "runtime/engine/log.h"
#include "runtime/engine/single_job.h"
#include "runtime/graph/poison.h"

enum notice { N_STATE, N_SINK, N_LARGE, N_NOTICES };

struct dfr_check {
    struct df_run *run;
    struct dfr_single_gpu *gpu;
    void **buffers;                     /* by port of the job at hand: what the gpu variant reads and writes */
    uint32_t held;                      /* the node whose buffers they are; DF_NONE: there are none */
    uint8_t *compared;                  /* by kernel */
    uint64_t n_compared;
};

/* ---- which device, which nodes ---- */

int dfr_check_find(struct df_run *run, const struct dfr_back_ends *ends, struct df_error *error)
{
    struct df_error reason = { "" };
    const struct dfr_device_ops *ops;

    if (dfr_devices_first(ends, &run->options, run->graph, &ops, &run->devices.number[1], &reason) != DF_OK)
        return dfr_error(error, DF_E_DEVICE, "--check=variants: there is no device to run gpu variants on%s%s",
                         reason.text[0] ? ": " : "", reason.text);
    run->devices.check_ops = ops;
    run->options.device = DF_DEVICE_NONE;
    run->options.serial = 1;
    return DF_OK;
}

bool dfr_check_can(const struct df_run *run, uint32_t node)
{
    uint32_t kernel = run->graph->nodes[node].kernel;
    return !(run->graph->kernels[kernel].flags & DF_KERNEL_COPY) && !dfr_buffers_spare(run, node) &&
           dfr_device_can(run->devices.check_ops, &run->options, run->graph, kernel);
}

static bool keeps_state(const struct df_kernel *kernel)
{
    return kernel->traits & (DF_ORDERED | DF_STREAM);
}

/* Whether both variants of the node are run. The device is open. */
static bool is_compared(const struct dfr_check *c, uint32_t node)
{
    const struct df_node *v = &c->run->graph->nodes[node];
    return c->compared[v->kernel] && dfr_single_gpu_fits(c->gpu, v->work);
}

/* Prints one line for all nodes that are left out for the same reason. */
static void say_left_out(const struct dfr_check *c, enum notice notice, uint32_t first, uint32_t n)
{
    static const char *const why[] = {
        [N_STATE] = "its kernel is 'ordered' or a 'stream' and may keep a state",
        [N_SINK] = "it has no outputs",
        [N_LARGE] = "one job is larger than the device's memory",
    };
    char name[256], more[48] = "";
    if (n == 0)
        return;
    df_node_name(c->run->graph, first, name, sizeof name);
    if (n > 1)
        snprintf(more, sizeof more, " (and %u more node%s)", n - 1, n == 2 ? "" : "s");
    dfr_log(c->run, DF_LOG_WARNING, "node '%s'%s is not checked: %s", name, more, why[notice]);
}

/* Marks the kernels to compare; *bytes is what the largest job takes. */
static void choose(struct dfr_check *c, uint64_t *bytes)
{
    const struct df_graph *g = c->run->graph;
    uint32_t count[N_NOTICES] = { 0 }, first[N_NOTICES] = { 0 };
    *bytes = 0;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        const struct df_kernel *kernel = &g->kernels[g->nodes[v].kernel];
        bool cpu = g->functions[g->nodes[v].kernel].cpu;
        if (!dfr_check_can(c->run, v))
            continue;
        if (!cpu || (kernel->n_out > 0 && !keeps_state(kernel))) {
            uint64_t need = dfr_single_gpu_need(g, g->nodes[v].work);
            *bytes = need > *bytes ? need : *bytes;
            c->compared[g->nodes[v].kernel] = cpu;
        } else {
            enum notice notice = kernel->n_out == 0 ? N_SINK : N_STATE;
            if (count[notice]++ == 0)
                first[notice] = v;
        }
    }
    for (unsigned i = 0; i < N_NOTICES; i++)
        say_left_out(c, (enum notice)i, first[i], count[i]);
}

/* Tells of jobs that are too large for the device. That is known only when the device is open. DF_E_REFUSED if such a
 * node has no cpu variant. */
static int leave_out_large(struct dfr_check *c, struct df_error *error)
{
    const struct df_graph *g = c->run->graph;
    uint32_t count = 0, first = 0;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        bool cpu = g->functions[g->nodes[v].kernel].cpu;
        char name[256];
        if (!(cpu ? c->compared[g->nodes[v].kernel] : dfr_check_can(c->run, v)) ||
            dfr_single_gpu_fits(c->gpu, g->nodes[v].work))
            continue;
        df_node_name(g, v, name, sizeof name);
        if (!cpu)
            return dfr_error(error, DF_E_REFUSED,
                             "node '%s' does not fit the device's memory, and it has no cpu variant", name);
        if (count++ == 0)
            first = v;
    }
    say_left_out(c, N_LARGE, first, count);
    return DF_OK;
}

/* ---- making ---- */

struct job_ports {
    const struct df_kernel *kernel;
    const struct df_kport *ports;
    const uint64_t *bytes;
};

static struct job_ports ports_of(const struct df_graph *g, uint32_t node)
{
    const struct df_kernel *kernel = &g->kernels[g->nodes[node].kernel];
    return (struct job_ports){ kernel, g->kports + kernel->first_port,
                               g->port_bytes + g->works[g->nodes[node].work].first_port };
}

static void free_buffers(struct dfr_check *c)
{
    struct job_ports p;
    if (c->held == DF_NONE)
        return;
    p = ports_of(c->run->graph, c->held);
    for (uint32_t i = 0; i < p.kernel->n_ports; i++) {
        if (p.ports[i].mode != DF_IN)
            free(c->buffers[i]);
        c->buffers[i] = NULL;
    }
    c->held = DF_NONE;
}

void dfr_check_destroy(struct dfr_check *c)
{
    if (!c)
        return;
    free_buffers(c);                    /* of a job whose cpu variant failed */
    dfr_single_gpu_close(c->gpu);
    free(c->compared);
    free(c->buffers);
    free(c);
}

static bool allocate(struct dfr_check *c)
{
    const struct df_graph *g = c->run->graph;
    size_t n_ports = 1;
    for (uint32_t k = 0; k < g->n_kernels; k++)
        n_ports = g->kernels[k].n_ports > n_ports ? g->kernels[k].n_ports : n_ports;
    c->compared = calloc((size_t)g->n_kernels + 1, 1);
    c->buffers = calloc(n_ports, sizeof *c->buffers);
    return c->compared && c->buffers;
}

int dfr_check_create(struct df_run *run, struct dfr_check **check, struct df_error *error)
{
    struct dfr_check *c = calloc(1, sizeof *c);
    uint64_t bytes;
    int status = DF_OK;

    if (!c)
        return dfr_error_memory(error);
    c->run = run;
    c->held = DF_NONE;
    if (!allocate(c)) {
        status = dfr_error_memory(error);
        goto fail;
    }
    choose(c, &bytes);
    status = dfr_single_gpu_open(run, run->devices.check_ops, bytes, 0, &c->gpu, error);
    if (status == DF_OK)
        status = leave_out_large(c, error);
    if (status != DF_OK)
        goto fail;
    if (run->devices.check_ops->runs_cpu_code && !run->options.emu_gpu_code)
        dfr_log(run, DF_LOG_WARNING, "the emulated GPU runs the code of the cpu variants: this finds only kernels that "
                                     "give another result each time");
    *check = c;
    return DF_OK;

fail:
    dfr_check_destroy(c);
    return status;
}

/* ---- one job ---- */

/* Gives the gpu variant memory of its own for what it changes, and fills both variants' outputs with the same bytes. */
static bool make_buffers(struct dfr_check *c, uint32_t node, void *const *ports)
{
    struct job_ports p = ports_of(c->run->graph, node);
    c->held = node;
    for (uint32_t i = 0; i < p.kernel->n_ports; i++) {
        int fill = dfr_poison_byte((enum df_elem)p.ports[i].elem);
        c->buffers[i] = p.ports[i].mode == DF_IN ? ports[i] : NULL;
        if (p.ports[i].mode == DF_IN || p.ports[i].mode == DF_TMP)
            continue;
        c->buffers[i] = malloc(p.bytes[i] ? p.bytes[i] : 1);
        if (!c->buffers[i])
            return false;
        if (p.ports[i].mode == DF_INOUT || p.ports[i].mode == DF_ACC) {
            memcpy(c->buffers[i], ports[i], p.bytes[i]);
        } else {
            memset(c->buffers[i], fill, p.bytes[i]);
            memset(ports[i], fill, p.bytes[i]);
        }
    }
    return true;
}

void dfr_check_before(struct dfr_check *c, const struct df_call *call, void *const *ports)
{
    uint32_t node = dfr_job_node(call->job);
    if (is_compared(c, node) && !make_buffers(c, node, ports)) {
        free_buffers(c);
        dfr_engine_fail(c->run, DF_E_MEMORY, "out of memory: a second copy of a job's tokens for --check=variants");
    }
}

/* Gives what the gpu variant returned; DF_FAILED if it failed, which is told then. */
static int fire(struct dfr_check *c, const struct df_call *call, void *const *ports)
{
    struct dfr_single_job job = { .node = dfr_job_node(call->job), .wave = call->wave, .ports = ports,
                                  .slot = dfr_job_slot(call->job),
                                  .outputs_too = true };
    struct df_error error = { "" };
    double seconds;
    int status = dfr_single_gpu_bring(c->gpu, &job, &error);

    if (status == DF_OK)
        status = dfr_single_gpu_launch(c->gpu, &job, &seconds, &error);
    if (status == DF_OK)
        status = dfr_single_gpu_fetch(c->gpu, &job, &error);
    if (status == DF_OK)
        return job.code;
    dfr_engine_fail(c->run, status, "%.480s (its gpu variant)", error.text);
    return DF_FAILED;
}

int dfr_check_only(struct dfr_check *c, struct df_call *call, void *const *ports)
{
    return fire(c, call, ports);
}

/* What the token of an output has in this wave. NULL: what the graph says. */
static const uint64_t *extents_of(const struct dfr_check *c, const struct df_call *call, const struct df_kport *port)
{
    uint32_t value = c->run->graph->nodes[dfr_job_node(call->job)].first_out + (uint32_t)port->out_slot;
    return c->run->extents ? dfr_extents_of(c->run->extents, value, dfr_job_slot(call->job)) : NULL;
}

/* The extents of all outputs, by port, as the variant that was called last decided them. */
static void keep_extents(const struct dfr_check *c, const struct df_call *call, uint64_t (*kept)[DF_MAX_RANK])
{
    struct job_ports p = ports_of(c->run->graph, dfr_job_node(call->job));
    for (uint32_t i = 0; c->run->extents && i < p.kernel->n_ports; i++)
        if (p.ports[i].out_slot >= 0)
            memcpy(kept[i], extents_of(c, call, &p.ports[i]), sizeof kept[i]);
}

/* Do both variants decide the same extents of port i? If not, that is told as the run's failure. */
static bool extents_differ(struct dfr_check *c, const struct df_call *call, uint32_t i, const uint64_t *cpu)
{
    const struct df_graph *g = c->run->graph;
    const struct df_kport *port = &ports_of(g, dfr_job_node(call->job)).ports[i];
    const uint64_t *gpu = extents_of(c, call, port);
    char name[160];
    for (unsigned k = 0; gpu && k < port->rank; k++) {
        if (cpu[k] == gpu[k])
            continue;
        df_node_name(g, dfr_job_node(call->job), name, sizeof name);
        dfr_engine_fail(c->run, DF_E_KERNEL, "node '%s', wave %lld: extent %u of output '%.64s' is %llu by cpu, and %llu by gpu",
                        name, (long long)call->wave, k + 1, df_graph_string(g, port->name), (unsigned long long)cpu[k],
                        (unsigned long long)gpu[k]);
        return true;
    }
    return false;
}

/* Compares one port. The first difference is told as the run's failure. */
static bool port_differs(struct dfr_check *c, const struct df_call *call, uint32_t i, const void *cpu, const void *gpu)
{
    const struct df_graph *g = c->run->graph;
    uint32_t node = dfr_job_node(call->job), wport = g->works[g->nodes[node].work].first_port + i;
    struct job_ports p = ports_of(g, node);
    const struct df_kport *port = &p.ports[i];
    const uint64_t *dims = extents_of(c, call, port);
    uint64_t n = 1;
    struct dfr_difference d;
    char name[160], text[320];

    dims = dims ? dims : g->port_dims + (size_t)wport * DF_MAX_RANK;
    for (unsigned k = 0; k < port->rank; k++)
        n *= dims[k];
    if (!dfr_differ((enum df_elem)port->elem, cpu, gpu, n, p.kernel->tolerance, &d))
        return false;
    df_node_name(g, node, name, sizeof name);
    dfr_difference_text(&d, dims, port->rank, "cpu", "gpu", text, sizeof text);
    dfr_engine_fail(c->run, DF_E_KERNEL, "node '%s', wave %lld: output '%.64s'%s", name, (long long)call->wave, df_graph_string(g, port->name), text);
    return true;
}

int dfr_check_after(struct dfr_check *c, struct df_call *call, void *const *ports, int cpu_code)
{
    uint32_t node = dfr_job_node(call->job);
    struct job_ports p = ports_of(c->run->graph, node);
    uint64_t kept[p.kernel->n_ports + 1u][DF_MAX_RANK];
    int code;

    if (c->held != node)
        return cpu_code;
    keep_extents(c, call, kept);
    code = fire(c, call, c->buffers);
    if (code != DF_FAILED && code != cpu_code)
        code = df_fail(call, "the %s variant skips this wave, and the %s variant does not",
                       code == DF_SKIP ? "gpu" : "cpu", code == DF_SKIP ? "cpu" : "gpu");
    for (uint32_t i = 0; i < p.kernel->n_ports && code == DF_OK; i++)
        if (p.ports[i].mode != DF_IN && p.ports[i].mode != DF_TMP &&
            (extents_differ(c, call, i, kept[i]) || port_differs(c, call, i, ports[i], c->buffers[i])))
            code = DF_FAILED;
    c->n_compared += code == cpu_code;
    free_buffers(c);
    return code;
}

void dfr_check_report(const struct dfr_check *c)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < c->run->graph->n_kernels; k++)
        n += c->compared[k];
    if (c->n_compared == 0)
        dfr_say("--check=variants: no job has two variants that could be compared");
    else
        dfr_say("--check=variants: %llu job%s of %u kernel%s agree", (unsigned long long)c->n_compared,
                c->n_compared == 1 ? "" : "s", n, n == 1 ? "" : "s");
}
