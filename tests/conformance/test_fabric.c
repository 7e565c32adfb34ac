/* SPDX-License-Identifier: MIT */
/* What fabric.h promises of every kind. KIND is its name: one program per kind. */
#include "test.h"

#include "fabric/fabric.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
static const struct tutti_fabric_kind *const kind = &JOIN(tutti_fabric_, KIND);

static struct tutti_fabric *fabric;

static int open_it(void **state)
{
    (void)state;
    return kind->open(&fabric) != TUTTI_OK;
}

static int close_it(void **state)
{
    (void)state;
    kind->close(fabric);
    fabric = NULL;
    return 0;
}

static void it_has_a_name_and_all_functions(void **state)
{
    (void)state;
    assert_string_equal(kind->name, NAME);
    assert_non_null(kind->open);
    assert_non_null(kind->close);
    assert_non_null(kind->exchange);
    assert_non_null(kind->reduce);
}

static void a_rank_knows_its_place(void **state)
{
    (void)state;
    assert_ptr_equal(fabric->kind, kind);
    assert_true(fabric->ranks >= 1);
    assert_true(fabric->rank >= 0 && fabric->rank < fabric->ranks);
    assert_int_equal(fabric->exchanges, 0);
}

static void exchanges_are_counted(void **state)
{
    (void)state;
    for (unsigned long n = 1; n <= 1000; n++) {
        assert_ok(kind->exchange(fabric));
        assert_int_equal(fabric->exchanges, n);
    }
}

/* Every rank of this program has the same values, so the least and the greatest are those values. */
static void reductions_of_equal_values_leave_them(void **state)
{
    (void)state;
    static const double values[] = {0, -0.0, 1.5, -1e300, 5e-324, INFINITY, -INFINITY};
    enum { COUNT = sizeof values / sizeof *values };
    static const enum tutti_reduction reductions[] = {TUTTI_REDUCE_MIN, TUTTI_REDUCE_MAX};
    for (size_t r = 0; r < sizeof reductions / sizeof *reductions; r++) {
        double copy[COUNT];
        memcpy(copy, values, sizeof copy);
        assert_ok(kind->reduce(fabric, reductions[r], copy, COUNT));
        for (int i = 0; i < COUNT; i++)
            assert_same_double(copy[i], values[i]);
    }
}

static void a_reduction_of_nothing_is_fine_and_is_no_exchange(void **state)
{
    (void)state;
    assert_ok(kind->reduce(fabric, TUTTI_REDUCE_MIN, NULL, 0));
    assert_int_equal(fabric->exchanges, 0);
}

static void two_can_be_open_and_count_for_themselves(void **state)
{
    (void)state;
    struct tutti_fabric *other = NULL;
    assert_ok(kind->open(&other));
    assert_ptr_not_equal(other, fabric);
    assert_ok(kind->exchange(other));
    assert_int_equal(other->exchanges, 1);
    assert_int_equal(fabric->exchanges, 0);
    kind->close(other);
}

static void closing_nothing_is_fine(void **state)
{
    (void)state;
    kind->close(NULL);
}

#define WITH_ONE(test) cmocka_unit_test_setup_teardown(test, open_it, close_it)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_has_a_name_and_all_functions),
        WITH_ONE(a_rank_knows_its_place),
        WITH_ONE(exchanges_are_counted),
        WITH_ONE(reductions_of_equal_values_leave_them),
        WITH_ONE(a_reduction_of_nothing_is_fine_and_is_no_exchange),
        WITH_ONE(two_can_be_open_and_count_for_themselves),
        cmocka_unit_test(closing_nothing_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
