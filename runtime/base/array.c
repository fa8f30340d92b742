/* array.c - implements growing arrays and ring buffers (array.h), for the compiler and the runtime. */
#include "runtime/base/array.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 8 };

bool dfr_array_grow(void *items, size_t n, size_t *capacity, size_t item_bytes)
{
    size_t more = *capacity + *capacity / 2, bytes;
    more = more > n ? more : n + 1;
    more = more > FIRST_CAPACITY ? more : FIRST_CAPACITY;
    void *grown;
    memcpy(&grown, items, sizeof grown); /* the pointer may have any type */
    if (__builtin_mul_overflow(more, item_bytes, &bytes) || !(grown = realloc(grown, bytes)))
        return false;
    memcpy(items, &grown, sizeof grown);
    *capacity = more;
    return true;
}

bool dfr_ring_grow(void *items, size_t *first, size_t n, size_t *capacity, size_t item_bytes)
{
    const size_t before = *capacity;
    if (!dfr_array_grow(items, n, capacity, item_bytes))
        return false;
    if (*first) {                       /* those at the end stay at the end */
        const size_t at = *first, to = at + (*capacity - before);
        char *bytes;
        memcpy(&bytes, items, sizeof bytes);
        memmove(bytes + to * item_bytes, bytes + at * item_bytes, (before - at) * item_bytes);
        *first = to;
    }
    return true;
}

void *dfr_array_add(struct dfr_array *array, size_t item_bytes, size_t count)
{
    if (count >= UINT32_MAX - array->n)
        return NULL;
    const size_t need = array->n + count;
    if ((need > array->capacity || !array->items) && !dfr_array_grow(&array->items, need ? need - 1 : 0, &array->capacity, item_bytes))
        return NULL;
    void *first = (char *)array->items + (size_t)array->n * item_bytes;
    if (count)
        memset(first, 0, count * item_bytes);
    array->n = (uint32_t)need;
    return first;
}

void dfr_array_free(struct dfr_array *array)
{
    free(array->items);
    *array = (struct dfr_array){ 0 };
}
