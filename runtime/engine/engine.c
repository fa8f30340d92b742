/* engine.c - the firing rule: counts the inputs that each job still waits for, and at the end of a job releases its
 * readers. The workers (worker.c, list.c, gpu/gpu_worker.c) call it when they have run a job, and start/ to begin a run
 * and to feed waves. engine.h lists the states of a job. The policy decides which worker runs a job, and prefetch.c
 * copies its inputs there.
 *
 * Orders:   the release that takes `left` to 0 has acquired everything that the other jobs did before theirs
 *           (firing.h), in particular all the outputs that they published. The policy's queue, or the deque, carries
 *           that on to the worker that takes the job. The reset of the counter can be relaxed, because every release
 *           for the slot's next wave comes later: after the end of the slot's wave, or (order, depth) after the node's
 *           own job of that wave, hence after the reset of that job's counter.
 */
#include "runtime/engine/buffers.h"
#include "runtime/engine/ending.h"
#include "runtime/engine/firing.h"
#include "runtime/engine/gang.h"
#include "runtime/engine/latency.h"
#include "runtime/engine/live.h"
#include "runtime/engine/ports.h"
#include "runtime/engine/tokens.h"

/* ---- giving ready jobs to the policy ---- */

static void give(struct df_run *run, struct dfr_worker *w, uint64_t job, bool lone)
{
    uint32_t units = 0;
    switch (run->choice.policy->push(run->choice.state, job, w->index, lone, &units)) {
    case DFR_KEPT:
        w->kept = job;
        break;
    case DFR_QUEUED:
        w->n_pushed++;
        for (uint32_t u = 0; u < run->machine.n_units; u++)
            if (units >> u & 1)
                w->pushed_units[u]++;
        break;
    case DFR_PREFETCHING:
        break;
    }
}

void dfr_engine_free_job(struct df_run *run, struct dfr_worker *w, uint64_t job)
{
    uint64_t *next = run->firing.free_next, last = w->free_jobs;

    next[dfr_job_index(run, job)] = last == DFR_NO_JOB ? job : next[dfr_job_index(run, last)];
    if (last != DFR_NO_JOB)
        next[dfr_job_index(run, last)] = job;
    w->free_jobs = job;
}

static uint64_t pop_free(struct df_run *run, struct dfr_worker *w)
{
    uint64_t *next = run->firing.free_next, last = w->free_jobs, first;

    if (last == DFR_NO_JOB)
        return DFR_NO_JOB;
    first = next[dfr_job_index(run, last)];
    if (first == last)
        w->free_jobs = DFR_NO_JOB;
    else
        next[dfr_job_index(run, last)] = next[dfr_job_index(run, first)];
    return first;
}

/* A job that takes no worker is ready. If inputs of it are not on the host they are asked for; the thread that sees the
 * last of them arrive ends it. */
static void free_ready(struct df_run *run, struct dfr_worker *w, uint64_t job)
{
    if (!dfr_prefetch_free(run, job))
        dfr_engine_free_job(run, w, job);
}

/* If the end of a job makes only one job ready, this job is offered to the worker itself. So the first job is held back
 * in w->ready, until a second one comes or flush() is called. */
static void hold_or_give(struct df_run *run, struct dfr_worker *w, uint64_t job)
{
    if (w->n_pushed == 0 && w->ready == DFR_NO_JOB) {
        w->ready = job;
        return;
    }
    if (w->ready != DFR_NO_JOB) {
        w->n_pushed++;                  /* a job whose inputs are on the way counts, too */
        give(run, w, w->ready, false);
        w->ready = DFR_NO_JOB;
    }
    give(run, w, job, false);
}

/* May a job that is to be left out end now, so that no policy gets it and no input is copied for it? The order of a serial
 * run has a place for it. An input must not go while it is being copied. A policy that has placed the jobs may be having
 * it copied for this one; and a device may be writing it back if the host does not have it. */
static bool may_end_at_once(const struct df_run *run, uint64_t job)
{
    const struct df_graph *g = run->graph;
    uint32_t node = dfr_job_node(job), slot = dfr_job_slot(job);
    const uint32_t *in = g->in_value + g->nodes[node].first_in;

    for (uint32_t k = 0; k < df_node_n_in(g, node); k++)
        if (!dfr_skips_empty(&run->skips, slot, in[k]) && !dfr_is_once(run, g->values[in[k]].producer) &&
            (run->choice.policy->units || !(dfr_holders((struct df_run *)run, job, k) & DFM_HOST)))
            return false;
    return run->choice.policy != &dfr_policy_serial;
}

/* In a run with devices: is the job this thread's already? */
static bool is_own(struct df_run *run, struct dfr_worker *w, uint64_t job)
{
    if (run->devices.ahead && run->devices.ahead[dfr_job_index(run, job)]) { /* launched: gpu_launch.c */
        run->devices.ahead[dfr_job_index(run, job)] = 0;
        return true;
    }
    if (w->n_left_out == DFR_LEFT_OUT || !dfr_skips_leaves_out(&run->skips, dfr_job_slot(job), dfr_job_node(job)) ||
        !may_end_at_once(run, job))
        return false;
    w->left_out[w->n_left_out++] = job;
    return true;
}

void dfr_engine_ready(struct df_run *run, struct dfr_worker *w, uint64_t job)
{
    if (run->firing.free_next && dfr_skips_passes_over(&run->skips, dfr_job_slot(job), dfr_job_node(job))) {
        dfr_engine_free_job(run, w, job);
        return;
    }
    if (run->machine.n_gpus > 0 && is_own(run, w, job))
        return;
    if (run->firing.free_next && run->firing.nodes[dfr_job_node(job)].flags & DFR_N_FREE) {
        free_ready(run, w, job);
        return;
    }
    if (run->firing.resources && !dfr_resources_take(run->firing.resources, job))
        return;                         /* it waits for those that have them: give_resources() */
    hold_or_give(run, w, job);
}

/* Gives back what the job used, and the policy gets those that waited for it. */
static void give_resources(struct df_run *run, struct dfr_worker *w, uint64_t job)
{
    dfr_resources_give(run->firing.resources, job);
    while ((job = dfr_resources_next(run->firing.resources)) != DFR_NO_WAITER)
        hold_or_give(run, w, job);
}

/* May this worker itself run the job next? Not if a gang gathers: the worker may join it, and the job would wait for
 * its end. */
static bool may_keep(const struct df_run *run, const struct dfr_worker *w)
{
    return w->index != DFR_NOBODY && w->index < run->machine.n_cpu_workers && w->kept == DFR_NO_JOB &&
           !(run->threads.gang && dfr_gang_gathers(run->threads.gang));
}

static void end_left_out(struct df_run *run, struct dfr_worker *w);
static void end_free_jobs(struct df_run *run, struct dfr_worker *w);

/* Called after the last release that the end of a job makes. Wakes one sleeper for each job that was queued, except for
 * the one that this worker will take itself. */
static void flush(struct df_run *run, struct dfr_worker *w)
{
    while (w->n_left_out > 0) {         /* each end may make jobs of the other kind ready */
        end_left_out(run, w);
        end_free_jobs(run, w);
    }
    if (w->ready != DFR_NO_JOB) {
        give(run, w, w->ready, may_keep(run, w));
        w->ready = DFR_NO_JOB;
    }
    if (w->n_pushed == 0)
        return;
    w->n_pushed = 0;
    for (uint32_t u = 0; u < run->machine.n_units; u++) {
        uint32_t n = w->pushed_units[u];
        w->pushed_units[u] = 0;
        if (n > 0 && u == w->unit && w->kept == DFR_NO_JOB)
            n--;
        while (n > 0 && dfr_wake_unit(run, u))
            n--;
    }
}

uint32_t dfr_engine_pending(const struct df_run *run, uint32_t node, uint32_t slot)
{
    struct dfr_pending *p = &dfr_pending_of(run, slot)[node];
    /* acquire: what the jobs that have released it made */
    return p->need > 1 ? atomic_load_explicit(&p->left, memory_order_acquire) : p->need;
}

/* ---- waves ---- */

static void begin_wave(struct df_run *run, struct dfr_worker *w, uint32_t slot, int64_t wave)
{
    struct dfr_slot *s = &run->firing.slots[slot];
    atomic_store_explicit(&s->wave, wave, memory_order_relaxed);
    dfr_skips_begin(&run->skips, slot, wave, run->feed.slots ? run->feed.slots[slot].number : wave);
    if (run->memory.tokens)
        dfr_tokens_begin(run, slot, wave);
    dfr_buffers_poison(run, 0, wave);
    atomic_store_explicit(&s->nodes_left, run->firing.n_terminals, memory_order_relaxed);
    atomic_store_explicit(&s->streams_left, run->firing.n_streams, memory_order_relaxed);
    if (run->firing.n_streams > 0)
        dfr_release(run, w, run->firing.streams, run->firing.n_streams, slot);
    else
        dfr_release(run, w, run->firing.sources, run->firing.n_sources, slot);
}

/* The run is over. In a session it is only this call. The thread that called may sleep, as a worker without jobs. */
static void finish(struct df_run *run, const struct dfr_worker *w)
{
    dfr_buffers_find_unwritten(run, DFR_N_PHASE, dfr_once_slot(run), run->firing.final_wave);
    if (!run->calls.on) {
        dfr_engine_stop(run, DFR_FINISHED);
        return;
    }
    atomic_store_explicit(&run->calls.over, true, memory_order_seq_cst);
    if (!w->calls)
        dfr_wake_all(&run->threads.wakes[0]);
}

static void begin_final(struct df_run *run, struct dfr_worker *w);

/* Two threads may see that the waves have ended: the one that ended the last, and the one that lowered the limit. */
static void finish_if_complete(struct df_run *run, struct dfr_worker *w)
{
    if (atomic_load_explicit(&run->firing.waves_done, memory_order_seq_cst) <
        atomic_load_explicit(&run->firing.limit, memory_order_seq_cst))
        return;
    if (run->firing.n_final_terminals == 0 || dfr_engine_is_early(run))
        finish(run, w);
    else if (!run->threads.list && !atomic_exchange_explicit(&run->firing.final_begun, true, memory_order_acq_rel))
        begin_final(run, w);            /* a list has the final nodes at its end (list.c) */
}

static void end_wave(struct df_run *run, struct dfr_worker *w, uint32_t slot)
{
    int64_t wave = run->firing.slots[slot].wave, next = dfr_skips_next(&run->skips, wave, run->inflight);

    dfr_buffers_find_unwritten(run, 0, slot, wave);
    if (run->live)
        dfr_live_wave_ended(run, slot);
    if (run->watch.latency)
        dfr_latency_wave(run, slot, wave);
    /* seq_cst, as in end_stream(): if the last wave ends while the limit is lowered, the later of both sees the other's
     * write. Rounds between passes that do not begin count, too */
    atomic_fetch_add_explicit(&run->firing.waves_done, run->skips.passes ? (next - wave) / run->inflight : 1,
                              memory_order_seq_cst);
    if (run->feed.slots) {
        atomic_store_explicit(&run->feed.slots[slot].ended, true, memory_order_release); /* the wave's results */
        dfr_engine_tell_feeder(run);
        finish_if_complete(run, w);
    } else if (dfr_engine_may_begin(run, slot, next)) {
        begin_wave(run, w, slot, next);
    } else {
        finish_if_complete(run, w);
    }
}

/* This wave and all later ones are discarded. None of them can end, because this stream has not delivered it. */
static void end_stream(struct df_run *run, struct dfr_worker *w, int64_t wave, uint32_t node)
{
    dfr_engine_lower_limit(run, wave, node, wave);
    finish_if_complete(run, w);
}

static void begin_waves(struct df_run *run, struct dfr_worker *w)
{
    atomic_store_explicit(&run->firing.begun, true, memory_order_seq_cst); /* the first waves are reserved, as in dfr_engine_may_begin() */
    int64_t limit = dfr_engine_limit(run);
    dfr_buffers_poison(run, DFR_N_PHASE, 0);
    if (run->firing.n_accs > 0)
        dfr_acc_begin(run);
    if (limit <= 0) {
        finish_if_complete(run, w);
        return;
    }
    if (run->feed.slots) {
        /* Release: what was made once. seq_cst, as in dfr_engine_no_more(): if there are no waves, the later of both sees the other's write. */
        atomic_store_explicit(&run->feed.open, true, memory_order_seq_cst);
        dfr_engine_tell_feeder(run);
        if (atomic_load_explicit(&run->firing.limit, memory_order_seq_cst) <= 0)
            finish_if_complete(run, w);
        return;
    }
    for (int64_t wave = 0; wave < run->inflight && wave < limit; wave++)
        begin_wave(run, w, dfr_slot_of(run, wave), wave);
}

void dfr_engine_terminal(struct df_run *run, struct dfr_worker *w, uint32_t slot, uint32_t n)
{
    if (slot == dfr_once_slot(run)) {
        if (!dfr_count_down(w, &run->firing.once_left, n))
            return;
        if (atomic_load_explicit(&run->firing.final_begun, memory_order_relaxed)) { /* ordered by the count */
            finish(run, w);
        } else {
            dfr_buffers_find_unwritten(run, DFR_N_ONCE, slot, 0);
            begin_waves(run, w);
        }
    } else if (dfr_count_down(w, &run->firing.slots[slot].nodes_left, n)) {
        end_wave(run, w, slot);
    }
}

static void begin_once(struct df_run *run, struct dfr_worker *w)
{
    dfr_buffers_poison(run, DFR_N_ONCE, 0);
    for (uint32_t v = 0; v < run->graph->n_nodes; v++)
        if (dfr_is_once(run, v) && df_node_n_in(run->graph, v) == 0) /* a final node has inputs */
            dfr_release(run, w, &v, 1, dfr_once_slot(run));
}

/* Called after the first releases: gives out what they have made ready. */
static void settle(struct df_run *run, struct dfr_worker *w)
{
    if (!w->deque) {
        end_free_jobs(run, w);
        flush(run, w);
    } else if (w->kept != DFR_NO_JOB) { /* the starting thread runs no job itself */
        dfr_deque_push(w->deque, w->kept);
        w->kept = DFR_NO_JOB;
    }
}

void dfr_engine_start(struct df_run *run, struct dfr_worker *w)
{
    if (run->firing.n_once == 0 || run->calls.begun)
        begin_waves(run, w);
    else
        begin_once(run, w);
    run->calls.begun = true;
    settle(run, w);
}

void dfr_engine_feed(struct df_run *run, int64_t wave)
{
    begin_wave(run, &run->threads.starter, dfr_slot_of(run, wave), wave);
    settle(run, &run->threads.starter);
}

void dfr_engine_no_more(struct df_run *run, int64_t waves)
{
    int64_t limit = atomic_load_explicit(&run->firing.limit, memory_order_seq_cst);
    while (waves < limit && !atomic_compare_exchange_weak_explicit(&run->firing.limit, &limit, waves, memory_order_seq_cst,
                                                                   memory_order_seq_cst))
        ;
    if (!atomic_load_explicit(&run->feed.open, memory_order_seq_cst))
        return;                         /* begin_waves() sees the limit when all that fires once has ended */
    finish_if_complete(run, &run->threads.starter);
    settle(run, &run->threads.starter);
}

/* ---- the end of a job ---- */

static bool is_view(const struct df_graph *g, uint32_t node)
{
    return g->kernels[g->nodes[node].kernel].flags & DF_KERNEL_VIEW;
}

/* The jobs that read the value, and the buffer that keeps it. */
static uint32_t count_readers(const struct df_run *run, uint32_t value)
{
    return run->graph->values[value].n_readers + dfr_buffers_keep(run, value);
}

/* A view ends for its input when its ranges do. So each range that somebody reads is one reader of the whole. In the graph of a share of
 * the parts of an acc some ranges have none (share.h), but not all: a view of which nobody reads a range is no node there. */
static void share(struct df_run *run, uint32_t node, uint32_t slot)
{
    const struct df_graph *g = run->graph;
    uint32_t block = slot * g->n_values + g->in_value[g->nodes[node].first_in], first = g->nodes[node].first_out, n_read = 0;

    for (uint32_t y = first; y < first + df_node_n_out(g, node); y++)
        n_read += count_readers(run, y) > 0;
    if (n_read > 1)                     /* relaxed: the job itself is still one of the readers */
        atomic_fetch_add_explicit(&run->memory.space->blocks[block].readers, n_read - 1, memory_order_relaxed);
}

/* The outputs become visible. On the host an empty one keeps the memory that its job got, until its last reader ends, and
 * takes over no input's. On a device the worker sees to its memory (gpu_worker.c), and no bit says that it is there. */
static void publish(struct df_run *run, uint64_t job, uint32_t memory, bool empty)
{
    const struct df_graph *g = run->graph;
    uint32_t node = dfr_job_node(job), slot = dfr_job_slot(job), first = g->nodes[node].first_out;

    if (is_view(g, node))
        share(run, node, slot);
    for (uint32_t y = first; y < first + df_node_n_out(g, node); y++) {
        uint32_t block = slot * g->n_values + y;
        struct dfm_block *b = &run->memory.space->blocks[block];
        if (df_value_is_acc(g, y)) {
            if (!empty)                 /* a job that is skipped leaves its acc as it is */
                dfm_space_changed(run->memory.space, dfr_block_of(run, y, slot), memory);
            continue;
        }
        bool takes = memory == 0 && g->values[y].taken_from != DF_NONE, held;
        bool again = empty && dfr_skips_comes_again(&run->skips, slot, y);
        if (takes && empty)
            b->host = NULL;
        else if (takes)
            dfm_space_move_host(run->memory.space, slot * g->n_values + g->values[y].taken_from, block);
        if (again)                      /* it is where it was kept */
            b->host = dfm_space_host_take(run->memory.space, block);
        held = !empty || (memory == 0 && b->host);
        atomic_store_explicit(&b->readers, count_readers(run, y), memory_order_relaxed);
        /* release: the bytes and b->host, to everybody who finds the bit */
        atomic_store_explicit(&b->valid, held ? 1u << memory : 0, memory_order_release);
        /* Its whole counts a range as dropped in each wave, also in one in which it got no memory. */
        if (count_readers(run, y) == 0 && (held || dfm_space_shares(run->memory.space, block)))
            dfm_space_drop(run->memory.space, block, memory);
    }
}

/* A job that was one of the value's readers has ended. true: it was the last one. */
static bool drop_input(struct df_run *run, uint32_t x, uint32_t slot, uint32_t memory)
{
    uint32_t block = slot * run->graph->n_values + x;

    /* acq_rel: what all other readers read comes before the memory is used again */
    if ((count_readers(run, x) > 1 || dfm_space_is_viewed(run->memory.space, x)) &&
        atomic_fetch_sub_explicit(&run->memory.space->blocks[block].readers, 1, memory_order_acq_rel) != 1)
        return false;
    dfm_space_drop(run->memory.space, block, memory);
    return true;
}

/* As drop_input(). The last reader of an output of a node with @depth also releases this node for a later wave. */
static void give_back(struct df_run *run, struct dfr_worker *w, uint32_t x, uint32_t slot, uint32_t memory)
{
    const struct df_value *value = &run->graph->values[x];
    const struct dfr_node *producer;

    if (!drop_input(run, x, slot, memory))
        return;
    if (df_value_is_view(run->graph, x))
        give_back(run, w, value->whole, slot, memory);
    producer = &run->firing.nodes[value->producer];
    if (producer->flags & DFR_N_BOUNDED && value->n_readers > 0 && !(value->flags & DF_VALUE_ACC))
        dfr_release(run, w, &value->producer, 1,
                    dfr_slot_of(run, run->firing.slots[slot].wave + run->graph->nodes[value->producer].depth));
}

/* Does this reader count? What is made before the waves stays until the run ends, because jobs of all waves read it, and
 * those of all calls of a session. */
static bool is_counted(const struct df_run *run, uint32_t node, uint32_t x)
{
    const struct df_value *value = &run->graph->values[x];
    return run->firing.n_once == 0 || value->flags & DF_VALUE_ACC ||
           ((run->firing.nodes[value->producer].flags ^ run->firing.nodes[node].flags) & DFR_N_PHASE) == 0;
}

static void give_back_inputs(struct df_run *run, struct dfr_worker *w, uint64_t job, uint32_t memory)
{
    const struct df_graph *g = run->graph;
    uint32_t node = dfr_job_node(job), slot = dfr_job_slot(job);
    const uint32_t *in = g->in_value + g->nodes[node].first_in;

    for (uint32_t k = 0; k < df_node_n_in(g, node) && !is_view(g, node); k++)
        if (is_counted(run, node, in[k]))
            give_back(run, w, in[k], slot, memory);
}

void dfr_engine_pass_tokens(struct df_run *run, uint64_t job, bool empty)
{
    const struct df_graph *g = run->graph;
    uint32_t node = dfr_job_node(job);
    const uint32_t *in = g->in_value + g->nodes[node].first_in;

    publish(run, job, 0, empty);
    for (uint32_t k = 0; k < df_node_n_in(g, node) && !is_view(g, node); k++)
        if (is_counted(run, node, in[k]) && drop_input(run, in[k], dfr_job_slot(job), 0) && df_value_is_view(g, in[k]))
            drop_input(run, g->values[in[k]].whole, dfr_job_slot(job), 0);
}

/* The buffer that keeps the value was one more reader of it, and one more terminal node of its wave. Both end here. */
static void end_kept(struct df_run *run, struct dfr_worker *w, uint32_t value, uint32_t slot)
{
    give_back(run, w, value, slot, 0);
    dfr_engine_terminal(run, w, slot, 1);
}

void dfr_engine_kept(struct df_run *run, struct dfr_worker *w, uint32_t value, uint32_t slot)
{
    end_kept(run, w, value, slot);
    end_free_jobs(run, w);
    flush(run, w);
}

static void keep(struct df_run *run, struct dfr_worker *w, uint32_t value, uint32_t slot, uint32_t memory)
{
    if (memory > 0)
        dfr_fetch_kept(run, value, slot, memory);
    else
        end_kept(run, w, value, slot);
}

/* Called before the job releases any other. So its wave cannot end here: the job itself, or those that it will release,
 * are still to end. */
static void keep_outputs(struct df_run *run, struct dfr_worker *w, uint64_t job, uint32_t memory, bool empty)
{
    uint32_t node = dfr_job_node(job), first = run->graph->nodes[node].first_out;

    for (uint32_t y = first; y < first + df_node_n_out(run->graph, node); y++)
        if (dfr_buffers_keep(run, y) && !df_value_is_acc(run->graph, y)) /* an acc's is kept after the last wave */
            keep(run, w, y, dfr_job_slot(job),
                 empty || dfr_skips_empty(&run->skips, dfr_job_slot(job), y) ? 0 : memory); /* nothing is to be fetched */
}

/* The waves have ended. */
static void begin_final(struct df_run *run, struct dfr_worker *w)
{
    run->firing.final_wave = run->options.accs_waves + dfr_engine_waves(run);
    atomic_store_explicit(&run->firing.once_left, run->firing.n_final_terminals, memory_order_relaxed);
    if (run->memory.tokens)
        dfr_tokens_begin_final(run);
    for (uint32_t i = 0; i < run->firing.n_accs; i++)
        if (dfr_buffers_keep(run, run->firing.accs[i]))
            keep(run, w, run->firing.accs[i], dfr_once_slot(run), dfr_acc_holder(run, run->firing.accs[i]));
    dfr_prefetch_accs(run);
    dfr_release(run, w, run->firing.finals, run->firing.n_finals, dfr_once_slot(run));
}

/* All streams have delivered this wave. Only now their readers and the other sources may fire for it. */
static void open_gate(struct df_run *run, struct dfr_worker *w, uint32_t slot)
{
    uint32_t n_terminal = 0;
    for (uint32_t i = 0; i < run->firing.n_streams; i++) {
        n_terminal += (run->firing.nodes[run->firing.streams[i]].flags & DFR_N_TERMINAL) != 0;
        dfr_release_successors(run, w, run->firing.streams[i], slot);
    }
    dfr_release(run, w, run->firing.sources, run->firing.n_sources, slot);
    if (n_terminal > 0)
        dfr_engine_terminal(run, w, slot, n_terminal);
}

/* The node's job of the next wave. In a deque it is older than what this wave's end makes ready: a worker that is alone goes on
 * with the oldest wave, and a thief begins the next one. Else a source would run until no slot is left, and the oldest wave,
 * without which no slot becomes free, would be the last. */
static void release_next(struct df_run *run, struct dfr_worker *w, uint32_t node, int64_t wave)
{
    uint64_t kept = w->kept;

    dfr_release(run, w, &node, 1, dfr_slot_of(run, wave + 1));
    if (w->deque && w->kept != kept) {
        dfr_deque_push(w->deque, w->kept);
        w->kept = DFR_NO_JOB;
    }
}

/* For a node whose jobs run in order: called before its readers are released. false: the node is a stream, and the
 * caller must not release its readers. */
bool dfr_engine_in_order(struct df_run *run, struct dfr_worker *w, uint32_t node, uint32_t slot, int64_t wave)
{
    uint32_t flags = run->firing.nodes[node].flags;

    if (flags & DFR_N_IN_ORDER)
        release_next(run, w, node, wave);
    if (!(flags & DFR_N_STREAM))
        return true;
    if (wave >= atomic_load_explicit(&run->firing.limit, memory_order_relaxed) && run->firing.n_streams > 1)
        dfr_engine_tell_unlike(run, node, atomic_load_explicit(&run->firing.limit, memory_order_relaxed), "has more than");
    if (dfr_count_down(w, &run->firing.slots[slot].streams_left, 1))
        open_gate(run, w, slot);
    return false;
}

bool dfr_engine_skipped(struct df_run *run, const struct df_call *call)
{
    uint32_t node = dfr_job_node(call->job);
    const bool over = dfr_skips_passes_over(&run->skips, dfr_job_slot(call->job), node);
    bool ended;

    if (!(over && dfr_is_once(run, node)) && !dfr_engine_succeeded(run, call, DF_SKIP, &ended)) /* a once node that is over is not called */
        return false;
    if (!over)
        dfr_skips_count(&run->skips, node, dfr_skips_leaves_out(&run->skips, dfr_job_slot(call->job), node));
    dfr_make_empty(run, call->job);
    if (!over)
        dfr_buffers_empty(run, call->job, call->wave);
    return true;
}

/* The part of the end that is about tokens: they become visible, and inputs are given back. */
static void end_tokens(struct df_run *run, struct dfr_worker *w, const struct df_call *call, uint32_t memory,
                       bool empty)
{
    if (!run->memory.tokens) {
        publish(run, call->job, memory, empty);
        give_back_inputs(run, w, call->job, memory);
    }
    if (run->machine.n_gpus > 0) {
        if (!empty)
            dfr_prefetch_outputs(run, call->job, memory);
        if (run->memory.buffers)
            keep_outputs(run, w, call->job, memory, empty);
    }
}

/* Each of them may make others ready that are to be left out. */
static void end_left_out(struct df_run *run, struct dfr_worker *w)
{
    while (w->n_left_out > 0) {
        uint64_t job = w->left_out[--w->n_left_out];
        struct df_call call = { .run = run, .job = job, .wave = dfr_job_wave(run, job), .threads = 1 };

        dfr_engine_skipped(run, &call);
        end_tokens(run, w, &call, 0, true);
        dfr_released(run, w, dfr_job_node(job), dfr_job_slot(job), call.wave);
    }
}

static void end_free_job(struct df_run *run, struct dfr_worker *w, uint64_t job)
{
    uint32_t slot = dfr_job_slot(job), node = dfr_job_node(job);
    struct df_call call = { .run = run, .job = job, .wave = dfr_job_wave(run, job), .threads = 1 };

    if (dfr_skips_leaves_out(&run->skips, slot, node)) { /* a whole is empty if a part of it is */
        dfr_engine_skipped(run, &call);
        end_tokens(run, w, &call, 0, true);
        dfr_released(run, w, node, slot, call.wave);
        return;
    }
    if (dfr_skips_any(&run->skips))
        dfr_skips_set(&run->skips, slot, node, false);
    if (!dfr_ports(run, w, job))
        return;
    end_tokens(run, w, &call, 0, false);
    dfr_released(run, w, node, slot, call.wave);
}

/* Each of them may make others ready. */
static void end_free_jobs(struct df_run *run, struct dfr_worker *w)
{
    uint64_t job;

    while ((job = pop_free(run, w)) != DFR_NO_JOB)
        end_free_job(run, w, job);
}

void dfr_engine_end_free_jobs(struct df_run *run, struct dfr_worker *w)
{
    end_free_jobs(run, w);
    flush(run, w);
}

/* Gives out what the end of a job has made ready. */
static void settle_after(struct df_run *run, struct dfr_worker *w)
{
    if (!w->deque) {
        end_free_jobs(run, w);
        flush(run, w);
    }
}

void dfr_engine_done(struct df_run *run, struct dfr_worker *w, const struct df_call *call, int code,
                     uint32_t memory)
{
    bool ended = false;
    if (code == DF_SKIP ? !dfr_engine_skipped(run, call) : !dfr_engine_succeeded(run, call, code, &ended))
        return;
    if (run->firing.resources && df_node_uses(run->graph, dfr_job_node(call->job)))
        give_resources(run, w, call->job);
    if (ended) {
        end_stream(run, w, call->wave, dfr_job_node(call->job));
        settle_after(run, w);
        return;
    }
    end_tokens(run, w, call, memory, code == DF_SKIP);
    if (run->choice.policy->done && !w->deque)
        run->choice.policy->done(run->choice.state, call->job, w->index);
    dfr_released(run, w, dfr_job_node(call->job), dfr_job_slot(call->job), call->wave);
    settle_after(run, w);
}
