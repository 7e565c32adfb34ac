/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "description.h"
#include "model/system/setting.h"

static const char text[] =
    "<?xml version=\"1.0\"?><fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\">"
    "<CoSimulation modelIdentifier=\"m\"/>"
    "<TypeDefinitions><EnumerationType name=\"Mode\"><Item name=\"off\" value=\"0\"/><Item name=\"on\" value=\"4\"/>"
    "</EnumerationType></TypeDefinitions>"
    "<ModelVariables>"
    "<Float64 name=\"time\" valueReference=\"0\" causality=\"independent\"/>"
    "<Float64 name=\"mass\" valueReference=\"1\" causality=\"parameter\" start=\"1\" min=\"0\" max=\"10\"/>"
    "<Float32 name=\"f\" valueReference=\"2\" causality=\"parameter\" start=\"1\"/>"
    "<Int8 name=\"i8\" valueReference=\"3\" causality=\"parameter\" start=\"1\"/>"
    "<UInt64 name=\"u64\" valueReference=\"4\" causality=\"parameter\" start=\"1\"/>"
    "<Int64 name=\"i64\" valueReference=\"5\" causality=\"parameter\" start=\"1\"/>"
    "<Boolean name=\"b\" valueReference=\"6\" causality=\"parameter\" start=\"false\"/>"
    "<Enumeration name=\"e\" valueReference=\"7\" causality=\"parameter\" start=\"0\" declaredType=\"Mode\"/>"
    "<String name=\"s\" valueReference=\"8\" causality=\"parameter\"><Start value=\"\"/></String>"
    "<Binary name=\"bin\" valueReference=\"9\" causality=\"parameter\"><Start value=\"00\"/></Binary>"
    "<Float64 name=\"a\" valueReference=\"10\" causality=\"parameter\" start=\"0 0 0 0 0 0\">"
    "<Dimension start=\"2\"/><Dimension start=\"3\"/></Float64>"
    "<Float64 name=\"y\" valueReference=\"11\" causality=\"output\"/>"
    "<Float64 name=\"c\" valueReference=\"12\" causality=\"output\" variability=\"constant\" start=\"3\"/>"
    "<Float64 name=\"u\" valueReference=\"13\" causality=\"input\" start=\"0\"/>"
    "<UInt8 name=\"u8\" valueReference=\"14\" causality=\"parameter\" start=\"1\" variability=\"fixed\"/>"
    "</ModelVariables><ModelStructure><Output valueReference=\"11\"/></ModelStructure></fmiModelDescription>";

struct fixture {
    struct tt_description *desc;
    struct tt_arena arena;
    struct tt_setting setting;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){.desc = description(text)};
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    tt_arena_fini(&f->arena);
    tt_description_free(f->desc);
    return 0;
}

static enum tutti_err set(struct fixture *f, const char *given)
{
    return tt_setting_read(&f->setting, &f->arena, f->desc, "unit", given);
}

static void test_numbers(void **state)
{
    struct fixture *f = *state;
    assert_ok(set(f, "mass=2.5e0"));
    assert_same_double(*(const double *)f->setting.values, 2.5);
    assert_ok(set(f, "unit.mass= 3 "));
    assert_same_double(*(const double *)f->setting.values, 3);
    assert_ok(set(f, "f=0.1"));
    assert_true(*(const float *)f->setting.values == 0.1f);
    assert_ok(set(f, "i8=-128"));
    assert_int_equal(*(const int8_t *)f->setting.values, -128);
    assert_ok(set(f, "u64=18446744073709551615"));
    assert_true(*(const uint64_t *)f->setting.values == UINT64_MAX);
    assert_ok(set(f, "i64=-9223372036854775808"));
    assert_true(*(const int64_t *)f->setting.values == INT64_MIN);
    assert_ok(set(f, "u=7"));
}

static void test_other_types(void **state)
{
    struct fixture *f = *state;
    assert_ok(set(f, "b=true"));
    assert_true(*(const bool *)f->setting.values);
    assert_ok(set(f, "b=0"));
    assert_false(*(const bool *)f->setting.values);
    assert_ok(set(f, "e=on"));
    assert_int_equal(*(const int64_t *)f->setting.values, 4);
    assert_ok(set(f, "e=0"));
    assert_int_equal(*(const int64_t *)f->setting.values, 0);
    assert_ok(set(f, "s=a=b, c"));
    assert_string_equal(*(const char *const *)f->setting.values, "a=b, c");
    assert_ok(set(f, "bin=00fFA0"));
    const struct tt_bytes *bytes = f->setting.values;
    assert_int_equal(bytes->size, 3);
    assert_memory_equal(bytes->data, "\x00\xff\xa0", 3);
}

static void test_arrays(void **state)
{
    struct fixture *f = *state;
    assert_ok(set(f, "a=1 2,3, 4 5 6"));
    assert_int_equal(f->setting.count, 6);
    assert_int_equal(f->setting.element.count, 0);
    assert_same_double(((const double *)f->setting.values)[5], 6);
    assert_ok(set(f, "a=0"));
    assert_int_equal(f->setting.count, 1);
    assert_ok(set(f, "a[2,1]=9"));
    assert_int_equal(f->setting.element.count, 2);
    assert_int_equal(f->setting.element.index[0], 2);
    assert_int_equal(f->setting.element.index[1], 1);
    assert_fails(set(f, "a[1,-1]=9"), TUTTI_ERR_ARGUMENT, "no element");
    assert_fails(set(f, "a[99999999999999999999,1]=9"), TUTTI_ERR_ARGUMENT, "no element");
    assert_fails(set(f, "a[0,1]=9"), TUTTI_ERR_ARGUMENT, "no element");
    assert_fails(set(f, "a[1]=9"), TUTTI_ERR_ARGUMENT, "2 dimensions");
    assert_fails(set(f, "a[1,1]]=9"), TUTTI_ERR_ARGUMENT, "no element");
    assert_fails(set(f, "mass[1]=9"), TUTTI_ERR_ARGUMENT, "no element");
    assert_fails(set(f, "a=1 x"), TUTTI_ERR_ARGUMENT, "a number");
}

static void test_refusals(void **state)
{
    struct fixture *f = *state;
    assert_fails(set(f, "mss=1"), TUTTI_ERR_ARGUMENT, "did you mean 'mass'?");
    assert_fails(set(f, "completely_different=1"), TUTTI_ERR_ARGUMENT, "tutti info");
    assert_fails(set(f, "mass"), TUTTI_ERR_ARGUMENT, "NAME=VALUE");
    assert_fails(set(f, "=1"), TUTTI_ERR_ARGUMENT, "NAME=VALUE");
    assert_fails(set(f, "mass=heavy"), TUTTI_ERR_ARGUMENT, "a number, not 'heavy'");
    assert_fails(set(f, "mass="), TUTTI_ERR_ARGUMENT, "a number");
    assert_fails(set(f, "mass=11"), TUTTI_ERR_ARGUMENT, "from 0 to 10");
    assert_fails(set(f, "mass=-1"), TUTTI_ERR_ARGUMENT, "from 0 to 10");
    assert_fails(set(f, "i8=128"), TUTTI_ERR_ARGUMENT, "from -128 to 127");
    assert_fails(set(f, "u8=-1"), TUTTI_ERR_ARGUMENT, "from 0 to 255");
    assert_fails(set(f, "i8=1.5"), TUTTI_ERR_ARGUMENT, "whole numbers");
    assert_fails(set(f, "f=1e300"), TUTTI_ERR_ARGUMENT, "Float32");
    assert_fails(set(f, "b=maybe"), TUTTI_ERR_ARGUMENT, "true, false");
    assert_fails(set(f, "e=broken"), TUTTI_ERR_ARGUMENT, "off (0), on (4)");
    assert_fails(set(f, "e=2"), TUTTI_ERR_ARGUMENT, "one of");
    assert_fails(set(f, "bin=abc"), TUTTI_ERR_ARGUMENT, "hexadecimal");
    assert_fails(set(f, "y=1"), TUTTI_ERR_ARGUMENT, "calculated");
    assert_fails(set(f, "c=1"), TUTTI_ERR_ARGUMENT, "constant");
    assert_fails(set(f, "time=1"), TUTTI_ERR_ARGUMENT, "start");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_arrays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
