/* intern.h - arrays that grow and tables that find equal items: what the builder collects a graph in.
 *
 * Memory:   zeroed structs are empty; dfr_array_free() and dfr_table_free() return what they hold.
 * Growth:   amortised; new items are zeroed, padding included, so that equal content is equal bytes.
 * Limits:   fewer than DF_NONE items, so that every index is a uint32_t and DF_NONE is none of them.
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

/* Adds `count` zeroed items of item_bytes and gives the first of them; NULL: no memory, or too many. */
void *dfr_array_add(struct dfr_array *array, size_t item_bytes, size_t count);
void dfr_array_free(struct dfr_array *array);

struct dfr_slot {
    uint32_t hash;
    uint32_t item;                      /* its id + 1; 0: empty */
};

/* Open addressing with linear probing, at most half full. Items live elsewhere; the table holds their ids. */
struct dfr_table {
    struct dfr_slot *slots;
    uint32_t capacity, used;            /* capacity is a power of two */
};

/* Is item `id` what `key` describes? */
typedef bool dfr_equal(const void *context, uint32_t id, const void *key);

/* Makes room for one more item, so that the following dfr_table_put() cannot fail. false: no memory. */
bool dfr_table_reserve(struct dfr_table *table);
bool dfr_table_find(const struct dfr_table *table, uint32_t hash, dfr_equal *equal, const void *context,
                    const void *key, uint32_t *id);
void dfr_table_put(struct dfr_table *table, uint32_t hash, uint32_t id);
void dfr_table_free(struct dfr_table *table);

/* Continues a hash over some bytes; start with 0. dfr_hash_fold() gives the table's 32 bits. */
uint64_t dfr_hash(uint64_t hash, const void *bytes, size_t size);
uint32_t dfr_hash_fold(uint64_t hash);

#endif
