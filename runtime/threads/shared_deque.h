/* shared_deque.h - a work-stealing deque of jobs without waiting (Chase and Lev, SPAA 2005; with C11 atomics, Lê et al., PPoPP 2013). For
 * policy/policy_ws.c.
 *
 * Words:    An *item* is a 64-bit word of the caller's, any value. The *owner* is the one worker that pushes and pops.
 *           It pops the item that it pushed last. A *thief* is any other thread; it steals the oldest item.
 * Beside:   deque.h is also a work-stealing deque. Its owner needs no atomic operation, but a thief waits for the owner; here nobody waits.
 * Memory:   create() allocates room for `capacity` items (a power of two); nothing allocates later.
 * Threads:  push and pop: the owner. steal and size: any thread. create and destroy: one thread, with nobody inside.
 * Progress: lock-free. A steal is repeated only if another thread took that item.
 * Orders:   what was written before a push is seen after the pop or steal that takes the item.
 */
#ifndef DFR_SHARED_DEQUE_H
#define DFR_SHARED_DEQUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct dfr_shared_deque {
    _Alignas(64) _Atomic int64_t low;   /* items [low, high), modulo the room; a steal moves `low` */
    _Alignas(64) _Atomic int64_t high;  /* only the owner writes it */
    int64_t mask;                       /* room - 1 */
    _Atomic uint64_t *items;
};

bool dfr_shared_deque_create(struct dfr_shared_deque *deque, uint32_t capacity); /* false: no memory */
void dfr_shared_deque_destroy(struct dfr_shared_deque *deque); /* a deque that is all zero, too */

bool dfr_shared_deque_push(struct dfr_shared_deque *deque, uint64_t item);   /* false: it is full */
bool dfr_shared_deque_pop(struct dfr_shared_deque *deque, uint64_t *item);
bool dfr_shared_deque_steal(struct dfr_shared_deque *deque, uint64_t *item); /* false: it was empty at some moment during the call */
uint32_t dfr_shared_deque_size(struct dfr_shared_deque *deque);              /* a glance that may be out of date */

#endif
