/* heap.h - host memory of tokens: reserved once, taken and given back without a lock or a system call. space.h,
 * the table of a run's tokens, uses it.
 *
 * Idea:     a graph has few distinct token sizes, which are known beforehand. Each size class has its own region of
 *           one reservation. With mmap that is only address space: a page becomes real when it is first touched. A
 *           device's host_alloc gives real memory at once. Each class has a lock-free LIFO of free buffers (a Treiber
 *           stack, with tags against ABA). So the buffer that was freed last, which is warm in the cache, is used
 *           next, and little more memory is touched than is live.
 * Memory:   dfm_heap_create() reserves through `source` (a device's host_alloc), or by mmap if `source` is NULL.
 *           Nothing is reserved later.
 * Threads:  any thread may call alloc and free. A buffer that one thread freed may be taken by another. What was
 *           written before free() is seen by whoever gets the buffer from alloc() (release and acquire order).
 * Errors:   alloc gives NULL only if more buffers of a class are taken than were declared.
 */
#ifndef DFM_HEAP_H
#define DFM_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dfm_heap;

struct dfm_heap_class {
    uint64_t bytes;        /* of one buffer; aligned to 64 */
    uint64_t count;        /* the most buffers that are live at once */
};

struct dfm_heap_source {   /* gives the memory that is reserved; NULL source: mmap without commitment */
    void *(*alloc)(void *arg, uint64_t bytes);
    void (*free)(void *arg, void *memory, uint64_t bytes);
    void *arg;
};

struct dfm_heap *dfm_heap_create(const struct dfm_heap_class *classes, uint32_t n_classes,
                                 const struct dfm_heap_source *source);
void dfm_heap_destroy(struct dfm_heap *heap);

void *dfm_heap_alloc(struct dfm_heap *heap, uint32_t cls);
void dfm_heap_free(struct dfm_heap *heap, uint32_t cls, void *buffer);

uint64_t dfm_heap_reserved_bytes(const struct dfm_heap *heap);
uint64_t dfm_heap_live(const struct dfm_heap *heap, uint32_t cls); /* exact only while nobody allocates */

#endif
