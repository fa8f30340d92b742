/* prefetch.c - moves tokens between memories ahead of their use, so that a worker never waits for a copy. Policies call it through struct dfr_view
 * (start/run.c) to request a job's inputs and to query where they are. The engine sends outputs to the units of their readers, and accs and kept values to the
 * host; the workers of GPUs request blocks for waiting jobs, report arrivals and find their peers; record/checkpoint.c fetches accs to the host.
 *
 * Host:     for a CPU job whose inputs are only on devices, the devices that own them are asked for copies. The last
 *           copy to complete returns the job to the policy, if that decides before a worker takes a job, and otherwise
 *           puts it into `arrived`.
 * Devices:  if a job is assigned to a GPU before a worker takes it there, its inputs are announced to this GPU, which
 *           may prefetch them. Until they are there, the GPU takes other jobs first (dfr_comes()).
 * Orders:   `missing` starts with one extra for the caller itself, so it reaches 0 only once, after the last request.
 *           The decrements are acq_rel, so the one that reaches 0 has acquired all copies.
 */
#include "runtime/engine/buffers.h"
#include "runtime/engine/ending.h"
#include "runtime/graph/passes.h"

#define NO_TAKER DF_MAX_UNITS           /* of a job that takes no worker */

uint32_t dfr_peers(const struct df_run *run, uint32_t unit)
{
    const struct dfr_device_ops *ops = run->devices.ops[unit];
    if (run->machine.n_gpus < 2 || !ops || !ops->copy_peer)
        return 0;
    uint32_t peers = df_platform_peers(&run->machine.platform, unit);
    for (uint32_t u = 1; u <= run->machine.n_gpus; u++)
        if (run->devices.ops[u] != ops)
            peers &= ~(1u << u);        /* copy_peer() is between devices of one back end */
    return peers;
}

uint32_t dfr_holders(void *arg, uint64_t job, uint32_t k)
{
    struct df_run *run = arg;
    const struct df_graph *g = run->graph;
    uint32_t valid, value = df_node_need(g, dfr_job_node(job), k);
    if (!run->memory.space)
        return DFM_HOST;
    if (dfr_skips_empty(&run->skips, dfr_job_slot(job), value))
        return UINT32_MAX;              /* nothing of it is copied */
    valid = dfm_block_valid(&run->memory.space->blocks[dfr_need_block(run, job, k)]);
    return valid & DFM_HOST ? valid | run->machine.on_host : valid;
}

void dfr_ask(struct df_run *run, uint32_t waiter, uint32_t block, uint32_t holders)
{
    uint32_t m;
    if ((holders & ~DFM_HOST) == 0) {
        dfr_engine_fail(run, DF_E_DEVICE, "internal error: no memory holds value %u",
                        dfm_space_value(run->memory.space, block));
        return;
    }
    m = (uint32_t)__builtin_ctz(holders & ~DFM_HOST);
    run->memory.space->asked[waiter] = block;
    run->memory.space->peer_asks[waiter].receiver = NULL;
    dfm_cache_post_fetch(run->memory.space->caches[m], waiter);
    dfr_wake_unit(run, m);
}

static bool all_on_host(struct df_run *run, uint64_t job)
{
    uint32_t n = df_node_n_needs(run->graph, dfr_job_node(job));

    for (uint32_t k = 0; k < n; k++)
        if (!(dfr_holders(run, job, k) & DFM_HOST))
            return false;
    return true;
}

/* Asks for what the job needs and the host does not have. false: the job waits for nothing. */
static bool fetch(struct df_run *run, uint64_t job, uint8_t taker)
{
    _Atomic uint32_t *missing = &run->devices.missing[dfr_job_index(run, job)];
    uint32_t n = df_node_n_needs(run->graph, dfr_job_node(job)), present = 1;

    run->devices.taker[dfr_job_index(run, job)] = taker;
    atomic_store_explicit(missing, n + 1, memory_order_relaxed);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t holders = dfr_holders(run, job, k);
        if (holders & DFM_HOST)
            present++;
        else
            dfr_ask(run, dfr_waiter(run, job, k), dfr_need_block(run, job, k), holders);
    }
    return atomic_fetch_sub_explicit(missing, present, memory_order_acq_rel) != present; /* else all came meanwhile */
}

static bool prefetch_to_host(struct df_run *run, uint64_t job)
{
    if (all_on_host(run, job))
        return false;
    atomic_fetch_add_explicit(&run->devices.n_prefetching, 1, memory_order_relaxed);
    if (fetch(run, job, 0))
        return true;
    atomic_fetch_sub_explicit(&run->devices.n_prefetching, 1, memory_order_relaxed);
    return false;
}

bool dfr_prefetch_free(struct df_run *run, uint64_t job)
{
    return run->machine.n_gpus > 0 && !all_on_host(run, job) && fetch(run, job, NO_TAKER);
}

static void announce(struct df_run *run, uint32_t unit, uint32_t block)
{
    dfm_cache_post_prefetch(run->memory.space->caches[unit], block);
    dfr_wake_unit(run, unit);
}

bool dfr_prefetch(void *arg, uint64_t job, uint32_t unit)
{
    struct df_run *run = arg;
    uint32_t n = df_node_n_needs(run->graph, dfr_job_node(job));

    if (run->machine.n_gpus == 0)
        return false;
    if (unit == 0)
        return prefetch_to_host(run, job);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t holders = dfr_holders(run, job, k);
        if (holders & DFM_HOST && !(holders >> unit & 1))
            announce(run, unit, dfr_need_block(run, job, k));
    }
    return false;
}

/* A copy to a memory may be under way, or asked for, only while a job that reads the token will run there. Otherwise
 * the token's bytes could go while they are copied. So a job to whose unit data was sent stays there until all has
 * come. */
bool dfr_settled(void *arg, uint64_t job, uint32_t unit)
{
    struct df_run *run = arg;
    for (uint32_t k = 0; k < df_node_n_needs(run->graph, dfr_job_node(job)); k++) {
        if (unit > 0 && dfm_cache_prefetch_pends(run->memory.space->caches[unit], dfr_need_block(run, job, k)))
            return false;
        if (!(dfr_holders(run, job, k) >> unit & 1))
            return false;
    }
    return true;
}

/* Is the input on its way from another device to the host? It was sent when it was made, and is announced to the unit when
 * it is there. What a peer can send directly is not sent before it is asked for. */
static bool comes_to_host(struct df_run *run, uint64_t job, uint32_t k, uint32_t unit)
{
    return !(dfr_holders(run, job, k) & (DFM_HOST | 1u << unit | dfr_peers(run, unit)));
}

bool dfr_comes(void *arg, uint64_t job, uint32_t unit)
{
    struct df_run *run = arg;
    uint32_t node = dfr_job_node(job);
    bool planned = run->choice.policy->units &&
                   run->choice.policy->units(run->choice.state, dfr_job_slot(job), node) == 1u << unit;

    if (run->devices.hasty[unit])
        return false;
    for (uint32_t k = 0; k < df_node_n_needs(run->graph, node); k++)
        if (dfm_cache_loads(run->memory.space->caches[unit], dfr_need_block(run, job, k)) ||
            (planned && comes_to_host(run, job, k, unit)))
            return true;
    return false;
}

/* The memories in which the value's known readers look for it, without the one that it is in. */
static uint32_t reader_memories(struct df_run *run, uint32_t slot, uint32_t value, uint32_t memory)
{
    const struct df_value *y = &run->graph->values[value];
    uint32_t units = 0;
    for (uint32_t i = 0; i < y->n_readers; i++)
        if (!dfr_skips_passes_over(&run->skips, slot, run->graph->readers[y->first_reader + i].node))
            units |= run->choice.policy->units(run->choice.state, slot, run->graph->readers[y->first_reader + i].node);
    if (units & run->machine.on_host)
        units = (units & ~run->machine.on_host) | DFM_HOST;
    return units & ~(1u << memory);
}

static void copy_failed(struct df_run *run, uint32_t node, uint64_t job, const struct df_error *error)
{
    char name[256];
    df_node_name(run->graph, node, name, sizeof name);
    dfr_engine_fail(run, DF_E_DEVICE, "node '%s', wave %lld, copying what it made: %s", name,
                    (long long)dfr_told_wave(run, job, dfr_job_wave(run, job)), error->text);
}

/* The readers of an acc wait for the last wave. A part that no later wave changes goes to the host before that, and leaves its memory to
 * other parts. */
static void leave_acc(struct df_run *run, uint64_t job, uint32_t value, uint32_t memory)
{
    const struct dfr_passes *passes = run->skips.passes;
    struct df_error error;

    if (memory > 0 && (!passes || passes->overlap) &&
        dfr_skips_wave(&run->skips, dfr_job_wave(run, job)) == dfr_engine_waves(run) - 1 &&
        dfr_acc_is_gathered(run->graph, value) &&
        dfm_cache_leave(run->memory.space->caches[memory], dfr_block_of(run, value, dfr_job_slot(job)), &error) != DF_OK)
        copy_failed(run, dfr_job_node(job), job, &error);
}

void dfr_prefetch_outputs(struct df_run *run, uint64_t job, uint32_t memory)
{
    const struct df_graph *g = run->graph;
    uint32_t node = dfr_job_node(job), first = g->nodes[node].first_out;

    for (uint32_t y = first; y < first + df_node_n_out(g, node); y++) {
        uint32_t others, block = dfr_job_slot(job) * g->n_values + y;
        struct df_error error;
        if (df_value_is_acc(g, y)) {
            leave_acc(run, job, y, memory);
            continue;
        }
        if (!run->choice.policy->units || (others = reader_memories(run, dfr_job_slot(job), y, memory)) == 0)
            continue;
        if (memory > 0 && others & ~dfr_peers(run, memory) &&
            dfm_cache_to_host(run->memory.space->caches[memory], block, &error) != DF_OK)
            copy_failed(run, node, job, &error);
        for (uint32_t u = 1; memory == 0 && u < run->machine.n_units; u++)
            if (others >> u & 1)
                announce(run, u, block);
    }
}

void dfr_prefetch_onward(struct df_run *run, uint32_t block, uint32_t memory)
{
    uint32_t others = reader_memories(run, block / run->graph->n_values, dfm_space_value(run->memory.space, block),
                                      memory);

    others &= ~(dfr_peers(run, memory) | dfm_block_valid(&run->memory.space->blocks[block]));
    for (uint32_t u = 1; u < run->machine.n_units; u++)
        if (others >> u & 1)
            announce(run, u, block);
        else if (run->machine.on_host >> u & 1)
            dfr_wake_unit(run, u);      /* it may have put off a job that reads this */
}

/* ---- waiters ---- */

/* Waiters for kept values (buffers.h) have numbers after those of all inputs. Their items in `arrived` have node numbers
 * after the graph's. Waiters for accs follow, one for each value. */

static uint32_t first_keeper(const struct df_run *run)
{
    return run->graph->n_in_values * (run->inflight + 1);
}

static uint32_t first_of_accs(const struct df_run *run)
{
    return first_keeper(run) + dfr_buffers_count(run) * (run->inflight + 1);
}

uint32_t dfr_waiter(const struct df_run *run, uint64_t job, uint32_t k)
{
    uint32_t node = dfr_job_node(job), value;

    if (k < df_node_n_in(run->graph, node))
        return dfr_job_slot(job) * run->graph->n_in_values + run->graph->nodes[node].first_in + k;
    value = df_node_need(run->graph, node, k);
    run->devices.acc_job[value] = job;
    return first_of_accs(run) + value;
}

void dfr_prefetch_accs(struct df_run *run)
{
    if (run->machine.n_gpus == 0 || !run->choice.policy->units)
        return;
    for (uint32_t i = 0; i < run->firing.n_accs; i++) {
        uint32_t value = run->firing.accs[i], memory = dfr_acc_holder(run, value), block = dfr_block_of(run, value, 0);
        uint32_t others = reader_memories(run, dfr_once_slot(run), value, memory);
        if (memory > 0 && others & ~dfr_peers(run, memory)) {
            run->devices.acc_job[value] = DFR_NO_JOB;
            dfr_ask(run, first_of_accs(run) + value, block, 1u << memory);
        }
        for (uint32_t u = 1; memory == 0 && u < run->machine.n_units; u++)
            if (others >> u & 1)
                announce(run, u, block);
    }
}

void dfr_fetch_accs(struct df_run *run)
{
    for (uint32_t i = 0; i < run->firing.n_accs; i++) {
        uint32_t value = run->firing.accs[i], memory = dfr_acc_holder(run, value);
        if (memory == 0)
            continue;
        run->devices.acc_job[value] = DFR_FEEDER;
        dfr_ask(run, first_of_accs(run) + value, dfr_block_of(run, value, 0), 1u << memory);
    }
}

void dfr_fetch_kept(struct df_run *run, uint32_t value, uint32_t slot, uint32_t memory)
{
    dfr_ask(run, first_keeper(run) + slot * run->memory.buffers->n + run->memory.buffers->keeper[value],
            slot * run->graph->n_values + value, 1u << memory);
}

bool dfr_end_kept(struct df_run *run, struct dfr_worker *w, uint64_t item)
{
    uint32_t n_nodes = run->graph->n_nodes;
    if (dfr_job_node(item) < n_nodes)
        return false;
    dfr_engine_kept(run, w, run->memory.buffers->value[dfr_job_node(item) - n_nodes], dfr_job_slot(item));
    return true;
}

static void kept_arrived(struct df_run *run, uint32_t keeper)
{
    dfr_queue_push(run->devices.arrived, dfr_job(keeper / run->memory.buffers->n,
                                                 run->graph->n_nodes + keeper % run->memory.buffers->n));
    dfr_wake_unit(run, 0);
}

/* A policy that has placed the jobs, or chosen the host when it was given this one, has an order for them, too. It gets a
 * job back whose data has come to the host, and at once: so the job overtakes none that comes before it in that order, and
 * no less urgent job overtakes it. */
static void give_back(struct df_run *run, uint64_t job)
{
    uint32_t units = 1;

    atomic_fetch_sub_explicit(&run->devices.n_prefetching, 1, memory_order_relaxed);
    if (run->choice.policy->come)
        run->choice.policy->come(run->choice.state, job);
    else if (run->choice.policy->push(run->choice.state, job, DFR_NOBODY, false, &units) != DFR_QUEUED)
        return;                         /* its place has changed, and its inputs are fetched again */
    for (uint32_t u = 0; u < run->machine.n_units; u++)
        if (units >> u & 1)
            dfr_wake_unit(run, u);
}

void dfr_arrived(struct df_run *run, struct dfr_worker *w, uint32_t waiter)
{
    uint32_t n_in_values = run->graph->n_in_values, index;
    uint64_t job;
    uint8_t taker;

    if (waiter >= first_of_accs(run)) {
        job = run->devices.acc_job[waiter - first_of_accs(run)];
        if (job == DFR_FEEDER)
            dfr_engine_tell_feeder(run);
        if (job == DFR_FEEDER || job == DFR_NO_JOB) /* NO_JOB: nobody waits, it was sent ahead */
            return;
    } else if (waiter >= first_keeper(run)) {
        kept_arrived(run, waiter - first_keeper(run));
        return;
    } else {
        job = dfr_job(waiter / n_in_values, run->devices.waiter_node[waiter % n_in_values]);
    }
    index = dfr_job_index(run, job);
    taker = run->devices.taker[index]; /* once nothing is missing the job may run, and that of the next wave prefetch */
    if (atomic_fetch_sub_explicit(&run->devices.missing[index], 1, memory_order_acq_rel) != 1)
        return;
    if (taker == NO_TAKER) {
        dfr_engine_free_job(run, w, job);
        return;
    }
    if (taker == 0 && !run->choice.policy->pull) {
        give_back(run, job);
        return;
    }
    if (taker == 0)
        dfr_queue_push(run->devices.arrived, job); /* has room for every job: never full */
    dfr_wake_unit(run, taker);
}
