/* SPDX-License-Identifier: MIT */
/* count_allocations.h - counts the allocations of a test program, which the linker wraps (tests/unit/CMakeLists.txt). */
#ifndef TUTTI_TESTS_COUNT_ALLOCATIONS_H
#define TUTTI_TESTS_COUNT_ALLOCATIONS_H

#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

static unsigned long allocations;

void *__wrap_malloc(size_t size)
{
    allocations++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    allocations++;
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    allocations++;
    return __real_realloc(old, size);
}

#endif
