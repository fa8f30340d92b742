/* walk_order.c - from a run to its workers' lists: when there are any, the order of the jobs of each phase as the
 * policy gives it, and with what each of them reads, for walk_share.c and walk_list.c.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/threads/pile.h"
#include "runtime/engine/tokens.h"
#include "runtime/engine/walk.h"

/* Gangs are gathered by worker.c. */
static bool has_gangs(const struct df_graph *g)
{
    for (uint32_t k = 0; k < g->n_works; k++)
        if (g->works[k].threads > 1)
            return true;
    return false;
}

/* Are jobs known to be so short that lists gain more than they may lose? */
static bool are_short(const struct df_run *run)
{
    double total_s = 0;
    if (!run->choice.times_known)
        return false;
    for (uint32_t v = 0; v < run->graph->n_nodes; v++)
        total_s += run->choice.time_s[run->graph->nodes[v].work]; /* on unit 0 */
    return total_s <= DFR_LONG_S * run->graph->n_nodes;
}

bool dfr_walk_applies(const struct df_run *run)
{
    if (!run->memory.tokens || run->watch.trace || !run->choice.policy->units)
        return false;
    if (run->machine.n_workers == 1)
        return true;
    return !has_gangs(run->graph) && are_short(run) && !(run->choice.policy->guarded && run->options.guard);
}

/* ---- order ---- */

struct making {
    struct df_run *run;
    uint32_t *left;                     /* of each node that fires with every wave, the inputs that do */
    uint32_t *place;                    /* by node, in its phase */
    struct dfr_phase once, wave;
};

static void push(struct df_run *run, uint32_t node)
{
    uint32_t units;
    run->choice.policy->push(run->choice.state, dfr_job(0, node), DFR_NOBODY, false, &units);
}

static void release_successors(struct making *m, uint32_t node)
{
    const struct df_run *run = m->run;
    for (uint32_t s = run->firing.nodes[node].first_successor; s < run->firing.nodes[node + 1].first_successor; s++)
        if (--m->left[run->firing.successors[s]] == 0)
            push(m->run, run->firing.successors[s]);
}

/* Takes jobs from the policy until it has none, and gives it those that become ready by them. */
static void drain(struct making *m)
{
    const struct df_run *run = m->run;
    uint64_t job;
    while (run->choice.policy->pop(run->choice.state, 0, &job)) {
        m->wave.node[m->wave.n++] = dfr_job_node(job);
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
        if (dfr_is_once(run, v))
            m->once.node[m->once.n++] = v;
        else
            for (uint32_t s = run->firing.nodes[v].first_successor; s < run->firing.nodes[v + 1].first_successor; s++)
                m->left[run->firing.successors[s]]++;
    }
    for (uint32_t i = 0; i < run->firing.n_streams; i++)
        m->wave.node[m->wave.n++] = run->firing.streams[i];
    m->wave.n_streams = run->firing.n_streams;
    for (uint32_t i = 0; i < run->firing.n_streams; i++)
        release_successors(m, run->firing.streams[i]);
    for (uint32_t i = 0; i < run->firing.n_sources; i++)
        push(m->run, run->firing.sources[i]);
    drain(m);
}

/* ---- phases ---- */

static bool phase_create(struct dfr_phase *p, uint32_t n)
{
    size_t room = (size_t)n + 1;

    p->node = malloc(room * sizeof *p->node);
    p->first_before = malloc(room * sizeof *p->first_before);
    p->time_s = malloc(room * sizeof *p->time_s);
    p->worker = calloc(room, sizeof *p->worker);
    return p->node && p->first_before && p->time_s && p->worker;
}

static void phase_free(struct dfr_phase *p)
{
    free(p->node);
    free(p->first_before);
    free(p->before);
    free(p->time_s);
    free(p->worker);
}

/* What is made once is there for a wave. false: no memory. */
static bool describe_jobs(struct making *m, struct dfr_phase *p, bool once)
{
    const struct df_run *run = m->run;
    const struct df_graph *g = run->graph;
    size_t n_before = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        m->place[p->node[i]] = i;
        p->time_s[i] = run->choice.time_s[g->nodes[p->node[i]].work]; /* on unit 0 */
        n_before += df_node_n_in(g, p->node[i]);
    }
    p->before = malloc((n_before + 1) * sizeof *p->before);
    if (!p->before)
        return false;
    n_before = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const uint32_t *in = g->in_value + g->nodes[p->node[i]].first_in;
        p->first_before[i] = (uint32_t)n_before;
        for (uint32_t k = 0; k < df_node_n_in(g, p->node[i]); k++)
            if (dfr_is_once(run, g->values[in[k]].producer) == once)
                p->before[n_before++] = m->place[g->values[in[k]].producer];
    }
    p->first_before[p->n] = (uint32_t)n_before;
    return true;
}

static bool make_phase(struct making *m, struct dfr_phase *p, bool once, struct dfr_list *lists)
{
    struct df_run *run = m->run;
    uint32_t n_workers = run->machine.n_workers;

    if (n_workers == 1)                 /* nobody asks who makes what it reads */
        memset(p->first_before, 0, ((size_t)p->n + 1) * sizeof *p->first_before);
    else if (!describe_jobs(m, p, once) ||
             !dfr_phase_share(p, n_workers, once ? 1 : run->threads.walk->n_slots, once ? 1 : atomic_load(&run->firing.limit)))
        return false;
    return dfr_phase_lists(p, n_workers, lists);
}

static bool make_lists(struct making *m, struct dfr_list *lists)
{
    struct df_run *run = m->run;
    size_t n = (size_t)run->graph->n_nodes + 1;

    m->left = calloc(n, sizeof *m->left);
    m->place = malloc(n * sizeof *m->place);
    if (!m->left || !m->place || !phase_create(&m->once, run->firing.n_once) ||
        !phase_create(&m->wave, run->graph->n_nodes - run->firing.n_once))
        return false;
    order_jobs(m);
    if (!make_phase(m, &m->once, true, lists))
        return false;
    for (uint32_t w = 0; w < run->machine.n_workers; w++) {
        run->threads.walk->walkers[w].once = lists[w];
        lists[w] = (struct dfr_list){ 0 };
    }
    if (!make_phase(m, &m->wave, false, lists))
        return false;
    for (uint32_t w = 0; w < run->machine.n_workers; w++) {
        run->threads.walk->walkers[w].wave = lists[w];
        lists[w] = (struct dfr_list){ 0 };
    }
    return true;
}

/* Each worker sets the pointers to the caller's memory of the nodes that it runs. */
static void share_lent(const struct making *m)
{
    const struct dfr_tokens *tokens = m->run->memory.tokens;
    for (uint32_t i = 0; m->run->machine.n_workers > 1 && i < tokens->n_lent; i++)
        tokens->lent[i].worker = m->wave.worker[m->place[tokens->lent[i].node]];
}

/* ---- the whole ---- */

static struct dfr_walk *walk_new(const struct df_run *run)
{
    struct dfr_walk *walk = calloc(1, sizeof *walk);

    if (!walk)
        return NULL;
    walk->n_workers = run->machine.n_workers;
    walk->n_slots = run->machine.n_workers == 1 ? 1 : run->inflight;
    walk->fences = run->machine.n_workers > 1 && !dfr_pile_prepare();
    walk->walkers = aligned_alloc(64, run->machine.n_workers * sizeof *walk->walkers);
    if (!walk->walkers) {
        free(walk);
        return NULL;
    }
    memset(walk->walkers, 0, run->machine.n_workers * sizeof *walk->walkers);
    for (uint32_t w = 0; w < run->machine.n_workers; w++)
        atomic_init(&walk->walkers[w].wanted, DFR_NOT_WANTED);
    atomic_init(&walk->n_walking, run->machine.n_workers);
    return walk;
}

int dfr_walk_create(struct df_run *run, struct df_error *error)
{
    struct making m = { .run = run };
    struct dfr_list *lists = calloc(run->machine.n_workers, sizeof *lists);
    bool good;

    run->threads.walk = walk_new(run);
    good = lists && run->threads.walk && make_lists(&m, lists);
    if (good)
        share_lent(&m);
    free(m.left);
    free(m.place);
    phase_free(&m.once);
    phase_free(&m.wave);
    for (uint32_t w = 0; lists && w < run->machine.n_workers; w++)
        dfr_list_free(&lists[w]);
    free(lists);
    if (!good)
        return dfr_error_memory(error);  /* run->threads.walk goes with the run */
    run->choice.policy->destroy(run->choice.state);
    run->choice.state = NULL;
    free(run->firing.successors);
    free(run->firing.pending);
    run->firing.successors = NULL;
    run->firing.pending = NULL;
    return DF_OK;
}

void dfr_walk_destroy(struct dfr_walk *walk)
{
    if (!walk)
        return;
    for (uint32_t w = 0; w < walk->n_workers; w++) {
        dfr_list_free(&walk->walkers[w].once);
        dfr_list_free(&walk->walkers[w].wave);
    }
    free(walk->walkers);
    free(walk);
}
