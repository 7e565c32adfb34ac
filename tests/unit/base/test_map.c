/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdlib.h>

#include "base/map.h"

static void test_empty(void **state)
{
    (void)state;
    struct tt_map map = {0};
    assert_int_equal(tt_map_find(&map, "a"), TUTTI_MAP_NONE);
    assert_int_equal(tt_map_reserve(&map, 0), TUTTI_OK);
    assert_int_equal(tt_map_find(&map, ""), TUTTI_MAP_NONE);
    tt_map_fini(&map);
    tt_map_fini(&map);
}

static void test_first_value_stays(void **state)
{
    (void)state;
    struct tt_map map = {0};
    int64_t earlier = 5;
    char name[] = "a";
    assert_int_equal(tt_map_add(&map, name, 1, &earlier), TUTTI_OK);
    assert_int_equal(earlier, TUTTI_MAP_NONE);
    assert_int_equal(tt_map_add(&map, "a", 2, &earlier), TUTTI_OK);
    assert_int_equal(earlier, 1);
    assert_int_equal(tt_map_add(&map, "a", 3, NULL), TUTTI_OK);
    assert_int_equal(tt_map_find(&map, "a"), 1);
    assert_int_equal(map.count, 1);
    assert_int_equal(tt_map_add(&map, "", INT64_MAX, NULL), TUTTI_OK); /* the empty name is a name */
    assert_int_equal(tt_map_find(&map, ""), INT64_MAX);
    assert_int_equal(tt_map_find(&map, "A"), TUTTI_MAP_NONE);
    tt_map_fini(&map);
}

enum { MANY = 200000 };

static void add_many(bool reserve)
{
    struct tt_map map = {0};
    char(*names)[16] = malloc(MANY * sizeof *names);
    assert_non_null(names);
    if (reserve)
        assert_int_equal(tt_map_reserve(&map, MANY), TUTTI_OK);
    size_t capacity = map.capacity;
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "x[%d]", i);
        int64_t earlier = 0;
        assert_int_equal(tt_map_add(&map, names[i], i, &earlier), TUTTI_OK);
        assert_int_equal(earlier, TUTTI_MAP_NONE);
    }
    if (reserve)
        assert_int_equal(map.capacity, capacity); /* no growing after reserving */
    assert_int_equal(map.count, MANY);
    for (int i = 0; i < MANY; i++) {
        char copy[16];
        memcpy(copy, names[i], sizeof copy); /* found by text, not by address */
        assert_int_equal(tt_map_find(&map, copy), i);
        copy[0] = 'y';
        assert_int_equal(tt_map_find(&map, copy), TUTTI_MAP_NONE);
    }
    tt_map_fini(&map);
    free(names);
}

static void test_many(void **state)
{
    (void)state;
    add_many(false);
    add_many(true);
}

static void test_too_many(void **state)
{
    (void)state;
    struct tt_map map = {0};
    assert_int_equal(tt_map_add(&map, "a", 1, NULL), TUTTI_OK);
    assert_int_equal(tt_map_reserve(&map, SIZE_MAX), TUTTI_ERR_MEMORY);
    assert_int_equal(tt_map_reserve(&map, SIZE_MAX / 2), TUTTI_ERR_MEMORY);
    assert_int_equal(tt_map_find(&map, "a"), 1); /* a failed reserve changes nothing */
    tt_map_fini(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_first_value_stays),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests_name("base/map", tests, NULL, NULL);
}
