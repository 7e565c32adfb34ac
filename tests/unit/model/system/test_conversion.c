/* SPDX-License-Identifier: MIT */
#include "test.h"
#include "model/system/conversion.h"

static void test_possible(void **state)
{
    (void)state;
    for (int from = 0; from < TUTTI_TYPE_COUNT; from++)
        for (int to = 0; to < TUTTI_TYPE_COUNT; to++) {
            bool from_float = from <= TUTTI_TYPE_FLOAT32, to_float = to <= TUTTI_TYPE_FLOAT32;
            bool from_integer = from >= TUTTI_TYPE_INT8 && from <= TUTTI_TYPE_UINT64;
            bool to_integer = to >= TUTTI_TYPE_INT8 && to <= TUTTI_TYPE_UINT64;
            bool from_whole = from_integer || from == TUTTI_TYPE_ENUMERATION;
            bool to_whole = to_integer || to == TUTTI_TYPE_ENUMERATION;
            bool expected = from == to || (from_float && to_float) || (from_whole && (to_whole || to_float)) ||
                            (from == TUTTI_TYPE_BOOLEAN && (to_integer || to_float));
            bool rounds = (from_float && (to_integer || to == TUTTI_TYPE_BOOLEAN)) ||
                          (from_integer && to == TUTTI_TYPE_BOOLEAN);
            assert_int_equal(tt_conversion_rounds((enum tt_type)from, (enum tt_type)to), rounds);
            if (tt_conversion_is_possible((enum tt_type)from, (enum tt_type)to) != expected)
                fail_msg("%s to %s", tt_type_name((enum tt_type)from), tt_type_name((enum tt_type)to));
        }
}

static void test_floats(void **state)
{
    (void)state;
    struct tt_conversion c = {TUTTI_TYPE_FLOAT64, TUTTI_TYPE_FLOAT64, true, 1.8, 32, NULL, 0};
    double from[] = {100, -40, 0}, to[3];
    float narrow[3];
    assert_ok(tt_conversion_apply(&c, from, to, 3));
    assert_same_double(to[0], 1.8 * 100 + 32);
    assert_same_double(to[1], -40);
    assert_same_double(to[2], 32);
    c.to = TUTTI_TYPE_FLOAT32;
    c.linear = false;
    assert_ok(tt_conversion_apply(&c, from, narrow, 3));
    assert_true(narrow[1] == -40.0f);
    c.from = TUTTI_TYPE_FLOAT32;
    c.to = TUTTI_TYPE_FLOAT64;
    assert_ok(tt_conversion_apply(&c, narrow, to, 3));
    assert_same_double(to[1], -40);
    assert_false(tt_conversion_is_identity(&c));
    c.to = TUTTI_TYPE_FLOAT32;
    assert_true(tt_conversion_is_identity(&c));
}

static void test_rounding(void **state)
{
    (void)state;
    struct tt_conversion c = {.from = TUTTI_TYPE_FLOAT64, .to = TUTTI_TYPE_INT32, .linear = true, .factor = 2};
    double from[] = {0.25, -1.75, 1e300, NAN};
    int32_t to[2];
    bool truth[2];
    assert_ok(tt_conversion_apply(&c, from, to, 2));
    assert_int_equal(to[0], 1);
    assert_int_equal(to[1], -4);
    assert_fails(tt_conversion_apply(&c, from + 2, to, 1), TUTTI_ERR_LIMIT, "does not fit into Int32");
    assert_fails(tt_conversion_apply(&c, from + 3, to, 1), TUTTI_ERR_LIMIT, "does not fit into Int32");
    c.to = TUTTI_TYPE_BOOLEAN;
    c.offset = -0.1;
    assert_ok(tt_conversion_apply(&c, from, truth, 2));
    assert_false(truth[0]);
    assert_true(truth[1]);
    assert_fails(tt_conversion_apply(&c, from + 3, truth, 1), TUTTI_ERR_LIMIT, "does not fit into Boolean");
    c = (struct tt_conversion){.from = TUTTI_TYPE_INT32, .to = TUTTI_TYPE_BOOLEAN};
    assert_ok(tt_conversion_apply(&c, to, truth, 2));
    assert_true(truth[1]);
}

static void test_integers(void **state)
{
    (void)state;
    struct tt_conversion c = {.from = TUTTI_TYPE_INT64, .to = TUTTI_TYPE_UINT8};
    int64_t wide[] = {0, 255, 256, -1, INT64_MIN};
    uint8_t small[2];
    uint64_t largest = UINT64_MAX, same = 0;
    int64_t from_large = 0;
    double number = 0;
    assert_ok(tt_conversion_apply(&c, wide, small, 2));
    assert_int_equal(small[1], 255);
    assert_fails(tt_conversion_apply(&c, wide + 2, small, 1), TUTTI_ERR_LIMIT, "256 does not fit into UInt8");
    assert_fails(tt_conversion_apply(&c, wide + 3, small, 1), TUTTI_ERR_LIMIT, "-1 does not fit into UInt8");
    c.to = TUTTI_TYPE_UINT64;
    assert_fails(tt_conversion_apply(&c, wide + 4, &same, 1), TUTTI_ERR_LIMIT,
                 "-9223372036854775808 does not fit into UInt64");
    c = (struct tt_conversion){.from = TUTTI_TYPE_UINT64, .to = TUTTI_TYPE_INT64};
    assert_fails(tt_conversion_apply(&c, &largest, &from_large, 1), TUTTI_ERR_LIMIT,
                 "18446744073709551615 does not fit");
    c.to = TUTTI_TYPE_UINT64;
    assert_ok(tt_conversion_apply(&c, &largest, &same, 1));
    assert_true(same == UINT64_MAX);
    c = (struct tt_conversion){
        .from = TUTTI_TYPE_UINT64, .to = TUTTI_TYPE_FLOAT64, .linear = true, .factor = 2, .offset = 1};
    assert_ok(tt_conversion_apply(&c, &largest, &number, 1));
    assert_same_double(number, 2 * 18446744073709551615.0 + 1);
    c = (struct tt_conversion){.from = TUTTI_TYPE_ENUMERATION, .to = TUTTI_TYPE_INT64};
    assert_ok(tt_conversion_apply(&c, wide + 1, &from_large, 1));
    assert_int_equal(from_large, 255);
}

static void test_maps(void **state)
{
    (void)state;
    static const tt_wide from[] = {-3, 0, 5}, to[] = {100, 1, 5000};
    struct tt_value_map map = {from, to, 3};
    struct tt_conversion c = {.from = TUTTI_TYPE_INT32, .to = TUTTI_TYPE_INT16, .maps = &map, .map_count = 1};
    int32_t values[] = {-3, 0, 5, 4, -4, 6};
    int16_t results[6];
    assert_ok(tt_conversion_apply(&c, values, results, 6));
    static const int16_t expected[] = {100, 1, 5000, 4, -4, 6};
    for (int i = 0; i < 6; i++)
        assert_int_equal(results[i], expected[i]);
    c.to = TUTTI_TYPE_INT8; /* what the map says does not fit any more */
    assert_fails(tt_conversion_apply(&c, values + 2, results, 1), TUTTI_ERR_LIMIT, "5000 does not fit into Int8");
}

static void test_units(void **state)
{
    (void)state;
    double factor, offset;
    bool known;
    struct tt_unit_def kelvin = {.name = "K", .has_base = true, .exponents = {0, 0, 0, 0, 1}, .factor = 1};
    struct tt_unit_def fahrenheit = kelvin, metre = {.name = "m", .has_base = true, .exponents = {0, 1}, .factor = 1};
    struct tt_unit_def odd = {.name = "odd"}, other = {.name = "other"}, same = {.name = "odd"};
    fahrenheit.name = "degF";
    fahrenheit.factor = 5.0 / 9.0;
    fahrenheit.offset = 459.67 * 5 / 9;
    assert_ok(tt_conversion_units(&fahrenheit, &kelvin, &factor, &offset, &known));
    assert_near(factor * 212 + offset, 373.15, 1e-12);
    assert_true(known);
    assert_ok(tt_conversion_units(&kelvin, &fahrenheit, &factor, &offset, &known));
    assert_near(factor * 373.15 + offset, 212, 1e-12);
    assert_fails(tt_conversion_units(&kelvin, &metre, &factor, &offset, &known), TUTTI_ERR_ARGUMENT,
                 "the units 'K' and 'm' measure different things");
    assert_ok(tt_conversion_units(&odd, &other, &factor, &offset, &known));
    assert_false(known);
    assert_ok(tt_conversion_units(&odd, &same, &factor, &offset, &known));
    assert_true(known);
    assert_ok(tt_conversion_units(&odd, &kelvin, &factor, &offset, &known));
    assert_false(known);
    assert_ok(tt_conversion_units(NULL, &kelvin, &factor, &offset, &known));
    assert_true(known && factor == 1 && offset == 0);
    metre.factor = 0;
    struct tt_unit_def inch = metre;
    inch.factor = 0.0254;
    assert_fails(tt_conversion_units(&inch, &metre, &factor, &offset, &known), TUTTI_ERR_ARGUMENT, "has the factor 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_possible), cmocka_unit_test(test_floats), cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_integers), cmocka_unit_test(test_maps),   cmocka_unit_test(test_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
