/* table.c - prints tables: table.h. */
#include "compiler/show/table.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/base/text.h"

void dfc_table_cell(struct dfc_table *table, const char *format, ...)
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
static unsigned width_of(const char *text)
{
    unsigned n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static void print_blanks(FILE *out, unsigned n)
{
    fprintf(out, "%*s", (int)n, "");
}

bool dfc_table_print(const struct dfc_table *table, FILE *out)
{
    unsigned n = table->n_columns;
    unsigned *widths = calloc(n + 1, sizeof *widths);
    if (table->failed || !widths) {
        free(widths);
        return false;
    }
    for (size_t i = 0; i < table->n_cells; i++) {
        unsigned width = width_of(table->cells[i]);
        if (width > widths[i % n])
            widths[i % n] = width;
    }
    for (size_t i = 0; i < table->n_cells; i++) {
        unsigned column = (unsigned)(i % n), fill = widths[column] - width_of(table->cells[i]);
        if (column > 0)
            print_blanks(out, fill + 2);
        fputs(table->cells[i], out);
        if (column + 1 == n)
            fputc('\n', out);
        else if (column == 0)
            print_blanks(out, fill);
    }
    free(widths);
    return true;
}

void dfc_table_free(struct dfc_table *table)
{
    for (size_t i = 0; i < table->n_cells; i++)
        free(table->cells[i]);
    free(table->cells);
    table->cells = NULL;
    table->n_cells = 0;
}

/* ---- columns and rows ---- */

static void text_cell(struct dfc_table *table, const struct dfc_column *column, const struct dfc_value *value)
{
    char text[16];
    if (column->type == DFC_TEXT ? !value->text : !isfinite(value->number)) {
        dfc_table_cell(table, "-");
        return;
    }
    switch (column->type) {
    case DFC_TEXT: dfc_table_cell(table, "%s", value->text); break;
    case DFC_COUNT: dfc_table_cell(table, "%.0f", value->number); break;
    case DFC_BYTES: dfc_table_cell(table, "%s", dfr_text_bytes((uint64_t)value->number, text, sizeof text)); break;
    case DFC_SECONDS: dfc_table_cell(table, "%s", dfr_text_seconds(value->number, text, sizeof text)); break;
    case DFC_MILLISECONDS: dfc_table_cell(table, "%.1f ms", value->number); break;
    case DFC_SHARE: dfc_table_cell(table, "%.*f %%", column->digits, 100 * value->number); break;
    case DFC_CHANGE: dfc_table_cell(table, "%+.*f %%", column->digits, 100 * value->number); break;
    case DFC_FACTOR: dfc_table_cell(table, "%.*f", column->digits, value->number); break;
    case DFC_GAIN: dfc_table_cell(table, "%.*fx", column->digits, value->number); break;
    case DFC_RATE: dfc_table_cell(table, "%.4g", value->number); break;
    }
}

static void put_field(const struct dfc_table *table, const struct dfc_column *column, const struct dfc_value *value)
{
    switch (column->type) {
    case DFC_TEXT:
        if (table->form == DFC_TABLE_JSON)
            dfr_text_json(table->out, value->text);
        else
            dfr_text_csv(table->out, value->text);
        break;
    case DFC_COUNT:
    case DFC_BYTES: fprintf(table->out, "%.0f", value->number); break;
    case DFC_SECONDS: fprintf(table->out, "%.9g", value->number); break;
    case DFC_MILLISECONDS: fprintf(table->out, "%.3f", value->number); break;
    case DFC_SHARE:
    case DFC_CHANGE:
    case DFC_FACTOR:
    case DFC_GAIN:
    case DFC_RATE: fprintf(table->out, "%.6g", value->number); break;
    }
}

void dfc_table_begin(struct dfc_table *table, FILE *out, enum dfc_table_form form, const struct dfc_column *columns, unsigned n)
{
    const char *comma = "";
    table->out = out;
    table->form = form;
    table->columns = columns;
    table->n_all = n;
    for (unsigned i = 0; i < n; i++)
        if (form == DFC_TABLE_TEXT && columns[i].head) {
            dfc_table_cell(table, "%s", columns[i].head);
            table->n_columns++;
        } else if (form == DFC_TABLE_CSV && columns[i].name) {
            fprintf(out, "%s%s", comma, columns[i].name);
            comma = ",";
        }
    if (form == DFC_TABLE_CSV)
        fputc('\n', out);
}

void dfc_table_row(struct dfc_table *table, const struct dfc_value *values)
{
    const bool json = table->form == DFC_TABLE_JSON;
    const char *pad = json && table->pad ? table->pad : "", *between = pad;
    if (json)
        fputs(table->more ? ",\n    {" : "\n    {", table->out);
    table->more = true;
    for (unsigned i = 0; i < table->n_all; i++) {
        const struct dfc_column *column = &table->columns[i];
        const bool missing = column->type == DFC_TEXT ? !values[i].text : json ? !isfinite(values[i].number) : isnan(values[i].number);
        if (table->form == DFC_TABLE_TEXT && column->head)
            text_cell(table, column, &values[i]);
        if (table->form == DFC_TABLE_TEXT || !column->name || (json && (missing || column->csv_only)))
            continue;
        fputs(between, table->out);
        between = json ? ", " : ",";
        if (json)
            fprintf(table->out, "\"%s\": ", column->name);
        if (!missing)
            put_field(table, column, &values[i]);
    }
    if (table->form != DFC_TABLE_TEXT)
        fprintf(table->out, "%s%s", pad, json ? "}" : "\n");
}

bool dfc_table_end(struct dfc_table *table)
{
    bool good = table->form != DFC_TABLE_TEXT || dfc_table_print(table, table->out);
    dfc_table_free(table);
    return good;
}
