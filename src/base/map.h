/* SPDX-License-Identifier: MIT */
/* base/map.h - from names to numbers: an open-addressing hash table over borrowed strings. */
#ifndef TT_BASE_MAP_H
#define TT_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

enum { TUTTI_MAP_NONE = -1 };

struct tt_map {
    struct tt_map_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
};

/* A zeroed map is empty and ready. */
void tt_map_fini(struct tt_map *map);
/* Makes room for `count` names at once. */
TUTTI_CHECKED enum tutti_err tt_map_reserve(struct tt_map *map, size_t count);
/* Adds name -> value; `name` is borrowed. If the name exists, its value stays and is stored in *earlier (may be NULL);
 * otherwise *earlier is TUTTI_MAP_NONE. */
TUTTI_CHECKED enum tutti_err tt_map_add(struct tt_map *map, const char *name, int64_t value, int64_t *earlier);
/* The value, or TUTTI_MAP_NONE. */
int64_t tt_map_find(const struct tt_map *map, const char *name);
/* Finds a name given as its first `length` bytes, which must not contain a zero byte. */
int64_t tt_map_find_n(const struct tt_map *map, const char *name, size_t length);

#endif
