/* SPDX-License-Identifier: MIT */
/* The elements of a model description of FMI 3.0. */
#include <string.h>

#include "description/desc_build.h"

static enum tutti_err interface(struct tutti_build *build, int tag)
{
    struct tutti_interface *interface = &build->desc->interfaces[tag];
    uint32_t *flags = &interface->flags;
    TRY(tutti_build_interface(build, tag));
    tutti_build_flag(build, ATTR_canGetAndSetFMUState, flags, TUTTI_CAN_STATE);
    tutti_build_flag(build, ATTR_canSerializeFMUState, flags, TUTTI_CAN_SERIALIZE);
    tutti_build_flag(build, ATTR_providesDirectionalDerivatives, flags, TUTTI_CAN_DIRECTIONAL);
    tutti_build_flag(build, ATTR_providesAdjointDerivatives, flags, TUTTI_CAN_ADJOINT);
    tutti_build_flag(build, ATTR_providesPerElementDependencies, flags, TUTTI_CAN_ELEMENT_DEPENDENCIES);
    tutti_build_flag(build, ATTR_providesEvaluateDiscreteStates, flags, TUTTI_CAN_EVALUATE_DISCRETE);
    if (tag == TUTTI_ME)
        tutti_build_flag(build, ATTR_needsCompletedIntegratorStep, flags, TUTTI_NEEDS_COMPLETED_STEP);
    if (tag != TUTTI_CS)
        return TUTTI_OK;
    tutti_build_flag(build, ATTR_canHandleVariableCommunicationStepSize, flags, TUTTI_CAN_VARIABLE_STEP);
    tutti_build_flag(build, ATTR_providesIntermediateUpdate, flags, TUTTI_CAN_INTERMEDIATE);
    tutti_build_flag(build, ATTR_mightReturnEarlyFromDoStep, flags, TUTTI_CAN_EARLY_RETURN);
    tutti_build_flag(build, ATTR_canReturnEarlyAfterIntermediateUpdate, flags, TUTTI_CAN_RETURN_AFTER_INTERMEDIATE);
    tutti_build_flag(build, ATTR_hasEventMode, flags, TUTTI_CAN_EVENT_MODE);
    tutti_build_uint32(build, ATTR_maxOutputDerivativeOrder, &interface->max_output_derivative_order);
    tutti_build_int32(build, ATTR_recommendedIntermediateInputSmoothness, &interface->input_smoothness);
    tutti_build_double(build, ATTR_fixedInternalStepSize, &interface->fixed_step);
    return TUTTI_OK;
}

/* Takes the timing of a clock over what the type said; NULL in *out if neither says anything. */
static enum tutti_err take_clock(struct tutti_build *build, const struct tutti_clock *from,
                                 const struct tutti_clock **out)
{
    struct tutti_clock *clock = tutti_arena_alloc(&build->desc->arena, sizeof *clock);
    if (!clock)
        return tutti_fail_memory();
    if (from)
        *clock = *from;
    else
        clock->interval_variability = TUTTI_INTERVAL_UNKNOWN;
    uint8_t word = (uint8_t)clock->interval_variability;
    if (tutti_build_word(build, ATTR_intervalVariability, tutti_interval_words, &word))
        clock->interval_variability = (enum tutti_interval)word;
    tutti_build_bool(build, ATTR_canBeDeactivated, &clock->can_be_deactivated);
    tutti_build_bool(build, ATTR_supportsFraction, &clock->supports_fraction);
    clock->has_priority |= tutti_build_uint32(build, ATTR_priority, &clock->priority);
    tutti_build_double(build, ATTR_intervalDecimal, &clock->interval);
    tutti_build_double(build, ATTR_shiftDecimal, &clock->shift);
    tutti_build_uint64(build, ATTR_resolution, &clock->resolution);
    tutti_build_uint64(build, ATTR_intervalCounter, &clock->interval_counter);
    tutti_build_uint64(build, ATTR_shiftCounter, &clock->shift_counter);
    *out = clock;
    return TUTTI_OK;
}

static enum tutti_err type(struct tutti_build *build, int tag)
{
    TRY(tutti_build_new_type(build));
    TRY(tutti_build_type_kind(build, (enum tutti_type)tag));
    struct tutti_type_def *def = tutti_build_last_type(build);
    if (tag == TUTTI_TYPE_CLOCK)
        return take_clock(build, NULL, &def->clock);
    if (tag == TUTTI_TYPE_BINARY) {
        tutti_build_uint64(build, ATTR_maxSize, &def->max_size);
        return tutti_build_text(build, &def->mime_type, tutti_build_take(build, ATTR_mimeType));
    }
    return TUTTI_OK;
}

/* The attributes that only some types of 3.0 have. */
static enum tutti_err take_more(struct tutti_build *build, struct tutti_var *var)
{
    const struct tutti_type_def *types = build->whole->types.items;
    const struct tutti_type_def *def =
        var->type_def == TUTTI_NONE || types[var->type_def].type != var->type ? NULL : &types[var->type_def];
    const char *clocks = tutti_build_take(build, ATTR_clocks);
    if (!clocks && var->type != TUTTI_TYPE_CLOCK && var->type != TUTTI_TYPE_BINARY)
        return TUTTI_OK;
    struct tutti_var_more *more = tutti_arena_alloc(&build->desc->arena, sizeof *more);
    if (!more)
        return tutti_fail_memory();
    var->more = more;
    if (var->type == TUTTI_TYPE_CLOCK)
        TRY(take_clock(build, def ? def->clock : NULL, &more->clock));
    if (var->type == TUTTI_TYPE_BINARY) {
        const char *mime = tutti_build_take(build, ATTR_mimeType);
        more->max_size = def ? def->max_size : 0;
        tutti_build_uint64(build, ATTR_maxSize, &more->max_size);
        more->mime_type = def ? def->mime_type : NULL;
        if (mime)
            TRY(tutti_build_text(build, &more->mime_type, mime));
    }
    if (!clocks)
        return TUTTI_OK;
    bool good;
    TRY(tutti_build_numbers(build, clocks, &good));
    uint32_t n = build->words.count;
    if (!good || n == 0) {
        tutti_build_error(build, "clocks are \"%.80s\", expected a list of value references", clocks);
        return TUTTI_OK;
    }
    uint32_t *references = tutti_arena_array(&build->desc->arena, n, sizeof *references);
    if (!references)
        return tutti_fail_memory();
    more->clocks = memcpy(references, build->words.items, n * sizeof *references);
    var->clock_count = n;
    return TUTTI_OK;
}

static uint8_t default_variability(const struct tutti_var *var)
{
    if (var->causality == TUTTI_PARAMETER || var->causality == TUTTI_CALCULATED_PARAMETER ||
        var->causality == TUTTI_STRUCTURAL_PARAMETER)
        return TUTTI_FIXED;
    return tutti_type_is_float(var->type) ? TUTTI_CONTINUOUS : TUTTI_DISCRETE;
}

static enum tutti_err variable(struct tutti_build *build, int tag)
{
    TRY(tutti_build_new_var(build));
    struct tutti_var *var = tutti_build_var(build);
    struct tutti_properties properties;
    if (!tutti_build_var_kind(build, (enum tutti_type)tag, &properties))
        return TUTTI_OK;
    tutti_build_word(build, ATTR_causality, tutti_causality_words, &var->causality);
    var->variability = default_variability(var);
    tutti_build_word(build, ATTR_variability, tutti_variability_words, &var->variability);
    if (var->variability == TUTTI_CONTINUOUS && !tutti_type_is_float(var->type)) {
        tutti_build_error(build, "found variability continuous, which only a Float32 or Float64 can have; %s is used",
                          tutti_variability_words[default_variability(var)]);
        var->variability = default_variability(var);
    }
    tutti_build_bool(build, ATTR_canHandleMultipleSetPerTimeInstant, &var->multiple_set);
    if (tag != TUTTI_TYPE_CLOCK) {
        var->initial_given = tutti_build_word(build, ATTR_initial, tutti_initial_words, &var->initial);
        tutti_build_bool(build, ATTR_intermediateUpdate, &var->intermediate);
        tutti_build_uint32(build, ATTR_previous, &var->previous);
    }
    if (!var->initial_given)
        var->initial = (uint8_t)tutti_build_default_initial(3, var->type, var->causality, var->variability);
    if (tutti_type_is_float(var->type)) {
        tutti_build_uint32(build, ATTR_derivative, &var->derivative_of);
        tutti_build_bool(build, ATTR_reinit, &var->reinit);
    }
    TRY(tutti_build_apply(build, var, &properties));
    return take_more(build, var);
}

static enum tutti_err dimension(struct tutti_build *build, int tag)
{
    (void)tag;
    enum tutti_err err;
    if (build->dimensions.count == TUTTI_DIMENSION_LIMIT)
        return tutti_xml_fail(build->xml, TUTTI_ERR_LIMIT, "variable \"%.200s\" has more than %d dimensions",
                              tutti_build_var(build)->name, TUTTI_DIMENSION_LIMIT);
    struct tutti_dimension *extent = tutti_build_push(build, &build->dimensions, "dimensions", &err);
    if (!extent)
        return err;
    extent->start = 1;
    extent->variable = TUTTI_NONE;
    bool has_start = tutti_build_uint64(build, ATTR_start, &extent->start);
    bool has_reference = tutti_build_uint32(build, ATTR_valueReference, &extent->variable);
    if (has_start == has_reference)
        tutti_build_error(build, "found a Dimension with %s, expected either start or valueReference",
                          has_start ? "both" : "neither");
    if (has_start)
        extent->variable = TUTTI_NONE;
    return TUTTI_OK;
}

static enum tutti_err start_value(struct tutti_build *build, int tag)
{
    (void)tag;
    enum tutti_err err;
    struct tutti_var *var = tutti_build_var(build);
    const char *value = tutti_build_take(build, ATTR_value);
    if (var->type != TUTTI_TYPE_STRING && var->type != TUTTI_TYPE_BINARY) {
        tutti_build_error(build, "found a <Start> element, expected a start attribute; it is ignored");
        return TUTTI_OK;
    }
    if (!value)
        tutti_build_error(build, "found <Start> without value, expected one");
    struct tutti_bytes *bytes = tutti_build_push(build, &build->strings, "start values", &err);
    if (!bytes)
        return err;
    if (var->type == TUTTI_TYPE_BINARY)
        return tutti_build_bytes(build, value ? value : "", bytes);
    const char *text;
    TRY(tutti_build_text(build, &text, value ? value : ""));
    bytes->data = (const uint8_t *)text;
    return TUTTI_OK;
}

static enum tutti_err alias(struct tutti_build *build, int tag)
{
    (void)tag;
    enum tutti_err err;
    struct tutti_list *aliases = &build->whole->aliases;
    struct tutti_alias *entry = tutti_build_push(build, aliases, "aliases", &err);
    if (!entry)
        return err;
    const char *name = tutti_build_take(build, ATTR_name);
    const struct tutti_var *var = tutti_build_var(build);
    if (!name)
        tutti_build_error(build, "found an alias without a name, expected one");
    entry->variable = build->whole->vars.count - 1;
    entry->display_unit = TUTTI_NONE;
    entry->line = tutti_xml_line(build->xml);
    TRY(tutti_build_text(build, &entry->name, name ? name : ""));
    TRY(tutti_build_text(build, &entry->description, tutti_build_take(build, ATTR_description)));
    const char *display = tutti_type_is_float(var->type) ? tutti_build_take(build, ATTR_displayUnit) : NULL;
    if (display) {
        entry->display_unit = tutti_build_find_display(build, var->unit, display);
        if (entry->display_unit == TUTTI_NONE)
            return tutti_build_postpone(build, PENDING_ALIAS_DISPLAY, aliases->count - 1, display);
    }
    return TUTTI_OK;
}

static enum tutti_err variable_end(struct tutti_build *build)
{
    struct tutti_var *var = tutti_build_var(build);
    uint32_t n = build->dimensions.count, starts = build->strings.count;
    if (n) {
        struct tutti_dimension *dimensions = tutti_arena_array(&build->desc->arena, n, sizeof *dimensions);
        if (!dimensions)
            return tutti_fail_memory();
        var->dimensions = memcpy(dimensions, build->dimensions.items, n * sizeof *dimensions);
        var->dimension_count = (uint8_t)n;
    }
    if (starts == 0)
        return TUTTI_OK;
    const struct tutti_bytes *from = build->strings.items;
    void *values = tutti_arena_array(&build->desc->arena, starts, tutti_type_size(var->type));
    if (!values)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < starts; i++)
        if (var->type == TUTTI_TYPE_BINARY)
            ((struct tutti_bytes *)values)[i] = from[i];
        else
            ((const char **)values)[i] = (const char *)from[i].data;
    var->start = values;
    var->start_count = starts;
    return TUTTI_OK;
}

static enum tutti_err structure(struct tutti_build *build, int tag)
{
    for (int list = LIST_OUTPUTS; list <= LIST_INDICATORS; list++)
        tutti_build_unknowns(build->desc, (enum tutti_unknown_list)list)->given = true;
    return tutti_build_structure(build, tag);
}

#define ANNOTATIONS                                                                                                    \
    {                                                                                                                  \
        .name = "Annotations", .foreign = true                                                                         \
    }
static const struct tutti_element only_annotations[] = {ANNOTATIONS, {0}};
static const struct tutti_element annotations[] = {
    {.name = "Annotation", .start = tutti_build_annotation, .tag = ATTR_type, .foreign = true},
    {0}};
static const struct tutti_element unit_children[] = {
    {.name = "BaseUnit", .start = tutti_build_base_unit},
    {.name = "DisplayUnit", .start = tutti_build_display_unit, .tag = ATTR_name, .children = only_annotations},
    ANNOTATIONS,
    {0}};
static const struct tutti_element units[] = {
    {.name = "Unit", .start = tutti_build_unit, .tag = ATTR_name, .children = unit_children},
    {0}};
static const struct tutti_element type_children[] = {
    {.name = "Item", .start = tutti_build_item, .children = only_annotations},
    ANNOTATIONS,
    {0}};
static const struct tutti_element types[] = {
#define X(id, text, ctype)                                                                                             \
    {.name = text "Type",                                                                                              \
     .start = type,                                                                                                    \
     .end = tutti_build_end_type,                                                                                      \
     .tag = TUTTI_TYPE_##id,                                                                                           \
     .children = TUTTI_TYPE_##id == TUTTI_TYPE_ENUMERATION ? type_children : only_annotations},
    TUTTI_TYPES(X)
#undef X
        {0}};
static const struct tutti_element categories[] = {
    {.name = "Category", .start = tutti_build_category, .children = only_annotations},
    {0}};
static const struct tutti_element clock_children[] = {{.name = "Alias", .start = alias}, ANNOTATIONS, {0}};
static const struct tutti_element variable_children[] = {{.name = "Dimension", .start = dimension},
                                                         {.name = "Start", .start = start_value},
                                                         {.name = "Alias", .start = alias},
                                                         ANNOTATIONS,
                                                         {0}};
static const struct tutti_element all_variables[] = {
#define X(id, text, ctype)                                                                                             \
    {.name = text,                                                                                                     \
     .start = variable,                                                                                                \
     .end = variable_end,                                                                                              \
     .tag = TUTTI_TYPE_##id,                                                                                           \
     .children = TUTTI_TYPE_##id == TUTTI_TYPE_CLOCK ? clock_children : variable_children},
    TUTTI_TYPES(X)
#undef X
        {0}};
static const struct tutti_element unknowns[] = {
    {.name = "Output", .start = tutti_build_unknown, .tag = LIST_OUTPUTS, .children = only_annotations},
    {.name = "ContinuousStateDerivative",
     .start = tutti_build_unknown,
     .tag = LIST_DERIVATIVES,
     .children = only_annotations},
    {.name = "InitialUnknown", .start = tutti_build_unknown, .tag = LIST_INITIAL, .children = only_annotations},
    {.name = "ClockedState", .start = tutti_build_unknown, .tag = LIST_CLOCKED, .children = only_annotations},
    {.name = "EventIndicator", .start = tutti_build_unknown, .tag = LIST_INDICATORS, .children = only_annotations},
    {0}};

const struct tutti_element tutti_fmi3_elements[] = {
    {.name = "ModelExchange", .start = interface, .tag = TUTTI_ME, .children = only_annotations},
    {.name = "CoSimulation", .start = interface, .tag = TUTTI_CS, .children = only_annotations},
    {.name = "ScheduledExecution", .start = interface, .tag = TUTTI_SE, .children = only_annotations},
    {.name = "UnitDefinitions", .children = units},
    {.name = "TypeDefinitions", .children = types},
    {.name = "LogCategories", .children = categories},
    {.name = "DefaultExperiment", .start = tutti_build_experiment, .children = only_annotations},
    {.name = "ModelVariables", .start = tutti_build_variables, .children = all_variables},
    {.name = "ModelStructure", .start = structure, .children = unknowns},
    {.name = "Annotations", .children = annotations},
    {0}};
