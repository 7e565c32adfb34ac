/* SPDX-License-Identifier: MIT */
#include "apps/describe/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tutti/tell.h>

#include "apps/describe/describe.h"
#include "apps/describe/json.h"
#include "base/number.h"
#include "base/text.h"
#include "fmu/binary/binary.h"
#include "model/import/import.h"
#include "unit/unit.h"

/* A table reads best as one. */
/* clang-format off */
const struct tt_info_capability tt_info_capabilities[] = {
    {TUTTI_CAN_VARIABLE_STEP, "variableStep", "steps of any size",
     "steps stay uniform; recorded points and stop must fall on them", 1, 3},
    {TUTTI_CAN_STATE, "state", "state saved and restored", "the FMU cannot go back to an earlier point", 2, 3},
    {TUTTI_CAN_SERIALIZE, "serialize", "state as bytes", NULL, 2, 3},
    {TUTTI_CAN_REJECT_STEPS, "rejectSteps", "steps rejected by the importer", NULL, 1, 1},
    {TUTTI_CAN_DIRECTIONAL, "directionalDerivatives", "directional derivatives", NULL, 2, 3},
    {TUTTI_CAN_INPUT_DERIVATIVES, "inputDerivatives", "inputs that move in a step",
     "inputs are held from one communication point to the next", 1, 2},
    {TUTTI_CAN_INTERMEDIATE, "intermediateUpdate", "inputs that move in a step",
     "inputs are held from one communication point to the next", 3, 3},
    {TUTTI_CAN_EVENT_MODE, "eventMode", "event mode",
     "steps end exactly at jumps of inputs; the FMU deals with events inside its steps", 3, 3},
    {TUTTI_CAN_EARLY_RETURN, "earlyReturn", "early return", NULL, 3, 3},
};
/* clang-format on */
const size_t tt_info_capability_count = sizeof tt_info_capabilities / sizeof *tt_info_capabilities;

const char *tt_info_find_obstacle(const struct tt_fmu *fmu)
{
    if (tt_unit_check_runnable(fmu) == TUTTI_OK)
        return NULL;
    const char *text = tutti_err_message();
    size_t n = strlen(fmu->path);
    return strncmp(text, fmu->path, n) == 0 && strncmp(text + n, ": ", 2) == 0 ? text + n + 2 : text;
}

enum tutti_err tt_info_check_format(const char *file)
{
    return tt_import_is_supported(file)
               ? tt_fail(TUTTI_ERR_ARGUMENT, "info is for FMUs and SSPs; `tutti new OUT.ssp FILE` makes an SSP of a "
                                             "system in another tool's format")
               : TUTTI_OK;
}

bool tt_info_dump(FILE *out, json_t *json, size_t flags)
{
    bool done = json && json_dumpf(json, out, flags | JSON_ENSURE_ASCII) == 0;
    json_decref(json);
    return done;
}

static enum tutti_err write_system_info(FILE *out, const char *file)
{
    struct tt_named_system system;
    enum tutti_err err = tt_info_open_system(&system, file);
    if (!err && !tt_info_write_system(out, &system))
        err = tt_fail_memory();
    tt_info_close_system(&system);
    return err;
}

static enum tutti_err write_fmu_info(FILE *out, const char *file)
{
    struct tt_fmu *fmu;
    TRY(tt_info_check_format(file));
    TRY(tt_fmu_open(&fmu, file, NULL));
    enum tutti_err err = tt_info_write_fmu(out, fmu) ? TUTTI_OK : tt_fail_memory();
    tt_fmu_free(fmu);
    return err;
}

enum tutti_err tutti_tell_info(char **json, const char *file)
{
    struct tt_text_stream told;
    TRY(tt_describe_open_text(&told));
    return tt_describe_close_text(
        &told, tt_info_is_system(file) ? write_system_info(told.out, file) : write_fmu_info(told.out, file), json);
}

/* Foreign text that is no UTF-8 becomes null. */
static json_t *utf8_json(const char *value)
{
    size_t length = 0;
    for (const char *at = value; at && *at; at += length) {
        length = tt_text_utf8_length(at);
        if (length == 0)
            return json_null();
    }
    return value ? json_string(value) : json_null();
}

void tt_info_add_text(json_t **object, const char *key, const char *value)
{
    if (value)
        tt_json_set(object, key, utf8_json(value));
}

static void add_number_json(json_t **object, const char *key, bool given, double value)
{
    if (given)
        tt_json_set(object, key, tt_json_number(value));
}

static json_t *bytes_json(const struct tt_bytes *bytes)
{
    static const char digits[] = "0123456789abcdef";
    char *hex = malloc(2 * bytes->size + 1);
    if (!hex)
        return json_null();
    for (size_t i = 0; i < bytes->size; i++) {
        hex[2 * i] = digits[bytes->data[i] >> 4];
        hex[2 * i + 1] = digits[bytes->data[i] & 15];
    }
    json_t *json = json_stringn(hex, 2 * bytes->size);
    free(hex);
    return json;
}

/* Jansson's integers are signed: what is beyond them becomes a string of digits. */
static json_t *unsigned_json(uint64_t value)
{
    char digits[TUTTI_NUMBER_MAX];
    return value <= INT64_MAX ? json_integer((json_int_t)value)
                              : json_stringn(digits, tt_number_write_uint(digits, value));
}

/* Value i of a typed array. */
json_t *tt_info_value(enum tt_type type, const void *values, size_t i)
{
    switch (type) {
    case TUTTI_TYPE_FLOAT64: return tt_json_number(((const double *)values)[i]);
    case TUTTI_TYPE_FLOAT32: return tt_json_number((double)((const float *)values)[i]);
    case TUTTI_TYPE_INT8: return json_integer(((const int8_t *)values)[i]);
    case TUTTI_TYPE_UINT8: return json_integer(((const uint8_t *)values)[i]);
    case TUTTI_TYPE_INT16: return json_integer(((const int16_t *)values)[i]);
    case TUTTI_TYPE_UINT16: return json_integer(((const uint16_t *)values)[i]);
    case TUTTI_TYPE_INT32: return json_integer(((const int32_t *)values)[i]);
    case TUTTI_TYPE_UINT32: return json_integer(((const uint32_t *)values)[i]);
    case TUTTI_TYPE_INT64:
    case TUTTI_TYPE_ENUMERATION: return json_integer(((const int64_t *)values)[i]);
    case TUTTI_TYPE_UINT64: return unsigned_json(((const uint64_t *)values)[i]);
    case TUTTI_TYPE_BOOLEAN:
    case TUTTI_TYPE_CLOCK: return json_boolean(((const bool *)values)[i]);
    case TUTTI_TYPE_STRING: return utf8_json(((const char *const *)values)[i]);
    case TUTTI_TYPE_BINARY: return bytes_json(&((const struct tt_bytes *)values)[i]);
    }
    return json_null();
}

static json_t *dimensions_json(const struct tt_description *desc, const struct tt_var *var)
{
    json_t *list = json_array();
    for (unsigned d = 0; d < var->dimension_count; d++) {
        const struct tt_dimension *dimension = &var->dimensions[d];
        tt_json_append(&list, dimension->variable == TUTTI_NONE ? json_integer((json_int_t)dimension->start)
                                                                : utf8_json(desc->vars[dimension->variable].name));
    }
    return list;
}

/* The attributes that a clock has in its description. */
static json_t *clock_json(const struct tt_clock *clock)
{
    json_t *json = json_object();
    const struct {
        const char *key;
        uint64_t value;
        bool given;
    } whole[] = {
        {"resolution", clock->resolution, clock->resolution > 0},
        {"intervalCounter", clock->interval_counter, clock->interval_counter > 0},
        {"shiftCounter", clock->shift_counter, clock->shift_counter > 0},
        {"priority", clock->priority, clock->has_priority},
    };
    tt_info_add_text(&json, "intervalVariability", tt_description_interval_name(clock->interval_variability));
    add_number_json(&json, "intervalDecimal", clock->interval > 0, clock->interval);
    add_number_json(&json, "shiftDecimal", clock->shift > 0, clock->shift);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (whole[i].given)
            tt_json_set(&json, whole[i].key, unsigned_json(whole[i].value));
    tt_json_set(&json, "supportsFraction", json_boolean(clock->supports_fraction));
    tt_json_set(&json, "canBeDeactivated", json_boolean(clock->can_be_deactivated));
    return json;
}

static json_t *info_fmu_variable_json(const struct tt_description *desc, const struct tt_var *var)
{
    json_t *json = json_object();
    tt_info_add_text(&json, "name", var->name);
    tt_json_set(&json, "valueReference", json_integer(var->reference));
    tt_info_add_text(&json, "type", tt_type_name(var->type));
    tt_info_add_text(&json, "causality", tt_description_causality_name(var->causality));
    tt_info_add_text(&json, "variability", tt_description_variability_name(var->variability));
    if (var->initial != TUTTI_INITIAL_NONE)
        tt_info_add_text(&json, "initial", tt_description_initial_name(var->initial));
    if (var->dimension_count > 0)
        tt_json_set(&json, "dimensions", dimensions_json(desc, var));
    if (var->start && var->start_count > 0) {
        json_t *start = var->dimension_count > 0 ? json_array() : tt_info_value(var->type, var->start, 0);
        for (uint32_t i = 0; var->dimension_count > 0 && i < var->start_count; i++)
            tt_json_append(&start, tt_info_value(var->type, var->start, i));
        tt_json_set(&json, "start", start);
    }
    tt_info_add_text(&json, "unit", var->unit == TUTTI_NONE ? NULL : desc->units[var->unit].name);
    tt_info_add_text(&json, "displayUnit",
                     var->display_unit == TUTTI_NONE ? NULL : desc->displays[var->display_unit].name);
    tt_info_add_text(&json, "declaredType", var->type_def == TUTTI_NONE ? NULL : desc->types[var->type_def].name);
    tt_info_add_text(&json, "derivativeOf",
                     var->derivative_of == TUTTI_NONE ? NULL : desc->vars[var->derivative_of].name);
    if (var->bounds) {
        add_number_json(&json, "min", var->bounds->has_min, var->bounds->min);
        add_number_json(&json, "max", var->bounds->has_max, var->bounds->max);
        add_number_json(&json, "nominal", var->bounds->has_nominal, var->bounds->nominal);
    }
    if (var->more && var->more->clock)
        tt_json_set(&json, "clock", clock_json(var->more->clock));
    if (var->clock_count > 0) {
        json_t *clocks = json_array();
        for (uint32_t i = 0; i < var->clock_count; i++)
            tt_json_append(&clocks, utf8_json(desc->vars[var->more->clocks[i]].name));
        tt_json_set(&json, "clocks", clocks);
    }
    tt_info_add_text(&json, "description", var->description);
    return json;
}

static json_t *unknown_json(const struct tt_description *desc, const struct tt_unknown *unknown)
{
    json_t *json = json_object();
    tt_info_add_text(&json, "variable", desc->vars[unknown->variable].name);
    if (unknown->has_dependencies) {
        json_t *dependencies = json_array();
        for (uint32_t d = 0; d < unknown->dependency_count; d++)
            tt_json_append(&dependencies, utf8_json(desc->vars[unknown->dependencies[d]].name));
        tt_json_set(&json, "dependencies", dependencies);
    }
    return json;
}

static json_t *interface_json(const struct tt_description *desc, const struct tt_interface *interface)
{
    json_t *json = json_object();
    tt_info_add_text(&json, "modelIdentifier", interface->model_identifier);
    for (size_t i = 0; i < tt_info_capability_count; i++)
        if (desc->fmi >= tt_info_capabilities[i].since && desc->fmi <= tt_info_capabilities[i].until)
            tt_json_set(&json, tt_info_capabilities[i].name,
                        json_boolean(interface->flags & tt_info_capabilities[i].flag));
    tt_json_set(&json, "maxOutputDerivativeOrder", json_integer(interface->max_output_derivative_order));
    tt_json_set(&json, "needsExecutionTool", json_boolean(interface->flags & TUTTI_NEEDS_TOOL));
    tt_json_set(&json, "oncePerProcess", json_boolean(interface->flags & TUTTI_ONCE_PER_PROCESS));
    add_number_json(&json, "fixedStep", interface->fixed_step > 0, interface->fixed_step);
    return json;
}

static json_t *types_json(const struct tt_description *desc)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < desc->type_count; i++) {
        const struct tt_type_def *def = &desc->types[i];
        json_t *json = json_object();
        tt_info_add_text(&json, "name", def->name);
        tt_info_add_text(&json, "type", tt_type_name(def->type));
        tt_info_add_text(&json, "quantity", def->quantity);
        tt_info_add_text(&json, "unit", def->unit == TUTTI_NONE ? NULL : desc->units[def->unit].name);
        if (def->item_count > 0) {
            json_t *items = json_object();
            for (uint32_t k = 0; k < def->item_count; k++)
                tt_json_set(&items, def->items[k].name, json_integer(def->items[k].value));
            tt_json_set(&json, "items", items);
        }
        tt_json_append(&list, json);
    }
    return list;
}

static json_t *alias_json(const struct tt_description *desc, const struct tt_alias *alias)
{
    json_t *json = json_object();
    tt_info_add_text(&json, "name", alias->name);
    tt_info_add_text(&json, "variable", desc->vars[alias->variable].name);
    tt_info_add_text(&json, "description", alias->description);
    return json;
}

static json_t *info_fmu_units_json(const struct tt_description *desc)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < desc->unit_count; i++) {
        json_t *json = json_object();
        tt_info_add_text(&json, "name", desc->units[i].name);
        add_number_json(&json, "factor", desc->units[i].has_base, desc->units[i].factor);
        add_number_json(&json, "offset", desc->units[i].has_base, desc->units[i].offset);
        tt_json_append(&list, json);
    }
    return list;
}

static void add_header(json_t **json, const struct tt_fmu *fmu)
{
    const struct tt_description *desc = fmu->desc;
    tt_info_add_text(json, "file", fmu->path);
    tt_info_add_text(json, "fmiVersion", desc->fmi_version);
    tt_info_add_text(json, "modelName", desc->model_name);
    tt_info_add_text(json, "token", desc->token);
    tt_info_add_text(json, "description", desc->description);
    tt_info_add_text(json, "author", desc->author);
    tt_info_add_text(json, "version", desc->version);
    tt_info_add_text(json, "license", desc->license);
    tt_info_add_text(json, "generationTool", desc->tool);
    tt_info_add_text(json, "generationDateAndTime", desc->date);
    struct tt_text platforms = {0};
    tt_binary_list_platforms(fmu->archive, &platforms);
    json_t *list = json_array();
    for (char *rest = NULL, *name = strtok_r(platforms.text ? platforms.text : (char[]){""}, ", ", &rest); name;
         name = strtok_r(NULL, ", ", &rest))
        tt_json_append(&list, utf8_json(name));
    if (platforms.failed)
        tt_json_append(&list, NULL);
    tt_json_set(json, "platforms", list);
    tt_text_fini(&platforms);
}

json_t *tt_info_experiment(const struct tt_experiment *experiment)
{
    json_t *json = json_object();
    add_number_json(&json, "start", experiment->has_start, experiment->start);
    add_number_json(&json, "stop", experiment->has_stop, experiment->stop);
    add_number_json(&json, "step", experiment->has_step, experiment->step);
    add_number_json(&json, "tolerance", experiment->has_tolerance, experiment->tolerance);
    return json;
}

static json_t *info_fmu_head_json(const struct tt_fmu *fmu)
{
    static const char *const keys[] = {"coSimulation", "modelExchange", "scheduledExecution"};
    const struct tt_description *desc = fmu->desc;
    json_t *json = json_object();
    add_header(&json, fmu);
    json_t *interfaces = json_object();
    for (int kind = 0; kind < TUTTI_INTERFACE_COUNT; kind++)
        if (desc->interfaces[kind].present)
            tt_json_set(&interfaces, keys[kind], interface_json(desc, &desc->interfaces[kind]));
    tt_json_set(&json, "interfaces", interfaces);
    tt_info_add_text(&json, "cannotRun", tt_info_find_obstacle(fmu));
    tt_json_set(&json, "defaultExperiment", tt_info_experiment(&desc->experiment));
    tt_json_set(&json, "eventIndicators", json_integer(desc->event_indicator_count));
    tt_json_set(&json, "units", info_fmu_units_json(desc));
    tt_json_set(&json, "types", types_json(desc));
    return json;
}

/* Lists are written item by item, a line each: all of a large model at once would take hundreds of megabytes. */
#define WRITE_LIST(key, count, item)                                                                                   \
    do {                                                                                                               \
        fputs(",\n  \"" key "\": [", out);                                                                             \
        for (uint32_t i = 0; done && i < (count); i++) {                                                               \
            fputs(i ? ",\n    " : "\n    ", out);                                                                      \
            done = tt_info_dump(out, item, 0);                                                                         \
        }                                                                                                              \
        fputs("]", out);                                                                                               \
    } while (0)

static json_t *buses_json(const struct tt_description *desc)
{
    json_t *json = json_array();
    const struct tt_bus *last = NULL;
    for (const struct tt_bus *bus; (bus = tt_layer_next_bus(desc, last)); last = bus) {
        json_t *item = json_object();
        tt_info_add_text(&item, "bus", bus->name);
        tt_json_set(&item, "simulated", json_boolean(bus->simulated));
        tt_json_append(&json, item);
    }
    return json;
}

/* An FMU with an unreadable file of terminals is described without them; `tutti check` reports the reason. */
static json_t *extras_json(struct tt_fmu *fmu, const struct tt_terminals **terminals)
{
    json_t *json = json_object();
    enum tutti_err err = tt_fmu_terminals(fmu, NULL, terminals);
    tt_json_set(&json, "layeredStandards", tt_info_layers_json(fmu));
    tt_json_set(&json, "buses", buses_json(fmu->desc));
    if (err == TUTTI_ERR_MEMORY)
        tt_json_set(&json, "icon", NULL);
    else if (*terminals)
        tt_json_set(&json, "icon", tt_info_icon_json(fmu));
    return json;
}

bool tt_info_write_fmu(FILE *out, struct tt_fmu *fmu)
{
    const struct tt_description *desc = fmu->desc;
    const struct tt_terminals *terminals;
    fputc('{', out);
    bool done = tt_info_dump(out, info_fmu_head_json(fmu), JSON_INDENT(2) | JSON_EMBED);
    fputc(',', out);
    done = tt_info_dump(out, extras_json(fmu, &terminals), JSON_INDENT(2) | JSON_EMBED) && done;
    WRITE_LIST("terminals", terminals ? terminals->count : 0, tt_info_terminal_json(desc, terminals, i));
    WRITE_LIST("variables", desc->var_count, info_fmu_variable_json(desc, &desc->vars[i]));
    WRITE_LIST("aliases", desc->alias_count, alias_json(desc, &desc->aliases[i]));
    WRITE_LIST("outputs", desc->outputs.count, unknown_json(desc, &desc->outputs.items[i]));
    WRITE_LIST("derivatives", desc->derivatives.count, unknown_json(desc, &desc->derivatives.items[i]));
    WRITE_LIST("initialUnknowns", desc->initial_unknowns.count, unknown_json(desc, &desc->initial_unknowns.items[i]));
    fputs("\n}\n", out);
    return done;
}

static json_t *info_system_words_json(const struct tt_run_setting *words, size_t count)
{
    json_t *json = json_object();
    for (size_t i = 0; i < count; i++)
        tt_info_add_text(&json, words[i].name, words[i].value);
    return json;
}

static json_t *info_system_connector_json(const struct tt_ssp_connector *connector)
{
    json_t *json = json_object();
    tt_info_add_text(&json, "name", connector->name);
    tt_info_add_text(&json, "kind", tt_ssd_kind_name(connector->kind));
    if (connector->type.given)
        tt_info_add_text(&json, "type", tt_type_name(connector->type.type));
    tt_info_add_text(&json, "unit", connector->type.unit);
    tt_info_add_text(&json, "enumeration", connector->type.enumeration);
    return json;
}

static json_t *setting_json(const struct tt_description *desc, const struct tt_setting *setting)
{
    const struct tt_var *var = &desc->vars[setting->variable];
    json_t *json = json_object();
    tt_info_add_text(&json, "variable", var->name);
    if (setting->element.count > 0) {
        json_t *indices = json_array();
        for (unsigned i = 0; i < setting->element.count; i++)
            tt_json_append(&indices, json_integer((json_int_t)setting->element.index[i]));
        tt_json_set(&json, "element", indices);
    }
    json_t *value;
    if (var->dimension_count == 0 || setting->element.count > 0) {
        value = tt_info_value(var->type, setting->values, 0);
    } else {
        value = json_array();
        for (size_t i = 0; i < setting->count; i++)
            tt_json_append(&value, tt_info_value(var->type, setting->values, i));
    }
    tt_json_set(&json, "value", value);
    return json;
}

static json_t *component_json(const struct tt_component *component)
{
    static const char *const keys[] = {"coSimulation", "modelExchange", "scheduledExecution"};
    const struct tt_description *desc = component->fmu->desc;
    json_t *json = json_object(), *interfaces = json_array(), *values = json_array();
    tt_info_add_text(&json, "name", component->name);
    tt_info_add_text(&json, "fmu", component->fmu->path);
    tt_info_add_text(&json, "fmiVersion", desc->fmi_version);
    tt_info_add_text(&json, "modelName", desc->model_name);
    for (int kind = 0; kind < TUTTI_INTERFACE_COUNT; kind++)
        if (desc->interfaces[kind].present)
            tt_json_append(&interfaces, json_string(keys[kind]));
    tt_json_set(&json, "interfaces", interfaces);
    tt_info_add_text(&json, "implementation", component->implementation);
    tt_json_set(&json, "settings", info_system_words_json(component->words, component->word_count));
    for (size_t i = 0; i < component->setting_count; i++)
        tt_json_append(&values, setting_json(desc, &component->settings[i]));
    tt_json_set(&json, "values", values);
    return json;
}

static json_t *info_system_connection_json(const struct tt_system *system, const struct tt_connection *connection)
{
    char name[4096];
    json_t *json = json_object();
    tt_info_add_text(&json, "from", tt_system_name(system, &connection->from, name, sizeof name));
    tt_info_add_text(&json, "to", tt_system_name(system, &connection->to, name, sizeof name));
    if (connection->conversion && connection->conversion->linear) {
        tt_json_set(&json, "factor", tt_json_number(connection->conversion->factor));
        tt_json_set(&json, "offset", tt_json_number(connection->conversion->offset));
    }
    return json;
}

static json_t *info_system_head_json(const struct tt_named_system *file)
{
    static const char *const keys[] = {"description", "author",         "fileversion",          "copyright",
                                       "license",     "generationTool", "generationDateAndTime"};
    const struct tt_ssp_element *root = &file->ssd->system;
    json_t *json = json_object(), *variants = json_array(), *connectors = json_array();
    tt_info_add_text(&json, "file", file->path);
    tt_info_add_text(&json, "variant",
                     strrchr(file->ssd->tree->file, '/') ? strrchr(file->ssd->tree->file, '/') + 1
                                                         : file->ssd->tree->file);
    tt_info_add_text(&json, "sspVersion", file->ssd->version);
    tt_info_add_text(&json, "name", file->ssd->name);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        tt_info_add_text(&json, keys[i], tt_tree_find_attribute(file->ssd->tree->root, keys[i]));
    for (size_t i = 0; i < tt_package_variant_count(file->package); i++)
        tt_json_append(&variants, tt_json_text(tt_package_variant(file->package, i)));
    tt_json_set(&json, "variants", variants);
    tt_json_set(&json, "defaultExperiment", tt_info_experiment(&file->system->experiment));
    tt_json_set(&json, "settings", info_system_words_json(file->system->words, file->system->word_count));
    for (size_t i = 0; i < root->connector_count; i++)
        tt_json_append(&connectors, info_system_connector_json(&root->connectors[i]));
    tt_json_set(&json, "connectors", connectors);
    tt_json_set(&json, "errors", json_integer(file->errors));
    return json;
}

/* Lists are written item by item, a line each, as they can be long. */
bool tt_info_write_system(FILE *out, const struct tt_named_system *file)
{
    const struct tt_system *system = file->system;
    fputc('{', out);
    bool done = tt_info_dump(out, info_system_head_json(file), JSON_INDENT(2) | JSON_EMBED);
    fputs(",\n  \"components\": [", out);
    for (uint32_t i = 0; i < system->component_count && done; i++) {
        fputs(i ? ",\n    " : "\n    ", out);
        done = tt_info_dump(out, component_json(&system->components[i]), 0);
    }
    fputs("],\n  \"connections\": [", out);
    for (uint32_t i = 0; i < system->connection_count && done; i++) {
        fputs(i ? ",\n    " : "\n    ", out);
        done = tt_info_dump(out, info_system_connection_json(system, &system->connections[i]), 0);
    }
    fputs("]\n}\n", out);
    return done;
}

/* Terminals, icons and layered standards of an FMU, as JSON. */

static json_t *extent_json(const struct tt_extent *extent)
{
    const double values[] = {extent->x1, extent->y1, extent->x2, extent->y2};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        tt_json_append(&list, tt_json_number(values[i]));
    return list;
}

static json_t *members_json(const struct tt_description *desc, const struct tt_terminals *terminals,
                            const struct tt_terminal *terminal)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < terminal->member_count; i++) {
        const struct tt_terminal_member *member = &terminals->members[terminal->first_member + i];
        json_t *json = json_object();
        tt_info_add_text(&json, "name", member->name);
        tt_info_add_text(&json, "variable", desc->vars[member->variable].name);
        tt_info_add_text(&json, "kind", member->kind_name);
        tt_json_append(&list, json);
    }
    return list;
}

json_t *tt_info_terminal_json(const struct tt_description *desc, const struct tt_terminals *terminals, uint32_t index)
{
    const struct tt_terminal *terminal = &terminals->items[index];
    json_t *json = json_object();
    tt_info_add_text(&json, "name", terminal->path);
    tt_info_add_text(&json, "matchingRule", terminal->rule);
    tt_info_add_text(&json, "terminalKind", terminal->kind);
    tt_info_add_text(&json, "description", terminal->description);
    tt_json_set(&json, "members", members_json(desc, terminals, terminal));
    if (terminal->extent.given)
        tt_json_set(&json, "extent", extent_json(&terminal->extent));
    tt_info_add_text(&json, "icon", terminal->icon);
    return json;
}

json_t *tt_info_icon_json(const struct tt_fmu *fmu)
{
    const struct tt_terminals *terminals = fmu->terminals;
    json_t *json = json_object();
    tt_json_set(&json, "coordinates", extent_json(&terminals->coordinates));
    tt_json_set(&json, "millimetres", tt_json_number(terminals->millimetres));
    if (terminals->icon.given)
        tt_json_set(&json, "extent", extent_json(&terminals->icon));
    if (tt_archive_has(fmu->archive, "terminalsAndIcons/icon.png"))
        tt_info_add_text(&json, "png", "terminalsAndIcons/icon.png");
    if (tt_archive_has(fmu->archive, "terminalsAndIcons/icon.svg"))
        tt_info_add_text(&json, "svg", "terminalsAndIcons/icon.svg");
    return json;
}

static json_t *layer_json(const struct tt_layer *layer)
{
    json_t *json = json_object();
    tt_info_add_text(&json, "name", layer->name);
    tt_info_add_text(&json, "version", layer->version);
    tt_info_add_text(&json, "description", layer->description);
    tt_info_add_text(&json, "meaning", layer->meaning);
    if (layer->bus_simulation)
        tt_json_set(&json, "isBusSimulationFMU", json_true());
    return json;
}

json_t *tt_info_layers_json(struct tt_fmu *fmu)
{
    struct tt_arena arena = {0};
    struct tt_layer layer;
    bool found = true;
    json_t *list = json_array();
    for (size_t at = 0; found && list;) {
        if (tt_fmu_next_layer(fmu, &at, &layer, &arena, NULL, &found) != TUTTI_OK)
            tt_json_append(&list, NULL); /* out of memory */
        else if (found)
            tt_json_append(&list, layer_json(&layer));
    }
    tt_arena_fini(&arena);
    return list;
}

enum tutti_err tt_info_split_name(struct tt_named_system *file, const char *text)
{
    const char *hash = access(text, F_OK) == 0 ? NULL : strrchr(text, '#');
    *file = (struct tt_named_system){0};
    file->path = hash ? strndup(text, (size_t)(hash - text)) : tt_text_copy(text);
    file->variant = hash ? tt_text_copy(hash + 1) : NULL;
    return file->path && (!hash || file->variant) ? TUTTI_OK : tt_fail_memory();
}

bool tt_info_is_system(const char *text)
{
    struct tt_named_system file;
    bool is = tt_info_split_name(&file, text) == TUTTI_OK && tt_package_is_system(file.path);
    tt_info_close_system(&file);
    return is;
}

static enum tutti_err named_system_read_ssd(struct tt_named_system *file)
{
    struct tt_package_place place = {0};
    struct tt_byte_source reader = {0};
    TRY(tt_package_find_ssd(file->package, file->variant, &place));
    enum tutti_err err = tt_package_open_file(&place, &reader);
    if (!err)
        err = tt_ssd_read(&file->ssd, place.shown, &reader, NULL);
    tt_package_close_file(&reader);
    tt_package_place_fini(&place);
    return err;
}

enum tutti_err tt_info_open_system(struct tt_named_system *file, const char *text)
{
    struct tt_findings findings = {0};
    struct tt_system_source source = {.files = &text, .file_count = 1};
    TRY(tt_info_split_name(file, text));
    TRY(tt_package_open(&file->package, file->path, file->path));
    TRY(named_system_read_ssd(file));
    TRY(tt_system_load(&file->system, &source, &findings));
    file->errors = findings.errors;
    return TUTTI_OK;
}

void tt_info_close_system(struct tt_named_system *file)
{
    tt_system_free(file->system);
    tt_ssd_free(file->ssd);
    tt_package_free(file->package);
    free(file->path);
    free(file->variant);
}
