/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/vector.h"

static void test_search(void **state)
{
    (void)state;
    static const int values[] = {1, 3, 3, 3, 7, 9};
    for (size_t count = 0; count <= sizeof values / sizeof *values; count++)
        for (int wanted = 0; wanted <= 10; wanted++) {
            size_t expected = 0, from, behind;
            while (expected < count && values[expected] < wanted)
                expected++;
            TUTTI_SEARCH(from, count, values[from] < wanted);
            assert_int_equal(from, expected);
            while (expected < count && values[expected] <= wanted)
                expected++;
            TUTTI_SEARCH(behind, count, values[behind] <= wanted);
            assert_int_equal(behind, expected);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_search)};
    return cmocka_run_group_tests_name("base/search", tests, NULL, NULL);
}
