/* table.h - tables: constant arrays that formulas read. declare/decl.c checks declared tables with it; declare/sig.c
 * reads and check.c encodes single numbers. */
#ifndef DFF_TABLE_H
#define DFF_TABLE_H

#include "compiler/formula/formula.h"

/* Reads a number that is written, or made of params, as one of the element type: *f of f16, f32 and f64, rounded to the
 * nearest; *i of the others. `whose` is for messages: "table 'k5'". false: an error was reported. */
bool dff_read_number(struct dfc_unit *u, const struct dfl_expr *e, enum df_elem elem, const char *whose, int64_t *i,
                     double *f);
/* The bits of an element with that value; the low ones are those of the element. */
uint64_t dff_elem_bits(enum df_elem elem, int64_t i, double f);

/* Checks a table's format and values, and makes the record. Params are evaluated before. NULL: errors were reported, or
 * no memory. */
const struct dff_table *dff_table_check(struct dfc_unit *u, const struct dfl_decl *decl);

#endif
