/* SPDX-License-Identifier: MIT */
/* Variables and the entries of the model structure: the shared side of them. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "description/desc_build.h"

enum tutti_err tutti_build_postpone(struct tutti_build *build, enum tutti_pending_kind kind, uint32_t owner,
                                    const char *name)
{
    enum tutti_err err;
    struct tutti_pending *pending = tutti_build_push(build, &build->pending, "references", &err);
    if (!pending)
        return err;
    pending->kind = kind;
    pending->owner = owner;
    pending->line = build->line;
    return tutti_build_text(build, &pending->name, name);
}

struct tutti_var *tutti_build_var(struct tutti_build *build)
{
    return (struct tutti_var *)build->whole->vars.items + build->whole->vars.count - 1;
}

enum tutti_err tutti_build_new_var(struct tutti_build *build)
{
    enum tutti_err err;
    struct tutti_var *var = tutti_build_push(build, &build->whole->vars, "variables", &err);
    if (!var)
        return err;
    const char *name = tutti_build_take(build, ATTR_name);
    char number[TUTTI_NUMBER_MAX + 2] = "#";
    if (!name)
        number[1 + tutti_number_write_uint(number + 1, build->whole->vars.count)] = '\0';
    build->typed = false;
    build->strings.count = build->dimensions.count = 0;
    var->type_def = var->unit = var->display_unit = var->derivative_of = var->previous = TUTTI_NONE;
    var->reference = TUTTI_NONE;
    var->multiple_set = true;
    TRY(tutti_build_text(build, &var->name, name ? name : number));
    TRY(tutti_build_text(build, &var->description, tutti_build_take(build, ATTR_description)));
    tutti_build_subject(build, "variable", var->name);
    var->line = build->line;
    if (!name)
        tutti_build_error(build, "found no name, expected one");
    if (!build->values[ATTR_valueReference])
        tutti_build_error(build, "found no valueReference, expected one");
    tutti_build_uint32(build, ATTR_valueReference, &var->reference);
    return TUTTI_OK;
}

enum tutti_initial tutti_build_default_initial(int fmi, enum tutti_type type, enum tutti_causality causality,
                                               enum tutti_variability variability)
{
    if (causality == TUTTI_INDEPENDENT || type == TUTTI_TYPE_CLOCK || (causality == TUTTI_INPUT && fmi < 3))
        return TUTTI_INITIAL_NONE;
    if (causality == TUTTI_INPUT || causality == TUTTI_PARAMETER || causality == TUTTI_STRUCTURAL_PARAMETER ||
        variability == TUTTI_CONSTANT)
        return TUTTI_EXACT;
    return TUTTI_CALCULATED;
}

static bool take_bound(struct tutti_build *build, enum tutti_type type, enum tutti_attribute id, double *out)
{
    const char *text = build->values[id];
    if (!text)
        return false;
    int64_t whole;
    uint64_t large;
    size_t n = strlen(text);
    if (!tutti_type_is_float(type) && !tutti_number_read_int(text, n, &whole) &&
        !tutti_number_read_uint(text, n, &large))
        tutti_build_error(build, "%s is \"%.80s\", expected a whole number", tutti_attribute_name(id), text);
    return tutti_build_double(build, id, out);
}

/* Many tools write 0 where they do not know a nominal value; solvers would divide by it. */
static void mend_nominal(struct tutti_build *build, struct tutti_bounds *bounds)
{
    if (bounds->nominal > 0 && isfinite(bounds->nominal))
        return;
    double used = bounds->nominal < 0 && isfinite(bounds->nominal) ? -bounds->nominal : 1;
    if (build->desc->fmi == 2)
        tutti_build_error(build, "nominal is %g, expected a number greater than 0; %g is used", bounds->nominal, used);
    else
        tutti_build_warning(build, "nominal is %g, expected a number greater than 0; %g is used", bounds->nominal,
                            used);
    bounds->nominal = used;
}

void tutti_build_properties(struct tutti_build *build, enum tutti_type type, struct tutti_properties *properties)
{
    struct tutti_bounds *bounds = &properties->bounds;
    *properties = (struct tutti_properties){.bounds = {.min = -INFINITY, .max = INFINITY, .nominal = 1}};
    if (tutti_type_is_float(type)) {
        properties->unit = tutti_build_take(build, ATTR_unit);
        properties->display_unit = tutti_build_take(build, ATTR_displayUnit);
        properties->has_relative = tutti_build_bool(build, ATTR_relativeQuantity, &bounds->relative);
        if (build->desc->fmi > 1)
            properties->has_unbounded = tutti_build_bool(build, ATTR_unbounded, &bounds->unbounded);
        bounds->has_nominal = tutti_build_double(build, ATTR_nominal, &bounds->nominal);
        if (bounds->has_nominal)
            mend_nominal(build, bounds);
    }
    if (tutti_type_is_float(type) || tutti_type_is_integer(type) || type == TUTTI_TYPE_ENUMERATION) {
        bounds->has_min = take_bound(build, type, ATTR_min, &bounds->min);
        bounds->has_max = take_bound(build, type, ATTR_max, &bounds->max);
        tutti_build_take(build, ATTR_quantity);
    }
    properties->has_bounds = bounds->has_min || bounds->has_max || bounds->has_nominal ||
                             (properties->has_unbounded && bounds->unbounded) ||
                             (properties->has_relative && bounds->relative);
}

bool tutti_build_var_kind(struct tutti_build *build, enum tutti_type type, struct tutti_properties *properties)
{
    if (build->typed) {
        tutti_build_error(build, "found a second type element, expected one; it is ignored");
        return false;
    }
    build->typed = true;
    tutti_build_var(build)->type = (uint8_t)type;
    tutti_build_properties(build, type, properties);
    properties->declared_type = tutti_build_take(build, ATTR_declaredType);
    properties->start = tutti_build_take(build, ATTR_start);
    return true;
}

void tutti_build_check_kind(struct tutti_build *build)
{
    if (!build->typed)
        tutti_build_error(build, "found no type element, expected one such as <Real>; it is taken for a Real");
}

static void fill_bounds(struct tutti_bounds *bounds, const struct tutti_bounds *from)
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

void tutti_build_inherit(struct tutti_var *var, const struct tutti_type_def *type)
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
        fill_bounds((struct tutti_bounds *)var->bounds, type->bounds); /* our own copy in the arena */
}

/* Own bounds over those of the type. */
static enum tutti_err apply_bounds(struct tutti_build *build, struct tutti_var *var,
                                   const struct tutti_properties *properties, const struct tutti_type_def *type)
{
    const struct tutti_bounds *from = type && type->type == var->type ? type->bounds : NULL;
    bool differs = from && ((properties->has_unbounded && properties->bounds.unbounded != from->unbounded) ||
                            (properties->has_relative && properties->bounds.relative != from->relative));
    if (!properties->has_bounds && !differs)
        return TUTTI_OK;
    struct tutti_bounds *bounds = tutti_arena_alloc(&build->desc->arena, sizeof *bounds);
    if (!bounds)
        return tutti_fail_memory();
    *bounds = properties->bounds;
    if (from && !properties->has_unbounded)
        bounds->unbounded = from->unbounded;
    if (from && !properties->has_relative)
        bounds->relative = from->relative;
    var->bounds = bounds;
    return TUTTI_OK;
}

enum tutti_err tutti_build_apply(struct tutti_build *build, struct tutti_var *var,
                                 const struct tutti_properties *properties)
{
    const struct tutti_type_def *type = NULL;
    uint32_t index = build->whole->vars.count - 1;
    if (properties->declared_type) {
        int64_t found = tutti_map_find(&build->type_names, properties->declared_type);
        if (found == TUTTI_MAP_NONE) {
            TRY(tutti_build_postpone(build, PENDING_VAR_TYPE, index, properties->declared_type));
        } else {
            var->type_def = (uint32_t)found;
            type = (struct tutti_type_def *)build->whole->types.items + found;
        }
    }
    TRY(apply_bounds(build, var, properties, type));
    if (properties->unit)
        TRY(tutti_build_unit_index(build, properties->unit, &var->unit));
    if (properties->display_unit) {
        uint32_t unit = var->unit == TUTTI_NONE && type ? type->unit : var->unit;
        var->display_unit = tutti_build_find_display(build, unit, properties->display_unit);
        if (var->display_unit == TUTTI_NONE)
            TRY(tutti_build_postpone(build, PENDING_VAR_DISPLAY, index, properties->display_unit));
    }
    if (type)
        tutti_build_inherit(var, type);
    return properties->start ? tutti_build_start(build, var, properties->start) : TUTTI_OK;
}

struct tutti_unknowns *tutti_build_unknowns(struct tutti_desc *desc, enum tutti_unknown_list list)
{
    switch (list) {
    case LIST_OUTPUTS: return &desc->outputs;
    case LIST_DERIVATIVES: return &desc->derivatives;
    case LIST_INITIAL: return &desc->initial_unknowns;
    case LIST_CLOCKED: return &desc->clocked_states;
    default: return &desc->event_indicators;
    }
}

enum tutti_err tutti_build_variables(struct tutti_build *build, int tag)
{
    (void)tag;
    build->has_variables = true;
    return TUTTI_OK;
}

enum tutti_err tutti_build_structure(struct tutti_build *build, int tag)
{
    (void)tag;
    build->has_structure = true;
    return TUTTI_OK;
}

enum tutti_err tutti_build_unknown_list(struct tutti_build *build, int tag)
{
    tutti_build_unknowns(build->desc, (enum tutti_unknown_list)tag)->given = true;
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

static enum tutti_err take_dependencies(struct tutti_build *build, struct tutti_unknown *unknown)
{
    const char *text = tutti_build_take(build, ATTR_dependencies),
               *kinds = tutti_build_take(build, ATTR_dependenciesKind);
    bool good;
    if (!text) {
        if (kinds)
            tutti_build_error(build, "found dependenciesKind without dependencies; it is ignored");
        return TUTTI_OK;
    }
    TRY(tutti_build_numbers(build, text, &good));
    if (!good) {
        tutti_build_error(build, "dependencies are \"%.80s\", expected a list of whole numbers", text);
        return TUTTI_OK;
    }
    uint32_t n = build->words.count;
    build->dependency_count += n;
    if (build->dependency_count > TUTTI_DEPENDENCY_LIMIT)
        return tutti_xml_fail(build->xml, TUTTI_ERR_LIMIT, "more than %d dependencies", TUTTI_DEPENDENCY_LIMIT);
    unknown->has_dependencies = true;
    unknown->dependency_count = n;
    if (n) {
        uint32_t *dependencies = tutti_arena_array(&build->desc->arena, n, sizeof *dependencies);
        if (!dependencies)
            return tutti_fail_memory();
        unknown->dependencies = memcpy(dependencies, build->words.items, n * sizeof *dependencies);
    }
    if (!kinds)
        return TUTTI_OK;
    uint8_t *codes = tutti_arena_alloc(&build->desc->arena, n + 1);
    if (!codes)
        return tutti_fail_memory();
    if (read_kinds(kinds, codes, n))
        unknown->kinds = codes;
    else
        tutti_build_error(
            build,
            "dependenciesKind is \"%.80s\", expected %u of dependent, constant, fixed, tunable, discrete, "
            "as many as dependencies; it is ignored",
            kinds, n);
    return TUTTI_OK;
}

enum tutti_err tutti_build_unknown(struct tutti_build *build, int tag)
{
    static const char *const names[] = {"output", "derivative", "initial unknown", "clocked state", "event indicator"};
    enum tutti_err err;
    enum tutti_attribute id = build->desc->fmi == 2 ? ATTR_index : ATTR_valueReference;
    uint32_t reference;
    tutti_build_subject(build, names[tag], NULL);
    bool missing = !build->values[id];
    if (!tutti_build_uint32(build, id, &reference)) {
        if (missing)
            tutti_build_error(build, "found no %s, expected one", tutti_attribute_name(id));
        tutti_build_take(build, ATTR_dependencies);
        tutti_build_take(build, ATTR_dependenciesKind);
        return TUTTI_OK;
    }
    struct tutti_unknown *unknown = tutti_build_push(build, &build->whole->unknowns[tag], "unknowns", &err);
    if (!unknown)
        return err;
    unknown->variable = reference;
    unknown->line = build->line;
    return take_dependencies(build, unknown);
}
