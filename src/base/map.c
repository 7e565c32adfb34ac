/* SPDX-License-Identifier: MIT */
#include "base/map.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct tt_map_slot {
    const char *name; /* NULL: free */
    uint64_t hash;
    int64_t value;
};

static uint64_t seed;

/* Names come from files: with a start that changes from process to process names cannot be crafted that all collide. */
static void choose_seed(void)
{
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
        seed = (uintptr_t)&seed;
}

/* FNV-1a with a final mix. */
static uint64_t map_hash(const char *name, size_t length)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose_seed);
    uint64_t hash = 0xcbf29ce484222325u ^ seed;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3u;
    return hash ^ hash >> 29;
}

void tt_map_fini(struct tt_map *map)
{
    free(map->slots);
    *map = (struct tt_map){0};
}

static struct tt_map_slot *map_find_slot(const struct tt_map *map, const char *name, size_t length, uint64_t hash)
{
    for (size_t i = hash & (map->capacity - 1);; i = (i + 1) & (map->capacity - 1)) {
        struct tt_map_slot *slot = &map->slots[i];
        if (!slot->name || (slot->hash == hash && strncmp(slot->name, name, length) == 0 && slot->name[length] == '\0'))
            return slot;
    }
}

enum tutti_err tt_map_reserve(struct tt_map *map, size_t count)
{
    size_t capacity = map->capacity ? map->capacity : 16;
    if (count > SIZE_MAX / 4 / sizeof *map->slots)
        return tt_fail_memory();
    while (capacity / 2 < count)
        capacity *= 2;
    if (capacity == map->capacity)
        return TUTTI_OK;
    struct tt_map larger = {calloc(capacity, sizeof *larger.slots), capacity, map->count};
    if (!larger.slots)
        return tt_fail_memory();
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].name)
            *map_find_slot(&larger, map->slots[i].name, strlen(map->slots[i].name), map->slots[i].hash) = map->slots[i];
    free(map->slots);
    *map = larger;
    return TUTTI_OK;
}

enum tutti_err tt_map_add(struct tt_map *map, const char *name, int64_t value, int64_t *earlier)
{
    TRY(tt_map_reserve(map, map->count + 1));
    size_t length = strlen(name);
    uint64_t hash = map_hash(name, length);
    struct tt_map_slot *slot = map_find_slot(map, name, length, hash);
    if (earlier)
        *earlier = slot->name ? slot->value : TUTTI_MAP_NONE;
    if (!slot->name) {
        *slot = (struct tt_map_slot){name, hash, value};
        map->count++;
    }
    return TUTTI_OK;
}

int64_t tt_map_find_n(const struct tt_map *map, const char *name, size_t length)
{
    if (map->count == 0)
        return TUTTI_MAP_NONE;
    const struct tt_map_slot *slot = map_find_slot(map, name, length, map_hash(name, length));
    return slot->name ? slot->value : TUTTI_MAP_NONE;
}

int64_t tt_map_find(const struct tt_map *map, const char *name)
{
    return tt_map_find_n(map, name, strlen(name));
}
