/* SPDX-License-Identifier: MIT */
/* Units, types, lists and the shared side of variables: what is alike in two or three FMI versions. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "description/desc_build.h"

enum tutti_err tutti_build_unit_index(struct tutti_build *build, const char *name, uint32_t *index)
{
    int64_t found = tutti_map_find(&build->unit_names, name);
    if (found != TUTTI_MAP_NONE) {
        *index = (uint32_t)found;
        return TUTTI_OK;
    }
    enum tutti_err err;
    struct tutti_list *units = &build->whole->units;
    struct tutti_unit_def *unit = tutti_build_push(build, units, "units", &err);
    if (!unit)
        return err;
    *index = units->count - 1;
    unit->factor = 1;
    unit->line = build->line;
    TRY(tutti_build_text(build, &unit->name, name));
    return tutti_map_add(&build->unit_names, unit->name, *index, NULL);
}

/* A unit defined twice gets an entry of its own, which no name leads to, so that the first one stays as it is. */
static enum tutti_err repeated_unit(struct tutti_build *build, const char *name, unsigned first_line)
{
    enum tutti_err err;
    struct tutti_unit_def *unit = tutti_build_push(build, &build->whole->units, "units", &err);
    if (!unit)
        return err;
    TRY(tutti_build_text(build, &unit->name, name));
    tutti_build_subject(build, "unit", unit->name);
    tutti_build_error(build, "defined again; the first definition, in line %u, is used", first_line);
    unit->factor = 1;
    build->unit = build->whole->units.count - 1;
    return TUTTI_OK;
}

enum tutti_err tutti_build_unit(struct tutti_build *build, int tag)
{
    const char *name = tutti_build_take(build, (enum tutti_attribute)tag);
    tutti_build_subject(build, "unit", NULL);
    if (!name) {
        tutti_build_error(build, "found no %s, expected one", tutti_attribute_name((enum tutti_attribute)tag));
        name = "";
    }
    TRY(tutti_build_unit_index(build, name, &build->unit));
    struct tutti_unit_def *units = build->whole->units.items, *unit = &units[build->unit];
    if (unit->defined)
        TRY(repeated_unit(build, name, unit->line));
    units = build->whole->units.items;
    unit = &units[build->unit];
    unit->defined = true;
    unit->line = build->line;
    unit->first_display = build->whole->displays.count;
    build->name = unit->name;
    return TUTTI_OK;
}

enum tutti_err tutti_build_base_unit(struct tutti_build *build, int tag)
{
    (void)tag;
    static const uint8_t exponents[8] = {ATTR_kg, ATTR_m, ATTR_s, ATTR_A, ATTR_K, ATTR_mol, ATTR_cd, ATTR_rad};
    struct tutti_unit_def *units = build->whole->units.items, *unit = &units[build->unit];
    build->line = tutti_xml_line(build->xml);
    unit->has_base = true;
    for (int i = 0; i < 8; i++)
        tutti_build_int32(build, exponents[i], &unit->exponents[i]);
    tutti_build_double(build, ATTR_factor, &unit->factor);
    tutti_build_double(build, ATTR_offset, &unit->offset);
    return TUTTI_OK;
}

static enum tutti_err display_key(struct tutti_build *build, uint32_t unit, const char *name)
{
    char digits[TUTTI_NUMBER_MAX];
    build->key.length = 0;
    tutti_text_append_n(&build->key, digits, tutti_number_write_uint(digits, unit));
    tutti_text_append_n(&build->key, " ", 1);
    tutti_text_append(&build->key, name);
    return build->key.failed ? tutti_fail_memory() : TUTTI_OK;
}

uint32_t tutti_build_find_display(struct tutti_build *build, uint32_t unit, const char *name)
{
    if (unit == TUTTI_NONE || display_key(build, unit, name) != TUTTI_OK)
        return TUTTI_NONE;
    int64_t found = tutti_map_find(&build->display_names, build->key.text);
    return found == TUTTI_MAP_NONE ? TUTTI_NONE : (uint32_t)found;
}

/* tag: the attribute with the name. 1.0 says `gain` where 2.0 and 3.0 say `factor`; its schema describes it the other
 * way round, but the text of the standard and the tools mean the same by both (57.3 for degrees of rad). */
enum tutti_err tutti_build_display_unit(struct tutti_build *build, int tag)
{
    enum tutti_err err;
    struct tutti_list *displays = &build->whole->displays;
    const char *name = tutti_build_take(build, (enum tutti_attribute)tag);
    struct tutti_display_unit *display = tutti_build_push(build, displays, "display units", &err);
    if (!display)
        return err;
    struct tutti_unit_def *units = build->whole->units.items, *unit = &units[build->unit];
    unit->displays++;
    tutti_build_subject(build, "unit", unit->name);
    if (!name)
        tutti_build_error(build, "found a display unit without a name, expected one");
    TRY(tutti_build_text(build, &display->name, name ? name : ""));
    display->unit = build->unit;
    display->line = build->line;
    display->factor = 1;
    tutti_build_double(build, tag == ATTR_displayUnit ? ATTR_gain : ATTR_factor, &display->factor);
    tutti_build_double(build, ATTR_offset, &display->offset);
    if (build->desc->fmi == 3)
        tutti_build_bool(build, ATTR_inverse, &display->inverse);
    const char *key;
    int64_t earlier;
    TRY(display_key(build, build->unit, display->name));
    TRY(tutti_build_text(build, &key, build->key.text));
    TRY(tutti_map_add(&build->display_names, key, displays->count - 1, &earlier));
    if (earlier != TUTTI_MAP_NONE)
        tutti_build_error(build, "display unit \"%s\" is defined again; the first definition, in line %u, is used",
                          display->name, ((struct tutti_display_unit *)displays->items)[earlier].line);
    return TUTTI_OK;
}

struct tutti_type_def *tutti_build_last_type(struct tutti_build *build)
{
    return (struct tutti_type_def *)build->whole->types.items + build->whole->types.count - 1;
}

enum tutti_err tutti_build_new_type(struct tutti_build *build)
{
    enum tutti_err err;
    struct tutti_list *types = &build->whole->types;
    struct tutti_type_def *type = tutti_build_push(build, types, "types", &err);
    if (!type)
        return err;
    const char *name = tutti_build_take(build, ATTR_name);
    build->items.count = 0;
    build->typed = false;
    type->unit = type->display_unit = TUTTI_NONE;
    TRY(tutti_build_text(build, &type->name, name ? name : ""));
    TRY(tutti_build_text(build, &type->description, tutti_build_take(build, ATTR_description)));
    tutti_build_subject(build, "type", type->name);
    type->line = build->line;
    if (!name)
        tutti_build_error(build, "found no name, expected one");
    int64_t earlier;
    TRY(tutti_map_add(&build->type_names, type->name, types->count - 1, &earlier));
    if (earlier != TUTTI_MAP_NONE)
        tutti_build_error(build, "defined again; the first definition, in line %u, is used",
                          ((struct tutti_type_def *)types->items)[earlier].line);
    return TUTTI_OK;
}

enum tutti_err tutti_build_type_kind(struct tutti_build *build, enum tutti_type kind)
{
    struct tutti_type_def *type = tutti_build_last_type(build);
    struct tutti_properties properties;
    if (build->typed) {
        tutti_build_error(build, "found a second type element, expected one; it is ignored");
        return TUTTI_OK;
    }
    build->typed = true;
    type->type = kind;
    if (tutti_type_is_float(kind) || tutti_type_is_integer(kind) || kind == TUTTI_TYPE_ENUMERATION)
        TRY(tutti_build_text(build, &type->quantity, tutti_build_take(build, ATTR_quantity)));
    tutti_build_properties(build, kind, &properties);
    if (properties.has_bounds) {
        struct tutti_bounds *bounds = tutti_arena_alloc(&build->desc->arena, sizeof *bounds);
        if (!bounds)
            return tutti_fail_memory();
        *bounds = properties.bounds;
        type->bounds = bounds;
    }
    if (properties.unit)
        TRY(tutti_build_unit_index(build, properties.unit, &type->unit));
    if (!properties.display_unit)
        return TUTTI_OK;
    type->display_unit = tutti_build_find_display(build, type->unit, properties.display_unit);
    return type->display_unit != TUTTI_NONE
               ? TUTTI_OK
               : tutti_build_postpone(build, PENDING_TYPE_DISPLAY, build->whole->types.count - 1,
                                      properties.display_unit);
}

enum tutti_err tutti_build_end_type(struct tutti_build *build)
{
    struct tutti_type_def *type = tutti_build_last_type(build);
    uint32_t n = build->items.count;
    build->line = type->line;
    if (!build->typed)
        tutti_build_error(build, "found no type element, expected one such as <%s>",
                          build->desc->fmi == 1 ? "RealType" : "Real");
    if (n == 0)
        return TUTTI_OK;
    struct tutti_enum_item *items = tutti_arena_array(&build->desc->arena, n, sizeof *items);
    if (!items)
        return tutti_fail_memory();
    type->items = memcpy(items, build->items.items, n * sizeof *items);
    type->item_count = n;
    return TUTTI_OK;
}

enum tutti_err tutti_build_item(struct tutti_build *build, int tag)
{
    (void)tag;
    enum tutti_err err;
    struct tutti_enum_item *item = tutti_build_push(build, &build->items, "items of an enumeration", &err);
    if (!item)
        return err;
    const char *name = tutti_build_take(build, ATTR_name), *value;
    build->line = tutti_xml_line(build->xml);
    if (!name)
        tutti_build_error(build, "found an item without a name, expected one");
    TRY(tutti_build_text(build, &item->name, name ? name : ""));
    TRY(tutti_build_text(build, &item->description, tutti_build_take(build, ATTR_description)));
    item->value = build->items.count; /* 1.0 numbers them from 1 on */
    if (build->desc->fmi == 1)
        return TUTTI_OK;
    value = tutti_build_take(build, ATTR_value);
    if (!value || !tutti_number_read_int(value, strlen(value), &item->value))
        tutti_build_error(build, "item \"%s\" has the value \"%.80s\", expected a whole number", item->name,
                          value ? value : "");
    return TUTTI_OK;
}

enum tutti_err tutti_build_interface(struct tutti_build *build, int tag)
{
    static const char *const names[] = {"CoSimulation", "ModelExchange", "ScheduledExecution"};
    struct tutti_interface *interface = &build->desc->interfaces[tag];
    tutti_build_subject(build, names[tag], NULL);
    if (interface->present)
        tutti_build_error(build, "found it twice, expected one; the first was in line %u", interface->line);
    interface->present = true;
    interface->line = build->line;
    tutti_build_flag(build, ATTR_needsExecutionTool, &interface->flags, TUTTI_NEEDS_TOOL);
    tutti_build_flag(build, ATTR_canBeInstantiatedOnlyOncePerProcess, &interface->flags, TUTTI_ONCE_PER_PROCESS);
    return tutti_build_text(build, &interface->model_identifier, tutti_build_take(build, ATTR_modelIdentifier));
}

static enum tutti_err push_text(struct tutti_build *build, struct tutti_list *list, const char *text, const char *what)
{
    enum tutti_err err;
    const char **slot = tutti_build_push(build, list, what, &err);
    return slot ? tutti_build_text(build, slot, text ? text : "") : err;
}

enum tutti_err tutti_build_category(struct tutti_build *build, int tag)
{
    (void)tag;
    const char *name = tutti_build_take(build, ATTR_name);
    tutti_build_take(build, ATTR_description);
    tutti_build_subject(build, "log category", NULL);
    if (!name)
        tutti_build_error(build, "found no name, expected one");
    return push_text(build, &build->whole->categories, name, "log categories");
}

enum tutti_err tutti_build_annotation(struct tutti_build *build, int tag)
{
    const char *name = tutti_build_take(build, (enum tutti_attribute)tag);
    tutti_build_subject(build, "annotation", NULL);
    if (!name)
        tutti_build_error(build, "found no %s, expected one", tutti_attribute_name((enum tutti_attribute)tag));
    return push_text(build, &build->whole->annotations, name, "annotations");
}

enum tutti_err tutti_build_experiment(struct tutti_build *build, int tag)
{
    (void)tag;
    struct tutti_experiment *experiment = &build->desc->experiment;
    tutti_build_subject(build, "DefaultExperiment", NULL);
    experiment->has_start |= tutti_build_double(build, ATTR_startTime, &experiment->start);
    experiment->has_stop |= tutti_build_double(build, ATTR_stopTime, &experiment->stop);
    experiment->has_tolerance |= tutti_build_double(build, ATTR_tolerance, &experiment->tolerance);
    if (build->desc->fmi > 1)
        experiment->has_step |= tutti_build_double(build, ATTR_stepSize, &experiment->step);
    experiment->line = build->line;
    return TUTTI_OK;
}
