/* SPDX-License-Identifier: MIT */
/* The items of an enumeration, looked up: mappings and arrays may name very many of them. */
#include <stdlib.h>

#include "system/flat.h"

static int compare_values(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

enum tutti_err tutti_items_init(struct items *items, const struct look *look)
{
    *items = (struct items){.look = look};
    if (look->item_count == 0)
        return TUTTI_OK;
    items->values = calloc(look->item_count, sizeof *items->values);
    if (!items->values)
        return tutti_fail_memory();
    enum tutti_err err = tutti_map_reserve(&items->names, look->item_count);
    for (size_t i = 0; i < look->item_count && !err; i++) {
        items->values[i] = look->items[i].value;
        err = tutti_map_add(&items->names, look->items[i].name, (int64_t)i, NULL);
    }
    if (err)
        tutti_items_fini(items);
    else
        qsort(items->values, look->item_count, sizeof *items->values, compare_values);
    return err;
}

void tutti_items_fini(struct items *items)
{
    free(items->values);
    items->values = NULL;
    tutti_map_fini(&items->names);
}

bool tutti_items_find(const struct items *items, const char *name, int64_t *value)
{
    int64_t found = items->names.count ? tutti_map_find(&items->names, name) : TUTTI_MAP_NONE;
    if (found != TUTTI_MAP_NONE)
        *value = items->look->items[found].value;
    return found != TUTTI_MAP_NONE;
}

bool tutti_items_has(const struct items *items, int64_t value)
{
    return items->values &&
           bsearch(&value, items->values, items->look->item_count, sizeof value, compare_values) != NULL;
}
