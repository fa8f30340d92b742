/* list.c - builds the static job list of a single worker, and runs it (list.h), for runs without devices. start/run_workers.c calls it, for whole runs and for
 * the calls of a session. */
#include "runtime/engine/list.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/engine/ending.h"
#include "runtime/engine/live.h"
#include "runtime/engine/ports.h"
#include "runtime/engine/steal.h"
#include "runtime/engine/tokens.h"
#include "runtime/engine/worker.h"
#include "runtime/threads/clock.h"

#define MOST_SHARED 64                  /* calls */

/* ---- making ---- */

struct making {
    struct df_run *run;
    uint32_t *left;                     /* by node that fires in every wave: inputs that are not yet made */
    uint32_t *nodes;                    /* the list as far as it is made; n of them */
    uint32_t n;
};

static void push(struct df_run *run, uint32_t node)
{
    uint32_t units;
    run->choice.policy->push(run->choice.state, dfr_job(0, node), 0, false, &units);
}

static void release_successors(struct making *m, uint32_t node)
{
    const struct df_run *run = m->run;
    for (uint32_t s = run->firing.nodes[node].first_successor; s < run->firing.nodes[node + 1].first_successor; s++)
        if (--m->left[run->firing.successors[s]] == 0)
            push(m->run, run->firing.successors[s]);
}

/* Takes jobs from the policy until it has none. Gives it the jobs that each of these makes ready. */
static void drain(struct making *m)
{
    const struct df_run *run = m->run;
    uint64_t job;

    while (run->choice.policy->pop(run->choice.state, 0, &job)) {
        m->nodes[m->n++] = dfr_job_node(job);
        if (run->choice.policy->done)
            run->choice.policy->done(run->choice.state, job, 0);
        release_successors(m, dfr_job_node(job));
    }
}

static void order_jobs(struct making *m)
{
    const struct df_run *run = m->run;
    uint32_t n = run->graph->n_nodes;

    for (uint32_t v = 0; v < n; v++) {
        if (dfr_is_once(run, v)) {
            m->nodes[m->n] = v;         /* nodes are numbered in topological order */
            m->n += !(run->firing.nodes[v].flags & DFR_N_FINAL);
        } else {
            for (uint32_t s = run->firing.nodes[v].first_successor; s < run->firing.nodes[v + 1].first_successor; s++)
                m->left[run->firing.successors[s]]++;
        }
    }
    for (uint32_t i = 0; i < run->firing.n_streams; i++)
        m->nodes[m->n++] = run->firing.streams[i];
    for (uint32_t i = 0; i < run->firing.n_streams; i++)
        release_successors(m, run->firing.streams[i]);
    for (uint32_t i = 0; i < run->firing.n_sources; i++)
        push(m->run, run->firing.sources[i]);
    drain(m);
    for (uint32_t i = 0; i < run->firing.n_finals; i++)
        m->nodes[m->n++] = run->firing.finals[i];
}

static void give_back_tables(struct df_run *run)
{
    run->choice.policy->destroy(run->choice.state);
    run->choice.state = NULL;
    free(run->firing.successors);
    free(run->firing.pending);
    run->firing.successors = NULL;
    run->firing.pending = NULL;
}

int dfr_list_create(struct df_run *run, struct df_error *error)
{
    size_t n = (size_t)run->graph->n_nodes + 1;
    struct dfr_list *list = calloc(1, sizeof *list);
    struct making m = { .run = run, .left = calloc(n, sizeof *m.left), .nodes = malloc(n * sizeof *m.nodes) };

    if (!list || !m.left || !m.nodes) {
        free(list);
        free(m.left);
        free(m.nodes);
        return dfr_error_memory(error);
    }
    order_jobs(&m);
    free(m.left);
    *list = (struct dfr_list){ run->firing.n_once, run->graph->n_nodes - run->firing.n_once - run->firing.n_finals,
                               run->firing.n_finals, m.nodes };
    run->threads.list = list;
    if (m.n != run->graph->n_nodes)
        return dfr_error(error, DF_FAILED, "internal error: policy '%s' gave %u of %u jobs", run->choice.policy->name,
                         m.n, run->graph->n_nodes);
    give_back_tables(run);
    return DF_OK;
}

void dfr_list_destroy(struct dfr_list *list)
{
    if (list)
        free(list->nodes);
    free(list);
}

/* ---- running ---- */

/* Calls the kernels of these nodes, in a run whose tokens have fixed addresses, until one does not succeed or the run is
 * stopped. Gives how many it called, and what the last one returned. */
static __attribute__((noinline)) uint32_t call_fixed(struct df_run *run, struct dfr_worker *w, const uint32_t *list,
                                                     uint32_t n, uint32_t slot, int *last)
{
    const struct dfr_node *nodes = run->firing.nodes;
    const struct dfr_code *codes = run->firing.codes;
    void *const *ports = dfr_tokens_slot_ports(run, slot);
    uint64_t base = dfr_job(slot, 0);

    for (uint32_t i = 0; i < n; i++) {
        const struct dfr_node *node = &nodes[list[i]];
        const struct dfr_code *code = &codes[node->work];
        int result;
        w->call.job = base + list[i];
        result = code->cpu(&w->call, NULL, code->dims,
                           node->flags & DFR_N_TMP ? dfr_ports(run, w, w->call.job) : ports + node->first_port,
                           code->scalars);
        if (result != DF_OK || w->call.failed || dfr_stopped(run)) {
            *last = result;
            return i + 1;
        }
    }
    *last = DF_OK;
    return n;
}

/* The same for all of these nodes: goes on behind those that skip. false: one failed, a stream ended, or another thread
 * has stopped the run. */
static bool run_fixed(struct df_run *run, struct dfr_worker *w, const uint32_t *list, uint32_t n, uint32_t slot)
{
    while (n > 0) {
        int result;
        uint32_t n_called = call_fixed(run, w, list, n, slot, &result);

        w->jobs += n_called;
        list += n_called;
        n -= n_called;
        if (w->call.failed || (result == DF_SKIP ? !dfr_engine_skipped(run, &w->call) : result != DF_OK)) {
            dfr_engine_done(run, w, &w->call, result, 0);
            return false;
        }
        if (dfr_stopped(run))
            return false;
    }
    return true;
}

/* The same, in a run whose tokens are blocks. */
static bool run_blocks(struct df_run *run, struct dfr_worker *w, const uint32_t *list, uint32_t n, uint32_t slot)
{
    for (uint32_t i = 0; i < n; i++) {
        void *const *ports;
        int result = DF_FAILED;

        w->call.job = dfr_job(slot, list[i]);
        ports = dfr_ports(run, w, w->call.job);
        if (ports)
            result = dfr_call_kernel(run, w, ports);
        w->jobs++;
        if ((result != DF_OK && result != DF_SKIP) || w->call.failed) {
            dfr_engine_done(run, w, &w->call, result, 0);
            return false;
        }
        if (result == DF_SKIP && !dfr_engine_skipped(run, &w->call))
            return false;
        dfr_engine_pass_tokens(run, w->call.job, result == DF_SKIP);
        if (dfr_stopped(run))
            return false;
    }
    return true;
}

/* The same, each job timed by itself: a job ends where the next one begins. */
static bool run_each(struct df_run *run, struct dfr_worker *w, const uint32_t *list, uint32_t n, uint32_t slot)
{
    double begin_s = dfr_clock_s();

    for (uint32_t i = 0; i < n; i++) {
        bool good = run->memory.tokens ? run_fixed(run, w, list + i, 1, slot) : run_blocks(run, w, list + i, 1, slot);
        double end_s = dfr_clock_s();
        dfr_job_timed(w, &w->call, begin_s, end_s);
        begin_s = end_s;
        if (!good)
            return false;
    }
    return true;
}

static bool run_jobs(struct df_run *run, struct dfr_worker *w, const uint32_t *list, uint32_t n, uint32_t slot)
{
    if (dfr_times_jobs(w))
        return run_each(run, w, list, n, slot);
    return run->memory.tokens ? run_fixed(run, w, list, n, slot) : run_blocks(run, w, list, n, slot);
}

/* A stream may have ended the waves. Then it has set the limit, and the run goes on. */
static void run_finals(struct df_run *run, struct dfr_worker *w, const struct dfr_list *list)
{
    int64_t limit = atomic_load(&run->firing.limit);

    if (list->n_final == 0 || dfr_stopped(run) || atomic_load(&run->firing.waves_done) < limit || dfr_engine_is_early(run))
        return;
    w->call.wave = run->firing.final_wave = run->options.accs_waves + dfr_engine_waves(run);
    if (run->memory.tokens)
        dfr_tokens_begin_final(run);
    run_jobs(run, w, list->nodes + list->n_once + list->n_wave, list->n_final, dfr_once_slot(run));
}

/* Has a request come to end the waves early? Then this wave is not begun. */
static bool ends_before(struct df_run *run, int64_t wave)
{
    if (atomic_load_explicit(&run->firing.early, memory_order_relaxed) == DFR_NOT_EARLY)
        return false;
    atomic_store(&run->firing.early_waves, wave);
    atomic_store(&run->firing.limit, wave); /* with one worker it is this thread that lowers the limit */
    return true;
}

static void run_waves(struct df_run *run, struct dfr_worker *w, const struct dfr_list *list)
{
    if (!run->calls.begun && !run_jobs(run, w, list->nodes, list->n_once, dfr_once_slot(run)))
        return;
    run->calls.begun = true;
    if (run->firing.n_accs > 0)
        dfr_acc_begin(run);
    for (int64_t wave = 0; list->n_wave > 0 && wave < atomic_load(&run->firing.limit) && !ends_before(run, wave);
         wave = dfr_skips_next(&run->skips, wave, 1)) {
        w->call.wave = wave;
        atomic_store_explicit(&run->firing.slots[0].wave, wave, memory_order_relaxed);
        dfr_skips_begin(&run->skips, 0, wave, wave);
        if (run->memory.tokens)
            dfr_tokens_begin(run, 0, wave);
        if (!run_jobs(run, w, list->nodes + list->n_once, list->n_wave, 0))
            break;
        if (run->live)
            dfr_live_wave_ended(run, 0);
        atomic_store_explicit(&run->firing.waves_done, dfr_skips_next(&run->skips, wave, 1), memory_order_relaxed);
    }
    if (list->n_wave == 0)
        atomic_store(&run->firing.waves_done, atomic_load(&run->firing.limit)); /* every wave is empty */
    run_finals(run, w, list);
}

/* Gives the seconds that it took. */
static double run_timed(struct dfr_worker *w, const struct dfr_list *list)
{
    double begin_s = dfr_clock_s();

    run_waves(w->run, w, list);
    if (w->jobs == 0)
        return 0;
    w->first_s = w->first_s < 0 ? begin_s : w->first_s;
    w->last_s = dfr_clock_s();
    w->busy_s += w->last_s - begin_s;
    return w->last_s - begin_s;
}

void dfr_list_call(struct dfr_worker *w)
{
    run_timed(w, w->run->threads.list);
}

void *dfr_list_main(void *arg)
{
    struct dfr_worker *w = arg;
    struct df_run *run = w->run;

    dfr_list_call(w);
    dfr_engine_stop(run, DFR_FINISHED); /* unless it was stopped before */
    return NULL;
}

/* ---- calls of a session with several workers ---- */

int dfr_list_for_calls(struct df_run *run, struct df_error *error)
{
    uint32_t n = run->graph->n_nodes, n_once = 0, n_wave = 0;
    struct dfr_list *list;

    if (!run->calls.on || !run->threads.deques || !run->memory.tokens || run->firing.n_streams > 0 || run->threads.gang)
        return DF_OK;
    list = run->calls.list = calloc(1, sizeof *list);
    if (!list || !(list->nodes = malloc(((size_t)n + 1) * sizeof *list->nodes)))
        return dfr_error_memory(error);
    *list = (struct dfr_list){ run->firing.n_once, n - run->firing.n_once - run->firing.n_finals, run->firing.n_finals,
                               list->nodes };
    for (uint32_t v = 0; v < n; v++)    /* nodes are numbered in topological order */
        if (!(run->firing.nodes[v].flags & DFR_N_FINAL))
            list->nodes[dfr_is_once(run, v) ? n_once++ : list->n_once + n_wave++] = v;
    memcpy(list->nodes + list->n_once + list->n_wave, run->firing.finals, list->n_final * sizeof *list->nodes);
    run->calls.next_shared = 1;
    return DF_OK;
}

bool dfr_list_short_call(struct dfr_worker *w)
{
    struct dfr_run_calls *calls = &w->run->calls;
    uint64_t before = w->jobs;

    if (!calls->list || !calls->short_jobs)
        return false;
    if (calls->shared_left > 0) {
        calls->shared_left--;
        return false;
    }
    calls->short_jobs = run_timed(w, calls->list) <= (double)(w->jobs - before) * DFR_WORTH_S;
    atomic_store_explicit(&w->deque->n_done, w->jobs, memory_order_relaxed);
    if (!calls->short_jobs) {
        calls->shared_left = calls->next_shared;
        calls->next_shared = 2 * calls->next_shared < MOST_SHARED ? 2 * calls->next_shared : MOST_SHARED;
    }
    return true;
}
