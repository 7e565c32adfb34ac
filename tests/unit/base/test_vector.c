/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/vector.h"

static void test_push(void **state)
{
    (void)state;
    struct tt_vector vector = {0};
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t(*item)[3] = tt_vector_push(&vector, sizeof *item);
        assert_non_null(item);
        assert_int_equal((*item)[0] | (*item)[1] | (*item)[2], 0); /* zeroed, also where items were before */
        (*item)[2] = i;
    }
    assert_int_equal(vector.count, 1000);
    assert_true(vector.room >= vector.count);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(((uint32_t(*)[3])vector.items)[i][2], i);
    vector.count = 10;
    assert_int_equal(*(uint32_t *)tt_vector_push(&vector, 3 * sizeof(uint32_t)), 0);
    tt_vector_fini(&vector);
    assert_null(vector.items);
    assert_int_equal(vector.count + vector.room, 0);
    tt_vector_fini(&vector);
}

static void test_reserve(void **state)
{
    (void)state;
    double *items = NULL;
    size_t room = 0;
    assert_true(tt_vector_reserve(&items, &room, 0, sizeof *items));
    assert_null(items);
    assert_true(tt_vector_reserve(&items, &room, 100, sizeof *items));
    assert_int_equal(room, 100);
    items[99] = 3;
    double *before = items;
    assert_true(tt_vector_reserve(&items, &room, 100, sizeof *items));
    assert_ptr_equal(items, before);
    assert_true(tt_vector_reserve(&items, &room, 101, sizeof *items)); /* by doubling */
    assert_int_equal(room, 200);
    assert_true(items[99] == 3);
    before = items;
    assert_false(tt_vector_reserve(&items, &room, SIZE_MAX, sizeof *items));
    assert_false(tt_vector_reserve(&items, &room, SIZE_MAX / 2, 3));
    assert_ptr_equal(items, before);
    assert_int_equal(room, 200);
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_push),
        cmocka_unit_test(test_reserve),
    };
    return cmocka_run_group_tests_name("base/vector", tests, NULL, NULL);
}
