#include "functions.h"

#include "runtime/df_math.h"

double function_value(enum function function, bool single, double x, double y)
{
    float xs = (float)x, ys = (float)y;
    switch (function) {
    case F_EXP: return single ? (double)df_exp_f32(xs) : df_exp_f64(x);
    case F_LOG: return single ? (double)df_log_f32(xs) : df_log_f64(x);
    case F_POW: return single ? (double)df_pow_f32(xs, ys) : df_pow_f64(x, y);
    case F_SIN: return single ? (double)df_sin_f32(xs) : df_sin_f64(x);
    case F_COS: return single ? (double)df_cos_f32(xs) : df_cos_f64(x);
    case F_TAN: return single ? (double)df_tan_f32(xs) : df_tan_f64(x);
    case F_ATAN2: return single ? (double)df_atan2_f32(xs, ys) : df_atan2_f64(x, y);
    default: return single ? (double)df_tanh_f32(xs) : df_tanh_f64(x);
    }
}
