/* session.c - sessions: a graph as a function, called repeatedly (df_session_… of the public df.h), for generated
 * libraries (runtime/library/) and programs that embed one. The run is opened once, by the steps of run.c. Each call
 * lends other memory, raises the number of waves, and acts as the first CPU worker until its waves have ended. The
 * other workers sleep between calls as they do without jobs.
 *
 * Broken:   after a failure, or when a stream has ended, some counters of the firing rule are in the middle of a wave.
 *           That run is ended, and the next call opens a new one, with the options with which the session was opened.
 *           It must not use the arrays of the previous call: these have that call's length, and may have been freed
 *           since.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/engine/buffers.h"
#include "runtime/engine/ending.h"
#include "runtime/gpu/gpu.h"
#include "runtime/graph/scalars.h"
#include "runtime/io/state.h"
#include "runtime/start/passes.h"
#include "runtime/start/run_impl.h"
#include "runtime/start/session.h"
#include "runtime/threads/host.h"

struct df_session {
    const struct df_graph *graph;
    struct df_options options;          /* with `buffers` and `args` of its own */
    struct df_run *run;                 /* NULL: the next call opens it */
    struct df_buffer *opened;           /* that a run is opened with: as the options have them, without arrays that a call has replaced */
    struct df_buffer *buffers, *next;   /* as the last call left them; as this call asks for them */
    union df_scalar *args, *next_args;  /* the same; not used if the options had none and no call gave some */
    bool has_args;
    struct dfr_scalars_scratch scratch;
    uint64_t waves;                     /* of all calls of this run */
    bool broken;
    struct dfr_host host;               /* of the thread that is in a call */
    _Atomic unsigned forks;             /* dfr_forks() at the last call */
    _Atomic bool busy;                  /* a thread is in a call */
    _Atomic(struct df_run *) running;   /* the run of the call; NULL: no waves run now */
    _Atomic uint32_t n_lookers;         /* threads that may use it */
};

/* ---- opening ---- */

static int refuse(const struct df_options *o, struct df_error *error)
{
    const struct {
        bool asked;
        const char *what;
    } refused[] = {
        { o->rehearse != 0, "rehearse" }, { o->trace_path != NULL, "trace_path" },
        { o->learn != 0, "learn" }, { o->n_dumps > 0, "dumps" }, { o->n_record_jobs > 0, "record_jobs" },
        { o->watchdog_s > 0, "watchdog_s" }, { o->check_variants != 0, "check_variants" },
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].asked)
            return dfr_error(error, DF_E_ARGUMENT, "a session takes no %s; a run does (df_run_start)", refused[i].what);
    return DF_OK;
}

static void session_free(struct df_session *s)
{
    free(s->opened);
    free(s->buffers);
    free(s->next);
    free(s->args);
    free(s->next_args);
    dfr_scalars_scratch_free(&s->scratch);
    free(s);
}

static void *copy(const void *from, size_t n, size_t size)
{
    void *to = malloc((n + 1) * size);
    if (to && from && n > 0)
        memcpy(to, from, n * size);
    return to;
}

static int fill(struct df_session *s, const struct df_options *options, struct df_error *error)
{
    uint32_t n_args = s->graph->n_args;

    s->options = *options;
    if (options->n_buffers > 0 && !options->buffers)
        return dfr_error(error, DF_E_ARGUMENT, "%u buffers are said to be given, and none are", options->n_buffers);
    s->opened = copy(options->buffers, options->n_buffers, sizeof *s->opened);
    s->buffers = copy(options->buffers, options->n_buffers, sizeof *s->buffers);
    s->next = copy(options->buffers, options->n_buffers, sizeof *s->next);
    s->args = copy(options->args, n_args, sizeof *s->args);
    s->next_args = copy(options->args, n_args, sizeof *s->next_args);
    s->has_args = options->args != NULL;
    if (!dfr_scalars_scratch_make(s->graph, &s->scratch) || !s->opened || !s->buffers || !s->next || !s->args || !s->next_args)
        return dfr_error_memory(error);
    return DF_OK;
}

static int open_run(struct df_session *s, struct df_error *error)
{
    s->options.buffers = s->opened;
    s->options.args = s->has_args ? s->args : NULL;
    s->waves = 0;
    s->broken = false;
    return dfr_run_open(s->graph, &s->options, true, &s->run, error);
}

int df_session_open(const struct df_graph *graph, const struct df_options *options, struct df_session **session,
                    struct df_error *error)
{
    struct df_session *s;
    struct df_options defaults;
    int status;

    df_options_default(&defaults);
    options = options ? options : &defaults;
    status = refuse(options, error);
    if (status != DF_OK)
        return status;
    s = calloc(1, sizeof *s);
    if (!s)
        return dfr_error_memory(error);
    dfr_host_enter(&s->host);
    s->graph = graph;
    atomic_init(&s->forks, dfr_forks());
    status = fill(s, options, error);
    if (status == DF_OK)
        status = open_run(s, error);
    dfr_host_leave(&s->host);
    if (status != DF_OK)
        session_free(s);
    else
        *session = s;
    return status;
}

/* ---- from other threads ---- */

/* The run of the call that is going on. It stays until look_end(). NULL: none, in this process. */
static struct df_run *look_begin(struct df_session *s)
{
    atomic_fetch_add(&s->n_lookers, 1); /* before `running` is read: end_looks() waits for it */
    return atomic_load(&s->forks) == dfr_forks() ? atomic_load(&s->running) : NULL;
}

static void look_end(struct df_session *s)
{
    atomic_fetch_sub(&s->n_lookers, 1);
}

/* After this no other thread uses the run. */
static void end_looks(struct df_session *s)
{
    atomic_store(&s->running, NULL);
    while (atomic_load(&s->n_lookers) > 0)
        dfr_relax();
}

void df_session_stop(struct df_session *session)
{
    if (!session)
        return;
    struct df_run *run = look_begin(session);
    if (run)
        dfr_engine_fail(run, DF_E_STOPPED, "the call was stopped");
    look_end(session);
}

int64_t df_session_progress(struct df_session *session)
{
    if (!session)
        return -1;
    struct df_run *run = look_begin(session);
    int64_t waves = run ? (int64_t)atomic_load_explicit(&run->firing.waves_done, memory_order_relaxed) : -1;

    if (run && run->skips.passes)
        waves = dfr_passes_done(run->skips.passes, waves) / run->skips.passes->n;
    look_end(session);
    return waves;
}

/* ---- a call ---- */

/* The most waves of a call. INT64_MAX: until a stream ends. */
static int64_t most_waves(const struct df_session *s)
{
    if (s->options.waves >= 0)
        return s->options.waves;
    return s->run->firing.n_streams > 0 ? INT64_MAX : 1;
}

static int check_waves(const struct df_session *s, int64_t asked, int64_t *waves, struct df_error *error)
{
    int64_t most = most_waves(s);

    *waves = asked < 0 ? most : asked;
    if (*waves > most)
        return dfr_error(error, DF_E_ARGUMENT, "a call of %lld waves: the session was opened for %lld at most",
                         (long long)*waves, (long long)most);
    return DF_OK;
}

/* Lends the memory of this call. */
static int move_buffers(struct df_session *s, int64_t waves, void *const *data, unsigned char *const *empty,
                        size_t *const *extents, struct df_error *error)
{
    uint32_t n = s->options.n_buffers;
    int status;

    if (n == 0)
        return DF_OK;
    for (uint32_t i = 0; i < n; i++)
        s->next[i].data = data && data[i] ? data[i] : s->buffers[i].data;
    for (uint32_t i = 0; i < n && empty; i++)
        s->next[i].empty = empty[i];
    for (uint32_t i = 0; i < n && extents; i++)
        s->next[i].extents = extents[i];
    status = dfr_buffers_move(s->run, s->next, waves, error);
    for (uint32_t i = 0; i < n && status == DF_OK; i++) {
        s->buffers[i].data = s->next[i].data;
        if (s->opened[i].data != s->next[i].data)
            s->opened[i].data = NULL;   /* nobody says that the memory is still there */
    }
    return status;
}

/* Kernels get other scalars. Launches that were recorded have the old ones in them. */
static int change_args(struct df_session *s, const union df_scalar *args, struct df_error *error)
{
    struct df_run *run = s->run;
    size_t n = s->graph->n_args;
    int status;

    if (!args)
        return DF_OK;
    status = dfr_scalars_fill(s->graph, args, &s->scratch, run->memory.scalars, error);
    if (status != DF_OK)
        return status;
    if (n > 0)
        memcpy(s->args, args, n * sizeof *args);
    s->has_args = true;
    run->calls.scalar_changes++;
    for (uint32_t u = 1; u <= run->machine.n_gpus; u++)
        dfr_gpu_settle(run->devices.gpus[u], true);
    return DF_OK;
}

/* Slots go on in turn after the waves of the call before, and the orders between waves with them. */
static void begin(struct df_run *run, int64_t limit)
{
    run->calls.first_slot = dfr_slot_of(run, run->calls.passed);
    run->calls.passed = limit;
    atomic_store_explicit(&run->firing.waves_done, 0, memory_order_relaxed);
    atomic_store_explicit(&run->firing.final_begun, false, memory_order_relaxed);
    atomic_store_explicit(&run->firing.limit, limit, memory_order_relaxed);
    atomic_store_explicit(&run->calls.over, false, memory_order_relaxed);
}

/* Ends the run, whose state does not allow another call. Gives its failure, if it has one. */
static int end_run(struct df_session *s, struct df_stats *stats, struct df_error *error)
{
    struct df_run *run = s->run;
    int status;

    end_looks(s);
    s->run = NULL;
    dfr_engine_stop(run, DFR_FINISHED); /* unless it has failed */
    status = df_run_wait(run, stats, error);
    if (stats)
        stats->waves = s->waves;
    return status;
}

static int run_waves(struct df_session *s, int64_t waves, struct df_error *error)
{
    struct df_run *run = s->run;
    int64_t limit = run->firing.n_once == run->graph->n_nodes ? 0 /* there may be nothing to do in a wave */
                                                               : dfr_passes_call(run, waves);

    begin(run, limit);
    s->broken = true;                   /* until it is seen that it is not: a kernel may end this thread */
    atomic_store_explicit(&s->running, run, memory_order_release);
    dfr_run_call(run);
    end_looks(s);
    for (uint32_t u = 1; u <= run->machine.n_gpus; u++)
        dfr_gpu_settle(run->devices.gpus[u], false);
    s->waves += run->skips.passes ? (uint64_t)dfr_passes_waves(run->skips.passes)
                                  : (uint64_t)atomic_load_explicit(&run->firing.waves_done, memory_order_relaxed);
    s->broken = dfr_stopped(run) || atomic_load_explicit(&run->firing.limit, memory_order_relaxed) < limit;
    return s->broken ? end_run(s, NULL, error) : dfr_states_end(run, DF_OK, error);
}

static int call(struct df_session *s, const struct df_session_call *c, struct df_error *error)
{
    static const struct df_session_call plain = { .waves = -1 };
    int64_t waves;
    int status = DF_OK;

    c = c ? c : &plain;
    if (s->run && s->broken)
        end_run(s, NULL, NULL);
    if (!s->run)
        status = open_run(s, error);
    if (status != DF_OK ||
        (status = check_waves(s, c->waves, &waves, error)) != DF_OK || (status = dfr_passes_admit(s->run, waves, error)) != DF_OK ||
        (status = move_buffers(s, waves, c->data, c->empty, c->extents, error)) != DF_OK ||
        (status = change_args(s, c->args, error)) != DF_OK)
        return status;
    return run_waves(s, waves, error);
}

/* ---- who may make a call ---- */

static int enter(struct df_session *s, const char *meets, struct df_error *error)
{
    const unsigned forks = dfr_forks();

    if (atomic_exchange_explicit(&s->busy, true, memory_order_acquire))
        return dfr_error(error, DF_E_ARGUMENT, "%s", atomic_load(&s->forks) == forks ? meets :
                         "a thread was in a call of this session when this process was forked, and is not in this process: open another session");
    dfr_host_enter(&s->host);
    if (atomic_load_explicit(&s->forks, memory_order_relaxed) == forks)
        return DF_OK;
    s->run = NULL;                      /* it belongs to the parent, which has its threads; this process makes its own */
    atomic_store(&s->running, NULL);
    atomic_store(&s->n_lookers, 0);
    atomic_store(&s->forks, forks);
    return DF_OK;
}

static void leave(struct df_session *s)
{
    dfr_host_leave(&s->host);
    atomic_store_explicit(&s->busy, false, memory_order_release);
}

struct running {
    struct df_session *session;
    void (*ended)(void *arg);
    void *arg;
};

/* A kernel has ended the thread of the call. */
static void leave_ended(void *running)
{
    struct running *r = running;

    leave(r->session);
    if (r->ended)
        r->ended(r->arg);
}

int dfr_session_run(struct df_session *session, const struct df_session_call *c, void (*ended)(void *arg), void *arg, struct df_error *error)
{
    struct running running = { session, ended, arg };
    int status = enter(session, "another thread is in a call of this session: each thread opens its own", error);

    if (status != DF_OK)
        return status;
    pthread_cleanup_push(leave_ended, &running);
    status = call(session, c, error);
    pthread_cleanup_pop(0);
    leave(session);
    return status;
}

int df_session_run(struct df_session *session, const struct df_session_call *c, struct df_error *error)
{
    return dfr_session_run(session, c, NULL, NULL, error);
}

int df_session_close(struct df_session *session, struct df_stats *stats, struct df_error *error)
{
    struct dfr_host host;
    int status;

    if (!session)
        return DF_OK;
    status = enter(session, "a thread is in a call of this session", error);
    if (status != DF_OK)
        return status;
    if (stats)
        memset(stats, 0, sizeof *stats);
    if (session->run)
        status = end_run(session, stats, error);
    host = session->host;
    session_free(session);
    dfr_host_leave(&host);
    return status;
}
