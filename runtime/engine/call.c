/* call.c - the functions of df.h that a kernel may call with its df_call: df_fail(), df_wave(), df_threads(), df_pieces(), df_part(), df_part_row(), df_log(),
 * df_open(), df_opened(), df_cublas() and df_cublas_function(). The engine, the workers of GPUs and back ends call the rest of it, to record a job's failure
 * and extents, and to close what kernels opened. */
#include "runtime/engine/call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/message.h"
#include "runtime/engine/buffers.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/log.h"
#include "runtime/engine/ports.h"

int df_fail(struct df_call *call, const char *format, ...)
{
    va_list list;
    if (call->failed)
        return DF_FAILED;               /* the first reason is the one that is reported */
    call->fail_errno = errno;
    va_start(list, format);
    dfr_message_text(call->message, sizeof call->message, format, list);
    va_end(list);
    call->failed = true;
    return DF_FAILED;
}

void dfr_call_failed(struct df_call *call, const char *message)
{
    df_fail(call, "%s", message);
}

/* What this kernel launches belongs to this wave alone: a recording of it is not replayed for another wave. */
static void varies(const struct df_call *call)
{
    ((struct df_call *)call)->varies = true; /* every call is one of ours, and no constant */
}

int64_t df_wave(const struct df_call *call)
{
    varies(call);
    return call->run ? dfr_told_wave(call->run, call->job, call->wave) : call->wave;
}

unsigned df_threads(const struct df_call *call)
{
    return call->threads;
}

/* In programs with code in C++, which bring this function (compiler/emit/emit_catch.c), an exception fails the job. */
int df_catch(df_function *function, struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
    __attribute__((weak));

struct caught_pieces {
    df_piece *piece;
    void *arg;
    _Atomic bool failed;
    char message[sizeof ((struct df_call *)NULL)->message]; /* of the piece that failed first */
};

static int call_piece(struct df_call *call, void *pieces, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    const struct caught_pieces *p = pieces;
    (void)call, (void)ports, (void)scalars;
    p->piece(p->arg, *dims);
    return DF_OK;
}

static void catch_piece(void *arg, size_t i)
{
    struct caught_pieces *p = arg;
    struct df_call own = { .failed = false }; /* several pieces may fail at a time, and the job's call has one message */
    df_catch(call_piece, &own, p, &i, NULL, NULL);
    if (own.failed && !atomic_exchange(&p->failed, true))
        memcpy(p->message, own.message, sizeof p->message);
}

static void run_pieces(struct df_call *call, size_t n, df_piece *piece, void *arg)
{
    struct df_run *run = call->run;

    if (n > 1 && call->pieces && !dfr_pieces_runs(call->pieces))
        dfr_pieces_run(call->pieces, n, piece, arg, &run->threads.wakes[0], run->machine.n_cpu_workers - 1);
    else
        for (size_t i = 0; i < n; i++)
            piece(arg, i);
}

void df_pieces(struct df_call *call, size_t n, df_piece *piece, void *arg)
{
    struct caught_pieces caught = { .piece = piece, .arg = arg };

    if (!df_catch) {
        run_pieces(call, n, piece, arg);
        return;
    }
    run_pieces(call, n, catch_piece, &caught);
    if (atomic_load(&caught.failed))
        df_fail(call, "%s", caught.message);
}

static const struct df_node *node_of(const struct df_call *call)
{
    return &call->run->graph->nodes[dfr_job_node(call->job)];
}

/* The rows that a job of a node with all rows makes, as many as what it reads has in this wave. */
static uint64_t rows_of_wave(const struct df_call *call, const struct df_node *node, uint64_t planned)
{
    const struct df_graph *g = call->run->graph;
    const struct df_kport *port = &g->kports[g->kernels[node->kernel].first_port];
    uint32_t in = node->first_in;

    for (uint32_t i = 0; i < g->kernels[node->kernel].n_ports; i++)
        if (port[i].mode == DF_IN || port[i].mode == DF_INOUT) {
            if (port[i].split)
                return dfr_extents_of(call->run->extents, g->in_value[in], dfr_job_slot(call->job))[0];
            in++;
        }
    return planned;
}

struct df_part df_part(const struct df_call *call)
{
    const struct df_graph *g = call->run->graph;
    const struct df_node *node = node_of(call);
    const struct df_part_rows *p = node->part == DF_NONE ? NULL : &g->parts[node->part];
    struct df_part part = { 0 };

    if (call->step)
        return (struct df_part){ .first = call->first_row, .rows = call->n_rows ? call->n_rows : call->step->rows, .whole = call->step->rows };
    if (!p)
        return part;
    if (call->run->extents && dfr_extents_node_varies(call->run->extents, dfr_job_node(call->job))) {
        part.rows = part.whole = rows_of_wave(call, node, p->whole);
        return part;
    }
    part = (struct df_part){ .first = p->first, .rows = p->rows, .whole = p->whole };
    for (uint32_t i = 0; i < g->kernels[node->kernel].n_ports; i++) {
        uint64_t first = g->port_rows[p->first_port + i];
        uint64_t end = first + g->port_dims[((size_t)g->works[node->work].first_port + i) * DF_MAX_RANK];
        if (!(g->kports[g->kernels[node->kernel].first_port + i].split))
            continue;
        part.before = p->first > first + part.before ? p->first - first : part.before;
        part.behind = end > p->first + p->rows + part.behind ? end - p->first - p->rows : part.behind;
    }
    return part;
}

size_t df_part_row(const struct df_call *call, unsigned port)
{
    const struct df_node *node = node_of(call);
    if (call->step)
        return 0;
    return node->part == DF_NONE ? 0 : call->run->graph->port_rows[call->run->graph->parts[node->part].first_port + port];
}

void df_log(struct df_call *call, int level, const char *format, ...)
{
    char name[256], text[512];
    va_list list;

    varies(call);
    if (level > call->run->options.log_level)
        return;
    va_start(list, format);
    dfr_message_text(text, sizeof text, format, list);
    va_end(list);
    df_node_name(call->run->graph, dfr_job_node(call->job), name, sizeof name);
    dfr_log(call->run, level, "node '%s', wave %lld: %s", name, (long long)df_wave(call), text);
}

/* ---- extents that differ from wave to wave ---- */

/* Outputs with an extent of 0 are empty. DF_SKIP: all are. */
static int note_empty(struct df_call *call, uint64_t empty)
{
    struct df_run *run = call->run;
    uint32_t node = dfr_job_node(call->job), n_out = df_node_n_out(run->graph, node);

    if (empty == 0 || !run->skips.empty)    /* no empty tokens are kept where jobs are measured by themselves */
        return DF_OK;
    for (uint32_t y = 0; y < n_out && y < 64; y++)
        if (empty >> y & 1)
            dfr_skips_set_one(&run->skips, dfr_job_slot(call->job), run->graph->nodes[node].first_out + y, DFR_ZEROS);
    return (uint32_t)__builtin_popcountll(empty) == n_out ? DF_SKIP : DF_OK;
}

/* What fires once makes its tokens for all waves, so they cannot be empty. */
static int fail_once(struct df_call *call)
{
    bool final = df_node_is_final(call->run->graph, dfr_job_node(call->job));
    return df_fail(call, "an extent of its outputs is 0, but it fires once, %s, and 1 is the least",
                   final ? "after the last wave" : "for all waves");
}

int dfr_call_bounded(struct df_call *call, df_function *variant, uint32_t passed, void *stream, const size_t *dims,
                     void *const *ports, const union df_scalar *scalars)
{
    struct dfr_extents *x = call->run->extents;
    const struct df_graph *g = call->run->graph;
    uint32_t node = dfr_job_node(call->job), slot = dfr_job_slot(call->job);
    size_t own[g->kernels[g->nodes[node].kernel].n_dims + 1u];
    char why[DFR_EXTENTS_WHY];
    uint64_t empty;
    int code;

    if (!dfr_extents_node_varies(x, node))
        return variant(call, stream, dims, ports, scalars);
    call->varies = true;
    code = dfr_extents_bind(x, node, slot, passed, own, why);
    if (code == DF_FAILED)
        return df_fail(call, "%s", why);
    if (code == DF_SKIP && dfr_is_once(call->run, node))
        return fail_once(call);
    if (code == DF_SKIP) {
        note_empty(call, dfr_extents_zeros(x, node, slot));
        return DF_SKIP;
    }
    if (code == DF_OK)
        code = variant(call, stream, own, ports, scalars);
    if (code != DF_OK || call->failed)
        return code;
    if (dfr_extents_made(x, node, slot, passed, own, &empty, why) != DF_OK)
        return df_fail(call, "%s", why);
    dfr_buffers_extents(call->run, call->job, call->wave);
    code = note_empty(call, empty);
    return code == DF_SKIP && dfr_is_once(call->run, node) ? fail_once(call) : code;
}

/* Notes the outputs of a spared node that the caller says are empty. DF_SKIP: all are. */
static int note_given_empty(struct df_call *call)
{
    struct df_run *run = call->run;
    uint32_t node = dfr_job_node(call->job), first = run->graph->nodes[node].first_out, n_empty = 0;
    uint32_t end = first + df_node_n_out(run->graph, node);

    for (uint32_t y = first; y < end; y++)
        n_empty += dfr_buffers_given_empty(run, call->job, y, call->wave);
    if (dfr_skips_any(&run->skips))     /* they may be empty in the slot's wave before, or in a round without a wave (skips.h) */
        dfr_skips_set(&run->skips, dfr_job_slot(call->job), node, false);
    if (n_empty > 0 && n_empty == end - first)
        return DF_SKIP;
    for (uint32_t y = first; y < end && n_empty > 0; y++)
        if (dfr_buffers_given_empty(run, call->job, y, call->wave))
            dfr_make_one_empty(run, call->job, y);
    return DF_OK;
}

int dfr_call_given(struct df_call *call)
{
    struct dfr_extents *x = call->run->extents;
    const struct df_graph *g = call->run->graph;
    uint32_t node = dfr_job_node(call->job), slot = dfr_job_slot(call->job);
    size_t own[g->kernels[g->nodes[node].kernel].n_dims + 1u];
    char why[DFR_EXTENTS_WHY];
    uint64_t empty;

    if (dfr_skips_leaves_out(&call->run->skips, slot, node) || note_given_empty(call) == DF_SKIP)
        return DF_SKIP;                 /* a round without a wave has no place in the caller's arrays */
    if (!x || !dfr_extents_node_varies(x, node))
        return DF_OK;
    if (dfr_extents_bind(x, node, slot, 0, own, why) != DF_OK)
        return df_fail(call, "%s", why);
    dfr_buffers_given_extents(call->run, call->job, call->wave, own);
    return dfr_extents_made(x, node, slot, 0, own, &empty, why) == DF_OK ? note_empty(call, empty) : df_fail(call, "%s", why);
}

/* ---- what kernels keep open ---- */

struct dfr_open {                       /* for one work */
    bool open;
    uint32_t changes;                   /* calls.scalar_changes when the scalars were last seen to be these */
    void *state;
    df_close_function *close;
    union df_scalar *scalars;           /* that it was opened for; texts are copies */
};

struct scalars {                        /* of the work at hand */
    uint32_t n;
    const struct df_kscalar *types;
    const union df_scalar *values;
};

static uint32_t work_of(const struct df_call *call)
{
    return call->run->graph->nodes[dfr_job_node(call->job)].work;
}

static struct scalars scalars_of(const struct df_call *call)
{
    const struct df_graph *g = call->run->graph;
    const struct df_work *work = &g->works[work_of(call)];
    const struct df_kernel *kernel = &g->kernels[work->kernel];
    return (struct scalars){ kernel->n_scalars, g->kscalars + kernel->first_scalar,
                             call->run->memory.scalars + work->first_scalar };
}

static bool same_scalars(const struct scalars *s, const union df_scalar *kept)
{
    for (uint32_t i = 0; i < s->n; i++) {
        size_t bytes = s->types[i].type == DF_S_I32 || s->types[i].type == DF_S_F32 ? 4 : 8;
        bool text = s->types[i].type == DF_S_STR;
        if (text ? strcmp(s->values[i].str, kept[i].str) != 0 : memcmp(&s->values[i], &kept[i], bytes) != 0)
            return false;
    }
    return true;
}

static void free_scalars(const struct df_kscalar *types, uint32_t n, union df_scalar *kept)
{
    for (uint32_t i = 0; kept && i < n; i++)
        if (types[i].type == DF_S_STR)
            free((char *)kept[i].str);
    free(kept);
}

/* NULL: no memory. */
static union df_scalar *copy_scalars(const struct scalars *s)
{
    union df_scalar *copy = calloc((size_t)s->n + 1, sizeof *copy);
    bool good = copy;

    for (uint32_t i = 0; good && i < s->n; i++) {
        if (s->types[i].type == DF_S_STR)
            good = (copy[i].str = strdup(s->values[i].str)) != NULL;
        else
            copy[i] = s->values[i];
    }
    if (!good)
        free_scalars(s->types, s->n, copy);
    return good ? copy : NULL;
}

/* Is it open, and for these scalars? Only a session changes them, between two calls. */
static bool is_open(const struct df_call *call, struct dfr_open *o)
{
    struct scalars s;

    if (!o->open || o->changes == call->run->calls.scalar_changes)
        return o->open;
    s = scalars_of(call);
    if (!same_scalars(&s, o->scalars))
        return false;
    o->changes = call->run->calls.scalar_changes;
    return true;
}

static void close_one(const struct df_graph *g, uint32_t work, struct dfr_open *o)
{
    const struct df_kernel *kernel = &g->kernels[g->works[work].kernel];

    if (o->open && o->close)
        o->close(o->state);
    free_scalars(g->kscalars + kernel->first_scalar, kernel->n_scalars, o->scalars);
    *o = (struct dfr_open){ .open = false };
}

/* A launch may be about to be recorded. That forbids much of what `open` may do, so it has to wait: the launch
 * is not recorded, because the call varies, and comes again in earnest. */
static bool must_wait(const struct df_call *call)
{
    return call->recorded && call->device && call->device->ops->results_at_once;
}

static int open_now(struct df_call *call, df_open_function *open, df_close_function *close, struct dfr_open *o)
{
    const struct df_graph *g = call->run->graph;
    const struct scalars s = scalars_of(call);
    void *state = NULL;
    int code;

    o->scalars = copy_scalars(&s);
    if (!o->scalars)
        return df_fail(call, "out of memory for what kernels keep open");
    code = open(call, (const size_t *)(g->dims + g->works[work_of(call)].first_dim), s.values, &state);
    if (code != DF_OK && !call->failed)
        df_fail(call, "its open function gave %d", code);
    o->state = state;
    o->close = close;
    o->changes = call->run->calls.scalar_changes;
    o->open = !call->failed;
    return call->failed ? DF_FAILED : DF_OK;
}

int df_open(struct df_call *call, df_open_function *open, df_close_function *close)
{
    const struct df_graph *g = call->run->graph;
    struct dfr_opened *opened = call->opened;
    uint32_t work = work_of(call);

    varies(call);
    if (opened->of_work && is_open(call, &opened->of_work[work]))
        return DF_OK;
    if (must_wait(call))
        return DF_FAILED;
    if (!opened->of_work)
        opened->of_work = calloc(g->n_works, sizeof *opened->of_work);
    if (!opened->of_work)
        return df_fail(call, "out of memory for what kernels keep open");
    close_one(g, work, &opened->of_work[work]);
    return open_now(call, open, close, &opened->of_work[work]);
}

void *df_opened(struct df_call *call)
{
    varies(call);
    return call->opened->of_work ? call->opened->of_work[work_of(call)].state : NULL;
}

void dfr_opened_close(struct dfr_opened *opened, const struct df_graph *graph)
{
    for (uint32_t k = 0; opened->of_work && k < graph->n_works; k++)
        close_one(graph, k, &opened->of_work[k]);
    free(opened->of_work);
    opened->of_work = NULL;
}

struct cublasContext *df_cublas(struct df_call *call)
{
    struct df_error error = { "" };
    void *handle;

    varies(call);                       /* cuBLAS allocates when it likes, which a recording forbids */
    if (!call->device) {
        df_fail(call, "df_cublas() is for gpu variants: this job runs on the CPU");
        return NULL;
    }
    handle = call->device->ops->blas(call->device, call->stream, &error);
    if (!handle)
        df_fail(call, "%s", error.text[0] ? error.text : "there is no cuBLAS");
    return handle;
}

void *df_cublas_function(struct df_call *call, const char *name)
{
    const struct dfr_device_ops *ops = call->device ? call->device->ops : NULL;
    return ops && ops->blas_function ? ops->blas_function(call->device, name) : NULL;
}
