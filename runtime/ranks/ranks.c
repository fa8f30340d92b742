/* ranks.c - the graph's side of comm.h on the first rank, with HEAD and TAIL (ranks.h); and what both sides are given. */
#include "runtime/ranks/ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/interrupt.h"
#include "runtime/ranks/ranks_figures.h"
#include "runtime/ranks/ranks_impl.h"
#include "runtime/engine/host_memory.h"
#include "runtime/engine/log.h"
#include "runtime/graph/scalars.h"
#include "runtime/record/digest.h"
#include "runtime/record/facts.h"
#include "runtime/record/held.h"
#include "runtime/record/outputs.h"
#include "runtime/io/state.h"
#include "runtime/skips/skips.h"
#include "runtime/threads/clock.h"


static void ring(void *comm)
{
    dfr_comm_ring(comm);
}

/* ---- the first rank ---- */

/* What HEAD has made for TAIL of a wave, until BODY's result is there. */
struct waiting {
    struct dfr_message *message;
    struct waiting *next;
};

struct first {
    const struct dfr_parts *parts;
    struct dfr_comm *comm;
    struct dfr_part *head, *tail;
    struct dfr_resumable *resumable;    /* NULL: no journal is written */
    bool nothing;                       /* all waves are done */
    const void **accs;                  /* by value of TAIL's graph, with which TAIL begins; NULL: as declared */
    int64_t *accs_first;                /* by node of it; NULL: all begin with the first wave */
    bool pauses;                        /* TAIL gets no waves now, for a checkpoint */
    int64_t limit;                      /* waves */
    int64_t expected;                   /* waves, as sources say; 0: none does */
    const struct dfr_ranks_options *ranks;
    const struct dfr_ranks_relay *relay; /* NULL: ranks share waves */
    int64_t head_first, first;          /* the first wave of HEAD; the first that is handed out */
    int64_t begun;                      /* the next wave of HEAD */
    int n_live, n_dead;                 /* other ranks */
    int64_t ended;                      /* the waves before this one have ended in TAIL */
    struct dfr_value *values, *both;    /* room for the tokens of all ports */
    struct dfr_inputs inputs;           /* of sources with @worker */
    bool passes_by;                     /* some tokens go from HEAD to TAIL */
    uint64_t waiting_bytes, most_bytes; /* of these, those that wait; no more begin to wait then */
    int failed;                         /* the parts could not be opened, and the workers are still to hear it */
    struct df_error why;
    struct waiting *oldest, **newest;
    struct dfr_view view;               /* of what all ranks do */
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
    int status = dfr_part_poll(f->head, error);
    while (status == DF_OK && f->begun < f->limit && dfr_part_has_room(f->head))
        status = dfr_part_begin(f->head, f->begun++, NULL, 0, &local, error);
    return status;
}

/* The oldest wave of HEAD, if it has ended. Those that are made for HEAD alone are dropped. */
static int64_t head_ended(struct first *f)
{
    int64_t wave;
    while ((wave = dfr_part_ended(f->head, true)) >= 0 && f->head_first + wave < f->first)
        dfr_part_release(f->head, wave);
    return wave;
}

static int keep_for_tail(struct first *f, int64_t wave, const struct dfr_head *head, struct df_error *error)
{
    struct waiting *item;
    uint32_t n;

    if (!f->passes_by)
        return DF_OK;
    dfr_part_values(f->head, wave, DFR_TAIL, f->values, &n);
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
    int status = f->nothing ? DF_OK : begin_head(f, error);
    uint32_t n;
    int64_t wave = status == DF_OK && !f->nothing ? head_ended(f) : -1;

    if (status != DF_OK || f->waiting_bytes > f->most_bytes)
        return status;
    if (wave < 0) {
        *over = f->nothing || dfr_part_is_over(f->head) || (f->begun == f->limit && dfr_part_is_idle(f->head));
        return DF_OK;
    }
    if ((status = keep_for_tail(f, wave, head, error)) != DF_OK)
        return status;
    dfr_part_values(f->head, wave, DFR_BODY, f->values, &n);
    *give = dfr_message_make(head, f->values, n);
    dfr_part_release(f->head, wave);
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
    int status = f->pauses ? DF_OK : dfr_part_poll(f->tail, error);
    int64_t local;

    if (status != DF_OK || f->pauses || !dfr_part_has_room(f->tail))
        return status;
    if (message->n_values > f->parts->n_ports)
        return dfr_error(error, DF_E_FORMAT, "a result has %u tokens, more than cross the cut", message->n_values);
    status = dfr_part_begin(f->tail, message->head.wave, f->both, merge(f, message, f->oldest ? f->oldest->message : NULL), &local,
                            error);
    drop_oldest(f);
    *taken = true;
    return status;
}

static void tell_progress(struct first *f)
{
    struct df_run *head = f->head ? dfr_part_run(f->head) : NULL;
    int64_t expected = head ? dfr_expected_waves(head) : 0;

    if (!f->ranks->progress || f->nothing)
        return;
    if (expected > 0)
        f->expected = expected < f->limit ? expected : f->limit;
    expected = f->expected > 0 ? f->expected : f->limit;
    f->ranks->progress(f->ranks->progress_arg, f->ended - f->first, expected < INT64_MAX ? expected - f->first : 0, f->n_live,
                       f->n_dead);
}

static int ended(void *arg, unsigned most, unsigned *n, struct df_error *error)
{
    struct first *f = arg;
    int64_t wave;
    int status = f->failed;

    *n = 0;
    if (status != DF_OK)
        *error = f->why;
    else if (!f->nothing && !(f->pauses && dfr_part_is_idle(f->tail))) /* else a checkpoint may be written */
        status = dfr_part_poll(f->tail, error);
    for (; status == DF_OK && !f->nothing && *n < most && (wave = dfr_part_ended(f->tail, true)) >= 0; ++*n)
        dfr_part_release(f->tail, wave);
    f->ended += *n;
    if (*n > 0 && f->relay && f->relay->ended)
        f->relay->ended(f->relay->arg, f->comm, f->ended - f->first);
    tell_progress(f);
    if (f->resumable && dfr_asked())
        dfr_comm_stop(f->comm);
    if (status == DF_OK && f->resumable) {
        status = dfr_resumable_ended(f->resumable, f->ended, error);
        f->pauses = dfr_resumable_pauses(f->resumable, dfr_part_run(f->tail), dfr_part_is_idle(f->tail));
    }
    return status;
}

/* Does the host have code for all that the part calls? */
static bool runs_on_host(const struct dfr_cut *cut)
{
    const struct df_graph *g = cut->graph;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (!dfr_cut_is_given(cut, v) && !(g->functions && g->functions[g->nodes[v].kernel].cpu))
            return false;
    return true;
}

struct df_options dfr_ranks_on_host(const struct dfr_parts *parts, unsigned which, const struct df_options *from)
{
    struct df_options options = *from;
    if (runs_on_host(&parts->cuts[which])) {
        options.device = DF_DEVICE_NONE;
        options.policy = NULL;
    }
    return options;
}

/* Does a node of this part keep something from wave to wave? */
static bool keeps(const struct dfr_parts *parts, unsigned which)
{
    for (uint32_t v = 0; v < parts->graph->n_nodes; v++)
        if (parts->place[v] == which && dfr_node_keeps(parts->graph, v))
            return true;
    return false;
}

/* ---- @worker ---- */

/* Is there a name in which each wave has a number, or one that says that nothing is written? */
static bool writes_by_wave(const struct df_graph *g, const union df_scalar *values, uint32_t v)
{
    const struct df_kernel *k = &g->kernels[g->nodes[v].kernel];
    const union df_scalar *own = values + g->works[g->nodes[v].work].first_scalar;
    bool any = false;

    for (uint32_t i = 0; i < k->n_scalars; i++) {
        const bool text = g->kscalars[k->first_scalar + i].type == DF_S_STR;
        any |= text;
        if (text && (df_path_has_wave(own[i].str) || !own[i].str[0]))
            return true;
    }
    return !any;
}

static int refuse_file(const struct df_graph *g, uint32_t v, const char *why, struct df_error *error)
{
    char name[160];
    df_node_name(g, v, name, sizeof name);
    return dfr_error(error, DF_E_REFUSED, "--cluster: node '%s' is '@worker', %s", name, why);
}

/* What can be told before any wave: sinks that append to one file. */
static int check_sinks(const struct df_graph *g, const union df_scalar *args, struct df_error *error)
{
    union df_scalar *values = NULL;
    int status = dfr_scalars_create(g, args, &values, error);

    for (uint32_t v = 0; v < g->n_nodes && status == DF_OK; v++)
        if (g->nodes[v].flags & DF_NODE_WORKER && df_node_n_out(g, v) == 0 && g->kernels[g->nodes[v].kernel].traits & DF_ORDERED &&
            !writes_by_wave(g, values, v))
            status = refuse_file(g, v, "and writes one file for all waves, which no rank has in order: with %d in its name each wave has a file", error);
    free(values);
    return status;
}

static int find_inputs(struct first *f, const struct df_options *options, struct df_error *error)
{
    int status = dfr_inputs_of_workers(f->parts->graph, options->args, &f->inputs, error);

    for (size_t i = 0; i < f->inputs.n && status == DF_OK; i++)
        if (f->inputs.files[i].pipe)
            status = dfr_error(error, DF_E_REFUSED, "--cluster: '%s' can be read once only, and not by all ranks, as '@worker' says", f->inputs.files[i].path);
    return status;
}

/* Does the worker read the files that this rank sees? */
static bool admits(void *arg, const struct dfr_message *hello, char *why, size_t size)
{
    const struct first *f = arg;
    const struct dfr_value *files = hello->n_values > 1 ? &hello->values[1] : NULL;

    return dfr_inputs_are(&f->inputs, files ? files->data : NULL, files ? files->bytes : 0, why, size);
}

/* ---- begin and end ---- */

/* The accs of checkpoints are TAIL's. */
static int move_accs(struct first *f, struct df_options *options, struct df_error *error)
{
    const struct dfr_cut *cut = &f->parts->cuts[DFR_TAIL];
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
static int64_t find_first(const struct first *f, const struct df_options *options)
{
    const struct df_graph *g = f->parts->graph;
    int64_t first = INT64_MAX;

    for (uint32_t v = 0; v < g->n_nodes; v++) {
        const int64_t own = !dfr_node_keeps(g, v) ? options->done_waves
                            : options->accs_first && dfr_node_keeps_accs(g, v) ? options->accs_first[v] : 0;
        if (f->parts->place[v] == DFR_TAIL && !(g->nodes[v].flags & DF_NODE_ONCE) && own < first)
            first = own;
    }
    return first < INT64_MAX ? first : options->done_waves;
}

/* Opens the journal, and finds the waves with which the parts begin. */
static int open_journal(struct first *f, const struct dfr_ranks_options *ranks, struct df_options *options, struct df_error *error)
{
    if (!ranks->resume)
        return DF_OK;
    int status = dfr_resumable_open(f->parts->graph, options, ranks->resume, &f->resumable, error);
    f->nothing = status == DF_OK && !f->resumable;
    if (status != DF_OK || f->nothing)
        return status;
    f->limit = dfr_resumable_waves(f->resumable).limit;
    f->first = f->ended = find_first(f, options);
    f->head_first = f->begun = keeps(f->parts, DFR_HEAD) ? 0 : f->first;
    dfr_outputs_part(options->outputs, f->parts->cuts[DFR_HEAD].graph, f->parts->cuts[DFR_HEAD].node);
    dfr_outputs_part(options->outputs, f->parts->cuts[DFR_TAIL].graph, f->parts->cuts[DFR_TAIL].node);
    dfr_resumable_begin(f->resumable);
    return move_accs(f, options, error);
}

static int open_first(struct first *f, const struct dfr_ranks_options *ranks, const struct df_options *from, struct df_error *error)
{
    const uint32_t n_ports = f->parts->n_ports;
    struct df_options options = *from, head, tail;
    uint32_t n_once;
    int status = check_sinks(f->parts->graph, from->args, error);

    if (status == DF_OK)
        status = find_inputs(f, from, error);
    if (status == DF_OK)
        status = open_journal(f, ranks, &options, error);
    if (status != DF_OK || f->nothing)
        return status;
    head = dfr_ranks_on_host(f->parts, DFR_HEAD, &options), tail = dfr_ranks_on_host(f->parts, DFR_TAIL, &options);
    head.trace_part = &f->view.traces[DFR_HEAD];
    tail.trace_part = &f->view.traces[DFR_TAIL];
    tail.accs = f->accs;
    tail.accs_first = f->accs_first;
    tail.accs_waves = f->accs ? f->first : 0;
    head.accs_waves = 0;
    head.done_waves = f->first;         /* what TAIL is to get, HEAD makes whole */
    f->values = calloc(n_ports + 1u, sizeof *f->values);
    f->both = calloc(2 * (n_ports + 1u), sizeof *f->both);
    if (!f->values || !f->both)
        return dfr_error_memory(error);
    status = dfr_part_open(f->parts, DFR_HEAD, &head, NULL, 0, &f->head, error);
    if (status == DF_OK)
        status = dfr_part_once(f->head, f->values, &n_once, error);
    if (status == DF_OK)
        status = dfr_part_open(f->parts, DFR_TAIL, &tail, f->values, n_once, &f->tail, error);
    if (status == DF_OK && f->resumable)
        dfr_resumable_tail(f->resumable, f->parts->cuts[DFR_TAIL].value);
    return status;
}

void dfr_ranks_tell(void *arg, const char *sentence)
{
    (void)arg;
    dfr_say("warning: %s", sentence);
}

/* ---- what the ranks did ---- */

static void read_report(void *arg, int rank, const struct dfr_message *report)
{
    dfr_view_report(&((struct first *)arg)->view, rank, report);
}

static void note_live(void *arg, int n_live, int n_dead)
{
    struct first *f = arg;
    f->n_live = n_live;
    f->n_dead = n_dead;
}

static void note_window(void *arg, double now_s, int rank, unsigned window, double rate)
{
    struct first *f = arg;
    dfr_windows_add(&f->view.figures->windows, now_s, rank, window, rate);
}

static void keep_figures(void *arg, const struct dfr_manager *manager)
{
    dfr_view_over(&((struct first *)arg)->view, manager);
}

/* options: with what is made once, unless the parts could not be opened. */
static int manage(struct first *f, struct dfr_manager_options *options, const struct dfr_ranks_options *ranks,
                  struct dfr_manager_state *state, struct df_error *error)
{
    const struct dfr_manage_side side = { .arg = f, .next = next, .result = result, .ended = ended, .over = keep_figures,
                                          .at_once = f->nothing || f->failed != DF_OK };

    options->epoch = f->resumable ? dfr_resumable_waves(f->resumable).epoch : 1;
    if (f->relay) {
        options->epoch <<= DFR_GENERATION_BITS;
        options->relay = f->relay->relay;
        f->relay->begin(f->relay->arg, options->once, options->n_once);
    }
    options->first_wave = f->first;
    options->grace_s = f->resumable ? fmax(ranks->resume->grace_s, 1e-3) : 0;
    options->window = ranks->window;
    options->wave_timeout_s = ranks->wave_timeout_s;
    options->beat_s = dfr_ranks_beat_s(ranks);
    options->beat_timeout_s = ranks->heartbeat_timeout_s;
    f->most_bytes = (ranks->memory_bytes ? ranks->memory_bytes : dfr_host_bytes() / 4) / 2;
    options->memory_bytes = f->most_bytes;
    options->tell = dfr_ranks_tell;
    options->arg = f;
    options->admits = admits;
    options->stores = dfr_held_writes(f->parts->graph);
    options->stored_waves = f->resumable ? dfr_resumable_waves(f->resumable).done : 0;
    options->live_changed = note_live;
    if (f->view.figures) {
        dfr_view_ask(&f->view, options);
        options->window_changed = f->relay ? NULL : note_window;
        options->report = read_report;
    }
    return dfr_comm_manage(f->comm, options, &side, state, error);
}

/* The waves have ended, if *error says nothing else. */
static int finish_first(struct first *f, int status, struct df_stats *stats, struct df_error *error)
{
    struct df_stats *head = f->view.figures ? calloc(1, sizeof *head) : NULL;
    struct df_error why;

    if (f->nothing) {
        if (status == DF_OK && head)
            dfr_view_end(&f->view, head, head, f->ended - f->first);
        free(head);
        return dfr_view_end_trace(&f->view, status, error);
    }
    if (status == DF_OK)
        status = dfr_part_finish(f->head, head, error);
    if (f->resumable) {
        struct df_run *tail = f->tail && (status == DF_OK || dfr_part_is_idle(f->tail)) ? dfr_part_run(f->tail) : NULL;
        int written = dfr_resumable_end(f->resumable, tail, status == DF_OK && tail, &why);
        if (status == DF_OK && written != DF_OK)
            status = dfr_error(error, written, "%s", why.text);
    }
    if (status == DF_OK)
        status = dfr_part_finish(f->tail, stats, error);
    if (status == DF_OK && head)
        dfr_view_end(&f->view, head, stats, f->ended - f->first);
    free(head);
    return dfr_view_end_trace(&f->view, status, error);
}

static void free_first(struct first *f, int status)
{
    dfr_part_close(f->head);
    dfr_part_close(f->tail);
    while (f->oldest)
        drop_oldest(f);
    free(f->values);
    free(f->both);
    free(f->accs);
    free(f->accs_first);
    dfr_inputs_free(&f->inputs);
    dfr_view_free(&f->view, status == DF_OK ? f->ranks->figures : NULL);
}

int dfr_ranks_first(struct dfr_comm *comm, const struct dfr_parts *parts, const struct df_options *from, uint64_t hash,
                    const struct dfr_ranks_options *ranks, const struct dfr_ranks_relay *relay, struct df_stats *stats, struct df_error *error)
{
    struct df_options own_options = *from, *options = &own_options;
    struct first f = { .parts = parts, .comm = comm, .ranks = ranks, .relay = relay, .limit = options->waves, .newest = &f.oldest,
                       .passes_by = goes(parts, DFR_HEAD, DFR_TAIL) };
    struct dfr_manager_options own = { .hash = hash };
    struct dfr_manager_state state;
    int status;

    if (f.limit < 0)
        f.limit = df_graph_has_streams(parts->graph) ? INT64_MAX : 1;
    f.failed = ranks->figures || options->trace_path ? dfr_view_begin(&f.view, comm->link->size, parts->graph->n_nodes, options, &f.why) : DF_OK;
    if (f.view.figures)
        f.view.figures->by_stages = relay;
    if (f.failed == DF_OK)
        f.failed = open_first(&f, ranks, options, &f.why);
    if (f.failed == DF_OK && !f.nothing)
        f.failed = dfr_part_once(f.head, f.values, &own.n_once, &f.why);
    own.once = f.values;
    status = finish_first(&f, manage(&f, &own, ranks, &state, error), stats, error);
    if (status == DF_E_STOPPED && f.resumable && dfr_asked()) {
        dfr_view_end_trace(&f.view, status, NULL);
        comm->link->close(comm->link, comm->whole);
        dfr_resumable_leave(f.resumable, !state.gave_up);
    }
    free_first(&f, status);
    return f.resumable ? dfr_resumable_close(f.resumable, status, error) : status;
}

int dfr_ranks_run(struct dfr_link *link, const struct df_graph *graph, const struct df_options *from,
                  const struct dfr_ranks_options *ranks, struct df_stats *stats, struct df_error *error)
{
    char *facts = dfr_facts_of(graph, from->args);
    struct dfr_comm comm = { .link = link, .facts = facts, .whole = true };
    struct df_options options = *from;
    struct dfr_parts parts;
    int status = dfr_parts_make(graph, &parts, error);

    options.fed = ring;
    options.fed_arg = &comm;
    if (status != DF_OK && link->rank > 0)
        status = DF_OK;                 /* the first rank says it; if this one failed, too, mpirun might end that one before */
    else if (status == DF_OK)
        status = link->rank == 0 ? dfr_ranks_first(&comm, &parts, &options, dfr_graph_digest(graph, options.args), ranks, NULL, stats, error)
                                 : dfr_ranks_work(&comm, &parts, &options, dfr_graph_digest(graph, options.args), ranks, stats, error);
    dfr_parts_free(&parts);
    link->close(link, comm.whole);
    free(facts);
    return status;
}
