/* heap.h - host memory of tokens: reserved once, taken and given back without a lock or a system call.
 *
 * Idea:     a graph has few distinct token sizes, known beforehand. Each size class has its own region of one
 *           reservation (address space only: pages become real when first touched) and a lock-free LIFO of free
 *           buffers (Treiber stack, tagged against ABA), so what was just freed, warm in cache, is used next and the
 *           memory really touched stays near the live set.
 * Memory:   dfm_heap_create() reserves through `alloc` (a device's host_alloc, or NULL for mmap); nothing later.
 * Threads:  alloc and free from any thread. A buffer freed by one may be taken by another; free releases what was
 *           written, alloc acquires it.
 * Errors:   alloc gives NULL only where more buffers of a class are taken than were declared.
 */
#ifndef DFM_HEAP_H
#define DFM_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dfm_heap;

struct dfm_heap_class {
    uint64_t bytes;        /* of one buffer; aligned to 64 */
    uint64_t count;        /* most that are live at once */
};

struct dfm_heap_source {   /* where the reservation comes from; NULL source: mmap without commitment */
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
