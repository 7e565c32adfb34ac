/* SPDX-License-Identifier: MIT */
/* binary_search.h - binary search in what is sorted. */
#ifndef TT_BASE_BINARY_SEARCH_H
#define TT_BASE_BINARY_SEARCH_H

#include <stddef.h>

/* Sets `place`, a size_t, to the first of the places 0 to `count` - 1 of which `is_before`, an expression of `place`, is not true;
 * to `count` if it is true of all. The places of which it is true come before the others. */
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
