/* watchdog.c - the posts of watchdog.h, and the thread that checks them, for inspect.c (--watchdog) and for
 * measurements (measure/measure_watch.c).
 *
 * A post's `turn` is odd while a job runs there. begin() writes the job and then increments turn; end() increments it
 * again. The watchdog reads turn, the job, and turn once more (a seqlock): if turn has not changed, the job belongs to
 * it. For this, the stores of the job are releases (they come after the previous turn), and the loads of the job are
 * acquires.
 */
#include "runtime/inspect/watchdog.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/threads/clock.h"
#include "runtime/threads/host.h"
#include "runtime/engine/engine.h"
#include "runtime/base/error.h"
#include "runtime/engine/log.h"
#include "runtime/base/text.h"

#define SHOWN 4                         /* waiting nodes that are named */

struct post {
    _Alignas(64) _Atomic uint64_t turn;
    _Atomic uint64_t job;
    _Atomic int64_t wave;
    _Atomic double since_s;
    uint64_t told;                      /* the turn that was told of; this member and the next are the watchdog's own */
    char name[48];
};

struct dfr_watchdog {
    const struct df_run *run;
    _Atomic double limit_s;
    uint32_t n_posts;
    struct post *posts;
    uint64_t turns;                     /* sum over all posts; it last changed at changed_s */
    double changed_s;
    bool told;                          /* it was told that no job runs */
    bool started, ending;               /* ending: under the lock */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t end;
};

void dfr_watchdog_begin(struct dfr_watchdog *w, uint32_t post, uint64_t job, int64_t wave)
{
    struct post *p = &w->posts[post];
    atomic_store_explicit(&p->job, job, memory_order_release);
    atomic_store_explicit(&p->wave, dfr_told_wave(w->run, job, wave), memory_order_release);
    atomic_store_explicit(&p->since_s, dfr_clock_s(), memory_order_release);
    atomic_fetch_add_explicit(&p->turn, 1, memory_order_release);
}

void dfr_watchdog_end(struct dfr_watchdog *w, uint32_t post)
{
    atomic_fetch_add_explicit(&w->posts[post].turn, 1, memory_order_release);
}

/* ---- what is said ---- */

/* Marks all nodes that depend on this one. Gives how many these are. */
static uint32_t mark_after(const struct df_graph *g, uint32_t node, uint8_t *marked)
{
    uint32_t n = 0;
    marked[node] = 1;
    for (uint32_t v = node; v < g->n_nodes; v++) { /* nodes are in topological order, so one pass is enough */
        uint32_t first = g->nodes[v].first_out;
        if (!marked[v])
            continue;
        for (uint32_t y = first; y < first + df_node_n_out(g, v); y++)
            for (uint32_t i = 0; i < g->values[y].n_readers; i++) {
                uint8_t *reader = &marked[g->readers[g->values[y].first_reader + i].node];
                n += !*reader;
                *reader = 1;
            }
    }
    return n;
}

/* "; 'main/a', 'main/b' and 3 more nodes wait for it" */
static void list_waiting(const struct df_graph *g, uint32_t node, char *text, size_t size)
{
    uint8_t *marked = calloc((size_t)g->n_nodes + 1, 1);
    uint32_t n, shown = 0;
    size_t used = 0;

    *text = '\0';
    if (!marked)
        return;                         /* without memory only the job itself is named */
    n = mark_after(g, node, marked);
    if (n == 0)
        snprintf(text, size, "; no other node waits for it, but the wave does");
    for (uint32_t v = node + 1; v < g->n_nodes && shown < n && shown < SHOWN; v++) {
        char name[128];
        if (!marked[v])
            continue;
        df_node_name(g, v, name, sizeof name);
        used += (size_t)snprintf(text + used, size - used, "%s'%s'",
                                 shown == 0 ? "; " : shown + 1 == n ? " and " : ", ", name);
        shown++;
    }
    if (n > shown)
        used += (size_t)snprintf(text + used, size - used, " and %u more node%s", n - shown, n - shown > 1 ? "s" : "");
    if (n > 0)
        snprintf(text + used, size - used, n > 1 ? " wait for it" : " waits for it");
    free(marked);
}

static void tell_job(const struct dfr_watchdog *w, const struct post *p, uint64_t job, int64_t wave)
{
    char name[256], limit[24], waiting[700];
    df_node_name(w->run->graph, dfr_job_node(job), name, sizeof name);
    list_waiting(w->run->graph, dfr_job_node(job), waiting, sizeof waiting);
    dfr_log(w->run, DF_LOG_ERROR, "node '%s', wave %lld: has not ended after %s on %s%s", name, (long long)wave,
            dfr_text_seconds(w->limit_s, limit, sizeof limit), p->name, waiting);
}

static void expire(const struct dfr_watchdog *w)
{
    if (w->run->options.expired)
        w->run->options.expired(w->run->options.expired_arg);
}

/* ---- looking ---- */

/* Looks at all posts once. Gives the time of the next look. */
static double look(struct dfr_watchdog *w)
{
    const double limit_s = w->limit_s;
    double now_s = dfr_clock_s(), next_s = now_s + limit_s;
    uint64_t turns = 0;
    bool running = false, expired = false;

    for (uint32_t i = 0; i < w->n_posts; i++) {
        struct post *p = &w->posts[i];
        uint64_t turn = atomic_load_explicit(&p->turn, memory_order_acquire);
        uint64_t job = atomic_load_explicit(&p->job, memory_order_acquire);
        int64_t wave = atomic_load_explicit(&p->wave, memory_order_acquire);
        double since_s = atomic_load_explicit(&p->since_s, memory_order_acquire);
        turns += turn;
        if (turn % 2 == 0 || atomic_load_explicit(&p->turn, memory_order_relaxed) != turn)
            continue;
        running = true;
        if (p->told == turn)
            continue;
        if (now_s - since_s >= limit_s) {
            p->told = turn;
            expired = true;
            tell_job(w, p, job, wave);
        } else if (since_s + limit_s < next_s) {
            next_s = since_s + limit_s;
        }
    }
    if (running || turns != w->turns || dfr_stopped(w->run)) {
        w->turns = turns;
        w->changed_s = now_s;
        w->told = false;
    } else if (now_s - w->changed_s >= limit_s && !w->told) {
        char limit[24];
        w->told = expired = true;
        dfr_log(w->run, DF_LOG_ERROR, "no job has run for %s, and the graph is not complete",
                dfr_text_seconds(limit_s, limit, sizeof limit));
    }
    if (expired)
        expire(w);
    return next_s;
}

static void *watch(void *arg)
{
    struct dfr_watchdog *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->ending) {
        pthread_mutex_unlock(&w->lock);
        double next_s = look(w);
        pthread_mutex_lock(&w->lock);
        double pause_s = next_s - dfr_clock_s() + 1e-3; /* a little past it, not just before it */
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        pause_s = pause_s > 1e-3 ? pause_s : 1e-3;
        until.tv_sec += (time_t)pause_s;
        until.tv_nsec += (long)((pause_s - (double)(time_t)pause_s) * 1e9);
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        while (!w->ending && pthread_cond_timedwait(&w->end, &w->lock, &until) != ETIMEDOUT)
            ;
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- making ---- */

int dfr_watchdog_create(const struct df_run *run, uint32_t n_posts, struct dfr_watchdog **watchdog,
                        struct df_error *error)
{
    struct dfr_watchdog *w = calloc(1, sizeof *w);
    pthread_condattr_t attributes;

    if (!w)
        return dfr_error_memory(error);
    w->posts = aligned_alloc(64, (n_posts + 1u) * sizeof *w->posts);
    if (!w->posts || pthread_condattr_init(&attributes) != 0) {
        free(w->posts);
        free(w);
        return dfr_error_memory(error);
    }
    memset(w->posts, 0, (n_posts + 1u) * sizeof *w->posts);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&w->end, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&w->lock, NULL);
    w->run = run;
    w->limit_s = run->options.watchdog_s;
    w->n_posts = n_posts;
    *watchdog = w;
    return DF_OK;
}

void dfr_watchdog_name(struct dfr_watchdog *w, uint32_t post, const char *name)
{
    snprintf(w->posts[post].name, sizeof w->posts[post].name, "%s", name);
}

int dfr_watchdog_start(struct dfr_watchdog *w, struct df_error *error)
{
    w->changed_s = dfr_clock_s();
    int code = dfr_helper_create(&w->thread, watch, w);
    if (code != 0)
        return dfr_error(error, DF_E_MEMORY, "cannot make the watchdog's thread: %s", strerror(code));
    w->started = true;
    return DF_OK;
}

void dfr_watchdog_limit(struct dfr_watchdog *w, double limit_s)
{
    w->limit_s = limit_s;
}

void dfr_watchdog_destroy(struct dfr_watchdog *w)
{
    if (!w)
        return;
    if (w->started) {
        pthread_mutex_lock(&w->lock);
        w->ending = true;
        pthread_cond_signal(&w->end);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
    }
    pthread_cond_destroy(&w->end);
    pthread_mutex_destroy(&w->lock);
    free(w->posts);
    free(w);
}
