/* SPDX-License-Identifier: MIT */
/* The elements of a model description of FMI 1.0: Model Exchange, or Co-Simulation if it has an Implementation. */
#include "description/desc_build.h"

enum { VARIABILITY_CONTINUOUS, VARIABILITY_DISCRETE, VARIABILITY_PARAMETER, VARIABILITY_CONSTANT };
static const char *const variability_words[] = {"continuous", "discrete", "parameter", "constant", NULL};
enum { CAUSALITY_INTERNAL, CAUSALITY_INPUT, CAUSALITY_OUTPUT, CAUSALITY_NONE };
static const char *const causality_words[] = {"internal", "input", "output", "none", NULL};
enum { ALIAS_NONE, ALIAS_SAME, ALIAS_NEGATED };
static const char *const alias_words[] = {"noAlias", "alias", "negatedAlias", NULL};

static enum tutti_err type(struct tutti_build *build, int tag)
{
    (void)tag;
    return tutti_build_new_type(build);
}

static enum tutti_err type_kind(struct tutti_build *build, int tag)
{
    return tutti_build_type_kind(build, (enum tutti_type)tag);
}

/* The words of 1.0 are kept in causality and variability until the variable ends: what they mean depends on each other
 * and on the start value. */
static enum tutti_err scalar(struct tutti_build *build, int tag)
{
    (void)tag;
    TRY(tutti_build_new_var(build));
    struct tutti_var *var = tutti_build_var(build);
    uint8_t alias = ALIAS_NONE;
    tutti_build_word(build, ATTR_causality, causality_words, &var->causality);
    build->variability_given = tutti_build_word(build, ATTR_variability, variability_words, &var->variability);
    tutti_build_word(build, ATTR_alias, alias_words, &alias);
    var->alias = alias != ALIAS_NONE;
    var->negated = alias == ALIAS_NEGATED;
    build->has_direct = false;
    build->fixed = true;
    return TUTTI_OK;
}

static enum tutti_err scalar_kind(struct tutti_build *build, int tag)
{
    struct tutti_var *var = tutti_build_var(build);
    struct tutti_properties properties;
    if (!tutti_build_var_kind(build, (enum tutti_type)tag, &properties))
        return TUTTI_OK;
    bool has_fixed = tutti_build_bool(build, ATTR_fixed, &build->fixed);
    if (has_fixed && !properties.start)
        tutti_build_warning(build, "found fixed without start; it is ignored");
    return tutti_build_apply(build, var, &properties);
}

/* A parameter with a start value can be set before the initialisation; without one it is computed from others. */
static void translate_parameter(struct tutti_var *var, bool fixed)
{
    var->variability = TUTTI_FIXED;
    if (var->causality == CAUSALITY_OUTPUT) {
        var->causality = TUTTI_OUTPUT;
    } else if (var->causality == CAUSALITY_INPUT) {
        var->causality = TUTTI_PARAMETER;
        var->variability = TUTTI_TUNABLE;
    } else {
        var->causality = var->start && fixed ? TUTTI_PARAMETER : TUTTI_CALCULATED_PARAMETER;
    }
}

static enum tutti_err add_output(struct tutti_build *build)
{
    enum tutti_err err;
    struct tutti_unknown *output = tutti_build_push(build, &build->whole->unknowns[LIST_OUTPUTS], "outputs", &err);
    if (!output)
        return err;
    output->variable = build->whole->vars.count - 1;
    output->has_dependencies = build->has_direct;
    output->line = tutti_build_var(build)->line;
    return TUTTI_OK;
}

static enum tutti_err scalar_end(struct tutti_build *build)
{
    static const uint8_t causalities[] = {TUTTI_LOCAL, TUTTI_INPUT, TUTTI_OUTPUT, TUTTI_LOCAL};
    struct tutti_var *var = tutti_build_var(build);
    tutti_build_check_kind(build);
    if (build->has_direct && var->causality != CAUSALITY_OUTPUT)
        tutti_build_error(build, "found DirectDependency, which only an output can have; it is ignored");
    bool is_parameter = var->variability == VARIABILITY_PARAMETER;
    if (is_parameter) {
        translate_parameter(var, build->fixed);
    } else {
        var->causality = causalities[var->causality];
        if (var->variability == VARIABILITY_CONSTANT)
            var->variability = TUTTI_CONSTANT;
        else if (var->type != TUTTI_TYPE_FLOAT64 && var->variability == VARIABILITY_CONTINUOUS)
            var->variability = TUTTI_DISCRETE; /* the default is for Reals; others cannot move */
    }
    if (var->causality == TUTTI_INPUT)
        var->initial = TUTTI_INITIAL_NONE;
    else
        var->initial = !var->start ? TUTTI_CALCULATED : build->fixed ? TUTTI_EXACT : TUTTI_APPROX;
    return var->causality == TUTTI_OUTPUT ? add_output(build) : TUTTI_OK;
}

static enum tutti_err direct(struct tutti_build *build, int tag)
{
    (void)tag;
    build->has_direct = true;
    return TUTTI_OK;
}

static enum tutti_err direct_name(struct tutti_build *build, int tag)
{
    (void)tag;
    build->text.length = 0;
    tutti_xml_want_text(build->xml, true);
    return TUTTI_OK;
}

static enum tutti_err direct_name_end(struct tutti_build *build)
{
    enum tutti_err err;
    tutti_xml_want_text(build->xml, false);
    if (build->text.length == 0)
        return TUTTI_OK;
    struct tutti_named_dependency *dependency = tutti_build_push(build, &build->names, "dependencies", &err);
    if (!dependency)
        return err;
    dependency->output = build->whole->vars.count - 1;
    dependency->line = tutti_xml_line(build->xml);
    return tutti_build_text(build, &dependency->name, build->text.text);
}

static enum tutti_err implementation(struct tutti_build *build, int tag)
{
    struct tutti_interface *cs = &build->desc->interfaces[TUTTI_CS];
    cs->present = true;
    cs->flags |= (uint32_t)tag;
    cs->line = tutti_xml_line(build->xml);
    return TUTTI_OK;
}

static enum tutti_err capabilities(struct tutti_build *build, int tag)
{
    (void)tag;
    struct tutti_interface *cs = &build->desc->interfaces[TUTTI_CS];
    tutti_build_subject(build, "Capabilities", NULL);
    tutti_build_take(build, ATTR_canHandleEvents); /* every slave has to handle its own events */
    tutti_build_flag(build, ATTR_canHandleVariableCommunicationStepSize, &cs->flags, TUTTI_CAN_VARIABLE_STEP);
    tutti_build_flag(build, ATTR_canRejectSteps, &cs->flags, TUTTI_CAN_REJECT_STEPS);
    tutti_build_flag(build, ATTR_canInterpolateInputs, &cs->flags, TUTTI_CAN_INPUT_DERIVATIVES);
    tutti_build_flag(build, ATTR_canRunAsynchronuously, &cs->flags, TUTTI_CAN_RUN_ASYNCHRONOUSLY);
    tutti_build_flag(build, ATTR_canSignalEvents, &cs->flags, TUTTI_CAN_SIGNAL_EVENTS);
    tutti_build_flag(build, ATTR_canBeInstantiatedOnlyOncePerProcess, &cs->flags, TUTTI_ONCE_PER_PROCESS);
    tutti_build_flag(build, ATTR_canNotUseMemoryManagementFunctions, &cs->flags, TUTTI_NO_MEMORY_FUNCTIONS);
    tutti_build_uint32(build, ATTR_maxOutputDerivativeOrder, &cs->max_output_derivative_order);
    return TUTTI_OK;
}

static const struct tutti_element unit_children[] = {
    {.name = "DisplayUnitDefinition", .start = tutti_build_display_unit, .tag = ATTR_displayUnit},
    {0}};
static const struct tutti_element units[] = {
    {.name = "BaseUnit", .start = tutti_build_unit, .tag = ATTR_unit, .children = unit_children},
    {0}};
static const struct tutti_element enumeration_children[] = {{.name = "Item", .start = tutti_build_item}, {0}};
static const struct tutti_element type_children[] = {
    {.name = "RealType", .start = type_kind, .tag = TUTTI_TYPE_FLOAT64},
    {.name = "IntegerType", .start = type_kind, .tag = TUTTI_TYPE_INT32},
    {.name = "BooleanType", .start = type_kind, .tag = TUTTI_TYPE_BOOLEAN},
    {.name = "StringType", .start = type_kind, .tag = TUTTI_TYPE_STRING},
    {.name = "EnumerationType", .start = type_kind, .tag = TUTTI_TYPE_ENUMERATION, .children = enumeration_children},
    {0}};
static const struct tutti_element types[] = {
    {.name = "Type", .start = type, .end = tutti_build_end_type, .children = type_children},
    {0}};
static const struct tutti_element tools[] = {
    {.name = "Tool", .start = tutti_build_annotation, .tag = ATTR_name, .foreign = true},
    {0}};
static const struct tutti_element direct_children[] = {{.name = "Name", .start = direct_name, .end = direct_name_end},
                                                       {0}};
static const struct tutti_element scalar_children[] = {
    {.name = "Real", .start = scalar_kind, .tag = TUTTI_TYPE_FLOAT64},
    {.name = "Integer", .start = scalar_kind, .tag = TUTTI_TYPE_INT32},
    {.name = "Boolean", .start = scalar_kind, .tag = TUTTI_TYPE_BOOLEAN},
    {.name = "String", .start = scalar_kind, .tag = TUTTI_TYPE_STRING},
    {.name = "Enumeration", .start = scalar_kind, .tag = TUTTI_TYPE_ENUMERATION},
    {.name = "DirectDependency", .start = direct, .children = direct_children},
    {0}};
static const struct tutti_element scalars[] = {
    {.name = "ScalarVariable", .start = scalar, .end = scalar_end, .children = scalar_children},
    {0}};
static const struct tutti_element coupling_children[] = {{.name = "Capabilities", .start = capabilities},
                                                         {.name = "Model", .foreign = true},
                                                         {0}};
static const struct tutti_element implementations[] = {
    {.name = "CoSimulation_StandAlone", .start = implementation, .children = coupling_children},
    {.name = "CoSimulation_Tool", .start = implementation, .tag = TUTTI_NEEDS_TOOL, .children = coupling_children},
    {0}};

const struct tutti_element tutti_fmi1_elements[] = {
    {.name = "UnitDefinitions", .children = units},
    {.name = "TypeDefinitions", .children = types},
    {.name = "DefaultExperiment", .start = tutti_build_experiment},
    {.name = "VendorAnnotations", .children = tools},
    {.name = "ModelVariables", .start = tutti_build_variables, .children = scalars},
    {.name = "Implementation", .start = implementation, .children = implementations},
    {0}};
