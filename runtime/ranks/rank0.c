/* rank0.c - what the first rank does, whatever it hands out (rank0.h): begins, runs and ends its side. rank0_waves.c and rank0_parts.c call it with their
 * callbacks; rank0_stages.c goes through rank0_waves.c, and uses it to print warnings and to end a run that cannot begin. */
#include "runtime/ranks/rank0.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/interrupt.h"
#include "runtime/engine/log.h"
#include "runtime/graph/scalars.h"
#include "runtime/record/outputs.h"
#include "runtime/threads/clock.h"

/* ---- HEAD and TAIL ---- */

/* Does the host have code for all that the part calls? */
static bool runs_on_host(const struct dfr_cut *cut)
{
    const struct df_graph *g = cut->graph;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (!dfr_cut_is_given(cut, v) && !(g->functions && g->functions[g->nodes[v].kernel].cpu))
            return false;
    return true;
}

/* HEAD and TAIL read and write, so they need no device, and no policy that was chosen for what computes. */
struct df_options dfr_rank0_options(struct dfr_rank0 *r, unsigned which)
{
    struct df_options options = r->options;
    if (runs_on_host(&r->parts->cuts[which])) {
        options.device = DF_DEVICE_NONE;
        options.policy = NULL;
    }
    options.trace_part = &r->traces[which];
    return options;
}

int dfr_rank0_open_head(struct dfr_rank0 *r, const struct df_options *options, struct df_error *error)
{
    r->once = calloc(r->parts->n_ports + 1u, sizeof *r->once);
    int status = r->once ? dfr_part_open(r->parts, DFR_HEAD, options, NULL, 0, &r->head, error) : dfr_error_memory(error);

    return status == DF_OK ? dfr_part_once(r->head, r->once, &r->n_once, error) : status;
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

static int find_inputs(struct dfr_rank0 *r, struct df_error *error)
{
    int status = dfr_inputs_of_workers(r->parts->graph, r->options.args, &r->inputs, error);

    for (size_t i = 0; i < r->inputs.n && status == DF_OK; i++)
        if (r->inputs.files[i].pipe)
            status = dfr_error(error, DF_E_REFUSED, "--cluster: '%s' can be read once only, and not by all ranks, as '@worker' says", r->inputs.files[i].path);
    return status;
}

/* Does the worker read the files that this rank sees? */
static bool admits(void *arg, const struct dfr_message *hello, char *why, size_t size)
{
    const struct dfr_rank0 *r = arg;
    const struct dfr_value *files = hello->n_values > 1 ? &hello->values[1] : NULL;

    return dfr_inputs_are(&r->inputs, files ? files->data : NULL, files ? files->bytes : 0, why, size);
}

/* ---- what the ranks did ---- */

/* Jobs of the parts that run here are counted beside those of the others. */
static int begin_figures(struct dfr_rank0 *r, struct df_error *error)
{
    struct df_options *options = &r->options;
    int status = dfr_figures_create(r->comm->link->size, r->parts->graph->n_nodes, options->node_stats != NULL, &r->figures, error);

    if (status != DF_OK)
        return status;
    r->figures->by_stages = r->ranks->stages;
    options->node_stats = r->figures->nodes;
    options->node_skips = r->figures->skips;
    r->begun_s = dfr_clock_s();
    if (!options->trace_path)
        return DF_OK;
    status = dfr_cluster_trace_open(&r->trace, options->trace_path, error);
    for (unsigned which = 0; status == DF_OK && which < DFR_PLACES; which++)
        r->traces[which] = (struct dfr_trace_part){ .file = r->trace.output.file, .first_row = which * DF_MAX_WORKERS * 2, .clock.origin_s = r->begun_s };
    strcpy(r->traces[DFR_HEAD].name, "rank 0 head ");
    strcpy(r->traces[DFR_TAIL].name, "rank 0 tail ");
    return status;
}

static void note_untraced(struct dfr_rank0 *r, int rank, const struct dfr_message *report)
{
    char why[256];

    dfr_message_text_of(report, why, sizeof why);
    dfr_say("warning: the trace has not all events of rank %d: %s", rank, why);
    if (rank > 0 && rank < r->figures->n_ranks)
        r->figures->ranks[rank].untraced = true;
}

static void read_report(void *arg, int rank, const struct dfr_message *report)
{
    struct dfr_rank0 *r = arg;
    const struct dfr_value *value = &report->values[0];
    bool read = report->n_values == 1;

    if (report->head.stage == 2) {
        note_untraced(r, rank, report);
        return;
    }
    if (report->head.stage == 1)
        read = read && r->trace.output.file && dfr_cluster_trace_add(&r->trace, value->data, value->bytes);
    else
        read = read && dfr_report_read(r->figures, rank, value->data, value->bytes);
    if (!read)
        dfr_say("warning: what rank %d reports of itself cannot be read", rank);
}

static void keep_figures(void *arg, const struct dfr_manager *manager)
{
    struct dfr_rank0 *r = arg;

    for (int rank = 1; r->figures && rank < r->figures->n_ranks; rank++)
        dfr_manager_figures(manager, rank, &r->figures->ranks[rank]);
}

/* The run has ended well. What HEAD and TAIL did. */
static void add_own_figures(struct dfr_rank0 *r, const struct df_stats *head, const struct df_stats *tail)
{
    struct dfr_rank_figures *own = &r->figures->ranks[0];

    gethostname(own->host, sizeof own->host - 1);
    own->fate = DFR_RANK_WORKED;
    own->reported = true;
    dfr_stats_join(&own->stats, head, "head");
    dfr_stats_join(&own->stats, tail, "tail");
    r->figures->elapsed_s = dfr_clock_s() - r->begun_s;
    r->figures->waves = r->nothing ? 0 : r->handout->waves(r);
}

/* The trace appears if the run has ended well. Gives the status of all. */
static int end_trace(struct dfr_rank0 *r, int status, struct df_error *error)
{
    if (!r->trace.output.file)
        return status;
    int closed = dfr_cluster_trace_close(&r->trace, r->figures, r->begun_s, status == DF_OK, status == DF_OK ? error : NULL);
    r->trace.output.file = NULL;
    return status == DF_OK ? closed : status;
}

/* ---- begin ---- */

static int open_journal(struct dfr_rank0 *r, bool parts, struct df_error *error)
{
    struct dfr_resumable_options wanted;

    if (!r->ranks->resume)
        return DF_OK;
    wanted = *r->ranks->resume;
    wanted.parts = parts;
    int status = dfr_resumable_open(r->parts->graph, &r->options, &wanted, &r->resumable, error);
    r->nothing = status == DF_OK && !r->resumable;
    if (status != DF_OK || r->nothing)
        return status;
    for (unsigned which = DFR_HEAD; which <= DFR_TAIL; which += DFR_TAIL - DFR_HEAD)
        dfr_outputs_part(r->options.outputs, r->parts->cuts[which].graph, r->parts->cuts[which].node);
    dfr_resumable_begin(r->resumable);
    return DF_OK;
}

static int open_all(struct dfr_rank0 *r, struct df_error *error)
{
    const struct df_graph *g = r->parts->graph;
    int status = r->ranks->figures || r->options.trace_path ? begin_figures(r, error) : DF_OK;

    if (status == DF_OK)
        status = check_sinks(g, r->options.args, error);
    if (status == DF_OK)
        status = find_inputs(r, error);
    if (status == DF_OK)
        status = open_journal(r, r->handout->parts, error);
    return status == DF_OK && !r->nothing ? r->handout->open(r, error) : status;
}

/* ---- the manager ---- */

void dfr_ranks_tell(void *arg, const char *sentence)
{
    (void)arg;
    dfr_say("warning: %s", sentence);
}

static void note_live(void *arg, int n_live, int n_dead)
{
    struct dfr_rank0 *r = arg;
    r->n_live = n_live;
    r->n_dead = n_dead;
}

static int next(void *arg, const struct dfr_head *head, struct dfr_message **give, bool *over, struct df_error *error)
{
    struct dfr_rank0 *r = arg;
    *over = r->nothing;
    return r->nothing ? DF_OK : r->handout->next(r, head, give, over, error);
}

static int result(void *arg, const struct dfr_message *message, bool *taken, struct df_error *error)
{
    return ((struct dfr_rank0 *)arg)->handout->result(arg, message, taken, error);
}

static int ended(void *arg, unsigned most, unsigned *n, struct df_error *error)
{
    struct dfr_rank0 *r = arg;

    *n = 0;
    if (r->resumable && dfr_asked())
        dfr_comm_stop(r->comm);
    if (r->failed != DF_OK)
        *error = r->why;
    return r->failed != DF_OK || r->nothing ? r->failed : r->handout->ended(r, most, n, error);
}

static int manage(struct dfr_rank0 *r, struct dfr_manager_state *state, struct df_error *error)
{
    const struct dfr_manage_side side = { .arg = r, .next = next, .result = result, .ended = ended, .over = keep_figures,
                                          .at_once = r->nothing || r->failed != DF_OK };
    struct dfr_manager_options options = { .hash = r->hash, .epoch = 1, .once = r->once, .n_once = r->n_once, .wave_timeout_s = r->ranks->wave_timeout_s,
                                           .beat_s = dfr_ranks_beat_s(r->ranks), .beat_timeout_s = r->ranks->heartbeat_timeout_s, .tell = dfr_ranks_tell,
                                           .arg = r, .admits = admits, .live_changed = note_live };

    if (r->resumable) {
        options.epoch = dfr_resumable_waves(r->resumable).epoch;
        options.grace_s = fmax(r->ranks->resume->grace_s, 1e-3);
    }
    if (r->figures) {
        options.wants = DFR_WANTS_REPORT | (r->figures->nodes ? DFR_WANTS_NODES : 0) | (r->trace.output.file ? DFR_WANTS_TRACE : 0);
        options.origin_s = r->begun_s;
        options.report = read_report;
    }
    if (!side.at_once)
        r->handout->manage(r, &options);
    return dfr_comm_manage(r->comm, &options, &side, state, error);
}

/* ---- the end ---- */

/* What follows the last result. What HEAD did is added to *head. */
static int finish_parts(struct dfr_rank0 *r, int status, struct df_stats *head, struct df_stats *stats, struct df_error *error)
{
    struct df_error why;

    if (status == DF_OK)
        status = dfr_part_finish(r->head, head, error);
    if (r->handout->last)
        status = r->handout->last(r, status, error);
    if (r->resumable) {                 /* in any case: it has a thread */
        struct df_run *tail = r->tail && (status == DF_OK || dfr_part_is_idle(r->tail)) ? dfr_part_run(r->tail) : NULL;
        int written = dfr_resumable_end(r->resumable, tail, status == DF_OK && tail, &why);
        if (status == DF_OK && written != DF_OK)
            status = dfr_error(error, written, "%s", why.text);
    }
    return status == DF_OK ? dfr_part_finish(r->tail, stats, error) : status;
}

/* The waves have ended, if `status` says nothing else. */
static int finish(struct dfr_rank0 *r, int status, struct df_stats *stats, struct df_error *error)
{
    struct df_stats *head = calloc(1, sizeof *head);

    if (!head && status == DF_OK)
        status = dfr_error_memory(error);
    if (!r->nothing)
        status = finish_parts(r, status, head, stats, error);
    if (status == DF_OK && r->figures)
        add_own_figures(r, head, r->nothing ? head : stats);
    free(head);
    return status;
}

int dfr_rank0_let_go(struct dfr_comm *comm, uint64_t hash, const struct dfr_ranks_options *ranks, int status, struct df_error *error)
{
    static const struct dfr_handout none;
    struct dfr_rank0 r = { .handout = &none, .comm = comm, .ranks = ranks, .hash = hash, .failed = status, .why = *error };

    return dfr_rank0_run(&r, NULL, error);
}

int dfr_rank0_run(struct dfr_rank0 *r, struct df_stats *stats, struct df_error *error)
{
    struct dfr_manager_state state;

    if (r->failed == DF_OK)
        r->failed = open_all(r, &r->why);
    int status = finish(r, manage(r, &state, error), stats, error);
    if (status == DF_E_STOPPED && r->resumable && dfr_asked()) {
        end_trace(r, status, NULL);
        r->comm->link->close(r->comm->link, r->comm->whole);
        dfr_resumable_leave(r->resumable, !state.gave_up);
    }
    status = end_trace(r, status, error);
    if (status == DF_OK && r->ranks->figures)
        *r->ranks->figures = r->figures;
    else
        dfr_figures_free(r->figures);
    dfr_part_close(r->head);
    dfr_part_close(r->tail);
    free(r->once);
    dfr_inputs_free(&r->inputs);
    return r->resumable ? dfr_resumable_close(r->resumable, status, error) : status;
}
