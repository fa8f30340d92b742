/* intern.h - arrays that grow, and tables that find an equal item. The builder collects a graph in them.
 *
 * Words:    To *intern* an item is to store it once: an equal item that comes later gets the id of the first.
 * Memory:   Zeroed structs are empty. dfr_array_free() and dfr_table_free() return what they hold.
 * Growth:   Amortised. New items are zeroed, padding included, so that equal content is equal bytes.
 * Limits:   There are fewer than DF_NONE items. So every index is a uint32_t, and DF_NONE is no index.
 */
#ifndef DF_INTERN_H
#define DF_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dfr_array {
    void *items;
    uint32_t n, capacity;
};

/* Adds `count` zeroed items of item_bytes and gives the first of them. NULL: there is no memory, or they are too
 * many. */
void *dfr_array_add(struct dfr_array *array, size_t item_bytes, size_t count);
void dfr_array_free(struct dfr_array *array);

struct dfr_intern_slot {
    uint32_t hash;
    uint32_t item;                      /* the item's id + 1; 0: empty */
};

/* A hash table with open addressing and linear probing, at most half full. It holds ids; the items live elsewhere. */
struct dfr_table {
    struct dfr_intern_slot *slots;
    uint32_t capacity, used;            /* capacity is a power of two */
};

/* Is item `id` what `key` describes? */
typedef bool dfr_equal(const void *context, uint32_t id, const void *key);

/* Makes room for one more item, so that the dfr_table_put() that follows cannot fail. false: no memory. */
bool dfr_table_reserve(struct dfr_table *table);
bool dfr_table_find(const struct dfr_table *table, uint32_t hash, dfr_equal *equal, const void *context,
                    const void *key, uint32_t *id);
void dfr_table_put(struct dfr_table *table, uint32_t hash, uint32_t id);
void dfr_table_free(struct dfr_table *table);

/* Continues a hash over some bytes. The first hash is 0. dfr_hash_fold() gives the 32 bits that the table takes. */
uint64_t dfr_hash(uint64_t hash, const void *bytes, size_t size);
uint32_t dfr_hash_fold(uint64_t hash);

#endif
