/* SPDX-License-Identifier: MIT */
/* base/arena.h - memory that is released all at once. One arena per description: nothing in it is freed alone. */
#ifndef TT_BASE_ARENA_H
#define TT_BASE_ARENA_H

#include <stddef.h>

struct tt_arena {
    struct tt_arena_chunk *chunk; /* the newest; older ones are linked after it */
    char *next, *end;             /* what is left of it */
    size_t total;                 /* bytes taken from the heap */
};

/* A zeroed arena is empty and ready. */
void tt_arena_fini(struct tt_arena *arena);

/* Zeroed memory, aligned for any type; NULL when memory is out. */
void *tt_arena_alloc(struct tt_arena *arena, size_t size);
/* n elements, NULL also when n * size overflows. */
void *tt_arena_array(struct tt_arena *arena, size_t n, size_t size);
/* A copy of n bytes of text with a NUL after it; NULL when memory is out. */
char *tt_arena_copy_text(struct tt_arena *arena, const char *text, size_t n);

#endif
