/* walk.c - making the list, and walking it. */
#include "runtime/walk.h"

#include <stdlib.h>

#include "runtime/bind.h"
#include "runtime/clock.h"
#include "runtime/error.h"
#include "runtime/tokens.h"
#include "runtime/worker.h"

/* ---- making ---- */

bool dfr_walk_applies(const struct df_run *run)
{
    return run->tokens && !run->trace && run->n_workers == 1 && run->policy->units;
}

static void push(struct df_run *run, uint32_t node)
{
    uint32_t units;
    run->policy->push(run->policy_state, dfr_job(0, node), DFR_NOBODY, false, &units);
}

/* Takes jobs from the policy until it has none, and gives it those that become ready by them. */
static void drain(struct df_run *run, struct dfr_walk *walk, uint32_t *left)
{
    uint64_t job;
    while (run->policy->pop(run->policy_state, 0, &job)) {
        uint32_t v = dfr_job_node(job);
        walk->list[walk->n++] = v;
        if (run->policy->done)
            run->policy->done(run->policy_state, job, 0);
        for (uint32_t s = run->nodes[v].first_successor; s < run->nodes[v + 1].first_successor; s++)
            if (--left[run->successors[s]] == 0)
                push(run, run->successors[s]);
    }
}

/* left: of each node that fires with every wave, the inputs that do. */
static void make_list(struct df_run *run, struct dfr_walk *walk, uint32_t *left)
{
    uint32_t n = run->graph->n_nodes;

    for (uint32_t v = 0; v < n; v++) {
        if (dfr_is_once(run, v))
            walk->list[walk->n++] = v;
        else
            for (uint32_t s = run->nodes[v].first_successor; s < run->nodes[v + 1].first_successor; s++)
                left[run->successors[s]]++;
    }
    walk->n_once = walk->n;
    for (uint32_t i = 0; i < run->n_streams; i++)
        walk->list[walk->n++] = run->streams[i];
    for (uint32_t i = 0; i < run->n_streams; i++)
        for (uint32_t s = run->nodes[run->streams[i]].first_successor;
             s < run->nodes[run->streams[i] + 1].first_successor; s++)
            if (--left[run->successors[s]] == 0)
                push(run, run->successors[s]);
    for (uint32_t i = 0; i < run->n_sources; i++)
        push(run, run->sources[i]);
    drain(run, walk, left);
}

int dfr_walk_create(struct df_run *run, struct df_error *error)
{
    size_t n = (size_t)run->graph->n_nodes + 1;
    struct dfr_walk *walk = calloc(1, sizeof *walk);
    uint32_t *left = calloc(n, sizeof *left);

    if (walk)
        walk->list = malloc(n * sizeof *walk->list);
    if (!walk || !left || !walk->list) {
        free(left);
        dfr_walk_destroy(walk);
        return dfr_error_memory(error);
    }
    make_list(run, walk, left);
    free(left);
    run->policy->destroy(run->policy_state);
    run->policy_state = NULL;
    free(run->successors);
    free(run->pending);
    run->successors = NULL;
    run->pending = NULL;
    run->walk = walk;
    return DF_OK;
}

void dfr_walk_destroy(struct dfr_walk *walk)
{
    if (!walk)
        return;
    free(walk->list);
    free(walk);
}

/* ---- walking ---- */

/* Some of the list's jobs, in `slot`; false: one of them failed, or ended a stream. */
static bool walk_list(struct df_run *run, struct dfr_worker *w, const uint32_t *list, uint32_t n, uint32_t slot)
{
    const struct dfr_node *nodes = run->nodes;
    const struct dfr_code *codes = run->codes;
    void *const *ports = run->tokens->ports;            /* of slot 0, and of what fires once */
    uint64_t base = dfr_job(slot, 0);

    for (uint32_t i = 0; i < n; i++) {
        const struct dfr_node *node = &nodes[list[i]];
        const struct dfr_code *code = &codes[node->work];
        int result;
        w->call.job = base + list[i];
        result = code->cpu(&w->call, NULL, code->dims,
                           node->flags & DFR_N_TMP ? dfr_worker_ports(run, w, w->call.job) : ports + node->first_port,
                           code->scalars);
        if (result != DF_OK || w->call.failed) {
            w->jobs += i + 1;
            dfr_engine_done(run, w, &w->call, result, 0);
            return false;
        }
    }
    w->jobs += n;
    return true;
}

void *dfr_walk_main(void *arg)
{
    struct dfr_worker *w = arg;
    struct df_run *run = w->run;
    const struct dfr_walk *walk = run->walk;
    double begin_s = dfr_clock_s();
    bool good = walk_list(run, w, walk->list, walk->n_once, dfr_once_slot(run));

    /* A stream that ends lowers the limit and stops the run itself. */
    for (int64_t wave = 0; good && wave < atomic_load(&run->limit); wave++) {
        w->call.wave = wave;
        good = walk_list(run, w, walk->list + walk->n_once, walk->n - walk->n_once, 0);
        if (good)
            atomic_store_explicit(&run->waves_done, wave + 1, memory_order_relaxed);
    }
    if (good)
        dfr_engine_stop(run, DFR_FINISHED);
    if (w->jobs > 0) {
        w->first_s = begin_s;
        w->last_s = dfr_clock_s();
        w->busy_s = w->last_s - begin_s;
    }
    return NULL;
}
