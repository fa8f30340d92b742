/* steps_atomics.h - replaces C11's atomic operations by operations that give way first (steps_rig.h). Include it before
 * the code that is explored, and before headers that contain such code.
 */
#ifndef STEPS_ATOMICS_H
#define STEPS_ATOMICS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "steps_rig.h"

#define STEPS_ANY(name, type) \
    static inline type steps_load_##name(const _Atomic type *p) { return atomic_load(p); } \
    static inline void steps_store_##name(_Atomic type *p, type x) { atomic_store(p, x); } \
    static inline type steps_exchange_##name(_Atomic type *p, type x) { return atomic_exchange(p, x); } \
    static inline bool steps_swap_##name(_Atomic type *p, type *seen, type x) \
    { \
        return atomic_compare_exchange_strong(p, seen, x); \
    }
#define STEPS_INTEGER(name, type) \
    STEPS_ANY(name, type) \
    static inline type steps_add_##name(_Atomic type *p, type x) { return atomic_fetch_add(p, x); } \
    static inline type steps_sub_##name(_Atomic type *p, type x) { return atomic_fetch_sub(p, x); } \
    static inline type steps_or_##name(_Atomic type *p, type x) { return atomic_fetch_or(p, x); } \
    static inline type steps_and_##name(_Atomic type *p, type x) { return atomic_fetch_and(p, x); }

STEPS_ANY(bool, bool)
STEPS_ANY(f64, double)
STEPS_INTEGER(u8, uint8_t)
STEPS_INTEGER(u32, uint32_t)
STEPS_INTEGER(u64, uint64_t)
STEPS_INTEGER(i64, int64_t)

#define STEPS_OF_INTEGER(op, p) \
    _Generic((p), _Atomic uint8_t *: steps_##op##_u8, _Atomic uint32_t *: steps_##op##_u32, \
             _Atomic uint64_t *: steps_##op##_u64, _Atomic int64_t *: steps_##op##_i64)
#define STEPS_OF_ANY(op, p) \
    _Generic((p), _Atomic uint8_t *: steps_##op##_u8, _Atomic uint32_t *: steps_##op##_u32, \
             _Atomic uint64_t *: steps_##op##_u64, _Atomic int64_t *: steps_##op##_i64, \
             _Atomic bool *: steps_##op##_bool, _Atomic double *: steps_##op##_f64, \
             const _Atomic uint8_t *: steps_##op##_u8, const _Atomic uint32_t *: steps_##op##_u32, \
             const _Atomic uint64_t *: steps_##op##_u64, const _Atomic int64_t *: steps_##op##_i64, \
             const _Atomic bool *: steps_##op##_bool, const _Atomic double *: steps_##op##_f64)

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit
#define atomic_load_explicit(p, order) (steps_give_way(), STEPS_OF_ANY(load, p)(p))
#define atomic_store_explicit(p, x, order) (steps_give_way(), STEPS_OF_ANY(store, p)(p, x))
#define atomic_exchange_explicit(p, x, order) (steps_give_way(), STEPS_OF_ANY(exchange, p)(p, x))
#define atomic_fetch_add_explicit(p, x, order) (steps_give_way(), STEPS_OF_INTEGER(add, p)(p, x))
#define atomic_fetch_sub_explicit(p, x, order) (steps_give_way(), STEPS_OF_INTEGER(sub, p)(p, x))
#define atomic_fetch_or_explicit(p, x, order) (steps_give_way(), STEPS_OF_INTEGER(or, p)(p, x))
#define atomic_fetch_and_explicit(p, x, order) (steps_give_way(), STEPS_OF_INTEGER(and, p)(p, x))
#define atomic_compare_exchange_strong_explicit(p, seen, x, order, failure) \
    (steps_give_way(), STEPS_OF_ANY(swap, p)(p, seen, x))
#define atomic_compare_exchange_weak_explicit(p, seen, x, order, failure) \
    (steps_give_way(), STEPS_OF_ANY(swap, p)(p, seen, x))

#endif
