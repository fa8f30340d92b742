/* df_opencl_c.h - what df_math.h and the code of formulas need to be OpenCL C 1.2: the types of C's headers, and the macros of df_formula_gpu.h.
 *
 * Exact:   the same bits as on a CPU need a device with denormals and IEEE rounding, and the build option -cl-fp32-correctly-rounded-divide-sqrt.
 * Double:  on a device without it this text compiles, but nothing that computes with f64 is right. The host does not launch that there.
 * PoCL:    makes loops of all items between two barriers, so it makes two copies of all that follows an `if` with barriers, which are 2^n behind n of them.
 *          Such an `if` is therefore a loop (DF_WHEN), and loops have a barrier before their condition (DF_ALL): LLVM makes an `if` of none with that.
 * Names:   functions of OpenCL are called by others of ours, because a port of a kernel may be named "select", and hides it.
 */
#ifndef DF_OPENCL_C_H
#define DF_OPENCL_C_H

#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#else
#define double float
#endif
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif
#ifdef cl_khr_int64_extended_atomics
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#endif

typedef char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;
typedef ushort df_f16;

#define DF_OPENCL_OP static inline __attribute__((always_inline))

DF_OPENCL_OP float df_infinity(void) { return INFINITY; }
DF_OPENCL_OP float df_nan(void) { return NAN; }
#define __builtin_inf() df_infinity()
#define __builtin_nan(tag) df_nan()

#define DF_OPENCL_FUNCTIONS(name, type, integer)                                                                             \
    DF_OPENCL_OP type df_abs_##name(type a) { return fabs(a); }                                                              \
    DF_OPENCL_OP type df_sqrt_##name(type a) { return sqrt(a); }                                                             \
    DF_OPENCL_OP type df_floor_##name(type a) { return floor(a); }                                                           \
    DF_OPENCL_OP type df_ceil_##name(type a) { return ceil(a); }                                                             \
    DF_OPENCL_OP type df_round_##name(type a) { return round(a); }                                                           \
    DF_OPENCL_OP type df_trunc_##name(type a) { return trunc(a); }                                                           \
    DF_OPENCL_OP type df_fma_##name(type a, type b, type c) { return fma(a, b, c); }                                         \
    DF_OPENCL_OP type df_select_##name(integer which, type a, type b) { return select(b, a, which); }
DF_OPENCL_FUNCTIONS(f32, float, int)
#ifdef cl_khr_fp64
DF_OPENCL_FUNCTIONS(f64, double, long)
#else
DF_OPENCL_FUNCTIONS(f64, double, int)
#endif

/* ---- the macros of df_formula_gpu.h ---- */

#define DF_KERNEL(x, y) __kernel __attribute__((reqd_work_group_size(x, y, 1))) void
#define DF_ITEMS_AT_MOST(n)
#define DF_OF_MOST_ITEMS
#define DF_ON_DEVICE DF_OPENCL_OP
#define DF_DEVICE_DATA __constant
#define DF_GLOBAL(type, name) __global type *restrict name, const int64_t df_offset_##name
#define DF_GLOBAL_BEGIN(name) name += df_offset_##name /* where the port begins in the buffer */
#define DF_IN_GLOBAL(type) __global type
#define DF_IN_LOCAL(type) __local type
#define DF_LOCAL(type, name, n) __local type name[n]
#define DF_LOCAL_IN(type, name, other) __local type *const name = other
#define DF_STAGE(number, name, work, n, whole)
#define DF_PHASE
#define DF_UNROLL(n)
#define DF_BARRIER() df_barrier()
#define DF_ALL(condition) (df_barrier(), (condition))
#define DF_WHEN(condition) for (int df_once = 0; DF_ALL(df_once < ((condition) ? 1 : 0)); df_once++)
#define DF_AT(place) (int32_t)(place)
#define DF_ITEM_X df_cl_item(0)
#define DF_ITEM_Y df_cl_item(1)
#define DF_ITEMS_X df_cl_items(0)
#define DF_ITEMS_Y df_cl_items(1)
#define DF_GROUP_X df_cl_group(0)
#define DF_GROUP_Y df_cl_group(1)
#define DF_GROUP_Z df_cl_group(2)
#define DF_GROUPS_X df_cl_groups(0)
#define DF_GROUPS_Y df_cl_groups(1)
#define DF_GROUPS_Z df_cl_groups(2)
#define DF_FIRST_X df_cl_first(0)
#define DF_FIRST_Y df_cl_first(1)
#define DF_FIRST_Z df_cl_first(2)
#define DF_NEXT_X(x, end) (end)
#define DF_STEP_Y df_cl_step(1)
#define DF_STEP_Z df_cl_step(2)

DF_OPENCL_OP int df_cl_item(uint32_t axis) { return (int)get_local_id(axis); }
DF_OPENCL_OP int df_cl_items(uint32_t axis) { return (int)get_local_size(axis); }
DF_OPENCL_OP int64_t df_cl_group(uint32_t axis) { return (int64_t)get_group_id(axis); }
DF_OPENCL_OP int64_t df_cl_groups(uint32_t axis) { return (int64_t)get_num_groups(axis); }
DF_OPENCL_OP int64_t df_cl_first(uint32_t axis) { return (int64_t)get_global_id(axis); }
DF_OPENCL_OP int64_t df_cl_step(uint32_t axis) { return (int64_t)get_global_size(axis); }
DF_OPENCL_OP void df_barrier(void) { barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); }

#define DF_OPENCL_ATOMIC(name, type, function)                                                                               \
    DF_OPENCL_OP void df_atomic_##name(__global type *to, type value) { function(to, value); }                               \
    DF_OPENCL_OP void df_local_##name(__local type *to, type value) { function(to, value); }
DF_OPENCL_ATOMIC(add_i32, int32_t, atomic_add)
DF_OPENCL_ATOMIC(min_i32, int32_t, atomic_min)
DF_OPENCL_ATOMIC(max_i32, int32_t, atomic_max)
#ifdef cl_khr_int64_base_atomics
DF_OPENCL_ATOMIC(add_i64, int64_t, atom_add)
#endif
#ifdef cl_khr_int64_extended_atomics
DF_OPENCL_ATOMIC(min_i64, int64_t, atom_min)
DF_OPENCL_ATOMIC(max_i64, int64_t, atom_max)
#endif

#endif
