/* SPDX-License-Identifier: MIT */
/* Units of measure by their names. */
#include "fmu/description/unit_name.h"

#include <math.h>

#include "test.h"

struct expected {
    const char *name;
    double factor, offset;
    int32_t exponents[8]; /* kg m s A K mol cd rad */
};

static void units_by_name(void **state)
{
    (void)state;
    static const struct expected all[] = {
        {"m", 1, 0, {0, 1}},
        {"mm", 1e-3, 0, {0, 1}},
        {"kg", 1, 0, {1}},
        {"Mg", 1e3, 0, {1}},
        {"min", 60, 0, {0, 0, 1}},
        {"ms", 1e-3, 0, {0, 0, 1}},
        {"km/h", 1 / 3.6, 0, {0, 1, -1}},
        {"m/s2", 1, 0, {0, 1, -2}},
        {"m/s^2", 1, 0, {0, 1, -2}},
        {"m.s-2", 1, 0, {0, 1, -2}},
        {"N.m/rad", 1, 0, {1, 2, -2, 0, 0, 0, 0, -1}},
        {"kg.m2", 1, 0, {1, 2}},
        {"cm3", 1e-6, 0, {0, 3}},
        {"kJ/kg/K", 1e3, 0, {0, 2, -2, 0, -1}},
        {"kWh", 3.6e6, 0, {1, 2, -2}},
        {"bar", 1e5, 0, {1, -1, -2}},
        {"mbar", 1e2, 0, {1, -1, -2}},
        {"degC", 1, 273.15, {0, 0, 0, 0, 1}},
        {"1/degC", 1, 0, {0, 0, 0, 0, -1}},
        {"degF", 5.0 / 9, 459.67 * 5 / 9, {0, 0, 0, 0, 1}},
        {"rpm", 3.14159265358979323846 / 30, 0, {0, 0, -1, 0, 0, 0, 0, 1}},
        {"1/min", 1.0 / 60, 0, {0, 0, -1}},
        {"kOhm", 1e3, 0, {1, 2, -3, -2}},
        {"%", 0.01, 0, {0}},
        {"1", 1, 0, {0}},
        {"-", 1, 0, {0}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct tt_unit_def found;
        print_message("%s\n", all[i].name);
        assert_true(tt_unit_name_read(all[i].name, &found));
        assert_true(fabs(found.factor - all[i].factor) <= 1e-14 * all[i].factor);
        assert_true(found.offset == all[i].offset);
        assert_memory_equal(found.exponents, all[i].exponents, sizeof found.exponents);
    }
}

static void unknown_names(void **state)
{
    (void)state;
    static const char *const all[] = {"",  "furlong", "m/", "/s",  "m..s",  "kmin", "m10",
                                      "2", "m^",      "^2", "mmm", "(m/s)", "m-",   "kkg"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct tt_unit_def found;
        print_message("%s\n", all[i]);
        assert_false(tt_unit_name_read(all[i], &found));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(units_by_name), cmocka_unit_test(unknown_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
