/* array.h - dynamic arrays and ring buffers. For all of dfc and the runtime.
 *
 * Memory:   Zeroed structs are empty. dfr_array_free() frees what a dfr_array holds.
 * Growth:   Amortised: by half at least. If out of memory, the array is unchanged.
 */
#ifndef DF_ARRAY_H
#define DF_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dfr_array {
    void *items;
    uint32_t n;
    size_t capacity;
};

/* Adds `count` zeroed items of item_bytes and returns the first of them. NULL: there is no memory, or the array would
 * have DF_NONE items. New items are zeroed, padding included, so that equal content is equal bytes. */
void *dfr_array_add(struct dfr_array *array, size_t item_bytes, size_t count);
void dfr_array_free(struct dfr_array *array);

/* Makes room for item n of an array with a typed pointer. Its memory is the caller's to free(). Returns false if there is no memory. */
#define DFR_ARRAY_ROOM(items, n, capacity) ((n) < (capacity) || dfr_array_grow(&(items), (n), &(capacity), sizeof *(items)))

/* The same for a ring buffer: item i of n is items[(first + i) % capacity]. */
#define DFR_RING_ROOM(items, first, n, capacity) \
    ((n) < (capacity) || dfr_ring_grow(&(items), &(first), (n), &(capacity), sizeof *(items)))

/* items: the address of the pointer. */
bool dfr_array_grow(void *items, size_t n, size_t *capacity, size_t item_bytes);
bool dfr_ring_grow(void *items, size_t *first, size_t n, size_t *capacity, size_t item_bytes);

#endif
