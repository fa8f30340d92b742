/* figures.c - the statistics of ranks (figures.h): replica.c turns a rank's report into bytes, rank0.c reads it, and program/ prints what rank 0 keeps of all.
 * It also adds up the statistics of several runs, and records windows for rank0_waves.c. */
#include "runtime/ranks/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/bytes.h"
#include "runtime/base/error.h"

static const unsigned char magic[DFR_BYTES_MAGIC] = "dfreprt2";

/* All members of struct df_memory_stats that are 64 bits wide. */
#define FIELD(name) offsetof(struct df_memory_stats, name)
static const size_t memory_fields[] = {
    FIELD(capacity_bytes), FIELD(peak_bytes),    FIELD(h2d_copies),     FIELD(h2d_bytes),     FIELD(d2h_copies),   FIELD(d2h_bytes),
    FIELD(hits),           FIELD(hit_bytes),     FIELD(misses),         FIELD(miss_bytes),    FIELD(prefetches),   FIELD(prefetch_bytes),
    FIELD(evictions),      FIELD(evicted_bytes), FIELD(writebacks),     FIELD(writeback_bytes), FIELD(replayed),   FIELD(peer_copies),
    FIELD(peer_bytes),     FIELD(staged_copies), FIELD(staged_bytes),   FIELD(batches),       FIELD(batched_copies), FIELD(joined_copies),
    FIELD(scratch_peak_bytes),
};
enum { N_MEMORY_FIELDS = sizeof memory_fields / sizeof *memory_fields };

/* ---- writing ---- */

static void put_text(struct dfr_bytes_writer *w, const char *text)
{
    dfr_bytes_put_text(w, text, strlen(text));
}

static void put_memory(struct dfr_bytes_writer *w, const struct df_memory_stats *m)
{
    put_text(w, m->name);
    put_text(w, m->evict);
    dfr_bytes_put_number(w, m->jobs);
    dfr_bytes_put_number(w, m->inexact);
    for (unsigned i = 0; i < N_MEMORY_FIELDS; i++) {
        uint64_t number;
        memcpy(&number, (const char *)m + memory_fields[i], sizeof number);
        dfr_bytes_put_number(w, number);
    }
}

static void put_stats(struct dfr_bytes_writer *w, const struct df_stats *s)
{
    put_text(w, s->policy);
    put_text(w, s->policy_why);
    put_text(w, s->loop);
    put_text(w, s->loop_why);
    dfr_bytes_put_real(w, s->makespan_s);
    dfr_bytes_put_number(w, s->waves);
    dfr_bytes_put_number(w, s->jobs);
    dfr_bytes_put_number(w, s->inflight);
    dfr_bytes_put_number(w, s->passes);
    dfr_bytes_put_number(w, s->n_workers);
    for (unsigned i = 0; i < s->n_workers; i++) {
        put_text(w, s->workers[i].name);
        dfr_bytes_put_number(w, s->workers[i].jobs);
        dfr_bytes_put_real(w, s->workers[i].busy_s);
    }
    dfr_bytes_put_number(w, s->n_memories);
    for (unsigned i = 0; i < s->n_memories; i++)
        put_memory(w, &s->memories[i]);
}

static void put_node(struct dfr_bytes_writer *w, const struct df_node_stats *node, const struct df_node_skips *skips)
{
    dfr_bytes_put_number(w, node->host_jobs);
    dfr_bytes_put_number(w, node->device_jobs);
    dfr_bytes_put_real(w, node->host_s);
    dfr_bytes_put_real(w, node->device_s);
    dfr_bytes_put_number(w, node->rounds);
    dfr_bytes_put_number(w, skips->skipped);
    dfr_bytes_put_number(w, skips->left_out);
}

static void put_trips(struct dfr_bytes_writer *w, const struct dfr_trips *trips)
{
    dfr_bytes_put_number(w, trips->n);
    dfr_bytes_put_real(w, trips->at_s);
    dfr_bytes_put_real(w, trips->offset_s);
    dfr_bytes_put_real(w, trips->uncertainty_s);
}

static void put_rows(struct dfr_bytes_writer *w, const struct dfr_stage_rows *rows)
{
    dfr_bytes_put_number(w, rows->n);
    for (uint32_t i = 0; i < rows->n; i++) {
        const struct dfr_stage_row *row = &rows->rows[i];
        dfr_bytes_put_number(w, row->first);
        dfr_bytes_put_number(w, row->n);
        put_text(w, row->names);
        dfr_bytes_put_number(w, (uint64_t)row->waves);
        dfr_bytes_put_number(w, row->in_bytes);
        dfr_bytes_put_number(w, row->out_bytes);
        dfr_bytes_put_real(w, row->ran_s);
        dfr_bytes_put_real(w, row->waited_s);
        dfr_bytes_put_real(w, row->full_s);
    }
}

static void put_report(struct dfr_bytes_writer *w, const struct dfr_report *report)
{
    static const struct df_node_skips none;
    static const struct df_node_stats nothing;
    static const struct dfr_trips never;
    static const struct dfr_stage_rows no_rows;
    const uint32_t n_nodes = report->nodes || report->skips ? report->n_nodes : 0;

    dfr_bytes_put(w, magic, sizeof magic);
    put_stats(w, report->stats);
    for (unsigned i = 0; i < 2; i++)
        put_trips(w, report->trips ? &report->trips[i] : &never);
    put_rows(w, report->stages ? report->stages : &no_rows);
    dfr_bytes_put_number(w, n_nodes);
    for (uint32_t v = 0; v < n_nodes; v++)
        put_node(w, report->nodes ? &report->nodes[v] : &nothing, report->skips ? &report->skips[v] : &none);
}

void *dfr_report_pack(const struct dfr_report *report, size_t *size)
{
    struct dfr_bytes_writer w = { 0 };

    put_report(&w, report);
    *size = w.n;
    w = (struct dfr_bytes_writer){ .to = malloc(w.n) };
    if (w.to)
        put_report(&w, report);
    return w.to;
}

/* ---- reading ---- */

/* A text that is too long makes the whole report wrong. */
static void get_text(struct dfr_bytes_reader *r, char *text, size_t size)
{
    size_t length = 0;
    const char *from = dfr_bytes_get_text(r, &length);

    if (r->ok && length < size)
        memcpy(text, from, length + 1);
    else
        r->ok = false;
}

/* At most `most`. */
static uint64_t get_number(struct dfr_bytes_reader *r, uint64_t most)
{
    uint64_t number = dfr_bytes_get_number(r);

    r->ok = r->ok && number <= most;
    return r->ok ? number : 0;
}

static unsigned get_count(struct dfr_bytes_reader *r, uint64_t most)
{
    return (unsigned)get_number(r, most);
}

/* A time is finite, and not negative. */
static double get_time(struct dfr_bytes_reader *r)
{
    double s = dfr_bytes_get_real(r);

    r->ok = r->ok && isfinite(s) && s >= 0;
    return r->ok ? s : 0;
}

static void get_memory(struct dfr_bytes_reader *r, struct df_memory_stats *m)
{
    get_text(r, m->name, sizeof m->name);
    get_text(r, m->evict, sizeof m->evict);
    m->jobs = get_count(r, UINT32_MAX);
    m->inexact = get_count(r, 1);
    for (unsigned i = 0; i < N_MEMORY_FIELDS; i++) {
        uint64_t number = dfr_bytes_get_number(r);
        memcpy((char *)m + memory_fields[i], &number, sizeof number);
    }
}

static void get_stats(struct dfr_bytes_reader *r, struct df_stats *s)
{
    get_text(r, s->policy, sizeof s->policy);
    get_text(r, s->policy_why, sizeof s->policy_why);
    get_text(r, s->loop, sizeof s->loop);
    get_text(r, s->loop_why, sizeof s->loop_why);
    s->makespan_s = get_time(r);
    s->waves = dfr_bytes_get_number(r);
    s->jobs = dfr_bytes_get_number(r);
    s->inflight = get_count(r, UINT32_MAX);
    s->passes = get_count(r, UINT32_MAX);
    s->n_workers = get_count(r, DF_MAX_WORKERS);
    for (unsigned i = 0; i < s->n_workers; i++) {
        get_text(r, s->workers[i].name, sizeof s->workers[i].name);
        s->workers[i].jobs = dfr_bytes_get_number(r);
        s->workers[i].busy_s = get_time(r);
    }
    s->n_memories = get_count(r, DF_MAX_UNITS);
    for (unsigned i = 0; i < s->n_memories; i++)
        get_memory(r, &s->memories[i]);
}

/* Any finite number. */
static double get_offset(struct dfr_bytes_reader *r)
{
    double s = dfr_bytes_get_real(r);

    r->ok = r->ok && isfinite(s);
    return r->ok ? s : 0;
}

static void get_trips(struct dfr_bytes_reader *r, struct dfr_trips *trips)
{
    trips->n = get_count(r, UINT32_MAX);
    trips->at_s = get_offset(r);
    trips->offset_s = get_offset(r);
    trips->uncertainty_s = get_time(r);
}

static void get_node(struct dfr_bytes_reader *r, struct df_node_stats *node, struct df_node_skips *skips)
{
    node->host_jobs = dfr_bytes_get_number(r);
    node->device_jobs = dfr_bytes_get_number(r);
    node->host_s = get_time(r);
    node->device_s = get_time(r);
    node->rounds = dfr_bytes_get_number(r);
    skips->skipped = dfr_bytes_get_number(r);
    skips->left_out = dfr_bytes_get_number(r);
}

static void add_nodes(struct dfr_bytes_reader r, struct dfr_figures *f)
{
    struct df_node_stats node;
    struct df_node_skips skips;

    for (uint32_t v = 0; v < f->n_nodes; v++) {
        get_node(&r, &node, &skips);
        if (f->nodes) {
            f->nodes[v].host_jobs += node.host_jobs;
            f->nodes[v].device_jobs += node.device_jobs;
            f->nodes[v].host_s += node.host_s;
            f->nodes[v].device_s += node.device_s;
            f->nodes[v].rounds += node.rounds;
        }
        f->skips[v].skipped += skips.skipped;
        f->skips[v].left_out += skips.left_out;
    }
}

static bool nodes_are_right(struct dfr_bytes_reader r, uint64_t n)
{
    struct df_node_stats node;
    struct df_node_skips skips;

    for (uint64_t v = 0; v < n && r.ok; v++)
        get_node(&r, &node, &skips);
    return r.ok && r.left == 0;
}

static struct dfr_stage_row get_row(struct dfr_bytes_reader *r)
{
    struct dfr_stage_row row = { .first = get_count(r, UINT32_MAX), .n = get_count(r, UINT32_MAX) };

    get_text(r, row.names, sizeof row.names);
    row.waves = (int64_t)get_number(r, INT64_MAX);
    row.in_bytes = dfr_bytes_get_number(r);
    row.out_bytes = dfr_bytes_get_number(r);
    row.ran_s = get_time(r);
    row.waited_s = get_time(r);
    row.full_s = get_time(r);
    return row;
}

/* Each group stands there once. */
static void get_rows(struct dfr_bytes_reader *r, struct dfr_stage_rows *rows)
{
    const uint64_t n = dfr_bytes_get_number(r);

    for (uint64_t i = 0; i < n && r->ok; i++) {
        const struct dfr_stage_row row = get_row(r);
        struct dfr_stage_row *to = r->ok ? dfr_stage_rows_find(rows, row.first, row.n) : NULL;
        r->ok = to && rows->n == i + 1;
        if (r->ok)
            *to = row;
    }
}

bool dfr_report_read(struct dfr_figures *f, int rank, const void *bytes, size_t size)
{
    struct dfr_bytes_reader r = dfr_bytes_read(bytes, size, magic);
    struct dfr_rank_figures *to = rank >= 0 && rank < f->n_ranks && !f->ranks[rank].reported ? &f->ranks[rank] : NULL;
    struct df_stats *stats = calloc(1, sizeof *stats);
    struct dfr_stage_rows rows = { 0 };
    struct dfr_trips trips[2];
    bool good = stats && to;

    if (good) {
        get_stats(&r, stats);
        get_trips(&r, &trips[0]);
        get_trips(&r, &trips[1]);
        get_rows(&r, &rows);
        const uint64_t n_nodes = dfr_bytes_get_number(&r);
        good = r.ok && (n_nodes == 0 || n_nodes == f->n_nodes) && nodes_are_right(r, n_nodes);
        if (good && n_nodes > 0)
            add_nodes(r, f);
    }
    if (good) {
        to->stats = *stats;
        memcpy(to->trips, trips, sizeof trips);
        to->stages = rows;
        to->reported = true;
    } else {
        dfr_stage_rows_free(&rows);
    }
    free(stats);
    return good;
}

/* ---- what rank 0 keeps ---- */

void dfr_windows_add(struct dfr_windows *w, double at_s, int rank, unsigned window, double rate)
{
    if (w->n < DFR_MOST_CHANGES && DFR_ARRAY_ROOM(w->changes, w->n, w->room))
        w->changes[w->n++] = (struct dfr_window_change){ at_s, rank, window, rate };
    else
        w->n_dropped++;
}

void dfr_stats_join(struct df_stats *to, const struct df_stats *from, const char *name)
{
    for (unsigned i = 0; i < from->n_workers && to->n_workers < DF_MAX_WORKERS; i++) {
        struct df_worker_stats *worker = &to->workers[to->n_workers++];
        *worker = from->workers[i];
        snprintf(worker->name, sizeof worker->name, "%s %.30s", name, from->workers[i].name);
    }
    for (unsigned i = 0; i < from->n_memories && to->n_memories < DF_MAX_UNITS; i++) {
        struct df_memory_stats *memory = &to->memories[to->n_memories++];
        *memory = from->memories[i];
        snprintf(memory->name, sizeof memory->name, "%s %.30s", name, from->memories[i].name);
    }
    to->jobs += from->jobs;
    to->waves = from->waves > to->waves ? from->waves : to->waves;
    to->makespan_s = fmax(to->makespan_s, from->makespan_s);
    to->inflight = from->inflight > to->inflight ? from->inflight : to->inflight;
    to->passes = 1;
}

static void add_memory(struct df_memory_stats *to, const struct df_memory_stats *from)
{
    const struct df_memory_stats before = *to;

    *to = *from;
    for (unsigned i = 0; i < N_MEMORY_FIELDS; i++) {
        uint64_t *sum = (uint64_t *)(void *)((char *)to + memory_fields[i]), old;
        memcpy(&old, (const char *)&before + memory_fields[i], sizeof old);
        *sum += old;
    }
    to->capacity_bytes = from->capacity_bytes; /* these are no sums */
    to->peak_bytes = from->peak_bytes > before.peak_bytes ? from->peak_bytes : before.peak_bytes;
    to->scratch_peak_bytes = from->scratch_peak_bytes > before.scratch_peak_bytes ? from->scratch_peak_bytes : before.scratch_peak_bytes;
}

static unsigned find_worker(const struct df_stats *s, const char *name)
{
    unsigned i = 0;
    while (i < s->n_workers && strcmp(s->workers[i].name, name) != 0)
        i++;
    return i;
}

static unsigned find_memory(const struct df_stats *s, const char *name)
{
    unsigned i = 0;
    while (i < s->n_memories && strcmp(s->memories[i].name, name) != 0)
        i++;
    return i;
}

static void add_units(struct df_stats *to, const struct df_stats *from)
{
    for (unsigned i = 0; i < from->n_workers; i++) {
        const unsigned at = find_worker(to, from->workers[i].name);
        if (at == DF_MAX_WORKERS)
            continue;
        const struct df_worker_stats before = at < to->n_workers ? to->workers[at] : (struct df_worker_stats){ 0 };
        to->workers[at] = from->workers[i];
        to->workers[at].jobs += before.jobs;
        to->workers[at].busy_s += before.busy_s;
        to->n_workers = at + 1 > to->n_workers ? at + 1 : to->n_workers;
    }
    for (unsigned i = 0; i < from->n_memories; i++) {
        const unsigned at = find_memory(to, from->memories[i].name);
        if (at == DF_MAX_UNITS)
            continue;
        if (at == to->n_memories)
            to->memories[to->n_memories++] = (struct df_memory_stats){ 0 };
        add_memory(&to->memories[at], &from->memories[i]);
    }
}

void dfr_stats_add(struct df_stats *to, const struct df_stats *from)
{
    add_units(to, from);
    memcpy(to->policy, from->policy, sizeof to->policy);
    memcpy(to->policy_why, from->policy_why, sizeof to->policy_why);
    memcpy(to->loop, from->loop, sizeof to->loop);
    memcpy(to->loop_why, from->loop_why, sizeof to->loop_why);
    to->inflight = from->inflight > to->inflight ? from->inflight : to->inflight;
    to->passes = from->passes > to->passes ? from->passes : to->passes;
    to->waves += from->waves;
    to->jobs += from->jobs;
    to->makespan_s += from->makespan_s;
}

int dfr_figures_create(int n_ranks, uint32_t n_nodes, bool nodes, struct dfr_figures **figures, struct df_error *error)
{
    struct dfr_figures *f = calloc(1, sizeof *f);

    if (!f)
        return dfr_error_memory(error);
    *f = (struct dfr_figures){ .n_ranks = n_ranks, .n_nodes = n_nodes, .ranks = calloc((size_t)n_ranks, sizeof *f->ranks) };
    f->nodes = nodes ? calloc((size_t)n_nodes + 1, sizeof *f->nodes) : NULL;
    f->skips = calloc((size_t)n_nodes + 1, sizeof *f->skips);
    if (!f->ranks || (nodes && !f->nodes) || !f->skips) {
        dfr_figures_free(f);
        return dfr_error_memory(error);
    }
    *figures = f;
    return DF_OK;
}

void dfr_figures_free(struct dfr_figures *f)
{
    if (!f)
        return;
    for (int rank = 0; f->ranks && rank < f->n_ranks; rank++)
        dfr_stage_rows_free(&f->ranks[rank].stages);
    free(f->windows.changes);
    free(f->ranks);
    free(f->nodes);
    free(f->skips);
    free(f);
}
