/* SPDX-License-Identifier: MIT */
/* Parameter values. */
#include "ssp_helper.h"

SSP_READER(ssv)

/* Parameters begin in line 3. */
#define TOP(version, content)                                                                                          \
    "<ssv:ParameterSet" SPACES " version='" version "' name='set'>\n" content "</ssv:ParameterSet>\n"
#define SET(content) TOP("2.0", "<ssv:Parameters>\n" content "</ssv:Parameters>\n")
#define SET1(content) TOP("1.0", "<ssv:Parameters>\n" content "</ssv:Parameters>\n")
#define ONE(content) SET("<ssv:Parameter name='p'>" content "</ssv:Parameter>\n")

static void test_values(void **state)
{
    (void)state;
    struct tt_ssv *ssv = read_ssv(TOP(
        "2.0", "<ssv:Parameters>\n"
               "<ssv:Parameter name='r'><ssv:Real value=' 1.5e3 ' unit='m'/></ssv:Parameter>\n"
               "<ssv:Parameter name='a'><ssv:Float32 value='1\n2\t-3  INF 5 NaN'/><ssc:Dimension size='2'/>"
               "<ssc:Dimension size='3'/></ssv:Parameter>\n"
               "<ssv:Parameter name='b'><ssv:Boolean value='true 0'/><ssc:Dimension size='2'/></ssv:Parameter>\n"
               "<ssv:Parameter name='s'><ssv:String value=' two words '/></ssv:Parameter>\n"
               "<ssv:Parameter name='t'><ssv:String><ssv:Value value=''/><ssv:Value value='b c'/></ssv:String>"
               "<ssc:Dimension size='2'/></ssv:Parameter>\n"
               "<ssv:Parameter name='e'><ssv:Enumeration name='gear' value='first'/></ssv:Parameter>\n"
               "<ssv:Parameter name='f'><ssv:Enumeration value='second gear'/></ssv:Parameter>\n"
               "<ssv:Parameter name='x'><ssv:Binary mime-type='a/b' value='00fF'/></ssv:Parameter>\n"
               "<ssv:Parameter name='u'><ssv:UInt64 value='18446744073709551615'/></ssv:Parameter>\n"
               "<ssv:Parameter name='n'><ssv:Float64 value=''/><ssc:Dimension size='0'/></ssv:Parameter>\n"
               "<ssv:Parameter name='i' id='i' description='d'><ssv:Integer value='-2147483648'/>"
               "<ssv:Annotations/></ssv:Parameter>\n"
               "</ssv:Parameters>\n<ssv:Enumerations><ssc:Enumeration name='gear'><ssc:Item name='first' value='1'/>"
               "</ssc:Enumeration></ssv:Enumerations><ssv:Units><ssc:Unit name='m'><ssc:BaseUnit m='1'/></ssc:Unit>"
               "</ssv:Units><ssc:MetaData/><ssv:Annotations/>"));
    expect_clean();
    assert_string_equal(ssv->name, "set");
    assert_int_equal(ssv->count, 11);
    const struct tt_ssp_parameter *p = ssv->parameters;
    assert_string_equal(p[0].values[0], "1.5e3");
    assert_string_equal(p[0].type.unit, "m");
    assert_true(p[0].type.loose);
    assert_int_equal(p[0].dimension_count, 0);
    assert_int_equal(p[0].line, 3);
    assert_int_equal(p[1].value_count, 6);
    assert_string_equal(p[1].values[2], "-3");
    assert_string_equal(p[1].values[5], "NaN");
    assert_int_equal(p[1].dimension_count, 2);
    assert_int_equal(p[1].dimensions[1].size, 3);
    assert_int_equal(p[2].value_count, 2);
    assert_string_equal(p[3].values[0], " two words ");
    assert_int_equal(p[4].value_count, 2);
    assert_string_equal(p[4].values[0], "");
    assert_string_equal(p[4].values[1], "b c");
    assert_string_equal(p[5].type.enumeration, "gear");
    assert_null(p[6].type.enumeration);
    assert_string_equal(p[6].values[0], "second gear");
    assert_string_equal(p[7].type.mime_type, "a/b");
    assert_int_equal(p[9].value_count, 0);
    assert_int_equal(p[10].type.type, TUTTI_TYPE_INT32);
    assert_non_null(tt_ssp_reader_find_unit(&ssv->scope, "m"));
    assert_non_null(tt_ssp_reader_find_enum(&ssv->scope, "gear"));
    tt_ssv_free(ssv);
    tt_ssv_free(NULL);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct odd cases[] = {
        {"<ssm:ParameterMapping" SPACES "/>", 1, "expected <ssv:ParameterSet>"},
        {"<ssv:ParameterSet" SPACES " version='1.0'/>", 1, "name is missing"},
        {SET("<ssv:Parameter/>"), 3, "name is missing"},
        {SET("<ssv:Parameter name='p'/>"), 3, "<Parameter> \"p\": it has no value"},
        {ONE("<ssv:Clock/>"), 3, "it has no value"},
        {ONE("<ssv:Real/>"), 3, "value is missing"},
        {ONE("<ssv:Real value=''/>"), 3, "it has no value"},
        {ONE("<ssv:Real value='1,5'/>"), 3, "value is \"1,5\", expected a number"},
        {ONE("<ssv:Real value='1 2'/>"), 3, "it has 2 values, but no dimension; add <ssc:Dimension size=\"2\"/>"},
        {ONE("<ssv:Real value='1 2'/><ssc:Dimension size='3'/>"), 3, "it has 2 values, and its dimensions ask for 3"},
        {ONE("<ssv:Real value='1'/><ssc:Dimension size='4294967296'/><ssc:Dimension size='4294967296'/>"), 3,
         "too large"},
        {ONE("<ssv:Real value='1'/><ssc:Dimension/>"), 3, "add the attribute size"},
        {ONE("<ssv:Real value='1'/><ssc:Dimension sizeConnector='n'/>"), 3, "must be a number here"},
        {ONE("<ssv:Real value='1'/><ssv:Integer value='1'/>"), 3, "only one of them can be meant"},
        {ONE("<ssv:Integer value='1.0'/>"), 3, "a whole number that fits the type"},
        {ONE("<ssv:Integer value='2147483648'/>"), 3, "fits the type"},
        {ONE("<ssv:Int8 value='-129'/>"), 3, "fits the type"},
        {ONE("<ssv:UInt8 value='-1'/>"), 3, "fits the type"},
        {ONE("<ssv:UInt8 value='x'/>"), 3, "fits the type"},
        {ONE("<ssv:UInt16 value='65536'/>"), 3, "fits the type"},
        {ONE("<ssv:Int64 value='9223372036854775808'/>"), 3, "fits the type"},
        {ONE("<ssv:UInt64 value='18446744073709551616'/>"), 3, "fits the type"},
        {ONE("<ssv:Boolean value='TRUE'/>"), 3, "expected true or false"},
        {ONE("<ssv:Binary value='abc'/>"), 3, "hexadecimal"},
        {ONE("<ssv:Binary value='xy'/>"), 3, "hexadecimal"},
        {ONE("<ssv:String/>"), 3, "it has no value"},
        {ONE("<ssv:String value='a'><ssv:Value value='b'/></ssv:String>"), 3, "remove one or the other"},
        {ONE("<ssv:String><ssv:Value/></ssv:String>"), 3, "<Value>: the attribute value"},
        {ONE("<ssv:String><ssv:Value value='a'/><ssv:Value value='b'/></ssv:String>"), 3, "no dimension"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse_ssv(cases[i].part, cases[i].line, cases[i].words);
    tt_ssv_free(read_ssv(ONE("<ssv:Int8 value='-0'/>"))); /* a number like others */
}

static void test_warned(void **state)
{
    (void)state;
    static const struct odd cases[] = {
        {TOP("0.9", "<ssv:Parameters/>"), 1, "version is \"0.9\""},
        {TOP("1.0", ""), 1, "<Parameters> is missing"},
        {ONE("<ssv:Real value='1' unit='V'/>"), 3, "unit \"V\""},
        {ONE("<ssv:Real value='1' unit=''/>"), 3, "unit is empty"},
        {ONE("<ssv:Enumeration value='1' name='E'/>"), 3, "not among the <Enumerations>"},
        {ONE("<ssc:Real value='1'/>"), 3, "namespace ssc, expected ssv"},
        {ONE("<ssv:Integer value='1' unit='V'/>"), 3, "unknown attribute unit"},
        {ONE("<ssv:Integer value='1'><ssv:Value/></ssv:Integer>"), 3, "<Value>: unknown element"},
        {SET1("<ssv:Parameter name='p'><ssv:Int8 value='-128'/></ssv:Parameter>"), 3, "of SSP 2.0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tt_ssv_free(read_ssv(cases[i].part));
        expect_only(WARNING, cases[i].line, cases[i].words);
    }
}

/* Names should be unique; where they are not, the last value counts. */
static void test_twice(void **state)
{
    (void)state;
    struct tt_ssv *ssv = read_ssv(SET("<ssv:Parameter name='p'><ssv:Real value='1'/></ssv:Parameter>\n"
                                      "<ssv:Parameter name='q'><ssv:Real value='2'/></ssv:Parameter>\n"
                                      "<ssv:Parameter name='p'><ssv:Integer value='3'/></ssv:Parameter>\n"
                                      "<ssv:Parameter name='r'><ssv:Real value='4'/></ssv:Parameter>\n"));
    expect_only(WARNING, 5, "<Parameter> \"p\": line 3 has a value for the same name");
    assert_int_equal(ssv->count, 3);
    static const char *const names[] = {"p", "q", "r"}, *const values[] = {"3", "2", "4"};
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(ssv->parameters[i].name, names[i]);
        assert_int_equal(ssv->parameters[i].value_count, 1);
        assert_string_equal(ssv->parameters[i].values[0], values[i]);
    }
    tt_ssv_free(ssv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_warned),
        cmocka_unit_test(test_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
