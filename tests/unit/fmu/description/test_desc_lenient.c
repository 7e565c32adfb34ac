/* SPDX-License-Identifier: MIT */
/* Files that are not as the standard wants them: each is read with the most sensible meaning and a finding. */
#include "desc_helper.h"

#define REAL(name, reference, attributes, properties)                                                                  \
    "<ScalarVariable name=\"" name "\" valueReference=\"" reference "\" " attributes "><Real " properties              \
    "/></ScalarVariable>\n"

static void unknown_parts(void **state)
{
    (void)state;
    struct tt_description *desc = read_text(
        "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"g\" modelIdentifier=\"M\" vendor:x=\"y\">\n"
        "<CoSimulation modelIdentifier=\"M\" canProvideMaxStepSize=\"true\" start=\"1\"/>\n"
        "<Extra><Deep><Deeper/></Deep></Extra>\n"
        "<ModelVariables>\n"
        "<ScalarVariable name=\"x\" valueReference=\"0\" colour=\"red\">\n"
        "<Real unknown=\"1\"/><v:Thing xmlns:v=\"u\"/></ScalarVariable>\n"
        "</ModelVariables><ModelStructure/>\n"
        "</fmiModelDescription>\n");
    expect_found(WARNING, 1, "unknown attribute modelIdentifier of <fmiModelDescription>");
    expect_found(WARNING, 2, "unknown attribute canProvideMaxStepSize of <CoSimulation>");
    expect_found(WARNING, 2, "unknown attribute start of <CoSimulation>");
    expect_found(WARNING, 3, "unknown element <Extra> in <fmiModelDescription>");
    expect_found(WARNING, 5, "unknown attribute colour of <ScalarVariable>");
    expect_found(WARNING, 6, "unknown attribute unknown of <Real>");
    assert_int_equal(found_count, 6);
    assert_int_equal(desc->var_count, 1);
    tt_description_free(desc);
}

static void words(void **state)
{
    (void)state;
    struct tt_description *desc =
        read_text(FMI2(REAL("a", "0", "causality=\"Input\"", "start=\"1\"") REAL("b", "1", "causality=\"sideways\"", "")
                           REAL("c", "2", "variability=\" fixed \" causality=\"parameter\"", "start=\"1\"")
                               REAL("d", "3", "initial=\"guess\"", "")
                                   REAL("e", "4", "causality=\"structuralParameter\"", "start=\"1\""),
                       ""));
    expect_found(ERROR, 4, "variable \"a\": causality is \"Input\", expected one of local, input, output");
    assert_int_equal(desc->vars[0].causality, TUTTI_INPUT);
    expect_found(ERROR, 5, "causality is \"sideways\"");
    assert_int_equal(desc->vars[1].causality, TUTTI_LOCAL);
    expect_found(ERROR, 6, "variability is \" fixed \"");
    assert_int_equal(desc->vars[2].variability, TUTTI_FIXED);
    expect_found(ERROR, 7, "initial is \"guess\", expected one of exact, approx, calculated");
    assert_int_equal(desc->vars[3].initial, TUTTI_CALCULATED);
    assert_false(desc->vars[3].initial_given);
    expect_found(ERROR, 8, "found causality structuralParameter");
    assert_int_equal(desc->vars[4].causality, TUTTI_PARAMETER);
    tt_description_free(desc);
}

static void numbers(void **state)
{
    (void)state;
    struct tt_description *desc = read_text(FMI2(
        REAL("a", "0", "", "start=\"1,5\"") REAL("b", "1", "", "nominal=\"0\"") REAL("c", "2", "", "nominal=\"-3\"")
            REAL("d", "3", "",
                 "min=\"low\" max=\"3\"") "<ScalarVariable name=\"e\" valueReference=\"4\" "
                                          "variability=\"discrete\"><Integer start=\"2.0\" "
                                          "min=\"0.0\"/></ScalarVariable>\n"
                                          "<ScalarVariable name=\"f\" valueReference=\"5\" "
                                          "variability=\"discrete\"><Integer "
                                          "start=\"3000000000\"/></ScalarVariable>\n"
                                          "<ScalarVariable name=\"g\" valueReference=\"6\" "
                                          "variability=\"discrete\"><Boolean start=\"True\"/>"
                                          "</ScalarVariable>\n"
                                          "<ScalarVariable name=\"h\" valueReference=\"7\" "
                                          "variability=\"discrete\"><Boolean start=\"yes\"/>"
                                          "</ScalarVariable>\n" REAL("i", "-1", "", "") REAL("j", "4294967296", "", "")
                                              REAL("k", "8", "", "start=\" -INF \"") REAL("l", "9", "", "start=\"1 2\"")
                                                  REAL("m", "10", "", "reinit=\"maybe\" nominal=\"INF\""),
        ""));
    expect_found(ERROR, 4, "variable \"a\": start is \"1,5\", expected a number");
    assert_null(desc->vars[0].start);
    expect_found(ERROR, 5, "nominal is 0, expected a number greater than 0; 1 is used");
    assert_same(desc->vars[1].bounds->nominal, 1);
    expect_found(ERROR, 6, "nominal is -3");
    assert_same(desc->vars[2].bounds->nominal, 3);
    expect_found(ERROR, 7, "min is \"low\", expected a number");
    assert_false(desc->vars[3].bounds->has_min);
    assert_same(desc->vars[3].bounds->max, 3);
    expect_found(ERROR, 8, "start is \"2.0\", expected a whole number");
    expect_found(ERROR, 8, "min is \"0.0\", expected a whole number");
    assert_int_equal(*(const int32_t *)desc->vars[4].start, 2);
    assert_same(desc->vars[4].bounds->min, 0);
    expect_found(ERROR, 9, "start is \"3000000000\", expected a whole number that fits the type");
    assert_null(desc->vars[5].start);
    expect_found(ERROR, 10, "start is \"True\", expected true or false");
    assert_true(*(const bool *)desc->vars[6].start);
    expect_found(ERROR, 11, "start is \"yes\"");
    assert_null(desc->vars[7].start);
    expect_found(ERROR, 12, "valueReference is \"-1\", expected a number from 0 to 4294967295");
    assert_int_equal(desc->vars[8].reference, UINT32_MAX);
    expect_found(ERROR, 13, "valueReference is \"4294967296\"");
    assert_true(isinf(*(const double *)desc->vars[10].start));
    expect_found(ERROR, 15, "start is \"1 2\"");
    expect_found(ERROR, 16, "reinit is \"maybe\", expected true or false");
    expect_found(ERROR, 16, "nominal is inf");
    tt_description_free(desc);
}

static void missing_parts(void **state)
{
    (void)state;
    struct tt_description *desc = read_text("<fmiModelDescription\n fmiVersion=\"2.0\"/>");
    expect_found(ERROR, 1, "found no <ModelVariables>");
    expect_found(ERROR, 1, "found no <ModelStructure>");
    assert_null(desc->token);
    tt_description_free(desc);
    /* Without a structure it is made from the variables. */
    desc = read_text("<fmiModelDescription fmiVersion=\"2.0\" guid=\"\" modelName=\"M\"><ModelVariables>\n" REAL(
        "x", "0", "causality=\"output\"", "") REAL("v", "1", "", "derivative=\"1\"") "</ModelVariables>"
                                                                                     "</fmiModelDescription>");
    expect_only(ERROR, 1, "found no <ModelStructure>");
    assert_false(desc->outputs.given);
    assert_int_equal(desc->outputs.count, 1);
    assert_int_equal(desc->derivatives.count, 1);
    assert_int_equal(desc->derivatives.items[0].variable, 1);
    assert_int_equal(desc->state_count, 1);
    tt_description_free(desc);
    desc = read_text(FMI2("<ScalarVariable/>\n<ScalarVariable name=\"x\" valueReference=\"1\"/>\n"
                          "<ScalarVariable name=\"y\" valueReference=\"2\"><Real/><String start=\"a\"/>"
                          "</ScalarVariable>\n",
                          "<Outputs><Unknown/></Outputs>"));
    expect_found(ERROR, 4, "variable \"#1\": found no name");
    expect_found(ERROR, 4, "found no valueReference");
    expect_found(ERROR, 5, "variable \"x\": found no type element");
    expect_found(ERROR, 6, "found a second type element");
    expect_found(ERROR, 9, "output: found no index");
    assert_int_equal(desc->vars[2].type, TUTTI_TYPE_FLOAT64);
    assert_null(desc->vars[2].start);
    assert_int_equal(desc->outputs.count, 0);
    tt_description_free(desc);
    desc = read_text("<fmiModelDescription fmiVersion=\"1.0\" modelName=\"M\" guid=\"\"/>");
    expect_found(ERROR, 1, "found no numberOfContinuousStates");
    expect_found(ERROR, 1, "found no numberOfEventIndicators");
    tt_description_free(desc);
    desc = read_text("<fmiModelDescription fmiVersion=\"3.0\" guid=\"g\"/>");
    expect_found(ERROR, 1, "found guid, expected instantiationToken");
    assert_string_equal(desc->token, "g");
    tt_description_free(desc);
}

static void variability2(void **state)
{
    (void)state;
    struct tt_description *desc =
        read_text(FMI2("<ScalarVariable name=\"a\" valueReference=\"0\"><Integer/></ScalarVariable>\n"
                       "<ScalarVariable name=\"b\" valueReference=\"1\" variability=\"continuous\"><Boolean/>"
                       "</ScalarVariable>\n"
                       "<ScalarVariable name=\"c\" valueReference=\"2\" causality=\"parameter\"><Boolean start=\"1\"/>"
                       "</ScalarVariable>\n",
                       ""));
    expect_found(WARNING, 4, "variable \"a\": found no variability");
    assert_int_equal(desc->vars[0].variability, TUTTI_DISCRETE);
    expect_found(ERROR, 5, "found variability continuous, which only a Real can have");
    assert_int_equal(desc->vars[1].variability, TUTTI_DISCRETE);
    expect_found(WARNING, 6, "fixed is used");
    assert_int_equal(desc->vars[2].variability, TUTTI_FIXED);
    tt_description_free(desc);
}

static void references2(void **state)
{
    (void)state;
    struct tt_description *desc =
        read_text(FMI2(REAL("a", "0", "", "derivative=\"0\"") REAL("b", "1", "", "derivative=\"3\"")
                           REAL("c", "2", "", "declaredType=\"Missing\""),
                       "<Outputs>\n<Unknown index=\"0\"/>\n<Unknown index=\"4\"/>\n"
                       "<Unknown index=\"1\" dependencies=\"2 7 3\" dependenciesKind=\"constant fixed tunable\"/>\n"
                       "<Unknown index=\"2\" dependencies=\"1 2\" dependenciesKind=\"constant\"/>\n"
                       "<Unknown index=\"3\" dependencies=\"1 x\"/>\n</Outputs>\n"
                       "<InitialUnknowns>\n<Unknown index=\"1\" dependenciesKind=\"dependent\"/>\n"
                       "<Unknown index=\"2\" dependencies=\"1\" dependenciesKind=\"strange\"/>\n"
                       "<Unknown index=\"3\" dependencies=\"99999999999\"/>\n</InitialUnknowns>\n"));
    expect_found(ERROR, 4, "variable \"a\": derivative is 0, expected the index of a variable");
    assert_int_equal(desc->vars[0].derivative_of, TUTTI_NONE);
    assert_int_equal(desc->vars[1].derivative_of, 2);
    expect_found(ERROR, 6, "variable \"c\": declaredType is \"Missing\"");
    expect_found(ERROR, 10, "output: found the index 0, which no variable has");
    expect_found(ERROR, 11, "output: found the index 4, which no variable has");
    expect_found(ERROR, 12, "output \"a\": dependency 7 leads nowhere");
    assert_int_equal(desc->outputs.count, 3);
    assert_int_equal(desc->outputs.items[0].dependency_count, 2);
    assert_int_equal(desc->outputs.items[0].dependencies[1], 2);
    assert_int_equal(desc->outputs.items[0].kinds[1], TUTTI_DEPENDENCY_TUNABLE);
    expect_found(ERROR, 13, "dependenciesKind is \"constant\", expected 2 of");
    assert_null(desc->outputs.items[1].kinds);
    assert_int_equal(desc->outputs.items[1].dependency_count, 2);
    expect_found(ERROR, 14, "dependencies are \"1 x\"");
    assert_false(desc->outputs.items[2].has_dependencies);
    expect_found(ERROR, 17, "found dependenciesKind without dependencies");
    expect_found(ERROR, 18, "dependenciesKind is \"strange\"");
    expect_found(ERROR, 19, "dependencies are \"99999999999\"");
    tt_description_free(desc);
}

static void references3(void **state)
{
    (void)state;
    struct tt_description *desc = read_text(
        FMI3("<Float64 name=\"a\" valueReference=\"7\" derivative=\"100\"/>\n"
             "<Float64 name=\"b\" valueReference=\"3\" clocks=\"8 7\" previous=\"9\"/>\n"
             "<Float64 name=\"c\" valueReference=\"5\"><Dimension valueReference=\"6\"/><Dimension/>"
             "<Dimension start=\"2\" valueReference=\"7\"/></Float64>\n"
             "<Float64 name=\"d\" valueReference=\"1\" derivative=\"7\"><Dimension valueReference=\"7\"/></Float64>\n",
             "<Output valueReference=\"2\"/>\n<Output valueReference=\"5\" dependencies=\"1 2\"/>\n"));
    expect_found(ERROR, 4, "derivative is 100, expected the value reference of a variable");
    expect_found(ERROR, 5, "clocks has the value reference 8, which no variable has");
    assert_int_equal(desc->vars[1].clock_count, 1);
    expect_found(ERROR, 5, "previous is 9");
    expect_found(ERROR, 6, "a Dimension has the value reference 6, which no variable has");
    expect_found(ERROR, 6, "found a Dimension with neither");
    expect_found(ERROR, 6, "found a Dimension with both");
    assert_int_equal(tt_description_var_size(&desc->vars[2]), 2);
    expect_found(ERROR, 7, "its size is that of \"a\", expected a UInt64 with a start value");
    assert_int_equal(desc->vars[3].derivative_of, 0);
    expect_found(ERROR, 11, "output: found the value reference 2");
    expect_found(ERROR, 12, "output \"c\": dependency 2 leads nowhere, expected the value reference");
    tt_description_free(desc);
}

static void units(void **state)
{
    (void)state;
    struct tt_description *desc =
        read_text("<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"g\">\n<UnitDefinitions>\n"
                  "<Unit name=\"m\"><BaseUnit m=\"1\" factor=\"?\"/>\n<DisplayUnit name=\"mm\" factor=\"1000\"/>\n"
                  "<DisplayUnit name=\"mm\" factor=\"7\"/></Unit>\n"
                  "<Unit name=\"m\"><BaseUnit m=\"5\"/></Unit>\n<Unit/>\n</UnitDefinitions>\n"
                  "<TypeDefinitions><SimpleType name=\"T\"><Real displayUnit=\"q\"/></SimpleType>\n"
                  "<SimpleType name=\"T\"><Real/></SimpleType>\n<SimpleType name=\"U\"/></TypeDefinitions>\n"
                  "<ModelVariables>\n" REAL("a", "0", "", "unit=\"m\" displayUnit=\"km\"")
                      REAL("b", "1", "", "unit=\"m\" displayUnit=\"mm\"") REAL("c", "2", "", "displayUnit=\"mm\"")
                          REAL("d", "3", "", "unit=\"m\" displayUnit=\"m\"") "</ModelVariables><ModelStructure/>"
                                                                             "</fmiModelDescription>");
    expect_found(ERROR, 3, "unit \"m\": factor is \"?\"");
    expect_found(ERROR, 5, "display unit \"mm\" is defined again; the first definition, in line 4, is used");
    expect_found(ERROR, 6, "unit \"m\": defined again; the first definition, in line 3");
    assert_int_equal(desc->units[0].exponents[1], 1);
    expect_found(ERROR, 7, "unit: found no name");
    expect_found(ERROR, 9, "type \"T\": displayUnit is \"q\", but there is no unit");
    expect_found(ERROR, 10, "type \"T\": defined again; the first definition, in line 9");
    expect_found(ERROR, 11, "type \"U\": found no type element");
    expect_found(WARNING, 13, "displayUnit \"km\" is not defined for the unit \"m\"");
    assert_same(desc->displays[desc->vars[1].display_unit].factor, 1000);
    expect_found(ERROR, 15, "displayUnit is \"mm\", but there is no unit");
    assert_int_equal(found_count, 9);
    tt_description_free(desc);
}

/* The parts of the file in another order. */
static void any_order(void **state)
{
    (void)state;
    struct tt_description *desc = read_text(
        "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"g\">\n"
        "<ModelStructure><Outputs><Unknown index=\"1\" dependencies=\"2\"/></Outputs></ModelStructure>\n"
        "<ModelVariables>\n" REAL("y", "0", "causality=\"output\"", "declaredType=\"T\" displayUnit=\"mm\" max=\"5\"")
            REAL("u", "1", "causality=\"input\"",
                 "start=\"1\"") "</ModelVariables>\n"
                                "<TypeDefinitions><SimpleType name=\"T\"><Real unit=\"m\" min=\"1\" "
                                "displayUnit=\"mm\"/></SimpleType>"
                                "</TypeDefinitions>\n"
                                "<UnitDefinitions><Unit name=\"m\"><DisplayUnit name=\"mm\" "
                                "factor=\"1000\"/></Unit></UnitDefinitions>\n"
                                "<CoSimulation modelIdentifier=\"M\"/>\n"
                                "</fmiModelDescription>");
    expect_clean();
    const struct tt_var *y = &desc->vars[0];
    assert_string_equal(desc->units[y->unit].name, "m");
    assert_true(desc->units[y->unit].defined);
    assert_string_equal(desc->displays[y->display_unit].name, "mm");
    assert_string_equal(desc->displays[desc->types[0].display_unit].name, "mm");
    assert_same(y->bounds->min, 1);
    assert_same(y->bounds->max, 5);
    assert_int_equal(desc->outputs.items[0].dependencies[0], 1);
    tt_description_free(desc);
}

static void starts3(void **state)
{
    (void)state;
    struct tt_description *desc = read_text(FMI3(
        "<Float64 name=\"a\" valueReference=\"0\" start=\"1 two 3\"><Dimension start=\"3\"/></Float64>\n"
        "<String name=\"b\" valueReference=\"1\" start=\"old\"/>\n"
        "<Binary name=\"c\" valueReference=\"2\"><Start value=\"abc\"/><Start value=\"0g\"/><Start value=\" 0A \"/>"
        "<Start/></Binary>\n"
        "<Float64 name=\"d\" valueReference=\"3\"><Start value=\"1\"/></Float64>\n"
        "<UInt8 name=\"e\" valueReference=\"4\" start=\"256\"/>\n"
        "<Float32 name=\"f\" valueReference=\"5\" start=\"1e39\"/>\n"
        "<Clock name=\"g\" valueReference=\"6\" start=\"true\" intervalVariability=\"sometimes\"/>\n"
        "<UInt64 name=\"h\" valueReference=\"7\" start=\"-1\"/>\n"
        "<Int32 name=\"i\" valueReference=\"8\" variability=\"continuous\" start=\"  \"/>\n"
        "<Int64 name=\"j\" valueReference=\"9\" start=\"1.0 2\"><Dimension start=\"2\"/></Int64>\n",
        ""));
    expect_found(ERROR, 4, "variable \"a\": start is \"two\", expected a number");
    assert_null(desc->vars[0].start);
    expect_found(ERROR, 5, "start is \"old\", expected <Start> elements");
    assert_string_equal(*(const char *const *)desc->vars[1].start, "old");
    expect_found(ERROR, 6, "value is \"abc\", expected pairs of hexadecimal digits");
    expect_found(ERROR, 6, "value is \"0g\"");
    expect_found(ERROR, 6, "found <Start> without value");
    const struct tt_bytes *bytes = desc->vars[2].start;
    assert_int_equal(desc->vars[2].start_count, 4);
    assert_int_equal(bytes[0].size, 0);
    assert_int_equal(bytes[2].size, 1);
    assert_int_equal(bytes[2].data[0], 10);
    expect_found(ERROR, 7, "found a <Start> element, expected a start attribute");
    expect_found(ERROR, 8, "start is \"256\"");
    expect_found(ERROR, 9, "start is \"1e39\"");
    expect_found(ERROR, 10, "start is \"true\", expected none");
    expect_found(ERROR, 10, "intervalVariability is \"sometimes\"");
    expect_found(ERROR, 11, "start is \"-1\"");
    expect_found(ERROR, 12, "found variability continuous, which only a Float32 or Float64 can have");
    expect_found(ERROR, 12, "start is \"  \"");
    assert_int_equal(desc->vars[8].variability, TUTTI_DISCRETE);
    expect_found(ERROR, 13, "start is \"1.0 2\"");
    assert_int_equal(((const int64_t *)desc->vars[9].start)[0], 1);
    tt_description_free(desc);
}

static void extents(void **state)
{
    (void)state;
    struct tt_description *desc = read_text(FMI3(
        "<Float64 name=\"a\" valueReference=\"0\"><Dimension start=\"18446744073709551615\"/><Dimension start=\"2\"/>"
        "</Float64>\n"
        "<Float64 name=\"b\" valueReference=\"1\"><Dimension start=\"18446744073709551615\"/><Dimension start=\"2\"/>"
        "<Dimension start=\"0\"/></Float64>\n"
        "<Float64 name=\"c\" valueReference=\"2\"><Dimension start=\"99999999999999999999\"/></Float64>\n",
        "<EventIndicator valueReference=\"0\"/><EventIndicator valueReference=\"2\"/>"));
    assert_true(tt_description_var_size(&desc->vars[0]) == UINT64_MAX);
    assert_int_equal(tt_description_var_size(&desc->vars[1]), 0);
    expect_found(ERROR, 6, "start is \"99999999999999999999\"");
    assert_int_equal(desc->event_indicator_count, UINT32_MAX);
    tt_description_free(desc);

    struct tt_text text = {0};
    tt_text_append(&text, "<fmiModelDescription fmiVersion=\"3.0\"><ModelVariables>\n<Float64 name=\"a\">");
    for (int i = 0; i < 33; i++)
        tt_text_append(&text, "<Dimension start=\"1\"/>");
    refuse_text(text.text, TUTTI_ERR_LIMIT, "test.xml:2: variable \"a\" has more than 32 dimensions");
    tt_text_fini(&text);
}

static void names1(void **state)
{
    (void)state;
    struct tt_description *desc = read_text(
        FMI1("<ScalarVariable name=\"y\" valueReference=\"0\" causality=\"output\"><Real/><DirectDependency>\n"
             "<Name>u</Name>\n<Name>missing</Name><Name/><Name> </Name></DirectDependency></ScalarVariable>\n"
             "<ScalarVariable name=\"u\" valueReference=\"1\" causality=\"input\"><Real start=\"0\" fixed=\"x\"/>"
             "<DirectDependency><Name>y</Name></DirectDependency></ScalarVariable>\n"
             "<ScalarVariable name=\"z\" valueReference=\"2\" causality=\"output\"><Real fixed=\"true\"/>"
             "<DirectDependency><Name>u</Name></DirectDependency></ScalarVariable>\n",
             ""));
    expect_found(ERROR, 6, "variable \"y\": DirectDependency names \"missing\"");
    expect_found(ERROR, 7, "variable \"u\": found DirectDependency, which only an output can have");
    expect_found(ERROR, 7, "fixed is \"x\"");
    expect_found(WARNING, 8, "found fixed without start");
    assert_int_equal(desc->outputs.count, 2);
    assert_int_equal(desc->outputs.items[0].dependency_count, 1);
    assert_int_equal(desc->outputs.items[0].dependencies[0], 1);
    assert_int_equal(desc->outputs.items[1].dependency_count, 1);
    tt_description_free(desc);
}

/* The same fault everywhere is not said 1000 times, but counted. */
static void floods(void **state)
{
    (void)state;
    struct tt_text text = {0};
    tt_text_append(&text, "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"g\">\n<ModelVariables>\n");
    for (int i = 0; i < 1000; i++)
        tt_text_printf(&text, REAL("v%d", "%d", "colour=\"red\"", "start=\"x\""), i, i);
    tt_text_append(&text, "</ModelVariables><ModelStructure/></fmiModelDescription>");
    struct tt_description *desc = read_text(text.text);
    assert_int_equal(findings.errors, 1000);
    assert_int_equal(findings.warnings, 1000);
    assert_int_equal(found_count, 82);
    expect_found(ERROR, 3, "960 more like the one in line 3 are not listed");
    expect_found(WARNING, 3, "960 more like the one in line 3 are not listed");
    tt_description_free(desc);
    tt_text_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_parts), cmocka_unit_test(words),        cmocka_unit_test(numbers),
        cmocka_unit_test(missing_parts), cmocka_unit_test(variability2), cmocka_unit_test(references2),
        cmocka_unit_test(references3),   cmocka_unit_test(units),        cmocka_unit_test(any_order),
        cmocka_unit_test(starts3),       cmocka_unit_test(extents),      cmocka_unit_test(names1),
        cmocka_unit_test(floods),
    };
    return cmocka_run_group_tests_name("description/desc_lenient", tests, NULL, NULL);
}
