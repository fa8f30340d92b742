/* share_run.c - runs a share (share_run.h). */
#include "runtime/shares/share_run.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/engine/engine.h"
#include "runtime/start/run_impl.h"
#include "runtime/threads/clock.h"
#include "runtime/threads/host.h"

#define LINE 64u
#define NAME_BYTES 512
#define LOOK_S 0.05                     /* that time is up, or that it is cut, is noticed after that */

struct dfr_share_run {
    const struct dfr_shared *shared;
    struct dfr_cut cut;
    struct df_buffer *buffers;          /* n_buffers of them */
    char (*names)[NAME_BYTES];
    void **memory;                      /* of each buffer */
    size_t (*extents)[DF_MAX_RANK];
    uint32_t *value;                    /* of the whole graph; of each buffer */
    uint32_t n_buffers;
    void (*tell)(void *arg);
    void *tell_arg;
    struct dfr_share_work work;
    const void **accs;                  /* by value of the share's graph; NULL there: as declared */
    struct df_node_stats *nodes;        /* of the share's graph; NULL: as of `work` */
    struct df_node_skips *skips;
    struct df_run *run;                 /* NULL: it has finished, or did not start */
    pthread_t thread;                   /* it feeds the run, or waits for its end */
    int64_t most, fed;                  /* waves that are fed at most; the thread's: that were */
    bool whole;                         /* the thread's: it has fed all waves that are wanted */
    _Atomic bool is_cut, ended;
    struct dfr_share_end end;           /* after the end */
};

/* ---- memory ---- */

static const struct dfr_value *find_value(const struct dfr_value *values, uint32_t n, uint32_t port)
{
    for (uint32_t i = 0; i < n; i++)
        if (values[i].port == port)
            return &values[i];
    return NULL;
}

/* Puts what came from the first rank into the memory of the buffer. */
static int put_once(struct dfr_share_run *r, struct df_buffer *buffer, const struct dfr_value *from, struct df_error *error)
{
    const uint32_t i = r->n_buffers;

    if (!from || from->empty || from->bytes > buffer->bytes || (from->bytes < buffer->bytes && from->n_extents == 0))
        return dfr_error(error, DF_E_FORMAT, "what came of node '%s' from another rank is no token of it", buffer->node);
    if (from->bytes > 0)
        memcpy(buffer->data, from->data, from->bytes);
    for (unsigned e = 0; e < DF_MAX_RANK; e++)
        r->extents[i][e] = e < from->n_extents ? (size_t)from->extents[e] : 1;
    buffer->extents = from->n_extents ? r->extents[i] : NULL;
    buffer->given = true;
    return DF_OK;
}

static int add_buffer(struct dfr_share_run *r, uint32_t x, bool given, const struct dfr_value *once, uint32_t n_once, struct df_error *error)
{
    const struct df_value *value = &r->cut.graph->values[x];
    const uint32_t i = r->n_buffers;
    struct df_buffer *buffer = &r->buffers[i];

    df_node_name(r->cut.graph, value->producer, r->names[i], NAME_BYTES);
    r->value[i] = r->cut.value[x];
    r->memory[i] = value->bytes > SIZE_MAX - 2 * LINE ? NULL : aligned_alloc(LINE, (value->bytes / LINE + 1) * LINE);
    *buffer = (struct df_buffer){ .node = r->names[i], .out_slot = value->slot, .data = r->memory[i], .bytes = value->bytes };
    if (!r->memory[i])
        return dfr_error_memory(error);
    int status = given ? put_once(r, buffer, find_value(once, n_once, r->value[i]), error) : DF_OK;
    r->n_buffers++;
    return status;
}

/* What the accs are before the first wave of this run. */
static int find_accs(struct dfr_share_run *r, struct df_error *error)
{
    for (uint32_t x = 0; x < r->cut.graph->n_values; x++) {
        const struct dfr_value *from = df_value_is_acc(r->cut.graph, x) ? find_value(r->work.accs, r->work.n_accs, r->cut.value[x]) : NULL;
        if (!df_value_is_acc(r->cut.graph, x))
            continue;
        if (!from || from->bytes != r->cut.graph->values[x].bytes)
            return dfr_error(error, DF_E_FORMAT, "what came of an acc from another rank is none");
        r->accs[x] = from->data;
    }
    return DF_OK;
}

static int make_buffers(struct dfr_share_run *r, const struct dfr_value *once, uint32_t n_once, struct df_error *error)
{
    const uint32_t n = r->cut.graph->n_values;
    int status = DF_OK;

    r->buffers = calloc(n + 1u, sizeof *r->buffers);
    r->names = calloc(n + 1u, sizeof *r->names);
    r->memory = calloc(n + 1u, sizeof *r->memory);
    r->extents = calloc(n + 1u, sizeof *r->extents);
    r->value = calloc(n + 1u, sizeof *r->value);
    r->accs = calloc(n + 1u, sizeof *r->accs);
    if (!r->buffers || !r->names || !r->memory || !r->extents || !r->value || !r->accs)
        return dfr_error_memory(error);
    for (uint32_t x = 0; x < n && status == DF_OK; x++) {
        bool given = dfr_cut_is_given(&r->cut, r->cut.graph->values[x].producer);
        if (given || df_value_is_acc(r->cut.graph, x))
            status = add_buffer(r, x, given, once, n_once, error);
    }
    return status == DF_OK && r->work.first_wave > 0 ? find_accs(r, error) : status;
}

/* ---- the run ---- */

/* Begins waves until there are no more, time is up, or it is cut. */
static void feed(struct dfr_share_run *r)
{
    const double until_s = dfr_clock_s() + r->work.seconds;
    int64_t wave;

    while (df_run_ended(r->run, LOOK_S, &wave) == DF_OK) {
        while (r->fed < r->most && df_run_feed(r->run, r->work.first_wave + r->fed) >= 0)
            r->fed++;
        r->whole = r->fed == r->most;
        if (r->whole || atomic_load(&r->is_cut) || (r->fed > 0 && r->work.seconds > 0 && dfr_clock_s() >= until_s)) {
            df_run_feed_end(r->run);
            return;
        }
    }
}

static void *wait_for_end(void *arg)
{
    struct dfr_share_run *r = arg;

    if (r->work.in_steps)
        feed(r);
    dfr_run_join(r->run);
    atomic_store_explicit(&r->ended, true, memory_order_release);
    if (r->tell)
        r->tell(r->tell_arg);
    return NULL;
}

static int start(struct dfr_share_run *r, const struct df_options *from, struct df_error *error)
{
    struct df_options options = *from;

    r->most = from->waves < 0 ? df_graph_has_streams(r->cut.graph) ? INT64_MAX : 1 : from->waves;
    r->most = r->most > r->work.first_wave ? r->most - r->work.first_wave : 0;
    if (r->work.in_steps) {
        options.feed = 1;
        options.waves = -1;
        options.accs = r->work.first_wave > 0 ? r->accs : NULL;
        options.accs_waves = r->work.first_wave;
    }
    r->tell = from->fed;
    r->tell_arg = from->fed_arg;
    options.fed = NULL;
    options.trace_path = NULL;          /* the events of all ranks are in one file */
    options.buffers = r->buffers;
    options.n_buffers = r->n_buffers;
    options.plan = NULL;                /* one that is there is of the whole graph */
    options.node_stats = r->nodes = r->work.nodes ? calloc(r->cut.graph->n_nodes + (size_t)1, sizeof *r->nodes) : NULL;
    options.node_skips = r->skips = r->work.skips ? calloc(r->cut.graph->n_nodes + (size_t)1, sizeof *r->skips) : NULL;
    if ((r->work.nodes && !r->nodes) || (r->work.skips && !r->skips))
        return dfr_error_memory(error);
    int status = df_run_start(r->cut.graph, &options, &r->run, error);
    if (status != DF_OK) {
        r->run = NULL;
        return status;
    }
    if (dfr_helper_create(&r->thread, wait_for_end, r) == 0)
        return DF_OK;
    df_run_stop(r->run);
    df_run_wait(r->run, NULL, NULL);
    r->run = NULL;
    return dfr_error(error, DF_E_MEMORY, "no thread can be made that waits for a share of the run");
}

int dfr_share_run_start(const struct dfr_shared *shared, const struct dfr_share_work *work, const struct df_options *options, const struct dfr_value *once,
                        uint32_t n_once, struct dfr_share_run **run, struct df_error *error)
{
    struct dfr_share_run *r = calloc(1, sizeof *r);

    if (!r)
        return dfr_error_memory(error);
    r->shared = shared;
    r->work = *work;
    int status = dfr_share_make(shared, work->first, work->end, &r->cut, error);
    if (status == DF_OK)
        status = make_buffers(r, once, n_once, error);
    if (status == DF_OK)
        status = start(r, options, error);
    if (status == DF_OK)
        *run = r;
    else
        dfr_share_run_close(r);
    return status;
}

void dfr_share_run_cut(struct dfr_share_run *r)
{
    atomic_store(&r->is_cut, true);
}

void dfr_share_run_abort(struct dfr_share_run *r)
{
    if (r->run)
        df_run_stop(r->run);
}

bool dfr_share_run_ended(const struct dfr_share_run *r, int64_t *waves)
{
    bool ended = atomic_load_explicit(&((struct dfr_share_run *)r)->ended, memory_order_acquire);

    *waves = r->run ? r->work.first_wave + atomic_load_explicit(&r->run->firing.waves_done, memory_order_relaxed) : r->end.waves;
    return ended;
}

/* What is given was made on another rank. */
static void add_counts(const struct dfr_share_run *r)
{
    for (uint32_t v = 0; v < r->cut.graph->n_nodes; v++) {
        const uint32_t node = r->cut.node[v];
        if (dfr_cut_is_given(&r->cut, v))
            continue;
        if (r->nodes) {
            r->work.nodes[node].host_jobs += r->nodes[v].host_jobs;
            r->work.nodes[node].device_jobs += r->nodes[v].device_jobs;
            r->work.nodes[node].host_s += r->nodes[v].host_s;
            r->work.nodes[node].device_s += r->nodes[v].device_s;
        }
        if (r->skips) {
            r->work.skips[node].skipped += r->skips[v].skipped;
            r->work.skips[node].left_out += r->skips[v].left_out;
        }
    }
}

int dfr_share_run_finish(struct dfr_share_run *r, struct dfr_value *values, uint32_t *n, struct df_stats *stats, struct df_error *error)
{
    struct df_stats own;
    struct df_run *run = r->run;

    pthread_join(r->thread, NULL);
    r->run = NULL;
    int status = df_run_wait(run, &own, error);
    r->end.waves = r->work.first_wave + (int64_t)own.waves;
    r->end.whole = !r->work.in_steps || r->whole || (int64_t)own.waves < r->fed;
    if (stats)
        *stats = own;
    if (status == DF_OK)
        add_counts(r);
    *n = 0;
    for (uint32_t i = 0; i < r->n_buffers && status == DF_OK; i++)
        if (!r->buffers[i].given)
            values[(*n)++] = (struct dfr_value){ .port = r->value[i], .data = r->memory[i], .bytes = r->buffers[i].bytes };
    if (status == DF_OK)
        values[(*n)++] = (struct dfr_value){ .port = r->shared->graph->n_values, .data = &r->end, .bytes = sizeof r->end };
    return status;
}

void dfr_share_run_close(struct dfr_share_run *r)
{
    if (!r)
        return;
    if (r->run) {
        df_run_stop(r->run);
        pthread_join(r->thread, NULL);
        df_run_wait(r->run, NULL, NULL);
    }
    for (uint32_t i = 0; r->memory && i < r->n_buffers; i++)
        free(r->memory[i]);
    dfr_cut_free(&r->cut);
    free(r->buffers);
    free(r->names);
    free(r->memory);
    free(r->extents);
    free(r->value);
    free(r->accs);
    free(r->nodes);
    free(r->skips);
    free(r);
}
