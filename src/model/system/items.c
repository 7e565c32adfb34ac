/* SPDX-License-Identifier: MIT */
/* The items of an enumeration, looked up: mappings and arrays may name very many of them. */
#include <stdlib.h>

#include "model/system/flat.h"

static int flow_compare_values(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

enum tutti_err tt_flow_init_items(struct tt_flow_items *items, const struct tt_signal_spec *look)
{
    *items = (struct tt_flow_items){.look = look};
    if (look->item_count == 0)
        return TUTTI_OK;
    items->values = calloc(look->item_count, sizeof *items->values);
    if (!items->values)
        return tt_fail_memory();
    enum tutti_err err = tt_map_reserve(&items->names, look->item_count);
    for (size_t i = 0; i < look->item_count && !err; i++) {
        items->values[i] = look->items[i].value;
        err = tt_map_add(&items->names, look->items[i].name, (int64_t)i, NULL);
    }
    if (err)
        tt_flow_fini_items(items);
    else
        qsort(items->values, look->item_count, sizeof *items->values, flow_compare_values);
    return err;
}

void tt_flow_fini_items(struct tt_flow_items *items)
{
    free(items->values);
    items->values = NULL;
    tt_map_fini(&items->names);
}

bool tt_flow_find_item(const struct tt_flow_items *items, const char *name, int64_t *value)
{
    int64_t found = items->names.count ? tt_map_find(&items->names, name) : TUTTI_MAP_NONE;
    if (found != TUTTI_MAP_NONE)
        *value = items->look->items[found].value;
    return found != TUTTI_MAP_NONE;
}

bool tt_flow_has_item(const struct tt_flow_items *items, int64_t value)
{
    return items->values &&
           bsearch(&value, items->values, items->look->item_count, sizeof value, flow_compare_values) != NULL;
}
