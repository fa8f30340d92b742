/* table.h - tables as text, CSV or JSON. A report declares its columns once, and adds a value to each of them, row by row.
 *
 * Text:     A column is as wide as its widest cell. The first column is set to the left, the others to the right. Nothing is printed before
 *           dfc_table_end(). Columns without a `head` are left out. A number that is NaN or infinite, and a text that is NULL, is "-".
 * CSV:      The names, then a line for each row. JSON: objects; the caller prints the array around them, and clears `more` before the next array.
 *           Columns without a `name` are left out. What is missing (NaN, NULL; in JSON infinity, too) is an empty field in
 *           CSV, and no field in JSON.
 * Numbers:  of seconds have nine digits, so that a time that is not after another one is not after it in the file either.
 * Cells:    A text table whose rows differ too much for columns is made by dfc_table_cell() alone.
 * Memory:   dfc_table_free() returns the copies of the cells' text; dfc_table_end() does so itself.
 * Errors:   out of memory is remembered; dfc_table_print() and dfc_table_end() then give false. The caller checks the FILE for errors.
 */
#ifndef DFC_TABLE_H
#define DFC_TABLE_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

enum dfc_table_form { DFC_TABLE_TEXT, DFC_TABLE_CSV, DFC_TABLE_JSON };

enum dfc_column_type {                  /*                  text          CSV and JSON */
    DFC_TEXT,                           /*                  as it is      quoted as needed */
    DFC_COUNT,                          /* below 2^53       17            17 */
    DFC_BYTES,                          /*                  1.00 KiB      1024 */
    DFC_SECONDS,                        /*                  1.50 ms       0.0015 */
    DFC_MILLISECONDS,                   /*                  1.5 ms        1.500 */
    DFC_SHARE,                          /* 1 is all         97.5 %        0.975 */
    DFC_CHANGE,                         /* beside 1         -2.5 %        -0.025 */
    DFC_FACTOR,                         /*                  1.25          1.25 */
    DFC_GAIN,                           /*                  1.25x         1.25 */
    DFC_RATE                            /* per second       1234          1234.5 */
};

struct dfc_column {
    const char *head, *name;            /* as text; in CSV and JSON. NULL: left out there */
    enum dfc_column_type type;
    int digits;                         /* as text, behind the point of a share, a change, a factor or a gain */
    bool csv_only;                      /* its name is not in JSON */
};
#define DFC_COLUMN(HEAD, NAME, TYPE, ...) { .head = (HEAD), .name = (NAME), .type = (TYPE), __VA_ARGS__ }

struct dfc_value {
    double number;
    const char *text;                   /* DFC_TEXT */
};
#define DFC_NUMBER(x) { .number = (double)(x) }
#define DFC_WORD(x) { .text = (x) }
#define DFC_MISSING { .number = NAN }

struct dfc_table {
    FILE *out;
    enum dfc_table_form form;
    const struct dfc_column *columns;   /* borrowed */
    unsigned n_all;
    bool more;                          /* JSON: there is an object before */
    const char *pad;                    /* JSON: inside an object's braces; NULL: nothing */

    unsigned n_columns;                 /* of the text */
    size_t n_cells;                     /* row by row */
    char **cells;
    bool failed;
};

/* Begins a table in a zeroed struct. The heads are copied, the rest of the columns is borrowed. */
void dfc_table_begin(struct dfc_table *table, FILE *out, enum dfc_table_form form, const struct dfc_column *columns, unsigned n);
void dfc_table_row(struct dfc_table *table, const struct dfc_value *values); /* a value for each column */
bool dfc_table_end(struct dfc_table *table);

/* Adds a cell, made as by printf; cells come row by row. */
void dfc_table_cell(struct dfc_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool dfc_table_print(const struct dfc_table *table, FILE *out);
void dfc_table_free(struct dfc_table *table);

#endif
