/* stages_report.c - prints what each rank did with its pipeline stages (stages_report.h), for ranks_report.c. */
#include "runtime/program/stages_report.h"

#include <inttypes.h>

#include "runtime/base/report_table.h"
#include "runtime/program/ranks_report.h"

static const struct dfr_column columns[] = {
    DFR_COLUMN("rank", NULL, COUNT, .width = 4), DFR_COLUMN("host", NULL, TEXT, .width = -4), DFR_COLUMN("state", NULL, TEXT, .width = -7),
    DFR_COLUMN(NULL, "names", TEXT), DFR_COLUMN("waves", "waves", COUNT, .width = 8), DFR_COLUMN("to it", "in_bytes", BYTES, .width = 9),
    DFR_COLUMN("from it", "out_bytes", BYTES, .width = 9), DFR_COLUMN("ran", "ran_s", SECONDS, .width = 8),
    DFR_COLUMN("waited", "waited_s", SECONDS, .width = 8), DFR_COLUMN("full", "full_s", SECONDS, .width = 8),
    DFR_COLUMN("stages", NULL, TEXT, .width = -6),
};

/* rank: whose rows these are; NULL: of all ranks together. */
static void put_rows(struct dfr_report_table *table, const struct dfr_stage_rows *rows, int number, const struct dfr_rank_figures *rank)
{
    const char *host = rank ? rank->host : "", *state = rank ? dfr_rank_fates[rank->fate] : "";
    for (uint32_t i = 0; i < rows->n; i++) {
        const struct dfr_stage_row *row = &rows->rows[i];
        dfr_report_table_row(table, (const struct dfr_cell[]){
            DFR_NUM_AS(number, rank ? NULL : "all"), DFR_STR(host), DFR_STR(state), DFR_STR(row->names), DFR_NUM(row->waves), DFR_NUM(row->in_bytes),
            DFR_NUM(row->out_bytes), DFR_NUM(row->ran_s), DFR_NUM(row->waited_s), DFR_NUM(row->full_s), DFR_STR(row->names) });
    }
}

void dfr_report_stages_text(const struct dfr_figures *f, FILE *out)
{
    struct dfr_report_table table = { 0 };
    struct dfr_stage_rows sum;
    int64_t again = 0;

    fputc('\n', out);
    dfr_report_table_begin(&table, out, DFR_FORM_TEXT, DFR_COLUMNS(columns));
    for (int r = 1; r < f->n_ranks; r++) {
        const struct dfr_rank_figures *rank = &f->ranks[r];
        put_rows(&table, &rank->stages, r, rank);
        if (rank->stages.n == 0)
            dfr_report_table_row(&table, (const struct dfr_cell[]){
                DFR_NUM(r), DFR_STR(rank->host), DFR_STR(dfr_rank_fates[rank->fate]), DFR_MISSING, DFR_MISSING, DFR_MISSING, DFR_MISSING, DFR_MISSING,
                DFR_MISSING, DFR_MISSING, DFR_STR(rank->reported ? "none" : "not told") });
        again += rank->counts.n_again;
    }
    if (dfr_stage_rows_sum(f, &sum))
        put_rows(&table, &sum, 0, NULL);
    dfr_stage_rows_free(&sum);
    dfr_report_table_end(&table);
    if (again > 0)
        fprintf(out, "waves that went through all stages again, because a rank was lost: %" PRId64 "\n", again);
}

void dfr_report_stages_json(const struct dfr_stage_rows *rows, FILE *out)
{
    struct dfr_report_table table = { .inline_rows = true };

    fputs(", \"stages\": [", out);
    dfr_report_table_begin(&table, out, DFR_FORM_JSON, DFR_COLUMNS(columns));
    put_rows(&table, rows, 0, NULL);
    fputc(']', out);
}

void dfr_report_stages_sum_json(const struct dfr_figures *f, FILE *out)
{
    struct dfr_stage_rows sum;

    dfr_stage_rows_sum(f, &sum);        /* without memory: of no rank */
    dfr_report_stages_json(&sum, out);
    dfr_stage_rows_free(&sum);
}
