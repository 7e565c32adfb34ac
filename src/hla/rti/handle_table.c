/* SPDX-License-Identifier: MIT */
#include "hla/rti/handle_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

void tt_federation_table_fini(struct tt_handle_table *table)
{
    free(table->items);
    *table = (struct tt_handle_table){0};
}

bool tt_federation_table_add(struct tt_handle_table *table, uint32_t handle, void *item)
{
    if (!tt_vector_reserve(&table->items, &table->room, table->count + 1, sizeof *table->items))
        return false;
    table->items[table->count++] = (struct tt_handle_item){handle, item};
    return true;
}

/* The first place whose handle is not below. */
static size_t federation_table_place(const struct tt_handle_table *table, uint32_t handle)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->items[middle].handle < handle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void *tt_federation_table_find(const struct tt_handle_table *table, uint32_t handle)
{
    size_t place = federation_table_place(table, handle);
    return place < table->count && table->items[place].handle == handle ? table->items[place].item : NULL;
}

void tt_federation_table_remove(struct tt_handle_table *table, uint32_t handle)
{
    size_t place = federation_table_place(table, handle);
    if (place >= table->count || table->items[place].handle != handle)
        return;
    table->count--;
    memmove(&table->items[place], &table->items[place + 1], (table->count - place) * sizeof *table->items);
}
