/* SPDX-License-Identifier: MIT */
/* The content of descriptions of FMI 1.0, 2.0 and 3.0, and the reading of slightly wrong files. */
#include "desc_helper.h"

static void fmi1_cs(void **state)
{
    (void)state;
    struct tt_description *desc = read_text(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<fmiModelDescription xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:x=\"y\" fmiVersion=\"1.0\"\n"
        "  modelName=\"A.B\" modelIdentifier=\"A_B\" guid=\"{8}\" description=\"d\" author=\"a\" version=\"1\"\n"
        "  generationTool=\"t\" generationDateAndTime=\"2020-01-01T00:00:00Z\" "
        "variableNamingConvention=\"structured\"\n"
        "  numberOfContinuousStates=\"2\" numberOfEventIndicators=\"3\">\n"
        "<UnitDefinitions>\n"
        "<BaseUnit unit=\"rad\"><DisplayUnitDefinition displayUnit=\"deg\" gain=\"57.25\" offset=\"1\"/></BaseUnit>\n"
        "</UnitDefinitions>\n"
        "<TypeDefinitions>\n"
        "<Type name=\"Angle\" description=\"an angle\"><RealType quantity=\"Angle\" unit=\"rad\" displayUnit=\"deg\" "
        "relativeQuantity=\"true\" min=\"-4\" max=\"4\" nominal=\"2\"/></Type>\n"
        "<Type name=\"Mode\"><EnumerationType min=\"1\" max=\"2\"><Item name=\"off\"/><Item name=\"on\" "
        "description=\"it runs\"/></EnumerationType></Type>\n"
        "<Type name=\"I\"><IntegerType min=\"0\"/></Type><Type name=\"B\"><BooleanType/></Type>"
        "<Type name=\"S\"><StringType/></Type>\n"
        "</TypeDefinitions>\n"
        "<DefaultExperiment startTime=\"1\" stopTime=\"2.5\" tolerance=\"1e-5\"/>\n"
        "<VendorAnnotations><Tool name=\"one\"><Annotation name=\"a\" value=\"b\"/></Tool><Tool name=\"two\"/>"
        "</VendorAnnotations>\n"
        "<ModelVariables>\n"
        "<ScalarVariable name=\"p\" valueReference=\"1\" description=\"par\" variability=\"parameter\">"
        "<Real declaredType=\"Angle\" start=\"0.5\"/></ScalarVariable>\n"
        "<ScalarVariable name=\"u\" valueReference=\"2\" causality=\"input\"><Real start=\"0\"/></ScalarVariable>\n"
        "<ScalarVariable name=\"y\" valueReference=\"3\" causality=\"output\"><Real unit=\"m\" max=\"9\"/>"
        "<DirectDependency><Name>u</Name><Name>p</Name></DirectDependency></ScalarVariable>\n"
        "<ScalarVariable name=\"z\" valueReference=\"4\" causality=\"output\" variability=\"discrete\"><Integer/>"
        "</ScalarVariable>\n"
        "<ScalarVariable name=\"w\" valueReference=\"5\" causality=\"output\"><Real/><DirectDependency/>"
        "</ScalarVariable>\n"
        "<ScalarVariable name=\"a\" valueReference=\"3\" alias=\"alias\"><Real/></ScalarVariable>\n"
        "<ScalarVariable name=\"n\" valueReference=\"3\" alias=\"negatedAlias\"><Real/></ScalarVariable>\n"
        "<ScalarVariable name=\"e\" valueReference=\"7\" causality=\"none\"><Enumeration declaredType=\"Mode\" "
        "start=\"2\" fixed=\"false\"/></ScalarVariable>\n"
        "<ScalarVariable name=\"s\" valueReference=\"8\" variability=\"constant\"><String start=\"hi &lt;\"/>"
        "</ScalarVariable>\n"
        "<ScalarVariable name=\"b\" valueReference=\"9\" variability=\"parameter\"><Boolean/></ScalarVariable>\n"
        "<ScalarVariable name=\"t\" valueReference=\"10\" variability=\"parameter\" causality=\"input\">"
        "<Real start=\"1\"/></ScalarVariable>\n"
        "</ModelVariables>\n"
        "<Implementation><CoSimulation_StandAlone><Capabilities canHandleVariableCommunicationStepSize=\"true\" "
        "canHandleEvents=\"true\" canRejectSteps=\"true\" canInterpolateInputs=\"1\" maxOutputDerivativeOrder=\"2\" "
        "canRunAsynchronuously=\"false\" canSignalEvents=\"true\" canBeInstantiatedOnlyOncePerProcess=\"true\" "
        "canNotUseMemoryManagementFunctions=\"true\"/></CoSimulation_StandAlone></Implementation>\n"
        "</fmiModelDescription>\n");
    expect_clean();
    assert_int_equal(desc->fmi, 1);
    assert_string_equal(desc->fmi_version, "1.0");
    assert_string_equal(desc->model_name, "A.B");
    assert_string_equal(desc->token, "{8}");
    assert_string_equal(desc->author, "a");
    assert_string_equal(desc->tool, "t");
    assert_string_equal(desc->date, "2020-01-01T00:00:00Z");
    assert_string_equal(desc->naming, "structured");
    assert_null(desc->copyright);
    assert_int_equal(desc->line, 2);
    const struct tt_interface *cs = &desc->interfaces[TUTTI_CS];
    assert_true(cs->present);
    assert_false(desc->interfaces[TUTTI_ME].present);
    assert_string_equal(cs->model_identifier, "A_B");
    assert_int_equal(cs->max_output_derivative_order, 2);
    assert_int_equal(cs->flags, TUTTI_CAN_VARIABLE_STEP | TUTTI_CAN_REJECT_STEPS | TUTTI_CAN_INPUT_DERIVATIVES |
                                    TUTTI_CAN_SIGNAL_EVENTS | TUTTI_ONCE_PER_PROCESS | TUTTI_NO_MEMORY_FUNCTIONS);
    assert_int_equal(desc->state_count, 2);
    assert_int_equal(desc->event_indicator_count, 3);
    assert_true(desc->experiment.has_start && desc->experiment.has_stop && desc->experiment.has_tolerance);
    assert_false(desc->experiment.has_step);
    assert_same(desc->experiment.stop, 2.5);
    assert_int_equal(desc->annotation_count, 2);
    assert_string_equal(desc->annotations[1], "two");

    const struct tt_var *p = var_named(desc, "p");
    assert_int_equal(p->causality, TUTTI_PARAMETER);
    assert_int_equal(p->variability, TUTTI_FIXED);
    assert_int_equal(p->initial, TUTTI_EXACT);
    assert_string_equal(p->description, "par");
    assert_same(*(const double *)p->start, 0.5);
    assert_string_equal(desc->types[p->type_def].name, "Angle");
    assert_string_equal(desc->types[p->type_def].quantity, "Angle");
    assert_string_equal(desc->units[p->unit].name, "rad");
    assert_string_equal(desc->displays[p->display_unit].name, "deg");
    assert_same(desc->displays[p->display_unit].factor, 57.25);
    assert_same(desc->displays[p->display_unit].offset, 1);
    assert_true(p->bounds->relative);
    assert_same(p->bounds->min, -4);
    assert_same(p->bounds->nominal, 2);

    assert_int_equal(var_named(desc, "u")->initial, TUTTI_INITIAL_NONE);
    const struct tt_var *y = var_named(desc, "y");
    assert_string_equal(desc->units[y->unit].name, "m");
    assert_false(desc->units[y->unit].defined);
    assert_same(y->bounds->max, 9);
    assert_true(isinf(y->bounds->min) && y->bounds->nominal == 1);
    assert_int_equal(desc->outputs.count, 3);
    assert_false(desc->outputs.given);
    assert_true(desc->outputs.items[0].has_dependencies);
    assert_int_equal(desc->outputs.items[0].dependency_count, 2);
    assert_string_equal(desc->vars[desc->outputs.items[0].dependencies[0]].name, "u");
    assert_string_equal(desc->vars[desc->outputs.items[0].dependencies[1]].name, "p");
    assert_false(desc->outputs.items[1].has_dependencies);
    assert_true(desc->outputs.items[2].has_dependencies);
    assert_int_equal(desc->outputs.items[2].dependency_count, 0);

    assert_true(var_named(desc, "a")->alias && !var_named(desc, "a")->negated);
    assert_true(var_named(desc, "n")->negated);
    const struct tt_var *e = var_named(desc, "e");
    assert_int_equal(e->causality, TUTTI_LOCAL);
    assert_int_equal(e->variability, TUTTI_DISCRETE);
    assert_int_equal(e->initial, TUTTI_APPROX);
    assert_int_equal(*(const int64_t *)e->start, 2);
    assert_int_equal(desc->types[e->type_def].item_count, 2);
    assert_int_equal(desc->types[e->type_def].items[1].value, 2);
    assert_string_equal(desc->types[e->type_def].items[1].description, "it runs");
    assert_string_equal(*(const char *const *)var_named(desc, "s")->start, "hi <");
    assert_int_equal(var_named(desc, "s")->variability, TUTTI_CONSTANT);
    assert_int_equal(var_named(desc, "b")->causality, TUTTI_CALCULATED_PARAMETER);
    assert_int_equal(var_named(desc, "b")->initial, TUTTI_CALCULATED);
    assert_int_equal(var_named(desc, "t")->causality, TUTTI_PARAMETER);
    assert_int_equal(var_named(desc, "t")->variability, TUTTI_TUNABLE);
    tt_description_free(desc);
}

static void fmi1_kinds(void **state)
{
    (void)state;
    struct tt_description *desc = read_text(FMI1("", ""));
    assert_true(desc->interfaces[TUTTI_ME].present);
    assert_false(desc->interfaces[TUTTI_CS].present);
    assert_int_equal(desc->interfaces[TUTTI_ME].flags, TUTTI_NEEDS_COMPLETED_STEP);
    tt_description_free(desc);
    desc = read_text(FMI1("", "<Implementation><CoSimulation_Tool><Capabilities/>"
                              "<Model entryPoint=\"fmu://x\" type=\"y\"><File file=\"z\"/></Model>"
                              "</CoSimulation_Tool></Implementation>"));
    expect_clean();
    assert_true(desc->interfaces[TUTTI_CS].present);
    assert_int_equal(desc->interfaces[TUTTI_CS].flags, TUTTI_NEEDS_TOOL);
    tt_description_free(desc);
}

static const char fmi2_text[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"A.B\" guid=\"{8}\" description=\"d\" author=\"a\" "
    "version=\"1\" copyright=\"c\" license=\"l\" generationTool=\"t\" numberOfEventIndicators=\"4\">\n"
    "<ModelExchange modelIdentifier=\"A_B\" completedIntegratorStepNotNeeded=\"true\" "
    "needsExecutionTool=\"true\"><SourceFiles><File name=\"a.c\"/></SourceFiles></ModelExchange>\n"
    "<CoSimulation modelIdentifier=\"A_C\" canHandleVariableCommunicationStepSize=\"true\" "
    "canInterpolateInputs=\"true\" maxOutputDerivativeOrder=\"1\" canRunAsynchronuously=\"true\" "
    "canBeInstantiatedOnlyOncePerProcess=\"true\" canNotUseMemoryManagementFunctions=\"true\" "
    "canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\" providesDirectionalDerivative=\"true\"/>\n"
    "<UnitDefinitions>\n"
    "<Unit name=\"degC\"><BaseUnit K=\"1\" offset=\"273.15\"/><DisplayUnit name=\"degF\" factor=\"1.8\" "
    "offset=\"32\"/></Unit>\n"
    "<Unit name=\"N.m\"><BaseUnit kg=\"1\" m=\"2\" s=\"-2\" factor=\"2\"/></Unit>\n"
    "<Unit name=\"all\"><BaseUnit kg=\"1\" m=\"2\" s=\"3\" A=\"4\" K=\"5\" mol=\"6\" cd=\"7\" rad=\"8\"/></Unit>\n"
    "</UnitDefinitions>\n"
    "<TypeDefinitions>\n"
    "<SimpleType name=\"T\"><Real unit=\"degC\" displayUnit=\"degF\" min=\"-10\" max=\"10\" nominal=\"3\" "
    "unbounded=\"true\"/></SimpleType>\n"
    "<SimpleType name=\"Mode\" description=\"m\"><Enumeration quantity=\"q\"><Item name=\"a\" value=\"-1\"/>"
    "<Item name=\"b\" value=\"7\"/></Enumeration></SimpleType>\n"
    "</TypeDefinitions>\n"
    "<LogCategories><Category name=\"logAll\" description=\"x\"/><Category name=\"own\"/></LogCategories>\n"
    "<DefaultExperiment startTime=\"0\" stopTime=\"1\" tolerance=\"1e-4\" stepSize=\"0.1\"/>\n"
    "<VendorAnnotations><Tool name=\"v\"><any><thing/></any></Tool></VendorAnnotations>\n"
    "<ModelVariables>\n"
    "<ScalarVariable name=\"x\" valueReference=\"0\" initial=\"exact\"><Real declaredType=\"T\" min=\"-5\" "
    "start=\"1e-3\" reinit=\"true\"/></ScalarVariable>\n"
    "<ScalarVariable name=\"der(x)\" valueReference=\"1\"><Real derivative=\"1\"/></ScalarVariable>\n"
    "<ScalarVariable name=\"u\" valueReference=\"2\" causality=\"input\" variability=\"discrete\" "
    "canHandleMultipleSetPerTimeInstant=\"false\"><Integer start=\"-3\" min=\"-4\" max=\"4\"/></ScalarVariable>\n"
    "<ScalarVariable name=\"y\" valueReference=\"0\" causality=\"output\"><Real unit=\"degC\"/>"
    "<Annotations><Tool name=\"q\"><x/></Tool></Annotations></ScalarVariable>\n"
    "<ScalarVariable name=\"k\" valueReference=\"4\" causality=\"parameter\" variability=\"tunable\">"
    "<Boolean start=\"true\"/></ScalarVariable>\n"
    "<ScalarVariable name=\"m\" valueReference=\"5\" causality=\"parameter\" variability=\"fixed\">"
    "<Enumeration declaredType=\"Mode\" start=\"7\"/></ScalarVariable>\n"
    "<ScalarVariable name=\"s\" valueReference=\"6\" causality=\"parameter\" variability=\"fixed\">"
    "<String start=\"\"/></ScalarVariable>\n"
    "<ScalarVariable name=\"c\" valueReference=\"7\" causality=\"calculatedParameter\" variability=\"fixed\">"
    "<Real unit=\"N.m\"/></ScalarVariable>\n"
    "<ScalarVariable name=\"time\" valueReference=\"8\" causality=\"independent\"><Real/></ScalarVariable>\n"
    "</ModelVariables>\n"
    "<ModelStructure>\n"
    "<Outputs><Unknown index=\"4\" dependencies=\"1 3\" dependenciesKind=\"fixed discrete\"/></Outputs>\n"
    "<Derivatives><Unknown index=\"2\" dependencies=\"\"/></Derivatives>\n"
    "<InitialUnknowns><Unknown index=\"2\" dependencies=\" 1\t3 \"/><Unknown index=\"4\"/><Unknown index=\"8\"/>"
    "</InitialUnknowns>\n"
    "</ModelStructure>\n"
    "</fmiModelDescription>\n";

static void fmi2_head(void **state)
{
    (void)state;
    struct tt_description *desc = read_text(fmi2_text);
    expect_clean();
    assert_int_equal(tt_description_check(desc, "test.xml", &findings), TUTTI_OK);
    expect_clean();
    assert_string_equal(desc->copyright, "c");
    assert_string_equal(desc->license, "l");
    assert_string_equal(desc->naming, "flat");
    assert_int_equal(desc->event_indicator_count, 4);
    assert_int_equal(desc->state_count, 1);
    assert_int_equal(desc->interfaces[TUTTI_ME].flags, TUTTI_NEEDS_TOOL);
    assert_string_equal(desc->interfaces[TUTTI_ME].model_identifier, "A_B");
    assert_int_equal(desc->interfaces[TUTTI_ME].line, 3);
    const struct tt_interface *cs = &desc->interfaces[TUTTI_CS];
    assert_string_equal(cs->model_identifier, "A_C");
    assert_int_equal(cs->max_output_derivative_order, 1);
    assert_int_equal(cs->flags, TUTTI_CAN_VARIABLE_STEP | TUTTI_CAN_INPUT_DERIVATIVES | TUTTI_CAN_RUN_ASYNCHRONOUSLY |
                                    TUTTI_ONCE_PER_PROCESS | TUTTI_NO_MEMORY_FUNCTIONS | TUTTI_CAN_STATE |
                                    TUTTI_CAN_SERIALIZE | TUTTI_CAN_DIRECTIONAL);
    assert_int_equal(desc->unit_count, 3);
    assert_same(desc->units[0].offset, 273.15);
    assert_same(desc->units[0].factor, 1);
    assert_same(desc->units[1].factor, 2);
    assert_int_equal(desc->units[1].exponents[2], -2);
    for (int i = 0; i < 8; i++)
        assert_int_equal(desc->units[2].exponents[i], i + 1);
    assert_int_equal(desc->units[0].displays, 1);
    assert_int_equal(desc->displays[0].unit, 0);
    assert_same(desc->displays[0].factor, 1.8);
    assert_int_equal(desc->log_category_count, 2);
    assert_string_equal(desc->log_categories[1], "own");
    assert_int_equal(desc->annotation_count, 1);
    assert_true(desc->experiment.has_step);
    assert_same(desc->experiment.step, 0.1);
    assert_int_equal(desc->types[1].items[0].value, -1);
    assert_string_equal(desc->types[1].quantity, "q");
    tt_description_free(desc);
}

static void fmi2_variables(void **state)
{
    (void)state;
    struct tt_description *desc = read_text(fmi2_text);
    const struct tt_var *x = var_named(desc, "x"), *u = var_named(desc, "u");
    assert_int_equal(x->line, 18);
    assert_int_equal(x->type, TUTTI_TYPE_FLOAT64);
    assert_int_equal(x->initial, TUTTI_EXACT);
    assert_true(x->initial_given && x->reinit && x->multiple_set);
    assert_string_equal(desc->units[x->unit].name, "degC");
    assert_string_equal(desc->displays[x->display_unit].name, "degF");
    assert_same(x->bounds->min, -5); /* its own over its type's */
    assert_same(x->bounds->max, 10);
    assert_same(x->bounds->nominal, 3);
    assert_true(x->bounds->unbounded);
    assert_same(*(const double *)x->start, 1e-3);
    assert_int_equal(var_named(desc, "der(x)")->derivative_of, 0);
    assert_int_equal(var_named(desc, "der(x)")->initial, TUTTI_CALCULATED);
    assert_false(u->multiple_set);
    assert_int_equal(u->type, TUTTI_TYPE_INT32);
    assert_int_equal(*(const int32_t *)u->start, -3);
    assert_int_equal(u->initial, TUTTI_INITIAL_NONE);
    assert_same(u->bounds->min, -4);
    assert_true(*(const bool *)var_named(desc, "k")->start);
    assert_int_equal(*(const int64_t *)var_named(desc, "m")->start, 7);
    assert_string_equal(*(const char *const *)var_named(desc, "s")->start, "");
    assert_int_equal(var_named(desc, "c")->initial, TUTTI_CALCULATED);
    assert_int_equal(var_named(desc, "time")->causality, TUTTI_INDEPENDENT);

    const struct tt_unknown *y = &desc->outputs.items[0];
    assert_true(desc->outputs.given);
    assert_int_equal(y->variable, 3);
    assert_int_equal(y->dependency_count, 2);
    assert_int_equal(y->dependencies[0], 0);
    assert_int_equal(y->dependencies[1], 2);
    assert_int_equal(y->kinds[0], TUTTI_DEPENDENCY_FIXED);
    assert_int_equal(y->kinds[1], TUTTI_DEPENDENCY_DISCRETE);
    assert_true(desc->derivatives.items[0].has_dependencies);
    assert_int_equal(desc->derivatives.items[0].dependency_count, 0);
    assert_int_equal(desc->initial_unknowns.count, 3);
    assert_int_equal(desc->initial_unknowns.items[0].dependency_count, 2);
    assert_null(desc->initial_unknowns.items[0].kinds);
    assert_false(desc->initial_unknowns.items[1].has_dependencies);
    tt_description_free(desc);
}

static const char fmi3_text[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"M\" instantiationToken=\"{t}\">\n"
    "<ModelExchange modelIdentifier=\"M\" needsCompletedIntegratorStep=\"true\" "
    "providesEvaluateDiscreteStates=\"true\"/>\n"
    "<CoSimulation modelIdentifier=\"M\" canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\" "
    "providesDirectionalDerivatives=\"true\" providesAdjointDerivatives=\"true\" "
    "providesPerElementDependencies=\"true\" canHandleVariableCommunicationStepSize=\"true\" "
    "fixedInternalStepSize=\"1e-3\" maxOutputDerivativeOrder=\"2\" recommendedIntermediateInputSmoothness=\"-1\" "
    "providesIntermediateUpdate=\"true\" mightReturnEarlyFromDoStep=\"true\" "
    "canReturnEarlyAfterIntermediateUpdate=\"true\" hasEventMode=\"true\" x:y=\"\"/>\n"
    "<ScheduledExecution modelIdentifier=\"M\"/>\n"
    "<UnitDefinitions><Unit name=\"l/km\"><BaseUnit m=\"2\" factor=\"1e-6\"/>"
    "<DisplayUnit name=\"mpg\" factor=\"235\" inverse=\"true\"><Annotations/></DisplayUnit></Unit></UnitDefinitions>\n"
    "<TypeDefinitions>\n"
    "<Float64Type name=\"Use\" unit=\"l/km\" displayUnit=\"mpg\" min=\"0\"/>\n"
    "<EnumerationType name=\"Mode\"><Item name=\"a\" value=\"1\"/><Item name=\"b\" value=\"9223372036854775807\"/>"
    "</EnumerationType>\n"
    "<BinaryType name=\"Image\" mimeType=\"image/png\" maxSize=\"100\"/>\n"
    "<ClockType name=\"Tick\" intervalVariability=\"constant\" intervalDecimal=\"0.25\" priority=\"3\"/>\n"
    "</TypeDefinitions>\n"
    "<LogCategories><Category name=\"l\"/></LogCategories>\n"
    "<DefaultExperiment stopTime=\"3\"/>\n"
    "<ModelVariables>\n"
    "<Float64 name=\"time\" valueReference=\"0\" causality=\"independent\"/>\n"
    "<UInt64 name=\"n\" valueReference=\"1\" causality=\"structuralParameter\" start=\"3\"/>\n"
    "<Float64 name=\"x\" valueReference=\"2\" initial=\"exact\" start=\"1 2 3\" reinit=\"true\" declaredType=\"Use\" "
    "intermediateUpdate=\"true\"><Dimension valueReference=\"1\"/><Alias name=\"pos\" description=\"p\" "
    "displayUnit=\"mpg\"/></Float64>\n"
    "<Float64 name=\"der(x)\" valueReference=\"3\" derivative=\"2\"><Dimension valueReference=\"1\"/></Float64>\n"
    "<Float32 name=\"f\" valueReference=\"4\" causality=\"output\"/>\n"
    "<Int8 name=\"i8\" valueReference=\"5\" causality=\"parameter\" start=\"-128\"/>\n"
    "<UInt8 name=\"u8\" valueReference=\"6\" causality=\"parameter\" start=\"255\"/>\n"
    "<Int16 name=\"i16\" valueReference=\"7\" causality=\"parameter\" start=\"-32768\"/>\n"
    "<UInt16 name=\"u16\" valueReference=\"8\" causality=\"parameter\" start=\"65535\"/>\n"
    "<Int32 name=\"i32\" valueReference=\"9\" causality=\"parameter\" start=\"1 2 3 4 5 6\"><Dimension start=\"2\"/>"
    "<Dimension start=\"3\"/></Int32>\n"
    "<UInt32 name=\"u32\" valueReference=\"10\" causality=\"parameter\" start=\"4294967295\"/>\n"
    "<Int64 name=\"i64\" valueReference=\"11\" causality=\"parameter\" start=\"-9223372036854775808\"/>\n"
    "<UInt64 name=\"u64\" valueReference=\"12\" causality=\"parameter\" start=\"18446744073709551615\"/>\n"
    "<Boolean name=\"b\" valueReference=\"13\" causality=\"input\" start=\"true false\"><Dimension start=\"2\"/>"
    "</Boolean>\n"
    "<String name=\"s\" valueReference=\"14\" causality=\"parameter\"><Dimension start=\"2\"/>"
    "<Start value=\"one two\"/><Start value=\"\"/></String>\n"
    "<Binary name=\"o\" valueReference=\"15\" causality=\"parameter\" declaredType=\"Image\">"
    "<Start value=\"00fFa0\"/></Binary>\n"
    "<Enumeration name=\"e\" valueReference=\"16\" causality=\"parameter\" declaredType=\"Mode\" "
    "start=\"9223372036854775807\"/>\n"
    "<Clock name=\"c\" valueReference=\"17\" causality=\"input\" declaredType=\"Tick\" "
    "intervalVariability=\"constant\" shiftDecimal=\"0.5\"/>\n"
    "<Int32 name=\"d\" valueReference=\"18\" clocks=\"17\" previous=\"19\" initial=\"exact\" start=\"0\"/>\n"
    "<Int32 name=\"pre(d)\" valueReference=\"19\" clocks=\"17\"/>\n"
    "<Float64 name=\"ei\" valueReference=\"20\"><Dimension start=\"4\"/></Float64>\n"
    "</ModelVariables>\n"
    "<ModelStructure>\n"
    "<Output valueReference=\"4\" dependencies=\"2 0\" dependenciesKind=\"constant tunable\"/>\n"
    "<ContinuousStateDerivative valueReference=\"3\"/>\n"
    "<ClockedState valueReference=\"18\"/>\n"
    "<InitialUnknown valueReference=\"3\" dependencies=\"\"/>\n"
    "<InitialUnknown valueReference=\"4\"/>\n"
    "<EventIndicator valueReference=\"20\"/>\n"
    "</ModelStructure>\n"
    "<Annotations><Annotation type=\"org.example\"><a><b/></a>text</Annotation></Annotations>\n"
    "</fmiModelDescription>\n";

static void fmi3_head(void **state)
{
    (void)state;
    struct tt_description *desc = read_text(fmi3_text);
    expect_clean();
    assert_int_equal(tt_description_check(desc, "test.xml", &findings), TUTTI_OK);
    expect_clean();
    assert_int_equal(desc->fmi, 3);
    assert_string_equal(desc->token, "{t}");
    assert_int_equal(desc->interfaces[TUTTI_ME].flags, TUTTI_NEEDS_COMPLETED_STEP | TUTTI_CAN_EVALUATE_DISCRETE);
    assert_true(desc->interfaces[TUTTI_SE].present);
    const struct tt_interface *cs = &desc->interfaces[TUTTI_CS];
    assert_int_equal(cs->flags, TUTTI_CAN_STATE | TUTTI_CAN_SERIALIZE | TUTTI_CAN_DIRECTIONAL | TUTTI_CAN_ADJOINT |
                                    TUTTI_CAN_ELEMENT_DEPENDENCIES | TUTTI_CAN_VARIABLE_STEP | TUTTI_CAN_INTERMEDIATE |
                                    TUTTI_CAN_EARLY_RETURN | TUTTI_CAN_RETURN_AFTER_INTERMEDIATE |
                                    TUTTI_CAN_EVENT_MODE);
    assert_same(cs->fixed_step, 1e-3);
    assert_int_equal(cs->max_output_derivative_order, 2);
    assert_int_equal(cs->input_smoothness, -1);
    assert_true(desc->displays[0].inverse);
    assert_string_equal(desc->annotations[0], "org.example");
    assert_int_equal(desc->annotation_count, 1);
    assert_int_equal(desc->state_count, 3);
    assert_int_equal(desc->event_indicator_count, 4);
    assert_int_equal(desc->event_indicators.count, 1);
    assert_int_equal(desc->clocked_states.count, 1);
    assert_int_equal(desc->outputs.items[0].variable, 4);
    assert_int_equal(desc->outputs.items[0].dependencies[0], 2);
    assert_int_equal(desc->outputs.items[0].dependencies[1], 0);
    assert_int_equal(desc->outputs.items[0].kinds[1], TUTTI_DEPENDENCY_TUNABLE);
    assert_int_equal(desc->initial_unknowns.count, 2);
    tt_description_free(desc);
}

static void fmi3_variables(void **state)
{
    (void)state;
    struct tt_description *desc = read_text(fmi3_text);
    const struct tt_var *x = var_named(desc, "x");
    assert_int_equal(x->dimension_count, 1);
    assert_int_equal(x->dimensions[0].variable, 1);
    assert_int_equal(x->dimensions[0].start, 3);
    assert_int_equal(tt_description_var_size(x), 3);
    assert_int_equal(x->start_count, 3);
    assert_same(((const double *)x->start)[2], 3);
    assert_true(x->intermediate && x->reinit);
    assert_same(x->bounds->min, 0);
    assert_string_equal(desc->displays[x->display_unit].name, "mpg");
    assert_int_equal(var_named(desc, "der(x)")->derivative_of, 2);
    assert_int_equal(desc->alias_count, 1);
    assert_string_equal(desc->aliases[0].description, "p");
    assert_int_equal(desc->aliases[0].display_unit, 0);
    assert_int_equal(tt_description_find(desc, "pos"), 2);

    assert_int_equal(var_named(desc, "n")->variability, TUTTI_FIXED);
    assert_int_equal(var_named(desc, "n")->initial, TUTTI_EXACT);
    assert_int_equal(var_named(desc, "f")->variability, TUTTI_CONTINUOUS);
    assert_int_equal(*(const int8_t *)var_named(desc, "i8")->start, -128);
    assert_int_equal(*(const uint8_t *)var_named(desc, "u8")->start, 255);
    assert_int_equal(*(const int16_t *)var_named(desc, "i16")->start, -32768);
    assert_int_equal(*(const uint16_t *)var_named(desc, "u16")->start, 65535);
    assert_int_equal(((const int32_t *)var_named(desc, "i32")->start)[5], 6);
    assert_int_equal(tt_description_var_size(var_named(desc, "i32")), 6);
    assert_int_equal(*(const uint32_t *)var_named(desc, "u32")->start, UINT32_MAX);
    assert_true(*(const int64_t *)var_named(desc, "i64")->start == INT64_MIN);
    assert_true(*(const uint64_t *)var_named(desc, "u64")->start == UINT64_MAX);
    const struct tt_var *b = var_named(desc, "b");
    assert_int_equal(b->variability, TUTTI_DISCRETE);
    assert_int_equal(b->initial, TUTTI_EXACT);
    assert_true(((const bool *)b->start)[0] && !((const bool *)b->start)[1]);
    const struct tt_var *s = var_named(desc, "s"), *o = var_named(desc, "o");
    assert_int_equal(s->start_count, 2);
    assert_string_equal(((const char *const *)s->start)[0], "one two");
    assert_string_equal(((const char *const *)s->start)[1], "");
    const struct tt_bytes *bytes = o->start;
    assert_int_equal(bytes->size, 3);
    assert_memory_equal(bytes->data, "\x00\xff\xa0", 3);
    assert_string_equal(o->more->mime_type, "image/png");
    assert_int_equal(o->more->max_size, 100);
    assert_true(*(const int64_t *)var_named(desc, "e")->start == INT64_MAX);
    const struct tt_var *c = var_named(desc, "c"), *d = var_named(desc, "d");
    assert_int_equal(c->variability, TUTTI_DISCRETE);
    assert_int_equal(c->initial, TUTTI_INITIAL_NONE);
    assert_int_equal(c->more->clock->interval_variability, TUTTI_INTERVAL_CONSTANT);
    assert_same(c->more->clock->interval, 0.25); /* from its type */
    assert_same(c->more->clock->shift, 0.5);
    assert_int_equal(c->more->clock->priority, 3);
    assert_int_equal(d->clock_count, 1);
    assert_ptr_equal(&desc->vars[d->more->clocks[0]], c);
    assert_ptr_equal(&desc->vars[d->previous], var_named(desc, "pre(d)"));
    tt_description_free(desc);
}

static void versions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int fmi;
        bool clean;
    } cases[] = {{"1.0", 1, true},    {"2.0", 2, true},    {"3.0", 3, true},         {"3.0.2", 3, true},
                 {"3.1", 3, true},    {"3.12.1", 3, true}, {"3.0-beta.2", 3, false}, {"2.0.3", 2, false},
                 {"1.0.1", 1, false}, {"2", 2, false},     {"3", 3, false},          {"3.x", 3, false}};
    char text[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text,
                 "<fmiModelDescription fmiVersion=\"%s\" modelName=\"M\" %s=\"\" %s><ModelVariables/><ModelStructure/>"
                 "</fmiModelDescription>",
                 cases[i].text, cases[i].fmi == 3 ? "instantiationToken" : "guid",
                 cases[i].fmi == 1 ? "numberOfContinuousStates=\"0\" numberOfEventIndicators=\"0\"" : "");
        struct tt_description *desc = read_text(text);
        assert_int_equal(desc->fmi, cases[i].fmi);
        assert_string_equal(desc->fmi_version, cases[i].text);
        bool clean = !was_found(ERROR, 1, "fmiVersion") && !was_found(WARNING, 1, "fmiVersion");
        assert_int_equal(clean, cases[i].clean);
        tt_description_free(desc);
    }
    static const char *const wrong[] = {"", "4.0", "0.9", "30", "x", "10.0"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(text, sizeof text, "<fmiModelDescription\n fmiVersion=\"%s\"/>", wrong[i]);
        refuse_text(text, TUTTI_ERR_FORMAT, "expected 1.0, 2.0 or 3.0");
    }
    refuse_text("<fmiModelDescription guid=\"\"/>", TUTTI_ERR_FORMAT, "test.xml:1: found no fmiVersion");
}

/* The table of 2.0 and of 3.0: what `initial` is where the file has none. */
static void default_initial(void **state)
{
    (void)state;
    static const struct {
        const char *causality, *variability;
        enum tt_initial in2, in3;
    } cases[] = {
        {"parameter", "fixed", TUTTI_EXACT, TUTTI_EXACT},
        {"parameter", "tunable", TUTTI_EXACT, TUTTI_EXACT},
        {"calculatedParameter", "fixed", TUTTI_CALCULATED, TUTTI_CALCULATED},
        {"calculatedParameter", "tunable", TUTTI_CALCULATED, TUTTI_CALCULATED},
        {"input", "discrete", TUTTI_INITIAL_NONE, TUTTI_EXACT},
        {"input", "continuous", TUTTI_INITIAL_NONE, TUTTI_EXACT},
        {"output", "constant", TUTTI_EXACT, TUTTI_EXACT},
        {"output", "discrete", TUTTI_CALCULATED, TUTTI_CALCULATED},
        {"output", "continuous", TUTTI_CALCULATED, TUTTI_CALCULATED},
        {"local", "constant", TUTTI_EXACT, TUTTI_EXACT},
        {"local", "fixed", TUTTI_CALCULATED, TUTTI_CALCULATED},
        {"local", "tunable", TUTTI_CALCULATED, TUTTI_CALCULATED},
        {"local", "discrete", TUTTI_CALCULATED, TUTTI_CALCULATED},
        {"local", "continuous", TUTTI_CALCULATED, TUTTI_CALCULATED},
        {"independent", "continuous", TUTTI_INITIAL_NONE, TUTTI_INITIAL_NONE},
    };
    char text[1024];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text,
                 FMI2("<ScalarVariable name=\"v\" valueReference=\"0\" causality=\"%s\" variability=\"%s\"><Real/>"
                      "</ScalarVariable>",
                      ""),
                 cases[i].causality, cases[i].variability);
        struct tt_description *desc = read_text(text);
        assert_int_equal(desc->vars[0].initial, cases[i].in2);
        assert_string_equal(tt_description_causality_name(desc->vars[0].causality), cases[i].causality);
        assert_string_equal(tt_description_variability_name(desc->vars[0].variability), cases[i].variability);
        tt_description_free(desc);
        snprintf(text, sizeof text,
                 FMI3("<Float64 name=\"v\" valueReference=\"0\" causality=\"%s\" variability=\"%s\"/>", ""),
                 cases[i].causality, cases[i].variability);
        desc = read_text(text);
        assert_int_equal(desc->vars[0].initial, cases[i].in3);
        tt_description_free(desc);
    }
    assert_string_equal(tt_description_initial_name(TUTTI_APPROX), "approx");
    assert_string_equal(tt_description_initial_name(TUTTI_INITIAL_NONE), "none");
}

static void default_variability3(void **state)
{
    (void)state;
    struct tt_description *desc = read_text(FMI3("<Float64 name=\"a\" valueReference=\"0\"/>\n"
                                                 "<Int32 name=\"b\" valueReference=\"1\"/>\n"
                                                 "<Float32 name=\"c\" valueReference=\"2\" causality=\"parameter\"/>\n"
                                                 "<Boolean name=\"d\" valueReference=\"3\" "
                                                 "causality=\"calculatedParameter\"/>\n",
                                                 ""));
    expect_clean();
    assert_int_equal(desc->vars[0].variability, TUTTI_CONTINUOUS);
    assert_int_equal(desc->vars[1].variability, TUTTI_DISCRETE);
    assert_int_equal(desc->vars[2].variability, TUTTI_FIXED);
    assert_int_equal(desc->vars[3].variability, TUTTI_FIXED);
    tt_description_free(desc);
}

static void names(void **state)
{
    (void)state;
    struct tt_description *desc = read_text(fmi3_text);
    assert_int_equal(tt_description_find(desc, "nothing"), TUTTI_NONE);
    assert_int_equal(tt_description_find(desc, "time"), 0);
    assert_string_equal(tt_description_nearest(desc, "tiem"), "time");
    assert_string_equal(tt_description_nearest(desc, "poss"), "pos");
    assert_null(tt_description_nearest(desc, "something else altogether"));
    tt_description_free(desc);
    tt_description_free(NULL);
    desc = read_text(FMI2("", ""));
    assert_int_equal(tt_description_find(desc, ""), TUTTI_NONE);
    assert_null(tt_description_nearest(desc, "x"));
    tt_description_free(desc);
}

/* Findings are not wanted: reading is the same. */
static void no_findings(void **state)
{
    (void)state;
    const char *text =
        FMI2("<ScalarVariable name=\"x\" valueReference=\"zero\"><Real start=\"?\"/></ScalarVariable>", "");
    struct memory memory = {text, strlen(text), 0, SIZE_MAX};
    struct tt_byte_source reader = {memory_read, &memory};
    struct tt_description *desc;
    assert_int_equal(tt_description_read(&desc, "test.xml", &reader, NULL), TUTTI_OK);
    assert_null(desc->vars[0].start);
    assert_int_equal(tt_description_check(desc, "test.xml", NULL), TUTTI_OK);
    tt_description_free(desc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fmi1_cs),        cmocka_unit_test(fmi1_kinds),      cmocka_unit_test(fmi2_head),
        cmocka_unit_test(fmi2_variables), cmocka_unit_test(fmi3_head),       cmocka_unit_test(fmi3_variables),
        cmocka_unit_test(versions),       cmocka_unit_test(default_initial), cmocka_unit_test(default_variability3),
        cmocka_unit_test(names),          cmocka_unit_test(no_findings),
    };
    return cmocka_run_group_tests_name("description/desc", tests, NULL, NULL);
}
