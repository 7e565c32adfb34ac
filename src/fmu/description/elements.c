/* SPDX-License-Identifier: MIT */
/* Units, types, lists and the shared side of variables: what is alike in two or three FMI versions. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "fmu/description/builder.h"

enum tutti_err tt_elements_unit_index(struct tt_builder *build, const char *name, uint32_t *index)
{
    int64_t found = tt_map_find(&build->unit_names, name);
    if (found != TUTTI_MAP_NONE) {
        *index = (uint32_t)found;
        return TUTTI_OK;
    }
    enum tutti_err err;
    struct tt_builder_list *units = &build->whole->units;
    struct tt_unit_def *unit = tt_builder_push(build, units, "units", &err);
    if (!unit)
        return err;
    *index = units->count - 1;
    unit->factor = 1;
    unit->line = build->line;
    TRY(tt_builder_copy_text(build, &unit->name, name));
    return tt_map_add(&build->unit_names, unit->name, *index, NULL);
}

/* A unit defined twice gets an entry of its own, which no name leads to, so that the first one stays as it is. */
static enum tutti_err elements_add_repeated_unit(struct tt_builder *build, const char *name, unsigned first_line)
{
    enum tutti_err err;
    struct tt_unit_def *unit = tt_builder_push(build, &build->whole->units, "units", &err);
    if (!unit)
        return err;
    TRY(tt_builder_copy_text(build, &unit->name, name));
    tt_builder_set_subject(build, "unit", unit->name);
    tt_builder_report_error(build, "defined again; the first definition, in line %u, is used", first_line);
    unit->factor = 1;
    build->unit = build->whole->units.count - 1;
    return TUTTI_OK;
}

enum tutti_err tt_elements_unit(struct tt_builder *build, int tag)
{
    const char *name = tt_builder_take_attribute(build, (enum tt_builder_attribute)tag);
    tt_builder_set_subject(build, "unit", NULL);
    if (!name) {
        tt_builder_report_error(build, "found no %s, expected one",
                                tt_builder_attribute_name((enum tt_builder_attribute)tag));
        name = "";
    }
    TRY(tt_elements_unit_index(build, name, &build->unit));
    struct tt_unit_def *units = build->whole->units.items, *unit = &units[build->unit];
    if (unit->defined)
        TRY(elements_add_repeated_unit(build, name, unit->line));
    units = build->whole->units.items;
    unit = &units[build->unit];
    unit->defined = true;
    unit->line = build->line;
    unit->first_display = build->whole->displays.count;
    build->name = unit->name;
    return TUTTI_OK;
}

enum tutti_err tt_elements_base_unit(struct tt_builder *build, int tag)
{
    (void)tag;
    static const uint8_t exponents[8] = {ATTR_kg, ATTR_m, ATTR_s, ATTR_A, ATTR_K, ATTR_mol, ATTR_cd, ATTR_rad};
    struct tt_unit_def *units = build->whole->units.items, *unit = &units[build->unit];
    build->line = tt_xml_line(build->xml);
    unit->has_base = true;
    for (int i = 0; i < 8; i++)
        tt_builder_read_int32(build, exponents[i], &unit->exponents[i]);
    tt_builder_read_double(build, ATTR_factor, &unit->factor);
    tt_builder_read_double(build, ATTR_offset, &unit->offset);
    return TUTTI_OK;
}

static enum tutti_err display_key(struct tt_builder *build, uint32_t unit, const char *name)
{
    char digits[TUTTI_NUMBER_MAX];
    build->key.length = 0;
    tt_text_append_n(&build->key, digits, tt_number_write_uint(digits, unit));
    tt_text_append_n(&build->key, " ", 1);
    tt_text_append(&build->key, name);
    return build->key.failed ? tt_fail_memory() : TUTTI_OK;
}

uint32_t tt_elements_find_display(struct tt_builder *build, uint32_t unit, const char *name)
{
    if (unit == TUTTI_NONE || display_key(build, unit, name) != TUTTI_OK)
        return TUTTI_NONE;
    int64_t found = tt_map_find(&build->display_names, build->key.text);
    return found == TUTTI_MAP_NONE ? TUTTI_NONE : (uint32_t)found;
}

/* tag: the attribute with the name. 1.0 says `gain` where 2.0 and 3.0 say `factor`; its schema describes it the other
 * way round, but the text of the standard and the tools mean the same by both (57.3 for degrees of rad). */
enum tutti_err tt_elements_display_unit(struct tt_builder *build, int tag)
{
    enum tutti_err err;
    struct tt_builder_list *displays = &build->whole->displays;
    const char *name = tt_builder_take_attribute(build, (enum tt_builder_attribute)tag);
    struct tt_display_unit *display = tt_builder_push(build, displays, "display units", &err);
    if (!display)
        return err;
    struct tt_unit_def *units = build->whole->units.items, *unit = &units[build->unit];
    unit->displays++;
    tt_builder_set_subject(build, "unit", unit->name);
    if (!name)
        tt_builder_report_error(build, "found a display unit without a name, expected one");
    TRY(tt_builder_copy_text(build, &display->name, name ? name : ""));
    display->unit = build->unit;
    display->line = build->line;
    display->factor = 1;
    tt_builder_read_double(build, tag == ATTR_displayUnit ? ATTR_gain : ATTR_factor, &display->factor);
    tt_builder_read_double(build, ATTR_offset, &display->offset);
    if (build->desc->fmi == 3)
        tt_builder_read_bool(build, ATTR_inverse, &display->inverse);
    const char *key;
    int64_t earlier;
    TRY(display_key(build, build->unit, display->name));
    TRY(tt_builder_copy_text(build, &key, build->key.text));
    TRY(tt_map_add(&build->display_names, key, displays->count - 1, &earlier));
    if (earlier != TUTTI_MAP_NONE)
        tt_builder_report_error(build,
                                "display unit \"%s\" is defined again; the first definition, in line %u, is used",
                                display->name, ((struct tt_display_unit *)displays->items)[earlier].line);
    return TUTTI_OK;
}

struct tt_type_def *tt_elements_last_type(struct tt_builder *build)
{
    return (struct tt_type_def *)build->whole->types.items + build->whole->types.count - 1;
}

enum tutti_err tt_elements_new_type(struct tt_builder *build)
{
    enum tutti_err err;
    struct tt_builder_list *types = &build->whole->types;
    struct tt_type_def *type = tt_builder_push(build, types, "types", &err);
    if (!type)
        return err;
    const char *name = tt_builder_take_attribute(build, ATTR_name);
    build->items.count = 0;
    build->typed = false;
    type->unit = type->display_unit = TUTTI_NONE;
    TRY(tt_builder_copy_text(build, &type->name, name ? name : ""));
    TRY(tt_builder_copy_text(build, &type->description, tt_builder_take_attribute(build, ATTR_description)));
    tt_builder_set_subject(build, "type", type->name);
    type->line = build->line;
    if (!name)
        tt_builder_report_error(build, "found no name, expected one");
    int64_t earlier;
    TRY(tt_map_add(&build->type_names, type->name, types->count - 1, &earlier));
    if (earlier != TUTTI_MAP_NONE)
        tt_builder_report_error(build, "defined again; the first definition, in line %u, is used",
                                ((struct tt_type_def *)types->items)[earlier].line);
    return TUTTI_OK;
}

enum tutti_err tt_elements_type_kind(struct tt_builder *build, enum tt_type kind)
{
    struct tt_type_def *type = tt_elements_last_type(build);
    struct tt_builder_properties properties;
    if (build->typed) {
        tt_builder_report_error(build, "found a second type element, expected one; it is ignored");
        return TUTTI_OK;
    }
    build->typed = true;
    type->type = kind;
    if (tt_type_is_float(kind) || tt_type_is_integer(kind) || kind == TUTTI_TYPE_ENUMERATION)
        TRY(tt_builder_copy_text(build, &type->quantity, tt_builder_take_attribute(build, ATTR_quantity)));
    tt_elements_read_properties(build, kind, &properties);
    if (properties.has_bounds) {
        struct tt_bounds *bounds = tt_arena_alloc(&build->desc->arena, sizeof *bounds);
        if (!bounds)
            return tt_fail_memory();
        *bounds = properties.bounds;
        type->bounds = bounds;
    }
    if (properties.unit)
        TRY(tt_elements_unit_index(build, properties.unit, &type->unit));
    if (!properties.display_unit)
        return TUTTI_OK;
    type->display_unit = tt_elements_find_display(build, type->unit, properties.display_unit);
    return type->display_unit != TUTTI_NONE
               ? TUTTI_OK
               : tt_elements_defer_name(build, PENDING_TYPE_DISPLAY, build->whole->types.count - 1,
                                        properties.display_unit);
}

enum tutti_err tt_elements_finish_type(struct tt_builder *build)
{
    struct tt_type_def *type = tt_elements_last_type(build);
    uint32_t n = build->items.count;
    build->line = type->line;
    if (!build->typed)
        tt_builder_report_error(build, "found no type element, expected one such as <%s>",
                                build->desc->fmi == 1 ? "RealType" : "Real");
    if (n == 0)
        return TUTTI_OK;
    struct tt_enum_item *items = tt_arena_array(&build->desc->arena, n, sizeof *items);
    if (!items)
        return tt_fail_memory();
    type->items = memcpy(items, build->items.items, n * sizeof *items);
    type->item_count = n;
    return TUTTI_OK;
}

enum tutti_err tt_elements_item(struct tt_builder *build, int tag)
{
    (void)tag;
    enum tutti_err err;
    struct tt_enum_item *item = tt_builder_push(build, &build->items, "items of an enumeration", &err);
    if (!item)
        return err;
    const char *name = tt_builder_take_attribute(build, ATTR_name), *value;
    build->line = tt_xml_line(build->xml);
    if (!name)
        tt_builder_report_error(build, "found an item without a name, expected one");
    TRY(tt_builder_copy_text(build, &item->name, name ? name : ""));
    TRY(tt_builder_copy_text(build, &item->description, tt_builder_take_attribute(build, ATTR_description)));
    item->value = build->items.count; /* 1.0 numbers them from 1 on */
    if (build->desc->fmi == 1)
        return TUTTI_OK;
    value = tt_builder_take_attribute(build, ATTR_value);
    if (!value || !tt_number_read_int(value, strlen(value), &item->value))
        tt_builder_report_error(build, "item \"%s\" has the value \"%.80s\", expected a whole number", item->name,
                                value ? value : "");
    return TUTTI_OK;
}

enum tutti_err tt_elements_interface(struct tt_builder *build, int tag)
{
    static const char *const names[] = {"CoSimulation", "ModelExchange", "ScheduledExecution"};
    struct tt_interface *interface = &build->desc->interfaces[tag];
    tt_builder_set_subject(build, names[tag], NULL);
    if (interface->present)
        tt_builder_report_error(build, "found it twice, expected one; the first was in line %u", interface->line);
    interface->present = true;
    interface->line = build->line;
    tt_builder_read_flag(build, ATTR_needsExecutionTool, &interface->flags, TUTTI_NEEDS_TOOL);
    tt_builder_read_flag(build, ATTR_canBeInstantiatedOnlyOncePerProcess, &interface->flags, TUTTI_ONCE_PER_PROCESS);
    return tt_builder_copy_text(build, &interface->model_identifier,
                                tt_builder_take_attribute(build, ATTR_modelIdentifier));
}

static enum tutti_err elements_push_text(struct tt_builder *build, struct tt_builder_list *list, const char *text,
                                         const char *what)
{
    enum tutti_err err;
    const char **slot = tt_builder_push(build, list, what, &err);
    return slot ? tt_builder_copy_text(build, slot, text ? text : "") : err;
}

enum tutti_err tt_elements_category(struct tt_builder *build, int tag)
{
    (void)tag;
    const char *name = tt_builder_take_attribute(build, ATTR_name);
    tt_builder_take_attribute(build, ATTR_description);
    tt_builder_set_subject(build, "log category", NULL);
    if (!name)
        tt_builder_report_error(build, "found no name, expected one");
    return elements_push_text(build, &build->whole->categories, name, "log categories");
}

enum tutti_err tt_elements_annotation(struct tt_builder *build, int tag)
{
    const char *name = tt_builder_take_attribute(build, (enum tt_builder_attribute)tag);
    tt_builder_set_subject(build, "annotation", NULL);
    if (!name)
        tt_builder_report_error(build, "found no %s, expected one",
                                tt_builder_attribute_name((enum tt_builder_attribute)tag));
    return elements_push_text(build, &build->whole->annotations, name, "annotations");
}

enum tutti_err tt_elements_experiment(struct tt_builder *build, int tag)
{
    (void)tag;
    struct tt_experiment *experiment = &build->desc->experiment;
    tt_builder_set_subject(build, "DefaultExperiment", NULL);
    experiment->has_start |= tt_builder_read_double(build, ATTR_startTime, &experiment->start);
    experiment->has_stop |= tt_builder_read_double(build, ATTR_stopTime, &experiment->stop);
    experiment->has_tolerance |= tt_builder_read_double(build, ATTR_tolerance, &experiment->tolerance);
    if (build->desc->fmi > 1)
        experiment->has_step |= tt_builder_read_double(build, ATTR_stepSize, &experiment->step);
    experiment->line = build->line;
    return TUTTI_OK;
}
