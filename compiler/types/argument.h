/* argument.h - arguments in the call of an existing C function, as in `cpu "old.c": f(a, w * h, 0)`. Used by
 * declare/check_kernel.c, elab/to_builder.c and the emitters.
 *
 * An argument is a name (port, dimension, scalar, `call`, `stream`), which is passed through, or an expression over
 * dimensions, scalars and params, which is evaluated with the .df language's semantics: i64 with overflow detected, or
 * f64.
 */
#ifndef DFC_ARGUMENT_H
#define DFC_ARGUMENT_H

#include <stdio.h>

#include "compiler/types/frontend.h"

/* Is this argument a name that the function gets as it is? */
bool dfc_argument_is_name(const struct dfc_sig *sig, const struct dfl_expr *arg);
/* Checks an argument that is an expression. false: reported. */
bool dfc_argument_check(struct dfc_unit *u, const struct dfc_callee *callee, const struct dfl_expr *arg);
/* Checks the arguments of all variants for one use of the kernel, with that use's dimensions. */
bool dfc_arguments_check_use(struct dfc_unit *u, const struct dfl_stmt *stmt, const struct dfc_callee *callee,
                             const uint64_t *dims);

/* The callee whose variants these are. */
const struct dfc_callee *dfc_callee_of(const struct dfc_front *front, const struct dfc_kernel_code *code);
/* What is known of an argument that is an expression: its kind and, if `known`, its value. */
struct dfc_value dfc_argument_value(const struct dfc_front *front, const struct dfc_kernel_code *code,
                                    const struct dfl_expr *arg);
/* Prints an expression as C that is C++ as well, over the functions of dfc_argument_prelude. An overflow or a division
 * by zero sets the int `df_bad`. */
void dfc_argument_print(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                        const struct dfl_expr *arg);
extern const char dfc_argument_prelude[];

#endif
