/* SPDX-License-Identifier: MIT */
/* System structure descriptions, as they should be and as they should not. */
#include "ssp_helper.h"

SSP_READER(ssd)

#define TOP(version, rest) "<ssd:SystemStructureDescription" SPACES " version='" version "' name='doc'>\n" rest
/* The content of the root system begins in line 3, the rest in the line after it. */
#define SYSTEM(content)                                                                                                \
    TOP("2.0", "<ssd:System name='root'>\n" content "</ssd:System>\n</ssd:SystemStructureDescription>\n")
#define SYSTEM1(content)                                                                                               \
    TOP("1.0", "<ssd:System name='root'>\n" content "</ssd:System>\n</ssd:SystemStructureDescription>\n")
#define AROUND(content) TOP("2.0", "<ssd:System name='root'/>\n" content "</ssd:SystemStructureDescription>\n")
#define CONNECTOR(content) SYSTEM("<ssd:Connectors>\n" content "</ssd:Connectors>\n")
#define CONNECTION(content) SYSTEM("<ssd:Connections>\n" content "</ssd:Connections>\n")
#define BINDING(content) SYSTEM("<ssd:ParameterBindings>\n" content "</ssd:ParameterBindings>\n")

static const char whole[] =
    "<?xml version='1.0' encoding='UTF-8'?>\n"
    "<ssd:SystemStructureDescription" SPACES " version='2.0' name='car' id='top' description='d' author='a'\n"
    " fileversion='1' copyright='c' license='l' generationTool='t' generationDateAndTime='2026-01-01T00:00:00Z'\n"
    " xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:schemaLocation='x y'>\n"
    "<ssd:System name='root' id='s'>\n"
    " <ssd:Connectors>\n"
    "  <ssd:Connector name='speed' kind='output'><ssc:Float64 unit='m/s'/><ssd:ConnectorGeometry x='1' y='0'/>\n"
    "   </ssd:Connector>\n"
    "  <ssd:Connector name='mode' kind='input'><ssc:Enumeration name='gear'/></ssd:Connector>\n"
    "  <ssd:Connector name='n' kind='structuralParameter'><ssc:UInt64/></ssd:Connector>\n"
    "  <ssd:Connector name='field' kind='local'><ssc:Real/><ssc:Dimension size='3'/><ssc:Dimension\n"
    "   sizeConnector='n'/><ssc:Dimension/><ssd:Clock name='tick'/><ssd:Clock name='tock'/></ssd:Connector>\n"
    "  <ssd:Connector name='tick' kind='inout'><ssc:Clock intervalVariability='fixed' intervalDecimal='1'/>\n"
    "   </ssd:Connector>\n"
    "  <ssd:Connector name='image' kind='unspecified'><ssc:Binary mime-type='image/png'/></ssd:Connector>\n"
    "  <ssd:Connector name='any' kind='constant'/>\n"
    " </ssd:Connectors>\n"
    " <ssd:ElementGeometry x1='0' y1='0' x2='1' y2='1'/>\n"
    " <ssd:ParameterBindings>\n"
    "  <ssd:ParameterBinding source='resources/a.ssv' sourceBase='component' prefix='A.'>\n"
    "   <ssd:ParameterMapping source='a.ssm' sourceBase='SSD'/></ssd:ParameterBinding>\n"
    "  <ssd:ParameterBinding source=''><ssd:ParameterValues>\n"
    "   <ssv:ParameterSet version='1.0' name='inner'><ssv:Parameters><ssv:Parameter name='p'>\n"
    "    <ssv:Real value='1.5' unit='km'/></ssv:Parameter></ssv:Parameters>\n"
    "    <ssv:Units><ssc:Unit name='km'><ssc:BaseUnit m='1' factor='1000'/></ssc:Unit></ssv:Units>\n"
    "   </ssv:ParameterSet></ssd:ParameterValues>\n"
    "   <ssd:ParameterMapping><ssm:ParameterMapping version='1.0'><ssm:MappingEntry source='p' target='A.p'/>\n"
    "    </ssm:ParameterMapping></ssd:ParameterMapping></ssd:ParameterBinding>\n"
    "  <ssd:ParameterBinding type='text/x-other'><ssd:ParameterValues><other:x xmlns:other='urn:o'/>\n"
    "   </ssd:ParameterValues></ssd:ParameterBinding>\n"
    " </ssd:ParameterBindings>\n"
    " <ssd:Elements>\n"
    "  <ssd:Component name='A' source='resources/a.fmu' implementation='ScheduledExecution'\n"
    "   type='application/x-fmu-sharedlibrary' id='a'><ssd:Annotations><ssc:Annotation type='other'><x xmlns='u'/>\n"
    "   </ssc:Annotation><ssc:Annotation type='org.tutti'> text <y xmlns='u' step='1'/><z xmlns='u'/>\n"
    "   </ssc:Annotation></ssd:Annotations></ssd:Component>\n"
    "  <ssd:System name='sub'><ssd:Elements><ssd:Component name='A' source='#s' implementation='any'/>\n"
    "   </ssd:Elements></ssd:System>\n"
    "  <ssd:SignalDictionaryReference name='bus' dictionary='signals'><ssd:Connectors>\n"
    "   <ssd:Connector name='speed' kind='inout'/></ssd:Connectors></ssd:SignalDictionaryReference>\n"
    "  <foreign:Component xmlns:foreign='urn:f' name='A'/>\n"
    " </ssd:Elements>\n"
    " <ssd:Connections>\n"
    "  <ssd:Connection startElement='A' startConnector='y' endConnector='speed' suppressUnitConversion='1'>\n"
    "   <ssc:LinearTransformation factor='2' offset='-1e-1'/><ssd:ConnectionGeometry pointsX='1' pointsY='2'/>\n"
    "   </ssd:Connection>\n"
    "  <ssd:Connection startConnector='field' startIndices='1 2' endElement='A' endConnector='u' endIndices=' 4 '/>\n"
    "  <ssd:Connection startConnector='mode' endElement='sub' endConnector='m'><ssc:EnumerationMappingTransformation>\n"
    "   <ssc:MapEntry source='first' target='1'/><ssc:MapEntry source='second' target='1'/>\n"
    "   </ssc:EnumerationMappingTransformation></ssd:Connection>\n"
    "  <ssd:Connection startConnector='a' endConnector='b'><ssc:BooleanMappingTransformation>\n"
    "   <ssc:MapEntry source='true' target='0'/><ssc:MapEntry source='0' target='true'/>\n"
    "   </ssc:BooleanMappingTransformation></ssd:Connection>\n"
    "  <ssd:Connection startConnector='a' endConnector='b'><ssc:IntegerMappingTransformation>\n"
    "   <ssc:MapEntry source='-9223372036854775808' target='9223372036854775807'/>\n"
    "   </ssc:IntegerMappingTransformation></ssd:Connection>\n"
    " </ssd:Connections>\n"
    " <ssd:SignalDictionaries>\n"
    "  <ssd:SignalDictionary name='signals'><ssb:SignalDictionary version='2.0'>\n"
    "   <ssb:DictionaryEntry name='speed'><ssc:Real unit='m/s'/></ssb:DictionaryEntry>\n"
    "   <ssb:Units><ssc:Unit name='m/s'><ssc:BaseUnit m='1' s='-1'/></ssc:Unit></ssb:Units>\n"
    "   </ssb:SignalDictionary></ssd:SignalDictionary>\n"
    "  <ssd:SignalDictionary name='more' source='resources/more.ssb'/>\n"
    " </ssd:SignalDictionaries>\n"
    " <ssd:SystemGeometry x1='0' y1='0' x2='1' y2='1'/>\n"
    " <ssd:GraphicalElements><ssd:Note x1='0' y1='0' x2='1' y2='1' text='n'/></ssd:GraphicalElements>\n"
    "</ssd:System>\n"
    "<ssd:Enumerations><ssc:Enumeration name='gear'><ssc:Item name='first' value='1'/>\n"
    " <ssc:Item name='reverse' value='-1'/></ssc:Enumeration></ssd:Enumerations>\n"
    "<ssd:Units><ssc:Unit name='m/s'><ssc:BaseUnit m='1' s='-1'/></ssc:Unit><ssc:Unit name='degC'>\n"
    " <ssc:BaseUnit K='1' offset='273.15'/></ssc:Unit></ssd:Units>\n"
    "<ssd:DefaultExperiment startTime='1' stopTime='2.5'><ssd:Annotations><ssc:Annotation type='org.tutti'>\n"
    " <set xmlns='u'/></ssc:Annotation></ssd:Annotations></ssd:DefaultExperiment>\n"
    "<ssc:MetaData kind='general' type='x'/><ssc:Signature role='authenticity' type='x'/>\n"
    "</ssd:SystemStructureDescription>\n";

static void check_connectors(const struct tt_ssp_element *system)
{
    assert_int_equal(system->connector_count, 7);
    const struct tt_ssp_connector *c = system->connectors;
    assert_string_equal(c[0].name, "speed");
    assert_int_equal(c[0].kind, TUTTI_SSP_OUTPUT);
    assert_true(c[0].type.given && !c[0].type.loose);
    assert_int_equal(c[0].type.type, TUTTI_TYPE_FLOAT64);
    assert_string_equal(c[0].type.unit, "m/s");
    assert_int_equal(c[0].line, 7);
    assert_int_equal(c[1].type.type, TUTTI_TYPE_ENUMERATION);
    assert_string_equal(c[1].type.enumeration, "gear");
    assert_int_equal(c[2].kind, TUTTI_SSP_STRUCTURAL_PARAMETER);
    assert_int_equal(c[2].type.type, TUTTI_TYPE_UINT64);
    assert_int_equal(c[3].kind, TUTTI_SSP_LOCAL);
    assert_true(c[3].type.loose);
    assert_int_equal(c[3].type.type, TUTTI_TYPE_FLOAT64);
    assert_null(c[3].type.unit);
    assert_int_equal(c[3].dimension_count, 3);
    assert_true(c[3].dimensions[0].has_size);
    assert_int_equal(c[3].dimensions[0].size, 3);
    assert_false(c[3].dimensions[1].has_size);
    assert_string_equal(c[3].dimensions[1].size_connector, "n");
    assert_false(c[3].dimensions[2].has_size);
    assert_null(c[3].dimensions[2].size_connector);
    assert_int_equal(c[4].type.type, TUTTI_TYPE_CLOCK);
    assert_int_equal(c[4].kind, TUTTI_SSP_INOUT);
    assert_string_equal(c[5].type.mime_type, "image/png");
    assert_int_equal(c[5].kind, TUTTI_SSP_UNSPECIFIED);
    assert_false(c[6].type.given);
    assert_int_equal(c[6].kind, TUTTI_SSP_CONSTANT);
    assert_string_equal(tt_ssd_kind_name(TUTTI_SSP_CALCULATED_PARAMETER), "calculatedParameter");
    assert_string_equal(tt_ssd_kind_name(TUTTI_SSP_UNSPECIFIED), "unspecified");
}

static void check_bindings(const struct tt_ssp_element *system)
{
    assert_int_equal(system->binding_count, 3);
    const struct tt_ssp_binding *b = system->bindings;
    assert_string_equal(b[0].source, "resources/a.ssv");
    assert_string_equal(b[0].prefix, "A.");
    assert_true(b[0].source_in_component && b[0].mapped && !b[0].mapping_in_component);
    assert_string_equal(b[0].mapping_source, "a.ssm");
    assert_null(b[0].values);
    assert_null(b[0].mapping);
    assert_null(b[1].source);
    assert_null(b[1].prefix);
    assert_string_equal(b[1].values->name, "inner");
    assert_int_equal(b[1].values->count, 1);
    assert_string_equal(b[1].values->parameters[0].values[0], "1.5");
    assert_string_equal(b[1].values->scope.file, "test.xml");
    assert_non_null(tt_ssp_reader_find_unit(&b[1].values->scope, "km"));
    assert_null(tt_ssp_reader_find_unit(&b[1].values->scope, "m/s"));
    assert_null(b[1].values->tree);
    assert_int_equal(b[1].mapping->count, 1);
    assert_string_equal(b[1].mapping->mappings[0].target, "A.p");
    assert_string_equal(b[2].type, "text/x-other");
    assert_null(b[2].values);
    assert_null(b[2].source);
    assert_false(b[2].mapped);
}

static void check_connections(const struct tt_ssp_element *system)
{
    assert_int_equal(system->connection_count, 5);
    const struct tt_ssp_connection *c = system->connections;
    assert_string_equal(c[0].start.element, "A");
    assert_string_equal(c[0].start.connector, "y");
    assert_null(c[0].end.element);
    assert_true(c[0].suppress_unit_conversion);
    assert_int_equal(c[0].transformation.kind, TUTTI_SSP_LINEAR);
    assert_same(c[0].transformation.factor, 2);
    assert_same(c[0].transformation.offset, -0.1);
    assert_int_equal(c[1].start.index_count, 2);
    assert_int_equal(c[1].start.indices[1], 2);
    assert_int_equal(c[1].end.index_count, 1);
    assert_int_equal(c[1].end.indices[0], 4);
    assert_int_equal(c[1].transformation.kind, TUTTI_SSP_IDENTITY);
    assert_false(c[1].suppress_unit_conversion);
    assert_int_equal(c[2].transformation.kind, TUTTI_SSP_ENUMERATION_MAP);
    assert_int_equal(c[2].transformation.entry_count, 2);
    assert_string_equal(c[2].transformation.entries[1].source_name, "second");
    assert_string_equal(c[2].transformation.entries[1].target_name, "1");
    assert_int_equal(c[3].transformation.kind, TUTTI_SSP_BOOLEAN_MAP);
    assert_int_equal(c[3].transformation.entries[0].source, 1);
    assert_int_equal(c[3].transformation.entries[0].target, 0);
    assert_int_equal(c[3].transformation.entries[1].target, 1);
    assert_int_equal(c[4].transformation.kind, TUTTI_SSP_INTEGER_MAP);
    assert_true(c[4].transformation.entries[0].source == INT64_MIN);
    assert_true(c[4].transformation.entries[0].target == INT64_MAX);
}

static void test_whole(void **state)
{
    (void)state;
    struct tt_ssd *ssd = read_ssd(whole);
    expect_clean();
    assert_string_equal(ssd->name, "car");
    assert_string_equal(ssd->version, "2.0");
    assert_true(ssd->has_start && ssd->has_stop);
    assert_same(ssd->start, 1);
    assert_same(ssd->stop, 2.5);
    assert_string_equal(ssd->settings->local, "set");
    const struct tt_ssp_element *system = &ssd->system, *e = system->elements;
    assert_int_equal(system->kind, TUTTI_SSP_SYSTEM);
    assert_string_equal(system->id, "s");
    assert_null(system->settings);
    assert_string_equal(system->node->local, "System");
    check_connectors(system);
    check_bindings(system);
    check_connections(system);
    assert_int_equal(system->element_count, 3);
    assert_int_equal(e[0].kind, TUTTI_SSP_COMPONENT);
    assert_string_equal(e[0].source, "resources/a.fmu");
    assert_string_equal(e[0].implementation, "ScheduledExecution");
    assert_string_equal(e[0].settings->local, "y");
    assert_string_equal(tt_tree_find_attribute(e[0].settings, "step"), "1");
    assert_int_equal(e[1].kind, TUTTI_SSP_SYSTEM);
    assert_int_equal(e[1].element_count, 1);
    assert_string_equal(e[1].elements[0].name, "A");
    assert_null(e[1].elements[0].implementation);
    assert_int_equal(e[2].kind, TUTTI_SSP_DICTIONARY_REFERENCE);
    assert_string_equal(e[2].dictionary, "signals");
    assert_int_equal(system->dictionary_count, 2);
    assert_string_equal(system->dictionaries[0].inline_entries->entries[0].name, "speed");
    assert_non_null(tt_ssp_reader_find_unit(&system->dictionaries[0].inline_entries->scope, "m/s"));
    assert_string_equal(system->dictionaries[1].source, "resources/more.ssb");
    assert_null(system->dictionaries[1].inline_entries);
    const struct tt_unit_def *unit = tt_ssp_reader_find_unit(&ssd->scope, "m/s");
    assert_non_null(unit);
    assert_true(unit->has_base && unit->exponents[1] == 1 && unit->exponents[2] == -1 && unit->exponents[0] == 0);
    assert_same(unit->factor, 1);
    assert_same(tt_ssp_reader_find_unit(&ssd->scope, "degC")->offset, 273.15);
    assert_null(tt_ssp_reader_find_unit(&ssd->scope, "km"));
    const struct tt_ssp_enumeration *gear = tt_ssp_reader_find_enum(&ssd->scope, "gear");
    assert_int_equal(gear->item_count, 2);
    assert_int_equal(gear->items[1].value, -1);
    assert_null(tt_ssp_reader_find_enum(&ssd->scope, "none"));
    tt_ssd_free(ssd);
    tt_ssd_free(NULL);
}

/* Cut anywhere, it is refused, and nothing leaks. */
static void test_cut(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof whole - 3; n += 7) {
        struct tt_ssd *ssd;
        assert_int_equal(try_ssd(&ssd, whole, n, 100), TUTTI_ERR_FORMAT);
        assert_null(ssd);
    }
}

/* Any prefix, none, and declarations inside. */
static void test_prefixes(void **state)
{
    (void)state;
    struct tt_ssd *ssd = read_ssd("<SystemStructureDescription version='1.0' name='n'"
                                  " xmlns='http://ssp-standard.org/SSP1/SystemStructureDescription'>"
                                  "<System name='r'><Connectors><Connector name='c' kind='input'>"
                                  "<t:Real xmlns:t='http://ssp-standard.org/SSP1/SystemStructureCommon'/>"
                                  "</Connector></Connectors><Elements>"
                                  "<q:Component xmlns:q='http://ssp-standard.org/SSP1/SystemStructureDescription'"
                                  " name='x' source='y'/></Elements></System></SystemStructureDescription>");
    expect_clean();
    assert_true(ssd->system.connectors[0].type.given);
    assert_int_equal(ssd->system.element_count, 1);
    assert_false(ssd->has_start || ssd->has_stop);
    tt_ssd_free(ssd);
}

static const char *settings_of(const char *text)
{
    static char name[32];
    struct tt_ssd *ssd = read_ssd(text);
    snprintf(name, sizeof name, "%s", ssd->settings ? ssd->settings->local : "none");
    tt_ssd_free(ssd);
    return name;
}

#define NOTE(name)                                                                                                     \
    "<ssd:Annotations><ssc:Annotation type='org.tutti'><" name " xmlns='u'/></ssc:Annotation></ssd:Annotations>"

static void test_settings(void **state)
{
    (void)state;
    assert_string_equal(settings_of(SYSTEM("")), "none");
    assert_string_equal(settings_of(SYSTEM(NOTE("system"))), "system");
    assert_string_equal(
        settings_of(TOP("2.0", "<ssd:System name='r'>" NOTE("system") "</ssd:System><ssd:DefaultExperiment>" NOTE(
                                   "experiment") "</ssd:DefaultExperiment></ssd:SystemStructureDescription>")),
        "experiment");
    assert_string_equal(
        settings_of(AROUND("<ssd:DefaultExperiment>" NOTE("experiment") "</ssd:DefaultExperiment>" NOTE("document"))),
        "document");
    assert_string_equal(settings_of(AROUND("<ssd:Annotations><ssc:Annotation type='org.tutti'>only text"
                                           "</ssc:Annotation></ssd:Annotations>")),
                        "none");
}

static void test_refused(void **state)
{
    (void)state;
    static const struct odd cases[] = {
        {"<a/>", 1, "the document is a <a>, expected <ssd:SystemStructureDescription>"},
        {"<SystemStructureDescription/>", 1,
         "not of SSP's namespace; expected <ssd:SystemStructureDescription xmlns:ssd="},
        {"<ssd:System" SPACES "/>", 1, "expected <ssd:SystemStructureDescription>"},
        {"<ssd:SystemStructureDescription" SPACES " name='n'/>", 1, "<System> is missing"},
        {"<ssd:SystemStructureDescription" SPACES " version='1.0'/>", 1, "the attribute name is missing"},
        {TOP("1.0", "</ssd:SystemStructureDescription>"), 1, "<System> is missing"},
        {TOP("1.0", "<ssd:System/></ssd:SystemStructureDescription>"), 2, "<System>: the attribute name is missing"},
        {TOP("1.0", "<ssd:System name=''/></ssd:SystemStructureDescription>"), 2, "the name is empty"},
        {AROUND("<ssd:System name='b'/>"), 3, "<System> \"b\": a second one"},
        {AROUND("<ssd:DefaultExperiment stopTime='1,5'/>"), 3, "stopTime is \"1,5\", expected a finite number"},
        {AROUND("<ssd:DefaultExperiment startTime='INF'/>"), 3, "startTime is \"INF\""},
        {AROUND("<ssd:Units><ssc:Unit/></ssd:Units>"), 3, "<Unit>: the attribute name"},
        {AROUND("<ssd:Units><ssc:Unit name='m'/>\n<ssc:Unit name='m'/></ssd:Units>"), 4,
         "two units of this document are called \"m\", the other one in line 3"},
        {AROUND("<ssd:Units><ssc:Unit name='m'><ssc:BaseUnit m='x'/></ssc:Unit></ssd:Units>"), 3, "m is \"x\""},
        {AROUND("<ssd:Units><ssc:Unit name='m'><ssc:BaseUnit m='-9000000000'/></ssc:Unit></ssd:Units>"), 3,
         "beyond all use"},
        {AROUND("<ssd:Units><ssc:Unit name='m'><ssc:BaseUnit factor='x'/></ssc:Unit></ssd:Units>"), 3,
         "factor is \"x\""},
        {AROUND("<ssd:Enumerations><ssc:Enumeration name='e' id='d'/><ssc:Enumeration name='f' "
                "id='d'/></ssd:Enumerations>"),
         3, "the id \"d\""},
        {AROUND("<ssd:Units><ssc:Unit name='m'><ssc:BaseUnit m='3000000000'/></ssc:Unit></ssd:Units>"), 3, "exponent"},
        {AROUND("<ssd:Units><ssc:Unit name='m'><ssc:BaseUnit factor='0'/></ssc:Unit></ssd:Units>"), 3, "factor is 0"},
        {AROUND("<ssd:Units><ssc:Unit name='m'><ssc:BaseUnit offset='NaN'/></ssc:Unit></ssd:Units>"), 3, "offset"},
        {AROUND("<ssd:Enumerations><ssc:Enumeration name='e'><ssc:Item name='i'/></ssc:Enumeration>"
                "</ssd:Enumerations>"),
         3, "<Item> \"i\": the attribute value"},
        {AROUND("<ssd:Enumerations><ssc:Enumeration name='e'><ssc:Item name='i' value='1.0'/></ssc:Enumeration>"
                "</ssd:Enumerations>"),
         3, "value is \"1.0\", expected a whole number"},
        {AROUND("<ssd:Enumerations><ssc:Enumeration name='e'><ssc:Item name='i' value='1'/><ssc:Item name='i'"
                " value='2'/></ssc:Enumeration></ssd:Enumerations>"),
         3, "two items"},
        {SYSTEM("<ssd:Elements>\n<ssd:Component source='x'/></ssd:Elements>"), 4, "<Component>: the attribute name"},
        {SYSTEM("<ssd:Elements>\n<ssd:Component name='x'/>\n<ssd:System name='x'/></ssd:Elements>"), 5,
         "<System> \"x\": two elements of this system are called \"x\", the other one in line 4"},
        {SYSTEM("<ssd:Elements/>\n<ssd:Elements/>"), 4, "a second one in the same <System>"},
        {SYSTEM("<ssd:Elements>\n<ssd:Component name='x' implementation='Cosim'/></ssd:Elements>"), 4,
         "expected one of any, ModelExchange, CoSimulation, ScheduledExecution"},
        {SYSTEM("<ssd:Elements>\n<ssd:SignalDictionaryReference name='x'/></ssd:Elements>"), 4,
         "dictionary is missing"},
        {SYSTEM("<ssd:Elements>\n<ssd:Component name='x' id='i'/>\n<ssd:Component name='y' id='i'/></ssd:Elements>"), 5,
         "the id \"i\" is that of line 4, too"},
        {CONNECTOR("<ssd:Connector kind='input'/>"), 4, "the attribute name"},
        {CONNECTOR("<ssd:Connector name='x'/>"), 4, "the attribute kind"},
        {CONNECTOR("<ssd:Connector name='x' kind='in'/>"), 4, "kind is \"in\", expected one of input, output, inout"},
        {CONNECTOR("<ssd:Connector name='x' kind='input'/><ssd:Connector name='x' kind='output'/>"), 4,
         "two connectors of this element are called \"x\""},
        {CONNECTOR("<ssd:Connector name='x' kind='input'><ssc:Real/>\n<ssc:Clock/></ssd:Connector>"), 5,
         "<Clock>: line 4 has <Real> already; only one"},
        {CONNECTOR("<ssd:Connector name='x' kind='input'><ssc:Enumeration/></ssd:Connector>"), 4, "name is missing"},
        {CONNECTOR("<ssd:Connector name='x' kind='input'><ssc:Dimension size='-1'/></ssd:Connector>"), 4, "size is"},
        {CONNECTOR("<ssd:Connector name='x' kind='input'><ssc:Dimension size='1' sizeConnector='n'/></ssd:Connector>"),
         4, "it has a size and a sizeConnector"},
        {CONNECTION("<ssd:Connection endConnector='b'/>"), 4, "startConnector is missing"},
        {CONNECTION("<ssd:Connection startConnector='b'/>"), 4, "endConnector is missing"},
        {CONNECTION("<ssd:Connection startConnector='a' endConnector='b' suppressUnitConversion='yes'/>"), 4,
         "expected true or false"},
        {CONNECTION("<ssd:Connection startConnector='a' endConnector='b' startIndices='0'/>"), 4, "numbers from 1"},
        {CONNECTION("<ssd:Connection startConnector='a' endConnector='b' endIndices='1 x'/>"), 4,
         "endIndices is \"1 x\""},
        {CONNECTION("<ssd:Connection startConnector='a' endConnector='b'>\n<ssc:LinearTransformation/>\n"
                    "<ssc:BooleanMappingTransformation/></ssd:Connection>"),
         6, "line 5 has <LinearTransformation> already"},
        {CONNECTION("<ssd:Connection startConnector='a' endConnector='b'><ssc:LinearTransformation factor='a'/>"
                    "</ssd:Connection>"),
         4, "factor is \"a\""},
        {CONNECTION("<ssd:Connection startConnector='a' endConnector='b'><ssc:BooleanMappingTransformation>\n"
                    "<ssc:MapEntry source='true' target='1'/>\n<ssc:MapEntry source='1' target='0'/>"
                    "</ssc:BooleanMappingTransformation></ssd:Connection>"),
         6, "line 5 maps the same source"},
        {CONNECTION("<ssd:Connection startConnector='a' endConnector='b'><ssc:IntegerMappingTransformation>\n"
                    "<ssc:MapEntry source='+1' target='1'/>\n<ssc:MapEntry source='0' target='0'/>\n"
                    "<ssc:MapEntry source='1' target='0'/></ssc:IntegerMappingTransformation></ssd:Connection>"),
         7, "line 5 maps the same source"},
        {CONNECTION("<ssd:Connection startConnector='a' endConnector='b'><ssc:IntegerMappingTransformation>"
                    "<ssc:MapEntry source='18446744073709551616' target='1'/>"
                    "</ssc:IntegerMappingTransformation></ssd:Connection>"),
         4, "at most 64 bits"},
        {CONNECTION("<ssd:Connection startConnector='a' endConnector='b'><ssc:EnumerationMappingTransformation>\n"
                    "<ssc:MapEntry source='e' target='1'/>\n<ssc:MapEntry source='e' target='2'/>"
                    "</ssc:EnumerationMappingTransformation></ssd:Connection>"),
         6, "two sources"},
        {CONNECTION("<ssd:Connection startConnector='a' endConnector='b'><ssc:EnumerationMappingTransformation>"
                    "<ssc:MapEntry source='e'/></ssc:EnumerationMappingTransformation></ssd:Connection>"),
         4, "target is missing"},
        {BINDING("<ssd:ParameterBinding/>"), 4, "neither a source nor an inline <ParameterSet>"},
        {BINDING("<ssd:ParameterBinding><ssd:ParameterValues/></ssd:ParameterBinding>"), 4, "neither a source"},
        {BINDING("<ssd:ParameterBinding source='x'><ssd:ParameterValues/></ssd:ParameterBinding>"), 4,
         "it has a source and <ParameterValues>"},
        {BINDING("<ssd:ParameterBinding><ssd:ParameterValues><ssv:ParameterSet version='1.0' name='n'/>\n"
                 "<ssv:ParameterSet version='1.0' name='m'/></ssd:ParameterValues></ssd:ParameterBinding>"),
         5, "a second one"},
        {BINDING("<ssd:ParameterBinding source='x' sourceBase='ssd'/>"), 4, "expected one of SSD, component"},
        {BINDING("<ssd:ParameterBinding source='x'><ssd:ParameterMapping/></ssd:ParameterBinding>"), 4,
         "<ParameterMapping>: it has neither a source nor an inline <ParameterMapping>"},
        {BINDING(
             "<ssd:ParameterBinding source='x'><ssd:ParameterMapping source='y'><ssm:ParameterMapping version='1.0'/>"
             "</ssd:ParameterMapping></ssd:ParameterBinding>"),
         4, "it has a source and an inline <ParameterMapping>"},
        {BINDING("<ssd:ParameterBinding source='x' id='root'/><ssd:ParameterBinding><ssd:ParameterValues>\n"
                 "<ssv:ParameterSet version='1.0' name='n' id='root'/></ssd:ParameterValues></ssd:ParameterBinding>"),
         5, "the id \"root\" is that of line 4"},
        {SYSTEM("<ssd:SignalDictionaries>\n<ssd:SignalDictionary source='x'/></ssd:SignalDictionaries>"), 4,
         "name is missing"},
        {SYSTEM("<ssd:SignalDictionaries>\n<ssd:SignalDictionary name='x'/></ssd:SignalDictionaries>"), 4,
         "neither a source"},
        {SYSTEM(
             "<ssd:SignalDictionaries>\n<ssd:SignalDictionary name='x' source='y'><ssb:SignalDictionary version='1.0'/>"
             "</ssd:SignalDictionary></ssd:SignalDictionaries>"),
         4, "it has a source and an inline"},
        {SYSTEM("<ssd:SignalDictionaries>\n<ssd:SignalDictionary name='x' source='y'/><ssd:SignalDictionary name='x' "
                "source='y'/>"
                "</ssd:SignalDictionaries>"),
         4, "two signal dictionaries"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse_ssd(cases[i].part, cases[i].line, cases[i].words);
}

/* Each is one finding, and the document is read. */
static void test_warned(void **state)
{
    (void)state;
    static const struct odd cases[] = {
        {TOP("1.0-RC1", "<ssd:System name='r'/></ssd:SystemStructureDescription>"), 1, "version is \"1.0-RC1\""},
        {TOP("3.0", "<ssd:System name='r'/></ssd:SystemStructureDescription>"), 1, "expected 1.0 or 2.0"},
        {SYSTEM("<ssd:Bogus/>"), 3, "<Bogus>: unknown element inside of <System>"},
        {SYSTEM("<ssd:Elements><ssd:Component name='c' sauce='x'/></ssd:Elements>"), 3, "unknown attribute sauce"},
        {SYSTEM("some text"), 2, "text inside of the element"},
        {CONNECTOR("<ssd:Connector name='x' kind='input'><ssd:Real/></ssd:Connector>"), 4,
         "namespace ssd, expected ssc"},
        {CONNECTOR("<ssd:Connector name='x' kind='input'><ssc:Real unit='V'/></ssd:Connector>"), 4,
         "unit \"V\" is not among"},
        {CONNECTOR("<ssd:Connector name='x' kind='input'><ssc:Enumeration name='e'/></ssd:Connector>"), 4,
         "not among the <Enumerations>"},
        {CONNECTION("<ssd:Connection startElement='' startConnector='a' endConnector='b'/>"), 4,
         "startElement is empty"},
        {CONNECTION("<ssd:Connection startConnector='a' "
                    "endConnector='b'><ssc:IntegerMappingTransformation/></ssd:Connection>"),
         4, "no <MapEntry>"},
        {AROUND("<ssd:Units><ssc:Unit name='m'/></ssd:Units>"), 3, "<BaseUnit> is missing"},
        {AROUND("<ssd:Enumerations><ssc:Enumeration name='e'/></ssd:Enumerations>"), 3, "no <Item>"},
        {SYSTEM(
             "<ssd:Annotations><ssc:Annotation type='org.tutti'/><ssc:Annotation type='org.tutti'/></ssd:Annotations>"),
         3, "a second annotation of type org.tutti"},
        {SYSTEM1("<ssd:Elements><ssd:Component name='c'/></ssd:Elements>"), 3,
         "source is missing, which SSP 1.0 requires"},
        {SYSTEM1(
             "<ssd:Elements><ssd:Component name='c' source='s' implementation='ScheduledExecution'/></ssd:Elements>"),
         3, "is of SSP 2.0"},
        {SYSTEM1("<ssd:Connectors><ssd:Connector name='c' kind='structuralParameter'/></ssd:Connectors>"), 3,
         "is of SSP 2.0"},
        {SYSTEM1("<ssd:Connectors><ssd:Connector name='c' kind='input'><ssc:Int8/></ssd:Connector></ssd:Connectors>"),
         3, "the element is of SSP 2.0"},
        {SYSTEM1(
             "<ssd:Connections><ssd:Connection startConnector='a' endConnector='b' endIndices='1'/></ssd:Connections>"),
         3, "the attribute endIndices is of SSP 2.0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tt_ssd_free(read_ssd(cases[i].part));
        expect_only(WARNING, cases[i].line, cases[i].words);
    }
}

/* A file with the same fault everywhere gives some dozens of lines; without a listener is fine, too. */
static void test_many_warnings(void **state)
{
    (void)state;
    struct tt_text text = {0};
    tt_text_append(&text, TOP("2.0", "<ssd:System name='root'><ssd:Elements>"));
    for (int i = 0; i < 1000; i++)
        tt_text_printf(&text, "\n<ssd:Component name='c%d' color='red'/>", i);
    tt_text_append(&text, "</ssd:Elements></ssd:System></ssd:SystemStructureDescription>");
    struct tt_ssd *ssd = read_ssd(text.text);
    assert_true(found_count < 50);
    assert_int_equal(findings.warnings, 1000);
    assert_int_equal(ssd->system.element_count, 1000);
    tt_ssd_free(ssd);
    struct memory memory = {text.text, text.length, 0, SIZE_MAX};
    struct tt_byte_source reader = {memory_read, &memory};
    assert_int_equal(tt_ssd_read(&ssd, "test.xml", &reader, NULL), TUTTI_OK);
    tt_ssd_free(ssd);
    tt_text_fini(&text);
}

/* As deep as XML may be. */
static void test_deep(void **state)
{
    (void)state;
    struct tt_text text = {0};
    tt_text_append(&text, TOP("2.0", "<ssd:System name='s'>"));
    for (int i = 0; i < 60; i++)
        tt_text_append(&text, "<ssd:Elements><ssd:System name='s'>");
    for (int i = 0; i < 60; i++)
        tt_text_append(&text, "</ssd:System></ssd:Elements>");
    tt_text_append(&text, "</ssd:System></ssd:SystemStructureDescription>");
    struct tt_ssd *ssd = read_ssd(text.text);
    expect_clean();
    const struct tt_ssp_element *element = &ssd->system;
    unsigned depth = 0;
    for (; element->element_count; element = element->elements)
        depth++;
    assert_int_equal(depth, 60);
    tt_ssd_free(ssd);
    tt_text_fini(&text);
}

/* 10,000 components take some dozen megabytes, and names are looked up, not searched. */
static void test_large(void **state)
{
    (void)state;
    enum { COUNT = 10000 };
    struct tt_text text = {0};
    tt_text_append(&text, TOP("2.0", "<ssd:System name='root'>\n<ssd:Elements>\n"));
    for (int i = 0; i < COUNT; i++) {
        tt_text_printf(&text, "<ssd:Component name='mass%d' source='resources/mass.fmu'>\n<ssd:Connectors>\n", i);
        for (int k = 0; k < 6; k++)
            tt_text_printf(&text, "<ssd:Connector name='x%d' kind='%s'><ssc:Real/></ssd:Connector>\n", k,
                           k < 3 ? "input" : "output");
        tt_text_append(&text, "</ssd:Connectors>\n</ssd:Component>\n");
    }
    tt_text_append(&text, "</ssd:Elements>\n<ssd:Connections>\n");
    for (int i = 0; i < 3 * COUNT; i++)
        tt_text_printf(&text,
                       "<ssd:Connection startElement='mass%d' startConnector='x%d' endElement='mass%d'"
                       " endConnector='x%d'/>\n",
                       i / 3, 3 + i % 3, (i / 3 + 1) % COUNT, i % 3);
    tt_text_append(&text, "</ssd:Connections>\n</ssd:System>\n</ssd:SystemStructureDescription>\n");
    struct tt_ssd *ssd = read_ssd(text.text);
    expect_clean();
    assert_int_equal(ssd->system.element_count, COUNT);
    assert_int_equal(ssd->system.connection_count, 3 * COUNT);
    assert_string_equal(ssd->system.elements[COUNT - 1].connectors[5].name, "x5");
    assert_string_equal(ssd->system.connections[3 * COUNT - 1].end.element, "mass0");
    assert_true(ssd->tree->arena.total + ssd->arena.total < 45u << 20);
    tt_ssd_free(ssd);
    tt_text_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),         cmocka_unit_test(test_cut),     cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_settings),      cmocka_unit_test(test_refused), cmocka_unit_test(test_warned),
        cmocka_unit_test(test_many_warnings), cmocka_unit_test(test_deep),    cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
