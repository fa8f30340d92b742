/* queue.h - multi-producer multi-consumer FIFO of jobs (Michael & Scott, PODC 1996). Policies keep ready jobs in it
 * (policy/), and the engine the jobs whose data has arrived (engine/prefetch.c, engine/worker.c).
 *
 * Words:     an *item* is a 64-bit word of the caller's, any value.
 * Memory:    dfr_queue_create() allocates nodes for `capacity` items (and the dummy) once, 16 bytes each. push takes
 *            the node that was freed longest ago; pop frees one. Nothing allocates later. References are (index,
 *            position) pairs, so recycled nodes are never confused (ABA). No reclamation scheme is needed: nodes are
 *            never returned to the system while the queue lives, so reading a stale node's next is reading valid
 *            memory.
 * Threads:   push and pop from any thread; create and destroy from one, with nobody inside.
 * Progress:  lock-free: some thread always gets on; a thread stopped in the middle delays no one.
 * Order:     linearizable FIFO; what was written before a push is seen after the pop that takes it.
 * Errors:    create gives NULL if there is no memory, or if `capacity` is 2^31 - 1 or more. push gives false if
 *            `capacity` items are inside or on their way in (never spuriously when fewer are). pop gives false only
 *            if the queue was empty at some moment during the call.
 */
#ifndef DFR_QUEUE_H
#define DFR_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dfr_queue;

struct dfr_queue *dfr_queue_create(uint32_t capacity);
void dfr_queue_destroy(struct dfr_queue *queue);

bool dfr_queue_push(struct dfr_queue *queue, uint64_t item);
bool dfr_queue_pop(struct dfr_queue *queue, uint64_t *item);
bool dfr_queue_is_empty(const struct dfr_queue *queue); /* a glance: it was so at some moment during the call */

#endif
