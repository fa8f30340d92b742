/* number.h - the numbers of formulas, for the oracle: docs/language.md's arithmetic, written apart from the compiler.
 *
 * Values:   an I32 or I64 is in .i, a BOOL too (0 or 1); an F32 is in .f, exact in float; an F64 is in .f. EXACT_INT and EXACT_REAL are
 *           what literals and params give, before they stand beside something with a type.
 * Threads:  pure functions.
 */
#ifndef FORMULA_NUMBER_H
#define FORMULA_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "dsl/ast.h"

enum type { BOOL, I32, I64, F32, F64, EXACT_INT, EXACT_REAL };
enum element { E_U8, E_U16, E_U32, E_I8, E_I16, E_I32, E_I64, E_F16, E_F32, E_F64, N_ELEMENTS };

struct number {           /* 16 bytes, which functions give in registers */
    enum type type;
    union {
        int64_t i;
        double f;
    };
};

struct number number_of_int(enum type type, int64_t i);   /* the low bits for I32 */
struct number number_of_real(enum type type, double f);   /* rounded for F32 */

bool type_is_real(enum type type);
bool number_is_true(struct number a);                     /* as a condition */
double number_real(struct number a);                      /* its value; an i64 rounded to double */

/* C's conversion to a type that stands beside it: BOOL to I32, to wider types, integers to floats. */
struct number number_cast(enum type type, struct number a);

/* a op b, both of one type that is no BOOL (shifts: b is any integer); comparisons give BOOL. */
struct number number_binary(enum dfl_op op, struct number a, struct number b);
struct number number_negate(struct number a);
struct number number_least(struct number a, struct number b);    /* a < b ? a : b */
struct number number_greatest(struct number a, struct number b); /* a > b ? a : b */
struct number number_abs(struct number a);

/* ---- elements of arrays ---- */

bool element_named(const char *name, enum element *element);
unsigned element_bytes(enum element element);
enum type element_type(enum element element);             /* what a value read from it is */
struct number element_load(enum element element, const void *array, int64_t at);
void element_store(enum element element, void *array, int64_t at, struct number a); /* `a` is exact in it */

/* Rounded to that element: to integers to the nearest even, with the ends as limits, NaN as 0. Gives the promoted type. */
struct number element_convert(enum element element, struct number a);
struct number element_wrap(enum element element, struct number a); /* of an integer: its low bits, for an integer type up to 32 bits */

#endif
