/* SPDX-License-Identifier: MIT */
/* Variables and the entries of the model structure: the shared side of them. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "fmu/description/builder.h"

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
