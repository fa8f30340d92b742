/* fold.h - values of expressions as they are folded. Private to fold.c, fold_names.c and value.c. */
#ifndef DFC_FOLD_H
#define DFC_FOLD_H

#include "compiler/types/frontend.h"

/* A value of which only the kind is known. As a number it is 1: what an operation does to kinds can be tried on it. */
struct dfc_value dfc_value_unknown(enum df_kind kind);
struct dfc_value dfc_value_integer(int64_t i);
struct dfc_value dfc_value_real(double f);

/* Gives *value the code for `op` over a and b (b NULL: one operand). Where a part has no code (only its kind is known),
 * neither has the whole. */
bool dfc_value_join(struct dfc_unit *u, struct dfl_loc loc, enum df_x op, const struct dfc_value *a,
                    const struct dfc_value *b, struct dfc_value *value);

/* What a name is worth, if this use may hold it. */
bool dfc_fold_name(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e,
                   struct dfc_value *value);

#endif
