/* SPDX-License-Identifier: MIT */
/* allocations.h - counts the library's allocations, and lets one fail: the linker puts these functions in front (see
 * CMakeLists.txt). Those of other libraries go by. */
#ifndef TUTTI_TEST_ALLOCATIONS_H
#define TUTTI_TEST_ALLOCATIONS_H

#include <stddef.h>

static unsigned long allocations;
static unsigned long failing_allocation; /* the number of the one that is to fail; 0: none */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
    return ++allocations == failing_allocation ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return ++allocations == failing_allocation ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return ++allocations == failing_allocation ? NULL : __real_realloc(old, size);
}

/* Runs `statement`, an assignment to `err`, with each of its allocations failing in turn, until it goes well. */
#define assert_survives_each(err, statement)                                                                           \
    do {                                                                                                               \
        failing_allocation = 0;                                                                                        \
        do {                                                                                                           \
            allocations = 0;                                                                                           \
            failing_allocation++;                                                                                      \
            statement;                                                                                                 \
            assert_true((err) == TUTTI_OK || (err) == TUTTI_ERR_MEMORY);                                               \
            assert_int_equal((err) == TUTTI_ERR_MEMORY, allocations >= failing_allocation);                            \
        } while (err);                                                                                                 \
        assert_true(failing_allocation > 1);                                                                           \
        failing_allocation = 0;                                                                                        \
    } while (0)

#endif
