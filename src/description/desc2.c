/* SPDX-License-Identifier: MIT */
/* The elements of a model description of FMI 2.0. */
#include "description/desc_build.h"

static enum tutti_err interface(struct tutti_build *build, int tag)
{
    struct tutti_interface *interface = &build->desc->interfaces[tag];
    uint32_t *flags = &interface->flags;
    TRY(tutti_build_interface(build, tag));
    tutti_build_flag(build, ATTR_canNotUseMemoryManagementFunctions, flags, TUTTI_NO_MEMORY_FUNCTIONS);
    tutti_build_flag(build, ATTR_canGetAndSetFMUstate, flags, TUTTI_CAN_STATE);
    tutti_build_flag(build, ATTR_canSerializeFMUstate, flags, TUTTI_CAN_SERIALIZE);
    tutti_build_flag(build, ATTR_providesDirectionalDerivative, flags, TUTTI_CAN_DIRECTIONAL);
    if (tag == TUTTI_ME) {
        bool not_needed = false;
        tutti_build_bool(build, ATTR_completedIntegratorStepNotNeeded, &not_needed);
        *flags |= not_needed ? 0 : TUTTI_NEEDS_COMPLETED_STEP;
    } else {
        tutti_build_flag(build, ATTR_canHandleVariableCommunicationStepSize, flags, TUTTI_CAN_VARIABLE_STEP);
        tutti_build_flag(build, ATTR_canInterpolateInputs, flags, TUTTI_CAN_INPUT_DERIVATIVES);
        tutti_build_flag(build, ATTR_canRunAsynchronuously, flags, TUTTI_CAN_RUN_ASYNCHRONOUSLY);
        tutti_build_uint32(build, ATTR_maxOutputDerivativeOrder, &interface->max_output_derivative_order);
    }
    return TUTTI_OK;
}

static enum tutti_err simple_type(struct tutti_build *build, int tag)
{
    (void)tag;
    return tutti_build_new_type(build);
}

static enum tutti_err type_kind(struct tutti_build *build, int tag)
{
    return tutti_build_type_kind(build, (enum tutti_type)tag);
}

static enum tutti_err scalar(struct tutti_build *build, int tag)
{
    (void)tag;
    TRY(tutti_build_new_var(build));
    struct tutti_var *var = tutti_build_var(build);
    tutti_build_word(build, ATTR_causality, tutti_causality_words, &var->causality);
    if (var->causality == TUTTI_STRUCTURAL_PARAMETER) {
        tutti_build_error(build, "found causality structuralParameter, which FMI 3.0 has; parameter is used");
        var->causality = TUTTI_PARAMETER;
    }
    build->variability_given = tutti_build_word(build, ATTR_variability, tutti_variability_words, &var->variability);
    var->initial_given = tutti_build_word(build, ATTR_initial, tutti_initial_words, &var->initial);
    tutti_build_bool(build, ATTR_canHandleMultipleSetPerTimeInstant, &var->multiple_set);
    return TUTTI_OK;
}

static enum tutti_err scalar_kind(struct tutti_build *build, int tag)
{
    struct tutti_var *var = tutti_build_var(build);
    struct tutti_properties properties;
    if (!tutti_build_var_kind(build, (enum tutti_type)tag, &properties))
        return TUTTI_OK;
    if (var->type == TUTTI_TYPE_FLOAT64) {
        tutti_build_uint32(build, ATTR_derivative, &var->derivative_of);
        tutti_build_bool(build, ATTR_reinit, &var->reinit);
    }
    return tutti_build_apply(build, var, &properties);
}

static enum tutti_err scalar_end(struct tutti_build *build)
{
    struct tutti_var *var = tutti_build_var(build);
    tutti_build_check_kind(build);
    if (var->variability == TUTTI_CONTINUOUS && var->type != TUTTI_TYPE_FLOAT64) {
        bool parameter = var->causality == TUTTI_PARAMETER || var->causality == TUTTI_CALCULATED_PARAMETER;
        if (build->variability_given)
            tutti_build_error(build, "found variability continuous, which only a Real can have; %s is used",
                              parameter ? "fixed" : "discrete");
        else
            tutti_build_warning(build,
                                "found no variability, expected one: the default, continuous, is only for a "
                                "Real; %s is used",
                                parameter ? "fixed" : "discrete");
        var->variability = parameter ? TUTTI_FIXED : TUTTI_DISCRETE;
    }
    if (!var->initial_given)
        var->initial = (uint8_t)tutti_build_default_initial(2, var->type, var->causality, var->variability);
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

static const struct tutti_element interface_children[] = {{.name = "SourceFiles", .foreign = true}, {0}};
static const struct tutti_element unit_children[] = {
    {.name = "BaseUnit", .start = tutti_build_base_unit},
    {.name = "DisplayUnit", .start = tutti_build_display_unit, .tag = ATTR_name},
    {0}};
static const struct tutti_element units[] = {
    {.name = "Unit", .start = tutti_build_unit, .tag = ATTR_name, .children = unit_children},
    {0}};
static const struct tutti_element enumeration_children[] = {{.name = "Item", .start = tutti_build_item}, {0}};
static const struct tutti_element type_children[] = {TYPES(type_kind, .children = enumeration_children), {0}};
static const struct tutti_element types[] = {
    {.name = "SimpleType", .start = simple_type, .end = tutti_build_end_type, .children = type_children},
    {0}};
static const struct tutti_element categories[] = {{.name = "Category", .start = tutti_build_category}, {0}};
static const struct tutti_element tools[] = {
    {.name = "Tool", .start = tutti_build_annotation, .tag = ATTR_name, .foreign = true},
    {0}};
static const struct tutti_element scalar_children[] = {TYPES(scalar_kind, .children = NULL),
                                                       {.name = "Annotations", .foreign = true},
                                                       {0}};
static const struct tutti_element scalars[] = {
    {.name = "ScalarVariable", .start = scalar, .end = scalar_end, .children = scalar_children},
    {0}};
static const struct tutti_element outputs[] = {{.name = "Unknown", .start = tutti_build_unknown, .tag = LIST_OUTPUTS},
                                               {0}};
static const struct tutti_element derivatives[] = {
    {.name = "Unknown", .start = tutti_build_unknown, .tag = LIST_DERIVATIVES},
    {0}};
static const struct tutti_element initial_unknowns[] = {
    {.name = "Unknown", .start = tutti_build_unknown, .tag = LIST_INITIAL},
    {0}};
static const struct tutti_element lists[] = {
    {.name = "Outputs", .start = tutti_build_unknown_list, .tag = LIST_OUTPUTS, .children = outputs},
    {.name = "Derivatives", .start = tutti_build_unknown_list, .tag = LIST_DERIVATIVES, .children = derivatives},
    {.name = "InitialUnknowns", .start = tutti_build_unknown_list, .tag = LIST_INITIAL, .children = initial_unknowns},
    {0}};

const struct tutti_element tutti_fmi2_elements[] = {
    {.name = "ModelExchange", .start = interface, .tag = TUTTI_ME, .children = interface_children},
    {.name = "CoSimulation", .start = interface, .tag = TUTTI_CS, .children = interface_children},
    {.name = "UnitDefinitions", .children = units},
    {.name = "TypeDefinitions", .children = types},
    {.name = "LogCategories", .children = categories},
    {.name = "DefaultExperiment", .start = tutti_build_experiment},
    {.name = "VendorAnnotations", .children = tools},
    {.name = "ModelVariables", .start = tutti_build_variables, .children = scalars},
    {.name = "ModelStructure", .start = tutti_build_structure, .children = lists},
    {0}};
