/* SPDX-License-Identifier: MIT */
/* describe_check.c - finds mistakes in a model's tables when the FMU is built, so that none is left for its users. */
#include "describe.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int mistakes;

static void mistake(const char *where, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void mistake(const char *where, const char *format, ...)
{
    va_list list;
    fprintf(stderr, "%s: %s: ", kit_model.name ? kit_model.name : "model", where);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    mistakes++;
}

static bool is_identifier(const char *name)
{
    if (!name || !(isalpha((unsigned char)*name) || *name == '_'))
        return false;
    while (isalnum((unsigned char)*name) || *name == '_')
        name++;
    return *name == '\0';
}

static const struct kit_unit *find_unit(const struct kit_model *model, const char *name)
{
    for (size_t i = 0; i < model->unit_count; i++)
        if (strcmp(model->units[i].name, name) == 0)
            return &model->units[i];
    return NULL;
}

static void check_unit(const struct kit_model *model, const char *where, const char *unit, const char *display)
{
    const struct kit_unit *found = unit ? find_unit(model, unit) : NULL;
    if (unit && !found)
        mistake(where, "there is no unit \"%s\"", unit);
    if (display && !unit)
        mistake(where, "a display unit needs a unit");
    for (size_t i = 0; display && found && i <= KIT_COUNT(found->display); i++) {
        if (i == KIT_COUNT(found->display) || !found->display[i].name) {
            mistake(where, "unit \"%s\" has no display unit \"%s\"", unit, display);
            break;
        }
        if (strcmp(found->display[i].name, display) == 0)
            break;
    }
}

static void check_references(const struct kit_model *model, const struct kit_var *var)
{
    const char *name = kit_var_name(var);
    const struct kit_float_type *type = NULL;
    for (size_t i = 0; var->declared_type && i < model->type_count; i++)
        if (strcmp(model->types[i].name, var->declared_type) == 0)
            type = &model->types[i];
    if (var->declared_type && (!type || var->type != KIT_FLOAT64))
        mistake(name, "there is no such type \"%s\" for it", var->declared_type);
    const char *unit = var->unit ? var->unit : type ? type->unit : NULL;
    check_unit(model, name, unit, var->display_unit);
    for (const struct kit_alias *alias = var->aliases; alias && alias->name; alias++)
        check_unit(model, alias->name, unit, alias->display_unit);
    bool found = false;
    for (size_t i = 0; var->enumeration && i < model->enumeration_count; i++)
        found = found || strcmp(model->enumerations[i].name, var->enumeration) == 0;
    if (var->enumeration && (!found || var->type != KIT_INT64))
        mistake(name, "an Enumeration needs an int64_t and an entry \"%s\" in the enumerations", var->enumeration);
}

static void check_derivative(const struct kit_model *model, const struct kit_var *var)
{
    const char *name = kit_var_name(var);
    size_t vr = kit_var_find(model, var->derivative, strlen(var->derivative));
    const struct kit_var *other = vr > 0 && vr <= model->variable_count ? &model->variables[vr - 1] : NULL;
    if (!other || other->type != KIT_FLOAT64 || other->derivative || other->causality == KIT_INPUT ||
        other->causality == KIT_PARAMETER)
        mistake(name, "\"%s\" cannot be its derivative: that is a Float64 variable of its own", var->derivative);
    else if (kit_var_count(model, var, NULL) != kit_var_count(model, other, NULL))
        mistake(name, "its derivative has another size");
    if (var->type != KIT_FLOAT64 || (var->causality != KIT_LOCAL && var->causality != KIT_OUTPUT))
        mistake(name, "a state is a local or output Float64 variable");
    if (!model->derivatives)
        mistake(name, "a state needs the function .derivatives");
}

static void check_dims(const struct kit_model *model, const struct kit_var *var)
{
    const char *rest = var->dims ? var->dims : "", *word;
    size_t length;
    while (kit_next_word(&rest, &word, &length)) {
        if (isdigit((unsigned char)*word))
            continue;
        size_t vr = kit_var_find(model, word, length);
        if (vr == 0 || vr == SIZE_MAX || model->variables[vr - 1].causality != KIT_STRUCTURAL ||
            model->variables[vr - 1].type != KIT_UINT64)
            mistake(kit_var_name(var), "extent \"%.*s\" is no structural UInt64 parameter", (int)length, word);
    }
    size_t count = kit_var_count(model, var, NULL);
    if (count == 0 || count == SIZE_MAX)
        mistake(kit_var_name(var), "extents must not be 0 at the start");
}

static void check_depends(const struct kit_model *model, const struct kit_var *var)
{
    static const char *const kinds[] = {"constant", "fixed", "tunable", "discrete", "dependent"};
    const char *rest = var->depends ? var->depends : "", *word;
    size_t length;
    while (kit_next_word(&rest, &word, &length)) {
        const char *colon = memchr(word, ':', length);
        size_t vr = kit_var_find(model, word, colon ? (size_t)(colon - word) : length);
        const struct kit_var *other = vr > 0 && vr <= model->variable_count ? &model->variables[vr - 1] : NULL;
        if (vr != 0 && (!other || (other->causality != KIT_INPUT && other->causality != KIT_PARAMETER &&
                                   other->causality != KIT_STRUCTURAL && !other->derivative)))
            mistake(kit_var_name(var), "depends on \"%.*s\", which is no input, state, parameter or time", (int)length,
                    word);
        bool known = !colon;
        for (size_t i = 0; i < KIT_COUNT(kinds) && colon; i++)
            known = known || (strlen(kinds[i]) == (size_t)(word + length - colon - 1) &&
                              memcmp(kinds[i], colon + 1, strlen(kinds[i])) == 0);
        if (!known)
            mistake(kit_var_name(var), "unknown kind of dependency \"%.*s\"", (int)length, word);
    }
}

static void check_start(const struct kit_model *model, const struct kit_var *var)
{
    const char *name = kit_var_name(var);
    enum kit_initial initial = kit_var_initial(var);
    bool known = (var->causality == KIT_INPUT && var->type != KIT_CLOCK) || var->causality == KIT_PARAMETER ||
                 var->causality == KIT_STRUCTURAL || kit_var_variability(var) == KIT_CONSTANT || initial == KIT_EXACT ||
                 initial == KIT_APPROX;
    if (known && !var->start)
        mistake(name, "needs a start value");
    if (initial == KIT_INITIAL_CALCULATED && var->start)
        mistake(name, "is calculated and must not have a start value");
    size_t count = kit_var_count(model, var, NULL);
    void *data = count < SIZE_MAX ? calloc(count + 1, kit_type_size(var->type)) : NULL;
    if (data && !kit_var_start(var, data, count))
        mistake(name, "start value \"%s\" does not fit its type", var->start);
    for (size_t i = 0; data && i < count; i++) {
        if (var->type == KIT_STRING)
            free(((char **)data)[i]);
        if (var->type == KIT_BINARY)
            free(((struct kit_binary *)data)[i].data);
    }
    free(data);
    const char *numbers[] = {var->min, var->max, var->nominal};
    double value;
    for (size_t i = 0; i < KIT_COUNT(numbers); i++)
        if (numbers[i] && !kit_parse_double(numbers[i], &value))
            mistake(name, "\"%s\" is no number", numbers[i]);
}

static void check_combination(const struct kit_var *var)
{
    const char *name = kit_var_name(var);
    enum kit_variability variability = kit_var_variability(var);
    bool is_float = var->type == KIT_FLOAT64 || var->type == KIT_FLOAT32;
    if (variability == KIT_CONTINUOUS && !is_float)
        mistake(name, "only floating point variables are continuous");
    bool parameter = var->causality == KIT_PARAMETER || var->causality == KIT_CALCULATED ||
                     var->causality == KIT_STRUCTURAL;
    if (parameter != (variability == KIT_FIXED || variability == KIT_TUNABLE) && var->causality != KIT_LOCAL)
        mistake(name, "this causality and variability do not go together");
    if (var->causality == KIT_CALCULATED && kit_var_initial(var) == KIT_EXACT)
        mistake(name, "a calculated parameter has no start value");
    if (var->indicator && (var->type != KIT_FLOAT64 || var->dims || var->start))
        mistake(name, "an event indicator is a Float64 scalar without start value");
    if (var->intermediate &&
        (variability != KIT_CONTINUOUS || (var->causality != KIT_INPUT && var->causality != KIT_OUTPUT)))
        mistake(name, "only continuous inputs and outputs take part in the intermediate update");
    if (var->causality == KIT_STRUCTURAL && var->dims)
        mistake(name, "a structural parameter is no array");
}

static void check_clock(const struct kit_var *var)
{
    const char *name = kit_var_name(var);
    bool is = var->type == KIT_CLOCK;
    bool periodic = var->clock >= KIT_INTERVAL_CONSTANT && var->clock <= KIT_INTERVAL_TUNABLE;
    struct kit_clock clock = {0};
    if (is != (var->clock != KIT_NO_INTERVAL))
        mistake(name, "a clock is a struct kit_clock with a .clock");
    if (!is)
        return;
    if (var->causality != KIT_INPUT && !(var->causality == KIT_OUTPUT && var->clock == KIT_TRIGGERED))
        mistake(name, "a clock is an input, or a triggered output");
    if (!kit_var_start(var, &clock, 1) || (var->period && !(clock.interval > 0)) || clock.shift < 0)
        mistake(name, "its period and shift are fractions (\"1/100\") or decimal numbers, the period not 0");
    if ((!periodic && (var->period || var->shift)) || (var->clock == KIT_INTERVAL_CONSTANT && !var->period))
        mistake(name, "periodic clocks, and no others, have a period");
    if (var->period && var->shift && !strchr(var->period, '/') != !strchr(var->shift, '/'))
        mistake(name, "period and shift are both fractions or both decimal numbers");
}

static void check_clocks(const struct kit_model *model, const struct kit_var *var)
{
    const char *rest = var->clocks, *word;
    size_t length;
    while (rest && kit_next_word(&rest, &word, &length)) {
        size_t vr = kit_var_find(model, word, length);
        if (vr == 0 || vr == SIZE_MAX || model->variables[vr - 1].type != KIT_CLOCK)
            mistake(kit_var_name(var), "belongs to \"%.*s\", which is no clock", (int)length, word);
    }
    if (var->clocks && kit_var_variability(var) != KIT_DISCRETE && kit_var_variability(var) != KIT_TUNABLE)
        mistake(kit_var_name(var), "a variable with clocks is discrete or tunable");
}

static void check_names(const struct kit_model *model, size_t i)
{
    const char *name = kit_var_name(&model->variables[i]);
    if (strcmp(name, "time") == 0)
        mistake(name, "the kit adds time itself");
    for (size_t j = 0; j < model->variable_count; j++) {
        const struct kit_var *other = &model->variables[j];
        if (j < i && strcmp(kit_var_name(other), name) == 0)
            mistake(name, "this name is used twice");
        for (const struct kit_alias *alias = other->aliases; alias && alias->name; alias++)
            if (strcmp(alias->name, name) == 0)
                mistake(name, "this name is used twice");
    }
}

int check_model(const struct kit_model *model)
{
    if (!is_identifier(model->name))
        mistake(".name", "must be a C identifier");
    if (model->features & KIT_DIRECTIONAL && !model->partial)
        mistake(".features", "KIT_DIRECTIONAL needs the function .partial");
    bool clocks = kit_has_clocks(model);
    if (clocks && !(model->features & (KIT_EVENT_MODE | KIT_ONLY_SCHEDULED)))
        mistake(".features", "a model with clocks needs KIT_EVENT_MODE");
    if (model->features & (KIT_SCHEDULED | KIT_ONLY_SCHEDULED) && !clocks)
        mistake(".features", "KIT_SCHEDULED needs clocks");
    if (model->features & KIT_SERIALISE && !(model->features & KIT_ROLLBACK))
        mistake(".features", "KIT_SERIALISE needs KIT_ROLLBACK");
    for (size_t i = 0; i < model->type_count; i++)
        check_unit(model, model->types[i].name, model->types[i].unit, model->types[i].display_unit);
    for (size_t i = 0; i < model->variable_count; i++) {
        const struct kit_var *var = &model->variables[i];
        check_names(model, i);
        check_references(model, var);
        check_combination(var);
        check_dims(model, var);
        check_depends(model, var);
        check_start(model, var);
        check_clock(var);
        check_clocks(model, var);
        if (var->derivative)
            check_derivative(model, var);
    }
    return mistakes;
}
