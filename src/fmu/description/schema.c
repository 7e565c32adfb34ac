/* SPDX-License-Identifier: MIT */
/* The elements of a model description of FMI 3.0. */
#include <string.h>

#include "fmu/description/builder.h"

static enum tutti_err schema3_interface(struct tt_builder *build, int tag)
{
    struct tt_interface *interface = &build->desc->interfaces[tag];
    uint32_t *flags = &interface->flags;
    TRY(tt_elements_interface(build, tag));
    tt_builder_read_flag(build, ATTR_canGetAndSetFMUState, flags, TUTTI_CAN_STATE);
    tt_builder_read_flag(build, ATTR_canSerializeFMUState, flags, TUTTI_CAN_SERIALIZE);
    tt_builder_read_flag(build, ATTR_providesDirectionalDerivatives, flags, TUTTI_CAN_DIRECTIONAL);
    tt_builder_read_flag(build, ATTR_providesAdjointDerivatives, flags, TUTTI_CAN_ADJOINT);
    tt_builder_read_flag(build, ATTR_providesPerElementDependencies, flags, TUTTI_CAN_ELEMENT_DEPENDENCIES);
    tt_builder_read_flag(build, ATTR_providesEvaluateDiscreteStates, flags, TUTTI_CAN_EVALUATE_DISCRETE);
    if (tag == TUTTI_ME)
        tt_builder_read_flag(build, ATTR_needsCompletedIntegratorStep, flags, TUTTI_NEEDS_COMPLETED_STEP);
    if (tag != TUTTI_CS)
        return TUTTI_OK;
    tt_builder_read_flag(build, ATTR_canHandleVariableCommunicationStepSize, flags, TUTTI_CAN_VARIABLE_STEP);
    tt_builder_read_flag(build, ATTR_providesIntermediateUpdate, flags, TUTTI_CAN_INTERMEDIATE);
    tt_builder_read_flag(build, ATTR_mightReturnEarlyFromDoStep, flags, TUTTI_CAN_EARLY_RETURN);
    tt_builder_read_flag(build, ATTR_canReturnEarlyAfterIntermediateUpdate, flags, TUTTI_CAN_RETURN_AFTER_INTERMEDIATE);
    tt_builder_read_flag(build, ATTR_hasEventMode, flags, TUTTI_CAN_EVENT_MODE);
    tt_builder_read_uint32(build, ATTR_maxOutputDerivativeOrder, &interface->max_output_derivative_order);
    tt_builder_read_int32(build, ATTR_recommendedIntermediateInputSmoothness, &interface->input_smoothness);
    tt_builder_read_double(build, ATTR_fixedInternalStepSize, &interface->fixed_step);
    return TUTTI_OK;
}

/* Merges the timing of a clock with that of its type, which it overrides; NULL in *out if neither has one. */
static enum tutti_err schema3_merge_clock(struct tt_builder *build, const struct tt_clock *from,
                                          const struct tt_clock **out)
{
    struct tt_clock *clock = tt_arena_alloc(&build->desc->arena, sizeof *clock);
    if (!clock)
        return tt_fail_memory();
    if (from)
        *clock = *from;
    else
        clock->interval_variability = TUTTI_INTERVAL_UNKNOWN;
    uint8_t word = (uint8_t)clock->interval_variability;
    if (tt_builder_read_word(build, ATTR_intervalVariability, tt_interval_words, &word))
        clock->interval_variability = (enum tt_interval)word;
    tt_builder_read_bool(build, ATTR_canBeDeactivated, &clock->can_be_deactivated);
    tt_builder_read_bool(build, ATTR_supportsFraction, &clock->supports_fraction);
    clock->has_priority |= tt_builder_read_uint32(build, ATTR_priority, &clock->priority);
    tt_builder_read_double(build, ATTR_intervalDecimal, &clock->interval);
    tt_builder_read_double(build, ATTR_shiftDecimal, &clock->shift);
    tt_builder_read_uint64(build, ATTR_resolution, &clock->resolution);
    tt_builder_read_uint64(build, ATTR_intervalCounter, &clock->interval_counter);
    tt_builder_read_uint64(build, ATTR_shiftCounter, &clock->shift_counter);
    *out = clock;
    return TUTTI_OK;
}

static enum tutti_err schema3_type(struct tt_builder *build, int tag)
{
    TRY(tt_elements_new_type(build));
    TRY(tt_elements_type_kind(build, (enum tt_type)tag));
    struct tt_type_def *def = tt_elements_last_type(build);
    if (tag == TUTTI_TYPE_CLOCK)
        return schema3_merge_clock(build, NULL, &def->clock);
    if (tag == TUTTI_TYPE_BINARY) {
        tt_builder_read_uint64(build, ATTR_maxSize, &def->max_size);
        return tt_builder_copy_text(build, &def->mime_type, tt_builder_take_attribute(build, ATTR_mimeType));
    }
    return TUTTI_OK;
}

/* The attributes that only some types of 3.0 have. */
static enum tutti_err schema3_read_more(struct tt_builder *build, struct tt_var *var)
{
    const struct tt_type_def *types = build->whole->types.items;
    const struct tt_type_def *def =
        var->type_def == TUTTI_NONE || types[var->type_def].type != var->type ? NULL : &types[var->type_def];
    const char *clocks = tt_builder_take_attribute(build, ATTR_clocks);
    if (!clocks && var->type != TUTTI_TYPE_CLOCK && var->type != TUTTI_TYPE_BINARY)
        return TUTTI_OK;
    struct tt_var_more *more = tt_arena_alloc(&build->desc->arena, sizeof *more);
    if (!more)
        return tt_fail_memory();
    var->more = more;
    if (var->type == TUTTI_TYPE_CLOCK)
        TRY(schema3_merge_clock(build, def ? def->clock : NULL, &more->clock));
    if (var->type == TUTTI_TYPE_BINARY) {
        const char *mime = tt_builder_take_attribute(build, ATTR_mimeType);
        more->max_size = def ? def->max_size : 0;
        tt_builder_read_uint64(build, ATTR_maxSize, &more->max_size);
        more->mime_type = def ? def->mime_type : NULL;
        if (mime)
            TRY(tt_builder_copy_text(build, &more->mime_type, mime));
    }
    if (!clocks)
        return TUTTI_OK;
    bool good;
    TRY(tt_builder_read_numbers(build, clocks, &good));
    uint32_t n = build->words.count;
    if (!good || n == 0) {
        tt_builder_report_error(build, "clocks are \"%.80s\", expected a list of value references", clocks);
        return TUTTI_OK;
    }
    uint32_t *references = tt_arena_array(&build->desc->arena, n, sizeof *references);
    if (!references)
        return tt_fail_memory();
    more->clocks = memcpy(references, build->words.items, n * sizeof *references);
    var->clock_count = n;
    return TUTTI_OK;
}

static uint8_t schema3_default_variability(const struct tt_var *var)
{
    if (var->causality == TUTTI_PARAMETER || var->causality == TUTTI_CALCULATED_PARAMETER ||
        var->causality == TUTTI_STRUCTURAL_PARAMETER)
        return TUTTI_FIXED;
    return tt_type_is_float(var->type) ? TUTTI_CONTINUOUS : TUTTI_DISCRETE;
}

static enum tutti_err schema3_variable(struct tt_builder *build, int tag)
{
    TRY(tt_elements_new_var(build));
    struct tt_var *var = tt_elements_last_var(build);
    struct tt_builder_properties properties;
    if (!tt_elements_var_kind(build, (enum tt_type)tag, &properties))
        return TUTTI_OK;
    tt_builder_read_word(build, ATTR_causality, tt_description_causality_words, &var->causality);
    var->variability = schema3_default_variability(var);
    tt_builder_read_word(build, ATTR_variability, tt_description_variability_words, &var->variability);
    if (var->variability == TUTTI_CONTINUOUS && !tt_type_is_float(var->type)) {
        tt_builder_report_error(build,
                                "found variability continuous, which only a Float32 or Float64 can have; %s is used",
                                tt_description_variability_words[schema3_default_variability(var)]);
        var->variability = schema3_default_variability(var);
    }
    tt_builder_read_bool(build, ATTR_canHandleMultipleSetPerTimeInstant, &var->multiple_set);
    if (tag != TUTTI_TYPE_CLOCK) {
        var->initial_given = tt_builder_read_word(build, ATTR_initial, tt_description_initial_words, &var->initial);
        tt_builder_read_bool(build, ATTR_intermediateUpdate, &var->intermediate);
        tt_builder_read_uint32(build, ATTR_previous, &var->previous);
    }
    if (!var->initial_given)
        var->initial = (uint8_t)tt_elements_default_initial(3, var->type, var->causality, var->variability);
    if (tt_type_is_float(var->type)) {
        tt_builder_read_uint32(build, ATTR_derivative, &var->derivative_of);
        tt_builder_read_bool(build, ATTR_reinit, &var->reinit);
    }
    TRY(tt_elements_apply_properties(build, var, &properties));
    return schema3_read_more(build, var);
}

static enum tutti_err schema3_dimension(struct tt_builder *build, int tag)
{
    (void)tag;
    enum tutti_err err;
    if (build->dimensions.count == TUTTI_DIMENSION_LIMIT)
        return tt_xml_fail(build->xml, TUTTI_ERR_LIMIT, "variable \"%.200s\" has more than %d dimensions",
                           tt_elements_last_var(build)->name, TUTTI_DIMENSION_LIMIT);
    struct tt_dimension *extent = tt_builder_push(build, &build->dimensions, "dimensions", &err);
    if (!extent)
        return err;
    extent->start = 1;
    extent->variable = TUTTI_NONE;
    bool has_start = tt_builder_read_uint64(build, ATTR_start, &extent->start);
    bool has_reference = tt_builder_read_uint32(build, ATTR_valueReference, &extent->variable);
    if (has_start == has_reference)
        tt_builder_report_error(build, "found a Dimension with %s, expected either start or valueReference",
                                has_start ? "both" : "neither");
    if (has_start)
        extent->variable = TUTTI_NONE;
    return TUTTI_OK;
}

static enum tutti_err schema3_start_value(struct tt_builder *build, int tag)
{
    (void)tag;
    enum tutti_err err;
    struct tt_var *var = tt_elements_last_var(build);
    const char *value = tt_builder_take_attribute(build, ATTR_value);
    if (var->type != TUTTI_TYPE_STRING && var->type != TUTTI_TYPE_BINARY) {
        tt_builder_report_error(build, "found a <Start> element, expected a start attribute; it is ignored");
        return TUTTI_OK;
    }
    if (!value)
        tt_builder_report_error(build, "found <Start> without value, expected one");
    struct tt_bytes *bytes = tt_builder_push(build, &build->strings, "start values", &err);
    if (!bytes)
        return err;
    if (var->type == TUTTI_TYPE_BINARY)
        return tt_builder_read_bytes(build, value ? value : "", bytes);
    const char *text;
    TRY(tt_builder_copy_text(build, &text, value ? value : ""));
    bytes->data = (const uint8_t *)text;
    return TUTTI_OK;
}

static enum tutti_err schema3_alias(struct tt_builder *build, int tag)
{
    (void)tag;
    enum tutti_err err;
    struct tt_builder_list *aliases = &build->whole->aliases;
    struct tt_alias *entry = tt_builder_push(build, aliases, "aliases", &err);
    if (!entry)
        return err;
    const char *name = tt_builder_take_attribute(build, ATTR_name);
    const struct tt_var *var = tt_elements_last_var(build);
    if (!name)
        tt_builder_report_error(build, "found an alias without a name, expected one");
    entry->variable = build->whole->vars.count - 1;
    entry->display_unit = TUTTI_NONE;
    entry->line = tt_xml_line(build->xml);
    TRY(tt_builder_copy_text(build, &entry->name, name ? name : ""));
    TRY(tt_builder_copy_text(build, &entry->description, tt_builder_take_attribute(build, ATTR_description)));
    const char *display = tt_type_is_float(var->type) ? tt_builder_take_attribute(build, ATTR_displayUnit) : NULL;
    if (display) {
        entry->display_unit = tt_elements_find_display(build, var->unit, display);
        if (entry->display_unit == TUTTI_NONE)
            return tt_elements_defer_name(build, PENDING_ALIAS_DISPLAY, aliases->count - 1, display);
    }
    return TUTTI_OK;
}

static enum tutti_err schema3_variable_end(struct tt_builder *build)
{
    struct tt_var *var = tt_elements_last_var(build);
    uint32_t n = build->dimensions.count, starts = build->strings.count;
    if (n) {
        struct tt_dimension *dimensions = tt_arena_array(&build->desc->arena, n, sizeof *dimensions);
        if (!dimensions)
            return tt_fail_memory();
        var->dimensions = memcpy(dimensions, build->dimensions.items, n * sizeof *dimensions);
        var->dimension_count = (uint8_t)n;
    }
    if (starts == 0)
        return TUTTI_OK;
    const struct tt_bytes *from = build->strings.items;
    void *values = tt_arena_array(&build->desc->arena, starts, tt_type_size(var->type));
    if (!values)
        return tt_fail_memory();
    for (uint32_t i = 0; i < starts; i++)
        if (var->type == TUTTI_TYPE_BINARY)
            ((struct tt_bytes *)values)[i] = from[i];
        else
            ((const char **)values)[i] = (const char *)from[i].data;
    var->start = values;
    var->start_count = starts;
    return TUTTI_OK;
}

static enum tutti_err schema3_structure(struct tt_builder *build, int tag)
{
    for (int list = LIST_OUTPUTS; list <= LIST_INDICATORS; list++)
        tt_elements_list_of(build->desc, (enum tt_builder_unknown_list)list)->given = true;
    return tt_elements_structure(build, tag);
}

#define ANNOTATIONS                                                                                                    \
    {                                                                                                                  \
        .name = "Annotations", .foreign = true                                                                         \
    }
static const struct tt_builder_element only_annotations[] = {ANNOTATIONS, {0}};
static const struct tt_builder_element annotations[] = {
    {.name = "Annotation", .start = tt_elements_annotation, .tag = ATTR_type, .foreign = true},
    {0}};
static const struct tt_builder_element unit_children[] = {
    {.name = "BaseUnit", .start = tt_elements_base_unit},
    {.name = "DisplayUnit", .start = tt_elements_display_unit, .tag = ATTR_name, .children = only_annotations},
    ANNOTATIONS,
    {0}};
static const struct tt_builder_element units[] = {
    {.name = "Unit", .start = tt_elements_unit, .tag = ATTR_name, .children = unit_children},
    {0}};
static const struct tt_builder_element type_children[] = {
    {.name = "Item", .start = tt_elements_item, .children = only_annotations},
    ANNOTATIONS,
    {0}};
static const struct tt_builder_element types[] = {
#define X(id, text, ctype)                                                                                             \
    {.name = text "Type",                                                                                              \
     .start = schema3_type,                                                                                            \
     .end = tt_elements_finish_type,                                                                                   \
     .tag = TUTTI_TYPE_##id,                                                                                           \
     .children = TUTTI_TYPE_##id == TUTTI_TYPE_ENUMERATION ? type_children : only_annotations},
    TUTTI_TYPES(X)
#undef X
        {0}};
static const struct tt_builder_element categories[] = {
    {.name = "Category", .start = tt_elements_category, .children = only_annotations},
    {0}};
static const struct tt_builder_element clock_children[] = {{.name = "Alias", .start = schema3_alias}, ANNOTATIONS, {0}};
static const struct tt_builder_element variable_children[] = {{.name = "Dimension", .start = schema3_dimension},
                                                              {.name = "Start", .start = schema3_start_value},
                                                              {.name = "Alias", .start = schema3_alias},
                                                              ANNOTATIONS,
                                                              {0}};
static const struct tt_builder_element all_variables[] = {
#define X(id, text, ctype)                                                                                             \
    {.name = text,                                                                                                     \
     .start = schema3_variable,                                                                                        \
     .end = schema3_variable_end,                                                                                      \
     .tag = TUTTI_TYPE_##id,                                                                                           \
     .children = TUTTI_TYPE_##id == TUTTI_TYPE_CLOCK ? clock_children : variable_children},
    TUTTI_TYPES(X)
#undef X
        {0}};
static const struct tt_builder_element unknowns[] = {
    {.name = "Output", .start = tt_elements_unknown, .tag = LIST_OUTPUTS, .children = only_annotations},
    {.name = "ContinuousStateDerivative",
     .start = tt_elements_unknown,
     .tag = LIST_DERIVATIVES,
     .children = only_annotations},
    {.name = "InitialUnknown", .start = tt_elements_unknown, .tag = LIST_INITIAL, .children = only_annotations},
    {.name = "ClockedState", .start = tt_elements_unknown, .tag = LIST_CLOCKED, .children = only_annotations},
    {.name = "EventIndicator", .start = tt_elements_unknown, .tag = LIST_INDICATORS, .children = only_annotations},
    {0}};

const struct tt_builder_element tt_schema_fmi3[] = {
    {.name = "ModelExchange", .start = schema3_interface, .tag = TUTTI_ME, .children = only_annotations},
    {.name = "CoSimulation", .start = schema3_interface, .tag = TUTTI_CS, .children = only_annotations},
    {.name = "ScheduledExecution", .start = schema3_interface, .tag = TUTTI_SE, .children = only_annotations},
    {.name = "UnitDefinitions", .children = units},
    {.name = "TypeDefinitions", .children = types},
    {.name = "LogCategories", .children = categories},
    {.name = "DefaultExperiment", .start = tt_elements_experiment, .children = only_annotations},
    {.name = "ModelVariables", .start = tt_elements_variables, .children = all_variables},
    {.name = "ModelStructure", .start = schema3_structure, .children = unknowns},
    {.name = "Annotations", .children = annotations},
    {0}};

/* The elements of a model description of FMI 1.0: Model Exchange, or Co-Simulation if it has an Implementation. */

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

static enum tutti_err schema1_scalar_end(struct tt_builder *build)
{
    static const uint8_t causalities[] = {TUTTI_LOCAL, TUTTI_INPUT, TUTTI_OUTPUT, TUTTI_LOCAL};
    struct tt_var *var = tt_elements_last_var(build);
    tt_elements_check_kind(build);
    if (build->has_direct && var->causality != CAUSALITY_OUTPUT)
        tt_builder_report_error(build, "found DirectDependency, which only an output can have; it is ignored");
    bool is_parameter = var->variability == VARIABILITY_PARAMETER;
    if (is_parameter) {
        /* A parameter with a start value can be set before the initialisation; without one it is calculated. */
        var->variability = TUTTI_FIXED;
        if (var->causality == CAUSALITY_OUTPUT) {
            var->causality = TUTTI_OUTPUT;
        } else if (var->causality == CAUSALITY_INPUT) {
            var->causality = TUTTI_PARAMETER;
            var->variability = TUTTI_TUNABLE;
        } else {
            var->causality = var->start && build->fixed ? TUTTI_PARAMETER : TUTTI_CALCULATED_PARAMETER;
        }
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
    if (var->causality != TUTTI_OUTPUT)
        return TUTTI_OK;

    enum tutti_err err;
    struct tt_unknown *output = tt_builder_push(build, &build->whole->unknowns[LIST_OUTPUTS], "outputs", &err);
    if (!output)
        return err;
    output->variable = build->whole->vars.count - 1;
    output->has_dependencies = build->has_direct;
    output->line = tt_elements_last_var(build)->line;
    return TUTTI_OK;
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

static const struct tt_builder_element schema_fmi1_unit_children[] = {
    {.name = "DisplayUnitDefinition", .start = tt_elements_display_unit, .tag = ATTR_displayUnit},
    {0}};
static const struct tt_builder_element schema_fmi1_units[] = {
    {.name = "BaseUnit", .start = tt_elements_unit, .tag = ATTR_unit, .children = schema_fmi1_unit_children},
    {0}};
static const struct tt_builder_element enumeration_children[] = {{.name = "Item", .start = tt_elements_item}, {0}};
static const struct tt_builder_element schema_fmi1_type_children[] = {
    {.name = "RealType", .start = schema1_type_kind, .tag = TUTTI_TYPE_FLOAT64},
    {.name = "IntegerType", .start = schema1_type_kind, .tag = TUTTI_TYPE_INT32},
    {.name = "BooleanType", .start = schema1_type_kind, .tag = TUTTI_TYPE_BOOLEAN},
    {.name = "StringType", .start = schema1_type_kind, .tag = TUTTI_TYPE_STRING},
    {.name = "EnumerationType",
     .start = schema1_type_kind,
     .tag = TUTTI_TYPE_ENUMERATION,
     .children = enumeration_children},
    {0}};
static const struct tt_builder_element schema_fmi1_types[] = {
    {.name = "Type", .start = schema1_type, .end = tt_elements_finish_type, .children = schema_fmi1_type_children},
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
    {.name = "UnitDefinitions", .children = schema_fmi1_units},
    {.name = "TypeDefinitions", .children = schema_fmi1_types},
    {.name = "DefaultExperiment", .start = tt_elements_experiment},
    {.name = "VendorAnnotations", .children = tools},
    {.name = "ModelVariables", .start = tt_elements_variables, .children = scalars},
    {.name = "Implementation", .start = schema1_implementation, .children = implementations},
    {0}};

/* The elements of a model description of FMI 2.0. */

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
static const struct tt_builder_element schema_fmi2_unit_children[] = {
    {.name = "BaseUnit", .start = tt_elements_base_unit},
    {.name = "DisplayUnit", .start = tt_elements_display_unit, .tag = ATTR_name},
    {0}};
static const struct tt_builder_element schema_fmi2_units[] = {
    {.name = "Unit", .start = tt_elements_unit, .tag = ATTR_name, .children = schema_fmi2_unit_children},
    {0}};
static const struct tt_builder_element schema_fmi2_enumeration_children[] = {
    {.name = "Item", .start = tt_elements_item},
    {0}};
static const struct tt_builder_element schema_fmi2_type_children[] = {
    TYPES(schema2_type_kind, .children = schema_fmi2_enumeration_children),
    {0}};
static const struct tt_builder_element schema_fmi2_types[] = {{.name = "SimpleType",
                                                               .start = schema2_simple_type,
                                                               .end = tt_elements_finish_type,
                                                               .children = schema_fmi2_type_children},
                                                              {0}};
static const struct tt_builder_element schema_fmi2_categories[] = {{.name = "Category", .start = tt_elements_category},
                                                                   {0}};
static const struct tt_builder_element schema_fmi2_tools[] = {
    {.name = "Tool", .start = tt_elements_annotation, .tag = ATTR_name, .foreign = true},
    {0}};
static const struct tt_builder_element schema_fmi2_scalar_children[] = {TYPES(schema2_scalar_kind, .children = NULL),
                                                                        {.name = "Annotations", .foreign = true},
                                                                        {0}};
static const struct tt_builder_element schema_fmi2_scalars[] = {{.name = "ScalarVariable",
                                                                 .start = schema2_scalar,
                                                                 .end = schema2_scalar_end,
                                                                 .children = schema_fmi2_scalar_children},
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
    {.name = "UnitDefinitions", .children = schema_fmi2_units},
    {.name = "TypeDefinitions", .children = schema_fmi2_types},
    {.name = "LogCategories", .children = schema_fmi2_categories},
    {.name = "DefaultExperiment", .start = tt_elements_experiment},
    {.name = "VendorAnnotations", .children = schema_fmi2_tools},
    {.name = "ModelVariables", .start = tt_elements_variables, .children = schema_fmi2_scalars},
    {.name = "ModelStructure", .start = tt_elements_structure, .children = lists},
    {0}};
