/* map_report.c - prints the mappings that `dfc map` found, as a table or CSV, for map_command.c. */
#include "compiler/cluster/map_report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "runtime/base/message.h"
#include "runtime/base/report_table.h"
#include "runtime/base/text.h"

static uint32_t used(const struct dfc_map_report *report, const struct dfp_mapping *m, uint32_t group)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < report->input->pipeline.n_processors; p++)
        n += group == DFP_NO_GROUP ? m->group_of[p] != DFP_NO_GROUP : m->group_of[p] == group;
    return n;
}

/* "load segment", or "slow.0 slow.2", in memory that the caller frees. */
static char *list_stages(const struct dfc_map_report *report, const struct dfp_mapping *m, uint32_t g)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (uint32_t n = m->first[g]; out && n < m->first[g + 1]; n++)
        fprintf(out, "%s%s", n > m->first[g] ? " " : "", report->input->stages[n]);
    return dfr_text_close(out, &text);
}

static char *list_processors(const struct dfc_map_report *report, const struct dfp_mapping *m, uint32_t g)
{
    char *text = NULL;
    size_t size;
    unsigned n = 0;
    FILE *out = open_memstream(&text, &size);
    for (uint32_t p = 0; out && p < report->input->pipeline.n_processors; p++)
        if (m->group_of[p] == g)
            fprintf(out, "%s%s", n++ ? " " : "", report->input->processors[p]);
    return dfr_text_close(out, &text);
}

/* ---- text ---- */

static void print_head(const struct dfc_map_report *report, FILE *out)
{
    char text[16];
    const struct dfp_pipeline *l = &report->input->pipeline;
    dfr_message_name(out, report->path);
    fprintf(out, ": %" PRIu32 " stages on the %" PRIu32 " processors of %s, fed %s%s\n", l->n_stages, l->n_processors, report->cluster,
            l->feeding == DFP_BY_DEMAND ? "by demand" : "in order", l->replicate_groups ? ", groups replicated" : "");
    fprintf(out, "ideal   a wave every %s (equation 6 of HeDPM)\n", dfr_text_seconds(report->ideal_s, text, sizeof text));
    fprintf(out, "bound   a wave every %s: no mapping is faster\n\n", dfr_text_seconds(report->bound_s, text, sizeof text));
}

static bool print_mappings(const struct dfc_map_report *report, FILE *out)
{
    static const struct dfr_column columns[] = {
        DFR_COLUMN("mapping", NULL, TEXT), DFR_COLUMN("groups", NULL, COUNT), DFR_COLUMN("processors", NULL, COUNT),
        DFR_COLUMN("period", NULL, SECONDS), DFR_COLUMN("simulated", NULL, SECONDS), DFR_COLUMN("waves/s", NULL, RATE),
        DFR_COLUMN("from ideal", NULL, CHANGE, .digits = 1), DFR_COLUMN("from bound", NULL, CHANGE, .digits = 1),
        DFR_COLUMN("identity over it", NULL, FACTOR, .digits = 2),
    };
    struct dfr_report_table table = { 0 };
    dfr_report_table_begin(&table, out, DFR_FORM_TEXT, DFR_COLUMNS(columns));
    for (unsigned i = 0; i < report->n_rows; i++) {
        const struct dfc_map_row *row = &report->rows[i];
        if (!row->missing)
            dfr_report_table_row(&table, (const struct dfr_cell[]){
                DFR_STR(row->name), DFR_NUM(row->mapping.n_groups), DFR_NUM(used(report, &row->mapping, DFP_NO_GROUP)),
                DFR_NUM(row->period_s), DFR_NUM(row->run_s), DFR_NUM(1 / row->period_s), DFR_NUM(row->period_s / report->ideal_s - 1),
                DFR_NUM(row->period_s / report->bound_s - 1), DFR_NUM(report->rows[0].period_s / row->period_s) });
    }
    bool good = dfr_report_table_end(&table);
    for (unsigned i = 0; i < report->n_rows; i++)
        if (report->rows[i].missing && *report->rows[i].missing)
            fprintf(out, "%s: %s\n", report->rows[i].name, report->rows[i].missing);
    return good;
}

/* A row for each group of a mapping. */
static bool add_groups(const struct dfc_map_report *report, const struct dfc_map_row *row, struct dfr_report_table *table)
{
    double group_s[DFP_MOST_STAGES], period_s = dfp_mapping_period_s(&report->input->pipeline, &row->mapping, group_s);
    bool good = true;
    for (uint32_t g = 0; g < row->mapping.n_groups; g++) {
        char *stages = list_stages(report, &row->mapping, g), *processors = list_processors(report, &row->mapping, g);
        good &= stages && processors;
        dfr_report_table_row(table, (const struct dfr_cell[]){
            DFR_STR(row->name), DFR_STR(stages), DFR_STR(processors), DFR_NUM(used(report, &row->mapping, g)), DFR_NUM(group_s[g]),
            DFR_NUM(group_s[g] / period_s), DFR_NUM(row->period_s), DFR_NUM(row->run_s), DFR_NUM(report->ideal_s),
            DFR_NUM(report->bound_s) });
        free(stages);
        free(processors);
    }
    return good;
}

static const struct dfr_column group_columns[] = {
    DFR_COLUMN(NULL, "mapping", TEXT), DFR_COLUMN("stages", "stages", TEXT), DFR_COLUMN("processors", "processors", TEXT),
    DFR_COLUMN("replicas", "replicas", COUNT), DFR_COLUMN("period", "group_period_s", SECONDS),
    DFR_COLUMN("share of the slowest", NULL, SHARE), DFR_COLUMN(NULL, "period_s", SECONDS), DFR_COLUMN(NULL, "simulated_s", SECONDS),
    DFR_COLUMN(NULL, "ideal_s", SECONDS), DFR_COLUMN(NULL, "bound_s", SECONDS),
};

static bool print_groups(const struct dfc_map_report *report, FILE *out)
{
    const struct dfc_map_row *row = &report->rows[report->shown];
    struct dfr_report_table table = { 0 };
    fprintf(out, "\n%s:\n", row->name);
    dfr_report_table_begin(&table, out, DFR_FORM_TEXT, DFR_COLUMNS(group_columns));
    bool good = add_groups(report, row, &table);
    return dfr_report_table_end(&table) && good;
}

bool dfc_map_text(const struct dfc_map_report *report, FILE *out)
{
    print_head(report, out);
    if (!print_mappings(report, out))
        return false;
    fprintf(out, "ours: the best of the others, and of at most %" PRIu64 " mappings that were tried from it on (--budget)\n", report->tried);
    return print_groups(report, out);
}

/* ---- CSV ---- */

void dfc_map_csv(const struct dfc_map_report *report, FILE *out)
{
    struct dfr_report_table table = { 0 };
    dfr_report_table_begin(&table, out, DFR_FORM_CSV, DFR_COLUMNS(group_columns));
    for (unsigned i = 0; i < report->n_rows; i++)
        if (!report->rows[i].missing)
            add_groups(report, &report->rows[i], &table);
}
