/* replica.c - what every rank but the first does: replica.h. */
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

int dfr_replica_open(struct dfr_replica *r, const struct dfr_parts *parts, struct df_error *error)
{
    r->ending = false;
    dfr_teller_clock(&r->teller, dfr_comm_worker(r->comm));
    return dfr_part_open(parts, DFR_BODY, &r->options, r->welcome->values, r->welcome->n_values, &r->body, error);
}

bool dfr_replica_knows_clock(const struct dfr_replica *r)
{
    return !r->teller.pieces.file || dfr_worker_trips(dfr_comm_worker(r->comm))[0].n > 0;
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
        dfr_teller_clock(&r->teller, dfr_comm_worker(r->comm));
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

int dfr_replica_welcome(struct dfr_replica *r, const struct dfr_message *welcome, struct df_error *error)
{
    dfr_message_drop(r->welcome);
    r->welcome = dfr_message_hold((struct dfr_message *)welcome);
    if (r->counts)
        return DF_OK;
    r->counts = true;
    int status = dfr_teller_begin(&r->teller, welcome->head.flags, r->comm->link->rank, r->graph->n_nodes, error);
    r->options.trace_part = &r->teller.trace;
    r->options.node_stats = r->teller.nodes;
    r->options.node_skips = r->teller.skips;
    return status;
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
    dfr_teller_free(&r->teller);
    return status;
}

/* ---- reports ---- */

int dfr_replica_report(struct dfr_replica *r, const struct dfr_head *head, struct dfr_message **message, bool *last, struct df_error *error)
{
    int status = DF_OK;

    if (r->teller.told) {
        status = dfr_teller_trace(&r->teller, *head, message, error);
        *last = !*message;
    } else if (dfr_replica_ends(r)) {
        status = dfr_replica_finish(r, error);
        dfr_replica_close(r);
        if (status == DF_OK)
            status = dfr_teller_figures(&r->teller, dfr_comm_worker(r->comm), &r->sum, head, message, error);
    }
    return status;
}
