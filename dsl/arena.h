/* arena.h - a bump allocator whose objects are all freed together. The parser (reader.c) keeps its syntax tree in one;
 * the front end of compiler/, generate/ and wrap/ keep their records in others.
 *
 * Memory:   dfl_arena_free() frees every allocation. Nothing can be freed earlier, so the parser's error recovery may
 *           drop half-built nodes without leaking them.
 * Threads:  one thread per arena while it grows.
 * Errors:   dfl_arena_alloc() and dfl_arena_copy() never return NULL. After an allocation has failed,
 *           dfl_arena_failed() returns true, dfl_arena_alloc() returns one spare block that all callers share and whose
 *           contents are meaningless, and dfl_arena_copy() returns "". The owner checks once, at the end, and discards
 *           the result.
 */
#ifndef DFL_ARENA_H
#define DFL_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#define DFL_ARENA_SPARE 512 /* bytes in the spare block: no single node may be larger */

struct dfl_arena;

/* NULL: memory ran out. */
struct dfl_arena *dfl_arena_new(void);
void dfl_arena_free(struct dfl_arena *arena);

/* Zeroed memory for one object of at most DFL_ARENA_SPARE bytes, aligned for pointers, int64_t and double. */
void *dfl_arena_alloc(struct dfl_arena *arena, size_t size);

/* Room for `length` bytes and a NUL, zeroed. NULL: memory ran out (dfl_arena_failed() is true then as well). */
char *dfl_arena_text(struct dfl_arena *arena, size_t length);

/* A NUL-terminated copy of text[0..length). */
const char *dfl_arena_copy(struct dfl_arena *arena, const char *text, size_t length);

bool dfl_arena_failed(const struct dfl_arena *arena);

#endif
