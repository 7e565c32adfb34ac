/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "fmu/binary/binary.h"
#include "apps/describe/info.h"
#include "apps/describe/json.h"

static bool info_fmu_is_utf8(const char *text)
{
    for (size_t length; *text; text += length) {
        length = tt_text_utf8_length(text);
        if (length == 0)
            return false;
    }
    return true;
}

/* Foreign text that is no UTF-8 becomes null. */
static json_t *utf8_json(const char *value)
{
    return value && info_fmu_is_utf8(value) ? json_string(value) : json_null();
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

static json_t *start_json(const struct tt_var *var)
{
    if (var->dimension_count == 0)
        return tt_info_value(var->type, var->start, 0);
    json_t *list = json_array();
    for (uint32_t i = 0; i < var->start_count; i++)
        tt_json_append(&list, tt_info_value(var->type, var->start, i));
    return list;
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

static json_t *clocks_json(const struct tt_description *desc, const struct tt_var *var)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < var->clock_count; i++)
        tt_json_append(&list, utf8_json(desc->vars[var->more->clocks[i]].name));
    return list;
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
    if (var->start && var->start_count > 0)
        tt_json_set(&json, "start", start_json(var));
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
    if (var->clock_count > 0)
        tt_json_set(&json, "clocks", clocks_json(desc, var));
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

/* An FMU whose file of terminals cannot be read is told without them; `tutti check` says why. */
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
