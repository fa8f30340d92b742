/* heap.c - lock-free free lists of host buffers (heap.h): Treiber stacks (IBM RJ 5118, 1986) of buffer indices, one per size class, over one reservation.
 * space.c and space.h take the host memory of tokens from it.
 *
 * A stack's top is one 64-bit word: the index of a buffer, and a tag. The tag grows with each change, so a
 * compare-and-swap that succeeds proves that the top did not change since it was read. The link of a free buffer to the
 * next one lies beside the reservation, not in the buffer. So only its users touch a buffer. A slow thread may read the
 * link of a buffer that was taken meanwhile: it reads valid memory, and its compare-and-swap fails.
 *
 * Orders: alloc's load of top acquires the release of the free (or of create) that put the buffer there, hence
 * everything that its last user wrote. Both operations are read-modify-writes of top, so the release is carried on
 * through those between.
 */
#include "memmgr/heap.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/base/pages.h"

#define NONE UINT32_MAX
#define LINE 64

struct size_class {
    _Alignas(LINE) _Atomic uint64_t top;
    _Alignas(LINE) unsigned char *base; /* this member and those after it are only read */
    uint64_t stride_bytes;
    uint32_t count;
    _Atomic uint32_t *below;            /* of a free buffer: the index of the next free one */
};

struct dfm_heap {
    unsigned char *memory;
    uint64_t reserved_bytes;
    struct dfm_heap_source source;      /* if its alloc is NULL: mmap */
    uint32_t n_classes;
    _Atomic uint32_t *links;            /* the arrays below[] of all classes */
    struct size_class *classes;
};

static uint64_t top_make(uint32_t index, uint64_t old)
{
    return ((old >> 32) + 1) << 32 | index;
}

/* Bytes from one buffer to the next. A buffer of no bytes still has an address of its own. */
static uint64_t stride_of(const struct dfm_heap_class *cls)
{
    return cls->bytes == 0 ? LINE : (cls->bytes + LINE - 1) / LINE * LINE;
}

/* Adds up the bytes and the counts of all classes; false: they overflow. */
static bool measure(const struct dfm_heap_class *classes, uint32_t n_classes, uint64_t *bytes, uint64_t *count)
{
    *bytes = 0;
    *count = 0;
    for (uint32_t c = 0; c < n_classes; c++) {
        uint64_t total;

        if (classes[c].bytes > UINT64_MAX - LINE || classes[c].count >= NONE)
            return false;
        if (__builtin_mul_overflow(stride_of(&classes[c]), classes[c].count, &total) ||
            __builtin_add_overflow(*bytes, total, bytes))
            return false;
        *count += classes[c].count;
    }
    return *bytes <= SIZE_MAX - LINE && *count <= SIZE_MAX / sizeof(uint32_t);
}

static void *reserve(struct dfm_heap *heap)
{
    if (heap->source.alloc != NULL)
        return heap->source.alloc(heap->source.arg, heap->reserved_bytes);
    return dfr_pages_reserve_guarded(heap->reserved_bytes);
}

/* Makes all buffers free, with the first one on top. */
static void class_init(struct size_class *cls, const struct dfm_heap_class *from, unsigned char *base,
                       _Atomic uint32_t *below)
{
    cls->base = base;
    cls->stride_bytes = stride_of(from);
    cls->count = (uint32_t)from->count;
    cls->below = below;
    for (uint32_t i = 0; i < cls->count; i++)
        atomic_init(&below[i], i + 1 < cls->count ? i + 1 : NONE);
    atomic_init(&cls->top, cls->count > 0 ? 0 : NONE);
}

struct dfm_heap *dfm_heap_create(const struct dfm_heap_class *classes, uint32_t n_classes,
                                 const struct dfm_heap_source *source)
{
    struct dfm_heap *heap;
    uint64_t bytes, count;
    unsigned char *base;
    _Atomic uint32_t *below;

    if (!measure(classes, n_classes, &bytes, &count))
        return NULL;
    heap = calloc(1, sizeof *heap);
    if (heap == NULL)
        return NULL;
    heap->n_classes = n_classes;
    heap->reserved_bytes = bytes > 0 ? bytes : LINE;
    if (source != NULL)
        heap->source = *source;
    heap->links = malloc((count > 0 ? count : 1) * sizeof *heap->links);
    heap->classes = aligned_alloc(LINE, (n_classes > 0 ? n_classes : 1) * sizeof *heap->classes);
    if (heap->links == NULL || heap->classes == NULL)
        goto free_tables;
    heap->memory = reserve(heap);
    if (heap->memory == NULL)
        goto free_tables;

    base = heap->memory;
    below = heap->links;
    for (uint32_t c = 0; c < n_classes; c++) {
        class_init(&heap->classes[c], &classes[c], base, below);
        base += heap->classes[c].stride_bytes * heap->classes[c].count;
        below += heap->classes[c].count;
    }
    return heap;

free_tables:
    free(heap->classes);
    free(heap->links);
    free(heap);
    return NULL;
}

void dfm_heap_destroy(struct dfm_heap *heap)
{
    if (heap == NULL)
        return;
    if (heap->source.alloc != NULL)
        heap->source.free(heap->source.arg, heap->memory, heap->reserved_bytes);
    else
        dfr_pages_return(heap->memory, heap->reserved_bytes);
    free(heap->classes);
    free(heap->links);
    free(heap);
}

void *dfm_heap_alloc(struct dfm_heap *heap, uint32_t cls)
{
    struct size_class *c = &heap->classes[cls];
    uint64_t top = atomic_load_explicit(&c->top, memory_order_acquire);
    uint32_t index, below;

    do {
        index = (uint32_t)top;
        if (index == NONE)
            return NULL;
        below = atomic_load_explicit(&c->below[index], memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(&c->top, &top, top_make(below, top), memory_order_acquire,
                                                    memory_order_acquire));
    return c->base + c->stride_bytes * index;
}

void dfm_heap_free(struct dfm_heap *heap, uint32_t cls, void *buffer)
{
    struct size_class *c = &heap->classes[cls];
    uint32_t index = (uint32_t)((uint64_t)((unsigned char *)buffer - c->base) / c->stride_bytes);
    uint64_t top = atomic_load_explicit(&c->top, memory_order_relaxed);

    assert(index < c->count && c->base + c->stride_bytes * index == (unsigned char *)buffer);
    do {
        atomic_store_explicit(&c->below[index], (uint32_t)top, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(&c->top, &top, top_make(index, top), memory_order_release,
                                                    memory_order_relaxed));
}

uint64_t dfm_heap_reserved_bytes(const struct dfm_heap *heap)
{
    return heap->reserved_bytes;
}

/* Counts the free buffers, so that alloc and free need no common counter. */
uint64_t dfm_heap_live(const struct dfm_heap *heap, uint32_t cls)
{
    const struct size_class *c = &heap->classes[cls];
    uint32_t n_free = 0;

    for (uint32_t i = (uint32_t)atomic_load_explicit(&c->top, memory_order_acquire); i != NONE && n_free < c->count;
         i = atomic_load_explicit(&c->below[i], memory_order_relaxed))
        n_free++;
    return c->count - n_free;
}
