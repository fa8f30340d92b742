/* replica_parts.c - the side of a rank that has a share (replica_parts.h); ranks.c calls it on all ranks but the first. */
#include "runtime/ranks/replica_parts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/ranks/replica.h"
#include "runtime/threads/clock.h"
#include "runtime/threads/host.h"

#define LOOK_S 0.05                     /* that time is up, or that it is cut, is noticed after that */

struct other {
    struct dfr_replica replica;         /* BODY: the share */
    const struct dfr_shared *shared;
    struct dfr_message *message;        /* what it was given, which has the accs; NULL: it has no share */
    struct dfr_share_give give;
    struct dfr_head head;               /* of the result */
    struct dfr_parts parts;
    const void **accs;                  /* by value of the share's graph */
    int64_t most;                       /* in steps: waves of BODY at most */
    struct df_run *run;                 /* which is fed by `thread`; NULL: none is */
    pthread_t thread;
    int64_t begun;                      /* the thread's: waves that were */
    _Atomic bool is_cut;                /* it is to end */
    struct dfr_value *values;           /* room for the accs */
};

/* The run has ended, or is to be stopped. */
static void end_feeding(struct other *o)
{
    if (o->run)
        pthread_join(o->thread, NULL);
    o->run = NULL;
}

static void close_share(struct other *o)
{
    if (o->run)
        df_run_stop(o->run);
    end_feeding(o);
    dfr_replica_close(&o->replica);
    dfr_parts_free(&o->parts);
    dfr_message_drop(o->message);
    free(o->accs);
    o->message = NULL;
    o->accs = NULL;
}

static int begin(void *arg, const struct dfr_message *welcome, struct df_error *error)
{
    struct other *o = arg;
    close_share(o);
    return dfr_replica_welcome(&o->replica, welcome, error);
}

/* ---- a share begins ---- */

static int read_give(const struct other *o, const struct dfr_message *message, struct dfr_share_give *give, struct df_error *error)
{
    const struct dfr_value *last = message->n_values > 0 ? &message->values[message->n_values - 1] : NULL;

    if (!last || last->bytes != sizeof *give)
        return dfr_error(error, DF_E_FORMAT, "what came from rank 0 is no share of an acc");
    memcpy(give, last->data, sizeof *give);
    if (give->first >= give->end || give->end > o->shared->n_parts || give->first_wave < 0 || !(give->seconds >= 0))
        return dfr_error(error, DF_E_FORMAT, "rank 0 gave parts %u to %u of an acc, which has %u parts", give->first, give->end, o->shared->n_parts);
    return DF_OK;
}

/* What the accs are before the first wave of this share. */
static int find_accs(struct other *o, struct df_error *error)
{
    const struct dfr_cut *cut = &o->parts.cuts[DFR_BODY];
    const struct dfr_value *from = o->message->values, *end = from + o->message->n_values - 1;

    o->accs = calloc(cut->graph->n_values + 1u, sizeof *o->accs);
    if (!o->accs)
        return dfr_error_memory(error);
    for (uint32_t x = 0; x < cut->graph->n_values; x++) {
        if (!df_value_is_acc(cut->graph, x))
            continue;
        while (from < end && from->port < cut->value[x])
            from++;
        if (from == end || from->port != cut->value[x] || from->bytes != cut->graph->values[x].bytes)
            return dfr_error(error, DF_E_FORMAT, "what came of an acc from another rank is none");
        o->accs[x] = from->data;
    }
    return DF_OK;
}

/* In steps: begins waves until there are no more, time is up, or the share is cut. Then it waits for the end. A thread of its own, because waves may be as short as
 * a message takes.
 */
static void *feed(void *arg)
{
    struct other *o = arg;
    const double until_s = dfr_clock_s() + o->give.seconds;
    int64_t wave;
    bool over = false;

    while (df_run_ended(o->run, LOOK_S, &wave) == DF_OK) {
        while (!over && o->begun < o->most && df_run_feed(o->run, o->give.first_wave + o->begun) >= 0)
            o->begun++;
        if (!over && (o->begun == o->most || atomic_load(&o->is_cut) || (o->begun > 0 && o->give.seconds > 0 && dfr_clock_s() >= until_s))) {
            df_run_feed_end(o->run);
            over = true;
        }
    }
    dfr_comm_ring(o->replica.comm);
    return NULL;
}

static int begin_feeding(struct other *o, struct df_error *error)
{
    o->run = dfr_part_run(o->replica.body);
    o->begun = 0;
    atomic_store(&o->is_cut, false);
    if (dfr_helper_create(&o->thread, feed, o) == 0)
        return DF_OK;
    o->run = NULL;
    return dfr_error(error, DF_E_MEMORY, "no thread can be made that feeds a share of the run");
}

static int open_share(struct other *o, struct df_error *error)
{
    struct df_options *options = &o->replica.options;
    int status = dfr_share_make(o->shared, o->give.first, o->give.end, &o->parts, error);

    if (status == DF_OK && o->give.first_wave > 0)
        status = find_accs(o, error);
    if (status != DF_OK)
        return status;
    o->parts.by_itself = true;
    options->waves = o->give.in_steps ? -1 : o->give.waves;
    options->feed = o->give.in_steps != 0;
    options->fed = NULL;
    options->accs = o->accs;
    options->accs_waves = o->give.first_wave;
    o->most = o->give.waves < 0 ? df_graph_has_streams(o->parts.cuts[DFR_BODY].graph) ? INT64_MAX : 1 : o->give.waves;
    o->most = o->most > o->give.first_wave ? o->most - o->give.first_wave : 0;
    status = dfr_replica_open(&o->replica, &o->parts, error);
    return status == DF_OK && o->give.in_steps ? begin_feeding(o, error) : status;
}

/* A share whose stream ends writes its events at once, by rank 0's clock. */
static int start(void *arg, const struct dfr_message *message, const struct dfr_head *head, bool *started, struct df_error *error)
{
    struct other *o = arg;

    if (o->message || !dfr_replica_knows_clock(&o->replica))
        return DF_OK;
    int status = read_give(o, message, &o->give, error);
    if (status != DF_OK)
        return status;
    o->head = *head;
    o->message = dfr_message_hold((struct dfr_message *)message);
    *started = true;
    return open_share(o, error);
}

/* ---- its waves and its end ---- */

/* The accs, and how far they are. */
static int make_result(struct other *o, struct dfr_message **message, struct df_error *error)
{
    const int64_t waves = dfr_part_waves(o->replica.body);
    const struct dfr_share_end end = { o->give.first_wave + waves, !o->give.in_steps || o->begun == o->most || waves < o->begun };
    uint32_t n;
    int status = dfr_part_once(o->replica.body, o->values, &n, error);

    if (status != DF_OK)
        return status;
    o->values[n++] = (struct dfr_value){ .port = o->shared->graph->n_values, .data = &end, .bytes = sizeof end };
    *message = dfr_message_make(&o->head, o->values, n);
    return *message ? DF_OK : dfr_error_memory(error);
}

static int finish(void *arg, struct dfr_message **message, struct df_error *error)
{
    struct other *o = arg;
    const bool asked = dfr_replica_is_asked(&o->replica);

    if (asked)
        dfr_comm_stop(o->replica.comm);
    if (asked || o->replica.comm->hurries)
        atomic_store(&o->is_cut, true);
    if (!o->replica.body || !dfr_replica_ends(&o->replica))
        return DF_OK;
    end_feeding(o);
    int status = dfr_replica_finish(&o->replica, error);
    if (status == DF_OK)
        status = make_result(o, message, error);
    close_share(o);
    return status;
}

static int64_t progress(void *arg)
{
    const struct other *o = arg;
    return o->replica.body ? o->give.first_wave + dfr_part_waves(o->replica.body) : 0;
}

/* A share that nobody wants any more may still run: it is stopped. */
static int report(void *arg, const struct dfr_head *head, struct dfr_message **message, bool *last, struct df_error *error)
{
    struct other *o = arg;
    struct df_run *run = o->replica.body ? dfr_part_run(o->replica.body) : NULL;

    if (run)
        df_run_stop(run);
    if (!dfr_replica_ends(&o->replica))
        return DF_OK;
    close_share(o);
    return dfr_replica_report(&o->replica, head, message, last, error);
}

int dfr_replica_parts(struct dfr_comm *comm, const struct dfr_shared *shared, const struct df_options *options, uint64_t hash,
                      const struct dfr_ranks_options *ranks, struct df_stats *stats, struct df_error *error)
{
    struct other o = { .shared = shared, .values = calloc(shared->graph->n_values + 1u, sizeof *o.values) };
    const struct dfr_work_side side = { .arg = &o, .begin = begin, .start = start, .finish = finish, .progress = progress, .report = report };

    dfr_replica_init(&o.replica, comm, shared->graph, options, hash, ranks);
    int status = o.values ? dfr_replica_work(&o.replica, 1, 0, &side, error) : dfr_error_memory(error);
    dfr_replica_leave(&o.replica, status, error);
    close_share(&o);
    status = dfr_replica_end(&o.replica, status, stats, error);
    free(o.values);
    return status;
}
