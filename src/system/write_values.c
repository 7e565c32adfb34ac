/* SPDX-License-Identifier: MIT */
/* Variables and their values in the words of SSP. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "system/write_parts.h"

const char tutti_write_set_name[] = "Tutti";

enum tutti_err tutti_write_check(const char *text, const char *what)
{
    if (tutti_tree_can_say(text))
        return TUTTI_OK;
    return tutti_fail(TUTTI_ERR_ARGUMENT,
                      "%s '%s' has a control character, or is no UTF-8; XML cannot say that, so use another", what,
                      tutti_str_show(text).text);
}

/* ---- words ---- */

const char *tutti_write_kind(const struct tutti_var *var)
{
    switch ((enum tutti_causality)var->causality) {
    case TUTTI_INPUT: return "input";
    case TUTTI_OUTPUT: return "output";
    case TUTTI_PARAMETER: return "parameter";
    case TUTTI_CALCULATED_PARAMETER: return "calculatedParameter";
    case TUTTI_STRUCTURAL_PARAMETER: return "structuralParameter";
    case TUTTI_LOCAL:
    case TUTTI_INDEPENDENT: break;
    }
    return var->variability == TUTTI_CONSTANT ? "constant" : "local";
}

bool tutti_write_value_needs_2(const struct tutti_var *var)
{
    switch ((enum tutti_type)var->type) {
    case TUTTI_TYPE_FLOAT64:
    case TUTTI_TYPE_INT32:
    case TUTTI_TYPE_BOOLEAN:
    case TUTTI_TYPE_STRING:
    case TUTTI_TYPE_BINARY:
    case TUTTI_TYPE_ENUMERATION: return var->dimension_count > 0;
    default: return true;
    }
}

bool tutti_write_connector_needs_2(const struct tutti_var *var)
{
    return tutti_write_value_needs_2(var) || var->causality == TUTTI_STRUCTURAL_PARAMETER ||
           var->causality == TUTTI_LOCAL || var->causality == TUTTI_INDEPENDENT;
}

const char *tutti_write_type(const struct tutti_desc *desc, const struct tutti_var *var, bool version_2)
{
    if (!version_2 || desc->fmi < 3) {
        if (var->type == TUTTI_TYPE_FLOAT64)
            return "Real";
        if (var->type == TUTTI_TYPE_INT32)
            return "Integer";
    }
    return tutti_type_name(var->type);
}

/* ---- connectors ---- */

static void write_clock(struct tutti_maker *maker, struct tutti_node *connector, const struct tutti_desc *desc,
                        const struct tutti_var *var)
{
    const struct tutti_clock *clock = var->more ? var->more->clock : NULL;
    if (!clock && var->type_def != TUTTI_NONE)
        clock = desc->types[var->type_def].clock;
    struct tutti_node *node = tutti_make(maker, connector, TUTTI_SPACE_SSC, "Clock");
    if (clock && clock->interval_variability < TUTTI_INTERVAL_UNKNOWN)
        tutti_make_set(maker, node, "intervalVariability", tutti_interval_name(clock->interval_variability));
    if (clock && clock->interval > 0)
        tutti_make_number(maker, node, "intervalDecimal", clock->interval);
}

static void write_type(struct tutti_maker *maker, struct tutti_node *connector, const struct tutti_desc *desc,
                       const struct tutti_var *var, bool version_2, struct tutti_write_scope *scope)
{
    const char *unit = NULL, *enumeration = NULL, *mime_type = NULL;
    if (var->type == TUTTI_TYPE_CLOCK) {
        write_clock(maker, connector, desc, var);
        return;
    }
    if (tutti_type_is_float(var->type) && scope)
        unit = tutti_write_scope_unit(scope, desc, var);
    if (var->type == TUTTI_TYPE_ENUMERATION) {
        enumeration = scope ? tutti_write_scope_enumeration(scope, desc, var) : NULL;
        if (!enumeration)
            return; /* the FMU's own counts */
    }
    if (var->type == TUTTI_TYPE_BINARY) {
        mime_type = var->more ? var->more->mime_type : NULL;
        if (!mime_type && var->type_def != TUTTI_NONE)
            mime_type = desc->types[var->type_def].mime_type;
    }
    struct tutti_node *type = tutti_make(maker, connector, TUTTI_SPACE_SSC, tutti_write_type(desc, var, version_2));
    if (unit)
        tutti_make_set(maker, type, "unit", unit);
    if (enumeration)
        tutti_make_set(maker, type, "name", enumeration);
    if (mime_type)
        tutti_make_set(maker, type, "mime-type", mime_type);
}

static void set_size(struct tutti_maker *maker, struct tutti_node *dimension, uint64_t size)
{
    char text[TUTTI_NUMBER_MAX + 1];
    text[tutti_number_write_uint(text, size)] = '\0';
    tutti_make_set(maker, dimension, "size", text);
}

struct tutti_node *tutti_write_connector(struct tutti_maker *maker, struct tutti_node *connectors,
                                         const struct tutti_desc *desc, const struct tutti_var *var, bool version_2,
                                         struct tutti_write_scope *scope)
{
    struct tutti_node *connector = tutti_make(maker, connectors, TUTTI_SPACE_SSD, "Connector");
    tutti_make_set(maker, connector, "name", var->name);
    tutti_make_set(maker, connector, "kind", tutti_write_kind(var));
    if (var->description && *var->description)
        tutti_make_set(maker, connector, "description", var->description);
    write_type(maker, connector, desc, var, version_2, scope);
    for (unsigned i = 0; i < var->dimension_count; i++) {
        struct tutti_node *dimension = tutti_make(maker, connector, TUTTI_SPACE_SSC, "Dimension");
        if (var->dimensions[i].variable == TUTTI_NONE)
            set_size(maker, dimension, var->dimensions[i].start);
        else
            tutti_make_set(maker, dimension, "sizeConnector", desc->vars[var->dimensions[i].variable].name);
    }
    return connector;
}

/* ---- values ---- */

/* A variable's value in a system: all its elements. */
struct whole {
    const struct tutti_var *var;
    uint64_t extents[TUTTI_MOST_INDICES];
    size_t count;
    char *values;
    bool *known;
};

static const struct tutti_setting *setting_of(const struct tutti_component *component, uint32_t variable)
{
    for (size_t i = 0; i < component->setting_count; i++)
        if (component->settings[i].variable == variable && component->settings[i].element.count == 0)
            return &component->settings[i];
    return NULL;
}

/* The extents that the system's structural parameters give it. */
static enum tutti_err measure(struct whole *whole, const struct tutti_component *component)
{
    const struct tutti_var *var = whole->var, *vars = component->fmu->desc->vars;
    whole->count = 1;
    for (unsigned i = 0; i < var->dimension_count; i++) {
        const struct tutti_dimension *dimension = &var->dimensions[i];
        const struct tutti_setting *size =
            dimension->variable == TUTTI_NONE ? NULL : setting_of(component, dimension->variable);
        if (size && vars[dimension->variable].type != TUTTI_TYPE_UINT64)
            size = NULL;
        uint64_t extent = size ? *(const uint64_t *)size->values : dimension->start;
        if (i == TUTTI_MOST_INDICES || (extent > 0 && whole->count > ((size_t)1 << 26) / extent))
            return tutti_fail(TUTTI_ERR_LIMIT, "'%s' of %s is too large to be written", var->name, component->name);
        whole->extents[i] = extent;
        whole->count *= extent;
    }
    return TUTTI_OK;
}

static void put(struct whole *whole, size_t index, const void *value)
{
    size_t size = tutti_type_size(whole->var->type);
    memcpy(whole->values + index * size, value, size);
    whole->known[index] = true;
}

static void put_all(struct whole *whole, const void *values, size_t count)
{
    size_t size = tutti_type_size(whole->var->type);
    for (size_t i = 0; i < whole->count && (count == 1 || count == whole->count); i++)
        put(whole, i, (const char *)values + (count == 1 ? 0 : i * size));
}

static void overlay(struct whole *whole, const struct tutti_setting *setting)
{
    if (setting->element.count == 0) {
        put_all(whole, setting->values, setting->count);
        return;
    }
    size_t index = 0;
    for (unsigned i = 0; i < setting->element.count; i++) {
        if (setting->element.index[i] == 0 || setting->element.index[i] > whole->extents[i])
            return;
        index = index * whole->extents[i] + setting->element.index[i] - 1;
    }
    put(whole, index, setting->values);
}

static enum tutti_err collect(struct whole *whole, const struct tutti_component *component, uint32_t variable)
{
    const struct tutti_var *var = whole->var;
    TRY(measure(whole, component));
    whole->values = calloc(whole->count + 1, tutti_type_size(var->type));
    whole->known = calloc(whole->count + 1, sizeof *whole->known);
    if (!whole->values || !whole->known)
        return tutti_fail_memory();
    if (var->start && var->dimension_count > 0)
        put_all(whole, var->start, var->start_count);
    for (size_t i = 0; i < component->setting_count; i++)
        if (component->settings[i].variable == variable)
            overlay(whole, &component->settings[i]);
    for (size_t i = 0; i < whole->count; i++) {
        if (!whole->known[i])
            return tutti_fail(
                TUTTI_ERR_ARGUMENT,
                "--set %s.%s: SSP has values for whole arrays only, and some elements have none; give all",
                component->name, var->name);
        if (var->negated) /* settings are what the FMU's reference holds */
            tutti_type_negate(var->type, whole->values + i * tutti_type_size(var->type));
    }
    return TUTTI_OK;
}

/* Types whose texts may have blanks in them have an element per value where there are several. */
static bool is_list(const struct tutti_var *var)
{
    return var->type != TUTTI_TYPE_STRING && var->type != TUTTI_TYPE_ENUMERATION && var->type != TUTTI_TYPE_BINARY;
}

static void write_whole(struct tutti_maker *maker, struct tutti_node *type, const struct tutti_desc *desc,
                        const struct whole *whole)
{
    const struct tutti_var *var = whole->var;
    bool apart = var->dimension_count > 0 && !is_list(var);
    struct tutti_text text = {0};
    for (size_t i = 0; i < whole->count; i++) {
        if (i > 0 && !apart)
            tutti_text_append(&text, " ");
        tutti_setting_show(&text, desc, var, whole->values + i * tutti_type_size(var->type));
        if (apart && !text.failed)
            tutti_make_set(maker, tutti_make(maker, type, TUTTI_SPACE_SSV, "Value"), "value",
                           text.length ? text.text : "");
        if (apart)
            text.length = 0;
    }
    if (!apart && !text.failed)
        tutti_make_set(maker, type, "value", text.length ? text.text : "");
    maker->failed |= text.failed;
    tutti_text_fini(&text);
}

static enum tutti_err check_texts(const struct whole *whole)
{
    for (size_t i = 0; i < whole->count && whole->var->type == TUTTI_TYPE_STRING; i++)
        TRY(tutti_write_check(((const char *const *)whole->values)[i], "the value"));
    return TUTTI_OK;
}

enum tutti_err tutti_write_parameter(struct tutti_maker *maker, struct tutti_node *parameters, const char *name,
                                     const struct tutti_component *component, uint32_t variable, bool version_2)
{
    const struct tutti_desc *desc = component->fmu->desc;
    struct whole whole = {.var = &desc->vars[variable]};
    enum tutti_err err = collect(&whole, component, variable);
    if (!err)
        err = check_texts(&whole);
    if (!err) {
        struct tutti_node *parameter = tutti_make(maker, parameters, TUTTI_SPACE_SSV, "Parameter");
        tutti_make_set(maker, parameter, "name", name);
        struct tutti_node *type =
            tutti_make(maker, parameter, TUTTI_SPACE_SSV, tutti_write_type(desc, whole.var, version_2));
        write_whole(maker, type, desc, &whole);
        for (unsigned i = 0; i < whole.var->dimension_count; i++)
            set_size(maker, tutti_make(maker, parameter, TUTTI_SPACE_SSC, "Dimension"), whole.extents[i]);
    }
    free(whole.values);
    free(whole.known);
    return err;
}

struct tutti_node *tutti_write_binding(struct tutti_maker *maker, struct tutti_node *bindings, const char *version)
{
    struct tutti_node *binding = tutti_make(maker, bindings, TUTTI_SPACE_SSD, "ParameterBinding");
    struct tutti_node *values = tutti_make(maker, binding, TUTTI_SPACE_SSD, "ParameterValues");
    struct tutti_node *set = tutti_make(maker, values, TUTTI_SPACE_SSV, "ParameterSet");
    tutti_make_set(maker, set, "version", version);
    tutti_make_set(maker, set, "name", tutti_write_set_name);
    return tutti_make(maker, set, TUTTI_SPACE_SSV, "Parameters");
}
