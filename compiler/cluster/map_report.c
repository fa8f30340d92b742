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
    static const char *const heads[] = { "mapping", "groups", "processors", "period", "simulated", "waves/s", "from ideal", "from bound",
                                         "identity over it" };
    struct dfc_table table = { .n_columns = sizeof heads / sizeof *heads };
    char text[16];
    for (unsigned i = 0; i < table.n_columns; i++)
        dfc_table_cell(&table, "%s", heads[i]);
    for (unsigned i = 0; i < report->n_rows; i++) {
        const struct dfc_map_row *row = &report->rows[i];
        if (row->missing)
            continue;
        dfc_table_cell(&table, "%s", row->name);
        dfc_table_cell(&table, "%" PRIu32, row->mapping.n_groups);
        dfc_table_cell(&table, "%" PRIu32, used(report, &row->mapping, DFP_NO_GROUP));
        dfc_table_cell(&table, "%s", dfr_text_seconds(row->period_s, text, sizeof text));
        dfc_table_cell(&table, "%s", dfr_text_seconds(row->run_s, text, sizeof text));
        dfc_table_cell(&table, "%.4g", 1 / row->period_s);
        dfc_table_cell(&table, "%+.1f %%", 100 * (row->period_s / report->ideal_s - 1));
        dfc_table_cell(&table, "%+.1f %%", 100 * (row->period_s / report->bound_s - 1));
        dfc_table_cell(&table, "%.2f", report->rows[0].period_s / row->period_s);
    }
    bool good = dfc_table_print(&table, out);
    dfc_table_free(&table);
    for (unsigned i = 0; i < report->n_rows; i++)
        if (report->rows[i].missing && *report->rows[i].missing)
            fprintf(out, "%s: %s\n", report->rows[i].name, report->rows[i].missing);
    return good;
}

static bool print_groups(const struct dfc_map_report *report, FILE *out)
{
    static const char *const heads[] = { "stages", "processors", "replicas", "period", "share of the slowest" };
    const struct dfc_map_row *row = &report->rows[report->shown];
    struct dfc_table table = { .n_columns = sizeof heads / sizeof *heads };
    double group_s[DFP_MOST_STAGES], period_s = dfp_mapping_period_s(&report->input->pipeline, &row->mapping, group_s);
    char time[16];
    bool good = true;
    for (unsigned i = 0; i < table.n_columns; i++)
        dfc_table_cell(&table, "%s", heads[i]);
    for (uint32_t g = 0; g < row->mapping.n_groups; g++) {
        char *stages = list_stages(report, &row->mapping, g), *processors = list_processors(report, &row->mapping, g);
        good &= stages && processors;
        dfc_table_cell(&table, "%s", stages ? stages : "");
        dfc_table_cell(&table, "%s", processors ? processors : "");
        dfc_table_cell(&table, "%" PRIu32, used(report, &row->mapping, g));
        dfc_table_cell(&table, "%s", dfr_text_seconds(group_s[g], time, sizeof time));
        dfc_table_cell(&table, "%.0f %%", 100 * group_s[g] / period_s);
        free(stages);
        free(processors);
    }
    fprintf(out, "\n%s:\n", row->name);
    good = dfc_table_print(&table, out) && good;
    dfc_table_free(&table);
    return good;
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
    fputs("mapping,stages,processors,replicas,group_period_s,period_s,simulated_s,ideal_s,bound_s\n", out);
    for (unsigned i = 0; i < report->n_rows; i++) {
        const struct dfc_map_row *row = &report->rows[i];
        double group_s[DFP_MOST_STAGES];
        if (row->missing)
            continue;
        dfp_mapping_period_s(&report->input->pipeline, &row->mapping, group_s);
        for (uint32_t g = 0; g < row->mapping.n_groups; g++) {
            char *stages = list_stages(report, &row->mapping, g), *processors = list_processors(report, &row->mapping, g);
            fprintf(out, "%s,", row->name);
            dfr_text_csv(out, stages ? stages : "");
            fputc(',', out);
            dfr_text_csv(out, processors ? processors : "");
            fprintf(out, ",%" PRIu32 ",%.9g,%.9g,%.9g,%.9g,%.9g\n", used(report, &row->mapping, g), group_s[g], row->period_s, row->run_s,
                    report->ideal_s, report->bound_s);
            free(stages);
            free(processors);
        }
    }
}
