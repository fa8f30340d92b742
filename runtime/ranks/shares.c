/* shares.c - the first rank of a run by parts of accs (shares.h). */
#include "runtime/ranks/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/error.h"
#include "runtime/base/interrupt.h"
#include "runtime/ranks/ranks_figures.h"
#include "runtime/ranks/ranks_impl.h"
#include "runtime/record/digest.h"
#include "runtime/record/facts.h"
#include "runtime/record/outputs.h"
#include "runtime/record/spans.h"
#include "runtime/subgraph/share.h"
#include "runtime/ranks/replica_parts.h"

static void ring(void *comm)
{
    dfr_comm_ring(comm);
}

int dfr_shares_choose(const struct df_graph *graph, const union df_scalar *args, int n_ranks, bool kept, enum dfr_share_what what, bool *parts,
                      struct df_error *error)
{
    struct dfr_shared shared;
    struct df_error why = { "" };

    *parts = false;
    if (what == DFR_SHARE_WAVES)
        return DF_OK;
    int status = dfr_shared_find(graph, args, &shared, &why);
    *parts = status == DF_OK && (what == DFR_SHARE_PARTS || dfr_shared_pays(&shared, n_ranks - 1, kept));
    dfr_shared_free(&shared);
    if (status == DF_OK || (status == DF_E_REFUSED && what == DFR_SHARE_FIND))
        return DF_OK;
    return dfr_error(error, status, status == DF_E_REFUSED ? "--share=parts: %s" : "%s", why.text);
}

/* ---- the first rank ---- */

struct first {
    const struct dfr_shared *shared;
    struct dfr_parts parts;             /* HEAD and TAIL run here */
    struct dfr_comm *comm;
    const struct dfr_ranks_options *ranks;
    struct df_options options;
    struct dfr_resumable *resumable;    /* NULL: no journal is written */
    bool nothing;                       /* all waves are done */
    struct dfr_part *head, *tail;
    struct dfr_value *once;             /* n_once of them */
    uint32_t n_once;
    struct dfr_span *spans;             /* n_spans of them */
    uint32_t n_spans, n_whole;          /* n_whole: those that have had all waves */
    struct dfr_checkpoints checkpoints;
    struct dfr_view view;               /* of what all ranks do */
    uint32_t *span_of;                  /* by number of a GIVE; room for n_room, n_given of them */
    size_t n_room, n_given;
    int64_t n_taken, n_ended;           /* results */
    int64_t waves;                      /* of all spans; -1: none has had them all */
    const void **accs;                  /* by value of TAIL's graph */
    int failed;                         /* HEAD could not be opened, and the others are still to hear it */
    struct df_error why;
};

/* The span that is given out next; NULL: none is ready. */
static struct dfr_span *find_span(const struct first *f)
{
    for (uint32_t k = 0; k < f->n_spans; k++)
        if (!f->spans[k].given && !f->spans[k].whole)
            return &f->spans[k];
    return NULL;
}

static bool note_given(struct first *f, uint32_t span)
{
    if (!DFR_ARRAY_ROOM(f->span_of, f->n_given, f->n_room))
        return false;
    f->span_of[f->n_given++] = span;
    return true;
}

static struct dfr_message *make_give(const struct first *f, const struct dfr_span *span, const struct dfr_head *head)
{
    const uint32_t n_accs = span->accs ? dfr_span_accs(f->shared, span) : 0;
    const struct dfr_share_give give = { span->first, span->end, span->waves, f->options.waves, f->checkpoints.path ? f->ranks->resume->checkpoint_s : 0,
                                         f->checkpoints.path != NULL };
    struct dfr_value *values = calloc(n_accs + 1u, sizeof *values);
    struct dfr_message *message;

    if (!values)
        return NULL;
    if (n_accs > 0)
        memcpy(values, span->accs->values, n_accs * sizeof *values);
    values[n_accs] = (struct dfr_value){ .port = f->shared->graph->n_values, .data = &give, .bytes = sizeof give };
    message = dfr_message_make(head, values, n_accs + 1);
    free(values);
    return message;
}

static int next(void *arg, const struct dfr_head *head, struct dfr_message **give, bool *over, struct df_error *error)
{
    struct first *f = arg;
    struct dfr_span *span = f->nothing ? NULL : find_span(f);

    *over = f->nothing || f->n_whole == f->n_spans;
    if (!span)
        return DF_OK;
    if (!note_given(f, (uint32_t)(span - f->spans)) || !(*give = make_give(f, span, head)))
        return dfr_error_memory(error);
    span->given = true;
    return DF_OK;
}

/* Has it the accs of this span, and how far they are? */
static int check_result(const struct first *f, const struct dfr_message *result, const struct dfr_span *span, struct dfr_share_end *end, struct df_error *error)
{
    const struct df_graph *g = f->shared->graph;
    uint32_t at = 0;
    bool right = result->n_values == dfr_span_accs(f->shared, span) + 1;

    for (uint32_t i = span->first; i < span->end && right; i++)
        for (uint32_t a = 0; a < df_node_n_acc(g, f->shared->parts[i]); a++, at++) {
            uint32_t x = df_node_acc(g, f->shared->parts[i], a);
            right &= result->values[at].port == x && result->values[at].bytes == g->values[x].bytes;
        }
    right = right && result->values[at].port == g->n_values && result->values[at].bytes == sizeof *end;
    if (right)
        memcpy(end, result->values[at].data, sizeof *end);
    return right && end->waves >= span->waves ? DF_OK : dfr_error(error, DF_E_FORMAT, "what came of a share of an acc from another rank is none");
}

static int take_result(struct first *f, struct dfr_message *message, struct df_error *error)
{
    struct dfr_span *span = &f->spans[f->span_of[message->head.wave]];
    struct dfr_share_end end = { 0 };
    int status = check_result(f, message, span, &end, error);

    if (status == DF_OK && end.whole && f->waves >= 0 && end.waves != f->waves)
        status = dfr_error(error, DF_E_REFUSED, "one rank has had %lld waves, and another one %lld: their inputs are not the same", (long long)f->waves,
                           (long long)end.waves);
    if (status != DF_OK)
        return status;
    dfr_message_drop(span->accs);
    span->accs = dfr_message_hold(message);
    span->waves = end.waves;
    span->given = false;
    if (end.whole) {
        span->whole = true;
        f->waves = end.waves;
        f->n_whole++;
    }
    return f->checkpoints.path && end.waves > 0 ? dfr_span_write(&f->checkpoints, span, error) : DF_OK;
}

/* A result is there. Results are taken in order, but a share need not wait for others. */
static void accepted(void *arg, struct dfr_message *message)
{
    struct first *f = arg;
    if (f->failed == DF_OK)
        f->failed = take_result(f, message, &f->why);
}

static int result(void *arg, const struct dfr_message *message, bool *taken, struct df_error *error)
{
    struct first *f = arg;
    (void)message;
    (void)error;
    f->n_taken++;
    *taken = true;
    return DF_OK;
}

static int ended(void *arg, unsigned most, unsigned *n, struct df_error *error)
{
    struct first *f = arg;
    const int64_t left = f->n_taken - f->n_ended;

    *n = left < most ? (unsigned)left : most;
    f->n_ended += *n;
    if (f->failed != DF_OK)
        *error = f->why;
    if (f->resumable && dfr_asked())
        dfr_comm_stop(f->comm);
    return f->failed;
}

static int open_journal(struct first *f, struct df_error *error)
{
    struct dfr_resumable_options wanted;

    if (!f->ranks->resume)
        return DF_OK;
    wanted = *f->ranks->resume;
    wanted.parts = true;
    const int64_t waves = f->options.waves;
    int status = dfr_resumable_open(f->shared->graph, &f->options, &wanted, &f->resumable, error);
    f->options.waves = waves;           /* of a share, which nobody feeds */
    f->options.feed = 0;
    f->options.done_waves = 0;
    f->nothing = status == DF_OK && !f->resumable;
    if (status != DF_OK || f->nothing)
        return status;
    dfr_outputs_part(f->options.outputs, f->parts.cuts[DFR_HEAD].graph, f->parts.cuts[DFR_HEAD].node);
    dfr_outputs_part(f->options.outputs, f->parts.cuts[DFR_TAIL].graph, f->parts.cuts[DFR_TAIL].node);
    dfr_resumable_begin(f->resumable);
    return DF_OK;
}

/* What is said when spans go on where a run before has left them. */
static void tell_resumed(const struct first *f)
{
    int64_t least = INT64_MAX, most = 0;

    for (uint32_t k = 0; k < f->n_spans; k++) {
        least = f->spans[k].waves < least ? f->spans[k].waves : least;
        most = f->spans[k].waves > most ? f->spans[k].waves : most;
    }
    if (most > least)
        dfr_resumable_say(f->resumable, "the accs are as they were after %lld to %lld waves", (long long)least, (long long)most);
    else if (most > 0)
        dfr_resumable_say(f->resumable, "the accs are as they were after %lld waves", (long long)most);
}

/* As many waves as one part has had are had by all, also if fewer are wanted now. */
static void want_all_had(struct first *f)
{
    for (uint32_t k = 0; k < f->n_spans && f->options.waves >= 0; k++)
        f->options.waves = f->spans[k].waves > f->options.waves ? f->spans[k].waves : f->options.waves;
}

static int open_spans(struct first *f, struct df_error *error)
{
    struct dfr_checkpoints *c = &f->checkpoints;

    c->shared = f->shared;
    if (f->resumable) {
        c->path = dfr_resumable_accs(f->resumable, &c->program);
        c->writer = dfr_resumable_writer(f->resumable);
    }
    int status = dfr_spans_make(f->shared, (uint32_t)f->comm->link->size - 1, c->path, c->program, &f->spans, &f->n_spans, error);

    if (status == DF_OK)
        want_all_had(f);
    if (status == DF_OK && f->resumable)
        tell_resumed(f);
    return status;
}

/* Makes what fires once. HEAD gets no waves. */
static int open_first(struct first *f, struct df_error *error)
{
    int status = dfr_parts_make_ends(f->shared->graph, &f->parts, error);

    if (status == DF_OK)
        status = open_journal(f, error);
    if (status != DF_OK || f->nothing)
        return status;
    f->once = calloc(f->parts.n_ports + 1u, sizeof *f->once);
    f->accs = calloc(f->parts.cuts[DFR_TAIL].graph->n_values + 1u, sizeof *f->accs);
    if (!f->once || !f->accs)
        return dfr_error_memory(error);
    if ((status = open_spans(f, error)) != DF_OK)
        return status;
    struct df_options head = dfr_ranks_on_host(&f->parts, DFR_HEAD, &f->options);
    head.trace_part = &f->view.traces[DFR_HEAD];
    status = dfr_part_open(&f->parts, DFR_HEAD, &head, NULL, 0, &f->head, error);
    return status == DF_OK ? dfr_part_once(f->head, f->once, &f->n_once, error) : status;
}

static void read_report(void *arg, int rank, const struct dfr_message *report)
{
    dfr_view_report(&((struct first *)arg)->view, rank, report);
}

static void keep_figures(void *arg, const struct dfr_manager *manager)
{
    dfr_view_over(&((struct first *)arg)->view, manager);
}

/* A share's next step need not wait until others have ended theirs. */
static unsigned most_places(const struct dfr_comm *comm)
{
    return 64 * (comm->link->size > 1 ? (unsigned)comm->link->size - 1 : 1);
}

static int manage(struct first *f, uint64_t hash, struct dfr_manager_state *state, struct df_error *error)
{
    const struct dfr_manage_side side = { .arg = f, .next = next, .result = result, .ended = ended, .over = keep_figures,
                                          .at_once = f->nothing || f->failed != DF_OK };
    struct dfr_manager_options options = { .hash = hash, .epoch = f->resumable ? dfr_resumable_waves(f->resumable).epoch : 1, .window = 1,
                                           .once = f->once, .n_once = f->n_once, .wave_timeout_s = f->ranks->wave_timeout_s,
                                           .grace_s = f->resumable ? fmax(f->ranks->resume->grace_s, 1e-3) : 0,
                                           .beat_s = dfr_ranks_beat_s(f->ranks), .beat_timeout_s = f->ranks->heartbeat_timeout_s,
                                           .tell = dfr_ranks_tell, .arg = f, .accepted = accepted, .places = most_places(f->comm) };

    *state = (struct dfr_manager_state){ 0 };
    if (f->view.figures) {
        dfr_view_ask(&f->view, &options);
        options.report = read_report;
    }
    return dfr_comm_manage(f->comm, &options, &side, state, error);
}

/* Where TAIL finds the accs of all shares. */
static void find_accs(struct first *f)
{
    const struct dfr_cut *tail = &f->parts.cuts[DFR_TAIL];

    for (uint32_t k = 0; k < f->n_spans; k++)
        for (uint32_t i = 0; i < dfr_span_accs(f->shared, &f->spans[k]); i++)
            for (uint32_t x = 0; x < tail->graph->n_values; x++)
                if (tail->value[x] == f->spans[k].accs->values[i].port)
                    f->accs[x] = f->spans[k].accs->values[i].data;
}

/* All shares are there: what comes after the last wave. */
static int finish_first(struct first *f, struct df_stats *head, struct df_stats *stats, struct df_error *error)
{
    struct df_options tail = dfr_ranks_on_host(&f->parts, DFR_TAIL, &f->options);
    struct df_error why;

    find_accs(f);
    tail.accs = f->accs;
    tail.accs_waves = f->waves;
    tail.trace_part = &f->view.traces[DFR_TAIL];
    int status = dfr_part_finish(f->head, head, error);
    if (status == DF_OK)
        status = dfr_part_open(&f->parts, DFR_TAIL, &tail, f->once, f->n_once, &f->tail, error);
    if (status == DF_OK && f->resumable)
        status = dfr_resumable_ended(f->resumable, f->waves, error);
    if (f->resumable) {                 /* in any case: it has a thread */
        struct df_run *last = status == DF_OK ? dfr_part_run(f->tail) : NULL;
        int written = dfr_resumable_end(f->resumable, last, last, &why);
        if (status == DF_OK && written != DF_OK)
            status = dfr_error(error, written, "%s", why.text);
    }
    return status == DF_OK ? dfr_part_finish(f->tail, stats, error) : status;
}

static int finish_and_view(struct first *f, struct df_stats *stats, struct df_error *error)
{
    struct df_stats *head = calloc(1, sizeof *head);
    int status = !head ? dfr_error_memory(error) : f->nothing ? DF_OK : finish_first(f, head, stats, error);

    if (status == DF_OK && f->view.figures)
        dfr_view_end(&f->view, head, f->nothing ? head : stats, f->nothing ? 0 : f->waves);
    free(head);
    return status;
}

static void free_first(struct first *f)
{
    dfr_part_close(f->head);
    dfr_part_close(f->tail);
    dfr_spans_free(f->spans, f->n_spans);
    free(f->span_of);
    free(f->once);
    free(f->accs);
    dfr_parts_free(&f->parts);
}

/* All parts have had the waves before this one. */
static int64_t least_waves(const struct first *f)
{
    int64_t least = INT64_MAX;
    for (uint32_t k = 0; k < f->n_spans; k++)
        least = f->spans[k].waves < least ? f->spans[k].waves : least;
    return f->n_spans > 0 ? least : 0;
}

static int be_first(struct dfr_comm *comm, const struct dfr_shared *shared, const struct df_options *options, uint64_t hash,
                    const struct dfr_ranks_options *ranks, struct df_stats *stats, struct df_error *error)
{
    struct first f = { .shared = shared, .comm = comm, .ranks = ranks, .options = *options, .waves = -1 };
    struct dfr_manager_state state;
    struct df_error why;

    f.failed = ranks->figures || f.options.trace_path ? dfr_view_begin(&f.view, comm->link->size, shared->graph->n_nodes, &f.options, &f.why) : DF_OK;
    if (f.failed == DF_OK)
        f.failed = open_first(&f, &f.why);
    int status = manage(&f, hash, &state, error);
    int kept = DF_OK;
    if (status == DF_OK)
        status = finish_and_view(&f, stats, error);
    else if (f.resumable)
        kept = dfr_resumable_end(f.resumable, NULL, false, &why);
    if (status == DF_E_STOPPED && f.resumable && dfr_asked()) {
        dfr_view_end_trace(&f.view, status, NULL);
        comm->link->close(comm->link, comm->whole);
        if (kept == DF_OK)
            dfr_resumable_kept(f.resumable, least_waves(&f));
        dfr_resumable_leave(f.resumable, !state.gave_up);
    }
    status = dfr_view_end_trace(&f.view, status, error);
    dfr_view_free(&f.view, status == DF_OK ? ranks->figures : NULL);
    free_first(&f);
    return f.resumable ? dfr_resumable_close(f.resumable, status, error) : status;
}

/* ---- all ranks ---- */

int dfr_shares_run(struct dfr_link *link, const struct df_graph *graph, const struct df_options *from, const struct dfr_ranks_options *ranks,
                   struct df_stats *stats, struct df_error *error)
{
    char *facts = dfr_facts_of(graph, from->args);
    struct dfr_comm comm = { .link = link, .facts = facts, .whole = true };
    struct df_options options = *from;
    struct dfr_shared shared;
    int status = dfr_shared_find(graph, options.args, &shared, error);

    options.fed = ring;
    options.fed_arg = &comm;
    if (status == DF_OK) /* ranks that share waves have other tokens, and so another hash */
        status = (link->rank == 0 ? be_first : dfr_share_rank_work)(&comm, &shared, &options, ~dfr_graph_digest(graph, options.args), ranks, stats, error);
    dfr_shared_free(&shared);
    link->close(link, comm.whole);
    free(facts);
    return status;
}

int dfr_shares_or_ranks_run(struct dfr_link *link, const struct df_graph *graph, const struct df_options *options,
                            const struct dfr_ranks_options *ranks, enum dfr_share_what what, struct df_stats *stats, struct df_error *error)
{
    bool parts;
    int status = dfr_shares_choose(graph, options->args, link->size, ranks->resume && ranks->resume->checkpoint_s > 0, what, &parts, error);

    if (status == DF_OK)
        return (parts ? dfr_shares_run : dfr_ranks_run)(link, graph, options, ranks, stats, error);
    status = link->rank > 0 ? DF_OK : status; /* the first rank says it */
    link->close(link, true);
    return status;
}
