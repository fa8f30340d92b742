/* resumable.c - runs that can be resumed, or that make a chunk (resumable.h): df_main() feeds such a run through it, and rank 0 (runtime/ranks/rank0….c) keeps
 * the journal of a run on ranks with it. */
#include "runtime/record/resumable.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/output.h"
#include "runtime/base/status_line.h"
#include "runtime/engine/ending.h"
#include "runtime/engine/log.h"
#include "runtime/io/state.h"
#include "runtime/record/checkpoint.h"
#include "runtime/record/chunk.h"
#include "runtime/record/held.h"
#include "runtime/record/journal.h"
#include "runtime/record/spool.h"
#include "runtime/record/writer.h"
#include "runtime/start/run_impl.h"
#include "runtime/threads/clock.h"

enum { MOST_CHANGES = 8 };
#define LOOK_S 0.05                     /* a signal is noticed after that, at the latest */

struct dfr_resumable {
    const struct df_graph *graph;
    struct dfr_resumable_options wanted;
    const union df_scalar *given;       /* the caller's args; */
    union df_scalar *args;              /* those with other files in place of pipes; NULL: none is replaced */
    struct dfr_outputs *outputs;
    struct dfr_journal journal;         /* fd < 0: there is none */
    struct dfr_chunk chunk;
    bool keeps;                         /* a node keeps something from wave to wave */
    bool checks;                        /* checkpoints of accs are wanted */
    char *accs_path;                    /* NULL: the graph has no accs */
    uint64_t program, inputs;           /* digests */
    int64_t kept;                       /* dfr_resumable_kept() */
    struct dfr_accs_found accs;         /* with which this run begins */
    double checked_s;                   /* when the last checkpoint was written */
    int64_t checked;                    /* the waves that it has */
    bool tells;                         /* messages are wanted */
    int64_t first, limit;               /* the waves to be fed */
    int64_t fed;                        /* waves that were */
    _Atomic int64_t ended;              /* the waves before this one have ended */
    bool *is_ended;                     /* by place in the ring: a wave has ended before an older one */
    struct dfr_writer writer;           /* writes records, and checkpoints while the accs do not change */
    struct df_run *run;                 /* NULL: there are several ranks */
    struct df_run *accs_run;            /* has the accs of the checkpoint that is being written */
    const uint32_t *number;             /* by value of that run's graph: its number in the whole one; NULL: that is the whole one */
    double until_s;                     /* no longer does the checkpoint wait for devices */
    int status;                         /* of the last record */
    struct df_error error;
};

/* ---- opening ---- */

void dfr_resumable_say(const struct dfr_resumable *r, const char *format, ...)
{
    va_list list;
    if (!r->tells)
        return;
    dfr_status_clear();
    fprintf(stderr, "%s: ", dfr_program_name());
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
}

/* The first node that keeps something, but for those whose accs have had waves; DF_NONE: none does. */
static uint32_t find_keeper(const struct df_graph *g, const int64_t *accs_first)
{
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (dfr_node_keeps(g, v) && !(accs_first && accs_first[v] > 0))
            return v;
    return DF_NONE;
}

static bool has_accs(const struct df_graph *g)
{
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (df_node_n_acc(g, v) > 0)
            return true;
    return false;
}

static int refuse_chunk(const struct df_graph *g, uint32_t node, const char *why, struct df_error *error)
{
    char name[256];
    df_node_name(g, node, name, sizeof name);
    return dfr_error(error, DF_E_REFUSED, "no chunk can be made: node '%s' %s", name, why);
}

/* Can what some waves give be told apart from what others do? */
static int check_chunk(const struct df_graph *g, struct df_error *error)
{
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        const struct df_kernel *k = &g->kernels[g->nodes[v].kernel];
        if (k->n_acc > 0)
            return refuse_chunk(g, v, "has an acc, which all waves change one after the other", error);
        if (df_node_n_out(g, v) == 0 && k->traits & DF_ORDERED && !(k->traits & DF_RESUME))
            return refuse_chunk(g, v, "gets the waves in order, and its kernel is not 'resume'", error);
    }
    return DF_OK;
}

static int64_t waves_of(const struct df_graph *g, const struct df_options *o)
{
    return o->waves >= 0 ? o->waves : df_graph_has_streams(g) ? INT64_MAX : 1;
}

/* Is the chunk there already? Then *there is set. */
static int open_chunk(struct dfr_resumable *r, uint64_t program, const struct dfr_inputs *inputs, bool *there, struct df_error *error)
{
    struct dfr_chunk old;
    struct stat status;
    program ^= dfr_inputs_digest(inputs);
    r->chunk = (struct dfr_chunk){ .program = program, .first = r->wanted.first };
    const bool is_file = stat(r->wanted.chunk, &status) == 0;
    if (is_file && !S_ISREG(status.st_mode)) /* a pipe would be waited for */
        return dfr_error(error, DF_E_REFUSED, "--out=%s: a chunk is a regular file", r->wanted.chunk);
    *there = is_file && dfr_chunk_read(r->wanted.chunk, &old, NULL) == DF_OK && old.program == program &&
             old.first == r->wanted.first && (old.end == r->limit || (old.ended && old.end <= r->limit));
    if (*there)
        return DF_OK;
    int rc = check_chunk(r->graph, error);
    if (rc == DF_OK)
        rc = dfr_output_check(r->wanted.chunk, error);
    return rc == DF_OK ? dfr_outputs_create(r->wanted.chunk, &r->outputs, error) : rc;
}

/* The first changes, and how many others there are. */
static void tell_accepted(const struct dfr_resumable *r)
{
    unsigned n = 0;
    char *rest = r->journal.accepted;
    for (const char *line; (line = strsep(&rest, "\n")) && *line; n++)
        if (n < MOST_CHANGES)
            dfr_resumable_say(r, "accepted: %s", line);
    if (n > MOST_CHANGES)
        dfr_resumable_say(r, "accepted: %u more inputs have changed", n - MOST_CHANGES);
    if (n > 0)
        dfr_resumable_say(r, "waves that are done stay as they are; the others are those of the inputs now, counted from wave 0");
}

/* What is said when a run goes on. */
static void tell_resumed(const struct dfr_resumable *r)
{
    const struct df_graph *g = r->graph;
    const uint32_t keeper = r->wanted.parts ? DF_NONE : find_keeper(g, r->accs.first);
    const long long done = r->journal.done, least = r->accs.least, most = r->accs.most;
    char name[256];
    if (r->journal.redone)
        dfr_resumable_say(r, "%s: the waves from %lld on are done again", r->journal.redone, done);
    if (done > 0)
        dfr_resumable_say(r, "%lld waves are done, as '%s' says: going on", done, r->journal.path);
    tell_accepted(r);
    if (most > least)
        dfr_resumable_say(r, "the accs are as they were after %lld to %lld waves", least, most);
    else if (most > 0)
        dfr_resumable_say(r, "the accs are as they were after %lld waves", most);
    if (done == 0)
        return;
    if (keeper != DF_NONE) {
        df_node_name(g, keeper, name, sizeof name);
        dfr_resumable_say(r, "node '%s' keeps something from wave to wave, so what it needs of these waves is computed again", name);
    }
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (df_node_n_out(g, v) == 0 && !(g->kernels[g->nodes[v].kernel].traits & DF_RESUME) && !df_node_is_final(g, v)) {
            df_node_name(g, v, name, sizeof name);
            dfr_resumable_say(r, "node '%s' may get waves that it had before", name);
            return;
        }
}

/* Renames what the journal lists and this process has not opened. */
static int finish_files(struct dfr_resumable *r, struct df_error *error)
{
    int status = DF_OK;
    for (size_t i = 0; i < r->journal.files.n && status == DF_OK; i++)
        status = dfr_outputs_finish(&r->journal.files.items[i], error);
    return status == DF_OK ? dfr_journal_end(&r->journal, error) : status;
}

/* Removes the checkpoints of a run that is complete. */
static void remove_accs(const struct dfr_resumable *r)
{
    if (!r->accs_path)
        return;
    const int error = dfr_accs_remove(r->accs_path), error_parts = dfr_accs_remove_parts(r->accs_path, r->graph);
    if (error || error_parts)
        dfr_resumable_say(r, "cannot remove '%s', which is of no use any more: %s", r->accs_path, strerror(error ? error : error_parts));
}

/* Checkpoints of a run before this journal are removed, also if this run writes none: a later one would take them. */
static int read_accs(struct dfr_resumable *r, struct df_error *error)
{
    if (r->journal.done == 0)
        dfr_accs_remove(r->accs_path);
    if (r->journal.epoch == 1)
        dfr_accs_remove_parts(r->accs_path, r->graph);
    return r->checks && !r->wanted.parts ? dfr_accs_find(r->accs_path, r->graph, r->program ^ r->inputs, r->journal.done, &r->accs, error) : DF_OK;
}

/* The first wave in which a node fires. */
static int find_first(struct dfr_resumable *r, struct df_error *error)
{
    const struct df_graph *g = r->graph;
    int64_t *late = malloc((g->n_nodes + (size_t)1) * sizeof *late), first = INT64_MAX;

    if (!late)
        return dfr_error_memory(error);
    dfr_find_late(g, r->journal.done, r->accs.first, late);
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (!(g->nodes[v].flags & DF_NODE_ONCE) && late[v] < first)
            first = late[v];
    r->first = first < INT64_MAX ? first : r->journal.done;
    free(late);
    return DF_OK;
}

static void catch_signals(const struct dfr_resumable *r)
{
    char at_once[200] = "";
    if (r->tells)
        snprintf(at_once, sizeof at_once, "%s: ended at once by a second signal; %s", dfr_program_name(),
                 r->wanted.chunk ? "no chunk is written" : "--resume goes on");
    dfr_interrupt_begin(!r->wanted.chunk, at_once);
}

static int open_journal(struct dfr_resumable *r, uint64_t program, const struct dfr_inputs *inputs, bool *nothing, struct df_error *error)
{
    struct dfr_journal *j = &r->journal;
    struct dfr_facts facts;
    int status = dfr_facts_find(r->graph, r->given, &facts, error);
    if (status != DF_OK)
        return status;
    status = dfr_journal_open(j, r->wanted.journal, &(struct dfr_journal_run){ r->wanted.resume, r->wanted.accept, program, inputs, &facts, r->wanted.lock_s }, error);
    dfr_facts_free(&facts);
    if (status != DF_OK)
        return status;
    r->inputs = j->inputs_digest;
    if ((*nothing = j->all)) {
        status = j->ended ? DF_OK : finish_files(r, error);
        if (status == DF_OK)
            remove_accs(r);             /* the process before may have been killed before it did */
        if (status == DF_OK)
            dfr_resumable_say(r, "all %lld waves are done, as '%s' says: nothing is left to do", (long long)j->done, j->path);
        return status;
    }
    if ((status = dfr_journal_check_files(j, error)) != DF_OK || (status = dfr_outputs_create(NULL, &r->outputs, error)) != DF_OK)
        return status;
    for (size_t i = 0; i < j->files.n && status == DF_OK; i++)
        status = dfr_outputs_before(r->outputs, &j->files.items[i], error);
    if (status == DF_OK && r->accs_path)
        status = read_accs(r, error);
    if (status == DF_OK)
        status = find_first(r, error);
    const int64_t had = r->accs.most > j->done ? r->accs.most : j->done;
    r->limit = r->limit > had ? r->limit : had;
    if (status == DF_OK)
        tell_resumed(r);
    if (status == DF_OK)
        catch_signals(r);
    return status;
}

static int open_all(struct dfr_resumable *r, struct df_options *o, bool *nothing, struct df_error *error)
{
    struct dfr_inputs inputs;
    struct stat journal;
    uint64_t program;
    const bool begun = r->wanted.journal && r->wanted.resume && stat(r->wanted.journal, &journal) == 0 && journal.st_size > 0;
    int status = dfr_spool(r->graph, o->args, r->wanted.spool, begun ? r->wanted.journal : NULL, &r->args, error);
    if (status != DF_OK)
        return status;
    o->args = r->args ? r->args : o->args;
    if ((status = dfr_program_digest(r->graph, o->args, &program, error)) != DF_OK ||
        (status = dfr_inputs_find(r->graph, o->args, &inputs, error)) != DF_OK)
        return status;
    r->program = program;
    r->inputs = dfr_inputs_digest(&inputs);
    if (r->wanted.chunk)
        catch_signals(r);
    status = r->wanted.chunk ? open_chunk(r, program, &inputs, nothing, error)
                             : open_journal(r, program, &inputs, nothing, error);
    dfr_inputs_free(&inputs);
    return status;
}

static void resumable_free(struct dfr_resumable *r)
{
    dfr_outputs_free(r->outputs);
    dfr_journal_close(&r->journal);
    dfr_spool_free(r->graph, r->given, r->args);
    dfr_accs_found_free(r->graph, &r->accs);
    free(r->accs_path);
    free(r->is_ended);
    free(r);
}

int dfr_resumable_open(const struct df_graph *graph, struct df_options *o, const struct dfr_resumable_options *wanted,
                       struct dfr_resumable **result, struct df_error *error)
{
    struct dfr_resumable *r = calloc(1, sizeof *r);
    bool nothing = false;
    if (!r)
        return dfr_error_memory(error);
    *r = (struct dfr_resumable){ .graph = graph, .wanted = *wanted, .given = o->args, .journal.fd = -1, .limit = waves_of(graph, o),
                                 .keeps = find_keeper(graph, NULL) != DF_NONE, .tells = o->log_level >= DF_LOG_WARNING };
    if (wanted->journal && has_accs(graph) && asprintf(&r->accs_path, "%s.accs", wanted->journal) < 0)
        r->accs_path = NULL;
    r->checks = r->accs_path && wanted->checkpoint_s > 0;
    int status = open_all(r, o, &nothing, error);
    if (status != DF_OK || nothing) {
        if (nothing && wanted->chunk)
            dfr_resumable_say(r, "'%s' is there already, and complete", wanted->chunk);
        o->args = r->given;
        resumable_free(r);
        *result = NULL;
        return status;
    }
    const int64_t done = wanted->chunk ? wanted->first : r->journal.done;
    if (wanted->chunk)
        r->first = r->keeps ? 0 : done;
    o->accs = r->accs.values;
    o->accs_first = r->accs.values ? r->accs.first : NULL;
    o->accs_waves = r->accs.values ? r->first : 0;
    r->checked_s = dfr_clock_s();
    r->checked = r->accs.most > r->first ? r->accs.most : r->first;
    atomic_init(&r->ended, r->first);
    o->feed = 1;
    o->waves = -1;
    o->done_waves = done;
    o->outputs = r->outputs;
    *result = r;
    return DF_OK;
}

/* ---- the thread that writes the journal ---- */

/* All waves that have ended are done when this returns. last: after them, too, files may have been written. */
static int record(struct dfr_resumable *r, bool last, struct df_error *error)
{
    struct dfr_written_list files;
    const int64_t waves = atomic_load(&r->ended);
    if (waves <= r->journal.done && !last)
        return DF_OK;
    int status = dfr_outputs_sync(r->outputs, waves, &files, error);
    if (status == DF_OK && waves > r->journal.done)
        status = dfr_journal_done(&r->journal, waves, &files, error);
    dfr_written_free(&files);
    return status;
}

/* The run ends soon. */
static void fail(void *arg, const struct df_error *error)
{
    struct dfr_resumable *r = arg;
    if (r->run)
        dfr_engine_fail(r->run, DF_E_IO, "%s", error->text);
}

static int write_record(void *arg, struct df_error *error)
{
    return record(arg, false, error);
}

/* No wave is in flight in r->accs_run. What is done is recorded before the accs, so no checkpoint is of waves that are not done. Devices are to give their accs
 * until r->until_s, or none is written. */
static int write_accs(void *arg, struct df_error *error)
{
    struct dfr_resumable *r = arg;
    int status = record(r, false, error);
    if (status == DF_OK && r->checks && atomic_load(&r->ended) > r->accs.most && dfr_accs_fetch(r->accs_run, r->until_s))
        status = dfr_accs_write(r->accs_run, r->number, r->accs_path, r->program ^ r->inputs, atomic_load(&r->ended), error);
    return status;
}

bool dfr_resumable_pauses(struct dfr_resumable *r, struct df_run *run, bool idle)
{
    const int64_t ended = atomic_load(&r->ended);
    if (!r->checks || !run)
        return false;
    if (dfr_writer_is_busy(&r->writer))
        return true;
    if (ended <= r->checked || ended >= r->limit || dfr_clock_s() - r->checked_s < r->wanted.checkpoint_s)
        return false;
    if (idle) {
        r->checked = ended;
        r->checked_s = dfr_clock_s();
        r->accs_run = run;
        r->until_s = INFINITY;
        dfr_writer_put(&r->writer, &(struct dfr_writer_job){ .write = write_accs, .arg = r }, &r->error);
    }
    return true;
}

/* After a signal: the last record and, if nothing is in flight in `run`, a checkpoint of it. NULL: something is, or there is none. */
static int write_last(struct dfr_resumable *r, struct df_run *run, double until_s, struct df_error *error)
{
    int status = record(r, true, error);
    r->accs_run = run;
    r->until_s = until_s;
    return status == DF_OK && run ? write_accs(r, error) : status;
}

/* The run has ended: the last record. */
static int end_records(struct dfr_resumable *r, struct df_run *run, struct df_error *error)
{
    int status = dfr_writer_end(&r->writer, error);
    if (status == DF_OK)
        status = record(r, true, error);
    const bool finished = atomic_load(&run->outcome.stop) == DFR_FINISHED;
    return status == DF_OK && finished && !r->keeps ? dfr_journal_all(&r->journal, error) : status;
}

/* ---- feeding ---- */

/* A wave has ended, by its number in this run. */
static void note_ended(struct dfr_resumable *r, int64_t wave)
{
    const uint32_t n = r->run->inflight;
    int64_t ended = atomic_load(&r->ended);
    r->is_ended[wave % n] = true;
    for (; r->is_ended[(ended - r->first) % n]; ended++)
        r->is_ended[(ended - r->first) % n] = false;
    atomic_store(&r->ended, ended);
}

static int64_t in_flight(const struct dfr_resumable *r)
{
    return r->first + r->fed - atomic_load(&((struct dfr_resumable *)r)->ended);
}

static void say_command(const struct dfr_resumable *r)
{
    if (r->wanted.command)
        dfr_resumable_say(r, "to go on: %s", r->wanted.command);
}

void dfr_resumable_leave(struct dfr_resumable *r, bool all_ended)
{
    dfr_resumable_say(r, "stopped by %s after %lld waves%s; --resume goes on", dfr_signal_name(dfr_asked()),
        (long long)(r->journal.done > r->kept ? r->journal.done : r->kept),
        all_ended ? "" : ", while others had not ended");
    say_command(r);
    dfr_output_flush_printed();
    if (r->run)                         /* on several ranks the launcher would take a signal for a crash */
        dfr_interrupt_leave();
    dfr_output_leave(dfr_asked() == SIGINT ? 128 + SIGINT : DFR_RESUMABLE);
}

/* A signal has come. Returns if the run ends by itself meanwhile; else ends the process. */
static void stop(struct dfr_resumable *r)
{
    const double until_s = dfr_clock_s() + r->wanted.grace_s;
    struct df_error error = { "" };
    int64_t wave;
    if (in_flight(r) > 0 && dfr_asked() == SIGINT)
        dfr_resumable_say(r, "SIGINT: waiting for the waves in flight; Ctrl-C again ends at once, and --resume goes on then, too");
    while (in_flight(r) > 0 && dfr_clock_s() < until_s) {
        if (df_run_ended(r->run, LOOK_S, &wave) != DF_OK)
            return;
        if (wave >= 0)
            note_ended(r, wave);
    }
    if (in_flight(r) == 0 && r->first + r->fed >= r->limit)
        return;                         /* that was the last wave, and what comes after it is begun */
    dfr_writer_end(&r->writer, &error);
    if (write_last(r, in_flight(r) == 0 ? r->run : NULL, until_s, &error) != DF_OK) {
        fprintf(stderr, "%s: error: %s\n", dfr_program_name(), error.text);
        dfr_output_leave(1);
    }
    dfr_resumable_leave(r, in_flight(r) == 0);
}

/* A chunk is whole or absent. */
static void stop_chunk(struct dfr_resumable *r)
{
    const char *signal = dfr_signal_name(dfr_asked());
    dfr_resumable_say(r, "%s: waiting for the jobs that run; a signal again ends at once", signal);
    dfr_engine_fail(r->run, DF_E_STOPPED, "stopped by %s: the chunk '%s' is not written; the same command line makes it", signal, r->wanted.chunk);
}

/* Begins waves as long as there is room. */
static void feed(struct dfr_resumable *r)
{
    const int64_t n = r->limit - r->first;
    while (r->fed < n && df_run_feed(r->run, r->first + r->fed) >= 0)
        r->fed++;
    if (r->fed == n)
        df_run_feed_end(r->run);
}

void dfr_resumable_feed(struct dfr_resumable *r, struct df_run *run)
{
    int64_t wave;
    r->run = run;
    if (r->limit < INT64_MAX)
        dfr_limit_waves(run, r->limit);
    r->is_ended = calloc((size_t)run->inflight + 1, sizeof *r->is_ended);
    if (!r->is_ended)
        dfr_engine_fail(run, DF_E_MEMORY, "out of memory");
    if (r->wanted.journal)
        dfr_resumable_begin(r);
    while (r->is_ended && df_run_ended(run, LOOK_S, &wave) == DF_OK) {
        if (wave >= 0)
            note_ended(r, wave);
        const bool pauses = !dfr_asked() && dfr_resumable_pauses(r, run, in_flight(r) == 0);
        if (pauses && in_flight(r) == 0)
            dfr_writer_wait(&r->writer, &r->error);
        if (df_run_room(run) > 0 && !dfr_asked() && (!pauses || in_flight(r) == 0))
            feed(r);
        if (dfr_asked()) {
            r->wanted.chunk ? stop_chunk(r) : stop(r);
            break;
        }
    }
    dfr_run_join(run);
    r->chunk.of = dfr_expected_waves(run);
    if (!r->wanted.journal)
        return;
    r->status = end_records(r, run, &r->error);
}

/* ---- several ranks ---- */

struct dfr_resumable_waves dfr_resumable_waves(const struct dfr_resumable *r)
{
    return (struct dfr_resumable_waves){ r->journal.done, r->limit, (uint64_t)r->journal.epoch };
}

void dfr_resumable_begin(struct dfr_resumable *r)
{
    dfr_writer_begin(&r->writer, write_record, fail, r);
}

int dfr_resumable_ended(struct dfr_resumable *r, int64_t waves, struct df_error *error)
{
    atomic_store(&r->ended, waves);
    return dfr_writer_status(&r->writer, error);
}

void dfr_resumable_tail(struct dfr_resumable *r, const uint32_t *number)
{
    r->number = number;
}

struct dfr_writer *dfr_resumable_writer(struct dfr_resumable *r)
{
    return &r->writer;
}

const char *dfr_resumable_accs(const struct dfr_resumable *r, uint64_t *program)
{
    *program = r->program ^ r->inputs;
    return r->wanted.checkpoint_s > 0 ? r->accs_path : NULL;
}

void dfr_resumable_kept(struct dfr_resumable *r, int64_t waves)
{
    r->kept = waves;
}

int dfr_resumable_end(struct dfr_resumable *r, struct df_run *tail, bool all, struct df_error *error)
{
    dfr_writer_wait(&r->writer, error); /* the accs change from here on */
    if (all) {
        df_run_feed_end(tail);
        dfr_run_join(tail);
        return end_records(r, tail, error);
    }
    int status = dfr_writer_end(&r->writer, error);
    return status == DF_OK ? write_last(r, dfr_asked() ? tail : NULL, dfr_clock_s() + r->wanted.grace_s, error) : status;
}

/* ---- closing ---- */

/* The run has ended well, and its files are closed, but for those in the journal that nobody has opened. */
static int end_journal(struct dfr_resumable *r, struct df_error *error)
{
    if (r->status != DF_OK) {
        *error = r->error;
        return r->status;
    }
    int status = r->journal.all ? DF_OK : dfr_journal_all(&r->journal, error);
    if (dfr_held_writes(r->graph))
        dfr_outputs_sweep(r->outputs, dfr_graph_digest(r->graph, r->given));
    if (status == DF_OK)
        status = finish_files(r, error);
    if (status == DF_OK)
        remove_accs(r);
    return status;
}

static int end_chunk(struct dfr_resumable *r, struct df_error *error)
{
    const int64_t ended = atomic_load(&r->ended);
    r->chunk.end = ended > r->chunk.first ? ended : r->chunk.first;
    r->chunk.ended = ended < r->limit;
    struct dfr_facts facts;
    int status = dfr_facts_find(r->graph, r->given, &facts, error);
    if (status == DF_OK)
        status = dfr_chunk_write(r->wanted.chunk, &r->chunk, &facts, r->outputs, error);
    dfr_facts_free(&facts);
    return status;
}

int dfr_resumable_close(struct dfr_resumable *r, int status, struct df_error *error)
{
    if (status == DF_OK) {
        status = r->wanted.chunk ? end_chunk(r, error) : end_journal(r, error);
    } else if (r->wanted.journal && r->journal.done > 0) {
        dfr_resumable_say(r, "%lld waves are done; --resume goes on", (long long)r->journal.done);
        say_command(r);
    }
    if (dfr_outputs_direct(r->outputs))
        dfr_resumable_say(r, "'%s' is no file: if this run is resumed, what is written there may come twice", dfr_outputs_direct(r->outputs));
    resumable_free(r);
    return status;
}
