/* SPDX-License-Identifier: MIT */
/* Every rule of tt_description_check: one file that breaks it, and the line that is named. */
#include "desc_helper.h"

#define VAR(name, reference, attributes, kind, properties)                                                             \
    "<ScalarVariable name=\"" name "\" valueReference=\"" reference "\" " attributes "><" kind " " properties          \
    "/></ScalarVariable>\n"
#define REAL(name, reference, attributes, properties) VAR(name, reference, attributes, "Real", properties)
#define FIXED "causality=\"parameter\" variability=\"fixed\""

static void only(const char *text, enum tt_severity severity, unsigned line, const char *words)
{
    check_text(text);
    expect_only(severity, line, words);
}

static void also(const char *text, enum tt_severity severity, unsigned line, const char *words)
{
    check_text(text);
    expect_found(severity, line, words);
}

static void clean(const char *text)
{
    check_text(text);
    expect_clean();
}

static void root(void **state)
{
    (void)state;
    clean(FMI1("", ""));
    clean(FMI2("", ""));
    clean(FMI3("", ""));
    only("<!-- -->\n<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"g\"><ModelVariables/>"
         "<ModelStructure/></fmiModelDescription>",
         ERROR, 2, "found no interface, expected <CoSimulation> or <ModelExchange>");
    const char *text =
        "<fmiModelDescription fmiVersion=\"2.0\">\n<CoSimulation/>\n<ModelExchange modelIdentifier=\"a-b\" "
        "canSerializeFMUstate=\"true\"/>\n<DefaultExperiment startTime=\"2\" stopTime=\"1\" "
        "tolerance=\"0\" stepSize=\"-1\"/><LogCategories><Category name=\"a\"/><Category name=\"a\"/>"
        "</LogCategories>\n<ModelVariables/><ModelStructure/></fmiModelDescription>";
    check_text(text);
    expect_found(ERROR, 1, "found no guid");
    expect_found(ERROR, 1, "found no modelName");
    expect_found(ERROR, 2, "CoSimulation: found no modelIdentifier");
    expect_found(ERROR, 3, "ModelExchange: modelIdentifier is \"a-b\", expected a C identifier");
    expect_found(ERROR, 3, "it can serialize its state but not get and set it");
    expect_found(WARNING, 4, "stopTime 1 is before startTime 2");
    expect_found(WARNING, 4, "tolerance is 0");
    expect_found(WARNING, 4, "stepSize is -1");
    expect_found(ERROR, 1, "log category \"a\": defined twice");
    assert_int_equal(found_count, 9);
    static const char *const identifiers[] = {"", "1a", "a b", "../../x", "a.b", "\xc3\xa4"};
    for (size_t i = 0; i < sizeof identifiers / sizeof *identifiers; i++) {
        char changed[512];
        snprintf(changed, sizeof changed,
                 "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"g\">\n<CoSimulation "
                 "modelIdentifier=\"%s\"/>\n<ModelVariables/><ModelStructure/></fmiModelDescription>",
                 identifiers[i]);
        only(changed, ERROR, 2, "expected a C identifier");
    }
    also("<fmiModelDescription fmiVersion=\"3.0\"/>", ERROR, 1, "found no instantiationToken");
    also("<fmiModelDescription fmiVersion=\"1.0\"/>", ERROR, 1, "found no modelIdentifier");
    also("<fmiModelDescription fmiVersion=\"3.0\">\n<CoSimulation modelIdentifier=\"M\" "
         "fixedInternalStepSize=\"-1\"/></fmiModelDescription>",
         ERROR, 2, "fixedInternalStepSize is -1");
}

static void names(void **state)
{
    (void)state;
    only(FMI2(REAL("a", "0", "", "") REAL("b", "1", "", "") REAL("a", "2", "", ""), ""), ERROR, 6,
         "variable \"a\": the name is used twice, first in line 4");
    only(FMI3("<Float64 name=\"a\" valueReference=\"0\">\n<Alias name=\"x\"/>\n<Alias name=\"x\"/></Float64>\n", ""),
         ERROR, 6, "alias \"x\": the name is used twice, first in line 5");
    only(FMI3("<Float64 name=\"a\" valueReference=\"0\">\n<Alias name=\"a\"/></Float64>\n", ""), ERROR, 5,
         "alias \"a\": the name is used twice, first in line 4");
    only(FMI2(REAL("", "0", "", ""), ""), ERROR, 4, "the name is empty");
    only("<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"g\"><CoSimulation modelIdentifier=\"M\"/>\n"
         "<TypeDefinitions>\n<SimpleType name=\"a\"><Real/></SimpleType></TypeDefinitions><ModelVariables>" REAL(
             "a", "0", "", "") "</ModelVariables><ModelStructure/></fmiModelDescription>",
         WARNING, 3, "type \"a\": a variable has the same name");
}

static void types_and_units(void **state)
{
    (void)state;
    check_text(
        "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"g\"><CoSimulation modelIdentifier=\"M\"/>\n"
        "<UnitDefinitions>\n<Unit name=\"m\"><BaseUnit factor=\"0\"/>\n<DisplayUnit name=\"d\" factor=\"0\"/>"
        "</Unit></UnitDefinitions>\n"
        "<TypeDefinitions>\n"
        "<SimpleType name=\"A\"><Real unit=\"missing\"/></SimpleType>\n"
        "<SimpleType name=\"B\"><Real min=\"2\" max=\"1\"/></SimpleType>\n"
        "<SimpleType name=\"C\"><Enumeration/></SimpleType>\n"
        "<SimpleType name=\"D\"><Enumeration><Item name=\"a\" value=\"1\"/><Item name=\"b\" value=\"2\"/>"
        "<Item name=\"a\" value=\"3\"/><Item name=\"c\" value=\"2\"/></Enumeration></SimpleType>\n"
        "</TypeDefinitions>\n<ModelVariables>\n" REAL("v", "0", "", "unit=\"gone\"")
            REAL("w", "1", "", "declaredType=\"A\"") REAL("x", "2", "", "declaredType=\"B\"") REAL("y", "3", "",
                                                                                                   "declaredType=\"D\"")
                VAR("z", "4", FIXED, "Enumeration", "declaredType=\"D\" start=\"7\"") VAR("t", "5", FIXED,
                                                                                          "Enumeration", "start=\"7\"")
                    VAR("s", "6", FIXED, "Enumeration",
                        "declaredType=\"D\" start=\"3\"") "</ModelVariables><ModelStructure/></fmiModelDescription>");
    expect_found(ERROR, 3, "unit \"m\": factor is 0");
    expect_found(ERROR, 4, "display unit \"d\": factor is 0");
    expect_found(ERROR, 6, "type \"A\": unit is \"missing\", expected one that UnitDefinitions defines");
    expect_found(ERROR, 7, "type \"B\": min 2 is greater than max 1");
    expect_found(ERROR, 8, "type \"C\": found no <Item>");
    expect_found(ERROR, 9, "type \"D\": two items are named \"a\"");
    expect_found(ERROR, 9, "type \"D\": two items have the value 2");
    expect_found(ERROR, 12, "variable \"v\": unit is \"gone\", expected one that UnitDefinitions defines");
    expect_found(ERROR, 15, "its declared type \"D\" (line 9) is Enumeration, expected Float64");
    expect_found(ERROR, 16, "start value 7 is none of the items of \"D\"");
    expect_found(ERROR, 17, "found no declared type");
    assert_int_equal(found_count, 11);
    only("<fmiModelDescription fmiVersion=\"3.0\" modelName=\"M\" instantiationToken=\"g\"><CoSimulation "
         "modelIdentifier=\"M\"/><UnitDefinitions><Unit name=\"m\">\n<DisplayUnit name=\"d\" inverse=\"true\" "
         "offset=\"1\"/></Unit></UnitDefinitions><ModelVariables><Float64 name=\"time\" valueReference=\"0\" "
         "causality=\"independent\"/></ModelVariables><ModelStructure/></fmiModelDescription>",
         ERROR, 2, "offset is 1, expected 0 because inverse is true");
    /* 1.0 need not define its units. */
    clean(FMI1(REAL("v", "0", "", "unit=\"gone\""), ""));
    only(FMI3("<Float64 name=\"v\" valueReference=\"0\" unit=\"gone\"/>\n", ""), ERROR, 4, "unit is \"gone\"");
}

/* All combinations of causality, variability and initial, against the tables as the standards print them. */
static void combinations(void **state)
{
    (void)state;
    static const char *const causalities[] = {"parameter", "calculatedParameter", "input", "output",
                                              "local",     "independent"};
    static const char *const variabilities[] = {"constant", "fixed", "tunable", "discrete", "continuous"};
    static const char *const initials[] = {"", "exact", "approx", "calculated"};
    /* which initials may be written: n none, e exact, a approx, c calculated; "" no combination */
    static const char *const table2[5][6] = {{"", "", "", "ne", "ne", ""},
                                             {"ne", "nac", "", "", "nac", ""},
                                             {"ne", "nac", "", "", "nac", ""},
                                             {"", "", "n", "neac", "neac", ""},
                                             {"", "", "n", "neac", "neac", "n"}};
    for (int v = 0; v < 5; v++)
        for (int c = 0; c < 6; c++)
            for (int i = 0; i < 4; i++)
                for (int fmi = 2; fmi <= 3; fmi++) {
                    char initial[32] = "", text[1024];
                    bool allowed = strchr(table2[v][c], "neac"[i]) && *table2[v][c];
                    if (fmi == 3 && strcmp(causalities[c], "input") == 0 && i == 1 && *table2[v][c])
                        allowed = true;
                    if (i)
                        snprintf(initial, sizeof initial, "initial=\"%s\"", initials[i]);
                    if (fmi == 2)
                        snprintf(text, sizeof text,
                                 FMI2("<ScalarVariable name=\"v\" valueReference=\"0\" causality=\"%s\" "
                                      "variability=\"%s\" %s><Real/></ScalarVariable>\n",
                                      ""),
                                 causalities[c], variabilities[v], initial);
                    else
                        snprintf(text, sizeof text,
                                 FMI3("<Float64 name=\"v\" valueReference=\"0\" causality=\"%s\" variability=\"%s\" "
                                      "%s/>\n",
                                      ""),
                                 causalities[c], variabilities[v], initial);
                    check_text(text);
                    bool reported = was_found(ERROR, 4, "does not go with");
                    if (reported == allowed)
                        fail_msg("FMI %d: %s %s %s", fmi, causalities[c], variabilities[v], initials[i]);
                }
    only(FMI2(REAL("v", "0", "causality=\"parameter\" variability=\"discrete\"", "start=\"1\""), ""), ERROR, 4,
         "causality parameter does not go with variability discrete, expected fixed or tunable");
    only(FMI2(REAL("v", "0", "causality=\"input\" initial=\"exact\"", "start=\"1\""), ""), ERROR, 4,
         "initial exact does not go with causality input and variability continuous, expected none");
}

static void starts(void **state)
{
    (void)state;
    only(FMI2(REAL("v", "0", "causality=\"input\"", ""), ""), ERROR, 4,
         "variable \"v\": found no start value, expected one because causality is input");
    only(FMI2(REAL("v", "0", FIXED, ""), ""), ERROR, 4, "expected one because causality is parameter");
    only(FMI2(REAL("v", "0", "variability=\"constant\"", ""), ""), ERROR, 4, "expected one because it is constant");
    only(FMI2(REAL("v", "0", "initial=\"exact\"", ""), ""), ERROR, 4, "expected one because initial is exact");
    only(FMI2(REAL("v", "0", "initial=\"approx\"", ""), ""), ERROR, 4, "expected one because initial is approx");
    only(FMI2(REAL("v", "0", "initial=\"calculated\"", "start=\"1\""), ""), ERROR, 4,
         "found a start value, expected none because initial is calculated");
    only(FMI2(REAL("v", "0", "", "start=\"1\""), ""), ERROR, 4, "because initial is calculated by default");
    only(FMI2(REAL("v", "0", "causality=\"independent\"", "start=\"1\""), ""), ERROR, 4,
         "expected none because it is the independent variable");
    only(FMI1(REAL("v", "0", "variability=\"constant\"", ""), ""), ERROR, 4, "expected one because it is constant");
    only(FMI1(REAL("v", "0", "causality=\"input\"", ""), ""), WARNING, 4, "expected one because it is an input");
    clean(FMI1(REAL("v", "0", "", "start=\"1\""), ""));
    only(FMI3("<UInt64 name=\"v\" valueReference=\"0\" causality=\"structuralParameter\"/>\n", ""), ERROR, 4,
         "because causality is structuralParameter");
    only(FMI3("<String name=\"v\" valueReference=\"0\" causality=\"input\"/>\n", ""), ERROR, 4, "found no start value");
    clean(FMI3("<Clock name=\"v\" valueReference=\"0\" causality=\"input\" intervalVariability=\"triggered\"/>\n", ""));
}

static void bounds(void **state)
{
    (void)state;
    only(FMI2(REAL("v", "0", "", "min=\"2\" max=\"1\""), ""), ERROR, 4, "min 2 is greater than max 1");
    only(FMI2(REAL("v", "0", FIXED, "min=\"2\" max=\"3\" start=\"1\""), ""), ERROR, 4,
         "start value 1 is outside of min 2 and max 3");
    only(FMI2(VAR("v", "0", FIXED, "Integer", "max=\"3\" start=\"4\""), ""), ERROR, 4, "start value 4 is outside");
    clean(FMI2(REAL("v", "0", FIXED, "min=\"1\" max=\"1\" start=\"1\""), ""));
    only(FMI2(REAL("v", "0", "", "nominal=\"0\""), ""), ERROR, 4, "nominal is 0");
    only(FMI1(REAL("v", "0", "", "nominal=\"0\""), ""), WARNING, 4, "nominal is 0");
    only(FMI3("<UInt8 name=\"v\" valueReference=\"0\" causality=\"parameter\" start=\"1 2 9\" max=\"8\"><Dimension "
              "start=\"3\"/></UInt8>\n",
              ""),
         ERROR, 4, "start value 9 is outside");
}

static void references(void **state)
{
    (void)state;
    only(FMI3("<Float64 name=\"v\" valueReference=\"5\"/>\n<Int8 name=\"w\" valueReference=\"5\"/>\n", ""), ERROR, 5,
         "variable \"w\": it has the value reference 5 of \"v\" (line 4), expected different references");
    /* 2.0: one reference is one value */
    clean(FMI2(REAL("v", "5", "", "") REAL("w", "5", "", "") VAR("x", "5", "variability=\"discrete\"", "Integer", ""),
               ""));
    only(FMI2(REAL("v", "5", FIXED, "start=\"1\"") REAL("w", "5", "causality=\"input\"", "start=\"1\""), ""), ERROR, 5,
         "and both can be set; expected different references");
}

static void aliases2(void **state)
{
    (void)state;
    check_text(FMI2(REAL("v", "5", "", "") REAL("w", "5", "variability=\"constant\"", "start=\"1\""), ""));
    expect_found(ERROR, 5, "it has the value reference 5 of \"v\" (line 4), and only one of them is constant");
    check_text(FMI2(
        REAL("v", "5", "initial=\"exact\"", "start=\"1\"") REAL("w", "5", "initial=\"exact\"", "start=\"1\""), ""));
    expect_only(WARNING, 5, "and both have a start value; expected one");
    only("<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"g\"><CoSimulation modelIdentifier=\"M\"/>"
         "<UnitDefinitions><Unit name=\"m\"/><Unit name=\"s\"/></UnitDefinitions><ModelVariables>\n" REAL(
             "v", "5", "", "unit=\"m\"") REAL("w", "5", "", "unit=\"s\"") "</ModelVariables><ModelStructure/>"
                                                                          "</fmiModelDescription>",
         ERROR, 3, "expected the same unit");
    only(
        "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"g\"><CoSimulation modelIdentifier=\"M\"/>"
        "<TypeDefinitions><SimpleType name=\"E\"><Enumeration><Item name=\"a\" value=\"1\"/></Enumeration></SimpleType>"
        "</TypeDefinitions><ModelVariables>\n" VAR("v", "5", "variability=\"discrete\"", "Integer", "")
            VAR("w", "5", "variability=\"discrete\"", "Enumeration",
                "declaredType=\"E\"") "</ModelVariables>"
                                      "<ModelStructure/></fmiModelDescription>",
        WARNING, 3, "expected the same type");
}

static void aliases1(void **state)
{
    (void)state;
    clean(FMI1(REAL("v", "5", "", "") REAL("w", "5", "alias=\"negatedAlias\"", ""), ""));
    only(FMI1(REAL("v", "5", "", "") REAL("w", "5", "", ""), ""), WARNING, 5, "expected alias or negatedAlias");
    only(FMI1(REAL("v", "5", "", "") VAR("w", "5", "alias=\"alias\" variability=\"discrete\"", "Boolean", ""), ""),
         ERROR, 5, "it is an alias, but no variable of its type has the value reference 5");
    only(FMI1(VAR("v", "5", "", "Integer", "") "<ScalarVariable name=\"w\" valueReference=\"5\" alias=\"alias\">"
                                               "<Enumeration declaredType=\"E\"/></ScalarVariable>\n",
              "<TypeDefinitions><Type name=\"E\"><EnumerationType><Item name=\"a\"/></EnumerationType></Type>"
              "</TypeDefinitions>"),
         ERROR, 5, "it is an alias of \"v\" (line 4), expected the same type");
    only(FMI1(VAR("v", "5", "", "Boolean", "") VAR("w", "5", "alias=\"negatedAlias\"", "Boolean", ""), ""), ERROR, 5,
         "it is a negated alias of type Boolean, expected a number");
}

static void independent(void **state)
{
    (void)state;
    only(FMI2(REAL("t", "0", "causality=\"independent\"", "") REAL("s", "1", "causality=\"independent\"", ""), ""),
         ERROR, 5, "variable \"s\": a second independent variable besides \"t\" (line 4)");
    also(FMI3("<Float64 name=\"t\" valueReference=\"0\" causality=\"independent\"/>\n", ""), ERROR, 5,
         "variable \"time\": a second independent variable");
    only("<fmiModelDescription fmiVersion=\"3.0\" modelName=\"M\" instantiationToken=\"g\"><CoSimulation "
         "modelIdentifier=\"M\"/><ModelVariables/><ModelStructure/></fmiModelDescription>",
         ERROR, 1, "found no variable with causality independent");
    also(FMI3("<Int32 name=\"t\" valueReference=\"0\" causality=\"independent\"/>\n", ""), ERROR, 4,
         "the independent variable is Int32, expected Float64 or Float32");
}

static void outputs(void **state)
{
    (void)state;
    only(FMI2(REAL("y", "0", "causality=\"output\"", ""),
              "<Outputs/>\n<InitialUnknowns><Unknown index=\"1\"/></InitialUnknowns>\n"),
         ERROR, 4, "the output is missing in <ModelStructure><Outputs>");
    only(
        FMI2(REAL("y", "0", "causality=\"output\"", ""), "<InitialUnknowns><Unknown index=\"1\"/></InitialUnknowns>\n"),
        ERROR, 4, "the output is missing in <ModelStructure><Outputs>");
    only(FMI2(REAL("y", "0", "causality=\"output\"", ""),
              "<Outputs>\n<Unknown index=\"1\"/>\n<Unknown index=\"1\"/></Outputs>\n<InitialUnknowns><Unknown "
              "index=\"1\"/></InitialUnknowns>\n"),
         ERROR, 9, "output \"y\": it is listed twice");
    only(FMI2(REAL("y", "0", "", ""), "<Outputs>\n<Unknown index=\"1\"/></Outputs>\n"), ERROR, 8,
         "output \"y\": the variable (line 4) has causality local, expected output");
    only(FMI3("<Float64 name=\"y\" valueReference=\"0\" causality=\"output\"/>\n",
              "<InitialUnknown valueReference=\"0\"/>"),
         ERROR, 4, "the output is missing in <ModelStructure>");
    only(FMI2(REAL("y", "0", "causality=\"output\"", ""), "<Outputs><Unknown index=\"1\"/></Outputs>\n"), ERROR, 4,
         "it is missing among the initial unknowns, expected there as an output");
}

static void states(void **state)
{
    (void)state;
#define STATE REAL("x", "0", "initial=\"exact\"", "start=\"1\"")
#define DERIVATIVE REAL("v", "1", "", "derivative=\"1\"")
#define LISTED                                                                                                         \
    "<Derivatives>\n<Unknown index=\"2\"/>\n</Derivatives>\n<InitialUnknowns>\n<Unknown "                              \
    "index=\"2\"/></InitialUnknowns>\n"
    clean(FMI2(STATE DERIVATIVE, LISTED));
    only(FMI2(STATE REAL("v", "1", "", ""), LISTED), ERROR, 9,
         "derivative \"v\": the variable (line 5) has no derivative attribute, expected one that names its state");
    only(FMI2(STATE DERIVATIVE REAL("w", "2", "", "derivative=\"1\""),
              "<Derivatives><Unknown index=\"2\"/>\n<Unknown index=\"3\"/></Derivatives>\n<InitialUnknowns><Unknown "
              "index=\"2\"/><Unknown index=\"3\"/></InitialUnknowns>\n"),
         ERROR, 10, "derivative \"w\": the state \"x\" (line 4) has another derivative in the list");
    only(FMI2(REAL("x", "0", "causality=\"input\"", "start=\"1\"") DERIVATIVE, LISTED), ERROR, 4,
         "a state with causality input, expected local or output");
    only(FMI2(STATE DERIVATIVE, "<Derivatives>\n<Unknown index=\"2\"/>\n</Derivatives>\n"), WARNING, 5,
         "it is missing among the initial unknowns, expected there as a derivative");
    only(FMI2(REAL("x", "0", "", "reinit=\"true\""), ""), ERROR, 4,
         "found reinit, expected a state: no variable is its derivative");
    only(FMI2(REAL("x", "0", "", "derivative=\"1\""), ""), ERROR, 4, "it is the derivative of itself");
    only(FMI2(REAL("x", "0", "variability=\"discrete\"", "") DERIVATIVE, ""), ERROR, 5,
         "it is the derivative of \"x\" (line 4), expected a continuous Real");
    only(FMI2(STATE REAL("v", "1", "variability=\"discrete\"", "derivative=\"1\""), ""), ERROR, 5,
         "it is a derivative and discrete, expected continuous");
    only(FMI3("<Float64 name=\"x\" valueReference=\"0\"><Dimension start=\"2\"/></Float64>\n"
              "<Float64 name=\"v\" valueReference=\"1\" derivative=\"0\"/>\n",
              ""),
         ERROR, 5, "it has 1 elements and its state \"x\" (line 4) has 2");
    /* In Model Exchange the list must be whole. */
    only("<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"g\">\n<ModelExchange modelIdentifier=\"M\"/>\n"
         "<ModelVariables>\n" STATE DERIVATIVE "</ModelVariables><ModelStructure><Derivatives><Unknown index=\"2\"/>"
         "</Derivatives></ModelStructure></fmiModelDescription>",
         ERROR, 5, "it is missing among the initial unknowns");
}

static void initial_unknowns(void **state)
{
    (void)state;
    only(FMI2(REAL("c", "0", "causality=\"calculatedParameter\" variability=\"fixed\"", ""), ""), ERROR, 4,
         "expected there as a calculated parameter");
    only(FMI2(REAL("c", "0", "", ""), "<InitialUnknowns>\n<Unknown index=\"1\"/></InitialUnknowns>\n"), WARNING, 8,
         "initial unknown \"c\": the variable (line 4) is not expected there");
    only(FMI2(REAL("a", "0", "causality=\"calculatedParameter\" variability=\"fixed\"", "")
                  REAL("b", "1", "causality=\"calculatedParameter\" variability=\"fixed\"", ""),
              "<InitialUnknowns><Unknown index=\"2\"/>\n<Unknown index=\"1\" dependencies=\"2\" "
              "dependenciesKind=\"constant\"/></InitialUnknowns>\n"),
         WARNING, 9, "initial unknown \"a\": it comes after a variable with a larger index");
    only(FMI2(REAL("a", "0", "causality=\"calculatedParameter\" variability=\"fixed\"", ""),
              "<InitialUnknowns><Unknown index=\"1\" dependencies=\"1\" "
              "dependenciesKind=\"tunable\"/></InitialUnknowns>\n"),
         WARNING, 7, "dependenciesKind has fixed, tunable or discrete");
}

static void dimensions(void **state)
{
    (void)state;
#define N "<UInt64 name=\"n\" valueReference=\"1\" causality=\"structuralParameter\" start=\"2\"/>\n"
    clean(FMI3(N "<Float64 name=\"v\" valueReference=\"0\" causality=\"parameter\" start=\"1\"><Dimension "
                 "valueReference=\"1\"/></Float64>\n",
               ""));
    only(FMI3(N "<Float64 name=\"v\" valueReference=\"0\" causality=\"parameter\" start=\"1 2 3\"><Dimension "
                "valueReference=\"1\"/></Float64>\n",
              ""),
         ERROR, 5, "found 3 start values, expected 1 or 2");
    only(FMI3("<Float64 name=\"v\" valueReference=\"0\"><Dimension start=\"0\"/></Float64>\n", ""), ERROR, 4,
         "dimension 1 is 0 at the start");
    only(FMI3("<UInt64 name=\"n\" valueReference=\"1\" causality=\"parameter\" start=\"2\"/>\n<Float64 name=\"v\" "
              "valueReference=\"0\"><Dimension valueReference=\"1\"/></Float64>\n",
              ""),
         ERROR, 5, "dimension 1 is \"n\" (line 4), expected a UInt64 that is a structural parameter or constant");
    also(FMI3("<UInt64 name=\"n\" valueReference=\"1\" causality=\"structuralParameter\" start=\"2\"><Dimension "
              "start=\"1\"/></UInt64>\n",
              ""),
         ERROR, 4, "found <Dimension>, expected none for a structural parameter");
    only(FMI3("<Float64 name=\"v\" valueReference=\"0\"><Dimension start=\"18446744073709551615\"/><Dimension "
              "start=\"9\"/>"
              "</Float64>\n",
              ""),
         ERROR, 4, "more elements than 64 bits can count");
    only(
        FMI3("<String name=\"v\" valueReference=\"0\" causality=\"structuralParameter\"><Start value=\"\"/></String>\n",
             ""),
        WARNING, 4, "a structural parameter of type String");
}

static void clocks(void **state)
{
    (void)state;
#define CLOCK "<Clock name=\"c\" valueReference=\"1\" causality=\"input\" intervalVariability=\"triggered\"/>\n"
    only(FMI3(CLOCK "<Float64 name=\"v\" valueReference=\"0\" clocks=\"1\"/>\n", ""), ERROR, 5,
         "a clocked variable with variability continuous, expected discrete or tunable");
    only(FMI3("<Int8 name=\"c\" valueReference=\"1\"/>\n<Int8 name=\"v\" valueReference=\"0\" clocks=\"1\"/>\n", ""),
         ERROR, 5, "clocks names \"c\" (line 4), which is no clock");
    only(FMI3("<Int8 name=\"w\" valueReference=\"1\"/>\n<Int8 name=\"v\" valueReference=\"0\" previous=\"1\"/>\n", ""),
         ERROR, 5, "found previous, expected it only at a discrete variable with clocks");
    only(FMI3(CLOCK "<Int8 name=\"v\" valueReference=\"0\" clocks=\"1\" previous=\"0\"/>\n", ""), ERROR, 5,
         "it is its own previous value");
    only(FMI3(CLOCK "<Int16 name=\"w\" valueReference=\"2\"/>\n<Int8 name=\"v\" valueReference=\"0\" clocks=\"1\" "
                    "previous=\"2\"/>\n",
              ""),
         ERROR, 6, "previous is \"w\" (line 5), expected a discrete Int8 that is no input");
    only(FMI3("<Clock name=\"c\" valueReference=\"1\"/>\n", ""), ERROR, 4, "found no intervalVariability");
    only(FMI3("<Clock name=\"c\" valueReference=\"1\" causality=\"input\" intervalVariability=\"constant\"/>\n", ""),
         ERROR, 4, "a constant clock without a positive intervalDecimal");
    only(FMI3("<Clock name=\"c\" valueReference=\"1\" intervalVariability=\"fixed\" intervalDecimal=\"1\"/>\n", ""),
         ERROR, 4, "a clock with causality local that ticks by time");
    only(FMI3("<Clock name=\"c\" valueReference=\"1\" causality=\"input\" intervalVariability=\"fixed\" "
              "intervalDecimal=\"-1\"/>\n",
              ""),
         ERROR, 4, "intervalDecimal is -1");
    only(FMI3("<Clock name=\"c\" valueReference=\"1\" causality=\"input\" intervalVariability=\"fixed\" "
              "intervalDecimal=\"1e-30\"/>\n",
              ""),
         ERROR, 4, "expected a fraction of two 64-bit numbers");
    only(FMI3("<Clock name=\"c\" valueReference=\"1\" causality=\"input\" intervalVariability=\"fixed\" "
              "intervalDecimal=\"0.5\" supportsFraction=\"true\" intervalCounter=\"1\" resolution=\"3\"/>\n",
              ""),
         ERROR, 4, "expected intervalDecimal, which is 0.5");
    only(FMI3("<Clock name=\"c\" valueReference=\"1\" causality=\"output\" intervalVariability=\"triggered\" "
              "priority=\"1\"/>\n",
              "<Output valueReference=\"1\"/>\n"),
         ERROR, 4, "expected none for an output clock");
    only(FMI3("<Clock name=\"c\" valueReference=\"1\" causality=\"input\" intervalVariability=\"countdown\" "
              "intervalDecimal=\"1\"/>\n",
              ""),
         ERROR, 4, "found an interval, expected none");
    only(FMI3("<Clock name=\"c\" valueReference=\"1\" causality=\"input\" intervalVariability=\"fixed\" "
              "intervalDecimal=\"1\" "
              "shiftDecimal=\"-1\"/>\n",
              ""),
         ERROR, 4, "shiftDecimal is -1");
    only(FMI3("<Clock name=\"c\" valueReference=\"1\" causality=\"input\" intervalVariability=\"fixed\" "
              "intervalCounter=\"1\"/>\n",
              ""),
         ERROR, 4, "found intervalCounter without resolution");
    only(FMI3("<Clock name=\"c\" valueReference=\"1\" causality=\"parameter\" variability=\"discrete\" "
              "intervalVariability=\"triggered\"/>\n",
              ""),
         ERROR, 4, "a clock with causality parameter");
    only(FMI3("<Clock name=\"c\" valueReference=\"1\" variability=\"tunable\" intervalVariability=\"triggered\"/>\n",
              ""),
         ERROR, 4, "a clock with variability tunable");
    only(FMI3("<Int8 name=\"v\" valueReference=\"0\" intermediateUpdate=\"true\"/>\n", ""), ERROR, 4,
         "found intermediateUpdate, expected it only at a continuous variable");
    only(FMI3("<Int8 name=\"v\" valueReference=\"0\"/>\n", "<ClockedState valueReference=\"0\"/>"), ERROR, 4,
         "it is listed as a clocked state, expected the attributes previous and clocks");
    only(FMI3("<Int8 name=\"v\" valueReference=\"0\"/>\n", "<EventIndicator valueReference=\"0\"/>"), ERROR, 4,
         "it is listed as an event indicator, expected a continuous Float32 or Float64");
    only(FMI2(REAL("v", "0", "canHandleMultipleSetPerTimeInstant=\"false\"", ""), ""), WARNING, 4,
         "found canHandleMultipleSetPerTimeInstant, expected it only at inputs");
}

/* Many equal names, references and types must not take quadratic time. */
static void many(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    struct tt_text text = {0};
    tt_text_append(&text, "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"g\"><CoSimulation "
                          "modelIdentifier=\"M\"/><UnitDefinitions><Unit name=\"m\">");
    for (int i = 0; i < COUNT; i++)
        tt_text_printf(&text, "<DisplayUnit name=\"d%d\"/>", i);
    tt_text_append(&text, "</Unit></UnitDefinitions><TypeDefinitions><SimpleType name=\"E\"><Enumeration>");
    for (int i = 0; i < COUNT; i++)
        tt_text_printf(&text, "<Item name=\"i%d\" value=\"%d\"/>", i, i);
    tt_text_append(&text, "</Enumeration></SimpleType></TypeDefinitions><ModelVariables>");
    for (int i = 0; i < COUNT; i++)
        tt_text_printf(&text,
                       VAR("x", "1", "", "Real", "unit=\"m\" displayUnit=\"d%d\"")
                           VAR("e%d", "%d", FIXED, "Enumeration", "declaredType=\"E\" start=\"%d\""),
                       COUNT - 1, i, i, COUNT - 1);
    tt_text_append(&text, "</ModelVariables><ModelStructure/></fmiModelDescription>");
    assert_false(text.failed);
    check_text(text.text);
    assert_int_equal(findings.errors, COUNT - 1);
    assert_int_equal(findings.warnings, 0);
    tt_text_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(root),
        cmocka_unit_test(names),
        cmocka_unit_test(types_and_units),
        cmocka_unit_test(combinations),
        cmocka_unit_test(starts),
        cmocka_unit_test(bounds),
        cmocka_unit_test(references),
        cmocka_unit_test(aliases2),
        cmocka_unit_test(aliases1),
        cmocka_unit_test(independent),
        cmocka_unit_test(outputs),
        cmocka_unit_test(states),
        cmocka_unit_test(initial_unknowns),
        cmocka_unit_test(dimensions),
        cmocka_unit_test(clocks),
        cmocka_unit_test(many),
    };
    return cmocka_run_group_tests_name("description/desc_check", tests, NULL, NULL);
}
