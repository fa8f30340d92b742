/* heap.h - allocates the host memory of tokens: reserved once, then allocated and freed without lock or system call. space.h, the table of a run's tokens,
 * uses it.
 *
 * Idea:     a graph has few distinct token sizes, known in advance. Each size class has its own region of one reservation. With mmap that is only address
 *           space, backed when first touched; a device's host_alloc backs it at once. Each class has a lock-free LIFO of free buffers (a Treiber stack with
 *           ABA tags). So the buffer freed last, which is warm in the cache, is reused first, and little more memory is touched than is live.
 * Memory:   dfm_heap_create() reserves through `source` (a device's host_alloc), or by mmap if `source` is NULL.
 *           Nothing is reserved later.
 * Threads:  any thread may call alloc and free. A buffer freed by one thread may be allocated by another; what was written before free() is visible after
 *           the alloc() that returns the buffer (release and acquire).
 * Errors:   alloc returns NULL only if more buffers of a class are in use than were declared.
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
