/* map_report.c - prints what `dfc map` found. */
#include "compiler/cluster/map_report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "compiler/show/table.h"
#include "runtime/base/message.h"
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
    static const struct dfc_column columns[] = {
        DFC_COLUMN("mapping", NULL, DFC_TEXT), DFC_COLUMN("groups", NULL, DFC_COUNT), DFC_COLUMN("processors", NULL, DFC_COUNT),
        DFC_COLUMN("period", NULL, DFC_SECONDS), DFC_COLUMN("simulated", NULL, DFC_SECONDS), DFC_COLUMN("waves/s", NULL, DFC_RATE),
        DFC_COLUMN("from ideal", NULL, DFC_CHANGE, .digits = 1), DFC_COLUMN("from bound", NULL, DFC_CHANGE, .digits = 1),
        DFC_COLUMN("identity over it", NULL, DFC_FACTOR, .digits = 2),
    };
    struct dfc_table table = { 0 };
    dfc_table_begin(&table, out, DFC_TABLE_TEXT, columns, sizeof columns / sizeof *columns);
    for (unsigned i = 0; i < report->n_rows; i++) {
        const struct dfc_map_row *row = &report->rows[i];
        if (!row->missing)
            dfc_table_row(&table, (const struct dfc_value[]){
                DFC_WORD(row->name), DFC_NUMBER(row->mapping.n_groups), DFC_NUMBER(used(report, &row->mapping, DFP_NO_GROUP)),
                DFC_NUMBER(row->period_s), DFC_NUMBER(row->run_s), DFC_NUMBER(1 / row->period_s), DFC_NUMBER(row->period_s / report->ideal_s - 1),
                DFC_NUMBER(row->period_s / report->bound_s - 1), DFC_NUMBER(report->rows[0].period_s / row->period_s) });
    }
    bool good = dfc_table_end(&table);
    for (unsigned i = 0; i < report->n_rows; i++)
        if (report->rows[i].missing && *report->rows[i].missing)
            fprintf(out, "%s: %s\n", report->rows[i].name, report->rows[i].missing);
    return good;
}

/* A row for each group of a mapping. */
static bool add_groups(const struct dfc_map_report *report, const struct dfc_map_row *row, struct dfc_table *table)
{
    double group_s[DFP_MOST_STAGES], period_s = dfp_mapping_period_s(&report->input->pipeline, &row->mapping, group_s);
    bool good = true;
    for (uint32_t g = 0; g < row->mapping.n_groups; g++) {
        char *stages = list_stages(report, &row->mapping, g), *processors = list_processors(report, &row->mapping, g);
        good &= stages && processors;
        dfc_table_row(table, (const struct dfc_value[]){
            DFC_WORD(row->name), DFC_WORD(stages), DFC_WORD(processors), DFC_NUMBER(used(report, &row->mapping, g)), DFC_NUMBER(group_s[g]),
            DFC_NUMBER(group_s[g] / period_s), DFC_NUMBER(row->period_s), DFC_NUMBER(row->run_s), DFC_NUMBER(report->ideal_s),
            DFC_NUMBER(report->bound_s) });
        free(stages);
        free(processors);
    }
    return good;
}

static const struct dfc_column group_columns[] = {
    DFC_COLUMN(NULL, "mapping", DFC_TEXT), DFC_COLUMN("stages", "stages", DFC_TEXT), DFC_COLUMN("processors", "processors", DFC_TEXT),
    DFC_COLUMN("replicas", "replicas", DFC_COUNT), DFC_COLUMN("period", "group_period_s", DFC_SECONDS),
    DFC_COLUMN("share of the slowest", NULL, DFC_SHARE), DFC_COLUMN(NULL, "period_s", DFC_SECONDS), DFC_COLUMN(NULL, "simulated_s", DFC_SECONDS),
    DFC_COLUMN(NULL, "ideal_s", DFC_SECONDS), DFC_COLUMN(NULL, "bound_s", DFC_SECONDS),
};

static bool print_groups(const struct dfc_map_report *report, FILE *out)
{
    const struct dfc_map_row *row = &report->rows[report->shown];
    struct dfc_table table = { 0 };
    fprintf(out, "\n%s:\n", row->name);
    dfc_table_begin(&table, out, DFC_TABLE_TEXT, group_columns, sizeof group_columns / sizeof *group_columns);
    bool good = add_groups(report, row, &table);
    return dfc_table_end(&table) && good;
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
    struct dfc_table table = { 0 };
    dfc_table_begin(&table, out, DFC_TABLE_CSV, group_columns, sizeof group_columns / sizeof *group_columns);
    for (unsigned i = 0; i < report->n_rows; i++)
        if (!report->rows[i].missing)
            add_groups(report, &report->rows[i], &table);
}
