/* ranks_worker.c - the graph's side of comm.h on a worker, with BODY (ranks.h). What its sinks with @worker write in a wave gets its names when the
 * first rank has accepted the wave's result (record/held.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/error.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/output.h"
#include "runtime/cluster/ranks_figures.h"
#include "runtime/cluster/ranks_impl.h"
#include "runtime/engine/log.h"
#include "runtime/record/digest.h"
#include "runtime/record/held.h"
#include "runtime/record/outputs.h"

#define LEAVE_S 2

/* A result that was sent. The first rank judges results in the order in which they were sent. */
struct sent {
    int64_t wave, round;                /* its number, and its place in BODY's run */
};

struct other {
    const struct dfr_parts *parts;
    struct dfr_comm *comm;
    bool stops;                         /* SIGTERM and SIGUSR1 end it */
    struct df_options options;
    struct dfr_teller teller;           /* of what it does */
    struct dfr_part *body;
    struct dfr_head *heads;             /* of the results of the waves in places */
    uint32_t n_places;
    struct dfr_value *values;           /* room for the tokens of all ports */
    uint64_t hash;
    bool syncs;                         /* what has its name is on the disk */
    struct dfr_held *held;              /* what sinks with @worker have written; NULL: there are none */
    struct dfr_outputs *outputs;
    struct sent *sent;                  /* n_sent of them, if there are such sinks */
    size_t n_sent, room;
};

/* ---- waves ---- */

static void close_body(struct other *o, bool all)
{
    dfr_part_close(o->body);
    dfr_outputs_free(o->outputs);
    dfr_held_free(o->held, all);
    o->body = NULL;
    o->outputs = NULL;
    o->held = NULL;
    o->n_sent = 0;
}

static int open_outputs(struct other *o, struct df_error *error)
{
    int status = dfr_held_create(o->hash, o->syncs, &o->held, error);

    if (status == DF_OK)
        status = dfr_outputs_create_held(o->held, &o->outputs, error);
    o->options.outputs = o->outputs;
    return status;
}

static int begin(void *arg, const struct dfr_message *welcome, struct df_error *error)
{
    struct other *o = arg;
    int status;

    close_body(o, false);
    status = dfr_teller_begin(&o->teller, welcome->head.flags, o->comm->link->rank, o->parts->graph->n_nodes, error);
    o->options.trace_part = &o->teller.trace;
    o->options.node_stats = o->teller.nodes;
    o->options.node_skips = o->teller.skips;
    if (status == DF_OK && dfr_held_writes(o->parts->graph))
        status = open_outputs(o, error);
    if (status == DF_OK)
        status = dfr_part_open(o->parts, DFR_BODY, &o->options, welcome->values, welcome->n_values, &o->body, error);
    if (status != DF_OK)
        return status;
    o->n_places = dfr_part_places(o->body);
    free(o->heads);
    o->heads = calloc(o->n_places, sizeof *o->heads);
    return o->heads ? DF_OK : dfr_error_memory(error);
}

static int start(void *arg, const struct dfr_message *give, const struct dfr_head *head, bool *started, struct df_error *error)
{
    struct other *o = arg;
    int64_t local;
    int status = dfr_part_poll(o->body, error);

    if (status != DF_OK || !dfr_part_has_room(o->body))
        return status;
    status = dfr_part_begin(o->body, give->head.wave, give->values, give->n_values, &local, error);
    if (status == DF_OK)
        o->heads[local % o->n_places] = *head;
    *started = true;
    return status;
}

/* Notes that the result is sent. false: no memory. */
static bool note_sent(struct other *o, int64_t wave, int64_t round)
{
    if (!o->held)
        return true;
    if (!DFR_ARRAY_ROOM(o->sent, o->n_sent, o->room))
        return false;
    o->sent[o->n_sent++] = (struct sent){ wave, round };
    return true;
}

static int finish(void *arg, struct dfr_message **message, struct df_error *error)
{
    struct other *o = arg;
    int64_t wave;
    uint32_t n = 0;
    int status = o->body ? dfr_part_poll(o->body, error) : DF_OK;

    if (o->stops && dfr_asked())
        dfr_comm_stop(o->comm);
    if (status != DF_OK || !o->body || (wave = dfr_part_ended(o->body, false)) < 0)
        return status;
    struct dfr_head *head = &o->heads[wave % o->n_places];
    if (head->wave >= dfr_part_end(o->body))
        head->flags = DFR_NO_WAVE;
    else
        dfr_part_values(o->body, wave, DFR_PLACES, o->values, &n);
    *message = note_sent(o, head->wave, wave) ? dfr_message_make(head, o->values, n) : NULL;
    dfr_part_release(o->body, wave);
    return *message ? DF_OK : dfr_error_memory(error);
}

static int verdict(void *arg, int64_t wave, bool accepted, bool *stored, struct df_error *error)
{
    struct other *o = arg;
    size_t i = 0;

    *stored = true;
    while (i < o->n_sent && o->sent[i].wave != wave)
        i++;
    if (i == o->n_sent)
        return DF_OK;
    int64_t round = o->sent[i].round;
    memmove(o->sent + i, o->sent + i + 1, (--o->n_sent - i) * sizeof *o->sent);
    return dfr_held_settle(o->held, round, accepted, stored, error);
}

/* ---- reports ---- */

static int report_figures(struct other *o, const struct dfr_worker *worker, const struct dfr_head *head, struct dfr_message **message,
                          struct df_error *error)
{
    struct df_stats *stats = calloc(1, sizeof *stats);

    if (!stats)
        return dfr_error_memory(error);
    dfr_teller_clock(&o->teller, worker);
    int status = o->body ? dfr_part_finish(o->body, stats, error) : DF_OK; /* END may come before anything was begun */
    if (status == DF_OK)
        status = dfr_teller_figures(&o->teller, worker, stats, head, message, error);
    free(stats);
    return status;
}

/* A wave that nobody wants any more may still run: its end is waited for. */
static int report(void *arg, const struct dfr_worker *worker, const struct dfr_head *head, struct dfr_message **message, bool *last,
                  struct df_error *error)
{
    struct other *o = arg;
    int status = DF_OK;

    if (!o->teller.told) {
        if (o->body && !dfr_part_ends(o->body))
            return DF_OK;
        return report_figures(o, worker, head, message, error);
    }
    status = dfr_teller_trace(&o->teller, *head, message, error);
    *last = !*message;
    return status;
}

/* ---- begin and end ---- */

void dfr_ranks_leave(struct dfr_comm *comm, int status, const struct df_error *error)
{
    if (status != DF_OK)
        fprintf(stderr, "%s: error: %s\n", dfr_program_name(), error->text);
    comm->link->close(comm->link, false);
    if (status == DF_OK)
        nanosleep(&(struct timespec){ .tv_sec = LEAVE_S }, NULL);
    dfr_output_leave(status != DF_OK);
}

int dfr_ranks_files(const struct df_graph *graph, const union df_scalar *args, char **files, struct df_error *error)
{
    struct dfr_inputs inputs;
    int status = dfr_inputs_of_workers(graph, args, &inputs, error);

    *files = status == DF_OK && inputs.n > 0 ? dfr_inputs_text(&inputs) : NULL;
    if (status == DF_OK && inputs.n > 0 && !*files)
        status = dfr_error_memory(error);
    dfr_inputs_free(&inputs);
    return status;
}

static int work(struct other *o, const struct dfr_ranks_options *ranks, struct df_error *error)
{
    char host[256] = "", *files = NULL;
    const struct dfr_work_side side = { .arg = o, .begin = begin, .start = start, .finish = finish, .verdict = verdict,
                                        .stores = dfr_held_writes(o->parts->graph), .report = report };
    int status = o->values ? dfr_ranks_files(o->parts->graph, o->options.args, &files, error) : dfr_error_memory(error);

    gethostname(host, sizeof host - 1);
    const struct dfr_worker_options own = { .hash = o->hash, .host = host, .files = files, .inflight = dfr_part_places_of(&o->options),
                                             .beat_s = dfr_ranks_beat_s(ranks), .beat_timeout_s = ranks->heartbeat_timeout_s };
    if (status == DF_OK)
        status = dfr_comm_work(o->comm, &own, &side, error);
    free(files);
    return status;
}

int dfr_ranks_work(struct dfr_comm *comm, const struct dfr_parts *parts, const struct df_options *options, uint64_t hash,
                   const struct dfr_ranks_options *ranks, struct df_stats *stats, struct df_error *error)
{
    struct other o = { .parts = parts, .comm = comm, .stops = ranks->resume, .options = *options, .hash = hash, .syncs = ranks->resume,
                       .values = calloc(parts->n_ports + 1u, sizeof *o.values) };

    o.options.apart = 1;
    o.options.node_stats = NULL;
    o.options.node_skips = NULL;
    if (o.stops)
        dfr_interrupt_begin(true, NULL);
    int status = work(&o, ranks, error);
    if (ranks->own_process && !comm->whole) {
        if (o.held)
            dfr_held_clear(o.held, comm->done);
        dfr_ranks_leave(comm, status, error);
    }
    if (status == DF_OK && o.body)
        status = dfr_part_finish(o.body, stats, error);
    close_body(&o, status == DF_OK && comm->done);
    dfr_teller_free(&o.teller);
    free(o.heads);
    free(o.values);
    free(o.sent);
    return status;
}
