/* replica_waves.c - a rank that gets waves; ranks.c calls it on all ranks but the first. It is the graph's side of comm.h on a worker, with BODY (ranks.h).
 * What its sinks with @worker write in a wave gets its names when the first rank has accepted the wave's result (record/held.h).
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/error.h"
#include "runtime/ranks/replica.h"
#include "runtime/record/held.h"
#include "runtime/record/outputs.h"

#define LEAVE_S 2

/* A result that was sent. The first rank judges results in the order in which they were sent. */
struct sent {
    int64_t wave, round;                /* its number, and its place in BODY's run */
};

struct other {
    struct dfr_replica replica;
    const struct dfr_parts *parts;
    struct dfr_head *heads;             /* of the results of the waves in places */
    uint32_t n_places;
    struct dfr_value *values;           /* room for the tokens of all ports */
    struct dfr_held *held;              /* what sinks with @worker have written; NULL: there are none */
    struct dfr_outputs *outputs;
    struct sent *sent;                  /* n_sent of them, if there are such sinks */
    size_t n_sent, room;
};

/* ---- waves ---- */

static void close_body(struct other *o, bool all)
{
    dfr_replica_close(&o->replica);
    dfr_outputs_free(o->outputs);
    dfr_held_free(o->held, all);
    o->outputs = NULL;
    o->held = NULL;
    o->n_sent = 0;
}

/* What has its name is on the disk, if there is a journal. */
static int open_outputs(struct other *o, struct df_error *error)
{
    int status = dfr_held_create(o->replica.hash, o->replica.ranks->resume, &o->held, error);

    if (status == DF_OK)
        status = dfr_outputs_create_held(o->held, &o->outputs, error);
    o->replica.options.outputs = o->outputs;
    return status;
}

static int begin(void *arg, const struct dfr_message *welcome, struct df_error *error)
{
    struct other *o = arg;

    close_body(o, false);
    int status = dfr_replica_welcome(&o->replica, welcome, error);
    if (status == DF_OK && dfr_held_writes(o->parts->graph))
        status = open_outputs(o, error);
    if (status == DF_OK)
        status = dfr_replica_open(&o->replica, o->parts, error);
    if (status != DF_OK)
        return status;
    o->n_places = dfr_part_places(o->replica.body);
    free(o->heads);
    o->heads = calloc(o->n_places, sizeof *o->heads);
    return o->heads ? DF_OK : dfr_error_memory(error);
}

static int start(void *arg, const struct dfr_message *give, const struct dfr_head *head, bool *started, struct df_error *error)
{
    struct other *o = arg;
    struct dfr_part *body = o->replica.body;
    int64_t local;
    int status = dfr_part_poll(body, error);

    if (status != DF_OK || !dfr_part_has_room(body))
        return status;
    status = dfr_part_begin(body, give->head.wave, give->values, give->n_values, &local, error);
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
    struct dfr_part *body = o->replica.body;
    int64_t wave;
    uint32_t n = 0;
    int status = body ? dfr_part_poll(body, error) : DF_OK;

    if (dfr_replica_is_asked(&o->replica))
        dfr_comm_stop(o->replica.comm);
    if (status != DF_OK || !body || (wave = dfr_part_ended(body, false)) < 0)
        return status;
    struct dfr_head *head = &o->heads[wave % o->n_places];
    if (head->wave >= dfr_part_end(body))
        head->flags = DFR_NO_WAVE;
    else
        dfr_part_values(body, wave, DFR_PLACES, o->values, &n);
    *message = note_sent(o, head->wave, wave) ? dfr_message_make(head, o->values, n) : NULL;
    dfr_part_release(body, wave);
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

static int report(void *arg, const struct dfr_head *head, struct dfr_message **message, bool *last, struct df_error *error)
{
    return dfr_replica_report(&((struct other *)arg)->replica, head, message, last, error);
}

int dfr_replica_waves(struct dfr_comm *comm, const struct dfr_parts *parts, const struct df_options *options, uint64_t hash,
                      const struct dfr_ranks_options *ranks, struct df_stats *stats, struct df_error *error)
{
    struct other o = { .parts = parts, .values = calloc(parts->n_ports + 1u, sizeof *o.values) };
    const struct dfr_work_side side = { .arg = &o, .begin = begin, .start = start, .finish = finish, .verdict = verdict,
                                        .stores = dfr_held_writes(parts->graph), .report = report };

    dfr_replica_init(&o.replica, comm, parts->graph, options, hash, ranks);
    o.replica.options.apart = 1;
    int status = o.values ? dfr_replica_work(&o.replica, dfr_part_places_of(options), 0, &side, error) : dfr_error_memory(error);
    if (o.held)
        dfr_held_clear(o.held, comm->done);
    dfr_replica_leave(&o.replica, status, error);
    status = dfr_replica_end(&o.replica, status, stats, error);
    close_body(&o, status == DF_OK && comm->done);
    free(o.heads);
    free(o.values);
    free(o.sent);
    return status;
}
