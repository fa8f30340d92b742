/* arena.c - bump allocator for syntax trees and for what the compiler derives from them: objects are carved from the
 * front of a chunk, and each new chunk is twice as large as the last, up to a limit. A large text gets a chunk of its
 * own size.
 */
#include "dsl/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CHUNK = 16 << 10, LARGEST_CHUNK = 1 << 20 };

struct chunk {
    struct chunk *next;
    size_t used, size;
    max_align_t bytes[];
};

struct dfl_arena {
    struct chunk *chunks; /* newest first; only the newest grows */
    size_t next_size;
    bool failed;
    max_align_t spare[DFL_ARENA_SPARE / sizeof(max_align_t)];
};

static struct chunk *chunk_new(size_t size)
{
    if (size > SIZE_MAX - sizeof(struct chunk))
        return NULL;
    struct chunk *chunk = calloc(1, sizeof *chunk + size);
    if (chunk)
        chunk->size = size;
    return chunk;
}

struct dfl_arena *dfl_arena_new(void)
{
    struct dfl_arena *arena = calloc(1, sizeof *arena);
    if (!arena)
        return NULL;
    arena->chunks = chunk_new(FIRST_CHUNK);
    if (!arena->chunks) {
        free(arena);
        return NULL;
    }
    arena->next_size = FIRST_CHUNK * 2;
    return arena;
}

void dfl_arena_free(struct dfl_arena *arena)
{
    if (!arena)
        return;
    for (struct chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(arena);
}

/* NULL: memory ran out. `align` is a power of two. */
static void *take(struct dfl_arena *arena, size_t size, size_t align)
{
    if (arena->failed) /* an arena that failed once stays failed: else a good node might be linked to the spare block */
        return NULL;
    struct chunk *chunk = arena->chunks;
    size_t start = (chunk->used + align - 1) & ~(align - 1);
    if (start > chunk->size || size > chunk->size - start) {
        size_t room = size > arena->next_size ? size : arena->next_size;
        struct chunk *fresh = chunk_new(room);
        if (!fresh) {
            arena->failed = true;
            return NULL;
        }
        if (arena->next_size < LARGEST_CHUNK)
            arena->next_size *= 2;
        fresh->next = chunk;
        arena->chunks = chunk = fresh;
        start = 0;
    }
    chunk->used = start + size;
    return (char *)chunk->bytes + start;
}

void *dfl_arena_alloc(struct dfl_arena *arena, size_t size)
{
    void *given = take(arena, size, sizeof(void *) > 8 ? sizeof(void *) : 8);
    if (given)
        return given;
    memset(arena->spare, 0, sizeof arena->spare);
    return arena->spare;
}

char *dfl_arena_text(struct dfl_arena *arena, size_t length)
{
    return take(arena, length + 1, 1);
}

const char *dfl_arena_copy(struct dfl_arena *arena, const char *text, size_t length)
{
    char *copy = dfl_arena_text(arena, length);
    if (!copy)
        return "";
    memcpy(copy, text, length);
    return copy;
}

bool dfl_arena_failed(const struct dfl_arena *arena)
{
    return arena->failed;
}
