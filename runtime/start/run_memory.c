/* run_memory.c - allocates a run's memory on the host: its tokens, at fixed addresses or as blocks, and the tables for
 * transfers between memories. run.c calls it, and frees what it allocates.
 */
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/base/pages.h"
#include "runtime/engine/buffers.h"
#include "runtime/engine/tokens.h"
#include "runtime/inspect/inspect.h"
#include "runtime/start/run_impl.h"

static bool has_ranges(const struct df_graph *g)
{
    for (uint32_t k = 0; k < g->n_kernels; k++)
        if (g->kernels[k].flags & DF_KERNEL_RANGES)
            return true;
    return false;
}

/* Makes the tables for data that is on its way. A run without devices has none. */
int dfr_run_make_staging(struct df_run *run, struct df_error *error)
{
    const struct df_graph *g = run->graph;
    size_t n_jobs = (size_t)g->n_nodes * (run->inflight + 1), n_kept = dfr_buffers_count(run) * (run->inflight + 1);

    if ((has_ranges(g) || run->skips.passes || run->skips.late || run->options.rehearse != 0) && !run->options.serial && !dfr_inspect_wanted(run)) {
        run->firing.free_next = calloc(n_jobs + 1, sizeof *run->firing.free_next);
        if (!run->firing.free_next)
            return dfr_error_memory(error);
    }
    if (run->machine.n_gpus == 0)
        return DF_OK;
    if (run->choice.policy->units && !dfr_inspect_wanted(run) && run->options.rehearse == 0) {
        run->devices.ahead = calloc(n_jobs + 1, sizeof *run->devices.ahead);
        if (!run->devices.ahead)
            return dfr_error_memory(error);
    }
    run->devices.missing = calloc(n_jobs + 1, sizeof *run->devices.missing);
    run->devices.taker = calloc(n_jobs + 1, sizeof *run->devices.taker);
    run->devices.waiter_node = malloc((g->n_in_values + 1) * sizeof *run->devices.waiter_node);
    run->devices.arrived = dfr_queue_create((uint32_t)(n_jobs + n_kept));
    run->devices.acc_job = run->firing.n_accs > 0 ? calloc(g->n_values, sizeof *run->devices.acc_job) : NULL;
    if ((run->firing.n_accs > 0 && !run->devices.acc_job) || !run->devices.missing || !run->devices.taker || !run->devices.waiter_node || !run->devices.arrived)
        return dfr_error_memory(error);
    for (uint32_t v = 0; v < g->n_nodes; v++)
        for (uint32_t k = 0; k < df_node_n_in(g, v); k++)
            run->devices.waiter_node[g->nodes[v].first_in + k] = v;
    return DF_OK;
}

/* Uses the plan's places for tokens in three cases. First, the run is serial: it then takes the places for a run in
 * sequence. With streams a serial run is not in sequence, because the streams come first in each wave. Second, there
 * are devices: host memory may be pinned then, so all of it is real memory whether it is touched or not. Third, the plan
 * takes no more memory than a heap would touch at least, or so little that it stays in the caches. */
static void use_plan(const struct df_run *run, struct dfm_space_config *config)
{
    const struct df_plan *plan = run->plan.own ? run->plan.own : run->options.plan;
    const struct df_memory_need *need;

    if (!plan || !plan->layout.any_line || plan->layout.n_values != run->graph->n_values)
        return;
    need = &plan->memory[0];
    config->once_bytes = need->once_bytes;
    if (run->options.serial && run->machine.n_gpus == 0 && run->firing.n_streams == 0) {
        config->line = plan->layout.sequence_line;
        config->slot_bytes = need->sequence_bytes;
        return;
    }
    if (run->machine.n_gpus == 0 && !dfr_tokens_plan(run))
        return;
    config->line = plan->layout.any_line;
    config->slot_bytes = need->wave_bytes;
}

/* The most that tokens may take if a unified device wants them in the same place in each wave. It is what the device may
 * take of the host's memory; 0: there is no such device. */
static uint64_t most_fixed(const struct df_run *run)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t u = 1; u < run->machine.n_units; u++)
        if (run->machine.on_host >> u & 1 && run->devices.limit_bytes[u] < least)
            least = run->devices.limit_bytes[u];
    return least < UINT64_MAX ? least : 0;
}

/* A recording on a unified device needs the same addresses again, which a heap does not give. If the plan has no places
 * for the tokens, they lie side by side. */
static int fix_places(struct df_run *run, struct dfm_space_config *config, struct df_error *error)
{
    uint32_t n = run->graph->n_values;
    uint64_t most = most_fixed(run), wave_bytes, once_bytes, *offset;

    if (config->line || !run->devices.ahead || most == 0)
        return DF_OK;
    offset = calloc((size_t)n + 1, sizeof *offset);
    run->memory.own_line = malloc(((size_t)n + 1) * sizeof *run->memory.own_line);
    if (!offset || !run->memory.own_line) {
        free(offset);
        return dfr_error_memory(error);
    }
    wave_bytes = dfr_tokens_lay_out(run, offset, false);
    once_bytes = dfr_tokens_lay_out(run, offset, true);
    for (uint32_t x = 0; x < n; x++)    /* a range lies where its whole does */
        run->memory.own_line[x] = (uint32_t)(offset[x] / DFM_LINE);
    free(offset);
    if (wave_bytes / DFM_LINE >= DFM_NONE || once_bytes / DFM_LINE >= DFM_NONE || once_bytes > most ||
        wave_bytes > (most - once_bytes) / run->inflight)
        return DF_OK;
    config->line = run->memory.own_line;
    config->slot_bytes = wave_bytes;
    config->once_bytes = once_bytes;
    return DF_OK;
}

int64_t dfr_run_wave_of(void *arg, uint32_t slot)
{
    const struct df_run *run = arg;
    return dfr_skips_wave(&run->skips, run->firing.slots[slot].wave);
}

static uint64_t most_pinned(const struct df_run *run)
{
    if (run->options.pin != DF_PIN_AUTO)
        return run->options.pin == DF_PIN_ON ? UINT64_MAX : 0;
    return dfr_pages_of_machine(DFR_PAGES_PINNED_PART);
}

/* Is there a device that copies? A unified device uses plain memory where it lies, by the host's own page tables. */
static bool any_copies(const struct df_run *run)
{
    return run->machine.on_host != (1u << run->machine.n_units) - 1;
}

static uint64_t token_bytes(void *run, uint32_t value, uint32_t slot)
{
    return dfr_extents_bytes(((const struct df_run *)run)->extents, value, slot);
}

/* Says which values are ranges of others. *ranges stays NULL if none is. */
static int list_ranges(const struct df_graph *g, struct dfm_range **ranges, struct df_error *error)
{
    uint32_t n_ranges = 0;

    for (uint32_t x = 0; x < g->n_values; x++)
        n_ranges += g->values[x].whole != DF_NONE;
    if (n_ranges == 0)
        return DF_OK;
    *ranges = calloc(g->n_values, sizeof **ranges);
    if (!*ranges)
        return dfr_error_memory(error);
    for (uint32_t x = 0; x < g->n_values; x++) {
        uint32_t whole = g->values[x].whole;
        (*ranges)[x].whole = whole;
        (*ranges)[x].view = df_value_is_view(g, x);
        (*ranges)[x].offset = g->values[x].offset;
        if (whole != DF_NONE && df_value_is_view(g, x))
            (*ranges)[whole].viewed = true;
        else if (whole != DF_NONE)
            (*ranges)[whole].n_pieces++;
    }
    return DF_OK;
}

static int make_space(struct df_run *run, struct df_error *error)
{
    const struct df_graph *g = run->graph;
    size_t n = g->n_values ? g->n_values : 1;
    uint64_t *bytes = malloc(n * sizeof *bytes), *count = malloc(n * sizeof *count);
    uint8_t *poison = dfr_inspect_poison(run);
    struct dfm_space_config config = { .n_values = g->n_values, .n_slots = run->inflight + 1, .bytes = bytes,
                                       .count = count, .poison = poison };
    int status = DF_E_MEMORY;

    if (!bytes || !count || (run->options.poison && !poison)) {
        dfr_error_memory(error);
        goto done;
    }
    for (uint32_t x = 0; x < g->n_values; x++) {
        bytes[x] = g->values[x].bytes;
        count[x] = df_value_is_once(g, x) ? 1 : run->inflight;
        if (dfr_buffers_lent(run, x) || g->values[x].whole != DF_NONE)
            count[x] = 0;
    }
    if (run->memory.buffers) {
        config.lent = run->memory.buffers->lent;
        config.wave = dfr_run_wave_of;
        config.wave_arg = run;
    }
    if (run->extents) {
        config.token_bytes = token_bytes;
        config.token_arg = run;
    }
    if (run->options.rehearse != 0) {   /* addresses that nobody may touch */
        config.pinned = run->devices.host;
        config.pinned_limit_bytes = UINT64_MAX;
    }
    if (run->machine.n_gpus > 0) {
        config.n_waiters = (g->n_in_values + dfr_buffers_count(run)) * (run->inflight + 1) +
                           (run->firing.n_accs > 0 ? g->n_values : 0);
    }
    if (any_copies(run) && run->options.rehearse == 0) {
        config.pinned = run->devices.host;
        config.pinned_limit_bytes = most_pinned(run);
        config.staged = true;
    }
    use_plan(run, &config);
    status = list_ranges(g, &run->memory.ranges, error);
    config.ranges = run->memory.ranges;
    if (status == DF_OK)
        status = fix_places(run, &config, error);
    if (status == DF_OK)
        status = dfm_space_create(&config, &run->memory.space, error);
done:
    free(bytes);
    free(count);
    free(poison);
    return status;
}

_Static_assert(DFM_LINE == DF_LINE_BYTES, "a plan counts in the lines that a space has");

/* Makes the host memory of tokens: at fixed addresses if that is possible, otherwise as blocks. */
int dfr_run_make_tokens(struct df_run *run, struct df_error *error)
{
    int status = dfr_tokens_create(run, &run->memory.tokens, error);
    return status != DF_OK || run->memory.tokens ? status : make_space(run, error);
}
