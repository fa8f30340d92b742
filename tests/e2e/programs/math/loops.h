/* loops.h - a loop over each function of df_math.h, as a row of a generated kernel is: loop_NAME_TYPE(y, x, z, n). */
#include "df_math.h"

#ifdef __cplusplus
#define restrict __restrict__
#endif

#define ONE(name, T, type) \
    __attribute__((noinline)) void loop_##name##_##type(T *restrict y, const T *restrict x, const T *restrict z, int n) \
    { (void)z; for (int i = 0; i < n; i++) y[i] = df_##name##_##type(x[i]); }
#define TWO(name, T, type) \
    __attribute__((noinline)) void loop_##name##_##type(T *restrict y, const T *restrict x, const T *restrict z, int n) \
    { for (int i = 0; i < n; i++) y[i] = df_##name##_##type(x[i], z[i]); }
/* As df_math.h says that a row of sin, cos and tan is written. */
#define FAR(name, T, U, type) \
    __attribute__((noinline)) U loop_##name##_near_##type(T *restrict y, const T *restrict x, int n) \
    { U far = 0; for (int i = 0; i < n; i++) { far |= df_far_##type(x[i]); y[i] = df_##name##_near_##type(x[i]); } return far; } \
    void loop_##name##_##type(T *restrict y, const T *restrict x, const T *restrict z, int n) \
    { (void)z; if (loop_##name##_near_##type(y, x, n)) for (int i = 0; i < n; i++) y[i] = df_##name##_##type(x[i]); }

ONE(exp, float, f32)
ONE(exp, double, f64)
ONE(log, float, f32)
ONE(log, double, f64)
ONE(tanh, float, f32)
ONE(tanh, double, f64)
TWO(pow, float, f32)
TWO(pow, double, f64)
TWO(atan2, float, f32)
TWO(atan2, double, f64)
FAR(sin, float, uint32_t, f32)
FAR(sin, double, uint64_t, f64)
FAR(cos, float, uint32_t, f32)
FAR(cos, double, uint64_t, f64)
FAR(tan, float, uint32_t, f32)
FAR(tan, double, uint64_t, f64)
