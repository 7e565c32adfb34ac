/* SPDX-License-Identifier: MIT */
/* handle_table.h - things by handles that only rise: federates, objects. Kept in the order of their handles. */
#ifndef TT_HLA_RTI_HANDLE_TABLE_H
#define TT_HLA_RTI_HANDLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tt_handle_table {
    struct tt_handle_item {
        uint32_t handle;
        void *item;
    } * items;
    size_t count, room;
};

/* A zeroed table is empty. The items are the caller's. */
void tt_federation_table_fini(struct tt_handle_table *table);
/* `handle` is larger than all that are there. False when memory is out. */
bool tt_federation_table_add(struct tt_handle_table *table, uint32_t handle, void *item);
/* NULL: none. */
void *tt_federation_table_find(const struct tt_handle_table *table, uint32_t handle);
void tt_federation_table_remove(struct tt_handle_table *table, uint32_t handle);

#endif
