/* intern.h - hash tables that find an equal item of an array (array.h), so that equal items are stored once. The front end of compiler/, the graph
 * builder (graph/) and record/ store their items in them. Caches (compiler/build/, opencl/), lock files (compiler/lock/) and program hashes
 * (record/digest.c) use only the hash function.
 *
 * Words:    To *intern* an item is to store it once: an equal item added later gets the id of the first.
 * Memory:   A zeroed struct is empty. dfr_table_free() frees what it holds.
 * Limits:   There are fewer than DF_NONE items. So every index is a uint32_t, and DF_NONE is no index.
 */
#ifndef DF_INTERN_H
#define DF_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/array.h"

struct dfr_intern_slot {
    uint32_t hash;
    uint32_t item;                      /* the item's id + 1; 0: empty */
};

/* A hash table with open addressing and linear probing, at most half full. It holds ids; the items live elsewhere. */
struct dfr_table {
    struct dfr_intern_slot *slots;
    uint32_t capacity, used;            /* capacity is a power of two */
};

/* Returns true if item `id` equals `key`. */
typedef bool dfr_equal(const void *context, uint32_t id, const void *key);

/* Makes room for one more item, so that the next dfr_table_put() cannot fail. Returns false if out of memory. */
bool dfr_table_reserve(struct dfr_table *table);
bool dfr_table_find(const struct dfr_table *table, uint32_t hash, dfr_equal *equal, const void *context,
                    const void *key, uint32_t *id);
void dfr_table_put(struct dfr_table *table, uint32_t hash, uint32_t id);
void dfr_table_free(struct dfr_table *table);

/* Continues a hash over some bytes. The first hash is 0. dfr_hash_fold() gives the 32 bits that the table takes. */
uint64_t dfr_hash(uint64_t hash, const void *bytes, size_t size);
uint32_t dfr_hash_fold(uint64_t hash);

#endif
