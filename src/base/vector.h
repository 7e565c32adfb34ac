/* SPDX-License-Identifier: MIT */
/* vector.h - arrays that grow. */
#ifndef TT_BASE_VECTOR_H
#define TT_BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

/* Items of one size, which the caller passes to each call. A zeroed vector is empty. */
struct tt_vector {
    void *items;
    size_t count, room;
};

/* Appends a zeroed item of `size` bytes; NULL when memory is out. May move all items. */
void *tt_vector_push(struct tt_vector *vector, size_t size);
/* Empty again. */
void tt_vector_fini(struct tt_vector *vector);

/* For an array in fields of any struct. `items` is the address of its pointer, which has room for *room items of `size` bytes; it
 * has room for `count` afterwards, and grows by doubling. May move the items. False when memory is out: nothing has changed. */
bool tt_vector_reserve(void *items, size_t *room, size_t count, size_t size);

/* Binary search in sorted data. */

/* Sets `place`, a size_t, to the first index from 0 to `count` - 1 for which `is_before`, an expression of `place`, is
 * false; to `count` if it is true for all. All indices for which it is true must come first. */
#define TUTTI_SEARCH(place, count, is_before)                                                                          \
    do {                                                                                                               \
        size_t search_low_ = 0, search_high_ = (count);                                                                \
        while (search_low_ < search_high_) {                                                                           \
            (place) = search_low_ + (search_high_ - search_low_) / 2;                                                  \
            if (is_before)                                                                                             \
                search_low_ = (place) + 1;                                                                             \
            else                                                                                                       \
                search_high_ = (place);                                                                                \
        }                                                                                                              \
        (place) = search_low_;                                                                                         \
    } while (0)

#endif
