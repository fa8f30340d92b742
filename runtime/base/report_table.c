/* report_table.c - prints tables as text, CSV or JSON (report_table.h), for the reports of dfc's commands and the --stats of programs. */
#include "runtime/base/report_table.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/base/text.h"

__attribute__((format(printf, 2, 3))) static void add_cell(struct dfr_report_table *table, const char *format, ...)
{
    va_list list;
    char **cells = realloc(table->cells, (table->n_cells + 1) * sizeof *cells);
    if (!cells) {
        table->failed = true;
        return;
    }
    table->cells = cells;
    va_start(list, format);
    if (vasprintf(&cells[table->n_cells], format, list) < 0)
        table->failed = true;
    else
        dfr_text_clean(cells[table->n_cells++]);
    va_end(list);
}

/* The number of characters of a UTF-8 text: bytes that continue a character do not count. */
static int width_of(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static bool is_shown(const struct dfr_report_table *table, const struct dfr_column *column)
{
    const char *name = table->form == DFR_FORM_TEXT ? column->head : column->name;
    const unsigned forms = column->only & DFR_ONLY_FORMS, own = column->only & ~DFR_ONLY_FORMS;
    return name && (!forms || forms & 1u << table->form) && !(own & ~table->shown);
}

/* The widths of the text's columns, < 0 for those that are set to the left. */
static void find_widths(const struct dfr_report_table *table, int *widths)
{
    unsigned n = 0;
    for (unsigned i = 0; i < table->n_all; i++)
        if (is_shown(table, &table->columns[i])) {
            widths[n] = table->columns[i].width ? table->columns[i].width : n ? 1 : -1;
            n++;
        }
    for (size_t i = 0; i < table->n_cells; i++) {
        int width = width_of(table->cells[i]), *least = &widths[i % n];
        if (width > abs(*least))
            *least = *least < 0 ? -width : width;
    }
}

static bool print_cells(const struct dfr_report_table *table)
{
    unsigned n = table->n_columns;
    int *widths = calloc(n + 1, sizeof *widths), blanks = 0; /* blanks that end a line are not printed */
    if (table->failed || !widths) {
        free(widths);
        return false;
    }
    find_widths(table, widths);
    for (size_t i = 0; i < table->n_cells; i++) {
        unsigned column = (unsigned)(i % n);
        int fill = abs(widths[column]) - width_of(table->cells[i]);
        blanks += (column ? 2 : 0) + (widths[column] > 0 ? fill : 0);
        if (*table->cells[i]) {
            fprintf(table->out, "%*s%s", blanks, "", table->cells[i]);
            blanks = 0;
        }
        blanks += widths[column] < 0 ? fill : 0;
        if (column + 1 == n) {
            fputc('\n', table->out);
            blanks = 0;
        }
    }
    free(widths);
    return true;
}

void dfr_report_table_free(struct dfr_report_table *table)
{
    for (size_t i = 0; i < table->n_cells; i++)
        free(table->cells[i]);
    free(table->cells);
    table->cells = NULL;
    table->n_cells = 0;
}

/* ---- columns and rows ---- */

static void text_cell(struct dfr_report_table *table, const struct dfr_column *column, const struct dfr_cell *cell)
{
    char text[16];
    if (cell->text || column->type == DFR_COLUMN_TEXT || !isfinite(cell->number)) {
        add_cell(table, "%s", cell->text ? cell->text : "-");
        return;
    }
    switch (column->type) {
    case DFR_COLUMN_TEXT: break;
    case DFR_COLUMN_COUNT: add_cell(table, "%.0f", cell->number); break;
    case DFR_COLUMN_BYTES: add_cell(table, "%s", dfr_text_bytes((uint64_t)cell->number, text, sizeof text)); break;
    case DFR_COLUMN_SECONDS: add_cell(table, "%s", dfr_text_seconds(cell->number, text, sizeof text)); break;
    case DFR_COLUMN_MILLISECONDS: add_cell(table, "%.*f ms", column->digits, cell->number); break;
    case DFR_COLUMN_SHARE: add_cell(table, "%.*f %%", column->digits, 100 * cell->number); break;
    case DFR_COLUMN_PERCENT: add_cell(table, "%.*f", column->digits, 100 * cell->number); break;
    case DFR_COLUMN_CHANGE: add_cell(table, "%+.*f %%", column->digits, 100 * cell->number); break;
    case DFR_COLUMN_FACTOR: add_cell(table, "%.*f", column->digits, cell->number); break;
    case DFR_COLUMN_GAIN: add_cell(table, "%.*fx", column->digits, cell->number); break;
    case DFR_COLUMN_RATE: add_cell(table, "%.4g", cell->number); break;
    }
}

static void put_field(const struct dfr_report_table *table, const struct dfr_column *column, const struct dfr_cell *cell)
{
    switch (column->type) {
    case DFR_COLUMN_TEXT:
        if (table->form == DFR_FORM_JSON)
            dfr_text_json(table->out, cell->text);
        else
            dfr_text_csv(table->out, cell->text);
        break;
    case DFR_COLUMN_COUNT:
    case DFR_COLUMN_BYTES: fprintf(table->out, "%.0f", cell->number); break;
    case DFR_COLUMN_SECONDS: fprintf(table->out, "%.9g", cell->number); break;
    case DFR_COLUMN_MILLISECONDS: fprintf(table->out, "%.3f", cell->number); break;
    case DFR_COLUMN_SHARE:
    case DFR_COLUMN_PERCENT:
    case DFR_COLUMN_CHANGE:
    case DFR_COLUMN_FACTOR:
    case DFR_COLUMN_GAIN:
    case DFR_COLUMN_RATE: fprintf(table->out, "%.6g", cell->number); break;
    }
}

void dfr_report_table_begin(struct dfr_report_table *table, FILE *out, enum dfr_form form, const struct dfr_column *columns, unsigned n)
{
    const char *comma = "";
    table->out = out;
    table->form = form;
    table->columns = columns;
    table->n_all = n;
    for (unsigned i = 0; i < n; i++) {
        if (form == DFR_FORM_JSON || !is_shown(table, &columns[i]))
            continue;
        if (form == DFR_FORM_TEXT) {
            add_cell(table, "%s", columns[i].head);
            table->n_columns++;
        } else {
            fprintf(out, "%s%s", comma, columns[i].name);
            comma = ",";
        }
    }
    if (form == DFR_FORM_CSV)
        fputc('\n', out);
}

static void text_row(struct dfr_report_table *table, const struct dfr_cell *cells)
{
    for (unsigned i = 0; i < table->n_all; i++)
        if (is_shown(table, &table->columns[i]))
            text_cell(table, &table->columns[i], &cells[i]);
}

static void csv_row(const struct dfr_report_table *table, const struct dfr_cell *cells)
{
    const char *comma = "";
    for (unsigned i = 0; i < table->n_all; i++) {
        const struct dfr_column *column = &table->columns[i];
        if (!is_shown(table, column))
            continue;
        fputs(comma, table->out);
        comma = ",";
        if (column->type == DFR_COLUMN_TEXT ? cells[i].text != NULL : !isnan(cells[i].number))
            put_field(table, column, &cells[i]);
    }
    fputc('\n', table->out);
}

static void json_row(struct dfr_report_table *table, const struct dfr_cell *cells)
{
    const char *pad = table->pad ? table->pad : "", *before = pad;
    fprintf(table->out, "%s%s{", table->more ? "," : "", !table->inline_rows ? "\n    " : table->more ? " " : "");
    table->more = true;
    for (unsigned i = 0; i < table->n_all; i++) {
        const struct dfr_column *column = &table->columns[i];
        const bool missing = column->type == DFR_COLUMN_TEXT ? !cells[i].text : !isfinite(cells[i].number);
        if (!is_shown(table, column) || (missing && !column->null))
            continue;
        fprintf(table->out, "%s\"%s\": ", before, column->name);
        before = ", ";
        if (missing)
            fputs("null", table->out);
        else
            put_field(table, column, &cells[i]);
    }
    fprintf(table->out, "%s%s", pad, table->open_rows ? "" : "}");
}

void dfr_report_table_row(struct dfr_report_table *table, const struct dfr_cell *cells)
{
    if (table->form == DFR_FORM_TEXT)
        text_row(table, cells);
    else if (table->form == DFR_FORM_CSV)
        csv_row(table, cells);
    else
        json_row(table, cells);
}

bool dfr_report_table_end(struct dfr_report_table *table)
{
    bool good = table->form != DFR_FORM_TEXT || print_cells(table);
    dfr_report_table_free(table);
    return good;
}
