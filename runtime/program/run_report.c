/* run_report.c - prints the statistics of a run, as text or JSON (run_report.h), for program_main.c and for generated libraries; ranks_report.c prints each
 * rank's as a JSON object. */
#include "runtime/program/run_report.h"

#include <inttypes.h>

#include "runtime/base/text.h"
#include "runtime/program/node_report.h"

static void put_workers(const struct df_stats *s, enum dfr_form form, FILE *out)
{
    static const struct dfr_column columns[] = {
        DFR_COLUMN("worker", "name", TEXT), DFR_COLUMN("jobs", "jobs", COUNT, .width = 10), DFR_COLUMN("busy", "busy_s", SECONDS, .width = 10),
        DFR_COLUMN("busy %", NULL, PERCENT, .digits = 1, .width = 6),
    };
    struct dfr_report_table table = { .inline_rows = true };
    dfr_report_table_begin(&table, out, form, DFR_COLUMNS(columns));
    for (unsigned i = 0; i < s->n_workers; i++) {
        const struct df_worker_stats *w = &s->workers[i];
        dfr_report_table_row(&table, (const struct dfr_cell[]){ DFR_STR(w->name), DFR_NUM(w->jobs), DFR_NUM(w->busy_s),
                                                                DFR_NUM(s->makespan_s > 0 ? w->busy_s / s->makespan_s : 0) });
    }
    dfr_report_table_end(&table);
}

/* Text has two tables, of what devices hold and of what their caches count. JSON has all of it in one object. */
#define MEMORIES DFR_ONLY_OWN
#define CACHES (2 * DFR_ONLY_OWN)

static void put_memories(const struct df_stats *s, unsigned shown, enum dfr_form form, FILE *out)
{
    static const struct dfr_column columns[] = {
        DFR_COLUMN("memory", "name", TEXT), DFR_COLUMN("pool", "capacity_bytes", BYTES, .width = 9, .only = MEMORIES),
        DFR_COLUMN("peak", "peak_bytes", BYTES, .width = 9, .only = MEMORIES),
        DFR_COLUMN(NULL, "scratch_peak_bytes", BYTES), DFR_COLUMN("to it", "h2d_copies", COUNT, .width = 8, .only = MEMORIES),
        DFR_COLUMN("bytes", "h2d_bytes", BYTES, .width = 9, .only = MEMORIES), DFR_COLUMN("from it", "d2h_copies", COUNT, .width = 8, .only = MEMORIES),
        DFR_COLUMN("bytes", "d2h_bytes", BYTES, .width = 9, .only = MEMORIES), DFR_COLUMN(NULL, "peer_copies", COUNT),
        DFR_COLUMN(NULL, "peer_bytes", BYTES), DFR_COLUMN(NULL, "staged_copies", COUNT), DFR_COLUMN(NULL, "staged_bytes", BYTES),
        DFR_COLUMN(NULL, "batches", COUNT), DFR_COLUMN(NULL, "batched_copies", COUNT), DFR_COLUMN(NULL, "joined_copies", COUNT),
        DFR_COLUMN(NULL, "evictions", COUNT), DFR_COLUMN(NULL, "writebacks", COUNT), DFR_COLUMN("jobs", "jobs", COUNT, .width = 4, .only = MEMORIES),
        DFR_COLUMN("replayed", "replayed", COUNT, .width = 8, .only = MEMORIES), DFR_COLUMN(NULL, "inexact", COUNT),
        DFR_COLUMN("evict", "evict", TEXT, .width = 6, .only = CACHES),
        DFR_COLUMN("hits", "hits", COUNT, .width = 9, .only = CACHES), DFR_COLUMN("bytes", "hit_bytes", BYTES, .width = 9, .only = CACHES),
        DFR_COLUMN("misses", "misses", COUNT, .width = 9, .only = CACHES), DFR_COLUMN("bytes", "miss_bytes", BYTES, .width = 9, .only = CACHES),
        DFR_COLUMN("ahead", "prefetches", COUNT, .width = 9, .only = CACHES), DFR_COLUMN("bytes", "prefetch_bytes", BYTES, .width = 9, .only = CACHES),
        DFR_COLUMN("evictions", NULL, COUNT, .width = 9, .only = CACHES), DFR_COLUMN("bytes", "evicted_bytes", BYTES, .width = 9, .only = CACHES),
        DFR_COLUMN("write-backs", NULL, COUNT, .width = 11, .only = CACHES), DFR_COLUMN("bytes", "writeback_bytes", BYTES, .width = 9, .only = CACHES),
    };
    struct dfr_report_table table = { .shown = shown, .inline_rows = true };
    dfr_report_table_begin(&table, out, form, DFR_COLUMNS(columns));
    for (unsigned i = 0; i < s->n_memories; i++) {
        const struct df_memory_stats *m = &s->memories[i];
        dfr_report_table_row(&table, (const struct dfr_cell[]){
            DFR_STR(m->name), DFR_NUM(m->capacity_bytes), DFR_NUM(m->peak_bytes), DFR_NUM(m->scratch_peak_bytes), DFR_NUM(m->h2d_copies), DFR_NUM(m->h2d_bytes),
            DFR_NUM(m->d2h_copies), DFR_NUM(m->d2h_bytes), DFR_NUM(m->peer_copies), DFR_NUM(m->peer_bytes), DFR_NUM(m->staged_copies),
            DFR_NUM(m->staged_bytes), DFR_NUM(m->batches), DFR_NUM(m->batched_copies), DFR_NUM(m->joined_copies), DFR_NUM(m->evictions),
            DFR_NUM(m->writebacks), DFR_NUM(m->jobs), DFR_NUM(m->replayed), DFR_NUM(m->inexact), DFR_STR(m->evict), DFR_NUM(m->hits), DFR_NUM(m->hit_bytes),
            DFR_NUM(m->misses), DFR_NUM(m->miss_bytes), DFR_NUM(m->prefetches), DFR_NUM(m->prefetch_bytes), DFR_NUM(m->evictions),
            DFR_NUM(m->evicted_bytes), DFR_NUM(m->writebacks), DFR_NUM(m->writeback_bytes) });
    }
    dfr_report_table_end(&table);
}

static void report_devices(const struct df_stats *s, FILE *out)
{
    char bytes[24];
    for (unsigned i = 0; i < s->n_memories; i++)
        if (s->memories[i].inexact)
            fprintf(out, "%s: results of formulas may differ from the CPU's in the last bits (--inexact)\n", s->memories[i].name);
    for (unsigned i = 0; i < s->n_memories; i++)
        if (s->memories[i].staged_copies > 0)
            fprintf(out, "%s: %" PRIu64 " copies (%s) went through pinned memory, because the host's is not pinned\n",
                    s->memories[i].name, s->memories[i].staged_copies,
                    dfr_text_bytes(s->memories[i].staged_bytes, bytes, sizeof bytes));
    for (unsigned i = 0; i < s->n_memories; i++)
        if (s->memories[i].batched_copies > 0)
            fprintf(out, "%s: %" PRIu64 " copies went in %" PRIu64 " batches (%" PRIu64 " joined to a neighbour)\n",
                    s->memories[i].name, s->memories[i].batched_copies, s->memories[i].batches,
                    s->memories[i].joined_copies);
    for (unsigned i = 0; i < s->n_memories; i++)
        if (s->memories[i].peer_copies > 0)
            fprintf(out, "%s sent %" PRIu64 " tokens (%s) to other devices directly\n", s->memories[i].name,
                    s->memories[i].peer_copies, dfr_text_bytes(s->memories[i].peer_bytes, bytes, sizeof bytes));
}

static void report_rehearsal(const struct df_rehearsal_stats *r, FILE *out)
{
    char median[24], most[24], worst[24];
    fprintf(out, "rehearsed        at %.4gx; all figures at 1x, but lateness as it was:\n", r->scale);
    fprintf(out, "wake-ups late    %s (median), %s (99 %%), %s (worst); %" PRIu64 " of %" PRIu64
            " by more than 1 ms, which count as real\n", dfr_text_seconds(r->late_median_s, median, sizeof median),
            dfr_text_seconds(r->late_99_s, most, sizeof most), dfr_text_seconds(r->late_worst_s, worst, sizeof worst),
            r->n_late, r->waits);
}

/* Late waves beyond the promise's confidence break it. */
static void report_latency(const struct df_latency_stats *l, FILE *out)
{
    char a[24], b[24], c[24];
    if (!l->waves)
        return;
    fprintf(out, "latency          %s (median), %s (99 %%), %s (worst)\n", dfr_text_seconds(l->p50_s, a, sizeof a), dfr_text_seconds(l->p99_s, b, sizeof b),
            dfr_text_seconds(l->worst_s, c, sizeof c));
    if (l->promised_s > 0)
        fprintf(out, "promised         %s: %" PRIu64 " of %" PRIu64 " waves took longer (%.3g %%; %.3g %% may)\n", dfr_text_seconds_6(l->promised_s, a, sizeof a), l->late, l->waves,
                100 * (double)l->late / (double)l->waves, 100 * (1 - l->confidence));
    for (unsigned i = 0; i < l->n_causes; i++)
        fprintf(out, "    wave %-8" PRId64 "%s: %s\n", l->causes[i].wave, dfr_text_seconds(l->causes[i].latency_s, a, sizeof a), l->causes[i].cause);
    if (l->n_causes < l->late)
        fprintf(out, "    … and %" PRIu64 " more\n", l->late - l->n_causes);
    if (l->promised_rate > 0 && l->rate > 0)
        fprintf(out, "rate             %.3g / s, %.3g / s promised\n", l->rate, l->promised_rate);
}

static void put_latency_json(const struct df_latency_stats *l, FILE *out)
{
    fprintf(out, "\"latency\": {\"waves\": %" PRIu64 ", \"late\": %" PRIu64 ", \"promised_s\": %.9g, \"confidence\": %.9g, \"p50_s\": %.9g, \"p99_s\": %.9g, \"worst_s\": %.9g"
            ", \"rate\": %.9g, \"promised_rate\": %.9g, \"causes\": [", l->waves, l->late, l->promised_s, l->confidence, l->p50_s, l->p99_s, l->worst_s, l->rate, l->promised_rate);
    for (unsigned i = 0; i < l->n_causes; i++) {
        fprintf(out, "%s{\"wave\": %" PRId64 ", \"latency_s\": %.9g, \"cause\": ", i ? ", " : "", l->causes[i].wave, l->causes[i].latency_s);
        dfr_text_json(out, l->causes[i].cause);
        fputc('}', out);
    }
    fputs("]}, ", out);
}

void dfr_report_text(const struct df_stats *s, const struct df_graph *graph, const struct df_node_stats *nodes,
                     const struct df_node_skips *skips, FILE *out)
{
    char makespan[24];
    if (s->policy[0])
        fprintf(out, "policy           %s (%s)\n", s->policy, s->policy_why);
    if (s->loop[0])
        fprintf(out, "worker loop      %s (%s)\n", s->loop, s->loop_why);
    fprintf(out, "makespan         %s\n", dfr_text_seconds(s->makespan_s, makespan, sizeof makespan));
    fprintf(out, "waves            %" PRIu64 "\n", s->waves);
    if (s->passes > 1)
        fprintf(out, "passes           %u: for the parts of a divided acc in turn\n", s->passes);
    fprintf(out, "jobs             %" PRIu64 "\n", s->jobs);
    fprintf(out, "waves in flight  %u\n", s->inflight);
    if (s->rehearsal.scale > 0)
        report_rehearsal(&s->rehearsal, out);
    report_latency(&s->latency, out);
    fputc('\n', out);
    put_workers(s, DFR_FORM_TEXT, out);
    if (s->n_memories) {
        fputc('\n', out);
        put_memories(s, MEMORIES, DFR_FORM_TEXT, out);
        report_devices(s, out);
        fputc('\n', out);
        put_memories(s, CACHES, DFR_FORM_TEXT, out);
    }
    dfr_report_live(graph, s->live, s->n_live, DFR_FORM_TEXT, out);
    if (skips)
        dfr_report_sinks(graph, skips, s->waves, DFR_FORM_TEXT, out);
    if (nodes)
        dfr_report_nodes(graph, nodes, DFR_FORM_TEXT, out);
}

/* ---- JSON ---- */

void dfr_report_json(const struct df_stats *s, const struct df_graph *graph, const struct df_node_stats *nodes,
                     const struct df_node_skips *skips, FILE *out)
{
    dfr_report_object(s, graph, nodes, skips, out);
    fputc('\n', out);
}

void dfr_report_object(const struct df_stats *s, const struct df_graph *graph, const struct df_node_stats *nodes,
                       const struct df_node_skips *skips, FILE *out)
{
    fputc('{', out);
    if (s->policy[0]) {
        fprintf(out, "\"policy\": \"%s\", \"policy_why\": ", s->policy);
        dfr_text_json(out, s->policy_why);
        fprintf(out, ", \"loop\": \"%s\", \"loop_why\": ", s->loop);
        dfr_text_json(out, s->loop_why);
        fputs(", ", out);
    }
    if (s->rehearsal.scale > 0)
        fprintf(out, "\"rehearsal\": {\"scale\": %.9g, \"waits\": %" PRIu64 ", \"late\": %" PRIu64
                ", \"late_median_s\": %.9g, \"late_99_s\": %.9g, \"late_worst_s\": %.9g}, ", s->rehearsal.scale,
                s->rehearsal.waits, s->rehearsal.n_late, s->rehearsal.late_median_s, s->rehearsal.late_99_s,
                s->rehearsal.late_worst_s);
    if (s->latency.waves)
        put_latency_json(&s->latency, out);
    fprintf(out,
            "\"makespan_s\": %.9g, \"waves\": %" PRIu64 ", \"jobs\": %" PRIu64 ", \"inflight\": %u, \"passes\": %u, \"workers\": [",
            s->makespan_s, s->waves, s->jobs, s->inflight, s->passes);
    put_workers(s, DFR_FORM_JSON, out);
    fputs("], \"memories\": [", out);
    put_memories(s, MEMORIES | CACHES, DFR_FORM_JSON, out);
    fputc(']', out);
    dfr_report_live(graph, s->live, s->n_live, DFR_FORM_JSON, out);
    if (skips)
        dfr_report_sinks(graph, skips, s->waves, DFR_FORM_JSON, out);
    if (nodes)
        dfr_report_nodes(graph, nodes, DFR_FORM_JSON, out);
    fputc('}', out);
}
