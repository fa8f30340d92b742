/* rows.h - rows of named fields: lines of CSV, or objects of a JSON array.
 *
 * Room:     compiler/schedule/ writes schedules and placements for other programs, as CSV or JSON. It knows plans and
 *           simulated runs, and no command line.
 * CSV:      the caller prints the line of names, and gives every field in its order. A field without a value is empty.
 * JSON:     the caller prints what is around the objects. A field without a value is left out.
 * Numbers:  nine digits, so that a time that is not after another one is not after it in the file either.
 * Output:   the same input gives the same bytes. The caller checks the FILE for errors.
 */
#ifndef DFC_ROWS_H
#define DFC_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/df.h"

struct dfc_rows {
    FILE *out;
    bool json;
    unsigned n_fields;                  /* of this row, so far */
    bool more;                          /* JSON: there is an object before. The caller clears it before an array */
};

void dfc_row_begin(struct dfc_rows *rows);
void dfc_row_text(struct dfc_rows *rows, const char *name, const char *text);
void dfc_row_count(struct dfc_rows *rows, const char *name, uint64_t count);
void dfc_row_seconds(struct dfc_rows *rows, const char *name, double seconds);
/* A field without a value. */
void dfc_row_none(struct dfc_rows *rows, const char *name);
void dfc_row_end(struct dfc_rows *rows);

/* The field `node`. */
void dfc_row_node(struct dfc_rows *rows, const struct df_graph *graph, uint32_t node);
/* The fields `unit` and `worker`. worker: a number among all workers of the platform, which is written as one among
 * those of the unit; DF_NONE: no value. */
void dfc_row_worker(struct dfc_rows *rows, const struct df_platform *platform, uint32_t unit, uint32_t worker);

#endif
