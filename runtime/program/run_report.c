/* run_report.c - prints the statistics of a run, in the two forms of --stats (run_report.h). */
#include "runtime/program/run_report.h"

#include <inttypes.h>
#include <string.h>

#include "runtime/base/text.h"
#include "runtime/program/node_report.h"

/* Width of the name column. */
static int name_width(const char *heading, const char *first, size_t stride, unsigned n)
{
    size_t width = strlen(heading);
    for (unsigned i = 0; i < n; i++)
        if (strlen(first + i * stride) > width)
            width = strlen(first + i * stride);
    return (int)width;
}

static void report_workers(const struct df_stats *s, FILE *out)
{
    int width = name_width("worker", s->workers[0].name, sizeof s->workers[0], s->n_workers);
    char busy[24];
    fprintf(out, "\n%-*s  %10s  %10s  %6s\n", width, "worker", "jobs", "busy", "busy %");
    for (unsigned i = 0; i < s->n_workers; i++) {
        const struct df_worker_stats *w = &s->workers[i];
        fprintf(out, "%-*s  %10" PRIu64 "  %10s  %6.1f\n", width, w->name, w->jobs,
                dfr_text_seconds(w->busy_s, busy, sizeof busy),
                s->makespan_s > 0 ? 100 * w->busy_s / s->makespan_s : 0.0);
    }
}

static void report_memories(const struct df_stats *s, FILE *out)
{
    int width = name_width("memory", s->memories[0].name, sizeof s->memories[0], s->n_memories);
    char pool[24], peak[24], in[24], back[24];
    fprintf(out, "\n%-*s  %9s  %9s  %8s  %9s  %8s  %9s  %4s  %8s\n", width, "memory", "pool", "peak", "to it", "bytes",
            "from it", "bytes", "jobs", "replayed");
    for (unsigned i = 0; i < s->n_memories; i++) {
        const struct df_memory_stats *m = &s->memories[i];
        fprintf(out,
                "%-*s  %9s  %9s  %8" PRIu64 "  %9s  %8" PRIu64 "  %9s  %4u  %8" PRIu64 "\n", width, m->name,
                dfr_text_bytes(m->capacity_bytes, pool, sizeof pool), dfr_text_bytes(m->peak_bytes, peak, sizeof peak),
                m->h2d_copies, dfr_text_bytes(m->h2d_bytes, in, sizeof in), m->d2h_copies,
                dfr_text_bytes(m->d2h_bytes, back, sizeof back), m->jobs, m->replayed);
    }
    for (unsigned i = 0; i < s->n_memories; i++)
        if (s->memories[i].staged_copies > 0)
            fprintf(out, "%s: %" PRIu64 " copies (%s) went through pinned memory, because the host's is not pinned\n",
                    s->memories[i].name, s->memories[i].staged_copies,
                    dfr_text_bytes(s->memories[i].staged_bytes, in, sizeof in));
    for (unsigned i = 0; i < s->n_memories; i++)
        if (s->memories[i].batched_copies > 0)
            fprintf(out, "%s: %" PRIu64 " copies went in %" PRIu64 " batches (%" PRIu64 " joined to a neighbour)\n",
                    s->memories[i].name, s->memories[i].batched_copies, s->memories[i].batches,
                    s->memories[i].joined_copies);
    for (unsigned i = 0; i < s->n_memories; i++)
        if (s->memories[i].peer_copies > 0)
            fprintf(out, "%s sent %" PRIu64 " tokens (%s) to other devices directly\n", s->memories[i].name,
                    s->memories[i].peer_copies, dfr_text_bytes(s->memories[i].peer_bytes, in, sizeof in));
}

/* The table of what caches count, each count with its bytes: five pairs of columns. */
static void report_caches(const struct df_stats *s, FILE *out)
{
    static const char *const heads[] = { "hits", "misses", "ahead", "evictions", "write-backs" };
    int width = name_width("memory", s->memories[0].name, sizeof s->memories[0], s->n_memories);
    char bytes[24];

    fprintf(out, "\n%-*s  %6s", width, "memory", "evict");
    for (unsigned k = 0; k < 5; k++)
        fprintf(out, "  %*s  %9s", k == 4 ? 11 : 9, heads[k], "bytes");
    fputc('\n', out);
    for (unsigned i = 0; i < s->n_memories; i++) {
        const struct df_memory_stats *m = &s->memories[i];
        const uint64_t pairs[][2] = { { m->hits, m->hit_bytes }, { m->misses, m->miss_bytes },
                                      { m->prefetches, m->prefetch_bytes }, { m->evictions, m->evicted_bytes },
                                      { m->writebacks, m->writeback_bytes } };
        fprintf(out, "%-*s  %6s", width, m->name, m->evict);
        for (unsigned k = 0; k < 5; k++)
            fprintf(out, "  %*" PRIu64 "  %9s", k == 4 ? 11 : 9, pairs[k][0],
                    dfr_text_bytes(pairs[k][1], bytes, sizeof bytes));
        fputc('\n', out);
    }
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
    report_workers(s, out);
    if (s->n_memories)
        report_memories(s, out);
    if (s->n_memories)
        report_caches(s, out);
    if (skips)
        dfr_report_sinks(graph, skips, s->waves, false, out);
    if (nodes)
        dfr_report_nodes(graph, nodes, false, out);
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
    fprintf(out,
            "\"makespan_s\": %.9g, \"waves\": %" PRIu64 ", \"jobs\": %" PRIu64 ", \"inflight\": %u, \"passes\": %u, \"workers\": [",
            s->makespan_s, s->waves, s->jobs, s->inflight, s->passes);
    for (unsigned i = 0; i < s->n_workers; i++) {
        fprintf(out, "%s{\"name\": ", i ? ", " : "");
        dfr_text_json(out, s->workers[i].name);
        fprintf(out, ", \"jobs\": %" PRIu64 ", \"busy_s\": %.9g}", s->workers[i].jobs, s->workers[i].busy_s);
    }
    fprintf(out, "], \"memories\": [");
    for (unsigned i = 0; i < s->n_memories; i++) {
        const struct df_memory_stats *m = &s->memories[i];
        fprintf(out, "%s{\"name\": ", i ? ", " : "");
        dfr_text_json(out, m->name);
        fprintf(out,
                ", \"capacity_bytes\": %" PRIu64 ", \"peak_bytes\": %" PRIu64 ", \"h2d_copies\": %" PRIu64
                ", \"h2d_bytes\": %" PRIu64 ", \"d2h_copies\": %" PRIu64 ", \"d2h_bytes\": %" PRIu64
                ", \"peer_copies\": %" PRIu64 ", \"peer_bytes\": %" PRIu64 ", \"staged_copies\": %" PRIu64
                ", \"staged_bytes\": %" PRIu64 ", \"batches\": %" PRIu64 ", \"batched_copies\": %" PRIu64
                ", \"joined_copies\": %" PRIu64
                ", \"evictions\": %" PRIu64 ", \"writebacks\": %" PRIu64 ", \"jobs\": %u, \"replayed\": %" PRIu64,
                m->capacity_bytes, m->peak_bytes, m->h2d_copies, m->h2d_bytes, m->d2h_copies, m->d2h_bytes,
                m->peer_copies, m->peer_bytes, m->staged_copies, m->staged_bytes, m->batches, m->batched_copies, m->joined_copies,
                m->evictions, m->writebacks, m->jobs, m->replayed);
        fprintf(out,
                ", \"evict\": \"%s\", \"hits\": %" PRIu64 ", \"hit_bytes\": %" PRIu64 ", \"misses\": %" PRIu64
                ", \"miss_bytes\": %" PRIu64 ", \"prefetches\": %" PRIu64 ", \"prefetch_bytes\": %" PRIu64
                ", \"evicted_bytes\": %" PRIu64 ", \"writeback_bytes\": %" PRIu64 "}",
                m->evict, m->hits, m->hit_bytes, m->misses, m->miss_bytes, m->prefetches, m->prefetch_bytes,
                m->evicted_bytes, m->writeback_bytes);
    }
    fputc(']', out);
    if (skips)
        dfr_report_sinks(graph, skips, s->waves, true, out);
    if (nodes)
        dfr_report_nodes(graph, nodes, true, out);
    fputc('}', out);
}
