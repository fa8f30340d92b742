/* fold.h - intermediate values of constant folding. Private to fold.c, fold_names.c and value.c. */
#ifndef DFC_FOLD_H
#define DFC_FOLD_H

#include "compiler/types/frontend.h"

/* A value of which only the kind is known. As a number it is 1, so that an operation can be tried on it to learn what
 * it does to kinds. */
struct dfc_value dfc_value_unknown(enum df_kind kind);
struct dfc_value dfc_value_integer(int64_t i);
struct dfc_value dfc_value_real(double f);

/* Sets in *value the code for `op` over a and b (b NULL: one operand). If an operand has no code because only its kind is
 * known, the whole has none either. */
bool dfc_value_join(struct dfc_unit *u, struct dfl_loc loc, enum df_x op, const struct dfc_value *a,
                    const struct dfc_value *b, struct dfc_value *value);

/* The value of a name, if an expression for this use may hold it. */
bool dfc_fold_name(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e,
                   struct dfc_value *value);

#endif
