/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdalign.h>
#include <stdlib.h>

#include "base/arena.h"

enum { PIECES = 20000 };

/* Pieces of all sizes: aligned, zeroed, and not over one another. */
static void test_pieces(void **state)
{
    (void)state;
    struct tt_arena arena = {0};
    static unsigned char *pieces[PIECES];
    static size_t sizes[PIECES];
    uint32_t random = 1;
    for (size_t i = 0; i < PIECES; i++) {
        random = random * 1664525 + 1013904223;
        sizes[i] = i % 1000 == 999 ? random >> 14 : random >> 26;
        pieces[i] = i % 2 ? (void *)tt_arena_copy_text(&arena, "", 0) : tt_arena_alloc(&arena, sizes[i]);
        assert_non_null(pieces[i]);
        if (i % 2) {
            assert_int_equal(pieces[i][0], 0);
            sizes[i] = 1;
        } else {
            assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
            for (size_t k = 0; k < sizes[i]; k++)
                assert_int_equal(pieces[i][k], 0);
        }
        memset(pieces[i], (int)(i % 251), sizes[i]);
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            if (pieces[i][k] != i % 251)
                fail_msg("piece %zu was written over", i);
    tt_arena_fini(&arena);
    assert_null(arena.chunk);
    tt_arena_fini(&arena);
}

static void test_text(void **state)
{
    (void)state;
    struct tt_arena arena = {0};
    char *a = tt_arena_copy_text(&arena, "abcdef", 3), *b = tt_arena_copy_text(&arena, NULL, 0);
    assert_string_equal(a, "abc");
    assert_string_equal(b, "");
    assert_memory_equal(tt_arena_copy_text(&arena, "a\0b", 3), "a\0b", 4);
    tt_arena_fini(&arena);
}

static void test_array(void **state)
{
    (void)state;
    struct tt_arena arena = {0};
    uint64_t *array = tt_arena_array(&arena, 1000, sizeof *array);
    assert_non_null(array);
    array[999] = 1;
    assert_non_null(tt_arena_array(&arena, 0, 8));
    assert_non_null(tt_arena_array(&arena, 8, 0));
    tt_arena_fini(&arena);
}

static void test_too_much(void **state)
{
    (void)state;
    struct tt_arena arena = {0};
    assert_null(tt_arena_array(&arena, SIZE_MAX, 2));
    assert_null(tt_arena_array(&arena, SIZE_MAX / 4, 8));
    assert_null(tt_arena_alloc(&arena, SIZE_MAX));
    assert_null(tt_arena_copy_text(&arena, "", SIZE_MAX));
    assert_non_null(tt_arena_alloc(&arena, 1)); /* still usable */
    tt_arena_fini(&arena);
}

static void test_growth(void **state)
{
    (void)state;
    struct tt_arena arena = {0};
    assert_non_null(tt_arena_alloc(&arena, 10));
    assert_true(arena.total <= 64 * 1024); /* a small description stays small */
    for (int i = 0; i < 100000; i++)
        assert_non_null(tt_arena_alloc(&arena, 100));
    assert_true(arena.total < 16 * 1024 * 1024);
    assert_non_null(tt_arena_alloc(&arena, 50 * 1024 * 1024)); /* larger than any chunk */
    tt_arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),   cmocka_unit_test(test_text),   cmocka_unit_test(test_array),
        cmocka_unit_test(test_too_much), cmocka_unit_test(test_growth),
    };
    return cmocka_run_group_tests_name("base/arena", tests, NULL, NULL);
}
