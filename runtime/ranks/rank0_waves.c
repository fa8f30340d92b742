/* rank0_waves.c - the first rank hands out waves, for ranks.c, and to pipeline stages for rank0_stages.c: HEAD makes their inputs, and TAIL gets their results
 * in order (rank0.h). */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/engine/host_memory.h"
#include "runtime/io/state.h"
#include "runtime/ranks/rank0.h"
#include "runtime/record/held.h"
#include "runtime/skips/skips.h"

/* What HEAD has made for TAIL of a wave, until BODY's result is there. */
struct waiting {
    struct dfr_message *message;
    struct waiting *next;
};

struct first {
    struct dfr_rank0 rank0;             /* the first member */
    const void **accs;                  /* by value of TAIL's graph, with which TAIL begins; NULL: as declared */
    int64_t *accs_first;                /* by node of it; NULL: all begin with the first wave */
    bool pauses;                        /* TAIL gets no waves now, for a checkpoint */
    int64_t limit;                      /* waves */
    int64_t expected;                   /* waves, as sources say; 0: none does */
    const struct dfr_manager_relay *relay; /* NULL: ranks share waves */
    int64_t head_first, first;          /* the first wave of HEAD; the first that is handed out */
    int64_t begun;                      /* the next wave of HEAD */
    int64_t ended;                      /* the waves before this one have ended in TAIL */
    struct dfr_value *values, *both;    /* room for the tokens of all ports */
    bool passes_by;                     /* some tokens go from HEAD to TAIL */
    uint64_t waiting_bytes, most_bytes; /* of these, those that wait; no more begin to wait then */
    struct waiting *oldest, **newest;
};

static bool goes(const struct dfr_parts *parts, unsigned from, unsigned to)
{
    for (uint32_t k = 0; k < parts->n_ports; k++)
        if (!parts->ports[k].once && parts->ports[k].from == from && parts->ports[k].to >> to & 1)
            return true;
    return false;
}

static int begin_head(struct first *f, struct df_error *error)
{
    int64_t local;
    int status = dfr_part_poll(f->rank0.head, error);
    while (status == DF_OK && f->begun < f->limit && dfr_part_has_room(f->rank0.head))
        status = dfr_part_begin(f->rank0.head, f->begun++, NULL, 0, &local, error);
    return status;
}

/* The oldest wave of HEAD, if it has ended. Those that are made for HEAD alone are dropped. */
static int64_t head_ended(struct first *f)
{
    int64_t wave;
    while ((wave = dfr_part_ended(f->rank0.head, true)) >= 0 && f->head_first + wave < f->first)
        dfr_part_release(f->rank0.head, wave);
    return wave;
}

static int keep_for_tail(struct first *f, int64_t wave, const struct dfr_head *head, struct df_error *error)
{
    struct waiting *item;
    uint32_t n;

    if (!f->passes_by)
        return DF_OK;
    dfr_part_values(f->rank0.head, wave, DFR_TAIL, f->values, &n);
    item = calloc(1, sizeof *item);
    if (!item || !(item->message = dfr_message_make(head, f->values, n))) {
        free(item);
        return dfr_error_memory(error);
    }
    f->waiting_bytes += item->message->size;
    *f->newest = item;
    f->newest = &item->next;
    return DF_OK;
}

static void drop_oldest(struct first *f)
{
    struct waiting *item = f->oldest;
    if (!item)
        return;
    f->oldest = item->next;
    if (!f->oldest)
        f->newest = &f->oldest;
    f->waiting_bytes -= item->message->size;
    dfr_message_drop(item->message);
    free(item);
}

static int next(void *arg, const struct dfr_head *head, struct dfr_message **give, bool *over, struct df_error *error)
{
    struct first *f = arg;
    int status = begin_head(f, error);
    uint32_t n;
    int64_t wave = status == DF_OK ? head_ended(f) : -1;

    if (status != DF_OK || f->waiting_bytes > f->most_bytes)
        return status;
    if (wave < 0) {
        *over = dfr_part_is_over(f->rank0.head) || (f->begun == f->limit && dfr_part_is_idle(f->rank0.head));
        return DF_OK;
    }
    if ((status = keep_for_tail(f, wave, head, error)) != DF_OK)
        return status;
    dfr_part_values(f->rank0.head, wave, DFR_BODY, f->values, &n);
    *give = dfr_message_make(head, f->values, n);
    dfr_part_release(f->rank0.head, wave);
    return *give ? DF_OK : dfr_error_memory(error);
}

/* All tokens that TAIL reads, by rising port: those of the result, and those that HEAD made. */
static uint32_t merge(const struct first *f, const struct dfr_message *result, const struct dfr_message *passed)
{
    uint32_t n = 0, i = 0, k = 0, n_passed = passed ? passed->n_values : 0;
    while (i < result->n_values || k < n_passed) {
        bool first = k == n_passed || (i < result->n_values && result->values[i].port < passed->values[k].port);
        f->both[n++] = first ? result->values[i++] : passed->values[k++];
    }
    return n;
}

static int result(void *arg, const struct dfr_message *message, bool *taken, struct df_error *error)
{
    struct first *f = arg;
    int status = f->pauses ? DF_OK : dfr_part_poll(f->rank0.tail, error);
    int64_t local;

    if (status != DF_OK || f->pauses || !dfr_part_has_room(f->rank0.tail))
        return status;
    if (message->n_values > f->rank0.parts->n_ports)
        return dfr_error(error, DF_E_FORMAT, "a result has %u tokens, more than cross the cut", message->n_values);
    status = dfr_part_begin(f->rank0.tail, message->head.wave, f->both, merge(f, message, f->oldest ? f->oldest->message : NULL), &local,
                            error);
    drop_oldest(f);
    *taken = true;
    return status;
}

static void tell_progress(struct first *f)
{
    const struct dfr_ranks_options *ranks = f->rank0.ranks;
    struct df_run *head = dfr_part_run(f->rank0.head);
    int64_t expected = head ? dfr_expected_waves(head) : 0;

    if (!ranks->progress)
        return;
    if (expected > 0)
        f->expected = expected < f->limit ? expected : f->limit;
    expected = f->expected > 0 ? f->expected : f->limit;
    ranks->progress(ranks->progress_arg, f->ended - f->first, expected < INT64_MAX ? expected - f->first : 0, f->rank0.n_live, f->rank0.n_dead);
}

static int ended(void *arg, unsigned most, unsigned *n, struct df_error *error)
{
    struct first *f = arg;
    struct dfr_rank0 *r = &f->rank0;
    int64_t wave;
    int status = f->pauses && dfr_part_is_idle(r->tail) ? DF_OK : dfr_part_poll(r->tail, error); /* a checkpoint may be written */

    for (; status == DF_OK && *n < most && (wave = dfr_part_ended(r->tail, true)) >= 0; ++*n)
        dfr_part_release(r->tail, wave);
    f->ended += *n;
    tell_progress(f);
    if (status == DF_OK && r->resumable) {
        status = dfr_resumable_ended(r->resumable, f->ended, error);
        f->pauses = dfr_resumable_pauses(r->resumable, dfr_part_run(r->tail), dfr_part_is_idle(r->tail));
    }
    return status;
}

/* ---- begin ---- */

/* Does a node of this part keep something from wave to wave? */
static bool keeps(const struct dfr_parts *parts, unsigned which)
{
    for (uint32_t v = 0; v < parts->graph->n_nodes; v++)
        if (parts->place[v] == which && dfr_node_keeps(parts->graph, v))
            return true;
    return false;
}

/* The accs of checkpoints are TAIL's. */
static int move_accs(struct first *f, struct df_error *error)
{
    struct df_options *options = &f->rank0.options;
    const struct dfr_cut *cut = &f->rank0.parts->cuts[DFR_TAIL];
    const void *const *from = options->accs;
    const int64_t *first = options->accs_first;

    options->accs = NULL;
    options->accs_first = NULL;
    if (!from)
        return DF_OK;
    f->accs = calloc(cut->graph->n_values + 1u, sizeof *f->accs);
    f->accs_first = calloc(cut->graph->n_nodes + 1u, sizeof *f->accs_first);
    if (!f->accs || !f->accs_first)
        return dfr_error_memory(error);
    for (uint32_t x = 0; x < cut->graph->n_values; x++)
        if (df_value_is_acc(cut->graph, x))
            f->accs[x] = from[cut->value[x]];
    for (uint32_t v = 0; v < cut->graph->n_nodes; v++)
        f->accs_first[v] = dfr_cut_is_given(cut, v) ? 0 : first[cut->node[v]];
    return DF_OK;
}

/* The first wave that TAIL gets. */
static int64_t find_first(const struct first *f)
{
    const struct df_options *options = &f->rank0.options;
    const struct df_graph *g = f->rank0.parts->graph;
    int64_t first = INT64_MAX;

    for (uint32_t v = 0; v < g->n_nodes; v++) {
        const int64_t own = !dfr_node_keeps(g, v) ? options->done_waves
                            : options->accs_first && dfr_node_keeps_accs(g, v) ? options->accs_first[v] : 0;
        if (f->rank0.parts->place[v] == DFR_TAIL && !(g->nodes[v].flags & DF_NODE_ONCE) && own < first)
            first = own;
    }
    return first < INT64_MAX ? first : options->done_waves;
}

/* The waves with which the parts begin. */
static int go_on(struct first *f, struct df_error *error)
{
    const struct dfr_rank0 *r = &f->rank0;

    if (!r->resumable)
        return DF_OK;
    f->limit = dfr_resumable_waves(r->resumable).limit;
    f->first = f->ended = find_first(f);
    f->head_first = f->begun = keeps(r->parts, DFR_HEAD) ? 0 : f->first;
    return move_accs(f, error);
}

static int open_parts(void *arg, struct df_error *error)
{
    struct first *f = arg;
    struct dfr_rank0 *r = &f->rank0;
    int status = go_on(f, error);

    f->values = calloc(r->parts->n_ports + 1u, sizeof *f->values);
    f->both = calloc(2 * (r->parts->n_ports + 1u), sizeof *f->both);
    if (status == DF_OK && (!f->values || !f->both))
        status = dfr_error_memory(error);
    if (status != DF_OK)
        return status;
    struct df_options head = dfr_rank0_options(r, DFR_HEAD), tail = dfr_rank0_options(r, DFR_TAIL);
    tail.accs = f->accs;
    tail.accs_first = f->accs_first;
    tail.accs_waves = f->accs ? f->first : 0;
    head.accs_waves = 0;
    head.done_waves = f->first;         /* what TAIL is to get, HEAD makes whole */
    status = dfr_rank0_open_head(r, &head, error);
    if (status == DF_OK)
        status = dfr_part_open(r->parts, DFR_TAIL, &tail, r->once, r->n_once, &r->tail, error);
    if (status == DF_OK && r->resumable)
        dfr_resumable_tail(r->resumable, r->parts->cuts[DFR_TAIL].value);
    return status;
}

static void note_window(void *arg, double now_s, int rank, unsigned window, double rate)
{
    struct first *f = arg;
    dfr_windows_add(&f->rank0.figures->windows, now_s, rank, window, rate);
}

static void manage(void *arg, struct dfr_manager_options *options)
{
    struct first *f = arg;
    const struct dfr_rank0 *r = &f->rank0;

    options->relay = f->relay;
    options->epoch <<= f->relay ? DFR_GENERATION_BITS : 0;
    options->first_wave = f->first;
    options->window = r->ranks->window;
    options->memory_bytes = f->most_bytes = (r->ranks->memory_bytes ? r->ranks->memory_bytes : dfr_host_bytes() / 4) / 2;
    options->stores = dfr_held_writes(r->parts->graph);
    options->stored_waves = r->resumable ? dfr_resumable_waves(r->resumable).done : 0;
    options->window_changed = r->figures && !f->relay ? note_window : NULL;
}

static int64_t waves(const void *arg)
{
    const struct first *f = arg;
    return f->ended - f->first;
}

int dfr_rank0_waves(struct dfr_comm *comm, const struct dfr_parts *parts, const struct df_options *options, uint64_t hash,
                    const struct dfr_ranks_options *ranks, const struct dfr_manager_relay *relay, struct df_stats *stats, struct df_error *error)
{
    static const struct dfr_handout handout = { .open = open_parts, .manage = manage, .next = next, .result = result, .ended = ended, .waves = waves };
    struct first f = { .rank0 = { .handout = &handout, .comm = comm, .parts = parts, .ranks = ranks, .options = *options, .hash = hash }, .relay = relay,
                       .newest = &f.oldest, .passes_by = goes(parts, DFR_HEAD, DFR_TAIL) };

    f.limit = options->waves >= 0 ? options->waves : df_graph_has_streams(parts->graph) ? INT64_MAX : 1;
    int status = dfr_rank0_run(&f.rank0, stats, error);
    while (f.oldest)
        drop_oldest(&f);
    free(f.values);
    free(f.both);
    free(f.accs);
    free(f.accs_first);
    return status;
}
