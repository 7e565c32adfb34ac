/* SPDX-License-Identifier: MIT */
#include "pack/describe.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/run.h>

#include "base/number.h"
#include "pack/dependencies.h"
#include "pack/naming.h"
#include "pack/states.h"
#include "ssp/tree.h"

struct writer {
    const struct tutti_pack_description *description;
    const struct tutti_job *job;
    struct tutti_tree *tree;
    bool failed; /* memory is out */
    struct tutti_dependencies depends;
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
struct common {
    uint32_t all;
    bool once;      /* one of them can be instantiated only once in a process */
    bool varies;    /* steps of all of them can be of any size */
    bool completes; /* one of them is to hear of every step of a solver */
};

static enum tutti_err find_common(const struct tutti_job *job, struct common *common)
{
    *common = (struct common){.all = UINT32_MAX, .varies = true};
    for (uint32_t c = 0; c < job->system->component_count; c++) {
        const struct tutti_unit_kind *kind;
        double step;
        TRY(tutti_pack_find_kind(job, c, &kind, &step));
        uint32_t flags = job->system->components[c].fmu->desc->interfaces[kind->interface].flags;
        common->all &= flags;
        common->once = common->once || flags & TUTTI_ONCE_PER_PROCESS;
        common->varies = common->varies && (kind->interface == TUTTI_ME || flags & TUTTI_CAN_VARIABLE_STEP);
        common->completes = common->completes || flags & TUTTI_NEEDS_COMPLETED_STEP;
    }
    return TUTTI_OK;
}

static struct tutti_node *put_interface(struct writer *writer, struct tutti_node *root, const char *name,
                                        const struct common *common, bool directional)
{
    bool newer = writer->description->fmi == 3;
    uint32_t both = TUTTI_CAN_STATE | TUTTI_CAN_SERIALIZE;
    struct tutti_node *node = put(writer, root, name);
    set(writer, node, "modelIdentifier", writer->description->identifier);
    set_true(writer, node, "canBeInstantiatedOnlyOncePerProcess", common->once);
    set_true(writer, node, newer ? "canGetAndSetFMUState" : "canGetAndSetFMUstate", common->all & TUTTI_CAN_STATE);
    set_true(writer, node, newer ? "canSerializeFMUState" : "canSerializeFMUstate", (common->all & both) == both);
    set_true(writer, node, "canNotUseMemoryManagementFunctions", !newer);
    set_true(writer, node, newer ? "providesDirectionalDerivatives" : "providesDirectionalDerivative",
             directional && common->all & TUTTI_CAN_DIRECTIONAL);
    return node;
}

static enum tutti_err put_interfaces(struct writer *writer, struct tutti_node *root)
{
    bool newer = writer->description->fmi == 3;
    struct common common;
    TRY(find_common(writer->job, &common));
    if (writer->description->exposed->exchange) {
        struct tutti_node *exchange = put_interface(writer, root, "ModelExchange", &common, true);
        if (newer)
            set_true(writer, exchange, "needsCompletedIntegratorStep", common.completes);
        else
            set_true(writer, exchange, "completedIntegratorStepNotNeeded", !common.completes);
    }
    const char *coupling =
        writer->job->options.coupling; /* of others, what is between an input and an output takes steps */
    struct tutti_node *steps =
        put_interface(writer, root, "CoSimulation", &common,
                      writer->description->exposed->exchange && coupling && strcmp(coupling, "strong") == 0);
    set_true(writer, steps, "canHandleVariableCommunicationStepSize", common.varies);
    set_true(writer, steps, "hasEventMode", newer);
    set_true(writer, steps, "mightReturnEarlyFromDoStep", newer);
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

/* Of an array, or of one value: FMI 3.0 lets one stand for all. */
static void spread(void *to, const void *from, size_t from_count, size_t count, size_t size)
{
    for (size_t i = 0; i < count && from_count > 0; i++)
        memcpy((char *)to + i * size, (const char *)from + (from_count == 1 ? 0 : i % from_count) * size, size);
}

/* What the variable is at the start if nothing is set: what the system says, else its FMU; else 0. */
static void fill_start(const struct tutti_job *job, const struct tutti_exposed *exposed, char *values, size_t count)
{
    const struct tutti_component *component = &job->system->components[exposed->component];
    const struct tutti_var *var = tutti_exposed_var(job, exposed);
    size_t size = tutti_type_size((enum tutti_type)var->type);
    bool one = exposed->element != SIZE_MAX; /* of an array */
    if (var->start_count > 0) {
        const char *from = var->start;
        bool picks = one && exposed->element < var->start_count;
        spread(values, picks ? from + exposed->element * size : from, one ? 1 : var->start_count, count, size);
    }
    for (size_t i = 0; i < component->setting_count; i++) {
        const struct tutti_setting *setting = &component->settings[i];
        const struct tutti_end end = {exposed->component, exposed->variable, setting->element};
        const char *from = setting->values;
        if (setting->variable != exposed->variable)
            continue;
        size_t place = setting->element.count > 0 ? tutti_exposed_place(job, &end) : SIZE_MAX;
        if (place == SIZE_MAX && !one)
            spread(values, from, setting->count, count, size);
        else if (place == SIZE_MAX)
            memcpy(values, from + (setting->count > exposed->element ? exposed->element : 0) * size, size);
        else if (one ? place == exposed->element : place < count)
            memcpy(values + (one ? 0 : place) * size, from, size);
    }
}

/* One value as the packed system has it. */
static void write_start(struct tutti_text *text, const struct tutti_exposed *exposed, enum tutti_type own,
                        const char *value)
{
    union tutti_packed_value shown = {0};
    memcpy(&shown, value, tutti_type_size(own));
    if (exposed->conversion)
        shown = tutti_packed_before(exposed->conversion, shown);
    if (exposed->row.type == TUTTI_TYPE_STRING && !shown.text)
        shown.text = "";
    tutti_packed_write_value(text, exposed->row.type, &shown);
}

/* As an attribute, with blanks between the values of an array; or, of texts by FMI 3.0, as elements. */
static void set_start(struct writer *writer, struct tutti_node *node, const struct tutti_exposed *exposed)
{
    enum tutti_type own = (enum tutti_type)tutti_exposed_var(writer->job, exposed)->type;
    size_t count = tutti_packed_row_size(&exposed->row), size = tutti_type_size(own);
    bool elements = writer->description->fmi == 3 && tutti_type_is_text(exposed->row.type);
    char *values = calloc(count + 1, size);
    struct tutti_text text = {0};
    writer->failed = writer->failed || !values;
    if (!writer->failed)
        fill_start(writer->job, exposed, values, count);
    for (size_t i = 0; i < count && !writer->failed; i++) {
        if (elements || i == 0)
            text.length = 0;
        else
            tutti_text_append(&text, " ");
        write_start(&text, exposed, own, values + i * size);
        tutti_text_append(&text, "");
        writer->failed = writer->failed || text.failed;
        if (elements)
            set(writer, put(writer, node, "Start"), "value", text.text);
    }
    if (!elements)
        set(writer, node, "start", text.text);
    tutti_text_fini(&text);
    free(values);
}

static const char *variability_of(const struct writer *writer, const struct tutti_exposed *exposed)
{
    const struct tutti_var *var = tutti_exposed_var(writer->job, exposed);
    switch (exposed->row.role) {
    case TUTTI_PACKED_PARAMETER: return "fixed";
    case TUTTI_PACKED_TUNABLE: return "tunable";
    case TUTTI_PACKED_INPUT: return exposed->row.moves ? "continuous" : "discrete";
    case TUTTI_PACKED_INDICATOR: return "continuous";
    case TUTTI_PACKED_OUTPUT: break;
    }
    return tutti_type_is_float(exposed->row.type) && var->variability == TUTTI_CONTINUOUS ? "continuous" : "discrete";
}

static void set_bounds(struct writer *writer, struct tutti_node *node, const struct tutti_exposed *exposed)
{
    const struct tutti_bounds *bounds = tutti_exposed_var(writer->job, exposed)->bounds;
    if (exposed->row.type != TUTTI_TYPE_FLOAT64 || !bounds || exposed->conversion)
        return;
    if (bounds->has_min)
        set_number(writer, node, "min", bounds->min);
    if (bounds->has_max)
        set_number(writer, node, "max", bounds->max);
    if (bounds->has_nominal)
        set_number(writer, node, "nominal", bounds->nominal);
}

static bool is_state(const struct tutti_exposed_list *list, size_t place)
{
    for (size_t k = 0; k < list->derivative_count; k++)
        if (list->items[list->derivatives[k]].derivative_of == place)
            return true;
    return false;
}

static void set_type_attributes(struct writer *writer, struct tutti_node *node, size_t place)
{
    const struct tutti_exposed_list *list = writer->description->exposed;
    const struct tutti_exposed *exposed = &list->items[place];
    char name[48];
    if (enumeration_of(writer, exposed)) {
        name_type(writer, place, name);
        set(writer, node, "declaredType", name);
    }
    if (tutti_type_is_float(exposed->row.type) && exposed->unit)
        set(writer, node, "unit", exposed->unit->name);
    if (exposed->row.role == TUTTI_PACKED_INDICATOR)
        return;
    set_bounds(writer, node, exposed);
    if (exposed->derivative_of != SIZE_MAX)
        set_count(writer, node, "derivative", exposed->derivative_of + 1);
    set_true(writer, node, "reinit", tutti_exposed_var(writer->job, exposed)->reinit && is_state(list, place));
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

static const char *causality_of(const struct tutti_exposed *exposed)
{
    switch (exposed->row.role) {
    case TUTTI_PACKED_INPUT: return "input";
    case TUTTI_PACKED_PARAMETER:
    case TUTTI_PACKED_TUNABLE: return "parameter";
    case TUTTI_PACKED_OUTPUT:
    case TUTTI_PACKED_INDICATOR: break;
    }
    return exposed->local ? "local" : "output";
}

static void put_variable(struct writer *writer, struct tutti_node *parent, size_t place)
{
    unsigned fmi = writer->description->fmi;
    const struct tutti_exposed *exposed = &writer->description->exposed->items[place];
    const char *element = element_of(fmi, exposed->row.type);
    bool indicator = exposed->row.role == TUTTI_PACKED_INDICATOR;
    struct tutti_node *node = put(writer, parent, fmi == 3 ? element : "ScalarVariable");
    set(writer, node, "name", exposed->row.name);
    set_count(writer, node, "valueReference", place + 1);
    set(writer, node, "description", indicator ? NULL : tutti_exposed_var(writer->job, exposed)->description);
    set(writer, node, "causality", causality_of(exposed));
    set(writer, node, "variability", variability_of(writer, exposed));
    if (exposed->row.role == TUTTI_PACKED_OUTPUT)
        set(writer, node, "initial", "calculated");
    else if (exposed->row.role == TUTTI_PACKED_PARAMETER || exposed->row.role == TUTTI_PACKED_TUNABLE)
        set(writer, node, "initial", "exact");
    for (size_t d = 0; d < exposed->row.dimension_count; d++)
        set_count(writer, put(writer, node, "Dimension"), "start", exposed->row.dimensions[d]);
    set_type_attributes(writer, fmi == 3 ? node : put(writer, node, element), place);
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

/* An unknown of the model structure with what it follows. FMI 2.0 counts variables from 1 on, as value references here do; and has no time among
 * them. */
static enum tutti_err put_unknown(struct writer *writer, struct tutti_node *parent, const char *element, size_t place)
{
    const struct tutti_exposed_list *list = writer->description->exposed;
    bool newer = writer->description->fmi == 3;
    struct tutti_text text = {0};
    TRY(tutti_dependencies_find(list, writer->job, &list->items[place], &writer->depends));
    struct tutti_node *node = put(writer, parent, element);
    set_count(writer, node, newer ? "valueReference" : "index", place + 1);
    tutti_text_append(&text, newer && writer->depends.time ? "0" : "");
    for (size_t i = 0; i < list->count; i++)
        if (writer->depends.items[i])
            tutti_text_printf(&text, "%s%zu", text.length > 0 ? " " : "", i + 1);
    writer->failed = writer->failed || text.failed;
    set(writer, node, "dependencies", text.text);
    tutti_text_fini(&text);
    return TUTTI_OK;
}

static bool is_output(const struct tutti_exposed *exposed)
{
    return exposed->row.role == TUTTI_PACKED_OUTPUT && !exposed->local;
}

/* FMI 2.0 has lists of them; FMI 3.0 has them one after the other, indicators last. */
static enum tutti_err put_structure(struct writer *writer, struct tutti_node *root)
{
    const struct tutti_exposed_list *list = writer->description->exposed;
    bool newer = writer->description->fmi == 3, any = false;
    struct tutti_node *node = put(writer, root, "ModelStructure"), *within = NULL;
    for (size_t i = 0; i < list->count; i++) {
        if (!is_output(&list->items[i]))
            continue;
        within = within ? within : newer ? node : put(writer, node, "Outputs");
        TRY(put_unknown(writer, within, newer ? "Output" : "Unknown", i));
    }
    within = newer || list->derivative_count == 0 ? node : put(writer, node, "Derivatives");
    for (size_t k = 0; k < list->derivative_count; k++)
        TRY(put_unknown(writer, within, newer ? "ContinuousStateDerivative" : "Unknown", list->derivatives[k]));
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].row.role != TUTTI_PACKED_OUTPUT)
            continue;
        within = newer || any ? within : put(writer, node, "InitialUnknowns");
        any = true;
        set_count(writer, put(writer, within, newer ? "InitialUnknown" : "Unknown"), newer ? "valueReference" : "index",
                  i + 1);
    }
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].row.role == TUTTI_PACKED_INDICATOR)
            TRY(put_unknown(writer, node, "EventIndicator", i));
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
    bool structured = true;
    for (size_t i = 0; i < description->exposed->count; i++)
        structured = structured && tutti_name_is_structured(description->exposed->items[i].row.name);
    set(writer, root, "variableNamingConvention", structured ? "structured" : "flat");
    if (!newer)
        set_count(writer, root, "numberOfEventIndicators", description->exposed->indicators);
    TRY(put_interfaces(writer, root));
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
                            .depends.items = calloc(description->exposed->count + 1, sizeof(bool))};
    writer.failed = !writer.tree || !writer.depends.items;
    enum tutti_err err = writer.failed ? tutti_fail_memory() : write_all(&writer);
    if (!err && !writer.failed)
        tutti_tree_write(writer.tree, out);
    if (!err && (writer.failed || out->failed))
        err = tutti_fail_memory();
    tutti_tree_free(writer.tree);
    free(writer.depends.items);
    return err;
}

static json_t *describe_row(const struct tutti_packed_row *row)
{
    json_t *json = json_pack("{s:s, s:s, s:s, s:b}", "name", row->name, "type", tutti_type_name(row->type), "role",
                             tutti_packed_role_name(row->role), "moves", (int)row->moves);
    if (row->target)
        json_object_set_new(json, "target", json_string(row->target));
    json_t *dimensions = row->dimension_count > 0 ? json_array() : NULL;
    for (size_t d = 0; d < row->dimension_count; d++)
        json_array_append_new(dimensions, json_integer((json_int_t)row->dimensions[d]));
    if (dimensions)
        json_object_set_new(json, "dimensions", dimensions);
    return json;
}

enum tutti_err tutti_pack_write_table(const struct tutti_pack_description *description, struct tutti_text *out)
{
    json_t *root = json_pack("{s:s, s:[]}", "token", description->token, "variables");
    json_t *rows = json_object_get(root, "variables");
    bool good = root != NULL;
    for (size_t i = 0; good && i < description->exposed->count; i++)
        good = json_array_append_new(rows, describe_row(&description->exposed->items[i].row)) == 0;
    if (good && description->exposed->exchange)
        good = json_object_set_new(root, "states", json_integer((json_int_t)description->exposed->states)) == 0 &&
               json_object_set_new(root, "indicators", json_integer((json_int_t)description->exposed->indicators)) == 0;
    char *text = good ? json_dumps(root, JSON_INDENT(1)) : NULL;
    json_decref(root);
    if (!text)
        return tutti_fail_memory();
    tutti_text_append(out, text);
    free(text);
    return out->failed ? tutti_fail_memory() : TUTTI_OK;
}
