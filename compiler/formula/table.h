/* table.h - tables: constant arrays that formulas read. */
#ifndef DFF_TABLE_H
#define DFF_TABLE_H

#include "compiler/formula/formula.h"

/* Checks a table's format and values, and makes the record. Params are evaluated before. NULL: errors were reported, or
 * no memory. */
const struct dff_table *dff_table_check(struct dfc_unit *u, const struct dfl_decl *decl);

#endif
