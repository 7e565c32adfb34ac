/* SPDX-License-Identifier: MIT */
/* vector.h - arrays that grow. */
#ifndef TT_BASE_VECTOR_H
#define TT_BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

/* Items of one size, which the caller knows. Zeroed is empty. */
struct tt_vector {
    void *items;
    size_t count, room;
};

/* A zeroed item of `size` bytes after the last one, or NULL when memory is out. May move the others. */
void *tt_vector_push(struct tt_vector *vector, size_t size);
/* Empty again. */
void tt_vector_fini(struct tt_vector *vector);

/* For an array in fields of any struct. `items` is the address of its pointer, which has room for *room items of `size` bytes; it
 * has room for `count` afterwards, and grows by doubling. May move the items. False when memory is out: nothing has changed. */
bool tt_vector_reserve(void *items, size_t *room, size_t count, size_t size);

#endif
