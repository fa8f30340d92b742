/* ranks_report.c - prints the statistics of all ranks and their sums, as text or JSON (ranks_report.h), for program_main.c. */
#include "runtime/program/ranks_report.h"

#include <inttypes.h>

#include "runtime/base/report_table.h"
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
    unsigned memories;                  /* of devices */
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
        sums.memories += rank->stats.n_memories;
        sums.by_fate[rank->fate]++;
        sums.silent += !rank->reported;
    }
    return sums;
}

/* ---- text ---- */

static const struct dfr_column rank_columns[] = {
    DFR_COLUMN("rank", "rank", COUNT, .width = 4), DFR_COLUMN("host", "host", TEXT, .width = -4), DFR_COLUMN("state", "state", TEXT, .width = -7),
    DFR_COLUMN("waves", "waves", COUNT, .width = 8), DFR_COLUMN("given", "given", COUNT, .width = 8), DFR_COLUMN("again", "given_again", COUNT, .width = 8),
    DFR_COLUMN("dropped", "dropped", COUNT, .width = 8), DFR_COLUMN("to it", NULL, BYTES, .width = 9), DFR_COLUMN("from it", NULL, BYTES, .width = 9),
    DFR_COLUMN(NULL, "deaths", COUNT), DFR_COLUMN(NULL, "inflight", COUNT), DFR_COLUMN("window", "window", COUNT, .width = 6),
    DFR_COLUMN(NULL, "sent_bytes", BYTES), DFR_COLUMN(NULL, "received_bytes", BYTES),
};

/* rank: NULL: c is the sum of all. */
static void put_rank(struct dfr_report_table *table, const struct dfr_rank_counts *c, int number, const struct dfr_rank_figures *rank)
{
    dfr_report_table_row(table, (const struct dfr_cell[]){
        DFR_NUM_AS(number, rank ? NULL : "all"), DFR_STR(rank ? rank->host : ""), DFR_STR(rank ? dfr_rank_fates[rank->fate] : ""),
        DFR_NUM(c->n_accepted), DFR_NUM(c->n_given), DFR_NUM(c->n_again), DFR_NUM(c->n_dropped), DFR_NUM(c->sent_bytes), DFR_NUM(c->received_bytes),
        DFR_NUM(c->n_deaths), DFR_NUM(rank ? rank->inflight : 0), DFR_NUM_AS(rank ? rank->window : 0, rank ? NULL : ""), DFR_NUM(c->sent_bytes),
        DFR_NUM(c->received_bytes) });
}

static void report_waves(const struct dfr_figures *f, const struct sums *sums, FILE *out)
{
    struct dfr_report_table table = { 0 };
    fputc('\n', out);
    dfr_report_table_begin(&table, out, DFR_FORM_TEXT, DFR_COLUMNS(rank_columns));
    for (int r = 1; r < f->n_ranks; r++)
        put_rank(&table, &f->ranks[r].counts, r, &f->ranks[r]);
    put_rank(&table, &sums->counts, 0, NULL);
    dfr_report_table_end(&table);
}

static void report_units(const struct dfr_figures *f, const struct sums *sums, FILE *out)
{
    static const struct dfr_column columns[] = {
        DFR_COLUMN("rank", NULL, COUNT, .width = 4), DFR_COLUMN("worker", NULL, TEXT, .width = -20), DFR_COLUMN("jobs", NULL, COUNT, .width = 10),
        DFR_COLUMN("busy", NULL, SECONDS, .width = 10), DFR_COLUMN("idle", NULL, SECONDS, .width = 10),
        DFR_COLUMN("busy %", NULL, PERCENT, .digits = 1, .width = 6),
    };
    struct dfr_report_table table = { 0 };
    fputc('\n', out);
    dfr_report_table_begin(&table, out, DFR_FORM_TEXT, DFR_COLUMNS(columns));
    for (int r = 0; r < f->n_ranks; r++) {
        const struct df_stats *s = &f->ranks[r].stats;
        for (unsigned i = 0; i < s->n_workers; i++) {
            const struct df_worker_stats *w = &s->workers[i];
            dfr_report_table_row(&table, (const struct dfr_cell[]){
                DFR_NUM(r), DFR_STR(w->name), DFR_NUM(w->jobs), DFR_NUM(w->busy_s), DFR_NUM(s->makespan_s > w->busy_s ? s->makespan_s - w->busy_s : 0),
                DFR_NUM(s->makespan_s > 0 ? w->busy_s / s->makespan_s : 0) });
        }
    }
    dfr_report_table_row(&table, (const struct dfr_cell[]){ DFR_STR("all"), DFR_STR(""), DFR_NUM(sums->jobs), DFR_NUM(sums->busy_s), DFR_STR(""), DFR_STR("") });
    dfr_report_table_end(&table);
}

static void report_memories(const struct dfr_figures *f, const struct sums *sums, FILE *out)
{
    static const struct dfr_column columns[] = {
        DFR_COLUMN("rank", NULL, COUNT, .width = 4), DFR_COLUMN("memory", NULL, TEXT, .width = -20), DFR_COLUMN("peak", NULL, BYTES, .width = 9),
        DFR_COLUMN("to it", NULL, COUNT, .width = 8), DFR_COLUMN("bytes", NULL, BYTES, .width = 9), DFR_COLUMN("from it", NULL, COUNT, .width = 8),
        DFR_COLUMN("bytes", NULL, BYTES, .width = 9),
    };
    struct dfr_report_table table = { 0 };
    char copied[24];
    fputc('\n', out);
    dfr_report_table_begin(&table, out, DFR_FORM_TEXT, DFR_COLUMNS(columns));
    for (int r = 0; r < f->n_ranks; r++)
        for (unsigned i = 0; i < f->ranks[r].stats.n_memories; i++) {
            const struct df_memory_stats *m = &f->ranks[r].stats.memories[i];
            dfr_report_table_row(&table, (const struct dfr_cell[]){ DFR_NUM(r), DFR_STR(m->name), DFR_NUM(m->peak_bytes), DFR_NUM(m->h2d_copies),
                                                                    DFR_NUM(m->h2d_bytes), DFR_NUM(m->d2h_copies), DFR_NUM(m->d2h_bytes) });
        }
    dfr_report_table_end(&table);
    fprintf(out, "copied to devices, from them and between them: %s\n", dfr_text_bytes(sums->copied_bytes, copied, sizeof copied));
    for (int r = 0; r < f->n_ranks; r++)
        for (unsigned i = 0; i < f->ranks[r].stats.n_memories; i++)
            if (f->ranks[r].stats.memories[i].inexact)
                fprintf(out, "rank %d, %s: results of formulas may differ from the CPU's in the last bits (--inexact)\n", r, f->ranks[r].stats.memories[i].name);
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
    if (sums.memories > 0)
        report_memories(f, &sums, out);
    dfr_report_sinks(graph, f->skips, (uint64_t)f->waves, DFR_FORM_TEXT, out);
    if (f->nodes)
        dfr_report_nodes(graph, f->nodes, DFR_FORM_TEXT, out);
}

/* ---- JSON ---- */

static void put_ranks(const struct dfr_figures *f, const struct df_graph *graph, FILE *out)
{
    struct dfr_report_table table = { .inline_rows = true, .open_rows = true };
    dfr_report_table_begin(&table, out, DFR_FORM_JSON, DFR_COLUMNS(rank_columns));
    for (int r = 0; r < f->n_ranks; r++) {
        const struct dfr_rank_figures *rank = &f->ranks[r];
        put_rank(&table, &rank->counts, r, rank);
        fputs(", \"stats\": ", out);
        if (rank->reported)
            dfr_report_object(&rank->stats, graph, NULL, NULL, out);
        else
            fputs("null", out);
        if (f->by_stages)
            dfr_report_stages_json(&rank->stages, out);
        fputc('}', out);
    }
}

void dfr_report_ranks_json(const struct dfr_figures *f, const struct df_graph *graph, FILE *out)
{
    const struct sums sums = sums_of(f);

    fprintf(out, "{\"elapsed_s\": %.9g, \"waves\": %" PRId64 ", \"jobs\": %" PRIu64 ", \"given\": %" PRId64 ", \"given_again\": %" PRId64
            ", \"dropped\": %" PRId64 ", \"busy_s\": %.9g, \"copied_bytes\": %" PRIu64 ", \"sent_bytes\": %" PRIu64 ", \"received_bytes\": %" PRIu64
            ", \"ranks\": [", f->elapsed_s, f->waves, sums.jobs, sums.counts.n_given, sums.counts.n_again, sums.counts.n_dropped, sums.busy_s,
            sums.copied_bytes, sums.counts.sent_bytes, sums.counts.received_bytes);
    put_ranks(f, graph, out);
    fputc(']', out);
    if (f->by_stages)
        dfr_report_stages_sum_json(f, out);
    dfr_report_sinks(graph, f->skips, (uint64_t)f->waves, DFR_FORM_JSON, out);
    if (f->nodes)
        dfr_report_nodes(graph, f->nodes, DFR_FORM_JSON, out);
    fputs("}\n", out);
}
