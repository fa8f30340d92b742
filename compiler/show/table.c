/* table.c - prints columns that line up. */
#include "compiler/show/table.h"

#include <stdarg.h>
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
