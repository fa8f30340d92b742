/* report_table.h - prints tables as text, CSV or JSON from one list of typed columns. dfc's commands (compiler/) and the --stats of programs (program/)
 * declare their columns once and add rows, with a cell for each column.
 *
 * Columns:  `only` restricts a column to some of the forms, and to tables whose `shown` has all of its other bits, which the caller defines.
 * Text:     Prints the columns with a `head`, in dfr_report_table_end(). A column is as wide as its widest cell and at least `width`, whose sign gives the
 *           alignment; without a width the first column is left-aligned and the others right-aligned. A NULL text, or a number that is NaN or infinite, is
 *           printed as "-". A number with a text is printed as that text.
 * CSV:      Prints the columns with a `name`: a line with the names, then a line for each row. A missing value (NaN, NULL) is an empty field.
 * JSON:     Prints the columns with a `name`: an object for each row. The caller prints the array around them, and clears `more` before the next array. A
 *           missing value (NaN, infinity, NULL) is left out, or printed as null.
 * Numbers:  Seconds have nine digits, so that two ordered times are ordered in the file, too.
 * Memory:   dfr_report_table_end() frees the copies of the cells' text.
 * Errors:   out of memory is remembered, and dfr_report_table_end() then prints nothing and returns false. The caller checks the FILE for errors.
 */
#ifndef DFR_REPORT_TABLE_H
#define DFR_REPORT_TABLE_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

enum dfr_form { DFR_FORM_TEXT, DFR_FORM_CSV, DFR_FORM_JSON };

enum dfr_column_type {                  /*                  text          CSV and JSON */
    DFR_COLUMN_TEXT,                    /*                  as it is      quoted as needed */
    DFR_COLUMN_COUNT,                   /* below 2^53       17            17 */
    DFR_COLUMN_BYTES,                   /*                  1.00 KiB      1024 */
    DFR_COLUMN_SECONDS,                 /*                  1.50 ms       0.0015 */
    DFR_COLUMN_MILLISECONDS,            /*                  1.5 ms        1.500 */
    DFR_COLUMN_SHARE,                   /* 1 is all         97.5 %        0.975 */
    DFR_COLUMN_PERCENT,                 /* 1 is all         97.5          0.975 */
    DFR_COLUMN_CHANGE,                  /* beside 1         -2.5 %        -0.025 */
    DFR_COLUMN_FACTOR,                  /*                  1.25          1.25 */
    DFR_COLUMN_GAIN,                    /*                  1.25x         1.25 */
    DFR_COLUMN_RATE                     /* per second       1234          1234.5 */
};

/* Bits of `only`. Those of a caller begin with DFR_ONLY_OWN. */
#define DFR_ONLY_TEXT (1u << DFR_FORM_TEXT)
#define DFR_ONLY_CSV (1u << DFR_FORM_CSV)
#define DFR_ONLY_JSON (1u << DFR_FORM_JSON)
#define DFR_ONLY_FORMS (DFR_ONLY_TEXT | DFR_ONLY_CSV | DFR_ONLY_JSON)
#define DFR_ONLY_OWN 8u

struct dfr_column {
    const char *head, *name;            /* as text; in CSV and JSON. NULL: left out there */
    enum dfr_column_type type;
    int digits;                         /* as text, after the point of all numbers but counts, bytes, seconds and rates */
    int width;                          /* as text; < 0: set to the left */
    unsigned only;
    bool null;                          /* JSON: null if the value is missing */
};
#define DFR_COLUMN(HEAD, NAME, TYPE, ...) { .head = (HEAD), .name = (NAME), .type = DFR_COLUMN_##TYPE, __VA_ARGS__ }
/* The two arguments that say which columns a table has. */
#define DFR_COLUMNS(columns) (columns), sizeof (columns) / sizeof *(columns)

struct dfr_cell {
    double number;
    const char *text;                   /* of a number: what stands for it as text; may be NULL */
};
#define DFR_NUM(x) { .number = (double)(x) }
#define DFR_NUM_AS(x, as) { .number = (double)(x), .text = (as) }
#define DFR_STR(x) { .text = (x) }
#define DFR_MISSING { .number = NAN }

struct dfr_report_table {
    FILE *out;
    enum dfr_form form;
    const struct dfr_column *columns;   /* borrowed */
    unsigned n_all;
    unsigned shown;                     /* bits of `only`; set before dfr_report_table_begin() */
    bool more;                          /* JSON: there is an object before */
    bool inline_rows;                   /* JSON: all objects in one line */
    bool open_rows;                     /* JSON: the caller ends the object of each row, after members of its own */
    const char *pad;                    /* JSON: inside an object's braces; NULL: nothing */

    unsigned n_columns;                 /* of the text */
    size_t n_cells;                     /* row by row */
    char **cells;
    bool failed;
};

/* Begins a table in a struct that is zeroed except for `shown` and the options of JSON. The columns are borrowed. */
void dfr_report_table_begin(struct dfr_report_table *table, FILE *out, enum dfr_form form, const struct dfr_column *columns, unsigned n);
void dfr_report_table_row(struct dfr_report_table *table, const struct dfr_cell *cells); /* a cell for each column */
bool dfr_report_table_end(struct dfr_report_table *table);
void dfr_report_table_free(struct dfr_report_table *table); /* of a table that is not ended */

#endif
