/* SPDX-License-Identifier: MIT */
/* Units and transformations, along one connection and along many. */
#include "system_test.h"

static void test_units(void **state)
{
    struct fixture *f = *state;
#define OUTPUTS                                                                                                        \
    "<M n='a'><C><c n='y' k='output'/><c n='y_K' k='output'/><c n='y_degC' k='output'/><c n='y_mm' k='output'/>"       \
    "<c n='y_strange' k='output'/><c n='iy' k='output'/></C></M>"
#define INPUTS                                                                                                         \
    "<M n='b'><C><c n='u' k='input'/><c n='u_K' k='input'/><c n='u_degC' k='input'/><c n='u_m' k='input'/>"            \
    "<c n='u_odd' k='input'/></C></M>"
    load_clean(f, "<s n='s'><E>" OUTPUTS INPUTS "</E><X><x f='a.y_K' t='b.u_degC'/><x f='a.y_degC' t='b.u_K'/>"
                  "<x f='a.y_mm' t='b.u_m'/><x f='a.y_K' t='b.u'/></X></s>");
    assert_connections(f, "a.y_K->b.u a.y_degC->b.u_K*1+273.15 a.y_K->b.u_degC*1-273.15 a.y_mm->b.u_m*0.001+0");
    /* No unit at one end: as it is. No unit of an integer. */
    load_clean(f, "<s n='s'><E>" OUTPUTS INPUTS "</E><X><x f='a.y' t='b.u_degC'/><x f='a.iy' t='b.u_m'/></X></s>");
    assert_connections(f, "a.y->b.u_degC a.iy->b.u_m");
    assert_ok(load_text(f, "<s n='s'><E>" OUTPUTS INPUTS
                           "</E><X>\n<x f='a.y_K' t='b.u_m'/>\n<x f='a.y_strange' t='b.u_odd'/></X></s>"));
    assert_found(f, 1, 1, "error s.ssd:2: 'a.y_K' to 'b.u_m': the units 'K' and 'm' measure different things");
    assert_found(f, 1, 1, "warning s.ssd:3: 'a.y_strange' to 'b.u_odd': it is unknown how their units relate");
    assert_string_equal(connections(f), "a.y_strange->b.u_odd");
    load_clean(f,
               "<s n='s'><E>" OUTPUTS INPUTS "</E><X><x f='a.y_K' t='b.u_m' suppressUnitConversion='true'/></X></s>");
    assert_connections(f, "a.y_K->b.u_m");
}

static void test_units_of_connectors(void **state)
{
    struct fixture *f = *state;
    /* The connector's unit is above the FMU's, with a warning if they differ. */
    assert_ok(load_text(f, "<s n='s'><E><M n='a'><C>\n<c n='y_K' k='output'><ssc:Real unit='degC'/></c></C></M>"
                           "<M n='b'><C><c n='u_K' k='input'><ssc:Real unit='K'/></c></C></M></E>"
                           "<X><x f='a.y_K' t='b.u_K'/></X></s>"));
    assert_found(f, 0, 1, "warning s.ssd:2: the connector 'a.y_K' has the unit 'degC', the FMU's variable 'K'");
    assert_connections(f, "a.y_K->b.u_K*1+273.15");
    /* And it gives one to a variable that has none. */
    load_clean(f, "<s n='s'><E><M n='a'><C><c n='y' k='output'><ssc:Real unit='mm'/></c></C></M>"
                  "<M n='b'><C><c n='u_m' k='input'/></C></M></E><X><x f='a.y' t='b.u_m'/></X></s>");
    assert_connections(f, "a.y->b.u_m*0.001+0");
}

static void test_units_on_the_way(void **state)
{
    struct fixture *f = *state;
#define THROUGH(in, out)                                                                                               \
    "<s n='s'><E><M n='a'><C><c n='y_mm' k='output'/></C></M><M n='b'><C><c n='u_m' k='input'/><c n='u' "              \
    "k='input'/></C></M>"                                                                                              \
    "<s n='t'><C><c n='i' k='input'>" in "</c><c n='o' k='output'>" out "</c></C><X><x f='i' t='o'/></X></s></E>"      \
    "<X><x f='a.y_mm' t='t.i'/><x f='t.o' t='b.u_m'/><x f='t.o' t='b.u'/></X></s>"
    /* A connector without a unit hands on that of what comes in. */
    load_clean(f, THROUGH("<ssc:Real/>", ""));
    assert_connections(f, "a.y_mm->b.u a.y_mm->b.u_m*0.001+0");
    load_clean(f, THROUGH("", "<ssc:Real unit='m'/>"));
    assert_connections(f, "a.y_mm->b.u*0.001+0 a.y_mm->b.u_m*0.001+0");
    assert_ok(load_text(f, THROUGH("", "<ssc:Real unit='K'/>")));
    assert_found(f, 1, 0, "'t.i' to 't.o': the units 'mm' and 'K' measure different things");
    assert_string_equal(connections(f), "");
    /* Ports have the unit of their connector, or of what they are connected to. */
    load_clean(f, "<s n='s'><C><c n='i' k='input'><ssc:Real unit='mm'/></c><c n='o' k='output'/></C><E>"
                  "<M n='a'><C><c n='y_K' k='output'/><c n='u_m' k='input'/></C></M></E>"
                  "<X><x f='i' t='a.u_m'/><x f='a.y_K' t='o'/></X></s>");
    assert_connections(f, "i->a.u_m*0.001+0 a.y_K->o");
    assert_string_equal(f->system->inputs[0].unit->name, "mm");
    assert_same_double(f->system->inputs[0].unit->factor, 0.001);
    assert_string_equal(f->system->outputs[0].unit->name, "K");
}

static void test_linear(void **state)
{
    struct fixture *f = *state;
#define ONE(from, to, more)                                                                                            \
    "<s n='s'><E><M n='a'><C><c n='" from "' k='output'/></C></M><M n='b'><C><c n='" to                                \
    "' k='input'/></C></M></E><X>\n"                                                                                   \
    "<x f='a." from "' t='b." to "' " more "</x></X></s>"
    load_clean(f, ONE("y", "u", "><L factor='2' offset='3'/>"));
    assert_connections(f, "a.y->b.u*2+3");
    /* First the unit, then the transformation; or instead of it. */
    load_clean(f, ONE("y_degC", "u_K", "><L factor='2' offset='3'/>"));
    assert_connections(f, "a.y_degC->b.u_K*2+549.3");
    load_clean(f, ONE("y_degC", "u_K", "suppressUnitConversion='true'><L factor='2' offset='3'/>"));
    assert_connections(f, "a.y_degC->b.u_K*2+3");
    assert_ok(load_text(f, ONE("iy", "iu", "><L factor='2'/>")));
    assert_found(f, 1, 0,
                 "error s.ssd:2: 'a.iy' to 'b.iu': its LinearTransformation is for Real and Float, but the values are "
                 "Int32, unless they "
                 "may be rounded: convert");
    /* Along a path they are folded; scaled by hand, a value has no unit any more. */
    load_clean(
        f, "<s n='s'><E><M n='a'><C><c n='y_degC' k='output'/></C></M><M n='b'><C><c n='u_K' k='input'/></C></M>"
           "<s n='t'><C><c n='i' k='input'/><c n='o' k='output'/></C><X><x f='i' t='o'><L factor='10'/></x></X></s></E>"
           "<X><x f='a.y_degC' t='t.i'><L offset='1'/></x><x f='t.o' t='b.u_K'><L factor='2' offset='5'/></x></X></s>");
    assert_connections(f, "a.y_degC->b.u_K*20+25");
}

static int64_t converted(const struct tt_conversion *conversion, int64_t value)
{
    int64_t result = 0;
    int32_t small = (int32_t)value, small_result = 0;
    assert_non_null(conversion);
    if (conversion->from == TUTTI_TYPE_INT32) {
        assert_ok(tt_conversion_apply(conversion, &small, &small_result, 1));
        return small_result;
    }
    assert_ok(tt_conversion_apply(conversion, &value, &result, 1));
    return result;
}

static void test_maps(void **state)
{
    struct fixture *f = *state;
    bool in = true, out = true;
    load_clean(f, ONE("b_y", "b_u",
                      "><ssc:BooleanMappingTransformation><ssc:MapEntry source='true' target='false'/>"
                      "<ssc:MapEntry source='false' target='true'/></ssc:BooleanMappingTransformation>"));
    assert_ok(tt_conversion_apply(f->system->connections[0].conversion, &in, &out, 1));
    assert_false(out);
#define MAP(s1, t1, s2, t2)                                                                                            \
    "<ssc:MapEntry source='" s1 "' target='" t1 "'/><ssc:MapEntry source='" s2 "' target='" t2 "'/>"
#define INTEGERS(s1, t1, s2, t2)                                                                                       \
    "<ssc:IntegerMappingTransformation>" MAP(s1, t1, s2, t2) "</ssc:IntegerMappingTransformation>"
#define NAMES(s1, t1, s2, t2)                                                                                          \
    "<ssc:EnumerationMappingTransformation>" MAP(s1, t1, s2, t2) "</ssc:EnumerationMappingTransformation>"
    load_clean(f, ONE("iy", "iu", ">" INTEGERS("7", "-1", "2", "9")));
    assert_int_equal(converted(f->system->connections[0].conversion, 7), -1);
    assert_int_equal(converted(f->system->connections[0].conversion, 2), 9);
    assert_int_equal(converted(f->system->connections[0].conversion, 5), 5); /* not in the table: it stays */
    /* By the names of the items at both ends. */
    load_clean(f, ONE("ey", "lu", ">" NAMES("green", "go", "red", "stop")));
    assert_int_equal(converted(f->system->connections[0].conversion, 2), 20);
    assert_int_equal(converted(f->system->connections[0].conversion, 1), 10);
    assert_int_equal(converted(f->system->connections[0].conversion, 4), 4);
    /* The enumeration that a connector names is above the FMU's. */
    load_clean(f, "<s n='s'><E><M n='a'><C><c n='ey' k='output'><ssc:Enumeration name='Paint'/></c></C></M><M n='b'><C>"
                  "<c n='lu' k='input'/></C></M></E><X><x f='a.ey' t='b.lu'>" NAMES("gruen", "go", "rot",
                                                                                    "stop") "</x></X></s>");
    assert_int_equal(converted(f->system->connections[0].conversion, 3), 20);
    /* One map after the other. */
    load_clean(f, "<s n='s'><E><M n='a'><C><c n='iy' k='output'/></C></M><M n='b'><C><c n='iu' k='input'/></C></M>"
                  "<s n='t'><C><c n='i' k='input'/><c n='o' k='output'/></C><X><x f='i' t='o'>" INTEGERS(
                      "5", "6", "6", "5") "</x></X></s></E>"
                                          "<X><x f='a.iy' t='t.i'>" INTEGERS("1", "5", "2",
                                                                             "6") "</x><x f='t.o' t='b.iu'/></X></s>");
    assert_int_equal(converted(f->system->connections[0].conversion, 1), 6);
    assert_int_equal(converted(f->system->connections[0].conversion, 2), 5);
    assert_int_equal(f->system->connections[0].conversion->map_count, 2);
}

static void test_wrong_maps(void **state)
{
    struct fixture *f = *state;
    assert_ok(load_text(f, ONE("y", "u", ">" INTEGERS("1", "2", "3", "4"))));
    assert_found(
        f, 1, 0,
        "error s.ssd:2: 'a.y' to 'b.u': its IntegerMappingTransformation is for integers and enumerations, but "
        "the values are Float64");
    assert_ok(load_text(f, ONE("iy", "iu", ">" NAMES("red", "x", "green", "y"))));
    assert_found(f, 1, 0, "its EnumerationMappingTransformation is for enumerations, but the values are Int32");
    assert_ok(load_text(f, ONE("ey", "lu", ">" NAMES("violet", "go", "red", "stop"))));
    assert_found(f, 1, 0, "its mapping names 'violet', which is no item of the enumeration at the source");
    assert_ok(load_text(f, ONE("ey", "lu", ">" NAMES("red", "halt", "green", "go"))));
    assert_found(f, 1, 0, "its mapping names 'halt', which is no item of the enumeration at the destination");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_units, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_units_of_connectors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_units_on_the_way, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_linear, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_maps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_maps, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
