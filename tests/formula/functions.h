/* functions.h - exp, log, pow, sin, cos, tan, atan2 and tanh: the text of runtime/df_math.h, whose accuracy is tested elsewhere. */
#ifndef FORMULA_FUNCTIONS_H
#define FORMULA_FUNCTIONS_H

#include <stdbool.h>

#include "lower.h"

/* Of one argument or two. single: those of f32, which are exact in float. */
double function_value(enum function function, bool single, double x, double y);

#endif
