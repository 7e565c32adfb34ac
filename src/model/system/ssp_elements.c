/* SPDX-License-Identifier: MIT */
#include "model/system/ssp_elements.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "base/vector.h"

/* Units and enumerations of many FMUs in one document. */

void tt_ssp_elements_scope_fini(struct tt_ssp_elements_scope *scope)
{
    tt_map_fini(&scope->units);
    tt_map_fini(&scope->enumerations);
    free(scope->unit_defs);
    free(scope->enumeration_defs);
    free(scope->enumeration_names);
}

/* ---- units ---- */

static bool ssp_elements_same_unit(const struct tt_unit_def *a, const struct tt_unit_def *b)
{
    return memcmp(a->exponents, b->exponents, sizeof a->exponents) == 0 && !(a->factor < b->factor) &&
           !(a->factor > b->factor) && !(a->offset < b->offset) && !(a->offset > b->offset);
}

const char *tt_ssp_elements_scope_unit(struct tt_ssp_elements_scope *scope, const struct tt_description *desc,
                                       const struct tt_var *var)
{
    const struct tt_unit_def *def = var->unit == TUTTI_NONE ? NULL : &desc->units[var->unit];
    if (!def || !def->has_base)
        return NULL;
    int64_t known = tt_map_find(&scope->units, def->name);
    if (known != TUTTI_MAP_NONE)
        return ssp_elements_same_unit(scope->unit_defs[known], def) ? def->name : NULL;
    size_t count = scope->units.count;
    if (!tt_vector_reserve(&scope->unit_defs, &scope->unit_room, count + 1, sizeof(void *)) ||
        tt_map_add(&scope->units, def->name, (int64_t)count, NULL) != TUTTI_OK) {
        scope->maker->failed = true;
        return NULL;
    }
    scope->unit_defs[count] = def;
    return def->name;
}

static void ssp_elements_write_unit(struct tt_editor *maker, struct tt_tree_node *units, const struct tt_unit_def *def)
{
    static const char *const names[] = {"kg", "m", "s", "A", "K", "mol", "cd", "rad"};
    struct tt_tree_node *unit = tt_edit_add(maker, units, TUTTI_SPACE_SSC, "Unit");
    tt_edit_set(maker, unit, "name", def->name);
    struct tt_tree_node *base = tt_edit_add(maker, unit, TUTTI_SPACE_SSC, "BaseUnit");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (def->exponents[i] != 0)
            tt_edit_set_number(maker, base, names[i], def->exponents[i]);
    if (def->factor < 1 || def->factor > 1)
        tt_edit_set_number(maker, base, "factor", def->factor);
    if (def->offset < 0 || def->offset > 0)
        tt_edit_set_number(maker, base, "offset", def->offset);
}

/* ---- enumerations ---- */

/* SSP requires 32 bits and unique names; FMI does not. */
static bool enumeration_is_writable(struct tt_editor *maker, const struct tt_type_def *def)
{
    struct tt_map names = {0};
    bool good = def->item_count > 0;
    for (uint32_t i = 0; i < def->item_count && good && !maker->failed; i++) {
        int64_t earlier = TUTTI_MAP_NONE;
        maker->failed = tt_map_add(&names, def->items[i].name, i, &earlier) != TUTTI_OK;
        good = def->items[i].value >= INT32_MIN && def->items[i].value <= INT32_MAX && earlier == TUTTI_MAP_NONE;
    }
    tt_map_fini(&names);
    return good;
}

static bool ssp_elements_same_items(const struct tt_type_def *a, const struct tt_type_def *b)
{
    bool same = a->item_count == b->item_count;
    for (uint32_t i = 0; i < a->item_count && same && a != b; i++)
        same = a->items[i].value == b->items[i].value && strcmp(a->items[i].name, b->items[i].name) == 0;
    return same;
}

static const char *ssp_elements_add_enum(struct tt_ssp_elements_scope *scope, const char *name,
                                         const struct tt_type_def *def)
{
    size_t count = scope->enumerations.count, room = scope->enumeration_room;
    const char *copy = tt_arena_copy_text(&scope->maker->tree->arena, name, strlen(name));
    if (!copy || !tt_vector_reserve(&scope->enumeration_names, &room, count + 1, sizeof(void *)) ||
        !tt_vector_reserve(&scope->enumeration_defs, &scope->enumeration_room, count + 1, sizeof(void *)) ||
        tt_map_add(&scope->enumerations, copy, (int64_t)count, NULL) != TUTTI_OK) {
        scope->maker->failed = true;
        return NULL;
    }
    scope->enumeration_names[count] = copy;
    scope->enumeration_defs[count] = def;
    return copy;
}

const char *tt_ssp_elements_scope_enum(struct tt_ssp_elements_scope *scope, const struct tt_description *desc,
                                       const struct tt_var *var)
{
    const struct tt_type_def *def = var->type_def == TUTTI_NONE ? NULL : &desc->types[var->type_def];
    if (!def || !enumeration_is_writable(scope->maker, def))
        return NULL;
    struct tt_text name = {0};
    const char *found = NULL;
    tt_text_append(&name, def->name);
    for (unsigned number = 2; !found && !name.failed && !scope->maker->failed; number++) {
        int64_t known = tt_map_find(&scope->enumerations, name.text);
        if (known == TUTTI_MAP_NONE)
            found = ssp_elements_add_enum(scope, name.text, def);
        else if (ssp_elements_same_items(scope->enumeration_defs[known], def))
            found = scope->enumeration_names[known];
        name.length = 0;
        tt_text_printf(&name, "%s_%u", def->name, number);
    }
    scope->maker->failed |= name.failed;
    tt_text_fini(&name);
    return found;
}

static void ssp_elements_write_enum(struct tt_editor *maker, struct tt_tree_node *list, const char *name,
                                    const struct tt_type_def *def)
{
    struct tt_tree_node *enumeration = tt_edit_add(maker, list, TUTTI_SPACE_SSC, "Enumeration");
    tt_edit_set(maker, enumeration, "name", name);
    for (uint32_t i = 0; i < def->item_count; i++) {
        struct tt_tree_node *item = tt_edit_add(maker, enumeration, TUTTI_SPACE_SSC, "Item");
        tt_edit_set(maker, item, "name", def->items[i].name);
        tt_edit_set_number(maker, item, "value", (double)def->items[i].value);
    }
}

void tt_ssp_elements_write_scope(struct tt_ssp_elements_scope *scope, struct tt_tree_node *root)
{
    struct tt_editor *maker = scope->maker;
    if (scope->enumerations.count > 0) {
        struct tt_tree_node *list = tt_edit_add(maker, root, TUTTI_SPACE_SSD, "Enumerations");
        for (size_t i = 0; i < scope->enumerations.count; i++)
            ssp_elements_write_enum(maker, list, scope->enumeration_names[i], scope->enumeration_defs[i]);
    }
    if (scope->units.count > 0) {
        struct tt_tree_node *list = tt_edit_add(maker, root, TUTTI_SPACE_SSD, "Units");
        for (size_t i = 0; i < scope->units.count; i++)
            ssp_elements_write_unit(maker, list, scope->unit_defs[i]);
    }
}

/* Variables and their values in the words of SSP. */

const char tt_ssp_elements_set_name[] = "Tutti";

enum tutti_err tt_ssp_elements_check_text(const char *text, const char *what)
{
    if (tt_tree_is_encodable(text))
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "%s '%s' has a control character, or is no UTF-8; XML cannot say that, so use another", what,
                   tt_text_excerpt(text).text);
}

/* ---- words ---- */

const char *tt_ssp_elements_kind(const struct tt_var *var)
{
    switch ((enum tt_causality)var->causality) {
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

bool tt_ssp_elements_value_needs_2(const struct tt_var *var)
{
    switch ((enum tt_type)var->type) {
    case TUTTI_TYPE_FLOAT64:
    case TUTTI_TYPE_INT32:
    case TUTTI_TYPE_BOOLEAN:
    case TUTTI_TYPE_STRING:
    case TUTTI_TYPE_BINARY:
    case TUTTI_TYPE_ENUMERATION: return var->dimension_count > 0;
    default: return true;
    }
}

bool tt_ssp_elements_connector_needs_2(const struct tt_var *var)
{
    return tt_ssp_elements_value_needs_2(var) || var->causality == TUTTI_STRUCTURAL_PARAMETER ||
           var->causality == TUTTI_LOCAL || var->causality == TUTTI_INDEPENDENT;
}

const char *tt_ssp_elements_type_name(const struct tt_description *desc, const struct tt_var *var, bool version_2)
{
    if (!version_2 || desc->fmi < 3) {
        if (var->type == TUTTI_TYPE_FLOAT64)
            return "Real";
        if (var->type == TUTTI_TYPE_INT32)
            return "Integer";
    }
    return tt_type_name(var->type);
}

/* ---- connectors ---- */

static void ssp_elements_write_clock(struct tt_editor *maker, struct tt_tree_node *connector,
                                     const struct tt_description *desc, const struct tt_var *var)
{
    const struct tt_clock *clock = var->more ? var->more->clock : NULL;
    if (!clock && var->type_def != TUTTI_NONE)
        clock = desc->types[var->type_def].clock;
    struct tt_tree_node *node = tt_edit_add(maker, connector, TUTTI_SPACE_SSC, "Clock");
    if (clock && clock->interval_variability < TUTTI_INTERVAL_UNKNOWN)
        tt_edit_set(maker, node, "intervalVariability", tt_description_interval_name(clock->interval_variability));
    if (clock && clock->interval > 0)
        tt_edit_set_number(maker, node, "intervalDecimal", clock->interval);
}

static void ssp_elements_write_type(struct tt_editor *maker, struct tt_tree_node *connector,
                                    const struct tt_description *desc, const struct tt_var *var, bool version_2,
                                    struct tt_ssp_elements_scope *scope)
{
    const char *unit = NULL, *enumeration = NULL, *mime_type = NULL;
    if (var->type == TUTTI_TYPE_CLOCK) {
        ssp_elements_write_clock(maker, connector, desc, var);
        return;
    }
    if (tt_type_is_float(var->type) && scope)
        unit = tt_ssp_elements_scope_unit(scope, desc, var);
    if (var->type == TUTTI_TYPE_ENUMERATION) {
        enumeration = scope ? tt_ssp_elements_scope_enum(scope, desc, var) : NULL;
        if (!enumeration)
            return; /* the FMU's own counts */
    }
    if (var->type == TUTTI_TYPE_BINARY) {
        mime_type = var->more ? var->more->mime_type : NULL;
        if (!mime_type && var->type_def != TUTTI_NONE)
            mime_type = desc->types[var->type_def].mime_type;
    }
    struct tt_tree_node *type =
        tt_edit_add(maker, connector, TUTTI_SPACE_SSC, tt_ssp_elements_type_name(desc, var, version_2));
    if (unit)
        tt_edit_set(maker, type, "unit", unit);
    if (enumeration)
        tt_edit_set(maker, type, "name", enumeration);
    if (mime_type)
        tt_edit_set(maker, type, "mime-type", mime_type);
}

static void ssp_elements_set_size(struct tt_editor *maker, struct tt_tree_node *dimension, uint64_t size)
{
    char text[TUTTI_NUMBER_MAX + 1];
    text[tt_number_write_uint(text, size)] = '\0';
    tt_edit_set(maker, dimension, "size", text);
}

struct tt_tree_node *tt_ssp_elements_write_connector(struct tt_editor *maker, struct tt_tree_node *connectors,
                                                     const struct tt_description *desc, const struct tt_var *var,
                                                     bool version_2, struct tt_ssp_elements_scope *scope)
{
    struct tt_tree_node *connector = tt_edit_add(maker, connectors, TUTTI_SPACE_SSD, "Connector");
    tt_edit_set(maker, connector, "name", var->name);
    tt_edit_set(maker, connector, "kind", tt_ssp_elements_kind(var));
    if (var->description && *var->description)
        tt_edit_set(maker, connector, "description", var->description);
    ssp_elements_write_type(maker, connector, desc, var, version_2, scope);
    for (unsigned i = 0; i < var->dimension_count; i++) {
        struct tt_tree_node *dimension = tt_edit_add(maker, connector, TUTTI_SPACE_SSC, "Dimension");
        if (var->dimensions[i].variable == TUTTI_NONE)
            ssp_elements_set_size(maker, dimension, var->dimensions[i].start);
        else
            tt_edit_set(maker, dimension, "sizeConnector", desc->vars[var->dimensions[i].variable].name);
    }
    return connector;
}

/* ---- values ---- */

/* A variable's value in a system: all its elements. */
struct whole_value {
    const struct tt_var *var;
    uint64_t extents[TUTTI_MOST_INDICES];
    size_t count;
    char *values;
    bool *known;
};

static const struct tt_setting *ssp_elements_setting_of(const struct tt_component *component, uint32_t variable)
{
    for (size_t i = 0; i < component->setting_count; i++)
        if (component->settings[i].variable == variable && component->settings[i].element.count == 0)
            return &component->settings[i];
    return NULL;
}

/* The extents that the system's structural parameters give it. */
static enum tutti_err whole_value_measure(struct whole_value *whole, const struct tt_component *component)
{
    const struct tt_var *var = whole->var, *vars = component->fmu->desc->vars;
    whole->count = 1;
    for (unsigned i = 0; i < var->dimension_count; i++) {
        const struct tt_dimension *dimension = &var->dimensions[i];
        const struct tt_setting *size =
            dimension->variable == TUTTI_NONE ? NULL : ssp_elements_setting_of(component, dimension->variable);
        if (size && vars[dimension->variable].type != TUTTI_TYPE_UINT64)
            size = NULL;
        uint64_t extent = size ? *(const uint64_t *)size->values : dimension->start;
        if (i == TUTTI_MOST_INDICES || (extent > 0 && whole->count > ((size_t)1 << 26) / extent))
            return tt_fail(TUTTI_ERR_LIMIT, "'%s' of %s is too large to be written", var->name, component->name);
        whole->extents[i] = extent;
        whole->count *= extent;
    }
    return TUTTI_OK;
}

static void whole_value_put(struct whole_value *whole, size_t index, const void *value)
{
    size_t size = tt_type_size(whole->var->type);
    memcpy(whole->values + index * size, value, size);
    whole->known[index] = true;
}

static void whole_value_put_all(struct whole_value *whole, const void *values, size_t count)
{
    size_t size = tt_type_size(whole->var->type);
    for (size_t i = 0; i < whole->count && (count == 1 || count == whole->count); i++)
        whole_value_put(whole, i, (const char *)values + (count == 1 ? 0 : i * size));
}

static void whole_value_overlay(struct whole_value *whole, const struct tt_setting *setting)
{
    if (setting->element.count == 0) {
        whole_value_put_all(whole, setting->values, setting->count);
        return;
    }
    size_t index = 0;
    for (unsigned i = 0; i < setting->element.count; i++) {
        if (setting->element.index[i] == 0 || setting->element.index[i] > whole->extents[i])
            return;
        index = index * whole->extents[i] + setting->element.index[i] - 1;
    }
    whole_value_put(whole, index, setting->values);
}

static enum tutti_err whole_value_collect(struct whole_value *whole, const struct tt_component *component,
                                          uint32_t variable)
{
    const struct tt_var *var = whole->var;
    TRY(whole_value_measure(whole, component));
    whole->values = calloc(whole->count + 1, tt_type_size(var->type));
    whole->known = calloc(whole->count + 1, sizeof *whole->known);
    if (!whole->values || !whole->known)
        return tt_fail_memory();
    if (var->start && var->dimension_count > 0)
        whole_value_put_all(whole, var->start, var->start_count);
    for (size_t i = 0; i < component->setting_count; i++)
        if (component->settings[i].variable == variable)
            whole_value_overlay(whole, &component->settings[i]);
    for (size_t i = 0; i < whole->count; i++) {
        if (!whole->known[i])
            return tt_fail(TUTTI_ERR_ARGUMENT,
                           "--set %s.%s: SSP has values for whole arrays only, and some elements have none; give all",
                           component->name, var->name);
        if (var->negated) /* settings are what the FMU's reference holds */
            tt_type_negate(var->type, whole->values + i * tt_type_size(var->type));
    }
    return TUTTI_OK;
}

static void ssp_elements_write_whole(struct tt_editor *maker, struct tt_tree_node *type,
                                     const struct tt_description *desc, const struct whole_value *whole)
{
    const struct tt_var *var = whole->var;
    /* Types whose texts may contain blanks have an element per value where there are several. */
    bool apart = var->dimension_count > 0 && (var->type == TUTTI_TYPE_STRING || var->type == TUTTI_TYPE_ENUMERATION ||
                                              var->type == TUTTI_TYPE_BINARY);
    struct tt_text text = {0};
    for (size_t i = 0; i < whole->count; i++) {
        if (i > 0 && !apart)
            tt_text_append(&text, " ");
        tt_setting_write(&text, desc, var, whole->values + i * tt_type_size(var->type));
        if (apart && !text.failed)
            tt_edit_set(maker, tt_edit_add(maker, type, TUTTI_SPACE_SSV, "Value"), "value",
                        text.length ? text.text : "");
        if (apart)
            text.length = 0;
    }
    if (!apart && !text.failed)
        tt_edit_set(maker, type, "value", text.length ? text.text : "");
    maker->failed |= text.failed;
    tt_text_fini(&text);
}

enum tutti_err tt_ssp_elements_write_parameter(struct tt_editor *maker, struct tt_tree_node *parameters,
                                               const char *name, const struct tt_component *component,
                                               uint32_t variable, bool version_2)
{
    const struct tt_description *desc = component->fmu->desc;
    struct whole_value whole = {.var = &desc->vars[variable]};
    enum tutti_err err = whole_value_collect(&whole, component, variable);
    for (size_t i = 0; i < whole.count && whole.var->type == TUTTI_TYPE_STRING && !err; i++)
        err = tt_ssp_elements_check_text(((const char *const *)whole.values)[i], "the value");
    if (!err) {
        struct tt_tree_node *parameter = tt_edit_add(maker, parameters, TUTTI_SPACE_SSV, "Parameter");
        tt_edit_set(maker, parameter, "name", name);
        struct tt_tree_node *type =
            tt_edit_add(maker, parameter, TUTTI_SPACE_SSV, tt_ssp_elements_type_name(desc, whole.var, version_2));
        ssp_elements_write_whole(maker, type, desc, &whole);
        for (unsigned i = 0; i < whole.var->dimension_count; i++)
            ssp_elements_set_size(maker, tt_edit_add(maker, parameter, TUTTI_SPACE_SSC, "Dimension"), whole.extents[i]);
    }
    free(whole.values);
    free(whole.known);
    return err;
}

struct tt_tree_node *tt_ssp_elements_write_binding(struct tt_editor *maker, struct tt_tree_node *bindings,
                                                   const char *version)
{
    struct tt_tree_node *binding = tt_edit_add(maker, bindings, TUTTI_SPACE_SSD, "ParameterBinding");
    struct tt_tree_node *values = tt_edit_add(maker, binding, TUTTI_SPACE_SSD, "ParameterValues");
    struct tt_tree_node *set = tt_edit_add(maker, values, TUTTI_SPACE_SSV, "ParameterSet");
    tt_edit_set(maker, set, "version", version);
    tt_edit_set(maker, set, "name", tt_ssp_elements_set_name);
    return tt_edit_add(maker, set, TUTTI_SPACE_SSV, "Parameters");
}
