#include "functions.h"

#include <math.h>

/* The C library's, rounded from f64: within the tolerance of the tests here. */
double function_value(enum function function, bool single, double x, double y)
{
    double value;
    switch (function) {
    case F_EXP: value = exp(x); break;
    case F_LOG: value = log(x); break;
    case F_POW: value = pow(x, y); break;
    case F_SIN: value = sin(x); break;
    case F_COS: value = cos(x); break;
    case F_TAN: value = tan(x); break;
    case F_ATAN2: value = atan2(x, y); break;
    default: value = tanh(x); break;
    }
    return single ? (double)(float)value : value;
}
