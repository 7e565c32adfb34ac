/* SPDX-License-Identifier: MIT */
/* describe2.c - the model description of FMI 2.0. */
#include "describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_interface(const struct kit_model *model, bool exchange)
{
    printf(exchange ? "  <ModelExchange" : "  <CoSimulation");
    text("modelIdentifier", model->name);
    if (exchange) {
        flag("completedIntegratorStepNotNeeded", !model->completed_step);
    } else {
        flag("canHandleVariableCommunicationStepSize", !(model->features & KIT_FIXED_STEP));
        flag("canInterpolateInputs", model->features & KIT_INPUT_DERIVATIVES);
        whole("maxOutputDerivativeOrder", model->output_derivatives);
    }
    flag("canBeInstantiatedOnlyOncePerProcess", model->features & KIT_ONCE_PER_PROCESS);
    flag("canNotUseMemoryManagementFunctions", true);
    flag("canGetAndSetFMUstate", model->features & KIT_ROLLBACK);
    flag("canSerializeFMUstate", model->features & KIT_SERIALISE);
    flag("providesDirectionalDerivative", model->features & KIT_DIRECTIONAL);
    puts("/>");
}

static void write_types(const struct kit_model *model)
{
    if (model->enumeration_count + model->type_count == 0)
        return;
    puts("  <TypeDefinitions>");
    for (size_t i = 0; i < model->type_count; i++) {
        const struct kit_float_type *t = &model->types[i];
        printf("    <SimpleType");
        text("name", t->name);
        text("description", t->description);
        printf("><Real");
        text("quantity", t->quantity);
        text("unit", t->unit);
        text("displayUnit", t->display_unit);
        flag("relativeQuantity", t->relative_quantity);
        text("min", t->min);
        text("max", t->max);
        text("nominal", t->nominal);
        puts("/></SimpleType>");
    }
    for (size_t i = 0; i < model->enumeration_count; i++) {
        const struct kit_enumeration *e = &model->enumerations[i];
        printf("    <SimpleType");
        text("name", e->name);
        text("description", e->description);
        puts("><Enumeration>");
        for (size_t j = 0; j < KIT_COUNT(e->items) && e->items[j].name; j++) {
            printf("      <Item");
            text("name", e->items[j].name);
            printf(" value=\"%lld\"", (long long)e->items[j].value);
            text("description", e->items[j].description);
            puts("/>");
        }
        puts("    </Enumeration></SimpleType>");
    }
    puts("  </TypeDefinitions>");
}

/* Inside the type's element. An alias has no start value unless it is a constant. */
static void write_type_attributes(const struct kit_model *model, const struct kit_var *var,
                                  const struct kit_alias *alias, const size_t index[])
{
    enum kit_type type = kit_var_type(var);
    size_t state;
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
    if (!alias || kit_var_variability(var) == KIT_CONSTANT)
        text("start", start_of(var));
    if (!alias && kit_var_is_derivative(model, var, &state))
        printf(" derivative=\"%zu\"", index[state]);
    if (!alias && is_state(var))
        flag("reinit", var->reinit);
}

static void write_variable(const struct kit_model *model, const struct kit_var *var, const struct kit_alias *alias,
                           const size_t index[])
{
    static const char *const elements[] = {[KIT_FLOAT64] = "Real",
                                           [KIT_INT32] = "Integer",
                                           [KIT_BOOLEAN] = "Boolean",
                                           [KIT_STRING] = "String",
                                           [KIT_ENUMERATION] = "Enumeration"};
    printf("    <ScalarVariable");
    text("name", alias ? alias->name : kit_var_name(var));
    printf(" valueReference=\"%d\"", (int)(var - model->variables) + 1);
    text("description", alias ? alias->description : var->description);
    text("causality", alias ? "local" : causality_word(var));
    text("variability", variability_word(kit_var_variability(var)));
    text("initial", alias ? NULL : initial_word(var));
    printf("><%s", elements[kit_var_type(var)]);
    write_type_attributes(model, var, alias, index);
    puts("/></ScalarVariable>");
}

/* In the order of the states, which is that of their vector. */
static void write_derivatives(const struct kit_model *model, const size_t index[])
{
    bool open = false;
    for (size_t i = 0; i < model->variable_count; i++) {
        const char *name = model->variables[i].derivative;
        size_t vr = name ? kit_var_find(model, name, strlen(name)) : 0;
        if (!name || index[vr] == 0)
            continue;
        if (!open)
            puts("    <Derivatives>");
        open = true;
        printf("      <Unknown index=\"%zu\"", index[vr]);
        dependencies(model, &model->variables[vr - 1], false, 2, index);
        puts("/>");
    }
    if (open)
        puts("    </Derivatives>");
}

static void write_list(const struct kit_model *model, const char *name, enum structure_list list, const size_t index[])
{
    bool open = false;
    for (size_t i = 0; i < model->variable_count; i++) {
        const struct kit_var *var = &model->variables[i];
        if (!belongs_to(model, var, list, 2))
            continue;
        if (!open)
            printf("    <%s>\n", name);
        open = true;
        printf("      <Unknown index=\"%zu\"", index[i + 1]);
        dependencies(model, var, list == INITIAL_UNKNOWNS, 2, index);
        puts("/>");
    }
    if (open)
        printf("    </%s>\n", name);
}

void describe2(const struct kit_model *model)
{
    char guid[KIT_GUID_SIZE];
    size_t indicators = 0, count = 1;
    /* Places of the variables in the file, from 1; time comes first. */
    size_t *index = calloc(model->variable_count + 1, sizeof *index);
    if (!index)
        return;
    index[0] = count++;
    for (size_t i = 0; i < model->variable_count; i++) {
        indicators += model->variables[i].indicator;
        if (kit_var_exists_in(model, &model->variables[i], 2))
            index[i + 1] = count++;
    }
    kit_guid(model, 2, guid);
    printf("<fmiModelDescription fmiVersion=\"2.0\"");
    text("modelName", model->name);
    text("guid", guid);
    text("description", model->description);
    text("author", model->author);
    text("version", model->version);
    text("generationTool", "Tutti FMU kit");
    printf(" numberOfEventIndicators=\"%zu\">\n", indicators);
    if (!model->advance)
        write_interface(model, true);
    write_interface(model, false);
    write_units(model);
    write_types(model);
    write_log_categories();
    write_experiment(model, true);
    puts("  <ModelVariables>");
    puts("    <ScalarVariable name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\">"
         "<Real/></ScalarVariable>");
    for (size_t i = 0; i < model->variable_count; i++)
        if (index[i + 1] > 0)
            write_variable(model, &model->variables[i], NULL, index);
    for (size_t i = 0; i < model->variable_count; i++)
        for (const struct kit_alias *a = model->variables[i].aliases; a && a->name && index[i + 1] > 0; a++)
            write_variable(model, &model->variables[i], a, index);
    puts("  </ModelVariables>\n  <ModelStructure>");
    write_list(model, "Outputs", OUTPUTS, index);
    write_derivatives(model, index);
    write_list(model, "InitialUnknowns", INITIAL_UNKNOWNS, index);
    puts("  </ModelStructure>\n</fmiModelDescription>");
    free(index);
}
