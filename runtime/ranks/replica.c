/* replica.c - what every rank but the first does (replica.h): takes part, runs BODY, counts and reports. replica_waves.c, replica_parts.c and replica_stages.c
 * call it. */
#include "runtime/ranks/replica.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/output.h"
#include "runtime/engine/log.h"
#include "runtime/record/digest.h"

#define LEAVE_S 2

/* ---- runs of BODY ---- */

/* Events that are written from now on are on rank 0's clock as far as that is known. */
static void set_clock(struct dfr_replica *r)
{
    const struct dfr_worker *worker = dfr_comm_worker(r->comm);
    const struct dfr_trips *trips = dfr_worker_trips(worker);

    r->trace.clock = dfr_trips_clock(&trips[0], &trips[1], dfr_worker_origin_s(worker));
}

int dfr_replica_open(struct dfr_replica *r, const struct dfr_parts *parts, struct df_error *error)
{
    r->ending = false;
    set_clock(r);
    return dfr_part_open(parts, DFR_BODY, &r->options, r->welcome->values, r->welcome->n_values, &r->body, error);
}

bool dfr_replica_knows_clock(const struct dfr_replica *r)
{
    return !r->pieces.file || dfr_worker_trips(dfr_comm_worker(r->comm))[0].n > 0;
}

bool dfr_replica_ends(struct dfr_replica *r)
{
    r->ending = r->body;
    return !r->body || (dfr_replica_knows_clock(r) && dfr_part_ends(r->body));
}

int dfr_replica_finish(struct dfr_replica *r, struct df_error *error)
{
    struct df_stats *stats = r->body ? calloc(1, sizeof *stats) : NULL;

    if (!r->body)
        return DF_OK;
    if (!stats)
        return dfr_error_memory(error);
    if (r->comm->loop)                  /* else nobody asks for the trace any more */
        set_clock(r);
    int status = dfr_part_finish(r->body, stats, error);
    if (status == DF_OK)
        dfr_stats_add(&r->sum, stats);
    free(stats);
    return status;
}

void dfr_replica_close(struct dfr_replica *r)
{
    dfr_part_close(r->body);
    r->body = NULL;
}

/* ---- begin and end ---- */

void dfr_replica_init(struct dfr_replica *r, struct dfr_comm *comm, const struct df_graph *graph, const struct df_options *options, uint64_t hash,
                      const struct dfr_ranks_options *ranks)
{
    *r = (struct dfr_replica){ .comm = comm, .graph = graph, .ranks = ranks, .options = *options, .hash = hash };
}

/* What rank 0 wants is counted and traced from now on. */
static int begin_counting(struct dfr_replica *r, uint32_t wants, struct df_error *error)
{
    const size_t n = r->graph->n_nodes + (size_t)1;
    int status = wants & DFR_WANTS_TRACE ? dfr_pieces_open(&r->pieces, error) : DF_OK;

    r->counts = true;
    r->trace = (struct dfr_trace_part){ .file = r->pieces.file, .process = (uint32_t)r->comm->link->rank };
    snprintf(r->trace.name, sizeof r->trace.name, "rank %d ", r->comm->link->rank);
    r->nodes = wants & DFR_WANTS_NODES ? calloc(n, sizeof *r->nodes) : NULL;
    r->skips = wants & DFR_WANTS_REPORT ? calloc(n, sizeof *r->skips) : NULL;
    r->options.trace_part = &r->trace;
    r->options.node_stats = r->nodes;
    r->options.node_skips = r->skips;
    const bool made = (!(wants & DFR_WANTS_NODES) || r->nodes) && (!(wants & DFR_WANTS_REPORT) || r->skips);
    return status != DF_OK || made ? status : dfr_error_memory(error);
}

int dfr_replica_welcome(struct dfr_replica *r, const struct dfr_message *welcome, struct df_error *error)
{
    dfr_message_drop(r->welcome);
    r->welcome = dfr_message_hold((struct dfr_message *)welcome);
    return r->counts ? DF_OK : begin_counting(r, welcome->head.flags, error);
}

bool dfr_replica_is_asked(const struct dfr_replica *r)
{
    return r->ranks->resume && dfr_asked();
}

/* The files that sources with @worker read here, as a HELLO has them; NULL: none. malloc'ed. */
static int find_files(const struct dfr_replica *r, char **files, struct df_error *error)
{
    struct dfr_inputs inputs;
    int status = dfr_inputs_of_workers(r->graph, r->options.args, &inputs, error);

    *files = status == DF_OK && inputs.n > 0 ? dfr_inputs_text(&inputs) : NULL;
    if (status == DF_OK && inputs.n > 0 && !*files)
        status = dfr_error_memory(error);
    dfr_inputs_free(&inputs);
    return status;
}

int dfr_replica_work(struct dfr_replica *r, unsigned inflight, uint32_t classes, const struct dfr_work_side *side, struct df_error *error)
{
    char host[256] = "", *files;
    int status = find_files(r, &files, error);

    gethostname(host, sizeof host - 1);
    if (r->ranks->resume)
        dfr_interrupt_begin(true, NULL);
    const struct dfr_worker_options own = { .hash = r->hash, .host = host, .files = files, .inflight = inflight, .classes = classes,
                                             .beat_s = dfr_ranks_worker_beat_s(r->ranks), .beat_timeout_s = r->ranks->heartbeat_timeout_s };
    if (status == DF_OK)
        status = dfr_comm_work(r->comm, &own, side, error);
    free(files);
    return status;
}

/* Some rank may be dead, or kernels run here for results that nobody wants. If mpirun ends the job because ranks end without MPI_Finalize(), it
 * takes the status of the one that ends first. That is to be the first rank. */
void dfr_replica_leave(struct dfr_replica *r, int status, const struct df_error *error)
{
    if (!r->ranks->own_process || r->comm->whole)
        return;
    if (status != DF_OK)
        fprintf(stderr, "%s: error: %s\n", dfr_program_name(), error->text);
    r->comm->link->close(r->comm->link, false);
    if (status == DF_OK)
        nanosleep(&(struct timespec){ .tv_sec = LEAVE_S }, NULL);
    dfr_output_leave(status != DF_OK);
}

int dfr_replica_end(struct dfr_replica *r, int status, struct df_stats *stats, struct df_error *error)
{
    if (status == DF_OK)
        status = dfr_replica_finish(r, error);
    if (stats && status == DF_OK)
        *stats = r->sum;
    dfr_replica_close(r);
    dfr_message_drop(r->welcome);
    dfr_pieces_close(&r->pieces);
    free(r->nodes);
    free(r->skips);
    return status;
}

/* ---- reports ---- */

/* The first message of all. */
static int report_figures(struct dfr_replica *r, const struct dfr_head *head, struct dfr_message **message, struct df_error *error)
{
    const struct dfr_report report = { &r->sum, dfr_worker_trips(dfr_comm_worker(r->comm)), r->nodes, r->skips, r->graph->n_nodes, r->stages };
    struct dfr_value value = { 0 };
    void *bytes = dfr_report_pack(&report, &value.bytes);

    r->told = true;
    value.data = bytes;
    *message = bytes ? dfr_message_make(head, &value, 1) : NULL;
    free(bytes);
    if (r->pieces.file)
        dfr_pieces_begin(&r->pieces);
    return *message ? DF_OK : dfr_error_memory(error);
}

/* The next piece of the trace, if there is one. If it cannot be read, this is told in its place, and nothing follows. */
static int report_trace(struct dfr_replica *r, struct dfr_head head, struct dfr_message **message, struct df_error *error)
{
    struct dfr_value value = { .data = r->pieces.piece };
    struct df_error why = { "" };
    bool read = !r->pieces.file || dfr_pieces_next(&r->pieces, &value.bytes, &why) == DF_OK;

    if (read && value.bytes == 0)
        return DF_OK;
    head.stage = read ? 1 : 2;
    *message = read ? dfr_message_make(&head, &value, 1) : dfr_message_make_text(&head, why.text);
    if (!read)
        dfr_pieces_close(&r->pieces);
    return *message ? DF_OK : dfr_error_memory(error);
}

int dfr_replica_report(struct dfr_replica *r, const struct dfr_head *head, struct dfr_message **message, bool *last, struct df_error *error)
{
    int status = DF_OK;

    if (r->told) {
        status = report_trace(r, *head, message, error);
        *last = !*message;
    } else if (dfr_replica_ends(r)) {
        status = dfr_replica_finish(r, error);
        dfr_replica_close(r);
        if (status == DF_OK)
            status = report_figures(r, head, message, error);
    }
    return status;
}
