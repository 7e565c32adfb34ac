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

/* A unit defined twice gets a separate entry without a name, so that the first definition stays unchanged. */
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

/* tag: the attribute with the name. 1.0 uses `gain` where 2.0 and 3.0 use `factor`; its schema describes the inverse,
 * but the text of the standard and the tools give both one meaning (57.3 for degrees of rad). */
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

/* Variables and the entries of the model structure: the shared side of them. */

enum tutti_err tt_elements_defer_name(struct tt_builder *build, enum tt_builder_pending_kind kind, uint32_t owner,
                                      const char *name)
{
    enum tutti_err err;
    struct tt_builder_pending *pending = tt_builder_push(build, &build->pending, "references", &err);
    if (!pending)
        return err;
    pending->kind = kind;
    pending->owner = owner;
    pending->line = build->line;
    return tt_builder_copy_text(build, &pending->name, name);
}

struct tt_var *tt_elements_last_var(struct tt_builder *build)
{
    return (struct tt_var *)build->whole->vars.items + build->whole->vars.count - 1;
}

enum tutti_err tt_elements_new_var(struct tt_builder *build)
{
    enum tutti_err err;
    struct tt_var *var = tt_builder_push(build, &build->whole->vars, "variables", &err);
    if (!var)
        return err;
    const char *name = tt_builder_take_attribute(build, ATTR_name);
    char number[TUTTI_NUMBER_MAX + 2] = "#";
    if (!name)
        number[1 + tt_number_write_uint(number + 1, build->whole->vars.count)] = '\0';
    build->typed = false;
    build->strings.count = build->dimensions.count = 0;
    var->type_def = var->unit = var->display_unit = var->derivative_of = var->previous = TUTTI_NONE;
    var->reference = TUTTI_NONE;
    var->multiple_set = true;
    TRY(tt_builder_copy_text(build, &var->name, name ? name : number));
    TRY(tt_builder_copy_text(build, &var->description, tt_builder_take_attribute(build, ATTR_description)));
    tt_builder_set_subject(build, "variable", var->name);
    var->line = build->line;
    if (!name)
        tt_builder_report_error(build, "found no name, expected one");
    if (!build->values[ATTR_valueReference])
        tt_builder_report_error(build, "found no valueReference, expected one");
    tt_builder_read_uint32(build, ATTR_valueReference, &var->reference);
    return TUTTI_OK;
}

enum tt_initial tt_elements_default_initial(int fmi, enum tt_type type, enum tt_causality causality,
                                            enum tt_variability variability)
{
    if (causality == TUTTI_INDEPENDENT || type == TUTTI_TYPE_CLOCK || (causality == TUTTI_INPUT && fmi < 3))
        return TUTTI_INITIAL_NONE;
    if (causality == TUTTI_INPUT || causality == TUTTI_PARAMETER || causality == TUTTI_STRUCTURAL_PARAMETER ||
        variability == TUTTI_CONSTANT)
        return TUTTI_EXACT;
    return TUTTI_CALCULATED;
}

static bool read_bound(struct tt_builder *build, enum tt_type type, enum tt_builder_attribute id, double *out)
{
    const char *text = build->values[id];
    if (!text)
        return false;
    int64_t whole;
    uint64_t large;
    size_t n = strlen(text);
    if (!tt_type_is_float(type) && !tt_number_read_int(text, n, &whole) && !tt_number_read_uint(text, n, &large))
        tt_builder_report_error(build, "%s is \"%.80s\", expected a whole number", tt_builder_attribute_name(id), text);
    return tt_builder_read_double(build, id, out);
}

/* Many tools write 0 where they do not know a nominal value; solvers would divide by it. */
static void fix_nominal(struct tt_builder *build, struct tt_bounds *bounds)
{
    if (bounds->nominal > 0 && isfinite(bounds->nominal))
        return;
    double used = bounds->nominal < 0 && isfinite(bounds->nominal) ? -bounds->nominal : 1;
    if (build->desc->fmi == 2)
        tt_builder_report_error(build, "nominal is %g, expected a number greater than 0; %g is used", bounds->nominal,
                                used);
    else
        tt_builder_report_warning(build, "nominal is %g, expected a number greater than 0; %g is used", bounds->nominal,
                                  used);
    bounds->nominal = used;
}

void tt_elements_read_properties(struct tt_builder *build, enum tt_type type, struct tt_builder_properties *properties)
{
    struct tt_bounds *bounds = &properties->bounds;
    *properties = (struct tt_builder_properties){.bounds = {.min = -INFINITY, .max = INFINITY, .nominal = 1}};
    if (tt_type_is_float(type)) {
        properties->unit = tt_builder_take_attribute(build, ATTR_unit);
        properties->display_unit = tt_builder_take_attribute(build, ATTR_displayUnit);
        properties->has_relative = tt_builder_read_bool(build, ATTR_relativeQuantity, &bounds->relative);
        if (build->desc->fmi > 1)
            properties->has_unbounded = tt_builder_read_bool(build, ATTR_unbounded, &bounds->unbounded);
        bounds->has_nominal = tt_builder_read_double(build, ATTR_nominal, &bounds->nominal);
        if (bounds->has_nominal)
            fix_nominal(build, bounds);
    }
    if (tt_type_is_float(type) || tt_type_is_integer(type) || type == TUTTI_TYPE_ENUMERATION) {
        bounds->has_min = read_bound(build, type, ATTR_min, &bounds->min);
        bounds->has_max = read_bound(build, type, ATTR_max, &bounds->max);
        tt_builder_take_attribute(build, ATTR_quantity);
    }
    properties->has_bounds = bounds->has_min || bounds->has_max || bounds->has_nominal ||
                             (properties->has_unbounded && bounds->unbounded) ||
                             (properties->has_relative && bounds->relative);
}

bool tt_elements_var_kind(struct tt_builder *build, enum tt_type type, struct tt_builder_properties *properties)
{
    if (build->typed) {
        tt_builder_report_error(build, "found a second type element, expected one; it is ignored");
        return false;
    }
    build->typed = true;
    tt_elements_last_var(build)->type = (uint8_t)type;
    tt_elements_read_properties(build, type, properties);
    properties->declared_type = tt_builder_take_attribute(build, ATTR_declaredType);
    properties->start = tt_builder_take_attribute(build, ATTR_start);
    return true;
}

void tt_elements_check_kind(struct tt_builder *build)
{
    if (!build->typed)
        tt_builder_report_error(build, "found no type element, expected one such as <Real>; it is taken for a Real");
}

static void fill_bounds(struct tt_bounds *bounds, const struct tt_bounds *from)
{
    if (!bounds->has_min && from->has_min) {
        bounds->has_min = true;
        bounds->min = from->min;
    }
    if (!bounds->has_max && from->has_max) {
        bounds->has_max = true;
        bounds->max = from->max;
    }
    if (!bounds->has_nominal && from->has_nominal) {
        bounds->has_nominal = true;
        bounds->nominal = from->nominal;
    }
}

void tt_elements_inherit_type(struct tt_var *var, const struct tt_type_def *type)
{
    if (type->type != var->type)
        return;
    if (var->unit == TUTTI_NONE)
        var->unit = type->unit;
    if (var->display_unit == TUTTI_NONE && var->unit == type->unit)
        var->display_unit = type->display_unit;
    if (!var->bounds)
        var->bounds = type->bounds;
    else if (type->bounds)
        fill_bounds((struct tt_bounds *)var->bounds, type->bounds); /* our own copy in the arena */
}

/* Own bounds over those of the type. */
static enum tutti_err apply_bounds(struct tt_builder *build, struct tt_var *var,
                                   const struct tt_builder_properties *properties, const struct tt_type_def *type)
{
    const struct tt_bounds *from = type && type->type == var->type ? type->bounds : NULL;
    bool differs = from && ((properties->has_unbounded && properties->bounds.unbounded != from->unbounded) ||
                            (properties->has_relative && properties->bounds.relative != from->relative));
    if (!properties->has_bounds && !differs)
        return TUTTI_OK;
    struct tt_bounds *bounds = tt_arena_alloc(&build->desc->arena, sizeof *bounds);
    if (!bounds)
        return tt_fail_memory();
    *bounds = properties->bounds;
    if (from && !properties->has_unbounded)
        bounds->unbounded = from->unbounded;
    if (from && !properties->has_relative)
        bounds->relative = from->relative;
    var->bounds = bounds;
    return TUTTI_OK;
}

enum tutti_err tt_elements_apply_properties(struct tt_builder *build, struct tt_var *var,
                                            const struct tt_builder_properties *properties)
{
    const struct tt_type_def *type = NULL;
    uint32_t index = build->whole->vars.count - 1;
    if (properties->declared_type) {
        int64_t found = tt_map_find(&build->type_names, properties->declared_type);
        if (found == TUTTI_MAP_NONE) {
            TRY(tt_elements_defer_name(build, PENDING_VAR_TYPE, index, properties->declared_type));
        } else {
            var->type_def = (uint32_t)found;
            type = (struct tt_type_def *)build->whole->types.items + found;
        }
    }
    TRY(apply_bounds(build, var, properties, type));
    if (properties->unit)
        TRY(tt_elements_unit_index(build, properties->unit, &var->unit));
    if (properties->display_unit) {
        uint32_t unit = var->unit == TUTTI_NONE && type ? type->unit : var->unit;
        var->display_unit = tt_elements_find_display(build, unit, properties->display_unit);
        if (var->display_unit == TUTTI_NONE)
            TRY(tt_elements_defer_name(build, PENDING_VAR_DISPLAY, index, properties->display_unit));
    }
    if (type)
        tt_elements_inherit_type(var, type);
    return properties->start ? tt_builder_read_start(build, var, properties->start) : TUTTI_OK;
}

struct tt_unknowns *tt_elements_list_of(struct tt_description *desc, enum tt_builder_unknown_list list)
{
    switch (list) {
    case LIST_OUTPUTS: return &desc->outputs;
    case LIST_DERIVATIVES: return &desc->derivatives;
    case LIST_INITIAL: return &desc->initial_unknowns;
    case LIST_CLOCKED: return &desc->clocked_states;
    default: return &desc->event_indicators;
    }
}

enum tutti_err tt_elements_variables(struct tt_builder *build, int tag)
{
    (void)tag;
    build->has_variables = true;
    return TUTTI_OK;
}

enum tutti_err tt_elements_structure(struct tt_builder *build, int tag)
{
    (void)tag;
    build->has_structure = true;
    return TUTTI_OK;
}

enum tutti_err tt_elements_unknown_list(struct tt_builder *build, int tag)
{
    tt_elements_list_of(build->desc, (enum tt_builder_unknown_list)tag)->given = true;
    return TUTTI_OK;
}

/* Reads dependenciesKind; false if it does not fit the dependencies. */
static bool read_kinds(const char *text, uint8_t *kinds, uint32_t count)
{
    static const char *const words[] = {"dependent", "constant", "fixed", "tunable", "discrete"};
    uint32_t i = 0;
    for (const char *c = text;;) {
        c += strspn(c, " \t\r\n");
        if (!*c)
            return i == count;
        size_t n = strcspn(c, " \t\r\n");
        unsigned w = 0;
        while (w < 5 && !(strlen(words[w]) == n && memcmp(words[w], c, n) == 0))
            w++;
        if (i == count || w == 5)
            return false;
        kinds[i++] = (uint8_t)w;
        c += n;
    }
}

static enum tutti_err read_dependencies(struct tt_builder *build, struct tt_unknown *unknown)
{
    const char *text = tt_builder_take_attribute(build, ATTR_dependencies),
               *kinds = tt_builder_take_attribute(build, ATTR_dependenciesKind);
    bool good;
    if (!text) {
        if (kinds)
            tt_builder_report_error(build, "found dependenciesKind without dependencies; it is ignored");
        return TUTTI_OK;
    }
    TRY(tt_builder_read_numbers(build, text, &good));
    if (!good) {
        tt_builder_report_error(build, "dependencies are \"%.80s\", expected a list of whole numbers", text);
        return TUTTI_OK;
    }
    uint32_t n = build->words.count;
    build->dependency_count += n;
    if (build->dependency_count > TUTTI_DEPENDENCY_LIMIT)
        return tt_xml_fail(build->xml, TUTTI_ERR_LIMIT, "more than %d dependencies", TUTTI_DEPENDENCY_LIMIT);
    unknown->has_dependencies = true;
    unknown->dependency_count = n;
    if (n) {
        uint32_t *dependencies = tt_arena_array(&build->desc->arena, n, sizeof *dependencies);
        if (!dependencies)
            return tt_fail_memory();
        unknown->dependencies = memcpy(dependencies, build->words.items, n * sizeof *dependencies);
    }
    if (!kinds)
        return TUTTI_OK;
    uint8_t *codes = tt_arena_alloc(&build->desc->arena, n + 1);
    if (!codes)
        return tt_fail_memory();
    if (read_kinds(kinds, codes, n))
        unknown->kinds = codes;
    else
        tt_builder_report_error(
            build,
            "dependenciesKind is \"%.80s\", expected %u of dependent, constant, fixed, tunable, discrete, "
            "as many as dependencies; it is ignored",
            kinds, n);
    return TUTTI_OK;
}

enum tutti_err tt_elements_unknown(struct tt_builder *build, int tag)
{
    static const char *const names[] = {"output", "derivative", "initial unknown", "clocked state", "event indicator"};
    enum tutti_err err;
    enum tt_builder_attribute id = build->desc->fmi == 2 ? ATTR_index : ATTR_valueReference;
    uint32_t reference;
    tt_builder_set_subject(build, names[tag], NULL);
    bool missing = !build->values[id];
    if (!tt_builder_read_uint32(build, id, &reference)) {
        if (missing)
            tt_builder_report_error(build, "found no %s, expected one", tt_builder_attribute_name(id));
        tt_builder_take_attribute(build, ATTR_dependencies);
        tt_builder_take_attribute(build, ATTR_dependenciesKind);
        return TUTTI_OK;
    }
    struct tt_unknown *unknown = tt_builder_push(build, &build->whole->unknowns[tag], "unknowns", &err);
    if (!unknown)
        return err;
    unknown->variable = reference;
    unknown->line = build->line;
    return read_dependencies(build, unknown);
}
