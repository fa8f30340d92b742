/* rank0_parts.c - the first rank hands out shares: it makes what fires once, and runs what comes after the last wave; ranks.c calls it. Each of the other ranks
 * runs a share from the first wave to the last, and gives its parts (rank0.h, replica_parts.h).
 *
 * Shares:   The protocol is manager.h's, with a share in the place of a wave, and a window of one. So the share of a rank that dies goes to another rank,
 *           which begins where that one began, and each share's parts are accepted once. There are as many shares as ranks that compute, but no more than
 *           parts.
 * Steps:    With checkpoints a rank runs its share for checkpoint_s seconds, and gives the parts as they are then. The first rank writes them (record/spans.h), and
 *           gives the share out again. A signal to the first rank ends the steps early, and so does one to the rank itself.
 * Waves:    All shares must have the same number of waves, or the run fails: the inputs are not the same on all ranks.
 * Journal:  Before the last wave nothing is done. A run that goes on begins with the checkpoints, with as many ranks as there are.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/error.h"
#include "runtime/ranks/rank0.h"
#include "runtime/ranks/replica_parts.h"
#include "runtime/record/spans.h"
#include "runtime/record/writer.h"

struct first {
    struct dfr_rank0 rank0;             /* the first member */
    const struct dfr_shared *shared;
    int64_t most;                       /* waves in all; below 0: until streams end */
    struct dfr_span *spans;             /* n_spans of them */
    uint32_t n_spans, n_whole;          /* n_whole: those that have had all waves */
    struct dfr_checkpoints checkpoints;
    uint32_t *span_of;                  /* by number of a GIVE; room for n_room, n_given of them */
    size_t n_room, n_given;
    int64_t n_taken, n_ended;           /* results */
    int64_t waves;                      /* of all spans; -1: none has had them all */
    const void **accs;                  /* by value of TAIL's graph */
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
    const struct dfr_share_give give = { span->first, span->end, span->waves, f->most,
                                         f->checkpoints.path ? f->rank0.ranks->resume->checkpoint_s : 0, f->checkpoints.path != NULL };
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
    struct dfr_span *span = find_span(f);

    *over = f->n_whole == f->n_spans;
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
    if (f->rank0.failed == DF_OK)
        f->rank0.failed = take_result(f, message, &f->rank0.why);
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

    (void)error;
    *n = left < most ? (unsigned)left : most;
    f->n_ended += *n;
    return DF_OK;
}

/* ---- begin ---- */

/* What is said when spans go on where a run before has left them. */
static void tell_resumed(const struct first *f)
{
    int64_t least = INT64_MAX, most = 0;

    for (uint32_t k = 0; k < f->n_spans; k++) {
        least = f->spans[k].waves < least ? f->spans[k].waves : least;
        most = f->spans[k].waves > most ? f->spans[k].waves : most;
    }
    if (most > least)
        dfr_resumable_say(f->rank0.resumable, "the accs are as they were after %lld to %lld waves", (long long)least, (long long)most);
    else if (most > 0)
        dfr_resumable_say(f->rank0.resumable, "the accs are as they were after %lld waves", (long long)most);
}

/* As many waves as one part has had are had by all, also if fewer are wanted now. */
static void want_all_had(struct first *f)
{
    for (uint32_t k = 0; k < f->n_spans && f->most >= 0; k++)
        f->most = f->spans[k].waves > f->most ? f->spans[k].waves : f->most;
}

static int open_spans(struct first *f, struct df_error *error)
{
    struct dfr_resumable *resumable = f->rank0.resumable;
    struct dfr_checkpoints *c = &f->checkpoints;

    c->shared = f->shared;
    if (resumable) {
        c->path = dfr_resumable_accs(resumable, &c->program);
        c->writer = dfr_resumable_writer(resumable);
    }
    int status = dfr_spans_make(f->shared, (uint32_t)f->rank0.comm->link->size - 1, c->path, c->program, &f->spans, &f->n_spans, error);

    if (status == DF_OK)
        want_all_had(f);
    if (status == DF_OK && resumable)
        tell_resumed(f);
    return status;
}

/* HEAD gets no waves, and TAIL what comes after the last one. */
static int open_head(void *arg, struct df_error *error)
{
    struct first *f = arg;

    f->rank0.options.waves = -1;
    f->rank0.options.feed = 0;
    f->rank0.options.done_waves = 0;
    int status = open_spans(f, error);
    if (status != DF_OK)
        return status;
    struct df_options head = dfr_rank0_options(&f->rank0, DFR_HEAD);
    return dfr_rank0_open_head(&f->rank0, &head, error);
}

/* A share's next step need not wait until others have ended theirs. */
static void manage(void *arg, struct dfr_manager_options *options)
{
    const struct dfr_comm *comm = ((struct first *)arg)->rank0.comm;

    options->window = 1;
    options->places = 64 * (comm->link->size > 1 ? (unsigned)comm->link->size - 1 : 1);
    options->accepted = accepted;
}

/* ---- the end ---- */

/* Where TAIL finds the accs of all shares. */
static int find_accs(struct first *f, struct df_error *error)
{
    const struct dfr_cut *tail = &f->rank0.parts->cuts[DFR_TAIL];

    f->accs = calloc(tail->graph->n_values + 1u, sizeof *f->accs);
    if (!f->accs)
        return dfr_error_memory(error);
    for (uint32_t k = 0; k < f->n_spans; k++)
        for (uint32_t i = 0; i < dfr_span_accs(f->shared, &f->spans[k]); i++)
            for (uint32_t x = 0; x < tail->graph->n_values; x++)
                if (tail->value[x] == f->spans[k].accs->values[i].port)
                    f->accs[x] = f->spans[k].accs->values[i].data;
    return DF_OK;
}

/* All shares are there: what comes after the last wave begins. */
static int open_tail(struct first *f, struct df_error *error)
{
    struct dfr_rank0 *r = &f->rank0;
    struct df_options tail = dfr_rank0_options(r, DFR_TAIL);
    int status = find_accs(f, error);

    tail.accs = f->accs;
    tail.accs_waves = f->waves;
    if (status == DF_OK)
        status = dfr_part_open(r->parts, DFR_TAIL, &tail, r->once, r->n_once, &r->tail, error);
    return status == DF_OK && r->resumable ? dfr_resumable_ended(r->resumable, f->waves, error) : status;
}

/* All parts have had the waves before this one. */
static int64_t least_waves(const struct first *f)
{
    int64_t least = INT64_MAX;
    for (uint32_t k = 0; k < f->n_spans; k++)
        least = f->spans[k].waves < least ? f->spans[k].waves : least;
    return f->n_spans > 0 ? least : 0;
}

static int last(void *arg, int status, struct df_error *error)
{
    struct first *f = arg;
    struct dfr_resumable *resumable = f->rank0.resumable;
    struct df_error why;

    if (status == DF_OK)
        return open_tail(f, error);
    if (resumable && dfr_writer_wait(dfr_resumable_writer(resumable), &why) == DF_OK)
        dfr_resumable_kept(resumable, least_waves(f));
    return status;
}

static int64_t waves(const void *arg)
{
    return ((const struct first *)arg)->waves;
}

int dfr_rank0_parts(struct dfr_comm *comm, const struct dfr_shared *shared, const struct df_options *options, uint64_t hash,
                    const struct dfr_ranks_options *ranks, struct df_stats *stats, struct df_error *error)
{
    static const struct dfr_handout handout = { .parts = true, .open = open_head, .manage = manage, .next = next, .result = result, .ended = ended,
                                                .last = last, .waves = waves };
    struct dfr_parts parts;
    int status = dfr_parts_make_ends(shared->graph, &parts, error);

    if (status != DF_OK)
        return dfr_rank0_let_go(comm, hash, ranks, status, error);
    struct first f = { .rank0 = { .handout = &handout, .comm = comm, .parts = &parts, .ranks = ranks, .options = *options, .hash = hash },
                       .shared = shared, .most = options->waves, .waves = -1 };
    status = dfr_rank0_run(&f.rank0, stats, error);
    dfr_spans_free(f.spans, f.n_spans);
    free(f.span_of);
    free(f.accs);
    dfr_parts_free(&parts);
    return status;
}
