/* SPDX-License-Identifier: MIT */
/* Documents without enough memory: every allocation fails once. */
#include "ssp_helper.h"

#include "scratch.h"
#include "solve/allocations.h"
#include "ssp/package.h"

SSP_READER(ssd)

static const char document[] =
    "<ssd:SystemStructureDescription" SPACES " version='2.0' name='n'><ssd:System name='r' id='i'>"
    "<ssd:Connectors><ssd:Connector name='c' kind='input'><ssc:Real unit='m'/><ssc:Dimension size='2'/></ssd:Connector>"
    "</ssd:Connectors><ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues>"
    "<ssv:ParameterSet version='2.0' name='n'><ssv:Parameters><ssv:Parameter name='p'><ssv:Real value='1 2'/>"
    "<ssc:Dimension size='2'/></ssv:Parameter><ssv:Parameter name='q'><ssv:String><ssv:Value value='s'/></ssv:String>"
    "</ssv:Parameter></ssv:Parameters></ssv:ParameterSet></ssd:ParameterValues><ssd:ParameterMapping>"
    "<ssm:ParameterMapping version='1.0'><ssm:MappingEntry source='p' target='q'><ssc:EnumerationMappingTransformation>"
    "<ssc:MapEntry source='a' target='b'/></ssc:EnumerationMappingTransformation></ssm:MappingEntry>"
    "</ssm:ParameterMapping></ssd:ParameterMapping></ssd:ParameterBinding></ssd:ParameterBindings>"
    "<ssd:Elements><ssd:Component name='a'/></ssd:Elements><ssd:Connections>"
    "<ssd:Connection startConnector='c' endConnector='d' startIndices='1'><ssc:IntegerMappingTransformation>"
    "<ssc:MapEntry source='1' target='2'/></ssc:IntegerMappingTransformation></ssd:Connection></ssd:Connections>"
    "<ssd:SignalDictionaries><ssd:SignalDictionary name='d'><ssb:SignalDictionary version='1.0'>"
    "<ssb:DictionaryEntry name='e'><ssc:Real/></ssb:DictionaryEntry></ssb:SignalDictionary></ssd:SignalDictionary>"
    "</ssd:SignalDictionaries><ssd:Annotations><ssc:Annotation type='t'>text <x/></ssc:Annotation></ssd:Annotations>"
    "</ssd:System><ssd:Enumerations><ssc:Enumeration name='e'><ssc:Item name='i' value='1'/></ssc:Enumeration>"
    "</ssd:Enumerations><ssd:Units><ssc:Unit name='m'><ssc:BaseUnit m='1'/></ssc:Unit></ssd:Units>"
    "</ssd:SystemStructureDescription>";

static enum tutti_err read_and_free(void)
{
    struct tutti_ssd *ssd;
    enum tutti_err err = try_ssd(&ssd, document, sizeof document - 1, SIZE_MAX);
    assert_int_equal(err == TUTTI_OK, ssd != NULL);
    tutti_ssd_free(ssd);
    return err;
}

static void test_reading(void **state)
{
    (void)state;
    enum tutti_err err;
    assert_survives_each(err, err = read_and_free());
    expect_clean();
}

static void test_writing(void **state)
{
    (void)state;
    struct tutti_ssd *ssd = read_ssd(document);
    bool failed;
    failing_allocation = 0;
    do {
        struct tutti_text text = {0};
        allocations = 0;
        failing_allocation++;
        tutti_tree_write(ssd->tree, &text);
        failed = text.failed;
        tutti_text_fini(&text);
    } while (failed);
    assert_true(failing_allocation > 1);
    failing_allocation = 0;
    tutti_ssd_free(ssd);
}

static char folder[64];

static enum tutti_err use_package(void)
{
    struct tutti_package *package;
    struct tutti_place base = {0}, place = {0};
    struct tutti_reader reader = {0};
    enum tutti_err err = tutti_package_open(&package, folder, "shown");
    if (!err)
        err = tutti_package_ssd(package, NULL, &base);
    if (!err)
        err = tutti_package_resolve(package, &base, "resources/x%20y.ssp#V.ssd", &place);
    if (!err)
        err = tutti_place_begin_read(&base, &reader);
    tutti_place_end_read(&reader);
    tutti_place_fini(&place);
    tutti_place_fini(&base);
    tutti_package_free(package);
    return err;
}

static void test_package(void **state)
{
    (void)state;
    struct scratch scratch;
    scratch_init(&scratch);
    copy_text(folder, sizeof folder, scratch.path);
    scratch_write(&scratch, "SystemStructure.ssd", document, sizeof document - 1);
    enum tutti_err err;
    assert_survives_each(err, err = use_package());
    scratch_fini(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_writing),
        cmocka_unit_test(test_package),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
