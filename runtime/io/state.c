/* state.c - df_state() and df_expect_waves() of df.h, for kernels; the same states for the record of a run and a replayed job, and how many waves streams
 * expect, for record/ and ranks/. The end of a run or measurement destroys them. The table by node is allocated when the first kernel calls one of them. Adding
 * a table or a state takes a lock; lookups take none.
 */
#include "runtime/io/state.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/live.h"
#include "runtime/base/process_lock.h"

struct dfr_state {
    df_state_end *end;
    size_t n;                           /* of `bytes`, as the first call asked */
    int64_t pass;                       /* in which it was made */
    int64_t round, wave;                /* of the job that asked last, if the node is one that begins anew: its place in the run, and its number */
    alignas(max_align_t) unsigned char bytes[];
};

DFR_PROCESS_LOCK(adding);

/* The node's place in the table. NULL: no memory. */
static _Atomic(struct dfr_state *) *place_of(struct df_run *run, uint32_t node)
{
    _Atomic(struct dfr_state *) *table = atomic_load(&run->states.of_node);
    if (!table) {
        table = calloc(run->graph->n_nodes + 1u, sizeof *table);
        atomic_store(&run->states.of_node, table);
    }
    return table ? &table[node] : NULL;
}

static struct dfr_state *add_state(struct df_run *run, uint32_t node, int64_t pass, size_t bytes, df_state_end *end)
{
    struct dfr_state *state = NULL;
    pthread_mutex_lock(&adding);
    _Atomic(struct dfr_state *) *place = place_of(run, node);
    if (place && !(state = atomic_load(place)) && (state = calloc(1, sizeof *state + bytes))) {
        state->end = end;
        state->n = bytes;
        state->pass = pass;
        atomic_store(place, state);
    }
    pthread_mutex_unlock(&adding);
    return state;
}

/* The pass in which a state is to have been made: the job's if a source is called again in order, so that its pass begins with wave 0; else 0. */
static int64_t pass_of(const struct df_run *run, const struct df_call *call)
{
    const struct df_graph *g = run->graph;
    uint32_t node = dfr_job_node(call->job);
    bool again = g->kernels[g->nodes[node].kernel].traits & DF_RESTART && df_kernel_in_order(&g->kernels[g->nodes[node].kernel]);
    return again && run->skips.passes ? call->wave / run->skips.passes->stride : 0;
}

/* Is it a source of a run that is fed, which begins anew with any wave? */
static bool begins_anew(const struct df_run *run, uint32_t node)
{
    const struct df_graph *g = run->graph;
    const struct df_kernel *k = &g->kernels[g->nodes[node].kernel];
    return run->feed.slots && k->n_in == 0 && df_kernel_in_order(k) && (k->traits & (DF_RESTART | DF_RESUME)) == (DF_RESTART | DF_RESUME);
}

/* Does the call's wave not follow on the one for which the state was asked last? */
static bool jumps(const struct df_call *call, const struct dfr_state *state)
{
    return df_wave(call) - state->wave != call->wave - state->round;
}

/* Ends the state of the pass before, or of waves that this one does not follow. false: that failed. */
static bool end_state_of(struct df_call *call, _Atomic(struct dfr_state *) *place, struct dfr_state *state, bool passed)
{
    struct df_error why = { "" };
    int ended = state->end ? state->end(state->bytes, 1, &why) : DF_OK;
    atomic_store(place, NULL);          /* no other job of the node runs: they are in order */
    free(state);
    if (ended != DF_OK)
        df_fail(call, passed ? "at the end of a pass: %s" : "before it begins with another wave: %s", why.text);
    return ended == DF_OK;
}

void *df_state(struct df_call *call, size_t bytes, df_state_end *end)
{
    struct df_run *run = call->run;
    uint32_t node = dfr_job_node(call->job);
    _Atomic(struct dfr_state *) *table = atomic_load_explicit(&run->states.of_node, memory_order_acquire);
    struct dfr_state *state = table ? atomic_load_explicit(&table[node], memory_order_acquire) : NULL;
    int64_t pass = pass_of(run, call);
    const bool anew = begins_anew(run, node);
    call->varies = true;
    if (call->step) {
        df_fail(call, "'%s' asks for memory that stays from wave to wave, in a loop with 'while'",
                df_graph_string(run->graph, run->graph->kernels[call->step->kernel].name));
        return NULL;
    }
    if (state && (state->pass < pass || (anew && jumps(call, state)))) {
        if (!end_state_of(call, &table[node], state, state->pass < pass))
            return NULL;
        state = NULL;
    }
    if (!state && !(state = add_state(run, node, pass, bytes, end))) {
        df_fail(call, "out of memory for the node's state, %zu bytes", bytes);
        return NULL;
    }
    if (state->n != bytes) {
        df_fail(call, "df_state() was asked for %zu bytes first, and for %zu now: the memory is the same in all waves", state->n, bytes);
        return NULL;
    }
    if (anew) {                         /* no other job of the node runs */
        state->round = call->wave;
        state->wave = df_wave(call);
    }
    return state->bytes;
}

const void *dfr_state_of(const struct df_call *call, size_t *bytes)
{
    _Atomic(struct dfr_state *) *table = atomic_load_explicit(&call->run->states.of_node, memory_order_acquire);
    const struct dfr_state *state = table ? atomic_load_explicit(&table[dfr_job_node(call->job)], memory_order_acquire) : NULL;
    *bytes = state ? state->n : 0;
    return state ? state->bytes : NULL;
}

bool dfr_state_give(struct df_call *call, const void *bytes, size_t n)
{
    struct dfr_state *state = add_state(call->run, dfr_job_node(call->job), pass_of(call->run, call), n, NULL);
    if (!state) {
        df_fail(call, "out of memory for the node's state, %zu bytes", n);
        return false;
    }
    if (n > 0)
        memcpy(state->bytes, bytes, n);
    state->round = call->wave;
    state->wave = df_wave(call);
    return true;
}

void *dfr_run_state(struct df_run *run, size_t bytes, df_state_end *end)
{
    struct dfr_state *state = add_state(run, run->graph->n_nodes, 0, bytes, end);
    return state ? state->bytes : NULL;
}

struct dfr_outputs *dfr_outputs_of(const struct df_call *call)
{
    return call->run->options.outputs;
}

void df_expect_waves(struct df_call *call, int64_t waves)
{
    _Atomic int64_t *expected = &call->run->states.expected_waves;
    int64_t before = atomic_load(expected);
    if (dfr_live_drops(call))           /* of its frames, not all make a wave */
        return;
    while (waves > 0 && (before == 0 || waves < before) && !atomic_compare_exchange_weak(expected, &before, waves))
        ;
}

void dfr_limit_waves(struct df_run *run, int64_t waves)
{
    atomic_store(&run->states.most_waves, waves);
}

int64_t dfr_expected_waves(const struct df_run *run)
{
    return atomic_load(&((struct df_run *)run)->states.expected_waves);
}

int64_t dfr_ended_apart(const struct df_run *run)
{
    return atomic_load(&((struct df_run *)run)->feed.end);
}

/* Ends one state. Gives the code of a failure that is the run's first. */
static int end_state(const struct df_run *run, uint32_t node, struct dfr_state *state, int status,
                     struct df_error *error)
{
    struct df_error why = { "" };
    char name[256];
    int ended = state->end ? state->end(state->bytes, status == DF_OK, &why) : DF_OK;
    free(state);
    if (status != DF_OK || ended == DF_OK)
        return status;
    df_node_name(run->graph, node, name, sizeof name);
    return dfr_error(error, ended, "node '%s', after the last wave: %s", name, why.text);
}

int dfr_states_end(struct df_run *run, int status, struct df_error *error)
{
    _Atomic(struct dfr_state *) *table = atomic_exchange(&run->states.of_node, NULL);
    atomic_store(&run->states.expected_waves, 0);
    atomic_store(&run->states.most_waves, 0);
    for (uint32_t v = 0; table && v <= run->graph->n_nodes; v++) {
        struct dfr_state *state = atomic_load(&table[v]);
        if (state)
            status = end_state(run, v, state, status, error);
    }
    free((void *)table);
    return status;
}
