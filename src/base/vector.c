/* SPDX-License-Identifier: MIT */
#include "base/vector.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_ROOM = 16 };

bool tt_vector_reserve(void *items, size_t *room, size_t count, size_t size)
{
    if (count <= *room)
        return true;
    size_t wanted = *room > SIZE_MAX / 2 ? count : 2 * *room;
    wanted = wanted > LEAST_ROOM ? wanted : LEAST_ROOM;
    wanted = wanted > count ? wanted : count;
    if (wanted > PTRDIFF_MAX / size)
        return false;
    void *old; /* a pointer to whatever type: its bytes are copied */
    memcpy(&old, items, sizeof old);
    void *larger = realloc(old, wanted * size);
    if (!larger)
        return false;
    memcpy(items, &larger, sizeof larger);
    *room = wanted;
    return true;
}

void *tt_vector_push(struct tt_vector *vector, size_t size)
{
    if (!tt_vector_reserve(&vector->items, &vector->room, vector->count + 1, size))
        return NULL;
    return memset((char *)vector->items + vector->count++ * size, 0, size);
}

void tt_vector_fini(struct tt_vector *vector)
{
    free(vector->items);
    *vector = (struct tt_vector){0};
}
