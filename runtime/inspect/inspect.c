/* inspect.c - combines --check=variants, --dump, --record-job, --replay, --poison and --watchdog, as requested, into the hooks that the workers of CPUs and
 * GPUs call around each job. The start of a run creates it, and has it fill memory for --poison.
 *
 * The watchdog has a post (watchdog.h) for each CPU worker, for each job that a GPU may have in flight, and for the gpu
 * variants that --check=variants runs.
 */
#include "runtime/inspect/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/buffers.h"
#include "runtime/engine/call.h"
#include "runtime/inspect/check_variants.h"
#include "runtime/inspect/dump.h"
#include "runtime/base/error.h"
#include "runtime/engine/log.h"
#include "runtime/engine/ports.h"
#include "runtime/graph/poison.h"
#include "runtime/inspect/record_job.h"
#include "runtime/inspect/watchdog.h"

struct dfr_inspect {
    struct dfr_watchdog *watchdog;      /* each of the four is NULL if it was not asked for */
    struct dfr_dump *dump;
    struct dfr_record *record;
    struct dfr_check *check;
    /* What devices' memory is filled with: pinned memory as large as the largest piece, one for each byte of
     * poison.h. NULL: there are no devices. */
    const struct dfr_device_ops *ops;
    unsigned char *floats, *integers;
    uint64_t pattern_bytes;
};

/* ---- posts of the watchdog, and places of recorded jobs ---- */

static uint32_t gpu_post(const struct df_run *run, uint32_t unit, uint32_t place)
{
    return run->machine.n_cpu_workers + (unit - 1) * run->devices.window + place;
}

static uint32_t check_post(const struct df_run *run)
{
    return run->machine.n_cpu_workers + run->machine.n_gpus * run->devices.window;
}

/* ---- jobs of the CPU ---- */

/* Fills scratch alone: outputs are filled when they get their memory (memmgr/space.h). */
static void poison_scratch(const struct df_graph *g, uint32_t node, void *const *ports)
{
    const struct df_kernel *kernel = &g->kernels[g->nodes[node].kernel];
    const uint64_t *bytes = g->port_bytes + g->works[g->nodes[node].work].first_port;
    for (uint32_t p = 0; p < kernel->n_ports; p++) {
        const struct df_kport *port = &g->kports[kernel->first_port + p];
        if (port->mode == DF_TMP && ports[p])
            memset(ports[p], dfr_poison_byte((enum df_elem)port->elem), bytes[p]);
    }
}

/* What this wave's token has. NULL: what the graph says. */
static const uint64_t *extents_of(const struct df_run *run, const struct df_call *call, uint32_t out_slot)
{
    uint32_t value = run->graph->nodes[dfr_job_node(call->job)].first_out + out_slot;
    return run->extents ? dfr_extents_of(run->extents, value, dfr_job_slot(call->job)) : NULL;
}

/* Writes the outputs, which lie on the host at ports[]. A failure counts as the job's own. */
static int dump_ports(struct df_run *run, struct df_call *call, void *const *ports)
{
    const struct df_graph *g = run->graph;
    uint32_t node = dfr_job_node(call->job);
    const struct df_kernel *kernel = &g->kernels[g->nodes[node].kernel];
    struct df_error error;

    for (uint32_t p = 0; p < kernel->n_ports; p++) {
        const struct df_kport *port = &g->kports[kernel->first_port + p];
        if (port->out_slot >= 0 && dfr_dump_write(run->watch.inspect->dump, node, call->wave, (uint32_t)port->out_slot,
                                                  extents_of(run, call, (uint32_t)port->out_slot), ports[p],
                                                  &error) != DF_OK)
            return df_fail(call, "%s", error.text);
    }
    return DF_OK;
}

static bool dumps(const struct df_run *run, const struct df_call *call)
{
    return run->watch.inspect->dump && dfr_dump_wants(run->watch.inspect->dump, dfr_job_node(call->job), call->wave);
}

/* Calls the cpu variant. Only under --check=variants may a kernel have none: then its gpu variant is called. */
static int call_variant(struct df_run *run, struct dfr_worker *w)
{
    const struct df_graph *g = run->graph;
    const struct df_node *node = &g->nodes[dfr_job_node(w->call.job)];
    const struct df_work *work = &g->works[node->work];

    if (!g->functions[node->kernel].cpu) {
        if (dfr_skips_any(&run->skips)) /* its outputs may have been empty in the slot's wave before */
            dfr_skips_set(&run->skips, dfr_job_slot(w->call.job), dfr_job_node(w->call.job), false);
        return dfr_check_only(run->watch.inspect->check, &w->call, w->ports);
    }
    return dfr_call_or_leave_out(&w->call, NULL, (const size_t *)(g->dims + work->first_dim), w->ports,
                                 run->memory.scalars + work->first_scalar);
}

static int compare(struct df_run *run, struct dfr_worker *w, int cpu_code)
{
    struct dfr_inspect *in = run->watch.inspect;
    int code;
    if (in->watchdog)
        dfr_watchdog_begin(in->watchdog, check_post(run), w->call.job, w->call.wave);
    code = dfr_check_after(in->check, &w->call, w->ports, cpu_code);
    if (in->watchdog)
        dfr_watchdog_end(in->watchdog, check_post(run));
    return code;
}

/* run->watch.call: a CPU job, whose ports are made. Calls its cpu variant and does all that was asked for around that
 * call. Gives the kernel's code. */
static int look_into(struct df_run *run, struct dfr_worker *w)
{
    struct dfr_inspect *in = run->watch.inspect;
    struct df_call *call = &w->call;
    int code;

    if (dfr_skips_leaves_out(&run->skips, dfr_job_slot(call->job), dfr_job_node(call->job)))
        return DF_SKIP;
    if (dfr_buffers_spare(run, dfr_job_node(call->job))) {
        code = dfr_call_given(call);
        return code == DF_OK && dumps(run, call) ? dump_ports(run, call, w->ports) : code;
    }
    if (run->options.poison)
        poison_scratch(run->graph, dfr_job_node(call->job), w->ports);
    if (in->check)
        dfr_check_before(in->check, call, w->ports);
    if (in->record && dfr_record_before(in->record, w->index, call, w->ports, NULL) != DF_OK)
        return DF_FAILED;
    if (in->watchdog)
        dfr_watchdog_begin(in->watchdog, w->index, call->job, call->wave);
    code = call_variant(run, w);
    if (in->watchdog)
        dfr_watchdog_end(in->watchdog, w->index);
    if (in->record)
        code = dfr_record_after(in->record, w->index, call, code, w->ports, NULL);
    if ((code != DF_OK && code != DF_SKIP) || call->failed)
        return code;
    if (in->check)
        code = compare(run, w, code);
    if (code == DF_OK && dumps(run, call))
        code = dump_ports(run, call, w->ports);
    return code;
}

/* ---- making and ending ---- */

static int make_watchdog(struct df_run *run, struct df_error *error)
{
    struct dfr_watchdog **w = &run->watch.inspect->watchdog;
    char name[48];
    int status = dfr_watchdog_create(run, check_post(run) + 1, w, error);

    if (status != DF_OK)
        return status;
    for (uint32_t i = 0; i < run->machine.n_cpu_workers; i++) {
        snprintf(name, sizeof name, "cpu %u", i);
        dfr_watchdog_name(*w, i, name);
    }
    for (uint32_t u = 1; u <= run->machine.n_gpus; u++)
        for (uint32_t i = 0; i < run->devices.window; i++)
            dfr_watchdog_name(*w, gpu_post(run, u, i), run->machine.platform.units[u].name);
    dfr_watchdog_name(*w, check_post(run), "the GPU (its gpu variant)");
    return DF_OK;
}

/* The largest piece that is filled at once is a token, or a scratch port. */
static int make_patterns(struct df_run *run, struct df_error *error)
{
    const struct df_graph *g = run->graph;
    struct dfr_inspect *in = run->watch.inspect;
    uint64_t most = 1;

    if (run->machine.n_gpus == 0)
        return DF_OK;
    for (uint32_t i = 0; i < g->n_wports; i++)
        most = g->port_bytes[i] > most ? g->port_bytes[i] : most;
    in->pattern_bytes = most;
    in->ops = run->devices.host;
    in->floats = in->ops->host_alloc(most, error);
    in->integers = in->floats ? in->ops->host_alloc(most, error) : NULL;
    if (!in->integers)
        return DF_E_MEMORY;
    memset(in->floats, dfr_poison_byte(DF_F32), most);
    memset(in->integers, dfr_poison_byte(DF_U8), most);
    return DF_OK;
}

bool dfr_inspect_wanted(const struct df_run *run)
{
    const struct df_options *o = &run->options;
    return o->check_variants || o->n_dumps > 0 || o->n_record_jobs > 0 || o->replay || o->poison || o->watchdog_s > 0;
}

int dfr_inspect_create(struct df_run *run, struct df_error *error)
{
    const struct df_options *o = &run->options;
    int status = DF_OK;

    if (!dfr_inspect_wanted(run))
        return DF_OK;
    run->watch.inspect = calloc(1, sizeof *run->watch.inspect);
    if (!run->watch.inspect)
        return dfr_error_memory(error);
    run->watch.call = look_into;
    if (o->n_dumps > 0)
        status = dfr_dump_create(run->graph, o->dumps, o->n_dumps, o->dump_dir ? o->dump_dir : ".",
                                 &run->watch.inspect->dump, error);
    if (status == DF_OK && (o->n_record_jobs > 0 || o->replay))
        status = dfr_record_create(run, check_post(run) + 1, &run->watch.inspect->record, error);
    if (status == DF_OK && o->poison)
        status = make_patterns(run, error);
    if (status == DF_OK && o->watchdog_s > 0)
        status = make_watchdog(run, error);
    if (status == DF_OK && o->check_variants)
        status = dfr_check_create(run, &run->watch.inspect->check, error);
    return status;
}

int dfr_inspect_start(struct df_run *run, struct df_error *error)
{
    return run->watch.inspect && run->watch.inspect->watchdog
               ? dfr_watchdog_start(run->watch.inspect->watchdog, error)
               : DF_OK;
}

/* unmet: NULL if there is nothing to tell. */
static void tell_unmet(const struct df_run *run, const char *option, const char *unmet)
{
    if (unmet)
        dfr_log(run, DF_LOG_WARNING, "%s=%s: there was no such wave%s, so nothing was written", option, unmet,
                dfr_skips_any(&run->skips) ? ", or it was empty there" : "");
}

void dfr_inspect_end(struct df_run *run, bool well)
{
    if (!run->watch.inspect)
        return;
    dfr_watchdog_destroy(run->watch.inspect->watchdog);
    run->watch.inspect->watchdog = NULL;
    if (!well)
        return;
    if (run->watch.inspect->check)
        dfr_check_report(run->watch.inspect->check);
    for (unsigned i = 0; run->watch.inspect->dump && i < run->options.n_dumps; i++)
        tell_unmet(run, "--dump", dfr_dump_unmet(run->watch.inspect->dump, i));
    for (unsigned i = 0; run->watch.inspect->record && i < run->options.n_record_jobs; i++)
        tell_unmet(run, "--record-job", dfr_record_unmet(run->watch.inspect->record, i));
}

void dfr_inspect_destroy(struct df_run *run)
{
    if (!run->watch.inspect)
        return;
    dfr_watchdog_destroy(run->watch.inspect->watchdog);
    dfr_dump_destroy(run->watch.inspect->dump);
    dfr_record_destroy(run->watch.inspect->record);
    dfr_check_destroy(run->watch.inspect->check);
    if (run->watch.inspect->floats)
        run->watch.inspect->ops->host_free(run->watch.inspect->floats, run->watch.inspect->pattern_bytes);
    if (run->watch.inspect->integers)
        run->watch.inspect->ops->host_free(run->watch.inspect->integers, run->watch.inspect->pattern_bytes);
    free(run->watch.inspect);
    run->watch.inspect = NULL;
}

/* ---- jobs of a GPU ---- */

/* Fills a piece of device memory, as a command of the stream. */
static int fill(const struct dfr_inspect *in, struct dfr_device *device, uint32_t stream, enum df_elem elem,
                void *address, uint64_t bytes, struct df_error *error)
{
    const unsigned char *pattern = dfr_poison_byte(elem) == dfr_poison_byte(DF_F32) ? in->floats : in->integers;
    int status = DF_OK;
    for (uint64_t at = 0; at < bytes && status == DF_OK; at += in->pattern_bytes) {
        uint64_t n = bytes - at < in->pattern_bytes ? bytes - at : in->pattern_bytes;
        status = device->ops->copy(device, DFR_COPY_H2D, (unsigned char *)address + at, pattern, n, stream, error);
    }
    return status;
}

/* The device in whose memory the call's ports lie; NULL: they are on the host. */
static struct dfr_device *memory_of(const struct df_run *run, uint32_t unit, const struct df_call *call)
{
    return dfr_memory_of(run, unit) > 0 ? call->device : NULL;
}

int dfr_inspect_launch(struct df_run *run, uint32_t unit, uint32_t place, struct df_call *call,
                       void *const *ports, struct df_error *error)
{
    const struct df_graph *g = run->graph;
    uint32_t node = dfr_job_node(call->job);
    const struct df_kernel *kernel = &g->kernels[g->nodes[node].kernel];
    const uint64_t *bytes = g->port_bytes + g->works[g->nodes[node].work].first_port;
    int status = DF_OK;

    for (uint32_t p = 0; run->options.poison && p < kernel->n_ports && status == DF_OK; p++) {
        const struct df_kport *port = &g->kports[kernel->first_port + p];
        if ((port->mode == DF_TMP && df_port_is_on(port, DF_ON_DEVICE)) || (port->mode == DF_OUT && dfr_memory_of(run, unit) > 0)) /* the host poisons its own */
            status = fill(run->watch.inspect, call->device, call->stream, (enum df_elem)port->elem, ports[p], bytes[p],
                          error);
    }
    if (status == DF_OK && run->watch.inspect->record &&
        dfr_record_before(run->watch.inspect->record, gpu_post(run, unit, place), call, ports, memory_of(run, unit, call)) != DF_OK)
        status = dfr_error(error, DF_E_DEVICE, "%s", call->message);
    if (run->watch.inspect->watchdog)
        dfr_watchdog_begin(run->watch.inspect->watchdog, gpu_post(run, unit, place), call->job, call->wave);
    return status;
}

/* Brings one output to the host, waits for that, and writes it. */
static int dump_device(struct df_run *run, struct df_call *call, uint32_t out_slot, const void *address, uint64_t bytes)
{
    struct dfr_device *device = call->device;
    struct df_error error;
    void *memory = device->ops->host_alloc(bytes, &error);
    int status = DF_OK;

    if (!memory)
        return df_fail(call, "a copy of an output for --dump: %s", error.text);
    if (bytes > 0)
        status = device->ops->copy(device, DFR_COPY_D2H, memory, address, bytes, call->stream, &error);
    if (status == DF_OK)
        status = device->ops->drain(device, &error);
    if (status == DF_OK)
        status = dfr_dump_write(run->watch.inspect->dump, dfr_job_node(call->job), call->wave, out_slot,
                                extents_of(run, call, out_slot), memory, &error);
    device->ops->host_free(memory, bytes);
    return status == DF_OK ? DF_OK : df_fail(call, "%s", error.text);
}

int dfr_inspect_finished(struct df_run *run, uint32_t unit, uint32_t place, struct df_call *call, int code,
                         void *const *ports)
{
    const struct df_graph *g = run->graph;
    uint32_t node = dfr_job_node(call->job);
    const struct df_kernel *kernel = &g->kernels[g->nodes[node].kernel];
    const uint64_t *bytes = g->port_bytes + g->works[g->nodes[node].work].first_port;

    if (run->watch.inspect->watchdog)
        dfr_watchdog_end(run->watch.inspect->watchdog, gpu_post(run, unit, place));
    if (run->watch.inspect->record)
        code = dfr_record_after(run->watch.inspect->record, gpu_post(run, unit, place), call, code, ports, memory_of(run, unit, call));
    if (code != DF_OK || call->failed || !dumps(run, call))
        return code;
    if (dfr_memory_of(run, unit) == 0)
        return dump_ports(run, call, ports);
    for (uint32_t p = 0; p < kernel->n_ports && code == DF_OK; p++) {
        const struct df_kport *port = &g->kports[kernel->first_port + p];
        if (port->out_slot >= 0)
            code = dump_device(run, call, (uint32_t)port->out_slot, ports[p], bytes[p]);
    }
    return code;
}

/* ---- poison ---- */

uint8_t *dfr_inspect_poison(const struct df_run *run)
{
    const struct df_graph *g = run->graph;
    uint8_t *bytes = run->options.poison ? malloc((size_t)g->n_values + 1) : NULL;
    for (uint32_t y = 0; bytes && y < g->n_values; y++)
        bytes[y] = dfr_poison_byte((enum df_elem)dfr_out_port(g, g->values[y].producer, g->values[y].slot)->elem);
    return bytes;
}

int dfr_inspect_freed(struct df_run *run, struct dfr_device *device, void *address, uint64_t bytes,
                      struct df_error *error)
{
    int status = fill(run->watch.inspect, device, DFR_STREAM_COMPUTE, DF_F32, address, bytes, error);
    return status == DF_OK ? device->ops->drain(device, error) : status;
}
