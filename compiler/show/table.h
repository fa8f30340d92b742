/* table.h - tables on a terminal. A column is as wide as its widest cell. The first column is set to the left, the
 * others to the right.
 *
 * Memory:   dfc_table_free() returns the copies of the cells' text.
 * Errors:   out of memory is remembered; dfc_table_print() then gives false.
 */
#ifndef DFC_TABLE_H
#define DFC_TABLE_H

#include <stdbool.h>
#include <stdio.h>

struct dfc_table {
    unsigned n_columns;
    size_t n_cells;                     /* row by row */
    char **cells;
    bool failed;
};

/* Adds a cell, made as by printf; cells come row by row. */
void dfc_table_cell(struct dfc_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool dfc_table_print(const struct dfc_table *table, FILE *out);
void dfc_table_free(struct dfc_table *table);

#endif
