/* SPDX-License-Identifier: MIT */
/* The elements of a model description of FMI 2.0. */
#include "fmu/description/builder.h"

static enum tutti_err schema2_interface(struct tt_builder *build, int tag)
{
    struct tt_interface *interface = &build->desc->interfaces[tag];
    uint32_t *flags = &interface->flags;
    TRY(tt_elements_interface(build, tag));
    tt_builder_read_flag(build, ATTR_canNotUseMemoryManagementFunctions, flags, TUTTI_NO_MEMORY_FUNCTIONS);
    tt_builder_read_flag(build, ATTR_canGetAndSetFMUstate, flags, TUTTI_CAN_STATE);
    tt_builder_read_flag(build, ATTR_canSerializeFMUstate, flags, TUTTI_CAN_SERIALIZE);
    tt_builder_read_flag(build, ATTR_providesDirectionalDerivative, flags, TUTTI_CAN_DIRECTIONAL);
    if (tag == TUTTI_ME) {
        bool not_needed = false;
        tt_builder_read_bool(build, ATTR_completedIntegratorStepNotNeeded, &not_needed);
        *flags |= not_needed ? 0 : TUTTI_NEEDS_COMPLETED_STEP;
    } else {
        tt_builder_read_flag(build, ATTR_canHandleVariableCommunicationStepSize, flags, TUTTI_CAN_VARIABLE_STEP);
        tt_builder_read_flag(build, ATTR_canInterpolateInputs, flags, TUTTI_CAN_INPUT_DERIVATIVES);
        tt_builder_read_flag(build, ATTR_canRunAsynchronuously, flags, TUTTI_CAN_RUN_ASYNCHRONOUSLY);
        tt_builder_read_uint32(build, ATTR_maxOutputDerivativeOrder, &interface->max_output_derivative_order);
    }
    return TUTTI_OK;
}

static enum tutti_err schema2_simple_type(struct tt_builder *build, int tag)
{
    (void)tag;
    return tt_elements_new_type(build);
}

static enum tutti_err schema2_type_kind(struct tt_builder *build, int tag)
{
    return tt_elements_type_kind(build, (enum tt_type)tag);
}

static enum tutti_err schema2_scalar(struct tt_builder *build, int tag)
{
    (void)tag;
    TRY(tt_elements_new_var(build));
    struct tt_var *var = tt_elements_last_var(build);
    tt_builder_read_word(build, ATTR_causality, tt_description_causality_words, &var->causality);
    if (var->causality == TUTTI_STRUCTURAL_PARAMETER) {
        tt_builder_report_error(build, "found causality structuralParameter, which FMI 3.0 has; parameter is used");
        var->causality = TUTTI_PARAMETER;
    }
    build->variability_given =
        tt_builder_read_word(build, ATTR_variability, tt_description_variability_words, &var->variability);
    var->initial_given = tt_builder_read_word(build, ATTR_initial, tt_description_initial_words, &var->initial);
    tt_builder_read_bool(build, ATTR_canHandleMultipleSetPerTimeInstant, &var->multiple_set);
    return TUTTI_OK;
}

static enum tutti_err schema2_scalar_kind(struct tt_builder *build, int tag)
{
    struct tt_var *var = tt_elements_last_var(build);
    struct tt_builder_properties properties;
    if (!tt_elements_var_kind(build, (enum tt_type)tag, &properties))
        return TUTTI_OK;
    if (var->type == TUTTI_TYPE_FLOAT64) {
        tt_builder_read_uint32(build, ATTR_derivative, &var->derivative_of);
        tt_builder_read_bool(build, ATTR_reinit, &var->reinit);
    }
    return tt_elements_apply_properties(build, var, &properties);
}

static enum tutti_err schema2_scalar_end(struct tt_builder *build)
{
    struct tt_var *var = tt_elements_last_var(build);
    tt_elements_check_kind(build);
    if (var->variability == TUTTI_CONTINUOUS && var->type != TUTTI_TYPE_FLOAT64) {
        bool parameter = var->causality == TUTTI_PARAMETER || var->causality == TUTTI_CALCULATED_PARAMETER;
        if (build->variability_given)
            tt_builder_report_error(build, "found variability continuous, which only a Real can have; %s is used",
                                    parameter ? "fixed" : "discrete");
        else
            tt_builder_report_warning(build,
                                      "found no variability, expected one: the default, continuous, is only for a "
                                      "Real; %s is used",
                                      parameter ? "fixed" : "discrete");
        var->variability = parameter ? TUTTI_FIXED : TUTTI_DISCRETE;
    }
    if (!var->initial_given)
        var->initial = (uint8_t)tt_elements_default_initial(2, var->type, var->causality, var->variability);
    return TUTTI_OK;
}

#define TYPES(function, ...)                                                                                           \
    {.name = "Real", .start = function, .tag = TUTTI_TYPE_FLOAT64},                                                    \
        {.name = "Integer", .start = function, .tag = TUTTI_TYPE_INT32},                                               \
        {.name = "Boolean", .start = function, .tag = TUTTI_TYPE_BOOLEAN},                                             \
        {.name = "String", .start = function, .tag = TUTTI_TYPE_STRING},                                               \
    {                                                                                                                  \
        .name = "Enumeration", .start = function, .tag = TUTTI_TYPE_ENUMERATION, __VA_ARGS__                           \
    }

static const struct tt_builder_element interface_children[] = {{.name = "SourceFiles", .foreign = true}, {0}};
static const struct tt_builder_element unit_children[] = {
    {.name = "BaseUnit", .start = tt_elements_base_unit},
    {.name = "DisplayUnit", .start = tt_elements_display_unit, .tag = ATTR_name},
    {0}};
static const struct tt_builder_element units[] = {
    {.name = "Unit", .start = tt_elements_unit, .tag = ATTR_name, .children = unit_children},
    {0}};
static const struct tt_builder_element enumeration_children[] = {{.name = "Item", .start = tt_elements_item}, {0}};
static const struct tt_builder_element type_children[] = {TYPES(schema2_type_kind, .children = enumeration_children),
                                                          {0}};
static const struct tt_builder_element types[] = {
    {.name = "SimpleType", .start = schema2_simple_type, .end = tt_elements_finish_type, .children = type_children},
    {0}};
static const struct tt_builder_element categories[] = {{.name = "Category", .start = tt_elements_category}, {0}};
static const struct tt_builder_element tools[] = {
    {.name = "Tool", .start = tt_elements_annotation, .tag = ATTR_name, .foreign = true},
    {0}};
static const struct tt_builder_element scalar_children[] = {TYPES(schema2_scalar_kind, .children = NULL),
                                                            {.name = "Annotations", .foreign = true},
                                                            {0}};
static const struct tt_builder_element scalars[] = {
    {.name = "ScalarVariable", .start = schema2_scalar, .end = schema2_scalar_end, .children = scalar_children},
    {0}};
static const struct tt_builder_element outputs[] = {
    {.name = "Unknown", .start = tt_elements_unknown, .tag = LIST_OUTPUTS},
    {0}};
static const struct tt_builder_element derivatives[] = {
    {.name = "Unknown", .start = tt_elements_unknown, .tag = LIST_DERIVATIVES},
    {0}};
static const struct tt_builder_element initial_unknowns[] = {
    {.name = "Unknown", .start = tt_elements_unknown, .tag = LIST_INITIAL},
    {0}};
static const struct tt_builder_element lists[] = {
    {.name = "Outputs", .start = tt_elements_unknown_list, .tag = LIST_OUTPUTS, .children = outputs},
    {.name = "Derivatives", .start = tt_elements_unknown_list, .tag = LIST_DERIVATIVES, .children = derivatives},
    {.name = "InitialUnknowns", .start = tt_elements_unknown_list, .tag = LIST_INITIAL, .children = initial_unknowns},
    {0}};

const struct tt_builder_element tt_schema_fmi2[] = {
    {.name = "ModelExchange", .start = schema2_interface, .tag = TUTTI_ME, .children = interface_children},
    {.name = "CoSimulation", .start = schema2_interface, .tag = TUTTI_CS, .children = interface_children},
    {.name = "UnitDefinitions", .children = units},
    {.name = "TypeDefinitions", .children = types},
    {.name = "LogCategories", .children = categories},
    {.name = "DefaultExperiment", .start = tt_elements_experiment},
    {.name = "VendorAnnotations", .children = tools},
    {.name = "ModelVariables", .start = tt_elements_variables, .children = scalars},
    {.name = "ModelStructure", .start = tt_elements_structure, .children = lists},
    {0}};
