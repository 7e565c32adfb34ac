/* SPDX-License-Identifier: MIT */
/* describe3.c - the model description of FMI 3.0. */
#include "describe.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const elements[] = {
    [KIT_FLOAT64] = "Float64", [KIT_FLOAT32] = "Float32",         [KIT_INT8] = "Int8",       [KIT_UINT8] = "UInt8",
    [KIT_INT16] = "Int16",     [KIT_UINT16] = "UInt16",           [KIT_INT32] = "Int32",     [KIT_UINT32] = "UInt32",
    [KIT_INT64] = "Int64",     [KIT_UINT64] = "UInt64",           [KIT_BOOLEAN] = "Boolean", [KIT_STRING] = "String",
    [KIT_BINARY] = "Binary",   [KIT_ENUMERATION] = "Enumeration", [KIT_CLOCK] = "Clock",
};

static void write_common(const struct kit_model *model)
{
    text("modelIdentifier", model->name);
    flag("canBeInstantiatedOnlyOncePerProcess", model->features & KIT_ONCE_PER_PROCESS);
    flag("canGetAndSetFMUState", model->features & KIT_ROLLBACK);
    flag("canSerializeFMUState", model->features & KIT_SERIALISE);
    flag("providesDirectionalDerivatives", model->features & KIT_DIRECTIONAL);
    flag("providesAdjointDerivatives", model->features & KIT_DIRECTIONAL);
}

static void write_interface(const struct kit_model *model, bool exchange)
{
    printf(exchange ? "  <ModelExchange" : "  <CoSimulation");
    write_common(model);
    if (exchange) {
        flag("needsCompletedIntegratorStep", model->completed_step != NULL);
    } else {
        flag("canHandleVariableCommunicationStepSize", !(model->features & KIT_FIXED_STEP));
        whole("maxOutputDerivativeOrder", model->output_derivatives);
        flag("providesIntermediateUpdate", model->features & KIT_INTERMEDIATE);
        flag("mightReturnEarlyFromDoStep", model->features & KIT_EARLY_RETURN);
        flag("canReturnEarlyAfterIntermediateUpdate",
             model->features & KIT_INTERMEDIATE && model->features & KIT_EARLY_RETURN);
        flag("hasEventMode", model->features & KIT_EVENT_MODE);
    }
    puts("/>");
}

static void write_types(const struct kit_model *model)
{
    if (model->enumeration_count + model->type_count == 0)
        return;
    puts("  <TypeDefinitions>");
    for (size_t i = 0; i < model->type_count; i++) {
        const struct kit_float_type *t = &model->types[i];
        printf("    <Float64Type");
        text("name", t->name);
        text("description", t->description);
        text("quantity", t->quantity);
        text("unit", t->unit);
        text("displayUnit", t->display_unit);
        flag("relativeQuantity", t->relative_quantity);
        text("min", t->min);
        text("max", t->max);
        text("nominal", t->nominal);
        puts("/>");
    }
    for (size_t i = 0; i < model->enumeration_count; i++) {
        const struct kit_enumeration *e = &model->enumerations[i];
        printf("    <EnumerationType");
        text("name", e->name);
        text("description", e->description);
        puts(">");
        for (size_t j = 0; j < KIT_COUNT(e->items) && e->items[j].name; j++) {
            printf("      <Item");
            text("name", e->items[j].name);
            printf(" value=\"%lld\"", (long long)e->items[j].value);
            text("description", e->items[j].description);
            puts("/>");
        }
        puts("    </EnumerationType>");
    }
    puts("  </TypeDefinitions>");
}

static enum kit_variability default_variability(const struct kit_var *var)
{
    struct kit_var plain = *var;
    plain.variability = KIT_BY_DEFAULT;
    plain.clocks = NULL;
    return kit_var_variability(&plain);
}

static void write_clocks(const struct kit_model *model, const struct kit_var *var)
{
    const char *rest = var->clocks, *word;
    size_t length;
    if (!rest)
        return;
    printf(" clocks=\"");
    for (const char *between = ""; kit_next_word(&rest, &word, &length); between = " ")
        printf("%s%zu", between, kit_var_find(model, word, length));
    putchar('"');
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* Interval and shift have one resolution. */
static void write_fractions(const struct kit_clock *clock)
{
    uint64_t shift_resolution = clock->shift_resolution ? clock->shift_resolution : 1;
    uint64_t times = shift_resolution / common_divisor(clock->resolution, shift_resolution);
    uint64_t resolution = clock->resolution * times;
    printf(" supportsFraction=\"true\" resolution=\"%llu\" intervalCounter=\"%llu\"", (unsigned long long)resolution,
           (unsigned long long)clock->counter * times);
    whole("shiftCounter", (long long)clock->shift_counter * (long long)(resolution / shift_resolution));
}

static void write_timing(const struct kit_var *var)
{
    static const char *const words[] = {
        [KIT_INTERVAL_CONSTANT] = "constant",   [KIT_INTERVAL_FIXED] = "fixed",
        [KIT_INTERVAL_TUNABLE] = "tunable",     [KIT_INTERVAL_CHANGING] = "changing",
        [KIT_INTERVAL_COUNTDOWN] = "countdown", [KIT_TRIGGERED] = "triggered",
    };
    struct kit_clock clock;
    kit_var_start(var, &clock, 1);
    text("intervalVariability", words[var->clock]);
    if (var->causality == KIT_INPUT)
        printf(" priority=\"%u\"", var->priority);
    flag("canBeDeactivated", var->can_be_deactivated);
    number("intervalDecimal", clock.interval);
    number("shiftDecimal", clock.shift);
    if (var->clock == KIT_TRIGGERED || !kit_has_fraction(var))
        return;
    if (var->period)
        write_fractions(&clock);
    else
        flag("supportsFraction", true);
}

static void write_attributes(const struct kit_model *model, const struct kit_var *var)
{
    enum kit_type type = kit_var_type(var);
    enum kit_variability variability = kit_var_variability(var);
    bool floating = type == KIT_FLOAT64 || type == KIT_FLOAT32;
    size_t state;
    text("name", kit_var_name(var));
    printf(" valueReference=\"%d\"", (int)(var - model->variables) + 1);
    text("description", var->description);
    text("causality", causality_word(var));
    text("variability", variability == default_variability(var) ? NULL : variability_word(variability));
    text("initial", type == KIT_CLOCK ? NULL : initial_word(var));
    flag("intermediateUpdate", var->intermediate);
    text("declaredType", type == KIT_ENUMERATION ? var->enumeration : var->declared_type);
    if (floating) {
        text("quantity", var->quantity);
        text("unit", var->unit);
        text("displayUnit", var->display_unit);
        text("nominal", var->nominal);
    }
    write_clocks(model, var);
    if (type == KIT_CLOCK) {
        write_timing(var);
        return;
    }
    if (type != KIT_BOOLEAN && type != KIT_STRING && type != KIT_BINARY) {
        text("min", var->min);
        text("max", var->max);
    }
    if (type == KIT_BINARY)
        text("mimeType", var->mime_type);
    if (kit_var_is_derivative(model, var, &state))
        printf(" derivative=\"%zu\"", state);
    if (is_state(var))
        flag("reinit", var->reinit);
    if (type != KIT_STRING && type != KIT_BINARY)
        text("start", start_of(var));
}

static void write_dimensions(const struct kit_model *model, const struct kit_var *var)
{
    const char *rest = var->dims ? var->dims : "", *word;
    size_t length;
    while (kit_next_word(&rest, &word, &length)) {
        if (isdigit((unsigned char)*word))
            printf("      <Dimension start=\"%.*s\"/>\n", (int)length, word);
        else
            printf("      <Dimension valueReference=\"%zu\"/>\n", kit_var_find(model, word, length));
    }
}

/* String and Binary have their start values in elements. */
static void write_starts(const struct kit_var *var)
{
    enum kit_type type = kit_var_type(var);
    const char *rest = start_of(var), *word;
    size_t length;
    char value[1024];
    while (type == KIT_STRING && rest) {
        length = strcspn(rest, "\n");
        snprintf(value, sizeof value, "%.*s", (int)length, rest);
        printf("      <Start");
        text("value", value);
        puts("/>");
        rest = rest[length] ? rest + length + 1 : NULL;
    }
    while (type == KIT_BINARY && rest && kit_next_word(&rest, &word, &length))
        printf("      <Start value=\"%.*s\"/>\n", (int)length, word);
    if (type == KIT_BINARY && start_of(var) && strspn(start_of(var), " ") == strlen(start_of(var)))
        puts("      <Start value=\"\"/>");
}

static void write_variable(const struct kit_model *model, const struct kit_var *var)
{
    enum kit_type type = kit_var_type(var);
    bool floating = type == KIT_FLOAT64 || type == KIT_FLOAT32;
    bool starts = (type == KIT_STRING || type == KIT_BINARY) && start_of(var);
    printf("    <%s", elements[type]);
    write_attributes(model, var);
    if (!var->dims && !var->aliases && !starts) {
        puts("/>");
        return;
    }
    puts(">");
    write_dimensions(model, var);
    write_starts(var);
    for (const struct kit_alias *alias = var->aliases; alias && alias->name; alias++) {
        printf("      <Alias");
        text("name", alias->name);
        text("description", alias->description);
        if (floating)
            text("displayUnit", alias->display_unit);
        puts("/>");
    }
    printf("    </%s>\n", elements[type]);
}

static void write_list(const struct kit_model *model, const char *name, enum structure_list list)
{
    for (size_t i = 0; i < model->variable_count; i++) {
        const struct kit_var *var = &model->variables[i];
        if (!belongs_to(model, var, list, 3))
            continue;
        printf("    <%s valueReference=\"%zu\"", name, i + 1);
        dependencies(model, var, list == INITIAL_UNKNOWNS, 3, NULL);
        puts("/>");
    }
}

/* In the order of the states, which is that of their vector. */
static void write_derivatives(const struct kit_model *model)
{
    for (size_t i = 0; i < model->variable_count; i++) {
        const char *name = model->variables[i].derivative;
        if (!name)
            continue;
        size_t vr = kit_var_find(model, name, strlen(name));
        printf("    <ContinuousStateDerivative valueReference=\"%zu\"", vr);
        dependencies(model, &model->variables[vr - 1], false, 3, NULL);
        puts("/>");
    }
}

void describe3(const struct kit_model *model)
{
    char guid[KIT_GUID_SIZE];
    kit_guid(model, 3, guid);
    printf("<fmiModelDescription fmiVersion=\"3.0\"");
    text("modelName", model->name);
    text("instantiationToken", guid);
    text("description", model->description);
    text("author", model->author);
    text("version", model->version);
    text("generationTool", "Tutti FMU kit");
    puts(">");
    bool steps = !(model->features & KIT_ONLY_SCHEDULED);
    if (!model->advance && steps)
        write_interface(model, true);
    if (steps)
        write_interface(model, false);
    if (model->features & (KIT_SCHEDULED | KIT_ONLY_SCHEDULED)) {
        printf("  <ScheduledExecution");
        write_common(model);
        puts("/>");
    }
    write_units(model);
    write_types(model);
    write_log_categories();
    write_experiment(model, true);
    puts("  <ModelVariables>");
    puts("    <Float64 name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\"/>");
    for (size_t i = 0; i < model->variable_count; i++)
        write_variable(model, &model->variables[i]);
    puts("  </ModelVariables>\n  <ModelStructure>");
    write_list(model, "Output", OUTPUTS);
    write_derivatives(model);
    write_list(model, "InitialUnknown", INITIAL_UNKNOWNS);
    for (size_t i = 0; i < model->variable_count; i++)
        if (model->variables[i].indicator) {
            printf("    <EventIndicator valueReference=\"%zu\"", i + 1);
            dependencies(model, &model->variables[i], false, 3, NULL);
            puts("/>");
        }
    puts("  </ModelStructure>\n</fmiModelDescription>");
}
