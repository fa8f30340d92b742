/* stages_report.c - prints what ranks did with their stages (stages_report.h). */
#include "runtime/program/stages_report.h"

#include <inttypes.h>

#include "runtime/base/text.h"
#include "runtime/program/ranks_report.h"

/* ---- text ---- */

static void put_row(const struct dfr_stage_row *row, FILE *out)
{
    char in[24], from[24], ran[24], waited[24], full[24];
    fprintf(out, "  %8" PRId64 "  %9s  %9s  %8s  %8s  %8s  %s\n", row->waves, dfr_text_bytes(row->in_bytes, in, sizeof in),
            dfr_text_bytes(row->out_bytes, from, sizeof from), dfr_text_seconds(row->ran_s, ran, sizeof ran),
            dfr_text_seconds(row->waited_s, waited, sizeof waited), dfr_text_seconds(row->full_s, full, sizeof full), row->names);
}

static void put_rank(const struct dfr_figures *f, int r, int width, FILE *out)
{
    const struct dfr_rank_figures *rank = &f->ranks[r];

    for (uint32_t i = 0; i < rank->stages.n; i++) {
        fprintf(out, "%4d  %-*s  %-7s", r, width, rank->host, dfr_rank_fates[rank->fate]);
        put_row(&rank->stages.rows[i], out);
    }
    if (rank->stages.n == 0)
        fprintf(out, "%4d  %-*s  %-7s  %8s  %9s  %9s  %8s  %8s  %8s  %s\n", r, width, rank->host, dfr_rank_fates[rank->fate], "-", "-", "-", "-", "-", "-",
                rank->reported ? "none" : "not told");
}

void dfr_report_stages_text(const struct dfr_figures *f, FILE *out)
{
    const int width = dfr_host_width(f);
    struct dfr_stage_rows sum;
    int64_t again = 0;

    fprintf(out, "\nrank  %-*s  %-7s  %8s  %9s  %9s  %8s  %8s  %8s  stages\n", width, "host", "state", "waves", "to it", "from it", "ran", "waited", "full");
    for (int r = 1; r < f->n_ranks; r++) {
        put_rank(f, r, width, out);
        again += f->ranks[r].counts.n_again;
    }
    if (dfr_stage_rows_sum(f, &sum))
        for (uint32_t i = 0; i < sum.n; i++) {
            fprintf(out, "%4s  %-*s  %-7s", "all", width, "", "");
            put_row(&sum.rows[i], out);
        }
    dfr_stage_rows_free(&sum);
    if (again > 0)
        fprintf(out, "waves that went through all stages again, because a rank was lost: %" PRId64 "\n", again);
}

/* ---- JSON ---- */

void dfr_report_stages_json(const struct dfr_stage_rows *rows, FILE *out)
{
    fputs(", \"stages\": [", out);
    for (uint32_t i = 0; i < rows->n; i++) {
        const struct dfr_stage_row *row = &rows->rows[i];
        fprintf(out, "%s{\"names\": ", i ? ", " : "");
        dfr_text_json(out, row->names);
        fprintf(out, ", \"waves\": %" PRId64 ", \"in_bytes\": %" PRIu64 ", \"out_bytes\": %" PRIu64 ", \"ran_s\": %.9g, \"waited_s\": %.9g, \"full_s\": %.9g}",
                row->waves, row->in_bytes, row->out_bytes, row->ran_s, row->waited_s, row->full_s);
    }
    fputc(']', out);
}

void dfr_report_stages_sum_json(const struct dfr_figures *f, FILE *out)
{
    struct dfr_stage_rows sum;

    dfr_stage_rows_sum(f, &sum);        /* without memory: of no rank */
    dfr_report_stages_json(&sum, out);
    dfr_stage_rows_free(&sum);
}
