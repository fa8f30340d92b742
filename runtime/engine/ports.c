/* ports.c - locates the tokens and the scratch memory of a job on the host (ports.h), for the loops of the workers.
 * Tokens are blocks (memmgr/space.h), or lie at addresses that were fixed before the run (tokens.h). It also
 * initialises accs, and says where one is (engine.c, record/checkpoint.c); and makes outputs empty or calls the kernel in runs
 * that have empty tokens.
 */
#include "runtime/engine/ports.h"

#include <string.h>

#include "runtime/device/device.h"
#include "runtime/engine/buffers.h"
#include "runtime/engine/call.h"
#include "runtime/engine/ending.h"
#include "runtime/engine/live.h"
#include "runtime/engine/tokens.h"

/* Takes host memory for output y. false: the run has failed. A view of an empty token that has no memory gets none: its job
 * is left out. */
static bool make_output(struct df_run *run, uint64_t job, uint32_t y)
{
    const struct df_graph *g = run->graph;
    uint32_t block = dfr_job_slot(job) * g->n_values + y;
    struct dfm_block *b = &run->memory.space->blocks[block];

    b->host = dfm_space_host_take(run->memory.space, block);
    if (!b->host && !dfr_skips_leaves_out(&run->skips, dfr_job_slot(job), dfr_job_node(job))) {
        dfr_engine_fail_job(run, job, dfr_job_wave(run, job), "internal error: more tokens live than were planned");
        return false;
    }
    return true;
}

static bool make_ports(struct df_run *run, struct dfr_worker *w, uint64_t job)
{
    const struct df_graph *g = run->graph;
    const struct df_node *node = &g->nodes[dfr_job_node(job)];
    const struct df_kernel *kernel = &g->kernels[node->kernel];
    const struct df_kport *ports = g->kports + kernel->first_port;
    const uint64_t *bytes = g->port_bytes + g->works[node->work].first_port;
    unsigned char *tmp = w->tmp;

    for (uint32_t p = 0; p < kernel->n_ports; p++) {
        uint32_t y = node->first_out + (uint32_t)ports[p].out_slot;
        uint32_t x = ports[p].in_slot >= 0 ? g->in_value[node->first_in + (uint32_t)ports[p].in_slot] : 0;
        switch (ports[p].mode) {
        case DF_IN:
        case DF_INOUT:                  /* the output will take over the input's memory */
            w->ports[p] = run->memory.space->blocks[dfr_block_of(run, x, dfr_job_slot(job))].host;
            break;
        case DF_OUT:
            if (!make_output(run, job, y))
                return false;
            w->ports[p] = run->memory.space->blocks[dfr_job_slot(job) * g->n_values + y].host;
            break;
        case DF_ACC:
            w->ports[p] = run->memory.space->blocks[dfr_block_of(run, y, dfr_job_slot(job))].host;
            break;
        default:
            w->ports[p] = df_tmp_take(&ports[p], DF_ON_HOST, bytes[p], &tmp);
        }
    }
    return true;
}

/* The fixed addresses of the job's tokens, with addresses in this worker's scratch for its tmp ports. */
static void *const *ports_with_tmp(const struct df_run *run, struct dfr_worker *w, uint32_t node, uint32_t slot)
{
    const struct df_graph *g = run->graph;
    const struct df_kernel *kernel = &g->kernels[g->nodes[node].kernel];
    const uint64_t *bytes = g->port_bytes + g->works[g->nodes[node].work].first_port;
    void *const *fixed = dfr_tokens_ports(run, node, slot);
    unsigned char *tmp = w->tmp;

    for (uint32_t p = 0; p < kernel->n_ports; p++) {
        const struct df_kport *port = &g->kports[kernel->first_port + p];
        w->ports[p] = port->mode == DF_TMP ? df_tmp_take(port, DF_ON_HOST, bytes[p], &tmp) : fixed[p];
    }
    return w->ports;
}

void *const *dfr_ports(struct df_run *run, struct dfr_worker *w, uint64_t job)
{
    uint32_t node = dfr_job_node(job), slot = dfr_job_slot(job);

    if (!run->memory.tokens)
        return make_ports(run, w, job) ? w->ports : NULL;
    return run->firing.nodes[node].flags & DFR_N_TMP ? ports_with_tmp(run, w, node, slot)
                                                     : dfr_tokens_ports(run, node, slot);
}

/* ---- empty tokens ---- */

/* Whoever is first to make a token empty has all kernels called by dfr_call_or_leave_out() from now on. Two jobs that do so at
 * once both write the table: a job's readers, which are ready after it, must find no old function there. The acquire pairs with
 * the release of who has written it. */
static void expect_empty(struct df_run *run)
{
    if (atomic_load_explicit(&run->skips.any, memory_order_acquire))
        return;
    for (uint32_t k = 0; k < run->graph->n_works; k++)
        __atomic_store_n(&run->firing.codes[k].cpu, dfr_call_or_leave_out, __ATOMIC_RELAXED);
    atomic_store_explicit(&run->skips.any, true, memory_order_release);
}

void dfr_make_empty(struct df_run *run, uint64_t job)
{
    const uint32_t slot = dfr_job_slot(job), node = dfr_job_node(job);

    expect_empty(run);
    if (!dfr_skips_leaves_out(&run->skips, slot, node))
        dfr_skips_set(&run->skips, slot, node, true);
    else
        dfr_skips_set_left_out(&run->skips, slot, node, run->extents && dfr_skips_has_zeros(&run->skips, slot, node)
                                                            ? dfr_extents_zeros(run->extents, node, slot) : 0);
}

void dfr_make_one_empty(struct df_run *run, uint64_t job, uint32_t value)
{
    expect_empty(run);
    dfr_skips_set_one(&run->skips, dfr_job_slot(job), value, DFR_EMPTY);
}

/* Calls the variant. A copy or a select gets two ports: the input that it passes on, and its output. */
static int call_variant(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                        const union df_scalar *scalars)
{
    const struct df_run *run = call->run;
    uint32_t node = dfr_job_node(call->job), kernel = run->graph->nodes[node].kernel;
    const struct df_functions *functions = &run->graph->functions[kernel];
    bool copies = run->graph->kernels[kernel].flags & DF_KERNEL_COPY; /* launched only where the host's code runs */
    df_function *variant = call->device && !copies
                               ? dfr_device_function(call->device->ops, &run->options, functions) : functions->cpu;
    void *copied[2];
    uint32_t passed = 0;

    if (copies && dfr_skips_any(&run->skips)) {
        passed = dfr_skips_first(&run->skips, dfr_job_slot(call->job), node);
        copied[0] = ports[df_select_port(passed)];
        copied[1] = ports[1];
        ports = copied;
    }
    if (run->live && run->graph->nodes[node].live)
        return dfr_live_job(call, variant, dims, ports, scalars);
    return run->extents ? dfr_call_bounded(call, variant, passed, stream, dims, ports, scalars)
                        : variant(call, stream, dims, ports, scalars);
}

int dfr_call_or_leave_out(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                          const union df_scalar *scalars)
{
    struct df_run *run = call->run;
    uint32_t node = dfr_job_node(call->job), slot = dfr_job_slot(call->job);
    int code = DF_SKIP;

    if (!dfr_skips_leaves_out(&run->skips, slot, node)) {
        if (dfr_skips_any(&run->skips))
            dfr_skips_set(&run->skips, slot, node, false);
        code = call_variant(call, stream, dims, ports, scalars);
        if (run->skips.passes)
            code = dfr_engine_stream_said(run, call, code);
        if (code == DF_END && run->options.apart)
            code = dfr_engine_ended_apart(run, call);
    }
    if (code == DF_SKIP && run->firing.codes) { /* else the job is measured by itself, in no run */
        call->varies = true;
        dfr_make_empty(run, call->job);
    }
    return code;
}

/* ---- accs ---- */

static bool is_restored(const struct df_run *run, uint32_t value)
{
    return run->options.accs && run->options.accs[value] && !run->calls.on;
}

static void write_first(const struct df_run *run, uint32_t value, void *memory)
{
    if (is_restored(run, value))
        memcpy(memory, run->options.accs[value], run->graph->values[value].bytes);
    else
        df_acc_first(run->graph, value, memory);
}

/* The memory of an acc, which nobody uses, as the first value. A value that nobody has read is still there after a
 * session's last call. */
static void begin_block(struct df_run *run, uint32_t value)
{
    struct dfm_space *space = run->memory.space;
    uint32_t block = dfr_block_of(run, value, 0);
    struct dfm_block *b = &space->blocks[block];

    if (dfm_block_valid(b))
        dfm_space_drop(space, block, 0);
    b->host = dfm_space_host_take(space, block);
    if (!b->host) {
        dfr_engine_fail(run, DF_E_MEMORY, "internal error: more tokens live than were planned");
        return;
    }
    if (!run->memory.untouched)
        write_first(run, value, b->host);
    atomic_store_explicit(&b->readers, run->graph->values[value].n_readers + dfr_buffers_keep(run, value),
                          memory_order_relaxed);
    if (is_restored(run, value) && !run->memory.untouched)
        dfm_space_changed(space, block, 0); /* no other memory can make it by itself */
    else
        dfm_space_first(space, block);
}

void dfr_acc_begin(struct df_run *run)
{
    for (uint32_t i = 0; i < run->firing.n_accs; i++)
        if (run->memory.tokens)
            write_first(run, run->firing.accs[i], dfr_tokens_acc(run, run->firing.accs[i]));
        else
            begin_block(run, run->firing.accs[i]);
}

uint32_t dfr_acc_holder(const struct df_run *run, uint32_t value)
{
    uint32_t valid = dfm_block_valid(&run->memory.space->blocks[dfr_block_of(run, value, 0)]);
    return valid ? (uint32_t)__builtin_ctz(valid) : 0; /* no wave has changed it: the host has its first value */
}
