/* SPDX-License-Identifier: MIT */
/* Systems from documents that are odd on purpose: what is looked up, picked and refused in them. */
#include "system_test.h"

#define ARRAY "<c n='m' k='parameter'><real/><ssc:Dimension size='2'/><ssc:Dimension size='3'/></c>"
#define VALUES(dimensions) "<B><b><V><v n='m'><r value='1 2 3 4 5 6'/>" dimensions "</v></V></b></B>"
#define TARGET "<E><M n='a'><C><c n='p' k='parameter'/></C></M></E>"

/* An element of an array of the system that has a value, row-major. */
static void test_element_of_a_matrix(void **state)
{
    struct fixture *f = *state;
    load_clean(f, "<s n='r'><C>" ARRAY "</C>" VALUES("<ssc:Dimension size='2'/><ssc:Dimension size='3'/>") TARGET
               "<X><x f='m' startIndices='2 1' t='a.p'/></X></s>");
    assert_float_equal(real_setting(f, "a.p"), 4, 0);
}

/* The values have other dimensions than the indices. */
static void test_element_of_another_shape(void **state)
{
    struct fixture *f = *state;
    assert_ok(load_text(f, "<s n='r'><C>" ARRAY "</C>" VALUES("<ssc:Dimension size='6'/>") TARGET
                        "<X><x f='m' startIndices='2 1' t='a.p'/></X></s>"));
    assert_found(f, 1, 0, "it has no element for the connection to 'a.p'");
}

/* So many dimensions that their number would come around to one. */
static void test_very_many_dimensions(void **state)
{
    struct fixture *f = *state;
    struct tt_text text = {0};
    tt_text_append(&text, "<s n='r'><E><M n='a'/></E><B><b><V><v n='a.au'><r value='1 2 3'/>");
    for (int i = 0; i < 256; i++)
        tt_text_append(&text, "<ssc:Dimension size='1'/>");
    tt_text_append(&text, "<ssc:Dimension size='3'/></v></V></b></B></s>");
    assert_ok(load_text(f, text.text));
    assert_found(f, 1, 0, "it has 1 dimension, the values have 255");
    tt_text_fini(&text);
}

/* Units are found whatever their order, and those that are not there are not. */
static void test_units_in_any_order(void **state)
{
    struct fixture *f = *state;
    load_clean(f,
               "<s n='r'><C><c n='z' k='parameter'><real unit='mm'/></c><c n='t' k='parameter'><real unit='degC'/></c>"
               "</C><B><b><V><v n='z'><r value='5'/></v><v n='t'><r value='20'/></v></V></b></B><E>"
               "<M n='a'><C><c n='p' k='parameter'><real unit='m'/></c><c n='p_K' k='parameter'/></C></M></E>"
               "<X><x f='z' t='a.p'/><x f='t' t='a.p_K'/></X></s>");
    assert_float_equal(real_setting(f, "a.p"), 0.005, 1e-15);
    assert_float_equal(real_setting(f, "a.p_K"), 293.15, 1e-10);
}

/* A number is an item's value unless it is another one's name. */
static void test_items_by_number(void **state)
{
    struct fixture *f = *state;
    load_clean(f, "<s n='r'><E><M n='a'/></E><B><b><V><v n='a.ep'><ssv:Enumeration value='4'/></v></V></b></B></s>");
    assert_int_equal(*(const int64_t *)setting(f, "a.ep")->values, 4);
    assert_ok(load_text(
        f, "<s n='r'><E><M n='a'/></E><B><b><V><v n='a.ep'><ssv:Enumeration value='3'/></v></V></b></B></s>"));
    assert_found(f, 1, 0, "'value' takes one of red (1), green (2), blue (4), not '3'");
}

/* Of two dictionaries of one name the inner one counts; others are found around. */
static void test_dictionaries_of_one_name(void **state)
{
    struct fixture *f = *state;
    load_clean(f, "<s n='r'><D><d n='d'><S><e n='v'><real/></e></S></d><d n='o'><S><e n='w'><real/></e></S></d></D><E>"
                  "<M n='a'><C><c n='y' k='output'/><c n='y2' k='output'/></C></M>"
                  "<R n='r1' dictionary='d'><C><c n='v' k='inout'/></C></R>"
                  "<R n='r2' dictionary='o'><C><c n='w' k='inout'/></C></R>"
                  "<s n='s'><D><d n='d'><S><e n='v'><real/></e></S></d></D><E>"
                  "<M n='b'><C><c n='u' k='input'/><c n='u2' k='input'/></C></M>"
                  "<R n='r1' dictionary='d'><C><c n='v' k='inout'/></C></R>"
                  "<R n='r2' dictionary='o'><C><c n='w' k='inout'/></C></R></E>"
                  "<X><x f='r1.v' t='b.u'/><x f='r2.w' t='b.u2'/></X></s></E>"
                  "<X><x f='a.y' t='r1.v'/><x f='a.y2' t='r2.w'/></X></s>");
    assert_connections(f, "a.y2->s.b.u2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_element_of_a_matrix, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_element_of_another_shape, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_very_many_dimensions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_units_in_any_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_items_by_number, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dictionaries_of_one_name, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
