/* ranks_figures.c - what the ranks of a run did: ranks_figures.h. */
#include "runtime/ranks/ranks_figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/engine/log.h"
#include "runtime/threads/clock.h"

/* ---- the first rank ---- */

int dfr_view_begin(struct dfr_view *view, int n_ranks, uint32_t n_nodes, struct df_options *options, struct df_error *error)
{
    int status = dfr_figures_create(n_ranks, n_nodes, options->node_stats != NULL, &view->figures, error);

    if (status != DF_OK)
        return status;
    options->node_stats = view->figures->nodes;
    options->node_skips = view->figures->skips;
    view->begun_s = dfr_clock_s();
    if (!options->trace_path)
        return DF_OK;
    status = dfr_cluster_trace_open(&view->merged, options->trace_path, error);
    for (unsigned which = 0; status == DF_OK && which < DFR_PLACES; which++)
        view->traces[which] = (struct dfr_trace_part){ .file = view->merged.output.file, .first_row = which * DF_MAX_WORKERS * 2,
                                                       .clock.origin_s = view->begun_s };
    strcpy(view->traces[DFR_HEAD].name, "rank 0 head ");
    strcpy(view->traces[DFR_TAIL].name, "rank 0 tail ");
    return status;
}

void dfr_view_ask(const struct dfr_view *view, struct dfr_manager_options *options)
{
    options->wants = DFR_WANTS_REPORT | (view->figures->nodes ? DFR_WANTS_NODES : 0);
    options->wants |= view->merged.output.file ? DFR_WANTS_TRACE : 0;
    options->origin_s = view->begun_s;
}

static void note_untraced(struct dfr_view *view, int rank, const struct dfr_message *report)
{
    char why[256];

    dfr_message_text_of(report, why, sizeof why);
    dfr_say("warning: the trace has not all events of rank %d: %s", rank, why);
    if (rank > 0 && rank < view->figures->n_ranks)
        view->figures->ranks[rank].untraced = true;
}

void dfr_view_report(struct dfr_view *view, int rank, const struct dfr_message *report)
{
    const struct dfr_value *value = &report->values[0];
    bool read = report->n_values == 1;

    if (report->head.stage == 2) {
        note_untraced(view, rank, report);
        return;
    }
    if (report->head.stage == 1)
        read = read && view->merged.output.file && dfr_cluster_trace_add(&view->merged, value->data, value->bytes);
    else
        read = read && dfr_report_read(view->figures, rank, value->data, value->bytes);
    if (!read)
        dfr_say("warning: what rank %d reports of itself cannot be read", rank);
}

void dfr_view_over(struct dfr_view *view, const struct dfr_manager *manager)
{
    for (int rank = 1; view->figures && rank < view->figures->n_ranks; rank++)
        dfr_manager_figures(manager, rank, &view->figures->ranks[rank]);
}

void dfr_view_end(struct dfr_view *view, const struct df_stats *head, const struct df_stats *tail, int64_t waves)
{
    struct dfr_rank_figures *own = &view->figures->ranks[0];

    gethostname(own->host, sizeof own->host - 1);
    own->fate = DFR_RANK_WORKED;
    own->reported = true;
    dfr_stats_join(&own->stats, head, "head");
    dfr_stats_join(&own->stats, tail, "tail");
    view->figures->elapsed_s = dfr_clock_s() - view->begun_s;
    view->figures->waves = waves;
}

int dfr_view_end_trace(struct dfr_view *view, int status, struct df_error *error)
{
    if (!view->merged.output.file)
        return status;
    int closed = dfr_cluster_trace_close(&view->merged, view->figures, view->begun_s, status == DF_OK, status == DF_OK ? error : NULL);
    view->merged.output.file = NULL;
    return status == DF_OK ? closed : status;
}

void dfr_view_free(struct dfr_view *view, struct dfr_figures **to)
{
    if (to)
        *to = view->figures;
    else
        dfr_figures_free(view->figures);
    view->figures = NULL;
}

/* ---- the others ---- */

void dfr_teller_free(struct dfr_teller *t)
{
    dfr_pieces_close(&t->pieces);
    free(t->nodes);
    free(t->skips);
    *t = (struct dfr_teller){ 0 };
}

int dfr_teller_begin(struct dfr_teller *t, uint32_t wants, int rank, uint32_t n_nodes, struct df_error *error)
{
    const size_t n = n_nodes + (size_t)1;

    dfr_teller_free(t);
    t->n_nodes = n_nodes;
    if (wants & DFR_WANTS_TRACE) {
        int status = dfr_pieces_open(&t->pieces, error);
        if (status != DF_OK)
            return status;
        t->trace = (struct dfr_trace_part){ .file = t->pieces.file, .process = (uint32_t)rank };
        snprintf(t->trace.name, sizeof t->trace.name, "rank %d ", rank);
    }
    t->nodes = wants & DFR_WANTS_NODES ? calloc(n, sizeof *t->nodes) : NULL;
    t->skips = wants & DFR_WANTS_REPORT ? calloc(n, sizeof *t->skips) : NULL;
    return (wants & DFR_WANTS_NODES && !t->nodes) || (wants & DFR_WANTS_REPORT && !t->skips) ? dfr_error_memory(error) : DF_OK;
}

void dfr_teller_clock(struct dfr_teller *t, const struct dfr_worker *worker)
{
    const struct dfr_trips *trips = dfr_worker_trips(worker);
    t->trace.clock = dfr_trips_clock(&trips[0], &trips[1], dfr_worker_origin_s(worker));
}

int dfr_teller_figures(struct dfr_teller *t, const struct dfr_worker *worker, const struct df_stats *stats, const struct dfr_head *head,
                       struct dfr_message **message, struct df_error *error)
{
    struct dfr_value value = { 0 };
    const struct dfr_report report = { stats, dfr_worker_trips(worker), t->nodes, t->skips, t->n_nodes, t->stages };
    void *bytes = dfr_report_pack(&report, &value.bytes);

    t->told = true;
    value.data = bytes;
    *message = bytes ? dfr_message_make(head, &value, 1) : NULL;
    free(bytes);
    if (t->pieces.file)
        dfr_pieces_begin(&t->pieces);
    return *message ? DF_OK : dfr_error_memory(error);
}

int dfr_teller_trace(struct dfr_teller *t, struct dfr_head head, struct dfr_message **message, struct df_error *error)
{
    struct dfr_value value = { .data = t->pieces.piece };
    struct df_error why = { "" };
    bool read = !t->pieces.file || dfr_pieces_next(&t->pieces, &value.bytes, &why) == DF_OK;

    if (read && value.bytes == 0)
        return DF_OK;
    head.stage = read ? 1 : 2;
    *message = read ? dfr_message_make(&head, &value, 1) : dfr_message_make_text(&head, why.text);
    if (!read)
        dfr_pieces_close(&t->pieces);
    return *message ? DF_OK : dfr_error_memory(error);
}
