/* intern.c - implements hash tables of ids, and the hash function (intern.h): for the compiler and the graph builder,
 * which store equal items once, and for code that computes hashes of programs, records and cache keys. */
#include "runtime/base/intern.h"

#include <stdlib.h>
#include <string.h>

bool dfr_table_reserve(struct dfr_table *table)
{
    if (table->used < table->capacity / 2)
        return true;
    if (table->capacity > UINT32_MAX / 4)
        return false;
    struct dfr_table bigger = { .capacity = table->capacity ? 2 * table->capacity : 64 };
    bigger.slots = calloc(bigger.capacity, sizeof *bigger.slots);
    if (!bigger.slots)
        return false;
    for (uint32_t i = 0; i < table->capacity; i++)
        if (table->slots[i].item)
            dfr_table_put(&bigger, table->slots[i].hash, table->slots[i].item - 1);
    free(table->slots);
    *table = bigger;
    return true;
}

bool dfr_table_find(const struct dfr_table *table, uint32_t hash, dfr_equal *equal, const void *context,
                    const void *key, uint32_t *id)
{
    if (!table->capacity)
        return false;
    uint32_t mask = table->capacity - 1;
    for (uint32_t i = hash & mask; table->slots[i].item; i = (i + 1) & mask) {
        const struct dfr_intern_slot *slot = &table->slots[i];
        if (slot->hash == hash && equal(context, slot->item - 1, key)) {
            *id = slot->item - 1;
            return true;
        }
    }
    return false;
}

void dfr_table_put(struct dfr_table *table, uint32_t hash, uint32_t id)
{
    uint32_t mask = table->capacity - 1, i = hash & mask;
    while (table->slots[i].item)
        i = (i + 1) & mask;
    table->slots[i] = (struct dfr_intern_slot){ hash, id + 1 };
    table->used++;
}

void dfr_table_free(struct dfr_table *table)
{
    free(table->slots);
    *table = (struct dfr_table){ 0 };
}

uint64_t dfr_hash(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    hash ^= size * UINT64_C(0x9e3779b97f4a7c15);
    for (; size >= 8; p += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    uint64_t tail = 0;
    if (size)
        memcpy(&tail, p, size);
    hash = (hash ^ tail) * UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 29;
}

uint32_t dfr_hash_fold(uint64_t hash)
{
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}
