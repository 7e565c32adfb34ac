/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "fmi/binary/binary.h"
#include "tell/info.h"
#include "tell/json.h"

static bool is_utf8(const char *text)
{
    for (size_t length; *text; text += length) {
        length = tutti_str_utf8_length(text);
        if (length == 0)
            return false;
    }
    return true;
}

/* Foreign text that is no UTF-8 becomes null. */
static json_t *text(const char *value)
{
    return value && is_utf8(value) ? json_string(value) : json_null();
}

void tutti_info_add_text(json_t **object, const char *key, const char *value)
{
    if (value)
        tutti_json_set(object, key, text(value));
}

static void add_number(json_t **object, const char *key, bool given, double value)
{
    if (given)
        tutti_json_set(object, key, tutti_number_json(value));
}

static json_t *bytes_json(const struct tutti_bytes *bytes)
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
                              : json_stringn(digits, tutti_number_write_uint(digits, value));
}

/* Value i of a typed array. */
json_t *tutti_info_value(enum tutti_type type, const void *values, size_t i)
{
    switch (type) {
    case TUTTI_TYPE_FLOAT64: return tutti_number_json(((const double *)values)[i]);
    case TUTTI_TYPE_FLOAT32: return tutti_number_json((double)((const float *)values)[i]);
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
    case TUTTI_TYPE_STRING: return text(((const char *const *)values)[i]);
    case TUTTI_TYPE_BINARY: return bytes_json(&((const struct tutti_bytes *)values)[i]);
    }
    return json_null();
}

static json_t *start_json(const struct tutti_var *var)
{
    if (var->dimension_count == 0)
        return tutti_info_value(var->type, var->start, 0);
    json_t *list = json_array();
    for (uint32_t i = 0; i < var->start_count; i++)
        tutti_json_append(&list, tutti_info_value(var->type, var->start, i));
    return list;
}

static json_t *dimensions_json(const struct tutti_desc *desc, const struct tutti_var *var)
{
    json_t *list = json_array();
    for (unsigned d = 0; d < var->dimension_count; d++) {
        const struct tutti_dimension *dimension = &var->dimensions[d];
        tutti_json_append(&list, dimension->variable == TUTTI_NONE ? json_integer((json_int_t)dimension->start)
                                                                   : text(desc->vars[dimension->variable].name));
    }
    return list;
}

/* The attributes that a clock has in its description. */
static json_t *clock_json(const struct tutti_clock *clock)
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
    tutti_info_add_text(&json, "intervalVariability", tutti_interval_name(clock->interval_variability));
    add_number(&json, "intervalDecimal", clock->interval > 0, clock->interval);
    add_number(&json, "shiftDecimal", clock->shift > 0, clock->shift);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (whole[i].given)
            tutti_json_set(&json, whole[i].key, unsigned_json(whole[i].value));
    tutti_json_set(&json, "supportsFraction", json_boolean(clock->supports_fraction));
    tutti_json_set(&json, "canBeDeactivated", json_boolean(clock->can_be_deactivated));
    return json;
}

static json_t *clocks_json(const struct tutti_desc *desc, const struct tutti_var *var)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < var->clock_count; i++)
        tutti_json_append(&list, text(desc->vars[var->more->clocks[i]].name));
    return list;
}

static json_t *variable_json(const struct tutti_desc *desc, const struct tutti_var *var)
{
    json_t *json = json_object();
    tutti_info_add_text(&json, "name", var->name);
    tutti_json_set(&json, "valueReference", json_integer(var->reference));
    tutti_info_add_text(&json, "type", tutti_type_name(var->type));
    tutti_info_add_text(&json, "causality", tutti_causality_name(var->causality));
    tutti_info_add_text(&json, "variability", tutti_variability_name(var->variability));
    if (var->initial != TUTTI_INITIAL_NONE)
        tutti_info_add_text(&json, "initial", tutti_initial_name(var->initial));
    if (var->dimension_count > 0)
        tutti_json_set(&json, "dimensions", dimensions_json(desc, var));
    if (var->start && var->start_count > 0)
        tutti_json_set(&json, "start", start_json(var));
    tutti_info_add_text(&json, "unit", var->unit == TUTTI_NONE ? NULL : desc->units[var->unit].name);
    tutti_info_add_text(&json, "displayUnit",
                        var->display_unit == TUTTI_NONE ? NULL : desc->displays[var->display_unit].name);
    tutti_info_add_text(&json, "declaredType", var->type_def == TUTTI_NONE ? NULL : desc->types[var->type_def].name);
    tutti_info_add_text(&json, "derivativeOf",
                        var->derivative_of == TUTTI_NONE ? NULL : desc->vars[var->derivative_of].name);
    if (var->bounds) {
        add_number(&json, "min", var->bounds->has_min, var->bounds->min);
        add_number(&json, "max", var->bounds->has_max, var->bounds->max);
        add_number(&json, "nominal", var->bounds->has_nominal, var->bounds->nominal);
    }
    if (var->more && var->more->clock)
        tutti_json_set(&json, "clock", clock_json(var->more->clock));
    if (var->clock_count > 0)
        tutti_json_set(&json, "clocks", clocks_json(desc, var));
    tutti_info_add_text(&json, "description", var->description);
    return json;
}

static json_t *unknown_json(const struct tutti_desc *desc, const struct tutti_unknown *unknown)
{
    json_t *json = json_object();
    tutti_info_add_text(&json, "variable", desc->vars[unknown->variable].name);
    if (unknown->has_dependencies) {
        json_t *dependencies = json_array();
        for (uint32_t d = 0; d < unknown->dependency_count; d++)
            tutti_json_append(&dependencies, text(desc->vars[unknown->dependencies[d]].name));
        tutti_json_set(&json, "dependencies", dependencies);
    }
    return json;
}

static json_t *interface_json(const struct tutti_desc *desc, const struct tutti_interface *interface)
{
    json_t *json = json_object();
    tutti_info_add_text(&json, "modelIdentifier", interface->model_identifier);
    for (size_t i = 0; i < tutti_info_capability_count; i++)
        if (desc->fmi >= tutti_info_capabilities[i].since && desc->fmi <= tutti_info_capabilities[i].until)
            tutti_json_set(&json, tutti_info_capabilities[i].name,
                           json_boolean(interface->flags & tutti_info_capabilities[i].flag));
    tutti_json_set(&json, "maxOutputDerivativeOrder", json_integer(interface->max_output_derivative_order));
    tutti_json_set(&json, "needsExecutionTool", json_boolean(interface->flags & TUTTI_NEEDS_TOOL));
    tutti_json_set(&json, "oncePerProcess", json_boolean(interface->flags & TUTTI_ONCE_PER_PROCESS));
    add_number(&json, "fixedStep", interface->fixed_step > 0, interface->fixed_step);
    return json;
}

static json_t *types_json(const struct tutti_desc *desc)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < desc->type_count; i++) {
        const struct tutti_type_def *def = &desc->types[i];
        json_t *json = json_object();
        tutti_info_add_text(&json, "name", def->name);
        tutti_info_add_text(&json, "type", tutti_type_name(def->type));
        tutti_info_add_text(&json, "quantity", def->quantity);
        tutti_info_add_text(&json, "unit", def->unit == TUTTI_NONE ? NULL : desc->units[def->unit].name);
        if (def->item_count > 0) {
            json_t *items = json_object();
            for (uint32_t k = 0; k < def->item_count; k++)
                tutti_json_set(&items, def->items[k].name, json_integer(def->items[k].value));
            tutti_json_set(&json, "items", items);
        }
        tutti_json_append(&list, json);
    }
    return list;
}

static json_t *alias_json(const struct tutti_desc *desc, const struct tutti_alias *alias)
{
    json_t *json = json_object();
    tutti_info_add_text(&json, "name", alias->name);
    tutti_info_add_text(&json, "variable", desc->vars[alias->variable].name);
    tutti_info_add_text(&json, "description", alias->description);
    return json;
}

static json_t *units_json(const struct tutti_desc *desc)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < desc->unit_count; i++) {
        json_t *json = json_object();
        tutti_info_add_text(&json, "name", desc->units[i].name);
        add_number(&json, "factor", desc->units[i].has_base, desc->units[i].factor);
        add_number(&json, "offset", desc->units[i].has_base, desc->units[i].offset);
        tutti_json_append(&list, json);
    }
    return list;
}

static void add_header(json_t **json, const struct tutti_fmu *fmu)
{
    const struct tutti_desc *desc = fmu->desc;
    tutti_info_add_text(json, "file", fmu->path);
    tutti_info_add_text(json, "fmiVersion", desc->fmi_version);
    tutti_info_add_text(json, "modelName", desc->model_name);
    tutti_info_add_text(json, "token", desc->token);
    tutti_info_add_text(json, "description", desc->description);
    tutti_info_add_text(json, "author", desc->author);
    tutti_info_add_text(json, "version", desc->version);
    tutti_info_add_text(json, "license", desc->license);
    tutti_info_add_text(json, "generationTool", desc->tool);
    tutti_info_add_text(json, "generationDateAndTime", desc->date);
    struct tutti_text platforms = {0};
    tutti_binary_list_platforms(fmu->archive, &platforms);
    json_t *list = json_array();
    for (char *rest = NULL, *name = strtok_r(platforms.text ? platforms.text : (char[]){""}, ", ", &rest); name;
         name = strtok_r(NULL, ", ", &rest))
        tutti_json_append(&list, text(name));
    if (platforms.failed)
        tutti_json_append(&list, NULL);
    tutti_json_set(json, "platforms", list);
    tutti_text_fini(&platforms);
}

json_t *tutti_info_experiment(const struct tutti_experiment *experiment)
{
    json_t *json = json_object();
    add_number(&json, "start", experiment->has_start, experiment->start);
    add_number(&json, "stop", experiment->has_stop, experiment->stop);
    add_number(&json, "step", experiment->has_step, experiment->step);
    add_number(&json, "tolerance", experiment->has_tolerance, experiment->tolerance);
    return json;
}

static json_t *head_json(const struct tutti_fmu *fmu)
{
    static const char *const keys[] = {"coSimulation", "modelExchange", "scheduledExecution"};
    const struct tutti_desc *desc = fmu->desc;
    json_t *json = json_object();
    add_header(&json, fmu);
    json_t *interfaces = json_object();
    for (int kind = 0; kind < TUTTI_INTERFACE_COUNT; kind++)
        if (desc->interfaces[kind].present)
            tutti_json_set(&interfaces, keys[kind], interface_json(desc, &desc->interfaces[kind]));
    tutti_json_set(&json, "interfaces", interfaces);
    tutti_info_add_text(&json, "cannotRun", tutti_info_obstacle(fmu));
    tutti_json_set(&json, "defaultExperiment", tutti_info_experiment(&desc->experiment));
    tutti_json_set(&json, "eventIndicators", json_integer(desc->event_indicator_count));
    tutti_json_set(&json, "units", units_json(desc));
    tutti_json_set(&json, "types", types_json(desc));
    return json;
}

/* Lists are written item by item, a line each: all of a large model at once would take hundreds of megabytes. */
#define WRITE_LIST(key, count, item)                                                                                   \
    do {                                                                                                               \
        fputs(",\n  \"" key "\": [", out);                                                                             \
        for (uint32_t i = 0; done && i < (count); i++) {                                                               \
            fputs(i ? ",\n    " : "\n    ", out);                                                                      \
            done = tutti_info_dump(out, item, 0);                                                                      \
        }                                                                                                              \
        fputs("]", out);                                                                                               \
    } while (0)

static json_t *buses_json(const struct tutti_desc *desc)
{
    json_t *json = json_array();
    const struct tutti_bus *last = NULL;
    for (const struct tutti_bus *bus; (bus = tutti_desc_next_bus(desc, last)); last = bus) {
        json_t *item = json_object();
        tutti_info_add_text(&item, "bus", bus->name);
        tutti_json_set(&item, "simulated", json_boolean(bus->simulated));
        tutti_json_append(&json, item);
    }
    return json;
}

/* An FMU whose file of terminals cannot be read is told without them; `tutti check` says why. */
static json_t *extras_json(struct tutti_fmu *fmu, const struct tutti_terminals **terminals)
{
    json_t *json = json_object();
    enum tutti_err err = tutti_fmu_terminals(fmu, NULL, terminals);
    tutti_json_set(&json, "layeredStandards", tutti_info_layers(fmu));
    tutti_json_set(&json, "buses", buses_json(fmu->desc));
    if (err == TUTTI_ERR_MEMORY)
        tutti_json_set(&json, "icon", NULL);
    else if (*terminals)
        tutti_json_set(&json, "icon", tutti_info_icon(fmu));
    return json;
}

bool tutti_info_write_fmu(FILE *out, struct tutti_fmu *fmu)
{
    const struct tutti_desc *desc = fmu->desc;
    const struct tutti_terminals *terminals;
    fputc('{', out);
    bool done = tutti_info_dump(out, head_json(fmu), JSON_INDENT(2) | JSON_EMBED);
    fputc(',', out);
    done = tutti_info_dump(out, extras_json(fmu, &terminals), JSON_INDENT(2) | JSON_EMBED) && done;
    WRITE_LIST("terminals", terminals ? terminals->count : 0, tutti_info_terminal(desc, terminals, i));
    WRITE_LIST("variables", desc->var_count, variable_json(desc, &desc->vars[i]));
    WRITE_LIST("aliases", desc->alias_count, alias_json(desc, &desc->aliases[i]));
    WRITE_LIST("outputs", desc->outputs.count, unknown_json(desc, &desc->outputs.items[i]));
    WRITE_LIST("derivatives", desc->derivatives.count, unknown_json(desc, &desc->derivatives.items[i]));
    WRITE_LIST("initialUnknowns", desc->initial_unknowns.count, unknown_json(desc, &desc->initial_unknowns.items[i]));
    fputs("\n}\n", out);
    return done;
}
