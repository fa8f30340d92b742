/* queue_mutex.h - the contract of runtime/threads/queue.h once more, under other names and kept by a mutex. Tests
 * compare the lock-free queue with it. Include it after runtime/threads/queue.h. */
#ifndef QUEUE_MUTEX_H
#define QUEUE_MUTEX_H

#define dfr_queue queue_mutex
#define dfr_queue_create queue_mutex_create
#define dfr_queue_destroy queue_mutex_destroy
#define dfr_queue_push queue_mutex_push
#define dfr_queue_pop queue_mutex_pop
#define dfr_queue_is_empty queue_mutex_is_empty
#undef DFR_QUEUE_H
#include "runtime/threads/queue.h"
#undef dfr_queue
#undef dfr_queue_create
#undef dfr_queue_destroy
#undef dfr_queue_push
#undef dfr_queue_pop
#undef dfr_queue_is_empty

#endif
