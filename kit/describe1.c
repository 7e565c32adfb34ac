/* SPDX-License-Identifier: MIT */
/* describe1.c - the model description of FMI 1.0. */
#include "describe.h"

#include <stdio.h>
#include <string.h>

static void write_types(const struct kit_model *model)
{
    if (model->unit_count > 0)
        puts("  <UnitDefinitions>");
    for (size_t i = 0; i < model->unit_count; i++) {
        const struct kit_unit *u = &model->units[i];
        printf("    <BaseUnit");
        text("unit", u->name);
        puts(">");
        for (size_t j = 0; j < KIT_COUNT(u->display) && u->display[j].name; j++) {
            printf("      <DisplayUnitDefinition");
            text("displayUnit", u->display[j].name);
            number("gain", u->display[j].factor);
            number("offset", u->display[j].offset);
            puts("/>");
        }
        puts("    </BaseUnit>");
    }
    if (model->unit_count > 0)
        puts("  </UnitDefinitions>");
    if (model->enumeration_count + model->type_count == 0)
        return;
    puts("  <TypeDefinitions>");
    for (size_t i = 0; i < model->type_count; i++) {
        const struct kit_float_type *t = &model->types[i];
        printf("    <Type");
        text("name", t->name);
        text("description", t->description);
        printf("><RealType");
        text("quantity", t->quantity);
        text("unit", t->unit);
        text("displayUnit", t->display_unit);
        flag("relativeQuantity", t->relative_quantity);
        text("min", t->min);
        text("max", t->max);
        text("nominal", t->nominal);
        puts("/></Type>");
    }
    for (size_t i = 0; i < model->enumeration_count; i++) {
        const struct kit_enumeration *e = &model->enumerations[i];
        printf("    <Type");
        text("name", e->name);
        text("description", e->description);
        puts("><EnumerationType>");
        for (size_t j = 0; j < KIT_COUNT(e->items) && e->items[j].name; j++) {
            printf("      <Item");
            text("name", e->items[j].name);
            text("description", e->items[j].description);
            puts("/>");
        }
        puts("    </EnumerationType></Type>");
    }
    puts("  </TypeDefinitions>");
}

/* Outputs name the inputs that they depend on without a state in between. */
static void write_dependency(const struct kit_model *model, const struct kit_var *var)
{
    if (var->causality != KIT_OUTPUT || (!var->depends && !is_state(var)))
        return;
    printf("<DirectDependency>");
    const char *rest = is_state(var) ? "" : var->depends, *word;
    size_t length;
    while (kit_next_word(&rest, &word, &length)) {
        const char *colon = memchr(word, ':', length);
        size_t vr = kit_var_find(model, word, colon ? (size_t)(colon - word) : length);
        if (vr > 0 && vr <= model->variable_count && model->variables[vr - 1].causality == KIT_INPUT) {
            printf("<Name>");
            escaped(kit_var_name(&model->variables[vr - 1]));
            printf("</Name>");
        }
    }
    printf("</DirectDependency>");
}

static void write_variable(const struct kit_model *model, const struct kit_var *var, const struct kit_alias *alias)
{
    static const char *const elements[] = {[KIT_FLOAT64] = "Real",
                                           [KIT_INT32] = "Integer",
                                           [KIT_BOOLEAN] = "Boolean",
                                           [KIT_STRING] = "String",
                                           [KIT_ENUMERATION] = "Enumeration"};
    static const char *const variabilities[] = {[KIT_CONSTANT] = "constant",
                                                [KIT_FIXED] = "parameter",
                                                [KIT_TUNABLE] = "parameter",
                                                [KIT_DISCRETE] = "discrete",
                                                [KIT_CONTINUOUS] = "continuous"};
    enum kit_type type = kit_var_type(var);
    printf("    <ScalarVariable");
    text("name", alias ? alias->name : kit_var_name(var));
    printf(" valueReference=\"%d\"", (int)(var - model->variables) + 1);
    text("description", alias ? alias->description : var->description);
    text("variability", variabilities[kit_var_variability(var)]);
    bool inner = alias || (var->causality != KIT_INPUT && var->causality != KIT_OUTPUT);
    text("causality", inner ? "internal" : causality_word(var));
    text("alias", alias ? "alias" : NULL);
    printf("><%s", elements[type]);
    text("declaredType", type == KIT_ENUMERATION ? var->enumeration : var->declared_type);
    if (type == KIT_FLOAT64) {
        text("quantity", var->quantity);
        text("unit", var->unit);
        text("displayUnit", alias && alias->display_unit ? alias->display_unit : var->display_unit);
        text("nominal", var->nominal);
    }
    if (type == KIT_FLOAT64 || type == KIT_INT32 || type == KIT_ENUMERATION) {
        text("min", var->min);
        text("max", var->max);
    }
    text("start", alias ? NULL : start_of(var));
    if (!alias && start_of(var) && kit_var_initial(var) == KIT_APPROX)
        text("fixed", "false");
    printf("/>");
    if (!alias)
        write_dependency(model, var);
    puts("</ScalarVariable>");
}

static void write_capabilities(const struct kit_model *model)
{
    puts("  <Implementation>\n    <CoSimulation_StandAlone>");
    printf("      <Capabilities");
    flag("canHandleVariableCommunicationStepSize", !(model->features & KIT_FIXED_STEP));
    flag("canHandleEvents", true);
    flag("canRejectSteps", model->features & KIT_ROLLBACK);
    flag("canInterpolateInputs", model->features & KIT_INPUT_DERIVATIVES);
    whole("maxOutputDerivativeOrder", model->output_derivatives);
    flag("canBeInstantiatedOnlyOncePerProcess", model->features & KIT_ONCE_PER_PROCESS);
    flag("canNotUseMemoryManagementFunctions", true);
    puts("/>\n    </CoSimulation_StandAlone>\n  </Implementation>");
}

void describe1(const struct kit_model *model, bool exchange)
{
    char guid[KIT_GUID_SIZE];
    size_t states = 0, indicators = 0;
    for (size_t i = 0; i < model->variable_count; i++) {
        states += is_state(&model->variables[i]);
        indicators += model->variables[i].indicator;
    }
    kit_guid(model, 1, guid);
    printf("<fmiModelDescription fmiVersion=\"1.0\"");
    text("modelName", model->name);
    text("modelIdentifier", model->name);
    text("guid", guid);
    text("description", model->description);
    text("author", model->author);
    text("version", model->version);
    text("generationTool", "Tutti FMU kit");
    printf(" numberOfContinuousStates=\"%zu\" numberOfEventIndicators=\"%zu\">\n", states, indicators);
    write_types(model);
    write_experiment(model, false);
    puts("  <ModelVariables>");
    for (size_t i = 0; i < model->variable_count; i++) {
        const struct kit_var *var = &model->variables[i];
        if (!kit_var_exists_in(model, var, 1))
            continue;
        write_variable(model, var, NULL);
        for (const struct kit_alias *alias = var->aliases; alias && alias->name; alias++)
            write_variable(model, var, alias);
    }
    puts("  </ModelVariables>");
    if (!exchange)
        write_capabilities(model);
    puts("</fmiModelDescription>");
}
