/* SPDX-License-Identifier: MIT */
/* The elements of a model description of FMI 1.0: Model Exchange, or Co-Simulation if it has an Implementation. */
#include "fmu/description/builder.h"

enum { VARIABILITY_CONTINUOUS, VARIABILITY_DISCRETE, VARIABILITY_PARAMETER, VARIABILITY_CONSTANT };
static const char *const variability_words[] = {"continuous", "discrete", "parameter", "constant", NULL};
enum { CAUSALITY_INTERNAL, CAUSALITY_INPUT, CAUSALITY_OUTPUT, CAUSALITY_NONE };
static const char *const causality_words[] = {"internal", "input", "output", "none", NULL};
enum { ALIAS_NONE, ALIAS_SAME, ALIAS_NEGATED };
static const char *const alias_words[] = {"noAlias", "alias", "negatedAlias", NULL};

static enum tutti_err schema1_type(struct tt_builder *build, int tag)
{
    (void)tag;
    return tt_elements_new_type(build);
}

static enum tutti_err schema1_type_kind(struct tt_builder *build, int tag)
{
    return tt_elements_type_kind(build, (enum tt_type)tag);
}

/* The words of 1.0 are kept in causality and variability until the variable ends: what they mean depends on each other
 * and on the start value. */
static enum tutti_err schema1_scalar(struct tt_builder *build, int tag)
{
    (void)tag;
    TRY(tt_elements_new_var(build));
    struct tt_var *var = tt_elements_last_var(build);
    uint8_t alias = ALIAS_NONE;
    tt_builder_read_word(build, ATTR_causality, causality_words, &var->causality);
    build->variability_given = tt_builder_read_word(build, ATTR_variability, variability_words, &var->variability);
    tt_builder_read_word(build, ATTR_alias, alias_words, &alias);
    var->alias = alias != ALIAS_NONE;
    var->negated = alias == ALIAS_NEGATED;
    build->has_direct = false;
    build->fixed = true;
    return TUTTI_OK;
}

static enum tutti_err schema1_scalar_kind(struct tt_builder *build, int tag)
{
    struct tt_var *var = tt_elements_last_var(build);
    struct tt_builder_properties properties;
    if (!tt_elements_var_kind(build, (enum tt_type)tag, &properties))
        return TUTTI_OK;
    bool has_fixed = tt_builder_read_bool(build, ATTR_fixed, &build->fixed);
    if (has_fixed && !properties.start)
        tt_builder_report_warning(build, "found fixed without start; it is ignored");
    return tt_elements_apply_properties(build, var, &properties);
}

/* A parameter with a start value can be set before the initialisation; without one it is computed from others. */
static void schema1_translate_parameter(struct tt_var *var, bool fixed)
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

static enum tutti_err schema1_add_output(struct tt_builder *build)
{
    enum tutti_err err;
    struct tt_unknown *output = tt_builder_push(build, &build->whole->unknowns[LIST_OUTPUTS], "outputs", &err);
    if (!output)
        return err;
    output->variable = build->whole->vars.count - 1;
    output->has_dependencies = build->has_direct;
    output->line = tt_elements_last_var(build)->line;
    return TUTTI_OK;
}

static enum tutti_err schema1_scalar_end(struct tt_builder *build)
{
    static const uint8_t causalities[] = {TUTTI_LOCAL, TUTTI_INPUT, TUTTI_OUTPUT, TUTTI_LOCAL};
    struct tt_var *var = tt_elements_last_var(build);
    tt_elements_check_kind(build);
    if (build->has_direct && var->causality != CAUSALITY_OUTPUT)
        tt_builder_report_error(build, "found DirectDependency, which only an output can have; it is ignored");
    bool is_parameter = var->variability == VARIABILITY_PARAMETER;
    if (is_parameter) {
        schema1_translate_parameter(var, build->fixed);
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
    return var->causality == TUTTI_OUTPUT ? schema1_add_output(build) : TUTTI_OK;
}

static enum tutti_err schema1_direct(struct tt_builder *build, int tag)
{
    (void)tag;
    build->has_direct = true;
    return TUTTI_OK;
}

static enum tutti_err schema1_direct_name(struct tt_builder *build, int tag)
{
    (void)tag;
    build->text.length = 0;
    tt_xml_enable_text(build->xml, true);
    return TUTTI_OK;
}

static enum tutti_err schema1_direct_name_end(struct tt_builder *build)
{
    enum tutti_err err;
    tt_xml_enable_text(build->xml, false);
    if (build->text.length == 0)
        return TUTTI_OK;
    struct tt_builder_named_dependency *dependency = tt_builder_push(build, &build->names, "dependencies", &err);
    if (!dependency)
        return err;
    dependency->output = build->whole->vars.count - 1;
    dependency->line = tt_xml_line(build->xml);
    return tt_builder_copy_text(build, &dependency->name, build->text.text);
}

static enum tutti_err schema1_implementation(struct tt_builder *build, int tag)
{
    struct tt_interface *cs = &build->desc->interfaces[TUTTI_CS];
    cs->present = true;
    cs->flags |= (uint32_t)tag;
    cs->line = tt_xml_line(build->xml);
    return TUTTI_OK;
}

static enum tutti_err schema1_capabilities(struct tt_builder *build, int tag)
{
    (void)tag;
    struct tt_interface *cs = &build->desc->interfaces[TUTTI_CS];
    tt_builder_set_subject(build, "Capabilities", NULL);
    tt_builder_take_attribute(build, ATTR_canHandleEvents); /* every slave has to handle its own events */
    tt_builder_read_flag(build, ATTR_canHandleVariableCommunicationStepSize, &cs->flags, TUTTI_CAN_VARIABLE_STEP);
    tt_builder_read_flag(build, ATTR_canRejectSteps, &cs->flags, TUTTI_CAN_REJECT_STEPS);
    tt_builder_read_flag(build, ATTR_canInterpolateInputs, &cs->flags, TUTTI_CAN_INPUT_DERIVATIVES);
    tt_builder_read_flag(build, ATTR_canRunAsynchronuously, &cs->flags, TUTTI_CAN_RUN_ASYNCHRONOUSLY);
    tt_builder_read_flag(build, ATTR_canSignalEvents, &cs->flags, TUTTI_CAN_SIGNAL_EVENTS);
    tt_builder_read_flag(build, ATTR_canBeInstantiatedOnlyOncePerProcess, &cs->flags, TUTTI_ONCE_PER_PROCESS);
    tt_builder_read_flag(build, ATTR_canNotUseMemoryManagementFunctions, &cs->flags, TUTTI_NO_MEMORY_FUNCTIONS);
    tt_builder_read_uint32(build, ATTR_maxOutputDerivativeOrder, &cs->max_output_derivative_order);
    return TUTTI_OK;
}

static const struct tt_builder_element unit_children[] = {
    {.name = "DisplayUnitDefinition", .start = tt_elements_display_unit, .tag = ATTR_displayUnit},
    {0}};
static const struct tt_builder_element units[] = {
    {.name = "BaseUnit", .start = tt_elements_unit, .tag = ATTR_unit, .children = unit_children},
    {0}};
static const struct tt_builder_element enumeration_children[] = {{.name = "Item", .start = tt_elements_item}, {0}};
static const struct tt_builder_element type_children[] = {
    {.name = "RealType", .start = schema1_type_kind, .tag = TUTTI_TYPE_FLOAT64},
    {.name = "IntegerType", .start = schema1_type_kind, .tag = TUTTI_TYPE_INT32},
    {.name = "BooleanType", .start = schema1_type_kind, .tag = TUTTI_TYPE_BOOLEAN},
    {.name = "StringType", .start = schema1_type_kind, .tag = TUTTI_TYPE_STRING},
    {.name = "EnumerationType",
     .start = schema1_type_kind,
     .tag = TUTTI_TYPE_ENUMERATION,
     .children = enumeration_children},
    {0}};
static const struct tt_builder_element types[] = {
    {.name = "Type", .start = schema1_type, .end = tt_elements_finish_type, .children = type_children},
    {0}};
static const struct tt_builder_element tools[] = {
    {.name = "Tool", .start = tt_elements_annotation, .tag = ATTR_name, .foreign = true},
    {0}};
static const struct tt_builder_element direct_children[] = {
    {.name = "Name", .start = schema1_direct_name, .end = schema1_direct_name_end},
    {0}};
static const struct tt_builder_element scalar_children[] = {
    {.name = "Real", .start = schema1_scalar_kind, .tag = TUTTI_TYPE_FLOAT64},
    {.name = "Integer", .start = schema1_scalar_kind, .tag = TUTTI_TYPE_INT32},
    {.name = "Boolean", .start = schema1_scalar_kind, .tag = TUTTI_TYPE_BOOLEAN},
    {.name = "String", .start = schema1_scalar_kind, .tag = TUTTI_TYPE_STRING},
    {.name = "Enumeration", .start = schema1_scalar_kind, .tag = TUTTI_TYPE_ENUMERATION},
    {.name = "DirectDependency", .start = schema1_direct, .children = direct_children},
    {0}};
static const struct tt_builder_element scalars[] = {
    {.name = "ScalarVariable", .start = schema1_scalar, .end = schema1_scalar_end, .children = scalar_children},
    {0}};
static const struct tt_builder_element coupling_children[] = {{.name = "Capabilities", .start = schema1_capabilities},
                                                              {.name = "Model", .foreign = true},
                                                              {0}};
static const struct tt_builder_element implementations[] = {
    {.name = "CoSimulation_StandAlone", .start = schema1_implementation, .children = coupling_children},
    {.name = "CoSimulation_Tool",
     .start = schema1_implementation,
     .tag = TUTTI_NEEDS_TOOL,
     .children = coupling_children},
    {0}};

const struct tt_builder_element tt_schema_fmi1[] = {
    {.name = "UnitDefinitions", .children = units},
    {.name = "TypeDefinitions", .children = types},
    {.name = "DefaultExperiment", .start = tt_elements_experiment},
    {.name = "VendorAnnotations", .children = tools},
    {.name = "ModelVariables", .start = tt_elements_variables, .children = scalars},
    {.name = "Implementation", .start = schema1_implementation, .children = implementations},
    {0}};
