/* SPDX-License-Identifier: MIT */
/* handle_table.h - things by handles that only rise: federates, objects. Kept in the order of their handles. */
#ifndef TUTTI_RTI_HANDLE_TABLE_H
#define TUTTI_RTI_HANDLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tutti_handle_table {
    struct tutti_handle_item {
        uint32_t handle;
        void *item;
    } * items;
    size_t count, room;
};

/* A zeroed table is empty. The items are the caller's. */
void tutti_handle_table_fini(struct tutti_handle_table *table);
/* `handle` is larger than all that are there. False when memory is out. */
bool tutti_handle_table_add(struct tutti_handle_table *table, uint32_t handle, void *item);
/* NULL: none. */
void *tutti_handle_table_find(const struct tutti_handle_table *table, uint32_t handle);
void tutti_handle_table_remove(struct tutti_handle_table *table, uint32_t handle);

#endif
