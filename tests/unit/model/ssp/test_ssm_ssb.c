/* SPDX-License-Identifier: MIT */
/* Parameter mappings and signal dictionaries. */
#include "ssp_helper.h"

SSP_READER(ssm)
SSP_READER(ssb)

/* Their content begins in line 2. */
#define MAPPING(content) "<ssm:ParameterMapping" SPACES " version='1.0'>\n" content "</ssm:ParameterMapping>\n"
#define DICTIONARY(content) "<ssb:SignalDictionary" SPACES " version='2.0'>\n" content "</ssb:SignalDictionary>\n"

static void test_mapping(void **state)
{
    (void)state;
    struct tt_ssm *ssm = read_ssm(
        MAPPING("<ssm:MappingEntry source='a' target='x.a' suppressUnitConversion='true'>\n"
                "<ssc:LinearTransformation offset='3'/></ssm:MappingEntry>\n"
                "<ssm:MappingEntry source='a' target='x.b' id='i' description='one source, two targets'/>\n"
                "<ssm:MappingEntry source='c' target='c'><ssc:IntegerMappingTransformation><ssc:MapEntry source='1' "
                "target='2'/>"
                "</ssc:IntegerMappingTransformation><ssm:Annotations/></ssm:MappingEntry>\n<ssm:Annotations/>\n"));
    expect_clean();
    assert_string_equal(ssm->file, "test.xml");
    assert_int_equal(ssm->count, 3);
    const struct tt_ssp_mapping *m = ssm->mappings;
    assert_string_equal(m[0].source, "a");
    assert_string_equal(m[0].target, "x.a");
    assert_true(m[0].suppress_unit_conversion);
    assert_int_equal(m[0].transformation.kind, TUTTI_SSP_LINEAR);
    assert_int_equal(m[0].transformation.line, 3);
    assert_same(m[0].transformation.factor, 1);
    assert_same(m[0].transformation.offset, 3);
    assert_int_equal(m[1].transformation.kind, TUTTI_SSP_IDENTITY);
    assert_false(m[1].suppress_unit_conversion);
    assert_int_equal(m[1].line, 4);
    assert_int_equal(m[2].transformation.entries[0].target, 2);
    tt_ssm_free(ssm);
    tt_ssm_free(NULL);
}

static void test_mapping_refused(void **state)
{
    (void)state;
    static const struct odd cases[] = {
        {"<ssm:Mapping" SPACES "/>", 1, "expected <ssm:ParameterMapping>"},
        {MAPPING("<ssm:MappingEntry target='a'/>"), 2, "source is missing"},
        {MAPPING("<ssm:MappingEntry source='a'/>"), 2, "target is missing"},
        {MAPPING("<ssm:MappingEntry source='a' target='x'/>\n<ssm:MappingEntry source='b' target='x'/>"), 3,
         "two targets of this mapping are called \"x\", the other one in line 2"},
        {MAPPING("<ssm:MappingEntry source='a' target='b' suppressUnitConversion=''/>"), 2, "expected true or false"},
        {MAPPING("<ssm:MappingEntry source='a' target='b'><ssc:LinearTransformation/><ssc:LinearTransformation/>"
                 "</ssm:MappingEntry>"),
         2, "only one of them"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse_ssm(cases[i].part, cases[i].line, cases[i].words);
    tt_ssm_free(read_ssm(MAPPING("<ssm:Entry/>")));
    expect_only(WARNING, 2, "unknown element inside of <ParameterMapping>");
    tt_ssm_free(read_ssm(MAPPING("<ssm:MappingEntry source='a' target='b' factor='1'/>")));
    expect_only(WARNING, 2, "unknown attribute factor");
}

static void test_dictionary(void **state)
{
    (void)state;
    struct tt_ssb *ssb = read_ssb(DICTIONARY(
        "<ssb:DictionaryEntry name='speed'><ssc:Real unit='m/s'/></ssb:DictionaryEntry>\n"
        "<ssb:DictionaryEntry name='image'><ssc:UInt8/><ssc:Dimension size='640'/><ssc:Dimension size='480'/>"
        "</ssb:DictionaryEntry>\n"
        "<ssb:DictionaryEntry name='tick'><ssc:Clock priority='1'/></ssb:DictionaryEntry>\n"
        "<ssb:Enumerations/><ssb:Units><ssc:Unit name='m/s'><ssc:BaseUnit m='1' s='-1'/></ssc:Unit></ssb:Units>\n"));
    expect_clean();
    assert_int_equal(ssb->count, 3);
    const struct tt_ssp_entry *e = ssb->entries;
    assert_string_equal(e[0].name, "speed");
    assert_string_equal(e[0].type.unit, "m/s");
    assert_int_equal(e[1].type.type, TUTTI_TYPE_UINT8);
    assert_int_equal(e[1].dimension_count, 2);
    assert_int_equal(e[1].dimensions[1].size, 480);
    assert_int_equal(e[2].type.type, TUTTI_TYPE_CLOCK);
    assert_int_equal(e[2].line, 4);
    assert_non_null(tt_ssp_reader_find_unit(&ssb->scope, "m/s"));
    tt_ssb_free(ssb);
    tt_ssb_free(NULL);
}

static void test_dictionary_refused(void **state)
{
    (void)state;
    static const struct odd cases[] = {
        {"<ssd:SignalDictionary" SPACES " version='1.0'/>", 1,
         "not of SSP's namespace; expected <ssb:SignalDictionary"},
        {DICTIONARY("<ssb:DictionaryEntry><ssc:Real/></ssb:DictionaryEntry>"), 2, "name is missing"},
        {DICTIONARY("<ssb:DictionaryEntry name='a'/>"), 2, "its type is missing"},
        {DICTIONARY("<ssb:DictionaryEntry name='a'><ssc:Real/></ssb:DictionaryEntry>\n<ssb:DictionaryEntry name='a'/>"),
         3, "two entries of this dictionary"},
        {DICTIONARY("<ssb:DictionaryEntry name='a'><ssc:Real/><ssc:Integer/></ssb:DictionaryEntry>"), 2,
         "only one of them"},
        {DICTIONARY("<ssb:DictionaryEntry name='a'><ssc:Real/><ssc:Dimension/></ssb:DictionaryEntry>"), 2,
         "add the attribute size"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse_ssb(cases[i].part, cases[i].line, cases[i].words);
    tt_ssb_free(read_ssb(DICTIONARY("<ssb:DictionaryEntry name='a' unit='m'><ssc:Real/></ssb:DictionaryEntry>")));
    expect_only(WARNING, 2, "unknown attribute unit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mapping),
        cmocka_unit_test(test_mapping_refused),
        cmocka_unit_test(test_dictionary),
        cmocka_unit_test(test_dictionary_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
