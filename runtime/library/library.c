/* library.c - the public calls of a generated library (df_library_… of df.h): opens, runs, stops, queries and closes a session. The functions that dfc prints
 * into the library (compiler/emit/emit_library.c) call these for its user. Here it is checked who may call, and whether the arguments are valid. library.h
 * lists the other files.
 *
 * Closed:   the memory of a closed handle is kept until CLOSED_KEPT others have been closed, so that a call with a
 *           closed handle fails with an error as long as that can be detected.
 */
#include "runtime/library/library.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/process_lock.h"
#include "runtime/engine/crash.h"
#include "runtime/program/run_report.h"
#include "runtime/start/session.h"
#include "runtime/threads/host.h"

enum { FREE, BUSY, CLOSED };            /* of a handle */
enum { CLOSED_KEPT = 16 };

struct df_library_session {             /* the handle */
    _Atomic int state;
    struct dfr_library library;
    _Atomic unsigned forks;             /* dfr_forks() at the last call */
    _Atomic(struct df_session *) running; /* of the call that is going on; NULL: none */
    _Atomic unsigned n_lookers;         /* threads that may use it */
};

static _Thread_local struct df_error said;

const char *df_library_error(void)
{
    return said.text;
}

/* ---- handles ---- */

DFR_PROCESS_LOCK(lock);
static struct df_library_session *closed[CLOSED_KEPT]; /* in turn */
static unsigned n_closed;

static void keep_closed(struct df_library_session *session)
{
    pthread_mutex_lock(&lock);
    struct df_library_session *oldest = closed[n_closed];
    closed[n_closed] = session;
    n_closed = (n_closed + 1) % CLOSED_KEPT;
    pthread_mutex_unlock(&lock);
    free(oldest);
}

__attribute__((destructor)) static void free_closed(void)
{
    for (unsigned i = 0; i < CLOSED_KEPT; i++) {
        free(closed[i]);
        closed[i] = NULL;
    }
}

static void leave(void *handle)
{
    struct df_library_session *session = handle;
    atomic_store_explicit(&session->state, FREE, memory_order_release);
}

/* The threads of these sessions are the parent's. Calls of this process open others. */
static void begin_in_child(struct df_library_session *session)
{
    atomic_store(&session->running, NULL);
    atomic_store(&session->n_lookers, 0);
    for (unsigned i = 0; i < DF_LIBRARY_SIZES; i++)
        dfr_sized_end(&session->library.sizes[i], NULL);
    atomic_store(&session->forks, dfr_forks());
}

/* Begins a call. Nothing of a handle but its state may be read before. */
static int enter(struct df_library_session *session, const struct df_library_function *f)
{
    int state = FREE;
    if (!session)
        return dfr_error(&said, DF_E_ARGUMENT, "%s: the session is NULL", f->name);
    if (!atomic_compare_exchange_strong_explicit(&session->state, &state, BUSY, memory_order_acquire,
                                                 memory_order_relaxed))
        return dfr_error(&said, DF_E_ARGUMENT, state == CLOSED
                         ? "%s: the session is closed"
                         : atomic_load(&session->forks) == dfr_forks()
                         ? "%s: another thread is in a call of this session: each thread opens its own"
                         : "%s: a thread was in a call of this session when this process was forked, and is not in this process: open another "
                           "session", f->name);
    if (atomic_load_explicit(&session->forks, memory_order_relaxed) != dfr_forks())
        begin_in_child(session);
    const struct df_library_function *own = session->library.function;
    if (own == f)
        return DF_OK;
    leave(session);
    return dfr_error(&said, DF_E_ARGUMENT, "%s: the session was opened for '%s'", f->name, own->name);
}

/* ---- from other threads ---- */

/* After this no other thread uses the session of these sizes. */
static void end_looks(struct df_library_session *handle)
{
    atomic_store(&handle->running, NULL);
    while (atomic_load(&handle->n_lookers) > 0)
        sched_yield();
}

/* The session whose call is going on in this process. It stays until n_lookers is less again. NULL: none. */
static struct df_session *look(struct df_library_session *handle)
{
    atomic_fetch_add(&handle->n_lookers, 1); /* before `running` is read: end_looks() waits for it */
    return atomic_load(&handle->forks) == dfr_forks() ? atomic_load(&handle->running) : NULL;
}

void df_library_stop(struct df_library_session *handle)
{
    struct df_session *session;
    if (!handle)
        return;
    session = look(handle);
    if (session)
        df_session_stop(session);
    atomic_fetch_sub(&handle->n_lookers, 1);
}

int64_t df_library_progress(struct df_library_session *handle)
{
    struct df_session *session;
    if (!handle)
        return -1;
    session = look(handle);
    int64_t waves = session ? df_session_progress(session) : -1;
    atomic_fetch_sub(&handle->n_lookers, 1);
    return waves;
}

/* ---- open and close ---- */

static void library_free(struct dfr_library *l)
{
    for (unsigned i = 0; i < DF_LIBRARY_SIZES; i++)
        dfr_sized_close(&l->sizes[i]);
    dfr_library_options_free(l);
    dfr_plan_free(l->image.plan);
    df_graph_free(l->image.graph);
    free(l->stats);
    *l = (struct dfr_library){ 0 };
}

struct opening {
    struct dfr_library *library;
    const char *options;
    struct df_error why;
    int rc;
};

static void open_library(void *opening)
{
    struct opening *o = opening;
    struct dfr_library *l = o->library;
    o->rc = dfr_image_open(l->program.image, l->program.image_bytes, l->program.functions, l->program.n_functions, &l->image, &o->why);
    if (o->rc == DF_OK)
        o->rc = dfr_library_options(l, o->options, &o->why);
    if (o->rc != DF_OK)
        library_free(l);
}

int df_library_open(const struct df_program *program, const struct df_library_function *f, const char *options,
                    struct df_library_session **session)
{
    if (!session)
        return dfr_error(&said, DF_E_ARGUMENT, "%s: there is no place to put the session: it is NULL", f->name);
    struct df_library_session *made = calloc(1, sizeof *made);
    if (!made)
        return dfr_error_memory(&said);
    made->library.program = *program;
    made->library.function = f;
    atomic_init(&made->forks, dfr_forks());
    struct opening opening = { .library = &made->library, .options = options };
    dfr_on_own_stack(open_library, &opening);
    if (opening.rc != DF_OK) {
        free(made);
        return dfr_error(&said, opening.rc, "%s: %s", f->name, opening.why.text);
    }
    dfr_crash_guest(true);
    *session = made;
    return DF_OK;
}

int df_library_close(struct df_library_session *session, const struct df_library_function *f)
{
    int rc = session ? enter(session, f) : DF_OK;
    if (!session || rc != DF_OK)
        return rc;
    end_looks(session);
    library_free(&session->library);
    dfr_crash_guest(false);
    atomic_store_explicit(&session->state, CLOSED, memory_order_release);
    keep_closed(session);
    return DF_OK;
}

/* ---- what a call brings ---- */

static int check_dims(const struct df_library_function *f, const size_t *dims)
{
    for (unsigned i = 0; i < f->n_dims; i++) {
        if (dims[i] == 0)
            return dfr_error(&said, DF_E_ARGUMENT, "%s: %s is 0: a dimension is at least 1", f->name, f->dims[i]);
        if (dims[i] > INT64_MAX)
            return dfr_error(&said, DF_E_ARGUMENT, "%s: %s is %zu: it does not fit in 63 bits", f->name, f->dims[i],
                             dims[i]);
    }
    return DF_OK;
}

/* Each extent with a bound, in each wave. */
static int check_given(const struct df_library_function *f, int64_t waves, const size_t *const *given)
{
    for (unsigned i = 0; i < f->n_bounds; i++) {
        const struct df_library_bound *bound = &f->bounds[i];
        if (!given[i])
            return dfr_error(&said, DF_E_ARGUMENT, "%s: the extents %s of the waves are NULL", f->name, bound->name);
        for (int64_t w = 0; w < waves; w++) {
            char wave[32] = "";
            if (given[i][w] >= 1 && given[i][w] <= bound->most)
                continue;
            if (waves > 1)
                snprintf(wave, sizeof wave, " in wave %lld", (long long)w);
            return dfr_error(&said, DF_E_ARGUMENT, "%s: %s is %zu%s, and it may be from 1 to %llu", f->name, bound->name,
                             given[i][w], wave, (unsigned long long)bound->most);
        }
    }
    return DF_OK;
}

/* Extent i of port p in that wave. */
static size_t extent_of(const struct df_library_function *f, const struct dfr_sized *s, unsigned p, unsigned i, int64_t wave,
                        const size_t *const *given)
{
    const unsigned bound = f->ports[p].bound[i];
    return bound ? given[bound - 1][wave] : (size_t)s->made.ports[p].dims[i];
}

/* The bytes of all tokens of a port. Of those that are given, the last one ends where its own extents end. */
static uint64_t span_of(const struct df_library_function *f, const struct dfr_sized *s, unsigned port, int64_t waves,
                        const size_t *const *given)
{
    const bool is_given = f->ports[port].varies && f->ports[port].mode == DF_IN;
    uint64_t bytes, n = f->ports[port].final ? 1 : (uint64_t)waves, last = df_elem_bytes(f->ports[port].elem);
    for (unsigned i = 0; i < DF_MAX_RANK && is_given; i++)
        last *= extent_of(f, s, port, i, waves - 1, given);
    if (!is_given)
        last = s->made.ports[port].bytes;
    return __builtin_mul_overflow(s->made.ports[port].bytes, n - 1, &bytes) ||
           __builtin_add_overflow(bytes, last, &bytes) ? UINT64_MAX : bytes;
}

static int check_apart(const struct df_library_function *f, const struct dfr_sized *s, int64_t waves,
                       void *const *data, const size_t *const *given, unsigned p)
{
    uintptr_t at = (uintptr_t)data[p];
    uint64_t span = span_of(f, s, p, waves, given);
    for (unsigned q = 0; q < p; q++) {
        uintptr_t other = (uintptr_t)data[q];
        bool apart = at < other ? other - at >= span : at - other >= span_of(f, s, q, waves, given);
        if (!apart && (f->ports[p].mode != DF_IN || f->ports[q].mode != DF_IN))
            return dfr_error(&said, DF_E_ARGUMENT, "%s: '%s' and '%s' have bytes in common", f->name, f->ports[q].name,
                             f->ports[p].name);
    }
    return DF_OK;
}

static int check_data(const struct df_library_function *f, const struct dfr_sized *s, int64_t waves,
                      void *const *data, const size_t *const *given)
{
    int rc = DF_OK;
    for (unsigned p = 0; p < f->n_ports && rc == DF_OK; p++) {
        size_t elem_bytes = df_elem_bytes(f->ports[p].elem);
        uint64_t span = span_of(f, s, p, waves, given);
        if ((uintptr_t)data[p] % elem_bytes)
            return dfr_error(&said, DF_E_ARGUMENT, "%s: '%s' is at %p, and its elements of %zu bytes begin at multiples "
                             "of that", f->name, f->ports[p].name, data[p], elem_bytes);
        if (span > (uint64_t)INT64_MAX || span > UINTPTR_MAX - (uintptr_t)data[p])
            return dfr_error(&said, DF_E_ARGUMENT, "%s: %lld tokens of %llu bytes in '%s' are more than there are "
                             "addresses", f->name, (long long)waves, (unsigned long long)s->made.ports[p].bytes,
                             f->ports[p].name);
        rc = check_apart(f, s, waves, data, given, p);
    }
    return rc;
}

static int check_call(const struct df_library_function *f, int64_t waves, void *const *data, const size_t *dims)
{
    if (waves < 1)
        return dfr_error(&said, DF_E_ARGUMENT, "%s: a call of %lld waves: it is at least 1", f->name,
                         (long long)waves);
    for (unsigned p = 0; p < f->n_ports; p++)
        if (!data[p])
            return dfr_error(&said, DF_E_ARGUMENT, "%s: '%s' is NULL", f->name, f->ports[p].name);
    return check_dims(f, dims);
}

/* Notes the scalars. true: some differ from those of the call before. A text counts as another each time. */
static bool take_scalars(const struct df_library_function *f, union df_scalar *args, const union df_scalar *scalars)
{
    bool changed = false;
    for (unsigned i = 0; i < f->n_scalars; i++) {
        bool wide = f->scalars[i] == DF_S_I64 || f->scalars[i] == DF_S_F64;
        size_t n = f->scalars[i] == DF_S_STR ? sizeof(const char *) : wide ? 8 : 4;
        changed |= f->scalars[i] == DF_S_STR || memcmp(&args[i], &scalars[i], n) != 0;
        memcpy(&args[i], &scalars[i], n);
    }
    return changed;
}

static int check_scalars(const struct df_library_function *f, const union df_scalar *scalars)
{
    for (unsigned i = 0; i < f->n_scalars; i++)
        if (f->scalars[i] == DF_S_STR && !scalars[i].str)
            return dfr_error(&said, DF_E_ARGUMENT, "%s: scalar number %u, a text, is NULL", f->name, i + 1);
    return DF_OK;
}

/* ---- calls ---- */

/* "edges(h = 480, w = 640)" */
static void print_sizes(const struct df_library_function *f, const size_t *dims, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "%s(", f->name);
    for (unsigned i = 0; i < f->n_dims && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%s = %zu", i ? ", " : "", f->dims[i], dims[i]);
    if (n < size)
        snprintf(text + n, size - n, ")");
}

static int find_sized(struct dfr_library *l, const size_t *dims, bool many, struct dfr_sized **sized)
{
    struct df_error why = { "" };
    char sizes[200];
    int rc = dfr_sized_get(l, dims, many, sized, &why);
    if (rc == DF_OK)
        return DF_OK;
    print_sizes(l->function, dims, sizes, sizeof sizes);
    return dfr_error(&said, rc, "%s: %s", sizes, why.text);
}

/* Says how large each token of the inputs is. */
static void say_given(const struct df_library_function *f, const struct dfr_sized *s, int64_t waves,
                      const size_t *const *given)
{
    for (unsigned p = 0; p < f->n_ports; p++)
        for (int64_t k = 0; s->extents[p] && f->ports[p].mode == DF_IN && k < waves * DF_MAX_RANK; k++)
            s->extents[p][k] = extent_of(f, s, p, k % DF_MAX_RANK, k / DF_MAX_RANK, given);
}

static int run(struct df_library_session *handle, int64_t waves, void *const *data, const size_t *dims,
               const size_t *const *given, const union df_scalar *scalars)
{
    struct dfr_library *l = &handle->library;
    const struct df_library_function *f = l->function;
    struct df_error why = { "" };
    struct dfr_sized *s;
    end_looks(handle);                  /* a kernel may have ended the thread of the call before */
    int rc = check_call(f, waves, data, dims);
    if (rc == DF_OK)
        rc = check_given(f, waves, given);
    if (rc == DF_OK)
        rc = check_scalars(f, scalars);
    if (rc == DF_OK)
        rc = find_sized(l, dims, waves > 1, &s);
    if (rc == DF_OK)
        rc = check_data(f, s, waves, data, given);
    if (rc != DF_OK)
        return rc;
    l->last = s;
    if (take_scalars(f, s->args + l->image.graph->n_args, scalars))
        s->has_args = false;
    rc = s->session ? DF_OK : dfr_sized_open(l, s, &why);
    if (rc == DF_OK)
        rc = dfr_sized_waves(l, s, waves, &why);
    if (rc == DF_OK) {
        say_given(f, s, waves, given);
        const struct df_session_call call = { .waves = waves, .data = data, .empty = s->empty,
                                              .extents = s->extents,
                                              .args = s->has_args ? NULL : s->args };
        atomic_store(&handle->running, s->session);
        rc = dfr_session_run(s->session, &call, leave, handle, &why);
        end_looks(handle);
        s->has_args = rc == DF_OK;
    }
    return rc == DF_OK ? DF_OK : dfr_error(&said, rc, "%s: %s", f->name, why.text);
}

int df_library_run(struct df_library_session *session, const struct df_library_function *f, int64_t waves,
                   void *const *data, const size_t *dims, const size_t *const *given, const union df_scalar *scalars)
{
    int rc = enter(session, f);
    if (rc != DF_OK)
        return rc;
    rc = run(session, waves, data, dims, given, scalars);
    leave(session);
    return rc;
}

const unsigned char *df_library_empty(struct df_library_session *session, const struct df_library_function *f,
                                      unsigned port)
{
    const struct dfr_sized *s;
    const unsigned char *empty = NULL;
    if (enter(session, f) != DF_OK)
        return NULL;
    s = session->library.last;
    if (s && s->waves > 0 && port < f->n_ports && f->ports[port].mode == DF_OUT && memchr(s->empty[port], 1, (size_t)s->waves))
        empty = s->empty[port];
    leave(session);
    return empty;
}

const size_t *df_library_extents(struct df_library_session *session, const struct df_library_function *f, unsigned port)
{
    if (enter(session, f) != DF_OK)
        return NULL;
    const struct dfr_sized *s = session->library.last;
    const size_t *extents = s && s->waves > 0 && port < f->n_ports ? s->extents[port] : NULL;
    leave(session);
    return extents;
}

int df_library_shape(struct df_library_session *session, const struct df_library_function *f, const size_t *dims,
                     unsigned port, size_t extents[DF_MAX_RANK])
{
    struct dfr_sized *s;
    int rc = enter(session, f);
    if (rc != DF_OK)
        return rc;
    if (port >= f->n_ports)
        rc = dfr_error(&said, DF_E_ARGUMENT, "%s: there is no port %u: it has %u", f->name, port, f->n_ports);
    else if (!extents)
        rc = dfr_error(&said, DF_E_ARGUMENT, "%s: there is no place to put the extents: it is NULL", f->name);
    if (rc == DF_OK)
        rc = check_dims(f, dims);
    if (rc == DF_OK)
        rc = find_sized(&session->library, dims, false, &s);
    for (unsigned i = 0; rc == DF_OK && i < DF_MAX_RANK; i++)
        extents[i] = (size_t)s->made.ports[port].dims[i];
    leave(session);
    return rc;
}

/* ---- statistics ---- */

/* Ends the session, which says then what it did. */
static int make_stats(struct dfr_library *l)
{
    struct dfr_sized *s = l->last;
    struct df_stats *stats = calloc(1, sizeof *stats);
    struct dfr_host host;
    size_t size;
    free(l->stats);
    l->stats = NULL;
    FILE *out = stats ? open_memstream(&l->stats, &size) : NULL;
    int rc = out ? DF_OK : dfr_error_memory(&said);
    if (out) {
        dfr_sized_end(s, stats);
        dfr_host_enter(&host);
        dfr_report_json(stats, s->made.graph, s->node_stats, s->node_skips, out);
        dfr_host_leave(&host);
        if (s->node_skips)
            memset(s->node_skips, 0, s->made.graph->n_nodes * sizeof *s->node_skips);
        if (s->node_stats)
            memset(s->node_stats, 0, s->made.graph->n_nodes * sizeof *s->node_stats);
        rc = fclose(out) == 0 ? DF_OK : dfr_error_memory(&said);
    }
    free(stats);
    return rc;
}

const char *df_library_stats(struct df_library_session *session, const struct df_library_function *f)
{
    int rc = enter(session, f);
    if (rc != DF_OK)
        return NULL;
    struct dfr_library *l = &session->library;
    if (l->last && l->last->session)
        rc = make_stats(l);
    else
        rc = dfr_error(&said, DF_E_ARGUMENT, "%s: there was no call of which something could be said", f->name);
    const char *stats = rc == DF_OK ? l->stats : NULL;
    leave(session);
    return stats;
}
