/* SPDX-License-Identifier: MIT */
#include "pack/describe.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/run.h>

#include "base/number.h"
#include "job/annotation.h"
#include "job/integration.h"
#include "ssp/tree.h"

struct writer {
    const struct tutti_pack_description *description;
    const struct tutti_job *job;
    struct tutti_tree *tree;
    bool failed; /* memory is out */
    bool *depends;
};

/* ---- elements ---- */

static struct tutti_node *put(struct writer *writer, struct tutti_node *parent, const char *name)
{
    struct tutti_node *node = writer->failed ? NULL : tutti_node_add(writer->tree, parent, name);
    writer->failed = writer->failed || !node;
    return node;
}

static void set(struct writer *writer, struct tutti_node *node, const char *name, const char *value)
{
    if (!writer->failed && value)
        writer->failed = !tutti_node_set(writer->tree, node, name, value);
}

static void set_number(struct writer *writer, struct tutti_node *node, const char *name, double value)
{
    char digits[64];
    digits[tutti_number_write_double(digits, value)] = '\0';
    set(writer, node, name, digits);
}

static void set_count(struct writer *writer, struct tutti_node *node, const char *name, uint64_t value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    set(writer, node, name, digits);
}

static void set_true(struct writer *writer, struct tutti_node *node, const char *name, bool value)
{
    if (value)
        set(writer, node, name, "true");
}

/* ---- what the system can ---- */

/* The flags that all units have, by the interface that they would be run with. */
static enum tutti_err common_flags(const struct tutti_job *job, uint32_t *all, bool *once, bool *varies)
{
    *all = UINT32_MAX;
    *once = false;
    *varies = true;
    for (uint32_t c = 0; c < job->system->component_count; c++) {
        const struct tutti_component *component = &job->system->components[c];
        const struct tutti_unit_kind *kind;
        struct tutti_run_options own = job->options;
        double step;
        TRY(tutti_annotation_of_component(&own, job->system, component, &step));
        TRY(tutti_interface_find(&own, component->fmu, job->system->single, &kind));
        uint32_t flags = component->fmu->desc->interfaces[kind->interface].flags;
        *all &= flags;
        *once = *once || flags & TUTTI_ONCE_PER_PROCESS;
        *varies = *varies && (kind->interface == TUTTI_ME || flags & TUTTI_CAN_VARIABLE_STEP);
    }
    return TUTTI_OK;
}

static enum tutti_err put_interface(struct writer *writer, struct tutti_node *root)
{
    bool newer = writer->description->fmi == 3, once, varies;
    uint32_t flags;
    TRY(common_flags(writer->job, &flags, &once, &varies));
    struct tutti_node *node = put(writer, root, "CoSimulation");
    set(writer, node, "modelIdentifier", writer->description->identifier);
    set_true(writer, node, "canHandleVariableCommunicationStepSize", varies);
    set_true(writer, node, "canBeInstantiatedOnlyOncePerProcess", once);
    set_true(writer, node, newer ? "canGetAndSetFMUState" : "canGetAndSetFMUstate", flags & TUTTI_CAN_STATE);
    set_true(writer, node, newer ? "canSerializeFMUState" : "canSerializeFMUstate",
             (flags & (TUTTI_CAN_STATE | TUTTI_CAN_SERIALIZE)) == (TUTTI_CAN_STATE | TUTTI_CAN_SERIALIZE));
    if (newer) {
        set(writer, node, "hasEventMode", "true");
        set(writer, node, "mightReturnEarlyFromDoStep", "true");
    } else {
        set(writer, node, "canNotUseMemoryManagementFunctions", "true");
    }
    return TUTTI_OK;
}

/* ---- units and types ---- */

/* Is it the first that brings this unit? Units are known by their names. */
static bool brings_unit(const struct tutti_exposed_list *list, size_t place)
{
    for (size_t i = 0; i < place; i++)
        if (list->items[i].unit && strcmp(list->items[i].unit->name, list->items[place].unit->name) == 0)
            return false;
    return true;
}

static void put_unit(struct writer *writer, struct tutti_node *parent, const struct tutti_unit_def *unit)
{
    static const char *const bases[] = {"kg", "m", "s", "A", "K", "mol", "cd", "rad"};
    struct tutti_node *node = put(writer, parent, "Unit");
    set(writer, node, "name", unit->name);
    if (!unit->has_base)
        return;
    struct tutti_node *base = put(writer, node, "BaseUnit");
    for (unsigned i = 0; i < 8; i++) {
        char digits[16];
        snprintf(digits, sizeof digits, "%d", unit->exponents[i]);
        if (unit->exponents[i] != 0)
            set(writer, base, bases[i], digits);
    }
    if (unit->factor != 1)
        set_number(writer, base, "factor", unit->factor);
    if (unit->offset != 0)
        set_number(writer, base, "offset", unit->offset);
}

static void put_units(struct writer *writer, struct tutti_node *root)
{
    const struct tutti_exposed_list *list = writer->description->exposed;
    struct tutti_node *parent = NULL;
    for (size_t i = 0; i < list->count; i++) {
        if (!list->items[i].unit || !tutti_type_is_float(list->items[i].row.type) || !brings_unit(list, i))
            continue;
        parent = parent ? parent : put(writer, root, "UnitDefinitions");
        put_unit(writer, parent, list->items[i].unit);
    }
}

static const struct tutti_type_def *enumeration_of(const struct writer *writer, const struct tutti_exposed *exposed)
{
    const struct tutti_desc *desc = writer->job->system->components[exposed->component].fmu->desc;
    const struct tutti_var *var = &desc->vars[exposed->variable];
    return exposed->row.type == TUTTI_TYPE_ENUMERATION && var->type_def != TUTTI_NONE ? &desc->types[var->type_def]
                                                                                      : NULL;
}

static void name_type(const struct writer *writer, size_t place, char out[48])
{
    const struct tutti_exposed_list *list = writer->description->exposed;
    const struct tutti_type_def *own = enumeration_of(writer, &list->items[place]);
    while (place > 0 && enumeration_of(writer, &list->items[place - 1]) == own)
        place--;
    snprintf(out, 48, "Enumeration%zu", place + 1);
}

static void put_types(struct writer *writer, struct tutti_node *root)
{
    const struct tutti_exposed_list *list = writer->description->exposed;
    bool newer = writer->description->fmi == 3;
    struct tutti_node *parent = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct tutti_type_def *type = enumeration_of(writer, &list->items[i]);
        if (!type || (i > 0 && enumeration_of(writer, &list->items[i - 1]) == type))
            continue;
        char name[48];
        name_type(writer, i, name);
        parent = parent ? parent : put(writer, root, "TypeDefinitions");
        struct tutti_node *outer = put(writer, parent, newer ? "EnumerationType" : "SimpleType");
        set(writer, outer, "name", name);
        struct tutti_node *inner = newer ? outer : put(writer, outer, "Enumeration");
        for (uint32_t k = 0; k < type->item_count; k++) {
            char digits[32];
            struct tutti_node *item = put(writer, inner, "Item");
            set(writer, item, "name", type->items[k].name);
            snprintf(digits, sizeof digits, "%lld", (long long)type->items[k].value);
            set(writer, item, "value", digits);
        }
    }
}

/* ---- variables ---- */

/* What the variable is at the start if nothing is set: what the system says, else its FMU. NULL: nothing is known. */
static const void *start_of(const struct tutti_job *job, const struct tutti_exposed *exposed)
{
    const struct tutti_component *component = &job->system->components[exposed->component];
    const struct tutti_var *var = tutti_exposed_var(job, exposed);
    for (size_t i = 0; i < component->setting_count; i++)
        if (component->settings[i].variable == exposed->variable)
            return component->settings[i].values;
    return var->start_count > 0 ? var->start : NULL;
}

static void set_start(struct writer *writer, struct tutti_node *node, const struct tutti_exposed *exposed)
{
    const void *start = start_of(writer->job, exposed);
    enum tutti_type own = (enum tutti_type)tutti_exposed_var(writer->job, exposed)->type;
    union tutti_packed_value value = {0};
    struct tutti_text text = {0};
    if (start)
        memcpy(&value, start, tutti_type_size(own));
    if (exposed->conversion)
        value = tutti_packed_before(exposed->conversion, value);
    if (exposed->row.type == TUTTI_TYPE_STRING && !value.text)
        value.text = (char *)"";
    tutti_packed_write_value(&text, exposed->row.type, &value);
    tutti_text_append(&text, "");
    writer->failed = writer->failed || text.failed;
    set(writer, node, "start", text.text);
    tutti_text_fini(&text);
}

static const char *variability_of(const struct writer *writer, const struct tutti_exposed *exposed)
{
    const struct tutti_var *var = tutti_exposed_var(writer->job, exposed);
    switch (exposed->row.role) {
    case TUTTI_PACKED_PARAMETER: return "fixed";
    case TUTTI_PACKED_TUNABLE: return "tunable";
    case TUTTI_PACKED_INPUT: return exposed->row.moves ? "continuous" : "discrete";
    case TUTTI_PACKED_OUTPUT: break;
    }
    return exposed->row.type == TUTTI_TYPE_FLOAT64 && var->variability == TUTTI_CONTINUOUS ? "continuous" : "discrete";
}

static void set_type_attributes(struct writer *writer, struct tutti_node *node, size_t place)
{
    const struct tutti_exposed *exposed = &writer->description->exposed->items[place];
    const struct tutti_var *var = tutti_exposed_var(writer->job, exposed);
    char name[48];
    if (enumeration_of(writer, exposed)) {
        name_type(writer, place, name);
        set(writer, node, "declaredType", name);
    }
    if (tutti_type_is_float(exposed->row.type) && exposed->unit)
        set(writer, node, "unit", exposed->unit->name);
    if (exposed->row.type == TUTTI_TYPE_FLOAT64 && var->bounds && !exposed->conversion) {
        if (var->bounds->has_min)
            set_number(writer, node, "min", var->bounds->min);
        if (var->bounds->has_max)
            set_number(writer, node, "max", var->bounds->max);
        if (var->bounds->has_nominal)
            set_number(writer, node, "nominal", var->bounds->nominal);
    }
    if (exposed->row.role != TUTTI_PACKED_OUTPUT)
        set_start(writer, node, exposed);
}

static const char *element_of(unsigned fmi, enum tutti_type type)
{
    if (fmi == 3)
        return tutti_type_name(type);
    switch (type) {
    case TUTTI_TYPE_FLOAT64: return "Real";
    case TUTTI_TYPE_INT32: return "Integer";
    default: return tutti_type_name(type); /* Boolean, String, Enumeration */
    }
}

static void put_variable(struct writer *writer, struct tutti_node *parent, size_t place)
{
    static const char *const causalities[] = {"input", "output", "parameter", "parameter"};
    unsigned fmi = writer->description->fmi;
    const struct tutti_exposed *exposed = &writer->description->exposed->items[place];
    const char *element = element_of(fmi, exposed->row.type);
    struct tutti_node *node = put(writer, parent, fmi == 3 ? element : "ScalarVariable");
    set(writer, node, "name", exposed->row.name);
    set_count(writer, node, "valueReference", place + 1);
    set(writer, node, "description", tutti_exposed_var(writer->job, exposed)->description);
    set(writer, node, "causality", causalities[exposed->row.role]);
    set(writer, node, "variability", variability_of(writer, exposed));
    if (exposed->row.role == TUTTI_PACKED_OUTPUT)
        set(writer, node, "initial", "calculated");
    else if (exposed->row.role != TUTTI_PACKED_INPUT)
        set(writer, node, "initial", "exact");
    struct tutti_node *typed = fmi == 3 ? node : put(writer, node, element);
    if (fmi == 3 && exposed->row.type == TUTTI_TYPE_STRING && exposed->row.role != TUTTI_PACKED_OUTPUT) {
        struct tutti_node *start = put(writer, node, "Start");
        set_start(writer, start, exposed);
        if (!writer->failed)
            start->attributes[start->attribute_count - 1].name = "value";
        return;
    }
    set_type_attributes(writer, typed, place);
}

static void put_variables(struct writer *writer, struct tutti_node *root)
{
    struct tutti_node *parent = put(writer, root, "ModelVariables");
    if (writer->description->fmi == 3) {
        struct tutti_node *time = put(writer, parent, "Float64");
        set(writer, time, "name", "time");
        set(writer, time, "valueReference", "0");
        set(writer, time, "causality", "independent");
        set(writer, time, "variability", "continuous");
    }
    for (size_t i = 0; i < writer->description->exposed->count; i++)
        put_variable(writer, parent, i);
}

/* ---- structure ---- */

static enum tutti_err put_output(struct writer *writer, struct tutti_node *parent, size_t place)
{
    const struct tutti_exposed_list *list = writer->description->exposed;
    bool newer = writer->description->fmi == 3;
    struct tutti_text text = {0};
    TRY(tutti_exposed_dependencies(list, writer->job, &list->items[place], writer->depends));
    struct tutti_node *node = put(writer, parent, newer ? "Output" : "Unknown");
    set_count(writer, node, newer ? "valueReference" : "index", place + 1);
    tutti_text_append(&text, "");
    for (size_t i = 0; i < list->count; i++)
        if (writer->depends[i])
            tutti_text_printf(&text, "%s%zu", text.length > 0 ? " " : "", i + 1);
    writer->failed = writer->failed || text.failed;
    set(writer, node, "dependencies", text.text);
    tutti_text_fini(&text);
    return TUTTI_OK;
}

static void put_initial(struct writer *writer, struct tutti_node *parent, size_t place)
{
    bool newer = writer->description->fmi == 3;
    struct tutti_node *node = put(writer, parent, newer ? "InitialUnknown" : "Unknown");
    set_count(writer, node, newer ? "valueReference" : "index", place + 1);
}

static enum tutti_err put_structure(struct writer *writer, struct tutti_node *root)
{
    const struct tutti_exposed_list *list = writer->description->exposed;
    bool newer = writer->description->fmi == 3, any = false;
    struct tutti_node *node = put(writer, root, "ModelStructure");
    for (size_t i = 0; i < list->count; i++)
        any = any || list->items[i].row.role == TUTTI_PACKED_OUTPUT;
    if (!any)
        return TUTTI_OK;
    struct tutti_node *outputs = newer ? node : put(writer, node, "Outputs");
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].row.role == TUTTI_PACKED_OUTPUT)
            TRY(put_output(writer, outputs, i));
    struct tutti_node *initial = newer ? node : put(writer, node, "InitialUnknowns");
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].row.role == TUTTI_PACKED_OUTPUT)
            put_initial(writer, initial, i);
    return TUTTI_OK;
}

/* ---- all of it ---- */

static void put_experiment(struct writer *writer, struct tutti_node *root)
{
    const struct tutti_times *times = &writer->job->times;
    struct tutti_node *node = put(writer, root, "DefaultExperiment");
    set_number(writer, node, "startTime", times->start);
    set_number(writer, node, "stopTime", times->stop);
    set_number(writer, node, "stepSize", times->step);
}

static enum tutti_err write_all(struct writer *writer)
{
    const struct tutti_pack_description *description = writer->description;
    bool newer = description->fmi == 3;
    struct tutti_text tool = {0};
    struct tutti_node *root = put(writer, NULL, "fmiModelDescription");
    set(writer, root, "fmiVersion", newer ? "3.0" : "2.0");
    set(writer, root, "modelName", description->name);
    set(writer, root, newer ? "instantiationToken" : "guid", description->token);
    tutti_text_printf(&tool, "Tutti %s", tutti_version());
    set(writer, root, "generationTool", tool.failed ? NULL : tool.text);
    tutti_text_fini(&tool);
    set(writer, root, "variableNamingConvention", "structured");
    if (!newer)
        set(writer, root, "numberOfEventIndicators", "0");
    TRY(put_interface(writer, root));
    put_units(writer, root);
    put_types(writer, root);
    put_experiment(writer, root);
    put_variables(writer, root);
    return put_structure(writer, root);
}

enum tutti_err tutti_pack_describe(const struct tutti_pack_description *description, struct tutti_text *out)
{
    struct writer writer = {.description = description,
                            .job = description->job,
                            .tree = calloc(1, sizeof *writer.tree),
                            .depends = calloc(description->exposed->count + 1, sizeof *writer.depends)};
    writer.failed = !writer.tree || !writer.depends;
    enum tutti_err err = writer.failed ? tutti_fail_memory() : write_all(&writer);
    if (!err && !writer.failed)
        tutti_tree_write(writer.tree, out);
    if (!err && (writer.failed || out->failed))
        err = tutti_fail_memory();
    tutti_tree_free(writer.tree);
    free(writer.depends);
    return err;
}

static json_t *describe_row(const struct tutti_packed_row *row)
{
    json_t *json = json_pack("{s:s, s:s, s:s, s:b}", "name", row->name, "type", tutti_type_name(row->type), "role",
                             tutti_packed_role_name(row->role), "moves", (int)row->moves);
    if (row->target)
        json_object_set_new(json, "target", json_string(row->target));
    return json;
}

enum tutti_err tutti_pack_write_table(const struct tutti_pack_description *description, struct tutti_text *out)
{
    json_t *root = json_pack("{s:s, s:[]}", "token", description->token, "variables");
    json_t *rows = json_object_get(root, "variables");
    bool good = root != NULL;
    for (size_t i = 0; good && i < description->exposed->count; i++)
        good = json_array_append_new(rows, describe_row(&description->exposed->items[i].row)) == 0;
    char *text = good ? json_dumps(root, JSON_INDENT(1)) : NULL;
    json_decref(root);
    if (!text)
        return tutti_fail_memory();
    tutti_text_append(out, text);
    free(text);
    return out->failed ? tutti_fail_memory() : TUTTI_OK;
}
