/* expr.h - the arithmetic of the language: checked 64-bit integers, doubles and strings. The compiler folds constants with it, and programs evaluate scalar
 * expressions over args with it.
 *
 * Values:   i64, f64 or str. An operation on i64 and f64 gives f64. Comparison and logic give i64 0 or 1. i64 is
 *           checked: overflow, division by zero and the remainder of a division by zero are errors, never wrapped. f64
 *           follows IEEE; % of f64 is fmod. Strings can be compared with == and != only.
 * Code:     Postfix words: DF_X_…, each followed by its operand word if it has one. If the left side of && or || decides, an error on the right side is not
 *           reported, as with short-circuit evaluation in C.
 * Errors:   DF_E_ARGUMENT with a sentence ("division by zero", "result does not fit in 64 bits").
 * Threads:  pure functions.
 */
#ifndef DF_EXPR_H
#define DF_EXPR_H

#include <stdbool.h>

#include "runtime/df.h"

enum df_kind { DF_KIND_I64, DF_KIND_F64, DF_KIND_STR };

struct df_number {                      /* one value of an expression */
    enum df_kind kind;
    int64_t i;
    double f;
    const char *s;                      /* borrowed */
};

enum df_x {
    DF_X_INT,   /* operand: int64 */
    DF_X_FLOAT, /* operand: bits of a double */
    DF_X_STR,   /* operand: offset into strings */
    DF_X_ARG,   /* operand: index of the arg */
    DF_X_NEG, DF_X_NOT, DF_X_MUL, DF_X_DIV, DF_X_MOD, DF_X_ADD, DF_X_SUB, DF_X_LT, DF_X_LE, DF_X_GT, DF_X_GE, DF_X_EQ,
    DF_X_NE, DF_X_AND, DF_X_OR, DF_X_MIN, DF_X_MAX
};

int df_number_unary(enum df_x op, struct df_number a, struct df_number *result, struct df_error *error);
int df_number_binary(enum df_x op, struct df_number a, struct df_number b, struct df_number *result,
                     struct df_error *error);

/* Converts a number to a scalar of a kernel. i32 and f32 must be able to hold the value (the range is checked). i64 and
 * i32 do not take an f64 with a fraction. */
int df_number_to_scalar(struct df_number n, enum df_scalar_type type, union df_scalar *scalar, struct df_error *error);
struct df_number df_scalar_to_number(union df_scalar scalar, enum df_scalar_type type);

#define DF_EXPR_STACK 256

/* Returns true if the code is well-formed: its words are known, its operands are in range, and it leaves exactly one value. */
bool df_expr_check(const uint64_t *code, unsigned n_code, uint64_t n_string_bytes, unsigned n_args);

int df_expr_run(const uint64_t *code, unsigned n_code, const char *strings, const struct df_number *args,
                unsigned n_args, struct df_number *result, struct df_error *error);

#endif
