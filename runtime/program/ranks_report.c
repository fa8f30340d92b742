/* ranks_report.c - prints what the ranks of a run did, in the two forms of --stats (ranks_report.h). */
#include "runtime/program/ranks_report.h"

#include <inttypes.h>
#include <string.h>

#include "runtime/base/text.h"
#include "runtime/program/node_report.h"
#include "runtime/program/run_report.h"
#include "runtime/program/stages_report.h"

const char *const dfr_rank_fates[DFR_RANK_FATES] = {
    [DFR_RANK_ABSENT] = "absent", [DFR_RANK_WORKED] = "worked", [DFR_RANK_LEFT] = "left", [DFR_RANK_REFUSED] = "refused", [DFR_RANK_DIED] = "died",
};

/* ---- sums ---- */

struct sums {
    struct dfr_rank_counts counts;
    uint64_t jobs, copied_bytes;
    double busy_s;
    int by_fate[DFR_RANK_FATES];
    int silent;                         /* ranks that did not report */
};

static double busy_of(const struct df_stats *s)
{
    double busy_s = 0;
    for (unsigned i = 0; i < s->n_workers; i++)
        busy_s += s->workers[i].busy_s;
    return busy_s;
}

/* To devices, from them, and between them. */
static uint64_t copied_by(const struct df_stats *s)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < s->n_memories; i++)
        bytes += s->memories[i].h2d_bytes + s->memories[i].d2h_bytes + s->memories[i].peer_bytes;
    return bytes;
}

static struct sums sums_of(const struct dfr_figures *f)
{
    struct sums sums = { 0 };
    for (int r = 0; r < f->n_ranks; r++) {
        const struct dfr_rank_figures *rank = &f->ranks[r];
        sums.counts.n_given += rank->counts.n_given;
        sums.counts.n_accepted += rank->counts.n_accepted;
        sums.counts.n_dropped += rank->counts.n_dropped;
        sums.counts.n_again += rank->counts.n_again;
        sums.counts.sent_bytes += rank->counts.sent_bytes;
        sums.counts.received_bytes += rank->counts.received_bytes;
        sums.jobs += rank->stats.jobs;
        sums.busy_s += busy_of(&rank->stats);
        sums.copied_bytes += copied_by(&rank->stats);
        sums.by_fate[rank->fate]++;
        sums.silent += !rank->reported;
    }
    return sums;
}

/* ---- text ---- */

int dfr_host_width(const struct dfr_figures *f)
{
    size_t width = strlen("host");
    for (int r = 0; r < f->n_ranks; r++)
        width = strlen(f->ranks[r].host) > width ? strlen(f->ranks[r].host) : width;
    return (int)width;
}

static void put_counts(const struct dfr_rank_counts *c, FILE *out)
{
    char to[24], from[24];
    fprintf(out, "  %8" PRId64 "  %8" PRId64 "  %8" PRId64 "  %8" PRId64 "  %9s  %9s", c->n_accepted, c->n_given, c->n_again, c->n_dropped,
            dfr_text_bytes(c->sent_bytes, to, sizeof to), dfr_text_bytes(c->received_bytes, from, sizeof from));
}

static void report_waves(const struct dfr_figures *f, const struct sums *sums, FILE *out)
{
    const int width = dfr_host_width(f);
    fprintf(out, "\nrank  %-*s  %-7s  %8s  %8s  %8s  %8s  %9s  %9s  %6s\n", width, "host", "state", "waves", "given", "again", "dropped", "to it", "from it",
            "window");
    for (int r = 1; r < f->n_ranks; r++) {
        const struct dfr_rank_figures *rank = &f->ranks[r];
        fprintf(out, "%4d  %-*s  %-7s", r, width, rank->host, dfr_rank_fates[rank->fate]);
        put_counts(&rank->counts, out);
        fprintf(out, "  %6u\n", rank->window);
    }
    fprintf(out, "%4s  %-*s  %-7s", "all", width, "", "");
    put_counts(&sums->counts, out);
    fputc('\n', out);
}

static void report_units(const struct dfr_figures *f, const struct sums *sums, FILE *out)
{
    char busy[24], idle[24];
    fprintf(out, "\nrank  %-20s  %10s  %10s  %10s  %6s\n", "worker", "jobs", "busy", "idle", "busy %");
    for (int r = 0; r < f->n_ranks; r++) {
        const struct df_stats *s = &f->ranks[r].stats;
        for (unsigned i = 0; i < s->n_workers; i++) {
            const struct df_worker_stats *w = &s->workers[i];
            double idle_s = s->makespan_s > w->busy_s ? s->makespan_s - w->busy_s : 0;
            fprintf(out, "%4d  %-20s  %10" PRIu64 "  %10s  %10s  %6.1f\n", r, w->name, w->jobs, dfr_text_seconds(w->busy_s, busy, sizeof busy),
                    dfr_text_seconds(idle_s, idle, sizeof idle), s->makespan_s > 0 ? 100 * w->busy_s / s->makespan_s : 0.0);
        }
    }
    fprintf(out, "%4s  %-20s  %10" PRIu64 "  %10s\n", "all", "", sums->jobs, dfr_text_seconds(sums->busy_s, busy, sizeof busy));
}

static void report_memories(const struct dfr_figures *f, const struct sums *sums, FILE *out)
{
    char peak[24], in[24], back[24], copied[24];
    bool any = false;
    for (int r = 0; r < f->n_ranks; r++)
        for (unsigned i = 0; i < f->ranks[r].stats.n_memories; i++) {
            const struct df_memory_stats *m = &f->ranks[r].stats.memories[i];
            if (!any)
                fprintf(out, "\nrank  %-20s  %9s  %8s  %9s  %8s  %9s\n", "memory", "peak", "to it", "bytes", "from it", "bytes");
            any = true;
            fprintf(out, "%4d  %-20s  %9s  %8" PRIu64 "  %9s  %8" PRIu64 "  %9s\n", r, m->name, dfr_text_bytes(m->peak_bytes, peak, sizeof peak),
                    m->h2d_copies, dfr_text_bytes(m->h2d_bytes, in, sizeof in), m->d2h_copies, dfr_text_bytes(m->d2h_bytes, back, sizeof back));
        }
    if (any)
        fprintf(out, "copied to devices, from them and between them: %s\n", dfr_text_bytes(sums->copied_bytes, copied, sizeof copied));
}

static void report_policies(const struct dfr_figures *f, FILE *out)
{
    for (int r = 0; r < f->n_ranks; r++) {
        const struct dfr_rank_figures *rank = &f->ranks[r];
        if (rank->reported && rank->stats.policy[0])
            fprintf(out, "rank %-12d%s (%s)\n", r, rank->stats.policy, rank->stats.policy_why);
        else if (!rank->reported && rank->fate != DFR_RANK_ABSENT)
            fprintf(out, "rank %-12dit did not report what it did\n", r);
    }
}

void dfr_report_ranks_text(const struct dfr_figures *f, const struct df_graph *graph, FILE *out)
{
    const struct sums sums = sums_of(f);
    char elapsed[24];

    fprintf(out, "ranks            %d", f->n_ranks);
    for (unsigned fate = 0; fate < DFR_RANK_FATES; fate++)
        if (fate != DFR_RANK_WORKED && sums.by_fate[fate] > 0)
            fprintf(out, ", %d %s", sums.by_fate[fate], dfr_rank_fates[fate]);
    fprintf(out, "\nelapsed          %s\n", dfr_text_seconds(f->elapsed_s, elapsed, sizeof elapsed));
    fprintf(out, "waves            %" PRId64 "\n", f->waves);
    fprintf(out, "jobs             %" PRIu64 "\n", sums.jobs);
    report_policies(f, out);
    if (f->by_stages)
        dfr_report_stages_text(f, out);
    else
        report_waves(f, &sums, out);
    report_units(f, &sums, out);
    report_memories(f, &sums, out);
    dfr_report_sinks(graph, f->skips, (uint64_t)f->waves, false, out);
    if (f->nodes)
        dfr_report_nodes(graph, f->nodes, false, out);
}

/* ---- JSON ---- */

static void put_rank(const struct dfr_figures *f, int r, const struct df_graph *graph, FILE *out)
{
    const struct dfr_rank_figures *rank = &f->ranks[r];
    const struct dfr_rank_counts *c = &rank->counts;

    fprintf(out, "%s{\"rank\": %d, \"host\": ", r ? ", " : "", r);
    dfr_text_json(out, rank->host);
    fprintf(out, ", \"state\": \"%s\", \"waves\": %" PRId64 ", \"given\": %" PRId64 ", \"given_again\": %" PRId64 ", \"dropped\": %" PRId64
            ", \"deaths\": %u, \"inflight\": %u, \"window\": %u, \"sent_bytes\": %" PRIu64 ", \"received_bytes\": %" PRIu64 ", \"stats\": ",
            dfr_rank_fates[rank->fate], c->n_accepted, c->n_given, c->n_again, c->n_dropped, c->n_deaths, rank->inflight, rank->window, c->sent_bytes,
            c->received_bytes);
    if (rank->reported)
        dfr_report_object(&rank->stats, graph, NULL, NULL, out);
    else
        fputs("null", out);
    if (f->by_stages)
        dfr_report_stages_json(&rank->stages, out);
    fputc('}', out);
}

void dfr_report_ranks_json(const struct dfr_figures *f, const struct df_graph *graph, FILE *out)
{
    const struct sums sums = sums_of(f);

    fprintf(out, "{\"elapsed_s\": %.9g, \"waves\": %" PRId64 ", \"jobs\": %" PRIu64 ", \"given\": %" PRId64 ", \"given_again\": %" PRId64
            ", \"dropped\": %" PRId64 ", \"busy_s\": %.9g, \"copied_bytes\": %" PRIu64 ", \"sent_bytes\": %" PRIu64 ", \"received_bytes\": %" PRIu64
            ", \"ranks\": [", f->elapsed_s, f->waves, sums.jobs, sums.counts.n_given, sums.counts.n_again, sums.counts.n_dropped, sums.busy_s,
            sums.copied_bytes, sums.counts.sent_bytes, sums.counts.received_bytes);
    for (int r = 0; r < f->n_ranks; r++)
        put_rank(f, r, graph, out);
    fputc(']', out);
    if (f->by_stages)
        dfr_report_stages_sum_json(f, out);
    dfr_report_sinks(graph, f->skips, (uint64_t)f->waves, true, out);
    if (f->nodes)
        dfr_report_nodes(graph, f->nodes, true, out);
    fputs("}\n", out);
}
