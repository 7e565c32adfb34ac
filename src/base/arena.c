/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct tt_arena_chunk {
    struct tt_arena_chunk *older;
    alignas(max_align_t) char bytes[];
};

enum { CHUNK_FIRST = 16 * 1024, CHUNK_LARGEST = 1024 * 1024 };

void tt_arena_fini(struct tt_arena *arena)
{
    for (struct tt_arena_chunk *chunk = arena->chunk, *older; chunk; chunk = older) {
        older = chunk->older;
        free(chunk);
    }
    *arena = (struct tt_arena){0};
}

/* Chunks double up to a bound, so that a small description stays small and a large one needs few. */
static void *arena_grow(struct tt_arena *arena, size_t size)
{
    size_t bytes = arena->total < CHUNK_FIRST ? CHUNK_FIRST : arena->total;
    bytes = bytes > CHUNK_LARGEST ? CHUNK_LARGEST : bytes;
    bytes = bytes < size ? size : bytes;
    if (bytes > SIZE_MAX - sizeof(struct tt_arena_chunk))
        return NULL;
    struct tt_arena_chunk *chunk = malloc(sizeof *chunk + bytes);
    if (!chunk)
        return NULL;
    chunk->older = arena->chunk;
    arena->chunk = chunk;
    arena->next = chunk->bytes;
    arena->end = chunk->bytes + bytes;
    arena->total += bytes;
    return chunk;
}

static void *arena_carve(struct tt_arena *arena, size_t size, size_t align)
{
    size_t pad = arena->next ? -(uintptr_t)arena->next & (align - 1) : 0;
    if (!arena->next || (size_t)(arena->end - arena->next) < pad || (size_t)(arena->end - arena->next) - pad < size) {
        if (!arena_grow(arena, size))
            return NULL;
        pad = 0;
    }
    char *memory = arena->next + pad;
    arena->next = memory + size;
    return memory;
}

void *tt_arena_alloc(struct tt_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    void *memory = arena_carve(arena, size, alignof(max_align_t));
    return memory ? memset(memory, 0, size) : NULL;
}

void *tt_arena_array(struct tt_arena *arena, size_t n, size_t size)
{
    return size && n > SIZE_MAX / 2 / size ? NULL : tt_arena_alloc(arena, n * size);
}

char *tt_arena_copy_text(struct tt_arena *arena, const char *text, size_t n)
{
    char *copy = n < SIZE_MAX / 2 ? arena_carve(arena, n + 1, 1) : NULL;
    if (copy) {
        if (n > 0)
            memcpy(copy, text, n);
        copy[n] = '\0';
    }
    return copy;
}
